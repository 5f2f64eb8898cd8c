# %% best-correlation: the approximation for small steps
def used_once(eta_h):
    share = np.sqrt(2 * eta_h)
    return 1 - share, share


# %% best-correlation: the contraction is taken for the curvature
def used_once(eta_h):
    share = np.sqrt(1 - eta_h**2)
    return (1 - share) / eta_h, share


# %% sign-twin: the noise stays
def sign_twin(step, noise):
    return step * np.sqrt(2 / np.pi) / noise, noise


# %% sign-twin: the factor upside down
def sign_twin(step, noise):
    return step * np.sqrt(np.pi / 2) / noise, noise * np.sqrt(2 / np.pi)


# %% price: one output for all
def clipping_price(outputs, beta):
    drift, second = dynamics.clipping_factors(beta)
    return float(second / drift**2)


# %% price: the drift of many outputs for all
def clipping_price(outputs, beta):
    edge2 = outputs * beta**2
    outside = stats.chi2.sf(edge2, outputs)
    second = stats.chi2.cdf(edge2, outputs + 2) + beta**2 * outside
    return float(second / min(1, beta) ** 2)


# %% price: the radial direction is kept
def clipping_price(outputs, beta):
    r = np.linspace(1e-9, np.sqrt(outputs) + 12, 200001)
    edge = beta * np.sqrt(outputs)
    density = stats.chi.pdf(r, outputs)
    cut = np.minimum(1, edge / r)
    drift = integrate.trapezoid(cut * density, r)
    second = integrate.trapezoid((cut * r) ** 2 * density, r) / outputs
    return float(second / drift**2)


# %% price: clip norm of one coordinate
def clipping_price(outputs, beta):
    m, edge2 = outputs, beta**2
    inside = drift = stats.chi2.cdf(edge2, m)
    if m > 1:
        log_inverse = special.gammaln((m - 1) / 2) - special.gammaln(m / 2)
        outside = np.exp(log_inverse) / np.sqrt(2) * stats.chi2.sf(edge2, m - 1)
        drift = inside + (1 - 1 / m) * np.sqrt(edge2) * outside
    second = stats.chi2.cdf(edge2, m + 2) + edge2 / m * stats.chi2.sf(edge2, m)
    return float(second / drift**2)


# %% plateau: the limit of high dimension
def exact_plateau(rate, batch, dimension, label_variance, noise):
    room = 2 - rate * dimension / batch
    if room <= 0:
        return np.inf
    return rate * dimension * (label_variance / batch + noise**2) / room / 2


# %% plateau: different records do not meet
def exact_plateau(rate, batch, dimension, label_variance, noise):
    room = 2 - rate * (dimension + 2) / batch
    if room <= 0:
        return np.inf
    return rate * dimension * (label_variance / batch + noise**2) / room / 2


# %% plateau: private noise divided by the batch
def exact_plateau(rate, batch, dimension, label_variance, noise):
    room = 2 - rate * (dimension + 1 + batch) / batch
    if room <= 0:
        return np.inf
    return rate * dimension * (label_variance + noise**2) / batch / room / 2


# %% plateau: a negative risk beyond the threshold
def exact_plateau(rate, batch, dimension, label_variance, noise):
    room = 2 - rate * (dimension + 1 + batch) / batch
    return rate * dimension * (label_variance / batch + noise**2) / room / 2


# %% plateau: constant batch noise, as in the diffusion of Part IV
def exact_plateau(rate, batch, dimension, label_variance, noise):
    if rate >= 2:
        return np.inf
    return rate * dimension * (label_variance / batch + noise**2) / (2 - rate) / 2


# %% reach: the formula of one participation
def sensitivity_check(claim):
    settings = [(lam, n, [1]) for lam in (0.3, 0.6, 0.9) for n in (5, 20, 80)]
    exact = np.array([np.sqrt((1 - q ** (2 * n)) / (1 - q**2)) for q, n, _ in settings])
    return identity(
        "s",
        measured=exact,
        printed=[claim(*s) for s in settings],
        rtol=1e-10,
        controls={"half": exact / 2, "twice": 2 * exact},
    )


# %% reach: long runs only
def sensitivity_check(claim):
    settings = [
        (lam, 200, times) for lam in (0.3, 0.6, 0.8) for times in ([1, 2], [1, 5, 9], [3, 20])
    ]

    def measure(lam, n, times):
        i, j = np.indices((n, n))
        matrix = np.where(i >= j, lam ** np.maximum(i - j, 0), 0.0)
        return np.linalg.norm(matrix[:, np.array(times) - 1].sum(axis=1))

    exact = np.array([measure(*s) for s in settings])
    return identity(
        "s",
        measured=exact,
        printed=[claim(*s) for s in settings],
        rtol=1e-10,
        controls={"half": exact / 2, "twice": 2 * exact},
    )


# %% reach: steps counted from zero
def sensitivity_check(claim):
    settings = [
        (0.5, 10, [1]),
        (0.9, 30, [1, 2, 3]),
        (0.8, 12, [11]),
        (0.3, 20, [2, 9]),
        (0.95, 60, [5, 30, 55]),
        (0.9, 40, [20, 39]),
    ]

    def measure(lam, n, times):
        i, j = np.indices((n, n))
        matrix = np.where(i >= j, lam ** np.maximum(i - j, 0), 0.0)
        return np.linalg.norm(matrix[:, np.array(times)].sum(axis=1))

    exact = np.array([measure(*s) for s in settings])
    return identity(
        "s",
        measured=exact,
        printed=[claim(*s) for s in settings],
        rtol=1e-10,
        controls={"half": exact / 2, "twice": 2 * exact},
    )


# %% reach: the noise itself in place of its inverse
def sensitivity_check(claim):
    settings = [
        (0.5, 10, [1]),
        (0.9, 30, [1, 2, 3]),
        (0.8, 12, [12]),
        (0.3, 20, [2, 9]),
        (0.95, 60, [5, 30, 55]),
        (0.9, 40, [20, 40]),
    ]

    def measure(lam, n, times):
        matrix = np.eye(n) - lam * np.eye(n, k=-1)
        return np.linalg.norm(matrix[:, np.array(times) - 1].sum(axis=1))

    exact = np.array([measure(*s) for s in settings])
    return identity(
        "s",
        measured=exact,
        printed=[claim(*s) for s in settings],
        rtol=1e-10,
        controls={"half": exact / 2, "twice": 2 * exact},
    )


# %% plateau: the label noise of the example is built in
def exact_plateau(rate, batch, dimension, label_variance, noise):
    room = 2 - rate * (dimension + 1 + batch) / batch
    if room <= 0:
        return np.inf
    return rate * dimension * (0.3 / batch + noise**2) / room / 2
