"""The last rank is killed in the middle of a run that leaves checkpoints."""

import os
import signal
import sys
from pathlib import Path

from mpi4py import MPI

import lbmgpu as lbm

world = MPI.COMM_WORLD


def die(solver: lbm.Solver) -> None:
    if solver.rank == world.Get_size() - 1:
        os.kill(os.getpid(), signal.SIGKILL)


domain = lbm.Domain((16, 12, 8))
domain.faces["-y"] = domain.faces["+y"] = lbm.NoSlip()
solver = lbm.Solver(domain, lbm.BGK(0.1), force=(1e-5, 0, 0), device="cpu", comm=world)
solver.run(100, callbacks=[lbm.Checkpoint(Path(sys.argv[1]), 20), lbm.Every(50, die)])
