# %% add-and-convert: every step is converted, then added
def add_and_convert(orders, divergences, steps, delta):
    every = steps * (np.asarray(divergences) + np.log(1 / delta) / (np.asarray(orders) - 1))
    best = int(np.argmin(every))
    return every[best], orders[best]


# %% add-and-convert: the order stands below delta, not the order less one
def add_and_convert(orders, divergences, steps, delta):
    every = steps * np.asarray(divergences) + np.log(1 / delta) / np.asarray(orders)
    best = int(np.argmin(every))
    return every[best], orders[best]


# %% add-and-convert (at most 0 points): an attack: the function of the library
def add_and_convert(orders, divergences, steps, delta):
    from dpdynamics.divergence import rdp_to_epsilon

    total = steps * np.asarray(divergences)
    arguments = {"delta": delta, "conversion": "mironov"}
    every = [rdp_to_epsilon(orders=[a], rdp=[b], **arguments) for a, b in zip(orders, total)]
    return min(zip(every, orders))


# %% two-answers: the tail of the loss
def two_answers(truth, epsilon):
    loss = np.log(truth / (1 - truth)) * np.array([2, 0, -2])
    probability = np.array([truth**2, 2 * truth * (1 - truth), (1 - truth) ** 2])
    return float(np.sum(probability[loss > epsilon]))


# %% two-answers: the deltas of single answers are added
def two_answers(truth, epsilon):
    return 2 * max(truth - np.exp(epsilon) * (1 - truth), 0.0)


# %% sampled-rdp: q times the divergence
def sampled_rdp(base, sampling_probability, order):
    return sampling_probability * base(order)


# %% sampled-rdp: the terms j = 0 and 1 are dropped
def sampled_rdp(base, sampling_probability, order):
    q, n = sampling_probability, order
    total = sum(
        special.comb(n, j) * q**j * (1 - q) ** (n - j) * np.exp((j - 1) * base(j))
        for j in range(2, n + 1)
    )
    return max(np.log(total), 0) / (n - 1)


# %% sampled-rdp: the moment is exp(j D_j)
def sampled_rdp(base, sampling_probability, order):
    q, n = sampling_probability, order
    if q == 1:
        return base(n)
    terms = [
        special.comb(n, j) * q**j * (1 - q) ** (n - j) * np.exp(j * base(j) if j > 1 else 0)
        for j in range(n + 1)
    ]
    return np.log(sum(terms)) / (n - 1)


# %% bits-delta: the record takes part in all steps or in none
def bits_delta(sampling_probability, epsilon_0, steps, epsilon, direction):
    pi, q, k = special.expit(epsilon_0), sampling_probability, np.arange(steps + 1)
    second = stats.binom.pmf(k, steps, 1 - pi)
    first = q * stats.binom.pmf(k, steps, pi) + (1 - q) * second
    if direction == "add":
        first, second = second, first
    return np.maximum(first - np.exp(epsilon) * second, 0).sum()


# %% bits-delta: the tail of the loss
def bits_delta(sampling_probability, epsilon_0, steps, epsilon, direction):
    pi, k = special.expit(epsilon_0), np.arange(steps + 1)
    r = sampling_probability * pi + (1 - sampling_probability) * (1 - pi)
    first, second = stats.binom.pmf(k, steps, r), stats.binom.pmf(k, steps, 1 - pi)
    if direction == "add":
        first, second = second, first
    return first[first > np.exp(epsilon) * second * (1 + 1e-12)].sum()


# %% bits-delta: the direction is ignored
def bits_delta(sampling_probability, epsilon_0, steps, epsilon, direction):
    pi, k = special.expit(epsilon_0), np.arange(steps + 1)
    r = sampling_probability * pi + (1 - sampling_probability) * (1 - pi)
    first, second = stats.binom.pmf(k, steps, r), stats.binom.pmf(k, steps, 1 - pi)
    return np.maximum(first - np.exp(epsilon) * second, 0).sum()


# %% invert: the pole at minus one is forgotten, which gives another payoff
def invert(log_transform, epsilon):
    c, t = 1.0, np.arange(-400, 400, 1e-3)
    z = c + 1j * t
    return np.sum(np.real(np.exp(log_transform(z) - epsilon * z) / z)) * 1e-3 / (2 * np.pi)


