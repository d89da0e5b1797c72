"""How OpenMP's threads wait: the package's own setting reaches libgomp, the user's stays, and neither is passed on."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from lbmgpu.spinning import SPINS

SETTINGS = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT")


def spins(**settings: str) -> tuple[int, list[str | None]]:
    """The spins that libgomp reports in a process with `settings`, and these as they are after the import."""
    environment = {name: value for name, value in os.environ.items() if name not in SETTINGS}
    code = f"import os, lbmgpu.cli; print([os.environ.get(name) for name in {SETTINGS}])"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**environment, **settings, "OMP_DISPLAY_ENV": "verbose"},
        capture_output=True,
        text=True,
        check=True,
    )
    found = re.search(r"GOMP_SPINCOUNT = '(\d+)'", done.stderr)
    if found is None:
        pytest.skip("another OpenMP than libgomp")
    return int(found[1]), eval(done.stdout)


def test_own_setting_reaches_openmp_and_goes_again() -> None:
    assert spins() == (SPINS, [None, None])


@pytest.mark.parametrize(("settings", "count"), [({"GOMP_SPINCOUNT": "77"}, 77), ({"OMP_WAIT_POLICY": "passive"}, 0)])
def test_the_users_setting_stays(settings: dict[str, str], count: int) -> None:
    assert spins(**settings) == (count, [settings.get(name) for name in SETTINGS])
