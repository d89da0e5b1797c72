"""Solvers whose ranks are given their own part of everything: each bit is that of one process given the whole.

Fields, forces, heat sources, bodies and their values are given as arrays of the rank's part, as functions and whole.
"""

import functools
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mpi4py import MPI

import lbmgpu as lbm
from lbmgpu.case.build import build_solver
from lbmgpu.plot import speed_figure

world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
SHAPE = (14, 12, 16)
random = np.random.default_rng(5)
DENSITY = 1 + 0.01 * random.standard_normal(SHAPE)
VELOCITY = 0.01 * random.standard_normal((3, *SHAPE))
TEMPERATURE = 0.1 * random.standard_normal(SHAPE)
FORCE = 1e-5 * random.standard_normal((3, *SHAPE))
SOURCE = 1e-5 * random.standard_normal(SHAPE)
STONES = random.random(SHAPE) < 0.06
SPIN = 0.02 * random.standard_normal((3, *SHAPE))
LAYOUTS = [
    lbm.Layout.split(SHAPE, parts, ranks=[k % size for k in range(parts[0] * parts[1] * parts[2])])
    for parts in [(1, 1, size), (size, 1, 1), (1, size, 2), (2, 2, size)]
]


def ball(x: Any, y: Any, z: Any) -> Any:
    return (x - 4) ** 2 + (y - 6) ** 2 + (z - 15.5) ** 2 < 9


X, Y, Z = np.meshgrid(*(np.arange(n) + 0.5 for n in SHAPE), indexing="ij")
BALL = ball(X, Y, Z)
STONES &= ~BALL & ~ball(X, Y, Z + SHAPE[2])  # the ball of the case below comes back at the other end of z


def at(field: np.ndarray[Any, Any]) -> Any:
    """A function that gives a field at the centres of cells."""

    def value(x: Any, y: Any, z: Any) -> Any:
        found = field[(..., *(np.asarray(c).astype(int) for c in (x, y, z)))]
        return found if field.ndim == 3 else tuple(found)

    return value


def domain(way: str, own: tuple[slice, ...], thermal: bool) -> lbm.Domain:
    result = lbm.Domain(SHAPE, "D3Q19")
    result.faces["-x"] = lbm.VelocityInlet((0.02, 0, 0))
    result.faces["+x"] = lbm.Outflow()
    result.faces["-y"] = result.faces["+y"] = lbm.NoSlip()
    heat = lbm.Isothermal(0.2) if thermal else None
    offset = tuple(s.start for s in own)
    if way == "parts":
        result.add_body(BALL[own], "ball", lbm.MovingWall(SPIN[(slice(None), *own)]), heat, offset=offset)
        result.add_body(STONES[own], "stones", offset=offset)
    elif way == "functions":
        result.add_body(ball, "ball", lbm.MovingWall(at(SPIN)), heat)
        result.add_body(at(STONES), "stones")
    else:
        result.add_body(BALL, "ball", lbm.MovingWall(SPIN), heat)
        result.add_body(STONES, "stones")
    return result


def solved(way: str, nonequilibrium: bool, thermal: bool, comm: Any, **options: Any) -> lbm.Solver:
    layout = options.get("layout")
    own = (slice(None),) * 3 if layout is None else layout.subdomain(rank)

    def given(field: np.ndarray[Any, Any]) -> Any:
        return at(field) if way == "functions" else field[(..., *own)] if way == "parts" else field

    model = lbm.HybridThermal(0.05, buoyancy=(0, 0, 1e-4), source=given(SOURCE)) if thermal else None
    options |= {"force": given(FORCE), "thermal": model, "device": "auto" if layout else "cpu", "threads": 1}
    solver = lbm.Solver(domain(way, own, thermal), lbm.MRT(0.05), comm=comm, **options)
    fields = {"density": given(DENSITY), "velocity": given(VELOCITY)}
    solver.initialize(
        nonequilibrium=nonequilibrium, **fields, **({"temperature": given(TEMPERATURE)} if thermal else {})
    )
    solver.step(5)
    return solver


