"""The cumulant collision in moving frames and at low viscosity."""

from __future__ import annotations

import numpy as np
import pytest
from reference.registry import STREAMINGS

import lbmgpu as lbm
from validation.flows import taylor_green


def solver(velocity, viscosity, density=None, **options):
    collision = lbm.Cumulant(viscosity, **options)
    chosen = lbm.Solver(lbm.Domain(velocity.shape[1:], "D3Q27"), collision, precision="float64", device="cpu")
    chosen.initialize(density=density, velocity=velocity, nonequilibrium=True)
    return chosen


def measured_viscosity(made, mode, axis, steps, k2):
    """From the decay of one Fourier mode of one component of the velocity, after as many steps of start."""
    made.step(steps)
    early = abs(np.fft.fftn(made.velocity()[axis])[mode])
    made.step(steps)
    return np.log(early / abs(np.fft.fftn(made.velocity()[axis])[mode])) / (steps * k2)


@pytest.mark.parametrize("parametrized", [False, True])
@pytest.mark.parametrize("viscosity", [0.01, 0.05])
def test_shear_wave_in_a_moving_frame(viscosity, parametrized):
    """At 64 cells and a speed of 0.1 along the wave vector the viscosity shifts by 0.1 % at most."""
    n = 64
    k = 2 * np.pi / n
    found = []
    for speed in (0.0, 0.1):
        velocity = np.zeros((3, n, 1, 1))
        velocity[0] = speed
        velocity[1, :, 0, 0] = 1e-4 * np.cos(k * (np.arange(n) + 0.5))
        made = solver(velocity, viscosity, parametrized=parametrized)
        found.append(measured_viscosity(made, (1, 0, 0), 1, 2000, k**2))
    assert found[1] / found[0] == pytest.approx(1, abs=1e-3)
    assert found[0] / viscosity == pytest.approx(1, abs=2e-3)


@pytest.mark.parametrize("parametrized", [False, True])
@pytest.mark.parametrize("frame", [(0.1, 0.0), (0.07, 0.07)])
def test_vortices_carried_along(frame, parametrized):
    """Taylor-Green vortices in a frame that moves at 0.1 decay within 0.3 % of the viscosity."""
    n, viscosity = 48, 0.01
    density, plane = taylor_green(n, 0.01)
    velocity = np.zeros((3, n, n, 1))
    velocity[:2, :, :, 0] = plane + np.reshape(frame, (2, 1, 1))
    made = solver(velocity, viscosity, density[:, :, None], parametrized=parametrized)
    found = measured_viscosity(made, (1, 1, 0), 0, 600, 2 * (2 * np.pi / n) ** 2)
    assert found / viscosity == pytest.approx(1, abs=3e-3)


@pytest.mark.parametrize("parametrized", [False, True])
@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("streaming", STREAMINGS)
def test_alive_at_low_viscosity(streaming, precision, parametrized, rng):
    """A stream of speed 0.1 with noise of a fifth of it, at viscosity 1e-4: momentum stays, the noise decays."""
    noise = rng.uniform(-0.035, 0.035, (3, 16, 16, 16))
    velocity = noise + np.reshape([0.1, 0.0, 0.0], (3, 1, 1, 1))
    domain = lbm.Domain((16, 16, 16), "D3Q27")
    collision = lbm.Cumulant(1e-4, parametrized=parametrized)
    made = lbm.Solver(domain, collision, precision=precision, streaming=streaming, device="cpu")
    made.initialize(velocity=velocity)
    before = (made.density() * made.velocity()).mean(axis=(1, 2, 3))
    made.step(1000)
    after = made.velocity()
    np.testing.assert_allclose((made.density() * after).mean(axis=(1, 2, 3)), before, rtol=0, atol=2e-6)
    assert after.std(axis=(1, 2, 3)).max() < 0.4 * noise.std()
