"""The run loop: steps, steady flow, callbacks, divergence, interruption, progress."""

from __future__ import annotations

import io
import logging
import os
import re
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lbmgpu as lbm
from lbmgpu import _core
from lbmgpu.solver import progress
from lbmgpu.solver.report import last_cache, scale_bandwidth
from lbmgpu.solver.run import MAX_CHUNK, HealthCheck

from .support import cavity


@pytest.fixture
def solver() -> lbm.Solver:
    """A small cavity."""
    return lbm.Solver(cavity((8, 6), "D2Q9"), lbm.BGK(0.05), device="cpu")


def unstable() -> lbm.Solver:
    """A flow that diverges within a few hundred steps."""
    solver = lbm.Solver(lbm.Domain((16, 16), "D2Q9"), lbm.BGK(1e-9))
    rng = np.random.default_rng(5)
    solver.initialize(1 + 0.3 * rng.random((16, 16)), 0.08 * rng.standard_normal((2, 16, 16)).clip(-1.2, 1.2))
    return solver


def test_steps_add_up(solver: lbm.Solver) -> None:
    solver.step()
    solver.step(4)
    result = solver.run(2500)
    assert solver.steps == 2505
    assert (result.steps, result.converged, result.reason) == (2500, False, "done")
    assert result.mlups > 0
    assert result.seconds > 0
    assert solver.run(0).steps == 0
    solver.step(0)
    assert solver.steps == 2505


def test_run_equals_single_steps() -> None:
    solvers = [lbm.Solver(cavity((8, 6), "D2Q9"), lbm.MRT(0.05)) for _ in range(2)]
    solvers[0].run(40)
    for _ in range(40):
        solvers[1].step()
    np.testing.assert_array_equal(solvers[0].populations(), solvers[1].populations())


def test_steady_ends_the_run(solver: lbm.Solver) -> None:
    result = solver.run(100_000, until=lbm.Steady(1e-5, every=50))
    assert result.converged
    assert "steady" in result.reason
    assert result.steps % 50 == 0
    assert 100 < result.steps < 5000
    before = solver.velocity()
    solver.step(50)
    change = np.linalg.norm(solver.velocity() - before) / np.linalg.norm(before)
    assert change < 1e-5


def test_steady_at_rest() -> None:
    solver = lbm.Solver(lbm.Domain((4, 4), "D2Q9"), lbm.BGK(0.1))
    result = solver.run(1000, until=lbm.Steady(1e-5, every=10))
    assert result.converged
    assert result.steps == 10


@pytest.mark.parametrize(("factor", "converged"), [(0.9, False), (1.1, True)])
def test_steady_compares_over_its_own_interval(solver: lbm.Solver, factor: float, converged: bool) -> None:
    solver.run(21, until=lbm.Steady(1e-30, every=7))
    twin = lbm.Solver(cavity((8, 6), "D2Q9"), lbm.BGK(0.05))
    twin.step(23)
    before = twin.velocity()
    twin.step(20)
    change = float(np.linalg.norm(twin.velocity() - before) / np.linalg.norm(twin.velocity()))
    solver.step(2)
    assert solver.run(20, until=lbm.Steady(factor * change, every=20)).converged == converged


def test_callbacks_come_at_multiples(solver: lbm.Solver) -> None:
    seen: list[tuple[str, int]] = []
    solver.step(3)
    solver.run(
        20,
        callbacks=[
            lbm.Every(5, lambda s: seen.append(("five", s.steps))),
            lbm.Every(10, lambda s: seen.append(("ten", s.steps))),
        ],
    )
    assert seen == [("five", 5), ("five", 10), ("ten", 10), ("five", 15), ("five", 20), ("ten", 20)]


def test_error_in_callback_reaches_the_caller(solver: lbm.Solver) -> None:
    def fail(_: Any) -> None:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        solver.run(20, callbacks=[lbm.Every(5, fail)])
    assert solver.steps == 5


@pytest.mark.parametrize("method", ["run", "step"])
def test_divergence_says_where_and_when(method: str) -> None:
    solver = unstable()
    with pytest.raises(lbm.DivergedError) as caught:
        getattr(solver, method)(100_000)
    error = caught.value
    assert 0 < error.step <= solver.steps <= 100_000
    assert len(error.cell) == 2
    assert all(0 <= i < 16 for i in error.cell)
    assert f"step {error.step}" in str(error)
    assert str(error.cell) in str(error)
    assert solver.steps < 5000


def test_divergence_at_the_end_of_a_short_run() -> None:
    solver = unstable()
    solver._simulation.engine.step(3000)
    with pytest.raises(lbm.DivergedError):
        solver.run(1)


