"""Whether fluid can get from some cells of a domain to others, past its bodies."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Bools = NDArray[np.bool_]


def has_passage(fluid: Bools, starts: Bools, ends: Bools, periodic: Sequence[bool]) -> bool:
    """Whether a way through fluid cells leads from one of some cells to one of others.

    Ways go from a cell to all that share a face, an edge or a corner with it, as populations do; so where there is none
    no fluid passes. What is thinner than a cell is no obstacle here.

    Args:
        fluid: whether each cell of the domain is fluid.
        starts, ends: where ways begin and end; solid cells among them count for nothing.
        periodic: for each axis, whether ways go on at the other end.
    """
    starts, ends = starts & fluid, ends & fluid
    for axis in range(fluid.ndim):  # straight ways, which nearly every domain has, are found at once
        if (fluid.all(axis) & starts.any(axis) & ends.any(axis)).any():
            return True
    steps = [step for step in itertools.product((-1, 0, 1), repeat=fluid.ndim) if any(step)]
    next_to = [step for step in steps if np.count_nonzero(step) == 1]
    # most ways need no step across an edge or a corner, without which the search is several times faster
    return _search(fluid, starts, ends, periodic, next_to) or _search(fluid, starts, ends, periodic, steps)


def _search(fluid: Bools, starts: Bools, ends: Bools, periodic: Sequence[bool], steps: Sequence[Sequence[int]]) -> bool:
    """Whether such a way consists of these steps, by a search in width that looks at each cell once."""
    unseen, targets = (fluid & ~starts).ravel(), ends.ravel()
    reached = np.flatnonzero(starts)
    while len(reached):
        if targets[reached].any():
            return True
        cells = np.unravel_index(reached, fluid.shape)
        found = []
        for step in steps:  # of no two cells the same one is a step further
            places = _moved(cells, step, fluid.shape, periodic)
            found.append(places[unseen[places]])
            unseen[found[-1]] = False
        reached = np.concatenate(found)
    return False


def _moved(
    cells: Sequence[NDArray[np.int64]], step: Sequence[int], shape: Sequence[int], periodic: Sequence[bool]
) -> NDArray[np.int64]:
    """The numbers of the cells a step further, of those that are in the domain."""
    within = np.ones(len(cells[0]), np.bool_)
    moved = []
    for along, by, n, continues in zip(cells, step, shape, periodic, strict=True):
        places = along + by
        if continues:
            places %= n
        elif by:
            within &= (places >= 0) & (places < n)
        moved.append(places)
    return np.asarray(np.ravel_multi_index([places[within] for places in moved], tuple(shape)))
