"""Conduction and a temperature that the flow carries, against exact solutions; and where the heat goes."""

from __future__ import annotations

import numpy as np
import pytest
from reference.registry import THERMAL_STENCILS

import lbmgpu as lbm
from validation.flows import AXES, centres, order, relative_l2

OPERATORS = ["isotropic", "obrecht2013"]


def diffusivity(operators: str) -> float:
    """One that both sets of operators are stable with, in two dimensions and three."""
    return {"isotropic": 0.1, "obrecht2013": 0.05}[operators]


def solver(domain: lbm.Domain, thermal: lbm.HybridThermal, device: str, **options: str) -> lbm.Solver:
    return lbm.Solver(domain, lbm.TRT(0.1), thermal=thermal, **{"precision": "float64", "device": device, **options})


def walled(shape: tuple[int, ...]) -> lbm.Domain:
    """A box with walls all round, adiabatic."""
    domain = lbm.Domain(shape, "D2Q9" if len(shape) == 2 else "D3Q19")
    for face in domain.faces:
        domain.faces[face] = lbm.NoSlip()
    return domain


def gaussian(n: int, dimensions: int, center: np.ndarray, variance: float) -> np.ndarray:
    """A Gaussian in a periodic box 1 wide, at `n` cells a side, a product of sums of images."""
    result = np.ones((n,) * dimensions)
    for axis, x in enumerate(centres((n,) * dimensions)):
        offset = x[..., None] / n - center[axis] - np.arange(-3, 4)
        result *= np.exp(-(offset**2) / (2 * variance)).sum(axis=-1) / np.sqrt(variance)
    return result


@pytest.mark.parametrize("operators", OPERATORS)
@pytest.mark.parametrize("stencil", THERMAL_STENCILS)
@pytest.mark.parametrize("moving", [False, True], ids=["at rest", "carried"])
def test_a_gaussian_spreads(moving, stencil, operators, device):
    """At rest or carried along a slanted way, with second-order convergence: the speed falls as the cell size."""
    dimensions = int(stencil[1])
    sizes = (24, 36, 54) if dimensions == 2 else (20, 28, 39)
    kappa, time, variance = diffusivity(operators), 0.012, 0.01
    # along the box's side in a diffusion time L^2/kappa 25 times: cell Peclet numbers of order 1
    drift = np.array([25.0, -16.0, 9.0])[:dimensions] if moving else np.zeros(dimensions)
    start = np.full(dimensions, 0.4)
    errors = []
    for n in sizes:
        steps = round(time * n**2 / kappa)
        time_done = steps * kappa / n**2
        given = solver(lbm.Domain((n,) * dimensions, stencil), lbm.HybridThermal(kappa, operators=operators), device)
        given.initialize(velocity=drift * kappa / n, temperature=gaussian(n, dimensions, start, variance))
        given.step(steps)
        exact = gaussian(n, dimensions, start + drift * time_done, variance + 2 * time_done)
        errors.append(relative_l2(given.temperature(), exact))
    assert errors[-1] < 0.02
    assert order(errors, sizes) == pytest.approx(2, abs=0.1)


@pytest.mark.parametrize("operators", OPERATORS)
@pytest.mark.parametrize("kind", ["isothermal", "adiabatic"])
@pytest.mark.parametrize("stencil", THERMAL_STENCILS)
def test_a_wave_between_walls_decays(stencil, kind, operators, device):
    """A half wave between walls, a whole one along them: the walls half-way between cells are of second order."""
    kappa, time, sizes = diffusivity(operators), 0.01, (10, 15, 22, 34)
    errors = []
    for n in sizes:
        shape = (n, 2 * n, 1)[: int(stencil[1])]
        domain = lbm.Domain(shape, stencil)
        for face in ("-x", "+x"):
            domain.faces[face] = lbm.NoSlip()
            if kind == "isothermal":
                domain.thermal[face] = lbm.Isothermal(0.7)
        steps = round(time * n**2 / kappa)
        x, y = (a / n for a in centres(shape)[:2])
        wave = {"isothermal": np.sin, "adiabatic": np.cos}[kind](np.pi * x) * np.cos(np.pi * y)
        given = solver(domain, lbm.HybridThermal(kappa, operators=operators), device)
        given.initialize(temperature=0.7 + wave)
        given.step(steps)
        exact = wave * np.exp(-2 * np.pi**2 * steps * kappa / n**2)
        errors.append(relative_l2(given.temperature() - 0.7, exact))
    assert errors[-1] < 2e-3
    assert order(errors, sizes) == pytest.approx(2, abs=0.2)


