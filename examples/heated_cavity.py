"""The cavity with a hot wall at -x and a cold one at +x, square or cubic, beside published Nusselt numbers.

    python examples/heated_cavity.py --rayleigh 1e5 --cells 128 --levels 3
    python examples/heated_cavity.py --dimensions 3 --rayleigh 1e6 --cells 256 --levels 4 --device cuda --json nu.json
    python examples/heated_cavity.py --dimensions 3 --collision mrt --operators obrecht2013 --energy-coupling 1

The last one is the scheme of Obrecht et al. as they printed it, with walls that differ by 0.05, as a difference of 1
would change the density by 5 %.

Air, Prandtl number 0.71; the other walls are adiabatic. A run ends when no temperature changes by more than 1e-5 of
the difference between the walls in a time of free fall, the height over the speed of free fall, or in 500 steps if
that is longer. With `--levels` it starts on coarser grids, each with half of the cells, whose steady flow is
interpolated to the next, and from the third on extrapolated from two: little is left to settle on the finest. Grids too
coarse for the layers at the walls, whose thickness falls as the fourth root of the Rayleigh number, are left out.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

import lbmgpu as lbm

Array = NDArray[np.float64]

PRANDTL = 0.71
PUBLISHED = {
    2: ("de Vahl Davis 1983", {1e3: 1.118, 1e4: 2.243, 1e5: 4.519, 1e6: 8.800}),
    3: ("Tric et al. 2000", {1e3: 1.07, 1e4: 2.0542, 1e5: 4.337, 1e6: 8.6407, 1e7: 16.3427}),
}
"""Mean Nusselt number of the hot wall: Int. J. Numer. Meth. Fluids 3 (1983) 249; Int. J. Heat Mass Transfer 43 (2000)
4043."""
SPECTRAL = {
    2: {
        1e3: (1.11779, 3.6494, 3.6974),
        1e4: (2.24482, 16.1833, 19.6282),
        1e5: (4.52164, 34.741, 68.635),
        1e6: (8.82520, 64.834, 220.57),
        1e7: (16.52310, 148.59, 699.33),
    },
    3: {
        1e3: (1.07109, 3.5329, 3.5404),
        1e4: (2.05511, 16.6949, 18.6296),
        1e5: (4.33697, 37.670, 65.418),
        1e6: (8.64016, 68.247, 217.52),
    },
}
"""The same by Chebyshev collocation, to the digits that do not change with its size; and u_max and v_max in kappa/L,
those on the midlines of the square and, in the cube, of its plane z = L/2."""
COUPLED_DIFFERENCE = 0.05
"""Difference between the walls with coupling, by which the density of a fluid at rest changes."""
DENSITY_OF_COUPLING = 1 / 19
"""Fall of the density of a fluid at rest for each unit of temperature, in D3Q19 (docs/thermal.md)."""
LARGEST_DIFFUSIVITY = {"isotropic": 0.25, "obrecht2013": 0.06}
COLLISIONS = {"bgk": lbm.BGK, "trt": lbm.TRT, "mrt": lbm.MRT}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Natural convection in a square or cubic cavity heated from the side.")
    parser.add_argument("--dimensions", type=int, choices=(2, 3), default=2, help="square (2) or cube (3)")
    parser.add_argument("--rayleigh", type=float, default=1e5, metavar="RA", help="Rayleigh number (1e5)")
    parser.add_argument("--cells", type=int, default=96, metavar="N", help="cells a side (96)")
    parser.add_argument("--levels", type=int, default=1, metavar="N", help="grids at most, each twice as fine (1)")
    parser.add_argument("--velocity", type=float, metavar="U", help="of free fall, cells a step (at most 0.1)")
    parser.add_argument("--collision", choices=COLLISIONS, default="trt", help="model of the flow (trt)")
    parser.add_argument("--operators", choices=LARGEST_DIFFUSIVITY, default="isotropic", help="of the temperature")
    parser.add_argument("--energy-coupling", type=float, default=0.0, metavar="Q1", help="of the temperature (0)")
    parser.add_argument("--precision", choices=("float32", "float64"), default="float32", help="(float32)")
    parser.add_argument("--device", default="auto", help="cpu, cuda, cuda:1, or several with commas (auto)")
    parser.add_argument("--threads", type=int, metavar="N", help="of the CPU")
    parser.add_argument(
        "--tolerance", type=float, default=1e-5, help="change of the temperature that ends a run (1e-5)"
    )
    parser.add_argument("--steps", type=int, default=2_000_000, metavar="N", help="the most on one grid (2000000)")
    parser.add_argument("--output", metavar="PNG", help="a picture of temperature and speed")
    parser.add_argument("--json", metavar="FILE", help="add the numbers to this file")
    given = parser.parse_args()
    if given.energy_coupling and given.dimensions == 2:
        parser.error("--energy-coupling: given in two dimensions, must be with --dimensions 3")
    return given


def free_fall(given: argparse.Namespace, cells: int) -> float:
    """The speed of free fall: what is asked for, but no faster than the temperature's diffusion is stable."""
    largest = LARGEST_DIFFUSIVITY[given.operators] * np.sqrt(given.rayleigh * PRANDTL) / cells
    return min(given.velocity or 0.1, float(largest))


