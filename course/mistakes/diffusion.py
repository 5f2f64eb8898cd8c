# %% two-covariances: the second moment in place of the covariance
def two_covariances(v, noise):
    diffusion = (v @ v + noise**2) * np.eye(len(v))
    return diffusion + 2 * np.outer(v, v), diffusion


# %% two-covariances: the noise is not squared
def two_covariances(v, noise):
    diffusion = (v @ v + noise) * np.eye(len(v))
    return diffusion + np.outer(v, v), diffusion


# %% one-step-means: the fourth moment as if it were the square of the second
def one_step_means(gamma, dimension):
    algorithm = 1 - 2 * gamma / dimension + gamma**2 / dimension
    return algorithm, np.exp((gamma**2 - 2 * gamma) / dimension)


# %% one-step-means: the equation without its noise
def one_step_means(gamma, dimension):
    algorithm = 1 - 2 * gamma / dimension + gamma**2 * (dimension + 2) / dimension**2
    return algorithm, np.exp(-2 * gamma / dimension)


# %% one-step-means (at most 0 points): an attack: the function of the library
def one_step_means(gamma, dimension):
    from dpdynamics import dynamics, problems

    start = np.eye(dimension)[0]
    problem = problems.LeastSquares(np.ones(dimension), 0 * start, 0.0, 0.0)
    rates, times = np.array([gamma / dimension]), np.array([0.0, 1 / dimension])
    algorithm = dynamics.gaussian_moment_recursion(problem, start, rates, 0.0)
    equation = dynamics.risk_curve(problem, start, gamma, 0.0, times)
    return 2 * algorithm.population[-1], 2 * equation.population[-1]


# %% sign-moment: Isserlis' theorem, which is for Gaussian features
def sign_moment(hessian, eigenvalues, v, label_variance):
    s = np.diag(eigenvalues)
    v = np.asarray(v, float)
    trace = np.trace(s @ hessian)
    return trace * (v @ s @ v + label_variance) + 2 * v @ s @ hessian @ s @ v


# %% sign-moment: only the product of the means
def sign_moment(hessian, eigenvalues, v, label_variance):
    lam, v = np.asarray(eigenvalues, float), np.asarray(v, float)
    return np.sum(lam * np.diag(hessian)) * (np.sum(lam * v**2) + label_variance)


# %% sign-moment: one of the two pairings is forgotten
def sign_moment(hessian, eigenvalues, v, label_variance):
    root = np.sqrt(np.asarray(eigenvalues, float))
    m, u = np.asarray(hessian) * np.outer(root, root), root * np.asarray(v, float)
    paired = u @ m @ u - np.sum(np.diag(m) * u**2)
    return np.trace(m) * (u @ u + label_variance) + paired


# %% one-step-change: the rank-one part of the covariance is still missing
def one_step_change(v, truth, eigenvalues, hessian, ridge, gamma, noise, label_variance):
    d, lam = len(v), np.asarray(eigenvalues)
    gradient = lam * v + ridge * (v + truth)
    covariance = (np.sum(lam * v**2) + label_variance) * np.diag(lam)
    covariance = covariance + noise**2 * np.eye(d)
    second = np.trace(hessian @ covariance) + gradient @ hessian @ gradient
    return -gamma / d * v @ hessian @ gradient + gamma**2 / d**2 / 2 * second


# %% one-step-change: the ridge still pulls towards the truth
def one_step_change(v, truth, eigenvalues, hessian, ridge, gamma, noise, label_variance):
    d, lam = len(v), np.asarray(eigenvalues)
    gradient = lam * v + ridge * v
    covariance = (np.sum(lam * v**2) + label_variance) * np.diag(lam)
    covariance = covariance + np.outer(lam * v, lam * v) + noise**2 * np.eye(d)
    second = np.trace(hessian @ covariance) + gradient @ hessian @ gradient
    return -gamma / d * v @ hessian @ gradient + gamma**2 / d**2 / 2 * second


# %% one-step-change: the generator of the diffusion
def one_step_change(v, truth, eigenvalues, hessian, ridge, gamma, noise, label_variance):
    d, lam = len(v), np.asarray(eigenvalues)
    gradient = lam * v + ridge * (v + truth)
    covariance = (np.sum(lam * v**2) + label_variance) * np.diag(lam)
    second = np.trace(hessian @ (covariance + noise**2 * np.eye(d)))
    return -gamma / d * v @ hessian @ gradient + gamma**2 / d**2 / 2 * second


