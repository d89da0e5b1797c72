"""The recorders of a case leave the same files on one rank and on several, across a restart."""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from mpi4py import MPI

from lbmgpu.case import run_case

world = MPI.COMM_WORLD
folder = Path(sys.argv[1])
OUTPUT: list[dict[str, Any]] = [
    {"checkpoint": {"every": 20}},
    {"probe": [[8.5, 6.5], [10.25, 4]], "every": 5},
    {"forces": "stone", "every": 10},
    {"plane": "x", "position": 8.5, "every": 20},
    {"flux": "x", "position": 8, "every": 10},
    {"mean": ["velocity"], "every": 10},
    {"mean": ["velocity"], "batches": 4, "every": 5, "file": "intervals.npz"},
    {"covariance": ["velocity"], "over": "x", "every": 10},
    {"image": "pictures/speed_{step}.png", "every": 20, "dpi": 40},
    {"series": "flow", "fields": ["velocity"], "every": 10},
    {"movie": "wake.gif", "every": 20, "dpi": 30},
]
CASE: dict[str, Any] = {
    "domain": {"shape": [16, 12], "stencil": "D2Q9"},
    "collision": {"model": "BGK", "viscosity": 0.1},
    "precision": "float64",
    "faces": {"-y": {"condition": "no-slip"}, "+y": {"condition": "no-slip"}},
    "bodies": [{"name": "stone", "shape": "box", "low": [3, 3], "high": [5, 5]}],
    "force": [1e-5, 0],
    "initial": {"velocity": {"uniform": [0.01, 0], "noise": {"amplitude": 1e-3}}},
    "run": {"steps": 40, "device": "cpu", "threads": 1},
    "output": OUTPUT,
}
case = folder / "case.json"
if world.rank == 0:
    case.write_text(json.dumps(CASE))
    run_case(case, folder=folder / "one", progress=False, comm=MPI.COMM_SELF)
world.barrier()
run_case(case, folder=folder / "many", steps=20, progress=False, comm=world)
run_case(case, folder=folder / "many", restart=folder / "many" / "checkpoint.h5", progress=False, comm=world)
if world.rank == 0:
    one, many = ({path.relative_to(folder / run) for path in (folder / run).rglob("*")} for run in ("one", "many"))
    assert {path for path in one if path.parts[0] != "flow"} == {path for path in many if path.parts[0] != "flow"}
    for path in one:
        if path.name == "forces.csv":  # sums over the blocks of ranks, which round
            same, other = (np.loadtxt(folder / run / path, delimiter=",", skiprows=1) for run in ("one", "many"))
            np.testing.assert_allclose(other, same, rtol=1e-5, atol=1e-9)
        elif path.suffix in (".csv", ".npz", ".png", ".gif"):
            assert (folder / "one" / path).read_bytes() == (folder / "many" / path).read_bytes(), path
    frames = {path.name.partition(".")[0] for path in many if path.parent.name == "flow"}
    assert {f"{step:012d}" for step in (10, 20, 30, 40)} <= frames
print(f"rank {world.rank} of {world.size} is done")
