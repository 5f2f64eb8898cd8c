# %% last-jump: the aspect ratio enters once
def last_jump(n, d, clip, final_step, rho):
    return d / n * clip**2 * final_step**2 / rho


# %% last-jump: the aspect ratio upside down
def last_jump(n, d, clip, final_step, rho):
    return (n / d) ** 2 * clip**2 * final_step**2 / rho


# %% last-jump: the budget is squared
def last_jump(n, d, clip, final_step, rho):
    return (d / n * clip * final_step / rho) ** 2


# %% noise-at-equal-speed: the step raises the noise once
def noise_at_equal_speed(beta):
    descent = special.erf(beta / np.sqrt(2))
    return dynamics.clipping_factors(beta)[1] / descent


# %% noise-at-equal-speed: the clipped residuals are left out
def noise_at_equal_speed(beta):
    descent = special.erf(beta / np.sqrt(2))
    return (descent - np.sqrt(2 / np.pi) * beta * np.exp(-(beta**2) / 2)) / descent**2


# %% drop-factors: Stein's identity without the boundary terms
def drop_factors(ratio):
    return (
        float(special.erf(ratio / np.sqrt(2))),
        float(special.gammainc(1.5, ratio**2 / 2)),
    )


# %% drop-factors: the variance factor of clipping
def drop_factors(ratio):
    inside = float(special.gammainc(1.5, ratio**2 / 2))
    return inside, inside + ratio**2 * float(special.erfc(ratio / np.sqrt(2)))


# %% drop-factors: difference of nearly equal numbers
def drop_factors(ratio):
    value = special.erf(ratio / 2**0.5)
    value -= np.sqrt(2 / np.pi) * ratio * np.exp(-(ratio**2) / 2)
    return float(value), float(value)


# %% released: private noise follows the step alone
def released(eta, clip, eigenvalues, shares, modes, gamma, label_variance, rho):
    lam, f, D = (np.array(u, dtype=float) for u in (eigenvalues, shares, modes))
    h = 1 / 1000
    for k in range(1000):
        t = (k + 0.5) * h
        P = f @ (lam * D) + label_variance / 2
        mu, nu = dynamics.clipping_factors(clip(t) / np.sqrt(2 * P))
        kick = clip(t) ** 2 * (eta(k * h) ** 2 - eta(k * h + h) ** 2)
        D = D + h * lam * (-2 * eta(t) * mu * D + gamma * eta(t) ** 2 * nu * P)
        D = D + gamma**2 / rho * kick
    return float(f @ (lam * D) + gamma**2 / rho * (eta(1.0) * clip(1.0)) ** 2)


# %% released: the noise of the last step forgotten
def released(eta, clip, eigenvalues, shares, modes, gamma, label_variance, rho):
    lam, f, D = (np.array(u, dtype=float) for u in (eigenvalues, shares, modes))
    h = 1 / 1000
    for k in range(1000):
        t = (k + 0.5) * h
        P = f @ (lam * D) + label_variance / 2
        mu, nu = dynamics.clipping_factors(clip(t) / np.sqrt(2 * P))
        a, b = eta(k * h) * clip(k * h), eta(k * h + h) * clip(k * h + h)
        D = D + h * lam * (-2 * eta(t) * mu * D + gamma * eta(t) ** 2 * nu * P)
        D = D + gamma**2 / rho * (a**2 - b**2)
    return float(f @ (lam * D))


# %% released: private noise in proportion to the eigenvalue
def released(eta, clip, eigenvalues, shares, modes, gamma, label_variance, rho):
    lam, f, D = (np.array(u, dtype=float) for u in (eigenvalues, shares, modes))
    h = 1 / 1000
    for k in range(1000):
        t = (k + 0.5) * h
        P = f @ (lam * D) + label_variance / 2
        mu, nu = dynamics.clipping_factors(clip(t) / np.sqrt(2 * P))
        a, b = eta(k * h) * clip(k * h), eta(k * h + h) * clip(k * h + h)
        D = D + h * lam * (-2 * eta(t) * mu * D + gamma * eta(t) ** 2 * nu * P)
        D = D + lam * gamma**2 / rho * (a**2 - b**2)
    return float(f @ (lam * D) + gamma**2 / rho * (eta(1.0) * clip(1.0)) ** 2)


