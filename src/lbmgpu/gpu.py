"""A GPU by the name of its device, ``"cuda:0"`` and so on."""

from __future__ import annotations

from typing import Any

from . import _core


def ordinal(device: str) -> int:
    """Its number."""
    return int(device.removeprefix("cuda:"))


def described(device: str) -> dict[str, Any]:
    """What the driver says of it: name, architecture, bytes of memory and of free memory, and so on."""
    return _core.cuda_device(ordinal(device))
