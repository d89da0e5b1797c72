"""A solver's arguments, checked one by one and together before anything is allocated, and the engine made of them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from . import _core, agreement, checks, devices
from .boundary import BoundaryValues
from .collisions import Collision
from .conditions import Periodic
from .domain import Domain
from .layout import Layout, check_layout, engine_blocks
from .memory import bytes_beside, check_memory
from .processes import Processes, layout_over
from .staging import warn_of_staging

PRECISIONS = ("float32", "float64")
STORAGES = ("float16", "float32", "float64")
STREAMINGS = ("in-place", "two-lattice")
MAX_THREADS = 4096
CELLS_PER_THREAD = 4096
"""Fewer cells a thread would take less time to update than the threads take to wait for each other."""


@dataclass(frozen=True)
class Settings:
    """What a solver is set up with, all checked."""

    domain: Domain
    collision: Collision
    precision: str
    storage: str
    streaming: str
    devices: tuple[str, ...]
    threads: int
    layout: Layout | None
    processes: Processes

    def check_memory(self, *, force_field: bool = False) -> None:
        """Raise ValueError if the solver would not fit the device's memory; a `force_field` is a force a cell."""
        domain = self.domain
        moving = any(hasattr(body.condition, "velocity") for body in domain.bodies.values())
        beside = bytes_beside(len(domain.shape), self.precision, force_field=force_field, moving_bodies=moving)
        check_memory(
            domain.stencil,
            domain.shape,
            self.precision,
            self.storage,
            self.streaming,
            beside,
            device=self.devices[0],
            layout=self.layout,
            processes=self.processes,
        )

    def engine(self, boundary: BoundaryValues) -> _core.Engine:
        """A new engine, at rest."""
        domain = self.domain
        wanted = [os.environ.get(name, "") for name in ("LBMGPU_CHANNEL", "LBMGPU_SCHEDULE")]
        channel, schedule = self.processes.shared(wanted)[0]  # some launchers pass no environment on
        engine = _core.Engine(
            stencil=domain.stencil,
            shape=domain.shape,
            collision=self.collision.kind,
            precision=self.precision,
            storage=self.storage,
            streaming=self.streaming,
            faces=[condition.kind for condition in domain.faces.values()],
            device=self.devices[0],
            threads=self.threads,
            blocks=engine_blocks(self.layout),
            channel=channel,
            schedule=schedule,
            comm=self.processes.engine,
            **self.collision.parameters(_core.stencil(domain.stencil)),
        )
        boundary.apply(engine)
        if len(self.layout or ()) > 1:  # on all ranks: they make their links together
            warn_of_staging(engine.layout, engine.links, channel, stacklevel=3)  # of who makes the solver
        return engine


