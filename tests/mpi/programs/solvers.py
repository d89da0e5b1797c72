"""A solver over all ranks in use: fields, runs, reports, checkpoints, files for ParaView, errors that all ranks see."""

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


def make(**options: object) -> lbm.Solver:
    domain = lbm.Domain(shape)
    domain.faces["-y"] = lbm.NoSlip()
    domain.faces["+y"] = lbm.MovingWall((0.05, 0, 0))
    mask = np.zeros(shape, bool)
    mask[4:7, 3:5, 2:6] = True
    domain.add_body(mask, "stone")
    return lbm.Solver(domain, lbm.MRT(0.1), force=(1e-6, 0, 0), device=device, **options)


def same(solver: lbm.Solver, other: lbm.Solver) -> None:
    """The fluid in the rank's window of one, and in the other, which has all of the domain."""
    fluid = ~solver.solid[solver.subdomain]
    there = other.populations()[(slice(None), *solver.subdomain)]
    np.testing.assert_array_equal(solver.populations()[:, fluid], there[:, fluid])


many, one = make(comm=world), make(comm=MPI.COMM_SELF)
assert many.rank == rank
assert [block.rank for block in many.layout] == list(range(size))
assert many.subdomain == (slice(0, 12), slice(10 * rank // size, 10 * (rank + 1) // size), slice(0, 8))
results = [solver.run(40, until=lbm.Steady(1e-12, every=10), progress=True) for solver in (many, one)]
assert results[0].steps == results[1].steps == 40
same(many, one)
assert many.density().shape == tuple(axis.stop - axis.start for axis in many.subdomain)
whole = many.velocity(gather=True)
if rank == 0:
    np.testing.assert_array_equal(whole, one.velocity())
else:
    assert whole is None
np.testing.assert_allclose(many.body_force("stone"), one.body_force("stone"), rtol=1e-6, atol=1e-9)
np.testing.assert_allclose(many.kinetic_energy(), one.kinetic_energy(), rtol=1e-6)
report = many.report(bandwidth=False)
if size > 1:
    assert ("links mpi" if device == "cpu" else "links ") in report.setup["exchange"]
    assert f"of rank {size - 1}" in report.setup["blocks"]
    assert len(world.allgather(report.mlups)) == size
    every = many.report(bandwidth=False, gather=True)
    assert every.part == 1
    assert every.memory_bytes == sum(world.allgather(report.memory_bytes))
    assert {(link["from"], link["to"]) for links in world.allgather(report.links) for link in links} == {
        (link["from"], link["to"]) for link in every.links
    }
    assert len({(link["from"], link["to"]) for link in every.links}) == len(every.links)
    assert sum(world.allgather(report.part)) == pytest.approx(1)
    assert report.mlups == every.mlups
    assert all(link["bandwidth"] > 0 for link in report.links)
    if rank == 0:  # alone, while the others go on
        assert "of this rank" in str(many.report(bandwidth=False))
    world.barrier()

# Checkpoints go from any number of processes to any other.
path = many.save(folder / "many.h5")
world.barrier()
same(many, lbm.Solver.load(path, device=device, comm=MPI.COMM_SELF))
one.save(folder / f"one.{rank}.h5")
world.barrier()
again = lbm.Solver.load(folder / "one.0.h5", device=device, comm=world)
for solver in (many, one, again):
    solver.step(11)
same(many, one)
same(again, one)

# Files for ParaView: an image a block and an index, which holds what one process writes.
index = many.write_vtk(folder / "fields.vti")
if rank == 0:
    one.write_vtk(folder / "whole.vti")
world.barrier()
if size > 1:
    assert index == folder / "fields.pvti"
    assert len(list(folder.glob("fields.*.vti"))) == size

# What goes wrong on one rank is an error on all of them.
with pytest.raises(FileNotFoundError):
    many.save(folder / "nowhere" / "state.h5")
blocked = folder / "blocked.h5"
with pytest.MonkeyPatch.context() as patch:
    if rank == 0:

        def full(*_: object) -> None:
            raise OSError(28, "No space left on device")

        patch.setattr("lbmgpu.files.atomic_write.os.replace", full)
    with pytest.raises(OSError, match="No space left on device"):
        many.save(blocked)
assert not blocked.exists()
blocks = [lbm.Block((0, 0, 0), shape, 0 if size > 1 else 1)]
with pytest.raises(ValueError, match="no block is of rank 1" if size > 1 else "block 0 is of rank 1"):
    lbm.Solver(lbm.Domain(shape), lbm.BGK(0.1), layout=lbm.Layout(blocks), comm=world)

found = folder / "found.json"
if rank == 0:
    many.layout.save(found)
world.barrier()
if size > 1:
    with pytest.raises(FileNotFoundError):
        lbm.Solver(lbm.Domain(shape), lbm.BGK(0.1), layout=found if rank == 0 else folder / "lost.json", comm=world)

# Ranks with unequal numbers of devices keep together.
uneven = lbm.Solver(lbm.Domain(shape), lbm.MRT(0.1), device=[device, "cpu", "cpu"] if rank == 0 else device, comm=world)
assert len(uneven.layout) == size + 2
assert lbm.Solver.load(uneven.save(folder / "uneven.h5"), device=device, comm=world).steps == 0

# A flow that diverges does so everywhere, at the same step and cell.
wild = make(comm=world)
wild.force = (0.5, 0.3, 0)
with pytest.raises(lbm.DivergedError) as error:
    wild.run(5000)
assert len(set(world.allgather((error.value.step, error.value.cell)))) == 1
with pytest.raises(lbm.DivergedError):
    wild.save(folder / "wild.h5")
print(f"rank {rank} of {size} is done\n", end="", flush=True)
