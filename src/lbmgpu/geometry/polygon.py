"""Polygons, in two dimensions or extruded along an axis."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from .base import Bools, Floats, Geometry
from .matrices import apply
from .placed import Placed
from .self_crossing import crossing_of

_ACROSS = {"x": (1, 2), "y": (0, 2), "z": (0, 1)}
"""The axes that the coordinates of a polygon are along, by that of its extrusion."""


class Polygon(Geometry):
    """The area within a closed line of straight edges, in two dimensions.

    The line may touch itself, as where it goes to a hole and back; what it goes round twice is outside.

    Args:
        points: corners ``(n, 2)``, three or more, in either sense; the last edge goes from the last to the first.

    Raises:
        TypeError, ValueError: not finite corners, too few of them, a line that crosses itself, or no area.
    """

    dimensions = 2

    def __init__(self, points: ArrayLike) -> None:
        array = checks.real_array("points", points)
        if array.ndim != 2 or array.shape[1] != 2:
            raise ValueError(f"points: shape {array.shape} given, must be (n, 2)")
        if len(array) > 3 and (array[0] == array[-1]).all():
            array = array[:-1]
        if len(array) < 3:
            raise ValueError(f"points: {len(array)} given, must be at least 3 corners")
        crossing = crossing_of(array)
        if crossing is not None:
            edges = [_edge(array, k) for k in (crossing.first, crossing.second)]
            x, y = crossing.place
            raise ValueError(
                f"points: the edges from {edges[0]} and from {edges[1]} cross at ({x:.6g}, {y:.6g}), must be corners "
                "in their order along a line that does not cross itself"
            )
        self._take(array)
        if self.volume == 0:
            raise ValueError(
                f"points: {checks.shown(points)} given, must enclose an area above 0, its corners in order"
            )

    @classmethod
    def _of(cls, points: Floats) -> Polygon:
        """The polygon of corners that have been checked, and moved."""
        polygon = cls.__new__(cls)
        polygon._take(points)
        return polygon

    def _take(self, points: Floats) -> None:
        self.points = np.ascontiguousarray(points)
        self.points.flags.writeable = False

    def __repr__(self) -> str:
        return f"Polygon(<{len(self.points)} corners>)"

    def fingerprint(self) -> str:
        return f"Polygon({hashlib.blake2b(self.points.tobytes()).hexdigest()})"

    def extrude(self, low: float | None = None, high: float | None = None, axis: str = "z") -> Prism:
        """The prism of it in three dimensions.

        Args:
            low, high: where it begins and ends along the axis; None for no end.
            axis: ``"x"``, ``"y"`` or ``"z"``; the polygon's coordinates are along the other two, in their order.

        Raises:
            TypeError, ValueError: a wrong argument.
        """
        return Prism(self, low, high, axis)

    @property
    def bounds(self) -> Floats:
        return np.stack([self.points.min(axis=0), self.points.max(axis=0)])

    @property
    def volume(self) -> float:
        """Its area."""
        x, y = (self.points - self.points.mean(axis=0)).T
        return abs(float(math.fsum(x * np.roll(y, -1) - np.roll(x, -1) * y))) / 2

    def _edges(self) -> list[tuple[float, float, float, float]]:
        return [
            (float(a[0]), float(a[1]), float(b[0]), float(b[1]))
            for a, b in zip(self.points, np.roll(self.points, -1, axis=0), strict=True)
        ]

    def inside(self, *x: Floats) -> Bools:
        u, v = x
        found = np.zeros(np.broadcast(u, v).shape, np.bool_)
        for a, b, c, d in self._edges():
            if b != d:
                if b > d:
                    a, b, c, d = c, d, a, b
                side = (c - a) * (v - b) - (d - b) * (u - a)
                found ^= (v >= b) & (v < d) & (side > 0)
        return found

    def crossings(self, x: Sequence[Floats], step: Sequence[float]) -> Floats:
        found = []
        for a, b, c, d in self._edges():
            across = step[0] * (d - b) - step[1] * (c - a)
            if across == 0:
                continue
            to_u, to_v = a - x[0], b - x[1]
            along_edge = (to_u * step[1] - to_v * step[0]) / across
            t = (to_u * (d - b) - to_v * (c - a)) / across
            found.append(np.where((along_edge >= -1e-9) & (along_edge <= 1 + 1e-9), t, np.inf))
        return np.stack(found) if found else np.full((1, len(x[0])), np.inf)

    def near(self, x: Sequence[Floats], distance: float) -> Bools:
        found = np.zeros(np.broadcast(*x).shape, np.bool_)
        for a, b, c, d in self._edges():
            squared = (c - a) ** 2 + (d - b) ** 2
            u, v = x[0] - a, x[1] - b
            t = np.clip((u * (c - a) + v * (d - b)) / squared, 0.0, 1.0) if squared > 0 else 0.0
            found |= (u - t * (c - a)) ** 2 + (v - t * (d - b)) ** 2 <= distance**2
        return found

    def moved(self, turn: Floats, factor: float, shift: Floats) -> Geometry:
        return Polygon._of(np.array([factor * apply(turn, corner) + shift for corner in self.points]))


def _edge(points: Floats, number: int) -> str:
    """The ends of an edge, for people."""
    return " to ".join(f"({x:.6g}, {y:.6g})" for x, y in (points[number], points[(number + 1) % len(points)]))


class Prism(Geometry):
    """A polygon extruded along an axis; see `Polygon.extrude`."""

    dimensions = 3

    def __init__(self, polygon: Polygon, low: float | None, high: float | None, axis: str) -> None:
        if not isinstance(polygon, Polygon):
            raise TypeError(f"polygon: {checks.shown(polygon)} given, must be a Polygon")
        self.polygon = polygon
        self.axis = checks.choice("axis", axis, _ACROSS)
        self.low = -math.inf if low is None else checks.number("low", low)
        self.high = math.inf if high is None else checks.number("high", high, above=self.low)
        self._across, self.along = _ACROSS[self.axis], "xyz".index(self.axis)

    def __repr__(self) -> str:
        return f"Prism({self.polygon!r}, {self.low!r}, {self.high!r}, {self.axis!r})"

    def fingerprint(self) -> str:
        return f"Prism({self.polygon.fingerprint()}, {self.low!r}, {self.high!r}, {self.axis!r})"

    @property
    def bounds(self) -> Floats:
        bounds = np.empty((2, 3))
        bounds[:, self._across] = self.polygon.bounds
        bounds[:, self.along] = self.low, self.high
        return bounds

    @property
    def volume(self) -> float:
        return self.polygon.volume * (self.high - self.low)

    def _plane(self, x: Sequence[Any]) -> list[Any]:
        return [x[k] for k in self._across]

    def inside(self, *x: Floats) -> Bools:
        along = x[self.along]
        return np.asarray(self.polygon.inside(*self._plane(x)) & (along >= self.low) & (along <= self.high))

    def crossings(self, x: Sequence[Floats], step: Sequence[float]) -> Floats:
        found = []
        if any(self._plane(step)):
            found.append(self.polygon.crossings(self._plane(x), self._plane(step)))
        if step[self.along] != 0:
            ends = [end for end in (self.low, self.high) if math.isfinite(end)]
            found += [((end - x[self.along]) / step[self.along])[np.newaxis] for end in ends]
        return np.concatenate(found) if found else np.full((1, len(x[0])), np.inf)

    def near(self, x: Sequence[Floats], distance: float) -> Bools:
        along = x[self.along]
        within = (along >= self.low - distance) & (along <= self.high + distance)
        ends = (np.abs(along - self.low) <= distance) | (np.abs(along - self.high) <= distance)
        return np.asarray((self.polygon.near(self._plane(x), distance) & within) | ends)

    def moved(self, turn: Floats, factor: float, shift: Floats) -> Geometry:
        if not (turn == np.eye(3)).all():
            scaled = self.moved(np.eye(3), factor, np.zeros(3)) if factor != 1 else self
            return Placed(scaled, turn, shift)
        polygon = self.polygon.moved(np.eye(2), factor, shift[list(self._across)])
        assert isinstance(polygon, Polygon)
        low, high = (factor * end + float(shift[self.along]) for end in (self.low, self.high))
        return Prism(polygon, low if math.isfinite(low) else None, high if math.isfinite(high) else None, self.axis)
