"""What a case tells that is not what it was meant to be: of its state, of its end, of what an earlier run left."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest

import lbmgpu as lbm
from lbmgpu.case import run_case

CASE: dict[str, Any] = {
    "domain": {"shape": [16, 12], "stencil": "D2Q9"},
    "collision": {"model": "RecursiveRegularized", "viscosity": 0.1},
    "faces": {"-y": {"condition": "no-slip"}, "+y": {"condition": "no-slip"}},
    "bodies": [{"name": "stone", "shape": "box", "low": [3, 3], "high": [6, 6]}],
    "force": [1e-5, 0],
    "run": {"steps": 20, "device": "cpu", "threads": 1, "progress": False},
    "output": [{"checkpoint": {}}],
}
HEAT: dict[str, Any] = {"diffusivity": 0.1}
WALE: dict[str, Any] = {"model": "wale"}
TRT: dict[str, Any] = {"collision": {"model": "TRT", "viscosity": 0.1}}


def run(folder: Path, **changes: Any) -> Path:
    """Run the case with these entries; the folder of its files."""
    path = folder / "case.json"
    path.write_text(json.dumps(CASE | changes))
    run_case(path, folder=folder / "out")
    return folder / "out"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"thermal": HEAT}, ["with thermal, must be without"]),
        ({"turbulence": WALE, "sponges": [{"face": "+y", "thickness": 3}]}, ["gradients of WALE", "with sponges"]),
        (TRT | {"thermal": HEAT}, ["the collision TRT", "with thermal"]),
        ({"precision": "float64", "storage": "float32"}, ["with the storage 'float32', must be the precision"]),
    ],
)
def test_all_that_does_not_go_with_moments_is_named_at_the_state(
    changes: dict[str, Any], words: list[str], tmp_path: Path
) -> None:
    with pytest.raises(lbm.CaseError) as caught:
        run(tmp_path, state="moments", **changes)
    ((place, message),) = caught.value.problems
    assert place == "$.state"
    for part in words:
        assert part in message


def test_the_log_tells_what_a_cell_keeps_where_it_is_chosen(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "lbmgpu"):
        run(tmp_path, state="auto")
        assert "state: 6 moments a cell" in caplog.text
        caplog.clear()
        run(tmp_path, state="auto", **TRT)
        assert "state: populations, as moments do not go with the collision TRT" in caplog.text


def test_a_run_that_is_not_steady_says_so(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "lbmgpu"):
        run(tmp_path, run=CASE["run"] | {"steady": {"tolerance": 1e-9, "every": 5}})
        assert "not steady by 'run.steady' after 20 steps" in caplog.text
        caplog.clear()
        run_case(tmp_path / "case.json", folder=tmp_path / "part", steps=10)  # half of it, on purpose
        run(tmp_path, run=CASE["run"] | {"steady": {"tolerance": 10, "every": 5}})
        assert "steady: the velocity changes by less than 10 after 5 steps" in caplog.text
        assert "not steady" not in caplog.text


@pytest.mark.parametrize(
    ("entry", "message", "changes"),
    [
        ({"coefficients": "ston", "speed": 1, "area": 1}, "coefficients: 'ston' given, must be one of 'stone'", {}),
        ({"forces": "-x"}, "forces: '-x' given, a face with Periodic, must be a wall", {}),
        ({"forces": "stone"}, "forces: 'stone' given, must be one of '-y', '\\+y'", {"bodies": []}),
        ({"forces": "stone"}, "forces: 'stone' given, but the case has no bodies", {"bodies": [], "faces": {}}),
        ({"heat_flux": "ston"}, "heat_flux: 'ston' given, must be one of 'stone'", {"thermal": HEAT} | TRT),
    ],
)
def test_a_wrong_name_leaves_what_an_earlier_run_left(
    entry: dict[str, Any], message: str, changes: dict[str, Any], tmp_path: Path
) -> None:
    output = [*CASE["output"], {"series": "flow", "every": 10}]
    folder = run(tmp_path, output=output)
    before = {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()}
    with pytest.raises(lbm.CaseError, match=r"\$.output\[2\]." + message):
        run(tmp_path, output=[*output, entry], **changes)
    assert {file: file.read_bytes() for file in folder.rglob("*") if file.is_file()} == before
