# %% plateau-of-two: without the feedback
def plateau_of_two(first, second, gamma, noise):
    return gamma * noise**2 / 4


# %% plateau-of-two: the risk without its half
def plateau_of_two(first, second, gamma, noise):
    feedback = gamma * (first + second) / 2
    return gamma * noise**2 / 2 / (1 - feedback) if feedback < 1 else np.inf


# %% one-affine-step: the step acts on the covariance from one side
def one_affine_step(m, S, a, b, eta, ridge, noise):
    C = (1 - eta * ridge) * np.eye(len(a)) - eta * np.outer(a, a)
    return C @ m + eta * b * a, C @ S + (eta * noise) ** 2 * np.eye(len(a))


# %% one-affine-step: the noise of a gradient is added to the iterate
def one_affine_step(m, S, a, b, eta, ridge, noise):
    C = (1 - eta * ridge) * np.eye(len(a)) - eta * np.outer(a, a)
    return C @ m + eta * b * a, C @ S @ C.T + noise**2 * np.eye(len(a))


# %% scalar-risk: the sampling noise is driven by the excess risk only
def scalar_risk(eigenvalue, rate, start_risk, label_variance, noise, time):
    lam, floor = eigenvalue, label_variance / 2

    def change(t, y):
        g = rate(t)
        return -2 * g * lam * y + g**2 * lam * (lam * y + noise**2 / 2)

    solved = integrate.solve_ivp(change, (0, time), [start_risk - floor], rtol=1e-10)
    return solved.y[0, -1] + floor


# %% scalar-risk: the risk decays to zero, not to the label noise
def scalar_risk(eigenvalue, rate, start_risk, label_variance, noise, time):
    lam = eigenvalue

    def change(t, y):
        g = rate(t)
        return -2 * g * lam * y + g**2 * lam * (lam * y + noise**2 / 2)

    return integrate.solve_ivp(change, (0, time), [start_risk], rtol=1e-10).y[0, -1]


# %% scalar-risk: the factor one half of the privacy noise is lost
def scalar_risk(eigenvalue, rate, start_risk, label_variance, noise, time):
    lam = eigenvalue

    def change(t, y):
        g = rate(t)
        pull = -2 * g * lam * (y - label_variance / 2)
        return pull + g**2 * lam * (lam * y + noise**2)

    return integrate.solve_ivp(change, (0, time), [start_risk], rtol=1e-10).y[0, -1]


# %% scalar-risk: the rate at time zero is used throughout
def scalar_risk(eigenvalue, rate, start_risk, label_variance, noise, time):
    lam, g = eigenvalue, rate(0.0)

    def change(t, y):
        pull = -2 * g * lam * (y - label_variance / 2)
        return pull + g**2 * lam * (lam * y + noise**2 / 2)

    return integrate.solve_ivp(change, (0, time), [start_risk], rtol=1e-10).y[0, -1]


# %% scalar-risk (at most 0 points): an attack: the function of the library
def scalar_risk(eigenvalue, rate, start_risk, label_variance, noise, time):
    from dpdynamics import dynamics, problems

    class Schedule:
        def __call__(self, t):
            return np.vectorize(rate, otypes=[float])(t)

        def integral(self, t, power=1):
            area = lambda end: integrate.quad(lambda s: rate(s) ** power, 0, end)[0]  # noqa: E731
            return np.vectorize(area, otypes=[float])(t)

        def square_integral(self, t):
            return self.integral(t, 2)

    if time == 0:
        return start_risk
    problem = problems.LeastSquares(np.full(2, eigenvalue), np.zeros(2), label_variance, 0.0)
    start = np.array([np.sqrt((2 * start_risk - label_variance) / eigenvalue), 0.0])
    times = np.linspace(0, time, 2001)
    return dynamics.risk_curve(problem, start, Schedule(), noise, times).population[-1]


# %% batch-plateau: the privacy noise is averaged over the batch as well
def batch_plateau(eigenvalues, truth, ridge, gamma, noise, label_variance, batch_size):
    lam, x = np.asarray(eigenvalues, float), np.asarray(truth, float)
    a, d = lam + ridge, len(eigenvalues)
    share = gamma / (2 * d * batch_size) * np.sum(lam**2 / a)
    bias = 0.5 * np.sum(lam * (ridge * x / a) ** 2) + label_variance / 2
    private = gamma * noise**2 / (4 * d * batch_size) * np.sum(lam / a)
    return np.inf if share >= 1 else (bias + private) / (1 - share)


