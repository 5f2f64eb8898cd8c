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
    return accounting.rdp_to_epsilon(orders=orders, rdp=whole, delta=delta)


# %% tuning: the formula of the geometric law
def tuned_epsilon(orders, rdp, mean_runs, shape, delta):
    orders, rdp = np.asarray(orders, float), np.asarray(rdp, float)
    best = np.min((1 - 1 / orders) * rdp + np.log(mean_runs) / orders)
    whole = rdp + 2 * best + np.log(mean_runs) / (orders - 1)
    return accounting.rdp_to_epsilon(orders=orders, rdp=whole, delta=delta)


# %% tuning: the same order in both places
def tuned_epsilon(orders, rdp, mean_runs, shape, delta):
    orders, rdp = np.asarray(orders, float), np.asarray(rdp, float)
    best = (1 - 1 / orders) * rdp + np.log(mean_runs) / orders
    whole = rdp + (1 + shape) * best + np.log(mean_runs) / (orders - 1)
    return accounting.rdp_to_epsilon(orders=orders, rdp=whole, delta=delta)


# %% tuning: composition of the mean number of runs
def tuned_epsilon(orders, rdp, mean_runs, shape, delta):
    rdp = mean_runs * np.asarray(rdp, float)
    return accounting.rdp_to_epsilon(orders=orders, rdp=rdp, delta=delta)


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
