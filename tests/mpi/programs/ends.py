"""Checks that scripts end normally with MPI.

Ranks end at different times, with several communicators and with solvers that are still alive on some. With "finalize"
the script calls MPI_Finalize before it ends, with "exit" it ends by `sys.exit(0)`.
"""

import sys
import time

from mpi4py import MPI

import lbmgpu as lbm

world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()


def make(comm: MPI.Intracomm) -> lbm.Solver:
    solver = lbm.Solver(lbm.Domain((8, 8, 8)), lbm.BGK(0.1), device="cpu", comm=comm, threads=1)
    solver.step(2)
    return solver


kept = [make(world), make(world), make(MPI.COMM_SELF)]
freed = world.Dup()
kept.append(make(freed))
freed.Free()
kept[-1].step(2)
half = world.Split(rank % 2)
kept.append(make(half))
for _ in range(3):
    passing = world.Dup()
    make(passing)
    passing.Free()
if rank == 0:
    kept.append(kept)  # a cycle: what it holds is never given up by count
    kept = []
else:
    kept[0] = None

if rank == 0:
    time.sleep(1.5)  # it draws a picture
print(f"rank {rank} of {size} is done\n", end="", flush=True)
if "finalize" in sys.argv:
    MPI.Finalize()
if "exit" in sys.argv:
    sys.exit(0)