def cavity(given: argparse.Namespace, cells: int) -> tuple[lbm.Solver, lbm.Convection]:
    difference = COUPLED_DIFFERENCE if given.energy_coupling else 1.0
    setup = lbm.Convection(given.rayleigh, PRANDTL, cells, velocity=free_fall(given, cells), difference=difference)
    domain = lbm.Domain((cells,) * given.dimensions, "D2Q9" if given.dimensions == 2 else "D3Q19")
    for face in domain.faces:
        domain.faces[face] = lbm.NoSlip()
    domain.thermal["-x"], domain.thermal["+x"] = (lbm.Isothermal(sign * difference / 2) for sign in (1, -1))
    devices = given.device.split(",")
    solver = lbm.Solver(
        domain,
        COLLISIONS[given.collision](setup.viscosity),
        thermal=setup.thermal("+y", operators=given.operators, energy_coupling=given.energy_coupling),
        precision=given.precision,
        device=devices if len(devices) > 1 else devices[0],
        threads=given.threads,
    )
    x = (np.arange(cells) + 0.5) / cells
    across = ((0.5 - x) * difference).reshape(-1, *[1] * (given.dimensions - 1))
    density, temperature = (np.broadcast_to(field, domain.shape) for field in (at_rest(given, across), across))
    solver.initialize(density=density, temperature=temperature)
    return solver, setup


def refined(field: Array, cells: int, first: int = 0) -> Array:
    """A field on `cells` cells along the axes from `first` on, by cubics through four coarse cells' centres."""
    result = field
    for axis in range(first, field.ndim):
        count = field.shape[axis]
        place = (np.arange(cells) + 0.5) * count / cells - 0.5
        low = np.clip(np.floor(place).astype(int) - 1, 0, count - 4)
        along = [-1 if a == axis else 1 for a in range(field.ndim)]
        total = np.zeros(())
        for k in range(4):
            others = [j for j in range(4) if j != k]
            weight = np.prod([(place - low - j) / (k - j) for j in others], axis=0)
            total = total + weight.reshape(along) * result.take(low + k, axis)
        result = total
    return result


State = tuple[Array, Array, Array]
"""The density beyond that at rest, velocity and temperature, in units that no grid changes."""


def at_rest(given: argparse.Namespace, temperature: Array) -> Array:
    """The density of a fluid at rest, whose pressure a coupled temperature would change."""
    return 1 - given.energy_coupling * DENSITY_OF_COUPLING * temperature


def state(given: argparse.Namespace, solver: lbm.Solver, setup: lbm.Convection) -> State:
    density, velocity, temperature = solver.density(), solver.velocity(), solver.temperature().astype(float)
    scale = setup.velocity
    moving = density - at_rest(given, temperature)
    return moving / scale**2, velocity.astype(float) / scale, temperature / setup.difference


def extrapolated(states: list[State]) -> State:
    """The state of a grid twice as fine as that of the last one, on this one: errors fall by 4 from grid to grid."""
    if len(states) < 2:
        return states[-1]
    before, last = states[-2:]
    cells = len(last[2])
    steps = (a - refined(b, cells, a.ndim - last[2].ndim) for a, b in zip(last, before, strict=True))
    density, velocity, temperature = (a + step / 4 for a, step in zip(last, steps, strict=True))
    return density, velocity, np.clip(temperature, -0.5, 0.5)


