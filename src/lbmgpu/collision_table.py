"""All collisions by their names, as cases, checkpoints, plans and benchmarks look them up.

The engine lists them and says which stencils they go with; their classes are those of `collisions` and `multispeed`.
"""

from __future__ import annotations

from typing import Any

from . import _core, checks, collisions, multispeed
from .collisions import Collision
from .custom_collision import CustomCollision


def _by_kind() -> dict[str, type[Collision]]:
    values = [value for module in (collisions, multispeed) for value in vars(module).values()]
    classes = {v for v in values if isinstance(v, type) and issubclass(v, Collision) and v.kind}
    by_kind = {each.kind: each for each in classes}
    names = _core.collision_names()
    if sorted(names) != sorted(each.kind for each in classes):
        raise ImportError(f"collisions: the engine has {', '.join(names)}, the package {', '.join(sorted(by_kind))}")
    return {name: by_kind[name] for name in names}


BY_KIND: dict[str, type[Collision]] = _by_kind()
"""By the engine's names, and in its order."""
COLLISIONS: dict[str, type[Collision]] = {each.__name__: each for each in BY_KIND.values()}
"""By the names of the classes."""


def of_stencil(stencil: str, state: str = "populations") -> list[type[Collision]]:
    """The collisions that support `stencil`, and that a cell keeps this `state`; the first is the simplest."""
    kept = _core.moment_collisions() if state == "moments" else _core.collision_names()
    return [BY_KIND[kind] for kind in _core.collision_names(stencil) if kind in kept]


def case_parameters(collision: type[Collision]) -> dict[str, Any]:
    """The parameters of collisions in a case, apart from the viscosity: a JSON schema for each key."""
    found: dict[str, Any] = {}
    for each in reversed(collision.__mro__):
        found |= vars(each).get("case_parameters", {})
    return found


def check_pair(stencil: str, collision: type[Collision]) -> None:
    """Raise ValueError unless `stencil` and `collision` go together."""
    if collision.kind in _core.collision_names(stencil):
        return
    if issubclass(collision, CustomCollision):
        goes_with = [name for name in _core.stencil_names() if _core.stencil(name).radius == 1]
    else:
        goes_with = [name for name in _core.stencil_names() if collision.kind in _core.collision_names(name)]
    if stencil in goes_with:
        return
    name, right = collision.__name__, checks.alternatives([each.__name__ for each in of_stencil(stencil)])
    raise ValueError(
        f"collision: {name} given with {stencil}, must be {right}; {name} needs a domain of stencil "
        f"{checks.alternatives([repr(name) for name in goes_with])}"
    )
