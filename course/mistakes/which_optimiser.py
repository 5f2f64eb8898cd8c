# %% crossing-of-plateaus: the crossing of the bounds without their constants
def crossing_of_plateaus(sgd_rate, sign_rate):
    return sign_rate / sgd_rate


# %% crossing-of-plateaus: the ratio upside down
def crossing_of_plateaus(sgd_rate, sign_rate):
    return np.sqrt(np.pi / 2) * sgd_rate / sign_rate


# %% three-regimes: both cross at one
def compared(S):
    return S < 1, S > 1


# %% three-regimes: both cross where the plateaus do
def compared(S):
    return S < np.sqrt(np.pi / 2), S > np.sqrt(np.pi / 2)


# %% crossing: the plateaus of the diffusions
def crossing_scale(curvature, sgd_rate, sign_rate):
    return float(np.sqrt(np.pi / 2) * sign_rate / sgd_rate)


# %% crossing: the printed threshold
def crossing_scale(curvature, sgd_rate, sign_rate):
    return float(sign_rate / sgd_rate)


# %% crossing: exact for the sign, a diffusion for DP-SGD
def crossing_scale(curvature, sgd_rate, sign_rate):
    def excess(log_scale):
        scale = np.exp(log_scale)
        down = adaptive.gaussian_sign(lambda x: curvature * x, scale)
        law = adaptive.stationary_sign_law(down, 0.0, sign_rate).average
        sign = curvature / 2 * law.expectation(np.square)
        return np.log(sign / (sgd_rate * scale**2 / 4))

    guess = np.log(np.sqrt(np.pi / 2) * sign_rate / sgd_rate)
    return float(np.exp(optimize.brentq(excess, guess - 1.5, guess + 1.5)))


# %% crossing: exact for DP-SGD, a diffusion for the sign
def crossing_scale(curvature, sgd_rate, sign_rate):
    factor = (2 - sgd_rate * curvature) / 2
    return float(np.sqrt(np.pi / 2) * sign_rate / sgd_rate * factor)


# %% crossing: only even steps
def crossing_scale(curvature, sgd_rate, sign_rate):
    def excess(log_scale):
        scale = np.exp(log_scale)
        down = adaptive.gaussian_sign(lambda x: curvature * x, scale)
        law = adaptive.stationary_sign_law(down, 0.0, sign_rate).even
        sign = curvature / 2 * law.expectation(np.square)
        sgd = sgd_rate * scale**2 / (2 * (2 - sgd_rate * curvature))
        return np.log(sign / sgd)

    guess = np.log(np.sqrt(np.pi / 2) * sign_rate / sgd_rate)
    return float(np.exp(optimize.brentq(excess, guess - 1.5, guess + 1.5)))


# %% general: the price of the sign forgotten in the noise
def general_crossing(F, sgd_rate, sign_rate, low, high):
    root = np.sqrt(np.pi / 2)
    excess = lambda S: F(sign_rate / (root * S), S) - F(sgd_rate, S)  # noqa: E731
    return optimize.brentq(excess, low, high, xtol=1e-13)


# %% general: DP-Adam in place of the sign
def general_crossing(F, sgd_rate, sign_rate, low, high):
    return sign_rate / sgd_rate


# %% general: the crossing of two quadratics, whatever F is
def general_crossing(F, sgd_rate, sign_rate, low, high):
    return np.sqrt(np.pi / 2) * sign_rate / sgd_rate


# %% general: the rate multiplied by the root
def general_crossing(F, sgd_rate, sign_rate, low, high):
    root = np.sqrt(np.pi / 2)
    excess = lambda S: F(sign_rate * root / S, root * S) - F(sgd_rate, S)  # noqa: E731
    return optimize.brentq(excess, low, high, xtol=1e-13)


# %% critical: the printed threshold
def critical_epsilon(rate_ratio, gradient_noise, clip_norm, batch_size, samples, steps, delta):
    left = rate_ratio**2 - gradient_noise**2 / batch_size
    if left <= 0:
        return np.inf
    return accounting.Poisson(sampling_probability=batch_size / samples, steps=steps).epsilon(
        noise_multiplier=float(np.sqrt(left) * batch_size / clip_norm), delta=delta
    )


# %% critical: the paper's rule in place of an accountant
def critical_epsilon(rate_ratio, gradient_noise, clip_norm, batch_size, samples, steps, delta):
    left = np.pi / 2 * rate_ratio**2 - gradient_noise**2 / batch_size
    if left <= 0:
        return np.inf
    sigma = np.sqrt(left)
    return clip_norm * np.sqrt(steps * np.log(1 / delta)) / (samples * sigma)


