"""The table of the forces on bodies in time, a CSV file: written row by row, and cut back before a restart."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .solver import Solver


def start(path: Path, solver: Solver) -> None:
    """Begin a table at `path` with its header, in place of any that is there."""
    axes = "xyz"[: len(solver.domain.shape)]
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerow(["step", *(f"{name} F{axis}" for name in solver.domain.bodies for axis in axes)])


def cut(path: Path, steps: int) -> None:
    """Drop the rows from step `steps` on, which a run from there writes again; the table is replaced whole.

    A run that was killed may have left a part of a row: it goes too.
    """
    with path.open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    whole = [row for row in rows if len(row) == len(header) and row[0].isdigit()]
    kept = [header, *(row for row in whole if int(row[0]) < steps)]
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows(kept)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def appender(path: Path) -> Callable[[Any], None]:
    """A callback that appends the step and the force on each body."""

    def append(solver: Solver) -> None:
        numbers = [f"{x:.9g}" for name in solver.domain.bodies for x in solver.body_force(name)]
        with path.open("a", newline="", encoding="utf-8") as file:
            csv.writer(file).writerow([solver.steps, *numbers])

    return append
