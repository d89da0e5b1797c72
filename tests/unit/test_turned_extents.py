"""How far bodies that turn reach: no point of theirs farther, and hardly less."""

from __future__ import annotations

import numpy as np
import pytest
from reference import meshes

import lbmgpu as lbm
from lbmgpu.engine.moving_bodies import MovingBodies
from lbmgpu.engine.turned_extents import TurnedExtents
from lbmgpu.geometry.extents import farthest, support
from lbmgpu.time_functions.motion import axis_of, rotations

BALL = lbm.Mesh(*meshes.icosphere(3)).scale(5).translate((3, 1, -2))
ANGLES = np.linspace(0, 2 * np.pi, 65)[:-1]
POLYGON = lbm.Polygon(np.stack([13 * np.cos(ANGLES), 13 * np.sin(ANGLES)], axis=1))
TRIANGLE = lbm.Polygon([(0, 0), (9, 1), (2, 6)])
SHAPES = {
    "sphere": lbm.Sphere((1, 2, 3), 4),
    "cylinder": lbm.Cylinder((1, 2, 3), 4, (1, 2, 2), 7),
    "flat cylinder": lbm.Cylinder((0, 0, 0), 9, "z", 2),
    "box": lbm.Box((-1, -2, 3), (7, 2, 5)),
    "turned box": lbm.Box((-1, -2, 3), (7, 2, 5)).rotate((1, 1, 0), 30),
    "prism": TRIANGLE.extrude(-1, 4, axis="y"),
    "turned prism": TRIANGLE.extrude(-1, 4, axis="y").rotate("x", 40),
    "mesh": BALL,
    "union": lbm.Box((0, 0, 0), (3, 3, 3)) | lbm.Sphere((6, 0, 0), 2),
    "difference": lbm.Sphere((0, 0, 0), 5) - lbm.Sphere((5, 0, 0), 3),
    "intersection": lbm.Sphere((0, 0, 0), 6) & lbm.Cylinder((0, 0, 0), 3, "x"),
}
TIGHT = {"difference": 2.0, "intersection": 1.0}  # cells; all others are exact but for the points that are looked at


def points_of(geometry: lbm.Geometry, n: int = 90) -> np.ndarray:
    """Many points of a geometry."""
    low, high = geometry.bounds
    grid = np.meshgrid(*(np.linspace(a, b, n) for a, b in zip(low, high, strict=True)), indexing="ij")
    return np.stack([x[geometry.contains(np.stack([g.ravel() for g in grid], 1)).reshape(x.shape)] for x in grid], 1)


@pytest.mark.parametrize("axis", ["z", "x", (1, 2, -2)], ids=str)
@pytest.mark.parametrize("name", SHAPES)
def test_extents_of_a_body_that_turns_hold_its_points_and_are_tight(name, axis):
    geometry = SHAPES[name]
    points, spacing = points_of(geometry), float((geometry.bounds[1] - geometry.bounds[0]).max()) / 89
    slack = 2.5 * spacing + TIGHT.get(name, 0.0)
    motion, center = lbm.Motion(rate=0.001, axis=axis), np.array([2.0, -1, 1])
    middle = geometry.bounds.mean(axis=0)
    extents = TurnedExtents(geometry, geometry.bounds, middle, motion, center)
    assert farthest(geometry, middle) >= np.linalg.norm(points - middle, axis=1).max() - 1e-9
    distances = np.linalg.norm(np.cross(axis_of(motion), points - center), axis=1)
    assert distances.max() - 1e-9 <= extents.radius <= distances.max() + slack
    angles = np.array([0, 0.3, 1.1, 2.9, -2.0, 5.5, 40.0])
    down, up = extents.at(angles)
    for k, turn in enumerate(rotations(axis, angles)):
        placed = (points - middle) @ turn.T
        assert (placed.max(axis=0) - 1e-9 <= up[k]).all()
        assert (up[k] <= placed.max(axis=0) + slack).all()
        assert (-placed.min(axis=0) - 1e-9 <= down[k]).all()
        assert (down[k] <= slack - placed.min(axis=0)).all()
        assert (np.abs(placed) <= extents.half + 1e-9).all()