# %% better-and-worse: the two exchanged
def better_and_worse(R0):
    eigenvalues, sizes = np.array([0.2, 1.8]), np.array([50, 50])
    slow = np.array([np.sqrt(2 * R0 / 0.2), 0.0])
    fast = np.array([0.0, np.sqrt(2 * R0 / 1.8)])
    return (
        dynamics.SpectralBlocks(eigenvalues, sizes, slow),
        dynamics.SpectralBlocks(eigenvalues, sizes, fast),
    )


# %% better-and-worse: the eigenvalue forgotten in the initial risk
def better_and_worse(R0):
    eigenvalues, sizes = np.array([0.2, 1.8]), np.array([50, 50])
    return (
        dynamics.SpectralBlocks(eigenvalues, sizes, np.array([0.0, np.sqrt(2 * R0)])),
        dynamics.SpectralBlocks(eigenvalues, sizes, np.array([np.sqrt(2 * R0), 0.0])),
    )


# %% step-variances: no fluctuation of the squared residual
def step_variances(Q, gamma, eta, c, label_variance):
    rng = np.random.default_rng(0)
    s, z = rng.standard_normal((2, 500_000))
    a = np.sqrt(Q) * s
    r = np.clip(a - np.sqrt(label_variance) * z, -c, c)
    m2 = np.mean(r**2) if np.isfinite(c) else Q + label_variance
    return float(np.var(2 * eta * a * r)), float(4 * eta**2 * Q * m2)


# %% step-variances: the covariance with the wrong sign
def step_variances(Q, gamma, eta, c, label_variance):
    rng = np.random.default_rng(0)
    s, z = rng.standard_normal((2, 500_000))
    a = np.sqrt(Q) * s
    r = np.clip(a - np.sqrt(label_variance) * z, -c, c)
    m2 = np.mean(r**2) if np.isfinite(c) else Q + label_variance
    change = 2 * eta * a * r + gamma * eta**2 * r**2
    return float(np.var(change)), float(4 * eta**2 * Q * m2)


# %% released (at most 0 points): an attack: label noise, aspect ratio and budget of one example
def released(eta, clip, eigenvalues, shares, modes, gamma, label_variance, rho):
    """Risk of the last iterate for a step and a clip constant that vary."""
    gamma, label_variance, rho = 0.2, 0.25, 0.2
    lam, f, D = (np.array(u, dtype=float) for u in (eigenvalues, shares, modes))

    def slope(t, D):
        R = f @ (lam * D)
        P = R + label_variance / 2
        mu, nu = dynamics.clipping_factors(clip(t) / np.sqrt(2 * P))
        return lam * (-2 * eta(t) * mu * D + gamma * eta(t) ** 2 * nu * P)

    steps = 800
    h = 1 / steps
    power = np.array([(eta(t) * clip(t)) ** 2 for t in np.arange(steps + 1) * h])
    kick = gamma**2 / rho * -np.diff(power)
    for k in range(steps):
        t = k * h
        D = D + kick[k] / 2
        half = D + h / 2 * slope(t, D)
        D = D + h * slope(t + h / 2, half)
        D = D + kick[k] / 2
    return float(f @ (lam * D) + gamma**2 / rho * power[-1])


# %% noise-at-equal-speed (at most 0 points): an attack: the function of the library
def noise_at_equal_speed(beta):
    descent, noise = dynamics.clipping_factors(beta)
    return noise / descent**2


