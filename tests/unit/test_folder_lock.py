"""One run a folder: another one is refused while it lasts, and what a killed run left is taken over."""

from __future__ import annotations

import fcntl
import json
import os
import platform
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lbmgpu.files import folder_lock
from lbmgpu.files.folder_lock import NAME, FolderLock

HOLD = """
import sys, time
from pathlib import Path
from lbmgpu.files.folder_lock import FolderLock
lock = FolderLock(Path(sys.argv[1]))
print("held", flush=True)
time.sleep(60)
"""


def write(folder: Path, **owner: Any) -> Path:
    (folder / NAME).write_text(json.dumps(owner))
    return folder / NAME


def test_a_folder_is_given_to_one(tmp_path: Path) -> None:
    lock = FolderLock(tmp_path)
    owner = json.loads((tmp_path / NAME).read_text())
    assert (owner["host"], owner["process"]) == (platform.node(), os.getpid())
    words = f"output folder {tmp_path}: in use by process {os.getpid()} on .*delete {tmp_path / NAME}"
    with pytest.raises(OSError, match=words):
        FolderLock(tmp_path)
    lock.release()
    assert not list(tmp_path.iterdir())
    lock.release()
    FolderLock(tmp_path).release()


def test_what_a_killed_run_left_is_taken_over(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        with pytest.raises(OSError, match=f"in use by process {process.pid}"):
            FolderLock(tmp_path)
        process.send_signal(signal.SIGKILL)
    lock = FolderLock(tmp_path)
    assert lock.taken_over == f"{tmp_path / NAME} was left by process {process.pid}, which has ended: taken over"
    lock.release()


def test_the_lock_of_another_host_is_left(tmp_path: Path) -> None:
    text = write(tmp_path, host="elsewhere", process=1, started="1").read_text()
    with pytest.raises(OSError, match=r"in use by process 1 on elsewhere; .* delete"):
        FolderLock(tmp_path)
    assert (tmp_path / NAME).read_text() == text


@pytest.mark.parametrize("content", ["", "{", "[1]", '{"host": 1}', "\0\0"])
def test_a_lock_that_names_nobody_is_of_a_killed_run(tmp_path: Path, content: str) -> None:
    (tmp_path / NAME).write_text(content)
    FolderLock(tmp_path).release()
    assert not list(tmp_path.iterdir())


def test_without_locks_of_the_file_system_processes_are_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(*_: Any) -> None:
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr(fcntl, "flock", unknown)
    host, alive = platform.node(), os.getppid()
    write(tmp_path, host=host, process=alive, started=folder_lock._started(alive))
    with pytest.raises(OSError, match=f"in use by process {alive}"):
        FolderLock(tmp_path)
    write(tmp_path, host=host, process=alive, started="another process had this number")
    FolderLock(tmp_path).release()
    (tmp_path / NAME).touch()
    with pytest.raises(OSError, match="in use by another run"):
        FolderLock(tmp_path)


def test_a_lock_that_was_deleted_by_hand_is_not_given_back_twice(tmp_path: Path) -> None:
    first = FolderLock(tmp_path)
    (tmp_path / NAME).unlink()
    second = FolderLock(tmp_path)
    first.release()
    assert (tmp_path / NAME).exists()
    second.release()
    assert not (tmp_path / NAME).exists()
