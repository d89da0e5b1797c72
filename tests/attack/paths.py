"""Replaces a file that a case reads or writes by a device, pipe, socket, link, folder, or huge or wrong file.

Each must be rejected by its name at once, or make no difference; nothing behind a link is written to, nothing of a
declared size is allocated, and a folder that another run is using is left alone.
"""

from __future__ import annotations

import io
import json
import os
import resource
import signal
import socket
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import lbmgpu as lbm
from lbmgpu.case.run import run_case
from lbmgpu.files.folder_lock import NAME as LOCK, FolderLock

NAME = "paths"
QUICK, LONG = 20, 300
SECONDS = 20.0
"""That an attack may take: a run of a tiny case on a busy machine."""
ROOM = 2**28
"""Bytes by which the memory of the process may grow; what the files declare is far more."""

CASE: dict[str, Any] = {
    "domain": {"shape": [8, 6], "stencil": "D2Q9"},
    "collision": {"model": "BGK", "viscosity": 0.1},
    "bodies": [{"shape": "mask", "file": "mask.npy"}],
    "run": {"steps": 2, "device": "cpu", "threads": 1, "layout": "layout.json"},
    "output": {"folder": "out", "vtk": True, "checkpoint": {}, "forces": {"every": 1}},
}
READ = ("case.json", "layout.json", "mask.npy")
WRITTEN = ("out/run.log", "out/forces.csv", "out/fields.vti", "out/checkpoint.h5", f"out/{LOCK}", "out")
SECRET = "of somebody else\n"


def run(rng: np.random.Generator, count: int, folder: Path, device: str) -> Counter[str]:
    """See the package; `device` makes no difference."""
    ended: Counter[str] = Counter()
    before = _memory()
    for number in range(count):
        seed = int(rng.integers(2**32))
        place = folder / f"{number}"
        place.mkdir()
        with _alarm(f"numpy.random.default_rng({seed})"):
            ended[_attack(np.random.default_rng(seed), place)] += 1
        assert _memory() - before < ROOM, f"the process took {_memory() - before} bytes; {seed}"
    return ended


def _attack(rng: np.random.Generator, place: Path) -> str:
    """Put an obstacle in place of one file of a case and run it; how it ended."""
    mask = np.zeros((8, 6), bool)
    mask[3, 3] = True
    np.save(place / "mask.npy", mask)
    lbm.Layout.split((8, 6), (2, 1)).save(place / "layout.json")
    (place / "case.json").write_text(json.dumps(CASE))
    (place / "secret").write_text(SECRET)
    if rng.random() < 0.15:
        return _second_run(place)
    reading = rng.random() < 0.5
    name = str(rng.choice(READ if reading else WRITTEN))
    obstacles = {**SPECIAL, **(CONTENT if reading else LOCKS if name.endswith(LOCK) else {})}
    kind = str(rng.choice(list(obstacles)))
    target = place / name
    target.parent.mkdir(exist_ok=True)
    target.unlink(missing_ok=True)
    obstacles[kind](target)
    outcome = _run(place, f"{kind} in place of {name}", name.split("/")[-1])
    assert (place / "secret").read_text() == SECRET, f"{kind} in place of {name}: what it led to was written to"
    if not name.endswith(LOCK) and (place / "out").is_dir():
        assert not (place / "out" / LOCK).exists(), f"{kind} in place of {name}: the lock is left"
    return outcome


def _second_run(place: Path) -> str:
    """A run in a folder where another is at work."""
    (place / "out").mkdir()
    lock = FolderLock(place / "out")
    try:
        outcome = _run(place, "a second run", "out")
        assert outcome == "refused", "a second run was not refused"
        assert sorted(path.name for path in (place / "out").iterdir()) == [LOCK], "a second run left something"
    finally:
        lock.release()
    assert _run(place, "a run after another", "out") == "harmless"
    return "second run refused"


def _run(place: Path, what: str, name: str) -> str:
    before = Path.cwd()
    os.chdir(place)
    try:
        run_case("case.json", progress=False, out=io.StringIO())
    except (lbm.CaseError, ValueError, OSError) as error:
        text = str(error)
        if name.split(".")[0] not in text and not text.startswith("$"):
            raise AssertionError(f"{what}: {error!r} does not name it") from error
        return "refused"
    except Exception as error:
        raise AssertionError(f"{what}: {error!r}") from error
    finally:
        os.chdir(before)
    return "harmless"


def _socket(path: Path) -> None:
    before = Path.cwd()
    with socket.socket(socket.AF_UNIX) as made:
        os.chdir(path.parent)  # the path of a socket has at most 107 bytes
        made.bind(path.name)
    os.chdir(before)


