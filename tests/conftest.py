"""What all tests share: the import path of the helpers, the random generator and the device under test."""

from __future__ import annotations

import functools
import itertools
import os
import signal
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest

from lbmgpu.parallel.devices import resolve

TESTS = Path(__file__).resolve().parent
if str(TESTS) not in sys.path:
    sys.path.insert(0, str(TESTS))


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--all``, ``--pairs`` and ``--slow``."""
    parser.addoption("--all", action="store_true", help="run slow tests too, and all combinations of parameters")
    parser.addoption("--pairs", action="store_true", help="run slow tests too, and each pair of values of parameters")
    parser.addoption("--slow", action="store_true", help="run slow tests too, with each value of parameters")


def pytest_configure(config: pytest.Config) -> None:
    """Register the markers of these tests; hear Ctrl-C, though whoever started this may not."""
    config.addinivalue_line("markers", "slow: takes more than a few seconds; runs with --all, --pairs and --slow")
    config.addinivalue_line("filterwarnings", "ignore:threads:RuntimeWarning")  # tests of several threads run anywhere
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as a shell leaves it for jobs in the background
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what only ``--all``, ``--pairs`` and ``--slow`` run, unless a test is named on the command line.

    Of a test with several parameters each value of each is run at least once, with ``--pairs`` each pair of values that
    the test knows. A list of cases that is written down, value by value, is one with few values in common.
    """
    if config.getoption("--all") or any("::" in argument for argument in config.args):
        return
    together = 2 if config.getoption("--pairs") else 1
    matrices: dict[tuple[str, bool], list[pytest.Function]] = {}
    kept = set()
    for item in items:
        if hasattr(item, "callspec") and len(item.callspec.params) > 1:
            on_gpu = item.get_closest_marker("gpu") is not None
            matrices.setdefault((item.nodeid.partition("[")[0], on_gpu), []).append(item)
        else:
            kept.add(item)
    for matrix in matrices.values():
        kept.update(_cover(matrix, together))
    if together == 1 and not config.getoption("--slow"):
        kept = {item for item in kept if item.get_closest_marker("slow") is None}
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = [item for item in items if item in kept]


def _cover(matrix: list[pytest.Function], together: int) -> list[pytest.Function]:
    """Few tests of a matrix that have all that any of its tests has of so many values of different parameters."""
    objects: dict[int, int] = {}  # values that have no word of their own are numbered as they come

    def word(value: object) -> str:
        """What tells a value from others, alike in all processes, as addresses of objects are not."""
        is_plain = value is None or isinstance(value, str | int | float | bool)
        return repr(value) if is_plain else f"number {objects.setdefault(id(value), len(objects))}"

    values: dict[pytest.Function, set[object]] = {}
    for item in matrix:
        own = sorted((name, word(value)) for name, value in item.callspec.params.items())
        values[item] = set(itertools.combinations(own, min(together, len(own))))
    missing = set().union(*values.values())
    chosen = []
    while missing:
        best = max(matrix, key=lambda item: (len(values[item] & missing), zlib.crc32(item.nodeid.encode())))
        chosen.append(best)
        missing -= values[best]
    return chosen


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
