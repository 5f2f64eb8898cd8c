# %% known-place: the sensitivity of a record that is zeroed out
def known_place(m, C, sigma, kappa):
    powers = kappa ** np.arange(m + 1)
    return C / sigma * powers[-1] / np.linalg.norm(powers)


# %% known-place: the gap does not contract
def known_place(m, C, sigma, kappa):
    powers = kappa ** np.arange(m + 1)
    return 2 * C / sigma / np.linalg.norm(powers)


# %% cut-residual: the residual is cut at C
def cut_residual(residual, length, C):
    return np.clip(residual, -C, C)


# %% cut-residual: the sign is lost
def cut_residual(residual, length, C):
    return min(abs(residual), C / length)


# %% expanding: a state that is not clipped, and a fixed record
def expanding(eta, ridge, C):
    a, x = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    return a, -ridge, x, x + 1e-4 * np.array([1.0, -1.0])


# %% expanding: right at the parameters of the chapter only
def expanding(eta, ridge, C):
    a, x = np.array([1.0, 0.0]), np.array([0.0, 40.0])
    y = x + 1e-3 * np.array([0.45, 0.893])
    return a, -4.0, x, y


# %% expanding: the states differ along the clipped gradient
def expanding(eta, ridge, C):
    a = np.array([min(1.0, np.sqrt(0.5 / eta)), 0.0])
    length = 1.02 * C / (np.sqrt(2) * ridge)
    x = np.array([0.0, length])
    b = -ridge * length / a[0]
    return a, b, x, x + 1e-4 * length * np.array([1.0, 1.0])


# %% secret-epsilon: sensitivity C, as for zero-out neighbours
def secret_epsilon(n, t, C, sigma, kappa, delta):
    power = kappa ** (2.0 * np.arange(t))
    mu = C / sigma * np.sqrt(power / np.cumsum(power))

    def excess(epsilon):
        second = np.exp(epsilon + special.log_ndtr(-mu / 2 - epsilon / mu))
        return np.sum(special.ndtr(mu / 2 - epsilon / mu) - second) / n - delta

    if excess(0.0) <= 0:
        return 0.0
    return optimize.brentq(excess, 0.0, 1e4, xtol=1e-10)


# %% secret-epsilon: average over the steps so far instead of all n places
def secret_epsilon(n, t, C, sigma, kappa, delta):
    power = kappa ** (2.0 * np.arange(t))
    mu = 2 * C / sigma * np.sqrt(power / np.cumsum(power))

    def excess(epsilon):
        second = np.exp(epsilon + special.log_ndtr(-mu / 2 - epsilon / mu))
        return np.mean(special.ndtr(mu / 2 - epsilon / mu) - second) - delta

    if excess(0.0) <= 0:
        return 0.0
    return optimize.brentq(excess, 0.0, 1e4, xtol=1e-10)


# %% secret-epsilon: the average of the squared mu in one Gaussian mechanism
def secret_epsilon(n, t, C, sigma, kappa, delta):
    power = kappa ** (2.0 * np.arange(t))
    mu = 2 * C / sigma * np.sqrt(power / np.cumsum(power))
    return divergence.gaussian_epsilon(mu=np.sqrt(np.sum(mu**2) / n), delta=delta)


# %% sign-factors: a normal residual of the same variance
def sign_factors(R, zeta, tau):
    s = np.sqrt(2 * R + zeta**2)
    z = tau / s
    inside = special.erf(z / np.sqrt(2))
    m2 = s**2 * (inside - 2 * z * stats.norm.pdf(z)) + 2 * tau**2 * stats.norm.sf(z)
    return inside, m2


# %% sign-factors: the mixed term forgotten
def sign_factors(R, zeta, tau):
    s = np.sqrt(2 * R)
    low, high = (-tau - zeta) / s, (tau - zeta) / s
    inside = special.ndtr(high) - special.ndtr(low)
    square = inside + low * stats.norm.pdf(low) - high * stats.norm.pdf(high)
    m2 = zeta**2 * inside + s**2 * square
    return inside, m2 + tau**2 * (special.ndtr(low) + special.ndtr(-high))


# %% sign-factors: clipped residuals dropped instead of clipped
def sign_factors(R, zeta, tau):
    s = np.sqrt(2 * R)
    low, high = (-tau - zeta) / s, (tau - zeta) / s
    inside = special.ndtr(high) - special.ndtr(low)
    phi_low, phi_high = stats.norm.pdf(low), stats.norm.pdf(high)
    square = inside + low * phi_low - high * phi_high
    mixed = 2 * zeta * s * (phi_low - phi_high)
    return inside, zeta**2 * inside + mixed + s**2 * square


