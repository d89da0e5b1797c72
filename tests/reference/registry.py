"""What the engine has, from which tests take their parameters."""

from __future__ import annotations

from lbmgpu import _core

MODELS = _core.models()
FLOW_STENCILS: list[str] = MODELS["isothermal"]["stencils"]
THERMAL_STENCILS: list[str] = MODELS["hybrid thermal"]["stencils"]
KINDS: list[str] = _core.collision_names(FLOW_STENCILS[0])
"""The collisions of a fluid whose populations carry mass and momentum."""
KINDS_OF_BLOCKS = [kind for kind in KINDS if kind not in ("trt", "regularized")]
"""Those of tests of cuts into blocks, which treat the two that are left out as they treat ``bgk``."""
NUMBERS: list[tuple[str, str]] = MODELS["isothermal"]["numbers"]
"""Precision and storage."""
STREAMINGS: list[str] = MODELS["isothermal"]["streamings"][::-1]


def shapes(plane: tuple[int, ...], space: tuple[int, ...]) -> dict[str, tuple[int, ...]]:
    """A shape for each stencil of a flow, in the plane or in space."""
    return {name: plane if _core.stencil(name).D == 2 else space for name in FLOW_STENCILS}
