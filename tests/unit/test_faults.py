"""Tests real write failures (full disk, closed folder): the error names the file, and the previous file is kept."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from faults import full_disk, open_folder, read_only

import lbmgpu as lbm
from lbmgpu import cli
from lbmgpu.case import tables
from lbmgpu.files import log_file
from lbmgpu.files.atomic_write import KeptErrors, replacing
from lbmgpu.files.log_file import LogFile
from lbmgpu.plot import speed_picture

from .support import cavity

SHAPE = (14, 12, 10)


def make() -> lbm.Solver:
    return lbm.Solver(cavity(SHAPE, "D3Q19"), lbm.MRT(0.05), force=(1e-5, 0, 0), device="cpu")


def assert_goes_on(path: Path, steps: int) -> None:
    """What is at `path` is of that step, and continues with the bits of a run without it."""
    loaded, whole = lbm.Solver.load(path, device="cpu"), make()
    assert loaded.steps == steps
    whole.step(steps + 5)
    loaded.step(5)
    np.testing.assert_array_equal(loaded.populations(), whole.populations())


@pytest.mark.parametrize("part", [0, 1e-5, 0.01, 0.1, 0.5, 0.99, 1])
def test_a_full_disk_leaves_the_checkpoint(part: float, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """At whatever point of writing it gets full; and nothing but the error is said of it."""
    solver = make()
    solver.step(4)
    path = solver.save(tmp_path / "state.h5")
    before = path.read_bytes()
    solver.step(3)
    capfd.readouterr()
    with full_disk(round(part * (len(before) - 1))), pytest.raises(OSError, match="File too large") as caught:
        solver.save(path)
    assert str(path) in str(caught.value)
    assert capfd.readouterr() == ("", "")
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["state.h5"]
    assert_goes_on(path, 4)
    solver.save(path)
    assert_goes_on(path, 7)


@pytest.mark.parametrize("first", [0, 3, 16])
def test_a_disk_that_is_full_for_a_moment_leaves_no_damaged_checkpoint(first: int, tmp_path: Path) -> None:
    """HDF5 tells nobody of a write that it had put off and that failed, if what it does in the end does not fail.

    Whether it writes just then is its own affair: either all of the new checkpoint is there, or the error and the old.
    """
    solver = make()
    solver.step(4)
    path = solver.save(tmp_path / "state.h5")
    solver.step(3)
    gathered, count, disk = solver._simulation.processes.gathered, 0, ExitStack()

    def watched(*arguments: Any) -> Any:
        nonlocal count
        if count == first:
            disk.enter_context(full_disk(0))
        if count == first + 2:
            disk.close()
        count += 1
        return gathered(*arguments)

    solver._simulation.processes.gathered = watched  # type: ignore[method-assign]
    try:
        with disk:
            solver.save(path)
            expected = 7
    except OSError:
        expected = 4
    assert_goes_on(path, expected)


def test_the_first_error_of_a_file_is_kept(tmp_path: Path) -> None:
    """Though the file could be written again."""
    with KeptErrors(tmp_path / "file") as file:
        file.check()
        with full_disk(5):
            assert file.write(b"123") == 3
            assert file.write(memoryview(np.arange(4.0))) == 32
        assert file.write(b"more") == 4
        assert file.truncate(100) == 100
        with pytest.raises(OSError, match="File too large"):
            file.check()
    assert (tmp_path / "file").stat().st_size == 5
    with KeptErrors(Path("/dev/full")) as file:
        assert file.write(b"123") == 3
        with pytest.raises(OSError, match="No space left on device"):
            file.check()


@pytest.mark.parametrize("method", ["write", "readinto", "seek", "truncate"])
def test_an_error_of_any_kind_in_a_callback_of_hdf5_is_kept(method: str, tmp_path: Path) -> None:
    """What is raised there would be lost, or leave HDF5 in a state that ends the process."""

    class Late:
        """Neither a number nor a buffer, as there is no memory for it."""

        def __index__(self) -> int:
            raise MemoryError

        __buffer__ = __index__

    with KeptErrors(tmp_path / "file") as file:
        getattr(file, method)(Late())
        assert file.write(b"more") == 4
        assert file.readinto(bytearray(4)) == 4
        assert file.error is not None
        with pytest.raises((MemoryError, TypeError)):
            file.check()
    assert (tmp_path / "file").stat().st_size == 0


WRITERS: dict[str, Callable[[lbm.Solver, Path], object]] = {
    "state.h5": lambda solver, path: solver.save(path),
    "fields.vti": lambda solver, path: solver.write_vtk(path),
    "speed.png": lambda solver, path: speed_picture(solver, path),
    "layout.json": lambda solver, path: solver.layout.save(path),
}


@pytest.mark.parametrize("name", WRITERS)
def test_a_full_disk_is_named_and_leaves_the_older_file(name: str, tmp_path: Path) -> None:
    solver, path, write = make(), tmp_path / name, WRITERS[name]
    write(solver, path)
    before = path.read_bytes()
    solver.step(2)
    with full_disk(len(before) // 2), pytest.raises(OSError, match="File too large") as caught:
        write(solver, path)
    assert str(path) in str(caught.value)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == [name]
    write(solver, path)


@pytest.mark.parametrize("name", WRITERS)
def test_a_folder_without_permission_is_named(name: str) -> None:
    solver, write = make(), WRITERS[name]
    with open_folder() as folder:
        path = folder / name
        write(solver, path)
        before = path.read_bytes()
        with read_only(folder), pytest.raises(PermissionError, match="Permission denied") as caught:
            write(solver, path)
        assert str(path) in str(caught.value)
        assert path.read_bytes() == before
        assert os.listdir(folder) == [name]


def test_a_disk_that_gets_full_ends_the_run_with_the_last_checkpoint(tmp_path: Path) -> None:
    path, solver, disk = tmp_path / "state.h5", make(), ExitStack()
    fills = lbm.Every(15, lambda _: disk.enter_context(full_disk(1000)))
    with disk, pytest.raises(OSError, match=r"File too large: '.*state\.h5'"):
        solver.run(40, callbacks=[lbm.Checkpoint(path, 10), fills])
    assert solver.steps == 20
    assert_goes_on(path, 10)


CASE = {
    "domain": {"shape": [16, 12], "stencil": "D2Q9"},
    "bodies": [{"name": "stone", "shape": "box", "low": [3, 3], "high": [6, 5]}],
    "collision": {"model": "BGK", "viscosity": 0.1},
    "run": {"steps": 30, "device": "cpu", "log": {"every": 5}},
    "output": {"checkpoint": {}},
}


def write_case(folder: Path, **output: object) -> Path:
    case = folder / "case.json"
    case.write_text(json.dumps({**CASE, "output": {**CASE["output"], **output}}))  # type: ignore[dict-item]
    return case


def full(path: Path, *, append: bool) -> int:
    """A descriptor of a file on a full disk, in place of that at `path`."""
    return os.open("/dev/full", os.O_WRONLY)


def test_a_log_that_cannot_be_written_does_not_end_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "out" / "run.log"
    monkeypatch.setattr(log_file, "output_file", full)
    assert cli.main(["run", str(write_case(tmp_path)), "--output", str(log.parent)]) == cli.OK
    assert lbm.Solver.load(log.parent / "checkpoint.h5", device="cpu").steps == 30
    said = capsys.readouterr().err
    assert said.count(f"{log}: cannot be written (No space left on device); the run goes on without it") == 1
    assert "Traceback" not in said


def test_a_log_lacks_nothing_once_there_is_room_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    handler = LogFile(tmp_path / "run.log", append=False)
    handler.setFormatter(None)
    record = logging.makeLogRecord({"msg": "a line of the log"})
    handler.handle(record)
    with full_disk(10):
        handler.handle(record)
        handler.handle(record)
    handler.handle(record)
    handler.close()
    assert (tmp_path / "run.log").read_text() == 4 * "a line of the log\n"
    assert capsys.readouterr().err.count("File too large") == 1


def test_a_table_that_cannot_be_written_ends_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    table = tmp_path / "out" / "forces.csv"
    monkeypatch.setattr(tables, "output_file", full)
    case = write_case(tmp_path, forces={"every": 10})
    assert cli.main(["run", str(case), "--output", str(table.parent)]) == cli.FAILED
    assert f"No space left on device: '{table}'" in capsys.readouterr().err


def test_an_output_folder_without_permission_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with open_folder() as folder:
        case = write_case(folder)
        with read_only(folder):
            assert cli.main(["run", str(case), "--output", str(folder / "out")]) == cli.FAILED
        assert f"output folder {folder / 'out'}: cannot be written to (Permission denied)" in capsys.readouterr().err


def test_a_file_behind_a_link_is_replaced_and_the_link_stays(tmp_path: Path) -> None:
    file, link = tmp_path / "file", tmp_path / "link"
    file.write_text("old")
    link.symlink_to(file)
    with replacing(link) as part:
        part.write_text("new")
    assert link.is_symlink()
    assert file.read_text() == "new"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "link"]


def test_what_is_no_file_is_not_replaced(tmp_path: Path) -> None:
    with replacing(Path(os.devnull)) as part:
        part.write_text("lost")
    assert Path(os.devnull).is_char_device()


def test_a_pipe_in_place_of_a_checkpoint_is_refused(tmp_path: Path) -> None:
    """By name, before HDF5 sees it."""
    os.mkfifo(tmp_path / "state.h5")
    with pytest.raises(OSError, match=r"state\.h5: is a .*, must be a regular file"):
        make().save(tmp_path / "state.h5")
