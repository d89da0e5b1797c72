"""Tests of what studies keep and tell: files, attempts that lost their case, `ask`, tables, bars and sources."""

from __future__ import annotations

import errno
import functools
import os
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.optimize
import xarray as xr

import lbmgpu as lbm
from lbmgpu.files.folder_lock import FolderLock
from lbmgpu.parallel.devices import available
from lbmgpu.study import records, results
from lbmgpu.study.source import same, source_of

from .study_support import Inline, attempts, broken, run, square
from .support import cavity

pytestmark = pytest.mark.filterwarnings("ignore::lbmgpu.MissingResultsWarning")


def test_a_full_disk_is_a_failure_of_the_case_that_meets_it(tmp_path: Path, monkeypatch: Any) -> None:
    write = results.write

    def full(path: Path, result: Any) -> None:
        if float(result.y) == 4:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        write(path, result)

    monkeypatch.setattr(results, "write", full)
    study = lbm.Study(square, {"x": [1, 2, 3]}, tmp_path / "study")
    found = run(study)
    assert found.status.values.tolist() == ["done", "failed", "done"]
    assert "No space left on device" in str(found.message.values[1])
    monkeypatch.undo()
    assert run(study).y.values.tolist() == [1, 4, 9]


def test_a_result_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: Any) -> None:
    results.write(tmp_path / "result.nc", xr.Dataset({"y": 1}))

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match=r"No space left on device: '.*result.nc'"):
        results.write(tmp_path / "result.nc", xr.Dataset({"y": 2}))
    assert [path.name for path in tmp_path.iterdir()] == ["result.nc"]
    assert int(results.read(tmp_path / "result.nc").y) == 1


def test_damaged_files_are_no_results(tmp_path: Path) -> None:
    study = lbm.Study(square, {"x": [1, 2, 3]}, tmp_path / "study")
    run(study)
    one, two, three = sorted((tmp_path / "study").glob("x=*"))
    (one / "record.json").write_text("{")
    (two / "result.nc").write_bytes(b"damaged")
    (three / "result.nc").unlink()
    assert study.results().status.values.tolist() == ["waiting", "failed", "waiting"]
    run(study)
    assert attempts(tmp_path / "study") == 5
    assert study.results().status.values.tolist() == ["done", "failed", "done"]  # that file may be all there is of it


def test_a_study_is_run_by_one_process_and_read_by_any(tmp_path: Path) -> None:
    study = lbm.Study(square, {"x": [1]}, tmp_path / "study")
    lock = FolderLock(tmp_path / "study")
    assert study.results().status.values.tolist() == ["waiting"]
    with pytest.raises(OSError, match="in use by process"):
        run(study)
    lock.release()
    assert run(study).status.values.tolist() == ["done"]


def test_optimisers_ask_for_results(tmp_path: Path) -> None:
    study = lbm.Study(square, ["x", "power"], tmp_path / "study")
    with pytest.raises(ValueError, match="names alone were given"):
        run(study)

    def excess(x: float) -> float:
        return float(study.ask(x=x, power=2, executor=Inline()).y) - 2

    root = scipy.optimize.brentq(excess, 0, 2, xtol=1e-3)
    assert root == pytest.approx(np.sqrt(2), abs=1e-3)
    asked = attempts(tmp_path / "study")
    assert asked == len(study.cases()) > 4
    assert scipy.optimize.brentq(excess, 0, 2, xtol=1e-3) == root  # all of it is known
    assert attempts(tmp_path / "study") == asked
    assert np.isclose(study.results().x, root).any()

    study.tell({"y": -1.0}, x=7, power=2)
    assert float(study.ask(x=7, power=2).y) == -1
    several = study.ask([{"x": 7, "power": 2}, {"x": 3, "power": 3}], executor=Inline())
    assert several.y.values.tolist() == [-1, 27]
    with pytest.raises(ValueError, match="none named 'power'"):
        study.ask(x=1)
    with pytest.raises(TypeError, match="and x as arguments; give one"):
        study.ask({"x": 1, "power": 2}, x=1)


def test_a_case_that_was_asked_for_and_fails_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match=r"how=raises: failed: ValueError: it broke"):
        lbm.Study(broken, ["how"], tmp_path / "study").ask(how="raises", executor=Inline())


