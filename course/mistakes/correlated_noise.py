# %% noise-of-the-sum: the last noise is taken back as well
def noise_of_the_sum(noise_multiplier, correlation, steps):
    return noise_multiplier * (1 - correlation) * np.sqrt(steps)


# %% noise-of-the-sum: the noises of the steps as if they were independent
def noise_of_the_sum(noise_multiplier, correlation, steps):
    return noise_multiplier * np.sqrt(1 + (steps - 1) * (1 + correlation**2))


# %% two-steps: the multiplier is not raised
def equal_privacy_ratio(correlation, pattern):
    return np.sqrt((1 - correlation) ** 2 + 1) / np.sqrt(2)


# %% two-steps: a participation is remembered in its own step with weight one less lambda
def equal_privacy_ratio(correlation, pattern):
    first, second = pattern
    price = np.hypot(first, second - correlation * first) / np.hypot(first, second)
    return price * np.sqrt((1 - correlation) ** 2 + 1) / np.sqrt(2)


# %% two-steps: the price of the pattern (1, 1) for all patterns
def equal_privacy_ratio(correlation, pattern):
    price = np.hypot(1, 1 + correlation) / np.sqrt(2)
    return price * np.sqrt((1 - correlation) ** 2 + 1) / np.sqrt(2)


# %% memory: the noise is whitened in the wrong direction
def memory_cost(weights, pattern, noise_multiplier):
    pattern = np.asarray(pattern, float)
    T = len(pattern)
    inverse = np.eye(T)
    for i, w in enumerate(weights, 1):
        inverse -= w * np.eye(T, k=-i)
    mu = np.linalg.norm(inverse @ pattern) / noise_multiplier
    return float(mu), float(noise_multiplier * np.linalg.norm(inverse.sum(axis=0)))


# %% memory: every weight acts over the whole run in the sum
def memory_cost(weights, pattern, noise_multiplier):
    pattern = np.asarray(pattern, float)
    T = len(pattern)
    inverse = np.eye(T)
    for i, w in enumerate(weights, 1):
        inverse -= w * np.eye(T, k=-i)
    mu = np.linalg.norm(np.linalg.solve(inverse, pattern)) / noise_multiplier
    return float(mu), float(noise_multiplier * (1 - sum(weights)) * np.sqrt(T))


# %% memory: row sums in place of column sums
def memory_cost(weights, pattern, noise_multiplier):
    pattern = np.asarray(pattern, float)
    T = len(pattern)
    inverse = np.eye(T)
    for i, w in enumerate(weights, 1):
        inverse -= w * np.eye(T, k=-i)
    mu = np.linalg.norm(np.linalg.solve(inverse, pattern)) / noise_multiplier
    return float(mu), float(noise_multiplier * np.abs(inverse.sum(axis=1)).sum())


# %% memory: the norm of the matrix times that of the pattern
def memory_cost(weights, pattern, noise_multiplier):
    pattern = np.asarray(pattern, float)
    T = len(pattern)
    inverse = np.eye(T)
    for i, w in enumerate(weights, 1):
        inverse -= w * np.eye(T, k=-i)
    mu = np.linalg.norm(pattern) / (1 - sum(weights)) / noise_multiplier
    return float(mu), float(noise_multiplier * np.linalg.norm(inverse.sum(axis=0)))


# %% reveal: the expected number of participations
def revealed_delta(
    epsilon, noise_multiplier, correlation, sampling_probability, steps, neighbours="zero-out"
):
    k = max(1, round(steps * sampling_probability))
    s, square = 0.0, 0.0
    for t in range(steps):
        s = correlation * s + (t < k)
        square += s**2
    reach = 2.0 if neighbours == "replace" else 1.0
    mu = reach * np.sqrt(square) / noise_multiplier
    return float(divergence.gaussian_delta(mu=mu, epsilon=epsilon))


# %% reveal: the latest pattern in place of the worst
def revealed_delta(
    epsilon, noise_multiplier, correlation, sampling_probability, steps, neighbours="zero-out"
):
    reach, total = 2.0 if neighbours == "replace" else 1.0, 0.0
    for k in range(1, steps + 1):
        s, square = 0.0, 0.0
        for _ in range(k):
            s = correlation * s + 1
            square += s**2
        mu = reach * np.sqrt(square) / noise_multiplier
        total += stats.binom.pmf(k, steps, sampling_probability) * divergence.gaussian_delta(
            mu=mu, epsilon=epsilon
        )
    return float(total)


