"""The bodies of a domain that move: their shapes as the engine takes them, and where they are in each step."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .. import _core, checks
from ..body import Body
from ..conditions import Outflow
from ..domain import Domain
from ..geometry.base import Geometry
from ..geometry.report import MOST_CELLS
from ..geometry.shape_parts import ShapeParts, ball, shape_parts
from ..time_functions.motion import RigidMotion, axis_of, rotations
from ..values import Floats
from .body_links import links_through
from .turned_extents import TurnedExtents

NUMBERS = 33
"""Of a body in each step, as the engine has them among the factors (``MovingStep`` in backend/moving_body.h)."""
MARGIN = 2
"""Cells beside a body that a box about it has, and that must be left before a face that is not periodic."""
_ROUNDING = 1e-9
"""By which sums that would be whole numbers may be above them."""
_NEAR = 3.0
"""By which the ball about a body is larger than it: a neighbour's distance, and what a body moves in a step."""


@dataclass(frozen=True, eq=False)
class MovingBody:
    """A body that moves in a domain.

    Attributes:
        body: that moves.
        number: among the bodies of the domain.
        parts: of its geometry.
        center: three coordinates of the point about which it turns, where the geometry is.
        middle: of its bounds, and of the domain along axes without end; three coordinates.
        size: cells of the box about it, which has it in every pose of the motion; three numbers.
        extents: of the body, by the angle that it is turned by.
        bounds: ``(2, 3)``, of the geometry.
        cs2: of the stencil.
        periodic: for each axis of the domain.
    """

    body: Body
    number: int
    parts: ShapeParts
    center: Floats
    middle: Floats
    size: tuple[int, ...]
    extents: TurnedExtents
    bounds: Floats
    cs2: float
    periodic: tuple[bool, ...]

    @classmethod
    def of(cls, domain: Domain, body: Body, number: int) -> MovingBody:
        """That of a body with a motion.

        Raises:
            ValueError: its geometry cannot move, or is too large for the domain.
        """
        geometry, motion = body.geometry, body.motion
        assert geometry is not None
        assert motion is not None
        label, D = f"body {body.name!r}", len(domain.shape)
        parts = shape_parts(geometry)
        bounds = np.zeros((2, 3))
        bounds[:, :D] = geometry.bounds
        _check_thickness(label, geometry)
        ends = np.asarray(np.isfinite(bounds).all(axis=0))
        middle = np.where(ends, np.where(ends, bounds, 0.0).mean(axis=0), np.array([*domain.shape, 0.0][:3]) / 2)
        periodic = body.periodic
        center = middle if motion.center is None else np.array([*motion.center, 0.0][:3])
        _check_axis(label, motion, ends[:D])
        _check_faces(label, domain, ends[:D])
        extents = TurnedExtents(geometry, bounds, middle, motion, center)
        size = []
        for d in range(3):
            wanted = math.ceil(2 * extents.half[d] - _ROUNDING) + 2 + 2 * MARGIN if d < D and ends[d] else 0
            if d < D and ends[d] and periodic[d] and wanted > domain.shape[d]:
                raise ValueError(
                    f"motion of {label}: a body that takes {wanted} cells along {'xyz'[d]} given, with those beside "
                    f"it, must take at most the domain's {domain.shape[d]}, so that it does not meet itself"
                )
            whole = domain.shape[d] if d < D else 1
            size.append(whole if wanted == 0 else min(wanted, whole))
        cs2 = _core.stencil(domain.stencil).cs2
        return cls(body, number, parts, center, middle, tuple(size), extents, bounds, cs2, periodic)

    def follows(self, axis: int) -> bool:
        """Whether the box about the body goes with it along an axis, and is not the whole domain."""
        has_ends = bool(np.isfinite(self.bounds[:, axis]).all())
        return self.size[axis] < self.body.shape[axis] or (has_ends and self.periodic[axis])

    @property
    def motion(self) -> RigidMotion:
        """Of the body."""
        assert self.body.motion is not None
        return self.body.motion

    def hand_over(self, engine: _core.Engine, series: int) -> None:
        """Have the engine move the body, by the factors of each step from this index on."""
        assert self.body.geometry is not None
        middle, radius = ball(self.body.geometry)
        shape = {"parts": self.parts.parts, "numbers": self.parts.numbers, "table": self.parts.table}
        place = {"center": self.center.tolist(), "ball": [*middle.tolist(), (radius + _NEAR) ** 2]}
        engine.move_body(self.number, {**shape, **place, "size": list(self.size), "series": series})

    def table(self, first: int, count: int) -> tuple[Floats, int]:
        """The numbers of so many steps from `first` on, ``(count, NUMBERS)``, and how many of these, from the first
        one on, are steps that the body can make.

        Raises:
            TypeError, ValueError: a function of the motion fails.
        """
        D = len(self.body.shape)
        poses = self._poses(first, count)
        known = len(poses.times) - 1
        rows = np.zeros((known, NUMBERS))
        rows[:, 0:9], rows[:, 9:12] = poses.turn[1:].reshape(known, 9), poses.origin[1:]
        rows[:, 12:21], rows[:, 21:24] = poses.turn[:-1].reshape(known, 9), poses.origin[:-1]
        rows[:, 24:27], rows[:, 27:30] = poses.velocity[1:], poses.spin[1:]
        for d in range(D):
            if self.follows(d):
                rows[:, 30 + d] = np.floor(poses.middle[1:, d] - self.extents.half[d]) - MARGIN
        return np.pad(rows, ((0, count - known), (0, 0))), self._possible(poses)[0]

    def _poses(self, first: int, count: int) -> _Poses:
        """The poses of `first` and of so many steps after it, or of fewer where a function of the motion fails: it need
        not know times beyond the end of a run.

        Raises:
            TypeError, ValueError: it fails in the first step; or what it raises itself.
        """
        while True:
            try:
                return self._at(np.arange(first, first + count + 1, dtype=np.float64))
            except Exception:
                if count == 1:
                    raise
                count //= 2

    def _at(self, times: Floats) -> _Poses:
        """The poses at some times; what is wrong with them names the body."""
        try:
            return _Poses.of(self, times)
        except (TypeError, ValueError) as error:
            raise type(error)(f"motion of body {self.body.name!r}: {error}") from None

    def check(self, step: int) -> None:
        """Raise ValueError if the body cannot make a step, or is not where it can be at the beginning."""
        for times in ([[0, 0]] if step == 0 else []) + [[step, step + 1]]:
            message = self._possible(self._at(np.array(times, np.float64)))[1]
            if message is not None:
                raise ValueError(message)

    def _possible(self, poses: _Poses) -> tuple[int, str | None]:
        """How many steps along these poses the body can make, and why not the next one; None if all."""
        label = f"motion of body {self.body.name!r}"
        radius, speeds = self.extents.radius, self._speeds(poses)[1:]
        moved = np.linalg.norm(np.diff(poses.origin, axis=0), axis=1)
        moved = moved + 2 * radius * np.abs(np.sin(0.5 * np.diff(poses.angle)))
        down, up = self.extents.at(poses.angle)
        low, high = poses.middle - down, poses.middle + up
        shape = np.array(self.body.shape)
        D = len(shape)
        walls = np.array([not each for each in self.periodic])
        before = np.isfinite(self.bounds[0, :D]) & walls & (low[1:, :D] < MARGIN - _ROUNDING)
        behind = np.isfinite(self.bounds[1, :D]) & walls & (high[1:, :D] > shape - MARGIN + _ROUNDING)
        fastest = checks.MAX_MACH * math.sqrt(self.cs2)
        wrong = np.flatnonzero((speeds > fastest) | (moved > 1) | (before | behind).any(axis=1))
        if len(wrong) == 0:
            return len(moved), None
        k = int(wrong[0])
        time = poses.times[k + 1]
        if speeds[k] > fastest:
            right = f"must be at most {fastest:.4g} cells a step (Mach {checks.MAX_MACH})"
            return k, f"{label}: a speed of {speeds[k]:.4g} at t = {time:g} given, {right}"
        if moved[k] > 1:
            right = "must move by at most 1 in a step"
            return k, f"{label}: {moved[k]:.4g} cells from t = {poses.times[k]:g} to {time:g} given, {right}"
        axis = int(np.flatnonzero((before | behind)[k])[0])
        face = ("-" if before[k, axis] else "+") + "xyz"[axis]
        right = "must stay farther away from faces that are not periodic"
        return k, f"{label}: comes within {MARGIN} cells of the face {face!r} at t = {time:g}, {right}"

    def links_through(self, stencil: _core.Stencil) -> int:
        """How many links between fluid cells parts thinner than a cell cut, which are no walls: where the body begins,
        or half a cell from there along all axes, whichever are more. 0 of a body too large to look at."""
        D, geometry = len(self.body.shape), self.body.geometry
        assert geometry is not None
        poses = _Poses.of(self, np.zeros(1))
        turn, origin = poses.turn[0, :D, :D], poses.origin[0, :D]
        shift = origin - turn @ self.center[:D]
        begins = geometry.moved(turn, 1.0, shift) if self.motion.turns or shift.any() else geometry
        found = [0]
        for placed in (begins, begins.translate([0.5] * D)):
            bounds = np.where(np.isfinite(placed.bounds), placed.bounds, [[0] * D, self.body.shape])
            low = np.floor(bounds[0]).astype(np.int64) - MARGIN
            high = np.ceil(bounds[1]).astype(np.int64) + MARGIN
            if math.prod((high - low).tolist()) <= MOST_CELLS:
                found.append(links_through(placed, low, high, stencil))
        return max(found)

    def _speeds(self, poses: _Poses) -> Floats:
        """No point of the body is faster than these at some poses."""
        turning = self.extents.radius * np.linalg.norm(poses.spin, axis=1)
        return np.asarray(np.linalg.norm(poses.velocity, axis=1) + turning)

    def fastest(self, first: int, count: int) -> float:
        """No point of the body is faster in so many steps from `first` on."""
        return float(self._speeds(self._poses(first, count)).max())

    def center_at(self, time: float) -> Floats:
        """Where the point about which the body turns is, ``(D,)``."""
        return _Poses.of(self, np.array([time])).origin[0, : len(self.body.shape)]

    def cells(self, axes: Sequence[NDArray[np.int64]], time: float) -> NDArray[np.bool_]:
        """Whether cells with these numbers along each axis are in the body at a time."""
        geometry = self.body.geometry
        assert geometry is not None
        D = len(self.body.shape)
        poses = _Poses.of(self, np.array([time]))
        away = []
        for d, axis in enumerate(axes):
            x = axis + 0.5
            if self.follows(d):  # of the images of a cell that which is next to the body
                n, middle = self.body.shape[d], poses.middle[0, d]
                x = x - n * np.round((x - middle) / n)
            shape = [1] * len(axes)
            shape[d] = -1
            away.append((x - poses.origin[0, d]).reshape(shape))
        turn = poses.turn[0]
        own = [sum(turn[j, d] * away[j] for j in range(D)) + self.center[d] for d in range(D)]
        return np.asarray(np.broadcast_to(geometry.inside(*own), tuple(len(axis) for axis in axes)))


