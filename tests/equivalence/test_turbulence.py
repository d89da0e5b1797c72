"""The turbulence models of velocity gradients: against the NumPy reference, and to the last bit among layouts."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from reference import STENCILS, Collision, Heat
from reference.cases import CLASSES, Case, in_reference_order, random_bodies, random_faces, random_fields
from reference.registry import PAIRS, STREAMINGS, THERMAL_STENCILS, by_dimension
from reference.thermal_cases import ThermalCase
from reference.turbulence import CONSTANTS, FORMULAS, Turbulence, eddy_viscosity, gradient

import lbmgpu as lbm
from lbmgpu.solver import simulation_of

STEPS = 20
TOLERANCE = 2e-12  # roots of small differences grow rounding
SHAPES = by_dimension((9, 7), (7, 5, 4))
NUMBERS = [("float32", "float32"), ("float64", "float64"), ("float32", "float16"), ("float64", "float32")]


def random_case(
    rng: np.random.Generator,
    stencil: str,
    shape: tuple[int, ...],
    turbulence: Turbulence,
    kind: str = "bgk",
    walls: bool = True,
) -> Case:
    """Speeds that differ from cell to cell, for a large eddy viscosity; all kinds of face."""
    density, velocity = random_fields(rng, shape, speed=0.05)
    return Case(
        stencil,
        shape,
        Collision(kind, 0.02),
        faces=random_faces(rng, shape, speed=0.02) if walls else (),
        bodies=random_bodies(rng, shape, speed=0.02) if walls else (),
        force=rng.uniform(-1e-4, 1e-4, (len(shape), *shape)),
        density=density,
        velocity=velocity,
        turbulence=turbulence,
    )


def assert_same(case: Case, solver: lbm.Solver, steps: int = STEPS, tolerance: float = TOLERANCE) -> None:
    """Run both from the solver's state; compare populations, to a tolerance, and the eddy viscosity of fluid cells."""
    reference, fluid = case.reference(), case.fluid()
    reference.f = in_reference_order(case.stencil, solver.populations())
    reference.f[:, ~fluid] = reference.stencil.w[:, None]
    solver.step(steps)
    reference.step(steps)
    populations = in_reference_order(case.stencil, solver.populations())
    np.testing.assert_allclose(populations[:, fluid], reference.f[:, fluid], rtol=0, atol=tolerance)
    reference.renew_eddy_viscosity()
    # Squares are compared: each is a root of a difference, which all but vanishes in some cells and keeps its rounding.
    largest = reference.eddy.max()
    np.testing.assert_allclose(solver.eddy_viscosity() ** 2, reference.eddy**2, rtol=0, atol=20 * TOLERANCE * largest)
    assert solver.eddy_viscosity().max() > 1e-6


@pytest.mark.parametrize("model", FORMULAS)
@pytest.mark.parametrize("streaming", STREAMINGS)
@pytest.mark.parametrize(("name", "kind"), PAIRS)
def test_every_collision_in_a_periodic_box(name, kind, streaming, model, device, rng):
    """Whatever the collision makes of the rate of the stress; one model each step, the other every third one."""
    turbulence = Turbulence(model, CONSTANTS[model], 1 if (model == "wale") == (streaming == "in-place") else 3)
    case = random_case(rng, name, SHAPES[name], turbulence, kind, walls=False)
    assert_same(case, case.solver(streaming=streaming, device=device))


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("kind", [k for k in CLASSES if k != "periodic"])
@pytest.mark.parametrize("name", STENCILS)
def test_one_pair_of_faces(name, kind, axis, device, rng):
    """What a gradient finds behind each condition; the models take turns."""
    model = list(FORMULAS)[axis % 2]
    shape = SHAPES[name]
    axis %= len(shape)
    kinds = ["periodic"] * (2 * len(shape))
    kinds[2 * axis : 2 * axis + 2] = [kind, kind]
    density, velocity = random_fields(rng, shape)
    turbulence = Turbulence(model, CONSTANTS[model])
    faces = random_faces(rng, shape, kinds)
    case = Case(name, shape, Collision("bgk", 0.1), faces, density=density, velocity=velocity, turbulence=turbulence)
    assert_same(case, case.solver(device=device), steps=10)


