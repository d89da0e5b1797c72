"""Runs the D2Q37 example scripts (Rayleigh-Taylor, Rayleigh-Benard) and checks their output."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(script: str, *options: object) -> str:
    command = [sys.executable, str(EXAMPLES / script), "--device", "cpu", "--threads", "1", *map(str, options)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_a_wave_grows_as_theory_says(tmp_path: Path) -> None:
    picture = tmp_path / "mode.png"
    out = run("rayleigh_taylor.py", "--modes", "single", "--size", 32, "--output", picture)
    assert picture.read_bytes().startswith(b"\x89PNG")
    off = re.search(r"^growth rate (\S+) velocity / width, linear theory (\S+): (\S+) %$", out, re.MULTILINE)
    assert off is not None
    assert float(off[1]) == pytest.approx(float(off[2]), rel=0.03)
    lengths = [float(x) for x in re.findall(r"mixing length (\S+) cells", out)]
    assert len(lengths) == 4
    assert lengths[0] < lengths[1] < lengths[2]
    assert lengths[2] > 32


def test_many_waves_mix(tmp_path: Path) -> None:
    picture, file = tmp_path / "mixing.png", tmp_path / "mixing.json"
    options = ["--size", 64, "--height", 1, "--steps", 1500, "--velocity", 0.1, "--reynolds", 800, "--output", picture]
    out = run("rayleigh_taylor.py", "--modes", "multi", *options, "--json", file)
    assert picture.read_bytes().startswith(b"\x89PNG")
    lengths = [float(x) for x in re.findall(r"mixing length (\S+) cells", out)]
    assert lengths[0] < lengths[-1]
    constants = [float(a) for a in re.findall(r"^h = (\S+) At g t\^2", out, re.MULTILINE)]
    kept = json.loads(file.read_text())[0]
    assert [constant for _, constant in kept["constants"]] == pytest.approx(constants, abs=1e-4)
    assert len(constants) == 2
    assert [length for _, length in kept["lengths"]][-1] == pytest.approx(lengths[-1], abs=0.01)


def test_waves_in_float64_over_two_blocks(tmp_path: Path) -> None:
    """They mix as in one block; a file that is not the script's own stays as it is."""
    file, other = tmp_path / "mixing.json", tmp_path / "other.json"
    options = ["--modes", "multi", "--size", 64, "--steps", 200, "--precision", "float64", "--json", file]
    one, two = (run("rayleigh_taylor.py", *options, "--device", device) for device in ("cpu", "cpu,cpu"))
    assert [line for line in one.splitlines() if "mixing" in line] == [s for s in two.splitlines() if "mixing" in s]
    kept = json.loads(file.read_text())
    assert [each["precision"] for each in kept] == ["float64", "float64"]
    assert kept[0]["lengths"] == kept[1]["lengths"]
    other.write_text('{"mine": 1}')
    with pytest.raises(subprocess.CalledProcessError):
        run("rayleigh_taylor.py", *options, "--json", other)
    assert other.read_text() == '{"mine": 1}'


def test_convection_of_a_gas(tmp_path: Path) -> None:
    picture = tmp_path / "rolls.png"
    out = run("multispeed_rayleigh_benard.py", "--cells", 24, "--rayleigh", 5000, "--output", picture)
    assert picture.read_bytes().startswith(b"\x89PNG")
    found = re.search(r"^Nusselt number (\S+) at the hot plate, (\S+) at the cold one$", out, re.MULTILINE)
    assert found is not None
    assert (float(found[1]) + float(found[2])) / 2 == pytest.approx(2.116, rel=0.02)
    assert float(found[2]) == pytest.approx(float(found[1]), rel=1e-3)
    assert re.search(r"^kinetic energy 0\.05", out, re.MULTILINE)
    refused = ["--cells", 16, "--velocity", 0.2, "--difference", 0.1]
    with pytest.raises(subprocess.CalledProcessError):
        run("multispeed_rayleigh_benard.py", *refused)
