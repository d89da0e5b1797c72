"""How worker processes are spawned: with an environment of their own, without the user's program, deaf to Ctrl-C."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from multiprocessing.context import SpawnContext, SpawnProcess
from typing import Any

_spawning = threading.Lock()


class WorkerProcess(SpawnProcess):
    """A process that is spawned with `environment` in place of variables of this one's."""

    environment: Mapping[str, str] = {}

    def start(self) -> None:
        """Spawn it; the environment is there before its first library is loaded, as OpenMP and CUDA need."""
        with _spawning, _with_environment(self.environment), _without_main(), _interrupts_blocked():
            super().start()


class WorkerContext(SpawnContext):
    """What `ProcessPoolExecutor` makes its processes by; `processes` has them, which the executor keeps to itself."""

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        self.environment = dict(environment or {})
        self.processes: list[WorkerProcess] = []

    def Process(self, *arguments: Any, **named: Any) -> WorkerProcess:  # type: ignore[override]
        """A process that is not started yet."""
        process = WorkerProcess(*arguments, **named)
        process.environment = self.environment
        self.processes.append(process)
        return process


@contextmanager
def _with_environment(environment: Mapping[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in environment}
    os.environ.update(environment)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


@contextmanager
def _without_main() -> Iterator[None]:
    """Processes that are spawned meanwhile do not run the program again, whose function goes to them by its code.

    `multiprocessing` has a new process import the file of ``__main__``: a script without ``if __name__ ==
    "__main__":`` would start its study there once more.
    """
    main = sys.modules["__main__"]
    kept: dict[str, Any] = {name: main.__dict__[name] for name in ("__spec__", "__file__") if name in main.__dict__}
    main.__spec__ = None
    main.__dict__.pop("__file__", None)
    try:
        yield
    finally:
        main.__dict__.update(kept)


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Processes that are spawned meanwhile have SIGINT blocked, until `worker.prepare` has them ignore it.

    Ctrl-C in a terminal reaches the whole group of processes; the parent sees to the end of its workers.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
