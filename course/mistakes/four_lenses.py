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


# %% price (at most 0 points): an attack: the library's function of one output for all
def clipping_price(outputs, beta):
    descent, noise = dynamics.clipping_factors(beta)
    return float(noise / descent**2)


# %% plateau (at most 0 points): an attack: the recursion of the library, batches of one
def exact_plateau(rate, batch, dimension, label_variance, noise):
    if rate * (dimension + 2) >= 2:
        return np.inf
    one = problems.LeastSquares(np.ones(dimension), np.zeros(dimension), label_variance, 0.0)
    path = dynamics.gaussian_moment_recursion(one, np.zeros(dimension), np.full(6000, rate), noise)
    return (path.population[-1] - label_variance / 2) / batch**0.5


# %% reach (at most 2 points): an attack: one setting, six times
def sensitivity_check(claim):
    settings = [(0.9, 40, [20, 30, 31])] * 6

    def measure(lam, n, times):
        i, j = np.indices((n, n))
        matrix = np.where(i >= j, lam ** np.maximum(i - j, 0), 0.0)
        return np.linalg.norm(matrix[:, np.array(times) - 1].sum(axis=1))

    def table(function):
        return np.array([function(*s) for s in settings], float)

    return identity(
        "sensitivity",
        measured=table(measure),
        printed=table(claim),
        rtol=1e-10,
        elementwise=True,
        controls={
            "one": table(lambda lam, n, times: 1.0),
            "two": table(lambda lam, n, times: 2.0),
        },
    )


# %% reach (at most 2 points): an attack: a tolerance that is too wide
def sensitivity_check(claim):
    settings = [
        (0.5, 10, [1]),
        (0.9, 30, [1, 2, 3]),
        (0.8, 12, [12]),
        (0.95, 60, [5, 30, 55]),
        (0.3, 20, list(range(1, 21))),
        (0.9, 40, [20, 40]),
        (0.7, 200, [1, 100]),
    ]

    def measure(lam, n, times):
        i, j = np.indices((n, n))
        matrix = np.where(i >= j, lam ** np.maximum(i - j, 0), 0.0)
        return np.linalg.norm(matrix[:, np.array(times) - 1].sum(axis=1))

    def table(function):
        return np.array([function(*s) for s in settings], float)

    return identity(
        "sensitivity",
        measured=table(measure),
        printed=table(claim),
        rtol=9e-9,
        elementwise=True,
        controls={
            "one": table(lambda lam, n, times: 1.0),
            "two": table(lambda lam, n, times: 2.0),
        },
    )


# %% price (all points): integration over the length, on both sides of the edge
def clipping_price(outputs, beta):
    m, root = outputs, np.sqrt(outputs)
    edge = beta * root
    nodes, weights = np.polynomial.legendre.leggauss(400)

    def integral(f, low, high):
        low, high = max(low, root - 12, 0.0), min(high, root + 12)
        if high <= low:
            return 0.0
        r = low + (high - low) * (nodes + 1) / 2
        log_density = (m - 1) * np.log(r) - r**2 / 2 - (m / 2 - 1) * np.log(2)
        density = np.exp(log_density - special.gammaln(m / 2))
        return (high - low) / 2 * weights @ (f(r) * density)

    inner = integral(lambda r: r**2, 0.0, edge) / m
    outer = integral(lambda r: r, edge, np.inf) * edge / m  # Stein: E psi(r) r
    far = integral(lambda r: 1 + 0 * r, edge, np.inf)
    return (inner + far * edge**2 / m) / (inner + outer) ** 2


# %% reach (all points): a recursion, and other settings
def sensitivity_check(claim):
    settings = [
        (0.2, 7, [7]),
        (0.95, 100, [1]),
        (0.6, 25, [2, 3, 4, 5, 6, 20]),
        (0.99, 80, [10, 40, 80]),
        (0.5, 61, [60, 61]),
        (0.7, 45, [1, 30]),
        (0.9, 12, [1, 2, 3, 4, 5, 6]),
    ]

    def measure(lam, n, times):
        path = [0.0]
        for t in range(1, n + 1):
            path.append(lam * path[-1] + times.count(t))
        return np.sqrt(np.sum(np.square(path)))

    measured = np.array([measure(*s) for s in settings])
    uses = np.array([len(times) for _, _, times in settings])
    return identity(
        "reach of a record",
        measured=measured,
        printed=np.array([claim(*s) for s in settings]),
        rtol=1e-9,
        elementwise=True,
        controls={"independent noise": np.sqrt(uses), "all memory lost": uses + 0.0},
    )
