"""Checks a solver's arguments, each and together, before anything is allocated, and makes the engine from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import _core, checks, models
from ..collision_table import COLLISIONS, check_pair
from ..collisions import Collision
from ..conditions import Isothermal, Periodic
from ..custom_collision import CustomCollision
from ..domain import Domain, unchanging
from ..layout import Layout, check_layout, engine_blocks
from ..models import PRECISIONS, STORAGES, STREAMINGS
from ..parallel import consistency, devices, exchange, kernel_cache, placement
from ..parallel.processes import Cut, Processes, layout_over
from ..parallel.staged_exchange import warn_of_staging
from ..parallel.subdomain import Subdomain
from ..thermal import HybridThermal
from ..turbulence import GradientModel, combined
from . import argument_warnings, cpu_share as cpu_share_of
from .boundary import BoundaryValues
from .kept_state import AUTO, check_moments, check_state, obstacle, steps_per_update, streaming_of
from .memory import check_memory, extra_bytes_per_cell, moment_bytes, moment_force_bytes
from .turning_bodies import with_turning_walls

MAX_THREADS = 4096
CELLS_PER_THREAD = 4096
"""With fewer cells a thread, threads would take longer to wait for each other than to update cells."""

ShareFound = Callable[..., float]
"""Gives the CPU's share for a domain, a collision, a layout, the processes and more options of `Solver`."""

Planned = Callable[..., tuple[Layout | None, Any]]
"""Gives the layout and `device` for a domain, a collision, the argument `device`, processes and more options of
`Solver`."""

CutFor = Callable[[str, str, str, bool, str], Cut]
"""Gives the cut without a layout for a stencil, a storage, whether there is a hybrid thermal model, and a state."""


