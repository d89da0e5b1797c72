"""The chunks of a field in files: cut, shuffled and compressed as the filters of HDF5 and of zarr undo it."""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

CHUNK_BYTES = 2**21
"""Of a chunk before compression, about: large against what its place costs, small against a field."""


def chunk_shape(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """The shape of chunks of about `CHUNK_BYTES` that are whole along the last axes, which are contiguous."""
    chunk, left = [1] * len(shape), max(1, CHUNK_BYTES // itemsize)
    for axis in reversed(range(len(shape))):
        chunk[axis] = max(1, min(shape[axis], left))
        left //= chunk[axis]
        if chunk[axis] < shape[axis]:
            break
    return tuple(chunk)


def corners(shape: tuple[int, ...], chunk: tuple[int, ...]) -> list[tuple[int, ...]]:
    """The first index of each chunk."""
    return list(itertools.product(*(range(0, n, c) for n, c in zip(shape, chunk, strict=True))))


def encoded(
    values: NDArray[Any],
    chunk: tuple[int, ...],
    level: int,
    imap: Callable[[Callable[[Any], bytes], Iterable[Any]], Iterable[bytes]],
) -> Iterator[tuple[tuple[int, ...], bytes]]:
    """The corner and the bytes of each chunk of an array.

    Args:
        values: C-contiguous, of the type that the file has.
        chunk: shape; chunks that reach beyond the array are filled up with zeros.
        level: of zlib, 1 to 9, after a shuffle of the bytes; 0 leaves the bytes as they are.
        imap: `map`, or one that calls the function in several threads and keeps the order.
    """

    def encode(corner: tuple[int, ...]) -> bytes:
        part = values[tuple(slice(a, a + c) for a, c in zip(corner, chunk, strict=True))]
        if part.shape != chunk:
            whole = np.zeros(chunk, dtype=values.dtype)
            whole[tuple(slice(n) for n in part.shape)] = part
            part = whole
        if level == 0:
            return part.tobytes()
        flat = np.ascontiguousarray(part).reshape(-1).view(np.uint8).reshape(-1, values.itemsize)
        return zlib.compress(np.ascontiguousarray(flat.T).data, level)

    places = corners(values.shape, chunk)
    yield from zip(places, imap(encode, places), strict=True)
