"""Spectra of histories, and the frequency of what oscillates in them: Strouhal numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .. import checks
from ..solver.recording import Recorder
from ..values import Floats

FEWEST_PERIODS = 4
"""Of an oscillation whose frequency is asked for: fewer cannot be told from a trend."""
MOST_PARTS = 8
"""Of a history, whose phases are compared."""
PADDING = 8
"""Points of a transform for each bin, so that the parabola through three of them peaks where the window's lobe does."""
LEAST_SHARE = 0.2
"""Of the variance: an oscillation that has less of it may be the largest peak of noise."""
STEADY_BAND = 0.2
"""How far the amplitude of a developed oscillation may be from that of the second half of the history."""


class Spectrum(NamedTuple):
    """The power spectral density of a history.

    Attributes:
        frequency: in cycles a step, ``(n,)``, from 0 to half a cycle a sample.
        density: one-sided, the square of the history's unit times steps: its integral over `frequency` is the
            variance. ``(n, ...)`` with the axes of the history after the first.
    """

    frequency: Floats
    density: Floats


@dataclass(frozen=True)
class Strouhal:
    """The dominant frequency of a history, as a Strouhal number: ``float()`` of it is `number`.

    Attributes:
        number: ``frequency * length / speed``.
        uncertainty: of `number`, a standard error: by how much the frequency differs between parts of the history. It
            is rather too large than too small. Of fewer than eight periods it is half a bin of the spectrum.
        frequency: in cycles a step.
        periods: that the history has after `start`.
        amplitude: of the oscillation at this frequency, in the unit of the history.
        share: the part of the variance that this oscillation has, 1 for a pure one. Below 0.2 it may be noise, as the
            text of it says then.
        start: the first sample that was used.
    """

    number: float
    uncertainty: float
    frequency: float
    periods: float
    amplitude: float
    share: float
    start: int

    def __float__(self) -> float:
        return self.number

    def __str__(self) -> str:
        text = f"St = {self.number:.4g} +- {self.uncertainty:.1g}, of {self.periods:.1f} periods"
        text += f" with {100 * self.share:.1f} % of the variance"
        return text if self.share >= LEAST_SHARE else f"{text}: so little may be noise"