def start_from(given: argparse.Namespace, solver: lbm.Solver, setup: lbm.Convection, states: list[State]) -> None:
    """The flow of the coarser grids, at the speeds and under the pressure that it has in this grid's units."""
    density, velocity, temperature = extrapolated(states)
    cells = int(setup.cells)
    warm = setup.difference * refined(temperature, cells)
    solver.initialize(
        density=at_rest(given, warm) + setup.velocity**2 * refined(density, cells),
        velocity=setup.velocity * refined(velocity, cells, first=1),
        temperature=warm,
        nonequilibrium=True,
    )


def through_the_middle(solver: lbm.Solver, setup: lbm.Convection) -> float:
    """Nusselt number of the plane x = L/2: what the flow carries through it, and conduction."""
    u, temperature = solver.velocity()[0], solver.temperature()
    right = len(temperature) // 2
    near = slice(right - 1, right + 1)
    u, temperature = (np.asarray(a[near], float) for a in (u, temperature))
    flux = u.mean(axis=0) * temperature.mean(axis=0) - setup.diffusivity * (temperature[1] - temperature[0])
    return float(flux.mean()) * setup.length / (setup.diffusivity * setup.difference)


def peak(values: Array) -> tuple[float, float]:
    """The largest value of cell centres 0 to 1 and where it is, by a parabola through the three cells there."""
    at = int(np.clip(values.argmax(), 1, len(values) - 2))
    left, middle, right = values[at - 1 : at + 2]
    shift = (left - right) / (2 * (left - 2 * middle + right))
    return float(middle - (left - right) * shift / 4), float((at + 0.5 + shift) / len(values))


