"""Velocity sets (Qian, d'Humieres & Lallemand, Europhys. Lett. 17 (1992) 479), with the moment bases and default rates
of their multiple-relaxation-time collisions.

D2Q9: Lallemand & Luo, Phys. Rev. E 61 (2000) 6546. D3Q19: d'Humieres, Ginzburg, Krafczyk, Lallemand & Luo,
Phil. Trans. R. Soc. A 360 (2002) 437. D3Q27: Suga, Kuwata, Takashima & Chikasue, Comput. Math. Appl. 69 (2015) 518,
its polynomials made orthogonal by Gram-Schmidt in the order listed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

CS2 = 1.0 / 3.0
"""Square of the speed of sound, the same for all of them."""


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

    @cached_property
    def opposite(self) -> NDArray[np.int64]:
        return np.array([self.index(-c) for c in self.c])

    def index(self, velocity: NDArray[np.int64]) -> int:
        """Position of a velocity in `c`."""
        return self._positions[tuple(velocity.tolist())]

    @cached_property
    def _positions(self) -> dict[tuple[int, ...], int]:
        return {tuple(c): i for i, c in enumerate(self.c.tolist())}


def _make(name: str, weights: dict[int, float]) -> Stencil:
    """Rest, the axes, then the diagonals of each plane, then those of space; `weights` by squared length."""
    signs = [(1, 1), (-1, 1), (1, -1), (-1, -1)]
    dimensions = int(name[1])
    c = [[0, 0, 0]]
    for axis in range(dimensions):
        for sign in (1, -1):
            c.append([sign if a == axis else 0 for a in range(3)])
    planes = [(0, 1)] if dimensions == 2 else [(0, 1), (0, 2), (1, 2)]
    for first, second in planes if 2 in weights else []:
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

RATES: dict[str, dict[str, float | None]] = {
    "D2Q9": {"e": 1.63, "eps": 1.14, "q": 1.92},
    "D3Q19": {"e": 1.19, "eps": 1.4, "q": 1.2, "pi": 1.4, "m": 1.98},
    "D3Q27": {"e": 1.54, "phi": 1.5, "psi": 1.83, "eps": 1.4, "e3": 1.61, "xxe": None, "tau": 1.74},
}
"""Rate of each group of moments, without the conserved ones and the stress ``nu``; None for that of the stress.

All as published, but for the ``xxe`` of D3Q27: 1.98 is unstable at viscosities above 0.015.
"""

STABLE_FROM: dict[str, float] = {"D3Q19": 0.002}
"""The viscosity from which on those are known to be stable, where it is not 0.0005."""

GROUPS: dict[str, list[str]] = {
    "D2Q9": ["conserved", "e", "eps", *["conserved", "q"] * 2, "nu", "nu"],
    "D3Q19": ["conserved", "e", "eps", *["conserved", "q"] * 3, *["nu", "pi"] * 2, *["nu"] * 3, *["m"] * 3],
    "D3Q27": (
        ["conserved"] * 4 + ["e"] + ["nu"] * 5 + ["phi"] * 3 + ["psi"] * 3 + ["eps", "e3"] + ["xxe"] * 5 + ["tau"] * 4
    ),
}
"""The group of each row of the matrix."""


def _d2q9() -> NDArray[np.float64]:
    return np.array(
        [
            [1, 1, 1, 1, 1, 1, 1, 1, 1],
            [-4, -1, -1, -1, -1, 2, 2, 2, 2],
            [4, -2, -2, -2, -2, 1, 1, 1, 1],
            [0, 1, -1, 0, 0, 1, -1, 1, -1],
            [0, -2, 2, 0, 0, 1, -1, 1, -1],
            [0, 0, 0, 1, -1, 1, 1, -1, -1],
            [0, 0, 0, -2, 2, 1, 1, -1, -1],
            [0, 1, 1, -1, -1, 0, 0, 0, 0],
            [0, 0, 0, 0, 0, 1, -1, -1, 1],
        ],
        dtype=float,
    )


def _d3q19() -> NDArray[np.float64]:
    x, y, z = STENCILS["D3Q19"].c.T.astype(float)
    c2 = x**2 + y**2 + z**2
    one = np.ones_like(x)
    return np.array(
        [
            one,
            19 * c2 - 30,
            (21 * c2**2 - 53 * c2 + 24) / 2,
            x,
            (5 * c2 - 9) * x,
            y,
            (5 * c2 - 9) * y,
            z,
            (5 * c2 - 9) * z,
            3 * x**2 - c2,
            (3 * c2 - 5) * (3 * x**2 - c2),
            y**2 - z**2,
            (3 * c2 - 5) * (y**2 - z**2),
            x * y,
            y * z,
            x * z,
            (y**2 - z**2) * x,
            (z**2 - x**2) * y,
            (x**2 - y**2) * z,
        ]
    )


def _d3q27() -> NDArray[np.float64]:
    x, y, z = STENCILS["D3Q27"].c.T.astype(float)
    c2 = x**2 + y**2 + z**2
    deviator = [2 * x**2 - y**2 - z**2, y**2 - z**2, x * y, y * z, z * x]
    raw = [np.ones_like(x), x, y, z, c2, *deviator]
    raw += [3 * c2 * a for a in (x, y, z)]
    raw += [4.5 * c2**2 * a for a in (x, y, z)]
    raw += [1.5 * c2**2, 4.5 * c2**3]
    raw += [3 * c2 * p for p in deviator]
    raw += [x * (y**2 - z**2), y * (z**2 - x**2), z * (x**2 - y**2), x * y * z]
    rows: list[NDArray[np.float64]] = []
    for polynomial in raw:
        row = polynomial.copy()
        for _ in range(2):  # twice, to be orthogonal to rounding
            for other in rows:
                row -= other * (row @ other) / (other @ other)
        rows.append(row)
    return np.array(rows)


MATRICES = {"D2Q9": _d2q9(), "D3Q19": _d3q19(), "D3Q27": _d3q27()}
"""M of each stencil: moments are ``M @ f``."""
