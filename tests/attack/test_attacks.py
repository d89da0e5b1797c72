"""The quick form of every attack, and that no attack is without one."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType

import pytest

from . import attacks, make


@pytest.mark.parametrize("attack", attacks().values(), ids=attacks().keys())
def test_nothing_is_lost(attack: ModuleType, tmp_path: Path) -> None:
    """All attacks of the quick form were made, and none did harm."""
    assert make(attack, 1, attack.QUICK, tmp_path, "cpu").ended.total() >= attack.QUICK


@pytest.mark.parametrize("attack", attacks().values(), ids=attacks().keys())
def test_the_long_form_is_longer(attack: ModuleType) -> None:
    assert 0 < attack.QUICK < attack.LONG


def test_a_hang_within_compiled_code_ends_the_attack_of_meshes() -> None:
    """And its process shows the generator that repeats it; a signal handler of Python would never run there."""
    program = (
        "from attack import meshes\nimport collections, itertools\n"
        "with meshes.time_limit(123, 0.5):\n    collections.deque(itertools.repeat(0), maxlen=0)\n"
    )
    start = time.perf_counter()
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=Path(__file__).parents[1], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert time.perf_counter() - start < 50
    assert "default_rng(123)" in done.stderr
    assert "Timeout" in done.stderr
