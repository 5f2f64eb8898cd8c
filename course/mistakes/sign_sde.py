# %% mean-of-a-direction: the length of the noise alone
def mean_direction(length, noise, dimension):
    return length / (noise * np.sqrt(dimension))


# %% mean-of-a-direction: the noise of a single coordinate
def mean_direction(length, noise, dimension):
    return length / np.sqrt(noise**2 + length**2)


# %% mean-sign: the privacy noise is not divided by the batch
def mean_sign(slope, batch_noise, batch_size, clip_norm, multiplier):
    spread = np.sqrt(batch_noise**2 / batch_size + (clip_norm * multiplier) ** 2)
    return special.erf(slope / (np.sqrt(2) * spread))


# %% mean-sign: both variances are divided once
def mean_sign(slope, batch_noise, batch_size, clip_norm, multiplier):
    spread = np.sqrt((batch_noise**2 + (clip_norm * multiplier) ** 2) / batch_size)
    return special.erf(slope / (np.sqrt(2) * spread))


# %% mean-sign: the linear drift
def mean_sign(slope, batch_noise, batch_size, clip_norm, multiplier):
    spread = np.sqrt(batch_noise**2 / batch_size + (clip_norm * multiplier / batch_size) ** 2)
    return np.sqrt(2 / np.pi) * slope / spread


# %% ghost: the noise is not divided by the batch size
def private_gradient(features, labels, weights, clip_norm, noise_multiplier, normal):
    batch = len(features)
    residual = special.softmax(features @ weights, axis=1)
    residual[np.arange(batch), labels] -= 1
    norms = np.linalg.norm(residual, axis=1) * np.linalg.norm(features, axis=1)
    factor = clip_norm / np.maximum(norms, clip_norm)
    clipped = features.T @ (factor[:, None] * residual)
    return clipped / batch + clip_norm * noise_multiplier * normal


# %% ghost: clips by the length of the features alone
def private_gradient(features, labels, weights, clip_norm, noise_multiplier, normal):
    batch = len(features)
    residual = special.softmax(features @ weights, axis=1)
    residual[np.arange(batch), labels] -= 1
    norms = np.linalg.norm(features, axis=1)
    factor = clip_norm / np.maximum(norms, clip_norm)
    clipped = features.T @ (factor[:, None] * residual)
    return (clipped + clip_norm * noise_multiplier * normal) / batch


# %% ghost: clips the mean of the batch
def private_gradient(features, labels, weights, clip_norm, noise_multiplier, normal):
    batch = len(features)
    residual = special.softmax(features @ weights, axis=1)
    residual[np.arange(batch), labels] -= 1
    mean = features.T @ residual / batch
    mean *= min(1, clip_norm / np.linalg.norm(mean))
    return mean + clip_norm * noise_multiplier * normal / batch


# %% ghost: forms every per-record gradient
def private_gradient(features, labels, weights, clip_norm, noise_multiplier, normal):
    batch = len(features)
    residual = special.softmax(features @ weights, axis=1)
    residual[np.arange(batch), labels] -= 1
    every = features[:, :, None] * residual[:, None, :]
    norms = np.sqrt((every**2).sum(axis=(1, 2)))
    factor = clip_norm / np.maximum(norms, clip_norm)
    clipped = (factor[:, None, None] * every).sum(axis=0)
    return (clipped + clip_norm * noise_multiplier * normal) / batch


# %% ghost: a softmax that overflows
def private_gradient(features, labels, weights, clip_norm, noise_multiplier, normal):
    batch = len(features)
    power = np.exp(features @ weights)
    residual = power / power.sum(axis=1, keepdims=True)
    residual[np.arange(batch), labels] -= 1
    norms = np.linalg.norm(residual, axis=1) * np.linalg.norm(features, axis=1)
    factor = clip_norm / np.maximum(norms, clip_norm)
    clipped = features.T @ (factor[:, None] * residual)
    return (clipped + clip_norm * noise_multiplier * normal) / batch


# %% soft: d degrees of freedom, not two more
def soft_clip_mean(mean_norm, noise_scale, dimension, gamma):
    degrees = dimension
    excess = (mean_norm / noise_scale) ** 2
    centre = np.sqrt(degrees + excess)
    nodes, weights = special.roots_legendre(400)
    low, high = max(centre - 13, 0), centre + 13
    r = low + (high - low) * (nodes + 1) / 2
    density = 2 * r * stats.ncx2.pdf(r**2, degrees, max(excess, 1e-12))
    mean_factor = weights @ (density / (noise_scale * r + gamma)) * (high - low) / 2
    return float(mean_norm * mean_factor)


# %% soft: the length replaced by its root mean square
def soft_clip_mean(mean_norm, noise_scale, dimension, gamma):
    length = np.sqrt(dimension * noise_scale**2 + mean_norm**2)
    return float(mean_norm / (length + gamma))


# %% soft: gamma in units of the noise
def soft_clip_mean(mean_norm, noise_scale, dimension, gamma):
    degrees = dimension + 2
    excess = (mean_norm / noise_scale) ** 2
    centre = np.sqrt(degrees + excess)
    nodes, weights = special.roots_legendre(400)
    low, high = max(centre - 13, 0), centre + 13
    r = low + (high - low) * (nodes + 1) / 2
    density = 2 * r * stats.ncx2.pdf(r**2, degrees, max(excess, 1e-12))
    mean_factor = weights @ (density / (r + gamma)) * (high - low) / 2
    return float(mean_norm / noise_scale * mean_factor)


