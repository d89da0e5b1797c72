"""Turbulent flow between two walls at the friction Reynolds number 180, beside the direct simulation of Moser et al.

    python examples/turbulent_channel.py --output channel.png --csv channel.csv
    python examples/turbulent_channel.py --collision rr-wale --coarse 2 --json > channel.json

The box is 2 pi h long (x), 2 h high (y) and pi h wide (z), periodic along x and z. A uniform force F a volume drives
the flow, so that the friction velocity is known beforehand: F h = rho u_tau^2 in the mean. Lengths in wall units are
y+ = y u_tau / nu, velocities U+ = U / u_tau, and a turnover is h / u_tau.

1. The walls are a layer of solid cells, the lowest one; as y is periodic, it is the wall on both sides. Walls lie
   half-way between the centres of solid and fluid cells: y+ = 0 is there, and the first centre in the fluid at y = 0.5.
2. Rolls along and across the stream, and noise, are laid over a mean profile: they break down within a few turnovers.
   With --coarse K they do so on a grid K times coarser, K^4 times cheaper, from which this one starts.
3. After the transient the engine samples means and covariances over x, z and time, without Python, and the force of the
   fluid on the walls, which has to be that which drives the flow.

The mean follows slowly. Friction grows with the power 1.75 of the bulk velocity, which is 15.7 u_tau, so that a small
deviation from its final value decays by the factor e in 15.7 / 1.75 = 9 turnovers.

With h = 90 cells, the default, cells are two wall units wide and there are 29 million of them: a quarter of an hour on
a GPU with --coarse 2 --friction 0.005. The table is that of R. D. Moser, J. Kim & N. N. Mansour, Phys. Fluids 11 (1999)
943.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import numpy as np

import lbmgpu as lbm

TABLE = Path(__file__).parents[1] / "tests" / "data" / "mkm180.csv"
CENTRE = 18.3
"""U+ in the middle of the turbulent channel, of which no laminar one is faster at this Reynolds number."""
COLUMNS = ("y_plus", "u_plus", "u_plus_half_width", "u_rms_plus", "v_rms_plus", "w_rms_plus", "uv_plus")


def arguments(given: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Turbulent channel flow beside Moser, Kim & Mansour (1999).")
    parser.add_argument("--height", type=int, default=90, metavar="H", help="half that of the channel, cells (90)")
    parser.add_argument("--collision", choices=("cumulant", "rr-wale"), default="cumulant", help="D3Q27 or D3Q19")
    parser.add_argument("--reynolds", type=float, default=180, metavar="RE", help="u_tau h / nu (180)")
    parser.add_argument("--friction", type=float, default=0.004, metavar="U", help="u_tau, cells a step (0.004)")
    parser.add_argument("--coarse", type=int, default=1, metavar="K", help="of the grid of the transient (1)")
    parser.add_argument("--transient", type=float, default=15, metavar="T", help="turnovers before the averages (15)")
    parser.add_argument("--settle", type=float, default=5, metavar="T", help="turnovers after a coarse one (5)")
    parser.add_argument("--turnovers", type=float, default=20, metavar="T", help="turnovers of the averages (20)")
    parser.add_argument("--every", type=int, default=50, metavar="N", help="steps from sample to sample (50)")
    parser.add_argument("--device", default="auto", help="cpu, cuda or cuda:1 (auto)")
    parser.add_argument("--precision", choices=("float32", "float64"), default="float32", help="of numbers (float32)")
    parser.add_argument("--seed", type=int, default=1, help="of the noise (1)")
    parser.add_argument("--output", metavar="PNG", help="a figure of the profiles")
    parser.add_argument("--csv", metavar="FILE", help="the profiles as a table")
    parser.add_argument("--json", action="store_true", help="print nothing but the numbers, as JSON")
    return parser.parse_args(given)


def initial(shape: tuple[int, ...], peak: float, seed: int) -> lbm.flows.Noise:
    """A mean profile with rolls and noise over it, as a function of coordinates; it is nearly free of divergence."""
    length, height, width = shape[0], shape[1] - 1, shape[2]
    profile = lbm.flows.PowerLaw((length, height, width), speed=peak)

    def velocity(x, y, z):
        s = np.clip((y - 1) / height, 0, 1)  # across the fluid, from wall to wall
        u, v, w = profile(x, s * height, z)
        bump, slope = np.sin(np.pi * s) ** 2, np.pi / height * np.sin(2 * np.pi * s)
        for waves, phase, part in ((2, 0.0, 0.12), (3, 1.0, 0.08)):
            # Rolls along the stream, v = dA/dz and w = -dA/dy, which bend along it.
            k = 2 * np.pi * waves / width
            bend = k * z + phase + 0.8 * np.sin(2 * np.pi * x / length + phase)
            v = v + part * peak * bump * np.cos(bend)
            w = w - part * peak * slope * np.sin(bend) / k
            # Rolls across it, u = dB/dy and v = -dB/dx.
            k = 2 * np.pi * waves / length
            u = u + part * peak * slope * np.sin(k * x + phase) * np.cos(2 * np.pi * z / width) / k
            v = v - part * peak * bump * np.cos(k * x + phase) * np.cos(2 * np.pi * z / width)
        return [u, v, w]

    return lbm.flows.Noise(velocity, amplitude=0.02 * peak, seed=seed)


def channel(given: argparse.Namespace, shape: tuple[int, int, int], collision: str) -> lbm.Solver:
    """The solver of a box of so many cells, at rest."""
    h, friction = (shape[1] - 1) / 2, given.friction
    viscosity = friction * h / given.reynolds
    if collision == "cumulant":
        domain, model, turbulence = lbm.Domain(shape, "D3Q27"), lbm.Cumulant(viscosity), None
    else:
        domain, model, turbulence = lbm.Domain(shape, "D3Q19"), lbm.RecursiveRegularized(viscosity), lbm.WALE()
    domain.add_body(lambda x, y, z: y < 1, "walls")
    return lbm.Solver(
        domain,
        model,
        turbulence=turbulence,
        force=(friction**2 / h, 0.0, 0.0),
        precision=given.precision,
        device=given.device,
    )


def turbulent(given: argparse.Namespace) -> lbm.Solver:
    """The solver after the transient."""
    h, friction = given.height, given.friction
    shape = (round(2 * np.pi * h), 2 * h + 1, round(np.pi * h))
    solver = channel(given, shape, given.collision)
    first, turnover = solver, h / friction
    if given.coarse > 1:
        shape = tuple(round(cells / given.coarse) for cells in shape)
        first = channel(given, shape, "cumulant")  # of which the mean is nearest to that of a fine grid
    peak = friction * min(CENTRE, given.reynolds / 2)
    first.initialize(velocity=initial(shape, peak, given.seed))
    shows = not given.json and sys.stdout.isatty()
    first.run(round(given.transient * turnover / given.coarse), progress=shows)
    if first is not solver:
        solver.initialize(like=first)
        del first
        solver.run(round(given.settle * turnover), progress=shows)
    return solver


def momentum(solver: lbm.Solver) -> float:
    """Of all fluid along x."""
    along = solver.density().astype(np.float64) * solver.velocity()[0]
    return float(along[:, 1:].sum())


def folded(profile: np.ndarray, sign: int = 1) -> np.ndarray:
    """The mean of both halves of a profile from wall to wall; of what changes its sign in the middle with -1."""
    half = len(profile) // 2
    return (profile[:half] + sign * profile[::-1][:half]) / 2


def averages(solver: lbm.Solver, given: argparse.Namespace) -> tuple[dict[str, np.ndarray], dict[str, float]]:
    """Profiles in wall units, and numbers of the whole flow."""
    steps = max(1, round(given.turnovers * given.height / given.friction))
    shows = not given.json and sys.stdout.isatty()
    start = solver.steps + given.every
    mean, stresses = lbm.Mean("velocity", over="xz"), lbm.Covariance("velocity", over="xz")
    # Near walls there may be a mode that changes its sign with each step: an odd period sees both.
    walls = lbm.Forces("walls", every=given.every | 1, start=start)
    solver.record(mean, stresses, every=given.every, start=start)
    solver.record(walls)
    solver.step()
    before = momentum(solver)
    result = solver.run(steps - 1, progress=shows)
    if mean.samples == 0 or len(walls) == 0:
        raise SystemExit("no sample was taken: --turnovers must be longer than --every steps")
    wall_force = float(walls["force"][:, 0].mean())

    unit, fluid = given.friction, slice(1, None)  # the layer of the walls has no fluid
    velocity, covariance = mean["velocity"][:, fluid], stresses["velocity"][:, :, fluid]
    half_width = mean.confidence("velocity")[0, fluid] if mean.has_confidence else np.full(velocity.shape[1], np.nan)
    y = np.arange(given.height) + 0.5
    profiles = [y * given.reynolds / given.height, folded(velocity[0]) / unit, folded(half_width) / unit]
    profiles += [np.sqrt(folded(covariance[d, d])) / unit for d in range(3)]
    profiles.append(folded(covariance[0, 1], -1) / unit**2)

    x, height, z = solver.domain.shape
    driving = unit**2 / given.height * x * (height - 1) * z
    numbers = {
        "cells": float(x * height * z),
        "steps": float(solver.steps),
        "samples": float(mean.samples),
        "mlups": result.mlups,
        "bulk_velocity_plus": float(velocity[0].mean()) / unit,
        "wall_force": wall_force / driving,
        "mach_number": float(np.sqrt(3) * velocity[0].max()),
    }
    solver.step()  # in which the last of the forces acts: that after a step changes the momentum in the next one
    numbers["acceleration"] = (momentum(solver) - before) / steps / driving
    return dict(zip(COLUMNS, profiles, strict=True)), numbers


def compared(profiles: dict[str, np.ndarray]) -> tuple[float, float]:
    """The largest relative deviation of U+ from the table beyond y+ = 5, and the y+ where it is."""
    table = np.loadtxt(TABLE, delimiter=",", skiprows=2)
    y = profiles["y_plus"]
    inside = (y > 5) & (y <= table[-1, 0])
    if not inside.any():
        return float("nan"), float("nan")
    # Between the points of the table U+ is nearly straight in the logarithm of y+, as in the logarithmic layer.
    expected = np.interp(np.log(y[inside]), np.log(table[1:, 0]), table[1:, 1])
    deviation = profiles["u_plus"][inside] / expected - 1
    worst = int(np.argmax(np.abs(deviation)))
    return float(deviation[worst]), float(y[inside][worst])


def draw(profiles: dict[str, np.ndarray], given: argparse.Namespace) -> None:
    """A figure of the mean, of the fluctuations and of the shear stress."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    table = np.loadtxt(TABLE, delimiter=",", skiprows=2)
    y = profiles["y_plus"]
    left.semilogx(table[1:, 0], table[1:, 1], "o", markersize=3, markerfacecolor="none", label="Moser et al. (1999)")
    left.semilogx(y, profiles["u_plus"], label=f"{given.collision}, h = {given.height}")
    left.set(xlabel="y+", ylabel="U+")
    for name, label in (("u_rms_plus", "u' rms"), ("v_rms_plus", "v' rms"), ("w_rms_plus", "w' rms")):
        right.plot(y, profiles[name], label=label)
    right.plot(y, -profiles["uv_plus"], label="-u'v'")
    right.plot(y, 1 - y / given.reynolds, "k--", linewidth=0.8, label="total shear stress")
    right.set(xlabel="y+", ylabel="in units of u_tau")
    for axes in (left, right):
        axes.grid(alpha=0.3)
        axes.legend()
    figure.savefig(given.output, dpi=150)