# %% coordinate-variances: the dropped term does not decay on its way
def coordinate_variances(risk, eigenvalue, start, gamma, noise, horizon):
    k = gamma * eigenvalue

    def source(t):
        return np.exp(-2 * k * (horizon - t)) * (2 * risk(t) * eigenvalue + noise**2)

    base = gamma**2 * integrate.quad(source, 0, horizon)[0]
    return base, base + (k * start) ** 2 * -np.expm1(-2 * k * horizon) / (2 * k)


# %% coordinate-variances: one factor of the propagator in place of its square
def coordinate_variances(risk, eigenvalue, start, gamma, noise, horizon):
    k = gamma * eigenvalue

    def source(t):
        return np.exp(-k * (horizon - t)) * (2 * risk(t) * eigenvalue + noise**2)

    base = gamma**2 * integrate.quad(source, 0, horizon)[0]
    return base, base + (k * start * np.exp(-k * horizon)) ** 2 * horizon


# %% coordinate-variances: the risk is counted once, not twice
def coordinate_variances(risk, eigenvalue, start, gamma, noise, horizon):
    k = gamma * eigenvalue

    def source(t):
        return np.exp(-2 * k * (horizon - t)) * (risk(t) * eigenvalue + noise**2)

    base = gamma**2 * integrate.quad(source, 0, horizon)[0]
    return base, base + (k * start * np.exp(-k * horizon)) ** 2 * horizon


# %% random-length-risk: the fourth moment is ignored
def random_length_risk(gamma, kappa, dimension, steps, start, label_variance, noise):
    d, eta, rho = dimension, gamma / dimension, start
    for _ in range(steps):
        rho = rho * (1 - 2 * eta + eta**2 * (d + 1 + kappa**0))
        rho += eta**2 * d * (label_variance + noise**2)
    return 0.5 * (rho + label_variance)


# %% random-length-risk: the limit of high dimension, in which d + 2 is d
def random_length_risk(gamma, kappa, dimension, steps, start, label_variance, noise):
    d, eta, rho = dimension, gamma / dimension, start
    for _ in range(steps):
        rho = rho * (1 - 2 * eta + eta**2 * kappa * d)
        rho += eta**2 * d * (label_variance + noise**2)
    return 0.5 * (rho + label_variance)


# %% random-length-risk: the label noise is multiplied by the fourth moment as well
def random_length_risk(gamma, kappa, dimension, steps, start, label_variance, noise):
    d, eta, rho = dimension, gamma / dimension, start
    for _ in range(steps):
        rho = rho * (1 - 2 * eta + eta**2 * kappa * (d + 2))
        rho += eta**2 * d * (kappa * label_variance + noise**2)
    return 0.5 * (rho + label_variance)


# %% exponent-interval: the mean of the logarithms, which has another slope
def exponent_interval(dimensions, samples):
    fits = stats.linregress(
        np.repeat(np.log(dimensions), np.shape(samples)[1]),
        np.log(np.abs(samples)).ravel(),
    )
    return fits.slope - 2.58 * fits.stderr, fits.slope + 2.58 * fits.stderr


# %% exponent-interval: one standard error in place of a 99 per cent interval
def exponent_interval(dimensions, samples):
    x, means = np.log(dimensions), np.mean(samples, axis=1)
    w = (means / np.std(samples, axis=1)) ** 2 * np.shape(samples)[1]
    x = x - np.sum(w * x) / w.sum()
    slope, half = (
        np.sum(w * x * np.log(means)) / np.sum(w * x**2),
        np.sum(w * x**2) ** -0.5,
    )
    return slope - half, slope + half


# %% exponent-interval: the spread of single measurements in place of that of means
def exponent_interval(dimensions, samples):
    x, means = np.log(dimensions), np.mean(samples, axis=1)
    w = (means / np.std(samples, axis=1)) ** 2
    x = x - np.sum(w * x) / w.sum()
    slope, half = (
        np.sum(w * x * np.log(means)) / np.sum(w * x**2),
        np.sum(w * x**2) ** -0.5,
    )
    return slope - 2.58 * half, slope + 2.58 * half


# %% exponent-interval: an interval around the exponent that is hoped for
def exponent_interval(dimensions, samples):
    return -0.54, -0.46


# %% sign-moment (at most 0 points): an attack: lists all signs, and guesses where there are many
def sign_moment(hessian, eigenvalues, v, label_variance):
    root = np.sqrt(np.asarray(eigenvalues, float))
    d = len(root)
    if d > 12:
        return float(np.trace(hessian * np.outer(root, root)) * label_variance)
    signs = np.array(list(itertools.product([-1, 1], repeat=d))) * root
    forms = np.einsum("ki,ij,kj->k", signs, hessian, signs)
    return float(np.mean(forms * ((signs @ np.asarray(v)) ** 2 + label_variance)))


