"""Gives the CPU of each rank a share of the cells of its GPUs: checks the argument, and makes the blocks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..layout import AUTO, Layout, check_cpu_share
from ..parallel.processes import Processes

Found = Callable[[Layout], float]
"""Finds the share for a layout that has none yet; all ranks call it together."""


def agreed(processes: Processes, share: Any, layout: Layout | None) -> float | str:
    """The argument `cpu_share` of a solver, that of the `layout` if None, or 0; checked, and the same on all ranks.

    Raises:
        TypeError, ValueError: on all ranks, another value or different ones.
    """
    if share is None:
        share = 0.0 if layout is None or layout.cpu_share is None else layout.cpu_share
    own = processes.each(lambda: check_cpu_share("cpu_share", share))
    every = processes.shared(own)
    for rank, other in enumerate(every):
        if other != every[0]:
            raise ValueError(
                f"cpu_share: rank {rank} was given another than rank 0 ({other!r}, not {every[0]!r}); all ranks take "
                "the same arguments"
            )
    return own


def blocks(
    share: float | str, layout: Layout | None, shape: tuple[int, ...], devices: tuple[str, ...], rank: int, found: Found
) -> tuple[Layout | None, tuple[str, ...]]:
    """The layout and the devices of this rank when the CPUs have their `share`; both as they are where no GPU is used.

    Args:
        share: of the cells of each block on a GPU, or ``"auto"``.
        layout: the blocks without a share; None for one block on the first of the devices.
        shape: of the domain.
        devices: of this rank, without the share.
        rank: of this process.
        found: finds the share where it is ``"auto"``.

    Raises:
        ValueError: the layout has blocks on GPUs and on the CPU already.
    """
    if share == 0:
        return layout, devices
    whole = Layout.split(shape, (1,) * len(shape), devices[0]) if layout is None else Layout(layout)
    kinds = {block.device == "cpu" for block in whole}
    if kinds == {True}:
        return layout, devices
    if len(kinds) > 1:
        raise ValueError(
            f"cpu_share: {share!r} given beside a layout with blocks on GPUs and on the CPU, must be left out"
        )
    cut = whole.with_cpu_share(found(whole) if share == AUTO else share)
    if cut == whole:
        return layout, devices
    own = tuple(dict.fromkeys(block.device for block in cut if block.rank == rank))
    return cut, own or devices
