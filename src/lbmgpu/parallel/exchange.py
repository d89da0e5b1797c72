"""The channel and the schedule of halo exchanges: the arguments `channel` and `schedule`, and environment variables."""

from __future__ import annotations

import os
from typing import Any

from .. import checks

CHANNELS = ("auto", "direct", "staged", "mpi")
SCHEDULES = ("auto", "overlap", "blocking")
_WORDS = {"channel": CHANNELS, "schedule": SCHEDULES}


def check(name: str, given: Any) -> None:
    """Raise TypeError or ValueError unless `given` is None or a value of `name`, ``"channel"`` or ``"schedule"``."""
    if given is not None:
        checks.choice(name, given, _WORDS[name])


def forced(name: str, given: str | None) -> str:
    """The channel or schedule that is forced on the engine; empty where the engine chooses.

    Args:
        name: ``"channel"`` or ``"schedule"``.
        given: its value; None for that of the environment variable ``LBMGPU_CHANNEL`` or ``LBMGPU_SCHEDULE``.
    """
    if given is None:
        return os.environ.get(f"LBMGPU_{name.upper()}", "")
    return "" if given == "auto" else given
