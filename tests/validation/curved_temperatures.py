"""Conduction and convection beside round and slanted bodies, of which solutions are known."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import lbmgpu as lbm

Array = NDArray[np.float64]
KAPPA = 0.1


class Found(NamedTuple):
    """Largest error of the temperature over the difference, heat of each body over the exact one, less 1."""

    largest: float
    inner: float
    outer: float


def coordinates(shape: tuple[int, ...], center: tuple[float, ...]) -> list[Array]:
    """Those of the cell centres relative to a place."""
    axes = (np.arange(n) + 0.5 - c for n, c in zip(shape, center, strict=True))
    return list(np.meshgrid(*axes, indexing="ij"))


def steady(domain: lbm.Domain, at_most: float = 1e-12, **more: Any) -> lbm.Solver:
    """A solver in float64, run until its temperature rests."""
    options = {"precision": "float64", "device": "cpu", **more}
    thermal = options.pop("thermal", None) or lbm.HybridThermal(KAPPA)
    collision = lbm.TRT(options.pop("viscosity", 0.1), incompressible=True)  # walls at surfaces do not keep mass
    solver = lbm.Solver(domain, collision, thermal=thermal, **options)
    solver.run(400_000, until=lbm.Steady(at_most, every=200, of="temperature"))
    return solver


def between_shells(
    gap: int,
    scheme: str | None,
    place: tuple[float, ...] = (0.3, 0.17),
    *,
    turning: float = 0.0,
    operators: str = "isotropic",
) -> Found:
    """Conduction between two concentric cylinders or, with a place of three numbers, spheres; the radius of the inner
    one is the gap. It may turn, by radians a step."""
    dimensions, n = len(place), 4 * gap + 3
    center = tuple(n / 2 + p for p in place)
    domain = lbm.Domain((n,) * dimensions, "D2Q9" if dimensions == 2 else "D3Q19")
    flow = lbm.MovingWall(lbm.Rotation(turning, center)) if turning else None
    inner, outer = lbm.Sphere(center, gap), lbm.Sphere(center, 2 * gap)
    around = lbm.Box((-2.0,) * dimensions, (n + 2.0,) * dimensions) - outer
    domain.add_body(inner, "inner", flow, lbm.Isothermal(1.0, scheme=scheme))
    domain.add_body(around, "outer", thermal=lbm.Isothermal(0.0, scheme=scheme))
    solver = steady(domain, thermal=lbm.HybridThermal(KAPPA if operators == "isotropic" else 0.05, operators=operators))
    r = np.sqrt(sum(x**2 for x in coordinates(domain.shape, center)))
    if dimensions == 2:
        exact, shape_factor = 1 - np.log(r / gap) / np.log(2), 2 * np.pi / np.log(2)
    else:
        exact, shape_factor = 2 * gap / r - 1, 8 * np.pi * gap
    assert solver.thermal is not None
    heat = [solver.heat_flux(name).flux.sum() / (shape_factor * solver.thermal.diffusivity) for name in domain.bodies]
    largest = np.abs(solver.temperature() - exact)[~solver.solid].max()
    return Found(float(largest), float(heat[0] - 1), float(-heat[1] - 1))


def slanted_layer(
    along: tuple[int, int], place: float, scheme: str | None, curvature: float = 0.0, period: int = 12
) -> float:
    """The largest error of the temperature between two plane walls along a lattice vector, in a periodic box.

    It rises by 1 from the lower wall, which is off a lattice line by `place` of the distance of two, to the upper one;
    with a `curvature`, by a heat source, as a parabola.
    """
    a, b = along
    shape, length = (a * period, b * period), float(np.hypot(a, b))
    across = np.array([-b, a]) / length
    apart, low = a * b * period / length, place / length
    width = (round(0.6 * a * b * period) + 0.4) / length

    def height(x: Array, y: Array) -> Array:
        return np.asarray((across[0] * x + across[1] * y - low) % apart)

    def wall(x: Array, y: Array) -> Array:
        from_bottom = height(x, y)
        return np.asarray((from_bottom > width / 2) & (from_bottom < (width + apart) / 2), float)

    walls: lbm.Geometry | None = None
    for k in range(-a - 1, b + 2):
        bottom, top = low + width + k * apart, low + (k + 1) * apart
        each = lbm.Plane(tuple(top * across), tuple(across)) & lbm.Plane(tuple(bottom * across), tuple(-across))
        walls = each if walls is None else walls | each
    assert walls is not None
    domain = lbm.Domain(shape, "D2Q9")
    domain.add_body(walls, "walls", thermal=lbm.Isothermal(wall, scheme=scheme))
    source = 2 * KAPPA * curvature / width**2
    solver = steady(domain, thermal=lbm.HybridThermal(KAPPA, source=source))
    from_bottom = height(*coordinates(shape, (0.0, 0.0))) / width
    exact = from_bottom + curvature * from_bottom * (1 - from_bottom)
    return float(np.abs(solver.temperature() - exact)[~solver.solid].max())


def gradient_past_cylinder(radius: int, scheme: str | None, place: tuple[float, float] = (0.3, 0.17)) -> Found:
    """An adiabatic cylinder in a uniform gradient: T = (r + R^2 / r) cos(phi) in units of it, here of 1 / R.

    Errors are those within a radius of the surface; in place of the heat of the inner one is that of the cylinder, over
    what would flow through its width, and of the outer one the root of the mean square of the error.
    """
    n = 6 * radius
    center = (n / 2 + place[0], n / 2 + place[1])

    def exact(x: Array, y: Array) -> Array:
        dx, dy = x - center[0], y - center[1]
        return np.asarray(dx * (1 + radius**2 / np.maximum(dx**2 + dy**2, 0.25 * radius**2)) / radius)

    domain = lbm.Domain((n, n), "D2Q9")
    for face in domain.faces:
        domain.faces[face] = lbm.NoSlip()
        domain.thermal[face] = lbm.Isothermal(exact)
    domain.add_body(lbm.Sphere(center, radius), "cylinder", thermal=lbm.Adiabatic(scheme=scheme))
    solver = steady(domain)
    x, y = coordinates(domain.shape, (0.0, 0.0))
    beside = ~solver.solid & (np.hypot(x - center[0], y - center[1]) < 2 * radius)  # and far from the faces
    error = np.abs(solver.temperature() - exact(x, y))[beside]
    heat = solver.heat_flux("cylinder").flux.sum() / (2 * KAPPA)
    return Found(float(error.max()), float(heat), float(np.sqrt((error**2).mean())))


def convection_between_cylinders(
    rayleigh: float, gap: int, scheme: str | None = None, velocity: float = 0.1, at_most: float = 1e-5
) -> tuple[float, float]:
    """The mean equivalent conductivities of the inner and the outer one of two horizontal cylinders, with a gap of 0.8
    diameters of the inner one, at Prandtl number 0.7."""
    flow = lbm.Convection(rayleigh, 0.7, gap, velocity=velocity)
    inner = gap / 1.6
    outer = inner + gap
    n = int(2 * outer) + 3
    center = (n / 2 + 0.1, n / 2 + 0.23)
    domain = lbm.Domain((n, n), "D2Q9")
    domain.add_body(lbm.Sphere(center, inner), "inner", thermal=lbm.Isothermal(0.5, scheme=scheme))
    around = lbm.Box((-2, -2), (n + 2, n + 2)) - lbm.Sphere(center, outer)
    domain.add_body(around, "outer", thermal=lbm.Isothermal(-0.5, scheme=scheme))
    solver = steady(domain, at_most, thermal=flow.thermal("+y"), viscosity=flow.viscosity)
    conduction = 2 * np.pi / np.log(outer / inner) * flow.diffusivity
    heat = [solver.heat_flux(name).flux.sum() / conduction for name in domain.bodies]
    return float(heat[0]), float(-heat[1])
