"""Walls of bodies on their surface: torques, profiles and drags of second order, whatever the place among the cells."""

from __future__ import annotations

import numpy as np
import pytest
from reference.stokes_cylinders import drag_of_square_array

import lbmgpu as lbm
from lbmgpu.conditions import CUT_WALLS
from validation.curved_flows import (
    array_of_spheres,
    blown_out,
    couette,
    drag_of_an_array,
    slanted_channel,
    torque_errors,
)

ORDER = 1.9


def order(coarse: float, fine: float, ratio: float) -> float:
    """Of the convergence from a coarse grid to one finer by a ratio."""
    return float(np.log(coarse / fine) / np.log(ratio))


def test_torque_between_cylinders_within_0_3_percent_at_20_cells() -> None:
    """Of both cylinders; by half-way walls it is 1 % off and more."""
    errors = torque_errors(couette(20, None), 20)
    assert np.abs(errors).max() < 0.003
    assert np.abs(torque_errors(couette(20, "halfway"), 20)).max() > 0.01


@pytest.mark.parametrize("scheme", CUT_WALLS)
def test_velocity_between_cylinders_converges_at_second_order(scheme: str) -> None:
    errors = [velocity_error(couette(gap, scheme), gap) for gap in (10, 20)]
    assert errors[1] < (0.003 if scheme == "central-linear" else 0.001)
    assert order(errors[0], errors[1], 2) > ORDER


def velocity_error(solver: lbm.Solver, gap: int) -> float:
    """Relative error of the velocity along the circles, a r + b / r, in the mean over fluid cells."""
    n = solver.domain.shape[0]
    x, y = np.meshgrid(np.arange(n) + 0.2 - n / 2, np.arange(n) + 0.33 - n / 2, indexing="ij")
    r, fluid = np.hypot(x, y), ~solver.solid
    exact = 0.01 / gap * gap**2 / 3 * (4 / r - r / gap**2)
    velocity = solver.velocity()
    error = (x * velocity[1] - y * velocity[0]) / r - exact
    return float(np.sqrt((error[fluid] ** 2).mean() / (exact[fluid] ** 2).mean()))


@pytest.mark.parametrize("scheme", CUT_WALLS)
def test_slanted_channel_converges_at_second_order(scheme: str) -> None:
    """Wherever its walls lie between cells; half-way walls converge at first order."""
    finer = (round(1.42 * 32) + 0.3) / (round(1.42 * 16) + 0.3)
    for place in (0.1, 0.3, 0.8):
        assert order(*(slanted_channel(period, scheme, place=place) for period in (16, 32)), finer) > ORDER
    assert order(*(slanted_channel(period, "halfway") for period in (16, 32)), finer) < 1.2


def test_viscosity_moves_the_central_wall_least_and_that_of_bouzidi_most() -> None:
    """In a steady flow by TRT with one magic parameter, at viscosities from 0.1 to 1."""
    found = {scheme: [slanted_channel(16, scheme, viscosity) for viscosity in (0.1, 1.0)] for scheme in CUT_WALLS}
    moved = {scheme: abs(errors[1] - errors[0]) for scheme, errors in found.items()}
    assert moved["central-linear"] < 0.1 * moved["bouzidi"]
    assert moved["interpolated"] < 0.4 * moved["bouzidi"]


@pytest.mark.slow
def test_place_among_the_cells_changes_the_drag_by_less_than_half_a_percent() -> None:
    """Half-way walls change it by 8 %."""
    drags = [drag_of_an_array(shift, None) for shift in ((0.0, 0.0), (0.5, 0.5), (0.27, 0.41), (0.5, 0.0), (0.0, 0.5))]
    assert max(drags) / min(drags) - 1 < 0.005


