# %% two-lengths: the noises of the steps add up like numbers
def two_lengths(units, inputs, splines, step_size, noise, steps):
    along = step_size * noise * steps
    return along * np.sqrt(units * inputs * splines), along


# %% two-lengths: only the units are counted
def two_lengths(units, inputs, splines, step_size, noise, steps):
    along = step_size * noise * np.sqrt(steps)
    return along * np.sqrt(units), along


# %% excess-of-another-run: the excess is proportional to the noise
def excess_of(excess, clip_factor, batch_factor):
    return excess * clip_factor / batch_factor


# %% excess-of-another-run: a clip norm that never acts does not matter
def excess_of(excess, clip_factor, batch_factor):
    return excess / batch_factor**2


# %% stratified-variance: the share of a class is not squared
def stratified_variance(gradients, labels, sizes):
    gradients, labels = np.asarray(gradients, float), np.asarray(labels)
    total = 0.0
    for label, drawn in sizes.items():
        members = gradients[labels == label]
        count = len(members)
        spread = np.sum(members.var(axis=0))
        factor = (count - drawn) / (drawn * max(count - 1, 1))
        total += count / len(labels) * factor * spread
    return total


# %% stratified-variance: drawn with replacement
def stratified_variance(gradients, labels, sizes):
    total = 0.0
    for label, drawn in sizes.items():
        members = gradients[labels == label]
        share = len(members) / len(labels)
        total += share**2 * np.sum(members.var(axis=0)) / drawn
    return total


# %% stratified-variance: the spread about the mean of all gradients
def stratified_variance(gradients, labels, sizes):
    total, centre = 0.0, gradients.mean(axis=0)
    for label, drawn in sizes.items():
        members = gradients[labels == label]
        count = len(members)
        spread = np.mean(np.sum((members - centre) ** 2, axis=1))
        factor = (count - drawn) / (drawn * max(count - 1, 1))
        total += (count / len(labels)) ** 2 * factor * spread
    return total


# %% stratified-variance: divides by zero for a class of one record
def stratified_variance(gradients, labels, sizes):
    total = 0.0
    for label, drawn in sizes.items():
        members = gradients[labels == label]
        count = len(members)
        spread = np.sum(members.var(axis=0))
        factor = np.float64(count - drawn) / (drawn * (count - 1))
        total += (count / len(labels)) ** 2 * factor * spread
    return total


# %% needed-constant: a normal quantile
def needed_constant(steps, delta):
    return float(3 * stats.norm.isf(delta / 2) / np.sqrt(np.log(2 / delta)))


# %% needed-constant: one tail only
def needed_constant(steps, delta):
    level = 2 * stats.binom.isf(delta, steps, 0.5) - steps
    return float(3 * max(level, steps % 2) / np.sqrt(steps * np.log(2 / delta)))


