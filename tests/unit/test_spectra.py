"""Tests of spectra and Strouhal numbers: of signals whose frequency is known, with noise, trends and start-ups."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import lbmgpu as lbm


def wave(frequency: float, samples: int, noise: float = 0.0, phase: float = 0.3) -> np.ndarray:
    rng = np.random.default_rng(int(1e6 * frequency) + samples)
    return np.sin(2 * np.pi * frequency * np.arange(samples) + phase) + noise * rng.standard_normal(samples)


@pytest.mark.parametrize("phase", [0.0, 1.0, 2.5])
@pytest.mark.parametrize("frequency", [0.00731, 0.0123456, 0.2113])
def test_a_pure_oscillation_has_its_frequency_to_a_thousandth_of_a_bin(frequency: float, phase: float) -> None:
    found = lbm.strouhal(wave(frequency, 1500, phase=phase), speed=1, length=1)
    assert abs(found.number - frequency) < 1e-3 / 1500
    assert found.start == 0
    assert found.amplitude == pytest.approx(1, rel=1e-3)
    assert found.share > 0.99


def test_noise_and_a_trend_leave_the_frequency_within_the_uncertainty() -> None:
    samples, frequency = 3000, 0.0117
    errors = []
    for phase in np.linspace(0, 6, 20):
        history = 40 + 2e-3 * np.arange(samples) + wave(frequency, samples, noise=0.5, phase=phase)
        found = lbm.strouhal(history, speed=1, length=1)
        errors.append((found.number - frequency) / found.uncertainty)
        assert found.uncertainty < 0.1 / samples
        assert found.share == pytest.approx(0.5 / 0.75, abs=0.05)
    assert np.mean(np.abs(errors) < 2) >= 0.95


def test_the_uncertainty_of_a_wandering_phase_is_as_large_as_its_errors() -> None:
    rng = np.random.default_rng(5)
    frequency, samples = 0.02, 4000
    errors, uncertainties = [], []
    for _ in range(40):
        phase = 2 * np.pi * frequency * np.arange(samples) + np.cumsum(0.02 * rng.standard_normal(samples))
        found = lbm.strouhal(np.sin(phase), speed=1, length=1)
        errors.append(found.number - frequency)
        uncertainties.append(found.uncertainty)
    assert 0.6 < np.sqrt(np.mean(np.square(uncertainties))) / np.std(errors) < 1.6


def test_steps_speed_and_length_make_the_number() -> None:
    history = wave(0.025, 2000)
    found = lbm.strouhal(history, speed=0.1, length=20, every=8)
    assert found.frequency == pytest.approx(0.025 / 8, rel=1e-5)
    assert found.number == pytest.approx(0.025 / 8 * 20 / 0.1, rel=1e-5)
    assert float(found) == found.number
    assert found.periods == pytest.approx(50, rel=1e-4)
    assert "St = 0.625" in str(found)


def test_the_start_up_is_dropped() -> None:
    time = np.arange(6000)
    growing = 1 / (1 + np.exp(-(time - 1500) / 150))
    frequency = 0.0082
    slower = np.where(time < 1800, 0.8, 1) * frequency  # while it grows
    history = growing * np.sin(2 * np.pi * np.cumsum(slower)) + 30 * np.exp(-time / 150)
    found = lbm.strouhal(history, speed=1, length=1)
    assert 1500 < found.start <= 3000
    assert found.number == pytest.approx(frequency, rel=2e-3)
    assert lbm.strouhal(history, speed=1, length=1, start=2500).number == pytest.approx(frequency, rel=1e-4)


def test_a_few_periods_have_half_a_bin_of_uncertainty() -> None:
    found = lbm.strouhal(wave(0.005, 1100), speed=1, length=1)
    assert found.uncertainty == pytest.approx(0.5 / 1100)
    assert abs(found.number - 0.005) < found.uncertainty


def test_the_text_says_of_how_much_of_the_variance_it_is() -> None:
    found = lbm.strouhal(wave(0.0117, 3000, noise=0.5), speed=1, length=1)
    assert f"periods with {100 * found.share:.1f} % of the variance" in str(found)
    assert "noise" not in str(found)
    noise = lbm.strouhal(np.random.default_rng(2).standard_normal(2000), speed=1, length=1)
    assert noise.share < 0.05
    assert str(noise).endswith("% of the variance: so little may be noise")


class Lift(lbm.Recorder):
    """A recorder whose samples are there already."""

    fields = ("drag", "lift")

    def __getitem__(self, field: str) -> np.ndarray:
        return wave({"drag": 0.06, "lift": 0.03}[field], 1000)


def test_a_recorder_gives_its_lift_and_its_steps() -> None:
    recorder = Lift(every=5)
    assert lbm.strouhal(recorder, speed=1, length=1).number == pytest.approx(0.006, rel=1e-5)
    assert lbm.strouhal(recorder["drag"], every=5, speed=1, length=1).number == pytest.approx(0.012, rel=1e-5)
    assert lbm.spectrum(recorder).frequency[-1] == pytest.approx(0.1)
    with pytest.raises(ValueError, match=r"history: Recorder\('recorder', .* given, which has no lift"):
        lbm.spectrum(lbm.Recorder())


def test_the_integral_of_a_spectrum_is_the_variance() -> None:
    noise = 3 * np.random.default_rng(1).standard_normal((20000, 2))
    frequency, density = lbm.spectrum(noise, every=4)
    assert frequency[-1] == 0.125
    assert density.shape == (len(frequency), 2)
    np.testing.assert_allclose(np.sum(density, axis=0) * frequency[1], 9, rtol=0.05)


def test_a_spectrum_peaks_at_the_frequency() -> None:
    frequency, density = lbm.spectrum(wave(0.05, 4000, noise=0.3), segments=4)
    assert abs(frequency[density.argmax()] - 0.05) < frequency[1]


@pytest.mark.parametrize(
    ("history", "arguments", "message"),
    [
        (np.full(100, 3.0), {}, "history: it does not change from sample"),
        (wave(0.002, 1000), {}, "history: 500 samples from sample 500 on with .* periods given, must have 4 or more"),
        (np.ones((50, 2)), {}, r"history: shape \(50, 2\) given, must be one number a sample"),
        ([1.0, np.nan, 2.0], {}, r"history: nan given at index \(1,\), must be finite"),
        (3.0, {}, "history: 3.0 given, must be an array of samples"),
        ([], {}, "history: .* must not be empty"),
        (wave(0.1, 100), {"speed": 0}, "speed: 0 given, must be a finite number above 0"),
        (wave(0.1, 100), {"length": -1}, "length: -1 given, must be a finite number above 0"),
        (wave(0.1, 100), {"every": 0}, "every: 0 given, must be an integer from 1"),
        (wave(0.1, 100), {"start": 100}, "start: 100 given, must be an integer from 0 to 99"),
        (wave(0.1, 3), {}, "history: "),
        ([1.0], {}, "history: "),
    ],
)
def test_a_wrong_history_is_refused_by_name(history: object, arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        lbm.strouhal(history, **{"speed": 1.0, "length": 1.0} | arguments)  # type: ignore[arg-type]


def test_a_history_that_is_too_short_for_its_segments_is_refused() -> None:
    with pytest.raises(ValueError, match="history: 30 samples given, must be at least 36 for 8 segments"):
        lbm.spectrum(wave(0.1, 30))


def test_what_is_no_history_is_refused() -> None:
    with pytest.raises(TypeError, match="history: 'lift' given, must be real numbers"):
        lbm.strouhal("lift", speed=1, length=1)


def test_scipy_is_named_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.signal", None)
    with pytest.raises(ImportError, match=r"spectra need SciPy .*pip install 'lbmgpu\[analysis\]'"):
        lbm.strouhal(wave(0.1, 100), speed=1, length=1)
