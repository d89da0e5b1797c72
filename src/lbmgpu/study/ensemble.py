"""The ensemble: equal domains with different parameters, which advance together on one device."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import _core, checks
from ..collisions import Collision
from ..domain import Domain
from ..engine.settings import CELLS_PER_THREAD
from ..engine.simulation import Simulation
from ..engine.together import Together
from ..errors import CheckpointError, DivergedError, TooLittleMemoryError
from ..files.atomic_write import write_text
from ..files.regular_files import CASE_BYTES, file_path, read_text
from ..files.strict_json import parsed
from ..guarded import Guarded
from ..parallel.device_memory import GIB, available_memory
from ..solver import Solver, recordings_of, simulation_of
from ..solver.recording import JoinedRecordings
from ..solver.run import Every, RunLoop, RunResult
from ..solver.steady import FIELDS, Steady
from ..thermal import HybridThermal
from ..time_functions.product import Varying
from ..turbulence import TurbulenceModel
from ..values import Floats

MOST_MEMBERS = 100_000
INDEX = "ensemble.json"
"""The file that names the checkpoints of all members."""


class Ensemble(Guarded):
    """Several flows in equal domains, with different parameters, initial states or forces, which advance together.

    A small domain leaves a device idle between its steps. On a GPU the steps of all members are launched as one, on the
    CPU the members are shared among the threads. Each member has the bits of its run alone, by `Solver`.

    Args:
        domain: of all members, or a list with one for each, of the same shape and stencil.
        collision: of all members, or a list with one for each.
        force: None; a force as for `Solver`, for all members; or a list of such, one for each member.
        initial: None; arguments of `Solver.initialize` as a mapping, for all members; or a list with one for each.
        thermal: `HybridThermal` of all members, a list with one for each, or None.
        turbulence: a turbulence model of all members, as for `Solver`; a list with one, or None, for each; or None.
        precision, storage, streaming: as for `Solver`.
        device: of all members: ``"cpu"``, ``"cuda"``, ``"cuda:1"`` and so on, or ``"auto"``.
        threads: number of CPU threads in all; None for all cores.

    Raises:
        TypeError, ValueError: as `Solver`; lists of different lengths, or none at all, or domains that are not equal.
            `TooLittleMemoryError` where not all members fit, with the number that would.
    """

    def __init__(
        self,
        domain: Domain | Sequence[Domain],
        collision: Collision | Sequence[Collision],
        *,
        force: ArrayLike | Callable[..., Any] | Sequence[Any] | None = None,
        initial: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
        thermal: HybridThermal | Sequence[HybridThermal] | None = None,
        turbulence: TurbulenceModel | Sequence[TurbulenceModel | None] | None = None,
        precision: str = "float32",
        storage: str | None = None,
        streaming: str | None = None,
        device: str = "auto",
        threads: int | None = None,
    ) -> None:
        lists = {
            "domain": _listed(domain, Domain),
            "collision": _listed(collision, Collision),
            "force": _listed_forces(force),
            "initial": _listed(initial, Mapping),
            "thermal": _listed(thermal, HybridThermal),
            "turbulence": _listed(turbulence, TurbulenceModel),
        }
        count = _count(lists)
        _check_equal([each for each in lists["domain"] or () if isinstance(each, Domain)])
        checks.choice("device kind", _kind(device), ("auto", "cpu", "cuda"))
        cores = _threads(threads)
        first = lists["domain"][0] if lists["domain"] else domain
        useful = first.cells // CELLS_PER_THREAD if isinstance(first, Domain) else 1
        each_threads = max(1, min(cores // count, useful))

        def value(name: str, given: Any, number: int) -> Any:
            values = lists[name]
            return given if values is None else values[number]

        self._members: list[Solver] = []
        for number in range(count):
            solver = Solver(
                value("domain", domain, number),
                value("collision", collision, number),
                force=value("force", force, number),
                precision=precision,
                storage=storage,
                streaming=streaming,
                device=device,
                threads=each_threads,
                thermal=value("thermal", thermal, number),
                turbulence=value("turbulence", turbulence, number),
            )
            if number == 0:
                _check_memory(simulation_of(solver), count)
            self._members.append(solver)
        for number, solver in enumerate(self._members):
            start = value("initial", initial, number)
            if start is not None:
                solver.initialize(**start)
        self._together = Together([simulation_of(solver) for solver in self._members], min(cores, count))
        recordings = JoinedRecordings(lambda: [recordings_of(self._members[k]) for k in self._together.active])
        self._loop = RunLoop(self._together, recordings)

    def __repr__(self) -> str:
        first = self._members[0]
        left_out = f", {len(self.diverged)} of them diverged" if self.diverged else ""
        return f"Ensemble({len(self)} members{left_out}, {first.domain!r}, {first.precision}, step {self.steps})"

    def __len__(self) -> int:
        return len(self._members)

    def __getitem__(self, member: int) -> Solver:
        """A member as a `Solver`, to read from, save, or give another force; what steps it alone leaves the others."""
        return self._members[member]

    def __iter__(self) -> Iterator[Solver]:
        return iter(self._members)

    def __reduce__(self) -> tuple[Any, ...]:
        """Refused, by a TypeError: memory of the engine goes through no pickle."""
        raise TypeError("Ensemble: cannot be pickled or copied; save and restore take its members through files")

    @property
    def device(self) -> str:
        """``"cpu"``, or ``"cuda:0"`` and so on."""
        return self._members[0].device

    @property
    def steps(self) -> int:
        """Steps completed since the states were initialised, by the members that advance."""
        return self._together.steps

    @property
    def diverged(self) -> dict[int, DivergedError]:
        """The members that diverged and were left out, by number, and their errors; their fields and sums are NaN."""
        return dict(self._together.diverged)

    def step(self, steps: int = 1) -> None:
        """Advance all members by `steps` steps.

        Raises:
            DivergedError: the state of a member is not finite; its `member` says which.
            TypeError, ValueError: not an integer from 0.
        """
        self._together.leaves_out = False
        for _ in self._loop.advance(checks.integer("steps", steps)):
            pass

    def run(
        self,
        steps: int,
        progress: bool = False,
        until: Steady | None = None,
        callbacks: Sequence[Every] = (),
        *,
        leave_out_diverged: bool = False,
    ) -> RunResult:
        """Advance all members by `steps` steps, or fewer if all of them get steady before.

        Args:
            steps, progress, until: as for `Solver.run`; the largest change of the members counts. `until` is of
                the velocity or the temperature.
            callbacks: `Every(every, function)`, whose functions get the ensemble.
            leave_out_diverged: a member that diverges takes no further part, and is in `diverged`; without it an error
                ends the run. Where none is left, that is an error too.

        Raises:
            DivergedError, KeyboardInterrupt, TypeError, ValueError: as `Solver.run`.
        """
        self._together.leaves_out = checks.flag("leave_out_diverged", leave_out_diverged)
        if isinstance(until, Steady) and not until.is_of_field:
            raise ValueError(
                f"until: of={checks.shown(until.of)} given, must be {' or '.join(map(repr, FIELDS))} for an ensemble; "
                "a callback can read numbers of its members"
            )
        if not all(isinstance(callback, Every) for callback in callbacks):
            raise TypeError(f"callbacks: {checks.shown(callbacks)} given, must be a list of Every")
        return self._loop.run(self, steps, progress=progress, until=until, callbacks=callbacks)

    # Fields and sums, the members first

    def density(self) -> NDArray[Any]:
        """Density, ``(members, nx, ny[, nz])``; 1 in solid cells."""
        return self._stacked(Solver.density)

    def velocity(self) -> NDArray[Any]:
        """Velocity, ``(members, D, nx, ny[, nz])``, in cells a step; in solid cells that of the wall."""
        return self._stacked(Solver.velocity)

    def populations(self) -> NDArray[Any]:
        """Post-collision populations, ``(members, Q, nx, ny[, nz])``."""
        return self._stacked(Solver.populations)

    def temperature(self) -> NDArray[Any]:
        """Temperature, ``(members, nx, ny[, nz])``, of solvers that have one."""
        return self._stacked(Solver.temperature)

    def eddy_viscosity(self) -> NDArray[Any]:
        """Eddy viscosity, ``(members, nx, ny[, nz])``, of solvers that all have a turbulence model."""
        return self._stacked(Solver.eddy_viscosity)

    def mass(self) -> Floats:
        """Mass of the fluid, ``(members,)``."""
        return self._stacked(Solver.mass)

    def momentum(self) -> Floats:
        """Momentum of the fluid, ``(members, D)``."""
        return self._stacked(Solver.momentum)

    def kinetic_energy(self) -> Floats:
        """Kinetic energy of the fluid, ``(members,)``."""
        return self._stacked(Solver.kinetic_energy)

    def body_force(self, *arguments: Any, **named: Any) -> Floats:
        """Force on a body, ``(members, D)``; arguments as for `Solver.body_force`."""
        return self._stacked(Solver.body_force, *arguments, **named)

    def face_force(self, *arguments: Any, **named: Any) -> Floats:
        """Force on the wall of a face, ``(members, D)``; arguments as for `Solver.face_force`."""
        return self._stacked(Solver.face_force, *arguments, **named)

    # Files

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Write a checkpoint of each member into `folder`, made if it is not there; return it.

        They replace those of an earlier call all at once, when the last one is written.

        Raises:
            DivergedError, OSError: as `Solver.save`.
        """
        target = file_path("folder", folder)
        target.mkdir(parents=True, exist_ok=True)
        mark = f"{self.steps}-{os.getpid()}-{time.time_ns()}"
        names = [f"member-{number}-{mark}.h5" for number in range(len(self))]
        for solver, name in zip(self._members, names, strict=True):
            solver.save(target / name)
        write_text(target / INDEX, json.dumps({"members": names}) + "\n")
        for old in target.glob("member-*.h5"):
            if old.name not in names:
                old.unlink()
        return target

    def restore(self, folder: str | os.PathLike[str]) -> None:
        """Take the states of all members from the checkpoints that `save` wrote; none is left out after that.

        Raises:
            CheckpointError, FileNotFoundError: as `Solver.restore`; of an ensemble of another number of members.
        """
        source = file_path("folder", folder)
        text = read_text("folder", source / INDEX, at_most=CASE_BYTES)
        try:
            names = [Path(str(name)).name for name in parsed(text)["members"]]
        except (ValueError, KeyError, TypeError):
            raise CheckpointError(f"{source / INDEX}: is no list of an ensemble's checkpoints") from None
        if len(names) != len(self):
            raise CheckpointError(f"{source}: of an ensemble of {len(names)} members, this one has {len(self)}")
        for solver, name in zip(self._members, names, strict=True):
            solver.restore(source / name)
        self._together.diverged.clear()

    def _stacked(self, read: Callable[..., Any], *arguments: Any, **named: Any) -> NDArray[Any]:
        """What `read` gives of each member; NaN of those that were left out."""
        found = np.stack([np.asarray(read(solver, *arguments, **named)) for solver in self._members])
        found[list(self.diverged)] = np.nan
        return found


