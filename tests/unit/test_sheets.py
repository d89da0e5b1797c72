"""Bodies without cells: what they keep, what is refused, values that change in time."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lbmgpu as lbm
from lbmgpu.case.build import build_solver
from lbmgpu.case.read import read_case

CORNERS = [(5.3, 2.0, -1.0), (6.1, 7.2, -1.0), (6.1, 7.2, 9.0), (5.3, 2.0, 9.0)]
SHEET = lbm.Mesh(CORNERS, [(0, 1, 2), (0, 2, 3)], sheet=True)


def solver_of(condition: Any = None, layout: lbm.Layout | None = None, **options: Any) -> lbm.Solver:
    domain = lbm.Domain((14, 10, 8), "D3Q19")
    domain.faces["-x"], domain.faces["+x"] = lbm.VelocityInlet((0.05, 0, 0)), lbm.PressureOutlet()
    domain.faces["-y"] = domain.faces["+y"] = lbm.FreeSlip()
    domain.add_body(SHEET, "sheet", condition)
    chosen = {"device": "cpu"} if layout is None else {"layout": layout}
    solver = lbm.Solver(domain, lbm.TRT(0.05), **chosen | options)
    solver.initialize(velocity=(0.05, 0, 0))
    return solver


@pytest.mark.parametrize("scheme", ["halfway", "interpolated"])
def test_a_checkpoint_keeps_the_walls(scheme: str, tmp_path: Path) -> None:
    """Of other layouts too, and the solver goes on with the same bits."""
    whole = solver_of(lbm.NoSlip(scheme=scheme))
    whole.step(7)
    whole.save(tmp_path / "state.h5")
    whole.step(6)
    loaded = lbm.Solver.load(tmp_path / "state.h5", device="cpu")
    restored = solver_of(lbm.NoSlip(scheme=scheme), lbm.Layout.split((14, 10, 8), (2, 2, 1)))
    restored.restore(tmp_path / "state.h5")
    for solver in (loaded, restored):
        solver.step(6)
        np.testing.assert_array_equal(solver.populations(), whole.populations())
        np.testing.assert_allclose(solver.body_force("sheet"), whole.body_force("sheet"), rtol=1e-5)
    assert not loaded.solid.any()
    assert loaded.domain.bodies["sheet"].scheme == scheme


def test_forces_are_recorded_and_torques_are_about_the_cells_beside_the_sheet() -> None:
    solver, asked = solver_of(precision="float64"), solver_of(precision="float64")
    forces = solver.record(lbm.Forces("sheet"))
    solver.step(5)
    for k in range(5):
        asked.step(1)
        np.testing.assert_allclose(forces["force"][k], asked.body_force("sheet"), rtol=0, atol=1e-13)
    np.testing.assert_array_equal(solver.populations(), asked.populations())
    links = SHEET.links((0, 0, 0), (14, 10, 8), lbm.stencil("D3Q19").c)
    inside = (links.cells + lbm.stencil("D3Q19").c[links.directions] >= 0).all(axis=1)
    inside &= (links.cells + lbm.stencil("D3Q19").c[links.directions] < (14, 10, 8)).all(axis=1)
    given = asked.body_torque("sheet", (links.cells[inside] + 0.5).mean(axis=0))
    assert links.q[inside].size > 0
    np.testing.assert_allclose(asked.body_torque("sheet")[:2], given[:2], rtol=0.05, atol=1e-4)


@pytest.mark.parametrize("scheme", ["halfway", "interpolated"])
def test_walls_that_change_by_a_factor_have_the_bits_of_a_function(scheme: str, device: str) -> None:
    """Uniform velocities, and such of places."""

    def places(x: Any, y: Any, z: Any) -> Any:
        return 0.001 * y, 0.002 + 0 * x, 0.001 * z

    wave = lbm.Sine(amplitude=1.0, period=20.0)
    velocities = [
        ((0.0, 0.02, 0.01) * wave, lambda x, y, z, t: tuple(c * wave(t) + 0 * x for c in (0.0, 0.02, 0.01))),
        (places * wave, lambda x, y, z, t: tuple(c * wave(t) for c in places(x, y, z))),
    ]
    for by_factor, function in velocities:
        solvers = []
        for velocity, where in ((by_factor, "cpu"), (function, "cpu"), (by_factor, device)):
            solver = solver_of(lbm.MovingWall(velocity, scheme=scheme), precision="float64", device=where)
            solver.step(9)
            solvers.append(solver)
        assert np.abs(solvers[0].body_force("sheet")).max() > 0
        for other in solvers[1:]:
            np.testing.assert_allclose(other.populations(), solvers[0].populations(), rtol=0, atol=1e-15)


@pytest.mark.parametrize("scheme", ["regularized", "characteristic", "non-equilibrium"])
def test_a_sheet_beside_an_inlet_that_makes_its_cells_anew_is_refused(scheme: str) -> None:
    domain = lbm.Domain((14, 10, 8), "D3Q19")
    domain.faces["-x"], domain.faces["+x"] = lbm.VelocityInlet((0.05, 0, 0), scheme=scheme), lbm.PressureOutlet()
    domain.add_body(SHEET.translate((-5, 0, 0)), "fin")
    with pytest.raises(ValueError, match="body 'fin': a part thinner than a cell is beside cells of face '-x'"):
        lbm.Solver(domain, lbm.TRT(0.05), device="cpu")


def test_a_body_without_a_cell_and_a_wall_is_refused() -> None:
    domain = lbm.Domain((14, 10, 8), "D3Q19")
    domain.add_body(SHEET.translate((-40, 0, 0)), "far")
    with pytest.raises(ValueError, match=r"geometry of body 'far': has no cell, and its .* from \(-.*\(14, 10, 8\)"):
        lbm.Solver(domain, lbm.TRT(0.05), device="cpu")


def test_a_sheet_has_no_inside_to_cut() -> None:
    ball = lbm.Sphere((10, 8, 8), 3)
    for make in (lambda: SHEET - ball, lambda: ball - SHEET, lambda: SHEET & ball):
        with pytest.raises(ValueError, match="a sheet has no inside"):
            make()
    assert (SHEET | ball).solid((0, 0, 0), (20, 16, 16)).any()
    assert "2 triangles, a sheet" in str(SHEET.describe())


def test_a_union_with_a_sheet_has_the_links_of_both() -> None:
    """Those of the sheet outside of the other part, from both sides of it; and no difference takes a sheet from it."""
    c = lbm.stencil("D3Q19").c
    whole = ((0, 0, 0), (30, 12, 10))
    ball = lbm.Sphere((20, 5, 4), 3)
    sheet = lbm.Mesh(np.array(CORNERS) + np.array((0.37, 0.21, 0)), [(0, 1, 2), (0, 2, 3)], sheet=True)

    def links_of(geometry: Any) -> dict[tuple[int, ...], float]:
        found = geometry.links(*whole, c)
        every = zip(found.cells.tolist(), found.directions.tolist(), found.q.tolist(), strict=True)
        return {(*cell, i): q for cell, i, q in every}

    apart = links_of(sheet) | links_of(ball)
    assert len(apart) == len(links_of(sheet)) + len(links_of(ball))
    for union in (sheet | ball, ball | sheet, lbm.Sphere((20, 5, 4), 2) | sheet | ball):
        assert links_of(union) == apart
    assert links_of((ball | sheet).translate((1, 0, 0))) == {(n + 1, *rest): q for (n, *rest), q in apart.items()}
    around = lbm.Sphere((6, 5, 4), 9)  # nothing of the sheet is outside of it
    assert links_of(around | sheet) == links_of(around)
    half = links_of(lbm.Box((0, 0, -2), (9, 5, 12)) | sheet)
    assert all(half[key] == q for key, q in links_of(sheet).items() if key[1] > 6)
    for make in (lambda: (sheet | ball) - ball, lambda: ball & (sheet | ball)):
        with pytest.raises(ValueError, match="a sheet has no inside"):
            make()


def test_a_case_takes_a_plate_between_cells(tmp_path: Path) -> None:
    """As Python does; the solver says where there is no wall."""
    plate = {"name": "plate", "shape": "box", "low": [10, 4.2], "high": [10.3, 9.7]}
    case = {
        "domain": {"shape": [24, 14], "stencil": "D2Q9"},
        "bodies": [plate],
        "collision": {"model": "TRT", "viscosity": 0.1},
        "run": {"steps": 10, "device": "cpu"},
    }
    path = tmp_path / "case.json"
    path.write_text(json.dumps(case))
    solver = build_solver(read_case(path), tmp_path)
    assert len(solver.domain.bodies) == 1
    solver.initialize(velocity=(0.05, 0))
    solver.step(10)
    assert solver.body_force("plate")[0] > 0
    plate |= {"low": [40, 4.2], "high": [40.3, 9.7]}
    path.write_text(json.dumps(case))
    with pytest.raises(ValueError, match=r"bodies\[0\]: geometry: has no cell, and its surface is between"):
        build_solver(read_case(path), tmp_path)


def divided_box(*more: tuple[lbm.Geometry, Any]) -> lbm.Domain:
    """Two rooms, each on one side of a block with a fin that reaches the roof, 0.3 cells thick and between centres."""
    domain = lbm.Domain((30, 24, 14), "D3Q19")
    for face in domain.faces:
        domain.faces[face] = lbm.NoSlip()
    block = lbm.Box((12.2, -1, -1), (16.2, 25, 6)) | lbm.Box((13.6, -1, 6), (13.9, 25, 15))
    domain.add_body(block, "block")
    for number, (geometry, motion) in enumerate(more):
        domain.add_body(geometry, f"ball {number}", motion=motion)
    return domain


def warnings_of(domain: lbm.Domain, **options: Any) -> list[str]:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        lbm.Solver(domain, lbm.TRT(0.1), **(options or {"device": "cpu"}))
    return [str(each.message) for each in found if each.category is lbm.GeometryWarning]


BALL = (lbm.Sphere((22, 12, 7), 3.2), lbm.Motion(velocity=(0.01, 0, 0)))


def test_thin_parts_that_are_open_beside_a_body_that_moves_are_warned_of() -> None:
    """With the number of links, of all blocks and each once; at rest they are walls."""
    links = 24 * 8 + 2 * (23 * 8 + 24 * 7) + 2 * 24  # along x, along x and y or z; and those over its foot
    for options in ({}, {"layout": lbm.Layout.split((30, 24, 14), (2, 2, 1), "cpu")}):
        (said,) = warnings_of(divided_box(BALL), **options)
        assert said.startswith("body 'block': links between fluid cells where it is thinner than a cell are open, ")
        assert "because body 'ball 0' moves" in said
        count = int(said.split("open, ")[1].split(" of them")[0])
        assert abs(count / links - 1) < 0.15
    assert warnings_of(divided_box((BALL[0], None))) == []


@pytest.mark.parametrize("turn", [0.0, 20.0])
def test_links_that_graze_thick_parts_are_not_warned_of(turn: float) -> None:
    """Of corners and round sides, of a body at rest or of one that moves."""
    for geometry in (
        lbm.Sphere((8, 12, 6), 3.3),
        lbm.Box((4, 8, 3), (10, 16, 9)).rotate((1, 2, 3), turn, (7.1, 12, 6.2)),
    ):
        domain = lbm.Domain((30, 24, 14), "D3Q19")
        domain.add_body(geometry, "it")
        domain.add_body(BALL[0], "ball", motion=BALL[1])
        assert warnings_of(domain) == []
        domain = lbm.Domain((30, 24, 14), "D3Q19")
        domain.add_body(geometry, "it", motion=BALL[1])
        assert warnings_of(domain) == []


@pytest.mark.parametrize("place", [10.6, 10.4])
def test_thin_parts_of_a_body_that_moves_are_warned_of(place: float) -> None:
    """Also of those that have centres of cells in them where the body begins, but not half a cell from there."""
    domain = lbm.Domain((40, 30), "D2Q9")
    finned = lbm.Box((6, 8), (16, 16)) | lbm.Box((place, 16), (place + 0.3, 22))
    domain.add_body(finned, "fish", motion=lbm.Motion(velocity=(0.01, 0)))
    (said,) = warnings_of(domain)
    assert said.startswith("body 'fish': it moves, and where it is thinner than a cell")
    assert 10 <= int(said.split("open, ")[1].split(" of them")[0]) <= 18


def test_beside_a_body_that_moves_a_sheet_is_refused_and_a_body_elsewhere_for_what_it_is() -> None:
    for geometry, message in (
        (lbm.Box((4, 8, 5.6), (12, 16, 5.9)), "body 'it': a sheet in a domain with a body that moves"),
        (lbm.Sphere((80, 80, 80), 5), "geometry of body 'it': has no cell, .* it is from"),
    ):
        domain = lbm.Domain((30, 24, 14), "D3Q19")
        domain.add_body(geometry, "it")
        domain.add_body(BALL[0], "ball", motion=BALL[1])
        with pytest.raises(ValueError, match=message):
            lbm.Solver(domain, lbm.TRT(0.1), device="cpu")
