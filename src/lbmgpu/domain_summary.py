"""What a domain holds, in lines: its faces, bodies and sponges."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from .body import Body
from .conditions import Adiabatic, Condition
from .geometry.base import Geometry

if TYPE_CHECKING:
    from .domain import Domain

_LONGEST = 100
"""Characters of a condition, of which arrays of values may have many."""


def summary(domain: Domain) -> str:
    """The size of a domain, and a line for what faces with the same condition, each body and each sponge are."""
    size = " x ".join(map(str, domain.shape))
    lines = [f"Domain of {size} cells, {domain.stencil}", *_of_faces("faces", domain.faces)]
    if any(not isinstance(condition, Adiabatic) for condition in domain.thermal.values()):
        lines += _of_faces("thermal", domain.thermal)
    lines += [_of_body(body) for body in domain.bodies.values()] or ["no bodies"]
    lines += [
        f"sponge at {sponge.face}: {sponge.thickness} cells, strength {sponge.strength:g}"
        + (f", pull {sponge.pull:g}" if sponge.pull else "")
        for sponge in domain.sponges
    ] or ["no sponges"]
    return "\n".join(lines)


def _of_faces(what: str, faces: Mapping[str, Condition]) -> list[str]:
    """The conditions with the faces that have each, but for arrays of which not all numbers are shown."""
    names: dict[tuple[str, str], list[str]] = {}
    for face, condition in faces.items():
        text = repr(condition)
        names.setdefault((text, face if "..." in text else ""), []).append(face)
    return [f"{what} {' '.join(own)}: {_short(text)}" for (text, _), own in names.items()]


def _of_body(body: Body) -> str:
    if isinstance(body.cells, Geometry):
        what = repr(body.cells)
    elif callable(body.cells):
        what = "a function"
    else:
        count = int(body.cells.sum())
        what = f"a mask of {count} cell{'' if count == 1 else 's'}" + (" known here" if body.is_part else "")
    parts = [_shown(body.condition)]
    if not isinstance(body.thermal, Adiabatic):
        parts.append(_shown(body.thermal))
    if body.motion is not None:
        parts.append(f"moves by {_shown(body.motion)}")
    return f"body {body.name!r}: {_short(what)}, {', '.join(parts)}"


def _shown(value: object) -> str:
    return _short(repr(value))


def _short(text: str) -> str:
    """A text in a line, and cut where it is long."""
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 3]}..."
