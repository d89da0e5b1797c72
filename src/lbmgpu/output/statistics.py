"""Running statistics of fields: means, covariances such as Reynolds stresses, minima and maxima."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import checks
from ..values import Floats
from .axis_means import ENGINE_UNIT
from .batches import FEWEST
from .cell_samples import MAXIMUM, MINIMUM, ArraySamples, comoment_slot
from .sampled_statistics import Key, Statistics

FIELDS = ("velocity", "pressure", "density", "temperature", "vorticity", "strain_rate", "dissipation")
"""The fields that statistics are of, by the names of the methods of `Solver` that give them."""


class Mean(Statistics):
    """Running means of fields in time.

    Args:
        fields: any of ``"velocity"``, ``"pressure"``, ``"density"``, ``"temperature"``, ``"vorticity"``,
            ``"strain_rate"`` and ``"dissipation"``. The engine samples the first four by itself, between steps; of
            D2Q37 all but the pressure. For the others the loop stops, and each sample is as slow as reading the field.
        over: axes over which the means go too, such as ``"xz"`` in a channel between walls across y; None for none.
            Solid cells are left out.
        batches: batches of samples for `confidence`, at least; 16 with `over`, which costs almost nothing. Without
            `over`, None for none: they are of each cell and take up to ``16 batches`` bytes of the host's memory for
            each cell and component.
        every, start, name: as for `Recorder`.

    It takes 8 bytes of the device's memory for each cell and component. In solid cells the mean is what the field has
    there.
    """

    def __init__(
        self,
        *fields: str,
        over: str | None = None,
        batches: int | None = None,
        every: int = 1,
        start: int = 0,
        name: str | None = None,
    ) -> None:
        if batches is not None:
            batches = checks.integer("batches", batches, at_least=4)
        elif over is not None:
            batches = 16
        super().__init__(_names(fields), over, batches, every, start, name)

    def _slots_of(self, key: Key) -> set[int]:
        assert isinstance(key, str)
        return set(self._sampled[key].quantities)

    def _arrays_of(self, keys: list[Key]) -> ArraySamples:
        return ArraySamples(means=[str(key) for key in keys])

    def _read(self, key: Key) -> Floats:
        name = str(key)
        field = self._sampled.get(name)
        if field is None:
            assert self._arrays is not None
            values = self._arrays.arrays[f"mean of {name}"]
            return values if self._axes is None else self._axes.of(values)
        if self._axes is None:
            return self._in_fluid(name, self._of_slots(name, 0))
        assert self._engine is not None
        parts = []
        over = "".join("xyz"[axis] for axis in self._axes.axes)
        for quantity in field.quantities:
            words = self._engine.core.sums(quantity, over)  # with the other axes reversed
            mean = self._axes.from_words(words.transpose(*range(words.ndim - 2, -1, -1), words.ndim - 1), ENGINE_UNIT)
            parts.append(field.scale * mean + field.offset)
        return parts[0] if field.scalar else np.stack(parts)

    @property
    def has_confidence(self) -> bool:
        """Whether there are enough batches for `confidence` by now."""
        return self._batches is not None and len(self._batches.ends) >= FEWEST

    def confidence(self, field: str, level: float = 0.95, gather: bool = False) -> Any:
        """Half the width of the confidence interval of a mean, with the shape of it: by batch means.

        The samples are divided into batches of one length, which doubles as they get more; the means of batches that
        are longer than the correlation time hardly depend on each other (Schmeiser, Oper. Res. 30 (1982) 556). All
        ranks call it together.

        Args:
            field: one of `fields`.
            level: of confidence, above 0 and below 1.
            gather: as for `read`.

        Raises:
            ValueError: not one of the fields, fewer than 4 batches, or neither `over` nor `batches` was given.
        """
        key = self._checked(field)
        level = checks.number("level", level, above=0, below=1)
        gather = checks.flag("gather", gather)
        if self._batches is None:
            raise ValueError("confidence: this mean has no batches; Mean(..., over=...) or Mean(..., batches=16) has")
        with self.solver.paused():
            values = self._batches.half_width(str(key), level)
            return self._gathered(values) if gather and self._axes is None else values


class Covariance(Statistics):
    """Running covariances of fields in time: the mean of ``(a - mean of a)(b - mean of b)``.

    Those of the velocity with itself are the Reynolds stresses divided by the density: ``cov["velocity"][0, 1]`` is
    the mean of u'v'. They are updated by Welford's scheme (Technometrics 4 (1962) 419), so that variances of small
    fluctuations about large means keep their digits.

    Args:
        fields: each the name of a field, for its components with each other, or a pair of names, such as
            ``("velocity", "temperature")``. Names as for `Mean`.
        over: axes over which means go too, see `Mean`; fluctuations are then those about the mean over time and these
            axes.
        every, start, name: as for `Recorder`.

    ``cov["velocity"]`` is ``(D, D, x, y[, z])``, ``cov["velocity", "temperature"]`` is ``(D, x, y[, z])``, and that of
    a scalar field ``(x, y[, z])``. Each different product of components takes 8 bytes of the device's memory for each
    cell, beside those of the means, which it shares with a `Mean` of the same call of `Solver.record`.
    """

    def __init__(
        self,
        *fields: str | tuple[str, str],
        over: str | None = None,
        every: int = 1,
        start: int = 0,
        name: str | None = None,
    ) -> None:
        keys: list[Key] = []
        for field in fields:
            if isinstance(field, tuple):
                if len(field) != 2:
                    raise ValueError(f"fields: {checks.shown(field)} given, must be a name or a pair of names")
                first, second = _names(field)
                keys.append((first, second))
            else:
                keys.append(_names((field,))[0])
        super().__init__(tuple(keys), over, None, every, start, name)

    def _slots_of(self, key: Key) -> set[int]:
        a, b = _pair(key)
        return {comoment_slot(p, q) for p in self._sampled[a].quantities for q in self._sampled[b].quantities}

    def _arrays_of(self, keys: list[Key]) -> ArraySamples:
        pairs = [_pair(key) for key in keys]
        return ArraySamples(means=list(dict.fromkeys(name for pair in pairs for name in pair)), pairs=pairs)

    def _read(self, key: Key) -> Floats:
        a, b = _pair(key)
        if not self._is_sampled(key):
            assert self._arrays is not None
            values = self._arrays.arrays[f"co-moment of {a} and {b}"] / self.samples
            means = [self._arrays.arrays[f"mean of {name}"] for name in (a, b)]
            return values if self._axes is None else self._over_axes(values, means[0], means[1])
        first, second = self._sampled[a], self._sampled[b]
        known: dict[tuple[int, int], Floats] = {}
        for p in first.quantities:
            for q in second.quantities:
                pair = (min(p, q), max(p, q))
                if pair not in known:
                    known[pair] = self._covariance(p, q, first.scale * second.scale)
        rows = [[known[min(p, q), max(p, q)] for q in second.quantities] for p in first.quantities]
        parts = [row[0] if second.scalar else np.stack(row) for row in rows]
        return parts[0] if first.scalar else np.stack(parts)

    def _covariance(self, p: int, q: int, scale: float) -> Floats:
        values = self._slot(comoment_slot(p, q)) / self.samples
        if self._axes is not None:
            values = self._over_axes(values, self._slot(p), self._slot(q))
        return scale * values

    def _over_axes(self, values: Floats, a: Floats, b: Floats) -> Floats:
        """The mean of covariances over the axes, with what the means in time vary along them."""
        assert self._axes is not None
        a, b = (mean - self._axes.expanded(self._axes.of(mean)) for mean in (a, b))
        dimensions = len(self._simulation.domain.shape)
        lead = (slice(None),) * (a.ndim - dimensions)
        return self._axes.of(values + a[(*lead, *(np.newaxis,) * (b.ndim - dimensions), Ellipsis)] * b)


class _Extreme(Statistics):
    """What `Minimum` and `Maximum` share."""

    _first_slot = MINIMUM
    _word = "minimum"

    def __init__(
        self, *fields: str, over: str | None = None, every: int = 1, start: int = 0, name: str | None = None
    ) -> None:
        super().__init__(_names(fields), over, None, every, start, name)

    def _slots_of(self, key: Key) -> set[int]:
        return {self._first_slot + q for q in self._sampled[str(key)].quantities}

    def _arrays_of(self, keys: list[Key]) -> ArraySamples:
        names = [str(key) for key in keys]
        return ArraySamples(minima=names) if self._first_slot == MINIMUM else ArraySamples(maxima=names)

    def _read(self, key: Key) -> Floats:
        name = str(key)
        if name in self._sampled:
            values = self._of_slots(name, self._first_slot)
            if self._axes is None:
                return self._in_fluid(name, values)
        else:
            assert self._arrays is not None
            values = self._arrays.arrays[f"{self._word} of {name}"]
        return values if self._axes is None else self._axes.extreme(values, self._first_slot == MAXIMUM)


class Minimum(_Extreme):
    """The least numbers that fields have had in the sampled states, component by component.

    Args:
        fields, over: as for `Mean`; `over` is over the fluid cells along these axes too.
        every, start, name: as for `Recorder`.
    """


class Maximum(_Extreme):
    """The largest numbers that fields have had in the sampled states, component by component.

    Args:
        fields, over: as for `Mean`; `over` is over the fluid cells along these axes too.
        every, start, name: as for `Recorder`.
    """

    _first_slot = MAXIMUM
    _word = "maximum"


def _names(fields: tuple[Any, ...]) -> tuple[str, ...]:
    """Names of fields; raises TypeError or ValueError for others."""
    for field in fields:
        if isinstance(field, list | tuple):
            hint = "each an argument of its own, such as Mean('velocity', 'density')"
            raise TypeError(f"fields: {checks.shown(field)} given, must be names, {hint}")
    return tuple(checks.choice("fields", field, FIELDS) for field in fields)


def _pair(key: Key) -> tuple[str, str]:
    return (key, key) if isinstance(key, str) else key
