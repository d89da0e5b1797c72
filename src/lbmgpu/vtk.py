"""Writes the fields as a VTK image, the file that ParaView opens."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from pyevtk.evtk import writeBlockSize
from pyevtk.vtk import VtkFile, VtkImageData

from . import checks

if TYPE_CHECKING:
    from .solver import Solver


def file_path(name: str, path: Any) -> Path:
    """`path` as a Path, or TypeError."""
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"{name}: {checks.shown(path)} given, must be a path")
    return Path(os.fsdecode(path))


def output_path(name: str, path: Any) -> Path:
    """`path` as a Path to write to.

    Raises:
        TypeError, ValueError: not the path of a file.
        FileNotFoundError: its folder does not exist.
    """
    target = file_path(name, path)
    if not target.name:
        raise ValueError(f"{name}: {checks.shown(path)} given, must name a file")
    if target.is_dir():
        raise ValueError(f"{name}: {target} given, which is a folder; must name a file, such as {target / 'name'}")
    folder = Path(os.path.realpath(target)).parent
    if not folder.is_dir():
        raise FileNotFoundError(f"{name}: {target} given, but there is no folder {folder}; make it first")
    return target


def _image_path(path: Any) -> Path:
    """`path` ending in ``.vti``, or ValueError for the ending of another format."""
    target = file_path("path", path)
    if target.suffix == ".vti" or not target.name:
        return target
    if target.suffix[1:].strip("0123456789"):  # a number at the end, as in step.10, is a part of the name
        raise ValueError(f"path: {target} given, but the file is a VTK image; its ending must be .vti, or none")
    return target.with_name(f"{target.name}.vti")


def write_vtk(solver: Solver, path: str | os.PathLike[str]) -> Path:
    """See `Solver.write_vtk`. Cell data: density, velocity (three components), solid (0 or 1)."""
    target = output_path("path", _image_path(path))
    shape = solver._domain.shape
    extent = shape + (1,) * (3 - len(shape))
    velocity = solver.velocity()
    vectors = np.zeros((*shape[::-1], 3), dtype=velocity.dtype)
    vectors[..., : len(shape)] = velocity.T
    fields: dict[str, NDArray[Any]] = {
        "density": solver.density().T,
        "velocity": vectors,
        "solid": np.ascontiguousarray(solver.solid().T.astype(np.uint8)),
    }
    file = VtkFile(str(target.with_suffix("")), VtkImageData)
    file.openGrid(start=(0, 0, 0), end=extent, origin=(0.0, 0.0, 0.0), spacing=(1.0, 1.0, 1.0))
    file.openPiece(start=(0, 0, 0), end=extent)
    file.openData("Cell", scalars="density", vectors="velocity")
    for name, array in fields.items():
        components = 3 if array.ndim > len(shape) else 1
        file.addHeader(name, array.dtype.name, array.size // components, components)
    file.closeData("Cell")
    file.closePiece()
    file.closeGrid()
    # pyevtk would pack one number at a time; here the arrays, whose x is fastest as VTK wants it, go out whole
    file.openAppendedData()
    for array in fields.values():
        writeBlockSize(file.xml.stream, array.nbytes)
        file.xml.stream.write(array.data)
    file.save()
    return Path(file.getFileName())
