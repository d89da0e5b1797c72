"""The power that a GPU draws while something runs on it, by NVML, NVIDIA's library of management.

What is measured is the whole card, as its own sensors see it: chip and memory, but nothing of the host. NVML comes with
the driver, its functions for Python with the package nvidia-ml-py (the extra ``energy``), which is loaded when a meter
is made.
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
"""Seconds between two looks at the sensor; it has a new value every 20 to 100 ms."""

FEWEST = 3
"""Values of a sensor that make a mean."""


class PowerUnknownError(Exception):
    """The power of a device cannot be measured; the message says why, and what would help."""


@dataclass
class Draw:
    """The power that was drawn in some intervals.

    Attributes:
        joules: taken, between the first and the last new value of the sensor in each interval.
        seconds: between those values.
    """

    joules: float = 0.0
    seconds: float = 0.0

    @property
    def watts(self) -> float | None:
        """The mean; None where the intervals were too short for the sensor."""
        return self.joules / self.seconds if self.seconds > 0 else None


@dataclass
class Meter:
    """The sensor of one GPU.

    Attributes:
        kind: ``"energy counter"``, or ``"power samples"`` where the GPU has no counter (before Volta).
        read: its value: joules since some time, or watts.
        total: what the intervals of `measuring` have found so far.
    """

    kind: str
    read: Callable[[], float]
    total: Draw = field(default_factory=Draw)

    @contextmanager
    def measuring(self) -> Iterator[None]:
        """Add what is drawn within to `total`; whatever the sensor says within, nothing is raised."""
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
    """What was drawn, by the values of a sensor: seconds and joules of a `counter`, or seconds and watts.

    A counter moves in jumps: only the time between its first and its last one counts, so that the ends of the interval
    do not.
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
    """The energy of a cell update in nanojoules, which is that of 10^9 updates in joules, from the mean power and the
    speed in million updates a second."""
    return 1000 * watts / mlups


def meter_of(device: str) -> Meter:
    """The meter of a GPU, found by its UUID, as the numbers of CUDA and of NVML need not agree.

    Args:
        device: as ``"cuda:0"``; a CPU has none.

    Raises:
        PowerUnknownError: the package or the library is missing, or the GPU does not tell.
    """
    if device == "cpu":
        raise PowerUnknownError("of GPUs only")
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
    except (nvml.NVMLError, _core.CudaError, OSError, AttributeError) as error:  # the last of a package that is old
        raise PowerUnknownError(f"NVML: {error}") from None


def uuid_of(device: str) -> str:
    """That of a GPU as NVML writes it, ``GPU-`` and 32 hexadecimal digits in five groups.

    Raises:
        CudaError: the driver does not say.
    """
    digits = gpu.identity(device)
    return "GPU-" + "-".join(digits[a:b] for a, b in ((0, 8), (8, 12), (12, 16), (16, 20), (20, 32)))
