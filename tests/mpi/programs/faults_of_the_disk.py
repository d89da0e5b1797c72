"""A disk that is full for one rank, and a folder that is closed to all: every rank gets the error, at once."""

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import numpy as np
import pytest
from mpi4py import MPI

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from faults import CLOSED, full_disk

import lbmgpu as lbm
from lbmgpu.plot import speed_picture

SECONDS = 10
"""Until all ranks have the error, on a machine that others use too."""

world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
folder = Path(sys.argv[1])


def make(**options: object) -> lbm.Solver:
    domain = lbm.Domain((16, 12, 8))
    domain.faces["-y"] = domain.faces["+y"] = lbm.NoSlip()
    return lbm.Solver(domain, lbm.BGK(0.1), force=(1e-5, 0, 0), device="cpu", **options)


@contextmanager
def refused(path: Path, *reasons: str, by: int = 0) -> Iterator[None]:
    """The body ends on every rank with an error of the system about `path`, which rank `by` met; all go on together."""
    begin = time.monotonic()
    with pytest.raises(OSError, match="|".join(reasons)) as caught:
        yield
    assert time.monotonic() - begin < SECONDS
    assert str(path) in str(caught.value)
    assert rank == by or str(caught.value).startswith(f"rank {by}: "), str(caught.value)
    assert world.allgather(rank) == list(range(size))


solver = make(comm=world)
solver.step(4)
path = solver.save(folder / "state.h5")
world.barrier()
before = path.read_bytes()
solver.step(3)
for part in (0, 0.3, 0.99):
    with refused(path, "File too large"), full_disk(round(part * len(before))) if rank == 0 else nullcontext():
        solver.save(path)
    assert path.read_bytes() == before

# Each rank writes the images of its blocks, and any may be the one whose disk is full.
last = size - 1
image = folder / ("fields.vti" if size == 1 else f"fields.{last}.vti")
with refused(image, "File too large", by=last), full_disk(100) if rank == last else nullcontext():
    solver.write_vtk(folder / "fields.vti")
with refused(folder / "speed.png", "File too large"), full_disk(100) if rank == 0 else nullcontext():
    speed_picture(solver, folder / "speed.png")

writers: dict[str, Callable[[Path], object]] = {
    "state.h5": solver.save,
    "fields.vti": solver.write_vtk,
    "speed.png": lambda path: speed_picture(solver, path),
}
for name, write in writers.items():
    own = size > 1 and name == "fields.vti"  # images of blocks, by which each rank meets the error itself
    there, by = (f"fields.{rank}.vti", rank) if own else (name, 0)
    with refused(CLOSED / there, "Permission denied", "Read-only file system", "Operation not permitted", by=by):
        write(CLOSED / name)

# A checkpoint that one rank cannot read.
with pytest.MonkeyPatch.context() as patch:
    if rank == last:
        patch.setattr("h5py.File", lambda *_: os.stat(CLOSED / "nothing"))
    for read in (solver.restore, lambda there: lbm.Solver.load(there, device="cpu", comm=world)):
        with pytest.raises(lbm.CheckpointError, match=r"state\.h5: damaged or not a checkpoint") as unread:
            read(path)
        assert str(unread.value).startswith(f"{path}" if rank == last else f"rank {last}: {path}")
assert solver.steps == 7

# A run ends with the error, and what it had left goes on.
runs = make(comm=world)
fills = full_disk(1000)
with refused(path, "File too large"):
    runs.run(40, callbacks=[lbm.Checkpoint(path, 10), lbm.Every(15, lambda _: rank > 0 or fills.__enter__())])
if rank == 0:
    fills.__exit__(None, None, None)
assert runs.steps == 20
world.barrier()
again, whole = lbm.Solver.load(path, device="cpu", comm=world), make(comm=MPI.COMM_SELF)
assert again.steps == 10
again.step(7)
populations = again.populations(gather=True)
if rank == 0:
    whole.step(17)
    np.testing.assert_array_equal(populations, whole.populations())
    left = {"state.h5"} | {f"fields.{k}.vti" for k in range(last)}
    assert set(os.listdir(folder)) == left, os.listdir(folder)
print(f"rank {rank} of {size} is done\n", end="", flush=True)