def test_last_checkpoint_is_of_a_state_before(tmp_path: Path) -> None:
    solver = unstable()
    checkpoint = lbm.Checkpoint(tmp_path / "state.h5", every=1)
    with pytest.raises(lbm.DivergedError) as caught:
        solver.run(100_000, callbacks=[checkpoint])
    assert caught.value.checkpoint == checkpoint.written == tmp_path / "state.h5"
    assert "last checkpoint" in str(caught.value)
    loaded = lbm.Solver.load(tmp_path / "state.h5")
    assert loaded.steps < caught.value.step
    assert np.isfinite(loaded.velocity()).all()
    assert os.listdir(tmp_path) == ["state.h5"]


def test_checkpoint_of_an_earlier_run_is_not_named(tmp_path: Path, solver: lbm.Solver) -> None:
    checkpoint = lbm.Checkpoint(tmp_path / "state.h5", every=5)
    solver.run(10, callbacks=[checkpoint])
    assert checkpoint.written == tmp_path / "state.h5"
    object.__setattr__(checkpoint, "every", 10**9)
    with pytest.raises(lbm.DivergedError) as caught:
        unstable().run(100_000, callbacks=[checkpoint])
    assert caught.value.checkpoint is None
    assert checkpoint.written is None


def test_there_is_always_room_for_a_step() -> None:
    health = HealthCheck()
    assert health.room == MAX_CHUNK
    health._steps = MAX_CHUNK + 5
    assert health.room == 1


def test_diverged_state_is_not_saved(tmp_path: Path) -> None:
    solver = unstable()
    solver._simulation.engine.step(3000)
    with pytest.raises(lbm.DivergedError):
        solver.save(tmp_path / "state.h5")
    assert list(tmp_path.iterdir()) == []


