"""Conditions name the scheme of their links: the default if not given, in checkpoints and cases too."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lbmgpu as lbm
from lbmgpu.case.build import build_solver
from lbmgpu.case.read import parse_case

SCHEMES = [
    (lbm.VelocityInlet, {"velocity": (0.01, 0.0)}, "bounce-back"),
    (lbm.PressureOutlet, {"density": 1.01}, "anti-bounce-back"),
    (lbm.Outflow, {}, "zero-gradient"),
]


@pytest.mark.parametrize(("kind", "values", "scheme"), SCHEMES)
def test_a_condition_has_the_scheme_that_it_names(kind: Any, values: dict[str, Any], scheme: str) -> None:
    condition = kind(**values)
    assert condition.scheme == scheme
    assert condition == kind(**values, scheme=scheme)
    for other in (copy.deepcopy(condition), pickle.loads(pickle.dumps(condition))):
        assert other == condition
    with pytest.raises(ValueError, match=f"scheme: 'wet-node' given, must be one of '{scheme}'"):
        kind(**values, scheme="wet-node")
    with pytest.raises(TypeError, match="scheme: 1 given"):
        kind(**values, scheme=1)


WALLS = "'halfway', 'interpolated', 'bouzidi', 'central-linear'"


@pytest.mark.parametrize(("kind", "values"), [(lbm.NoSlip, {}), (lbm.MovingWall, {"velocity": (0.01, 0.0)})])
def test_a_wall_without_a_scheme_has_that_of_the_place_where_it_is(kind: Any, values: dict[str, Any]) -> None:
    assert kind(**values).scheme is None
    assert "scheme" not in repr(kind(**values))
    assert kind(**values) != kind(**values, scheme="halfway")
    with pytest.raises(ValueError, match=f"scheme: 'wet-node' given, must be one of {WALLS}"):
        kind(**values, scheme="wet-node")
    domain, mask, disc = lbm.Domain((9, 9), "D2Q9"), np.zeros((9, 9), bool), lbm.Sphere((5, 5), 2)
    mask[0, 0] = True
    domain.add_body(mask, "mask", kind(**values))
    domain.add_body(disc, "disc", kind(**values))
    domain.add_body(lbm.Box((7, 7), (8, 8)), "box", kind(**values, scheme="bouzidi"))
    assert [body.scheme for body in domain.bodies.values()] == ["halfway", "interpolated", "bouzidi"]


def test_a_scheme_at_known_distances_is_of_bodies_with_a_surface() -> None:
    domain = lbm.Domain((9, 9), "D2Q9")
    with pytest.raises(ValueError, match=r"scheme of faces\['-x'\]: 'bouzidi' given, must be 'halfway'"):
        domain.faces["-x"] = lbm.NoSlip(scheme="bouzidi")
    with pytest.raises(ValueError, match="scheme of body 'it': 'bouzidi' given, must be 'halfway': a mask does not"):
        domain.add_body(lambda x, y: x < 3, "it", lbm.NoSlip(scheme="bouzidi"))
    with pytest.raises(ValueError, match="links of body 'it': given with a geometry"):
        domain.add_body(lbm.Sphere((5, 5), 2), "it", links=lbm.Sphere((5, 5), 2).links((0, 0), (9, 9), [(0, 1)]))


def channel(**scheme: str) -> lbm.Domain:
    domain = lbm.Domain((8, 6), "D2Q9")
    domain.faces["-y"] = domain.faces["+y"] = lbm.NoSlip(**scheme)
    return domain


def test_a_checkpoint_without_a_scheme_has_the_default(tmp_path: Path) -> None:
    lbm.Solver(channel(), lbm.BGK(0.1), device="cpu").save(tmp_path / "state.h5")
    assert b"halfway" not in (tmp_path / "state.h5").read_bytes()
    lbm.Solver(channel(scheme="halfway"), lbm.BGK(0.1), device="cpu").restore(tmp_path / "state.h5")
    assert lbm.Solver.load(tmp_path / "state.h5", device="cpu").domain.faces["-y"] == lbm.NoSlip()


def test_a_case_may_name_schemes() -> None:
    case: dict[str, Any] = {
        "domain": {"shape": [8, 6], "stencil": "D2Q9"},
        "collision": {"model": "BGK", "viscosity": 0.1},
        "faces": {"-y": {"condition": "no-slip", "scheme": "halfway"}, "+y": {"condition": "no-slip"}},
        "bodies": [
            {
                "shape": "box",
                "low": [2, 2],
                "high": [4, 4],
                "condition": {"condition": "moving-wall", "velocity": [0, 0], "scheme": "halfway"},
            }
        ],
        "run": {"steps": 1, "device": "cpu"},
    }
    solver = build_solver(parse_case(json.dumps(case)), Path())
    assert solver.domain.faces["-y"] == lbm.NoSlip(scheme="halfway")
    assert solver.domain.faces["+y"] == lbm.NoSlip()
    assert solver.domain.bodies["body 1"].scheme == "halfway"
    case["bodies"][0]["condition"]["scheme"] = "bouzidi"
    assert build_solver(parse_case(json.dumps(case)), Path()).domain.bodies["body 1"].scheme == "bouzidi"
    case["faces"]["-y"]["scheme"], case["bodies"][0]["condition"]["scheme"] = "bouzidi", "wet-node"
    with pytest.raises(lbm.CaseError) as caught:
        parse_case(json.dumps(case))
    assert [path for path, _ in caught.value.problems] == ["$.bodies[0].condition.scheme", "$.faces['-y'].scheme"]


OTHERS = [
    lbm.VelocityInlet((0.01, 0.0), scheme="non-equilibrium"),
    lbm.VelocityInlet((0.01, 0.0), scheme="characteristic"),
    lbm.PressureOutlet(1.01, scheme="characteristic"),
]


@pytest.mark.parametrize("condition", OTHERS, ids=repr)
def test_a_scheme_that_is_not_the_default_is_kept(condition: Any, tmp_path: Path) -> None:
    """In the condition's text, in checkpoints with what its cells keep, and in cases; a restored run goes on alike."""
    assert f"scheme={condition.scheme!r}" in repr(condition)
    domain = lbm.Domain((8, 6), "D2Q9")
    domain.faces["-x"], domain.faces["+x"] = condition, lbm.PressureOutlet(scheme="characteristic")
    solver = lbm.Solver(domain, lbm.BGK(0.1), device="cpu")
    solver.step(3)
    solver.save(tmp_path / "state.h5")
    restored = lbm.Solver.load(tmp_path / "state.h5", device="cpu")
    assert restored.domain.faces == domain.faces
    for each in (solver, restored):
        each.step(3)
    assert (restored.populations() == solver.populations()).all()

    value = {"velocity": [0.01, 0]} if hasattr(condition, "velocity") else {"density": 1.01}
    case: dict[str, Any] = {
        "domain": {"shape": [8, 6], "stencil": "D2Q9"},
        "collision": {"model": "BGK", "viscosity": 0.1},
        "faces": {
            "-x": {"condition": condition.kind, "scheme": condition.scheme} | value,
            "+x": {"condition": "outflow"},
        },
        "run": {"steps": 1, "device": "cpu"},
    }
    assert build_solver(parse_case(json.dumps(case)), Path()).domain.faces["-x"] == condition
