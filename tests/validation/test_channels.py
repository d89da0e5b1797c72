"""Flows between walls with exact solutions: Poiseuille, Couette, ducts, oscillating walls and pressures."""

from __future__ import annotations

import json

import numpy as np
import pytest
from reference.registry import FLOW_STENCILS, PAIRS, STREAMINGS

import lbmgpu as lbm
from lbmgpu import _core
from validation.flows import (
    AXES,
    centres,
    channel,
    collision,
    duct,
    order,
    parabola,
    profile,
    relative_l2,
    unit,
)

LAMBDAS = [3 / 16, 1 / 4, 1 / 6, 1 / 12, 1 / 2]


def poiseuille(
    stencil: str, n: int, axis: int, model: lbm.TRT, peak: float, times: float = 3.0, **options: str
) -> lbm.Solver:
    """Force-driven flow between resting walls, run for `times` the time n^2/nu of diffusion."""
    domain, along = channel(stencil, n, axis)
    force = unit(len(domain.shape), along, 8 * model.viscosity * peak / n**2)
    solver = lbm.Solver(domain, model, force=force, precision="float64", **options)
    solver.step(int(times * n**2 / model.viscosity))
    return solver


@pytest.mark.parametrize("streaming", STREAMINGS)
@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("stencil", FLOW_STENCILS)
def test_poiseuille_is_exact_at_three_sixteenths(stencil, axis, streaming, device):
    """TRT with Lambda = 3/16 gives the parabola itself, whatever the width and the viscosity."""
    axis %= int(stencil[1])
    along = (axis + 1) % int(stencil[1])
    for n, viscosity in ((5, 0.02), (8, 0.3), (13, 0.1)):
        peak = 0.01
        solver = poiseuille(stencil, n, axis, lbm.TRT(viscosity), peak, streaming=streaming, device=device)
        error = profile(solver, axis, along) - parabola(n, peak)
        assert np.abs(error).max() < 1e-10 * peak


@pytest.mark.parametrize("viscosity", [0.001, 0.01, 0.1])
@pytest.mark.parametrize("stencil", [name for name in FLOW_STENCILS if name != "D3Q19"])
def test_central_moments_put_walls_half_way(stencil, viscosity, device):
    """At 16 cells the parabola is right to 1e-3 of a peak of 0.1; the run begins with it, as diffusion is slow."""
    n, peak = 16, 0.1
    domain, along = channel(stencil, n, 1)
    force = unit(len(domain.shape), along, 8 * viscosity * peak / n**2)
    solver = lbm.Solver(domain, lbm.CentralMoments(viscosity), force=force, precision="float64", device=device)
    velocity = np.zeros((len(domain.shape), *domain.shape))
    velocity[along] = parabola(n, peak).reshape((1, n) + (1,) * (len(domain.shape) - 2))
    solver.initialize(velocity=velocity, nonequilibrium=True)
    solver.step(int(n**2 / viscosity))
    assert np.abs(profile(solver, 1, along) - parabola(n, peak)).max() < 1e-3 * peak


@pytest.mark.parametrize("streaming", STREAMINGS)
@pytest.mark.parametrize("magic", LAMBDAS)
@pytest.mark.parametrize("stencil", FLOW_STENCILS)
def test_poiseuille_is_off_as_theory_says(stencil, magic, streaming, device):
    """TRT with another Lambda is off by (16 Lambda - 3)/(3 N^2) of the peak (Ginzburg & d'Humieres 2003)."""
    for n, viscosity in ((6, 0.3), (11, 0.1)):
        peak = 0.01
        model = lbm.TRT(viscosity, magic=magic)
        solver = poiseuille(stencil, n, 1, model, peak, streaming=streaming, device=device)
        error = (profile(solver, 1, 2 % int(stencil[1])) - parabola(n, peak)) / peak
        np.testing.assert_allclose(error, (16 * magic - 3) / (3 * n**2), rtol=0, atol=1e-10)


@pytest.mark.parametrize("streaming", STREAMINGS)
@pytest.mark.parametrize(("stencil", "kind"), PAIRS)
def test_poiseuille_converges_at_second_order(stencil, kind, streaming, device):
    """The peak's error falls as the square of the cell size, for every collision (exact at 3/16: Lambda = 1/4)."""
    errors = []
    sizes = (8, 16, 32)
    for n in sizes:
        peak = 0.08 / n
        model = collision(kind, 0.2, **({"magic": 0.25} if kind in ("trt", "central-moments") else {}))
        solver = poiseuille(stencil, n, 1, model, peak, 1.5, streaming=streaming, device=device)
        errors.append(relative_l2(profile(solver, 1, 2 % int(stencil[1])), parabola(n, peak)))
    assert errors[-1] < 0.01
    assert order(errors, sizes) == pytest.approx(2, abs=0.1)


