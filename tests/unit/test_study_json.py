"""Tests of studies of JSON cases: the lists that are parameters, the command line, and going on after a kill."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
import xarray as xr

import lbmgpu as lbm
from lbmgpu.case.sweep import swept
from lbmgpu.cli import main
from lbmgpu.study import json_case
from lbmgpu.study.json_case import study_of

from .study_support import run

CASE: dict[str, Any] = {
    "domain": {"shape": [22, 12], "stencil": "D2Q9"},
    "collision": {"model": "TRT", "reynolds": 10, "length": 4, "velocity": 0.05},
    "faces": {
        "-x": {"condition": "velocity-inlet", "velocity": [0.05, 0.0]},
        "+x": {"condition": "pressure-outlet", "density": 1},
    },
    "bodies": [{"name": "post", "shape": "cylinder", "center": [8, 6], "radius": 2}],
    "run": {"steps": 40},
}


def case_with(**changes: Any) -> dict[str, Any]:
    """The case with other values at places such as ``collision__reynolds``."""
    case = copy.deepcopy(CASE)
    for place, value in changes.items():
        *path, last = place.split("__")
        entry: Any = case
        for key in path:
            entry = entry[int(key)] if key.isdigit() else entry[{"inlet": "-x", "below": "-y"}.get(key, key)]
        entry[{"below": "-y"}.get(last, last)] = value
    return case


def written(folder: Path, **changes: Any) -> Path:
    path = folder / "cylinder.json"
    path.write_text(json.dumps(case_with(**changes)))
    return path


PROFILES = [{"profile": "parabolic", "direction": "x", "max": value, "across": ["y"]} for value in (0.05, 0.06)]


@pytest.mark.parametrize(
    ("changes", "values"),
    [
        ({"collision__reynolds": [10, 20]}, {"collision.reynolds": [10, 20]}),
        ({"domain__shape": [[22, 12], [33, 12]]}, {"domain.shape": [[22, 12], [33, 12]]}),
        ({"domain__shape": [[20, 30], 12]}, {"domain.shape[0]": [20, 30]}),
        ({"collision__model": ["TRT", "BGK"]}, {"collision.model": ["TRT", "BGK"]}),
        ({"bodies__0__radius": [2, 2.5]}, {"bodies[0].radius": [2, 2.5]}),
        ({"bodies__0__center": [[8, 6], [9, 6]]}, {"bodies[0].center": [[8, 6], [9, 6]]}),
        ({"bodies": [CASE["bodies"], []]}, {"bodies": [CASE["bodies"], []]}),
        ({"faces__inlet__velocity": [[0.05, 0], [0.06, 0]]}, {"faces['-x'].velocity": [[0.05, 0], [0.06, 0]]}),
        ({"faces__inlet__velocity": PROFILES}, {"faces['-x'].velocity": PROFILES}),
        ({"faces__below": [{"condition": "no-slip"}]}, {"faces['-y']": [{"condition": "no-slip"}]}),
        ({"precision": ["float32", "float64"]}, {"precision": ["float32", "float64"]}),
        ({"run__steps": [10, 20], "run__log": [{"every": 5}]}, {"run.steps": [10, 20], "run.log": [{"every": 5}]}),
        (
            {"collision__length": [4, 5], "domain__shape": [[22, 12]], "collision__velocity": [0.05]},
            {"domain.shape": [[22, 12]], "collision.length": [4, 5], "collision.velocity": [0.05]},
        ),
        ({}, {}),
    ],
)
def test_lists_in_place_of_values_are_found(changes: dict[str, Any], values: dict[str, Any]) -> None:
    found = swept(case_with(**changes))
    assert found.values == values
    assert list(found.values) == list(values)
    assert all(found.case({name: entry[-1]}) for name, entry in values.items())


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        (
            {"collision__reynolds": [10, -1]},
            r"\$.collision.reynolds: -1 given, must be above 0 \(of collision.reynolds=-1\)",
        ),
        ({"collision__reynolds": []}, r"\$.collision.reynolds: \[\] given"),
        ({"collision__reynolds": [[10]]}, r"\$.collision.reynolds: \[10\] given"),
        ({"collision__model": ["TRT", "TTT"]}, r"\$.collision.model: 'TTT' given.*did you mean 'TRT'"),
        ({"run__stepps": [1, 2]}, "unknown key"),
        ({}, "no list in place of a value"),
    ],
)
def test_every_case_is_checked_before_anything_starts(changes: dict[str, Any], error: str, tmp_path: Path) -> None:
    with pytest.raises(lbm.CaseError, match=error):
        study_of(written(tmp_path, **changes), tmp_path / "study")
    assert not (tmp_path / "study").exists()


def test_a_study_of_a_case_has_its_numbers_and_forces(tmp_path: Path) -> None:
    study = study_of(written(tmp_path, collision__reynolds=[10, 20], bodies__0__radius=[2, 2.6]), tmp_path / "study")
    found = run(study)
    assert found.force.dims == ("collision.reynolds", "bodies[0].radius", "body", "axis")
    single = tmp_path / "single.json"
    single.write_text(
        json.dumps(case_with(collision__reynolds=20, bodies__0__radius=2.6) | {"output": {"checkpoint": {}}})
    )
    lbm.case.run_case(single, folder=tmp_path / "single", device="cpu")
    solver = lbm.Solver.load(tmp_path / "single" / "checkpoint.h5")
    one = found.sel({"collision.reynolds": 20, "bodies[0].radius": 2.6})
    assert np.array_equal(one.force.sel(body="post"), solver.body_force("post"))
    assert float(one.mass) == solver.mass()
    assert float(one.kinetic_energy) == solver.kinetic_energy()
    assert float(one.largest_speed) == pytest.approx(float(np.nanmax(np.hypot(*solver.velocity()))))
    assert int(one.steps) == 40
    assert not bool(one.converged)


def test_a_study_of_a_heated_case_has_nusselt_numbers(tmp_path: Path) -> None:
    case = {
        "domain": {"shape": [12, 12], "stencil": "D2Q9"},
        "collision": {"model": "TRT", "viscosity": 0.05},
        "faces": {face: {"condition": "no-slip"} for face in ("-x", "+x", "-y", "+y")},
        "thermal": {
            "diffusivity": [0.05, 0.1],
            "faces": {
                "-x": {"condition": "isothermal", "temperature": 1},
                "+x": {"condition": "isothermal", "temperature": 0},
            },
        },
        "run": {"steps": 3000},
    }
    (tmp_path / "box.json").write_text(json.dumps(case))
    found = run(study_of(tmp_path / "box.json", tmp_path / "study"))
    assert found.nusselt.dims == ("thermal.diffusivity", "place")
    assert np.allclose(np.abs(found.nusselt), 1, atol=1e-3)  # conduction
    assert np.allclose(np.abs(found.heat_flux[:, 0]), [0.05 / 12, 0.1 / 12], rtol=1e-3)


@pytest.mark.slow
def test_the_command_writes_the_dataset_and_runs_what_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path, collision__reynolds=[10, 20], run__steps=[30, 40])
    command = ["study", "cylinder.json", "--devices", "cpu", "--no-progress"]
    assert main([*command, "--zip", "--status"]) == 0
    out = capsys.readouterr().out
    assert "2 cases: 2 waiting" in out
    assert f"no study in {tmp_path / 'cylinder'} yet" in out
    assert [path.name for path in tmp_path.iterdir()] == ["cylinder.json"]
    assert main([*command, "--zip", "--per-device", "1", "--retry", "1"]) == 0
    out = capsys.readouterr().out
    assert "2 cases: 2 done" in out
    assert "wrote" in out
    with xr.open_dataset(tmp_path / "cylinder" / "study.nc", engine="h5netcdf") as found:
        assert found["collision.reynolds"].values.tolist() == [10, 20]
        assert found.steps.values.tolist() == [30, 40]
    table = pandas.read_csv(tmp_path / "cylinder" / "study.csv")
    assert table["steps"].tolist() == [30, 40]
    assert {"collision.reynolds", "force[post,x]", "force[post,y]", "status"} <= set(table.columns)
    assert main([*command, "--zip"]) == 0
    assert sorted(study_of("cylinder.json", combine="zip").cases().attempts) == [1, 1]
    written(tmp_path, collision__reynolds=[10, 20], run__steps=[30, 40], collision__length=5)
    changed = study_of("cylinder.json", combine="zip")
    with pytest.warns(lbm.StudyChangedWarning):
        run(changed)
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "cylinder").rglob("*")}
    written(tmp_path, collision__reynolds=[10, 20], run__steps=[30, 40], collision__length=6)
    assert main([*command, "--zip", "--status"]) == 0
    assert "yet" not in capsys.readouterr().out
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "cylinder").rglob("*")} == before
    assert main([*command, "--zip", "--rerun"]) == 0
    assert sorted(study_of("cylinder.json", combine="zip").cases().attempts) == [1, 1]
    with xr.open_dataset(tmp_path / "cylinder" / "study.nc", engine="h5netcdf") as found:
        assert found.steps.values.tolist() == [30, 40]


def test_a_file_of_another_name_goes_on_with_its_study(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, collision__reynolds=[10, 20])
    run(study_of(path, tmp_path / "study"))
    path = path.rename(tmp_path / "post.json")
    assert main(["study", str(path), "--output", str(tmp_path / "study"), "--status"]) == 0
    assert "study post, 2 cases: 2 done" in capsys.readouterr().out
    assert study_of(path, tmp_path / "study").cases().status.tolist() == ["done", "done"]
    other = written(tmp_path, collision__reynolds=10, bodies__0__radius=[1, 2])
    with pytest.raises(ValueError, match=r"the parameters collision.reynolds there, bodies\[0\].radius here"):
        study_of(other, tmp_path / "study")
    with pytest.raises(ValueError, match="the function 'JSON case' there, '<lambda>' here"):
        lbm.Study(lambda case, **given: {}, {"collision.reynolds": [10]}, tmp_path / "study")


def test_the_command_tells_of_wrong_studies(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, collision__reynolds=[10, -20])
    assert main(["study", str(path), "--output", str(tmp_path / "study")]) == 2
    assert "$.collision.reynolds: -20 given, must be above 0" in capsys.readouterr().err
    assert main(["study", str(tmp_path / "none.json")]) == 2
    path = written(tmp_path, collision__reynolds=[10, 20, 30], bodies__0__radius=[1, 2])
    assert main(["study", str(path), "--zip", "--output", str(tmp_path / "study")]) == 2
    assert "all must have as many values" in capsys.readouterr().err


class Stop(Exception):
    """Stands for a kill."""


@pytest.mark.parametrize("where", ["while it runs", "when it is steady", "when its files are written", "at the end"])
def test_a_case_that_is_killed_ends_at_the_same_step(
    where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steady = {"tolerance": 3e-2, "every": 20}
    changes = {"collision__reynolds": [10], "run__steps": 2000, "run__steady": steady}
    changes["output"] = {"checkpoint": {"every": 40}, "forces": {"every": 10}}
    expected = run(study_of(written(tmp_path, **changes), tmp_path / "whole"))
    assert bool(expected.converged[0])
    last = int(expected.steps[0])
    assert last % 40 == 0 or where != "when it is steady"

    def stops(*arguments: Any, **named: Any) -> None:
        raise Stop

    if where == "while it runs":
        monkeypatch.setattr("lbmgpu.case.run.Checkpoint.__call__", after(2, lbm.Checkpoint.__call__, stops))
    elif where == "when it is steady":
        monkeypatch.setattr(json_case, "numbers", stops)
    elif where == "when its files are written":
        monkeypatch.setattr("lbmgpu.case.run._leave", stops)
    else:
        monkeypatch.setattr("lbmgpu.study.results.write", stops)
    study = study_of(written(tmp_path, **changes), tmp_path / "study")
    assert run(study).status.values.tolist() == ["failed"]
    monkeypatch.undo()
    found = run(study)
    assert found.identical(expected)
    tables = [next((tmp_path / name).glob("*/forces.csv")).read_text() for name in ("whole", "study")]
    assert tables[0] == tables[1]


@pytest.mark.filterwarnings("ignore::lbmgpu.MissingResultsWarning")
def test_a_case_that_ran_on_another_host_goes_on_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    changes = {"collision__reynolds": [10, 20], "run__steps": 100, "output": {"checkpoint": {"every": 40}}}
    expected = run(study_of(written(tmp_path, **changes), tmp_path / "whole"))

    def killed(*arguments: Any, **named: Any) -> None:
        """Leave what a kill leaves on a host that this one knows nothing of."""
        for path in (tmp_path / "study").glob("*/record.json"):
            record = json.loads(path.read_text()) | {"status": "running", "host": "elsewhere"}
            path.write_text(json.dumps(record))
            if list(path.parent.glob("lbmgpu.lock")):
                lock = {"host": "elsewhere", "process": 17, "started": "1"}
                (path.parent / "kept.lock").write_text(json.dumps(lock))
        raise Stop

    monkeypatch.setattr(json_case, "numbers", killed)
    run(study_of(written(tmp_path, **changes), tmp_path / "study"))
    for path in (tmp_path / "study").glob("*/kept.lock"):
        path.rename(path.with_name("lbmgpu.lock"))
    monkeypatch.undo()
    found = run(study_of(written(tmp_path, **changes), tmp_path / "study"))
    assert found.message.values.tolist() == ["", ""]
    assert found.identical(expected)
    assert not list((tmp_path / "study").glob("*/lbmgpu.lock"))


def after(count: int, function: Any, then: Any) -> Any:
    """A function that becomes another one after so many calls."""
    calls: list[int] = []

    def called(*arguments: Any) -> Any:
        calls.append(1)
        return function(*arguments) if len(calls) <= count else then()

    return called


def test_files_of_a_case_are_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mask = np.zeros((22, 12), bool)
    mask[8:10, 4:8] = True
    np.save(tmp_path / "mask.npy", mask)
    bodies = [{"name": "post", "shape": "mask", "file": "mask.npy"}]
    path = written(tmp_path, collision__reynolds=[10], bodies=bodies)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    found = run(study_of(os.path.relpath(path), tmp_path / "study"))
    assert found.status.values.tolist() == ["done"], found.message.values


LOADS = """
import pickle
import sys
from pathlib import Path
from lbmgpu.case.sweep import Sweep
from lbmgpu.study.json_case import JsonCase

def show():
    print([name in sys.modules for name in ("jsonschema", "tqdm.contrib.logging", "pyevtk.hl", "matplotlib")])

case = pickle.dumps(JsonCase(Sweep({"output": {"vtk": True}}, {}, {}), Path("case.json")))
show()
pickle.loads(case)
show()
"""


def test_a_worker_loads_what_a_json_case_needs_before_it_counts_the_time() -> None:
    found = subprocess.run([sys.executable, "-c", LOADS], capture_output=True, text=True, check=True)
    assert found.stdout.splitlines() == ["[False, False, False, False]", "[True, True, True, False]"]
