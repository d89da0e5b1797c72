"""A Bingham fluid between two plates, by a collision of its own: a plug in the middle, sheared layers at the walls.

    python examples/bingham_channel.py
    python examples/bingham_channel.py --yield-stress 2e-4 --cells 64 --device cuda --output profile.png

1. The fluid: `bingham.h`, beside this script, is its collision, compiled when the solver is made.
2. The channel: resting walls in y, periodic in x, driven by a force F along x until nothing changes.
3. The check: the stress in steady flow is F |y|, y from the middle, whatever the fluid; the model's law then gives the
   shear rate g at each y, and its integral the velocity.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import lbmgpu as lbm

HEADER = Path(__file__).with_name("bingham.h")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="A Bingham fluid between two plates.")
    parser.add_argument("--cells", type=int, default=32, metavar="N", help="from plate to plate (32)")
    parser.add_argument("--viscosity", type=float, default=0.1, metavar="NU", help="of the yielded fluid (0.1)")
    parser.add_argument("--yield-stress", type=float, default=1e-4, metavar="S", help="over the density (1e-4)")
    parser.add_argument("--shear-rate", type=float, default=2e-5, metavar="G", help="that regularises the law (2e-5)")
    parser.add_argument("--wall-stress", type=float, default=3.2e-4, metavar="S", help="the force times N/2 (3.2e-4)")
    parser.add_argument("--device", default="auto", help="cpu, cuda or cuda:1 (auto)")
    parser.add_argument("--precision", default="float64", help="float32 or float64 (float64)")
    parser.add_argument("--output", metavar="PNG", help="a picture of the profile")
    return parser.parse_args()


def velocity_of_model(given: argparse.Namespace, y: NDArray[np.float64]) -> NDArray[np.float64]:
    """u at y from the middle, by Gauss quadrature of the shear rate from y to the wall."""
    half, nu, rate = given.cells / 2, given.viscosity, given.shear_rate
    nodes, weights = np.polynomial.legendre.leggauss(200)
    at = y[:, None] + (half - y[:, None]) * (nodes + 1) / 2
    stress = given.wall_stress * at / half
    # (nu + yield / (g + rate)) g = stress
    b = stress - given.yield_stress - nu * rate
    g = (b + np.sqrt(b**2 + 4 * nu * rate * stress)) / (2 * nu)
    return (g * weights).sum(axis=1) * (half - y) / 2


def main() -> None:
    given = arguments()
    parameters = {name: getattr(given, name) for name in ("viscosity", "yield_stress", "shear_rate")}
    domain = lbm.Domain((4, given.cells), "D2Q9")
    domain.faces["-y"] = domain.faces["+y"] = lbm.NoSlip()
    force = (2 * given.wall_stress / given.cells, 0.0)
    collision = lbm.CustomCollision(HEADER, parameters)
    solver = lbm.Solver(domain, collision, force=force, precision=given.precision, device=given.device)

    largest = 200 * given.cells**2  # steps; the yielded layers need about N^2 / nu
    done = solver.run(largest, until=lbm.Steady(1e-9 if given.precision == "float64" else 1e-6))
    y = np.abs(np.arange(given.cells) + 0.5 - given.cells / 2)
    found, expected = solver.velocity()[0, 0], velocity_of_model(given, y)
    error = float(np.abs(found - expected).max() / expected.max())
    plug = given.yield_stress / given.wall_stress
    print(f"{done.steps} steps; plug of {100 * min(plug, 1):.0f} % of the channel moves at {found.max():.6f}")
    print(f"largest difference from the model's profile: {100 * error:.3f} % of that")
    if given.output:
        from matplotlib.figure import Figure

        figure = Figure(figsize=(5, 4), layout="constrained")
        axes = figure.add_subplot(xlabel="y / N", ylabel="u, cells a step")
        place = (np.arange(given.cells) + 0.5) / given.cells
        axes.plot(place, expected, "k-", label="model")
        axes.plot(place, found, "o", fillstyle="none", label="computed")
        axes.legend()
        figure.savefig(given.output, dpi=150)


if __name__ == "__main__":
    main()