@pytest.mark.parametrize("streaming", STREAMINGS)
@pytest.mark.parametrize(("stencil", "kind"), PAIRS)
def test_couette_is_exact(stencil, kind, streaming, device):
    """Between a moving and a resting wall the profile is linear to rounding, along every axis.

    The ghost moments of MRT and the cumulants of high order feel the wall at the square of the Mach number, hence their
    low speed.
    """
    n, viscosity = 7, 0.2
    speed = 1e-4 if kind in ("mrt", "cumulant") else 0.05
    dimensions = int(stencil[1])
    for axis in range(dimensions):
        along = (axis + 1) % dimensions
        wall = lbm.MovingWall(unit(dimensions, along, speed))
        domain, _ = channel(stencil, n, axis, high=wall)
        model = collision(kind, viscosity)
        solver = lbm.Solver(domain, model, precision="float64", streaming=streaming, device=device)
        solver.step(int(4 * n**2 / viscosity))
        exact = speed * (np.arange(n) + 0.5) / n
        np.testing.assert_allclose(profile(solver, axis, along), exact, rtol=1e-9)


@pytest.mark.parametrize("streaming", STREAMINGS)
@pytest.mark.parametrize("stencil", [name for name in FLOW_STENCILS if _core.stencil(name).D == 3])
def test_square_duct(stencil, streaming, device, data):
    """The flow in a square duct is its Fourier series, to second order; centre and mean as tabulated."""
    known = json.loads((data / "flows.json").read_text())
    errors, sizes = [], (8, 16, 32)
    for n in sizes:
        viscosity, peak = 0.25, 0.16 / n
        force = peak * viscosity / (known["square_duct_centre_velocity_over_G_a2_by_mu"] * n**2)
        domain = lbm.Domain((1, n, n), stencil)
        for face in ("-y", "+y", "-z", "+z"):
            domain.faces[face] = lbm.NoSlip()
        options = {"precision": "float64", "streaming": streaming, "device": device}
        solver = lbm.Solver(domain, lbm.TRT(viscosity), force=(force, 0, 0), **options)
        solver.step(int(1.5 * n**2 / viscosity))
        y, z = centres((n, n))
        exact = duct(y, z - n / 2, n, n) * force / viscosity
        field = solver.velocity()[0, 0]
        errors.append(relative_l2(field, exact))
        np.testing.assert_allclose(field, field.T, rtol=1e-10)
    assert errors[-1] < 2e-3
    assert order(errors, sizes) > 1.8
    mean = known["square_duct_mean_velocity_over_G_a2_by_mu"] * force * n**2 / viscosity
    assert field.mean() == pytest.approx(mean, rel=4e-3)


@pytest.mark.parametrize("ratio", [2, 4])
def test_rectangular_duct(ratio, device, data):
    """The ratio of centre to mean velocity in ducts that are wider than high."""
    known = json.loads((data / "flows.json").read_text())["rectangular_duct_centre_over_mean_velocity"]
    n, viscosity, force = 20, 0.25, 1e-5
    domain = lbm.Domain((ratio * n, 1, n), "D3Q19")
    for face in ("-x", "+x", "-z", "+z"):
        domain.faces[face] = lbm.NoSlip()
    solver = lbm.Solver(domain, lbm.TRT(viscosity), force=(0, force, 0), precision="float64", device=device)
    solver.step(int(2 * n**2 / viscosity))
    field = solver.velocity()[1][:, 0]
    x, z = centres((ratio * n, n))
    exact = duct(z, x - ratio * n / 2, n, ratio * n) * force / viscosity
    assert relative_l2(field, exact) < 3e-3
    assert duct(np.array(n / 2), np.array(0.0), n, ratio * n) / exact.mean() * force / viscosity == pytest.approx(
        known[str(ratio)], rel=3e-3
    )


