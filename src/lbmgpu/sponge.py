"""A layer of cells before a face in which the flow is damped, as a frozen value."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from . import checks


@dataclass(frozen=True)
class Sponge:
    """Damps populations before each collision, at rates that grow with the square of the depth in the layer.

    The share ``strength`` of the non-equilibrium part of a cell's populations is taken away in a step, which acts as a
    higher viscosity and keeps mass and momentum, so that neither vortices nor waves of the lattice reach the face. A
    ``pull`` draws density and velocity to given ones as well, which damps sound (Israeli & Orszag, J. Comput. Phys. 41
    (1981) 115). In cell k from the face, counted from 0, both are ``((thickness - k - 1/2) / thickness)**2`` of the
    rates given.

    Args:
        face: before which it lies, ``"-x"`` to ``"+z"``.
        thickness: in cells, at most those of the domain.
        strength: 0 to 1, the rate at the face.
        pull: 0 to 1, the rate at the face; 0 leaves density and velocity alone.
        velocity: that `pull` draws to, D components, with a Mach number of at most 0.3.
        density: that `pull` draws to.

    Raises:
        TypeError, ValueError: not numbers in range, or a velocity without a pull or the reverse.
    """

    face: str
    thickness: int
    strength: float = 0.5
    pull: float = 0.0
    velocity: Any = None
    density: float = 1.0

    def __post_init__(self) -> None:
        given: dict[str, Any] = {
            "thickness": checks.integer("thickness", self.thickness, at_least=1),
            "strength": checks.number("strength", self.strength, at_least=0, at_most=1),
            "pull": checks.number("pull", self.pull, at_least=0, at_most=1),
            "density": checks.number("density", self.density, at_least=0.001, at_most=1000),
        }
        if (self.velocity is not None) != (given["pull"] > 0):
            wrong = "None given with a pull, must be" if self.velocity is None else "given without a pull, which needs"
            raise ValueError(f"velocity: {wrong} the velocity that the pull draws to")
        if self.velocity is not None:
            given["velocity"] = tuple(_vector(self.velocity).tolist())
        for name, value in given.items():
            object.__setattr__(self, name, value)

    def record(self) -> dict[str, Any]:
        """Its arguments as JSON."""
        return asdict(self) | {"velocity": None if self.velocity is None else list(self.velocity)}

    def check(self, shape: tuple[int, ...], cs2: float) -> None:
        """Raise ValueError unless it suits a domain of this shape."""
        cells = shape["xyz".index(self.face[1])]
        if self.thickness > cells:
            raise ValueError(f"thickness: {self.thickness} given, must be at most the {cells} cells before {self.face}")
        if self.velocity is not None:
            velocity = _vector(self.velocity)
            if velocity.shape != (len(shape),):
                raise ValueError(f"velocity: shape {velocity.shape} given, must be ({len(shape)},)")
            checks.speed("velocity", velocity, cs2)


def _vector(value: ArrayLike) -> np.ndarray[Any, np.dtype[np.float64]]:
    array = checks.real_array("velocity", value)
    if array.ndim != 1:
        raise ValueError(f"velocity: shape {array.shape} given, must be one vector")
    return array
