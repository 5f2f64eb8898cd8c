# %% two-variances: the correction with the wrong sign
def two_variances(curvature, scale, learning_rate):
    equation = learning_rate * scale**2 / (2 * curvature)
    return equation / (1 + learning_rate * curvature / 2), equation


# %% two-variances: the divergence is overlooked
def two_variances(curvature, scale, learning_rate):
    equation = learning_rate * scale**2 / (2 * curvature)
    return equation / (1 - learning_rate * curvature / 2), equation


# %% four-points: both flows from the same site
def next_site(x, curvature, scale, learning_rate):
    up = special.ndtr(-curvature * x / scale)
    return up / special.ndtr(curvature * x / scale)


# %% four-points: up and down exchanged
def next_site(x, curvature, scale, learning_rate):
    up = special.ndtr(curvature * x / scale)
    down = special.ndtr(-curvature * (x + learning_rate) / scale)
    return up / down


# %% dead: flow down taken from the same site
def dead_zone_law(curvature, scale, learning_rate, threshold, x0):
    reach = int(np.ceil(60 * scale / (curvature * learning_rate) + 60))
    points = x0 + learning_rate * np.arange(-reach, reach + 1)
    y = curvature * points / scale
    down = special.log_ndtr(y - threshold)
    up = special.log_ndtr(-y - threshold)
    log_mass = np.concatenate([[0.0], np.cumsum(up[:-1] - down[:-1])])
    return points, np.exp(log_mass - special.logsumexp(log_mass))


# %% dead: probabilities given that the coordinate moves
def dead_zone_law(curvature, scale, learning_rate, threshold, x0):
    reach = int(np.ceil(60 * scale / (curvature * learning_rate) + 60))
    points = x0 + learning_rate * np.arange(-reach, reach + 1)
    y = curvature * points / scale
    down = special.log_ndtr(y - threshold)
    up = special.log_ndtr(-y - threshold)
    moves = np.logaddexp(down, up)
    down, up = down - moves, up - moves
    log_mass = np.concatenate([[0.0], np.cumsum(up[:-1] - down[1:])])
    return points, np.exp(log_mass - special.logsumexp(log_mass))


# %% dead: the normal law of leading order
def dead_zone_law(curvature, scale, learning_rate, threshold, x0):
    density = stats.norm.pdf(threshold)
    variance = learning_rate * scale * stats.norm.sf(threshold)
    variance /= 2 * density * curvature
    reach = int(np.ceil(12 * np.sqrt(variance) / learning_rate))
    points = x0 + learning_rate * np.arange(-reach, reach + 1)
    mass = np.exp(-(points**2) / (2 * variance))
    return points, mass / mass.sum()


# %% dead: a lattice through the minimum, whatever the start
def dead_zone_law(curvature, scale, learning_rate, threshold, x0):
    reach = int(np.ceil(60 * scale / (curvature * learning_rate) + 60))
    points = learning_rate * np.arange(-reach, reach + 1)
    y = curvature * points / scale
    down = special.log_ndtr(y - threshold)
    up = special.log_ndtr(-y - threshold)
    log_mass = np.concatenate([[0.0], np.cumsum(up[:-1] - down[1:])])
    return points, np.exp(log_mass - special.logsumexp(log_mass))


# %% dead: plain products that underflow
def dead_zone_law(curvature, scale, learning_rate, threshold, x0):
    reach = int(np.ceil(60 * scale / (curvature * learning_rate) + 60))
    points = x0 + learning_rate * np.arange(-reach, reach + 1)
    y = curvature * points / scale
    with np.errstate(all="ignore"):
        down, up = special.ndtr(y - threshold), special.ndtr(-y - threshold)
        mass = np.concatenate([[1.0], np.cumprod(up[:-1] / down[1:])])
        return points, mass / mass.sum()


# %% correct: c of the normal law, whatever the noise
def variance_expansion(p0, p2):
    return 1 / (4 * p0), np.sqrt(2 * np.pi) / 8


# %% correct: the sign of the third-order term
def variance_expansion(p0, p2):
    return 1 / (4 * p0), p2 / (8 * p0**2)


