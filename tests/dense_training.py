"""Private training written out: one configuration, dense rows, one gradient after the other."""

import numpy as np
from scipy.sparse import random_array

from dpdynamics.batches import Batches
from dpdynamics.problems.text import TextData


def random_data(seed=0, size=40, columns=12, classes=2, density=0.4, scale=1.0):
    """Gaussian entries at random places: no two gradients cancel."""
    rng = np.random.default_rng(seed)
    features = scale * random_array(
        (size, columns), density=density, rng=rng, data_sampler=rng.standard_normal
    )
    return TextData(features, rng.integers(classes, size=size), classes, "random")


def batches_of(seed, data, steps, batch_size, sampling="shuffle"):
    """The batches that a trainer with the generator of this seed draws."""
    draws, _ = np.random.default_rng(seed).spawn(2)
    sampler = Batches(data.size, batch_size, sampling, draws)
    return [sampler.draw() for _ in range(steps)]


def dense_training(
    data, batches, *, optimizer, learning_rate, clip_norm, batch_size,
    noise_scale=0.0, noise=None, beta1=0.9, beta2=0.999, adam_epsilon=1e-8,
):  # fmt: skip
    """Final weights (outputs, d) in double precision; `noise` has an array (outputs, d) a step."""
    x = data.features.toarray().astype(float)
    outputs = 1 if data.classes == 2 else data.classes
    w = np.zeros((outputs, data.dimension))
    m, v = np.zeros_like(w), np.zeros_like(w)
    for t, batch in enumerate(batches):
        total = np.zeros_like(w)
        for i in batch:
            logits = w @ x[i]
            if outputs == 1:
                slope = 1 / (1 + np.exp(-logits)) - data.labels[i]
            else:
                slope = np.exp(logits) / np.exp(logits).sum()
                slope[data.labels[i]] -= 1
            gradient = np.outer(slope, x[i])
            length = np.sqrt((gradient**2).sum())
            total += gradient * (clip_norm / length if length > clip_norm else 1)
        g = total / batch_size
        if noise is not None:
            g += noise_scale * noise[t]
        if optimizer == "sgd":
            w -= learning_rate * g
        elif optimizer == "sign":
            w -= learning_rate * np.sign(g)
        else:
            m = beta1 * m + (1 - beta1) * g
            v = beta2 * v + (1 - beta2) * g**2
            hat_m, hat_v = m / (1 - beta1 ** (t + 1)), v / (1 - beta2 ** (t + 1))
            w -= learning_rate * hat_m / (np.sqrt(hat_v) + adam_epsilon)
    return w
