"""Natural convection: heated cavities against published Nusselt numbers, and the onset of convection from below."""

from __future__ import annotations

import numpy as np
import pytest

import lbmgpu as lbm
from validation.flows import order

PRANDTL = 0.71
DE_VAHL_DAVIS = {1e3: 1.118, 1e4: 2.243, 1e5: 4.519}
"""Mean Nusselt numbers of the square, Int. J. Numer. Meth. Fluids 3 (1983) 249."""
SPECTRAL = {1e3: 1.11779, 1e4: 2.24482, 1e5: 4.52164}
"""The same from a spectral computation, Chebyshev collocation, whose digits do not change with its size."""
CELLS = {1e3: 40, 1e4: 40, 1e5: 72}
"""Sides of the square that resolve its layers."""
TRIC_1E4 = 2.0542
"""Of the cube at 1e4, over a whole wall: Tric, Labrosse & Betrouni, Int. J. Heat Mass Transfer 43 (2000) 4043."""
CLEVER_BUSSE = {5000: 2.116, 10_000: 2.661}
"""Of rolls with the wavelength 2.016 between rigid plates: Clever & Busse, J. Fluid Mech. 65 (1974) 625, air."""
ROLLS = {5000: 2.1102, 10_000: 2.6525}
"""The same by Newton's method on 24 Fourier and 25 Chebyshev points, where its digits no longer change."""
RANGE = (1650, 1760)
"""The critical Rayleigh number is 1707.76 at the wavelength 2.016 times the height."""


def heated_cavity(
    n: int, rayleigh: float, dimensions: int, device: str, *, speed: float = 0.1, **options
) -> lbm.Solver:
    """A square or a cube with a hot wall at -x and a cold one at +x, at rest and half-way between both."""
    setup = lbm.Convection(rayleigh, PRANDTL, n, velocity=speed)
    domain = lbm.Domain((n,) * dimensions, "D2Q9" if dimensions == 2 else "D3Q19")
    for face in domain.faces:
        domain.faces[face] = lbm.NoSlip()
    domain.thermal["-x"], domain.thermal["+x"] = lbm.Isothermal(0.5), lbm.Isothermal(-0.5)
    operators = options.pop("operators", "isotropic")
    thermal = setup.thermal("+y", operators=operators)
    chosen = {"precision": "float64", "device": device, "threads": 1, **options}
    solver = lbm.Solver(domain, lbm.TRT(setup.viscosity), thermal=thermal, **chosen)
    x = (np.arange(n) + 0.5) / n
    solver.initialize(temperature=np.broadcast_to((0.5 - x).reshape(-1, *[1] * (dimensions - 1)), (n,) * dimensions))
    return solver


def settle(solver: lbm.Solver, tolerance: float = 1e-6, every: int = 500) -> None:
    """Run until the temperature changes by less than `tolerance` of the difference in `every` steps."""
    assert solver.run(200_000, until=lbm.Steady(tolerance, every=every, of="temperature")).converged


def through_the_middle(solver: lbm.Solver, kappa: float) -> float:
    """Heat a step and area through x = L/2, by advection and conduction."""
    temperature, u = solver.temperature(), solver.velocity()[0]
    n = len(u)
    left, right = n // 2 - 1, n // 2
    carried = (temperature[left] + temperature[right]) / 2 * (u[left] + u[right]) / 2
    return float((carried - kappa * (temperature[right] - temperature[left])).mean())


@pytest.mark.parametrize("operators", ["isotropic", "obrecht2013"])
@pytest.mark.parametrize("rayleigh", [1e3, 1e4, 1e5])
def test_the_heated_square(rayleigh, operators, device):
    """Within 1 % of the published Nusselt number at both walls and through the middle."""
    n = CELLS[rayleigh]
    solver = heated_cavity(n, rayleigh, 2, device, operators=operators)
    settle(solver, 1e-6 if rayleigh < 1e5 else 1e-5)
    kappa = lbm.Convection(rayleigh, PRANDTL, n).diffusivity
    hot, cold = solver.nusselt("-x", n, 1.0), solver.nusselt("+x", n, 1.0)
    assert hot == pytest.approx(DE_VAHL_DAVIS[rayleigh], rel=0.01)
    assert hot == pytest.approx(SPECTRAL[rayleigh], rel=0.004)
    assert cold == pytest.approx(-hot, rel=1e-3)
    assert through_the_middle(solver, kappa) * n / kappa == pytest.approx(hot, rel=0.01)
    assert np.abs(solver.heat_flux("-y")).max() == 0


