"""An interrupt of one rank while all save: it is raised there, an error on the others, and the old file stays."""

import os
import signal
import sys
import time
from pathlib import Path

import pytest
from mpi4py import MPI

import lbmgpu as lbm

SECONDS = 10
"""Until all ranks have the error, on a machine that others use too."""

world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
folder = Path(sys.argv[1])
signal.signal(signal.SIGINT, signal.default_int_handler)

solver = lbm.Solver(lbm.Domain((12, 10, 8)), lbm.BGK(0.1), force=(1e-5, 0, 0), device="cpu", comm=world)
solver.step(4)
path = solver.save(folder / "state.h5")
world.barrier()
before = path.read_bytes()
solver.step(3)
gathered = solver._simulation.processes.gathered

at, by, count = 0, 0, 0


def watched(*arguments: object) -> object:
    """Interrupts rank `by` when it has gathered `at` fields."""
    global count
    if (count, rank) == (at, by):
        os.kill(os.getpid(), signal.SIGINT)
    count += 1
    return gathered(*arguments)


solver._simulation.processes.gathered = watched
for by in range(size):
    for at in (0, 7, 18):
        count, begin = 0, time.monotonic()
        with pytest.raises(KeyboardInterrupt if rank == by else OSError) as caught:
            solver.save(path)
        assert time.monotonic() - begin < SECONDS
        assert rank == by or f"rank {by}: interrupted (KeyboardInterrupt)" in str(caught.value), str(caught.value)
        assert world.allgather(count) == [at + 1] * size
        assert path.read_bytes() == before
        assert os.listdir(folder) == ["state.h5"], os.listdir(folder)
        world.barrier()

solver._simulation.processes.gathered = gathered
solver.save(path)
loaded = lbm.Solver.load(path, device="cpu", comm=world)
assert loaded.steps == 7
assert (loaded.populations() == solver.populations()).all()
print(f"rank {rank} of {size} is done\n", end="", flush=True)
