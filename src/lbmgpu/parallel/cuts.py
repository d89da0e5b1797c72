"""The ways to cut a domain into a number of boxes, and the one of least surface that keeps rows along x whole."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

Vector = tuple[int, ...]


def cuts(blocks: int, shape: Vector, least: int = 1) -> Iterator[Vector]:
    """The numbers of parts along the axes whose product is `blocks`; a part has `least` cells, or is the whole axis."""
    divisors = [k for k in range(1, blocks + 1) if blocks % k == 0]
    for parts in itertools.product(divisors, repeat=len(shape) - 1):
        last, rest = divmod(blocks, math.prod(parts))
        cut = (*parts, last)
        if rest == 0 and all(k == 1 or n >= least * k for n, k in zip(shape, cut, strict=True)):
            yield cut


def surface(shape: Vector, parts: Vector) -> float:
    """The cells at the faces of a block inside the domain, of blocks as equal as can be."""
    size = [n / k for n, k in zip(shape, parts, strict=True)]
    cells = sum(2 * math.prod(size) / n for n, k in zip(size, parts, strict=True) if k > 1)
    return float(f"{cells:.9g}")  # so that rounding decides between no two


def least_surface(shape: Vector, blocks: int, least: int = 1) -> Vector:
    """The parts along each axis of the cut whose blocks have the least surface, among those that keep rows whole.

    Of equal ones that along fewest axes is taken, then that along the last ones. Where rows cannot be kept whole, or
    blocks not as long as `least`, they are not.

    Raises:
        ValueError: more blocks than the domain can be cut into.
    """
    for length in dict.fromkeys((least, 1)):
        found = list(cuts(blocks, shape, length))
        whole = [parts for parts in found if parts[0] == 1]
        if found:
            return min(whole or found, key=lambda parts: (surface(shape, parts), sum(k > 1 for k in parts), parts))
    raise ValueError(f"device: {blocks} devices given, more than blocks that {shape} can be cut into")
