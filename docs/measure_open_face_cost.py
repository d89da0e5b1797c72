"""What the schemes of inlets and outlets across x cost on a GPU, in a channel of 512 x 256 x 256 cells of D3Q19:

python docs/measure_open_face_cost.py [--device cuda] [--shape 512 256 256] [--sides wall] [--launches 1,512,2 4,128,3]
    [--json docs/measured/open_faces.json]

prints the time of a step with each pair of faces, and what it takes more than one with bounce-back and
anti-bounce-back, in one to two minutes. `--launches` adds a row for each of these launch configurations: cells a
thread, threads a block and blocks a multiprocessor. The times of single kernels are told by

ncu --clock-control none --csv --metrics gpu__time_duration.sum,launch__registers_per_thread \
    python docs/measure_open_face_cost.py --steps 4 --runs 1
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

import measured_table

import lbmgpu as lbm

SPEED = 0.05
FACES = [
    ("bounce-back", "anti-bounce-back"),
    ("bounce-back", "outflow"),
    ("non-equilibrium", "anti-bounce-back"),
    ("characteristic", "anti-bounce-back"),
    ("bounce-back", "characteristic"),
    ("characteristic", "characteristic"),
    ("regularized", "anti-bounce-back"),
    ("regularized", "characteristic"),
]
NUMBERS = [("in-place", "float32"), ("two-lattice", "float32"), ("in-place", "float16"), ("two-lattice", "float16")]


def solver(
    shape: Sequence[int], faces: tuple[str, str], sides: str, streaming: str, storage: str, device: str
) -> lbm.Solver:
    domain = lbm.Domain(tuple(shape), "D3Q19")
    inlet, outlet = faces
    domain.faces["-x"] = lbm.VelocityInlet((SPEED, 0.0, 0.0), scheme=inlet)
    domain.faces["+x"] = lbm.Outflow() if outlet == "outflow" else lbm.PressureOutlet(1.0, scheme=outlet)
    for face in ("-y", "+y", "-z", "+z"):
        domain.faces[face] = lbm.NoSlip() if sides == "wall" else lbm.Periodic()
    made = lbm.Solver(domain, lbm.BGK(0.05), streaming=streaming, storage=storage, device=device)
    made.initialize(velocity=(SPEED, 0.0, 0.0))
    return made


def time_of_step(made: lbm.Solver, steps: int, runs: int) -> float:
    """In microseconds: the best of some runs."""
    best = float("inf")
    for _ in range(runs):
        made.run(steps)
        speed = made.report(bandwidth=False).mlups
        assert speed is not None
        best = min(best, made.domain.cells / speed)
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--shape", type=int, nargs=3, default=(512, 256, 256))
    parser.add_argument("--sides", choices=("periodic", "wall"), default="periodic")
    parser.add_argument("--steps", type=int, default=320)
    parser.add_argument("--runs", type=int, default=6)
    parser.add_argument("--launches", nargs="*", default=[], metavar="V,T,B")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    head = ["streaming, storage", "inlet, outlet", "launch", "step, us", "more"]
    rows: list[list[str]] = []
    for streaming, storage in NUMBERS:
        first = 0.0
        for faces in FACES:
            for launch in ("", *given.launches):
                os.environ.pop("LBMGPU_UPDATE_SHAPE", None)
                if launch:
                    os.environ["LBMGPU_UPDATE_SHAPE"] = launch
                made = solver(given.shape, faces, given.sides, streaming, storage, given.device)
                step = time_of_step(made, given.steps, given.runs)
                first = first or step
                more = f"{100 * (step / first - 1):+.1f} %" if step != first else ""
                row = [f"{streaming}, {storage}", ", ".join(faces), launch or "default", f"{step:.0f}", more]
                rows.append(row)
                print(*row, sep=" | ", flush=True)
                del made  # before the next one takes its memory
    if not given.launches:
        head, rows = [head[k] for k in (0, 1, 3, 4)], [[row[k] for k in (0, 1, 3, 4)] for row in rows]
    what = f"D3Q19 with BGK in {' x '.join(map(str, given.shape))} cells"
    measured_table.write(given.json, given.device, "open-faces", what, head, rows)


if __name__ == "__main__":
    main()
