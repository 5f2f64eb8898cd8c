# %% margin-of-two: the middle of the segment
def margin_of_two(first, second):
    return np.linalg.norm(first + second) / 2


# %% margin-of-two: the shorter feature
def margin_of_two(first, second):
    return min(np.linalg.norm(first), np.linalg.norm(second))


# %% margin-of-two: the line in place of the segment
def margin_of_two(first, second):
    gap = second - first
    weight = -(first @ gap) / max(gap @ gap, 1e-300)
    return np.linalg.norm(first + weight * gap)


# %% bound-from-a-direction: the length of the direction is ignored
def proved_by(signed, direction):
    return max(0.0, float(np.min(signed @ direction)))


# %% bound-from-a-direction: the average record in place of the worst
def proved_by(signed, direction):
    return max(0.0, float(np.mean(signed @ direction) / np.linalg.norm(direction)))


# %% nearest: equal weights on all records
def nearest_point(K):
    alpha = np.full(len(K), 1 / len(K))
    upper = np.sqrt(alpha @ K @ alpha)
    return alpha, float(max(np.min(K @ alpha) / upper, 0)), float(upper)


# %% nearest: the direction is not normalised
def nearest_point(K):
    n = len(K)
    values, vectors = np.linalg.eigh(K)
    root = (vectors * np.sqrt(values.clip(0))).T
    alpha, _ = optimize.nnls(
        np.vstack([root, np.ones(n)]), np.append(np.zeros(n), 1.0), maxiter=100 * n
    )
    alpha /= alpha.sum()
    return alpha, float(max(np.min(K @ alpha), 0)), float(np.sqrt(alpha @ K @ alpha))


# %% nearest: weights that do not sum to one
def nearest_point(K):
    n = len(K)
    values, vectors = np.linalg.eigh(K)
    root = (vectors * np.sqrt(values.clip(0))).T
    alpha, _ = optimize.nnls(
        np.vstack([root, np.ones(n)]), np.append(np.zeros(n), 1.0), maxiter=100 * n
    )
    upper = np.sqrt(alpha @ K @ alpha)
    return alpha, float(max(np.min(K @ alpha) / upper, 0)), float(upper)


# %% nearest: the bound of the smallest eigenvalue in place of a certificate
def nearest_point(K):
    n = len(K)
    values, vectors = np.linalg.eigh(K)
    root = (vectors * np.sqrt(values.clip(0))).T
    alpha, _ = optimize.nnls(
        np.vstack([root, np.ones(n)]), np.append(np.zeros(n), 1.0), maxiter=100 * n
    )
    alpha /= alpha.sum()
    lower = np.sqrt(max(values[0], 0) / n)
    return alpha, float(lower), float(np.sqrt(alpha @ K @ alpha))


# %% nearest: a linear system, whose weights may be negative
def nearest_point(K):
    alpha = np.linalg.lstsq(K, np.ones(len(K)), rcond=1e-10)[0]
    alpha /= alpha.sum()
    upper = np.sqrt(alpha @ K @ alpha)
    return alpha, float(max(np.min(K @ alpha) / upper, 0)), float(upper)


# %% together: the same network twice
def complementary(factor):
    return np.eye(2), np.eye(2)


# %% together: a factor in the squared margin
def complementary(factor):
    t = 4 * factor
    return np.diag([1.0, t]), np.diag([t, 1.0])


# %% together: one network larger than the other
def complementary(factor):
    return np.eye(2), factor**2 * np.eye(2)


# %% antipodal: the origin always taken for a knot
def antipodal_limit(p, r):
    basis, h = CubicSplines(p), 2 / (p - 3)
    square, slope_square = 0.5, 0.5 / h**2
    a = np.linspace(-12, 12, 100_001) * np.sqrt(square)
    density = np.exp(-(a**2) / (2 * square))
    u = np.tanh(a)
    first, second = 1 - u**2, -2 * u * (1 - u**2)
    h1, h2 = basis(u, derivative=1), basis(u, derivative=2)
    S2 = first**2 * (h1**2).sum(axis=1)
    Q2 = ((second[:, None] * h1 + first[:, None] ** 2 * h2) ** 2).sum(axis=1)
    return float(r**2 * slope_square * (density @ (S2 + square * Q2)) / density.sum())


