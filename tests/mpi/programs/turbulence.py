"""Turbulence models, and the hybrid collision, over all ranks: as one process has them, and their checkpoint."""

import numpy as np
import stone
from mpi4py import MPI

import lbmgpu as lbm

world = MPI.COMM_WORLD
size = world.Get_size()
device, folder = stone.arguments()
shape = stone.SHAPE

domain = stone.domain(is_open=True)
velocity = stone.velocity()


def run(collision: object, model: object, steps: int = 4, **options: object) -> lbm.Solver:
    solver = lbm.Solver(domain, collision, turbulence=model, device=device, threads=1, **options)
    solver.initialize(velocity=velocity)
    solver.step(steps)
    if model is not None:
        solver.eddy_viscosity()  # which no later step shows
    solver.step(steps)
    return solver


def same(solver: lbm.Solver, other: lbm.Solver) -> None:
    """The rank's window of one, and the same of the other, which has all of the domain."""
    there = (slice(None), *solver.subdomain)
    fluid = ~solver.solid[solver.subdomain]
    np.testing.assert_array_equal(solver.populations()[:, fluid], other.populations()[there][:, fluid])
    if solver.turbulence is not None:
        np.testing.assert_array_equal(solver.eddy_viscosity(), other.eddy_viscosity()[solver.subdomain])


local, hybrid = lbm.CentralMoments(0.02), lbm.RecursiveRegularized(0.02, hybrid=0.7)
cases = [(local, lbm.WALE()), (local, lbm.Vreman(every=3)), (local, lbm.Smagorinsky(0.15)), (hybrid, None)]
for number, (collision, model) in enumerate([*cases, (hybrid, lbm.Smagorinsky(0.15))]):
    many, one = run(collision, model, comm=world), run(collision, model, comm=MPI.COMM_SELF)
    same(many, one)
    many.save(folder / f"{number}.h5")
    world.Barrier()
    alone = lbm.Solver.load(folder / f"{number}.h5", device=device, comm=MPI.COMM_SELF)
    for solver in (many, alone):
        solver.step(3)
    same(many, alone)

print(f"rank {world.Get_rank()} of {size} is done")