# %% batch-plateau: the label noise is averaged over the batch, the sampling is not
def batch_plateau(eigenvalues, truth, ridge, gamma, noise, label_variance, batch_size):
    lam, x = np.asarray(eigenvalues, float), np.asarray(truth, float)
    a, d = lam + ridge, len(eigenvalues)
    share = gamma / (2 * d) * np.sum(lam**2 / a)
    bias = 0.5 * np.sum(lam * (ridge * x / a) ** 2) + label_variance / (2 * batch_size)
    private = gamma * noise**2 / (4 * d) * np.sum(lam / a)
    return np.inf if share >= 1 else (bias + private) / (1 - share)


# %% batch-plateau: evaluated blindly beyond the limit rate
def batch_plateau(eigenvalues, truth, ridge, gamma, noise, label_variance, batch_size):
    lam, x = np.asarray(eigenvalues, float), np.asarray(truth, float)
    a, d = lam + ridge, len(eigenvalues)
    share = gamma / (2 * d * batch_size) * np.sum(lam**2 / a)
    bias = 0.5 * np.sum(lam * (ridge * x / a) ** 2) + label_variance / 2
    private = gamma * noise**2 / (4 * d) * np.sum(lam / a)
    return np.inf if gamma * lam.max() > 2 * batch_size * 2 else (bias + private) / (1 - share)


# %% average-law: the iterates are taken to be independent
def average_law(features, labels, start, step, ridge, noise):
    m, s, d = np.asarray(start, float), 0.0, len(start)
    means, covs = [], []
    for a, b in zip(np.asarray(features, float), labels, strict=True):
        c = (1 - step * ridge) * np.eye(d) - step * np.outer(a, a)
        m = c @ m + step * b * a
        s = c @ (s * np.eye(d) if np.ndim(s) == 0 else s) @ c.T
        s = s + (step * noise) ** 2 * np.eye(d)
        means.append(m)
        covs.append(s)
    return np.mean(means, axis=0), np.sum(covs, axis=0) / len(means) ** 2


# %% average-law: the law of the last iterate
def average_law(features, labels, start, step, ridge, noise):
    d = len(start)
    m, s = np.asarray(start, float), np.zeros((d, d))
    for a, b in zip(np.asarray(features, float), labels, strict=True):
        c = (1 - step * ridge) * np.eye(d) - step * np.outer(a, a)
        m = c @ m + step * b * a
        s = c @ s @ c.T + (step * noise) ** 2 * np.eye(d)
    return m, s


# %% average-law: the maps are multiplied in the wrong order
def average_law(features, labels, start, step, ridge, noise):
    a, d, n = np.asarray(features, float), len(start), len(labels)
    m, total, maps = np.asarray(start, float), 0.0, []
    for row, b in zip(a, labels, strict=True):
        maps.append((1 - step * ridge) * np.eye(d) - step * np.outer(row, row))
        m = maps[-1] @ m + step * b * row
        total = total + m
    cov = np.zeros((d, d))
    for k in range(n):
        product, reach = np.eye(d), np.eye(d)
        for j in range(k + 1, n):
            product = product @ maps[j]
            reach = reach + product
        cov += reach @ reach.T
    return total / n, (step * noise / n) ** 2 * cov


# %% paying-ridge: a truth spread over all directions with a large penalty
def paying_ridge(noise):
    return np.ones(200) / np.sqrt(200), 10.0


# %% paying-ridge: a penalty too small to matter
def paying_ridge(noise):
    truth = np.zeros(200)
    truth[0] = 1.0
    return truth, 1e-6


# %% paying-ridge: one penalty for every noise
def paying_ridge(noise):
    truth = np.zeros(200)
    truth[0] = 1.0
    return truth, 0.6


# %% mean-agrees: the spread of single runs in place of the standard error
def mean_agrees(final_risks, predicted, slack):
    mean, spread = np.mean(final_risks), np.std(final_risks)
    return bool(abs(mean - predicted) <= slack * predicted + 3.3 * spread)


# %% mean-agrees: the slack is ignored
def mean_agrees(final_risks, predicted, slack):
    error = np.std(final_risks, ddof=1) / np.sqrt(len(final_risks))
    return bool(abs(np.mean(final_risks) - predicted) <= 3.5 * error)


# %% mean-agrees: only a prediction that is too small is noticed
def mean_agrees(final_risks, predicted, slack):
    error = np.std(final_risks, ddof=1) / np.sqrt(len(final_risks))
    if predicted > 1.4 * np.mean(final_risks):
        return False
    return bool(np.mean(final_risks) <= predicted * (1 + slack) + 3.5 * error)