def on_midlines(solver: lbm.Solver, setup: lbm.Convection) -> tuple[tuple[float, float], tuple[float, float]]:
    """Largest horizontal speed on the vertical midline, and vertical one on the horizontal midline, in kappa/L."""
    u, v = solver.velocity()[:2]
    if u.ndim == 3:
        u, v = (a[:, :, a.shape[2] // 2 - 1 : a.shape[2] // 2 + 1].mean(axis=2, dtype=float) for a in (u, v))
    middle, unit = len(u) // 2, setup.length / setup.diffusivity
    horizontal = u[middle - 1 : middle + 1].mean(axis=0, dtype=float) * unit
    vertical = v[:, middle - 1 : middle + 1].mean(axis=1, dtype=float) * unit
    return peak(horizontal), peak(vertical)


def solve(given: argparse.Namespace) -> tuple[lbm.Solver, lbm.Convection, dict[str, Any]]:
    """Run all grids to their steady state; also what the last one gave."""
    coarsest = max(4.0, 0.75 * given.rayleigh**0.25)  # on fewer cells the layers at the walls are unstable
    halves = [given.cells // 2**level for level in reversed(range(given.levels))]
    sizes = [cells for cells in halves[:-1] if cells >= coarsest] + halves[-1:]
    grids: list[dict[str, Any]] = []
    states: list[State] = []
    for cells in sizes:
        solver, setup = cavity(given, cells)
        if states:
            start_from(given, solver, setup, states)
        every = max(500, round(setup.length / setup.velocity))
        steady = lbm.Steady(given.tolerance * setup.difference, every=every, of="temperature")
        result = solver.run(given.steps, progress=True, until=steady)
        hot = solver.nusselt("-x", setup.length, setup.difference)
        print(
            f"{cells:5d} cells: Nu {hot:.4f}, {result.steps} steps in {result.seconds:.1f} s, "
            f"{result.mlups:.0f} MLUPS{'' if result.converged else ', NOT STEADY'}"
        )
        grids.append({"cells": cells, "steps": result.steps, "seconds": result.seconds, "mlups": result.mlups})
        if cells < sizes[-1]:
            states = [*states[-1:], state(given, solver, setup)]
    (u, y), (v, x) = on_midlines(solver, setup)
    numbers = {
        "dimensions": given.dimensions,
        "rayleigh": given.rayleigh,
        "cells": given.cells,
        "velocity": setup.velocity,
        "difference": setup.difference,
        "collision": given.collision,
        "operators": given.operators,
        "energy_coupling": given.energy_coupling,
        "precision": given.precision,
        "device": solver.report(bandwidth=False).setup["device"],
        "tolerance": given.tolerance,
        "steady": result.converged,
        "grids": grids,
        "hot": hot,
        "cold": -solver.nusselt("+x", setup.length, setup.difference),
        "middle": through_the_middle(solver, setup),
        "u_max": u,
        "u_max_y": y,
        "v_max": v,
        "v_max_x": x,
    }
    name, published = PUBLISHED[given.dimensions]
    if given.rayleigh in published:
        numbers["published"] = [name, published[given.rayleigh]]
    if given.rayleigh in SPECTRAL[given.dimensions]:
        numbers["spectral"] = SPECTRAL[given.dimensions][given.rayleigh]
    if given.dimensions == 3:
        local = solver.nusselt_map("-x", setup.length, setup.difference)
        numbers["mid_plane"] = float(local[:, given.cells // 2 - 1 : given.cells // 2 + 1].mean())
    return solver, setup, numbers


def table(numbers: dict[str, Any]) -> str:
    """Nusselt numbers beside the published ones, and the speeds on the midlines."""
    rows = [("hot wall", numbers["hot"]), ("cold wall", numbers["cold"]), ("through x = L/2", numbers["middle"])]
    if "mid_plane" in numbers:
        rows.append(("hot wall, z = L/2", numbers["mid_plane"]))
    lines = [f"Nusselt number at Ra {numbers['rayleigh']:g}, {numbers['cells']} cells a side"]
    lines += [f"  {label:20}{value:9.4f}" for label, value in rows]
    exact = numbers.get("spectral")
    others = [numbers["published"]] if "published" in numbers else []
    for label, value in [*others, *([("spectral", exact[0])] if exact else [])]:
        lines.append(f"  {label:20}{value:9.4f}   hot wall {100 * (numbers['hot'] / value - 1):+.2f} %")
    places = (("u_max", "y", "x"), ("v_max", "x", "y"))
    for k, (speed, along, across) in enumerate(places, start=1):
        published = f", spectral {exact[k]:g}" if exact else ""
        place = f"at {along} {numbers[f'{speed}_{along}']:.3f} L of {across} = L/2"
        lines.append(f"{speed} {numbers[speed]:.3f} kappa/L {place}{published}")
    return "\n".join(lines)


def picture(solver: lbm.Solver, setup: lbm.Convection, path: str) -> None:
    """Temperature, and speed with stream lines, in three dimensions in the plane z = L/2."""
    temperature, velocity = solver.temperature() / setup.difference, solver.velocity()
    if temperature.ndim == 3:
        temperature, velocity = (a[..., a.shape[-1] // 2] for a in (temperature, velocity))
    u, v = np.asarray(velocity[:2], float) / setup.velocity
    centres = (np.arange(len(temperature)) + 0.5) / len(temperature)
    figure = Figure(figsize=(9, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    image = left.imshow(temperature.T, origin="lower", extent=(0, 1, 0, 1), cmap="RdBu_r", vmin=-0.5, vmax=0.5)
    left.contour(centres, centres, temperature.T, np.linspace(-0.45, 0.45, 10), colors="black", linewidths=0.5)
    figure.colorbar(image, ax=left, label="temperature", shrink=0.9)
    image = right.imshow(np.hypot(u, v).T, origin="lower", extent=(0, 1, 0, 1), cmap="viridis")
    right.streamplot(centres, centres, u.T, v.T, color="white", linewidth=0.5, density=1.3, arrowsize=0.6)
    figure.colorbar(image, ax=right, label="speed over that of free fall", shrink=0.9)
    for axes in (left, right):
        axes.set(xlabel="x / L", ylabel="y / L", xlim=(0, 1), ylim=(0, 1), aspect="equal")
    figure.suptitle(f"Ra {setup.rayleigh:g}, {setup.cells:g} cells")
    figure.savefig(path, dpi=100)
    print(f"picture: {path}")


def keep(numbers: dict[str, Any], path: Path) -> None:
    """Add the numbers to a list in a file."""
    kept = json.loads(path.read_text()) if path.exists() else []
    path.write_text(json.dumps([*kept, numbers], indent=1) + "\n")


if __name__ == "__main__":
    given = arguments()
    solver, setup, numbers = solve(given)
    if given.json:
        keep(numbers, Path(given.json))
    print(table(numbers))
    if given.output:
        picture(solver, setup, given.output)
