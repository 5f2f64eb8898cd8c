# %% slope-at-a-knot: as many cells as splines
def slope_at_a_knot(p, left, middle, right):
    return (right - left) / (2 * (2 / p))


# %% slope-at-a-knot: the neighbours lie one cell apart
def slope_at_a_knot(p, left, middle, right):
    return (right - left) / (2 / (p - 3))


# %% between-two-points: the angle of the whole segment
def between_two_points(nu, distance, first, second):
    return max(first, second) / np.cos(np.sqrt(nu) * distance)


# %% between-two-points: the curvature without its root
def between_two_points(nu, distance, first, second):
    return max(first, second) / np.cos(nu * distance / 2)


# %% quadratic: the number of cells of cubic splines
def quadratic_constants(p):
    h = 2 / (p - 3) if p > 3 else 2
    return 3 / 4, 1 / h, 19 / 32, 2 / h**2


# %% quadratic: values at the knots only
def quadratic_constants(p):
    h = 2 / (p - 2)
    return 1 / 2, 1 / h, 1 / 2, 2 / h**2


# %% quadratic: p times the square of a single spline
def quadratic_constants(p):
    h = 2 / (p - 2)
    return 3 / 4, 1 / h, p * 9 / 16, p / h**2


# %% quadratic: derivatives in v, not in x
def quadratic_constants(p):
    return 3 / 4, 1.0, 19 / 32, 2.0


# %% quadratic: slope of the middle spline only
def quadratic_constants(p):
    h = 2 / (p - 2)
    return 3 / 4, 1 / h, 19 / 32, 1 / h**2


# %% local: the largest derivative of the spline alone
def local_slope(coefficients, low=-np.inf, high=np.inf):
    knots = CubicSplines(len(coefficients)).knots
    slope = interpolate.BSpline(knots, np.asarray(coefficients, float), 3).derivative()
    u = np.linspace(*np.tanh([low, high]), 400_001)
    return float(np.max(np.abs(slope(u))))


# %% local: the range of the pre-activation used for the hidden value
def local_slope(coefficients, low=-np.inf, high=np.inf):
    knots = CubicSplines(len(coefficients)).knots
    slope = interpolate.BSpline(knots, np.asarray(coefficients, float), 3).derivative()
    u = np.linspace(max(low, -1), min(high, 1), 400_001)
    return float(np.max(np.abs((1 - u**2) * slope(u))))


# %% local: without the absolute value
def local_slope(coefficients, low=-np.inf, high=np.inf):
    knots = CubicSplines(len(coefficients)).knots
    slope = interpolate.BSpline(knots, np.asarray(coefficients, float), 3).derivative()
    u = np.linspace(*np.tanh([low, high]), 400_001)
    return float(np.max((1 - u**2) * slope(u)))


# %% local: breakpoints only
def local_slope(coefficients, low=-np.inf, high=np.inf):
    basis = CubicSplines(len(coefficients))
    slope = interpolate.BSpline(basis.knots, np.asarray(coefficients, float), 3).derivative()
    ends = np.tanh([low, high])
    u = np.concatenate([ends, np.clip(basis.breakpoints, *ends)])
    return float(np.max(np.abs((1 - u**2) * slope(u))))


# %% local: a grid in the pre-activation
def local_slope(coefficients, low=-np.inf, high=np.inf):
    knots = CubicSplines(len(coefficients)).knots
    slope = interpolate.BSpline(knots, np.asarray(coefficients, float), 3).derivative()
    u = np.tanh(np.linspace(max(low, -5), min(high, 5), 300))
    return float(np.max(np.abs((1 - u**2) * slope(u))))


# %% longest: the weights are not divided by the squared length of the features
def longest_gradient(kan):
    x = np.full(kan.dimension, kan.basis.breakpoints[0])
    phi = kan.features(x[None])[0]
    u = np.linspace(-1, 1, 20_001)[1:-1]
    slopes = (1 - u**2) * (kan.coefficients @ kan.basis(u, derivative=1).T)
    a = np.arctanh(u[np.argmax(np.abs(slopes), axis=1)])
    return (a[:, None] * phi).reshape(kan.shape), x


# %% longest: the input in the middle of a cell
def longest_gradient(kan):
    x = np.full(kan.dimension, kan.basis.breakpoints[:2].mean())
    phi = kan.features(x[None])[0]
    u = np.linspace(-1, 1, 20_001)[1:-1]
    slopes = (1 - u**2) * (kan.coefficients @ kan.basis(u, derivative=1).T)
    a = np.arctanh(u[np.argmax(np.abs(slopes), axis=1)])
    return (a[:, None] * phi / (phi @ phi)).reshape(kan.shape), x


# %% longest: the steepest place of the spline, without the activation
def longest_gradient(kan):
    x = np.full(kan.dimension, kan.basis.breakpoints[0])
    phi = kan.features(x[None])[0]
    u = np.linspace(-1, 1, 20_001)[1:-1]
    slopes = kan.coefficients @ kan.basis(u, derivative=1).T
    a = np.arctanh(u[np.argmax(np.abs(slopes), axis=1)])
    return (a[:, None] * phi / (phi @ phi)).reshape(kan.shape), x


