"""Forces on cylinders in channels beside the benchmark of Schaefer and Turek (Notes on Numerical Fluid Mechanics 52
(1996) 547), at 40 cells a diameter and in three dimensions 20, with inlets of 0.02 at most.

The flows are those of docs/measure_curved_walls.py, which puts their figures into docs/validation.md.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from docs_scripts import load

flows = load("measure_curved_walls")


def options(device: str) -> Any:
    """As the script has them on a device."""
    return flows.arguments(["--device", device])


def errors(rows: Iterable[dict[str, Any]]) -> dict[str, float]:
    """How far each figure is off, relative to the benchmark's."""
    return {row["of"]: abs(row["found"] / row["exact"] - 1) for row in rows}


@pytest.mark.slow
@pytest.mark.gpu
def test_a_steady_cylinder_has_the_published_drag_and_lift(gpu: str) -> None:
    """Case 2D-1."""
    off = errors(flows.steady_channel(40, 2, options(gpu)))
    assert off["drag"] < 0.005
    assert off["lift"] < 0.03
    assert off["pressure difference"] < 0.002


@pytest.mark.slow
@pytest.mark.gpu
def test_vortices_have_the_published_forces_and_frequency(gpu: str) -> None:
    """Case 2D-2."""
    off = errors(flows.shedding_channel(40, options(gpu)))
    assert off["largest drag"] < 0.005
    assert off["least drag"] < 0.005
    assert off["lift, peak to peak"] < 0.01
    assert off["Strouhal"] < 0.01


@pytest.mark.slow
@pytest.mark.gpu
def test_a_cylinder_between_four_walls_has_the_published_forces(gpu: str) -> None:
    """Case 3D-1Z: the drag, and the others within the intervals of the authors."""
    found = {row["of"]: row["found"] for row in flows.steady_channel(20, 3, options(gpu))}
    assert abs(found["drag"] / flows.STEADY_3D["drag"] - 1) < 0.01
    assert 0.008 < found["lift"] < 0.010
    assert 0.165 < found["pressure difference"] < 0.175
