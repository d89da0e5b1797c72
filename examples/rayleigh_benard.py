"""A layer of fluid heated from below: where convection begins, and how much heat its rolls carry.

    python examples/rayleigh_benard.py --onset
    python examples/rayleigh_benard.py --rayleigh 1e4 --output rolls.png
    python examples/rayleigh_benard.py --dimensions 3 --rayleigh 3e4 --cells 32 --width 4.032 --output cells.png

Rigid plates half a cell off the lowest and the highest cells, periodic sides. At the critical Rayleigh number 1707.76
a wave 2.016 times as long as the layer is high neither grows nor decays; this is the default width.
"""

from __future__ import annotations

import argparse

import numpy as np
from matplotlib.figure import Figure

import lbmgpu as lbm

CRITICAL = 1707.762
CLEVER_BUSSE = {2000: 1.212, 2500: 1.475, 3000: 1.663, 5000: 2.116, 10_000: 2.661}
"""Nusselt number of steady rolls of the critical wavelength in air: J. Fluid Mech. 65 (1974) 625."""
SPECTRAL = {2000: 1.2105, 2500: 1.4717, 3000: 1.6602, 5000: 2.1102, 10_000: 2.6525}
"""The same by Newton's method on 24 Fourier and 25 Chebyshev points, where its digits no longer change."""


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Convection in a layer heated from below.")
    parser.add_argument("--onset", action="store_true", help="find the critical Rayleigh number in two dimensions")
    parser.add_argument("--dimensions", type=int, choices=(2, 3), default=2, help="of space (2)")
    parser.add_argument("--rayleigh", type=float, default=1e4, metavar="RA", help="Rayleigh number (1e4)")
    parser.add_argument("--prandtl", type=float, default=0.71, metavar="PR", help="Prandtl number (0.71)")
    parser.add_argument("--cells", type=int, default=40, metavar="N", help="cells from plate to plate (40)")
    parser.add_argument("--width", type=float, default=2.016, help="of the box over its height (2.016)")
    parser.add_argument("--velocity", type=float, default=0.1, metavar="U", help="of free fall, cells a step (0.1)")
    parser.add_argument("--device", default="auto", help="cpu, cuda or cuda:1 (auto)")
    parser.add_argument("--tolerance", type=float, default=1e-5, help="change of the temperature that ends it (1e-5)")
    parser.add_argument("--steps", type=int, default=200_000, metavar="N", help="the most (200000)")
    parser.add_argument("--output", metavar="PNG", help="a picture of temperature and velocity")
    return parser.parse_args()


def layer(given: argparse.Namespace, rayleigh: float, noise: float) -> tuple[lbm.Solver, lbm.Convection]:
    """At rest and conducting, its weight held by the pressure, but for one wave of the temperature along x."""
    setup = lbm.Convection(rayleigh, given.prandtl, given.cells, velocity=given.velocity)
    if setup.diffusivity > 0.3:
        setup = lbm.Convection(rayleigh, given.prandtl, given.cells, velocity=given.velocity * 0.3 / setup.diffusivity)
    up = given.dimensions - 1
    shape = [round(given.width * given.cells)] * given.dimensions
    shape[up] = given.cells
    axis = "xyz"[up]
    domain = lbm.Domain(tuple(shape), "D2Q9" if given.dimensions == 2 else "D3Q19")
    domain.faces["-" + axis] = domain.faces["+" + axis] = lbm.NoSlip()
    domain.thermal["-" + axis], domain.thermal["+" + axis] = lbm.Isothermal(0.5), lbm.Isothermal(-0.5)
    solver = lbm.Solver(
        domain,
        lbm.TRT(setup.viscosity),
        thermal=setup.thermal("+" + axis),
        precision="float64" if given.onset else "float32",
        device=given.device,
    )
    *sides, height = np.meshgrid(*((np.arange(n) + 0.5) / n for n in shape), indexing="ij")
    wave = np.cos(2 * np.pi * sides[0]) * np.sin(np.pi * height)
    if given.dimensions == 3:  # rolls that are not straight have a way to become cells
        wave = wave + 0.3 * np.cos(2 * np.pi * sides[1]) * np.sin(np.pi * height)
    pressure = setup.buoyancy * given.cells * (height - height**2) / 2
    solver.initialize(density=1 + 3 * pressure, temperature=0.5 - height + noise * wave)
    return solver, setup


