"""Recorders: what looks at a solver's state while it advances, and the list of those that a solver has."""

from __future__ import annotations

import logging
import os
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from numpy.typing import NDArray

from .. import checks
from ..errors import CheckpointError, DivergedError
from ..io.checkpoint_recorders import Array, Kept
from ..parallel import collective

if TYPE_CHECKING:
    from ..engine.simulation import Simulation
    from .solver import Solver

log = logging.getLogger("lbmgpu")

NEVER = 1 << 53
"""More steps than a solver makes."""


class Recorder:
    """What looks at a solver's state after the steps ``start, start + every, start + 2 * every`` and so on.

    What draws or writes whole states, as `Image`, `Movie`, `Live` and `Series`, has the state that it begins with too,
    if that is due: that of step 0 unless `start` is later. Statistics and histories have states after steps only. After
    a restart a state that has been sampled takes the place of what there is of it: nothing is there twice.

    A subclass implements `attach` and `sample`, and what else of the others it needs. All ranks call each of them
    together, but for properties that only read.

    Attributes:
        every: steps between two samples.
        start: the first step that may be sampled.
        name: under which checkpoints keep what it has recorded; unique among the recorders of a solver.

    Args:
        every: as the attribute.
        start: as the attribute.
        name: as the attribute; if None the name of the class in small letters.
    """

    sampled_by_engine = False
    """Whether the engine takes the samples by itself, so that the run loop need not stop for them."""
    samples_initial = False
    """Whether the state that steps begin with is a sample too, if it is due: once for each state that was set."""

    def __init__(self, every: int = 1, start: int = 0, name: str | None = None) -> None:
        self.every = checks.integer("every", every, at_least=1)
        self.start = checks.integer("start", start, at_least=0)
        self.name = type(self).__name__.lower() if name is None else checks.label("name", name)
        self._solver: Solver | None = None

    # What a subclass implements

    def attach(self, solver: Solver) -> None:
        """Check that it goes with `solver`, and allocate; raises TypeError or ValueError if it does not go with it."""

    def sample(self, solver: Solver) -> None:
        """Take a sample of the state after `solver.steps` steps. No step is made meanwhile."""
        raise NotImplementedError

    def state_was_set(self, solver: Solver) -> None:
        """`initialize` or `restore` has set another state, after `solver.steps` steps: forget what is later."""

    def flush(self) -> None:
        """Complete what goes on beside the steps: called at the end of each run, and before a checkpoint."""

    def abandon(self) -> None:
        """The same as far as a rank can alone, which leaves a run by an error that the others do not know of yet."""

    def kept(self) -> dict[str, Array]:
        """What a checkpoint keeps of it, by name; empty for nothing.

        Arrays are the same on all ranks, or on rank 0 alone. Those of cells are `OfCells` on all ranks, and come back
        as the arrays of what lies in each one's window.
        """
        return {}

    def check_kept(self, kept: dict[str, NDArray[Any]], steps: int) -> None:
        """Raise KeyError, TypeError or ValueError where `restore` could not go on with it; a file may hold anything.

        It changes nothing, and waits for no other rank: `Solver.restore` asks all recorders on all ranks before
        anything of the solver changes.

        Args:
            kept: what `kept` gave.
            steps: the solver's, of the state that it was kept with.
        """

    def restore(self, kept: dict[str, NDArray[Any]]) -> None:
        """Take back what `kept` gave and `check_kept` has passed, on all ranks, in place of what there is."""

    def detach(self) -> None:
        """Undo `attach`, as the solver does not take it after all."""

    # What all of them have

    @property
    def solver(self) -> Solver:
        """The solver that it records; raises ValueError before `Solver.record`."""
        if self._solver is None:
            raise ValueError(f"{self.name}: it has no solver yet; solver.record(...) gives it one")
        return self._solver

    def is_due(self, step: int) -> bool:
        """Whether the state after so many steps is sampled."""
        return step >= self.start and (step - self.start) % self.every == 0

    def next_after(self, step: int) -> int:
        """The first step after `step` that is sampled."""
        if step < self.start:
            return self.start
        return step + self.every - (step - self.start) % self.every

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, every={self.every}, start={self.start})"


class Recorded(Protocol):
    """What a run loop asks of recorders: of a solver, or of several that advance together."""

    def begin(self, step: int) -> None:
        """Have those sample the state before any step that want it."""

    def steps_to_next(self, step: int) -> int:
        """Steps from `step` until the run loop has to stop for a sample."""

    def sample(self, step: int) -> None:
        """Have those take a sample that are due after so many steps."""

    def flush(self) -> None:
        """Complete what goes on beside the steps."""

    def leave(self, error: BaseException) -> None:
        """The same when a run is left by an error."""


