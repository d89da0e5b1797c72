"""Tests that streaming, instruction set, number of threads and a checkpoint in between do not change a single bit.

Results in low precision are tested to be close to the reference.
"""

from __future__ import annotations

import numpy as np
import pytest
from reference import STENCILS, Collision
from reference.cases import (
    Case,
    engine_populations,
    engine_state,
    random_bodies,
    random_faces,
    random_fields,
)
from reference.registry import KINDS, STREAMINGS

import lbmgpu as lbm
from lbmgpu import _core

FORMATS = [
    ("float64", "float64"),
    ("float64", "float32"),
    ("float64", "float16"),
    ("float32", "float32"),
    ("float32", "float16"),
]
format_ids = [f"{p}-as-{s}" for p, s in FORMATS]


def random_case(rng: np.random.Generator, name: str, shape: tuple[int, ...], kind: str = "trt", **more: float) -> Case:
    """Every cell, face and body different, all kinds of face likely."""
    density, velocity = random_fields(rng, shape, speed=0.01)
    return Case(
        name,
        shape,
        Collision(kind, 0.1, **more),
        faces=random_faces(rng, shape, speed=0.02),
        bodies=random_bodies(rng, shape, speed=0.02),
        force=rng.uniform(-1e-4, 1e-4, (len(shape), *shape)),
        density=density,
        velocity=velocity,
    )


def fluid_state(case: Case, engine: _core.Engine) -> np.ndarray:
    """The stored bits of the fluid cells, and that they are sane."""
    state = engine_state(engine, case.stencil, case.shape)[:, case.fluid()]
    assert np.isfinite(engine_populations(engine, case.stencil, case.shape)[:, case.fluid()]).all()
    return state


def assert_bits(one: np.ndarray, other: np.ndarray) -> None:
    """Equal to the last bit, of equal type."""
    assert one.dtype == other.dtype
    np.testing.assert_array_equal(one.view(f"u{one.itemsize}"), other.view(f"u{one.itemsize}"))


@pytest.mark.parametrize(("precision", "storage"), FORMATS, ids=format_ids)
@pytest.mark.parametrize("nx", [1, 3, 17, 33, 70])
@pytest.mark.parametrize("name", STENCILS)
def test_streamings_agree(name, nx, precision, storage, rng):
    """Both streamings hold the same bits after odd and even numbers of steps, boundaries and bodies on."""
    shape = (nx, 5, 3)[: STENCILS[name].D]
    for kind in KINDS[name]:
        case = random_case(rng, name, shape, kind, smagorinsky=0.1 if kind == "mrt" else 0.0)
        two, one = (case.engine(precision=precision, storage=storage, streaming=s) for s in STREAMINGS)
        for steps in (0, 1, 1, 3, 4, 6):
            two.step(steps)
            one.step(steps)
            assert one.steps == two.steps
            assert_bits(fluid_state(case, one), fluid_state(case, two))


@pytest.mark.parametrize("streaming", STREAMINGS)
@pytest.mark.parametrize("name", STENCILS)
def test_steps_add_up(name, streaming, rng):
    """Eleven single steps are eleven steps, with fields read in between."""
    case = random_case(rng, name, (19, 6, 4)[: STENCILS[name].D])
    at_once, singly = case.engine(streaming=streaming), case.engine(streaming=streaming)
    at_once.step(11)
    for _ in range(11):
        singly.step(1)
        singly.density(np.empty(case.shape[::-1]))
        singly.body_force(0, np.zeros(len(case.shape)))
        singly.velocity_change()
    assert_bits(fluid_state(case, at_once), fluid_state(case, singly))


@pytest.mark.parametrize("streaming", STREAMINGS)
@pytest.mark.parametrize(("precision", "storage"), FORMATS, ids=format_ids)
@pytest.mark.parametrize("name", STENCILS)
def test_instruction_sets_and_threads_agree(name, precision, storage, streaming, rng):
    """Every instruction set of this machine and every number of threads hold the same bits."""
    for shape in ((37, 9, 7), (1, 33, 5), (8, 1, 2)):
        case = random_case(rng, name, shape[: STENCILS[name].D], "mrt", smagorinsky=0.1)
        options = {"precision": precision, "storage": storage, "streaming": streaming}
        first = case.engine(threads=1, isa=_core.cpu_isas()[-1], **options)
        first.step(7)
        expected = fluid_state(case, first)
        for isa in _core.cpu_isas():
            for threads in (1, 2, 3):
                engine = case.engine(threads=threads, isa=isa, **options)
                assert (engine.threads, engine.isa) == (threads, isa)
                engine.step(7)
                assert_bits(fluid_state(case, engine), expected)


