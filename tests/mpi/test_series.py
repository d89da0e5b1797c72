"""Series of fields that several ranks write together."""

from __future__ import annotations

from pathlib import Path

import pytest

from . import launch


@pytest.mark.slow
@pytest.mark.parametrize("count", launch.counts(2, 3))
def test_ranks_write_one_series(count: int, tmp_path: Path) -> None:
    launch.succeed("series.py", count, str(tmp_path))
