"""Implements `lbmgpu bench` for one device: tunes if that is asked for, measures, prints the table and writes the
results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from ..planning.configuration import Configuration
from . import single, tuning

SECONDS_OF_LAUNCH = 0.05
"""Seconds for which a launch is tried."""


def run(
    configurations: Sequence[Configuration],
    *,
    device: str,
    threads: int | None,
    seconds: float,
    repeats: int,
    file: str | None,
    tuned: bool,
) -> None:
    """Measure configurations one after the other.

    Args:
        configurations: what is measured.
        device: the device, as `devices.resolve` names it.
        threads: the number of CPU threads; None for all cores.
        seconds: the duration of the steps of a repeat.
        repeats: the number of repeats of each row.
        file: the file for the figures, as JSON; None for none.
        tuned: whether the fastest launches on a GPU are found first.

    Raises:
        ValueError: memory does not suffice, or tuning is asked for where there is none.
        CudaError: a GPU cannot be used.
        OSError: the file cannot be written.
    """
    launches: list[tuning.Launch] = []
    for configuration in configurations if tuned else ():
        found = tuning.tune(configuration, device=device, seconds=SECONDS_OF_LAUNCH)
        head = [] if launches else [tuning.HEADER]
        print(*head, *(launch.line() for launch in found), sep="\n", flush=True)
        launches += found
    for key, value in single.machine(threads, device).items():
        print(f"{key}: {value}")
    meter, power = single.find_meter(device)
    if power is not None:
        print(f"power: {power}")
    scale = "the in-place STREAM scale, x <- a x" if device == "cpu" else "a copy"
    print(
        f"MLUPS: median of {repeats}; B: bytes that a step reads and writes of a cell; steps: those for each time that "
        f"memory is read and written; memory: GB/s of {scale}, between the repeats; fraction: GB/s over that; "
        "boundary, update: microseconds of a step"
    )
    if meter is not None:
        print("W: mean power drawn in the steps; nJ: energy of a cell update, which is joules of 10^9 updates")
    print(single.HEADER + (single.ENERGY_HEADER if meter else ""))
    measurements = []
    timing: dict[str, Any] = {"threads": threads, "seconds": seconds, "repeats": repeats, "meter": meter}
    for measurement in single.measure_all(configurations, device=device, **timing):
        measurements.append(measurement)
        print(measurement.row(), flush=True)
        document = single.to_json(measurements, threads, device, power)
        if launches:
            document["tuning"] = [asdict(launch) for launch in launches]
        single.write_json(file, document)
