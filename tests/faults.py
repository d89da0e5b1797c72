"""Test helpers that make file operations really fail, also for root, and that run attacks in child processes.

A limit on the size of files acts like a full disk, and a folder is read-only. An attack runs in a child, so that a
crash or a hang fails the test instead of ending all tests.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NOBODY = 65534
CLOSED = Path("/sys")
"""A folder in which nobody can make a file, root included."""


def addresses_are_taken() -> bool:
    """Whether AddressSanitizer is loaded, which takes terabytes of addresses: they cannot be limited."""
    return "asan" in os.environ.get("LD_PRELOAD", "")


@contextmanager
def full_disk(size: int) -> Iterator[None]:
    """Whatever this process writes beyond the first `size` bytes of a file fails, with "File too large".

    As on a full disk, the files are there and what fits is written. Python ignores the signal that comes with it.
    """
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Nothing can be made in `folder`, which has to be one of `open_folder`; root becomes another user meanwhile."""
    root = os.geteuid() == 0
    folder.chmod(0o555)
    if root:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)
        folder.chmod(0o755)


@contextmanager
def open_folder() -> Iterator[Path]:
    """A folder for files that every user may look into; pytest's own are closed to others."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


def in_child(script: str, *arguments: object, timeout: float) -> Counter[str]:
    """Run a script in a process of its own; the counts that it prints as JSON in its last line.

    Raises:
        AssertionError: it failed, crashed or took longer than `timeout` seconds; with how to repeat it and its output.
    """
    command = [sys.executable, script, *map(str, arguments)]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    )
    try:
        output, _ = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        raise AssertionError(f"did not end within {timeout:g} s: {' '.join(command)}\n{output[-4000:]}") from None
    assert process.returncode == 0, f"exit code {process.returncode}: {' '.join(command)}\n{output[-4000:]}"
    return Counter(json.loads(output.splitlines()[-1]))
