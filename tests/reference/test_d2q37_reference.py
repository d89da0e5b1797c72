"""The reference of D2Q37 against the defining properties of its velocities, equilibrium, collision and walls."""

from __future__ import annotations

import itertools
from math import prod

import numpy as np
import pytest

from .d2q37 import CS2, D2Q37, FIFTH, H2, H3, XI, XI2, D2Q37Reference, W, along_wall, equilibrium, moments

C = D2Q37.c.astype(float)


def gaussian(order: int) -> float:
    """A moment of the normal distribution."""
    return 0.0 if order % 2 else float(prod(range(order - 1, 0, -2)))


def maxwell(rho: float, u: np.ndarray, T: float, powers: tuple[int, int]) -> float:
    """The moment of c_x^a c_y^b of a gas in equilibrium, by Gauss and Hermite."""
    x, w = np.polynomial.hermite_e.hermegauss(8)
    w = w / w.sum()
    parts = [(w * (u[a] + np.sqrt(T) * x) ** powers[a]).sum() for a in range(2)]
    return rho * parts[0] * parts[1]


def test_velocities():
    assert D2Q37.c.shape == (37, 2)
    assert len({tuple(c) for c in D2Q37.c.tolist()}) == 37
    assert abs(35 * CS2**3 - 70 * CS2**2 + 49 * CS2 - 12) < 1e-14
    np.testing.assert_array_equal(D2Q37.c[D2Q37.opposite], -D2Q37.c)


def test_weights_are_exact_to_ninth_order():
    for a, b in itertools.product(range(10), repeat=2):
        if a + b <= 9:
            exact = gaussian(a) * gaussian(b) * CS2 ** ((a + b) / 2)
            assert (W * C[:, 0] ** a * C[:, 1] ** b).sum() == pytest.approx(exact, rel=1e-13, abs=1e-13), (a, b)


def test_equilibrium_has_maxwells_moments_to_fourth_order(rng):
    for _ in range(5):
        rho, u, T = rng.uniform(0.5, 1.5), rng.uniform(-0.3, 0.3, 2), CS2 * rng.uniform(0.8, 1.2)
        f = equilibrium(np.array(rho), u, np.array(T))
        for a, b in itertools.product(range(5), repeat=2):
            if a + b <= 4:
                found = (f * C[:, 0] ** a * C[:, 1] ** b).sum()
                assert found == pytest.approx(maxwell(rho, u, T, (a, b)), rel=1e-12, abs=1e-13), (a, b)


def test_hermite_polynomials_are_orthogonal():
    for tensor, others in ((H2, H3), (H3, H2)):
        assert np.abs(np.tensordot(W, tensor, axes=1)).max() < 1e-14
        cross = np.einsum("i,ip,iq->pq", W, tensor.reshape(37, -1), others.reshape(37, -1))
        assert np.abs(cross).max() < 1e-13
    np.testing.assert_allclose(np.einsum("i,iab,iab->", W, H2, H2), 6, rtol=1e-13)
    np.testing.assert_allclose(np.einsum("i,iabc,iabc->", W, H3, H3), 24, rtol=1e-13)


@pytest.mark.parametrize("fourth_order_diffusion", [False, True])
@pytest.mark.parametrize("prandtl", [1.0, 0.71, 2.0])
def test_collisions_keep_mass_and_energy_and_add_gravity(prandtl, fourth_order_diffusion, rng):
    g = np.array([2e-3, -3e-3])
    reference = D2Q37Reference((4, 3), 0.1, prandtl=prandtl, gravity=g, fourth_order_diffusion=fourth_order_diffusion)
    f = equilibrium(1 + 0.1 * rng.random((4, 3)), 0.1 * rng.random((2, 4, 3)), CS2 * (1 + 0.1 * rng.random((4, 3))))
    f *= 1 + 0.01 * rng.random(f.shape)
    before, after = moments(f), moments(reference.collided(f))
    np.testing.assert_allclose(after[0], before[0], rtol=1e-14)
    np.testing.assert_allclose(after[1], before[1] + g[:, None, None], rtol=0, atol=1e-14)
    np.testing.assert_allclose(after[2], before[2], rtol=1e-13)


def jacobian(reference: D2Q37Reference, velocity: np.ndarray, temperature: float) -> np.ndarray:
    """The derivative of the collision at an equilibrium of density 1, (37, 37)."""
    rest, step = equilibrium(np.ones(1), velocity[:, None], np.full(1, temperature)), 1e-6
    change = step * np.eye(37)
    return (reference.collided(rest + change) - reference.collided(rest - change)) / (2 * step)


