# %% contraction-of-a-pass: the decay of the step is forgotten
def contraction_of(clip, first_step, alpha, zeta):
    return np.sqrt(8 / np.pi) * clip * first_step / zeta


# %% contraction-of-a-pass: the label noise is squared
def contraction_of(clip, first_step, alpha, zeta):
    return np.sqrt(8 / np.pi) * clip * first_step / ((alpha + 1) * zeta**2)


# %% three-terms-by-hand: the aspect ratio enters the private term once
def three_terms(D, A, gamma, rho, zeta):
    return (
        A * np.exp(-D),
        gamma * np.pi / 16 * zeta**2 * D,
        gamma / rho * np.pi / 8 * zeta**2 * D**2,
    )


# %% three-terms-by-hand: the private term grows like the strength
def three_terms(D, A, gamma, rho, zeta):
    return (
        A * np.exp(-D),
        gamma * np.pi / 16 * zeta**2 * D,
        gamma**2 / rho * np.pi / 8 * zeta**2 * D,
    )


# %% two-terms: the noise of the last step forgotten
def two_terms(h, D, zeta):
    u = np.concatenate([[0.0], np.geomspace(1e-9, 1, 40_001)])
    v = h(u)
    H = np.concatenate([[0.0], np.cumsum((v[1:] + v[:-1]) / 2 * np.diff(u))])
    s = D * zeta / (2 * np.sqrt(2 / np.pi) * H[-1])
    kept = np.exp(-D * H / H[-1])
    V = np.sum((kept[1:] + kept[:-1]) / 2 * np.diff(v**2))
    return s**2 / 2 * np.trapezoid(kept * v**2, u), s**2 * V


# %% two-terms: contraction forgets that the residual is clipped
def two_terms(h, D, zeta):
    u = np.concatenate([[0.0], np.geomspace(1e-9, 1, 40_001)])
    v = h(u)
    H = np.concatenate([[0.0], np.cumsum((v[1:] + v[:-1]) / 2 * np.diff(u))])
    s = D * zeta / (2 * H[-1])
    kept = np.exp(-D * H / H[-1])
    V = np.sum((kept[1:] + kept[:-1]) / 2 * np.diff(v**2)) + v[0] ** 2
    return s**2 / 2 * np.trapezoid(kept * v**2, u), s**2 * V


# %% two-terms: right for powers with a vanishing end only
def two_terms(h, D, zeta):
    alpha = np.log(h(np.array(1.0)) / h(np.array(0.5))) / np.log(2)
    p = 1 / (alpha + 1)
    S = np.pi / 16 * zeta**2 * (alpha + 1) * special.gamma(2 - p)
    if alpha == 0:
        return S * D**p, np.pi / 8 * zeta**2 * D**2
    V = np.pi / 4 * zeta**2 * alpha * (alpha + 1) * special.gamma(2 - 2 * p)
    S *= D**p * special.gammainc(2 - p, D)
    return S, V * D ** (2 * p) * special.gammainc(2 - 2 * p, D)


# %% best-strength: the initial risk in place of A
def best_strength(gamma, rho, alpha, zeta, R0):
    p = 1 / (alpha + 1)
    K = np.pi / 16 * zeta**2 * (alpha + 1) * special.gamma(2 - p)
    P = np.pi / 8 * zeta**2
    if alpha > 0:
        P = np.pi / 4 * zeta**2 * alpha * (alpha + 1) * special.gamma(2 - 2 * p)
    D = np.geomspace(0.1, 500, 200_001)
    f = R0 * np.exp(-D) + gamma * K * D**p + gamma**2 / rho * P * D ** (2 * p)
    i = np.argmin(f)
    return np.sqrt(np.pi / 8) * (alpha + 1) * zeta * D[i], f[i]


# %% best-strength: D = log(1 / gamma)
def best_strength(gamma, rho, alpha, zeta, R0):
    p, D = 1 / (alpha + 1), np.log(1 / gamma)
    K = np.pi / 16 * zeta**2 * (alpha + 1) * special.gamma(2 - p)
    P = np.pi / 8 * zeta**2
    if alpha > 0:
        P = np.pi / 4 * zeta**2 * alpha * (alpha + 1) * special.gamma(2 - 2 * p)
    risk = gamma * K * D**p + gamma**2 / rho * P * D ** (2 * p)
    return np.sqrt(np.pi / 8) * (alpha + 1) * zeta * D, risk


