"""The fields of a solver as NumPy arrays and as arrays of its GPU, their sums, and the forces on bodies and faces."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core, checks
from ..engine.simulation import Simulation
from ..parallel.subdomain import Box
from ..values import Floats
from .forces import ForcedPart
from .region import Region

Reader = Callable[[NDArray[Any], Box], None]
"""Fills an array, with its axes reversed, of a box of this process's window, but for cells of other processes."""


class Fields:
    """The part of `Solver` that reads the state of now."""

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation

    def density(self, gather: bool = False, region: Any = None) -> Any:
        """Density, ``(nx, ny[, nz])``, in the dtype of `precision`; 1 in solid cells.

        Args:
            gather: of several processes: the whole domain on rank 0 and None elsewhere, in place of each one's
                `subdomain` of it. Cells of a subdomain that belong to other processes are NaN.
            region: cells of the domain that are wanted, a slice or an integer for each axis as ``np.s_[:, ::2, 24]``
                makes them; an integer takes its axis away. Of several processes each has what lies in its `subdomain`,
                an empty array where that is nothing, or rank 0 has all of it with `gather`. None for the whole domain.

        Raises:
            TypeError, ValueError: `gather` is no bool, or the region not of the domain.
        """
        return self.read(self.density_in, 0, gather, region)

    def velocity(self, gather: bool = False, region: Any = None) -> Any:
        """Velocity in cells a step, ``(D, nx, ny[, nz])``; solid cells have that of their wall.

        With a force it is that of Guo, Zheng & Shi, Phys. Rev. E 65 (2002) 046308, eq. 19: half of the step's
        momentum input included. The buoyancy in it is that of the temperature of now, one step newer than what the last
        collision had, which differs at second order in time and not at all in a steady state. In D2Q37 half of gravity
        is taken off in the same way (Sbragaglia et al., J. Fluid Mech. 628 (2009) 299). `gather` and `region`: see
        `density`.
        """
        with self._simulation.walls_of_now():
            return self.read(self.velocity_in, len(self._simulation.domain.shape), gather, region)

    def eddy_viscosity(self, gather: bool = False, region: Any = None) -> Any:
        """Eddy viscosity of the turbulence model, ``(nx, ny[, nz])``, in lattice units; 0 in solid cells.

        It is the one with which the next step relaxes: that of the velocity of now for `WALE` and `Vreman`, or what
        they have kept for `every` steps, and that of the stress that has just streamed in, before sponges damp
        it, for `Smagorinsky`. All processes call it together. `gather` and `region`: see `density`.

        Raises:
            ValueError: the solver has no turbulence model.
        """
        if self._simulation.turbulence is None:
            raise ValueError("turbulence: this solver has no eddy viscosity; Solver(turbulence=WALE(...)) has one")
        with self._simulation.walls_of_now(faces=True):
            return self.read(self.of_window(self._simulation.engine.eddy_viscosity), 0, gather, region)

    def populations(self, gather: bool = False, region: Any = None) -> Any:
        """Populations after the collision, ``(Q, nx, ny[, nz])``, in the order of the stencil's velocities.

        `gather` and `region`: see `density`.
        """
        read = self.of_window(self._simulation.engine.populations)
        return self.read(read, self._simulation.stencil.Q, gather, region)

    def read(self, read: Reader, components: int, gather: bool, region: Any) -> Any:
        """A field in the user's order of axes, of this process's part of a region or gathered.

        Args:
            read: fills an array of a box of this process's window.
            components: their number; 0 for a field without.
            gather, region: see `density`.
        """
        wanted = Region.of(self._simulation.domain.shape, region)
        part = wanted.part(self._simulation.subdomain.window)
        return self.collected(wanted.thinned(self.box(read, components, wanted.cells(part))), wanted, gather)

    def box(self, read: Reader, components: int, box: Box) -> NDArray[Any]:
        """A field ``([component,] x, y[, z])`` of a box of this process's window; NaN in cells of other processes."""
        lead = (components,) if components else ()
        out = np.empty((*lead, *box[1][::-1]), dtype=self._simulation.precision)
        if self._simulation.processes.size > 1:
            out.fill(np.nan)
        with self._simulation.lock:
            read(out, box)
        return out.transpose(*range(len(lead)), *reversed(range(len(lead), out.ndim)))

    def density_in(self, out: NDArray[Any], box: Box) -> None:
        """A `Reader` of the density."""
        if out.size > 0:
            self._simulation.engine.density_in(out, *box)

    def velocity_in(self, out: NDArray[Any], box: Box) -> None:
        """A `Reader` of the velocity, which needs the walls of now."""
        if out.size > 0:
            self._simulation.engine.velocity_in(out, *box)

    def of_window(self, read: Callable[[NDArray[Any]], None]) -> Reader:
        """A `Reader` of what fills an array of the whole window only."""
        window = self._simulation.subdomain.window

        def fill(out: NDArray[Any], box: Box) -> None:
            if box == window:
                read(out)
                return
            lead = out.shape[: out.ndim - len(box[0])]
            whole = np.full((*lead, *window[1][::-1]), np.nan, dtype=out.dtype)
            read(whole)
            where = [slice(a - b, a - b + n) for a, b, n in zip(box[0], window[0], box[1], strict=True)]
            out[...] = whole[(..., *reversed(where))]

        return fill

    def collected(self, array: NDArray[Any], region: Region, gather: bool) -> Any:
        """The field of a region, this process's part of which is an array ``(..., x, y[, z])``; gathered or not."""
        lead = array.ndim - len(region.count)
        if checks.flag("gather", gather):
            order = (*range(lead), *reversed(range(lead, array.ndim)))
            part = region.part(self._simulation.subdomain.window)
            blocks = region.blocks(self._simulation.layout)
            whole = self._simulation.processes.gathered(blocks, array.transpose(order), part)
            if whole is None:
                return None
            array = whole.transpose(order)
        return region.field(array)

    def device_array(self, field: str) -> _core.DeviceArray:
        """A field of now in the memory of the solver's GPU, for CuPy, PyTorch, JAX and others there.

        It never crosses the bus: give it to ``cupy.asarray``, ``torch.from_dlpack`` or ``jax.dlpack.from_dlpack``. It
        is a field of its own, which later steps do not change.

        Args:
            field: ``"density"``, ``"velocity"``, ``"populations"`` or ``"temperature"``, with the shape and the dtype
                of the method of that name. The temperature is 0 in all solid cells.

        Returns:
            An object with ``__cuda_array_interface__``, ``__dlpack__`` and `shape`.

        Raises:
            TypeError, ValueError: no such field, or a solver on the CPU.
        """
        names = ("density", "velocity", "populations", "temperature")
        number = names.index(checks.choice("field", field, names if self._simulation.has_temperature else names[:3]))
        if self._simulation.device == "cpu":
            raise ValueError(f"field: {field!r} of a solver on the CPU is in NumPy's memory: use solver.{field}()")
        with self._simulation.walls_of_now():
            return _core.device_field(self._simulation.engine, number, self._simulation.reference_temperature)

    def mass(self) -> float:
        """Sum of the density over the fluid cells."""
        return self._simulation.totals()[0]

    def momentum(self) -> Floats:
        """Sum of density times velocity over the fluid cells, ``(D,)``."""
        return np.array(self._simulation.totals()[1])

    def kinetic_energy(self) -> float:
        """Sum of half the density times the velocity squared over the fluid cells."""
        return self._simulation.totals()[2]

    def body_force(self, name: str) -> Floats:
        """Force that the fluid exerts on the body `name`, ``(D,)``, in lattice units.

        By momentum exchange over the links between fluid and solid cells (Ladd, J. Fluid Mech. 271 (1994) 285); the
        pressure is relative to density 1.

        Raises:
            ValueError: no body of that name.
        """
        return self._force(ForcedPart.body(self._simulation, "name", name))

    def body_torque(self, name: str, center: ArrayLike | None = None) -> Floats:
        """Torque that the fluid exerts on the body `name` about `center`.

        Args:
            name: of the body.
            center: coordinates ``(D,)``; the centroid of the body's cells if None.

        Returns:
            ``(3,)``, or ``(1,)`` in two dimensions, where it is about the z axis.

        Raises:
            TypeError, ValueError: no body of that name, a center that is not D finite numbers, or a geometry at rest
                that goes on through a periodic face, whose links act apart from each other.
        """
        return ForcedPart.body(self._simulation, "name", name).torque("center", center)

    def face_force(self, face: str) -> Floats:
        """Force that the fluid exerts on the wall of a face, ``(D,)``, in lattice units.

        As `body_force`, over the links that the wall governs: what crosses an edge of two walls belongs to one of them,
        to `NoSlip` before `MovingWall`, and to the face of the lower axis of two that are alike. Divided by the face's
        cells it is the mean friction and, along the normal, the mean pressure relative to density 1.

        Args:
            face: its name, ``"-x"`` to ``"+z"``, which no body has.

        Raises:
            TypeError, ValueError: no face of that name, or one without `NoSlip` or `MovingWall`; any face in D2Q37.
        """
        return self._force(ForcedPart.face(self._simulation, "face", face))

    def face_torque(self, face: str, center: ArrayLike | None = None) -> Floats:
        """Torque that the fluid exerts on the wall of a face about `center`.

        Links act where they cross the face, or an edge of it.

        Args:
            face: as for `face_force`.
            center: coordinates ``(D,)``; the middle of the face if None.

        Returns:
            ``(3,)``, or ``(1,)`` in two dimensions, where it is about the z axis.

        Raises:
            TypeError, ValueError: as `face_force`, or a center that is not D finite numbers.
        """
        return ForcedPart.face(self._simulation, "face", face).torque("center", center)

    def _force(self, part: ForcedPart) -> Floats:
        return part.read(np.zeros(len(self._simulation.domain.shape)))[0]
