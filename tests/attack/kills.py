"""kill -9 of a process that steps and saves in a loop, at random times.

The file must then load, be that of the run at its step number, bit for bit, and go on; and the next save must leave
nothing of the killed one. Each process goes on from the file of the one before it.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from faults import in_child

import lbmgpu as lbm

NAME = "kills"
QUICK, LONG = 8, 200

SECONDS = 60
"""Until a process has begun to save, or has looked at what is left."""


def run(rng: np.random.Generator, count: int, folder: Path, device: str) -> Counter[str]:
    """Make `count` attacks; solvers run on `device`, in processes that are forked before any has used it."""
    return in_child(__file__, int(rng.integers(2**31)), count, folder, device, timeout=60 + 2 * count)


def make(device: str) -> lbm.Solver:
    """A small flow whose checkpoint has all kinds of arrays."""
    domain = lbm.Domain((12, 10, 8))
    domain.faces["-y"], domain.faces["+y"] = lbm.NoSlip(), lbm.MovingWall((0.05, 0, 0))
    mask = np.zeros(domain.shape, bool)
    mask[3:5, 2:4, 3:6] = True
    domain.add_body(mask, "stone")
    force = 1e-6 * np.arange(3 * 960.0).reshape(3, 12, 10, 8) / 960
    return lbm.Solver(domain, lbm.MRT(0.05), force=force, device=device, **({"threads": 1} if device == "cpu" else {}))


def save_for_ever(path: Path, device: str, started: int) -> None:
    """Go on from the file, or begin, and save after every step; say so once that has begun."""
    solver = make(device)
    if path.exists():
        solver.restore(path)
    while True:
        solver.step(1)
        solver.save(path)
        if started >= 0:
            os.close(started)
            started = -1


def look(path: Path, device: str) -> None:
    """Assert what must hold of a file after a kill; the exit code is 3 where a temporary file was left."""
    left = os.listdir(path.parent)
    assert path.name in left
    assert all(name == path.name or name.startswith(".tmp-") for name in left), left
    loaded, whole = lbm.Solver.load(path, device=device, **({"threads": 1} if device == "cpu" else {})), make(device)
    whole.step(loaded.steps)
    np.testing.assert_array_equal(loaded.populations(), whole.populations())
    for solver in (loaded, whole):
        solver.step(2)
    np.testing.assert_array_equal(loaded.populations(), whole.populations())
    make(device).save(path)  # so that runs stay short
    assert os.listdir(path.parent) == [path.name], os.listdir(path.parent)
    os._exit(3 if len(left) > 1 else 0)


def attacks(rng: np.random.Generator, count: int, folder: Path, device: str) -> Counter[str]:
    """Make `count` attacks."""
    path, outcomes = folder / "state.h5", Counter[str]()
    for number in range(count):
        delay = float(rng.exponential(0.02))
        read, started = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(read)
            save_for_ever(path, device, started)
        os.close(started)
        assert os.read(read, 1) == b""  # the first file is there
        os.close(read)
        time.sleep(delay)
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        assert os.WIFSIGNALED(status), f"attack {number}: the process ended by itself, {status}"
        child = os.fork()
        if child == 0:
            look(path, device)
        _, status = os.waitpid(child, 0)
        code = os.waitstatus_to_exitcode(status)
        assert code in (0, 3), f"attack {number}, killed after {delay:.4f} s: exit code {code}"
        outcomes["killed while it wrote" if code == 3 else "killed between two files"] += 1
    return outcomes


if __name__ == "__main__":
    seed, attack_count, where, on = sys.argv[1:]
    print(json.dumps(attacks(np.random.default_rng(int(seed)), int(attack_count), Path(where), on)))
