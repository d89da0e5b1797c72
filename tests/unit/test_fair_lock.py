"""The lock of a solver: in the order of coming, re-entrant, and whole after interrupts."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from lbmgpu.parallel.fair_lock import FairLock


class Interrupted(BaseException):
    """What the test's signal raises in the main thread."""


@contextmanager
def interrupts() -> Iterator[None]:
    """A timer's signal raises Interrupted."""

    def handle(*_: Any) -> None:
        raise Interrupted

    before = signal.signal(signal.SIGALRM, handle)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def is_free(lock: FairLock) -> bool:
    """Whether another thread gets it at once, and nobody is in the line."""
    got = []

    def take() -> None:
        if lock.acquire(timeout=1):
            got.append(True)
            lock.release()

    thread = threading.Thread(target=take)
    thread.start()
    thread.join()
    return bool(got) and not lock._line


def waiting(lock: FairLock, count: int) -> None:
    """Return when so many threads stand in the line."""
    while len(lock._line) < count:
        time.sleep(0.001)


def test_one_thread_at_a_time() -> None:
    lock, inside, total = FairLock(), [0], [0]

    def work() -> None:
        for _ in range(300):
            with lock:
                inside[0] += 1
                assert inside[0] == 1
                total[0] += 1
                inside[0] -= 1

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert total == [1200]
    assert is_free(lock)


def test_its_thread_has_it_again() -> None:
    lock = FairLock()
    with lock, lock:
        with lock:
            assert lock.acquire(blocking=False)
            lock.release()
        with lock:
            assert not is_free(lock)
    assert is_free(lock)
    with pytest.raises(RuntimeError):
        lock.release()


def test_first_come_first_served() -> None:
    """Even where its holder lets go and asks again at once."""
    lock, order = FairLock(), []

    def ask(number: int) -> None:
        with lock:
            order.append(number)

    lock.acquire()
    threads = [threading.Thread(target=ask, args=(number,)) for number in range(5)]
    for number, thread in enumerate(threads):
        thread.start()
        waiting(lock, number + 1)
    lock.release()
    with lock:
        order.append("the holder again")
    for thread in threads:
        thread.join()
    assert order == [0, 1, 2, 3, 4, "the holder again"]
    assert is_free(lock)


@pytest.mark.parametrize("before_it", [0, 1])
def test_an_interrupt_ends_the_wait_and_leaves_the_lock_whole(before_it: int) -> None:
    """Of the first of the line, which waits for the holder, and of one behind it."""
    lock, order = FairLock(), []
    holds, ends = threading.Event(), threading.Event()

    def hold() -> None:
        with lock:
            holds.set()
            ends.wait()

    def ask(number: int) -> None:
        with lock:
            order.append(number)

    threads = [threading.Thread(target=hold)]
    threads[0].start()
    holds.wait()
    for number in range(before_it):
        threads.append(threading.Thread(target=ask, args=(number,)))
        threads[-1].start()
        waiting(lock, number + 1)

    def interrupt() -> None:
        waiting(lock, before_it + 1)
        os.kill(os.getpid(), signal.SIGINT)

    threads.append(threading.Thread(target=interrupt))
    threads[-1].start()
    with pytest.raises(KeyboardInterrupt):
        lock.acquire()
    assert len(lock._line) == before_it
    ends.set()
    for thread in threads:
        thread.join()
    assert order == list(range(before_it))
    assert is_free(lock)


def test_interrupts_at_any_moment_leave_the_lock_whole() -> None:
    lock, stop = FairLock(), threading.Event()
    rng = np.random.default_rng(1)
    count = 0

    def work() -> None:
        while not stop.is_set():
            with lock:
                time.sleep(1e-5)
            time.sleep(1e-5)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    end = time.monotonic() + 0.8
    with interrupts():
        while time.monotonic() < end:
            try:
                signal.setitimer(signal.ITIMER_REAL, rng.uniform(1e-5, 1e-3))
                while True:
                    with lock, lock:
                        pass
            except Interrupted:
                count += 1
            assert not lock._is_owned(), f"still held after {count} interrupts"
    stop.set()
    for thread in threads:
        thread.join(timeout=10)
        assert not thread.is_alive()
    assert count > 10
    assert is_free(lock)


def test_a_forked_child_does_not_wait_for_threads_of_its_parent() -> None:
    lock = FairLock()
    lock.acquire()
    thread = threading.Thread(target=lambda: lock.acquire() and lock.release())
    thread.start()
    waiting(lock, 1)
    child = os.fork()
    if child == 0:
        lock.acquire()
        lock.release()
        lock.release()
        os._exit(0 if lock.acquire(timeout=1) and not lock._line else 1)
    end = time.monotonic() + 20
    while (ended := os.waitpid(child, os.WNOHANG)) == (0, 0) and time.monotonic() < end:
        time.sleep(0.005)
    if ended == (0, 0):
        os.kill(child, signal.SIGKILL)
    lock.release()
    thread.join()
    assert ended == (child, 0)
    assert is_free(lock)
