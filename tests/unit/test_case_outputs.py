"""Tests of what recorders leave that cases ask for: pictures, series, statistics and histories, across a restart."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image as Pillow

import lbmgpu as lbm
from lbmgpu.case import run_case

CASE: dict[str, Any] = {
    "domain": {"shape": [16, 12], "stencil": "D2Q9"},
    "collision": {"model": "BGK", "viscosity": 0.1},
    "precision": "float64",
    "faces": {"-y": {"condition": "no-slip"}, "+y": {"condition": "no-slip"}},
    "bodies": [{"name": "stone", "shape": "box", "low": [3, 3], "high": [5, 5]}],
    "force": [1e-5, 0],
    "run": {"steps": 40, "device": "cpu", "threads": 1},
}


def run(folder: Path, output: list[dict[str, Any]], **more: Any) -> Path:
    """Run the case in two parts and at once; the folder of the two parts, whose files are those of the whole."""
    path = folder / "case.json"
    path.write_text(json.dumps(CASE | {"output": [{"checkpoint": {"every": 20}}, *output]} | more))
    run_case(path, folder=folder / "whole", progress=False)
    run_case(path, folder=folder / "parts", steps=20, progress=False)
    run_case(path, folder=folder / "parts", restart=folder / "parts" / "checkpoint.h5", progress=False)
    names = [{str(f.relative_to(folder / part)) for f in (folder / part).rglob("*")} for part in ("whole", "parts")]
    assert names[0] == names[1]
    return folder / "parts"


def solver() -> lbm.Solver:
    domain = lbm.Domain((16, 12), "D2Q9")
    domain.faces["-y"] = domain.faces["+y"] = lbm.NoSlip()
    mask = np.zeros(domain.shape, dtype=bool)
    mask[3:5, 3:5] = True
    domain.add_body(mask, "stone")
    made = lbm.Solver(domain, lbm.BGK(0.1), force=(1e-5, 0), precision="float64", device="cpu", threads=1)
    made.initialize()
    return made


def states(every: int) -> list[lbm.Solver]:
    """Solvers after the steps of a run that are multiples of this."""
    found = []
    for steps in range(every, 41, every):
        made = solver()
        made.step(steps)
        found.append(made)
    return found


def rows(path: Path) -> tuple[list[str], np.ndarray]:
    header, *lines = csv.reader(path.open())
    return header, np.array(lines, dtype=float)


def test_pictures_are_numbered(tmp_path: Path) -> None:
    folder = run(tmp_path, [{"image": "pictures/speed_{step:04d}.png", "every": 10, "field": "speed", "dpi": 40}])
    assert sorted(path.name for path in (folder / "pictures").iterdir()) == [
        f"speed_{step:04d}.png" for step in (0, 10, 20, 30, 40)
    ]


def test_a_movie_is_made(tmp_path: Path) -> None:
    folder = run(tmp_path, [{"movie": "wake.gif", "every": 10, "fps": 5, "dpi": 30}])
    assert frames_of(folder / "wake.gif") == 5
    assert not (folder / "wake.gif.frames").exists()  # as the movie is complete


def frames_of(path: Path) -> int:
    with Pillow.open(path) as picture:
        return int(picture.n_frames)


def test_frames_stay_until_the_movie_is_complete(tmp_path: Path) -> None:
    path, folder = tmp_path / "case.json", tmp_path / "out"
    path.write_text(json.dumps(CASE | {"output": [{"checkpoint": {}}, {"movie": "wake.gif", "every": 10, "dpi": 30}]}))
    run_case(path, folder=folder, steps=20, progress=False)
    assert len(list((folder / "wake.gif.frames").glob("*.png"))) == 3
    run_case(path, folder=folder, restart=folder / "checkpoint.h5", progress=False)
    assert frames_of(folder / "wake.gif") == 5
    assert not (folder / "wake.gif.frames").exists()
    whole = (folder / "wake.gif").read_bytes()
    run_case(path, folder=folder, steps=60, restart=folder / "checkpoint.h5", progress=False)
    assert frames_of(folder / "wake.gif") == 3  # of steps 40 to 60, while the movie before is kept
    assert (folder / "wake.previous.gif").read_bytes() == whole
    assert "now wake.previous.gif" in (folder / "run.log").read_text()


def test_frames_of_a_run_that_diverges_stay(tmp_path: Path) -> None:
    path, folder = tmp_path / "case.json", tmp_path / "out"
    wild = {"collision": {"model": "BGK", "viscosity": 1e-6}, "force": [0.3, 0.1]}
    output = [{"movie": "wake.gif", "every": 25, "dpi": 20}]
    path.write_text(json.dumps(CASE | wild | {"output": output, "run": {"steps": 500, "device": "cpu"}}))
    with pytest.raises(lbm.DivergedError):
        run_case(path, folder=folder, progress=False)
    assert (folder / "wake.gif.frames" / "frame_000000000000.png").is_file()


def test_a_series_has_all_frames(tmp_path: Path) -> None:
    region = [[2, 10], None]
    folder = run(tmp_path, [{"series": "flow", "fields": ["velocity"], "every": 10, "region": region, "stride": 2}])
    assert (folder / "flow.vtkhdf").is_file()
    assert len([path for path in (folder / "flow").iterdir() if path.name.startswith("0000000000")]) >= 4


def test_statistics_are_those_of_the_states(tmp_path: Path) -> None:
    output = [
        {"mean": ["velocity", "density"], "every": 10},
        {"covariance": ["velocity", ["velocity", "density"]], "every": 10},
        {"maximum": ["velocity"], "every": 10, "file": "stats/most.npz"},
        {"mean": ["velocity"], "over": "x", "every": 10, "file": "profile.npz"},
    ]
    folder = run(tmp_path, output)
    velocities = np.stack([each.velocity() for each in states(10)])
    fluid = ~solver().solid
    mean = np.load(folder / "mean.npz")
    np.testing.assert_allclose(mean["velocity"][:, fluid], velocities.mean(axis=0)[:, fluid], rtol=1e-10, atol=1e-18)
    assert set(mean) == {"samples", "steps", "velocity", "density"}
    assert mean["samples"] == 4
    assert mean["steps"].tolist() == [10, 40]
    assert set(np.load(folder / "covariance.npz")) == {"samples", "steps", "velocity", "velocity_density"}
    most = np.load(folder / "stats" / "most.npz")["velocity"]
    np.testing.assert_allclose(most[:, fluid], velocities.max(axis=0)[:, fluid], rtol=1e-12, atol=1e-18)
    profile = np.load(folder / "profile.npz")
    assert profile["velocity"].shape == (2, 12)
    assert profile["velocity_confidence"].shape == (2, 12)
    again = lbm.flows.read(folder / "mean.npz")
    assert set(again) == {"velocity", "density"}


def test_means_of_a_case_have_their_intervals(tmp_path: Path) -> None:
    few = {"mean": ["velocity"], "over": "x", "every": 20, "file": "few.npz"}
    output = [{"mean": ["velocity", "density"], "batches": 4, "every": 5, "start": 10}, few]
    folder = run(tmp_path, output)
    found = np.load(folder / "mean.npz")
    recorded = solver()
    mean: Any = recorded.record(lbm.Mean("velocity", "density", batches=4, every=5, start=10))
    recorded.run(40)
    for field in ("velocity", "density"):
        np.testing.assert_array_equal(found[f"{field}_confidence"], mean.confidence(field))
    assert found["steps"].tolist() == [10, 40]
    assert set(np.load(folder / "few.npz")) == {"samples", "steps", "velocity"}  # of two batches


def test_histories_have_a_row_for_each_sample(tmp_path: Path) -> None:
    output = [
        {"probe": [[8.5, 6.5], [10.25, 4]], "fields": ["velocity"], "every": 5, "file": "tables/probe.csv"},
        {"line": [[0.5, 6.5], [15.5, 6.5]], "n": 16, "fields": ["density"], "every": 20},
        {"plane": "x", "position": 8.5, "fields": ["velocity"], "every": 20},
        {"forces": "stone", "every": 10},
        {"coefficients": "stone", "speed": 0.01, "area": 2, "every": 10},
        {"flux": "x", "position": 8, "every": 10},
        {"forces": "-y", "every": 10, "file": "wall.csv"},
        {"coefficients": "+y", "speed": 0.01, "area": 16, "every": 20, "file": "friction.csv"},
    ]
    folder = run(tmp_path, output)
    assert list(rows(folder / "tables" / "probe.csv")[1][:, 0]) == list(range(5, 41, 5))
    forces = np.array([each.body_force("stone") for each in states(10)])
    header, table = rows(folder / "forces.csv")
    np.testing.assert_allclose(table[:, 1:3], forces, rtol=1e-12, atol=1e-20)
    assert header[0] == "step"
    walls = np.array([each.face_force("-y") for each in states(10)])
    np.testing.assert_allclose(rows(folder / "wall.csv")[1][:, 1:3], walls, rtol=1e-12, atol=1e-20)
    assert list(rows(folder / "friction.csv")[1][:, 0]) == [20, 40]
    assert list(rows(folder / "coefficients.csv")[1][:, 0]) == [10, 20, 30, 40]
    assert rows(folder / "line.csv")[1].shape == (2, 17)
    assert {"plane.csv", "flux.csv"} <= {path.name for path in folder.iterdir()}
    names = ["forces", "coefficients", "line", "plane", "flux", "wall", "friction"]
    for name in ("tables/probe.csv", *(f"{name}.csv" for name in names)):
        assert (folder / name).read_text() == (tmp_path / "whole" / name).read_text()


def test_heat_of_a_wall_is_recorded(tmp_path: Path) -> None:
    thermal = {"diffusivity": 0.05, "faces": {"-y": {"condition": "isothermal", "temperature": 1}}}
    folder = run(tmp_path, [{"heat_flux": "-y", "every": 10}], thermal=thermal)
    assert rows(folder / "heat_flux.csv")[1].shape == (4, 2)


@pytest.mark.parametrize(
    ("entry", "place", "message"),
    [
        ({"image": "wake.txt", "every": 5}, "$.output[0].image", "must end in"),
        ({"image": "wake.png", "field": "sped"}, "$.output[0].field", "'sped' given"),
        ({"series": "flow", "fields": ["sped"]}, "$.output[0].fields", "'sped' given"),
        ({"series": "flow", "format": "vtk"}, "$.output[0].format", "'vtk' given"),
        ({"mean": ["sped"]}, "$.output[0].mean", "'sped' given"),
        ({"probe": [[50, 50]]}, "$.output[0].probe", "must lie in the domain"),
        ({"forces": "ston"}, "$.output[0].forces", "'ston' given"),
        ({"forces": "-x"}, "$.output[0].forces", "'-x' given, a face with Periodic, must be a wall, '-y' or '+y'"),
        ({"coefficients": "-z", "speed": 1, "area": 1}, "$.output[0].coefficients", "'-z' given, must be"),
        ({"image": "../c.png"}, "$.output[0].image", "'../c.png' given, must be a path inside the output folder"),
        ({"image": ".{step.__class__.__name__:.0}./c.png"}, "$.output[0].image", "inside the output folder"),
        ({"series": "a/../../q"}, "$.output[0].series", "must be a path inside the output folder"),
        ({"movie": "/tmp/c.gif"}, "$.output[0].movie", "must be a path inside the output folder"),
        ({"forces": "stone", "file": "../f.csv"}, "$.output[0].file", "must be a path inside the output folder"),
        ({"forces": "stone", "file": "./run.log"}, "$.output[0]", "must be another name than run.log"),
        ({"heat_flux": "-x"}, "$.output[0].heat_flux", "but the case has no 'thermal'"),
        ({"probe": [[4, 4]], "fields": ["temperature"]}, "$.output[0].fields", "'thermal' of the case gives it one"),
        ({"seris": "q", "fields": ["velocity"]}, "$.output[0].seris", "heat_flux; did you mean 'series'?"),
        ({"probe": 3}, "$.output[0].probe", "3 given, must be a string or an array"),
        ({"coefficients": "stone", "speed": 0.1}, "$.output[0]", "lacks 'area'"),
    ],
)
def test_a_wrong_recorder_is_named(entry: dict[str, Any], place: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "case.json"
    path.write_text(json.dumps(CASE | {"output": [entry]}))
    with pytest.raises(lbm.CaseError) as caught:
        run_case(path, folder=tmp_path / "out", progress=False)
    assert [where for where, _ in caught.value.problems] == [place], caught.value.problems
    assert message in caught.value.problems[0][1]
