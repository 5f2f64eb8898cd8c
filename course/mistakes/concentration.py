# %% length-bound: the scale multiplies the squared length once
def length_bound(dimension, scale, delta):
    level = np.log(1 / delta)
    return np.sqrt(scale * (dimension + 2 * np.sqrt(dimension * level) + 2 * level))


# %% length-bound: the logarithm to base ten
def length_bound(dimension, scale, delta):
    level = np.log10(1 / delta)
    return scale * np.sqrt(dimension + 2 * np.sqrt(dimension * level) + 2 * level)


# %% effective-dimension: the trace over the largest eigenvalue
def effective_dimension(eigenvalues):
    return np.sum(eigenvalues) / np.max(eigenvalues)


# %% effective-dimension: the number of eigenvalues that are not zero
def effective_dimension(eigenvalues):
    return np.count_nonzero(eigenvalues)


# %% chernoff-tail: the closed threshold of the chapter, inverted, which is larger
def chernoff_tail(eigenvalues, t):
    h = np.asarray(eigenvalues, float)
    a, b = 2 * np.sqrt(np.sum(h**2)), 2 * max(h.max(), 0)
    root = t / a if b == 0 else (-a + np.sqrt(a**2 + 4 * b * t)) / (2 * b)
    return float(np.exp(-(root**2)))


# %% chernoff-tail: the mean is not subtracted in the moment generating function
def chernoff_tail(eigenvalues, t):
    h = np.asarray(eigenvalues, float)
    theta = special.expit(np.linspace(-20, 20, 20_001))[:, None] / (2 * abs(h).max())
    log_mgf = -0.5 * np.sum(np.log(1 - 2 * theta * h * (1 - 1e-12)), axis=1)
    return float(np.exp(np.min(log_mgf - theta[:, 0] * t)))


# %% chernoff-tail: all eigenvalues are replaced by their absolute values
def chernoff_tail(eigenvalues, t):
    h = np.abs(np.asarray(eigenvalues, float))
    theta = special.expit(np.linspace(-25, 25, 40_001))[:, None] / (2 * h.max())
    inside = 1 - 2 * theta * h * (1 - 1e-12)
    log_mgf = -np.sum(theta * h + 0.5 * np.log(inside), axis=1)
    return float(np.exp(np.min(log_mgf - theta[:, 0] * t)))


# %% averaged-error: shuffled batches are taken to be independent
def averaged_error(points, batch_size, batches, shuffled):
    x, n, b = np.asarray(points, float), len(points), batch_size
    if shuffled and b * batches == n:
        return 0.0
    return np.var(x, axis=0).sum() * (n - b) / (b * (n - 1)) / batches


# %% averaged-error: without the correction for drawing without replacement
def averaged_error(points, batch_size, batches, shuffled):
    if shuffled and batch_size * batches == len(points):
        return 0.0
    return np.var(np.asarray(points), axis=0).sum() / (batch_size * batches)


# %% averaged-error: the points are not centred
def averaged_error(points, batch_size, batches, shuffled):
    x, n = np.asarray(points, float), len(points)
    m, k = (batch_size * batches, 1) if shuffled else (batch_size, batches)
    return np.mean(np.sum(x**2, axis=1)) * (n - m) / (m * (n - 1)) / k


# %% sharp-threshold: the simplified threshold
def sharp_threshold(variance, bound, delta):
    log_term = np.log(1 / delta)
    return np.sqrt(2 * variance * log_term) + bound * log_term / 3


# %% sharp-threshold: the Gaussian part alone
def sharp_threshold(variance, bound, delta):
    return np.sqrt(2 * variance * np.log(1 / delta))


# %% sharp-threshold: the bound on the increments is taken to be one
def sharp_threshold(variance, bound, delta):
    target = np.log(1 / delta) / variance
    root = optimize.brentq(lambda v: (1 + v) * np.log1p(v) - v - target, 0, 1e9)
    return min(root * variance, np.sqrt(2 * variance * np.log(1 / delta)) * 1.0)


# %% rare-run: a run that satisfies the condition
def rare_run(delta):
    return 1000, 0.1


# %% rare-run: one participation on average, where the threshold still holds
def rare_run(delta):
    return 1000, 0.001


# %% rare-run: so rare that a single participation is within delta
def rare_run(delta):
    return 10, delta / 20


# %% refuted: a Gaussian approximation
def refuted(failures, runs, delta):
    return bool(failures > runs * delta + 3.72 * np.sqrt(runs * delta * (1 - delta)))


def runs_needed(delta, factor):
    gap = (factor - 1) * delta
    a, b = np.sqrt(delta), np.sqrt(factor * delta)
    return int(((3.72 * a + 2.33 * b) / gap) ** 2) + 1


# %% refuted: the observed share is compared with delta
def refuted(failures, runs, delta):
    return bool(failures / runs > delta)


def runs_needed(delta, factor):
    return int(10 / delta / (factor - 1) ** 2) + 1


# %% refuted: the probability of more failures, one too few
def refuted(failures, runs, delta):
    return bool(failures > 0 and stats.binom.sf(failures, runs, delta) <= 1e-4)


def runs_needed(delta, factor):
    n = 1
    while True:
        f = int(stats.binom.isf(1e-4, n, delta)) + 1
        if stats.binom.sf(f - 1, n, factor * delta) >= 0.99:
            return n
        n = int(n * 1.05) + 1


# %% chernoff-tail (at most 0 points): an attack: no better than one where no eigenvalue is positive
def chernoff_tail(eigenvalues, t):
    """Return the optimised Chernoff bound on the upper tail."""
    h = np.asarray(eigenvalues, dtype=float)

    def slope(theta):  # of the logarithm of the moment generating function
        return np.sum(2 * theta * h**2 / (1 - 2 * theta * h))

    top = h.max()
    if top > 0:
        high = (1 - 1e-14) / (2 * top)
    elif t >= -h.sum():
        return 0.0  # the variable cannot exceed minus the trace
    else:
        return 1.0
    theta = optimize.brentq(lambda x: slope(x) - t, 0, high, xtol=1e-300, rtol=1e-14)
    log_mgf = -np.sum(theta * h + 0.5 * np.log1p(-2 * theta * h))
    return float(np.exp(log_mgf - theta * t))


# %% chernoff-tail (all points): a search over the logarithm of the odds of theta
def chernoff_tail(eigenvalues, t):
    h = np.asarray(eigenvalues, dtype=float)
    top = max(h.max(), 0.0)
    if top == 0 and t >= -h.sum():
        return 0.0

    def exponent(x):
        if top > 0:
            theta = special.expit(x) / (2 * top)
            rest = np.where(h == top, special.expit(-x), 1 - 2 * theta * h)
        else:
            theta = np.exp(x)
            rest = 1 - 2 * theta * h
        return -np.sum(theta * h + np.log(rest) / 2) - theta * t

    grid = np.linspace(-34, 34, 2001)
    best = grid[np.argmin([exponent(x) for x in grid])]
    found = optimize.minimize_scalar(
        exponent, bounds=(best - 0.1, best + 0.1), method="bounded", options={"xatol": 1e-10}
    )
    return float(np.exp(found.fun))
