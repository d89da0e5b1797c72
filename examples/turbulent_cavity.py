"""Turbulent convection of air in the cube with a hot wall at -x and a cold one at +x.

    python examples/turbulent_cavity.py --rayleigh 1e8 --cells 192 --times 60 --output cavity.png
    python examples/turbulent_cavity.py --device cuda:0,cuda:1,cuda:2,cuda:3 --steps 300000 --json cavity.json

Air, Prandtl number 0.71; the other walls are adiabatic. Times are those of free fall, the height over its speed
``sqrt(g beta dT L)``. The flow starts from rest in a stratified fluid, as that in the core of the cavity is in the end,
with small waves, so that the transient is short: the layers at the walls are there within a few times, and waves of
the core, with a period of 2 pi times, die away. After `--transient` times the engine samples mean and variance of each
cell, without Python, and the heat through both walls, whose Nusselt numbers are printed with the interval of 95 %.

The default, Rayleigh number 1e9 on 512 cells a side, needs 15 GB on GPUs for the flow, and 10 for its statistics.
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
BATCHES = 10
STUDENT = 2.262
"""Of 9 degrees of freedom, for the interval of 95 % of the mean of so many batches."""


def arguments(given: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Turbulent convection in a cube heated from the side.")
    parser.add_argument("--rayleigh", type=float, default=1e9, metavar="RA", help="Rayleigh number (1e9)")
    parser.add_argument("--cells", type=int, default=512, metavar="N", help="cells a side (512)")
    parser.add_argument("--velocity", type=float, default=0.1, metavar="U", help="of free fall, cells a step (0.1)")
    parser.add_argument("--times", type=float, default=60, metavar="T", help="of free fall in all (60)")
    parser.add_argument("--steps", type=int, metavar="N", help="in place of --times")
    parser.add_argument("--transient", type=float, default=20, metavar="T", help="times before the statistics (20)")
    parser.add_argument("--stratification", type=float, default=1.0, metavar="S", help="(dT/dy)(L/dT) at first (1)")
    parser.add_argument("--streaming", choices=("two-lattice", "in-place"), default="in-place", help="(in-place)")
    parser.add_argument("--device", default="auto", help="cpu, cuda, cuda:1, or several with commas (auto)")
    parser.add_argument("--seed", type=int, default=1, help="of the phases of the waves (1)")
    parser.add_argument("--output", metavar="PNG", help="a picture of the temperature, its mean and fluctuation")
    parser.add_argument("--json", metavar="FILE", help="write the numbers to this file")
    parser.add_argument("--planes", metavar="NPZ", help="write what the picture shows to this file")
    options = parser.parse_args(given)
    for name in ("output", "json", "planes"):
        file = getattr(options, name)
        if file and not Path(file).resolve().parent.is_dir():
            parser.error(f"--{name}: there is no folder {Path(file).resolve().parent}")
    return options


def cavity(given: argparse.Namespace) -> tuple[lbm.Solver, lbm.Convection]:
    """At rest, stratified, with waves of 1 % of the difference between the walls."""
    n = given.cells
    setup = lbm.Convection(given.rayleigh, PRANDTL, n, velocity=given.velocity)
    domain = lbm.Domain((n, n, n), "D3Q19")
    for face in domain.faces:
        domain.faces[face] = lbm.NoSlip()
    domain.thermal["-x"], domain.thermal["+x"] = lbm.Isothermal(0.5), lbm.Isothermal(-0.5)
    devices = given.device.split(",")
    solver = lbm.Solver(
        domain,
        lbm.TRT(setup.viscosity),
        thermal=setup.thermal("+y"),
        precision="float32",
        streaming=given.streaming,
        device=devices if len(devices) > 1 else devices[0],
    )
    along = (np.arange(n, dtype=np.float32) + 0.5) / n
    phases = np.random.default_rng(given.seed).uniform(0, 2 * np.pi, 3)
    x, y, z = (np.sin(2 * np.pi * k * along + phase) for k, phase in zip((7, 5, 6), phases, strict=True))
    temperature = 0.01 * x[:, None, None] * y[:, None] * z
    temperature += given.stratification * (along[:, None] - 0.5)
    solver.initialize(temperature=temperature)
    return solver, setup


def with_interval(values: Floats) -> tuple[float, float]:
    """The mean, and half of its interval of 95 % by the means of batches."""
    batches = np.array([part.mean() for part in np.array_split(values, BATCHES)])
    return float(values.mean()), float(STUDENT * batches.std(ddof=1) / np.sqrt(BATCHES))


def solve(given: argparse.Namespace) -> tuple[dict[str, Any], dict[str, Floats]]:
    """Run; numbers of the flow, and what the picture shows."""
    solver, setup = cavity(given)
    n, fall = given.cells, setup.length / setup.velocity
    steps = given.steps or round(given.times * fall)
    start, every = round(given.transient * fall), max(1, round(fall / 10))
    if start >= steps:
        sys.exit(f"--transient: {given.transient:g} given, must be below the times of the run, {steps / fall:.3g}")
    hot, cold = solver.record(*(lbm.HeatFlux(face, every=every) for face in ("-x", "+x")))
    mean, square = solver.record(
        lbm.Mean("velocity", "temperature"), lbm.Covariance("temperature"), every=every, start=start
    )
    speeds: list[tuple[float, float]] = []

    def look(solver: lbm.Solver) -> None:
        speed = float(np.sqrt((solver.velocity() ** 2).sum(axis=0).max()))
        speeds.append((solver.steps / fall, speed))
        print(f"time {solver.steps / fall:6.2f}: fastest {speed:.4f} cells a step", flush=True)

    looks = [lbm.Every(max(1, steps // 3), look)]
    result = solver.run(steps, progress=sys.stdout.isatty(), callbacks=looks)
    scale = setup.length / setup.diffusivity
    late = hot.steps >= start
    numbers: dict[str, Any] = {
        "rayleigh": given.rayleigh,
        "cells": n,
        "velocity": setup.velocity,
        "viscosity": setup.viscosity,
        "diffusivity": setup.diffusivity,
        "collision": "TRT",
        "precision": "float32",
        "streaming": given.streaming,
        "device": solver.report(bandwidth=False).setup["device"],
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
        "hot": with_interval(hot["flux"][late] * scale),
        "cold": with_interval(-cold["flux"][late] * scale),
    }
    half = slice(n // 2 - 1, n // 2 + 1)
    average, variance = mean["temperature"], square["temperature"]
    core = average[half, :, half].mean(axis=(0, 2))
    middle = slice(n // 4, n - n // 4)
    numbers["stratification"] = float(np.polyfit(np.arange(n)[middle] / n, core[middle], 1)[0])
    rising = mean["velocity"][1][:, half, half].mean(axis=(1, 2)) / setup.velocity
    numbers["rising"] = float(rising.max()), float((rising.argmax() + 0.5) / n)
    planes = {
        "temperature": np.asarray(solver.temperature()[..., n // 2], np.float32),
        "mean": np.asarray(average[..., half].mean(axis=-1), np.float32),
        "fluctuation": np.asarray(np.sqrt(np.maximum(0, variance[..., half].mean(axis=-1))), np.float32),
    }
    return numbers, planes


def text(numbers: dict[str, Any]) -> str:
    lines = [f"Ra {numbers['rayleigh']:g}, {numbers['cells']} cells a side, {numbers['times']:.1f} times of free fall"]
    for wall in ("hot", "cold"):
        value, half = numbers[wall]
        lines.append(f"  Nusselt number of the {wall} wall {value:.3f} +- {half:.3f}")
    speed, place = numbers["rising"]
    lines.append(f"  stratification of the core {numbers['stratification']:.3f}")
    lines.append(f"  mean upward flow at half of the height {speed:.4f} of free fall, {place:.4f} L from the hot wall")
    fastest = max(speed for _, speed in numbers["speeds"])
    lines.append(f"  fastest {fastest:.4f} cells a step; the temperature is stable below {numbers['speed_limit']:.4f}")
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
        axes["heat"].plot(numbers["nusselt_times"], values, color=colour, linewidth=0.8, label=label)
    axes["heat"].axvline(numbers["transient"], color="black", linewidth=0.8, linestyle=":")
    late = [v for t, v in zip(numbers["nusselt_times"], numbers["nusselt_hot"], strict=True) if t > 2]
    axes["heat"].set(xlabel="time, L over the speed of free fall", ylabel="Nusselt number", ylim=(0, 1.3 * max(late)))
    axes["heat"].legend()
    axes["heat"].grid(alpha=0.3)
    figure.suptitle(f"Ra {numbers['rayleigh']:g}, {numbers['cells']}³ cells, plane z = L/2")
    figure.savefig(path, dpi=100)
    print(f"picture: {path}")


if __name__ == "__main__":
    given = arguments()
    numbers, planes = solve(given)
    print(text(numbers))
    if given.json:
        Path(given.json).write_text(json.dumps(numbers, indent=1) + "\n")
    if given.planes:
        np.savez_compressed(given.planes, **planes)
    if given.output:
        picture(numbers, planes, given.output)
