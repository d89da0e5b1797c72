"""Fuzz and fault-injection tests, after which nothing may be lost, crash or hang.

They attack the package with random inputs, damaged files, kills, interrupts, forks and full disks. Each module beside
this file, but for those whose names begin with an underscore, is one attack: it has its `NAME`, the numbers of attacks
of its quick and its long form, `QUICK` and `LONG`, and ``run(rng, count, folder, device)``, which makes `count` of
them, returns how many ended how, and raises AssertionError where one did harm. The tests run the quick forms;
``.ci/attack --long`` the long ones.
"""

from __future__ import annotations

import importlib
import pkgutil
import time
import zlib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import numpy as np


@dataclass(frozen=True)
class Outcome:
    """What an attack came to: how many attacks ended how, and in how many seconds."""

    name: str
    ended: Counter[str]
    seconds: float


def attacks() -> dict[str, ModuleType]:
    """The modules of all attacks, by the name of the attack."""
    names = sorted(found.name for found in pkgutil.iter_modules(__path__) if not found.name.startswith(("test_", "_")))
    return {module.NAME: module for module in (importlib.import_module(f"{__name__}.{name}") for name in names)}


def make(attack: ModuleType, seed: int, count: int, folder: Path, device: str) -> Outcome:
    """Make `count` attacks, which `seed` and the name of the attack decide."""
    start = time.perf_counter()
    ended = attack.run(np.random.default_rng([seed, zlib.crc32(attack.NAME.encode())]), count, folder, device)
    return Outcome(attack.NAME, ended, time.perf_counter() - start)
