"""Keeps two runs out of one output folder, by a file in it that says which run writes there while it does."""

from __future__ import annotations

import json
import os
import platform
import time
from pathlib import Path
from typing import Any

from .. import checks
from .regular_files import check_output
from .temporary_file import locked

NAME = "lbmgpu.lock"
_SIZE = 4096
"""Bytes that are read of the file: more than it ever has."""


class FolderLock:
    """The right to write to an existing `folder`, held by this run until `release`.

    The file names host and process, and the system locks it where the file system can: a run that was killed leaves
    the file and no lock, and the next one takes it over. What another host left is not touched, as nothing here tells
    whether that run goes on.

    Raises:
        OSError: another run has the folder, or it cannot be written to. The message says what to do if that run has
            ended.

    Attributes:
        taken_over: a message about the killed run that had the folder; empty where there was none.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / NAME
        self.taken_over = ""
        self._descriptor = -1
        while self._descriptor < 0:
            self._try()
        own = {"host": platform.node(), "process": os.getpid(), "started": _started(os.getpid())}
        try:
            os.ftruncate(self._descriptor, 0)
            os.pwrite(self._descriptor, (json.dumps(own) + "\n").encode(), 0)
        except BaseException:  # a full disk, or an interrupt: nobody else could release the folder
            self.release()
            raise

    def release(self) -> None:
        """Release the folder and delete the file, unless another run has it by now."""
        if self._descriptor >= 0:
            if _same(self._descriptor, self._path):
                self._path.unlink(missing_ok=True)
            os.close(self._descriptor)
            self._descriptor = -1

    def _try(self) -> None:
        """Lock the file once, unless it is deleted meanwhile; OSError if another run has it."""
        check_output(self._path)
        flags = os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
        try:
            descriptor = os.open(self._path, flags | os.O_CREAT | os.O_EXCL, 0o644)
            new = True
        except FileExistsError:
            try:
                descriptor, new = os.open(self._path, flags), False
            except FileNotFoundError:  # its run has just released it
                return
        try:
            is_locked = locked(descriptor)
            if is_locked is False:
                raise self._in_use(_owner(descriptor))
            if not _same(descriptor, self._path):  # released meanwhile, and perhaps another run's by now
                os.close(descriptor)
                return
            if not new:
                self._take_over(descriptor, certain=is_locked is True)
        except BaseException:
            os.close(descriptor)
            raise
        self._descriptor = descriptor

    def _take_over(self, descriptor: int, *, certain: bool) -> None:
        """Raise OSError unless the run that the file names has ended; `certain` if one of this host must have ended."""
        owner = _owner(descriptor)
        if owner is None and certain:  # killed before it could write its name
            return
        if owner is None or owner["host"] != platform.node():
            raise self._in_use(owner)
        if not certain and _started(owner["process"]) == owner["started"] is not None:
            raise self._in_use(owner)
        self.taken_over = f"{self._path} was left by process {owner['process']}, which has ended: taken over"

    def _in_use(self, owner: dict[str, Any] | None) -> OSError:
        who = "another run" if owner is None else f"process {owner['process']} on {owner['host']}"
        return OSError(
            f"output folder {self._path.parent}: in use by {who}; give this run another folder or, if that one has "
            f"ended, delete {self._path}"
        )


def is_held(folder: Path) -> bool:
    """Whether a run has the right to write to `folder`; True also where another host left the file of one."""
    try:
        descriptor = os.open(folder / NAME, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        owner = _owner(descriptor)
        if owner is None or owner["host"] != platform.node():
            return owner is not None
        return bool(_started(owner["process"]) == owner["started"] is not None)
    finally:
        os.close(descriptor)


def _same(descriptor: int, path: Path) -> bool:
    """Whether `path` still leads to the open file."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.lstat(path))
    except FileNotFoundError:
        return False


def _owner(descriptor: int) -> dict[str, Any] | None:
    """The run that the file names, None if it names none. It is read three times, as a new run may just write it."""
    for _ in range(3):
        try:
            owner = json.loads(os.pread(descriptor, _SIZE, 0))
            return {
                "host": checks.escaped(str(owner["host"])),
                "process": int(owner["process"]),
                "started": owner["started"],
            }
        except (ValueError, KeyError, TypeError, RecursionError):
            time.sleep(0.02)
    return None


def _started(process: int) -> str | None:
    """When a process of this host started, in ticks since the host did; None if there is none, or it is not known."""
    try:
        return Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return None
