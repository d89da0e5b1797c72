"""Sponges of a domain: their arguments, copies, checkpoints and cases, and what they keep and damp."""

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


def stream(**sponge: Any) -> lbm.Domain:
    domain = lbm.Domain((16, 8), "D2Q9")
    domain.faces["-x"], domain.faces["+x"] = lbm.VelocityInlet((0.05, 0), scheme="regularized"), lbm.Outflow()
    if sponge:
        domain.add_sponge(**sponge)
    return domain


SPONGE: dict[str, Any] = {"face": "+x", "thickness": 6, "strength": 0.3}
PULL: dict[str, Any] = SPONGE | {"pull": 0.1, "velocity": (0.05, 0.0), "density": 1.01}


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"face": "+z"}, "face: '\\+z' given"),
        ({"face": 1}, "face: 1 given"),
        ({"thickness": 0}, "thickness: 0 given, must be an integer from 1"),
        ({"thickness": 17}, "thickness: 17 given, must be at most the 16 cells before \\+x"),
        ({"thickness": 2.5}, "thickness: 2.5 given"),
        ({"strength": 1.5}, "strength: 1.5 given"),
        ({"strength": float("nan")}, "strength: nan given"),
        ({"pull": 0.1}, "velocity: None given with a pull"),
        ({"velocity": (0.1, 0.0)}, "velocity: given without a pull"),
        ({"pull": 0.1, "velocity": (0.1, 0.0, 0.0)}, r"velocity: shape \(3,\) given, must be \(2,\)"),
        ({"pull": 0.1, "velocity": 0.1}, "velocity: shape"),
        ({"pull": 0.1, "velocity": (0.5, 0.0)}, "velocity"),
        ({"pull": 0.1, "velocity": (0.1, 0.0), "density": 0.0}, "density: 0.0 given"),
    ],
)
def test_wrong_arguments_are_refused_by_name(wrong: dict[str, Any], message: str) -> None:
    domain = stream()
    with pytest.raises((TypeError, ValueError), match=message):
        domain.add_sponge(**SPONGE | wrong)
    assert domain.sponges == ()


def test_a_stencil_that_carries_the_temperature_has_no_sponges() -> None:
    domain = lbm.Domain((16, 8), "D2Q37")
    domain.add_sponge("+x", 3)
    with pytest.raises(ValueError, match="sponges: given with D2Q37, must be none"):
        lbm.Solver(domain, lbm.ThermalBGK(0.1), device="cpu")


def test_what_does_not_go_with_a_temperature_is_refused_by_name() -> None:
    domain = stream(**PULL | {"velocity": (0.15, 0.0)})
    with pytest.raises(ValueError, match=r"energy_coupling: 1 given in a domain with sponges, must be 0"):
        lbm.Solver(domain, lbm.BGK(0.1), thermal=lbm.HybridThermal(0.05, energy_coupling=1.0), device="cpu")
    with pytest.raises(lbm.ThermallyUnstableError, match=r"velocity of the sponge before \+x: a speed of 0\.15 given"):
        lbm.Solver(domain, lbm.BGK(0.1), thermal=lbm.HybridThermal(0.002), device="cpu")


def test_the_engine_refuses_what_is_out_of_range() -> None:
    solver = lbm.Solver(stream(), lbm.BGK(0.1), device="cpu")
    engine = solver._simulation.engine
    for arguments, name in (
        ((4, 3, 0.5, 0.0, 1.0, [0.0, 0.0]), "face"),
        ((1, 17, 0.5, 0.0, 1.0, [0.0, 0.0]), "thickness"),
        ((1, 3, 1.5, 0.0, 1.0, [0.0, 0.0]), "strength"),
        ((1, 3, 0.5, -1.0, 1.0, [0.0, 0.0]), "pull"),
        ((1, 3, 0.5, 0.0, 0.0, [0.0, 0.0]), "density"),
        ((1, 3, 0.5, 0.0, 1.0, [0.0]), "velocity"),
        ((1, 3, 0.5, 0.0, 1.0, [np.nan, 0.0]), "velocity"),
    ):
        with pytest.raises(ValueError, match=f"{name} of a sponge"):
            engine.add_sponge(*arguments)


