"""Tests the geometries of JSON cases: how they are placed, and what is refused; and the example that voxelises."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reference import meshes

import lbmgpu as lbm
from lbmgpu.case import build as case_build, read as case_file
from lbmgpu.case.run import run_case

ROOT = Path(__file__).parents[2]
SHAPE = (24, 20, 18)


def case_of(body: dict[str, Any], shape: tuple[int, ...] = SHAPE) -> dict[str, Any]:
    return {
        "domain": {"shape": list(shape), "stencil": "D3Q19" if len(shape) == 3 else "D2Q9"},
        "collision": {"model": "TRT", "viscosity": 0.1},
        "bodies": [body],
        "run": {"steps": 1, "device": "cpu", "threads": 1},
    }


def built(body: dict[str, Any], folder: Path, shape: tuple[int, ...] = SHAPE) -> lbm.Domain:
    case = case_of(body, shape)
    case_file.check_case(case)
    return case_build.build_solver(case, folder).domain


BALL = {"shape": "sphere", "center": [9, 9, 9], "radius": 3}
CORNERS = [[4, 4], [16, 5], [9, 15]]
BODIES = [
    (
        {"shape": "sphere", "center": [1, 1, 1], "radius": 1, "scale": 5, "translate": [6, 4, 3]},
        lbm.Sphere((11, 9, 8), 5),
    ),
    (
        {"shape": "box", "low": [5, 5, 5], "high": [16, 12, 11], "rotate": {"angle": 30, "about": [10, 9, 8]}},
        lbm.Box((5, 5, 5), (16, 12, 11)).rotate("z", 30, (10, 9, 8)),
    ),
    (
        {
            "shape": "cylinder",
            "center": [9, 9, 9],
            "radius": 4,
            "axis": "y",
            "rotate": {"axis": [0, 0, 1], "angle": -90},
        },
        lbm.Cylinder((9, -9, 9), 4, "x"),
    ),
    ({"shape": "polygon", "points": CORNERS, "low": 3, "high": 9}, lbm.Polygon(CORNERS).extrude(3, 9)),
    (
        {"shape": "airfoil", "airfoil": "naca4415", "chord": 18, "angle": 7, "leading_edge": [3, 10], "axis": "y"},
        lbm.airfoil("naca4415", 18, angle=7, leading_edge=(3, 10)).extrude(axis="y"),
    ),
]


@pytest.mark.parametrize(
    ("body", "geometry"), BODIES, ids=lambda value: value["shape"] if isinstance(value, dict) else ""
)
def test_bodies_are_geometries(body: dict[str, Any], geometry: lbm.Geometry, tmp_path: Path) -> None:
    domain = built(body, tmp_path) if "rotate" not in body or body["shape"] == "box" else None
    if domain is None:  # turned about the origin, it lies beyond the domain
        with pytest.raises(lbm.CaseError, match="covers no cell"):
            built(body, tmp_path)
        domain = built(body | {"translate": [0, 18, 0]}, tmp_path)
        geometry = geometry.translate((0, 18, 0))
    found = domain.bodies["body 1"]
    assert found.geometry is not None
    assert np.array_equal(found.mask, geometry.solid((0, 0, 0), SHAPE))


def test_a_mesh_is_fitted(tmp_path: Path) -> None:
    vertices, triangles = meshes.icosphere(2)
    meshes.write(tmp_path / "ball.stl", vertices, triangles)
    body = {"shape": "mesh", "file": "ball.stl", "fit": {"low": [4, 4, 4], "high": [20, 16, 16]}, "name": "ball"}
    found = built(body, tmp_path).bodies["ball"].geometry
    assert isinstance(found, lbm.Mesh)
    assert found.bounds[:, 1] == pytest.approx([4, 16])
    assert found.bounds.mean(axis=0) == pytest.approx([12, 10, 10])


def test_a_mesh_may_be_a_sheet(tmp_path: Path) -> None:
    corners = np.array([(5.3, 2, 2), (6.1, 7, 2), (6.1, 7, 9), (5.3, 2, 9)])
    meshes.write(tmp_path / "sheet.stl", corners, np.array([(0, 1, 2), (0, 2, 3)]))
    domain = built({"shape": "mesh", "file": "sheet.stl", "name": "sheet", "sheet": True}, tmp_path)
    found = domain.bodies["sheet"].geometry
    assert isinstance(found, lbm.Mesh)
    assert found.sheet
    assert not domain.solid.any()


def test_shapes_of_two_dimensions(tmp_path: Path) -> None:
    domain = built(
        {"shape": "airfoil", "airfoil": "naca0012", "chord": 30, "leading_edge": [5, 10]}, tmp_path, (40, 20)
    )
    expected = lbm.airfoil("naca0012", 30, leading_edge=(5, 10)).solid((0, 0), (40, 20))
    assert np.array_equal(domain.solid, expected)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ({"shape": "mesh", "file": "none.stl"}, r"file: .*none\.stl cannot be read"),
        ({"shape": "mesh", "file": "bad.stl"}, "it has 5 bytes"),
        ({"shape": "mesh", "file": "bad.txt"}, "must be a file of a mesh"),
        ({"shape": "polygon", "points": [[0, 0], [1, 1], [2, 2]]}, "area above 0"),
        ({"shape": "airfoil", "airfoil": "eppler", "chord": 3}, "four digits"),
        ({"shape": "sphere", "center": [9, 9, 9], "radius": 3, "translate": [1, 2]}, "translate: .* 3 coordinates"),
        ({"shape": "mesh", "file": "ball.stl", "translate": [1, 2]}, r"\]\.translate: .* 3 coordinates"),
        ({"shape": "mesh", "file": "ball.step"}, r"\]\.file: .*ball\.step given, must be a file of a mesh"),
        ({"shape": "mesh", "file": "nan.stl"}, r"\]\.file: .* vertices that are not finite"),
        (
            BALL | {"rotate": {"axis": "w", "angle": 3}},
            r"\]\.rotate\.axis: 'w' given, must be 'x', 'y', 'z' or a vector",
        ),
        (BALL | {"rotate": {"axis": [0, 0, 0], "angle": 3}}, r"\]\.rotate: axis: .* length above 0"),
        ({"shape": "airfoil", "airfoil": [[0, 0], [90, 0], [9, 9]], "chord": 3}, r"\]\.airfoil: .* from about 0 to 1"),
        ({"shape": "sphere", "center": [9, 9, 9], "radius": 3, "scale": 0}, "scale"),
        ({"shape": "mask", "file": "mask.npy", "scale": 2}, "scale"),
        ({"shape": "polygon", "points": CORNERS, "low": 9, "high": 3}, "high: .* above 9"),
    ],
)
def test_what_is_wrong_is_named(body: dict[str, Any], text: str, tmp_path: Path) -> None:
    (tmp_path / "bad.stl").write_bytes(b"solid")
    (tmp_path / "bad.txt").write_bytes(b"solid")
    vertices, triangles = meshes.icosphere(1)
    meshes.write(tmp_path / "ball.stl", vertices, triangles)
    vertices[5] = np.nan
    meshes.write(tmp_path / "nan.stl", vertices, triangles)
    with pytest.raises(lbm.CaseError, match=text) as caught:
        built(body, tmp_path)
    assert caught.value.problems[0][0].startswith("$.bodies[0]")


def test_a_plane_shape_takes_no_extrusion(tmp_path: Path) -> None:
    with pytest.raises(lbm.CaseError, match="low: given in two dimensions"):
        built({"shape": "polygon", "points": CORNERS, "low": 3}, tmp_path, (24, 20))


def test_a_mesh_has_no_place_in_two_dimensions(tmp_path: Path) -> None:
    meshes.write(tmp_path / "ball.ply", *meshes.icosphere(1))
    with pytest.raises(lbm.CaseError, match="in 3 dimensions given, must be one in 2"):
        built({"shape": "mesh", "file": "ball.ply"}, tmp_path, (24, 20))


def test_the_example_voxelises_a_ring() -> None:
    script = ROOT / "examples" / "voxelise.py"
    done = subprocess.run([sys.executable, script, "--cells", "64"], capture_output=True, text=True, check=True)
    assert "9216 triangles, closed" in done.stdout
    parts = [float(number) for number in re.findall(r"solid, (\S+) of the volume", done.stdout)]
    assert len(parts) == 3
    assert parts[-1] == pytest.approx(1, abs=0.01)


def test_the_log_of_a_case_has_its_warnings(tmp_path: Path) -> None:
    case = case_of({"shape": "sphere", "center": [20, 10, 9], "radius": 4, "name": "ball"})
    case["faces"] = {"-x": {"condition": "no-slip"}, "+x": {"condition": "free-slip"}}
    case["bodies"].append({"shape": "box", "low": [-3, 2, 2], "high": [3, 16, 16]})
    path = tmp_path / "case.json"
    path.write_text(json.dumps(case))
    with pytest.warns(lbm.GeometryWarning) as said:
        run_case(path, folder=tmp_path / "out")
    lines = (tmp_path / "out" / "run.log").read_text().splitlines()
    assert [line.split(" WARNING ")[1] for line in lines if " WARNING " in line] == [str(w.message) for w in said]
    assert "body 'ball': it is 8 cells across" in str(said[0].message)
    assert "50 % of it is outside of the domain" in str(said[-1].message)
