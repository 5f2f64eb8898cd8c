import numpy as np
import pytest

from dpdynamics.divergence import Gaussian
from dpdynamics.divergence.without_replacement import WithoutReplacement
from dpdynamics.numerics.convolution import epsilon_convolution, hockey_stick_convolution
from dpdynamics.numerics.inversion import hockey_stick_inversion
from dpdynamics.numerics.privacy_loss import composed_epsilon_upper


class Counted(Gaussian):
    """A step that keeps the meshes on which its law was asked for."""

    meshes: list

    def on_mesh(self, mesh, lowest, highest):
        self.meshes.append(mesh)
        return super().on_mesh(mesh, lowest, highest)


def _counted(noise, q, relation):
    step = Counted(noise, q, relation)
    object.__setattr__(step, "meshes", [])
    return step


@pytest.mark.parametrize(
    ("noise", "q", "relation", "steps", "epsilon"),
    [(1.0, 0.1, "remove", 30, 1.0), (0.7, 0.05, "add", 200, 3.0), (2.0, 0.2, "replace", 50, 1.5)],
)
def test_three_meshes_give_the_value_of_the_inversion(noise, q, relation, steps, epsilon):
    step = _counted(noise, q, relation)
    value, error = hockey_stick_convolution(step, steps, epsilon, 1e-20)
    exact = hockey_stick_inversion(step.cumulants(steps, 1e-20), epsilon, rtol=1e-12).value
    assert len(step.meshes) == 3  # the errors h^2, h^3, ... are extrapolated away
    assert value == pytest.approx(exact, rel=1e-10)
    assert 0 < error < 1e-8 * value
    back = epsilon_convolution(step, steps, value)
    assert back.value == pytest.approx(epsilon, rel=1e-8)
    assert 0 < back.error < 1e-7


def test_one_step_has_its_closed_form():
    step = _counted(1.0, 0.1, "remove")
    for epsilon in (-0.05, 0.3, 1.0):
        exact = float(step.delta(np.array([epsilon]))[0])
        value, error = hockey_stick_convolution(step, 1, epsilon, 1e-20)
        assert value == pytest.approx(exact, rel=1e-9)
        assert abs(value - exact) <= error + 1e-13


@pytest.mark.parametrize("steps", [5, 20])
@pytest.mark.parametrize("relation", ["remove", "add", "replace"])
def test_few_steps_at_a_tiny_sampling_probability(steps, relation):
    """The profile has a narrow peak and a far tail: Newton's method alone goes astray."""
    step = Gaussian(1.0, 0.001, relation)
    epsilon = epsilon_convolution(step, steps, 1e-5).value
    assert 0.003 < epsilon < 0.04
    back = hockey_stick_convolution(step, steps, epsilon, 1e-20).value
    assert back == pytest.approx(1e-5, rel=1e-7)


@pytest.mark.parametrize(
    ("step", "steps", "delta"),
    [
        (Gaussian(1.0, 0.001, "remove"), 20, 1e-5),
        (Gaussian(1.0, 0.001, "add"), 20, 1e-5),
        (Gaussian(0.6, 0.2, "replace"), 12, 1e-9),
        (WithoutReplacement(0.8, 0.02, "remove"), 60, 1e-6),
    ],
)
def test_bound_on_a_mesh_is_never_below_and_close(step, steps, delta):
    exact = epsilon_convolution(step, steps, delta).value
    coarse, fine = (
        composed_epsilon_upper(step, steps, delta, cells=cells) for cells in (1 << 12, 1 << 18)
    )
    assert exact <= fine * (1 + 1e-9) <= coarse
    assert fine < exact * (1 + 1e-5)


def test_bound_on_a_mesh_ends_where_rounding_would_decide():
    assert composed_epsilon_upper(Gaussian(1.0, 0.01), 10, 1e-14) == np.inf
    assert composed_epsilon_upper(Gaussian(50.0, 0.01), 10, 1e-3) == 0
