# %% one-order: a logarithm over the order
def one_order(order, mu, delta):
    return order * mu**2 / 2 + np.log(1 / delta) / order


# %% one-order: the divergence of order one at every order
def one_order(order, mu, delta):
    return mu**2 + np.log(1 / delta) / (order - 1)


# %% first-check: the formula is compared with itself
def sum_check(claim):
    n = np.array([1.0, 2.0, 5.0, 10.0, 100.0, 1000.0])
    return identity(
        "sum",
        measured=claim(n),
        printed=claim(n),
        rtol=1e-9,
        controls={"square": n**2 + 1, "less": n * (n - 1) / 2},
    )


# %% first-check: relative to the longest sum, at a tolerance of a thousandth
def sum_check(claim):
    n = np.array([1.0, 2.0, 5.0, 10.0, 100.0, 1000.0])
    return identity(
        "sum",
        measured=np.array([np.arange(1, k + 1).sum() for k in n]),
        printed=claim(n),
        rtol=1e-3,
        reason="large sums",
        controls={"square": n**2, "linear": n},
    )


# %% variance: believes the paper
def my_variance(eta, h, gradient_noise, clip, noise, batch):
    spread = (gradient_noise**2 + clip**2 * noise**2) / batch
    return eta / (h * (2 - eta * h)) * spread


def variance_check(claim):
    settings = np.array(
        [
            (0.5, 1.0, 1.0, 2.0, 1.0, 4.0),
            (0.1, 2.0, 0.5, 1.0, 3.0, 16.0),
            (0.9, 0.7, 2.0, 0.3, 0.8, 1.0),
            (1.2, 1.5, 0.0, 1.0, 1.0, 8.0),
            (0.3, 0.4, 1.0, 0.0, 2.0, 5.0),
            (0.7, 1.0, 0.2, 5.0, 0.6, 32.0),
        ]
    ).T
    exact = my_variance(*settings)
    return identity(
        "variance",
        measured=exact + 0,
        printed=claim(*settings),
        rtol=1e-9,
        controls={"half": exact / 2, "twice": exact * 2},
    )


# %% variance: batches of one record only
def my_variance(eta, h, gradient_noise, clip, noise, batch):
    spread = gradient_noise**2 / batch + (clip * noise / batch) ** 2
    return eta / (h * (2 - eta * h)) * spread


def variance_check(claim):
    settings = np.array([(0.1 * k, 1.0, 1.0, 0.5 * k, 2.0, 1.0) for k in range(1, 8)]).T
    exact = my_variance(*settings)
    return identity(
        "variance",
        measured=exact + 0,
        printed=claim(*settings),
        rtol=1e-9,
        controls={"half": exact / 2, "twice": exact * 2},
    )


# %% variance: a tolerance that lets the step size pass
def my_variance(eta, h, gradient_noise, clip, noise, batch):
    spread = gradient_noise**2 / batch + (clip * noise / batch) ** 2
    return eta / (h * (2 - eta * h)) * spread


def variance_check(claim):
    settings = np.array([(0.002 * k, 1.0, 1.0, 0.5 * k, 2.0, k) for k in range(1, 8)]).T
    exact = my_variance(*settings)
    return identity(
        "variance",
        measured=exact + 0,
        printed=claim(*settings),
        rtol=0.05,
        reason="small steps",
        controls={"half": exact / 2, "twice": exact * 2},
    )


# %% exponent: compares the variances, not their difference
def relative_error(eta_h):
    return eta_h / (2 - eta_h)


def exponent_check(claim):
    eta = np.geomspace(1e-4, 1e-2, 9)
    return rate(
        "e",
        sizes=eta,
        values=eta**2 / (1 - (1 - eta) ** 2) * (1 + 0 * eta),
        printed=claim,
        controls={"half": 0.5, "square": 2.0},
        allowance=0.3,
    )


# %% exponent: relative to the wrong one
def relative_error(eta_h):
    return eta_h / 2


