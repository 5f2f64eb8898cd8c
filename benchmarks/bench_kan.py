"""Clipped gradient sums of the two-layer KAN, and extreme eigenvalues of its loss Hessians.

The baselines get the inner features for free, as we have them, and every library does what it is
good at: Opacus clips the gradients of a linear layer, by ghost clipping or one by one, torch.func
maps over the examples. The outer splines come from the recursion of Cox and de Boor, written out
or as pykan has it, whichever is faster.
"""

import warnings

import numpy as np
from timing import result, seconds

from dpdynamics.kan import TwoLayerKAN, hessian_extremes

CLIP = 0.1


def _example(examples, width, dimension, splines=6, dtype=np.float64):
    rng = np.random.default_rng(0)
    kan, weights = TwoLayerKAN.initial(width, dimension, splines, rng=rng, dtype=dtype)
    inputs = rng.uniform(-1, 1, (examples, dimension)) / np.sqrt(dimension)
    labels = rng.choice([-1.0, 1.0], examples).astype(dtype)
    return kan, weights, kan.features(inputs), labels


def _recursion(x, knots):
    """The splines as they are usually written for PyTorch."""
    x = x[..., None]
    basis = ((x >= knots[:-1]) & (x < knots[1:])).to(x.dtype)
    for k in (1, 2, 3):
        left = (x - knots[: -k - 1]) / (knots[k:-1] - knots[: -k - 1]) * basis[..., :-1]
        right = (knots[k + 1 :] - x) / (knots[k + 1 :] - knots[1:-k]) * basis[..., 1:]
        basis = left + right
    return basis


def _pykan(x, knots):
    from kan.spline import B_batch

    return B_batch(x, knots.expand(x.shape[-1], -1), k=3)


def _network(kan, weights, splines):
    """The network on features: a linear layer that is trained, and fixed outer splines."""
    import torch

    class Network(torch.nn.Module):
        def __init__(self):
            super().__init__()
            matrix = torch.from_numpy(weights.reshape(kan.width, -1).copy())
            self.hidden = torch.nn.Linear(*matrix.T.shape, bias=False, dtype=matrix.dtype)
            self.hidden.weight.data = matrix
            self.register_buffer("coefficients", torch.from_numpy(kan.coefficients.copy()))
            self.register_buffer("knots", torch.from_numpy(kan.basis.knots.astype(kan.dtype)))

        def forward(self, features):
            basis = splines(torch.tanh(self.hidden(features)), self.knots)
            return torch.einsum("njk,jk->n", basis, self.coefficients) / kan.width**0.5

    return Network()


def _logistic(outputs, labels):
    import torch

    return torch.nn.functional.softplus(-labels * outputs)


def _clipped(rows, norms):
    return ((CLIP / norms).clamp(max=1) @ rows.flatten(1)).reshape(rows.shape[1:])


def _opacus_ghost(network, features, labels):
    from opacus.grad_sample import GradSampleModuleFastGradientClipping

    module = GradSampleModuleFastGradientClipping(
        network, max_grad_norm=CLIP, use_ghost_clipping=True, loss_reduction="sum"
    )
    parameter = network.hidden.weight

    def run():
        module.zero_grad()
        losses = _logistic(module(features), labels)
        losses.sum().backward(retain_graph=True)
        factors = module.get_clipping_coef()
        module.zero_grad()
        module.disable_hooks()
        (factors * losses).sum().backward()
        module.enable_hooks()
        return parameter.grad

    return run


def _opacus_one_by_one(network, features, labels):
    from opacus.grad_sample import GradSampleModule

    module = GradSampleModule(network, loss_reduction="sum")
    parameter = network.hidden.weight

    def run():
        module.zero_grad()
        _logistic(module(features), labels).sum().backward()
        rows = parameter.grad_sample
        return _clipped(rows, rows.flatten(1).norm(dim=1))

    return run


def _vmap(network, features, labels):
    from torch.func import functional_call, grad, vmap

    parameters = {k: p.detach() for k, p in network.named_parameters()}

    def loss(parameters, row, label):
        return _logistic(functional_call(network, parameters, (row[None],))[0], label)

    mapped = vmap(grad(loss), in_dims=(None, 0, 0))

    def run():
        rows = mapped(parameters, features, labels)["hidden.weight"]
        return _clipped(rows, rows.flatten(1).norm(dim=1))

    return run


