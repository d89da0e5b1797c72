"""The log of a run as a file, whose disk may be full: no reason to end the run."""

from __future__ import annotations

import logging
import sys

from . import checks


class LogFile(logging.FileHandler):
    """Says once, on standard error, that the file cannot be written; what it lacks is written when there is room."""

    _said = False

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