def spectrum(history: Any, *, every: int | None = None, segments: int = 8) -> Spectrum:
    """The power spectral density of a history, by Welch's method (IEEE Trans. Audio Electroacoust. 15 (1967) 70).

    The history is cut into segments that overlap by half; each is freed of its linear trend and multiplied with a Hann
    window, and their spectra are averaged.

    Args:
        history: numbers at equal intervals of time, which is the first axis: an array, or a recorder with the field
            ``"lift"``, such as `Coefficients`.
        every: steps between two samples; what the recorder has, and 1 of an array, if None.
        segments: more of them are smoother, and resolve less: a frequency of ``segments / (samples * every)`` or so.

    Raises:
        TypeError, ValueError: not numbers, not finite, or fewer than 8 samples a segment.
        ImportError: SciPy is missing: ``pip install 'lbmgpu[analysis]'``.
    """
    samples, every = _samples(history, every)
    segments = checks.integer("segments", segments, at_least=1)
    length = int(2 * len(samples) // (segments + 1))
    if length < 8:
        raise ValueError(
            f"history: {len(samples)} samples given, must be at least {4 * (segments + 1)} for {segments} segments"
        )
    frequency, density = _signal().welch(
        samples, fs=1 / every, window="hann", nperseg=length, noverlap=length // 2, detrend="linear", axis=0
    )
    return Spectrum(frequency, density)


def strouhal(
    history: Any, *, speed: float, length: float, every: int | None = None, start: int | None = None
) -> Strouhal:
    """The Strouhal number of the dominant oscillation of a history, such as the lift of a body.

    The history is freed of its start-up and of its linear trend and multiplied with a Hann window. The largest peak of
    its spectrum is interpolated by a parabola, and then set right by how the phase of the oscillation at this frequency
    advances from part to part of the history, by which the uncertainty is found as well.

    Args:
        history: numbers at equal intervals of time, ``(n,)``: an array, or a recorder with the field ``"lift"``,
            such as `Coefficients`. The drag oscillates at twice the frequency of the lift.
        speed: that the number is made with, cells a step.
        length: that it is made with, cells.
        every: steps between two samples; what the recorder has, and 1 of an array, if None.
        start: the first sample that is used. If None the first from which on the amplitude is that of the second half
            of the history within 20 %, which drops half of it at most.

    Raises:
        TypeError, ValueError: not numbers, not finite; a history that does not change, or of fewer than 4 periods.
        ImportError: SciPy is missing: ``pip install 'lbmgpu[analysis]'``.
    """
    samples, every = _samples(history, every)
    speed, length = checks.number("speed", speed, above=0), checks.number("length", length, above=0)
    if samples.ndim != 1:
        raise ValueError(f"history: shape {samples.shape} given, must be one number a sample, such as lift[:, 0]")
    start = _developed(samples) if start is None else checks.integer("start", start, at_most=len(samples) - 1)
    signal = _detrended(samples[start:])
    count, variance = len(signal), float(np.mean(signal**2))
    if variance <= (1e-12 * float(np.abs(samples).max())) ** 2:
        raise ValueError(f"history: it does not change from sample {start} on, must oscillate")
    first = _peak(signal)
    if first * count < FEWEST_PERIODS:
        raise ValueError(
            f"history: {count} samples from sample {start} on with {first * count:.1f} periods given, "
            f"must have {FEWEST_PERIODS} or more"
        )
    frequency, error = _by_phases(signal, first)
    window = np.hanning(count)
    amplitude = 2 * abs(complex(np.sum(window * signal * _turn(frequency, np.arange(count))))) / float(window.sum())
    scale = length / (speed * every)
    return Strouhal(
        number=frequency * scale,
        uncertainty=error * scale,
        frequency=frequency / every,
        periods=frequency * count,
        amplitude=amplitude,
        share=min(1.0, amplitude**2 / 2 / variance),
        start=start,
    )


def _samples(history: Any, every: int | None) -> tuple[Floats, int]:
    """The numbers of a history, and the steps between two of them."""
    own = 1
    if isinstance(history, Recorder):
        own, recorder = history.every, history
        if "lift" not in getattr(recorder, "fields", ()):
            raise ValueError(
                f"history: {recorder!r} given, which has no lift; give an array, such as one of its fields"
            )
        history = recorder["lift"]  # type: ignore[index]
    samples = checks.real_array("history", history)
    if samples.ndim == 0:
        raise ValueError(f"history: {checks.shown(history)} given, must be an array of samples")
    return samples, checks.integer("every", own if every is None else every, at_least=1)


def _signal() -> Any:
    """The module scipy.signal.

    Raises:
        ImportError: it is not there, with what to install.
    """
    try:
        return import_module("scipy.signal")
    except ImportError as error:
        raise ImportError(f"spectra need SciPy ({error}): pip install 'lbmgpu[analysis]'") from None


def _detrended(samples: Floats) -> Floats:
    return np.asarray(_signal().detrend(samples, type="linear"), dtype=np.float64)


def _turn(frequency: float, at: NDArray[Any]) -> NDArray[Any]:
    """The wave that takes an oscillation of this frequency, in cycles a sample, to frequency 0."""
    return np.asarray(np.exp(-2j * np.pi * frequency * at))


def _developed(samples: Floats) -> int:
    """The first sample from which on the amplitude is that of the second half, and half of them at most."""
    count, half = len(samples), len(samples) // 2
    later = _detrended(samples[half:]) if count - half > 1 else samples[half:]
    if not later.any():
        return half
    period = min(max(2, round(1 / max(_peak(later), 1 / count))), half)
    if period < 2:
        return half

    def of_a_period(values: Floats) -> Floats:
        """The mean over each period."""
        sums = np.concatenate([[0.0], np.cumsum(values)])
        return np.asarray((sums[period:] - sums[:-period]) / period)

    centred = samples - samples[half:].mean()  # before squares, or a large mean takes their digits
    power = np.maximum(of_a_period(centred**2) - of_a_period(centred) ** 2, 0)
    rms = np.sqrt(power)
    usual = float(np.median(rms[half:])) if len(rms) > half else float(rms[-1])
    early = rms[:half]
    outside = np.flatnonzero((early < (1 - STEADY_BAND) * usual) | (early > (1 + STEADY_BAND) * usual))
    return int(outside[-1]) + 1 if len(outside) else 0


def _peak(signal: Floats) -> float:
    """The frequency of the largest peak of the spectrum, in cycles a sample, above that of two periods."""
    count = len(signal)
    padded = PADDING * count
    power = np.abs(np.fft.rfft(signal * np.hanning(count), padded))
    lowest = 2 * PADDING  # below is what a trend leaves
    if len(power) <= lowest + 2:
        return 0.0
    at = lowest + int(np.argmax(power[lowest:-1]))
    if at == lowest and power[at - 1] > power[at]:  # it comes down from what lies below
        return at / padded
    with np.errstate(divide="ignore"):
        left, middle, right = np.log(power[at - 1 : at + 2])
    curvature = left - 2 * middle + right
    shift = 0.5 * (left - right) / curvature if np.isfinite(curvature) and curvature < 0 else 0.0
    return float((at + shift) / padded)


def _by_phases(signal: Floats, frequency: float) -> tuple[float, float]:
    """A frequency set right by the phases of parts of the signal, and its standard error; both in cycles a sample.

    Where the phase wanders, as that of a turbulent wake, the increments from part to part are independent, and their
    scatter is the error; where it is noise about a line, this is up to four times too large.
    """
    count = len(signal)
    parts = min(MOST_PARTS, int(frequency * count / 2))
    if parts < 4:
        return frequency, 0.5 / count
    length = count // parts
    window = np.hanning(length)
    at = np.arange(parts * length).reshape(parts, length)
    waves = (window * signal[: parts * length].reshape(parts, length) * _turn(frequency, at)).sum(axis=1)
    phases = np.unwrap(np.angle(waves)) / (2 * np.pi)
    increments = np.diff(phases) / length
    slope = float(np.polyfit(np.arange(parts) * length, phases, 1)[0])
    error = float(increments.std(ddof=1)) / math.sqrt(parts - 1)
    if abs(slope) > 1 / count:  # the parts are of different oscillations
        return frequency, max(error, 0.5 / count)
    return frequency + slope, max(error, 1e-4 / count)
