"""The quick form of every attack, and that no attack is without one."""

from __future__ import annotations

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
