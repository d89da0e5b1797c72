"""Whether a drag is to be trusted, by how well the cells resolve the boundary layers: a verdict and its sentence."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..solver.surface import Surface

MOST_Y_PLUS = 2.0
FEWEST_CELLS = 2.0
"""Of a laminar boundary layer, whose thickness is about the length of the body by the root of the Reynolds number."""


@dataclass(frozen=True)
class YPlus:
    """y+ of a place half a cell off the surface of a body, over its triangles by their areas.

    Attributes:
        mean: over the surface.
        most: what 95 % of the surface are below.
        above: the part of the surface where it is above 2.
    """

    mean: float
    most: float
    above: float

    def __str__(self) -> str:
        return f"y+ {self.mean:.3g} on average, below {self.most:.3g} on 95 % of the surface"


@dataclass(frozen=True)
class Trust:
    """What is to be said of a drag; printed, a sentence.

    Attributes:
        resolved: whether the boundary layers are.
        cells: of a laminar boundary layer, ``cells / sqrt(Reynolds number)``.
        y_plus: by body; those of bodies without triangles are not there.
        capped: whether the Reynolds number is lower than that of the flow that is meant.
    """

    resolved: bool
    cells: float
    y_plus: Mapping[str, YPlus]
    capped: tuple[float, float] | None

    def __str__(self) -> str:
        found = "; ".join(f"{name}: {value}" for name, value in self.y_plus.items()) or "y+ is not known"
        layer = f"a laminar boundary layer has {self.cells:.2g} cells"
        text = (
            f"The boundary layers are resolved: {layer}, {found}."
            if self.resolved
            else f"The drag is not to be trusted, as the boundary layers are unresolved: {layer} and needs "
            f"{FEWEST_CELLS:g}, {found}, and should be below {MOST_Y_PLUS:g}."
        )
        if self.capped is not None:
            text += f" The flow has a Reynolds number of {self.capped[0]:.3g} in place of {self.capped[1]:.3g}."
        return text


def y_plus_of(surface: Surface) -> YPlus | None:
    """That of a surface; None where no triangle is exposed."""
    known = surface.exposed
    if not known.any():
        return None
    values, areas = surface.y_plus[known], surface.areas[known]
    order = np.argsort(values)
    share = np.cumsum(areas[order]) / areas.sum()
    most = float(values[order][min(int(np.searchsorted(share, 0.95)), len(order) - 1)])
    mean = float(np.average(values, weights=areas))
    return YPlus(mean, most, float(areas[values > MOST_Y_PLUS].sum() / areas.sum()))


def judged(cells: float, reynolds: float, meant: float, y_plus: Mapping[str, YPlus]) -> Trust:
    """The verdict."""
    of_layer = cells / math.sqrt(reynolds)
    resolved = of_layer >= FEWEST_CELLS and all(each.most <= MOST_Y_PLUS for each in y_plus.values())
    return Trust(resolved, of_layer, dict(y_plus), (reynolds, meant) if reynolds < meant else None)
