"""Packages that some tests need: where one is missing they are skipped, and say how it is installed."""

from __future__ import annotations

import importlib
import os
from typing import Any

import pytest

COMMANDS = {"torch": "pip install torch"}
OTHERS = "pip install 'lbmgpu[test]'"


def need(name: str) -> Any:
    """The package of a name; skips the test, or at the top of a module all of its tests, where it is missing."""
    return pytest.importorskip(name, reason=f"needs {name}, which is not installed: {COMMANDS.get(name, OTHERS)}")


def need_torch() -> Any:
    """PyTorch, for tests of what is on a GPU; where a GPU is required it is too."""
    if os.environ.get("LBMGPU_REQUIRE_GPU") == "1":
        return importlib.import_module("torch")
    return need("torch")
