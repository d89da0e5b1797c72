"""Finds the device that a solver runs on, and checks that the machine has it."""

from __future__ import annotations

import logging
import re
import site
import sysconfig
from functools import cache
from pathlib import Path
from typing import Any

from .. import _core, checks
from . import kernel_cache
from .device_memory import GIB

log = logging.getLogger("lbmgpu")

KNOWN = ("auto", "cpu", "cuda")


@cache
def look_for_compiler() -> None:
    """Tell the engine where NVIDIA's wheels put NVRTC, which no library path leads to."""
    roots = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), site.getusersitepackages()}
    found = {str(file.parent) for root in roots for file in Path(root).glob("nvidia/*/lib/libnvrtc.so.*")}
    _core.set_compiler_folders(sorted(found))


def resolve(device: Any, node_rank: int = 0) -> str:
    """The name of a device, ``"cpu"`` or ``"cuda:0"`` and so on, for the argument `device` of a solver.

    ``"cuda"`` is the GPU whose number the rank has among the ranks of its host; for one process it is the first.

    Raises:
        TypeError, ValueError: `device` is not the name of a device, or the machine has no such device.
        CudaError: a GPU is asked for by name, and the driver, the compiler or every GPU is missing.
    """
    if isinstance(device, str):
        device = str.__str__(device)  # the characters, whatever a subclass makes of them
        if device == "cpu":
            return "cpu"
        if device == "auto":
            return _best(node_rank)
        match = re.fullmatch(r"cuda(?::(\d{1,4}))?", device)
        if match is None:
            gpu = device.lower().startswith(("gpu", "cuda"))
            hint = "; did you mean 'cuda'?" if gpu else checks.did_you_mean(device, KNOWN)
            raise ValueError(
                f"device: {device!r} given, must be 'auto', 'cpu', 'cuda' (the first GPU) or 'cuda:1' and so on{hint}"
            )
        look_for_compiler()
        count = _core.cuda_device_count()
        number = int(match[1]) if match[1] else node_rank % max(count, 1)
        if number >= count:
            raise ValueError(f"device: {device!r} given, but there are {count} GPUs, 'cuda:0' to 'cuda:{count - 1}'")
        _core.cuda_compiler()
        kernel_cache.warn_if_refused()
        return f"cuda:{number}"
    raise TypeError(f"device: {checks.shown(device)} given, must be 'auto', 'cpu', 'cuda' or 'cuda:0' and so on")


def available() -> list[str]:
    """The names of all GPUs, or the name of the CPU where no GPU can be used."""
    first = resolve("auto")
    return [first] if first == "cpu" else [f"cuda:{number}" for number in range(_core.cuda_device_count())]


def cuda_summary() -> dict[str, str]:
    """Driver, GPUs, compiler and kernel cache in words, by name; where no GPU can be used, only the reason."""
    look_for_compiler()
    try:
        count, version = _core.cuda_device_count(), _core.cuda_driver_version()
    except _core.CudaError as error:
        return {"GPU": f"none; {_why_none(error)}"}
    parts = {"CUDA driver": f"{version // 1000}.{version % 1000 // 10}"}
    for number in range(count):
        gpu = _core.cuda_device(number)
        parts[f"cuda:{number}"] = f"{gpu['name']}, {gpu['memory'] / GIB:.1f} GiB, {gpu['architecture']}"
    if count == 0:
        parts["GPU"] = "none"
    try:
        compiler = _core.cuda_compiler()
        parts["NVRTC"] = f"{compiler['version']}, {compiler['library']}"
    except _core.CudaError as error:
        parts["NVRTC"] = f"none; {error}"
    parts["kernel cache"] = kernel_cache.status()
    return parts


def _why_none(error: _core.CudaError) -> str:
    """Why no GPU can be used: in a few words where no driver is installed, else in the driver's own words."""
    missing = "libcuda" in str(error) and "No such file" in str(error)
    return "no NVIDIA driver found" if missing else str(error)


@cache
def _best(node_rank: int) -> str:
    """The device for ``"auto"``: a GPU if one can be used, else the CPU, and the log says once why."""
    look_for_compiler()
    try:
        count = _core.cuda_device_count()
    except _core.CudaError as error:
        log.info("device 'auto' is the CPU: %s", _why_none(error))
        return "cpu"
    if count == 0:
        log.info("device 'auto' is the CPU: no GPU found")
        return "cpu"
    try:
        _core.cuda_compiler()
    except _core.CudaError as error:  # a GPU that lies idle is worth a warning
        log.warning("device 'auto' is the CPU: %s", error)
        return "cpu"
    kernel_cache.warn_if_refused()
    return f"cuda:{node_rank % count}"
