"""What a geometry is and what it will be in a domain: sizes, holes, thin parts, gaps, blockage; and its warnings."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..errors import GeometryWarning, warn
from .gaps import NARROWEST, THINNEST, Domain, has_closed_gap, narrowest, thin
from .images import goes_on, periodic_axes
from .outside import cut_off
from .refusals import check_dimensions, why_nothing

if TYPE_CHECKING:
    from .base import Geometry

Bools = NDArray[np.bool_]

FEWEST_ACROSS = 10
"""Cells across a body, below which its shape is lost in steps of cells."""
LARGEST_BLOCKAGE = 0.05
"""Part of the cross-section, above which the sides change the forces on a body that is meant to be alone."""
_OPEN = ("velocity-inlet", "pressure-outlet", "outflow")
MOST_CELLS = 2**22
"""Of a part of the domain that a warning looks at; `describe` takes any."""
_RIM = 4


class Condition(Protocol):
    """What is asked of a condition."""

    @property
    def kind(self) -> str: ...


@dataclass(frozen=True)
class Description:
    """What a geometry is, and with a domain what it will be there; ``str()`` of it says so in lines.

    Attributes:
        name: of its kind.
        bounds: its lowest and highest corner, cells.
        volume: cells, in two dimensions its area.
        triangles: of a mesh, else None.
        is_closed: whether its surface has no hole.
        repairs: of a mesh, what was done and found, by name.
        cells: the domain's that are in it, None without a domain.
        across: cells: the second longest side of its bounds within the domain, in two dimensions the longest.
        thin: how many of its cells are in parts of one or two cells.
        narrowest: cells of the narrowest gap along an axis, to itself, other bodies and walls, if there is one of
            fewer than three; 0 of one to another body or a wall that no centre of a cell is in; else None.
        blockage: the part of the cross-section that it covers, seen along the axis of the inlet; None without one.
        closes: the part of each open face that it covers, of those of which it covers any. Both are without what is
            solid all along that axis of a geometry without ends.
        warnings: what will not do, in words.
    """

    name: str
    bounds: tuple[tuple[float, ...], tuple[float, ...]]
    volume: float
    triangles: int | None
    is_closed: bool
    repairs: Mapping[str, Any]
    cells: int | None = None
    across: float | None = None
    thin: int | None = None
    narrowest: int | None = None
    blockage: float | None = None
    closes: Mapping[str, float] | None = None
    warnings: tuple[str, ...] = ()

    def __str__(self) -> str:
        low, high = self.bounds
        size = " x ".join(f"{b - a:.6g}" for a, b in zip(low, high, strict=True))
        corner = ", ".join(f"{a:.6g}" for a in low)
        what = "volume" if len(low) == 3 else "area"
        lines = [f"{self.name}: {size} cells from ({corner}), {what} {self.volume:.6g}"]
        if self.triangles is not None:
            edges = self.repairs["open_edges"]
            if self.is_closed:
                state = "a sheet" if edges else "closed"
            else:
                state = f"not closed: {edges} edges of one triangle"
            inward = " and turned inwards, which no cell or link depends on" if self.repairs["volume"] < 0 else ""
            lines.append(f"{self.triangles} triangles, {state}{inward if state == 'closed' else ''}")
            done = {"joined": "corners joined", "dropped": "triangles dropped", "flipped": "triangles turned"}
            lines += [f"{self.repairs[key]} {words}" for key, words in done.items() if self.repairs[key]]
        if self.cells is not None:
            lines.append(f"{self.cells} cells, {self.across:.4g} across, {self.thin} of them in thin parts")
            if self.narrowest is not None:
                lines.append(f"a gap of {_cells(self.narrowest)}" if self.narrowest else "a gap that is closed")
            if self.blockage is not None:
                lines.append(f"covers {100 * self.blockage:.3g} % of the cross-section")
        return "\n".join([*lines, *(f"warning: {text}" for text in self.warnings)])


def describe(geometry: Geometry, domain: Domain | None) -> Description:
    """The description of a geometry; see `Geometry.describe`."""
    if domain is not None:
        check_dimensions("domain", geometry, len(domain.shape))
    low, high = geometry.bounds.tolist()
    repairs = getattr(geometry, "repairs", {})
    triangles = getattr(geometry, "triangles", None)
    count = None if triangles is None else len(triangles)
    own = (type(geometry).__name__, (tuple(low), tuple(high)), geometry.volume, count, geometry.is_closed, repairs)
    if domain is None:
        return Description(*own, warnings=tuple(_of_surface(geometry)))
    found = _in_domain(geometry, domain)
    nothing = None if found["cells"] else why_nothing(geometry, own[2])
    outside = [nothing] if nothing else cut_off(geometry, domain.shape, domain.faces)
    warnings = (*_of_surface(geometry), *outside, *_of_domain(found, domain))
    return Description(*own, **found, warnings=warnings)


@dataclass(frozen=True)
class Warned:
    """What was warned of a geometry.

    Attributes:
        faces: the kinds of the conditions of the domain at that time.
        texts: of the warnings.
    """

    faces: tuple[str, ...]
    texts: tuple[str, ...]


def warn_of_geometry(geometry: Geometry, domain: Domain, label: str, before: Warned | None = None) -> Warned:
    """Warn with GeometryWarning of what will not do, of what takes to look at cells only where they are few enough; and
    not again of what was warned of `before`."""
    faces = tuple(condition.kind for condition in domain.faces.values())
    if before is not None and faces == before.faces:
        return before
    low, high = _box(geometry, domain, _RIM)
    if math.prod(b - a for a, b in zip(low, high, strict=True)) <= MOST_CELLS:
        texts = [*_of_surface(geometry), *_of_domain(_in_domain(geometry, domain), domain)]
    else:
        texts = [*_of_surface(geometry), *_of_size(_across(geometry, domain))]
    for text in texts:
        if before is None or text not in before.texts:
            warn(f"{label}: {text}", GeometryWarning)
    return Warned(faces, tuple(texts))


@dataclass(frozen=True)
class Around:
    """A domain as it is asked for, with other faces or bodies."""

    shape: tuple[int, ...]
    faces: Mapping[str, Any]
    bodies: Mapping[str, Any]


def warn_again(domain: Domain) -> None:
    """Warn of the geometries of bodies at rest as `warn_of_geometry` where faces have changed since the bodies were
    added, with the bodies that there were then."""
    earlier: dict[str, Any] = {}
    for name, body in domain.bodies.items():
        if body.geometry is not None and body.motion is None and body.warned is not None:
            around = Around(domain.shape, domain.faces, dict(earlier))
            warn_of_geometry(body.geometry, around, f"body {name!r}", body.warned)
        earlier[name] = body


def _of_surface(geometry: Geometry) -> list[str]:
    repairs = getattr(geometry, "repairs", {})
    return [*_of_copies(repairs.get("twice", 0)), *_of_holes(geometry, repairs.get("open_edges", 0))]


def _of_copies(count: int) -> list[str]:
    if not count:
        return []
    return [
        f"{count} of its triangles are there twice; what copies enclose that are turned alike counts twice in its "
        "volume, and of copies that are turned unlike nothing is inside: keep one of each"
    ]


def _of_holes(geometry: Geometry, edges: int) -> list[str]:
    if geometry.is_closed:
        return []
    holes = f" ({edges} edges belong to one triangle only)" if edges else ""
    return [
        f"its surface is not closed{holes}; where rays do not agree, the winding number decides what is inside: look "
        "at the cells, repair the mesh, or take it as a sheet"
    ]


def _of_size(across: float) -> list[str]:
    if not 0 < across < FEWEST_ACROSS:
        return []
    return [f"it is {across:.3g} cells across, fewer than {FEWEST_ACROSS}; forces on it will be coarse"]


def _of_domain(found: Mapping[str, Any], domain: Domain) -> list[str]:
    texts = _of_size(found["across"]) if found["cells"] else []
    if found["thin"]:
        texts.append(f"{found['thin']} of its cells are in parts of one or two cells, thinner than {THINNEST}")
    if found["narrowest"] == 0:
        texts.append(
            "a gap of less than a cell beside it has no centre of a cell in it and is closed; no fluid will be there: "
            "let them touch, or leave more room"
        )
    elif found["narrowest"] is not None:
        texts.append(
            f"a gap of {_cells(found['narrowest'])} beside it is narrower than {NARROWEST}; flow through it will be "
            "wrong"
        )
    if found["blockage"] is not None and found["blockage"] > LARGEST_BLOCKAGE and not _is_channel(domain):
        texts.append(
            f"it covers {100 * found['blockage']:.3g} % of the cross-section, more than {100 * LARGEST_BLOCKAGE:g} %; "
            "the sides of the domain will change the forces on it"
        )
    for face, covered in (found["closes"] or {}).items():
        texts.append(
            f"it closes {100 * covered:.3g} % of the open face {face!r}; leave cells of fluid between the body and "
            "that face: move the body away from it, or make the domain longer there"
        )
    return texts


def _cells(count: int) -> str:
    return "1 cell" if count == 1 else f"{count} cells"


def _in_domain(geometry: Geometry, domain: Domain) -> dict[str, Any]:
    """What depends on the cells of the domain, by the names of `Description`."""
    low, high = _box(geometry, domain, _RIM)
    size = [b - a for a, b in zip(low, high, strict=True)]
    solid = geometry.solid(low, size)
    others = np.zeros_like(solid)
    for body in domain.bodies.values():
        if body.geometry is not geometry:
            axes = zip(low, high, domain.shape, strict=True)
            others |= body.within([np.arange(a, b) % n for a, b, n in axes])
    least = narrowest(solid | others, domain, low, high)
    closes = {}
    for face, condition in domain.faces.items():
        axis, last = "xyz".index(face[1]), face[0] == "+"
        if condition.kind in _OPEN and (high[axis] == domain.shape[axis] if last else low[axis] == 0):
            at_face = solid[(slice(None),) * axis + (slice(-1, None) if last else slice(1),)].any(axis=axis)
            covered = int(np.count_nonzero(at_face & ~_along_all(geometry, solid, axis)))
            if covered:
                closes[face] = covered / (math.prod(domain.shape) / domain.shape[axis])
    blockage, along = None, _stream_axis(domain)
    if along is not None:
        covers = solid.any(axis=along) & ~_along_all(geometry, solid, along)
        blockage = int(np.count_nonzero(covers)) / (math.prod(domain.shape) / domain.shape[along])
    return {
        "cells": int(np.count_nonzero(solid)),
        "across": _across(geometry, domain),
        "thin": thin(solid),
        "narrowest": 0 if has_closed_gap(geometry, domain, solid, others, low, high) else least,
        "blockage": blockage,
        "closes": closes,
    }


def _along_all(geometry: Geometry, solid: Bools, axis: int) -> Bools:
    """Where cells across an axis are solid all along it, of a geometry without ends there, such as a ground beside the
    stream: that is meant to bound the stream, and not to stand in it."""
    is_endless = bool(np.isinf(geometry.bounds[:, axis]).all())
    return np.asarray(solid.all(axis=axis) & is_endless)


def _box(geometry: Geometry, domain: Domain, rim: int) -> tuple[list[int], list[int]]:
    """The cells that are within the bounds of a geometry and a rim: of the domain, and beyond it along axes where the
    geometry goes on at the other end, so that its parts are together."""
    low, high = [], []
    for first, last, n, continues in zip(*geometry.bounds, domain.shape, _goes_on(geometry, domain), strict=True):
        begins, ends = np.floor(first) - rim, np.ceil(last) + rim
        if continues and ends - begins > n:  # from the first centre in it on
            begins, ends = np.ceil(first - 0.5), np.ceil(first - 0.5) + n
        elif not continues:
            begins, ends = np.clip(begins, 0, n), np.clip(ends, 0, n)
        low.append(int(begins))
        high.append(int(max(begins, ends)))
    return low, high


def _goes_on(geometry: Geometry, domain: Domain) -> tuple[bool, ...]:
    """For each axis, whether the geometry goes on at the other end of the domain."""
    return goes_on(geometry, domain.shape, periodic_axes(domain.shape, domain.faces))


def _across(geometry: Geometry, domain: Domain) -> float:
    every = zip(*geometry.bounds.tolist(), domain.shape, _goes_on(geometry, domain), strict=True)
    sides = [b - a if continues else min(b, float(n)) - max(a, 0.0) for a, b, n, continues in every]
    return float(max(0.0, sorted(sides)[1]))


def _stream_axis(domain: Domain) -> int | None:
    """The axis that the stream enters along, if inlets are on one alone."""
    axes = {"xyz".index(face[1]) for face, condition in domain.faces.items() if condition.kind == "velocity-inlet"}
    return axes.pop() if len(axes) == 1 else None


def _is_channel(domain: Domain) -> bool:
    """Whether walls at rest beside the stream are on two faces or more, so that it is not meant to be without end."""
    axis = _stream_axis(domain)
    sides = [c.kind for face, c in domain.faces.items() if axis is not None and face[1] != "xyz"[axis]]
    return sides.count("no-slip") >= 2
