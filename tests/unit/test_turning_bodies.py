"""Bodies of revolution that only turn about their axis, which are not looked for in each step."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lbmgpu as lbm

pytestmark = pytest.mark.filterwarnings("ignore::lbmgpu.GeometryWarning")
ABOUT = (20.3, 15.1)
DISC = lbm.Sphere(ABOUT, 6)
BALL = lbm.Sphere((12.2, 12.4, 12.1), 5)
ROD = lbm.Cylinder((12.2, 12.4, 12.1), 4, axis=(1, 2, 0.5), length=9)
ALONG = (2.0, 4.0, 1.0)


def solver_of(geometry: lbm.Geometry, name: str = "it", **arguments: Any) -> lbm.Solver:
    flat = geometry.dimensions == 2
    domain = lbm.Domain((40, 30) if flat else (24, 24, 24), stencil="D2Q9" if flat else "D3Q19")
    domain.add_body(geometry, name, **arguments)
    solver = lbm.Solver(domain, lbm.TRT(0.05), device="cpu", precision="float64")
    solver.initialize(velocity=(0.03, 0.01, 0.02)[: geometry.dimensions])
    return solver


def moves(solver: lbm.Solver) -> bool:
    return solver.domain.bodies["it"].motion is not None


OSCILLATION = lbm.Oscillation(turn=0.3, period=80, phase=0.2)
SINE = lbm.Sine(amplitude=0.3 * 2 * np.pi / 80, period=80, phase=0.2 + np.pi / 2)


@pytest.mark.parametrize(
    ("geometry", "motion", "velocity"),
    [
        (DISC, lbm.Motion(rate=0.01), lbm.Rotation(0.01, ABOUT)),
        (DISC, lbm.Motion(velocity=(0, 0), rate=0.01, center=ABOUT), lbm.Rotation(0.01, ABOUT)),
        (DISC, OSCILLATION, lbm.Rotation(1.0, ABOUT) * SINE),
        (BALL, lbm.Motion(rate=0.01, axis=(1, 2, 3)), lbm.Rotation(0.01, BALL.center, (1, 2, 3))),
        (ROD, lbm.Motion(rate=-0.01, axis=ALONG), lbm.Rotation(-0.01, ROD.center, ALONG)),
        (lbm.Cylinder((12, 12, 0), 4), lbm.Motion(rate=0.01), lbm.Rotation(0.01, (12, 12, 0))),
    ],
)
def test_it_has_the_bits_of_a_wall_that_turns(geometry: lbm.Geometry, motion: Any, velocity: Any) -> None:
    one, other = solver_of(geometry, motion=motion), solver_of(geometry, condition=lbm.MovingWall(velocity))
    assert not moves(one)
    center = (1, 2, 3)[: geometry.dimensions]
    recorded = [solver.record(lbm.Forces("it", about=center)) for solver in (one, other)]
    for solver in (one, other):
        solver.step(30)
    np.testing.assert_array_equal(one.populations(), other.populations())
    np.testing.assert_array_equal(one.body_force("it"), other.body_force("it"))
    np.testing.assert_array_equal(recorded[0]["torque"], recorded[1]["torque"])
    np.testing.assert_array_equal(one.solid, other.solid)


@pytest.mark.parametrize(
    ("geometry", "motion"),
    [
        (DISC, lbm.Motion(rate=0.01, center=(20.4, 15.1))),
        (DISC, lbm.Motion(rate=0.01, velocity=(0.01, 0))),
        (DISC, lbm.Motion(angle=lambda t: 0.01 * t)),
        (DISC, lbm.Oscillation((0.1, 0), period=90, turn=0.1)),
        (DISC | lbm.Sphere((20.3, 15.1), 2), lbm.Motion(rate=0.01)),
        (lbm.Sphere((39, 15), 6), lbm.Motion(rate=0.01)),
        (ROD, lbm.Motion(rate=0.01, axis="x")),
        (lbm.Box((8, 8, 8), (16, 16, 16)), lbm.Motion(rate=0.01)),
    ],
)
def test_what_changes_its_cells_moves(geometry: lbm.Geometry, motion: Any) -> None:
    """And what a periodic face cuts in two, as functions of coordinates then do not know its parts, and what is made of
    others, whose axis is not looked for."""
    assert moves(solver_of(geometry, motion=motion))


def test_one_in_the_way_of_another_moves() -> None:
    """As what lies in both may then be solid; beside each other both are at rest."""
    for aside, in_way in ((6.5, True), (12.5, False)):
        domain = lbm.Domain((40, 30), stencil="D2Q9")
        domain.add_body(DISC, "it", motion=lbm.Motion(rate=0.01))
        domain.add_body(lbm.Box((ABOUT[0] + aside - 4, 10), (ABOUT[0] + aside, 20)), "block")
        solver = lbm.Solver(domain, lbm.TRT(0.05), device="cpu")
        assert moves(solver) == in_way
        assert domain.bodies["it"].motion is not None  # the user's
        solver.step(2)
    domain = lbm.Domain((40, 30), stencil="D2Q9")
    domain.add_body(lambda x, y: x < 3, "wall")
    domain.add_body(DISC, "it", motion=lbm.Motion(rate=0.01))
    assert moves(lbm.Solver(domain, lbm.TRT(0.05), device="cpu"))


def test_torques_are_about_the_point_that_it_turns_about() -> None:
    solver = solver_of(BALL, motion=lbm.Motion(rate=0.01))
    solver.step(10)
    np.testing.assert_array_equal(solver.body_torque("it"), solver.body_torque("it", BALL.center))
    recorded = solver.record(lbm.Forces("it"))
    solver.step(1)
    np.testing.assert_array_equal(recorded["torque"][-1], solver.body_torque("it", BALL.center))


def test_a_checkpoint_needs_no_domain(tmp_path: Path) -> None:
    solver = solver_of(DISC, motion=lbm.Motion(rate=0.01))
    solver.step(5)
    path = solver.save(tmp_path / "state.h5")
    loaded = lbm.Solver.load(path, device="cpu")
    again = lbm.Solver.load(path, domain=solver_of(DISC, motion=lbm.Motion(rate=0.01)).domain, device="cpu")
    other = solver_of(DISC, motion=lbm.Motion(rate=0.02))
    with pytest.raises(lbm.CheckpointError, match=r"bodies\.it\.velocity"):
        other.restore(path)
    for each in (solver, loaded, again):
        each.step(20)
    np.testing.assert_array_equal(loaded.populations(), solver.populations())
    np.testing.assert_array_equal(again.populations(), solver.populations())


def test_what_bodies_at_rest_may_it_may_too() -> None:
    """A temperature, a surface, and no distance from faces."""
    domain = lbm.Domain((24, 24, 24))
    domain.faces["-z"] = domain.faces["+z"] = lbm.NoSlip()
    domain.add_body(lbm.Sphere((12, 12, 6.5), 6), "it", thermal=None, motion=lbm.Motion(rate=0.01))
    solver = lbm.Solver(domain, lbm.BGK(0.05), device="cpu", thermal=lbm.HybridThermal(0.05))
    solver.step(2)
    assert solver.surface("it") is not None


def test_one_that_is_too_fast_is_refused_as_a_motion() -> None:
    with pytest.raises(ValueError, match="motion of body 'it': a speed of"):
        solver_of(DISC, motion=lbm.Motion(rate=0.05))
