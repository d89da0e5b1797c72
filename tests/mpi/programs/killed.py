"""The last rank is killed during a run that saves checkpoints; with "go on" the run resumes from the last of them.

On any number of ranks it must then reach the bits of an undisturbed run.
"""

import os
import signal
import sys
from pathlib import Path

import numpy as np
from mpi4py import MPI

import lbmgpu as lbm

world = MPI.COMM_WORLD
path = Path(sys.argv[1])


def die(solver: lbm.Solver) -> None:
    if solver.rank == world.Get_size() - 1:
        os.kill(os.getpid(), signal.SIGKILL)


def make(**options: object) -> lbm.Solver:
    domain = lbm.Domain((16, 12, 8))
    domain.faces["-y"] = domain.faces["+y"] = lbm.NoSlip()
    return lbm.Solver(domain, lbm.BGK(0.1), force=(1e-5, 0, 0), device="cpu", **options)


if "go on" not in sys.argv:
    make(comm=world).run(100, callbacks=[lbm.Checkpoint(path, 20), lbm.Every(50, die)])

solver = lbm.Solver.load(path, device="cpu", comm=world)
assert solver.steps == 40
solver.run(60)
populations = solver.populations(gather=True)
if solver.rank == 0:
    whole = make(comm=MPI.COMM_SELF)
    whole.run(100)
    np.testing.assert_array_equal(populations, whole.populations())
print(f"rank {solver.rank} of {world.Get_size()} is done\n", end="", flush=True)