def check_settings(
    domain: Any,
    collision: Any,
    *,
    force: Any,
    precision: Any,
    storage: Any,
    streaming: Any,
    device: Any,
    layout: Any,
    comm: Any,
    threads: Any,
) -> Settings:
    """The settings, or the TypeError or ValueError that says which argument is wrong, on all ranks of `comm`.

    The `force` is only compared among them.
    """
    processes = Processes.of(comm)

    def each_by_itself() -> tuple[str, str, str]:
        _check_domain(domain, collision)
        if isinstance(layout, str) and layout == "auto":
            check_alone(processes)
        return _checked_numbers(precision, storage, streaming)

    precision, storage, streaming = processes.each(each_by_itself)
    numbers = {"precision": precision, "storage": storage, "streaming": streaming}
    agreement.check_setup(processes, domain, collision, force, **numbers)  # before anything depends on the shape
    if isinstance(layout, str) and layout == "auto":
        layout, device = _planned(domain, collision, precision, storage, streaming, device, threads)
    layout = processes.each(lambda: check_layout(layout, domain.shape))  # it may be a file that one rank cannot read
    agreement.check_blocks(processes, layout)
    layout, chosen = check_devices(device, layout, domain.shape, processes)
    if threads is None:
        threads = max(1, min(processes.threads, domain.cells // processes.size // CELLS_PER_THREAD))
    threads = processes.each(lambda: checks.integer("threads", threads, at_least=1, at_most=MAX_THREADS))
    _check_periodic(domain)
    return Settings(domain.copy(), collision, precision, storage, streaming, chosen, threads, layout, processes)


def _check_domain(domain: Any, collision: Any) -> None:
    """Raise TypeError or ValueError unless they are a domain and a collision that suits it."""
    if not isinstance(domain, Domain):
        raise TypeError(f"domain: {checks.shown(domain)} given, must be a Domain")
    if not isinstance(collision, Collision):
        hint = " (a value such as BGK(0.1), not the class)" if isinstance(collision, type) else ""
        raise TypeError(f"collision: {checks.shown(collision)} given, must be BGK, TRT, MRT or Regularized{hint}")
    collision.check(_core.stencil(domain.stencil))


def _checked_numbers(precision: Any, storage: Any, streaming: Any) -> tuple[str, str, str]:
    """Precision, storage and streaming, or TypeError or ValueError."""
    if precision == "float16":
        raise ValueError(f"precision: 'float16' is for storage only; use storage='float16' with one of {PRECISIONS}")
    precision = checks.choice("precision", precision, PRECISIONS)
    return precision, check_storage(storage, precision), checks.choice("streaming", streaming, STREAMINGS)


def check_devices(
    device: Any, layout: Layout | None, shape: tuple[int, ...], processes: Processes
) -> tuple[Layout | None, tuple[str, ...]]:
    """The layout and the devices of this process, each once; or TypeError or ValueError.

    A list of devices makes a layout over them, and so do those of all ranks; beside a layout a device can only say
    again what all blocks of the process are on.
    """
    if layout is None:
        one = isinstance(device, str) or not isinstance(device, Sequence)
        given = [device] if one else device

        def resolved() -> list[str]:
            if not given:
                raise ValueError("device: an empty list given, must hold one device at least")
            return [devices.resolve(name, processes.node_rank) for name in given]

        names = processes.each(resolved)
        count = int(sum(processes.shared(len(names))))
        if count > max(shape):
            raise ValueError(f"device: {count} devices given, more than cells along any axis of {shape}")
        planned = None if one and processes.size == 1 else layout_over(processes, shape, names)
        return planned, tuple(dict.fromkeys(names))
    placed = tuple(dict.fromkeys(block.device for block in layout if block.rank == processes.rank))

    def own() -> tuple[str, ...]:
        same = {"auto", placed[0], placed[0].split(":")[0]} if len(placed) == 1 else {"auto"}  # "cuda" of one GPU
        if placed and not (isinstance(device, str) and device in same):
            where = ", ".join(placed)
            raise ValueError(f"device: {checks.shown(device)} given beside a layout on {where}, must be left out")
        return tuple(devices.resolve(name) for name in placed)

    return layout, processes.each(own) or ("cpu",)  # a rank without a block is refused with the layout by the engine


def _planned(
    domain: Domain,
    collision: Collision,
    precision: str,
    storage: str,
    streaming: str,
    device: Any,
    threads: Any,
) -> tuple[Layout | None, Any]:
    """The layout that is planned over the devices, and what is then left as the argument `device`."""
    from .planner import plan  # which itself makes solvers

    names = [device] if isinstance(device, str) or not isinstance(device, Sequence) else list(device)
    if len(names) == 1:
        return None, names[0]
    found = plan(
        domain.shape,
        domain.stencil,
        names,
        collision=type(collision).__name__,
        precision=precision,
        storage=storage,
        streaming=streaming,
        periodic=[isinstance(domain.faces["-" + axis], Periodic) for axis in "xyz"[: len(domain.shape)]],
        threads=threads,
    )
    return found.chosen(), "auto"


def check_alone(processes: Processes) -> None:
    """Raise ValueError unless there is one process: what layout 'auto' plans for."""
    if processes.size > 1:
        raise ValueError("layout: 'auto' plans for one process; with comm give a Layout or the path of one")


def check_storage(storage: Any, precision: str) -> str:
    """The storage for a `precision`, that itself if None; or TypeError or ValueError."""
    chosen = precision if storage is None else checks.choice("storage", storage, STORAGES)
    if STORAGES.index(chosen) > STORAGES.index(precision):
        raise ValueError(f"storage: {chosen!r} given, must not be wider than the precision, {precision!r}")
    return chosen


def _check_periodic(domain: Domain) -> None:
    for axis in "xyz"[: len(domain.shape)]:
        low, high = domain.faces["-" + axis], domain.faces["+" + axis]
        if isinstance(low, Periodic) != isinstance(high, Periodic):
            raise ValueError(
                f"faces: '-{axis}' is {type(low).__name__} and '+{axis}' is {type(high).__name__}, "
                "must both be Periodic or neither"
            )
