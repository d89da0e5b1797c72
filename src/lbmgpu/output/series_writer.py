"""The thread that writes the frames of a series while the solver goes on."""

from __future__ import annotations

import atexit
import collections
import os
import threading
import traceback
import warnings
import weakref
from collections.abc import Callable

FRAMES = 2
"""Frames in memory at a time: one that is being written, and one that waits or is being copied."""

Job = Callable[[], None]


class Writer:
    """Calls functions one after the other in a thread of its own, which is there while there are any.

    A function that raises loses nothing of the others: its error is kept for `check`, and the next ones are called.

    Attributes:
        name: of the thread.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._begin()
        _writers.add(self)

    def _begin(self) -> None:
        """Begin without a thread, as in a forked child, into which the thread does not follow."""
        self._jobs: collections.deque[tuple[Job, bool]] = collections.deque()
        self._room = threading.Semaphore(FRAMES)
        self._changed = threading.Condition()
        self._is_working = False
        self._error: BaseException | None = None
        self._process = os.getpid()

    def reserve(self) -> None:
        """Wait until fewer than `FRAMES` frames are in memory, and count one more; `put` or `release` follows."""
        if os.getpid() != self._process:
            self._begin()
        self._room.acquire()

    def release(self) -> None:
        """Give back what `reserve` has taken."""
        self._room.release()

    def put(self, job: Job, *, has_frame: bool = True) -> None:
        """Have a function called after those before it; it writes a frame that `reserve` has counted, or none."""
        with self._changed:
            self._jobs.append((job, has_frame))
            if not self._is_working:
                # No daemon: a program that ends waits for it before anything that has registered with atexit is done,
                # h5py among others, which takes its converters of types from a thread that still writes.
                threading.Thread(target=self._work, name=self.name).start()
                self._is_working = True

    def wait(self) -> None:
        """Return when all functions have been called."""
        if os.getpid() != self._process:
            return
        with self._changed:
            self._changed.wait_for(lambda: not self._is_working)

    def check(self) -> None:
        """Raise the first error since the last call, if there is one."""
        with self._changed:
            error, self._error = self._error, None
        if error is not None:
            raise error

    def _work(self) -> None:
        while True:
            with self._changed:
                if not self._jobs:
                    self._is_working = False
                    self._changed.notify_all()
                    return
                job, has_frame = self._jobs.popleft()
            try:
                job()
            except BaseException as error:
                traceback.clear_frames(error.__traceback__)  # they hold the frame's arrays
                with self._changed:
                    self._error = self._error or error
            finally:
                del job
                if has_frame:
                    self._room.release()


_writers: weakref.WeakSet[Writer] = weakref.WeakSet()


@atexit.register
def _finish() -> None:
    """Warn of what failed since the last look, as nobody is left to be told by an error."""
    for writer in list(_writers):
        writer.wait()
        try:
            writer.check()
        except BaseException as error:
            warnings.warn(f"{writer.name}: {error}", RuntimeWarning, stacklevel=1)
