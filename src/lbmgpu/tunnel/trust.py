"""Whether drag and lift are to be trusted, by state, forces, gaps and boundary layers; and why not, in sentences."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..geometry.gaps import NARROWEST
from ..geometry.report import FEWEST_ACROSS
from ..solver.surface import Surface
from ..values import Floats

MOST_Y_PLUS = 2.0
FEWEST_CELLS = 2.0
"""Of a laminar boundary layer, whose thickness is about the length of the body by the root of the Reynolds number."""
MOST_SPEED = 2.5
"""Times the stream: what flows about edges and through gaps is faster than it, but not by more than that."""
MOST_MACH = 0.3
"""By the sound of the lattice: above it errors of compressibility are of a tenth."""
MOST_DENSITY = 0.05
"""Off 1, either way."""
MOST_SWING = 3.0
"""Of a force between even and odd steps, by the mean drag: small swings leave the mean right, large ones do not."""
MOST_RELAXATION = 2.0
"""Steps of a relaxation time, above which the flow next to walls is not that of its viscosity."""
LEAST_REYNOLDS = 10.0
"""Below it what a body does to the flow goes on for many lengths to all sides, so that the box changes its drag."""
FEWEST_TURNOVERS = 5.0
"""Of samples, below which intervals of batch means are too narrow."""
MOST_DIFFERENCE = 0.1
"""Of the drag that a surface adds up to and that of its links, by the latter."""
LEAST_EXPOSED = 0.95
"""Of the area of a surface, of which less has another sum than all of it."""
FEWEST_OF_A_SWING = 4
"""Samples after even steps, and after odd ones."""
_UNKNOWN = "Whether the boundary layers are resolved is not known, as no triangles are known of a body"


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
class Gap:
    """A gap that is too narrow for a flow through it.

    Attributes:
        body: beside it.
        cells: across it, at the narrowest place; 0 if it is closed, as no centre of a cell is in it.
        is_to_ground: whether it is between the body and the ground; else between its parts, or to another body.
    """

    body: str
    cells: int
    is_to_ground: bool


@dataclass(frozen=True)
class State:
    """The extremes of a state in lattice units, and how forces swing.

    Attributes:
        speed: the largest one, cells a step.
        cell: index ``(x, y, z)`` of the cell that has it.
        lowest, highest: density.
        swings: of ``"drag"`` and ``"lift"``, the means after even and after odd steps; empty without enough samples.
        drag: the mean; 0 without samples.
    """

    speed: float
    cell: tuple[int, ...]
    lowest: float
    highest: float
    swings: Mapping[str, tuple[float, float]]
    drag: float


@dataclass(frozen=True)
class Trust:
    """What is to be said of drag and lift; printed, sentences, the worst first.

    Attributes:
        resolved: whether the boundary layers are; None where y+ of a body is not known, and nothing says that they are
            not.
        cells: of a laminar boundary layer, ``cells / sqrt(Reynolds number)``.
        y_plus: by body; those of bodies without triangles are not there.
        capped: the Reynolds number and that of the flow that is meant, where it is lower; else None.
        reasons: why drag and lift are not to be trusted, a sentence each, the worst first; empty if nothing is known.
    """

    resolved: bool | None
    cells: float
    y_plus: Mapping[str, YPlus]
    capped: tuple[float, float] | None
    reasons: tuple[str, ...] = ()

    def __str__(self) -> str:
        if self.reasons:
            text = " ".join(["Drag and lift are not to be trusted; the reasons, the worst first:", *self.reasons])
        else:
            is_known = "The boundary layers are resolved" if self.resolved else _UNKNOWN
            text = f"{is_known}: {_of_layer(self.cells, self.y_plus)}."
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


def drag_of(surface: Surface) -> float | None:
    """What pressure and friction on a surface add up to along x; None where other bodies cover some of it."""
    if surface.areas[surface.exposed].sum() < LEAST_EXPOSED * surface.areas.sum():
        return None
    return float(surface.force[0])


def swings_of(steps: NDArray[Any], rows: Mapping[str, Floats]) -> dict[str, tuple[float, float]]:
    """The means of samples after even and after odd steps, by the name of a force; none of too few samples."""
    even = steps % 2 == 0
    if min(np.count_nonzero(even), np.count_nonzero(~even)) < FEWEST_OF_A_SWING:
        return {}
    return {name: (float(of[even].mean()), float(of[~even].mean())) for name, of in rows.items()}


def judged(
    cells: float,
    reynolds: float,
    meant: float,
    y_plus: Mapping[str, YPlus],
    *,
    state: State | None = None,
    speed: float = 0.0,
    sound: float = 3**-0.5,
    gaps: Sequence[Gap] = (),
    across: Mapping[str, float] | None = None,
    blockage: float | None = None,
    turnovers: float | None = None,
    drags: Mapping[str, tuple[float, float]] | None = None,
) -> Trust:
    """The verdict.

    Args:
        cells: the length of the bodies.
        reynolds: of the flow that is computed, by that length.
        meant: of the flow that is meant.
        y_plus: by body; of those without triangles it is not known.
        state: None where it is not known.
        speed: of the stream.
        sound: the speed of sound of the lattice.
        gaps: narrow ones.
        across: cells across each body, of all bodies.
        blockage: the part of the cross-section that they cover; None where it is not known.
        turnovers: that samples of the coefficients are of; None where it is not known.
        drags: by body, its coefficient as its surface adds up to, and by its links; of bodies of which both are known.
    """
    of_layer = cells / math.sqrt(reynolds)
    is_known = len(y_plus) > 0 and all(name in y_plus for name in across or {})
    is_fine = of_layer >= FEWEST_CELLS and all(each.most <= MOST_Y_PLUS for each in y_plus.values())
    resolved = None if is_fine and not is_known else is_fine
    reasons = [] if state is None else [*_of_state(state, speed, sound), *_of_swings(state)]
    reasons += _of_relaxation(0.5 + speed * cells / reynolds / sound**2, speed)
    reasons += _of_sides(reynolds, blockage)
    reasons += [_of_gap(gap, cells) for gap in sorted(gaps, key=lambda gap: gap.cells)]
    if resolved is False:
        reasons.append(
            f"The boundary layers are unresolved: {_of_layer(of_layer, y_plus)}; needed are {FEWEST_CELLS:g} cells "
            f"and a y+ below {MOST_Y_PLUS:g}."
        )
    reasons += _of_drags(drags or {})
    reasons += [
        f"Body {name!r} is {own:.3g} cells across, fewer than {FEWEST_ACROSS}: its shape is one of steps."
        for name, own in (across or {}).items()
        if own < FEWEST_ACROSS
    ]
    reasons += _of_turnovers(turnovers)
    capped = (reynolds, meant) if reynolds < meant else None
    return Trust(resolved, of_layer, dict(y_plus), capped, tuple(reasons))


def _of_layer(cells: float, y_plus: Mapping[str, YPlus]) -> str:
    found = "; ".join(f"{name}: {value}" for name, value in y_plus.items()) or "y+ is not known"
    return f"a laminar boundary layer has {cells:.2g} cells, {found}"


def _of_state(state: State, speed: float, sound: float) -> list[str]:
    found = []
    if state.speed > MOST_SPEED * speed:
        place = ", ".join(map(str, state.cell))
        found.append(f"the top speed is {state.speed / speed:.2g} times the stream, at cell ({place})")
    if state.speed > MOST_MACH * sound:
        found.append(f"the Mach number on the lattice goes up to {state.speed / sound:.2g}, above {MOST_MACH:g}")
    if max(1 - state.lowest, state.highest - 1) > MOST_DENSITY:
        found.append(f"the density goes from {state.lowest:.3g} to {state.highest:.3g}, further off 1 than 5 %")
    return [f"The state is not that of such a flow: {'; '.join(found)}."] if found else []


def _of_swings(state: State) -> list[str]:
    found = [
        f"{name} is {even:.3g} after even and {odd:.3g} after odd ones"
        for name, (even, odd) in state.swings.items()
        if abs(even - odd) > MOST_SWING * abs(state.drag)
    ]
    if not found:
        return []
    return [
        "Forces swing from one step to the next by several times the drag, which walls one or two cells apart do not "
        f"damp, and their means are not those of a flow then: {', '.join(found)}."
    ]


def _of_relaxation(time: float, speed: float) -> list[str]:
    if time <= MOST_RELAXATION:
        return []
    slower = speed * (MOST_RELAXATION - 0.5) / (time - 0.5)
    return [
        f"The relaxation time is {time:.3g} steps, above {MOST_RELAXATION:g}: walls move with the viscosity then; it "
        f"is {MOST_RELAXATION:g} with speed={slower:.2g}, or with fewer cells."
    ]


def _of_sides(reynolds: float, blockage: float | None) -> list[str]:
    if reynolds >= LEAST_REYNOLDS:
        return []
    given = "" if blockage is None else f", here {100 * blockage:.2g} %"
    return [
        f"At a Reynolds number of {reynolds:.3g}, below {LEAST_REYNOLDS:g}, the sides of the tunnel and its blockage"
        f"{given}, change the drag more than the cells do, and make it larger than in free air: give less 'blockage', "
        "until the drag no longer changes with it."
    ]


def _of_drags(drags: Mapping[str, tuple[float, float]]) -> list[str]:
    return [
        f"Pressure and friction on the surface of body {name!r} add up to a drag of {of_surface:.3g}, where the fluid "
        f"loses {of_links:.3g} to it: its cells are too few for the stresses on it."
        for name, (of_surface, of_links) in drags.items()
        if abs(of_surface - of_links) > MOST_DIFFERENCE * abs(of_links)
    ]


def _of_turnovers(turnovers: float | None) -> list[str]:
    if turnovers is None or round(turnovers, 1) >= FEWEST_TURNOVERS:  # the first sample may come a little late
        return []
    count = f"are over {turnovers:.2g} turnovers, fewer than {FEWEST_TURNOVERS:g}" if turnovers > 0 else "have none yet"
    return [
        f"The samples of the coefficients {count}: the flow may still change, and the intervals are too narrow; run "
        "for longer."
    ]


def _of_gap(gap: Gap, cells: float) -> str:
    where = f"between body {gap.body!r} and the ground" if gap.is_to_ground else f"beside body {gap.body!r}"
    if gap.cells == 0:
        return f"The gap {where} is closed, as no centre of a cell is in it: drag and lift are of a body without it."
    width = "1 cell" if gap.cells == 1 else f"{gap.cells} cells"
    return (
        f"The gap {where} is {width} wide, narrower than {NARROWEST}: the flow through it is wrong, and so are drag "
        f"and lift; it has {NARROWEST} with cells_across={math.ceil(NARROWEST * cells / gap.cells)} or so."
    )
