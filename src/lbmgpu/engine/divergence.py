"""Looks for divergence: the fastest cell and the range of the density, kept, and what they say of the cause."""

from __future__ import annotations

import weakref
from collections import deque
from typing import TYPE_CHECKING

import numpy as np

from ..collisions import CentralMoments
from ..conditions import Outflow, PressureOutlet, VelocityInlet
from ..errors import DivergedError, Look
from ..thermal import speed_limit

if TYPE_CHECKING:
    from .simulation import Simulation

FASTEST = 0.6
"""The largest speed that is taken for one of a flow, cells a step: a Mach number of 1.04."""

DENSITY_FACTORS = (0.5, 1.5)
"""Below and above so many times the least and the largest initial density a flow has diverged."""

LOOKS = 5
"""Looks that an error tells of."""

NEAR_FACE, NEAR_BODY = 4, 2
"""Cells from an open face, and from a body, within which that is a likely cause."""

HIGH_SPEED = 0.3
"""A speed from which the Mach number is a likely cause, cells a step: errors grow as its cube."""

SMALL_RATE = 0.52
"""A relaxation time below which it is a likely cause, steps."""


class DivergenceLooks:
    """The last looks of a simulation, and the bounds within which its state is taken for one of a flow.

    They begin anew with each initial state. The density of a multispeed model has no bound, nor has its speed but 1.
    The simulation owns them, so they do not keep it, and the memory of its engine, alive.
    """

    def __init__(self, simulation: Simulation) -> None:
        self._owner = weakref.ref(simulation)
        self._last: deque[Look] = deque(maxlen=LOOKS)
        self.begin(1.0, 1.0)

    @property
    def _simulation(self) -> Simulation:
        simulation = self._owner()
        assert simulation is not None, "looks are called by their simulation"
        return simulation

    def begin(self, lowest: float, highest: float) -> None:
        """The simulation has a new initial state, with densities from `lowest` to `highest` in all of the domain."""
        self._last.clear()
        self._densities = (lowest, highest)

    def begin_with_present(self) -> None:
        """The present state is the initial one; all ranks call it together."""
        _, _, lowest, highest, _ = self._simulation.engine.extremes()
        self.begin(lowest, highest)

    def look(self) -> None:
        """Look at the state, and raise `DivergedError` if it is not one of a flow; all ranks call it together."""
        simulation = self._simulation
        with simulation.lock:
            speed, fastest, lowest, highest, invalid = simulation.engine.extremes()
            steps = simulation.engine.steps
        found = Look(steps, speed, fastest, lowest, highest)
        cell, reason = (fastest, self._beyond(found)) if invalid is None else (invalid, "state")
        if cell is None or not reason:
            if not self._last or self._last[-1].step != steps:
                self._last.append(found)
            return
        model = simulation.thermal
        limit = None if model is None else speed_limit(model.diffusivity, model.operators, simulation.stencil.D)
        raise DivergedError(
            steps,
            cell,
            speed_limit=limit,
            stable_temperature=simulation.stencil.cs2 if simulation.model.carries_temperature else None,
            looks=(*self._last, found),
            reason=reason,
            collision=self._collision(),
            causes=self._causes(self._last[-1].cell or cell if invalid is not None and self._last else cell),
        )

    def _beyond(self, found: Look) -> str:
        """What of a state is beyond its bounds: ``"speed"``, ``"density"`` or nothing."""
        if self._simulation.model.carries_temperature:
            return ""
        if found.speed > FASTEST:
            return "speed"
        below, above = (f * d for f, d in zip(DENSITY_FACTORS, self._densities, strict=True))
        return "" if below <= found.lowest <= found.highest <= above else "density"

    def _collision(self) -> str:
        collision = self._simulation.collision
        return f"{type(collision).__name__} with a relaxation time of {self._relaxation_time:.4g}"

    @property
    def _relaxation_time(self) -> float:
        return 0.5 + self._simulation.collision.viscosity / self._simulation.stencil.cs2

    def _causes(self, cell: tuple[int, ...]) -> tuple[str, ...]:
        """What the looks, a cell and the collision point to, likeliest first; all ranks call it together.

        The cell is the one that was found, or, where numbers are not finite any more, the fastest one before: those
        spread within some steps, and the first of them in memory says nothing.
        """
        simulation, found = self._simulation, []
        early = self._last[0].speed if self._last else 0.0
        if early > HIGH_SPEED and not simulation.model.carries_temperature:
            found.append(
                f"the Mach number: the speed was {early:.2g} at step {self._last[0].step} already; "
                "give lower speeds, which take more steps"
            )
        for axis, name in enumerate("xyz"[: simulation.stencil.D]):
            for sign, distance in (("-", cell[axis]), ("+", simulation.domain.shape[axis] - 1 - cell[axis])):
                condition = simulation.domain.faces[sign + name]
                if distance < NEAR_FACE and isinstance(condition, VelocityInlet | PressureOutlet | Outflow):
                    found.append(
                        f"the {type(condition).__name__} at {sign}{name}, {distance} cells away; "
                        "take another scheme of it, values that begin and vary smoothly, or more cells before it"
                    )
        if simulation.processes.agreed(float(self._is_near_body(cell))):
            found.append("the body next to it; give it more cells, or begin slowly")
        slow = ""
        if isinstance(simulation.collision, CentralMoments):
            slow = simulation.collision.slow_moments(simulation.stencil)
        if slow:
            found.append(slow)
        if self._relaxation_time < SMALL_RATE:
            found.append(
                "the relaxation time, which is near 1/2; take a larger viscosity, more cells, a stabler collision, "
                "or an eddy viscosity (turbulence=)"
            )
        return tuple(found)

    def _is_near_body(self, cell: tuple[int, ...]) -> bool:
        """Whether this process knows a solid cell next to it."""
        solid = self._simulation.engine.solid  # of what this process knows, with the axes reversed
        begin, size = self._simulation.subdomain.known
        around = []
        for at, first, count in zip(cell, begin, size, strict=True):
            low, high = max(0, at - first - NEAR_BODY), min(count, at - first + NEAR_BODY + 1)
            if high <= low:
                return False
            around.append(slice(low, high))
        return bool(np.any(solid.T[tuple(around)]))
