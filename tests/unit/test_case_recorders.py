"""Tests of recorders in case files: how entries become recorders and files, by a recorder of the tests."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import lbmgpu as lbm
from lbmgpu.case import read, recorders, run_case
from lbmgpu.errors import CaseError


class Energy(lbm.Recorder):
    """The kinetic energy after steps, and if there is a path a file for each of them."""

    def __init__(
        self, *places: str, path: Path | None = None, scale: float = 1.0, every: int = 1, start: int = 0, name: str = ""
    ) -> None:
        super().__init__(every, start, name)
        self.places, self.path, self.scale = places, path, scale
        self.rows: list[tuple[int, float]] = []

    def attach(self, solver: lbm.Solver) -> None:
        for place in self.places:
            if place not in solver.domain.bodies:
                raise ValueError(f"fields: {place!r} given, which is no body")

    def sample(self, solver: lbm.Solver) -> None:
        self.rows.append((solver.steps, self.scale * solver.kinetic_energy()))
        if self.path is not None:
            Path(str(self.path).format(step=solver.steps)).write_text(repr(self.rows[-1]))

    def to_csv(self, path: Path) -> None:
        path.write_text("".join(f"{step},{energy!r}\n" for step, energy in self.rows))


@pytest.fixture(autouse=True)
def kinds(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A table with two more entries: one whose file the case writes, and one that writes files by itself."""
    module = ModuleType("lbmgpu.output.energy")
    module.Energy = Energy  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "lbmgpu.output.energy", module)
    names, scale = recorders.NAMES, {"scale": recorders.POSITIVE}
    history = recorders.Kind(
        "output.energy.Energy", names, scale, leads="*", ending=".csv", write=recorders.write_table
    )
    files = recorders.Kind("output.energy.Energy", recorders.PATH, scale, required=["scale"])
    monkeypatch.setattr(recorders, "KINDS", recorders.KINDS | {"energies": history, "energy": files})
    monkeypatch.setattr("lbmgpu.case.record.KINDS", recorders.KINDS)
    for cached in (read.schema, read.validator):
        cached.cache_clear()
    yield
    for cached in (read.schema, read.validator):
        cached.cache_clear()


CASE: dict[str, Any] = {
    "domain": {"shape": [12, 8], "stencil": "D2Q9"},
    "collision": {"model": "BGK", "viscosity": 0.1},
    "precision": "float64",
    "bodies": [{"name": "stone", "shape": "box", "low": [3, 3], "high": [5, 5]}],
    "force": [1e-5, 0],
    "run": {"steps": 60, "device": "cpu", "threads": 1},
}
OUTPUT: list[dict[str, Any]] = [
    {"folder": "out"},
    {"checkpoint": {"every": 20}},
    {"image": {}},
    {"energies": ["stone"], "every": 10, "start": 20, "file": "tables/energy.csv", "scale": 2},
    {"energy": "frames/{step:04d}.txt", "every": 15, "scale": 1},
]


def write(path: Path, output: Any, **run: Any) -> Path:
    path.write_text(json.dumps(CASE | {"output": output, "run": CASE["run"] | run}))
    return path


def wanted(steps: int) -> float:
    domain = lbm.Domain((12, 8), "D2Q9")
    mask = np.zeros(domain.shape, dtype=bool)
    mask[3:5, 3:5] = True
    domain.add_body(mask, "stone")
    solver = lbm.Solver(domain, lbm.BGK(0.1), force=(1e-5, 0), precision="float64", device="cpu", threads=1)
    solver.initialize()
    solver.step(steps)
    return solver.kinetic_energy()


def files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def test_entries_record_beside_what_the_output_had_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run_case(write(tmp_path / "case.json", OUTPUT), progress=False)
    frames = {f"frames/{step:04d}.txt" for step in (15, 30, 45, 60)}
    assert files(tmp_path / "out") == {"run.log", "checkpoint.h5", "speed.png", "tables/energy.csv", *frames}
    rows = [line.split(",") for line in (tmp_path / "out" / "tables" / "energy.csv").read_text().splitlines()]
    assert [int(step) for step, _ in rows] == [20, 30, 40, 50, 60]
    assert float(rows[-1][1]) == pytest.approx(2 * wanted(60), rel=1e-12)


def test_an_output_that_is_an_object_is_what_it_was(tmp_path: Path) -> None:
    run_case(write(tmp_path / "case.json", {"checkpoint": {}, "forces": {"every": 20}}), folder=tmp_path / "out")
    assert files(tmp_path / "out") == {"run.log", "checkpoint.h5", "forces.csv"}


