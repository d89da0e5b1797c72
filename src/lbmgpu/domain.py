"""The domain: its size and stencil, the conditions on its faces, and the bodies in it."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterator, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core, checks, values
from .conditions import BODY_CONDITIONS, FACE_CONDITIONS, THERMAL_CONDITIONS, Adiabatic, Condition, NoSlip, Periodic

AXES = "xyz"
FACES = tuple(sign + axis for axis in AXES for sign in "-+")
MAX_CELLS = 2**48
MAX_SIZE = 2**30
"""Cells along an axis; coordinates with padding stay well within a 32-bit int."""


@dataclass(frozen=True, eq=False)
class Body:
    """Solid cells with a name: `mask` is a read-only bool array ``(nx, ny[, nz])``."""

    name: str
    mask: NDArray[np.bool_]
    condition: Condition
    thermal: Condition


class Faces(MutableMapping[str, Condition]):
    """The condition on each face of a domain, by name: ``-x +x -y +y`` and in three dimensions ``-z +z``.

    Raises:
        ValueError: an unknown face, or a condition whose values do not suit it.
        TypeError: not a condition.
    """

    _name = "faces"
    _allowed: tuple[type[Condition], ...] = FACE_CONDITIONS
    _default: type[Condition] = Periodic

    def __init__(self, shape: tuple[int, ...], cs2: float) -> None:
        self._shape = shape
        self._cs2 = cs2
        self._conditions: dict[str, Condition] = {name: self._default() for name in FACES[: 2 * len(shape)]}

    def _check_name(self, face: Any) -> str:
        if not isinstance(face, str) or face not in self._conditions:
            raise checks.unknown("face", face, self._conditions)
        return face

    def __getitem__(self, face: str) -> Condition:
        return self._conditions[self._check_name(face)]

    def __setitem__(self, face: str, condition: Condition) -> None:
        self._check_name(face)
        check_condition(f"{self._name}[{face!r}]", condition, self._allowed)
        values.check_fixed(f"{self._name}[{face!r}]", condition, values.face_shape(self._shape, face), self._cs2)
        self._conditions[face] = condition

    def __delitem__(self, face: str) -> None:
        none = f"{self._default.__name__}()"
        raise TypeError(f"{self._name}[{face!r}]: a face always has a condition; assign {none} for none")

    def __iter__(self) -> Iterator[str]:
        return iter(self._conditions)

    def __len__(self) -> int:
        return len(self._conditions)

    def __repr__(self) -> str:
        return repr(self._conditions)


class ThermalFaces(Faces):
    """The condition of the temperature on each face of a domain, by name, as `Faces` has that of the flow.

    `Adiabatic` or `Isothermal`; faces that are periodic in the flow are so for the temperature, and stay `Adiabatic`
    here. Raises as `Faces`.
    """

    _name = "thermal"
    _allowed = THERMAL_CONDITIONS
    _default = Adiabatic


def check_condition(name: str, condition: Any, allowed: tuple[type[Condition], ...]) -> None:
    """Raise TypeError unless `condition` is a value of one of the `allowed` types."""
    if not isinstance(condition, allowed):
        right = ", ".join(f"{kind.__name__}(...)" for kind in allowed)
        if isinstance(condition, type) and issubclass(condition, allowed):
            right = f"a value, {condition.__name__}(...), not the class"
        else:
            right = f"one of {right}"
        raise TypeError(f"{name}: {checks.shown(condition)} given, must be {right}")


def _stencil_hint(dimensions: int) -> str:
    """The stencil to use instead for a shape of two or three entries, as a part of an error message."""
    other = {2: "D2Q9", 3: "D3Q19"}.get(dimensions)
    return f'; for {dimensions} dimensions use stencil="{other}"' if other else ""


class Domain:
    """A box of cells with a stencil.

    Args:
        shape: number of cells along each axis, ``(nx, ny)`` for a two-dimensional stencil, ``(nx, ny, nz)`` for a
            three-dimensional one; at most 2^30 along each.
        stencil: ``"D2Q9"``, ``"D3Q19"`` or ``"D3Q27"``; ``"D2Q37"`` for `ThermalBGK`, with `NoSlip` faces on one axis
            at most, the others `Periodic`, and no bodies.

    Raises:
        TypeError, ValueError: a wrong shape or an unknown stencil.

    Attributes:
        faces: the condition on each face, a mapping; all `Periodic` at first.
        thermal: the condition of the temperature on each face, a mapping; all `Adiabatic` at first. Others need
            ``Solver(thermal=...)``, or the stencil ``"D2Q37"``.
        bodies: the bodies by name.
    """

    def __init__(self, shape: Sequence[int], stencil: str = "D3Q19") -> None:
        if isinstance(shape, numbers.Integral) and isinstance(stencil, numbers.Integral):
            given = f"{checks.shown(shape)}, {checks.shown(stencil)}"
            raise TypeError(f'shape: {given} given, must be a tuple: Domain(({given}), stencil="D2Q9")')
        name = checks.choice("stencil", stencil, _core.stencil_names())
        self._stencil = _core.stencil(name)
        dimensions = self._stencil.D
        right = f"must be {dimensions} positive integers for {name}"
        if isinstance(shape, str | bytes) or not isinstance(shape, Sequence | np.ndarray):
            raise TypeError(f"shape: {checks.shown(shape)} given, {right}")
        if len(shape) != dimensions:
            raise ValueError(f"shape: {checks.shown(shape)} given, {right}{_stencil_hint(len(shape))}")
        self._shape = tuple(checks.integer(f"shape[{i}]", n, at_least=1, at_most=MAX_SIZE) for i, n in enumerate(shape))
        if math.prod(self._shape) > MAX_CELLS:
            raise ValueError(f"shape: {self._shape} given, must have at most 2^48 cells")
        self.faces = Faces(self._shape, self._stencil.cs2)
        self.thermal = ThermalFaces(self._shape, self._stencil.cs2)
        self.bodies: dict[str, Body] = {}

    @property
    def shape(self) -> tuple[int, ...]:
        """Cells along each axis."""
        return self._shape

    @property
    def stencil(self) -> str:
        """Name of the stencil."""
        return self._stencil.name

    @property
    def cells(self) -> int:
        """Number of cells, solid ones included."""
        return math.prod(self._shape)

    def add_body(
        self,
        mask: ArrayLike,
        name: str | None = None,
        condition: Condition | None = None,
        thermal: Condition | None = None,
    ) -> None:
        """Make cells solid.

        Args:
            mask: bool array of the domain's shape, indexed [x, y(, z)], True in the body; copied.
            name: by which `Solver.body_force` finds it; ``"body 1"`` and so on if not given. Must be new, and no
                face's (``"-x"`` to ``"+z"``), as `Solver.heat_flux` finds both.
            condition: `NoSlip` (the default) or `MovingWall`.
            thermal: of the temperature, `Adiabatic` (the default) or `Isothermal`, which needs ``Solver(thermal=...)``.

        Raises:
            TypeError: the mask is not bool, or the condition not one for a body.
            ValueError: a wrong shape, no cell, no fluid cell left, a name twice or a face's, or cells that another
                body has.
        """
        if name is None:
            name = f"body {len(self.bodies) + 1}"
        if not isinstance(name, str) or not name:
            raise TypeError(f"name: {checks.shown(name)} given, must be a string that is not empty")
        if name in FACES:
            raise ValueError(f"name: {name!r} given, must not be a face's, any of {', '.join(FACES)}")
        if name in self.bodies:
            raise ValueError(f"name: {name!r} given, but a body of that name is there already")
        label = f"body {name!r}"
        array = np.asarray(mask)
        if array.dtype != np.bool_:
            raise TypeError(f"mask of {label}: {checks.shown(array)} given, must be bool (such as values > 0)")
        if array.shape != self._shape:
            raise ValueError(f"mask of {label}: shape {array.shape} given, must be the domain's, {self._shape}")
        if not array.any():
            raise ValueError(f"mask of {label}: no cell is True, must have at least one")
        for other in self.bodies.values():
            overlap = array & other.mask
            if overlap.any():
                cell = tuple(int(i) for i in np.argwhere(overlap)[0])
                raise ValueError(f"mask of {label}: overlaps body {other.name!r}, for example at cell {cell}")
        if (array | self.solid()).all():
            raise ValueError(f"mask of {label}: leaves no fluid cell in the domain")
        condition = NoSlip() if condition is None else condition
        check_condition(f"condition of {label}", condition, BODY_CONDITIONS)
        thermal = Adiabatic() if thermal is None else thermal
        check_condition(f"thermal of {label}", thermal, THERMAL_CONDITIONS)
        for given in (condition, thermal):
            values.check_fixed(label, given, self._shape, self._stencil.cs2, mask=array)
        array = array.copy()
        array.flags.writeable = False
        self.bodies[name] = Body(name, array, condition, thermal)

    def solid(self) -> NDArray[np.bool_]:
        """Bool array of the domain's shape, True in any body."""
        solid = np.zeros(self._shape, dtype=np.bool_)
        for body in self.bodies.values():
            solid |= body.mask
        return solid

    def copy(self) -> Domain:
        """A domain equal to this one that can be changed apart from it."""
        other = Domain(self._shape, self.stencil)
        other.faces._conditions.update(self.faces)
        other.thermal._conditions.update(self.thermal)
        other.bodies.update(self.bodies)
        return other

    def __repr__(self) -> str:
        return f"Domain({self._shape}, {self.stencil!r})"
