"""What one record leaves behind: releases in 4 x 4 algebra against dense covariances."""

import numpy as np
from timing import result, seconds

from dpdynamics.divergence import renyi_divergence_gaussian
from dpdynamics.dynamics import release
from dpdynamics.problems import literal_preset


def _release():
    rng = np.random.default_rng(0)
    setting = literal_preset(rng)
    a, b = setting.sample_data(rng, setting.steps)
    common = setting.problem, setting.x0, setting.schedule, setting.noise_scale
    return release(*common, step_time=0.75, times=1.5), a, b


def bench_one_pair():
    """Both divergences of one pair of records, d = 1000."""
    release, a, b = _release()
    laws = [release.law(*record) for record in zip(a[:2], b[:2], strict=True)]
    (p, cov_p), (q, cov_q) = ((law.mean, law.covariance.dense()) for law in laws)
    ours, theirs, found = [], [], []
    for _ in range(3):
        ours += [
            seconds(lambda: found.append(release.pairwise_divergence(a[:2], b[:2], 2.0)))
            for _ in range(30)
        ]
        theirs.append(
            seconds(
                lambda: found.append(
                    np.array(
                        [
                            renyi_divergence_gaussian(p, cov_p, q, cov_q, 2.0),
                            renyi_divergence_gaussian(q, cov_q, p, cov_p, 2.0),
                        ]
                    )
                )
            )
        )
    np.testing.assert_allclose(found[0][[0, 1], [1, 0]], found[-1], rtol=1e-9)
    return result("one pair of records both ways, d = 1000, dense", ours, theirs, 1000)


def bench_all_pairs():
    """All ordered pairs of 1500 records, against one pair after another (extrapolated)."""
    release, a, b = _release()
    ours, theirs = [], []
    for _ in range(3):
        ours.append(seconds(lambda: release.pairwise_divergence(a, b, 2.0)))
        one = seconds(
            lambda: [release.divergence(a[0], b[0], a[k], b[k], 2.0) for k in range(1, 101)]
        )
        theirs.append(one / 100 * len(a) * (len(a) - 1))
    return result("all 2.2 million ordered pairs, against one by one", ours, theirs, 100)
