"""The fields of a solver as NumPy arrays and as arrays of its GPU, their sums, and the forces on bodies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core, checks
from ..engine.simulation import Simulation
from ..values import Floats


class Fields:
    """The part of `Solver` that reads the state of now."""

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation

    def density(self, gather: bool = False) -> Any:
        """Density, ``(nx, ny[, nz])``, in the dtype of `precision`; 1 in solid cells.

        Args:
            gather: of several processes: the whole domain on rank 0 and None elsewhere, in place of each one's `window`
                of it. Cells of a window that belong to other processes are NaN.
        """
        return self.read(self._simulation.engine.density, 0, gather)

    def velocity(self, gather: bool = False) -> Any:
        """Velocity in cells a step, ``(D, nx, ny[, nz])``; solid cells have that of their wall.

        With a force it is that of Guo, Zheng & Shi, Phys. Rev. E 65 (2002) 046308, eq. 19: half of the step's
        momentum input included. The buoyancy in it is that of the temperature of now, one step newer than what the last
        collision had, which differs at second order in time and not at all in a steady state. In D2Q37 half of gravity
        is taken off in the same way (Sbragaglia et al., J. Fluid Mech. 628 (2009) 299). `gather`: see `density`.
        """
        with self._simulation.walls_of_now():
            return self.read(self._simulation.engine.velocity, len(self._simulation.domain.shape), gather)

    def eddy_viscosity(self, gather: bool = False) -> Any:
        """Eddy viscosity of the turbulence model, ``(nx, ny[, nz])``, in lattice units; 0 in solid cells.

        It is the one with which the next step relaxes: that of the velocity of now for `WALE` and `Vreman`, or what
        they have kept for `every` steps, and that of the stress that has just streamed in, before sponges damp
        it, for `Smagorinsky`. All processes call it together. `gather`: see `density`.

        Raises:
            ValueError: the solver has no turbulence model.
        """
        if self._simulation.turbulence is None:
            raise ValueError("turbulence: this solver has no eddy viscosity; Solver(turbulence=WALE(...)) has one")
        with self._simulation.walls_of_now(faces=True):
            return self.read(self._simulation.engine.eddy_viscosity, 0, gather)

    def populations(self, gather: bool = False) -> Any:
        """Populations after the collision, ``(Q, nx, ny[, nz])``, in the order of the stencil's velocities.

        `gather`: see `density`.
        """
        return self.read(self._simulation.engine.populations, self._simulation.stencil.Q, gather)

    def read(self, read: Callable[[NDArray[Any]], None], components: int, gather: bool) -> Any:
        """A field in the user's order of axes, of this process's window or gathered."""
        gather = checks.flag("gather", gather)
        shape = self._simulation.engine.window[1][::-1]
        out = np.empty((*([components] if components else []), *shape), dtype=self._simulation.precision)
        if self._simulation.processes.size > 1:
            out.fill(np.nan)
        with self._simulation.lock:
            read(out)
        whole = (
            self._simulation.processes.gathered(self._simulation.layout, out, self._simulation.engine.window)
            if gather
            else out
        )
        if whole is None or components == 0:
            return None if whole is None else whole.T
        return whole.transpose(0, *reversed(range(1, whole.ndim)))

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
        origin = [0.0] * len(self._simulation.domain.shape)
        index = self._body_index(name)
        with self._simulation.walls_of_now():
            return np.array(self._simulation.engine.body_force(index, origin)[0])

    def body_torque(self, name: str, center: ArrayLike | None = None) -> Floats:
        """Torque that the fluid exerts on the body `name` about `center`.

        Args:
            name: of the body.
            center: coordinates ``(D,)``; the centroid of the body's cells if None.

        Returns:
            ``(3,)``, or ``(1,)`` in two dimensions, where it is about the z axis.

        Raises:
            TypeError, ValueError: no body of that name, or a center that is not D finite numbers.
        """
        index = self._body_index(name)
        dimensions = len(self._simulation.domain.shape)
        if center is None:
            about = self._simulation.bodies.centroid(name)
        else:
            about = checks.real_array("center", center)
            if about.shape != (dimensions,):
                raise ValueError(f"center: shape {about.shape} given, must be ({dimensions},)")
        with self._simulation.walls_of_now():
            return np.array(self._simulation.engine.body_force(index, about.tolist())[1])

    def _body_index(self, name: str) -> int:
        names = list(self._simulation.domain.bodies)
        if not names:
            raise ValueError(f"name: {checks.shown(name)} given, but the domain has no bodies; add_body makes one")
        return names.index(checks.choice("name", name, names))
