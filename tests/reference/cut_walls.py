"""Walls of bodies at known distances: what comes off them, and the force on them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .boundaries import Link, crossed_faces
from .stencils import CS2

if TYPE_CHECKING:
    from .lattice import Reference

Array = NDArray[np.float64]
Place = tuple[tuple[int, ...], int]
"""A fluid cell, and the direction from it to the wall."""


@dataclass(frozen=True)
class Cuts:
    """The links that the surface of a body cuts: their distances, and the velocity and the deviation of the temperature
    of the wall where they are given there and not for its cells. A body that `holds_temperature` has it there. Those
    between fluid cells are from both ends; of ``"halfway"`` walls only they count."""

    scheme: str
    distance: dict[Place, float]
    velocity: dict[Place, Array] = field(default_factory=dict)
    holds_temperature: bool = False
    temperature: dict[Place, float] = field(default_factory=dict)


def bouzidi(q: float, outgoing: float, returning: float, streamed: float, momentum: float) -> float:
    """Bouzidi, Firdaouss & Lallemand, Phys. Fluids 13 (2001) 3452."""
    if 2 * q < 1:
        return 2 * q * outgoing + (1 - 2 * q) * streamed + momentum
    return (outgoing + momentum) / (2 * q) + (1 - 1 / (2 * q)) * returning


def central_linear(q: float, outgoing: float, returning: float, streamed: float, momentum: float) -> float:
    """Ginzburg, Verhaeghe & d'Humieres, Commun. Comput. Phys. 3 (2008) 427: the scheme CLI."""
    kappa = (1 - 2 * q) / (1 + 2 * q)
    return outgoing + kappa * streamed - kappa * returning + 2 / (1 + 2 * q) * momentum


def interpolated(q: float, outgoing: float, returning: float, streamed: float, momentum: float) -> float:
    """A linear interpolation too, as the sum of both (Ginzburg & d'Humieres, Phys. Rev. E 68 (2003) 066614)."""
    given = q, outgoing, returning, streamed, momentum
    return 0.75 * central_linear(*given) + 0.25 * bouzidi(*given)


FORMULAS = {"interpolated": interpolated, "bouzidi": bouzidi, "central-linear": central_linear}


def sheets(reference: Reference) -> dict[Place, int]:
    """The body that a fluid cell has a wall of towards the fluid cell in a direction, the nearest of several."""
    found: dict[Place, tuple[float, int]] = {}
    for body, cuts in reference.cuts.items():
        for (cell, i), distance in cuts.distance.items():
            end = np.add(cell, reference.stencil.c[i])
            crossed = crossed_faces(end.tolist(), reference.shape)
            if any(reference.faces[face] != "periodic" for face in crossed) or reference.solid[cell]:
                continue
            if not reference.solid[tuple(end % reference.shape)]:
                q = 0.5 if cuts.scheme == "halfway" else distance
                found[cell, i] = min((q, body), found.get((cell, i), (np.inf, -1)))
    return {place: body for place, (_, body) in found.items()}


def has_distances(reference: Reference, body: int) -> bool:
    """Whether a body has walls at known distances."""
    return body in reference.cuts and reference.cuts[body].scheme != "halfway"


def place_of(reference: Reference, link: Link) -> Place | None:
    """Where the surface of its body cuts a link; None for one that it does not cut, or that a face redirects."""
    cuts = reference.cuts.get(link.body)
    place = link.cell, int(reference.stencil.opposite[link.i])
    crossed = crossed_faces(np.subtract(link.cell, reference.stencil.c[link.i]).tolist(), reference.shape)
    is_direct = all(reference.faces[face] == "periodic" for face in crossed)
    return place if cuts is not None and is_direct and place in cuts.distance else None


def velocity_of(reference: Reference, link: Link) -> Array:
    """The velocity of the wall that a link meets."""
    place, body = place_of(reference, link), link.body
    if place is not None and place in reference.cuts[body].velocity:
        return reference.cuts[body].velocity[place]
    return np.asarray(reference.wall_velocities[body][(slice(None), *link.source)])


def distance_of(reference: Reference, link: Link) -> float:
    """From the centre of the cell to the wall, as a fraction of the link: 1/2 where what would stream in against the
    population does not come from a fluid cell."""
    place = place_of(reference, link)
    towards = reference.special.get((link.cell, int(reference.stencil.opposite[link.i])))
    if not has_distances(reference, link.body) or place is None or (towards is not None and towards.kind != "fluid"):
        return 0.5
    return reference.cuts[link.body].distance[place]


def come_off(reference: Reference, arrived: Array) -> None:
    """Change what comes off the walls, after all else has streamed in."""
    for link in reference.links:
        body = link.body
        if link.kind != "body" or not has_distances(reference, body):
            continue
        stencil, back = reference.stencil, int(reference.stencil.opposite[link.i])
        off = float(stencil.c[link.j] @ velocity_of(reference, link))
        momentum = 2 * stencil.w[link.i] * reference.inertia(reference.reference_density) * off / CS2
        arrived[(link.i, *link.cell)] = FORMULAS[reference.cuts[body].scheme](
            distance_of(reference, link),
            reference.f[(back, *link.cell)],
            reference.f[(link.i, *link.cell)],
            arrived[(back, *link.cell)],
            momentum,
        )


def exchanged(reference: Reference, link: Link, arrived: Array) -> tuple[Array, float]:
    """The momentum that a body takes up along a link, with pressure relative to density 1, and the distance.

    Of a wall at known distances relative to it: Wen, Zhang, Tu, Wang & Fang, J. Comput. Phys. 266 (2014) 161.
    """
    stencil, back = reference.stencil, reference.stencil.opposite[link.i]
    off, rest = stencil.c[link.j], stencil.w[link.i]
    out, into = reference.f[(back, *link.cell)] - rest, arrived[(link.i, *link.cell)] - rest
    if not has_distances(reference, link.body):
        return -off * (out + into), 0.5
    wall = velocity_of(reference, link)
    return (-off - wall) * out - (off - wall) * into, distance_of(reference, link)
