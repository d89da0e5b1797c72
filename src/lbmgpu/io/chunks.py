"""Arrays cut into the chunks that checkpoints are written and read in, each with a digest that covers its place."""

from __future__ import annotations

import hashlib
import math
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

SMALLEST, LARGEST = 2**22, 2**24
"""The bytes of a chunk: the least are enough for full speed, and only large arrays have larger chunks."""
MANY = 2**16
"""The number of chunks of an array beyond which its chunks get larger."""
MAX_THREADS = 16

Item = TypeVar("Item")
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Chunk:
    """A box of an array whose elements follow each other in memory."""

    index: int
    low: tuple[int, ...]
    high: tuple[int, ...]
    start: int
    """The index of its first element among all elements of the array."""

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of elements along each axis."""
        return tuple(b - a for a, b in zip(self.low, self.high, strict=True))

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)


@dataclass(frozen=True)
class Chunks:
    """The chunks of the array called `name`, in C order. It is cut along one axis; of each axis before that one a chunk
    has a single index.
    """

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    chunk: tuple[int, ...]

    @classmethod
    def of(cls, name: str, shape: Sequence[int], dtype: Any, lead: int = 0) -> Chunks:
        """Chunks of a suitable size, each with a single index of the first `lead` axes."""
        dtype = np.dtype(dtype)
        room = min(max(SMALLEST, math.prod(shape) * dtype.itemsize // MANY), LARGEST) // dtype.itemsize
        chunk = [1] * len(shape)
        for axis in reversed(range(lead, len(shape))):
            chunk[axis] = min(shape[axis], max(1, room))
            room //= chunk[axis]
            if chunk[axis] < shape[axis]:
                break
        return cls(name, tuple(shape), dtype, tuple(chunk))

    def is_right(self) -> bool:
        """Whether the chunks are boxes of consecutive elements, none of them too large to be read into memory."""
        if len(self.chunk) != len(self.shape) or any(
            not 1 <= c <= max(n, 1) for c, n in zip(self.chunk, self.shape, strict=True)
        ):
            return False
        cut = next((axis for axis, size in enumerate(self.chunk) if size > 1), len(self.shape))
        return self.chunk[cut + 1 :] == self.shape[cut + 1 :] and self._bytes(self.chunk) <= 16 * LARGEST

    @property
    def nbytes(self) -> int:
        """Bytes of the whole array."""
        return self._bytes(self.shape)

    @property
    def count(self) -> int:
        """The number of chunks."""
        return math.prod(self._grid())

    def __iter__(self) -> Iterator[Chunk]:
        return self._chunks(self._grid(), 0, 0)

    def at(self, lead: int) -> Iterator[Chunk]:
        """The chunks with index `lead` of the first axis; each chunk must have a single index of it."""
        grid = self._grid()
        return self._chunks([1, *grid[1:]], lead, lead * math.prod(grid[1:]))

    def _chunks(self, grid: list[int], lead: int, first: int) -> Iterator[Chunk]:
        start = lead * math.prod(self.shape[1:])
        for index, (head, *rest) in enumerate(np.ndindex(*grid), first):
            place = (head + lead, *rest)
            low = tuple(i * c for i, c in zip(place, self.chunk, strict=True))
            high = tuple(min(a + c, n) for a, c, n in zip(low, self.chunk, self.shape, strict=True))
            chunk = Chunk(index, low, high, start)
            yield chunk
            start += chunk.size

    def digest(self, chunk: Chunk, values: np.ndarray[Any, Any]) -> str:
        """The SHA-256 of the array's name, the chunk's number and place, and its bytes, as a hexadecimal number.

        It is SHA-256, as processors have instructions for it: 1.4 GB/s on a core of a Xeon of 2023, where BLAKE2b has
        0.6.
        """
        head = f"{self.name} {self.dtype.str} {self.shape} {chunk.index} {chunk.low} {chunk.high}\n"
        digest = hashlib.sha256(head.encode())
        digest.update(values.reshape(-1).view(np.uint8).data)
        return digest.hexdigest()

    def _grid(self) -> list[int]:
        return [-(-n // c) for n, c in zip(self.shape, self.chunk, strict=True)]

    def _bytes(self, shape: Sequence[int]) -> int:
        return math.prod(shape) * self.dtype.itemsize


def each(
    function: Callable[[Item], Result], items: Iterable[Item], threads: int, interrupts: Sequence[BaseException] = ()
) -> list[Result]:
    """Call `function` with each item, several at a time in threads, and return the results in order.

    Raises:
        BaseException: the first error of a call, or the first of `interrupts` once there is one; all calls have ended.
    """

    results: list[Any] = list(items)
    waiting = deque(enumerate(results))
    errors: list[BaseException] = []

    def work() -> None:
        while not errors:
            try:
                number, item = waiting.popleft()
            except IndexError:  # another thread has taken the last
                return
            try:
                if interrupts:
                    raise interrupts[0]
                results[number] = function(item)
            except BaseException as error:
                errors.append(error)

    # A pool of concurrent.futures takes no work once the main thread has ended, when other threads may still save.
    helpers = [threading.Thread(target=work) for _ in range(min(threads, len(results), MAX_THREADS) - 1)]
    started = []
    with suppress(RuntimeError):  # no thread can be started at the end of the interpreter: this one does it all
        for helper in helpers:
            helper.start()
            started.append(helper)
    work()
    for helper in started:
        helper.join()
    if errors:
        raise errors[0]
    return results
