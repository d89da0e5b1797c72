"""Pictures and movies of solvers over several ranks are those of one process, and rank 0 alone writes them."""

import sys
from pathlib import Path

import numpy as np
import pytest
from mpi4py import MPI

import lbmgpu as lbm
from lbmgpu.parallel.processes import Processes

world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
folder = Path(sys.argv[1])


def solver_of(comm: object) -> lbm.Solver:
    domain = lbm.Domain((16, 12, 8))
    domain.faces["-y"] = domain.faces["+y"] = lbm.NoSlip()
    domain.add_body(lambda x, y, z: (x - 6) ** 2 + (y - 6) ** 2 < 4, "post")
    return lbm.Solver(domain, lbm.BGK(0.1), force=(1e-4, 0, 0), device="cpu", comm=comm, precision="float64")


def record(solver: lbm.Solver, name: str) -> lbm.Movie:
    movie = lbm.Movie(folder / f"{name}.gif", every=5, dpi=30, field="vorticity", streamlines=True)
    solver.record(movie, lbm.Image(folder / f"{name}_{{step}}.png", every=10, dpi=30, slice=("x", 3)))
    solver.run(20)
    return movie


solver = solver_of(world)
movie = record(solver, "ranks")
figure = solver.plot("speed", slice="z")
assert (figure is None) == (rank != 0)
with pytest.raises(ValueError, match="field: 'sped'"):
    solver.plot("sped")
movie.close()
world.Barrier()
if rank == 0:
    alone = solver_of(Processes())
    record(alone, "alone")
    np.testing.assert_array_equal(
        figure.axes[0].images[0].get_array(), alone.plot("speed", slice="z").axes[0].images[0].get_array()
    )
    for name in (".gif", "_10.png", "_20.png"):
        assert (folder / f"ranks{name}").read_bytes() == (folder / f"alone{name}").read_bytes(), name
    assert not (folder / "ranks.gif.frames").exists()

# What rank 0 cannot write is an error on all of them.
world.Barrier()
other = solver_of(world)
blocked = lbm.Image(folder / "picture_{step}.png", every=5, dpi=30)
other.record(blocked)
if rank == 0:
    (folder / "picture_5.png").mkdir()
world.Barrier()
with pytest.raises((OSError, ValueError, RuntimeError), match=r"picture_5\.png"):
    other.run(5)
print(f"rank {rank} of {size} is done")
