"""The devices of a benchmark over several devices, in one process or in those of an MPI job."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from ..parallel import devices, hosts
from ..parallel.processes import Processes

POLL_SECONDS = 0.005
"""Seconds between two checks of a waiting rank: MPI's own waiting would take cores that another rank computes on."""


class DeviceGroup:
    """Devices with a block each, in the order of ranks.

    Args:
        names: the devices of this process, as `Solver` takes them; one that is named twice has two blocks.
        comm: an mpi4py communicator, whose ranks make this and call its methods together; None for one process.

    Attributes:
        owners: the rank and the device of each block.
        devices: the number of different devices. The CPUs of two ranks are different ones, as ranks share the cores.
        processes: the processes of `comm`.
        hosts: the name of the host of each rank.

    Raises:
        TypeError, ValueError: a wrong name.
        CudaError: a GPU cannot be used.
    """

    def __init__(self, names: Sequence[str], comm: Any = None) -> None:
        self._comm = comm
        self.processes = Processes.of(comm)
        own = [devices.resolve(name, self.processes.node_rank) for name in names]
        every = self.processes.shared((hosts.own_name(), own))
        self.owners: list[tuple[int, str]] = [(rank, name) for rank, (_, found) in enumerate(every) for name in found]
        self._places = [(rank if name == "cpu" else every[rank][0], name) for rank, name in self.owners]
        self.hosts = [host for host, _ in every]
        self.devices = len(set(self._places))

    def different(self, owners: int) -> int:
        """The number of different devices among the first `owners`; 0 stands for all."""
        return len(set(self._places[: owners or None]))

    @property
    def first_device(self) -> str:
        """The device of the first block, which is measured alone too, for comparison."""
        return self.owners[0][1]

    @property
    def threads(self) -> int | None:
        """The CPU threads of each process where several share the cores; None for the solver's own choice."""
        return None if self.processes.size == 1 else self.processes.threads

    def alone(self, measured: Callable[[], float]) -> float:
        """Call `measured` on rank 0 while the others wait, and return its result on all ranks."""
        value = measured() if self.processes.first else 0.0
        if self._comm is not None:
            arrived = self._comm.Ibarrier()
            while not arrived.Test():
                time.sleep(POLL_SECONDS)
        return self.processes.agreed(value)

    def all(self, own: Sequence[Any]) -> list[Any]:
        """The lists of all ranks, joined in the order of ranks; JSON must be able to hold their values."""
        return [value for part in self.processes.shared(list(own)) for value in part]
