"""The last rank fails in a run that recorders look at, or records alone, and the job must end.

The argument says where: "engine" in a step, "drawing" as rank 0 draws, "record" in a call that the others do not make.
"""

import sys
from pathlib import Path

import numpy as np
from mpi4py import MPI

import lbmgpu as lbm
from lbmgpu.parallel import collective
from lbmgpu.pictures import recorders
from lbmgpu.solver import simulation_of

way, folder = sys.argv[1], Path(sys.argv[2])
world = MPI.COMM_WORLD
collective.ERROR_SECONDS = 1.0
solver = lbm.Solver(lbm.Domain((12, 10), "D2Q9"), lbm.BGK(0.1), device="cpu", threads=1, comm=world)
is_last = world.Get_rank() == world.Get_size() - 1
if way == "record":
    if is_last:
        solver.record(lbm.Probe([(3.0, 4.0)]))
    solver.step(4)
series = solver.record(lbm.Series(folder / "flow", ["velocity"], every=2))
solver.record(lbm.Movie(folder / "flow.gif", every=2), lbm.Mean("velocity"), lbm.Probe([(3.0, 4.0)]))


def fail(*_: object) -> np.ndarray:
    raise ArithmeticError("this rank gives up")


if way == "engine" and is_last:
    advance = simulation_of(solver).step_engine
    simulation_of(solver).step_engine = lambda steps: fail() if solver.steps >= 4 else advance(steps)
if way == "drawing":
    recorders.encoded = fail
solver.run(20)
