"""Loads the engine, and with it OpenMP, such that its threads do not spin for long where they wait for each other.

On a machine whose cores other programs keep busy, a thread that spins takes the time of the one it waits for: a run
becomes up to 200 times slower. libgomp reads its settings once, when it is loaded.
"""

from __future__ import annotations

import importlib
import os

SPINS = 1000
"""About the least with which small domains keep their speed on idle cores; measured, see docs/performance.md."""


def load_engine() -> None:
    """Import ``_core`` with `SPINS`, unless the user's environment says how to wait; child processes see none of it."""
    own = "OMP_WAIT_POLICY" not in os.environ and "GOMP_SPINCOUNT" not in os.environ
    if own:
        os.environ["GOMP_SPINCOUNT"] = str(SPINS)
    try:
        importlib.import_module("._core", __package__)
    finally:
        if own:
            del os.environ["GOMP_SPINCOUNT"]


load_engine()
