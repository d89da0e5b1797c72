"""Halos of long rows of cells that keep moments, which between GPUs are boxes for the copy engine: in the bits of one
process, whichever axis is cut."""

from typing import Any

import numpy as np
import stone
from mpi4py import MPI

import lbmgpu as lbm

world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
device, _ = stone.arguments()


def made(shape: tuple[int, ...], **options: Any) -> lbm.Solver:
    solver = lbm.Solver(lbm.Domain(shape), lbm.Regularized(0.02), state="moments", threads=1, **options)
    solver.initialize(velocity=0.05 * np.random.default_rng(1).uniform(-1, 1, (3, *shape)))
    return solver


for parts in ((1, 1, size), (1, size, 1)):
    shape = (140, 48 * parts[1], 8 * parts[2])
    layout = lbm.Layout.split(shape, parts, device if device == "cpu" else None, ranks=range(size))
    many, one = made(shape, layout=layout, comm=world), made(shape, device=device, comm=MPI.COMM_SELF)
    for steps in (1, 6, 5):
        many.step(steps)
        one.step(steps)
        there = (slice(None), *many.subdomain)
        np.testing.assert_array_equal(many.populations(), one.populations()[there])

print(f"rank {rank} of {size} is done")
