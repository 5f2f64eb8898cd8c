"""Extras: what readers with data of their own were promised, and no chapter needs.

:class:`PrivateKANClassifier` is an estimator of scikit-learn that states the guarantee it spent;
:func:`load_reviews` and :func:`load_posts` read the real texts in whose place the book has
synthetic ones. Third floor: imports :mod:`~dpdynamics.divergence`, :mod:`~dpdynamics.accounting`,
:mod:`~dpdynamics.problems` and :mod:`~dpdynamics.kan`.
"""

from .estimator import PrivateKANClassifier
from .reviews import load_posts, load_reviews

__all__ = ["PrivateKANClassifier", "load_posts", "load_reviews"]
