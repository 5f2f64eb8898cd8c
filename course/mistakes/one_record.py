# %% after-the-step: the variance is contracted once
def after_the_step(mean, variance, a, b, eta, sigma):
    factor, fresh = 1 - eta * a**2, (eta * sigma) ** 2
    return factor * mean + eta * a * b, factor * variance + fresh, mean, variance + fresh


# %% after-the-step: the noise is added without the step size
def after_the_step(mean, variance, a, b, eta, sigma):
    factor, fresh = 1 - eta * a**2, sigma**2
    return factor * mean + eta * a * b, factor**2 * variance + fresh, mean, variance + fresh


# %% cap-after-a-step: the contraction is not squared
def cap_after(beta):
    return 1 / beta


# %% cap-after-a-step: the contracted run is taken for the wider one
def cap_after(beta):
    return 1 / (1 - beta) ** 2


# %% two-parts: the two laws exchanged, as in the printed formula (14)
def two_parts(a, b, position, other_a, other_b, x0, eta, ridge, order):
    d = np.shape(a)[1]
    laws = []
    for which in (2, 1):
        m, S = np.array(x0, float), np.zeros((d, d))
        for k in range(len(a)):
            ak, bk = np.asarray(a[k], float), b[k]
            if which == 2 and k == position:
                ak, bk = np.asarray(other_a, float), other_b
            C = (1 - eta * ridge) * np.eye(d) - eta * np.outer(ak, ak)
            m, S = C @ m + eta * bk * ak, C @ S @ C + eta**2 * np.eye(d)
        laws.append((m, S))
    (m1, S1), (m2, S2) = laws
    M = order * S2 + (1 - order) * S1
    if np.linalg.eigvalsh(M)[0] <= 0:
        return np.inf, np.inf
    gap = m1 - m2
    logs = [np.linalg.slogdet(S)[1] for S in (S1, S2, M)]
    floor = ((1 - order) * logs[0] + order * logs[1] - logs[2]) / (2 * (order - 1))
    return order / 2 * gap @ np.linalg.solve(M, gap), floor


# %% two-parts: no condition, the logarithm of an absolute determinant
def two_parts(a, b, position, other_a, other_b, x0, eta, ridge, order):
    d = np.shape(a)[1]
    laws = []
    for which in (1, 2):
        m, S = np.array(x0, float), np.zeros((d, d))
        for k in range(len(a)):
            ak, bk = np.asarray(a[k], float), b[k]
            if which == 2 and k == position:
                ak, bk = np.asarray(other_a, float), other_b
            C = (1 - eta * ridge) * np.eye(d) - eta * np.outer(ak, ak)
            m, S = C @ m + eta * bk * ak, C @ S @ C + eta**2 * np.eye(d)
        laws.append((m, S))
    (m1, S1), (m2, S2) = laws
    M = order * S2 + (1 - order) * S1
    gap = m1 - m2
    logs = [np.linalg.slogdet(S)[1] for S in (S1, S2, M)]
    floor = ((1 - order) * logs[0] + order * logs[1] - logs[2]) / (2 * (order - 1))
    return order / 2 * gap @ np.linalg.solve(M, gap), floor


# %% two-parts: equal covariances assumed, no floor
def two_parts(a, b, position, other_a, other_b, x0, eta, ridge, order):
    a, b = np.array(a, float), np.array(b, float)
    a2, b2 = a.copy(), b.copy()
    a2[position], b2[position] = other_a, other_b
    rates = np.full(len(a), eta)
    m1, S1 = dynamics.conditional_law(a, b, x0, rates, 1.0, ridge)
    m2, _ = dynamics.conditional_law(a2, b2, x0, rates, 1.0, ridge)
    return order / 2 * (m1 - m2) @ np.linalg.solve(S1, m1 - m2), 0.0


# %% one-sided-pair: the narrow law taken as the second
def one_sided_pair(release, radius):
    d = release.state_mean.size
    zero = np.zeros(d)
    for i in range(d):
        for length in np.linspace(0.05, 1.0, 15) * radius:
            a = np.zeros(d)
            a[i] = length
            there = release.divergence(a, 0.0, zero, 0.0, 2.0)
            back = release.divergence(zero, 0.0, a, 0.0, 2.0)
            if np.isfinite(there) and np.isinf(back):
                return zero, 0.0, a, 0.0
    return None


