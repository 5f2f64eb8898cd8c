# %% on-a-line: the condition is missing
def on_a_line(shift, ratio, order):
    m = order + (1 - order) * ratio
    return order * shift**2 / (2 * m) + np.log(abs(ratio ** (1 - order) / m)) / (2 * (order - 1))


# %% on-a-line: the two distributions exchanged
def on_a_line(shift, ratio, order):
    m = order * ratio + (1 - order)
    if m <= 0:
        return np.inf
    return order * shift**2 / (2 * m) + np.log(ratio**order / m) / (2 * (order - 1))


# %% two-caps: the directions exchanged
def two_caps(ratio):
    def cap(r):
        return r / (r - 1) if r > 1 else np.inf

    return cap(1 / ratio), cap(ratio)


# %% two-caps: the same cap for both
def two_caps(ratio):
    larger = max(ratio, 1 / ratio)
    return larger / (larger - 1), larger / (larger - 1)


# %% renyi-exponential: the two laws exchanged
def renyi_exponential(rate_p, rate_q, order):
    decay = order * rate_q + (1 - order) * rate_p
    if decay <= 0:
        return np.inf
    top = order * np.log(rate_q) + (1 - order) * np.log(rate_p) - np.log(decay)
    return float(top / (order - 1))


# %% renyi-exponential: evaluated blindly where the integral is infinite
def renyi_exponential(rate_p, rate_q, order):
    decay = abs(order * rate_p + (1 - order) * rate_q) + 1e-300
    top = order * np.log(rate_p) + (1 - order) * np.log(rate_q) - np.log(decay)
    return float(top / (order - 1))


# %% renyi-exponential: the factor in front of the logarithm is forgotten
def renyi_exponential(rate_p, rate_q, order):
    decay = order * rate_p + (1 - order) * rate_q
    if decay <= 0:
        return np.inf
    return float(order * np.log(rate_p) + (1 - order) * np.log(rate_q) - np.log(decay))


# %% order-cap: the eigenvalues of both matrices are sorted and divided
def order_cap(cov_p, cov_q):
    ratios = np.linalg.eigvalsh(cov_p) / np.linalg.eigvalsh(cov_q)
    if np.allclose(cov_p, np.diag(np.diag(cov_p))):
        ratios = np.diag(cov_p) / np.diag(cov_q)
    r = ratios.max()
    return r / (r - 1) if r > 1 else np.inf


# %% order-cap: variances are compared along the coordinate axes only
def order_cap(cov_p, cov_q):
    r = (np.diag(cov_p) / np.diag(cov_q)).max()
    return r / (r - 1) if r > 1 else np.inf


# %% order-cap: the two laws exchanged
def order_cap(cov_p, cov_q):
    r = linalg.eigh(cov_q, cov_p, eigvals_only=True)[-1]
    return r / (r - 1) if r > 1 else np.inf


# %% certified-epsilon: the harmless direction only
def certified_epsilon(ratio, delta):
    r = min(ratio, 1 / ratio)
    s = np.geomspace(1e-3, 1e6, 20_000)
    rest = 1 + s * (1 - r)
    return np.min((-0.5 * np.log(rest) + np.log(1 / delta)) / s) - 0.5 * np.log(r)


# %% certified-epsilon: the best whole order up to 64
def certified_epsilon(ratio, delta):
    r = max(ratio, 1 / ratio)
    orders = np.concatenate([[1.05, 1.1, 1.2, 1.3, 1.5], np.arange(2, 65)])
    orders = orders[orders < r / (r - 1)]
    s = orders - 1
    rest = 1 + s * (1 - r)
    return np.min((-0.5 * np.log(rest) + np.log(1 / delta)) / s) - 0.5 * np.log(r)


# %% certified-epsilon: the first law is always the one with variance r
def certified_epsilon(ratio, delta):
    r = ratio
    top = 1 / (r - 1) if r > 1 else 1e7
    near = top * (1 - np.geomspace(0.5, 1e-9, 20_000))
    s = np.concatenate([np.geomspace(1e-4, top, 50_000)[:-1], near])
    rest = 1 + s * (1 - r)
    return np.min((-0.5 * np.log(rest) + np.log(1 / delta)) / s) - 0.5 * np.log(r)


# %% innocent: one direction only, so that the determinant is negative
def innocent():
    return np.diag([2.2, 1.0]), np.eye(2), 2.0


# %% innocent: a finite divergence
def innocent():
    return 1.5 * np.eye(2), np.eye(2), 2.0


# %% innocent: infinite and positive determinant, but the value is negative
def innocent():
    return 4.0 * np.eye(2), np.eye(2), 2.0


# %% hidden-step-bound: the average of the divergences
def hidden_step_bound(weights, shifts, order):
    return float(np.dot(weights, order * np.square(shifts) / 2))


# %% hidden-step-bound: the worst step
def hidden_step_bound(weights, shifts, order):
    return float(order * np.max(np.square(shifts)) / 2)


# %% hidden-step-bound: the exponent of the average lacks the factor alpha - 1
def hidden_step_bound(weights, shifts, order):
    return float(special.logsumexp(order * np.square(shifts) / 2, b=weights))


# %% average-fails: the components overlap
def average_fails():
    return [0.5, 0.5], [1.0, -1.0], [0.0, 0.0], 2.0


# %% average-fails: the good step is the rare one
def average_fails():
    return [0.98, 0.02], [3.0, 30.0], [0.0, 30.0], 2.0


# %% average-fails: a small shift, where the exponential is a straight line
def average_fails():
    return [0.02, 0.98], [0.1, 30.0], [0.0, 30.0], 2.0


# %% on-a-line (at most 0 points): an attack: the function of the library
def on_a_line(shift, ratio, order):
    return float(renyi_divergence_gaussian(shift, ratio, 0.0, 1.0, order))


# %% order-cap (at most 0 points): an attack: bisection with the function of the library
def order_cap(cov_p, cov_q):
    zero = np.zeros(len(cov_p))

    def finite(order):
        return np.isfinite(renyi_divergence_gaussian(zero, cov_p, zero, cov_q, order))

    if finite(1e7):
        return np.inf
    low, high = 0.0, np.log(1e7)
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if finite(1 + np.expm1(middle)) else (low, middle)
    return float(np.exp(low))


# %% order-cap (all points): eigenvalues of a matrix that is not symmetric
def order_cap(cov_p, cov_q):
    ratios = np.linalg.eigvals(np.linalg.solve(cov_q, cov_p)).real
    gap = ratios.max() - 1
    return 1 + 1 / gap if gap > 1e-12 else np.inf
