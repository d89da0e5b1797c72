"""The cumulant reference against its definition, and its linearised step against the decay of shear waves."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from . import STENCILS, Collision, collide, cumulant

D3Q27 = STENCILS["D3Q27"]


def product_equilibrium(velocity):
    """The populations whose cumulants above the second order vanish, of density 1, shape (27, 1)."""
    u = np.reshape(np.asarray(velocity, float), (3, 1))
    moments = {n: np.prod([(1.0, 0.0, 1 / 3)[k] for k in n]) * np.ones(1) for n in cumulant.ORDERS}
    return cumulant.populations(D3Q27, moments, u)


def one_step(collision, velocity, wave_vector):
    """The matrix of one step of a small disturbance with this wave vector of a uniform flow."""
    rest = product_equilibrium(velocity)
    step = 1e-30  # an imaginary disturbance gives the derivative to all digits
    matrix = collide(D3Q27, collision, rest + 1j * step * np.eye(27), np.zeros((3, 27))).imag / step
    return np.exp(-1j * (D3Q27.c @ np.asarray(wave_vector)))[:, None] * matrix


def viscosity_errors(collision, velocity, wave_vector):
    """Relative errors of the viscosity in the decay of the two shear waves."""
    k = np.asarray(wave_vector, float)
    eigenvalues = np.linalg.eigvals(one_step(collision, velocity, k))
    exact = np.exp(-collision.viscosity * (k @ k) - 1j * (k @ np.asarray(velocity, float)))
    nearest = eigenvalues[np.argsort(np.abs(eigenvalues - exact))[:2]]
    return np.sort(-np.log(np.abs(nearest)) / (k @ k) / collision.viscosity - 1)


def test_cumulants_are_those_of_the_logarithm(rng):
    """Third and fourth order as textbooks have them, and back to the moments."""
    f = D3Q27.w[:, None] * (1 + 0.3 * rng.standard_normal((27, 9)))
    u = np.tensordot(D3Q27.c.T, f, axes=1) / f.sum(axis=0)
    m = cumulant.central_moments(D3Q27, f, u)
    c, rho = cumulant.cumulants_of(m), m[0, 0, 0]
    np.testing.assert_allclose(c[2, 1, 0], m[2, 1, 0], atol=1e-14)
    np.testing.assert_allclose(c[2, 2, 0], m[2, 2, 0] - (m[2, 0, 0] * m[0, 2, 0] + 2 * m[1, 1, 0] ** 2) / rho)
    np.testing.assert_allclose(c[2, 1, 1], m[2, 1, 1] - (m[2, 0, 0] * m[0, 1, 1] + 2 * m[1, 1, 0] * m[1, 0, 1]) / rho)
    for n, moment in cumulant.moments_of(c).items():
        np.testing.assert_allclose(moment, m[n], atol=1e-14)
    np.testing.assert_allclose(cumulant.populations(D3Q27, m, u), f, atol=1e-14)


def test_parametrization_with_trace_at_rate_1():
    """The rates and factors at omega_2 = 1 as short fractions; none at viscosities above 1/42."""
    for w in (1.76, 1.9, 1.999):
        found = cumulant.parametrization(w, 1.0)
        assert found is not None
        rates, a, b = found
        expected = (
            8 * (w - 2) * (1 + 2 * w) / (-8 - 14 * w + 7 * w**2),
            8 * (w - 2) * (4 * w - 7) / (56 - 50 * w + 9 * w**2),
            24 * (w - 2) * (3 * w**2 - 7 * w - 2) / (48 + 152 * w - 130 * w**2 + 29 * w**3),
        )
        np.testing.assert_allclose(rates, expected, rtol=1e-10)
        assert a == pytest.approx((4 + 2 * w - 3 * w**2) / (2 - 7 * w + 5 * w**2))
        assert b == pytest.approx((4 + 28 * w - 14 * w**2) / (6 - 21 * w + 15 * w**2))
    assert cumulant.parametrization(1 / (3 / 42 + 0.5) - 1e-3, 1.0) is None


@pytest.mark.parametrize("parametrized", [False, True])
@pytest.mark.parametrize("viscosity", [0.01, 0.05])
@pytest.mark.parametrize("direction", [(1, 0, 0), (1, 1, 0), (1, 1, 1)])
def test_a_moving_frame_keeps_the_viscosity(direction, viscosity, parametrized):
    """At 64 cells and a speed of 0.1 along the wave vector: shifted by 0.1 % at most."""
    collision = Collision("cumulant", viscosity, limiter=None, parametrized=parametrized)
    along = np.array(direction) / np.linalg.norm(direction)
    k = 2 * np.pi / 64 * along
    shift = viscosity_errors(collision, 0.1 * along, k) - viscosity_errors(collision, np.zeros(3), k)
    assert np.abs(shift).max() < 1e-3


@pytest.mark.parametrize("direction", [(1, 0, 0), (1, 1, 0), (1, 1, 1)])
def test_parametrized_diffusion_is_of_fourth_order(direction):
    """The error at 16, 32 and 64 cells falls with the fourth power; with rates of 1, with the second."""
    along = np.array(direction) / np.linalg.norm(direction)
    orders = {}
    for parametrized in (True, False):
        collision = Collision("cumulant", 0.002, limiter=None, parametrized=parametrized)
        # 3 nu^2 k^2 is what the parametrisation leaves in all directions, a thousandth of the error without it
        errors = [
            np.abs(viscosity_errors(collision, np.zeros(3), 2 * np.pi / n * along) - 3 * (0.002 * 2 * np.pi / n) ** 2)
            for n in (16, 32, 64)
        ]
        orders[parametrized] = np.log2(max(errors[1]) / max(errors[2]))
    assert orders[True] > 3.3
    assert orders[False] < 2.9


@pytest.mark.parametrize("parametrized", [False, True])
@pytest.mark.parametrize("velocity", [(0, 0, 0), (0.1, 0, 0), (0.07, 0.07, 0), (0.05, 0.05, 0.05)])
def test_uniform_flows_are_linearly_stable(velocity, parametrized, rng):
    """At viscosity 1e-4 no disturbance of any wave vector grows."""
    collision = Collision("cumulant", 1e-4, limiter=None, parametrized=parametrized)
    matrix = one_step(collision, velocity, np.zeros(3))
    grid = itertools.product(np.linspace(0, np.pi, 7), repeat=3)
    waves = np.concatenate([np.array(list(grid)), rng.uniform(-np.pi, np.pi, (200, 3))])
    growth = np.abs(np.linalg.eigvals(np.exp(-1j * waves @ D3Q27.c.T)[:, :, None] * matrix)).max()
    assert growth < 1 + 1e-10
