"""Asks the driver about a GPU, which is named as a device is: ``"cuda:0"`` and so on."""

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
    driver, handle, uuid = ctypes.CDLL("libcuda.so.1"), ctypes.c_int(), ctypes.create_string_buffer(16)
    failed = driver.cuDeviceGet(ctypes.byref(handle), ordinal(device)) or driver.cuDeviceGetUuid_v2(uuid, handle)
    if failed:
        raise _core.CudaError(f"cuDeviceGetUuid of {device}: error {failed}")
    return uuid.raw.hex()
