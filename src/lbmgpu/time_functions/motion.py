"""Prescribed rigid motions of bodies, as values: where a body is and how fast it moves at each time."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import checks
from .product import TimeFunction, Varying, signature

Floats = NDArray[np.float64]

_DIFFERENCE = 1.0
"""The time over which differences are taken for the velocity of functions, in steps."""
MAX_ROWS = 2**20
"""Of a table."""


class Course(NamedTuple):
    """Where a body is at some times, and how fast it moves.

    Attributes:
        displacement, velocity: ``(n, D)``, of the point about which it turns.
        angle, rate: ``(n,)``, radians, counterclockwise seen against the axis.
    """

    displacement: Floats
    velocity: Floats
    angle: Floats
    rate: Floats


@dataclass(frozen=True)
class RigidMotion(ABC):
    """What all motions have in common: a rigid body turns about a point, which is displaced. The body is where its
    geometry is at an angle and a displacement of 0.

    Attributes:
        center: ``(D,)``, the point about which the body turns, where the geometry is; None for the middle of its
            bounds.
        axis: about which it turns: ``"x"``, ``"y"``, ``"z"`` or, in three dimensions, a vector.
    """

    kind: ClassVar[str]
    center: Any = field(default=None, kw_only=True)
    axis: Any = field(default="z", kw_only=True)

    def __post_init__(self) -> None:
        if self.center is not None:
            object.__setattr__(self, "center", _vector("center", self.center))
        if isinstance(self.axis, str):
            checks.choice("axis", self.axis, "xyz")
            return
        axis = _vector("axis", self.axis)
        if len(axis) != 3 or not any(axis):
            right = "'x', 'y', 'z' or a vector of three components"
            raise ValueError(f"axis: {checks.shown(self.axis)} given, must be {right}")
        object.__setattr__(self, "axis", axis)

    @property
    @abstractmethod
    def turns(self) -> bool:
        """Whether the angle may change."""

    @property
    @abstractmethod
    def vectors(self) -> dict[str, Any]:
        """The vectors of D components, by name; None for one that is not given."""

    @abstractmethod
    def course(self, times: Floats, dimensions: int) -> Course:
        """Where the body is at some times, of a domain of so many dimensions.

        Raises:
            TypeError, ValueError: a function returns something else than finite numbers.
        """

    @abstractmethod
    def record(self) -> dict[str, Any]:
        """Its arguments as JSON; of a callable only that there is one."""

    def check(self, name: str, dimensions: int) -> None:
        """Raise ValueError unless its vectors are of so many dimensions."""
        for argument, vector in {**self.vectors, "center": self.center}.items():
            if vector is not None and len(vector) != dimensions:
                right = f"must have {dimensions} components, as the domain"
                raise ValueError(f"{argument} of {name}: {checks.shown(vector)} given, {right}")
        if dimensions == 2 and self.axis != "z":
            raise ValueError(f"axis of {name}: {checks.shown(self.axis)} given, must be 'z' in two dimensions")

    def _record(self, **arguments: Any) -> dict[str, Any]:
        axis = self.axis if isinstance(self.axis, str) else list(self.axis)
        center = None if self.center is None else list(self.center)
        return {"kind": self.kind, **arguments, "center": center, "axis": axis}


@dataclass(frozen=True)
class Motion(RigidMotion):
    """A motion by functions of time, steady ones or both.

    ``lbm.Motion(velocity=(0.02, 0))`` is a steady translation, ``lbm.Motion(rate=1e-3)`` a steady rotation,
    ``lbm.Motion((20, 0) * lbm.Ramp(0, 1, 2000, shape="smooth"))`` a smooth shift by 20 cells.

    Args:
        displacement: in cells: a callable of t, steps, that returns D numbers; or D numbers times `Sine`, `Ramp` or
            another function of time; None for none. Callables must depend on t alone, as they are called for some steps
            ahead.
        velocity: D numbers, cells a step, of a steady translation beside it.
        angle: in radians, counterclockwise seen against the axis: a function of time, a number times one, or a callable
            of t that returns a number; None for none.
        rate: radians a step, of a steady rotation beside it; None for none. One of the four must be given.
        center, axis: as of `RigidMotion`.

    The velocity of the wall is that of the motion: of functions their differences over a step.

    Raises:
        TypeError, ValueError: a wrong argument.
    """

    kind: ClassVar[str] = "motion"
    displacement: Any = None
    velocity: Any = None
    angle: Any = None
    rate: Any = None

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, axes in (("displacement", 1), ("angle", 0)):
            value = getattr(self, name)
            if isinstance(value, Varying):
                if callable(value.spatial) or np.ndim(value.spatial) != axes:
                    what = "a vector" if axes else "a number"
                    raise ValueError(f"{name}: {value!r} given, must be {what} times a function of time")
            elif isinstance(value, TimeFunction) and axes:
                raise TypeError(
                    f"{name}: {value!r} given, a number for each time, must be a vector times a function of time"
                )
            elif value is not None:
                _check_function(name, value, "a vector" if axes else "a number")
        if self.velocity is not None:
            object.__setattr__(self, "velocity", _vector("velocity", self.velocity))
        if all(getattr(self, name) is None for name in ("displacement", "velocity", "angle", "rate")):
            raise ValueError("displacement: none given, nor velocity, angle or rate; must be one of them")
        object.__setattr__(self, "rate", 0.0 if self.rate is None else checks.number("rate", self.rate))

    @property
    def turns(self) -> bool:
        return self.angle is not None or bool(self.rate != 0)

    @property
    def vectors(self) -> dict[str, Any]:
        given = self.displacement.spatial if isinstance(self.displacement, Varying) else None
        return {"displacement": given, "velocity": self.velocity}

    def course(self, times: Floats, dimensions: int) -> Course:
        moved, speed = np.zeros((len(times), dimensions)), np.zeros((len(times), dimensions))
        turned, rate = np.zeros(len(times)), np.zeros(len(times))
        if self.displacement is not None:
            moved, speed = _along("displacement", self.displacement, times, (dimensions,))
        if self.angle is not None:
            turned, rate = _along("angle", self.angle, times, ())
        if self.velocity is not None:
            moved = moved + times[:, np.newaxis] * np.array(self.velocity)
            speed = speed + np.array(self.velocity)
        return Course(moved, speed, turned + self.rate * times, rate + self.rate)

    def record(self) -> dict[str, Any]:
        functions = {name: _record_of_function(getattr(self, name)) for name in ("displacement", "angle")}
        velocity = None if self.velocity is None else list(self.velocity)
        return self._record(**functions, velocity=velocity, rate=self.rate)


@dataclass(frozen=True)
class Oscillation(RigidMotion):
    """A motion to and fro: the displacement is ``amplitude * sin(2 pi t / period + phase)``, and the angle `turn` times
    the same sine.

    Args:
        amplitude: D numbers, cells; None for none.
        period: steps.
        phase: radians at t = 0; with ``pi / 2`` the body begins at rest, at its largest displacement.
        turn: radians, largest angle; None for none. It or the amplitude must be given.
        center, axis: as of `RigidMotion`.

    Raises:
        TypeError, ValueError: a wrong argument.
    """

    kind: ClassVar[str] = "oscillation"
    amplitude: Any = None
    period: float = field(kw_only=True)
    phase: float = 0.0
    turn: Any = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.amplitude is not None:
            object.__setattr__(self, "amplitude", _vector("amplitude", self.amplitude))
        object.__setattr__(self, "period", checks.number("period", self.period, above=0))
        object.__setattr__(self, "phase", checks.number("phase", self.phase))
        if self.amplitude is None and self.turn is None:
            raise ValueError("amplitude: none given, nor turn; must be one of them")
        object.__setattr__(self, "turn", 0.0 if self.turn is None else checks.number("turn", self.turn))

    @property
    def turns(self) -> bool:
        return bool(self.turn != 0)

    @property
    def vectors(self) -> dict[str, Any]:
        return {"amplitude": self.amplitude}

    def course(self, times: Floats, dimensions: int) -> Course:
        along = np.zeros(dimensions) if self.amplitude is None else np.array(self.amplitude)
        angles = 2 * math.pi * (np.fmod(times, self.period) / self.period) + self.phase
        place, speed = np.sin(angles), 2 * math.pi / self.period * np.cos(angles)
        moved, velocity = place[:, np.newaxis] * along, speed[:, np.newaxis] * along
        return Course(moved, velocity, self.turn * place, self.turn * speed)

    def record(self) -> dict[str, Any]:
        amplitude = None if self.amplitude is None else list(self.amplitude)
        return self._record(amplitude=amplitude, period=self.period, phase=self.phase, turn=self.turn)


@dataclass(frozen=True)
class MotionTable(RigidMotion):
    """A motion through given places: cubic splines between them, so that the velocity is continuous.

    Args:
        times: in steps, increasing, two at least. Before the first and after the last one the body rests.
        displacements: ``(n, D)`` cells, at these times; None for none.
        angles: ``(n,)`` radians; None for none.
        periodic: whether it repeats with the period ``times[-1] - times[0]``, at whose ends it must then be at the same
            place. Else the velocity is 0 at both ends.
        center, axis: as of `RigidMotion`.

    Raises:
        TypeError, ValueError: a wrong argument.
    """

    kind: ClassVar[str] = "motion table"
    times: Any
    displacements: Any = None
    angles: Any = None
    periodic: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        times = checks.real_array("times", self.times)
        if times.ndim != 1 or not 2 <= times.size <= MAX_ROWS or not (np.diff(times) > 0).all():
            raise ValueError(f"times: {checks.shown(self.times)} given, must be 2 to {MAX_ROWS} numbers that increase")
        object.__setattr__(self, "times", tuple(times.tolist()))
        object.__setattr__(self, "periodic", checks.flag("periodic", self.periodic))
        if self.displacements is None and self.angles is None:
            raise ValueError("displacements: none given, nor angles; must be one of them")
        for name, axes in (("displacements", 2), ("angles", 1)):
            if getattr(self, name) is None:
                continue
            table = checks.real_array(name, getattr(self, name))
            if table.ndim != axes or len(table) != len(times) or (axes == 2 and table.shape[1] not in (2, 3)):
                right = f"({len(times)},{' D' if axes == 2 else ''})"
                raise ValueError(f"{name}: shape {table.shape} given, must be {right}")
            if self.periodic and np.abs(table[-1] - table[0]).max() > 1e-9 * max(1.0, float(np.abs(table).max())):
                raise ValueError(f"{name}: different at the ends of the period, must be equal if the table is periodic")
            object.__setattr__(self, name, tuple(map(tuple, table.tolist())) if axes == 2 else tuple(table.tolist()))

    @property
    def turns(self) -> bool:
        return self.angles is not None

    @property
    def vectors(self) -> dict[str, Any]:
        return {"displacements": None if self.displacements is None else self.displacements[0]}

    @cached_property
    def _splines(self) -> dict[str, tuple[Floats, Floats, Floats]]:
        """Times, values and slopes of what is given, by name."""
        times = np.array(self.times)
        given = {name: getattr(self, name) for name in ("displacements", "angles")}
        columns = {name: np.array(v).reshape(len(times), -1) for name, v in given.items() if v is not None}
        return {name: (times, table, _slopes(times, table, self.periodic)) for name, table in columns.items()}

    def course(self, times: Floats, dimensions: int) -> Course:
        first, period = self.times[0], self.times[-1] - self.times[0]
        if self.periodic:
            times = first + np.mod(times - first, period)
        nothing = np.zeros((len(times), dimensions)), np.zeros((len(times), dimensions))
        moved, speed = _hermite(*self._splines["displacements"], times) if self.displacements is not None else nothing
        turned, rate = _hermite(*self._splines["angles"], times) if self.angles is not None else nothing
        return Course(moved, speed, turned[:, 0], rate[:, 0])

    def record(self) -> dict[str, Any]:
        places = None if self.displacements is None else [list(each) for each in self.displacements]
        angles = None if self.angles is None else list(self.angles)
        return self._record(times=list(self.times), displacements=places, angles=angles, periodic=self.periodic)


def check_motion(name: str, motion: Any, dimensions: int) -> RigidMotion:
    """The motion of a body; TypeError or ValueError unless it is one, of so many dimensions."""
    if not isinstance(motion, RigidMotion):
        hint = " (a value, not the class)" if isinstance(motion, type) else ""
        right = "lbm.Motion(...), lbm.Oscillation(...) or lbm.MotionTable(...)"
        raise TypeError(f"motion of {name}: {checks.shown(motion)} given, must be {right}{hint}")
    motion.check(name, dimensions)
    return motion


def rotations(axis: Any, angles: Floats) -> Floats:
    """``(n, 3, 3)``: the matrices that turn vectors about an axis by angles."""
    x, y, z = _direction(axis)
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    sine, cosine = np.sin(angles)[:, None, None], np.cos(angles)[:, None, None]
    along = np.outer([x, y, z], [x, y, z])
    return np.asarray(cosine * (np.eye(3) - along) + sine * cross + along)


def axis_of(motion: RigidMotion) -> Floats:
    """The unit vector along the axis about which a body turns."""
    return np.array(_direction(motion.axis))


def _direction(axis: Any) -> tuple[float, float, float]:
    if isinstance(axis, str):
        return tuple(1.0 if name == axis else 0.0 for name in "xyz")  # type: ignore[return-value]
    length = math.sqrt(sum(a * a for a in axis))
    return axis[0] / length, axis[1] / length, axis[2] / length


def _vector(name: str, value: ArrayLike) -> tuple[float, ...]:
    array = checks.real_array(name, value)
    if array.ndim != 1 or len(array) not in (2, 3):
        raise ValueError(f"{name}: shape {array.shape} given, must be 2 or 3 numbers")
    return tuple(array.tolist())


def _check_function(name: str, value: Any, factor: str) -> None:
    """Raise TypeError unless a value is a function of t alone."""
    right = f"must be a function of t, steps, or {factor} times lbm.Ramp(...), lbm.Sine(...) or lbm.Table(...)"
    if not callable(value):
        raise TypeError(f"{name}: {checks.shown(value)} given, {right}")
    found = signature(value)
    try:
        if found is not None:
            found.bind(0.0)
    except TypeError:
        raise TypeError(f"{name}: a function of the arguments {found} given, {right}") from None


def _numbers(name: str, function: Any, t: float, shape: tuple[int, ...]) -> Floats:
    """What a function of time gives at t, checked."""
    if isinstance(function, Varying):
        return np.asarray(np.asarray(function.spatial) * function.function(t))
    found = np.asarray(checks.real_array(f"{name} at t = {t:g}", function(t)))
    if found.shape != shape:
        right = "a number" if shape == () else f"{shape[0]} numbers"
        raise ValueError(f"{name} at t = {t:g}: shape {found.shape} returned, must be {right}")
    return found


def _along(name: str, function: Any, times: Floats, shape: tuple[int, ...]) -> tuple[Floats, Floats]:
    """A function at times, and its differences over a step about each of them, none of it before t = 0. Times that
    follow each other by a step share what the function is called for."""
    half = _DIFFERENCE / 2
    before, after = np.maximum(times - half, 0.0), times + half
    asked = np.unique(np.concatenate([times, before, after]))
    found = np.array([_numbers(name, function, float(t), shape) for t in asked])

    def at(which: Floats) -> Floats:
        return np.asarray(found[np.searchsorted(asked, which)])

    steps = (after - before).reshape((-1,) + (1,) * len(shape))
    return at(times), (at(after) - at(before)) / steps


def _record_of_function(value: Any) -> Any:
    if isinstance(value, Varying):
        return {"factor": value.function.record(), "value": np.asarray(value.spatial).tolist()}
    if isinstance(value, TimeFunction):
        return {"factor": value.record()}
    return None if value is None else {"changes in time": True}


def _slopes(times: Floats, values: Floats, periodic: bool) -> Floats:
    """The derivatives at the times of a table of the cubic spline of continuous second derivative, ``(n, k)``."""
    n, h = len(times), np.diff(times)
    secant = np.diff(values, axis=0) / h[:, np.newaxis]
    if periodic and n > 2:
        a = np.zeros((n - 1, n - 1))
        b = np.zeros((n - 1, values.shape[1]))
        for k in range(n - 1):
            before = h[k - 1]
            a[k, (k - 1) % (n - 1)] += 1 / before
            a[k, k] += 2 / before + 2 / h[k]
            a[k, (k + 1) % (n - 1)] += 1 / h[k]
            b[k] = 3 * (secant[k - 1] / before + secant[k] / h[k])
        inner = np.linalg.solve(a, b)
        return np.concatenate([inner, inner[:1]])
    slopes = np.zeros_like(values)
    if n > 2:  # a tridiagonal system, by elimination
        diagonal = 2 / h[:-1] + 2 / h[1:]
        right = 3 * (secant[:-1] / h[:-1, np.newaxis] + secant[1:] / h[1:, np.newaxis])
        for k in range(1, n - 2):
            factor = (1 / h[k]) / diagonal[k - 1]
            diagonal[k] -= factor / h[k]
            right[k] -= factor * right[k - 1]
        for k in range(n - 3, -1, -1):
            after = slopes[k + 2] if k < n - 3 else np.zeros(values.shape[1])
            slopes[k + 1] = (right[k] - after / h[k + 1]) / diagonal[k]
    return slopes


def _hermite(times: Floats, values: Floats, slopes: Floats, at: Floats) -> tuple[Floats, Floats]:
    """The cubic of given values and slopes, and its derivative, ``(n, k)``; at rest beyond the ends."""
    t = np.clip(at, times[0], times[-1])
    k = np.clip(np.searchsorted(times, t, side="right") - 1, 0, len(times) - 2)
    h = (times[k + 1] - times[k])[:, np.newaxis]
    x = (t - times[k])[:, np.newaxis] / h
    a, b, ma, mb = values[k], values[k + 1], slopes[k] * h, slopes[k + 1] * h
    place = a + x * (ma + x * (3 * (b - a) - 2 * ma - mb + x * (2 * (a - b) + ma + mb)))
    speed = (ma + x * (2 * (3 * (b - a) - 2 * ma - mb) + x * 3 * (2 * (a - b) + ma + mb))) / h
    beyond = ((at < times[0]) | (at > times[-1]))[:, np.newaxis]
    return place, np.where(beyond, 0.0, speed)
