"""The last rank raises an error while the others wait for it, and the job must end.

It does so before its first solver or, with "late", after it. With "hooks" the user has set an excepthook.
"""

import sys

from mpi4py import MPI

import lbmgpu as lbm

if "hooks" in sys.argv:
    former = sys.excepthook
    sys.excepthook = lambda *error: (print("the user's hook", file=sys.stderr), former(*error))
world = MPI.COMM_WORLD
if "late" in sys.argv:
    lbm.Solver(lbm.Domain((8, 8, 8)), lbm.BGK(0.1), device="cpu", comm=world)
if world.Get_rank() == world.Get_size() - 1:
    raise ArithmeticError("this rank gives up")
lbm.Solver(lbm.Domain((8, 8, 8)), lbm.BGK(0.1), device="cpu", comm=world)
world.barrier()
