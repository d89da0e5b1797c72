"""Makes random collective calls that differ between ranks, which all ranks must reject with the same error.

Calls that agree must raise none. Arguments: a folder, a seed, how many calls.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from mpi4py import MPI

import lbmgpu as lbm

world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
folder, seed, count = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
rng = np.random.default_rng(seed)  # the same on all ranks
SHAPE = (12, 10, 8)


def make(viscosity: float = 0.1) -> lbm.Solver:
    domain = lbm.Domain(SHAPE)
    domain.faces["-x"] = domain.faces["+x"] = lbm.NoSlip()
    for name in ("stone", "rock"):
        domain.add_body(np.indices(SHAPE).sum(axis=0) == (3 if name == "rock" else 20), name)
    return lbm.Solver(domain, lbm.BGK(viscosity), device="cpu", comm=world, threads=1)


def random_call() -> tuple[tuple[Any, ...], Callable[[], object]]:
    """What it is, and the call."""
    which = int(rng.integers(16))
    number = int(rng.integers(1, 4))
    value = 1e-6 * number
    field = np.full((3, *SHAPE), value)
    path = folder / f"{number}.h5"
    calls: list[Callable[[], object]] = [
        partial(solver.step, number),
        partial(solver.run, number),
        partial(solver.run, 4, callbacks=[lbm.Every(number, lambda s: s.mass())]),
        partial(solver.run, 2, until=lbm.Steady(value)),
        partial(solver.initialize, 1 + value),
        partial(solver.initialize, velocity=field),
        partial(setattr, solver, "force", (value, 0.0, 0.0)),
        partial(setattr, solver, "force", field),
        partial(solver.body_force, ("stone", "rock")[number % 2]),
        partial(solver.velocity if number > 1 else solver.density, gather=True),
        partial(solver.save, path),
        partial(solver.write_vtk, folder / str(number)),
        partial(solver.restore, path),
        partial(lbm.Solver.load, path, comm=world, device="cpu", threads=1),
        make if number > 1 else solver.mass,
        solver.check if number > 1 else partial(solver.report, bandwidth=False, gather=True),
    ]
    key = number % 2 if which == 8 else number > 1 if which in (9, 14, 15) else number
    return (which, key), calls[which]


solver = make()
for number in (1, 2, 3):
    solver.save(folder / f"{number}.h5")
refused = 0
for case in range(count):
    calls = [random_call(), random_call()]
    choice = rng.integers(2, size=size)
    differ = calls[0][0] != calls[1][0] and len(set(choice.tolist())) > 1
    before = solver.steps, solver.force, solver.mass()
    said = ""
    try:
        calls[choice[rank]][1]()
    except ValueError as error:
        said = str(error)
    texts = world.allgather(said)
    what = f"seed {seed}, case {case}, {size} ranks: {[key for key, _ in calls]} by {choice.tolist()}: {texts}"
    assert len(set(texts)) == 1, what
    assert bool(said) == differ or "of another setup" in said, what  # a file has the force of its time
    if differ:
        assert "all ranks" in said, what
        assert before[0] == solver.steps, what
        assert np.array_equal(before[1], solver.force) or before[1] is solver.force is None, what
        assert before[2] == solver.mass(), what
        refused += 1
    assert len(set(world.allgather((solver.steps, float(solver.mass()))))) == 1, what
if rank == 0:
    print(f"refused {refused} same {count - refused}", flush=True)
print(f"rank {rank} of {size} is done\n", end="", flush=True)