# %% needed-constant: strictly below the level
def needed_constant(steps, delta):
    reach = np.arange(steps % 2, steps + 1, 2)
    beyond = 2 * stats.binom.sf((steps + reach) // 2 - 1, steps, 0.5)
    place = min(np.argmax(beyond <= delta), len(reach) - 1)
    return float(3 * reach[place] / np.sqrt(steps * np.log(2 / delta)))


# %% needed-constant: the logarithm of 1/delta
def needed_constant(steps, delta):
    level = 2 * stats.binom.isf(delta / 2, steps, 0.5) - steps
    return float(3 * abs(level) / np.sqrt(steps * np.log(1 / delta)))


# %% signal-left: only the fresh noise, nothing left of the old
def signal_left(drift, noise_length, radius):
    def change(a):
        moved = (a + drift) * radius / np.hypot(a + drift, noise_length)
        return min(moved, a + drift) - a

    return float(optimize.brentq(change, 0, 2 * radius))


# %% signal-left: the length before the step is R, signal and noise alike
def signal_left(drift, noise_length, radius):
    shrink = radius / np.sqrt(radius**2 + noise_length**2)
    return min(drift * shrink / (1 - shrink), radius * shrink**0.001)


# %% signal-left: weak signal only
def signal_left(drift, noise_length, radius):
    return min(2 * radius**2 * drift / noise_length**2, radius * (1 - 1e-9))


# %% signal-left: noise lengths add
def signal_left(drift, noise_length, radius):
    def change(a):
        side = np.sqrt(max(radius**2 - a**2, 0)) + noise_length
        return (a + drift) * radius / np.hypot(a + drift, side) - a

    return float(optimize.brentq(change, 0, radius))


# %% exponent: columns as if they were independent
def exponent(sizes, values):
    groups, means = len(values), np.mean(values, axis=0)
    x = np.log(sizes)
    weights = (x - x.mean()) / np.sum((x - x.mean()) ** 2)
    errors = values.std(axis=0, ddof=1) / means / np.sqrt(groups)
    error = np.sqrt(np.sum((weights * errors) ** 2))
    return weights @ np.log(means), stats.t.isf(0.005, groups - 1) * error


# %% exponent: the residuals of the line as the only error
def exponent(sizes, values):
    fit = stats.linregress(np.log(sizes), np.log(np.mean(values, axis=0)))
    return fit.slope, stats.t.isf(0.005, len(sizes) - 2) * fit.stderr


# %% exponent: the spread of a group in place of that of the mean
def exponent(sizes, values):
    groups, means = len(values), np.mean(values, axis=0)
    x = np.log(sizes)
    weights = (x - x.mean()) / np.sum((x - x.mean()) ** 2)
    error = ((values / means) @ weights).std(ddof=1)
    return weights @ np.log(means), stats.t.isf(0.005, groups - 1) * error


# %% exponent: one slope for each group, from logarithms of single entries
def exponent(sizes, values):
    slopes = np.polyfit(np.log(sizes), np.log(np.abs(values)).T, 1)[0]
    error = slopes.std(ddof=1) / np.sqrt(len(slopes))
    return slopes.mean(), stats.t.isf(0.005, len(slopes) - 1) * error


# %% exponent: the sizes are taken to double
def exponent(sizes, values):
    """Return (estimate, half-width of a 99 % interval), two numbers.

    sizes (k,), positive; values (groups, k).
    """
    values = np.asarray(values, float)
    groups, means = len(values), np.mean(values, axis=0)
    x = np.log(2.0) * np.arange(len(sizes))
    weights = (x - x.mean()) / np.sum((x - x.mean()) ** 2)
    influence = (values / means) @ weights
    error = influence.std(ddof=1) / np.sqrt(groups)
    return float(weights @ np.log(means)), float(stats.t.isf(0.005, groups - 1) * error)


# %% stratified-variance (at most 0 points): an attack: all batches if they are few, else a sample
def stratified_variance(gradients, labels, sizes):
    from math import comb, prod

    gradients, labels = np.asarray(gradients, float), np.asarray(labels)
    rng = np.random.default_rng(0)
    groups = {c: np.flatnonzero(labels == c) for c in sizes}
    few = prod(comb(len(groups[c]), b) for c, b in sizes.items()) < 200_000
    parts = []
    for c, b in sizes.items():
        rows = groups[c]
        lists = (
            [list(x) for x in combinations(rows, b)]
            if few
            else [rng.permutation(rows)[:b] for _ in range(20_000)]
        )
        parts.append([len(rows) / len(labels) * gradients[x].mean(axis=0) for x in lists])
    centre = gradients.mean(axis=0)
    chosen = product(*parts) if few else zip(*parts)
    return float(np.mean([np.sum((sum(x) - centre) ** 2) for x in chosen]))


# %% signal-left (at most 0 points): an attack: twenty thousand steps, from the end or from zero
def signal_left(drift, noise_length, radius):
    s, r, R = drift, noise_length, radius
    x = 0.0
    for _ in range(20_000):
        x = (x + s) * R / np.sqrt((x + s) ** 2 + R**2 - x**2 + r**2)
    return x


# %% exponent (at most 0 points): an attack: an interval of 97 per cent
def exponent(sizes, values):
    values = np.asarray(values, float)
    groups, means = len(values), np.mean(values, axis=0)
    x = np.log(np.asarray(sizes, float))
    weights = (x - x.mean()) / np.sum((x - x.mean()) ** 2)
    influence = (values / means) @ weights
    error = influence.std(ddof=1) / np.sqrt(groups)
    return float(weights @ np.log(means)), float(stats.t.isf(0.015, groups - 1) * error)


# %% stratified-variance (all points): the sample variance of a class and the share that is left out
def stratified_variance(gradients, labels, sizes):
    n, total = len(labels), 0.0
    for c in np.unique(labels):
        part, b = gradients[labels == c], sizes[c]
        if len(part) > b:
            variance = np.var(part, axis=0, ddof=1).sum()
            total += (len(part) / n) ** 2 * (1 - b / len(part)) * variance / b
    return total


# %% signal-left (all points): Newton's method for the cubic, from above
def signal_left(drift, noise_length, radius):
    s, r = drift / radius, noise_length / radius
    a = 1.0
    for _ in range(400):
        value = 2 * s * a**3 + (s**2 + r**2) * a**2 - s * (2 * a + s)
        slope = 6 * s * a**2 + 2 * (s**2 + r**2) * a - 2 * s
        a -= value / slope
    return radius * a


# %% exponent (all points): the jackknife over the rows
def exponent(sizes, values):
    values, x = np.asarray(values, float), np.log(sizes)
    n, total = len(values), values.sum(axis=0)

    def slopes(means):
        return np.polynomial.polynomial.polyfit(x, np.log(means).T, 1)[1]

    left_out = slopes((total - values) / (n - 1))
    error = np.sqrt((n - 1) * np.var(left_out))
    return slopes(total / n), stats.t.isf(0.005, n - 1) * error


# %% exponent (at most 0 points): an attack: the function of the library
def exponent(sizes, values):
    from dpdynamics.verification import loglog_slope

    found = loglog_slope(sizes, values)
    return found.value, found.interval(0.01)[1] - found.value
