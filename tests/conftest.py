"""What all tests share: the import path of the helpers, the random generator and the device under test."""

from __future__ import annotations

import sys
import zlib
from pathlib import Path

import numpy as np
import pytest

TESTS = Path(__file__).resolve().parent
if str(TESTS) not in sys.path:
    sys.path.insert(0, str(TESTS))


def pytest_configure(config: pytest.Config) -> None:
    """Register the markers of these tests."""
    config.addinivalue_line("markers", "slow: takes more than a few seconds; leave out with -m 'not slow'")


@pytest.fixture(params=["cpu"])
def device(request: pytest.FixtureRequest) -> str:
    """The device that the test's solvers run on."""
    return request.param


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """A generator whose numbers depend on the test's name only."""
    return np.random.default_rng(zlib.crc32(request.node.name.encode()))


@pytest.fixture
def data() -> Path:
    """The folder of published tables."""
    return TESTS / "data"
