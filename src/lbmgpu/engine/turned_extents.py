"""How far a body that moves reaches along the axes, by the angle that it is turned by."""

from __future__ import annotations

import math

import numpy as np

from ..geometry.base import Geometry
from ..geometry.extents import farthest, support
from ..time_functions.motion import RigidMotion, axis_of, rotations
from ..values import Floats

_ANGLES = 256
"""Of the table. Between two of them a body of radius R is taken to reach at most 8e-5 R too far."""


class TurnedExtents:
    """How far a body reaches from the middle of its bounds, wherever it is and however it is turned.

    Along an axis e, a body that is turned by R reaches as far as the one that is not turned does along R^T e, h(R^T e).
    As h(u + v) <= h(u) + h(v) of any body, that of a direction between two of a table follows from those two, and is
    never too small.

    Attributes:
        half: ``(3,)``: no further along each axis in any pose of the motion; infinite along those without end.
        radius: no point is farther from the axis about which it turns; 0 if it does not.

    Args:
        geometry: of the body.
        bounds: ``(2, 3)``, of it.
        middle: of them, and of the domain along axes without end.
        motion: of the body.
        center: about which it turns.
    """

    def __init__(self, geometry: Geometry, bounds: Floats, middle: Floats, motion: RigidMotion, center: Floats) -> None:
        self._turns = motion.turns
        self.half, self.radius = np.asarray((bounds[1] - bounds[0]) / 2), 0.0
        if not self._turns:
            self._ends_at_rest = np.stack([bounds[1] - middle, middle - bounds[0]])
            return
        axis = axis_of(motion)
        self.radius = farthest(geometry, center, axis)
        self._along = np.abs(axis)
        self._ends = np.zeros((2, 3))
        for k, sign in enumerate((1, -1)):  # along each axis, what the part of it along that of rotation reaches
            toward = sign * np.where(axis < 0, -1, 1)[:, np.newaxis] * axis
            self._ends[k] = _times(self._along, support(geometry, toward) - toward @ middle)
        across = np.sqrt(np.maximum(0.0, 1 - np.square(axis)))
        round_ = farthest(geometry, middle, axis)
        most = np.minimum(self._ends.max(axis=0) + _times(across, round_), farthest(geometry, middle))
        self.half = np.where(self._along == 1, self.half, most)
        angles = np.linspace(0.0, 2 * math.pi, _ANGLES + 1)
        turns = rotations(motion.axis, angles).reshape(-1, 3)
        found = [support(geometry, sign * turns) - sign * turns @ middle for sign in (1, -1)]
        self._table = np.stack(found).reshape(2, _ANGLES + 1, 3)

    def at(self, angles: Floats) -> tuple[Floats, Floats]:
        """How far the body reaches down and up along each axis from where its middle is, ``(n, 3)`` each."""
        if not self._turns:
            up, down = np.broadcast_to(self._ends_at_rest[:, np.newaxis], (2, len(angles), 3))
            return down, up
        step = 2 * math.pi / _ANGLES
        places = np.mod(angles, 2 * math.pi) / step
        k = np.minimum(places.astype(np.int64), _ANGLES - 1)
        beyond = (places - k)[:, np.newaxis] * step
        first, second = np.sin(step - beyond) / math.sin(step), np.sin(beyond) / math.sin(step)
        rest = np.maximum(first + second - 1, 0.0)  # of the part along the axis of rotation, which both have
        found = _times(first, self._table[:, k]) + _times(second, self._table[:, k + 1])
        found += _times(rest, self._ends[::-1, np.newaxis])
        up, down = np.minimum(np.where(self._along == 1, self._table[:, k], found), self.half)
        return down, up


def _times(factor: Floats, reach: Floats | float) -> Floats:
    """The product with what may be infinite, 0 times which is 0."""
    with np.errstate(invalid="ignore"):
        return np.where(factor == 0, 0.0, factor * reach)
