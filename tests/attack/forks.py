"""Programs that fork while they step, and after it, with random numbers of threads.

Each makes engines, steps some of them in threads of its own, and forks children meanwhile, which make engines too, use
those of the parent, drop them, or fork again. A child must compute the parent's bits or say at once, by a RuntimeError
that begins with "fork: ", what it cannot use; and what the parent computes must not change.
"""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np

NAME = "forks"
QUICK, LONG = 4, 100
PROGRAM = Path(__file__).with_name("_forking.py")
A_PROCESS = 10
"""Programs one after the other in a process."""
SECONDS = 120
"""After which a process hangs; it takes about two."""


def run(rng: np.random.Generator, count: int, folder: Path, device: str) -> Counter[str]:
    """`count` programs of four forks each: how often a child could do what, and how often it was refused."""
    outcomes: Counter[str] = Counter()
    seeds = [str(seed) for seed in rng.integers(2**31, size=count)]
    for k in range(0, count, A_PROCESS):
        command = [sys.executable, "-W", "ignore", str(PROGRAM), device, *seeds[k : k + A_PROCESS]]
        again = f"repeat it by: {' '.join(command)}"
        try:
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=SECONDS)
        except subprocess.TimeoutExpired as error:
            raise AssertionError(f"a program hangs; {again}") from error
        assert done.returncode == 0, f"a program ended with {done.returncode}; {again}\n{done.stderr}"
        lines = done.stdout.splitlines()
        assert lines, f"a program said nothing; {again}\n{done.stderr}"
        wrong = [line for line in lines if line.startswith("WRONG")]
        assert not wrong, f"{wrong}, each with the number of its program; {again}"
        outcomes.update(line.rpartition(" (")[0] for line in lines)
    return outcomes
