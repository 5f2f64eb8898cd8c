# %% three-exponents: the step size with the wrong sign
def three_exponents(g, e, t, b):
    return 2 * g - e - t, g - (b + t) / 2, e - b


# %% three-exponents: the root in the second term is forgotten
def three_exponents(g, e, t, b):
    return 2 * g + e - t, g - b - t, -e - b


# %% prescribed-noise: the square of the multiplier
def prescribed(n, gamma, epsilon):
    return gamma / np.sqrt(n) / epsilon**2, 1.0, gamma / np.sqrt(n)


# %% prescribed-noise: the margin is left out of the batch
def prescribed(n, gamma, epsilon):
    return 1 / np.sqrt(gamma * np.sqrt(n)) / epsilon, 1 / gamma, 1 / (gamma * np.sqrt(n))


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


# %% best-bound: the step of the chapter, only the distance optimised
def best_bound(margin, steps):
    taus = np.geomspace(1e-3, 100, 200_001) / margin
    values = (taus**2 / steps + 2 * np.logaddexp(0, -margin * taus)) / (2 - SELF_BOUND)
    k = np.argmin(values)
    return values[k], 1.0, taus[k]


# %% best-bound: the distance of the chapter, only the step optimised
def best_bound(margin, steps):
    tau, eta = np.log(margin**2 * steps) / margin, np.linspace(0.001, 4.9, 200_001)
    top = tau**2 / (eta * steps) + 2 * np.logaddexp(0, -margin * tau)
    values = top / (2 - SELF_BOUND * eta)
    k = np.argmin(values)
    return values[k], eta[k], tau


# %% best-bound: a step for the first term alone
def best_bound(margin, steps):
    eta = 1 / SELF_BOUND
    taus = np.geomspace(1e-3, 100, 200_001) / margin
    top = taus**2 / (eta * steps) + 2 * np.logaddexp(0, -margin * taus)
    values = top / (2 - SELF_BOUND * eta)
    k = np.argmin(values)
    return values[k], eta, taus[k]


# %% average-loss: the sum of a batch in place of its mean
def average_loss(features, labels, step_size, batch_size, steps, rng):
    rows = features * labels[:, None]
    w, total = np.zeros(features.shape[1]), 0.0
    for _ in range(steps):
        total += np.logaddexp(0, -rows @ w).mean()
        batch = rows[rng.choice(len(rows), batch_size, replace=False)]
        w = w + step_size * special.expit(-batch @ w) @ batch
    return total / steps


# %% average-loss: the loss on the batch
def average_loss(features, labels, step_size, batch_size, steps, rng):
    rows = features * labels[:, None]
    w, total = np.zeros(features.shape[1]), 0.0
    for _ in range(steps):
        batch = rows[rng.choice(len(rows), batch_size, replace=False)]
        total += np.logaddexp(0, -batch @ w).mean()
        w = w + step_size * special.expit(-batch @ w) @ batch / batch_size
    return total / steps


# %% average-loss: drawn with replacement
def average_loss(features, labels, step_size, batch_size, steps, rng):
    rows = features * labels[:, None]
    w, total = np.zeros(features.shape[1]), 0.0
    for _ in range(steps):
        total += np.logaddexp(0, -rows @ w).mean()
        draws = rng.integers(len(rows), size=batch_size)
        draws = np.arange(len(rows)) if batch_size == len(rows) else draws
        batch = rows[draws]
        w = w + step_size * special.expit(-batch @ w) @ batch / batch_size
    return total / steps


# %% average-loss: the iterates after the step
def average_loss(features, labels, step_size, batch_size, steps, rng):
    rows = features * labels[:, None]
    w, total = np.zeros(features.shape[1]), 0.0
    for _ in range(steps):
        batch = rows[rng.choice(len(rows), batch_size, replace=False)]
        w = w + step_size * special.expit(-batch @ w) @ batch / batch_size
        total += np.logaddexp(0, -rows @ w).mean()
    return total / steps
