"""One rank is killed, exits or fails, and the whole job must then end.

Arguments: the folder of the checkpoint, how the rank ends, in which phase, which rank it is, and after how many rounds.
All the time the ranks make solvers, step them, save them and gather their fields. Before it ends the rank prints when.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import lbmgpu as lbm

FROM_ANYWHERE = ("kill", "exit of the process", "thread")
"""Ways that need no frame of the main thread, so that they come at any moment of a call."""
FROM_CODE = ("exit", "exit 3", "error", "interrupt")
IN_FUNCTIONS = ("construct", "exchange", "callback", "between")
"""Phases in which a function of the user is called, or the script itself is at work."""
IN_CALLS = ("step", "gather", "save")


def fail() -> None:
    raise ArithmeticError("this rank gives up")


def leave(way: str) -> None:
    """Leave, and say when."""
    print(f"leaves at {time.time():.3f}\n", end="", flush=True)
    if way == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if way == "exit of the process":
        os._exit(0)
    if way == "thread":
        threading.Thread(target=fail).start()
        time.sleep(100)
    if way == "exit":
        sys.exit(0)
    if way == "exit 3":
        sys.exit(3)
    if way == "interrupt":
        raise KeyboardInterrupt
    fail()


def make(look: Callable[[str], None] = lambda phase: None, **options: object) -> lbm.Solver:
    """The solver, whose functions `look` at the phase they are called in."""

    def wall(x, y, z, t):
        if t > 0:
            look("exchange")
        return 0.01 + 1e-4 * t + 0 * x, 0 * x, 0 * x

    def force(x, y, z):
        look("construct")
        return 1e-6 + 0 * x, 0 * x, 0 * x

    domain = lbm.Domain((12, 10, 8))
    domain.faces["-y"], domain.faces["+y"] = lbm.NoSlip(), lbm.MovingWall(wall)
    return lbm.Solver(domain, lbm.BGK(0.1), force=force, device="cpu", threads=1, **options)


def main(folder: Path, way: str, where: str, who: int, rounds: int) -> None:
    """Go on until the rank `who` leaves."""
    from mpi4py import MPI  # not where this is imported for `make`

    world, done = MPI.COMM_WORLD, 0

    def due() -> bool:
        return world.Get_rank() == who and done >= rounds

    def look(phase: str) -> None:
        if phase == where and due():
            leave(way)

    def callback(solver: lbm.Solver) -> None:
        look("callback")
        solver.mass()

    while True:
        solver = make(look, comm=world)
        for _ in range(3):
            if way == "finished" and due():
                print(f"leaves at {time.time():.3f}\n", end="", flush=True)
                return
            look("between")
            calls = {
                "step": partial(solver.step, 20),
                "gather": partial(solver.velocity, gather=True),
                "save": partial(solver.save, folder / "state.h5"),
            }
            for phase, call in calls.items():
                soon = threading.Timer(0.0005 * (rounds % 9), leave, [way]) if phase == where and due() else None
                if soon is not None:
                    soon.start()
                call()
                if soon is not None:
                    soon.join()
            solver.run(4, callbacks=[lbm.Every(2, callback)])
            done += 1


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
