"""What bodies cost a step on a GPU: walls on the surface beside those of the same cells, and bodies that move.

python docs/measure_bodies.py [--device cuda] [--json FILE]

prints the time of a step with each, and how much more that is than with a mask of the same cells, or without a body.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import measured_table
import numpy as np

import lbmgpu as lbm


def rounded_cube(size: float, at: float) -> lbm.Mesh:
    """A mesh of some thousand triangles: a cube, whose faces are cut up and pushed towards a sphere."""
    n = 24
    side = np.linspace(-1, 1, n + 1)
    corners, triangles = [], []
    for axis in range(3):
        for sign in (-1, 1):
            u, v = np.meshgrid(side, side, indexing="ij")
            face = np.stack([np.full_like(u, sign), u, v], axis=-1).reshape(-1, 3)
            face = np.roll(face, axis, axis=1)
            base = sum(map(len, corners))
            corners.append(face)
            k = np.arange(n)[:, None] * (n + 1) + np.arange(n)
            a, b, c, d = (base + (k + shift).ravel() for shift in (0, n + 1, n + 2, 1))
            triangles.append(np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)])[:, ::sign])
    points = np.concatenate(corners)
    points /= 0.5 + 0.5 * np.linalg.norm(points, axis=1)[:, None]
    return lbm.Mesh(size / 2 * points + at, np.concatenate(triangles))


def seconds(domain: lbm.Domain, arguments: argparse.Namespace, streaming: str) -> float:
    """Of a step, the least of five runs."""
    solver = lbm.Solver(domain, lbm.BGK(0.02), device=arguments.device, streaming=streaming)
    solver.step(arguments.steps)
    found = []
    for _ in range(5):
        start = time.perf_counter()
        solver.step(arguments.steps)
        found.append((time.perf_counter() - start) / arguments.steps)
    return min(found)


def domain(shape: tuple[int, ...], body: Any = None, **more: Any) -> lbm.Domain:
    """A periodic box with a body or none."""
    made = lbm.Domain(shape, "D3Q19" if len(shape) == 3 else "D2Q9")
    if body is not None:
        made.add_body(body, "body", **more)
    return made


def at_rest(arguments: argparse.Namespace) -> list[list[str]]:
    """Walls on the surfaces of bodies beside half-way walls of their cells."""
    n = arguments.size
    bodies: dict[str, tuple[tuple[int, ...], lbm.Geometry]] = {
        f"sphere of {5 * n // 16} in {2 * n} x {n} x {n}": ((2 * n, n, n), lbm.Sphere((n / 2,) * 3, 5 * n / 32)),
        f"sphere of {5 * n // 8} in {n}^3": ((n,) * 3, lbm.Sphere((n / 2,) * 3, 5 * n / 16)),
        f"disc of {n} in {16 * n} x {16 * n}": ((16 * n,) * 2, lbm.Sphere((8 * n,) * 2, n / 2)),
    }
    rows = []
    for streaming in ("in-place", "two-lattice"):
        for name, (shape, geometry) in bodies.items():
            mask = seconds(domain(shape, geometry.solid((0,) * len(shape), shape)), arguments, streaming)
            found = seconds(domain(shape, geometry), arguments, streaming)
            rows.append(row(f"{name}, on its surface, {streaming}", found, mask))
    return rows


def moving(arguments: argparse.Namespace) -> list[list[str]]:
    """Bodies of 40 cells in a box that rest on their surface or move, beside the box without one."""
    shape = (arguments.size,) * 3
    middle, diameter = arguments.size / 2, 40.0
    shapes: dict[str, Callable[[], lbm.Geometry]] = {
        "sphere": lambda: lbm.Sphere((middle,) * 3, diameter / 2),
        "box": lambda: lbm.Box((middle - diameter / 2,) * 3, (middle + diameter / 2,) * 3),
        "mesh of 6912 triangles": lambda: rounded_cube(diameter, middle),
    }
    motions = {
        "at rest": None,
        "shifted": lbm.Oscillation((diameter / 2, 0, 0), period=4000),
        "turned": lbm.Oscillation((diameter / 2, 0, 0), period=4000, turn=0.5),
    }
    rows = []
    for streaming in ("in-place", "two-lattice"):
        alone = seconds(domain(shape), arguments, streaming)
        for name, make in shapes.items():
            for how, motion in motions.items():
                found = seconds(domain(shape, make(), motion=motion), arguments, streaming)
                rows.append(row(f"{name} of 40 in {arguments.size}^3, {how}, {streaming}", found, alone))
    return rows


def row(name: str, found: float, before: float) -> list[str]:
    """Microseconds of a step, of one to compare with, and how much more the first is."""
    cells = [name, f"{1e6 * found:.1f}", f"{1e6 * before:.1f}", f"{100 * (found / before - 1):+.1f} %"]
    print(" | ".join(cells), flush=True)
    return cells


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--device", default="auto")
    parser.add_argument("--size", type=int, default=256, help="cells along the axes of boxes (256)")
    parser.add_argument("--steps", type=int, default=640, help="of a run (640)")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    rows = at_rest(arguments) + moving(arguments)
    head = ["body", "us a step", "without", "more"]
    measured_table.write(arguments.json, arguments.device, "bodies", "BGK in float32", head, rows)


if __name__ == "__main__":
    main()
