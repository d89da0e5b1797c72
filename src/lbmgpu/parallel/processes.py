"""The processes that a solver runs on, one or the ranks of an MPI job, and the operations of all of them."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..errors import CheckpointError, LayoutError
from ..layout import Block, Layout
from . import collective, cuts, hosts, ranks, rendezvous

MESSAGE_BYTES = 2**28
"""The largest size of the pieces in which fields are sent, bytes."""

T = TypeVar("T")

_SHARED_ERRORS = (
    FileNotFoundError,
    InterruptedError,
    PermissionError,
    OSError,
    CheckpointError,
    LayoutError,
    ValueError,
    TypeError,
    _core.CudaError,
    _core.CompileError,
    RuntimeError,
    MemoryError,
)


class Processes:
    """One process, or the ranks of `comm`, an mpi4py communicator.

    All ranks call the methods together, but may read the properties alone.

    Args:
        comm: None for one process. From now on an exception that nobody catches on a rank ends the job.
        call: the name of the call that makes this object, which is compared among the ranks.
        path: the path that the call was given; None for none.

    Attributes:
        rank, size: the number of this process and of all processes.
        comm: the communicator; None for one process.
        host: the ranks on the machine of this process, whatever name its host is given.
        meeting: where several ranks compare the calls that they make; None for one process.
        number: the number of this object among those made from `comm`, from 1.
        engine: the engine's communicator; None for one process.
        is_part: tells whether an array of some shape is of this process's part of the domain; the solver sets it.

    Raises:
        TypeError, ValueError, RuntimeError: see `ranks.communicator`. ValueError on all ranks in different calls.
    """

    def __init__(self, comm: Any = None, call: str = "Solver", path: Any = None) -> None:
        self.meeting = None if comm is None else rendezvous.of(comm)
        self.is_part: Callable[[tuple[int, ...]], bool] = lambda shape: False
        self.number = 1
        if self.meeting is not None:
            with self.meeting.turn:
                self.number = self.meeting.solvers + 1
                given = {} if path is None else {"path": collective.told(path)}
                collective.agree(self.meeting, collective.Place(call, given, self.number))
                self.meeting.solvers = self.number
        self.comm = comm
        self.engine = ranks.communicator(comm)
        self.rank, self.size = (0, 1) if self.engine is None else (self.engine.rank, self.engine.size)
        self.host = (0,) if comm is None else ranks.node_local(comm)
        cores = [platform.node(), sorted(os.sched_getaffinity(0))]
        self._sharing = self.shared(cores).count(cores)  # ranks of one host share its cores
        if self.size > 1:
            ranks.end_all_on_error(comm)

    @classmethod
    def of(cls, comm: Any, call: str = "Solver", path: Any = None) -> Processes:
        """The processes for the argument `comm` of a solver, which may be a `Processes` already.

        For None there is a warning if a launcher has started several processes; ``Processes()``, one process by intent,
        gives none.
        """
        if comm is None:
            ranks.warn_of_lone_process()
        return comm if isinstance(comm, cls) else cls(comm, call, path)

    @property
    def first(self) -> bool:
        """Whether this is rank 0, which does what is done once for all ranks."""
        return self.rank == 0

    @property
    def node_rank(self) -> int:
        """The number of this process among those of its host."""
        return self.host.index(self.rank)

    @property
    def threads(self) -> int:
        """The number of threads for this process: its share of the cores that it may use."""
        return max(1, _core.default_threads() // self._sharing)

    def agreed(self, value: float) -> float:
        """The maximum of all ranks' values, so that a measurement is the same everywhere."""
        return value if self.engine is None else self.engine.maximum(value)

    def agreed_range(self, field: NDArray[Any]) -> tuple[float, float]:
        """The least and the largest number of all ranks' fields."""
        return -self.agreed(-float(field.min())), self.agreed(float(field.max()))

    def shared(self, own: Any) -> list[Any]:
        """The values of all ranks, which JSON must be able to hold, in the order of ranks."""
        return [own] if self.engine is None else [json.loads(t) for t in self.engine.all_gather(json.dumps(own))]

    def on_first(self, function: Callable[[], T]) -> T | None:
        """Call `function` on rank 0 and return its result there, None elsewhere; its errors are raised on all."""
        return self.each(lambda: function() if self.first else None)

    def each(self, function: Callable[[], T]) -> T:
        """Call `function` on every rank and return its result; an error of any rank is raised on all."""
        try:
            result = function()
        except Exception as error:
            self.agree_on(error)
            raise
        self.agree_on(None)
        return result

    def agree_on(self, error: BaseException | None) -> None:
        """Raise `error` on the rank that has one, and an error of the same class and text on all other ranks.

        Where it is no usual error, the other ranks get RuntimeError, which names it; where it is no Exception, such as
        KeyboardInterrupt, InterruptedError.
        """
        known, text = next((k for k in _SHARED_ERRORS if isinstance(error, k)), None), str(error)
        if known is None:
            known, text = RuntimeError, f"{type(error).__name__}: {error}"
        if not isinstance(error, Exception | None):
            known, text = InterruptedError, f"interrupted ({type(error).__name__})"
        failures = self.shared(None if error is None else (known.__name__, text))
        if error is not None:
            raise error
        for rank, failure in enumerate(failures):
            if failure is not None:
                kind = next(k for k in _SHARED_ERRORS if k.__name__ == failure[0])
                raise kind(f"rank {rank}: {failure[1]}")

    def gathered(
        self, layout: Iterable[Block], part: NDArray[Any], window: tuple[Sequence[int], Sequence[int]]
    ) -> NDArray[Any] | None:
        """A field of the domain on rank 0, None elsewhere.

        Args:
            layout: the blocks of the solver, which tile the domain, or those of a region of it.
            part: the field in the rank's subdomain, with its axes reversed and components first.
            window: the offset and the size of that subdomain, as the engine gives them.
        """
        if self.size == 1:
            return part
        part = np.ascontiguousarray(part)
        windows = self.shared(window)
        layout = list(layout)
        dimensions = len(layout[0].size)
        components = part.shape[: part.ndim - dimensions]
        if not self.first:
            self._send(part)
            return None
        shape = np.max([np.add(block.offset, block.size) for block in layout], axis=0)
        whole = np.empty((*components, *shape[::-1]), dtype=part.dtype)
        for rank in range(self.size):
            offset, size = windows[rank]
            if rank > 0:
                part = np.empty((*components, *size[::-1]), dtype=whole.dtype)
                self._receive(part, rank)
            for block in layout:
                if block.rank == rank:
                    whole[box(block.offset, block.size)] = part[box(block.offset, block.size, offset)]
        return whole

    def _pieces(self, part: NDArray[Any]) -> list[NDArray[Any]]:
        flat = part.reshape(-1).view(np.uint8)
        return [flat[at : at + MESSAGE_BYTES] for at in range(0, flat.size, MESSAGE_BYTES)]

    def _send(self, part: NDArray[Any]) -> None:
        assert self.engine is not None
        for piece in self._pieces(part):
            exchange = self.engine.exchange([], [(piece, 0, 0)])
            exchange.start_sends()
            exchange.finish()

    def _receive(self, part: NDArray[Any], rank: int) -> None:
        assert self.engine is not None
        for piece in self._pieces(part):
            exchange = self.engine.exchange([(piece, rank, 0)], [])
            exchange.start_receives()
            exchange.finish()