@dataclass(frozen=True)
class Settings:
    """The checked arguments of a solver."""

    domain: Domain
    collision: Collision
    precision: str
    storage: str
    streaming: str
    devices: tuple[str, ...]
    threads: int
    layout: Layout | None
    processes: Processes
    subdomain: Subdomain
    thermal: HybridThermal | None = None
    channel: str = ""
    """The channel that is forced on all links between blocks; empty for the engine's choice."""
    schedule: str = ""
    """The schedule that is forced on the exchange; empty for the engine's choice."""
    turbulence: GradientModel | None = None
    """A model of velocity gradients; the constant of the Smagorinsky model is in the collision."""
    state: str = "populations"
    """What a cell keeps from step to step, ``"populations"`` or ``"moments"``."""
    not_moments: str = ""
    """What does not go with moments, in words, where it was the reason to choose populations."""

    def check_memory(self, *, force_field: bool = False, scaled_force: bool = False) -> None:
        """Raise ValueError if the solver would not fit the device's memory; a `force_field` is a force a cell, and a
        `scaled_force` one times a function of time."""
        domain, source = self.domain, None if self.thermal is None else self.thermal.source
        extra_bytes = extra_bytes_per_cell(
            len(domain.shape),
            self.precision,
            bodies=len(domain.bodies) > 0,
            force_field=force_field,
            scaled_force=scaled_force,
            moving_bodies=any(hasattr(body.condition, "velocity") for body in domain.bodies.values()),
            heated_bodies=any(isinstance(body.thermal, Isothermal) for body in domain.bodies.values()),
            source_field=callable(source) or (source is not None and np.ndim(source) > 0),
        )
        if self.state == "moments":
            walled = [face for face, condition in domain.faces.items() if not isinstance(condition, Periodic)]
            blocks = self.devices if self.layout is None else [block.device for block in self.layout]
            more = moment_bytes(domain.stencil, domain.shape, walled, self.threads, on_cpu="cpu" in blocks)
            if force_field:
                steps = steps_per_update(self.state, domain.stencil)
                more += moment_force_bytes(domain.shape, self.precision, steps, scaled=scaled_force)
            extra_bytes += -(-more // domain.cells)
        check_memory(
            domain.stencil,
            domain.shape,
            self.precision,
            self.storage,
            self.streaming,
            extra_bytes,
            device=self.devices[0],
            layout=self.layout,
            processes=self.processes,
            thermal=self.thermal is not None,
            keeps_velocity=self.turbulence is not None,
            sponges=[(list(domain.faces).index(sponge.face), sponge.thickness) for sponge in domain.sponges],
            takes_strain=self.collision.takes_strain,
            state=self.state,
        )

    def _collision_arguments(self, stencil: _core.Stencil) -> dict[str, Any]:
        """The collision as the engine takes it; one of the user's is compiled for the devices of each rank first.

        Raises:
            CompileError, ValueError: its text or its parameters are wrong, on any rank.
        """
        if not isinstance(self.collision, CustomCollision):
            return {"collision": self.collision.kind, **self.collision.parameters(stencil)}
        custom, given = self.collision.engine_text(), self.collision.parameters(stencil)
        kernels: dict[str, Any] = {"precision": self.precision, "storage": self.storage}
        kernels |= {"stencil": stencil.name, "thermal": self.thermal is not None}

        def made() -> list[list[float]]:
            return [_core.custom_numbers(custom, given, device=device, **kernels) for device in self.devices]

        kernel_cache.warn_if_refused()
        if self.processes.size > 1:  # what the first rank of a host compiles the others find
            self.processes.each(lambda: made() if self.processes.node_rank == 0 else [])
        own = self.processes.each(made)
        rows = [row for rank in self.processes.shared([list(self.devices), own]) for row in zip(*rank, strict=True)]
        for device, row in rows:
            if row != rows[0][1]:
                raise ValueError(
                    f"collision: the function 'parameters' of {self.collision.name!r} makes {rows[0][1]} on "
                    f"{rows[0][0]} and {row} on {device}, must make the same everywhere: use + - * / and square_root"
                )
        return {"collision": "", "custom": custom | {"numbers": rows[0][1]}}

    def engine(self, boundary: BoundaryValues) -> _core.Engine:
        """A new engine, at rest."""
        domain, stencil = self.domain, _core.stencil(self.domain.stencil)
        thermal = None
        if self.thermal is not None:
            thermal = self.thermal.parameters(stencil) | {"faces": thermal_faces(domain)}
            del thermal["reference"]  # the engine takes all temperatures as deviations from it
        own = self._collision_arguments(stencil)
        if models.of(domain.stencil).carries_temperature:
            own["thermal_faces"] = thermal_faces(domain)
        engine = _core.Engine(
            stencil=domain.stencil,
            shape=domain.shape,
            precision=self.precision,
            storage=self.storage,
            streaming=self.streaming,
            faces=[condition.engine_name for condition in domain.faces.values()],
            device=self.devices[0],
            threads=self.threads,
            blocks=engine_blocks(self.layout),
            channel=self.channel,
            schedule=self.schedule,
            comm=self.processes.engine,
            thermal=thermal,
            turbulence=None if self.turbulence is None else self.turbulence.record(),
            state=self.state,
            **own,
        )
        boundary.apply(engine)
        if len(self.layout or ()) > 1:  # collective: the ranks set up their links together
            warn_of_staging(engine.layout, engine.links, self.channel)
        return engine


def check_settings(
    domain: Any,
    collision: Any,
    *,
    force: Any = None,
    precision: Any = "float32",
    storage: Any = None,
    streaming: Any = None,
    device: Any = "auto",
    layout: Any = None,
    comm: Any = None,
    threads: Any = None,
    thermal: Any = None,
    channel: Any = None,
    schedule: Any = None,
    planned: Planned | None = None,
    cut_for: CutFor | None = None,
    cpu_share: Any = None,
    share_found: ShareFound | None = None,
    turbulence: Any = None,
    state: Any = "populations",
) -> Settings:
    """The settings, or the TypeError or ValueError that says which argument is wrong, on all ranks of `comm`.

    The `force` is only compared among them, and refused where the stencil takes none. What ``layout="auto"`` becomes
    is up to `planned`, and ``cpu_share="auto"`` up to `share_found`; without those there is none. How several ranks
    cut a domain without a layout is up to `cut_for`.
    """
    processes, given = Processes.of(comm), domain
    domain = processes.each(lambda: with_turning_walls(given) if isinstance(given, Domain) else given)

    def each_by_itself() -> tuple[tuple[str, str, str], str, str]:
        own_streaming = streaming
        if check_state(state) == "moments" and isinstance(domain, Domain):
            own_streaming = streaming_of(state, streaming, domain.stencil)
        numbers = check_values(domain, collision, force, precision, storage, own_streaming, thermal)
        with_constant, of_gradients = combined(collision, turbulence)
        kept, reason = state, ""
        if state == "moments":
            check_moments(domain, with_constant, *numbers[:2], thermal, of_gradients)
        elif state == AUTO:
            reason = obstacle(domain, with_constant, *numbers[:2], thermal, of_gradients)
            kept = "populations" if reason else "moments"
            numbers = (*numbers[:2], streaming_of(kept, streaming, domain.stencil))
        exchange.check("channel", channel)
        exchange.check("schedule", schedule)
        return numbers, kept, reason

    (precision, storage, streaming), state, not_moments = processes.each(each_by_itself)
    collision, model = combined(collision, turbulence)
    numbers = {"precision": precision, "storage": storage, "streaming": streaming}
    forced = {"channel": channel, "schedule": schedule}
    is_auto = planned is not None and isinstance(layout, str) and layout == "auto"
    is_thermal = thermal is not None
    consistency.check_setup(
        processes,
        domain,
        collision,
        **numbers,
        **forced,
        thermal=is_thermal,
        planned=is_auto,
        turbulence=model,
        state=state,
    )  # before the checks that need the shape
    if planned is not None and is_auto:
        options = {**numbers, **forced, "threads": threads, "thermal": is_thermal, "processes": processes}
        options |= {"turbulence": model, "hybrid": getattr(collision, "hybrid", None), "state": state}
        layout, device = planned(domain, collision, device, **options)
    layout = processes.each(lambda: check_layout(layout, domain.shape))  # it may be a file that one rank cannot read
    share = cpu_share_of.agreed(processes, cpu_share, layout)
    consistency.check_blocks(processes, layout)
    cut = None if cut_for is None else cut_for(domain.stencil, storage, streaming, is_thermal, state)
    layout, chosen = check_devices(device, layout, domain.shape, processes, cut)
    if threads is None:
        threads = max(1, min(processes.threads, domain.cells // processes.size // CELLS_PER_THREAD))
    threads = processes.each(lambda: checks.integer("threads", threads, at_least=1, at_most=MAX_THREADS))

    def best_share(whole: Layout) -> float:
        options = {**numbers, **forced, "threads": threads, "thermal": is_thermal, "state": state}
        return 0.0 if share_found is None else share_found(domain, collision, whole, processes, **options)

    layout, chosen = cpu_share_of.blocks(share, layout, domain.shape, chosen, processes.rank, best_share)
    subdomain = Subdomain.of(domain, layout, processes.rank, processes.size)
    consistency.check_fields(processes, given, subdomain.is_part, force, thermal)
    check_periodic(domain)
    argument_warnings.warn_of_threads(threads)
    numbers_and_devices = (precision, storage, streaming, chosen, threads)
    collision = collision.without_defaults(_core.stencil(domain.stencil))
    own = [exchange.forced(name, word) for name, word in forced.items()]
    words = processes.shared(own)[0]  # of the first rank: some launchers pass no environment on to others
    of_domain = (layout, processes, subdomain, thermal)
    channel, schedule = words
    return Settings(
        unchanging(domain),
        collision,
        *numbers_and_devices,
        *of_domain,
        channel,
        schedule,
        turbulence=model,
        state=state,
        not_moments=not_moments,
    )


def check_values(
    domain: Any, collision: Any, force: Any, precision: Any, storage: Any, streaming: Any, thermal: Any
) -> tuple[str, str, str]:
    """Precision, storage and streaming, those that are None by default, or TypeError or ValueError.

    The `force` is only refused where the stencil takes none.
    """
    _check_domain(domain, collision)
    numbers = _checked_numbers(domain.stencil, precision, storage, streaming)
    check_thermal(thermal, domain, numbers[1])
    models.check_domain(domain, force, thermal=thermal is not None)
    return numbers


def _check_domain(domain: Any, collision: Any) -> None:
    """Raise TypeError or ValueError unless they are a domain and a collision that suits it."""
    if not isinstance(domain, Domain):
        raise TypeError(f"domain: {checks.shown(domain)} given, must be a Domain")
    check_collision(collision)
    check_pair(domain.stencil, type(collision))
    collision.check(_core.stencil(domain.stencil))


def check_collision(collision: Any) -> None:
    """Raise TypeError unless it is a collision."""
    if not isinstance(collision, Collision):
        hint = " (a value such as BGK(0.1), not the class)" if isinstance(collision, type) else ""
        right = checks.alternatives([*COLLISIONS, CustomCollision.__name__])
        raise TypeError(f"collision: {checks.shown(collision)} given, must be {right}{hint}")


def _checked_numbers(stencil: str, precision: Any, storage: Any, streaming: Any) -> tuple[str, str, str]:
    """Precision, storage and streaming, those that are None by default, or TypeError or ValueError."""
    if isinstance(precision, str) and precision == "float16":
        raise ValueError(f"precision: 'float16' is for storage only; use storage='float16' with one of {PRECISIONS}")
    precision = checks.choice("precision", precision, PRECISIONS)
    storage, streaming = check_storage(storage, precision), check_streaming(streaming, stencil)
    models.check_numbers(stencil, precision, storage, streaming)
    return precision, storage, streaming


def check_devices(
    device: Any, layout: Layout | None, shape: tuple[int, ...], processes: Processes, cut: Cut | None = None
) -> tuple[Layout | None, tuple[str, ...]]:
    """The layout with a rank and a device for each block, and the devices of this process, each once; or TypeError or
    ValueError.

    A list of devices makes a layout over them, and so do those of all ranks, by `cut`; beside a layout a device can
    only say again what all blocks of the process are on.
    """
    if layout is None:
        one = isinstance(device, str) or not isinstance(device, Sequence)

        def resolved() -> list[str]:
            given = [device] if one else checks.listed("device", device, "names of devices")
            if not given:
                raise ValueError("device: an empty list given, must hold one device at least")
            return [devices.resolve(name, processes.node_rank) for name in given]

        names = processes.each(resolved)
        count = int(sum(processes.shared(len(names))))
        if processes.size == 1 and count > max(shape):
            raise ValueError(f"device: {count} devices given, more than cells along any axis of {shape}")
        planned = None if one and processes.size == 1 else layout_over(processes, shape, names, cut)
        return planned, tuple(dict.fromkeys(names))
    layout = placement.placed(layout, processes, device)
    placed = tuple(dict.fromkeys(block.device for block in layout if block.rank == processes.rank))

    def own() -> None:
        same = {"auto", placed[0], placed[0].split(":")[0]} if len(placed) == 1 else {"auto"}  # "cuda" of one GPU
        if placed and not (isinstance(device, str) and device in same):
            where = ", ".join(placed)
            raise ValueError(f"device: {checks.shown(device)} given beside a layout on {where}, must be left out")

    processes.each(own)
    return layout, placed


def check_storage(storage: Any, precision: str) -> str:
    """The storage for a `precision`, that itself if None; or TypeError or ValueError."""
    chosen = precision if storage is None else checks.choice("storage", storage, STORAGES)
    if STORAGES.index(chosen) > STORAGES.index(precision):
        raise ValueError(f"storage: {chosen!r} given, must not be wider than the precision, {precision!r}")
    return chosen


def check_streaming(streaming: Any, stencil: str) -> str:
    """The streaming, that of the `stencil` if None; or TypeError or ValueError."""
    return models.default_streaming(stencil) if streaming is None else checks.choice("streaming", streaming, STREAMINGS)


def check_thermal(thermal: Any, domain: Domain, storage: str) -> None:
    """Raise TypeError or ValueError unless it is a model of the temperature, or None, that suits domain and storage."""
    if models.of(domain.stencil).carries_temperature:
        if thermal is not None:
            raise ValueError(
                f"thermal: {checks.shown(thermal)} given with {domain.stencil}, must be None: with ThermalBGK the "
                "temperature is a moment of the populations"
            )
        _check_warm_faces(domain)
        return
    conditions = {f"thermal[{face!r}]": condition for face, condition in domain.thermal.items()}
    conditions |= {f"thermal of body {name!r}": body.thermal for name, body in domain.bodies.items()}
    named = [name for name, condition in conditions.items() if isinstance(condition, Isothermal)]
    if thermal is None:
        if named:
            raise ValueError(f"thermal: None given, but {', '.join(named)} is Isothermal; must be HybridThermal(...)")
        return
    if not isinstance(thermal, HybridThermal):
        hint = " (a value such as HybridThermal(0.05), not the class)" if isinstance(thermal, type) else ""
        raise TypeError(f"thermal: {checks.shown(thermal)} given, must be HybridThermal(...) or None{hint}")
    thermal.check(_core.stencil(domain.stencil))
    storages = models.of(domain.stencil, thermal=True).storages()
    if storage not in storages:
        right = checks.alternatives([repr(name) for name in storages])
        raise ValueError(f"storage: {storage!r} given with thermal, must be {right}")
    if domain.sponges and thermal.energy_coupling != 0:
        raise ValueError(
            f"energy_coupling: {thermal.energy_coupling:g} given in a domain with sponges, must be 0: a sponge would "
            "damp the pressure of the temperature"
        )
    for sponge in domain.sponges:
        if sponge.velocity is not None:
            thermal.check_speed(f"velocity of the sponge before {sponge.face}", np.array(sponge.velocity))
    _check_warm_faces(domain)


def _check_warm_faces(domain: Domain) -> None:
    for face, condition in domain.thermal.items():
        if isinstance(condition, Isothermal) and isinstance(domain.faces[face], Periodic):
            raise ValueError(
                f"thermal[{face!r}]: Isothermal given on a face that is Periodic, must be on "
                f"another: set domain.faces[{face!r}], to NoSlip() for instance"
            )


def thermal_faces(domain: Domain) -> list[str]:
    """The condition of the temperature on each face as the engine names it."""
    pairs = zip(domain.faces.values(), domain.thermal.values(), strict=True)
    return [flow.kind if isinstance(flow, Periodic) else heat.kind for flow, heat in pairs]


def check_periodic(domain: Domain) -> None:
    """Raise ValueError where one face of an axis is periodic and the other is not."""
    for axis in "xyz"[: len(domain.shape)]:
        low, high = domain.faces["-" + axis], domain.faces["+" + axis]
        if isinstance(low, Periodic) != isinstance(high, Periodic):
            raise ValueError(
                f"faces: '-{axis}' is {type(low).__name__} and '+{axis}' is {type(high).__name__}, "
                "must both be Periodic or neither"
            )
