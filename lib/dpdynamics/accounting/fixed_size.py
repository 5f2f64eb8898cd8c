r"""One step of the Gaussian mechanism on a batch of fixed size, drawn without replacement.

B of n records are drawn, :math:`q=B/n`, and the sum of their vectors of norm at most C is released
with noise of standard deviation :math:`\kappa C`. Lengths are in units of C.

**Neighbours.** A batch of fixed size takes another record when it leaves one out. If all other
records hold the vector g, and the record in question holds u, or v in the neighbour, then, seen
from the sum Bg of a batch without it,

.. math:: P = (1-q)N(0,\kappa^2) + qN(u-g,\kappa^2),\qquad Q = (1-q)N(0,\kappa^2)+qN(v-g,\kappa^2).

Zero others are not the worst: with opposite ones the record's vector counts twice.

========================= ================== ===================================
relation                  zero others, g = 0 opposite others, g = -u, or -v in add
========================= ================== ===================================
replace, u = -v           1 and -1           2 and 0
remove, v = 0             1 and 0            2 and 1
add, u = 0                0 and 1            1 and 2
========================= ================== ===================================

(the places of the second component of P and of Q). In ``add`` the worst others depend on the
divergence; others equal to v give 1 to P alone, what removal gives with zero others.

**Replace-one, exactly.** Let A be the law of the output when the record is absent, :math:`B_1` and
:math:`B_0` when it is present, before and after. Exchanging one member of the batch couples any two
of them such that the normals they mix are at most 2 apart. With
:math:`\gamma = 1+q(\gamma_0-1)\ge1` and :math:`\beta=\gamma/\gamma_0`, advanced joint convexity
and then convexity give

.. math::

   H_\gamma\bigl((1-q)A+qB_1\|(1-q)A+qB_0\bigr)
   = qH_{\gamma_0}\bigl(B_1\|(1-\beta)A+\beta B_0\bigr)
   \le qH_{\gamma_0}\bigl(N(2,\kappa^2)\|N(0,\kappa^2)\bigr),

with equality for opposite others.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import gammaln, logsumexp

from ..arguments import (
    Array,
    elementwise,
    finite_array,
    nonnegative_array,
    one_of,
    plain,
    positive,
    whole,
)
from .gaussian import gaussian_delta, log_normal_mass
from .quadrature import renyi_divergence_quadrature
from .subsampled_rdp import subsampled_gaussian_rdp
from .subsampled_step import SubsampledStep

_PLACES = {
    ("replace", "zero"): (1.0, -1.0),
    ("replace", "opposite"): (2.0, 0.0),
    ("remove", "zero"): (1.0, 0.0),
    ("remove", "opposite"): (2.0, 1.0),
    ("add", "zero"): (0.0, 1.0),
    ("add", "opposite"): (1.0, 2.0),
}


class FixedSizePair(NamedTuple):
    """Outputs P and Q of one step on neighbours, on the line of the record's vector.

    With k the `noise_multiplier` and q the `sampling_probability`, P is (1-q) N(0, k^2) +
    q N(`place_p`, k^2), and Q likewise.
    """

    noise_multiplier: float
    sampling_probability: float
    place_p: float
    place_q: float

    def log_p(self, x: Array) -> Array:
        """Return the log density of P at x."""
        return self._log_density(x, self.place_p)

    def log_q(self, x: Array) -> Array:
        """Return the log density of Q at x."""
        return self._log_density(x, self.place_q)

    def renyi(self, order: float) -> float:
        """Compute the Renyi divergence of P from Q, in [0, inf), by quadrature.

        Raises ValueError or ArithmeticError as `renyi_divergence_quadrature` does.
        """
        return renyi_divergence_quadrature(
            self.log_p, self.log_q, order, scale=self.noise_multiplier, center=0.5
        ).value

    def delta(self, epsilon: float) -> float:
        """Compute sup P(A) - e^epsilon Q(A), with an absolute error of the order of 1e-14.

        The set A is bounded by the roots of ln(p/q) = epsilon, which are found on a mesh. Masses
        are kept in logarithms: where epsilon is large, those of Q are below the smallest float.

        Raises ValueError if epsilon is not a finite number.
        """
        level = float(finite_array("epsilon", epsilon, ndim=0))

        def excess(x: Array) -> Array:
            return self.log_p(x) - self.log_q(x) - level

        k, q = self.noise_multiplier, self.sampling_probability
        x = np.linspace(-2 - 12 * k, 3 + 12 * k, 4001)
        changes = np.flatnonzero(np.diff(np.sign(excess(x))))
        roots = [brentq(excess, x[i], x[i + 1], xtol=1e-15) for i in changes]
        edges = np.array([-np.inf, *roots, np.inf])
        log_p, log_q = (
            np.logaddexp(
                np.log1p(-q) + log_normal_mass(edges / k),
                np.log(q) + log_normal_mass((edges - place) / k),
            )
            for place in (self.place_p, self.place_q)
        )
        with np.errstate(invalid="ignore"):  # an interval without mass counts nothing
            log_ratio = np.where(np.isneginf(log_p), 0.0, level + log_q - log_p)
        return float((np.exp(log_p) * -np.expm1(np.minimum(log_ratio, 0.0))).sum())

    def _log_density(self, x: Array, place: float) -> Array:
        k, q = self.noise_multiplier, self.sampling_probability
        with np.errstate(divide="ignore"):
            log_mixture = np.logaddexp(
                np.log1p(-q) - (x / k) ** 2 / 2, np.log(q) - ((x - place) / k) ** 2 / 2
            )
        return np.asarray(log_mixture - np.log(k) - np.log(2 * np.pi) / 2)


def fixed_size_pair(
    *,
    noise_multiplier: float,
    batch_size: int,
    samples: int,
    relation: str = "replace",
    others: str = "opposite",
) -> FixedSizePair:
    """Build outputs of one step on neighbours, from the table at the head of this file.

    Parameters
    ----------
    noise_multiplier : float
        Noise standard deviation on the sum, over the clip norm; positive.
    batch_size, samples : int
        B and n, 1 <= B < n.
    relation : str
        ``replace``; ``remove`` for zeroing the record out, ``add`` for the way back.
    others : str
        What the other records hold: ``zero``, or ``opposite`` to the record in question.

    Returns
    -------
    FixedSizePair
        Attained by explicit data, so each divergence of P from Q is a lower bound of the
        mechanism's.

    Raises
    ------
    ValueError
        If an argument is out of range.

    Examples
    --------
    Zero others understate the cost of zeroing a record out:

    >>> step = {"noise_multiplier": 1.0, "batch_size": 1, "samples": 100, "relation": "remove"}
    >>> for others in ("zero", "opposite"):
    ...     print(f"{fixed_size_pair(**step, others=others).delta(1.0):.2e}")
    2.73e-09
    1.69e-04
    """
    k, q = _checked(noise_multiplier, batch_size, samples)
    one_of("relation", relation, ("replace", "remove", "add"))
    one_of("others", others, ("zero", "opposite"))
    return FixedSizePair(k, q, *_PLACES[relation, others])


def fixed_size_delta(
    *, noise_multiplier: float, batch_size: int, samples: int, epsilon: ArrayLike
) -> float | Array:
    r"""Compute the exact privacy profile of one step under replace-one neighbours.

    Parameters
    ----------
    noise_multiplier, batch_size, samples
        As in `fixed_size_pair`.
    epsilon : number or array
        In [0, inf).

    Returns
    -------
    float or array of the shape of `epsilon`
        In [0, 1]: the largest hockey-stick divergence of replace-one neighbours, in both
        directions.

    Raises
    ------
    ValueError
        If an argument is out of range.

    References
    ----------
    Balle, Barthe and Gaboardi (2018), theorem on sampling without replacement.
    """
    k, q = _checked(noise_multiplier, batch_size, samples)
    eps = nonnegative_array("epsilon", epsilon)
    inner = eps + np.log1p(-(1 - q) * np.exp(-eps))
    return plain(q * np.asarray(gaussian_delta(mu=2 / k, epsilon=inner - np.log(q))))


def fixed_size_rdp_bound(
    *, noise_multiplier: float, batch_size: int, samples: int, orders: ArrayLike
) -> float | Array:
    r"""Compute the bound of Wang, Balle and Kasiviswanathan under replace-one neighbours.

    .. math::

       \frac1{\alpha-1}\ln\Bigl(1 + q^2\tbinom\alpha2\min\{4(e^{4/\kappa^2}-1), 2e^{4/\kappa^2}\}
       + 2\sum_{j=3}^{\alpha}q^j\tbinom\alpha je^{2j(j-1)/\kappa^2}\Bigr)

    It can exceed :math:`2\alpha/\kappa^2`, the cost without sampling.

    Parameters
    ----------
    noise_multiplier, batch_size, samples
        As in `fixed_size_pair`.
    orders : int or array
        :math:`\alpha`, whole numbers from 2 to a million: the sum has as many terms.

    Returns
    -------
    float or array of the shape of `orders`

    Raises
    ------
    ValueError
        If an argument is out of range.

    References
    ----------
    Wang, Balle and Kasiviswanathan (2019), theorem 9; the proof of claim wang2026.lemD.7, in the
    form after equation (19), which itself has the factor 2 twice.
    """
    k, q = _checked(noise_multiplier, batch_size, samples)
    alphas = finite_array("orders", orders)
    if np.any((alphas < 2) | (alphas > 1e6) | (alphas != np.round(alphas))):
        raise ValueError(f"orders must be whole numbers from 2 to 1e6, got {orders!r}")
    with np.errstate(over="ignore"):
        second = min(np.log(4 * np.expm1(4 / k**2)), np.log(2) + 4 / k**2)

    def bound(alpha: float) -> float:
        j = np.arange(2, alpha + 1)
        log_terms = gammaln(alpha + 1) - gammaln(j + 1) - gammaln(alpha - j + 1) + j * np.log(q)
        log_terms += np.where(j == 2, second, np.log(2) + 2 * j * (j - 1) / k**2)
        return float(np.logaddexp(0, logsumexp(log_terms)) / (alpha - 1))

    return elementwise(bound, alphas)


def fixed_size_rdp_lower(
    *, noise_multiplier: float, batch_size: int, samples: int, orders: ArrayLike
) -> float | Array:
    r"""Compute the Renyi divergence that opposite others attain under replace-one neighbours.

    It is that of a Poisson sample at half the noise multiplier, when a record is removed.

    Parameters
    ----------
    noise_multiplier, batch_size, samples
        As in `fixed_size_pair`; the noise multiplier at least 0.02.
    orders : number or array
        :math:`\alpha > 1`.

    Returns
    -------
    float or array of the shape of `orders`

    Raises
    ------
    ValueError
        If an argument is out of range.
    """
    k, q = _checked(noise_multiplier, batch_size, samples)
    return subsampled_gaussian_rdp(
        noise_multiplier=k / 2, sampling_probability=q, steps=1, orders=orders, relation="remove"
    )


def fixed_size_rdp(
    *, noise_multiplier: float, batch_size: int, samples: int, orders: ArrayLike
) -> float | Array:
    r"""Bound the Renyi divergence under replace-one neighbours by the exact privacy profile.

    For any P and Q, :math:`E_Q(P/Q)^\alpha = 1 + \alpha(\alpha-1)\int_1^\infty[\gamma^{\alpha-2}
    H_\gamma(P\|Q) + \gamma^{-\alpha-1}H_\gamma(Q\|P)]\,d\gamma`. Both profiles are at most that
    of `fixed_size_delta`. `fixed_size_rdp_lower` has the same with the smaller
    profile of the exchanged pair in the second place, so the bound is its value plus a correction.

    Parameters
    ----------
    noise_multiplier, batch_size, samples
        As in `fixed_size_pair`; the noise multiplier at least 0.02.
    orders : number or array
        :math:`\alpha > 1`, not only whole.

    Returns
    -------
    float or array of the shape of `orders`
        Between `fixed_size_rdp_lower` and :math:`2\alpha/\kappa^2`.

    Raises
    ------
    ValueError
        If an argument is out of range.
    """
    k, q = _checked(noise_multiplier, batch_size, samples)
    alphas = finite_array("orders", orders)
    lower = np.asarray(
        fixed_size_rdp_lower(
            noise_multiplier=k, batch_size=batch_size, samples=samples, orders=alphas
        )
    )
    away, back = (SubsampledStep(k / 2, q, relation) for relation in ("remove", "add"))

    def correction(alpha: float) -> float:
        def gap(v: float) -> float:
            epsilon = np.array(-np.log(v) / alpha)
            return float(away.delta(epsilon) - back.delta(epsilon))

        kink = float((1 - q) ** alpha)
        # full_output silences quad's warnings: its error estimate is added, so the bound stands.
        ends = (0, kink), (kink, 1)
        parts = [quad(gap, *end, epsrel=1e-10, full_output=1)[:2] for end in ends]
        return float(np.sum(parts))

    with np.errstate(over="ignore"):
        grown = [
            low + np.log1p((a - 1) * correction(a) * np.exp(-(a - 1) * low)) / (a - 1)
            for a, low in zip(alphas.ravel(), lower.ravel(), strict=True)
        ]
    return plain(np.minimum(np.reshape(grown, alphas.shape), 2 * alphas / k**2))


def _checked(noise_multiplier: float, batch_size: int, samples: int) -> tuple[float, float]:
    """Return the noise multiplier and the sampling probability."""
    k = positive("noise_multiplier", noise_multiplier)
    b, n = whole("batch_size", batch_size, 1), whole("samples", samples, 2)
    if b >= n:
        raise ValueError(f"batch_size must be below samples, got {b} and {n}")
    return k, b / n
