r"""Conversions between notions of privacy, and what each of them loses.

The profile of a pair and its Renyi divergences of all orders determine each other (the chapter on
conversions shows it). One number, like a single (epsilon, delta), rho of zero-concentrated privacy
or one order, is less, and going through it loses.

There is no way from one (epsilon, delta) with delta > 0 to Renyi or concentrated privacy: publish
the record with probability delta, and nothing otherwise. This is (0, delta)-private, and P has an
atom that Q lacks, so that every divergence of order above 1 is infinite.

All bounds hold for the neighbouring relation under which the input was computed.
"""

import numpy as np
from numpy.typing import ArrayLike

from ..arguments import (
    Array,
    finite_array,
    fraction_array,
    nonnegative_array,
    one_of,
    orders_array,
    plain,
    together,
)
from ..numerics.roots import monotone_root

CONVERSIONS = ("tight", "mironov")


def rdp_to_epsilon(
    *, orders: ArrayLike, rdp: ArrayLike, delta: ArrayLike, conversion: str = "tight"
) -> float | Array:
    r"""Convert a Renyi curve to the smallest epsilon >= 0 that one of its orders certifies.

    "mironov" is :math:`D_a + \ln(1/\delta)/(a-1)`, Markov's inequality for the privacy loss L.
    "tight" adds :math:`\ln\frac{a-1}a - \frac{\ln a}{a-1} < 0`: its delta is the largest
    :math:`E(1-e^{\varepsilon-L})_+` that the moment :math:`E\,e^{(a-1)L}` allows. Lost is what all
    orders together would say.

    Parameters
    ----------
    orders : (k,) array
        a, in (1, inf).
    rdp : (..., k) array
        Divergences at these orders, in [0, inf].
    delta : number or array
        In (0, 1); broadcast against the leading axes of `rdp`.
    conversion : {"tight", "mironov"}

    Returns
    -------
    float or array
        In [0, inf]; inf when no order is finite.

    References
    ----------
    Balle, Barthe, Gaboardi, Hsu and Sato (2020), Theorem 21; Canonne, Kamath and Steinke (2020),
    Proposition 12; "mironov" is claim wang2026.lemD.2 and Mironov (2017), Proposition 3.

    Examples
    --------
    >>> orders = np.arange(2.0, 64.0)
    >>> round(rdp_to_epsilon(orders=orders, rdp=orders / 2, delta=1e-5), 3)
    4.753
    """
    a, divergences = _curve(orders, rdp)
    log_delta = np.log(fraction_array("delta", delta))[..., None]
    certified = divergences + (_log_constant(a, conversion) - log_delta) / (a - 1)
    return plain(np.maximum(certified.min(axis=-1), 0.0))


def rdp_to_delta(
    *, orders: ArrayLike, rdp: ArrayLike, epsilon: ArrayLike, conversion: str = "tight"
) -> float | Array:
    r"""Convert a Renyi curve to the smallest delta that one of its orders certifies.

    The inverse of `rdp_to_epsilon`, with the same losses; the smallest over the orders of
    :math:`e^{(a-1)(D_a-\varepsilon)}`, times :math:`(1-\frac1a)^{a-1}/a` when "tight".

    Parameters
    ----------
    orders, rdp, conversion
        As in `rdp_to_epsilon`.
    epsilon : number or array
        In [0, inf); broadcast against the leading axes of `rdp`.

    Returns
    -------
    float or array
        In [0, 1].
    """
    a, divergences = _curve(orders, rdp)
    excess = divergences - nonnegative_array("epsilon", epsilon)[..., None]
    log_delta = (a - 1) * excess + _log_constant(a, conversion)
    return plain(np.exp(np.minimum(log_delta.min(axis=-1), 0.0)))


def zcdp_to_epsilon(
    *, rho: ArrayLike, delta: ArrayLike, conversion: str = "tight"
) -> float | Array:
    r"""Convert :math:`\rho`-zCDP, :math:`D_a\le\rho a` for all a > 1, to epsilon.

    `rdp_to_epsilon` with the best of all orders: "mironov" becomes
    :math:`\rho + 2\sqrt{\rho\ln(1/\delta)}`, "tight" is :math:`\rho(1+2s) - \ln(1+1/s)` at order
    1 + s with :math:`\rho s^2 + \ln(1+s) = \ln(1/\delta)`.

    Parameters
    ----------
    rho : number or array
        In [0, inf).
    delta : number or array
        In (0, 1); broadcast against `rho`.
    conversion : {"tight", "mironov"}

    Returns
    -------
    float or array
        In [0, inf).

    References
    ----------
    Bun and Steinke (2016), Proposition 1.3, for "mironov".

    Examples
    --------
    >>> round(zcdp_to_epsilon(rho=0.5, delta=1e-5), 3)
    4.728
    >>> round(zcdp_to_epsilon(rho=0.5, delta=1e-5, conversion="mironov"), 3)
    5.299
    """
    rho_, delta_ = together(rho=nonnegative_array("rho", rho), delta=fraction_array("delta", delta))
    log_inverse = -np.log(delta_)
    if one_of("conversion", conversion, CONVERSIONS) == "mironov":
        values = rho_ + 2 * np.sqrt(rho_ * log_inverse)
    else:
        values = np.zeros(rho_.shape)
        seen = rho_ > 0
        r, goal = rho_[seen], log_inverse[seen]
        start = np.log(np.minimum(goal, 1) / 2) - np.log1p(r) / 2
        log_s = monotone_root(_log_delta_shortfall, start, start + 1, r, goal)
        values[seen] = np.maximum(_zcdp_epsilon(log_s, r), 0.0)
    return plain(values)


