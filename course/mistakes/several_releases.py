# %% two-shifts: the noise is not squared
def two_shifts(shift, v, tau, order):
    return order * shift**2 / (2 * (v + tau)), order * shift**2 / (2 * tau)


# %% two-shifts: both attackers face the whole noise
def two_shifts(shift, v, tau, order):
    loss = order * shift**2 / (2 * (v + tau**2))
    return loss, loss


# %% two-shifts: order two whatever the order
def two_shifts(shift, v, tau, order):
    return shift**2 / (v + tau**2), shift**2 / tau**2


# %% shares-of-an-average: the first noise is contained in the first state only
def shares(first, second, w):
    parts = np.array([w * first, (1 - w) * second]) ** 2
    return tuple(parts / parts.sum())


# %% shares-of-an-average: the weight is not squared
def shares(first, second, w):
    parts = np.array([first**2, (1 - w) * second**2])
    return tuple(parts / parts.sum())


# %% two-attackers: the seen state replaced by its mean
def two_attackers(m, v, c1, g1, c2, g2, tau, order):
    gap = (c1 - c2) * m + g1 - g2
    v1, v2 = c1**2 * v + tau**2, c2**2 * v + tau**2
    mixed = order * v2 + (1 - order) * v1
    A = np.inf
    if mixed > 0:
        logs = (1 - order) * np.log(v1) + order * np.log(v2) - np.log(mixed)
        A = order * gap**2 / (2 * mixed) + logs / (2 * (order - 1))
    theta = order * (order - 1) * (c1 - c2) ** 2 * v / tau**2
    B = np.inf
    if theta < 1:
        B = order * gap**2 / (2 * tau**2) - np.log1p(-theta) / (2 * (order - 1))
    return A, B


# %% two-attackers: the laws of attacker A exchanged
def two_attackers(m, v, c1, g1, c2, g2, tau, order):
    gap = (c1 - c2) * m + g1 - g2
    v2, v1 = c1**2 * v + tau**2, c2**2 * v + tau**2
    mixed = order * v2 + (1 - order) * v1
    A = np.inf
    if mixed > 0:
        logs = (1 - order) * np.log(v1) + order * np.log(v2) - np.log(mixed)
        A = order * gap**2 / (2 * mixed) + logs / (2 * (order - 1))
    theta = order * (order - 1) * (c1 - c2) ** 2 * v / tau**2
    B = np.inf
    if theta < 1:
        B = order * gap**2 / (2 * tau**2 * (1 - theta))
        B -= np.log1p(-theta) / (2 * (order - 1))
    return A, B


# %% joint-covariance: the factor of the step left out, as in the printed (18)
def joint_covariance(times, s, omega, q, c, tau):
    def before(u):
        return q * -np.expm1(-2 * omega * u) / (2 * omega)

    def variance(u):
        if u < s:
            return before(u)
        after = c**2 * before(s) + tau**2
        return np.exp(-2 * omega * (u - s)) * after + before(u - s)

    t = np.asarray(times)
    early = np.minimum.outer(t, t)
    decay = np.exp(-omega * np.abs(np.subtract.outer(t, t)))
    return decay * np.vectorize(variance)(early)


# %% joint-covariance: the step noise added without decay
def joint_covariance(times, s, omega, q, c, tau):
    def variance(u):
        start = q * -np.expm1(-2 * omega * u) / (2 * omega)
        if u < s:
            return start
        kept = np.exp(-2 * omega * (u - s))
        lost = (1 - c**2) * q * -np.expm1(-2 * omega * s) / (2 * omega)
        return start - kept * lost + tau**2

    t = np.asarray(times)
    S = np.empty((t.size, t.size))
    for i in range(t.size):
        for j in range(t.size):
            x, y = min(t[i], t[j]), max(t[i], t[j])
            crossed = c if x < s < y else 1.0
            S[i, j] = crossed * np.exp(-omega * (y - x)) * variance(x)
    return S


# %% not-a-covariance: one fixed choice of times
def not_a_covariance(omega, q, tau):
    if 2 * omega * tau**2 >= q:
        return None
    return 0.0, 1.0, 0.99, 1.01


# %% not-a-covariance: the limit of the variance without its factor 1/2
def not_a_covariance(omega, q, tau):
    if tau**2 >= q / omega:
        return None
    s = 5 / omega
    return 0.0, s, s * (1 - 1e-6), s * (1 + 1e-6)


