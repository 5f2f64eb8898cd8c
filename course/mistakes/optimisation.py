# %% stationary-risk: nothing contracts between two steps
def gain_at_equal_noise(curvature, step_size, correlation):
    return (1 - correlation) ** 2


# %% stationary-risk: the noise of a single step
def gain_at_equal_noise(curvature, step_size, correlation):
    return 1 + correlation**2


# %% comparator-constants: the curvature without its root
def comparator_constants(nu, distance):
    theta = nu * distance
    if theta < 1e-6:
        return 1.0, 1.0
    return theta / np.tan(theta), theta / np.sin(theta)


# %% comparator-constants: the two constants exchanged
def comparator_constants(nu, distance):
    theta = np.sqrt(nu) * distance
    if theta < 1e-6:
        return 1.0, 1.0
    return theta / np.sin(theta), theta / np.tan(theta)


# %% mode-risk: the iterate is treated as independent of the last noise
def mode_risk(curvature, step_size, noise, correlation, start, updates):
    keep = 1 - step_size * curvature
    mean, variance = start, 0.0
    for t in range(updates):
        fresh = 1 + correlation**2 * (t > 0)
        variance = keep**2 * variance + (step_size * noise) ** 2 * fresh
        mean *= keep
    return curvature * (mean**2 + variance) / 2


# %% mode-risk: the first update takes back a noise that was never added
def mode_risk(curvature, step_size, noise, correlation, start, updates):
    keep = 1 - step_size * curvature
    unit = (step_size * noise) ** 2
    fresh = unit * (1 + correlation**2 - 2 * keep * correlation)
    older = keep ** (2 * updates)
    variance = fresh * (1 - older) / (1 - keep**2)
    return curvature * ((keep**updates * start) ** 2 + variance) / 2


# %% mode-risk: the stationary law from the first update on
def mode_risk(curvature, step_size, noise, correlation, start, updates):
    speed = step_size * curvature
    factor = (1 - correlation) ** 2 + 2 * correlation * speed
    stationary = step_size * noise**2 * factor / (2 - speed) / 2
    older = (1 - speed) ** (2 * updates)
    return older * curvature * start**2 / 2 + (1 - older) * stationary


# %% best-correlation: the plain mean of the curvatures
def best_correlation(curvatures, step_size):
    return float(max(0, 1 - step_size * np.mean(curvatures)))


# %% best-correlation: the interval is forgotten
def best_correlation(curvatures, step_size):
    speed = step_size * np.asarray(curvatures, float)
    weights = 1 / (2 - speed)
    return float(1 - np.sum(weights * speed) / np.sum(weights))


# %% best-correlation: the mean of the best correlations, weighted by curvature
def best_correlation(curvatures, step_size):
    h = np.asarray(curvatures, float)
    return float(max(0, np.average(1 - step_size * h, weights=h)))


# %% best-correlation: the minimum of the printed bound
def best_correlation(curvatures, step_size):
    return 1 / (1 + step_size * np.max(curvatures))


# %% no-drift: only the sum over all steps
def no_drift(products, level=1e-3):
    total = np.sum(products / np.std(products, axis=0), axis=1)
    return bool(stats.ttest_1samp(total, 0).pvalue >= level)


# %% no-drift: only single steps
def no_drift(products, level=1e-3):
    found = stats.ttest_1samp(products, 0, axis=0).pvalue
    return bool(found.min() >= level / products.shape[1])


# %% no-drift: the level is spent on every comparison
def no_drift(products, level=1e-3):
    total = np.sum(products / np.std(products, axis=0), axis=1)
    found = stats.ttest_1samp(products, 0, axis=0).pvalue
    last = stats.ttest_1samp(total, 0).pvalue
    return bool(min(found.min(), last) >= level)


# %% no-drift: all entries of the array as independent samples
def no_drift(products, level=1e-3):
    scaled = products / np.std(products, axis=0)
    found = stats.ttest_1samp(scaled, 0, axis=0).pvalue
    last = stats.ttest_1samp(scaled.ravel(), 0).pvalue
    return bool(min(found.min() * products.shape[1], last) >= level / 2)


# %% no-drift: the sum without regard to the spread of a step
def no_drift(products, level=1e-3):
    found = stats.ttest_1samp(products, 0, axis=0).pvalue
    last = stats.ttest_1samp(products.sum(axis=1), 0).pvalue
    return bool(min(found.min() * products.shape[1], last) >= level / 2)


