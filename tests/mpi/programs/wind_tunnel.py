"""A wind tunnel over all ranks, as on one: coefficients, y+, the surface, the verdict, and the files of a case."""

import io
import json
import warnings

import numpy as np
import stone
from mpi4py import MPI

import lbmgpu as lbm
from lbmgpu.case import run_case

warnings.simplefilter("ignore", lbm.GeometryWarning)
world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
device, folder = stone.arguments()
block = lbm.Box((0, 0, 0), (3, 1.2, 1))
bodies = {"block": block, "pair": block.translate((0, 0, 1.4)) | lbm.Sphere((1, 0.6, 1.9), 0.8)}
sizes = {"length_phys": 4.0, "speed_phys": 40.0, "cells_across": 8, "blockage": 0.1, "speed": 0.1, "settle": 0.5}


def run(comm: object) -> lbm.WindTunnel:
    tunnel = lbm.WindTunnel(bodies, **sizes, device=device, threads=1, comm=comm)
    tunnel.run(1)
    return tunnel


many, one = run(world), run(MPI.COMM_SELF)
for body in (None, *bodies):  # sums over the ranks are rounded otherwise
    found, expected = (tunnel.coefficients(body) for tunnel in (many, one))
    np.testing.assert_allclose(found.drag.interval, expected.drag.interval, rtol=1e-12)
    np.testing.assert_allclose(found.lift.interval, expected.lift.interval, rtol=1e-12)
    assert found.samples == expected.samples
assert many.y_plus() == one.y_plus()
assert list(many.y_plus()) == ["block"]
assert str(many.trust()) == str(one.trust())
surfaces = [tunnel.surface("block") for tunnel in (many, one)]
assert (surfaces[0] is None) == (rank > 0)
if rank == 0:
    np.testing.assert_array_equal(surfaces[0].shear, surfaces[1].shear)

if rank == 0:
    import trimesh

    trimesh.creation.box((3, 1.2, 1)).export(folder / "block.stl")
    case = {"wind_tunnel": {"body": "block.stl", **sizes}, "run": {"turnovers": 1, "device": device, "threads": 1}}
    (folder / "tunnel.json").write_text(json.dumps(case))
world.Barrier()
out = io.StringIO()
run_case(folder / "tunnel.json", folder=folder / "run", progress=False, comm=world, out=out)
assert ("drag" in out.getvalue()) == (rank == 0)
if rank == 0:
    assert (folder / "run" / "body.vtp").is_file()
print(f"rank {rank} of {size} is done")