def box(offset: Sequence[int], size: Sequence[int], origin: Sequence[int] | None = None) -> tuple[Any, ...]:
    """The index of a box of cells in the array of a field, which has reversed axes and begins at cell `origin`."""
    start = [a - b for a, b in zip(offset, origin or (0,) * len(offset), strict=True)]
    return (..., *(slice(a, a + n) for a, n in zip(reversed(start), reversed(size), strict=True)))


Owner = tuple[int, str, str]
"""The rank, the device and the host of a block."""

Cut = Callable[[tuple[int, ...], Sequence[Owner]], tuple[int, ...]]
"""The parts along each axis into which a domain of a shape is cut for the owners of its blocks."""


def layout_over(processes: Processes, shape: tuple[int, ...], devices: list[str], cut: Cut | None = None) -> Layout:
    """One block for each device of each rank, in the order of ranks; all ranks call it together.

    Args:
        processes, shape: of the solver.
        devices: of this rank.
        cut: of the domain over several ranks; `cuts.least_surface` if None. One process cuts it into layers.
    """
    found = processes.shared([hosts.own_name(), devices])
    owners: list[Owner] = [(rank, name, host) for rank, (host, names) in enumerate(found) for name in names]
    every = [(rank, name) for rank, name, _ in owners]
    names = [name for _, name in every]
    if processes.size == 1:
        blocks = Layout.over(shape, names)
    else:
        parts = cuts.least_surface(shape, len(every)) if cut is None else cut(shape, owners)
        blocks = Layout.split(shape, parts, names)
    return Layout(
        Block(block.offset, block.size, rank, block.device) for block, (rank, _) in zip(blocks, every, strict=True)
    )
