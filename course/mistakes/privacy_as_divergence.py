# %% best-gain: she must bet when she hears yes
def best_gain(truth, price):
    return truth - price * (1 - truth)


# %% best-gain: she never bets in every round
def best_gain(truth, price):
    return max(0.0, truth - price * (1 - truth))


# %% best-guess: the threshold at one of the means
def best_guess(sensitivity, noise):
    return normal.cdf(sensitivity / noise)


# %% best-guess: the noise over the sensitivity
def best_guess(sensitivity, noise):
    return normal.cdf(noise / sensitivity / 2)


# %% finite-profile: a symmetric half of the absolute difference
def finite_profile(p, q, epsilon):
    difference = np.asarray(p, float) - np.exp(epsilon) * np.asarray(q, float)
    return float(0.5 * np.abs(difference).sum()), difference > 0


# %% finite-profile: the tail of the loss in place of delta
def finite_profile(p, q, epsilon):
    p, q = np.asarray(p, float), np.asarray(q, float)
    event = p > np.exp(epsilon) * q
    return float(p[event].sum()), event


# %% finite-profile: outcomes that only one law can produce are dropped
def finite_profile(p, q, epsilon):
    p, q = np.asarray(p, float), np.asarray(q, float)
    event = (p > np.exp(epsilon) * q) & (q > 0)
    return float((p - np.exp(epsilon) * q)[event].sum()), event


# %% success: the prior is ignored
def success(profile, prior):
    return 0.5 * (1 + profile(0.0))


# %% success: the prior is given to the wrong law
def success(profile, prior):
    ratio = prior / (1 - prior)
    return prior + (1 - prior) * profile(np.log(ratio))


# %% success: the better guess without looking, plus the smaller prior times delta
def success(profile, prior):
    return max(prior, 1 - prior) + min(prior, 1 - prior) * profile(0.0)


# %% replace-delta: amplification for removing, at twice the distance
def replace_delta(sampling_probability, noise_multiplier, epsilon):
    inner = np.log1p(np.expm1(epsilon) / sampling_probability)
    return sampling_probability * gaussian_delta(mu=2 / noise_multiplier, epsilon=inner)


# %% replace-delta: two steps of a chain, a bound and not the value
def replace_delta(sampling_probability, noise_multiplier, epsilon):
    if sampling_probability == 1:
        return gaussian_delta(mu=2 / noise_multiplier, epsilon=epsilon)
    half = epsilon / 2
    inner = np.log1p(np.expm1(half) / sampling_probability)
    one = sampling_probability * gaussian_delta(mu=1 / noise_multiplier, epsilon=inner)
    return (1 + np.exp(half)) * one


# %% replace-delta: the factor exp(epsilon) is forgotten in the threshold
def replace_delta(sampling_probability, noise_multiplier, epsilon):
    q, sigma = sampling_probability, noise_multiplier
    t = epsilon * sigma**2 / 2
    up = (1 - q) * normal.sf(t / sigma) + q * normal.sf((t - 1) / sigma)
    down = (1 - q) * normal.sf(t / sigma) + q * normal.sf((t + 1) / sigma)
    return up - np.exp(epsilon) * down


# %% twins: the same pair, its outcomes in another order
def twins():
    p, q = np.array([0.6, 0.4]), np.array([0.3, 0.7])
    return p, q, p[::-1], q[::-1]


# %% twins: equal at epsilon = 0 only
def twins():
    return (
        np.array([0.6, 0.4]),
        np.array([0.3, 0.7]),
        np.array([0.3, 0.7]),
        np.array([0.0, 1.0]),
    )


# %% twins: the laws of the second pair exchanged
def twins():
    p, q = np.array([0.5, 0.3, 0.2]), np.array([0.1, 0.3, 0.6])
    return p, q, q, p


# %% accept: the tail of the loss
def accept(claim, losses, epsilon):
    above = np.asarray(losses) > epsilon
    error = above.std() / np.sqrt(len(above))
    return bool(abs(above.mean() - claim) <= 4 * error)


# %% accept: the standard deviation in place of the standard error
def accept(claim, losses, epsilon):
    values = -np.expm1(-np.maximum(np.asarray(losses) - epsilon, 0.0))
    return bool(abs(values.mean() - claim) <= values.std())


# %% accept: a fixed tolerance
def accept(claim, losses, epsilon):
    values = -np.expm1(-np.maximum(np.asarray(losses) - epsilon, 0.0))
    return bool(abs(values.mean() - claim) <= 0.02)


# %% accept: infinite losses are thrown away
def accept(claim, losses, epsilon):
    losses = np.asarray(losses)
    values = -np.expm1(-np.maximum(losses[np.isfinite(losses)] - epsilon, 0.0))
    return bool(abs(values.mean() - claim) <= 4 * values.std() / np.sqrt(len(values)))


# %% accept (at most 0 points): an attack: the function of the library
def accept(claim, losses, epsilon):
    from dpdynamics.verification import expectation

    values = -np.expm1(-np.maximum(np.asarray(losses, dtype=float) - epsilon, 0.0))
    controls = {"nothing": 0.0, "everything": 1.0}
    return expectation("delta", samples=values, printed=claim, controls=controls).outcome == "holds"


# %% finite-profile: an outcome that only one law can produce is lost where the price overflows
def finite_profile(p, q, epsilon):
    p, q = np.asarray(p, dtype=float), np.asarray(q, dtype=float)
    excess = p - np.exp(epsilon) * q
    event = excess > 0
    return float(excess[event].sum()), event


# %% replace-delta (at most 0 points): an attack: numerical integration on a fine grid
def replace_delta(sampling_probability, noise_multiplier, epsilon):
    q, s = sampling_probability, noise_multiplier
    x = np.linspace(-10 * s - 1, 10 * s + 1, 400_001)
    centre = normal.pdf(x, 0, s)
    one = (1 - q) * centre + q * normal.pdf(x, 1, s)
    two = (1 - q) * centre + q * normal.pdf(x, -1, s)
    return np.maximum(one - np.exp(epsilon) * two, 0).sum() * (x[1] - x[0])


# %% finite-profile (all points): outcome by outcome, by the loss
def finite_profile(p, q, epsilon):
    delta, event = 0.0, []
    for a, b in zip(p, q):
        loss = np.inf if b == 0 else (np.log(a / b) if a > 0 else -np.inf)
        event.append(bool(a > 0 and loss > epsilon))
        delta += -a * np.expm1(epsilon - loss) if event[-1] else 0.0
    return delta, np.array(event, dtype=bool)


# %% replace-delta (all points): the end point by an inverse hyperbolic sine
def replace_delta(sampling_probability, noise_multiplier, epsilon):
    q, s = sampling_probability, noise_multiplier
    ratio = (1 - q) / q * np.sinh(epsilon / 2) * np.exp(1 / (2 * s**2))
    t = s**2 * (epsilon / 2 + np.arcsinh(ratio))
    middle, up, down = normal.sf(np.array([t, t - 1, t + 1]) / s)
    return (1 - q) * -np.expm1(epsilon) * middle + q * (up - np.exp(epsilon) * down)


# %% replace-delta (at most 0 points): an attack: the function of the library
def replace_delta(sampling_probability, noise_multiplier, epsilon):
    from dpdynamics.accounting import Poisson

    run = Poisson(sampling_probability=sampling_probability, steps=1, relation="replace")
    return run.delta(noise_multiplier=noise_multiplier, epsilon=epsilon)
