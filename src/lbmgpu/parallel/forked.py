"""Locks on which a forked child never deadlocks, like the engine's own (``src/cpp/process/fork.h``)."""

from __future__ import annotations

import os
import threading
from typing import Any

RLock: Any = type(threading.RLock())


class ForkAwareLock(RLock):  # type: ignore[misc]
    """A `threading.RLock` that raises RuntimeError in a forked child if another thread of the parent held it.

    That thread is not in the child and would never release the lock, and what the lock guards is half changed.
    """

    __slots__ = ("_process",)

    def __init__(self) -> None:
        self._process = os.getpid()

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """As `threading.RLock.acquire`."""
        self.take_over()
        return bool(RLock.acquire(self, blocking, timeout))

    __enter__ = acquire

    def take_over(self) -> None:
        """Make the lock one of this process, if the process that has made it is another."""
        if self._process == os.getpid():
            return
        if not RLock.acquire(self, False):
            raise RuntimeError(
                "fork: another thread of the parent was using this solver at the fork, so it is not whole; start "
                "processes by multiprocessing.get_context('spawn') or 'forkserver', or make solvers in the children "
                "only"
            )
        RLock.release(self)
        self._process = os.getpid()
