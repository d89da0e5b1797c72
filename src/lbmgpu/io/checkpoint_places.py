"""Where bodies that move by functions are at the step of a checkpoint, which holds no functions: another one is told by
another place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from .. import checks
from ..domain import Domain
from ..time_functions.motion import Motion
from ..time_functions.product import Varying

_DIFFERENT = 1e-6
"""Cells or radians, beside as much of the number itself: what other machines make of the same function is closer."""


def places(domain: Domain, steps: int) -> dict[str, list[float]]:
    """Displacement and angle, ``D + 1`` numbers, of each body whose motion has a function that a file cannot hold; but
    for functions that know nothing of that step."""
    found = {}
    for name, body in domain.bodies.items():
        motion = body.motion
        if isinstance(motion, Motion) and any(_is_lost(given) for given in (motion.displacement, motion.angle)):
            try:
                course = motion.course(np.array([float(steps)]), len(domain.shape))
            except Exception:  # whatever a function of the user's raises
                continue
            found[name] = [*course.displacement[0].tolist(), float(course.angle[0])]
    return found


def _is_lost(given: Any) -> bool:
    return callable(given) and not isinstance(given, Varying)


def checked(given: Mapping[str, Any], dimensions: int) -> dict[str, list[float]]:
    """The places in a file; TypeError or ValueError where they are none."""
    found = {}
    for name, place in given.items():
        numbers = checks.real_array("places", place)
        if numbers.shape != (dimensions + 1,):
            raise ValueError(f"places: shape {numbers.shape} given, must be ({dimensions + 1},)")
        found[name] = numbers.tolist()
    return found


def other_places(stored: Mapping[str, list[float]], domain: Domain, steps: int) -> Iterator[str]:
    """A line for each body that is elsewhere in a file than in a domain, at the step of the file."""
    own = places(domain, steps)
    for name in [name for name in stored if name in own]:
        if not np.allclose(stored[name], own[name], rtol=_DIFFERENT, atol=_DIFFERENT):
            yield (
                f"bodies.{name}.motion: at t = {steps} the file has {_shown(stored[name])}, this solver has "
                f"{_shown(own[name])}: another function"
            )


def _shown(place: list[float]) -> str:
    moved = ", ".join(f"{x:.6g}" for x in place[:-1])
    return f"a displacement of ({moved}) and an angle of {place[-1]:.6g}"