# %% antipodal: forgets that the slopes move with the input
def antipodal_limit(p, r):
    basis = CubicSplines(p)
    square = float(np.sum(basis(0.0) ** 2))
    slope_square = float(np.sum(basis(0.0, derivative=1) ** 2))
    a = np.linspace(-12, 12, 100_001) * np.sqrt(square)
    density = np.exp(-(a**2) / (2 * square))
    u = np.tanh(a)
    S2 = (1 - u**2) ** 2 * (basis(u, derivative=1) ** 2).sum(axis=1)
    return float(r**2 * slope_square * (density @ S2) / density.sum())


# %% antipodal: standard normal pre-activations
def antipodal_limit(p, r):
    basis = CubicSplines(p)
    square = float(np.sum(basis(0.0) ** 2))
    slope_square = float(np.sum(basis(0.0, derivative=1) ** 2))
    a = np.linspace(-12, 12, 100_001)
    density = np.exp(-(a**2) / 2)
    u = np.tanh(a)
    first, second = 1 - u**2, -2 * u * (1 - u**2)
    h1, h2 = basis(u, derivative=1), basis(u, derivative=2)
    S2 = first**2 * (h1**2).sum(axis=1)
    Q2 = ((second[:, None] * h1 + first[:, None] ** 2 * h2) ** 2).sum(axis=1)
    return float(r**2 * slope_square * (density @ (S2 + square * Q2)) / density.sum())


# %% antipodal: the derivative of the slope without the curvature of tanh
def antipodal_limit(p, r):
    basis = CubicSplines(p)
    square = float(np.sum(basis(0.0) ** 2))
    slope_square = float(np.sum(basis(0.0, derivative=1) ** 2))
    a = np.linspace(-12, 12, 100_001) * np.sqrt(square)
    density = np.exp(-(a**2) / (2 * square))
    u = np.tanh(a)
    first = 1 - u**2
    h1, h2 = basis(u, derivative=1), basis(u, derivative=2)
    S2 = first**2 * (h1**2).sum(axis=1)
    Q2 = first**4 * (h2**2).sum(axis=1)
    return float(r**2 * slope_square * (density @ (S2 + square * Q2)) / density.sum())


# %% antipodal: linear in the radius
def antipodal_limit(p, r):
    basis = CubicSplines(p)
    square = float(np.sum(basis(0.0) ** 2))
    slope_square = float(np.sum(basis(0.0, derivative=1) ** 2))
    a = np.linspace(-12, 12, 100_001) * np.sqrt(square)
    density = np.exp(-(a**2) / (2 * square))
    u = np.tanh(a)
    first, second = 1 - u**2, -2 * u * (1 - u**2)
    h1, h2 = basis(u, derivative=1), basis(u, derivative=2)
    S2 = first**2 * (h1**2).sum(axis=1)
    Q2 = ((second[:, None] * h1 + first[:, None] ** 2 * h2) ** 2).sum(axis=1)
    return float(r * slope_square * (density @ (S2 + square * Q2)) / density.sum())


# %% width: the logarithm of the width frozen at one unit
def smallest_width(margin, records, steps, splines, delta):
    needed = np.log(steps) + np.sqrt(np.log(2 * records / delta))
    allowed = margin**2 / (2 * needed)
    at_one = network_bounds(1, splines, delta / 2).hessian
    return int(np.ceil((at_one / allowed) ** 2)), 2 * needed / margin


# %% width: the whole failure probability for the Hessian
def smallest_width(margin, records, steps, splines, delta):
    needed = np.log(steps) + np.sqrt(np.log(2 * records / delta))
    allowed, high = margin**2 / (2 * needed), 1
    while network_bounds(high, splines, delta).hessian > allowed:
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        fits = network_bounds(middle, splines, delta).hessian <= allowed
        low, high = (low, middle) if fits else (middle, high)
    return high, 2 * needed / margin


