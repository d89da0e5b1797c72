"""The processes that work on the cases of a study: one or more for each device, or those of another engine."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Sequence
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Protocol

from .. import checks
from ..parallel import devices as all_devices
from . import worker
from .records import FAILED, INTERRUPTED, KILLED, OUT_OF_MEMORY, Record
from .spawning import WorkerContext
from .worker import Job

SECONDS_TO_END = 5.0
"""That a worker which is told to end has before it is killed."""

POLL_SECONDS = 0.02
"""Between two looks at the futures of another engine."""


class Executor(Protocol):
    """What a study needs of an engine: that of `concurrent.futures`, mpi4py.futures, dask.distributed or submitit."""

    def submit(self, function: Any, /, *arguments: Any) -> Any:
        """Run ``function(*arguments)`` somewhere; the future has `done()` and `result()`."""


@dataclass(frozen=True)
class Ended:
    """A job that ended: its record, and whether its worker wrote it.

    Attributes:
        crowded: it may be for others that it has no result, those in its process or on its device, and not if it is
            alone there.
    """

    job: Job
    record: Record
    is_written: bool
    crowded: bool = False


class Workers(Protocol):
    """The workers of a run of a study."""

    def has_room(self, alone: bool = False) -> bool:
        """Whether a job can be started; `alone` for one that needs a device that no other uses."""

    @property
    def batch(self) -> int:
        """How many jobs may be started at once, to advance together."""

    def start(self, jobs: Sequence[Job], alone: bool = False) -> None:
        """Start jobs, `batch` of them at most, where there is room."""

    def wait(self, seconds: float) -> None:
        """Wait until a job may have ended, for so long at most."""

    def ended(self) -> list[Ended]:
        """The jobs that ended since the last call."""

    def stop(self) -> list[Job]:
        """End the workers at once; the jobs that were running."""

    def close(self) -> None:
        """End the workers, which have nothing to do."""


@dataclass
class _Slot:
    """A process that works on one case at a time, or a batch of them, started when it is needed and if it dies."""

    label: str
    device: str
    environment: dict[str, str]
    cores: list[int]
    threads: int | None
    context: WorkerContext
    alone: bool = False
    executor: ProcessPoolExecutor | None = None
    jobs: Sequence[Job] = ()
    future: Any = None
    shared: bool = False


class LocalWorkers:
    """Processes of this host, each with a device of its own, or a share of one.

    Args:
        devices: ``"all"``, every GPU, or the CPU where there is none; a device's name, or a list of them.
        per_device: processes a device; None for one a GPU, and on the CPU as many as its cores have room for.
        cases: how many there are to run, beyond which no process is needed.
        threads: CPU threads of a case; None for the cores shared alike.
        batch: cases at a time that each process has advance together.

    Raises:
        TypeError, ValueError: devices that are not there, or named twice.
    """

    def __init__(
        self,
        devices: str | Sequence[str],
        per_device: int | None,
        cases: int,
        threads: int | None,
        batch: int = 1,
    ) -> None:
        names = resolved(devices)
        cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
        count = len(cores) or os.cpu_count() or 1
        self._slots: list[_Slot] = []
        self._free_again = threading.Event()
        for name in names:
            alone = name != "cpu" or batch > 1
            several = per_device or (1 if alone else max(1, min(count // (threads or 1), cases)))
            for _ in range(several):
                label, environment = _of_device(name)
                self._slots.append(_Slot(name, label, environment, [], threads, WorkerContext()))
        self.batch = _divided(cases, len(self._slots), batch)
        share = max(1, count // len(self._slots))
        for number, slot in enumerate(self._slots):
            slot.threads = slot.threads or share
            slot.environment["OMP_NUM_THREADS"] = str(slot.threads)
            if slot.label == "cpu" and slot.threads <= share and count == len(cores) >= share * len(self._slots):
                slot.cores = cores[number * share : (number + 1) * share]

    @property
    def count(self) -> int:
        """Number of processes."""
        return len(self._slots)

    def has_room(self, alone: bool = False) -> bool:
        """See `Workers`."""
        return self._free(alone) is not None

    def start(self, jobs: Sequence[Job], alone: bool = False) -> None:
        """See `Workers`."""
        slot = self._free(alone)
        assert slot is not None, "start: no worker is free"
        jobs = [
            replace(job, device=slot.device, label=slot.label, threads=slot.threads, own_output=True) for job in jobs
        ]
        if slot.executor is None:
            slot.context = WorkerContext(slot.environment)
            slot.executor = ProcessPoolExecutor(
                max_workers=1,
                mp_context=slot.context,
                initializer=worker.prepare,
                initargs=(slot.environment, slot.cores),
            )
        try:
            slot.future = slot.executor.submit(worker.work_together, jobs)
        except BrokenProcessPool:  # it died while it had nothing to do
            self._forget(slot)
            self.start(jobs, alone)
            return
        slot.future.add_done_callback(lambda _: self._free_again.set())
        slot.jobs, slot.alone, slot.shared = jobs, alone, len(jobs) > 1
        busy = [other for other in self._slots if other.jobs and other.label == slot.label]
        if len(busy) > 1:
            for other in busy:
                other.shared = True

    def wait(self, seconds: float) -> None:
        """See `Workers`."""
        self._free_again.wait(seconds)
        self._free_again.clear()

    def ended(self) -> list[Ended]:
        """See `Workers`."""
        result = []
        for slot in self._slots:
            if not slot.jobs or not slot.future.done():
                continue
            jobs, slot.jobs = slot.jobs, ()
            found: Sequence[Record | BaseException]
            try:
                found = slot.future.result()
            except BrokenProcessPool:
                death = self._death(slot)
                self._forget(slot)
                result += _lost(jobs, death)
                continue
            except Exception as error:  # the jobs could not be sent
                found = [error] * len(jobs)
            result += [_ended(job, one, slot.shared) for job, one in zip(jobs, found, strict=True)]
        return result

    def stop(self) -> list[Job]:
        """See `Workers`."""
        running = [job for slot in self._slots for job in slot.jobs]
        processes = [process for slot in self._slots for process in slot.context.processes]
        for process in processes:
            process.terminate()
        for process in processes:
            process.join(SECONDS_TO_END)
            if process.is_alive():
                process.kill()
                process.join()
        for slot in self._slots:
            slot.jobs = ()
            self._forget(slot)
        return running

    def close(self) -> None:
        """See `Workers`."""
        for slot in self._slots:
            if slot.executor is not None:
                slot.executor.shutdown(wait=True)
                slot.executor = None

    def _free(self, alone: bool) -> _Slot | None:
        for slot in self._slots:
            others = [other for other in self._slots if other is not slot and other.label == slot.label and other.jobs]
            if not slot.jobs and not any(other.alone for other in others) and not (alone and others):
                return slot
        return None

    @staticmethod
    def _forget(slot: _Slot) -> None:
        if slot.executor is not None:
            slot.executor.shutdown(wait=False, cancel_futures=True)
        slot.executor = None

    @staticmethod
    def _death(slot: _Slot) -> str:
        """How a worker's process ended, in words."""
        if not slot.context.processes:
            return "its process ended without a result"
        process = slot.context.processes[-1]
        process.join(SECONDS_TO_END)
        end = time.monotonic() + SECONDS_TO_END
        while process.exitcode is None and time.monotonic() < end:  # the executor's thread may be about to have it
            time.sleep(0.01)
        code = process.exitcode
        if code is not None and code < 0:
            with suppress(ValueError):
                name = signal.Signals(-code).name
                hint = ", perhaps for lack of memory" if name == "SIGKILL" else ""
                return f"its process was ended by {name}{hint}"
        return f"its process ended with exit code {code}"


