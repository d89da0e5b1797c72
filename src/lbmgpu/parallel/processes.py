"""The processes that a solver runs on, one or the ranks of an MPI job, and what they do together."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..errors import CheckpointError
from ..layout import Block, Layout
from . import collective, ranks, rendezvous

MESSAGE_BYTES = 2**28
"""The largest size of the pieces in which fields are sent, bytes."""

T = TypeVar("T")

_SHARED_ERRORS = (
    FileNotFoundError,
    InterruptedError,
    PermissionError,
    OSError,
    CheckpointError,
    ValueError,
    TypeError,
    _core.CudaError,
    _core.CompileError,
    RuntimeError,
    MemoryError,
)


class Processes:
    """One process, or the ranks of `comm`, an mpi4py communicator.

    Whatever is not a property is called by all ranks together. `host` are the ranks on the host of this process,
    `meeting` is where several ranks compare the calls that they make, None of one, and `number` counts those who have
    come to there.

    Args:
        comm: None for one process. From then on an error that nobody catches on a rank ends the job.
        call: that makes these, as other ranks are told it.
        path: that it was given; None for none.

    Raises:
        TypeError, ValueError, RuntimeError: see `ranks.communicator`. ValueError on all ranks that are in other calls.
    """

    def __init__(self, comm: Any = None, call: str = "Solver", path: Any = None) -> None:
        self.meeting = None if comm is None else rendezvous.of(comm)
        self.number = 1
        if self.meeting is not None:
            with self.meeting.turn:
                self.number = self.meeting.solvers + 1
                given = {} if path is None else {"path": collective.told(path)}
                collective.agree(self.meeting, collective.Place(call, given, self.number))
                self.meeting.solvers = self.number
        self.engine = ranks.communicator(comm)
        self.rank, self.size = (0, 1) if self.engine is None else (self.engine.rank, self.engine.size)
        self.host = (0,) if comm is None else ranks.node_local(comm)
        cores = [platform.node(), sorted(os.sched_getaffinity(0))]
        self._sharing = self.shared(cores).count(cores)  # ranks of one host share its cores
        if self.size > 1:
            ranks.end_all_on_error(comm)

    @classmethod
    def of(cls, comm: Any, call: str = "Solver", path: Any = None) -> Processes:
        """For the argument `comm` of a solver, which may have been made into this already.

        None is warned of where there are several processes; ``Processes()`` is one of them by intent.
        """
        if comm is None:
            ranks.warn_of_lone_process()
        return comm if isinstance(comm, cls) else cls(comm, call, path)

    @property
    def first(self) -> bool:
        """Whether this is rank 0, which writes what there is one of."""
        return self.rank == 0

    @property
    def node_rank(self) -> int:
        """The number of this process among those of its host."""
        return self.host.index(self.rank)

    @property
    def threads(self) -> int:
        """Threads for this process: its share of the cores that it may use."""
        return max(1, _core.default_threads() // self._sharing)

    def agreed(self, value: float) -> float:
        """The maximum of all ranks' values, so that a measurement is the same everywhere."""
        return value if self.engine is None else self.engine.maximum(value)

    def shared(self, own: Any) -> list[Any]:
        """The values of all ranks, which must be JSON, in the order of ranks."""
        return [own] if self.engine is None else [json.loads(t) for t in self.engine.all_gather(json.dumps(own))]

    def on_first(self, function: Callable[[], T]) -> T | None:
        """Call `function` on rank 0 and give its result there; an error, of the usual kinds, is raised on all."""
        return self.each(lambda: function() if self.first else None)

    def each(self, function: Callable[[], T]) -> T:
        """Call `function` on every rank and give its result; an error of one, of the usual kinds, is raised on all."""
        try:
            result = function()
        except _SHARED_ERRORS as error:
            self.agree_on(error)
            raise
        self.agree_on(None)
        return result

    def agree_on(self, error: BaseException | None) -> None:
        """Raise `error` where there is one, and one of its class and words on all other ranks.

        These get InterruptedError for what is no Exception, such as KeyboardInterrupt.
        """
        known = next((k for k in _SHARED_ERRORS if isinstance(error, k)), OSError)
        text = str(error)
        if not isinstance(error, Exception | None):
            known, text = InterruptedError, f"interrupted ({type(error).__name__})"
        words = self.shared(None if error is None else (known.__name__, text))
        if error is not None:
            raise error
        for rank, described in enumerate(words):
            if described is not None:
                kind = next(k for k in _SHARED_ERRORS if k.__name__ == described[0])
                raise kind(f"rank {rank}: {described[1]}")

    def gathered(
        self, layout: Layout, part: NDArray[Any], window: tuple[Sequence[int], Sequence[int]]
    ) -> NDArray[Any] | None:
        """A field of the domain on rank 0, None elsewhere.

        Args:
            layout: of the solver.
            part: the field in the rank's window, with its axes reversed and components first.
            window: the offset and the size of that, as the engine has it.
        """
        if self.size == 1:
            return part
        part = np.ascontiguousarray(part)
        windows = self.shared(window)
        dimensions = len(next(iter(layout)).size)
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
    """A box of cells as an index into arrays of fields with reversed axes, whose first cell is `origin`."""
    start = [a - b for a, b in zip(offset, origin or (0,) * len(offset), strict=True)]
    return (..., *(slice(a, a + n) for a, n in zip(reversed(start), reversed(size), strict=True)))


def layout_over(processes: Processes, shape: tuple[int, ...], devices: list[str]) -> Layout:
    """One block for each device of each rank, in the order of ranks; all ranks call it together."""
    every = [(rank, name) for rank, names in enumerate(processes.shared(devices)) for name in names]
    blocks = Layout.over(shape, [name for _, name in every])
    return Layout(
        Block(block.offset, block.size, rank, block.device) for block, (rank, _) in zip(blocks, every, strict=True)
    )