# %% clip-bound: the state after the step
def clip_bound(a, b, x0, eta, sigma, ridge, C):
    total = 0.0
    for k in range(len(a)):
        m, S = dynamics.conditional_law(
            a[: k + 1], b[: k + 1], x0, np.full(k + 1, eta), sigma, ridge
        )
        length, mean = np.linalg.norm(a[k]), a[k] @ m - b[k]
        law = stats.norm(mean, np.sqrt(a[k] @ S @ a[k]))
        total += law.sf(C / length) + law.cdf(-C / length)
    return total


def profile_gap(epsilon, first, second):
    return first + np.exp(epsilon) * second


# %% clip-bound: the feature's length forgotten
def clip_bound(a, b, x0, eta, sigma, ridge, C):
    m, S, total = np.array(x0, float), np.zeros((len(x0), len(x0))), 0.0
    for ak, bk in zip(a, b):
        law = stats.norm(ak @ m - bk, np.sqrt(ak @ S @ ak) + 1e-300)
        total += law.sf(C) + law.cdf(-C)
        A = (1 - eta * ridge) * np.eye(len(m)) - eta * np.outer(ak, ak)
        m, S = A @ m + eta * bk * ak, A @ S @ A + (eta * sigma) ** 2 * np.eye(len(m))
    return total


def profile_gap(epsilon, first, second):
    return first + np.exp(epsilon) * second


# %% clip-bound: the factor exp(epsilon) of the second law forgotten
def clip_bound(a, b, x0, eta, sigma, ridge, C):
    m, S, total = np.array(x0, float), np.zeros((len(x0), len(x0))), 0.0
    for ak, bk in zip(a, b):
        tau = C / np.linalg.norm(ak)
        law = stats.norm(ak @ m - bk, np.sqrt(ak @ S @ ak) + 1e-300)
        total += law.sf(tau) + law.cdf(-tau)
        A = (1 - eta * ridge) * np.eye(len(m)) - eta * np.outer(ak, ak)
        m, S = A @ m + eta * bk * ak, A @ S @ A + (eta * sigma) ** 2 * np.eye(len(m))
    return total


def profile_gap(epsilon, first, second):
    return max(first, second)


# %% secret-epsilon: the contraction is left out
def secret_epsilon(n, t, C, sigma, kappa, delta):
    """Certified epsilon of the state after t of n steps, secret order."""
    power = np.ones(t)
    mu = 2 * C / sigma * np.sqrt(power / np.cumsum(power))

    def excess(epsilon):
        first = special.ndtr(mu / 2 - epsilon / mu)
        second = np.exp(epsilon + special.log_ndtr(-mu / 2 - epsilon / mu))
        return np.sum(first - second) / n - delta

    if excess(0.0) <= 0:
        return 0.0
    top = 1.0
    while excess(top) > 0:
        top *= 2
    return float(optimize.brentq(excess, 0.0, top, xtol=1e-10, rtol=1e-10))


# %% secret-epsilon (at most 0 points): an attack: the library's profile
def secret_epsilon(n, t, C, sigma, kappa, delta):
    power = kappa ** (2.0 * np.arange(t))
    mu = 2 * C / sigma * np.sqrt(power / np.cumsum(power))
    mu = mu[mu > 1e-9]
    f = lambda e: sum(divergence.gaussian_delta(mu=u, epsilon=e) for u in mu) / n - delta
    if f(0.0) <= 0:
        return 0.0
    top = 1.0
    while f(top) > 0:
        top *= 2
    return float(optimize.brentq(f, 0.0, top, xtol=1e-10))


# %% secret-epsilon (at most 0 points): an attack: the product of the two factors as it stands
def secret_epsilon(n, t, C, sigma, kappa, delta):
    power = kappa ** (2.0 * np.arange(t))
    mu = 2 * C / sigma * np.sqrt(power / np.cumsum(power))
    f = lambda e: (
        np.sum(stats.norm.cdf(mu / 2 - e / mu) - np.exp(e) * stats.norm.cdf(-mu / 2 - e / mu)) / n
        - delta
    )
    if f(0.0) <= 0:
        return 0.0
    top = 1.0
    while f(top) > 0:
        top *= 2
    return float(optimize.brentq(f, 0.0, top, xtol=1e-10))


# %% sign-factors (at most 0 points): an attack: sums over a grid
def sign_factors(R, zeta, tau):
    s = np.sqrt(2 * R)
    z = np.linspace(-12, 12, 400_001)
    w = stats.norm.pdf(z) * (z[1] - z[0])
    h = np.clip(zeta + s * z, -tau, tau)
    return float(w @ (h * z) / s), float(w @ h**2)


