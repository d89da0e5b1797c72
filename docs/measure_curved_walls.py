"""Forces on curved walls beside published values:

python docs/measure_curved_walls.py --device cuda --json curved.json

in a quarter of an hour on one GPU; `python docs/fill_validation.py curved.json` puts its table into validation.md. The
flows are those of M. Schaefer & S. Turek (Notes on Numerical Fluid Mechanics 52 (1996) 547), cylinders in channels in
two and three dimensions; Stokes flow through simple cubic arrays of spheres (A. A. Zick & G. M. Homsy, J. Fluid Mech.
115 (1982) 13); and arrays whose bodies lie at several places among the cells. All use TRT with the incompressible
equilibrium in float64.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import lbmgpu as lbm
from lbmgpu.benchmarks.single import machine

PEAK = 0.02
"""Largest speed of the inlets, in cells a step."""
DURATION = 10
"""In which the inlets come to it, in diameters over the mean speed."""
STEADY_2D = {"drag": 5.57953523384, "lift": 0.010618948146, "pressure difference": 0.11752016697}
"""Of case 2D-1: digits of the FeatFlow benchmark pages. Pressures are over 25 rho U^2 there, U the mean speed."""
SHEDDING = {"largest drag": 3.227393, "least drag": 3.164263, "lift, peak to peak": 2.007871, "Strouhal": 0.301841}
"""Of case 2D-2, likewise."""
STEADY_3D = {"drag": 6.18533, "lift": 0.009401, "pressure difference": 0.171}
"""Of case 3D-1Z; the intervals of the authors are 6.05 to 6.25, 0.008 to 0.010 and 0.165 to 0.175."""
SPHERES = {0.027: 2.00775, 0.064: 2.81020, 0.125: 4.29159, 0.216: 7.44192}
"""Volume fractions, and the drag over that of a single sphere at the superficial velocity: by periodic point forces
(tests/reference/stokes_array.py, 200 of them at half of the radius), which agree with the four published digits."""
PLACES = ((0.0, 0.0, 0.0), (0.5, 0.5, 0.5), (0.27, 0.41, 0.13), (0.5, 0.0, 0.25), (0.05, 0.5, 0.4))
"""Of a body's centre among the cells."""

Row = dict[str, Any]


def channel(diameter: int, reynolds: float, dimensions: int, options: argparse.Namespace) -> tuple[lbm.Solver, float]:
    """The solver of a channel with a cylinder across it, and the mean speed of the inlet."""
    height = round(4.1 * diameter)
    ahead, length = (2, 22) if dimensions == 2 else (5, 25)
    shape = (length * diameter, *(height,) * (dimensions - 1))
    domain = lbm.Domain(shape, "D2Q9" if dimensions == 2 else "D3Q19")
    for face in ("-y", "+y", "-z", "+z")[: 2 * dimensions - 2]:
        domain.faces[face] = lbm.NoSlip()

    def profile(x: Any, *across: Any) -> tuple[Any, ...]:
        speed = PEAK
        for a in across:
            speed = speed * 4 * a / height * (1 - a / height)
        return (speed, *(0.0,) * (dimensions - 1))

    mean = PEAK * (2 / 3) ** (dimensions - 1)
    starting = lbm.Ramp(0, 1, DURATION * diameter / mean, shape="cosine")  # so slowly that little sound comes of it
    domain.faces["-x"] = lbm.VelocityInlet(profile * starting, scheme="regularized")
    domain.faces["+x"] = lbm.PressureOutlet()
    center = (ahead * diameter, 2 * diameter)
    body: lbm.Geometry = lbm.Sphere(center, diameter / 2)
    if dimensions == 3:
        body = lbm.Cylinder((*center, 0), diameter / 2, axis="z")
    domain.add_body(body, "cylinder", lbm.NoSlip(scheme=options.scheme))
    collision = lbm.TRT(mean * diameter / reynolds, incompressible=True)
    solver = lbm.Solver(domain, collision, device=options.device, precision="float64")
    return solver, mean


def steady_channel(diameter: int, dimensions: int, options: argparse.Namespace) -> Iterator[Row]:
    """Cases 2D-1 and 3D-1Z."""
    solver, mean = channel(diameter, 20, dimensions, options)
    shape = solver.domain.shape
    solver.run(round(options.passages * shape[0] / mean))
    ahead = 2 if dimensions == 2 else 5
    rest = (shape[2] / 2,) if dimensions == 3 else ()
    off = np.array((1.0, 2.0, 3.0))
    front = [((ahead - 0.5) * diameter - a, 2 * diameter, *rest) for a in off]
    back = [((ahead + 0.5) * diameter + a, 2 * diameter, *rest) for a in off]
    every = 20
    area = diameter * shape[1] ** (dimensions - 2)
    forces = solver.record(lbm.Coefficients("cylinder", speed=mean, area=area, every=every))
    probe = solver.record(lbm.Probe(front + back, "density", every=every))
    solver.run(200 * every)  # over which sound that is left passes
    pressure = (np.asarray(probe["density"]).mean(axis=0) - 1) / 3 / (25 * mean**2)
    to_surface = np.array((3.0, -3.0, 1.0))  # quadratic
    found = {
        "drag": forces["drag"].mean(),
        "lift": forces["lift"].mean(),
        "pressure difference": float(to_surface @ pressure[:3] - to_surface @ pressure[3:]),
    }
    case, exact = ("2D-1", STEADY_2D) if dimensions == 2 else ("3D-1Z", STEADY_3D)
    swing = float(np.ptp(forces["lift"]))
    for name, value in found.items():
        yield {"case": case, "cells": diameter, "of": name, "found": float(value), "exact": exact[name], "swing": swing}