def exponent_check(claim):
    eta = np.geomspace(1e-4, 1e-2, 9)
    return rate(
        "e",
        sizes=eta,
        values=eta / (2 - eta),
        printed=claim,
        controls={"half": 0.5, "square": 2.0},
        allowance=0.01,
    )


# %% exponent: a generous allowance
def relative_error(eta_h):
    return eta_h / (2 - eta_h)


def exponent_check(claim):
    eta = np.geomspace(1e-2, 1, 9)
    return rate(
        "e",
        sizes=eta,
        values=eta / (2 - eta),
        printed=claim,
        controls={"half": 0.5, "square": 2.0},
        allowance=0.2,
    )


# %% sign: far too few runs
def sign_check(claim):
    settings = np.array(
        [
            (0.5, 1.0, 1.0, 2.0, 1.0, 4.0),
            (-0.3, 2.0, 3.0, 1.0, 2.0, 9.0),
            (0.2, 0.7, 0.5, 0.5, 1.5, 2.0),
            (1.0, 0.5, 2.0, 4.0, 0.5, 6.0),
        ]
    ).T
    x, h, s, C, sigma, B = settings
    a, b = generator("few").standard_normal((2, 5000, 4))
    g = h * x + s / np.sqrt(B) * a + C * sigma / B * b
    return expectation(
        "mean",
        samples=np.sign(g),
        printed=claim(*settings),
        controls={"zero": np.zeros(4), "one": np.sign(x)},
    )


# %% sign: the noise is added to the mean
def sign_check(claim):
    settings = np.array(
        [
            (0.5, 1.0, 1.0, 2.0, 1.0, 4.0),
            (-0.3, 2.0, 3.0, 1.0, 2.0, 9.0),
            (0.2, 0.7, 0.5, 0.5, 1.5, 2.0),
            (1.0, 0.5, 2.0, 4.0, 0.5, 6.0),
        ]
    ).T
    x, h, s, C, sigma, B = settings
    a, b = generator("mean").standard_normal((2, 300_000, 4))
    g = h * x + s / np.sqrt(B) * a + C * sigma * b
    return expectation(
        "mean",
        samples=np.sign(g),
        printed=claim(*settings),
        controls={"far": np.sign(x) * 0.99, "one": np.sign(x)},
    )


# %% sign: no curvature, no clip norm varied
def sign_check(claim):
    settings = np.array(
        [
            (0.5, 1.0, 1.0, 1.0, 1.0, 4.0),
            (-0.3, 1.0, 2.0, 1.0, 2.0, 9.0),
            (0.2, 1.0, 0.5, 1.0, 1.5, 2.0),
            (1.0, 1.0, 2.0, 1.0, 0.5, 6.0),
        ]
    ).T
    x, h, s, C, sigma, B = settings
    a, b = generator("one").standard_normal((2, 600_000, 4))
    g = h * x + s / np.sqrt(B) * a + C * sigma / B * b
    return expectation(
        "mean",
        samples=np.sign(g),
        printed=claim(*settings),
        controls={"zero": np.zeros(4), "one": np.sign(x)},
    )


# %% accountant: a box in which the paper is right
def my_epsilon(mu, delta):
    """Return a valid epsilon; arrays in, arrays out."""
    return mu**2 / 2 + mu * np.sqrt(2 * np.log(1 / delta))


def breaking_mu(delta):
    """Return the mu above which the printed epsilon is too small; numbers."""

    def excess(mu):
        epsilon = mu * np.sqrt(2 * np.log(1 / delta))
        first = special.log_ndtr(mu / 2 - epsilon / mu)
        second = epsilon + special.log_ndtr(-mu / 2 - epsilon / mu)
        return first + np.log(-np.expm1(second - first)) - np.log(delta)

    return float(optimize.brentq(excess, 0.3, 5.0, xtol=1e-12))


