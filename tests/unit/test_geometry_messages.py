"""Tests what messages say of geometries that will not do: where they are, what is wrong, and what to do about it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from packages import need
from reference import meshes

import lbmgpu as lbm
from lbmgpu.case.build import build_solver
from lbmgpu.case.read import read_case
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


@pytest.mark.parametrize(
    ("body", "shape", "text"),
    [
        (lbm.Polygon([(3, 4), (20, 5), (12, 11)]), (48, 32, 32), r"2 dimensions.* polygon\.extrude\(low, high, axis\)"),
        (lbm.Sphere((20, 10), 5), (48, 32, 32), "2 dimensions .* give three coordinates"),
        (lbm.Sphere((20, 10, 16), 5), (48, 32), "3 dimensions .* must be one in 2, .* two coordinates"),
    ],
)
def test_a_geometry_of_other_dimensions_is_refused_as_one(body: Geometry, shape: tuple[int, ...], text: str) -> None:
    domain = domain_with({}, shape)
    with pytest.raises(ValueError, match="^geometry of body 'it': a geometry in " + text):
        domain.add_body(body, "it")
    with pytest.raises(ValueError, match="^domain: a geometry in " + text):
        body.describe(domain)


BOX = lbm.Box((12, 8, 8), (20, 20, 20))
NOTHING = [
    (lbm.Box((12, 8, 8), (12, 20, 20)), r"zero thickness along x; give it a thickness, .* lbm\.Mesh\(.*, sheet=True\)"),
    (BOX - lbm.Sphere((16, 14, 14), 20), "nothing is left of the difference: what is taken from it covers all of it"),
    (BOX & BOX.translate((20, 0, 0)), "nothing is left of the intersection: its parts do not overlap"),
]


@pytest.mark.parametrize(("body", "text"), NOTHING)
def test_a_geometry_with_nothing_in_it_is_refused_for_that(body: Geometry, text: str) -> None:
    domain = domain_with({})
    assert any(re.search(text, warning) for warning in body.describe(domain).warnings)
    domain.add_body(body, "it")
    with pytest.raises(ValueError, match="geometry of body 'it': has no cell, .*" + text) as found:
        lbm.Solver(domain, lbm.TRT(0.05), device="cpu")
    assert "must be in cells" not in str(found.value)


def test_a_thin_plate_and_a_sheet_are_not_said_to_have_nothing_in_them() -> None:
    sheet = lbm.Mesh([(12.1, 8, 8), (12.1, 20, 8), (12.1, 8, 20)], [(0, 1, 2)], sheet=True)
    for body in (lbm.Box((12.1, 8, 8), (12.2, 20, 20)), sheet, sheet | sheet.translate((3, 0, 0))):
        assert body.describe(domain_with({})).warnings == ()


def test_a_mesh_with_holes_and_a_sheet_cannot_move_and_the_holes_are_said() -> None:
    vertices, triangles = meshes.box((12.0, 8.0, 8.0), (20.0, 20.0, 20.0))
    domain, motion = domain_with({}), lbm.Motion(velocity=(0.01, 0, 0))
    message = r"a mesh with holes given \(3 edges lack .* from \(.*\) to \(.*\)\), .* repair the mesh first"
    with pytest.raises(ValueError, match=message):
        domain.add_body(lbm.Mesh(vertices, triangles[1:]), "it", motion=motion)
    with pytest.raises(ValueError, match="a sheet given, must have an inside to move; give it a thickness"):
        domain.add_body(lbm.Mesh(vertices, triangles, sheet=True), "it", motion=motion)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", "cannot be read as STL: it is empty; export it again"),
        (b"<html>Not found</html>\n", "is no STL file: it is a text that begins with '<html>Not found.*; export it"),
        (30 * b"not a mesh\n", "is no STL file: it is a text that begins with 'not a mesh.*; export it again"),
        (
            meshes.stl(np.array([(0, 0, 0), (1, 0, 0), (0, np.nan, 0), (0, 0, 1)]), np.array([(0, 1, 3), (0, 2, 1)])),
            r"1 vertices that are not finite, such as \(0.0, nan, 0.0\) of its triangle 2 of 2; repair the mesh",
        ),
    ],
)
def test_a_file_of_no_mesh_is_refused_for_what_it_is(data: bytes, text: str, tmp_path: Path) -> None:
    need("trimesh")
    path = tmp_path / "body.stl"
    path.write_bytes(data)
    with pytest.raises(lbm.GeometryError, match=text):
        lbm.Geometry.load(path)


def test_a_case_says_where_a_body_without_a_cell_is(tmp_path: Path) -> None:
    case = {
        "domain": {"shape": [48, 32, 32], "stencil": "D3Q19"},
        "bodies": [{"shape": "sphere", "center": [100, 16, 16], "radius": 5}],
        "collision": {"model": "TRT", "viscosity": 0.1},
        "run": {"steps": 1, "device": "cpu"},
    }
    path = tmp_path / "case.json"
    path.write_text(json.dumps(case))
    message = r"bodies\[0\]: the sphere covers no cell, .* from \(95, 11, 11\) to \(105, 21, 21\); .* translate it"
    with pytest.raises(ValueError, match=message):
        build_solver(read_case(path), tmp_path)
