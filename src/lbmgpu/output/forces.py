"""Histories of the force and the torque on a body or the wall of a face, and of its coefficients."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import checks
from ..engine.simulation import Simulation
from ..solver.field_units import Unit
from ..solver.forces import ForcedPart
from ..solver.solver import Solver, simulation_of
from ..values import Floats
from . import memory_needs
from .history import AXES, History

_LINK_BYTES = 80
"""Of a link of a face, in the engine's lists: one on the host, and for a block on a GPU two more, one of them there."""


class Forces(History):
    """The force and the torque that the fluid exerts on a body or the wall of a face, after each step that is due.

    ``forces["force"]`` is ``(samples, D)`` and ``forces["torque"]`` ``(samples, 3)``, in two dimensions
    ``(samples, 1)``: the numbers of `Solver.body_force` and `Solver.body_torque`, or of `Solver.face_force` and
    `Solver.face_torque`, after those steps, in lattice units. The engine takes them, unless a function of time gives
    the velocity of the face, or of any body of the domain.

    Args:
        body: its name; or that of a face with `NoSlip` or `MovingWall`, such as ``"-y"``, which no body can have.
        every, start: as for `Recorder`.
        about: coordinates ``(D,)`` that the torque is about; the centroid of the body's cells, or the middle of the
            face, if None. The torque of a body at rest that goes on through a periodic face is NaN.
        name: as for `Recorder`; ``"forces_BODY"`` if None.

    Raises:
        TypeError, ValueError: wrong arguments; from `Solver.record` no body of that name, or a face that is no wall.
        TooLittleMemoryError: from `Solver.record`: the links of the face do not fit.
    """

    def __init__(
        self, body: str, every: int = 1, start: int = 0, about: ArrayLike | None = None, name: str | None = None
    ) -> None:
        self.body = checks.label("body", body)
        super().__init__(every, start, f"{type(self).__name__.lower()}_{self.body}" if name is None else name)
        self._about = None if about is None else checks.real_array("about", about)
        self._part: ForcedPart | None = None

    def attach(self, solver: Solver) -> None:
        simulation = simulation_of(solver)
        part = ForcedPart.of(simulation, "body", self.body)
        self._about = part.center("about", self._about)
        if part.is_face:
            _check_memory(simulation, self.name, part.index)
        super().attach(solver)
        self._part = part
        self.sampled_by_engine = not part.changes
        when = (self.every, self.start) if self.sampled_by_engine else (checks.MAX_STEPS, checks.MAX_STEPS)
        self._sampler = part.sampler(self._about, *when)

    def sample(self, solver: Solver) -> None:
        simulation = simulation_of(solver)
        assert self._sampler is not None
        assert self._part is not None
        with simulation.walls_of_now(faces=self._part.is_face):
            self._sampler.sample(solver.steps)

    @property
    def _center(self) -> Floats:
        assert self._about is not None
        return self._about

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return {"force": (self._dimensions,), "torque": (3 if self._dimensions == 3 else 1,)}

    def _signature(self) -> dict[str, NDArray[Any]]:
        return {"about": self._center, "body": np.frombuffer(self.body.encode(), np.uint8)}

    def _dims(self, field: str) -> tuple[str, ...]:
        return ("component",) if field == "force" else ("torque_axis",)

    def _coordinates(self) -> dict[str, tuple[tuple[str, ...], Any]]:
        axes = list(AXES[: self._dimensions])
        return {
            "component": (("component",), axes),
            "torque_axis": (("torque_axis",), axes if self._dimensions == 3 else ["z"]),
        }

    def _reduced(self, rows: Floats) -> Floats:
        """Of the engine's numbers, three of each, those that there are in as many dimensions."""
        return rows if self._dimensions == 3 else rows[:, [0, 1, 5]]


