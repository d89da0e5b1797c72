"""Small flows on all GPUs that make every kind of kernel run, for tools that look for errors of memory and races."""

from __future__ import annotations

import itertools
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

import lbmgpu as lbm
from lbmgpu import _core


def flow(shape: tuple[int, ...], stencil: str, periodic: bool) -> lbm.Domain:
    """A body in a periodic box, or between walls, an inlet and an outflow."""
    domain = lbm.Domain(shape, stencil)
    if not periodic:
        along = (0.05, 0.0, 0.0)[: len(shape)]
        domain.faces["-y"], domain.faces["+y"] = lbm.NoSlip(), lbm.MovingWall(along)
        domain.faces["-x"], domain.faces["+x"] = lbm.VelocityInlet(along), lbm.Outflow()
    body = np.zeros(shape, bool)
    body[10:13, 3:5] = True
    domain.add_body(body, "body")
    return domain


def run(domain: lbm.Domain, file: Path, **options: object) -> None:
    """Steps, all that is read from a state, and a checkpoint."""
    dimensions = len(domain.shape)
    solver = lbm.Solver(domain, lbm.MRT(0.05), force=(1e-5,) * dimensions, **options)
    solver.initialize(velocity=(0.01,) * dimensions)
    solver.step(5)
    for read in (solver.velocity, solver.density, solver.populations, solver.mass, solver.check):
        read()
    solver.body_force("body")
    solver.run(4, until=lbm.Steady(1e-9, every=2))
    solver.restore(solver.save(file))
    solver.step(40)  # some of them recorded


def heated(domain: lbm.Domain, file: Path, **options: object) -> None:
    """A fluid with a temperature, a warm body and a source of heat."""
    dimensions = len(domain.shape)
    warm = np.zeros(domain.shape, bool)
    warm[20:22, 3:5] = True
    domain.add_body(warm, "warm", thermal=lbm.Isothermal(1.0))
    walls = ["warm"]
    if not isinstance(domain.faces["-x"], lbm.Periodic):
        domain.thermal["-x"] = lbm.Isothermal(0.5)
        walls.append("-x")
    thermal = lbm.HybridThermal(0.05, buoyancy=(0.0, 1e-3, 0.0)[:dimensions], source=np.full(domain.shape, 1e-5))
    solver = lbm.Solver(domain, lbm.MRT(0.05), thermal=thermal, **options)
    solver.initialize(temperature=0.1)
    solver.step(5)
    for read in (solver.temperature, solver.velocity, solver.heat, solver.check):
        read()
    for where in walls:
        solver.heat_flux(where)
        solver.nusselt(where, 10, 1.0)
    solver.run(4, until=lbm.Steady(1e-12, every=2, of="temperature"))
    solver.restore(solver.save(file))
    solver.step(40)


def turbulent(collision: lbm.Collision, turbulence: object, scheme: str, file: Path, **options: object) -> None:
    """A stream past a body from an inlet to an outlet that rebuild populations of cells, with sponges before both."""
    domain = flow((70, 12, 10), "D3Q27", periodic=False)
    domain.faces["-x"] = lbm.VelocityInlet((0.05, 0.0, 0.0), scheme=scheme)
    domain.faces["+x"] = lbm.PressureOutlet(1.0, scheme="characteristic")
    domain.add_sponge("+x", 8, 0.5)
    domain.add_sponge("-x", 4, 0.2, pull=0.05, velocity=(0.05, 0.0, 0.0))
    solver = lbm.Solver(domain, collision, turbulence=turbulence, **options)
    solver.initialize(velocity=(0.05, 0.0, 0.0))
    solver.step(5)
    for read in (solver.velocity, solver.mass, solver.check):
        read()
    if turbulence is not None:
        solver.eddy_viscosity()
    solver.restore(solver.save(file))
    solver.step(40)


def multispeed(walls: str, file: Path, **options: object) -> None:
    """A gas on D2Q37, between plates along an axis or periodic."""
    domain = lbm.Domain((37, 23), "D2Q37")
    if walls:
        domain.faces["-" + walls] = domain.faces["+" + walls] = lbm.NoSlip()
        domain.thermal["-" + walls] = lbm.Isothermal(0.75)
    solver = lbm.Solver(domain, lbm.ThermalBGK(0.1, prandtl=0.7, gravity=(1e-5, -1e-5)), **options)
    solver.initialize(velocity=(0.01, 0.02), temperature=0.7)
    solver.step(5)
    for read in (solver.temperature, solver.velocity, solver.density, solver.populations, solver.mass, solver.check):
        read()
    solver.restore(solver.save(file))
    solver.step(40)


def with_bodies(shape: tuple[int, ...], stencil: str, periodic: bool, file: Path, **options: object) -> None:
    """A body at rest on its surface, first with one that moves, then with a sheet and a temperature."""
    solid = len(shape) == 3
    for thermal in (None, lbm.HybridThermal(0.05)):
        domain = flow(shape, stencil, periodic)
        warm = lbm.Isothermal(0.5) if thermal else None
        domain.add_body(lbm.Sphere((40.3, *(n / 2 for n in shape[1:])), 2.2), "round", thermal=warm)
        if thermal is None:
            corners = [(21.5, 4.6, 3.6), (24.4, 4.9, 3.8), (22.4, 7.6, 4.0), (23.0, 6.0, 6.4)]
            tetrahedron = lbm.Mesh(corners, [(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)])
            wing = tetrahedron if solid else lbm.Polygon([corner[:2] for corner in corners[:3]])
            domain.add_body(wing, "wing", motion=lbm.Motion(rate=0.02))
        elif solid:
            domain.add_body(lbm.Mesh([(50.3, 2, 2), (52.7, 8, 2), (51.0, 5, 8)], [(0, 1, 2)], sheet=True), "sheet")
        solver = lbm.Solver(domain, lbm.TRT(0.05), thermal=thermal, **options)
        solver.initialize(velocity=(0.01,) * len(shape))
        solver.step(5)
        for name in domain.bodies:
            solver.body_force(name)
        if thermal:
            solver.heat_flux("round")
        solver.check()
        solver.restore(solver.save(file))
        solver.step(20)