# %% released (at most 0 points): an attack: the library, for the clip constant at the start
def released(eta, clip, eigenvalues, shares, modes, gamma, label_variance, rho):
    from scipy.optimize import brentq

    first, half = eta(0.0), eta(0.5)
    power = np.log2(first / half) if half else 1.0
    sizes = np.round(1000 * np.asarray(shares)).astype(int)
    offsets = np.sqrt(2 * np.asarray(modes) * np.asarray(shares))
    eigenvalues = np.asarray(eigenvalues) * sizes.sum() / np.dot(eigenvalues, sizes)
    blocks = dynamics.SpectralBlocks(eigenvalues, sizes, offsets)
    risk = dynamics.one_pass_risk(
        blocks,
        PolynomialDecay(first, max(power, 0.0)),
        clip_constant=clip(0.0),
        aspect_ratio=gamma,
        label_variance=label_variance,
        rho=rho,
    )
    return float(risk)


# %% step-variances (at most 0 points): an attack: sampling, and the chapter's ratio without clipping
def step_variances(Q, gamma, eta, c, label_variance):
    if np.isinf(c) and label_variance == 0:
        diffusion = 4 * eta**2 * Q**2
        return 2 * (1 - gamma * eta / 2) ** 2 * diffusion, diffusion
    rng = np.random.default_rng(0)
    s, z = rng.standard_normal((2, 2_000_000))
    a = np.sqrt(Q) * s
    r = np.clip(a - np.sqrt(label_variance) * z, -c, c)
    change = -2 * eta * a * r + gamma * eta**2 * r**2
    return float(np.var(change)), float(4 * eta**2 * Q * np.mean(r**2))


# %% step-variances (all points): moments of a clipped normal variable in closed form
def step_variances(Q, gamma, eta, c, label_variance):
    total = Q + label_variance
    s, share = np.sqrt(total), Q / total
    k = c / s
    tail = 2 * special.ndtr(-k)
    edge = k * np.exp(-(k**2) / 2) / np.sqrt(2 * np.pi) if np.isfinite(k) else 0.0
    cube = k**2 * edge if np.isfinite(k) else 0.0
    two = 1 - tail - 2 * edge  # moments of the part of N(0, 1) inside (-k, k)
    four = 3 * two - 2 * cube
    k2, k4 = (k**2 * tail, k**4 * tail) if np.isfinite(k) else (0.0, 0.0)
    k_edge = 2 * edge if np.isfinite(k) else 0.0  # k E|g| outside
    m2, m4 = s**2 * (two + k2), s**4 * (four + k4)
    rr = s**2 * (two + k_edge)
    outside2 = tail + 2 * edge  # E g^2 outside
    rr2 = s**4 * (four + (k**2 * outside2 if np.isfinite(k) else 0.0))
    rr3 = s**4 * (four + (k**2 * k_edge if np.isfinite(k) else 0.0))
    var_a = share**2 * (rr2 - rr**2) + share * label_variance * m2
    cov = share * (rr3 - rr * m2)
    algorithm = 4 * eta**2 * var_a - 4 * gamma * eta**3 * cov + gamma**2 * eta**4 * (m4 - m2**2)
    return algorithm, 4 * eta**2 * Q * m2


# %% released (all points): an adaptive solver between increments of the private noise
def released(eta, clip, eigenvalues, shares, modes, gamma, label_variance, rho):
    lam, f, D = (np.array(u, dtype=float) for u in (eigenvalues, shares, modes))
    times = np.linspace(0, 1, 401)
    power = np.array([(eta(t) * clip(t)) ** 2 for t in times])

    def slope(t, D):
        P = f @ (lam * D) + label_variance / 2
        mu, nu = dynamics.clipping_factors(clip(t) / np.sqrt(2 * P))
        return lam * (-2 * eta(t) * mu * D + gamma * eta(t) ** 2 * nu * P)

    for k in range(400):
        D = D + gamma**2 / rho * (power[k] - power[k + 1]) / 2
        D = integrate.solve_ivp(slope, times[k : k + 2], D, rtol=1e-6).y[:, -1]
        D = D + gamma**2 / rho * (power[k] - power[k + 1]) / 2
    return f @ (lam * D) + gamma**2 / rho * power[-1]
