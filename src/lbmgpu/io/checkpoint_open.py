"""Opens checkpoints of every format version.

The files are untrusted: anything wrong with one raises CheckpointError.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import h5py

from .. import checks
from ..errors import CheckpointError
from ..files.interrupts import kept
from ..files.regular_files import file_path
from . import hdf5_tree
from .checkpoint_old import OLD_VERSIONS, OldCheckpoint
from .checkpoint_reader import NewestCheckpoint, Stored
from .checkpoint_writer import FORMAT, VERSION, WITH_RECORDERS
from .hdf5_tree import UnexpectedError


@contextmanager
def opened(path: str | os.PathLike[str], threads: int = 1) -> Iterator[Stored]:
    """An open checkpoint of a known version.

    Args:
        path: of the file.
        threads: that read and compute digests.

    Raises:
        CheckpointError: it is not one, or damaged.
        FileNotFoundError: there is none.
        PermissionError: it must not be read.
    """
    source = file_path("path", path)
    descriptor = _opened_file(source)
    try:
        with kept() as interrupts, damage_of(source), _hdf5(descriptor, source) as file:
            yield _stored(file, descriptor, threads, interrupts)
    finally:
        os.close(descriptor)


@contextmanager
def damage_of(source: Path) -> Iterator[None]:
    """Whatever the body raises for a file that is not right is a CheckpointError that names it."""
    try:
        yield
    except CheckpointError as error:
        raise error if str(error).startswith(str(source)) else CheckpointError(f"{source}: {error}") from error
    except PermissionError:
        raise
    except (
        ArithmeticError,
        AttributeError,
        EOFError,
        LookupError,
        OSError,
        RuntimeError,
        TypeError,
        UnexpectedError,
        ValueError,
    ) as error:
        what = f"{error} is missing" if isinstance(error, KeyError) and len(error.args) == 1 else error
        raise CheckpointError(f"{source}: damaged or not a checkpoint ({what})") from error


def _opened_file(source: Path) -> int:
    """The descriptor of a regular file; no device or pipe is waited for."""
    try:
        descriptor = os.open(source, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        raise FileNotFoundError(f"no checkpoint at {source}") from None
    except PermissionError:
        raise
    except OSError as error:
        raise CheckpointError(f"{source}: cannot be read ({checks.reason(error)})") from error
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return descriptor
    os.close(descriptor)
    if stat.S_ISDIR(mode):
        raise FileNotFoundError(f"no checkpoint at {source}, which is a folder")
    raise CheckpointError(f"{source}: not a checkpoint, as it is not a regular file")


def _hdf5(descriptor: int, source: Path) -> h5py.File:
    """The open file as HDF5 sees it.

    It opens the file by itself, without callbacks into Python, which it would call at the end of the process too if it
    could not close a damaged file. Of `source` there might be another file by now.
    """
    same = f"/proc/self/fd/{descriptor}"
    return h5py.File(same if os.access(same, os.R_OK) else source, "r", locking=False)


def _stored(file: h5py.File, descriptor: int, threads: int, interrupts: Sequence[BaseException]) -> Stored:
    root = file["/"].id
    version = hdf5_tree.attribute(root, "version")
    if type(version) is int and version in OLD_VERSIONS:
        return OldCheckpoint(root, descriptor, version, interrupts)
    if hdf5_tree.attribute(root, "format") != FORMAT:
        raise CheckpointError("not a checkpoint of lbmgpu")
    if type(version) is not int or version not in (VERSION, WITH_RECORDERS):
        known = f"this lbmgpu reads versions 1 to {WITH_RECORDERS}"
        raise CheckpointError(f"of format version {checks.shown(version)}, {known}")
    return NewestCheckpoint(root, descriptor, threads, interrupts)
