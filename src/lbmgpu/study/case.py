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
from ..solver import Solver
from ..solver.run import Every, RunResult, Steady
from .records import CaseFolder, Progress

log = logging.getLogger("lbmgpu")

SECONDS_BETWEEN = 0.5
"""Between two writes of the progress: seldom enough to cost nothing, often enough to watch."""
_POINTER_BYTES = 2**16


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

    def __init__(self, folder: CaseFolder, device: str, threads: int | None, attempt: int) -> None:
        self.folder = folder.path
        self.parameters: Mapping[str, Any] = folder.parameters.values
        self.device = device
        self.threads = threads
        self.attempt = attempt
        self.saved: dict[str, NDArray[Any]] = {}
        self._records = folder
        self._names: dict[int, str] = {}
        self._solvers: list[Solver] = []
        self._progress = Progress()
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
        if "layout" not in settings:
            settings = {"device": self.device} | settings
        solver = Solver(domain, collision, **{"threads": self.threads} | settings)
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
        name = self._names.get(id(solver))
        if name is None:
            raise ValueError("solver: not one that case.solver(...) gave")
        pointer = self.folder / f"checkpoint-{name}.json"
        before = _pointed(pointer)
        stem = f"checkpoint-{name}-{solver.steps}"
        if before is not None and before.get("solver") == f"{stem}.h5":  # saved twice at one step
            stem += f"-{os.getpid()}-{time.time_ns()}"
        path = solver.save(self.folder / f"{stem}.h5")
        kept = {key: np.asarray(value) for key, value in arrays.items()}
        with replacing(self.folder / f"{stem}.npz") as part:
            np.savez(part, allow_pickle=False, **kept)  # type: ignore[arg-type]
        write_text(pointer, json.dumps({"solver": path.name, "arrays": f"{stem}.npz"}) + "\n")
        self.saved = self.saved | kept
        if before is not None:
            for old in (before.get("solver"), before.get("arrays")):
                if isinstance(old, str) and old not in (path.name, f"{stem}.npz"):
                    (self.folder / Path(old).name).unlink(missing_ok=True)
        return path

    def run(
        self,
        solver: Solver,
        steps: int,
        *,
        save_every: int | None = None,
        until: Steady | None = None,
        callbacks: Sequence[Every] = (),
    ) -> RunResult:
        """Advance a solver of this case to step `steps`, and say meanwhile how far it is.

        Args:
            solver: that `solver` gave; one that went on from a checkpoint has fewer steps left.
            steps: that the solver has in the end, unless it gets steady before.
            save_every: save a checkpoint whenever the step count is a multiple of this; None for none.
            until, callbacks: as for `Solver.run`.
        """
        total = checks.integer("steps", steps)
        every = list(callbacks)
        if save_every is not None:
            every.append(Every(save_every, self.save))
        self._progress = Progress(solver.steps, total, self._progress.mlups, self._progress.text)
        return solver.run(max(0, total - solver.steps), until=until, callbacks=every)

    def progress(self, done: float, total: float = 0.0, text: str = "") -> None:
        """Say how far the case is: `done` of `total` of anything, and a few words; runs of solvers say it themselves."""
        self._progress = Progress(float(done), float(total), self._progress.mlups, str(text))
        self._write()

    @property
    def mlups(self) -> float:
        """Million updates of fluid cells a second of all steps so far; 0 before the first."""
        return self._updates / self._seconds / 1e6 if self._seconds > 0 else 0.0

    def _stepped(self, steps: int, cells: int, seconds: float, reached: int) -> None:
        """Take note of a chunk of steps of any solver of this process."""
        self._updates += steps * cells
        self._seconds += seconds
        done = reached if self._progress.total else self._progress.done
        self._progress = Progress(done, self._progress.total, self.mlups, self._progress.text)
        self._write()

    def _write(self) -> None:
        if time.monotonic() - self._written >= SECONDS_BETWEEN:
            self._written = time.monotonic()
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
