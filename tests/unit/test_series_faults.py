"""Series of fields lose nothing where disks are full, folders closed or processes killed, and go on after a restart."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from faults import CLOSED, full_disk, open_folder, read_only

import lbmgpu as lbm
from lbmgpu.output import series_writer

from .test_series import images, solver_of

FORMATS = ["vtkhdf", "vti", "zarr"]


def steps_in(series: lbm.Series) -> list[int]:
    """The times in the index, as readers find them."""
    if series.path.suffix == ".pvd":
        return [int(float(time)) for time in re.findall('timestep="([^"]*)"', series.path.read_text())]
    if series.path.suffix == ".vtkhdf":
        return [int(time) for time, _, _ in images(series.path)]
    return [int(time) for time in series.open().time]


@pytest.mark.parametrize("format", FORMATS)
def test_a_full_disk_loses_no_earlier_frame(format: str, tmp_path: Path) -> None:
    solver = solver_of()
    series = solver.record(lbm.Series(tmp_path / "flow", ["velocity"], 2, format=format))
    solver.run(4)
    velocity = solver.velocity()
    with full_disk(100), pytest.raises(OSError, match="flow") as failure:
        solver.run(4)
    assert failure.value.filename is not None
    assert steps_in(series) == [0, 2, 4]
    if format != "vti":
        np.testing.assert_array_equal(series.open().velocity[2], velocity)
    solver.run(2)
    assert 10 in steps_in(series)
    assert not list(tmp_path.rglob(".tmp-*"))


def test_a_full_disk_is_named_by_the_next_sample(tmp_path: Path) -> None:
    solver = solver_of()
    series = solver.record(lbm.Series(tmp_path / "flow", ["velocity"], 1))
    series.flush()
    with full_disk(100):
        solver.step(1)
        series._writer.wait()
        with pytest.raises(OSError, match=r"000000000001\.0\.vtkhdf"):
            solver.step(1)


@pytest.mark.parametrize("format", FORMATS)
def test_a_read_only_folder_is_named(format: str) -> None:
    with open_folder() as folder:
        solver_of().record(lbm.Series(folder / "first", ["velocity"], format=format))  # loads all modules
        solver = solver_of()
        with read_only(folder), pytest.raises(PermissionError, match="flow"):
            solver.record(lbm.Series(folder / "flow", ["velocity"], format=format))
        assert solver.recorders == ()
        series = solver.record(lbm.Series(folder / "flow", ["velocity"], format=format))
        series.flush()
        inner = folder / ("flow.zarr/velocity" if format == "zarr" else "flow")
        with read_only(inner), pytest.raises(PermissionError, match="flow"):
            solver.run(1)
        assert steps_in(series) == [0]


def test_a_folder_that_cannot_be(tmp_path: Path) -> None:
    solver = solver_of()
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        solver.record(lbm.Series(tmp_path / "none" / "flow"))
    with pytest.raises(OSError, match=str(CLOSED)):
        solver.record(lbm.Series(CLOSED / "flow"))


@pytest.mark.parametrize("format", FORMATS)
def test_a_folder_that_is_removed_is_named(format: str, tmp_path: Path) -> None:
    solver = solver_of()
    series = solver.record(lbm.Series(tmp_path / "flow", ["velocity"], format=format))
    series.flush()
    shutil.rmtree(tmp_path / ("flow.zarr" if format == "zarr" else "flow"))
    with pytest.raises(FileNotFoundError, match="flow"):
        solver.run(1)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("delay", [0.0, 0.02, 0.1])
@pytest.mark.filterwarnings("ignore::lbmgpu.DroppedFramesWarning")
def test_a_killed_process_leaves_a_series(format: str, delay: float, tmp_path: Path) -> None:
    program = (
        "import sys, lbmgpu as lbm\n"
        "solver = lbm.Solver(lbm.Domain((24, 24, 24), 'D3Q19'), lbm.BGK(0.1), threads=1)\n"
        "solver.initialize(velocity=(0.01, 0.02, 0.03))\n"
        f"solver.record(lbm.Series({str(tmp_path / 'flow')!r}, ('density', 'velocity'), format={format!r}))\n"
        "solver.run(3)\n"
        "print('ready', flush=True)\n"
        "solver.run(100000)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(delay)
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()

    solver = lbm.Solver(lbm.Domain((24, 24, 24), "D3Q19"), lbm.BGK(0.1), threads=1)
    solver.initialize(velocity=(0.01, 0.02, 0.03))
    solver.step(2)
    expected = solver.velocity()
    if format == "vtkhdf":
        found = images(tmp_path / "flow.vtkhdf")
        assert len(found) >= 4
        for at, fields, _ in found:
            np.testing.assert_allclose(fields["velocity"], expected, atol=1e-6, err_msg=f"time {at}")
    path = tmp_path / "flow"
    with pytest.raises(ValueError, match="has the series of a run to step"):
        solver_at(0).record(lbm.Series(path, ("density", "velocity"), format=format))
    series = lbm.Series(path, ("density", "velocity"), format=format)
    solver.record(series)
    solver.run(1)
    assert steps_in(series) == [0, 1, 2, 3]
    assert not list(tmp_path.rglob(".tmp-*"))
    if format != "vti":
        np.testing.assert_allclose(series.open().velocity[-1], expected, atol=1e-6)
        names = {path.name for path in (tmp_path / "flow").glob("*.0.vtkhdf")}
        assert format == "zarr" or names == {f"{k:012d}.0.vtkhdf" for k in range(4)} | {"solid.0.0.vtkhdf"}


def solver_at(steps: int) -> lbm.Solver:
    solver = lbm.Solver(lbm.Domain((24, 24, 24), "D3Q19"), lbm.BGK(0.1), threads=1)
    solver.step(steps)
    return solver


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("due", [True, False])
def test_a_restart_drops_later_frames(format: str, due: bool, tmp_path: Path) -> None:
    solver = solver_of()
    series = solver.record(lbm.Series(tmp_path / "flow", ["velocity"], 3, format=format))
    solver.run(6 if due else 7)
    solver.save(tmp_path / "state.h5")
    solver.run(9)
    velocity = solver.velocity()
    count = len(list(tmp_path.rglob("*")))
    whole = steps_in(series)

    again = solver_of()
    again.restore(tmp_path / "state.h5")
    with pytest.warns(lbm.DroppedFramesWarning, match="later steps"):
        later = again.record(lbm.Series(tmp_path / "flow", ["velocity"], 3, format=format))
    later.flush()
    assert steps_in(later) == [0, 3, 6]
    again.run(9)
    assert steps_in(later) == whole
    assert len(list(tmp_path.rglob("*"))) == count
    np.testing.assert_array_equal(again.velocity(), velocity)
    if due and format != "vti":
        np.testing.assert_array_equal(later.open().velocity[-1], velocity)

    again.restore(tmp_path / "state.h5")
    later.flush()
    assert steps_in(later) == [0, 3, 6]


def test_a_series_of_something_else_is_not_continued(tmp_path: Path) -> None:
    solver = solver_of()
    solver.record(lbm.Series(tmp_path / "flow", ["velocity"], 3))
    solver.run(6)
    for given, message in [
        ({"fields": ["density"]}, "another series, with fields"),
        ({"precision": "float64"}, "another series, with precision float32, must be float64"),
        ({"stride": 2}, "another series, with cells"),
        ({"units": lbm.Units(length_phys=1.0, time_phys=1.0)}, "another series, with cell_phys"),
        ({"format": "vti"}, "another series, with format"),
    ]:
        other = solver_of()
        other.step(3)
        with pytest.raises(ValueError, match=message):
            other.record(lbm.Series(tmp_path / "flow", **({"fields": ["velocity"]} | given)))
    assert len(images(tmp_path / "flow.vtkhdf")) == 3
    other = solver_of()
    series = other.record(lbm.Series(tmp_path / "flow", ["density"], overwrite=True))
    other.run(1)
    assert len(images(series.path)) == 2
    assert "velocity" not in images(series.path)[0][1]


def test_overwrite_deletes_no_other_files(tmp_path: Path) -> None:
    (tmp_path / "flow").mkdir()
    (tmp_path / "flow" / "thesis.txt").write_text("much work")
    for overwrite in (False, True):
        with pytest.raises(ValueError, match="which is there and no series"):
            solver_of().record(lbm.Series(tmp_path / "flow", overwrite=overwrite))
    solver_of().record(lbm.Series(tmp_path / "wake"))
    (tmp_path / "wake" / "thesis.txt").write_text("much work")
    solver_of().record(lbm.Series(tmp_path / "wake", overwrite=True))
    assert (tmp_path / "wake" / "thesis.txt").exists()


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"file": "lbmgpu series", "version": 1}', "x" * 10])
def test_a_list_that_is_none(text: str, tmp_path: Path) -> None:
    (tmp_path / "flow").mkdir()
    (tmp_path / "flow" / "series.json").write_text(text)
    with pytest.raises(ValueError, match=r"series\.json is not the list of a series"):
        solver_of().record(lbm.Series(tmp_path / "flow"))


def test_at_most_two_frames_are_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    solver = solver_of()
    series = solver.record(lbm.Series(tmp_path / "flow", ["velocity"], 1))
    series.flush()
    held, most = [0], [0]
    reserve, release = series_writer.Writer.reserve, series._write

    def counted(writer: series_writer.Writer) -> None:
        reserve(writer)
        held[0] += 1
        most[0] = max(most[0], held[0])

    def slow(*arguments: object) -> None:
        time.sleep(0.02)
        release(*arguments)  # type: ignore[arg-type]
        held[0] -= 1

    monkeypatch.setattr(series_writer.Writer, "reserve", counted)
    monkeypatch.setattr(series, "_write", slow)
    solver.run(10)
    assert most == [2]
    assert series.steps == tuple(range(11))


def test_frames_are_written_when_a_program_ends(tmp_path: Path) -> None:
    program = (
        "import lbmgpu as lbm\n"
        "solver = lbm.Solver(lbm.Domain((24, 24, 24), 'D3Q19'), lbm.BGK(0.1), threads=1)\n"
        f"solver.record(lbm.Series({str(tmp_path / 'flow')!r}))\n"
        "solver.step(2)\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
    assert [time for time, _, _ in images(tmp_path / "flow.vtkhdf")] == [0, 1, 2]


def test_a_forked_child_ends(tmp_path: Path) -> None:
    solver = solver_of()
    series = solver.record(lbm.Series(tmp_path / "flow", ["velocity"]))
    child = os.fork()
    if child == 0:
        series._writer.wait()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    series.flush()
    assert series.steps == (0,)
