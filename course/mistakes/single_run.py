# %% spread-of-a-plateau: a squared Gaussian spreads like its mean
def spread_of_plateau(eigenvalues, variances):
    parts = np.asarray(eigenvalues) * np.asarray(variances)
    return np.sqrt(np.sum((parts / parts.sum()) ** 2))


# %% spread-of-a-plateau: the eigenvalues are left out of the shares
def spread_of_plateau(eigenvalues, variances):
    parts = np.asarray(variances, dtype=float)
    return np.sqrt(2 * np.sum((parts / parts.sum()) ** 2))


# %% dimension-for: the spread falls like one over the dimension
def dimension_for(spread, dimension, target):
    return int(np.ceil(dimension * spread / target))


# %% dimension-for: rounded down
def dimension_for(spread, dimension, target):
    return int(dimension * (spread / target) ** 2)


# %% run-constant: the spread of the diffusion
def run_constant(t, gamma, noise_scale, label_variance, kurtosis, start):
    a = gamma**2 - 2 * gamma
    beta = label_variance + noise_scale**2

    def slope(_, state):
        mu, W = state
        return [
            a * mu + gamma**2 * beta,
            2 * a * W + 4 * gamma**2 * (mu**2 + beta * mu),
        ]

    end = integrate.solve_ivp(slope, (0, t), [start**2, 0.0], rtol=1e-10).y[:, -1]
    return float(np.sqrt(end[1]) / 2)


# %% run-constant: the fourth moment of the label noise is forgotten (Gaussian assumed)
def run_constant(t, gamma, noise_scale, label_variance, kurtosis, start):
    a = gamma**2 - 2 * gamma
    z2, s2 = label_variance, noise_scale**2

    def slope(_, state):
        mu, W = state
        source = 2 * (2 - gamma) ** 2 * mu**2
        source += 4 * ((1 - gamma) ** 2 * z2 + s2) * mu
        source += gamma**2 * 2 * z2**2
        return [a * mu + gamma**2 * (z2 + s2), 2 * a * W + gamma**2 * source]

    end = integrate.solve_ivp(slope, (0, t), [start**2, 0.0], rtol=1e-10).y[:, -1]
    return float(np.sqrt(end[1]) / 2)


# %% run-constant: cross term of signal and label noise with factor 1 for (1 - gamma)^2
def run_constant(t, gamma, noise_scale, label_variance, kurtosis, start):
    a = gamma**2 - 2 * gamma
    z2, s2 = label_variance, noise_scale**2

    def slope(_, state):
        mu, W = state
        source = 2 * (2 - gamma) ** 2 * mu**2 + 4 * (z2 + s2) * mu
        source += gamma**2 * (kurtosis - 1) * z2**2
        return [a * mu + gamma**2 * (z2 + s2), 2 * a * W + gamma**2 * source]

    end = integrate.solve_ivp(slope, (0, t), [start**2, 0.0], rtol=1e-10).y[:, -1]
    return float(np.sqrt(end[1]) / 2)


# %% break-theorem: the risk taken without its factor one half
def break_theorem(c0, c1, c2):
    label = 3 / 8

    def slope(_, state):
        mu, W = state
        return [-mu + label, -2 * W + 4 * (mu**2 + label * mu)]

    W = integrate.solve_ivp(slope, (0, 1), [1.0, 0.0], rtol=1e-10).y[1, -1]
    p = float(2 * stats.norm.sf(1 / np.sqrt(W)))
    log_d = 1.01 * max(c0, np.log(2 * c2 / p) / c1, 1.0)
    return dict(gamma=1.0, time=1.0, truth=1.0, label_variance=label, probability=p, log_d=log_d)


# %% break-theorem: label noise of variance one, outside Assumption 2
def break_theorem(c0, c1, c2):
    def slope(_, state):
        mu, W = state
        return [-mu + 1.0, -2 * W + 4 * (mu**2 + mu)]

    W = integrate.solve_ivp(slope, (0, 1), [1.0, 0.0], rtol=1e-10).y[1, -1]
    p = float(2 * stats.norm.sf(2 / np.sqrt(W)))
    log_d = 1.01 * max(c0, np.log(2 * c2 / p) / c1, 1.0)
    return dict(gamma=1.0, time=1.0, truth=1.0, label_variance=1.0, probability=p, log_d=log_d)


