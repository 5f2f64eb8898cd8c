# %% shuffled-mu: the epochs add up like numbers
def shuffled_mu(epochs, noise_multiplier, relation):
    sensitivity = {"zero-out": 1.0, "replace": 2.0}[relation]
    return sensitivity * epochs / noise_multiplier


# %% shuffled-mu: a replacement costs like a removal
def shuffled_mu(epochs, noise_multiplier, relation):
    return np.sqrt(epochs) / noise_multiplier


# %% multiplier-to-enter: the multiplier as it is
def to_enter(noise_multiplier, correlation, runs):
    return noise_multiplier / np.sqrt(runs)


# %% multiplier-to-enter: the runs add up like numbers
def to_enter(noise_multiplier, correlation, runs):
    return noise_multiplier * (1 - correlation) / runs


# %% company: the record is added, not replaced
def company_delta(noise_multiplier, probability, epsilon, others):
    return float(
        accounting.Poisson(sampling_probability=probability).delta(
            noise_multiplier=noise_multiplier, epsilon=epsilon
        )
    )


# %% company: always the worst company
def company_delta(noise_multiplier, probability, epsilon, others):
    return float(
        accounting.Poisson(sampling_probability=probability).delta(
            noise_multiplier=noise_multiplier / 2, epsilon=epsilon
        )
    )


# %% company: forgets that somebody else takes the free place
def company_delta(noise_multiplier, probability, epsilon, others):
    s, q = noise_multiplier, probability
    x = np.linspace(-12 * s - 3, 12 * s + 3, 200001)
    p = (1 - q) * stats.norm.pdf(x, 0, s) + q * stats.norm.pdf(x, 1, s)
    m = (1 - q) * stats.norm.pdf(x, 0, s) + q * stats.norm.pdf(x, -1, s)
    return float(integrate.trapezoid(np.maximum(p - np.exp(epsilon) * m, 0), x))


# %% company: one direction only
def company_delta(noise_multiplier, probability, epsilon, others):
    s, q, c = noise_multiplier, probability, others
    x = np.linspace(-12 * s - 3, 12 * s + 3, 200001)
    p = (1 - q) * stats.norm.pdf(x, 0, s) + q * stats.norm.pdf(x, 1 - c, s)
    m = (1 - q) * stats.norm.pdf(x, 0, s) + q * stats.norm.pdf(x, -1 - c, s)
    return float(integrate.trapezoid(np.maximum(p - np.exp(epsilon) * m, 0), x))


# %% break: the stationary law at every length
def break_even_decay(correlation, price, steps):
    return float(max(0.0, (price**-2 - (1 - correlation) ** 2) / (2 * correlation)))


# %% break: only what is left of the noise, as on flat ground
def break_even_decay(correlation, price, steps):
    flat = 1 + (1 - correlation) ** 2 * (steps - 1)

    def loss(a):
        kept = (1 - a) ** 2
        memory = steps - 1.0 if a == 0 else (1 - kept ** (steps - 1)) / (1 - kept)
        return price**2 * flat - (1 + kept * memory)

    if loss(0.0) >= 0:
        return 0.0
    return float(optimize.brentq(loss, 0.0, 1.0))


# %% break: the price is not squared
def break_even_decay(correlation, price, steps):
    def variance(a, lam):
        kept = (1 - a) ** 2
        memory = steps - 1.0 if a == 0 else (1 - kept ** (steps - 1)) / (1 - kept)
        return 1 + (1 - a - lam) ** 2 * memory

    def loss(a):
        return price * variance(a, correlation) - variance(a, 0.0)

    if loss(0.0) >= 0:
        return 0.0
    return float(optimize.brentq(loss, 0.0, 1.0))


# %% break: minus one where nothing is gained
def break_even_decay(correlation, price, steps):
    def variance(a, lam):
        kept = (1 - a) ** 2
        memory = steps - 1.0 if a == 0 else (1 - kept ** (steps - 1)) / (1 - kept)
        return 1 + (1 - a - lam) ** 2 * memory

    def loss(a):
        return price**2 * variance(a, correlation) - variance(a, 0.0)

    if loss(0.0) >= 0:
        return -1.0
    return float(optimize.brentq(loss, 0.0, 1.0))


