"""Looks up a GPU by its device name, such as ``"cuda:0"``: its number, its properties and its unique identifier."""

from __future__ import annotations

import ctypes
from typing import Any

from .. import _core


def ordinal(device: str) -> int:
    """The number of the GPU that `device` names."""
    return int(device.removeprefix("cuda:"))


def properties(device: str) -> dict[str, Any]:
    """The properties of a GPU by its driver: name, architecture, bytes of memory and of free memory, and so on."""
    return _core.cuda_device(ordinal(device))


def identity(device: str) -> str:
    """The unique identifier of a GPU: processes may see different GPUs under one number.

    Raises:
        CudaError: the driver does not give it.
    """
    properties(device)  # loads the driver
    return uuid(ordinal(device))


def uuid(number: int) -> str:
    """The same of the GPU of a number, once the driver is loaded. Nothing is begun on the GPU: one that another process
    works on can be asked.

    Raises:
        CudaError: the driver does not give it.
    """
    driver, handle, text = ctypes.CDLL("libcuda.so.1"), ctypes.c_int(), ctypes.create_string_buffer(16)
    failed = driver.cuDeviceGet(ctypes.byref(handle), number) or driver.cuDeviceGetUuid_v2(text, handle)
    if failed:
        raise _core.CudaError(f"cuDeviceGetUuid of cuda:{number}: error {failed}")
    return text.raw.hex()
