"""Defines the small flows of the bit-regression test (test_kept_bits.py).

They have every stencil, collision, number type, streaming and model, walls of every kind, and bodies. Run as a program,
it records their hashes in tests/data/bits.json.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np

import lbmgpu as lbm

from .cases import Case, random_bodies, random_faces, random_fields
from .collisions import Collision
from .d2q37 import CS2
from .d2q37_cases import GasCase
from .registry import FLOW_STENCILS, NUMBERS, PAIRS, STREAMINGS, THERMAL_STENCILS
from .thermal import Heat
from .thermal_cases import ThermalCase

SHAPES = {2: (21, 13), 3: (19, 6, 5)}
WALLS = {
    "periodic": ["periodic"] * 6,
    "cavity": ["no-slip", "no-slip", "no-slip", "moving-wall", "periodic", "periodic"],
    "channel": ["velocity-inlet", "pressure-outlet", "no-slip", "free-slip", "no-slip", "moving-wall"],
    "wake": ["velocity-inlet", "outflow", "free-slip", "no-slip", "periodic", "periodic"],
}

RECORD = Path(__file__).parent.parent / "data" / "bits.json"
STEPS = 7

Make = Callable[..., lbm.Solver]


def flow(stencil: str, kind: str, walls: str, smagorinsky: float = 0.0, **options: object) -> Make:
    """An isothermal flow between walls; with bodies but in the periodic box, with a force but in the wake."""
    rng = np.random.default_rng(zlib.crc32(f"{stencil} {walls}".encode()))
    dimensions = int(stencil[1])
    shape = SHAPES[dimensions]
    density, velocity = random_fields(rng, shape, speed=0.01)
    force = rng.uniform(-1e-4, 1e-4, (dimensions, *shape)) if walls == "cavity" else [1e-4] * dimensions
    case = Case(
        stencil,
        shape,
        Collision(kind, 0.05, smagorinsky=smagorinsky),
        faces=random_faces(rng, shape, WALLS[walls][: 2 * dimensions]),
        bodies=random_bodies(rng, shape) if walls != "periodic" else (),
        force=None if walls == "wake" else force,
        density=density,
        velocity=velocity,
        options=dict(options),
    )
    return case.solver


def warm_flow(stencil: str, kind: str, walls: str, **options: object) -> Make:
    """A flow with a temperature, between an isothermal and an adiabatic wall, with bodies of either kind."""
    rng = np.random.default_rng(zlib.crc32(f"warm {stencil} {walls}".encode()))
    dimensions = int(stencil[1])
    shape = SHAPES[dimensions]
    density, velocity = random_fields(rng, shape, speed=0.01)
    walled = walls != "periodic"
    case = ThermalCase(
        stencil,
        shape,
        Collision(kind, 0.05),
        faces=random_faces(rng, shape, WALLS[walls][: 2 * dimensions]),
        bodies=random_bodies(rng, shape) if walled else (),
        density=density,
        velocity=velocity,
        heat=Heat(
            0.04,
            buoyancy=(0.0, 1e-3, 0.0)[:dimensions],
            reference=0.5,
            coupling=0.01,
            source=1e-5,
            faces=[1.0, None, None, 0.25, None, None][: 2 * dimensions] if walled else (),
            bodies=[0.75, None] if walled else (),
        ),
        temperature=0.5 + 0.5 * rng.uniform(-1, 1, shape),
        options=dict(options),
    )
    return case.solver


def gas(walls: bool, prandtl: float, **options: object) -> Make:
    """A gas under gravity, its temperature carried by the populations."""
    rng = np.random.default_rng(7)
    shape = SHAPES[2]
    density, velocity = random_fields(rng, shape, speed=0.01)
    case = GasCase(
        shape,
        viscosity=0.1,
        prandtl=prandtl,
        gravity=(0.0, -1e-4) if walls else (1e-4, 2e-4),
        walls=(None, None, 1.05 * CS2, "adiabatic") if walls else (None,) * 4,
        density=density,
        velocity=velocity,
        temperature=CS2 * (1 + 0.02 * rng.uniform(-1, 1, shape)),
        options=dict(options),
    )
    return case.solver


def menu() -> dict[str, Make]:
    """Flows by name; each takes options of the solver, such as its device and layout."""
    flows: dict[str, Make] = {}
    places = {stencil: itertools.cycle(WALLS) for stencil in FLOW_STENCILS}
    for (stencil, kind), numbers, streaming in itertools.product(PAIRS, NUMBERS, STREAMINGS):
        precision, storage = numbers
        options = {"precision": precision, "storage": storage, "streaming": streaming}
        place = next(places[stencil])
        flows[f"{stencil} {kind} {precision} {storage} {streaming} {place}"] = flow(stencil, kind, place, **options)
        if numbers == NUMBERS[0]:
            for other in [walls for walls in WALLS if walls != place]:
                flows[f"{stencil} {kind} {precision} {storage} {streaming} {other}"] = flow(
                    stencil, kind, other, **options
                )
            flows[f"{stencil} {kind} smagorinsky {streaming}"] = flow(stencil, kind, place, 0.15, **options)
        if stencil in THERMAL_STENCILS and storage != "float16":
            flows[f"warm {stencil} {kind} {precision} {storage} {streaming} {place}"] = warm_flow(
                stencil, kind, place, **options
            )
    for precision, between, prandtl in itertools.product(["float32", "float64"], [False, True], [1.0, 0.71]):
        name = f"gas {precision} {'walls' if between else 'periodic'} {prandtl}"
        flows[name] = gas(between, prandtl, precision=precision)
    return flows


def digest(solver: lbm.Solver) -> str:
    """A hash of the populations and the temperature of the fluid after a few steps."""
    solver.step(STEPS)
    fluid = ~solver.domain.solid
    numbers = [solver.populations().astype(np.float64)[:, fluid]]
    if solver._simulation.has_temperature:
        numbers.append(solver.temperature().astype(np.float64)[fluid])
    # Zero has one sign here: the compilers are free in that of a zero.
    return hashlib.sha256(b"".join((array + 0.0).tobytes() for array in numbers)).hexdigest()[:16]


if __name__ == "__main__":
    RECORD.write_text(json.dumps({name: digest(make()) for name, make in menu().items()}, indent=1) + "\n")
