# %% promised-rho: the noise before a record protects it
def promised_rho(step_sizes, noise_scales):
    prefix = np.cumsum(np.asarray(noise_scales, dtype=float) ** 2)
    return np.asarray(step_sizes, dtype=float) ** 2 / prefix


# %% promised-rho: the standard deviations add up
def promised_rho(step_sizes, noise_scales):
    suffix = np.cumsum(np.asarray(noise_scales, dtype=float)[::-1])[::-1] ** 2
    return np.asarray(step_sizes, dtype=float) ** 2 / suffix


# %% gap-after-a-step: the step is not adaptive
def gap_after(first, second, x, y, step, clip_norm):
    moved = [t - step * np.clip((x * t - y) * x, -clip_norm, clip_norm) for t in (first, second)]
    return abs(moved[0] - moved[1])


# %% gap-after-a-step: the residual is clipped at C
def gap_after(first, second, x, y, step, clip_norm):
    rate = min(step, 2 / x**2)
    moved = [t - rate * x * np.clip(x * t - y, -clip_norm, clip_norm) for t in (first, second)]
    return abs(moved[0] - moved[1])


# %% hidden-mu: the whole sum hidden in the whole noise
def hidden_mu(shifts, noises):
    first = np.flatnonzero(shifts)
    if not first.size:
        return 0.0
    later = np.sum(np.square(noises[first[0] :]))
    if np.asarray(noises)[first[-1] :].max() == 0:
        return np.inf
    return float(np.sum(shifts) / np.sqrt(later))


# %% hidden-mu: composition of the uses, each with the noise until the next one
def hidden_mu(shifts, noises):
    uses = [*np.flatnonzero(shifts), len(shifts)]
    with np.errstate(divide="ignore"):
        parts = [
            shifts[i] ** 2 / np.sum(np.square(noises[i:j])) for i, j in zip(uses[:-1], uses[1:])
        ]
    return float(np.sqrt(np.sum(parts)))


# %% hidden-mu: every use counts with all later noise
def hidden_mu(shifts, noises):
    tails = np.cumsum(np.square(np.asarray(noises, float))[::-1])[::-1]
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = np.where(np.asarray(shifts) > 0, np.square(shifts) / tails, 0.0)
    return float(np.sqrt(np.sum(parts)))


# %% personal-noise: maximum of the steps before the budgets
def personal_noise(step_sizes, budgets):
    largest = np.maximum.accumulate(np.square(step_sizes)[::-1])[::-1]
    return np.sqrt((largest - np.append(largest[1:], 0.0)) / budgets)


# %% personal-noise: differences without the running maximum, cut off at zero
def personal_noise(step_sizes, budgets):
    needed = np.square(step_sizes) / np.asarray(budgets)
    return np.sqrt(np.maximum(needed - np.append(needed[1:], 0.0), 0))


# %% personal-noise: everybody gets the strictest budget
def personal_noise(step_sizes, budgets):
    from dpdynamics import accounting

    return accounting.optimal_noise_schedule(step_sizes, float(np.min(budgets)))


# %% refuting-data: every other record an eraser, after step k as well
def refuting_data(step_sizes, noise_scales, clip_norm, k):
    eta = np.asarray(step_sizes, dtype=float)
    x, y = 1 / np.sqrt(eta), np.zeros(eta.size)
    y[k - 1] = 1e6
    return x, y, -1e6


# %% refuting-data: silent records, nothing erased
def refuting_data(step_sizes, noise_scales, clip_norm, k):
    n = len(step_sizes)
    x, y = np.zeros(n), np.zeros(n)
    x[k - 1], y[k - 1] = 1.0, 1e6
    return x, y, -1e6


# %% refuting-data: record zeroed out instead of turned round
def refuting_data(step_sizes, noise_scales, clip_norm, k):
    eta = np.asarray(step_sizes, dtype=float)
    x, y = np.zeros(eta.size), np.zeros(eta.size)
    x[:k] = 1 / np.sqrt(eta[:k])
    y[k - 1] = 1e6
    return x, y, 0.0


# %% audit: threshold and limits from the same runs
def audit(p, q, confidence):
    level = (1 - confidence) / 2
    h = np.quantile(np.concatenate([p, q]), np.linspace(0.05, 0.95, 41))
    hits, alarms = (np.array([np.sum(u > x) for x in h]) for u in (p, q))
    use = (hits > 0) & (alarms < len(q))
    hits, alarms = hits[use], alarms[use]
    low = stats.beta.ppf(level, hits, len(p) - hits + 1)
    high = stats.beta.isf(level, alarms + 1, len(q) - alarms)
    gain = stats.norm.ppf(low) - stats.norm.ppf(high)
    return max(0.0, float(np.max(gain, initial=0.0)))


# %% audit: runs split, but frequencies for probabilities
def audit(p, q, confidence):
    (p1, p2), (q1, q2) = np.array_split(p, 2), np.array_split(q, 2)
    trials = np.quantile(np.concatenate([p1, q1]), np.linspace(0.05, 0.95, 61))
    gain = [np.mean(p1 > h) - np.mean(q1 > h) for h in trials]
    h = trials[int(np.argmax(gain))]
    hits, alarms = np.mean(p2 > h), np.mean(q2 > h)
    if hits in (0, 1) or alarms in (0, 1):
        return 0.0
    return max(0.0, stats.norm.ppf(hits) - stats.norm.ppf(alarms))


# %% audit: always zero, which is valid and useless
def audit(p, q, confidence):
    return 0.0
