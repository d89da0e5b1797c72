"""`Solver.surface`: pressure and friction on the triangles of a body, sums over parts of it, and a file of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import checks
from ..body import Body
from ..conditions import MovingWall
from ..domain import Domain
from ..engine.simulation import Simulation
from ..errors import GeometryError
from ..geometry.base import Geometry
from ..geometry.images import images
from ..geometry.mesh import Mesh
from ..geometry.triangulation import Triangles, surface_triangles
from ..io.vtk_surface import write_surface
from ..time_functions.product import Varying, takes_time
from ..turbulence import Smagorinsky
from ..values import Floats
from .fields import Fields
from .surface_fit import RADIUS_CELLS, Around, fit

Bools = NDArray[np.bool_]
_IN_FRONT = 0.01
"""Cells in front of a triangle, where there is fluid or another body."""


@dataclass(frozen=True, eq=False)
class Surface:
    """Pressure and friction on the triangles of a body, in lattice units; ``m`` triangles.

    Triangles without fluid cells enough in front of them, and those that another body covers, have NaN, and no part in
    sums: `exposed` says which others there are.

    Attributes:
        name: of the body.
        vertices: corners ``(n, 3)``, in cells.
        triangles: their numbers ``(m, 3)``, counterclockwise seen from the fluid.
        centers: of the triangles, ``(m, 3)``.
        normals: of length 1 into the fluid, ``(m, 3)``.
        areas: ``(m,)``.
        exposed: bool ``(m,)``.
        pressure: relative to that of the reference density, ``(m,)``.
        shear: the viscous force on a unit of area, ``(m, 3)``; it is along the surface.
        y_plus: of a place half a cell off the wall, ``0.5 sqrt(|shear| / density) / viscosity``, ``(m,)``.
        speed, density: of the undisturbed flow, as given.
    """

    name: str
    vertices: Floats = field(repr=False)
    triangles: Triangles = field(repr=False)
    centers: Floats = field(repr=False)
    normals: Floats = field(repr=False)
    areas: Floats = field(repr=False)
    exposed: Bools = field(repr=False)
    pressure: Floats = field(repr=False)
    shear: Floats = field(repr=False)
    y_plus: Floats = field(repr=False)
    speed: float | None
    density: float

    def __len__(self) -> int:
        return len(self.triangles)

    @property
    def cp(self) -> Floats:
        """The pressure coefficient ``2 p / (density speed**2)``, ``(m,)``; ValueError without a speed."""
        return self.pressure / self._dynamic_pressure()

    @property
    def cf(self) -> Floats:
        """The friction coefficient, the magnitude of the shear by the dynamic pressure, ``(m,)``; as `cp`."""
        return np.asarray(np.linalg.norm(self.shear, axis=1) / self._dynamic_pressure())

    def _dynamic_pressure(self) -> float:
        if self.speed is None:
            raise ValueError(f"speed: none given to surface({self.name!r}), which coefficients need")
        return 0.5 * self.density * self.speed**2

    @property
    def pressure_force(self) -> Floats:
        """The sum of ``-p n A`` over the exposed triangles, ``(3,)``."""
        return np.asarray(self._tractions(False).sum(axis=0))

    @property
    def friction_force(self) -> Floats:
        """The sum of ``shear A`` over the exposed triangles, ``(3,)``."""
        return np.asarray((self.areas[:, None] * self.shear)[self.exposed].sum(axis=0))

    @property
    def force(self) -> Floats:
        """That of pressure and friction together, ``(3,)``."""
        return self.pressure_force + self.friction_force

    def moment(self, about: ArrayLike) -> Floats:
        """The moment of pressure and friction about a point, ``(3,)``.

        Raises:
            TypeError, ValueError: not three finite coordinates.
        """
        point = checks.real_array("about", about)
        if point.shape != (3,):
            raise ValueError(f"about: shape {point.shape} given, must be (3,)")
        arms = self.centers[self.exposed] - point
        return np.asarray(np.cross(arms, self._tractions(True)).sum(axis=0))

    def _tractions(self, friction: bool) -> Floats:
        forces = -self.pressure[:, None] * self.normals + (self.shear if friction else 0.0)
        return np.asarray((self.areas[:, None] * forces)[self.exposed])

    def part(self, where: ArrayLike | Callable[..., Any] | Geometry, name: str | None = None) -> Surface:
        """The triangles of a part of the body, to sum forces over it or to write it.

        Args:
            where: a `Geometry` that their centres are in, a callable of the coordinates ``x, y, z`` of the centres that
                returns bool ``(m,)``, or such an array.
            name: of the part; that of the body if None.

        Raises:
            TypeError, ValueError: something else, or no triangle.
        """
        found = where(*self.centers.T) if callable(where) else where
        chosen = checks.any_array("where", found, "a bool array, a callable or a Geometry")
        if chosen.dtype != np.bool_ or chosen.shape != (len(self),):
            raise ValueError(f"where: {checks.shown(chosen)} given, must be bool of shape ({len(self)},)")
        if not chosen.any():
            raise ValueError(f"where: none of the {len(self)} triangles is there, must be one at least")
        label = self.name if name is None else checks.label("name", name)
        per = ("triangles", "centers", "normals", "areas", "exposed", "pressure", "shear", "y_plus")
        return replace(self, name=label, **{key: getattr(self, key)[chosen] for key in per})

    def to_vtk(self, path: str | os.PathLike[str]) -> Path:
        """Write the triangles and what is on them as VTK polygons; ``.vtp`` is appended where it is missing.

        Cell data: pressure, shear, normal, y_plus, exposed, and with a speed cp and cf.

        Raises:
            ValueError: an ending of another format.
            OSError: the file cannot be written.
        """
        data = {"pressure": self.pressure, "shear": self.shear, "normal": self.normals, "y_plus": self.y_plus}
        if self.speed is not None:
            data |= {"cp": self.cp, "cf": self.cf}
        return write_surface(path, self.vertices, self.triangles, data | {"exposed": self.exposed.astype(np.uint8)})


def make_surface(
    simulation: Simulation,
    fields: Fields,
    where: str,
    speed: float | None,
    density: float,
    size: float,
    mesh: Mesh | None,
    mean: Any,
) -> Surface | None:
    """See `Solver.surface`."""
    domain = simulation.domain
    if len(domain.shape) != 3:
        raise ValueError("surface: of a domain of two dimensions, must be one of three")
    body = domain.bodies[checks.choice("where", where, list(domain.bodies))]
    if any(each.motion is not None for each in domain.bodies.values()):
        raise ValueError("surface: of a domain with a body that moves, must be one of bodies at rest")
    if leaves := body.crossed_faces:
        raise ValueError(
            f"where: body {where!r} goes on through the periodic face {leaves[0]!r}, must lie within the domain; "
            "translate it"
        )
    speed = None if speed is None else checks.number("speed", speed, above=0)
    density = checks.number("density", density, above=0)
    size = checks.number("size", size, above=0)
    geometry = _geometry(body, mesh)
    vertices, triangles = surface_triangles(geometry, size)
    if isinstance(geometry, Mesh) and geometry.sheet:
        triangles = np.concatenate([triangles, triangles[:, ::-1]])  # each has two sides
    corners = vertices[triangles]
    crossed = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    twice = np.linalg.norm(crossed, axis=1)
    kept = twice > 0
    triangles, corners, crossed, twice = triangles[kept], corners[kept], crossed[kept], twice[kept]
    normals, centers = crossed / twice[:, None], corners.mean(axis=1)
    low = np.clip(np.floor(vertices.min(axis=0)).astype(int) - RADIUS_CELLS - 1, 0, domain.shape)
    high = np.clip(np.ceil(vertices.max(axis=0)).astype(int) + RADIUS_CELLS + 1, low, domain.shape)
    if (low >= high).any():
        raise GeometryError(f"surface: body {where!r} lies outside of the domain")
    if mean is not None and _moves_in_time(body):
        raise ValueError(
            f"mean: given for body {where!r}, whose wall has a velocity that changes in time; must be None there, as "
            "means are not relative to the wall"
        )
    read = _read(simulation, fields, mean, low, high)

    def made() -> Surface:
        around = _around(simulation, body, read, low)
        found = fit(around, corners, centers, normals, _hidden(simulation.domain, body, centers, normals))
        more = np.maximum(found.values[:, 1], 0) if found.values.shape[1] > 1 else 0
        viscosity = simulation.collision.viscosity + more
        cs2 = simulation.stencil.cs2
        own = found.values[:, 0]
        incompressible = getattr(simulation.collision, "incompressible", False)
        local = np.ones_like(own) if incompressible else 1 + own / cs2
        along = found.gradient - np.einsum("mc,mc->m", found.gradient, normals)[:, None] * normals
        shear = (viscosity * local)[:, None] * along
        friction_speed = np.sqrt(np.linalg.norm(shear, axis=1) / local)
        y_plus = 0.5 * friction_speed / simulation.collision.viscosity  # the fluid's own
        pressure = own - cs2 * (density - 1)
        parts = (centers, normals, twice / 2, found.exposed, pressure, shear, y_plus)
        return Surface(where, vertices, triangles, *parts, speed, density)

    return simulation.processes.on_first(made)


def _hidden(domain: Domain, body: Body, centers: Floats, normals: Floats) -> Bools:
    """Which triangles another geometry covers: what is just in front of their centres is in it."""
    points = centers + _IN_FRONT * normals
    hidden = np.zeros(len(points), np.bool_)
    for other in domain.bodies.values():
        geometry = other.geometry
        if other is body or geometry is None:
            continue
        for shift in images(geometry, domain.shape, other.periodic):
            low, high = geometry.bounds + np.array(shift)
            own = np.flatnonzero(~hidden & ((points >= low) & (points <= high)).all(axis=1))
            if len(own):
                hidden[own] = geometry.inside(*(points[own] - shift).T.copy())
    return hidden


def _geometry(body: Body, mesh: Mesh | None) -> Geometry:
    if mesh is not None:
        if not isinstance(mesh, Mesh):
            raise TypeError(f"mesh: {checks.shown(mesh)} given, must be a Mesh or None")
        return mesh
    if body.geometry is None:
        raise ValueError(f"where: body {body.name!r} is of cells, whose surface is not known; give mesh=")
    return body.geometry


def _read(
    simulation: Simulation, fields: Fields, mean: Any, low: NDArray[Any], high: NDArray[Any]
) -> tuple[Any, Any, Any]:
    """Pressure, velocity and eddy viscosity of the cells about a body, on rank 0; None of what there is not."""
    region = tuple(slice(int(a), int(b)) for a, b in zip(low, high, strict=True))
    eddy_viscosity = fields.eddy_viscosity(True, region) if isinstance(simulation.turbulence, Smagorinsky) else None
    if mean is not None:
        return *_means(simulation, mean, region), eddy_viscosity
    density, velocity = fields.density(True, region), fields.velocity(True, region)
    pressure = None if density is None else simulation.stencil.cs2 * (density.astype(np.float64) - 1)
    return pressure, velocity, eddy_viscosity


def _around(simulation: Simulation, body: Body, read: tuple[Any, Any, Any], low: NDArray[Any]) -> Around:
    """What was read of the cells about a body, relative to its wall; on rank 0."""
    pressure, velocity, eddy_viscosity = read
    axes = [np.arange(a, a + n) for a, n in zip(low, pressure.shape, strict=True)]
    solid = np.zeros(pressure.shape, np.bool_)
    for each in simulation.domain.bodies.values():
        solid |= each.within(axes)
    coordinates = np.meshgrid(*(axis + 0.5 for axis in axes), indexing="ij")
    relative = velocity.astype(np.float64) - _wall_velocity(body, coordinates, float(simulation.steps))
    values = [*relative, pressure, *([] if eddy_viscosity is None else [eddy_viscosity])]
    return Around(low.astype(np.int64), ~solid, np.stack(values, axis=-1).astype(np.float64))


def _means(simulation: Simulation, mean: Any, region: tuple[slice, ...]) -> tuple[Any, Any]:
    """Mean pressure and velocity of a recorder."""
    known = getattr(mean, "fields", ())
    scalar = "pressure" if "pressure" in known else "density"
    if scalar not in known or "velocity" not in known or not hasattr(mean, "read"):
        raise ValueError(
            f"mean: {checks.shown(mean)} given, must be a recorder such as Mean('velocity', 'pressure') of this solver"
        )
    found, velocity = mean.read(scalar, gather=True), mean.read("velocity", gather=True)

    def in_region() -> tuple[Any, Any]:
        if velocity.shape[1:] != simulation.domain.shape:
            raise ValueError("mean: it has means over axes, must have one in each cell, without over=")
        here = found[region]
        pressure = here if scalar == "pressure" else simulation.stencil.cs2 * (here - 1)
        return pressure, velocity[(slice(None), *region)]

    return simulation.processes.on_first(in_region) or (None, None)


def _moves_in_time(body: Body) -> bool:
    """Whether the velocity of a body's wall changes in time."""
    velocity: Any = getattr(body.condition, "velocity", None)
    return isinstance(velocity, Varying) or (callable(velocity) and takes_time(velocity))


def _wall_velocity(body: Body, coordinates: Sequence[Floats], time: float) -> Floats:
    """The velocity of a body's wall, as that of a rigid body goes on beside it."""
    if not isinstance(body.condition, MovingWall):
        return np.zeros((3, 1, 1, 1))
    velocity: Any = body.condition.velocity
    factor = 1.0
    if isinstance(velocity, Varying):
        velocity, factor = velocity.spatial, velocity.function(time)
    if callable(velocity):
        found = velocity(*coordinates, **({"t": time} if takes_time(velocity) else {}))
        velocity = np.stack([np.broadcast_to(part, coordinates[0].shape) for part in found])
    elif velocity.shape != (3,):
        raise ValueError(
            f"where: the wall of body {body.name!r} has a velocity for each cell, must be a vector or function"
        )
    else:
        velocity = velocity.reshape(3, 1, 1, 1)
    return factor * np.asarray(velocity, np.float64)
