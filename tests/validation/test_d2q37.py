"""The thermal model on D2Q37 against exact solutions: transport, sound, walls, gravity and two instabilities.

Of a monatomic gas in two dimensions: p = rho T, c_p = 2, c_v = 1, sound speed sqrt(2 T), viscosity nu = T (tau - 1/2)
and diffusivity alpha = T (tau_heat - 1/2). An entropy wave is read from T'/T - rho'/rho, which sound has none of.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.special import erf

import lbmgpu as lbm
from validation.flows import centres, order
from validation.stratified import Layer, hydrostatic

CS2 = lbm.stencil("D2Q37").cs2
FRAMES = [(0.0, 0.0), (0.1, 0.05), (0.2, 0.05)]
CRITICAL = 1707.76
"""Rayleigh number and, 3.117 / L, wavenumber of the onset between rigid plates: Chandrasekhar (1961), chapter II."""


def gas(
    shape: tuple[int, int],
    tau: float,
    device: str,
    *,
    prandtl: float = 1.0,
    gravity: tuple[float, float] | None = None,
    walls: dict[str, Any] | None = None,
    fourth_order_diffusion: bool = False,
    **options: Any,
) -> lbm.Solver:
    """A solver; `walls` maps a face to a temperature, or to None where it is adiabatic."""
    domain = lbm.Domain(shape, "D2Q37")
    for face, temperature in (walls or {}).items():
        domain.faces[face] = lbm.NoSlip()
        if temperature is not None:
            domain.thermal[face] = lbm.Isothermal(temperature)
    collision = lbm.ThermalBGK(CS2 * (tau - 0.5), prandtl, gravity, fourth_order_diffusion)
    return lbm.Solver(domain, collision, **{"precision": "float64", "device": device, "threads": 1, **options})


def along(axis: int, n: int, across: int = 3) -> tuple[tuple[int, int], tuple[int, ...]]:
    """The shape of a domain of `n` cells along an axis, and the shape that a profile along it has there."""
    shape = (n, across) if axis == 0 else (across, n)
    return shape, (n, 1) if axis == 0 else (1, n)


def across(temperature: Any, other: Any, axis: int) -> dict[str, Any]:
    """Two walls across an axis."""
    return {"-" + "xy"[axis]: temperature, "+" + "xy"[axis]: other}


def entropy(solver: lbm.Solver) -> np.ndarray:
    """T'/T - rho'/rho, but for constants."""
    return np.log(solver.temperature() / solver.density())


def totals(solver: lbm.Solver) -> np.ndarray:
    """Mass, momentum and twice the energy."""
    c = np.asarray(lbm.stencil("D2Q37").c, float)
    sums = solver.populations().sum(axis=(1, 2))
    return np.array([sums.sum(), c[:, 0] @ sums, c[:, 1] @ sums, (c**2).sum(axis=1) @ sums])


def decay(solver: lbm.Solver, steps: tuple[int, int], read: Any) -> complex:
    """The rate at which a complex amplitude changes, -d(log a)/dt; phases turn by less than half a turn."""
    solver.step(steps[0])
    first = read(solver)
    solver.step(steps[1])
    return -complex(np.log(read(solver) / first)) / steps[1]


# Transport


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("mean", [0.9, 1.0, 1.15])
@pytest.mark.parametrize(("tau", "prandtl"), [(0.55, 1.0), (0.55, 0.71), (0.8, 2.0), (1.2, 1.0)])
@pytest.mark.parametrize("kind", ["viscosity", "diffusivity"])
def test_transport(kind, tau, prandtl, mean, frame, device):
    """A shear wave and an entropy wave decay with nu k^2 and nu/Pr k^2, at any temperature, in frames that move."""
    n, eps = 96, 1e-5
    T0, k = mean * CS2, 2 * np.pi / n
    nu = T0 * (tau - 0.5)
    shape, profile = along(0, n)
    wave = np.exp(-1j * k * (np.arange(n) + 0.5)).reshape(profile)
    velocity = np.zeros((2, *shape)) + np.reshape(frame, (2, 1, 1))
    temperature = np.full(shape, T0)
    if kind == "viscosity":
        velocity[1] += eps * wave.imag
        expected = nu * k**2
    else:
        temperature *= 1 + eps * wave.imag
        expected = nu / prandtl * k**2
    solver = gas(shape, tau, device, prandtl=prandtl)
    solver.initialize(density=T0 / temperature, velocity=velocity, temperature=temperature)

    def amplitude(solver: lbm.Solver) -> complex:
        field = solver.velocity()[1] - frame[1] if kind == "viscosity" else entropy(solver) - np.log(T0)
        return complex((field * wave).mean()) * np.exp(1j * k * frame[0] * solver.steps)

    rate = decay(solver, (200, min(2000, round(0.8 / expected))), amplitude)
    assert rate.real == pytest.approx(expected, rel=5e-3)
    assert abs(rate.imag) / k < 5e-4  # it travels with the frame


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("mean", [0.9, 1.0, 1.15])
def test_the_speed_of_sound(mean, axis, device):
    """A travelling wave goes with sqrt(2 T), and is damped by (nu + alpha)/2."""
    n, tau, eps = 96, 0.55, 1e-5
    T0, k = mean * CS2, 2 * np.pi / n
    speed, nu = np.sqrt(2 * T0), T0 * (tau - 0.5)
    shape, profile = along(axis, n)
    wave = np.exp(-1j * k * (np.arange(n) + 0.5)).reshape(profile)
    bump = np.broadcast_to(eps * wave.imag, shape)
    velocity = np.zeros((2, *shape))
    velocity[axis] = -speed * bump  # towards lower coordinates
    solver = gas(shape, tau, device)
    solver.initialize(density=1 + bump, velocity=velocity, temperature=T0 * (1 + bump))

    def amplitude(solver: lbm.Solver) -> complex:
        return complex(((solver.density() - 1) * wave).mean()) * np.exp(-1j * k * speed * solver.steps)

    rate = decay(solver, (50, 1500), amplitude)
    assert (speed - rate.imag / k) / speed == pytest.approx(1, abs=2e-3)
    assert rate.real == pytest.approx(nu * k**2, rel=0.02)


@pytest.mark.parametrize("prandtl", [1.0, 0.71])
def test_a_periodic_box_keeps_what_it_has(prandtl, device, rng):
    """Mass, momentum and energy, to 1e-12 a step and much better."""
    shape = (24, 18)
    solver = gas(shape, 0.6, device, prandtl=prandtl)
    noise = rng.uniform(-1, 1, (4, *shape))
    solver.initialize(1 + 0.05 * noise[0], 0.05 * noise[1:3], temperature=CS2 * (1 + 0.05 * noise[3]))
    before = totals(solver)
    for _ in range(5):
        solver.step()
        now = totals(solver)
        assert np.abs(now - before).max() / before[0] < 1e-12
        before = now
    start = totals(solver)
    solver.step(1000)
    assert np.abs(totals(solver) - start).max() / start[0] < 1e-12


@pytest.mark.parametrize("prandtl", [1.0, 0.71])
def test_a_falling_box(prandtl, device):
    """Under gravity alone all moves as it should, u = u0 + g t, and nothing is heated."""
    g, u0 = np.array([3e-4, -2e-4]), np.array([0.02, 0.05])
    solver = gas((5, 4), 0.7, device, prandtl=prandtl, gravity=tuple(g))
    solver.initialize(velocity=u0)
    solver.step(250)
    expected = np.broadcast_to((u0 + 250 * g)[:, None, None], (2, 5, 4))
    np.testing.assert_allclose(solver.velocity(), expected, atol=1e-13)
    np.testing.assert_allclose(solver.temperature(), CS2, atol=1e-13)
    np.testing.assert_allclose(solver.density(), 1, atol=1e-13)


# Walls


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("tau", [0.52, 0.6, 0.8])
def test_conduction(tau, axis, device):
    """Between two temperatures the profile is linear, without ripples at the walls, at rest and at one pressure."""
    n, difference = 48, 0.1
    shape, profile = along(axis, n)
    hot, cold = CS2 * (1 + difference / 2), CS2 * (1 - difference / 2)
    exact = (hot + (cold - hot) * (np.arange(n) + 0.5) / n).reshape(profile)
    solver = gas(shape, tau, device, walls=across(hot, cold, axis))
    solver.initialize(density=CS2 / np.broadcast_to(exact, shape), temperature=np.broadcast_to(exact, shape))
    mass = totals(solver)[0]
    solver.step(round(2 * n**2 / (CS2 * (tau - 0.5)) / np.pi**2))
    assert np.abs(solver.temperature() - exact).max() / (hot - cold) < 1e-4
    pressure = solver.density() * solver.temperature()
    assert np.ptp(pressure) / pressure.mean() < 5e-6
    assert np.abs(solver.velocity()).max() < 5e-7
    assert totals(solver)[0] == pytest.approx(mass, rel=1e-13)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("isothermal", [True, False])
@pytest.mark.parametrize(("tau", "prandtl"), [(0.55, 1.0), (0.8, 1.0), (1.2, 1.0), (0.8, 0.71)])
def test_a_channel(tau, prandtl, isothermal, axis, device):
    """Gravity along the walls drives Poiseuille's profile."""
    n, peak = 32, 0.01
    nu = CS2 * (tau - 0.5)
    shape, profile = along(axis, n)
    y = (np.arange(n) + 0.5) / n
    exact = (4 * peak * y * (1 - y)).reshape(profile)
    gravity = np.zeros(2)
    gravity[1 - axis] = 8 * nu * peak / n**2
    wall = CS2 if isothermal else None
    solver = gas(shape, tau, device, prandtl=prandtl, gravity=tuple(gravity), walls=across(wall, wall, axis))
    velocity = np.zeros((2, *shape))
    velocity[1 - axis] = exact
    solver.initialize(velocity=velocity)
    solver.step(round(n**2 / nu))
    assert np.abs(solver.velocity()[1 - axis] - exact).max() < 6e-3 * peak
    assert np.abs(solver.velocity()[axis]).max() < 1e-4 * peak


