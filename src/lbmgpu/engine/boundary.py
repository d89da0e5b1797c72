"""The values of a domain's conditions: evaluates them and passes them to the engine, in each step if they vary."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core, checks, multispeed, values
from ..body import Body
from ..conditions import CUT_TEMPERATURES, Value
from ..domain import Domain
from ..parallel.processes import Processes
from ..parallel.subdomain import Subdomain
from ..thermal import HybridThermal
from ..time_functions.product import TimeFunction, Varying, takes_time
from ..values import Floats
from .body_cells import BodyCells
from .body_links import BodyLinks, in_blocks, links_of_bodies, refuse_sheets
from .moving_bodies import MovingBodies

STEPS_AHEAD = 64
"""For which functions are evaluated at once: as many as let a GPU record its steps, and replay them."""
BYTES_AHEAD = 2**26
"""Of their values, at most."""


@dataclass
class _Given:
    """A value that a condition was given: where it is kept, of which face or body it is, and of what changes in time
    by a factor the fixed part."""

    target: dict[str, Floats]
    name: str
    value: Value
    part: Floats | None = None


def _is_function(value: Value) -> bool:
    """Whether the value depends on the place by a function."""
    return callable(value.spatial if isinstance(value, Varying) else value)


def _check_crossing(body: Body, velocity: Value) -> None:
    """Raise ValueError for a function of the place on a body of which a part is at the other end of the domain."""
    if _is_function(velocity) and (crossed := body.crossed_faces):
        raise ValueError(
            f"velocity of body {body.name!r}: a function of coordinates given for a body that goes on through the "
            f"periodic face {crossed[0]!r}, must be a vector there; or translate the body so that it lies in the domain"
        )


class BoundaryValues:
    """Values on the faces and bodies of `domain`, by name: arrays in the user's axis order.

    Those of bodies cover the cells that the process knows, `Subdomain.known`. `cells` are those of the bodies; without
    them and a `subdomain` all is of the whole domain, in one process.

    Where `evaluates_ahead`, after `complete`, functions of t are evaluated for up to `steps_ahead` steps, which give
    this process `numbers_ahead` numbers for each of them; else there would be too many.

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
        stencil = _core.stencil(domain.stencil)
        self._cs2 = stencil.cs2
        self._links = links_of_bodies(domain, self._subdomain, self._cells, stencil)
        self._check_sheets()
        self.face_velocities: dict[str, Floats] = {}
        self.face_numbers: dict[str, Floats] = {}
        self.body_velocities: dict[str, Floats] = {}
        self.link_velocities: dict[str, Floats] = {}
        """Of functions, where the surfaces of bodies cut links."""
        self.link_temperatures: dict[str, Floats] = {}
        """The same."""
        self.face_temperatures: dict[str, Floats] = {}
        self.body_temperatures: dict[str, Floats] = {}
        self.moving = MovingBodies(domain)
        self._specs: list[_Given] = []
        for face, condition in domain.faces.items():
            if hasattr(condition, "velocity"):
                self._specs.append(_Given(self.face_velocities, face, condition.velocity))
            if condition.number:
                self._specs.append(_Given(self.face_numbers, face, getattr(condition, condition.number)))
        for name, body in domain.bodies.items():
            if hasattr(body.condition, "velocity"):
                velocity = body.condition.velocity
                _check_crossing(body, velocity)
                self._specs.append(_Given(self.body_velocities, name, velocity))
                if name in self._links and _is_function(velocity):
                    self._specs.append(_Given(self.link_velocities, name, velocity))
            if hasattr(body.thermal, "temperature"):
                temperature = body.thermal.temperature
                self._specs.append(_Given(self.body_temperatures, name, temperature))
                if body.thermal_scheme in CUT_TEMPERATURES and _is_function(temperature):
                    self._specs.append(_Given(self.link_temperatures, name, temperature))
        for face, condition in domain.thermal.items():
            if hasattr(condition, "temperature"):
                self._specs.append(_Given(self.face_temperatures, face, condition.temperature))
        self._evaluate(self._specs, time)
        self._changing = {
            (by_factor, of_body): [
                spec
                for spec in self._specs
                if (isinstance(spec.value, Varying) if by_factor else takes_time(spec.value))
                and self._of_body(spec.target) == of_body
            ]
            for by_factor in (False, True)
            for of_body in (False, True)
        }
        self._time = dict.fromkeys(self._changing, time)
        self._ahead = [*self._changing[False, False], *self._changing[False, True]]
        self._cells_ahead: dict[str, NDArray[np.int64]] = {}
        """Of bodies: the indices of their cells among the known ones, in the engine's order."""
        for spec in self._changing[False, True]:
            if self._of_links(spec.target):
                continue
            mask = values.to_engine(self._cells_of(spec.name), components=False)
            self._cells_ahead[spec.name] = np.flatnonzero(mask)
        self.numbers_ahead = sum(self._numbers_of(spec).size for spec in self._ahead)
        self.steps_ahead = min(BYTES_AHEAD // (8 * max(self.numbers_ahead, 1)) - 1, STEPS_AHEAD)
        self.evaluates_ahead = False

    def _check_sheets(self) -> None:
        """Raise ValueError where a sheet has cells beside it whose populations the condition of a face makes anew."""
        whole = _core.boundary_numbers()
        for name, links in self._links.items():
            cells = links.links.cells[links.at_sheets]
            for face, condition in self._domain.faces.items():
                axis = "xyz".index(face[1])
                last = 0 if face[0] == "-" else self._domain.shape[axis] - 1
                if condition.engine_name in whole and (cells[:, axis] == last).any():
                    raise ValueError(
                        f"body {name!r}: a part thinner than a cell is beside cells of face {face!r}, whose condition "
                        f"{condition!r} makes all of their populations anew; must end before these cells"
                    )

    def _cells_of(self, name: str) -> NDArray[np.bool_]:
        """The known cells for which a body has values: its own, and the fluid cells behind its sheets."""
        mask = self._cells.mask(name)
        if (links := self._links.get(name)) is not None:
            mask[links.behind] = True
        return mask

    @property
    def changing(self) -> bool:
        """Whether a function has to be called before each step."""
        return bool(self._changing[False, False] or self._changing[False, True])

    @property
    def body_changes(self) -> bool:
        """Whether a value on a body changes in time, of which each process evaluates its part."""
        return bool(self._changing[False, True] or self._changing[True, True])

    def face_velocity_changes(self, face: str) -> bool:
        """Whether the velocity on a face changes in time."""
        specs = [*self._changing[False, False], *self._changing[True, False]]
        return any(spec.target is self.face_velocities and spec.name == face for spec in specs)

    @property
    def functions(self) -> list[TimeFunction]:
        """The functions of time that values on faces and bodies are multiplied with, each once."""
        found: list[TimeFunction] = []
        for spec in self._by_factor:
            if spec.value.function not in found:
                found.append(spec.value.function)
        return found

    @property
    def first_factor(self) -> int:
        """The index of the first factor of `functions` among those of a step: before it are the numbers of bodies that
        move and those of functions of coordinates and t."""
        return self.moving.numbers + self.numbers_ahead

    @property
    def _by_factor(self) -> list[Any]:
        return [*self._changing[True, False], *self._changing[True, True]]

    def _is_velocity(self, target: dict[str, Floats]) -> bool:
        return any(target is each for each in (self.face_velocities, self.body_velocities, self.link_velocities))

    def _of_body(self, target: dict[str, Floats]) -> bool:
        return self._of_links(target) or target is self.body_velocities or target is self.body_temperatures

    def _of_links(self, target: dict[str, Floats]) -> bool:
        return target is self.link_velocities or target is self.link_temperatures

    def _is_temperature(self, target: dict[str, Floats]) -> bool:
        return any(target is each for each in (self.face_temperatures, self.body_temperatures, self.link_temperatures))

    def _evaluate(self, specs: list[_Given], time: float) -> None:
        for spec in specs:
            spec.target[spec.name] = self._at(spec, time)

    def _at(self, spec: _Given, time: float) -> Floats:
        """The checked value at a time."""
        label, check = self._labelled(spec, time)
        if isinstance(spec.value, Varying):
            if spec.part is None:
                spec.part = self._everywhere(label, spec, spec.value.spatial, time)
            result = np.asarray(spec.part * spec.value.function(time))
        else:
            result = self._everywhere(label, spec, spec.value, time)
        if result.size > 0:
            check(label, result)
        return result

    def _everywhere(self, label: str, spec: _Given, value: Value, time: float) -> Floats:
        """The value on the whole face, or on all known cells of the body."""
        shape = self._domain.shape
        components = len(shape) if self._is_velocity(spec.target) else None
        if self._of_links(spec.target):
            points = tuple(self._links[spec.name].points)
            whole = (() if components is None else (components,)) + points[0].shape
            if points[0].size == 0:  # functions need not be made for no place
                return np.empty(whole)
            found = values.evaluate(label, value, (), points, components, time)
            return np.array(np.broadcast_to(found, whole))
        if self._of_body(spec.target):
            return values.on_body(label, *self._on_body(label, spec.name, value, components), components, time)
        return values.on_face(label, value, shape, spec.name, components, time)

    def _labelled(self, spec: _Given, time: float) -> tuple[str, Callable[[str, Floats], None]]:
        """The name of a value in errors, and the check of its range."""
        name = spec.name
        is_steady = isinstance(spec.value, np.ndarray) or (callable(spec.value) and not takes_time(spec.value))
        when = "" if is_steady else f" at t = {time:g}"
        if spec.target is self.face_velocities:
            return f"velocity of faces[{name!r}]{when}", self._check_speed
        if spec.target is self.face_numbers:
            condition = self._domain.faces[name]
            return f"{condition.number} of faces[{name!r}]{when}", condition.check_number
        if spec.target is self.face_temperatures:
            return f"temperature of thermal[{name!r}]{when}", self._check_face_temperature
        if self._is_temperature(spec.target):
            return f"temperature of body {name!r}{when}", checks.temperatures
        return f"velocity of body {name!r}{when}", self._check_speed

    def _check_face_temperature(self, label: str, temperature: Floats) -> None:
        checks.temperatures(label, temperature)
        multispeed.check_temperatures(self._domain.stencil, label, temperature)

    def check_factors(self, first: int, factors: NDArray[np.float64]) -> int:
        """How many steps from `first` on have values in range, for each of which there is a row of `factors`.

        Raises:
            ValueError: those of the first step are not in range.
        """
        functions, rows = self.functions, len(factors)
        for spec in self._by_factor:
            column = factors[:rows, functions.index(spec.value.function)]
            extremes = (int(column.argmin()), int(column.argmax()))  # the ranges of values have no gaps
            if all(self._is_in_range(spec, first + row) for row in extremes):
                continue
            rows = next(row for row in range(rows) if not self._is_in_range(spec, first + row))
            if rows == 0:
                self._at(spec, float(first))  # raises
        return rows

    def _is_in_range(self, spec: _Given, step: int) -> bool:
        try:
            self._at(spec, float(step))
        except ValueError:
            return False
        return True

    def _on_body(
        self, label: str, name: str, value: Value, components: int | None
    ) -> tuple[Value, NDArray[np.bool_], tuple[Floats, ...]]:
        """The value of a body, its mask, and the coordinates of cell centres, all of the known cells."""
        known, body = self._subdomain.known, self._domain.bodies[name]
        mask = self._cells_of(name)
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
        """Add what other processes were given of the cells next to this one's; all of them call it together.

        Raises:
            ValueError: a body has neither a cell nor a wall, or is a sheet where another moves.
        """
        without = {name: self._links[name] for name in self._cells.without_cells}
        own = {name: in_blocks(found.links.at(found.at_sheets), self._subdomain) for name, found in without.items()}
        self._cells.add_sheets(processes, {name: links.cells for name, links in own.items()})
        refuse_sheets(self._cells.without_cells, bool(self.moving.bodies))
        for spec in self._specs:
            given = spec.value.spatial if isinstance(spec.value, Varying) else spec.value
            if self._of_links(spec.target):  # of functions, which each process calls for its own
                continue
            if self._of_body(spec.target) and self._domain.bodies[spec.name].is_part and not callable(given):
                lead = 1 if spec.target is self.body_velocities else 0
                for array in (spec.target[spec.name], spec.part):
                    if processes.size > 1 and array is not None and array.ndim > lead:
                        self._subdomain.with_surroundings(processes, array)
        if self._ahead:  # alike on all ranks, also on one that has no cell of a body that changes
            self.steps_ahead = -int(processes.agreed(-float(self.steps_ahead)))
            self.evaluates_ahead = self.steps_ahead > 1
        if not self.evaluates_ahead:
            self.numbers_ahead = 0

    def _check_speed(self, label: str, velocity: Floats) -> None:
        checks.speed(label, velocity, self._cs2)
        if self._thermal is not None:
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
                self._given_links(body.name),
            )
        self.moving.hand_over(engine)
        self._hand_over(engine, self._specs, bodies=False)
        self._scale(engine)
        for sponge in self._domain.sponges:
            target = sponge.velocity or (0.0,) * len(self._domain.shape)
            face = list(self._domain.faces).index(sponge.face)
            engine.add_sponge(face, sponge.thickness, sponge.strength, sponge.pull, sponge.density, list(target))

    def _given_links(self, name: str) -> tuple[Any, ...] | None:
        """The links that the surface of a body cuts, as the engine takes them."""
        found = self._links.get(name)
        if found is None:
            return None
        temperature = self.link_temperatures.get(name)
        return (
            found.condition,
            found.numbers,
            np.ascontiguousarray(found.links.q),
            self.link_velocities.get(name),
            self._domain.bodies[name].thermal_scheme in CUT_TEMPERATURES,
            None if temperature is None else self._above_reference(temperature),
        )

    def links(self, name: str) -> BodyLinks | None:
        """The links that the surface of a body cuts; None of one whose surface is not known."""
        return self._links.get(name)

    def _scale(self, engine: _core.Engine) -> None:
        """Have the engine multiply what changes in time by factors; it is given these as `functions` has them."""
        faces, names, functions = list(self._domain.faces), list(self._domain.bodies), self.functions
        reference = 0.0 if self._thermal is None else self._thermal.reference
        for spec in self._by_factor:
            is_velocity = self._is_velocity(spec.target)
            part = values.to_engine(np.asarray(spec.part), components=is_velocity)
            series = self.first_factor + functions.index(spec.value.function)
            if self._of_body(spec.target):
                what = self._kind(spec)
                engine.scale_body(what, names.index(spec.name), series, part, 0.0 if is_velocity else reference)
            elif spec.target is self.face_temperatures:
                engine.scale_face("temperature", faces.index(spec.name), series, part, reference)
            else:
                engine.scale_face("velocity" if is_velocity else "number", faces.index(spec.name), series, part)
        self._hand_over(engine, self._by_factor, bodies=True)  # what was given at the beginning
        first = self.moving.numbers
        for spec in self._ahead if self.evaluates_ahead else ():
            what = self._kind(spec)
            if not self._of_body(spec.target):
                engine.scale_face(what, faces.index(spec.name), first)
            elif self._of_links(spec.target):
                if spec.target[spec.name].size > 0:
                    engine.scale_body(what, names.index(spec.name), first)
            elif self._cells_ahead[spec.name].size > 0:
                engine.scale_body(what, names.index(spec.name), first, places=self._cells_ahead[spec.name].tolist())
            first += self._numbers_of(spec).size

    def _kind(self, spec: _Given) -> str:
        """What the engine calls it."""
        if spec.target is self.face_numbers:
            return "number"
        what = "velocity" if self._is_velocity(spec.target) else "temperature"
        return f"link {what}" if self._of_links(spec.target) else what

    def _numbers_of(self, spec: _Given, value: Floats | None = None) -> Floats:
        """The numbers of a function's value, the present one if None, as the engine takes them."""
        array = spec.target[spec.name] if value is None else value
        components = self._is_velocity(spec.target)
        is_temperature = self._is_temperature(spec.target)
        given = self._above_reference(array) if is_temperature else values.to_engine(array, components=components)
        if not self._of_body(spec.target) or self._of_links(spec.target):
            return given.ravel()
        return given.reshape(len(array) if components else 1, -1)[:, self._cells_ahead[spec.name]].ravel()

    def values_at(self, time: float, *, is_present: bool) -> list[Floats]:
        """The checked values of functions of t at a time; those that `bring_to` has of the present time are kept."""
        found = []
        for of_body in (False, True):
            specs = self._changing[False, of_body]
            is_there = is_present and self._time[False, of_body] == time
            found += [spec.target[spec.name] if is_there else self._at(spec, time) for spec in specs]
        return found

    def numbers(self, found: list[Floats] | None = None) -> Floats:
        """The numbers of values from `values_at`, the present ones if None, as the engine takes them."""
        present = [spec.target[spec.name] for spec in self._ahead] if found is None else found
        numbers = [self._numbers_of(spec, value) for spec, value in zip(self._ahead, present, strict=True)]
        return np.concatenate(numbers)

    def put(self, found: list[Floats]) -> None:
        """Keep values from `values_at` as those of a step that the engine is to make."""
        for spec, value in zip(self._ahead, found, strict=True):
            spec.target[spec.name] = value
        self._time[False, False] = self._time[False, True] = math.nan  # the engine was not given them

    def fixed(self, target: dict[str, Floats], name: str) -> Floats:
        """The value of a face or body in `target`, such as `face_velocities`; of one that changes by a factor the
        fixed part."""
        part = next(spec.part for spec in self._specs if spec.target is target and spec.name == name)
        return target[name] if part is None else part

    def forget_time(self) -> None:
        """Hand over anew, at the next `bring_to`, what the engine has changed by factors meanwhile."""
        self._time[True, False] = self._time[True, True] = math.nan

    def bring_to(self, engine: _core.Engine, time: float, *, faces: bool = True, by_factor: bool = False) -> None:
        """Evaluate what changes in time at `time`, without `faces` on bodies only, and hand it to the engine.

        What the engine multiplies by factors in each step is left to it unless `by_factor`. What fails or is
        interrupted half-way is done again at the next call.
        """
        for (is_by_factor, of_body), specs in self._changing.items():
            key = is_by_factor, of_body
            if specs and (of_body or faces) and (by_factor or not is_by_factor) and self._time[key] != time:
                self._time[key] = math.nan
                self._evaluate(specs, time)
                self._hand_over(engine, specs, bodies=True)
                self._time[key] = time

    def _above_reference(self, temperature: Floats) -> Floats:
        """The deviation from the reference temperature, which the engine takes."""
        reference = 0.0 if self._thermal is None else self._thermal.reference
        return values.to_engine(np.subtract(temperature, reference), components=False)

    def temperatures(self) -> list[Floats]:
        """The surface temperatures: an array for each isothermal face and body."""
        found = [t if t.ndim == 0 else t[self._cells_of(name)] for name, t in self.body_temperatures.items()]
        return [t for t in [*self.face_temperatures.values(), *found] if t.size > 0]

    def _hand_over(self, engine: _core.Engine, specs: list[_Given], *, bodies: bool) -> None:
        faces = list(self._domain.faces)
        names = list(self._domain.bodies)
        for spec in specs:
            target, name = spec.target, spec.name
            if target is self.face_velocities:
                engine.set_face_velocity(faces.index(name), values.to_engine(target[name], components=True))
            elif target is self.face_numbers:
                number = values.to_engine(target[name], components=False)
                engine.set_face_number(faces.index(name), number, self._domain.faces[name].number)
            elif target is self.face_temperatures:
                engine.set_face_temperature(faces.index(name), self._above_reference(target[name]))
            elif bodies and target is self.body_temperatures:
                engine.set_body_temperature(names.index(name), self._above_reference(target[name]))
            elif bodies and target is self.link_temperatures:
                engine.set_link_temperature(names.index(name), self._above_reference(target[name]))
            elif bodies and target is self.link_velocities:
                engine.set_link_velocity(names.index(name), target[name])
            elif bodies:
                engine.set_body_velocity(names.index(name), values.to_engine(target[name], components=True))
