"""Arrays of other libraries, such as CuPy, PyTorch and JAX: taken in place where that can be, else as NumPy arrays."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core, checks
from ..values import is_on_gpu

_HOST = (1, 3)
"""DLPack's numbers of memory that the host reads: its own, and that which is pinned for a GPU."""

_COPIES = ("get", "copy_to_host", "cpu")
"""Methods that copy an array to the host: of CuPy, Numba and PyTorch."""
_NUMBERS = {"<f4": 4, "<f8": 8}
"""The types of numbers that a GPU takes, and their bytes."""
_DEFAULT_STREAM = 1
"""CUDA's, as DLPack numbers it."""


class GpuArray:
    """An array of another library in a GPU's memory, which blocks on GPUs take there, and others on the host.

    Attributes:
        name: of the argument, for errors.
        shape: of the array; empty where it does not say.
        ndim: the number of its axes.
    """

    def __init__(self, name: str, value: Any) -> None:
        self.name, self._value = name, value
        self._copied: NDArray[Any] | None = None
        self.shape = _shape(value)
        self.ndim = len(self.shape)

    def __repr__(self) -> str:
        return repr(self._value)

    def on_host(self) -> NDArray[Any]:
        """A copy in host memory; ValueError where there can be none."""
        if self._copied is None:
            self._copied = _checked(self.name, self._value)
        return self._copied

    def __dlpack_device__(self) -> tuple[int, int]:
        """That it is in a GPU's memory, for `is_on_gpu`; of which one, the array itself tells."""
        return 2, 0

    def on_gpu(self, first: Sequence[int], device: str, reference: float = 0.0) -> _core.GpuArray | None:
        """The array as the engine takes it, after all that its library has asked of its stream.

        Args:
            first: the domain's cell that is the first of the array.
            device: a GPU that this process uses.
            reference: that is subtracted from each number.

        Returns:
            None where the array has other numbers than of float32 or float64, or its library does not tell enough.
        """
        try:
            if hasattr(self._value, "__dlpack__") and hasattr(self._value, "__dlpack_device__"):
                return self._of_dlpack(list(first), reference)
            return self._of_interface(self._value.__cuda_array_interface__, list(first), device, reference)
        except (MemoryError, _core.CudaError):
            raise
        except Exception:  # of the other library, or what it tells is not what is taken here
            return None

    def _of_dlpack(self, first: list[int], reference: float) -> _core.GpuArray:
        capsule = self._value.__dlpack__(stream=_DEFAULT_STREAM)
        return _core.gpu_array_of_dlpack(capsule, len(first), first, reference)

    def _of_interface(
        self, interface: dict[str, Any], first: list[int], device: str, reference: float
    ) -> _core.GpuArray | None:
        item, address = _NUMBERS.get(interface["typestr"]), interface["data"][0]
        shape: Sequence[int] = interface["shape"]
        if item is None or interface.get("mask") is not None:
            return None
        strides: Sequence[int] | None = interface.get("strides")
        if strides is None:
            strides = [item * math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
        stream = interface.get("stream")
        return _core.gpu_array_at(address, item, shape, strides, stream, device, len(first), first, reference)


def taken(name: str, value: Any) -> Any:
    """`value`, or a `GpuArray` or a NumPy array of it if it is an array of another library.

    An array in host memory is taken without a copy, through DLPack.

    Args:
        name: of the argument, for errors.
        value: anything; what has neither ``__dlpack__`` nor ``__cuda_array_interface__`` is returned as it is.

    Raises:
        ValueError: the array cannot be brought to the host, and is not in a GPU's memory.
    """
    if value is None or callable(value) or isinstance(value, np.ndarray | np.generic):
        return value
    if not (hasattr(value, "__dlpack__") or hasattr(value, "__cuda_array_interface__")):
        return value
    try:
        if getattr(value, "requires_grad", False):
            value = value.detach()
        if is_on_gpu(value):
            return GpuArray(name, value)
    except MemoryError:
        raise
    except Exception:  # of the other library, which then has to copy
        pass
    return _checked(name, value)


def _shape(value: Any) -> tuple[int, ...]:
    try:
        found = value.shape if hasattr(value, "shape") else value.__cuda_array_interface__["shape"]
        return tuple(int(n) for n in found)
    except Exception:  # of the other library
        return ()


def _checked(name: str, value: Any) -> NDArray[Any]:
    """A NumPy array of an array of another library."""
    try:
        return _copied(value)
    except MemoryError:
        raise
    except Exception as error:  # of the other library
        right = "an array in host memory, or one that can be copied there"
        raise ValueError(f"{name}: {checks.shown(value)} given, must be {right} ({error})") from None


def _copied(value: Any) -> NDArray[Any]:
    if hasattr(value, "__dlpack_device__") and int(value.__dlpack_device__()[0]) in _HOST:
        return np.from_dlpack(value)
    copy = next((getattr(value, method) for method in _COPIES if callable(getattr(value, method, None))), None)
    if copy is None and not hasattr(value, "__array__") and (copied := _copied_by_engine(value)) is not None:
        return copied
    copied = np.asarray(value if copy is None else copy())
    if copied.dtype == np.object_:
        raise TypeError(f"a {type(value).__name__} has none of the methods {', '.join(_COPIES)}")
    return copied


def _copied_by_engine(value: Any) -> NDArray[np.float64] | None:
    """A copy of an array in a GPU's memory whose library makes none; None where the engine cannot take it."""
    given = GpuArray("", value)
    if not is_on_gpu(value) or given.ndim not in (2, 3, 4):
        return None
    array = given.on_gpu((0,) * min(given.ndim, 3), "cuda:0")
    if array is None:
        return None
    copied = array.to_host()
    return copied.T if given.ndim < 4 else copied.transpose(0, 3, 2, 1)