@pytest.mark.parametrize("streaming", ["in-place", "two-lattice"])
@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("stencil", THERMAL_STENCILS)
def test_conduction(stencil, axis, streaming, device):
    """Between two temperatures the flux is that of Fourier's law, the same in and out, at every cell of the walls."""
    dimensions, kappa, n = int(stencil[1]), 0.1, 12
    axis %= dimensions
    shape = tuple(n if a == axis else 5 for a in range(dimensions))
    domain = walled(shape)
    low, high = "-" + AXES[axis], "+" + AXES[axis]
    domain.thermal[low], domain.thermal[high] = lbm.Isothermal(1.5), lbm.Isothermal(-0.5)
    given = solver(domain, lbm.HybridThermal(kappa), device, streaming=streaming)
    result = given.run(50_000, until=lbm.Steady(1e-14, every=500, of="temperature"))
    assert result.converged
    for face, sign in ((low, 1), (high, -1)):
        flux = given.heat_flux(face)
        assert flux.shape == tuple(np.delete(shape, axis))
        np.testing.assert_allclose(flux, sign * kappa * 2 / n, rtol=1e-10)
        assert given.nusselt(face, n, 2.0) == pytest.approx(sign, rel=1e-10)
        np.testing.assert_allclose(given.nusselt_map(face, n, 2.0), sign, rtol=1e-10)


@pytest.mark.parametrize("stencil", THERMAL_STENCILS)
def test_the_mean_is_that_of_the_map(stencil, device, rng):
    """The device's own sums of the heat flux, against the maps; solid cells of a face do not count."""
    shape = (14, 12, 10)[: int(stencil[1])]
    domain = walled(shape)
    mask = np.zeros(shape, bool)
    mask[:3, 4:8] = True
    domain.add_body(mask, "step", thermal=lbm.Isothermal(0.3))
    domain.thermal["-x"], domain.thermal["+y"] = lbm.Isothermal(1.0), lbm.Isothermal(-0.2)
    kappa = 0.08
    given = solver(domain, lbm.HybridThermal(kappa), device)
    given.initialize(temperature=rng.random(shape))
    given.step(9)
    for face, axis, at in (("-x", 0, 0), ("+y", 1, -1)):
        fluid = ~np.moveaxis(mask, axis, 0)[at]
        flux, mean = given.heat_flux(face), given.nusselt(face, 14, 1.0) * kappa / 14
        assert np.ptp(flux[fluid]) > 1e-3
        assert (flux[~fluid] == 0).all()
        assert mean == pytest.approx(flux[fluid].mean(), rel=1e-12)
        np.testing.assert_allclose(given.nusselt_map(face, 14, 1.0), flux * 14 / kappa, rtol=1e-12)
    flux = given.heat_flux("step")
    assert given.nusselt("step", 14, 1.0) == pytest.approx(flux.flux.sum() / flux.area.sum() * 14 / kappa, rel=1e-12)
    cells, local = given.nusselt_map("step", 14, 1.0)
    np.testing.assert_array_equal(cells, flux.cells)
    np.testing.assert_allclose(local, flux.flux / flux.area * 14 / kappa, rtol=1e-12)


@pytest.mark.parametrize("operators", OPERATORS)
@pytest.mark.parametrize("stencil", THERMAL_STENCILS)
def test_an_adiabatic_box_gains_the_sources_heat(stencil, operators, device, rng):
    """Uniform or one value a cell; without flow to rounding, and walls and a plate take none of it."""
    shape = (9, 8, 7)[: int(stencil[1])]
    domain = walled(shape)
    plate = np.zeros(shape, bool)
    plate[4] = True
    domain.add_body(plate, "plate")
    for source in (2e-3, 1e-3 * rng.random(shape)):
        given = solver(domain, lbm.HybridThermal(diffusivity(operators), operators=operators, source=source), device)
        given.initialize(temperature=rng.random(shape))
        before = given.heat()
        assert before == pytest.approx(given.temperature()[~plate].sum(), rel=1e-13)
        given.step(200)
        gained = 200 * np.broadcast_to(source, shape)[~plate].sum()
        assert given.heat() - before == pytest.approx(gained, rel=1e-11)


