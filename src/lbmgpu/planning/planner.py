"""Plans the layout of a domain over devices: predicts the step of every sensible tiling and takes the fastest."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from .. import checks, models
from ..collision_table import COLLISIONS, check_pair, of_stencil
from ..collisions import RecursiveRegularized
from ..conditions import NoSlip
from ..domain import Domain
from ..engine import kept_state
from ..engine.settings import MAX_THREADS, check_storage, check_streaming, check_thermal
from ..layout import AUTO, Block, Layout, check_cpu_share
from ..models import PRECISIONS
from ..parallel import consistency, devices as device_names, exchange
from ..parallel.cuts import cuts
from ..parallel.processes import Processes
from ..turbulence import Smagorinsky, TurbulenceModel, bytes_per_update
from . import shares
from .arrangement import arrangements
from .configuration import HEAT, VISCOSITY, Configuration, problem_of
from .cost_model import Device, Machine, Prediction, Problem, Tiling, Vector, has_interiors, predict, rank_of
from .job import measure_job
from .machine import measure_machine, step_seconds

ALIKE = 1.05
"""Devices whose speeds differ by less than this factor get equal parts: measuring is no more exact."""

TRIED = 4
"""Candidates that are run where the fastest is to be found by measuring."""


@dataclass(frozen=True)
class Candidate:
    """A tiling and what the model says of it.

    Attributes:
        tiling: of the domain.
        prediction: by the model; its efficiency is of all devices of the plan.
        devices: that get the blocks, in order: those of the plan, or the fastest of them.
    """

    tiling: Tiling
    prediction: Prediction
    devices: tuple[Device, ...]


@dataclass(frozen=True)
class Plan:
    """The layout that should be the fastest, and the others that were looked at; `str` of it is a table.

    Attributes:
        problem: what is computed.
        machine: what the predictions are for.
        candidates: fastest first.
        configuration: stencil, collision, numbers and streaming, and whether there is a temperature; its size does not
            matter.
        threads: of the CPU; None for all.
        alternatives: over devices of unequal speed, those of the candidates in which the slower ones get about half of
            what the model gives them, and nothing; the best of each.
        channel, schedule: as for `Solver`.
        processes: of the job that it was made in.
        cpu_share: part of each GPU's cells that the layouts give to the CPU beside it; the model knows nothing of it.
    """

    problem: Problem
    machine: Machine
    candidates: tuple[Candidate, ...]
    configuration: Configuration
    threads: int | None = None
    alternatives: tuple[Candidate, ...] = ()
    channel: str | None = None
    schedule: str | None = None
    processes: Processes = field(default_factory=Processes, repr=False, compare=False)
    cpu_share: float = 0.0

    @property
    def layout(self) -> Layout:
        """The best one, as a solver takes it and `Layout.save` writes it."""
        return self.layout_of(self.candidates[0])

    @property
    def step_seconds(self) -> float:
        """Predicted, of the best."""
        return self.candidates[0].prediction.step_seconds

    @property
    def mlups(self) -> float:
        """Million cell updates a second, predicted, of the best."""
        return self.candidates[0].prediction.mlups

    @property
    def efficiency(self) -> float:
        """Part of the devices' update speeds together, predicted, of the best."""
        return self.candidates[0].prediction.efficiency

    def layout_of(self, candidate: Candidate) -> Layout:
        """The layout of one of the candidates, with the rank of every block, and its host where that is known."""
        tiling, hosts = candidate.tiling, self.machine.hosts
        return Layout(
            Block(
                tiling.offset(place),
                tiling.size(place),
                device.process,
                device.name,
                hosts[device.host] if hosts else None,
            )
            for place, device in zip(tiling.places(), candidate.devices, strict=True)
        ).with_cpu_share(self.cpu_share)

    def measure(self, candidate: Candidate, seconds: float = 0.2) -> float:
        """Million cell updates a second of a solver with that layout, in about three times `seconds` of steps. In a job
        all ranks call this together, and `fastest` and `measured`.

        Raises:
            ValueError: memory that does not suffice.
            CudaError: a GPU cannot be used.
        """
        domain = Domain(self.problem.shape, self.configuration.stencil)
        for axis, around in zip("xyz", self.problem.periodic, strict=False):
            if not around:
                domain.faces["-" + axis] = domain.faces["+" + axis] = NoSlip()
        layout = self.layout_of(candidate)
        options: dict[str, Any] = {"threads": self.threads, "channel": self.channel, "schedule": self.schedule}
        options["comm"] = self.processes
        step = step_seconds(domain, self.configuration, seconds=seconds, layout=layout, **options)
        return self.problem.cells / step / 1e6

    def tried(self) -> tuple[Candidate, ...]:
        """The candidates worth measuring: the first by the model, and the alternatives to it."""
        return tuple(dict.fromkeys([*self.candidates[:TRIED], *self.alternatives]))

    def chosen(self) -> Layout:
        """The layout of ``layout="auto"``: the best by the model; over devices of unequal speed the `fastest`.

        The model is accurate to a few percent, and a CPU in addition to a GPU gains less than that.

        Raises:
            ValueError, CudaError: see `fastest`.
        """
        return self.layout_of(self.fastest()) if self.alternatives else self.layout

    def fastest(self, seconds: float = 0.2) -> Candidate:
        """The fastest of `tried` when measured, which takes three times `seconds` for each, and their setup.

        One that does not fit the memory is passed over.

        Raises:
            ValueError: none fits the memory.
            CudaError: a GPU cannot be used.
        """
        speeds, refused = self.measured(seconds)
        if not speeds:
            raise next(iter(refused.values()))
        return max(speeds, key=lambda candidate: speeds[candidate])

    def measured(self, seconds: float = 0.2) -> tuple[dict[Candidate, float], dict[Candidate, ValueError]]:
        """The speeds of `tried`, as `measure` gives them, and why the others have none: they do not fit the memory."""
        speeds: dict[Candidate, float] = {}
        refused: dict[Candidate, ValueError] = {}
        for candidate in self.tried():
            try:
                speeds[candidate] = self.measure(candidate, seconds)
            except ValueError as error:
                refused[candidate] = error
        return speeds, refused

    def row(self, candidate: Candidate, measured: float | None = None) -> str:
        """A line of the table, with the speed that was `measured` if it was."""
        found = candidate.prediction
        sizes = " ".join(map(_short, candidate.tiling.sizes))
        line = (
            f"{'x'.join(map(str, candidate.tiling.parts)):<10}{sizes:<26}{1e6 * found.update_seconds:>11.1f}"
            f"{1e6 * found.exchange_seconds:>13.1f}{1e6 * found.step_seconds:>11.1f}{found.mlups:>11.1f}"
            f"{found.efficiency:>8.3f}"
        )
        return line if measured is None else f"{line}{measured:>11.1f}"

    def __str__(self) -> str:
        return "\n".join([HEADER, *(self.row(candidate) for candidate in self.candidates)])


