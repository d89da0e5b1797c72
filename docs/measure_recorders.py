"""What recorders cost: the time of a step with them over that without.

python docs/measure_recorders.py --device cuda --shape 512 512 512 --json docs/measured/recorders.json

D3Q19 in float32, in place, with TRT in a periodic box. Statistics are the means of the velocity and the density and the
Reynolds stresses, ten numbers of float64 for each cell; probes are at random points and record every step.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import lbmgpu as lbm

PROBES = 1000


def sampled(every: int) -> Callable[[lbm.Solver], None]:
    """Have a solver sample means and Reynolds stresses."""

    def record(solver: lbm.Solver) -> None:
        solver.record(lbm.Mean("velocity", "density"), lbm.Covariance("velocity"), every=every)

    return record


def probed(solver: lbm.Solver) -> None:
    """Have a solver record the velocity and the density at points in every step."""
    points = np.random.default_rng(1).random((PROBES, 3)) * solver.domain.shape
    solver.record(lbm.Probe(points, ["velocity", "density"]))


def cases() -> dict[str, Callable[[lbm.Solver], None]]:
    """What is recorded, by name."""
    found: dict[str, Callable[[lbm.Solver], None]] = {"nothing": lambda solver: None}
    for every in (50, 10):
        found[f"mean and Reynolds stresses every {every} steps"] = sampled(every)
    found[f"{PROBES} probes every step"] = probed
    return found


def step_seconds(
    shape: tuple[int, int, int], device: str, steps: int, repeats: int, record: Callable[[lbm.Solver], None]
) -> float:
    """The median time of a step over several runs of `steps`."""
    solver = lbm.Solver(lbm.Domain(shape), lbm.TRT(0.01), device=device, streaming="in-place")
    solver.initialize(velocity=(0.05, 0.01, 0.0))
    record(solver)
    solver.step(steps)  # which compiles all kernels
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        solver.step(steps)
        solver.mass()  # which waits for the device
        times.append((time.perf_counter() - start) / steps)
    return statistics.median(times)


def main() -> None:
    """Measure all cases and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--shape", type=int, nargs=3, default=(512, 512, 512))
    parser.add_argument("--steps", type=int, default=500, help="of each run, a multiple of 50")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    shape = tuple(given.shape)
    cells = shape[0] * shape[1] * shape[2]
    rows: list[dict[str, Any]] = []
    for name, record in cases().items():
        seconds = step_seconds(shape, given.device, given.steps, given.repeats, record)
        rows.append({"recorded": name, "mlups": cells / seconds / 1e6, "step_us": 1e6 * seconds})
        rows[-1]["cost"] = rows[-1]["step_us"] / rows[0]["step_us"] - 1
        print(f"{name:46} {rows[-1]['mlups']:10.0f} MLUPS  {100 * rows[-1]['cost']:+6.1f} %", flush=True)
    if given.json is not None:
        found = {"device": given.device, "shape": list(shape), "steps": given.steps, "rows": rows}
        given.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
