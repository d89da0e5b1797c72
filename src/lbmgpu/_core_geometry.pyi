"""The meshes and their surfaces, which `_core` has; there is no module of this name."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

def clean_mesh(
    vertices: NDArray[np.float64], triangles: NDArray[np.integer[Any]]
) -> tuple[NDArray[np.float64], NDArray[np.int32], dict[str, Any]]:
    """A mesh with equal corners joined and triangles turned alike, and what was done and found.

    The report has ``closure`` (0 oriented, 1 even, 2 open), ``joined``, ``dropped``, ``flipped``, ``open_edges``,
    ``crowded_edges`` and the signed ``volume``.
    """

class Surface:
    """A mesh as `clean_mesh` leaves it, with a tree over its triangles; see src/cpp/geometry."""

    def __init__(self, vertices: NDArray[np.float64], triangles: NDArray[np.int32], closure: int) -> None: ...
    def solid(
        self,
        offset: tuple[int, ...],
        shape: tuple[int, ...],
        threads: int,
        device: str = "cpu",
        gpu_bytes: int = 268435456,
    ) -> NDArray[np.bool_]:
        """The cells of a part whose centres are inside.

        A GPU finds those of a closed surface in parts of `gpu_bytes` of its memory; where it has too little memory
        left, and of an open one, `threads` of the CPU do.
        """
    def links(
        self,
        offset: tuple[int, ...],
        shape: tuple[int, ...],
        velocities: list[tuple[int, ...]],
        own: NDArray[np.bool_],
        taken: NDArray[np.bool_],
        least: float,
        hidden: float,
        threads: int,
        device: str = "cpu",
        gpu_bytes: int = 268435456,
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """Cells, directions and distances of the cut links of a part; `own` has a rim of one cell.

        A GPU finds the cuts, the CPU the links that they are of.
        """
    def contains(self, points: NDArray[np.float64], threads: int) -> NDArray[np.bool_]: ...
    def near(self, points: NDArray[np.float64], distance: float, threads: int) -> NDArray[np.bool_]:
        """Whether the box of a triangle is within `distance` of points."""
    def winding_numbers(self, points: NDArray[np.float64], beta: float, threads: int) -> NDArray[np.float64]:
        """With dipoles for what is farther than `beta` times its radius; exact for an infinite one."""
    def meetings(
        self, points: NDArray[np.float64], step: tuple[float, ...], margin: float, threads: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """How often rays from points meet the surface within a step, and all lengths, one point after the other."""