HEADER = (
    f"{'parts':<10}{'cells along each axis':<26}{'update us':>11}{'exchange us':>13}{'step us':>11}{'MLUPS':>11}"
    f"{'effic.':>8}"
)


def machine_lines(machine: Machine) -> list[str]:
    """A line for each device and each link."""
    lines = [
        f"{_named(machine, device)}: {device.speed / 1e9:.1f} GB/s in updates, {1e6 * device.fixed:.1f} us a step and "
        f"{1e9 * device.a_row:.1f} ns a row in addition"
        for device in dict.fromkeys(machine.devices)
    ]
    links = [(f"{source} to {target}", link) for (source, target), link in machine.pairs.items()]
    words = {"ranks": "of two ranks of a host", "network": "of two hosts"}
    between = {(way, *sorted(ends)): link for (way, *ends), link in machine.ways.items()}
    links += [(f"{one} to {other}, {words[way]}", link) for (way, one, other), link in between.items()]
    for name, link in links:
        across = "" if link.x_fraction == 1 else f"across x {link.x_fraction:.2f} of that, "
        lines.append(
            f"{name} ({link.kind}): {link.bandwidth / 1e9:.1f} GB/s, {across}{1e6 * link.latency:.1f} us an exchange"
        )
    return lines


def _named(machine: Machine, device: Device) -> str:
    """The name of a device, with its rank and host where there are several ranks."""
    if all(other.process == device.process for other in machine.devices):
        return device.name
    return f"rank {device.process}, {device.name}" + (f" of {machine.hosts[device.host]}" if machine.hosts else "")


