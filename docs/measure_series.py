"""Measures what part of the time that a series of fields takes to be written is hidden behind the steps.

    python docs/measure_series.py [cells along an axis] [steps between frames] [frames] [device] [compression]

The flow is a Taylor-Green vortex in D3Q19. Three runs of the same steps are timed: without a series, with one whose
frames are written while the steps run, and with one that is flushed after each frame, so that nothing is hidden. Only
what takes less time than the steps between two frames can be hidden whole: choose them so.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import lbmgpu as lbm


def seconds(cells: int, every: int, frames: int, device: str, compression: int | None, waits: bool) -> float:
    """The time of a run; without a series if `compression` is None, waiting for each frame if `waits`."""
    solver = lbm.Solver(lbm.Domain((cells,) * 3, "D3Q19"), lbm.BGK(0.01), device=device)
    x, y, z = np.meshgrid(*[np.linspace(0, 2 * np.pi, cells, endpoint=False)] * 3, indexing="ij", sparse=True)
    velocity = np.zeros((3, cells, cells, cells), dtype=np.float32)
    velocity[0] = 0.05 * np.sin(x) * np.cos(y) * np.cos(z)
    velocity[1] = -0.05 * np.cos(x) * np.sin(y) * np.cos(z)
    solver.initialize(velocity=velocity)
    solver.run(every)
    with tempfile.TemporaryDirectory() as folder:
        if compression is not None:
            series = lbm.Series(
                Path(folder) / "flow", ("density", "velocity"), every, start=every + 1, compression=compression
            )
            series.start = 2 * every
            solver.record(series)
        start = time.perf_counter()
        for _ in range(frames + 1):  # the last frame, too, has steps after it
            solver.step(every)
            if waits and compression is not None:
                series.flush()
        if compression is not None:
            series.flush()
        else:
            solver.check()
        return time.perf_counter() - start


def main() -> None:
    """Print the three times and the hidden part."""
    given = dict(enumerate(sys.argv[1:]))
    cells, every, frames = (int(given.get(k, n)) for k, n in enumerate((128, 100, 8)))
    device, compression = given.get(3, "auto"), int(given.get(4, 1))
    plain, beside, waiting = [], [], []
    for _ in range(3):
        plain.append(seconds(cells, every, frames, device, None, False))
        beside.append(seconds(cells, every, frames, device, compression, False))
        waiting.append(seconds(cells, every, frames, device, compression, True))
    alone, shown, whole = min(plain), min(beside), min(waiting)
    print(f"{cells}^3 cells, {frames} frames, {every} steps each, compression {compression}, {device}")
    print(f"without a series   {alone:8.2f} s")
    print(f"written beside     {shown:8.2f} s")
    print(f"waiting for frames {whole:8.2f} s")
    print(f"hidden: {(whole - shown) / (whole - alone):.0%} of {(whole - alone) / frames:.2f} s a frame")


if __name__ == "__main__":
    main()
