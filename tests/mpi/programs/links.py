"""How halos travel between ranks: from memory to memory on one host, by messages where their hosts are pretended to be
two."""

import os
import sys

import numpy as np
from mpi4py import MPI

import lbmgpu as lbm

world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
device, nearest = sys.argv[1], sys.argv[2]
domain, shape = lbm.Domain((24, 16, 8 * size)), (24, 16, 8 * size)
flow = np.random.default_rng(1).uniform(-0.01, 0.01, (3, *shape))
fields = []
for hosts in ([""] * size, ["one", *["two"] * (size - 1)], [f"host{k}" for k in range(size)]):
    os.environ["LBMGPU_HOST"] = hosts[rank]
    solver = lbm.Solver(domain, lbm.MRT(0.05), device=device, comm=world)
    blocks, links = solver.layout, solver._simulation.engine.links
    owners = [block.rank for block in blocks]
    for link in links:
        ends = owners[link["from"]], owners[link["to"]]
        if ends[0] != ends[1]:
            apart = hosts[ends[0]] != hosts[ends[1]]
            assert link["channel"] == ("mpi" if apart else nearest), (link, hosts)
    solver.initialize(velocity=flow)
    solver.step(20)
    fields.append(solver.populations(gather=True))
if rank == 0:
    for field in fields[1:]:
        np.testing.assert_array_equal(field, fields[0])
print(f"rank {rank} of {size} is done\n", end="", flush=True)
