"""Runs cases of a study on its workers: who waits, who runs again, and what becomes of them when it is broken off."""

from __future__ import annotations

import json
import logging
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from .. import checks
from ..files.interrupts import kept
from . import records
from .bar import StudyBar
from .records import CaseFolder, Record
from .worker import OWN, Job, picklable
from .workers import Executor, LentWorkers, LocalWorkers, Workers, interrupted, resolved

log = logging.getLogger("lbmgpu")

WAIT_SECONDS = 0.2
"""For a case that ends; meanwhile the bar is drawn."""

REDONE = (records.FAILED, records.OUT_OF_MEMORY, records.KILLED, records.INTERRUPTED)
"""Statuses of cases that another `run` starts again; a case that diverged would diverge again."""

CLOCKS_DIFFER = 60.0
"""By so many seconds at most between the hosts of a run."""

_RETRIED = (records.FAILED, records.OUT_OF_MEMORY, records.KILLED)


@dataclass(frozen=True)
class Options:
    """How cases are run: the arguments of `Study.run` that are about it, checked.

    Raises:
        TypeError, ValueError: a wrong one.
    """

    devices: str | Sequence[str] = "all"
    per_device: int | None = None
    threads: int | None = None
    executor: Executor | None = None
    progress: bool = True
    retry: int = 0
    batch: int = 1

    def __post_init__(self) -> None:
        if self.per_device is not None:
            checks.integer("per_device", self.per_device, at_least=1, at_most=1024)
        if self.threads is not None:
            checks.integer("threads", self.threads, at_least=1)
        checks.integer("retry", self.retry)
        checks.flag("progress", self.progress)
        if self.executor is None:
            object.__setattr__(self, "devices", tuple(resolved(self.devices)))
            return
        if not callable(getattr(self.executor, "submit", None)):
            right = "must have submit(), as concurrent.futures' have"
            raise TypeError(f"executor: {checks.shown(self.executor)} given, {right}")
        if self.per_device is not None:
            raise ValueError("per_device: given beside an executor, which sees to how many cases run at a time")
        if not isinstance(self.devices, str):
            raise ValueError(
                f"devices: {checks.shown(self.devices)} given beside an executor, must be 'all' or one device"
            )

    def workers(self, cases: int) -> Workers:
        """Workers for a number of cases."""
        if self.executor is None:
            return LocalWorkers(self.devices, self.per_device, cases, self.threads, self.batch)
        device = OWN if self.devices in ("all", "auto") else str(self.devices)
        return LentWorkers(self.executor, device, cases, self.threads, self.batch)


@dataclass
class _Attempt:
    """A case to be run: how often it failed in this run, whether it needs a device to itself, when a worker got it."""

    folder: CaseFolder
    failures: int = 0
    alone: bool = False
    begun: float = 0.0


class Runner:
    """Has `workers` run cases of `function`, whose source has the digest `source`."""

    def __init__(self, function: Callable[..., Any], source: str, workers: Workers, bar: StudyBar, retry: int) -> None:
        self._function, self._source, self._workers = function, source, workers
        self._bar, self._retry = bar, retry
        self._running: dict[str, _Attempt] = {}

    def run(self, folders: Iterable[CaseFolder]) -> None:
        """Run the cases; where this is broken off, by Ctrl-C or a full disk, the workers end and the records say so."""
        waiting = deque(map(_Attempt, folders))
        try:
            while waiting or self._running:
                self._start(waiting)
                self._workers.wait(WAIT_SECONDS)
                for ended in self._workers.ended():
                    again = self._end(ended.job, ended.record, ended.is_written, ended.crowded)
                    if again is not None:
                        waiting.append(again)
                self._bar.refresh()
        except BaseException:
            with kept():  # a second Ctrl-C would leave workers
                for job in self._workers.stop():
                    attempt = self._running.get(job.key)
                    if attempt is not None and attempt.folder.record().status in (records.WAITING, records.RUNNING):
                        with suppress(OSError):  # of a full disk, which broke this off perhaps
                            self._finish(attempt, job, interrupted())
            raise

    def _start(self, waiting: deque[_Attempt]) -> None:
        """Start as many as there is room for."""
        held_back: deque[_Attempt] = deque()
        while waiting:
            attempt = waiting.popleft()
            if self._workers.has_room(attempt.alone):
                together = [attempt]
                while waiting and len(together) < self._workers.batch and not (attempt.alone or waiting[0].alone):
                    together.append(waiting.popleft())
                self._workers.start([self._job(each.folder) for each in together], attempt.alone)
                for each in together:
                    each.begun = time.time()
                    self._running[each.folder.parameters.key] = each
                    self._bar.started(each.folder)
                continue
            held_back.append(attempt)
            if not attempt.alone:
                break
        waiting.extendleft(reversed(held_back))

    def _end(self, job: Job, record: Record, is_written: bool, crowded: bool) -> _Attempt | None:
        """Take note of a job that ended; the case again if it is to run again."""
        attempt = self._running.pop(job.key)
        folder = attempt.folder
        if not is_written:
            record = self._finish(attempt, job, record)
        if crowded and record.status != records.DONE and not attempt.alone:
            attempt.alone = True
            log.info("%s: %s; it runs again, alone", folder.parameters, record.message)
        elif record.status in _RETRIED and attempt.failures < self._retry:
            attempt.failures += 1
            log.info("%s: %s; it runs again", folder.parameters, record.message)
        else:
            if record.status != records.DONE:
                log.warning("%s: %s: %s", folder.parameters, record.status, record.message)
            self._bar.ended(folder, record)
            return None
        self._bar.again(folder)
        return attempt

    def _job(self, folder: CaseFolder) -> Job:
        call, case = picklable(self._function, folder.parameters), folder.parameters
        told = json.dumps(records.plain_values(case))
        return Job(call, str(folder.path), case.key, case.version, told, self._source, OWN, "", None, own_output=False)

    def _finish(self, attempt: _Attempt, job: Job, end: Record) -> Record:
        """Write the record of a case whose worker could not; a result that it left before is one all the same."""
        folder = attempt.folder
        before = folder.record()
        if before.status == records.DONE and before.source == job.source:
            return before
        by_it = before.started >= attempt.begun - CLOCKS_DIFFER  # and not by an earlier attempt, hours ago perhaps
        ran = before.status == records.RUNNING and by_it
        seconds = before.seconds + (max(0.0, time.time() - before.started) if ran else 0.0)
        device = before.device or job.label
        record = replace(before, status=end.status, message=end.message, device=device, seconds=seconds)
        folder.make()
        folder.write(record)
        return record
