"""Writes files so that they appear whole or not at all, and an error of the system names the file that it is about."""

from __future__ import annotations

import io
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


@contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """A path beside `target` to write to; what is there in the end, flushed to the disk, takes the target's place.

    Where the body raises, `target` stays as it was and nothing is left beside it. The path ends as `target` does, for
    writers that go by the ending of a name. A link stays one: the file that it leads to is replaced. What is there and
    no file, such as ``/dev/null``, is written to itself.

    Raises:
        OSError: of the body, or of the disk, with the target's path.
    """
    target = Path(os.path.realpath(target))
    if target.exists() and not target.is_file():
        with naming(target):
            yield target
        return
    temporary = target.with_name(f".tmp-{os.getpid()}-{threading.get_ident()}-{target.name}")
    with naming(target):
        try:
            yield temporary
            _flush(temporary)
            os.replace(temporary, target)
            _flush(target.parent)
        finally:
            temporary.unlink(missing_ok=True)


def write_text(target: Path, text: str) -> None:
    """Write `text` as UTF-8 to `target`, by `replacing`."""
    with replacing(target) as part:
        part.write_text(text, encoding="utf-8")


@contextmanager
def naming(target: Path) -> Iterator[None]:
    """An OSError of the body gets the path of `target`: the system names none where it is a write that fails."""
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise OSError(f"{target}: cannot be written ({error})") from error
        raise OSError(error.errno, os.strerror(error.errno), str(target)) from error


class KeptErrors(io.FileIO):
    """A new file at `path` that keeps the first error of the system as `error`, and takes what follows for written.

    HDF5 puts off what it writes until it closes something, where Python can but print what went wrong: a checkpoint
    on a full disk would seem to have been written. Whoever closes such a file asks for `error`, or calls `check`.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path, "w+")
        self.error: OSError | None = None

    def check(self) -> None:
        """Raise the error that there was."""
        if self.error is not None:
            raise self.error

    def write(self, data: Any) -> int:
        """Write all of `data`, a buffer; return its size in bytes."""
        rest = memoryview(data).cast("B")
        size = rest.nbytes
        try:
            while rest.nbytes and self.error is None:
                rest = rest[super().write(rest) :]
        except OSError as error:
            self.error = error
        return size

    def truncate(self, size: int | None = None) -> int:
        """Cut or extend the file to `size` bytes, its position if None."""
        size = self.tell() if size is None else size
        try:
            if self.error is None:
                super().truncate(size)
        except OSError as error:
            self.error = error
        return size


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