def plan(
    shape: Sequence[int],
    stencil: str = "D3Q19",
    devices: str | Sequence[str] | None = None,
    *,
    collision: str | None = None,
    precision: str = "float32",
    storage: str | None = None,
    streaming: str | None = None,
    periodic: Sequence[bool] | None = None,
    threads: int | None = None,
    machine: Machine | None = None,
    thermal: bool = False,
    turbulence: TurbulenceModel | None = None,
    hybrid: float | None = None,
    channel: str | None = None,
    schedule: str | None = None,
    comm: Any = None,
    cpu_share: float | str | None = None,
    state: str = "populations",
) -> Plan:
    """Measure the devices and the links between them, predict the step of every tiling, and choose; see `cost_model`.

    Every way to cut the domain into as many boxes as there are devices, as equal as can be; over devices of unequal
    speed also layers across one axis in proportion to the speeds, layers in which the slower ones get half of that, and
    all without the slower ones, which may cost more than they bring.

    Args:
        shape: of the domain.
        stencil: its name.
        devices: names, one for each block; all GPUs if None, or the CPU where there is none. With `comm` those of the
            rank; its own GPU, or the CPU, if None.
        collision: name of its class, which matters on a CPU; if None ``"BGK"``, of D2Q37 ``"ThermalBGK"``, of moments,
            and where ``state="auto"`` can be these, ``"Regularized"``.
        precision, storage, streaming: as for `Solver`.
        periodic: of each axis, whether the domain is; all if None.
        threads: of the CPU; None for all.
        machine: speeds that are known; then nothing is measured, and its devices are those of the blocks.
        thermal: whether the hybrid thermal model adds a temperature to the flow.
        turbulence: as for `Solver`.
        hybrid: of `RecursiveRegularized`.
        channel, schedule: as for `Solver`.
        comm: an mpi4py communicator, whose ranks call this together, with the same arguments but for `devices`, and get
            the same plan: of the devices of all of them, measured at the same time, and the links between them.
        cpu_share: as for `Solver`: part of each GPU's cells that the CPU gets beside it in all layouts, or ``"auto"``,
            the fastest in the first of them, for which nothing may be known of the machine.
        state: as for `Solver`; ``"auto"`` chooses by stencil, collision, storage and models alone.

    Raises:
        TypeError, ValueError: a wrong argument, one that differs among ranks, or more devices than blocks that the
            domain can be cut into.
        CudaError: a GPU cannot be used.
    """
    processes = comm if isinstance(comm, Processes) else Processes(comm, "plan")

    def asked() -> tuple[Problem, Configuration, int | None, float | str, int]:
        domain = Domain(shape, stencil)
        configuration = _configuration(
            domain, collision, precision, storage, streaming, thermal, state, turbulence, hybrid
        )
        given = [True] * len(domain.shape) if periodic is None else periodic
        around = tuple(checks.flag("periodic", p) for p in checks.listed("periodic", given, "a flag for each axis"))
        if len(around) != len(domain.shape):
            raise ValueError(f"periodic: {around} given, must be {len(domain.shape)} flags, one an axis")
        exchange.check("channel", channel)
        exchange.check("schedule", schedule)
        share = 0.0 if cpu_share is None else check_cpu_share("cpu_share", cpu_share)
        if machine is not None and share == AUTO:
            raise ValueError("cpu_share: 'auto' given beside a machine, must be a number, as it is measured")
        if machine is not None and devices is not None:
            raise ValueError(f"devices: {checks.shown(devices)} given beside a machine, whose devices are taken")
        most = None if threads is None else checks.integer("threads", threads, at_least=1, at_most=MAX_THREADS)
        if turbulence is not None and not isinstance(turbulence, TurbulenceModel):
            right = "must be a model such as WALE(0.5), or None"
            raise TypeError(f"turbulence: {checks.shown(turbulence)} given, {right}")
        strain = hybrid is not None and checks.number("hybrid", hybrid, above=0, at_most=1) < 1
        types = (configuration.precision, configuration.storage)
        more, more_on_gpus = (
            bytes_per_update(turbulence, len(domain.shape), *types, takes_strain=strain, on_gpu=on_gpu)
            for on_gpu in (False, True)
        )
        found = problem_of(configuration, domain.shape, around, more)
        return found, configuration, most, share, more_on_gpus

    problem, configuration, threads, share, bytes_on_gpus = processes.each(asked)
    several = processes.size > 1
    if several:
        options: dict[str, Any] = {"threads": threads, "channel": channel, "schedule": schedule, "cpu_share": share}
        _check_same(processes, problem, configuration, options)
    if machine is not None:
        names = [device.name for device in machine.devices]
    else:
        names = processes.each(lambda: _resolved(devices, processes.node_rank if several else None))
    count = len(names) if machine is not None else int(sum(processes.shared(len(names))))
    if all(processes.shared("cpu" not in names)):
        problem = replace(problem, turbulence_bytes=bytes_on_gpus)
    if not any(True for _ in cuts(count, problem.shape, problem.radius)):
        raise ValueError(f"devices: {count} given, more than blocks that {problem.shape} can be cut into")
    if machine is None and several:
        machine = measure_job(processes, names, configuration, threads, channel)
    machine = machine or measure_machine(names, configuration, threads, channel)
    forced = processes.shared(exchange.forced("schedule", schedule))[0]
    kinds = [_candidates(machine, machine, problem, forced)]
    fast = [device for device in machine.devices if device.speed * ALIKE >= max(d.speed for d in machine.devices)]
    if len(fast) < len(machine.devices):
        kinds.append(_candidates(machine, machine, problem, forced, slowed=0.5))
        if not several or {device.process for device in fast} == set(range(processes.size)):  # each needs a block
            kinds.append(_candidates(machine, replace(machine, devices=tuple(fast)), problem, forced))
    every = sorted(dict.fromkeys(itertools.chain(*kinds)), key=_order)
    alternatives = tuple(min(kind, key=_order) for kind in kinds[1:] if kind)
    found = Plan(problem, machine, tuple(every), configuration, threads, alternatives, channel, schedule, processes)
    if share == AUTO:
        options = {"threads": threads, "channel": channel, "schedule": schedule}
        share = shares.best_share(problem.shape, problem.periodic, configuration, found.layout, processes, **options)
    return replace(found, cpu_share=float(share))


