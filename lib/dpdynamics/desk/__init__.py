"""The desk: calculators that answer a practitioner's question, or refuse to.

Each returns an answer, with its number, the regime in which it holds and the claims of the ledger
that it rests on, or a refusal, with the reason and what is known all the same.

* :func:`required_noise`: how much noise a budget needs.
* :func:`spent_epsilon`, :func:`recipe_epsilon`: what a run, or a published recipe of
  :data:`PUBLISHED`, really buys; :data:`ACCOUNTANTS` are those of others.
* :func:`plan_one_pass`: clip norm, step and schedule for least squares.
* :func:`choose_optimiser`: DP-SGD, DP-SignSGD or DP-Adam.
* :func:`correlate_noise`: whether to correlate the noise.

Third floor: imports the rooms of the numerics, neither verification nor display.
"""

from .accountants import ACCOUNTANTS
from .correlation import correlate_noise, end_noise_std
from .noise import required_noise
from .one_pass import plan_one_pass
from .optimiser import choose_optimiser
from .recipes import PUBLISHED
from .spending import recipe_epsilon, spent_epsilon

__all__ = [
    "ACCOUNTANTS",
    "PUBLISHED",
    "choose_optimiser",
    "correlate_noise",
    "end_noise_std",
    "plan_one_pass",
    "recipe_epsilon",
    "required_noise",
    "spent_epsilon",
]
