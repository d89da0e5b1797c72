"""Flows along curved walls whose solution is known, with any scheme of the walls."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import lbmgpu as lbm

SPEED = 0.01


def couette(
    gap: int, scheme: str | None, viscosity: float = 0.1, thickness: float | None = None, **options: str
) -> lbm.Solver:
    """Between a cylinder that turns, as wide as the gap, and one at rest; the axis is not in the middle of a cell.

    With a `thickness` the first one is a ring with fluid inside.
    """
    n = 4 * gap + 5
    center = (n / 2 + 0.3, n / 2 + 0.17)
    domain = lbm.Domain((n, n), "D2Q9")

    def turning(x: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return -SPEED / gap * (y - center[1]), SPEED / gap * (x - center[0])

    inner: lbm.Geometry = lbm.Sphere(center, gap)
    if thickness is not None:
        inner = inner - lbm.Sphere(center, gap - thickness)
    domain.add_body(inner, "inner", lbm.MovingWall(turning, scheme=scheme))
    around = lbm.Box((-1, -1), (n + 1, n + 1)) - lbm.Sphere(center, 2 * gap)
    domain.add_body(around, "outer", lbm.NoSlip(scheme=scheme))
    solver = lbm.Solver(domain, lbm.TRT(viscosity), precision="float64", **options)
    solver.run(round(1.5 * gap**2 / viscosity))
    return solver


def torque_errors(solver: lbm.Solver, gap: int, viscosity: float = 0.1) -> list[float]:
    """Relative errors of the torque on both cylinders: 4 pi mu omega a^2 b^2 / (b^2 - a^2) (Landau & Lifshitz,
    Fluid Mechanics, section 18)."""
    exact = 4 * np.pi * viscosity * SPEED / gap * gap**2 * 4 / 3
    center = tuple(n / 2 + a for n, a in zip(solver.domain.shape, (0.3, 0.17), strict=True))
    given = [solver.body_torque(name, center).item() for name in ("inner", "outer")]
    return [-given[0] / exact - 1, given[1] / exact - 1]


def slanted_channel(period: int, scheme: str | None, viscosity: float = 0.1, place: float = 0.3) -> float:
    """The relative error of the velocity in a channel along (2, 1) in a periodic box, which a force drives.

    Centres of cells lie on lines along the channel. Both walls are as far from the next of them for every `period`: the
    lower one by `place` of the distance of two lines, and so many of them and 0.3 apart.
    """
    shape = (2 * period, period)
    along = np.array([2.0, 1.0]) / np.sqrt(5)
    across = np.array([-along[1], along[0]])
    lines = 1 / np.sqrt(5)
    apart, width, low = 2 * period * lines, (round(1.42 * period) + 0.3) * lines, place * lines
    walls: lbm.Geometry | None = None
    for k in range(-3, 4):
        bottom, top = low + width + k * apart, low + (k + 1) * apart
        wall = lbm.Plane(tuple(top * across), tuple(across)) & lbm.Plane(tuple(bottom * across), tuple(-across))
        walls = wall if walls is None else walls | wall
    assert walls is not None
    domain = lbm.Domain(shape, "D2Q9")
    domain.add_body(walls, "walls", lbm.NoSlip(scheme=scheme))
    force = 8 * viscosity * SPEED / width**2
    solver = lbm.Solver(
        domain, lbm.TRT(viscosity, incompressible=True), force=tuple(force * along), precision="float64"
    )
    solver.run(round(1.2 * width**2 / viscosity))
    x, y = np.meshgrid(*(np.arange(n) + 0.5 for n in shape), indexing="ij")
    height = (across[0] * x + across[1] * y - low) % apart
    exact = 4 * SPEED * height * (width - height) / width**2
    fluid = ~solver.solid
    error = np.tensordot(along, solver.velocity(), axes=1) - exact
    return float(np.sqrt((error[fluid] ** 2).mean() / (exact[fluid] ** 2).mean()))


def drag_of_an_array(
    shift: tuple[float, ...], scheme: str | None, n: int = 61, diameter: float = 20, steps: int = 14000
) -> float:
    """Of a square array of cylinders in Stokes flow, or a cubic one of spheres, each in `n` cells along each axis, over
    the mean speed, in units of the viscosity and, of spheres, of a cell."""
    D, viscosity, gradient = len(shift), 0.1, 1e-6
    domain = lbm.Domain((n,) * D, "D2Q9" if D == 2 else "D3Q19")
    center = tuple(n // 2 + a for a in shift)
    domain.add_body(lbm.Sphere(center, diameter / 2), "body", lbm.NoSlip(scheme=scheme))
    collision = lbm.TRT(viscosity, incompressible=True)
    solver = lbm.Solver(domain, collision, force=(gradient, 0.0, 0.0)[:D], precision="float64")
    solver.run(steps)
    superficial = float(solver.velocity()[0][~solver.solid].sum()) / n**D
    return gradient * n**D / (viscosity * superficial)


def array_of_spheres(cells: int, fraction: float, scheme: str | None, viscosity: float = 0.1) -> float:
    """The drag of a simple cubic array of spheres in Stokes flow, over 6 pi mu a U with the superficial velocity."""
    radius = cells * (3 * fraction / (4 * np.pi)) ** (1 / 3)
    domain = lbm.Domain((cells,) * 3, "D3Q19")
    sphere = lbm.Sphere((cells / 2 + 0.1, cells / 2 + 0.2, cells / 2 - 0.3), radius)
    domain.add_body(sphere, "sphere", lbm.NoSlip(scheme=scheme))
    gradient = 1e-7
    solver = lbm.Solver(domain, lbm.TRT(viscosity), force=(gradient, 0.0, 0.0), precision="float64")
    solver.run(round(1.5 * cells**2 / viscosity))
    superficial = float(solver.velocity()[0][~solver.solid].sum()) / cells**3
    return gradient * cells**3 / (6 * np.pi * viscosity * radius * superficial)


def blown_out(scheme: str | None) -> float:
    """The relative error of what flows out of a cylinder through its surface, across which the wall's velocity is."""
    n, center, radius, speed = 51, (25.3, 25.6), 8.0, 0.01
    domain = lbm.Domain((n, n), "D2Q9")
    for face in ("-x", "+x", "-y", "+y"):
        domain.faces[face] = lbm.PressureOutlet()

    def outwards(x: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        distance = np.hypot(x - center[0], y - center[1])
        return speed * (x - center[0]) / distance, speed * (y - center[1]) / distance

    domain.add_body(lbm.Sphere(center, radius), "source", lbm.MovingWall(outwards, scheme=scheme))
    solver = lbm.Solver(domain, lbm.TRT(0.3, incompressible=True), precision="float64")
    solver.run(6000)
    x, y = np.meshgrid(*(np.arange(n) + 0.5 - c for c in center), indexing="ij")
    velocity, distance = solver.velocity(), np.hypot(x, y)
    outflow = x * velocity[0] + y * velocity[1]  # over 2 pi, through the circle there
    ring = (distance > radius + 2) & (distance < radius + 12)
    return float(outflow[ring].mean() / (speed * radius) - 1)