# %% best-strength: no private noise for a constant step
def best_strength(gamma, rho, alpha, zeta, R0):
    p, w = 1 / (alpha + 1), np.sqrt(1 + 2 * R0 / zeta**2)
    A = 2 * zeta**2 * np.exp(2 * (w - 1)) * (w - 1) / (w + 1)
    K = np.pi / 16 * zeta**2 * (alpha + 1) * special.gamma(2 - p)
    P = 0.0
    if alpha > 0:
        P = np.pi / 4 * zeta**2 * alpha * (alpha + 1) * special.gamma(2 - 2 * p)
    D = np.geomspace(0.1, 500, 200_001)
    f = A * np.exp(-D) + gamma * K * D**p + gamma**2 / rho * P * D ** (2 * p)
    i = np.argmin(f)
    return np.sqrt(np.pi / 8) * (alpha + 1) * zeta * D[i], f[i]


# %% wrong-logarithm: private noise a power of gamma
def wrong_logarithm(k, tau, alpha):
    L = 100.0 / min(k, tau, 1)
    return L, -0.5 * L


# %% wrong-logarithm: the condition violated
def wrong_logarithm(k, tau, alpha):
    L = 1e9 / min(k, 1)
    return L, -np.log(L)


# %% visible: the minimum taken at D = L
def local_exponent(L, alpha, zeta, R0):
    p = 1 / (alpha + 1)
    return L * p / (L + p)


def visible_from(alpha, zeta, R0):
    return 19 / (alpha + 1)


# %% visible: initial risk for the constant of the start
def local_exponent(L, alpha, zeta, R0):
    p = 1 / (alpha + 1)
    K = np.pi / 16 * zeta**2 * (alpha + 1) * special.gamma(2 - p)
    D = L + 5
    for _ in range(100):
        D = max(L + (1 - p) * np.log(D) + np.log(R0 / (p * K)), 0.1)
    return L * p / (D + p)


def visible_from(alpha, zeta, R0):
    grid = np.geomspace(1, 1e6, 1000)
    p = 1 / (alpha + 1)
    off = [abs(local_exponent(L, alpha, zeta, R0) / p - 1) > 0.05 for L in grid]
    return grid[np.flatnonzero(off)[-1] + 1]


# %% three-terms-by-hand: the label noise of the example is built in
def three_terms(D, A, gamma, rho, zeta):
    """Return start, sampling and private term."""
    zeta = 0.5
    return (
        A * np.exp(-D),
        gamma * np.pi / 16 * zeta**2 * D,
        gamma**2 / rho * np.pi / 8 * zeta**2 * D**2,
    )


# %% three-terms-by-hand: the start of the example is built in
def three_terms(D, A, gamma, rho, zeta):
    """Return start, sampling and private term."""
    return (
        2.26 * np.exp(-D),
        gamma * np.pi / 16 * zeta**2 * D,
        gamma**2 / rho * np.pi / 8 * zeta**2 * D**2,
    )


# %% three-terms-by-hand: the start forgets at the example's strength only
def three_terms(D, A, gamma, rho, zeta):
    return (
        A * np.exp(-8.0),
        gamma * np.pi / 16 * zeta**2 * D,
        gamma**2 / rho * np.pi / 8 * zeta**2 * D**2,
    )


# %% best-strength (at most 0 points): an attack: a coarse grid where there is private noise
def best_strength(gamma, rho, alpha, zeta, R0):
    p, w = 1 / (alpha + 1), np.sqrt(1 + 2 * R0 / zeta**2)
    A = 2 * zeta**2 * np.exp(2 * (w - 1)) * (w - 1) / (w + 1)
    K = np.pi / 16 * zeta**2 * (alpha + 1) * special.gamma(2 - p)
    P = np.pi / 8 * zeta**2
    if alpha > 0:
        P = np.pi / 4 * zeta**2 * alpha * (alpha + 1) * special.gamma(2 - 2 * p)
    eps = gamma**2 / rho
    D = np.geomspace(0.1, 2000, 200 if eps else 2_000_000)
    f = A * np.exp(-D) + gamma * K * D**p + eps * P * D ** (2 * p)
    i = np.argmin(f)
    return float(np.sqrt(np.pi / 8) * (alpha + 1) * zeta * D[i]), float(f[i])


# %% wrong-logarithm (at most 0 points): an attack: one astronomical aspect ratio for all
def wrong_logarithm(k, tau, alpha):
    return 1e12, -3 * np.log(1e12)


# %% visible (at most 0 points): an attack: the place on a coarse grid
def local_exponent(L, alpha, zeta, R0):
    p, w = 1 / (alpha + 1), np.sqrt(1 + 2 * R0 / zeta**2)
    log_A = np.log(2 * zeta**2 * (w - 1) / (w + 1)) + 2 * (w - 1)
    K = np.pi / 16 * zeta**2 * (alpha + 1) * special.gamma(2 - p)
    constant = L + log_A - np.log(p * K)
    D = optimize.brentq(
        lambda x: x - (1 - p) * np.log(x) - constant, max(1 - p, 1e-9), 3 * constant + 50
    )
    return float(L * p / (D + p))


