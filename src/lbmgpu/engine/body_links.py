"""The links that the surfaces of bodies cut, of the cells that a process knows, as the engine takes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..body import Body
from ..conditions import CUT_WALLS
from ..domain import Domain
from ..geometry.base import Geometry, Links
from ..geometry.cells import HIDDEN, LEAST, in_order
from ..parallel.subdomain import Subdomain
from ..values import Floats
from .body_cells import BodyCells

_ROUND_A_CORNER = 3
"""Links of a way round a corner of a thick part, at most."""


@dataclass(frozen=True)
class BodyLinks:
    """The links from known fluid cells that the surface of a body cuts, with those of its sheets: links to other fluid
    cells, where it is thinner than a cell.

    Attributes:
        links: in the engine's order, by their cells in the domain. With half-way walls those of sheets alone.
        numbers: of the engine, of each: of the cell times Q plus the direction.
        points: ``(D, N)``, the coordinates of where each is cut, beside the solid cell.
        condition: the engine's name of the walls; empty for half-way ones.
        behind: the fluid cells behind its sheets, as an index of arrays of the known cells.
        at_sheets: those of its sheets, among the links.
        open: how many links of cells that this process computes are cut by parts thinner than a cell, and are no walls,
            as another body moves.
    """

    links: Links
    numbers: NDArray[np.int64]
    points: Floats
    condition: str
    behind: tuple[NDArray[np.int64], ...]
    at_sheets: NDArray[np.int64]
    open: int = 0

    @classmethod
    def of(
        cls, body: Body, subdomain: Subdomain, cells: BodyCells, stencil: _core.Stencil, *, grazing: bool = True
    ) -> BodyLinks | None:
        """Those of a body; None of one whose surface is not known. Without `grazing`, and with half-way walls, links
        between fluid cells that graze a thick part are not among them."""
        if body.geometry is None and body.links is None:
            return None
        axes, size = subdomain.axes(subdomain.known), np.array(subdomain.known[1])
        velocities = np.asarray(stencil.c, np.int64)
        found = body.links_within(axes, velocities, cells.solid_at_known, cells.device)
        end = found.cells + velocities[found.directions]
        joined = np.array(subdomain.periodic) & (size == np.array(subdomain.shape))  # axes along which the ends meet
        end = np.where(joined, end % size, end)
        inside = ((end >= 0) & (end < size)).all(axis=1)
        leads, between = np.zeros((2, len(end)), np.bool_)
        leads[inside] = cells.mask(body.name)[tuple(end[inside].T)]
        between[inside] = ~cells.solid_at_known[tuple(end[inside].T)]
        sheets = _from_both_ends(found.at(between), end[between], size, stencil)
        condition = CUT_WALLS.get(body.scheme, "")
        is_thick = not _is_sheet(body, cells.without_cells)
        if is_thick and not condition and body.geometry is not None:
            sheets = sheets.at(~_graze(sheets, found, cells.solid_at_known, joined, stencil))
        if is_thick and not grazing:
            sheets = sheets.at(~_graze(sheets, found, cells.solid_at_known, joined, stencil, _ROUND_A_CORNER))
        if not condition:
            sheets = Links(sheets.cells, sheets.directions, np.full(len(sheets.q), HIDDEN))
        leads &= condition != ""
        chosen = Links(*(np.concatenate(parts) for parts in zip(found.at(leads), sheets, strict=True)))
        numbers = _numbers(chosen.cells, chosen.directions, size, stencil)
        order = np.argsort(numbers)
        at_sheets = np.flatnonzero(order >= np.count_nonzero(leads))
        chosen = chosen.at(order)
        behind = (chosen.cells + velocities[chosen.directions])[at_sheets]
        in_domain = np.stack([axis[at] for axis, at in zip(axes, chosen.cells.T, strict=True)], axis=1)
        points = in_domain.T + 0.5 + chosen.q * velocities[chosen.directions].T
        points += _back(in_domain + velocities[chosen.directions], at_sheets, subdomain).T
        parts = (points, condition, tuple(np.where(joined, behind % size, behind).T), at_sheets)
        return cls(chosen.with_cells(in_domain), numbers[order], *parts)

    def without_sheets(self) -> BodyLinks:
        """Those that lead to cells of the body alone."""
        kept = np.ones(len(self.numbers), np.bool_)
        kept[self.at_sheets] = False
        nowhere = tuple(axis[:0] for axis in self.behind)
        points = np.ascontiguousarray(self.points[:, kept])
        return BodyLinks(self.links.at(kept), self.numbers[kept], points, self.condition, nowhere, self.at_sheets[:0])


def _back(ends: NDArray[np.int64], at_sheets: NDArray[np.int64], subdomain: Subdomain) -> NDArray[np.int64]:
    """What takes the points of links that go through periodic faces to the solid cells that they lead to, at the other
    end, as functions of coordinates have to know them there."""
    shape = np.array(subdomain.shape)
    back = np.where(subdomain.periodic, ends % shape - ends, 0)
    back[at_sheets] = 0
    return np.asarray(back)


def _is_sheet(body: Body, without_cells: Sequence[str]) -> bool:
    """Whether a body is a sheet as a whole, and not only thin in parts."""
    return body.name in without_cells or getattr(body.geometry, "sheet", False)


def _numbers(
    cells: NDArray[np.int64], directions: NDArray[np.int64], size: NDArray[np.int64], stencil: _core.Stencil
) -> NDArray[np.int64]:
    """The engine's numbers of links of cells of a box."""
    place = np.zeros(len(cells), np.int64)
    for axis in reversed(range(len(size))):
        place = place * size[axis] + cells[:, axis]
    return np.asarray(place * stencil.Q + directions)


