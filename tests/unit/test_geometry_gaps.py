"""Tests warnings of narrow gaps beside round bodies: by the cells between, and none where bodies touch."""

from __future__ import annotations

import warnings
from typing import Any

import pytest

import lbmgpu as lbm
from lbmgpu.geometry.base import Geometry

SHAPE = (48, 32, 32)
BALL = lbm.Sphere((15.6, 16, 16), 5)


def narrowest(*bodies: Geometry, faces: dict[str, Any] | None = None) -> int | None:
    """Cells of the narrowest gap beside the last of several bodies; the warning that it is added with says so too."""
    shape = SHAPE[: bodies[0].dimensions]
    domain = lbm.Domain(shape, "D3Q19" if len(shape) == 3 else "D2Q9")
    domain.faces.update(faces or {})
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for number, body in enumerate(bodies):
            said.clear()
            domain.add_body(body, f"body {number}")
    found = bodies[-1].describe(domain).narrowest
    cells = "" if not found else "a gap of 1 cell " if found == 1 else f"a gap of {found} cells "
    assert any("a gap of" in str(each.message) for each in said) == (found is not None)
    assert not found or any(cells in str(each.message) for each in said)
    return found


# Where centres of cells are, on the line between both balls.
@pytest.mark.parametrize(("gap", "cells"), [(1.0, 1), (1.3, 1), (2.0, 2), (2.3, 2), (3.2, None), (4.0, None)])
def test_cells_between_round_bodies_are_counted(gap: float, cells: int | None) -> None:
    assert narrowest(BALL, BALL.translate((10 + gap, 0, 0))) == cells
    assert narrowest(BALL.translate((10 + gap, 0, 0)), BALL) == cells
    assert narrowest(BALL | BALL.translate((10 + gap, 0, 0))) == cells
    discs = [lbm.Sphere((15.6, 16), 5), lbm.Sphere((25.6 + gap, 16), 5)]
    assert narrowest(*discs) == cells
    rods = [lbm.Cylinder((*disc.center, 16), 5, "z") for disc in discs]
    assert narrowest(*rods) == cells


@pytest.mark.parametrize(("height", "cells"), [(1.2, 1), (2.2, 2), (3.2, None)])
def test_cells_between_a_round_body_and_a_wall_are_counted(height: float, cells: int | None) -> None:
    ball = lbm.Sphere((20, 5 + height, 16), 5)
    assert narrowest(ball, faces={"-y": lbm.NoSlip(), "+y": lbm.NoSlip()}) == cells
    assert narrowest(ball, faces={"-y": lbm.FreeSlip(), "+y": lbm.FreeSlip()}) is None
    slope = lbm.Plane((20, 0, 16), (0.2, 1, 0.1))
    assert narrowest(slope, ball.translate((0, 0.3, 0))) == cells


@pytest.mark.parametrize("radius", [4, 5, 6.5])
def test_round_bodies_that_touch_have_no_gap(radius: float) -> None:
    """Nor has the inside of something round, at its edges."""
    walls = {"-y": lbm.NoSlip(), "+y": lbm.NoSlip()}
    assert narrowest(lbm.Sphere((20, radius - 0.8, 16), radius), faces=walls) is None
    balls = [lbm.Sphere((15.6, 16, 16), radius), lbm.Sphere((14.8 + 2 * radius, 16.2, 15.7), radius)]
    assert narrowest(balls[0] | balls[1]) is None
    block = lbm.Box((8, 3, 3), (40, 29, 29))
    assert narrowest(block - lbm.Sphere((24, 16.3, 15.8), radius)) is None
    for axis in ("x", (1, 0.3, 0.1), (1, 1, 0)):
        assert narrowest(block - lbm.Cylinder((24, 16.3, 15.8), radius, axis)) is None
