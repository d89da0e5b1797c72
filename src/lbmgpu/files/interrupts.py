"""Keeps what signal handlers raise, such as KeyboardInterrupt, until work is done that must not be broken off."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any


@contextmanager
def kept() -> Iterator[list[BaseException]]:
    """Keep exceptions of signal handlers out of the body: they join the list, and one is raised when the body is left.

    Python calls handlers between any two instructions of the main thread, also in the middle of callbacks and of steps
    that ranks make together, where an exception is lost or leaves half of the work undone. A long body looks at the
    list from time to time, and ends early once there is something. Handlers are called as ever, at once, and one that
    does not raise changes nothing. Other threads never see a signal: in them this does nothing.

    The first one that is no Exception, such as KeyboardInterrupt, is raised; if there is none, the first of all.
    """
    if threading.current_thread() is not threading.main_thread():
        yield []
        return
    keeper = _Keeper()
    errors = keeper.errors
    try:
        keeper.install()
        keeper.keeping = True
        yield errors
    finally:
        keeper.keeping = False  # first of all, so that no signal can be lost whatever follows
        try:
            keeper.remove()
        except BaseException as error:
            errors.append(error)
            keeper.remove()
        if errors:
            raise next((error for error in errors if not isinstance(error, Exception)), errors[0])


class _Keeper:
    """A handler that calls the former handler of the signal, and keeps what that raises while it is `keeping`."""

    def __init__(self) -> None:
        self.errors: list[BaseException] = []
        self.keeping = False
        self._former: dict[int, Callable[[int, FrameType | None], Any]] = {}

    def __call__(self, number: int, frame: FrameType | None) -> None:
        try:
            self._former[number](number, frame)
        except BaseException as error:
            if not self.keeping:
                raise
            self.errors.append(error)

    def install(self) -> None:
        """Take the place of every handler that is a Python function."""
        for number in signal.valid_signals():
            handler = signal.getsignal(number)
            if isinstance(handler, _Keeper) and not handler.keeping:  # left behind by interrupts of its removal
                handler = handler._former[number]
            if callable(handler):
                self._former[number] = handler
                signal.signal(number, self)

    def remove(self) -> None:
        """Put the former handlers back, except where another one has been set meanwhile."""
        for number, handler in self._former.items():
            if signal.getsignal(number) is self:
                signal.signal(number, handler)
