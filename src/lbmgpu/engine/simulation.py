"""A simulation: the engine with the setup that it was made from. Everything that steps, reads, times or saves uses it.

`Solver` is the users' interface to it. Checkpoints, images, reports, plans and benchmarks take a `Simulation`, so that
none of them needs to know what `Solver` keeps.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import numpy as np

from .. import _core, checks, models, multispeed, values
from ..collisions import Collision
from ..conditions import Value, field_value
from ..domain import Domain
from ..errors import DivergedError
from ..layout import Block, Layout
from ..models import Model
from ..parallel import collective
from ..parallel.fair_lock import FairLock
from ..thermal import HybridThermal, source_value, speed_limit
from ..values import Floats
from . import precision_warnings
from .boundary import BoundaryValues
from .settings import Settings

MAX_FORCE = 1.0
"""The largest force: one that changes the velocity by one cell a step within one step."""


class Simulation:
    """An engine at rest with density 1, made of checked settings; all ranks make it together.

    Attributes:
        settings: that it was made of.
        processes: that it runs on.
        lock: held through all calls of the engine that belong together, and each chunk of steps.
        stencil: of the domain.
        boundary: the values on faces and bodies.
        solid: bool array ``(nx, ny[, nz])``, True in bodies.
        fluid_cells: number of cells that are not solid.
        engine: the C++ engine. Fields have their axes reversed there, and temperatures are deviations.
        step_engine: advances the engine by so many steps; what steps several engines together puts itself here.
        force: a volume, ``(D,)`` or ``(D, nx, ny[, nz])``; None for none.
        heat_source: heat a step, ``()`` or ``(nx, ny[, nz])``; None for none.
        channel_width: see `precision_warnings.channel_width`.

    Args:
        settings: from `check_settings`.
        force: as for `Solver`, not checked yet.

    Raises:
        TypeError, ValueError: a value that does not suit, or a memory need that does not fit the machine.
    """

    def __init__(self, settings: Settings, force: Any = None) -> None:
        self.settings = settings
        self.processes = settings.processes
        self.lock = FairLock()
        self.force: Floats | None = None
        self.heat_source: Floats | None = None
        thermal = settings.thermal
        with collective.left_alike(self.processes.meeting, collective.Place("Solver", {}, self.processes.number)):
            self.stencil = _core.stencil(self.domain.stencil)
            force_field = callable(force) or (isinstance(force, np.ndarray) and force.ndim > 1)
            settings.check_memory(force_field=force_field)
            with collective.by_user(self.processes, "the functions of Solver"):
                self.boundary = BoundaryValues(self.domain, thermal)
                force_values = self.evaluate_force(force)
                source = None if thermal is None else self.evaluate_source(thermal.source)
            self.solid = np.asarray(self.domain.solid)
            self.fluid_cells = self.domain.cells - int(np.count_nonzero(self.solid))
            precision_warnings.check_setup(self)
            self.engine = settings.engine(self.boundary)
            self.step_engine: Callable[[int], None] = self.engine.step
            self.set_force(force_values)
            self.set_heat_source(source)

    # The setup

    @property
    def domain(self) -> Domain:
        """A copy of the user's, which does not change."""
        return self.settings.domain

    @property
    def collision(self) -> Collision:
        """With all its parameters."""
        return self.settings.collision

    @property
    def thermal(self) -> HybridThermal | None:
        """The hybrid thermal model; None without one."""
        return self.settings.thermal

    @property
    def precision(self) -> str:
        """Type of the arithmetic and of the fields."""
        return self.settings.precision

    @property
    def storage(self) -> str:
        """Type that populations are kept in."""
        return self.settings.storage

    @property
    def streaming(self) -> str:
        """How the state is kept between steps."""
        return self.settings.streaming

    @property
    def device(self) -> str:
        """The names of the devices, separated by commas."""
        return ", ".join(self.settings.devices)

    @property
    def rank(self) -> int:
        """Of this process."""
        return self.processes.rank

    @property
    def layout(self) -> Layout:
        """The blocks that the domain is cut into."""
        if self.settings.layout is not None:  # which may name hosts
            return self.settings.layout
        return Layout(Block(tuple(b["offset"]), tuple(b["size"]), b["rank"], b["device"]) for b in self.engine.layout)

    @property
    def steps(self) -> int:
        """Steps completed since the state was initialised."""
        with self.lock:
            return self.engine.steps

    @property
    def model(self) -> Model:
        """The facts of the model that updates the cells."""
        return models.of(self.domain.stencil, thermal=self.thermal is not None)

    @property
    def has_temperature(self) -> bool:
        """Whether there is a temperature: of the hybrid thermal model, or as a moment of the populations."""
        return self.model.has_temperature

    @property
    def reference_temperature(self) -> float:
        """The temperature from which the engine's temperatures are deviations."""
        return 0.0 if self.thermal is None else self.thermal.reference

    @cached_property
    def channel_width(self) -> float:
        """See `precision_warnings.channel_width`."""
        return precision_warnings.channel_width(self)

    # State

    def initialize(self, density: Any, velocity: Any, nonequilibrium: bool, temperature: Any) -> None:
        """See `Solver.initialize`."""
        nonequilibrium = checks.flag("nonequilibrium", nonequilibrium)
        if nonequilibrium and not self.model.nonequilibrium:
            name = self.stencil.name
            raise ValueError(f"nonequilibrium: True given with {name}, must be False: it has equilibrium only")
        shape, cells = self.domain.shape, values.cell_centres(self.domain.shape)
        rho = u = None
        with collective.by_user(self.processes, "the functions of initialize"):
            if density is not None:
                rho = values.evaluate("density", field_value("density", density, vector=False), shape, cells, None)
                checks.densities("density", rho)
                rho = values.to_engine(np.broadcast_to(rho, shape), components=False)
            if velocity is not None:
                given, dimensions = field_value("velocity", velocity, vector=True), len(shape)
                u = values.evaluate("velocity", given, shape, cells, dimensions)
                checks.speed("velocity", u, multispeed.mach_unit(self.stencil))
                if self.thermal is not None:
                    self.thermal.check_speed("velocity", u)
                if u.ndim == 1:
                    u = np.broadcast_to(u.reshape(-1, *[1] * dimensions), (dimensions, *shape))
                u = values.to_engine(u, components=True)
            heat = None if temperature is None else self._initial_temperature(temperature)
        with self.lock:
            self.engine.initialize(rho, u, nonequilibrium, heat)
            self.engine.steps = 0

    def _initial_temperature(self, temperature: Any) -> Any:
        if not self.has_temperature:
            raise ValueError("temperature: given, but the solver has none; Solver(thermal=HybridThermal(...)) has one")
        shape, value = self.domain.shape, field_value("temperature", temperature, vector=False)
        field = values.evaluate("temperature", value, shape, values.cell_centres(shape), None)
        checks.temperatures("temperature", field)
        multispeed.check_temperatures(self.stencil.name, "temperature", field)
        if self.thermal is not None:
            precision_warnings.check_temperatures(self, field)
        above = np.subtract(field, self.reference_temperature)
        return values.to_engine(np.broadcast_to(above, shape), components=False)

    def evaluate_force(self, force: Any) -> Floats | None:
        """A force as given by the user, as a read-only array; TypeError or ValueError for a wrong one."""
        models.check_force(self.stencil.name, force)
        if force is None:
            return None
        value: Value = field_value("force", force, vector=True)
        if values.takes_time(value):
            raise ValueError("force: takes t, but a force does not change by itself; assign solver.force between steps")
        shape = self.domain.shape
        result = values.evaluate("force", value, shape, values.cell_centres(shape), len(shape))
        largest = float(np.abs(result).max())
        if largest > MAX_FORCE:
            raise ValueError(f"force: {largest:g} given, must be at most {MAX_FORCE:g} in magnitude, in lattice units")
        result.flags.writeable = False
        return result

    def set_force(self, force: Floats | None) -> None:
        """Pass an evaluated force to the engine."""
        if force is not None:
            precision_warnings.check_force(self, force)
        given = None if force is None else values.to_engine(force, components=True)
        with self.lock:
            self.engine.set_force(given)
            self.force = force

    def evaluate_source(self, source: Any) -> Floats | None:
        """A heat source as given by the user, as a read-only array; TypeError or ValueError for a wrong one."""
        if source is None:
            return None
        shape = self.domain.shape
        result = values.evaluate("source", source_value(source), shape, values.cell_centres(shape), None).copy()
        checks.temperatures("source", result)
        result.flags.writeable = False
        return result

    def set_heat_source(self, source: Floats | None) -> None:
        """Pass an evaluated heat source to the engine."""
        with self.lock:
            if self.thermal is not None:
                self.engine.set_heat_source(None if source is None else values.to_engine(source, components=False))
            self.heat_source = source

    # Time

    def advance(self, steps: int) -> float:
        """Advance without checking the state for divergence; return the seconds that the engine took."""
        with self.lock:
            start = time.perf_counter()
            if self.boundary.changing:
                for _ in range(steps):
                    self.boundary.bring_to(self.engine, float(self.engine.steps))
                    self.step_engine(1)
            else:
                self.step_engine(steps)
            return self.processes.agreed(time.perf_counter() - start)

    def check(self) -> None:
        """Raise `DivergedError` if the state holds a value that is not finite or a speed above 1."""
        with self.lock:
            cell, steps = self.engine.find_diverged(), self.engine.steps
        if cell is not None:
            model = self.thermal
            limit = None if model is None else speed_limit(model.diffusivity, model.operators, self.stencil.D)
            stable = self.stencil.cs2 if self.model.carries_temperature else None
            raise DivergedError(steps, cell, speed_limit=limit, stable_temperature=stable)

    def change(self, of: str) -> float:
        """The change since the last call, as `Steady` has it, of the ``"velocity"`` or the ``"temperature"``."""
        with self.lock:
            return self.engine.temperature_change() if of == "temperature" else self.engine.velocity_change()

    @property
    def phase_seconds(self) -> dict[str, float]:
        """Seconds in each phase of all steps."""
        return self.engine.phase_seconds

    @contextmanager
    def walls_of_now(self, faces: bool = False) -> Iterator[None]:
        """Within it, bodies (and `faces`) have the values of the present time, and no step is made."""
        with self.lock:
            self.boundary.bring_to(self.engine, float(self.engine.steps), faces=faces)
            yield

    def totals(self) -> tuple[float, list[float], float, float]:
        """Sums over the fluid cells: density, momentum, kinetic energy, and the temperature's deviation."""
        with self.lock:
            return self.engine.totals()