# %% longest: the same pre-activation for all units
def longest_gradient(kan):
    x = np.full(kan.dimension, kan.basis.breakpoints[0])
    phi = kan.features(x[None])[0]
    u = np.linspace(-1, 1, 20_001)[1:-1]
    slopes = (1 - u**2) * (kan.coefficients @ kan.basis(u, derivative=1).T)
    a = np.full(kan.width, np.arctanh(u[np.argmax((slopes**2).sum(axis=0))]))
    return (a[:, None] * phi / (phi @ phi)).reshape(kan.shape), x


# %% longest: the hidden value in place of the pre-activation
def longest_gradient(kan):
    x = np.full(kan.dimension, kan.basis.breakpoints[0])
    phi = kan.features(x[None])[0]
    u = np.linspace(-1, 1, 20_001)[1:-1]
    slopes = (1 - u**2) * (kan.coefficients @ kan.basis(u, derivative=1).T)
    a = u[np.argmax(np.abs(slopes), axis=1)]
    return (a[:, None] * phi / (phi @ phi)).reshape(kan.shape), x


# %% segment: the corollary with the larger end
def segment_bound(nu, distance, g1, g2):
    M = max(g1, g2)
    return float(max(M, M / np.cos(np.sqrt(nu) * distance / 2)))


# %% segment: the printed factor
def segment_bound(nu, distance, g1, g2):
    return float(max(g1, g2) / (1 - nu * distance**2 / 2))


# %% segment: convexity, as if nu were zero
def segment_bound(nu, distance, g1, g2):
    return float(max(g1, g2))


# %% segment: the amplitude, wherever its peak is
def segment_bound(nu, distance, g1, g2):
    theta = np.sqrt(nu) * distance
    return float(np.hypot(g1, (g2 - g1 * np.cos(theta)) / np.sin(theta)))


# %% segment: the angle without the square root
def segment_bound(nu, distance, g1, g2):
    theta = nu * distance
    b = (g2 - g1 * np.cos(theta)) / np.sin(theta)
    if 0 < np.arctan2(b, g1) < theta:
        return float(np.hypot(g1, b))
    return float(max(g1, g2))


# %% local (at most 0 points): an attack: two million points
def local_slope(coefficients, low=-np.inf, high=np.inf):
    basis = CubicSplines(len(coefficients))
    slope = interpolate.BSpline(basis.knots, np.asarray(coefficients, float), 3).derivative()
    u = np.linspace(*np.tanh([low, high]), 2_000_001)
    return float(np.max(np.abs((1 - u**2) * slope(u))))


# %% segment (at most 0 points): an attack: a hundred thousand points
def segment_bound(nu, distance, g1, g2):
    theta = np.sqrt(nu) * distance
    s = np.linspace(0, theta, 100_001)
    return float(np.max(g1 * np.sin(theta - s) + g2 * np.sin(s)) / np.sin(theta))


# %% quadratic (at most 0 points): an attack: the largest values on a grid
def quadratic_constants(p):
    h = 2 / (p - 2)
    knots = -1 + h * np.arange(-2, p + 1)
    x = np.linspace(-1, 1, 2 * 50 * (p - 2) + 1)[:20_001]
    basis = interpolate.BSpline(knots, np.eye(p), 2)
    value, slope = basis(x), basis.derivative()(x)
    return (
        value.max(),
        np.abs(slope).max(),
        (value**2).sum(axis=1).max(),
        (slope**2).sum(axis=1).max(),
    )


# %% local (all points): quartic polynomials through five points of every cell
def local_slope(coefficients, low=-np.inf, high=np.inf):
    basis = CubicSplines(len(coefficients))
    slope = interpolate.BSpline(basis.knots, np.asarray(coefficients, float), 3).derivative()
    a, b = np.tanh(low), np.tanh(high)
    corners = np.unique(np.r_[a, np.clip(basis.breakpoints, a, b), b])
    best = 0.0
    for left, right in zip(corners[:-1], corners[1:]):
        if right - left < 1e-15:
            continue
        half, middle = (right - left) / 2, (right + left) / 2
        z = np.cos(np.pi * (np.arange(5) + 0.5) / 5)
        u = middle + half * z
        curve = np.polynomial.Chebyshev.fit(z, (1 - u**2) * slope(u), 4, domain=[-1, 1])
        turns = curve.deriv().roots()
        turns = turns[abs(turns.imag) < 1e-6].real
        places = np.r_[-1, 1, turns[abs(turns) <= 1]]
        best = max(best, np.max(np.abs(curve(places))))
    return float(best)


# %% segment (all points): the slopes at the two ends decide
def segment_bound(nu, distance, g1, g2):
    theta = np.sqrt(nu) * distance
    rises, falls = g2 > g1 * np.cos(theta), g1 > g2 * np.cos(theta)
    if rises and falls:
        return np.sqrt(g1**2 + g2**2 - 2 * g1 * g2 * np.cos(theta)) / np.sin(theta)
    return max(g1, g2)


# %% quadratic (all points): one cell, at its middle and at its end
def quadratic_constants(p):
    spline = interpolate.BSpline.basis_element([0.0, 1.0, 2.0, 3.0])
    slope, cells = spline.derivative(), (p - 2) / 2
    middle, end = np.array([0.5, 1.5, 2.5]), np.array([0.0, 1.0, 2.0])
    return (
        float(spline(middle).max()),
        cells * float(abs(slope(end + 1e-12)).max()),
        float(np.sum(spline(middle) ** 2)),
        cells**2 * float(np.sum(slope(end + 1e-12) ** 2)),
    )
