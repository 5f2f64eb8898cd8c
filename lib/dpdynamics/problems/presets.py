"""Settings: a problem with its data law, its start and its learning rates, and two named ones."""

from dataclasses import dataclass
from math import sqrt

import numpy as np

from ..arguments import Array, nonnegative, vector, whole
from .designs import Design, GaussianDesign, GaussianLabelNoise, Size, UniformDesign
from .least_squares import LeastSquares
from .schedules import Constant, Schedule


@dataclass(frozen=True, eq=False)
class Setting:
    r"""Everything that Algorithm 1 of lin2025 needs, in the eigenbasis of the features.

    Parameters
    ----------
    problem : LeastSquares
        The population; its eigenvalues and label variance must be those of the laws below.
    design : Design
        Law of the features.
    label_noise : GaussianLabelNoise
        Law of the label noise.
    x0 : (d,) array
        Initial parameter.
    schedule : Schedule
        :math:`\gamma(t)`; step k uses :math:`\eta_k = \gamma(k/d)/d`.
    steps : int
        Number n >= 1 of records, each used once.
    noise_scale : float
        :math:`\sigma\ge0`: each gradient receives :math:`\sigma Z_k`, :math:`Z_k\sim N(0, I)`.
    """

    problem: LeastSquares
    design: Design
    label_noise: GaussianLabelNoise
    x0: Array
    schedule: Schedule
    steps: int
    noise_scale: float

    def __post_init__(self) -> None:
        if not np.array_equal(self.problem.eigenvalues, self.design.eigenvalues):
            raise ValueError("problem must have the eigenvalues of design")
        if self.problem.label_variance != self.label_noise.variance:
            raise ValueError("problem must have the label variance of label_noise")
        object.__setattr__(self, "x0", vector("x0", self.x0, self.problem.dimension))
        object.__setattr__(self, "steps", whole("steps", self.steps, minimum=1))
        object.__setattr__(self, "noise_scale", nonnegative("noise_scale", self.noise_scale))

    @property
    def dimension(self) -> int:
        """Number d of coordinates."""
        return self.problem.dimension

    @property
    def horizon(self) -> float:
        """Final continuous time T = steps / d."""
        return self.steps / self.dimension

    @property
    def learning_rates(self) -> Array:
        r"""Step sizes (steps,) :math:`\eta_k = \gamma(k/d)/d`."""
        return self.schedule(np.arange(self.steps) / self.dimension) / self.dimension

    def sample_data(self, rng: np.random.Generator, size: Size) -> tuple[Array, Array]:
        """Draw records: features (*size, d) in the eigenbasis and labels (*size)."""
        a = self.design.sample(rng, size)
        return a, a @ self.problem.truth + self.label_noise.sample(rng, a.shape[:-1])


def literal_preset(
    rng: np.random.Generator,
    dimension: int = 1000,
    samples: int = 1500,
    noise_scale: float = 1.5,
) -> Setting:
    r"""Build the experiment of lin2025, Section 5, as printed.

    Features and truth have independent U(0, 1/sqrt d) entries (the paper prints
    :math:`\mathrm{Unif}(0, I_d/\sqrt d)` for the truth), labels carry N(0, 0.01/d) noise clipped at
    3 standard deviations, the step size is 0.05, the ridge 0.1 and :math:`x_0\sim N(0, I)`. In the
    paper's scaling the learning rate is :math:`\gamma = 0.05\,d`.

    Parameters
    ----------
    rng : numpy.random.Generator
        Draws the truth and the initial parameter.
    dimension, samples : int
        d >= 1 and n >= 1; the paper has 1000 and 1500.
    noise_scale : float
        :math:`\sigma`; the paper has 1, 1.25 and 1.5.

    References
    ----------
    Claim lin2025.fig2a.
    """
    design, steps = UniformDesign(dimension), whole("samples", samples, minimum=1)
    label_noise = GaussianLabelNoise(scale=0.1 / sqrt(dimension), clip=3.0)
    truth = design.rotate(rng.random(dimension) / sqrt(dimension))
    return Setting(
        problem=LeastSquares(design.eigenvalues, truth, label_noise.variance, ridge=0.1),
        design=design,
        label_noise=label_noise,
        x0=rng.standard_normal(dimension),
        schedule=Constant(0.05 * dimension),
        steps=steps,
        noise_scale=noise_scale,
    )


def theory_preset(
    rng: np.random.Generator,
    dimension: int,
    *,
    noise_scale: float = 0.7,
    learning_rate: float = 0.8,
) -> Setting:
    r"""Build a setting in the regime of the theory, where every term of the risk is of order one.

    Gaussian features with eigenvalues equally spaced on [0.2, 1.5] (so that :math:`|a|^2` is of
    order d), :math:`|x_0| = |\tilde x| = 1` in independent uniform directions, ridge 0.1, constant
    :math:`\gamma` = `learning_rate`, label noise of standard deviation 0.5, horizon T = 1.5.

    Parameters
    ----------
    rng : numpy.random.Generator
        Draws the truth and the initial parameter.
    dimension : int
        d >= 1.
    noise_scale, learning_rate : float
        :math:`\sigma` and :math:`\gamma`, in [0, inf).
    """
    design = GaussianDesign(np.linspace(0.2, 1.5, whole("dimension", dimension, minimum=1)))
    label_noise = GaussianLabelNoise(0.5)
    truth, x0 = rng.standard_normal((2, dimension))
    return Setting(
        problem=LeastSquares(
            design.eigenvalues, truth / np.linalg.norm(truth), label_noise.variance, ridge=0.1
        ),
        design=design,
        label_noise=label_noise,
        x0=x0 / np.linalg.norm(x0),
        schedule=Constant(nonnegative("learning_rate", learning_rate)),
        steps=max(1, round(1.5 * dimension)),
        noise_scale=noise_scale,
    )
