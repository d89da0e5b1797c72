"""Temperatures of bodies at their surface: conduction, heat and convection beside round and slanted walls."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import lbmgpu as lbm
from validation.curved_temperatures import (
    between_shells,
    convection_between_cylinders,
    coordinates,
    gradient_past_cylinder,
    slanted_layer,
    steady,
)

ORDER = 1.8


def order(errors: list[float]) -> float:
    """Of the convergence from a grid to one twice as fine."""
    return float(np.log2(abs(errors[0]) / abs(errors[1])))


@pytest.mark.slow
@pytest.mark.parametrize("operators", ["isotropic", "obrecht2013"])
def test_conduction_between_cylinders_converges_at_second_order(operators: str) -> None:
    """The logarithmic profile and its heat, 5 to 20 cells apart; of half-way walls the heat is 1 % off at 20."""
    found = [between_shells(gap, None, operators=operators) for gap in (5, 10, 20)]
    assert abs(found[2].inner) < 0.0005
    assert abs(found[1].inner) < 0.002
    assert order([found[0].inner, found[2].inner]) / 2 > 1.9
    assert order([found[0].largest, found[2].largest]) / 2 > ORDER
    assert all(abs(each.inner - each.outer) < 1e-9 for each in found)
    halfway = between_shells(20, "halfway", operators=operators)
    assert halfway.largest > 12 * found[2].largest


def test_place_among_the_cells_hardly_changes_the_heat() -> None:
    heats = [between_shells(10, None, place).inner for place in ((0.0, 0.0), (0.5, 0.5), (0.27, 0.41), (0.5, 0.0))]
    assert np.ptp(heats) < 0.001


@pytest.mark.slow
def test_conduction_between_spheres() -> None:
    """Half-way walls are 4 % off and more."""
    found = between_shells(6, None, (0.3, 0.17, 0.41))
    assert abs(found.inner) < 0.007
    assert abs(found.inner - found.outer) < 1e-9
    assert found.largest < 0.02


def test_a_turning_cylinder_conducts_alike() -> None:
    """An isothermal cylinder that turns in another: the flow goes along the isotherms."""
    still, turning = (between_shells(10, None, turning=rate) for rate in (0.0, 0.002))
    assert turning.inner == pytest.approx(still.inner, abs=5e-4)
    assert turning.largest < 2 * still.largest


@pytest.mark.parametrize("along", [(1, 1), (2, 1), (3, 1), (3, 2)])
def test_linear_temperatures_are_exact(along: tuple[int, int]) -> None:
    """Between slanted walls, whatever their place between the cells, with temperatures given by a function."""
    for place in (0.1, 0.4, 0.85):
        assert slanted_layer(along, place, None) < 1e-11
    assert slanted_layer(along, 0.1, "halfway") > 0.01


def test_parabolas_between_slanted_walls_converge_at_second_order() -> None:
    for place in (0.1, 0.3, 0.8):
        errors = [slanted_layer((2, 1), place, None, curvature=1.0, period=period) for period in (12, 24)]
        assert order(errors) > ORDER


@pytest.mark.slow
def test_gradient_past_an_adiabatic_cylinder() -> None:
    """The error of half-way walls falls 15 times and more by the fit; little heat goes through the surface."""
    found = [gradient_past_cylinder(radius, None) for radius in (5, 10)]
    halfway = [gradient_past_cylinder(radius, "halfway") for radius in (5, 10)]
    assert all(fit.outer < mirror.outer / 15 for fit, mirror in zip(found, halfway, strict=True))
    assert all(fit.largest < mirror.largest / 9 for fit, mirror in zip(found, halfway, strict=True))
    assert order([each.outer for each in found]) > 1.2
    assert all(abs(each.inner) < 0.005 for each in found)
    assert all(abs(each.inner) < 1e-12 for each in halfway)


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_a_uniform_temperature_stays(precision: str) -> None:
    """The same bits, beside an adiabatic ball at its surface in a flow."""
    domain = lbm.Domain((14, 12, 12))
    domain.add_body(lbm.Sphere((6.2, 6.4, 5.9), 3.1), "ball")
    solver = lbm.Solver(domain, lbm.TRT(0.05), precision=precision, thermal=lbm.HybridThermal(0.05), force=(1e-5, 0, 0))
    solver.initialize(temperature=0.3)
    before = solver.temperature()
    solver.step(50)
    np.testing.assert_array_equal(solver.temperature(), before)


def test_heat_in_a_closed_box_with_an_adiabatic_cylinder() -> None:
    """What a spot of heat beside it gains until it is spread, below 3 % of it; by half-way walls nothing."""
    changes = {}
    for scheme in (None, "halfway"):
        domain = lbm.Domain((40, 40), "D2Q9")
        for face in domain.faces:
            domain.faces[face] = lbm.NoSlip()
        domain.add_body(lbm.Sphere((20.3, 20.17), 8), "cylinder", thermal=lbm.Adiabatic(scheme=scheme))
        solver = lbm.Solver(domain, lbm.TRT(0.1), precision="float64", thermal=lbm.HybridThermal(0.1))
        x, y = coordinates((40, 40), (9.0, 20.0))
        solver.initialize(temperature=np.exp(-(x**2 + y**2) / 8))
        before = solver.heat()
        solver.step(40_000)
        changes[scheme] = solver.heat() / before - 1
    assert abs(changes[None]) < 0.03
    assert abs(changes["halfway"]) < 1e-11


@pytest.mark.parametrize("diffusivity", [0.005, 0.1, 0.25])
def test_steps_are_stable(diffusivity: float) -> None:
    """Random temperatures beside isothermal and adiabatic round bodies at random places never exceed their start."""
    rng = np.random.default_rng(3)
    for number, dimensions in itertools.product(range(4), (2, 3)):
        n = 16 if dimensions == 2 else 11
        domain = lbm.Domain((n,) * dimensions, "D2Q9" if dimensions == 2 else "D3Q19")
        thermal = lbm.Isothermal(0.0) if number % 2 == 0 else lbm.Adiabatic()
        ball = lbm.Sphere(tuple(rng.uniform(5, n - 5, dimensions)), rng.uniform(2, 4))
        domain.add_body(ball, "ball", thermal=thermal)
        solver = lbm.Solver(domain, lbm.TRT(0.1), precision="float64", thermal=lbm.HybridThermal(diffusivity))
        solver.initialize(temperature=rng.uniform(-1, 1, domain.shape))
        solver.step(3000)
        assert np.abs(solver.temperature()).max() < 1


@pytest.mark.slow
def test_convection_between_horizontal_cylinders() -> None:
    """T. H. Kuehn & R. J. Goldstein, J. Fluid Mech. 74 (1976) 695: mean equivalent conductivity of air, Ra = 5e4."""
    inner, outer = convection_between_cylinders(5e4, 32)
    assert inner == pytest.approx(outer, rel=5e-3)
    assert inner == pytest.approx(3.0, rel=0.02)


def test_convection_between_cylinders_at_a_low_rayleigh_number() -> None:
    inner, _ = convection_between_cylinders(1e3, 16)
    assert inner == pytest.approx(1.08, rel=0.02)


def test_halfway_is_by_choice() -> None:
    """Of the temperature alone, or of the flow and with it of the temperature."""
    for flow, thermal in (("halfway", None), (None, "halfway")):
        domain = lbm.Domain((16, 16), "D2Q9")
        body = lbm.Sphere((8.1, 8.2), 3)
        domain.add_body(body, "ball", lbm.NoSlip(scheme=flow), lbm.Isothermal(1.0, scheme=thermal))
        assert domain.bodies["ball"].thermal_scheme == "halfway"
        solver = steady(domain, 1e-6)
        mask = lbm.Domain((16, 16), "D2Q9")
        mask.add_body(body.solid((0, 0), (16, 16)), "ball", thermal=lbm.Isothermal(1.0))
        np.testing.assert_array_equal(solver.temperature(), steady(mask, 1e-6).temperature())