# %% break-theorem: the condition n <= d ln(d) / c0 is forgotten
def break_theorem(c0, c1, c2):
    label = 3 / 8

    def slope(_, state):
        mu, W = state
        return [-mu + label, -2 * W + 4 * (mu**2 + label * mu)]

    W = integrate.solve_ivp(slope, (0, 1), [1.0, 0.0], rtol=1e-10).y[1, -1]
    p = float(2 * stats.norm.sf(2 / np.sqrt(W)))
    log_d = 1.01 * max(np.log(2 * c2 / p) / c1, 1.0)
    return dict(gamma=1.0, time=1.0, truth=1.0, label_variance=label, probability=p, log_d=log_d)


# %% runs-needed: one level for every checkpoint
def runs_needed(theory, candidate, deviation, level, power):
    theory, candidate, deviation = map(np.atleast_1d, (theory, candidate, deviation))
    effect = np.max(np.abs(candidate - theory) / deviation)
    z = stats.norm.isf(level / 2) + stats.norm.ppf(power)
    return max(1, int(np.ceil((z / effect) ** 2)))


# %% runs-needed: largest difference instead of largest standardised difference
def runs_needed(theory, candidate, deviation, level, power):
    theory, candidate, deviation = map(np.atleast_1d, (theory, candidate, deviation))
    i = np.argmax(np.abs(candidate - theory))
    effect = abs(candidate[i] - theory[i]) / deviation[i]
    z = stats.norm.isf(level / 2 / theory.size) + stats.norm.ppf(power)
    return max(1, int(np.ceil((z / effect) ** 2)))


# %% runs-needed: one-sided test
def runs_needed(theory, candidate, deviation, level, power):
    theory, candidate, deviation = map(np.atleast_1d, (theory, candidate, deviation))
    effect = np.max(np.abs(candidate - theory) / deviation)
    z = stats.norm.isf(level / theory.size) + stats.norm.ppf(power)
    return max(1, int(np.ceil((z / effect) ** 2)))


# %% spread-exponent: the exponent of the mean, not of the spread
def spread_exponent(dimensions, runs):
    fit = np.polyfit(np.log(dimensions), np.log(runs.mean(axis=0)), 1, cov=True)
    return float(fit[0][0]), float(2.576 * np.sqrt(fit[1][0, 0]))


def consistent(dimensions, runs, claimed):
    exponent, half_width = spread_exponent(dimensions, runs)
    return bool(abs(exponent - claimed) <= half_width)


# %% spread-exponent: normal runs assumed in the standard error
def spread_exponent(dimensions, runs):
    x = np.log(np.asarray(dimensions, dtype=float))
    weights = (x - x.mean()) / np.sum((x - x.mean()) ** 2)
    slope = weights @ np.log(runs.std(axis=0, ddof=1))
    half = 2.576 * np.sqrt(np.sum(weights**2) / (2 * len(runs)))
    return float(slope), float(half)


def consistent(dimensions, runs, claimed):
    exponent, half_width = spread_exponent(dimensions, runs)
    return bool(abs(exponent - claimed) <= half_width)


# %% spread-exponent: exponent of the variance
def spread_exponent(dimensions, runs):
    x = np.log(np.asarray(dimensions, dtype=float))
    weights = (x - x.mean()) / np.sum((x - x.mean()) ** 2)
    slope = weights @ np.log(runs.var(axis=0, ddof=1))
    return float(slope), 0.02


def consistent(dimensions, runs, claimed):
    exponent, half_width = spread_exponent(dimensions, runs)
    return bool(abs(exponent - claimed) <= half_width)


# %% spread-exponent: residuals of the line with a normal quantile
def spread_exponent(dimensions, runs):
    x, y = np.log(dimensions), np.log(runs.std(axis=0, ddof=1))
    coefficients, cov = np.polyfit(x, y, 1, cov=True)
    return float(coefficients[0]), float(2.576 * np.sqrt(cov[0, 0]))


def consistent(dimensions, runs, claimed):
    exponent, half_width = spread_exponent(dimensions, runs)
    return bool(abs(exponent - claimed) <= half_width)


# %% spread-exponent: consistent is about the example only
def spread_exponent(dimensions, runs):
    """Exponent of the standard deviation, and half width of its 99 % interval."""
    x = np.log(np.asarray(dimensions, dtype=float))
    runs = np.asarray(runs, dtype=float)
    weights = (x - x.mean()) / np.sum((x - x.mean()) ** 2)
    centred = (runs - runs.mean(axis=0)) ** 2
    variance = runs.var(axis=0, ddof=1)
    log_sd_variance = centred.var(axis=0, ddof=1) / len(runs) / (4 * variance**2)
    exponent = weights @ np.log(variance) / 2
    half = stats.norm.ppf(0.995) * np.sqrt(weights**2 @ log_sd_variance)
    return float(exponent), float(half)


def consistent(dimensions, runs, claimed):
    exponent, half_width = spread_exponent([30, 100, 300, 1000, 3000], runs)
    return bool(abs(exponent - claimed) <= half_width)


