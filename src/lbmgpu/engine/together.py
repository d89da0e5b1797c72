"""Several simulations that advance together on one device, as the run loop and the benchmarks have them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import ExitStack

from .. import _core
from ..errors import DivergedError
from ..parallel.fair_lock import FairLock
from ..parallel.processes import Processes
from .simulation import Simulation

MEMBERS_A_THREAD = 4
"""On the CPU, simulations whose values change in time are a group of their own from so many members a thread on.

Two turns then take at most one round of the threads more than one turn: a quarter of it, where single steps of all
take up to twice the time of steps in one call (64 members of 64 x 64 on two cores).
"""


class Together:
    """Simulations that advance together.

    Functions of time on faces and bodies are called for some steps ahead, so that the simulations which have such make
    no more steps in a call, and with them those that need factors of their next steps. The others are a group of their
    own and make all steps of a chunk in one call.

    Attributes:
        lock: held through each chunk of steps.
        leaves_out: whether a simulation that diverges is left out; else that is an error.
        diverged: those that were, by number, and their errors.

    Args:
        simulations: each of one block, all on one device.
        threads: number of threads that step simulations on the CPU.

    Raises:
        ValueError: some of several blocks, or on several devices; when they first advance.
    """

    def __init__(self, simulations: Sequence[Simulation], threads: int) -> None:
        self.lock = FairLock()
        self.leaves_out = False
        self.diverged: dict[int, DivergedError] = {}
        self._simulations = list(simulations)
        self._threads = threads
        self._grouped: list[tuple[int, bool]] = []
        self._singly: tuple[list[Simulation], _core.EngineGroup] | None = None
        self._at_once: _core.EngineGroup | None = None

    @property
    def active(self) -> list[int]:
        """The numbers of those that advance."""
        return [number for number in range(len(self._simulations)) if number not in self.diverged]

    @property
    def processes(self) -> Processes:
        """This process alone."""
        return self._simulations[0].processes

    @property
    def steps(self) -> int:
        """Steps of those that advance; of all where none does."""
        return self._simulations[(self.active or [0])[0]].steps

    @property
    def steps_per_update(self) -> int:
        """The most steps that are advanced for each time that memory is read and written."""
        return self._simulations[0].steps_per_update

    @property
    def fluid_cells(self) -> int:
        """Fluid cells of those that advance."""
        return sum(self._simulations[number].fluid_cells for number in self.active)

    @property
    def has_temperature(self) -> bool:
        """Whether all have a temperature."""
        return all(simulation.has_temperature for simulation in self._simulations)

    @property
    def precision(self) -> str:
        """Type of the arithmetic."""
        return self._simulations[0].precision

    @property
    def storage(self) -> str:
        """Type that populations are kept in."""
        return self._simulations[0].storage

    @property
    def phase_seconds(self) -> dict[str, float]:
        """Seconds in each phase of all steps, added up."""
        total: dict[str, float] = {}
        for simulation in self._simulations:
            for phase, seconds in simulation.phase_seconds.items():
                total[phase] = total.get(phase, 0.0) + seconds
        return total

    def advance(self, steps: int) -> float:
        """Advance without checking for divergence; return the seconds that it took."""
        numbers = self.active
        if not numbers:
            raise ValueError("members: all have diverged, so that none is left to advance")
        parts = [self._simulations[number] for number in numbers]
        with ExitStack() as stack:
            for part in parts:
                stack.enter_context(part.lock)
            start = time.perf_counter()
            for part in parts:
                part.ahead.forget()  # an error may have left some
            grouped = [(number, _changes(part)) for number, part in zip(numbers, parts, strict=True)]
            if self._grouped != grouped:
                self._divide(parts)
                self._grouped = grouped
            before = parts[0].engine.steps
            made = steps
            try:
                if self._singly is not None:
                    self._step_singly(*self._singly, before + steps)
            finally:  # also after Ctrl-C, or an error in somebody's values, so that all are at the same step
                if self._singly is not None:
                    made = self._singly[0][0].engine.steps - before
                if self._at_once is not None and made > 0:
                    self._at_once.step(made)
            return time.perf_counter() - start

    def _step_singly(self, members: list[Simulation], group: _core.EngineGroup, target: int) -> None:
        while (left := target - members[0].engine.steps) > 0:
            for member in members:
                left = min(left, member.prepare_steps(left))
            group.step(left)

    def _divide(self, parts: list[Simulation]) -> None:
        """Make the groups: those whose values change in time and the others, or all in one where that is faster."""
        changing = [part for part in parts if _changes(part)]
        others = [part for part in parts if part not in changing]
        if changing and parts[0].device == "cpu" and len(parts) < MEMBERS_A_THREAD * self._threads:
            changing, others = parts, []
        self._singly = (changing, self._group(changing)) if changing else None
        self._at_once = self._group(others) if others else None

    def _group(self, members: list[Simulation]) -> _core.EngineGroup:
        return _core.EngineGroup(tuple(member.engine for member in members), self._threads)

    def check(self) -> None:
        """Look for divergence: leave out those that did, or raise the error of the first, which names it."""
        for number in self.active:
            try:
                self._simulations[number].check()
            except DivergedError as error:
                error.member = number
                if not self.leaves_out:
                    raise
                self.diverged[number] = error
                if not self.active:
                    raise

    def change(self, of: str) -> float:
        """The largest change of those that advance; one that has diverged is left out first, or is an error."""
        changes = {number: self._simulations[number].change(of) for number in self.active}
        if any(change != change for change in changes.values()):
            self.check()
        return max(changes[number] for number in self.active)


def _changes(member: Simulation) -> bool:
    """Whether a member has values that change in time, for which the host has to prepare its steps."""
    return bool(member.boundary.changing or member.factors.any)
