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