@pytest.mark.parametrize("stencil", THERMAL_STENCILS)
def test_a_body_gives_what_the_fluid_gains(stencil, device):
    """Step by step, whatever the shape of the body; at last a hot body gives what a cold one around it takes."""
    shape = (22, 21, 5)[: int(stencil[1])]
    x, y = centres(shape)[:2]
    distance = np.hypot(x - 11, y - 10.4)
    domain = lbm.Domain(shape, stencil)
    domain.add_body(distance < 4, "hot", thermal=lbm.Isothermal(1.0))
    domain.add_body(distance > 9, "cold", thermal=lbm.Isothermal(-0.5))
    given = solver(domain, lbm.HybridThermal(0.1), device)
    for _ in range(5):
        before, rate = given.heat(), sum(given.heat_flux(body).flux.sum() for body in ("hot", "cold"))
        given.step()
        assert given.heat() - before == pytest.approx(rate, rel=1e-10, abs=1e-12)
    given.run(20_000, until=lbm.Steady(1e-15, every=500, of="temperature"))
    hot, cold = (given.heat_flux(body).flux.sum() for body in ("hot", "cold"))
    assert hot == pytest.approx(-cold, rel=1e-9)
    thickness = shape[2] if len(shape) == 3 else 1
    exact = 2 * np.pi * 0.1 * 1.5 / np.log(9 / 4) * thickness
    assert hot == pytest.approx(exact, rel=0.06)  # a staircase's radius is known to part of a cell only


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("operators", OPERATORS)
@pytest.mark.parametrize("stencil", THERMAL_STENCILS)
def test_a_uniform_temperature_stays(stencil, operators, precision, device, rng):
    """To the last bit, in any flow, between walls and bodies of that temperature."""
    shape = (9, 8, 7)[: int(stencil[1])]
    domain = walled(shape)
    domain.faces["-x"] = domain.faces["+x"] = lbm.Periodic()
    domain.thermal["-y"] = lbm.Isothermal(0.3)
    domain.add_body(rng.random(shape) < 0.2, "stones", thermal=lbm.Isothermal(0.3))
    domain.faces["+y"] = lbm.MovingWall([0.05, *[0.0] * (len(shape) - 1)])
    thermal = lbm.HybridThermal(diffusivity(operators), operators=operators, buoyancy=[0.01] * len(shape))
    given = solver(domain, thermal, device, precision=precision)
    velocity = 0.03 * rng.standard_normal((len(shape), *shape))
    given.initialize(velocity=np.clip(velocity, -0.05, 0.05), temperature=0.3)
    given.step(60)
    fluid = ~domain.solid
    assert np.abs(given.velocity()[:, fluid]).max() > 1e-3
    assert (given.temperature()[fluid] == np.dtype(precision).type(0.3)).all()


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("stencil", THERMAL_STENCILS)
def test_thin_plates_leak_nothing(stencil, axis, device, rng):
    """A plate one cell thick parts two fluids: what happens on one side changes no bit on the other."""
    dimensions = int(stencil[1])
    axis %= dimensions
    shape = (9, 8, 7)[:dimensions]
    plate = np.zeros(shape, bool)
    plate[tuple(slice(4, 5) if a == axis else slice(None) for a in range(dimensions))] = True
    at = tuple(slice(None, 4) if a == axis else slice(None) for a in range(dimensions))
    start, velocity = rng.random(shape), 0.02 * rng.uniform(-1, 1, (dimensions, *shape))
    for wall in (None, lbm.Isothermal(0.5)):
        domain = walled(shape)
        domain.add_body(plate, "plate", thermal=wall)
        found = []
        for heat in (0.0, 5.0):
            other = start + heat * (np.arange(shape[axis]) > 4).reshape(
                [-1 if a == axis else 1 for a in range(dimensions)]
            )
            given = solver(domain, lbm.HybridThermal(0.1, buoyancy=[0.001] * dimensions), device)
            given.initialize(velocity=velocity, temperature=other)
            given.step(40)
            found.append(given.temperature())
        np.testing.assert_array_equal(found[0][at], found[1][at])
        assert not np.array_equal(found[0], found[1])


@pytest.mark.parametrize("stencil", THERMAL_STENCILS)
def test_a_box_of_thin_walls_is_tight(stencil, device, rng):
    """Corners and edges included: what is inside one cell of solid all round hears nothing of what is outside."""
    shape = (11, 10, 9)[: int(stencil[1])]
    inside, walls = np.zeros(shape, bool), np.zeros(shape, bool)
    walls[tuple(slice(2, n - 2) for n in shape)] = True
    inside[tuple(slice(3, n - 3) for n in shape)] = True
    domain = walled(shape)
    domain.add_body(walls & ~inside, "box")
    start = rng.random(shape)
    found = []
    for heat in (0.0, 5.0):
        given = solver(domain, lbm.HybridThermal(0.1, buoyancy=[0.001] * len(shape)), device)
        given.initialize(temperature=np.where(walls, start, start + heat))
        given.step(40)
        found.append(given.temperature())
    np.testing.assert_array_equal(found[0][inside], found[1][inside])
    assert np.abs(found[1] - found[0])[~walls].min() > 1


@pytest.mark.parametrize("operators", OPERATORS)
@pytest.mark.parametrize("stencil", THERMAL_STENCILS)
def test_ragged_adiabatic_bodies_take_no_heat(stencil, operators, device, rng):
    """Whatever their shape, corners and single cells included: in a fluid at rest its heat stays to rounding."""
    shape = (13, 12, 9)[: int(stencil[1])]
    domain = walled(shape)
    domain.add_body(rng.random(shape) < 0.3, "stones")
    given = solver(domain, lbm.HybridThermal(diffusivity(operators), operators=operators), device)
    given.initialize(temperature=rng.random(shape))
    before, start = given.heat(), given.temperature()
    given.step(100)
    assert given.heat() == pytest.approx(before, rel=1e-13)
    assert np.abs(given.temperature() - start)[~domain.solid].max() > 0.1
