# %% speed-and-level: the plateau of the sign without its speed
def speed_and_level(method, eta, S):
    if method == "sgd":
        return 1.0, eta * S**2 / 4
    return np.sqrt(2 / np.pi) / S, eta / 4


# %% speed-and-level: the two constants exchanged
def speed_and_level(method, eta, S):
    if method == "sgd":
        return 1.0, eta * S**2 / 4
    return np.sqrt(np.pi / 2) / S, eta * np.sqrt(2 / np.pi) * S / 4


# %% noise-of-a-coordinate: clipped gradients are not averaged
def coordinate_noise(clipped, batch_noise, clip_norm, multiplier, batch_size, dimension):
    if clipped:
        return np.sqrt(clip_norm**2 / dimension + (clip_norm * multiplier / batch_size) ** 2)
    return np.sqrt(batch_noise**2 / batch_size + (clip_norm * multiplier / batch_size) ** 2)


# %% noise-of-a-coordinate: the length is not spread over the coordinates
def coordinate_noise(clipped, batch_noise, clip_norm, multiplier, batch_size, dimension):
    record = clip_norm**2 if clipped else batch_noise**2
    return np.sqrt(record / batch_size + (clip_norm * multiplier / batch_size) ** 2)


# %% bracket: one over the mean length in place of the mean of one over the length
def drift_bracket(gradient_norm, clip_norm, lengths, weights):
    lengths, weights = np.asarray(lengths, float), np.asarray(weights, float)
    K = 1 / (weights @ lengths)
    exact = weights @ np.minimum(1, clip_norm / np.hypot(lengths, gradient_norm))
    upper = min(1.0, clip_norm * K / np.hypot(1, K * gradient_norm))
    kappa = weights @ np.minimum(1, 1 / lengths / K)
    return float(kappa * upper), float(exact), float(upper)


# %% bracket: the printed share of clipped records times their factor
def drift_bracket(gradient_norm, clip_norm, lengths, weights):
    lengths, weights = np.asarray(lengths, float), np.asarray(weights, float)
    K = weights @ (1 / lengths)
    share = weights @ (np.hypot(lengths, gradient_norm) > clip_norm)
    upper = min(1.0, clip_norm * K / np.hypot(1, K * gradient_norm))
    exact = share * upper + 1 - share
    kappa = weights @ np.minimum(1, 1 / lengths / K)
    return float(kappa * upper), float(exact), float(upper)


# %% bracket: the bracket at a vanishing gradient is used everywhere
def drift_bracket(gradient_norm, clip_norm, lengths, weights):
    lengths, weights = np.asarray(lengths, float), np.asarray(weights, float)
    K = weights @ (1 / lengths)
    exact = weights @ np.minimum(1, clip_norm / np.hypot(lengths, gradient_norm))
    kappa = weights @ np.minimum(1, 1 / lengths / K)
    upper = min(1.0, clip_norm * K)
    return float(kappa * upper), float(exact), float(upper)


# %% bracket: one half in place of kappa
def drift_bracket(gradient_norm, clip_norm, lengths, weights):
    lengths, weights = np.asarray(lengths, float), np.asarray(weights, float)
    K = weights @ (1 / lengths)
    exact = weights @ np.minimum(1, clip_norm / np.hypot(lengths, gradient_norm))
    upper = min(1.0, clip_norm * K / np.hypot(1, K * gradient_norm))
    return float(0.5 * upper), float(exact), float(upper)


# %% times: the linear drifts, exponential from every start
def sgd_time(start, end, clip_ratio):
    return float(np.log(start / end) / min(1, clip_ratio))


def sign_time(start, end):
    return float(np.log(start / end) / np.sqrt(2 / np.pi))


# %% times: DP-SGD clipped all the way down
def sgd_time(start, end, clip_ratio):
    def rising(u):
        return np.sqrt(1 + u**2) - np.arcsinh(1 / u)

    return float((rising(start) - rising(end)) / clip_ratio)


def sign_time(start, end):
    value = lambda v: np.exp(v) / special.erf(np.exp(v) / np.sqrt(2))  # noqa: E731
    return integrate.quad(value, np.log(end), np.log(start), epsrel=1e-11)[0]


