"""The output folder of a case while it runs: its lock and its log, with the warnings of the run."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from .. import checks
from ..files.folder_lock import FolderLock
from ..files.log_file import LogFile
from ..files.regular_files import check_output

log = logging.getLogger("lbmgpu")


def write_line(file: logging.Handler | None, level: int, text: str) -> None:
    """Write a line to the log file alone, of the rank that has it: the screen has it otherwise."""
    if file is not None:
        file.handle(log.makeRecord(log.name, level, __file__, 0, "%s", (text,), None))


class WarningLog:
    """A listener of `told_warnings` that writes warnings to the log file; it keeps those of before there is one."""

    def __init__(self) -> None:
        self._kept: list[str] = []
        self._file: logging.Handler | None = None

    def __call__(self, text: str) -> None:
        if self._file is None:
            self._kept.append(text)
        write_line(self._file, logging.WARNING, text)

    def write_to(self, file: logging.Handler | None) -> None:
        """Write what there is and what comes to `file`; None on ranks that have none."""
        self._file = file
        for text in self._kept:
            write_line(file, logging.WARNING, text)
        self._kept.clear()


def entered(
    stack: ExitStack, target: Path, left: Sequence[str] = (), restarted: bool = False, locks: bool = True
) -> logging.Handler:
    """Make the folder `target` this run's, and its log the log's, until `stack` ends; the handler that writes it.

    Args:
        stack: what ends with the run.
        target: the folder, which is made.
        left: the names of files that the run is to leave in the end.
        restarted: whether the log goes on.
        locks: whether other runs are kept out.

    Raises:
        OSError: another run is at work there, or a file that this one is to leave in the end cannot be written.
    """
    try:
        target.mkdir(parents=True, exist_ok=True)
        lock = FolderLock(target) if locks else None
        if lock is not None:
            stack.callback(lock.release)
        for name in left:
            check_output(target / name)
        handler = LogFile(target / "run.log", append=restarted)
    except OSError as error:
        if str(error).startswith("output folder"):
            raise
        raise OSError(f"output folder {target}: cannot be written to ({checks.reason(error)})") from error
    stack.callback(handler.close)
    log.addHandler(handler)
    stack.callback(log.removeHandler, handler)
    if lock is not None and lock.taken_over:
        log.warning("%s", lock.taken_over)
    return handler