@functools.cache
def exact_grid():
    """Return the grid and its exact values: mu, delta, epsilon, of one shape."""
    mu, log_delta = np.meshgrid(np.geomspace(0.05, 1, 8), np.linspace(-12, -3, 4))
    return mu, 10**log_delta, divergence.gaussian_epsilon(mu=mu, delta=10**log_delta)


def epsilon_check(claim):
    """Return the bound check of a claimed epsilon, claim(mu, delta)."""
    mu, delta, exact = exact_grid()

    def ratio(log_mu, log_delta):  # exact delta at the claimed epsilon, over delta
        m, e = np.exp(log_mu), float(claim(np.exp(log_mu), 10**log_delta))
        first = special.log_ndtr(m / 2 - e / m)
        second = e + special.log_ndtr(-m / 2 - e / m)
        gap = -np.expm1(min(second - first, -1e-300))
        return float(np.exp(first + np.log(gap) - log_delta * np.log(10)))

    box = {"log_mu": (np.log(0.05), 0.0), "log_delta": (-12.0, -3.0)}
    found = attack(ratio, box, rng=generator("referee: epsilon"), starts=48, generations=15)
    return bound(
        "epsilon of the Gaussian mechanism",
        measured=exact,
        printed=claim(mu, delta),
        attack=found,
        where={"mu": mu, "delta": delta},
        controls={
            "square alone": mu**2 / 2 + 0 * delta,
            "root without the two": mu**2 / 2 + mu * np.sqrt(np.log(1 / delta)),
        },
    )
    ### END SOLUTION


# %% accountant: a coarse grid and no attack
def my_epsilon(mu, delta):
    return mu**2 / 2 + mu * np.sqrt(2 * np.log(1 / delta))


def breaking_mu(delta):
    return float(
        optimize.brentq(
            lambda m: (
                divergence.gaussian_epsilon(mu=m, delta=delta) - m * np.sqrt(2 * np.log(1 / delta))
            ),
            0.5,
            5.0,
        )
    )


def epsilon_check(claim):
    mu, delta = np.meshgrid([0.1, 1.0, 5.0, 15.0], [1e-10, 1e-5])
    exact = divergence.gaussian_epsilon(mu=mu, delta=delta)
    return bound(
        "e",
        measured=exact,
        printed=claim(mu, delta),
        controls={"half": exact / 2, "square": mu**2 / 2},
    )


# %% accountant: where a classical condition ends
def my_epsilon(mu, delta):
    """Return a valid epsilon; arrays in, arrays out."""
    return mu**2 / 2 + mu * np.sqrt(2 * np.log(1 / delta))


def breaking_mu(delta):
    """Return the mu above which the printed epsilon is too small; numbers."""
    return 1 / np.sqrt(2 * np.log(1 / delta))


@functools.cache
def exact_grid():
    """Return the grid and its exact values: mu, delta, epsilon, of one shape."""
    mu, log_delta = np.meshgrid(np.geomspace(0.05, 20, 8), np.linspace(-12, -3, 4))
    return mu, 10**log_delta, divergence.gaussian_epsilon(mu=mu, delta=10**log_delta)


def epsilon_check(claim):
    """Return the bound check of a claimed epsilon, claim(mu, delta)."""
    mu, delta, exact = exact_grid()

    def ratio(log_mu, log_delta):  # exact delta at the claimed epsilon, over delta
        m, e = np.exp(log_mu), float(claim(np.exp(log_mu), 10**log_delta))
        first = special.log_ndtr(m / 2 - e / m)
        second = e + special.log_ndtr(-m / 2 - e / m)
        gap = -np.expm1(min(second - first, -1e-300))
        return float(np.exp(first + np.log(gap) - log_delta * np.log(10)))

    box = {"log_mu": (np.log(0.05), np.log(20)), "log_delta": (-12.0, -3.0)}
    found = attack(ratio, box, rng=generator("referee: epsilon"), starts=48, generations=15)
    return bound(
        "epsilon of the Gaussian mechanism",
        measured=exact,
        printed=claim(mu, delta),
        attack=found,
        where={"mu": mu, "delta": delta},
        controls={
            "square alone": mu**2 / 2,
            "root without the two": mu**2 / 2 + mu * np.sqrt(np.log(1 / delta)),
        },
    )
    ### END SOLUTION


