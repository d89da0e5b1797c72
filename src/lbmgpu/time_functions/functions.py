"""The functions of time that users make: oscillations, ramps and tables."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar, cast

from .. import checks
from .product import Product, TimeFunction

RAMP_SHAPES: dict[str, Callable[[float], float]] = {
    "linear": lambda x: x,
    "smooth": lambda x: x * x * (3 - 2 * x),
    "cosine": lambda x: 0.5 * (1 - math.cos(math.pi * x)),
}
"""How far a ramp has come at a fraction of its steps."""

MAX_ROWS = 2**20
"""Of a table."""
ROUNDING = 1e-12
"""By which the ends of a periodic table may differ, as a part of its largest value."""


@dataclass(frozen=True)
class Sine(TimeFunction):
    """``mean + amplitude * sin(2 pi t / period + phase)``.

    Args:
        mean: about which it oscillates.
        amplitude: largest difference from the mean.
        period: steps; must be given.
        phase: radians at t = 0.

    Raises:
        TypeError, ValueError: not finite numbers, or no period, or one that is not positive.
    """

    kind: ClassVar[str] = "sine"
    mean: float = 0.0
    amplitude: float = 1.0
    period: float = cast(float, None)  # has a default as the numbers before it have
    phase: float = 0.0

    def __post_init__(self) -> None:
        if self.period is None:
            raise TypeError("period: none given, must be the steps after which it repeats")
        for name in ("mean", "amplitude", "phase"):
            object.__setattr__(self, name, checks.number(name, getattr(self, name)))
        object.__setattr__(self, "period", checks.number("period", self.period, above=0))

    def __call__(self, t: float) -> float:
        """The number at a time in steps."""
        angle = 2 * math.pi * (math.fmod(t, self.period) / self.period) + self.phase
        return self.mean + self.amplitude * math.sin(angle)


@dataclass(frozen=True)
class Ramp(TimeFunction):
    """From one number to another, which it keeps.

    Args:
        start: until `begin`.
        end: from ``begin + steps`` on.
        steps: that it takes.
        shape: ``"linear"``; ``"smooth"``, ``x**2 (3 - 2 x)`` of the fraction x of the steps; ``"cosine"``,
            ``(1 - cos(pi x)) / 2``.
        begin: the step at which it begins.

    Raises:
        TypeError, ValueError: not finite numbers, `steps` that are not positive, or an unknown shape.
    """

    kind: ClassVar[str] = "ramp"
    start: float
    end: float
    steps: float
    shape: str = "linear"
    begin: float = 0.0

    def __post_init__(self) -> None:
        for name in ("start", "end", "begin"):
            object.__setattr__(self, name, checks.number(name, getattr(self, name)))
        object.__setattr__(self, "steps", checks.number("steps", self.steps, above=0))
        checks.choice("shape", self.shape, tuple(RAMP_SHAPES))

    def __call__(self, t: float) -> float:
        """The number at a time in steps."""
        fraction = (t - self.begin) / self.steps
        if fraction <= 0:
            return self.start
        if fraction >= 1:
            return self.end
        return self.start + (self.end - self.start) * RAMP_SHAPES[self.shape](fraction)


@dataclass(frozen=True)
class Table(TimeFunction):
    """Linear between given numbers.

    Args:
        times: in steps, increasing, two at least.
        values: at these times.
        periodic: whether it repeats with the period ``times[-1] - times[0]``, for which the first and the last value
            must be equal but for rounding; else it keeps the first value before the first time, and the last one
            after the last.

    Raises:
        TypeError, ValueError: not finite numbers, times that do not increase, or as many values as there are not times.
    """

    kind: ClassVar[str] = "table"
    times: Sequence[float]
    values: Sequence[float]
    periodic: bool = False

    def __post_init__(self) -> None:
        for name in ("times", "values"):
            array = checks.real_array(name, getattr(self, name))
            if array.ndim != 1 or not 2 <= array.size <= MAX_ROWS:
                raise ValueError(f"{name}: shape {array.shape} given, must be 2 to {MAX_ROWS} numbers")
            object.__setattr__(self, name, tuple(array.tolist()))
        if len(self.times) != len(self.values):
            raise ValueError(f"values: {len(self.values)} given, must be one for each of the {len(self.times)} times")
        for number, (earlier, later) in enumerate(pairwise(self.times), 1):
            if not earlier < later:
                raise ValueError(f"times: {later:g} given after {earlier:g} (number {number}), must increase")
        object.__setattr__(self, "periodic", checks.flag("periodic", self.periodic))
        if self.periodic:
            first, last = self.values[0], self.values[-1]
            if abs(first - last) > ROUNDING * max(abs(value) for value in self.values):
                raise ValueError(
                    f"values: {first:g} at the beginning of the period and {last:g} at its end, "
                    "must be equal if the table is periodic"
                )
            object.__setattr__(self, "values", (*self.values[:-1], first))

    @cached_property
    def _lists(self) -> tuple[list[float], list[float]]:
        return list(self.times), list(self.values)

    def __call__(self, t: float) -> float:
        """The number at a time in steps."""
        times, values = self._lists
        if self.periodic:
            t = times[0] + (t - times[0]) % (times[-1] - times[0])
        after = bisect_right(times, t)
        if after == 0:
            return values[0]
        if after == len(times):
            return values[-1]
        before = after - 1
        fraction = (t - times[before]) / (times[after] - times[before])
        return values[before] + (values[after] - values[before]) * fraction


KINDS: dict[str, type[TimeFunction]] = {kind.kind: kind for kind in (Sine, Ramp, Table)}


def from_record(record: Any) -> TimeFunction:
    """The function of what `TimeFunction.record` gives; TypeError or ValueError for anything else."""
    if not isinstance(record, dict) or len(record) != 1:
        raise TypeError(f"function of time: {checks.shown(record)} given, must name one kind")
    ((kind, arguments),) = record.items()
    if kind == Product.kind and isinstance(arguments, list) and arguments:
        return Product(tuple(_single(*next(iter(dict(part).items()))) for part in arguments))
    return _single(kind, arguments)


def _single(kind: Any, arguments: Any) -> TimeFunction:
    if kind not in KINDS or not isinstance(arguments, dict):
        raise ValueError(f"function of time: {checks.shown(kind)} given, must be one of {', '.join(KINDS)}")
    return KINDS[kind](**arguments)
