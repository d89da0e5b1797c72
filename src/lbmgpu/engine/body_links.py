"""The links that the surfaces of bodies cut, of the cells that a process knows, as the engine takes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..body import Body
from ..conditions import CUT_WALLS
from ..domain import Domain
from ..geometry.base import Links
from ..geometry.cells import HIDDEN, LEAST, in_order
from ..parallel.subdomain import Subdomain
from ..values import Floats
from .body_cells import BodyCells


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
    """

    links: Links
    numbers: NDArray[np.int64]
    points: Floats
    condition: str
    behind: tuple[NDArray[np.int64], ...]
    at_sheets: NDArray[np.int64]

    @classmethod
    def of(cls, body: Body, subdomain: Subdomain, cells: BodyCells, stencil: _core.Stencil) -> BodyLinks | None:
        """Those of a body; None of one whose surface is not known."""
        if body.geometry is None and body.links is None:
            return None
        axes, size = subdomain.axes(subdomain.known), np.array(subdomain.known[1])
        velocities = np.asarray(stencil.c, np.int64)
        found = body.links_within(axes, velocities, cells.solid_at_known, cells.device)
        end = found.cells + velocities[found.directions]
        wraps = np.array(subdomain.periodic) & (size == np.array(subdomain.shape))
        end = np.where(wraps, end % size, end)
        inside = ((end >= 0) & (end < size)).all(axis=1)
        leads, between = np.zeros((2, len(end)), np.bool_)
        leads[inside] = cells.mask(body.name)[tuple(end[inside].T)]
        between[inside] = ~cells.solid_at_known[tuple(end[inside].T)]
        sheets = _from_both_ends(found.at(between), end[between], size, stencil)
        condition = CUT_WALLS.get(body.scheme, "")
        if not condition and body.geometry is not None and not _is_sheet(body, cells.without_cells):
            sheets = sheets.at(~_graze(sheets, found, cells.solid_at_known, wraps, stencil))
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
        parts = (points, condition, tuple(np.where(wraps, behind % size, behind).T), at_sheets)
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
    sheets: Links, found: Links, solid: NDArray[np.bool_], wraps: NDArray[np.bool_], stencil: _core.Stencil
) -> NDArray[np.bool_]:
    """Which links between fluid cells graze a thick part, and do not go through a thin one: two links that nothing cuts
    lead to the same cell by way of a third one.

    Args:
        sheets: the links, from both ends.
        found: all that the surface cuts.
        solid: the known cells that are solid.
        wraps: the axes along which these are the whole of a periodic domain.
        stencil: of the links.
    """
    velocities, size = np.asarray(stencil.c, np.int64), np.array(solid.shape)
    cut = np.unique(np.concatenate([_numbers(each.cells, each.directions, size, stencil) for each in (sheets, found)]))

    def is_open(cells: NDArray[np.int64], direction: int) -> NDArray[np.bool_]:
        numbers = _numbers(cells, np.full(len(cells), direction), size, stencil)
        return np.asarray(cut[np.minimum(np.searchsorted(cut, numbers), len(cut) - 1)] != numbers)

    grazes = np.zeros(len(sheets.q), np.bool_)
    for direction in np.unique(sheets.directions):
        own = np.flatnonzero(sheets.directions == direction)
        for first, step in enumerate(velocities):
            second = np.flatnonzero((velocities == velocities[direction] - step).all(axis=1))
            if first == direction or not step.any() or len(second) == 0:
                continue
            start = sheets.cells[own]
            third = np.where(wraps, (start + step) % size, start + step)
            known = ((third >= 0) & (third < size)).all(axis=1)
            start, third, there = start[known], third[known], own[known]
            is_fluid = ~solid[tuple(third.T)]
            grazes[there] |= is_fluid & is_open(start, first) & is_open(third, int(second[0]))
    return grazes


def with_moving_bodies(
    links: Mapping[str, BodyLinks], domain: Domain, without_cells: Sequence[str]
) -> dict[str, BodyLinks]:
    """The links of bodies at rest in a domain with a body that moves: links that graze them are no walls there.

    Walls between fluid cells change post-collision populations that those of moving bodies read, and which comes first
    would depend on the blocks.

    Raises:
        ValueError: a body is a sheet.
    """
    for name in links:
        if _is_sheet(domain.bodies[name], without_cells):
            raise ValueError(
                f"body {name!r}: a sheet in a domain with a body that moves, must be at least a cell thick there"
            )
    return {name: found.without_sheets() for name, found in links.items()}


def in_blocks(links: Links, subdomain: Subdomain) -> Links:
    """Those of some links of the domain that are of cells which this process computes, sorted."""
    inside = np.zeros(len(links.cells), np.bool_)
    for offset, extent in subdomain.own:
        inside |= ((links.cells >= offset) & (links.cells < np.add(offset, extent))).all(axis=1)
    return Links(*in_order([links.at(inside)], subdomain.shape))
