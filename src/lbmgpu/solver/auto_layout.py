"""What ``"auto"`` of a solver becomes: of `layout` the one planned over its devices, of `cpu_share` the fastest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import checks
from ..collision_table import of_stencil
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
        periodic=_periodic(domain),
        **options,
    )
    return found.chosen(), "auto"


def share_of_cpu(
    domain: Domain,
    collision: Collision,
    layout: Layout,
    processes: Processes,
    *,
    thermal: bool,
    threads: int | None,
    precision: str,
    storage: str,
    streaming: str,
    state: str = "populations",
    **options: Any,
) -> float:
    """The share that ``cpu_share="auto"`` becomes; all ranks call this together.

    Args:
        domain, collision: of the solver; a `CustomCollision` is measured as what its stencil has first, see `planned`.
        layout: the blocks without a share.
        processes: the processes of the solver.
        thermal: whether the hybrid thermal model adds a temperature.
        threads, precision, storage, streaming, state: as for `Solver`.
        options: channel and schedule, as for `Solver`.
    """
    from ..planning import shares  # as above
    from ..planning.configuration import Configuration

    kind = of_stencil(domain.stencil)[0] if isinstance(collision, CustomCollision) else type(collision)
    configuration = Configuration(
        stencil=domain.stencil,
        collision=kind.__name__,
        precision=precision,
        storage=storage,
        streaming=streaming,
        flow="heated" if thermal else "periodic",
        state=state,
    )
    return shares.best_share(
        domain.shape, _periodic(domain), configuration, layout, processes, threads=threads, **options
    )


def _periodic(domain: Domain) -> list[bool]:
    """Of each axis, whether the domain is periodic."""
    return [isinstance(domain.faces["-" + axis], Periodic) for axis in "xyz"[: len(domain.shape)]]
