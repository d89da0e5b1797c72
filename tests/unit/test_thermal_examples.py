"""Runs the example scripts of thermal flows (heated cavity, Rayleigh-Benard) and checks their output.

Also runs the script that fills the tables of docs/validation.md.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"


def run(script: str, *options: object) -> str:
    command = [sys.executable, str(EXAMPLES / script), *map(str, options)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.mark.slow
def test_the_heated_square(tmp_path: Path) -> None:
    picture, numbers = tmp_path / "cavity.png", tmp_path / "numbers.json"
    options = ["--rayleigh", "1e4", "--device", "cpu", "--threads", 1, "--output", picture, "--json", numbers]
    out = run("heated_cavity.py", "--cells", 32, "--levels", 2, *options)
    assert picture.read_bytes().startswith(b"\x89PNG")
    off = re.search(r"de Vahl Davis 1983 +2\.2430 +hot wall ([+-]\d\.\d\d) %", out)
    assert off is not None
    assert abs(float(off[1])) < 1
    run("heated_cavity.py", "--cells", 32, *options)
    two, one = json.loads(numbers.read_text())
    assert [grid["cells"] for grid in two["grids"]] == [16, 32]
    assert two["steady"]
    assert one["steady"]
    assert two["hot"] == pytest.approx(one["hot"], rel=2e-3)  # where it starts does not change where it ends
    assert two["cold"] == pytest.approx(two["hot"], rel=2e-3)
    assert two["u_max"] == pytest.approx(16.18, rel=0.02)
    assert two["v_max"] == pytest.approx(19.63, rel=0.02)
    assert two["grids"][1]["steps"] < one["grids"][0]["steps"]


@pytest.mark.parametrize("coupling", [0, 1])
def test_the_heated_cube(coupling: int, tmp_path: Path) -> None:
    picture = tmp_path / "cavity.png"
    options = [
        "--rayleigh",
        "1e3",
        "--device",
        "cpu",
        "--threads",
        1,
        "--operators",
        "obrecht2013",
        "--energy-coupling",
        coupling,
        "--output",
        picture,
    ]
    out = run("heated_cavity.py", "--dimensions", 3, "--cells", 12, "--levels", 2, "--collision", "mrt", *options)
    assert picture.read_bytes().startswith(b"\x89PNG")
    off = re.search(r"spectral +1\.0711 +hot wall ([+-]\d\.\d\d) %", out)
    assert off is not None
    assert abs(float(off[1])) < 1.5


def test_the_turbulent_cavity(tmp_path: Path) -> None:
    """Of a Rayleigh number whose flow is steady, so that its Nusselt number is known (spectral, 2.0551)."""
    picture, file, planes = tmp_path / "cavity.png", tmp_path / "numbers.json", tmp_path / "planes.npz"
    options = ["--rayleigh", "1e4", "--cells", 16, "--device", "cpu,cpu", "--times", 60, "--transient", 50]
    out = run("turbulent_cavity.py", *options, "--output", picture, "--json", file, "--planes", planes)
    assert picture.read_bytes().startswith(b"\x89PNG")
    numbers = json.loads(file.read_text())
    for wall in ("hot", "cold"):
        value, half = numbers[wall]
        assert value == pytest.approx(2.0551, rel=0.03)
        assert 0 <= half < 0.001 * value
        assert f"{wall} wall {value:.3f} +- {half:.3f}" in out
    assert numbers["times"] == pytest.approx(60, rel=1e-3)
    assert max(speed for _, speed in numbers["speeds"]) < numbers["speed_limit"]
    assert len(numbers["nusselt_times"]) == len(numbers["nusselt_hot"]) == 600
    with np.load(planes) as kept:
        assert kept["mean"].shape == (16, 16)
        assert kept["fluctuation"].max() < 0.01  # steady


def test_the_onset_of_convection() -> None:
    out = run("rayleigh_benard.py", "--onset", "--cells", 20, "--device", "cpu")
    critical = re.search(r"critical Rayleigh number (\d+\.\d), exact 1707\.8", out)
    assert critical is not None
    assert 1650 < float(critical[1]) < 1760


@pytest.mark.parametrize("dimensions", [2, 3])
def test_rolls(dimensions: int, tmp_path: Path) -> None:
    picture = tmp_path / "rolls.png"
    size = {2: ("--cells", 24), 3: ("--cells", 10, "--steps", 2000)}[dimensions]
    options = ["--rayleigh", "1e4", "--device", "cpu", "--output", picture]
    out = run("rayleigh_benard.py", "--dimensions", dimensions, *size, *options)
    assert picture.read_bytes().startswith(b"\x89PNG")
    found = re.search(r"^Nusselt number (\S+) at the hot plate, (\S+) at the cold one$", out, re.MULTILINE)
    assert found is not None
    if dimensions == 2:
        assert float(found[1]) == pytest.approx(2.661, rel=0.03)
        assert float(found[2]) == pytest.approx(float(found[1]), rel=0.01)
    else:
        assert float(found[1]) > 1.1


def test_the_page_takes_what_was_measured(tmp_path: Path) -> None:
    """A row for each case, grid, collision and kind of device, in order; of two for the same the later one."""
    for name in ("fill_validation.py", "validation.md"):
        shutil.copy(ROOT / "docs" / name, tmp_path)
    numbers = {
        "dimensions": 3,
        "rayleigh": 1e7,
        "cells": 256,
        "collision": "trt",
        "operators": "isotropic",
        "precision": "float32",
        "device": "cuda:0, Some GPU; cuda:1, Some GPU",
        "steady": True,
        "grids": [{"steps": 700}, {"steps": 900}],
        "published": ["Tric et al. 2000", 16.0],
        "hot": 16.4,
        "mid_plane": 16.5,
        "u_max": 100.0,
        "v_max": 200.0,
    }
    flat = {key: value for key, value in numbers.items() if key != "mid_plane"}
    square = {
        **flat,
        "dimensions": 2,
        "cells": 64,
        "device": "cpu, avx2, 1 threads",
        "steady": False,
        "spectral": [16.0, 80, 250],
    }
    files = [tmp_path / "one.json", tmp_path / "two.json"]
    files[0].write_text(json.dumps([{**numbers, "hot": 1.0}, {**numbers, "collision": "mrt"}]))
    files[1].write_text(json.dumps([numbers, square]))
    before = (tmp_path / "validation.md").read_text()
    subprocess.run([sys.executable, tmp_path / "fill_validation.py", *files], check=True)
    text = (tmp_path / "validation.md").read_text()
    rows = text.split("<!-- cavity:begin -->")[1].split("<!-- cavity:end -->")[0].strip().splitlines()[2:]
    assert rows == [
        "| square | 1e7 | 64² | TRT | 16.4000 | +2.50 % |  | 100.00 | +25.00 % | 200.00 | -20.00 % | 900, not steady "
        "| CPU, float32 |",
        *(
            f"| cube | 1e7 | 256³ | {model} | 16.4000 | +2.50 % | 16.500 | 100.00 |  | 200.00 |  | 900 "
            "| 2 Some GPU, float32 |"
            for model in ("MRT", "TRT")
        ),
    ]
    assert text.split("<!-- cavity:begin -->")[0] == before.split("<!-- cavity:begin -->")[0]
