"""Random layouts over all ranks, for the programs beside this file."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

import lbmgpu as lbm


def random_layout(
    rng: np.random.Generator,
    shape: tuple[int, ...],
    ranks: int,
    devices: Sequence[str],
    ends: Sequence[tuple[int, int]] = ((1, 1),) * 3,
    tries: int | None = None,
) -> lbm.Layout:
    """Blocks cut in all directions, some of a cell or two, each rank with one at least, several of them where there are
    more. Half of the time not across rows, which leaves blocks an interior. `ends`: see `Case.least_blocks`.

    Raises:
        ValueError: so many `tries` made too few blocks; without a number they go on until there are enough.
    """
    for attempt in itertools.count():
        if attempt == tries:
            raise ValueError(f"{ranks} blocks were not found in {shape}")
        across_rows = int(rng.integers(0, 2))
        most = (2 * across_rows, 2, 2)
        boxes = list(itertools.product(*(_cuts(rng, *axis) for axis in zip(shape, most, ends, strict=False))))
        if len(boxes) >= ranks:
            break
    owners = [*range(ranks), *rng.integers(0, ranks, len(boxes) - ranks).tolist()]
    rng.shuffle(owners)
    return lbm.Layout(
        lbm.Block(tuple(a for a, _ in box), tuple(b - a for a, b in box), owner, devices[k % len(devices)])
        for k, (box, owner) in enumerate(zip(boxes, owners, strict=True))
    )


def _cuts(rng: np.random.Generator, n: int, most: int, ends: tuple[int, int]) -> list[tuple[int, int]]:
    first, last = ends[0], n - ends[1]
    at = sorted(set(rng.integers(first, last + 1, int(rng.integers(0, most + 1))).tolist())) if last >= first else []
    return list(itertools.pairwise([0, *at, n]))
