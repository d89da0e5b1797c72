"""Disks that get full at a random byte of a checkpoint, an image, a table or a picture.

The error must name the file, the older one must stay as it was, nothing else may be left, and once there is room the
file must be written.
"""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from faults import full_disk, in_child

import lbmgpu as lbm
from lbmgpu.case import tables

NAME = "full disks"
QUICK, LONG = 12, 200


def run(rng: np.random.Generator, count: int, folder: Path, device: str) -> Counter[str]:
    """Make `count` attacks in a child."""
    return in_child(__file__, int(rng.integers(2**31)), count, folder, timeout=60 + 2 * count)


def make() -> lbm.Solver:
    """A flow past a body."""
    domain = lbm.Domain((14, 12, 10))
    domain.faces["-y"], domain.faces["+y"] = lbm.NoSlip(), lbm.MovingWall((0.05, 0, 0))
    mask = np.zeros(domain.shape, bool)
    mask[3:5, 2:4, 3:6] = True
    domain.add_body(mask, "stone")
    return lbm.Solver(domain, lbm.MRT(0.05), force=(1e-5, 0, 0), device="cpu", threads=1)


def write_table(solver: lbm.Solver, path: Path) -> None:
    """Replace a table by one cut to the rows before the solver's step, as a restart does."""
    if not path.exists():
        tables.start(path, ["F"])
        with path.open("a") as file:
            file.writelines(f"{step},{step / 3}\n" for step in range(400))
    tables.cut(path, 400, 1)


def draw(solver: lbm.Solver, path: Path) -> None:
    """Draw a picture."""
    from lbmgpu.plot import speed_picture  # matplotlib takes long to be imported

    speed_picture(solver, path, dpi=40)


WRITERS: dict[str, Callable[[lbm.Solver, Path], object]] = {
    "state.h5": lambda solver, path: solver.save(path),
    "fields.vti": lambda solver, path: solver.write_vtk(path),
    "forces.csv": write_table,
    "layout.json": lambda solver, path: solver.layout.save(path),
    "speed.png": draw,
}


def attacks(rng: np.random.Generator, count: int, folder: Path) -> Counter[str]:
    """Make `count` attacks, as many on checkpoints as on all others, and fewest on pictures, which take long."""
    solver, outcomes = make(), Counter[str]()
    for number in range(count):
        name = str(rng.choice(list(WRITERS), p=[0.5, 0.2, 0.15, 0.1, 0.05]))
        path, write = folder / name, WRITERS[name]
        write(solver, path)
        before, listing = path.read_bytes(), sorted(os.listdir(folder))
        solver.step(1)
        room = int(rng.integers(len(before)))
        what = f"attack {number}, {name}, room for {room} of {len(before)} bytes"
        try:
            with full_disk(room):
                write(solver, path)
        except OSError as error:
            said = str(error)
        else:
            assert path.stat().st_size <= room, what  # the new file is smaller
            outcomes[f"{name}: it fitted"] += 1
            continue
        outcomes[f"{name}: old file kept"] += 1
        assert str(path) in said, f"{what}: {said}"
        assert path.read_bytes() == before, what
        assert sorted(os.listdir(folder)) == listing, f"{what}: {os.listdir(folder)}"
        if name == "state.h5":
            assert lbm.Solver.load(path, device="cpu", threads=1).steps == solver.steps - 1, what
        write(solver, path)
    return outcomes


if __name__ == "__main__":
    print(json.dumps(attacks(np.random.default_rng(int(sys.argv[1])), int(sys.argv[2]), Path(sys.argv[3]))))