class JoinedRecordings:
    """The recorders of solvers that advance together.

    Args:
        parts: gives those that still do.
    """

    def __init__(self, parts: Callable[[], Sequence[Recordings]]) -> None:
        self._parts = parts

    def begin(self, step: int) -> None:
        """See `Recorded`."""
        for part in self._parts():
            part.begin(step)

    def steps_to_next(self, step: int) -> int:
        """See `Recorded`."""
        return min((part.steps_to_next(step) for part in self._parts()), default=NEVER)

    def sample(self, step: int) -> None:
        """See `Recorded`."""
        for part in self._parts():
            part.sample(step)

    def flush(self) -> None:
        """See `Recorded`."""
        for part in self._parts():
            part.flush()

    def leave(self, error: BaseException) -> None:
        """See `Recorded`."""
        for part in self._parts():
            part.leave(error)


class Recordings:
    """The recorders of a solver, which it owns: so they keep none alive that nobody else refers to."""

    def __init__(self, solver: Solver, simulation: Simulation) -> None:
        self._owner = weakref.ref(solver)
        self._simulation = simulation
        self._recorders: list[Recorder] = []
        self._waiting: dict[str, Kept] = {}
        self._found_at = 0
        self._without_initial: list[Recorder] = []

    @property
    def _solver(self) -> Solver:
        solver = self._owner()
        assert solver is not None, "recordings are called by their solver"
        return solver

    @property
    def all(self) -> tuple[Recorder, ...]:
        """The recorders, in the order in which they were added."""
        return tuple(self._recorders)

    @property
    def waiting(self) -> list[str]:
        """The names of those that a checkpoint had and that are not there."""
        return list(self._waiting)

    def add(
        self, recorders: tuple[Recorder, ...], every: int | None, start: int | None
    ) -> Recorder | tuple[Recorder, ...]:
        """See `Solver.record`."""
        if not recorders:
            raise TypeError("recorders: none given, must be one or more, such as lbm.Mean('velocity')")
        for recorder in recorders:
            if not isinstance(recorder, Recorder):
                hint = "; of a list write record(*recorders)" if isinstance(recorder, list | tuple) else ""
                raise TypeError(
                    f"recorders: {checks.shown(recorder)} given, must be a Recorder, such as lbm.Mean(...){hint}"
                )
            if recorder._solver is not None:
                raise ValueError(f"recorders: {recorder!r} given, which records a solver already; make another one")
        self._check_paths(recorders)
        names = [known.name for known in (*self._recorders, *recorders)]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"recorders: two are named {name!r}; give one another name=")
        for recorder in recorders:
            if every is not None:
                recorder.every = checks.integer("every", every, at_least=1)
            if start is not None:
                recorder.start = checks.integer("start", start, at_least=0)
        with self._simulation.lock:
            for recorder in recorders:
                self._check_kinds(list(self._waiting.values()), [recorder])
                try:
                    with collective.by_user(
                        self._simulation.processes, f"record of {recorder.name}", self._solver.steps
                    ):
                        recorder.attach(self._solver)
                    recorder._solver = self._solver
                    self._go_on(recorder)
                except BaseException:  # of another rank too, whose recorder is not attached
                    recorder.detach()
                    recorder._solver = None
                    raise
                self._recorders.append(recorder)
                self._without_initial.append(recorder)
        return recorders[0] if len(recorders) == 1 else recorders

    def begin(self, step: int) -> None:
        """Have those sample the state before any step that want it and have not done so."""
        while self._without_initial:
            recorder = self._without_initial.pop(0)
            if recorder.samples_initial and recorder.is_due(step):
                self._sample(recorder, step)

    def steps_to_next(self, step: int) -> int:
        """Steps from `step` until the run loop has to stop for a sample."""
        stops = [r.next_after(step) - step for r in self._recorders if not r.sampled_by_engine]
        return min(stops, default=NEVER)

    def sample(self, step: int) -> None:
        """Have those take a sample that are due after so many steps."""
        for recorder in self._recorders:
            if not recorder.sampled_by_engine and recorder.is_due(step):
                self._sample(recorder, step)

    def _sample(self, recorder: Recorder, step: int) -> None:
        with collective.by_user(self._simulation.processes, f"recorder {recorder.name}", step):
            recorder.sample(self._solver)

    def state_was_set(self) -> None:
        """Tell all of them that the state is another one; raises the first error after that."""
        self._waiting, self._without_initial = {}, list(self._recorders)
        self._of_each(lambda recorder: recorder.state_was_set(self._solver))

    def flush(self) -> None:
        """Complete what goes on beside the steps, of all of them; raises the first error after that."""
        self._of_each(lambda recorder: recorder.flush())

    def leave(self, error: BaseException) -> None:
        """Complete what can be completed when a run is left by an error, which is the one that matters.

        Of several ranks one that alone has an error does not wait for the others, which do not know of it yet.
        """
        is_common = isinstance(error, DivergedError) or collective.is_agreed(error)
        alone = self._simulation.processes.size > 1 and not is_common
        try:
            self._of_each(lambda recorder: recorder.abandon() if alone else recorder.flush())
        except (OSError, RuntimeError, ValueError) as other:
            log.error("after step %d: %s", self._solver.steps, other)

    def _of_each(self, do: Callable[[Recorder], object]) -> None:
        errors: list[Exception] = []
        for recorder in self._recorders:
            try:
                do(recorder)
            except (OSError, RuntimeError, ValueError) as error:
                errors.append(error)
        if errors:
            raise errors[0]

    def _check_paths(self, recorders: Sequence[Recorder]) -> None:
        """Raise ValueError where two recorders write one file."""
        paths: dict[str, Recorder] = {}
        for recorder in (*self._recorders, *recorders):
            path = getattr(recorder, "path", None)
            if path is not None:
                other = paths.setdefault(os.path.realpath(path), recorder)
                if other is not recorder:
                    raise ValueError(f"recorders: {other!r} and {recorder!r} given, which both write {path}")

    # Checkpoints

    def kept(self) -> list[Kept]:
        """What a checkpoint keeps, also what waits for a recorder; on rank 0 with all arrays."""
        own = [Kept(recorder.name, type(recorder).__name__, recorder.kept()) for recorder in self._recorders]
        dimensions = len(self._simulation.domain.shape)
        waiting = [kept.to_save(dimensions) for kept in self._waiting.values()]
        return [kept for kept in own if kept.arrays] + waiting

    def check(self, kept: Sequence[Kept], steps: int) -> None:
        """Raise CheckpointError where a recorder cannot go on with what a checkpoint has, of so many steps.

        It changes nothing. Each rank does so for itself.
        """
        self._check_kinds(kept, self._recorders)
        known = {one.name: one for one in kept}
        for recorder in self._recorders:
            if recorder.name in known:
                with _refusals_of(recorder):
                    recorder.check_kept(known[recorder.name].arrays, steps)

    def _check_kinds(self, kept: Sequence[Kept], recorders: Sequence[Recorder]) -> None:
        """Raise CheckpointError where a checkpoint has another kind of recorder by the name of one."""
        kinds = {one.name: one.kind for one in kept}
        for recorder in recorders:
            kind = kinds.get(recorder.name, type(recorder).__name__)
            if kind != type(recorder).__name__:
                raise CheckpointError(
                    f"recorder {recorder.name!r}: the checkpoint has a {kind} of that name, this is {recorder!r}"
                )

    def found(self, kept: Sequence[Kept]) -> None:
        """Have recorders go on with what a checkpoint had; what is of others waits for them."""
        self._waiting = {one.name: one for one in kept}
        self._found_at = self._simulation.steps
        for recorder in self._recorders:
            self._go_on(recorder)

    def _go_on(self, recorder: Recorder) -> None:
        kept = self._waiting.get(recorder.name)
        if kept is not None:
            made = self._simulation.steps - self._found_at
            if made > 0:
                raise CheckpointError(
                    f"recorder {recorder.name!r}: it would go on from the checkpoint of step {self._found_at} without "
                    f"the {made} steps made since; record it before these steps, or begin anew by another name="
                )
            with _refusals_of(recorder):
                recorder.check_kept(kept.arrays, self._found_at)
                recorder.restore(kept.arrays)
            del self._waiting[recorder.name]


@contextmanager
def _refusals_of(recorder: Recorder) -> Iterator[None]:
    """Raise CheckpointError in place of the errors by which a recorder refuses what a checkpoint has."""
    try:
        yield
    except (KeyError, TypeError, ValueError) as error:
        reason = f"{error} is missing" if isinstance(error, KeyError) else error
        raise CheckpointError(f"recorder {recorder.name!r}: not what the checkpoint has ({reason})") from error