def test_the_support_of_geometries_without_end_is_infinite_where_they_have_none():
    axes = np.eye(3)
    assert support(lbm.Cylinder((1, 2, 3), 4), axes).tolist() == [5, 6, np.inf]
    assert support(TRIANGLE.extrude(axis="z"), axes).tolist() == [9, 6, np.inf]
    assert support(TRIANGLE.extrude(high=4, axis="z"), np.array([[0, 0, 1.0], [0, 0, -1]])).tolist() == [4, np.inf]
    assert support(lbm.Plane((5, 0, 0), (1, 0, 0)), np.concatenate([axes, -axes])).tolist() == [5, *[np.inf] * 5]
    assert farthest(lbm.Cylinder((1, 0, 3), 4), np.zeros(3), np.array([0, 0, 1.0])) == 5
    assert farthest(TRIANGLE.extrude(axis="z"), np.array([9.0, 0, 0]), np.array([0, 0, 1.0])) == np.hypot(7, 6)


def moving(geometry: lbm.Geometry, motion: lbm.Motion, shape: tuple[int, ...], *, walls: bool) -> MovingBodies:
    domain = lbm.Domain(shape, stencil="D2Q9" if len(shape) == 2 else "D3Q19")
    for face in list(domain.faces) if walls else []:
        domain.faces[face] = lbm.NoSlip()
    domain.add_body(geometry, "rotor", motion=motion)
    return MovingBodies(domain)


HUB = (20, 20, 20)
ROTORS = {
    "sphere": lbm.Sphere(HUB, 13),
    "cylinder": lbm.Cylinder(HUB, 13, "z", 8),
    "prism": POLYGON.translate(HUB[:2]).extrude(16, 24),
    "mesh": lbm.Mesh(*meshes.icosphere(3)).scale(13).translate(HUB),
    "union": lbm.Cylinder(HUB, 13, "z", 8) | lbm.Cylinder(HUB, 4, "z", 12),
}


@pytest.mark.parametrize("name", ROTORS)
def test_a_body_that_turns_about_itself_stays_away_from_faces(name):
    bodies = moving(ROTORS[name], lbm.Motion(rate=0.008, center=HUB), (40, 40, 40), walls=True)
    assert bodies.table(0, 1000)[1] == 1000


def test_a_disc_that_turns_about_itself_stays_away_from_faces():
    bodies = moving(lbm.Sphere((20, 20), 13), lbm.Motion(rate=0.008), (40, 40), walls=True)
    assert bodies.table(0, 1000)[1] == 1000


def test_a_box_that_turns_into_a_face_is_stopped_where_it_meets_it():
    bodies = moving(lbm.Box((4, 18), (36, 22)), lbm.Motion(rate=0.01), (40, 32), walls=True)
    possible = bodies.table(0, 1000)[1]
    half = [16 * np.sin(0.01 * t) + 2 * np.cos(0.01 * t) for t in (possible, possible + 1)]
    assert half[0] <= 32 - 20 - 2 < half[1]


def test_speeds_are_those_of_the_points_of_a_mesh():
    mesh = lbm.Mesh(*meshes.icosphere(3)).scale(11.5).translate((32, 32, 32))
    bodies = moving(mesh, lbm.Motion(rate=0.011), (64, 64, 64), walls=True)
    assert bodies.fastest(0, 10) == pytest.approx(0.011 * 11.5, rel=1e-2)


def test_a_body_that_turns_takes_the_cells_of_its_widest_pose():
    ball = moving(lbm.Sphere((15, 15, 15), 8.5), lbm.Motion(rate=0.004, axis="x"), (30, 30, 30), walls=False)
    assert ball.bodies["rotor"].size == (23, 23, 23)
    beam = moving(lbm.Box((3, 8, 8), (17, 12, 12)), lbm.Motion(rate=0.004, axis="x"), (20, 20, 20), walls=False)
    assert beam.bodies["rotor"].size == (20, 12, 12)


def test_the_box_about_a_body_that_turns_has_all_of_its_cells():
    shape = lbm.Box((10, 12, 14), (20, 17, 18)) | lbm.Sphere((20, 14, 16), 3)
    motion = lbm.Motion(velocity=(0.02, 0, 0), rate=0.011, axis=(1, 2, -1))
    domain = lbm.Domain((30, 30, 30))
    domain.add_body(shape, "rotor", motion=motion)
    solver = lbm.Solver(domain, lbm.TRT(0.05), device="cpu")
    body = MovingBodies(domain).bodies["rotor"]
    assert max(body.size) < 30
    for _ in range(6):
        solver.run(40)
        expected = body.cells([np.arange(30)] * 3, float(solver.steps))
        found = np.zeros_like(expected)
        corner = body.table(solver.steps - 1, 1)[0][0, 30:33].astype(int)
        where = np.ix_(*((first + np.arange(n)) % 30 for first, n in zip(corner, body.size, strict=True)))
        found[where] = expected[where]
        assert np.array_equal(found, expected)
        assert np.array_equal(solver.solid, expected)
