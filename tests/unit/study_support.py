"""What tests of studies share: functions of cases, an engine that runs them at once, and programs with studies."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import numpy as np

import lbmgpu as lbm

from .support import cavity


class Inline:
    """An engine that runs each case in this process as it is submitted: tests need no worker processes then."""

    def submit(self, function: Any, /, *arguments: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(function(*arguments))
        return future


def run(study: lbm.Study, **options: Any) -> Any:
    """The dataset of a study that is run in this process."""
    return study.run(executor=Inline(), progress=False, **options)


def square(case: Any, x: float, power: int = 2) -> dict[str, Any]:
    """A trivial case, which counts its attempts in a file."""
    with open(case.folder / "attempts.txt", "a") as file:
        file.write("x")
    return {"y": x**power}


def attempts(folder: Path) -> int:
    """How often the function of a study above has run."""
    return sum(len(path.read_text()) for path in folder.glob("*/attempts.txt"))


def flow(case: Any, speed: float, cells: int = 12, stop_at: int = 0, steps: int = 120) -> dict[str, Any]:
    """A cavity that saves checkpoints with what it has collected; its first attempt ends by an error at a step."""
    solver = case.solver(cavity((cells, cells), "D2Q9", speed), lbm.TRT(0.05), precision="float64")
    energies = list(case.saved.get("energies", []))

    def collect(solver: lbm.Solver) -> None:
        if case.attempt == 1 and solver.steps == stop_at:
            raise OSError("the first attempt ends here")
        energies.append(solver.kinetic_energy())

    every = lbm.Every(10, collect)
    begin = solver.steps
    case.run(solver, steps, save_every=40, arrays={"energies": energies}, callbacks=[every])
    (case.folder / "begin.txt").write_text(str(begin))
    return {"velocity": solver.velocity(), "energies": np.array(energies), "steps": solver.steps}


def started(script: str, folder: Path, *arguments: str, **options: Any) -> subprocess.Popen[str]:
    """A program of this text, which runs in `folder` as the leader of a group of processes."""
    (folder / "program.py").write_text(script)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.Popen(
        [sys.executable, *(arguments or ["program.py"])],
        cwd=folder,
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        **options,
    )


def finished(script: str, folder: Path, *arguments: str) -> str:
    """What such a program prints; it must end well."""
    process = started(script, folder, *arguments)
    output, _ = process.communicate(timeout=120)
    assert process.returncode == 0, output
    return output


def broken(case: Any, how: str) -> dict[str, Any]:
    """Cases that end in many ways."""
    if how == "raises":
        raise ValueError("it broke\nin two lines")
    if how == "exits":
        raise SystemExit(3)
    if how == "diverges":
        solver = case.solver(cavity((8, 8), "D2Q9", 0.17), lbm.BGK(1e-6), initial={"velocity": (0.1, 0.1)})
        solver.run(20_000)
    if how == "memory":
        case.solver(lbm.Domain((30_000, 30_000, 30_000), "D3Q27"), lbm.BGK(0.1))
    if how == "allocates":
        np.zeros(2**50)
    return {"y": 1}
