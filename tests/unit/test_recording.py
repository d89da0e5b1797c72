"""The seam of recorders: with ensembles, with errors of runs and of files, and in what order they are told."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lbmgpu as lbm


class Steps(lbm.Recorder):
    """Notes the steps that it sees, and what else is asked of it."""

    def __init__(self, **options) -> None:
        super().__init__(**options)
        self.seen: list[int] = []
        self.flushed = 0
        self.fails = ""

    def sample(self, solver: lbm.Solver) -> None:
        self.seen.append(solver.steps)

    def state_was_set(self, solver: lbm.Solver) -> None:
        self.seen = [step for step in self.seen if step <= solver.steps]
        if self.fails:
            raise OSError(self.fails)

    def flush(self) -> None:
        self.flushed += 1
        if self.fails:
            raise OSError(self.fails)


def solver(**options) -> lbm.Solver:
    return lbm.Solver(lbm.Domain((10, 8), "D2Q9"), lbm.BGK(0.1), device="cpu", **options)


def test_samples_in_steps_and_runs() -> None:
    flow = solver()
    steps = flow.record(Steps(every=3, start=2))
    flow.step(4)
    flow.run(8)
    assert steps.seen == [2, 5, 8, 11]
    assert flow.recorders == (steps,)


def test_members_of_an_ensemble_have_recorders(device: str) -> None:
    ensemble = lbm.Ensemble(lbm.Domain((10, 8), "D2Q9"), [lbm.BGK(0.1), lbm.BGK(0.05)], device=device)
    first = ensemble[0].record(Steps(every=4))
    mean = ensemble[1].record(lbm.Mean("vorticity", every=5))
    ensemble.run(10)
    assert first.seen == [4, 8]
    assert first.flushed == 1
    assert mean.samples == 2


def test_the_engine_samples_members_as_it_does_solvers(device: str) -> None:
    """Fields and statistics to the last bit, forces up to the order of their sums."""
    domain = lbm.Domain((24, 16), "D2Q9")
    domain.faces["-x"] = lbm.VelocityInlet((0.05, 0.01) * lbm.Sine(mean=1, amplitude=0.2, period=11))
    domain.faces["+x"] = lbm.PressureOutlet()
    domain.add_body(lambda x, y: (x - 10) ** 2 + (y - 8) ** 2 < 9, "post")
    collisions = [lbm.TRT(0.05), lbm.TRT(0.02), lbm.TRT(0.1)]

    def recorded(flow: lbm.Solver) -> tuple[Any, ...]:
        probe, mean = lbm.Probe([(3.0, 4.0), (15.2, 12.1)], every=2), lbm.Mean("velocity", every=3)
        flow.record(probe, mean, lbm.Forces("post", every=5))
        return flow.recorders

    ensemble = lbm.Ensemble(domain, collisions, device=device)
    of_members = [recorded(member) for member in ensemble]
    ensemble.step(40)
    ensemble.step(21)
    for collision, (probe, mean, forces) in zip(collisions, of_members, strict=True):
        alone = lbm.Solver(domain, collision, device="cpu")
        own_probe, own_mean, own_forces = recorded(alone)
        alone.step(61)
        np.testing.assert_array_equal(probe["velocity"], own_probe["velocity"])
        np.testing.assert_array_equal(mean["velocity"], own_mean["velocity"])
        np.testing.assert_allclose(forces["force"], own_forces["force"], rtol=1e-9, atol=1e-15)


def test_a_member_gets_a_force_in_time_between_runs() -> None:
    ensemble = lbm.Ensemble(lbm.Domain((10, 8), "D2Q9"), [lbm.BGK(0.1)] * 2, device="cpu", precision="float64")
    alone = solver(precision="float64")
    ensemble.run(10)
    alone.run(10)
    ensemble[0].force = alone.force = (1e-5, 0.0) * lbm.Sine(mean=0, amplitude=1, period=7)
    ensemble.run(10)
    alone.run(10)
    np.testing.assert_array_equal(ensemble[0].velocity(), alone.velocity())
    assert np.abs(ensemble[0].velocity()).max() > 0
    assert np.abs(ensemble[1].velocity()).max() == 0


def test_two_recorders_do_not_write_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    flow = solver()
    flow.record(lbm.Series("flow", ["density"], every=2))
    with pytest.raises(ValueError, match="both write"):
        flow.record(lbm.Series("./flow", ["velocity"], every=2, name="other", overwrite=True))
    flow.run(4)


def test_the_error_of_a_run_is_told_before_that_of_a_recorder(caplog: pytest.LogCaptureFixture) -> None:
    flow = solver()
    steps = flow.record(Steps())
    steps.fails = "the disk is full"

    def stop(_: lbm.Solver) -> None:
        raise RuntimeError("mine")

    with caplog.at_level("ERROR", logger="lbmgpu"), pytest.raises(RuntimeError, match="mine"):
        flow.run(4, callbacks=[lbm.Every(2, stop)])
    assert "the disk is full" in caplog.text
    with pytest.raises(OSError, match="the disk is full"):
        flow.run(4)


def test_all_recorders_are_told_of_another_state() -> None:
    flow = solver()
    first, second = Steps(name="first"), Steps(name="second")
    flow.record(first, second)
    flow.step(5)
    first.fails = "the disk is full"
    with pytest.raises(OSError, match="the disk is full"):
        flow.initialize()
    assert flow.steps == 0
    assert second.seen == []


AT_EXIT = """
import shutil, time, lbmgpu as lbm
solver = lbm.Solver(lbm.Domain((10, 8), "D2Q9"), lbm.BGK(0.1), device="cpu")
series = solver.record(lbm.Series("flow", ["density"]))
series.flush()  # or its thread may still write there
shutil.rmtree("flow")
open("flow", "w").close()
solver.step(1)
"""


def test_what_fails_at_the_end_of_a_program_is_told(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", AT_EXIT], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "flow" in done.stderr
    assert "Error" in done.stderr or "Warning" in done.stderr