# %% clip-bound (at most 0 points): an attack: the library's recursion
def clip_bound(a, b, x0, eta, sigma, ridge, C):
    total = float(np.linalg.norm((a[0] @ x0 - b[0]) * a[0]) > C)
    for k in range(1, len(a)):
        m, S = dynamics.conditional_law(a[:k], b[:k], x0, np.full(k, eta), sigma, ridge)
        sd, mean, tau = np.sqrt(a[k] @ S @ a[k]), a[k] @ m - b[k], C / np.linalg.norm(a[k])
        total += stats.norm.sf((tau - mean) / sd) + stats.norm.sf((tau + mean) / sd)
    return float(total)


def profile_gap(epsilon, first, second):
    return first + np.exp(epsilon) * second


# %% clip-bound (at most 0 points): an attack: the larger of the two changes
def clip_bound(a, b, x0, eta, sigma, ridge, C):
    m, S = np.array(x0, float), np.zeros((len(x0), len(x0)))
    total = 0.0
    for ak, bk in zip(np.asarray(a, float), np.asarray(b, float), strict=True):
        tau, mean = C / np.linalg.norm(ak), ak @ m - bk
        sd = np.sqrt(ak @ S @ ak) + 1e-300
        total += stats.norm.sf((tau - mean) / sd) + stats.norm.sf((tau + mean) / sd)
        A = (1 - eta * ridge) * np.eye(len(m)) - eta * np.outer(ak, ak)
        m = A @ m + eta * bk * ak
        S = A @ S @ A + (eta * sigma) ** 2 * np.eye(len(m))
    return float(total)


def profile_gap(epsilon, first, second):
    return max(first, np.exp(epsilon) * second)


# %% secret-epsilon (all points): the survival function of the privacy loss
def secret_epsilon(n, t, C, sigma, kappa, delta):
    scale = np.array([sum(kappa ** (2 * j) for j in range(m + 1)) for m in range(t)])
    mu = 2 * C / sigma * kappa ** np.arange(t) / np.sqrt(scale)

    def total(epsilon):
        far = epsilon / mu + mu / 2
        # exp(epsilon) sf(far) = pdf(far - mu) times the Mills ratio at far
        mills = special.erfcx(far / np.sqrt(2)) * np.sqrt(np.pi / 2)
        return np.sum(stats.norm.sf(far - mu) - stats.norm.pdf(far - mu) * mills) / n

    low, high = 0.0, 1.0
    if total(low) <= delta:
        return 0.0
    while total(high) > delta:
        low, high = high, 2 * high
    while high - low > 1e-7 * high + 1e-9:
        middle = (low + high) / 2
        low, high = (middle, high) if total(middle) > delta else (low, middle)
    return high


# %% sign-factors (all points): moments of truncated normal residuals
def sign_factors(R, zeta, tau):
    s = np.sqrt(2 * R)
    residual = stats.norm(zeta, s)
    inside = residual.cdf(tau) - residual.cdf(-tau)
    # by parts: E h^2 = tau^2 - int over (-tau, tau) of 2 r F(r) dr, odd part by the density
    low, high = (-tau - zeta) / s, (tau - zeta) / s
    edge = stats.norm.pdf(low) - stats.norm.pdf(high)
    square = (zeta**2 + s**2) * inside + 2 * zeta * s * edge
    square += s**2 * (low * stats.norm.pdf(low) - high * stats.norm.pdf(high))
    return float(inside), float(square + tau**2 * (residual.sf(tau) + residual.cdf(-tau)))


# %% clip-bound (all points): the state as a list of maps of the noises
def clip_bound(a, b, x0, eta, sigma, ridge, C):
    a, mean = np.asarray(a, float), np.asarray(x0, float)
    noises, total = [], 0.0
    for row, label in zip(a, b):
        size = np.sqrt(sum(np.sum((row @ map_) ** 2) for map_ in noises)) if noises else 0.0
        length = np.linalg.norm(row)
        middle = row @ mean - label
        if length * size > 0:
            total += stats.norm.sf(C / length, middle, size) + stats.norm.cdf(
                -C / length, middle, size
            )
        elif abs(middle) * length > C:
            total += 1.0
        step = np.eye(len(mean)) * (1 - eta * ridge) - eta * np.outer(row, row)
        mean = step @ mean + eta * label * row
        noises = [step @ map_ for map_ in noises] + [eta * sigma * np.eye(len(mean))]
    return total


def profile_gap(epsilon, first, second):
    return min(1.0, first + np.exp(epsilon) * second)
