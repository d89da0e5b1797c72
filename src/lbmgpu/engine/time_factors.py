"""The factors by which the engine multiplies what changes in time, computed for runs of steps ahead."""

from __future__ import annotations

import numpy as np

from .. import _core, values
from ..parallel import collective
from ..parallel.processes import Processes
from ..time_functions.product import TimeFunction, Varying
from .boundary import BoundaryValues

STEPS_AHEAD = 1024
"""For which factors are computed at once: enough that this costs nothing beside the steps."""
MAX_FORCE = 1.0
"""The largest force: one that changes the velocity by one cell a step within one step."""


class TimeFactors:
    """Keeps an engine supplied with the factors of its next steps; all ranks call each method together.

    Args:
        engine: with the values of faces and bodies.
        boundary: those values.
        processes: that the engine runs on.
        takes_last: whether an engine of cells that keep moments takes the factor of the last step too, by whose force
            populations follow from the moments.
    """

    def __init__(
        self, engine: _core.Engine, boundary: BoundaryValues, processes: Processes, *, takes_last: bool = False
    ) -> None:
        self._takes_last = takes_last
        self._engine = engine
        self._boundary = boundary
        self._processes = processes
        self._force: Varying | None = None
        self._functions = boundary.functions
        self._first = self._end = 0  # the steps whose factors are in the table
        self._table: values.Floats = np.empty((0, 0))
        self._poses: values.Floats = np.empty((0, 0))  # of bodies that move, in the same steps
        self._last: values.Floats = np.empty((0, 0))  # of the step before them, where that is taken

    @property
    def any(self) -> bool:
        """Whether anything changes in time by a factor, or a body moves."""
        return bool(self._functions) or self._boundary.moving.numbers > 0

    def set_force(self, force: Varying | None, part: values.Floats | None = None) -> None:
        """Have the engine multiply the force, of which the fixed part is an array, by factors from now on; None for one
        that the engine is given otherwise. `part` is the array as the engine takes it."""
        functions: list[TimeFunction] = self._boundary.functions
        if force is not None:
            assert part is not None
            if force.function not in functions:
                functions.append(force.function)
            series = self._boundary.first_factor + functions.index(force.function)
            now = self._engine.steps
            factor, before = (force.function(float(step)) for step in (now, max(now - 1, 0)))
            self._engine.scale_force(series, part, factor, before)
        self._force, self._functions = force, functions
        self._first = self._end = 0

    def steps_ahead(self, steps: int, *, is_read: bool = False) -> int:
        """How many of so many steps, from the present one on, the engine has factors of; computes them if it has none.

        Where the present state `is_read` only, a body need not be able to make the next step.

        Raises:
            ValueError: a value is out of range in the present step, or a body cannot make it.
        """
        if not self.any:
            return steps
        now = self._engine.steps
        if not self._first <= now < self._end:
            self._compute(now, is_read)
        return min(steps, self._end - now)

    def give(self, first: int, numbers: list[values.Floats]) -> None:
        """Give the engine the numbers of the steps from `first` on (`BoundaryValues.numbers`), beside the factors,
        which `steps_ahead` has computed."""
        rows = len(numbers) + 1  # that of the step after them is there, but its numbers are not
        nothing = np.empty((rows, 0))
        poses, factors = (
            each[first - self._first :][:rows] if self.any else nothing for each in (self._poses, self._table)
        )
        table = np.hstack([poses, np.stack([*numbers, numbers[-1]]), factors])
        if self._takes_last and self._force is not None and first > 0:
            last = self._last if first == self._first else self._table[first - self._first - 1 : first - self._first]
            table = np.vstack([np.hstack([poses[:1], numbers[0][None], last]), table])
            first -= 1
        if table.size > 0:  # this process has something that changes
            self._engine.set_factors(first, table)

    def _compute(self, now: int, is_read: bool) -> None:
        with collective.by_user(self._processes, "the functions of time", now):
            first = max(now - 1, 0) if self._takes_last else now
            rows = STEPS_AHEAD + 1 + now - first
            columns = [function.factors(first, rows) for function in self._functions]
            whole = np.stack(columns, axis=1) if columns else np.empty((rows, 0))
            table = whole[now - first :]
            count = self._boundary.check_factors(now, table[:STEPS_AHEAD])
            count = self._check_force(now, table[:count])
            poses, possible = self._boundary.moving.table(now, STEPS_AHEAD + 1)
            count = min(count, possible)
            if possible == 0 and not is_read:
                self._boundary.moving.check(now)
        if self._boundary.body_changes or self._force is not None:  # of which each rank knows its part
            count = int(-self._processes.agreed(float(-count)))
        self._table, self._poses, self._last = table, poses, whole[: now - first]
        self._first, self._end = now, now + count
        if not self._boundary.evaluates_ahead:
            self._engine.set_factors(first, whole if first < now else np.hstack([poses, table]))

    def _check_force(self, first: int, factors: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> int:
        """How many steps have forces in range, as `BoundaryValues.check_factors` has it."""
        if self._force is None:
            return len(factors)
        largest = float(np.abs(np.asarray(self._force.spatial)).max())
        sizes = largest * np.abs(factors[:, self._functions.index(self._force.function)])
        beyond = np.flatnonzero(sizes > MAX_FORCE)
        if beyond.size and beyond[0] == 0:
            check_force(f"force at t = {first}", float(sizes[0]))
        return int(beyond[0]) if beyond.size else len(factors)


def check_force(name: str, largest: float) -> None:
    """Raise ValueError for a force of such a magnitude if it is too large."""
    if largest > MAX_FORCE:
        raise ValueError(f"{name}: {largest:g} given, must be at most {MAX_FORCE:g} in magnitude, in lattice units")


def at(force: Varying, step: int) -> values.Floats:
    """A force whose fixed part is an array, at a step."""
    result = np.asarray(np.asarray(force.spatial) * force.function(float(step)))
    result.flags.writeable = False
    return result
