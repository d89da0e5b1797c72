"""Motions of JSON cases that CSV files have."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import lbmgpu as lbm
from lbmgpu.case import build, read

SHAPES = {2: [40, 30], 3: [24, 20, 18]}


def motion_of(folder: Path, text: str | bytes | None, dimensions: int = 2, **more: Any) -> Any:
    """The motion of a body in a case, whose file has this text."""
    if text is not None:
        (folder / "path.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
    low, high = [8] * dimensions, [14] * dimensions
    motion = {"table": {"file": "path.csv"} | more}
    case = {
        "domain": {"shape": SHAPES[dimensions], "stencil": {2: "D2Q9", 3: "D3Q19"}[dimensions]},
        "collision": {"model": "TRT", "viscosity": 0.05},
        "bodies": [{"shape": "box", "low": low, "high": high, "motion": motion}],
        "run": {"steps": 10, "device": "cpu", "threads": 1},
    }
    path = folder / "case.json"
    path.write_text(json.dumps(case))
    return build.build_solver(read.read_case(path), folder).domain.bodies["body 1"].motion


def test_a_file_has_the_columns_that_its_first_line_names(tmp_path):
    text = "\ufefft, y, x, angle\r\n0, 0, 0, 0\r\n\r\n400, 1, 6, 0.5\r\n900, 0, 0, 0\r\n"
    found = motion_of(tmp_path, text, periodic=True)
    assert found == lbm.MotionTable([0, 400, 900], [(0, 0), (6, 1), (0, 0)], [0, 0.5, 0], periodic=True)
    assert motion_of(tmp_path, "angle,t\n0,0\n0.1,100\n", center=[9, 9]) == lbm.MotionTable(
        [0, 100], angles=[0, 0.1], center=(9, 9)
    )
    assert motion_of(tmp_path, "t,x,y,z\n0,0,0,0\n100,1,2,0.5\n", 3) == lbm.MotionTable(
        [0, 100], [(0, 0, 0), (1, 2, 0.5)]
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, r"path.csv cannot be read \(.*No such file"),
        ("", "path.csv has the columns of no line, must name t, and x, y or angle"),
        (b"t,x\xff", "path.csv is no text in UTF-8"),
        ("0,0,0\n9,1,1\n", "has the columns '0', '0', '0', must name t"),
        ("t,x\n0,0\n9,1\n", "has the columns 't', 'x', must name t, and x, y"),
        ("t,x,y,z\n0,0,0,0\n", "'z', must name t"),
        ("t;x;y\n0;0;0\n", "has the columns 't;x;y', must name .* separated by commas"),
        ("t,angle,angle\n0,0,0\n", "has a column twice"),
        ("t,x,y\n0,0,0\n9,1\n", "has 2 values in line 3, must have 3 as the first"),
        ("t,x,y\n0,0,0\n9,1,one\n", "has 'one' as y in line 3, must be a finite number"),
        ("t,x,y\n0,0,0\n9,1,nan\n", "has 'nan' as y in line 3, must be a finite number"),
        ("t,x,y\n", r"has 0 lines of numbers, must have 2 or more"),
        ("t,x,y\n9,0,0\n0,1,1\n", "has times that do not increase, in line 3"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_of_the_file(text, message, tmp_path):
    with pytest.raises(lbm.CaseError, match=r"^\$\.bodies\[0\]\.motion\.table\.file: .*" + message):
        motion_of(tmp_path, text)


def test_a_file_has_all_of_the_table(tmp_path):
    with pytest.raises(lbm.CaseError, match=r"^\$\.bodies\[0\]\.motion\.table.*times"):
        motion_of(tmp_path, "t,x,y\n0,0,0\n9,1,1\n", times=[0, 1])
    with pytest.raises(lbm.CaseError, match=r"displacements: different at the ends of the period"):
        motion_of(tmp_path, "t,x,y\n0,0,0\n9,1,1\n", periodic=True)
