"""Sets up and steps lid-driven cavities up to the largest that a device holds, for a table of performance.md:

python docs/measure_setup.py cuda:0 setup.json
python docs/fill_performance.py setup.json

Each size is measured in a process of its own, so that the memory of the host is what it needs at most.
"""

from __future__ import annotations

import itertools
import json
import platform
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

FRACTIONS = (0.5, 0.75, 1.0)
"""Of the largest side that fits."""

ROW = 64
"""Sides are whole numbers of so many cells: a row of the storage then has no padding."""

STEPS = 20


def measure(device: str, side: int, storage: str) -> dict[str, Any]:
    """Seconds and memory of one set-up, and its speed."""
    import lbmgpu as lbm

    domain = lbm.Domain((side, side, side))
    for face in ("-x", "+x", "-y", "+y", "-z"):
        domain.faces[face] = lbm.NoSlip()
    domain.faces["+z"] = lbm.MovingWall((0.05, 0.0, 0.0))
    seconds: list[float] = [time.perf_counter()]
    solver = lbm.Solver(domain, lbm.MRT(0.05), storage=storage, device=device)
    seconds.append(time.perf_counter())
    solver.initialize(velocity=(0.01, 0.0, 0.0))
    seconds.append(time.perf_counter())
    solver.step(1)
    seconds.append(time.perf_counter())
    solver.step(STEPS)
    seconds.append(time.perf_counter())
    report = solver.report(bandwidth=False)
    made, initialized, first, steps = (after - before for before, after in itertools.pairwise(seconds))
    return {
        "side": side,
        "storage": storage,
        "device_bytes": report.memory_bytes,
        "host_bytes": 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
        "seconds": {"solver": made, "initialize": initialized, "first step": first},
        "mlups": side**3 * STEPS / steps / 1e6,
    }


def largest_side(device: str, storage: str) -> int:
    """The side of the largest cube whose lattice fits, with 2 % of the memory for links, staging and kernels."""
    from lbmgpu import _core
    from lbmgpu.parallel.device_memory import available_memory

    def needed(side: int) -> int:
        return _core.Engine.memory_needed("D3Q19", (side,) * 3, "float32", storage, "in-place", device)[device]

    side, free = ROW, 0.98 * available_memory(device)
    while needed(side + ROW) <= free:
        side += ROW
    return side


def main(device: str, file: str) -> None:
    rows = []
    for storage in ("float32", "float16"):
        largest = largest_side(device, storage)
        for fraction in FRACTIONS:
            side = max(ROW, round(fraction * largest / ROW) * ROW)
            command = [sys.executable, __file__, "--one", device, str(side), storage]
            found = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
            rows.append(json.loads(found.stdout.splitlines()[-1]))
            print(rows[-1], flush=True)
    from lbmgpu.parallel import gpu

    name = "CPU" if device == "cpu" else str(gpu.properties(device)["name"])
    machine = {"device": name, "python": platform.python_version()}
    Path(file).write_text(json.dumps({"machine": machine, "setups": rows}, indent=1) + "\n")


if __name__ == "__main__":
    if sys.argv[1] == "--one":
        print(json.dumps(measure(sys.argv[2], int(sys.argv[3]), sys.argv[4])))
    else:
        main(*sys.argv[1:])
