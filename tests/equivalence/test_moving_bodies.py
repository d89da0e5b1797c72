"""Bodies that move, against the NumPy reference; and the same bits for all layouts, streamings and restarts."""

from __future__ import annotations

import functools
import operator
from typing import Any

import numpy as np
import pytest
from reference import STENCILS, Collision
from reference.cases import in_reference_order
from reference.moving_bodies import MovingReference, Pose
from reference.registry import NUMBERS, STREAMINGS

import lbmgpu as lbm
from lbmgpu.time_functions.motion import rotations

BOX = {2: (20, 17), 3: (19, 18, 17)}
SQUARE = [(-3.3, -2.2), (3.1, -2.6), (2.4, 2.9), (-2.9, 1.7)]


def shapes(D: int) -> dict[str, lbm.Geometry]:
    """Geometries about the middle of the box."""
    middle = np.array(BOX[D]) / 2 + 0.13
    low, high = middle - 2.6, middle + (2.1, 3.0, 1.9)[:D]
    found: dict[str, lbm.Geometry] = {
        "sphere": lbm.Sphere(middle, 3.2),
        "box": lbm.Box(low, high),
        "difference": lbm.Box(low, high) - lbm.Sphere(high, 2.0),
        "union": lbm.Sphere(middle, 2.0) | lbm.Sphere(middle + 1.5, 1.7),
    }
    polygon = lbm.Polygon(np.array(SQUARE) + middle[:2])
    if D == 2:
        return found | {"polygon": polygon}
    corners = np.array([[x, y, z] for x in (-2.6, 2.3) for y in (-2.1, 2.8) for z in (-2.4, 2.0)]) + middle
    faces = [(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1)]
    faces += [(2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3)]
    return found | {
        "cylinder": lbm.Cylinder(middle, 2.3, (1, 2, 0.5), 5.0),
        "turned box": lbm.Box(low, high).rotate((1, 1, 2), 33.0, about=middle),
        "prism": polygon.extrude(middle[2] - 2.2, middle[2] + 2.6),
        "mesh": lbm.Mesh(corners, faces),
    }


MOTIONS: dict[str, Any] = {
    "steady": lambda D: lbm.Motion(velocity=(0.11, -0.07, 0.05)[:D]),
    "turning": lambda D: lbm.Motion(rate=0.03, axis="z" if D == 2 else (1, 0.5, 2)),
    "swinging": lambda D: lbm.Oscillation((2.0, 1.0, -1.5)[:D], period=160, phase=0.4, turn=0.3),
}


def domain(name: str, shape: str, motion: str) -> lbm.Domain:
    D = STENCILS[name].D
    made = lbm.Domain(BOX[D], stencil=name)
    made.add_body(shapes(D)[shape], "body", motion=MOTIONS[motion](D))
    return made


def fields(D: int, rng: np.random.Generator) -> tuple[Any, Any]:
    return 1 + rng.uniform(-0.01, 0.01, BOX[D]), rng.uniform(-0.02, 0.02, (D, *BOX[D]))


def reference(name: str, shape: str, motion: str, collision: Collision) -> MovingReference:
    D = STENCILS[name].D
    geometry, moves = shapes(D)[shape], MOTIONS[motion](D)
    center = geometry.bounds.mean(axis=0)

    def pose(step: int) -> Pose:
        course = moves.course(np.array([float(step)]), D)
        turn = rotations(moves.axis, course.angle)[0][:D, :D]
        axis = rotations(moves.axis, np.array([np.pi / 2]))[0]
        spin = np.array([axis[2, 1] - axis[1, 2], axis[0, 2] - axis[2, 0], axis[1, 0] - axis[0, 1]]) / 2
        return Pose(turn, center + course.displacement[0], center, course.velocity[0], spin * course.rate[0])

    halvings = 22 if shape in ("difference", "union") else 40  # the engine halves those links too, and no others
    return MovingReference(name, BOX[D], collision, inside=geometry.inside, poses=pose, halvings=halvings)


CASES = [(2, shape, motion, streaming) for shape in shapes(2) for motion in MOTIONS for streaming in STREAMINGS]
CASES += [(3, shape, "swinging", "in-place") for shape in shapes(3)]
CASES += [(3, "box", "turning", streaming) for streaming in STREAMINGS]


