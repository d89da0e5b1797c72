"""Cold gas above hot gas: the Rayleigh-Taylor instability, in D2Q37.

    python examples/rayleigh_taylor.py --modes single --size 64 --output mode.png
    python examples/rayleigh_taylor.py --modes multi --size 512 --output mixing.png

Plates above and below at the temperatures of the two layers, periodic sides; each layer is at one temperature and held
by its pressure, and both have the same pressure where they meet. A single wave grows as linear theory says; a
superposition of many mixes the layers. The mixing length is that of Andrews & Spalding, Phys. Fluids A 2 (1990) 922:
``h = 6 integral of theta (1 - theta) dy``, of the mean temperature over x as a part of the difference; a layer in which
that is a straight line has its own height as h.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

import lbmgpu as lbm

Floats = NDArray[np.float64]
Points = list[tuple[float, float]]
"""Numbers by time, in width over velocity."""
MEAN = lbm.stencil("D2Q37").cs2
"""The temperature between the two layers'; the model is stablest around it."""
HEAT_CAPACITY = 2.0
"""c_p of a gas in two dimensions."""


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="The Rayleigh-Taylor instability of a gas.")
    parser.add_argument("--modes", choices=("single", "multi"), default="single", help="one wave or many (single)")
    parser.add_argument("--size", type=int, default=64, metavar="N", help="cells across (64)")
    parser.add_argument("--height", type=float, default=2.0, help="of the box over its width (2)")
    parser.add_argument("--atwood", type=float, default=0.1, help="difference of the densities over their sum (0.1)")
    parser.add_argument(
        "--reynolds", type=float, help="velocity times width over viscosity (300, or 2000 of many waves)"
    )
    parser.add_argument(
        "--velocity", type=float, default=0.06, metavar="U", help="sqrt(At g width), cells a step (0.06)"
    )
    parser.add_argument("--seed", type=int, default=1, help="of the phases of many waves (1)")
    parser.add_argument(
        "--steps",
        type=int,
        metavar="N",
        help="after the growth is measured (8 times width over velocity, 4 of many waves)",
    )
    parser.add_argument(
        "--precision", choices=("float32", "float64"), help="of numbers (float64, or float32 of many waves)"
    )
    parser.add_argument("--device", default="auto", help="cpu, cuda, cuda:1, or several with commas (auto)")
    parser.add_argument("--threads", type=int, help="of the CPU")
    parser.add_argument("--output", metavar="PNG", help="the temperature at four times, and the mixing length")
    parser.add_argument("--json", metavar="FILE", help="add the numbers of many waves to this file")
    given = parser.parse_args()
    if given.size < 8:
        parser.error(f"--size: {given.size} given, must be at least 8")
    if not 0 < given.atwood <= 0.2:
        parser.error(f"--atwood: {given.atwood} given, must be above 0 and at most 0.2, as warmer gas is unstable")
    for name in ("velocity", "height", "reynolds", "steps"):
        value = getattr(given, name)
        if value is not None and not value > 0:
            parser.error(f"--{name}: {value:g} given, must be above 0")
    for name, file in (("--output", given.output), ("--json", given.json)):
        if file and not Path(file).resolve().parent.is_dir():
            parser.error(f"{name}: there is no folder {Path(file).resolve().parent}")
    if given.json and Path(given.json).exists() and not isinstance(kept_in(Path(given.json)), list):
        parser.error(f"--json: {given.json} is there, must be a file that this script has written")
    if given.json and given.modes == "single":
        parser.error("--json: given with --modes single, must be with --modes multi")
    return given


@dataclass
class Setup:
    """The two layers: ``hot`` below and ``cold`` above, which meet at ``middle``."""

    solver: lbm.Solver
    gravity: float
    viscosity: float
    hot: float
    cold: float
    scale: float
    """Steps of a unit of time, width over velocity."""

    @property
    def atwood(self) -> float:
        return (self.hot - self.cold) / (self.hot + self.cold)

    def mean_temperature(self) -> Floats:
        """Over x, at each height."""
        return np.asarray(self.solver.temperature().mean(axis=0), dtype=np.float64)

    def mixing_length(self) -> float:
        """In cells; what the layers had of it at the beginning included."""
        theta = np.clip((self.mean_temperature() - self.cold) / (self.hot - self.cold), 0, 1)
        return float(6 * (theta * (1 - theta)).sum())


