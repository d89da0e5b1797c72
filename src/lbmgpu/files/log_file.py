"""The log file of a run, which has to be a regular file and not a link; and lines of logs and warnings.

If the disk is full, the run goes on, and the failure is reported once on standard error.
"""

from __future__ import annotations

import logging
import sys
from io import TextIOWrapper
from pathlib import Path
from typing import Any

from .. import checks
from .regular_files import output_file


class PlainFormatter(logging.Formatter):
    """Writes a message in one line, with escapes for what would steer a terminal or look like another line."""

    def formatMessage(self, record: logging.LogRecord) -> str:
        """Called by `logging` with the message in `record`."""
        record.message = checks.escaped(record.message)
        return super().formatMessage(record)


def print_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    """Print a warning in one line on standard error, in place of `warnings.showwarning`.

    Who gives a command has no use for the line of Python that a warning came from.
    """
    print(f"warning: {checks.escaped(str(message))}", file=sys.stderr, flush=True)


class LogFile(logging.FileHandler):
    """A handler that writes to a log file.

    If the file cannot be written, the handler says so once on standard error, and writes the rest when there is room.

    Args:
        path: the path of the log file.
        append: whether to write after what is in the file, or to replace it.

    Raises:
        OSError: the file cannot be opened, or is a link, a pipe, a device or a folder.
    """

    _said = False

    def __init__(self, path: Path, *, append: bool) -> None:
        super().__init__(path, mode="a" if append else "w", encoding="utf-8")
        self.setFormatter(PlainFormatter("%(asctime)s %(levelname)s %(message)s"))

    def _open(self) -> TextIOWrapper:
        return open(output_file(Path(self.baseFilename), append=self.mode == "a"), "a", encoding="utf-8")

    def handleError(self, record: logging.LogRecord) -> None:
        """Called by `logging` where a record could not be written."""
        error = sys.exc_info()[1]
        if isinstance(error, OSError):
            self._say(error)
        else:
            super().handleError(record)

    def close(self) -> None:
        """Close the file, which writes what is left to be written."""
        try:
            super().close()
        except OSError as error:
            self._say(error)

    def _say(self, error: OSError) -> None:
        if not self._said:
            self._said = True
            print(
                f"lbmgpu: {self.baseFilename}: cannot be written ({checks.reason(error)}); the run goes on without it",
                file=sys.stderr,
            )