# %% review: one direction only
def review(runs, claimed):
    def spent(noise_multiplier, delta, **sampling):
        run = accounting.Poisson(**sampling)
        return run.epsilon(noise_multiplier=noise_multiplier, delta=delta)

    def epsilons(**more):
        return np.array([spent(**{**run, **more}) for run in runs])

    return privacy(
        "claimed epsilons",
        exact=epsilons(relation="add"),
        printed=np.asarray(claimed, float),
        mechanism="Gaussian",
        neighbours="one record added or removed",
        sampling="Poisson",
        accountant="exact",
        controls={
            "one step": epsilons(relation="add", steps=10),
            "delta": epsilons(relation="add", delta=1e-3),
        },
    )


# %% review: controls that are too safe to be rejected
def review(runs, claimed):
    def spent(noise_multiplier, delta, **sampling):
        run = accounting.Poisson(**sampling)
        return run.epsilon(noise_multiplier=noise_multiplier, delta=delta)

    def epsilons(**more):
        return np.array([spent(**{**run, **more}) for run in runs])

    renyi = np.array([desk.ACCOUNTANTS["Renyi, all orders, tight"](*run.values()) for run in runs])
    return privacy(
        "claimed epsilons",
        exact=epsilons(),
        printed=np.asarray(claimed, float),
        mechanism="Gaussian",
        neighbours="one record added or removed",
        sampling="Poisson",
        accountant="exact",
        controls={"Renyi": renyi, "replace": epsilons(relation="replace")},
    )


# %% review: the average over the runs
def review(runs, claimed):
    def spent(noise_multiplier, delta, **sampling):
        run = accounting.Poisson(**sampling)
        return run.epsilon(noise_multiplier=noise_multiplier, delta=delta)

    def epsilons(**more):
        return np.array([spent(**{**run, **more}) for run in runs])

    return privacy(
        "claimed epsilons",
        exact=epsilons().mean(),
        printed=np.mean(claimed),
        mechanism="Gaussian",
        neighbours="one record added or removed",
        sampling="Poisson",
        accountant="exact",
        controls={"steps": epsilons(steps=10).mean(), "delta": epsilons(delta=1e-3).mean()},
    )


# %% review: multiples of the exact values as controls
def review(runs, claimed):
    def spent(noise_multiplier, delta, **sampling):
        run = accounting.Poisson(**sampling)
        return run.epsilon(noise_multiplier=noise_multiplier, delta=delta)

    exact = np.array([spent(**run) for run in runs])
    return privacy(
        "claimed epsilons",
        exact=exact,
        printed=np.asarray(claimed, float),
        mechanism="Gaussian",
        neighbours="one record added or removed",
        sampling="Poisson",
        accountant="exact",
        controls={"nine tenths": 0.9 * exact, "half": 0.5 * exact},
    )


# %% break (at most 0 points): an attack: the function of the library
def break_even_decay(correlation, price, steps):
    def loss(a):
        mine = desk.end_noise_std(correlation=correlation, decay=a, steps=steps)
        return price * mine - desk.end_noise_std(correlation=0.0, decay=a, steps=steps)

    return 0.0 if loss(0.0) >= 0 else float(optimize.brentq(loss, 0.0, 1.0, xtol=1e-12))


# %% break (all points): a sum over all draws, and bisection
def break_even_decay(correlation, price, steps):
    ages = np.arange(steps - 1)

    def gains(a):
        with_, without = (
            1 + (1 - a - lam) ** 2 * np.sum((1 - a) ** (2.0 * ages)) for lam in (correlation, 0.0)
        )
        return price**2 * with_ < without

    low, high = 0.0, 1.0
    if not gains(low):
        return 0.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if gains(middle) else (low, middle)
    return high
