"""Ranks have the bits of one process, and of functions that Python calls, where values change by functions of time.

Arguments: the device, a folder.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from mpi4py import MPI

import lbmgpu as lbm

world = MPI.COMM_WORLD
device, folder = sys.argv[1], Path(sys.argv[2])
SHAPE = (32, 18, 12)
PULSE, SIGNAL = lbm.Sine(mean=0.6, amplitude=0.4, period=17.3), lbm.Table([0, 5, 21], [0.2, 1, 0.2], periodic=True)


def profile(x: Any, y: Any, z: Any) -> tuple[Any, ...]:
    return 0.06 * np.sin(0.2 * y) ** 2, 0 * x, 0.01 + 0 * z


def spin(x: Any, y: Any, z: Any) -> tuple[Any, ...]:
    return 0.005 * (9 - y), 0.005 * (x - 16), 0 * z


def push(x: Any, y: Any, z: Any) -> tuple[Any, ...]:
    return 1e-5 * np.cos(0.2 * x), 1e-6 * y, 0 * z


def in_python(value: lbm.Varying) -> Callable[..., Any]:
    def evaluated(x: Any, y: Any, z: Any, t: float) -> Any:
        fixed = value.spatial(x, y, z) if callable(value.spatial) else value.spatial
        return tuple(np.multiply(part, value.function(t)) for part in fixed)

    return evaluated


def made(value: Callable[[lbm.Varying], Any], **options: Any) -> lbm.Solver:
    domain = lbm.Domain(SHAPE, stencil="D3Q19")
    domain.faces["-x"] = lbm.VelocityInlet(value(profile * PULSE))
    domain.faces["+x"] = lbm.PressureOutlet(lbm.Sine(mean=1, amplitude=0.002, period=29))
    domain.faces["+z"] = lbm.MovingWall(value((0.02, 0.01, 0) * lbm.Ramp(0.5, 1, 30, shape="smooth")))
    domain.faces["-z"] = lbm.NoSlip()
    domain.add_body(
        lambda x, y, z: (x - 16) ** 2 + (y - 9) ** 2 < 16 + 0 * z, "rotor", lbm.MovingWall(value(spin * SIGNAL))
    )
    solver = lbm.Solver(domain, lbm.TRT(0.05), device=device, force=push * SIGNAL, **options)
    solver.record(lbm.Forces("+z"))
    return solver


def found(solver: lbm.Solver, steps: int) -> list[Any]:
    solver.step(steps)
    fields = [solver.populations(gather=True), solver.velocity(gather=True), solver.body_force("rotor")]
    history = solver.recorders[0]
    np.testing.assert_array_equal(history["force"][-1], solver.face_force("+z"))
    return [*fields, history["force"], solver.face_torque("-z")]


ours, theirs = made(lambda value: value, comm=world), made(in_python, comm=world)
alone = made(lambda value: value, comm=MPI.COMM_SELF)
for steps in (25, 1, 14):
    mine, *others = (found(solver, steps) for solver in (ours, theirs, alone))
    for other in others:
        for a, b in zip(mine, other, strict=True):
            if a is not None and b is not None:  # fields are gathered on rank 0
                np.testing.assert_array_equal(a, b)
    if steps == 25:
        ours.save(folder / "state.h5")
world.Barrier()
loaded = lbm.Solver.load(folder / "state.h5", comm=world, device=device)
loaded.step(15)
np.testing.assert_array_equal(loaded.populations(), ours.populations())
print(f"rank {world.Get_rank()} of {world.Get_size()} is done")
