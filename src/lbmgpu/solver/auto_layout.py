"""What ``layout="auto"`` of a solver becomes: the layout that is planned over its devices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import checks
from ..collisions import Collision
from ..conditions import Periodic
from ..custom_collision import CustomCollision
from ..domain import Domain
from ..layout import Layout
from ..parallel.processes import Processes


def planned(
    domain: Domain, collision: Collision, device: Any, *, processes: Processes, **options: Any
) -> tuple[Layout | None, Any]:
    """The layout that is planned over the devices of all processes, and the argument `device` that goes with it.

    Args:
        domain, collision: of the solver; a `CustomCollision` is planned for as `BGK`. GPUs wait for the memory in
            updates of both, unless it computes several times as much; a CPU may be slower than planned.
        device: as for `Solver`; one device of one process gets one block.
        processes: of the solver, which call this together.
        options: those of `plan` that a solver has too.
    """
    from ..planning import planner  # imported here, as most solvers need no plan and it takes a while to load

    one = isinstance(device, str) or not isinstance(device, Sequence)
    names = processes.each(lambda: [device] if one else checks.listed("device", device, "names of devices"))
    if len(names) == 1 and processes.size == 1:
        return None, names[0]
    found = planner.plan(
        domain.shape,
        domain.stencil,
        names,
        collision=None if isinstance(collision, CustomCollision) else type(collision).__name__,
        comm=processes,
        periodic=[isinstance(domain.faces["-" + axis], Periodic) for axis in "xyz"[: len(domain.shape)]],
        **options,
    )
    return found.chosen(), "auto"
