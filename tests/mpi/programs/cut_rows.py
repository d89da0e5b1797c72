"""Ranks with neighbours across x, behind interiors without the ends of rows, hold the bits of one block: all models."""

import itertools
import sys
from pathlib import Path

import numpy as np
from mpi4py import MPI

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from equivalence.test_blocks import random_case
from reference.d2q37_cases import GasCase, random_gas_case
from reference.thermal_cases import random_thermal_case

import lbmgpu as lbm
from lbmgpu import _core

world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
device = sys.argv[1]


def own(number: int) -> str:
    """The device of a rank: with as many GPUs as ranks its own, which others then read by interprocess handles."""
    return device if device != "cuda" else f"cuda:{number % _core.cuda_device_count()}"


def cases():
    """All models, with the options of their solvers."""
    numbers = {"in-place": ("float32", "float32"), "two-lattice": ("float64", "float64")}
    for number, streaming in enumerate(numbers):
        options = dict(zip(("streaming", "precision", "storage"), (streaming, *numbers[streaming]), strict=True))
        for stencil, shape in (
            ("D3Q19", (60 * size, 7, 6)),
            ("D3Q27", (50 * size + 3, 6, 5)),
            ("D3Q19", (60 * size, 20, 18)),
            ("D2Q9", (70 * size, 9)),
        ):
            rng = np.random.default_rng(number)
            yield random_case(rng, stencil, "bgk", shape), shape, options
        shape = (60 * size + 1, 8, 6)
        faces = ["no-slip"] * 2 + ["periodic"] * 2 + ["free-slip"] * 2
        for sides in (faces, faces[2:] + faces[:2]):
            yield random_thermal_case(np.random.default_rng(number), "D3Q19", "mrt", shape, faces=sides), shape, options
    for walls, axis in (("periodic", 1), ("isothermal", 1), ("mixed", 0)):
        shape = (60 * size, 24)
        case = random_gas_case(np.random.default_rng(3), shape, walls, axis, prandtl=0.71, rough=True)
        yield case, shape, {"precision": "float64"}


for case, shape, options in cases():
    several = [(size, *[1] * (len(shape) - 1))]
    if size == 4:
        several.append((2, 2, 1)[: len(shape)])
    one = case.solver(device=own(rank), comm=MPI.COMM_SELF, **options) if rank == 0 else None
    for parts, steps in itertools.product(several, (25,)):
        layout = lbm.Layout.split(shape, parts, [own(k) for k in range(size)], ranks=range(size))
        many = case.solver(device="auto", layout=layout, comm=world, schedule="overlap", **options)
        overlaps = many._simulation.engine.overlaps  # on GPUs the isothermal model's where interiors may be late
        assert overlaps or (device != "cpu" and not isinstance(case, GasCase))
        many._simulation.advance(steps)
        populations = many.populations(gather=True)
        heat = many.temperature(gather=True) if hasattr(case, "heat") else None
        if one is not None:
            if parts == several[0]:
                one._simulation.advance(steps)
            np.testing.assert_array_equal(populations, one.populations())
            if heat is not None:
                np.testing.assert_array_equal(heat, one.temperature())
print(f"rank {rank} of {size} is done\n", end="", flush=True)
