"""Forces that vary from cell to cell or in time, on flows whose cells may keep moments."""

from __future__ import annotations

from typing import Any

import numpy as np

import lbmgpu as lbm

from .cases import Array, Case
from .moment_cases import case_of, with_walls

PULSE = lbm.Sine(mean=0.3, amplitude=0.7, period=7.3, phase=0.2)
FORCES = ["field", "in time", "field in time"]


def forced(
    rng: np.random.Generator, stencil: str, kind: str, which: str, walls: bool, shape: tuple[int, ...] = (), **more: Any
) -> Case:
    """A random flow, whose force is what a solver takes."""
    make: Any = with_walls if walls else lambda *a, **k: case_of(*a[:3], True, *a[3:], **k)
    return with_force(rng, make(rng, stencil, kind, shape, **more), which)


def with_force(rng: np.random.Generator, case: Case, which: str) -> Case:
    """The case with a random force of one of the kinds."""
    dimensions = len(case.shape)
    part = rng.uniform(-1e-3, 1e-3, (dimensions, *case.shape) if "field" in which else dimensions)
    case.force = part * PULSE if "time" in which else part
    return case


def at_step(case: Case, step: int) -> Array:
    """The force on each cell in a step."""
    is_scaled = not isinstance(case.force, np.ndarray)
    part = np.asarray(case.force.spatial if is_scaled else case.force, float)
    whole = np.zeros((len(case.shape), *case.shape))
    whole += part if part.ndim > 1 else part.reshape(-1, *[1] * len(case.shape))
    return whole * PULSE(float(step)) if is_scaled else whole
