"""NumPy reference of sponges: layers before faces in which populations are damped before they collide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .boundary_cells import low_order_equilibrium

if TYPE_CHECKING:
    from .lattice import Reference

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Sponge:
    """As `lbmgpu.conditions.Sponge`, with the number of its face and a velocity that is 0 without a pull."""

    face: int
    thickness: int
    strength: float
    pull: float
    density: float
    velocity: tuple[float, ...]

    def share(self, shape: Sequence[int], cell: tuple[int, ...]) -> float:
        """What part of its rates it has in a cell."""
        axis = self.face // 2
        distance = cell[axis] if self.face % 2 == 0 else shape[axis] - 1 - cell[axis]
        return max(0.0, (self.thickness - distance - 0.5) / self.thickness) ** 2


def damp(reference: Reference, sponges: Sequence[Sponge], arrived: Array) -> None:
    """Damp what has come into the cells of sponges; where several meet, the larger rates hold."""
    stencil = reference.stencil
    for cell in np.ndindex(reference.shape) if sponges else ():
        shares = [sponge.share(reference.shape, cell) for sponge in sponges]
        strength = max(share * sponge.strength for share, sponge in zip(shares, sponges, strict=True))
        share, strongest = max(zip(shares, sponges, strict=True), key=lambda pair: pair[0] * pair[1].pull)
        pull = share * strongest.pull
        if reference.solid[cell] or (strength == 0 and pull == 0):
            continue
        f = arrived[(slice(None), *cell)]
        density = f.sum()
        incompressible = reference.collision.incompressible
        velocity = stencil.c.T @ f / reference.inertia(density)
        target = np.array(strongest.velocity)
        own = low_order_equilibrium(stencil, density, velocity, incompressible)
        pulled = low_order_equilibrium(
            stencil,
            density + pull * (strongest.density - density),
            velocity + pull * (target - velocity),
            incompressible,
        )
        arrived[(slice(None), *cell)] = f - strength * (f - own) + pulled - own