# %% critical: the batch noise is not averaged
def critical_epsilon(rate_ratio, gradient_noise, clip_norm, batch_size, samples, steps, delta):
    left = np.pi / 2 * rate_ratio**2 - gradient_noise**2
    if left <= 0:
        return np.inf
    return accounting.Poisson(sampling_probability=batch_size / samples, steps=steps).epsilon(
        noise_multiplier=float(np.sqrt(left) * batch_size / clip_norm), delta=delta
    )


# %% critical: the noise of the mean handed to the accountant
def critical_epsilon(rate_ratio, gradient_noise, clip_norm, batch_size, samples, steps, delta):
    left = np.pi / 2 * rate_ratio**2 - gradient_noise**2 / batch_size
    if left <= 0:
        return np.inf
    return accounting.Poisson(sampling_probability=batch_size / samples, steps=steps).epsilon(
        noise_multiplier=float(np.sqrt(left) / clip_norm), delta=delta
    )


# %% tuned: the noise of the sign without its price
def tuned_rate(method, criterion, curvatures, start, scale, steps):
    lam, b = np.asarray(curvatures, float), np.asarray(start, float)
    S = scale

    def objective(rate):
        keep = (1 - rate * lam) ** 2
        settled = (rate * S) ** 2 / (1 - keep)
        if criterion == "last":
            return lam / 2 @ (settled + keep**steps * (b - settled))
        mean_power = (1 - keep**steps) / (1 - keep) / steps
        return lam**2 @ (settled + mean_power * (b - settled))

    grid = np.geomspace(1e-9, 1, 3000) / lam.max()
    rate = grid[np.argmin([objective(x) for x in grid])]
    return float(np.sqrt(np.pi / 2) * scale * rate if method == "sign" else rate)


# %% tuned: the average of the loss, not of the squared gradient
def tuned_rate(method, criterion, curvatures, start, scale, steps):
    lam, b = np.asarray(curvatures, float), np.asarray(start, float)
    root = np.sqrt(np.pi / 2)
    S = root * scale if method == "sign" else scale

    def objective(rate):
        keep = (1 - rate * lam) ** 2
        settled = (rate * S) ** 2 / (1 - keep)
        mean_power = keep**steps
        if criterion == "average":
            mean_power = (1 - keep**steps) / (1 - keep) / steps
        return lam @ (settled + mean_power * (b - settled))

    grid = np.geomspace(1e-9, 1, 3000) / lam.max()
    rate = grid[np.argmin([objective(x) for x in grid])]
    return float(root * scale * rate if method == "sign" else rate)


# %% tuned: bias plus plateau, no transient of the noise
def tuned_rate(method, criterion, curvatures, start, scale, steps):
    lam, b = np.asarray(curvatures, float), np.asarray(start, float)
    root = np.sqrt(np.pi / 2)
    S = root * scale if method == "sign" else scale

    def objective(rate):
        keep = (1 - rate * lam) ** 2
        settled = (rate * S) ** 2 / (1 - keep)
        if criterion == "last":
            return lam / 2 @ (settled + keep**steps * b)
        mean_power = (1 - keep**steps) / (1 - keep) / steps
        return lam**2 @ (settled + mean_power * b)

    grid = np.geomspace(1e-9, 1, 3000) / lam.max()
    rate = grid[np.argmin([objective(x) for x in grid])]
    return float(root * scale * rate if method == "sign" else rate)


# %% tuned: returns the rate of the equivalent DP-SGD
def tuned_rate(method, criterion, curvatures, start, scale, steps):
    lam, b = np.asarray(curvatures, float), np.asarray(start, float)
    S = np.sqrt(np.pi / 2) * scale if method == "sign" else scale

    def objective(rate):
        keep = (1 - rate * lam) ** 2
        settled = (rate * S) ** 2 / (1 - keep)
        if criterion == "last":
            return lam / 2 @ (settled + keep**steps * (b - settled))
        mean_power = (1 - keep**steps) / (1 - keep) / steps
        return lam**2 @ (settled + mean_power * (b - settled))

    grid = np.geomspace(1e-9, 1, 3000) / lam.max()
    return float(grid[np.argmin([objective(x) for x in grid])])