@functools.cache
def expected(nonequilibrium: bool, thermal: bool) -> dict[str, Any]:
    solver = solved("whole", nonequilibrium, thermal, MPI.COMM_SELF)
    assert (solver.solid == (BALL | STONES)).all()
    return results(solver, thermal)


def results(solver: lbm.Solver, thermal: bool) -> dict[str, Any]:
    """Fields on rank 0, and exact sums."""
    found = {"populations": solver.populations(gather=True), "velocity": solver.velocity(gather=True)}
    if thermal:
        found["temperature"] = solver.temperature(gather=True)
    found["fluid cells"] = solver._simulation.fluid_cells
    found["reference density"] = solver._simulation.engine.reference_density
    found["centroid"] = solver._simulation.bodies.centroid("ball").tolist()
    return found


def same(found: dict[str, Any], other: dict[str, Any], what: Any) -> None:
    for name, value in found.items():
        if isinstance(value, np.ndarray):
            assert np.array_equal(value, other[name]), (name, what)
        elif value is not None:
            assert value == other[name], (name, what, value, other[name])


warnings.simplefilter("ignore", lbm.LoneProcessWarning)
for thermal in (False, True):
    for nonequilibrium in (False, True):
        for layout in LAYOUTS:
            windows = [layout.subdomain(k) for k in range(size)]
            tells = size == 1 or all(tuple(s.stop - s.start for s in window) != SHAPE for window in windows)
            for way in ("parts", "functions", "whole")[not tells :]:
                solver = solved(way, nonequilibrium, thermal, world, layout=layout)
                one = expected(nonequilibrium, thermal)
                same(results(solver, thermal), one, (way, nonequilibrium, thermal, layout))
                assert solver.force.shape == (3, *(s.stop - s.start for s in solver.subdomain))
                assert solver.subdomain == layout.subdomain(rank)

# A checkpoint of parts holds the whole, and goes on in one process.
folder = Path(world.bcast(tempfile.mkdtemp() if rank == 0 else None))
solver = solved("parts", False, True, world, layout=LAYOUTS[-1])
solver.save(folder / "parts.h5")
solver.step(4)
solver.restore(folder / "parts.h5")
solver.step(3)
alone = lbm.Solver.load(folder / "parts.h5", comm=MPI.COMM_SELF, device="cpu", threads=1)
alone.step(3)
same(results(solver, True), results(alone, True), "a checkpoint")
for layout in LAYOUTS:
    again = lbm.Solver.load(folder / "parts.h5", comm=world, layout=layout)
    window = again.subdomain
    assert np.array_equal(again.force, FORCE[(slice(None), *window)])
    assert np.array_equal(again.heat_source, SOURCE[window])
    assert np.array_equal(again.solid[window], (BALL | STONES)[window])
    again.step(3)
    same(results(again, True), results(alone, True), ("a checkpoint", layout))

# Pictures on rank 0 show the bodies of all parts.
figure = speed_figure(solver, normal="x", position=0.3)
if figure is not None:
    assert np.array_equal(figure.axes[0].images[0].get_array().mask, (BALL | STONES)[4].T)

# So are the bodies of a case, of which each rank evaluates or reads its part.
if rank == 0:
    np.save(folder / "stones.npy", STONES)
    np.save(folder / "columns.npy", np.asfortranarray(STONES))
world.Barrier()
BODIES: list[dict[str, Any]] = [
    {"name": "ball", "shape": "sphere", "center": [4, 6, 15.5], "radius": 2.9},
    {"name": "stones", "shape": "mask", "file": "stones.npy"},
]
CASE: dict[str, Any] = {
    "domain": {"shape": list(SHAPE), "stencil": "D3Q19"},
    "collision": {"model": "BGK", "viscosity": 0.1},
    "initial": {"velocity": {"profile": "parabolic", "direction": "x", "across": ["z"], "max": 0.02}},
    "run": {"steps": 5, "device": "cpu", "threads": 1},
}
whole = build_solver(CASE | {"bodies": BODIES}, folder, comm=MPI.COMM_SELF)
for name in ("stones.npy", "columns.npy"):
    many = build_solver(CASE | {"bodies": [BODIES[0], BODIES[1] | {"file": name}]}, folder, comm=world)
    many.step(5)
    whole.initialize(velocity=lambda x, y, z: (0.02 * 4 * (z / 16) * (1 - z / 16), 0.0, 0.0))
    whole.step(5)
    same(results(many, False), results(whole, False), "a case")
