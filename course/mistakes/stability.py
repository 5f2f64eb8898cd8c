# %% stability-of-a-mean: one record less
def stability_of_mean(n, spread, noise, common):
    variance = spread**2 / n**2 + (0 if common else 2 * noise**2)
    return np.sqrt(2 / np.pi * variance)


# %% stability-of-a-mean: the root of the mean square
def stability_of_mean(n, spread, noise, common):
    variance = 2 * spread**2 / n**2 + (0 if common else 2 * noise**2)
    return np.sqrt(variance)


# %% stability-of-a-mean: the noise never cancels
def stability_of_mean(n, spread, noise, common):
    return np.sqrt(2 / np.pi * (2 * spread**2 / n**2 + 2 * noise**2))


# %% kicks-added-up: a kick is expanded in its own step
def kicks_added_up(growths, kicks):
    distance = 0.0
    for growth, kick in zip(growths, kicks):
        distance = (1 + growth) * (distance + kick)
    return distance, np.exp(np.sum(growths)) * np.sum(kicks)


# %% kicks-added-up: the expansions add up like numbers
def kicks_added_up(growths, kicks):
    distance = 0.0
    for t, kick in enumerate(kicks):
        distance += kick * (1 + np.sum(growths[t + 1 :]))
    return distance, np.exp(np.sum(growths)) * np.sum(kicks)


# %% exact-stability: the replacing record is taken uniformly
def exact_stability(algorithm, loss, probabilities, n):
    p, k = np.asarray(probabilities), len(probabilities)
    output = {s: algorithm(s) for s in product(range(k), repeat=n)}
    stability = gap = 0.0
    for s, here in output.items():
        chance = np.prod(p[list(s)])
        fresh = sum(p[z] * loss(z, here) for z in range(k))
        gap += chance * (fresh - sum(loss(z, here) for z in s) / n)
        for i in range(n):
            for z in range(k):
                other = output[s[:i] + (z,) + s[i + 1 :]]
                stability += chance / k * abs(here - other) / n
    return stability, gap


# %% exact-stability: only the first record is replaced
def exact_stability(algorithm, loss, probabilities, n):
    p, k = np.asarray(probabilities), len(probabilities)
    output = {s: algorithm(s) for s in product(range(k), repeat=n)}
    stability = gap = 0.0
    for s, here in output.items():
        chance = np.prod(p[list(s)])
        fresh = sum(p[z] * loss(z, here) for z in range(k))
        gap += chance * (fresh - sum(loss(z, here) for z in s) / n)
        for z in range(k):
            stability += chance * p[z] * abs(here - output[(z,) + s[1:]])
    return stability, gap


# %% exact-stability: conditions on a record that differs
def exact_stability(algorithm, loss, probabilities, n):
    p, k = np.asarray(probabilities), len(probabilities)
    output = {s: algorithm(s) for s in product(range(k), repeat=n)}
    stability = gap = 0.0
    for s, here in output.items():
        chance = np.prod(p[list(s)])
        fresh = sum(p[z] * loss(z, here) for z in range(k))
        gap += chance * (fresh - sum(loss(z, here) for z in s) / n)
        for i in range(n):
            for z in set(range(k)) - {s[i]}:
                other = output[s[:i] + (z,) + s[i + 1 :]]
                stability += chance * p[z] / (1 - p[s[i]]) * abs(here - other) / n
    return stability, gap


# %% coupled-distance: the root mean square
def coupled_distance(n, record_scale, step_size, noise, coupling, steps):
    keep = 1 - step_size
    record = 2 * record_scale**2 / n**2 * (1 - keep**steps) ** 2
    each = 2 * (1 - coupling) * (step_size * noise) ** 2
    noises = each * (1 - keep ** (2 * steps)) / (1 - keep**2)
    return np.sqrt(record + noises)


# %% coupled-distance: 1 - rho^2 for the variance of a difference
def coupled_distance(n, record_scale, step_size, noise, coupling, steps):
    keep = 1 - step_size
    record = 2 * record_scale**2 / n**2 * (1 - keep**steps) ** 2
    each = 2 * (1 - coupling**2) * (step_size * noise) ** 2
    noises = each * (1 - keep ** (2 * steps)) / (1 - keep**2)
    return np.sqrt(2 / np.pi * (record + noises))


# %% coupled-distance: old noise does not decay
def coupled_distance(n, record_scale, step_size, noise, coupling, steps):
    keep = 1 - step_size
    record = 2 * record_scale**2 / n**2 * (1 - keep**steps) ** 2
    noises = 2 * (1 - coupling) * (step_size * noise) ** 2 * steps
    return np.sqrt(2 / np.pi * (record + noises))


