"""dpdynamics: the shared library of the book *Private Dynamics*, the whole house on one screen.

A room imports only rooms on lower floors; notebooks import rooms and nothing else.
``python -m dpdynamics.claims`` runs one claim of the book alone (:mod:`~dpdynamics.claims`).

3. :mod:`~dpdynamics.verification`, checks that can fail: `identity`, `expectation`, `bound`,
   `privacy`, `rate`, `optimum`, `coverage`, `distribution`, `certified`; `verdict`, `Erratum`,
   `attack`.
   :mod:`~dpdynamics.desk`, answers with evidence, or refusals: `required_noise`, `spent_epsilon`.
   :mod:`~dpdynamics.display`, figures and explorers: `show`, `explorer`.
   :mod:`~dpdynamics.extras`, for data of your own: `PrivateKANClassifier`, `load_reviews`.
2. :mod:`~dpdynamics.accounting`, what a run costs: runs as data (`Poisson`, `FixedSize`,
   `Shuffled`, `BallsInBins`, `CorrelatedPoisson`) with the verbs `delta`, `epsilon`, `noise_for`;
   `compose`, which takes pairs or runs; strategies of correlated noise.
   :mod:`~dpdynamics.dynamics`, how iterates move: `noisy_sgd`, `euler_maruyama`, `one_pass_sgd`
   (each gives checkpoints, values, final), `risk_curve`, `clipped_risk`, `law`, `release`.
   :mod:`~dpdynamics.adaptive`, signs and clipping exactly: `private_ensemble`, `sign_walk`,
   `stationary_sign_law`. :mod:`~dpdynamics.training`, models on data: `train_configurations`,
   `run_grid`. :mod:`~dpdynamics.kan`, the two-layer network: `TwoLayerKAN`, `Training`.
1. :mod:`~dpdynamics.divergence`, how far apart two laws are: a mechanism as a `Pair` of
   distributions (`Gaussian`, `Laplace`); `gaussian_delta` and its kin; Renyi divergences;
   conversions between notions of privacy; audits.
   :mod:`~dpdynamics.problems`, what is trained: `LeastSquares`, schedules, presets, texts.
0. :mod:`~dpdynamics.numerics`, inversion, privacy loss distributions (PLD) on a mesh, roots; the
   checks of arguments (:mod:`~dpdynamics.arguments`), one sampler of batches
   (:mod:`~dpdynamics.batches`) and one step of each optimiser (:mod:`~dpdynamics.optimisers`);
   :mod:`~dpdynamics.asked`, by which the course tells an answer from a call of the library.
"""

__version__ = "0.2.0"
