"""The example that brackets a critical Reynolds number, on a coarse grid."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "examples" / "critical_reynolds.py"


@pytest.mark.slow
def test_the_critical_reynolds_number_is_bracketed_and_kept(tmp_path: Path) -> None:
    options = [
        "--diameter",
        "12",
        "--velocity",
        "0.1",
        "--times",
        "60",
        "--low",
        "110",
        "--folder",
        str(tmp_path / "study"),
    ]
    command = [sys.executable, str(SCRIPT), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = re.search(r"between (\S+) and (\S+), by interpolation (\S+)\n", done.stdout)
    assert found is not None, done.stdout
    low, high, middle = map(float, found.groups())
    assert low < middle < high
    assert high - low <= 0.01 * middle
    assert middle == pytest.approx(124.09, rel=0.05)  # 120.9 with so few cells at such a speed
    cases = sorted((tmp_path / "study").glob("*/record.json"))
    again = subprocess.run(command, capture_output=True, text=True, check=True)
    assert again.stdout == done.stdout
    assert sorted((tmp_path / "study").glob("*/record.json")) == cases
