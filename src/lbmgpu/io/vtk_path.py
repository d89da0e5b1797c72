"""The path of a VTK file, whose ending says what is in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..files.regular_files import file_path


def vtk_path(path: Any, ending: str, what: str) -> Path:
    """`path` with an ending such as ``.vti``, or ValueError for that of another format, which says `what` it is of."""
    target = file_path("path", path)
    if target.suffix == ending or not target.name:
        return target
    if target.suffix[1:].strip("0123456789"):  # a number at the end, as in step.10, is a part of the name
        raise ValueError(f"path: {target} given, but the file {what}; its ending must be {ending}, or none")
    return target.with_name(f"{target.name}{ending}")
