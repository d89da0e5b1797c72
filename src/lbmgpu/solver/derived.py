"""Fields that follow from density, velocity and temperature: pressure, velocity gradients and what is made of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import checks, values
from ..conditions import FreeSlip, MovingWall, NoSlip, Periodic, VelocityInlet
from ..engine.simulation import Simulation
from ..parallel.subdomain import Box
from ..units import Units
from .dataset import to_xarray
from .fields import Fields, Reader
from .gradients import FLUID, MARGIN, TENSOR, UNKNOWN, WALL, at_wall, derivative
from .region import Region
from .thermal import ThermalFields

CHUNK = 2**20
"""Cells whose velocity gradients are computed at a time."""

PLANE = 0.999
"""The largest component of a normal above which the surface of a body is taken for a plane across that axis."""

Gradients = list[NDArray[Any]]
"""``gradients[j][i]`` is the derivative of component i of the velocity along axis j."""


@dataclass(frozen=True)
class _Around:
    """The velocity in the cells of a core and around it, and what the places hold: see `derivative`."""

    wide: Box
    velocity: NDArray[Any]
    kind: NDArray[np.uint8]

    def chunks(self) -> Iterator[tuple[slice, NDArray[Any], NDArray[np.uint8]]]:
        """Layers of the core along the last axis, with their margins."""
        cells = self.kind.shape[-1] - 2 * MARGIN
        layer = self.kind[..., 0].size
        step = max(1, CHUNK // max(1, layer))
        for at in range(0, cells, step):
            end = min(at + step, cells)
            yield slice(at, end), self.velocity[..., at : end + 2 * MARGIN], self.kind[..., at : end + 2 * MARGIN]


class DerivedFields:
    """The part of `Solver` about fields that follow from others. `gather` and `region`: see `Fields.density`.

    Velocity gradients are central differences. Beside a wall they are those of the parabola through the velocity of the
    wall, which lies half-way between the centres of the cells, and of two cells. A wall is what bounces back half-way:
    `NoSlip` and `MovingWall` of faces and bodies, and a `VelocityInlet` of that scheme. Before a face with `FreeSlip`
    the velocity is mirrored, and before any other one the differences are one-sided. All of that is of second order.
    Through periodic faces they go on. They are 0 in solid cells, and do not depend on blocks and processes.
    """

    def __init__(self, simulation: Simulation, fields: Fields, thermal: ThermalFields) -> None:
        self._simulation = simulation
        self._fields = fields
        self._thermal = thermal

    # Of single cells

    def pressure(self, gather: bool = False, region: Any = None) -> Any:
        """Pressure relative to that at rest with density 1, ``cs2 (density - 1)``, ``(nx, ny[, nz])``; 0 in bodies.

        In D2Q37, an ideal gas, the pressure itself: ``density temperature``. `gather` and `region`: see `density`.
        """
        with self._simulation.lock:
            density = self._fields.density(gather, region)
            if self._simulation.model.carries_temperature:
                temperature = self._thermal.temperature(gather, region=region)
                return None if density is None else density * temperature
        if density is None:
            return None
        density -= density.dtype.type(1)
        density *= density.dtype.type(self._simulation.stencil.cs2)
        return density

    def speed(self, gather: bool = False, region: Any = None) -> Any:
        """Magnitude of the velocity in cells a step, ``(nx, ny[, nz])``. `gather` and `region`: see `density`."""
        velocity = self._fields.velocity(gather, region)
        if velocity is None:
            return None
        total = np.square(velocity[0])
        for component in velocity[1:]:
            total += np.square(component)
        return np.sqrt(total)

    # Of velocity gradients

    def vorticity(self, gather: bool = False, region: Any = None) -> Any:
        """Curl of the velocity: ``(3, nx, ny, nz)``, or in two dimensions that about z, ``(nx, ny)``.

        All processes call it together. See `velocity_gradient` for the differences; `gather` and `region`: see
        `density`.
        """

        def curl(g: Gradients) -> list[NDArray[Any]]:
            if len(g) == 2:
                return [g[0][1] - g[1][0]]
            return [g[1][2] - g[2][1], g[2][0] - g[0][2], g[0][1] - g[1][0]]

        return self._of_gradients(curl, 0 if len(self._simulation.domain.shape) == 2 else 3, gather, region)

    def velocity_gradient(self, gather: bool = False, region: Any = None) -> Any:
        """Derivatives of the velocity, ``(D, D, nx, ny[, nz])``: entry [i, j] is that of component i along axis j.

        Differences are central. Beside a wall (`NoSlip`, `MovingWall`, or a `VelocityInlet` of the scheme that bounces
        back) they are those of the parabola through the wall's velocity, half-way between the centres of cells, and two
        cells; before a face with `FreeSlip` the velocity is mirrored, before another one they are one-sided: all of
        second order. Solid cells have 0. The result does not depend on blocks and processes.

        All processes call it together. `gather` and `region`: see `density`.
        """
        D = len(self._simulation.domain.shape)
        found = self._of_gradients(lambda g: [g[j][i] for i in range(D) for j in range(D)], D * D, gather, region)
        return None if found is None else found.reshape(D, D, *found.shape[1:])

    def strain_rate(self, gather: bool = False, region: Any = None) -> Any:
        """Symmetric part of the velocity gradient, ``(6, nx, ny, nz)``: xx, yy, zz, xy, yz, xz, the order of VTK.

        In two dimensions ``(3, nx, ny)``: xx, yy, xy. All processes call it together. See `velocity_gradient` for the
        differences; `gather` and `region`: see `density`.
        """
        return self._of_gradients(_strain, len(TENSOR[len(self._simulation.domain.shape)]), gather, region)

    def q_criterion(self, gather: bool = False, region: Any = None) -> Any:
        """Half the difference of the squares of rotation and strain rate, ``(nx, ny[, nz])``: above 0 in vortices.

        ``Q = -1/2 sum_ij d_j u_i d_i u_j`` (Hunt, Wray & Moin, Center for Turbulence Research, CTR-S88 (1988) 193). All
        processes call it together. See `velocity_gradient` for the differences; `gather` and `region`: see `density`.
        """

        def q(g: Gradients) -> list[NDArray[Any]]:
            total = g[0][0] * g[0][0]
            for i in range(1, len(g)):
                total = total + g[i][i] * g[i][i]
            for i, j in TENSOR[len(g)][len(g) :]:
                product = g[i][j] * g[j][i]
                total = total + (product + product)
            return [total * total.dtype.type(-0.5)]

        return self._of_gradients(q, 0, gather, region)

    def dissipation(self, gather: bool = False, region: Any = None) -> Any:
        """Kinetic energy a mass that the viscosity turns into heat in a step, ``2 nu S:S``, ``(nx, ny[, nz])``.

        The kinematic viscosity nu includes the eddy viscosity, if there is one; in D2Q37 it is that of the cell's
        temperature. All processes call it together. See `velocity_gradient` for the differences; `gather` and `region`:
        see `density`.
        """
        wanted = Region.of(self._simulation.domain.shape, region)
        gather = checks.flag("gather", gather)
        with self._simulation.lock:
            strain = self._part_of_gradients(_squared_strain, 0, wanted)
            strain *= self._viscosity(wanted)
            strain *= strain.dtype.type(2)
        return self._fields.collected(strain, wanted, gather)

    def wall_shear_stress(self, where: str, gather: bool = False, region: Any = None) -> Any:
        """Viscous force a unit of area that the fluid exerts on a wall along its surface, ``(D, nx, ny[, nz])``.

        It stands in the fluid cells that have a face in common with the wall, and is 0 in all others. The wall lies
        half-way between the centres of cells. At a face of the domain the stress is the dynamic viscosity times the
        derivative of the tangential velocity along the normal, of second order: that of the parabola through the wall
        and two cells. At a body it is ``2 mu S n`` without its normal part; the normal n is that of the body's cells
        within two cells of distance. On planes across an axis the gradients are those on the wall, of second order.
        Elsewhere a body has steps, whose place between the cells nobody knows; there the gradients are those of the
        cell, from fluid cells alone. On a cylinder of 6 to 12 cells of radius that is 13 to 17 % too low, see
        docs/how_to/derived_fields.md; `body_force` and `body_torque` are exact sums. The viscosity is that of the cell
        and includes the eddy viscosity.

        All processes call it together. `gather` and `region`: see `density`; of a face ``region=np.s_[:, 0]`` and the
        like give what lies on it.

        Args:
            where: the name of a body at rest, or of a face that is a `NoSlip` or a `MovingWall`.

        Raises:
            TypeError, ValueError: no such body or face.
        """
        simulation = self._simulation
        faces = [name for name, at in simulation.domain.faces.items() if isinstance(at, NoSlip | MovingWall)]
        bodies = [name for name, body in simulation.domain.bodies.items() if body.motion is None]
        name = checks.choice("where", where, [*faces, *bodies])
        wanted = Region.of(simulation.domain.shape, region)
        gather = checks.flag("gather", gather)
        with simulation.lock:
            part = wanted.part(simulation.subdomain.window)
            box = wanted.cells(part)
            around = self._around(box)
            traction = self._on_face(around, name) if name in faces else self._on_body(around, name)
            traction = np.array(wanted.thinned(traction), order="K")
            traction *= self._viscosity(wanted)
            if not getattr(simulation.collision, "incompressible", False):
                traction *= self._read(self._fields.density_in, wanted)
            self._drop_others(traction, wanted)
        return self._fields.collected(traction, wanted, gather)

    def to_xarray(
        self,
        fields: Sequence[str] | None = None,
        units: Units | None = None,
        gather: bool = False,
        region: Any = None,
    ) -> Any:
        """Fields of now as an `xarray.Dataset`, with the coordinates of the centres of cells and the solid cells.

        Vectors have the dimension ``component``, with the labels x, y and z, strain rates the dimension ``entry``.
        Attributes say step, time and viscosity. All processes call it together.

        Args:
            fields: names of fields that the solver has a method of, such as ``["velocity", "vorticity"]``; density,
                velocity and temperature if None.
            units: in which all but the temperature is given; None for lattice units.
            gather, region: as for `density`; with `gather` there is a dataset on rank 0, and None elsewhere.

        Raises:
            ImportError: xarray is missing: ``pip install 'lbmgpu[xarray]'``.
            TypeError, ValueError: no such fields, or no units.
        """
        names = ("density", "velocity", "eddy_viscosity")
        read: dict[str, Callable[..., Any]] = {name: getattr(self._fields, name) for name in names}
        own = ("pressure", "speed", "vorticity", "velocity_gradient", "strain_rate", "q_criterion", "dissipation")
        read |= {name: getattr(self, name) for name in own} | {"temperature": self._thermal.temperature}
        with self._simulation.lock:
            return to_xarray(self._simulation, self._fields, read, fields, units, gather, region)

    # How

    def _of_gradients(
        self, make: Callable[[Gradients], list[NDArray[Any]]], components: int, gather: bool, region: Any
    ) -> Any:
        wanted = Region.of(self._simulation.domain.shape, region)
        gather = checks.flag("gather", gather)
        with self._simulation.lock:
            found = self._part_of_gradients(make, components, wanted)
        return self._fields.collected(found, wanted, gather)

    def _part_of_gradients(
        self, make: Callable[[Gradients], list[NDArray[Any]]], components: int, wanted: Region
    ) -> NDArray[Any]:
        """A field made of gradients, of this process's part of a region, ``([component,] x, y[, z])``."""
        box = wanted.cells(wanted.part(self._simulation.subdomain.window))
        around = self._around(box)
        out = np.empty((max(1, components), *reversed(box[1])), dtype=around.velocity.dtype)
        out = out.transpose(0, *reversed(range(1, out.ndim)))
        for layers, velocity, kind in around.chunks() if min(box[1]) > 0 else ():
            gradients = [derivative(velocity, kind, axis) for axis in range(len(box[1]))]
            for component, value in enumerate(make(gradients)):
                out[component][..., layers] = value
        found = wanted.thinned(out)
        self._drop_others(found, wanted)
        return found if components else found[0]

    def _around(self, core: Box) -> _Around:
        """The velocities in a box and around it, of whatever process; all processes call this together."""
        simulation = self._simulation
        D, subdomain = len(simulation.domain.shape), simulation.subdomain

        def own(box: Box) -> NDArray[Any]:
            return self._fields.box(self._fields.velocity_in, D, box)

        with simulation.walls_of_now(faces=True):
            velocity = subdomain.brought(simulation.processes, core, MARGIN, own, D)
        offset = tuple(a - MARGIN for a in core[0])
        wide = (offset, velocity.shape[1:])
        kind = np.zeros(wide[1][::-1], dtype=np.uint8).T
        if min(core[1]) == 0:
            return _Around(wide, velocity, kind)
        axes = [np.arange(a, a + n) for a, n in zip(*wide, strict=True)]
        kind[simulation.bodies.solid_at(axes)] = WALL
        for face, condition in simulation.domain.faces.items():
            if not isinstance(condition, Periodic):
                self._put_face(face, axes, velocity, kind)
        return _Around(wide, velocity, kind)

    def _put_face(
        self, face: str, axes: list[NDArray[np.int64]], velocity: NDArray[Any], kind: NDArray[np.uint8]
    ) -> None:
        """Put the places beyond a face around a box."""
        simulation = self._simulation
        axis, shape = values.axis_of(face), simulation.domain.shape
        condition = simulation.domain.faces[face]
        low = face[0] == "-"
        beyond = np.flatnonzero(axes[axis] < 0 if low else axes[axis] >= shape[axis])
        lead: tuple[Any, ...] = (slice(None),) * axis
        for number in beyond:
            kind[(*lead, number)] = UNKNOWN
        place = np.flatnonzero(axes[axis] == (-1 if low else shape[axis]))
        if len(place) == 0:
            return
        at = int(place[0])
        there = (slice(None), *lead, at)
        if isinstance(condition, FreeSlip):
            kind[(*lead, at)] = FLUID
            velocity[there] = velocity[(slice(None), *lead, at + (1 if low else -1))]
            velocity[(axis, *lead, at)] *= velocity.dtype.type(-1)
        elif isinstance(condition, NoSlip | MovingWall) or (
            isinstance(condition, VelocityInlet) and condition.scheme == "bounce-back"
        ):
            kind[(*lead, at)] = WALL
            given = simulation.boundary.face_velocities.get(face)
            if given is None:
                velocity[there] = 0
                return
            others = [d for d in range(len(shape)) if d != axis]
            if given.ndim > 1:
                periodic = simulation.subdomain.periodic
                where = [axes[d] % shape[d] if periodic[d] else np.clip(axes[d], 0, shape[d] - 1) for d in others]
                velocity[there] = given[np.ix_(np.arange(len(shape)), *where)]
            else:
                velocity[there] = given.reshape(-1, *(1 for _ in others))

    def _viscosity(self, wanted: Region) -> Any:
        """The kinematic viscosity of the cells of this process's part of a region, the eddy viscosity included."""
        simulation = self._simulation
        viscosity = simulation.collision.viscosity
        if simulation.model.carries_temperature:
            return self._read(self._fields.of_window(simulation.engine.temperature), wanted) * (
                viscosity / simulation.stencil.cs2
            )
        if simulation.turbulence is None:
            return viscosity
        with simulation.walls_of_now(faces=True):
            return self._read(self._fields.of_window(simulation.engine.eddy_viscosity), wanted) + viscosity

    def _read(self, read: Reader, wanted: Region) -> NDArray[Any]:
        box = wanted.cells(wanted.part(self._simulation.subdomain.window))
        return wanted.thinned(self._fields.box(read, 0, box))

    def _drop_others(self, field: NDArray[Any], wanted: Region) -> None:
        """Make NaN of those cells of this process's part of a region that other processes compute."""
        simulation = self._simulation
        own = [block for block in wanted.blocks(simulation.layout) if block.rank == simulation.rank]
        origin, size = wanted.part(simulation.subdomain.window)
        if simulation.processes.size == 1 or (len(own) == 1 and own[0].size == size):
            return
        other = np.ones(size, dtype=np.bool_)
        for block in own:
            other[tuple(slice(a - b, a - b + n) for a, n, b in zip(block.offset, block.size, origin, strict=True))] = (
                False
            )
        field[..., other] = np.nan

    # At walls

    def _on_face(self, around: _Around, face: str) -> NDArray[Any]:
        """The derivative of the tangential velocity along the normal, on a face, away from it."""
        axis, side = values.axis_of(face), -1 if face[0] == "-" else 1
        inner = around.kind[(slice(MARGIN, -MARGIN),) * around.kind.ndim]
        traction = np.zeros((around.velocity.shape[0], *inner.shape), dtype=around.velocity.dtype)
        number = (0 if side < 0 else self._simulation.domain.shape[axis] - 1) - around.wide[0][axis] - MARGIN
        if min(inner.shape) == 0 or not 0 <= number < inner.shape[axis]:
            return traction
        layer = np.zeros(inner.shape, dtype=np.bool_)
        layer[(slice(None),) * axis + (number,)] = True
        cells: Any = np.nonzero(layer & (inner == FLUID))
        along = at_wall(around.velocity, around.kind, axis, side, cells)
        along *= along.dtype.type(-side)
        along[axis] = 0
        traction[(slice(None), *cells)] = along
        return traction

    def _on_body(self, around: _Around, name: str) -> NDArray[Any]:
        """Twice the strain rate times the normal, without its normal part, beside a body."""
        kind, D = around.kind, around.kind.ndim
        axes = [np.arange(a, a + n) for a, n in zip(*around.wide, strict=True)]
        core: Any = (slice(MARGIN, -MARGIN),) * D
        shape = kind[core].shape
        traction = np.zeros((D, *shape), dtype=around.velocity.dtype)
        if min(shape) == 0:
            return traction
        body = self._simulation.bodies.solid_at(axes, name)
        neighbor = np.zeros(shape, dtype=np.bool_)
        for axis in range(D):
            for side in (-1, 1):
                neighbor |= _moved(body, axis, side)
        cells: Any = np.nonzero(neighbor & (kind[core] == FLUID))
        normal = _normals(body, cells)
        is_plane = np.abs(normal).max(axis=0) > PLANE
        without_body = kind.copy()
        without_body[body] = UNKNOWN
        gradient = np.empty((D, D, len(cells[0])), dtype=traction.dtype)
        for axis in range(D):
            at_steps = derivative(around.velocity, without_body, axis)[(slice(None), *cells)]
            at_plane = derivative(around.velocity, kind, axis)[(slice(None), *cells)]
            gradient[axis] = np.where(is_plane, at_plane, at_steps)
            for side in (-1, 1):
                here = np.flatnonzero(_moved(body, axis, side)[cells] & is_plane)
                gradient[axis][:, here] = at_wall(around.velocity, kind, axis, side, tuple(at[here] for at in cells))
        stress = np.zeros((D, len(cells[0])), dtype=traction.dtype)
        for i in range(D):
            for j in range(D):
                stress[i] += (gradient[j][i] + gradient[i][j]) * normal[j]
        along = np.zeros(len(cells[0]), dtype=traction.dtype)
        for i in range(D):
            along += stress[i] * normal[i]
        for i in range(D):
            stress[i] -= along * normal[i]
        traction[(slice(None), *cells)] = stress
        return traction


