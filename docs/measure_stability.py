"""The least viscosities at which a uniform stream with noise lives between an inlet and an outlet, for `lbmgpu.advise`:

python docs/measure_stability.py

writes src/lbmgpu/advice/stability_limits.json, in some minutes on two cores.
"""

from __future__ import annotations

import json
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

QUIET = 0.5
"""The largest departure from the stream that counts as alive, by its speed."""


def lives(collision: type[lbm.BGK], stencil: str, speed: float, viscosity: float) -> bool:
    """Whether the stream is itself after `PASSAGES` passages, between the default inlet and outlet."""
    shape = SHAPES[stencil]
    stream = (speed,) + (0.0,) * (len(shape) - 1)
    domain = lbm.Domain(shape, stencil)
    domain.faces["-x"], domain.faces["+x"] = lbm.VelocityInlet(stream), lbm.PressureOutlet(1.0)
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


def limit(collision: type[lbm.BGK], stencil: str, speed: float) -> float:
    """The least viscosity, to a factor of `RATIO`, at which the stream lives; `LEAST` if it does there."""
    low, high = LEAST, MOST
    if lives(collision, stencil, speed, low):
        return low
    while high / low > RATIO:
        middle = (low * high) ** 0.5
        low, high = (low, middle) if lives(collision, stencil, speed, middle) else (middle, high)
    return float(f"{high:.2g}")


def main() -> None:
    warnings.simplefilter("ignore", lbm.LinearlyUnstableWarning)
    found: dict[str, dict[str, dict[str, float]]] = {}
    for stencil in SHAPES:
        for collision in (lbm.BGK, lbm.TRT, lbm.MRT, lbm.Regularized, lbm.CentralMoments, lbm.RecursiveRegularized):
            limits = {f"{speed:g}": limit(collision, stencil, speed) for speed in SPEEDS}
            found.setdefault(stencil, {})[collision.__name__] = limits
            print(stencil, collision.__name__, limits, flush=True)
    found["D3Q27"]["Cumulant"] = {f"{speed:g}": limit(lbm.Cumulant, "D3Q27", speed) for speed in SPEEDS}
    what = f"uniform stream of {SHAPES} cells, {PASSAGES} passages, noise {NOISE:g}"
    LIMITS.write_text(json.dumps({"what": what, "limits": found}, indent=1) + "\n")


if __name__ == "__main__":
    main()
