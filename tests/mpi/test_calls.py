"""Tests of mismatched collective calls, of ranks that leave or never reach a call, and of jobs that end normally."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

import lbmgpu as lbm
from lbmgpu.parallel import ranks

from . import launch
from .programs import dying


@pytest.mark.parametrize("count", launch.counts(2, 3))
def test_different_calls_are_the_same_error_on_all_ranks(count: int, tmp_path: Path) -> None:
    launch.succeed("calls.py", count, str(tmp_path))


@pytest.mark.parametrize(
    ("way", "phase", "words"),
    [
        ("exit", "between", "rank 1: the script has ended"),
        ("finished", "between", "rank 1: the script has ended"),
        ("exit 3", "construct", "RuntimeError: rank 1: SystemExit: 3"),
        (
            "exit",
            "exchange",
            r"rank 1 has waited 2 s for the others in step\(steps=20\) .*, which it left by SystemExit",
        ),
        ("exit of the process", "save", ""),
    ],
)
def test_a_rank_that_leaves_ends_the_job(way: str, phase: str, words: str, tmp_path: Path) -> None:
    ended = launch.run("dying.py", 2, str(tmp_path), way, phase, "1", "2")
    left = re.search(r"leaves at ([\d.]+)", ended.output)
    assert left is not None, ended.output
    assert time.time() - float(left[1]) < 15
    assert ended.code != 0, ended.output
    assert re.search(words, ended.output), ended.output
    alone = dying.make()
    loaded = lbm.Solver.load(tmp_path / "state.h5", domain=alone.domain, device="cpu")
    alone.step(loaded.steps)
    assert (loaded.populations() == alone.populations()).all()


def test_a_rank_that_does_not_come_is_named_and_ends_the_job_after_the_timeout() -> None:
    ended = launch.run("late.py", 3)
    assert ended.code != 0, ended.output
    waits = (
        "rank 0 of 3 has waited 1 s for the others. ranks 0, 1: mass() at step 3. Not there: rank 2; the last call of "
    )
    assert f"{waits}all ranks: step(steps=3) at step 0" in ended.output, ended.output
    waiting = r"ranks 0, 1: velocity\(gather=True, region=None\) at step 7. Not there: rank 2"
    end = rf"{waiting}; .* the job ends after mpi_timeout = 1.5 s"
    assert re.search(end, ended.output), ended.output


def test_the_timeout_holds_for_the_first_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LBMGPU_MPI_TIMEOUT", "2")
    ended = launch.run("late.py", 2, "first")
    assert ended.code != 0, ended.output
    assert "rank 0 of 2 has waited 2 s in the first Solver(comm=...)" in ended.output, ended.output


@pytest.mark.parametrize(("count", "way"), [(2, "finalize"), (3, "exit")])
def test_scripts_that_end_at_different_times_end_well(count: int, way: str) -> None:
    launch.succeed("ends.py", count, *way.split())


def test_the_timeout_is_a_number_of_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    for text, value in (("", None), ("30", 30.0), ("0.5", 0.5)):
        monkeypatch.setattr(ranks, "_timeout", None)
        monkeypatch.setenv(ranks.TIMEOUT_VARIABLE, text)
        assert ranks.mpi_timeout() == value
    lbm.set_mpi_timeout(7)
    assert ranks.mpi_timeout() == 7
    lbm.set_mpi_timeout(None)
    assert ranks.mpi_timeout() is None
    for wrong in ("soon", "-1", "0", "nan"):
        monkeypatch.setattr(ranks, "_timeout", None)
        monkeypatch.setenv(ranks.TIMEOUT_VARIABLE, wrong)
        with pytest.raises(
            ValueError, match=f"LBMGPU_MPI_TIMEOUT: '{wrong}' given, must be a number of seconds above 0"
        ):
            ranks.mpi_timeout()
    for wrong, kind in ((0, ValueError), (-1.0, ValueError), ("1", TypeError)):
        with pytest.raises(kind, match=r"^seconds: "):
            lbm.set_mpi_timeout(wrong)