for wrong_bodies, words in (
    ([*BODIES, {"shape": "box", "low": [0, 0, 0], "high": [14, 12, 16]}], r"\$\.bodies\[2\]: mask: overlaps body"),
    ([BODIES[0] | {"radius": 2 + rank}], r"\$\.bodies: rank.* given another than rank 0"),
)[: min(size, 2)]:
    with pytest.raises(lbm.CaseError, match=words):
        build_solver(CASE | {"bodies": wrong_bodies}, folder, comm=world)

# Values of a body that change in time, of which each rank evaluates its part; too high a speed in one part alone.


def turning(comm: Any, thermal: bool, fast_from: float = 100, **options: Any) -> lbm.Solver:
    turned = lbm.Domain(SHAPE)
    heat = lbm.Isothermal(lambda x, y, z, t: 0.1 * np.sin(0.1 * t + x)) if thermal else None

    def velocity(x: Any, y: Any, z: Any, t: Any) -> Any:
        return np.where((z > 15) & (t >= fast_from), 5.0, 0.01 * np.sin(t) * (y - 6)), 0 * y, 0 * z

    turned.add_body(ball, "ball", lbm.MovingWall(velocity), heat)
    model = lbm.HybridThermal(0.05, buoyancy=(0, 0, 1e-4)) if thermal else None
    return lbm.Solver(turned, lbm.MRT(0.05), comm=comm, thermal=model, threads=1, **options)


for thermal in (False, True):
    one = turning(MPI.COMM_SELF, thermal, device="cpu")
    one.step(6)
    for layout in LAYOUTS:
        solver = turning(world, thermal, layout=layout)
        solver.step(6)
        same(results(solver, thermal), results(one, thermal), ("values in time", thermal, layout))
solver = turning(world, False, fast_from=2.5, layout=LAYOUTS[0])
with pytest.raises(ValueError, match=r"velocity of body 'ball' at t = 3"):
    solver.step(5)
assert solver.steps == 3

# What is wrong in one part is an error on all ranks.
own = LAYOUTS[0].subdomain(rank)
wrong = VELOCITY[(slice(None), *own)].copy()
if rank == size - 1:
    wrong[0, 0, 0, 0] = np.nan
solver = lbm.Solver(lbm.Domain(SHAPE), lbm.BGK(0.1), comm=world, layout=LAYOUTS[0])
with pytest.raises(ValueError, match="finite"):
    solver.initialize(velocity=wrong)
if size > 1:
    with pytest.raises(ValueError, match=r"velocity: .* given another than rank 0"):
        solver.initialize(velocity=VELOCITY if rank == 0 else VELOCITY[(slice(None), *own)])
    with pytest.raises(ValueError, match="shape"):
        solver.initialize(velocity=VELOCITY[:, 1:])
empty = lbm.Domain(SHAPE)
empty.add_body(np.zeros((2, 2, 2), bool), "nothing", offset=(0, 0, 0))
with pytest.raises(ValueError, match="'nothing': no cell is True"):
    lbm.Solver(empty, lbm.BGK(0.1), comm=world, layout=LAYOUTS[0])
full = lbm.Domain(SHAPE)
full.add_body(lambda x, y, z: x > 0, "all")
with pytest.raises(ValueError, match="leaves no fluid cell"):
    lbm.Solver(full, lbm.BGK(0.1), comm=world, layout=LAYOUTS[0])
twice = lbm.Domain(SHAPE)
twice.add_body(lambda x, y, z: x > 10, "one")
twice.add_body(lambda x, y, z: z > 10, "two")
with pytest.raises(ValueError, match="'two': overlaps body 'one'"):
    lbm.Solver(twice, lbm.BGK(0.1), comm=world, layout=LAYOUTS[0])
print(f"rank {rank} of {size} is done", flush=True)
