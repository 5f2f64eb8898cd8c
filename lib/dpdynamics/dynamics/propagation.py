r"""The exact law of the last iterate of one-pass DP-SGD in one dimension.

A step :math:`\theta_k = \phi_k(\theta_{k-1}) + \tau_kb_k` turns the density p of
:math:`\theta_{k-1}` into a mixture of normals,

.. math:: p_k(y) = \int p(x)\,\frac1{\tau_k}\varphi\Bigl(\frac{y - \phi_k(x)}{\tau_k}\Bigr)\,dx .

:math:`\phi_k` is piecewise linear, with kinks where clipping sets in: Gauss-Legendre panels end at
the kinks and are no longer than the smaller of the two noises. Steps without noise are composed.

The maps are non-expansive, so :math:`\theta_k` is a function of the normals with Lipschitz constant
:math:`S = \sqrt{\sum\tau_k^2}`: more than :math:`(1 + r)S` off the noise-free path there is a
probability of at most :math:`2e^{-r^2/2}`, with r the `reach`.
"""

import numpy as np
from numpy.typing import ArrayLike

from dpdynamics.accounting.mixtures import NormalMixture
from dpdynamics.arguments import Array, finite_array, nonnegative_array, positive, vector, whole

from .one_pass_sgd import one_pass_step

_X, _W = np.polynomial.legendre.leggauss(16)
_MOST_NODES = 20_000


def one_pass_law(
    features: ArrayLike,
    labels: ArrayLike,
    step_sizes: ArrayLike,
    noise_scales: ArrayLike,
    *,
    clip_norm: float,
    start: float = 0.0,
    reach: float = 12.0,
    panels: int = 1,
) -> NormalMixture:
    r"""Compute the law of the last iterate of Algorithm 1 of bombari2025 for given records, d = 1.

    Two calls, with neighbouring records, give the two laws that an attacker has to tell apart.
    Claims bombari2025.alg1 and bombari2025.prop4.1.

    Parameters
    ----------
    features, labels : (n,) arrays
        Records :math:`(x_k, y_k)`, in their order.
    step_sizes, noise_scales : (n,) arrays
        :math:`\eta_k,\sigma_k\ge0`; step k adds noise of standard deviation
        :math:`\tau_k = \sqrt2\,C\sigma_k`.
    clip_norm : float
        C, positive.
    start : float
        :math:`\theta_0`.
    reach : float
        How far the law is followed, positive; see the module. Divergences of high order and laws
        far apart need more than the default.
    panels : int
        Panels per noise, at least 1; more of them show the error of the quadrature.

    Returns
    -------
    NormalMixture

    Raises
    ------
    ValueError
        If a shape or a range is violated, no noise follows the last move (then there is no
        density), or the noise of a step is so small against the others that it needs more than
        20000 nodes.
    ArithmeticError
        If the mass is not 1: the reach is too short; or a state is so far from 0 that the noise
        is lost to rounding.
    """
    x = finite_array("features", features, ndim=1)
    y = vector("labels", labels, x.size)
    eta = nonnegative_array("step_sizes", vector("step_sizes", step_sizes, x.size))
    sigma = nonnegative_array("noise_scales", vector("noise_scales", noise_scales, x.size))
    clip, reach = positive("clip_norm", clip_norm), positive("reach", reach)
    panels, path = whole("panels", panels, minimum=1), float(finite_array("start", start, ndim=0))
    noises = np.sqrt(2) * clip * sigma
    moves = np.nonzero((eta > 0) | (sigma > 0))[0]
    if moves.size == 0 or sigma[moves[-1]] == 0:
        raise ValueError("noise_scales must be positive in the last step that moves")

    margin = (1 + reach) * float(np.sqrt(np.sum(noises**2)))
    law, knots = None, np.array([path])
    images = knots
    for record in zip(x, y, eta, noises, strict=True):
        *step, noise = map(float, record)
        knots, images = _composed(knots, images, step, clip)
        path = float(_moved(np.array(path), step, clip))
        if noise == 0:
            continue
        if np.spacing(abs(path)) > 1e-6 * noise:
            raise ArithmeticError(
                f"start, features, labels: at {path:g} a noise of {noise:g} is lost to rounding"
            )
        means, weights = images, np.ones(1)
        if law is not None:
            nodes, widths = _panels(knots, min(law.std, noise) / panels)
            weights = widths * np.exp(law.logpdf(nodes))
            means = np.interp(nodes, knots, images)[weights > 0]
            weights = weights[weights > 0]
        if abs(weights.sum() - 1) > 1e-8:
            raise ArithmeticError("mass got lost; enlarge reach or take more panels")
        law = NormalMixture(means, weights, noise, (path - margin, path + margin))
        knots = images = np.array(law.interval)
    assert law is not None  # some step has noise
    return law


def _moved(theta: Array, step: list[float], clip: float) -> Array:
    """One step of Algorithm 1 without its noise."""
    feature, label, size = step
    return one_pass_step(theta[..., None], [feature], label, size, clip)[..., 0]


def _composed(knots: Array, images: Array, step: list[float], clip: float) -> tuple[Array, Array]:
    """Follow a piecewise linear map (values `images` at `knots`) by one more step."""
    feature, label, _ = step
    with np.errstate(divide="ignore", over="ignore"):
        kinks = (label + np.array([-clip, clip]) / np.abs(np.float64(feature))) / feature
    cuts = [knots]
    for kink in kinks[np.isfinite(kinks)]:
        left, right = images[:-1] - kink, images[1:] - kink
        crossed = np.sign(left) * np.sign(right) < 0
        share = left[crossed] / (left - right)[crossed]
        cuts.append(knots[:-1][crossed] + share * np.diff(knots)[crossed])
    finer = np.unique(np.concatenate(cuts))
    return finer, _moved(np.interp(finer, knots, images), step, clip)


def _panels(knots: Array, width: float) -> tuple[Array, Array]:
    """Gauss-Legendre nodes and weights on panels that end at the knots."""
    counts = np.ceil(np.diff(knots) / width)
    if not _X.size * counts.sum() <= _MOST_NODES:
        raise ValueError(
            f"noise_scales, reach: {_X.size * counts.sum():.0f} nodes would be needed, more than "
            f"{_MOST_NODES}; a step has too little noise against the others"
        )
    pieces = zip(knots[:-1], knots[1:], counts.astype(int), strict=True)
    edges = np.concatenate([np.linspace(a, b, n, endpoint=False) for a, b, n in pieces])
    half = np.diff(np.append(edges, knots[-1]))[:, None] / 2
    return (edges[:, None] + half * (1 + _X)).ravel(), (half * _W).ravel()
