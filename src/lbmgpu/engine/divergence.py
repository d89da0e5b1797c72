"""Looks for divergence: the fastest cell and the ranges of density and temperature, kept, and what they say of the
cause."""

from __future__ import annotations

import weakref
from collections import deque
from typing import TYPE_CHECKING

import numpy as np

from ..collisions import CentralMoments
from ..conditions import Outflow, PressureOutlet, VelocityInlet
from ..errors import DivergedError, Look, ThermallyUnstableWarning, warn
from ..thermal import speed_limit
from ..time_functions.product import Varying, takes_time

if TYPE_CHECKING:
    from .simulation import Simulation

FASTEST = 0.6
"""The largest speed that is taken for one of a flow, cells a step: a Mach number of 1.04."""

DENSITY_FACTORS = (0.5, 1.5)
"""Below and above so many times the least and the largest initial density a flow has diverged."""

TEMPERATURE_FACTOR, TEMPERATURE_DRIFT = 1.0, 0.1
"""How far temperatures get from those of the initial state and the walls, in parts of their range and of the largest:
the steps of advection overshoot at fronts, and the temperature drifts with the divergence of the velocity."""

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
    The temperature of the hybrid thermal model is bounded by those of the initial state and the walls, as long as walls
    are steady and no heat source has been set; where they are all the same, it has no bound.
    The simulation owns them, so they do not keep it, and the memory of its engine, alive.
    """

    def __init__(self, simulation: Simulation) -> None:
        self._owner = weakref.ref(simulation)
        self._last: deque[Look] = deque(maxlen=LOOKS)
        self._has_source = False
        self.begin()

    @property
    def _simulation(self) -> Simulation:
        simulation = self._owner()
        assert simulation is not None, "looks are called by their simulation"
        return simulation

    def begin(self, density: tuple[float, float] = (1.0, 1.0), temperature: tuple[float, float] | None = None) -> None:
        """The simulation has a new initial state, with the least and the largest density and temperature in all of the
        domain; None for the reference temperature."""
        self._last.clear()
        self._densities = density
        self._temperatures = temperature or (self._simulation.reference_temperature,) * 2
        self._bounds: tuple[float, float] | None = None  # of the temperature, once they have been asked for
        self._was_heated = self._has_source
        self._has_warned = False

    def begin_with_present(self) -> None:
        """The present state is the initial one; all ranks call it together."""
        _, _, lowest, highest, _, coldest, hottest = self._simulation.engine.extremes()
        reference = self._simulation.reference_temperature
        self.begin((lowest, highest), (coldest + reference, hottest + reference))

    def source_was_set(self, is_there: bool) -> None:
        """The simulation has a heat source or none."""
        self._has_source = is_there
        self._was_heated = self._was_heated or is_there

    def look(self) -> None:
        """Look at the state, and raise `DivergedError` if it is not one of a flow; all ranks call it together."""
        simulation = self._simulation
        with simulation.lock:
            speed, fastest, lowest, highest, invalid, coldest, hottest = simulation.engine.extremes()
            steps = simulation.engine.steps
        model, limit = simulation.thermal, None
        temperatures: tuple[float, ...] = ()
        if model is not None:
            limit = speed_limit(model.diffusivity, model.operators, simulation.stencil.D)
            temperatures = (coldest + model.reference, hottest + model.reference)
        found = Look(steps, speed, fastest, lowest, highest, *temperatures)
        cell, reason = (fastest, self._beyond(found)) if invalid is None else (invalid, "state")
        if cell is None or not reason:
            if not self._last or self._last[-1].step != steps:
                self._last.append(found)
            if limit is not None and speed > limit:
                self._warn_of_speed(found, limit)
            return
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
        """What of a state is beyond its bounds: ``"speed"``, ``"density"``, ``"temperature"`` or nothing."""
        if self._simulation.model.carries_temperature:
            return ""
        if found.speed > FASTEST:
            return "speed"
        below, above = (f * d for f, d in zip(DENSITY_FACTORS, self._densities, strict=True))
        if not below <= found.lowest <= found.highest <= above:
            return "density"
        if found.coldest is None or found.hottest is None or self._was_heated:
            return ""
        if self._bounds is None:
            self._bounds = self._bounds_of_temperature()
        return "temperature" if found.coldest < self._bounds[0] or found.hottest > self._bounds[1] else ""

    def _bounds_of_temperature(self) -> tuple[float, float]:
        """Beyond which a temperature is not one of the flow; all ranks call it together."""
        simulation = self._simulation
        domain, boundary, reference = simulation.domain, simulation.boundary, simulation.reference_temperature
        conditions = [*domain.thermal.values(), *(body.thermal for body in domain.bodies.values())]
        given = [condition.temperature for condition in conditions if hasattr(condition, "temperature")]
        if any(isinstance(value, Varying) or takes_time(value) for value in given):
            return -np.inf, np.inf
        held = [*boundary.face_temperatures.values(), *boundary.link_temperatures.values()]
        for name, value in boundary.body_temperatures.items():  # 0 in cells that are not the body's
            held.append(value[simulation.bodies.mask(name) | (value != 0)] if value.ndim > 0 else value)
        walls = np.concatenate([np.ravel(value) for value in held]) if held else np.empty(0)
        coldest = -simulation.processes.agreed(-min(self._temperatures[0], walls.min(initial=np.inf)))
        hottest = simulation.processes.agreed(max(self._temperatures[1], walls.max(initial=-np.inf)))
        if coldest >= hottest:
            return -np.inf, np.inf
        largest = max(abs(coldest - reference), abs(hottest - reference))
        room = TEMPERATURE_FACTOR * (hottest - coldest) + TEMPERATURE_DRIFT * largest
        return coldest - room, hottest + room

    def _warn_of_speed(self, found: Look, limit: float) -> None:
        """Warn once for an initial state of a flow that is faster than the temperature is stable at."""
        if not self._has_warned and self._simulation.processes.first:
            warn(
                f"the speed of cell {found.cell} is {found.speed:.4g} cells a step after step {found.step}, above the "
                f"{limit:.4g} up to which the steps of the temperature are stable: it may grow without bound; take "
                "lower speeds, a larger diffusivity or more viscosity",
                ThermallyUnstableWarning,
            )
        self._has_warned = True

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
