"""Writes triangles with data as VTK polygons, which ParaView and PyVista open."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from ..files.atomic_write import replacing
from ..files.regular_files import output_path
from .vtk_path import vtk_path

_TYPES = {"float64": "Float64", "float32": "Float32", "int64": "Int64", "uint8": "UInt8"}


def write_surface(
    path: str | os.PathLike[str],
    vertices: NDArray[Any],
    triangles: NDArray[Any],
    data: Mapping[str, NDArray[Any]],
) -> Path:
    """Write triangles, as the appended raw data of an XML file; return its path.

    Args:
        path: of the file.
        vertices: ``(n, 3)``.
        triangles: numbers of vertices ``(m, 3)``.
        data: of the triangles by name, ``(m,)`` or ``(m, 3)``.

    Raises:
        ValueError: an ending of another format.
        OSError: the file cannot be written.
    """
    target = vtk_path(path, ".vtp", "has VTK polygons")
    output_path("path", target)
    blocks: list[bytes] = []
    root = ElementTree.Element("VTKFile", type="PolyData", version="1.0", byte_order="LittleEndian")
    root.set("header_type", "UInt64")
    counts = {"NumberOfPoints": len(vertices), "NumberOfPolys": len(triangles)}
    empty = {"NumberOfVerts": 0, "NumberOfLines": 0, "NumberOfStrips": 0}
    grid = ElementTree.SubElement(root, "PolyData")
    piece = ElementTree.SubElement(grid, "Piece", {key: str(n) for key, n in (counts | empty).items()})

    def add(parent: ElementTree.Element, name: str, array: NDArray[Any]) -> None:
        stored = array.astype(array.dtype.newbyteorder("<"), order="C")
        place = {"Name": name, "type": _TYPES[array.dtype.name], "format": "appended"}
        place["NumberOfComponents"] = str(array.shape[1] if array.ndim > 1 else 1)
        place["offset"] = str(sum(map(len, blocks)))
        ElementTree.SubElement(parent, "DataArray", place)
        blocks.append(np.array([stored.nbytes], "<u8").tobytes() + stored.tobytes())

    add(ElementTree.SubElement(piece, "Points"), "Points", np.asarray(vertices, np.float64))
    polygons = ElementTree.SubElement(piece, "Polys")
    add(polygons, "connectivity", np.asarray(triangles, np.int64).reshape(-1))
    add(polygons, "offsets", 3 * np.arange(1, len(triangles) + 1, dtype=np.int64))
    cells = ElementTree.SubElement(piece, "CellData")
    for name, array in data.items():
        add(cells, name, array)
    ElementTree.SubElement(root, "AppendedData", encoding="raw").text = "_"
    head, tail = ElementTree.tostring(root).split(b"_</AppendedData>")
    with replacing(target) as temporary, open(temporary, "wb") as file:
        file.writelines([b'<?xml version="1.0"?>\n', head, b"_", *blocks, b"</AppendedData>", tail])
    return target
