"""Conditions name the scheme of their links: the default if not given, in checkpoints and cases too."""

from __future__ import annotations

import copy
import json
import pickle
from pathlib import Path
from typing import Any

import pytest

import lbmgpu as lbm
from lbmgpu.case.build import build_solver
from lbmgpu.case.read import parse_case

SCHEMES = [
    (lbm.NoSlip, {}, "halfway"),
    (lbm.MovingWall, {"velocity": (0.01, 0.0)}, "halfway"),
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


def channel(**scheme: str) -> lbm.Domain:
    domain = lbm.Domain((8, 6), "D2Q9")
    domain.faces["-y"] = domain.faces["+y"] = lbm.NoSlip(**scheme)
    return domain


def test_a_checkpoint_without_a_scheme_has_the_default(tmp_path: Path) -> None:
    lbm.Solver(channel(), lbm.BGK(0.1), device="cpu").save(tmp_path / "state.h5")
    assert b"halfway" not in (tmp_path / "state.h5").read_bytes()
    lbm.Solver(channel(scheme="halfway"), lbm.BGK(0.1), device="cpu").restore(tmp_path / "state.h5")
    assert lbm.Solver.load(tmp_path / "state.h5", device="cpu").domain.faces["-y"] == lbm.NoSlip(scheme="halfway")


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
    assert solver.domain.faces["-y"] == solver.domain.faces["+y"] == lbm.NoSlip()
    case["faces"]["-y"]["scheme"] = case["bodies"][0]["condition"]["scheme"] = "interpolated"
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
