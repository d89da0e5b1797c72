"""Ranks on GPUs that are given fields in the memory of these: each bit is that of one process given arrays of the host.

Arrays are of the domain, or of the rank's part. With `nonequilibrium` parts need what lies around them, and densities
are added up over all ranks, so that these go through the host.
"""

import sys
from pathlib import Path

import numpy as np
import pytest
from mpi4py import MPI

import lbmgpu as lbm
from lbmgpu import _core

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from gpu_driver import OnGpu

world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
SHAPE = (14, 12, 16)
random = np.random.default_rng(5)
FIELDS = {
    "density": 1 + 0.01 * random.standard_normal(SHAPE),
    "velocity": 0.01 * random.standard_normal((3, *SHAPE)),
    "temperature": 0.1 * random.standard_normal(SHAPE),
    "force": 1e-5 * random.standard_normal((3, *SHAPE)).astype(np.float32),
    "source": 1e-5 * random.standard_normal(SHAPE),
}
STONES = random.random(SHAPE) < 0.06
GPU = rank % _core.cuda_device_count()


class Given(OnGpu):
    """An array that can be copied to the host too, and knows whether it was."""

    def __init__(self, array: np.ndarray) -> None:
        super().__init__(array, GPU)
        self.array, self.copies = array, 0

    def get(self) -> np.ndarray:
        self.copies += 1
        return self.array


def solver(layout: lbm.Layout | None, comm: object, force: object) -> lbm.Solver:
    domain = lbm.Domain(SHAPE)
    domain.faces["-y"], domain.faces["+y"] = lbm.NoSlip(), lbm.MovingWall((0.05, 0, 0))
    domain.add_body(STONES, "stones")
    thermal = lbm.HybridThermal(0.05, buoyancy=(0, 1e-4, 0), reference=0.5)
    where = {"device": "cuda:0"} if layout is None else {"layout": layout}
    return lbm.Solver(domain, lbm.TRT(0.05), force=force, thermal=thermal, comm=comm, **where)


for nonequilibrium in (False, True):
    one = solver(None, None, FIELDS["force"])
    one.heat_source = FIELDS["source"]
    one.initialize(*(FIELDS[name] for name in ("density", "velocity")), nonequilibrium, FIELDS["temperature"])
    one.step(3)
    for parts in [(1, 1, size), (size, 1, 1), (2, 2, size)]:
        count = int(np.prod(parts))
        owners = [k % size for k in range(count)]
        devices = [f"cuda:{owner % _core.cuda_device_count()}" for owner in owners]
        layout = lbm.Layout.split(SHAPE, parts, devices, owners)
        window = layout.subdomain(rank)
        for of_part in (False, True):
            given = {
                name: Given(np.ascontiguousarray(array[(..., *window)]) if of_part else array)
                for name, array in FIELDS.items()
            }
            other = solver(layout, world, given["force"])
            other.force = given["force"]
            other.heat_source = given["source"]
            other.initialize(given["density"], given["velocity"], nonequilibrium, given["temperature"])
            other.step(3)
            found = [other.populations(gather=True), other.temperature(gather=True)]
            np.testing.assert_array_equal(other.force, FIELDS["force"][(..., *window)])
            if rank == 0:
                np.testing.assert_array_equal(found[0], one.populations())
                np.testing.assert_array_equal(found[1], one.temperature())
            is_part = of_part and all(world.allgather(given["density"].array.shape != SHAPE))
            for name in ("velocity", "temperature"):
                assert given[name].copies == (1 if nonequilibrium and is_part else 0), (name, parts, of_part)
            assert given["source"].copies == given["force"].copies == 0
    wrong = FIELDS["velocity"].copy()
    wrong[2, 3, 4, 15] = np.nan
    with pytest.raises(ValueError, match="velocity: nan given at index"):
        other.initialize(velocity=Given(wrong))

print(f"rank {rank} of {size} is done")
