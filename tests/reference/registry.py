"""Lists the stencils, collisions, number types and streamings that the engine supports, as parameters of tests."""

from __future__ import annotations

from typing import TypeVar

from lbmgpu import _core

MODELS = _core.models()
FLOW_STENCILS: list[str] = MODELS["isothermal"]["stencils"]
THERMAL_STENCILS: list[str] = MODELS["hybrid thermal"]["stencils"]
KINDS: dict[str, list[str]] = {name: _core.collision_names(name) for name in FLOW_STENCILS}
"""The collisions of each stencil whose populations carry mass and momentum."""
PAIRS = [(name, kind) for name in FLOW_STENCILS for kind in KINDS[name]]
THERMAL_PAIRS = [(name, kind) for name, kind in PAIRS if name in THERMAL_STENCILS]
PAIRS_OF_BLOCKS = [(name, kind) for name, kind in PAIRS if kind not in ("trt", "regularized", "recursive-regularized")]
"""Those of tests of cuts into blocks, which treat those that are left out as they treat ``bgk``."""
THERMAL_PAIRS_OF_BLOCKS = [(name, kind) for name, kind in PAIRS_OF_BLOCKS if name in THERMAL_STENCILS]
NUMBERS: list[tuple[str, str]] = MODELS["isothermal"]["numbers"]
"""Precision and storage."""
STREAMINGS: list[str] = MODELS["isothermal"]["streamings"][::-1]

Value = TypeVar("Value")


def by_dimension(plane: Value, space: Value) -> dict[str, Value]:
    """For each stencil of a flow, such as a shape: what goes with those of the plane, or of space."""
    return {name: plane if _core.stencil(name).D == 2 else space for name in FLOW_STENCILS}
