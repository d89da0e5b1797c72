"""The devices that a benchmark of several devices shares a domain over, in one process or those of an MPI job."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Sequence
from typing import Any

from ..parallel import devices
from ..parallel.processes import Processes

POLL_SECONDS = 0.005
"""Between two looks of a rank that waits: MPI's own waiting would take the cores that another one computes on."""


class DeviceGroup:
    """Devices with a block each, in the order of ranks.

    Args:
        names: of this process's devices, as `Solver` takes them; one that is named twice has two blocks.
        comm: an mpi4py communicator, whose ranks make this and call its methods together; None for one process.

    Attributes:
        owners: rank and device of each block.
        devices: number of different devices. The CPU of another rank is another one: ranks share the cores.
        processes: of `comm`.

    Raises:
        TypeError, ValueError: a wrong name.
        CudaError: a GPU cannot be used.
    """

    def __init__(self, names: Sequence[str], comm: Any = None) -> None:
        self._comm = comm
        self.processes = Processes.of(comm)
        own = [devices.resolve(name, self.processes.node_rank) for name in names]
        hosts = self.processes.shared((platform.node(), own))
        self.owners: list[tuple[int, str]] = [(rank, name) for rank, (_, found) in enumerate(hosts) for name in found]
        places = {(rank if name == "cpu" else hosts[rank][0], name) for rank, name in self.owners}
        self.devices = len(places)

    @property
    def first_device(self) -> str:
        """That of the first block, which works alone for comparison."""
        return self.owners[0][1]

    @property
    def threads(self) -> int | None:
        """CPU threads of each process where several share the cores; None for the solver's own choice."""
        return None if self.processes.size == 1 else self.processes.threads

    def alone(self, measured: Callable[[], float]) -> float:
        """What rank 0 finds while the others wait, everywhere."""
        value = measured() if self.processes.first else 0.0
        if self._comm is not None:
            arrived = self._comm.Ibarrier()
            while not arrived.Test():
                time.sleep(POLL_SECONDS)
        return self.processes.agreed(value)

    def all(self, own: Sequence[Any]) -> list[Any]:
        """The lists of all ranks, of values that JSON can hold, one after the other."""
        return [value for part in self.processes.shared(list(own)) for value in part]