def _strain(g: Gradients) -> list[NDArray[Any]]:
    return [g[i][i] if i == j else (g[i][j] + g[j][i]) * g[i].dtype.type(0.5) for i, j in TENSOR[len(g)]]


def _squared_strain(g: Gradients) -> list[NDArray[Any]]:
    """S:S, in which the components off the diagonal are there twice."""
    strain = _strain(g)
    total = strain[0] * strain[0]
    for k in range(1, len(strain)):
        square = strain[k] * strain[k]
        total = total + (square if k < len(g) else square + square)
    return [total]


def _moved(mask: NDArray[np.bool_], axis: int, by: int) -> NDArray[np.bool_]:
    """Of each cell without the margin, that so many cells away."""
    ends = [MARGIN + (by if d == axis else 0) for d in range(mask.ndim)]
    return mask[tuple(slice(a, a + n - 2 * MARGIN) for a, n in zip(ends, mask.shape, strict=True))]


def _normals(body: NDArray[np.bool_], cells: tuple[NDArray[np.intp], ...]) -> NDArray[Any]:
    """Unit vectors out of a body at cells beside it, from which of the cells within the margin are not in it.

    Where those are no side of the body at all, as in a gap of one cell, the vector is 0.
    """
    D = body.ndim
    normal = np.zeros((D, len(cells[0])))
    for shift in np.ndindex((2 * MARGIN + 1,) * D):
        offset = np.array(shift) - MARGIN
        square = int((offset * offset).sum())
        if 0 < square <= MARGIN * MARGIN + 1:
            outside = ~body[tuple(at + k for at, k in zip(cells, shift, strict=True))]
            for d in range(D):
                normal[d] += outside * (offset[d] / square)
    length = np.zeros(len(cells[0]))
    for d in range(D):
        length += normal[d] * normal[d]
    length = np.sqrt(length)
    return np.asarray(np.divide(normal, length, out=np.zeros_like(normal), where=length > 1e-9))