def test_the_heated_square_converges(device):
    """At second order, to the spectral value; the speed falls as the cell size, so compressibility does too."""
    sizes, errors = (16, 24, 36), []
    for n in sizes:
        solver = heated_cavity(n, 1e4, 2, device, speed=0.1 * 16 / n)
        settle(solver, 1e-7)
        errors.append(abs(solver.nusselt("-x", n, 1.0) - SPECTRAL[1e4]))
    assert errors[-1] < 0.01 * SPECTRAL[1e4]
    assert order(errors, sizes) == pytest.approx(2, abs=0.5)


def test_the_heated_square_in_single_precision(device):
    """Float32 gives the number of float64 to 0.1 %."""
    found = []
    for precision in ("float32", "float64"):
        solver = heated_cavity(24, 1e4, 2, device, precision=precision)
        settle(solver, 1e-5)
        found.append(solver.nusselt("-x", 24, 1.0))
    assert found[0] == pytest.approx(found[1], rel=1e-3)


def test_gravity_along_any_axis(device):
    """Turned by a right angle, or with gravity reversed, the flow is the same."""
    n, found = 16, []
    for direction, hot, cold in (("+y", "-x", "+x"), ("-y", "+x", "-x"), ("+x", "-y", "+y"), ("-x", "+y", "-y")):
        setup = lbm.Convection(1e4, PRANDTL, n)
        domain = lbm.Domain((n, n), "D2Q9")
        for face in domain.faces:
            domain.faces[face] = lbm.NoSlip()
        domain.thermal[hot], domain.thermal[cold] = lbm.Isothermal(0.5), lbm.Isothermal(-0.5)
        thermal = setup.thermal(direction)
        solver = lbm.Solver(domain, lbm.TRT(setup.viscosity), thermal=thermal, precision="float64", device=device)
        solver.step(3000)
        found.append(solver.nusselt(hot, n, 1.0))
    np.testing.assert_allclose(found, found[0], rtol=1e-10)


