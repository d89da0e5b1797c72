"""The ranks of an MPI job: from a user's mpi4py communicator to the engine's, and how an error on one rank ends all."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any

from . import _core, checks

LAST_WORDS = 1.0
"""Seconds that a rank which fails leaves the launcher to pass its traceback on; an abort drops what is on the way."""

_LAUNCHED = ("OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "MPI_LOCALRANKID")
"""What launchers set for their processes: Open MPI, PMIx, MPICH and Slurm, Intel MPI."""

_ends_all = False
"""Whether `end_all_on_error` has been called in this process."""


def launched() -> Any:
    """``MPI.COMM_WORLD`` if an MPI launcher has started this process as one of several; None otherwise.

    Raises:
        ValueError: it has, but mpi4py is not there.
    """
    if not any(name in os.environ for name in _LAUNCHED):
        return None
    try:
        from mpi4py import MPI
    except ImportError:
        raise ValueError(
            "comm: started by an MPI launcher, but there is no mpi4py: pip install 'lbmgpu[mpi]'"
        ) from None
    return MPI.COMM_WORLD if MPI.COMM_WORLD.Get_size() > 1 else None


def communicator(comm: Any) -> _core.Communicator | None:
    """The engine's communicator for the argument `comm` of a solver; None for None, which is one process.

    It is a duplicate, so that the engine's messages never meet the user's; all ranks of `comm` call this together.

    Raises:
        TypeError: not an intracommunicator of mpi4py.
        ValueError: one that has been freed.
        RuntimeError: an MPI library that the engine does not know; MPI not initialised, or finalised already.
    """
    if comm is None:
        return None
    return _core.mpi_communicator(_checked(comm).__file__, comm.py2f())


def node_local(comm: Any) -> tuple[int, ...]:
    """The ranks of `comm` on the host of this process, itself among them, in order; all ranks of `comm` call this
    together.

    Raises:
        TypeError: not an intracommunicator of mpi4py.
        ValueError: one that has been freed.
        RuntimeError: MPI is not initialised, or finalised already.
    """
    mpi = _checked(comm)
    host = comm.Split_type(mpi.COMM_TYPE_SHARED)
    try:
        return tuple(sorted(host.allgather(int(comm.Get_rank()))))
    finally:
        host.Free()


def end_all_on_error(comm: Any) -> None:
    """From now on an exception that nobody catches, in any thread of this rank, ends the whole job.

    Its traceback goes to standard error by the hooks that were there before, after a line with the rank in `comm`.
    Without this a rank that fails would leave the others waiting for its messages. Only the first call in a process
    counts. SystemExit is no error: a rank that leaves by it alone is still waited for.

    Raises:
        TypeError: not an intracommunicator of mpi4py.
        ValueError: one that has been freed.
        RuntimeError: MPI is not initialised, or finalised already.
    """
    global _ends_all
    mpi = _checked(comm)
    if _ends_all:
        return
    _ends_all = True
    who = f"rank {comm.Get_rank()} of {comm.Get_size()}"
    former, former_of_threads = sys.excepthook, threading.excepthook

    def end_all(show: Callable[[], object]) -> None:
        try:
            print(f"{who} failed and ends the job:", file=sys.stderr)
            show()
            sys.stdout.flush()
            sys.stderr.flush()
            time.sleep(LAST_WORDS)
        finally:
            if not mpi.Is_finalized():
                mpi.COMM_WORLD.Abort(1)

    def hook(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
        end_all(lambda: former(kind, error, traceback))

    def hook_of_threads(arguments: threading.ExceptHookArgs) -> None:
        if not issubclass(arguments.exc_type, SystemExit):  # which ends its thread alone
            end_all(lambda: former_of_threads(arguments))

    sys.excepthook = hook
    threading.excepthook = hook_of_threads


def _checked(comm: Any) -> Any:
    """The module mpi4py.MPI, if `comm` is one of its intracommunicators.

    Whoever has one has imported the module: it is not imported here, which would initialise MPI.
    """
    mpi: Any = sys.modules.get("mpi4py.MPI")
    if mpi is None or not isinstance(comm, mpi.Intracomm):
        raise TypeError(f"comm: {checks.shown(comm)} given, must be None or an intracommunicator like MPI.COMM_WORLD")
    if not mpi.Is_initialized() or mpi.Is_finalized():
        raise RuntimeError(f"comm: {checks.shown(comm)} given, but MPI is not initialised, or finalised already")
    if comm == mpi.COMM_NULL:
        raise ValueError(f"comm: {checks.shown(comm)} given, which has been freed")
    return mpi
