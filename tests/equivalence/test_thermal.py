"""The temperature against the NumPy reference: 20 steps on random states, float64, to 1e-12."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from reference import Collision, Heat
from reference.cases import CLASSES, in_reference_order, random_fields
from reference.registry import KINDS, STREAMINGS, THERMAL_PAIRS, THERMAL_STENCILS, by_dimension
from reference.thermal_cases import OPERATORS, ThermalCase, random_thermal_case

import lbmgpu as lbm
from lbmgpu.solver import simulation_of

STEPS = 20
TOLERANCE = 1e-12
SHAPES = by_dimension((9, 7), (6, 5, 4))
FACES = ["-x", "+x", "-y", "+y", "-z", "+z"]


def assert_same(case: ThermalCase, solver: lbm.Solver, steps: int = STEPS) -> None:
    """Run both from the solver's state; compare populations and fields in fluid cells and the heat of every wall."""
    reference, fluid = case.reference(), case.fluid()
    reference.f = in_reference_order(case.stencil, solver.populations())
    reference.f[:, ~fluid] = reference.stencil.w[:, None]
    np.testing.assert_allclose(solver.temperature()[fluid], reference.T[fluid], rtol=0, atol=0)
    np.testing.assert_allclose(solver.velocity()[:, fluid], reference.velocity()[:, fluid], rtol=0, atol=TOLERANCE)
    simulation_of(solver).advance(steps)  # unlike step() without looks, by time, at whether the flow is stable
    reference.step(steps)
    assert np.abs(reference.T[fluid]).max() < 10
    np.testing.assert_allclose(solver.temperature()[fluid], reference.T[fluid], rtol=0, atol=TOLERANCE)
    populations = in_reference_order(case.stencil, solver.populations())
    np.testing.assert_allclose(populations[:, fluid], reference.f[:, fluid], rtol=0, atol=TOLERANCE)
    np.testing.assert_allclose(solver.density()[fluid], reference.density()[fluid], rtol=0, atol=10 * TOLERANCE)
    np.testing.assert_allclose(solver.velocity()[:, fluid], reference.velocity()[:, fluid], rtol=0, atol=10 * TOLERANCE)
    assert solver.heat() == pytest.approx(reference.T[fluid].sum(), abs=1e-11)
    assert_same_heat(case, solver, reference)


