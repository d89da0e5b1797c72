"""A simulation: the engine with the setup that it was made from. Everything that steps, reads, times or saves uses it.

`Solver` is the users' interface to it. Checkpoints, images, reports, plans and benchmarks take a `Simulation`, so that
none of them needs to know what `Solver` keeps.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core, checks, models, multispeed, values
from ..collisions import Collision
from ..conditions import field_value
from ..domain import Domain
from ..layout import Block, Layout
from ..models import Model
from ..parallel import collective
from ..parallel.fair_lock import FairLock
from ..parallel.subdomain import Box, Subdomain
from ..thermal import HybridThermal
from ..time_functions.product import Varying, takes_time
from ..turbulence import TurbulenceModel, of_collision
from ..values import Floats
from . import argument_warnings, precision_warnings, time_factors
from .body_cells import BodyCells
from .boundary import BoundaryValues
from .divergence import DivergenceLooks
from .foreign_arrays import GpuArray
from .gpu_fields import GpuField, field_of
from .heat_source import evaluate_source
from .settings import Settings
from .time_factors import TimeFactors
from .values_ahead import ValuesAhead


class Simulation:
    """An engine at rest with density 1, made of checked settings; all ranks make it together.

    Attributes:
        settings: that it was made of.
        processes: that it runs on.
        lock: held through all calls of the engine that belong together, and each chunk of steps.
        stencil: of the domain.
        boundary: the values on faces and bodies.
        bodies: the cells of bodies in this process's part.
        factors: by which the engine multiplies what changes in time.
        ahead: what functions of coordinates and t give for the next steps.
        engine: the C++ engine. Fields have their axes reversed there, and temperatures are deviations.
        step_engine: advances the engine by so many steps; what steps several engines together puts itself here.
        looks: that were taken for divergence.
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
        self._force: Floats | Varying | None = None
        self._source: Floats | None = None
        self._only_on_gpus: set[str] = set()  # of force and source, those that the host has no copy of
        self._initial_speed = 0.0
        thermal = settings.thermal
        with collective.left_alike(self.processes.meeting, collective.Place("Solver", {}, self.processes.number)):
            self.stencil = _core.stencil(self.domain.stencil)
            changes = isinstance(force, Varying)
            fixed = force.spatial if changes else force
            force_field = callable(fixed) or (isinstance(fixed, np.ndarray | GpuArray) and fixed.ndim > 1)
            settings.check_memory(force_field=force_field, scaled_force=changes)
            self.bodies = BodyCells(self.domain, self.subdomain, self.processes, settings.devices[0])
            self.processes.is_part = self.subdomain.is_part
            with collective.by_user(self.processes, "the functions of Solver"):
                self.boundary = BoundaryValues(self.domain, thermal, subdomain=self.subdomain, cells=self.bodies)
                force_values = self.evaluate_force(force)
                source = None if thermal is None else evaluate_source(settings, thermal.source)
            self.boundary.complete(self.processes)
            argument_warnings.warn_of_bodies(self.domain, self.bodies, self.boundary, self.processes)
            precision_warnings.check_setup(self)
            self.engine = settings.engine(self.boundary)
            self.step_engine: Callable[[int], None] = self.engine.step
            keeps_moments = settings.state == "moments"
            self.factors = TimeFactors(self.engine, self.boundary, self.processes, takes_last=keeps_moments)
            self.ahead = ValuesAhead(self.engine, self.boundary, self.factors, self.processes)
            self.looks = DivergenceLooks(self)
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
    def turbulence(self) -> TurbulenceModel | None:
        """The turbulence model, however it was given; None without one."""
        return self.settings.turbulence or of_collision(self.settings.collision)

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
    def subdomain(self) -> Subdomain:
        """The part of the domain that this process computes."""
        return self.settings.subdomain

    @property
    def steps_per_update(self) -> int:
        """The most steps that are advanced for each time that memory is read and written."""
        return self.engine.steps_per_update

    @property
    def fluid_cells(self) -> int:
        """The number of cells of the domain that are not solid."""
        return self.bodies.fluid_cells

    def solid_at_now(self, box: Box | None = None) -> NDArray[np.bool_]:
        """The cells of the window, or of a `box` of the domain, that are in a body now, of those that move too."""
        solid = np.array(self.bodies.solid) if box is None else self.solid_at_rest(box)
        axes = self.subdomain.axes(self.subdomain.window if box is None else box)
        for each in self.boundary.moving.bodies.values():
            solid |= each.cells(axes, float(self.steps))
        return solid

    def solid_at_rest(self, box: Box | None = None) -> NDArray[np.bool_]:
        """The cells of a `box`, the domain if None, that are in a body that does not move."""
        box = ((0,) * len(self.domain.shape), self.domain.shape) if box is None else box
        axes, solid = self.subdomain.axes(box), np.zeros(box[1], np.bool_)
        for body in self.domain.bodies.values():
            if body.motion is None:
                solid |= body.within(axes)
        return solid

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
        box = self.subdomain.known if nonequilibrium else self.subdomain.window
        given: dict[str, Any] = {"density": density, "velocity": velocity, "temperature": temperature}
        fields: dict[str, tuple[Floats | GpuField, bool]] = {}
        with collective.by_user(self.processes, "the functions of initialize"):
            for name in [name for name, value in given.items() if value is not None]:
                if name == "temperature" and not self.has_temperature:
                    right = "Solver(thermal=HybridThermal(...)) has one"
                    raise ValueError(f"temperature: given, but the solver has none; {right}")
                components = self.stencil.D if name == "velocity" else None
                reference = self.reference_temperature if name == "temperature" else 0.0
                fields[name] = self._field(name, given[name], components, box, reference)
                self._check_initial(name, fields[name])
        here = {name: self._of_window(field) for name, field in fields.items()}
        if "temperature" in here and self.thermal is not None:
            precision_warnings.check_temperatures(self, here["temperature"])
        self._initial_speed = checks.fastest(here.pop("velocity")) if "velocity" in here else 0.0
        ranges = {name: self.processes.agreed_range(here.pop(name)) for name in list(here)}
        for name in list(fields):
            field, is_lacking = fields.pop(name)
            if isinstance(field, GpuField):
                given[name] = field.array
                continue
            if is_lacking:
                self.subdomain.with_surroundings(self.processes, field)
            if name == "temperature" and self.reference_temperature != 0:
                field = np.asarray(np.subtract(field, self.reference_temperature))
            given[name] = values.to_engine(field, components=name == "velocity")
        with self.lock:
            self._bring_force_to(0)
            self.engine.initialize(given["density"], given["velocity"], nonequilibrium, given["temperature"])
            self.set_steps(0)
        self.looks.begin(**ranges)

    def _field(
        self, name: str, given: Any, components: int | None, box: Box, reference: float = 0.0
    ) -> tuple[Floats | GpuField, bool]:
        """See `Subdomain.field`; of an array of the domain only what lies in the box is looked at.

        An array in a GPU's memory stays there if it can, less the `reference`. A density of several processes cannot,
        as they add its cells up one after the other.
        """
        if isinstance(given, GpuArray):
            is_added_up = name == "density" and self.processes.size > 1
            field = None if is_added_up else field_of(self.settings, given, components, box, reference)
            if field is not None:
                return field, False
            given = given.on_host()
        lead = () if components is None else (components,)
        if isinstance(given, np.ndarray) and given.shape == lead + self.domain.shape != lead + box[1]:
            return checks.real_array(name, self.subdomain.cut(given, box)), False
        return self.subdomain.field(name, field_value(name, given, vector=components is not None), components, box)

    def _of_window(self, field: tuple[Floats | GpuField, bool]) -> Floats:
        """What of a field was given: where it lacks what lies around the window, the window; its extremes where it is
        in a GPU's memory."""
        array, is_lacking = field
        if isinstance(array, GpuField):
            return array.extremes
        return array[(..., *self.subdomain.inside(self.subdomain.window))] if is_lacking else array

    def _check_initial(self, name: str, field: tuple[Floats | GpuField, bool]) -> None:
        """Raise ValueError where a field of an initial state is out of range."""
        given = self._of_window(field)
        if name == "density":
            checks.densities(name, given)
        elif name == "velocity":
            checks.speed(name, given, multispeed.mach_unit(self.stencil))
            if self.thermal is not None:
                self.thermal.check_speed(name, given)
        else:
            checks.temperatures(name, given)
            multispeed.check_temperatures(self.stencil.name, name, given)

    def evaluate_force(self, force: Any, step: int = 0) -> Floats | Varying | GpuField | None:
        """A force as given by the user, as a read-only array, one times a function of time, or one on a GPU.

        Raises:
            TypeError, ValueError: a wrong one, or one that is too large at `step`.
        """
        models.check_force(self.stencil.name, force)
        if force is None:
            return None
        if callable(force) and takes_time(force):
            right = "give a value times a function of time, such as (1e-5, 0) * lbm.Sine(...)"
            raise ValueError(f"force: takes t, but no function is called for it in each step; {right}")
        function = None
        if isinstance(force, Varying):
            force, function = force.spatial, force.function
        if isinstance(force, GpuArray) and self.settings.state == "moments":  # around blocks it is needed too
            force = force.on_host()
        result, _ = self._field("force", force, self.stencil.D, self.subdomain.window)
        if isinstance(result, GpuField):
            time_factors.check_force("force", max(result.highest, -result.lowest))
            return result
        if function is not None:
            in_time = Varying(result, function)
            time_factors.check_force("force", float(np.abs(time_factors.at(in_time, step)).max()))
            return in_time
        time_factors.check_force("force", float(max(result.max(), -result.min())))
        result.flags.writeable = False
        return result

    def set_force(self, force: Floats | Varying | GpuField | None) -> None:
        """Pass an evaluated force to the engine."""
        in_time = force if isinstance(force, Varying) else None
        with self.lock:
            given: Floats | _core.GpuArray | None = None
            if isinstance(force, Varying):
                precision_warnings.check_force(self, time_factors.at(force, self.engine.steps))
            elif isinstance(force, GpuField):
                precision_warnings.check_force(self, force.extremes)
                given = force.array
            elif force is not None:
                precision_warnings.check_force(self, force)
                given = self._force_to_engine(force)
            try:
                self._give_force(in_time, given)
            except (MemoryError, _core.CudaError):  # some blocks may have it, and others not: then none has one
                self._give_force(None, None)
                self._force = None
                self._keep("force", False)
                raise
            self._force = None if isinstance(force, GpuField) else force
            self._keep("force", isinstance(force, GpuField))

    def _give_force(self, in_time: Varying | None, given: Floats | _core.GpuArray | None) -> None:
        """Give the engine a force times a function of time, or else one that is `given`."""
        if in_time is None:
            self.engine.set_force(given)
        if in_time is not None or isinstance(self._force, Varying):
            part = None if in_time is None else self._force_to_engine(np.asarray(in_time.spatial))
            self.factors.set_force(in_time, part)
            self.ahead.forget()

    def _force_to_engine(self, force: Floats) -> Floats:
        """A force of the window as the engine takes it: that of cells that keep moments of the known cells."""
        if force.ndim > 1 and self.settings.state == "moments":
            force = self.subdomain.widened(self.processes, force)
        return values.to_engine(force, components=True)

    def _keep(self, name: str, only_on_gpus: bool) -> None:
        """Note whether the host has no copy of a field that was set."""
        self._only_on_gpus = (self._only_on_gpus | {name}) if only_on_gpus else (self._only_on_gpus - {name})

    def _read(self, read: Callable[[Any], None], components: int | None) -> Floats:
        """A field that the host has no copy of, as the GPUs have it, read-only; nor does the host keep this one."""
        lead = () if components is None else (components,)
        out = np.empty((*lead, *reversed(self.subdomain.window[1])))
        read(out)
        result = out.transpose(*range(len(lead)), *reversed(range(len(lead), out.ndim)))
        result.flags.writeable = False
        return result

    @property
    def given_force(self) -> Floats | Varying | None:
        """The force a volume, ``(D,)`` or ``(D, nx, ny[, nz])`` of this process's window, or such times a function of
        time; None for none."""
        with self.lock:
            if "force" in self._only_on_gpus:
                return self._read(self.engine.force_field, self.stencil.D)
            return self._force

    @property
    def heat_source(self) -> Floats | None:
        """Heat a step, ``()`` or ``(nx, ny[, nz])`` of the window; None for none."""
        with self.lock:
            if "source" in self._only_on_gpus:
                return self._read(self.engine.heat_source_field, None)
            return self._source

    @property
    def force(self) -> Floats | None:
        """The present force a volume, ``(D,)`` or ``(D, nx, ny[, nz])`` of this process's window; None for none."""
        return self.force_at(self.steps)

    def force_at(self, step: int) -> Floats | None:
        """That of a step, with the force as it is given now."""
        given = self.given_force
        return time_factors.at(given, step) if isinstance(given, Varying) else given

    def _bring_force_to(self, step: int) -> None:
        """Give the engine the factor of the force of a step, if that changes in time."""
        if isinstance(self._force, Varying):
            factor = self._force.function
            self.engine.set_force_factor(factor(float(step)), factor(float(max(step - 1, 0))))

    def set_steps(self, steps: int) -> None:
        """Set the number of steps completed, of a state that was made otherwise."""
        self.engine.steps = steps
        self._bring_force_to(steps)
        self.boundary.forget_time()
        self.ahead.forget()

    def set_heat_source(self, source: Floats | GpuField | None) -> None:
        """Pass an evaluated heat source to the engine."""
        with self.lock:
            if isinstance(source, GpuField):
                self.engine.set_heat_source(source.array)
            elif self.thermal is not None:
                self.engine.set_heat_source(None if source is None else values.to_engine(source, components=False))
            self._source = None if isinstance(source, GpuField) else source
            self._keep("source", isinstance(source, GpuField))
            self.looks.source_was_set(source is not None)

    # Time

    def advance(self, steps: int) -> float:
        """Advance without checking the state for divergence; return the seconds that the engine took."""
        with self.lock:
            start = time.perf_counter()
            self.ahead.forget()  # an error may have left some
            left = steps
            while True:
                part = self.prepare_steps(left)
                self.step_engine(part)
                left -= part
                if left == 0:
                    break
            return self.processes.agreed(time.perf_counter() - start)

    def prepare_steps(self, steps: int) -> int:
        """Give the engine what it needs of values that change in time; returns how many of so many steps it can
        make."""
        if self.factors.any:
            steps = self.factors.steps_ahead(steps)
            self.boundary.forget_time()
        if self.boundary.evaluates_ahead and steps > 0:
            return self.ahead.prepare(steps)
        if self.boundary.changing:
            self._bring_walls_to_now()
            steps = min(steps, 1)
        return steps

    def check(self) -> None:
        """Raise `DivergedError` if the state is not one of a flow: see `Solver.check`."""
        self.looks.look()

    def prescribed_speed(self) -> float:
        """The largest speed on faces, on bodies and of the initial state; all ranks call it together."""
        given = [*self.boundary.face_velocities.values(), *self.boundary.body_velocities.values()]
        moving = self.processes.each(lambda: self.boundary.moving.fastest(self.steps, time_factors.STEPS_AHEAD))
        return self.processes.agreed(max([self._initial_speed, moving, *map(checks.fastest, given)]))

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
            self._bring_walls_to_now(faces, by_factor=True)
            self.factors.steps_ahead(1, is_read=True)
            if self.boundary.evaluates_ahead:
                self.factors.give(self.engine.steps, [self.boundary.numbers()])
                self.ahead.forget()
            if self.factors.any or self.boundary.evaluates_ahead:
                self.engine.bring_values_to_now()
            yield

    def _bring_walls_to_now(self, faces: bool = True, by_factor: bool = False) -> None:
        """Give bodies (and `faces`) the values of the present time. What fails on one rank, which alone knows its part
        of a body, is an error on all."""
        steps = self.engine.steps
        with ExitStack() as stack:
            if self.boundary.body_changes:
                stack.enter_context(collective.by_user(self.processes, "the functions of bodies", steps))
            self.boundary.bring_to(self.engine, float(steps), faces=faces, by_factor=by_factor)

    def totals(self) -> tuple[float, list[float], float, float]:
        """Sums over the fluid cells: density, momentum, kinetic energy, and the temperature's deviation."""
        with self.lock:
            return self.engine.totals()
