"""A geometry of three dimensions turned and shifted."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .base import Bools, Floats, Geometry
from .matrices import apply, product


class Placed(Geometry):
    """A geometry of three dimensions turned and shifted, where its own numbers cannot say so."""

    dimensions = 3

    def __init__(self, inner: Geometry, turn: Floats, shift: Floats) -> None:
        self.inner, self.turn, self.shift = inner, turn, shift
        self.has_sheet = inner.has_sheet

    def __repr__(self) -> str:
        return f"Placed({self.inner!r}, {self.turn.tolist()}, {self.shift.tolist()})"

    def fingerprint(self) -> str:
        return f"placed({self.inner.fingerprint()}, {self.turn.tolist()}, {self.shift.tolist()})"

    def _to_inner(self, x: Sequence[Floats]) -> list[Floats]:
        from_center = [a - float(b) for a, b in zip(x, self.shift, strict=True)]
        return [sum(float(self.turn[j, k]) * from_center[j] for j in range(3)) for k in range(3)]  # type: ignore[misc]

    def from_inner(self, points: Floats) -> Floats:
        """Points ``(n, 3)`` of the inner geometry where they are in this one."""
        return np.asarray(points @ self.turn.T + self.shift)

    @property
    def bounds(self) -> Floats:
        low, high = self.inner.bounds
        with np.errstate(invalid="ignore"):
            ends = [np.where(self.turn == 0, 0.0, self.turn * end) for end in (low, high)]
        first, last = np.minimum(*ends).sum(axis=1), np.maximum(*ends).sum(axis=1)
        return np.stack([first + self.shift, last + self.shift])

    @property
    def volume(self) -> float:
        return self.inner.volume

    def inside(self, *x: Floats) -> Bools:
        return self.inner.inside(*self._to_inner(x))

    def crossings(self, x: Sequence[Floats], step: Sequence[float]) -> Floats:
        along = [float(sum(self.turn[j, k] * step[j] for j in range(3))) for k in range(3)]
        return self.inner.crossings(self._to_inner(x), along)

    def near(self, x: Sequence[Floats], distance: float) -> Bools:
        return self.inner.near(self._to_inner(x), distance)

    def moved(self, turn: Floats, factor: float, shift: Floats) -> Geometry:
        inner = self.inner.moved(np.eye(3), factor, np.zeros(3)) if factor != 1 else self.inner
        return Placed(inner, product(turn, self.turn), factor * apply(turn, self.shift) + shift)
