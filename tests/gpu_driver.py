"""The CUDA driver as tests call it themselves: arrays in a GPU's memory, and what the emulated driver has counted."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray


class Requests(ctypes.Structure):
    """The numbers of calls so far, as tests/emulated_cuda/driver_state.h has them."""

    _fields_ = [
        (name, ctypes.c_longlong)
        for name in (
            *("launches", "programmatic", "graphs", "copies_to_device", "copies_to_host", "waits"),
            *("bytes_to_device", "bytes_to_host", "box_copies"),
        )
    ]


def emulated() -> Any:
    """What the emulated driver counts with; skips the test where the driver is another one."""
    try:
        return ctypes.CDLL("libcuda.so.1").emulated_requests
    except (OSError, AttributeError):
        if os.environ.get("LBMGPU_REQUIRE_EMULATED") == "1":
            raise
        pytest.skip("needs the emulated driver, which counts what it is asked for: run .ci/emulate")


def requests(work: Callable[[], None]) -> dict[str, int]:
    """How often some work calls the driver; skips the test where that is not the emulated one, which counts."""
    count = emulated()
    before, after = Requests(), Requests()
    count(ctypes.byref(before))
    work()
    count(ctypes.byref(after))
    return {name: getattr(after, name) - getattr(before, name) for name, _ in Requests._fields_}


def call(name: str, *arguments: Any) -> None:
    """Call a function of the driver."""
    error = getattr(ctypes.CDLL("libcuda.so.1"), name)(*arguments)
    assert error == 0, f"{name}: {error}"


class Current:
    """The context of a GPU, current within a ``with`` block."""

    def __init__(self, ordinal: int) -> None:
        self._context = ctypes.c_void_p()
        call("cuInit", 0)
        call("cuDevicePrimaryCtxRetain", ctypes.byref(self._context), ordinal)

    def __enter__(self) -> None:
        call("cuCtxPushCurrent_v2", self._context)

    def __exit__(self, *_: object) -> None:
        call("cuCtxPopCurrent_v2", ctypes.byref(ctypes.c_void_p()))


class OnGpu:
    """A NumPy array in the memory of a GPU, at the same strides, which only the CUDA array interface tells of.

    It is being copied in a stream of its own, which the interface names, while it is used.

    Args:
        array: perhaps a view, whose base is copied.
        ordinal: of the GPU.
    """

    def __init__(self, array: NDArray[Any], ordinal: int = 0) -> None:
        base = array if array.base is None else array.base
        assert isinstance(base, np.ndarray)
        self._current, self._kept = Current(ordinal), base
        self._memory, self._stream = ctypes.c_uint64(), ctypes.c_void_p()
        with self._current:
            call("cuStreamCreateWithPriority", ctypes.byref(self._stream), 1, 0)
            call("cuMemAlloc_v2", ctypes.byref(self._memory), ctypes.c_size_t(base.nbytes))
            source = ctypes.c_void_p(base.ctypes.data)
            call("cuMemcpyHtoDAsync_v2", self._memory, source, ctypes.c_size_t(base.nbytes), self._stream)
        self.shape, self.ndim = array.shape, array.ndim
        offset = array.ctypes.data - base.ctypes.data
        self.__cuda_array_interface__ = {
            "version": 3,
            "shape": array.shape,
            "strides": None if array.flags.c_contiguous else array.strides,
            "typestr": array.dtype.str,
            "data": (self._memory.value + offset, False),
            "stream": self._stream.value,
        }

    def __del__(self) -> None:
        with self._current:
            call("cuStreamSynchronize", self._stream)
            call("cuStreamDestroy_v2", self._stream)
            call("cuMemFree_v2", self._memory)


@contextmanager
def full_memory(ordinal: int = 0) -> Iterator[None]:
    """Has all memory of an emulated GPU taken within a ``with`` block."""
    emulated()
    current, taken, size = Current(ordinal), [], 1 << 40
    with current:
        while size >= 1 << 8:
            memory = ctypes.c_uint64()
            if ctypes.CDLL("libcuda.so.1").cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(size)) == 0:
                taken.append(memory)
            else:
                size //= 2
    try:
        yield
    finally:
        with current:
            for memory in taken:
                call("cuMemFree_v2", memory)