@pytest.mark.slow
def test_place_among_the_cells_changes_the_drag_of_a_sphere_by_less_than_half_a_percent() -> None:
    """20 cells across, 8 cells from the next; half-way walls change it by 2 %."""
    shifts = [(0.0, 0.0, 0.0), (0.5, 0.5, 0.5), (0.27, 0.41, 0.1), (0.5, 0.0, 0.0), (0.0, 0.5, 0.25)]
    for scheme, change in ((None, 0.005), ("halfway", 0.05)):
        drags = [drag_of_an_array(shift, scheme, 28, steps=2400) for shift in shifts]
        assert (max(drags) / min(drags) - 1 < 0.005) == (scheme is None)
        assert max(drags) / min(drags) - 1 < change


@pytest.mark.slow
@pytest.mark.parametrize("fraction", [0.1, 0.2])
def test_stokes_drag_of_an_array_of_cylinders_converges_at_second_order(fraction: float) -> None:
    """To that of a series (`reference.stokes_cylinders`), over three grids, in the mean over places among the cells,
    which errors depend on: at 12, 24 and 48 cells for one cylinder of the array."""
    exact, shifts = drag_of_square_array(fraction), np.random.default_rng(0).uniform(-0.5, 0.5, (6, 2))
    errors = []
    for n in (12, 24, 48):
        diameter, steps = 2 * n * np.sqrt(fraction / np.pi), 5 * n**2
        drags = [drag_of_an_array(tuple(shift), None, n, diameter, steps) for shift in shifts]
        errors.append(float(np.sqrt(np.mean((np.array(drags) / exact - 1) ** 2))))
    assert errors[0] > errors[1] > errors[2]
    assert order(errors[0], errors[2], 4) > ORDER


def test_a_curved_surface_blows_out_as_much_as_it_is_told() -> None:
    """An inlet on a body: half-way walls are 3.6 % off, as their staircase is longer than the surface."""
    assert abs(blown_out(None)) < 0.002
    assert abs(blown_out("halfway")) > 0.01


def test_oscillations_of_an_impulsive_start_are_damped() -> None:
    """By the default, in 20 steps where the flow between cylinders is steady."""
    solver = couette(10, None, 0.02)
    torques = []
    for _ in range(20):
        solver.step(1)
        torques.append(solver.body_torque("inner").item())
    assert np.ptp(torques) < 1e-4 * abs(np.mean(torques))


@pytest.mark.slow
@pytest.mark.parametrize(("fraction", "exact"), [(0.027, 2.00775), (0.064, 2.8102), (0.125, 4.29159), (0.216, 7.44192)])
def test_stokes_drag_of_an_array_of_spheres(fraction: float, exact: float) -> None:
    """By periodic point forces (`reference.stokes_array`), as published by A. A. Zick & G. M. Homsy (1982)."""
    assert array_of_spheres(32, fraction, None) == pytest.approx(exact, rel=0.005)


def test_a_solid_turning_with_the_fluid_feels_no_torque() -> None:
    """Fluid in a cylinder that turns with it, after long: rigid rotation, whose stress vanishes."""
    n, center, rate = 31, (15.8, 15.67), 5e-4
    domain = lbm.Domain((n, n), "D2Q9")
    around = lbm.Box((-1, -1), (n + 1, n + 1)) - lbm.Sphere(center, 13)
    turning = lbm.MovingWall(lambda x, y: (-rate * (y - center[1]), rate * (x - center[0])))
    domain.add_body(around, "drum", turning)
    solver = lbm.Solver(domain, lbm.TRT(0.1), precision="float64")
    x, y = np.meshgrid(np.arange(n) + 0.5 - center[0], np.arange(n) + 0.5 - center[1], indexing="ij")
    solver.run(6000)
    exact = rate * np.array([-y, x])
    fluid = ~solver.solid
    assert np.abs(solver.velocity() - exact)[:, fluid].max() < 2e-3 * rate * 13
    assert abs(solver.body_torque("drum", center).item()) < 1e-5 * 2 * np.pi * 0.1 * rate * 13**2
