"""The table of the forces on bodies in time, a CSV file: written row by row, and cut back before a restart."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .errors import CheckpointError
from .solver import Solver
from .whole_file import naming, replacing


def start(path: Path, solver: Solver) -> None:
    """Begin a table at `path` with its header, in place of any that is there."""
    axes = "xyz"[: len(solver.domain.shape)]
    with naming(path), path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerow(["step", *(f"{name} F{axis}" for name in solver.domain.bodies for axis in axes)])


def cut(path: Path, steps: int, every: int) -> None:
    """Drop the rows from step `steps` on, which a run from there writes again `every` so many steps.

    The table is replaced whole. A run that was killed may have left a part of a row: it goes too.

    Raises:
        CheckpointError: the table ends so long before that rows would be missing; it is left as it is.
    """
    with path.open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    whole = [row for row in rows if len(row) == len(header) and row[0].isdigit()]
    written = [int(row[0]) for row in whole[-2:]]
    interval = max(every, written[-1] - written[0]) if written else every  # the run before may have had another one
    if written and written[-1] < steps - interval:
        raise CheckpointError(
            f"{path}: ends at step {written[-1]} and the checkpoint is of step {steps}: the rows between are missing; "
            "delete the table to begin a new one, or restart from another checkpoint"
        )
    kept = [header, *(row for row in whole if int(row[0]) < steps)]
    with replacing(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(kept)


def appender(path: Path) -> Callable[[Any], None]:
    """A callback that appends the step and the force on each body."""

    def append(solver: Solver) -> None:
        numbers = [f"{x:.9g}" for name in solver.domain.bodies for x in solver.body_force(name)]

        def write() -> None:
            with naming(path), path.open("a", newline="", encoding="utf-8") as file:
                csv.writer(file).writerow([solver.steps, *numbers])

        solver._processes.on_first(write)

    return append
