"""Checks that all ranks of a solver are given the same arguments, before any collective work with them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import checks
from ..collisions import Collision
from ..conditions import Condition
from ..domain import Domain
from ..layout import Layout
from ..thermal import HybridThermal
from ..values import takes_time

if TYPE_CHECKING:
    from .processes import Processes


def check_setup(
    processes: Processes,
    domain: Domain,
    collision: Collision,
    force: Any,
    thermal: HybridThermal | None,
    *,
    precision: str,
    storage: str,
    streaming: str,
    channel: str | None,
    schedule: str | None,
    planned: bool = False,
) -> None:
    """Raise ValueError on all ranks if their arguments differ; all ranks call this together.

    Functions cannot be compared. What is compared is whether there is one, and whether it changes in time.

    Args:
        processes: the processes that the solver runs on.
        domain, collision, thermal, precision, storage, streaming, channel, schedule: as for `Solver`, each checked by
            itself.
        force: as for `Solver`, not checked yet.
        planned: whether the ranks plan a layout together.
    """
    if processes.size == 1:
        return
    own = {"stencil": domain.stencil, "shape": str(domain.shape), "collision": repr(collision)}
    own |= {"precision": precision, "storage": storage, "streaming": streaming}
    own |= {"channel": str(channel), "schedule": str(schedule), "layout": str(planned)}
    own |= {f"faces[{face!r}]": _of_condition(condition) for face, condition in domain.faces.items()}
    own |= {f"thermal[{face!r}]": _of_condition(condition) for face, condition in domain.thermal.items()}
    bodies = [
        (name, _of_condition(body.condition), _of_condition(body.thermal), _of_array(np.packbits(body.mask)))
        for name, body in domain.bodies.items()
    ]
    own |= {"bodies": repr(bodies), "force": of_value(force), "thermal": _of_thermal(thermal)}
    _compare(processes, own)


def check_blocks(processes: Processes, layout: Layout | None) -> None:
    """Raise ValueError on all ranks if they were given different layouts; all ranks call this together."""
    if processes.size > 1:
        text = repr(layout)
        _compare(processes, {"layout": hashlib.blake2b(text.encode()).hexdigest()})


def _compare(processes: Processes, own: Mapping[str, str]) -> None:
    found = differences(processes.shared(dict(own)))
    if found:
        raise ValueError(f"{'; '.join(found)}; all ranks take the same arguments")


def differences(every: Sequence[Mapping[str, str]], longest: int = 0) -> list[str]:
    """A line for each name whose texts differ among ranks; it quotes texts of at most `longest` characters."""
    found = []
    for name in dict.fromkeys(
        name for given in every for name in given
    ):  # domains of other dimensions have other faces
        others = [rank for rank, given in enumerate(every) if given.get(name) != every[0].get(name)]
        if others:
            were = f"rank {others[0]} was" if len(others) == 1 else f"ranks {', '.join(map(str, others))} were"
            one, other = every[0].get(name, ""), every[others[0]].get(name, "")
            values = f" ({other}, not {one})" if one and other and max(len(one), len(other)) <= longest else ""
            found.append(f"{name}: {were} given another than rank 0{values}")
    return found


def _of_condition(condition: Condition) -> str:
    return repr((condition.kind, [_of_entry(getattr(condition, field.name)) for field in fields(condition)]))


def _of_entry(entry: Any) -> str:
    return entry if isinstance(entry, str) else of_value(entry)


def _of_thermal(thermal: HybridThermal | None) -> str:
    if thermal is None:
        return "none"
    numbers = (thermal.diffusivity, thermal.buoyancy, thermal.reference, thermal.operators, thermal.energy_coupling)
    return repr((*numbers, of_value(thermal.source)))


def of_value(value: Any) -> str:
    """A text that is equal on two ranks if they were given equal values."""
    if value is None:
        return "none"
    if callable(value):
        return "a function of time" if takes_time(value) else "a function"
    try:
        return _of_array(checks.real_array("value", value))
    except (TypeError, ValueError):  # refused later, by its right name, if wrong on all ranks
        return "wrong"


def _of_array(array: np.ndarray[Any, Any]) -> str:
    digest = hashlib.blake2b(np.ascontiguousarray(array).data).hexdigest()
    return f"{array.dtype} {array.shape} {digest}"
