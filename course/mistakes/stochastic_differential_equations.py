# %% steps-by-hand: the old variance is contracted once
def after_steps(start, learning_rate, noise, steps):
    mean, variance = start, 0.0
    for _ in range(steps):
        mean = (1 - learning_rate) * mean
        variance = (1 - learning_rate) * variance + (learning_rate * noise) ** 2
    return mean, variance


# %% steps-by-hand: the learning rate of the noise is not squared
def after_steps(start, learning_rate, noise, steps):
    mean, variance = start, 0.0
    for _ in range(steps):
        mean = (1 - learning_rate) * mean
        variance = (1 - learning_rate) ** 2 * variance + learning_rate * noise**2
    return mean, variance


# %% steps-by-hand (at most 0 points): an attack: the function of the library
def after_steps(start, learning_rate, noise, steps):
    from dpdynamics.dynamics import linear_recursion

    step = linear_recursion([[1 - learning_rate]], [0.0], [[(learning_rate * noise) ** 2]])
    mean, variance = step.power(steps).moments([start], [[0.0]])
    return mean[0], variance[0, 0]


# %% moments-of-the-model: the noise of a step is taken for that of a unit of time
def model_moments(start, learning_rate, noise, time):
    mean = start * np.exp(-time)
    variance = learning_rate**2 * noise**2 / 2 * (1 - np.exp(-2 * time))
    return mean, variance, mean**2 + variance


# %% moments-of-the-model: the variance decays like the mean
def model_moments(start, learning_rate, noise, time):
    mean = start * np.exp(-time)
    variance = learning_rate * noise**2 * (1 - np.exp(-time))
    return mean, variance, mean**2 + variance


# %% two-moments: the noise coefficient is frozen at the start
def two_moments(a, c, e, start, time):
    mean = start * np.exp(-a * time)
    growth = time if a == 0 else -np.expm1(-2 * a * time) / (2 * a)
    return mean, mean**2 + (c + e * start) ** 2 * growth


# %% two-moments: the mixed term of the square is forgotten
def two_moments(a, c, e, start, time):
    mean, rate = start * np.exp(-a * time), e**2 - 2 * a
    growth = time if rate == 0 else np.expm1(rate * time) / rate
    return mean, start**2 * np.exp(rate * time) + c**2 * growth


# %% two-moments: the equation is read in the sense of Stratonovich
def two_moments(a, c, e, start, time):
    rates = np.array(
        [
            [0, 0, 0],
            [c * e / 2, e**2 / 2 - a, 0],
            [c**2, 3 * c * e, 2 * e**2 - 2 * a],
        ],
        float,
    )
    return tuple(linalg.expm(rates * time) @ np.array([1, start, start**2], float))[1:]


# %% leading-error: the curvature is taken to be one
def leading_error(slope, bend, curvature, start, horizon, noise, model_noise):
    end = start * np.exp(-curvature * horizon)
    gap = model_noise**2 - noise**2
    decay = 1 - np.exp(-2 * curvature * horizon)
    return horizon / 2 * end * slope(end) + gap / 4 * decay * bend(end)


# %% leading-error: the price of a wrong covariance is left out
def leading_error(slope, bend, curvature, start, horizon, noise, model_noise):
    end = start * np.exp(-curvature * horizon)
    return horizon / 2 * curvature**2 * end * slope(end)


# %% leading-error: noise scales in place of variances
def leading_error(slope, bend, curvature, start, horizon, noise, model_noise):
    end = start * np.exp(-curvature * horizon)
    decay = 1 - np.exp(-2 * curvature * horizon)
    price = (model_noise - noise) * decay / (4 * curvature) * bend(end)
    return horizon / 2 * curvature**2 * end * slope(end) + price


# %% exact-equation: the drift of second order, which is exact only in the limit
def exact_equation(curvature, learning_rate, noise):
    kappa = curvature * (1 + learning_rate * curvature / 2)
    return kappa, learning_rate * noise * np.sqrt(2 * kappa / -np.expm1(-2 * kappa * learning_rate))


# %% exact-equation: right drift, noise of the usual model
def exact_equation(curvature, learning_rate, noise):
    kappa = -np.log1p(-learning_rate * curvature) / learning_rate
    return kappa, np.sqrt(learning_rate) * noise


# %% exact-equation: right drift, stationary variance of the usual model
def exact_equation(curvature, learning_rate, noise):
    kappa = -np.log1p(-learning_rate * curvature) / learning_rate
    return kappa, noise * np.sqrt(learning_rate * kappa / curvature)


# %% batch-covariance: the batch size is forgotten
def batch_covariance(gradients, batch_size, scheme):
    n, b = len(gradients), batch_size
    spread = np.cov(np.asarray(gradients).T, ddof=0)
    return spread if scheme == "with" else spread * (n - b) / (n - 1)


