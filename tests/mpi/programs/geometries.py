"""Solvers whose ranks ask geometries for their own part: each bit is that of one process, and of the mask."""

import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from mpi4py import MPI

import lbmgpu as lbm

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from reference import meshes

world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
SHAPE = (14, 12, 16)
VERTICES, TRIANGLES = meshes.icosphere(2)
GEOMETRIES = {
    "ball": lbm.Mesh((4, 6, 11.5) + 3 * VERTICES, TRIANGLES),
    "holed": lbm.Mesh((10, 6, 11.5) + 2.7 * VERTICES, TRIANGLES[6:]),
    "rod": lbm.Cylinder((7, 1, 3), 2.2, "x") - lbm.Box((6, -3, 0), (9, 12, 2)),
}
"""The rod comes back at the other end of y."""
warnings.simplefilter("ignore", lbm.GeometryWarning)


def populations(
    as_masks: bool, layout: lbm.Layout | None, comm: MPI.Comm, scheme: str | None = "halfway"
) -> np.ndarray | None:
    domain = lbm.Domain(SHAPE)
    domain.faces["-z"] = domain.faces["+z"] = lbm.NoSlip()
    for name, geometry in GEOMETRIES.items():
        wall = lbm.NoSlip(scheme=scheme)
        if name == "ball":
            wall = lbm.MovingWall(lbm.Rotation(2e-3, (4, 6, 11.5), (1, 2, -1)), scheme=scheme)
        domain.add_body(geometry, name, wall)
        if as_masks:
            mask = domain.bodies[name].mask
            del domain.bodies[name]
            domain.add_body(mask, name, wall)
    solver = lbm.Solver(domain, lbm.TRT(0.05), force=(1e-5, 0, 0), layout=layout, comm=comm, threads=1, device="auto")
    solver.step(6)
    return solver.populations(gather=True)


warnings.simplefilter("ignore", lbm.LoneProcessWarning)
expected = populations(True, None, MPI.COMM_SELF)
on_surface = populations(False, None, MPI.COMM_SELF, None)
assert expected is not None
assert on_surface is not None
assert expected.tobytes() != on_surface.tobytes()
for parts in [(1, 1, size), (size, 1, 1), (1, size, 2)]:
    layout = lbm.Layout.split(SHAPE, parts, ranks=[k % size for k in range(parts[0] * parts[1] * parts[2])])
    found = populations(False, layout, world)
    assert (found is None) == (rank > 0)
    if found is not None:
        assert found.tobytes() == expected.tobytes()
    found = populations(False, layout, world, None)
    if found is not None:
        assert found.tobytes() == on_surface.tobytes()

if size > 1:
    other = lbm.Domain(SHAPE)
    other.add_body(lbm.Sphere((7, 6, 8), 4 if rank == 0 else 4.5))
    with pytest.raises(ValueError, match=r"bodies: .* given another than rank 0"):
        lbm.Solver(other, lbm.BGK(0.1), comm=world, threads=1)
print(f"rank {rank} of {size} is done", flush=True)
