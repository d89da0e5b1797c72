"""The values of functions of coordinates and t, evaluated for some steps ahead, which the engine then makes at once."""

from __future__ import annotations

from contextlib import ExitStack

from .. import _core
from ..parallel import collective, fair_lock
from ..parallel.processes import Processes
from ..values import Floats
from .boundary import BoundaryValues
from .time_factors import TimeFactors


class ValuesAhead:
    """Calls the functions for the next steps of a run, in order and once for each, and gives the engine their values.

    They are never called for steps that the run loop has not asked for, since what it returns to between two chunks of
    steps may change what they depend on. Functions that look at a solver are called before each step alone. What a
    function raises is kept until the engine has come to its step. All ranks call each method together.

    Args:
        engine: with the values of faces and bodies.
        boundary: those values.
        factors: by which the engine gets them.
        processes: that the engine runs on.
    """

    def __init__(
        self, engine: _core.Engine, boundary: BoundaryValues, factors: TimeFactors, processes: Processes
    ) -> None:
        self._engine = engine
        self._boundary = boundary
        self._factors = factors
        self._processes = processes
        self._most = boundary.steps_ahead
        self._first = 0
        self._values: list[list[Floats]] = []  # of the steps from the first one on
        self._failed: tuple[int, Exception] | None = None  # a step, and what a function raised for it

    def forget(self) -> None:
        """Evaluate anew what has been evaluated for steps that have not been made."""
        self._values = []
        self._failed = None

    def prepare(self, steps: int) -> int:
        """Give the engine the values of at least one step; returns how many of so many steps it can make.

        Raises:
            TypeError, ValueError: the values of the present step are wrong; and what a function raises.
        """
        now = self._engine.steps
        with ExitStack() as stack:
            if self._boundary.body_changes:  # of which each rank knows its part
                stack.enter_context(collective.by_user(self._processes, "the functions of bodies", now))
            if not self._first <= now < self._first + len(self._values):
                self._evaluate(now, min(steps, self._most))
                self._factors.give(now, [self._boundary.numbers(values) for values in self._values])
        left = self._first + len(self._values) - now
        count = int(-self._processes.agreed(-float(min(steps, left))))
        self._boundary.put(self._values[now - self._first + count - 1])
        return count

    def _evaluate(self, now: int, steps: int) -> None:
        found: list[list[Floats]] = []
        failed, self._failed = self._failed, None
        if failed is not None and failed[0] == now:
            raise failed[1]
        for step in range(now, now + steps):
            uses = fair_lock.uses()
            error = None
            try:
                values = self._boundary.values_at(float(step), is_present=step == now)
            except Exception as raised:  # whatever a function raises
                error = raised
            if fair_lock.uses() != uses:  # it looks at a solver, whose state of that step is not there yet
                self._most = 1
                if step > now:
                    break
            if error is not None:
                if step == now:
                    raise error
                self._failed = step, error
                break
            found.append(values)
        self._first, self._values = now, found
