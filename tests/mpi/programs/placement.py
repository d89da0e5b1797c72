"""Layouts of hosts, ranks and devices that the job has, and of those that it lacks: one error on all ranks, at once.

The first half of the ranks pretends to be on host "one", the others on host "two".
"""

import os
import time
from collections.abc import Iterable

import numpy as np
import pytest
from mpi4py import MPI

import lbmgpu as lbm
from lbmgpu.parallel import placement

world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
HOSTS = ["one" if 2 * k < size else "two" for k in range(size)]
os.environ["LBMGPU_HOST"] = HOSTS[rank]
SHAPE = (12, 10, 8)
SECONDS = 30.0  # where others compute on the same cores; on idle ones an error takes a few milliseconds


def make(layout: object = None, **options: object) -> lbm.Solver:
    return lbm.Solver(lbm.Domain(SHAPE), lbm.BGK(0.1), comm=world, layout=layout, **options)  # type: ignore[arg-type]


def layers(*blocks: tuple[int | None, str, str | None]) -> lbm.Layout:
    """Layers of these ranks, devices and hosts."""
    boxes = lbm.Layout.split(SHAPE, (1, 1, len(blocks)))
    return lbm.Layout(
        lbm.Block(box.offset, box.size, owner, device, host)
        for box, (owner, device, host) in zip(boxes, blocks, strict=True)
    )


def refused(layout: object, words: str, kind: type[Exception] = lbm.LayoutError) -> None:
    """All ranks get the error, in seconds, and go on together."""
    start = time.monotonic()
    with pytest.raises(kind) as caught:
        make(layout)
    assert time.monotonic() - start < SECONDS, "the error came too late"
    text = str(caught.value)
    assert words in text, text
    texts = world.allgather(text.split(": ", 1)[1] if text.startswith("rank ") else text)
    assert len(set(texts)) == 1, texts


def every(device: str, hosts: Iterable[str | None]) -> lbm.Layout:
    return layers(*((k, device, host) for k, host in enumerate(hosts)))


# What the job has.
one = lbm.Solver(lbm.Domain(SHAPE), lbm.BGK(0.1), comm=MPI.COMM_SELF, device="cpu")
whole = one.density() * 0 + 1
line = lbm.Layout.split(SHAPE, (1, 1, size), ranks=range(size))
own = make(line)
mine = next(block.device for block in own.layout if block.rank == rank)
assert all(block.device != "auto" for block in own.layout)
assert mine == make().device  # the rank's own GPU, or the CPU where there is none
assert own.device == mine
for layout in (
    every("cpu", HOSTS),
    every("cpu", [f"{host}.cluster" for host in HOSTS]),
    layers(*((None, "cpu", host) for host in HOSTS)),
    layers(*((None, "cpu", host) for host in reversed(HOSTS))),
):
    solver = make(layout)
    assert {block.rank for block in solver.layout} == set(range(size))
    for block in solver.layout:
        assert block.host in (HOSTS[block.rank], f"{HOSTS[block.rank]}.cluster")
    solver.step(3)
    field = solver.density(gather=True)
    if rank == 0:
        np.testing.assert_array_equal(field, whole)

# What it lacks.
first = [(k, "cpu", None) for k in range(size - 1)]
refused(layers(*first, (size, "cpu", None)), f"layout: block {size - 1} is of rank {size}, but there are {size}")
refused(layers(*first, (0, "cpu", None)) if size > 1 else None, f"layout: no block is of rank {size - 1}")
refused(every("cpu", ["three", *HOSTS[1:]]), "layout: block 0 is of host 'three', but the job runs on one")
refused(layers(*((None, "cpu", "one") for _ in range(size))), "layout: no block is of rank ")
refused(every("cpu", reversed(HOSTS)), "layout: block 0 is of host 'two' and rank 0, but that rank is on 'one'")
refused(every("cpu", HOSTS[:-1]), "layout: no block is of rank")
refused(lbm.Layout.split((12, 10, 7), (1, 1, size), ranks=range(size)), "layout: the blocks leave a gap")
refused(lbm.Layout.split((12, 10, 9), (1, 1, size), ranks=range(size)), "does not lie inside the domain")
lacking = layers(*first, (size - 1, "cuda:99", None))
here = f"layout: block {size - 1} of rank {size - 1} on two: "
none = all(world.allgather(not placement.visible_gpus()))
refused(lacking, here + ("no CUDA" if none else "device: 'cuda:99' given, but there are"))
by_hosts = layers(*((None, "auto", host) for host in HOSTS))
with pytest.raises(ValueError, match=r"rank: 0 given.*; blocks of hosts get their ranks by place_layout"):
    by_hosts.subdomain(0)
found = lbm.place_layout(by_hosts, world, "cpu")
assert [(block.rank, block.device) for block in found] == [(k, "cpu") for k in range(size)]
assert found.subdomain(rank) == make(found).subdomain
refused("no such file.json", "no such file.json", OSError)
print(f"rank {rank} of {size} is done\n", end="", flush=True)
