"""A batch: cases in threads of one process, each with its own function at work, whose solvers advance together."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

from .. import _core
from ..engine.simulation import Simulation

PATIENCE = 0.2
"""Seconds for which those that want to step wait for a case that does something else meanwhile."""
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
    waiting for `PATIENCE` only.

    Args:
        cases: how many there are; each calls `case()` in a thread of its own.
        threads: number of threads that step engines on the CPU.
    """

    def __init__(self, cases: int, threads: int) -> None:
        self._cases = cases
        self._threads = threads
        self._requests: list[_Request] = []
        self._condition = threading.Condition()
        self._last = 0.0
        self._groups: dict[tuple[int, ...], _core.EngineGroup] = {}

    @contextmanager
    def case(self) -> Iterator[None]:
        """The body is a case, which takes part until it ends."""
        try:
            yield
        finally:
            with self._condition:
                self._cases -= 1
                self._condition.notify_all()

    def adopt(self, simulation: Simulation) -> None:
        """Have a simulation of a case step with the others; one of several blocks steps by itself."""
        if len(simulation.engine.layout) == 1:
            simulation.step_engine = partial(self._step, simulation.engine)

    def _step(self, engine: _core.Engine, steps: int) -> None:
        if steps == 0:
            engine.step(0)
            return
        request = _Request(engine, steps)
        with self._condition:
            self._requests.append(request)
            self._last = time.monotonic()
            try:
                while request.left > 0:
                    waited = time.monotonic() - self._last
                    if len(self._requests) >= self._cases or waited >= PATIENCE:
                        self._advance()
                    else:
                        self._condition.wait(PATIENCE - waited)
            finally:
                self._requests.remove(request)
        if request.error is not None:
            raise request.error

    def _advance(self) -> None:
        """Make as many steps as the least of all requests needs."""
        waiting = [request for request in self._requests if request.left > 0]
        steps = min(request.left for request in waiting)
        by_device: dict[str, list[_Request]] = {}
        for request in waiting:
            by_device.setdefault(str(request.engine.layout[0]["device"]), []).append(request)
        for requests in by_device.values():
            try:
                self._group(requests).step(steps)
            except BaseException as error:  # the states of all are unfinished now
                for request in requests:
                    request.error, request.left = error, 0
        for request in waiting:
            request.left = max(0, request.left - steps)
        self._last = time.monotonic()
        self._condition.notify_all()

    def _group(self, requests: list[_Request]) -> _core.EngineGroup:
        """The group of some engines, which keeps what it has recorded of their steps."""
        key = tuple(id(request.engine) for request in sorted(requests, key=lambda request: id(request.engine)))
        group = self._groups.pop(key, None)
        if group is None:
            engines = {id(request.engine): request.engine for request in requests}
            group = _core.EngineGroup(tuple(engines[number] for number in key), self._threads)
        self._groups[key] = group  # the last one used is the last to go
        while len(self._groups) > MOST_GROUPS:
            del self._groups[next(iter(self._groups))]
        return group
