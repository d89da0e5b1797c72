"""Writes the fields as VTK images, the files that ParaView opens."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
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
from ..files.regular_files import file_path, output_path
from ..parallel.processes import box


def _image_path(path: Any) -> Path:
    """`path` ending in ``.vti``, or ValueError for the ending of another format."""
    target = file_path("path", path)
    if target.suffix == ".vti" or not target.name:
        return target
    if target.suffix[1:].strip("0123456789"):  # a number at the end, as in step.10, is a part of the name
        raise ValueError(f"path: {target} given, but the file is a VTK image; its ending must be .vti, or none")
    return target.with_name(f"{target.name}.vti")


def write_vtk(
    simulation: Simulation, path: str | os.PathLike[str], fields: Mapping[str, Callable[[], NDArray[Any]]]
) -> Path:
    """See `Solver.write_vtk`. Cell data: density, velocity (three components), solid (0 or 1), temperature if any.

    Args:
        simulation: of the solver.
        path: of the file.
        fields: what reads each of the fields, the density, the velocity and the temperature if any.
    """
    target, processes = _image_path(path), simulation.processes
    processes.each(lambda: output_path("path", target))
    start = tuple(simulation.engine.window[0])
    with simulation.lock:  # all of one step
        arrays = {name: read().T for name, read in fields.items()}
    density, velocity, temperature = arrays["density"], arrays["velocity"], arrays.get("temperature")
    solid = simulation.bodies.solid.T
    if processes.size == 1:
        return _write_piece(target, start, _fields(density, velocity, solid, temperature))

    def write_own() -> None:
        for number, block in enumerate(simulation.layout):
            if block.rank == processes.rank:
                part = box(block.offset, block.size, start)[1:]
                own = None if temperature is None else temperature[part]
                own_fields = _fields(density[part], velocity[part], solid[part], own)
                _write_piece(_piece_path(target, number), block.offset, own_fields)

    processes.each(write_own)
    index = target.with_suffix(".pvti")
    components = {"density": density.dtype.name, "velocity": velocity.dtype.name, "solid": "uint8"}
    if temperature is not None:
        components["temperature"] = temperature.dtype.name
    pieces = [(block.offset, block.size, _piece_path(target, k).name) for k, block in enumerate(simulation.layout)]
    shape = _three(simulation.domain.shape, 1)
    processes.on_first(lambda: _write_index(index, shape, components, pieces))
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


def _write_piece(target: Path, offset: tuple[int, ...], fields: dict[str, NDArray[Any]]) -> Path:
    """An image of the cells from `offset` on; its path."""
    shape = fields["density"].shape[::-1]
    start = _three(offset, 0)
    end = _three(tuple(a + n for a, n in zip(offset, shape, strict=True)), 1)
    with replacing(target, ".vti") as temporary:  # pyevtk appends the ending itself
        file = VtkFile(str(temporary.with_suffix("")), VtkImageData)
        try:
            file.openGrid(start=start, end=end, origin=(0.0, 0.0, 0.0), spacing=(1.0, 1.0, 1.0))
            file.openPiece(start=start, end=end)
            file.openData("Cell", scalars="density", vectors="velocity")
            for name, array in fields.items():
                components = 3 if array.ndim > len(shape) else 1
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


def _write_index(
    target: Path,
    shape: tuple[int, ...],
    types: dict[str, str],
    pieces: Sequence[tuple[tuple[int, ...], tuple[int, ...], str]],
) -> None:
    """The file that names the images of all blocks: offset, size and name of each."""

    def extent(offset: tuple[int, ...], size: tuple[int, ...]) -> str:
        return " ".join(f"{a} {a + n}" for a, n in zip(_three(offset, 0), _three(size, 1), strict=True))

    root = ElementTree.Element("VTKFile", type="PImageData", version="1.0", byte_order="LittleEndian")
    image = ElementTree.SubElement(
        root,
        "PImageData",
        WholeExtent=extent((0, 0, 0), shape),
        GhostLevel="0",
        Origin="0 0 0",
        Spacing="1 1 1",
    )
    data = ElementTree.SubElement(image, "PCellData", Scalars="density", Vectors="velocity")
    for name, dtype in types.items():
        vtk_type = {"float32": "Float32", "float64": "Float64", "uint8": "UInt8"}[dtype]
        components = "3" if name == "velocity" else "1"
        ElementTree.SubElement(data, "PDataArray", type=vtk_type, Name=name, NumberOfComponents=components)
    for offset, size, source in pieces:
        ElementTree.SubElement(image, "Piece", Extent=extent(offset, size), Source=source)
    with replacing(target) as temporary:
        ElementTree.ElementTree(root).write(temporary, encoding="utf-8", xml_declaration=True)