def _configuration(
    domain: Domain,
    collision: str | None,
    precision: str,
    storage: str | None,
    streaming: str | None,
    thermal: bool,
    state: str,
    turbulence: TurbulenceModel | None,
    hybrid: float | None,
) -> Configuration:
    """What is measured for a domain; TypeError or ValueError for arguments of `plan` that do not suit."""
    precision = checks.choice("precision", precision, PRECISIONS)
    kept = kept_state.check_state(state)
    storage = check_storage(storage, precision)
    flow = "heated" if checks.flag("thermal", thermal) else "periodic"
    heat = HEAT if thermal else None
    check_thermal(heat, domain, storage)
    gradients = None if isinstance(turbulence, Smagorinsky) else turbulence
    if collision is None:
        of_moments = of_stencil(domain.stencil, "moments")
        may_be_chosen = kept == kept_state.AUTO and of_moments and hybrid is None
        takes_moments = kept == "moments" or (
            may_be_chosen
            and not kept_state.obstacle(domain, of_moments[0](VISCOSITY), precision, storage, heat, gradients)
        )
        others = of_moments if takes_moments else []
        collision = (others or of_stencil(domain.stencil))[0].__name__
    kind = COLLISIONS[checks.choice("collision", collision, COLLISIONS)]
    check_pair(domain.stencil, kind)
    own = kind(VISCOSITY, **({} if hybrid is None or kind is not RecursiveRegularized else {"hybrid": hybrid}))
    if kept == kept_state.AUTO:
        reason = kept_state.obstacle(domain, own, precision, storage, heat, gradients)
        kept = "populations" if reason else "moments"
    streaming = check_streaming(kept_state.streaming_of(kept, streaming, domain.stencil), domain.stencil)
    models.check_numbers(domain.stencil, precision, storage, streaming)
    if kept == "moments":
        kept_state.check_moments(domain, own, precision, storage, heat, gradients)
    return Configuration(domain.stencil, collision, precision, storage, streaming, flow=flow, state=kept)


def _check_same(
    processes: Processes, problem: Problem, configuration: Configuration, options: Mapping[str, Any]
) -> None:
    """Raise ValueError on all ranks if they were given different arguments."""
    own = {"shape": problem.shape, "periodic": problem.periodic, **asdict(configuration), **options}
    found = consistency.differences(processes.shared({name: str(value) for name, value in own.items()}), longest=40)
    if found:
        raise ValueError(f"{'; '.join(found)}; all ranks take the same arguments")


