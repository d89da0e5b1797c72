"""Measures the power that a GPU draws while something runs on it, by NVML, NVIDIA's management library.

The figures are those of the card's own sensors: of chip and memory, but of nothing in the host. NVML comes with the
driver, its functions for Python with the package nvidia-ml-py (the extra ``energy``), which is loaded when a meter is
made.
"""

from __future__ import annotations

import importlib
import itertools
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from .. import _core
from ..parallel import gpu

INTERVAL = 0.005
"""Seconds between two readings of the sensor, which has a new value every 20 to 100 ms."""

FEWEST = 3
"""The smallest number of values of a sensor that a mean is made of."""


class PowerUnknownError(Exception):
    """The power of a device cannot be measured; the message says why, and what would help."""


@dataclass
class Draw:
    """The energy that was drawn in one or more intervals.

    Attributes:
        joules: the energy drawn between the first and the last new value of the sensor in each interval.
        seconds: the time between those values.
    """

    joules: float = 0.0
    seconds: float = 0.0

    @property
    def watts(self) -> float | None:
        """The mean power; None where the intervals were too short for the sensor."""
        return self.joules / self.seconds if self.seconds > 0 else None


@dataclass
class Meter:
    """The sensor of one GPU.

    Attributes:
        kind: ``"energy counter"``, or ``"power samples"`` where the GPU has no counter (before Volta).
        read: returns the value of the sensor: joules since some time, or watts.
        total: the energy and the time of all intervals of `measuring` so far.
    """

    kind: str
    read: Callable[[], float]
    total: Draw = field(default_factory=Draw)

    @contextmanager
    def measuring(self) -> Iterator[None]:
        """Add the energy that is drawn in the body to `total`; a sensor that fails raises nothing."""
        values: list[tuple[float, float]] = []
        done = threading.Event()
        watcher = threading.Thread(target=self._watch, args=(values, done), daemon=True)
        watcher.start()
        try:
            yield
        finally:
            done.set()
            watcher.join()
            found = drawn(values, counter=self.kind == "energy counter")
            self.total = Draw(self.total.joules + found.joules, self.total.seconds + found.seconds)

    def _watch(self, values: list[tuple[float, float]], done: threading.Event) -> None:
        while not done.is_set():
            try:
                values.append((time.perf_counter(), self.read()))
            except Exception:  # a sensor that fails is no reason to lose a measurement
                return
            done.wait(INTERVAL)


def drawn(values: list[tuple[float, float]], counter: bool) -> Draw:
    """The energy that was drawn, by the values of a sensor: pairs of seconds and joules of a `counter`, or else watts.

    A counter moves in jumps, so only the time between its first and its last jump counts, not the ends of the interval.
    """
    new = [later for former, later in itertools.pairwise(values) if later[1] != former[1]]
    if counter:
        if len(new) < FEWEST:
            return Draw()
        return Draw(new[-1][1] - new[0][1], new[-1][0] - new[0][0])
    if len(values) < FEWEST:
        return Draw()
    joules = sum((t - before) * (power + watts) / 2 for (before, watts), (t, power) in itertools.pairwise(values))
    return Draw(joules, values[-1][0] - values[0][0])


def nanojoules(watts: float, mlups: float) -> float:
    """The energy of a cell update in nanojoules, from the mean power and the speed in million updates a second.

    It equals the energy of 10^9 updates in joules.
    """
    return 1000 * watts / mlups


def meter_of(device: str) -> Meter:
    """The meter of a GPU, found by its UUID, as the numbers of CUDA and of NVML need not agree.

    Args:
        device: the name of the GPU, such as ``"cuda:0"``; a CPU has no meter.

    Raises:
        PowerUnknownError: the package or the library is missing, or the GPU does not tell.
    """
    if device == "cpu":
        raise PowerUnknownError(f"device: {device!r} given, must be a GPU such as 'cuda:0'")
    try:
        nvml: Any = importlib.import_module("pynvml")
    except ImportError:
        raise PowerUnknownError("nvidia-ml-py is missing: pip install nvidia-ml-py") from None
    try:
        nvml.nvmlInit()
        handle = nvml.nvmlDeviceGetHandleByUUID(uuid_of(device).encode())
        sensors: dict[str, Callable[[], float]] = {
            "energy counter": lambda: float(nvml.nvmlDeviceGetTotalEnergyConsumption(handle) / 1000),  # from mJ
            "power samples": lambda: float(nvml.nvmlDeviceGetPowerUsage(handle) / 1000),  # from mW
        }
        for kind, read in sensors.items():
            try:
                read()
            except nvml.NVMLError as error:
                refused = error
            else:
                return Meter(kind, read)
        raise refused
    except (nvml.NVMLError, _core.CudaError, OSError, AttributeError) as error:  # AttributeError: the package is old
        raise PowerUnknownError(f"NVML: {error}") from None


def uuid_of(device: str) -> str:
    """The UUID of a GPU as NVML writes it, ``GPU-`` and 32 hexadecimal digits in five groups.

    Raises:
        CudaError: the driver does not give it.
    """
    digits = gpu.identity(device)
    return "GPU-" + "-".join(digits[a:b] for a, b in ((0, 8), (8, 12), (12, 16), (16, 20), (20, 32)))
