"""Natural convection of a case by its Rayleigh and Prandtl numbers, in place of coefficients that follow from them."""

from __future__ import annotations

import math
from typing import Any

from ..conditions import FreeSlip, MovingWall, NoSlip
from ..errors import ThinLayerWarning, warn
from ..thermal import Convection

_LAYER_CELLS = 5
"""Of a layer at a wall: with fewer, Nusselt numbers may be off by a percent."""
_WALLS = (NoSlip.kind, MovingWall.kind, FreeSlip.kind)
NUMBERS = ("rayleigh", "prandtl", "length", "difference", "velocity", "up")
"""Of `thermal` in a case; the first three are needed."""
_INSTEAD = ("diffusivity", "buoyancy")
ANY = Convection(1e4, 1.0, 64.0)


def is_meant(case: dict[str, Any]) -> bool:
    """Whether a case gives any of the numbers."""
    return any(key in case.get("thermal", {}) for key in NUMBERS)


def of_case(case: dict[str, Any]) -> Convection | None:
    """That of a case that gives its numbers; None of one that gives the coefficients, or has no temperature.

    Raises:
        ValueError: some of the numbers, or both.
    """
    thermal = case.get("thermal", {})
    given = [key for key in NUMBERS if key in thermal]
    if not given:
        return None
    missing = [key for key in NUMBERS[:3] if key not in thermal]
    if missing:
        right = "must have 'rayleigh', 'prandtl' and 'length'"
        raise ValueError(f"has {', '.join(map(repr, given))} without {', '.join(map(repr, missing))}, {right}")
    both = [key for key in _INSTEAD if key in thermal]
    if both:
        raise ValueError(f"{both[0]}: given beside 'rayleigh', must be left out, as it follows from that")
    more = {key: thermal[key] for key in ("velocity", "difference") if key in thermal}
    return Convection(thermal["rayleigh"], thermal["prandtl"], thermal["length"], **more)


def coefficients(case: dict[str, Any]) -> dict[str, Any]:
    """The arguments of `HybridThermal` of a case but for its faces, with those that follow from the numbers.

    Raises:
        ValueError: as `of_case`, or neither the numbers nor the diffusivity.
    """
    thermal, convection = case["thermal"], of_case(case)
    plain = {key: value for key, value in thermal.items() if key not in ("faces", *NUMBERS)}
    if convection is None:
        if "diffusivity" not in thermal:
            raise ValueError("must have either 'diffusivity' or 'rayleigh', 'prandtl' and 'length'")
        return plain
    _check_difference(case, convection)
    _warn_of_thin_layers(convection)
    dimensions = len(case["domain"]["shape"])
    up = thermal.get("up", "+y")
    if up[1] not in "xyz"[:dimensions]:
        raise ValueError(f"up: {up!r} given, must be along an axis of {dimensions} dimensions")
    made = convection.thermal(up)
    return plain | {"diffusivity": made.diffusivity, "buoyancy": list(made.buoyancy)[:dimensions]}


def _check_difference(case: dict[str, Any], convection: Convection) -> None:
    """Raise ValueError where the walls have two temperatures that differ by another number than is given.

    It tells nothing where there are more of them, or heat from elsewhere: of bodies, a source or the initial state.
    """
    thermal, kinds = case["thermal"], {face: entry["condition"] for face, entry in case.get("faces", {}).items()}
    at_walls = {
        entry["temperature"]
        for face, entry in thermal.get("faces", {}).items()
        if entry.get("condition") == "isothermal" and kinds.get(face) in _WALLS
    }
    of_bodies = any("temperature" in body.get("thermal", {}) for body in case.get("bodies", []))
    if "source" in thermal or of_bodies or len(at_walls) != 2:
        return
    low, high = sorted(at_walls)
    initial = case.get("initial", {}).get("temperature", low)
    if isinstance(initial, int | float) and not low <= initial <= high:
        return
    if not math.isclose(high - low, convection.difference, rel_tol=1e-3):
        given = f"difference: {convection.difference:.9g} {'given' if 'difference' in thermal else 'by default'}"
        right = f"give {high - low:.9g}, which the Rayleigh and the Nusselt numbers are of"
        raise ValueError(f"{given}, but the temperatures of the walls differ by {high - low:.9g}; {right}")


def _warn_of_thin_layers(convection: Convection) -> None:
    """Warn where the layers at walls, L / (2 Nu) thick, have few cells.

    Nu = 0.142 Ra^0.3 is within 10 % of what a square or a cube of air has that is heated from the side, at Ra of 1e4 to
    1e7 (docs/validation.md), and taken for others too. With little convection there are no layers.
    """
    expected = 0.142 * convection.rayleigh**0.3
    layer = convection.length / (2 * expected)
    if expected > 2 and layer < _LAYER_CELLS:
        given = f"length: {convection.length:g} given with rayleigh {convection.rayleigh:g}"
        found = f"the layers at heated walls are some {layer:.1f} cells thick, fewer than {_LAYER_CELLS}"
        advice = f"a length of some {2 * _LAYER_CELLS * expected:.0f} gives Nusselt numbers within 1 %"
        warn(f"{given}: {found}; {advice}", ThinLayerWarning)
