"""Reads the triangles of a file by the package trimesh."""

from __future__ import annotations

import contextlib
import io
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import checks
from ..errors import GeometryError
from ..files.regular_files import file_path, regular_file

FORMATS = ("stl", "obj", "ply")
MESH_BYTES = 2**32
"""The largest file that is read: 80 million triangles of a binary STL file."""

_STL_HEAD, _STL_TRIANGLE = 84, 50
"""Bytes of a binary STL file before its triangles, and of each."""


def read_triangles(path: Any) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Vertices ``(n, 3)`` and triangles ``(m, 3)`` in a file.

    Raises:
        GeometryError: its suffix is of no format that is read, it holds no triangles, or trimesh is not installed.
        TypeError, ValueError, OSError: as `regular_file`.
    """
    file = file_path("path", path)
    kind = file.suffix.lower().lstrip(".")
    if kind not in FORMATS:
        raise GeometryError(f"path: {file} given, must be a file of a mesh: .{', .'.join(FORMATS)}")
    try:
        import trimesh
    except ImportError:
        raise GeometryError(
            "path: reading meshes needs the package trimesh, which is not installed; pip install 'lbmgpu[geometry]'"
        ) from None
    with regular_file("path", file, at_most=MESH_BYTES) as opened:
        data = opened.read()
    if not data:
        raise GeometryError(f"path: {file} cannot be read as {kind.upper()}: it is empty; export it again")
    if kind == "stl":
        _check_length(file, data)
    try:
        with _quiet():
            found: Any = trimesh.load(io.BytesIO(data), file_type=kind, process=False, force="mesh", **_options(kind))
            vertices, triangles = np.array(found.vertices, np.float64), np.array(found.faces, np.int64)
    except Exception as error:  # whatever the bytes lead its parsers to
        raise GeometryError(f"path: {file} cannot be read as {kind.upper()} ({_short(error)})") from None
    if triangles.ndim != 2 or triangles.shape[1:] != (3,) or len(triangles) == 0:
        raise GeometryError(f"path: {file} holds no triangles")
    if triangles.min() < 0 or triangles.max() >= len(vertices):
        raise GeometryError(f"path: {file} has a triangle with a corner that is not there")
    _check_finite(file, vertices, triangles)
    used, numbers = np.unique(triangles, return_inverse=True)
    if len(used) < len(vertices):  # what no triangle has is no part of the surface
        vertices, triangles = vertices[used], numbers.reshape(triangles.shape)
    return vertices, triangles


def _check_finite(file: Path, vertices: NDArray[np.float64], triangles: NDArray[np.int64]) -> None:
    """Raise GeometryError where a triangle has a corner that is not finite, and name the first one."""
    is_bad = ~np.isfinite(vertices[triangles]).all(axis=2)
    if is_bad.any():
        triangle, corner = np.argwhere(is_bad)[0].tolist()
        at = tuple(vertices[triangles[triangle, corner]].tolist())
        raise GeometryError(
            f"path: {file} has {len(np.unique(triangles[is_bad]))} vertices that are not finite, such as {at} of its "
            f"triangle {triangle + 1} of {len(triangles)}; repair the mesh, or export it again"
        )


def _check_length(file: Path, data: bytes) -> None:
    """Raise GeometryError where a binary STL file has fewer triangles than it says, which trimesh takes for a text."""
    if b"facet" in data:
        return
    if data[:_STL_HEAD].lstrip().startswith(b"solid") and b"endsolid" in data:  # a text of none
        raise GeometryError(f"path: {file} holds no triangles; export it again")
    if _is_text(data[: 4 * _STL_HEAD]) and not data.lstrip().startswith(b"solid"):
        begins = ascii(data[:40].decode("utf-8", "replace"))
        raise GeometryError(f"path: {file} is no STL file: it is a text that begins with {begins}; export it again")
    if len(data) < _STL_HEAD:
        raise GeometryError(f"path: {file} cannot be read as STL (it has {len(data)} bytes); export it again")
    count = int.from_bytes(data[_STL_HEAD - 4 : _STL_HEAD], "little")
    if len(data) < _STL_HEAD + _STL_TRIANGLE * count:
        raise GeometryError(
            f"path: {file} cannot be read as STL (it ends before its {count} triangles do); export it again"
        )


def _is_text(data: bytes) -> bool:
    """Whether bytes are those of a text, without control characters other than those that divide lines and words."""
    return not any(byte < 32 and byte not in b"\t\n\v\f\r" for byte in data)


def _options(kind: str) -> dict[str, Any]:
    return {"skip_materials": True} if kind == "obj" else {}


def _short(error: Exception) -> str:
    return checks.escaped(f"{type(error).__name__}: {error}".split("\n")[0][:200])


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keeps what trimesh logs of bad files to itself."""
    log = logging.getLogger("trimesh")
    level = log.level
    log.setLevel(logging.CRITICAL)
    try:
        with np.errstate(all="ignore"):
            yield
    finally:
        log.setLevel(level)