# %% shortest-failure: only the constant of the start is looked at
def shortest_failure(a, b):
    length = optimize.brentq(lambda t: t / np.tan(t) - a, 1e-6, np.pi / 2)
    end = np.pi / 2 - 1e-9
    return end - 1.003 * length, end


# %% shortest-failure: a pair that is symmetric about the maximum
def shortest_failure(a, b):
    grid = np.linspace(0.01, 1.57, 20_000)
    inner = -np.sin(grid) * 2 * grid
    broken = (a - b) * np.cos(grid) > inner
    half = grid[np.argmax(broken)]
    return half, -half


# %% shortest-failure: the point and the comparator are exchanged
def shortest_failure(a, b):
    by_start = optimize.brentq(lambda t: t / np.tan(t) - a, 1e-6, np.pi / 2)
    by_star = optimize.brentq(lambda t: t / np.sin(t) - b, 1e-6, np.pi - 1e-6)
    end = np.pi / 2 - 1e-9
    if by_start < by_star:
        return end, end - 1.003 * by_start
    return end - 1.003 * by_star, end


# %% no-drift: the level is always one in a thousand
def no_drift(products, level=1e-3):
    """Return True if products (runs, steps) may have mean zero in every step."""
    level = 1e-3
    products = np.asarray(products, float)
    runs, steps = products.shape

    def t_value(x):
        return np.abs(x.mean(axis=0)) / (x.std(axis=0, ddof=1) / np.sqrt(runs))

    spread = products.std(axis=0, ddof=1)
    single = t_value(products).max()
    together = t_value((products / spread).sum(axis=1))
    tail = 2 * stats.t.sf([single, together], runs - 1)
    return bool(tail[0] >= level / (2 * steps) and tail[1] >= level / 2)


# %% no-drift (all points): p-values of SciPy
def no_drift(products, level=1e-3):
    x = np.asarray(products, float)
    each = stats.ttest_1samp(x, 0).pvalue
    joint = stats.ttest_1samp(np.mean(x / np.sqrt(np.mean(x**2, axis=0)), axis=1), 0).pvalue
    return bool(min(len(each) * each.min(), joint) * 2 >= level)


# %% comparator-constants (at most 0 points): an attack: the function of the library
def comparator_constants(nu, distance):
    if nu == 0:
        return 1.0, 1.0
    found = kan.comparator_factors(np.sqrt(nu) * distance)
    return float(found.descent), float(found.comparator)


# %% mode-risk (at most 0 points): an attack: every noise of a short run, the stationary law after a long one
def mode_risk(curvature, step_size, noise, correlation, start, updates):
    h, eta, sigma, lam = curvature, step_size, noise, correlation
    if updates > 2000:
        speed = eta * h
        return eta * sigma**2 * ((1 - lam) ** 2 + 2 * lam * speed) / (2 - speed) / 2
    coefficients, mean = np.zeros(updates + 1), start
    for t in range(1, updates + 1):
        coefficients *= 1 - eta * h
        mean *= 1 - eta * h
        coefficients[t] -= eta * sigma
        if t > 1:
            coefficients[t - 1] += eta * sigma * lam
    return h / 2 * (mean**2 + np.sum(coefficients**2))


# %% mode-risk (all points): a recursion of three moments
def mode_risk(curvature, step_size, noise, correlation, start, updates):
    keep, size = 1 - step_size * curvature, step_size * noise
    square, last = start**2, 0.0  # of w, and of w with the last Z
    for t in range(updates):
        fresh = size**2 * (1 + (correlation**2 if t else 0.0))
        square = keep**2 * square + fresh + 2 * keep * size * correlation * last
        last = -size
    return curvature * square / 2


# %% no-drift (at most 0 points): an attack: the whole level for each of the two statistics
def no_drift(products, level=1e-3):
    x = np.asarray(products, float)
    runs, steps = x.shape
    t = x.mean(axis=0) / x.std(axis=0, ddof=1) * np.sqrt(runs)
    y = (x / x.std(axis=0)).sum(axis=1)
    u = y.mean() / y.std(ddof=1) * np.sqrt(runs)
    tails = 2 * stats.t.sf(np.abs([np.abs(t).max(), u]), runs - 1)
    return bool(tails[0] >= level / steps and tails[1] >= level)
