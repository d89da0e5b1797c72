"""Fields that stay in a GPU's memory: which arrays may, and what checks see of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .. import _core
from ..parallel.subdomain import Box
from ..values import Floats
from .foreign_arrays import GpuArray
from .settings import Settings


@dataclass(frozen=True)
class GpuField:
    """A field in a GPU's memory, whose numbers are finite.

    Attributes:
        array: as the engine takes it.
        lowest, highest: the least and the largest number.
        extremes: what checks of its range look at in its place: the least and the largest number, ``(2,)``; of a
            vector field the longest vector, ``(D, 1)``.
    """

    array: _core.GpuArray
    lowest: float
    highest: float
    extremes: Floats


def field_of(
    settings: Settings, given: GpuArray, components: int | None, box: Box, reference: float = 0.0
) -> GpuField | None:
    """The field that an array is in a box, without a copy on the host.

    Args:
        settings: of the solver.
        given: of the domain, or of this process's window.
        components: their number; None for a number a cell.
        box: of the cells that count.
        reference: that the engine subtracts.

    Returns:
        None for an array that has to go through the host: where this process has blocks on the CPU; where it is
        uniform, or has not the shape, the numbers or the cells that are needed; and where some are not finite, so that
        errors are those of an array of the host.
    """
    if not settings.devices or "cpu" in settings.devices:
        return None
    subdomain, lead = settings.subdomain, () if components is None else (components,)
    if given.shape == lead + subdomain.shape:
        first = (0,) * len(subdomain.shape)
    elif box == subdomain.window and subdomain.is_part(given.shape, components or 0):
        first = subdomain.window[0]
    else:
        return None
    array = given.on_gpu(first, settings.devices[0], reference)
    found = None if array is None else array.extremes(*box)
    if array is None or found is None:
        return None
    lowest, highest, longest = found
    extremes = np.array([lowest, highest]) if components is None else np.array(longest)[:, None]
    return GpuField(array, lowest, highest, extremes)
