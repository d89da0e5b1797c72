"""What must not change a bit of the temperature: device, streaming, threads, layout, a checkpoint in between."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings, strategies as st
from packages import need_torch
from reference.cases import engine_state, reverse
from reference.registry import KINDS, STREAMINGS, THERMAL_PAIRS_OF_BLOCKS, THERMAL_STENCILS
from reference.thermal_cases import OPERATORS, ThermalCase, random_thermal_case

import lbmgpu as lbm
from equivalence.test_blocks import layouts
from lbmgpu import _core

FORMATS = [("float32", "float32"), ("float64", "float64"), ("float64", "float32")]
FACES = ["-x", "+x", "-y", "+y", "-z", "+z"]


def isothermal(case: ThermalCase) -> tuple[list[str], list[str]]:
    """The faces and the bodies with a temperature."""
    faces = [name for name, wall in zip(FACES, case.walls(), strict=False) if wall is not None]
    return faces, [f"body {number}" for number, wall in enumerate(case.heat.bodies) if wall is not None]


def assert_same(case: ThermalCase, other: lbm.Solver, one: lbm.Solver) -> None:
    """Every number is the same, and sums are to rounding."""
    fluid = case.fluid()
    assert other.temperature().dtype == one.temperature().dtype
    np.testing.assert_array_equal(other.temperature(), one.temperature())
    np.testing.assert_array_equal(other.populations()[:, fluid], one.populations()[:, fluid])
    np.testing.assert_array_equal(other.velocity(), one.velocity())
    scale = float(np.abs(one.temperature()).max()) + 1
    assert other.heat() == pytest.approx(one.heat(), abs=1e-12 * scale * fluid.size)
    faces, bodies = isothermal(case)
    for face in faces:
        np.testing.assert_array_equal(other.heat_flux(face), one.heat_flux(face))
        ours, theirs = (solver.nusselt(face, 1.0, 1.0) for solver in (other, one))
        assert ours == pytest.approx(theirs, abs=1e-11 * scale)
    for body in bodies:
        parts = []
        for solver in (other, one):
            flux = solver.heat_flux(body)
            order = np.lexsort(flux.cells.T)
            parts.append((flux.cells[order], flux.flux[order], flux.area[order]))
        for ours, theirs in zip(*parts, strict=True):
            np.testing.assert_array_equal(ours, theirs)


def finite(case: ThermalCase, solver: lbm.Solver) -> bool:
    fluid = case.fluid()
    return bool(np.isfinite(solver.temperature()[fluid]).all() and np.isfinite(solver.populations()[:, fluid]).all())


@pytest.mark.parametrize(("precision", "storage"), FORMATS)
@pytest.mark.parametrize("nx", [2, 3, 17, 33, 70])
@pytest.mark.parametrize("name", THERMAL_STENCILS)
def test_streamings_agree(name, nx, precision, storage, device, rng):
    """Both streamings hold the same bits after odd and even numbers of steps."""
    shape = (nx, 5, 3)[: int(name[1])]
    for kind, operators in itertools.product(KINDS[name], OPERATORS):
        case = random_thermal_case(rng, name, kind, shape, operators=operators)
        options = {"precision": precision, "storage": storage, "device": device}
        two, one = (case.solver(streaming=streaming, **options) for streaming in STREAMINGS)
        for steps in (0, 1, 1, 3, 4):
            two._simulation.advance(steps)
            one._simulation.advance(steps)
            assert_same(case, one, two)
        assert finite(case, one)


def bits(case: ThermalCase, engine: _core.Engine) -> list[np.ndarray]:
    """What the fluid cells hold: temperature and stored populations."""
    temperature = np.empty(case.shape[::-1])
    engine.temperature(temperature)
    return [reverse(temperature)[case.fluid()], engine_state(engine, case.stencil, case.shape)[:, case.fluid()]]


@pytest.mark.parametrize(("precision", "storage"), FORMATS)
@pytest.mark.parametrize("streaming", STREAMINGS)
@pytest.mark.parametrize("name", THERMAL_STENCILS)
def test_instruction_sets_and_threads_agree(name, streaming, precision, storage, rng):
    """Every instruction set of this machine and every number of threads hold the same bits."""
    for shape in ((37, 9, 7), (1, 33, 5), (8, 1, 2)):
        case = random_thermal_case(rng, name, "mrt", shape[: int(name[1])], smagorinsky=0.1)
        options = {"precision": precision, "storage": storage, "streaming": streaming}
        first = case.engine(threads=1, isa=_core.cpu_isas()[-1], **options)
        first.step(7)
        expected = bits(case, first)
        assert np.isfinite(expected[0]).all()
        for isa, threads in itertools.product(_core.cpu_isas(), (1, 2, 3)):
            engine = case.engine(threads=threads, isa=isa, **options)
            assert (engine.threads, engine.isa) == (threads, isa)
            engine.step(7)
            for found, wanted in zip(bits(case, engine), expected, strict=True):
                np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("streaming", STREAMINGS)
@pytest.mark.parametrize("name", THERMAL_STENCILS)
def test_steps_add_up(name, streaming, device, rng):
    """Eleven single steps are eleven steps, with fields and heat read in between."""
    case = random_thermal_case(rng, name, "trt", (19, 6, 4)[: int(name[1])])
    at_once, singly = (case.solver(streaming=streaming, device=device) for _ in range(2))
    at_once.step(11)
    faces, bodies = isothermal(case)
    for _ in range(11):
        singly.step()
        singly.heat()
        singly.temperature()
        singly.velocity()
        for where in (*faces, *bodies):
            singly.heat_flux(where)
            singly.nusselt(where, 1.0, 1.0)
    assert_same(case, singly, at_once)


PERIODIC_AXES = [(s, axes) for s in THERMAL_STENCILS for axes in itertools.product([False, True], repeat=int(s[1]))]


@pytest.mark.gpu
@pytest.mark.parametrize("streaming", STREAMINGS)
@pytest.mark.parametrize(("name", "periodic"), PERIODIC_AXES)
def test_a_gpu_holds_the_bits_of_a_cpu(name, periodic, streaming, gpu, rng, monkeypatch):
    """Collisions, operators and numbers take turns; rows of a warp, of a thread block and of two, in packs that the
    first-level cache need not keep; more rows than are updated of a layer at a time."""
    turn = PERIODIC_AXES.index((name, periodic))
    walls = ["no-slip", "free-slip", "moving-wall", "velocity-inlet", "pressure-outlet", "outflow"]
    boxes = (((2, 7), 5), ((6, 131), 4), ((70, 7), 6), ((131, 7), 3), ((301, 7), 3))
    for (precision, storage), ((nx, ny), steps) in itertools.product(FORMATS, boxes):
        if nx < 70:
            monkeypatch.delenv("LBMGPU_UPDATE_SHAPE", raising=False)
        else:
            monkeypatch.setenv("LBMGPU_UPDATE_SHAPE", f"{16 // np.dtype(storage).itemsize},64,2")
        kinds = [str(k) for p in periodic for k in (["periodic"] * 2 if p else rng.choice(walls, 2))]
        case = random_thermal_case(
            rng,
            name,
            KINDS[name][turn % len(KINDS[name])],
            (nx, ny, 3)[: len(periodic)],
            operators=OPERATORS[(turn + nx) % 2],
            faces=kinds,
            bodies=bool(nx % 2),
            smagorinsky=0.1 if turn % 3 == 2 else 0.0,
        )
        options = {"precision": precision, "storage": storage, "streaming": streaming}
        one, other = (case.solver(device=device, **options) for device in ("cpu", gpu))
        for solver in (one, other):
            solver._simulation.advance(steps)
        assert finite(case, one)
        assert_same(case, other, one)


@pytest.fixture(params=["direct", "staged"])
def channel(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """How all blocks exchange, behind their interiors where they have any."""
    monkeypatch.setenv("LBMGPU_CHANNEL", request.param)
    monkeypatch.setenv("LBMGPU_SCHEDULE", "overlap")
    return request.param


def some_faces(rng: np.random.Generator, shape: tuple[int, ...]) -> list[str]:
    """Kinds of face, periodic ones often."""
    walls = ["no-slip", "free-slip", "moving-wall", "velocity-inlet", "pressure-outlet", "outflow"]
    kinds = (["periodic"] * 2 if rng.random() < 0.4 else [str(k) for k in rng.choice(walls, 2)] for _ in shape)
    return [kind for pair in kinds for kind in pair]


@pytest.mark.parametrize(("precision", "storage"), FORMATS)
@pytest.mark.parametrize("streaming", STREAMINGS)
@pytest.mark.parametrize(("stencil", "collision"), THERMAL_PAIRS_OF_BLOCKS)
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_layout_changes_no_bit(stencil, collision, streaming, precision, storage, channel, data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    shape = tuple(data.draw(st.integers(1, most)) for most in (19, 7, 5)[: int(stencil[1])])
    operators = data.draw(st.sampled_from(OPERATORS))
    case = random_thermal_case(rng, stencil, collision, shape, operators=operators, faces=some_faces(rng, shape))
    options = {"precision": precision, "storage": storage, "streaming": streaming}
    one = case.solver(**options)
    many = case.solver(layout=data.draw(layouts(shape, case.least_blocks())), **options)
    assert {link["channel"] for link in many._simulation.engine.links} <= {channel}
    for solver in (one, many):
        solver._simulation.advance(30)  # without a look at whether the flow is stable: not all of them are
    assume(finite(case, one))
    assert_same(case, many, one)


@pytest.mark.parametrize("parts", [(3, 1, 1), (1, 3, 1), (1, 1, 2), (2, 3, 2)])
@pytest.mark.parametrize("name", THERMAL_STENCILS)
def test_walls_and_bodies_across_borders(name, parts, channel, rng):
    """A body and walls with a temperature for every cell are cut by the blocks' borders."""
    shape = (12, 9, 6)[: int(name[1])]
    for kinds in (["no-slip"] * 6, ["periodic"] * 2 + ["no-slip"] * 4, ["no-slip"] * 4 + ["periodic"] * 2):
        case = random_thermal_case(rng, name, "trt", shape, faces=kinds[: 2 * len(shape)], bodies=False)
        mask = np.zeros(shape, bool)
        mask[tuple(slice(n // 4, n - n // 4) for n in shape)] = True
        case.bodies = [(mask, None)]
        case.heat.__dict__["bodies"] = [rng.uniform(-1, 1, shape)]
        one, many = case.solver(), case.solver(layout=lbm.Layout.split(shape, parts[: len(shape)]))
        for solver in (one, many):
            solver.step(12)
        assert_same(case, many, one)


@pytest.mark.gpu
@pytest.mark.parametrize(("precision", "storage"), FORMATS)
@pytest.mark.parametrize("streaming", STREAMINGS)
@pytest.mark.parametrize("stencil", THERMAL_STENCILS)
def test_blocks_on_gpus_change_no_bit(stencil, streaming, precision, storage, channel, gpu, rng):
    """On one GPU or on all there are, and shared with the CPU."""
    options = {"precision": precision, "storage": storage, "streaming": streaming}
    shape = (45, 14, 9)[: int(stencil[1])]
    count = _core.cuda_device_count()
    for parts in ((3, 2, 2), (1, 3, 2)):
        parts = parts[: len(shape)]
        names = [f"cuda:{k % count}" for k in range(int(np.prod(parts)))]
        case = random_thermal_case(rng, stencil, "mrt", shape, faces=some_faces(rng, shape))
        one = case.solver(device=gpu, **options)
        one._simulation.advance(25)
        assert finite(case, one)
        for devices in [names] if channel == "direct" else [names, ["cpu", *names[1:]]]:
            many = case.solver(device="auto", layout=lbm.Layout.split(shape, parts, devices), **options)
            many._simulation.advance(25)
            assert_same(case, many, one)


@pytest.mark.parametrize("after", [4, 5])
@pytest.mark.parametrize(("precision", "storage"), FORMATS)
@pytest.mark.parametrize("streaming", STREAMINGS)
@pytest.mark.parametrize("name", THERMAL_STENCILS)
def test_checkpoint_continues(name, streaming, precision, storage, after, tmp_path, device, rng):
    """Saved, loaded and continued is the run that never stopped; also in the other streaming and on other layouts."""
    shape = (11, 9, 7)[: int(name[1])]
    case = random_thermal_case(rng, name, "trt", shape)
    options = {"precision": precision, "storage": storage, "device": device}
    solver = case.solver(streaming=streaming, **options)
    solver.step(after)
    path = solver.save(tmp_path / "state.h5")
    at_save = solver.temperature()
    solver.step(9)
    other = STREAMINGS[1 - STREAMINGS.index(streaming)]
    restored = case.solver(streaming=other, **options)
    restored.step(3)
    restored.restore(path)
    again = [lbm.Solver.load(path, device=device), restored]
    for parts in ((3, 2, 1), (1, 3, 2)):
        layout = lbm.Layout.split(shape, parts[: len(shape)], [solver.device] * int(np.prod(parts[: len(shape)])))
        again.append(lbm.Solver.load(path, layout=layout, device="auto"))
    for continued in again:
        np.testing.assert_array_equal(continued.temperature(), at_save)
        continued.step(9)
        assert continued.steps == after + 9
        assert_same(case, continued, solver)
    assert not np.array_equal(at_save, solver.temperature())


def test_a_checkpoint_from_blocks(tmp_path: Path, rng: np.random.Generator) -> None:
    shape = (12, 7, 13)
    case = random_thermal_case(rng, "D3Q19", "bgk", shape)
    first = case.solver(layout=lbm.Layout.split(shape, (3, 2, 1)))
    first.step(5)
    path = first.save(tmp_path / "state.h5")
    first.step(5)
    for layout in (None, lbm.Layout.split(shape, (1, 2, 4))):
        again = lbm.Solver.load(path, layout=layout, device="cpu")
        again.step(5)
        assert_same(case, again, first)


@pytest.mark.gpu
@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_the_temperature_in_device_memory(precision, gpu, rng):
    """The array on the device is the field of now, 0 in bodies, and later steps do not change it."""
    case = random_thermal_case(rng, "D3Q19", "trt", (13, 7, 5))
    solver = case.solver(device=gpu, precision=precision)
    solver.step(9)
    expected = solver.temperature()
    array = solver.device_array("temperature")
    solver.step(3)
    assert array.shape == expected.shape
    assert array.__cuda_array_interface__["strides"] == expected.strides
    torch = need_torch()
    expected[solver.solid] = 0
    np.testing.assert_array_equal(torch.from_dlpack(array).cpu().numpy(), expected)


def test_without_a_temperature_there_is_none_to_hand_out() -> None:
    solver = lbm.Solver(lbm.Domain((6, 5), "D2Q9"), lbm.BGK(0.1), device="cpu")
    for call in (solver.temperature, solver.heat, lambda: solver.heat_flux("-x")):
        with pytest.raises(ValueError, match="thermal"):
            call()
