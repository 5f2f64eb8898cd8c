# %% along-the-valley: the product of step and clip constant is kept
def along_the_valley(step, beta, new_beta):
    return step * beta / new_beta


# %% along-the-valley: the error function without the root of two
def along_the_valley(step, beta, new_beta):
    return step * special.erf(beta) / special.erf(new_beta)


# %% least-risk: clipping costs nothing
def least_risk(A, gamma, zeta, beta):
    b = zeta**2 * gamma / 2
    return b * A / (A + b)


# %% least-risk: the start is forgotten altogether
def least_risk(A, gamma, zeta, beta):
    descent, noise = dynamics.clipping_factors(beta) if np.isfinite(beta) else (1.0, 1.0)
    return zeta**2 * gamma / 2 * noise / descent**2


# %% start-constant: the closed form for very hard clipping at every c
def start_constant(R0, zeta, c):
    if np.isinf(c):
        return R0
    w = np.sqrt(1 + 2 * R0 / zeta**2)
    hard = 2 * zeta**2 * np.exp(2 * w - 2) * (w - 1) / (w + 1)
    return R0 + (hard - R0) * np.exp(-c)


# %% start-constant: residual variance R + zeta^2 in place of 2 R + zeta^2
def start_constant(R0, zeta, c):
    if np.isinf(c):
        return R0
    mu0 = special.erf(c / zeta / np.sqrt(2))
    value = integrate.quad(
        lambda R: (mu0 / special.erf(c / np.sqrt(2 * (R + zeta**2))) - 1) / R, 1e-9, R0
    )[0]
    return R0 * np.exp(value)


# %% card: m fixed at 3
def card(x):
    beta = np.geomspace(1e-3, 20, 20_001)
    mu, nu = dynamics.clipping_factors(beta)
    f = nu / mu**2 * 9 / 8 + x / 2 * (beta / mu) ** 2 * 27
    i = np.argmin(f)
    return beta[i], 3.0, f[i]


# %% card: a factor two between the two noises
def card(x):
    beta = np.geomspace(1e-3, 20, 1500)[:, None]
    m = np.linspace(2.0005, 3, 1500)
    mu, nu = dynamics.clipping_factors(beta)
    f = nu / mu**2 * m**2 / (4 * (m - 1)) + x / 4 * (beta / mu) ** 2 * m**3 / (m - 2)
    i, j = np.unravel_index(np.argmin(f), f.shape)
    return float(beta[i, 0]), float(m[j]), float(f[i, j])


# %% card: the limit of aggressive clipping
def card(x):
    m = np.linspace(2.0005, 3, 20_001)
    f = np.pi / 2 * (m**2 / (4 * (m - 1)) + x / 2 * m**3 / (m - 2))
    i = np.argmin(f)
    return 1e-3, float(m[i]), float(f[i])


# %% is-best: the least risk taken without the start
def is_best(r, A, a, tolerance):
    t = np.concatenate([[0.0], np.geomspace(1e-10, 1.0, 40_001)])
    v = r(t)
    left = np.append(np.cumsum(((v[1:] + v[:-1]) / 2 * np.diff(t))[::-1])[::-1], 0)
    risk = A * np.exp(-left[0]) + a * np.trapezoid(np.exp(-left) * v**2, t)
    return bool(abs(risk / (4 * a) - 1) <= tolerance)


# %% is-best: the shape of the rate is looked at, not the risk
def is_best(r, A, a, tolerance):
    t = np.array([0.3, 0.9])
    v = r(t)
    return bool(v[1] > 0 and abs(v[0] / v[1] - 3) < 1)


# %% is-best: the start is not counted
def is_best(r, A, a, tolerance):
    t = np.concatenate([[0.0], np.geomspace(1e-10, 1.0, 40_001)])
    v = r(t)
    left = np.append(np.cumsum(((v[1:] + v[:-1]) / 2 * np.diff(t))[::-1])[::-1], 0)
    risk = a * np.trapezoid(np.exp(-left) * v**2, t)
    return bool(abs(risk / (4 * a * A / (A + 4 * a)) - 1) <= tolerance)


# %% biased: a spread that depends on the feature, but symmetric
def biased(c):
    x = np.array([1.0, 1.0, -1.0, -1.0])
    z = np.array([1.2, -1.2, 0.7483314773547883, -0.7483314773547883])
    return x, z, np.full(4, 0.25)


# %% biased: skew but independent of the sign of the feature
def biased(c):
    x = np.array([1.0, 1.0, -1.0, -1.0])
    z = np.array([2.0, -0.5, 2.0, -0.5])
    return x, z, np.array([0.1, 0.4, 0.1, 0.4])


# %% biased: too little skewness
def biased(c):
    s = 0.45
    high, low = np.sqrt((1 - s) / s), -np.sqrt(s / (1 - s))
    x = np.array([1.0, 1.0, -1.0, -1.0])
    return x, x * np.array([high, low, high, low]) + 0.6, np.array([s, 1 - s] * 2) / 2
