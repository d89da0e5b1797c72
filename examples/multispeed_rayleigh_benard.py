"""A layer of gas heated from below, in D2Q37: convection of a compressible gas with its own temperature.

    python examples/multispeed_rayleigh_benard.py --rayleigh 1e4 --output rolls.png

Plates at two temperatures, periodic sides 2.016 times as far apart as the plates, gravity. A gas that rises expands and
cools by g / c_p a cell, so only what the plates differ by beyond that drives the flow: the Rayleigh number is made with
that difference, ``Ra = g dT H^3 / (T nu alpha)``, and the Nusselt number is the heat through a plate beyond k g / c_p
over k dT / H (E. A. Spiegel & G. Veronis, Astrophys. J. 131 (1960) 442, show that a shallow layer is then as that of
Boussinesq).
"""

from __future__ import annotations

import argparse
import math

import numpy as np
from matplotlib.figure import Figure

import lbmgpu as lbm

MEAN = lbm.stencil("D2Q37").cs2
"""The temperature half-way between the plates; the model is stablest around it."""
HEAT_CAPACITY = 2.0
"""c_p of a gas in two dimensions."""
CLEVER_BUSSE = {2000: 1.212, 2500: 1.475, 3000: 1.663, 5000: 2.116, 10_000: 2.661}
"""Nusselt number of steady rolls of the critical wavelength in air: J. Fluid Mech. 65 (1974) 625."""


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Convection of a gas heated from below.")
    parser.add_argument("--rayleigh", type=float, default=1e4, metavar="RA", help="Rayleigh number (1e4)")
    parser.add_argument("--prandtl", type=float, default=0.71, metavar="PR", help="Prandtl number (0.71)")
    parser.add_argument("--cells", type=int, default=40, metavar="N", help="cells from plate to plate (40)")
    parser.add_argument("--difference", type=float, default=0.15, help="of temperature between plates over mean (0.15)")
    parser.add_argument("--velocity", type=float, default=0.05, metavar="U", help="of free fall, cells a step (0.05)")
    parser.add_argument("--fourth-order-diffusion", action="store_true", help="of waves")
    parser.add_argument("--device", default="auto", help="cpu, cuda or cuda:1 (auto)")
    parser.add_argument("--threads", type=int, help="of the CPU")
    parser.add_argument("--tolerance", type=float, default=1e-6, help="change of the temperature that ends it (1e-6)")
    parser.add_argument("--steps", type=int, default=200_000, metavar="N", help="the most (200000)")
    parser.add_argument("--output", metavar="PNG", help="a picture of temperature and velocity")
    return parser.parse_args()


class Layer:
    """The gas between the plates, conducting but for a wave along x, held by its pressure."""

    def __init__(self, given: argparse.Namespace) -> None:
        n, whole = given.cells, given.difference * MEAN
        # U^2 = g (whole - g H / c_p) H / T: of the two gravities the smaller one
        square = whole**2 - 2 * given.velocity**2 * MEAN * 2 / HEAT_CAPACITY
        if square <= 0:
            raise SystemExit("a gas this fast cools by more than the plates differ: less velocity or more difference")
        self.gravity = (whole - math.sqrt(square)) * HEAT_CAPACITY / 2 / n
        self.height = n
        self.drop = self.gravity / HEAT_CAPACITY
        """Of the temperature in each cell that a gas rises, without heat."""
        self.difference = whole - self.drop * n
        self.viscosity = given.velocity * n * math.sqrt(given.prandtl / given.rayleigh)
        self.hot, self.cold = MEAN + whole / 2, MEAN - whole / 2
        width = round(2.016 * n)
        domain = lbm.Domain((width, n), "D2Q37")
        domain.faces["-y"] = domain.faces["+y"] = lbm.NoSlip()
        domain.thermal["-y"], domain.thermal["+y"] = lbm.Isothermal(self.hot), lbm.Isothermal(self.cold)
        self.solver = lbm.Solver(
            domain,
            lbm.ThermalBGK(self.viscosity, given.prandtl, (0, -self.gravity), given.fourth_order_diffusion),
            device=given.device,
            threads=given.threads,
        )
        x, y = ((np.arange(k) + 0.5) / k for k in (width, n))
        conducting = self.hot - whole * y
        # d ln p / dy = -g / T of a straight profile, and density 1 half-way
        pressure = MEAN * (conducting / MEAN) ** (self.gravity * n / whole)
        wave = 0.1 * whole * np.outer(np.cos(2 * np.pi * x), np.sin(np.pi * y))
        temperature = conducting + wave
        self.solver.initialize(density=pressure / temperature, temperature=temperature)

    def nusselt(self) -> tuple[float, float]:
        """At the hot and at the cold plate: the heat through each, less what the adiabatic gradient conducts."""
        return self.solver.nusselt("-y"), self.solver.nusselt("+y")


def picture(layer: Layer, path: str) -> None:
    """The temperature, with arrows of the velocity."""
    temperature, velocity = layer.solver.temperature(), layer.solver.velocity()
    n = layer.height
    figure = Figure(figsize=(7, 4), layout="constrained")
    plot = figure.add_subplot()
    image = plot.imshow(temperature.T, origin="lower", extent=(0, temperature.shape[0] / n, 0, 1), cmap="RdBu_r")
    every = max(1, n // 16)
    x, y = ((np.arange(k) + 0.5)[::every] / n for k in temperature.shape)
    plot.quiver(x, y, velocity[0][::every, ::every].T, velocity[1][::every, ::every].T)
    plot.set(xlabel="x / H", ylabel="height / H")
    figure.colorbar(image, ax=plot, label="temperature", shrink=0.8)
    figure.savefig(path, dpi=100)
    print(f"picture: {path}")


def run(given: argparse.Namespace) -> Layer:
    """Run until the temperature stays, and print the heat that passes the plates."""
    layer = Layer(given)
    solver = layer.solver
    print(
        f"gravity {layer.gravity:.4g}, viscosity {layer.viscosity:.4g}, difference {layer.difference:.4g} that drives"
    )
    every = max(500, round(layer.height / given.velocity))

    def watch(solver: lbm.Solver) -> None:
        print(f"step {solver.steps:7d}: Nu {layer.nusselt()[0]:.4f}, kinetic energy {solver.kinetic_energy():.5g}")

    result = solver.run(
        given.steps,
        progress=True,
        until=lbm.Steady(given.tolerance, every=every, of="temperature"),
        callbacks=[lbm.Every(10 * every, watch)],
    )
    hot, cold = layer.nusselt()
    print(f"{result.reason}{'' if result.converged else ', not steady yet'}, {result.mlups:.0f} MLUPS")
    print(f"Nusselt number {hot:.4f} at the hot plate, {cold:.4f} at the cold one")
    print(f"kinetic energy {solver.kinetic_energy():.5g}, fastest {np.abs(solver.velocity()).max():.4f} cells a step")
    if given.prandtl == 0.71 and given.rayleigh in CLEVER_BUSSE:
        other = CLEVER_BUSSE[int(given.rayleigh)]
        print(f"Clever & Busse 1974  {other:.4f}: {100 * ((hot + cold) / 2 / other - 1):+.2f} %")
    return layer


if __name__ == "__main__":
    given = arguments()
    layer = run(given)
    if given.output:
        picture(layer, given.output)