# %% one-sided-pair: only the longest record along the first axis
def one_sided_pair(release, radius):
    d = release.state_mean.size
    zero, a = np.zeros(d), np.zeros(d)
    a[0] = radius
    for first, second in ((a, zero), (zero, a)):
        there = release.divergence(first, 0.0, second, 0.0, 2.0)
        back = release.divergence(second, 0.0, first, 0.0, 2.0)
        if np.isfinite(there) and np.isinf(back):
            return first, 0.0, second, 0.0
    return None


# %% one-sided-pair: always the long record against zero, without looking
def one_sided_pair(release, radius):
    d = release.state_mean.size
    a = np.zeros(d)
    a[0] = 0.5 * radius
    return a, 0.0, np.zeros(d), 0.0


# %% waiting-time: variance at the step taken as stationary
def waiting_time(order, beta, variance, stationary, omega):
    excess = order * beta * (2 - beta)
    return max(0.0, float(np.log(excess) / (2 * omega)))


# %% waiting-time: beta in place of beta (2 - beta)
def waiting_time(order, beta, variance, stationary, omega):
    excess = variance * (order * beta - 1) / stationary
    return float(np.log1p(max(excess, 0.0)) / (2 * omega))


# %% waiting-time: Phi for its square
def waiting_time(order, beta, variance, stationary, omega):
    excess = variance * (order * beta * (2 - beta) - 1) / stationary
    return float(np.log1p(max(excess, 0.0)) / omega)


# %% is-mean-gap: lengths compared instead of vectors
def is_mean_gap(candidate, seed):
    rng = np.random.default_rng(seed)
    for d in (2, 5):
        a, c, m = rng.standard_normal((3, d))
        b, e, eta, ridge = rng.uniform(0.1, 1.0, 4)
        exact = eta * np.linalg.norm((b - a @ m) * a - (e - c @ m) * c)
        value = np.linalg.norm(candidate(a, b, c, e, m, eta, ridge))
        if not abs(value - exact) < 1e-9:
            return False
    return True


# %% is-mean-gap: the ridge is not varied
def is_mean_gap(candidate, seed):
    rng = np.random.default_rng(seed)
    for d in (2, 5):
        a, c, m = rng.standard_normal((3, d))
        b, e, eta = rng.uniform(0.1, 1.0, 3)
        exact = eta * ((b - a @ m) * a - (e - c @ m) * c)
        if not np.allclose(candidate(a, b, c, e, m, eta, 0.0), exact, rtol=1e-9):
            return False
    return True


# %% is-mean-gap: the default tolerance of allclose
def is_mean_gap(candidate, seed):
    rng = np.random.default_rng(seed)
    for d in (2, 5):
        a, c, m = rng.standard_normal((3, d))
        b, e, eta, ridge = rng.uniform(0.1, 1.0, 4)
        exact = eta * ((b - a @ m) * a - (e - c @ m) * c)
        value = candidate(a, b, c, e, m, eta, ridge)
        if not np.allclose(value, exact, rtol=1e-3, atol=1e-3):
            return False
    return True


# %% two-parts (at most 0 points): an attack: the two functions of the library
def two_parts(a, b, position, other_a, other_b, x0, eta, ridge, order):
    a, b = np.array(a, float), np.array(b, float)
    a2, b2 = a.copy(), b.copy()
    a2[position], b2[position] = other_a, other_b
    steps = np.full(len(a), eta)
    m1, S1 = dynamics.conditional_law(a, b, np.asarray(x0, float), steps, 1.0, ridge)
    m2, S2 = dynamics.conditional_law(a2, b2, np.asarray(x0, float), steps, 1.0, ridge)
    whole = renyi_divergence_gaussian(m1, S1, m2, S2, order)
    floor = renyi_divergence_gaussian(0 * m1, S1, 0 * m2, S2, order)
    if np.isinf(whole):
        return np.inf, np.inf
    return float(whole - floor), float(floor)


# %% is-mean-gap (at most 0 points): an attack: the same points for every seed
def is_mean_gap(candidate, seed):
    rng = np.random.default_rng(0)
    for d in (1, 2, 7):
        for _ in range(5):
            a, c, m = rng.standard_normal((3, d))
            b, e = 3 * rng.standard_normal(2)
            eta, ridge = rng.uniform(0.05, 1.5, 2)
            exact = eta * ((b - a @ m) * a - (e - c @ m) * c)
            value = np.asarray(candidate(a, b, c, e, m, eta, ridge))
            if value.shape != exact.shape:
                return False
            if not np.abs(value - exact).max() <= 1e-9 * (np.abs(m).max() + 1):
                return False
    return True


