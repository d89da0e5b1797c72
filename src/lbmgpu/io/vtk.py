"""Writes the fields as VTK images, the files that ParaView opens."""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray
from pyevtk.evtk import writeBlockSize
from pyevtk.vtk import VtkFile, VtkImageData

from ..engine.simulation import Simulation
from ..files.atomic_write import replacing
from ..files.regular_files import output_path
from ..parallel.processes import box
from .vtk_path import vtk_path


def write_vtk(
    simulation: Simulation, path: str | os.PathLike[str], fields: Mapping[str, Callable[[], NDArray[Any]]]
) -> Path:
    """See `Solver.write_vtk`. Cell data: density, velocity (three components), solid (0 or 1), temperature if any.

    Args:
        simulation: of the solver.
        path: of the file.
        fields: what reads each of the fields, the density, the velocity and the temperature if any.
    """
    target, processes = vtk_path(path, ".vti", "is a VTK image"), simulation.processes
    processes.each(lambda: output_path("path", target))
    start = tuple(simulation.engine.window[0])
    with simulation.lock:  # all of one step
        arrays = {name: read().T for name, read in fields.items()}
        solid = simulation.solid_at_now().T
    density, velocity, temperature = arrays["density"], arrays["velocity"], arrays.get("temperature")
    if processes.size == 1:
        return write_image(target, start, _fields(density, velocity, solid, temperature))

    def write_own() -> None:
        for number, block in enumerate(simulation.layout):
            if block.rank == processes.rank:
                part = box(block.offset, block.size, start)[1:]
                own = None if temperature is None else temperature[part]
                own_fields = _fields(density[part], velocity[part], solid[part], own)
                write_image(_piece_path(target, number), block.offset, own_fields)

    processes.each(write_own)
    index = target.with_suffix(".pvti")
    types = {"density": (density.dtype.name, 1), "velocity": (velocity.dtype.name, 3), "solid": ("uint8", 1)}
    if temperature is not None:
        types["temperature"] = (temperature.dtype.name, 1)
    pieces = [(block.offset, block.size, _piece_path(target, k).name) for k, block in enumerate(simulation.layout)]
    shape = _three(simulation.domain.shape, 1)
    processes.on_first(lambda: write_image_index(index, shape, types, pieces))
    return index


def _piece_path(target: Path, number: int) -> Path:
    return target.with_name(f"{target.stem}.{number}.vti")


def _three(numbers: tuple[int, ...], missing: int) -> tuple[int, int, int]:
    x, y, z = (*numbers, missing)[:3]
    return x, y, z


def _fields(
    density: NDArray[Any], velocity: NDArray[Any], solid: NDArray[np.bool_], temperature: NDArray[Any] | None
) -> dict[str, NDArray[Any]]:
    """Cell data by name, all C-contiguous with x fastest, as VTK wants it."""
    vectors = np.zeros((*density.shape, 3), dtype=velocity.dtype)
    vectors[..., : density.ndim] = velocity
    fields = {
        "density": np.ascontiguousarray(density),
        "velocity": vectors,
        "solid": np.ascontiguousarray(solid.astype(np.uint8)),
    }
    return fields if temperature is None else fields | {"temperature": np.ascontiguousarray(temperature)}


def write_image(
    target: Path,
    offset: tuple[int, ...],
    fields: Mapping[str, NDArray[Any]],
    origin: tuple[float, float, float] = (0.0, 0.0, 0.0),
    spacing: tuple[float, float, float] = (1.0, 1.0, 1.0),
) -> Path:
    """Write an image of the cells from `offset` on.

    Args:
        target: its path.
        offset: the number of its first cell along each axis.
        fields: cell data by name, C-contiguous with x fastest of the axes of space and the components last.
        origin: where the cell 0 of all axes begins.
        spacing: the size of a cell along each axis.

    Returns:
        Its path.
    """
    shape = next(array.shape for array in fields.values() if array.ndim == len(offset))[::-1]
    start = _three(offset, 0)
    end = _three(tuple(a + n for a, n in zip(offset, shape, strict=True)), 1)
    with replacing(target, ".vti") as temporary:  # pyevtk appends the ending itself
        file = VtkFile(str(temporary.with_suffix("")), VtkImageData)
        try:
            file.openGrid(start=start, end=end, origin=origin, spacing=spacing)
            file.openPiece(start=start, end=end)
            file.openData("Cell", **_active(fields))
            for name, array in fields.items():
                components = array.shape[-1] if array.ndim > len(shape) else 1
                file.addHeader(name, array.dtype.name, array.size // components, components)
            file.closeData("Cell")
            file.closePiece()
            file.closeGrid()
            # pyevtk would pack one number at a time; here the arrays go out whole
            file.openAppendedData()
            for array in fields.values():
                writeBlockSize(file.xml.stream, array.nbytes)
                file.xml.stream.write(array.data)
            file.save()
        finally:
            with suppress(OSError):  # a second of a full disk
                file.xml.stream.close()
    return target


def write_image_index(
    target: Path,
    shape: tuple[int, ...],
    types: Mapping[str, tuple[str, int]],
    pieces: Sequence[tuple[tuple[int, ...], tuple[int, ...], str]],
    origin: tuple[float, float, float] = (0.0, 0.0, 0.0),
    spacing: tuple[float, float, float] = (1.0, 1.0, 1.0),
) -> None:
    """Write the file that names the images of all pieces.

    Args:
        target: its path.
        shape: of all cells.
        types: the type and the number of components of each field.
        pieces: offset, size and name of each.
        origin, spacing: as of `write_image`.
    """

    def extent(offset: tuple[int, ...], size: tuple[int, ...]) -> str:
        return " ".join(f"{a} {a + n}" for a, n in zip(_three(offset, 0), _three(size, 1), strict=True))

    def words(numbers: tuple[float, float, float]) -> str:
        return " ".join(f"{number:.17g}" for number in numbers)

    root = ElementTree.Element("VTKFile", type="PImageData", version="1.0", byte_order="LittleEndian")
    image = ElementTree.SubElement(
        root,
        "PImageData",
        WholeExtent=extent((0, 0, 0), shape),
        GhostLevel="0",
        Origin=words(origin),
        Spacing=words(spacing),
    )
    active = {kind.capitalize(): name for kind, name in _active(types).items()}
    data = ElementTree.SubElement(image, "PCellData", active)
    for name, (dtype, components) in types.items():
        vtk_type = {"float32": "Float32", "float64": "Float64", "uint8": "UInt8"}[dtype]
        ElementTree.SubElement(data, "PDataArray", type=vtk_type, Name=name, NumberOfComponents=str(components))
    for offset, size, source in pieces:
        ElementTree.SubElement(image, "Piece", Extent=extent(offset, size), Source=source)
    with replacing(target) as temporary:
        ElementTree.ElementTree(root).write(temporary, encoding="utf-8", xml_declaration=True)


def _active(names: Container[str]) -> dict[str, str]:
    """The fields that readers show first, if there are such."""
    known = {"scalars": "density", "vectors": "velocity"}
    return {kind: name for kind, name in known.items() if name in names}
