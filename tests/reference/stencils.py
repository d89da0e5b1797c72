"""Velocity sets D2Q9, D3Q19 and D3Q27 (Qian, d'Humieres & Lallemand, Europhys. Lett. 17 (1992) 479)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

CS2 = 1.0 / 3.0
"""Square of the speed of sound, the same for the three sets."""


@dataclass(frozen=True)
class Stencil:
    """Velocities ``c`` (Q, D), weights ``w`` (Q,) and the index of each opposite velocity."""

    name: str
    c: NDArray[np.int64]
    w: NDArray[np.float64]

    @property
    def Q(self) -> int:
        return self.c.shape[0]

    @property
    def D(self) -> int:
        return self.c.shape[1]

    @property
    def opposite(self) -> NDArray[np.int64]:
        return np.array([self.index(-c) for c in self.c])

    def index(self, velocity: NDArray[np.int64]) -> int:
        """Position of a velocity in `c`."""
        (found,) = np.nonzero((self.c == velocity).all(axis=1))[0]
        return int(found)


def _make(name: str, weights: dict[int, float]) -> Stencil:
    """Rest, the axes, then the diagonals of each plane, then those of space; `weights` by squared length."""
    signs = [(1, 1), (-1, 1), (1, -1), (-1, -1)]
    dimensions = int(name[1])
    c = [[0, 0, 0]]
    for axis in range(dimensions):
        for sign in (1, -1):
            c.append([sign if a == axis else 0 for a in range(3)])
    planes = [(0, 1)] if dimensions == 2 else [(0, 1), (0, 2), (1, 2)]
    for first, second in planes:
        for s, t in signs:
            velocity = [0, 0, 0]
            velocity[first], velocity[second] = s, t
            c.append(velocity)
    if 3 in weights:
        c += [[s, t, r] for r in (1, -1) for s, t in signs]
    velocities = np.array(c)[:, :dimensions]
    lengths = (velocities**2).sum(axis=1)
    return Stencil(name, velocities, np.array([weights[int(n)] for n in lengths]))


STENCILS = {
    "D2Q9": _make("D2Q9", {0: 4 / 9, 1: 1 / 9, 2: 1 / 36}),
    "D3Q19": _make("D3Q19", {0: 1 / 3, 1: 1 / 18, 2: 1 / 36}),
    "D3Q27": _make("D3Q27", {0: 8 / 27, 1: 2 / 27, 2: 1 / 54, 3: 1 / 216}),
}
