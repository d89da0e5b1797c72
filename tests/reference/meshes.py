"""Meshes of known shapes, and what rays meet of them in plain NumPy."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

CUBE = np.array(
    [
        *[(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1)],
        *[(2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3)],
    ]
)
"""The triangles of a box, by the numbers of its corners in the order of x, y, z."""


def box(low: tuple[float, ...], high: tuple[float, ...]) -> tuple[Floats, Integers]:
    """A box of twelve triangles, counterclockwise seen from outside."""
    return np.array(list(itertools.product(*zip(low, high, strict=True)))), CUBE


def icosphere(divisions: int) -> tuple[Floats, Integers]:
    """An icosahedron in the unit sphere, each triangle of which is divided into four so many times."""
    g = (1 + 5**0.5) / 2
    signs = [(a, b) for a in (-1, 1) for b in (-g, g)]
    vertices = np.array([np.roll((0, a, b), k) for k in range(3) for a, b in signs])
    near = np.linalg.norm(vertices[:, None] - vertices[None], axis=2) < 2.1
    triples = [
        t for t in itertools.combinations(range(12), 3) if all(near[a, b] for a, b in itertools.combinations(t, 2))
    ]
    triangles = np.array([t if np.linalg.det(vertices[list(t)]) > 0 else t[::-1] for t in triples])
    vertices = vertices / np.linalg.norm(vertices, axis=1)[:, None]
    for _ in range(divisions):
        edges = np.sort(np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]]), axis=1)
        unique, number = np.unique(edges, axis=0, return_inverse=True)
        middles = vertices[unique].sum(axis=1)
        ab, bc, ca = (number.reshape(-1).reshape(3, -1) + len(vertices)).astype(np.int64)
        a, b, c = triangles.T
        vertices = np.concatenate([vertices, middles / np.linalg.norm(middles, axis=1)[:, None]])
        parts = [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]
        triangles = np.concatenate([np.stack(part, axis=1) for part in parts])
    return vertices, triangles


def lengths(corners: Floats, start: Floats, step: Floats) -> Floats:
    """After which a line from `start` meets triangles ``(m, 3, 3)``, in steps; the nearest from 0 to 1 or inf."""
    a, u, v = corners[:, 0], corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    normal = np.cross(u, v)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = ((a - start) * normal).sum(axis=1) / (normal @ step)
        place = start + t[:, None] * step
        area = (normal**2).sum(axis=1)
        b = (np.cross(place - a, v) * normal).sum(axis=1) / area
        c = (np.cross(u, place - a) * normal).sum(axis=1) / area
        hit = (b >= -1e-12) & (c >= -1e-12) & (b + c <= 1 + 1e-12) & (t >= 0) & (t <= 1 + 1e-12)
    return np.asarray(t[hit].min(initial=np.inf))


def stl(vertices: Floats, triangles: Integers) -> bytes:
    """A binary STL file."""
    record = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
    rows = np.zeros(len(triangles), record)
    rows["corners"] = vertices[triangles]
    return b"lbmgpu test".ljust(80) + np.uint32(len(rows)).tobytes() + rows.tobytes()


def obj(vertices: Floats, triangles: Integers) -> bytes:
    """A Wavefront OBJ file."""
    lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in vertices.tolist()]
    return "\n".join([*lines, *(f"f {a + 1} {b + 1} {c + 1}" for a, b, c in triangles.tolist()), ""]).encode()


def ply(vertices: Floats, triangles: Integers) -> bytes:
    """A PLY file in ASCII."""
    head = f"ply\nformat ascii 1.0\nelement vertex {len(vertices)}\n"
    head += "".join(f"property double {axis}\n" for axis in "xyz")
    head += f"element face {len(triangles)}\nproperty list uchar int vertex_indices\nend_header\n"
    rows = [" ".join(map(repr, row)) for row in vertices.tolist()]
    return (head + "\n".join([*rows, *(f"3 {a} {b} {c}" for a, b, c in triangles.tolist()), ""])).encode()


WRITERS = {"stl": stl, "obj": obj, "ply": ply}


def write(path: Path, vertices: Floats, triangles: Integers) -> Path:
    """Writes a file by its suffix."""
    path.write_bytes(WRITERS[path.suffix[1:]](vertices, triangles))
    return path
