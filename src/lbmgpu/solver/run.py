"""The run loop: steps in chunks, checks for divergence and steady flow between them, and calls callbacks."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from .. import checks
from ..deprecated import renamed_arguments, renamed_attribute
from ..engine import argument_warnings
from ..errors import DivergedError
from ..files.regular_files import file_path
from ..parallel import collective
from ..parallel.processes import Processes
from .progress import Progress
from .steady import Looks, Steady

if TYPE_CHECKING:
    from .recording import Recorded
    from .solver import Solver

log = logging.getLogger("lbmgpu")

CHUNK_SECONDS = 0.1
"""Short enough for Ctrl-C, the progress bar and other threads, which wait for a chunk; long enough to cost nothing."""
MAX_CHUNK = 1000
"""The most steps of a chunk, and between two looks for divergence."""
MIN_STEPS, MIN_SECONDS = 128, 1.0
"""The steps between two looks for divergence, or the seconds if that many take longer; more where a look takes long."""
Observer = Callable[[int, int, float, int], object]
CHECK_SHARE = 0.02
"""The fraction of the time that looks for divergence may take."""


@dataclass(frozen=True)
class Every:
    """Calls ``function(solver)`` in a run whenever the step count is a multiple of `every`."""

    every: int
    function: Callable[[Any], object]

    steps: ClassVar[property] = renamed_attribute("steps", "every")

    def __post_init__(self) -> None:
        object.__setattr__(self, "every", checks.integer("every", self.every, at_least=1))
        checks.function("function", self.function)

    def __call__(self, solver: Solver) -> None:
        self.function(solver)


Every.__init__ = renamed_arguments(steps="every")(Every.__init__)  # type: ignore[method-assign]


@dataclass
class Checkpoint:
    """Saves a checkpoint at `path` in a run whenever the step count is a multiple of `every`.

    Each replaces the one before; a state that diverged is not saved.
    """

    path: str | os.PathLike[str]
    every: int
    _written: Path | None = field(default=None, init=False, repr=False, compare=False)

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "path":
            file_path("path", value)
        elif name == "every":
            value = checks.integer("every", value, at_least=1)
        elif type(self) is Checkpoint and name != "_written":
            raise AttributeError(f"Checkpoint: no attribute {name!r} to assign; it has path and every")
        object.__setattr__(self, name, value)

    @property
    def written(self) -> Path | None:
        """The path once the run at hand, or the last one, wrote a checkpoint; None before."""
        return self._written

    steps: ClassVar[property] = renamed_attribute("steps", "every")

    def __call__(self, solver: Solver) -> None:
        self._written = solver.save(self.path)
        log.info("step %d: checkpoint %s", solver.steps, self.written)


@dataclass(frozen=True)
class RunResult:
    """How a run ended.

    Attributes:
        steps: steps done.
        converged: whether `until` was reached.
        reason: why it ended, in words.
        seconds: time spent stepping.
        mlups: million updates of fluid cells a second of that time.
    """

    steps: int
    converged: bool
    reason: str
    seconds: float
    mlups: float


class Stepped(Protocol):
    """What a run needs of that which it advances: a `Simulation`, or several that advance together."""

    @property
    def lock(self) -> AbstractContextManager[Any]:
        """Held through each chunk of steps."""

    @property
    def processes(self) -> Processes:
        """That it runs on."""

    @property
    def steps(self) -> int:
        """Steps completed since the state was initialised."""

    @property
    def steps_per_update(self) -> int:
        """The most steps that are advanced for each time that memory is read and written."""

    @property
    def fluid_cells(self) -> int:
        """Cells that an update of all counts."""

    @property
    def has_temperature(self) -> bool:
        """Whether there is a temperature."""

    @property
    def precision(self) -> str:
        """Type of the arithmetic."""

    @property
    def storage(self) -> str:
        """Type that populations are kept in."""

    @property
    def phase_seconds(self) -> dict[str, float]:
        """Seconds in each phase of all steps."""

    def advance(self, steps: int) -> float:
        """Advance; the seconds that it took."""

    def check(self) -> None:
        """Raise `DivergedError` if the state is not valid."""

    def change(self, of: str) -> float:
        """The change of the velocity or the temperature since the last call."""


_observers: ContextVar[tuple[Observer, ...]] = ContextVar("_observers", default=())


@contextmanager
def observing(observer: Observer) -> Iterator[None]:
    """Call `observer` after each chunk of steps of every solver that this thread runs, until the body ends.

    It gets the chunk's steps, the fluid cells, the seconds, and the solver's steps.
    """
    token = _observers.set((*_observers.get(), observer))
    try:
        yield
    finally:
        _observers.reset(token)


class HealthCheck:
    """Decides when to look for divergence: as often as a small fraction of the time allows.

    Between two looks there are `MIN_STEPS` steps, or fewer that take `MIN_SECONDS`, and at most `MAX_CHUNK`: whole
    updates, below that as many as a power of two, so that like solvers which advance together in several threads look
    after the same steps.
    """

    def __init__(self) -> None:
        self._steps = 0
        self._stepped = 0.0
        self._interval: int | None = None

    def after(self, simulation: Stepped, steps: int, seconds: float) -> None:
        """Look at the state where that is due after a chunk of `steps` that took `seconds`."""
        self._steps += steps
        self._stepped += seconds
        if self._interval is None or self._steps >= self._interval:
            self.now(simulation)

    def now(self, simulation: Stepped) -> None:
        """Look at the state now if there was any step since the last look."""
        if self._steps == 0:
            return
        step_seconds = max(self._stepped / self._steps, 1e-9)
        self._steps, self._stepped = 0, 0.0
        if self._interval is None:
            simulation.check()  # the first look prepares the others, and takes longer
        start = time.perf_counter()
        simulation.check()
        cost = simulation.processes.agreed(time.perf_counter() - start)
        steps = max(cost / (CHECK_SHARE * step_seconds), min(MIN_STEPS, MIN_SECONDS / step_seconds))
        most = MAX_CHUNK // simulation.steps_per_update * simulation.steps_per_update
        self._interval = min(most, _whole_updates(simulation, min(steps, 2 * MAX_CHUNK)))

    @property
    def room(self) -> int:
        """Steps until a look is due; never 0, or the loop would not advance."""
        return max(1, (self._interval or MAX_CHUNK) - self._steps)


class RunLoop:
    """Steps a simulation and checks between chunks of steps whether it has diverged.

    Attributes:
        last: the result of the last run; None before.
        phases: seconds in each phase of its steps.
    """

    def __init__(self, simulation: Stepped, recordings: Recorded | None = None) -> None:
        self._simulation = simulation
        self._recordings = recordings
        self._health = HealthCheck()
        self._looks: Looks | None = None
        self.last: RunResult | None = None
        self.phases: dict[str, float] = {}

    def advance(self, steps: int, next_stop: Callable[[], int] = lambda: MAX_CHUNK) -> Iterator[tuple[int, float, int]]:
        """Advance in chunks, and yield after each its steps, its seconds, and the solver's steps at its end.

        A chunk lasts about `CHUNK_SECONDS`. Its updates are a power of two, so that like solvers which advance together
        in several threads want the same number of steps; they are whole, so that memory is read for as many steps as
        can be; and it has at most `next_stop()` steps. Between chunks Python handles signals, so that Ctrl-C finds the
        state whole, and other threads have their turn, so that they find it whole too.
        """
        rate = 0.0
        if steps > 0 and self._recordings is not None:
            with self._simulation.lock:
                self._recordings.begin(self._simulation.steps)
        while steps > 0:
            with self._simulation.lock:
                chunk = _whole_updates(self._simulation, rate * CHUNK_SECONDS)
                chunk = min(chunk, self._health.room, steps, next_stop())
                if self._recordings is not None:
                    chunk = min(chunk, self._recordings.steps_to_next(self._simulation.steps))
                seconds = self._simulation.advance(chunk)
                self._health.after(self._simulation, chunk, seconds)
                reached = self._simulation.steps
                if self._recordings is not None:
                    self._recordings.sample(reached)
            for observer in _observers.get():
                observer(chunk, self._simulation.fluid_cells, seconds, reached)
            rate = chunk / max(seconds, 1e-9)
            steps -= chunk
            yield chunk, seconds, reached

    def run(
        self,
        solver: Any,
        steps: int,
        *,
        progress: bool = False,
        until: Steady | None = None,
        callbacks: Sequence[Every | Checkpoint] = (),
    ) -> RunResult:
        """See `Solver.run`; the callbacks get `solver`, the `Solver` or `Ensemble` whose part this is."""
        simulation = self._simulation
        before = simulation.phase_seconds
        steps = checks.integer("steps", steps)
        progress = checks.flag("progress", progress)
        if until is not None and not isinstance(until, Steady):
            raise TypeError(f"until: {checks.shown(until)} given, must be Steady(tolerance) or None")
        if until is not None:
            until.check(solver, simulation.has_temperature)
        if isinstance(callbacks, Every | Checkpoint):
            kind = type(callbacks).__name__
            raise TypeError(f"callbacks: a single {kind}(...) given, must be a list: [{kind}(...)]")
        if isinstance(callbacks, Sequence):
            callbacks = checks.listed("callbacks", callbacks, "a list of Every and Checkpoint")
        if not isinstance(callbacks, list) or not all(isinstance(c, Every | Checkpoint) for c in callbacks):
            raise TypeError(f"callbacks: {checks.shown(callbacks)} given, must be a list of Every and Checkpoint")

        if until is not None and until.of == "velocity" and simulation.processes.first:
            argument_warnings.warn_of_tolerance(until.tolerance, simulation.precision, simulation.storage)
        checkpoints = [c for c in callbacks if isinstance(c, Checkpoint)]
        for checkpoint in checkpoints:
            checkpoint._written = None  # an error of this run must not name a file of an earlier one
        done, seconds, converged = 0, 0.0, False
        if until is not None and (self._looks is None or self._looks.until != until):
            self._looks = Looks(until, simulation)
        looks = self._looks if until is not None else None
        if looks is not None:
            looks.begin()

        def next_stop() -> int:
            """Steps until a callback or a look at the change is due."""
            stops = [c.every - simulation.steps % c.every for c in callbacks]
            if until is not None:
                stops.append(until.every - done % until.every)
            return min(stops, default=steps)

        cells = simulation.fluid_cells
        try:
            with Progress(steps, cells, progress and simulation.processes.first) as bar:
                for chunk, chunk_seconds, reached in self.advance(steps, next_stop):
                    done += chunk
                    seconds += chunk_seconds
                    bar.update(chunk, chunk_seconds)
                    for callback in callbacks:
                        if reached % callback.every == 0:
                            with collective.by_user(
                                simulation.processes, f"a callback of run at step {reached}", reached
                            ):
                                callback(solver)
                    if looks is not None and done % looks.until.every == 0:
                        change = looks.change(solver)
                        bar.change(change)
                        log.debug("step %d: change of the %s %.3g", simulation.steps, looks.until.subject, change)
                        if change <= looks.until.tolerance:
                            converged, self._looks = True, None
                            break
                with simulation.lock:
                    self._health.now(simulation)
        except DivergedError as error:
            written = [c.written for c in checkpoints if c.written is not None]
            error.checkpoint = written[-1] if written else None
            self._leave(error)
            raise
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                log.warning("interrupted after step %d", simulation.steps)
            self._leave(error)
            raise
        if self._recordings is not None:
            self._recordings.flush()
        reason = (
            f"steady: the {until.subject} changes by less than {until.tolerance:g}" if converged and until else "done"
        )
        mlups = cells * done / seconds / 1e6 if seconds > 0 else 0.0
        self.last = RunResult(done, converged, reason, seconds, mlups)
        after = simulation.phase_seconds
        self.phases = {phase: seconds - before.get(phase, 0.0) for phase, seconds in after.items()}
        return self.last

    def _leave(self, error: BaseException) -> None:
        if self._recordings is not None:
            self._recordings.leave(error)


def _whole_updates(simulation: Stepped, steps: float) -> int:
    """The steps of so many updates as the largest power of two that has at most `steps`, and of one at least."""
    each = simulation.steps_per_update
    return each << max(0, int(steps / each).bit_length() - 1)
