"""The velocity of a rigid rotation, as a value that walls take and files hold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import checks

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Rotation:
    """A function of the coordinates: the velocity of a rigid body that turns, ``omega x (x - about)``.

    Args:
        rate: radians a step, counterclockwise seen against the axis.
        about: coordinates ``(D,)`` of a point on the axis.
        axis: ``"x"``, ``"y"`` or ``"z"`` or, in three dimensions, a vector along it; in two dimensions ``"z"``.

    Raises:
        TypeError, ValueError: not finite numbers, or a wrong point or axis.
    """

    rate: float
    about: Any
    axis: Any = "z"

    def __post_init__(self) -> None:
        object.__setattr__(self, "rate", checks.number("rate", self.rate))
        about = tuple(_vector("about", self.about, (2, 3)).tolist())
        object.__setattr__(self, "about", about)
        if not isinstance(self.axis, str):
            axis = _vector("axis", self.axis, (3,))
            if not axis.any():
                raise ValueError("axis: a vector of length 0 given, must have a direction")
            object.__setattr__(self, "axis", tuple(axis.tolist()))
        else:
            checks.choice("axis", self.axis, "xyz")
        if len(about) == 2 and self.axis != "z":
            raise ValueError(f"axis: {checks.shown(self.axis)} given, must be 'z' in two dimensions")

    def __call__(self, *coordinates: Floats) -> tuple[Any, ...]:
        """The components of the velocity at places with these coordinates."""
        if len(coordinates) != len(self.about):
            raise ValueError(
                f"about: {self.about} given, must have {len(coordinates)} coordinates, as the domain has dimensions"
            )
        away = [x - a for x, a in zip(coordinates, self.about, strict=True)]
        if len(away) == 2:
            return -self.rate * away[1], self.rate * away[0]
        omega = self._omega
        return tuple(omega[k - 2] * away[k - 1] - omega[k - 1] * away[k - 2] for k in range(3))

    @property
    def _omega(self) -> list[float]:
        if isinstance(self.axis, str):
            return [self.rate if name == self.axis else 0.0 for name in "xyz"]
        length = float(np.sqrt(sum(a * a for a in self.axis)))
        return [self.rate * a / length for a in self.axis]

    def record(self) -> dict[str, Any]:
        """Its arguments as JSON."""
        axis = self.axis if isinstance(self.axis, str) else list(self.axis)
        return {"rate": self.rate, "about": list(self.about), "axis": axis}


def _vector(name: str, value: ArrayLike, sizes: tuple[int, ...]) -> Floats:
    array = checks.real_array(name, value)
    if array.ndim != 1 or len(array) not in sizes:
        right = " or ".join(map(str, sizes))
        raise ValueError(f"{name}: shape {array.shape} given, must be {right} numbers")
    return array
