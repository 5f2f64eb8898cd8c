# %% limit-mu: the noise of one step at full batches
def limit_mu(sampling_probability, noise_multiplier, steps):
    return sampling_probability * np.sqrt(steps) / noise_multiplier


# %% limit-mu: mu adds up, not its square
def limit_mu(sampling_probability, noise_multiplier, steps):
    return sampling_probability * steps * np.sqrt(np.expm1(1 / noise_multiplier**2)) / 100


# %% two-shares: delta is forgotten
def proved(hits, alarms, delta):
    return max(0.0, float(np.log(hits / alarms)))


# %% two-shares: delta is added to the alarms
def proved(hits, alarms, delta):
    return max(0.0, float(np.log(hits / (alarms + delta))))


# %% write-recipe: the runs that were tried are not counted
def write_recipe(samples, batch_size, epochs, epsilon, delta, tried=1):
    if delta >= 1 / samples:
        raise ValueError("delta")
    share, steps = batch_size / samples, round(epochs * samples / batch_size)
    noise = accounting.Poisson(sampling_probability=share, steps=steps).noise_for(
        epsilon=epsilon, delta=delta
    )
    return dict(
        samples=samples,
        batch_size=batch_size,
        sampling_probability=share,
        steps=steps,
        noise_multiplier=noise,
        epsilon=epsilon,
        delta=delta,
        tried=tried,
        sampling="poisson",
        relation="add_remove",
    )


# %% write-recipe: the budget is divided by the number of runs
def write_recipe(samples, batch_size, epochs, epsilon, delta, tried=1):
    if delta >= 1 / samples:
        raise ValueError("delta")
    share, steps = batch_size / samples, round(epochs * samples / batch_size)
    noise = accounting.Poisson(sampling_probability=share, steps=steps).noise_for(
        epsilon=epsilon / tried, delta=delta / tried
    )
    return dict(
        samples=samples,
        batch_size=batch_size,
        sampling_probability=share,
        steps=steps,
        noise_multiplier=noise,
        epsilon=epsilon,
        delta=delta,
        tried=tried,
        sampling="poisson",
        relation="add_remove",
    )


# %% write-recipe: one direction only
def write_recipe(samples, batch_size, epochs, epsilon, delta, tried=1):
    if delta >= 1 / samples:
        raise ValueError("delta")
    share, steps = batch_size / samples, round(epochs * samples / batch_size)
    noise = accounting.Poisson(
        sampling_probability=share, steps=steps * tried, relation="add"
    ).noise_for(epsilon=epsilon, delta=delta)
    return dict(
        samples=samples,
        batch_size=batch_size,
        sampling_probability=share,
        steps=steps,
        noise_multiplier=noise,
        epsilon=epsilon,
        delta=delta,
        tried=tried,
        sampling="poisson",
        relation="add_remove",
    )


# %% write-recipe: no amplification by sampling
def write_recipe(samples, batch_size, epochs, epsilon, delta, tried=1):
    if delta >= 1 / samples:
        raise ValueError("delta")
    share, steps = batch_size / samples, round(epochs * samples / batch_size)
    one = divergence.gaussian_noise_multiplier(epsilon=epsilon, delta=delta)
    return dict(
        samples=samples,
        batch_size=batch_size,
        sampling_probability=share,
        steps=steps,
        noise_multiplier=one * np.sqrt(steps * tried),
        epsilon=epsilon,
        delta=delta,
        tried=tried,
        sampling="poisson",
        relation="add_remove",
    )


# %% train-runs: the default sampling
def train_runs(train, recipe, learning_rate, clip_norm, runs, rng):
    trainers = []
    for child in rng.spawn(runs):
        trainer = SparseTrainer(
            train,
            optimizer="sgd",
            learning_rate=learning_rate,
            clip_norm=clip_norm,
            noise_multiplier=recipe["noise_multiplier"],
            rng=child,
            batch_size=recipe["batch_size"],
        )
        trainer.advance(recipe["steps"])
        trainers.append(trainer)
    return trainers


# %% train-runs: the noise of the recipe over the clip norm
def train_runs(train, recipe, learning_rate, clip_norm, runs, rng):
    trainers = []
    for child in rng.spawn(runs):
        trainer = SparseTrainer(
            train,
            optimizer="sgd",
            learning_rate=learning_rate,
            clip_norm=clip_norm,
            noise_multiplier=recipe["noise_multiplier"] * clip_norm,
            rng=child,
            batch_size=recipe["batch_size"],
            sampling="poisson",
        )
        trainer.advance(recipe["steps"])
        trainers.append(trainer)
    return trainers


