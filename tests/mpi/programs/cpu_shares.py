"""Shares of each rank's cells on its CPU change no bit, and are the same on all ranks or refused on all.

The argument is the device: with cpu the blocks of GPUs are pretended, and computed by the CPU.
"""

import sys
from dataclasses import replace

import numpy as np
import pytest
from mpi4py import MPI

import lbmgpu as lbm
from lbmgpu.parallel.processes import Processes
from lbmgpu.planning import shares
from lbmgpu.planning.configuration import Configuration
from lbmgpu.planning.cost_model import Device

world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
device = sys.argv[1]
SHAPES = {"D2Q37": (24, 16 * size), "D3Q19": (12, 14, 8 * size)}


def made(stencil: str, **options: object) -> lbm.Solver:
    domain = lbm.Domain(SHAPES[stencil], stencil)
    domain.faces["-y"] = domain.faces["+y"] = lbm.NoSlip()
    collision = lbm.ThermalBGK(0.1) if stencil == "D2Q37" else lbm.MRT(0.05)
    solver = lbm.Solver(domain, collision, precision="float64", **options)
    velocity = 0.01 * np.random.default_rng(1).standard_normal((len(domain.shape), *domain.shape))
    solver.initialize(velocity=velocity)
    solver.step(20)
    return solver


for stencil in SHAPES:
    parts = (*(1,) * (len(SHAPES[stencil]) - 1), size)
    for share in (0.1, 0.3, "auto"):
        if device == "cpu":
            layout = lbm.Layout.split(SHAPES[stencil], parts, "cuda:0", range(size), 0.2 if share == "auto" else share)
            layout = lbm.Layout(replace(block, device="cpu") for block in layout)
            many = made(stencil, layout=layout, cpu_share=share, comm=world)
        else:
            many = made(stencil, device=device, cpu_share=share, comm=world)
        if device == "cpu" or share != "auto":
            assert len(many.layout) == 2 * size
            assert [block.device for block in many.layout].count("cpu") >= size
        assert world.allgather(many.layout) == [many.layout] * size
        whole = many.populations(gather=True)
        if rank == 0:
            one = made(stencil, device=device, comm=MPI.COMM_SELF)
            np.testing.assert_array_equal(whole, one.populations())

# The blocks of a share are made when the ranks' own devices are known.
layout = lbm.Layout.split(SHAPES["D3Q19"], (1, 1, size), ranks=range(size), cpu_share=0.25)
assert len(layout) == size
many = made("D3Q19", device=device, layout=layout, comm=world)
assert many.layout.with_cpu_share(0) == many.layout
assert len(many.layout) == (size if device == "cpu" else 2 * size)

# What "auto" runs, all ranks together; the CPUs are of different speeds, and the slowest one counts.
if device == "cpu":
    timed = shares.step_seconds

    def pretended(box: lbm.Domain, configuration: Configuration, *, layout: lbm.Layout, **options: object) -> float:
        return timed(box, configuration, layout=lbm.Layout(replace(b, device="cpu") for b in layout), **options)

    shares.step_seconds = pretended
    shares.measure_device = lambda name, *_: Device(name, 1e10 * (1 + rank) if name == "cpu" else 9e10)
    layout = lbm.Layout.split((24, 8 * size), (1, size), "cuda:0", range(size))
    found = shares.best_share((24, 8 * size), (True, True), Configuration("D2Q9"), layout, Processes(world))
    assert 0 <= found <= 0.1
    assert world.allgather(found) == [found] * size

if size > 1:
    with pytest.raises(ValueError, match="rank 1 was given another than rank 0"):
        made("D3Q19", device=device, cpu_share=0.1 * (rank + 1), comm=world)
with pytest.raises(ValueError, match="cpu_share: 2"):
    made("D3Q19", device=device, cpu_share=2.0, comm=world)
print(f"rank {rank} of {size} is done\n", end="", flush=True)
