"""How halos travel and when, by the words of the arguments `channel` and `schedule` or of the environment."""

from __future__ import annotations

import os
from typing import Any

from .. import checks

CHANNELS = ("auto", "direct", "staged", "mpi")
SCHEDULES = ("auto", "overlap", "blocking")
_WORDS = {"channel": CHANNELS, "schedule": SCHEDULES}


def check(name: str, given: Any) -> None:
    """Raise TypeError or ValueError unless `given` is a word of ``"channel"`` or ``"schedule"``, or None."""
    if given is not None:
        checks.choice(name, given, _WORDS[name])


def forced(name: str, given: str | None) -> str:
    """What the engine is to be held to; empty where the choice is its own.

    Args:
        name: ``"channel"`` or ``"schedule"``.
        given: a word of it; None for that of the environment variable ``LBMGPU_CHANNEL`` or ``LBMGPU_SCHEDULE``.
    """
    if given is None:
        return os.environ.get(f"LBMGPU_{name.upper()}", "")
    return "" if given == "auto" else given
