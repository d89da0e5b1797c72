"""How the cases of a study stand, as a table of text or HTML."""

from __future__ import annotations

import html
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .. import checks
from .parameters import ParameterSet, shown
from .records import DONE, RUNNING, STATUSES, Progress, Record


@dataclass(frozen=True)
class Row:
    """A case, what is known of it, and how far it is."""

    case: ParameterSet
    record: Record
    progress: Progress


class Overview:
    """The cases of the study `name` in its `folder`."""

    def __init__(self, name: str, folder: Path, names: Sequence[str], rows: Sequence[Row]) -> None:
        self.name, self.folder, self.names, self.rows = name, folder, names, list(rows)

    def __str__(self) -> str:
        header, cells = self._cells()
        widths = [max(len(row[i]) for row in [header, *cells]) for i in range(len(header))]
        lines = [
            "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)) for row in [header, *cells]
        ]
        return "\n".join([self._summary(), *(line.rstrip() for line in lines)])

    def _repr_html_(self) -> str:
        header, cells = self._cells()
        head = "".join(f"<th>{html.escape(text)}</th>" for text in header)
        body = "".join(f"<tr>{''.join(f'<td>{html.escape(text)}</td>' for text in row)}</tr>" for row in cells)
        return (
            f"<p>{html.escape(self._summary())}</p><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        )

    def show(self) -> None:
        """Print the table, or show it as HTML in a notebook."""
        if type(sys.stdout).__module__.startswith("ipykernel"):
            from IPython.display import display  # type: ignore[import-not-found,unused-ignore]

            display(self)  # type: ignore[no-untyped-call,unused-ignore]
        else:
            print(self)

    def _summary(self) -> str:
        counts = [(status, sum(row.record.status == status for row in self.rows)) for status in STATUSES]
        found = ", ".join(f"{count} {status}" for status, count in counts if count)
        return f"study {self.name}, {len(self.rows)} cases: {found or 'none asked for yet'} ({self.folder})"

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        header = [*self.names, "status", "seconds", "MLUPS", "device", "attempts", "message"]
        return header, [self._row(row) for row in self.rows]

    def _row(self, row: Row) -> list[str]:
        record, progress = row.record, row.progress
        status, mlups = record.status, record.mlups
        message = record.message
        if status == RUNNING:
            mlups = progress.mlups
            message = progress.text
            if progress.total > 0:
                status = f"{RUNNING} {100 * min(progress.done / progress.total, 1.0):.0f} %"
        elif status == DONE:
            message = ""
        return [
            *(shown(row.case.values.get(name)) for name in self.names),
            status,
            f"{record.seconds:.1f}" if record.attempts else "",
            f"{mlups:.1f}" if mlups else "",
            record.device,
            str(record.attempts or ""),
            checks.escaped(message),
        ]
