"""Heat fluxes and Nusselt numbers of D2Q37, from Python: words, values, what is refused; tables, recorders, studies."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lbmgpu as lbm
from lbmgpu.case.run import run_case
from lbmgpu.study.json_case import numbers

SHAPE = (12, 10)
GAS = lbm.ThermalBGK(0.05, prandtl=0.7, gravity=(3e-5, -1e-4))
MEAN = 0.7


def layer(low: Any = 0.72, high: Any = 0.68, axis: str = "y", **options: Any) -> lbm.Solver:
    """Two plates, isothermal where they have a temperature; some steps after the start."""
    domain = lbm.Domain(SHAPE, "D2Q37")
    for face, temperature in (("-" + axis, low), ("+" + axis, high)):
        domain.faces[face] = lbm.NoSlip()
        if temperature is not None:
            domain.thermal[face] = lbm.Isothermal(temperature)
    solver = lbm.Solver(domain, GAS, **{"device": "cpu", "threads": 1, "precision": "float64", **options})
    solver.initialize(temperature=lambda x, y: MEAN + 0.01 * np.sin(x) * np.cos(2 * y))
    solver.step(7)
    return solver


def hybrid(**walls: float) -> lbm.Solver:
    domain = lbm.Domain(SHAPE, "D2Q9")
    domain.faces["-y"] = domain.faces["+y"] = lbm.NoSlip()
    for face, temperature in walls.items():
        domain.thermal[face] = lbm.Isothermal(temperature)
    solver = lbm.Solver(domain, lbm.BGK(0.1), thermal=lbm.HybridThermal(0.05), device="cpu", threads=1)
    solver.step(5)
    return solver


# Values


def test_the_conductivity_follows_from_the_relaxation_time() -> None:
    assert GAS.conductivity(0.7) == pytest.approx(2 * 0.7 * (GAS.tau_heat - 0.5))
    assert GAS.conductivity(lbm.stencil("D2Q37").cs2) / 2 == pytest.approx(GAS.diffusivity)
    for pressure, error in ((0, ValueError), (-1, ValueError), (np.nan, ValueError), ("p", TypeError)):
        with pytest.raises(error, match=r"pressure: .* given, must be a finite number above 0"):
            GAS.conductivity(pressure)  # type: ignore[arg-type]


def test_heat_is_the_internal_energy() -> None:
    solver = layer()
    density, temperature = solver.density(), solver.temperature()
    assert solver.heat() == pytest.approx((density * temperature).sum(), rel=1e-13)


@pytest.mark.parametrize("axis", ["x", "y"])
def test_the_gradient_is_that_of_three_cells_at_the_pressure_of_the_wall(axis: str) -> None:
    solver = layer(axis=axis)
    number = "xy".index(axis)
    temperature = np.moveaxis(solver.temperature(), number, 0)
    density = np.moveaxis(solver.density(), number, 0)
    for face, wall, order, sign in (("-" + axis, 0.72, slice(None), -1), ("+" + axis, 0.68, slice(None, None, -1), 1)):
        T, rho = temperature[order], density[order]
        pressure = rho[0] * (T[0] + sign * GAS.gravity[number] / 2)
        expected = (184 * wall - 225 * T[0] + 50 * T[1] - 9 * T[2]) / 60 * 2 * pressure * (GAS.tau_heat - 0.5)
        np.testing.assert_allclose(solver.heat_flux(face, by="gradient"), expected, rtol=1e-11)
        assert solver.mean_heat_flux(face, by="gradient") == pytest.approx(expected.mean(), rel=1e-11)


def test_a_flux_is_what_the_step_exchanges_unless_told_otherwise() -> None:
    solver = layer()
    before = solver.populations()
    own, exchanged = solver.heat_flux("-y"), solver.heat_flux("-y", by="exchange")
    assert own.shape == SHAPE[:1]
    np.testing.assert_array_equal(own, exchanged)
    assert not np.array_equal(own, solver.heat_flux("-y", "gradient"))
    assert solver.mean_heat_flux("-y") == pytest.approx(own.mean(), rel=1e-14)
    np.testing.assert_array_equal(solver.populations(), before)


def test_nothing_passes_an_adiabatic_wall() -> None:
    solver = layer(high=None)
    for by in ("exchange", "gradient"):
        np.testing.assert_array_equal(solver.heat_flux("+y", by), np.zeros(SHAPE[0]))
        assert solver.mean_heat_flux("+y", by=by) == 0


def test_nusselt_numbers_have_the_adiabatic_gradient_taken_off() -> None:
    solver = layer()
    n, conductivity = SHAPE[1], GAS.conductivity(solver.heat() / np.prod(SHAPE))
    for face, difference, cooling in (("-y", 0.04, 5e-5), ("+y", -0.04, -5e-5)):
        flux = solver.mean_heat_flux(face)
        expected = (flux - conductivity * cooling) / (conductivity * (difference / n - cooling))
        assert solver.nusselt(face) == pytest.approx(expected, rel=1e-12)
        assert solver.nusselt(face, n, difference) == pytest.approx(expected, rel=1e-10)
        assert solver.nusselt_map(face).mean() == pytest.approx(expected, rel=1e-12)
        assert solver.nusselt(face, by="gradient") != solver.nusselt(face)


def test_differences_left_out_are_those_of_the_walls_of_now() -> None:
    steady = layer(low=np.linspace(0.71, 0.73, SHAPE[0]))
    assert steady.nusselt("-y") == pytest.approx(steady.nusselt("-y", SHAPE[1], 0.04), rel=1e-10)
    rising = layer(low=lambda x, y, t: 0.71 + 1e-3 * t + 0 * x)
    assert rising.nusselt("-y") == pytest.approx(rising.nusselt("-y", SHAPE[1], 0.037), rel=1e-10)
    beside = hybrid(**{"-y": 1.0, "+y": -1.0})
    assert beside.nusselt("-y") == pytest.approx(beside.nusselt("-y", SHAPE[1], 2.0))
    assert beside.nusselt("+y") == pytest.approx(beside.nusselt("+y", SHAPE[1], -2.0))
    np.testing.assert_allclose(beside.nusselt_map("-y"), beside.nusselt_map("-y", SHAPE[1], 2.0))


# What is refused


def test_wrong_arguments_are_refused() -> None:
    solver, beside = layer(), hybrid(**{"-y": 1.0})
    with pytest.raises(ValueError, match="by: 'gradients' given, must be one of 'exchange', 'gradient'"):
        solver.heat_flux("-y", by="gradients")
    with pytest.raises(TypeError, match="by: 1 given"):
        solver.mean_heat_flux("-y", by=1)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="by: 'gradient' given, must be left out but with D2Q37"):
        beside.heat_flux("-y", by="gradient")
    with pytest.raises(ValueError, match="where: '-x' given, a face that is periodic"):
        solver.heat_flux("-x")
    with pytest.raises(ValueError, match="where: 'plate' given, must be"):
        solver.nusselt("plate")
    with pytest.raises(ValueError, match="area: 2 given, must be left out for a face"):
        solver.mean_heat_flux("-y", area=2)
    with pytest.raises(ValueError, match="difference: 0 given, must not be 0"):
        solver.nusselt("-y", 10, 0)
    with pytest.raises(ValueError, match=r"difference: .* given, must not be the adiabatic one"):
        solver.nusselt("-y", 16, 16 * 5e-5)
    with pytest.raises(ValueError, match=r"difference: must be given, as the face '\+y' is not Isothermal"):
        layer(high=None).nusselt("-y")
    with pytest.raises(ValueError, match="difference: 0 given, must not be 0"):
        layer(low=0.7, high=0.7).nusselt("-y")
    with pytest.raises(ValueError, match=r"difference: must be given, as the face '\+y' is not Isothermal"):
        beside.nusselt_map("-y")
    cold = lbm.Solver(lbm.Domain(SHAPE, "D2Q9"), lbm.BGK(0.1), device="cpu")
    with pytest.raises(ValueError, match="thermal: this solver has no temperature"):
        cold.heat_flux("-y", by="gradient")


def test_a_body_needs_length_and_difference() -> None:
    domain = lbm.Domain(SHAPE, "D2Q9")
    mask = np.zeros(SHAPE, dtype=bool)
    mask[4:6, 4:6] = True
    domain.add_body(mask, "block", thermal=lbm.Isothermal(1.0))
    solver = lbm.Solver(domain, lbm.BGK(0.1), thermal=lbm.HybridThermal(0.05), device="cpu", threads=1)
    with pytest.raises(ValueError, match="length: must be given for a body"):
        solver.nusselt("block", difference=1.0)
    with pytest.raises(ValueError, match="difference: must be given for a body"):
        solver.nusselt_map("block", 2.0)
    assert solver.nusselt("block", 2.0, 1.0) > 0


# Recorders, runs and cases


def test_a_run_ends_when_the_heat_rests() -> None:
    solver = layer()
    result = solver.run(20_000, until=lbm.Steady(1e-5, every=100, of="nusselt"))
    assert result.converged
    assert solver.mean_heat_flux("-y") == pytest.approx(-solver.mean_heat_flux("+y"), rel=5e-3)


def test_a_recorder_has_the_fluxes_of_its_steps() -> None:
    solver = layer()
    both = [lbm.HeatFlux("-y", every=2), lbm.HeatFlux("-y", every=2, by="gradient", name="fourier")]
    for recorder in both:
        solver.record(recorder)
    solver.run(3)
    for recorder, by in zip(both, (None, "gradient"), strict=True):
        assert recorder["flux"][-1] == solver.mean_heat_flux("-y", by=by)
    with pytest.raises(ValueError, match="by: 'both' given, must be one of 'exchange', 'gradient'"):
        lbm.HeatFlux("-y", by="both")
    with pytest.raises(ValueError, match="by: 'exchange' given, must be left out but with D2Q37"):
        hybrid(**{"-y": 1.0}).record(lbm.HeatFlux("-y", by="exchange"))


CASE: dict[str, Any] = {
    "domain": {"shape": list(SHAPE), "stencil": "D2Q37"},
    "collision": {"model": "ThermalBGK", "viscosity": 0.05, "prandtl": 0.7, "gravity": [0, -1e-4]},
    "precision": "float64",
    "faces": {"-y": {"condition": "no-slip"}, "+y": {"condition": "no-slip"}},
    "thermal": {
        "faces": {
            "-y": {"condition": "isothermal", "temperature": 0.72},
            "+y": {"condition": "isothermal", "temperature": 0.68},
        }
    },
    "initial": {"temperature": 0.7},
    "run": {"steps": 20, "device": "cpu", "threads": 1, "progress": False, "log": {"every": 10}},
    "output": {"heat": {"every": 5}, "checkpoint": {}},
}


def table_of(path: Path) -> tuple[list[str], np.ndarray]:
    with path.open(newline="") as file:
        header, *rows = csv.reader(file)
    return header, np.array(rows, dtype=float)


def run_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, **parts: Any) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "gas.json"
    path.write_text(json.dumps({**CASE, **parts}))
    run_case(path)
    return tmp_path / "gas"


def test_a_case_writes_a_table_of_heat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = run_of(tmp_path, monkeypatch)
    header, rows = table_of(folder / "heat.csv")
    assert header == [
        "step",
        "heat",
        "kinetic energy",
        "-y flux",
        "+y flux",
        "-y Nusselt",
        "+y Nusselt",
    ]
    solver = lbm.Solver.load(folder / "checkpoint.h5", device="cpu")
    expected = [
        solver.steps,
        solver.heat(),
        solver.kinetic_energy(),
        *(solver.mean_heat_flux(face) for face in ("-y", "+y")),
        *(solver.nusselt(face) for face in ("-y", "+y")),
    ]
    assert list(rows[:, 0]) == [5, 10, 15, 20]
    np.testing.assert_allclose(rows[-1], expected, rtol=1e-8)
    kept = numbers(solver)
    assert float(kept["heat"]) == solver.heat()
    np.testing.assert_array_equal(kept["heat_flux"], expected[3:5])
    np.testing.assert_array_equal(kept["nusselt"], expected[5:])


def test_walls_without_a_difference_have_no_nusselt_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    warm = {"condition": "isothermal", "temperature": 0.7}
    for number, faces in enumerate(({"-y": warm}, {"-y": warm, "+y": warm}, {})):
        folder = tmp_path / str(number)
        folder.mkdir()
        header, _ = table_of(run_of(folder, monkeypatch, thermal={"faces": faces}) / "heat.csv")
        assert header == ["step", "heat", "kinetic energy", *(f"{face} flux" for face in faces)]


def test_a_case_records_fluxes_and_ends_by_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entries = [{"heat_flux": "-y", "every": 5}, {"heat_flux": "+y", "every": 5, "by": "gradient", "file": "cold.csv"}]
    steady = {"tolerance": 10, "every": 2, "window": 3, "of": "nusselt"}
    folder = run_of(tmp_path, monkeypatch, output=[*entries, {"heat": {"every": 5}}])
    assert table_of(folder / "heat_flux.csv")[1].shape == table_of(folder / "cold.csv")[1].shape == (4, 2)
    run_of(tmp_path, monkeypatch, run={**CASE["run"], "steady": steady}, output={})
