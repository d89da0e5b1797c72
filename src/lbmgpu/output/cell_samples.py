"""The samples of each cell that statistics are made of: those that the engine takes by itself, and those of NumPy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..engine.simulation import Simulation
from ..values import Floats

QUANTITIES = ("density", "velocity_x", "velocity_y", "velocity_z", "temperature")
"""What the engine samples: the density's deviation from 1, components of the velocity, the temperature as it has it."""

MINIMUM, MAXIMUM, COMOMENT = 5, 10, 15
"""The first slot of the minima, of the maxima and of the co-moments; means are the first ones."""


def comoment_slot(a: int, b: int) -> int:
    """The slot of the co-moment of two quantities."""
    a, b = min(a, b), max(a, b)
    return COMOMENT + 5 * a - a * (a - 1) // 2 + (b - a)


def slot_name(slot: int) -> str:
    """What a checkpoint calls the numbers of a slot."""
    if slot < COMOMENT:
        return f"{('mean', 'minimum', 'maximum')[slot // MINIMUM]} of {QUANTITIES[slot % MINIMUM]}"
    pairs = ((a, b) for a in range(5) for b in range(a, 5))
    a, b = next((a, b) for a, b in pairs if comoment_slot(a, b) == slot)
    return f"co-moment of {QUANTITIES[a]} and {QUANTITIES[b]}"


def with_means(slots: set[int]) -> set[int]:
    """The slots with those that samples of co-moments need: the means of both quantities."""
    means = {q for a in range(5) for b in range(a, 5) if comoment_slot(a, b) in slots for q in (a, b)}
    return slots | means


class EngineSamples:
    """Statistics that an engine samples in one pass for all recorders of a solver that sample the same states.

    Args:
        simulation: whose cells they are of.
        every, start: of the recorders.

    Attributes:
        core: the engine's statistics.
    """

    _of: ClassVar[WeakKeyDictionary[Simulation, list[EngineSamples]]] = WeakKeyDictionary()

    def __init__(self, simulation: Simulation, every: int, start: int) -> None:
        self._schedule = (every, start)
        self._users: dict[int, set[int]] = {}
        self.core = _core.CellStatistics(simulation.engine, every, start)

    @classmethod
    def joined(
        cls, simulation: Simulation, every: int, start: int, samples: int, user: object, slots: set[int]
    ) -> EngineSamples:
        """Those of a simulation with the same schedule and as many samples, or new ones; with the slots of a user."""
        known = cls._of.setdefault(simulation, [])
        found = next((s for s in known if s._schedule == (every, start) and s.core.samples == samples), None)
        fresh = cls(simulation, every, start) if found is None else found
        needed = with_means(slots)
        try:
            fresh._choose({**fresh._users, id(user): needed})
        except BaseException:
            if found is None:
                fresh.core.remove()
            else:
                found._choose(found._users)  # drops what was allocated before the memory was used up
            raise
        if found is None:
            fresh.core.samples = samples
            known.append(fresh)
        return fresh

    @classmethod
    def new_slots(cls, simulation: Simulation, every: int, start: int, slots: set[int]) -> set[int]:
        """The slots that `joined` would allocate for a user that begins anew."""
        known = cls._of.get(simulation, [])
        found = next((s for s in known if s._schedule == (every, start) and s.core.samples == 0), None)
        return with_means(slots) - (set() if found is None else set().union(*found._users.values()))

    def leave(self, simulation: Simulation, user: object) -> None:
        """Sample no more for a user."""
        self._choose({key: slots for key, slots in self._users.items() if key != id(user)})
        if not self._users:
            self.core.remove()
            self._of[simulation].remove(self)

    def _choose(self, users: dict[int, set[int]]) -> None:
        self.core.choose(sum(1 << slot for slot in set().union(*users.values())))
        self._users = users


class ArraySamples:
    """The same of arrays, for fields that the engine does not sample; as it does it, by Welford's updates.

    Args:
        means: the names of the fields whose means are wanted.
        pairs: pairs of fields whose co-moments are wanted, which must be among the means.
        minima, maxima: the names of the fields whose extremes are wanted.

    Attributes:
        count: samples.
        arrays: by what they are; with the axes of the fields, those of components first.
    """

    def __init__(
        self,
        means: Sequence[str] = (),
        pairs: Sequence[tuple[str, str]] = (),
        minima: Sequence[str] = (),
        maxima: Sequence[str] = (),
    ) -> None:
        self._means, self._pairs, self._minima, self._maxima = means, pairs, minima, maxima
        self.fields = tuple(dict.fromkeys((*means, *minima, *maxima)))
        self.clear()

    @property
    def names(self) -> list[str]:
        """The names of the arrays that there are once there is a sample."""
        lists = (("mean", self._means), ("minimum", self._minima), ("maximum", self._maxima))
        pairs = [_comoment_name(a, b) for a, b in self._pairs]
        return [f"{kind} of {name}" for kind, names in lists for name in names] + pairs

    def numbers(self, components: Mapping[str, int]) -> int:
        """The numbers of a cell that it keeps, and has beside them while it takes a sample; an estimate from above.

        Args:
            components: of each field.
        """
        kept = sum(components[name] for name in (*self._means, *self._minima, *self._maxima))
        products = [components[a] * components[b] for a, b in self._pairs]
        return kept + sum(products) + max(products, default=0) + 3 * sum(components[name] for name in self.fields)

    def clear(self) -> None:
        """Forget all samples."""
        self.count = 0
        self.arrays: dict[str, Floats] = {}

    def add(self, fields: dict[str, NDArray[Any]], dimensions: int) -> None:
        """Add a sample of all fields, whose last axes are the cells of so many dimensions."""
        self.count += 1
        values = {name: np.asarray(fields[name], dtype=np.float64) for name in self.fields}
        before, after = {}, {}
        for name in self._means:
            mean = self.arrays.setdefault(f"mean of {name}", np.zeros_like(values[name]))
            before[name] = values[name] - mean
            mean += before[name] * (1 / self.count)
            after[name] = values[name] - mean
        for a, b in self._pairs:
            product = before[a][_aside(before[a], after[b], dimensions)] * after[b]
            key = _comoment_name(a, b)
            self.arrays[key] = self.arrays[key] + product if key in self.arrays else product
        for kind, names, extreme in (("minimum", self._minima, np.fmin), ("maximum", self._maxima, np.fmax)):
            for name in names:
                key = f"{kind} of {name}"
                self.arrays[key] = extreme(self.arrays[key], values[name]) if key in self.arrays else values[name]


def _comoment_name(a: str, b: str) -> str:
    return f"co-moment of {a} and {b}"


def _aside(a: Floats, b: Floats, dimensions: int) -> tuple[Any, ...]:
    """The index by which the components of `a` come before those of `b`."""
    lead = a.ndim - dimensions
    return (*(slice(None),) * lead, *(np.newaxis,) * (b.ndim - dimensions), Ellipsis)
