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
