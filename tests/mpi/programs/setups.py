"""Ranks that are given different arguments: all of them get the same error, whatever it is that differs."""

import os
import warnings
from collections.abc import Callable

import numpy as np
import pytest
from mpi4py import MPI

import lbmgpu as lbm

world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
last = rank == size - 1
SHAPE = (12, 10, 8)
COLLISION = lbm.BGK(0.1)


def domain(shape: tuple[int, ...] = SHAPE, stencil: str = "D3Q19", **faces: lbm.NoSlip | lbm.MovingWall) -> lbm.Domain:
    result = lbm.Domain(shape, stencil)
    if len(shape) == 3:
        result.faces["-z"] = faces.get("low", lbm.NoSlip())
        result.faces["+z"] = lbm.MovingWall(faces.get("velocity", (0.05, 0, 0)))
    return result


def with_stone(at: int, name: str = "stone", condition: lbm.NoSlip | lbm.MovingWall | None = None) -> lbm.Domain:
    result, mask = domain(), np.zeros(SHAPE, bool)
    mask[at, 4:6, 3:5] = True
    result.add_body(mask, name, condition)
    return result


def make(there: lbm.Domain | None = None, collision: object = COLLISION, **options: object) -> lbm.Solver:
    return lbm.Solver(there or domain(), collision, **{"device": "cpu", "comm": world, **options})


def refused(what: str, one: Callable[[], object], other: Callable[[], object]) -> None:
    """The last rank does the other thing: each rank gets an error that names this, and all go on together."""
    with pytest.raises(ValueError, match="all ranks take the same arguments") as caught:
        (other if last else one)()
    assert f"{what}: rank {size - 1} was given another than rank 0" in str(caught.value), str(caught.value)
    assert world.allgather(rank) == list(range(size))


make(with_stone(4), force=np.full((3, *SHAPE), 1e-6)).step(2)  # the same on all
make(with_stone(4), force=lambda x, y, z: (1e-6 * rank, 0, 0))  # functions are not compared
refused("shape", make, lambda: make(domain((12, 10, 9))))
refused("stencil", make, lambda: make(domain((12, 10), "D2Q9")))
refused("stencil", make, lambda: make(domain(SHAPE, "D3Q27")))
refused("collision", make, lambda: make(collision=lbm.BGK(0.2)))
refused("collision", make, lambda: make(collision=lbm.MRT(0.1)))
refused("precision", make, lambda: make(precision="float64"))
refused("storage", make, lambda: make(storage="float16"))
refused("streaming", make, lambda: make(streaming="two-lattice"))
refused("channel", make, lambda: make(channel="mpi"))
refused("schedule", make, lambda: make(schedule="blocking"))
refused("faces['-z']", make, lambda: make(domain(low=lbm.FreeSlip())))
refused("faces['+z']", make, lambda: make(domain(velocity=(0.04, 0, 0))))
refused("faces['+z']", make, lambda: make(domain(velocity=lambda x, y, z, t: (0.05, 0, 0))))
refused("bodies", make, lambda: make(with_stone(4)))
refused("bodies", lambda: make(with_stone(4)), lambda: make(with_stone(5)))
refused("bodies", lambda: make(with_stone(4)), lambda: make(with_stone(4, "rock")))
refused("bodies", lambda: make(with_stone(4)), lambda: make(with_stone(4, condition=lbm.MovingWall((0.01, 0, 0)))))
refused("force", make, lambda: make(force=(1e-6, 0, 0)))
refused("force", lambda: make(force=(1e-6, 0, 0)), lambda: make(force=np.full((3, *SHAPE), 1e-6)))
refused("force", lambda: make(force=(1e-6, 0, 0)), lambda: make(force="strong"))
across = lbm.Layout.split(SHAPE, (1, 1, size), "cpu", ranks=range(size))
along = lbm.Layout.split(SHAPE, (1, size, 1), "cpu", ranks=range(size))
assert make(layout=lbm.Layout.split(SHAPE, (1, 1, size), ranks=range(size))).layout == across  # by their device
assert make(layout=across).layout == across
refused("layout", lambda: make(layout=across), lambda: make(layout=along))
refused("layout", make, lambda: make(layout=along))
refused("layout", make, lambda: make(layout="auto"))
refused("layout", lambda: make(layout=along), lambda: make(layout="auto"))

# What is wrong on one rank is an error on all of them, of its kind.
for all_give, last_gives, kind, words in (
    ({}, {"precision": "float23"}, ValueError, "precision: 'float23' given"),
    ({}, {"collision": lbm.BGK}, TypeError, "collision: "),
    ({}, {"device": []}, ValueError, "device: an empty list given"),
    ({"layout": across}, {"device": ["cpu"]}, ValueError, r"device: \['cpu'\] given beside a layout on cpu"),
    ({}, {"threads": 0}, ValueError, "threads: 0 given"),
    ({}, {"channel": "post"}, ValueError, "channel: 'post' given"),
):
    with pytest.raises(kind, match="^" + ("" if last else f"rank {size - 1}: ") + words):
        make(**all_give, **(last_gives if last else {}))
    assert world.allgather(rank) == list(range(size))

# One process of several by mistake, which it is told once, and by intent.
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    make(comm=MPI.COMM_SELF).step(1)
    assert not said
    for _ in range(2):
        make(comm=None)
    assert [(entry.category, os.path.basename(entry.filename)) for entry in said] == [
        (lbm.LoneProcessWarning, "setups.py")
    ]
    assert "pass comm=MPI.COMM_WORLD to share it, or comm=MPI.COMM_SELF" in str(said[0].message)
print(f"rank {rank} of {size} is done\n", end="", flush=True)
