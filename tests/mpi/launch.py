"""Runs Python programs under mpiexec for the tests.

Where mpiexec or mpi4py is missing a test is skipped, or fails if MPI is required.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).parent / "programs"
BESIDE_OTHERS = {
    # Containers have no other user, and Open MPI refuses root unless told twice.
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",  # more ranks than cores
    # Ranks that wait for one that has no core would keep it from one.
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMP_NUM_THREADS": "1",
}


@dataclass(frozen=True)
class Ended:
    """How a program ended."""

    code: int
    output: str
    """Standard output and standard error of all ranks."""


@functools.cache
def mpiexec() -> str | None:
    """The launcher: that of this Python's environment, or the first on PATH."""
    own = Path(sys.executable).parent / "mpiexec"
    return str(own) if own.is_file() else shutil.which("mpiexec")


def need_mpi() -> None:
    """Skip the test where no program can be run under MPI, or fail it if LBMGPU_REQUIRE_MPI=1."""
    missing = "mpiexec" if mpiexec() is None else "mpi4py" if importlib.util.find_spec("mpi4py") is None else None
    if missing is not None:
        if os.environ.get("LBMGPU_REQUIRE_MPI") == "1":
            pytest.fail(f"MPI is required: there is no {missing}")
        pytest.skip(f"needs MPI: there is no {missing}")


def counts(*ranks: int) -> list:
    """Parameters of a test over numbers of ranks: without --all it runs on two."""
    return [count if count == 2 else pytest.param(count, marks=pytest.mark.slow) for count in ranks]


def run(program: str, ranks: int, *arguments: str, timeout: float = 240) -> Ended:
    """Run a program of the folder ``programs`` on a number of ranks; too long a run is a failure with its output."""
    return run_python(ranks, str(PROGRAMS / program), *arguments, timeout=timeout)


def run_python(ranks: int, *arguments: str, timeout: float = 240) -> Ended:
    """The same with these arguments of Python."""
    need_mpi()
    python = [sys.executable, *arguments]
    process = subprocess.Popen(
        [str(mpiexec()), *_options(), "-n", str(ranks), *python],
        env={**os.environ, **BESIDE_OTHERS},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    with _ended_at_last(process):
        try:
            output, _ = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            output = _end(process)
            pytest.fail(f"{arguments[0]} on {ranks} ranks did not end within {timeout} s:\n{output}")
    return Ended(process.returncode, output)


def succeed(program: str, ranks: int, *arguments: str) -> None:
    """Run a program on which each rank says that it is done."""
    ended = run(program, ranks, *arguments)
    assert ended.code == 0, ended.output
    for rank in range(ranks):
        assert f"rank {rank} of {ranks} is done" in ended.output, ended.output


@functools.cache
def _options() -> list[str]:
    """What this launcher has to be told on a machine with few cores."""
    version = subprocess.run([str(mpiexec()), "--version"], capture_output=True, text=True, timeout=60).stdout
    if "OpenRTE" in version:  # Open MPI 4 and before
        return ["--oversubscribe", "--bind-to", "none"]
    return ["--bind-to", "none"] if "Open MPI" in version else []


@contextlib.contextmanager
def _ended_at_last(process: subprocess.Popen[str]) -> Iterator[None]:
    """Leave no process behind, whatever ends the test."""
    try:
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def _end(process: subprocess.Popen[str]) -> str:
    """End a launcher, first so that it ends its ranks, which may be in process groups of their own; its output."""
    process.terminate()
    try:
        return process.communicate(timeout=10)[0]
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return process.communicate()[0]
