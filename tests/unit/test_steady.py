"""Tests of what ends a run before its last step: numbers that rest over a window of looks, of solvers and cases."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import lbmgpu as lbm
from lbmgpu.case import run_case
from lbmgpu.errors import CaseError


def channel() -> lbm.Solver:
    """A flow around a block, which a force drives."""
    domain = lbm.Domain((16, 12), "D2Q9")
    domain.faces["-y"] = domain.faces["+y"] = lbm.NoSlip()
    mask = np.zeros(domain.shape, dtype=bool)
    mask[5:7, 4:8] = True
    domain.add_body(mask, "block")
    return lbm.Solver(domain, lbm.TRT(0.1), force=(1e-5, 0), precision="float64", device="cpu", threads=1)


def heated() -> lbm.Solver:
    """A square that is heated on the left and cooled on the right."""
    domain = lbm.Domain((12, 12), "D2Q9")
    for face in domain.faces:
        domain.faces[face] = lbm.NoSlip()
    domain.thermal["-x"], domain.thermal["+x"] = lbm.Isothermal(1.0), lbm.Isothermal(0.0)
    model = lbm.HybridThermal(0.05, buoyancy=(0, 1e-4), reference=0.5)
    options = {"precision": "float64", "device": "cpu", "threads": 1}
    solver = lbm.Solver(domain, lbm.TRT(0.05), thermal=model, **options)
    solver.initialize(temperature=0.2)
    return solver


def change(values: list[np.ndarray]) -> float:
    """By how much numbers change over a window, as documented."""
    return float(np.ptp(values, axis=0).max() / np.abs(np.mean(values, axis=0)).max())


def first_rest(values: list[np.ndarray], window: int, tolerance: float) -> int:
    """The look after which a window of them is at rest."""
    return next(n for n in range(window, len(values) + 1) if change(values[n - window : n]) <= tolerance)


def test_a_force_at_rest_over_a_window_ends_the_run() -> None:
    solver, twin = channel(), channel()
    result = solver.run(20_000, until=lbm.Steady(1e-3, of="force:block", every=20, window=8))
    forces = []
    for _ in range(result.steps // 20 + 10):
        twin.step(20)
        forces.append(np.asarray(twin.body_force("block")))
    assert result.converged
    assert result.steps == 20 * first_rest(forces, 8, 1e-3)
    assert 8 * 20 < result.steps < 20_000
    assert result.reason == "steady: the force on 'block' changes by less than 0.001"


def test_every_isothermal_wall_has_to_rest() -> None:
    solver, twin = heated(), heated()
    result = solver.run(20_000, until=lbm.Steady(1e-4, of="nusselt", every=50))
    fluxes = []
    for _ in range(result.steps // 50 + 1):
        twin.step(50)
        fluxes.append(np.array([twin.mean_heat_flux("-x"), twin.mean_heat_flux("+x")]))
    assert result.steps == 50 * first_rest(fluxes, 10, 1e-4)
    assert result.reason == "steady: the Nusselt number changes by less than 0.0001"
    one = first_rest([flux[:1] for flux in fluxes], 10, 1e-4)
    assert 50 * one < result.steps or change(fluxes[one - 10 : one]) <= 1e-4


def test_a_number_of_a_function_ends_the_run() -> None:
    solver, seen = channel(), []

    def energy(given: lbm.Solver) -> float:
        assert given is solver
        seen.append(given.kinetic_energy())
        return seen[-1]

    result = solver.run(20_000, until=lbm.Steady(1e-3, of=energy, every=25, window=4))
    assert result.steps == 25 * len(seen) == 25 * first_rest([np.array([value]) for value in seen], 4, 1e-3)
    assert result.reason == "steady: the number that energy returns changes by less than 0.001"


def test_an_oscillation_is_not_steady() -> None:
    solver = channel()
    result = solver.run(400, until=lbm.Steady(0.1, of=lambda s: 1 + 0.5 * np.sin(s.steps / 10), every=5, window=20))
    assert not result.converged
    assert result.steps == 400


def test_numbers_that_are_zero_rest_only_as_zeros() -> None:
    solver = channel()
    assert solver.run(100, until=lbm.Steady(1e-3, of=lambda s: 0.0, every=10, window=3)).steps == 30
    turning = lbm.Steady(1e-3, of=lambda s: (-1.0) ** (s.steps // 10), every=10, window=2)
    assert not solver.run(100, until=turning).converged


def test_a_window_goes_on_from_run_to_run() -> None:
    whole, parts = channel(), channel()
    until = lbm.Steady(1e-3, of="force:block", every=20, window=8)
    wanted = whole.run(20_000, until=until).steps
    while not parts.run(60, until=until).converged:
        assert parts.steps < wanted
    assert parts.steps == wanted


def test_a_window_begins_anew_after_other_steps_and_at_the_end() -> None:
    solver, until = channel(), lbm.Steady(0.5, of=lambda s: 1.0, every=10, window=4)
    solver.run(30, until=until)
    solver.step(10)
    assert solver.run(100, until=until).steps == 40
    assert solver.run(100, until=until).steps == 40


def test_a_number_that_is_not_finite_is_no_rest() -> None:
    values = iter([1.0, 1.0, np.nan, 1.0, 1.0, 1.0])
    result = channel().run(60, until=lbm.Steady(0.1, of=lambda s: next(values), every=10, window=3))
    assert result.steps == 60
    assert result.converged


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (
            {"of": "heat"},
            ValueError,
            "of: 'heat' given, must be 'velocity', 'temperature', 'nusselt', 'force:NAME' or a",
        ),
        ({"of": "nuselt"}, ValueError, "did you mean 'nusselt'"),
        ({"of": "force:"}, ValueError, "of: 'force:' given"),
        ({"of": 3}, TypeError, "of: 3 given, must be 'velocity'"),
        ({"window": 5}, ValueError, "window: 5 given, must be left out of a steady velocity"),
        ({"of": "nusselt", "window": 1}, ValueError, "window: 1 given, must be an integer from 2"),
        ({"of": "nusselt", "window": 2.5}, TypeError, "window: 2.5 given"),
    ],
)
def test_a_wrong_criterion_is_refused(arguments: dict[str, object], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        lbm.Steady(1e-3, **arguments)  # type: ignore[arg-type]


def test_what_a_solver_has_not_is_refused_before_any_step() -> None:
    solver = channel()
    walls = r"and the walls '-y', '\+y'; did you mean 'block'"
    with pytest.raises(ValueError, match=rf"until: of='force:blok' given, but the bodies are 'block', {walls}"):
        solver.run(10, until=lbm.Steady(1e-3, of="force:blok"))
    with pytest.raises(ValueError, match="until: of='nusselt' given, but the solver has no Nusselt numbers"):
        solver.run(10, until=lbm.Steady(1e-3, of="nusselt"))
    cold = lbm.Solver(lbm.Domain((4, 4), "D2Q9"), lbm.BGK(0.1), thermal=lbm.HybridThermal(0.05), device="cpu")
    with pytest.raises(ValueError, match="no face and no body of the solver is Isothermal"):
        cold.run(10, until=lbm.Steady(1e-3, of="nusselt"))
    with pytest.raises(TypeError, match="until: number that <lambda> returns is 'much', must be a number"):
        solver.run(10, until=lbm.Steady(1e-3, of=lambda s: "much", every=5))
    assert solver.steps == 5


def test_an_ensemble_ends_by_fields_alone() -> None:
    ensemble = lbm.Ensemble(lbm.Domain((8, 8), "D2Q9"), [lbm.BGK(0.1), lbm.BGK(0.2)], device="cpu", threads=1)
    with pytest.raises(
        ValueError, match="until: of='force:block' given, must be 'velocity' or 'temperature' for an ens"
    ):
        ensemble.run(10, until=lbm.Steady(1e-3, of="force:block"))
    assert ensemble.run(10, until=lbm.Steady(1e-3, every=5)).converged


CASE = {
    "domain": {"shape": [16, 12], "stencil": "D2Q9"},
    "collision": {"model": "TRT", "viscosity": 0.1},
    "precision": "float64",
    "faces": {"-y": {"condition": "no-slip"}, "+y": {"condition": "no-slip"}},
    "bodies": [{"name": "block", "shape": "box", "low": [5, 4], "high": [7, 8]}],
    "force": [1e-5, 0],
    "run": {
        "steps": 20_000,
        "steady": {"tolerance": 1e-3, "of": "force:block", "every": 20, "window": 8},
        "device": "cpu",
        "threads": 1,
    },
}


def test_a_case_ends_when_a_force_rests(tmp_path: Path) -> None:
    path = tmp_path / "block.json"
    path.write_text(json.dumps(CASE))
    result = run_case(path, folder=tmp_path / "out", progress=False)
    solver = channel()
    assert result.converged
    assert result.steps == solver.run(20_000, until=lbm.Steady(1e-3, of="force:block", every=20, window=8)).steps


def test_a_case_ends_when_the_force_on_a_wall_rests(tmp_path: Path) -> None:
    path = tmp_path / "wall.json"
    path.write_text(json.dumps(CASE | {"run": CASE["run"] | {"steady": CASE["run"]["steady"] | {"of": "force:-y"}}}))
    result = run_case(path, folder=tmp_path / "out", progress=False)
    assert result.converged
    assert result.steps == channel().run(20_000, until=lbm.Steady(1e-3, of="force:-y", every=20, window=8)).steps


@pytest.mark.parametrize(
    ("steady", "place", "message"),
    [
        ({"of": "force:blok"}, "$.run.steady.of", "'force:blok' given, but the bodies are 'block'"),
        ({"of": "force:-x"}, "$.run.steady.of", "'force:-x' given, a face with Periodic, must be a wall, '-y' or '+y'"),
        ({"of": "nusselt"}, "$.run.steady.of", "'nusselt' given, but the case has no temperature"),
        ({"of": "speed"}, "$.run.steady.of", "'speed' given, must be 'velocity'"),
        ({"of": "velocity", "window": 3}, "$.run.steady.window", "3 given, must be left out"),
        ({"of": "force:block", "window": 1}, "$.run.steady.window", "1 given, must be at least 2"),
    ],
)
def test_a_wrong_criterion_of_a_case_is_named(
    tmp_path: Path, steady: dict[str, object], place: str, message: str
) -> None:
    path = tmp_path / "block.json"
    path.write_text(json.dumps(CASE | {"run": CASE["run"] | {"steady": {"tolerance": 1e-3} | steady}}))
    with pytest.raises(CaseError) as caught:
        run_case(path, folder=tmp_path / "out", progress=False)
    assert [(where, text.startswith(message)) for where, text in caught.value.problems] == [(place, True)]