def _order(candidate: Candidate) -> tuple[float, Vector]:
    return rank_of(candidate.prediction, candidate.tiling)


def _candidates(
    machine: Machine, part: Machine, problem: Problem, schedule: str, slowed: float = 1.0
) -> list[Candidate]:
    """The candidates over some devices of a machine, where the speed of slower devices is multiplied by `slowed`.

    The `schedule` is the forced one, or empty.
    """
    owners = [device.place for device in part.devices]
    most = max(device.speed for device in part.devices)
    speeds = [
        device.speed * (1.0 if device.speed * ALIKE >= most else slowed) / owners.count(owner)
        for device, owner in zip(part.devices, owners, strict=True)
    ]
    found = []
    for tiling in tilings(problem.shape, speeds, problem.radius):
        orders = arrangements(tiling.parts, part.devices) if max(speeds) <= ALIKE * min(speeds) else [part.devices]
        overlap = _overlaps(part, problem, tiling, schedule)
        predicted = [(predict(replace(part, devices=order), problem, tiling, overlap), order) for order in orders]
        prediction, devices = min(predicted, key=lambda pair: rank_of(pair[0], tiling))
        share = replace(prediction, efficiency=prediction.efficiency * part.speed / machine.speed)
        found.append(Candidate(tiling, share, devices))
    return found


def _overlaps(machine: Machine, problem: Problem, tiling: Tiling, schedule: str) -> bool:
    """Whether the engine hides the exchange behind interiors; the blocks of the CPU of one process have none."""
    several = len({device.process for device in machine.devices}) > 1
    overlaps = several or any(device.name != "cpu" for device in machine.devices)
    wanted = schedule or ("overlap" if overlaps else "blocking")
    return wanted == "overlap" and has_interiors(problem, tiling.parts, machine)


def tilings(shape: Vector, speeds: Sequence[float], least: int = 1) -> list[Tiling]:
    """Every sensible tiling with a block for each of `speeds`, no part having fewer than `least` cells.

    Parts as equal as can be along all axes; where the speeds are unequal also layers in proportion to them.
    """
    found = [
        Tiling(tuple(_equal(n, k) for n, k in zip(shape, parts, strict=True)))
        for parts in cuts(len(speeds), shape, least)
    ]
    if max(speeds) > ALIKE * min(speeds):
        for axis, n in enumerate(shape):
            if n >= least * len(speeds):
                sizes: list[Vector] = [(m,) for m in shape]
                sizes[axis] = _proportional(n, speeds, least)
                found.append(Tiling(tuple(sizes)))
    return list(dict.fromkeys(found))


def _resolved(devices: Any, node_rank: int | None) -> list[str]:
    """The names of the devices of one process, or of the rank of a number on its host."""
    if devices is None:
        return device_names.available() if node_rank is None else [device_names.resolve("auto", node_rank)]
    several = [devices] if isinstance(devices, str) else checks.listed("devices", devices, "names such as 'cpu'")
    names = [device_names.resolve(name, node_rank or 0) for name in several]
    if not names:
        raise ValueError("devices: none given, must be one at least")
    return names


def _equal(cells: int, parts: int) -> Vector:
    edges = [cells * k // parts for k in range(parts + 1)]
    return tuple(b - a for a, b in itertools.pairwise(edges))


def _proportional(cells: int, speeds: Sequence[float], least: int) -> Vector:
    total = sum(speeds)
    edges = [round(cells * part / total) for part in itertools.accumulate(speeds, initial=0.0)]
    for k in range(1, len(edges)):
        edges[k] = max(edges[k], edges[k - 1] + least)
    edges[-1] = cells
    for k in range(len(edges) - 2, 0, -1):
        edges[k] = min(edges[k], edges[k + 1] - least)
    return tuple(b - a for a, b in itertools.pairwise(edges))


def _short(sizes: Vector) -> str:
    """``3x64`` for three parts of 64 cells, ``2x65+64`` for two of 65 and one of 64; the largest first."""
    return "+".join(f"{sizes.count(n)}x{n}" if sizes.count(n) > 1 else str(n) for n in sorted(set(sizes), reverse=True))
