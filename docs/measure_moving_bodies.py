"""What a body that moves costs in a step on a GPU:

python docs/measure_moving_bodies.py --device cuda

prints the time of a step of a box of 256 x 256 x 256 cells without and with a body of 40 cells that moves through it.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

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


def seconds(geometry: lbm.Geometry | None, motion: lbm.Motion | None, size: int, device: str, streaming: str) -> float:
    """Of a step."""
    domain = lbm.Domain((size,) * 3, "D3Q19")
    if geometry is not None:
        domain.add_body(geometry, "body", motion=motion)
    solver = lbm.Solver(domain, lbm.BGK(0.02), device=device, streaming=streaming)
    solver.step(320)
    found = []
    for _ in range(5):
        start = time.perf_counter()
        solver.step(960)
        found.append((time.perf_counter() - start) / 960)
    return min(found)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="The cost of a body that moves.")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--size", type=int, default=256, help="cells along each axis (256)")
    parser.add_argument("--diameter", type=float, default=40, help="of the body, cells (40)")
    given = parser.parse_args()
    middle, diameter = given.size / 2, given.diameter
    shapes: dict[str, Callable[[], lbm.Geometry]] = {
        "sphere": lambda: lbm.Sphere((middle,) * 3, diameter / 2),
        "box": lambda: lbm.Box((middle - diameter / 2,) * 3, (middle + diameter / 2,) * 3),
        "mesh": lambda: rounded_cube(diameter, middle),
    }
    motions = {
        "shifted": lbm.Oscillation((diameter / 2, 0, 0), period=4000),
        "turned": lbm.Oscillation((diameter / 2, 0, 0), period=4000, turn=0.5),
    }
    for streaming in ("in-place", "two-lattice"):
        alone = seconds(None, None, given.size, given.device, streaming)
        print(f"{streaming}: {1e6 * alone:.1f} us a step without a body")
        for shape, make in shapes.items():
            for name, motion in motions.items():
                found = seconds(make(), motion, given.size, given.device, streaming)
                print(f"  {shape}, {name}: {1e6 * found:.1f} us, {100 * (found / alone - 1):+.1f} %")


if __name__ == "__main__":
    main()