class LentWorkers:
    """The workers of another engine, which sees to where and when its jobs run.

    Args:
        executor: the engine.
        device: for the solvers of all cases; `worker.OWN` for the worker's own.
        cases: how many there are to run.
        threads: CPU threads of a case; None for the worker's own share.
        batch: cases at a time that a worker has advance together; fewer where more workers can share them.
    """

    def __init__(self, executor: Executor, device: str, cases: int, threads: int | None, batch: int = 1) -> None:
        self._executor, self._device, self._threads = executor, device, threads
        count = _count_of_workers(executor) if batch > 1 else None
        self.batch = batch if count is None else _divided(cases, count, batch)
        self._running: list[tuple[Sequence[Job], Any]] = []

    def has_room(self, alone: bool = False) -> bool:
        """See `Workers`."""
        return True

    def start(self, jobs: Sequence[Job], alone: bool = False) -> None:
        """See `Workers`."""
        jobs = [replace(job, device=self._device, threads=self._threads) for job in jobs]
        try:
            future = self._executor.submit(worker.work_together, jobs)
        except BrokenExecutor as error:  # by a case before, and it starts no other worker
            future = Future()
            future.set_exception(error)
        self._running.append((jobs, future))

    def wait(self, seconds: float) -> None:
        """See `Workers`; futures of other engines do not tell when they are done."""
        time.sleep(min(seconds, POLL_SECONDS))

    def ended(self) -> list[Ended]:
        """See `Workers`."""
        result, running = [], []
        for jobs, future in self._running:
            if not future.done():
                running.append((jobs, future))
                continue
            try:
                found = future.result()
            except Exception as error:
                message = f"its worker was lost ({type(error).__name__}: {error})"
                result += _lost(jobs, message)
            else:
                result += [_ended(job, one, len(jobs) > 1) for job, one in zip(jobs, found, strict=True)]
        self._running = running
        return result

    def stop(self) -> list[Job]:
        """See `Workers`; what the engine runs already notices at its next steps that its record is another's."""
        running: list[Job] = []
        for jobs, future in self._running:
            cancelled = False
            with suppress(Exception):
                cancelled = bool(future.cancel())
            if not cancelled:
                running += jobs
        self._running = []
        return running

    def close(self) -> None:
        """The engine is not this one's to end."""