def assert_same_heat(case: ThermalCase, solver: lbm.Solver, reference) -> None:
    """The heat that each wall gives; none where it is adiabatic."""
    for number, (face, (kind, _)) in enumerate(zip(FACES, case.all_faces(), strict=False)):
        if kind == "periodic":
            continue
        flux = reference.face_flux(number)
        np.testing.assert_allclose(solver.heat_flux(face), flux, rtol=0, atol=TOLERANCE)
    for number, wall in enumerate(case.heat.bodies):
        if wall is None:
            continue
        given = solver.heat_flux(f"body {number}")
        cells, flux, area = reference.body_flux(number)
        found = dict(zip(map(tuple, given.cells.tolist()), zip(given.flux, given.area, strict=True), strict=True))
        assert sorted(found) == sorted(cells)
        ours = np.reshape([found[cell] for cell in cells], (-1, 2))
        np.testing.assert_allclose(ours, np.transpose([flux, area]).reshape(-1, 2), rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize("operators", OPERATORS)
@pytest.mark.parametrize("streaming", STREAMINGS)
@pytest.mark.parametrize(("name", "kind"), THERMAL_PAIRS)
def test_in_a_periodic_box(name, kind, streaming, operators, device, rng):
    """Every stencil, collision and streaming, both sets of operators; buoyancy, coupling and a source on."""
    shape = SHAPES[name]
    case = random_thermal_case(
        rng, name, kind, shape, operators=operators, faces=["periodic"] * 2 * len(shape), bodies=False
    )
    assert_same(case, case.solver(streaming=streaming, device=device))


@pytest.mark.parametrize("what", ["plain", "buoyancy", "source", "source field", "coupling", "force"])
@pytest.mark.parametrize("streaming", STREAMINGS)
@pytest.mark.parametrize("name", THERMAL_STENCILS)
def test_each_part_alone(name, streaming, what, device, rng):
    """A passive temperature, and one with one thing more; the reference temperature is not zero."""
    shape = SHAPES[name]
    density, velocity = random_fields(rng, shape)
    heat = {
        "plain": {},
        "force": {},
        "buoyancy": {"buoyancy": (2e-3, -1e-3, 5e-4)[: len(shape)]},
        "source": {"source": 1e-3},
        "source field": {"source": rng.uniform(-1e-3, 1e-3, shape)},
        "coupling": {"coupling": 0.1},
    }[what]
    case = ThermalCase(
        name,
        shape,
        Collision("mrt", 0.05),
        force=rng.uniform(-1e-4, 1e-4, len(shape)) if what == "force" else None,
        density=density,
        velocity=velocity,
        heat=Heat(0.04, reference=-0.3, **heat),
        temperature=rng.uniform(-1, 1, shape),
    )
    assert_same(case, case.solver(streaming=streaming, device=device))


@pytest.mark.parametrize("walls", list(itertools.product(["isothermal", "adiabatic"], repeat=2)))
@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("name", THERMAL_STENCILS)
def test_one_pair_of_walls(name, axis, walls, device, rng):
    """Both kinds on the faces of one axis, periodic along the others, with a temperature for every cell."""
    shape = SHAPES[name]
    axis %= len(shape)
    kinds = ["periodic"] * 2 * len(shape)
    kinds[2 * axis : 2 * axis + 2] = ["no-slip"] * 2
    case = random_thermal_case(rng, name, "trt", shape, faces=kinds, bodies=False)
    tangential = tuple(np.delete(shape, axis))
    faces = [None] * 2 * len(shape)
    faces[2 * axis : 2 * axis + 2] = [rng.uniform(-1, 1, tangential) if w == "isothermal" else None for w in walls]
    case.heat = Heat(**{**case.heat.__dict__, "faces": faces})
    assert_same(case, case.solver(device=device))


@pytest.mark.parametrize("operators", OPERATORS)
@pytest.mark.parametrize("name", THERMAL_STENCILS)
def test_walls_that_meet_at_edges(name, operators, device, rng):
    """Isothermal, adiabatic and periodic ones beside each other at an edge, where one axis acts after another."""
    shape = (5, 4, 4)[: len(SHAPES[name])]
    for kinds in itertools.product(["isothermal", "adiabatic", "periodic"], repeat=2):
        pairs = [*kinds, "isothermal"][: len(shape)]
        flow = [k for kind in pairs for k in ["periodic" if kind == "periodic" else "no-slip"] * 2]
        case = random_thermal_case(rng, name, "bgk", shape, operators=operators, faces=flow, bodies=False)
        faces = [
            rng.uniform(-1, 1, tuple(np.delete(shape, number // 2))) if pairs[number // 2] == "isothermal" else None
            for number in range(2 * len(shape))
        ]
        case.heat = Heat(**{**case.heat.__dict__, "faces": faces})
        assert_same(case, case.solver(device=device), steps=8)


@pytest.mark.parametrize("kind", [k for k in CLASSES if k != "periodic"])
@pytest.mark.parametrize("name", THERMAL_STENCILS)
def test_every_condition_of_the_flow(name, kind, device, rng):
    """Inlets, outlets and walls of every kind, isothermal and adiabatic."""
    shape = SHAPES[name]
    for _ in range(2):
        case = random_thermal_case(rng, name, "trt", shape, faces=[kind] * 2 * len(shape), bodies=False)
        assert_same(case, case.solver(device=device))


@pytest.mark.parametrize("streaming", STREAMINGS)
@pytest.mark.parametrize(("name", "number"), [(s, n) for s in THERMAL_STENCILS for n in range(3 * len(KINDS[s]))])
def test_everything_at_once(name, number, streaming, device, rng):
    """Random walls, ragged bodies at rest and moving that touch each other and the faces, sizes down to one cell."""
    sizes = [2, 3, 5, 8] if number % 4 == 0 else [4, 5, 6]
    shape = tuple(int(n) for n in rng.choice(sizes, len(SHAPES[name])))
    case = random_thermal_case(
        rng,
        name,
        KINDS[name][number % len(KINDS[name])],
        shape,
        operators=OPERATORS[number // len(KINDS[name]) % 2],
        smagorinsky=0.1 if number % 3 == 2 else 0.0,
    )
    # An open cell that bodies enclose loses its mass later, and then divides by what is left of it.
    assert_same(case, case.solver(streaming=streaming, device=device), steps=12)


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("name", THERMAL_STENCILS)
def test_one_cell_across(name, axis, device, rng):
    """A domain one cell wide, between walls or periodic."""
    for kind in ("periodic", "no-slip"):
        shape = [5, 4, 3][: len(SHAPES[name])]
        shape[axis % len(shape)] = 1
        faces = [kind] * 2 * len(shape)
        case = random_thermal_case(rng, name, "bgk", tuple(shape), faces=faces, bodies=False)
        assert_same(case, case.solver(device=device))


@pytest.mark.parametrize("streaming", STREAMINGS)
def test_walls_that_change_in_time(streaming, device, rng):
    """A temperature with an argument t is that of the number of steps completed, at every step and when read."""
    shape = (6, 5)

    def below(x, y, t):
        return 0.3 * np.sin(0.3 * t + x)

    def heater(x, y, t):
        return 0.1 * t / STEPS + 0.05 * x - 0.02 * y

    domain = lbm.Domain(shape, "D2Q9")
    for face in domain.faces:
        domain.faces[face] = lbm.NoSlip()
    domain.thermal["-y"] = lbm.Isothermal(below)
    domain.thermal["+x"] = lbm.Isothermal(0.5)
    mask = np.zeros(shape, bool)
    mask[2:4, 2] = True
    domain.add_body(mask, "heater", thermal=lbm.Isothermal(heater))
    thermal = lbm.HybridThermal(0.05, buoyancy=(0, 1e-3))
    solver = lbm.Solver(domain, lbm.BGK(0.05), thermal=thermal, precision="float64", streaming=streaming, device=device)
    start = rng.uniform(-1, 1, shape)
    solver.initialize(temperature=start)

    heat = Heat(0.05, buoyancy=(0, 1e-3), faces=[None, 0.5, 0.0, None], bodies=[0.0])
    case = ThermalCase(
        "D2Q9", shape, Collision("bgk", 0.05), faces=[("no-slip", None)] * 4, bodies=[(mask, None)], heat=heat
    )
    case.temperature = start
    reference = case.reference()
    reference.f = in_reference_order("D2Q9", solver.populations())
    reference.f[:, mask] = reference.stencil.w[:, None]
    x, y = np.meshgrid(np.arange(6) + 0.5, np.arange(5) + 0.5, indexing="ij")

    def bring_to(t):
        reference.set_walls(["adiabatic", 0.5, below(x[:, 0], 0.0, t), "adiabatic"], [heater(x, y, t)])

    for t in range(STEPS):
        bring_to(float(t))
        reference.step()
    solver.step(7)
    solver.step(STEPS - 7)
    np.testing.assert_allclose(solver.temperature()[~mask], reference.T[~mask], rtol=0, atol=TOLERANCE)
    bring_to(float(STEPS))
    np.testing.assert_allclose(solver.heat_flux("-y"), reference.face_flux(2), rtol=0, atol=TOLERANCE)
    np.testing.assert_allclose(solver.temperature()[mask], heater(x, y, float(STEPS))[mask], rtol=1e-15)
    given = solver.heat_flux("heater")
    assert given.flux.sum() == pytest.approx(reference.body_flux(0)[1].sum(), abs=TOLERANCE)


def test_a_source_set_between_steps(device, rng):
    """The heat source may change between steps, from a number to a field to none."""
    shape = (6, 5)
    case = random_thermal_case(rng, "D2Q9", "trt", shape, bodies=False)
    solver, reference = case.solver(device=device), case.reference()
    reference.f = in_reference_order("D2Q9", solver.populations())
    field = rng.uniform(-1e-2, 1e-2, shape)
    for source in (2e-3, field, None):
        solver.heat_source = source
        reference.heat = Heat(**{**reference.heat.__dict__, "source": 0.0 if source is None else source})
        solver.step(4)
        reference.step(4)
    np.testing.assert_allclose(solver.temperature(), reference.T, rtol=0, atol=TOLERANCE)


def test_solid_cells_read_as_their_wall(device, rng):
    """An isothermal body has its own temperature, an adiabatic one the reference temperature."""
    case = random_thermal_case(rng, "D3Q19", "bgk", (6, 5, 4))
    hot = rng.uniform(-1, 1, case.shape)
    case.heat = Heat(**{**case.heat.__dict__, "bodies": [hot, None]})
    solver = case.solver(device=device)
    for _ in range(2):
        temperature = solver.temperature()
        np.testing.assert_allclose(temperature[case.bodies[0][0]], hot[case.bodies[0][0]], rtol=1e-15)
        assert (temperature[case.bodies[1][0]] == 0.25).all()
        solver.step(3)