def test_tables_of_a_list_are_those_of_an_object(tmp_path: Path) -> None:
    entries = {"forces": {"every": 20}, "centrelines": {"reference": "ghia_1982_re100", "velocity": 0.1}}
    run_case(write(tmp_path / "one.json", [{"forces": {"every": 20}}]), folder=tmp_path / "list", progress=False)
    run_case(write(tmp_path / "two.json", {"forces": {"every": 20}}), folder=tmp_path / "object", progress=False)
    assert (tmp_path / "list" / "forces.csv").read_text() == (tmp_path / "object" / "forces.csv").read_text()
    assert recorders.plain({"output": [{key: entry} for key, entry in entries.items()]}) == entries


def test_a_restart_leaves_the_numbered_files_of_the_whole_run(tmp_path: Path) -> None:
    path = write(tmp_path / "case.json", OUTPUT)
    run_case(path, folder=tmp_path / "whole", progress=False)
    run_case(path, folder=tmp_path / "parts", steps=40, progress=False)
    run_case(path, folder=tmp_path / "parts", restart=tmp_path / "parts" / "checkpoint.h5", progress=False)
    assert files(tmp_path / "parts") == files(tmp_path / "whole")
    for name in files(tmp_path / "whole"):
        if name.startswith("frames"):
            assert (tmp_path / "parts" / name).read_text() == (tmp_path / "whole" / name).read_text()


def test_a_run_that_diverges_leaves_its_histories(tmp_path: Path) -> None:
    case = json.loads(write(tmp_path / "case.json", [OUTPUT[3]], steps=20_000).read_text())
    case |= {"force": [0.01, 0], "collision": {"model": "BGK", "viscosity": 0.001}}
    (tmp_path / "case.json").write_text(json.dumps(case))
    with pytest.raises(lbm.DivergedError):
        run_case(tmp_path / "case.json", folder=tmp_path / "out", progress=False)
    assert (tmp_path / "out" / "tables" / "energy.csv").stat().st_size > 0


def test_a_history_is_written_beside_each_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    monkeypatch.setattr(Energy, "to_csv", lambda self, path: seen.append(len(self.rows)))
    run_case(write(tmp_path / "case.json", OUTPUT), folder=tmp_path / "out", progress=False)
    assert seen == [1, 3, 5, 5]


@pytest.mark.parametrize(
    ("output", "place", "message"),
    [
        (
            [{"energies": ["stone"], "evry": 2}],
            "$.output[0].evry",
            "must be one of energies, scale, every",
        ),
        ([{"energies": []}], "$.output[0].energies", "at least 1"),
        ([{"energy": "x"}], "$.output[0]", "lacks 'scale'"),
        ([{"energy": "x", "scale": 0}], "$.output[0].scale", "must be above 0"),
        ([{"energies": ["stone"], "every": 0}], "$.output[0].every", "must be at least 1"),
        ([{"folder": "a"}, {"energies": ["rock"]}], "$.output[1].energies", "'rock' given, which is no body"),
        ([{"enrgy": "x"}], "$.output[0].enrgy", "unknown key"),
        ([{}], "$.output[0]", "at least 1 key"),
        ([{"folder": "a"}, {"folder": "b"}], "$.output[1]", "key 'folder': given in output[0] already"),
        ([{"energies": ["stone"]}] * 2, "$.output[1]", "file 'energies.csv': given in output[0] already"),
        ([{"energies": ["stone"], "file": "run.log"}], "$.output[0]", "given, must be another name than run.log"),
        (
            [{"forces": {"every": 2}}, {"energies": ["stone"], "file": "forces.csv"}],
            "$.output[1]",
            "file 'forces.csv': given in output[0] already",
        ),
        ([{"heat": {"every": 2}}], "$.output[0].heat", "the case has no temperature"),
        ([{"image": {"field": "temperature"}}], "$.output[0].image", "the case has no temperature"),
        ("all", "$.output", "must be an object or an array"),
    ],
)
def test_a_wrong_entry_is_named(output: Any, place: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(CaseError) as caught:
        run_case(write(tmp_path / "case.json", output), folder=tmp_path / "out", progress=False)
    assert len(caught.value.problems) == 1, caught.value.problems
    where, text = caught.value.problems[0]
    assert where == place or where.startswith(place + "."), caught.value.problems
    assert message in text


def test_modules_of_recorders_are_known(tmp_path: Path) -> None:
    case = read.read_case(write(tmp_path / "case.json", OUTPUT))
    assert recorders.modules(case) == ["lbmgpu.output.energy"] * 2
