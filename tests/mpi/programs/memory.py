"""Checks that the memory that ranks need on the device they share is added up before any of them allocates it.

If it does not suffice, all ranks must raise the error.
"""

import pytest
from mpi4py import MPI

import lbmgpu as lbm
from lbmgpu import _core
from lbmgpu.engine import memory

world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
SHAPE = (32, 8, 24 * size)
CELLS = 32 * 8 * 24 * size


def needed(storage: str) -> int:
    """Bytes of all ranks."""
    blocks = [((0, 0, 24 * k), (32, 8, 24), k, "cpu") for k in range(size)]
    numbers = ("float32", storage, "in-place", "cpu", blocks)
    lattices = sum(_core.Engine.memory_needed("D3Q19", SHAPE, *numbers, k)["cpu"] for k in range(size))
    return lattices + CELLS * memory.extra_bytes_per_cell(3, "float32")


def make(**options: str) -> lbm.Solver:
    return lbm.Solver(lbm.Domain(SHAPE), lbm.BGK(0.1), device="cpu", comm=world, **options)


def refused(*words: str) -> str:
    with pytest.raises(ValueError, match="GiB of memory is available") as caught:
        make()
    text = str(caught.value)
    for word in words:
        assert word in text, text
    return text


whole, half = needed("float32"), needed("float16")
together = f" GiB on cpu for {size} processes of one host together as D3Q19 in float32, but "
with pytest.MonkeyPatch.context() as patch:
    patch.setattr(memory, "available_memory", lambda device="cpu": whole)
    make().step(2)
    patch.setattr(memory, "available_memory", lambda device="cpu": whole - 1)  # more than enough for one
    text = refused(f"{whole / memory.GIB:.2f}{together}", "cells there instead of", "storage 'float16'")
    assert not text.startswith("rank")
    make(storage="float16")

    # What is short on one rank is short for all that use the same.
    patch.setattr(memory, "available_memory", lambda device="cpu": half - 1 if rank == size - 1 else 2 * whole)
    assert "float16" not in refused(together)

    # Devices of the same name that are not the same one, as GPUs of which each rank sees its own.
    patch.setattr(memory, "_identity", lambda device: f"{device} of rank {rank}")
    patch.setattr(memory, "available_memory", lambda device="cpu": whole // size + 1)
    make()
    patch.undo()

    # Hosts of their own: what does not fit one of them is an error on all.
    patch.setattr("lbmgpu.parallel.ranks.node_local", lambda comm: (comm.Get_rank(),))
    patch.setattr(memory, "available_memory", lambda device="cpu": whole // size + 1)
    make()
    patch.setattr(memory, "available_memory", lambda device="cpu": 1000 if rank == size - 1 else whole)
    text = refused(" GiB on cpu as D3Q19 in float32, but 0.00 GiB of memory")
    assert text.startswith("shape: " if rank == size - 1 else f"rank {size - 1}: shape: "), text
print(f"rank {rank} of {size} is done\n", end="", flush=True)
