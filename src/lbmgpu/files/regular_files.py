"""Opens files that may come from elsewhere: only regular files of a sane size, checked before a byte is read.

A name can lead to a device that never ends, a pipe that nobody writes to, or more bytes than there is memory.
"""

from __future__ import annotations

import io
import math
import os
import stat
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from .. import checks

CASE_BYTES = 2**22
LAYOUT_BYTES = 2**24
TABLE_BYTES = 2**30
"""The largest files that are read: far beyond use, and read and checked in seconds."""

_HEADER_BYTES = 2**16
"""Bytes read for the header of an array's file: more than NumPy writes for any array without named fields."""

_PIECE = 2**20
"""Cells of a mask that are read together where a part is wanted."""

_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}

_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISLNK, "a symbolic link"),
)


def file_path(name: str, path: Any) -> Path:
    """`path` as a Path.

    Raises:
        TypeError, ValueError: `path` is not a path, or no file can have it.
    """
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"{name}: {checks.shown(path)} given, must be a path")
    try:
        text = os.fsdecode(path)
        if b"\0" not in os.fsencode(text):
            return Path(text)
    except Exception:  # the object's own conversion fails, or the system's encoding lacks characters
        pass
    raise ValueError(f"{name}: {checks.shown(path)} given, must be a path that the system can have, without NUL")


def regular_file(name: str, path: str | os.PathLike[str], *, at_most: int | None = None) -> BinaryIO:
    """The file at `path`, open for reading; links are followed.

    Args:
        name: the name of the argument, for errors; empty where the caller names the file in them.
        path: the path of the file.
        at_most: the largest size in bytes; None for any.

    Raises:
        ValueError: the file is not a regular one, or is larger.
        OSError: there is no such file, or it cannot be opened.
    """
    path = file_path(name or "path", path)
    _check(name, path, os.stat(path), at_most)  # a device is not even opened, as that acts on some devices
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    try:
        _check(name, path, os.fstat(descriptor), at_most)
        return open(descriptor, "rb")
    except BaseException:
        os.close(descriptor)
        raise


def read_text(name: str, path: str | os.PathLike[str], *, at_most: int) -> str:
    """The text of a `regular_file`, UTF-8.

    Raises:
        ValueError, OSError: as `regular_file`; ValueError too if the bytes are not UTF-8.
    """
    with regular_file(name, path, at_most=at_most) as file:
        data = file.read(at_most + 1) or b""  # some files of the kernel are longer than their size
    if len(data) > at_most:
        raise ValueError(_too_large(name, path, len(data), at_most))
    return data.decode("utf-8")