def growth(given: argparse.Namespace, rayleigh: float) -> float:
    """Rate at which a small wave grows, in units of the diffusion time over the height."""
    solver, setup = layer(given, rayleigh, noise=1e-4)
    diffusion = given.cells**2 / setup.diffusivity
    width = solver.domain.shape[0]
    wave = np.cos(2 * np.pi * (np.arange(width) + 0.5) / width)
    amplitudes = []
    for part in (0.3, 0.2):  # first the wave gets its shape across the layer
        solver.step(round(part * diffusion))
        amplitudes.append(np.abs(wave @ solver.velocity()[1]).max())
    return float(np.log(amplitudes[1] / amplitudes[0]) / 0.2)


def onset(given: argparse.Namespace) -> None:
    """The Rayleigh number at which the wave neither grows nor decays, between two that it does at."""
    rates = {}
    for rayleigh in (1600, 1820):
        rates[rayleigh] = growth(given, rayleigh)
        print(f"Ra {rayleigh}: growth {rates[rayleigh]:+.4f} in a diffusion time")
    (low, damped), (high, growing) = rates.items()
    critical = low - damped * (high - low) / (growing - damped)
    print(f"critical Rayleigh number {critical:.1f}, exact {CRITICAL:.1f}: {100 * (critical / CRITICAL - 1):+.2f} %")


def rolls(given: argparse.Namespace) -> tuple[lbm.Solver, lbm.Convection]:
    """Run until the temperature stays, and print the heat that passes the plates."""
    solver, setup = layer(given, given.rayleigh, noise=0.1)
    low, high = ("-y", "+y") if given.dimensions == 2 else ("-z", "+z")
    every = max(500, round(setup.length / setup.velocity))

    def watch(solver: lbm.Solver) -> None:
        print(f"step {solver.steps:7d}: Nu {solver.nusselt(low, setup.length, setup.difference):.4f}")

    result = solver.run(
        given.steps,
        progress=True,
        until=lbm.Steady(given.tolerance, every=every, of="temperature"),
        callbacks=[lbm.Every(10 * every, watch)],
    )
    hot, cold = (solver.nusselt(face, setup.length, setup.difference) for face in (low, high))
    print(f"{result.reason}, {result.mlups:.0f} MLUPS")
    print(f"Nusselt number {hot:.4f} at the hot plate, {-cold:.4f} at the cold one")
    if given.dimensions == 2 and given.prandtl == 0.71 and given.rayleigh in CLEVER_BUSSE:
        for name, numbers in (("Clever & Busse 1974", CLEVER_BUSSE), ("spectral", SPECTRAL)):
            other = numbers[int(given.rayleigh)]
            print(f"{name:20}{other:.4f}: {100 * (hot / other - 1):+.2f} %")
    return solver, setup


def picture(solver: lbm.Solver, setup: lbm.Convection, path: str) -> None:
    """The temperature, with arrows of the velocity; in three dimensions seen from the side and from above."""
    temperature, velocity = solver.temperature(), solver.velocity()
    width, n = temperature.shape[0] / temperature.shape[-1], temperature.shape[-1]
    figure = Figure(figsize=(9, 4), layout="constrained")
    plots = figure.subplots(1, temperature.ndim - 1, squeeze=False)[0]
    side = (temperature, velocity) if temperature.ndim == 2 else (temperature[:, 0], velocity[[0, 2], :, 0])
    image = plots[0].imshow(side[0].T, origin="lower", extent=(0, width, 0, 1), cmap="RdBu_r", vmin=-0.5, vmax=0.5)
    every = max(1, n // 16)
    x, y = ((np.arange(m) + 0.5)[::every] / n for m in side[0].shape)
    plots[0].quiver(x, y, side[1][0][::every, ::every].T, side[1][1][::every, ::every].T)
    plots[0].set(xlabel="x / L", ylabel="height / L")
    figure.colorbar(image, ax=plots[0], label="temperature", shrink=0.8)
    if temperature.ndim == 3:
        rising = velocity[2, :, :, n // 2].T / setup.velocity
        image = plots[1].imshow(rising, origin="lower", extent=(0, width, 0, width), cmap="RdBu_r")
        plots[1].set(xlabel="x / L", ylabel="y / L")
        figure.colorbar(image, ax=plots[1], label="rising at half the height over free fall", shrink=0.8)
    figure.suptitle(f"Ra {setup.rayleigh:g}, Pr {setup.prandtl:g}")
    figure.savefig(path, dpi=100)
    print(f"picture: {path}")


if __name__ == "__main__":
    given = arguments()
    if given.onset:
        given.dimensions = 2
        onset(given)
    else:
        solver, setup = rolls(given)
        if given.output:
            picture(solver, setup, given.output)