@pytest.mark.parametrize(("D", "shape", "motion", "streaming"), CASES)
def test_the_engine_has_the_numbers_of_the_reference(D, shape, motion, streaming, device, rng):
    """Populations, the cells of the body, the force and the torque, while cells are covered and uncovered; but for the
    last digits of where links are cut by halving."""
    name = "D2Q9" if D == 2 else "D3Q19"
    expected = reference(name, shape, motion, Collision("bgk", 0.05))
    numbers = {"precision": "float64", "streaming": streaming, "device": device}
    solver = lbm.Solver(domain(name, shape, motion), lbm.BGK(0.05), **numbers)
    density, velocity = fields(D, rng)
    expected.initialize(density, velocity)
    expected.reference_density = density.mean()
    solver.initialize(density, velocity)
    for _ in range(4 if D == 2 else 1):
        force, torque = expected.moving_force()
        np.testing.assert_allclose(solver.body_force("body"), force, rtol=0, atol=1e-7)
        np.testing.assert_allclose(solver.body_torque("body"), torque if D == 3 else torque[2:], rtol=0, atol=3e-7)
        expected.step(3)
        solver.step(3)
        assert (solver.solid == expected.cells(expected.poses(expected.steps))).all()
        found = in_reference_order(name, solver.populations())
        np.testing.assert_allclose(found, expected.f, rtol=0, atol=1e-8)


def run(name: str, shape: str, motion: str, steps: int = 23, **more: Any) -> lbm.Solver:
    D = STENCILS[name].D
    solver = lbm.Solver(domain(name, shape, motion), lbm.TRT(0.03), **more)
    solver.initialize(*fields(D, np.random.default_rng(5)))
    solver.step(steps)
    return solver


@pytest.mark.parametrize("name", [name for name in STENCILS if STENCILS[name].D in (2, 3)])
@pytest.mark.parametrize(("precision", "storage"), NUMBERS)
def test_streamings_have_the_same_bits(name, precision, storage, device):
    numbers = {"precision": precision, "storage": storage, "device": device}
    one, other = (run(name, "difference", "swinging", streaming=s, **numbers) for s in STREAMINGS)
    np.testing.assert_array_equal(one.populations(), other.populations())
    np.testing.assert_array_equal(one.body_force("body"), other.body_force("body"))


@pytest.mark.parametrize("streaming", STREAMINGS)
@pytest.mark.parametrize("D", [2, 3])
def test_layouts_have_the_same_bits(D, streaming, device):
    name = "D2Q9" if D == 2 else "D3Q19"
    one = run(name, "union", "swinging", streaming=streaming, device=device)
    for cut in ((2, 1, 1), (1, 2, 1), (3, 2, 1), (1, 1, 2))[: 3 if D == 2 else 4]:
        layout = lbm.Layout.split(BOX[D], cut[:D], device)
        other = run(name, "union", "swinging", streaming=streaming, layout=layout)
        np.testing.assert_array_equal(one.populations(), other.populations())
        np.testing.assert_allclose(one.body_force("body"), other.body_force("body"), rtol=1e-12, atol=1e-15)


def meeting_bodies(D: int, **more: Any) -> lbm.Solver:
    """Three bodies that slide along each other, nearer than a cell, and two of them into each other."""
    made = lbm.Domain(BOX[D], stencil="D2Q9" if D == 2 else "D3Q19")
    middle = np.array(BOX[D]) / 2 + 0.13
    aside, along = np.eye(3)[:2, :D]
    made.add_body(lbm.Sphere(middle - 2.8 * aside - 0.9 * along, 2.7), "left", motion=lbm.Motion(velocity=0.05 * along))
    right = lbm.Motion(velocity=-0.06 * along, rate=0.01)
    made.add_body(lbm.Sphere(middle + 2.7 * aside + 0.8 * along, 2.4), "right", motion=right)
    low = middle + np.array([-4.4, -6.0, -2.0])[:D]
    made.add_body(lbm.Box(low, low + 2.1), "box", motion=lbm.Oscillation((2.5, 0.3, 0.3)[:D], period=180))
    solver = lbm.Solver(made, lbm.TRT(0.03), **more)
    solver.initialize(*fields(D, np.random.default_rng(5)))
    return solver


@pytest.mark.parametrize("streaming", STREAMINGS)
@pytest.mark.parametrize("D", [2, 3])
def test_bodies_that_meet_have_the_same_bits_in_all_layouts(D, streaming, device):
    """Also where a cell beside one has just been left by another."""
    layouts = [lbm.Layout.split(BOX[D], cut[:D], device) for cut in ((2, 1, 1), (3, 2, 1), (4, 3, 2))]
    one, *others = (
        meeting_bodies(D, streaming=streaming, device=device),
        *(meeting_bodies(D, streaming=streaming, layout=layout) for layout in layouts),
    )
    for _ in range(11 if D == 2 else 4):
        one.step(3)
        assert np.isfinite(one.populations()).all()
        for other in others:
            other.step(3)
            np.testing.assert_array_equal(one.populations(), other.populations())
            for name in ("left", "right", "box"):
                force, same = one.body_force(name), other.body_force(name)
                np.testing.assert_allclose(force, same, rtol=1e-12, atol=1e-15)