@pytest.mark.parametrize("streaming", STREAMINGS)
@pytest.mark.parametrize(("stencil", "kind"), PAIRS)
def test_half_a_channel_with_free_slip(stencil, kind, streaming, device):
    """A free-slip face on the mid-plane gives half of the whole channel to rounding, while the flow starts up."""
    for axis in range(int(stencil[1])):
        fields = []
        for n, high in ((12, lbm.NoSlip()), (6, lbm.FreeSlip())):
            domain, along = channel(stencil, n, axis, high=high)
            force = unit(len(domain.shape), along, 1e-4)
            model = collision(kind, 0.05)
            options = {"precision": "float64", "streaming": streaming, "device": device}
            solver = lbm.Solver(domain, model, force=force, **options)
            solver.step(151)
            fields.append(profile(solver, axis, along))
        assert fields[0].max() > 1e-3
        np.testing.assert_allclose(fields[1], fields[0][:6], rtol=0, atol=1e-14)


@pytest.mark.parametrize("streaming", STREAMINGS)
@pytest.mark.parametrize("stencil", FLOW_STENCILS)
def test_plug_flow_between_free_slip_faces(stencil, streaming, device):
    """A uniform stream along free-slip faces, edges and corners included, goes on unchanged."""
    dimensions = int(stencil[1])
    domain = lbm.Domain((6, 5, 4)[:dimensions], stencil)
    for face in list(domain.faces)[2:]:
        domain.faces[face] = lbm.FreeSlip()
    solver = lbm.Solver(domain, lbm.BGK(0.02), precision="float64", streaming=streaming, device=device)
    solver.initialize(velocity=unit(dimensions, 0, 0.1))
    solver.step(500)
    velocity = solver.velocity()
    np.testing.assert_allclose(velocity[0], 0.1, rtol=1e-12)
    np.testing.assert_allclose(velocity[1:], 0, atol=1e-13)


