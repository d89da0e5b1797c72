"""Spheres, cylinders, boxes and half-spaces, whose distances along a link are roots of their own equations."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from .base import Bools, Floats, Geometry, axis_vector, point
from .matrices import apply
from .placed import Placed
from .polygon import Polygon


class Convex(Geometry):
    """A geometry that a line is in between two points; points on the surface are in it."""

    @abstractmethod
    def between(self, x: Sequence[Floats], step: Sequence[float]) -> tuple[Floats, Floats]:
        """Where lines enter and leave it, in units of `step`; a first number above the second for those that miss."""

    def crossings(self, x: Sequence[Floats], step: Sequence[float]) -> Floats:
        enters, leaves = self.between(x, step)
        missed = ~(enters < leaves)
        return np.stack([np.where(missed, np.inf, enters), np.where(missed, np.inf, leaves)])

    def first_cut(self, x: Sequence[Floats], step: Sequence[float]) -> Floats:
        enters, leaves = self.between(x, step)
        rounding = 1e-9
        hit = (enters < leaves) & (enters >= -rounding) & (enters <= 1 + rounding)
        return np.where(hit & (leaves > rounding), enters, np.inf)


class Sphere(Convex):
    """A sphere; in two dimensions a disc.

    Args:
        center: two or three coordinates.
        radius: above 0.

    Raises:
        TypeError, ValueError: a wrong argument.
    """

    def __init__(self, center: ArrayLike, radius: float) -> None:
        self.center = point("center", center)
        self.radius = checks.number("radius", radius, above=0)
        self.dimensions = len(self.center)

    def __repr__(self) -> str:
        return f"Sphere({tuple(self.center.tolist())}, {self.radius!r})"

    def fingerprint(self) -> str:
        return repr(self)

    @property
    def bounds(self) -> Floats:
        return np.stack([self.center - self.radius, self.center + self.radius])

    @property
    def volume(self) -> float:
        with np.errstate(over="ignore"):
            squared = np.square(np.float64(self.radius))
            return float(math.pi * squared if self.dimensions == 2 else 4 / 3 * math.pi * squared * self.radius)

    def _squared(self, x: Sequence[Floats]) -> Floats:
        with np.errstate(over="ignore"):  # infinitely far
            return sum((np.square(a - c) for a, c in zip(x, self.center, strict=True)), start=np.zeros(()))

    def inside(self, *x: Floats) -> Bools:
        with np.errstate(over="ignore"):
            return np.asarray(self._squared(x) <= np.square(np.float64(self.radius)))

    def between(self, x: Sequence[Floats], step: Sequence[float]) -> tuple[Floats, Floats]:
        a = sum(c * c for c in step)
        w = [each - c for each, c in zip(x, self.center, strict=True)]
        return _roots(a, w, step, self.radius)

    def near(self, x: Sequence[Floats], distance: float) -> Bools:
        return np.asarray(np.abs(np.sqrt(self._squared(x)) - self.radius) <= distance)

    def moved(self, turn: Floats, factor: float, shift: Floats) -> Geometry:
        return Sphere(factor * apply(turn, self.center) + shift, factor * self.radius)


class Cylinder(Convex):
    """A round cylinder in three dimensions; in two it is a `Sphere` of two coordinates.

    Args:
        center: three coordinates of its middle; without `length` of any point on the axis.
        radius: above 0.
        axis: ``"x"``, ``"y"``, ``"z"`` or a vector.
        length: above 0; None for a cylinder without ends.

    Raises:
        TypeError, ValueError: a wrong argument.
    """

    dimensions = 3

    def __init__(
        self,
        center: ArrayLike,
        radius: float,
        axis: ArrayLike = "z",
        length: float | None = None,
    ) -> None:
        self.center = point("center", center, 3)
        self.radius = checks.number("radius", radius, above=0)
        self.axis = axis_vector("axis", axis)
        self.length = math.inf if length is None else checks.number("length", length, above=0)

    @classmethod
    def through(cls, start: ArrayLike, end: ArrayLike, radius: float) -> Cylinder:
        """The cylinder with the middles of its ends at two points.

        Raises:
            TypeError, ValueError: a wrong argument, or twice the same point.
        """
        first, last = point("start", start, 3), point("end", end, 3)
        along = last - first
        length = math.hypot(*along)
        if length == 0:
            raise ValueError(f"end: {checks.shown(end)} given, must be another point than start")
        return cls((first + last) / 2, radius, along, length)

    def __repr__(self) -> str:
        length = None if math.isinf(self.length) else self.length
        center, axis = tuple(self.center.tolist()), tuple(self.axis.tolist())
        return f"Cylinder({center}, {self.radius!r}, {axis}, {length!r})"

    def fingerprint(self) -> str:
        return repr(self)

    @property
    def bounds(self) -> Floats:
        across = self.radius * np.sqrt(np.maximum(0.0, 1 - np.square(self.axis)))
        with np.errstate(invalid="ignore"):
            along = np.where(self.axis == 0, 0.0, np.abs(self.axis) * (self.length / 2))
        return np.stack([self.center - across - along, self.center + across + along])

    @property
    def volume(self) -> float:
        with np.errstate(over="ignore"):
            return float(math.pi * np.square(np.float64(self.radius)) * self.length)

    def _split(self, w: Sequence[Any]) -> tuple[Any, list[Any]]:
        """The part of vectors along the axis, and their vector product with it, which is as long as what is across."""
        a, b, c = (float(n) for n in self.axis)
        along = _sum((w[0], a), (w[1], b), (w[2], c))
        return along, [_sum((w[1], c), (w[2], -b)), _sum((w[2], a), (w[0], -c)), _sum((w[0], b), (w[1], -a))]

    def _from_center(self, x: Sequence[Floats]) -> list[Floats]:
        return [a - float(c) for a, c in zip(x, self.center, strict=True)]

    def inside(self, *x: Floats) -> Bools:
        along, across = self._split(self._from_center(x))
        with np.errstate(over="ignore"):
            squared = sum(np.square(each) for each in across)
            return np.asarray((squared <= np.square(np.float64(self.radius))) & (np.abs(along) <= self.length / 2))

    def between(self, x: Sequence[Floats], step: Sequence[float]) -> tuple[Floats, Floats]:
        along, across = self._split(self._from_center(x))
        step_along, step_across = self._split(step)
        squared = sum(float(c) ** 2 for c in step_across)
        enters, leaves = _roots(squared, across, step_across, self.radius)
        first, last = _slab(along, float(step_along), -self.length / 2, self.length / 2)
        return np.maximum(enters, first), np.minimum(leaves, last)

    def near(self, x: Sequence[Floats], distance: float) -> Bools:
        along, across = self._split(self._from_center(x))
        beyond = np.sqrt(sum(np.square(each) for each in across)) - self.radius
        outside = np.maximum(beyond, np.abs(along) - self.length / 2)
        return np.asarray(np.abs(outside) <= distance)

    def moved(self, turn: Floats, factor: float, shift: Floats) -> Geometry:
        length = None if math.isinf(self.length) else factor * self.length
        center, axis = factor * apply(turn, self.center) + shift, apply(turn, self.axis)
        return Cylinder(center, factor * self.radius, axis, length)


class Box(Convex):
    """A box along the axes, until it is rotated.

    Args:
        low, high: its lowest and highest corner, two or three coordinates each.

    Raises:
        TypeError, ValueError: a wrong corner.
    """

    def __init__(self, low: ArrayLike, high: ArrayLike) -> None:
        self.low = point("low", low)
        self.dimensions = len(self.low)
        self.high = point("high", high, self.dimensions)
        if not (self.low <= self.high).all():
            raise ValueError(f"high: {checks.shown(high)} given, must be at or above low, {checks.shown(low)}")

    def __repr__(self) -> str:
        return f"Box({tuple(self.low.tolist())}, {tuple(self.high.tolist())})"

    def fingerprint(self) -> str:
        return repr(self)

    @property
    def bounds(self) -> Floats:
        return np.stack([self.low, self.high])

    @property
    def volume(self) -> float:
        with np.errstate(over="ignore"):
            return float(np.prod(self.high - self.low))

    def inside(self, *x: Floats) -> Bools:
        found: Any = np.True_
        for each, first, last in zip(x, self.low, self.high, strict=True):
            found = found & (each >= first) & (each <= last)
        return np.asarray(found)

    def between(self, x: Sequence[Floats], step: Sequence[float]) -> tuple[Floats, Floats]:
        enters, leaves = np.full(x[0].shape, -np.inf), np.full(x[0].shape, np.inf)
        for each, c, first, last in zip(x, step, self.low, self.high, strict=True):
            a, b = _slab(each, c, float(first), float(last))
            enters, leaves = np.maximum(enters, a), np.minimum(leaves, b)
        return enters, leaves

    def near(self, x: Sequence[Floats], distance: float) -> Bools:
        beyond: Any = -np.inf
        for each, first, last in zip(x, self.low, self.high, strict=True):
            beyond = np.maximum(beyond, np.maximum(first - each, each - last))
        return np.asarray(np.abs(beyond) <= distance)

    def moved(self, turn: Floats, factor: float, shift: Floats) -> Geometry:
        if np.isin(turn, (-1.0, 0.0, 1.0)).all():
            ends = [factor * apply(turn, end) + shift for end in (self.low, self.high)]
            return Box(np.minimum(*ends), np.maximum(*ends))
        if self.dimensions == 3:
            scaled = Box(factor * self.low, factor * self.high) if factor != 1 else self
            return Placed(scaled, turn, shift)
        return self.corners().moved(turn, factor, shift)

    def corners(self) -> Geometry:
        """The polygon of its corners, in two dimensions."""
        (a, b), (c, d) = self.low, self.high
        return Polygon([(a, b), (c, b), (c, d), (a, d)])


class Plane(Convex):
    """All that is behind a plane, in two dimensions a line; without end.

    Args:
        point: on the plane.
        normal: the vector that points out of the solid, into the fluid; of any length above 0.

    Raises:
        TypeError, ValueError: a wrong argument.
    """

    def __init__(self, point: ArrayLike, normal: ArrayLike) -> None:
        self.point = _point("point", point)
        self.dimensions = len(self.point)
        vector = _point("normal", normal, self.dimensions)
        length = math.hypot(*vector)
        if length == 0 or not math.isfinite(length):
            raise ValueError(f"normal: {checks.shown(normal)} given, must be a vector of a length above 0")
        self.normal = vector / length

    def __repr__(self) -> str:
        return f"Plane({tuple(self.point.tolist())}, {tuple(self.normal.tolist())})"

    def fingerprint(self) -> str:
        return repr(self)

    @property
    def bounds(self) -> Floats:
        bounds = np.stack([np.full(self.dimensions, -np.inf), np.full(self.dimensions, np.inf)])
        axis = int(np.argmax(np.abs(self.normal)))
        if np.count_nonzero(self.normal) == 1:
            bounds[1 if self.normal[axis] > 0 else 0, axis] = self.point[axis]
        return bounds

    @property
    def volume(self) -> float:
        return math.inf

    def _height(self, x: Sequence[Floats]) -> Floats:
        pairs = [(a - float(p), float(n)) for a, p, n in zip(x, self.point, self.normal, strict=True)]
        return np.asarray(_sum(*pairs))

    def inside(self, *x: Floats) -> Bools:
        return np.asarray(self._height(x) <= 0)

    def between(self, x: Sequence[Floats], step: Sequence[float]) -> tuple[Floats, Floats]:
        rise = float(_sum(*zip(step, (float(n) for n in self.normal), strict=True)))
        return _slab(self._height(x), rise, -math.inf, 0.0)

    def near(self, x: Sequence[Floats], distance: float) -> Bools:
        return np.asarray(np.abs(self._height(x)) <= distance)

    def moved(self, turn: Floats, factor: float, shift: Floats) -> Geometry:
        return Plane(factor * apply(turn, self.point) + shift, apply(turn, self.normal))


_point = point


def _sum(*pairs: tuple[Any, float]) -> Any:
    """A sum of products, without those by 0."""
    terms = [a * b for a, b in pairs if b != 0]
    total: Any = terms[0] if terms else 0.0 * pairs[0][0]
    for term in terms[1:]:
        total = total + term
    return total


def _slab(x: Floats, step: float, low: float, high: float) -> tuple[Floats, Floats]:
    """Where lines enter and leave what is between two parallel planes, of their distances from one in between."""
    if step == 0:
        within = (x >= low) & (x <= high)
        return np.where(within, -np.inf, np.inf), np.where(within, np.inf, -np.inf)
    first, last = (low - x) / step, (high - x) / step
    return (first, last) if step > 0 else (last, first)


def _roots(a: float, w: Sequence[Floats], step: Sequence[float], radius: float) -> tuple[Floats, Floats]:
    """The roots t of |w + t step| = radius, a being |step|^2; infinite where there is none or any t is within."""
    w = np.broadcast_arrays(*w)
    length = np.sqrt(sum((np.square(each) for each in w), start=np.zeros(())))
    c = (length - radius) * (length + radius)
    if a == 0:
        return np.where(c <= 0, -np.inf, np.inf), np.where(c <= 0, np.inf, -np.inf)
    b = _sum(*zip(w, step, strict=True))
    squared = b * b - a * c
    half = np.sqrt(np.maximum(squared, 0.0))
    far = -b - np.where(b > 0, half, -half)  # without cancellation
    one, two = far / a, np.divide(c, far, out=np.zeros_like(far), where=far != 0)
    missed = squared < 0
    return np.where(missed, np.inf, np.minimum(one, two)), np.where(missed, -np.inf, np.maximum(one, two))
