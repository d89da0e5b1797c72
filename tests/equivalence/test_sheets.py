"""Walls between fluid cells, of sheets and thin parts: against the NumPy reference, and the same bits in any layout."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from reference import STENCILS
from reference.cases import (
    CLASSES,
    Case,
    add_random_sheets,
    engine_state,
    random_cuts,
    random_faces,
)
from reference.cut_walls import Cuts
from reference.registry import STREAMINGS, THERMAL_STENCILS
from reference.thermal_cases import random_thermal_case
from reference.turbulence import CONSTANTS, FORMULAS, Turbulence

import lbmgpu as lbm
from lbmgpu import _core
from lbmgpu.conditions import WALL_SCHEMES
from lbmgpu.engine.body_links import BodyLinks

from .test_cut_walls import random_case as random_bodies_case
from .test_reference_equality import SHAPES, assert_same
from .test_thermal import assert_same as assert_same_heat

FACES = [kind for kind in CLASSES if kind != "periodic"]
NUMBERS = [("float32", "float32"), ("float64", "float64"), ("float32", "float16")]


def random_case(
    rng: np.random.Generator, name: str, shape: tuple[int, ...], schemes: list[str], *, solid: bool = True, **more: Any
) -> Case:
    """Ragged sheets that cross and end anywhere, with gaps of one cell; one at rest, one of moving parts; `solid` of
    bodies that have cells too."""
    case = random_bodies_case(rng, name, shape, schemes, solid, **more)
    add_random_sheets(rng, case)
    return case


@pytest.mark.parametrize("streaming", STREAMINGS)
@pytest.mark.parametrize("scheme", WALL_SCHEMES)
@pytest.mark.parametrize("name", STENCILS)
def test_sheets_in_a_periodic_box(name, scheme, streaming, device, rng):
    """Populations, forces and torques, of sheets with and without cells."""
    for solid in (True, False):
        case = random_case(rng, name, SHAPES[name], [scheme], solid=solid)
        assert_same(case, case.solver(streaming=streaming, device=device), steps=6)


@pytest.mark.parametrize("kind", FACES)
@pytest.mark.parametrize("name", STENCILS)
def test_sheets_that_end_at_faces(name, kind, device, rng):
    """Where faces redirect links a sheet counts by its way along them."""
    shape = (6, 5, 4)[: STENCILS[name].D]
    kinds = [kind, "no-slip", kind, kind, "periodic", "periodic"][: 2 * len(shape)]
    faces = random_faces(rng, shape, kinds, speed=0.02)
    case = random_case(rng, name, shape, [], faces=faces)
    assert_same(case, case.solver(device=device), steps=5)


@pytest.mark.parametrize("streaming", STREAMINGS)
@pytest.mark.parametrize(("name", "number"), [(s, n) for s in STENCILS for n in range(12)])
def test_sheets_beside_all_kinds_of_faces(name, number, streaming, device, rng):
    """A domain of one cell across among them."""
    sizes = [1, 2, 3, 5] if number % 4 == 0 else [4, 5, 6]
    shape = tuple(int(n) for n in rng.choice(sizes, len(SHAPES[name])))
    shape = (max(shape[0], 4), *shape[1:])
    periodic = number % 4 == 0
    faces = () if periodic else random_faces(rng, shape, speed=0.02)
    case = random_case(rng, name, shape, [], faces=faces)
    assert_same(case, case.solver(streaming=streaming, device=device), steps=8)


@pytest.mark.parametrize(("precision", "storage"), NUMBERS)
@pytest.mark.parametrize("parts", [(2, 2, 2), (3, 1, 1), (1, 2, 1)])
@pytest.mark.parametrize("name", STENCILS)
def test_blocks_streamings_and_devices_change_no_bit(name, parts, precision, storage, device, rng):
    """Where a sheet crosses a border between blocks each side has places of its own; within a block both share them."""
    shape = (8, 6, 6)[: STENCILS[name].D]
    kinds = ["velocity-inlet", "outflow", "free-slip", "pressure-outlet", "periodic", "periodic"][: 2 * len(shape)]
    for faces in ((), random_faces(rng, shape, kinds, speed=0.02)):
        case = random_case(rng, name, shape, [], faces=faces)
        layout = lbm.Layout.split(shape, parts[: len(shape)], "cuda:0" if device == "cuda" else "cpu")
        numbers = {"precision": precision, "storage": storage}
        solvers = [
            case.solver(streaming="two-lattice", **numbers),
            case.solver(streaming="in-place", device=device, **numbers),
            case.solver(streaming="in-place", device="auto", layout=layout, **numbers),
            case.solver(streaming="two-lattice", device="auto", layout=layout, **numbers),
        ]
        for solver in solvers:
            solver.step(11)
        fluid, first = case.fluid(), solvers[0]
        for solver in solvers[1:]:
            np.testing.assert_array_equal(solver.populations()[:, fluid], first.populations()[:, fluid])
            for body in first.domain.bodies:
                rounding = 1e-11 if precision == "float64" else 1e-5
                np.testing.assert_allclose(solver.body_force(body), first.body_force(body), rtol=0, atol=rounding)


@pytest.mark.parametrize("name", STENCILS)
def test_stored_numbers_are_the_same_to_the_bit(name, device, rng):
    """Of both streamings and devices, zeros with their signs."""
    shape = SHAPES[name]
    case = random_case(rng, name, shape, ["interpolated", "bouzidi"])
    state = []
    for streaming, where in (("in-place", "cpu"), ("in-place", device), ("two-lattice", device)):
        at = "cuda:0" if where == "cuda" else where
        engine = case.engine(streaming=streaming, precision="float32", storage="float32", device=at)
        engine.step(15)
        state.append(engine_state(engine, name, shape)[:, case.fluid()])
    for other in state[1:]:
        np.testing.assert_array_equal(other.view(np.uint32), state[0].view(np.uint32))


@pytest.mark.parametrize("streaming", STREAMINGS)
@pytest.mark.parametrize("name", THERMAL_STENCILS)
def test_a_temperature_beside_sheets(name, streaming, device, rng):
    """Sheets are half-way walls of it, adiabatic or not, and an adiabatic one takes no heat."""
    for walls in (True, False):
        shape = (6, 5, 4)[: int(name[1])]
        case = random_thermal_case(rng, name, "trt", shape, faces=None if walls else ["periodic"] * 2 * len(shape))
        case.cuts = random_cuts(rng, name, case.bodies)
        case.cuts = {n: Cuts("halfway", c.distance) for n, c in case.cuts.items()}
        add_random_sheets(rng, case)
        solver = case.solver(streaming=streaming, device=device)
        assert_same_heat(case, solver)


def test_adiabatic_sheets_keep_the_heat(rng):
    """Whatever their shape, and wherever they end."""
    shape = (8, 7)
    domain = lbm.Domain(shape, "D2Q9")
    case = random_case(rng, "D2Q9", shape, ["halfway"], solid=False)
    domain.add_body(np.zeros(shape, bool), "sheet", links=case.links(0))
    thermal = lbm.HybridThermal(0.05)
    solver = lbm.Solver(domain, lbm.TRT(0.1), thermal=thermal, precision="float64", device="cpu")
    solver.initialize(temperature=rng.uniform(-0.5, 0.5, shape))
    before = solver.heat()
    solver.step(200)
    assert solver.heat() == pytest.approx(before, abs=1e-12)


@pytest.mark.parametrize("model", FORMULAS)
@pytest.mark.parametrize("name", ["D2Q9", "D3Q19"])
def test_velocity_gradients_end_at_sheets(name, model, device, rng):
    turbulence = Turbulence(model, CONSTANTS[model], 1)
    case = random_case(rng, name, SHAPES[name], ["halfway"], turbulence=turbulence)
    assert_same(case, case.solver(device=device), steps=5)


def test_both_ends_have_a_wall_where_one_was_given(rng):
    """The other distance is what is left of the link."""
    shape = (6, 5)
    case = random_case(rng, "D2Q9", shape, ["interpolated"], solid=False)
    links = case.links(0)
    half = links.at(np.arange(len(links.q)) % 2 == 0)
    domain = lbm.Domain(shape, "D2Q9")
    domain.add_body(np.zeros(shape, bool), "sheet", links=half)
    solver = lbm.Solver(domain, lbm.TRT(0.1), precision="float64", device="cpu")
    found = solver._simulation.boundary.links("sheet")
    assert isinstance(found, BodyLinks)
    c, opposite = _core.stencil("D2Q9").c, _core.stencil("D2Q9").opposite
    places = {(*map(int, cell), int(i)): q for cell, i, q in zip(*found.links, strict=True)}
    for (x, y, i), q in places.items():
        end = (int((x + c[i][0]) % 6), int((y + c[i][1]) % 5), int(opposite[i]))
        assert end in places
        given = {(*map(int, cell), int(d)) for cell, d in zip(half.cells, half.directions, strict=True)}
        if (x, y, i) not in given:
            assert q == pytest.approx(max(1 - places[end], 2.0**-24))
