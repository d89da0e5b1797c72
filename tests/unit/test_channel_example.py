"""Runs examples/turbulent_channel.py: the balance of momentum, the laminar profile, its files and its comparison."""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

SCRIPT = Path(__file__).parents[2] / "examples" / "turbulent_channel.py"


def run(*options: object) -> str:
    command = [sys.executable, str(SCRIPT), *map(str, options), "--device", "cpu"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.mark.slow
def test_a_viscous_flow_is_the_parabola_and_the_walls_take_the_force(tmp_path: Path) -> None:
    times = ["--transient", 6, "--turnovers", 0.05, "--every", 1]
    table, picture = tmp_path / "channel.csv", tmp_path / "channel.png"
    options = ["--height", 5, "--reynolds", 1.5, "--precision", "float64", "--csv", table, "--output", picture]
    out = run(*options, *times)
    assert "force on the walls 1.0000 of the driving force" in out
    assert picture.read_bytes().startswith(b"\x89PNG")
    head, *rows = table.read_text().splitlines()
    assert head.split(",")[:2] == ["y_plus", "u_plus"]
    y, u = np.loadtxt(rows, delimiter=",")[:, :2].T
    distance = y / 1.5  # from the wall, as a part of half the height
    np.testing.assert_allclose(y, 1.5 * (np.arange(5) + 0.5) / 5)
    np.testing.assert_allclose(u, 1.5 * (distance - distance**2 / 2), atol=0.01 * 0.75)


@pytest.mark.parametrize("collision", ["cumulant", "rr-wale"])
def test_what_the_walls_do_not_take_accelerates_the_fluid(collision: str) -> None:
    """With a sample after every step, to rounding."""
    options = ["--height", 6, "--collision", collision, "--transient", 0.5, "--turnovers", 0.1, "--every", 1]
    found = json.loads(run(*options, "--precision", "float64", "--json"))
    assert found["samples"] == 150
    assert found["wall_force"] + found["acceleration"] == pytest.approx(1, abs=2e-6)
    profiles = {name: np.array(values, float) for name, values in found["profiles"].items()}
    assert (np.diff(profiles["u_plus"]) > 0).all()
    assert (profiles["u_rms_plus"] > 0.1).all()
    assert (profiles["uv_plus"] < 0).sum() >= 3


def test_the_table_has_no_deviation_from_itself() -> None:
    module: dict[str, Any] = runpy.run_path(str(SCRIPT))
    table = np.loadtxt(module["TABLE"], delimiter=",", skiprows=2)
    assert module["compared"]({"y_plus": table[1:, 0], "u_plus": table[1:, 1]})[0] == pytest.approx(0, abs=1e-12)
    wrong = np.where(table[1:, 0] > 100, 1.03, 1.0) * np.where(table[1:, 0] < 5, 2.0, 1.0) * table[1:, 1]
    deviation, where = module["compared"]({"y_plus": table[1:, 0], "u_plus": wrong})
    assert deviation == pytest.approx(0.03)
    assert where > 100


def test_the_initial_field_is_nearly_free_of_divergence_and_rests_at_the_walls() -> None:
    module: dict[str, Any] = runpy.run_path(str(SCRIPT))
    shape = (64, 41, 32)
    field = module["initial"](shape, 1.0, 1).field
    x, y, z = np.meshgrid(*(np.arange(n) + 0.5 for n in shape), indexing="ij")
    step = 1e-4
    moved = [(x + step, y, z), (x, y + step, z), (x, y, z + step)]
    back = [(x - step, y, z), (x, y - step, z), (x, y, z - step)]
    parts = [(field(*a)[d] - field(*b)[d]) / (2 * step) for d, (a, b) in enumerate(zip(moved, back, strict=True))]
    inside = slice(2, -1)
    assert np.abs(sum(parts)[:, inside]).max() < 0.02 * max(np.abs(part[:, inside]).max() for part in parts)
    assert max(np.abs(component).max() for component in field(x, 0 * y + 1, z)) < 1e-12


def test_a_coarse_grid_saves_the_transient() -> None:
    """Steps count those on this grid alone; the flow begins as the coarse one ended, nearly so fast."""
    options = ["--height", 8, "--turnovers", 0.05, "--every", 1, "--json", "--friction", 0.008]
    fine = json.loads(run(*options, "--transient", 0.5))
    coarse = json.loads(run(*options, "--transient", 0.5, "--coarse", 2, "--settle", 0.05))
    assert fine["steps"] == 550
    assert coarse["steps"] == 100
    assert coarse["bulk_velocity_plus"] == pytest.approx(fine["bulk_velocity_plus"], rel=0.15)
