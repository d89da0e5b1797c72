"""The update kernels under Nsight Compute, for the table of what bounds them in performance.md:

metrics=$(python docs/profile_kernels.py --metrics)
ncu --clock-control none --csv --metrics $metrics python docs/profile_kernels.py > kernels.csv
python docs/fill_performance.py kernels.csv
"""

from __future__ import annotations

import sys

METRICS = {
    "launch__registers_per_thread": "registers",
    "sm__warps_active.avg.pct_of_peak_sustained_active": "warps at work, %",
    "sm__inst_issued.avg.pct_of_peak_sustained_active": "instructions issued, %",
    "lts__throughput.avg.pct_of_peak_sustained_elapsed": "second-level cache, %",
    "dram__throughput.avg.pct_of_peak_sustained_elapsed": "memory, %",
    "gpu__time_duration.sum": "time, us",
}
"""What Nsight Compute measures, and the column that it goes to."""


def main() -> None:
    from lbmgpu.benchmarks.single import Configuration, make_solver  # the table of metrics needs no engine

    both = ("two-lattice", "in-place")
    for configuration in (
        *(Configuration(size=256, streaming=streaming) for streaming in both),
        *(Configuration(size=256, streaming=streaming, storage="float16") for streaming in both),
        Configuration(size=256, collision="MRT"),
        Configuration(size=256, collision="MRT", flow="channel"),
        Configuration(size=256, stencil="D3Q27", storage="float16"),
    ):
        make_solver(configuration, "cuda", None).step(4)


if __name__ == "__main__":
    if sys.argv[1:] == ["--metrics"]:
        print(",".join(METRICS))
    else:
        main()
