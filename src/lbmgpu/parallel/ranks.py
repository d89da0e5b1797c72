"""The ranks of an MPI job: from a user's mpi4py communicator to the engine's, and how an error on one rank ends all."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any

from .. import _core, checks
from ..errors import LoneProcessWarning, warn
from . import hosts

LAST_WORDS = 1.0
"""Seconds between the traceback of a rank and its abort, which drops output that the launcher has not passed on yet."""

TIMEOUT_VARIABLE = "LBMGPU_MPI_TIMEOUT"

_LAUNCHED = ("OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK", "MPI_LOCALRANKID")
"""Environment variables that launchers set for their processes: Open MPI, PMIx, MPICH and Slurm, Intel MPI."""

_SIZES = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS", "SLURM_STEP_NUM_TASKS")
"""Environment variables in which launchers give the number of processes, where they do."""

_called = ""
"""The rank and the size of the communicator that `end_all_on_error` has been called with; empty before."""

_hooks: tuple[Any, Any] | None = None
"""The hooks for exceptions that nobody catches, in the main thread and in others; None until this module sets them."""

_timeout: float | None = None
"""What `set_mpi_timeout` was given; 0 for None."""

_ending = False
"""Whether one of these hooks is running; a hook that another one calls leaves ending the job to that one."""

_warned = False
"""Whether `warn_of_lone_process` has warned."""


def launched() -> Any:
    """``MPI.COMM_WORLD`` if an MPI launcher has started this process as one of several; None otherwise.

    Raises:
        ValueError: a launcher has started it, but mpi4py is not installed.
    """
    if not _has_launcher():
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
        TypeError: `comm` is not an intracommunicator of mpi4py.
        ValueError: `comm` has been freed.
        RuntimeError: the engine does not know the MPI library; MPI is not initialised, or finalised already.
    """
    if comm is None:
        return None
    return _core.mpi_communicator(checked(comm).__file__, comm.py2f(), hosts.pretended())