# %% correct: only the curvature relative to the density counts
def variance_expansion(p0, p2):
    return 1 / (4 * p0), -p2 / p0 * np.sqrt(2 * np.pi) / 8


# %% correct: the variance of the noise away from the minimum, as in (188)
def variance_expansion(p0, p2):
    return 1 / (4 * p0), -p2 / (8 * p0**2) - p0


# %% stop: noise that does not depend on the length
def best_horizon(curvatures, x0, learning_rate, unit_noise, longest):
    lam, x0 = np.asarray(curvatures, float), np.asarray(x0, float)
    K = np.arange(longest + 1)[:, None]
    keep = (1 - learning_rate * lam) ** 2
    settled = learning_rate**2 * unit_noise**2 / (1 - keep)
    loss = (lam / 2 * (keep**K * x0**2 + (1 - keep**K) * settled)).sum(axis=1)
    best = int(np.argmin(loss))
    return best, float(loss[best])


# %% stop: one run whose noise grows from step to step
def best_horizon(curvatures, x0, learning_rate, unit_noise, longest):
    lam, second = np.asarray(curvatures, float), np.asarray(x0, float) ** 2
    losses = [lam @ second / 2]
    for k in range(1, longest + 1):
        second = (1 - learning_rate * lam) ** 2 * second
        second = second + learning_rate**2 * unit_noise**2 * k
        losses.append(lam @ second / 2)
    best = int(np.argmin(losses))
    return best, float(losses[best])


# %% stop: to leading order, with the plateau of the diffusion
def best_horizon(curvatures, x0, learning_rate, unit_noise, longest):
    lam, x0 = np.asarray(curvatures, float), np.asarray(x0, float)
    K = np.arange(longest + 1)[:, None]
    gone = np.exp(-2 * learning_rate * lam * K)
    loss = gone * lam * x0**2 / 2 + learning_rate * unit_noise**2 * K / 4
    loss = loss.sum(axis=1)
    best = int(np.argmin(loss))
    return best, float(loss[best])


# %% stop: always starts
def best_horizon(curvatures, x0, learning_rate, unit_noise, longest):
    lam, x0 = np.asarray(curvatures, float), np.asarray(x0, float)
    K = np.arange(1, longest + 1)[:, None]
    keep = (1 - learning_rate * lam) ** 2
    settled = learning_rate**2 * unit_noise**2 * K / (1 - keep)
    loss = (lam / 2 * (keep**K * x0**2 + (1 - keep**K) * settled)).sum(axis=1)
    best = int(np.argmin(loss))
    return best + 1, float(loss[best])


# %% quiet: a start at the minimum
def quiet_orbit(learning_rate, curvature):
    return 0.01 * learning_rate * curvature, 0.0


# %% quiet: noise that is small, but not in the right unit
def quiet_orbit(learning_rate, curvature):
    return 1e-3, learning_rate / 2


# %% quiet: noise of the size of a step
def quiet_orbit(learning_rate, curvature):
    return learning_rate * curvature, learning_rate / 2


# %% runs: normal approximation with the standard error of the prediction
def runs_needed(ratio, level=1e-4, power=0.99, comparisons=1):
    shift = stats.norm.isf(level / (2 * comparisons)) + stats.norm.ppf(power)
    return int(np.ceil(2 * (shift / (ratio - 1)) ** 2))