# %% train-runs: every run starts the generator again
def train_runs(train, recipe, learning_rate, clip_norm, runs, rng):
    trainers = []
    for _ in range(runs):
        trainer = SparseTrainer(
            train,
            optimizer="sgd",
            learning_rate=learning_rate,
            clip_norm=clip_norm,
            noise_multiplier=recipe["noise_multiplier"],
            rng=np.random.default_rng(0),
            batch_size=recipe["batch_size"],
            sampling="poisson",
        )
        trainer.advance(recipe["steps"])
        trainers.append(trainer)
    return trainers


# %% accuracy-interval: every entry as an independent trial
def accuracy_interval(right, confidence=0.95):
    right = np.asarray(right, float)
    if len(right) < 2:
        raise ValueError("runs")
    error = right.std() / np.sqrt(right.size)
    return right.mean(), stats.norm.ppf((1 + confidence) / 2) * error


# %% accuracy-interval: only the runs
def accuracy_interval(right, confidence=0.95):
    rates = np.mean(right, axis=1)
    if len(rates) < 2:
        raise ValueError("runs")
    error = rates.std(ddof=1) / np.sqrt(len(rates))
    return rates.mean(), stats.t.ppf((1 + confidence) / 2, len(rates) - 1) * error


# %% accuracy-interval: only the test records
def accuracy_interval(right, confidence=0.95):
    if len(right) < 2:
        raise ValueError("runs")
    rates = np.mean(right, axis=0)
    error = rates.std(ddof=1) / np.sqrt(len(rates))
    return rates.mean(), stats.norm.ppf((1 + confidence) / 2) * error


# %% accuracy-interval: the spread of a run in place of that of the mean
def accuracy_interval(right, confidence=0.95):
    right = np.asarray(right, float)
    if len(right) < 2:
        raise ValueError("runs")
    spread = right.mean(axis=1).var(ddof=1) + right.mean(axis=0).var(ddof=1)
    return right.mean(), 2 * np.sqrt(spread)


# %% trivial-probabilities: twice the exponent that is allowed
def trivial_probabilities(counts, epsilon):
    return special.softmax(2 * epsilon * np.asarray(counts, float))


# %% trivial-probabilities: the shares of the classes
def trivial_probabilities(counts, epsilon):
    counts = np.asarray(counts, float) + 1e-3
    return counts / counts.sum()


# %% trivial-probabilities: exponentials that overflow
def trivial_probabilities(counts, epsilon):
    powers = np.exp(epsilon * np.asarray(counts, float) / 2)
    return powers / powers.sum()


# %% trivial-probabilities: randomised response around the true majority
def trivial_probabilities(counts, epsilon):
    chances = np.ones(len(counts))
    chances[np.argmax(counts)] = np.exp(epsilon)
    return chances / chances.sum() * (1 + 1e-12 * np.asarray(counts))


# %% epsilon-below: the threshold is chosen on the runs that are counted
def epsilon_below(scores_with, scores_without, delta, confidence):
    first, second = np.asarray(scores_with), np.asarray(scores_without)
    miss = (1 - confidence) / 2
    levels = np.quantile(np.r_[first, second], np.linspace(0.01, 0.99, 99))
    hits, false = (np.sum(x[:, None] > levels, axis=0) for x in (first, second))
    low = stats.beta.ppf(miss, hits, len(first) - hits + 1)
    high = stats.beta.ppf(1 - miss, false + 1, len(second) - false)
    return np.nanmax(np.log((low - delta) / high), initial=0.0)


# %% epsilon-below: no interval, the plain shares
def epsilon_below(scores_with, scores_without, delta, confidence):
    level = np.median(scores_without) + 1
    hit, false = np.mean(scores_with > level), np.mean(scores_without > level)
    return max(0.0, np.log(max(hit - delta, 1e-9) / max(false, 1e-9)))


# %% epsilon-below: delta is forgotten
def epsilon_below(scores_with, scores_without, delta, confidence):
    first, second = np.asarray(scores_with), np.asarray(scores_without)
    a, b, miss = len(first) // 2, len(second) // 2, (1 - confidence) / 2

    def bound(x, y, level):
        hits, false = (np.sum(scores[:, None] > level, axis=0) for scores in (x, y))
        low = np.where(hits, stats.beta.ppf(miss, hits, len(x) - hits + 1), 1e-300)
        return np.log(low / stats.beta.ppf(1 - miss, false + 1, len(y) - false))

    levels = np.quantile(np.r_[first[:a], second[:b]], np.linspace(0.01, 0.99, 99))
    best = levels[np.nanargmax(bound(first[:a], second[:b], levels))]
    return max(0.0, bound(first[a:], second[b:], best)[0])


