"""The areas of geometries in a domain, and the heat of cases that is divided by them."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reference import meshes

import lbmgpu as lbm
from lbmgpu.case.run import run_case
from lbmgpu.geometry.surface_area import surface_area
from lbmgpu.geometry.triangulation import surface_triangles

SHAPE = (40, 30, 20)
LINE = [(10, 5), (16, 5), (16, 13)]
WITH_ENDS = {
    "sphere": lbm.Sphere((20, 15, 10), 6),
    "box": lbm.Box((10, 8, 6), (17, 12, 16)),
    "cylinder": lbm.Cylinder((20, 15, 10), 5, (1, 1, 0), 9),
    "turned box": lbm.Box((17, 12, 6), (24, 18, 16)).rotate("z", 30, about=(20, 15, 0)),
    "mesh": lbm.Mesh(*meshes.box((10, 8, 6), (17, 12, 16))),
}


@pytest.mark.parametrize("shape", WITH_ENDS)
def test_it_is_that_of_the_triangles_of_the_surface(shape: str) -> None:
    corners, triangles = surface_triangles(WITH_ENDS[shape], 0.3)
    a, b, c = (corners[triangles[:, k]] for k in range(3))
    area = np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2
    assert surface_area(WITH_ENDS[shape], SHAPE, [False] * 3) == pytest.approx(area, rel=2e-3)


@pytest.mark.parametrize(
    ("geometry", "area"),
    [
        (lbm.Sphere((20, 15), 4), 8 * math.pi),
        (lbm.Box((5, 6), (15, 9)), 26),
        (lbm.Polygon(LINE), 24),
        (lbm.Polygon(LINE).extrude(), 24 * 20),
        (lbm.Polygon(LINE).extrude(4, 9), 24 * 5 + 48),
        (lbm.Cylinder((20, 15, 10), 4, "x"), 8 * math.pi * 40),
        (lbm.Cylinder((20, 15, 10), 4, (1, 1, 0)), None),
        (lbm.Cylinder((20, 15, 10), 4, "z", 20), None),
        (lbm.Sphere((1, 15, 10), 4), None),
        (lbm.Sphere((20, 15), 4) - lbm.Sphere((20, 15), 2), None),
        (lbm.Plane((20, 15, 10), (1, 0, 0)), None),
        (lbm.Mesh(*meshes.box((10, 8, 6), (17, 12, 16)), sheet=True), None),
    ],
)
def test_it_is_known_of_what_lies_in_the_domain(geometry: lbm.Geometry, area: float | None) -> None:
    shape = SHAPE[: geometry.dimensions]
    found = surface_area(geometry, shape, [False] * len(shape))
    assert found == (area if area is None else pytest.approx(area))


def test_a_body_that_goes_on_through_a_periodic_face_has_all_of_it() -> None:
    assert surface_area(lbm.Sphere((1, 15), 4), (40, 30), [True, False]) == pytest.approx(8 * math.pi)


def rows_of(folder: Path, *more: dict[str, Any]) -> tuple[dict[str, float], lbm.Solver]:
    case = {
        "domain": {"shape": [40, 40], "stencil": "D2Q9"},
        "collision": {"model": "TRT"},
        "thermal": {
            "rayleigh": 1000,
            "prandtl": 0.71,
            "length": 10,
            "faces": {f: {"condition": "isothermal", "temperature": 0} for f in ("-x", "+x")},
        },
        "faces": {face: {"condition": "no-slip"} for face in ("-x", "+x", "-y", "+y")},
        "bodies": [
            {
                "shape": "cylinder",
                "center": [20.2, 20.1],
                "radius": 5,
                "name": "wire",
                "thermal": {"condition": "isothermal", "temperature": 1},
            },
            *more,
        ],
        "run": {"steps": 100, "device": "cpu", "threads": 1},
        "output": {"heat": {"every": 100}, "checkpoint": {}},
    }
    path = folder / "case.json"
    path.write_text(json.dumps(case))
    run_case(path, folder=folder / "out", progress=False)
    with (folder / "out" / "heat.csv").open(newline="") as file:
        row = list(csv.DictReader(file))[-1]
    return {key: float(value) for key, value in row.items()}, lbm.Solver.load(folder / "out" / "checkpoint.h5")


@pytest.mark.filterwarnings("ignore::lbmgpu.GeometryWarning")
@pytest.mark.parametrize("touched", [False, True])
def test_the_nusselt_number_of_a_round_body_in_a_case_is_over_its_circumference(touched: bool, tmp_path: Path) -> None:
    beside = {"shape": "box", "low": [25, 18] if touched else [28, 18], "high": [32, 22]}
    row, solver = rows_of(tmp_path, beside)
    area = None if touched else 10 * math.pi
    assert row["wire flux"] == pytest.approx(solver.mean_heat_flux("wire", area), rel=1e-6)
    assert row["wire Nusselt"] == pytest.approx(solver.nusselt("wire", 10, 1.0, area), rel=1e-6)
    assert row["-x flux"] == pytest.approx(solver.mean_heat_flux("-x"), rel=1e-6)
    assert touched or solver.mean_heat_flux("wire", area) > 1.1 * solver.mean_heat_flux("wire")
