"""Runs examples/taylor_green.py: its figures beside the spectral solution, its files and its mistakes."""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

SCRIPT = Path(__file__).parents[2] / "examples" / "taylor_green.py"


def run(*options: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), *map(str, options), "--device", "cpu"]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_energy_decays_as_the_spectral_one_does(tmp_path: Path) -> None:
    table, picture = tmp_path / "vortex.csv", tmp_path / "vortex.png"
    done = run("--cells", 48, "--time", 2, "--json", "--csv", table, "--output", picture)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["cells"] == 48**3
    assert found["steps"] == round(2 * 48 / (2 * np.pi) / 0.05)
    assert found["energy_deviation"] < 0.01
    assert picture.read_bytes().startswith(b"\x89PNG")
    head, *rows = table.read_text().splitlines()
    assert head == "time,energy,dissipation"
    times, energies, rates = np.loadtxt(rows, delimiter=",").T
    assert times[-1] == pytest.approx(2, abs=0.01)
    assert (np.diff(energies) < 0).all()
    assert (rates > 0).all()


@pytest.mark.parametrize("stencil", ["D3Q19", "D3Q27"])
def test_populations_give_the_same(stencil: str) -> None:
    options = ["--cells", 16, "--time", 0.5, "--precision", "float64", "--stencil", stencil, "--json"]
    moments, populations = (json.loads(run(*options, "--state", s).stdout) for s in ("moments", "populations"))
    # The initial populations of moments are projected, which sound waves of the coarse grid show.
    assert moments["energy_deviation"] == pytest.approx(populations["energy_deviation"], abs=1e-3)


def test_what_has_no_peak_within_the_time_has_its_largest_value() -> None:
    module: dict[str, Any] = runpy.run_path(str(SCRIPT))
    times = np.arange(11) / 10
    at, most = module["peak"](times, 1 - (times - 0.43) ** 2)
    assert (at, most) == pytest.approx((0.43, 1))
    straight = module["peak"](times, times)
    assert straight == pytest.approx((1.0, 1.0))


def test_mistakes_are_named() -> None:
    for option in (("--cells", 8), ("--time", 0.1)):
        done = run(*option)
        assert done.returncode == 2
        assert "--cells must be 16 at least, --time 0.5" in done.stderr
