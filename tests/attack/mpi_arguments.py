"""Ranks make random calls differently: other calls, or the same with other arguments.

All of them must get the same error, which names what differs, and go on together with the state that they had. Where
they make the same call after all, there is no error.
"""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from mpi import launch

NAME = "calls of ranks"
QUICK, LONG = 2, 60

CASES = 30
"""At most in one job, of which each takes a while to start."""


def run(rng: np.random.Generator, count: int, folder: Path, device: str) -> Counter[str]:
    """See the top; `count` calls, in jobs of two to four ranks."""
    total: Counter[str] = Counter()
    try:
        launch.need_mpi()
    except pytest.skip.Exception:
        return Counter({"not made: there is no MPI": count})
    while count > 0:
        now, ranks, seed = min(count, CASES), int(rng.integers(2, 5)), int(rng.integers(2**32))
        with tempfile.TemporaryDirectory(dir=folder) as own:
            try:
                ended = launch.run("random_calls.py", ranks, own, str(seed), str(now), timeout=240)
            except pytest.fail.Exception as error:
                raise AssertionError(f"random_calls.py {seed} {now} on {ranks} ranks hangs: {error}") from None
        found = re.search(r"refused (\d+) same (\d+)", ended.output)
        assert ended.code == 0, ended.output
        assert found is not None, ended.output
        total += Counter({"refused on all ranks": int(found[1]), "the same after all": int(found[2])})
        count -= now
    return total
