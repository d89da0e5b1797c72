"""Temperatures that no flow has, and flows that are too fast for the temperature, as a run finds them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import lbmgpu as lbm

SHAPE = (24, 6)


def wave(x: Any, y: Any) -> Any:
    return 5 + np.sin(2 * np.pi * x / SHAPE[0])


def stream(device: str = "cpu", force: float = 2e-4, **more: Any) -> lbm.Solver:
    """A stream that gets faster, and carries a temperature that does nothing to it; its limit is a speed of 0.1."""
    thermal = lbm.HybridThermal(0.005, reference=4.0, **more)
    domain = lbm.Domain(SHAPE, "D2Q9")
    solver = lbm.Solver(domain, lbm.BGK(0.1), thermal=thermal, force=(force, 0.0), device=device)
    solver.initialize(temperature=wave, velocity=(0.05, 0.0))
    return solver


def test_a_temperature_that_grows_without_bound_is_found(device: str) -> None:
    """Long before a number overflows; a warning comes first."""
    solver = stream(device)
    often = [lbm.Every(20, lambda solver: solver.check())]
    with (
        pytest.warns(lbm.ThermallyUnstableWarning, match=r"above the 0\.1 up to which"),
        pytest.raises(lbm.DivergedError, match="temperatures are from") as caught,
    ):
        solver.run(3000, callbacks=often)
    error = caught.value
    assert error.reason == "temperature"
    assert error.speed_limit == pytest.approx(0.1)
    last = error.looks[-1]
    assert last.coldest is not None
    assert last.hottest is not None
    assert last.coldest < 4.01 - 1.98 - 0.19 or last.hottest > 5.99 + 1.98 + 0.19  # of the wave at centres of cells
    assert 0.1 < last.speed < 0.6
    assert "temperature" in str(last)
    assert error.step < 2000


def test_the_range_of_a_state_is_that_of_its_temperatures(device: str) -> None:
    solver = stream(device)
    solver.step(7)
    field = solver.temperature().astype(float)
    *_, coldest, hottest = solver._simulation.engine.extremes()
    assert (coldest + 4, hottest + 4) == pytest.approx((field.min(), field.max()), abs=1e-6)


def test_a_warning_comes_once_for_a_state() -> None:
    solver = stream(force=0)
    solver.initialize(temperature=wave, velocity=(0.0999, 0.0))
    solver.force = (1e-4, 0.0)
    with pytest.warns(lbm.ThermallyUnstableWarning) as caught:
        solver.run(10, callbacks=[lbm.Every(2, lambda solver: solver.check())])
    assert len(caught) == 1


def test_a_source_lifts_the_bound() -> None:
    solver = stream(force=0)
    solver.heat_source = 1.0
    solver.run(20)
    solver.heat_source = None
    solver.run(20)
    assert solver.temperature().min() > 20
    solver.initialize(temperature=wave, velocity=(0.05, 0.0))
    solver._simulation.engine.set_temperature(np.full(SHAPE[::-1], 4.5))
    with pytest.raises(lbm.DivergedError, match="temperature"):
        solver.run(1)


def box(temperature: Any) -> lbm.Solver:
    domain = lbm.Domain((12, 9), "D2Q9")
    for face in ("-x", "+x", "-y", "+y"):
        domain.faces[face] = lbm.NoSlip()
    domain.thermal["-x"] = lbm.Isothermal(temperature)
    mask = np.zeros(domain.shape, bool)
    mask[5:8, 3:6] = True
    domain.add_body(mask, "block", thermal=lbm.Isothermal(np.where(mask, 2.0, 1e5)))
    return lbm.Solver(domain, lbm.BGK(0.1), thermal=lbm.HybridThermal(0.1), device="cpu")


@pytest.mark.parametrize("temperature", [3.0, lambda x, y: 2.915 + 0.01 * y, np.linspace(2, 3, 9)])
def test_walls_are_part_of_the_range(temperature: Any) -> None:
    """From the 0 at the beginning to the wall's 3: a body's array counts in its cells alone."""
    solver = box(temperature)
    solver.run(300)
    solver._simulation.engine.set_temperature(np.full((9, 12), 6.2))  # 3 + 3 + 0.3 is the bound
    solver.run(1)
    solver._simulation.engine.set_temperature(np.full((9, 12), 7.0))
    with pytest.raises(lbm.DivergedError, match="temperature"):
        solver.run(1)


@pytest.mark.parametrize("temperature", [lbm.Ramp(0, 40, 50), lambda x, y, t: 0.8 * t + 0 * y])
def test_walls_that_change_in_time_have_no_bound(temperature: Any) -> None:
    solver = box(temperature)
    solver.run(60)
    assert solver.temperature().max() > 10


def test_where_all_temperatures_are_alike_there_is_no_bound() -> None:
    solver = stream(force=0)
    solver.initialize(velocity=(0.05, 0.0))
    solver._simulation.engine.set_temperature(np.full(SHAPE[::-1], 7.0))
    solver.run(5)


def test_a_restored_state_is_the_first_one(tmp_path: Any) -> None:
    hot = stream(force=0)
    hot.initialize(temperature=lambda x, y: 35 + wave(x, y))
    hot.save(tmp_path / "hot.h5")
    solver = stream(force=0)
    solver.restore(tmp_path / "hot.h5")
    with warnings.catch_warnings():
        warnings.simplefilter("error", lbm.ThermallyUnstableWarning)
        solver.run(10)
    solver._simulation.engine.set_temperature(np.full(SHAPE[::-1], 20.0 - 4))  # of 39 to 41, less a tenth of 37
    with pytest.raises(lbm.DivergedError, match="temperature"):
        solver.run(1)
