"""Means of fields over axes of the domain, of its fluid cells, with the same bits for any layout and number of ranks.

Sums are of integers: numbers are rounded to fixed point first, in words of which 2^31 can be added up.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import checks
from ..engine.simulation import Simulation
from ..parallel.subdomain import Subdomain
from ..values import Floats

WORD = 32
"""Bits from a word of a fixed-point number to the next."""

ENGINE_UNIT = -11
"""The power of two that is the unit of the first word of the engine's sums."""


def axes_of(over: Any, dimensions: int) -> tuple[int, ...]:
    """The numbers of the axes that a string such as ``"xz"`` names; raises TypeError or ValueError for another one."""
    names = "xyz"[:dimensions]
    if not isinstance(over, str):
        raise TypeError(f"over: {checks.shown(over)} given, must be the names of axes, such as 'xz'")
    if not over or set(over) - set(names) or len(set(over)) < len(over):
        raise ValueError(f"over: {checks.shown(over)} given, must be axes of {names!r}, each once")
    return tuple(sorted("xyz".index(axis) for axis in over))


def own_cells(subdomain: Subdomain) -> NDArray[np.bool_]:
    """Whether each cell of a process's window is of one of its own blocks."""
    origin, extent = subdomain.window
    own = np.zeros(extent, dtype=bool)
    for offset, size in subdomain.own:
        own[tuple(slice(a - b, a - b + n) for a, n, b in zip(offset, size, origin, strict=True))] = True
    return own


class AxisMeans:
    """Means over axes of a simulation's domain. All ranks call the methods together.

    Args:
        simulation: whose fields they are.
        axes: that the means go over.

    Attributes:
        counts: fluid cells that each mean is of, ``(n, ...)`` along the other axes.
    """

    def __init__(self, simulation: Simulation, axes: tuple[int, ...]) -> None:
        self._simulation = simulation
        self.axes = axes
        subdomain = simulation.subdomain
        self._offset, self._size = subdomain.window
        self.fluid = own_cells(subdomain) & ~simulation.bodies.solid
        """Whether a cell of the window is one of this process's fluid cells."""
        self.counts = self._over_ranks(self.fluid.sum(axis=axes, dtype=np.int64))

    def of(self, values: Floats) -> Floats:
        """The mean of an array ``(..., nx, ny[, nz])`` of this process's window."""
        lead = values.shape[: values.ndim - len(self._size)]
        flat = values.reshape(-1, *self._size)
        return np.stack([self._of_one(part) for part in flat]).reshape(*lead, *self.counts.shape)

    def _of_one(self, values: Floats) -> Floats:
        values = np.where(self.fluid, values, 0.0)
        largest = self._simulation.processes.agreed(float(np.max(np.abs(values), initial=0.0)))
        if not np.isfinite(largest):
            return np.full(self.counts.shape, np.nan)
        exponent = int(np.frexp(largest)[1]) + 1 - WORD  # the first word is at most 2^31 in magnitude
        rest = np.ldexp(values, -exponent)
        words = []
        for _ in range(2):
            word = np.rint(rest)
            rest = np.ldexp(rest - word, WORD)
            words.append(word.astype(np.int64).sum(axis=self.axes))
        return self.from_words(np.stack(words, axis=-1), exponent)

    def from_words(self, words: NDArray[np.int64], unit: int) -> Floats:
        """The mean from this process's sums.

        Args:
            words: of the sums, along the last axis; the others are those of the window that the mean does not go over.
            unit: the power of two that is the unit of the first word.
        """
        whole = np.stack([self._over_ranks(words[..., k]) for k in range(words.shape[-1])], axis=-1)
        sums = np.zeros(self.counts.shape)
        for k in reversed(range(whole.shape[-1])):
            sums += np.ldexp(whole[..., k].astype(np.float64), unit - WORD * k)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(sums / self.counts)

    def extreme(self, values: Floats, largest: bool) -> Floats:
        """The least or largest number of an array ``(..., nx, ny[, nz])`` over the axes; NaN without fluid cells."""
        sign = -1.0 if largest else 1.0
        masked = np.where(self.fluid, sign * values, np.inf)
        lead = values.ndim - len(self._size)
        own = masked.min(axis=tuple(lead + axis for axis in self.axes))
        whole = np.full((*own.shape[:lead], *self.counts.shape), np.inf)
        for offset, part in self._parts(own):
            at: Any = (..., *(slice(a, a + n) for a, n in zip(offset, part.shape[lead:], strict=True)))
            whole[at] = np.minimum(whole[at], part)
        return np.where(self.counts > 0, sign * whole, np.nan)

    def expanded(self, mean: Floats) -> Floats:
        """A mean ``(..., n, ...)`` for arrays of this process's window, with axes of length 1 where it goes over."""
        lead = mean.ndim - self.counts.ndim
        axes = enumerate(zip(self._offset, self._size, strict=True))
        here: Any = (..., *(slice(a, a + n) for axis, (a, n) in axes if axis not in self.axes))
        return np.expand_dims(mean[here], tuple(lead + axis for axis in self.axes))

    def _over_ranks(self, own: NDArray[np.int64]) -> NDArray[np.int64]:
        """Integer sums of this process's window, added up over all processes, for the whole domain."""
        shape = [n for axis, n in enumerate(self._simulation.domain.shape) if axis not in self.axes]
        whole = np.zeros(shape, dtype=np.int64)
        for offset, part in self._parts(own):
            whole[tuple(slice(a, a + n) for a, n in zip(offset, part.shape, strict=True))] += part
        return whole

    def _parts(self, own: NDArray[Any]) -> list[tuple[list[int], NDArray[Any]]]:
        """The arrays of all processes, with their offsets along the axes that are left."""
        offset = [a for axis, a in enumerate(self._offset) if axis not in self.axes]
        if self._simulation.processes.size == 1:
            return [(offset, own)]
        parts = self._simulation.processes.shared([offset, own.tolist()])
        return [(place, np.array(numbers, dtype=own.dtype)) for place, numbers in parts]
