"""What the turbulence models of velocity gradients cost a step on a GPU, beside a step without a model.

python docs/measure_turbulence.py [--device cuda] [--size 512] [--tune] [--json FILE]

prints the speeds of D3Q19 with BGK and of D3Q27 with the cumulant collision in float32, in place and on two lattices.
With --tune the fastest launches of each are found first, and remembered.
"""

from __future__ import annotations

import argparse
import itertools
from pathlib import Path

import measured_table

from lbmgpu.benchmarks import tuning
from lbmgpu.benchmarks.single import measure
from lbmgpu.planning.configuration import Configuration

MODELS = (("", 1), ("wale", 1), ("wale", 10), ("vreman", 1), ("vreman", 10))
FLUIDS = (("D3Q19", "BGK"), ("D3Q27", "Cumulant"))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--size", type=int, default=512)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--tune", action="store_true")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    rows = []
    for (stencil, collision), streaming in itertools.product(FLUIDS, ("in-place", "two-lattice")):
        plain = 0.0
        for model, every in MODELS:
            box = Configuration(
                stencil, collision, streaming=streaming, size=arguments.size, turbulence=model, every=every
            )
            if arguments.tune:
                for launch in tuning.tune(box, device=arguments.device, seconds=0.05):
                    if launch.best:
                        print(launch.line(), flush=True)
            found = measure(box, device=arguments.device, threads=None, seconds=arguments.seconds, repeats=3)
            plain = plain or found.mlups
            more = 100 * (plain / found.mlups - 1)
            kernels = ", ".join(f"{kernel['registers']} registers" for kernel in found.kernels)
            print(
                f"{box!s:<54} {found.mlups:8.0f} MLUPS {found.bytes_per_update:4} B {found.bandwidth_fraction:6.3f} of "
                f"a copy {more:+6.1f} % time; {kernels}",
                flush=True,
            )
            names = {"": "no model", "wale": "WALE", "vreman": "Vreman"}
            model_name = names[model] + (f", every={every}" if every > 1 else "")
            what = f"{stencil} {collision}, {streaming}, {model_name}"
            cost = f"{more:+.1f} %" if model else ""
            rows.append([what, f"{found.mlups / 1000:.2f}", f"{found.bandwidth_fraction:.3f}", cost])
    head = ["configuration", "GLUPS", "of a copy", "more time"]
    what = f"{arguments.size}^3 cells in float32"
    measured_table.write(arguments.json, arguments.device, "turbulence", what, head, rows)


if __name__ == "__main__":
    main()
