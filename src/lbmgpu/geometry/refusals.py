"""What messages say of geometries that no domain can take: of other dimensions, elsewhere, or with nothing inside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .base import Geometry

REMEDY = "scale it, translate it, or fit it to a box"
"""What to do about a geometry that is of other units or elsewhere."""
_NOTHING_LEFT = {
    "difference": "what is taken from it covers all of it, or all but a thin layer",
    "intersection": "its parts do not overlap",
    "union": "nothing is in its parts",
}
"""Why nothing is in what is made of two geometries, by its kind."""


def check_dimensions(name: str, geometry: Geometry, dimensions: int) -> None:
    """Raise ValueError for a geometry of other dimensions than those of the domain, and say how to have it there."""
    if geometry.dimensions == dimensions:
        return
    if hasattr(geometry, "extrude"):
        right = ": give polygon.extrude(low, high, axis)"
    elif dimensions == 3:
        right = ": give three coordinates, or a polygon that is extruded"
    else:
        right = ", of two coordinates"
    raise ValueError(
        f"{name}: a geometry in {geometry.dimensions} dimensions given, must be one in {dimensions}, as the domain"
        f"{right}"
    )


def why_nothing(geometry: Geometry, volume: float | None = None) -> str | None:
    """Why nothing is in a geometry, whatever the domain, and what to do about it; None if something is, or it is a
    sheet, which has nothing inside.

    Args:
        volume: of the geometry, if it is known.
    """
    if geometry.has_sheet or (geometry.volume if volume is None else volume) != 0:
        return None
    kind = getattr(geometry, "kind", None)
    if kind is not None:
        return f"nothing is left of the {kind}: {_NOTHING_LEFT[kind]}; move or scale its parts"
    low, high = geometry.bounds.tolist()
    flat = [axis for axis, a, b in zip("xyz", low, high, strict=False) if a == b]
    along = f" along {' and '.join(flat)}" if flat else ""
    right = ", or make it a sheet: lbm.Mesh(vertices, triangles, sheet=True)" if geometry.dimensions == 3 else ""
    return f"it has zero thickness{along}; give it a thickness{right}"


def place(geometry: Geometry, shape: Sequence[int]) -> str:
    """Where a geometry is and how large the domain is, and how to move one into the other."""
    return f"{extent(geometry)}, the domain has {tuple(shape)} cells; must be in cells: {REMEDY}"


def extent(geometry: Geometry) -> str:
    """The bounds of a geometry, in words."""
    low, high = (", ".join(f"{x:.6g}" for x in end) for end in geometry.bounds)
    return f"it is from ({low}) to ({high})"
