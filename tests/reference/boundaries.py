"""Which links do not simply stream, and what arrives along them.

A link is a cell x and a direction i whose source x - c_i lies beyond a face, in a body or behind a sheet. Faces are
numbered -x, +x, -y, +y, -z, +z = 0 .. 5.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .stencils import Stencil

INLETS = ("regularized-inlet", "characteristic-inlet", "nonequilibrium-inlet", "velocity-inlet")
OUTLETS = ("characteristic-outlet", "pressure-outlet")
GOVERNING = ("no-slip", "moving-wall", *INLETS, *OUTLETS, "local-outflow")
"""Kinds of face that decide a link alone, the strongest first."""


@dataclass(frozen=True)
class Link:
    """Where population `i` of `cell` comes from; a face acts with the value that it has beside `cell`.

    `kind` is ``fluid`` or ``outflow`` (population `j` of `source`), ``body`` (`source` is the solid cell, or the fluid
    cell behind a sheet, and `j` the direction off it, mirrored by a free-slip face between; `body` is whose it is), or
    the kind of the face `face` whose value at the tangential index `at` holds.
    """

    i: int
    cell: tuple[int, ...]
    kind: str
    source: tuple[int, ...] = ()
    j: int = -1
    face: int = -1
    at: tuple[int, ...] = ()
    body: int = -1


Sheets = Mapping[tuple[tuple[int, ...], int], int]
"""The body that a fluid cell has a wall of towards the fluid cell in a direction."""


def crossed_faces(source: Sequence[int], shape: Sequence[int]) -> list[int]:
    """The faces that a link with this source comes through, in face order."""
    faces = []
    for axis, (s, n) in enumerate(zip(source, shape, strict=True)):
        if s < 0:
            faces.append(2 * axis)
        elif s >= n:
            faces.append(2 * axis + 1)
    return faces


def governing_face(faces: Sequence[str], crossed: Sequence[int]) -> int | None:
    """The crossed face that decides the link alone, or None if all of them redirect it."""
    for kind in GOVERNING:
        for face in crossed:
            if faces[face] == kind:
                return face
    return None


def redirected(
    stencil: Stencil, faces: Sequence[str], shape: Sequence[int], i: int, source: Sequence[int], crossed: Sequence[int]
) -> tuple[int, tuple[int, ...]]:
    """Direction and cell inside the domain that a link across periodic, free-slip and outflow faces leads to."""
    where = list(source)
    c = stencil.c[i].copy()
    for face in crossed:
        axis = face // 2
        if faces[face] == "periodic":
            where[axis] %= shape[axis]
        else:
            where[axis] = 0 if face % 2 == 0 else shape[axis] - 1
            if faces[face] == "free-slip":
                c[axis] = -c[axis]
    return stencil.index(c), tuple(where)


def sheet_before(
    stencil: Stencil, faces: Sequence[str], sheets: Sheets, cell: tuple[int, ...], i: int, crossed: Sequence[int]
) -> int | None:
    """The body whose sheet a link meets before it enters a cell; where faces redirect it, on the way along them."""
    if not sheets:
        return None
    way = -stencil.c[i]
    for face in crossed:
        if faces[face] != "periodic":
            way[face // 2] = 0
    return sheets.get((cell, stencil.index(way))) if way.any() else None


def special_links(stencil: Stencil, faces: Sequence[str], body_of: NDArray[np.int64], sheets: Sheets) -> Iterator[Link]:
    """All links into fluid cells that cross a face or meet a body; `body_of` is -1 in fluid cells."""
    shape = body_of.shape
    for cell in np.ndindex(shape):
        if body_of[cell] >= 0:
            continue
        for i in range(1, stencil.Q):
            source = tuple(int(x) for x in np.subtract(cell, stencil.c[i]))
            crossed = crossed_faces(source, shape)
            face = governing_face(faces, crossed)
            if face is not None:
                at = tuple(int(a) for a in np.delete(cell, face // 2))
                yield Link(i, cell, faces[face], face=face, at=at)
                continue
            j, where = redirected(stencil, faces, shape, i, source, crossed)
            sheet = sheet_before(stencil, faces, sheets, cell, i, crossed)
            if body_of[where] >= 0:
                yield Link(i, cell, "body", source=where, j=j, body=int(body_of[where]))
            elif sheet is not None:
                yield Link(i, cell, "body", source=where, j=j, body=sheet)
            elif crossed:
                outflow = any(faces[face] == "outflow" for face in crossed)
                if outflow and (where, j) in sheets:
                    where, j = cell, i
                yield Link(i, cell, "outflow" if outflow else "fluid", source=where, j=j)
