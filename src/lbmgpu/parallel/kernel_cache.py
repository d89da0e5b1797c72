"""What users are told of the folder of compiled kernels."""

from __future__ import annotations

import warnings
from functools import cache

from .. import _core


def described() -> str:
    """The folder, and why it is not used where that is so."""
    refusal = _core.kernel_cache_refusal()
    return f"none; {refusal}" if refusal else _core.kernel_cache_folder() or "none"


@cache
def warn_if_refused() -> None:
    """Say once why the folder is not used: whoever can write into it could have this process run code of theirs."""
    refusal = _core.kernel_cache_refusal()
    if refusal:
        warnings.warn(
            f"kernel cache: {refusal}; kernels are compiled anew by each process (LBMGPU_CACHE_DIR names another "
            "folder)",
            RuntimeWarning,
            stacklevel=2,
        )
