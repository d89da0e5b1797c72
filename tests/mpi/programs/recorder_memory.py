"""Statistics that do not fit the memory of one rank are refused on all, and what ranks share is added up."""

import pytest
from mpi4py import MPI

import lbmgpu as lbm
from lbmgpu.engine import memory

world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
shape = (16, 16, 16 * size)
slots = 3 * 8 * 16**3  # of each rank

solver = lbm.Solver(lbm.Domain(shape), lbm.BGK(0.1), device="cpu", threads=1, comm=world)
text = f"recorder 'mean': needs .* of memory on cpu for {size} processes of one host together"
for free in (slots * size - 1, slots * size + 1000 if rank == 0 else slots * size - 1):
    memory.available_memory = lambda device="cpu", free=free: free
    with pytest.raises(lbm.TooLittleMemoryError, match=text):
        solver.record(lbm.Mean("velocity"))
assert solver.recorders == ()
memory.available_memory = lambda device="cpu": slots * size
solver.record(lbm.Mean("velocity"))
solver.step(2)
print(f"rank {rank} of {size} is done")
