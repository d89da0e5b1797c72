"""Prints what a checkpoint of statistics of cells adds to the memory of each rank beside one without, saved and loaded.

Argument: the number of cells along an axis.
"""

import gc
import json
import shutil
import sys
import tempfile
from pathlib import Path

from mpi4py import MPI

import lbmgpu as lbm
from lbmgpu.io import checkpoint_slabs

world = MPI.COMM_WORLD
n = int(sys.argv[1])
layout = lbm.Layout.split((n, n, n), (1, 1, world.size), ranks=range(world.size))
checkpoint_slabs.SLAB = 2**20  # small beside the fields of this test


def memory(name: str) -> int:
    text = Path("/proc/self/status").read_text()
    return next(int(line.split()[1]) * 1024 for line in text.splitlines() if line.startswith(f"{name}:"))


def made(cells: int, where: lbm.Layout | None) -> lbm.Solver:
    solver = lbm.Solver(lbm.Domain((cells,) * 3), lbm.BGK(0.1), comm=world, layout=where, threads=1)
    solver.record(lbm.Mean("velocity", "density"), lbm.Covariance("velocity"))
    solver.step(2)
    return solver


def restart() -> int:
    """Begin to look for the peak; the memory of now."""
    Path("/proc/self/clear_refs").write_text("5")
    return memory("VmRSS")


folder = Path(world.bcast(tempfile.mkdtemp() if world.rank == 0 else None))
small = made(16, None)
small.save(folder / "small.h5")
lbm.Solver.load(folder / "small.h5", comm=world, threads=1)  # what is loaded at the first time
solver = made(n, layout)
before = restart()
path = solver.save(folder / "saved.h5")
saved = memory("VmHWM") - before
world.Barrier()
del small, solver
gc.collect()
before = restart()
again = lbm.Solver.load(path, comm=world, layout=layout, threads=1)
loaded = memory("VmHWM") - before - again._simulation.engine.memory_bytes
world.Barrier()
if world.rank == 0:
    shutil.rmtree(folder)
for text in world.allgather(json.dumps({"saved": saved, "loaded": loaded})):
    if world.rank == 0:
        print(f"memory {text}", flush=True)
print(f"rank {world.rank} of {world.size} is done", flush=True)
