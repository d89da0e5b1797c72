"""Tests temporary files: they are private, and those that a killed process left are removed at the next write."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from lbmgpu.files import temporary_file
from lbmgpu.files.atomic_write import replacing, replacing_open, write_text

HOLDER = """
import sys, time
from pathlib import Path
from lbmgpu.files.temporary_file import TemporaryFile
file = TemporaryFile(Path(sys.argv[1]))
print(file.path, flush=True)
time.sleep(100)
"""


def test_what_a_killed_process_left_is_removed_at_the_next_write_and_not_before(tmp_path: Path) -> None:
    target = tmp_path / "file"
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(target)], stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        left = Path(holder.stdout.readline().strip())
        assert str(holder.pid) in left.name
        write_text(target, "one")
        assert left.exists()  # its process lives
        holder.send_signal(signal.SIGKILL)
    write_text(tmp_path / "other", "another file's")
    assert left.exists()
    write_text(target, "two")
    assert sorted(os.listdir(tmp_path)) == ["file", "other"]


def test_what_looks_like_one_and_is_none_stays(tmp_path: Path) -> None:
    host = temporary_file._host()
    names = [
        f".tmp-{host}-1-abcdef01-other",
        ".tmp-elsewhere.org-1-abcdef01-file",
        ".tmp-1-2-file",
        f".tmp-{host}-file",
    ]
    for name in names:
        (tmp_path / name).touch()
    (tmp_path / f".tmp-{host}-2-abcdef01-file").symlink_to(tmp_path / names[0])
    os.mkfifo(tmp_path / f".tmp-{host}-3-abcdef01-file")
    (tmp_path / f".tmp-{host}-4-abcdef01-file").mkdir()
    before = set(os.listdir(tmp_path))
    write_text(tmp_path / "file", "text")
    assert set(os.listdir(tmp_path)) == before | {"file"}


def test_a_link_in_its_place_is_not_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target, victim = tmp_path / "file", tmp_path / "victim"
    victim.write_text("mine")
    words = iter(["00000001", "00000001", "00000002"])
    monkeypatch.setattr(temporary_file.secrets, "token_hex", lambda _: next(words))
    with replacing(target) as first:
        pass
    first.symlink_to(victim)
    with replacing_open(target) as descriptor:
        os.write(descriptor, b"text")
    assert victim.read_text() == "mine"
    assert target.read_text() == "text"


def test_a_file_that_is_put_in_its_place_is_not_taken(tmp_path: Path) -> None:
    target = tmp_path / "file"
    target.write_text("old")

    def write() -> None:
        with replacing(target) as path:
            path.unlink()
            path.write_text("someone else's")

    with pytest.raises(OSError, match=r"file: cannot be written \(.* is not the file that was made there\)"):
        write()
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["file"]


def test_it_has_the_mode_of_a_new_file(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_text(tmp_path / "file", "text")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o640


@pytest.mark.parametrize("name", ["n" * 251 + ".txt", "ü" * 120 + ".txt"])
def test_the_longest_names_are_written(name: str, tmp_path: Path) -> None:
    with replacing(tmp_path / name) as path:
        assert path.suffix == ".txt"
        path.write_text("text")
    assert os.listdir(tmp_path) == [name]


def test_no_descriptor_is_left_open(tmp_path: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        write_text(tmp_path / "file", "text")
        with pytest.raises(ZeroDivisionError), replacing(tmp_path / "file"):
            raise ZeroDivisionError
    assert len(os.listdir("/proc/self/fd")) == before