def without_nan(value):
    """The same for JSON, which has null in place of numbers that are none."""
    if isinstance(value, dict):
        return {name: without_nan(part) for name, part in value.items()}
    if isinstance(value, list):
        return [without_nan(part) for part in value]
    if isinstance(value, float):
        return round(value, 6) if np.isfinite(value) else None
    return value


def main() -> None:
    given = arguments()
    solver = turbulent(given)
    profiles, numbers = averages(solver, given)
    deviation, where = compared(profiles)
    if given.output:
        draw(profiles, given)
    if given.csv:
        rows = np.column_stack(list(profiles.values()))
        np.savetxt(given.csv, rows, delimiter=",", header=",".join(COLUMNS), comments="")
    if given.json:
        setup = {name: getattr(given, name) for name in ("collision", "height", "reynolds", "friction", "turnovers")}
        found = {**setup, "deviation": deviation, "deviation_at": where, **numbers}
        lists = {name: profile.tolist() for name, profile in profiles.items()}
        print(json.dumps(without_nan({**found, "profiles": lists})))
        return
    print(f"{numbers['samples']:.0f} samples to step {numbers['steps']:.0f}, {numbers['mlups']:.1f} MLUPS")
    speed = f"bulk velocity {numbers['bulk_velocity_plus']:.3f} u_tau"
    print(f"{speed}, largest mean Mach number {numbers['mach_number']:.3f}")
    balance = f"of the driving force, and {numbers['acceleration']:+.4f} accelerates the fluid"
    print(f"force on the walls {numbers['wall_force']:.4f} {balance}")
    print(f"largest deviation of U+ beyond y+ = 5: {100 * deviation:+.2f} % at y+ = {where:.1f}")


if __name__ == "__main__":
    main()
