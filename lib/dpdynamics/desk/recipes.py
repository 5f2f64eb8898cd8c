"""Published recipes: what was run, what was reported, and how the batches were drawn.

`reported` is the epsilon in the source, `accounted` the sampling that it was computed for, `drawn`
the sampling of the code or text in question: "unknown" where the source that we read does not say.

The first is a worked example (q = 0.01, 100 epochs), at the sizes of the MNIST runs of that paper.
The IMDB runs have the number of records for which the paper's formula gives its printed values:
10 000, where its text says 25 000, with its 100 epochs of floor(n/B) steps (claim anon2025.tabC.1).
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Recipe:
    """One run of DP-SGD or of a relative of it, as published.

    Parameters
    ----------
    name, source : str
        What it is, and where it is printed.
    noise_multiplier, batch_size, samples, steps, delta
        Noise over clip norm, B, n, number of releases, and the delta of the report.
    reported : float
        Epsilon as printed, or the budget of a configuration.
    accounted, drawn : str
        "poisson", "shuffled", "fixed" or "unknown".
    clipped : bool
        Whether every record's gradient is clipped.
    """

    name: str
    source: str
    noise_multiplier: float
    batch_size: int
    samples: int
    steps: int
    delta: float
    reported: float
    accounted: str = "poisson"
    drawn: str = "unknown"
    clipped: bool = True


_TENSORFLOW = "TensorFlow Privacy, tutorials, README of 2019, since replaced"
_OPACUS = "Opacus, examples, mnist_README"
_JAX = "JAX-Privacy, image classification, configuration"
_SIGN = "anon2025, Appendix C"

PUBLISHED: tuple[Recipe, ...] = (
    Recipe(
        "Example, Abadi et al.",
        "abadi2016, section 3, example",
        4.0,
        600,
        60_000,
        10_000,
        1e-5,
        1.26,
        drawn="shuffled",
    ),
    Recipe(
        "MNIST, sigma 1.3", _TENSORFLOW, 1.3, 256, 60_000, 15 * 234, 1e-5, 1.19, drawn="shuffled"
    ),
    Recipe(
        "MNIST, sigma 1.1", _TENSORFLOW, 1.1, 256, 60_000, 60 * 234, 1e-5, 3.01, drawn="shuffled"
    ),
    Recipe(
        "MNIST, sigma 0.7", _TENSORFLOW, 0.7, 256, 60_000, 45 * 234, 1e-5, 7.10, drawn="shuffled"
    ),
    Recipe("MNIST, Poisson", _OPACUS, 1.3, 240, 60_000, 15 * 250, 1e-5, 1.19, drawn="poisson"),
    Recipe("CIFAR-10, WRN-16-4", _JAX, 10.0, 4096, 50_000, 725, 1e-5, 1.0),
    Recipe("ImageNet, NF-ResNet-50", _JAX, 2.5, 16_384, 1_281_167, 71_589, 8e-7, 8.0),
    Recipe("IMDB, sigma 1", _SIGN, 1.0, 64, 10_000, 100 * 156, 1e-5, 2.712),
    Recipe("IMDB, sigma 0.5", _SIGN, 0.5, 64, 10_000, 100 * 156, 1e-5, 5.425),
    Recipe("StackOverflow, sigma 0.5", _SIGN, 0.5, 64, 246_092, 192_250, 1e-6, 0.848),
)
