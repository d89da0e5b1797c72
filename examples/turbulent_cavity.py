"""Turbulent convection of air in the cube with a hot wall at -x and a cold one at +x.

    python examples/turbulent_cavity.py --rayleigh 1e8 --cells 192 --times 60 --output cavity.png
    python examples/turbulent_cavity.py --device cuda:0,cuda:1,cuda:2,cuda:3 --steps 300000 --json cavity.json
    mpiexec -n 4 python examples/turbulent_cavity.py --mpi --device cuda --steps 300000 --json cavity.json

Air, Prandtl number 0.71; the other walls are adiabatic. Times are those of free fall, the height over its speed
``sqrt(g beta dT L)``. The flow starts from rest in a stratified fluid, as that in the core of the cavity is in the end,
with small waves, so that the transient is short: the layers at the walls are there within a few times, while waves of
the core, with periods from 2 pi times on, die away slowly. The heat through both walls is sampled ten times a time, and
after `--transient` times mean and variance of each cell, without Python. The Nusselt numbers are printed with the
interval of 95 % of their means over time, which says nothing of the grid: the layers at the walls need some cells.

The default, Rayleigh number 1e9 on 512 cells a side, needs 15 GB on GPUs for the flow, and 6 for its statistics.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

import lbmgpu as lbm

Floats = NDArray[np.floating[Any]]

PRANDTL = 0.71


def arguments(given: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Turbulent convection in a cube heated from the side.")
    parser.add_argument("--rayleigh", type=float, default=1e9, metavar="RA", help="Rayleigh number (1e9)")
    parser.add_argument("--cells", type=int, default=512, metavar="N", help="cells a side (512)")
    parser.add_argument("--velocity", type=float, default=0.1, metavar="U", help="of free fall, cells a step (0.1)")
    parser.add_argument("--times", type=float, default=60, metavar="T", help="to run, each L over that velocity (60)")
    parser.add_argument("--steps", type=int, metavar="N", help="to run, in place of --times")
    parser.add_argument("--transient", type=float, default=20, metavar="T", help="times before the means (20)")
    parser.add_argument("--stratification", type=float, default=1.0, metavar="S", help="(dT/dy)(L/dT) at first (1)")
    parser.add_argument("--streaming", choices=("two-lattice", "in-place"), default="in-place", help="(in-place)")
    parser.add_argument("--device", default="auto", help="cpu, cuda, cuda:1, or several with commas (auto)")
    parser.add_argument("--threads", type=int, metavar="N", help="of the CPU")
    parser.add_argument("--mpi", action="store_true", help="divide the cube over the processes of mpiexec")
    parser.add_argument("--seed", type=int, default=1, help="of the phases of the waves (1)")
    parser.add_argument("--output", metavar="PNG", help="a picture of the temperature, its mean and fluctuation")
    parser.add_argument("--json", metavar="FILE", help="write the numbers to this file")
    parser.add_argument("--planes", metavar="NPZ", help="write what the picture shows to this file")
    options = parser.parse_args(given)
    if options.cells < 8 or options.cells % 2:
        parser.error(f"--cells: {options.cells} given, must be even and at least 8")
    if not 0 <= options.stratification <= 2:
        parser.error(f"--stratification: {options.stratification:g} given, must be from 0 to 2")
    if not (0 < options.times < 1e9 and 0 < options.velocity < 1):
        parser.error("--times and --velocity: must be finite numbers above 0")
    if options.steps is None:
        options.steps = round(options.times * options.cells / options.velocity)
    last = options.steps * options.velocity / options.cells
    if not (options.transient >= 0 and last >= options.transient + 1):
        parser.error(
            f"--transient: {options.transient:g} given, must be from 0 to 1 less than the {last:.3g} of the run"
        )
    for name, end in (("output", ".png"), ("json", ".json"), ("planes", ".npz")):
        file = getattr(options, name)
        if file and not (file.endswith(end) and Path(file).resolve().parent.is_dir()):
            parser.error(f"--{name}: {file!r} given, must be a file that ends with {end}, in a folder that exists")
    return options


def cavity(given: argparse.Namespace) -> tuple[lbm.Solver, lbm.Convection]:
    """At rest, stratified, with waves of 1 % of the difference between the walls."""
    n = given.cells
    setup = lbm.Convection(given.rayleigh, PRANDTL, n, velocity=given.velocity)
    domain = lbm.Domain((n, n, n), "D3Q19")
    for face in domain.faces:
        domain.faces[face] = lbm.NoSlip()
    domain.thermal["-x"], domain.thermal["+x"] = lbm.Isothermal(0.5), lbm.Isothermal(-0.5)
    devices, comm = given.device.split(","), None
    if given.mpi:
        from mpi4py import MPI

        comm = MPI.COMM_WORLD
    solver = lbm.Solver(
        domain,
        lbm.TRT(setup.viscosity),
        thermal=setup.thermal("+y"),
        precision="float32",
        streaming=given.streaming,
        device=devices if len(devices) > 1 else devices[0],
        threads=given.threads,
        comm=comm,
    )
    along = (np.arange(n, dtype=np.float32) + 0.5) / n
    phases = np.random.default_rng(given.seed).uniform(0, 2 * np.pi, 3)
    x, y, z = (np.sin(2 * np.pi * k * along + phase) for k, phase in zip((7, 5, 6), phases, strict=True))
    temperature = 0.01 * x[:, None, None] * y[:, None] * z
    temperature += given.stratification * (along[:, None] - 0.5)
    solver.initialize(temperature=temperature)
    return solver, setup


def solve(given: argparse.Namespace) -> tuple[dict[str, Any], dict[str, Floats]] | None:
    """Run; numbers of the flow, and what the picture shows; None but on the first process."""
    solver, setup = cavity(given)
    n, fall, steps = given.cells, setup.length / setup.velocity, given.steps
    start, every = round(given.transient * fall), max(1, round(fall / 10))
    hot, cold = solver.record(*(lbm.HeatFlux(face, every=every) for face in ("-x", "+x")))
    mean, square = solver.record(
        lbm.Mean("velocity", "temperature"), lbm.Covariance("temperature"), every=every, start=start
    )
    speeds: list[tuple[float, float]] = []

    def look(solver: lbm.Solver) -> None:
        velocity = solver.velocity(gather=True)
        if velocity is not None:
            speed = float(np.sqrt((velocity**2).sum(axis=0).max()))
            speeds.append((solver.steps / fall, speed))
            print(f"time {solver.steps / fall:6.2f}: fastest {speed:.4f} cells a step", flush=True)

    looks = [lbm.Every(min(steps, round(10 * fall)), look)]
    result = solver.run(steps, progress=sys.stdout.isatty(), callbacks=looks)
    scale = setup.length / setup.diffusivity
    device = solver.report(bandwidth=False, gather=True).setup["device"]
    velocity, average = (mean.read(field, gather=True) for field in ("velocity", "temperature"))
    variance, temperature = square.read("temperature", gather=True), solver.temperature(gather=True)
    if solver.rank != 0:
        return None

    def nusselt(wall: lbm.HeatFlux, sign: int) -> tuple[float, float]:
        """The mean, and half the width of its interval."""
        late = wall["flux"][wall.steps > start]
        return sign * float(late.mean()) * scale, wall.confidence("flux", after=start) * scale

    numbers: dict[str, Any] = {
        "rayleigh": given.rayleigh,
        "cells": n,
        "velocity": setup.velocity,
        "viscosity": setup.viscosity,
        "diffusivity": setup.diffusivity,
        "collision": "TRT",
        "precision": "float32",
        "streaming": given.streaming,
        "device": device,
        "steps": result.steps,
        "seconds": result.seconds,
        "mlups": result.mlups,
        "times": steps / fall,
        "transient": given.transient,
        "samples": mean.samples,
        "speeds": speeds,
        "speed_limit": lbm.speed_limit(setup.diffusivity),
        "nusselt_times": [round(float(t), 3) for t in hot.steps / fall],
        "nusselt_hot": [round(float(q) * scale, 4) for q in hot["flux"]],
        "nusselt_cold": [round(-float(q) * scale, 4) for q in cold["flux"]],
        "hot": nusselt(hot, 1),
        "cold": nusselt(cold, -1),
    }
    half = slice(n // 2 - 1, n // 2 + 1)
    core = average[half, :, half].mean(axis=(0, 2))
    middle = slice(n // 4, n - n // 4)
    numbers["stratification"] = float(np.polyfit(np.arange(n)[middle] / n, core[middle], 1)[0])
    rising = velocity[1][:, half, half].mean(axis=(1, 2)) / setup.velocity
    numbers["rising"] = float(rising.max()), float((rising.argmax() + 0.5) / n)
    planes = {
        "temperature": np.asarray(temperature[..., half].mean(axis=-1), np.float32),
        "mean": np.asarray(average[..., half].mean(axis=-1), np.float32),
        "fluctuation": np.asarray(np.sqrt(np.maximum(0, variance[..., half].mean(axis=-1))), np.float32),
    }
    return numbers, planes


def text(numbers: dict[str, Any]) -> str:
    lines = [f"Ra {numbers['rayleigh']:g}, {numbers['cells']} cells a side, {numbers['times']:.1f} times of free fall"]
    for wall in ("hot", "cold"):
        value, half = numbers[wall]
        lines.append(f"  Nusselt number of the {wall} wall {value:.3f} +- {half:.3f} (of the mean over time alone)")
    lines.append(f"  conduction would need a layer of {numbers['cells'] / (2 * numbers['hot'][0]):.1f} cells")
    speed, place = numbers["rising"]
    lines.append(f"  stratification of the core {numbers['stratification']:.3f}")
    lines.append(f"  mean upward flow at half of the height {speed:.4f} of free fall, {place:.4f} L from the hot wall")
    fastest = max(speed for _, speed in numbers["speeds"])
    limit = numbers["speed_limit"]
    lines.append(f"  fastest {fastest:.4f} cells a step at these times; the temperature is stable below {limit:.4f}")
    lines.append(f"  {numbers['steps']} steps in {numbers['seconds']:.1f} s, {numbers['mlups']:.0f} MLUPS")
    return "\n".join(lines)


def picture(numbers: dict[str, Any], planes: dict[str, Floats], path: str) -> None:
    """In the plane z = L/2 the temperature at the end, its mean and its fluctuation; the heat through the walls."""
    figure = Figure(figsize=(13, 7.5), layout="constrained")
    axes = figure.subplot_mosaic([["temperature", "mean", "fluctuation"], ["heat"] * 3], height_ratios=[3, 2])
    titles = {"temperature": "temperature at the end", "mean": "mean", "fluctuation": "root of its variance"}
    for name, title in titles.items():
        bounds = {"cmap": "magma"} if name == "fluctuation" else {"cmap": "RdBu_r", "vmin": -0.5, "vmax": 0.5}
        image = axes[name].imshow(planes[name].T, origin="lower", extent=(0, 1, 0, 1), **bounds)
        axes[name].set(title=title, xlabel="x / L", ylabel="y / L")
        figure.colorbar(image, ax=axes[name], shrink=0.8)
    for wall, colour in (("hot", "tab:red"), ("cold", "tab:blue")):
        value, half = numbers[wall]
        values, label = numbers[f"nusselt_{wall}"], f"{wall} wall: {value:.2f} ± {half:.2f}"
        style = "-" if wall == "hot" else "--"
        axes["heat"].plot(numbers["nusselt_times"], values, style, color=colour, linewidth=0.8, label=label)
    axes["heat"].axvline(numbers["transient"], color="black", linewidth=0.8, linestyle=":", label="means from here on")
    most = 1.5 * max(numbers["hot"][0], numbers["cold"][0])
    axes["heat"].set(xlabel="time, L over the speed of free fall", ylabel="Nusselt number", ylim=(0, most))
    axes["heat"].legend()
    axes["heat"].grid(alpha=0.3)
    figure.suptitle(f"Ra {numbers['rayleigh']:g}, {numbers['cells']}³ cells, plane z = L/2")
    figure.savefig(path, dpi=100)
    print(f"picture: {path}")


if __name__ == "__main__":
    given = arguments()
    if found := solve(given):
        numbers, planes = found
        print(text(numbers))
        if given.json:
            Path(given.json).write_text(json.dumps(numbers, indent=1) + "\n")
        if given.planes:
            np.savez_compressed(given.planes, **planes)
        if given.output:
            picture(numbers, planes, given.output)