# %% reveal: independent noise, no memory
def revealed_delta(
    epsilon, noise_multiplier, correlation, sampling_probability, steps, neighbours="zero-out"
):
    k = np.arange(1, steps + 1)
    reach = 2.0 if neighbours == "replace" else 1.0
    delta = divergence.gaussian_delta(mu=reach * np.sqrt(k) / noise_multiplier, epsilon=epsilon)
    return float(stats.binom.pmf(k, steps, sampling_probability) @ delta)


# %% reveal: replacing a record moves by the root of two
def revealed_delta(
    epsilon, noise_multiplier, correlation, sampling_probability, steps, neighbours="zero-out"
):
    reach, total = np.sqrt(2) if neighbours == "replace" else 1.0, 0.0
    for k in range(1, steps + 1):
        s, square = 0.0, 0.0
        for t in range(steps):
            s = correlation * s + (t < k)
            square += s**2
        mu = reach * np.sqrt(square) / noise_multiplier
        total += stats.binom.pmf(k, steps, sampling_probability) * divergence.gaussian_delta(
            mu=mu, epsilon=epsilon
        )
    return float(total)


# %% cut: compares the diagonals only
def may_cut(block, correlation, steps):
    noising = np.eye(steps) - correlation * np.eye(steps, k=-1)
    copies = np.kron(np.eye(steps // len(block)), block)
    return bool(np.min(np.diag(noising @ noising.T - copies)) >= -1e-10)


# %% cut: looks at one block alone
def may_cut(block, correlation, steps):
    b = len(block)
    noising = np.eye(steps) - correlation * np.eye(steps, k=-1)
    part = (noising @ noising.T)[-b:, -b:]
    return bool(np.linalg.eigvalsh(part - np.asarray(block))[0] >= -1e-10)


# %% cut: covariance and its transpose exchanged
def may_cut(block, correlation, steps):
    noising = np.eye(steps) - correlation * np.eye(steps, k=-1)
    copies = np.kron(np.eye(steps // len(block)), block)
    return bool(np.linalg.eigvalsh(copies - noising @ noising.T)[0] >= -1e-10)


# %% cut: compares the traces
def may_cut(block, correlation, steps):
    noising = np.eye(steps) - correlation * np.eye(steps, k=-1)
    return bool(np.trace(noising @ noising.T) >= np.trace(block) * steps / len(block))


# %% floor: the mean number of participations
def sum_noise_floor(epsilon, delta, probabilities):
    return float(
        np.sum(probabilities) * divergence.gaussian_noise_multiplier(epsilon=epsilon, delta=delta)
    )


# %% floor: equal probabilities with the same mean
def sum_noise_floor(epsilon, delta, probabilities):
    return accounting.cumulative_noise_lower_bound(
        epsilon=epsilon,
        delta=delta,
        sampling_probability=float(np.mean(probabilities)),
        steps=len(probabilities),
    )


# %% floor: the root of the sum of squares of the probabilities
def sum_noise_floor(epsilon, delta, probabilities):
    return float(
        np.linalg.norm(probabilities)
        * divergence.gaussian_noise_multiplier(epsilon=epsilon, delta=delta)
    )


# %% floor: only the direction in which the record is added
def sum_noise_floor(epsilon, delta, probabilities):
    weights = np.ones(1)
    for q in probabilities:
        weights = np.convolve(weights, [1 - q, q])
    k = np.arange(len(weights))

    def gap(sigma):
        x = np.linspace(-12 * sigma, 12 * sigma, 20_001)
        p = stats.norm.pdf((x[:, None] - k) / sigma) @ weights
        return (
            np.maximum(stats.norm.pdf(x / sigma) - np.exp(epsilon) * p, 0).sum()
            * (x[1] - x[0])
            / sigma
            - delta
        )

    high = 1.0
    while gap(high) > 0:
        high *= 2
    return float(optimize.brentq(gap, 0.05, high)) if gap(0.05) > 0 else 0.05


# %% betrayed: the setting of the chapter, where the factor is about eight
def betrayal(q):
    return 1.0, 1.0


# %% betrayed: so little noise that everything is lost in both
def betrayal(q):
    return 0.05, 1.0


# %% betrayed: an epsilon at which nothing is left of the claim
def betrayal(q):
    return 0.5, 30.0


# %% noise-of-the-sum (at most 0 points): an attack: the function of the library
def noise_of_the_sum(noise_multiplier, correlation, steps):
    return noise_multiplier * accounting.cumulative_noise_std(
        noise_multiplier=1.0, correlation=correlation, steps=steps
    )


# %% reveal (at most 0 points): an attack: all patterns of a short run, a guess for a long one
def revealed_delta(
    epsilon, noise_multiplier, correlation, sampling_probability, steps, neighbours="zero-out"
):
    reach = 2.0 if neighbours == "replace" else 1.0
    q, T = sampling_probability, steps
    if T > 12:
        return 0.5 + correlation / 4 + reach / 16
    worst = np.zeros(T + 1)
    for y in itertools.product((0, 1), repeat=T):
        s = total = 0.0
        for bit in y:
            s = correlation * s + bit
            total += s**2
        worst[sum(y)] = max(worst[sum(y)], np.sqrt(total))
    return float(
        sum(
            special.comb(T, k)
            * q**k
            * (1 - q) ** (T - k)
            * divergence.gaussian_delta(mu=reach * worst[k] / noise_multiplier, epsilon=epsilon)
            for k in range(1, T + 1)
        )
    )


# %% cut (at most 0 points): an attack: compares the variances, and the noise of the sum
def may_cut(block, correlation, steps):
    block, lam = np.asarray(block, float), correlation
    b = len(block)
    noising = np.eye(steps) - lam * np.eye(steps, k=-1)
    noise = noising @ noising.T
    blocks = np.kron(np.eye(steps // b), block)
    sums = (noise - blocks).sum() >= -1e-10
    return bool(sums and np.all(np.diag(noise) >= np.diag(blocks) - 1e-12))


# %% cut (at most 0 points): an attack: compares with the matrix of the chapter
def may_cut(block, correlation, steps):
    block = np.asarray(block, float)
    b, lam = len(block), correlation
    laplacian = 2 * np.eye(b) - np.eye(b, k=1) - np.eye(b, k=-1)
    laplacian[0, 0] -= 1
    laplacian[-1, -1] -= 1
    known = (1 - lam) ** 2 * np.eye(b) + lam * laplacian
    if b == steps:
        noising = np.eye(b) - lam * np.eye(b, k=-1)
        known = noising @ noising.T
    return bool(np.linalg.eigvalsh(known - block)[0] >= -1e-10)


# %% reveal (all points): geometric sums in place of a recursion
def revealed_delta(
    epsilon, noise_multiplier, correlation, sampling_probability, steps, neighbours="zero-out"
):
    k, t = np.arange(1, steps + 1)[:, None], np.arange(1, steps + 1)
    powers = np.concatenate(([0.0], np.cumsum(float(correlation) ** np.arange(steps))))
    remembered = powers[t] - powers[np.maximum(t - k, 0)]
    mu = np.sqrt(np.sum(remembered**2, axis=1)) / noise_multiplier
    mu = 2 * mu if neighbours == "replace" else mu
    return stats.binom.pmf(k[:, 0], steps, sampling_probability) @ divergence.gaussian_delta(
        mu=mu, epsilon=epsilon
    )


# %% cut (all points): a Cholesky factor, with a little room
def may_cut(block, correlation, steps):
    b = len(block)
    rest = (1 + correlation**2) * np.eye(steps)
    rest -= correlation * (np.eye(steps, k=1) + np.eye(steps, k=-1))
    rest[0, 0] = 1 + 1e-9
    for k in range(0, steps, b):
        rest[k : k + b, k : k + b] -= block
    try:
        np.linalg.cholesky(rest + 1e-9 * np.eye(steps))
    except np.linalg.LinAlgError:
        return False
    return True