def test_copies_have_the_sponges_and_a_solver_s_domain_takes_none() -> None:
    domain = stream(**PULL)
    for other in (domain.copy(), copy.deepcopy(domain), pickle.loads(pickle.dumps(domain))):
        assert other.sponges == domain.sponges
    other = domain.copy()
    other.add_sponge("-x", 2)
    assert len(domain.sponges) == 1
    solver = lbm.Solver(domain, lbm.BGK(0.1), device="cpu")
    with pytest.raises(TypeError, match="add_sponge: changed in the domain of a solver"):
        solver.domain.add_sponge("-x", 2)


@pytest.mark.parametrize("sponge", [SPONGE, PULL])
def test_a_checkpoint_has_the_sponges(sponge: dict[str, Any], tmp_path: Path) -> None:
    solver = lbm.Solver(stream(**sponge), lbm.TRT(0.02), device="cpu")
    solver.initialize(velocity=(0.04, 0.01))
    solver.step(7)
    solver.save(tmp_path / "state.h5")
    other = lbm.Solver.load(tmp_path / "state.h5", device="cpu")
    assert other.domain.sponges == solver.domain.sponges
    solver.step(5)
    other.step(5)
    assert (solver.populations() == other.populations()).all()
    with pytest.raises(lbm.CheckpointError, match="sponges"):
        lbm.Solver(stream(), lbm.TRT(0.02), device="cpu").restore(tmp_path / "state.h5")


def test_a_case_may_have_sponges() -> None:
    case: dict[str, Any] = {
        "domain": {"shape": [16, 8], "stencil": "D2Q9"},
        "collision": {"model": "BGK", "viscosity": 0.1},
        "sponges": [SPONGE, PULL | {"velocity": [0.05, 0]}],
        "run": {"steps": 1, "device": "cpu"},
    }
    solver = build_solver(parse_case(json.dumps(case)), Path())
    expected = stream(**SPONGE)
    expected.add_sponge(**PULL)
    assert solver.domain.sponges == expected.sponges
    case["sponges"][0]["face"] = "+z"
    with pytest.raises(lbm.CaseError, match=r"sponges\[0\]"):
        build_solver(parse_case(json.dumps(case)), Path())
    case["sponges"][0] = {"face": "+x"}
    with pytest.raises(lbm.CaseError, match=r"sponges\[0\]"):
        parse_case(json.dumps(case))


def test_a_sponge_without_a_pull_keeps_mass_and_momentum(device: str) -> None:
    domain = lbm.Domain((16, 12), "D2Q9")
    domain.add_sponge("+x", 10, 1.0)
    solver = lbm.Solver(domain, lbm.MRT(0.001), precision="float64", device=device)
    x, y = np.meshgrid(*(2 * np.pi * (np.arange(n) + 0.5) / n for n in (16, 12)), indexing="ij")
    solver.initialize(velocity=0.05 * np.array([1 + np.sin(y), np.sin(x)]))
    before = [solver.density().sum(), *(solver.density() * solver.velocity()).sum(axis=(1, 2))]
    solver.step(200)
    after = [solver.density().sum(), *(solver.density() * solver.velocity()).sum(axis=(1, 2))]
    np.testing.assert_allclose(after, before, rtol=0, atol=1e-11)
    assert solver.velocity()[1].std() < 0.03


def test_a_pull_draws_to_the_given_flow(device: str) -> None:
    domain = lbm.Domain((16, 12), "D2Q9")
    domain.add_sponge("+x", 16, 0.5, pull=0.2, velocity=(0.05, -0.02), density=1.02)
    solver = lbm.Solver(domain, lbm.TRT(0.05), precision="float64", device=device)
    solver.step(1000)
    np.testing.assert_allclose(solver.density(), 1.02, atol=1e-10)
    np.testing.assert_allclose(solver.velocity()[0], 0.05, atol=1e-10)
    np.testing.assert_allclose(solver.velocity()[1], -0.02, atol=1e-10)
