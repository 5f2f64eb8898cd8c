# %% promised-rho: the noise before a record protects it
def promised_rho(step_sizes, noise_scales):
    prefix = np.cumsum(np.asarray(noise_scales, dtype=float) ** 2)
    return np.asarray(step_sizes, dtype=float) ** 2 / prefix


# %% promised-rho: the standard deviations add up
def promised_rho(step_sizes, noise_scales):
    suffix = np.cumsum(np.asarray(noise_scales, dtype=float)[::-1])[::-1] ** 2
    return np.asarray(step_sizes, dtype=float) ** 2 / suffix


# %% promised-rho (at most 0 points): an attack: the function of the library
def promised_rho(step_sizes, noise_scales):
    from dpdynamics.accounting import one_pass_zcdp_by_record

    return one_pass_zcdp_by_record(step_sizes, noise_scales)


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


# %% personal-noise (at most 0 points): an attack: the function of the library
def personal_noise(step_sizes, budgets):
    from dpdynamics.accounting import optimal_noise_schedule

    return optimal_noise_schedule(np.asarray(step_sizes) / np.sqrt(budgets), rho=1.0)


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


# %% audit (at most 0 points): an attack: always the median of all values
def audit(p, q, confidence):
    line = np.median(np.concatenate([p, q]))
    hits, alarms = int(np.sum(p > line)), int(np.sum(q > line))
    level = (1 - confidence) / 2
    low = stats.beta.ppf(level, hits, len(p) - hits + 1) if hits else 0.0
    high = stats.beta.isf(level, alarms + 1, len(q) - alarms) if alarms < len(q) else 1.0
    if low <= 0 or high >= 1:
        return 0.0
    return max(0.0, float(stats.norm.ppf(low) - stats.norm.ppf(high)))


# %% hidden-mu (at most 0 points): an attack: the library where the noise is constant, a search where the run is short
def hidden_mu(shifts, noises):
    from dpdynamics import accounting

    s, t = np.asarray(shifts, float), np.asarray(noises, float)
    S, V = np.cumsum(s), np.cumsum(t**2)
    n, best = len(s), np.inf
    if n > 8:
        return np.sqrt(
            accounting.hidden_state_rdp(
                step_size=1.0,
                smoothness=1.0,
                sensitivity=s,
                noise_std=float(np.sqrt(np.mean(t**2))),
                steps=n,
                orders=2.0,
            )
        )
    for mask in range(2 ** (n - 1)):
        ends = [k for k in range(n - 1) if mask >> k & 1] + [n - 1]
        knots = np.array([[0.0, 0.0], *([V[k], S[k]] for k in ends)])
        rise, run = np.diff(knots, axis=0)[:, 1], np.diff(knots, axis=0)[:, 0]
        if np.any((run == 0) & (rise > 0)):
            continue
        rise, run = rise[run > 0], run[run > 0]
        steps = np.searchsorted(knots[:, 0], V).clip(1, len(knots) - 1)
        left, right = knots[steps - 1], knots[steps]
        share = (V - left[:, 0]) / np.maximum(right[:, 0] - left[:, 0], 1e-300)
        if np.all(left[:, 1] + share * (right[:, 1] - left[:, 1]) <= S + 1e-12):
            best = min(best, np.sum(rise**2 / run))
    return np.sqrt(best)


# %% gap-after-a-step (at most 0 points): an attack: always the record of the example
def gap_after(first, second, x, y, step, clip_norm):
    """Return the distance of the two runs after the step."""
    x = 2.0
    rate = min(step, 2 / x**2)
    moved = [t - rate * np.clip((x * t - y) * x, -clip_norm, clip_norm) for t in (first, second)]
    return abs(moved[0] - moved[1])


# %% gap-after-a-step (at most 0 points): an attack: the function of the library
def gap_after(first, second, x, y, step, clip_norm):
    from dpdynamics.dynamics import one_pass_step

    ends = one_pass_step([[first], [second]], [[x], [x]], [y, y], step, clip_norm)
    return abs(ends[0, 0] - ends[1, 0])


# %% audit (all points): every second run counts
def audit(p, q, confidence):
    from scipy import special

    p, q = np.asarray(p, float), np.asarray(q, float)
    lines = np.linspace(*np.quantile(np.concatenate([p[::2], q[::2]]), [0.04, 0.96]), 80)
    shares = [[(np.sum(u[::2] > h) + 1) / (len(u[::2]) + 2) for h in lines] for u in (p, q)]
    line = lines[np.argmax(stats.norm.ppf(shares[0]) - stats.norm.ppf(shares[1]))]

    (hits, m), (alarms, n) = ((np.sum(u[1::2] > line), len(u[1::2])) for u in (p, q))
    tail = (1 - confidence) / 2
    low = special.betaincinv(hits, m - hits + 1, tail) if hits else 0.0
    high = special.betaincinv(alarms + 1, n - alarms, 1 - tail) if alarms < n else 1.0
    bound = special.ndtri(low) - special.ndtri(high)
    return max(0.0, float(bound)) if np.isfinite(bound) else 0.0


# %% audit (at most 0 points): an attack: the function of the library
def audit(p, q, confidence):
    from dpdynamics.divergence import audit_mu

    return audit_mu(p, q, confidence=confidence, rng=np.random.default_rng(1)).lower_bound


# %% hidden-mu (all points): from corner to corner, always along the smallest slope
def hidden_mu(shifts, noises):
    S, V = np.cumsum(shifts, dtype=float), np.cumsum(np.square(noises, dtype=float))
    height = noise = total = 0.0
    k = 0
    while k < len(S):
        rise, run = S[k:] - height, V[k:] - noise
        if rise[-1] <= 0:
            break
        if run[-1] <= 0:
            return np.inf
        slope = np.full(len(rise), np.inf)
        slope[run > 0] = rise[run > 0] / run[run > 0]
        slope[(run <= 0) & (rise <= 0)] = 0.0
        step = int(np.flatnonzero(slope <= slope.min() + 1e-15)[-1])
        if run[step] > 0:
            total += rise[step] ** 2 / run[step]
        height, noise, k = S[k + step], V[k + step], k + step + 1
    return float(np.sqrt(total))
