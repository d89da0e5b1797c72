"""A body of a domain: solid cells with a name, of a mask, a function or a geometry."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import checks, values
from .conditions import Condition
from .geometry.base import Geometry


@dataclass(frozen=True, eq=False)
class Body:
    """Solid cells with a name.

    Attributes:
        name: of the body.
        shape: of the domain.
        offset: where `cells` begins in the domain; of a function 0.
        cells: read-only bool array, True in the body, of a box of the domain; or a geometry, or a callable of
            coordinates that gives an array.
        condition, thermal: of the flow and of the temperature.
        is_part: whether `cells` is only what this process was given of the body.
        given: the box, offset and shape, that arrays of values for its cells cover.
    """

    name: str
    shape: tuple[int, ...]
    offset: tuple[int, ...]
    cells: NDArray[np.bool_] | Callable[..., Any]
    condition: Condition
    thermal: Condition
    is_part: bool
    given: tuple[tuple[int, ...], tuple[int, ...]]

    def __post_init__(self) -> None:
        if not callable(self.cells):
            self.cells.flags.writeable = False

    def __reduce__(self) -> tuple[Any, ...]:
        """Its arguments, for pickle and copy, which would leave the cells writeable."""
        return Body, tuple(getattr(self, field.name) for field in fields(self))

    @property
    def geometry(self) -> Geometry | None:
        """What it was made of; None of a mask or a callable."""
        return self.cells if isinstance(self.cells, Geometry) else None

    @property
    def mask(self) -> NDArray[np.bool_]:
        """Read-only bool array ``(nx, ny[, nz])`` of the whole domain, True in the body; each time a new one.

        Of a body that several processes were given in parts it has this process's part.
        """
        mask = self.within([np.arange(n) for n in self.shape])
        mask.flags.writeable = False
        return mask

    def within(self, axes: Sequence[NDArray[np.int64]]) -> NDArray[np.bool_]:
        """A new bool array of the cells with these numbers along each axis, True in the body.

        Raises:
            TypeError, ValueError: a function does not give that.
        """
        region = tuple(len(axis) for axis in axes)
        if isinstance(self.cells, Geometry):
            return _within(self.cells, axes)
        if callable(self.cells):
            found = values.call(
                f"mask of body {self.name!r}", self.cells, values.centres([axis + 0.5 for axis in axes])
            )
            array = checks.any_array(f"mask of body {self.name!r}", found, "a bool array")
            if array.dtype != np.bool_ or array.shape not in ((), region):
                raise TypeError(
                    f"mask of body {self.name!r}: the callable returned {checks.shown(array)}, must return bool of "
                    f"shape {region} (such as x > 0)"
                )
            return np.array(np.broadcast_to(array, region))
        mask = np.zeros(region, dtype=np.bool_)
        inside = [
            np.flatnonzero((axis >= low) & (axis < low + n))
            for axis, low, n in zip(axes, self.offset, self.cells.shape, strict=True)
        ]
        here = [axis[at] - low for axis, at, low in zip(axes, inside, self.offset, strict=True)]
        if all(len(at) > 0 for at in inside):
            mask[values.as_index(inside)] = self.cells[values.as_index(here)]
        return mask


def _within(geometry: Geometry, axes: Sequence[NDArray[np.int64]]) -> NDArray[np.bool_]:
    """The cells of a geometry with these numbers along each axis, which may go on at the other end of the domain."""
    mask = np.zeros(tuple(len(axis) for axis in axes), dtype=np.bool_)
    breaks = [[0, *(np.flatnonzero(np.diff(axis) != 1) + 1).tolist(), len(axis)] for axis in axes]
    for piece in itertools.product(*(itertools.pairwise(ends) for ends in breaks)):
        if all(start < stop for start, stop in piece):
            offset = [int(axis[start]) for axis, (start, _) in zip(axes, piece, strict=True)]
            found = geometry.solid(offset, [stop - start for start, stop in piece])
            mask[tuple(slice(start, stop) for start, stop in piece)] = found
    return mask
