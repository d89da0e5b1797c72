"""Checks that all ranks of a solver are given the same arguments, before any collective work with them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import checks
from ..body import Body
from ..collisions import Collision
from ..conditions import Condition
from ..domain import Domain
from ..layout import Layout
from ..thermal import HybridThermal
from ..time_functions.product import TimeFunction, Varying, takes_time
from ..values import is_on_gpu

if TYPE_CHECKING:
    from .processes import Processes


IsPart = Callable[[tuple[int, ...]], bool]


def check_setup(
    processes: Processes,
    domain: Domain,
    collision: Collision,
    *,
    precision: str,
    storage: str,
    streaming: str,
    channel: str | None,
    schedule: str | None,
    thermal: bool,
    planned: bool = False,
    turbulence: object = None,
    state: str = "populations",
) -> None:
    """Raise ValueError on all ranks if their arguments differ; all ranks call this together.

    Functions cannot be compared. What is compared is whether there is one, and whether it changes in time.

    Args:
        processes: the processes that the solver runs on.
        domain, collision, precision, storage, streaming, channel, schedule: as for `Solver`, each checked by itself.
        thermal: whether there is a hybrid thermal model, for which plans and cuts differ.
        planned: whether the ranks plan a layout together.
        turbulence: the model of velocity gradients; that of the local stress is in the collision.
        state: what a cell keeps.
    """
    if processes.size == 1:
        return
    own = {"stencil": domain.stencil, "shape": str(domain.shape), "collision": repr(collision)}
    own |= {"precision": precision, "storage": storage, "streaming": streaming}
    own |= {"channel": str(channel), "schedule": str(schedule), "layout": str(planned)}
    own |= {"thermal": str(thermal), "turbulence": repr(turbulence), "state": state}
    own |= {f"faces[{face!r}]": _of_condition(condition) for face, condition in domain.faces.items()}
    own["sponges"] = repr(domain.sponges)
    own |= {f"thermal[{face!r}]": _of_condition(condition) for face, condition in domain.thermal.items()}
    compare(processes, own)


def check_fields(
    processes: Processes, domain: Domain, is_part: IsPart, force: Any, thermal: HybridThermal | None
) -> None:
    """Raise ValueError on all ranks if they were given different forces, bodies or thermal models.

    What each process is given for its own part of the domain is not compared. All ranks call this together, with equal
    blocks.

    Args:
        processes, domain: as for `check_setup`.
        force, thermal: as for `Solver`.
        is_part: tells whether an array of some shape is of the process's part of the domain.
    """
    if processes.size == 1:
        return
    own = {"bodies": repr([(name, *_of_body(body)) for name, body in domain.bodies.items()])}
    compare(processes, own | {"force": of_value(force, is_part), "thermal": _of_thermal(thermal, is_part)})


def check_blocks(processes: Processes, layout: Layout | None) -> None:
    """Raise ValueError on all ranks if they were given different layouts; all ranks call this together."""
    if processes.size > 1:
        text = repr(layout)
        compare(processes, {"layout": hashlib.blake2b(text.encode()).hexdigest()})


def compare(processes: Processes, own: Mapping[str, str]) -> None:
    """Raise ValueError on all ranks if texts differ among them, of arguments by name; all ranks call this together."""
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


def _of_condition(condition: Condition, of_part: bool = False) -> str:
    entries = [getattr(condition, field.name) for field in fields(condition)]
    return repr((condition.kind, [_of_entry(entry, of_part) for entry in entries]))


def _of_entry(entry: Any, of_part: bool) -> str:
    return entry if isinstance(entry, str) else of_value(entry, lambda shape: of_part and len(shape) > 1)


def _of_body(body: Body) -> list[str]:
    parts = [_of_condition(condition, body.is_part) for condition in (body.condition, body.thermal)]
    if body.geometry is not None:
        motion = [] if body.motion is None else [repr(body.motion.record())]
        return [*parts, body.geometry.fingerprint(), *motion]
    if callable(body.cells):
        return [*parts, "a function"]
    if body.is_part:
        return [*parts, "a part"]
    return [*parts, f"{body.offset} {_of_array(body.cells)}"]


def _of_thermal(thermal: HybridThermal | None, is_part: IsPart) -> str:
    if thermal is None:
        return "none"
    numbers = (thermal.diffusivity, thermal.buoyancy, thermal.reference, thermal.operators, thermal.energy_coupling)
    return repr((*numbers, of_value(thermal.source, is_part)))


def of_value(value: Any, is_part: IsPart = lambda shape: False) -> str:
    """A text that is equal on two ranks if they were given equal values, or arrays each of its own part.

    Args:
        value: a number, an array, a function or None.
        is_part: tells whether an array of some shape is of the process's part of the domain.
    """
    if value is None:
        return "none"
    if isinstance(value, TimeFunction):
        return f"{value!r}"
    if isinstance(value, Varying):
        return f"{of_value(value.spatial, is_part)} times {value.function!r}"
    if callable(value):
        return "a function of time" if takes_time(value) else "a function"
    if is_on_gpu(value):
        return _of_foreign(value, is_part)
    try:
        array = checks.any_array("value", value, "an array of numbers")
    except (TypeError, ValueError):
        return _of_foreign(value, is_part)
    if array.dtype.kind not in "iuf" or array.size == 0:
        return _of_foreign(value, is_part)
    return "an array of the rank's part" if is_part(array.shape) else _of_array(array)


def _of_foreign(value: Any, is_part: IsPart) -> str:
    """The shape of an array in a GPU's memory, whose numbers are not compared. What is none is refused later, by its
    right name, if it is wrong on all ranks."""
    shape = getattr(value, "shape", None)
    if not is_on_gpu(value) or not isinstance(shape, tuple):
        return "wrong"
    return "an array of the rank's part" if is_part(shape) else f"an array on a GPU, {tuple(shape)}"


def _of_array(array: np.ndarray[Any, Any]) -> str:
    """Shape and digest of an array, as float64 if it holds numbers, taken piece by piece."""
    digest = hashlib.blake2b()
    dtype = np.dtype(np.bool_ if array.dtype == np.bool_ else np.float64)
    rows = array.reshape(1) if array.ndim == 0 else array
    step = max(1, checks.PIECE * len(rows) // max(1, rows.size))
    while rows.ndim > 1 and step == 1 and rows[0].size > checks.PIECE:  # components first
        rows = rows.reshape(-1, *rows.shape[2:]) if rows.flags.c_contiguous else rows
        step = max(1, checks.PIECE * len(rows) // max(1, rows.size))
        if not rows.flags.c_contiguous:
            break
    for at in range(0, len(rows), step):
        with np.errstate(over="ignore"):
            digest.update(np.ascontiguousarray(rows[at : at + step], dtype=dtype).data)
    return f"{dtype} {array.shape} {digest.hexdigest()}"
