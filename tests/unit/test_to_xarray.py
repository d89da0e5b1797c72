"""Tests of fields as datasets of xarray."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from packages import need

import lbmgpu as lbm

from . import support

xarray = need("xarray")


def flow(**more: Any) -> lbm.Solver:
    domain = support.cavity((8, 6, 5))
    domain.add_body(support.cube(domain.shape), "cube")
    solver = lbm.Solver(domain, lbm.BGK(0.05, smagorinsky=0.1), device="cpu", **more)
    solver.step(20)
    return solver


def test_a_dataset_has_fields_coordinates_and_attributes() -> None:
    solver = flow()
    found = solver.to_xarray()
    assert isinstance(found, xarray.Dataset)
    assert found.density.dims == ("x", "y", "z")
    assert found.velocity.dims == ("component", "x", "y", "z")
    np.testing.assert_array_equal(found.velocity.sel(component="y"), solver.velocity()[1])
    np.testing.assert_array_equal(found.x, np.arange(8) + 0.5)
    np.testing.assert_array_equal(found.solid, solver.solid)
    assert found.solid.dtype == bool
    assert found.attrs["step"] == 20
    assert found.attrs["time"] == 20.0


def test_fields_of_a_region_in_physical_units() -> None:
    solver = flow()
    units = lbm.Units(length_phys=0.01, time_phys=0.002, density_phys=1000)
    names = ["velocity", "pressure", "vorticity", "strain_rate", "velocity_gradient", "dissipation", "eddy_viscosity"]
    found = solver.to_xarray(names, units=units, region=np.s_[2:7:2, :, 3])
    assert dict(found.sizes) == {"x": 3, "y": 6, "component": 3, "entry": 6, "along": 3}
    np.testing.assert_allclose(found.x, [0.025, 0.045, 0.065])
    assert float(found.z) == pytest.approx(0.035)
    part = np.s_[..., 2:7:2, :, 3]
    np.testing.assert_allclose(found.velocity, units.velocity_phys(solver.velocity()[part]), rtol=1e-6)
    np.testing.assert_allclose(found.vorticity, solver.vorticity()[part] / 0.002, rtol=1e-6)
    np.testing.assert_allclose(found.dissipation, solver.dissipation()[part] * 1e-4 / 0.002**3, rtol=1e-6)
    np.testing.assert_allclose(found.strain_rate.sel(entry="yz") * 0.002, solver.strain_rate()[4][part[1:]], rtol=1e-6)
    np.testing.assert_allclose(
        found.velocity_gradient.sel(component="x", along="z") * 0.002,
        solver.velocity_gradient()[0, 2][part[1:]],
        rtol=1e-6,
    )
    assert found.pressure.attrs["units"] == "Pa"
    assert found.attrs["time"] == pytest.approx(0.04)
    assert found.attrs["viscosity"] == pytest.approx(0.05 * 1e-4 / 0.002)
    assert found.velocity.dtype == np.float32


def test_temperature_and_two_dimensions() -> None:
    solver = lbm.Solver(
        lbm.Domain((5, 4), "D2Q9"), lbm.BGK(0.1), thermal=lbm.HybridThermal(0.1, reference=2.0), device="cpu"
    )
    found = solver.to_xarray()
    assert set(found) == {"density", "velocity", "temperature", "solid"}
    np.testing.assert_allclose(found.temperature, 2.0)


def test_wrong_arguments_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    solver = flow()
    with pytest.raises(ValueError, match=r"fields\[1\]: 'vortcity' given.*did you mean 'vorticity'"):
        solver.to_xarray(["velocity", "vortcity"])
    with pytest.raises(ValueError, match=r"fields\[0\]: 'temperature' given"):
        solver.to_xarray("temperature")
    with pytest.raises(ValueError, match="fields: none given"):
        solver.to_xarray([])
    with pytest.raises(TypeError, match="units: 3 given, must be Units"):
        solver.to_xarray(units=3)  # type: ignore[arg-type]
    monkeypatch.setitem(sys.modules, "xarray", None)
    with pytest.raises(ImportError, match=r"pip install 'lbmgpu\[xarray\]'"):
        solver.to_xarray()
