"""A batch: cases in threads of one process, each with its own function at work, whose solvers advance together."""

from __future__ import annotations

import os
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from .. import _core
from ..engine.simulation import Simulation

PATIENCE = 0.2
"""Seconds for which those that want to step wait for a case that does something else meanwhile."""
FIRST_PATIENCE = 20.0
"""The same for cases that have not stepped yet: they make their solvers, and kernels may have to be compiled."""
MOST_GROUPS = 8


@dataclass(eq=False)
class _Request:
    """Steps that a case waits for."""

    engine: _core.Engine
    left: int
    error: BaseException | None = None


class Batch:
    """Cases that advance together: each asks for steps, and whoever asks last makes those of all.

    The cases need not ask for the same number of steps: all of them make as many as the least needs, and those that
    want more wait for the next. A case that takes long over something else, such as reading fields, keeps the others
    waiting for `PATIENCE` once, and takes part again from its next step on. Solvers whose walls change in time ask for
    as many as these are known for: they advance among themselves, beside the others.

    A child that a case forks has none of the other threads: its solvers step by themselves.

    Args:
        cases: how many there are; each calls `case()` in a thread of its own.
        threads: number of threads that step engines on the CPU.
    """

    def __init__(self, cases: int, threads: int) -> None:
        self._process = os.getpid()
        self._seen: set[int] = set()  # the threads of cases that have asked for steps, or have ended
        make_rounds = partial(_Rounds, cases, threads, self._seen)
        self._rounds = {False: make_rounds(), True: make_rounds()}  # by whether walls change in time

    @contextmanager
    def case(self) -> Iterator[None]:
        """The body is a case, which takes part until it ends."""
        try:
            yield
        finally:
            if self._is_of_this_process:
                self._seen.add(threading.get_ident())
                for rounds in self._rounds.values():
                    rounds.leave(forget=True)

    def adopt(self, simulation: Simulation) -> None:
        """Have a simulation of a case step with the others; one of several blocks steps by itself."""
        if len(simulation.engine.layout) == 1:
            changing = simulation.boundary.changing
            simulation.step_engine = partial(self._step, changing, simulation.engine)
            weakref.finalize(simulation, self._forget, changing, id(simulation.engine))

    @property
    def _is_of_this_process(self) -> bool:
        """False in a forked child, where a thread that is not there may hold a lock for ever."""
        return os.getpid() == self._process

    def _forget(self, changing: bool, engine: int) -> None:
        """Drop the groups of an engine whose simulation nobody has any more."""
        if self._is_of_this_process:
            self._rounds[changing].forget(engine)

    def _step(self, changing: bool, engine: _core.Engine, steps: int) -> None:
        if steps == 0 or not self._is_of_this_process:
            engine.step(steps)
            return
        rounds, other = self._rounds[changing], self._rounds[not changing]
        own = threading.get_ident()
        if own not in self._seen:
            self._seen.add(own)
            other.look()  # the last case for whose first steps they have waited may be this one
        if other.waits_for(own):
            other.leave()
        rounds.step(engine, steps)


