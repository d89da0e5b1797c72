"""Writes a file so that it appears whole or not at all, and an older one stays until then."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(target: Path) -> Iterator[Path]:
    """A path beside `target` to write to; what is there in the end, flushed to the disk, takes the target's place.

    Where the body raises, `target` stays as it was and nothing is left beside it.
    """
    temporary = target.with_name(f".{target.name}.{os.getpid()}-{threading.get_ident()}.tmp")
    try:
        yield temporary
        _flush(temporary)
        os.replace(temporary, target)
        _flush(target.parent)
    finally:
        temporary.unlink(missing_ok=True)


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
