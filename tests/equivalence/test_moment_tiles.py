"""Long rows in two dimensions are updated in tiles of a CPU's cache: with the bits of short ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from reference.moment_cases import KINDS, MADE, lasting, state_of
from reference.moment_forces import FORCES, with_force

import lbmgpu as lbm
from lbmgpu import _core

from .test_moment_state import cut

NX = {"float64": 2704, "float32": 5216}
"""Cells of a row that is cut into tiles whatever the cache is, as at most half of 4 MiB counts."""
STEPS = 8


def case_with(rng: np.random.Generator, made: str, kind: str, nx: int, is_periodic: bool) -> Any:
    """Rows that follow themselves, or end at walls, in- or outlets or faces with free slip."""

    def draw() -> Any:
        while True:
            case = MADE[made](rng, "D2Q9", kind, (nx, 9))
            if isinstance(case.domain().faces["-x"], lbm.Periodic) == is_periodic:
                return case

    return lasting(draw, STEPS)


def check_bits(case: Any, precision: str = "float64") -> None:
    options: dict[str, Any] = {"state": "moments", "precision": precision}
    nx = case.shape[0]
    parts = cut(case.shape, (1000, 1800), ())
    others: list[dict[str, Any]] = [
        {"device": "cpu", "threads": 1},
        {"device": "cpu", "threads": 3, "streaming": "in-place"},
        {"layout": cut(case.shape, (), (4,))},
        {"layout": cut(case.shape, (nx - 1,), ())},
    ]
    expected = case.solver(layout=parts, device="auto", **options)
    found = [case.solver(**{"device": "auto", **options, **other}) for other in others]
    for solver in (expected, *found):
        solver.step(STEPS)
    for solver, other in zip(found, others, strict=True):
        assert state_of(solver) == state_of(expected), other


@pytest.mark.parametrize("beyond", [0, 7])
@pytest.mark.parametrize("precision", NX)
@pytest.mark.parametrize(
    ("made", "is_periodic"), [("periodic", True), ("walls", True), ("walls", False), ("cuts", True), ("cuts", False)]
)
def test_tiles_of_rows_have_the_bits_of_blocks(made, is_periodic, precision, beyond, rng):
    check_bits(case_with(rng, made, KINDS[beyond % 2], NX[precision] + beyond, is_periodic), precision)


@pytest.mark.parametrize("precision", NX)
@pytest.mark.parametrize("is_periodic", [True, False])
def test_several_tiles_have_the_bits_of_blocks_with_all_instruction_sets(is_periodic, precision, rng):
    """Of four tiles at least, two have neighbours on both sides."""
    case = case_with(rng, "walls", "regularized", 4 * NX[precision], is_periodic)
    options = {"state": "moments", "precision": precision}
    blocks = cut(case.shape, tuple(range(2000, case.shape[0], 2000)), ())
    solver = case.solver(device="auto", layout=blocks, **options)
    solver.step(STEPS)
    for isa in _core.cpu_isas():
        engine = case.engine(streaming="two-lattice", storage=precision, threads=2, isa=isa, **options)
        engine.step(STEPS)
        state = np.empty((engine.state_numbers, *reversed(case.shape)), engine.storage_dtype)
        engine.get_state(state)
        assert state.tobytes() == state_of(solver), isa


@pytest.mark.parametrize("is_periodic", [True, False])
@pytest.mark.parametrize("force", FORCES)
def test_with_forces_that_vary(force, is_periodic, rng):
    check_bits(with_force(rng, case_with(rng, "walls", "recursive-regularized", NX["float64"], is_periodic), force))


@pytest.mark.parametrize("is_periodic", [True, False])
def test_the_flow_is_that_of_populations(is_periodic, rng):
    case = case_with(rng, "walls", "regularized", NX["float64"], is_periodic)
    moments, populations = case.solver(state="moments", device="cpu"), case.solver(device="cpu")
    for solver in (moments, populations):
        solver.step(STEPS)
    fluid = case.fluid()
    np.testing.assert_allclose(moments.populations()[:, fluid], populations.populations()[:, fluid], rtol=0, atol=1e-12)
