"""Checkpoints move between populations and moments over all ranks: in the bits of one process, and warned of once."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import stone
from mpi4py import MPI

import lbmgpu as lbm

world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
device, folder = stone.arguments()
domain, velocity = stone.domain(), stone.velocity()
own = lbm.Regularized(0.02)


def saved(name: str, collision: Any, **options: Any) -> Path:
    solver = lbm.Solver(domain, collision, device=device, threads=1, comm=world, **options)
    solver.initialize(velocity=velocity)
    solver.step(3)
    solver.save(folder / name)
    world.Barrier()
    return folder / name


def loaded(path: Path, comm: Any, **options: Any) -> tuple[lbm.Solver, int]:
    """A solver of the checkpoint, and how many warnings of a projection there were on this rank."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        solver = lbm.Solver.load(path, device=device, comm=comm, threads=1, **options)
    return solver, sum(issubclass(each.category, lbm.ProjectedStateWarning) for each in found)


def same(solver: lbm.Solver, other: lbm.Solver) -> None:
    """The rank's window of one, and the same of the other, which has all of the domain."""
    there = (slice(None), *solver.subdomain)
    fluid = ~solver.solid[solver.subdomain]
    np.testing.assert_array_equal(solver.populations()[:, fluid], other.populations()[there][:, fluid])


for name, collision, options, given, told in (
    ("moments.h5", own, {"state": "moments"}, {"state": "populations"}, 0),
    ("populations.h5", own, {}, {"state": "moments"}, 0),
    ("bgk.h5", lbm.BGK(0.02), {}, {"state": "moments", "collision": own}, 1),
):
    path = saved(name, collision, **options)
    many, warned = loaded(path, world, **given)
    one, alone = loaded(path, MPI.COMM_SELF, **given)
    assert many.state == one.state == given["state"]
    assert (warned, alone) == (told if rank == 0 else 0, told), (name, warned, alone)
    same(many, one)
    for solver in (many, one):
        solver.step(5)
    same(many, one)

chosen = lbm.Solver(domain, own, device=device, threads=1, comm=world, state="auto")
assert chosen.state == "moments"

print(f"rank {rank} of {size} is done")