def _huge(path: Path) -> None:
    path.touch()
    for size in (2**40, 2**36, 2**33):  # as large as the file system takes
        try:
            return os.truncate(path, size)
        except OSError:
            pass


def _link(to: str) -> Callable[[Path], None]:
    return lambda path: path.symlink_to(to)


def _holding(content: bytes) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(content)


def _npy(header: str, version: bytes = b"\x01\x00", length: int | None = None) -> bytes:
    text = header.encode("latin1") + b"\n"
    size = (len(text) if length is None else length).to_bytes(2 if version == b"\x01\x00" else 4, "little")
    return b"\x93NUMPY" + version + size + text


def _archive() -> bytes:
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("mask.npy", b"\0" * 2**24)
    return memory.getvalue()


SPECIAL: dict[str, Callable[[Path], object]] = {
    "a pipe": os.mkfifo,
    "a socket": _socket,
    "a folder": Path.mkdir,
    "a full folder": lambda path: (path / "a" / "b").mkdir(parents=True),
    "a link to nothing": _link("nothing/at/all"),
    "a link to itself": lambda path: path.symlink_to(path),
    "a link to another's file": lambda path: path.symlink_to(_top(path) / "secret"),
    "a link to zeros": _link("/dev/zero"),
    "a link to a full device": _link("/dev/full"),
    "a link to nowhere": _link("/dev/null"),
    "a link to the memory": _link("/proc/self/mem"),
    "a huge file": _huge,
    "an empty file": Path.touch,
    "bytes": _holding(bytes(range(256)) * 4),
}
CONTENT: dict[str, Callable[[Path], object]] = {
    "a tebibyte": _holding(_npy("{'descr': '|b1', 'fortran_order': False, 'shape': (1048576, 1048576)}")),
    "a negative shape": _holding(_npy("{'descr': '|b1', 'fortran_order': False, 'shape': (-8, -6)}")),
    "objects": _holding(_npy("{'descr': '|O', 'fortran_order': False, 'shape': (8, 6)}") + b"cos\nsystem\n(S'x'\ntR."),
    "floats": _holding(_npy("{'descr': '<f8', 'fortran_order': False, 'shape': (8, 6)}") + bytes(384)),
    "a long header": _holding(_npy("{", b"\x02\x00", 2**32 - 1)),
    "an unknown version": _holding(_npy("{}", b"\x09\x00")),
    "a deep header": _holding(_npy("(" * 20000)),
    "no cells": _holding(_npy("{'descr': '|b1', 'fortran_order': False, 'shape': (8, 6)}")),
    "odd cells": _holding(_npy("{'descr': '|b1', 'fortran_order': True, 'shape': (8, 6)}") + b"\x02" + bytes(47)),
    "an archive": _holding(_archive()),
    "deep JSON": _holding(b"[" * 10**6),
    "deep objects": _holding(b'{"a":' * 10**5),
    "long JSON": _holding(b"[" + b"1," * 3 * 10**6 + b"1]"),
    "a long number": _holding(b'{"blocks": ' + b"9" * 10**5 + b"}"),
    "many blocks": _holding(json.dumps({"blocks": [{"offset": [0, 0], "size": [8, 6]}] * 2000}).encode()),
    "too many blocks": _holding(b'{"blocks": [' + b"{}," * 10**6 + b"{}]}"),
    "twice a key": _holding(b'{"blocks": [], "blocks": []}'),
    "other JSON": _holding(b'{"blocks": [{"offset": [0, 0], "size": [1e400, "\\u0000"]}]}'),
}
LOCKS: dict[str, Callable[[Path], object]] = {
    "another host's": _holding(json.dumps({"host": "\x1b[2Jelsewhere", "process": 1, "started": "1"}).encode()),
    "a dead process's": _holding(
        json.dumps({"host": os.uname().nodename, "process": 2**22 + 1, "started": "1"}).encode()
    ),
    "nonsense": _holding(b'{"host": [1], "process": "x"}'),
    "deep nonsense": _holding(b"[" * 4096),
}


def _top(path: Path) -> Path:
    """The folder of an attack, from a path in it."""
    return path.parent if (path.parent / "secret").exists() else path.parent.parent


def _memory() -> int:
    """Bytes of memory that this process has had at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


@contextmanager
def _alarm(how: str) -> Iterator[None]:
    """AssertionError where the block takes too long, whatever it waits for."""

    def ring(*_: Any) -> None:
        raise AssertionError(f"hangs; repeat it with {how}")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        yield
    except Exception as error:
        raise AssertionError(f"{error!r}; repeat it with {how}") from error
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