# %% coupled-distance: one record in place of the difference of two
def coupled_distance(n, record_scale, step_size, noise, coupling, steps):
    keep = 1 - step_size
    record = record_scale**2 / n**2 * (1 - keep**steps) ** 2
    each = 2 * (1 - coupling) * (step_size * noise) ** 2
    noises = each * (1 - keep ** (2 * steps)) / (1 - keep**2)
    return np.sqrt(2 / np.pi * (record + noises))


# %% gap-by-exchange: the new record is judged
def gap_by_exchange(fit, loss, sample, fresh, seed):
    model, terms = fit(list(sample), seed), []
    for i in range(len(sample)):
        neighbour = list(sample)
        neighbour[i] = fresh[i]
        terms.append(loss(fresh[i], fit(neighbour, seed)) - loss(fresh[i], model))
    return float(np.mean(terms))


# %% gap-by-exchange: a test set
def gap_by_exchange(fit, loss, sample, fresh, seed):
    model = fit(list(sample), seed)
    test = np.mean([loss(z, model) for z in fresh])
    return float(test - np.mean([loss(z, model) for z in sample]))


# %% gap-by-exchange: a new seed for every model
def gap_by_exchange(fit, loss, sample, fresh, seed):
    model, terms = fit(list(sample), seed), []
    for i, record in enumerate(sample):
        neighbour = list(sample)
        neighbour[i] = fresh[i]
        other = fit(neighbour, 10_000 * (seed + 1) + i)
        terms.append(loss(record, other) - loss(record, model))
    return float(np.mean(terms))


# %% gap-by-exchange: records are replaced one after the other
def gap_by_exchange(fit, loss, sample, fresh, seed):
    model, neighbour, terms = fit(list(sample), seed), list(sample), []
    for i, record in enumerate(sample):
        neighbour[i] = fresh[i]
        terms.append(loss(record, fit(list(neighbour), seed)) - loss(record, model))
    return float(np.mean(terms))


# %% gap-by-exchange: the record is left out and the fresh one appended
def gap_by_exchange(fit, loss, sample, fresh, seed):
    model, terms = fit(list(sample), seed), []
    for i, record in enumerate(sample):
        neighbour = sample[:i] + sample[i + 1 :] + [fresh[i]]
        terms.append(loss(record, fit(neighbour, seed)) - loss(record, model))
    return float(np.mean(terms))


# %% failure-probability: batches drawn with replacement
def failure_probability(n, ones, batch, steps, failure, slope, extra):
    level = slope * steps * batch * ones / n + extra * np.log(1 / failure)
    return float(stats.binom.sf(np.floor(level), steps * batch, ones / n))


# %% failure-probability: reaching the level counts as exceeding it
def failure_probability(n, ones, batch, steps, failure, slope, extra):
    one = stats.hypergeom.pmf(np.arange(batch + 1), n, ones, batch)
    mass = np.ones(1)
    for _ in range(steps):
        mass = np.convolve(mass, one)
    level = slope * steps * batch * ones / n + extra * np.log(1 / failure)
    return float(mass[int(np.floor(level)) :].sum())


# %% failure-probability: a normal approximation
def failure_probability(n, ones, batch, steps, failure, slope, extra):
    mean = steps * batch * ones / n
    variance = mean * (1 - ones / n) * (n - batch) / (n - 1)
    level = slope * mean + extra * np.log(1 / failure)
    return float(stats.norm.sf(level, mean, np.sqrt(variance) + 1e-12))


# %% failure-probability: the additive term is not in units of the batch
def failure_probability(n, ones, batch, steps, failure, slope, extra):
    one = stats.hypergeom.pmf(np.arange(batch + 1), n, ones, batch)
    mass = np.ones(1)
    for _ in range(steps):
        mass = np.convolve(mass, one)
    level = slope * steps * batch * ones / n + extra * np.log(1 / failure) / batch
    return float(mass[int(np.floor(level)) + 1 :].sum())


# %% gap-by-exchange: half the square in place of the given loss
def gap_by_exchange(fit, loss, sample, fresh, seed):
    """Return an unbiased estimate of the generalisation gap, a number.

    sample, fresh: lists of n records each; fit(list of n records, integer) -> model;
    loss(record, model) -> number.
    """
    model, terms = fit(list(sample), seed), []
    for i, record in enumerate(sample):
        neighbour = list(sample)
        neighbour[i] = fresh[i]
        terms.append(((record - fit(neighbour, seed)) ** 2 - (record - model) ** 2) / 2)
    return float(np.mean(terms))
