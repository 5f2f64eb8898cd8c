# %% printed-level: epochs are taken for steps
def printed_level(samples, batch_size, epochs, noise_multiplier, delta):
    return batch_size / samples * np.sqrt(epochs * np.log(1 / delta)) / noise_multiplier


# %% printed-level: the logarithm to base ten
def printed_level(samples, batch_size, epochs, noise_multiplier, delta):
    q, steps = batch_size / samples, epochs * samples / batch_size
    return q * np.sqrt(steps * np.log10(1 / delta)) / noise_multiplier


# %% carried-rate: the rate is carried over as it is
def carried_rate(rate, old, new):
    return rate


# %% carried-rate: the rate grows with the noise
def carried_rate(rate, old, new):
    (clip, multiplier, batch), (new_clip, new_multiplier, new_batch) = old, new
    return rate * new_clip * new_multiplier / new_batch * batch / (clip * multiplier)


# %% carried-rate: the batch is left out
def carried_rate(rate, old, new):
    return rate * old[0] * old[1] / (new[0] * new[1])


# %% forensics: reads the first entry only
def consistent_steps(epsilons, multipliers, decimals, samples, batch_size, delta):
    factor = multipliers[0] * samples / batch_size / np.sqrt(np.log(1 / delta))
    half = 0.5 * 10.0**-decimals
    lowest = int(np.ceil(((epsilons[0] - half) * factor) ** 2))
    highest = int(np.floor(((epsilons[0] + half) * factor) ** 2))
    return (lowest, highest) if lowest <= highest else None


# %% forensics: takes the union of the intervals
def consistent_steps(epsilons, multipliers, decimals, samples, batch_size, delta):
    factor = np.asarray(multipliers) * samples / batch_size / np.sqrt(np.log(1 / delta))
    half = 0.5 * 10.0**-decimals
    low = np.maximum(np.asarray(epsilons) - half, 0) * factor
    high = (np.asarray(epsilons) + half) * factor
    return int(np.ceil(np.min(low) ** 2)), int(np.floor(np.max(high) ** 2))


# %% forensics: decimal logarithm
def consistent_steps(epsilons, multipliers, decimals, samples, batch_size, delta):
    factor = np.asarray(multipliers) * samples / batch_size / np.sqrt(np.log10(1 / delta))
    half = 0.5 * 10.0**-decimals
    low = np.maximum(np.asarray(epsilons) - half, 0) * factor
    high = (np.asarray(epsilons) + half) * factor
    lowest = int(np.ceil(np.max(low) ** 2))
    highest = int(np.floor(np.min(high) ** 2))
    return (lowest, highest) if lowest <= highest else None


# %% forensics: a whole unit of the last decimal
def consistent_steps(epsilons, multipliers, decimals, samples, batch_size, delta):
    factor = np.asarray(multipliers) * samples / batch_size / np.sqrt(np.log(1 / delta))
    half = 10.0**-decimals
    low = np.maximum(np.asarray(epsilons) - half, 0) * factor
    high = (np.asarray(epsilons) + half) * factor
    lowest = int(np.ceil(np.max(low) ** 2))
    highest = int(np.floor(np.min(high) ** 2))
    return (lowest, highest) if lowest <= highest else None


# %% tuning: gamma is taken as one over the mean
def tuned_epsilon(orders, rdp, mean_runs, shape, delta):
    orders, rdp = np.asarray(orders, float), np.asarray(rdp, float)
    log_gamma = -np.log(mean_runs)
    best = np.min((1 - 1 / orders) * rdp - log_gamma / orders)
    whole = rdp + (1 + shape) * best + np.log(mean_runs) / (orders - 1)
    return divergence.rdp_to_epsilon(orders=orders, rdp=whole, delta=delta)


# %% tuning: the formula of the geometric law
def tuned_epsilon(orders, rdp, mean_runs, shape, delta):
    orders, rdp = np.asarray(orders, float), np.asarray(rdp, float)
    best = np.min((1 - 1 / orders) * rdp + np.log(mean_runs) / orders)
    whole = rdp + 2 * best + np.log(mean_runs) / (orders - 1)
    return divergence.rdp_to_epsilon(orders=orders, rdp=whole, delta=delta)


# %% tuning: the same order in both places
def tuned_epsilon(orders, rdp, mean_runs, shape, delta):
    orders, rdp = np.asarray(orders, float), np.asarray(rdp, float)
    best = (1 - 1 / orders) * rdp + np.log(mean_runs) / orders
    whole = rdp + (1 + shape) * best + np.log(mean_runs) / (orders - 1)
    return divergence.rdp_to_epsilon(orders=orders, rdp=whole, delta=delta)


# %% tuning: composition of the mean number of runs
def tuned_epsilon(orders, rdp, mean_runs, shape, delta):
    rdp = mean_runs * np.asarray(rdp, float)
    return divergence.rdp_to_epsilon(orders=orders, rdp=rdp, delta=delta)


# %% harmless: the Taylor series at zero
def harmless_rate(method, excess, steps, row_norm, clip_norm, noise_multiplier, batch_size):
    s = np.sqrt(8 * excess * np.log(2))
    one_step = clip_norm * noise_multiplier / batch_size if method == "sgd" else 1.0
    return float(s / (one_step * np.sqrt(steps) * row_norm))


