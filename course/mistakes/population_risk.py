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


# %% worst-excess: the solver's default bounds
def worst_excess(term, rate, admissible):
    term, rate, admissible = (np.atleast_2d(a) for a in (term, rate, admissible))
    excess = (term[:, None] - rate[None]).reshape(-1, term.shape[1])
    matrix = np.block(
        [
            [-excess[:, 1:], np.ones((len(excess), 1))],
            [-admissible[:, 1:], np.zeros((len(admissible), 1))],
        ]
    )
    level = np.r_[excess[:, 0], admissible[:, 0]]
    goal = np.r_[np.zeros(term.shape[1] - 1), -1.0]
    found = optimize.linprog(goal, matrix, level)
    return (np.inf, None) if found.status == 3 else (found.x[-1], found.x[:-1])


# %% worst-excess: free excess, but exponents at least zero
def worst_excess(term, rate, admissible):
    term, rate, admissible = (np.atleast_2d(a) for a in (term, rate, admissible))
    excess = (term[:, None] - rate[None]).reshape(-1, term.shape[1])
    matrix = np.block(
        [
            [-excess[:, 1:], np.ones((len(excess), 1))],
            [-admissible[:, 1:], np.zeros((len(admissible), 1))],
        ]
    )
    level = np.r_[excess[:, 0], admissible[:, 0]]
    k = term.shape[1] - 1
    free = [(0, None)] * k + [(None, None)]
    found = optimize.linprog(np.r_[np.zeros(k), -1.0], matrix, level, bounds=free)
    return (np.inf, None) if found.status == 3 else (found.x[-1], found.x[:-1])


# %% worst-excess: one programme for each pair, and the largest of them
def worst_excess(term, rate, admissible):
    term, rate, admissible = (np.atleast_2d(a) for a in (term, rate, admissible))
    best, point = -np.inf, None
    for a in term:
        for b in rate:
            found = optimize.linprog(
                -(a - b)[1:], -admissible[:, 1:], admissible[:, 0], bounds=(None, None)
            )
            if found.status == 3:
                return np.inf, None
            value = (a - b)[0] - found.fun
            if value > best:
                best, point = value, found.x
    return best, point


# %% worst-excess: random search
def worst_excess(term, rate, admissible):
    term, rate, admissible = (np.atleast_2d(a) for a in (term, rate, admissible))
    x = np.random.default_rng(0).uniform(0, 1, (20_000, term.shape[1]))
    x[:, 0] = 1
    x = x[np.all(x @ admissible.T >= 0, axis=1)]
    values = np.min(x @ term.T, axis=1) - np.max(x @ rate.T, axis=1)
    k = np.argmax(values)
    return values[k], x[k, 1:]


# %% delta-below: the record takes part with probability 1/T in every step
def delta_below(noise_multiplier, steps, epsilon):
    last = 12 + 1 / noise_multiplier + epsilon * noise_multiplier
    v = np.linspace(-10, last, 400_001)
    none = special.ndtr(v)
    once = (1 - 1 / steps) * none + special.ndtr(v - 1 / noise_multiplier) / steps
    return float(max(0, np.max(1 - once**steps - np.exp(epsilon) * (1 - none**steps))))


# %% delta-below: the threshold halfway
def delta_below(noise_multiplier, steps, epsilon):
    v = 0.5 / noise_multiplier
    none, once = special.log_ndtr([v, v - 1 / noise_multiplier])
    found = -np.expm1((steps - 1) * none + once)
    return float(max(0, found + np.exp(epsilon) * np.expm1(steps * none)))


# %% delta-below: the factor exp(epsilon) is forgotten
def delta_below(noise_multiplier, steps, epsilon):
    v = np.linspace(-10, 12 + 1 / noise_multiplier, 400_001)
    none, once = special.log_ndtr(v), special.log_ndtr(v - 1 / noise_multiplier)
    return float(np.max(np.exp(steps * none) - np.exp((steps - 1) * none + once)))


# %% delta-below: looks at the one step in which the record took part
def delta_below(noise_multiplier, steps, epsilon):
    a, b = 0.5 / noise_multiplier, epsilon * noise_multiplier
    return float(special.ndtr(a - b) - np.exp(epsilon) * special.ndtr(-a - b))


# %% worst-excess (at most 0 points): an attack: a box of a hundred stands for infinity
def worst_excess(term, rate, admissible):
    term, rate, admissible = (np.atleast_2d(a) for a in (term, rate, admissible))
    excess = (term[:, None] - rate[None]).reshape(-1, term.shape[1])
    k = term.shape[1] - 1
    matrix = np.block([
        [-excess[:, 1:], np.ones((len(excess), 1))],
        [-admissible[:, 1:], np.zeros((len(admissible), 1))],
    ])  # fmt: skip
    level = np.r_[excess[:, 0], admissible[:, 0]]
    found = optimize.linprog(np.r_[np.zeros(k), -1.0], matrix, level, bounds=(-100, 100))
    if found.x[-1] > 50:
        return np.inf, None
    return float(found.x[-1]), found.x[:-1]