# %% width: the margin where its square belongs
def smallest_width(margin, records, steps, splines, delta):
    needed = np.log(steps) + np.sqrt(np.log(2 * records / delta))
    allowed, high = margin / (2 * needed), 1
    while network_bounds(high, splines, delta / 2).hessian > allowed:
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        fits = network_bounds(middle, splines, delta / 2).hessian <= allowed
        low, high = (low, middle) if fits else (middle, high)
    return high, 2 * needed / margin


# %% width: a step that uses up only the start
def smallest_width(margin, records, steps, splines, delta):
    needed = np.log(steps) + np.sqrt(np.log(2 * records / delta))
    allowed, high = margin**2 / (2 * needed), 1
    while network_bounds(high, splines, delta / 2).hessian > allowed:
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        fits = network_bounds(middle, splines, delta / 2).hessian <= allowed
        low, high = (low, middle) if fits else (middle, high)
    return high, needed / margin


# %% nearest (at most 0 points): an attack: the library's solver, and equal weights where it finds none
def nearest_point(K):
    try:
        alpha = ntk_margin(K).dual
    except ArithmeticError:
        alpha = np.full(len(K), 1 / len(K))
    upper = np.sqrt(alpha @ K @ alpha)
    return alpha, float(max(np.min(K @ alpha) / upper, 0)), float(upper)


# %% margin-of-two (at most 0 points): an attack: a search over the directions of the plane
def margin_of_two(first, second):
    angles = np.linspace(0, 2 * np.pi, 200_001)
    scores = [p[0] * np.cos(angles) + p[1] * np.sin(angles) for p in (first, second)]
    return max(0.0, float(np.minimum(*scores).max()))


# %% together (at most 0 points): an attack: one pair for every factor
def complementary(factor):
    return np.diag([1.0, 1e6]), np.diag([1e6, 1.0])


# %% antipodal (at most 0 points): an attack: a wide network of the library
def antipodal_limit(p, r):
    total, d = 0.0, 2.0**24
    for seed in range(3):
        kan, W = TwoLayerKAN.initial(20_000, 1, p, rng=np.random.default_rng(seed))
        K = ntk_gram(kan, W, kan.features(np.array([[r], [-r]]) / np.sqrt(d)))
        total += d * (K[0, 0] + K[1, 1] - 2 * K[0, 1]) / 4 / 3
    return float(total)


# %% antipodal (all points): slopes of the units, differentiated numerically
def antipodal_limit(p, r):
    basis = CubicSplines(p)
    square = float(np.sum(basis(0.0) ** 2))
    a = np.linspace(-11, 11, 40_001) * np.sqrt(square)
    density = np.exp(-(a**2) / (2 * square))
    slope = basis(np.tanh(a), derivative=1) / np.cosh(a)[:, None] ** 2
    change = np.gradient(slope, a, axis=0)
    mean = np.average(slope**2 + square * change**2, axis=0, weights=density).sum()
    return float(r**2 * np.sum(basis(0.0, derivative=1) ** 2) * mean)


# %% margin-of-two (all points): the nearer end, or the height of a triangle
def margin_of_two(first, second):
    a, b, c = first @ first, first @ second, second @ second
    if a <= b or c <= b:
        return float(np.sqrt(min(a, c)))
    return float(np.sqrt(max(a * c - b**2, 0) / (a + c - 2 * b)))


# %% nearest (at most 0 points): an attack: twenty thousand steps of Frank and Wolfe
def nearest_point(K):
    K = np.asarray(K, float)
    alpha = np.full(len(K), 1 / len(K))
    for _ in range(20_000):
        slope = K @ alpha
        best = int(np.argmin(slope))
        gap = -alpha.copy()
        gap[best] += 1
        bend = gap @ K @ gap
        if bend <= 0:
            break
        alpha = alpha + np.clip(-(gap @ slope) / bend, 0, 1) * gap
    upper = np.sqrt(max(alpha @ K @ alpha, 0))
    lower = np.min(K @ alpha) / upper if upper > 0 else 0.0
    return alpha, float(max(lower, 0)), float(upper)
