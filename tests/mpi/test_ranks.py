"""Tests of the communicator over MPI and of errors that end a job, on one to four ranks."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lbmgpu import _core
from lbmgpu.parallel import ranks

from . import launch

RANKS = launch.counts(1, 2, 3, 4)
STRANGE_LIBRARY = r"""
#include <cstring>
extern "C" int MPI_Get_library_version(char* text, int* length) {
    std::strcpy(text, "Strange MPI 1.0\n");
    *length = 16;
    return 0;
}
extern "C" int MPI_Initialized(int* answer) { return *answer = 1, 0; }
extern "C" int MPI_Finalized(int* answer) { return *answer = 0; }
"""


@pytest.mark.parametrize("count", RANKS)
def test_what_ranks_do_together(count: int) -> None:
    launch.succeed("collectives.py", count)


@pytest.mark.parametrize("count", RANKS)
def test_exchanges(count: int) -> None:
    launch.succeed("exchanges.py", count)


def test_exchanges_outlive_mpi() -> None:
    launch.succeed("exchanges.py", 2, "finalize")


@pytest.mark.parametrize("count", [1, 2])
def test_wrong_communicators_of_mpi4py(count: int) -> None:
    launch.succeed("arguments.py", count)


@pytest.mark.parametrize(
    ("count", "way", "words"),
    [
        pytest.param(1, "main", "ArithmeticError: this rank gives up", marks=pytest.mark.slow),
        (2, "main", "ArithmeticError: this rank gives up"),
        pytest.param(4, "main", "ArithmeticError: this rank gives up", marks=pytest.mark.slow),
        (2, "thread", "ArithmeticError: this rank gives up"),
        (2, "interrupt", "KeyboardInterrupt"),
    ],
)
def test_error_of_one_rank_ends_all(count: int, way: str, words: str) -> None:
    begin = time.monotonic()
    ended = launch.run("failing.py", count, way, timeout=60)
    assert time.monotonic() - begin < 10 + 10  # the launch and the imports take some of it where others compute
    assert ended.code != 0, ended.output
    assert f"rank {count - 1} of {count} failed and ends the job:" in ended.output
    assert "Traceback" in ended.output
    assert words in ended.output


@pytest.mark.parametrize(
    ("way", "words"),
    [
        ("engine", "ArithmeticError: this rank gives up"),
        ("drawing", "this rank gives up"),
        ("record", "ValueError"),
    ],
)
def test_error_of_one_rank_ends_a_run_with_recorders(way: str, words: str, tmp_path: Path) -> None:
    ended = launch.run("failing_recorders.py", 2, way, str(tmp_path), timeout=60)
    assert ended.code != 0, ended.output
    assert "failed and ends the job:" in ended.output
    assert words in ended.output


@pytest.mark.parametrize("way", ["", "hooks", "hooks late"])
def test_error_before_the_first_solver_ends_all(way: str) -> None:
    ended = launch.run("failing_early.py", 2, *way.split(), timeout=60)
    assert ended.code != 0, ended.output
    assert ended.output.count("rank 1 of 2 failed and ends the job:") == 1
    assert ended.output.count("Traceback") == 1
    assert ended.output.count("the user's hook") == (1 if way else 0)
    assert "ArithmeticError: this rank gives up" in ended.output


def test_without_mpi4py_an_error_is_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "2")
    code = "import sys, lbmgpu; assert sys.excepthook != sys.__excepthook__; raise ArithmeticError('gives up')"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert ended.returncode == 1
    assert ended.stderr.startswith("Traceback")
    assert ended.stderr.rstrip().endswith("ArithmeticError: gives up")


def test_a_lone_process_without_mpi4py_is_warned_of(monkeypatch: pytest.MonkeyPatch) -> None:
    code = "import lbmgpu as lbm; lbm.Solver(lbm.Domain((8, 8), 'D2Q9'), lbm.BGK(0.1), device='cpu')"
    for size in ("1", "2"):
        monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", size)
        ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
        assert ended.stderr.count("<string>:1: LoneProcessWarning: comm: not given") == int(size) - 1


def test_no_communicator_is_one_process() -> None:
    assert ranks.communicator(None) is None


@pytest.mark.parametrize("comm", [3, "world", object(), [0, 1]], ids=["int", "str", "object", "list"])
def test_what_is_no_communicator_is_refused(comm: object) -> None:
    with pytest.raises(TypeError, match=r"^comm: .* given, must be None or an intracommunicator like MPI.COMM_WORLD$"):
        ranks.communicator(comm)


def test_without_communicator_mpi_is_not_loaded() -> None:
    code = "import sys, lbmgpu, lbmgpu.parallel.ranks as r; r.communicator(None); assert 'mpi4py' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_unknown_library_is_named(tmp_path: Path) -> None:
    source, library = tmp_path / "strange.cpp", tmp_path / "libstrange.so"
    source.write_text(STRANGE_LIBRARY)
    subprocess.run([os.environ.get("CXX", "g++"), "-shared", "-fPIC", "-o", library, source], check=True, timeout=60)
    with pytest.raises(RuntimeError, match=r"not known: 'Strange MPI 1\.0'.*libstrange\.so.*Open MPI, MPICH"):
        _core.mpi_communicator(str(library), 0)


def test_library_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match=r"cannot be loaded.*none\.so"):
        _core.mpi_communicator(str(tmp_path / "none.so"), 0)