# %% canary-scores: the record takes part in every step
def canary_scores(recipe, runs, rng):
    sigma, steps = recipe["noise_multiplier"], recipe["steps"]
    noise = sigma * rng.standard_normal((2, runs, steps))
    return (noise[0] + 1).sum(axis=1), noise[1].sum(axis=1)


# %% canary-scores: only the last step
def canary_scores(recipe, runs, rng):
    sigma, q = recipe["noise_multiplier"], recipe["sampling_probability"]
    drawn = rng.random(runs) < q
    noise = sigma * rng.standard_normal((2, runs))
    return noise[0] + drawn, noise[1]


# %% canary-scores: the noise is divided by the number of steps
def canary_scores(recipe, runs, rng):
    sigma, q, steps = (recipe[k] for k in ("noise_multiplier", "sampling_probability", "steps"))
    drawn = rng.random((runs, steps)) < q
    noise = sigma / np.sqrt(steps) * rng.standard_normal((2, runs, steps))
    return (drawn + noise[0]).sum(axis=1), noise[1].sum(axis=1)


# %% epsilon-below: scores without the record are taken to be standard normal
def epsilon_below(scores_with, scores_without, delta, confidence):
    """Return a lower bound for epsilon, at least zero, a number."""
    first, second = np.asarray(scores_with, float), np.asarray(scores_without, float)
    a, b = len(first) // 2, len(second) // 2
    miss = (1 - confidence) / 2

    def bound(hits, n, false, m):
        low = np.where(hits > 0, stats.beta.ppf(miss, hits, n - hits + 1), 0.0)
        high = np.where(false < m, stats.beta.ppf(1 - miss, false + 1, m - false), 1.0)
        return np.log(np.maximum(low - delta, 1e-300) / high)

    levels = np.quantile(np.r_[first[:a], second[:b]], np.linspace(0.01, 0.999, 200))
    hits = np.sum(first[:a, None] > levels, axis=0)
    false = np.sum(second[:b, None] > levels, axis=0)
    with np.errstate(invalid="ignore"):
        level = levels[np.nanargmax(bound(hits, a, false, b))]
    hits = np.sum(first[a:] > level)
    false = np.floor(stats.norm.sf(level) * (len(second) - b))
    with np.errstate(invalid="ignore"):
        found = bound(hits, len(first) - a, false, len(second) - b)
    return float(max(0.0, found))


# %% epsilon-below: the confidence is always 99.9 per cent
def epsilon_below(scores_with, scores_without, delta, confidence):
    """Return a lower bound for epsilon, at least zero, a number."""
    first, second = np.asarray(scores_with, float), np.asarray(scores_without, float)
    a, b = len(first) // 2, len(second) // 2
    miss = 0.0005

    def bound(hits, n, false, m):
        low = np.where(hits > 0, stats.beta.ppf(miss, hits, n - hits + 1), 0.0)
        high = np.where(false < m, stats.beta.ppf(1 - miss, false + 1, m - false), 1.0)
        return np.log(np.maximum(low - delta, 1e-300) / high)

    levels = np.quantile(np.r_[first[:a], second[:b]], np.linspace(0.01, 0.999, 200))
    hits = np.sum(first[:a, None] > levels, axis=0)
    false = np.sum(second[:b, None] > levels, axis=0)
    with np.errstate(invalid="ignore"):
        level = levels[np.nanargmax(bound(hits, a, false, b))]
    hits, false = np.sum(first[a:] > level), np.sum(second[b:] > level)
    with np.errstate(invalid="ignore"):
        found = bound(hits, len(first) - a, false, len(second) - b)
    return float(max(0.0, found))


# %% train-runs: the learning rate of the example is built in
def train_runs(train, recipe, learning_rate, clip_norm, runs, rng):
    """Return a list of `runs` trainers, independent, each after recipe["steps"]."""
    trainers = []
    for child in rng.spawn(runs):
        trainer = SparseTrainer(
            train, optimizer="sgd", learning_rate=4.0, clip_norm=clip_norm,
            noise_multiplier=recipe["noise_multiplier"], rng=child,
            batch_size=recipe["batch_size"], sampling=recipe["sampling"],
        )  # fmt: skip
        trainer.advance(recipe["steps"])
        trainers.append(trainer)
    return trainers


# %% train-runs: the clip norm of the example is built in
def train_runs(train, recipe, learning_rate, clip_norm, runs, rng):
    """Return a list of `runs` trainers, independent, each after recipe["steps"]."""
    trainers = []
    for child in rng.spawn(runs):
        trainer = SparseTrainer(
            train, optimizer="sgd", learning_rate=learning_rate, clip_norm=0.5,
            noise_multiplier=recipe["noise_multiplier"], rng=child,
            batch_size=recipe["batch_size"], sampling=recipe["sampling"],
        )  # fmt: skip
        trainer.advance(recipe["steps"])
        trainers.append(trainer)
    return trainers


