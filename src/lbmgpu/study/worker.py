"""What runs in a worker process: one case, from its function's bytes to the files of its result."""

from __future__ import annotations

import json
import logging
import os
import platform
import sys
import sysconfig
import threading
import time
import traceback
import warnings
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from io import TextIOWrapper
from os import _exit as exit_at_once
from pathlib import Path
from types import TracebackType
from typing import Any

from .._core import CudaError
from ..errors import DivergedError, LoneProcessWarning, TooLittleMemoryError
from ..files.log_file import PlainFormatter
from ..parallel import devices
from ..solver.run import observing
from . import records, results
from .batch import Batch
from .case import Case, Superseded
from .parameters import ParameterSet
from .records import CaseFolder, Record

LOCAL_RANKS = ("OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "PMI_LOCAL_RANK", "SLURM_LOCALID")
LOCAL_SIZES = ("OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "PMI_LOCAL_SIZE")
"""Environment variables in which launchers number the processes of a host, and give their count."""

SECONDS_BETWEEN_LOOKS = 1.0
"""At whether the parent lives, where the system does not tell at once."""

MOST_CHARACTERS = 2000
"""Of a message."""

OWN = "auto"
"""Stands for the device that the worker finds itself: its local rank's GPU, the first one without a launcher."""


@dataclass(frozen=True)
class Job:
    """A case for a worker.

    Attributes:
        call: the function and the `ParameterSet`, by cloudpickle.
        folder: of the case.
        key: of the parameters.
        version: of the study.
        parameters: as the record has them, in JSON: of a case whose call cannot be loaded it has no others.
        source: digest of the function's source.
        device: for the solvers; `OWN` for the worker's own.
        label: the device's name in records.
        threads: number of CPU threads; None for the worker's own share.
        own_output: whether what the case prints goes to a file in its folder.
    """

    call: bytes
    folder: str
    key: str
    version: str
    parameters: str
    source: str
    device: str
    label: str
    threads: int | None
    own_output: bool


def prepare(environment: dict[str, str], cores: list[int] | None) -> None:
    """Make a fresh process a worker: its devices and cores, and its end with the parent's."""
    import multiprocessing
    import signal
    from multiprocessing.connection import wait

    os.environ.update(environment)
    if cores and hasattr(os, "sched_setaffinity"):
        with suppress(OSError):
            os.sched_setaffinity(0, cores)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in a terminal reaches all: the parent ends the workers
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(line_buffering=True)  # or what was printed before a crash would be lost
    parent = multiprocessing.parent_process()

    def follow() -> None:
        if parent is not None:
            while not wait([parent.sentinel], SECONDS_BETWEEN_LOOKS) and os.getppid() == parent.pid:
                pass  # other children of the parent may hold the sentinel's other end
            exit_at_once(1)  # or a case would go on that a new run starts again

    results.load_xarray()  # which takes a while, here and not in the first case
    threading.Thread(target=follow, daemon=True, name="lbmgpu-follow-parent").start()


def work_together(jobs: Sequence[Job]) -> list[Record | OSError]:
    """Run cases side by side, each in a thread, whose solvers advance together (`Batch`); see `work`.

    What they print goes to one file in the study's folder.
    """
    if len(jobs) == 1:
        return [work(jobs[0])]
    on_cpu, first = jobs[0].device == "cpu", jobs[0]
    batch = Batch(len(jobs), first.threads or 1)
    found: list[Record | OSError] = [Record()] * len(jobs)

    def run(number: int) -> None:
        job = replace(jobs[number], own_output=False, threads=1 if on_cpu else first.threads)
        with batch.case():
            try:
                found[number] = work(job, batch)
            except OSError as error:
                found[number] = error

    with ExitStack() as stack:
        if first.own_output:
            stack.enter_context(_printing_to(Path(first.folder).parent / records.OUTPUT))
        stack.enter_context(warnings.catch_warnings())
        warnings.simplefilter("ignore", LoneProcessWarning)
        threads = [threading.Thread(target=run, args=(number,)) for number in range(len(jobs))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    return found


def work(job: Job, batch: Batch | None = None) -> Record:
    """Run a case and leave its result and its record; what goes wrong is in the record, not raised.

    The solvers of a case of a `batch` advance with those of the others.

    Raises:
        OSError: the record cannot be written.
    """
    import pickle

    start, process = time.time(), os.getpid()
    told = ParameterSet(json.loads(job.parameters), job.key, Path(job.folder).name, job.version)
    folder = CaseFolder(Path(job.folder), told)
    case: Case | None = None
    record, spent = Record(), 0.0
    with ExitStack() as stack:
        folder.make()
        if job.own_output:
            stack.enter_context(_printing_to(folder.path / records.OUTPUT))
        try:
            device, threads = _own_device() if job.device == OWN else job.device, job.threads
            record = _started(folder, replace(job, device=device), start)
            function, parameters = pickle.loads(job.call)
            values, folder = dict(parameters.values), CaseFolder(folder.path, parameters)
            case = Case(folder, device, _own_threads() if threads is None else threads, record, batch)
            if batch is None:  # a filter is for all threads
                stack.enter_context(warnings.catch_warnings())
                warnings.simplefilter("ignore", LoneProcessWarning)  # a worker of several computes whole domains
            begin = time.monotonic()
            try:
                with observing(case.stepped):
                    found = function(case, **values)
            finally:  # of the function alone: the first case of a process imports packages before and after it
                spent = time.monotonic() - begin
            result = results.dataset(found, tuple(values))
            if os.getpid() == process:
                case.check_is_current()
                results.write(folder.path / records.RESULT, result)
            record = replace(record, status=records.DONE, message="")
        except BaseException as error:
            traceback.print_exc()
            record = replace(record, status=_status(error), message=_message(error))
            if isinstance(error, Superseded) or (case is not None and not case.is_current):
                return replace(record, status=records.INTERRUPTED)  # the files are another attempt's
        if os.getpid() != process:  # a child that the function forked, and that should have ended in it
            sys.stdout.flush()
            exit_at_once(0 if record.status == records.DONE else 1)
        record = replace(record, seconds=record.seconds + spent, mlups=0.0 if case is None else case.mlups)
        folder.write(record)
    return record


def _started(folder: CaseFolder, job: Job, start: float) -> Record:
    """The record of a case that begins or goes on; what another source's attempts left is removed."""
    before = folder.record()
    if before.source != job.source or before.status == records.DONE:
        folder.clear()
        before = Record(created=before.created)
    folder.remove_parts()
    record = Record(
        status=records.RUNNING,
        seconds=before.seconds,
        attempts=before.attempts + 1,
        device=job.label or job.device,
        host=platform.node(),
        process=os.getpid(),
        started=start,
        source=job.source,
        created=before.created,
    )
    folder.write(record)
    return record


def _own_device() -> str:
    """The device of a worker that another engine started: a GPU of its own where the launcher numbers the workers."""
    found = devices.available()
    rank = next((int(os.environ[name]) for name in LOCAL_RANKS if os.environ.get(name, "").isdecimal()), 0)
    return found[rank % len(found)]


def _own_threads() -> int | None:
    size = next((int(os.environ[name]) for name in LOCAL_SIZES if os.environ.get(name, "").isdecimal()), 1)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return None if size <= 1 else max(1, cores // size)


def _status(error: BaseException) -> str:
    if isinstance(error, KeyboardInterrupt | Superseded):
        return records.INTERRUPTED
    if isinstance(error, DivergedError):
        return records.DIVERGED
    of_gpu = (
        isinstance(error, CudaError | RuntimeError) and "out of memory" in str(error).lower()
    )  # or another library's
    if of_gpu or isinstance(error, MemoryError | TooLittleMemoryError):
        return records.OUT_OF_MEMORY
    return records.FAILED


def _message(error: BaseException) -> str:
    """An error in one line, with the line of the user's code that it came from."""
    try:
        text = " ".join(str(error).split())
    except Exception:  # of the user's own class
        text = ""
    if len(text) > MOST_CHARACTERS:
        text = f"{text[:MOST_CHARACTERS]} ..."
    name = type(error).__name__
    place = _place(error.__traceback__)
    return f"{name}: {text}{place}" if text else f"{name}{place}"


def _place(trace: TracebackType | None) -> str:
    """The last line of a traceback that is neither of this package nor of a library; the last of all without any."""
    libraries = tuple(sysconfig.get_path(name) + os.sep for name in ("stdlib", "purelib", "platlib"))
    package = str(Path(__file__).parent.parent) + os.sep
    frames = [frame for frame in traceback.extract_tb(trace) if not frame.filename.startswith(package)]
    own = [frame for frame in frames if not frame.filename.startswith(libraries)] or frames
    return f" ({Path(own[-1].filename).name}, line {own[-1].lineno})" if own else ""


@contextmanager
def _printing_to(path: Path) -> Iterator[None]:
    """What this process prints, libraries and crashes included, goes to the end of a file."""
    import faulthandler

    log = logging.getLogger("lbmgpu")
    sys.stdout.flush()
    sys.stderr.flush()
    with open(path, "a", encoding="utf-8") as file:
        kept = os.dup(1), os.dup(2)
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
        handler = logging.StreamHandler()
        handler.setFormatter(PlainFormatter("%(asctime)s %(levelname)s %(message)s"))
        log.addHandler(handler)
        level = log.level
        log.setLevel(logging.INFO)
        faulthandler.enable(file=file)
        try:
            yield
        finally:
            faulthandler.disable()
            log.removeHandler(handler)
            log.setLevel(level)
            sys.stdout.flush()
            sys.stderr.flush()
            for number, copy in zip((1, 2), kept, strict=True):
                os.dup2(copy, number)
                os.close(copy)


def picklable(function: Any, parameters: ParameterSet | None = None) -> bytes:
    """A function and the parameters of a case in bytes, functions of a notebook and lambdas by their code.

    Raises:
        ImportError: cloudpickle is not there.
        TypeError: what cannot be sent to another process.
    """
    try:
        import cloudpickle
    except ImportError:
        raise ImportError("studies need cloudpickle: pip install 'lbmgpu[study]'") from None
    try:
        sent: bytes = cloudpickle.dumps((function, parameters))
        return sent
    except Exception as error:
        raise TypeError(
            f"function: cannot be sent to another process ({type(error).__name__}: {error}); make solvers, open files "
            "and locks inside it"
        ) from error
