"""What a study's function gets of its case: folder, device, checkpoints, and a way to say how far it is."""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import checks
from ..collisions import Collision
from ..domain import Domain
from ..errors import CheckpointError
from ..files.atomic_write import replacing, write_text
from ..files.regular_files import read_text
from ..files.strict_json import parsed
from ..solver import Solver, simulation_of
from ..solver.run import Every, RunResult
from ..solver.steady import Steady
from .batch import Batch
from .records import INTERRUPTED, CaseFolder, Progress, Record, is_same_attempt

log = logging.getLogger("lbmgpu")

SECONDS_BETWEEN = 0.5
"""Between two writes of the progress: seldom enough to cost nothing, often enough to watch."""
_POINTER_BYTES = 2**16


class Superseded(RuntimeError):
    """The case is another process's by now: its record says so."""


class Case:
    """One case of a study, the first argument of its function.

    Attributes:
        folder: of the case, for files that the function leaves.
        parameters: by name, as the function gets them.
        device: for solvers and other libraries; of a worker that has one GPU ``"cuda:0"``, since it sees no other.
        threads: number of CPU threads for solvers; None for all cores.
        attempt: 1 in the first run of the case, 2 when it is run again, and so on.
        saved: arrays that the last `save` kept; empty in a case that starts from the beginning.
    """

    def __init__(
        self, folder: CaseFolder, device: str, threads: int | None, record: Record, batch: Batch | None = None
    ) -> None:
        self._batch = batch
        self.folder = folder.path
        self.parameters: Mapping[str, Any] = folder.parameters.values
        self.device = device
        self.threads = threads
        self.attempt = record.attempts
        self.saved: dict[str, NDArray[Any]] = {}
        self._records = folder
        self._record = record
        self._names: dict[int, str] = {}
        self._solvers: list[Solver] = []
        self._progress = Progress()
        self._counts_steps = False
        self._written = 0.0
        self._updates = 0.0
        self._seconds = 0.0
        for pointer in sorted(self.folder.glob("checkpoint-*.json"), key=lambda path: path.stat().st_mtime):
            self.saved |= _arrays(self.folder, _pointed(pointer))

    def __repr__(self) -> str:
        return f"Case({self._records.parameters}, device={self.device!r}, folder={str(self.folder)!r})"

    def solver(
        self,
        domain: Domain,
        collision: Collision,
        *,
        initial: Mapping[str, Any] | None = None,
        name: str = "solver",
        **settings: Any,
    ) -> Solver:
        """A solver on the case's device, which goes on from the case's checkpoint if there is one.

        Args:
            domain, collision, settings: as for `Solver`; `device` and `threads` are the case's unless given.
            initial: arguments of `Solver.initialize` for a case that starts from the beginning.
            name: of its checkpoints, where a case has several solvers.

        Raises:
            TypeError, ValueError: as `Solver`; a second solver of the same name.
        """
        if name in self._names.values():
            raise ValueError(f"name: a second solver named {name!r} in one case; give each a name of its own")
        if not name.isidentifier():
            raise ValueError(f"name: {checks.shown(name)} given, must be letters, digits and '_'")
        own: dict[str, Any] = {"threads": self.threads}
        if "layout" not in settings:
            own["device"] = self.device
        solver = Solver(domain, collision, **own | settings)
        if self._batch is not None:
            self._batch.adopt(simulation_of(solver))
        self._names[id(solver)] = name
        self._solvers.append(solver)  # so that its id stays its own
        pointed = _pointed(self.folder / f"checkpoint-{name}.json")
        if pointed is not None:
            try:
                solver.restore(self.folder / pointed["solver"])
                log.info("%s goes on from step %d", name, solver.steps)
                return solver
            except (CheckpointError, OSError, KeyError) as error:
                log.warning("%s starts from the beginning: %s", name, error)
                self.saved = {}
        if initial is not None:
            solver.initialize(**initial)
        return solver

    def save(self, solver: Solver, **arrays: Any) -> Path:
        """Save a checkpoint of a solver of this case, from which it goes on if the case is interrupted.

        Args:
            solver: that `solver` gave.
            arrays: numbers and arrays to keep with it, such as histories; in the next attempt they are in `saved`.

        Returns:
            The path of the checkpoint. It replaces the one before, whole or not at all, and its arrays with it.

        Raises:
            DivergedError: the state is not finite; nothing is written.
            ValueError: not a solver of this case.
            OSError: a file cannot be written.
        """
        name = self._name_of(solver)
        self.check_is_current()  # or it would remove the checkpoint of the attempt that took over
        pointer = self.folder / f"checkpoint-{name}.json"
        before = _pointed(pointer)
        stem = f"checkpoint-{name}-{solver.steps}"
        if before is not None and before.get("solver") == f"{stem}.h5":  # saved twice at one step
            stem += f"-{os.getpid()}-{time.time_ns()}"
        path = solver.save(self.folder / f"{stem}.h5")
        kept = {key: np.asarray(value) for key, value in arrays.items()}
        with replacing(self.folder / f"{stem}.npz") as part:
            np.savez(part, allow_pickle=False, **kept)
        write_text(pointer, json.dumps({"solver": path.name, "arrays": f"{stem}.npz"}) + "\n")
        self.saved = self.saved | kept
        for old in self.folder.glob(f"checkpoint-{name}-*"):  # those of killed attempts among them
            if old.name not in (path.name, f"{stem}.npz"):
                old.unlink(missing_ok=True)
        return path

    def run(
        self,
        solver: Solver,
        steps: int,
        *,
        save_every: int | None = None,
        arrays: Mapping[str, Any] | None = None,
        until: Steady | None = None,
        callbacks: Sequence[Every] = (),
    ) -> RunResult:
        """Advance a solver of this case to step `steps`, and say meanwhile how far it is.

        A case that goes on from a checkpoint ends with the bits of one that was never interrupted, and so does what
        callbacks collect if it is given as `arrays`.

        Args:
            solver: that `solver` gave; one that went on from a checkpoint has fewer steps left.
            steps: that the solver has in the end, unless it gets steady before.
            save_every: save a checkpoint whenever the step count is a multiple of this; None for none.
            arrays: of each checkpoint, as for `save`: lists that callbacks append to, say.
            until, callbacks: as for `Solver.run`.

        Returns:
            As `Solver.run`, but `steps` counts from the beginning of the case.

        Raises:
            ValueError: `save_every` is no multiple of ``until.every``, or `until` looks over a window: a case that went
                on would look for a steady flow at other steps.
            DivergedError: the flow did.
        """
        total = checks.integer("steps", steps)
        self._name_of(solver)
        kept = dict(arrays or {})
        if save_every is not None:
            save_every = checks.integer("save_every", save_every, at_least=1)
            if until is not None and not until.is_of_field:
                raise ValueError(
                    f"save_every: {save_every} given, must be left out with until of the {until.subject}: its "
                    "window is not in checkpoints, so that a case that goes on would end at another step"
                )
            if until is not None and save_every % until.every:
                raise ValueError(
                    f"save_every: {save_every} given, must be a multiple of the {until.every} steps between two looks "
                    "of until, so that a case that goes on ends at the same step"
                )
        self.expect(total, solver.steps)
        updates = seconds = 0.0
        while True:
            before = solver.steps
            stop = total if save_every is None else min(total, before - before % save_every + save_every)
            result = solver.run(max(0, stop - before), until=until, callbacks=list(callbacks))
            updates, seconds = updates + result.mlups * result.seconds, seconds + result.seconds
            reached = save_every is not None and solver.steps > before and solver.steps % save_every == 0
            if reached and not result.converged:  # of a steady flow it would not be found again that it is
                self.save(solver, **kept)
            if result.converged or solver.steps >= total:
                mlups = updates / seconds if seconds > 0 else 0.0
                return RunResult(solver.steps, result.converged, result.reason, seconds, mlups)

    def _name_of(self, solver: Solver) -> str:
        if id(solver) not in self._names:
            raise ValueError("solver: not one of this case, which makes it by case.solver(domain, collision)")
        return self._names[id(solver)]

    def progress(self, done: float, total: float = 0.0, text: str = "") -> None:
        """Say how far the case is: `done` of `total` of anything, and a few words; `run` says it itself."""
        self._progress = Progress(float(done), float(total), self._progress.mlups, str(text))
        self._counts_steps = False
        self._write()

    def expect(self, steps: int, done: int = 0) -> None:
        """Say that the case is to make so many steps, `done` ones among them: its progress is that of its solver."""
        self._progress = Progress(done, steps, self._progress.mlups, self._progress.text)
        self._counts_steps = True

    @property
    def mlups(self) -> float:
        """Million updates of fluid cells a second of all steps so far; 0 before the first."""
        return self._updates / self._seconds / 1e6 if self._seconds > 0 else 0.0

    def stepped(self, steps: int, cells: int, seconds: float, reached: int) -> None:
        """Take note of a chunk of steps of any solver of this process."""
        self._updates += steps * cells
        self._seconds += seconds
        done = reached if self._counts_steps else self._progress.done
        self._progress = Progress(done, self._progress.total, self.mlups, self._progress.text)
        self._write()

    @property
    def is_current(self) -> bool:
        """Whether the case is still this attempt's."""
        try:
            self.check_is_current()
        except Superseded:
            return False
        return True

    def check_is_current(self) -> None:
        """Raise `Superseded` if the case is another process's by now, or its study was interrupted."""
        now = self._records.record()
        if now.host and not is_same_attempt(now, self._record):
            raise Superseded(f"process {now.process} on {now.host} works on the case")
        if now.status == INTERRUPTED:
            raise Superseded("the study was interrupted")

    def _write(self) -> None:
        if time.monotonic() - self._written >= SECONDS_BETWEEN:
            self._written = time.monotonic()
            self.check_is_current()
            self._records.write_progress(self._progress)


def _pointed(path: Path) -> dict[str, Any] | None:
    """The names of a checkpoint's files; None where there is none."""
    try:
        found = parsed(read_text("checkpoint", path, at_most=_POINTER_BYTES))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def _arrays(folder: Path, pointed: dict[str, Any] | None) -> dict[str, NDArray[Any]]:
    if pointed is None or "arrays" not in pointed:
        return {}
    try:
        with np.load(folder / Path(str(pointed["arrays"])).name, allow_pickle=False) as found:
            return {name: found[name] for name in found.files}
    except (OSError, ValueError):
        return {}
