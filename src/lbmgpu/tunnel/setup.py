"""What a wind tunnel is made of, as a value: sizes, speeds, the domain and its faces."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import checks
from ..collisions import MAX_VISCOSITY
from ..conditions import FreeSlip, MovingWall, NoSlip, PressureOutlet, VelocityInlet
from ..domain import MAX_SIZE, Domain
from ..errors import GeometryError, TooLittleMemoryError
from ..geometry import Geometry
from ..geometry.report import Around, describe
from ..units import Units
from ..values import Floats
from . import placing

FLUIDS: dict[str, dict[str, float]] = {
    "air": {"viscosity_phys": 1.516e-5, "density_phys": 1.204, "sound_phys": 343.2},
    "water": {"viscosity_phys": 1.004e-6, "density_phys": 998.2, "sound_phys": 1482.0},
}
"""At 20 degrees Celsius and 1 atm: kinematic viscosity in m2/s, density in kg/m3, speed of sound in m/s."""
GROUNDS = ("moving", "fixed")
SIDES = ("slip", "periodic")
BEFORE, BEHIND, BESIDE = 1.5, 3.0, 0.5
"""Clearances from the body in its lengths, up- and downstream between the sponges, and least ones to the sides."""
FEWEST_CELLS, MOST_CELLS = 8, 2**48
"""Along the length of the body, and of a domain."""
FLAT = 3.0
"""Times its length along x that a body may be wide and high before a message on its cells says so."""
INLET_SPONGE, OUTLET_SPONGE = 8, 40
"""Cells, by docs/boundaries.md; less behind bodies of fewer than 80 cells."""


@dataclass(frozen=True)
class TunnelSetup:
    """What follows from the arguments of a `WindTunnel`, which see; in lattice units unless a name ends in ``_phys``.

    Attributes:
        bodies: where they are in the domain.
        domain: with all faces, sponges and bodies.
        units: of it; its viscosity is not the fluid's where the Reynolds number is capped.
        cells: the length of the body.
        speed: of the stream.
        reynolds: of the flow that is computed, by the body's length.
        reynolds_phys: of the flow that is meant.
        viscosity: of the flow that is computed.
        area: the frontal area.
        blockage: the part of the cross-section that it is.
        about: the point that moments are about.
        ground: as given.
        sides: as given.
    """

    bodies: Mapping[str, Geometry]
    domain: Domain
    units: Units
    cells: int
    speed: float
    reynolds: float
    reynolds_phys: float
    viscosity: float
    area: float
    blockage: float
    about: Floats
    ground: str | None
    sides: str


def made(
    body: Any,
    *,
    length_phys: float,
    speed_phys: float,
    fluid: Any,
    cells_across: int,
    reynolds: float | None,
    ground: str | None,
    clearance_phys: float,
    sides: str,
    blockage: float,
    speed: float,
    stencil: str,
) -> TunnelSetup:
    """The setup of a tunnel; TypeError or ValueError names a wrong argument."""
    length_phys = checks.number("length_phys", length_phys, above=0)
    speed_phys = checks.number("speed_phys", speed_phys, above=0)
    properties = _fluid(fluid)
    sound = properties.get("sound_phys", math.inf)
    if speed_phys > checks.MAX_MACH * sound:
        raise ValueError(
            f"speed_phys: {speed_phys:g} given, must be at most {checks.MAX_MACH * sound:.4g}, a Mach number of "
            f"{checks.MAX_MACH:g}: the flow is computed as one without compression"
        )
    cells = checks.integer("cells_across", cells_across, at_least=FEWEST_CELLS, at_most=2**20)
    speed = checks.number("speed", speed, above=0, at_most=0.15)
    blockage = checks.number("blockage", blockage, above=0, at_most=0.25)
    if ground is not None and (not isinstance(ground, str) or ground not in GROUNDS):
        raise ValueError(f"ground: {checks.shown(ground)} given, must be 'moving', 'fixed' or None")
    clearance_phys = checks.number("clearance_phys", clearance_phys, at_least=0)
    if clearance_phys > length_phys:
        raise ValueError(
            f"clearance_phys: {clearance_phys:g} given, must be at most 'length_phys', {length_phys:g}; a body higher "
            "up is in free air, ground=None"
        )
    clearance = clearance_phys * cells / length_phys
    if clearance > 0 and ground is None:
        raise ValueError("clearance_phys: given without a ground, must be 0")
    sides = checks.choice("sides", sides, SIDES)
    reynolds_phys = speed_phys * length_phys / properties["viscosity_phys"]
    capped = reynolds_phys
    if reynolds is not None:
        capped = min(capped, checks.number("reynolds", reynolds, above=0))
    viscosity = speed * cells / capped
    if viscosity > MAX_VISCOSITY:
        least = speed * cells / MAX_VISCOSITY
        if reynolds is not None and reynolds == capped:
            raise ValueError(f"reynolds: {reynolds:g} given, must be at least {least:.3g}")
        slowest = least * properties["viscosity_phys"] / length_phys
        raise ValueError(
            f"speed_phys: {speed_phys:g} given, must be at least {slowest:.3g}, a Reynolds number of {least:.3g}"
        )
    units = Units(
        length_phys=length_phys / cells, velocity_phys=speed_phys / speed, density_phys=properties["density_phys"]
    )
    shapes = placing.loaded(body)
    low, high = placing.bounds(shapes)
    shapes = placing.moved(shapes, cells / float(high[0] - low[0]), np.zeros(3))
    _check_units(shapes)
    area = placing.frontal_area(shapes)
    low, high = placing.bounds(shapes)
    lift = np.array([0.0, 0.0, clearance])
    shape, corner = _box(high - low + lift, area / blockage, ground is not None)
    if max(shape) > MAX_SIZE or math.prod(shape) > MOST_CELLS:
        raise ValueError(
            f"cells_across: {cells} given, a domain of {shape} cells, must be far fewer{_if_flat(high - low)}"
        )
    corner = corner + lift
    shapes = placing.moved(shapes, 1.0, corner - low)
    about = corner + (high - low) / 2
    if ground is not None:
        about[2] = 0.0
    domain = _domain(shape, stencil, speed, ground, sides, shapes, _outlet_sponge(cells))
    covered = area / (shape[1] * shape[2])
    return TunnelSetup(
        shapes, domain, units, cells, speed, capped, reynolds_phys, viscosity, area, covered, about, ground, sides
    )


def refused(made: TunnelSetup, error: TooLittleMemoryError) -> TooLittleMemoryError:
    """The error of a solver for which there is too little memory, with the cells along the body in place of shapes."""
    low, high = placing.bounds(made.bodies)
    text = re.sub(
        r"shape: (\([^)]*\)) given needs",
        rf"cells_across: {made.cells} given{_if_flat(high - low)}; a domain of \1 cells needs",
        str(error),
    )
    found = re.search(r"what would fit: (shape \(([^)]*)\))", text)
    if found is not None:
        cells = _fitting(made, math.prod(map(int, found[2].split(","))))
        right = f"cells_across={cells}" if cells >= FEWEST_CELLS else f"no cells_across from {FEWEST_CELLS} on"
        text = text.replace(found[1], right)
    return TooLittleMemoryError(text)


def _fitting(made: TunnelSetup, most: int) -> int:
    """The largest number of cells along the body of a tunnel of at most so many cells; fewer than 8 for none."""
    low, high = placing.bounds(made.bodies)
    size = high - (low if made.ground is None else low * (1, 1, 0))
    fits, beyond = FEWEST_CELLS - 1, made.cells
    while beyond - fits > 1:
        cells = (fits + beyond) // 2
        factor = cells / made.cells
        shape, _ = _box(factor * size, factor**2 * made.area / made.blockage, made.ground is not None)
        fits, beyond = (cells, beyond) if math.prod(shape) <= most else (fits, cells)
    return fits


def _if_flat(size: Floats) -> str:
    """What a message adds of a body that is far larger across the stream than along it."""
    times = float(size[1:].max() / size[0])
    if times < FLAT:
        return ""
    return (
        f", along x, where the body is {times:.3g} times smaller than across the stream: give fewer, more 'blockage', "
        "or rotate the body"
    )


def narrow_gaps(domain: Domain) -> list[tuple[str, int, bool]]:
    """The gaps of too few cells beside bodies: the body, cells, and whether it is to the ground (`trust.Gap`)."""
    found = []
    in_air = Around(domain.shape, {**domain.faces, "-z": FreeSlip()}, domain.bodies)
    for name, body in domain.bodies.items():
        if body.geometry is None:
            continue
        beside, with_ground = (describe(body.geometry, around).narrowest for around in (in_air, domain))
        if beside is not None:
            found.append((name, beside, False))
        if with_ground is not None and (beside is None or with_ground < beside):
            found.append((name, with_ground, True))
    return found


def _check_units(bodies: Mapping[str, Geometry]) -> None:
    """Refuse a body of less than a cell beside others: its file has another unit than theirs."""
    for name, body in bodies.items():
        largest = float(np.diff(body.bounds, axis=0).max())
        if len(bodies) > 1 and largest < 1:
            raise GeometryError(
                f"body {name!r}: {largest:.2g} of a cell large, must be a cell at least; the files of all bodies must "
                "have one unit"
            )


def _fluid(fluid: Any) -> Mapping[str, float]:
    if isinstance(fluid, str):
        return FLUIDS[checks.choice("fluid", fluid, list(FLUIDS))]
    if not isinstance(fluid, Mapping) or set(fluid) != {"viscosity_phys", "density_phys"}:
        raise ValueError(
            f"fluid: {checks.shown(fluid)} given, must be {checks.alternatives([*map(repr, FLUIDS)])}, or a dict of "
            "'viscosity_phys' and 'density_phys'"
        )
    return {name: checks.number(f"fluid[{name!r}]", value, above=0) for name, value in fluid.items()}


def _outlet_sponge(cells: int) -> int:
    return max(INLET_SPONGE, min(OUTLET_SPONGE, cells // 2))


def _box(size: Floats, section: float, on_ground: bool) -> tuple[tuple[int, int, int], Floats]:
    """The shape of a domain with about such a cross-section around a body of a size, and where its low corner goes."""
    length, width, height = (float(n) for n in size)
    above = 1 if on_ground else 2  # clearances, equal on all sides but the ground
    # (width + 2 c) (height + above c) = section
    a, b, c = 2.0 * above, above * width + 2 * height, width * height - section
    clear = (-b + math.sqrt(max(0.0, b * b - 4 * a * c))) / (2 * a)
    clear = max(clear, BESIDE * max(width, height), 4.0)
    before = INLET_SPONGE + math.ceil(BEFORE * length)
    nx = before + math.ceil(length) + math.ceil(BEHIND * length) + _outlet_sponge(math.floor(length + 0.5))
    ny, nz = _with_middle(math.ceil(width + 2 * clear), width), math.ceil(height + above * clear)
    nz = nz if on_ground else _with_middle(nz, height)
    corner = (float(before), (ny - width) / 2, 0.0 if on_ground else (nz - height) / 2)
    return (nx, ny, nz), np.array(corner)


def _with_middle(cells: int, size: float) -> int:
    """The number of cells, or one more, between two sides that has a body of a size in its middle with its ends nearer
    to whole numbers than to centres of cells: both are even, or both odd, the size being rounded.

    On an end through centres of cells rounding, or the kind of the geometry, would decide which of them are solid, and
    on one side otherwise than on the other: a symmetric body would have a side force.
    """
    return cells + (cells - math.floor(size + 0.5)) % 2


def _domain(
    shape: tuple[int, int, int],
    stencil: str,
    speed: float,
    ground: str | None,
    sides: str,
    bodies: Mapping[str, Geometry],
    outlet_sponge: int,
) -> Domain:
    domain = Domain(shape, stencil)
    stream = (speed, 0.0, 0.0)
    domain.faces["-x"] = VelocityInlet(stream, scheme="regularized")
    domain.faces["+x"] = PressureOutlet(1.0, scheme="characteristic")
    if sides == "slip":
        domain.faces["-y"] = domain.faces["+y"] = FreeSlip()
    if ground is not None:
        domain.faces["-z"] = MovingWall(stream) if ground == "moving" else NoSlip()
    elif sides == "slip":
        domain.faces["-z"] = FreeSlip()
    if ground is not None or sides == "slip":
        domain.faces["+z"] = FreeSlip()
    domain.add_sponge("-x", INLET_SPONGE, 0.3)
    domain.add_sponge("+x", outlet_sponge, 0.5)
    for name, body in bodies.items():
        domain.add_body(body, name)
    return domain
