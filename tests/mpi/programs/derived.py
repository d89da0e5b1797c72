"""Fields of regions, fields that follow from others, datasets and interpolated starts over all ranks, as on one."""

import numpy as np
import pytest
import stone
from mpi4py import MPI

import lbmgpu as lbm

world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
device, folder = stone.arguments()
shape = stone.SHAPE

domain = stone.domain(is_open=True)
collision = lbm.BGK(0.02, smagorinsky=0.15)
names = ("density", "velocity", "pressure", "speed", "eddy_viscosity", "vorticity", "velocity_gradient", "strain_rate")
names = (*names, "q_criterion", "dissipation")
regions = (None, np.s_[:, :, 4], np.s_[0], np.s_[2:12:3, ::2, 1:9], np.s_[13, 11, 9], np.s_[..., -1])


def run(**options: object) -> lbm.Solver:
    solver = lbm.Solver(domain, collision, device=device, threads=1, **options)
    solver.step(30)
    return solver


def own_part(region: object, whole: np.ndarray, window: tuple[slice, ...]) -> np.ndarray:
    """What of a whole field lies in a region and in the window of a rank."""
    inside = np.zeros(shape, bool)
    inside[window] = True
    entries = region if isinstance(region, tuple) else (slice(None) if region is None else region,)
    index = entries if Ellipsis in entries else (*entries, Ellipsis)
    inside, found = inside[index], whole[(*[slice(None)] * (whole.ndim - 3), *index)]
    if inside.ndim == 0:
        return found if inside else np.full_like(found, np.nan)
    axes = [inside.any(axis=tuple(d for d in range(inside.ndim) if d != axis)) for axis in range(inside.ndim)]
    if not inside.any():
        return np.empty((*found.shape[: found.ndim - inside.ndim], *[0] * inside.ndim))
    for axis, wanted in enumerate(axes):
        found = np.compress(wanted, found, axis=found.ndim - inside.ndim + axis)
    return found


many, one = run(comm=world), run(comm=MPI.COMM_SELF)
for region in regions:
    for name in (*names, *("wall of " + where for where in ("-y", "+y", "stone"))):
        if name.startswith("wall of "):
            fields = [
                lambda where=name[8:], solver=solver, **more: solver.wall_shear_stress(where, **more)
                for solver in (many, one)
            ]
        else:
            fields = [getattr(solver, name) for solver in (many, one)]
        gathered = fields[0](gather=True, region=region)
        if rank == 0:
            np.testing.assert_array_equal(gathered, fields[1](region=region), err_msg=f"{name} {region}")
        else:
            assert gathered is None
        part = fields[0](region=region)
        np.testing.assert_array_equal(part, own_part(region, fields[1](), many.subdomain), err_msg=f"{name} {region}")

assert many.fluid_cells == one.fluid_cells
whole = many.to_xarray(["velocity", "vorticity"], gather=True, region=np.s_[:, 1:, 4])
own = many.to_xarray(["velocity"])
np.testing.assert_array_equal(own.velocity, one.velocity()[(slice(None), *many.subdomain)])
np.testing.assert_array_equal(own.y, np.arange(shape[1])[many.subdomain[1]] + 0.5)
if rank == 0:
    np.testing.assert_array_equal(whole.vorticity, one.vorticity(region=np.s_[:, 1:, 4]))
    np.testing.assert_array_equal(whole.solid, np.asarray(domain.solid)[:, 1:, 4])
else:
    assert whole is None

corners = np.array([(x, y, z) for x in (5, 9) for y in (4, 8) for z in (3, 6)], float)
squares = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
mesh = lbm.Mesh(corners, [t for a, b, c, d in squares for t in ((a, b, c), (a, c, d))])
surfaces = [solver.surface("stone", mesh=mesh) for solver in (many, one)]
assert (surfaces[0] is None) == (rank > 0)
if rank == 0:
    for part in ("pressure", "shear", "y_plus", "force"):
        np.testing.assert_array_equal(getattr(surfaces[0], part), getattr(surfaces[1], part))
    assert surfaces[0].exposed.all()

path = many.save(folder / "coarse.h5")
fine = lbm.Domain((21, 18, 15))
starts = [lbm.Solver(fine, collision, device=device, threads=1, comm=comm) for comm in (world, MPI.COMM_SELF)]
for solver in starts:
    solver.initialize(like=path)
np.testing.assert_array_equal(starts[0].velocity(), starts[1].velocity()[(slice(None), *starts[0].subdomain)])
if size > 1:
    with pytest.raises(ValueError, match="several processes"):
        starts[0].initialize(like=many)
    with pytest.raises(ValueError, match="region"):
        many.vorticity(region=np.s_[:, :, rank])
print(f"rank {rank} of {size} is done")
