"""Writes arrays of cells that are on all ranks in parts: slab by slab, so that rank 0 never has all of a field."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..engine.simulation import Simulation
from ..layout import Block
from ..parallel.processes import box
from .checkpoint_recorders import Kept, OfCells, stored_of_cells
from .checkpoint_writer import NewCheckpoint
from .chunks import Chunk, Chunks

SLAB = 2**25
"""Bytes that are gathered together, unless a chunk has more."""

OnFirst = Callable[[Callable[[], Any]], Any]


def write_cells_of_recorders(
    simulation: Simulation, recorders: Sequence[Kept], file: NewCheckpoint | None, on_first: OnFirst
) -> None:
    """Write the arrays of cells of recorders; all ranks call it together.

    Args:
        simulation: whose cells they are of.
        recorders: what they have kept, of this rank's window.
        file: on rank 0, None elsewhere.
        on_first: calls a function on rank 0, and raises its errors on all ranks.
    """
    known = {(kept.name, key): array for kept in recorders for key, array in kept.arrays.items()}
    # In the order of rank 0, as its manifest has them.
    names = simulation.processes.shared([[*pair, name] for pair, name in stored_of_cells(recorders).items()])[0]
    domain = tuple(simulation.domain.shape[::-1])
    for recorder, key, name in names:
        array = simulation.processes.each(partial(_found, known, recorder, key))
        components = array.components
        chunks = Chunks.of(name, (len(components), *domain), np.float64, lead=1)
        on_first(partial(_add, file, chunks))
        for lead, index in enumerate(components):
            part = simulation.processes.each(partial(array.component, index))
            _write_component(simulation, chunks, lead, part.T, file, on_first)


def _found(known: dict[tuple[str, str], Any], recorder: str, key: str) -> OfCells:
    array = known.get((recorder, key))
    if not isinstance(array, OfCells):
        raise RuntimeError(f"recorder {recorder!r}: {key} is kept of cells on rank 0, but not on all ranks")
    return array


def _add(file: NewCheckpoint | None, chunks: Chunks) -> None:
    if file is not None:
        file.add(chunks)


def _write_component(
    simulation: Simulation,
    chunks: Chunks,
    lead: int,
    part: NDArray[Any],
    file: NewCheckpoint | None,
    on_first: OnFirst,
) -> None:
    """Write what an array has at index `lead` of its first axis, of which `part` is this rank's, ``([z,] y, x)``."""
    for slab in slabs(list(chunks.at(lead)), chunks.dtype.itemsize):
        low, high = slab[0].low[1:], slab[-1].high[1:]
        found = gathered_box(simulation, part, low[::-1], tuple(b - a for a, b in zip(low, high, strict=True))[::-1])
        on_first(partial(_write, file, chunks, slab, found))


def _write(file: NewCheckpoint | None, chunks: Chunks, slab: list[Chunk], found: NDArray[Any] | None) -> None:
    if file is not None and found is not None:
        file.write_chunks(chunks, slab, found)


def slabs(chunks: Sequence[Chunk], itemsize: int) -> Iterator[list[Chunk]]:
    """Chunks that follow each other, in lists of about `SLAB` bytes that are boxes together."""
    slab: list[Chunk] = []
    for chunk in chunks:
        if slab:
            # Chunks are cut along one axis: the next one beyond its end begins anew there, and one on along another.
            is_box = sum(a != b for a, b in zip(slab[-1].low, chunk.low, strict=True)) == 1
            if not is_box or sum(c.size for c in slab) * itemsize >= SLAB:
                yield slab
                slab = []
        slab.append(chunk)
    if slab:
        yield slab


def gathered_box(
    simulation: Simulation, part: NDArray[Any], offset: Sequence[int], size: Sequence[int]
) -> NDArray[Any] | None:
    """A box of a field on rank 0, None elsewhere; all ranks call it together.

    Args:
        simulation: whose cells the field is of.
        part: of this rank's window, with its axes reversed.
        offset, size: of the box in the domain, along x, y and z.
    """
    origin, extent = simulation.engine.window
    low, count = _common(origin, extent, offset, size)
    inside = part[box(low, count, origin)]
    blocks = []
    for block in simulation.layout:
        corner, cells = _common(block.offset, block.size, offset, size)
        if math.prod(cells) > 0:
            blocks.append(Block(tuple(a - b for a, b in zip(corner, offset, strict=True)), cells, block.rank))
    begin = [a - b for a, b in zip(low, offset, strict=True)]
    return simulation.processes.gathered(blocks, inside, (begin, list(count)))


def _common(
    offset: Sequence[int], size: Sequence[int], other: Sequence[int], extent: Sequence[int]
) -> tuple[list[int], tuple[int, ...]]:
    """Offset and size of what two boxes have in common; where that is nothing, within the first one."""
    low = [min(max(a, b), a + n) for a, n, b in zip(offset, size, other, strict=True)]
    high = [min(a + n, b + m) for a, n, b, m in zip(offset, size, other, extent, strict=True)]
    return low, tuple(max(0, b - a) for a, b in zip(low, high, strict=True))