@dataclass(frozen=True)
class _Poses:
    """Where a body is at some times, and how fast it moves; vectors ``(n, 3)``, matrices ``(n, 3, 3)``."""

    times: Floats
    turn: Floats
    origin: Floats
    velocity: Floats
    spin: Floats
    angle: Floats
    middle: Floats

    @classmethod
    def of(cls, body: MovingBody, times: Floats) -> _Poses:
        D, n = len(body.body.shape), len(times)
        course = body.motion.course(times, D)
        origin, velocity = np.tile(body.center, (n, 1)), np.zeros((n, 3))
        origin[:, :D] += course.displacement
        velocity[:, :D] = course.velocity
        turn = rotations(body.motion.axis, course.angle) if body.motion.turns else np.tile(np.eye(3), (n, 1, 1))
        placed = origin + turn @ (body.middle - body.center)
        spin = np.outer(course.rate, axis_of(body.motion))
        return cls(times, turn, origin, velocity, spin, course.angle, placed)


class MovingBodies:
    """All bodies of a domain that move.

    Raises:
        ValueError: one that cannot, or not from its place at t = 0.
    """

    def __init__(self, domain: Domain) -> None:
        self.bodies = {
            name: MovingBody.of(domain, body, number)
            for number, (name, body) in enumerate(domain.bodies.items())
            if body.motion is not None
        }
        self.check(0)

    @property
    def numbers(self) -> int:
        """How many factors of a step are theirs."""
        return NUMBERS * len(self.bodies)

    def hand_over(self, engine: _core.Engine) -> None:
        """Have the engine move all of them, by the first factors of each step."""
        for number, body in enumerate(self.bodies.values()):
            body.hand_over(engine, NUMBERS * number)

    def check(self, step: int) -> None:
        """Raise ValueError if one of them cannot make a step."""
        for body in self.bodies.values():
            body.check(step)

    def fastest(self, first: int, count: int) -> float:
        """No point of any body is faster in so many steps from `first` on; 0 without bodies."""
        return max([0.0, *(body.fastest(first, count) for body in self.bodies.values())])

    def table(self, first: int, count: int) -> tuple[Floats, int]:
        """As `MovingBody.table`, of all bodies."""
        found = [body.table(first, count) for body in self.bodies.values()]
        rows = np.concatenate([np.empty((count, 0)), *(rows for rows, _ in found)], axis=1)
        return rows, min([count, *(possible for _, possible in found)])


