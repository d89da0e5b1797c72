"""Matches the blocks of a layout with the job: hosts with the ranks on them, ranks with their devices.

All ranks do this together when a solver is made, and what does not match is the same error on all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from .. import _core, checks
from ..errors import IdleGpuWarning, LayoutError, warn
from ..layout import Layout
from . import devices, gpu, hosts
from .processes import Processes

SHOWN = 4
"""Names that a message lists at most."""


def placed(layout: Layout, processes: Processes, device: Any = "auto") -> Layout:
    """The layout with the rank and the device of every block: of hosts one of their ranks; of ``"cuda"`` the GPU of the
    rank, of ``"auto"`` the argument `device` of the solver, by default that GPU if one can be used.

    Raises:
        LayoutError: a host or a rank is not there, a rank is not on its block's host or has no block, or the host lacks
            a device.
        CudaError: the solver's `device` is a GPU, and the driver, the compiler or every GPU of a rank is missing.
    """
    names = processes.shared(hosts.own_name())
    ranked = matched(layout, names)
    own = [(k, block) for k, block in enumerate(ranked) if block.rank == processes.rank]

    def resolved() -> dict[str, str]:
        found: dict[str, str] = {}
        for number, block in own:
            if block.device not in found:
                name = device if block.device == "auto" and isinstance(device, str) else block.device
                try:
                    found[block.device] = devices.resolve(name, processes.node_rank)
                except (ValueError, _core.CudaError) as error:
                    if isinstance(error, _core.CudaError) and block.device == "auto":
                        raise  # of the solver's device
                    where = f"of rank {block.rank} on {hosts.own_name()}"
                    raise LayoutError(f"layout: block {number} {where}: {error}") from None
        return found

    every = processes.shared(processes.each(resolved))
    return Layout(replace(block, device=every[int(block.rank or 0)][block.device]) for block in ranked)


def place_layout(layout: Layout, comm: Any, device: str = "auto") -> Layout:
    """A layout with the rank and the device of every block, as a solver finds them; all ranks call it together.

    Args:
        layout: whose blocks may have a host and no rank, or no device of their own.
        comm: an mpi4py communicator.
        device: of the blocks that do not name one, as for `Solver`.

    Raises:
        LayoutError: a host or a rank is not there, a rank is not on its block's host or has no block, or the host lacks
            a device.
        CudaError: `device` is a GPU that cannot be used.
    """
    if not isinstance(layout, Layout):
        raise TypeError(f"layout: {checks.shown(layout)} given, must be a Layout")
    return placed(layout, Processes.of(comm), device)


def matched(layout: Layout, names: Sequence[str]) -> Layout:
    """The layout with a rank for every block, in a job whose ranks are on hosts of these names.

    The blocks without a rank are dealt among the ranks of their host that no other block names, in their order.

    Raises:
        LayoutError: see `placed`.
    """
    blocks = list(layout)
    for number, block in enumerate(blocks):
        if block.host is not None and not any(hosts.same(block.host, name) for name in names):
            raise LayoutError(f"layout: block {number} is of host {block.host!r}, but the job runs on {_listed(names)}")
        if block.rank is None:
            continue
        if block.rank >= len(names):
            raise LayoutError(
                f"layout: block {number} is of rank {block.rank}, but there are {len(names)} processes, numbered from 0"
            )
        if block.host is not None and not hosts.same(block.host, names[block.rank]):
            raise LayoutError(
                f"layout: block {number} is of host {block.host!r} and rank {block.rank}, but that rank is on "
                f"{names[block.rank]!r}"
            )
    named = {block.rank for block in blocks}
    groups: dict[tuple[int, ...], list[int]] = {}  # the blocks without a rank of each host, however it is spelt
    for number, block in enumerate(blocks):
        if block.rank is None:
            assert block.host is not None  # a block has one of both
            there = tuple(rank for rank, name in enumerate(names) if hosts.same(block.host, name))
            groups.setdefault(there, []).append(number)
    for there, waiting in groups.items():
        free = [rank for rank in there if rank not in named] or there
        for turn, number in enumerate(waiting):
            rank = free[turn * min(len(free), len(waiting)) // len(waiting)]
            blocks[number] = replace(blocks[number], rank=rank)
    idle = sorted(set(range(len(names))) - {int(block.rank or 0) for block in blocks})
    if idle:
        where = f" (on {names[idle[0]]!r})" if len(set(names)) > 1 else ""
        raise LayoutError(f"layout: no block is of rank {idle[0]}{where}, but there are {len(names)} processes")
    return Layout(blocks)


def warn_of_idle_gpus(layout: Layout, processes: Processes) -> None:
    """Warn with IdleGpuWarning on rank 0 if ranks see GPUs on which no block of the layout is; all call this together.

    In one process nothing is said, as the devices were named or are the default there.
    """
    if processes.size == 1:
        return
    seen = visible_gpus()
    names = {block.device for block in layout if block.rank == processes.rank}
    used = [identity for identity, name in seen.items() if name in names]
    every = processes.shared([hosts.own_name(), seen, used])
    busy = {identity for _, _, theirs in every for identity in theirs}
    idle = {identity: f"{name} of {host}" for host, all_there, _ in every for identity, name in all_there.items()}
    left = [words for identity, words in idle.items() if identity not in busy]
    if left and processes.first:
        warn(
            f"layout: no block is on {_listed(left)}, which the job's ranks see; blocks of device 'cuda', and those of "
            "Layout.split(..., ranks=...), are on the GPU of their rank",
            IdleGpuWarning,
        )


def visible_gpus() -> dict[str, str]:
    """The GPUs that this process sees, their names by their unique identifiers; none where there is no driver."""
    try:
        return {gpu.uuid(number): f"cuda:{number}" for number in range(_core.cuda_device_count())}
    except _core.CudaError:
        return {}


def _listed(names: Sequence[str]) -> str:
    each = list(dict.fromkeys(names))
    more = f" and {len(each) - SHOWN} more" if len(each) > SHOWN else ""
    return ", ".join(each[:SHOWN]) + more
