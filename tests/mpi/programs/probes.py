"""Probes and histories of forces over all ranks: as one process has them, in a checkpoint too."""

import numpy as np
import stone
from mpi4py import MPI

import lbmgpu as lbm

world = MPI.COMM_WORLD
device, folder = stone.arguments()
shape = stone.SHAPE

domain = stone.domain()
velocity = stone.velocity()
points = np.random.default_rng(2).uniform(0, 1, (200, 3)) * shape


def recorders() -> list[lbm.Recorder]:
    plane = lbm.PlaneProbe("x", 6.2, fields="velocity", every=2)
    walls = lbm.Forces("+y"), lbm.Coefficients("-y", speed=0.05, area=140, every=2)
    return [lbm.Probe(points), plane, lbm.Forces("stone"), *walls, lbm.Flux("z", 4.0, every=3)]


def same(own: list, alone: list) -> None:
    """Positions to the bit, sums over cells of several ranks to rounding."""
    for one, other in zip(own, alone, strict=True):
        assert np.array_equal(one.steps, other.steps), (one, one.steps, other.steps)
        for field in one.fields:
            if isinstance(one, lbm.Forces):
                np.testing.assert_allclose(one[field], other[field], rtol=1e-12, atol=1e-14)
            else:
                assert np.array_equal(one[field], other[field], equal_nan=True), (one, field)


solvers, recorded = [], []
for comm in (world, MPI.COMM_SELF):
    solver = lbm.Solver(domain, lbm.BGK(0.02), device=device, threads=1, comm=comm, precision="float64")
    solver.initialize(velocity=velocity)
    recorded.append(solver.record(*recorders()))
    solvers.append(solver)
    solver.step(4)
    solver.run(5)
same(*recorded)
for solver in solvers:
    solver.step(2)
same(*recorded)  # what step has added is gathered when it is read

many, one = solvers
path = many.save(folder / "state.h5")
world.Barrier()
again = lbm.Solver.load(path, device=device, threads=1, comm=world)
parts = again.record(*recorders())
again.run(3)
one.run(3)
same(parts, recorded[1])
table = parts[0].to_csv(folder / "probe.csv")
world.Barrier()
assert len(table.read_text().splitlines()) == 15

print(f"rank {world.Get_rank()} of {world.Get_size()} is done")
