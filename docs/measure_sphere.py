"""Drag of a sphere in a stream at a Reynolds number of 100, by every collision:

python docs/measure_sphere.py --device cuda

writes docs/measured/sphere.json, in ten minutes on one GPU. The drag coefficient of an unbounded stream is 1.09 by
the correlation 24 / Re (1 + 0.15 Re^0.687) of L. Schiller & A. Naumann (1935); that of the box, along whose sides 5
diameters from the centre the stream slips, is a little larger.
"""

from __future__ import annotations

import argparse
import json
import platform
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import lbmgpu as lbm

MEASURED = Path(__file__).parent / "measured" / "sphere.json"
REYNOLDS, SPEED = 100, 0.05
BEFORE, BEHIND, BESIDE = 5, 12, 5
"""Diameters from the sphere's centre to the faces."""
PASSAGES = 3
"""Times that the stream passes the box before the drag is taken."""

COLLISIONS: list[tuple[str, str, dict[str, Any]]] = [
    ("TRT", "D3Q19", {}),
    ("MRT", "D3Q19", {}),
    ("MRT", "D3Q19", {"magic": 3 / 16}),
    ("Regularized", "D3Q19", {}),
    ("RecursiveRegularized", "D3Q19", {}),
    ("CentralMoments", "D3Q19", {}),
    ("TRT", "D3Q27", {}),
    ("CentralMoments", "D3Q27", {}),
    ("CentralMoments", "D3Q27", {"least_odd_rate": 0.6}),
    ("RecursiveRegularized", "D3Q27", {}),
    ("Cumulant", "D3Q27", {}),
]


def drag(name: str, stencil: str, options: dict[str, Any], diameter: int, device: str) -> float | None:
    """The drag coefficient; None where the run diverged."""
    shape = ((BEFORE + BEHIND) * diameter, 2 * BESIDE * diameter, 2 * BESIDE * diameter)
    domain = lbm.Domain(shape, stencil)
    domain.faces["-x"], domain.faces["+x"] = lbm.VelocityInlet((SPEED, 0.0, 0.0)), lbm.PressureOutlet(1.0)
    for face in ("-y", "+y", "-z", "+z"):
        domain.faces[face] = lbm.FreeSlip()
    x, y, z = np.ogrid[: shape[0], : shape[1], : shape[2]]
    away = [(a + 0.5 - n * diameter) ** 2 for a, n in ((x, BEFORE), (y, BESIDE), (z, BESIDE))]
    domain.add_body(away[0] + away[1] + away[2] < (diameter / 2) ** 2, name="sphere")
    collision = getattr(lbm, name)(SPEED * diameter / REYNOLDS, **options)
    solver = lbm.Solver(domain, collision, device=device)
    solver.initialize(velocity=(SPEED, 0.0, 0.0))
    try:
        solver.run(round(PASSAGES * shape[0] / SPEED))
    except lbm.DivergedError:
        return None
    area = np.pi * diameter**2 / 4
    return float(solver.body_force("sphere")[0] / (0.5 * SPEED**2 * area))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--diameters", type=int, nargs="+", default=[16, 24])
    parser.add_argument("--output", type=Path, default=MEASURED)
    given = parser.parse_args()
    warnings.simplefilter("ignore", lbm.LinearlyUnstableWarning)
    rows = []
    for diameter in given.diameters:
        for name, stencil, options in COLLISIONS:
            found = drag(name, stencil, options, diameter, given.device)
            rows.append({"collision": name, "stencil": stencil, **options, "diameter": diameter, "drag": found})
            print(rows[-1], flush=True)
    machine = {"device": given.device, "python": platform.python_version()}
    given.output.write_text(json.dumps({"machine": machine, "runs": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
