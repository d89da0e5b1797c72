"""The values of a domain's conditions: evaluates them and passes them to the engine, in each step if they vary."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from .. import _core, checks, multispeed, values
from ..conditions import Value
from ..domain import Domain
from ..parallel.processes import Processes
from ..parallel.subdomain import Subdomain
from ..thermal import HybridThermal
from ..values import Floats
from .body_cells import BodyCells


class BoundaryValues:
    """Values on the faces and bodies of `domain`, by name: arrays in the user's axis order.

    Those of bodies cover the cells that the process knows, `Subdomain.known`. `cells` are those of the bodies; without
    them and a `subdomain` all is of the whole domain, in one process.

    Evaluates all of them at `time` when made, so that what is wrong with them shows before an engine exists. With a
    `thermal` model, velocities are held below its limit too, and the engine gets the temperatures' deviations from its
    reference.
    """

    def __init__(
        self,
        domain: Domain,
        thermal: HybridThermal | None = None,
        time: float = 0.0,
        subdomain: Subdomain | None = None,
        cells: BodyCells | None = None,
    ) -> None:
        self._domain = domain
        self._subdomain = Subdomain.of(domain, None) if subdomain is None else subdomain
        self._cells = BodyCells(domain, self._subdomain, Processes()) if cells is None else cells
        self._thermal = thermal
        self._cs2 = _core.stencil(domain.stencil).cs2
        self.face_velocities: dict[str, Floats] = {}
        self.face_numbers: dict[str, Floats] = {}
        self.body_velocities: dict[str, Floats] = {}
        self.face_temperatures: dict[str, Floats] = {}
        self.body_temperatures: dict[str, Floats] = {}
        self._specs: list[tuple[dict[str, Floats], str, Value]] = []
        for face, condition in domain.faces.items():
            if hasattr(condition, "velocity"):
                self._specs.append((self.face_velocities, face, condition.velocity))
            if condition.number:
                self._specs.append((self.face_numbers, face, getattr(condition, condition.number)))
        for name, body in domain.bodies.items():
            if hasattr(body.condition, "velocity"):
                self._specs.append((self.body_velocities, name, body.condition.velocity))
            if hasattr(body.thermal, "temperature"):
                self._specs.append((self.body_temperatures, name, body.thermal.temperature))
        for face, condition in domain.thermal.items():
            if hasattr(condition, "temperature"):
                self._specs.append((self.face_temperatures, face, condition.temperature))
        self._evaluate(self._specs, time)
        changing = [spec for spec in self._specs if values.takes_time(spec[2])]
        self._changing = {
            "faces": [spec for spec in changing if not self._of_body(spec[0])],
            "bodies": [spec for spec in changing if self._of_body(spec[0])],
        }
        self._time = dict.fromkeys(self._changing, time)

    @property
    def changing(self) -> bool:
        """Whether any value changes in time."""
        return any(self._changing.values())

    @property
    def body_changes(self) -> bool:
        """Whether a value on a body changes in time, of which each process evaluates its part."""
        return bool(self._changing["bodies"])

    def _of_body(self, target: dict[str, Floats]) -> bool:
        return target is self.body_velocities or target is self.body_temperatures

    def _evaluate(self, specs: list[tuple[dict[str, Floats], str, Value]], time: float) -> None:
        shape = self._domain.shape
        for target, name, value in specs:
            when = f" at t = {time:g}" if values.takes_time(value) else ""
            if target is self.face_velocities:
                label = f"velocity of faces[{name!r}]{when}"
                target[name] = values.face_velocity(label, value, shape, name, self._cs2, time)
                self._check_speed(label, target[name])
            elif target is self.face_numbers:
                condition = self._domain.faces[name]
                label = f"{condition.number} of faces[{name!r}]{when}"
                target[name] = values.face_number(label, value, shape, name, time, condition.check_number)
            elif target is self.face_temperatures:
                label = f"temperature of thermal[{name!r}]{when}"
                target[name] = values.face_number(label, value, shape, name, time, checks.temperatures)
                multispeed.check_temperatures(self._domain.stencil, label, target[name])
            elif target is self.body_temperatures:
                label = f"temperature of body {name!r}{when}"
                target[name] = values.body_temperature(label, *self._on_body(label, name, value, None), time)
            else:
                label = f"velocity of body {name!r}{when}"
                given = self._on_body(label, name, value, len(shape))
                target[name] = values.body_velocity(label, *given, self._cs2, time)
                self._check_speed(label, target[name])

    def _on_body(
        self, label: str, name: str, value: Value, components: int | None
    ) -> tuple[Value, NDArray[np.bool_], tuple[Floats, ...]]:
        """The value of a body, its mask, and the coordinates of cell centres, all of the known cells."""
        known, body = self._subdomain.known, self._domain.bodies[name]
        mask = self._cells.mask(name)
        if not callable(value):
            offset, shape = body.given
            given = values.evaluate(label, value, shape, (), components)
            lead = 0 if components is None else 1
            if given.ndim > lead and shape == self._domain.shape:
                value = self._subdomain.cut(given, known)
            elif given.ndim > lead:  # of a part, in which the body's cells of this process lie
                axes = self._subdomain.axes(known)
                inside = [
                    np.flatnonzero((axis >= a) & (axis < a + n)) for axis, a, n in zip(axes, offset, shape, strict=True)
                ]
                value = np.zeros((*given.shape[:lead], *known[1]))
                here = [axis[at] - a for axis, at, a in zip(axes, inside, offset, strict=True)]
                for which in np.ndindex(given.shape[:lead]):
                    value[which][np.ix_(*inside)] = given[which][np.ix_(*here)]
        return value, mask, self._subdomain.centres(known)

    def complete(self, processes: Processes) -> None:
        """Add what other processes were given of the cells next to this one's; all of them call it together."""
        for target, name, value in self._specs:
            if self._of_body(target) and self._domain.bodies[name].is_part and not callable(value):
                lead = 1 if target is self.body_velocities else 0
                if processes.size > 1 and target[name].ndim > lead:
                    self._subdomain.with_surroundings(processes, target[name])

    def _check_speed(self, label: str, velocity: Floats) -> None:
        if self._thermal is not None and velocity.size > 0:
            self._thermal.check_speed(label, velocity)

    def apply(self, engine: _core.Engine) -> None:
        """Pass the values on the faces to a new engine and add the bodies and sponges to it."""
        for body in self._domain.bodies.values():
            velocity = self.body_velocities.get(body.name)
            temperature = self.body_temperatures.get(body.name)
            engine.add_body(
                values.to_engine(self._cells.mask(body.name), components=False),
                None if velocity is None else values.to_engine(velocity, components=True),
                None if temperature is None else self._above_reference(temperature),
            )
        self._hand_over(engine, self._specs, bodies=False)
        for sponge in self._domain.sponges:
            target = sponge.velocity or (0.0,) * len(self._domain.shape)
            face = list(self._domain.faces).index(sponge.face)
            engine.add_sponge(face, sponge.thickness, sponge.strength, sponge.pull, sponge.density, list(target))

    def bring_to(self, engine: _core.Engine, time: float, *, faces: bool = True) -> None:
        """Evaluate what changes in time at `time`, without `faces` on bodies only, and hand it to the engine.

        What fails or is interrupted half-way is done again at the next call.
        """
        for part in self._changing if faces else ("bodies",):
            if self._changing[part] and self._time[part] != time:
                self._time[part] = math.nan
                self._evaluate(self._changing[part], time)
                self._hand_over(engine, self._changing[part], bodies=True)
                self._time[part] = time

    def _above_reference(self, temperature: Floats) -> Floats:
        """The deviation from the reference temperature, which the engine takes."""
        reference = 0.0 if self._thermal is None else self._thermal.reference
        return values.to_engine(np.subtract(temperature, reference), components=False)

    def temperatures(self) -> list[Floats]:
        """The surface temperatures: an array for each isothermal face and body."""
        found = [t if t.ndim == 0 else t[self._cells.mask(name)] for name, t in self.body_temperatures.items()]
        return [t for t in [*self.face_temperatures.values(), *found] if t.size > 0]

    def _hand_over(
        self, engine: _core.Engine, specs: list[tuple[dict[str, Floats], str, Value]], *, bodies: bool
    ) -> None:
        faces = list(self._domain.faces)
        names = list(self._domain.bodies)
        for target, name, _ in specs:
            if target is self.face_velocities:
                engine.set_face_velocity(faces.index(name), values.to_engine(target[name], components=True))
            elif target is self.face_numbers:
                number = values.to_engine(target[name], components=False)
                engine.set_face_number(faces.index(name), number, self._domain.faces[name].number)
            elif target is self.face_temperatures:
                engine.set_face_temperature(faces.index(name), self._above_reference(target[name]))
            elif bodies and target is self.body_temperatures:
                engine.set_body_temperature(names.index(name), self._above_reference(target[name]))
            elif bodies:
                engine.set_body_velocity(names.index(name), values.to_engine(target[name], components=True))
