"""Tests the number of CPU threads, threads that cannot be created, and programs that end while a thread is stepping."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest
from faults import addresses_are_taken

from lbmgpu import _core


def run(program: str) -> subprocess.CompletedProcess[str]:
    """A Python program in a process of its own."""
    return subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=120)


SETUP = 'dict(stencil="D2Q9", shape=[64, 64], collision="bgk", viscosity=0.1, faces=["periodic"] * 4)'


@pytest.mark.skipif(addresses_are_taken(), reason="the sanitizer takes terabytes of addresses")
def test_threads_that_cannot_be_created_are_an_error_and_fewer_work() -> None:
    done = run(
        f"""
        import resource, numpy
        from lbmgpu import _core
        resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
        for attempt in range(3):
            try:
                _core.Engine(**{SETUP}, threads=2000)
            except RuntimeError as error:
                print(error)
        engine = _core.Engine(**{SETUP}, threads=2)
        engine.step(3)
        print(engine.steps)
        """
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 4
    assert all(line.startswith("threads: 2000 given, but the system does not let") for line in lines[:3])
    assert lines[3] == "3"


@pytest.mark.parametrize("threads", [-1, 4097, 2**31 - 1])
def test_absurd_numbers_of_threads_are_refused(threads: int) -> None:
    with pytest.raises(ValueError, match=f"threads: {threads} given, must be"):
        _core.Engine(stencil="D2Q9", shape=[8, 8], collision="bgk", viscosity=0.1, threads=threads)
    with pytest.raises(ValueError, match="threads"):
        _core.inplace_stream_scale(1024, threads, 1)


@pytest.mark.parametrize(("setting", "threads"), [("1", 1), ("1,2", 1), ("9999", None), ("none", None), ("0", None)])
def test_the_default_is_the_batch_systems_number_within_the_cores(
    setting: str, threads: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", setting)
    assert _core.default_threads() == (threads or len(os.sched_getaffinity(0)))


@pytest.mark.parametrize("threads", [1, 2])
def test_a_daemon_thread_that_steps_at_the_end_lets_the_program_end(threads: int) -> None:
    done = run(
        f"""
        import threading, time
        import numpy as np
        from lbmgpu import _core
        engine = _core.Engine(**{SETUP}, threads={threads})
        out = np.empty((64, 64))
        def forever(call):
            while True:
                call()
        for call in (lambda: engine.step(1), lambda: engine.step(500), lambda: engine.density(out)):
            threading.Thread(target=forever, args=(call,), daemon=True).start()
        time.sleep(0.2)
        """
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
