"""Arrays of other libraries, such as CuPy, PyTorch and JAX, as NumPy arrays: in place where they are in host memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import checks

_HOST = (1, 3)
"""DLPack's numbers of memory that the host reads: its own, and that which is pinned for a GPU."""

_COPIES = ("get", "copy_to_host", "cpu")
"""Methods that copy an array to the host: of CuPy, Numba and PyTorch."""


def on_host(name: str, value: Any) -> Any:
    """`value`, or a NumPy array of it if it is an array of another library.

    An array in host memory is taken without a copy, through DLPack. One in the memory of a GPU is copied to the host.

    Args:
        name: of the argument, for errors.
        value: anything; what has neither ``__dlpack__`` nor ``__cuda_array_interface__`` is returned as it is.

    Raises:
        ValueError: the array cannot be brought to the host.
    """
    if value is None or callable(value) or isinstance(value, np.ndarray | np.generic):
        return value
    if not (hasattr(value, "__dlpack__") or hasattr(value, "__cuda_array_interface__")):
        return value
    try:
        if getattr(value, "requires_grad", False):
            value = value.detach()
        return _taken(value)
    except MemoryError:
        raise
    except Exception as error:  # of the other library
        right = "an array in host memory, or one that can be copied there"
        raise ValueError(f"{name}: {checks.shown(value)} given, must be {right} ({error})") from None


def _taken(value: Any) -> Any:
    if hasattr(value, "__dlpack_device__") and int(value.__dlpack_device__()[0]) in _HOST:
        return np.from_dlpack(value)
    copy = next((getattr(value, method) for method in _COPIES if callable(getattr(value, method, None))), None)
    copied = np.asarray(value if copy is None else copy())
    if copied.dtype == np.object_:
        raise TypeError(f"a {type(value).__name__} has none of the methods {', '.join(_COPIES)}")
    return copied
