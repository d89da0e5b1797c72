"""Statistics over all ranks: as one process has them, bit by bit, and their checkpoint."""

from typing import Any

import numpy as np
import stone
from mpi4py import MPI

import lbmgpu as lbm

world = MPI.COMM_WORLD
device, folder = stone.arguments()
shape = stone.SHAPE

domain = stone.domain()
velocity = stone.velocity()


def recorders() -> list[Any]:
    found: list[Any] = [lbm.Mean("velocity", "density"), lbm.Covariance("velocity"), lbm.Maximum("density")]
    found += [lbm.Mean("velocity", over="xz", name="profile"), lbm.Covariance("velocity", over="xz", name="stresses")]
    return [*found, lbm.Minimum("density", over="y", name="least"), lbm.Mean("density", batches=4, name="cells")]


def run(steps: int = 30, **options: Any) -> tuple[lbm.Solver, list[Any]]:
    solver = lbm.Solver(domain, lbm.TRT(0.02), device=device, threads=1, **options)
    solver.initialize(velocity=velocity)
    found = recorders()
    solver.record(*found, every=2)
    solver.step(steps)
    return solver, found


def same(solver: lbm.Solver, many: list[Any], one: list[Any]) -> None:
    """The rank's part of each, the whole on rank 0, and what is over axes on all ranks."""
    for several, alone in zip(many, one, strict=True):
        for field in several.fields:
            expected = alone[field]
            lead = expected.ndim - 3
            if several.name in ("profile", "stresses", "least"):
                np.testing.assert_array_equal(several[field], expected)
                continue
            here = (*(slice(None),) * lead, *solver.subdomain)
            np.testing.assert_array_equal(several[field], expected[here])
            whole = several.read(field, gather=True)
            assert (whole is None) == (world.Get_rank() > 0)
            if whole is not None:
                np.testing.assert_array_equal(whole, expected)
    for k, field in ((3, "velocity"), (6, "density")):
        here = (...,) if k == 3 else solver.subdomain
        np.testing.assert_array_equal(many[k].confidence(field), one[k].confidence(field)[here])


def same_whole(many: list[Any], one: list[Any]) -> None:
    """The whole on rank 0, and what is over axes on all ranks, whatever the windows."""
    for several, alone in zip(many, one, strict=True):
        for field in several.fields:
            found, expected = several[field], alone[field]
            if several.name not in ("profile", "stresses", "least"):
                whole = several.read(field, gather=True)
                if whole is None:
                    continue
                found = whole
            np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(many[3].confidence("velocity"), one[3].confidence("velocity"))
    whole = many[6].confidence("density", gather=True)
    if whole is not None:
        np.testing.assert_array_equal(whole, one[6].confidence("density"))


solver, many = run(comm=world)
_, one = run(comm=MPI.COMM_SELF)
same(solver, many, one)
solver.save(folder / "statistics.h5")
world.Barrier()
_, expected = run(39, comm=MPI.COMM_SELF)
ranks = [k % world.size for k in range(2 * world.size)]  # whose windows are not apart
layout = lbm.Layout.split(shape, (1, 2 * world.size, 1), device=device, ranks=ranks)
for where in ({"device": device}, {"layout": layout}):
    again = lbm.Solver.load(folder / "statistics.h5", comm=world, **where)
    if "layout" in where:  # what waits for recorders goes through another file
        again = lbm.Solver.load(again.save(folder / "again.h5"), comm=world, **where)
    later = recorders()
    again.record(*later, every=2)
    again.step(9)
    same_whole(later, expected)
    if "device" in where:
        same(again, later, expected)
print(f"rank {world.Get_rank()} of {world.Get_size()} is done")
