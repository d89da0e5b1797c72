"""Histories of forces, coefficients and fluxes: each sample is what the solver's methods give at that step."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lbmgpu as lbm

from .test_probes import GPU, flow, need


@pytest.mark.parametrize("device", ["cpu", GPU])
@pytest.mark.parametrize("stencil", ["D2Q9", "D3Q19", "D3Q27"])
def test_forces_are_those_of_the_solver(stencil: str, device: str, request: pytest.FixtureRequest) -> None:
    need(device, request)
    solver = flow(stencil, device=device, precision="float32")
    about = (1.0, 2.0, 3.0)[: len(solver.domain.shape)]
    forces, centred = solver.record(lbm.Forces("block", about=about), lbm.Forces("block", name="centred"))
    assert forces.sampled_by_engine
    for count in range(6):
        solver.step(1)
        assert np.array_equal(forces["force"][count], solver.body_force("block"))
        assert np.array_equal(forces["torque"][count], solver.body_torque("block", about))
        assert np.array_equal(centred["torque"][count], solver.body_torque("block"))
    assert forces["torque"].shape == (6, 1 if stencil == "D2Q9" else 3)
    assert forces.name == "forces_block"


def moving_body(velocity: Any) -> lbm.Solver:
    domain = lbm.Domain((20, 14), "D2Q9")
    for name, x in (("one", 4), ("two", 12)):
        mask = np.zeros(domain.shape, bool)
        mask[x : x + 3, 5:8] = True
        domain.add_body(mask, name, lbm.MovingWall(velocity) if name == "two" else lbm.NoSlip())
    return lbm.Solver(domain, lbm.BGK(0.05), device="cpu", precision="float64")


def test_walls_that_change_in_time_have_the_forces_of_each_step() -> None:
    solver = moving_body(lambda x, y, t: (0.01 * np.sin(0.1 * t), 0))
    one, two = solver.record(lbm.Forces("one", every=2), lbm.Forces("two"))
    assert not two.sampled_by_engine
    for count in range(6):
        solver.step(1)
        assert np.array_equal(two["force"][count], solver.body_force("two"))
    assert one.steps.tolist() == [2, 4, 6]
    assert np.array_equal(one["force"][-1], solver.body_force("one"))


def test_a_density_of_reference_that_changes_reaches_the_forces_on_moving_walls() -> None:
    solver = moving_body((0.02, 0.0))
    forces = solver.record(lbm.Forces("two"))
    solver.run(2)
    solver.initialize(density=1.05)
    solver.run(2)
    assert forces.steps.tolist() == [1, 2]
    assert np.array_equal(forces["force"][-1], solver.body_force("two"))


def test_coefficients_are_forces_divided_by_pressure_and_area() -> None:
    solver = flow("D3Q19")
    given = {"speed": 0.05, "area": 9.0, "density": 1.1}
    plain, turned = solver.record(
        lbm.Coefficients("block", **given, length=2.0),
        lbm.Coefficients("block", **given, drag="z", lift="x", name="turned"),
    )
    solver.run(4)
    scale = 0.5 * 1.1 * 0.05**2 * 9
    force, torque = solver.body_force("block"), solver.body_torque("block")
    for name, axis in (("drag", 0), ("lift", 1), ("side", 2)):
        assert plain[name].shape == (4,)
        assert plain[name][-1] == force[axis] / scale
    for name, axis in (("drag", 2), ("lift", 0), ("side", 1)):
        assert turned[name][-1] == force[axis] / scale
    assert np.array_equal(plain["moment"][-1], torque / (scale * 2))
    assert np.array_equal(turned["moment"][-1], torque / (scale * 3))
    assert plain.to_xarray().drag.dims == ("step",)
    flat = flow()
    two = flat.record(lbm.Coefficients("block", speed=0.1, area=3.0))
    flat.run(2)
    assert two.fields == ("drag", "lift", "moment", "force", "torque")
    assert list(two.to_pandas()) == ["drag", "lift", "moment_z", "force_x", "force_y", "torque_z"]
    units = lbm.Units(length_phys=0.01, time_phys=0.002, density_phys=1000)
    np.testing.assert_allclose(two.to_xarray(units).force, units.force_phys(two["force"], 2))
    assert np.array_equal(two.to_xarray(units).drag, two["drag"])


@pytest.mark.parametrize("device", ["cpu", GPU])
@pytest.mark.parametrize("stencil", ["D2Q9", "D3Q19"])
def test_fluxes_are_sums_over_planes(stencil: str, device: str, request: pytest.FixtureRequest) -> None:
    need(device, request)
    solver = flow(stencil, device=device)
    flux, beside = solver.record(lbm.Flux("x", 2.5), lbm.Flux("x", 6.5, every=2))
    for count in range(4):
        solver.step(1)
        density, velocity = solver.density(), solver.velocity()[0]
        np.testing.assert_allclose(flux["mass"][count], (density * velocity)[2].sum(), rtol=1e-13)
        np.testing.assert_allclose(flux["volume"][count], velocity[2].sum(), rtol=1e-13)
    fluid = ~solver.solid[6]
    np.testing.assert_allclose(beside["mass"][-1], (density * velocity)[6][fluid].sum(), rtol=1e-13)
    assert beside.steps.tolist() == [2, 4]


def test_heat_through_walls() -> None:
    domain = lbm.Domain((8, 12), "D2Q9")
    domain.faces["-y"] = domain.faces["+y"] = lbm.NoSlip()
    domain.thermal["-y"], domain.thermal["+y"] = lbm.Isothermal(1.0), lbm.Isothermal(0.0)
    thermal = lbm.HybridThermal(diffusivity=0.05)
    solver = lbm.Solver(domain, lbm.BGK(0.05), thermal=thermal, device="cpu", precision="float64")
    heat = solver.record(lbm.HeatFlux("-y", every=10))
    solver.run(40)
    assert heat.steps.tolist() == [10, 20, 30, 40]
    assert heat["flux"][-1] == solver.mean_heat_flux("-y")
    with pytest.raises(ValueError, match="where: '-x' given, a face that is periodic"):
        solver.record(lbm.HeatFlux("-x"))
    with pytest.raises(ValueError, match="thermal: this solver has no temperature"):
        flow().record(lbm.HeatFlux("-y"))


@pytest.mark.parametrize(
    ("recorder", "text"),
    [
        (lambda: lbm.Forces("car"), "body: 'car' given"),
        (lambda: lbm.Forces("block", about=(1, 2, 3)), r"about: shape \(3,\) given, must be \(2,\)"),
        (lambda: lbm.Coefficients("block", speed=0, area=1), "speed: 0 given"),
        (lambda: lbm.Coefficients("block", speed=1, area=-1), "area: -1 given"),
        (lambda: lbm.Coefficients("block", speed=1, area=1, lift="x"), "lift: 'x' given, must be another axis"),
        (lambda: lbm.Coefficients("block", speed=1, area=1, lift="z"), "the domain has two dimensions"),
        (lambda: lbm.Flux("z", 1), "axis: 'z' given"),
        (lambda: lbm.Flux("x", 21), "position: 21 given, must be at most 20"),
    ],
)
def test_what_does_not_go_with_the_solver_is_refused(recorder: Any, text: str) -> None:
    solver = flow()
    with pytest.raises(ValueError, match=text):
        solver.record(recorder())
    assert solver.recorders == ()


def test_a_history_goes_on_by_its_own_schedule_without_a_gap(tmp_path: Path) -> None:
    solver = flow()
    solver.record(lbm.Forces("block", every=4))
    solver.run(14)
    path = solver.save(tmp_path / "state.h5")
    for other in ({"every": 2}, {"every": 8}, {"every": 4, "start": 2}, {"every": 4, "start": 8}):
        with pytest.raises(lbm.CheckpointError, match=r"of other steps than those of every=.* record it alike"):
            lbm.Solver.load(path, device="cpu").record(lbm.Forces("block", **other))
    late = lbm.Solver.load(path, device="cpu")
    late.run(1)  # no sample is due
    soon = lbm.Solver.load(late.save(tmp_path / "soon.h5"), device="cpu")
    forces: Any = soon.record(lbm.Forces("block", every=4))
    soon.run(5)
    assert forces.steps.tolist() == [4, 8, 12, 16, 20]
    late.run(1)
    late.save(tmp_path / "late.h5")
    with pytest.raises(lbm.CheckpointError, match="it was not recorded from step 12 to step 16"):
        lbm.Solver.load(tmp_path / "late.h5", device="cpu").record(lbm.Forces("block", every=4))


def test_a_domain_without_bodies() -> None:
    solver = lbm.Solver(lbm.Domain((8, 8), "D2Q9"), lbm.BGK(0.1), device="cpu")
    with pytest.raises(ValueError, match="the domain has no bodies"):
        solver.record(lbm.Forces("car"))