# %% times: the gradient norm alone decides about clipping
def sgd_time(start, end, clip_ratio):
    value = lambda v: max(1.0, np.exp(v) / clip_ratio)  # noqa: E731
    corner = np.clip(np.log(clip_ratio), np.log(end), np.log(start))
    return (
        integrate.quad(value, np.log(end), corner)[0]
        + integrate.quad(value, corner, np.log(start), epsrel=1e-11)[0]
    )


def sign_time(start, end):
    value = lambda v: np.exp(v) / special.erf(np.exp(v) / np.sqrt(2))  # noqa: E731
    return integrate.quad(value, np.log(end), np.log(start), epsrel=1e-11)[0]


# %% times: the error function without the root of two
def sgd_time(start, end, clip_ratio):
    value = lambda v: max(1.0, np.hypot(1, np.exp(v)) / clip_ratio)  # noqa: E731
    edge = np.sqrt(max(clip_ratio**2 - 1, 1e-300))
    corner = np.clip(np.log(edge), np.log(end), np.log(start))
    return (
        integrate.quad(value, np.log(end), corner, epsrel=1e-11)[0]
        + integrate.quad(value, corner, np.log(start), epsrel=1e-11)[0]
    )


def sign_time(start, end):
    value = lambda v: np.exp(v) / special.erf(np.exp(v))  # noqa: E731
    return integrate.quad(value, np.log(end), np.log(start), epsrel=1e-11)[0]


# %% far: batches of one record, where S is as large as the batch noise
def far_start(gradient_noise, privacy_noise):
    start, steps = 1.4 * gradient_noise, 600
    return {
        "batch_size": 1,
        "start": start,
        "learning_rate": 0.7 * start / steps,
        "steps": steps,
    }


# %% far: a start outside the assumption
def far_start(gradient_noise, privacy_noise):
    start, steps = 20 * gradient_noise, 600
    return {
        "batch_size": 100,
        "start": start,
        "learning_rate": 0.7 * start / steps,
        "steps": steps,
    }


# %% far: a run that has arrived, where only the plateau is left
def far_start(gradient_noise, privacy_noise):
    start, steps = 1.4 * gradient_noise, 600
    return {
        "batch_size": 10_000,
        "start": start,
        "learning_rate": 3 * start / steps,
        "steps": steps,
    }


# %% far: numbers that fit one batch noise only
def far_start(gradient_noise, privacy_noise):
    return {"batch_size": 10_000, "start": 1.4, "learning_rate": 0.0016, "steps": 600}


# %% batch: the batch noise of the clipped gradients is forgotten, as in (9)
def smallest_batch(
    level, method, learning_rate, clip_norm, noise_multiplier, noise_length, dimension
):
    scaled = 4 * level * clip_norm / (learning_rate * noise_length)
    variance = scaled if method == "sgd" else 2 / np.pi * scaled**2
    return max(1, int(np.ceil(clip_norm * noise_multiplier / np.sqrt(variance))))


# %% batch: clipping shrinks the noise but not the drift
def smallest_batch(
    level, method, learning_rate, clip_norm, noise_multiplier, noise_length, dimension
):
    scaled = 4 * level / learning_rate
    variance = scaled if method == "sgd" else 2 / np.pi * scaled**2
    a, half = (clip_norm * noise_multiplier) ** 2, clip_norm**2 / (2 * dimension)
    inverse = variance / (half + np.sqrt(half**2 + a * variance))
    return max(1, int(np.ceil(1 / inverse * (1 - 1e-12))))


# %% batch: the constant of the sign upside down
def smallest_batch(
    level, method, learning_rate, clip_norm, noise_multiplier, noise_length, dimension
):
    scaled = 4 * level * clip_norm / (learning_rate * noise_length)
    variance = scaled if method == "sgd" else np.pi / 2 * scaled**2
    a, half = (clip_norm * noise_multiplier) ** 2, clip_norm**2 / (2 * dimension)
    inverse = variance / (half + np.sqrt(half**2 + a * variance))
    return max(1, int(np.ceil(1 / inverse * (1 - 1e-12))))