@pytest.mark.parametrize("model", FORMULAS)
@pytest.mark.parametrize("streaming", STREAMINGS)
@pytest.mark.parametrize("name", STENCILS)
@pytest.mark.parametrize("run", range(3))
def test_random_faces_and_bodies(name, streaming, model, run, device, rng):
    """Walls, inlets, outlets and bodies, at rest and moving, everywhere."""
    turbulence = Turbulence(model, CONSTANTS[model], 1 + run)
    case = random_case(rng, name, SHAPES[name], turbulence, "trt")
    # The largest difference seen is 2.8e-12, of one case of D2Q9 with `vreman`, 1.7e-12 of it from its first step.
    assert_same(case, case.solver(streaming=streaming, device=device), steps=10, tolerance=3e-12)


@pytest.mark.parametrize("model", FORMULAS)
@pytest.mark.parametrize("streaming", STREAMINGS)
@pytest.mark.parametrize("name", THERMAL_STENCILS)
def test_with_a_temperature(name, streaming, model, device, rng):
    """Of the hybrid thermal model, whose buoyancy is in the velocity."""
    shape = by_dimension((8, 6), (6, 5, 4))[name]
    density, velocity = random_fields(rng, shape)
    kinds = ["no-slip", "moving-wall", "periodic", "periodic", "periodic", "periodic"][: 2 * len(shape)]
    case = ThermalCase(
        name,
        shape,
        Collision("mrt", 0.05),
        faces=random_faces(rng, shape, kinds),
        density=density,
        velocity=velocity,
        heat=Heat(0.04, buoyancy=(0.0, 1e-3, 0.0)[: len(shape)], faces=[1.0, 0.25, *[None] * 4][: 2 * len(shape)]),
        temperature=0.5 + 0.5 * rng.uniform(-1, 1, shape),
        turbulence=Turbulence(model, CONSTANTS[model], 2),
    )
    assert_same(case, case.solver(streaming=streaming, device=device))