WAVES = {"isothermal": (np.sin, 1), "adiabatic": (np.cos, 1), "along": (np.cos, 0)}


@pytest.mark.parametrize("kind", WAVES)
@pytest.mark.parametrize(("tau", "prandtl"), [(0.55, 1.0), (0.6, 0.71), (0.8, 1.0)])
def test_a_wave_between_walls_decays(kind, tau, prandtl, device):
    """Half a wave between plates, or none, and a whole one along them; walls half-way between cells, of second order.

    The pressure is the same all over, so that conduction alone decides: alpha (kx^2 + ky^2).
    """
    shape_of, halves = WAVES[kind]
    errors, sizes = [], (12, 18, 27)
    for n in sizes:
        shape = (2 * n, n)
        x, y = centres(shape)
        wave = np.cos(np.pi * x / n) * shape_of(halves * np.pi * y / n)
        alpha = CS2 * (tau - 0.5) / prandtl
        expected = alpha * (np.pi / n) ** 2 * (1 + halves)
        wall = CS2 if kind == "isothermal" else None
        solver = gas(shape, tau, device, prandtl=prandtl, walls=across(wall, wall, 1))
        temperature = CS2 * (1 + 1e-4 * wave)
        solver.initialize(density=CS2 / temperature, temperature=temperature)
        steps = round(0.4 / expected), round(0.6 / expected)
        rate = decay(solver, steps, lambda solver, wave=wave: complex(((entropy(solver) - np.log(CS2)) * wave).mean()))
        errors.append(abs(rate.real / expected - 1))
    assert errors[-1] < 0.015
    assert order(errors, sizes) > 1.7


