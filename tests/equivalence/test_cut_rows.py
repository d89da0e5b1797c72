"""Blocks with neighbours across x, some of which update interiors without the ends of rows meanwhile: same bits."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings, strategies as st
from reference import STENCILS
from reference.cases import CLASSES, random_faces
from reference.d2q37_cases import random_gas_case
from reference.registry import PAIRS_OF_BLOCKS, STREAMINGS, THERMAL_PAIRS_OF_BLOCKS
from reference.sponges import Sponge
from reference.thermal_cases import random_thermal_case

import lbmgpu as lbm
from equivalence import test_d2q37 as gas, test_thermal_layouts as heated
from equivalence.test_blocks import assert_same, channel, gpu_names, random_case

__all__ = ["channel"]  # the fixture

NUMBERS = [("float32", "float32"), ("float64", "float64"), ("float64", "float32"), ("float32", "float16")]
WIDEST_PACK = 16
"""Cells: the widest trimming that there is on a CPU."""


@st.composite
def cut_rows(draw: st.DrawFn, shape: tuple[int, ...], least: int = 3) -> lbm.Layout:
    """Two blocks across x at least, with rows longer than both ends that an interior leaves out; `least` rows each."""
    at = sorted(draw(st.sets(st.integers(3 * WIDEST_PACK, shape[0] - 3 * WIDEST_PACK), min_size=1, max_size=2)))
    spans = [list(itertools.pairwise([0, *at, shape[0]]))]
    for n in shape[1:]:
        cut = draw(st.integers(least, n - least)) if n >= 2 * least and draw(st.booleans()) else None
        spans.append([(0, n)] if cut is None else [(0, cut), (cut, n)])
    blocks = [lbm.Block(tuple(a for a, _ in box), tuple(b - a for a, b in box)) for box in itertools.product(*spans)]
    return lbm.Layout(draw(st.permutations(blocks)))


def long_rows(data: st.DataObject, D: int) -> tuple[int, ...]:
    return tuple(data.draw(st.integers(*sizes)) for sizes in ((96, 170), (3, 9), (3, 7))[:D])


def overlapping(solver: lbm.Solver) -> lbm.Solver:
    assert solver._simulation.engine.overlaps
    return solver


@pytest.mark.parametrize(("precision", "storage"), NUMBERS)
@pytest.mark.parametrize("streaming", STREAMINGS)
@pytest.mark.parametrize(("stencil", "collision"), PAIRS_OF_BLOCKS)
@settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_trimmed_interiors_change_no_bit(
    stencil: str, collision: str, streaming: str, precision: str, storage: str, channel: str, data: st.DataObject
) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    shape = long_rows(data, STENCILS[stencil].D)
    case = random_case(rng, stencil, collision, shape)
    options = {"precision": precision, "storage": storage, "streaming": streaming}
    one, many = case.solver(**options), overlapping(case.solver(layout=data.draw(cut_rows(shape)), **options))
    for solver in (one, many):
        solver._simulation.advance(31)
    assume(np.isfinite(one.populations()[:, case.fluid()]).all())
    assert_same(many, one)


@pytest.mark.parametrize(("precision", "storage"), NUMBERS[:3])
@pytest.mark.parametrize("streaming", STREAMINGS)
@pytest.mark.parametrize(("stencil", "collision"), THERMAL_PAIRS_OF_BLOCKS)
@settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_trimmed_interiors_of_a_heated_fluid_change_no_bit(
    stencil: str, collision: str, streaming: str, precision: str, storage: str, channel: str, data: st.DataObject
) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    shape = long_rows(data, STENCILS[stencil].D)
    case = random_thermal_case(rng, stencil, collision, shape, faces=heated.some_faces(rng, shape))
    options = {"precision": precision, "storage": storage, "streaming": streaming}
    one, many = case.solver(**options), overlapping(case.solver(layout=data.draw(cut_rows(shape)), **options))
    for solver in (one, many):
        solver._simulation.advance(21)
    assume(heated.finite(case, one))
    heated.assert_same(case, many, one)


@pytest.mark.parametrize("precision", gas.PRECISIONS)
@gas.placed
@settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_trimmed_interiors_of_a_gas_change_no_bit(
    walls: str, axis: int, precision: str, channel: str, data: st.DataObject
) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    shape = (data.draw(st.integers(96, 170)), data.draw(st.integers(7, 16)))
    case = random_gas_case(rng, shape, walls, axis, prandtl=0.71, rough=True)
    one = case.solver(precision=precision)
    many = overlapping(case.solver(precision=precision, layout=data.draw(cut_rows(shape, 7))))
    for solver in (one, many):
        solver.step(12)
    gas.assert_same(one, many)


# On GPUs, where only the gas has interiors without the ends of rows, and others have late ones, of whole rows. Rows and
# parts of rows of less than a warp, several warps, several thread blocks.

LENGTHS = [(67, 2), (163, 3), (1403, 2)]


def gpu_layout(gpu: str, shape: tuple[int, ...], parts: tuple[int, ...]) -> lbm.Layout:
    parts = parts[: len(shape)]
    return lbm.Layout.split(shape, parts, gpu_names(gpu, int(np.prod(parts))))


@pytest.mark.gpu
@pytest.mark.parametrize(("precision", "storage"), NUMBERS)
@pytest.mark.parametrize("streaming", STREAMINGS)
@pytest.mark.parametrize(("stencil", "collision"), PAIRS_OF_BLOCKS)
def test_cut_rows_on_gpus_change_no_bit(
    stencil: str,
    collision: str,
    streaming: str,
    precision: str,
    storage: str,
    channel: str,
    gpu: str,
    rng: np.random.Generator,
) -> None:
    options = {"precision": precision, "storage": storage, "streaming": streaming}
    for nx, across in LENGTHS:
        shape = (nx, 7, 5)[: STENCILS[stencil].D]
        case = random_case(rng, stencil, collision, shape)
        one = case.solver(device=gpu, **options)
        one._simulation.advance(37)
        if not np.isfinite(one.populations()[:, case.fluid()]).all():
            continue
        for parts in ((across, 1, 1), (across, 2, 1)):
            many = case.solver(device="auto", layout=gpu_layout(gpu, shape, parts), **options)
            many._simulation.advance(37)
            assert_same(many, one)


def cut_faces(rng: np.random.Generator, D: int, kinds: list[str]) -> list[str]:
    """Words of faces of these kinds: x periodic or between walls, y and z of any of them."""
    x = ["periodic"] * 2 if rng.random() < 0.5 else ["no-slip", "pressure-outlet"]
    words = [*x]
    for _ in range(D - 1):
        kind = str(rng.choice(kinds))
        words += [kind, "moving-wall" if kind == "no-slip" and rng.random() < 0.5 else kind]
    return words


@pytest.mark.gpu
@pytest.mark.parametrize(("precision", "storage"), NUMBERS)
@pytest.mark.parametrize("streaming", STREAMINGS)
@pytest.mark.parametrize("stencil", list(STENCILS))
def test_late_interiors_on_gpus_change_no_bit(
    stencil: str, streaming: str, precision: str, storage: str, channel: str, gpu: str, rng: np.random.Generator
) -> None:
    """Of links that a GPU reads directly; single steps, and as many as are recorded and replayed.

    Of random faces and bodies a few forbid late interiors.
    """
    options = {"precision": precision, "storage": storage, "streaming": streaming}
    D = STENCILS[stencil].D
    late = 0
    for shape, parts in (
        ((30, 24, 25), (2, 1, 1)),
        ((21, 22, 21), (2, 2, 2)),
        ((33, 13, 6), (3, 1, 1)),
        ((29, 24, 11), (2, 2, 1)),
    ):
        case = random_case(rng, stencil, "bgk", shape[:D])
        case.faces = random_faces(rng, shape[:D], cut_faces(rng, D, ["periodic", "free-slip", "no-slip"]))
        case.sponges = ()  # of the next test
        one = case.solver(device=gpu, **options)
        many = case.solver(device="auto", layout=gpu_layout(gpu, shape[:D], parts), **options)
        late += many._simulation.engine.overlaps
        for steps in (1, 2, 39):
            one._simulation.advance(steps)
            if not np.isfinite(one.populations()[:, case.fluid()]).all():
                break
            many._simulation.advance(steps)
            assert_same(many, one)
    assert late >= 2 if channel == "direct" else late == 0


@pytest.mark.gpu
@pytest.mark.parametrize(
    ("kinds", "sponges"),
    [
        (["periodic", "periodic", "velocity-inlet", "outflow"], ()),
        (["no-slip", "pressure-outlet", "periodic", "periodic"], (Sponge(1, 20, 0.3, 0.0, 1.0, (0.0, 0.0)),)),
    ],
    ids=["outflow", "sponge"],
)
@pytest.mark.parametrize("streaming", STREAMINGS)
def test_what_reads_all_that_comes_in_forbids_late_interiors(
    streaming: str, kinds: list[str], sponges: tuple[Sponge, ...], channel: str, gpu: str, rng: np.random.Generator
) -> None:
    """An outflow takes numbers of the next block, which then have to be there before the step begins.

    A sponge, here over the cut in the middle, changes all populations that come into its cells.
    """
    shape = (26, 20)
    case = random_case(rng, "D2Q9", "bgk", shape)
    case.faces, case.sponges = random_faces(rng, shape, kinds), sponges
    one = case.solver(device=gpu, streaming=streaming)
    many = case.solver(device="auto", layout=gpu_layout(gpu, shape, (2, 1)), streaming=streaming)
    assert not many._simulation.engine.overlaps
    for solver in (one, many):
        solver._simulation.advance(37)
    assert_same(many, one)


@pytest.mark.gpu
@pytest.mark.parametrize("kind", ["velocity-inlet", "pressure-outlet", "outflow"])
@pytest.mark.parametrize("streaming", STREAMINGS)
@pytest.mark.parametrize("stencil", list(STENCILS))
def test_inlets_before_cut_rows_on_gpus(
    stencil: str, streaming: str, kind: str, channel: str, gpu: str, rng: np.random.Generator
) -> None:
    assert kind in CLASSES
    shape = (140, 9, 6)[: STENCILS[stencil].D]
    case = random_case(rng, stencil, "bgk", shape)
    faces = [kind, kind, *["no-slip"] * (2 * len(shape) - 2)]
    case.faces = random_faces(rng, shape, faces)
    one = case.solver(device=gpu, streaming=streaming)
    many = case.solver(device="auto", layout=gpu_layout(gpu, shape, (2, 1, 2)), streaming=streaming)
    for steps in (1, 1, 35):
        one._simulation.advance(steps)
        many._simulation.advance(steps)
        assert_same(many, one)


@pytest.mark.gpu
@pytest.mark.parametrize(("precision", "storage"), NUMBERS[:3])
@pytest.mark.parametrize("streaming", STREAMINGS)
@pytest.mark.parametrize(("stencil", "collision"), THERMAL_PAIRS_OF_BLOCKS)
def test_cut_rows_of_a_heated_fluid_on_gpus_change_no_bit(
    stencil: str,
    collision: str,
    streaming: str,
    precision: str,
    storage: str,
    channel: str,
    gpu: str,
    rng: np.random.Generator,
) -> None:
    options = {"precision": precision, "storage": storage, "streaming": streaming}
    for nx, across in LENGTHS:
        shape = (nx, 7, 5)[: STENCILS[stencil].D]
        case = random_thermal_case(rng, stencil, collision, shape, faces=heated.some_faces(rng, shape))
        one = case.solver(device=gpu, **options)
        one._simulation.advance(21)
        if not heated.finite(case, one):
            continue
        for parts in ((across, 1, 1), (across, 2, 1)):
            many = case.solver(device="auto", layout=gpu_layout(gpu, shape, parts), **options)
            many._simulation.advance(21)
            heated.assert_same(case, many, one)


@pytest.mark.gpu
@pytest.mark.parametrize("precision", gas.PRECISIONS)
@gas.placed
def test_trimmed_interiors_of_a_gas_on_gpus_change_no_bit(
    walls: str, axis: int, precision: str, channel: str, gpu: str, rng: np.random.Generator
) -> None:
    """Columns are gathered before other GPUs read them, also those of a few rows and of more than a run's 1024."""
    for shape, parts in (((67, 13), (3, 1)), ((131, 37), (2, 2)), ((301, 1100), (2, 1)), ((1403, 9), (4, 1))):
        case = random_gas_case(rng, shape, walls, axis, prandtl=0.71, rough=True)
        one = case.solver(device=gpu, precision=precision)
        many = overlapping(case.solver(device="auto", layout=gpu_layout(gpu, shape, parts), precision=precision))
        for solver in (one, many):
            solver.step(11)
        gas.assert_same(one, many)
