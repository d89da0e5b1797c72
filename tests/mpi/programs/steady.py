"""Runs until a number rests end at the same step on any number of ranks, also where each returns another number."""

import numpy as np
from mpi4py import MPI

import lbmgpu as lbm

world = MPI.COMM_WORLD


def make(comm: MPI.Comm) -> lbm.Solver:
    domain = lbm.Domain((16, 12), "D2Q9")
    domain.faces["-y"] = domain.faces["+y"] = lbm.NoSlip()
    domain.thermal["-y"], domain.thermal["+y"] = lbm.Isothermal(0.5), lbm.Isothermal(-0.5)
    mask = np.zeros(domain.shape, dtype=bool)
    mask[5:7, 4:8] = True
    domain.add_body(mask, "block")
    model = lbm.HybridThermal(0.05, buoyancy=(0, 1e-5))
    options = {"force": (1e-5, 0), "precision": "float64", "device": "cpu", "threads": 1}
    return lbm.Solver(domain, lbm.TRT(0.1), thermal=model, comm=comm, **options)


for of in ("force:block", "nusselt", lbm.Solver.kinetic_energy):
    until = lbm.Steady(1e-3, of=of, every=20, window=5)
    many, one = (make(comm).run(20_000, until=until) for comm in (world, MPI.COMM_SELF))
    assert many.converged, of
    assert (many.steps, many.reason) == (one.steps, one.reason), of

rank = world.Get_rank()
values = {True: [1.0, 2.0, 2.0, 2.0, 2.0, 2.0], False: [1.0, 1.0, 1.0, 4.0, 4.0, 4.0]}
own = iter(values[rank == 0])
result = make(world).run(60, until=lbm.Steady(0.1, of=lambda s: next(own), every=10, window=3))
assert result.converged
assert result.steps == (60 if world.Get_size() > 1 else 40)
bad = iter([1.0, np.nan if rank else 1.0, 1.0, 1.0, 1.0])
result = make(world).run(50, until=lbm.Steady(0.1, of=lambda s: next(bad), every=10, window=3))
assert result.steps == (50 if world.Get_size() > 1 else 30)
print(f"rank {rank} of {world.Get_size()} is done")