def shedding_channel(diameter: int, options: argparse.Namespace) -> Iterator[Row]:
    """Case 2D-2, over at least ten periods after the first 25."""
    solver, mean = channel(diameter, 100, 2, options)
    unit = diameter / mean
    solver.run(round(options.development * unit))
    history = solver.record(lbm.Coefficients("cylinder", speed=mean, area=diameter, every=20))
    solver.run(round(35 * unit))
    drag, lift = history["drag"], history["lift"]
    number = lbm.strouhal(history, speed=mean, length=diameter)
    found = {
        "largest drag": drag.max(),
        "least drag": drag.min(),
        "lift, peak to peak": np.ptp(lift),
        "Strouhal": number.number,
    }
    for name, value in found.items():
        yield {"case": "2D-2", "cells": diameter, "of": name, "found": float(value), "exact": SHEDDING[name]}


def array_of_spheres(cells: int, fraction: float, place: tuple[float, ...], options: argparse.Namespace) -> float:
    """The drag over 6 pi mu a U, with the superficial velocity U."""
    radius = cells * (3 * fraction / (4 * np.pi)) ** (1 / 3)
    domain = lbm.Domain((cells,) * 3, "D3Q19")
    sphere = lbm.Sphere(tuple(cells // 2 + a for a in place), radius)
    domain.add_body(sphere, "sphere", lbm.NoSlip(scheme=options.scheme))
    viscosity, gradient = 0.1, 1e-7
    collision = lbm.TRT(viscosity, incompressible=True)
    solver = lbm.Solver(domain, collision, force=(gradient, 0.0, 0.0), device=options.device, precision="float64")
    solver.run(round(1.0 * cells**2 / viscosity))
    superficial = float(solver.velocity()[0][~solver.solid].sum()) / cells**3
    return gradient * cells**3 / (6 * np.pi * viscosity * radius * superficial)


def arrays_of_spheres(options: argparse.Namespace) -> Iterator[Row]:
    """Spheres of 10 cells of radius, and of 5 and 20 for the order; the last by their mean over places."""
    for fraction, exact in SPHERES.items():
        cells = int(np.ceil(10 * (4 * np.pi / (3 * fraction)) ** (1 / 3)))
        drags = [array_of_spheres(cells, fraction, place, options) for place in PLACES]
        radius = round(cells * (3 * fraction / (4 * np.pi)) ** (1 / 3), 2)
        spread = max(drags) / min(drags) - 1
        yield {"case": f"spheres, c = {fraction}", "cells": 2 * radius, "of": "drag", "found": float(np.mean(drags)),
               "exact": exact, "spread": spread}  # fmt: skip


def speed_in_array(diameter: int, place: tuple[float, ...], options: argparse.Namespace) -> float:
    """The Reynolds number, about 20, of the superficial flow past a square array of cylinders by a given force."""
    n, viscosity = 3 * diameter, 0.05
    domain = lbm.Domain((n, n), "D2Q9")
    cylinder = lbm.Sphere(tuple(n // 2 + a for a in place[:2]), diameter / 2)
    domain.add_body(cylinder, "cylinder", lbm.NoSlip(scheme=options.scheme))
    force = 60 * viscosity**2 / diameter**3
    collision = lbm.TRT(viscosity, incompressible=True)
    solver = lbm.Solver(domain, collision, force=(force, 0.0), device=options.device, precision="float64")
    solver.run(round(0.5 * n**2 / viscosity))
    return float(solver.velocity()[0][~solver.solid].sum()) / n**2 * diameter / viscosity


def order_of_cylinders(options: argparse.Namespace) -> Iterator[Row]:
    """The Reynolds number that a force drives, by diameters, and the order at which it converges."""
    diameters = (10, 20, 40, 80)
    speeds = {d: [speed_in_array(d, place, options) for place in PLACES] for d in diameters}
    means = {d: float(np.mean(found)) for d, found in speeds.items()}
    limit = means[80] + (means[80] - means[40]) / 3
    for d in diameters:
        spread = max(speeds[d]) / min(speeds[d]) - 1
        yield {"case": "array of cylinders", "cells": d, "of": "Reynolds number", "found": means[d], "exact": limit,
               "spread": spread}  # fmt: skip


CASES: dict[str, Callable[[argparse.Namespace], Iterator[Row]]] = {
    "2D-1": lambda o: steady_channel(o.diameter, 2, o),
    "2D-2": lambda o: shedding_channel(o.diameter, o),
    "3D-1Z": lambda o: steady_channel(o.diameter // 2, 3, o),
    "spheres": arrays_of_spheres,
    "cylinders": order_of_cylinders,
}


def arguments(given: list[str] | None = None) -> argparse.Namespace:
    """Those of the command line, or the given ones."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--diameter", type=int, default=40, help="cells across cylinders in channels; half in 3-D")
    parser.add_argument("--scheme", default="interpolated", help="of the walls, as of lbm.NoSlip")
    parser.add_argument("--passages", type=float, default=2.5, help="of the mean flow, until a channel is steady")
    parser.add_argument("--development", type=float, default=85, help="of shedding, in D / U")
    parser.add_argument("--json", type=Path)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"of {', '.join(CASES)}; all without")
    return parser.parse_args(given)


def main() -> None:
    options = arguments()
    rows: list[Row] = []
    for case in options.cases or CASES:
        begin = time.perf_counter()
        for row in CASES[case](options):
            rows.append(row | {"scheme": options.scheme})
            print(f"{100 * (row['found'] / row['exact'] - 1):+.3f} %  {row}", flush=True)
        print(f"{case}: {time.perf_counter() - begin:.1f} s", flush=True)
        if options.json is not None:
            found = {"kind": "curved", "machine": machine(None, options.device), "rows": rows}
            options.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
