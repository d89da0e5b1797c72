"""Bodies that move through a fluid: balances, Galilean invariance, and an oscillating cylinder."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest

import lbmgpu as lbm


def moving_disc(shape: tuple[int, int], radius: float, motion: object, viscosity: float, **more: object) -> lbm.Solver:
    domain = lbm.Domain(shape, stencil="D2Q9")
    domain.add_body(lbm.Sphere((shape[0] / 2 + 0.2, shape[1] / 2 - 0.3), radius), "disc", motion=motion)
    return lbm.Solver(domain, lbm.TRT(viscosity), device="cpu", **{"precision": "float64", **more})


def momentum_of_fluid(solver: lbm.Solver) -> np.ndarray:
    """Relative to the fluid at rest with density 1."""
    fluid = ~solver.solid
    return (solver.density() * solver.velocity())[:, fluid].sum(axis=1)


@pytest.mark.parametrize(
    "motion",
    [
        lbm.Motion(velocity=(0.04, 0.013)),
        lbm.Oscillation((6.0, 0.0), period=800),
        lbm.Oscillation((4.0, 4.0), period=1000, turn=0.5),
    ],
)
def test_the_fluid_takes_up_what_the_body_gives(motion):
    """In a periodic box the momentum of the fluid changes by the force on the body, but for the noise of cells that are
    covered and uncovered, which hold the momentum of as much fluid."""
    solver = moving_disc((90, 80), 9.0, motion, 0.02)
    given, before = np.zeros(2), momentum_of_fluid(solver)
    largest, worst = 0.0, 0.0
    for _ in range(400):
        given -= solver.body_force("disc")
        solver.step()
        found = momentum_of_fluid(solver) - before
        largest, worst = max(largest, np.abs(found).max()), max(worst, np.abs(found - given).max())
    assert worst < 0.02 * largest
    assert np.abs(found - given).max() < 0.01 * largest


def test_a_body_that_moves_has_the_drag_of_one_in_a_stream():
    """At a Reynolds number of 40 in a periodic box, both started at once: the frame does not matter."""
    shape, radius, speed, viscosity = (160, 120), 10.0, 0.05, 0.025
    moving = moving_disc(shape, radius, lbm.Motion(velocity=(-speed, 0)), viscosity)
    domain = lbm.Domain(shape, stencil="D2Q9")
    domain.add_body(lbm.Sphere((shape[0] / 2 + 0.2, shape[1] / 2 - 0.3), radius), "disc")
    fixed = lbm.Solver(domain, lbm.TRT(viscosity), precision="float64", device="cpu")
    fixed.initialize(velocity=(speed, 0))
    recorded = [solver.record(lbm.Forces("disc")) for solver in (moving, fixed)]
    for solver in (moving, fixed):
        solver.step(3000)
    histories = [forces["force"][:, 0] for forces in recorded]
    for first in range(100, 3000, 500):  # sound goes to and fro in the box
        drags = [history[first : first + 500].mean() for history in histories]
        assert abs(drags[0] / drags[1] - 1) < 0.01
    swept = 2 * radius * speed * 3000
    assert abs(moving.mass() - np.prod(shape)) < 0.004 * swept


EXAMPLE = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "oscillating_cylinder.py"))


@pytest.mark.slow
def test_an_oscillating_cylinder():
    """At a Reynolds number of 100 and a Keulegan-Carpenter number of 5: drag 2.09 and added mass 1.45 (Duetsch, Durst,
    Becker & Lienhart, J. Fluid Mech. 360 (1998) 249)."""
    drag, mass = EXAMPLE["oscillate"](20, fastest=0.03, size=(28, 21), periods=4, device="cpu")
    assert abs(drag / 2.09 - 1) < 0.03
    assert abs(mass / 1.45 - 1) < 0.03


def test_a_small_oscillating_cylinder_has_about_these():
    """The same of fewer cells, in a small box."""
    drag, mass = EXAMPLE["oscillate"](10, fastest=0.06, size=(16, 12), periods=3, device="cpu")
    assert abs(drag / 2.09 - 1) < 0.2
    assert abs(mass / 1.45 - 1) < 0.15


def test_a_turning_ellipse_loses_the_angular_momentum_that_the_fluid_takes_up():
    """In a closed box with free walls far away: torque on the body = - change of the fluid's angular momentum, while
    little of it has reached the walls."""
    shape = (90, 90)
    t = np.linspace(0, 2 * np.pi, 200, endpoint=False)
    ellipse = lbm.Polygon(np.stack([45.2 + 14 * np.cos(t), 44.9 + 7 * np.sin(t)], axis=1))
    domain = lbm.Domain(shape, stencil="D2Q9")
    domain.add_body(ellipse, "ellipse", motion=lbm.Motion(rate=0.002, center=(45.2, 44.9)))
    solver = lbm.Solver(domain, lbm.TRT(0.02), precision="float64", device="cpu")
    x, y = (a - c for a, c in zip(np.mgrid[:90, :90] + 0.5, (45.2, 44.9), strict=True))

    def angular() -> float:
        density, (u, v) = solver.density(), solver.velocity()
        return float((density * (x * v - y * u))[~solver.solid].sum())

    given, before = 0.0, angular()
    for _ in range(250):
        given -= float(solver.body_torque("ellipse")[0])
        solver.step()
    assert abs((angular() - before) / given - 1) < 0.03
