"""Prints what making and initialising a solver adds to the memory of each rank, at its peak and beside the engine's.

Arguments: the number of cells along an axis; how fields are given: uniform, functions or parts; or saved or loaded for
what saving such a solver adds, or loading it.
"""

import json
import resource
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from mpi4py import MPI

import lbmgpu as lbm

world = MPI.COMM_WORLD
n, way = int(sys.argv[1]), sys.argv[2]
SHAPE = (n, n, n)
LAYOUT = lbm.Layout.split(SHAPE, (1, 1, world.size), ranks=range(world.size))
own = LAYOUT.subdomain(world.rank)


def ball(x: Any, y: Any, z: Any) -> Any:
    return (x - n / 2) ** 2 + (y - n / 2) ** 2 < (n / 6) ** 2


def flow(x: Any, y: Any, z: Any) -> Any:
    return 0.01 * np.sin(2 * np.pi * y / n), 0.0 * y, 0.0 * y


def force(x: Any, y: Any, z: Any) -> Any:
    return 1e-6 * np.sin(2 * np.pi * y / n), 0.0 * y, 0.0 * y


def made(shape: tuple[int, ...], layout: lbm.Layout | None, **given: Any) -> lbm.Solver:
    domain = lbm.Domain(shape)
    domain.faces["-x"] = domain.faces["+x"] = lbm.NoSlip()
    if way in ("functions", "saved", "loaded") and "velocity" in given:
        domain.add_body(ball, "column")
    if way == "parts" and "velocity" in given:
        domain.add_body(MASK, "column", offset=tuple(s.start for s in own))
    initial = {name: given.pop(name) for name in ("density", "velocity") if name in given}
    solver = lbm.Solver(domain, lbm.BGK(0.1), comm=world, layout=layout, threads=1, **given)
    solver.initialize(**initial)
    solver.step(1)
    return solver


def peak() -> int:
    """Bytes; since `restarted`, where the system takes that."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 if not restarted else memory("VmHWM")


def memory(name: str) -> int:
    text = Path("/proc/self/status").read_text()
    return next(int(line.split()[1]) * 1024 for line in text.splitlines() if line.startswith(f"{name}:"))


made((8, 8, 8 * world.size), None, device="cpu")  # what is loaded at the first time
if way == "uniform":
    given: dict[str, Any] = {"density": 1.01, "velocity": (0.01, 0, 0), "force": (1e-6, 0, 0)}
elif way in ("functions", "saved", "loaded"):
    given = {"density": lambda x, y, z: 1 + 0.001 * np.sin(y), "velocity": flow, "force": force}
else:
    extent = tuple(s.stop - s.start for s in own)
    MASK = np.zeros(extent, bool)
    MASK[n // 3 : n // 2, n // 3 : n // 2] = True
    given = {"density": np.ones(extent), "velocity": np.zeros((3, *extent)), "force": np.full((3, *extent), 1e-6)}
folder = Path(world.bcast(tempfile.mkdtemp() if world.rank == 0 else None))
if way == "loaded":
    made(SHAPE, LAYOUT, **given).save(folder / "saved.h5")
solver = made(SHAPE, LAYOUT, **given) if way == "saved" else None
try:
    Path("/proc/self/clear_refs").write_text("5")
    restarted = True
except OSError:
    restarted = False
before = memory("VmRSS") if restarted else peak()
if solver is not None:
    solver.save(folder / "saved.h5")
elif way == "loaded":
    solver = lbm.Solver.load(folder / "saved.h5", comm=world, layout=LAYOUT, threads=1)
else:
    solver = made(SHAPE, LAYOUT, **given)
added = peak() - before
engine = 0 if way == "saved" else solver._simulation.engine.memory_bytes
found = {"rank": world.rank, "added": added, "engine": engine}
world.Barrier()
if world.rank == 0:
    shutil.rmtree(folder)
for text in world.allgather(json.dumps(found)):
    if world.rank == 0:
        print(f"memory {text}", flush=True)
print(f"rank {world.rank} of {world.size} is done", flush=True)
