"""The links that the surfaces of bodies cut, of the cells that a process knows, as the engine takes them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..body import Body
from ..conditions import CUT_WALLS
from ..geometry.base import Links
from ..geometry.cells import in_order
from ..parallel.subdomain import Subdomain
from ..values import Floats
from .body_cells import BodyCells


@dataclass(frozen=True)
class BodyLinks:
    """The links to a body at known distances.

    Attributes:
        links: that the surface cuts, from a known fluid cell to one of the body, in the engine's order; by their cells
            in the domain.
        numbers: of the engine, of each: of the cell times Q plus the direction.
        points: ``(D, N)``, the coordinates of where each is cut.
        condition: the engine's name of the walls.
    """

    links: Links
    numbers: NDArray[np.int64]
    points: Floats
    condition: str

    @classmethod
    def of(cls, body: Body, subdomain: Subdomain, cells: BodyCells, stencil: _core.Stencil) -> BodyLinks | None:
        """Those of a body; None of one with half-way walls."""
        scheme = body.scheme
        if scheme not in CUT_WALLS:
            return None
        axes, size = subdomain.axes(subdomain.known), np.array(subdomain.known[1])
        velocities = np.asarray(stencil.c, np.int64)
        found = body.links_within(axes, velocities, cells.solid_at_known)
        end = found.cells + velocities[found.directions]
        wraps = np.array(subdomain.periodic) & (size == np.array(subdomain.shape))
        end = np.where(wraps, end % size, end)
        inside = ((end >= 0) & (end < size)).all(axis=1)
        leads = np.zeros(len(end), np.bool_)
        leads[inside] = cells.mask(body.name)[tuple(end[inside].T)]
        chosen = found.at(leads)
        place = np.zeros(len(chosen.q), np.int64)
        for axis in reversed(range(len(size))):
            place = place * size[axis] + chosen.cells[:, axis]
        order = np.argsort(place * stencil.Q + chosen.directions)
        chosen = chosen.at(order)
        in_domain = np.stack([axis[at] for axis, at in zip(axes, chosen.cells.T, strict=True)], axis=1)
        points = in_domain.T + 0.5 + chosen.q * velocities[chosen.directions].T
        numbers = place[order] * stencil.Q + chosen.directions
        return cls(chosen.with_cells(in_domain), numbers, points, CUT_WALLS[scheme])


def in_blocks(links: Links, subdomain: Subdomain) -> Links:
    """Those of some links of the domain that are of cells which this process computes, sorted."""
    inside = np.zeros(len(links.cells), np.bool_)
    for offset, extent in subdomain.own:
        inside |= ((links.cells >= offset) & (links.cells < np.add(offset, extent))).all(axis=1)
    return Links(*in_order([links.at(inside)], subdomain.shape))
