"""Tests what messages say of geometries that will not do: where they are, what is wrong, and what to do about it."""

from __future__ import annotations

import re
from typing import Any

import pytest

import lbmgpu as lbm
from lbmgpu.geometry.base import Geometry

OPEN = {"-x": lbm.VelocityInlet((0.05, 0, 0)), "+x": lbm.PressureOutlet()}


def domain_with(faces: dict[str, Any], shape: tuple[int, ...] = (48, 32, 32)) -> lbm.Domain:
    domain = lbm.Domain(shape, "D3Q19" if len(shape) == 3 else "D2Q9")
    domain.faces.update(faces)
    return domain


@pytest.mark.parametrize("center", [(100, 16, 16), (-30, 16, 16), (20, 70, 16)])
def test_a_body_wholly_outside_of_a_domain_with_an_open_face_is_refused_by_name(center: tuple[int, ...]) -> None:
    domain, ball = domain_with(OPEN), lbm.Sphere(center, 5)
    found = ball.describe(domain)
    assert (found.cells, found.blockage, found.closes) == (0, 0, {})
    assert found.warnings[-1].startswith("all of it is outside of the domain, beyond the ")
    domain.add_body(ball, "ball")
    message = "geometry of body 'ball': has no cell, .*; must be in cells: scale it, translate it, or fit it to a box"
    with pytest.raises(ValueError, match=message):
        lbm.Solver(domain, lbm.TRT(0.05), device="cpu")


@pytest.mark.parametrize(
    ("body", "ends"),
    [
        (lbm.Box((100, 1, 1), (120, 20, 20)), r"\+x'.* from 100 to 120 along x, the domain from 0 to 48"),
        (lbm.Box((-200, 1, 1), (-1, 20, 20)), r"-x'.* from -200 to -1 along x, the domain from 0 to 48"),
    ],
)
def test_a_body_wholly_beyond_a_periodic_face_is_to_be_translated(body: Geometry, ends: str) -> None:
    (text,) = body.describe(domain_with({})).warnings
    assert re.fullmatch(f"all of it is .*{ends}; translate it into the domain", text)
    assert "geometry | geometry" not in text
