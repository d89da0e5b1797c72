"""A temperature over all ranks: fields and heat as one process has them, checkpoints, and different arguments."""

import sys
from pathlib import Path

import numpy as np
import pytest
from mpi4py import MPI

import lbmgpu as lbm

world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
device, folder = sys.argv[1], Path(sys.argv[2])
shape = (12, 10, 8)
wall = np.linspace(0.5, 1.0, 80).reshape(10, 8)


def make(hot: object = wall, stone: object = 0.75, diffusivity: float = 0.05, **options: object) -> lbm.Solver:
    domain = lbm.Domain(shape)
    domain.faces["-x"] = domain.faces["+x"] = lbm.NoSlip()
    domain.thermal["-x"], domain.thermal["+x"] = lbm.Isothermal(hot), lbm.Isothermal(lambda x, y, z, t: 1e-4 * t)
    mask = np.zeros(shape, bool)
    mask[4:7, 3:5, 2:6] = True
    domain.add_body(mask, "stone", thermal=lbm.Isothermal(stone))
    source = options.pop("source", None)
    model = lbm.HybridThermal(diffusivity, buoyancy=(0, 1e-3, 0), reference=0.5, source=source)
    return lbm.Solver(domain, lbm.MRT(0.1), device=device, **{"thermal": model, **options})


def same(solver: lbm.Solver, other: lbm.Solver) -> None:
    """The rank's window of one, and the same of the other, which has all of the domain."""
    np.testing.assert_array_equal(solver.temperature(), other.temperature()[solver.subdomain])
    fluid = ~solver.solid[solver.subdomain]
    there = other.populations()[(slice(None), *solver.subdomain)]
    np.testing.assert_array_equal(solver.populations()[:, fluid], there[:, fluid])


many, one = make(comm=world), make(comm=MPI.COMM_SELF)
for solver in (many, one):
    solver.run(40, until=lbm.Steady(1e-12, every=10, of="temperature"))
same(many, one)
whole = many.temperature(gather=True)
if rank == 0:
    np.testing.assert_array_equal(whole, one.temperature())
else:
    assert whole is None
np.testing.assert_allclose(many.heat(), one.heat(), rtol=1e-7)
for face in ("-x", "+x"):
    np.testing.assert_array_equal(many.heat_flux(face), one.heat_flux(face))
    np.testing.assert_allclose(many.nusselt(face, 12, 1), one.nusselt(face, 12, 1), rtol=1e-6)
for ours, theirs in zip(many.heat_flux("stone"), one.heat_flux("stone"), strict=True):
    np.testing.assert_array_equal(ours, theirs)
np.testing.assert_allclose(many.nusselt("stone", 3, 1), one.nusselt("stone", 3, 1), rtol=1e-6)

# Checkpoints go from any number of processes to any other.
path = many.save(folder / "many.h5")
world.barrier()
lone, again = make(comm=MPI.COMM_SELF), make(comm=world)
for solver in (lone, again):
    solver.restore(path)
for solver in (many, one, lone, again):
    solver.step(7)
same(many, one)
same(many, lone)
same(again, one)
index = many.write_vtk(folder / "fields.vti")
world.barrier()
if size > 1:
    assert 'Name="temperature"' in index.read_text()

# Different arguments are an error on all ranks.
others = {
    "thermal": [{"diffusivity": 0.06}, {"source": 1e-6}],
    "thermal['-x']": [{"hot": 1.0}],
    "bodies": [{"stone": 0.5}],
}
if size > 1:
    for what, given in others.items():
        for other in given:
            with pytest.raises(ValueError, match="all ranks take the same arguments") as caught:
                make(comm=world, **(other if rank == size - 1 else {}))
            assert f"{what}: rank {size - 1} was given another than rank 0" in str(caught.value), str(caught.value)
print(f"rank {rank} of {size} is done\n", end="", flush=True)