class _Rounds:
    """Requests of cases for steps, which are made in rounds.

    Args:
        cases, threads: as for `Batch`.
        seen: the threads of cases that have asked any rounds for steps, or have ended.
    """

    def __init__(self, cases: int, threads: int, seen: set[int]) -> None:
        self._threads = threads
        self._cases = cases
        self._seen = seen
        self._present: set[int] = set()  # the threads of cases that are waited for
        self._requests: dict[int, _Request] = {}  # by thread; those that are not done
        self._condition = threading.Condition()
        self._last = self._begin = time.monotonic()
        self._groups: dict[tuple[int, ...], _core.EngineGroup] = {}

    def look(self) -> None:
        """Have those that wait look again at whom they wait for."""
        with self._condition:
            self._condition.notify_all()

    def waits_for(self, thread: int) -> bool:
        """Whether the others wait for the case of a thread."""
        return thread in self._present

    def leave(self, *, forget: bool = False) -> None:
        """Do not wait for the case of this thread; `forget` for one that ends, whose solvers nobody needs."""
        with self._condition:
            self._present.discard(threading.get_ident())
            if forget:
                self._groups.clear()  # or they would hold the memory of its solvers
            self._condition.notify_all()

    def forget(self, engine: int) -> None:
        """Drop the groups of an engine."""
        with self._condition:
            for key in [key for key in self._groups if engine in key]:
                self._groups.pop(key, None)

    def step(self, engine: _core.Engine, steps: int) -> None:
        """Make steps of an engine, together with those that others ask for."""
        request, own = _Request(engine, steps), threading.get_ident()
        with self._condition:
            self._present.add(own)
            self._requests[own] = request
            self._last = time.monotonic()
            try:
                while request.left > 0:
                    wait = self._patience()
                    if wait <= 0:
                        self._present &= self._requests.keys()  # the others take part again when they ask again
                        self._advance()
                    else:
                        self._condition.wait(wait)
            finally:
                self._requests.pop(own, None)
        if request.error is not None:
            error, request.error = request.error, None
            raise error

    def _patience(self) -> float:
        """Seconds to wait still for cases that have not asked for steps; 0 or less if all have, or it is too long."""
        now = time.monotonic()
        if len(self._seen) < self._cases and now - self._begin < FIRST_PATIENCE:
            return FIRST_PATIENCE - (now - self._begin)
        if self._present <= self._requests.keys():
            return 0.0
        return PATIENCE - (now - self._last)

    def _advance(self) -> None:
        """Make as many steps as the least of all requests needs."""
        waiting = dict(self._requests)
        steps = min(request.left for request in waiting.values())
        by_device: dict[str, list[_Request]] = {}
        for request in waiting.values():
            by_device.setdefault(str(request.engine.layout[0]["device"]), []).append(request)
        for requests in by_device.values():
            self._step_together(requests, steps)
        for thread, request in waiting.items():
            request.left = max(0, request.left - steps)
            if request.left == 0:
                del self._requests[thread]
        self._last = time.monotonic()
        self._condition.notify_all()

    def _step_together(self, requests: list[_Request], steps: int) -> None:
        """Make steps of engines of one device; an error is that of the requests which cannot be met.

        After an error of the group, engines that have made their steps go on, and those that have not begun make them
        by themselves, so that each finds its own error. Of those that broke off in the middle nobody knows which one
        the error came from: all of them have it.
        """
        before = [request.engine.steps for request in requests]
        try:
            self._group(requests).step(steps)
        except Exception as error:
            self._groups.clear()
            for request, start in zip(requests, before, strict=True):
                found = _made_up(request.engine, start + steps, error)
                if found is not None:
                    request.error, request.left = found, 0

    def _group(self, requests: list[_Request]) -> _core.EngineGroup:
        """The group of some engines, which keeps what it has recorded of their steps."""
        key = tuple(sorted(id(request.engine) for request in requests))
        group = self._groups.pop(key, None)
        if group is None:
            engines = {id(request.engine): request.engine for request in requests}
            group = _core.EngineGroup(tuple(engines[number] for number in key), self._threads)
        self._groups[key] = group  # the last one used is the last to go
        while len(self._groups) > MOST_GROUPS:
            del self._groups[next(iter(self._groups))]
        return group


def _made_up(engine: _core.Engine, target: int, error: Exception) -> Exception | None:
    """Bring an engine to step `target` after an `error` of its group; its error, None if it gets there."""
    if engine.steps == target:
        return None
    try:
        engine.step(0)
    except Exception:  # the state is unfinished: the group's error says why
        return _copy(error)
    try:
        engine.step(target - engine.steps)
    except Exception as own:
        return own
    return None


def _copy(error: Exception) -> Exception:
    """An error like another, to be raised in another thread."""
    try:
        return type(error)(*error.args)
    except Exception:  # of a class that is made in another way
        return error