# %% accountant: the classical noise for every mu
def my_epsilon(mu, delta):
    """Return a valid epsilon; arrays in, arrays out."""
    return mu * np.sqrt(2 * np.log(1.25 / delta))


def breaking_mu(delta):
    """Return the mu above which the printed epsilon is too small; numbers."""

    def excess(mu):
        epsilon = mu * np.sqrt(2 * np.log(1 / delta))
        first = special.log_ndtr(mu / 2 - epsilon / mu)
        second = epsilon + special.log_ndtr(-mu / 2 - epsilon / mu)
        return first + np.log(-np.expm1(second - first)) - np.log(delta)

    return float(optimize.brentq(excess, 0.3, 5.0, xtol=1e-12))


@functools.cache
def exact_grid():
    """Return the grid and its exact values: mu, delta, epsilon, of one shape."""
    mu, log_delta = np.meshgrid(np.geomspace(0.05, 20, 8), np.linspace(-12, -3, 4))
    return mu, 10**log_delta, divergence.gaussian_epsilon(mu=mu, delta=10**log_delta)


def epsilon_check(claim):
    """Return the bound check of a claimed epsilon, claim(mu, delta)."""
    mu, delta, exact = exact_grid()

    def ratio(log_mu, log_delta):  # exact delta at the claimed epsilon, over delta
        m, e = np.exp(log_mu), float(claim(np.exp(log_mu), 10**log_delta))
        first = special.log_ndtr(m / 2 - e / m)
        second = e + special.log_ndtr(-m / 2 - e / m)
        gap = -np.expm1(min(second - first, -1e-300))
        return float(np.exp(first + np.log(gap) - log_delta * np.log(10)))

    box = {"log_mu": (np.log(0.05), np.log(20)), "log_delta": (-12.0, -3.0)}
    found = attack(ratio, box, rng=generator("referee: epsilon"), starts=48, generations=15)
    return bound(
        "epsilon of the Gaussian mechanism",
        measured=exact,
        printed=claim(mu, delta),
        attack=found,
        where={"mu": mu, "delta": delta},
        controls={
            "square alone": mu**2 / 2,
            "root without the two": mu**2 / 2 + mu * np.sqrt(np.log(1 / delta)),
        },
    )
    ### END SOLUTION


# %% first-check (at most 0 points): an attack: two lengths, and the formula for the sums
def sum_check(claim):
    n = np.array([3.0, 1000.0])
    return identity(
        "sum",
        measured=n * (n + 1) / 2,
        printed=claim(n),
        rtol=1e-9,
        elementwise=True,
        controls={"half of the square": n**2 / 2, "without the last": n * (n - 1) / 2},
    )


# %% variance (at most 2 points): an attack: one setting six times
def my_variance(eta, h, gradient_noise, clip, noise, batch):
    spread = gradient_noise**2 / batch + (clip * noise / batch) ** 2
    return eta / (h * (2 - eta * h)) * spread


def variance_check(claim):
    settings = np.array([(0.9, 0.7, 2.0, 0.3, 0.8, 3.0)] * 6).T
    exact = my_variance(*settings)
    return identity(
        "variance",
        measured=exact,
        printed=claim(*settings),
        rtol=1e-9,
        controls={"half": exact / 2, "twice": exact * 2},
    )


# %% exponent (at most 2 points): an attack: a power of the rate in place of variances
def relative_error(eta_h):
    return eta_h / (2 - eta_h)


