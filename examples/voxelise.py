"""Makes an STL file of a ring, loads it, and shows which cells of a domain it fills and where it cuts their links.

python examples/voxelise.py
python examples/voxelise.py --file car.stl --cells 200

It prints what there is to know of the surface, the cells and the links, at three resolutions.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

import lbmgpu as lbm


def ring(around=96, across=48, radius=1.0, thickness=0.35):
    """The corners ``(n, 3, 3)`` of the triangles of a torus, counterclockwise seen from outside."""
    u, v = np.meshgrid(np.arange(around), np.arange(across), indexing="ij")

    def place(i, j):
        long, short = 2 * np.pi * (i % around) / around, 2 * np.pi * (j % across) / across
        from_axis = radius + thickness * np.cos(short)
        return np.stack([from_axis * np.cos(long), from_axis * np.sin(long), thickness * np.sin(short)], axis=-1)

    a, b, c, d = place(u, v), place(u + 1, v), place(u + 1, v + 1), place(u, v + 1)
    return np.concatenate([np.stack(each, axis=-2).reshape(-1, 3, 3) for each in ((a, b, c), (a, c, d))])


def write_stl(path, corners):
    """A binary STL file."""
    rows = np.zeros(len(corners), [("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
    rows["corners"] = corners
    Path(path).write_bytes(b"ring".ljust(80) + np.uint32(len(rows)).tobytes() + rows.tobytes())


def main():
    """Load, place, voxelise."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--file", type=Path, help="STL, OBJ or PLY; the ring if not given")
    parser.add_argument("--cells", type=int, default=64, help="along each axis of the finest domain")
    given = parser.parse_args()

    # 1. The surface, in the units of its file.
    if given.file is None:
        with tempfile.TemporaryDirectory() as folder:
            write_stl(Path(folder) / "ring.stl", ring())
            surface = lbm.Geometry.load(Path(folder) / "ring.stl")
    else:
        surface = lbm.Geometry.load(given.file)
    print(surface.describe(), end="\n\n")

    # 2. The same in domains finer and finer: the volume of the solid cells becomes that of the surface.
    velocities = lbm.stencil("D3Q19").c
    for cells in (given.cells // 4, given.cells // 2, given.cells):
        body = surface.fit((cells // 8,) * 3, (cells - cells // 8,) * 3)
        domain = lbm.Domain((cells,) * 3)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", lbm.GeometryWarning)  # printed below
            domain.add_body(body, "body")
        start = time.perf_counter()
        solid = body.solid((0, 0, 0), domain.shape)
        links = body.links((0, 0, 0), domain.shape, velocities)
        seconds = time.perf_counter() - start
        print(f"{cells} cells along each axis: {solid.sum()} solid, {solid.sum() / body.volume:.4f} of the volume")
        print(f"{len(links.q)} links cut, at {links.q.mean():.3f} of their length on average; {seconds:.2f} s")
        for text in body.describe(domain).warnings:
            print(f"warning: {text}")
        print()


if __name__ == "__main__":
    main()
