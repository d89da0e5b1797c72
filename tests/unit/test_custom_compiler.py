"""The host's compiler of users' collisions: what it is called with, what is kept of its work, and how it may fail."""

from __future__ import annotations

import os
import re
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lbmgpu as lbm
from lbmgpu import _core
from lbmgpu.engine import settings
from lbmgpu.parallel import kernel_cache

ROOT = Path(__file__).parents[2]
BGK = (ROOT / "src" / "cpp" / "lattice" / "collisions" / "bgk.h").read_text().replace("BGK :", "OwnBGK :")


def solver(collision: Any, **options: Any) -> lbm.Solver:
    options = {"device": "cpu", "threads": 1, **options}
    return lbm.Solver(lbm.Domain((8, 6), "D2Q9"), collision, **options)


def bits(collision: Any) -> np.ndarray[Any, Any]:
    own = solver(collision)
    own.initialize(velocity=np.random.default_rng(1).uniform(-0.02, 0.02, (2, 8, 6)))
    own.step(5)
    return own.populations()


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder of kernels."""
    monkeypatch.setenv("LBMGPU_CACHE_DIR", str(tmp_path / "kernels"))
    return tmp_path / "kernels"


def compiler(folder: Path, compiles: str) -> Path:
    """A compiler that writes its calls but those for its macros to a log, and runs `compiles`."""
    script = folder / "compiler"
    script.write_text(f'#!/bin/sh\n[ "$1" = -dM ] && exec g++ "$@"\necho "$@" >> {folder}/log\n{compiles}\n')
    script.chmod(0o755)
    return script


def test_without_a_compiler_the_error_says_what_to_install(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    collision = lbm.CustomCollision(BGK, {"viscosity": 0.1})
    monkeypatch.setenv("CXX", "no-such-compiler -m64")
    with pytest.raises(lbm.CompileError, match=r"'no-such-compiler' does not run, the one that CXX names; install"):
        solver(collision)
    monkeypatch.delenv("CXX")
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(lbm.CompileError, match=r"'g\+\+' does not run; install g\+\+ .* or use device 'cuda'"):
        solver(collision)


RUN = """
import json, sys
import lbmgpu as lbm
collision = lbm.CustomCollision(open(sys.argv[1]).read(), {"viscosity": 0.1})
solver = lbm.Solver(lbm.Domain((8, 6), "D2Q9"), collision, device="cpu", threads=1)
solver.step(2)
"""


def test_the_second_start_compiles_nothing(cache: Path, tmp_path: Path) -> None:
    header = tmp_path / "own.h"
    header.write_text(BGK)
    environment = os.environ | {"CXX": str(compiler(tmp_path, 'exec g++ "$@"')), "TMPDIR": str(tmp_path / "tmp")}
    (tmp_path / "tmp").mkdir()
    for _ in range(2):
        subprocess.run([sys.executable, "-c", RUN, header], env=environment, check=True)
        assert len((tmp_path / "log").read_text().splitlines()) == 1
    assert list((tmp_path / "tmp").iterdir()) == []
    kept = list(cache.iterdir())
    assert len(kept) == 2  # the kernels, and which compiler made them
    assert {stat.S_IMODE(file.stat().st_mode) for file in kept} == {0o600}
    largest = max(kept, key=lambda file: file.stat().st_size)
    largest.write_bytes(largest.read_bytes()[:-100])  # damaged: compiled again
    subprocess.run([sys.executable, "-c", RUN, header], env=environment, check=True)
    assert len((tmp_path / "log").read_text().splitlines()) == 2


@pytest.mark.slow
def test_several_processes_and_threads_compile_at_once(cache: Path, tmp_path: Path) -> None:
    header = tmp_path / "own.h"
    header.write_text(BGK)
    processes = [subprocess.Popen([sys.executable, "-c", RUN, header]) for _ in range(2)]
    text = BGK + "// of threads\n"
    made: list[Any] = []

    def run() -> None:
        own = solver(lbm.CustomCollision(text, {"viscosity": 0.1}))
        own.step(3)
        made.append(own.populations())

    threads = [threading.Thread(target=run) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [process.wait() for process in processes] == [0, 0]
    assert len(made) == 3
    assert len(list(cache.iterdir())) == 4


@pytest.mark.parametrize("fails", ["exit 1", 'g++ "$@"; exit 3', "kill -9 $$", "true"])
def test_a_compiler_that_fails_leaves_nothing(
    fails: str, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CXX", str(compiler(tmp_path, fails)))
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    with pytest.raises(lbm.CompileError, match="'OwnBGK' does not compile"):
        solver(lbm.CustomCollision(BGK + f"// {fails}", {"viscosity": 0.1}))
    assert not cache.exists() or not list(cache.iterdir())
    assert list((tmp_path / "tmp").iterdir()) == []


def test_other_arithmetic_that_the_compiler_is_asked_for_changes_no_bit(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CXX", "g++ -ffast-math -fassociative-math -ffp-contract=fast -frounding-math")
    text = re.sub(
        r"const V rate = .*;",
        "const V rate = (omega - Scalar<V>(1.5) * omega + omega) * (omega / omega) - omega + Scalar<V>(0) * omega;",
        BGK,
    )
    assert text != BGK
    fast = bits(lbm.CustomCollision(text, {"viscosity": 0.1}))
    monkeypatch.delenv("CXX")
    plain = bits(lbm.CustomCollision(text, {"viscosity": 0.1}))
    np.testing.assert_array_equal(fast, plain)
    assert len(list(cache.iterdir())) == 3  # the kernels of each


@pytest.mark.parametrize("words", ["-Ofast", "-ffast-math -Wl,--undefined=x"])
def test_denormal_numbers_of_the_thread_stay(words: str, cache: Path, tmp_path: Path) -> None:
    script = tmp_path / "fast"
    script.write_text(f'#!/bin/sh\nexec g++ "$@" {words}\n')  # behind all that the package says
    script.chmod(0o755)
    code = RUN + "import numpy as np\nassert np.float64(5e-324) * 1.0 != 0.0\n"
    header = tmp_path / "own.h"
    header.write_text(BGK)
    subprocess.run([sys.executable, "-c", code, header], env=os.environ | {"CXX": str(script)}, check=True)


def test_a_compiler_in_a_folder_with_a_space_can_be_named(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "of mine"
    folder.mkdir()
    monkeypatch.setenv("CXX", f"'{compiler(folder, 'exit 7')}'")
    with pytest.raises(lbm.CompileError, match=r"does not compile for CPUs \(.*of mine/compiler 1"):
        solver(lbm.CustomCollision(BGK, {"viscosity": 0.1}))


def test_kept_kernels_need_no_compiler(cache: Path, tmp_path: Path) -> None:
    header = tmp_path / "own.h"
    header.write_text(BGK)
    subprocess.run([sys.executable, "-c", RUN, header], check=True)
    for without in ({"CXX": "no-such-compiler"}, {"PATH": "/nowhere"}):
        subprocess.run([sys.executable, "-c", RUN, header], env=os.environ | without, check=True)
    header.write_text(BGK + "// another")
    done = subprocess.run(
        [sys.executable, "-c", RUN, header], env=os.environ | {"CXX": "none"}, capture_output=True, text=True
    )
    assert "'none' does not run" in done.stderr


def test_a_kept_file_that_cannot_be_loaded_is_compiled_again(cache: Path, tmp_path: Path) -> None:
    script = compiler(tmp_path, 'g++ "$@"; for last; do :; done; [ -e {0}/broken ] || printf x > "$last"')
    script.write_text(script.read_text().replace("{0}", str(tmp_path)))
    header = tmp_path / "own.h"
    header.write_text(BGK)
    run = [sys.executable, "-c", RUN, header]
    environment = os.environ | {"CXX": str(script)}
    done = subprocess.run(run, env=environment, capture_output=True, text=True)
    assert "the kernels of 'OwnBGK' cannot be loaded" in done.stderr
    assert not cache.exists() or not list(cache.iterdir())
    (tmp_path / "broken").touch()
    subprocess.run(run, env=environment, check=True)
    largest = max(cache.iterdir(), key=lambda file: file.stat().st_size)
    head, _, _ = largest.read_bytes().partition(b"\n")
    words = head.split(b" ")
    import hashlib

    code = b"not of this machine"
    words[4] = hashlib.sha256(b" ".join(words[5:]) + b"\n" + code).hexdigest().encode()
    largest.write_bytes(b" ".join(words) + b"\n" + code)  # as another machine's that cannot be loaded here
    calls = len((tmp_path / "log").read_text().splitlines())
    for more in (1, 1):
        subprocess.run(run, env=environment, check=True)
        assert len((tmp_path / "log").read_text().splitlines()) == calls + more


def test_libraries_are_known_apart_whatever_descriptors_are_closed(cache: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    found = [numbers_of(f"// {k}\n") for k in range(3)]
    assert found[0] == found[1] == found[2]
    assert len(os.listdir("/proc/self/fd")) == before


def numbers_of(more: str) -> list[float]:
    collision = lbm.CustomCollision(BGK + more, {"viscosity": 0.1})
    kinds = {"stencil": "D2Q9", "precision": "float32", "storage": "float32"}
    return _core.custom_numbers(collision.engine_text(), {"viscosity": 0.1}, **kinds)


def test_a_process_that_ignores_its_children_compiles(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", f"{sys.executable and 'g++'} -O1")  # none that is known
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        assert numbers_of("// ignored\n")
        with pytest.raises(lbm.CompileError, match="own"):
            numbers_of("own\n")
    finally:
        signal.signal(signal.SIGCHLD, before)


def test_a_folder_that_is_not_there_is_named(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path / "none"))
    with pytest.raises(lbm.CompileError, match=r"no place to compile it in: .*/none/.*: No such .* TMPDIR names"):
        numbers_of("// nowhere\n")


def test_what_killed_processes_have_left_is_removed(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    old, new, other = (tmp_path / name for name in ("lbmgpu-compile-old", "lbmgpu-compile-new", "lbmgpu-old"))
    for folder in (old, new, other):
        folder.mkdir()
        (folder / "file").touch()
    for folder in (old, other):
        os.utime(folder, (time.time() - 90000,) * 2)
    numbers_of("// after others\n")
    assert not old.exists()
    assert new.exists()
    assert other.exists()


def test_an_interrupt_ends_the_compiler(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = compiler(tmp_path, f"echo $$ > {tmp_path}/id; exec sleep 100")
    monkeypatch.setenv("CXX", str(script))
    begun = time.monotonic()

    def interrupt() -> None:
        while not (tmp_path / "id").exists() and time.monotonic() < begun + 20:
            time.sleep(0.01)
        time.sleep(0.1)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        numbers_of("// interrupted\n")
    thread.join()
    assert time.monotonic() < begun + 30
    assert not Path("/proc", (tmp_path / "id").read_text().strip()).exists()


def test_a_refused_folder_of_kernels_is_warned_of(cache: Path) -> None:
    cache.mkdir()
    cache.chmod(0o777)
    kernel_cache.warn_if_refused.cache_clear()
    with pytest.warns(RuntimeWarning, match="kernel cache: .* can be written by others"):
        solver(lbm.CustomCollision(BGK, {"viscosity": 0.1}))
    kernel_cache.warn_if_refused.cache_clear()


def test_devices_that_make_other_parameters_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    collision = lbm.CustomCollision(BGK, {"viscosity": 0.1})
    checked = settings.check_settings(lbm.Domain((8, 6), "D2Q9"), collision, device=["cpu", "cpu"])
    object.__setattr__(checked, "devices", ("cpu", "cuda:0"))
    rows = {"cpu": [1.25, 0.0], "cuda:0": [1.2500000000000002, 0.0]}
    monkeypatch.setattr(settings._core, "custom_numbers", lambda *_, device, **__: rows[device])
    with pytest.raises(ValueError, match=r"makes \[1\.25, 0\.0\] on cpu and \[1\.2500000000000002, 0\.0\] on cuda:0"):
        checked._collision_arguments(_core.stencil("D2Q9"))