# %% runs: one tail only
def runs_needed(ratio, level=1e-4, power=0.99, comparisons=1):
    def detects(N):
        if ratio > 1:
            return special.gammaincc(
                N / 2, special.gammainccinv(N / 2, level / comparisons) / ratio
            )
        return special.gammainc(N / 2, special.gammaincinv(N / 2, level / comparisons) / ratio)

    N = 1
    while detects(N) < power:
        N = N + max(1, N // 500)
    return N


# %% runs: no account of the other comparisons
def runs_needed(ratio, level=1e-4, power=0.99, comparisons=1):
    def detects(N):
        low, high = special.gammaincinv(N / 2, level / 2), special.gammainccinv(N / 2, level / 2)
        return special.gammainc(N / 2, low / ratio) + special.gammaincc(N / 2, high / ratio)

    N = 1
    while detects(N) < power:
        N = N + max(1, N // 2000)
    return N


# %% runs: the ratio on the wrong side
def runs_needed(ratio, level=1e-4, power=0.99, comparisons=1):
    ratio = 1 / ratio
    tail = level / (2 * comparisons)

    def detects(N):
        low, high = special.gammaincinv(N / 2, tail), special.gammainccinv(N / 2, tail)
        return special.gammainc(N / 2, low / ratio) + special.gammaincc(N / 2, high / ratio)

    N = 1
    while detects(N) < power:
        N = N + max(1, N // 2000)
    return N


# %% stop: a longest run of its own
def best_horizon(curvatures, x0, learning_rate, unit_noise, longest):
    """Return (K, loss): the best number of steps, an integer, and its mean loss.

    curvatures, x0: arrays (d,), learning_rate * curvatures < 2; unit_noise: s_1;
    longest: K_max.
    """
    lam, x0 = np.asarray(curvatures, float), np.asarray(x0, float)
    K = np.arange(max(longest, 80) + 1)[:, None]
    keep = (1 - learning_rate * lam) ** 2
    gone = keep**K
    settled = learning_rate**2 * unit_noise**2 * K / (1 - keep)
    loss = (lam / 2 * (gone * x0**2 + (1 - gone) * settled)).sum(axis=1)
    best = int(np.argmin(loss))
    return best, float(loss[best])


# %% two-variances (at most 0 points): an attack: infinite only beyond the limit
def two_variances(curvature, scale, learning_rate):
    equation = learning_rate * scale**2 / (2 * curvature)
    room = 1 - learning_rate * curvature / 2
    return (np.inf if room < 0 else equation / np.float64(max(room, 1e-300))), equation


# %% quiet (at most 0 points): an attack: one tiny noise for all
def quiet_orbit(learning_rate, curvature):
    return 1e-12, learning_rate / 2


# %% stop (all points): one length after another
def best_horizon(curvatures, x0, learning_rate, unit_noise, longest):
    lam, x0 = np.asarray(curvatures, float), np.asarray(x0, float)
    best = (np.inf, 0)
    for K in range(longest + 1):
        mean, var = x0 * (1 - learning_rate * lam) ** K, 0
        keep = (1 - learning_rate * lam) ** 2
        var = learning_rate**2 * unit_noise**2 * K * (1 - keep**K) / (1 - keep)
        best = min(best, (float(lam @ (mean**2 + var) / 2), K))
    return best[1], best[0]


# %% dead (at most 0 points): an attack: the library's law of a walk that always moves, reweighted
def dead_zone_law(curvature, scale, learning_rate, threshold, x0):
    def both(x):
        y = curvature * np.asarray(x) / scale
        return special.ndtr(y - threshold), special.ndtr(-y - threshold)

    def moves(x):
        y = curvature * np.asarray(x) / scale
        difference = special.log_ndtr(-y - threshold) - special.log_ndtr(y - threshold)
        return special.expit(-difference)

    law = adaptive.stationary_sign_law(moves, x0, learning_rate).average
    mass = law.weights / np.maximum(sum(both(law.points)), 1e-300)
    return law.points, mass / mass.sum()


# %% runs (at most 0 points): an attack: a search that strides where runs are many
def runs_needed(ratio, level=1e-4, power=0.99, comparisons=1):
    tail, N = level / (2 * comparisons), 1
    while True:
        low, high = special.gammaincinv(N / 2, tail), special.gammainccinv(N / 2, tail)
        chance = special.gammainc(N / 2, low / ratio) + special.gammaincc(N / 2, high / ratio)
        if chance >= power:
            return N
        N += max(1, N // 1000)


# %% runs (at most 0 points): an attack: the tail on the side of the truth, which is nearly all
def runs_needed(ratio, level=1e-4, power=0.99, comparisons=1):
    tail = level / (2 * comparisons)

    def detects(N):
        if ratio > 1:
            return stats.chi2.sf(stats.chi2.isf(tail, N) / ratio, N)
        return stats.chi2.cdf(stats.chi2.ppf(tail, N) / ratio, N)

    high = 1
    while detects(high) < power:
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if detects(middle) >= power else (middle, high)
    return high