def _check_thickness(label: str, geometry: Geometry) -> None:
    """Raise ValueError where a body may have no cell somewhere on its way, and so no wall."""
    low, high = geometry.bounds
    thinnest = float((high - low).min())
    if thinnest < 1:
        raise ValueError(
            f"motion of {label}: a body of {thinnest:.3g} cells given, must be at least a cell thick; between the "
            "centres of cells it would have no walls"
        )
    if np.isfinite(geometry.bounds).all():
        first = np.floor(low).astype(np.int64)
        if not geometry.solid(first.tolist(), (np.ceil(high) - first + 1).astype(np.int64).tolist()).any():
            raise ValueError(f"motion of {label}: no centre of a cell is in it, must be at least a cell thick")


def _check_axis(label: str, motion: RigidMotion, ends: NDArray[np.bool_]) -> None:
    """Raise ValueError where a body without end turns about another axis than along that."""
    along = axis_of(motion)[: len(ends)]
    if motion.turns and not ends.all() and not (len(ends) == 3 and np.array_equal(along != 0, ~ends)):
        raise ValueError(f"motion of {label}: a body without end turns, must do so about the axis without end")


def _check_faces(label: str, domain: Domain, ends: NDArray[np.bool_]) -> None:
    """Raise ValueError where a body without end meets a face whose cells other cells or blocks read as well."""
    whole = _core.boundary_numbers()
    for face, condition in domain.faces.items():
        has_end = ends["xyz".index(face[1])]
        if not has_end and condition.engine_name in (Outflow.kind, *whole):
            raise ValueError(
                f"motion of {label}: a body without end meets the face {face!r} with {condition!r}, must be a wall, "
                "free slip or periodic there"
            )
