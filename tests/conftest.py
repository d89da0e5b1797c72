"""What all tests share: the import path of the helpers, the random generator and the device under test."""

from __future__ import annotations

import functools
import os
import signal
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest

from lbmgpu.devices import resolve

TESTS = Path(__file__).resolve().parent
if str(TESTS) not in sys.path:
    sys.path.insert(0, str(TESTS))


def pytest_configure(config: pytest.Config) -> None:
    """Register the markers of these tests; hear Ctrl-C, though whoever started this may not."""
    config.addinivalue_line("markers", "slow: takes more than a few seconds; leave out with -m 'not slow'")
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as a shell leaves it for jobs in the background
        signal.signal(signal.SIGINT, signal.default_int_handler)


@functools.cache
def missing_gpu() -> str:
    """Why no GPU can be used; empty if one can."""
    try:
        return "" if resolve("cuda") else "no GPU"
    except (RuntimeError, ValueError) as error:
        return str(error)


@pytest.fixture(params=["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def device(request: pytest.FixtureRequest) -> str:
    """The device that the test's solvers run on: each test runs on the CPU, and on a GPU where there is one.

    With LBMGPU_REQUIRE_GPU=1 a GPU that cannot be used is a failure.
    """
    if request.param == "cuda":
        need_gpu()
    return request.param


@pytest.fixture
def gpu() -> str:
    """The first GPU, for tests of what there is on a GPU only."""
    need_gpu()
    return "cuda:0"


def need_gpu() -> None:
    """Skip the test where no GPU can be used, or fail it if one is required."""
    if missing_gpu():
        if os.environ.get("LBMGPU_REQUIRE_GPU") == "1":
            pytest.fail(f"a GPU is required: {missing_gpu()}")
        pytest.skip(f"needs a GPU: {missing_gpu()}")


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """A generator whose numbers depend on the test's name only."""
    return np.random.default_rng(zlib.crc32(request.node.name.encode()))


@pytest.fixture
def data() -> Path:
    """The folder of published tables."""
    return TESTS / "data"
