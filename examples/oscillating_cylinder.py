"""A cylinder that oscillates in a fluid at rest: drag and added mass beside published ones.

    python examples/oscillating_cylinder.py --diameter 40 --device cuda

The inline force on the cylinder follows Morison's equation, F = - rho D c_d |U| U / 2 - rho pi D^2 c_i U' / 4. At a
Reynolds number of 100 and a Keulegan-Carpenter number of 5 Duetsch, Durst, Becker & Lienhart (J. Fluid Mech. 360 (1998)
249) have c_d = 2.09 and c_i = 1.45. The box is 55 x 35 diameters, as theirs, and periodic. Theirs is a fluid without
compression: sound has to cross the box some times in a period. At a speed of 0.05 it does so once, in resonance with
the cylinder, and c_d is 10 % too large.
"""

from __future__ import annotations

import argparse

import numpy as np

import lbmgpu as lbm

PUBLISHED = {(100, 5): (2.09, 1.45)}
"""Drag coefficient and added mass, by Reynolds and Keulegan-Carpenter number."""


def oscillate(
    diameter: float,
    *,
    reynolds: float = 100,
    keulegan_carpenter: float = 5,
    fastest: float = 0.02,
    size: tuple[float, float] = (55, 35),
    periods: int = 10,
    device: str = "auto",
    precision: str = "float32",
) -> tuple[float, float]:
    """The drag coefficient and the added mass in the last period.

    Args:
        diameter: of the cylinder, in cells.
        reynolds: of the largest speed and the diameter.
        keulegan_carpenter: the largest speed times the period over the diameter.
        fastest: the largest speed, cells a step.
        size: of the box, in diameters.
        periods: that are computed.
        device, precision: as for `Solver`.
    """
    # 1. The motion: x = A sin(2 pi t / T), of which the largest speed is 2 pi A / T.
    period = round(keulegan_carpenter * diameter / fastest)
    motion = lbm.Oscillation((fastest * period / (2 * np.pi), 0), period=period)

    # 2. The cylinder in the middle of the box.
    shape = tuple(round(diameter * n) for n in size)
    domain = lbm.Domain(shape, stencil="D2Q9")
    domain.add_body(lbm.Sphere((shape[0] / 2, shape[1] / 2), diameter / 2), "cylinder", motion=motion)

    # 3. The force in each step, which the engine records.
    solver = lbm.Solver(domain, lbm.TRT(fastest * diameter / reynolds), device=device, precision=precision)
    forces = solver.record(lbm.Forces("cylinder"))
    solver.run(periods * period)

    # 4. Morison's coefficients by least squares.
    last = forces.steps > (periods - 1) * period
    t = 2 * np.pi * forces.steps[last] / period
    speed, acceleration = fastest * np.cos(t), -fastest * 2 * np.pi / period * np.sin(t)
    terms = np.stack([diameter / 2 * np.abs(speed) * speed, np.pi / 4 * diameter**2 * acceleration], axis=1)
    drag, mass = np.linalg.lstsq(terms, -forces["force"][last, 0], rcond=None)[0]
    return float(drag), float(mass)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Drag and added mass of an oscillating cylinder.")
    parser.add_argument("--diameter", type=float, default=40, metavar="D", help="of the cylinder, cells (40)")
    parser.add_argument("--speed", type=float, default=0.02, metavar="U", help="largest speed, cells a step (0.02)")
    parser.add_argument("--periods", type=int, default=10, metavar="N", help="that are computed (10)")
    parser.add_argument("--precision", default="float32", help="of the arithmetic (float32)")
    parser.add_argument("--device", default="auto", help="such as cuda (auto)")
    given = parser.parse_args()
    options = {"fastest": given.speed, "periods": given.periods, "device": given.device, "precision": given.precision}
    found = oscillate(given.diameter, **options)
    for name, value, published in zip(("drag", "added mass"), found, PUBLISHED[100, 5], strict=True):
        print(f"{name} {value:.3f}, published {published:.2f}: {100 * (value / published - 1):+.1f} %")
