"""Forces on the walls of faces: by a sum in plain loops, by the balance of momentum, and as recorders have them."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lbmgpu as lbm
from lbmgpu.engine import memory
from lbmgpu.solver import simulation_of

from .test_probes import GPU, need

STENCILS = ["D2Q9", "D3Q19", "D3Q27"]
SHAPES = {2: (7, 6), 3: (6, 5, 4)}
PRECEDENCE = {lbm.NoSlip: 40, lbm.MovingWall: 30}


def sliding(face: str, shape: tuple[int, ...]) -> lbm.MovingWall:
    """A wall that moves in its plane, each of its cells at a speed of its own."""
    axis = "xyz".index(face[1])
    velocity = 0.03 * np.random.default_rng(axis).uniform(-1, 1, (len(shape), *shape[:axis], *shape[axis + 1 :]))
    velocity[axis] = 0
    return lbm.MovingWall(velocity)


def closed(shape: tuple[int, ...]) -> dict[str, Any]:
    """Walls all round, two of which move."""
    faces: dict[str, Any] = {sign + axis: lbm.NoSlip() for axis in "xyz"[: len(shape)] for sign in "-+"}
    return faces | {"+y": sliding("+y", shape), "+x": lbm.MovingWall((0.0, 0.02, 0.01)[: len(shape)])}


def mixed(shape: tuple[int, ...]) -> dict[str, Any]:
    """Two walls between faces of other kinds."""
    faces = {"-x": lbm.VelocityInlet((0.02, 0.0, 0.0)[: len(shape)]), "+x": lbm.Outflow(), "-y": sliding("-y", shape)}
    return faces | {"+y": lbm.NoSlip()} | ({"-z": lbm.FreeSlip(), "+z": lbm.FreeSlip()} if len(shape) == 3 else {})


def box(stencil: str, faces: Any, collision: Any = None, **options: Any) -> lbm.Solver:
    """A rough flow past a block at a wall, with a force."""
    shape = SHAPES[lbm.stencil(stencil).D]
    domain = lbm.Domain(shape, stencil)
    domain.faces.update(faces(shape))
    block = np.zeros(shape, bool)
    block[2:4, :2] = True
    domain.add_body(block, "block")
    options = {"device": "cpu", "precision": "float64", "force": (1e-4, 2e-5, 3e-5)[: len(shape)]} | options
    solver = lbm.Solver(domain, collision or lbm.TRT(0.05), **options)
    solver.initialize(velocity=0.03 * np.random.default_rng(3).uniform(-1, 1, (len(shape), *shape)))
    return solver


def summed(solver: lbm.Solver, face: str, about: Any) -> tuple[np.ndarray, np.ndarray]:
    """The force on the wall of a face and its torque, link by link, of the populations of now."""
    shape, stencil = solver.domain.shape, lbm.stencil(solver.domain.stencil)
    c, w = np.asarray(stencil.c), np.asarray(stencil.w)
    f, faces, axis = solver.populations(), solver.domain.faces, "xyz".index(face[1])
    given = np.asarray(getattr(faces[face], "velocity", np.zeros(len(shape))), float)
    force, torque = np.zeros(3), np.zeros(3)
    for cell in itertools.product(*map(range, shape)):
        for i in range(1, len(c)) if not solver.solid[cell] else ():
            source = np.subtract(cell, c[i])
            crossed = [
                ("-" if source[a] < 0 else "+") + "xyz"[a] for a in range(len(shape)) if not 0 <= source[a] < shape[a]
            ]
            ranks = [PRECEDENCE.get(type(faces[name]), 20) for name in crossed]
            if not crossed or crossed[ranks.index(max(ranks))] != face:
                continue
            velocity = given if given.ndim == 1 else given[(slice(None), *cell[:axis], *cell[axis + 1 :])]
            opposite = next(j for j in range(len(c)) if (c[j] == -c[i]).all())
            leaving = f[(opposite, *cell)] - w[opposite]
            pull, arm = np.zeros(3), np.zeros(3)
            pull[: len(shape)] = -c[i] * (2 * leaving + 6 * w[i] * (c[i] @ velocity))
            arm[: len(shape)] = source + 0.5 + c[i] / 2 - about
            force += pull
            torque += np.cross(arm, pull)
    return force[: len(shape)], torque if len(shape) == 3 else torque[2:]


@pytest.mark.parametrize("device", ["cpu", GPU])
@pytest.mark.parametrize("streaming", ["in-place", "two-lattice"])
@pytest.mark.parametrize("faces", [closed, mixed])
@pytest.mark.parametrize("stencil", STENCILS)
def test_forces_are_the_sums_over_links(
    stencil: str, faces: Any, streaming: str, device: str, request: pytest.FixtureRequest
) -> None:
    """At edges the link belongs to the wall of the higher precedence; after odd and even steps."""
    need(device, request)
    solver = box(stencil, faces, streaming=streaming, device=device)
    about = (1.0, 2.0, 3.0)[: len(solver.domain.shape)]
    walls = [name for name, condition in solver.domain.faces.items() if type(condition) in PRECEDENCE]
    assert len(walls) == (2 if faces is mixed else 2 * len(about))
    for steps in (3, 1):
        solver.step(steps)
        for face in walls:
            force, torque = summed(solver, face, about)
            assert np.abs(force).max() > 1e-4
            np.testing.assert_allclose(solver.face_force(face), force, rtol=0, atol=1e-14)
            np.testing.assert_allclose(solver.face_torque(face, about), torque, rtol=0, atol=1e-13)


@pytest.mark.parametrize("device", ["cpu", GPU])
@pytest.mark.parametrize("stencil", STENCILS)
@pytest.mark.parametrize("incompressible", [False, True])
def test_walls_and_bodies_take_up_what_the_fluid_loses(
    incompressible: bool, stencil: str, device: str, request: pytest.FixtureRequest
) -> None:
    need(device, request)
    solver = box(stencil, closed, lbm.TRT(0.05, incompressible=incompressible), device=device)
    if incompressible:
        solver.initialize(density=1.02)
    for _ in range(5):
        taken = solver.body_force("block") + sum(solver.face_force(face) for face in solver.domain.faces)
        before = solver.momentum()
        solver.step(1)
        gained = np.asarray(solver.force) * solver.fluid_cells - taken
        np.testing.assert_allclose(solver.momentum() - before, gained, rtol=0, atol=1e-13)


@pytest.mark.parametrize("stencil", STENCILS)
def test_a_layer_of_solid_cells_feels_what_a_face_at_its_place_does(stencil: str) -> None:
    shape = SHAPES[lbm.stencil(stencil).D]
    velocity = 0.03 * np.random.default_rng(1).uniform(-1, 1, (len(shape), *shape))
    conditions = {"-y": lbm.NoSlip(), "+y": lbm.MovingWall((0.02, 0.0, 0.01)[: len(shape)])}
    wide = (shape[0], shape[1] + 2, *shape[2:])
    domains = [lbm.Domain(shape, stencil), lbm.Domain(wide, stencil)]
    domains[0].faces.update(conditions)
    for name, condition in conditions.items():
        layer = np.zeros(wide, bool)
        layer[:, 0 if name == "-y" else -1] = True
        domains[1].add_body(layer, "low" if name == "-y" else "high", condition)
    fields = [velocity, np.pad(velocity, [(0, 0), (0, 0), (1, 1), *[(0, 0)] * (len(shape) - 2)])]
    solvers = []
    for domain, field in zip(domains, fields, strict=True):
        solvers.append(lbm.Solver(domain, lbm.TRT(0.05), device="cpu", precision="float64"))
        solvers[-1].initialize(velocity=field)
        solvers[-1].step(6)
    for face, name in (("-y", "low"), ("+y", "high")):
        np.testing.assert_allclose(solvers[0].face_force(face), solvers[1].body_force(name), rtol=0, atol=1e-15)


@pytest.mark.parametrize("stencil", STENCILS)
def test_plane_poiseuille_flow_drags_its_walls_as_the_force_drives_it(stencil: str) -> None:
    shape = (4, 10) if stencil == "D2Q9" else (3, 10, 4)
    domain = lbm.Domain(shape, stencil)
    domain.faces["-y"] = domain.faces["+y"] = lbm.NoSlip()
    force = (1e-5, 0.0, 2e-6)[: len(shape)]
    solver = lbm.Solver(domain, lbm.TRT(0.5), force=force, device="cpu", precision="float64")
    solver.step(4000)
    low, high = solver.face_force("-y"), solver.face_force("+y")
    np.testing.assert_allclose(low + high, np.array(force) * domain.cells, rtol=0, atol=1e-10)
    along = np.arange(len(shape)) != 1
    np.testing.assert_allclose(low[along], high[along], rtol=1e-10)
    # Forces of links lie along these, so that friction acts in the plane of the cells' centres.
    torque = np.cross([0, 0.5, 0], [low[0], 0, *low[2:]]) if len(shape) == 3 else -0.5 * low[:1]
    np.testing.assert_allclose(solver.face_torque("-y"), torque, rtol=0, atol=1e-12)


@pytest.mark.parametrize("stencil", STENCILS)
def test_couette_flow_drags_its_walls_by_viscosity_and_shear(stencil: str) -> None:
    shape = (4, 8) if stencil == "D2Q9" else (3, 8, 5)
    domain = lbm.Domain(shape, stencil)
    domain.faces["-y"], domain.faces["+y"] = lbm.NoSlip(), lbm.MovingWall((0.04, 0.0, 0.0)[: len(shape)])
    solver = lbm.Solver(domain, lbm.TRT(0.3), device="cpu", precision="float64")
    solver.step(4000)
    friction = 0.3 * 0.04 / 8 * (domain.cells // 8)
    np.testing.assert_allclose(solver.face_force("-y")[0], friction, rtol=1e-9)
    np.testing.assert_allclose(solver.face_force("+y")[0], -friction, rtol=1e-9)


def test_a_wall_at_rest_feels_the_pressure_above_density_one() -> None:
    domain = lbm.Domain((5, 4), "D2Q9")
    domain.faces["-x"] = domain.faces["+x"] = lbm.NoSlip()
    solver = lbm.Solver(domain, lbm.BGK(0.1), device="cpu", precision="float64")
    solver.initialize(density=1.03)
    np.testing.assert_allclose(solver.face_force("+x"), [4 * 0.03 / 3, 0], atol=1e-15)
    np.testing.assert_allclose(solver.face_force("-x"), [-4 * 0.03 / 3, 0], atol=1e-15)
    np.testing.assert_allclose(solver.face_torque("+x", (5.0, 0.0)), [-4 * 0.03 / 3 * 2], atol=1e-15)


@pytest.mark.parametrize("device", ["cpu", GPU])
@pytest.mark.parametrize("stencil", STENCILS)
def test_no_layout_changes_them(stencil: str, device: str, request: pytest.FixtureRequest) -> None:
    need(device, request)
    one = box(stencil, closed)
    one.step(5)
    for parts in ((2, 1, 1), (1, 2, 1), (2, 2, 1)):
        count, shape = parts[0] * parts[1], one.domain.shape
        layout = lbm.Layout.split(shape, parts[: len(shape)], [device] * count)
        many = box(stencil, closed, layout=layout, device="auto")
        histories = many.record(*(lbm.Forces(face) for face in many.domain.faces))
        many.step(5)
        for face, history in zip(one.domain.faces, histories, strict=True):
            assert np.array_equal(history["force"][-1], many.face_force(face))
            np.testing.assert_allclose(many.face_force(face), one.face_force(face), rtol=1e-12, atol=1e-15)
            np.testing.assert_allclose(history["torque"][-1], one.face_torque(face), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("device", ["cpu", GPU])
@pytest.mark.parametrize(("precision", "storage"), [("float32", "float32"), ("float64", "float16")])
@pytest.mark.parametrize("stencil", STENCILS)
@pytest.mark.filterwarnings("ignore::lbmgpu.LostDigitsWarning")
def test_histories_are_those_of_the_solver(
    stencil: str, precision: str, storage: str, device: str, request: pytest.FixtureRequest
) -> None:
    need(device, request)
    solver = box(stencil, closed, precision=precision, storage=storage, device=device)
    about = (1.0, 2.0, 3.0)[: len(solver.domain.shape)]
    lid, low, drag = solver.record(
        lbm.Forces("+y", about=about), lbm.Forces("-y", every=2), lbm.Coefficients("+y", speed=0.1, area=6)
    )
    assert lid.sampled_by_engine
    assert [each.name for each in (lid, low, drag)] == ["forces_+y", "forces_-y", "coefficients_+y"]
    for count in range(4):
        solver.step(1)
        assert np.array_equal(lid["force"][count], solver.face_force("+y"))
        assert np.array_equal(lid["torque"][count], solver.face_torque("+y", about))
    assert np.array_equal(low["torque"][-1], solver.face_torque("-y"))
    assert low.steps.tolist() == [2, 4]
    np.testing.assert_allclose(drag["drag"], lid["force"][:, 0] / (0.5 * 0.1**2 * 6), rtol=1e-15)


@pytest.mark.gpu
@pytest.mark.parametrize("stencil", STENCILS)
def test_a_gpu_has_the_bits_of_a_cpu_in_float32(stencil: str, gpu: str) -> None:
    """Float64 has digits enough for sums of so few of its numbers, in whatever order."""
    solvers = [box(stencil, closed, device=device, precision="float32") for device in ("cpu", gpu)]
    for _ in range(3):
        for solver in solvers:
            solver.step(1)
        for face in solvers[0].domain.faces:
            np.testing.assert_array_equal(*(solver.face_force(face) for solver in solvers))
            np.testing.assert_array_equal(*(solver.face_torque(face) for solver in solvers))


@pytest.mark.parametrize("device", ["cpu", GPU])
@pytest.mark.parametrize(
    "velocity",
    [
        (0.05, 0.0) * lbm.Sine(period=11),
        lambda x, y, t: (0.05 * np.sin(0.3 * t) + 0 * x, 0 * x),
        lambda x, y, t: (0.05 * t / 10, 0.0),
    ],
    ids=["factor", "function", "uniform"],
)
def test_walls_that_change_in_time_have_the_forces_of_each_step(
    velocity: Any, device: str, request: pytest.FixtureRequest
) -> None:
    """Those of the coming step, as of bodies: a layer of solid cells has the same."""
    need(device, request)
    domains = [lbm.Domain((6, 5), "D2Q9"), lbm.Domain((6, 7), "D2Q9")]
    domains[0].faces["-y"], domains[0].faces["+y"] = lbm.NoSlip(), lbm.MovingWall(velocity)
    for name, row in (("low", 0), ("high", -1)):
        layer = np.zeros((6, 7), bool)
        layer[:, row] = True
        domains[1].add_body(layer, name, lbm.MovingWall(velocity) if row else lbm.NoSlip())
    solvers = [lbm.Solver(domain, lbm.BGK(0.1), device=device, precision="float64") for domain in domains]
    lid, low = solvers[0].record(lbm.Forces("+y"), lbm.Forces("-y", every=2))
    high = solvers[1].record(lbm.Forces("high"))
    assert low.sampled_by_engine
    assert not lid.sampled_by_engine
    for steps in (2, 1, 3):
        for solver in solvers:
            solver.run(steps)
        assert np.array_equal(lid["force"][-1], solvers[0].face_force("+y"))
    assert np.array_equal(low["force"][-1], solvers[0].face_force("-y"))
    assert low.steps.tolist() == [2, 4, 6]
    assert lid.steps.tolist() == [1, 2, 3, 4, 5, 6]
    np.testing.assert_allclose(lid["force"], high["force"], rtol=0, atol=1e-15)


def test_a_density_of_reference_that_changes_reaches_the_forces_on_moving_walls() -> None:
    solver = box("D2Q9", closed)
    forces = solver.record(lbm.Forces("+y"))
    solver.run(2)
    solver.initialize(density=1.05)
    solver.run(2)
    assert forces.steps.tolist() == [1, 2]
    assert np.array_equal(forces["force"][-1], solver.face_force("+y"))


@pytest.mark.parametrize("streaming", ["in-place", "two-lattice"])
def test_histories_cross_a_restart(tmp_path: Path, streaming: str) -> None:
    def recorders() -> list[lbm.Recorder]:
        return [lbm.Forces("-y"), lbm.Forces("+y", every=3), lbm.Coefficients("-x", speed=0.1, area=3, every=2)]

    whole: Any = box("D3Q19", closed, streaming=streaming)
    histories = whole.record(*recorders())
    whole.run(20)
    solver = box("D3Q19", closed, streaming=streaming)
    solver.record(*recorders())
    for steps in (7, 1, 12):
        solver.run(steps)
        solver = lbm.Solver.load(solver.save(tmp_path / "state.h5"), device="cpu")
        parts: Any = solver.record(*recorders())
    for one, other in zip(histories, parts, strict=True):
        assert np.array_equal(one.steps, other.steps)
        for field in one.fields:
            assert np.array_equal(one[field], other[field]), field
    loaded = lbm.Solver.load(solver.save(tmp_path / "state.h5"), device="cpu")
    with pytest.raises(lbm.CheckpointError, match="body: differs"):
        loaded.record(lbm.Forces("+x", name="forces_-y", about=(3.0, 0.0, 2.0)))


def test_a_flow_is_steady_by_the_force_on_a_wall() -> None:
    domain = lbm.Domain((4, 10), "D2Q9")
    domain.faces["-y"] = domain.faces["+y"] = lbm.NoSlip()
    solver = lbm.Solver(domain, lbm.BGK(0.5), force=(1e-5, 0), device="cpu", precision="float64")
    result = solver.run(10_000, until=lbm.Steady(1e-6, of="force:-y", every=10))
    assert result.converged
    assert "force on '-y'" in result.reason
    np.testing.assert_allclose(solver.face_force("-y")[0], 1e-5 * domain.cells / 2, rtol=1e-4)
    with pytest.raises(ValueError, match="until: of='force:-x' given, a face with Periodic, must be a wall"):
        solver.run(10, until=lbm.Steady(1e-3, of="force:-x"))
    with pytest.raises(ValueError, match="until: of='force:-z' given, but the bodies are none"):
        solver.run(10, until=lbm.Steady(1e-3, of="force:-z"))


def test_members_of_an_ensemble_have_those_of_solvers() -> None:
    domain = lbm.Domain((8, 6), "D2Q9")
    domain.faces["-y"], domain.faces["+y"] = lbm.NoSlip(), lbm.MovingWall((0.05, 0.0))
    collisions = [lbm.TRT(0.1), lbm.TRT(0.2)]
    ensemble = lbm.Ensemble(domain, collisions, device="cpu", precision="float64")
    ensemble.step(20)
    alone = [lbm.Solver(domain, collision, device="cpu", precision="float64") for collision in collisions]
    for solver in alone:
        solver.step(20)
    np.testing.assert_array_equal(ensemble.face_force("-y"), [solver.face_force("-y") for solver in alone])


def test_what_is_no_wall_is_refused() -> None:
    solver = box("D2Q9", mixed)
    wrong = r"face: '-x' given, a face with VelocityInlet, must be a wall, '-y' or '\+y'"
    for method in (solver.face_force, solver.face_torque):
        with pytest.raises(ValueError, match=wrong):
            method("-x")
        with pytest.raises(ValueError, match="face: '-z' given, must be one of '-x'"):
            method("-z")
        with pytest.raises(ValueError, match="face: 'block' given, a body, must be a face; body_force takes bodies"):
            method("block")
        with pytest.raises(TypeError, match="face: 2 given"):
            method(2)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"center: shape \(3,\) given, must be \(2,\)"):
        solver.face_torque("-y", (0, 0, 0))
    with pytest.raises(ValueError, match="name: '-y' given, a face, must be a body; face_force takes faces"):
        solver.body_force("-y")
    for name, text in (
        ("+x", r"body: '\+x' given, a face with Outflow, must be a wall"),
        ("-z", "body: '-z' given, must be one of '-x'"),
        ("blok", "body: 'blok' given, must be one of 'block', '-y', '+y'; did you mean 'block'"),
    ):
        with pytest.raises(ValueError, match=text.replace("+y", r"\+y")):
            solver.record(lbm.Forces(name))
    with pytest.raises(ValueError, match=r"about: shape \(3,\) given"):
        solver.record(lbm.Coefficients("-y", speed=0.1, area=1, about=(1, 2, 3)))
    assert solver.recorders == ()
    free = lbm.Solver(lbm.Domain((4, 4), "D2Q9"), lbm.BGK(0.1), device="cpu")
    with pytest.raises(ValueError, match="'-y' given, a face with Periodic, must be a wall, and the domain has none"):
        free.face_force("-y")


def test_walls_of_d2q37_have_none() -> None:
    domain = lbm.Domain((16, 16), "D2Q37")
    domain.faces["-y"] = domain.faces["+y"] = lbm.NoSlip()
    solver = lbm.Solver(domain, lbm.ThermalBGK(0.1), device="cpu", precision="float64")
    for call in (lambda: solver.face_force("-y"), lambda: solver.record(lbm.Forces("-y"))):
        with pytest.raises(ValueError, match="'-y' given, but walls of D2Q37 have no force by momentum exchange"):
            call()
    with pytest.raises(ValueError, match="until: of='force:-y' given, but walls of D2Q37"):
        solver.run(1, until=lbm.Steady(1e-3, of="force:-y"))


def test_links_of_faces_are_kept_by_recorders_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """And those that do not fit are refused before they are listed: 80 bytes for each of five links of a cell."""
    domain = lbm.Domain((32, 8, 32))
    domain.faces["-y"] = domain.faces["+y"] = lbm.NoSlip()
    solver = lbm.Solver(domain, lbm.BGK(0.1), device="cpu", precision="float32")
    solver.step(1)
    engine = simulation_of(solver).engine
    before = engine.memory_bytes
    solver.face_force("-y")
    assert engine.memory_bytes == before
    monkeypatch.setattr(memory, "available_memory", lambda device="cpu": 400_000)
    with pytest.raises(lbm.TooLittleMemoryError, match=r"recorder 'forces_-y': needs 0\.39 MiB"):
        solver.record(lbm.Forces("-y"))
    assert solver.recorders == ()
