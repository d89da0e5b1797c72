"""How long large meshes take from their file to the solid cells and link distances of a box of 512^3 cells.

python docs/measure_meshes.py [--device cuda] [--json FILE]

The host alone, and with a GPU that looks at the mesh, if `--device` is one.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import measured_table
import numpy as np
from numpy.typing import NDArray

import lbmgpu as lbm
from lbmgpu import _core

Result = TypeVar("Result")


def bumpy_ball(triangles: int, size: float) -> NDArray[np.float32]:
    """The corners, (triangles, 3, 3), of a closed surface of about so many triangles within a cube of `size`."""
    n = int(np.sqrt(triangles / 2))
    around, up = np.linspace(0, 2 * np.pi, n + 1), np.linspace(0, np.pi, n + 1)
    phi, theta = np.meshgrid(around, up, indexing="ij")
    radius = 0.44 * size * (1 + 0.1 * np.sin(theta) ** 2 * np.sin(9 * phi) * np.sin(7 * theta))
    points = radius[..., None] * np.stack(
        [np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi), np.cos(theta)], axis=-1
    )
    points[-1] = points[0]
    points[:, 0], points[:, -1] = points[0, 0], points[0, -1]
    points = (points + size / 2).astype(np.float32)
    a, b, c, d = points[:-1, :-1], points[:-1, 1:], points[1:, 1:], points[1:, :-1]
    found = np.stack([np.stack([a, b, c], axis=-2), np.stack([a, c, d], axis=-2)]).reshape(-1, 3, 3)
    edges = [np.abs(found[:, i] - found[:, j]).max(axis=-1) for i, j in ((0, 1), (1, 2), (2, 0))]
    return np.ascontiguousarray(found[np.min(edges, axis=0) > 0])


def write_stl(path: Path, corners: NDArray[np.float32]) -> None:
    """A binary STL file, whose normals are left out."""
    record = np.zeros(len(corners), dtype=[("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("more", "<u2")])
    record["corners"] = corners
    with path.open("wb") as file:
        file.write(b"\0" * 80 + np.uint32(len(corners)).tobytes() + record.tobytes())


def timed(work: Callable[[], Result]) -> tuple[float, Result]:
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def row(triangles: int, size: int, device: str, folder: Path) -> list[str]:
    """Seconds of each part, of one mesh."""
    path = folder / "ball.stl"
    corners = bumpy_ball(triangles, 0.9 * size)
    write_stl(path, corners)
    shape, velocities = (size,) * 3, np.asarray(_core.stencil("D3Q19").c)
    read, mesh = timed(lambda: lbm.Geometry.load(path))
    mesh = mesh.translate((0.05 * size,) * 3)
    cells, solid = timed(lambda: mesh.solid((0, 0, 0), shape, device=device))
    cut, links = timed(lambda: mesh.links((0, 0, 0), shape, velocities, device=device))
    numbers = [f"{len(corners)}", device, *(f"{s:.2f}" for s in (read, cells, cut, read + cells + cut))]
    print(" | ".join(numbers), f"({solid.sum()} solid cells, {len(links.q)} links)", flush=True)
    return numbers


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--size", type=int, default=512, help="cells along the axes of the box (512)")
    parser.add_argument("--triangles", type=int, nargs="+", default=[100_000, 1_000_000, 10_000_000])
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", lbm.GeometryWarning)
    rows: list[Any] = []
    with tempfile.TemporaryDirectory() as folder:
        for device in dict.fromkeys(["cpu", arguments.device]):
            rows += [row(count, arguments.size, device, Path(folder)) for count in arguments.triangles]
    head = ["triangles", "device", "file and repair, s", "solid cells, s", "link distances, s", "all, s"]
    what = f"a mesh in {arguments.size}^3 cells"
    measured_table.write(arguments.json, arguments.device, "meshes", what, head, rows)


if __name__ == "__main__":
    main()