def test_a_wall_whose_temperature_varies(device):
    """Laplace's solution between plates 18 cells apart with the temperature of a wave along them, and no flow."""
    n, eps, tau = 18, 1e-3, 0.7
    shape, k = (2 * n, n), np.pi / n
    x, y = centres(shape)
    exact = np.cos(k * x) * np.cosh(k * (y - n / 2)) / np.cosh(k * n / 2)
    wall = CS2 * (1 + eps * np.cos(k * x[:, 0]))
    solver = gas(shape, tau, device, walls=across(wall, wall, 1))
    solver.initialize(density=1 / (1 + eps * exact), temperature=CS2 * (1 + eps * exact))
    solver.step(round(4 / (CS2 * (tau - 0.5) * 2 * k**2)))
    assert np.abs(solver.temperature() / CS2 - 1 - eps * exact).max() / eps < 0.005
    assert np.abs(solver.velocity()).max() / eps < 3e-3


def test_a_uniform_wall_keeps_columns_alike(device):
    """Whatever the place along the wall, bit for bit."""
    solver = gas((24, 10), 0.6, device, walls=across(1.05 * CS2, CS2, 1))
    solver.initialize(temperature=CS2)
    solver.step(20)
    temperature = solver.temperature()
    assert (temperature == temperature[:1]).all()