def node_local(comm: Any) -> tuple[int, ...]:
    """The ranks of `comm` on the host of this process, itself among them, in order; all ranks of `comm` call this
    together.

    Raises:
        TypeError: `comm` is not an intracommunicator of mpi4py.
        ValueError: `comm` has been freed.
        RuntimeError: MPI is not initialised, or finalised already.
    """
    mpi = checked(comm)
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
        TypeError: `comm` is not an intracommunicator of mpi4py.
        ValueError: `comm` has been freed.
        RuntimeError: MPI is not initialised, or finalised already.
    """
    global _called
    checked(comm)
    if not _called:
        _called = f"rank {comm.Get_rank()} of {comm.Get_size()}"
        _set_hooks()


def set_mpi_timeout(seconds: float | None) -> None:
    """Set how long a rank waits for the others in a call that all ranks make. After that it says who has not come and
    in which call each rank stands, and ends the job.

    Until this is called the environment variable ``LBMGPU_MPI_TIMEOUT`` counts, or None without it. Call this on all
    ranks, as each has a timeout of its own.

    Args:
        seconds: above 0, and more than the ranks of a sound job are apart, for instance while one of them draws a
            picture; None for no end: after a minute a rank says once who has not come, and waits on.

    Raises:
        TypeError, ValueError: `seconds` is not such a number.
    """
    global _timeout
    _timeout = 0.0 if seconds is None else checks.number("seconds", seconds, above=0)


def mpi_timeout() -> float | None:
    """The timeout in seconds, None for no end; see `set_mpi_timeout`.

    Raises:
        ValueError: the environment variable is not a number above 0.
    """
    if _timeout is not None:
        return _timeout or None
    text = os.environ.get(TIMEOUT_VARIABLE, "")
    if not text:
        set_mpi_timeout(None)
        return None
    try:
        set_mpi_timeout(float(text))
    except ValueError:
        raise ValueError(f"{TIMEOUT_VARIABLE}: {text!r} given, must be a number of seconds above 0") from None
    return _timeout


def end_all(words: str) -> None:
    """Say why on standard error and end the whole job."""
    global _ending
    _ending = True
    print(words, file=sys.stderr)
    _abort()


def is_running() -> bool:
    """Whether MPI is initialised and not finalised."""
    return _running() is not None


def end_all_if_launched() -> None:
    """From now on an exception that nobody catches ends the whole job, if a launcher has started this process.

    This is for the time before the first solver, as an error then leaves the others waiting too. MPI is not loaded for
    it: what counts is whether it runs, on several ranks, when the exception comes.
    """
    if _has_launcher() and _said_size() != 1:
        _set_hooks()


def warn_of_lone_process() -> None:
    """Warn once with LoneProcessWarning, for a solver without a communicator, if there are several processes."""
    global _warned
    mpi = _running()
    if _warned or not ((_has_launcher() and _said_size() > 1) or (mpi is not None and mpi.COMM_WORLD.Get_size() > 1)):
        return
    warn(
        "comm: not given, but an MPI launcher has started several processes, and each computes the whole domain; "
        "pass comm=MPI.COMM_WORLD to share it, or comm=MPI.COMM_SELF to say so",
        LoneProcessWarning,
    )
    _warned = True  # after the warning, so that it is raised each time where warnings are errors


def _has_launcher() -> bool:
    return any(name in os.environ for name in _LAUNCHED)


def _said_size() -> int:
    """The number of processes that the launcher says it has started; 0 if it says none."""
    said = [os.environ.get(name, "") for name in _SIZES]
    return max((int(text) for text in said if text.isdecimal()), default=0)


def _running() -> Any:
    """The module mpi4py.MPI if MPI is initialised and not finalised, else None; it is not imported for this."""
    mpi: Any = sys.modules.get("mpi4py.MPI")
    return mpi if mpi is not None and mpi.Is_initialized() and not mpi.Is_finalized() else None


def _set_hooks() -> None:
    """Set the hooks by which an exception that nobody catches ends the job; they call the former hooks first."""
    global _hooks
    former, former_of_threads = sys.excepthook, threading.excepthook
    if (former, former_of_threads) == _hooks:
        return

    def hook(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
        _end_all(lambda: former(kind, error, traceback))

    def hook_of_threads(arguments: threading.ExceptHookArgs) -> None:
        if issubclass(arguments.exc_type, SystemExit):  # SystemExit ends its thread alone
            former_of_threads(arguments)
        else:
            _end_all(lambda: former_of_threads(arguments))

    _hooks = (hook, hook_of_threads)
    sys.excepthook, threading.excepthook = _hooks


def _end_all(show: Callable[[], object]) -> None:
    """Show an exception and end the job, if MPI runs and others may wait for this rank."""
    global _ending
    mpi = _running()
    alone = mpi is None or not (_called or mpi.COMM_WORLD.Get_size() > 1)
    if alone or _ending:
        show()
        return
    _ending = True
    try:
        who = _called or f"rank {mpi.COMM_WORLD.Get_rank()} of {mpi.COMM_WORLD.Get_size()}"
        print(f"{who} failed and ends the job:", file=sys.stderr)
        show()
    finally:
        _abort()


def _abort() -> None:
    """End the job, after the time that output needs to reach the launcher."""
    mpi = _running()
    try:
        sys.stdout.flush()
        sys.stderr.flush()
        time.sleep(LAST_WORDS)
    finally:
        if mpi is not None and not mpi.Is_finalized():
            mpi.COMM_WORLD.Abort(1)


def checked(comm: Any) -> Any:
    """The module mpi4py.MPI, if `comm` is one of its intracommunicators.

    A caller that has one has imported the module. It is not imported here, as that would initialise MPI.
    """
    mpi: Any = sys.modules.get("mpi4py.MPI")
    if mpi is None or not isinstance(comm, mpi.Intracomm):
        raise TypeError(f"comm: {checks.shown(comm)} given, must be None or an intracommunicator like MPI.COMM_WORLD")
    if not mpi.Is_initialized() or mpi.Is_finalized():
        raise RuntimeError(f"comm: {checks.shown(comm)} given, but MPI is not initialised, or finalised already")
    if comm == mpi.COMM_NULL:
        raise ValueError(f"comm: {checks.shown(comm)} given, which has been freed")
    return mpi
