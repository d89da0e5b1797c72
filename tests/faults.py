"""Real faults for tests, which the kernel makes and which hold for root too: a disk that is full, a closed folder."""

from __future__ import annotations

import os
import resource
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NOBODY = 65534
CLOSED = Path("/sys")
"""A folder in which nobody can make a file, root included."""


@contextmanager
def full_disk(size: int) -> Iterator[None]:
    """Whatever this process writes beyond the first `size` bytes of a file fails, with "File too large".

    As on a full disk, the files are there and what fits is written. Python ignores the signal that comes with it.
    """
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Nothing can be made in `folder`, which has to be one of `open_folder`; root becomes another user meanwhile."""
    root = os.geteuid() == 0
    folder.chmod(0o555)
    if root:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)
        folder.chmod(0o755)


@contextmanager
def open_folder() -> Iterator[Path]:
    """A folder for files that every user may look into; pytest's own are closed to others."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder
