"""What a cell keeps from step to step: its populations, or the moments that they follow from."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

from .. import _core, checks
from ..collision_table import BY_KIND
from ..collisions import Collision
from ..conditions import written
from ..custom_collision import CustomCollision
from ..domain import Domain
from ..models import default_streaming
from ..thermal import HybridThermal

STATES = ("populations", "moments")
"""The names of what a cell may keep."""
AUTO = "auto"
"""The name of the choice of moments where everything goes with them."""


def check_state(state: Any) -> str:
    """The name of a state or of the choice of one, or TypeError or ValueError."""
    return checks.choice("state", state, (*STATES, AUTO))


def moment_count(dimensions: int) -> int:
    """The moments that a cell keeps: density, momentum and the moments of second order."""
    return 1 + dimensions + dimensions * (dimensions + 1) // 2


def check_moments(
    domain: Domain,
    collision: Collision,
    precision: str,
    storage: str,
    thermal: HybridThermal | None,
    turbulence: Any,
) -> None:
    """Raise ValueError, which names all that does not go with ``state="moments"``."""
    found: dict[str, list[str]] = {}
    for given, right in _obstacles(domain, collision, precision, storage, thermal, turbulence):
        found.setdefault(right, []).append(given)
    if found:
        all_given = "; ".join(f"with {' and '.join(given)}, {right}" for right, given in found.items())
        raise ValueError(f"state: 'moments' given {all_given}")


def obstacle(
    domain: Domain,
    collision: Collision,
    precision: str,
    storage: str,
    thermal: HybridThermal | None,
    turbulence: Any,
) -> str:
    """What does not go with moments, in words; empty where everything does. It depends on nothing that devices or
    layouts have to do with, so that ``state="auto"`` does not either."""
    return ", ".join(given for given, _ in _obstacles(domain, collision, precision, storage, thermal, turbulence))


def _obstacles(
    domain: Domain,
    collision: Collision,
    precision: str,
    storage: str,
    thermal: HybridThermal | None,
    turbulence: Any,
) -> Iterator[tuple[str, str]]:
    """Each thing that does not go with moments, and what would be right in its place."""
    names = [BY_KIND[kind].__name__ for kind in _core.moment_collisions()]
    if isinstance(collision, CustomCollision) or collision.kind not in _core.moment_collisions():
        yield f"the collision {type(collision).__name__}", f"goes with {checks.alternatives(names)}"
    if collision.takes_strain:
        yield "velocity gradients of the hybrid collision", "must be without: hybrid needs state='populations'"
    if turbulence is not None:
        right = "goes with no turbulence model but Smagorinsky; others need state='populations'"
        yield f"velocity gradients of {type(turbulence).__name__}", right
    if thermal is not None:
        yield "thermal", "must be without: a temperature needs state='populations'"
    if storage != precision:
        yield f"the storage {storage!r}", f"must be the precision, {precision!r}"
    for face, condition in domain.faces.items():
        if condition.engine_name not in _core.moment_faces():
            names = list(map(written, _core.moment_faces()))
            right = f"must be {checks.alternatives(names)}: others need state='populations'"
            yield f"{written(condition.engine_name)} on face {face!r}", right
    for name, body in domain.bodies.items():
        if body.motion is not None:
            right = "must stay where it is: bodies that move need state='populations'"
            yield f"the body {name!r}, which moves", right
    if domain.sponges:
        yield "sponges", "must be without: they need state='populations'"


@cache
def steps_per_update(state: str, stencil: str) -> int:
    """The steps that are advanced for each time that memory is read and written."""
    if state == "populations":
        return 1
    one = _core.Engine(
        stencil=stencil,
        shape=(1,) * _core.stencil(stencil).D,
        collision=_core.moment_collisions()[0],
        streaming="two-lattice",
        state=state,
        viscosity=1.0,
    )
    return one.steps_per_update


def numbers_of_cell(state: str, stencil: str) -> int:
    """The numbers of a cell that a step reads and writes, without a temperature beside the flow."""
    found = _core.stencil(stencil)
    return found.Q if state == "populations" else moment_count(found.D)


def streaming_of(state: str, streaming: str | None, stencil: str) -> str:
    """The streaming, that of the state and the stencil if None is given: of moments the faster one."""
    if streaming is not None:
        return streaming
    return "two-lattice" if state == "moments" else default_streaming(stencil)