def layers(given: argparse.Namespace) -> Setup:
    """At rest, in balance but for the waves of the surface where the layers meet."""
    width, height = given.size, round(given.height * given.size)
    hot, cold = MEAN * (1 + given.atwood), MEAN * (1 - given.atwood)
    gravity = given.velocity**2 / (given.atwood * width)
    reynolds = given.reynolds or {"single": 300, "multi": 2000}[given.modes]
    viscosity = given.velocity * width / reynolds
    domain = lbm.Domain((width, height), "D2Q37")
    domain.faces["-y"] = domain.faces["+y"] = lbm.NoSlip()
    domain.thermal["-y"], domain.thermal["+y"] = lbm.Isothermal(hot), lbm.Isothermal(cold)
    devices = given.device.split(",")
    solver = lbm.Solver(
        domain,
        lbm.ThermalBGK(viscosity, gravity=(0, -gravity)),
        precision=given.precision or {"single": "float64", "multi": "float32"}[given.modes],
        device=devices if len(devices) > 1 else devices[0],
        threads=given.threads,
    )
    x, y = (np.arange(n) + 0.5 for n in (width, height))
    thickness = max(1.5, 0.03 * width) if given.modes == "single" else 2.0

    def layered(up: Floats) -> Floats:
        """The temperature as many cells above the surface."""
        return MEAN - (hot - cold) / 2 * np.tanh(up / thickness)

    # d ln p / dy = -g / T, from the surface, where the density is 1, by the mid-point rule on a finer grid
    fine = 16
    rise = -gravity / layered((np.arange(height * fine) + 0.5) / fine - height / 2) / fine
    pressure = np.concatenate([[0], np.cumsum(rise)])
    pressure = np.exp(pressure - pressure[height * fine // 2])[fine // 2 :: fine] * MEAN
    temperature = layered(y[None, :] - height / 2 - surface(given, x)[:, None])
    solver.initialize(density=pressure[None, :] / temperature, temperature=temperature)
    return Setup(solver, gravity, viscosity, hot, cold, width / given.velocity)


def surface(given: argparse.Namespace, x: Floats) -> Floats:
    """Where the layers meet, cells above the middle."""
    width = given.size
    if given.modes == "single":
        return 0.0005 * width * np.cos(2 * np.pi * x / width)
    random = np.random.default_rng(given.seed)
    waves = np.arange(max(2, width // 64), max(4, width // 16))
    phases = random.uniform(0, 2 * np.pi, waves.size)
    every = np.cos(2 * np.pi * waves[:, None] * x / width + phases[:, None])
    return 0.5 * every.sum(axis=0) / np.sqrt(waves.size / 2)


def theory(setup: Setup, wave_number: float) -> float:
    """Growth rate a step of a small wave on the mean profile of now, in Boussinesq's approximation.

    The largest s of ``s Lw = nu LLw - k^2 g theta / T`` and ``s theta = nu L theta - (T' + g / c_p) w`` with
    ``L = d^2/dy^2 - k^2``, of the velocity w and the temperature theta of the wave (S. Chandrasekhar, Hydrodynamic and
    Hydromagnetic Stability (1961), chapters II and X). The profile T is taken as frozen, and the plates, where w and
    theta are 0, as smooth, since they are far away.
    """
    mean = setup.mean_temperature()
    n = min(mean.size, 400)
    step = mean.size / n
    profile = np.interp((np.arange(n) + 0.5) * step, np.arange(mean.size) + 0.5, mean)
    laplacian = np.diag(np.full(n, -2 / step**2 - wave_number**2))
    laplacian += (np.eye(n, k=1) + np.eye(n, k=-1)) / step**2
    laplacian[0, 0] -= 1 / step**2  # 0 on the plate, half a cell off
    laplacian[-1, -1] -= 1 / step**2
    lift = -(wave_number**2) * setup.gravity * np.linalg.solve(laplacian, np.diag(1 / profile))
    carry = -np.diag(np.gradient(profile, step) + setup.gravity / HEAT_CAPACITY)
    friction = setup.viscosity * laplacian  # and, at Prandtl number 1, conduction
    return float(np.linalg.eigvals(np.block([[friction, lift], [carry, friction]])).real.max())


def amplitude(setup: Setup) -> float:
    """Of the wave along x in the vertical velocity, where it is largest."""
    velocity = setup.solver.velocity()[1]
    width = velocity.shape[0]
    wave = np.cos(2 * np.pi * (np.arange(width) + 0.5) / width)
    return float(np.abs(wave @ velocity).max() * 2 / width)


def growth(setup: Setup) -> None:
    """Print how fast a single wave grows, once it has its shape and while it is still small."""
    wave_number = 2 * np.pi / setup.solver.domain.shape[0]
    seen, expected, steps = [], [], max(1, round(0.1 * setup.scale))
    for sample in range(21):
        if sample >= 14:
            seen.append(np.log(amplitude(setup)))
            expected.append(theory(setup, wave_number))
        if sample < 20:
            setup.solver.run(steps)
    measured = (seen[-1] - seen[0]) / (len(seen) - 1) / steps
    mean = float(np.mean(expected))
    print(
        f"growth rate {measured * setup.scale:.3f} velocity / width, linear theory {mean * setup.scale:.3f}: ", end=""
    )
    print(f"{100 * (measured / mean - 1):+.1f} %")


def run(setup: Setup, steps: int) -> tuple[list[tuple[float, Floats]], Points]:
    """Step up to `steps`; the temperature at four times and the mixing length at many, times in width over velocity."""
    solver, maps, lengths = setup.solver, [], []

    def measure(solver: lbm.Solver) -> None:
        lengths.append((solver.steps / setup.scale, setup.mixing_length()))

    left = max(0, steps - solver.steps)
    every = max(1, steps // 80)
    for part in range(4):
        solver.run(left * (part + 1) // 4 - left * part // 4, progress=True, callbacks=[lbm.Every(every, measure)])
        measure(solver)
        maps.append((solver.steps / setup.scale, solver.temperature()))
        print(f"step {solver.steps:7d}: mixing length {lengths[-1][1]:.2f} cells, kinetic energy ", end="")
        print(f"{solver.kinetic_energy():.4g}, fastest {np.abs(solver.velocity()).max():.4f}")
    return maps, lengths


def acceleration(setup: Setup, lengths: Points) -> Points:
    """Print what a in ``h = a At g t^2`` is in the middle and the last third of the time, by the slope of the root of
    h; return the end of each third and a."""
    time, length = np.array(sorted(set(lengths))).T
    constants = []
    for third in (1, 2):
        within = (time > time[-1] * third / 3) & (time <= time[-1] * (third + 1) / 3)
        if within.sum() > 2:
            slope = float(np.polyfit(time[within] * setup.scale, np.sqrt(length[within]), 1)[0])
            constants.append((float(time[within][-1]), slope * abs(slope) / (setup.atwood * setup.gravity)))
            print(f"h = {constants[-1][1]:.4f} At g t^2 until {constants[-1][0]:.2f} width / velocity")
    return constants


def kept_in(file: Path) -> Any:
    """The runs that a file has; None of one that is no JSON."""
    try:
        return json.loads(file.read_text())
    except (OSError, ValueError):
        return None


def keep(setup: Setup, lengths: Points, constants: Points, seconds: float, path: str) -> None:
    """Add a run to a file, a list of them."""
    solver, file = setup.solver, Path(path)
    found = {
        "shape": solver.domain.shape,
        "precision": solver.precision,
        "device": solver.device,
        "atwood": setup.atwood,
        "gravity": setup.gravity,
        "viscosity": setup.viscosity,
        "steps": solver.steps,
        "seconds": seconds,
        "lengths": sorted(set(lengths)),
        "constants": constants,
    }
    runs = kept_in(file) if file.exists() else []
    file.write_text(json.dumps([*runs, found], indent=1) + "\n")


def picture(setup: Setup, maps: list[tuple[float, Floats]], lengths: Points, path: str) -> None:
    figure = Figure(figsize=(13, 4), layout="constrained")
    plots = figure.subplots(1, len(maps) + 1, width_ratios=[1] * len(maps) + [2])
    height = maps[0][1].shape[1] / maps[0][1].shape[0]
    for plot, (time, temperature) in zip(plots, maps, strict=False):
        image = plot.imshow(
            temperature.T,
            origin="lower",
            extent=(0, 1, 0, height),
            cmap="RdBu_r",
            vmin=setup.cold,
            vmax=setup.hot,
        )
        plot.set(title=f"t = {time:.2f}", xlabel="x / width")
    figure.colorbar(image, ax=plots[len(maps) - 1], label="temperature", shrink=0.8)
    plots[-1].plot(*np.array(sorted(set(lengths))).T)
    plots[-1].set(xlabel="time (width / velocity)", ylabel="mixing length (cells)")
    plots[-1].grid(alpha=0.3)
    figure.suptitle(f"Atwood number {setup.atwood:g}, {setup.solver.domain.shape} cells")
    figure.savefig(path, dpi=100)
    print(f"picture: {path}")


if __name__ == "__main__":
    given = arguments()
    setup = layers(given)
    steps = given.steps
    if steps is None:
        steps = round({"single": 8, "multi": 4}[given.modes] * setup.scale)
    print(f"gravity {setup.gravity:.4g}, viscosity {setup.viscosity:.4g}, {steps} steps")
    if given.modes == "single":
        growth(setup)
    started = perf_counter()
    maps, lengths = run(setup, steps)
    if given.modes == "multi":
        constants = acceleration(setup, lengths)
        if given.json:
            keep(setup, lengths, constants, perf_counter() - started, given.json)
    if given.output:
        picture(setup, maps, lengths, given.output)
