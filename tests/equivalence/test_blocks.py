"""Tests that splitting a domain into blocks changes no bit: every layout gives the results of a single block."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings, strategies as st
from reference import STENCILS, Collision
from reference.cases import (
    CLASSES,
    Case,
    add_random_sheets,
    random_bodies,
    random_cuts,
    random_faces,
    random_fields,
    random_sponges,
)
from reference.registry import PAIRS_OF_BLOCKS

import lbmgpu as lbm
from lbmgpu import _core

NUMBERS = [("float32", "float32"), ("float64", "float64"), ("float32", "float16")]


def cuts(draw: st.DrawFn, n: int, ends: tuple[int, int]) -> list[tuple[int, int]]:
    """The parts of an axis, of so many cells at least at its ends."""
    possible = st.integers(ends[0], n - ends[1])
    at = draw(st.sets(possible, max_size=2)) if n >= sum(ends) else set()
    return list(itertools.pairwise([0, *sorted(at), n]))


@st.composite
def layouts(draw: st.DrawFn, shape: tuple[int, ...], ends: Sequence[tuple[int, int]] = ((1, 1),) * 3) -> lbm.Layout:
    """Cuts in all directions, unequal ones too, and the blocks in any order; or layers cut as bricks are laid. Half of
    the time none across rows, which leaves blocks an interior. `ends`: see `Case.least_blocks`."""
    spans = [cuts(draw, n, least) for n, least in zip(shape, ends, strict=False)]
    if draw(st.booleans()):
        spans[0] = [(0, shape[0])]
    if draw(st.booleans()):
        boxes = list(itertools.product(*spans))
    else:
        boxes = [(first, *rest) for rest in itertools.product(*spans[1:]) for first in cuts(draw, shape[0], ends[0])]
    blocks = [lbm.Block(tuple(a for a, _ in box), tuple(b - a for a, b in box)) for box in boxes]
    return lbm.Layout(draw(st.permutations(blocks)))


def random_case(rng: np.random.Generator, stencil: str, collision: str, shape: tuple[int, ...]) -> Case:
    """Any faces, bodies and force."""
    kinds = []
    for _ in shape:
        walls = [kind for kind in CLASSES if kind != "periodic"]
        kinds += ["periodic"] * 2 if rng.random() < 0.4 else [str(kind) for kind in rng.choice(walls, 2)]
    density, velocity = random_fields(rng, shape, speed=0.01)
    bodies = [body for body in random_bodies(rng, shape) if body[0].any()]
    if bodies and np.any([mask for mask, _ in bodies], axis=0).all():
        bodies = []  # a domain needs a fluid cell
    case = Case(
        stencil,
        shape,
        Collision(collision, 0.1),
        cuts=random_cuts(rng, stencil, bodies) if rng.random() < 0.5 else {},
        faces=random_faces(rng, shape, kinds),
        bodies=bodies,
        force=rng.uniform(-1e-5, 1e-5, (len(shape), *shape)),
        sponges=random_sponges(rng, shape),
        density=density,
        velocity=velocity,
    )
    if rng.random() < 0.5:
        add_random_sheets(rng, case)
    return case


@pytest.fixture(params=["direct", "staged"])
def channel(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """How all blocks exchange, behind their interiors where they have any."""
    monkeypatch.setenv("LBMGPU_CHANNEL", request.param)
    monkeypatch.setenv("LBMGPU_SCHEDULE", "overlap")
    return request.param


def assert_same(many: lbm.Solver, one: lbm.Solver) -> None:
    """Every number is the same, and sums are to rounding."""
    populations = one.populations()
    np.testing.assert_array_equal(many.populations(), populations)
    np.testing.assert_array_equal(many.density(), one.density())
    np.testing.assert_array_equal(many.velocity(), one.velocity())
    largest = np.abs(populations).max() * populations[0].size
    np.testing.assert_allclose(many.mass(), one.mass(), rtol=0, atol=1e-12 * largest)
    for name in one.domain.bodies:
        np.testing.assert_allclose(many.body_force(name), one.body_force(name), rtol=0, atol=1e-12 * largest)


@pytest.mark.parametrize(("precision", "storage"), NUMBERS)
@pytest.mark.parametrize("streaming", ["in-place", "two-lattice"])
@pytest.mark.parametrize(("stencil", "collision"), PAIRS_OF_BLOCKS)
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_layout_changes_no_bit(
    stencil: str, collision: str, streaming: str, precision: str, storage: str, channel: str, data: st.DataObject
) -> None:
    seed = data.draw(st.integers(0, 2**32 - 1))
    shape = tuple(data.draw(st.integers(1, most)) for most in (19, 7, 5)[: STENCILS[stencil].D])
    case = random_case(np.random.default_rng(seed), stencil, collision, shape)
    options = {"precision": precision, "storage": storage, "streaming": streaming}
    one = case.solver(**options)
    many = case.solver(layout=data.draw(layouts(shape, case.least_blocks())), **options)
    assert {link["channel"] for link in many._simulation.engine.links} <= {channel}
    for solver in (one, many):
        solver._simulation.advance(50)  # without a look at whether the flow is stable: not all of them are
    assume(np.isfinite(one.populations()[:, case.fluid()]).all())
    assert_same(many, one)


def gpu_names(gpu: str, blocks: int) -> list[str]:
    """All GPUs in turn."""
    count = _core.cuda_device_count()
    return [f"cuda:{k % count}" for k in range(blocks)]


@pytest.mark.gpu
@pytest.mark.parametrize(("precision", "storage"), NUMBERS)
@pytest.mark.parametrize("streaming", ["in-place", "two-lattice"])
@pytest.mark.parametrize(("stencil", "collision"), PAIRS_OF_BLOCKS)
def test_blocks_on_gpus_change_no_bit(
    stencil: str,
    collision: str,
    streaming: str,
    precision: str,
    storage: str,
    channel: str,
    gpu: str,
    rng: np.random.Generator,
) -> None:
    """On one GPU or on all there are, and shared with the CPU."""
    options = {"precision": precision, "storage": storage, "streaming": streaming}
    shape = (45, 14, 9) if STENCILS[stencil].D == 3 else (75, 26)
    for parts in ((3, 2, 2), (1, 3, 2)):
        parts = parts[: len(shape)]
        names = gpu_names(gpu, int(np.prod(parts)))
        case = random_case(rng, stencil, collision, shape)
        one = case.solver(device=gpu, **options)
        one._simulation.advance(50)
        if not np.isfinite(one.populations()[:, case.fluid()]).all():
            continue
        for devices in [names] if channel == "direct" else [names, ["cpu", *names[1:]]]:
            many = case.solver(device="auto", layout=lbm.Layout.split(shape, parts, devices), **options)
            assert many._simulation.engine.overlaps or parts[0] > 1 or "cpu" in devices
            many._simulation.advance(50)
            assert {link["channel"] for link in many._simulation.engine.links} == {channel}
            assert_same(many, one)


@pytest.mark.gpu
def test_a_gpu_and_the_cpu_share_a_domain(gpu: str, rng: np.random.Generator) -> None:
    shape = (40, 12, 10)
    case = random_case(rng, "D3Q19", "mrt", shape)
    one = case.solver(device=gpu)
    many = case.solver(device=[gpu, "cpu"])
    assert many.device == f"{gpu}, cpu"
    assert {link["channel"] for link in many._simulation.engine.links} == {"staged"}
    for solver in (one, many):
        solver._simulation.advance(41)
    assert_same(many, one)


@pytest.mark.gpu
def test_a_checkpoint_moves_between_layouts_on_gpus(gpu: str, rng: np.random.Generator, tmp_path: Path) -> None:
    shape = (40, 12, 10)
    case = random_case(rng, "D3Q19", "bgk", shape)
    first = case.solver(device="auto", layout=lbm.Layout.split(shape, (1, 2, 2), gpu_names(gpu, 4)))
    first._simulation.advance(7)
    path = first.save(tmp_path / "state.h5")
    first._simulation.advance(36)
    for options in ({"device": "cpu"}, {"device": gpu}, {"layout": lbm.Layout.over(shape, gpu_names(gpu, 3))}):
        again = lbm.Solver.load(path, domain=case.domain(), **options)
        again._simulation.advance(36)
        assert_same(again, first)


def test_gradients_of_an_initial_state_cross_the_blocks(rng: np.random.Generator) -> None:
    shape = (9, 8, 5)
    domain = lbm.Domain(shape, "D3Q19")
    domain.faces["-y"] = domain.faces["+y"] = lbm.NoSlip()
    mask = np.zeros(shape, bool)
    mask[4:6, 3:5, 2] = True
    domain.add_body(mask, "stone")
    velocity = 0.05 * rng.random((3, *shape))
    solvers = [
        lbm.Solver(domain, lbm.TRT(0.1), device="cpu"),
        lbm.Solver(domain, lbm.TRT(0.1), layout=lbm.Layout.split(shape, (2, 3, 2))),
    ]
    for solver in solvers:
        solver.initialize(velocity=velocity, nonequilibrium=True)
    np.testing.assert_array_equal(solvers[1].populations(), solvers[0].populations())


@pytest.mark.parametrize("streaming", ["in-place", "two-lattice"])
def test_a_checkpoint_continues_on_another_layout(streaming: str, rng: np.random.Generator, tmp_path: Path) -> None:
    shape = (12, 7, 13)
    case = random_case(rng, "D3Q19", "bgk", shape)
    layouts = [None, lbm.Layout.split(shape, (3, 2, 1)), lbm.Layout.split(shape, (1, 2, 4))]
    first = case.solver(streaming=streaming, layout=layouts[1])
    first.step(5)
    path = first.save(tmp_path / "state.h5")
    first.step(5)
    for layout in layouts:
        again = lbm.Solver.load(path, domain=case.domain(), layout=layout, device="cpu")
        again.step(5)
        fluid = case.fluid()
        np.testing.assert_array_equal(again.populations()[:, fluid], first.populations()[:, fluid])


@pytest.mark.slow
def test_many_threads_and_large_blocks_change_no_bit(rng: np.random.Generator) -> None:
    shape = (64, 48, 40)
    case = random_case(rng, "D3Q19", "bgk", shape)
    one = case.solver(threads=1)
    many = case.solver(threads=4, layout=lbm.Layout.split(shape, (2, 2, 2)))
    for solver in (one, many):
        solver.step(6)
    np.testing.assert_array_equal(many.velocity(), one.velocity())


def test_the_first_diverged_cell_is_named_in_the_domain() -> None:
    halves = lbm.Layout([lbm.Block((4, 0), (4, 6)), lbm.Block((0, 0), (4, 6))])
    solver = lbm.Solver(lbm.Domain((8, 6), "D2Q9"), lbm.BGK(0.1), layout=halves)
    populations = np.empty((9, 6, 8))
    solver._simulation.engine.populations(populations)
    for cell in ((5, 4), (2, 3)):
        populations[0, cell[1], cell[0]] = np.nan
    solver._simulation.engine.set_populations(populations)
    with pytest.raises(lbm.DivergedError) as error:
        solver.check()
    assert error.value.cell == (2, 3)