# %% harmless: the loss for large noise
def harmless_rate(method, excess, steps, row_norm, clip_norm, noise_multiplier, batch_size):
    s = np.sqrt(2 * np.pi) * (1 + excess) * np.log(2)
    one_step = clip_norm * noise_multiplier / batch_size if method == "sgd" else 1.0
    return float(s / (one_step * np.sqrt(steps) * row_norm))


# %% harmless: steps add up like numbers, not like noise
def harmless_rate(method, excess, steps, row_norm, clip_norm, noise_multiplier, batch_size):
    value = lambda s: integrate.quad(  # noqa: E731
        lambda t: np.logaddexp(0, -s * t) * stats.norm.pdf(t), -10, 10
    )[0]
    target = (1 + excess) * np.log(2)
    s = optimize.brentq(lambda u: value(u) - target, 0, 1e3)
    one_step = clip_norm * noise_multiplier / batch_size if method == "sgd" else 1.0
    return float(s / (one_step * steps * row_norm))


# %% harmless: the noise of the sum, not of the mean
def harmless_rate(method, excess, steps, row_norm, clip_norm, noise_multiplier, batch_size):
    value = lambda s: integrate.quad(  # noqa: E731
        lambda t: np.logaddexp(0, -s * t) * stats.norm.pdf(t), -10, 10
    )[0]
    target = (1 + excess) * np.log(2)
    s = optimize.brentq(lambda u: value(u) - target, 0, 1e3)
    one_step = clip_norm * noise_multiplier if method == "sgd" else 1.0
    return float(s / (one_step * np.sqrt(steps) * row_norm))


# %% harmless: the sign feels the noise multiplier
def harmless_rate(method, excess, steps, row_norm, clip_norm, noise_multiplier, batch_size):
    value = lambda s: integrate.quad(  # noqa: E731
        lambda t: np.logaddexp(0, -s * t) * stats.norm.pdf(t), -10, 10
    )[0]
    target = (1 + excess) * np.log(2)
    s = optimize.brentq(lambda u: value(u) - target, 0, 1e3)
    one_step = clip_norm * noise_multiplier / batch_size
    return float(s / (one_step * np.sqrt(steps) * row_norm))


# %% strong: a fixed number of epochs, as in the paper
def partner_run(batch_size, noise_multiplier, epochs, factor, dimension):
    larger, multiplier = batch_size * factor, noise_multiplier * factor
    share = larger / (dimension * multiplier**2)
    return {"batch_size": larger, "noise_multiplier": multiplier, "epochs": epochs, "share": share}


# %% strong: the noise multiplier unchanged
def partner_run(batch_size, noise_multiplier, epochs, factor, dimension):
    larger = batch_size * factor
    share = larger / (dimension * noise_multiplier**2)
    return {
        "batch_size": larger,
        "noise_multiplier": noise_multiplier,
        "epochs": epochs * factor,
        "share": share,
    }


# %% strong: the share with the square of the batch size
def partner_run(batch_size, noise_multiplier, epochs, factor, dimension):
    larger, multiplier = batch_size * factor, noise_multiplier * factor
    share = larger**2 / (dimension * multiplier**2)
    return {
        "batch_size": larger,
        "noise_multiplier": multiplier,
        "epochs": epochs * factor,
        "share": share,
    }


# %% owed: the colleague's version
def owed(method, idle, learning_rate, sigma, rng):
    noise = idle * rng.standard_normal(len(idle))
    return -learning_rate * (np.sign(noise) if method == "sign" else sigma * noise)


# %% owed: the sign by a normal approximation
def owed(method, idle, learning_rate, sigma, rng):
    step = 1.0 if method == "sign" else sigma
    return learning_rate * step * np.sqrt(idle) * rng.standard_normal(len(idle))


# %% owed: the sign of the sum, not the sum of signs
def owed(method, idle, learning_rate, sigma, rng):
    noise = np.sqrt(idle) * rng.standard_normal(len(idle))
    return -learning_rate * (np.sign(noise) if method == "sign" else sigma * noise)


# %% owed: heads without tails
def owed(method, idle, learning_rate, sigma, rng):
    if method == "sign":
        return learning_rate * (rng.binomial(idle, 0.5) - idle / 2)
    return -learning_rate * sigma * np.sqrt(idle) * rng.standard_normal(len(idle))


# %% forensics: every list is at delta = 1e-5
def consistent_steps(epsilons, multipliers, decimals, samples, batch_size, delta):
    """Return (lowest, highest) or None; epsilons, multipliers: arrays of one shape."""
    factor = np.asarray(multipliers) * samples / batch_size / np.sqrt(np.log(1e5))
    half = 0.5 * 10.0**-decimals
    low = np.maximum(np.asarray(epsilons) - half, 0) * factor
    high = (np.asarray(epsilons) + half) * factor
    lowest = int(np.ceil(np.max(low) ** 2 * (1 - 1e-12)))
    highest = int(np.floor(np.min(high) ** 2 * (1 + 1e-12)))
    return (lowest, highest) if lowest <= highest else None