# %% soft: central law of the length, right for a vanishing mean only
def soft_clip_mean(mean_norm, noise_scale, dimension, gamma):
    degrees = dimension + 2
    centre = np.sqrt(degrees)
    nodes, weights = special.roots_legendre(400)
    low, high = max(centre - 13, 0), centre + 13
    r = low + (high - low) * (nodes + 1) / 2
    density = 2 * r * stats.chi2.pdf(r**2, degrees)
    mean_factor = weights @ (density / (noise_scale * r + gamma)) * (high - low) / 2
    return float(mean_norm * mean_factor)


# %% ballot: one direction where the mean of B belongs, as in equation (107)
def ballot_sign(gradient, noise_scale, batch_size, noise_multiplier):
    up = stats.norm.cdf(gradient / noise_scale)
    return float((2 * up - 1) * special.erf(batch_size / np.sqrt(2) / noise_multiplier))


# %% ballot: the mean put inside the error function
def ballot_sign(gradient, noise_scale, batch_size, noise_multiplier):
    up = stats.norm.cdf(gradient / noise_scale)
    mean = batch_size * (2 * up - 1)
    return float(special.erf(mean / (np.sqrt(2) * noise_multiplier)))


# %% ballot: error function of mean over standard deviation
def ballot_sign(gradient, noise_scale, batch_size, noise_multiplier):
    up = stats.norm.cdf(gradient / noise_scale)
    mean = batch_size * (2 * up - 1)
    variance = 4 * batch_size * up * (1 - up) + noise_multiplier**2
    return float(special.erf(mean / np.sqrt(2 * variance)))


# %% ballot: the noise is taken as that of the mean, not of the sum
def ballot_sign(gradient, noise_scale, batch_size, noise_multiplier):
    up = stats.norm.cdf(gradient / noise_scale)
    votes = np.arange(batch_size + 1)
    chance = stats.binom.pmf(votes, batch_size, up)
    mean = (2 * votes - batch_size) / batch_size
    return float(chance @ special.erf(mean / (np.sqrt(2) * noise_multiplier)))


# %% design: the proportion of equation (107), B squared
def revealing_multiplier(dimension, batch_size, share):
    return batch_size / np.sqrt(dimension * (1 / share**2 - 1))


# %% design: forgets the square root of the slope
def revealing_multiplier(dimension, batch_size, share):
    return np.sqrt(batch_size / (dimension * (1 / share - 1)))


# %% design: variances added with the wrong sign
def revealing_multiplier(dimension, batch_size, share):
    return np.sqrt(batch_size / (dimension * (1 - share**2)))


# %% check: no correction for the number of coordinates
def compatible(signs, claimed, level=1e-4):
    n, d = signs.shape
    ups = (signs > 0).sum(axis=0)
    chance = (1 + np.asarray(claimed)) / 2
    below = stats.binom.cdf(ups, n, chance)
    above = stats.binom.sf(ups - 1, n, chance)
    return bool(np.min(2 * np.minimum(below, above)) >= level)


# %% check: normal approximation, which fails near one
def compatible(signs, claimed, level=1e-4):
    n, d = signs.shape
    claimed = np.asarray(claimed)
    z = (signs.mean(axis=0) - claimed) / np.sqrt((1 - claimed**2) / n)
    return bool(np.abs(z).max() <= stats.norm.isf(level / (2 * d)))


# %% check: tests the average over the coordinates
def compatible(signs, claimed, level=1e-4):
    n, d = signs.shape
    z = (signs.mean() - np.mean(claimed)) * np.sqrt(n * d)
    return bool(abs(z) <= stats.norm.isf(level / 2))


# %% check: a fixed tolerance
def compatible(signs, claimed, level=1e-4):
    return bool(np.abs(signs.mean(axis=0) - claimed).max() < 0.1)


# %% check: the level is always one in ten thousand
def compatible(signs, claimed, level=1e-4):
    """Return True if the claim survives, False if it is rejected.

    signs (n, d), entries 1 and -1; claimed (d,), between -1 and 1.
    """
    level = 1e-4
    n, d = signs.shape
    ups = (signs > 0).sum(axis=0)
    chance = (1 + np.asarray(claimed)) / 2
    below = stats.binom.cdf(ups, n, chance)
    above = stats.binom.sf(ups - 1, n, chance)
    return bool(np.min(2 * np.minimum(below, above)) >= level / d)


# %% check (all points): intervals of Clopper and Pearson
def compatible(signs, claimed, level=1e-4):
    n, d = signs.shape
    ups, chance = np.sum(signs == 1, axis=0), (1 + np.asarray(claimed)) / 2
    tail = level / d / 2
    low = np.where(ups > 0, stats.beta.ppf(tail, ups, n - ups + 1), 0)
    high = np.where(ups < n, stats.beta.isf(tail, ups + 1, n - ups), 1)
    return bool(np.all((low <= chance) & (chance <= high)))
