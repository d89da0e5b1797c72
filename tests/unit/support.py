"""Small domains and values that several unit tests use."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

import lbmgpu as lbm
from lbmgpu.io.checkpoint_recorders import OfCells

SHAPES = {2: (7, 5), 3: (7, 5, 4)}


def shape_of(stencil: str) -> tuple[int, ...]:
    """A small shape with a different number of cells along each axis."""
    return SHAPES[lbm.stencil(stencil).D]


def cavity(shape: tuple[int, ...] = (8, 6, 5), stencil: str = "D3Q19", speed: float = 0.05) -> lbm.Domain:
    """Walls all round, the last face moving along x."""
    domain = lbm.Domain(shape, stencil)
    for face in domain.faces:
        domain.faces[face] = lbm.NoSlip()
    domain.faces[list(domain.faces)[-1]] = lbm.MovingWall((speed, *[0.0] * (len(shape) - 1)))
    return domain


def cube(shape: tuple[int, ...], low: int = 2, high: int = 4) -> np.ndarray[Any, Any]:
    """A mask with the cells from `low` to below `high` along each axis."""
    mask = np.zeros(shape, dtype=bool)
    mask[(slice(low, high),) * len(shape)] = True
    return mask


def given_back(kept: dict[str, Any]) -> dict[str, Any]:
    """What a recorder is given back of what it has kept."""

    def whole(array: Any) -> Any:
        if not isinstance(array, OfCells):
            return array
        parts = np.stack([array.component(index) for index in array.components])
        return parts.reshape(*array.lead, *parts.shape[1:])

    return {name: whole(array) for name, array in kept.items()}


not_numbers = st.one_of(
    st.none(),
    st.booleans(),
    st.text(max_size=5),
    st.binary(max_size=5),
    st.complex_numbers(),
    st.lists(st.floats(), max_size=3),
    st.dictionaries(st.text(max_size=3), st.integers(), max_size=2),
    st.builds(object),
)
not_finite = st.sampled_from([float("nan"), float("inf"), -float("inf"), np.float32("nan"), 10**400, -(10**5000)])
not_positive = st.one_of(
    st.floats(max_value=0.0, allow_nan=False), st.integers(max_value=0), st.sampled_from([-0.0, np.float64(-1)])
)