def resolved(devices: str | Sequence[str]) -> list[str]:
    """The names of the devices that ``devices=`` of a study means, each once.

    Raises:
        TypeError, ValueError: not devices of this machine, or one of them twice.
    """
    if isinstance(devices, str):
        names = all_devices.available() if devices in ("all", "auto") else [all_devices.resolve(devices)]
    else:
        given = checks.listed("devices", devices, "'all', a device or a list of devices")
        names = [all_devices.resolve(name) for name in given]
    if not names:
        raise ValueError("devices: an empty list given, must name at least one")
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"devices: {name!r} given twice; per_device=2 runs two cases at a time on each device")
    return names


def _divided(cases: int, workers: int, batch: int) -> int:
    """Cases at a time of each worker: no more than all of them have to take to share the cases."""
    return max(1, min(batch, -(-cases // workers)))


def _count_of_workers(executor: Executor) -> int | None:
    """How many jobs an engine runs at a time; None for one that does not tell."""
    for name in ("num_workers", "max_workers", "_max_workers"):  # of mpi4py, of executorlib, of concurrent.futures
        found = getattr(executor, name, None)
        if isinstance(found, int) and found > 0:
            return found
    client: Any = getattr(executor, "_client", None)  # of dask's, which has the threads of each worker
    with suppress(Exception):
        return sum(client.nthreads().values()) or None
    return None


def _ended(job: Job, found: Record | BaseException, shared: bool) -> Ended:
    """How a job ended whose worker gave back a record, or the error by which it could not be written."""
    if isinstance(found, BaseException):
        return Ended(job, Record(status=FAILED, message=f"{type(found).__name__}: {found}"), False)
    return Ended(job, found, True, shared and found.status == OUT_OF_MEMORY)


def _lost(jobs: Sequence[Job], message: str) -> list[Ended]:
    """How jobs ended whose process died: of several in it nobody knows which one brought it down."""
    return [Ended(job, Record(status=KILLED, message=message), False, len(jobs) > 1) for job in jobs]


def interrupted() -> Record:
    """How a case ended that was stopped with its study."""
    return Record(status=INTERRUPTED, message="the study was interrupted")


def _of_device(name: str) -> tuple[str, dict[str, str]]:
    """The device as a worker sees it that sees no other, and the environment that makes it so."""
    if name == "cpu":
        return "cpu", {"CUDA_VISIBLE_DEVICES": ""}
    number = int(name.removeprefix("cuda:"))
    visible = [part.strip() for part in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if part.strip()]
    return "cuda:0", {"CUDA_VISIBLE_DEVICES": visible[number] if number < len(visible) else str(number)}
