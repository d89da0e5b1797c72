"""A re-entrant lock that threads get in the order in which they asked for it."""

from __future__ import annotations

import os
import threading
from _thread import allocate_lock
from collections import deque
from contextlib import suppress
from typing import Any

from .forked import ForkAwareLock, RLock

LOOK_AGAIN = 0.5
"""Seconds after which a waiting thread looks whether it is first in line, as an interrupt may lose its wake-up."""


class _Uses(threading.local):
    count = 0


_USES = _Uses()


def uses() -> int:
    """How often this thread has asked for any such lock: whoever looks at a solver does."""
    return _USES.count


class FairLock(ForkAwareLock):
    """A `threading.RLock` that is given out first come, first served; in a forked child it is a `ForkAwareLock`.

    A plain lock goes to the thread that asks at the right moment. A thread that steps, and releases the lock only
    between two chunks of steps, gets it back before another one has woken up, for seconds on end.

    Threads wait in a line, and the first of them waits for the plain lock itself. So nobody has to hand the lock over,
    and releasing it is one call in C, which no signal can interrupt. An interrupt while a thread waits leaves line and
    lock as if the thread had never come.
    """

    __slots__ = ("_line",)

    def __init__(self) -> None:
        super().__init__()
        self._line: deque[Any] = deque()

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """As `threading.Lock.acquire`. A call that does not wait, or has a timeout, bypasses the line."""
        _USES.count += 1
        if self._process != os.getpid():
            self.take_over()
            self._line.clear()  # threads of the parent do not exist in a forked child
        if not blocking or timeout >= 0:
            return bool(RLock.acquire(self, blocking, timeout))
        if self._is_owned():
            return self._enter_again()
        return (not self._line and self._try()) or self._wait_in_line()

    __enter__ = acquire

    def _enter_again(self) -> bool:
        try:
            return bool(RLock.acquire(self))
        except BaseException:  # an interrupt comes after the call, which has not waited, so the lock is held
            RLock.release(self)
            raise

    def _try(self) -> bool:
        try:
            return bool(RLock.acquire(self, False))
        except BaseException:
            self._give_up()
            raise

    def _wait_in_line(self) -> bool:
        ticket = allocate_lock()
        ticket.acquire()
        try:
            self._line.append(ticket)
            while self._line[0] is not ticket:
                ticket.acquire(True, LOOK_AGAIN)
            RLock.acquire(self)
            self._leave(ticket)
        except BaseException:
            self._leave(ticket)
            self._give_up()
            raise
        return True

    def _leave(self, ticket: Any) -> None:
        """Leave the line, and wake the thread that is first in it now."""
        with suppress(ValueError):  # not in the line yet, or no longer
            self._line.remove(ticket)
        with suppress(IndexError, RuntimeError):  # nobody there, or awake already
            self._line[0].release()

    def _give_up(self) -> None:
        if self._is_owned():
            RLock.release(self)