def test_the_overview_is_text_and_html(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    study = lbm.Study(broken, {"how": ["fine", "raises", "<b>"]}, tmp_path / "study")
    run(study)
    study.status()
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("study broken, 3 cases: 2 done, 1 failed (")
    assert lines[1].split()[:2] == ["how", "status"]
    assert lines[3].split()[:2] == ["raises", "failed"]
    assert "<td>&lt;b&gt;</td>" in study._repr_html_()


def look(case: Any, x: int) -> dict[str, Any]:
    """Shows the overview of its own study while it runs."""
    study = lbm.Study(look, {"x": [1]}, case.folder.parent)
    solver = case.solver(cavity((16, 16), "D2Q9"), lbm.TRT(0.1))
    case.run(solver, 100, callbacks=[lbm.Every(50, lambda solver: solver.steps == 50 and study.status())])
    case.progress(1, 3, "thinking")
    study.status()
    return {"mlups": case.mlups}


def test_a_running_case_tells_how_far_it_is(
    tmp_path: Path, monkeypatch: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("lbmgpu.study.case.SECONDS_BETWEEN", 0.0)
    found = run(lbm.Study(look, {"x": [1]}, tmp_path / "study"))
    assert float(found.mlups[0]) > 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[1:4] for line in lines if line.startswith("1 ")] == [
        ["running", "50", "%"],
        ["running", "33", "%"],
    ]
    assert lines[-1].endswith("thinking")


def test_a_bar_counts_the_cases(tmp_path: Path, monkeypatch: Any, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("lbmgpu.solver.progress.watched", lambda: True)
    monkeypatch.setattr("lbmgpu.study.bar.SECONDS_BETWEEN", 0.0)
    study = lbm.Study(broken, {"how": ["fine", "raises"]}, tmp_path / "study")
    study.run(executor=Inline(), progress=True)
    bar = capsys.readouterr().err.split("\r")[-1]
    assert "2.0/2 cases [" in bar
    assert "1 without result" in bar
    study.run(executor=Inline(), progress=False)
    assert "cases [" not in capsys.readouterr().err


def test_a_child_that_a_function_forks_leaves_nothing(tmp_path: Path) -> None:
    def forks(case: Any, x: int) -> dict[str, Any]:
        child = os.fork()
        if child:
            _, status = os.waitpid(child, 0)
            return {"child": os.waitstatus_to_exitcode(status)}
        if x:
            raise ValueError("in the child")
        return {"child": -1}

    found = run(lbm.Study(forks, {"x": [0, 1]}, tmp_path / "study"))
    assert found.status.values.tolist() == ["done", "done"]
    assert found.child.values.tolist() == [0, 1]


def test_what_another_process_did_until_now_is_not_done_again(tmp_path: Path, monkeypatch: Any) -> None:
    study, other = (lbm.Study(square, {"x": [1, 2]}, tmp_path / "study") for _ in range(2))
    locked = study._locked

    def late() -> Any:
        run(other)
        return locked()

    monkeypatch.setattr(study, "_locked", late)
    assert run(study).y.values.tolist() == [1, 4]
    assert attempts(tmp_path / "study") == 2


def take(case: Any) -> None:
    """Make the case another process's."""
    case._records.write(records.replace(case._records.record(), host="other", process=1, started=5.0))


def test_an_attempt_that_lost_its_case_fails_without_a_trace(tmp_path: Path) -> None:
    def fails(case: Any, x: int) -> None:
        take(case)
        raise FileNotFoundError("removed by the other attempt")

    study = lbm.Study(fails, {"x": [1]}, tmp_path / "study")
    run(study)
    assert study.cases()[["host", "message"]].values.tolist() == [["other", ""]]


def test_an_attempt_that_lost_its_case_leaves_the_others_checkpoint(tmp_path: Path) -> None:
    def saves(case: Any, x: int) -> None:
        solver = case.solver(cavity((8, 8), "D2Q9"), lbm.TRT(0.1))
        case.save(solver)
        take(case)
        solver.step(3)
        case.save(solver)

    run(lbm.Study(saves, {"x": [1]}, tmp_path / "study"))
    assert [path.name for path in (tmp_path / "study").glob("*/checkpoint*.h5")] == ["checkpoint-solver-0.h5"]


def test_results_keep_their_bits_whatever_their_attributes_say(tmp_path: Path) -> None:
    packed = xr.Dataset({"y": ("i", [0.1234567, -1.0])}, coords={"i": [1.0, 2.0]})
    packed.y.encoding = {"dtype": np.int16, "scale_factor": 0.01}
    attributes = {"missing_value": -1.0, "_FillValue": -1.0, "scale_factor": 0.5, "add_offset": 2.0, "units": "days"}
    packed["z"] = ("i", [1.5, -1.0], attributes)
    packed["is_on"] = ("i", [True, False], {"missing_value": 0, "note": "kept"})
    packed["name"] = ("i", ["a", ""], {"_FillValue": "a"})
    packed["n"] = ("i", np.array([1, 0], np.uint8), {"dtype": "bool", "coordinates": "none"})
    packed = packed.assign_coords(i=("i", [1.0, 2.0], {"missing_value": 1.0}))
    for number, result in enumerate((packed, packed.assign(t=("i", np.array(["2026-01-01", "NaT"], "M8[ns]"))))):
        results.write(tmp_path / f"{number}.nc", result)
        found = results.read(tmp_path / f"{number}.nc")
        assert found.identical(result)
        assert all(found[name].dtype == one.dtype for name, one in result.variables.items())
    assert packed.z.attrs == attributes  # the function's own is as it was


class CannotBeLoaded:
    """What becomes an error in a worker."""

    def __reduce__(self) -> Any:
        return (int, ("x",))


def test_a_case_that_cannot_be_loaded_keeps_its_parameters(tmp_path: Path) -> None:
    given = CannotBeLoaded()
    study = lbm.Study(lambda case, x: {"y": given}, ["x"], tmp_path / "study", version=2)
    with pytest.raises(RuntimeError, match="failed: ValueError"):
        study.ask(x=1.5, executor=Inline())
    found = study.results()
    assert (found.x.values.tolist(), found.status.values.tolist()) == ([1.5], ["failed"])
    assert study.cases().attempts.tolist() == [1]
    (record,) = (tmp_path / "study").glob("*/record.json")
    record.write_text(record.read_text().replace('"x"', '"other"'))
    assert study.results().sizes["case"] == 0  # a record that is none of this study


def test_a_folder_is_a_studys_although_its_beginning_was_killed(tmp_path: Path) -> None:
    (tmp_path / ".tmp-host-12-0123abcd-study.json").touch()
    (tmp_path / "lbmgpu.lock").touch()
    lbm.Study(square, {"x": [1]}, tmp_path)
    assert (tmp_path / records.STUDY).is_file()


def test_steps_are_no_progress_of_a_case_that_counts_parts(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("lbmgpu.study.case.SECONDS_BETWEEN", 0.0)

    def parts(case: Any, x: int) -> dict[str, Any]:
        case.progress(1, 10, "parts")
        case.solver(cavity((8, 8), "D2Q9"), lbm.TRT(0.1)).run(50)
        progress = case._records.progress()
        return {"done": progress.done, "total": progress.total}

    found = run(lbm.Study(parts, {"x": [1]}, tmp_path / "study"))
    assert (float(found.done[0]), float(found.total[0])) == (1, 10)


def test_the_record_has_the_device_that_a_worker_found_itself(tmp_path: Path) -> None:
    study = lbm.Study(square, {"x": [1]}, tmp_path / "study")
    run(study)
    assert study.cases().device.tolist() == [available()[0]]


def test_a_lambda_has_no_other_source_in_another_statement(tmp_path: Path) -> None:
    texts = []
    for number, rest in enumerate(('{"x": [1]}', '{"x": [1, 2]}, 3')):
        path = tmp_path / f"{number}.py"
        path.write_text(f"found = [(lambda case, x: x + 1, lambda case, x: x + 2),\n    {rest}]\n")
        names: dict[str, Any] = {}
        exec(compile(path.read_text(), str(path), "exec"), names)
        texts.append([source_of(function) for function in names["found"][0]])
    assert texts[0] == texts[1] == ["lambda case, x: x + 1", "lambda case, x: x + 2"]
    names = {}
    exec("one, other = lambda case, x: x + 1, lambda case, x: x + 2", names)  # no text at all
    assert source_of(names["one"]) != source_of(names["other"])


def test_the_arguments_of_a_partial_function_are_of_its_source() -> None:
    sources = [source_of(functools.partial(square, power=power)) for power in (2, 3, 2)]
    assert sources[0] == sources[2] != sources[1]
    assert not same(sources[0], sources[1])
    assert source_of(functools.partial(square, power=object())) == source_of(functools.partial(square, power=object()))


def test_one_result_is_told_of_one_case(tmp_path: Path) -> None:
    study = lbm.Study(square, {"x": [1, 2]}, tmp_path / "study")
    with pytest.raises(TypeError, match=r"tell: .* must be the parameters of one case"):
        study.tell({"y": 1}, [{"x": 1}, {"x": 2}])  # type: ignore[arg-type]


def test_a_result_that_was_told_is_taken_back(tmp_path: Path) -> None:
    study = lbm.Study(square, ["x"], tmp_path / "study")
    study.ask(x=2, executor=Inline())
    study.tell({"y": "wrong"}, x=3)
    with pytest.raises(ValueError, match="text"):
        study.results()
    study.forget(x=3)
    assert study.results().y.values.tolist() == [4]
    assert float(study.ask(x=3, executor=Inline()).y) == 9
    study.forget({"x": 2})  # one that was computed too
    assert study.results().x.values.tolist() == [3]
    for given, error in [({"x": 2}, "forget: x=2 given, of which nothing is known"), ({"z": 1}, "'z'")]:
        with pytest.raises(ValueError, match=error):
            study.forget(given)
    with pytest.raises(TypeError, match=r"forget: .* must be the parameters of one case"):
        study.forget([{"x": 3}])  # type: ignore[arg-type]


class Loses:
    """An engine that loses its jobs."""

    def submit(self, function: Any, /, *arguments: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_exception(OSError("lost"))
        return future


def test_the_time_since_an_attempt_of_an_earlier_run_is_not_counted(tmp_path: Path) -> None:
    study = lbm.Study(square, {"x": [1]}, tmp_path / "study")
    folder = study._folder(study._table.sets[0])
    folder.make()
    before = records.now() - 7200
    folder.write(records.Record(records.RUNNING, seconds=3.0, attempts=1, started=before, source=study._source))
    study.run(executor=Loses(), progress=False)
    assert study.cases()[["status", "seconds"]].values.tolist() == [["killed", 3.0]]