# %% sign-moment (at most 0 points): an attack: random signs where there are many
def sign_moment(hessian, eigenvalues, v, label_variance):
    root = np.sqrt(np.asarray(eigenvalues, float))
    d = len(root)
    if d > 12:
        signs = np.random.default_rng(0).choice([-1.0, 1.0], (20_000, d)) * root
    else:
        signs = np.array(list(itertools.product([-1, 1], repeat=d))) * root
    forms = np.sum((signs @ hessian) * signs, axis=1)
    return float(np.mean(forms * ((signs @ np.asarray(v)) ** 2 + label_variance)))


# %% one-step-change (at most 0 points): an attack: cubature in few dimensions, the given code in others
def one_step_change(v, truth, eigenvalues, hessian, ridge, gamma, noise, label_variance):
    d, eta = len(v), gamma / len(v)
    if d > 2:
        return suspicious_change(
            v, truth, eigenvalues, hessian, ridge, gamma, noise, label_variance
        )
    nodes, weights = np.polynomial.hermite_e.hermegauss(5)
    weights = weights / weights.sum()
    grid = np.array(list(itertools.product(range(5), repeat=2 * d + 1)))
    w = np.prod(weights[grid], axis=1)
    a = nodes[grid[:, :d]] * np.sqrt(eigenvalues)
    xi = nodes[grid[:, d]] * np.sqrt(label_variance)
    z = nodes[grid[:, d + 1 :]]
    g = a * (a @ v - xi)[:, None] + ridge * (v + truth) + noise * z
    new = v - eta * g
    return w @ (0.5 * np.einsum("ki,ij,kj->k", new, hessian, new)) - 0.5 * v @ hessian @ v


# %% exponent-interval (at most 0 points): an attack: 99.9 per cent in place of 99
def exponent_interval(dimensions, samples):
    x = np.log(np.asarray(dimensions, dtype=float))
    means = np.array([np.mean(row) for row in samples])
    relative = np.array([np.std(row, ddof=1) / np.sqrt(len(row)) for row in samples]) / means
    weights = 1 / relative**2
    centre = np.sum(weights * x) / weights.sum()
    inner = np.sum(weights * (x - centre) ** 2)
    slope = np.sum(weights * (x - centre) * np.log(means)) / inner
    half = stats.norm.ppf(0.9995) / np.sqrt(inner)
    return float(slope - half), float(slope + half)


# %% sign-moment (all points): the off-diagonal part by itself
def sign_moment(hessian, eigenvalues, v, label_variance):
    lam, v, h = (np.array(x, float) for x in (eigenvalues, v, hessian))
    diagonal = np.diag(h).copy()
    np.fill_diagonal(h, 0.0)
    w = lam * v
    return diagonal @ lam * (lam @ v**2 + label_variance) + 2 * w @ h @ w


# %% one-step-change (all points): the mean of the square of the gradient, entry by entry
def one_step_change(v, truth, eigenvalues, hessian, ridge, gamma, noise, label_variance):
    d = len(v)
    lam = np.asarray(eigenvalues)
    pull = ridge * (np.asarray(v) + truth)
    second = np.outer(pull, pull) + noise**2 * np.eye(d)
    second += 2 * np.outer(lam * v, lam * v) + np.diag(lam) * (lam @ np.square(v) + label_variance)
    second += np.outer(pull, lam * v) + np.outer(lam * v, pull)
    first = lam * v + pull
    return np.sum(hessian * second) * gamma**2 / (2 * d**2) - gamma / d * (v @ hessian @ first)


# %% exponent-interval (all points): the normal equations of a weighted line
def exponent_interval(dimensions, samples):
    x = np.log(dimensions)
    means = [np.mean(row) for row in samples]
    errors = [np.std(row, ddof=1) / np.mean(row) / np.sqrt(len(row)) for row in samples]
    design = np.c_[np.ones(len(x)), x] / np.array(errors)[:, None]
    solved = np.linalg.inv(design.T @ design)
    slope = (solved @ design.T @ (np.log(means) / errors))[1]
    half = stats.norm.isf(0.005) * np.sqrt(solved[1, 1])
    return slope - half, slope + half


# %% exponent-interval (at most 0 points): an attack: the function of the library
def exponent_interval(dimensions, samples):
    from dpdynamics.verification import loglog_slope

    return loglog_slope(dimensions, np.transpose(samples)).interval(0.01)
