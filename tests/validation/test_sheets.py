"""Thin sheets are walls: they hold pressure, guide and brake flows, whatever their place among the cells."""

from __future__ import annotations

import numpy as np
import pytest

import lbmgpu as lbm
from validation.curved_flows import couette, torque_errors

CS2 = 1 / 3


def square(x: float, low: float, high: float) -> lbm.Mesh:
    """A sheet of two triangles across x."""
    corners = [(x, low, low), (x, high, low), (x, high, high), (x, low, high)]
    return lbm.Mesh(corners, [(0, 1, 2), (0, 2, 3)], sheet=True)


@pytest.mark.parametrize(("x", "scheme"), [(6.0, "halfway"), (6.3, "halfway"), (6.3, "interpolated"), (5.5, "bouzidi")])
def test_a_sheet_across_a_box_holds_a_pressure_difference(x: float, scheme: str) -> None:
    """At rest, without a leak; the force on it is that difference times the area."""
    domain = lbm.Domain((12, 8, 8), "D3Q19")
    for face in domain.faces:
        domain.faces[face] = lbm.NoSlip() if face[1] == "x" else lbm.FreeSlip()
    domain.add_body(square(x, -1, 9), "sheet", lbm.NoSlip(scheme=scheme))
    solver = lbm.Solver(domain, lbm.TRT(0.05), precision="float64", device="cpu")
    assert not solver.solid.any()
    low = np.arange(12) + 0.5 < x
    density = np.where(low, 1.01, 0.99)[:, None, None] * np.ones((12, 8, 8))
    solver.initialize(density=density)
    solver.step(500)
    np.testing.assert_allclose(solver.density(), density, rtol=0, atol=1e-13)
    assert np.abs(solver.velocity()).max() < 1e-14
    np.testing.assert_allclose(solver.body_force("sheet"), (CS2 * 0.02 * 64, 0, 0), rtol=0, atol=1e-11)
    np.testing.assert_allclose(solver.body_torque("sheet", (6, 4, 4)), 0, rtol=0, atol=1e-10)
    surface = solver.surface("sheet")
    for side in (1, -1):
        seen = surface.exposed & (surface.normals[:, 0] == side)
        in_domain = ((surface.centers[:, 1:] > 0) & (surface.centers[:, 1:] < 8)).all(axis=1)
        assert np.count_nonzero(seen & in_domain) == np.count_nonzero(in_domain) // 2 > 300
        if x != 5.5:  # where centres of cells are on the sheet
            np.testing.assert_allclose(surface.pressure[seen], -0.01 * side * CS2, rtol=0.01)


@pytest.mark.parametrize("angle", [0.0, 17.0, 45.0, 71.0])
def test_a_plate_thinner_than_a_cell_never_leaks(angle: float) -> None:
    """The mass on both sides of a closed box, of a turned plate in which some cells may lie, in a flow."""
    n = 24
    plate = lbm.Box((-40, n / 2 + 0.1), (60, n / 2 + 0.35)).rotate("z", angle, about=(n / 2, n / 2))
    domain = lbm.Domain((n, n), "D2Q9")
    for face in domain.faces:
        domain.faces[face] = lbm.NoSlip()
    domain.add_body(plate, "plate", lbm.NoSlip(scheme="halfway"))
    solver = lbm.Solver(domain, lbm.TRT(0.05), precision="float64", device="cpu")
    x, y = np.meshgrid(np.arange(n) + 0.5, np.arange(n) + 0.5, indexing="ij")
    turn = np.deg2rad(angle)
    side = -(x - n / 2) * np.sin(turn) + (y - n / 2) * np.cos(turn) > 0.2
    fluid = ~solver.solid
    solver.initialize(density=np.where(side, 1.02, 0.98), velocity=0.05 * np.array([np.sin(y), np.cos(x)]))
    masses = []
    for _ in range(3):
        masses.append([float(solver.density()[fluid & part].sum()) for part in (side, ~side)])
        solver.step(200)
    np.testing.assert_allclose(masses, [masses[0]] * 3, rtol=1e-13)


def channel(bodies: list[lbm.Geometry], height: int, scheme: str) -> lbm.Solver:
    domain = lbm.Domain((4, height), "D2Q9")
    domain.faces["-y"] = domain.faces["+y"] = lbm.NoSlip()
    for number, body in enumerate(bodies):
        domain.add_body(body, f"sheet {number}", lbm.NoSlip(scheme=scheme))
    solver = lbm.Solver(domain, lbm.TRT(0.1), force=(1e-6, 0.0), precision="float64", device="cpu")
    solver.step(3000)
    return solver


def thin(y: float) -> lbm.Geometry:
    return lbm.Box((-2, y - 0.01), (6, y + 0.01))


def test_a_flow_between_two_sheets_is_that_between_walls() -> None:
    """To the last bit of half-way walls; fluid is on both sides of the sheets."""
    walls = channel([], 12, "halfway").velocity()
    sheets = channel([thin(3.0), thin(15.0)], 20, "halfway").velocity()
    np.testing.assert_array_equal(sheets[:, :, 3:15], walls)


def test_a_flow_between_two_sheets_has_their_distance() -> None:
    """Of walls at known distances: a parabola between the sheets, within 0.3 % of its height."""
    low, high = 3.3, 15.8
    solver = channel([thin(low), thin(high)], 20, "interpolated")
    solver.step(7000)
    y = np.arange(4, 15) + 0.5
    exact = 1e-6 / 0.2 * (y - low) * (high - y)
    np.testing.assert_allclose(solver.velocity()[0, 0, 4:15], exact, rtol=0, atol=0.0035 * exact.max())
    force = sum(solver.body_force(f"sheet {k}")[0] for k in range(2))
    between, outside = high - low, low + 20 - high
    assert force == pytest.approx(4e-6 * (between + outside / 2), rel=0.01)


def test_a_gap_of_one_cell_between_sheets_is_half_way() -> None:
    """As what comes back from one of them is none of a fluid cell's."""
    velocities = [channel([thin(a), thin(b)], 20, "interpolated").velocity() for a, b in ((8.0, 9.0), (8.2, 8.9))]
    np.testing.assert_allclose(velocities[0][0, :, 8], velocities[1][0, :, 8], rtol=1e-12)


def test_a_thin_ring_has_the_torque_of_a_cylinder() -> None:
    """Its inside turns with it, and gives none when that has come to rest with it."""
    gap = 20
    errors = torque_errors(couette(gap, None, thickness=0.3), gap)
    assert np.abs(errors).max() < 0.0005


def test_the_drag_of_a_plate_across_a_flow_does_not_depend_on_its_place() -> None:
    """Of a sheet normal to a stream in a periodic array, at five places between two rows of cells, within 1.5 %; one of
    one cell has more, as it is half a cell thick on either side."""
    drags = [drag_of_a_plate(x, 0.02) for x in (20.05, 20.25, 20.4, 20.75, 20.95)]
    assert max(drags) / min(drags) - 1 < 0.015
    thick = drag_of_a_plate(20.5, 1.0)
    assert 1 < thick / float(np.mean(drags)) < 1.1


def drag_of_a_plate(x: float, thickness: float) -> float:
    """The force on it over the mean velocity."""
    domain = lbm.Domain((40, 32), "D2Q9")
    domain.add_body(lbm.Box((x - thickness / 2, 10.01), (x + thickness / 2, 21.99)), "plate")
    solver = lbm.Solver(domain, lbm.TRT(0.2), force=(1e-6, 0.0), precision="float64", device="cpu")
    solver.step(8000)
    return float(1e-6 * 40 * 32 / solver.velocity()[0][~solver.solid].mean())