def read_mask(name: str, path: str | os.PathLike[str], shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """The bool array of `shape` in a file of `numpy.save`, whose header is looked at before anything is allocated.

    Raises:
        TypeError: the array has another type.
        ValueError, OSError: as `regular_file`; ValueError too if the file holds no array, or one of another shape, or
            only a part of it.
    """
    with regular_file(name, path) as file:
        start, by_columns = _mask_header(name, path, file, shape)
        file.seek(start)
        count = math.prod(shape)
        cells = np.frombuffer(file.read(count), np.uint8)
    if cells.size != count:
        raise ValueError(f"{name}: {path} ends before its array of {count} cells does")
    mask: NDArray[np.bool_] = (cells != 0).reshape(shape, order="F" if by_columns else "C")
    return mask


class MaskFile:
    """The bool array of `shape` in a file, as `read_mask` has it, of which parts are read; a function of coordinates.

    Raises:
        TypeError, ValueError, OSError: as `read_mask`.
    """

    def __init__(self, name: str, path: str | os.PathLike[str], shape: tuple[int, ...]) -> None:
        self._name, self._path, self._shape = name, path, shape
        with regular_file(name, path) as file:
            _mask_header(name, path, file, shape)

    def __call__(self, *centres: NDArray[np.float64]) -> NDArray[np.bool_]:
        """The mask at the cells of a box, given by the coordinates of their centres, arrays of its shape."""
        region = centres[0].shape
        lines = [tuple(slice(None) if k == axis else 0 for k in range(len(region))) for axis in range(len(region))]
        axes = [(along[line] - 0.5).astype(np.int64) for along, line in zip(centres, lines, strict=True)]
        result = np.empty(region, dtype=np.bool_)
        with regular_file(self._name, self._path) as file:
            start, by_columns = _mask_header(self._name, self._path, file, self._shape)
            shape, target = (self._shape[::-1], result.T) if by_columns else (self._shape, result)
            first, *others = axes[::-1] if by_columns else axes
            layer = math.prod(shape[1:])
            for at in range(0, shape[0], max(1, _PIECE // layer)):
                count = min(max(1, _PIECE // layer), shape[0] - at)
                wanted = np.flatnonzero((first >= at) & (first < at + count))
                if wanted.size == 0:
                    continue
                file.seek(start + at * layer)
                cells = np.frombuffer(file.read(count * layer), np.uint8)
                if cells.size != count * layer:
                    raise ValueError(f"{self._name}: {self._path} ends before its array does")
                target[wanted] = cells.reshape(count, *shape[1:])[np.ix_(first[wanted] - at, *others)] != 0
        return result


def _mask_header(name: str, path: str | os.PathLike[str], file: BinaryIO, shape: tuple[int, ...]) -> tuple[int, bool]:
    """Where the array begins in the file of a mask, and whether its first axis runs fastest; or see `read_mask`."""
    head = io.BytesIO(file.read(_HEADER_BYTES) or b"")
    try:
        version = np.lib.format.read_magic(head)
        if version not in _HEADERS:
            raise ValueError(f"version {version} of the format")
        found, by_columns, dtype = _HEADERS[version](head)
    except Exception as error:  # NumPy's parser of a header raises whatever the text leads it to
        raise ValueError(f"{name}: {path} cannot be read as a NumPy array ({_first_line(error)})") from None
    if dtype != np.bool_:
        raise TypeError(f"{name}: {path} holds an array of {dtype}, must be bool (such as values > 0)")
    if found != shape:
        raise ValueError(f"{name}: {path} holds an array of shape {found}, must be the domain's, {shape}")
    count = math.prod(shape)
    if os.fstat(file.fileno()).st_size < head.tell() + count:
        raise ValueError(f"{name}: {path} ends before its array of {count} cells does")
    return head.tell(), bool(by_columns)


def output_file(path: Path, *, append: bool) -> int:
    """A descriptor that writes at the end of the file at `path`, which is made if needed, and emptied unless `append`.

    No link is followed and only a regular file is written to, as what is there may belong to somebody else.

    Raises:
        OSError: it is no regular file, or cannot be opened; the error has the path.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY
    check_output(path)
    descriptor = os.open(path, flags, 0o666)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(f"{path}: is {kind_of(os.fstat(descriptor))}, must be a regular file")
        if not append:
            os.ftruncate(descriptor, 0)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def check_output(path: Path) -> None:
    """Raise OSError where `path` is there and not a regular file, or is a link."""
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return
    if not stat.S_ISREG(found.st_mode):
        raise OSError(f"{path}: is {kind_of(found)}, must be a regular file or not there yet")


def kind_of(found: os.stat_result) -> str:
    """What a file that is not a regular one is, in words."""
    return next((words for test, words in _KINDS if test(found.st_mode)), "no regular file")


def _check(name: str, path: str | os.PathLike[str], found: os.stat_result, at_most: int | None) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise ValueError(f"{_prefix(name, path)}is {kind_of(found)}, must be a regular file")
    if at_most is not None and found.st_size > at_most:
        raise ValueError(_too_large(name, path, found.st_size, at_most))


def _too_large(name: str, path: str | os.PathLike[str], size: int, at_most: int) -> str:
    return f"{_prefix(name, path)}has {size} bytes, must have at most {at_most}"


def _prefix(name: str, path: str | os.PathLike[str]) -> str:
    return f"{name}: {path} " if name else ""


def _first_line(error: Exception) -> str:
    return str(error).split("\n")[0][:200]


def output_path(name: str, path: Any) -> Path:
    """`path` as a Path to write to.

    Raises:
        TypeError, ValueError: `path` is not the path of a file.
        FileNotFoundError: its folder does not exist.
        PermissionError: its folder cannot be written to.
    """
    target = file_path(name, path)
    if not target.name:
        raise ValueError(f"{name}: {checks.shown(path)} given, must name a file")
    if target.is_dir():
        raise ValueError(f"{name}: {target} given, which is a folder; must name a file, such as {target / 'name'}")
    folder = Path(os.path.realpath(target)).parent
    if not folder.is_dir():
        raise FileNotFoundError(f"{name}: {target} given, but there is no folder {folder}; make it first")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(f"{name}: {target} given, but the folder {folder} cannot be written to")
    return target
