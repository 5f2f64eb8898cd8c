"""The steps of `steps.py` by PyTorch, on a processor or a GPU; needs the package torch.

The noise is dense and comes from a PyTorch generator on the device, so that only the law is that
of the other engines.
"""

from typing import Any

import numpy as np
from scipy.sparse import csr_array

from .losses import Labels, Loss
from .steps import Floats, Hyperparameters


class TorchSteps:
    """Weights and moments on `device`, moved by `step`.

    Parameters
    ----------
    settings : Hyperparameters
    loss : Loss
    dimension : int
    rng : numpy.random.Generator
        Draws the seed of the generator on the device.
    device : str
        As PyTorch names it, "cpu" or "cuda".

    Raises
    ------
    ModuleNotFoundError
        Without torch.
    """

    def __init__(
        self,
        settings: Hyperparameters,
        loss: Loss,
        dimension: int,
        rng: np.random.Generator,
        device: str = "cpu",
    ) -> None:
        try:
            import torch
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError("engine='torch' needs the package torch") from error
        self.settings, self.loss, self.device, self.taken = settings, loss, device, 0
        self.draws = torch.Generator(device).manual_seed(int(rng.integers(1 << 62)))
        shape = (dimension, loss.outputs, settings.learning_rate.size)
        self.weights, self.first, self.second = torch.zeros((3, *shape), device=device)

    def _tensor(self, array: Any) -> Any:
        import torch

        return torch.from_numpy(np.ascontiguousarray(array)).to(self.device)

    def step(self, features: csr_array, norms: Floats, labels: Labels) -> None:
        """Take one step on a batch: its rows, their norms and their labels."""
        gradient = self._private_gradient(features, norms, labels)
        h, rate = self.settings, self._tensor(self.settings.learning_rate)
        self.taken += 1
        if h.optimizer == "sgd":
            self.weights -= rate * gradient
        elif h.optimizer == "sign":
            self.weights -= rate * gradient.sign()
        else:
            beta1, beta2 = self._tensor(h.beta1), self._tensor(h.beta2)
            self.first.mul_(beta1).add_((1 - beta1) * gradient)
            self.second.mul_(beta2).add_((1 - beta2) * gradient.square())
            debias1, debias2 = (1 - b.double() ** self.taken for b in (beta1, beta2))
            spread = (self.second / debias2.float()).sqrt() + self._tensor(h.adam_epsilon)
            self.weights -= rate / debias1.float() * self.first / spread

    def _private_gradient(self, features: csr_array, norms: Floats, labels: Labels) -> Any:
        import torch

        batch = features.tocoo()
        where = self._tensor(np.stack([batch.row, batch.col]).astype(np.int64))
        sparse = torch.sparse_coo_tensor(
            where, self._tensor(batch.data), batch.shape, check_invariants=False
        )
        shape = self.weights.shape
        logits = torch.sparse.mm(sparse, self.weights.flatten(1)).unflatten(1, shape[1:])
        slopes = self._slopes(logits, self._tensor(labels))
        lengths = slopes.square().sum(1).sqrt() * self._tensor(norms)[:, None]
        slopes *= (self._tensor(self.settings.clip_norm) / lengths).clamp(max=1)[:, None]
        gradient = torch.sparse.mm(sparse.t(), slopes.flatten(1)).unflatten(1, shape[1:])
        noise = torch.randn((*shape[:2], 1), generator=self.draws, device=self.device)
        return gradient / self.settings.batch_size + self._tensor(self.settings.noise_scale) * noise

    def _slopes(self, logits: Any, labels: Any) -> Any:
        import torch

        if self.loss.outputs == 1:
            signs = (2 * labels - 1).to(logits.dtype)[:, None, None]
            return -signs * torch.sigmoid(-signs * logits)
        slopes = torch.softmax(logits, dim=1)
        slopes[torch.arange(len(labels), device=self.device), labels] -= 1
        return slopes

    def settle(self) -> None:
        """Do nothing: every weight has its noise."""

    def host_weights(self) -> Floats:
        """The weights as a NumPy array."""
        return np.asarray(self.weights.cpu().numpy())
