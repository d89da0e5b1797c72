"""Writes a table that a script has measured, as `fill_performance.py` puts it into the page."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from lbmgpu.benchmarks.single import machine


def write(
    path: Path | None, device: str, table: str, what: str, head: Sequence[str], rows: Sequence[Sequence[str]]
) -> None:
    """Write a table of rows of words; nothing without a path.

    Args:
        path: of the JSON file.
        device: that the figures were measured on.
        table: its marks in the page.
        what: what was measured, for the line above it.
        head: of the columns.
        rows: of as many cells.
    """
    if path is not None:
        found = {"machine": machine(None, device), "table": table, "what": what, "head": head, "rows": rows}
        path.write_text(json.dumps(found, indent=1) + "\n")
