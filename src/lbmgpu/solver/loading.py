"""The arguments of the solver of a checkpoint, of which each rank reads its part."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..collisions import Collision
from ..domain import Domain
from ..engine.settings import Settings
from ..parallel.processes import Processes


def arguments_of_file(
    path: Any,
    given: tuple[Domain | None, Collision | None, str | None],
    where: dict[str, Any],
    checked: Callable[..., Settings],
) -> dict[str, Any]:
    """The arguments of the solver of a checkpoint; all ranks call this together. See `Solver.load`.

    Args:
        path: of the checkpoint.
        given: domain, collision and state in place of those in the file.
        where: the arguments that say where it is computed, and others in place of the file's.
        checked: the settings of all of them.
    """
    from ..io import checkpoint  # with HDF5, which takes a while to be loaded

    domain, collision, state = given
    processes, subdomain = Processes.of(where["comm"]), None
    if processes.size > 1:  # each rank reads what lies in its part of the domain, which the layout tells
        settings = checked(**checkpoint.arguments_without_cells(path, domain, collision, processes, state) | where)
        subdomain = settings.subdomain if settings.subdomain.windows_differ else None
        if where["layout"] is not None or where["cpu_share"] is not None:  # what was measured is not measured again
            where = where | {"device": "auto", "layout": settings.layout, "cpu_share": 0}
    return checkpoint.arguments(path, domain, collision, processes, subdomain, state) | where