# %% leverages: the decay of the own step applied too
def leverages(R, rho, eta, sigma):
    n = len(rho)
    response = np.zeros((n, n))
    for k in range(n):
        response[k:, k] = eta[k] * np.cumprod(rho[k:])
    B = np.atleast_2d(R) @ response
    _, singular, rows = np.linalg.svd(B, full_matrices=False)
    return np.sum(rows[singular > 1e-10 * singular[0]] ** 2, axis=0)


# %% leverages: dependent rows inverted with a small ridge and scaled by the rows
def leverages(R, rho, eta, sigma):
    n = len(rho)
    response = np.zeros((n, n))
    for k in range(n):
        response[k:, k] = eta[k] * np.cumprod([1.0, *rho[k + 1 :]])
    B = np.atleast_2d(R) @ response
    _, _, rows = np.linalg.svd(B, full_matrices=False)
    return np.sum(rows**2, axis=0)


# %% leverages: the step sizes forgotten
def leverages(R, rho, eta, sigma):
    n = len(rho)
    response = np.zeros((n, n))
    for k in range(n):
        response[k:, k] = np.cumprod([1.0, *rho[k + 1 :]])
    B = np.atleast_2d(R) @ response
    _, singular, rows = np.linalg.svd(B, full_matrices=False)
    return np.sum(rows[singular > 1e-10 * singular[0]] ** 2, axis=0)


# %% is-enough: order 2 whatever happens
def is_enough(first, second, keep):
    (m1, S1), (m2, S2) = first, second
    block = np.ix_(keep, keep)
    whole = renyi_divergence_gaussian(m1, S1, m2, S2, 2.0)
    part = renyi_divergence_gaussian(m1[keep], S1[block], m2[keep], S2[block], 2.0)
    return bool(part == whole or abs(part - whole) <= 1e-7 * whole + 1e-12)


# %% is-enough: the marginal laws of the dropped releases compared
def is_enough(first, second, keep):
    (m1, S1), (m2, S2) = first, second
    dropped = [i for i in range(len(m1)) if i not in keep]
    return bool(all(np.isclose(m1[i], m2[i]) and np.isclose(S1[i, i], S2[i, i]) for i in dropped))


# %% is-enough: a tolerance of ten per cent at an order close to one
def is_enough(first, second, keep):
    (m1, S1), (m2, S2) = first, second
    block = np.ix_(keep, keep)
    whole = renyi_divergence_gaussian(m1, S1, m2, S2, 1.01)
    part = renyi_divergence_gaussian(m1[keep], S1[block], m2[keep], S2[block], 1.01)
    return bool(abs(part - whole) <= 0.5 * whole)


# %% two-attackers (at most 0 points): an attack: the library, with the joint law
def two_attackers(m, v, c1, g1, c2, g2, tau, order):
    laws = [
        (np.array([m, c * m + g]), np.array([[v, c * v], [c * v, c**2 * v + tau**2]]))
        for c, g in ((c1, g1), (c2, g2))
    ]
    (p, S), (q, T) = laws
    return (
        renyi_divergence_gaussian(p[1], S[1, 1], q[1], T[1, 1], order),
        renyi_divergence_gaussian(p, S, q, T, order),
    )


# %% is-enough (at most 0 points): an attack: one order close to one, whatever the losses
def is_enough(first, second, keep):
    (m1, S1), (m2, S2) = first, second
    block = np.ix_(keep, keep)
    a = renyi_divergence_gaussian(m1, S1, m2, S2, 1.001)
    b = renyi_divergence_gaussian(m1[keep], S1[block], m2[keep], S2[block], 1.001)
    return bool(abs(a - b) < 1e-6 * abs(a))


# %% leverages (all points): a pseudo-inverse
def leverages(R, rho, eta, sigma):
    n = len(rho)
    L = np.zeros((n, n))
    for k in range(n):
        L[k:, k] = eta[k] * np.cumprod([1.0, *rho[k + 1 :]])
    B = np.atleast_2d(R) @ L
    return np.diag(np.linalg.pinv(B) @ B)


# %% is-enough (all points): relative entropies, which are always finite
def is_enough(first, second, keep):
    def entropy(m1, S1, m2, S2):
        gap, quotient = m2 - m1, np.linalg.solve(S2, S1)
        logs = np.linalg.slogdet(S2)[1] - np.linalg.slogdet(S1)[1]
        return (np.trace(quotient) - len(m1) + gap @ np.linalg.solve(S2, gap) + logs) / 2

    (m1, S1), (m2, S2) = first, second
    block = np.ix_(keep, keep)
    whole = entropy(m1, S1, m2, S2)
    part = entropy(m1[keep], S1[block], m2[keep], S2[block])
    return bool(abs(whole - part) <= 1e-7 * whole)
