"""What recorders cost, and inlets that change in time: the time of a step with them over that without.

python docs/measure_recorders.py --device cuda --shape 512 512 512 --json docs/measured/recorders.json

D3Q19 in float32, in place, with TRT. Recorders look at a periodic box: statistics are the means of the velocity and the
density and the Reynolds stresses, ten numbers of float64 for each cell; probes are at random points and record every
step; a slice is the velocity in a plane across z, which a series writes. Inlets are those of a channel between walls,
with a pressure outlet.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import lbmgpu as lbm
from lbmgpu.benchmarks.single import machine

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


def sliced(folder: Path) -> Callable[[lbm.Solver], None]:
    """Have a solver write the velocity in a plane every 100 steps."""

    def record(solver: lbm.Solver) -> None:
        middle = np.s_[:, :, solver.domain.shape[2] // 2]
        solver.record(lbm.Series(folder / "slice", "velocity", 100, region=middle, overwrite=True))

    return record


def cases(folder: Path) -> dict[str, Callable[[lbm.Solver], None]]:
    """What is recorded, by name."""
    found: dict[str, Callable[[lbm.Solver], None]] = {"nothing": lambda solver: None}
    for every in (50, 10):
        found[f"mean and Reynolds stresses every {every} steps"] = sampled(every)
    found[f"{PROBES} probes every step"] = probed
    found["a slice every 100 steps"] = sliced(folder)
    return found


def channel(shape: tuple[int, int, int], speed: Any) -> lbm.Domain:
    """Walls along the flow, an inlet with this speed and a pressure outlet."""
    domain = lbm.Domain(shape)
    domain.faces["-y"] = domain.faces["+y"] = lbm.NoSlip()
    domain.faces["-x"], domain.faces["+x"] = lbm.VelocityInlet(speed), lbm.PressureOutlet()
    return domain


def step_seconds(
    domain: lbm.Domain, device: str, steps: int, repeats: int, record: Callable[[lbm.Solver], None]
) -> float:
    """The median time of a step over several runs of `steps`."""
    solver = lbm.Solver(domain, lbm.TRT(0.01), device=device, streaming="in-place")
    solver.initialize(velocity=(0.05, 0.01, 0.0))
    record(solver)
    solver.step(steps)  # which compiles all kernels
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        solver.step(steps)
        solver.mass()  # which waits for the device
        times.append((time.perf_counter() - start) / steps)
    solver.run(0)  # which waits for what is still written
    return statistics.median(times)


def main() -> None:
    """Measure all cases and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--shape", type=int, nargs=3, default=(512, 512, 512))
    parser.add_argument("--steps", type=int, default=500, help="of each run, a multiple of 100")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    shape = tuple(given.shape)
    cells = shape[0] * shape[1] * shape[2]
    rows: list[dict[str, Any]] = []

    def measure(name: str, domain: lbm.Domain, record: Callable[[lbm.Solver], None], beside: str) -> None:
        seconds = step_seconds(domain, given.device, given.steps, given.repeats, record)
        rows.append({"measured": name, "mlups": cells / seconds / 1e6, "step_us": 1e6 * seconds})
        plain = next(row["step_us"] for row in rows if row["measured"] == beside)
        rows[-1]["cost"] = rows[-1]["step_us"] / plain - 1
        print(f"{name:46} {rows[-1]['mlups']:10.0f} MLUPS  {100 * rows[-1]['cost']:+6.1f} %", flush=True)

    with tempfile.TemporaryDirectory() as folder:
        for name, record in cases(Path(folder)).items():
            measure(name, lbm.Domain(shape), record, "nothing")
    along = (0.05, 0.0, 0.0)
    inlets = {"a steady inlet": along, "a sine inlet": along * lbm.Sine(mean=1, amplitude=0.1, period=500)}
    for name, speed in inlets.items():
        measure(name, channel(shape, speed), lambda solver: None, "a steady inlet")
    if given.json is not None:
        found = {"machine": machine(None, given.device), "shape": list(shape), "steps": given.steps, "recorders": rows}
        given.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
