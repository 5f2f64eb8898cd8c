# %% many-gaussians: the parameters add up
def many_gaussians(mus, delta):
    rho = np.sum(mus) ** 2 / 2
    return rho + 2 * np.sqrt(rho * np.log(1 / delta))


# %% many-gaussians: every release is converted, then added
def many_gaussians(mus, delta):
    rho = np.asarray(mus) ** 2 / 2
    return np.sum(rho + 2 * np.sqrt(rho * np.log(1 / delta)))


# %% many-gaussians: the half of rho is missing
def many_gaussians(mus, delta):
    rho = np.sum(np.asarray(mus) ** 2)
    return rho + 2 * np.sqrt(rho * np.log(1 / delta))


# %% many-gaussians (at most 0 points): an attack: the function of the library
def many_gaussians(mus, delta):
    from dpdynamics.divergence import zcdp_to_epsilon

    rho = np.sum(np.square(mus)) / 2
    return zcdp_to_epsilon(rho=rho, delta=delta, conversion="mironov")


# %% flipped-again: a lie that is flipped is not counted as true
def flipped_again(truth, flip):
    right = truth * (1 - flip)
    return np.log(right**2 / (1 - right) + (1 - right) ** 2 / right)


# %% flipped-again: processing changes nothing
def flipped_again(truth, flip):
    return np.log(truth**2 / (1 - truth) + (1 - truth) ** 2 / truth)


# %% worst-two-point: the laws of the theorem, optimal only for large divergences
def worst_two_point(order, divergence, epsilon):
    z = -np.log1p(-1 / order)
    p = np.expm1((order - 1) * divergence) * np.exp(-(order - 1) * (epsilon + z))
    p = min(p, 0.999)
    return p, p * np.exp(-epsilon - z)


# %% worst-two-point: the second point is ignored in the divergence
def worst_two_point(order, divergence, epsilon):
    level = np.exp((order - 1) * divergence)
    p = special.expit(np.linspace(-30, 8, 2000))
    q = np.minimum((p**order / level) ** (1 / (order - 1)), p)
    best = np.argmax(p - np.exp(epsilon) * q)
    return p[best], q[best]


# %% worst-two-point: randomised response only
def worst_two_point(order, divergence, epsilon):
    def excess(e):
        return two_point_divergence(special.expit(e), special.expit(-e), order) - divergence

    e = optimize.brentq(excess, 1e-9, 30)
    return special.expit(e), special.expit(-e)


# %% mixed-delta: basic composition, the bit shifts epsilon
def mixed_delta(mus, epsilon_0, epsilon):
    mu = np.sqrt(np.sum(np.square(mus)))
    return gaussian_delta(mu=mu, epsilon=epsilon - epsilon_0)


# %% mixed-delta: the Gaussian parameters are added without squares
def mixed_delta(mus, epsilon_0, epsilon):
    mu, t = np.sum(mus), special.expit(epsilon_0)
    one = gaussian_delta(mu=mu, epsilon=epsilon - epsilon_0)
    return t * one + (1 - t) * gaussian_delta(mu=mu, epsilon=epsilon + epsilon_0)


# %% mixed-delta: the bit is weighed with a fair coin
def mixed_delta(mus, epsilon_0, epsilon):
    mu = np.sqrt(np.sum(np.square(mus)))
    one = gaussian_delta(mu=mu, epsilon=epsilon - epsilon_0)
    return 0.5 * one + 0.5 * gaussian_delta(mu=mu, epsilon=epsilon + epsilon_0)


# %% once-mu: the marginal of the release that depends on the record
def once_mu(correlation, used_at, steps):
    if correlation == 0 or used_at == steps:
        return 1.0
    return 1 / np.sqrt(1 + correlation**2)


# %% once-mu: the run is taken to be infinitely long
def once_mu(correlation, used_at, steps):
    if used_at == steps:
        return 1.0
    return 1 / np.sqrt(max(1 - correlation**2, 1e-300))


# %% once-mu: the record is taken to be used at every step
def once_mu(correlation, used_at, steps):
    if correlation == 0 or used_at == steps:
        return 1.0
    left = steps - used_at + 1
    shifts = np.cumsum(correlation ** np.arange(min(left, 10**6)))
    return np.sqrt(np.sum(shifts**2))


# %% short-list: one plus is forgotten in the best order
def short_list(last_order, delta):
    log_term = np.log(1 / delta)
    return np.sqrt(2 * log_term) / last_order, log_term / last_order


