"""The domain: its size and stencil, the conditions on its faces, and the bodies in it."""

from __future__ import annotations

import copy
import dataclasses
import math
import numbers
from collections.abc import Callable, Iterator, MutableMapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core, checks, values
from .body import Body, refuse_files, summary
from .conditions import (
    BODY_CONDITIONS,
    CUT_WALLS,
    FACE_CONDITIONS,
    THERMAL_CONDITIONS,
    Adiabatic,
    Condition,
    Isothermal,
    NoSlip,
    Periodic,
    Sponge,
    check_of_face,
    scheme_of_body,
    scheme_of_temperature,
)
from .deprecated import was_a_method
from .geometry.base import Geometry, Links, checked_links
from .geometry.refusals import check_dimensions
from .geometry.report import warn_of_geometry
from .geometry.shape_parts import shape_parts
from .guarded import Guarded, refuse_if_used
from .time_functions.motion import RigidMotion, check_motion

AXES = "xyz"
FACES = tuple(sign + axis for axis in AXES for sign in "-+")
MAX_CELLS = 2**48
MAX_SIZE = 2**30
"""Cells along an axis; coordinates with padding stay well within a 32-bit int."""


class Faces(Guarded, MutableMapping[str, Condition]):
    """The condition on each face of a domain, by name: ``-x +x -y +y`` and in three dimensions ``-z +z``.

    Raises:
        ValueError: an unknown face, or a condition whose values do not suit it.
        TypeError: not a condition, or the faces of a solver's domain, which do not change.
    """

    _name = "faces"
    _allowed: tuple[type[Condition], ...] = FACE_CONDITIONS
    _default: type[Condition] = Periodic

    def __init__(self, shape: tuple[int, ...], cs2: float) -> None:
        self._shape = shape
        self._cs2 = cs2
        self._used = False
        self._conditions: dict[str, Condition] = {name: self._default() for name in FACES[: 2 * len(shape)]}

    def _check_name(self, face: Any) -> str:
        text = str.__str__(face) if isinstance(face, str) else None
        if text not in self._conditions:
            raise checks.unknown("face", face if text is None else text, self._conditions)
        return text

    def __getitem__(self, face: str) -> Condition:
        return self._conditions[self._check_name(face)]

    def __setitem__(self, face: str, condition: Condition) -> None:
        face = self._check_name(face)
        refuse_if_used(self._used, f"{self._name}[{face!r}]")
        check_condition(f"{self._name}[{face!r}]", condition, self._allowed)
        check_of_face(f"{self._name}[{face!r}]", condition)
        values.check_fixed(f"{self._name}[{face!r}]", condition, values.face_shape(self._shape, face), self._cs2)
        self._conditions[face] = condition

    def __delitem__(self, face: str) -> None:
        none = f"{self._default.__name__}()"
        raise TypeError(f"{self._name}[{face!r}]: a face always has a condition; assign {none} for none")

    def __contains__(self, face: object) -> bool:
        return isinstance(face, str) and str.__str__(face) in self._conditions

    def __iter__(self) -> Iterator[str]:
        return iter(self._conditions)

    def __len__(self) -> int:
        return len(self._conditions)

    def __repr__(self) -> str:
        return repr(self._conditions)


class Bodies(Guarded, MutableMapping[str, Body]):
    """The bodies of a domain by name, which `Domain.add_body` makes; ``del`` takes one out again.

    Raises:
        KeyError: no body of that name.
        TypeError: one is assigned, or taken out of the domain of a solver.
    """

    def __init__(self) -> None:
        self._bodies: dict[str, Body] = {}
        self._used = False

    def __getitem__(self, name: str) -> Body:
        return self._bodies[name]

    def __setitem__(self, name: Any, body: Any) -> None:
        raise TypeError(f"bodies[{checks.shown(name)}]: assigned, must be made by domain.add_body(mask, name)")

    def __delitem__(self, name: str) -> None:
        refuse_if_used(self._used, f"bodies[{checks.shown(name)}]")
        del self._bodies[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._bodies)

    def __len__(self) -> int:
        return len(self._bodies)

    def __repr__(self) -> str:
        return repr(self._bodies)