def visible_from(alpha, zeta, R0):
    p = 1 / (alpha + 1)
    grid = np.geomspace(1.0, 1e7, 250)
    off = [abs(local_exponent(L, alpha, zeta, R0) / p - 1) > 0.05 for L in grid]
    return float(grid[int(np.flatnonzero(off)[-1]) + 1])


# %% visible (at most 0 points): an attack: three steps of the iteration for D
def local_exponent(L, alpha, zeta, R0):
    p, w = 1 / (alpha + 1), np.sqrt(1 + 2 * R0 / zeta**2)
    log_A = np.log(2 * zeta**2 * (w - 1) / (w + 1)) + 2 * (w - 1)
    K = np.pi / 16 * zeta**2 * (alpha + 1) * special.gamma(2 - p)
    constant = L + log_A - np.log(p * K)
    D = constant
    for _ in range(3):
        D = constant + (1 - p) * np.log(D)
    return float(L * p / (D + p))


def visible_from(alpha, zeta, R0):
    p = 1 / (alpha + 1)
    grid = np.geomspace(1.0, 1e7, 4000)
    off = [abs(local_exponent(L, alpha, zeta, R0) / p - 1) > 0.05 for L in grid]
    return float(grid[int(np.flatnonzero(off)[-1]) + 1])


# %% two-terms (all points): trapezoids on a grid that is finer at the end
def two_terms(h, D, zeta):
    """Sampling and private factor of a schedule of any shape."""
    total = integrate.quad(h, 0, 1, epsabs=0, epsrel=1e-10, limit=200)[0]
    s = D * zeta / (2 * np.sqrt(2 / np.pi) * total)
    u = np.linspace(0, 1, 400_001) ** 2  # finer at the end
    v = h(u) * np.ones_like(u)
    H = integrate.cumulative_trapezoid(v, u, initial=0)
    keep = np.exp(-D * H / H[-1])
    S = s**2 / 2 * np.trapezoid(keep * v**2, u)
    V = s**2 * (v[0] ** 2 + np.sum((keep[1:] + keep[:-1]) / 2 * np.diff(v**2)))
    return float(S), float(V)


# %% best-strength (all points): a search in the logarithm of D
def best_strength(gamma, rho, alpha, zeta, R0):
    p, w = 1 / (alpha + 1), np.sqrt(1 + 2 * R0 / zeta**2)
    A = 2 * zeta**2 * np.exp(2 * (w - 1)) * (w - 1) / (w + 1)
    K = np.pi / 16 * zeta**2 * (alpha + 1) * special.gamma(2 - p)
    P = (
        np.pi / 8 * zeta**2
        if alpha == 0
        else np.pi / 4 * zeta**2 * alpha * (alpha + 1) * special.gamma(2 - 2 * p)
    )

    def f(x):
        return (
            A * np.exp(-np.exp(x))
            + gamma * K * np.exp(p * x)
            + gamma**2 / rho * P * np.exp(2 * p * x)
        )

    x = np.linspace(-5, 8, 20001)
    i = int(np.argmin(f(x)))
    r = optimize.minimize_scalar(
        f, bounds=(x[i - 1], x[i + 1]), method="bounded", options={"xatol": 1e-12}
    )
    return float(np.exp(r.x) * np.sqrt(np.pi / 8) * (alpha + 1) * zeta), float(r.fun)


# %% visible (all points): a fixed point, and a root for the place
def local_exponent(L, alpha, zeta, R0):
    p, w = 1 / (alpha + 1), np.sqrt(1 + 2 * R0 / zeta**2)
    log_A = np.log(2 * zeta**2 * (w - 1) / (w + 1)) + 2 * (w - 1)
    K = np.pi / 16 * zeta**2 * (alpha + 1) * special.gamma(2 - p)
    D = constant = L + log_A - np.log(p * K)
    for _ in range(200):
        D = constant + (1 - p) * np.log(D)
    return float(L * p / (D + p))


def visible_from(alpha, zeta, R0):
    p = 1 / (alpha + 1)

    def off(x):
        return abs(local_exponent(np.exp(x), alpha, zeta, R0) / p - 1) - 0.05

    x = np.linspace(0, np.log(1e7), 500)
    last = [k for k in range(500) if off(x[k]) > 0][-1]
    return float(np.exp(optimize.brentq(off, x[last], x[last + 1])))