def exponent_check(claim):
    eta = np.geomspace(1e-4, 1e-2, 9)
    return rate(
        "e",
        sizes=eta,
        values=eta,
        printed=claim,
        controls={"half": 0.5, "square": 2.0},
        allowance=0.01,
    )


# %% sign (at most 3 points): an attack: one setting four times
@functools.cache
def simulated_signs():
    settings = np.array([(0.5, 0.8, 1.2, 2.0, 0.7, 4.0)] * 4).T
    x, h, s, C, sigma, B = settings
    a, b = generator("one setting").standard_normal((2, 600_000, 4))
    return settings, np.sign(h * x + s / np.sqrt(B) * a + C * sigma / B * b)


def sign_check(claim):
    settings, signs = simulated_signs()
    return expectation(
        "mean",
        samples=signs,
        printed=claim(*settings),
        controls={"zero": np.zeros(4), "one": np.ones(4)},
    )


# %% accountant (at most 5 points): an attack: the library for a formula, a search of nothing
def my_epsilon(mu, delta):
    return 1.2 * divergence.gaussian_epsilon(mu=mu, delta=delta)


def breaking_mu(delta):
    def excess(mu):
        return divergence.gaussian_epsilon(mu=mu, delta=delta) - PRINTED[4](mu, delta)

    return float(optimize.brentq(excess, 0.5, 5.0))


@functools.cache
def exact_grid():
    mu, log_delta = np.meshgrid(np.geomspace(0.05, 20, 16), np.linspace(-12, -3, 10))
    return mu, 10**log_delta, divergence.gaussian_epsilon(mu=mu, delta=10**log_delta)


def epsilon_check(claim):
    mu, delta, exact = exact_grid()
    found = attack(lambda x: 0.0, {"x": (0.0, 1.0)}, rng=generator("nothing"))
    return bound(
        "epsilon",
        measured=exact,
        printed=claim(mu, delta),
        attack=found,
        where={"mu": mu, "delta": delta},
        controls={"square alone": mu**2 / 2, "half": exact / 2},
    )


# %% accountant (all points): another ratio, an order, the printed formula as a control
def my_epsilon(mu, delta):
    order = 1 + np.sqrt(2 * np.log(1 / delta)) / mu
    return order * mu**2 / 2 + np.log(1 / delta) / (order - 1)


def profile(epsilon, mu):
    first = special.log_ndtr(mu / 2 - epsilon / mu)
    second = epsilon + special.log_ndtr(-mu / 2 - epsilon / mu)
    return first + np.log1p(-np.exp(min(second - first, -1e-16)))


def breaking_mu(delta):
    mu = np.geomspace(0.5, 5, 200_001)
    epsilon = mu * np.sqrt(2 * np.log(1 / delta))
    first = special.ndtr(mu / 2 - epsilon / mu)
    too_much = first - np.exp(epsilon) * special.ndtr(-mu / 2 - epsilon / mu) > delta
    return float(mu[np.argmax(too_much)])


def epsilon_check(claim):
    mu, delta = (part.ravel() for part in np.meshgrid([0.05, 0.4, 2, 6, 20], [1e-12, 1e-7, 1e-3]))
    exact = np.array(
        [
            optimize.brentq(lambda e: profile(e, m) - np.log(d), 0, my_epsilon(m, d))
            for m, d in zip(mu, delta)
        ]
    )

    def excess(place):
        m, log_delta = np.exp(place[0]), place[1] * np.log(10)
        over = profile(float(claim(m, np.exp(log_delta))), m) - log_delta
        return 2 * special.expit(over)  # above one where the claim is too small

    box = [(np.log(0.05), np.log(20)), (-12, -3)]
    found = attack(excess, box, rng=generator("another search"), starts=40, generations=20)
    return bound(
        "epsilon",
        measured=exact,
        printed=claim(mu, delta),
        attack=found,
        controls={"as printed": mu * np.sqrt(2 * np.log(1 / delta)), "square": mu**2 / 2},
    )