@pytest.mark.parametrize(("width", "tau", "limit"), [(0, 0.53, 4e-3), (0, 0.6, 3e-3), (4, 0.53, 7e-4)])
def test_a_wall_whose_temperature_jumps(width, tau, limit, device):
    """From 0.9 to 1.1 times the mean in one cell, or as tanh(x / width): the flow at the jump is small.

    With the temperatures as they are given, mirrored at the wall, it is 1.5e-2 at the jump.
    """
    n = 16
    x = np.arange(3 * n) + 0.5
    low, high = 0.25 * n, 2.25 * n
    if width:
        step = np.tanh((x - low) / width) * np.tanh((high - x) / width)
    else:
        step = np.where((x > low) & (x < high), 1.0, -1.0)
    solver = gas((3 * n, n), tau, device, walls=across(CS2 * (1 + 0.1 * step), CS2, 1))
    solver.initialize(temperature=CS2)
    mass = totals(solver)[0]
    solver.step(round(0.5 * n**2 / (CS2 * (tau - 0.5))))
    assert np.sqrt((solver.velocity() ** 2).sum(axis=0)).max() < limit
    assert totals(solver)[0] == pytest.approx(mass, rel=1e-13)


@pytest.mark.parametrize("isothermal", [True, False])
@pytest.mark.parametrize(
    ("tau", "fourth_order_diffusion"),
    [(0.505, False), (0.51, False), (0.52, False), (0.6, False), (1.5, False), (0.55, True), (0.6, True), (1.5, True)],
)
def test_noise_between_walls_dies(tau, fourth_order_diffusion, isothermal, device, rng):
    """However little the viscosity, and with walls of different temperatures; mass stays."""
    shape = (20, 16)
    walls = across(1.1 * CS2, 0.9 * CS2, 1) if isothermal else across(None, None, 1)
    solver = gas(shape, tau, device, walls=walls, fourth_order_diffusion=fourth_order_diffusion)
    noise = rng.uniform(-1, 1, (4, *shape))
    solver.initialize(1 + 0.02 * noise[0], 0.02 * noise[1:3], temperature=CS2 * (1 + 0.02 * noise[3]))
    before = totals(solver)
    solver.step(3000)
    after = totals(solver)
    assert np.abs(solver.velocity()).max() < 2e-3
    assert after[0] == pytest.approx(before[0], rel=1e-12)
    if not isothermal:
        assert after[3] == pytest.approx(before[3], rel=1e-12)


