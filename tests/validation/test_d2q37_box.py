"""Boxes of gas with walls on both axes, in D2Q37: what they keep, conduction, and gas at rest."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import lbmgpu as lbm
from validation.flows import order

CS2 = lbm.stencil("D2Q37").cs2
FACES = ("-x", "+x", "-y", "+y")


def box(shape: tuple[int, int], gas: lbm.ThermalBGK, walls: dict[str, Any], device: str, **options: Any) -> lbm.Solver:
    """A closed box; `walls` are the temperatures of those that are not adiabatic."""
    domain = lbm.Domain(shape, "D2Q37")
    for face in FACES:
        domain.faces[face] = lbm.NoSlip()
        if face in walls:
            domain.thermal[face] = lbm.Isothermal(walls[face])
    return lbm.Solver(domain, gas, **{"precision": "float64", "device": device, "threads": 1, **options})


def viscosity(tau: float) -> float:
    return CS2 * (tau - 0.5)


WALLS: dict[str, dict[str, Any]] = {
    "sealed": {},
    "cold": dict.fromkeys(FACES, CS2),
    "heated from the side": {"-x": 1.05 * CS2, "+x": 0.95 * CS2},
    "heated in a corner": {"-x": 1.05 * CS2, "-y": 1.05 * CS2, "+y": 0.95 * CS2},
}


@pytest.mark.parametrize("walls", WALLS)
@pytest.mark.parametrize("tau", [0.505, 0.52, 0.6, 1.2])
def test_a_box_keeps_its_mass(tau, walls, device, rng):
    """To rounding over 5000 steps, with noise at first and gravity, and a sealed one the energy too; noise dies."""
    gas = lbm.ThermalBGK(viscosity(tau), prandtl=0.71, gravity=(0, -2e-5))
    solver = box((20, 16), gas, WALLS[walls], device)
    noise = rng.uniform(-1, 1, (4, 20, 16))
    solver.initialize(1 + 0.02 * noise[0], 0.02 * noise[1:3], temperature=CS2 * (1 + 0.02 * noise[3]))
    mass = solver.populations().sum()
    solver.step(5000)
    assert solver.populations().sum() == pytest.approx(mass, rel=2e-13)
    assert np.abs(solver.velocity()).max() < (2e-3 if walls in ("sealed", "cold") else 0.03)


def test_a_sealed_box_keeps_its_energy(device, rng):
    solver = box((17, 13), lbm.ThermalBGK(viscosity(0.55)), {}, device)
    noise = rng.uniform(-1, 1, (4, 17, 13))
    solver.initialize(1 + 0.02 * noise[0], 0.02 * noise[1:3], temperature=CS2 * (1 + 0.02 * noise[3]))
    energy = solver.heat() + solver.kinetic_energy()
    solver.step(5000)
    assert solver.heat() + solver.kinetic_energy() == pytest.approx(energy, rel=2e-13)
    assert np.abs(solver.velocity()).max() < 1e-5
    assert np.ptp(solver.temperature()) < 1e-5 * CS2


@pytest.mark.parametrize("walls", ["isothermal", "mixed"])
@pytest.mark.parametrize("tau", [0.6, 0.7])
def test_conduction_in_a_box(tau, walls, device):
    """Laplace's solution, in the mean of second order, and what enters through the walls leaves through others."""
    errors, sizes, eps = [], (8, 12, 18), 1e-3
    for n in sizes:
        place = (np.arange(n) + 0.5) / n
        x, y = np.meshgrid(place, place, indexing="ij")
        if walls == "isothermal":
            exact, given = np.sin(np.pi * x) * np.sinh(np.pi * y) / np.sinh(np.pi), dict.fromkeys(FACES, 0 * place)
            given["+y"] = np.sin(np.pi * place)
        else:
            exact = np.cos(np.pi * y) * np.cosh(np.pi * (x - 0.5)) / np.cosh(np.pi / 2)
            given = dict.fromkeys(("-x", "+x"), np.cos(np.pi * place))
        gas = lbm.ThermalBGK(viscosity(tau))
        solver = box((n, n), gas, {face: CS2 * (1 + eps * wall) for face, wall in given.items()}, device)
        solver.initialize(density=1 / (1 + eps * exact), temperature=CS2 * (1 + eps * exact))
        solver.step(round(n**2 / gas.diffusivity))
        off = (solver.temperature() / CS2 - 1) / eps - exact
        errors.append(np.sqrt((off**2).mean()))
        fluxes = [solver.heat_flux(face) for face in given]
        through = sum(np.abs(flux).sum() for flux in fluxes) / 2
        assert sum(flux.sum() for flux in fluxes) == pytest.approx(0, abs=1e-4 * through)
    assert errors[-1] < 8e-3
    assert order(errors, sizes) > 1.6


def test_heat_through_a_box_is_that_between_plates(device):
    """Between two opposite walls, the others adiabatic, the profile is straight in all rows, also in the corners."""
    n, hot, cold = 24, 1.05 * CS2, 0.95 * CS2
    gas = lbm.ThermalBGK(viscosity(0.7), prandtl=0.71)
    solver = box((n, 12), gas, {"-x": hot, "+x": cold}, device)
    exact = np.broadcast_to((hot + (cold - hot) * (np.arange(n) + 0.5) / n)[:, None], (n, 12))
    solver.initialize(density=CS2 / exact, temperature=exact)
    solver.step(round(n**2 / gas.diffusivity))
    assert np.abs(solver.temperature() - exact).max() < 2e-3 * (hot - cold)
    flux = gas.conductivity(CS2) * (hot - cold) / n
    for face, sign in (("-x", 1), ("+x", -1)):
        assert solver.mean_heat_flux(face) == pytest.approx(sign * flux, rel=1e-3)
        local = solver.heat_flux(face) / (sign * flux)
        np.testing.assert_allclose(local, np.ones(12), rtol=0.06)  # in corners columns pass heat to each other
        np.testing.assert_allclose(local[3:-3], np.ones(6), rtol=0.01)
        assert solver.nusselt(face) == pytest.approx(1, rel=1e-3)
    assert np.abs(solver.velocity()).max() < 2e-4


@pytest.mark.parametrize("walls", ["sealed", "cold"])
def test_an_atmosphere_in_a_box_stays(walls, device):
    """rho = rho0 exp(g . x / T) of an oblique gravity: no flow comes up."""
    n, gravity = 24, np.array([1e-3, -2e-3])
    x, y = np.meshgrid(np.arange(n) + 0.5 - n / 2, np.arange(n) + 0.5 - n / 2, indexing="ij")
    exact = np.exp((gravity[0] * x + gravity[1] * y) / CS2)
    solver = box((n, n), lbm.ThermalBGK(viscosity(0.6), gravity=tuple(gravity)), WALLS[walls], device)
    solver.initialize(density=exact, temperature=CS2)
    solver.step(3000)
    np.testing.assert_allclose(solver.density(), exact, rtol=1e-5)
    np.testing.assert_allclose(solver.temperature(), CS2, rtol=1e-5)
    assert np.abs(solver.velocity()).max() < 1e-6
