"""A temperature over all ranks holds, to the last bit, what one block of one process holds; checkpoints too."""

import itertools
import sys
from pathlib import Path

import numpy as np
from mpi4py import MPI

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from equivalence.test_thermal_layouts import isothermal, some_faces
from random_layouts import random_layout
from reference.registry import THERMAL_STENCILS
from reference.thermal_cases import OPERATORS, random_thermal_case

import lbmgpu as lbm

world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
devices, folder = sys.argv[1].split(","), Path(sys.argv[2])
kinds = list(itertools.product(THERMAL_STENCILS, OPERATORS, ["in-place", "two-lattice"], ["float32", "float64"]))


compared = 0
for number, (stencil, operators, streaming, precision) in enumerate(kinds):
    rng = np.random.default_rng(number)
    shape = (19, 7, 6)[: int(stencil[1])]
    case = random_thermal_case(rng, stencil, "trt", shape, operators=operators, faces=some_faces(rng, shape))
    options, ends = {"precision": precision, "streaming": streaming}, case.least_blocks()
    many = case.solver(device="auto", layout=random_layout(rng, shape, size, devices, ends), comm=world, **options)
    many._simulation.advance(20)
    path = many.save(folder / f"{number}.h5")
    many._simulation.advance(20)
    layout = random_layout(rng, shape, size, devices, ends)
    again = lbm.Solver.load(path, layout=layout, device="auto", comm=world)
    again._simulation.advance(20)
    faces, bodies = isothermal(case)
    fields = [solver.temperature(gather=True) for solver in (many, again)]
    sums = [many.heat(), *(many.nusselt(name, 1.0, 1.0) for name in (*faces, *bodies))]
    maps = [many.heat_flux(face) for face in faces]
    fluxes = [many.heat_flux(body) for body in bodies]

    # What every rank is given is the same on all.
    assert all(np.array_equal(value, sums) for value in world.allgather(sums))
    for part in (*maps, *(getattr(flux, name) for flux in fluxes for name in ("cells", "flux", "area"))):
        assert all(np.array_equal(other, part) for other in world.allgather(part))

    one = case.solver(device=devices[0], comm=MPI.COMM_SELF, **options)
    one._simulation.advance(40)
    whole = one.temperature()
    assert np.isfinite(whole).all()
    if rank == 0:
        for field in fields:
            np.testing.assert_array_equal(field, whole)
    here = many.temperature()
    there = np.isfinite(here)  # cells of the window that other ranks have are not
    np.testing.assert_array_equal(here[there], whole[many.subdomain][there])
    expected = [one.heat(), *(one.nusselt(name, 1.0, 1.0) for name in (*faces, *bodies))]
    np.testing.assert_allclose(sums, expected, rtol=1e-9, atol=1e-9)
    for face, found in zip(faces, maps, strict=True):
        np.testing.assert_array_equal(found, one.heat_flux(face))
    for body, found in zip(bodies, fluxes, strict=True):
        alone = one.heat_flux(body)
        at, of = np.lexsort(found.cells.T), np.lexsort(alone.cells.T)
        for name in ("cells", "flux", "area"):
            np.testing.assert_array_equal(getattr(found, name)[at], getattr(alone, name)[of])
    compared += len(faces) + len(bodies)
assert compared > len(kinds), compared

# All ranks see the same change of the temperature, and end together.
box = lbm.Domain((12, 10), "D2Q9")
box.faces["-x"] = box.faces["+x"] = lbm.NoSlip()
box.thermal["-x"] = lbm.Isothermal(1.0)
box.thermal["+x"] = lbm.Isothermal(0.0)
solver = lbm.Solver(box, lbm.BGK(0.1), thermal=lbm.HybridThermal(0.1), precision="float64", device="cpu", comm=world)
result = solver.run(20_000, until=lbm.Steady(1e-9, every=50, of="temperature"))
assert result.converged
assert len(set(world.allgather(solver.steps))) == 1
assert abs(solver.nusselt("-x", 12, 1.0) - 1) < 1e-6
print(f"rank {rank} of {size} is done\n", end="", flush=True)
