"""Coefficients of bodies with their confidence intervals, by batch means of what recorders have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..output.batches import FEWEST, half_widths
from ..output.forces import Coefficients


@dataclass(frozen=True)
class Estimate:
    """A mean in time and half the width of its confidence interval, which is infinite of too few samples.

    Attributes:
        value: the mean.
        half_width: of the interval.
        level: of confidence.
    """

    value: float
    half_width: float
    level: float

    @property
    def interval(self) -> tuple[float, float]:
        """Its ends."""
        return self.value - self.half_width, self.value + self.half_width

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        if np.isinf(self.half_width):
            return f"{self.value:.4g}, without an interval"
        return f"{self.value:.4g} ± {self.half_width:.2g}"


@dataclass(frozen=True)
class AeroCoefficients:
    """Means of the coefficients of a body in a wind tunnel, ``2 F / (density speed**2 area)``.

    Attributes:
        drag: along x, with the stream.
        lift: along z, upwards.
        side: along y.
        roll, pitch, yaw: of the moments about axes along x, y and z, divided by the length of the body too.
        samples: that they are means of.
        turnovers: lengths of the body that the stream moved on meanwhile.
    """

    drag: Estimate
    lift: Estimate
    side: Estimate
    roll: Estimate
    pitch: Estimate
    yaw: Estimate
    samples: int
    turnovers: float

    def __str__(self) -> str:
        parts = ("drag", "lift", "side", "roll", "pitch", "yaw")
        lines = [f"{name:5} {getattr(self, name)}" for name in parts]
        return "\n".join([*lines, self.note])

    @property
    def note(self) -> str:
        """What the intervals are of, in a sentence."""
        if np.isinf(self.drag.half_width):
            return f"There is no interval: {self.samples} samples are too few, {FEWEST} are needed at least."
        return (
            f"The intervals ({100 * self.drag.level:g} %, of {self.samples} samples over {self.turnovers:.3g} "
            "turnovers) are statistical only: they say how well the mean in time is known, and nothing of cells, walls "
            "or domain."
        )


def of_recorders(recorders: Sequence[Coefficients], after: int, level: float, turnover: float) -> AeroCoefficients:
    """The coefficients of the sum over bodies, of the samples after a step; ValueError if there are none."""
    chosen = recorders[0].steps > after
    samples = int(np.count_nonzero(chosen))
    if samples == 0:
        raise ValueError(
            f"coefficients: no sample after step {after}, {after / turnover:g} turnovers, must run for longer"
        )
    rows = sum(np.column_stack([*(each[f] for f in ("drag", "lift", "side")), each["moment"]]) for each in recorders)
    assert isinstance(rows, np.ndarray)
    rows = rows[chosen]
    widths = half_widths(rows, level)
    estimates = [Estimate(float(m), float(w), level) for m, w in zip(rows.mean(axis=0), widths, strict=True)]
    steps = recorders[0].steps[chosen]
    spacing = float(steps[1] - steps[0]) if samples > 1 else 0.0
    drag, lift, side, roll, pitch, yaw = estimates
    turnovers = (float(steps[-1] - steps[0]) + spacing) / turnover
    return AeroCoefficients(drag, lift, side, roll, pitch, yaw, samples, turnovers)