@pytest.mark.parametrize("streaming", STREAMINGS)
@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("stencil", FLOW_STENCILS)
def test_pressure_driven_channel(stencil, axis, streaming, device):
    """Two pressure outlets at the ends of a channel drive Poiseuille's flow, in either direction of each axis.

    Anti-bounce-back leaves out the viscous stress, so that the given pressure acts up to half a cell inside the face.
    """
    dimensions = int(stencil[1])
    axis %= dimensions
    across = (axis + 1) % dimensions
    n, length, viscosity, drop = 9, 32, 0.2, 2e-4
    shape = [1] * dimensions
    shape[axis], shape[across] = length, n
    for sign in (1, -1):
        domain = lbm.Domain(tuple(shape), stencil)
        domain.faces["-" + AXES[axis]] = lbm.PressureOutlet(1 + sign * drop)
        domain.faces["+" + AXES[axis]] = lbm.PressureOutlet(1 - sign * drop)
        for face in ("-", "+"):
            domain.faces[face + AXES[across]] = lbm.NoSlip()
        solver = lbm.Solver(domain, lbm.TRT(viscosity), precision="float64", streaming=streaming, device=device)
        solver.step(4000)
        field = np.moveaxis(solver.velocity()[axis], (axis, across), (0, 1)).reshape(length, n)
        density = np.moveaxis(solver.density(), (axis, across), (0, 1)).reshape(length, n)[:, n // 2]
        gradient = (density[8] - density[24]) / 3 / 16
        exact = parabola(n, gradient * n**2 / (8 * viscosity))
        np.testing.assert_allclose(field[length // 2], exact, rtol=0, atol=1e-3 * np.abs(exact).max())
        assert gradient == pytest.approx(sign * 2 * drop / 3 / length, rel=1.1 / length)
        assert density.mean() == pytest.approx(1, abs=1e-3 * drop)


@pytest.mark.parametrize("streaming", STREAMINGS)
@pytest.mark.parametrize("stencil", FLOW_STENCILS)
def test_inlet_profile_stays(stencil, streaming, device):
    """A parabola given at the inlet, as a callable, is the flow in the whole channel to a pressure outlet."""
    dimensions = int(stencil[1])
    n, length, viscosity, peak = 16, 32, 0.1, 0.02
    domain = lbm.Domain((length, n, 1)[:dimensions], stencil)

    def inlet(x, y, *z):
        return [4 * peak * y * (n - y) / n**2] + [0.0] * (dimensions - 1)

    domain.faces["-x"] = lbm.VelocityInlet(inlet)
    domain.faces["+x"] = lbm.PressureOutlet()
    domain.faces["-y"] = domain.faces["+y"] = lbm.NoSlip()
    solver = lbm.Solver(domain, lbm.TRT(viscosity), precision="float64", streaming=streaming, device=device)
    solver.step(6000)
    field = solver.velocity()[0].reshape(length, n)
    density = solver.density().reshape(length, n)
    flux = (field * density).sum(axis=1)
    np.testing.assert_allclose(flux, flux[0], rtol=1e-4)  # nothing is lost on the way
    assert flux[0] == pytest.approx(parabola(n, peak).sum(), rel=0.01)
    middle = field[length // 2]
    np.testing.assert_allclose(middle / middle.sum(), parabola(n, peak) / parabola(n, peak).sum(), atol=2e-4)


@pytest.mark.parametrize("streaming", STREAMINGS)
@pytest.mark.parametrize("stencil", FLOW_STENCILS)
def test_oscillating_wall(stencil, streaming, device):
    """Stokes' second problem: a wall that oscillates drags a damped wave behind it."""
    dimensions = int(stencil[1])
    n, viscosity, speed, period = 50, 0.1, 0.05, 800
    omega = 2 * np.pi / period
    k = np.sqrt(omega / (2 * viscosity))

    along = 2 % dimensions

    def wall(*coordinates, t):
        return unit(dimensions, along, speed * np.cos(omega * t))

    domain, _ = channel(stencil, n, 1, low=lbm.MovingWall(wall))
    solver = lbm.Solver(domain, lbm.TRT(viscosity), precision="float64", streaming=streaming, device=device)
    solver.step(4 * period)
    y = np.arange(n) + 0.5
    for _ in range(4):
        exact = speed * np.exp(-k * y) * np.cos(omega * solver.steps - k * y)
        np.testing.assert_allclose(profile(solver, 1, along), exact, rtol=0, atol=5e-3 * speed)
        solver.step(period // 4)


@pytest.mark.parametrize("womersley", [1, 4, 8])
def test_oscillating_force(womersley, device, data):
    """Womersley's flow between plates: amplitude and phase of the centre velocity."""
    known = json.loads((data / "flows.json").read_text())
    n, period = 21, 2000
    omega = 2 * np.pi / period
    viscosity = (n / 2) ** 2 * omega / womersley**2
    amplitude = 0.02 * omega
    domain, along = channel("D2Q9", n, 1)
    solver = lbm.Solver(domain, lbm.TRT(viscosity), force=(0.0, 0.0), precision="float64", device=device)
    start = 3 * period
    centre = np.empty(start + period)
    for t in range(len(centre)):
        solver.force = unit(2, along, amplitude * np.cos(omega * (t + 0.5)))
        solver.step(1)
        if t >= start:
            centre[t] = profile(solver, 1, along)[n // 2]
    times = np.arange(start, start + period) + 0.5
    complex_amplitude = 2 * np.mean(centre[start:] * np.exp(-1j * omega * times))
    size = known["womersley_plane_centre_amplitude_over_G_by_omega"][str(womersley)]
    phase = known["womersley_plane_centre_phase"][str(womersley)]
    assert abs(complex_amplitude) * omega / amplitude == pytest.approx(size, rel=0.01)
    assert np.angle(complex_amplitude) == pytest.approx(phase, abs=0.02)


@pytest.mark.parametrize(("stencil", "kind"), PAIRS)
def test_smagorinsky_in_steady_shear(stencil, kind, device):
    """In a shear g the stress on the wall is that of the viscosity nu + Cs^2 g."""
    n, viscosity, constant, speed = 8, 0.02, 0.9, 0.02
    dimensions = int(stencil[1])
    shape = (1, n + 1, 1)[:dimensions]
    domain = lbm.Domain(shape, stencil)
    domain.faces["-y"] = domain.faces["+y"] = lbm.NoSlip()
    plate = np.zeros(shape, dtype=bool)
    plate[:, n] = True
    domain.add_body(plate, name="plate", condition=lbm.MovingWall(unit(dimensions, 0, speed)))
    shear = speed / n
    effective = viscosity + constant**2 * shear
    assert effective > 1.05 * viscosity
    model = collision(kind, viscosity, smagorinsky=constant)
    solver = lbm.Solver(domain, model, precision="float64", device=device)
    velocity = np.zeros((dimensions, *shape))
    velocity[0, :, :n] = shear * (np.arange(n) + 0.5).reshape((1, n) + (1,) * (dimensions - 2))
    solver.initialize(velocity=velocity)
    solver.step(int(2.5 * n**2 / effective))
    np.testing.assert_allclose(profile(solver, 1, 0)[:n], velocity[0, 0].ravel()[:n], rtol=1e-3)
    assert solver.body_force("plate")[0] == pytest.approx(-effective * shear, rel=1e-3)