# %% short-list: mu squared in place of mu squared over two
def short_list(last_order, delta):
    log_term = np.log(1 / delta)
    return np.sqrt(log_term) / (last_order - 1), log_term / (last_order - 1)


# %% short-list: the floor is that at the smallest mu that is served
def short_list(last_order, delta):
    log_term = np.log(1 / delta)
    mu = np.sqrt(2 * log_term) / (last_order - 1)
    return mu, mu**2 / 2 * last_order + log_term / (last_order - 1)


# %% refute: only Gaussians are tried, as thresholds on the line
def refute(conversion):
    for order, mu, delta in itertools.product((1.5, 2, 4, 8, 16), (0.3, 1, 2), (1e-6, 1e-3)):
        epsilon = conversion(order, order * mu**2 / 2, delta)
        if gaussian_delta(mu=mu, epsilon=epsilon) > delta * (1 + 1e-6):
            t = epsilon / mu + mu / 2
            return order, stats.norm.sf(t - mu), stats.norm.sf(t), delta
    return None


# %% refute: delta is compared with the tail of the loss
def refute(conversion):
    for order, delta in itertools.product((1.5, 2, 4, 8, 16), (1e-6, 1e-4, 1e-2)):
        for log_ratio in np.linspace(0.05, 25, 500):
            p = min(2 * delta, 0.9)
            q = p * np.exp(-log_ratio)
            epsilon = conversion(order, two_point_divergence(p, q, order), delta)
            if log_ratio > epsilon:
                return order, p, q, delta
    return None


# %% refute: randomised response only
def refute(conversion):
    for order, delta in itertools.product((1.5, 2, 4, 8, 16), (1e-6, 1e-4, 1e-2)):
        for e in np.linspace(0.05, 12, 300):
            p, q = special.expit(e), special.expit(-e)
            epsilon = conversion(order, two_point_divergence(p, q, order), delta)
            if p - np.exp(epsilon) * q > delta * (1 + 1e-6):
                return order, p, q, delta
    return None


# %% once-mu (at most 0 points): an attack: a sum of at most a million powers
def once_mu(correlation, used_at, steps):
    left = steps - used_at + 1
    if correlation == 1:
        return float(np.sqrt(left))
    return float(np.sqrt(np.sum(correlation ** (2.0 * np.arange(min(left, 10**6))))))


# %% refute (at most 0 points): an attack: one delta only
def refute(conversion):
    delta = 1e-4
    for order in (4, 8, 16):
        p = order * delta
        for log_ratio in np.linspace(0.05, 40, 600):
            q = p * np.exp(-log_ratio)
            epsilon = conversion(order, two_point_divergence(p, q, order), delta)
            if p - np.exp(epsilon) * q > delta * (1 + 1e-6):
                return order, p, q, delta
    return None


# %% refute (at most 0 points): an attack: two orders only
def refute(conversion):
    for order, delta in itertools.product((4, 16), (1e-6, 1e-4, 1e-2)):
        p = order * delta
        for log_ratio in np.linspace(0.05, 40, 600):
            q = p * np.exp(-log_ratio)
            epsilon = conversion(order, two_point_divergence(p, q, order), delta)
            if p - np.exp(epsilon) * q > delta * (1 + 1e-6):
                return order, p, q, delta
    return None


# %% once-mu (all points): the geometric sum, with logarithms of one plus
def once_mu(correlation, used_at, steps):
    left = steps - used_at + 1
    if correlation in (0, 1):
        return np.sqrt(left) if correlation else 1.0
    gap = 1 - correlation
    top = -np.expm1(2 * left * np.log1p(-gap))
    return np.sqrt(top / (gap * (2 - gap)))


# %% refute (all points): a search over both masses on logarithmic grids
def refute(conversion):
    shares = np.r_[np.linspace(1.05, 4, 60), np.geomspace(4, 60, 40)]
    for order, delta in itertools.product((4.0, 8.0, 16.0, 2.0), (1e-6, 1e-4, 1e-2)):
        for p in np.minimum(shares * delta, 0.99):
            for log_ratio in (1.0, 1.5, 2.0, 3.0, 5.0, 7.0, 9.0):
                q = p * np.exp(-log_ratio)
                e = conversion(order, two_point_divergence(p, q, order), delta)
                if p - np.exp(e) * q > delta * (1 + 1e-6):
                    return order, p, q, delta
    return None
