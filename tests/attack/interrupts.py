"""Interrupts of a save, anywhere in it: SIGINT and SIGTERM, sent for real, alone or two in a row.

Half of them come at one of the calls of functions that a save makes, chosen at random, the others after a random time.
The file must be the old one or the new one, whole; what the handler raised must be raised; no temporary file may be
left, and no handler changed.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from faults import in_child

import lbmgpu as lbm
from lbmgpu.io import chunks

NAME = "interrupts"
QUICK, LONG = 30, 500


class Terminated(BaseException):
    """What this program's handler of SIGTERM raises."""


def run(rng: np.random.Generator, count: int, folder: Path, device: str) -> Counter[str]:
    """Make `count` attacks in a child."""
    return in_child(__file__, int(rng.integers(2**31)), count, folder, timeout=30 + 0.5 * count)


def make() -> lbm.Solver:
    """A small flow whose checkpoint has all kinds of arrays."""
    domain = lbm.Domain((9, 7), "D2Q9")
    for face in ("-x", "+x", "-y"):
        domain.faces[face] = lbm.NoSlip()
    domain.faces["+y"] = lbm.MovingWall(lambda x, y: (0.01 + 0.001 * x, 0 * x))
    mask = np.zeros(domain.shape, bool)
    mask[3:5, 2:4] = True
    domain.add_body(mask, "spinner", lbm.MovingWall(lambda x, y: (0.01 * (y - 3), -0.01 * (x - 4))))
    force = 1e-5 * np.arange(126.0).reshape(2, 9, 7)
    return lbm.Solver(domain, lbm.BGK(0.05), force=force, device="cpu", threads=1)


class Calls:
    """Counts the calls that the main thread makes, and sends itself signals at some of them."""

    def __init__(self, at: dict[int, int]) -> None:
        self.at, self.count, self.sent = at, 0, 0

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        self.count += 1
        if self.count in self.at:
            self.sent += 1
            os.kill(os.getpid(), self.at[self.count])


def saved(solver: lbm.Solver, path: Path, at: dict[int, int]) -> Calls:
    """Save with signals at some of the calls, by their numbers."""
    calls = Calls(at)
    sys.setprofile(calls)
    try:
        solver.save(path)
    finally:
        sys.setprofile(None)
        calls.count -= 1
        last.append(calls)
    return calls


last: list[Calls] = []
"""That of the last save, which may have ended with an error."""


def attacks(rng: np.random.Generator, count: int, folder: Path) -> Counter[str]:
    """Make `count` attacks on one solver that goes on stepping."""

    def terminate(*_: object) -> None:
        raise Terminated

    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, terminate)
    handlers = [signal.getsignal(number) for number in sorted(signal.valid_signals())]
    path, solver, outcomes = folder / "state.h5", make(), Counter[str]()
    states = {0: solver.populations()}
    calls = saved(solver, path, {}).count
    begin = time.perf_counter()
    solver.save(path)
    seconds = time.perf_counter() - begin
    for number in range(count):
        before = lbm.Solver.load(path, device="cpu", threads=1).steps
        solver.step(1)
        states[solver.steps] = solver.populations()
        which = [int(rng.choice([signal.SIGINT, signal.SIGTERM])) for _ in range(1 + int(rng.integers(4) == 0))]
        at = {int(k): s for k, s in zip(np.sort(rng.integers(1, calls + 1, len(which))), which, strict=True)}
        chunks.SMALLEST = int(rng.choice([64, 2**22]))  # many chunks, written in threads, or one for each population
        timer = None
        raised = ""
        try:
            if number % 2:
                delay = float(rng.uniform(0, 1.2 * seconds))
                timer = threading.Timer(delay, os.kill, (os.getpid(), which[0]))
                timer.start()
                solver.save(path)
                timer.join()
            else:
                last.clear()
                saved(solver, path, at)
        except (KeyboardInterrupt, Terminated) as error:
            raised = type(error).__name__
        assert bool(raised) == (timer is not None or last[0].sent > 0), (number, at, raised)
        if timer is not None:
            timer.join()
        assert [signal.getsignal(n) for n in sorted(signal.valid_signals())] == handlers, (number, at)
        assert os.listdir(folder) == ["state.h5"], (number, at, os.listdir(folder))
        loaded = lbm.Solver.load(path, device="cpu", threads=1)
        assert loaded.steps in (before, solver.steps), (number, at, loaded.steps, before, solver.steps)
        np.testing.assert_array_equal(loaded.populations(), states[loaded.steps])
        np.testing.assert_array_equal(loaded.force, solver.force)
        outcomes["new file whole" if loaded.steps == solver.steps else "old file kept"] += 1
    return outcomes


if __name__ == "__main__":
    print(json.dumps(attacks(np.random.default_rng(int(sys.argv[1])), int(sys.argv[2]), Path(sys.argv[3]))))
