"""Tests of studies: what becomes of results, failures, changed functions and interrupted cases."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

import lbmgpu as lbm
from lbmgpu.study import records

from .study_support import attempts, broken, flow, run, square
from .support import cavity

pytestmark = pytest.mark.filterwarnings("ignore::lbmgpu.MissingResultsWarning")


def test_a_grid_becomes_a_dataset_over_its_parameters(tmp_path: Path) -> None:
    study = lbm.Study(square, {"x": [1.0, 2.0, 3.0], "power": [2, 3]}, tmp_path / "study")
    found = run(study)
    assert found.y.dims == ("x", "power")
    assert found.y.values.tolist() == [[1, 1], [4, 8], [9, 27]]
    assert float(found.y.sel(x=3.0, power=2)) == 9
    assert set(found.data_vars) == {"y", "status", "message"}
    assert set(found.status.values.flat) == {"done"}
    assert found.to_dataframe().loc[(2.0, 3), "y"] == 8
    assert found.identical(study.results())
    assert study.results(["y"]).identical(found)
    assert "y" not in study.results([])


def test_a_list_becomes_a_dataset_over_cases(tmp_path: Path) -> None:
    found = run(lbm.Study(square, {"x": [1, 2], "power": [2, 3]}, tmp_path / "study", combine="zip"))
    assert found.y.dims == ("case",)
    assert found.y.values.tolist() == [1, 8]
    assert found.power.values.tolist() == [2, 3]


def test_only_what_is_missing_is_run(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    run(lbm.Study(square, {"x": [1, 2]}, folder))
    study = lbm.Study(square, {"x": [1, 2, 3]}, folder)
    assert study.results().status.values.tolist() == ["done", "done", "waiting"]
    assert np.array_equal(study.results().y, [1, 4, np.nan], equal_nan=True)
    run(study)
    run(study)
    assert attempts(folder) == 3


def other_square() -> Callable[..., Any]:
    """The function of the same name with another source."""

    def square(case: Any, x: float) -> dict[str, Any]:
        return {"y": x * x + 1}

    return square


def commented_square() -> Callable[..., Any]:
    """The same but for comments."""

    def square(case: Any, x: float) -> dict[str, Any]:
        """The square."""
        return {"y": x * x + 1}  # and one

    return square


def test_a_changed_function_warns_and_its_results_are_kept_unless_told_otherwise(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    run(lbm.Study(square, {"x": [1, 2]}, folder))
    with pytest.warns(
        lbm.StudyChangedWarning, match="changed since 2 of 3 results, such as that of x=1; they are kept"
    ):
        found = run(lbm.Study(other_square(), {"x": [1, 2, 3]}, folder))
    assert found.y.values.tolist() == [1, 4, 10]
    found = run(lbm.Study(other_square(), {"x": [1, 2, 3]}, folder, on_change="rerun"))
    assert found.y.values.tolist() == [2, 5, 10]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run(lbm.Study(commented_square(), {"x": [1, 2, 3]}, folder))


def test_a_version_has_results_of_its_own(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    run(lbm.Study(square, {"x": [1, 2]}, folder, version=1))
    assert run(lbm.Study(other_square(), {"x": [1, 2]}, folder, version=2)).y.values.tolist() == [2, 5]
    assert lbm.Study(square, {"x": [1, 2]}, folder, version=1).results().y.values.tolist() == [1, 4]


def kinds(case: Any, n: int) -> dict[str, Any]:
    """Results of all kinds, of shapes that differ."""
    return {
        "count": n,
        "even": n % 2 == 0,
        "name": "ab" * n,
        "names": ["x"] * n,
        "amplitude": n + 1j,
        "half": np.float16(n),
        "history": np.arange(n, dtype=np.int32),
        "empty": np.zeros(0),
        "when": np.datetime64("2026-01-01") + n,
        "spectrum": xr.DataArray([1.0, 2.0], coords={"mode": [n, n + 1]}, dims="mode", attrs={"units": "cells"}),
    }


def test_results_of_many_kinds_are_one_dataset(tmp_path: Path) -> None:
    found = run(lbm.Study(kinds, {"n": [1, 3]}, tmp_path / "study"))
    assert found["count"].dtype == np.int64
    assert found.even.dtype == bool
    assert found.name.values.tolist() == ["ab", "ababab"]
    assert found.names.values.tolist() == [["x", "", ""], ["x", "x", "x"]]
    assert found.amplitude.values.tolist() == [1 + 1j, 3 + 1j]
    assert found.half.dtype == np.float16
    assert np.array_equal(found.history, [[0, np.nan, np.nan], [0, 1, 2]], equal_nan=True)
    assert found.empty.shape == (2, 0)
    assert found.when.values.astype("M8[D]").astype(str).tolist() == ["2026-01-02", "2026-01-04"]
    assert found.mode.values.tolist() == [1, 2, 3, 4]
    assert np.array_equal(found.spectrum.sel(n=3), [np.nan, np.nan, 1, 2], equal_nan=True)
    assert found.spectrum.attrs == {"units": "cells"}


def test_a_dataset_keeps_its_coordinates_and_attributes(tmp_path: Path) -> None:
    def field(case: Any, n: int) -> xr.Dataset:
        coords = {"r": [0.5, 1.5], "area": ("r", [1.0, 3.0]), "time": 10.0 * n}
        return xr.Dataset({"u": ("r", [n, 2.0 * n])}, coords=coords, attrs={"units": "lattice"})

    found = run(lbm.Study(field, {"n": [1, 2]}, tmp_path / "study"))
    assert found.u.values.tolist() == [[1, 2], [2, 4]]
    assert set(found.coords) == {"n", "r", "area", "time"}
    assert found.time.values.tolist() == [10, 20]
    assert found.attrs == {"units": "lattice"}


def test_integers_that_are_missing_are_not_numbers(tmp_path: Path) -> None:
    def some(case: Any, n: int) -> dict[str, Any]:
        return {"count": n, "even": n % 2 == 0, "name": "a"} if n < 3 else {}

    found = run(lbm.Study(some, {"n": [1, 2, 3]}, tmp_path / "study"))
    assert np.array_equal(found["count"], [1, 2, np.nan], equal_nan=True)
    assert np.array_equal(found.even, [0, 1, np.nan], equal_nan=True)
    assert found.name.values.tolist() == ["a", "a", ""]


@pytest.mark.parametrize(
    ("result", "error"),
    [
        (3, "TypeError: function: 3 returned, must be a dict"),
        ({"x": 1}, "ValueError: function: a result named 'x'"),
        ({"status": 1}, "a result named 'status'"),
        ({"a/b": 1}, "must be a text without '/'"),
        ({"a": [object()]}, "must be a number, a text, an array"),
    ],
)
def test_results_that_a_dataset_cannot_hold_are_failures(result: Any, error: str, tmp_path: Path) -> None:
    found = run(lbm.Study(lambda case, x: result, {"x": [1]}, tmp_path / "study"))
    assert found.status.values.tolist() == ["failed"]
    assert error in str(found.message.values[0])


def test_results_that_do_not_fit_together_are_named_and_the_others_can_be_had(tmp_path: Path) -> None:
    study = lbm.Study(lambda case, x: {"y": x, "z": x if x == 1 else "text"}, {"x": [1, 2]}, tmp_path / "study")
    with pytest.raises(ValueError, match="'z' is a number in the case x=1, and a text in the case x=2"):
        run(study)
    assert study.results(["y"]).y.values.tolist() == [1, 2]


def test_cases_without_a_result_are_rows_with_their_status(tmp_path: Path) -> None:
    study = lbm.Study(broken, {"how": ["fine", "raises", "exits", "diverges", "memory", "allocates"]}, tmp_path / "s")
    found = run(study)
    expected = ["done", "failed", "failed", "diverged", "out of memory", "out of memory"]
    assert found.status.values.tolist() == expected
    messages = found.message.values.tolist()
    assert messages[0] == ""
    assert messages[1].startswith("ValueError: it broke in two lines (study_support.py, line ")
    assert messages[3].startswith("DivergedError: diverged: at step")
    assert messages[4].startswith("TooLittleMemoryError: ")
    table = study.cases()
    assert table.status.tolist() == expected
    assert table.attempts.tolist() == [1] * 6
    run(study)
    assert study.cases().attempts.tolist() == [1, 2, 2, 1, 2, 2]  # a case that diverged would do so again
    run(study, redo=["diverged"])
    assert study.cases().attempts.tolist() == [1, 2, 2, 2, 2, 2]


def test_a_case_is_tried_as_often_as_is_said(tmp_path: Path) -> None:
    def second(case: Any, x: int) -> dict[str, Any]:
        if case.attempt <= x:
            raise ValueError("not yet")
        return {"attempt": case.attempt}

    found = run(lbm.Study(second, {"x": [0, 1, 2]}, tmp_path / "study"), retry=1)
    assert found.status.values.tolist() == ["done", "done", "failed"]
    assert np.array_equal(found.attempt, [1, 2, np.nan], equal_nan=True)


@pytest.mark.parametrize("stop_at", [30, 40, 90])
def test_a_case_goes_on_from_its_checkpoint_bit_for_bit(stop_at: int, tmp_path: Path) -> None:
    expected = run(lbm.Study(flow, {"speed": 0.05}, tmp_path / "whole"))
    study = lbm.Study(flow, {"speed": 0.05, "stop_at": stop_at}, tmp_path / "study")
    assert run(study).status.values.tolist() == [["failed"]]
    found = run(study)
    for name in ("velocity", "energies", "steps"):
        assert np.array_equal(found[name][0], expected[name]), name
    (begin,) = (tmp_path / "study").glob("*/begin.txt")
    assert int(begin.read_text()) == (stop_at - 1) // 40 * 40  # the checkpoint of the step itself comes too late
    names = sorted(path.name for path in begin.parent.glob("checkpoint*"))
    assert names == ["checkpoint-solver-120.h5", "checkpoint-solver-120.npz", "checkpoint-solver.json"]


def steady(case: Any, stop_at: int) -> dict[str, Any]:
    """A cavity that is run until it is steady; its first attempt ends at a step, or after the last one."""

    def collect(solver: lbm.Solver) -> None:
        if case.attempt == 1 and solver.steps == stop_at:
            raise OSError("the first attempt ends here")

    solver = case.solver(cavity((10, 10), "D2Q9", 0.05), lbm.TRT(0.1))
    until, every = lbm.Steady(2e-2, every=20), lbm.Every(10, collect)
    result = case.run(solver, 1000, save_every=40, until=until, callbacks=[every])
    if case.attempt == 1 and stop_at < 0:
        raise OSError("the first attempt ends after its last step")
    return {"velocity": solver.velocity(), "steps": result.steps, "converged": result.converged}


def test_a_steady_case_that_goes_on_ends_at_the_same_step(tmp_path: Path) -> None:
    expected = run(lbm.Study(steady, {"stop_at": 0}, tmp_path / "whole")).isel(stop_at=0)
    assert bool(expected.converged)
    last = int(expected.steps)
    study = lbm.Study(steady, {"stop_at": [-1, last - 30, last]}, tmp_path / "study")
    assert set(run(study).status.values) == {"failed"}
    found = run(study)
    for number in range(3):
        assert found.steps.values[number] == last
        assert np.array_equal(found.velocity[number], expected.velocity)


def test_looks_for_a_steady_flow_and_checkpoints_go_together(tmp_path: Path) -> None:
    def wrong(case: Any, x: int) -> None:
        solver = case.solver(cavity((8, 8), "D2Q9"), lbm.TRT(0.1))
        case.run(solver, 100, save_every=30, until=lbm.Steady(1e-3, every=20))

    (message,) = run(lbm.Study(wrong, {"x": [1]}, tmp_path / "study")).message.values
    assert "save_every: 30 given, must be a multiple of the 20 steps" in str(message)


def test_a_run_warns_of_cases_without_a_result(tmp_path: Path) -> None:
    def half(case: Any, x: int) -> dict[str, int]:
        if x > 1:
            raise ValueError("no more than one")
        return {"y": x}

    study = lbm.Study(half, {"x": [1, 2, 3]}, tmp_path / "study")
    with pytest.warns(
        lbm.MissingResultsWarning, match="2 of 3 cases of half have no result, such as x=2: failed: ValueError: no more"
    ):
        study.run("cpu", progress=False)


def test_a_case_has_solvers_by_name(tmp_path: Path) -> None:
    def two(case: Any, x: int) -> dict[str, Any]:
        first = case.solver(cavity((8, 8), "D2Q9"), lbm.TRT(0.1), name="first")
        second = case.solver(cavity((9, 9), "D2Q9"), lbm.TRT(0.1), name="second")
        if case.attempt == 1:
            first.run(10)
            second.run(20)
            case.save(first, history=[1, 2])
            case.save(second)
            raise ValueError("again")
        with pytest.raises(ValueError, match="a second solver named 'first'"):
            case.solver(cavity((8, 8), "D2Q9"), lbm.TRT(0.1), name="first")
        with pytest.raises(ValueError, match="not one of this case"):
            case.save(lbm.Solver(cavity((8, 8), "D2Q9"), lbm.TRT(0.1)))
        with pytest.raises(ValueError, match="not one of this case"):
            case.run(lbm.Solver(cavity((8, 8), "D2Q9"), lbm.TRT(0.1)), 10)
        return {"steps": [first.steps, second.steps], "history": case.saved["history"]}

    found = run(lbm.Study(two, {"x": [1]}, tmp_path / "study"), retry=1)
    assert found.steps.values.tolist() == [[10, 20]], found.message.values
    assert found.history.values.tolist() == [[1, 2]]


def test_a_checkpoint_of_another_source_is_not_gone_on_from(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    run(lbm.Study(flow, {"speed": 0.05, "stop_at": 90}, folder))

    def changed(case: Any, speed: float, stop_at: int) -> dict[str, Any]:
        return {"saved": len(case.saved), "attempt": case.attempt}

    changed.__name__ = "flow"
    found = run(lbm.Study(changed, {"speed": 0.05, "stop_at": 90}, folder))
    assert found.saved.values.tolist() == [[0]]
    assert found.attempt.values.tolist() == [[1]]


def test_a_case_that_is_anothers_by_now_ends_and_leaves_its_files(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("lbmgpu.study.case.SECONDS_BETWEEN", 0.0)

    def taken(case: Any, x: int) -> dict[str, Any]:
        solver = case.solver(cavity((8, 8), "D2Q9"), lbm.TRT(0.1))
        solver.run(5)
        record = case._records.record()
        case._records.write(records.replace(record, process=1, message="another's"))
        solver.run(5)
        raise AssertionError("not reached")

    study = lbm.Study(taken, {"x": [1]}, tmp_path / "study")
    run(study)
    (record,) = (tmp_path / "study").glob("*/record.json")
    assert '"message": "another\'s"' in record.read_text()
    assert '"process": 1,' in record.read_text()
