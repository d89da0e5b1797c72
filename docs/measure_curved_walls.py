"""Forces on curved walls by every scheme, beside published values:

python docs/measure_curved_walls.py --device cuda

writes docs/measured/curved_walls.json, in half an hour on one GPU. The flows are case 2D-1 of M. Schaefer & S. Turek
(Notes on Numerical Fluid Mechanics 52 (1996) 547), a cylinder in a channel at a Reynolds number of 20, and Stokes flow
through simple cubic arrays of spheres (A. A. Zick & G. M. Homsy, J. Fluid Mech. 115 (1982) 13).
"""

from __future__ import annotations

import argparse
import json
import math
import platform
from pathlib import Path
from typing import Any

import numpy as np

import lbmgpu as lbm

MEASURED = Path(__file__).parent / "measured" / "curved_walls.json"
SCHEMES = ("halfway", "bouzidi", "central-linear", "interpolated")
PEAK, REYNOLDS = 0.02, 20
DRAG, LIFT = 5.57953523384, 0.010618948146
"""Of case 2D-1: digits of the FeatFlow benchmark pages."""
SPHERES = {0.027: 2.008, 0.125: 4.292, 0.216: 7.442}
"""Volume fractions, and the drag over that of a single sphere at the superficial velocity."""


def channel_with_cylinder(diameter: int, scheme: str, device: str) -> dict[str, float]:
    """Drag and lift coefficient of case 2D-1."""
    mean, height = PEAK * 2 / 3, round(4.1 * diameter)
    domain = lbm.Domain((22 * diameter, height), "D2Q9")
    domain.faces["-y"] = domain.faces["+y"] = lbm.NoSlip()

    def parabola(x: Any, y: Any) -> tuple[Any, float]:
        return 4 * PEAK * y / height * (1 - y / height), 0.0

    domain.faces["-x"], domain.faces["+x"] = lbm.VelocityInlet(parabola, scheme="regularized"), lbm.PressureOutlet()
    domain.add_body(lbm.Sphere((2 * diameter, 2 * diameter), diameter / 2), "cylinder", lbm.NoSlip(scheme=scheme))
    collision = lbm.TRT(mean * diameter / REYNOLDS, incompressible=True)
    solver = lbm.Solver(domain, collision, device=device, precision="float64")
    solver.initialize(velocity=parabola)
    solver.run(round(2.5 * domain.shape[0] / mean))
    forces = []
    for _ in range(200):  # over which sound that is left passes
        solver.run(round(height / 8))
        forces.append(solver.body_force("cylinder"))
    drag, lift = 2 * np.mean(forces, axis=0) / (mean**2 * diameter)
    swing = 2 * np.ptp(forces, axis=0) / (mean**2 * diameter)
    return {"drag": float(drag), "lift": float(lift), "swing of the lift": float(swing[1])}


def array_of_spheres(cells: int, fraction: float, scheme: str, device: str) -> float:
    """The drag over 6 pi mu a U, with the superficial velocity U."""
    radius = cells * (3 * fraction / (4 * math.pi)) ** (1 / 3)
    domain = lbm.Domain((cells,) * 3, "D3Q19")
    sphere = lbm.Sphere((cells / 2 + 0.1, cells / 2 + 0.2, cells / 2 - 0.3), radius)
    domain.add_body(sphere, "sphere", lbm.NoSlip(scheme=scheme))
    viscosity, gradient = 0.1, 1e-7
    collision = lbm.TRT(viscosity, incompressible=True)
    solver = lbm.Solver(domain, collision, force=(gradient, 0.0, 0.0), device=device, precision="float64")
    solver.run(round(1.5 * cells**2 / viscosity))
    superficial = float(solver.velocity()[0][~solver.solid].sum()) / cells**3
    return gradient * cells**3 / (6 * math.pi * viscosity * radius * superficial)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--diameters", type=int, nargs="*", default=[20, 40], help="cells across the cylinder")
    parser.add_argument("--cells", type=int, nargs="*", default=[16, 32], help="cells along a side of the array")
    parser.add_argument("--schemes", nargs="*", default=SCHEMES)
    options = parser.parse_args()
    found: dict[str, Any] = json.loads(MEASURED.read_text()) if MEASURED.exists() else {}
    found |= {"machine": platform.machine(), "device": options.device}
    for scheme in options.schemes:
        for diameter in options.diameters:
            result = channel_with_cylinder(diameter, scheme, options.device)
            found[f"2D-1, {diameter} cells, {scheme}"] = result
            print(f"2D-1 {scheme} {diameter}: drag {100 * (result['drag'] / DRAG - 1):+.3f} %, ", end="")
            print(f"lift {100 * (result['lift'] / LIFT - 1):+.2f} %, {result}", flush=True)
        for cells in options.cells:
            for fraction, exact in SPHERES.items():
                drag = array_of_spheres(cells, fraction, scheme, options.device)
                found[f"spheres of {fraction}, {cells} cells, {scheme}"] = drag
                print(f"spheres {scheme} {cells} {fraction}: {100 * (drag / exact - 1):+.3f} %", flush=True)
        MEASURED.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
