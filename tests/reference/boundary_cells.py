"""Conditions that make all populations at once that come in through a face into the cell before it, in plain NumPy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from .boundaries import Link
    from .lattice import Reference

Array = NDArray[np.float64]
Place = tuple[int, tuple[int, ...]]
"""A face and a cell before it."""


@dataclass
class BoundaryCell:
    """What a formula reads: see ``condition.h`` of the engine, whose names these are."""

    reference: Reference
    face: int
    cell: tuple[int, ...]
    value: Any
    arrived: Array
    """What has streamed into all cells."""
    missing: frozenset[int]
    """Velocities along which nothing has, as a formula of this form makes what comes in."""
    numbers: dict[Place, Array]
    """Of all cells, before the step."""

    @property
    def axis(self) -> int:
        return self.face // 2

    @property
    def inward(self) -> int:
        return 1 if self.face % 2 == 0 else -1

    def moments(self, k: int) -> tuple[float, Array]:
        """Density and velocity so many cells inwards, or of the last one of the fluid."""
        at = self.cell
        for _ in range(k):
            following = tuple(x + self.inward * (axis == self.axis) for axis, x in enumerate(at))
            if not 0 <= following[self.axis] < self.reference.shape[self.axis] or self.reference.solid[following]:
                break
            at = following
        return float(self.reference.density()[at]), self.reference.velocity()[(slice(None), *at)]

    def departed(self, i: int) -> float:
        return float(self.reference.f[(i, *self.cell)])

    def streamed(self, i: int) -> float:
        assert i not in self.missing
        return float(self.arrived[(i, *self.cell)])

    def stored(self) -> Array:
        return self.numbers[self.face, self.cell]

    def stored_by_neighbour(self, axis: int, side: int) -> Array:
        shape = self.reference.shape
        at = list(self.cell)
        at[axis] += 2 * side - 1
        if self.reference.faces[2 * axis] == "periodic":
            at[axis] %= shape[axis]
        return self.numbers.get((self.face, tuple(at)), self.stored())


Start = Callable[[BoundaryCell], Array]
Complete = Callable[[BoundaryCell], tuple[Array, Array]]
FORMULAS: dict[str, tuple[Start, Complete]] = {}
"""By kind of face: the numbers that a cell starts with; those after a step, and all populations that could come in."""


def boundary_cells(
    reference: Reference, links: Sequence[Link], arrived: Array, numbers: dict[Place, Array]
) -> dict[Place, tuple[BoundaryCell, list[int], str]]:
    """The cells that links of such faces lead into: what a formula reads there, velocities that come in, kind."""
    missing: dict[tuple[int, ...], set[int]] = {}
    for link in links:
        missing.setdefault(link.cell, set()).add(link.i)
    found: dict[Place, tuple[BoundaryCell, list[int], str]] = {}
    for link in links:
        place = link.face, link.cell
        if place not in found:
            value, velocities = reference.face_value(link), frozenset(missing[link.cell])
            cell = BoundaryCell(reference, *place, value, arrived, velocities, numbers)
            found[place] = cell, [], link.kind
        found[place][1].append(link.i)
    return found


def complete(reference: Reference, links: Sequence[Link], arrived: Array, numbers: dict[Place, Array]) -> None:
    """Put what comes in through such faces into `arrived`, and the numbers after the step in the place of `numbers`.

    Args:
        reference: with the state before the step.
        links: all that such faces govern.
        arrived: what has streamed in along all others.
        numbers: empty where a state was set.
    """
    cells = boundary_cells(reference, links, arrived, numbers)
    if not numbers:
        numbers |= {place: FORMULAS[kind][0](cell) for place, (cell, _, kind) in cells.items()}
    after = {place: (FORMULAS[kind][1](cell), velocities) for place, (cell, velocities, kind) in cells.items()}
    for place, ((stored, incoming), velocities) in after.items():
        numbers[place] = stored
        for i in velocities:
            arrived[(i, *place[1])] = incoming[i]