# Gravity


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("walls", ["isothermal", "adiabatic", "mixed"])
@pytest.mark.parametrize(("tau", "prandtl"), [(0.55, 1.0), (0.8, 0.71)])
def test_an_atmosphere_stays(tau, prandtl, walls, axis, device):
    """rho = rho0 exp(-g y/T) between plates: no flow and no heat come up; 1e5 steps on a GPU."""
    n = 64
    g = 0.183 * CS2 / n
    shape, profile = along(axis, n)
    exact = np.broadcast_to(np.exp(-g / CS2 * (np.arange(n) + 0.5)).reshape(profile), shape)
    exact = exact / exact.mean()
    gravity = np.zeros(2)
    gravity[axis] = -g
    ends = {"isothermal": (CS2, CS2), "adiabatic": (None, None), "mixed": (CS2, None)}[walls]
    solver = gas(shape, tau, device, prandtl=prandtl, gravity=tuple(gravity), walls=across(*ends, axis))
    solver.initialize(density=exact, temperature=CS2)
    mass = totals(solver)[0]
    solver.step(10_000 if device == "cpu" else 100_000)
    np.testing.assert_allclose(solver.density(), exact, rtol=1e-6)
    np.testing.assert_allclose(solver.temperature(), CS2, rtol=1e-6)
    assert np.abs(solver.velocity()).max() < 1e-7
    assert totals(solver)[0] == pytest.approx(mass, rel=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(("atwood", "g"), [(0.1, 2e-4), (0.05, 4e-4)])
def test_rayleigh_taylor_growth(atwood, g, device):
    """Cold gas above hot gas: one wave grows as viscous linear theory has it for the interface, which spreads.

    The profile T0 (1 - A erf(y/d)) has d^2 = d0^2 + 4 alpha t, as in Duff, Harlow & Hirt, Phys. Fluids 5 (1962) 417,
    whose formula approximates its eigenvalues. Within 5 % of the eigenvalue of the profile of the time; and within 1 %
    of the linear equations integrated in time, since the wave lags behind the interface.
    """
    nx, n, tau, width, eps = 64, 128, 0.52, 10.0, 1e-4
    nu = CS2 * (tau - 0.5)
    layer = Layer(n, 2 * np.pi / nx, nu, nu, g, CS2)
    border, centre, x = np.arange(n + 1) - n / 2, np.arange(n) + 0.5 - n / 2, np.arange(nx) + 0.5

    def gradient(t: float) -> np.ndarray:
        d2 = width**2 + 4 * nu * t
        return -2 * CS2 * atwood / np.sqrt(np.pi * d2) * np.exp(-(border**2) / d2)

    first, z = layer.mode(gradient(0))
    velocity, change = layer.fields(z, x)
    temperature = CS2 * (1 - atwood * erf(centre / width)) + eps * change
    pressure = CS2 * hydrostatic(CS2 * (1 - atwood * erf(centre / width)), g)
    solver = gas((nx, n), tau, device, gravity=(0, -g), walls=across(None, None, 1))
    solver.initialize(pressure / temperature, eps * velocity, temperature=temperature)
    shape = velocity[1, 0]

    def amplitude(rise: np.ndarray) -> float:
        return float(np.abs(np.cos(layer.k * x) @ rise @ shape))

    chunk, parts = 500, 4
    assert first > 2 * nu * layer.k**2  # of the kind that viscosity only slows
    start = now = np.log(amplitude(solver.velocity()[1]))
    wanted = np.log(amplitude(layer.fields(z, x)[0][1]))
    for number in range(4):
        before, now = now, 0.0
        solver.step(chunk)
        now = np.log(amplitude(solver.velocity()[1]))
        frozen = layer.mode(gradient((number + 0.5) * chunk))[0]
        assert (now - before) / chunk == pytest.approx(frozen, rel=0.05)
        for part in range(parts):
            z = layer.grown(z, gradient(chunk * (number + (part + 0.5) / parts)), chunk / parts)
    grown = np.log(amplitude(layer.fields(z, x)[0][1])) - wanted
    assert grown > 1
    assert now - start == pytest.approx(grown, rel=0.01)


def onset(n: int, rayleigh: float, device: str, **options: Any) -> tuple[float, float]:
    """Growth rate of the critical wave in a layer heated from below, and that of linear theory, in diffusion times."""
    tau, difference = 0.55, 0.15
    nu, k = CS2 * (tau - 0.5), 2 * np.pi / round(2.016 * n)
    # Ra = g n^4 (dT/n - g/c_p) / (T nu alpha) of a gas, the root of which is that of little g
    a, b = n**4 / (2 * CS2 * nu**2), n**3 * difference / nu**2
    g = (b - np.sqrt(b**2 - 4 * a * rayleigh)) / (2 * a)
    hot, cold = CS2 * (1 + difference / 2), CS2 * (1 - difference / 2)
    layer = Layer(n, k, nu, nu, g, CS2, isothermal=True)
    expected, z = layer.mode(np.full(n + 1, (cold - hot) / n))
    x = np.arange(round(2.016 * n)) + 0.5
    velocity, change = layer.fields(z, x)
    mean = hot + (cold - hot) * (np.arange(n) + 0.5) / n
    solver = gas((len(x), n), tau, device, gravity=(0, -g), walls=across(hot, cold, 1), **options)
    solver.initialize(
        CS2 * hydrostatic(mean, g) / (mean + 1e-4 * change), 1e-4 * velocity, temperature=mean + 1e-4 * change
    )

    def amplitude(solver: lbm.Solver) -> complex:
        return complex(np.cos(k * x) @ solver.velocity()[1] @ velocity[1, 0])

    time = n**2 / nu
    rate = decay(solver, (round(0.1 * time), round(0.1 * time)), amplitude)
    return -rate.real * time, expected * time


@pytest.mark.parametrize(("fourth_order_diffusion", "tolerance"), [(False, 0.02), (True, 0.006)])
def test_the_onset_of_convection(fourth_order_diffusion, tolerance, device):
    """Growth below and above the critical Rayleigh number, with the adiabatic gradient taken off, and zero between."""
    low, high = 1600, 1800
    (damped, slow), (growing, fast) = (
        onset(32, rayleigh, device, fourth_order_diffusion=fourth_order_diffusion) for rayleigh in (low, high)
    )
    assert damped < 0 < growing
    assert growing - damped == pytest.approx(fast - slow, rel=0.05)
    assert low - damped * (high - low) / (growing - damped) == pytest.approx(CRITICAL, rel=tolerance)
