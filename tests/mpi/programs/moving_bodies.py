"""Ranks have the bits of one process where bodies move through their blocks; forces agree to rounding.

Arguments: the device, a folder.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from mpi4py import MPI

import lbmgpu as lbm

warnings.simplefilter("ignore", lbm.GeometryWarning)  # the bodies are small
world = MPI.COMM_WORLD
device, folder = sys.argv[1], Path(sys.argv[2])
SHAPE = (32, 24, 18)
BALL = lbm.Sphere((10.2, 11.8, 9.1), 4.3) - lbm.Box((9, 10, 8), (20, 20, 20))


def made(**options: Any) -> lbm.Solver:
    domain = lbm.Domain(SHAPE, stencil="D3Q19")
    domain.add_body(BALL, "ball", motion=lbm.Motion(lambda t: (0.1 * t, 0.02 * t, 0.0), rate=0.008))
    domain.add_body(lbm.Sphere((25, 12, 9), 3.2), "other", motion=lbm.Oscillation((0, 1.5, 0), period=100))
    solver = lbm.Solver(domain, lbm.TRT(0.03), **options)
    rng = np.random.default_rng(3)
    solver.initialize(1 + rng.uniform(-0.01, 0.01, SHAPE), rng.uniform(-0.02, 0.02, (3, *SHAPE)))
    return solver


one = made(device="cpu", comm=MPI.COMM_SELF)
ranks = made(device=device, comm=world)
histories = [solver.record(lbm.Forces("ball", every=5)) for solver in (one, ranks)]
for solver in (one, ranks):
    solver.step(60)
whole = ranks.velocity(gather=True)
if world.rank == 0:
    np.testing.assert_array_equal(whole, one.velocity())
assert (ranks.solid == one.solid).all()
np.testing.assert_allclose(histories[1]["force"], histories[0]["force"], rtol=1e-4, atol=1e-7)
ranks.save(folder / "ranks.h5")
other = made(device=device, comm=world)
other.restore(folder / "ranks.h5")
for solver in (one, other):
    solver.step(30)
whole = other.velocity(gather=True)
if world.rank == 0:
    np.testing.assert_array_equal(whole, one.velocity())
print(f"rank {world.rank} of {world.size} is done", flush=True)
