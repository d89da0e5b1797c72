"""A state kept as moments is that of the populations: the same flow to 1e-12, in bits that depend on nothing else."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reference.cases import Case, in_reference_order, random_fields
from reference.moment_cases import KINDS, MADE, SHAPES, STENCILS, case_of, lasting, state_of, with_cuts, with_walls
from reference.moment_forces import FORCES, with_force

import lbmgpu as lbm
from lbmgpu.solver.solver import simulation_of

STREAMINGS = ["two-lattice", "in-place"]
COLLISIONS = {"regularized": lbm.Regularized, "recursive-regularized": lbm.RecursiveRegularized}
UNLIKE = [{}, {"smagorinsky": 0.17}, {"incompressible": True}, {"smagorinsky": 0.17, "incompressible": True}]


def cut(shape: tuple[int, ...], *cuts: tuple[int, ...]) -> lbm.Layout:
    spans = [list(itertools.pairwise((0, *at, n))) for at, n in zip(cuts, shape, strict=False)]
    boxes = itertools.product(*spans)
    return lbm.Layout([lbm.Block(tuple(a for a, _ in b), tuple(c - a for a, c in b)) for b in boxes])


def layouts_of(shape: tuple[int, ...]) -> list[lbm.Layout]:
    """In a grid of blocks that are thick, and as thin as one cell."""
    layouts = [cut(shape, (5,), (), ()), cut(shape, (), (3,), ()), cut(shape, (1, 2), (1,), ())]
    layouts += [cut(shape, (4, 9), (2, 3), ()), cut(shape, (10,), (6,), ())]
    return layouts + ([cut(shape, (), (), (2,)), cut(shape, (5,), (3,), (1, 5))] if len(shape) == 3 else [])


def check_layouts_threads_and_calls(case: Case) -> None:
    """The bits of a case that keeps moments are the same however its steps are divided up."""
    options: dict[str, Any] = {"state": "moments", "precision": "float32"}
    others: list[dict[str, Any]] = [{"threads": 3}, {"threads": 3, "streaming": "in-place"}]
    for layout in layouts_of(case.shape):
        others += [{"layout": layout, "schedule": how} for how in ("overlap", "blocking")]
        others.append({"layout": layout, "streaming": "in-place"})
    solver = case.solver(**options, threads=1)
    for steps in (1, 2, 5, 4, 3):
        solver.step(steps)
    for other in others:
        given = options | ({"device": "auto"} if "layout" in other else {})
        one = case.solver(**given, **other)
        one.step(15)
        assert state_of(one) == state_of(solver), other
        np.testing.assert_array_equal(one.populations(), solver.populations())
        np.testing.assert_array_equal(one.velocity(), solver.velocity())


@pytest.mark.parametrize("streaming", STREAMINGS)
@pytest.mark.parametrize("options", UNLIKE, ids=lambda options: " ".join(options) or "plain")
@pytest.mark.parametrize("forced", [False, True], ids=["unforced", "forced"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("stencil", STENCILS)
def test_the_flow_is_that_of_the_reference(stencil, kind, forced, options, streaming, rng, device):
    case = case_of(rng, stencil, kind, forced, **options)
    solver, reference = case.solver(state="moments", streaming=streaming, device=device), case.reference()
    reference.f = in_reference_order(stencil, solver.populations())
    solver.step(20)
    reference.step(20)
    found = in_reference_order(stencil, solver.populations())
    np.testing.assert_allclose(found, reference.f, rtol=0, atol=1e-12)
    np.testing.assert_allclose(solver.density(), reference.density(), rtol=0, atol=1e-11)
    np.testing.assert_allclose(solver.velocity(), reference.velocity(), rtol=0, atol=1e-11)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("stencil", STENCILS)
def test_populations_continue_as_moments(stencil, kind, rng, device):
    """Of a state that the collision has made nothing is lost."""
    case = case_of(rng, stencil, kind, True)
    populations, moments = case.solver(device="cpu"), case.solver(state="moments", device=device)
    populations.step(3)
    engine = simulation_of(moments).engine
    out = np.empty((lbm.stencil(stencil).Q, *reversed(case.shape)))
    simulation_of(populations).engine.populations(out)
    engine.set_populations(out)
    np.testing.assert_allclose(moments.populations(), populations.populations(), rtol=0, atol=1e-15)
    populations.step(20)
    moments.step(20)
    np.testing.assert_allclose(moments.populations(), populations.populations(), rtol=0, atol=1e-12)


def check_against_reference(made, rng, stencil: str, kind: str, number: int, streaming: str, device: str) -> None:
    """The flow of a random case with bodies that keeps moments, and the forces on these; some are one cell thick."""
    is_thin = number % 3 == 2
    shape = rng.integers(3 if is_thin else 2, 10, len(SHAPES[stencil])).tolist() if number else []
    if is_thin:
        shape[rng.integers(len(shape))] = 1
    case = lasting(lambda: made(rng, stencil, kind, tuple(shape), smagorinsky=0.1 if number % 2 else 0.0), 20)
    solver = case.solver(state="moments", streaming=streaming, device=device)
    reference, fluid = case.reference(), case.fluid()
    reference.f = in_reference_order(stencil, solver.populations())
    for steps in (1, 6, 13):
        solver.step(steps)
        reference.step(steps)
        found = in_reference_order(stencil, solver.populations())
        np.testing.assert_allclose(found[:, fluid], reference.f[:, fluid], rtol=0, atol=1e-12)
        for body in range(len(case.bodies)):
            center = np.full(len(case.shape), 1.5)
            force, torque = reference.body_force(body, center)
            np.testing.assert_allclose(solver.body_force(f"body {body}"), force, rtol=0, atol=1e-10)
            np.testing.assert_allclose(solver.body_torque(f"body {body}", center), torque, rtol=0, atol=5e-10)


@pytest.mark.parametrize("streaming", STREAMINGS)
@pytest.mark.parametrize("number", range(6))
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("stencil", STENCILS)
def test_walls_are_those_of_the_reference(stencil, kind, number, streaming, rng, device):
    """Random walls on faces and bodies, edges and corners among them, and the forces on the bodies."""
    check_against_reference(with_walls, rng, stencil, kind, number, streaming, device)


@pytest.mark.parametrize("streaming", STREAMINGS)
@pytest.mark.parametrize("number", range(8))
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("stencil", STENCILS)
def test_walls_at_distances_are_those_of_the_reference(stencil, kind, number, streaming, rng, device):
    """The same with the walls of bodies at random distances, and between fluid cells."""
    check_against_reference(with_cuts, rng, stencil, kind, number, streaming, device)


@pytest.mark.parametrize("force", ["uniform", *FORCES])
@pytest.mark.parametrize("options", UNLIKE, ids=lambda options: " ".join(options) or "plain")
@pytest.mark.parametrize("made", [made for made in MADE if made != "periodic"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("stencil", STENCILS)
def test_the_flow_is_that_of_populations_in_two_lattices(stencil, kind, made, options, force, rng, device):
    """From a state that the collision has made, with all walls, bodies, forces and options together."""
    case = lasting(lambda: with_force(rng, MADE[made](rng, stencil, kind, (), **options), force), 20)
    moments = case.solver(state="moments", device=device)
    populations = case.solver(device="cpu", streaming="two-lattice")
    out = np.empty((lbm.stencil(stencil).Q, *reversed(case.shape)))
    simulation_of(moments).engine.populations(out)
    simulation_of(populations).engine.set_populations(out)
    moments.step(20)
    populations.step(20)
    fluid = case.fluid()
    np.testing.assert_allclose(moments.populations()[:, fluid], populations.populations()[:, fluid], rtol=0, atol=1e-12)


@pytest.mark.parametrize("made", MADE)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("stencil", STENCILS)
def test_bits_depend_on_no_layout_threads_or_calls(stencil, kind, made, rng):
    check_layouts_threads_and_calls(MADE[made](rng, stencil, kind))


@pytest.mark.parametrize("at_ends", ["walls", "free slip", "free slip and wall", "inlet and outlet", "periodic"])
@pytest.mark.parametrize("nx", [7, 64, 67])
@pytest.mark.parametrize("stencil", STENCILS)
def test_rows_of_like_walls_have_the_bits_of_single_cells(stencil, nx, at_ends, rng):
    """A CPU serves as many cells as a pack holds together where their walls are alike, which are few in blocks of one
    cell along x."""
    shape = (nx, 6) if stencil == "D2Q9" else (nx, 5, 4)
    along = (0.04, 0.0, 0.0)[: len(shape)]
    domain = lbm.Domain(shape, stencil)
    for face in domain.faces:
        domain.faces[face] = lbm.NoSlip()
    lid = np.zeros((len(shape), *shape[:-1]))
    lid[0] = 0.04
    lid[0, 2:4] = 0.03
    domain.faces["+" + "xyz"[len(shape) - 1]] = lbm.MovingWall(lid)
    ends = {
        "free slip": (lbm.FreeSlip(), lbm.FreeSlip()),
        "free slip and wall": (lbm.FreeSlip(), lbm.NoSlip()),
        "inlet and outlet": (lbm.VelocityInlet(along), lbm.PressureOutlet()),
        "periodic": (lbm.Periodic(), lbm.Periodic()),
    }
    domain.faces["-x"], domain.faces["+x"] = ends.get(at_ends, (lbm.NoSlip(), lbm.NoSlip()))
    slab, other = np.zeros(shape, bool), np.zeros(shape, bool)
    slab[2 : nx - 2, 2:3] = True
    other[nx // 2 :, 4:5] = True
    domain.add_body(slab, "slab")
    domain.add_body(other, "other", lbm.MovingWall(along))
    cells = [lbm.Block((x, *[0] * (len(shape) - 1)), (1, *shape[1:])) for x in range(nx)]
    density, velocity = random_fields(rng, shape)
    solvers = [
        lbm.Solver(domain, lbm.Regularized(0.1), state="moments", **options)
        for options in (
            {"device": "cpu", "threads": 1},
            {"device": "cpu", "threads": 2, "streaming": "in-place"},
            {"layout": lbm.Layout(cells)},
        )
    ]
    for solver in solvers:
        solver.initialize(density=density, velocity=0.1 * velocity)
    for _ in range(2):
        for solver in solvers:
            solver.step(5)
            assert state_of(solver) == state_of(solvers[0])


@pytest.mark.parametrize("stencil", STENCILS)
def test_walls_that_are_alike_in_some_steps_only(stencil, rng):
    """A lid whose velocity is uniform in every third step."""
    shape = (40, 6) if stencil == "D2Q9" else (40, 5, 4)
    rest = [0.0] * (len(shape) - 1)

    def lid(x, *others, t):
        return [0.03 + np.where((t % 3 > 0) & (x > 15) & (x < 25), 0.01, 0.0) + 0 * sum(others), *rest]

    domain = lbm.Domain(shape, stencil)
    for face in domain.faces:
        domain.faces[face] = lbm.NoSlip()
    domain.faces["+" + "xyz"[len(shape) - 1]] = lbm.MovingWall(lid)
    density, velocity = random_fields(rng, shape)
    cells = [lbm.Block((x, *[0] * (len(shape) - 1)), (1, *shape[1:])) for x in range(shape[0])]
    found = []
    for options in ({"device": "cpu"}, {"layout": lbm.Layout(cells)}):
        solver = lbm.Solver(domain, lbm.Regularized(0.1), state="moments", **options)
        solver.initialize(density=density, velocity=0.1 * velocity)
        solver.step(8)
        found.append(state_of(solver))
    assert found[0] == found[1]


@pytest.mark.parametrize("made", MADE)
@pytest.mark.parametrize("shape", [(531, 7), (531, 3, 4), (256, 2, 3)], ids=str)
def test_long_rows_have_the_bits_of_their_parts(shape, made, rng):
    """The sweeps of a CPU keep long rows in parts of 256 cells."""
    stencil = "D2Q9" if len(shape) == 2 else "D3Q19"
    case = MADE[made](rng, stencil, "recursive-regularized", shape)
    solver = case.solver(state="moments", device="cpu", precision="float32")
    solver.step(7)
    for at in ((130, 301), (239, 240, 241)):
        layout = cut(shape, tuple(x for x in at if x < shape[0]), (), ())
        other = case.solver(state="moments", device="auto", precision="float32", layout=layout)
        other.step(7)
        assert state_of(other) == state_of(solver), at


@pytest.mark.parametrize("streaming", STREAMINGS)
@pytest.mark.parametrize("shape", [(1, 1), (2, 1), (1, 3), (1, 1, 1), (2, 1, 3), (40, 1, 2)], ids=str)
def test_domains_of_few_cells(shape, streaming, rng, device):
    case = case_of(rng, "D2Q9" if len(shape) == 2 else "D3Q19", "regularized", True, shape)
    solver, other = case.solver(state="moments", streaming=streaming, device=device), case.solver(device="cpu")
    solver.step(7)
    other.step(7)
    np.testing.assert_allclose(solver.populations(), other.populations(), rtol=0, atol=1e-13)


def conserved_and_stress(solver: lbm.Solver) -> tuple[np.ndarray, np.ndarray]:
    """Density and momentum of all fluid cells, and the moments of second order, as cells keep them."""
    engine, fluid = simulation_of(solver).engine, ~solver.domain.solid
    state = np.empty((engine.state_numbers, *reversed(solver.domain.shape)), engine.storage_dtype)
    engine.get_state(state)
    numbers = state.astype(float)[:, fluid.T]
    numbers[0] += 1
    conserved = 1 + len(solver.domain.shape)
    return numbers[:conserved], numbers[conserved:]


BEFORE_FREE_SLIP = [lbm.NoSlip(), lbm.FreeSlip(), lbm.Outflow(scheme="link-local"), lbm.PressureOutlet()]


@pytest.mark.parametrize("other", BEFORE_FREE_SLIP, ids=lambda other: other.kind)
@pytest.mark.parametrize(("stencil", "axis"), [(stencil, a) for stencil in STENCILS for a in "xyz"[: int(stencil[1])]])
def test_behind_free_slip_lies_the_image_of_what_lies_behind_the_other_face(stencil, axis, other, rng, device):
    """Which a step reads first where there are one or two cells between the faces; nothing may come in from it, as with
    a force even a cell without mass would send something."""
    dimensions = int(stencil[1])
    for cells, slips in itertools.product((1, 2, 3), ("-", "+")):
        shape = [7, 5, 6][:dimensions]
        shape["xyz".index(axis)] = cells
        domain = lbm.Domain(shape, stencil)
        domain.faces["-" + axis] = domain.faces["+" + axis] = other
        domain.faces[slips + axis] = lbm.FreeSlip()
        density, velocity = random_fields(rng, shape)
        found = []
        for calls in ((1,) * 8, (8,), (1, 7)):
            collision, force = lbm.RecursiveRegularized(0.1), (1e-2, -3e-3, 7e-3)[:dimensions]
            solver = lbm.Solver(domain, collision, force=force, state="moments", precision="float64", device=device)
            solver.initialize(density=density, velocity=velocity)
            for steps in calls:
                solver.step(steps)
            found.append(state_of(solver))
        assert found[0] == found[1] == found[2], (cells, slips)


@pytest.mark.parametrize("made", MADE)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("stencil", STENCILS)
def test_float32_is_close_to_float64(stencil, kind, made, rng, device):
    case = MADE[made](rng, stencil, kind)
    found = []
    for precision in ("float64", "float32"):
        solver = case.solver(state="moments", precision=precision, device=device)
        solver.step(20)
        found.append(conserved_and_stress(solver))
    (conserved, stress), (rounded, rounded_stress) = found
    assert np.linalg.norm(rounded - conserved) < 5e-7 * np.linalg.norm(conserved)
    assert np.linalg.norm(rounded_stress - stress) < 1e-6 * np.linalg.norm(stress)


@pytest.mark.parametrize("made", ["walls", "cuts"])
def test_readers_see_the_flow(made, rng, device):
    """Sums, probes, statistics and histories of forces are those of the populations."""
    case = MADE[made](rng, "D3Q19", "regularized")
    found = []
    moments = {"device": device, "state": "moments"}
    for options in ({"device": "cpu"}, moments, moments | {"streaming": "in-place"}):
        solver = case.solver(**options)
        probe, mean = lbm.Probe([(3.2, 2.5, 1.5), (9.5, 6.1, 3.3)]), lbm.Mean("velocity", "density")
        force = lbm.Forces("body 1")
        solver.record(probe, mean, force, every=3)
        solver.run(10)
        numbers = [solver.mass(), solver.momentum(), solver.kinetic_energy(), probe["velocity"], probe["density"]]
        found.append([*numbers, mean["velocity"], mean["density"], force["force"], force["torque"]])
    for expected, *others in zip(*found, strict=True):
        for other in others:
            np.testing.assert_allclose(other, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_a_checkpoint_continues_bit_for_bit(kind, rng, tmp_path: Path, device):
    case = case_of(rng, "D3Q19", kind, True)
    solver = case.solver(state="moments", precision="float32", device=device)
    solver.step(3)
    solver.save(tmp_path / "state.h5")
    loaded = lbm.Solver.load(tmp_path / "state.h5", device="cpu")
    assert loaded.state == "moments"
    assert state_of(loaded) == state_of(solver)
    for one in (loaded, solver):
        one.step(4)
    assert state_of(loaded) == state_of(solver)


def test_the_report_says_what_is_kept(rng):
    solver = case_of(rng, "D3Q19", "regularized", False).solver(state="moments", precision="float32", device="cpu")
    report = solver.report()
    assert report.setup["state"] == "10 moments a cell, 2 steps for each read of memory"
    assert report.bytes_per_update == 40
    assert case_of(rng, "D3Q19", "regularized", False).solver(device="cpu").report().setup["state"] == "populations"


def periodic(**faces: Any) -> lbm.Domain:
    domain = lbm.Domain((8, 8), "D2Q9")
    for axis, condition in faces.items():
        domain.faces["-" + axis] = domain.faces["+" + axis] = condition
    return domain


REFUSED: list[tuple[lbm.Domain, Any, dict[str, Any], str]] = [
    (periodic(), lbm.BGK(0.1), {}, "the collision BGK, goes with"),
    (periodic(), lbm.RecursiveRegularized(0.1, hybrid=0.9), {}, "velocity gradients"),
    (periodic(), lbm.Regularized(0.1), {"turbulence": lbm.WALE()}, "velocity gradients"),
    (periodic(), lbm.Regularized(0.1), {"thermal": lbm.HybridThermal(0.1)}, "thermal, must be without"),
    (periodic(), lbm.Regularized(0.1), {"storage": "float16"}, "the storage 'float16', must be the precision"),
    (periodic(x=lbm.Outflow()), lbm.Regularized(0.1), {}, r"Outflow\(\) on face '-x' and .* on face '\+x', must be"),
]


@pytest.mark.parametrize(("domain", "collision", "options", "text"), REFUSED, ids=[text for *_, text in REFUSED])
def test_what_does_not_go_with_moments_is_refused_by_name(domain, collision, options, text):
    with pytest.raises(ValueError, match=text):
        lbm.Solver(domain, collision, state="moments", device="cpu", **options)


def test_unknown_words_are_refused():
    with pytest.raises(ValueError, match="state: 'cells' given"):
        lbm.Solver(periodic(), lbm.Regularized(0.1), state="cells", device="cpu")
