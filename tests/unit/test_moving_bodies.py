"""Motions of bodies: what they say of places and velocities, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attack import _crafted
from reference import meshes

import lbmgpu as lbm
from lbmgpu.case import build, read
from lbmgpu.case.run import run_case
from lbmgpu.errors import CheckpointError
from lbmgpu.geometry.shape_parts import KINDS, shape_parts

DISC = lbm.Sphere((20, 15), 6)
ALONG = lbm.Motion(velocity=(0.05, 0))


def box(geometry: lbm.Geometry = DISC, motion: object = ALONG, shape: tuple[int, ...] = (40, 30)) -> lbm.Domain:
    domain = lbm.Domain(shape, stencil="D2Q9" if len(shape) == 2 else "D3Q19")
    domain.add_body(geometry, "disc", motion=motion)
    return domain


MOTIONS = [
    lbm.Motion((3, -1) * lbm.Sine(period=300), angle=lambda t: 0.2 * np.sin(0.01 * t)),
    lbm.Motion(lambda t: (0.01 * t, 3 * np.cos(0.01 * t)), velocity=(0.02, 0.01), rate=0.003),
    lbm.Motion((20, 0) * lbm.Ramp(0, 1, 2000, shape="smooth"), angle=0.5 * lbm.Ramp(0, 1, 500, shape="cosine")),
    lbm.Oscillation((2, 1), period=300, phase=0.3, turn=0.4),
    lbm.MotionTable([0, 100, 250, 400], [(0, 0), (3, 1), (1, 2), (0, 0)], [0, 0.3, -0.2, 0], periodic=True),
    lbm.MotionTable([10, 100, 250, 400], [(1, 0), (3, 1), (1, 2), (0, 0)], [0.1, 0.3, -0.2, 0]),
]


@pytest.mark.parametrize("motion", MOTIONS, ids=lambda motion: motion.kind)
def test_the_velocity_is_the_derivative_of_the_place(motion):
    times = np.arange(1.0, 900.0)
    course = motion.course(times, 2)
    a, b = motion.course(times - 0.5, 2), motion.course(times + 0.5, 2)
    np.testing.assert_allclose(course.velocity, b.displacement - a.displacement, atol=3e-4)
    np.testing.assert_allclose(course.rate, b.angle - a.angle, atol=1e-4)


def test_a_table_goes_through_its_places_and_its_velocity_is_continuous():
    table = MOTIONS[4]
    places = table.course(np.array([0.0, 100, 250, 400, 500]), 2)
    np.testing.assert_allclose(places.displacement, [(0, 0), (3, 1), (1, 2), (0, 0), (3, 1)], atol=1e-12)
    speeds = table.course(np.array([400 - 1e-6, 400 + 1e-6]), 2).velocity
    np.testing.assert_allclose(speeds[0], speeds[1], atol=1e-6)
    assert (MOTIONS[5].course(np.array([0.0, 1000]), 2).velocity == 0).all()


def test_motions_are_values():
    assert lbm.Oscillation((1, 2), period=3) == lbm.Oscillation((1.0, 2.0), period=3.0)
    assert "velocity=(0.05, 0.0)" in repr(ALONG)
    assert box().copy().bodies["disc"].motion == ALONG


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (lambda: box(motion=3), "motion of body 'disc': 3 given, must be lbm.Motion"),
        (lambda: box(motion=lbm.Motion(velocity=(1, 2, 3))), "velocity of body 'disc'.*must have 2 components"),
        (lambda: box(motion=lbm.Motion(rate=0.1, axis="x")), "axis of body 'disc'.*must be 'z' in two dimensions"),
        (lambda: lbm.Motion(lbm.Sine(period=3)), "displacement: .*must be a vector times a function of time"),
        (lambda: lbm.Motion(3 * lbm.Sine(period=3)), "displacement: .*must be a vector times"),
        (
            lambda: lbm.Motion((1, 0)),
            r"displacement: \(1, 0\) given, must be a function of t, .* a vector times lbm.Ramp",
        ),
        (lambda: lbm.Motion(angle=3), r"angle: 3 given, must be a function of t, steps, or a number times lbm.Ramp"),
        (
            lambda: lbm.Motion(lambda x, y: (x, y)),
            r"displacement: .* arguments \(x, y\) given, must be a function of t",
        ),
        (lambda: lbm.Motion(angle=lambda: 0.0), r"angle: .* arguments \(\) given, must be a function of t"),
        (lambda: lbm.Oscillation((1, 2), period=-1), "period: -1"),
        (lambda: lbm.MotionTable([0, 0], [(0, 0), (1, 1)]), "times: .*must be 2 to"),
        (lambda: lbm.Motion(), "displacement: none given, nor velocity, angle or rate"),
        (lambda: lbm.Oscillation(period=100), "amplitude: none given, nor turn"),
        (lambda: lbm.MotionTable([0, 1]), "displacements: none given, nor angles"),
        (lambda: lbm.MotionTable([0, 1], [(0, 0), (1, 1)], periodic=True), "displacements: different at the ends"),
    ],
)
def test_wrong_motions_are_refused(made, message):
    with pytest.raises((TypeError, ValueError), match=message):
        made()


def test_what_does_not_go_with_a_motion_is_refused():
    domain = lbm.Domain((40, 30), stencil="D2Q9")
    with pytest.raises(TypeError, match=r"mask of body 'a': .*must be a Geometry"):
        domain.add_body(lambda x, y: x > 30, "a", motion=ALONG)
    with pytest.raises(ValueError, match=r"condition of body 'a'.*must be NoSlip"):
        domain.add_body(DISC, "a", lbm.MovingWall((0.1, 0)), motion=ALONG)
    with pytest.raises(ValueError, match=r"thermal of body 'a'.*must be left out"):
        domain.add_body(DISC, "a", thermal=lbm.Isothermal(1), motion=ALONG)
    with pytest.raises(ValueError, match="motion of body 'disc': given with HybridThermal"):
        lbm.Solver(box(), lbm.BGK(0.1), thermal=lbm.HybridThermal(0.1))
    ball = box(lbm.Sphere((10, 10, 10), 4), lbm.Motion(velocity=(0.01, 0, 0)), (20, 20, 20))
    solver = lbm.Solver(ball, lbm.BGK(0.1), device="cpu")
    with pytest.raises(ValueError, match="surface: of a domain with a body that moves"):
        solver.surface("disc")


@pytest.mark.parametrize(
    ("motion", "message"),
    [
        (lbm.Motion(velocity=(0.3, 0)), "motion of body 'disc': a speed of 0.3 at t = 0 given"),
        (lbm.Motion(rate=0.05), "a speed of 0.3 at t = 0 given"),
        (lbm.Motion(lambda t: (2.0 if t > 0.5 else 0.0, 0)), "motion of body 'disc'"),
        (lbm.Motion(lambda t: (1.0,)), "displacement at t = 0: shape .* returned, must be 2 numbers"),
    ],
)
def test_motions_that_are_too_fast_are_refused_by_the_solver(motion, message):
    with pytest.raises(ValueError, match=message):
        lbm.Solver(box(motion=motion), lbm.BGK(0.1), device="cpu")


def test_moments_name_what_bodies_that_move_need():
    with pytest.raises(ValueError, match=r"the body 'disc', which moves.* bodies that move need state='populations'"):
        lbm.Solver(box(), lbm.Regularized(0.05), device="cpu", state="moments")


def test_a_body_that_meets_itself_or_a_face_is_refused():
    with pytest.raises(ValueError, match=r"takes 18 cells along x given.*at most the domain's 17"):
        lbm.Solver(box(lbm.Sphere((8, 15), 6), shape=(17, 30)), lbm.BGK(0.1), device="cpu")
    domain = box()
    domain.faces["-x"] = domain.faces["+x"] = lbm.NoSlip()
    solver = lbm.Solver(domain, lbm.BGK(0.1), device="cpu")
    with pytest.raises(ValueError, match=r"comes within 2 cells of the face '\+x' at t = 241"):
        solver.step(1000)
    assert solver.steps == 240
    assert np.isfinite(solver.velocity()).all()
    assert np.isfinite(solver.body_force("disc")).all()


def test_solid_follows_the_body_through_a_periodic_face():
    solver = lbm.Solver(box(lbm.Sphere((35.5, 15.5), 6), lbm.Motion(velocity=(0.1, 0))), lbm.BGK(0.1), device="cpu")
    solver.step(100)
    expected = lbm.Sphere((5.5, 15.5), 6).solid((0, 0), (40, 30)) | lbm.Sphere((45.5, 15.5), 6).solid((0, 0), (40, 30))
    assert (solver.solid == expected).all()
    inside = solver.velocity()[:, solver.solid]
    np.testing.assert_allclose(inside[0], 0.1, atol=1e-6)
    np.testing.assert_allclose(inside[1], 0, atol=1e-6)
    np.testing.assert_allclose(solver.density()[solver.solid], 1, atol=1e-6)


def test_a_rotation_has_its_velocity_in_the_body():
    square = lbm.Box((14, 10), (26, 20))
    solver = lbm.Solver(box(square, lbm.Motion(rate=0.002, center=(19, 15))), lbm.BGK(0.1), device="cpu")
    solver.step(40)
    x, y = np.mgrid[:40, :30] + 0.5
    expected = np.stack([-0.002 * (y - 15), 0.002 * (x - 19)])
    np.testing.assert_allclose(solver.velocity()[:, solver.solid], expected[:, solver.solid], atol=1e-6)


def test_a_checkpoint_needs_the_domain_and_compares_the_motion(tmp_path):
    solver = lbm.Solver(box(), lbm.BGK(0.1), device="cpu")
    solver.step(3)
    path = solver.save(tmp_path / "state.h5")
    with pytest.raises(CheckpointError, match=r"body 'disc' moves.*give the domain again"):
        lbm.Solver.load(path, device="cpu")
    other = lbm.Solver(box(motion=lbm.Motion(velocity=(0.04, 0))), lbm.BGK(0.1), device="cpu")
    with pytest.raises(CheckpointError, match=r"bodies.disc.motion.velocity"):
        other.restore(path)


def test_a_checkpoint_tells_another_function_by_the_place_of_the_body(tmp_path):
    def by(speed, angle=0.0):
        return box(motion=lbm.Motion(lambda t: (speed * t, 0.0), angle=lambda t: angle * t))

    solver = lbm.Solver(by(0.05), lbm.BGK(0.1), device="cpu")
    solver.step(20)
    path = solver.save(tmp_path / "state.h5")
    assert lbm.Solver.load(path, domain=by(0.05 + 1e-9), device="cpu").steps == 20
    places = r"at t = 20 the file has a displacement of \(1, 0\).*this solver has a displacement of \(-1, 0\)"
    with pytest.raises(CheckpointError, match=r"bodies.disc.motion: " + places):
        lbm.Solver.load(path, domain=by(-0.05), device="cpu")
    with pytest.raises(CheckpointError, match=r"an angle of 0, this solver .* an angle of 0.02: another function"):
        lbm.Solver.load(path, domain=by(0.05, 0.001), device="cpu")


def test_a_file_without_the_places_of_bodies_is_taken_as_it_is(tmp_path):
    solver = lbm.Solver(box(motion=lbm.Motion(lambda t: (0.05 * t, 0.0))), lbm.BGK(0.1), device="cpu")
    solver.step(20)
    content = _crafted.content(solver.save(tmp_path / "state.h5"))
    other = lbm.Solver(box(motion=lbm.Motion(lambda t: (-0.05 * t, 0.0))), lbm.BGK(0.1), device="cpu")
    for places, message in ((..., None), ({"disc": [1, 0]}, "places: shape"), ([1], "places: .* must be an object")):
        _crafted.setting("places", value=places)(content)
        _crafted.write(tmp_path / "other.h5", content)
        if message is None:
            other.restore(tmp_path / "other.h5")
            assert np.array_equal(other.populations(), solver.populations())
            continue
        with pytest.raises(CheckpointError, match=message):
            other.restore(tmp_path / "other.h5")


def test_a_force_that_changes_and_an_inlet_beside_a_body_that_moves():
    """The numbers of a step are those of the body, then of functions, then factors; changing the force keeps them."""
    domain = box()
    domain.faces["-y"] = lbm.MovingWall(lambda x, y, t: (0.01 * np.sin(0.1 * t) + 0 * x, 0 * x))
    domain.faces["+y"] = lbm.MovingWall((0.01, 0) * lbm.Sine(period=50))
    solver = lbm.Solver(domain, lbm.BGK(0.1), device="cpu", force=(1e-5, 0) * lbm.Sine(period=70))
    solver.step(20)
    solver.force = None
    solver.step(20)
    solver.force = (0, 1e-5) * lbm.Ramp(0, 1, 30)
    solver.step(20)
    np.testing.assert_allclose(solver.velocity()[0, solver.solid], 0.05, atol=1e-6)


def test_a_mesh_is_looked_up_by_the_triangles_above_each_point():
    corners, faces = meshes.box((2.0, 3.0, 1.0), (9.0, 8.0, 7.0))
    parts = shape_parts(lbm.Mesh(corners, faces) - lbm.Sphere((5, 5, 5), 1))
    assert [KINDS[kind] for kind, *_ in parts.parts] == ["mesh", "sphere", "difference"]
    with pytest.raises(ValueError, match="mesh with holes"):
        shape_parts(lbm.Mesh(corners, faces[:-1]))


@pytest.mark.parametrize("scale", [0.3, 1.0, 40.0])
def test_the_boxes_of_a_mesh_list_all_triangles_in_them(scale, rng):
    """As links are cut by the triangles of the boxes about them; fewer boxes where triangles are large."""
    corners, faces = meshes.box((-3.0, -2.0, -3.0), (3.0, 3.0, 2.0))
    mesh = lbm.Mesh(scale * (corners + rng.uniform(-1, 1, corners.shape)), faces)
    _, numbers, table = shape_parts(mesh)
    counts, begin = np.array(table[3:6]), table[6]
    states, entries = begin + int(counts.prod()) + 1, table[7]
    assert entries % 4 == 0
    assert 1 <= counts.prod() < 8 * len(mesh.triangles)
    weights = rng.dirichlet((1, 1, 1), (len(mesh.triangles), 50))
    points = np.einsum("tpk,tkd->tpd", weights, mesh.vertices[mesh.triangles])
    places = ((points - numbers[:3]) * numbers[5:8]).astype(int).clip(0, counts - 1)
    boxes = (places[..., 2] * counts[1] + places[..., 1]) * counts[0] + places[..., 0]
    steps = 65535 * (points - numbers[:3]) / np.ptp(mesh.vertices, axis=0)
    for triangle, own in enumerate(boxes):
        for box, at in zip(own, steps[triangle], strict=True):
            assert table[states + box] == 2
            of_box = table[entries + 8 * table[begin + box] : entries + 8 * table[begin + box + 1]].reshape(-1, 8)
            extent = of_box[of_box[:, 0] == triangle, 1:4].view(np.uint32)
            assert len(extent) == 1
            plane = of_box[of_box[:, 0] == triangle, 4:].view(np.float32)[0].astype(float)
            on_plane = plane[:3] @ (points[triangle] - numbers[:3]).T - plane[3]
            assert abs(np.linalg.norm(plane[:3]) - 1) < 1e-6
            assert abs(on_plane).max() < 0.2 * numbers[11]
            assert ((extent & 0xFFFF) < at).all()
            assert ((extent >> 16) > at).all() or (at > 65534).any()


def test_boxes_of_a_mesh_without_triangles_are_inside_or_outside(rng):
    torus = _torus(14.0, 4.0)
    _, numbers, table = shape_parts(torus)
    counts, states = table[3:6], table[table[6] + int(table[3:6].prod()) + 1 :]
    points = rng.uniform(*torus.bounds, (20000, 3))
    places = ((points - numbers[:3]) * numbers[5:8]).astype(int).clip(0, counts - 1)
    found = states[(places[:, 2] * counts[1] + places[:, 1]) * counts[0] + places[:, 0]]
    is_inside = torus.inside(*points.T)
    assert (found[is_inside] >= 1).all()
    assert (found[~is_inside] != 1).all()
    assert all(np.count_nonzero(found == state) > 100 for state in range(3))


def _torus(large: float, small: float) -> lbm.Mesh:
    n = 40
    u, v = np.meshgrid(*2 * [np.linspace(0, 2 * np.pi, n, endpoint=False)], indexing="ij")
    r = large + small * np.cos(v)
    i, j = (k.ravel() for k in np.meshgrid(np.arange(n), np.arange(n), indexing="ij"))
    a, b, c, d = (k % n * n + m % n for k, m in ((i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)))
    corners = np.stack([r * np.cos(u), r * np.sin(u), small * np.sin(v)], axis=-1).reshape(-1, 3)
    return lbm.Mesh(corners, np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)]))


@pytest.mark.parametrize(
    ("place", "value"),
    [(1, 0), (3, 0), (4, 1025), (5, -1), (6, -1), (6, -8), (6, 10**6), (7, -4), (7, 2), (7, 4 * 10**6)],
)
def test_lists_of_a_mesh_that_its_table_has_not_are_refused(place, value, monkeypatch):
    cube = lbm.Mesh(*meshes.box((4.2, 4.0, 4.0), (9.0, 8.5, 9.0)))
    domain = box(cube, lbm.Motion(velocity=(0.01, 0, 0)), (16, 16, 16))
    right = shape_parts(cube)

    def wrong(_: object) -> object:
        return right._replace(table=[*right.table[:place], value, *right.table[place + 1 :]])

    monkeypatch.setattr("lbmgpu.engine.moving_bodies.shape_parts", wrong)
    with pytest.raises(ValueError, match="shape: "):
        lbm.Solver(domain, lbm.BGK(0.02), device="cpu").step(1)


def test_turbulence_models_take_bodies_that_move():
    for turbulence in (lbm.WALE(), lbm.Smagorinsky(0.1)):
        solver = lbm.Solver(box(), lbm.BGK(0.01), device="cpu", turbulence=turbulence)
        solver.step(50)
        solver.check()


def case_with(motion: dict[str, Any], folder: Path) -> Path:
    """The file of a case whose body has a motion."""
    given = {
        "domain": {"shape": [40, 30], "stencil": "D2Q9"},
        "collision": {"model": "TRT", "viscosity": 0.05},
        "bodies": [{"shape": "box", "low": [14, 10], "high": [24, 18], "motion": motion}],
        "run": {"steps": 10, "device": "cpu", "threads": 1},
    }
    path = folder / "case.json"
    path.write_text(json.dumps(given))
    return path


def test_cases_have_motions(tmp_path):
    motion = {"oscillation": {"amplitude": [3, 0], "period": 500, "turn": 0.2}}
    path = case_with(motion, tmp_path)
    solver = build.build_solver(read.read_case(path), tmp_path)
    assert solver.domain.bodies["body 1"].motion == lbm.Oscillation((3, 0), period=500, turn=0.2)
    solver.step(5)


@pytest.mark.parametrize(
    ("motion", "message"),
    [
        ({}, r"\.motion: \{\} given, must have at least one of steady, oscillation, table"),
        ({"steady": {}}, r"\.motion\.steady: \{\} given, must have at least one of velocity, rate, center, axis"),
        ({"steady": {"rate": 1}, "table": {"times": [0, 1]}}, r"\.motion: .* must have one of steady, oscillation"),
        ({"steady": {"velocity": [0, 0, 1]}}, r"\.motion\.steady\.velocity: .* must have 2 components"),
        ({"steady": {"rate": 0.01, "axis": "x"}}, r"\.motion\.steady\.axis: .* must be 'z' in two dimensions"),
        ({"oscillation": {"period": 100}}, r"\.motion\.oscillation: amplitude: none given, nor turn"),
        ({"table": {"times": [0, 9, 5], "angles": [0, 1, 2]}}, r"\.motion\.table\.times: .* numbers that increase"),
        ({"table": {"times": [0, 9], "angles": [0, 1, 2]}}, r"\.motion\.table\.angles: shape \(3,\) given, must be"),
    ],
)
def test_motions_of_cases_are_refused_at_their_place(motion, message, tmp_path):
    path = case_with(motion, tmp_path)
    with pytest.raises(lbm.CaseError, match=r"^\$\.bodies\[0\]" + message):
        build.build_solver(read.read_case(path), tmp_path)


def test_a_body_that_just_fits_a_periodic_axis_goes_on_at_its_other_end():
    """Its box has all cells of the domain along that axis: 12 of the disc and 3 on each side."""
    shape, motion = (18, 30), lbm.Motion(velocity=(0.08, 0))
    solver = lbm.Solver(box(lbm.Sphere((9, 15), 6), motion, shape), lbm.TRT(0.1), device="cpu")
    far = lbm.Solver(box(lbm.Sphere((9 + 18, 15), 6), motion, (36, 30)), lbm.TRT(0.1), device="cpu")
    assert solver.solid.sum() == far.solid.sum()
    solver.step(150)  # the middle is at 21, so 3
    assert solver.solid[[16, 0, 3], 15].all()
    assert not solver.solid[12, 15]
    assert solver.solid.sum() > 100
    assert solver.body_force("disc")[0] < -1e-5


def test_a_body_is_checked_where_it_begins():
    domain = box(lbm.Sphere((7.95, 15), 6), lbm.Motion(velocity=(0.15, 0)))
    domain.faces["-x"] = domain.faces["+x"] = lbm.NoSlip()
    with pytest.raises(ValueError, match=r"comes within 2 cells of the face '-x' at t = 0"):
        lbm.Solver(domain, lbm.BGK(0.4), device="cpu")


def test_a_body_without_end_meets_no_outflow():
    domain = box(lbm.Plane((0, 8), (0, 1)), lbm.Motion(velocity=(0, 0.01)))
    domain.faces["-x"], domain.faces["+x"] = lbm.VelocityInlet((0.02, 0)), lbm.Outflow()
    domain.faces["-y"] = domain.faces["+y"] = lbm.NoSlip()
    with pytest.raises(ValueError, match=r"without end meets the face '\+x' with Outflow.*must be a wall"):
        lbm.Solver(domain, lbm.BGK(0.1), device="cpu")
    domain.faces["+x"] = lbm.PressureOutlet()
    lbm.Solver(domain, lbm.BGK(0.1), device="cpu").step(3)


def test_a_sheet_does_not_go_with_a_body_that_moves():
    corners = np.array([(4.0, 4.2, 4.1), (4.0, 10.3, 4.1), (4.0, 10.3, 9.9), (4.0, 4.2, 9.9)])
    domain = box(lbm.Sphere((20, 15, 15), 5), lbm.Motion(velocity=(0.05, 0, 0)), (40, 30, 30))
    domain.add_body(lbm.Mesh(corners, np.array([(0, 1, 2), (0, 2, 3)]), sheet=True), "sail")
    with pytest.raises(ValueError, match="body 'sail': a sheet in a domain with a body that moves"):
        lbm.Solver(domain, lbm.BGK(0.1), device="cpu")


def test_forces_go_on_after_a_restart(tmp_path):
    """About the point that moves with the body, which is the default, and about a fixed one."""
    domain = lbm.Domain((60, 40), "D2Q9")
    domain.add_body(lbm.Sphere((20, 20), 6), "ball", motion=lbm.Motion(velocity=(0.05, 0)))

    def recorded(solver: lbm.Solver) -> list[lbm.Forces]:
        recorders = [lbm.Forces("ball"), lbm.Forces("ball", about=(1, 2), name="fixed")]
        return [solver.record(each) for each in recorders]

    whole, half = (lbm.Solver(domain, lbm.TRT(0.05), device="cpu") for _ in range(2))
    expected = recorded(whole)
    whole.step(20)
    recorded(half)
    half.step(10)
    half.save(tmp_path / "half.h5")
    again = lbm.Solver.load(tmp_path / "half.h5", domain=domain, device="cpu")
    found = recorded(again)
    again.step(10)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one["force"], other["force"])
        np.testing.assert_array_equal(one["torque"], other["torque"])


@pytest.mark.parametrize(
    ("geometry", "message"),
    [
        (lbm.Box((30, 10), (30.4, 30)), r"body 'plate': a body of 0\.4 cells given"),
        (lbm.Sphere((20, 20), 0.2), r"a body of 0\.4 cells"),
        (lbm.Sphere((20, 20), 0.6), r"no centre of a cell is in it"),
    ],
)
def test_a_body_that_may_lie_between_cells_is_refused(geometry, message):
    domain = lbm.Domain((60, 40), "D2Q9")
    domain.add_body(geometry, "plate", motion=lbm.Motion(velocity=(0.05, 0)))
    with pytest.raises(ValueError, match=message):
        lbm.Solver(domain, lbm.TRT(0.05), device="cpu")


def test_a_function_need_not_know_times_beyond_the_run():
    """Of a path that ends at t = 40; what it raises there comes at its step."""
    path = np.stack([np.arange(42) * 0.02, np.zeros(42)], axis=1)
    solvers = []
    for motion in (lbm.Motion(lambda t: path[int(t)]), lbm.Motion(lambda t: path[int(min(t, 41))])):
        domain = lbm.Domain((60, 40), "D2Q9")
        domain.add_body(lbm.Sphere((20, 20), 6), "ball", motion=motion)
        solvers.append(lbm.Solver(domain, lbm.TRT(0.05), device="cpu"))
        solvers[-1].step(40)
    np.testing.assert_array_equal(solvers[0].populations(), solvers[1].populations())
    with pytest.raises(IndexError):
        solvers[0].step(10)
    assert solvers[0].steps >= 40


def test_a_function_of_the_wrong_shape_names_the_body():
    domain = lbm.Domain((60, 40), "D2Q9")
    domain.add_body(lbm.Sphere((20, 20), 6), "ball", motion=lbm.Motion(lambda t: (0, 0, 0)))
    with pytest.raises(ValueError, match=r"motion of body 'ball': displacement at t = 0: shape \(3,\)"):
        lbm.Solver(domain, lbm.TRT(0.05), device="cpu").step(1)


def test_a_motion_that_ends_a_case_leaves_its_tables(tmp_path):
    case = {
        "domain": {"shape": [60, 40], "stencil": "D2Q9"},
        "faces": {"-x": {"condition": "no-slip"}, "+x": {"condition": "no-slip"}},
        "bodies": [
            {
                "name": "ball",
                "shape": "sphere",
                "center": [40, 20],
                "radius": 6,
                "motion": {"steady": {"velocity": [0.1, 0]}},
            }
        ],
        "collision": {"model": "TRT", "viscosity": 0.05},
        "run": {"steps": 1000, "device": "cpu"},
        "output": [{"forces": "ball"}],
    }
    path = tmp_path / "case.json"
    path.write_text(json.dumps(case))
    with pytest.raises(ValueError, match="comes within 2 cells"):
        run_case(path, folder=tmp_path / "out", progress=False)
    assert len((tmp_path / "out" / "forces.csv").read_text().splitlines()) > 100
    assert "comes within 2 cells" in (tmp_path / "out" / "run.log").read_text()
