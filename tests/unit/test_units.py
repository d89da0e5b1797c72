"""Tests the conversion of units: each quantity converts there and back, and related quantities are consistent."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import lbmgpu as lbm

from .support import not_finite, not_numbers, not_positive

scales = st.floats(1e-6, 1e6)
QUANTITIES = [
    "length",
    "time",
    "velocity",
    "viscosity",
    "density",
    "acceleration",
    "force_density",
    "pressure",
    "force",
]


@given(length=scales, time=scales, density=scales, value=st.floats(-1e6, 1e6))
def test_there_and_back(length: float, time: float, density: float, value: float) -> None:
    units = lbm.Units(length_phys=length, time_phys=time, density_phys=density)
    for quantity in QUANTITIES:
        there = getattr(units, f"{quantity}_phys")(value)
        assert getattr(units, quantity)(there) == pytest.approx(value, rel=1e-12)


@given(length=scales, time=scales, density=scales)
def test_quantities_fit_together(length: float, time: float, density: float) -> None:
    units = lbm.Units(length_phys=length, time_phys=time, density_phys=density)
    assert units.velocity_phys(1) == pytest.approx(units.length_phys(1) / units.time_phys(1))
    assert units.viscosity_phys(1) == pytest.approx(units.velocity_phys(1) * units.length_phys(1))
    assert units.acceleration_phys(1) == pytest.approx(units.velocity_phys(1) / units.time_phys(1))
    assert units.force_density_phys(1) == pytest.approx(units.density_phys(1) * units.acceleration_phys(1))
    assert units.pressure_phys(1) == pytest.approx(units.density_phys(1) * units.velocity_phys(1) ** 2)
    assert units.force_phys(1) == pytest.approx(units.pressure_phys(1) * units.length_phys(1) ** 2)
    assert units.force_phys(1, dimensions=2) == pytest.approx(units.pressure_phys(1) * units.length_phys(1))


def test_the_three_ways_to_set_the_step_agree() -> None:
    by_time = lbm.Units(length_phys=0.01, time_phys=0.002)
    assert lbm.Units(length_phys=0.01, velocity_phys=5).step_phys == pytest.approx(by_time.step_phys)
    assert lbm.Units(length_phys=0.01, viscosity_phys=0.05).step_phys == pytest.approx(by_time.step_phys)


@given(reynolds=st.floats(0.1, 1e5), cells=st.floats(1, 1e4), velocity=st.floats(1e-3, 0.17))
def test_from_reynolds(reynolds: float, cells: float, velocity: float) -> None:
    units = lbm.Units.from_reynolds(reynolds, length_phys=0.1, viscosity_phys=1e-6, cells=cells, velocity=velocity)
    assert units.length(0.1) == pytest.approx(cells)
    assert units.viscosity(1e-6) == pytest.approx(velocity * cells / reynolds)
    assert units.velocity(reynolds * 1e-6 / 0.1) == pytest.approx(velocity)


@given(reynolds=st.floats(0.1, 1e5), cells=st.floats(1, 1e4), velocity=st.floats(1e-3, 0.17))
def test_from_reynolds_and_velocity(reynolds: float, cells: float, velocity: float) -> None:
    units = lbm.Units.from_reynolds(reynolds, length_phys=0.1, velocity_phys=2, cells=cells, velocity=velocity)
    assert units.length(0.1) == pytest.approx(cells)
    assert units.velocity(2) == pytest.approx(velocity)
    assert units.viscosity_phys(velocity * cells / reynolds) == pytest.approx(2 * 0.1 / reynolds)


def test_forces_of_a_volume_and_of_a_body() -> None:
    units = lbm.Units(length_phys=0.5, time_phys=0.25, density_phys=8)
    assert units.force_phys(1) == pytest.approx(units.force_density_phys(1) * 0.5**3)
    assert units.force_phys(1, dimensions=2) == pytest.approx(units.force_density_phys(1) * 0.5**2)
    assert units.force_density_phys(1) == pytest.approx(8 * units.acceleration_phys(1))


def test_arrays_convert() -> None:
    units = lbm.Units(length_phys=0.5, time_phys=0.25)
    np.testing.assert_allclose(units.velocity_phys(np.array([1.0, 2.0])), [2, 4])


@given(value=st.one_of(not_numbers.filter(lambda v: v is not None), not_finite, not_positive))
def test_wrong_scales(value: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="length_phys"):
        lbm.Units(length_phys=value, time_phys=1)
    with pytest.raises((TypeError, ValueError), match="time_phys"):
        lbm.Units(length_phys=1, time_phys=value)
    with pytest.raises((TypeError, ValueError), match="density_phys"):
        lbm.Units(length_phys=1, time_phys=1, density_phys=value)
    with pytest.raises((TypeError, ValueError), match="reynolds"):
        lbm.Units.from_reynolds(value, length_phys=1, viscosity_phys=1, cells=10)


def test_exactly_one_scale_of_time() -> None:
    with pytest.raises(ValueError, match="none given"):
        lbm.Units(length_phys=1)
    with pytest.raises(ValueError, match="time_phys, velocity_phys given"):
        lbm.Units(length_phys=1, time_phys=1, velocity_phys=1)
    with pytest.raises(ValueError, match="none given, must be one of viscosity_phys, velocity_phys"):
        lbm.Units.from_reynolds(10, length_phys=1, cells=10)
    with pytest.raises(ValueError, match="both given"):
        lbm.Units.from_reynolds(10, length_phys=1, viscosity_phys=1, velocity_phys=1, cells=10)
    with pytest.raises(ValueError, match="velocity_phys: 0 given"):
        lbm.Units.from_reynolds(10, length_phys=1, velocity_phys=0, cells=10)
    with pytest.raises(ValueError, match="velocity"):
        lbm.Units.from_reynolds(10, length_phys=1, viscosity_phys=1, cells=10, velocity=0.2)
