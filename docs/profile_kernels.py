"""The update kernels under Nsight Compute, for the table of what bounds them in performance.md:

metrics=$(python docs/profile_kernels.py metrics)
ncu --clock-control none --csv --metrics $metrics python docs/profile_kernels.py populations > kernels.csv
ncu --clock-control none --csv --metrics $metrics python docs/profile_kernels.py moments > moments.csv
python docs/fill_performance.py kernels.csv moments.csv

In the same way `cavity`, `sphere` and `channel` profile moments in these flows; the name of the file heads its table.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace

from lbmgpu.benchmarks.single import make_solver
from lbmgpu.planning.configuration import Configuration
from lbmgpu.solver.solver import simulation_of

METRICS = {
    "launch__registers_per_thread": "registers",
    "sm__cycles_active.avg.pct_of_peak_sustained_elapsed": "multiprocessors at work, %",
    "sm__warps_active.avg.pct_of_peak_sustained_active": "warps at work, %",
    "sm__inst_issued.avg.pct_of_peak_sustained_active": "instructions issued, %",
    "lts__throughput.avg.pct_of_peak_sustained_elapsed": "second-level cache, %",
    "dram__throughput.avg.pct_of_peak_sustained_elapsed": "memory, %",
    "gpu__time_duration.sum": "time, us",
}
"""What Nsight Compute measures, and the column that it goes to."""


def populations() -> Iterator[Configuration]:
    """What is profiled of updates of populations."""
    for storage in ("float32", "float16"):
        for streaming in ("two-lattice", "in-place"):
            yield Configuration(size=256, streaming=streaming, storage=storage)
    yield Configuration(size=256, collision="MRT")
    yield Configuration(size=256, collision="MRT", flow="channel")
    yield Configuration(size=256, stencil="D3Q27", storage="float16")


def moments() -> Iterator[Configuration]:
    """What is profiled of updates of moments, at the sizes of their table of speeds."""
    plain = Configuration(size=512, collision="Regularized", streaming="two-lattice", state="moments")
    for stencil in ("D3Q19", "D3Q27"):
        for collision in ("Regularized", "RecursiveRegularized"):
            yield replace(plain, stencil=stencil, collision=collision)
    yield replace(plain, precision="float64", storage="float64")
    yield replace(plain, stencil="D2Q9", size=8192)


FLOWS = ("cavity", "sphere", "channel")
"""Flows with walls whose updates of moments are profiled each by itself, as they share kernels."""


def configurations(what: str) -> Iterator[Configuration]:
    """Those of a name of the command line."""
    if what in FLOWS:
        plain = next(moments())
        return iter([replace(plain, flow=what)])
    return populations() if what == "populations" else moments()


def main() -> None:
    parser = argparse.ArgumentParser(description="The update kernels, to be run under Nsight Compute.")
    choices = ["metrics", "populations", "moments", *FLOWS]
    parser.add_argument("what", choices=choices, help="to be printed, or to be run")
    what = parser.parse_args().what
    if what == "metrics":
        print(",".join(METRICS))
        return
    for configuration in configurations(what):
        steps = 4 if what == "populations" else 12  # two updates or more, in one call: by itself a step is an update
        simulation_of(make_solver(configuration, "cuda", None)).advance(steps)


if __name__ == "__main__":
    main()
