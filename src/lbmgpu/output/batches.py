"""Confidence intervals of means of numbers that are correlated in time, by batch means."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..io.checkpoint_recorders import Array, OfCells
from ..values import Floats

FEWEST = 4
"""Batches that a confidence interval needs at least."""
OF_A_SERIES = 6
"""Batches of a series of numbers at least, and up to twice as many: few and long ones, as a wake is correlated over
some turnovers."""
MOST_CORRELATION = 0.8
"""Of neighbouring batches that is believed, as it is known badly of few."""


class Batches:
    """Running means at the ends of batches of samples, of which adjacent ones are joined as the samples get more.

    There are `count` to ``2 count - 1`` batches of one length, a power of two; so batches get longer than the
    correlation time of what is sampled (Schmeiser, Oper. Res. 30 (1982) 556, on their number; Fishman & Yarberry,
    INFORMS J. Comput. 9 (1997) 296, on doubling their length).

    Args:
        count: of batches, at least.

    Attributes:
        length: samples of a batch.
        ends: the number of samples at the end of each batch.
        means: of each field at these ends, over all samples until then.
    """

    def __init__(self, count: int) -> None:
        self.count = count
        self.clear()

    def clear(self) -> None:
        """Forget all of them."""
        self.length = 1
        self.ends: list[int] = []
        self.means: dict[str, list[Floats]] = {}

    def next_end(self, samples: int) -> int:
        """The number of samples at the end of the first batch that is not complete."""
        return (samples // self.length + 1) * self.length

    def add(self, samples: int, means: dict[str, Floats]) -> None:
        """Add the running means after a batch."""
        self.ends.append(samples)
        for name, mean in means.items():
            self.means.setdefault(name, []).append(mean)
        if len(self.ends) == 2 * self.count:
            self.length *= 2
            self.ends = self.ends[1::2]
            self.means = {name: of_field[1::2] for name, of_field in self.means.items()}

    def batch_means(self, name: str) -> Floats:
        """The mean of a field over each batch, ``(batches, ...)``; ValueError of too few."""
        found = len(self.ends)
        if found < FEWEST:
            raise ValueError(f"confidence: after {found} batches of {self.length} samples, needs {FEWEST} at least")
        sums = [end * mean for end, mean in zip(self.ends, self.means[name], strict=True)]
        return np.stack([sums[0], *(b - a for a, b in itertools.pairwise(sums))]) / self.length

    def half_width(self, name: str, level: float) -> Floats:
        """Half the width of the confidence interval of a field's mean."""
        batches = self.batch_means(name)
        error = np.std(batches, axis=0, ddof=1) / math.sqrt(len(batches))
        return np.asarray(student_quantile(0.5 + level / 2, len(batches) - 1) * error)

    def kept(self, dimensions: int | None) -> dict[str, Array]:
        """Arrays that `restore` takes back; the means are of cells of so many dimensions, unless that is None."""
        arrays: dict[str, Array] = {"batch ends": np.array(self.ends, dtype=np.int64)}
        arrays["batch length"] = np.array([self.length], dtype=np.int64)
        for name, means in self.means.items():
            arrays[f"batches of {name}"] = np.stack(means) if dimensions is None else _of_cells(means, dimensions)
        return arrays

    def check_kept(self, kept: dict[str, NDArray[Any]], fields: Sequence[str], shape: tuple[int, ...]) -> None:
        """Raise KeyError or ValueError where `restore` could not go on with it.

        Args:
            kept: what `kept` gave.
            fields: whose means there are.
            shape: of a mean, without an axis of components.
        """
        length, ends = kept["batch length"], kept["batch ends"]
        if length.dtype != np.int64 or length.shape != (1,) or length[0] < 1:
            raise ValueError("the length of its batches is no integer from 1")
        if ends.dtype != np.int64 or ends.ndim != 1 or len(ends) >= 2 * self.count or (np.diff(ends) != length).any():
            raise ValueError("the ends of its batches are not such")
        for name in fields if len(ends) else ():
            means = kept[f"batches of {name}"]
            here = means.shape[means.ndim - len(shape) :]
            if means.dtype != np.float64 or len(means) != len(ends) or here != shape:
                raise ValueError(f"the batches of {name} are not {len(ends)} arrays of {shape}")

    def restore(self, kept: dict[str, NDArray[Any]]) -> None:
        """Take back what `kept` gave."""
        self.clear()
        self.length = int(kept["batch length"][0])
        self.ends = [int(end) for end in kept["batch ends"]]
        lead = "batches of "
        self.means = {name[len(lead) :]: list(array) for name, array in kept.items() if name.startswith(lead)}


def half_widths(rows: Floats, level: float) -> Floats:
    """Half the widths of the confidence intervals of the columns of samples; infinite of too few.

    Those of batch means, wider where neighbouring batches are still correlated: as the correlation of a Markov process
    goes on, the variance of the mean is ``(1 + r) / (1 - r)`` of that without. The estimate of r is freed of its bias,
    ``-1 / batches``, and never makes an interval narrower.
    """
    batches, sums = Batches(OF_A_SERIES), np.cumsum(rows, axis=0)
    end = batches.next_end(0)
    while end <= len(rows):
        batches.add(end, {"all": sums[end - 1] / end})
        end = batches.next_end(end)
    if len(batches.ends) < FEWEST:
        return np.full(rows.shape[1], np.inf)
    means = batches.batch_means("all")
    off = means - means.mean(axis=0)
    square = (off**2).sum(axis=0)
    correlation = (off[1:] * off[:-1]).sum(axis=0) / np.where(square > 0, square, 1) + 1 / len(means)
    correlation = np.clip(correlation, 0, MOST_CORRELATION)
    return np.asarray(batches.half_width("all", level) * np.sqrt((1 + correlation) / (1 - correlation)))


def _of_cells(means: list[Floats], dimensions: int) -> OfCells:
    """The means at the ends of all batches, without a copy of them."""
    lead = means[0].shape[: means[0].ndim - dimensions]
    return OfCells((len(means), *lead), lambda index: np.asarray(means[index[0]][index[1:]]))


def student_probability(t: float, freedom: int) -> float:
    """The probability that a number of Student's distribution is at most t.

    Abramowitz & Stegun, Handbook of Mathematical Functions, eqs. 26.7.3 and 26.7.4.
    """
    angle = math.atan2(t, math.sqrt(freedom))
    cosine2 = math.cos(angle) ** 2
    odd = freedom % 2 == 1
    term = math.cos(angle) if odd else 1.0
    total = 0.0
    for k in range(3 if odd else 2, freedom + 1, 2):
        total += term
        term *= cosine2 * (k - 1) / k
    total *= math.sin(angle)
    inside = 2 / math.pi * (angle + total) if odd else total
    return 0.5 + inside / 2


def student_quantile(probability: float, freedom: int) -> float:
    """The number that one of Student's distribution is at most with a probability from 0.5 to below 1."""
    low, high = 0.0, 1.0
    while student_probability(high, freedom) < probability:
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        if student_probability(middle, freedom) < probability:
            low = middle
        else:
            high = middle
    return (low + high) / 2