# %% is-mean-gap (at most 0 points): an attack: the step size is not varied
def is_mean_gap(candidate, seed):
    rng = np.random.default_rng(seed)
    for d in (1, 2, 7):
        for _ in range(5):
            a, c, m = rng.standard_normal((3, d))
            b, e = 3 * rng.standard_normal(2)
            eta, ridge = 0.4, 0.3
            exact = eta * ((b - a @ m) * a - (e - c @ m) * c)
            value = np.asarray(candidate(a, b, c, e, m, eta, ridge))
            if value.shape != exact.shape:
                return False
            if not np.abs(value - exact).max() <= 1e-9 * (np.abs(m).max() + 1):
                return False
    return True


# %% is-mean-gap (at most 0 points): an attack: one large dimension
def is_mean_gap(candidate, seed):
    rng = np.random.default_rng(seed)
    for _ in range(5):
        a, c, m = rng.standard_normal((3, 4))
        b, e = 3 * rng.standard_normal(2)
        eta, ridge = rng.uniform(0.05, 1.5, 2)
        exact = eta * ((b - a @ m) * a - (e - c @ m) * c)
        value = np.asarray(candidate(a, b, c, e, m, eta, ridge))
        if not np.abs(value - exact).max() <= 1e-6 * (np.abs(m).max() + 1):
            return False
    return True


# %% is-mean-gap (all points): the step as a function of the record, in three dimensions
def is_mean_gap(candidate, seed):
    rng = np.random.default_rng(seed)
    for d in [1, 5, 12] * 4:
        m, a, c = rng.normal(size=d), rng.normal(size=d), rng.normal(size=d)
        b, e = rng.normal(size=2)
        eta, ridge = rng.uniform(0.1, 1, size=2)

        def moved(x, y, m=m, eta=eta, ridge=ridge):
            return m - eta * (x * (x @ m - y) + ridge * m)

        wanted = moved(a, b) - moved(c, e)
        found = candidate(a, b, c, e, m, eta, ridge)
        if np.shape(found) != (d,) or not np.allclose(found, wanted, rtol=1e-10, atol=1e-11):
            return False
    return True


# %% two-parts (all points): covariances as sums over the noises
def two_parts(a, b, position, other_a, other_b, x0, eta, ridge, order):
    def law(a, b):
        n, d = np.shape(a)
        mean, spread, after = np.array(x0, float), np.zeros((d, d)), np.eye(d)
        factors = [(1 - eta * ridge) * np.eye(d) - eta * np.outer(x, x) for x in a]
        for x, y, C in zip(a, b, factors):
            mean = C @ mean + eta * y * np.asarray(x)
        for C in factors[::-1]:
            spread, after = spread + eta**2 * after @ after.T, after @ C
        return mean, spread

    a, b = np.array(a, float), np.array(b, float)
    m1, S1 = law(a, b)
    a[position], b[position] = other_a, other_b
    m2, S2 = law(a, b)
    ratios = linalg.eigvalsh(S1, S2)
    inner = order + (1 - order) * ratios
    if inner.min() <= 0:
        return np.inf, np.inf
    floor = np.sum(np.log(ratios) * (1 - order) - np.log(inner)) / (2 * (order - 1))
    gap = m1 - m2
    return order / 2 * gap @ linalg.solve(order * S2 + (1 - order) * S1, gap), floor


# %% one-sided-pair (at most 0 points): an attack: one length for all
def one_sided_pair(release, radius):
    d = release.state_mean.size
    for i in range(d):
        a = np.zeros(d)
        a[i] = min(radius, 2.0)
        for first, second in ((a, 0 * a), (0 * a, a)):
            there = release.divergence(first, 0.0, second, 0.0, 2.0)
            back = release.divergence(second, 0.0, first, 0.0, 2.0)
            if np.isfinite(there) and np.isinf(back):
                return first, 0.0, second, 0.0
    return None


# %% one-sided-pair (all points): only pairs in which the first record narrows
def one_sided_pair(release, radius):
    d = release.state_mean.size
    zero = np.zeros(d)
    for length in radius * np.geomspace(1, 0.02, 40):
        for a in length * np.eye(d):
            pair = a, 0.0, zero, 0.0
            if np.isfinite(release.divergence(*pair, 2.0)) and np.isinf(
                release.divergence(zero, 0.0, a, 0.0, 2.0)
            ):
                return pair
    return None
