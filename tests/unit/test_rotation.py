"""A rotation gives the velocity of a rigid body, also in files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import lbmgpu as lbm
from lbmgpu.case.build import build_solver
from lbmgpu.case.read import parse_case

CENTER = (10.3, 9.8)


def test_components_are_those_of_omega_cross_x() -> None:
    x = np.random.default_rng(1).uniform(-5, 5, (3, 7))
    for axis, omega in (("x", (2, 0, 0)), ("y", (0, 2, 0)), ("z", (0, 0, 2)), ((0, 3, 4), (0, 1.2, 1.6))):
        found = np.array(np.broadcast_arrays(*lbm.Rotation(2, (1, 2, 3), axis)(*x)))
        np.testing.assert_allclose(found, np.cross(omega, x.T - (1, 2, 3)).T, rtol=0, atol=1e-14)
    np.testing.assert_allclose(lbm.Rotation(2, (1, 2))(*x[:2]), (-2 * (x[1] - 2), 2 * (x[0] - 1)))


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((1, (0, 0), "x"), "axis: 'x' given, must be 'z' in two dimensions"),
        ((1, (0, 0, 0), "w"), "axis"),
        ((1, (0, 0, 0), (0, 0, 0)), "axis: a vector of length 0"),
        ((1, (0,)), "about: shape"),
        ((np.nan, (0, 0)), "rate"),
    ],
)
def test_a_wrong_rotation_is_refused_by_name(arguments: tuple[object, ...], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        lbm.Rotation(*arguments)  # type: ignore[arg-type]


def solver_of(turning: object, scheme: str | None = None) -> lbm.Solver:
    domain = lbm.Domain((20, 20), "D2Q9")
    domain.add_body(lbm.Sphere(CENTER, 5.2), "rotor", lbm.MovingWall(turning, scheme=scheme))
    return lbm.Solver(domain, lbm.TRT(0.1), device="cpu")


@pytest.mark.parametrize("scheme", [None, "halfway"])
@pytest.mark.parametrize("in_time", [False, True])
def test_a_checkpoint_holds_a_rotation(in_time: bool, scheme: str | None, tmp_path: Path) -> None:
    turning = lbm.Rotation(1e-3, CENTER)
    solver = solver_of(turning * lbm.Ramp(0, 1, 20) if in_time else turning, scheme)
    solver.step(5)
    solver.save(tmp_path / "state.h5")
    loaded = lbm.Solver.load(tmp_path / "state.h5", device="cpu")
    for each in (solver, loaded):
        each.step(30)
    assert loaded.populations().tobytes() == solver.populations().tobytes()
    assert loaded.body_torque("rotor", CENTER) == solver.body_torque("rotor", CENTER) != 0
    with pytest.raises(lbm.CheckpointError, match=r"a rotation|a function of time"):
        solver_of((0.001, 0.0), scheme).restore(tmp_path / "state.h5")


def test_a_checkpoint_of_another_function_on_a_surface_needs_the_domain(tmp_path: Path) -> None:
    solver = solver_of(lambda x, y: (1e-3 * (CENTER[1] - y), 0))
    solver.save(tmp_path / "state.h5")
    with pytest.raises(lbm.CheckpointError, match="a function gives it on a surface"):
        lbm.Solver.load(tmp_path / "state.h5", device="cpu")
    assert lbm.Solver.load(tmp_path / "state.h5", domain=solver.domain, device="cpu").steps == 0


@pytest.mark.parametrize("scheme", [None, "halfway"])
def test_functions_of_time_on_a_surface_give_the_flow_of_their_values(scheme: str | None) -> None:
    """As products, as functions with t, and as values that do not change, when these are equal."""
    turning = lbm.Rotation(1e-3, CENTER)
    constant = lbm.Sine(mean=1, amplitude=0, period=10)
    solvers = [solver_of(each, scheme) for each in (turning, turning * constant, lambda x, y, t: turning(x, y))]
    for solver in solvers:
        solver.step(10)
    for other in solvers[1:]:
        np.testing.assert_array_equal(other.populations(), solvers[0].populations())
        assert other.body_torque("rotor", CENTER) == solvers[0].body_torque("rotor", CENTER)


def test_a_case_has_bodies_that_turn() -> None:
    case = {
        "domain": {"shape": [20, 20], "stencil": "D2Q9"},
        "collision": {"model": "TRT", "viscosity": 0.1},
        "bodies": [
            {
                "shape": "sphere",
                "center": list(CENTER),
                "radius": 5.2,
                "condition": {"condition": "moving-wall", "velocity": {"rate": 1e-3, "about": list(CENTER)}},
            }
        ],
        "run": {"steps": 1, "device": "cpu"},
    }
    condition = build_solver(parse_case(json.dumps(case)), Path()).domain.bodies["body 1"].condition
    assert isinstance(condition, lbm.MovingWall)
    assert condition.velocity == lbm.Rotation(1e-3, CENTER)
