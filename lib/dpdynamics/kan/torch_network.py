"""The two-layer KAN as a PyTorch module, by the recursion of Cox and de Boor."""

from typing import TYPE_CHECKING, Any

import numpy as np

from ..arguments import Array

if TYPE_CHECKING:
    from .network import TwoLayerKAN


def torch_network(kan: "TwoLayerKAN", weights: Array) -> Any:
    """Build a module with the one parameter `weights` (m, d, p) that maps inputs (n, d) to (n,)."""
    import torch

    knots = torch.from_numpy(kan.basis.knots.astype(kan.dtype))
    sigma = {"tanh": torch.tanh, "sigmoid": torch.sigmoid}[kan.activation]

    def splines(x: Any) -> Any:
        x = x[..., None]
        live = (x >= knots[:-1]) & (x < knots[1:])
        if kan.clamped:
            last = (knots[:-1] < 1) & (knots[1:] == 1)
            live = live | (last & (x == 1))
        basis = live.to(x.dtype)
        for degree in (1, 2, 3):
            span = knots[degree:] - knots[:-degree]
            rate = torch.where(span > 0, 1 / torch.where(span > 0, span, 1), 0)
            rising = (x - knots[:-degree]) * rate
            falling = (knots[degree:] - x) * rate
            basis = rising[..., :-1] * basis[..., :-1] + falling[..., 1:] * basis[..., 1:]
        return basis

    class Network(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weights = torch.nn.Parameter(torch.from_numpy(np.array(weights)))
            self.register_buffer("coefficients", torch.from_numpy(kan.coefficients.copy()))

        def forward(self, inputs: Any) -> Any:
            hidden = torch.einsum("...dk,jdk->...j", splines(inputs), self.weights)
            outer = splines(sigma(hidden / kan.dimension**0.5))
            return torch.einsum("...jk,jk->...", outer, self.coefficients) / kan.width**0.5

    return Network()
