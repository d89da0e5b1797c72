"""Random layouts over all ranks hold, to the last bit, what one block of one process holds."""

import itertools
import sys
from pathlib import Path

import numpy as np
from mpi4py import MPI

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from equivalence.test_blocks import random_case
from random_layouts import random_layout
from reference import STENCILS
from reference.registry import PAIRS_OF_BLOCKS

world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
devices = sys.argv[1].split(",")
NUMBERS = [("float32", "float32"), ("float64", "float64"), ("float32", "float16")]
kinds = list(itertools.product(PAIRS_OF_BLOCKS, ["in-place", "two-lattice"], NUMBERS))
if devices != ["cpu"]:  # kernels of GPUs take seconds to compile: each pair has one kind of numbers there, in turn
    kinds = [kinds[3 * k + k % 3] for k in range(len(kinds) // 3)]

compared = 0
for number, ((stencil, collision), streaming, (precision, storage)) in enumerate(kinds):
    rng = np.random.default_rng(number)
    shape = (19, 7, 6)[: STENCILS[stencil].D]
    case = random_case(rng, stencil, collision, shape)
    options = {"precision": precision, "storage": storage, "streaming": streaming}
    layout = random_layout(rng, shape, size, devices, case.least_blocks())
    many = case.solver(device="auto", layout=layout, comm=world, **options)
    many._simulation.advance(50)  # without a look at whether the flow is stable: not all of them are
    fields = [many.populations(gather=True), many.density(gather=True), many.velocity(gather=True)]
    sums = [many.mass(), *(many.body_force(name) for name in many.domain.bodies)]
    if rank == 0:
        one = case.solver(device=devices[0], comm=MPI.COMM_SELF, **options)
        one._simulation.advance(50)
        fluid = case.fluid()
        whole = one.populations()
        if not np.isfinite(whole[:, fluid]).all():
            continue
        np.testing.assert_array_equal(fields[0], whole)
        np.testing.assert_array_equal(fields[1], one.density())
        np.testing.assert_array_equal(fields[2], one.velocity())
        largest = np.abs(whole[:, fluid]).max() * fluid.sum()
        expected = [one.mass(), *(one.body_force(name) for name in one.domain.bodies)]
        for here, there in zip(sums, expected, strict=True):
            np.testing.assert_allclose(here, there, rtol=0, atol=1e-12 * largest)
        compared += 1
if rank == 0:
    assert compared > len(kinds) // 2, compared
print(f"rank {rank} of {size} is done\n", end="", flush=True)
