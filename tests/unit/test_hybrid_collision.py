"""The hybrid recursive regularised collision: what it is, what is refused, and what a report and a plan say of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import lbmgpu as lbm
from lbmgpu import _core
from lbmgpu.case.build import build_solver
from lbmgpu.case.plan import plan_case
from lbmgpu.case.read import read_case
from lbmgpu.engine.linear_stability import jacobian


def solver(collision: lbm.RecursiveRegularized, **options) -> lbm.Solver:
    return lbm.Solver(lbm.Domain((8, 6, 5)), collision, device="cpu", **options)


def test_a_part_of_one_is_none():
    plain = lbm.RecursiveRegularized(0.1)
    assert lbm.RecursiveRegularized(0.1, hybrid=1) == lbm.RecursiveRegularized(0.1, 1.0) == plain
    assert lbm.RecursiveRegularized(0.1, 0.9) != lbm.RecursiveRegularized(0.1)


@pytest.mark.parametrize("hybrid", [0, -0.1, 1.01, float("nan"), "0.9", True])
def test_parts_out_of_range_are_refused_by_name(hybrid):
    with pytest.raises((TypeError, ValueError), match=r"^hybrid: "):
        lbm.RecursiveRegularized(0.1, hybrid=hybrid)


@pytest.mark.parametrize("hybrid", [0.0, 1.5, float("nan")])
def test_the_engine_refuses_parts_out_of_range(hybrid):
    with pytest.raises(ValueError, match=r"^hybrid: "):
        _core.Engine(stencil="D2Q9", shape=(8, 6), collision="recursive-regularized", viscosity=0.1, hybrid=hybrid)


def test_what_does_not_go_together_is_refused_by_name(tmp_path: Path):
    hybrid = lbm.RecursiveRegularized(0.02, hybrid=0.9)
    with pytest.raises(ValueError, match=r"^turbulence: every=2 given with the hybrid RecursiveRegularized"):
        solver(hybrid, turbulence=lbm.WALE(every=2))
    with pytest.raises(ValueError, match=r"^turbulence every: 2 given with a hybrid collision"):
        _core.Engine(
            stencil="D2Q9",
            shape=(8, 6),
            collision="recursive-regularized",
            viscosity=0.1,
            hybrid=0.9,
            turbulence={"model": "wale", "constant": 0.5, "every": 2},
        )
    with pytest.raises(ValueError, match=r"^turbulence: this solver has no eddy viscosity"):
        solver(hybrid).eddy_viscosity()
    with pytest.raises(ValueError, match=r"^hybrid: 0\.9 given, must be None: linear analysis"):
        jacobian(hybrid, "D2Q9", (0.05, 0.0))


def test_advice_has_the_growth_without_differences():
    flow = {"reynolds": 1000, "cells": 20, "speed": 0.05, "stencil": "D2Q9", "collision": "RecursiveRegularized"}
    assert lbm.advise(**flow, hybrid=0.9).growth == lbm.advise(**flow).growth


def test_a_file_of_another_part_is_refused(tmp_path: Path):
    path = tmp_path / "state.h5"
    solver(lbm.RecursiveRegularized(0.02, hybrid=0.9)).save(path)
    for other in (0.8, None):
        with pytest.raises(lbm.CheckpointError, match="hybrid"):
            solver(lbm.RecursiveRegularized(0.02, hybrid=other)).restore(path)


def test_a_report_counts_the_bytes_of_velocity_gradients():
    """Velocity and strain rate are written and read; an eddy viscosity of gradients shares the velocity."""
    hybrid = lbm.RecursiveRegularized(0.02, hybrid=0.9)
    for turbulence, more in ((None, 24 + 48), (lbm.Smagorinsky(), 24 + 48), (lbm.WALE(), 24 + 48 + 8)):
        assert solver(hybrid, turbulence=turbulence).report(bandwidth=False).bytes_per_update == 152 + more


@pytest.mark.parametrize("turbulence", [None, lbm.WALE()])
@pytest.mark.parametrize("stencil", ["D2Q9", "D3Q27"])
def test_the_memory_that_is_asked_for_is_what_an_engine_holds(stencil, turbulence):
    shape = (40, 12, 9)[: int(stencil[1])]
    collision = {"collision": "recursive-regularized", "viscosity": 0.1, "hybrid": 0.5}
    record = None if turbulence is None else turbulence.record()
    engine = _core.Engine(stencil=stencil, shape=shape, turbulence=record, streaming="in-place", **collision)
    needed = _core.Engine.memory_needed(
        stencil, shape, "float32", "float32", "in-place", keeps_velocity=turbulence is not None, takes_strain=True
    )
    plain = _core.Engine.memory_needed(stencil, shape, "float32", "float32", "in-place")
    assert plain["cpu"] < needed["cpu"] <= engine.memory_bytes < 1.1 * needed["cpu"]


def written(folder: Path, **collision) -> Path:
    path = folder / "case.json"
    case = {
        "domain": {"stencil": "D3Q19", "shape": [8, 6, 6]},
        "collision": {"model": "RecursiveRegularized", "viscosity": 0.01, **collision},
        "run": {"steps": 4, "device": "cpu"},
    }
    path.write_text(json.dumps(case))
    return path


def test_a_case_may_have_a_hybrid_collision(tmp_path: Path):
    path = written(tmp_path, hybrid=0.95)
    assert build_solver(read_case(path), tmp_path).collision == lbm.RecursiveRegularized(0.01, hybrid=0.95)
    assert plan_case(path, "cpu") is not None
    for hybrid in (None, 1):
        found = build_solver(read_case(written(tmp_path, hybrid=hybrid)), tmp_path).collision
        assert found == lbm.RecursiveRegularized(0.01)


@pytest.mark.parametrize(
    "collision", [*({"hybrid": part} for part in (0, 1.2, "0.9")), {"model": "BGK", "hybrid": 0.9}]
)
def test_a_wrong_part_of_a_case_is_refused_by_its_path(tmp_path: Path, collision):
    with pytest.raises(lbm.CaseError, match=r"collision|hybrid"):
        build_solver(read_case(written(tmp_path, **collision)), tmp_path)