def as_moments(shape: tuple[int, ...], stencil: str, walls: bool, file: Path, **options: object) -> None:
    """Cells that keep moments, in a periodic box with a force, or between walls, an inlet and an outlet past bodies."""
    dimensions = len(shape)
    domain = lbm.Domain(shape, stencil)
    if walls:
        domain = flow(shape, stencil, periodic=False)
        domain.faces["+x"] = lbm.PressureOutlet()
        domain.add_body(lbm.Sphere((40.3, *(n / 2 for n in shape[1:])), 2.2), "round")
    force = None if walls else (1e-5,) * dimensions
    solver = lbm.Solver(domain, lbm.RecursiveRegularized(0.05), state="moments", force=force, **options)
    solver.initialize(velocity=(0.01,) * dimensions)
    solver.step(13)
    for read in (solver.velocity, solver.density, solver.populations, solver.mass, solver.check):
        read()
    for name in domain.bodies:
        solver.body_force(name)
    solver.restore(solver.save(file))
    solver.step(40)


def flows(file: Path) -> Iterator[Callable[[], None]]:
    """One block on a GPU, and blocks with and without cut rows on all of them."""
    gpus = [f"cuda:{k}" for k in range(_core.cuda_device_count())]
    for (stencil, shape), streaming, storage, periodic in itertools.product(
        (("D3Q19", (70, 6, 5)), ("D2Q9", (301, 9)), ("D3Q27", (33, 5, 4))),
        ("in-place", "two-lattice"),
        ("float32", "float16"),
        (False, True),
    ):
        options = {"streaming": streaming, "storage": storage, "device": "cuda:0"}
        yield partial(run, flow(shape, stencil, periodic), file, **options)
    for parts, streaming, periodic in itertools.product(
        ((1, 2, 2), (2, 1, 2)), ("in-place", "two-lattice"), (False, True)
    ):
        layout = lbm.Layout.split((70, 12, 10), parts, (gpus * 4)[:4])
        for of in (run, heated):
            yield partial(of, flow((70, 12, 10), "D3Q19", periodic), file, streaming=streaming, layout=layout)
    for (stencil, shape), streaming, periodic in itertools.product(
        (("D3Q19", (70, 6, 5)), ("D2Q9", (301, 9))), ("in-place", "two-lattice"), (False, True)
    ):
        yield partial(heated, flow(shape, stencil, periodic), file, streaming=streaming, device="cuda:0")
    for (collision, turbulence, scheme), parts, streaming in itertools.product(
        (
            (lbm.Cumulant(0.05), lbm.WALE(0.5, every=3), "regularized"),
            (lbm.RecursiveRegularized(0.05, hybrid=0.9), lbm.Vreman(0.07), "characteristic"),
            (lbm.CentralMoments(0.05, incompressible=True), lbm.Smagorinsky(0.1), "non-equilibrium"),
            (lbm.RecursiveRegularized(0.05, hybrid=0.9), None, "regularized"),
        ),
        ((1, 1, 1), (2, 1, 2)),
        ("in-place", "two-lattice"),
    ):
        layout = lbm.Layout.split((70, 12, 10), parts, (gpus * 4)[: parts[0] * parts[2]])
        yield partial(turbulent, collision, turbulence, scheme, file, streaming=streaming, layout=layout)
    layouts = [lbm.Layout.split((70, 12, 10), parts, "cuda:0") for parts in ((1, 1, 1), (1, 2, 2))]
    for streaming, periodic, layout in itertools.product(("in-place", "two-lattice"), (False, True), layouts):
        yield partial(with_bodies, (70, 12, 10), "D3Q19", periodic, file, streaming=streaming, layout=layout)
        yield partial(as_moments, (70, 12, 10), "D3Q19", not periodic, file, streaming=streaming, layout=layout)
    for streaming, periodic in itertools.product(("in-place", "two-lattice"), (False, True)):
        yield partial(with_bodies, (70, 12), "D2Q9", periodic, file, streaming=streaming, device="cuda:0")
        yield partial(as_moments, (301, 20), "D2Q9", not periodic, file, streaming=streaming, device="cuda:0")
        yield partial(as_moments, (70, 12, 10), "D3Q27", not periodic, file, streaming=streaming, device="cuda:0")
    for precision, walls, parts in itertools.product(
        ("float64", "float32"), ("y", "x", ""), ((1, 1), (1, 3), (2, 1), (2, 2))
    ):
        layout = lbm.Layout.split((37, 23), parts, (gpus * 4)[: parts[0] * parts[1]])
        yield partial(multispeed, walls, file, precision=precision, layout=layout)


def main() -> None:
    """All of them, or of `PARTS` parts the one of number `PART`, by the arguments."""
    part, parts = map(int, sys.argv[1:3]) if len(sys.argv) > 1 else (0, 1)
    with tempfile.TemporaryDirectory() as folder:
        for number, work in enumerate(flows(Path(folder) / "state.h5")):
            if number % parts == part:
                work()
    print("done")


if __name__ == "__main__":
    main()