class ThermalFaces(Faces):
    """The condition of the temperature on each face of a domain, by name, as `Faces` has that of the flow.

    `Adiabatic` or `Isothermal`; faces that are periodic in the flow are so for the temperature, and stay `Adiabatic`
    here. Raises as `Faces`.
    """

    _name = "thermal"
    _allowed = THERMAL_CONDITIONS
    _default = Adiabatic


def stencil(name: str) -> _core.Stencil:
    """The stencil called `name`, as data: velocities, weights, moments and rates.

    Raises:
        TypeError, ValueError: there is none of that name.
    """
    return _core.stencil(checks.choice("stencil", name, _core.stencil_names()))


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


class Domain(Guarded):
    """A box of cells with a stencil.

    Args:
        shape: number of cells along each axis, ``(nx, ny)`` for a two-dimensional stencil, ``(nx, ny, nz)`` for a
            three-dimensional one; at most 2^30 along each.
        stencil: ``"D2Q9"``, ``"D3Q19"`` or ``"D3Q27"``; ``"D2Q37"`` for `ThermalBGK`, with `NoSlip` and `Periodic`
            faces alone, and no bodies.

    Raises:
        TypeError, ValueError: a wrong shape or an unknown stencil.

    The domain of a solver, `Solver.domain`, refuses changes; a `copy` of it takes them. ``print(domain)`` lists its
    faces, bodies and sponges.
    """

    def __init__(self, shape: Sequence[int], stencil: str = "D3Q19") -> None:
        if isinstance(shape, numbers.Integral) and isinstance(stencil, numbers.Integral):
            given = f"{checks.shown(shape)}, {checks.shown(stencil)}"
            raise TypeError(f'shape: {given} given, must be a tuple: Domain(({given}), stencil="D2Q9")')
        name = checks.choice("stencil", stencil, _core.stencil_names())
        self._stencil = name
        stencil_data = _core.stencil(name)
        dimensions = stencil_data.D
        right = f"must be {dimensions} positive integers for {name}"
        if isinstance(shape, str | bytes) or not isinstance(shape, Sequence | np.ndarray):
            raise TypeError(f"shape: {checks.shown(shape)} given, {right}")
        sizes = checks.listed("shape", shape, f"{dimensions} positive integers for {name}")
        if len(sizes) != dimensions:
            raise ValueError(f"shape: {checks.shown(shape)} given, {right}{_stencil_hint(len(sizes))}")
        self._shape = tuple(checks.integer(f"shape[{i}]", n, at_least=1, at_most=MAX_SIZE) for i, n in enumerate(sizes))
        if math.prod(self._shape) > MAX_CELLS:
            raise ValueError(f"shape: {self._shape} given, must have at most 2^48 cells")
        self._faces = Faces(self._shape, stencil_data.cs2)
        self._thermal = ThermalFaces(self._shape, stencil_data.cs2)
        self._bodies = Bodies()
        self._sponges: tuple[Sponge, ...] = ()

    @property
    def shape(self) -> tuple[int, ...]:
        """Cells along each axis."""
        return self._shape

    @property
    def stencil(self) -> str:
        """Name of the stencil."""
        return self._stencil

    @property
    def faces(self) -> Faces:
        """The condition on each face, a mapping; all `Periodic` at first."""
        return self._faces

    @faces.setter
    def faces(self, given: Any) -> None:
        raise _not_as_a_whole("faces", "NoSlip()")

    @property
    def thermal(self) -> ThermalFaces:
        """The condition of the temperature on each face, a mapping; all `Adiabatic` at first.

        Others need ``Solver(thermal=...)``, or the stencil ``"D2Q37"``.
        """
        return self._thermal

    @thermal.setter
    def thermal(self, given: Any) -> None:
        raise _not_as_a_whole("thermal", "Isothermal(1)")

    @property
    def bodies(self) -> Bodies:
        """The bodies by name, a mapping; `add_body` makes them, and ``del domain.bodies[name]`` takes one out."""
        return self._bodies

    @property
    def sponges(self) -> tuple[Sponge, ...]:
        """The sponges, which `add_sponge` makes; D2Q37 takes none."""
        return self._sponges

    def add_sponge(
        self,
        face: str,
        thickness: int,
        strength: float = 0.5,
        *,
        pull: float = 0.0,
        velocity: ArrayLike | None = None,
        density: float = 1.0,
    ) -> None:
        """Damp the flow in a layer of cells before a face, so that little comes back from it.

        Args are those of `Sponge`. Where sponges meet, the larger rates hold.

        Raises:
            TypeError, ValueError: as of `Sponge`; an unknown face; or the domain is that of a solver.
        """
        refuse_if_used(self._bodies._used, "add_sponge")
        sponge = Sponge(self._faces._check_name(face), thickness, strength, pull, velocity, density)
        sponge.check(self._shape, _core.stencil(self._stencil).cs2)
        self._sponges = (*self._sponges, sponge)

    @property
    def cells(self) -> int:
        """Number of cells, solid ones included."""
        return math.prod(self._shape)

    def add_body(
        self,
        mask: ArrayLike | Callable[..., Any] | Geometry,
        name: str | None = None,
        condition: Condition | None = None,
        thermal: Condition | None = None,
        *,
        offset: Sequence[int] | None = None,
        links: Links | None = None,
        motion: RigidMotion | None = None,
    ) -> None:
        """Make cells solid.

        Args:
            mask: bool array of the domain's shape, indexed [x, y(, z)], True in the body; copied. Or a callable of the
                cell centres' coordinates ``x, y[, z]``, arrays of one shape, that returns such an array: a solver calls
                it with the coordinates of its part of the domain, so that no array of the whole is made. Or a
                `Geometry` of the domain's dimensions, whose cells are those with their centres in it, and which comes
                back behind periodic faces unless it is longer than the domain; a solver asks it for its part too.
            name: by which `Solver.body_force` finds it; ``"body 1"`` and so on if not given. Must be new, of at most
                200 characters, none of them a control character, and no face's (``"-x"`` to ``"+z"``), as
                `Solver.heat_flux` finds both.
            condition: `NoSlip` (the default) or `MovingWall`.
            thermal: of the temperature, `Adiabatic` (the default) or `Isothermal`, which needs ``Solver(thermal=...)``.
            offset: the cell at which a smaller `mask` begins; the body has no cells beyond it. Of several processes
                each may give what lies in its own part of the domain (`Layout.subdomain`), or more; arrays of values in
                `condition` and `thermal` then cover the same cells. None for a mask of the domain's shape.
            links: where the surface of a mask lies, by the links that it cuts, as `Geometry.links` has them for the
                whole domain. A geometry has its own.
            motion: `Motion`, `Oscillation` or `MotionTable`, of a body that moves, whose cells are found anew in each
                step, unless it only turns about its axis of revolution. Its `mask` must be a closed `Geometry`, where
                the motion begins, its condition `NoSlip`: the wall moves with it. None for a body at rest.

        Raises:
            TypeError: the mask is not bool, the condition not one for a body, the motion none, or the domain that of a
                solver.
            ValueError: a wrong shape, offset or number of dimensions, no cell, no fluid cell left, a wrong name, one
                twice or a face's, or cells that another body has. Of functions, geometries and parts a solver finds
                that when it is made.
        """
        refuse_if_used(self._bodies._used, "add_body")
        name = checks.label("name", f"body {len(self._bodies) + 1}" if name is None else name)
        if name in FACES:
            raise ValueError(f"name: {name!r} given, must not be a face's, any of {', '.join(FACES)}")
        if name in self.bodies:
            raise ValueError(f"name: {name!r} given, but a body of that name is there already")
        label = f"body {name!r}"
        corner, shape = (0,) * len(self._shape), self._shape
        cells: Any = mask
        if isinstance(mask, Geometry):
            check_dimensions(f"geometry of {label}", mask, len(self._shape))
        if not callable(mask):
            refuse_files(label, mask)
            cells = checks.any_array(f"mask of {label}", mask, "a bool array or a callable")
            if cells.dtype != np.bool_:
                raise TypeError(f"mask of {label}: {checks.shown(cells)} given, must be bool (such as values > 0)")
            if offset is None and cells.shape != self._shape:
                raise ValueError(f"mask of {label}: shape {cells.shape} given, must be the domain's, {self._shape}")
        if offset is not None:
            corner, shape = self._box(label, cells, offset)
        if not callable(cells) and offset is None:
            self._check_cells(label, cells, is_sheet=links is not None)
        condition = NoSlip() if condition is None else condition
        if isinstance(condition, RigidMotion):
            shown = checks.shown(condition)
            raise TypeError(f"condition of {label}: {shown} given, must be NoSlip() or left out; give it as motion=")
        check_condition(f"condition of {label}", condition, BODY_CONDITIONS)
        is_cut = links is not None or isinstance(mask, Geometry)
        scheme = scheme_of_body(label, condition, is_cut=is_cut)
        if links is not None:
            if isinstance(mask, Geometry):
                raise ValueError(f"links of {label}: given with a geometry, which has its own; must be left out")
            links = checked_links(f"links of {label}", links, self._shape, len(_core.stencil(self._stencil).c))
        thermal = Adiabatic() if thermal is None else thermal
        check_condition(f"thermal of {label}", thermal, THERMAL_CONDITIONS)
        scheme_of_temperature(label, thermal, scheme, is_cut=is_cut)
        for given in (condition, thermal):
            on_cells = None if callable(cells) else cells
            values.check_fixed(label, given, shape, _core.stencil(self._stencil).cs2, mask=on_cells, is_body=True)
        if motion is not None:
            motion = self._checked_motion(label, motion, mask, condition, thermal)
        warned = warn_of_geometry(mask, self, label) if isinstance(mask, Geometry) else None
        start = corner
        if not callable(cells) and cells.any():
            low, cells = values.trimmed(cells)
            start = tuple(a + b for a, b in zip(corner, low, strict=True))
        elif not callable(cells):
            cells = cells[(slice(0, 0),) * len(shape)].copy()
        parts = (start, cells, condition, thermal, offset is not None, (corner, shape), links, motion)
        self._bodies._bodies[name] = Body(name, self._shape, self._faces, *parts, warned=warned)

    def _checked_motion(
        self, label: str, motion: Any, mask: Any, condition: Condition, thermal: Condition
    ) -> RigidMotion:
        """The motion of a body, or TypeError or ValueError where it or what goes with it is wrong."""
        checked = check_motion(label, motion, len(self._shape))
        if not isinstance(mask, Geometry):
            right = "a Geometry, such as lbm.Sphere(...)"
            raise TypeError(f"mask of {label}: {checks.shown(mask)} given with a motion, must be {right}")
        try:
            shape_parts(mask)
        except ValueError as error:
            raise ValueError(f"motion of {label}: {error}") from None
        if type(condition) is not NoSlip or scheme_of_body(label, condition, is_cut=True) != next(iter(CUT_WALLS)):
            raise ValueError(
                f"condition of {label}: {checks.shown(condition)} given with a motion, must be NoSlip(): the wall has "
                "the velocity of the motion"
            )
        if isinstance(thermal, Isothermal):
            raise ValueError(f"thermal of {label}: {checks.shown(thermal)} given with a motion, must be left out")
        return checked

    def _box(self, label: str, cells: Any, offset: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Offset and shape of a mask that is given with an offset."""
        if callable(cells):
            raise ValueError(f"offset of {label}: {checks.shown(offset)} given with a callable, must be left out")
        dimensions = len(self._shape)
        corner = tuple(checks.listed(f"offset of {label}", offset, f"{dimensions} integers"))
        if len(corner) != dimensions or cells.ndim != dimensions:
            raise ValueError(
                f"offset of {label}: {checks.shown(offset)} given with a mask of shape {cells.shape}, both must have "
                f"{dimensions} numbers"
            )
        corner = tuple(checks.integer(f"offset of {label}", n, at_most=MAX_SIZE) for n in corner)
        if any(a + n > whole for a, n, whole in zip(corner, cells.shape, self._shape, strict=True)):
            raise ValueError(
                f"mask of {label}: shape {cells.shape} at offset {corner} given, must lie in the domain, {self._shape}"
            )
        return corner, cells.shape

    def _check_cells(self, label: str, array: NDArray[np.bool_], *, is_sheet: bool) -> None:
        """Raise ValueError where a mask of the whole domain is empty, unless it may be a sheet, overlaps another, or
        leaves no fluid cell."""
        count = int(np.count_nonzero(array))
        if count == 0 and not is_sheet:
            raise ValueError(f"mask of {label}: no cell is True, must have at least one")
        for other in self.bodies.values():
            if callable(other.cells) or other.is_part:
                continue
            count += int(np.count_nonzero(other.cells))
            box = tuple(slice(a, a + n) for a, n in zip(other.offset, other.cells.shape, strict=True))
            overlap = array[box] & other.cells
            if overlap.any():
                cell = tuple(int(i) + a for i, a in zip(np.argwhere(overlap)[0], other.offset, strict=True))
                raise ValueError(f"mask of {label}: overlaps body {other.name!r}, for example at cell {cell}")
        if count == self.cells:
            raise ValueError(f"mask of {label}: leaves no fluid cell in the domain")

    @property
    def solid(self) -> NDArray[np.bool_]:
        """Bool array of the domain's shape, True in any body, of those that move where their geometry is; each time a
        new one. See `Body.mask`."""
        solid = np.zeros(self._shape, dtype=np.bool_)
        for body in self.bodies.values():
            solid |= body.mask
        return was_a_method("solid", solid)

    def copy(self) -> Domain:
        """A domain equal to this one that can be changed apart from it."""
        return copy.copy(self)

    def __reduce__(self) -> tuple[Any, ...]:
        """What `copy`, `pickle` and `copy.deepcopy` make it anew of."""
        faces, thermal = dict(self._faces), dict(self._thermal)
        bodies = list(self._bodies.values())
        parts = (type(self), self._shape, self._stencil, faces, thermal, bodies, self._sponges)
        added = {name: value for name, value in vars(self).items() if name not in _PARTS}
        return _rebuilt, parts, added or None

    def __repr__(self) -> str:
        return f"Domain({self._shape}, {self.stencil!r})"

    def __str__(self) -> str:
        return summary(self)


def unchanging(domain: Domain) -> Domain:
    """A copy for a solver, which refuses changes."""
    other = domain.copy()
    other._faces._used = other._thermal._used = other._bodies._used = True
    return other


def with_bodies(domain: Domain, bodies: Sequence[Body]) -> Domain:
    """A copy with these bodies in place of its own of the same names."""
    other = domain.copy()
    other._bodies._bodies.update({body.name: dataclasses.replace(body, faces=other._faces) for body in bodies})
    return other


_PARTS = frozenset(vars(Domain((1, 1), "D2Q9")))
"""What a domain consists of; a class that a user makes of `Domain` may add to it."""


def _rebuilt(
    kind: type[Domain],
    shape: tuple[int, ...],
    stencil: str,
    faces: dict[str, Condition],
    thermal: dict[str, Condition],
    bodies: list[Body],
    sponges: tuple[Sponge, ...] = (),
) -> Domain:
    """The domain of parts that have been checked when they were given."""
    domain = kind.__new__(kind)
    Domain.__init__(domain, shape, stencil)
    domain._faces._conditions.update(faces)
    domain._thermal._conditions.update(thermal)
    domain._bodies._bodies.update({body.name: dataclasses.replace(body, faces=domain._faces) for body in bodies})
    domain._sponges = sponges
    return domain


def _not_as_a_whole(name: str, example: str) -> AttributeError:
    """The error for faces that are assigned all at once."""
    return AttributeError(
        f"Domain.{name}: cannot be assigned; assign its entries, domain.{name}['-x'] = {example}, or several with "
        f"domain.{name}.update({{...}})"
    )