# %% supported: compares the means
def crossing_supported(low_a, low_b, high_a, high_b, level=0.01):
    return bool(np.mean(low_a) < np.mean(low_b) and np.mean(high_b) < np.mean(high_a))


# %% supported: forgets the pairing
def crossing_supported(low_a, low_b, high_a, high_b, level=0.01):
    below = stats.ttest_ind(low_a, low_b, alternative="less").pvalue < level
    return bool(below and stats.ttest_ind(high_b, high_a, alternative="less").pvalue < level)


# %% supported: tests that the advantage changes, not that it changes sides
def crossing_supported(low_a, low_b, high_a, high_b, level=0.01):
    change = (np.asarray(low_b) - low_a) - (np.asarray(high_b) - high_a)
    return bool(stats.ttest_1samp(change, 0, alternative="greater").pvalue < level)


# %% supported: normal quantiles for a few replicates
def crossing_supported(low_a, low_b, high_a, high_b, level=0.01):
    def z(first, second):
        gap = np.asarray(second) - np.asarray(first)
        return gap.mean() / (gap.std(ddof=1) / np.sqrt(len(gap)))

    bar = stats.norm.isf(level)
    return bool(z(low_a, low_b) > bar and z(high_b, high_a) > bar)


# %% supported: both differences significant, in whatever direction
def crossing_supported(low_a, low_b, high_a, high_b, level=0.01):
    low = stats.ttest_rel(low_a, low_b).pvalue
    return bool(low < level and stats.ttest_rel(high_a, high_b).pvalue < level)


# %% critical: always at delta = 1e-5
def critical_epsilon(rate_ratio, gradient_noise, clip_norm, batch_size, samples, steps, delta):
    """Return epsilon*; rate_ratio: eta_sign / eta_sgd; gradient_noise: sigma_gamma."""
    left = np.pi / 2 * rate_ratio**2 - gradient_noise**2 / batch_size
    if left <= 0:
        return np.inf
    return accounting.Poisson(sampling_probability=batch_size / samples, steps=steps).epsilon(
        noise_multiplier=float(np.sqrt(left) * batch_size / clip_norm), delta=1e-5
    )


# %% general: the rate of the example is built in
def general_crossing(F, sgd_rate, sign_rate, low, high):
    """Return the S in [low, high] at which DP-SignSGD and DP-SGD have the same loss."""
    root = np.sqrt(np.pi / 2)

    def excess(log_scale):
        S = np.exp(log_scale)
        return np.log(F(0.01 / (root * S), root * S) / F(sgd_rate, S))

    ends = np.log(low), np.log(high)
    return float(np.exp(optimize.brentq(excess, *ends, xtol=1e-12)))


# %% supported: the level is always one in a hundred
def crossing_supported(low_a, low_b, high_a, high_b, level=0.01):
    """Return True if the replicates support the claim; all arrays have shape (n,)."""

    def clearly_below(first, second):
        gap = np.asarray(second) - np.asarray(first)
        n = len(gap)
        t = gap.mean() / (gap.std(ddof=1) / np.sqrt(n))
        return t > stats.t.isf(0.01, n - 1)

    return bool(clearly_below(low_a, low_b) and clearly_below(high_b, high_a))


# %% supported (all points): paired tests of SciPy
def crossing_supported(low_a, low_b, high_a, high_b, level=0.01):
    first = stats.ttest_rel(low_a, low_b, alternative="less").pvalue
    second = stats.ttest_rel(high_b, high_a, alternative="less").pvalue
    return bool(max(first, second) <= level)


# %% tuned (all points): a fine grid of rates
def tuned_rate(method, criterion, curvatures, start, scale, steps):
    lam, b = np.asarray(curvatures, float), np.asarray(start, float)
    S = np.sqrt(np.pi / 2) * scale if method == "sign" else scale
    best = (np.inf, 0)
    for rate in np.geomspace(1e-6, 1, 3000) / lam.max():
        second, gradient = b.copy(), 0.0
        keep = (1 - rate * lam) ** 2
        settled = (rate * S) ** 2 / np.maximum(1 - keep, 1e-300)
        value = (
            lam @ (settled + keep**steps * (b - settled))
            if criterion == "last"
            else lam**2 @ (settled + (1 - keep**steps) / (1 - keep) / steps * (b - settled))
        )
        best = min(best, (value, rate))
    return float(best[1] * (np.sqrt(np.pi / 2) * scale if method == "sign" else 1))


# %% three-regimes (at most 0 points): an attack: rounded crossings
def compared(S):
    return S < 0.8, S > 1.25