def layouts(shape: tuple[int, ...]) -> list[lbm.Layout | None]:
    """One block, cuts across each axis, and across all of them."""
    whole = [[(0, n)] for n in shape]
    halves = [[(0, n // 2), (n // 2, n)] for n in shape]
    cuts = [[halves[b] if a == b else whole[b] for b in range(len(shape))] for a in range(len(shape))]
    boxes = [list(itertools.product(*spans)) for spans in [*cuts, halves]]
    made = [
        lbm.Layout([lbm.Block(tuple(a for a, _ in box), tuple(b - a for a, b in box), device="cpu") for box in each])
        for each in boxes
    ]
    return [None, *made]


@pytest.mark.parametrize("model", FORMULAS)
@pytest.mark.parametrize(("precision", "storage"), NUMBERS)
@pytest.mark.parametrize("name", STENCILS)
def test_layouts_streamings_and_threads_agree(name, precision, storage, model, rng):
    """To the last bit, populations and eddy viscosity."""
    every = 1 if (model == "wale") == (precision == "float32") else 3
    shape = (17, 8, 6)[: STENCILS[name].D]
    case = random_case(rng, name, shape, Turbulence(model, CONSTANTS[model], every))
    least = case.least_blocks()
    numbers = {"precision": precision, "storage": storage}
    found = []
    for layout, streaming, threads in [
        *((layout, STREAMINGS[k % 2], 1 + k % 2) for k, layout in enumerate(layouts(shape))),
        (None, STREAMINGS[1], 2),
    ]:
        if layout is not None and any(n // 2 < low + high for n, (low, high) in zip(shape, least, strict=True)):
            continue
        where = {"device": "cpu"} if layout is None else {"device": "auto", "layout": layout}
        solver = case.solver(**where, **numbers, streaming=streaming, threads=threads)
        solver.step(4)
        between = solver.eddy_viscosity()
        solver.step(3)
        found.append((solver.populations()[:, case.fluid()], solver.eddy_viscosity(), between))
    for other in found[1:]:
        for one, two in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("steps", [0, 4, 5, 6])
@pytest.mark.parametrize("model", FORMULAS)
@pytest.mark.parametrize("streaming", STREAMINGS)
def test_a_restart_continues_to_the_bit(streaming, model, steps, device, tmp_path: Path, rng):
    """Also between two steps that renew the eddy viscosity; and the other streaming takes the file up."""
    precision, storage = NUMBERS[steps % 4]
    case = random_case(rng, "D3Q19", (9, 7, 6), Turbulence(model, CONSTANTS[model], 3))
    numbers = {"precision": precision, "storage": storage}
    solver = case.solver(device=device, streaming=streaming, **numbers)
    solver.step(steps)
    solver.save(tmp_path / "state.h5")
    viscosity = solver.eddy_viscosity()
    loaded = lbm.Solver.load(tmp_path / "state.h5", device=device)
    assert loaded.turbulence == solver.turbulence
    other = case.solver(device="cpu", streaming=next(s for s in STREAMINGS if s != streaming), **numbers)
    other.step(2)
    other.restore(tmp_path / "state.h5")
    for continued in (loaded, other):
        np.testing.assert_array_equal(continued.eddy_viscosity(), viscosity)
    for each in (solver, loaded, other):
        each.step(5)
    for continued in (loaded, other):
        np.testing.assert_array_equal(continued.populations(), solver.populations())
        np.testing.assert_array_equal(continued.eddy_viscosity(), solver.eddy_viscosity())


@pytest.mark.parametrize("model", FORMULAS)
@pytest.mark.parametrize("every", [1, 4])
def test_a_new_state_renews_the_eddy_viscosity(model, every, device, rng):
    """What was kept of another state does not act on one that is set."""
    case = random_case(rng, "D2Q9", (9, 8), Turbulence(model, CONSTANTS[model], every))
    fresh, used = (case.solver(device=device) for _ in range(2))
    used.step(6)
    used.initialize(density=case.density, velocity=case.velocity)
    for solver in (fresh, used):
        solver.step(7)
    np.testing.assert_array_equal(used.populations(), fresh.populations())


@pytest.mark.parametrize("model", FORMULAS)
@pytest.mark.parametrize("name", STENCILS)
def test_eddy_viscosity_is_that_of_the_velocity_of_now(name, model, device, rng):
    """Before each step that renews it; asking for it changes nothing."""
    case = random_case(rng, name, SHAPES[name], Turbulence(model, CONSTANTS[model]))
    solver, other = (case.solver(device=device) for _ in range(2))
    reference = case.reference()
    for _ in range(3):
        found = solver.eddy_viscosity()
        expected = eddy_viscosity(reference, case.turbulence, solver.velocity())
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11)
        solver.step(2)
        other.step(2)
        np.testing.assert_array_equal(solver.populations(), other.populations())


@pytest.mark.parametrize("scheme", ["regularized", "characteristic", "non-equilibrium"])
@pytest.mark.parametrize("name", STENCILS)
def test_gradients_at_inlets_in_cells_are_one_sided(name, scheme, device, rng):
    """A shear across the face has one derivative, in the inlet's cells as in all others; with one cell, none at all."""
    shape = SHAPES[name]
    turbulence = Turbulence("vreman", CONSTANTS["vreman"])
    density, velocity = random_fields(rng, shape, speed=0.02)
    kind = scheme.replace("-", "") + "-inlet"
    for cells in (shape[0], 1):
        faces = random_faces(rng, (cells, *shape[1:]), [kind, kind, *["periodic"] * (2 * len(shape) - 2)], speed=0.02)
        case = Case(
            name,
            (cells, *shape[1:]),
            Collision("regularized", 0.1),
            faces,
            density=density[:cells],
            velocity=velocity[:, :cells],
            turbulence=turbulence,
        )
        reference, solver = case.reference(), case.solver(device=device)
        found = solver.eddy_viscosity()
        u = solver.velocity()
        expected = eddy_viscosity(reference, turbulence, u)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11)
        one_sided = u[:, 1] - u[:, 0] if cells > 1 else np.zeros_like(u[:, 0])
        slopes = [gradient(reference, u, (0, *at))[: len(shape), 0] for at in np.ndindex(*shape[1:])]
        np.testing.assert_allclose(slopes, one_sided.reshape(len(shape), -1).T, rtol=0, atol=1e-14)


@pytest.mark.gpu
@pytest.mark.parametrize("streaming", STREAMINGS)
@pytest.mark.parametrize("turn", range(4))
@pytest.mark.parametrize("name", STENCILS)
def test_a_gpu_holds_the_bits_of_a_cpu(name, turn, streaming, gpu, rng):
    """For axes that are periodic or not, rows of all widths, and runs that are recorded and replayed."""
    model, every = list(FORMULAS)[turn % 2], 1 if (streaming == "in-place") == (turn < 2) else 5
    precision, storage = NUMBERS[turn]
    walls = [kind for kind in CLASSES if kind != "periodic"]
    periodic = [(turn + axis) % 3 == 0 or turn == 3 for axis in range(STENCILS[name].D)]
    for nx, steps in ((1, 5), (6, 41), (70, 6)):
        shape = (nx, 7, 5)[: STENCILS[name].D]
        kinds = [str(k) for p in periodic for k in (["periodic"] * 2 if p else rng.choice(walls, 2))]
        case = random_case(rng, name, shape, Turbulence(model, CONSTANTS[model], every), walls=False)
        case.faces = random_faces(rng, shape, kinds, speed=0.02)
        case.bodies = random_bodies(rng, shape, speed=0.02) if turn % 2 else ()
        options = {"precision": precision, "storage": storage, "streaming": streaming}
        solvers = [case.solver(device=device, **options) for device in ("cpu", gpu)]
        for solver in solvers:
            solver.step(steps)
        expected, found = (solver.populations()[:, case.fluid()] for solver in solvers)
        assert np.isfinite(expected).all()
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(solvers[1].eddy_viscosity(), solvers[0].eddy_viscosity())


@pytest.mark.gpu
@pytest.mark.parametrize("every", [1, 2, 3, 8, 45, 64])
@pytest.mark.parametrize("streaming", STREAMINGS)
def test_recordings_after_a_restart_hold_the_bits_of_a_cpu(streaming, every, gpu, rng, tmp_path: Path):
    """From even and odd steps on, with recordings of whole cycles of renewals and of the steps between two."""
    case = random_case(rng, "D2Q9", (33, 9), Turbulence("wale", CONSTANTS["wale"], every), walls=False)
    solvers = [case.solver(device=device, streaming=streaming) for device in ("cpu", gpu)]
    for steps, restarts in ((300, True), (7, True), (301, True), (150, False), (213, False)):
        for solver in solvers:
            solver.step(steps)
        expected, found = (solver.populations()[:, case.fluid()] for solver in solvers)
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(solvers[1].eddy_viscosity(), solvers[0].eddy_viscosity())
        if restarts:
            solvers[0].save(tmp_path / "state.h5")
            for solver in solvers:
                solver.restore(tmp_path / "state.h5")


@pytest.mark.gpu
@pytest.mark.parametrize("every", [1, 2])
@pytest.mark.parametrize("walls", [False, True])
@pytest.mark.parametrize("model", FORMULAS)
@pytest.mark.parametrize("streaming", STREAMINGS)
def test_blocks_of_gpus_hold_the_bits_of_a_cpu(model, streaming, walls, every, gpu, rng):
    """Cut across each axis: velocities go with the populations, and cells next to walls of any block are known."""
    shape = (18, 8, 6)
    case = random_case(rng, "D3Q19", shape, Turbulence(model, CONSTANTS[model], every), walls=walls)
    alone = case.solver(device="cpu", precision="float32", streaming=streaming)
    alone.step(9)
    least = case.least_blocks()
    for layout in layouts(shape)[1:]:
        assert layout is not None
        if any(n // 2 < low + high for n, (low, high) in zip(shape, least, strict=True)):
            continue
        on_gpus = lbm.Layout([lbm.Block(b.offset, b.size, device=gpu) for b in layout])
        solver = case.solver(device="auto", layout=on_gpus, precision="float32", streaming=streaming)
        solver.step(4)
        solver.eddy_viscosity()  # which changes nothing
        solver.step(5)
        fluid = case.fluid()
        np.testing.assert_array_equal(solver.populations()[:, fluid], alone.populations()[:, fluid])
        np.testing.assert_array_equal(solver.eddy_viscosity(), alone.eddy_viscosity())


@pytest.mark.gpu
@pytest.mark.parametrize("after", [0, 1, 2, 3])
@pytest.mark.parametrize("streaming", STREAMINGS)
def test_a_state_that_is_set_between_two_renewals_has_one_of_its_own_on_a_gpu(streaming, after, gpu, rng):
    """Before the first step, whatever its number, also where that step keeps its velocity for the next renewal."""
    case = random_case(rng, "D3Q19", (9, 7, 6), Turbulence("wale", CONSTANTS["wale"], 4))
    solvers = [case.solver(device=device, streaming=streaming) for device in ("cpu", gpu)]
    for solver in solvers:
        simulation_of(solver).set_steps(after)
    for steps in (0, 1, 6):
        for solver in solvers:
            solver.step(steps)
        expected, found = (solver.populations()[:, case.fluid()] for solver in solvers)
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(solvers[1].eddy_viscosity(), solvers[0].eddy_viscosity())


@pytest.mark.gpu
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_rows_of_several_thread_blocks_and_many_rows_hold_the_bits_of_a_cpu(axis, gpu, rng):
    """Rows longer than a thread block, and more than fit one of the tiles in which rows are updated."""
    shape = [3, 3, 3]
    shape[axis] = 1100 if axis == 0 else 131
    case = random_case(rng, "D3Q19", tuple(shape), Turbulence("vreman", CONSTANTS["vreman"]), walls=axis == 1)
    solvers = [case.solver(device=device, precision="float32") for device in ("cpu", gpu)]
    for solver in solvers:
        solver.step(3)
    fluid = case.fluid()
    np.testing.assert_array_equal(solvers[1].populations()[:, fluid], solvers[0].populations()[:, fluid])


@pytest.mark.gpu
@pytest.mark.parametrize("streaming", STREAMINGS)
def test_with_a_temperature_a_gpu_holds_the_bits_of_a_cpu(streaming, gpu, rng):
    """Of the hybrid thermal model, alone and in blocks."""
    shape = (12, 8, 6)
    density, velocity = random_fields(rng, shape)
    kinds = ["no-slip", "moving-wall", "periodic", "periodic", "no-slip", "no-slip"]
    for every in (1, 3):
        case = ThermalCase(
            "D3Q19",
            shape,
            Collision("mrt", 0.05),
            faces=random_faces(rng, shape, kinds),
            density=density,
            velocity=velocity,
            heat=Heat(0.04, buoyancy=(0.0, 1e-3, 0.0), faces=[1.0, 0.25, None, None, None, None]),
            temperature=0.5 + 0.5 * rng.uniform(-1, 1, shape),
            turbulence=Turbulence("wale", CONSTANTS["wale"], every),
        )
        alone = case.solver(device="cpu", precision="float32", streaming=streaming)
        alone.step(7)
        for layout in (None, layouts(shape)[2]):
            where = {"device": gpu}
            if layout is not None:
                blocks = [lbm.Block(b.offset, b.size, device=gpu) for b in layout]
                where = {"device": "auto", "layout": lbm.Layout(blocks)}
            solver = case.solver(precision="float32", streaming=streaming, **where)
            solver.step(7)
            np.testing.assert_array_equal(solver.populations(), alone.populations())
            np.testing.assert_array_equal(solver.eddy_viscosity(), alone.eddy_viscosity())


@pytest.mark.parametrize("model", [lbm.WALE(), lbm.WALE(every=3), lbm.Smagorinsky(0.15)], ids=str)
@pytest.mark.parametrize("streaming", STREAMINGS)
def test_a_look_at_the_eddy_viscosity_changes_nothing_where_cells_change_as_a_whole(
    streaming, model, device, rng, tmp_path
):
    """With a sponge and a regularized inlet, neither the field nor a checkpoint in the middle does."""
    runs = []
    shape = (18, 9)
    velocity = 0.05 * rng.standard_normal((2, *shape)) / 3
    for looks in (False, True):
        domain = lbm.Domain(shape, "D2Q9")
        domain.faces["-x"] = lbm.VelocityInlet((0.05, 0.0), scheme="regularized")
        domain.faces["+x"] = lbm.PressureOutlet(1.0)
        domain.faces["-y"] = lbm.NoSlip()
        domain.faces["+y"] = lbm.FreeSlip()
        domain.add_sponge("+x", 6, 0.5)
        domain.add_sponge("-x", 3, 0.5, pull=0.2, velocity=(0.05, 0.0))
        solver = lbm.Solver(domain, lbm.TRT(0.01), turbulence=model, streaming=streaming, device=device)
        solver.initialize(velocity=velocity)
        for step in range(6):
            if looks:
                before = solver.populations()
                solver.eddy_viscosity()
                np.testing.assert_array_equal(solver.populations(), before)
                solver.save(tmp_path / f"{step}.npz")
                np.testing.assert_array_equal(solver.populations(), before)
            solver.step(1)
        runs.append(solver.populations())
    np.testing.assert_array_equal(runs[0], runs[1])