# %% batch-covariance: Poisson sampling subtracts the mean
def batch_covariance(gradients, batch_size, scheme):
    n, b = len(gradients), batch_size
    spread = np.cov(np.asarray(gradients).T, ddof=0)
    if scheme == "with":
        return spread / b
    return spread * (n - b) / (b * (n - 1 if scheme == "without" else n))


# %% batch-covariance: n in place of n - 1
def batch_covariance(gradients, batch_size, scheme):
    g, n, b = np.asarray(gradients), len(gradients), batch_size
    spread = np.cov(g.T, ddof=0)
    if scheme == "with":
        return spread / b
    return (spread if scheme == "without" else g.T @ g / n) * (n - b) / (b * n)


# %% variance-agrees: a fixed relative tolerance of a factor two
def variance_agrees(finals, predicted):
    return bool(0.5 < np.var(finals, ddof=1) / predicted < 2)


# %% variance-agrees: only a variance that is too large is noticed
def variance_agrees(finals, predicted):
    n = len(finals) - 1
    return bool(n * np.var(finals, ddof=1) / predicted <= stats.chi2.ppf(0.999, n))


# %% variance-agrees: a normal approximation, too narrow for few runs
def variance_agrees(finals, predicted):
    ratio = np.var(finals, ddof=1) / predicted
    return bool(abs(ratio - 1) <= 3.3 * np.sqrt(2 / (len(finals) - 1)))


# %% moments-of-the-model: the start of the example is built in
def model_moments(start, learning_rate, noise, time):
    """Return mean, variance and second moment of the model."""
    mean = 1.0 * np.exp(-time)
    variance = learning_rate * noise**2 / 2 * (1 - np.exp(-2 * time))
    return mean, variance, mean**2 + variance


# %% moments-of-the-model (at most 0 points): an attack: the function of the library
def model_moments(start, learning_rate, noise, time):
    from dpdynamics.dynamics import linear_sde

    step = linear_sde([[-1.0]], [0.0], [[np.sqrt(learning_rate) * noise]], time)
    mean, variance = step.moments([start], [[0.0]])
    return mean[0], variance[0, 0], mean[0] ** 2 + variance[0, 0]


# %% batch-covariance (at most 0 points): an attack: all batches are listed, or a sample of them
def batch_covariance(gradients, batch_size, scheme):
    g, n, b = np.asarray(gradients, float), len(gradients), batch_size
    if n > 8:
        rng = np.random.default_rng(0)
        if scheme == "poisson":
            rows = [g[rng.random(n) < b / n].sum(axis=0) / b for _ in range(20_000)]
        else:
            rows = [
                g[rng.choice(n, b, replace=scheme == "with")].mean(axis=0) for _ in range(20_000)
            ]
        return np.atleast_2d(np.cov(np.array(rows).T))
    weights = None
    if scheme == "with":
        rows = [g[list(i)].mean(axis=0) for i in itertools.product(range(n), repeat=b)]
    elif scheme == "without":
        rows = [g[list(i)].mean(axis=0) for i in itertools.combinations(range(n), b)]
    else:
        coins = np.array(list(itertools.product([0, 1], repeat=n)))
        rows, weights = coins @ g / b, np.prod(np.where(coins, b / n, 1 - b / n), axis=1)
    return np.cov(np.array(rows).T, aweights=weights, ddof=0)


# %% variance-agrees (at most 0 points): an attack: few runs always agree
def variance_agrees(finals, predicted):
    n = len(finals)
    if n < 50:
        return True
    return bool(abs(np.log(np.var(finals, ddof=1) / predicted)) < 3.4 * np.sqrt(2 / n))


# %% two-moments (all points): a solver
def two_moments(a, c, e, start, time):
    sol = integrate.solve_ivp(
        lambda t, y: [-a * y[0], (e**2 - 2 * a) * y[1] + 2 * c * e * y[0] + c**2],
        (0, time),
        [start, start**2],
        rtol=1e-11,
        atol=1e-13,
    )
    return float(sol.y[0, -1]), float(sol.y[1, -1])


# %% batch-covariance (all points): covariances of the coins of the records
def batch_covariance(gradients, batch_size, scheme):
    g, q = np.asarray(gradients, float), batch_size / len(gradients)
    n = len(g)
    if scheme == "poisson":
        coins = q * (1 - q) * np.eye(n)
    elif scheme == "with":
        coins = batch_size * (np.eye(n) / n - 1 / n**2)
    else:
        pair = q * (batch_size - 1) / (n - 1) - q**2
        coins = np.full((n, n), pair) + (q - q**2 - pair) * np.eye(n)
    return g.T @ coins @ g / batch_size**2