@pytest.mark.gpu
@pytest.mark.parametrize("D", [2, 3])
def test_bodies_that_meet_have_the_bits_of_the_cpu(D, gpu):
    one, other = (meeting_bodies(D, device=d) for d in ("cpu", gpu))
    for _ in range(11):
        for solver in (one, other):
            solver.step(3)
        np.testing.assert_array_equal(one.populations(), other.populations())
        for name in ("left", "right", "box"):
            np.testing.assert_allclose(one.body_force(name), other.body_force(name), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("motion", MOTIONS)
def test_a_restart_in_the_middle_has_the_same_bits(motion, device, tmp_path):
    whole = run("D2Q9", "polygon", motion, steps=31, device=device)
    half = run("D2Q9", "polygon", motion, steps=14, device=device)
    half.save(tmp_path / "half.h5")
    other = lbm.Solver(domain("D2Q9", "polygon", motion), lbm.TRT(0.03), device=device)
    other.restore(tmp_path / "half.h5")
    loaded = lbm.Solver.load(tmp_path / "half.h5", domain=domain("D2Q9", "polygon", motion), device=device)
    for solver in (other, loaded):
        solver.step(17)
        np.testing.assert_array_equal(solver.populations(), whole.populations())
        np.testing.assert_array_equal(solver.body_force("body"), whole.body_force("body"))


def test_what_is_read_in_between_changes_nothing(device):
    """Forces and fields, which apply boundaries; a recording of steps has the bits of steps one by one."""
    whole = run("D3Q19", "sphere", "swinging", steps=80, device=device)
    parts = run("D3Q19", "sphere", "swinging", steps=0, device=device)
    for _ in range(40):
        parts.body_force("body")
        parts.velocity()
        parts.step(2)
    np.testing.assert_array_equal(whole.populations(), parts.populations())


def test_recorded_forces_are_those_that_are_asked_for(device):
    solver = run("D2Q9", "box", "swinging", steps=0, device=device)
    forces = solver.record(lbm.Forces("body", every=3))
    asked = []
    for _ in range(10):
        solver.step(3)
        asked.append([*solver.body_force("body"), *solver.body_torque("body")])
    found = np.hstack([forces["force"], forces["torque"]])
    np.testing.assert_allclose(found, asked, rtol=1e-12, atol=1e-15)


@pytest.mark.gpu
@pytest.mark.parametrize("shape", ["union", "polygon"])
@pytest.mark.parametrize("streaming", STREAMINGS)
@pytest.mark.parametrize("D", [2, 3])
def test_a_gpu_has_the_bits_of_the_cpu(D, streaming, shape, gpu):
    """Through recorded steps too, which find the poses of each step by themselves."""
    name, shape = ("D2Q9", shape) if D == 2 else ("D3Q19", {"union": "cylinder", "polygon": "mesh"}[shape])
    one, other = (run(name, shape, "swinging", steps=70, streaming=streaming, device=d) for d in ("cpu", gpu))
    np.testing.assert_array_equal(one.populations(), other.populations())
    np.testing.assert_allclose(one.body_force("body"), other.body_force("body"), rtol=1e-9, atol=1e-12)
    assert (one.solid == other.solid).all()


@pytest.mark.gpu
def test_a_body_with_more_surface_than_its_box_has_the_bits_of_the_cpu(gpu):
    """A comb, whose cuts a GPU's list of them has no room for."""
    made = lbm.Domain((24, 30, 30), stencil="D3Q19")
    teeth = [lbm.Box((x, 3.2, 3.3), (x + 0.9, 26.6, 26.7)) for x in np.arange(3.3, 20, 2)]
    comb = functools.reduce(operator.or_, teeth)
    made.add_body(comb, "comb", motion=lbm.Oscillation((0.6, 0.4, 0.3), period=80))
    one, other = (lbm.Solver(made, lbm.TRT(0.03), device=d) for d in ("cpu", gpu))
    for _ in range(3):
        for solver in (one, other):
            solver.step(9)
        np.testing.assert_array_equal(one.populations(), other.populations())


def test_members_of_an_ensemble_have_their_own_bodies(device):
    """Whose launches may serve several domains at once."""
    motions = [lbm.Oscillation((2, 0), period=80 + 40 * k) for k in range(3)]
    domains = [lbm.Domain(BOX[2], stencil="D2Q9") for _ in motions]
    for made, motion in zip(domains, motions, strict=True):
        made.add_body(shapes(2)["difference"], "body", motion=motion)
    ensemble = lbm.Ensemble(domains, lbm.TRT(0.03), device=device)
    ensemble.step(50)
    for k, made in enumerate(domains):
        solver = lbm.Solver(made, lbm.TRT(0.03), device=device)
        solver.step(50)
        np.testing.assert_array_equal(ensemble.velocity()[k], solver.velocity())
