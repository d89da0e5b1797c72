"""Forces per cell and in time on cells that keep moments, also around blocks: in the bits of one process."""

import warnings
from typing import Any

import numpy as np
import stone
from mpi4py import MPI

import lbmgpu as lbm

world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
device, _ = stone.arguments()
own = lbm.RecursiveRegularized(0.02)
pulse = lbm.Sine(mean=0.2, amplitude=0.6, period=8.3)


def swirl(*at: Any) -> list[Any]:
    """Another force in each cell."""
    return [1e-4 * np.sin(0.7 * sum(at) + axis) * np.cos(0.3 * at[axis] ** 2) for axis in range(len(at))]


def made(shape: tuple[int, ...], faces: dict[str, Any], force: Any, comm: Any, **options: Any) -> lbm.Solver:
    domain = lbm.Domain(shape, "D2Q9" if len(shape) == 2 else "D3Q19")
    for face, condition in faces.items():
        domain.faces[face] = condition
    middle = np.array([n // 2 for n in shape])
    if faces:  # its walls are at their distances
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", lbm.GeometryWarning)  # it is small
            domain.add_body(lbm.Sphere(tuple(middle + 0.4), 2.6), "ball")
    else:
        distance2 = ((np.indices(shape) - middle.reshape(-1, *[1] * len(shape))) ** 2).sum(axis=0)
        domain.add_body(distance2 < 7, "ball")
    given: dict[str, Any] = {"state": "moments", "precision": "float32", "force": force}
    solver = lbm.Solver(domain, own, device=device, threads=1, comm=comm, **given, **options)
    solver.initialize(velocity=lambda *at: [0.02 * np.sin(0.5 * x + k) for k, x in enumerate(at)])
    return solver


def strips(shape: tuple[int, ...], axis: int) -> lbm.Layout:
    """One block for each rank."""
    cuts = [shape[axis] * k // size for k in range(size + 1)]
    blocks = []
    for r in range(size):
        offset, extent = [0] * len(shape), list(shape)
        offset[axis], extent[axis] = cuts[r], cuts[r + 1] - cuts[r]
        blocks.append(lbm.Block(tuple(offset), tuple(extent), rank=r, device=device))
    return lbm.Layout(blocks)


for shape, faces in (
    ((26, 22), {}),
    ((26, 22), {"-y": lbm.NoSlip(), "+y": lbm.FreeSlip(), "-x": lbm.FreeSlip(), "+x": lbm.FreeSlip()}),
    ((13, 12, 14), {"-z": lbm.FreeSlip(), "+z": lbm.NoSlip()}),
    ((8, 5, 150), {}),
):
    array = np.array(swirl(*(axis + 0.5 for axis in np.indices(shape))))
    for axis in range(len(shape)):
        layout = strips(shape, axis)
        forces = (array, swirl, array * pulse, np.full(len(shape), 1e-4) * pulse)
        for number, force in enumerate(forces):
            streaming = ("two-lattice", "in-place")[(axis + number) % 2]
            many = made(shape, faces, force, world, layout=layout, streaming=streaming)
            one = made(shape, faces, force, MPI.COMM_SELF)
            there = (slice(None), *many.subdomain)
            fluid = ~many.solid[many.subdomain]
            for solver in (many, one):
                solver.step(13)
            np.testing.assert_array_equal(many.populations()[:, fluid], one.populations()[there][:, fluid])
            np.testing.assert_array_equal(many.velocity()[:, fluid], one.velocity()[there][:, fluid])
            if np.ndim(many.force) > 1:  # this process's part, given again
                part = np.array(many.force)
                np.testing.assert_array_equal(part, one.force[there])
                many.force, one.force = part, np.array(one.force)
                for solver in (many, one):
                    solver.step(3)
                np.testing.assert_array_equal(many.populations()[:, fluid], one.populations()[there][:, fluid])

print(f"rank {rank} of {size} is done")