def _from_both_ends(links: Links, ends: NDArray[np.int64], size: NDArray[np.int64], stencil: _core.Stencil) -> Links:
    """Links between fluid cells with those that were found from one end only, where rounding hides the other cut."""
    opposite = np.asarray(stencil.opposite, np.int64)[links.directions]
    missing = ~np.isin(_numbers(ends, opposite, size, stencil), _numbers(links.cells, links.directions, size, stencil))
    return Links(
        np.concatenate([links.cells, ends[missing]]),
        np.concatenate([links.directions, opposite[missing]]),
        np.concatenate([links.q, np.clip(1 - links.q[missing], LEAST, 1.0)]),
    )


def _graze(
    sheets: Links,
    found: Links,
    solid: NDArray[np.bool_],
    joined: NDArray[np.bool_],
    stencil: _core.Stencil,
    steps: int = 2,
) -> NDArray[np.bool_]:
    """Which links between fluid cells graze a thick part, and do not go through a thin one: links that nothing cuts
    lead to the same cell by way of others.

    Args:
        sheets: the links, from both ends.
        found: all that the surface cuts.
        solid: the known cells that are solid.
        joined: the axes along which these are the whole of a periodic domain.
        stencil: of the links.
        steps: how many links the way round has.
    """
    velocities, size = np.asarray(stencil.c, np.int64), np.array(solid.shape)
    cut = np.unique(np.concatenate([_numbers(each.cells, each.directions, size, stencil) for each in (sheets, found)]))
    direction_along = np.zeros((3,) * len(size), np.int64)  # 0, which is at rest, where there is none
    direction_along[tuple(velocities.T + 1)] = np.arange(len(velocities))

    def is_open(cells: NDArray[np.int64], directions: NDArray[np.int64]) -> NDArray[np.bool_]:
        numbers = _numbers(cells, directions, size, stencil)
        return np.asarray(cut[np.minimum(np.searchsorted(cut, numbers), len(cut) - 1)] != numbers)

    def leads(cells: NDArray[np.int64], away: NDArray[np.int64], count: int) -> NDArray[np.bool_]:
        """Whether so many open links lead from cells to fluid cells so far away."""
        if count == 1:
            directions = direction_along[tuple(away.T + 1)]
            return np.asarray((directions > 0) & is_open(cells, directions))
        there = np.zeros(len(cells), np.bool_)
        for first, step in enumerate(velocities):
            if first == 0:
                continue
            after = np.where(joined, (cells + step) % size, cells + step)
            own = np.flatnonzero(~there & (abs(away - step) < count).all(axis=1))
            own = own[((after[own] >= 0) & (after[own] < size)).all(axis=1)]
            own = own[~solid[tuple(after[own].T)]]
            own = own[is_open(cells[own], np.full(len(own), first))]
            there[own] = leads(after[own], away[own] - step, count - 1)
        return there

    return leads(sheets.cells, velocities[sheets.directions], steps)


def links_of_bodies(
    domain: Domain, subdomain: Subdomain, cells: BodyCells, stencil: _core.Stencil
) -> dict[str, BodyLinks]:
    """The links of all bodies at rest whose surfaces are known.

    In a domain with a body that moves, links that graze the others are no walls, nor are those that parts of them
    thinner than a cell cut (`BodyLinks.open`): walls between fluid cells change post-collision populations that those
    of moving bodies read, and which comes first would depend on the blocks. Sheets, which would have no wall at all,
    keep theirs, to be refused.
    """
    has_moving = any(body.motion is not None for body in domain.bodies.values())
    links = {}
    for name, body in domain.bodies.items():
        if body.motion is not None:
            continue
        found = BodyLinks.of(body, subdomain, cells, stencil, grazing=not has_moving)
        if found is not None and has_moving and not _is_sheet(body, cells.without_cells):
            count = len(in_blocks(found.links.at(found.at_sheets), subdomain).q)
            found = replace(found.without_sheets(), open=count)
        if found is not None:
            links[name] = found
    return links


def links_through(geometry: Geometry, low: NDArray[np.int64], high: NDArray[np.int64], stencil: _core.Stencil) -> int:
    """How many links between fluid cells go through parts of a geometry that are thinner than a cell, among the cells
    from `low` to before `high`; each counts once."""
    size, velocities = high - low, np.asarray(stencil.c, np.int64)
    solid = geometry.solid(low.tolist(), size.tolist())
    found = geometry.links(low.tolist(), size.tolist(), velocities, solid)
    end = found.cells + velocities[found.directions]
    between: NDArray[np.bool_] = np.asarray(((end >= 0) & (end < size)).all(axis=1))
    between[between] = ~solid[tuple(end[between].T)]
    sheets = _from_both_ends(found.at(between), end[between], size, stencil)
    grazes = _graze(sheets, found, solid, np.zeros(len(size), np.bool_), stencil, _ROUND_A_CORNER)
    return int(np.count_nonzero(~grazes)) // 2


def refuse_sheets(names: Sequence[str], has_moving: bool) -> None:
    """Raise ValueError for a body that is a sheet in a domain with a body that moves."""
    if names and has_moving:
        raise ValueError(
            f"body {names[0]!r}: a sheet in a domain with a body that moves, must be at least a cell thick there"
        )


def in_blocks(links: Links, subdomain: Subdomain) -> Links:
    """Those of some links of the domain that are of cells which this process computes, sorted."""
    inside = np.zeros(len(links.cells), np.bool_)
    for offset, extent in subdomain.own:
        inside |= ((links.cells >= offset) & (links.cells < np.add(offset, extent))).all(axis=1)
    return Links(*in_order([links.at(inside)], subdomain.shape))