def zcdp_to_delta(
    *, rho: ArrayLike, epsilon: ArrayLike, conversion: str = "tight"
) -> float | Array:
    r"""Convert :math:`\rho`-zCDP to delta: the inverse of `zcdp_to_epsilon`, with its losses.

    "mironov" is :math:`e^{-(\varepsilon-\rho)_+^2/(4\rho)}`, "tight" is :math:`e^{-\rho s^2}/(1+s)`
    at the s with :math:`\rho(1+2s) - \ln(1+1/s) = \varepsilon`.

    Parameters
    ----------
    rho, conversion
        As in `zcdp_to_epsilon`.
    epsilon : number or array
        In [0, inf); broadcast against `rho`.

    Returns
    -------
    float or array
        In [0, 1]; 0 when rho is 0.
    """
    rho_, epsilon_ = together(
        rho=nonnegative_array("rho", rho), epsilon=nonnegative_array("epsilon", epsilon)
    )
    one_of("conversion", conversion, CONVERSIONS)
    values = np.zeros(rho_.shape)
    seen = rho_ > 0
    r, e = rho_[seen], epsilon_[seen]
    with np.errstate(over="ignore"):  # of exponents: exp(-inf) is the 0 that they stand for
        if conversion == "mironov":
            values[seen] = np.exp(-(np.maximum(e - r, 0) ** 2) / (4 * r))
        else:
            start = -1 - r
            log_s = monotone_root(_zcdp_epsilon_excess, start, start + 1, r, e)
            s = np.exp(log_s)
            values[seen] = np.exp(-r * s**2) / (1 + s)
    return plain(values)


def epsilon_to_zcdp(
    *, epsilon: ArrayLike, delta: ArrayLike, conversion: str = "tight"
) -> float | Array:
    r"""Compute the largest rho whose conversion certifies (epsilon, delta).

    It says how much rho a budget buys, not that an (epsilon, delta)-private mechanism is rho-zCDP:
    none need be. The inverse of `zcdp_to_epsilon`; "mironov" is
    :math:`(\sqrt{\ln(1/\delta)+\varepsilon} - \sqrt{\ln(1/\delta)})^2`.

    Parameters
    ----------
    epsilon : number or array
        In [0, inf).
    delta, conversion
        As in `zcdp_to_epsilon`.

    Returns
    -------
    float or array
        In [0, inf).
    """
    epsilon_, delta_ = together(
        epsilon=nonnegative_array("epsilon", epsilon), delta=fraction_array("delta", delta)
    )
    goal = -np.log(delta_)
    if one_of("conversion", conversion, CONVERSIONS) == "mironov":
        values = (epsilon_ / (np.sqrt(goal + epsilon_) + np.sqrt(goal))) ** 2
    else:
        start = np.log(np.minimum(goal, 1) / 2) - np.log1p(epsilon_)
        log_s = monotone_root(_budget_excess, start, start + 1, goal, epsilon_)
        values = _budget_rho(log_s, goal)
    return plain(values)


def _curve(orders: ArrayLike, rdp: ArrayLike) -> tuple[Array, Array]:
    a, divergences = orders_array("orders", orders), finite_array("rdp", rdp, infinite=True)
    if a.size == 0:
        raise ValueError("orders must not be empty")
    if a.ndim != 1 or divergences.ndim == 0 or divergences.shape[-1] != a.size:
        raise ValueError(f"rdp must have one entry for each of the {a.size} orders")
    if np.any(divergences < 0):
        raise ValueError(f"rdp must be nonnegative, got a minimum of {divergences.min()}")
    return a, divergences


def _log_constant(a: Array, conversion: str) -> Array:
    """Logarithm of sup (1 - e^-z)_+ e^-(a-1)z over z, or of 1 in its place."""
    if one_of("conversion", conversion, CONVERSIONS) == "mironov":
        return np.zeros_like(a)
    return (a - 1) * (np.log(a - 1) - np.log(a)) - np.log(a)


# In these, log_s is the logarithm of s = order - 1.


def _log_delta_shortfall(log_s: Array, rho: Array, goal: Array) -> Array:
    return rho * np.exp(2 * log_s) + np.logaddexp(0, log_s) - goal


def _zcdp_epsilon(log_s: Array, rho: Array) -> Array:
    return rho * (1 + 2 * np.exp(log_s)) - np.logaddexp(0, -log_s)


def _zcdp_epsilon_excess(log_s: Array, rho: Array, epsilon: Array) -> Array:
    return _zcdp_epsilon(log_s, rho) - epsilon


def _budget_rho(log_s: Array, goal: Array) -> Array:
    """Rho at which the order 1 + s is the best one for delta = e^-goal."""
    return (goal - np.logaddexp(0, log_s)) * np.exp(-2 * log_s)


def _budget_excess(log_s: Array, goal: Array, epsilon: Array) -> Array:
    return _zcdp_epsilon(log_s, _budget_rho(log_s, goal)) - epsilon
