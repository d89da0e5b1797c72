"""Tests of batches: cases in threads of one worker, whose solvers advance together, are as cases by themselves."""

from __future__ import annotations

import json
import os
import signal
import time
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lbmgpu as lbm

from .study_support import started

pytestmark = pytest.mark.filterwarnings("ignore::lbmgpu.MissingResultsWarning")


def vortex(case: Any, viscosity: float, steps: int) -> dict[str, Any]:
    """A decaying vortex with a history of its energy; some cases go wrong, each in its own way."""
    domain = lbm.Domain((24, 24), "D2Q9")
    wave = 2 * np.pi / 24
    start = {"velocity": lambda x, y: (0.05 * np.sin(wave * y), 0.05 * np.sin(wave * x))}
    solver = case.solver(domain, lbm.TRT(viscosity), initial=start)
    energy = list(case.saved.get("energy", []))
    while solver.steps < steps:
        solver.step(20)
        energy.append(solver.kinetic_energy())
        if solver.steps == 60:
            case.save(solver, energy=energy)
        if viscosity == 0.03 and solver.steps == 80:
            raise ValueError("one of them fails")
        if viscosity == 0.04 and solver.steps == 80 and case.attempt == 1:
            os._exit(7)
    print(f"viscosity {viscosity} is done")
    return {"energy": np.array(energy), "populations": solver.populations()}


@pytest.mark.slow
def test_a_batch_has_the_bits_and_the_failures_of_cases_alone(device: str, tmp_path: Path) -> None:
    parameters = {"viscosity": [0.01, 0.02, 0.03, 0.05, 0.06], "steps": [100, 160]}
    alone = lbm.Study(vortex, parameters, tmp_path / "alone").run(devices=device, progress=False)
    study = lbm.Study(vortex, parameters, tmp_path / "batch", batch=4)
    together = study.run(devices=device, progress=False)
    assert together.equals(alone)
    assert (together["status"].sel(viscosity=0.03) == "failed").all()
    assert int((together["status"] == "done").sum()) == 8
    assert study.cases()["mlups"].min() > 0
    assert "viscosity 0.06 is done" in (tmp_path / "batch" / "output.txt").read_text()


@pytest.mark.slow
def test_the_cases_of_a_batch_whose_worker_dies_go_on_from_their_checkpoints_alone(tmp_path: Path) -> None:
    parameters = {"viscosity": [0.01, 0.02, 0.04], "steps": 120}
    study = lbm.Study(vortex, parameters, tmp_path / "batch", batch=True)
    found = study.run(devices="cpu", progress=False)
    assert found["status"].values.ravel().tolist() == ["done"] * 3, found["message"].values
    assert study.cases()["attempts"].tolist() == [2, 2, 2]
    whole = lbm.Study(vortex, {"viscosity": [0.01, 0.02], "steps": 120}, tmp_path / "alone")
    expected = whole.run(devices="cpu", progress=False)
    for name in ("energy", "populations"):
        np.testing.assert_array_equal(found[name].sel(viscosity=[0.01, 0.02]), expected[name])


INTERRUPTED = """
import time
import lbmgpu as lbm

def flow(case, x):
    if x == 1:
        raise ValueError("one fails before the interrupt")
    time.sleep(100)

study = lbm.Study(flow, {"x": [0, 1, 2]}, "study", batch=True)
print("study", flush=True)
study.run("cpu", progress=False)
"""


def test_ctrl_c_leaves_what_had_ended_in_a_batch(tmp_path: Path) -> None:
    process = started(INTERRUPTED, tmp_path)
    end = time.monotonic() + 60
    found: dict[str, str] = {}
    while time.monotonic() < end and sorted(found.values()) != ["failed", "running", "running"]:
        time.sleep(0.05)
        records = (json.loads(path.read_text()) for path in tmp_path.glob("study/*/record.json"))
        found = {str(record["parameters"]): record["status"] for record in records}
    os.killpg(process.pid, signal.SIGINT)
    process.communicate(timeout=60)
    records = [json.loads(path.read_text()) for path in tmp_path.glob("study/*/record.json")]
    assert sorted(record["status"] for record in records) == ["failed", "interrupted", "interrupted"]
    assert any("one fails before the interrupt" in record["message"] for record in records)


def test_the_size_of_a_batch_is_checked(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="batch: 0 given, must be an integer from 1 to 1024"):
        lbm.Study(vortex, {"viscosity": [0.1], "steps": [1]}, tmp_path / "study", batch=0)


def crashes(case: Any, x: int) -> dict[str, Any]:
    """A case that crashes whenever it is run."""
    if x == 2:
        os._exit(7)
    return {"y": x}


def test_a_case_that_crashes_costs_the_others_of_its_batch_nothing(tmp_path: Path) -> None:
    study = lbm.Study(crashes, {"x": range(4)}, tmp_path / "study", batch=4)
    found = study.run("cpu", progress=False)
    assert found.status.values.tolist() == ["done", "done", "killed", "done"], found.message.values
    assert str(found.message[2].item()) == "its process ended with exit code 7"


class Breaks:
    """An engine that is broken by its first job, as a ProcessPoolExecutor whose worker dies."""

    def __init__(self) -> None:
        self.is_broken = False

    def submit(self, function: Any, /, *arguments: Any) -> Future[Any]:
        if self.is_broken:
            raise BrokenProcessPool("broken")
        self.is_broken = True
        future: Future[Any] = Future()
        future.set_exception(BrokenProcessPool("a worker died"))
        return future


def test_an_engine_that_breaks_leaves_cases_that_are_told_of(tmp_path: Path) -> None:
    study = lbm.Study(crashes, {"x": range(4)}, tmp_path / "study", batch=4)
    found = study.run(executor=Breaks(), progress=False)
    assert found.status.values.tolist() == ["killed"] * 4
    assert "its worker was lost (BrokenProcessPool" in str(found.message[0].item())