# %% mean-agrees: a normal quantile, which is too small for five runs
def mean_agrees(final_risks, predicted, slack):
    """Return True if the runs are compatible with the prediction up to the slack."""
    values = np.asarray(final_risks, dtype=float)
    error = values.std(ddof=1) / np.sqrt(len(values))
    # the claim is |predicted - mean| <= slack * mean
    low, high = predicted / (1 + slack), predicted / (1 - slack)
    quantile = stats.norm.ppf(1 - 4e-4)
    mean = values.mean()
    return bool(low - quantile * error <= mean <= high + quantile * error)


# %% mean-agrees (all points): an interval of SciPy for the mean meets that of the claim
def mean_agrees(final_risks, predicted, slack):
    low, high = stats.t.interval(
        0.9995, len(final_risks) - 1, loc=np.mean(final_risks), scale=stats.sem(final_risks)
    )
    return bool(low * (1 - slack) <= predicted <= high * (1 + slack))


# %% plateau-of-two (at most 0 points): an attack: a large number at the stability limit
def plateau_of_two(first, second, gamma, noise):
    feedback = gamma * (first + second) / 4
    return np.inf if feedback > 1 else gamma * noise**2 / 4 / max(1 - feedback, 1e-12)


# %% plateau-of-two (at most 0 points): an attack: the function of the library
def plateau_of_two(first, second, gamma, noise):
    from dpdynamics import dynamics, problems

    problem = problems.LeastSquares(np.array([first, second]), np.zeros(2), 0.0, 0.0)
    if gamma >= dynamics.stability_limit(problem):
        return np.inf
    return dynamics.stationary_risk(problem, gamma, noise).population


# %% batch-plateau (at most 0 points): an attack: a large number at the limit rate
def batch_plateau(eigenvalues, truth, ridge, gamma, noise, label_variance, batch_size):
    lam, x = np.asarray(eigenvalues, dtype=float), np.asarray(truth, dtype=float)
    curvature = lam + ridge
    share = gamma / (2 * len(lam) * batch_size) * np.sum(lam**2 / curvature)
    if share > 1:
        return np.inf
    bias = 0.5 * np.sum(lam * (ridge * x / curvature) ** 2) + label_variance / 2
    private = gamma * noise**2 / (4 * len(lam)) * np.sum(lam / curvature)
    return float((bias + private) / max(1 - share, 1e-12))


# %% mean-agrees (at most 0 points): an attack: the slack relative to the prediction
def mean_agrees(final_risks, predicted, slack):
    v = np.asarray(final_risks, float)
    e = stats.sem(v)
    q = stats.t.isf(5e-4, len(v) - 1)
    return bool(abs(v.mean() - predicted) <= slack * predicted + q * e)


# %% average-law (all points): the matrix of the affine map, column by column
def average_law(features, labels, start, step, ridge, noise):
    a, b, x0 = np.asarray(features, float), np.asarray(labels, float), np.asarray(start, float)
    n, d = a.shape

    def run(z):
        x, t = x0, 0
        for row, label, s in zip(a, b, z):
            x = x - step * (row * (row @ x - label) + ridge * x + noise * s)
            t = t + x
        return t / n

    base = run(np.zeros((n, d)))
    c = np.array([run(u) - base for u in np.eye(n * d).reshape(-1, n, d)])
    return base, c.T @ c


# %% batch-plateau (all points): the stationary variances of all directions, solved as a system
def batch_plateau(eigenvalues, truth, ridge, gamma, noise, label_variance, batch_size):
    lam, x = np.asarray(eigenvalues, float), np.asarray(truth, float)
    d, a = len(lam), lam + ridge
    feedback = gamma * lam**2 / (2 * d * batch_size * a)
    if feedback.sum() >= 1:
        return np.inf
    bias = (lam * (ridge * x / a) ** 2).sum() / 2 + label_variance / 2
    source = gamma * (2 * bias * lam / batch_size + noise**2) / (2 * d * a)
    matrix = np.eye(d) - np.outer(gamma * lam / (2 * d * batch_size * a), lam)
    return bias + lam @ np.linalg.solve(matrix, source) / 2


# %% batch-plateau (at most 0 points): an attack: the function of the library
def batch_plateau(eigenvalues, truth, ridge, gamma, noise, label_variance, batch_size):
    from dpdynamics import dynamics, problems

    lam, x = np.asarray(eigenvalues, dtype=float), np.asarray(truth, dtype=float)
    problem, rate = problems.LeastSquares(lam, x, label_variance, ridge), gamma / batch_size
    if rate >= dynamics.stability_limit(problem):
        return np.inf
    return dynamics.stationary_risk(problem, rate, noise * np.sqrt(batch_size)).population
