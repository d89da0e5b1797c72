"""Tests that a test which lacks a package is skipped, and says what is missing and how it is installed."""

from __future__ import annotations

import sys

import numpy as np
import packages
import pytest


def test_a_missing_package_is_named_with_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, command in (("pandas", r"pip install 'lbmgpu\[test\]'"), ("torch", "pip install torch")):
        monkeypatch.setitem(sys.modules, name, None)
        with pytest.raises(pytest.skip.Exception, match=f"needs {name}, which is not installed: {command}"):
            packages.need(name)


def test_a_package_that_is_there_is_imported() -> None:
    assert packages.need("numpy") is np
