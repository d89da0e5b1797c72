"""What a cell keeps from step to step: its populations, or the moments that they follow from."""

from __future__ import annotations

from typing import Any

from .. import _core, checks
from ..collision_table import BY_KIND
from ..collisions import Collision
from ..conditions import Condition
from ..custom_collision import CustomCollision
from ..domain import Domain
from ..models import default_streaming
from ..thermal import HybridThermal
from ..time_functions.product import Varying, takes_time

STATES = ("populations", "moments")
"""The names of what a cell may keep."""


def check_state(state: Any) -> str:
    """The name of a state, or TypeError or ValueError."""
    return checks.choice("state", state, STATES)


def moment_count(dimensions: int) -> int:
    """The moments that a cell keeps: density, momentum and the moments of second order."""
    return 1 + dimensions + dimensions * (dimensions + 1) // 2


def check_moments(
    domain: Domain,
    collision: Collision,
    force: Any,
    precision: str,
    storage: str,
    streaming: str | None,
    thermal: HybridThermal | None,
    turbulence: Any,
) -> None:
    """Raise ValueError where something does not go with ``state="moments"``."""

    def refuse(given: str, right: str) -> None:
        raise ValueError(f"state: 'moments' given with {given}, {right}")

    names = [BY_KIND[kind].__name__ for kind in _core.moment_collisions()]
    if isinstance(collision, CustomCollision) or collision.kind not in _core.moment_collisions():
        refuse(f"the collision {type(collision).__name__}", f"goes with {checks.alternatives(names)}")
    if collision.takes_strain or turbulence is not None:
        refuse("velocity gradients", "goes with collisions without hybrid and with no turbulence model but Smagorinsky")
    if thermal is not None:
        refuse("thermal", "must be without")
    if storage != precision:
        refuse(f"the storage {storage!r}", f"must be the precision, {precision!r}")
    if streaming is not None and streaming != "two-lattice":
        refuse(f"the streaming {streaming!r}", "has 'two-lattice' only so far")
    for face, condition in domain.faces.items():
        if condition.engine_name not in _core.moment_faces():
            refuse(f"{condition!r} on face {face!r}", f"has {checks.alternatives(_core.moment_faces())} so far")
        if _changes_in_time(condition):
            refuse(f"a value of face {face!r} that changes in time", "has steady ones so far")
    for name, body in domain.bodies.items():
        if body.motion is not None or _changes_in_time(body.condition):
            refuse(f"the body {name!r}, which changes in time", "has steady walls so far")
        if body.scheme != "halfway":
            refuse(f"the scheme {body.scheme!r} of body {name!r}", "has 'halfway' walls so far")
    if domain.sponges:
        refuse("sponges", "has none so far")
    check_force(force)


def _changes_in_time(condition: Condition) -> bool:
    names = ("velocity", condition.number)
    given = [getattr(condition, name) for name in names if name and hasattr(condition, name)]
    return any(isinstance(value, Varying) or takes_time(value) for value in given)


def check_force(force: Any) -> None:
    """Raise ValueError for a force that is not one vector for all cells and times."""
    fixed = force.spatial if isinstance(force, Varying) else force
    if isinstance(force, Varying) or callable(fixed) or getattr(fixed, "ndim", 1) > 1:
        raise ValueError("force: must be one vector for all cells and times with state 'moments', so far")


def streaming_of(state: str, streaming: str | None, stencil: str) -> str:
    """The streaming, that of the state and the stencil if None is given."""
    if streaming is not None:
        return streaming
    return "two-lattice" if state == "moments" else default_streaming(stencil)
