"""Tells the user where compiled GPU kernels are cached, and warns if that folder is not used."""

from __future__ import annotations

import warnings
from functools import cache

from .. import _core


def status() -> str:
    """The path of the folder; ``none`` and the reason where it is not used."""
    refusal = _core.kernel_cache_refusal()
    return f"none; {refusal}" if refusal else _core.kernel_cache_folder() or "none"


@cache
def warn_if_refused() -> None:
    """Warn once if the folder is not used: whoever can write into it could make this process run code of theirs."""
    refusal = _core.kernel_cache_refusal()
    if refusal:
        warnings.warn(
            f"kernel cache: {refusal}; kernels are compiled anew by each process (LBMGPU_CACHE_DIR names another "
            "folder)",
            RuntimeWarning,
            stacklevel=2,
        )
