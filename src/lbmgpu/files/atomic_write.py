"""Writes files so that they appear whole or not at all, and puts the file's name into errors of the system."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .interrupts import kept
from .temporary_file import TemporaryFile, remove_abandoned


@contextmanager
def replacing(target: Path, suffix: str | None = None) -> Iterator[Path]:
    """Give a path in the target's folder to write to; after the body that file is flushed and replaces the target.

    If the body raises, `target` stays as it was and no other file is left. Temporary files of this target that killed
    processes have left are removed. The path ends with `suffix`, or as `target` does if None, for writers that go by
    the ending of a name, and leads to an empty file that this process has made. A link stays one: the file that it
    leads to is replaced. Something that is no file, such as ``/dev/null``, is written to directly.

    Raises:
        OSError: the body raised it, or the disk did; it has the target's path.
    """
    with _replacement(target, suffix) as (path, _):
        yield path


@contextmanager
def replacing_open(target: Path) -> Iterator[int]:
    """As `replacing`, for writers of an open file: gives its descriptor, for reading and writing."""
    with _replacement(target) as (path, descriptor):
        if descriptor is not None:
            yield descriptor
            return
        own = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        try:
            yield own
        finally:
            os.close(own)


@contextmanager
def _replacement(target: Path, suffix: str | None = None) -> Iterator[tuple[Path, int | None]]:
    target = Path(os.path.realpath(target))
    with naming(target):
        if target.exists() and not target.is_file():
            yield target, None
            return
        temporary = None
        try:
            with kept():
                remove_abandoned(target, suffix)
                temporary = TemporaryFile(target, suffix)
            yield temporary.path, temporary.descriptor
            with kept() as interrupts:
                os.fsync(temporary.descriptor)
                if not interrupts:
                    temporary.move()
                    _flush(target.parent)
        finally:
            if temporary is not None:
                with kept():
                    temporary.close()


def write_text(target: Path, text: str) -> None:
    """Write `text` as UTF-8 to `target`, by `replacing`."""
    with replacing(target) as part:
        part.write_text(text, encoding="utf-8")


@contextmanager
def naming(target: Path) -> Iterator[None]:
    """Give an OSError of the body the path of `target`, as the system names no file where a write fails."""
    try:
        yield
    except OSError as error:
        if str(error).startswith(f"{target}: "):  # a function called in the body has named it
            raise
        if error.errno is None:
            raise OSError(f"{target}: cannot be written ({error})") from error
        raise OSError(error.errno, os.strerror(error.errno), str(target)) from error


class KeptErrors(io.FileIO):
    """A file for HDF5 that keeps the first error of any kind as `error`; later calls then do nothing.

    HDF5 calls these methods when it sees fit, also while it closes an object, where Python can only print an exception
    or loses it: a checkpoint on a full disk would seem to have been written. So no method raises, and whoever closes
    such a file looks at `error`, or calls `check`. Bytes that cannot be read are zeros.

    Args:
        file: the path of a new file to make, or the descriptor of an open one, which stays open.
    """

    def __init__(self, file: Path | int) -> None:
        super().__init__(file, "w+", closefd=not isinstance(file, int))
        self.error: BaseException | None = None

    def check(self) -> None:
        """Raise `error`, if there is one."""
        if self.error is not None:
            raise self.error

    def write(self, data: Any) -> int:
        """Write all of `data`, a buffer; return its size in bytes."""
        size = 0
        try:
            rest = memoryview(data).cast("B")
            size = rest.nbytes
            while rest.nbytes and self.error is None:
                rest = rest[super().write(rest) :]
        except BaseException as error:
            self._keep(error)
        return size

    def readinto(self, buffer: Any) -> int:
        """Fill all of `buffer`; return its size in bytes."""
        size = 0
        try:
            rest = memoryview(buffer).cast("B")
            size = rest.nbytes
            while rest.nbytes and self.error is None:
                count = super().readinto(rest)
                if not count:
                    raise EOFError("the file ends too early")
                rest = rest[count:]
            rest[:] = bytes(rest.nbytes)
        except BaseException as error:
            self._keep(error)
        return size

    def seek(self, position: int, whence: int = os.SEEK_SET) -> int:
        """Go to a position; return the new position."""
        try:
            if self.error is None:
                return super().seek(position, whence)
        except BaseException as error:
            self._keep(error)
        return 0

    def truncate(self, size: int | None = None) -> int:
        """Cut or extend the file to `size` bytes, its position if None."""
        try:
            size = self.tell() if size is None else size
            if self.error is None:
                super().truncate(size)
        except BaseException as error:
            self._keep(error)
        return size or 0

    def _keep(self, error: BaseException) -> None:
        if self.error is None:
            self.error = error


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
