"""The last rank arrives late at a call, which the others must report, and then never, which must end the job.

With "first" it does not even make the first solver. The job ends after the timeout.
"""

import sys
import time

from mpi4py import MPI

import lbmgpu as lbm
from lbmgpu.parallel import rendezvous

world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
late = rank == size - 1
if late and "first" in sys.argv:
    time.sleep(100)
if "first" not in sys.argv:
    lbm.set_mpi_timeout(None)
solver = lbm.Solver(lbm.Domain((8, 8, 8)), lbm.BGK(0.1), device="cpu", comm=world, threads=1)
solver.step(3)
rendezvous.PATIENCE = 0.5
for _ in range(2):  # what was asked of a rank that was not there is no answer to what is asked later
    if late:
        time.sleep(3)
    solver.mass()
lbm.set_mpi_timeout(1.5)
solver.step(4)
if late:
    time.sleep(100)
solver.velocity(gather=True)
