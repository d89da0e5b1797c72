"""The least viscosities at which a uniform stream with noise lives between an inlet and an outlet, for `lbmgpu.advise`:

python docs/measure_stability.py [limits] [between_sponges]

writes src/lbmgpu/advice/stability_limits.json, in some minutes on two cores: those between the default inlet and
outlet, and those between a regularized inlet and an outflow with a sponge before each.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path

import numpy as np

import lbmgpu as lbm

LIMITS = Path(__file__).parents[1] / "src" / "lbmgpu" / "advice" / "stability_limits.json"
SHAPES = {"D2Q9": (40, 16), "D3Q19": (40, 12, 12), "D3Q27": (40, 12, 12)}
SPEEDS = (0.05, 0.1)
NOISE = 1e-4
PASSAGES = 10
LEAST, MOST, RATIO = 1e-4, 0.1, 1.2
"""The viscosities that are tried, and the ratio to which a limit is found."""

SPONGE = (8, 0.3)
"""Thickness and strength of the sponges."""

QUIET = 0.5
"""The largest departure from the stream that counts as alive, by its speed."""


def lives(collision: type[lbm.BGK], stencil: str, speed: float, viscosity: float, sponges: bool) -> bool:
    """Whether the stream is itself after `PASSAGES` passages, between the default inlet and outlet or with sponges."""
    shape = SHAPES[stencil]
    stream = (speed,) + (0.0,) * (len(shape) - 1)
    domain = lbm.Domain(shape, stencil)
    domain.faces["-x"], domain.faces["+x"] = lbm.VelocityInlet(stream), lbm.PressureOutlet(1.0)
    if sponges:
        domain.faces["-x"], domain.faces["+x"] = lbm.VelocityInlet(stream, scheme="regularized"), lbm.Outflow()
        domain.add_sponge("-x", *SPONGE)
        domain.add_sponge("+x", *SPONGE)
    solver = lbm.Solver(domain, collision(viscosity), device="cpu")
    random = np.random.default_rng(1)
    noise = NOISE * random.standard_normal((len(shape), *shape))
    solver.initialize(velocity=np.reshape(stream, (-1,) + (1,) * len(shape)) + noise)
    try:
        solver.run(int(PASSAGES * shape[0] / speed))
    except lbm.DivergedError:
        return False
    away = solver.velocity() - np.reshape(stream, (-1,) + (1,) * len(shape))
    return bool(np.abs(away).max() < QUIET * speed)


def limit(collision: type[lbm.BGK], stencil: str, speed: float, sponges: bool) -> float:
    """The least viscosity, to a factor of `RATIO`, at which the stream lives; `LEAST` if it does there."""
    low, high = LEAST, MOST
    if lives(collision, stencil, speed, low, sponges):
        return low
    while high / low > RATIO:
        middle = (low * high) ** 0.5
        low, high = (low, middle) if lives(collision, stencil, speed, middle, sponges) else (middle, high)
    return float(f"{high:.2g}")


def limits(sponges: bool) -> dict[str, dict[str, dict[str, float]]]:
    """The limits of all collisions by stencil, collision and speed."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for stencil in SHAPES:
        every = [lbm.BGK, lbm.TRT, lbm.MRT, lbm.Regularized, lbm.CentralMoments, lbm.RecursiveRegularized]
        for collision in [*every, lbm.Cumulant] if stencil == "D3Q27" else every:
            own = {f"{speed:g}": limit(collision, stencil, speed, sponges) for speed in SPEEDS}
            found.setdefault(stencil, {})[collision.__name__] = own
            print(stencil, collision.__name__, own, flush=True)
    return found


def main() -> None:
    warnings.simplefilter("ignore", lbm.LinearlyUnstableWarning)
    kinds = {"limits": False, "between_sponges": True}
    for kind in sys.argv[1:] or kinds:
        what = f"uniform stream of {SHAPES} cells, {PASSAGES} passages, noise {NOISE:g}"
        written = json.loads(LIMITS.read_text()) | {"what": what, kind: limits(kinds[kind])}
        LIMITS.write_text(json.dumps(written, indent=1) + "\n")


if __name__ == "__main__":
    main()
