"""The bodies of a JSON case: geometries by their shape and where they are put, and masks in files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import checks
from ..files.regular_files import MaskFile, read_mask
from ..geometry import Box, Cylinder, Geometry, Polygon, Sphere, airfoil
from ..geometry.images import crossed_faces
from ..geometry.refusals import REMEDY, extent, why_nothing
from ..parallel.processes import Processes
from ..time_functions.motion import Motion, MotionTable, Oscillation, RigidMotion
from .motion_file import motion_table

_POINTS = ("center", "low", "high", "translate")
"""Keys of shapes with a coordinate for each axis."""


def body_cells(
    entry: dict[str, Any], shape: tuple[int, ...], folder: Path, processes: Processes
) -> NDArray[np.bool_] | MaskFile | Geometry:
    """The cells of a body: a geometry, or a mask of the domain, of which several processes read their parts.

    Raises:
        ValueError: no cell, or a wrong file, number of coordinates or axis.
    """
    if entry["shape"] in ("mask", "mesh"):
        file = folder / entry["file"]
        try:
            if entry["shape"] == "mask":
                return read_mask("file", file, shape) if processes.size == 1 else MaskFile("file", file, shape)
            geometry: Geometry = Geometry.load(file, sheet=entry.get("sheet", False))
        except OSError as error:
            raise ValueError(f"file: {file} cannot be read ({checks.reason(error)})") from None
        except ValueError as error:
            raise ValueError(f"file: {str(error).removeprefix('path: ').removeprefix('file: ')}") from None
    else:
        _check_points(entry, len(shape))
        geometry = _MAKERS[entry["shape"]](entry, len(shape))
    if geometry.dimensions != len(shape):
        raise ValueError(f"a {entry['shape']} in {geometry.dimensions} dimensions given, must be one in {len(shape)}")
    _check_points(entry, len(shape))
    geometry = _placed(geometry, entry)
    is_thin = entry.get("sheet", False) or float(np.ptp(geometry.bounds, axis=0).min()) < 1
    goes_on = crossed_faces(geometry, shape, (True,) * len(shape)) != []
    if not is_thin and not goes_on and not _covers(geometry, shape):  # of those the solver says whether they have walls
        elsewhere = (
            f"it lies outside the domain, {shape} cells, or between cell centres, which are at 0.5, 1.5 and so on: "
            f"{extent(geometry)}; {REMEDY}"
        )
        raise ValueError(
            f"the {entry['shape']} covers no cell, must hold the centre of at least one; "
            f"{why_nothing(geometry) or elsewhere}"
        )
    return geometry


def _check_points(entry: dict[str, Any], dimensions: int) -> None:
    """Raise ValueError for a point or a vector that has not a coordinate for each axis."""
    for key in _POINTS:
        if isinstance(entry.get(key), list) and len(entry[key]) != dimensions:
            raise ValueError(f"{key}: {entry[key]} given, must have {dimensions} coordinates")


def body_motion(entry: dict[str, Any], name: str, dimensions: int, folder: Path) -> RigidMotion:
    """The motion of a body; TypeError or ValueError where its numbers do not go together, or with the dimensions, or a
    file in the folder is no table of them."""
    ((kind, arguments),) = entry.items()
    if "file" in arguments:
        read = motion_table(folder / arguments["file"], dimensions)
        arguments = {key: value for key, value in arguments.items() if key != "file"} | read
    motion = _MOTIONS[kind](**arguments)
    motion.check(f"body {name!r}", dimensions)
    return motion


def _placed(geometry: Geometry, entry: dict[str, Any]) -> Geometry:
    """A geometry scaled, turned, fitted into a box and shifted, in this order."""
    if "scale" in entry:
        geometry = geometry.scale(entry["scale"])
    if "rotate" in entry:
        turn = entry["rotate"]
        try:
            geometry = geometry.rotate(turn.get("axis", "z"), turn["angle"], turn.get("about"))
        except (TypeError, ValueError) as error:
            raise ValueError(f"rotate: {error}") from None
    if "fit" in entry:
        geometry = geometry.fit(entry["fit"]["low"], entry["fit"]["high"])
    if "translate" in entry:
        geometry = geometry.translate(entry["translate"])
    return geometry


def _covers(geometry: Geometry, shape: tuple[int, ...]) -> bool:
    """Whether any cell of the domain is in a geometry, by layers, so that large domains take little memory."""
    low, high = [], []
    for first, last, n in zip(*geometry.bounds, shape, strict=True):
        low.append(int(np.clip(np.floor(first) - 1, 0, n)))
        high.append(int(np.clip(np.ceil(last) + 1, low[-1], n)))
    size = [b - a for a, b in zip(low, high, strict=True)]
    if 0 in size:
        return False
    middle = size[0] // 2
    layers = sorted(range(size[0]), key=lambda k: abs(k - middle))  # of a round one the middle has most cells
    return any(geometry.solid([low[0] + k, *low[1:]], [1, *size[1:]]).any() for k in layers)


def _sphere(entry: dict[str, Any], dimensions: int) -> Geometry:
    return Sphere(entry["center"], entry["radius"])


def _cylinder(entry: dict[str, Any], dimensions: int) -> Geometry:
    axis = entry.get("axis", "z")
    if dimensions == 2 and axis != "z":
        raise ValueError(f"axis: {axis!r} given, must be 'z' in two dimensions")
    if dimensions == 2:
        return Sphere(entry["center"], entry["radius"])
    return Cylinder(entry["center"], entry["radius"], axis)


def _box(entry: dict[str, Any], dimensions: int) -> Geometry:
    return Box(entry["low"], entry["high"])


def _extruded(polygon: Polygon, entry: dict[str, Any], dimensions: int) -> Geometry:
    if dimensions == 2:
        for key in ("axis", "low", "high"):
            if key in entry:
                raise ValueError(f"{key}: given in two dimensions, must be left out")
        return polygon
    return polygon.extrude(entry.get("low"), entry.get("high"), entry.get("axis", "z"))


def _polygon(entry: dict[str, Any], dimensions: int) -> Geometry:
    return _extruded(Polygon(entry["points"]), entry, dimensions)


def _airfoil(entry: dict[str, Any], dimensions: int) -> Geometry:
    options = {key: entry[key] for key in ("angle", "leading_edge") if key in entry}
    try:
        return _extruded(airfoil(entry["airfoil"], entry["chord"], **options), entry, dimensions)
    except ValueError as error:
        if not str(error).startswith("shape: "):  # which is what the key 'airfoil' has
            raise
        raise ValueError(f"airfoil: {str(error).removeprefix('shape: ')}") from None


_MAKERS = {"sphere": _sphere, "cylinder": _cylinder, "box": _box, "polygon": _polygon, "airfoil": _airfoil}
"""Of each shape but those of files."""

_MOTIONS: dict[str, type[RigidMotion]] = {"steady": Motion, "oscillation": Oscillation, "table": MotionTable}