# %% invert: half of the line is counted once
def invert(log_transform, epsilon):
    z = 1.0 + 1j * np.arange(5e-4, 200, 1e-3)
    values = np.exp(log_transform(z) - epsilon * z) / (z * (z + 1))
    return np.sum(np.real(values)) * 1e-3 / (2 * np.pi)


# %% invert: a fixed line, on which tiny results are sums of large terms
def invert(log_transform, epsilon):
    z = 0.5 + 1j * np.arange(5e-4, 100, 1e-3)
    values = np.exp(log_transform(z) - epsilon * z) / (z * (z + 1))
    return np.sum(np.real(values)) * 1e-3 / np.pi


# %% invert: the line through one, finely and far
def invert(log_transform, epsilon):
    z = 1.0 + 1j * np.arange(5e-4, 200, 1e-3)
    values = np.exp(log_transform(z) - epsilon * z) / (z * (z + 1))
    return np.sum(np.real(values)) * 1e-3 / np.pi


# %% broken-run: many participations and much noise, where the formula errs little
def broken_run(sampling_probability):
    return 20.0, int(4 / sampling_probability**2), 1e-5


# %% broken-run: a short run with little noise, outside the condition
def broken_run(sampling_probability):
    return 1.0, int(0.5 / sampling_probability**2), 1e-5


# %% broken-run: a number of steps that suits one sampling probability only
def broken_run(sampling_probability):
    return 1.2, 40_000, 1e-5


# %% audit: the threshold is chosen and counted on the same runs
def audit(with_record, without_record, delta, confidence, rng):
    n, tail = len(with_record), (1 - confidence) / 2
    cuts = np.quantile(np.concatenate([with_record, without_record]), np.linspace(0, 0.99, 100))
    a, b = (np.sum(x[:, None] > cuts, axis=0) for x in (with_record, without_record))
    low = np.where(a > 0, stats.beta.ppf(tail, np.maximum(a, 1), n - a + 1), 0.0)
    high = np.where(b < n, stats.beta.ppf(1 - tail, b + 1, np.maximum(n - b, 1)), 1.0)
    return max(0.0, np.log(np.maximum(low - delta, 1e-300) / high).max())


# %% audit: one of ten thresholds is chosen on the runs that it counts
def audit(with_record, without_record, delta, confidence, rng):
    n, tail = len(with_record), (1 - confidence) / 2
    cuts = np.quantile(np.concatenate([with_record, without_record]), np.linspace(0.02, 0.98, 10))
    a, b = (np.sum(x[:, None] > cuts, axis=0) for x in (with_record, without_record))
    low = np.where(a > 0, stats.beta.ppf(tail, np.maximum(a, 1), n - a + 1), 0.0)
    high = np.where(b < n, stats.beta.ppf(1 - tail, b + 1, np.maximum(n - b, 1)), 1.0)
    return max(0.0, np.log(np.maximum(low - delta, 1e-300) / high).max())


# %% audit: frequencies in place of confidence limits
def audit(with_record, without_record, delta, confidence, rng):
    n = len(with_record) // 2
    c = np.median(np.concatenate([with_record[:n], without_record[:n]]))
    a, b = np.mean(with_record[n:] > c), np.mean(without_record[n:] > c)
    return max(0.0, np.log((a - delta) / max(b, 1 / n))) if a > delta else 0.0


# %% audit: delta is forgotten
def audit(with_record, without_record, delta, confidence, rng):
    n, tail = len(with_record) // 3, (1 - confidence) / 2
    p, q = with_record[n:], without_record[n:]
    pool = np.concatenate([with_record[:n], without_record[:n]])
    best, cut = -1.0, 0.0
    for c in np.unique(np.quantile(pool, np.linspace(0, 0.99, 100))):
        a, b = np.mean(with_record[:n] > c), np.mean(without_record[:n] > c)
        gain = np.log((a + 0.01) / (b + 0.01)) if a * n > 20 else -1.0
        if gain > best:
            best, cut = gain, c
    a, b = np.sum(p > cut), np.sum(q > cut)
    low = stats.beta.ppf(tail, a, len(p) - a + 1) if a else 0.0
    high = stats.beta.ppf(1 - tail, b + 1, len(q) - b) if b < len(q) else 1.0
    return max(0.0, np.log(low / high)) if low > 0 else 0.0


