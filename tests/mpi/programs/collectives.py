"""Checks collective operations (sums, maxima, texts), and how `lbmgpu.parallel.ranks` converts mpi4py communicators."""

import gc

from mpi4py import MPI

from lbmgpu.parallel import ranks

world = MPI.COMM_WORLD
comm = ranks.communicator(world)
assert comm is not None
rank, size = comm.rank, comm.size
assert (rank, size) == (world.Get_rank(), world.Get_size())
assert comm.library == MPI.Get_library_version().rstrip("\0\n")
assert isinstance(comm.cuda_aware, bool)

assert comm.sum([1.0, rank, -0.5]) == [size, size * (size - 1) / 2, -0.5 * size]
assert comm.sum([]) == []
assert comm.maximum(rank) == size - 1
assert comm.maximum(-rank - 1.0) == -1
assert comm.all_gather(f"host {rank} " + "é\n" * (1000 * rank)) == [
    f"host {k} " + "é\n" * (1000 * k) for k in range(size)
]
assert comm.all_gather("") == [""] * size
assert comm.all_gather("first" if rank == 0 else "") == ["first"] + [""] * (size - 1)
comm.barrier()
assert ranks.node_local(world) == tuple(range(size))

half = world.Split(color=rank % 2, key=-rank)  # ranks in another order than that of the world
part = ranks.communicator(half)
assert part is not None
members = [k for k in reversed(range(size)) if k % 2 == rank % 2]
assert (part.rank, part.size) == (members.index(rank), len(members))
assert part.all_gather(str(rank)) == [str(k) for k in members]
assert ranks.node_local(half) == tuple(range(len(members)))
half.Free()
assert part.sum([rank]) == [sum(members)]  # a duplicate outlives its original

for _ in range(3000):  # more than a library has at once
    del part
    gc.collect(0)
    part = ranks.communicator(MPI.COMM_SELF)
    assert part.size == 1

print(f"rank {rank} of {size} is done\n", end="", flush=True)
