"""A recorder that refuses on one rank what a checkpoint has leaves all ranks as they were."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mpi4py import MPI

import lbmgpu as lbm

world = MPI.COMM_WORLD
device, folder = sys.argv[1], Path(sys.argv[2])


class Picky(lbm.Recorder):
    """Refuses what was kept, on the last rank only."""

    restored = False

    def sample(self, solver: lbm.Solver) -> None:
        pass

    def kept(self) -> dict[str, Any]:
        return {"numbers": np.ones(3)}

    def check_kept(self, kept: dict[str, Any], steps: int) -> None:
        if world.Get_rank() == world.Get_size() - 1:
            raise ValueError(f"not of step {steps}")

    def restore(self, kept: dict[str, Any]) -> None:
        self.restored = True


solver = lbm.Solver(lbm.Domain((12, 10, 8)), lbm.BGK(0.02), device=device, threads=1, comm=world)
solver.initialize(velocity=lambda x, y, z: (0.02 * np.sin(y), 0 * x, 0 * x))
mean, picky = lbm.Mean("velocity"), Picky()
solver.record(mean, picky)
solver.step(3)
path = solver.save(folder / "state.h5")
solver.step(2)
before, means = solver.populations(), mean["velocity"]
with pytest.raises(lbm.CheckpointError, match=r"recorder 'picky': not what the checkpoint has \(not of step 3\)"):
    solver.restore(path)
assert (solver.steps, mean.samples, picky.restored) == (5, 5, False)
np.testing.assert_array_equal(solver.populations(), before)
np.testing.assert_array_equal(mean["velocity"], means)
solver.step(1)
assert mean.samples == 6
print(f"rank {world.Get_rank()} of {world.Get_size()} is done")