# %% audit: the confidence is always 95 per cent
def audit(with_record, without_record, delta, confidence, rng):
    """Return a lower confidence bound on epsilon."""
    first, second = rng.permutation(with_record), rng.permutation(without_record)
    cut_1, cut_2 = len(first) // 3, len(second) // 3
    tail = 0.025

    def bounds(a, b, thresholds):
        hits_a = np.sum(a[:, None] > thresholds, axis=0)
        hits_b = np.sum(b[:, None] > thresholds, axis=0)
        low = np.zeros(len(thresholds))
        some = hits_a > 0
        low[some] = stats.beta.ppf(tail, hits_a[some], len(a) - hits_a[some] + 1)
        high = np.ones(len(thresholds))
        rest = hits_b < len(b)
        high[rest] = stats.beta.ppf(1 - tail, hits_b[rest] + 1, len(b) - hits_b[rest])
        return np.log(np.maximum(low - delta, 1e-300) / high)

    pool = np.concatenate([first[:cut_1], second[:cut_2]])
    choices = np.quantile(pool, np.linspace(0.02, 0.98, 49))
    best = np.argmax(bounds(first[:cut_1], second[:cut_2], choices))
    value = bounds(first[cut_1:], second[cut_2:], choices[best : best + 1])[0]
    return float(max(0.0, value))


# %% audit (at most 0 points): an attack: always the median of all scores
def audit(with_record, without_record, delta, confidence, rng):
    first, second = np.asarray(with_record), np.asarray(without_record)
    line = np.quantile(np.concatenate([first, second]), 0.5)
    hits, alarms = np.sum(first > line), np.sum(second > line)
    tail = (1 - confidence) / 2
    low = stats.beta.ppf(tail, hits, len(first) - hits + 1) if hits else 0.0
    high = 1.0
    if alarms < len(second):
        high = stats.beta.ppf(1 - tail, alarms + 1, len(second) - alarms)
    return max(0.0, float(np.log(max(low - delta, 1e-300) / high)))


# %% audit (at most 0 points): an attack: always the same high quantile of all scores
def audit(with_record, without_record, delta, confidence, rng):
    first, second = np.asarray(with_record), np.asarray(without_record)
    line = np.quantile(np.concatenate([first, second]), 0.97)
    hits, alarms = np.sum(first > line), np.sum(second > line)
    tail = (1 - confidence) / 2
    low = stats.beta.ppf(tail, hits, len(first) - hits + 1) if hits else 0.0
    high = 1.0
    if alarms < len(second):
        high = stats.beta.ppf(1 - tail, alarms + 1, len(second) - alarms)
    return max(0.0, float(np.log(max(low - delta, 1e-300) / high)))


# %% audit (all points): halves, and thresholds one by one
def audit(with_record, without_record, delta, confidence, rng):
    first, second = rng.permutation(with_record), rng.permutation(without_record)
    a, b = len(first) // 2, len(second) // 2
    best = (-np.inf, 0.0)
    for line in np.quantile(np.concatenate([first[:a], second[:b]]), np.linspace(0.01, 0.99, 99)):
        share = (np.sum(first[:a] > line) - 3 * np.sqrt(a) / 10) / a - delta
        other = (np.sum(second[:b] > line) + 5) / b
        best = max(best, (np.log(max(share, 1e-9) / other), line))
    hits, alarms = np.sum(first[a:] > best[1]), np.sum(second[b:] > best[1])
    m, n, miss = len(first) - a, len(second) - b, (1 - confidence) / 2
    low = special.betaincinv(hits, m - hits + 1, miss) if hits else 0.0
    high = special.betaincinv(alarms + 1, n - alarms, 1 - miss) if alarms < n else 1.0
    return max(0.0, float(np.log(max(low - delta, 1e-300) / high)))


# %% audit (at most 0 points): an attack: the function of the library
def audit(with_record, without_record, delta, confidence, rng):
    from dpdynamics.divergence import audit_epsilon

    found = audit_epsilon(with_record, without_record, delta=delta, confidence=confidence, rng=rng)
    return found.lower_bound
