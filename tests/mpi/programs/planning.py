"""Ranks plan a layout together: all get the same one, with ranks and pretended hosts, and it changes no bit."""

import os
import sys
from pathlib import Path

import numpy as np
import pytest
from mpi4py import MPI

import lbmgpu as lbm
from lbmgpu.planning import job, machine

world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
device, folder = sys.argv[1], Path(sys.argv[2])
HOSTS = ["one" if 2 * k < size else "two" for k in range(size)]
os.environ["LBMGPU_HOST"] = HOSTS[rank]
machine.SIZE = dict.fromkeys(machine.SIZE, 32)  # what is measured is measured quickly
machine.SECONDS = 1e-3
job.FACE = {(kind, d): 4 * job.SMALL_FACE[d] for kind, d in job.FACE}

for shape, stencil, collision in (
    ((24, 20, 16), "D3Q19", lbm.MRT(0.05)),
    ((48, 40), "D2Q9", lbm.BGK(0.05)),
    ((48, 40), "D2Q37", lbm.ThermalBGK(0.1)),
):
    plan = lbm.plan(shape, stencil, device, collision=type(collision).__name__, comm=world)
    assert len(set(world.allgather(str(plan)))) == 1
    assert len(set(world.allgather(repr(plan.layout)))) == 1
    assert sorted((block.rank, block.host) for block in plan.layout) == list(enumerate(HOSTS))
    assert plan.machine.hosts == tuple(dict.fromkeys(HOSTS))
    assert {way for way, *_ in plan.machine.ways} == ({"network"} if size == 2 else {"ranks", "network"})
    for link in plan.machine.ways.values():
        assert 0 < link.bandwidth < 1e13
        assert 0 <= link.latency < 1
    path = folder / f"{stencil}.json"
    if rank == 0:
        plan.layout.save(path)
    world.Barrier()
    domain = lbm.Domain(shape, stencil)
    one = lbm.Solver(domain, collision, device="cpu", comm=MPI.COMM_SELF)
    one.step(5)
    for layout in (path, "auto"):
        given = {"device": device} if layout == "auto" else {}
        many = lbm.Solver(domain, collision, comm=world, layout=layout, **given)  # type: ignore[arg-type]
        assert sorted((block.rank, block.host) for block in many.layout) == list(enumerate(HOSTS))
        many.step(5)
        found = many.populations(gather=True)
        if rank == 0:
            np.testing.assert_array_equal(found, one.populations())

# Several devices a rank, and a plan whose fastest layouts are run.
several = lbm.plan((24, 20, 16), devices=["cpu"] * (1 + (rank == 0)), comm=world)
assert [block.rank for block in several.layout].count(0) == 2
speeds, refused = several.measured(1e-3)
assert len(set(world.allgather(repr(list(speeds.values()))))) == 1
assert all(value > 0 for value in speeds.values())
assert not refused

# Ranks that are given different arguments, or wrong ones.
with pytest.raises(ValueError, match=r"shape: .* given another than rank 0 .* all ranks take the same arguments"):
    lbm.plan((24, 20, 16 + rank), devices="cpu", comm=world)
with pytest.raises(ValueError, match=r"cpu_share: .* given another than rank 0"):
    lbm.plan((24, 20, 16), devices="cpu", cpu_share=0.1 * rank, comm=world)
with pytest.raises(ValueError, match="precision: 'float99' given"):
    lbm.plan((24, 20, 16), devices="cpu", comm=world, precision="float99" if rank == 0 else "float32")
with pytest.raises(ValueError, match="device: 'gpu' given"):
    lbm.plan((24, 20, 16), devices="gpu" if rank == size - 1 else "cpu", comm=world)
with pytest.raises(ValueError, match="more than blocks that"):
    lbm.plan((1, 1, 1), devices="cpu", comm=world)
print(f"rank {rank} of {size} is done\n", end="", flush=True)
