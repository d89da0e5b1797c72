"""Ranks with a collision of the user's: the bits of one process, errors of the compiler on all of them together."""

import os
import sys
from pathlib import Path

import numpy as np
import pytest
from mpi4py import MPI

import lbmgpu as lbm

world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
header = Path(sys.argv[1])
os.environ["LBMGPU_CACHE_DIR"] = sys.argv[2]  # empty
GIVEN = {"viscosity": 0.1, "yield_stress": 1e-4, "shear_rate": 2e-5}
VELOCITY = np.random.default_rng(1).uniform(-0.02, 0.02, (2, 16, 9))


def make(collision: lbm.CustomCollision, **options: object) -> lbm.Solver:
    return lbm.Solver(lbm.Domain((16, 9), "D2Q9"), collision, **{"device": "cpu", "threads": 1, **options})


def bits(solver: lbm.Solver) -> np.ndarray:
    solver.initialize(velocity=VELOCITY)
    solver.step(5)
    return solver.populations()


bingham = lbm.CustomCollision(header, GIVEN)
shared = make(bingham, comm=world)
window = (slice(None), *shared.window)
np.testing.assert_array_equal(bits(shared), bits(make(bingham, comm=MPI.COMM_SELF))[window])

text = header.read_text()
with pytest.raises(ValueError, match="all ranks take the same arguments"):
    make(lbm.CustomCollision(text + f"// {rank}", GIVEN), comm=world)
with pytest.raises(ValueError, match="all ranks take the same arguments"):
    make(lbm.CustomCollision(text, GIVEN | {"magic": 0.1 + rank}), comm=world)
with pytest.raises(lbm.CompileError, match=r"collision\.h:1:"):
    make(lbm.CustomCollision(text.replace("//", "wrong //", 1), GIVEN), comm=world)
if rank == size - 1:
    os.environ |= {"CXX": "no-such-compiler", "LBMGPU_CACHE_DIR": sys.argv[2] + "-empty"}
with pytest.raises(lbm.CompileError, match="'no-such-compiler' does not run"):  # on one, and raised on all
    make(bingham, comm=world)
if rank == size - 1:
    del os.environ["CXX"]
    os.environ["TMPDIR"] = "/nowhere"
with pytest.raises(lbm.CompileError, match="TMPDIR names another folder"):
    make(lbm.CustomCollision(text + "// elsewhere\n", GIVEN), comm=world)
os.environ |= {"LBMGPU_CACHE_DIR": sys.argv[2], "TMPDIR": "/tmp"}

calls, compiler = Path(sys.argv[2] + "-calls"), Path(sys.argv[2] + "-compiler")
if rank == 0:
    compiler.write_text(f'#!/bin/sh\n[ "$1" = -dM ] || echo call >> {calls}\nexec g++ "$@"\n')
    compiler.chmod(0o755)
world.Barrier()
os.environ["CXX"] = str(compiler)
make(lbm.CustomCollision(text + "// once\n", GIVEN), comm=world)
assert calls.read_text() == "call\n", "the ranks of a host compile once"

os.environ["CXX"] = f"g++ -DRANK={rank}"
other = text.replace("3 * given.at_least_zero", "(3 + RANK) * given.at_least_zero")
assert other != text
with pytest.raises(ValueError, match="must make the same everywhere"):
    make(lbm.CustomCollision(other, GIVEN), comm=world)
assert world.allgather(rank) == list(range(size))
print(f"rank {rank} of {size} is done")
