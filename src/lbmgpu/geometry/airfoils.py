"""Airfoils: polygons of given coordinates, or of a NACA four-digit series."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import checks
from .base import Floats, point
from .polygon import Polygon

_BEFORE, _BEHIND = -0.5, 1.5
"""Between these must be the coordinates along a chord of 1, also of a slat or a flap beside it."""

_LONGEST_EDGE, _OF_A_CONTOUR = 0.5, 12
"""Of so many points a contour has no two edges as long: files with the top and the bottom one after the other have."""


def airfoil(
    shape: Any, chord: float = 1.0, *, angle: float = 0.0, leading_edge: ArrayLike = (0.0, 0.0), panels: int = 200
) -> Polygon:
    """An airfoil in two dimensions; `Polygon.extrude` makes a wing of it.

    Args:
        shape: coordinates ``(n, 2)`` once around the contour for a chord from (0, 0) to (1, 0), of x from -0.5 to 1.5,
            as `numpy.loadtxt` reads them; or the name of a NACA four-digit airfoil such as ``"naca0012"`` (Jacobs,
            Ward & Pinkerton, NACA report 460, 1933), with the last coefficient of its thickness so that the trailing
            edge is closed.
        chord: its length in cells.
        angle: of attack, degrees: the trailing edge goes down, for a stream along +x.
        leading_edge: where the chord begins; it is turned about this point.
        panels: edges of a NACA airfoil, an even number.

    Raises:
        TypeError, ValueError: a wrong argument.
    """
    chord = checks.number("chord", chord, above=0)
    if isinstance(shape, str):
        corners = _naca(shape, checks.integer("panels", panels, at_least=8, at_most=2**16))
    else:
        corners = _coordinates(shape)
    turned = Polygon(chord * corners).rotate("z", -checks.number("angle", angle))
    placed = turned.translate(point("leading_edge", leading_edge, 2))
    assert isinstance(placed, Polygon)
    return placed


def _coordinates(shape: Any) -> Floats:
    """The corners of given coordinates, which are of a chord of 1."""
    try:
        corners = Polygon(shape).points
    except (TypeError, ValueError) as error:
        raise type(error)(f"shape: {str(error).removeprefix('points: ')}") from None
    low, high = float(corners[:, 0].min()), float(corners[:, 0].max())
    if low < _BEFORE or high > _BEHIND:
        raise ValueError(
            f"shape: coordinates of x from {low:.6g} to {high:.6g} given, must be from about 0 to 1: divide them by "
            "the length of their chord, which chord= brings back in cells"
        )
    jumps = np.flatnonzero(np.abs(np.roll(corners[:, 0], -1) - corners[:, 0]) > _LONGEST_EDGE)
    if len(corners) >= _OF_A_CONTOUR and len(jumps) > 1:
        raise ValueError(
            f"shape: coordinates that jump from one end of the chord to the other behind point {jumps[0] + 1} of "
            f"{len(corners)} given, must go once around the contour: turn round the half before or behind it"
        )
    return corners


def _naca(name: str, panels: int) -> Floats:
    """The corners of a NACA four-digit airfoil, closer together at both edges, from the trailing edge over the top."""
    digits = re.fullmatch(r"(?i)naca[ -]?(\d)(\d)(\d\d)", name)
    if digits is None or digits[3] == "00" or (digits[1] == "0") != (digits[2] == "0"):
        raise ValueError(
            f"shape: {checks.shown(name)} given, must be 'naca' and four digits, such as 'naca0012', or "
            "coordinates: load the file of an airfoil with numpy.loadtxt"
        )
    camber, place, thickness = int(digits[1]) / 100, int(digits[2]) / 10, int(digits[3]) / 100
    x = (1 - np.cos(np.linspace(0, math.pi, panels // 2 + 1))) / 2
    half = 5 * thickness * (0.2969 * np.sqrt(x) - 0.126 * x - 0.3516 * x**2 + 0.2843 * x**3 - 0.1036 * x**4)
    half[-1] = 0.0
    line, slope = np.zeros_like(x), np.zeros_like(x)
    if camber > 0:
        front = x < place
        length = np.where(front, place, 1 - place)
        line = camber / length**2 * np.where(front, 2 * place * x - x**2, 1 - 2 * place + 2 * place * x - x**2)
        slope = 2 * camber / length**2 * (place - x)
    across = np.stack([-slope, np.ones_like(x)]) / np.sqrt(1 + slope**2)
    middle = np.stack([x, line])
    top, bottom = middle + half * across, middle - half * across
    return np.concatenate([top[:, ::-1], bottom[:, 1:-1]], axis=1).T
