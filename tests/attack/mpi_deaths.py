"""One rank of a job dies, fails or leaves, in some way, phase and moment, while the others go on with it.

The job must end soon, with a status that is not 0, and the checkpoint that it leaves must be whole: the state of its
step, to the last bit.
"""

from __future__ import annotations

import re
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from mpi import launch
from mpi.programs import dying

import lbmgpu as lbm

NAME = "deaths of ranks"
QUICK, LONG = 1, 20

SECONDS = 15.0
"""That a job may take from the death to its end."""


def run(rng: np.random.Generator, count: int, folder: Path, device: str) -> Counter[str]:
    """See the top; `count` jobs of two or three ranks."""
    total: Counter[str] = Counter()
    try:
        launch.need_mpi()
    except pytest.skip.Exception:
        return Counter({"not made: there is no MPI": count})
    for _ in range(count):
        way = str(rng.choice([*dying.FROM_ANYWHERE, *dying.FROM_CODE, "finished"]))
        phases = dying.IN_FUNCTIONS if way in dying.FROM_CODE else ("between",)
        if way in dying.FROM_ANYWHERE:
            phases = (*dying.IN_FUNCTIONS, *dying.IN_CALLS)
        ranks, rounds = int(rng.integers(2, 4)), int(rng.integers(1, 12))
        arguments = [way, str(rng.choice(phases)), str(rng.integers(ranks)), str(rounds)]
        what = f"dying.py {arguments} on {ranks} ranks"
        with tempfile.TemporaryDirectory(dir=folder) as own:
            try:
                ended = launch.run("dying.py", ranks, own, *arguments, timeout=120)
            except pytest.fail.Exception as error:
                raise AssertionError(f"{what} hangs: {error}") from None
            after = time.time()
            left = re.findall(r"leaves at ([\d.]+)", ended.output)
            assert left, f"{what}: {ended.output}"
            assert after - float(left[0]) < SECONDS, f"{what} took {after - float(left[0]):.1f} s: {ended.output}"
            assert ended.code != 0, f"{what}: {ended.output}"
            check(Path(own) / "state.h5")
        total[way] += 1
    return total


def check(path: Path) -> None:
    """The checkpoint is what a solver by itself has at its step."""
    alone = dying.make()
    loaded = lbm.Solver.load(path, domain=alone.domain, device="cpu", threads=1)
    alone.step(loaded.steps)
    np.testing.assert_array_equal(loaded.populations(), alone.populations())