def _peers(kan, weights, features, labels):
    """Every way to the clipped sum, by name; those that would need over 4 GiB are left out."""
    import torch

    torch.set_num_threads(1)
    warnings.filterwarnings("ignore", message="Full backward hook is firing")
    x, y = torch.from_numpy(features), torch.from_numpy(labels)
    ways = {"ghost": _opacus_ghost}
    if len(features) * kan.parameters * kan.dtype.itemsize < 2**31:
        ways |= {"one by one": _opacus_one_by_one, "vmap": _vmap}
    return {
        f"{way}, {splines.__name__[1:]}": build(_network(kan, weights, splines), x, y)
        for splines in (_recursion, _pykan)
        for way, build in ways.items()
    }


def _clipped_sum(examples, width, dimension, target):
    case = _example(examples, width, dimension)
    kan, *arguments = case

    def ours():
        return kan.clipped_gradient_sum(*arguments, CLIP).total

    peers = _peers(*case)
    expected = ours().reshape(width, -1)
    for name, run in peers.items():
        error = np.linalg.norm(run().detach().numpy() - expected) / (CLIP * examples)
        if error > 1e-5:  # ghost clipping adds 1e-6 to the norms
            raise ValueError(f"{name} differs by {error}")
    first = {name: min(seconds(run) for _ in range(2)) for name, run in peers.items()}
    best = min(first, key=first.get)
    mine, theirs = [], []
    for _ in range(7):
        mine.append(seconds(ours, 5))
        theirs.append(seconds(peers[best]))
    title = f"Clipped sum, n = {examples}, m = {width}, d = {dimension}, against {best}"
    return result(title, mine, theirs, target)


def bench_clipped_sum_small():
    """The smallest network: calls, not arithmetic, take the time."""
    return _clipped_sum(64, 64, 3, 6)


def bench_clipped_sum_16():
    """Sixteen inputs."""
    return _clipped_sum(256, 256, 16, 10)


def bench_clipped_sum_64():
    """Sixty-four inputs."""
    return _clipped_sum(256, 512, 64, 10)


def bench_clipped_sum_784():
    """As many inputs as a small picture has: both sides multiply matrices."""
    return _clipped_sum(256, 512, 784, 2)


def bench_bare_products():
    """The two products of matrices that a network with a linear hidden layer would need."""
    kan, weights, features, labels = _example(256, 512, 64, splines=8)
    matrix = weights.reshape(kan.width, -1)
    ours, bare = [], []
    for _ in range(51):
        bare.append(seconds(lambda: (features @ matrix.T).T @ features))
        ours.append(seconds(lambda: kan.clipped_gradient_sum(weights, features, labels, CLIP)))
    return result("Two bare products, m = 512, d p = 512, to a clipped sum", ours, bare, 1 / 1.5)


def bench_loss_hessian():
    """Extreme eigenvalues per loss, against the dense matrix of order mdp = 1152."""
    kan, weights, features, labels = _example(40, 64, 3)
    values, slopes, curvatures = kan.factors(weights, features)
    margin, row = labels[0] * values[0], features[0]
    first, second = -1 / (1 + np.exp(margin)), 1 / (2 + 2 * np.cosh(margin))
    small = second * np.outer(slopes[0], slopes[0]) / 64
    small += first * labels[0] * np.diag(curvatures[0]) / 8
    dense = np.kron(small, np.outer(row, row))
    ours, theirs = [], []
    for _ in range(3):
        repeats = 5
        ours.append(seconds(lambda: hessian_extremes(kan, weights, features, labels), repeats) / 40)
        theirs.append(seconds(lambda: np.linalg.eigvalsh(dense)))
    ends = hessian_extremes(kan, weights, features[:1], labels[:1])[0]
    if not np.allclose(ends, np.linalg.eigvalsh(dense)[[0, -1]], atol=1e-12):
        raise ValueError(f"the eigenvalues disagree: {ends}")
    return result("Extremes of a loss Hessian, 40 at a time, mdp = 1152", ours, theirs, 1000)