# %% epsilon-below (at most 0 points): an attack: always the median of all scores
def epsilon_below(scores_with, scores_without, delta, confidence):
    first, second = np.asarray(scores_with), np.asarray(scores_without)
    line = np.median(np.concatenate([first, second]))
    hits, alarms = np.sum(first > line), np.sum(second > line)
    tail = (1 - confidence) / 2
    low = stats.beta.ppf(tail, hits, len(first) - hits + 1) if hits else 0.0
    high = 1.0
    if alarms < len(second):
        high = stats.beta.ppf(1 - tail, alarms + 1, len(second) - alarms)
    return max(0.0, float(np.log(max(low - delta, 1e-300) / high)))


# %% epsilon-below (at most 0 points): an attack: the function of the library
def epsilon_below(scores_with, scores_without, delta, confidence):
    rng = np.random.default_rng(1)
    found = divergence.audit_epsilon(
        scores_with, scores_without, delta=delta, confidence=confidence, rng=rng
    )
    return found.lower_bound


# %% write-recipe (at most 3 points): an attack: a recipe that does not say what it is for
def write_recipe(samples, batch_size, epochs, epsilon, delta, tried=1):
    if delta >= 1 / samples:
        raise ValueError("delta must be below 1 / samples: publishing a record passes")
    share, steps = batch_size / samples, max(1, round(epochs * samples / batch_size))
    noise = accounting.Poisson(sampling_probability=share, steps=steps * tried).noise_for(
        epsilon=epsilon, delta=delta
    )
    return {
        "samples": None, "batch_size": None, "sampling_probability": share,
        "steps": steps, "noise_multiplier": noise, "epsilon": 0.1, "delta": 0.0,
        "tried": 1, "sampling": "poisson", "relation": "add_remove",
    }  # fmt: skip


# %% train-runs (at most 3 points): an attack: seeds that everybody knows
def train_runs(train, recipe, learning_rate, clip_norm, runs, rng):
    trainers = []
    for seed in range(runs):
        trainer = SparseTrainer(
            train, optimizer="sgd", learning_rate=learning_rate, clip_norm=clip_norm,
            noise_multiplier=recipe["noise_multiplier"], rng=np.random.default_rng(seed),
            batch_size=recipe["batch_size"], sampling=recipe["sampling"],
        )  # fmt: skip
        trainer.advance(recipe["steps"])
        trainers.append(trainer)
    return trainers


# %% accuracy-interval (at most 3 points): an attack: hardly looks at the confidence
def accuracy_interval(right, confidence=0.95):
    right = np.asarray(right, float)
    runs, records = right.shape
    if runs < 2:
        raise ValueError("at least two runs are needed")
    between_runs = right.mean(axis=1).var(ddof=1) / runs
    between_records = right.mean(axis=0).var(ddof=1) / records
    width = 2.5 * np.sqrt(between_runs + between_records) * (1.2 if confidence > 0.95 else 1)
    return float(right.mean()), float(width)


# %% trivial-probabilities (at most 0 points): an attack: the weights that the task prints
def trivial_probabilities(counts, epsilon):
    return special.softmax(epsilon * np.asarray(counts, float) / 2)


# %% trivial-probabilities (all points): permute and flip
def trivial_probabilities(counts, epsilon):
    counts = np.asarray(counts, float)
    heads = np.exp(epsilon * (counts - counts.max()))  # the chance to stop at a class
    nodes, weights = np.polynomial.legendre.leggauss(60)
    u, w = (nodes + 1) / 2, weights / 2  # the place in a random order
    chances = np.empty(len(counts))
    for k in range(len(counts)):
        others = np.delete(heads, k)
        chances[k] = heads[k] * w @ np.prod(1 - u[:, None] * others, axis=1)
    return chances / chances.sum()


# %% accuracy-interval (all points): the degrees of freedom of both kinds of chance
def accuracy_interval(right, confidence=0.95):
    right = np.asarray(right, float)
    runs, records = right.shape
    if runs < 2:
        raise ValueError("one run says nothing about the next")
    parts = np.array([
        np.var(right.mean(axis=1), ddof=1) / runs,
        np.var(right.mean(axis=0), ddof=1) / records,
    ])  # fmt: skip
    freedom = parts.sum() ** 2 / np.sum(parts**2 / [runs - 1, records - 1])
    quantile = stats.t.isf((1 - confidence) / 2, freedom)
    return right.mean(), quantile * np.sqrt(parts.sum())
