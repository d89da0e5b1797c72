"""Tests of the worker processes of studies: crashes, kills, Ctrl-C, scripts without a guard, studies within studies."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr

import lbmgpu as lbm
from lbmgpu.study import results
from lbmgpu.study.running import Options
from lbmgpu.study.workers import LocalWorkers

from .study_support import finished, flow, run, square, started
from .support import cavity

pytestmark = pytest.mark.filterwarnings("ignore::lbmgpu.MissingResultsWarning")


def one_of_many(case: Any, number: int) -> dict[str, Any]:
    """One of 64 cases, of which seven end without a result, each in another way."""
    print("printed by", number)
    if number == 11:
        raise ValueError("bad luck")
    if number == 17:
        solver = case.solver(cavity((8, 8), "D2Q9", 0.17), lbm.BGK(1e-6), initial={"velocity": (0.1, 0.1)})
        solver.run(20_000)
    if number == 23:
        case.solver(lbm.Domain((30_000, 30_000, 30_000), "D3Q27"), lbm.BGK(0.1))
    if number == 29:
        os._exit(3)
    if number == 31:
        os.kill(os.getpid(), signal.SIGKILL)
    if number == 37:
        os.abort()
    if number == 41:
        sys.exit("enough")
    return {
        "square": number**2,
        "gpus": os.environ["CUDA_VISIBLE_DEVICES"],
        "device": case.device,
        "process": os.getpid(),
        "openmp": os.environ["OMP_NUM_THREADS"],
    }


@pytest.mark.slow
def test_the_others_are_whole_when_cases_crash(tmp_path: Path) -> None:
    before = os.environ.get("OMP_NUM_THREADS")
    study = lbm.Study(one_of_many, {"number": range(64)}, tmp_path / "study")
    found = study.run("cpu", per_device=2, threads=1, progress=False)
    ends = {11: "failed", 17: "diverged", 23: "out of memory", 29: "killed", 31: "killed", 37: "killed", 41: "failed"}
    assert found.status.values.tolist() == [ends.get(number, "done") for number in range(64)]
    assert all(float(found.square[n]) == n**2 for n in range(64) if n not in ends)
    assert set(found.gpus.values.tolist()) == {""}  # of those that have a result too: a worker of the CPU sees no GPU
    assert set(found.device.values.tolist()) == {"cpu", ""}
    assert set(found.openmp.values.tolist()) == {"1", ""}
    assert 2 <= len(np.unique(found.process.values[~np.isnan(found.process.values)])) <= 5
    messages = dict(zip(range(64), found.message.values.tolist(), strict=True))
    assert messages[29] == "its process ended with exit code 3"
    assert messages[31] == "its process was ended by SIGKILL, perhaps for lack of memory"
    assert messages[37] == "its process was ended by SIGABRT"
    assert os.environ.get("OMP_NUM_THREADS") == before
    for number in (3, 29, 37):
        (output,) = (tmp_path / "study").glob(f"number={number}-*/output.txt")
        assert f"printed by {number}\n" in output.read_text()
    (crash,) = (tmp_path / "study").glob("number=37-*/output.txt")
    assert "Fatal Python error: Aborted" in crash.read_text()


UNGUARDED = """
import sys
import lbmgpu as lbm

print("begins", flush=True)
offset = 1
study = lbm.Study(lambda case, x: {"y": x + offset, "main": __name__}, {"x": [1, 2]}, "study")
found = study.run("cpu", progress=False)
print(found.y.values.tolist(), found.main.values.tolist())
with study:
    print(float(study.ask(x=5).y), float(study.ask(x=6).y))
"""


@pytest.mark.parametrize(
    "arguments",
    [("program.py",), *(pytest.param(more, marks=pytest.mark.slow) for more in (("-m", "program"), ("-c", UNGUARDED)))],
)
def test_scripts_need_no_guard(arguments: tuple[str, ...], tmp_path: Path) -> None:
    lines = finished(UNGUARDED, tmp_path, *arguments).splitlines()
    assert lines == ["begins", "[2, 3] ['__main__', '__main__']", "6.0 7.0"]


LONG = """
import sys
import numpy as np
import lbmgpu as lbm

def flow(case, reynolds, cells):
    domain = lbm.Domain((cells, cells), "D2Q9")
    for face in ("-x", "+x", "-y"):
        domain.faces[face] = lbm.NoSlip()
    domain.faces["+y"] = lbm.MovingWall((0.1, 0.0))
    solver = case.solver(domain, lbm.TRT(0.1 * cells / reynolds))
    energies = list(case.saved.get("energies", []))
    collect = lbm.Every(500, lambda solver: energies.append(solver.kinetic_energy()))
    print("attempt", case.attempt, "from step", solver.steps, flush=True)
    case.run(solver, STEPS, save_every=1000, arrays={"energies": energies}, callbacks=[collect])
    return {"velocity": solver.velocity(), "energies": energies}

