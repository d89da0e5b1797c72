"""Measures what part of the time that a series of fields takes to be written is hidden behind the steps.

    python docs/measure_series.py [--cells 128] [--every 3000] [--frames 8] [--device cuda] [--json FILE]

The flow is a Taylor-Green vortex in D3Q19. Three runs of the same steps are timed: without a series, with one whose
frames are written while the steps run, and with one that is flushed after each frame, so that nothing is hidden. Only
what takes less time than the steps between two frames can be hidden whole: choose them so.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import measured_table
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
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--cells", type=int, default=128, help="along an axis (128)")
    parser.add_argument("--every", type=int, default=100, help="steps between frames (100)")
    parser.add_argument("--frames", type=int, default=8)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--compression", type=int, default=1)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    run = given.cells, given.every, given.frames, given.device
    plain, beside, waiting = [], [], []
    for _ in range(3):
        plain.append(seconds(*run, None, False))
        beside.append(seconds(*run, given.compression, False))
        waiting.append(seconds(*run, given.compression, True))
    alone, shown, whole = min(plain), min(beside), min(waiting)
    hidden = (whole - shown) / (whole - alone)
    what = f"{given.cells}^3 cells, {given.frames} frames, {given.every} steps each, compression {given.compression}"
    rows = [
        ["without a series", f"{alone:.2f}", ""],
        ["written beside the steps", f"{shown:.2f}", f"{hidden:.0%} of {(whole - alone) / given.frames:.2f} s a frame"],
        ["waiting for each frame", f"{whole:.2f}", "nothing"],
    ]
    print(what, *(" | ".join(row) for row in rows), sep="\n")
    measured_table.write(given.json, given.device, "series", what, ["run", "s", "hidden"], rows)


if __name__ == "__main__":
    main()