def decay(factors: np.ndarray, moment: np.ndarray) -> float:
    """Of the standing wave that has most of a moment: how much it loses in a step, as a power of e."""
    values, modes = np.linalg.eig(factors)
    part = np.abs(moment @ modes) / np.linalg.norm(modes, axis=0) * (np.abs(values) > 0.9)
    return float(-np.log(np.abs(values[(part * (np.abs(np.angle(values)) < 1e-6)).argmax()])))


@pytest.mark.parametrize(("tau", "prandtl"), [(0.55, 1.0), (0.55, 0.71), (0.6, 1.0), (0.65, 2.0)])
def test_waves_decay_to_fourth_order(tau, prandtl):
    """Waves of 40 and 80 cells decay as by viscosity and diffusivity, 8 times more exactly than with one time each."""
    nu, speed2 = CS2 * (tau - 0.5), (C**2).sum(axis=1)
    for cells in (40, 80):
        k = 2 * np.pi / cells
        errors = []
        for flag in (False, True):
            gas = D2Q37Reference((1, 1), nu, prandtl=prandtl, fourth_order_diffusion=flag)
            moves = np.exp(-1j * k * C[:, :1]) * jacobian(gas, np.zeros(2), CS2)
            found = decay(moves, C[:, 1]) / (nu * k**2), decay(moves, speed2 / 2 - CS2) * prandtl / (nu * k**2)
            errors.append(np.abs(np.array(found) - 1))
        assert errors[0] == pytest.approx(CS2 * k**2 * np.array([0.25, 0.5]), rel=0.1)
        assert (errors[1] < errors[0] / 8).all()


@pytest.mark.parametrize("prandtl", [0.5, 0.71, 1.0, 2.0, 5.0])
def test_no_wave_grows_with_diffusion_of_fourth_order(prandtl):
    """In streams of up to 0.2 and gases from 0.8 to 1.15 cs2, at the least relaxation time that there is for it."""
    gas = D2Q37Reference((1, 1), CS2 * 0.05 * max(1, prandtl), prandtl=prandtl, fourth_order_diffusion=True)
    points = np.linspace(-np.pi, np.pi, 12, endpoint=False)
    k = np.stack(np.meshgrid(points, points[points >= 0], indexing="ij"), -1).reshape(-1, 2)
    for velocity, part in itertools.product([(0.0, 0.0), (0.1, 0.1), (0.2, 0.05)], (0.8, 1.0, 1.15)):
        factors = np.exp(-1j * (k @ C.T))[:, :, None] * jacobian(gas, np.array(velocity), part * CS2)
        assert np.abs(np.linalg.eigvals(factors)).max() < 1 + 1e-8


def heat_flux(f: np.ndarray) -> np.ndarray:
    """Third central moments contracted, (2, ...)."""
    _, u, _ = moments(f)
    off = C.reshape(37, 2, *(1,) * (f.ndim - 1)) - u
    return (f[:, None] * off * (off**2).sum(axis=1, keepdims=True)).sum(axis=0)


@pytest.mark.parametrize("prandtl", [1.0, 0.71, 2.0])
@pytest.mark.parametrize("u", [(0.0, 0.0), (0.15, -0.05)])
def test_the_heat_flux_relaxes_with_its_own_time(prandtl, u, rng):
    """What is not in equilibrium loses 1/tau of its stress and 1/tau_heat of its heat flux, whatever the velocity."""
    reference = D2Q37Reference((1, 1), 0.1, prandtl=prandtl)
    f = equilibrium(np.ones((1, 1)), np.reshape(u, (2, 1, 1)), np.full((1, 1), CS2))
    f = f + 0.01 * W[:, None, None] * np.einsum("iabc,abc->i", H3, rng.random((2, 2, 2)))[:, None, None]
    np.testing.assert_allclose(
        heat_flux(reference.collided(f)), (1 - 1 / reference.tau_heat) * heat_flux(f), rtol=1e-10, atol=1e-15
    )


@pytest.mark.parametrize("walls", [(None, None, "adiabatic", "adiabatic"), (0.71, 0.71, None, None)])
def test_a_gas_at_rest_stays(walls):
    """At the walls' temperature, to rounding."""
    reference = D2Q37Reference((5, 4), 0.05, walls=walls)
    reference.initialize(1.1, temperature=0.71)
    reference.step(50)
    rho, u, T = reference.fields()
    np.testing.assert_allclose(rho, 1.1, rtol=1e-13)
    np.testing.assert_allclose(T, 0.71, rtol=1e-13)
    assert np.abs(u).max() < 1e-14