def test_interrupt_leaves_whole_state() -> None:
    solver = lbm.Solver(cavity((64, 64), "D2Q9"), lbm.BGK(0.05))
    timer = threading.Timer(0.4, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    start = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        solver.run(10**9)
    assert time.perf_counter() - start < 5
    other = lbm.Solver(cavity((64, 64), "D2Q9"), lbm.BGK(0.05))
    other.step(solver.steps)
    np.testing.assert_array_equal(solver.populations(), other.populations())
    solver.step(1)


def test_other_threads_run_while_stepping() -> None:
    solver = lbm.Solver(cavity((128, 128), "D2Q9"), lbm.BGK(0.05), threads=1)
    solver.step(10)
    ticks: list[float] = []
    stop = threading.Event()

    def tick() -> None:
        while not stop.wait(0.002):
            ticks.append(time.perf_counter())

    thread = threading.Thread(target=tick)
    thread.start()
    start = time.perf_counter()
    solver._simulation.engine.step(1000)
    end = time.perf_counter()
    stop.set()
    thread.join()
    assert sum(start < t < end for t in ticks) > (end - start) / 0.05


def test_progress_bar(solver: lbm.Solver, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    solver.run(200, progress=True, until=lbm.Steady(1e-30, every=50))
    shown = capsys.readouterr().err
    assert "200/200" in shown
    assert "MLUPS=" in shown
    assert "change=" in shown
    solver.run(10)
    assert capsys.readouterr().err == ""


def test_no_progress_bar_in_a_file(solver: lbm.Solver, capsys: pytest.CaptureFixture[str]) -> None:
    solver.run(10, progress=True)
    assert capsys.readouterr().err == ""


def test_progress_bar_in_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = type("OutStream", (io.StringIO,), {"__module__": "ipykernel.iostream"})()
    monkeypatch.setattr(sys, "stderr", stream)
    assert progress.watched()
    monkeypatch.setattr(sys, "stderr", None)
    assert not progress.watched()


def test_log(solver: lbm.Solver, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "lbmgpu"):
        solver.run(10, callbacks=[lbm.Checkpoint(tmp_path / "state.h5", 5)])
    assert [r.getMessage()[:7] for r in caplog.records] == ["step 5:", "step 10"]


def report(memory: int, cache: int | None, mlups: float | None) -> lbm.Report:
    """A report of a solver that moves 100 bytes an update on a machine of 10 GB/s: 100 MLUPS are a share of 1."""
    return lbm.Report({}, memory, 100, 10, mlups, 1e10, {}, cache)


@pytest.mark.parametrize(
    ("memory", "cache", "mlups", "cached"),
    [
        (2**26, 2**25, 110.0, False),
        (2**25, 2**25, 110.0, True),
        (2**26, 2**25, 131.0, True),
        (2**26, None, 129.0, False),
        (2**26, None, 131.0, True),
    ],
)
def test_report_of_a_domain_in_the_cache(memory: int, cache: int | None, mlups: float, cached: bool) -> None:
    made = report(memory, cache, mlups)
    assert made.cached == cached
    (row,) = (line for line in str(made).splitlines() if line.startswith("fraction"))
    assert ("cache" in row) == cached
    assert "cache" not in str(report(memory, cache, None))


@pytest.mark.parametrize(
    ("memory", "shown"), [(2**30, "1.000 GiB"), (2**30 - 2**20, "1023.000 MiB"), (2**14, "0.016 MiB")]
)
def test_report_shows_memory_in_its_unit(memory: int, shown: str) -> None:
    assert shown in str(report(memory, None, None))


def test_last_cache(tmp_path: Path) -> None:
    assert last_cache(tmp_path) is None
    for index, size in enumerate(("48K", "2048K", "32M")):
        (tmp_path / f"index{index}").mkdir()
        (tmp_path / f"index{index}" / "size").write_text(f"{size}\n")
    assert last_cache(tmp_path) == 2**25
    (tmp_path / "index2" / "size").write_text("unknown\n")
    assert last_cache(tmp_path) is None


def test_report(solver: lbm.Solver, monkeypatch: pytest.MonkeyPatch) -> None:
    before = solver.report(bandwidth=False)
    assert before.mlups is None
    assert before.bandwidth_fraction is None
    assert "MLUPS" not in str(before)
    result = solver.run(100)
    monkeypatch.setattr(_core, "inplace_stream_scale", lambda size, threads, repeats: 1e10)
    scale_bandwidth.cache_clear()  # an earlier test may have measured it
    report = solver.report()
    scale_bandwidth.cache_clear()
    assert report.mlups == result.mlups
    assert report.bytes_per_update == 2 * 9 * 4
    assert report.bandwidth == pytest.approx(report.mlups * 72e6)
    assert report.memory_bandwidth == 1e10
    assert report.bandwidth_fraction == pytest.approx(report.mlups * 72e-4)
    assert report.memory_bytes > 8 * 6 * 9 * 4
    for part in ("8 x 6 cells, D2Q9", "BGK", "float32", "in-place", "MLUPS", "GB/s", "time in"):
        assert part in str(report)


def test_times_of_the_report_are_of_the_last_run(solver: lbm.Solver) -> None:
    solver.step(500)
    assert solver.report(bandwidth=False).phase_seconds == {}
    for steps in (2000, 10):
        before = sum(solver._simulation.engine.phase_seconds.values())
        solver.run(steps)
        after = sum(solver._simulation.engine.phase_seconds.values())
        assert sum(solver.report(bandwidth=False).phase_seconds.values()) == pytest.approx(after - before)


@pytest.mark.parametrize(
    ("channel", "schedule", "hidden"),
    [("direct", "", False), ("direct", "overlap", False), ("staged", "overlap", True), ("staged", "blocking", False)],
)
def test_report_of_blocks_says_what_the_exchange_costs(
    channel: str, schedule: str, hidden: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a processor nothing is hidden but what is brought after the interior."""
    monkeypatch.setenv("LBMGPU_CHANNEL", channel)
    monkeypatch.setenv("LBMGPU_SCHEDULE", schedule)
    layout = lbm.Layout.split((32, 32), (1, 2))
    solver = lbm.Solver(lbm.Domain((32, 32), "D2Q9"), lbm.BGK(0.1), layout=layout)
    assert solver.report(bandwidth=False).hidden_fraction is None
    solver.run(50)
    report = solver.report(bandwidth=False)
    assert set(report.phase_seconds) == {"boundary", "update", "exchange"}
    assert report.hidden_fraction is not None
    assert (report.hidden_fraction > 0) == hidden
    assert {(link["from"], link["to"], link["channel"]) for link in report.links} == {(0, 1, channel), (1, 0, channel)}
    assert all(link["bytes"] == 2 * (3 * 32) * 4 for link in report.links)  # through both ends of the periodic axis
    assert "hidden exchange" in str(report)
    assert ("behind the interior" in str(report)) == (schedule == "overlap")


def test_no_schedule_of_another_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LBMGPU_SCHEDULE", "late")
    with pytest.raises(ValueError, match="schedule: 'late' given, must be overlap or blocking"):
        lbm.Solver(lbm.Domain((8, 8), "D2Q9"), lbm.BGK(0.1), layout=lbm.Layout.split((8, 8), (1, 2)))


def test_report_of_a_gpu_names_its_bandwidth() -> None:
    made = lbm.Report({}, 2**20, 100, 10, 50.0, 1e10, {}, None, device="cuda:0")
    assert re.search(r"^copy bandwidth +10.0 GB/s \(measured\)$", str(made), re.MULTILINE)
    assert "x <- a x" not in str(made)
    assert re.search(r"^STREAM scale +10.0 GB/s \(x <- a x, measured\)$", str(report(1, None, 1.0)), re.MULTILINE)


def test_cells_of_bodies_are_not_counted_as_updates() -> None:
    domain = lbm.Domain((8, 8), "D2Q9")
    mask = np.zeros((8, 8), dtype=bool)
    mask[:, :4] = True
    domain.add_body(mask)
    result = lbm.Solver(domain, lbm.BGK(0.1)).run(100)
    assert result.mlups == pytest.approx(100 * 32 / result.seconds / 1e6)
