"""Damages mesh files, and makes meshes of random triangles, which are then loaded, voxelised and cut.

Each must be refused by name or give cells and links that fit each other, in little time; nothing crashes or hangs.
"""

from __future__ import annotations

import faulthandler
import itertools
import json
import math
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from faults import in_child
from reference import meshes

import lbmgpu as lbm

NAME = "meshes"
QUICK, LONG = 60, 1000
SECONDS = 20
"""That an attack may take on a busy machine."""
N = 24


def run(rng: np.random.Generator, count: int, folder: Path, device: str) -> Counter[str]:
    """Make `count` attacks in a process of their own; `device` makes no difference."""
    return in_child(__file__, int(rng.integers(2**31)), count, folder, timeout=60 + SECONDS * count)


def attacks(rng: np.random.Generator, count: int, folder: Path) -> Counter[str]:
    """Make `count` attacks in this process, which ends where one of them takes too long."""
    ended: Counter[str] = Counter()
    for _ in range(count):
        seed = int(rng.integers(2**32))
        with time_limit(seed):
            ended[_attack(np.random.default_rng(seed), folder)] += 1
    return ended


@contextmanager
def time_limit(seed: int, seconds: float = SECONDS) -> Iterator[None]:
    """Ends the process where an attack takes too long, with a traceback below the generator that repeats it.

    A thread of C does it, as calls of C++ let no signal handler of Python run before they return.
    """
    print(f"numpy.random.default_rng({seed}), at most {seconds:g} s", file=sys.stderr, flush=True)
    faulthandler.dump_traceback_later(seconds, exit=True)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()


def _attack(rng: np.random.Generator, folder: Path) -> str:
    try:
        return _use(rng, _geometry(rng, folder))
    except ValueError as error:  # by name: a file, or coordinates that cells cannot have
        if isinstance(error, lbm.GeometryError) or str(error).startswith("vertices: "):
            return "refused"
        raise


def _geometry(rng: np.random.Generator, folder: Path) -> lbm.Geometry:
    if rng.random() < 0.3:
        return _random_mesh(rng)
    path = folder / f"damaged.{rng.choice(['stl', 'stl', 'stl', 'obj', 'ply'])}"
    vertices, triangles = meshes.icosphere(2)
    data = bytearray(meshes.WRITERS[path.suffix[1:]](12 + 8 * vertices, triangles))
    path.write_bytes(_damaged(rng, data))
    return lbm.Geometry.load(path, sheet=bool(rng.random() < 0.2))


def _random_mesh(rng: np.random.Generator) -> lbm.Mesh:
    """Random triangles: with holes, crossing each other, of no area, far away or on centres of cells."""
    count = int(rng.integers(3, 60))
    scale = float(rng.choice([1e-300, 1e-6, 1, 24, 1e4, 1e8]))
    vertices = scale * rng.uniform(-0.2, 1.2, (count, 3))
    if rng.random() < 0.5:
        vertices = np.round(2 * np.clip(vertices, -1e6, 1e6)) / 2
    return lbm.Mesh(vertices, rng.integers(0, count, (int(rng.integers(1, 80)), 3)))


def _damaged(rng: np.random.Generator, data: bytearray) -> bytes:
    """Bytes changed, cut off, repeated or put in, a few or many."""
    for _ in range(int(rng.choice([1, 1, 3, 30, 300]))):
        at = int(rng.integers(len(data) + 1))
        kind = rng.integers(5)
        if kind == 0 and at < len(data):
            data[at] = int(rng.integers(256))
        elif kind == 1 and at < len(data):
            data[at] ^= 1 << int(rng.integers(8))
        elif kind == 2 and rng.random() < 0.1:
            del data[at:]
        elif kind == 3 and rng.random() < 0.2:
            data[at:at] = rng.bytes(int(rng.integers(1, 50)))
        elif kind == 4 and rng.random() < 0.2:
            data[at : at + int(rng.integers(1, 50))] = b""
        if not data:
            break
    return bytes(data)


def _use(rng: np.random.Generator, geometry: lbm.Geometry) -> str:
    """Ask for all that a solver asks for, and hold it to what it must be."""
    assert isinstance(geometry, lbm.Mesh)
    assert math.isfinite(geometry.volume)
    str(geometry.describe())
    c = np.array(lbm.stencil("D3Q19").c, dtype=np.int64)
    solid = geometry.solid((-1,) * 3, (N + 2,) * 3)
    low = rng.integers(0, N // 2, 3)
    part = geometry.solid(low.tolist(), [9, 9, 9])
    window = tuple(slice(int(a) + 1, int(a) + 10) for a in low)
    assert np.array_equal(part, solid[window])
    links = geometry.links((0, 0, 0), (N, N, N), c)
    keys = set(zip(*links.cells.T.tolist(), links.directions.tolist(), strict=True))
    assert len(keys) == len(links.q)
    assert ((links.q > 0) & (links.q <= 1)).all()
    inner = solid[1:-1, 1:-1, 1:-1]
    assert not inner[tuple(links.cells.T)].any()
    for i in range(1, len(c)):
        there = solid[tuple(slice(1 + k, N + 1 + k) for k in c[i])]
        assert all((*cell, i) in keys for cell in itertools.islice(np.argwhere(~inner & there).tolist(), 200))
    domain = lbm.Domain((N, N, N))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lbm.GeometryWarning)
        domain.add_body(geometry, "it")
    if not 0 < inner.sum() < inner.size:
        return "no cells"
    solver = lbm.Solver(domain, lbm.BGK(0.1), threads=1)
    solver.step(1)
    return "closed" if geometry.is_closed else "open"


if __name__ == "__main__":
    first_seed, attack_count, where = sys.argv[1:]
    print(json.dumps(attacks(np.random.default_rng(int(first_seed)), int(attack_count), Path(where))))