def test_the_heated_cube(device):
    """At Rayleigh number 1e4 and 24 cells within 1 % of the published number, over the wall and in mid-plane."""
    n = 24
    solver = heated_cavity(n, 1e4, 3, device, speed=0.12)
    settle(solver, 2e-5)
    hot = solver.nusselt("-x", n, 1.0)
    assert hot == pytest.approx(TRIC_1E4, rel=0.01)
    assert solver.nusselt("+x", n, 1.0) == pytest.approx(-hot, rel=2e-3)
    local = solver.nusselt_map("-x", n, 1.0)
    assert local[:, n // 2 - 1 : n // 2 + 1].mean() == pytest.approx(2.2505, rel=0.01)


def test_temperatures_in_kelvin_keep_their_digits(device):
    """Water at room temperature: the same Nusselt number and number of steps in float32 and float64."""
    n, middle, found, steps = 20, 293.15, [], []
    setup = lbm.Convection(1e4, 7.0, n, difference=5.0)
    domain = lbm.Domain((n, n), "D2Q9")
    for face in domain.faces:
        domain.faces[face] = lbm.NoSlip()
    domain.thermal["-x"], domain.thermal["+x"] = lbm.Isothermal(middle + 2.5), lbm.Isothermal(middle - 2.5)
    for precision in ("float32", "float64"):
        thermal = setup.thermal("+y", reference=middle)
        solver = lbm.Solver(domain, lbm.TRT(setup.viscosity), thermal=thermal, precision=precision, device=device)
        assert solver.run(20_000, until=lbm.Steady(1e-4, every=100, of="temperature")).converged
        found.append(solver.nusselt("-x", n, 5.0))
        steps.append(solver.steps)
        assert solver.heat() == pytest.approx(middle * n**2, rel=1e-6)
    assert found[0] == pytest.approx(found[1], rel=1e-4)
    assert steps[0] == pytest.approx(steps[1], rel=0.02)


def from_below(n: int, rayleigh: float, device: str, *, speed: float = 0.05, noise: float = 1e-4) -> lbm.Solver:
    """A layer heated from below, one wavelength wide, in hydrostatic balance but for a small wave."""
    setup = lbm.Convection(rayleigh, PRANDTL, n, velocity=speed)
    shape = (round(2.016 * n), n)
    domain = lbm.Domain(shape, "D2Q9")
    domain.faces["-y"] = domain.faces["+y"] = lbm.NoSlip()
    domain.thermal["-y"], domain.thermal["+y"] = lbm.Isothermal(0.5), lbm.Isothermal(-0.5)
    solver = lbm.Solver(
        domain, lbm.TRT(setup.viscosity), thermal=setup.thermal("+y"), precision="float64", device=device, threads=1
    )
    x, y = ((np.arange(m) + 0.5) / m for m in shape)
    wave = np.cos(2 * np.pi * x)[:, None] * np.sin(np.pi * y)
    pressure = setup.buoyancy * n * (y - y**2) / 2
    solver.initialize(density=np.broadcast_to(1 + 3 * pressure, shape), temperature=0.5 - y + noise * wave)
    return solver


def growth(n: int, rayleigh: float, device: str) -> float:
    """Rate at which the wave grows, in units of the diffusion time over the height, once it has its shape."""
    solver = from_below(n, rayleigh, device)
    diffusion_time = n**2 / lbm.Convection(rayleigh, PRANDTL, n, velocity=0.05).diffusivity
    wave = np.cos(2 * np.pi * (np.arange(solver.domain.shape[0]) + 0.5) / solver.domain.shape[0])

    def amplitude() -> float:
        return float(np.abs(wave @ solver.velocity()[1]).max())

    solver.step(round(0.3 * diffusion_time))
    early, begin = amplitude(), solver.steps
    solver.step(round(0.2 * diffusion_time))
    return float(np.log(amplitude() / early) / (solver.steps - begin) * diffusion_time)


def test_the_onset_of_convection(device):
    """Growth below and above the critical Rayleigh number, and where it is zero between."""
    low, high = 1600, 1820
    damped, growing = (growth(31, rayleigh, device) for rayleigh in (low, high))
    assert damped < 0 < growing
    critical = low - damped * (high - low) / (growing - damped)
    assert RANGE[0] < critical < RANGE[1]
    assert critical == pytest.approx(1707.76, rel=0.003)


@pytest.mark.parametrize("rayleigh", [5000, 10_000])
def test_rolls_heated_from_below(rayleigh, device):
    """The Nusselt number of steady rolls at both plates, and the flux through the middle of the layer."""
    n = 32
    solver = from_below(n, rayleigh, device, speed=0.1, noise=0.1)
    settle(solver)
    hot, cold = (solver.nusselt(face, n, 1.0) for face in ("-y", "+y"))
    assert hot == pytest.approx(CLEVER_BUSSE[rayleigh], rel=0.015)
    assert hot == pytest.approx(ROLLS[rayleigh], rel=0.01)
    assert cold == pytest.approx(-hot, rel=2e-3)
    kappa = lbm.Convection(rayleigh, PRANDTL, n).diffusivity
    temperature, rise = solver.temperature(), solver.velocity()[1]
    low, high = n // 2 - 1, n // 2
    carried = (temperature[:, low] + temperature[:, high]) / 2 * (rise[:, low] + rise[:, high]) / 2
    middle = (carried - kappa * (temperature[:, high] - temperature[:, low])).mean()
    assert middle * n / kappa == pytest.approx(hot, rel=0.015)


def test_no_convection_below_the_critical_number(device):
    """A layer heated from above, or from below too little, only conducts."""
    for rayleigh, sign in ((1500, 1), (20_000, -1)):
        n = 16
        solver = from_below(n, rayleigh, device, noise=1e-2)
        if sign < 0:
            domain = solver.domain.copy()
            domain.thermal["-y"], domain.thermal["+y"] = lbm.Isothermal(-0.5), lbm.Isothermal(0.5)
            setup = lbm.Convection(rayleigh, PRANDTL, n)
            solver = lbm.Solver(
                domain, lbm.TRT(setup.viscosity), thermal=setup.thermal("+y"), precision="float64", device=device
            )
            x, y = ((np.arange(m) + 0.5) / m for m in domain.shape)
            solver.initialize(temperature=y - 0.5 + 1e-2 * np.cos(2 * np.pi * x)[:, None] * np.sin(np.pi * y))
        solver.step(30_000)
        assert solver.nusselt("-y", n, 1.0) == pytest.approx(sign, rel=1e-3)
