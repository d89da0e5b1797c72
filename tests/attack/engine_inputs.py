"""Random nonsense for every function and method of ``lbmgpu._core``.

What is called and which arguments it takes is read from the signatures of the compiled module; the arguments are drawn
from a pool of nasty values and of nearly right ones, so that calls get past the first check too. Whatever is called may
return, or raise an exception that has a text; engines must step on afterwards with what they are left with. It happens
in child processes with bounded memory, so that a crash, a hang or a huge allocation ends a child, and shows.
"""

from __future__ import annotations

import subprocess
import sys
from ast import literal_eval
from collections import Counter
from pathlib import Path

import numpy as np

NAME = "wrong inputs to the engine"
QUICK, LONG = 300, 20000
PROGRAM = Path(__file__).with_name("_engine_calls.py")
A_PROCESS = 1000
"""Calls in one process."""
SECONDS = 300
"""After which a process hangs; it takes about ten."""


def run(rng: np.random.Generator, count: int, folder: Path, device: str) -> Counter[str]:
    """`count` calls: how many were accepted, and how many raised which exception."""
    outcomes: Counter[str] = Counter()
    while count > 0:
        calls = min(count, A_PROCESS)
        count -= calls
        command = [sys.executable, str(PROGRAM), str(rng.integers(2**31)), str(calls)]
        again = f"repeat it by: {' '.join(command)}"
        try:
            done = subprocess.run(
                command, cwd=folder, capture_output=True, text=True, errors="replace", timeout=SECONDS
            )
        except subprocess.TimeoutExpired as error:
            said = (error.stderr or b"")[-500:]
            raise AssertionError(f"a process hangs; {again}\n{said!r}") from error
        assert done.returncode == 0, f"a process ended with {done.returncode}; {again}\n{done.stderr[-3000:]}"
        outcomes.update(literal_eval(done.stdout))
    return outcomes
