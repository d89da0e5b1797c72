"""Tests that interrupts are deferred while a body runs: what their handlers raise is raised at its end.

The former handlers must then be in place again.
"""

from __future__ import annotations

import gc
import os
import signal
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from lbmgpu import cli
from lbmgpu.files.interrupts import kept


class Stop(Exception):
    """What a handler raises that means no end of the program."""


def send(*numbers: int) -> None:
    for number in numbers:
        os.kill(os.getpid(), number)
        for _ in range(3):  # Python calls handlers between two instructions
            pass


@pytest.fixture
def calls() -> Iterator[list[int]]:
    """Has SIGUSR1 raise Stop, and SIGUSR2 add to the list."""
    numbers: list[int] = []

    def stop(*_: Any) -> None:
        raise Stop

    before = signal.signal(signal.SIGUSR1, stop), signal.signal(signal.SIGUSR2, lambda n, _: numbers.append(n))
    yield numbers
    signal.signal(signal.SIGUSR1, before[0])
    signal.signal(signal.SIGUSR2, before[1])


def handlers() -> list[Any]:
    return [signal.getsignal(number) for number in sorted(signal.valid_signals())]


def test_an_interrupt_is_raised_when_the_body_is_left() -> None:
    before, done = handlers(), []

    def body() -> None:
        with kept() as interrupts:
            send(signal.SIGINT)
            done.append(len(interrupts))

    with pytest.raises(KeyboardInterrupt):
        body()
    assert done == [1]
    assert handlers() == before


def test_a_handler_that_does_not_raise_is_called_at_once(calls: list[int]) -> None:
    with kept() as interrupts:
        send(signal.SIGUSR2)
        assert calls == [signal.SIGUSR2]
        assert not interrupts


def test_an_interrupt_goes_before_an_exception_of_a_handler_and_before_an_error(calls: list[int]) -> None:
    def body() -> None:
        with kept() as interrupts:
            send(signal.SIGUSR1, signal.SIGINT, signal.SIGUSR1)
            assert len(interrupts) == 3
            raise ValueError

    with pytest.raises(KeyboardInterrupt):
        body()
    with pytest.raises(Stop), kept():
        send(signal.SIGUSR1)


def test_the_outermost_body_keeps_interrupts() -> None:
    done = []

    def body() -> None:
        with kept():
            with kept():
                send(signal.SIGINT)
            done.append(True)

    with pytest.raises(KeyboardInterrupt):
        body()
    assert done


def test_a_handler_that_is_replaced_in_the_body_stays_replaced(calls: list[int]) -> None:
    def once(*_: Any) -> None:
        signal.signal(signal.SIGUSR1, signal.SIG_IGN)
        raise Stop

    signal.signal(signal.SIGUSR1, once)
    with pytest.raises(Stop), kept():
        send(signal.SIGUSR1)
    assert signal.getsignal(signal.SIGUSR1) is signal.SIG_IGN


def test_other_threads_have_no_interrupts() -> None:
    found: list[Any] = []

    def body() -> None:
        before = handlers()
        with kept() as interrupts:
            found.append((handlers() == before, interrupts))

    thread = threading.Thread(target=body)
    thread.start()
    thread.join()
    assert found == [(True, [])]


def test_a_second_sigterm_does_not_disturb_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    with cli._termination():
        for _ in range(2):  # the second time as the first
            with pytest.raises(cli.Terminated):
                send(signal.SIGTERM)
            gc.collect()
        try:
            send(signal.SIGTERM)
        except cli.Terminated:
            send(signal.SIGTERM)
        else:
            pytest.fail("the signal was ignored")


def test_a_sigterm_that_python_drops_is_raised_by_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    class Dying:
        def __del__(self) -> None:
            send(signal.SIGTERM)

    lost: list[type[BaseException]] = []
    monkeypatch.setattr("sys.unraisablehook", lambda given: lost.append(given.exc_type))
    with cli._termination():
        Dying()
        assert lost == [cli.Terminated]
        with pytest.raises(cli.Terminated):
            send(signal.SIGTERM)
