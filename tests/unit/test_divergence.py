"""Looks for divergence: what is taken for a flow, what an error tells of the cause, and how often a run looks."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pytest

import lbmgpu as lbm
from lbmgpu.errors import Look
from lbmgpu.solver.run import MAX_CHUNK, MIN_STEPS, HealthCheck
from lbmgpu.solver.solver import simulation_of

SHAPE = (20, 12)


def set_cell(solver: lbm.Solver, cell: tuple[int, int], density: float, speed: float) -> None:
    """Give a cell an equilibrium of its own."""
    known = lbm.stencil("D2Q9")
    populations = np.array(solver.populations(), dtype=float)
    along = known.c[:, 0] * speed / known.cs2
    populations[(slice(None), *cell)] = density * known.w * (1 + along + along**2 / 2 - speed**2 / (2 * known.cs2))
    simulation_of(solver).engine.set_populations(np.ascontiguousarray(populations.transpose(0, 2, 1)))


def solver_of(collision: Any = None, **options: Any) -> lbm.Solver:
    domain = options.pop("domain", lbm.Domain(SHAPE, "D2Q9"))
    return lbm.Solver(domain, collision or lbm.BGK(0.1), device="cpu", threads=1, **options)


def error_of(solver: lbm.Solver) -> lbm.DivergedError:
    with pytest.raises(lbm.DivergedError) as caught:
        solver.check()
    return caught.value


def test_too_fast_a_cell_is_found() -> None:
    solver = solver_of()
    solver.check()
    set_cell(solver, (7, 3), 1.0, 0.65)
    error = error_of(solver)
    assert (error.reason, error.cell, error.step) == ("speed", (7, 3), 0)
    assert error.looks[-1].speed == pytest.approx(0.65, rel=1e-5)
    assert "the speed of cell (7, 3) is 0.65 cells a step" in str(error)
    set_cell(solver, (7, 3), 1.0, 0.55)
    solver.check()


@pytest.mark.parametrize(("density", "found"), [(1.6, True), (1.4, False), (0.6, False), (0.45, True)])
def test_densities_far_from_the_first_are_found(density: float, found: bool) -> None:
    solver = solver_of()
    set_cell(solver, (4, 5), density, 0.0)
    if not found:
        solver.check()
        return
    error = error_of(solver)
    assert error.reason == "density"
    assert f"{density:g}" in str(error)


def test_densities_count_from_those_of_the_initial_state() -> None:
    """A wide range of densities at the beginning, and a mean other than 1."""
    solver = solver_of()
    solver.initialize(density=lambda x, y: 2 + 1.9 * (x > 10))
    solver.check()
    set_cell(solver, (4, 5), 5.8, 0.0)
    solver.check()
    set_cell(solver, (4, 5), 5.9, 0.0)
    assert error_of(solver).reason == "density"
    solver.initialize()
    solver.check()


def test_a_restored_state_is_the_first_one(tmp_path: Any) -> None:
    solver = solver_of()
    solver.initialize(density=3.0)
    path = solver.save(tmp_path / "state.h5")
    lbm.Solver.load(path, device="cpu").check()
    other = solver_of()
    other.restore(path)
    other.check()


def test_an_error_tells_the_last_looks_and_the_collision() -> None:
    solver = solver_of(lbm.BGK(1e-4))
    for speed in (0.1, 0.2, 0.25):
        set_cell(solver, (7, 3), 1.0, speed)
        solver.check()
        simulation_of(solver).engine.steps += 10
    set_cell(solver, (7, 3), 1.0, math.nan)
    error = error_of(solver)
    assert error.reason == "state"
    assert [look.step for look in error.looks] == [0, 10, 20, 30]
    assert [look.speed for look in error.looks[:3]] == pytest.approx([0.1, 0.2, 0.25], rel=1e-5)
    assert error.looks[0].cell == (7, 3)
    assert "BGK with a relaxation time of 0.5003" in str(error)
    assert "step 20: speed 0.25 at (7, 3)" in str(error)
    again = pickle.loads(pickle.dumps(error))
    assert (again.looks, again.causes, again.cell, str(again)) == (error.looks, error.causes, error.cell, str(error))
    assert str(Look(3, 0.5, (1, 2), 0.9, 1.1)) == "step 3: speed 0.5 at (1, 2), density 0.9 to 1.1"
    assert str(Look(4, np.nan, None, np.inf, -np.inf)) == "step 4: no cell with finite values"


def causes(cell: tuple[int, int], collision: Any = None, first: float = 0.05) -> str:
    domain = lbm.Domain(SHAPE, "D2Q9")
    domain.faces["-x"], domain.faces["+x"] = lbm.VelocityInlet((0.05, 0)), lbm.PressureOutlet(1.0)
    domain.faces["-y"] = domain.faces["+y"] = lbm.NoSlip()
    domain.add_body(lambda x, y: (abs(x - 10) < 1) & (abs(y - 6) < 1), "stone")
    solver = solver_of(collision, domain=domain)
    set_cell(solver, cell, 1.0, first)
    solver.check()
    set_cell(solver, cell, 1.0, 0.65)
    return "; ".join(error_of(solver).causes)


def test_the_cause_is_what_is_near_the_cell() -> None:
    assert causes((2, 6)).startswith("the VelocityInlet at -x, 2 cells away")
    assert causes((18, 6)).startswith("the PressureOutlet at +x, 1 cells away")
    assert causes((12, 6)).startswith("the body next to it")
    assert causes((6, 2)) == ""
    assert causes((6, 2), lbm.BGK(0.001)).startswith("the relaxation time, which is near 1/2")
    assert causes((6, 2), first=0.35).startswith("the Mach number: the speed was 0.35 at step 0")


class Clock:
    """A simulation whose looks take some seconds, the first one longer."""

    def __init__(self, seconds: float, monkeypatch: pytest.MonkeyPatch, steps_per_update: int = 1) -> None:
        self.now, self.looks, self._seconds = 0.0, 0, seconds
        self.steps_per_update = steps_per_update
        self.processes = self
        monkeypatch.setattr("lbmgpu.solver.run.time.perf_counter", lambda: self.now)

    def agreed(self, value: float) -> float:
        return value

    def check(self) -> None:
        self.looks += 1
        self.now += self._seconds if self.looks > 1 else 100.0


@pytest.mark.parametrize("each", [1, 6])
@pytest.mark.parametrize(
    ("step", "look", "interval"),
    [
        (5e-3, 2.5e-3, MIN_STEPS),  # 512^3 cells on a GPU
        (1e-5, 5e-5, 2 * MIN_STEPS - 6),  # a small domain there: a fiftieth of the time
        (2e-6, 5e-5, 1250),  # more than the most for one step an update
        (0.5, 0.4, 32),  # on a CPU
        (100.0, 50.0, 25),
    ],
)
def test_looks_take_a_fiftieth_of_the_time(
    step: float, look: float, interval: int, each: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, health = Clock(look, monkeypatch, each), HealthCheck()
    health.after(clock, 1, step)  # type: ignore[arg-type]
    assert clock.looks == 2
    whole_updates = each << ((interval // each).bit_length() - 1)
    assert health.room == min(whole_updates, MAX_CHUNK)
    health.after(clock, health.room - 1, step * (health.room - 1))  # type: ignore[arg-type]
    assert clock.looks == 2
    health.after(clock, 1, step)  # type: ignore[arg-type]
    assert clock.looks == 3


@pytest.mark.parametrize("least", [0, None])
def test_moments_that_hardly_relax_are_named_as_the_cause(least: float | None) -> None:
    solver = solver_of(lbm.CentralMoments(2e-4, least_odd_rate=least))
    set_cell(solver, (7, 3), 1.0, 0.65)
    named = "structures of a few cells diverge; leave least_odd_rate at its default" in str(error_of(solver))
    assert named == (least == 0)
