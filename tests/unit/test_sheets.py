"""Bodies without cells: what they keep, what is refused, values that change in time."""

from __future__ import annotations

import json
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
