"""Random flows whose cells may keep moments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import lbmgpu as lbm
from lbmgpu import _core
from lbmgpu.solver.solver import simulation_of

from . import Collision
from .cases import Case, add_random_sheets, random_bodies, random_cuts, random_faces, random_fields

STENCILS = ["D2Q9", "D3Q19", "D3Q27"]
SHAPES = {"D2Q9": (19, 11), "D3Q19": (11, 7, 6), "D3Q27": (11, 7, 6)}
KINDS = _core.moment_collisions()


def case_of(
    rng: np.random.Generator, stencil: str, kind: str, forced: bool, shape: tuple[int, ...] = (), **options: Any
) -> Case:
    shape = shape or SHAPES[stencil]
    density, velocity = random_fields(rng, shape)
    force = rng.uniform(-1e-3, 1e-3, len(shape)) if forced else None
    return Case(stencil, shape, Collision(kind, 0.01, **options), force=force, density=density, velocity=velocity)


def with_walls(rng: np.random.Generator, stencil: str, kind: str, shape: tuple[int, ...] = (), **options: Any) -> Case:
    """Walls, inlets and outlets on random faces, and two ragged bodies, one of which moves."""
    shape = shape or SHAPES[stencil]
    kinds: list[str] = []
    walls = [name for name in _core.moment_faces() if name != "periodic"]
    for _ in shape:
        kinds += ["periodic"] * 2 if rng.random() < 0.3 else [str(kind) for kind in rng.choice(walls, 2)]
    case = case_of(rng, stencil, kind, True, shape, **options)
    case.faces, case.bodies = random_faces(rng, shape, kinds), random_bodies(rng, shape)
    return case


def with_cuts(rng: np.random.Generator, stencil: str, kind: str, shape: tuple[int, ...] = (), **options: Any) -> Case:
    """The same, with walls of the bodies at random distances in random schemes, and between fluid cells."""
    case = with_walls(rng, stencil, kind, shape, **options)
    case.cuts = random_cuts(rng, stencil, case.bodies)
    add_random_sheets(rng, case, share=0.05)
    return case


def without_walls(
    rng: np.random.Generator, stencil: str, kind: str, shape: tuple[int, ...] = (), **options: Any
) -> Case:
    return case_of(rng, stencil, kind, True, shape, **options)


def lasting(draw: Callable[[], Case], steps: int) -> Case:
    """The first case drawn that is a flow after so many steps: walls at random distances may drive one apart, and the
    bits of a NaN are not the same on all devices."""
    while True:
        case = draw()
        solver = case.solver(device="cpu", state="moments", precision="float64")
        try:
            solver.step(steps)
            solver.check()
        except lbm.DivergedError:
            continue
        return case


MADE: dict[str, Callable[..., Case]] = {"periodic": without_walls, "walls": with_walls, "cuts": with_cuts}
"""What makes the cases of tests that go through all, with a force."""


def state_of(solver: lbm.Solver) -> bytes:
    engine = simulation_of(solver).engine
    state = np.empty((engine.state_numbers, *reversed(solver.domain.shape)), engine.storage_dtype)
    engine.get_state(state)
    return state.tobytes()