def _listed(given: Any, kind: Any) -> list[Any] | None:
    """The values of the members; None for one that all have, or none."""
    if given is None or isinstance(given, kind) or not isinstance(given, Sequence) or isinstance(given, str):
        return None
    return list(given)


def _listed_forces(force: Any) -> list[Any] | None:
    """The forces of the members; None for one of all: a vector of numbers, an array or a callable."""
    if force is None or callable(force) or isinstance(force, np.ndarray):
        return None
    if isinstance(force, Sequence) and any(
        isinstance(each, Varying) or np.ndim(each) > 0 or callable(each) or each is None for each in force
    ):
        return list(force)
    return None


def _count(lists: Mapping[str, list[Any] | None]) -> int:
    lengths = {name: len(values) for name, values in lists.items() if values is not None}
    if not lengths:
        raise ValueError("collision: one given, and nothing else as a list; an ensemble needs a list of one of them")
    if len(set(lengths.values())) > 1:
        found = ", ".join(f"{length} of {name}" for name, length in lengths.items())
        raise ValueError(f"members: lists of different lengths given: {found}")
    return checks.integer("members", next(iter(lengths.values())), at_least=1, at_most=MOST_MEMBERS)


def _check_equal(domains: Sequence[Domain]) -> None:
    for number, domain in enumerate(domains):
        if (domain.shape, domain.stencil) != (domains[0].shape, domains[0].stencil):
            raise ValueError(
                f"domain[{number}]: {domain.shape} with {domain.stencil} given, must be as the first, "
                f"{domains[0].shape} with {domains[0].stencil}"
            )


def _kind(device: Any) -> Any:
    if not isinstance(device, str):
        raise TypeError(f"device: {checks.shown(device)} given, must be one device: all members are there")
    return device.partition(":")[0]


def _threads(threads: int | None) -> int:
    if threads is not None:
        return checks.integer("threads", threads, at_least=1)
    return _core.default_threads()


def _check_memory(first: Simulation, count: int) -> None:
    """Raise unless the members that are still to be made fit beside the first."""
    need, free = first.engine.memory_bytes * (count - 1), available_memory(first.settings.devices[0])
    if need > free:
        fit = 1 + free // max(first.engine.memory_bytes, 1)
        raise TooLittleMemoryError(
            f"members: {count} given need {need / GIB:.2f} GiB beside the first on {first.device}, but "
            f"{free / GIB:.2f} GiB of memory is available; what would fit: {fit} members"
        )