class Coefficients(Forces):
    """The coefficients of the force and the torque on a body or the wall of a face, after each step that is due.

    ``coefficients["drag"]``, ``["lift"]``, in three dimensions ``["side"]``, are ``2 F / (density speed^2 area)`` of
    the force's component along the flow, across it, and across both; ``["moment"]`` is ``2 T / (density speed^2 area
    length)`` of the torque, ``(samples, 1)`` or ``(samples, 3)``. All are ``(samples,)`` but for that. They have no
    units; those of the force itself are ``["force"]`` and ``["torque"]``. Of a face along the flow, with the area of
    its cells, the drag is the mean friction coefficient.

    Args:
        body: its name, or that of a face, as for `Forces`.
        speed: of the undisturbed flow, cells a step.
        area: that the force is divided by, cells squared; in two dimensions a length in cells, such as the diameter.
        length: that the moment is divided by as well, cells; in two dimensions `area` if None, else the square root of
            that.
        density: of the undisturbed flow.
        drag: the axis along the flow.
        lift: the axis of the lift.
        every, start, about, name: as for `Forces`.
    """

    def __init__(
        self,
        body: str,
        *,
        speed: float,
        area: float,
        length: float | None = None,
        density: float = 1.0,
        drag: str = "x",
        lift: str = "y",
        every: int = 1,
        start: int = 0,
        about: ArrayLike | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(body, every, start, about, name)
        self._speed = checks.number("speed", speed, above=0)
        self._area = checks.number("area", area, above=0)
        self._length = None if length is None else checks.number("length", length, above=0)
        self._density = checks.number("density", density, above=0)
        self._drag = AXES.index(checks.choice("drag", drag, AXES))
        self._lift = AXES.index(checks.choice("lift", lift, AXES))
        if self._drag == self._lift:
            raise ValueError(f"lift: {lift!r} given, must be another axis than that of the drag")

    def attach(self, solver: Solver) -> None:
        dimensions = len(solver.domain.shape)
        if max(self._drag, self._lift) >= dimensions:
            raise ValueError("lift: 'z' given for drag or lift, but the domain has two dimensions")
        super().attach(solver)

    @property
    def fields(self) -> tuple[str, ...]:
        side = ("side",) if self._dimensions == 3 else ()
        return ("drag", "lift", *side, "moment", "force", "torque")

    def __getitem__(self, field: str) -> Floats:
        checks.choice("field", field, self.fields)
        if field in ("force", "torque"):
            return super().__getitem__(field)
        pressure = 0.5 * self._density * self._speed**2 * self._area
        if field == "moment":
            default = self._area if self._dimensions == 2 else np.sqrt(self._area)
            return super().__getitem__("torque") / (pressure * (default if self._length is None else self._length))
        axis = {"drag": self._drag, "lift": self._lift, "side": 3 - self._drag - self._lift}[field]
        found: Floats = super().__getitem__("force")[:, axis] / pressure
        return found

    def _dims(self, field: str) -> tuple[str, ...]:
        if field == "moment":
            return ("torque_axis",)
        return super()._dims(field) if field in ("force", "torque") else ()

    def _unit(self, field: str) -> Unit | None:
        return super()._unit(field) if field in ("force", "torque") else None


def _check_memory(simulation: Simulation, name: str, face: int) -> None:
    """Raise TooLittleMemoryError where the links of a face do not fit; all ranks call it together."""
    axis, upper = face // 2, face % 2 == 1
    entering = int(np.count_nonzero(np.asarray(simulation.stencil.c)[:, axis] == 1))
    needs = {"cpu": 0}
    for block in simulation.layout:
        low, size = block.offset[axis], block.size[axis]
        is_at = low + size == simulation.domain.shape[axis] if upper else low == 0
        if block.rank == simulation.processes.rank and is_at:
            links = _LINK_BYTES * entering * (math.prod(block.size) // size)
            needs["cpu"] += links if block.device == "cpu" else 2 * links
            if block.device != "cpu":
                needs[block.device] = needs.get(block.device, 0) + links
    memory_needs.check(simulation, name, needs, "Mean and wall_shear_stress need less")
