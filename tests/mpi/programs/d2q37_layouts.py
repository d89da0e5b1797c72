"""The thermal model on D2Q37 over all ranks holds, to the last bit, what one block holds; checkpoints too."""

import itertools
import sys
from pathlib import Path

import numpy as np
from mpi4py import MPI

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from random_layouts import random_layout
from reference.d2q37_cases import random_gas_case

import lbmgpu as lbm

world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
devices, folder = sys.argv[1].split(","), Path(sys.argv[2])
walls = [("periodic", 1), ("isothermal", 1), ("mixed", 0), ("varied", 1), ("adiabatic", 0), ("oven", 0), ("stove", 0)]


def split_layout(shape: tuple[int, int], parts: tuple[int, int]) -> lbm.Layout:
    """Equal blocks, one for each rank."""
    names = [devices[k % len(devices)] for k in range(size)]
    return lbm.Layout.split(shape, parts, names, ranks=range(size))


for number, ((kind, axis), precision) in enumerate(itertools.product(walls, ["float32", "float64"])):
    rng = np.random.default_rng(number)
    shape = (19, 13)
    case = random_gas_case(rng, shape, kind, axis, prandtl=0.71, rough=True)
    layouts = [random_layout(rng, shape, size, devices), split_layout(shape, (1, size)), split_layout(shape, (size, 1))]
    if size == 4:
        layouts.append(split_layout(shape, (2, 2)))
    one = case.solver(device=devices[0], comm=MPI.COMM_SELF, precision=precision)
    one.step(24)
    whole, populations = one.temperature(), one.populations()
    assert np.isfinite(populations).all()
    walled = [face for face, condition in one.domain.faces.items() if isinstance(condition, lbm.NoSlip)]
    fluxes = {face: (one.heat_flux(face), one.mean_heat_flux(face)) for face in walled}
    for which, layout in enumerate(layouts):
        many = case.solver(device="auto", layout=layout, comm=world, precision=precision)
        many.step(12)
        path = many.save(folder / f"{number}-{which}.h5")
        many.step(12)
        again = lbm.Solver.load(path, layout=random_layout(rng, shape, size, devices), device="auto", comm=world)
        again.step(12)
        for solver in (many, again):
            field = solver.temperature(gather=True)
            if rank == 0:
                np.testing.assert_array_equal(field, whole)
            here, there = solver.populations(), populations[(slice(None), *solver.subdomain)]
            for face, (flux, mean) in fluxes.items():
                np.testing.assert_array_equal(solver.heat_flux(face), flux)
                assert solver.mean_heat_flux(face) == mean
            mine = np.isfinite(here)  # cells of the window that other ranks have are not
            assert mine.any()
            np.testing.assert_array_equal(here[mine], there[mine])
print(f"rank {rank} of {size} is done\n", end="", flush=True)
