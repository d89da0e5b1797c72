"""Bodies of revolution that only turn about their own axis: their cells stay, so that they are bodies at rest with
walls that turn, and need not be looked for in each step."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np

from .. import _core, checks
from ..body import Body
from ..conditions import MovingWall
from ..domain import Domain, with_bodies
from ..geometry.primitives import Cylinder, Sphere
from ..geometry.rotation import Rotation
from ..time_functions.functions import Sine
from ..time_functions.motion import Motion, Oscillation, RigidMotion, axis_of
from ..values import Floats

_ROUNDING = 1e-12
"""By which the axes of body and motion may differ, as a part of the coordinates."""


def with_turning_walls(domain: Domain) -> Domain:
    """The domain with bodies at rest, with walls of a `Rotation`, in place of bodies of revolution that turn about
    their axis at a steady rate or to and fro; itself if it has none.

    One that is faster than walls may be, that a periodic face cuts in two, or that shares cells with another body goes
    on as one that moves, whose cells may be there.
    """
    bodies = dict(domain.bodies)
    cs2 = _core.stencil(domain.stencil).cs2
    for name, body in domain.bodies.items():
        wall = _turning_wall(body, checks.MAX_MACH * math.sqrt(cs2))
        others = [other for other in bodies.values() if other.name != name and other.motion is None]
        if wall is not None and not body.crossed_faces and not any(_may_overlap(body, other) for other in others):
            about = getattr(wall.velocity, "spatial", wall.velocity).about
            bodies[name] = dataclasses.replace(body, condition=wall, motion=None, turns_about=about)
    changed = [body for name, body in bodies.items() if body is not domain.bodies[name]]
    return with_bodies(domain, changed) if changed else domain


def _turning_wall(body: Body, fastest: float) -> MovingWall | None:
    """The wall of a body that only turns about its axis of revolution, and not too fast; else None."""
    motion, geometry = body.motion, body.geometry
    if not isinstance(geometry, Sphere | Cylinder) or motion is None:
        return None
    rate = _rate(motion)
    center = geometry.center if motion.center is None else np.array(motion.center)
    if rate == 0 or abs(rate) * geometry.radius > fastest or not _is_about_its_axis(geometry, center, axis_of(motion)):
        return None
    about = tuple(center.tolist())
    if isinstance(motion, Oscillation):
        course = Sine(amplitude=rate, period=motion.period, phase=motion.phase + math.pi / 2)
        return MovingWall(Rotation(1.0, about, motion.axis) * course)
    return MovingWall(Rotation(rate, about, motion.axis))


def _rate(motion: RigidMotion) -> float:
    """The steady rate at which a motion turns, or the largest one of an oscillation; 0 of one that does more."""
    if isinstance(motion, Motion):
        is_more = motion.displacement is not None or motion.angle is not None or _is_some(motion.velocity)
        return 0.0 if is_more else float(motion.rate)
    if isinstance(motion, Oscillation) and not _is_some(motion.amplitude):
        return 2 * math.pi / motion.period * float(motion.turn)
    return 0.0


def _is_some(vector: Any) -> bool:
    return vector is not None and any(vector)


def _is_about_its_axis(geometry: Sphere | Cylinder, center: Floats, axis: Floats) -> bool:
    """Whether turning about an axis through a point leaves a geometry as it is."""
    away = np.zeros(3)
    away[: geometry.dimensions] = center - geometry.center
    if geometry.dimensions == 2:
        return not (np.abs(away) > _ROUNDING * (1 + np.abs(center).max())).any()
    is_through = float(np.abs(np.cross(away, axis)).max()) <= _ROUNDING * (1 + float(np.abs(center).max()))
    is_along = isinstance(geometry, Sphere) or float(np.abs(np.cross(geometry.axis, axis)).max()) <= _ROUNDING
    return is_through and is_along


def _may_overlap(body: Body, other: Body) -> bool:
    """Whether two bodies may have a cell in common: of a function, and of what other processes have, nobody knows."""
    if other.is_part or (callable(other.cells) and other.geometry is None):
        return True
    assert body.geometry is not None
    low, high = body.geometry.bounds
    first = np.clip(np.floor(low), 0, body.shape).astype(int)
    stop = np.clip(np.ceil(high), first, body.shape).astype(int)
    axes = [np.arange(a, b) for a, b in zip(first, stop, strict=True)]
    return bool((body.within(axes) & other.within(axes)).any())
