"""The CSV file of a motion in a JSON case: where a body is at given times."""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import Any

from .. import checks
from ..files.regular_files import LAYOUT_BYTES, read_text

_MARK = "\ufeff"
"""That spreadsheets begin a text in UTF-8 with."""


def motion_table(path: Path, dimensions: int) -> dict[str, Any]:
    """The arguments of a `MotionTable` that a file has: ``times``, ``displacements`` and ``angles``.

    Its first line names the columns, in any order: ``t`` in steps, a coordinate of the displacement for each axis in
    cells, ``angle`` in radians; of displacement and angle one may be missing.

    Raises:
        ValueError: about the argument ``file``: it cannot be read, or is no such table.
    """
    try:
        text = read_text("file", path, at_most=LAYOUT_BYTES)
    except OSError as error:
        raise ValueError(f"file: {path} cannot be read ({checks.reason(error)})") from None
    except UnicodeDecodeError:
        raise ValueError(f"file: {path} is no text in UTF-8") from None
    try:
        lines = [(number, line) for number, line in enumerate(csv.reader(text.removeprefix(_MARK).splitlines()), 1)]
        lines = [(number, line) for number, line in lines if any(line)]
    except csv.Error as error:
        raise ValueError(f"file: {path} is no CSV file ({error})") from None
    names = [name.strip() for name in lines[0][1]] if lines else []
    axes = list("xyz"[:dimensions])
    _check_names(path, names, axes)
    rows = [_numbers(path, number, line, names) for number, line in lines[1:]]
    if len(rows) < 2:
        raise ValueError(f"file: {path} has {len(rows)} lines of numbers, must have 2 or more")
    columns = dict(zip(names, zip(*rows, strict=True), strict=True))
    for (number, _), earlier, later in zip(lines[2:], columns["t"], columns["t"][1:], strict=False):
        if later <= earlier:
            raise ValueError(f"file: {path} has times that do not increase, in line {number}")
    found: dict[str, Any] = {"times": list(columns["t"])}
    if "x" in columns:
        found["displacements"] = list(zip(*(columns[axis] for axis in axes), strict=True))
    if "angle" in columns:
        found["angles"] = list(columns["angle"])
    return found


def _check_names(path: Path, names: list[str], axes: list[str]) -> None:
    """Raise ValueError unless the columns of a file have these names."""
    moved = [name for name in names if name in axes]
    right = f"must name t, and {', '.join(axes)} or angle or all of these, separated by commas"
    known = {"t", "angle", *axes}
    if len(set(names)) < len(names) and set(names) <= known:
        raise ValueError(f"file: {path} has a column twice, {', '.join(map(repr, names))}")
    if "t" not in names or len(names) == 1 or not set(names) <= known or sorted(moved) not in ([], axes):
        raise ValueError(f"file: {path} has the columns {', '.join(map(repr, names)) or 'of no line'}, {right}")


def _numbers(path: Path, number: int, line: list[str], names: list[str]) -> list[float]:
    """The numbers of a line of a file."""
    if len(line) != len(names):
        raise ValueError(f"file: {path} has {len(line)} values in line {number}, must have {len(names)} as the first")
    found = []
    for name, text in zip(names, line, strict=True):
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise ValueError(
                f"file: {path} has {checks.shown(text.strip())} as {name} in line {number}, must be a finite number"
            )
        found.append(value)
    return found
