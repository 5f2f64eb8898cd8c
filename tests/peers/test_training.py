"""Steps of the trainer against those of Opacus."""

import numpy as np
import pytest
import torch
from opacus import GradSampleModule
from opacus.optimizers import DPOptimizer

from dense_training import batches_of, random_data
from dpdynamics.training.sparse_trainer import SparseTrainer

RATES, CLIPS = np.array([0.3, 0.05, 0.1]), np.array([0.2, 0.7, 5.0])


@pytest.mark.filterwarnings("ignore:Full backward hook")
@pytest.mark.parametrize("classes", [2, 3])
def test_opacus_takes_the_same_steps(classes):
    """DPOptimizer without noise, on the same batches; its noise is checked by its scale alone."""
    data, steps, size = random_data(5, classes=classes), 15, 4
    settings = {"learning_rate": RATES, "clip_norm": CLIPS, "noise_multiplier": 0.0}
    rng = np.random.default_rng(1)
    run = SparseTrainer(data, optimizer="sgd", rng=rng, batch_size=size, **settings)
    run.advance(steps)
    x = torch.from_numpy(data.features.toarray())
    y = torch.from_numpy(data.labels)
    for found, rate, clip in zip(run.weights, RATES, CLIPS, strict=True):
        module = torch.nn.Linear(data.dimension, 1 if classes == 2 else classes, bias=False)
        torch.nn.init.zeros_(module.weight)
        model = GradSampleModule(module)
        optimizer = DPOptimizer(
            torch.optim.SGD(model.parameters(), lr=rate),
            noise_multiplier=0.0, max_grad_norm=clip, expected_batch_size=size,
        )  # fmt: skip
        for batch in batches_of(1, data, steps, size):
            optimizer.zero_grad()
            logits = model(x[batch])
            if classes == 2:
                loss = torch.nn.functional.binary_cross_entropy_with_logits(
                    logits[:, 0], y[batch].float()
                )
            else:
                loss = torch.nn.functional.cross_entropy(logits, y[batch])
            loss.backward()
            optimizer.step()
        np.testing.assert_allclose(found, module.weight.detach().numpy(), atol=2e-5)