# %% run-constant (at most 0 points): an attack: fair signs and normal noise, nothing else
def run_constant(t, gamma, noise_scale, label_variance, kurtosis, start):
    a = gamma**2 - 2 * gamma
    z2, s2 = label_variance, noise_scale**2
    fourth = 0.0 if kurtosis == 1 else 2 * z2**2

    def slope(_, state):
        mu, W = state
        source = 2 * (2 - gamma) ** 2 * mu**2
        source += 4 * ((1 - gamma) ** 2 * z2 + s2) * mu
        source += gamma**2 * fourth
        return [a * mu + gamma**2 * (z2 + s2), 2 * a * W + gamma**2 * source]

    end = integrate.solve_ivp(slope, (0, t), [start**2, 0.0], rtol=1e-10, atol=1e-14).y[:, -1]
    return float(np.sqrt(end[1]) / 2)


# %% spread-exponent (at most 0 points): an attack: a bootstrap without a seed
def spread_exponent(dimensions, runs):
    x = np.log(np.asarray(dimensions, dtype=float))
    w = (x - x.mean()) / np.sum((x - x.mean()) ** 2)
    rng = np.random.default_rng()
    N, m = runs.shape
    draws = [
        w @ np.log(np.take_along_axis(runs, rng.integers(0, N, (N, m)), 0).std(axis=0))
        for _ in range(60)
    ]
    return float(w @ np.log(runs.std(axis=0, ddof=1))), float(2.576 * np.std(draws))


def consistent(dimensions, runs, claimed):
    exponent, half_width = spread_exponent(dimensions, runs)
    return bool(abs(exponent - claimed) <= half_width)


# %% spread-exponent (all points): a jackknife of every column
def spread_exponent(dimensions, runs):
    x, runs = np.log(np.asarray(dimensions, float)), np.asarray(runs, float)
    weights = (x - x.mean()) / np.sum((x - x.mean()) ** 2)
    n = len(runs)
    square = (runs - runs.mean(axis=0)) ** 2
    left = (square.sum(axis=0) - square * n / (n - 1)) / (n - 2)  # variances without one run
    spread = (n - 1) * np.log(left).var(axis=0) / 4
    exponent = weights @ np.log(runs.var(axis=0, ddof=1)) / 2
    return float(exponent), float(2.576 * np.sqrt(weights**2 @ spread))


def consistent(dimensions, runs, claimed):
    exponent, half_width = spread_exponent(dimensions, runs)
    return bool(exponent - half_width <= claimed <= exponent + half_width)


# %% run-constant (all points): closed forms of the linear equations
def run_constant(t, gamma, noise_scale, label_variance, kurtosis, start):
    a, z2, s2 = gamma**2 - 2 * gamma, label_variance, noise_scale**2
    nodes, weights = np.polynomial.legendre.leggauss(60)
    u = t * (nodes + 1) / 2
    grown = np.expm1(a * u) / a if a else u
    mu = start**2 * np.exp(a * u) + gamma**2 * (z2 + s2) * grown
    source = 2 * (gamma - 2) ** 2 * mu**2 + 4 * ((1 - gamma) ** 2 * z2 + s2) * mu
    source += gamma**2 * z2**2 * (kurtosis - 1)
    W = gamma**2 * t / 2 * (weights @ (np.exp(2 * a * (t - u)) * source))
    return float(np.sqrt(W) / 2)


# %% runs-needed (at most 0 points): an attack: one of the two tails, which is nearly all
def runs_needed(theory, candidate, deviation, level, power):
    theory, candidate, deviation = map(np.asarray, (theory, candidate, deviation))
    effect = np.max(np.abs(candidate - theory) / deviation)
    z = stats.norm.isf(level / 2 / theory.size) + stats.norm.ppf(power)
    return max(1, int(np.ceil((z / effect) ** 2)))


# %% spread-exponent (at most 0 points): an attack: one kurtosis for all columns
def spread_exponent(dimensions, runs):
    x = np.log(np.asarray(dimensions, float))
    weights = (x - x.mean()) / np.sum((x - x.mean()) ** 2)
    kurtosis = np.mean(((runs - runs.mean(axis=0)) / runs.std(axis=0)) ** 4)
    half = 2.576 * np.sqrt(np.sum(weights**2) * (kurtosis - 1) / 4 / len(runs))
    return float(weights @ np.log(runs.std(axis=0, ddof=1))), float(half)


def consistent(dimensions, runs, claimed):
    exponent, half_width = spread_exponent(dimensions, runs)
    return bool(abs(exponent - claimed) <= half_width)