def test_what_walls_keep(rng):
    """Mass stays between walls, and at an adiabatic one its energy, whatever the state."""
    varied = CS2 * rng.uniform(0.9, 1.1, 6)
    for pair in ((varied, "adiabatic"), ("adiabatic", "adiabatic"), (varied, 0.7)):
        walls = (None, None, *pair)
        reference = D2Q37Reference((6, 3), 0.1, prandtl=0.71, gravity=(1e-3, -2e-3), walls=walls)
        reference.initialize(1 + 0.1 * rng.random((6, 3)), 0.1 * rng.random((2, 6, 3)), CS2 * rng.uniform(0.9, 1.1))
        before, arrived = reference.f, reference.streamed()
        assert arrived.sum() == pytest.approx(before.sum(), rel=1e-14)
        energy = [((C**2).sum(axis=1) @ f.reshape(37, -1)).sum() for f in (before, arrived)]
        if all(isinstance(wall, str) for wall in pair):
            assert energy[1] == pytest.approx(energy[0], rel=1e-14)
        else:
            assert energy[1] != pytest.approx(energy[0], rel=1e-9)


def test_the_part_of_fifth_order():
    """It has no lower moments, and is what a gradient at constant pressure has beyond polynomials of third order."""
    fifth = XI * FIFTH[:, None]
    for other in (np.ones((37, 1)), XI, H2.reshape(37, -1), H3.reshape(37, -1)):
        assert np.abs(np.einsum("i,ia,ip->ap", W, fifth, other)).max() < 1e-13
    theta, h = 0.1, 1e-5

    def at(theta: float) -> np.ndarray:
        return equilibrium(np.array(1 / (1 + theta)), np.zeros(2), np.array(CS2 * (1 + theta)))

    slope = XI[:, 0] * (at(theta + h) - at(theta - h)) / (2 * h) / W
    beyond = slope - theta * (2 + theta) / (1 + theta) ** 2 * fifth[:, 0]
    np.testing.assert_allclose(beyond, XI[:, 0] * (XI2 - 4) / 2, rtol=0, atol=1e-7)


@pytest.mark.parametrize("ends", [False, True])
def test_what_the_gas_meets_of_a_walls_temperature(ends, rng):
    """Polynomials of third degree stay, and have their derivatives; a jump is spread; the sum of a ring stays."""
    x = np.arange(24.0)
    cubic = 1 + 0.1 * x - 0.03 * x**2 + 1e-3 * x**3
    inner = slice(None) if ends else slice(8, -8)
    smooth, gradient, curvature = along_wall(cubic, ends=ends)
    np.testing.assert_allclose(smooth[inner], cubic[inner], rtol=0, atol=1e-13)
    np.testing.assert_allclose(curvature[8:-8], (-0.06 + 6e-3 * x)[8:-8], rtol=0, atol=1e-12)
    np.testing.assert_allclose(gradient[8:-8], (0.1 - 0.06 * x + 3e-3 * x**2 + 1e-3)[8:-8], rtol=0, atol=1e-12)
    smooth, _, curvature = along_wall(np.where(x < 12, 0.0, 1.0), ends=ends)
    assert np.abs(np.diff(smooth)).max() < 0.45
    assert np.abs(curvature).max() < 0.25
    if ends:
        assert not curvature[[0, 3, -4, -1]].any()
    else:
        noise = rng.random(7)
        assert along_wall(noise, ends=ends)[0].mean() == pytest.approx(noise.mean(), rel=1e-13)


@pytest.mark.slow
@pytest.mark.parametrize("walls", [(None, None, CS2, CS2), (None, None, "adiabatic", "adiabatic")])
@pytest.mark.parametrize("viscosity", [0.0035, 0.007, 0.1, 1.0])
def test_walls_are_stable(walls, viscosity):
    """No eigenvalue of a channel at rest is beyond 1, for any wave along the walls."""
    n, h = 6, 1e-6
    reference = D2Q37Reference((7, n), viscosity, walls=walls)
    start = reference.f.copy()
    response = np.zeros((7, 37 * n, 37 * n))
    for j in range(37 * n):
        after = []
        for sign in (1, -1):
            reference.f = start.copy()
            reference.f[j // n, 3, j % n] += sign * h
            reference.step()
            after.append(reference.f)
        response[:, :, j] = ((after[0] - after[1]) / (2 * h)).transpose(1, 0, 2).reshape(7, -1)
    for k in np.linspace(0, np.pi, 9):
        matrix = sum(response[3 + m] * np.exp(-1j * k * m) for m in range(-3, 4))
        assert np.abs(np.linalg.eigvals(matrix)).max() < 1 + 1e-8