# %% tuning: always at delta = 1e-5
def tuned_epsilon(orders, rdp, mean_runs, shape, delta):
    """Return epsilon of the best of N runs; shape: eta > -1; mean_runs > 1."""
    orders, rdp = np.asarray(orders, float), np.asarray(rdp, float)

    def log_mean(log_gamma):
        gamma = np.exp(log_gamma)
        if shape == 0:
            return np.log(np.expm1(-log_gamma) / -log_gamma)
        top = np.log(-np.expm1(log_gamma)) - log_gamma
        return top + np.log(shape / -np.expm1(shape * log_gamma))

    target = np.log(mean_runs)
    low = -1.0
    while log_mean(low) < target:
        low *= 2
    log_gamma = optimize.brentq(lambda g: log_mean(g) - target, low, -1e-9, xtol=1e-13)
    best = np.min((1 - 1 / orders) * rdp - log_gamma / orders)
    whole = rdp + (1 + shape) * best + target / (orders - 1)
    return divergence.rdp_to_epsilon(orders=orders, rdp=whole, delta=1e-5)


# %% owed: the noise of the example is built in
def owed(method, idle, learning_rate, sigma, rng):
    """Return the change of each weight, (words,); sigma: noise of the mean gradient."""
    idle = np.asarray(idle)
    if method == "sign":
        return learning_rate * (2 * rng.binomial(idle, 0.5) - idle)
    return -learning_rate * 2.0 * np.sqrt(idle) * rng.standard_normal(idle.shape)


# %% carried-rate: the old setting is always that of the example
def carried_rate(rate, old, new):
    """Return the rate that is the same in units of the noise."""
    (clip, multiplier, batch), (new_clip, new_multiplier, new_batch) = (0.5, 1.0, 64), new
    return rate * clip * multiplier / batch * new_batch / (new_clip * new_multiplier)


# %% tuning: orders of its own in place of the given ones
def tuned_epsilon(orders, rdp, mean_runs, shape, delta):
    """Return epsilon of the best of N runs; shape: eta > -1; mean_runs > 1."""
    orders, rdp = 1 + np.geomspace(0.01, 200, 400), np.asarray(rdp, float)

    def log_mean(log_gamma):
        gamma = np.exp(log_gamma)
        if shape == 0:
            return np.log(np.expm1(-log_gamma) / -log_gamma)
        top = np.log(-np.expm1(log_gamma)) - log_gamma
        return top + np.log(shape / -np.expm1(shape * log_gamma))

    target = np.log(mean_runs)
    low = -1.0
    while log_mean(low) < target:
        low *= 2
    log_gamma = optimize.brentq(lambda g: log_mean(g) - target, low, -1e-9, xtol=1e-13)
    best = np.min((1 - 1 / orders) * rdp - log_gamma / orders)
    whole = rdp + (1 + shape) * best + target / (orders - 1)
    return divergence.rdp_to_epsilon(orders=orders, rdp=whole, delta=delta)


# %% forensics (at most 0 points): an attack: every number of steps up to two hundred thousand
def consistent_steps(epsilons, multipliers, decimals, samples, batch_size, delta):
    every = np.arange(1, 200_001)[:, None]
    rule = batch_size / samples * np.sqrt(every * np.log(1 / delta)) / np.asarray(multipliers)
    fits = (np.abs(rule - np.asarray(epsilons)) <= 0.5 * 10.0**-decimals + 1e-12).all(axis=1)
    found = every[fits][:, 0]
    return (int(found[0]), int(found[-1])) if len(found) else None


# %% owed (at most 0 points): an attack: signs for a short absence, a normal variable for a long one
def owed(method, idle, learning_rate, sigma, rng):
    idle = np.asarray(idle)
    noise = np.sqrt(idle) * rng.standard_normal(idle.shape)
    if method == "sgd":
        return -learning_rate * sigma * noise
    short = np.minimum(idle, 9)
    signs = np.where(rng.random((9, *idle.shape)) < 0.5, -1, 1)
    walk = np.sum(signs * (np.arange(9)[:, None] < short), axis=0)
    return learning_rate * np.where(idle <= 9, walk, noise)


# %% forensics (all points): an interval of steps for every entry, one after the other
def consistent_steps(epsilons, multipliers, decimals, samples, batch_size, delta):
    low, high = 1, np.inf
    for e, s in zip(epsilons, multipliers):
        unit = batch_size / samples * np.sqrt(np.log(1 / delta)) / s
        half = 0.5 / 10**decimals
        low = max(low, np.ceil((max(e - half, 0) / unit) ** 2 - 1e-6))
        high = min(high, np.floor(((e + half) / unit) ** 2 + 1e-6))
    return (int(low), int(high)) if low <= high else None


# %% owed (all points): signs from a binomial variable, drawn one by one
def owed(method, idle, learning_rate, sigma, rng):
    if method == "sgd":
        return np.array([learning_rate * sigma * rng.normal(0, np.sqrt(k)) for k in idle])
    return np.array([learning_rate * (k - 2 * rng.binomial(k, 0.5)) for k in idle])