study = lbm.Study(flow, {"reynolds": [20, 50, 100], "cells": [24, 32]}, sys.argv[1])
print("study", flush=True)
study.run("cpu", per_device=2, threads=1, progress=False)
print("done", flush=True)
"""


def running(folder: Path, count: int) -> list[dict[str, Any]]:
    """The records of cases that run, once there are so many of them that have saved a checkpoint."""
    for _ in range(600):
        time.sleep(0.05)
        found = [path for path in folder.glob("*/record.json") if any(path.parent.glob("checkpoint-solver.json"))]
        records = [json.loads(path.read_text()) | {"folder": path.parent} for path in found]
        records = [record for record in records if record["status"] == "running" and lives(record["process"])]
        begun = [f"attempt {r['attempts']} from" in (r["folder"] / "output.txt").read_text() for r in records]
        if len(records) >= count and all(begun):
            return records
    raise AssertionError("no cases run")


def lives(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def soon_gone(processes: list[int]) -> bool:
    for _ in range(60):
        if not any(map(lives, processes)):
            return True
        time.sleep(0.05)
    return False


def test_workers_end_with_the_program_by_kill_and_by_interrupt(tmp_path: Path) -> None:
    script = LONG.replace("STEPS", "10_000_000")
    process = started(script, tmp_path, "program.py", "study")
    workers = [record["process"] for record in running(tmp_path / "study", 2)]
    os.kill(workers[0], signal.SIGKILL)  # a worker alone: its case ends, the next one runs
    assert soon_gone(workers[:1])
    workers = [record["process"] for record in running(tmp_path / "study", 2)]
    process.kill()
    assert soon_gone(workers)
    process.communicate()

    process = started(script, tmp_path, "program.py", "study")
    records = running(tmp_path / "study", 2)
    workers = [record["process"] for record in records]
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does
    output, _ = process.communicate(timeout=20)
    assert output.splitlines()[-1] == "KeyboardInterrupt"
    assert output.count("Traceback") == 1  # of the program itself, none of a worker
    assert not any(map(lives, workers))
    for record in records:
        after = json.loads((record["folder"] / "record.json").read_text())
        assert (after["status"], after["message"]) == ("interrupted", "the study was interrupted")
        output = (record["folder"] / "output.txt").read_text()
        assert re.search(rf"attempt {record['attempts']} from step [1-9]\d*000\n", output), output


@pytest.mark.slow
def test_a_program_that_is_killed_twenty_times_gives_the_same_bits(tmp_path: Path, rng: np.random.Generator) -> None:
    script = LONG.replace("STEPS", "12_000")
    start = time.monotonic()
    assert "done" in finished(script, tmp_path, "program.py", "whole")
    seconds = time.monotonic() - start
    whole = {path.parent.name: results.read(path) for path in (tmp_path / "whole").glob("*/result.nc")}
    assert len(whole) == 6
    kills, rounds = 0, 0
    while kills < 20:  # among them of programs whose workers start, run, save and write results
        process = started(script, tmp_path, "program.py", f"study{rounds}")
        for line in process.stdout or ():
            if line == "study\n":
                break
        time.sleep(seconds * rng.uniform(0.05, 0.6))  # however fast the machine is
        was_running = process.poll() is None
        process.kill()
        process.communicate()
        kills += was_running
        rounds += not was_running  # it had ended: its dataset is compared below, and another study is begun
    assert "done" in finished(script, tmp_path, "program.py", f"study{rounds}")
    for number in range(rounds + 1):
        found = {path.parent.name: results.read(path) for path in (tmp_path / f"study{number}").glob("*/result.nc")}
        assert found.keys() == whole.keys()
        for name, result in whole.items():
            assert found[name].identical(result)
            assert found[name].velocity.values.tobytes() == result.velocity.values.tobytes()
    attempts = [json.loads(path.read_text())["attempts"] for path in tmp_path.glob("study*/*/record.json")]
    assert sum(attempts) > len(attempts) + 3
    parts = [path for path in tmp_path.rglob("*") if path.name.startswith((".part-", ".tmp-"))]
    assert parts == []


def kills_itself(case: Any, speed: float) -> dict[str, Any]:
    """Its first attempt is killed after the checkpoint of step 80, at step 110."""

    def collect(solver: lbm.Solver) -> None:
        if case.attempt == 1 and solver.steps == 110:
            os.kill(os.getpid(), signal.SIGKILL)

    solver = case.solver(cavity((12, 12), "D2Q9", speed), lbm.TRT(0.05))
    begin = solver.steps
    case.run(solver, 120, save_every=40, callbacks=[lbm.Every(10, collect)])
    return {"velocity": solver.velocity(), "begin": begin}


def study_in_a_study(case: Any, x: int) -> dict[str, Any]:
    """A case that runs a study of its own."""
    found = lbm.Study(square, {"x": [x, x + 1]}, case.folder / "inner").run("cpu", per_device=1, progress=False)
    return {"sum": float(found.y.sum())}


def test_a_killed_worker_costs_the_work_since_the_checkpoint(tmp_path: Path) -> None:
    found = lbm.Study(kills_itself, {"speed": 0.05}, tmp_path / "killed").run("cpu", retry=1, progress=False)
    expected = run(lbm.Study(flow, {"speed": 0.05}, tmp_path / "whole"))
    assert found.begin.values.tolist() == [80], found.message.values
    assert np.allclose(found.velocity, expected.velocity, atol=1e-6)


@pytest.mark.slow
def test_a_case_runs_a_study_of_its_own(tmp_path: Path) -> None:
    nested = lbm.Study(study_in_a_study, {"x": [1, 3]}, tmp_path / "outer").run("cpu", progress=False)
    assert nested["sum"].values.tolist() == [5, 25], nested.message.values


def test_cores_are_shared_among_the_workers() -> None:
    cores = len(os.sched_getaffinity(0))
    assert LocalWorkers("cpu", None, 1, None).count == 1
    assert LocalWorkers("cpu", None, 1000, None).count == cores
    assert LocalWorkers("cpu", None, 1000, cores).count == 1
    assert LocalWorkers("cpu", 3, 1, None).count == 3
    assert Options("cpu").devices == ("cpu",)


@pytest.mark.slow
def test_a_thousand_trivial_cases_take_little_time(tmp_path: Path) -> None:
    study = lbm.Study(square, {"x": range(1000)}, tmp_path / "study")
    start = time.perf_counter()
    found = study.run("cpu", progress=False)
    assert time.perf_counter() - start < 200  # 15 s on two cores with nothing else to do
    assert float(found.y.sum()) == sum(x**2 for x in range(1000))
    start = time.perf_counter()
    study.results()
    assert time.perf_counter() - start < 20  # 3 s


def seen(case: Any, cells: int) -> dict[str, Any]:
    """A flow, and the GPUs that its worker sees."""
    from lbmgpu.parallel import devices

    solver = case.solver(cavity((cells, cells), "D2Q9"), lbm.TRT(0.05))
    case.run(solver, 200)
    return {"velocity": solver.velocity(), "seen": ",".join(devices.available()), "device": case.device}


@pytest.mark.gpu
def test_a_worker_sees_one_gpu_and_gives_the_bits_of_the_cpu(gpu: str, tmp_path: Path) -> None:
    found = lbm.Study(seen, {"cells": [16, 24]}, tmp_path / "gpu").run("all", per_device=2, progress=False)
    expected = lbm.Study(seen, {"cells": [16, 24]}, tmp_path / "cpu").run("cpu", progress=False)
    assert found.seen.values.tolist() == ["cuda:0"] * 2
    assert expected.seen.values.tolist() == ["cpu"] * 2
    assert isinstance(found, xr.Dataset)
    assert found.velocity.values.tobytes() == expected.velocity.values.tobytes()


class SlowToLoad:
    """Stands for what a function brings along that takes a while to be imported."""

    def __reduce__(self) -> tuple[Any, ...]:
        return time.sleep, (0.6,)


def test_the_seconds_of_a_case_are_those_of_its_function(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow, write = SlowToLoad(), results.write

    def writes(path: Path, result: Any) -> None:
        time.sleep(0.6)
        write(path, result)

    def function(case: Any, x: float) -> dict[str, Any]:
        time.sleep(x)
        if x == 0.3:
            raise ValueError("broken")
        return {"y": x, "nothing": repr(slow)}

    monkeypatch.setattr(results, "write", writes)
    study = lbm.Study(function, {"x": [0.01, 0.3]}, tmp_path / "study")
    run(study)
    seconds = study.cases().seconds.tolist()
    assert 0.01 <= seconds[0] < 0.2
    assert 0.3 <= seconds[1] < 0.5