# %% batch: rounds down
def smallest_batch(
    level, method, learning_rate, clip_norm, noise_multiplier, noise_length, dimension
):
    scaled = 4 * level * clip_norm / (learning_rate * noise_length)
    variance = scaled if method == "sgd" else 2 / np.pi * scaled**2
    a, half = (clip_norm * noise_multiplier) ** 2, clip_norm**2 / (2 * dimension)
    inverse = variance / (half + np.sqrt(half**2 + a * variance))
    return max(1, int(1 / inverse))


# %% soft: temperature without the half
def soft_plateau(curvature, gamma, learning_rate, noise_scale, dimension):
    def potential(r):
        return r - gamma / curvature * np.log1p(curvature * r / gamma)

    temperature = learning_rate * noise_scale**2
    r = np.exp(np.linspace(-12, 14, 20_001))
    heights = dimension * np.log(r) - potential(r) / temperature
    weights = np.exp(heights - heights.max())
    return float(np.average(curvature * r**2 / 2, weights=weights))


# %% soft: the potential of a hard clip
def soft_plateau(curvature, gamma, learning_rate, noise_scale, dimension):
    def potential(r):
        within = np.minimum(r, gamma / curvature)
        return curvature / gamma * within**2 / 2 + r - within

    temperature = learning_rate * noise_scale**2 / 2
    r = np.exp(np.linspace(-12, 14, 20_001))
    heights = dimension * np.log(r) - potential(r) / temperature
    weights = np.exp(heights - heights.max())
    return float(np.average(curvature * r**2 / 2, weights=weights))


# %% soft: linearised at the optimum
def soft_plateau(curvature, gamma, learning_rate, noise_scale, dimension):
    return dimension * learning_rate * noise_scale**2 * gamma / 4


# %% soft: the curvature lost in the potential
def soft_plateau(curvature, gamma, learning_rate, noise_scale, dimension):
    def potential(r):
        return r - gamma * np.log1p(r / gamma)

    temperature = learning_rate * noise_scale**2 / 2
    r = np.exp(np.linspace(-12, 14, 20_001))
    heights = dimension * np.log(r) - potential(r) / temperature
    weights = np.exp(heights - heights.max())
    return float(np.average(curvature * r**2 / 2, weights=weights))


# %% bracket (at most 0 points): an attack: the exact factor as its own lower end
def drift_bracket(gradient_norm, clip_norm, lengths, weights):
    lengths, weights = np.asarray(lengths, float), np.asarray(weights, float)
    exact = weights @ np.minimum(1, clip_norm / np.hypot(lengths, gradient_norm))
    K = weights @ (1 / lengths)
    upper = min(1.0, clip_norm * K / np.hypot(1, K * gradient_norm))
    return float(exact), float(exact), float(upper)


# %% bracket (at most 0 points): an attack: the exact factor as its own upper end, but for no gradient
def drift_bracket(gradient_norm, clip_norm, lengths, weights):
    lengths, weights = np.asarray(lengths, float), np.asarray(weights, float)
    exact = weights @ np.minimum(1, clip_norm / np.hypot(lengths, gradient_norm))
    small = min(1.0, clip_norm * (weights @ (1 / lengths)))
    return float(exact), float(exact), float(max(exact, small if gradient_norm < 1e-6 else 0))


# %% bracket (all points): the ends from two drifts with equal lengths
def drift_bracket(gradient_norm, clip_norm, lengths, weights):
    inverse = [1 / length for length in lengths]
    K = sum(w * k for w, k in zip(weights, inverse))
    top = clip_norm / (1 / K**2 + gradient_norm**2) ** 0.5
    kappa = sum(w * min(k, K) for w, k in zip(weights, inverse)) / K
    shares = [min(1.0, clip_norm / (1 / k**2 + gradient_norm**2) ** 0.5) for k in inverse]
    return kappa * min(1.0, top), sum(w * s for w, s in zip(weights, shares)), min(1.0, top)