@pytest.mark.parametrize("after", [4, 5])
@pytest.mark.parametrize(("precision", "storage"), FORMATS, ids=format_ids)
@pytest.mark.parametrize("written", STREAMINGS)
@pytest.mark.parametrize("name", STENCILS)
def test_state_continues_in_either_streaming(name, written, precision, storage, after, rng):
    """The state of one engine, put into another of either streaming, continues bit for bit."""
    case = random_case(rng, name, (21, 5, 4)[: STENCILS[name].D], "regularized")
    options = {"precision": precision, "storage": storage}
    source = case.engine(streaming=written, **options)
    source.step(after)
    saved = np.empty((STENCILS[name].Q, *case.shape[::-1]), dtype=source.storage_dtype)
    source.get_state(saved)
    numbers = {face: source.boundary_numbers(face) for face in range(2 * len(case.shape))}
    source.step(6)
    for streaming in STREAMINGS:
        other = case.engine(streaming=streaming, **options)
        other.step(1)
        other.set_state(saved)
        other.set_boundary_numbers(numbers)
        other.steps = after
        other.step(6)
        assert other.steps == after + 6
        assert_bits(fluid_state(case, other), fluid_state(case, source))


@pytest.mark.parametrize("after", [6, 7])
@pytest.mark.parametrize(("precision", "storage"), FORMATS, ids=format_ids)
@pytest.mark.parametrize("streaming", STREAMINGS)
@pytest.mark.parametrize("name", STENCILS)
def test_checkpoint_continues(name, streaming, precision, storage, after, tmp_path, device, rng):
    """Saved, loaded and continued is the run that never stopped; also restored into the other streaming."""
    case = random_case(rng, name, (11, 6, 5)[: STENCILS[name].D], "trt")
    options = {"precision": precision, "storage": storage, "device": device}
    solver = case.solver(streaming=streaming, **options)
    solver.step(after)
    path = solver.save(tmp_path / "state.h5")
    at_save = solver.populations()
    solver.step(9)

    loaded = lbm.Solver.load(path, device=device)
    assert (loaded.steps, loaded.streaming, loaded.storage) == (after, streaming, storage)
    other = STREAMINGS[1 - STREAMINGS.index(streaming)]
    restored = case.solver(streaming=other, **options)
    restored.step(3)
    restored.restore(path)
    fluid = case.fluid()
    for continued in (loaded, restored):
        assert_bits(continued.populations()[:, fluid], at_save[:, fluid])
        continued.step(9)
        assert continued.steps == after + 9
        assert_bits(continued.populations()[:, fluid], solver.populations()[:, fluid])
        assert_bits(continued.velocity(), solver.velocity())
        assert_bits(continued.density(), solver.density())
    assert not np.array_equal(at_save, solver.populations())


@pytest.mark.parametrize(("precision", "storage"), FORMATS, ids=format_ids)
def test_precision_is_near_the_reference(precision, storage, device, rng):
    """Lower precision and storage stay near float64, each as near as its digits allow."""
    shape = (16, 12, 8)
    x, y, z = np.meshgrid(*(2 * np.pi * (np.arange(n) + 0.5) / n for n in shape), indexing="ij")
    velocity = 0.05 * np.array([np.sin(y), np.cos(z) * np.sin(x), np.sin(x + y)])
    case = Case("D3Q19", shape, Collision("trt", 0.05), density=np.ones(shape), velocity=velocity)
    exact, given = case.solver(device=device), case.solver(precision=precision, storage=storage, device=device)
    exact.step(100)
    given.step(100)
    error = np.abs(given.velocity() - exact.velocity()).max() / np.abs(exact.velocity()).max()
    smallest_digit = {"float64": 1e-14, "float32": 1e-6, "float16": 5e-3}[storage]
    assert error < smallest_digit
    assert given.velocity().dtype == np.dtype(precision)
    if storage != "float64":
        assert error > 1e-4 * smallest_digit  # it is really stored narrower
