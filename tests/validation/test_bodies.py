"""Forces and torques on bodies: the momentum balance of the same run, and exact and published values."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import numpy as np
import pytest
from reference import STENCILS
from reference.cases import in_reference_order
from reference.registry import PAIRS, STREAMINGS, by_dimension

import lbmgpu as lbm
from validation.flows import centres, collision, disc, parabola, unit

SHAPES = by_dimension((33, 25), (17, 13, 15))
"""Odd, since in a periodic box of even length momentum of alternating sign lives on for ever."""


def population_momentum(solver: lbm.Solver, stencil: str) -> np.ndarray:
    """First moment of the populations of all fluid cells, summed without the weights to keep the digits."""
    populations = in_reference_order(stencil, solver.populations())[:, ~solver.solid]
    return STENCILS[stencil].c.T @ (populations - STENCILS[stencil].w[:, None]).sum(axis=1)


def past_a_body(
    stencil: str, kind: str, force: float, velocity: np.ndarray | None = None, **options: str
) -> lbm.Solver:
    """Force-driven flow past a disc or ball in a periodic box."""
    shape = SHAPES[stencil]
    domain = lbm.Domain(shape, stencil)
    condition = lbm.NoSlip() if velocity is None else lbm.MovingWall(velocity)
    domain.add_body(disc(shape, [n / 2 + 0.2 for n in shape], 3.3), name="body", condition=condition)
    model = collision(kind, 0.1)
    drive = np.array([force, 0.3 * force, 0.1 * force])[: len(shape)]
    return lbm.Solver(domain, model, force=drive, precision="float64", **options)


@pytest.mark.parametrize("streaming", STREAMINGS)
@pytest.mark.parametrize(("stencil", "kind"), PAIRS)
def test_momentum_balance_of_every_step(stencil, kind, streaming, device):
    """What a step adds to the fluid's momentum is the force on the fluid less that on the body."""
    velocity = np.array([0.02, -0.01, 0.03])[: len(SHAPES[stencil])]
    solver = past_a_body(stencil, kind, 1e-4, velocity, streaming=streaming, device=device)
    given = np.asarray(solver.force) * (~solver.solid).sum()
    for _ in range(10):
        before = population_momentum(solver, stencil)
        on_body = solver.body_force("body")
        solver.step(1)
        np.testing.assert_allclose(population_momentum(solver, stencil) - before, given - on_body, rtol=0, atol=1e-12)
        solver.step(6)
    assert np.abs(on_body).max() > 1e-4


@pytest.mark.parametrize("streaming", STREAMINGS)
@pytest.mark.parametrize(("stencil", "kind"), PAIRS)
def test_steady_drag_is_the_driving_force(stencil, kind, streaming, device):
    """At the steady state the body takes up exactly the force on all of the fluid."""
    solver = past_a_body(stencil, kind, 2e-5, streaming=streaming, device=device)
    result = solver.run(40_000, until=lbm.Steady(1e-12, every=500))
    assert result.converged
    given = np.asarray(solver.force) * (~solver.solid).sum()
    np.testing.assert_allclose(solver.body_force("body"), given, rtol=1e-8)
    assert np.abs(solver.velocity()).max() > 1e-3


@pytest.mark.parametrize(("stencil", "kind"), PAIRS)
def test_plates_share_the_force(stencil, kind, device):
    """Two plates of solid cells bound a channel: each takes half of the force, and the flow is the channel's."""
    n, dimensions = 10, len(SHAPES[stencil])
    shape = (2, n + 2, 2)[:dimensions]
    domain = lbm.Domain(shape, stencil)
    for name, row in (("low", 0), ("high", n + 1)):
        plate = np.zeros(shape, dtype=bool)
        plate[:, row] = True
        domain.add_body(plate, name=name)
    viscosity, peak = 0.15, 0.01
    model = collision(kind, viscosity)
    drive = 8 * viscosity * peak / n**2
    solver = lbm.Solver(domain, model, force=unit(dimensions, 0, drive), precision="float64", device=device)
    solver.step(int(4 * n**2 / viscosity))
    area = np.prod(shape) / shape[1]
    for name, sign in (("low", -1), ("high", 1)):
        force = solver.body_force(name)
        assert force[0] == pytest.approx(drive * n * area / 2, rel=1e-9)
        assert abs(force[1]) < 1e-3 * peak
        assert np.sign(sign) * force[1] >= -1e-4 * peak
    rows = solver.velocity()[0, 0].reshape(n + 2, -1)[1:-1, 0]
    np.testing.assert_allclose(rows, parabola(n, peak), rtol=0, atol=0.03 * peak)


@pytest.mark.parametrize(("stencil", "kind"), PAIRS)
def test_pressure_on_a_body(stencil, kind, device):
    """A wall of solid cells between two densities feels their difference, and none where they are equal."""
    shape = (12, 4, 1)[: STENCILS[stencil].D]
    domain = lbm.Domain(shape, stencil)
    domain.faces["-x"] = domain.faces["+x"] = lbm.NoSlip()
    wall = np.zeros(shape, dtype=bool)
    wall[5:7] = True
    domain.add_body(wall, name="wall")
    solver = lbm.Solver(domain, collision(kind, 0.1), precision="float64", device=device)
    assert np.abs(solver.body_force("wall")).max() < 1e-15
    density = np.ones(shape)
    density[:5] = 1.01
    solver.initialize(density=density)
    for _ in range(3):
        np.testing.assert_allclose(solver.body_force("wall"), [0.01 / 3 * 4, 0, 0][: len(shape)], atol=1e-13)
        solver.step(5)


@pytest.mark.parametrize("streaming", STREAMINGS)
@pytest.mark.parametrize("kind", ["trt", "mrt"])
def test_circular_couette(kind, streaming, device):
    """Between a rotating disc and a ring at rest: the exact torque, the same on both, and the exact profile."""
    n, inner, outer, omega, viscosity = 65, 14.0, 30.0, 2e-3, 0.1
    shape, center = (n, n), (n / 2, n / 2)
    domain = lbm.Domain(shape, "D2Q9")
    for face in domain.faces:
        domain.faces[face] = lbm.NoSlip()
    rotor = disc(shape, center, inner)
    turning = lbm.MovingWall(lambda x, y: (-omega * (y - n / 2), omega * (x - n / 2)))
    domain.add_body(rotor, name="rotor", condition=turning)
    ring = ~disc(shape, center, outer)
    domain.add_body(ring, name="ring")
    solver = lbm.Solver(domain, collision(kind, viscosity), precision="float64", streaming=streaming, device=device)
    solver.step(8000)
    exact = 4 * np.pi * viscosity * omega / (1 / inner**2 - 1 / outer**2)
    torque = solver.body_torque("rotor", center)[0]
    assert torque == pytest.approx(-exact, rel=0.03)
    assert solver.body_torque("ring", center)[0] == pytest.approx(-torque, rel=2e-3)
    np.testing.assert_allclose(solver.body_force("rotor"), 0, atol=1e-12)
    # without net force the torque is the same about any point
    assert solver.body_torque("rotor", (3.0, -7.0))[0] == pytest.approx(torque, rel=1e-9)
    x, y = (a - n / 2 for a in centres(shape))
    r = np.hypot(x, y)
    speed = (x * solver.velocity()[1] - y * solver.velocity()[0]) / r.clip(1)
    profile = omega * inner**2 / (outer**2 - inner**2) * (outer**2 / r.clip(1) - r)
    fluid = ~(rotor | ring)
    error = (speed - profile)[fluid] / (omega * inner)
    assert np.abs(error).max() < 0.08  # in a cell beside the stairs
    assert np.sqrt(np.mean(error**2)) < 0.015


def test_torque_in_three_dimensions(device):
    """The same flow along each axis of a 3-D box: the torque turns with it."""
    n, inner, outer, omega, viscosity = 28, 5.0, 12.0, 2e-3, 0.1
    torques = []
    for axis in range(3):
        first, second = (axis + 1) % 3, (axis + 2) % 3
        shape = [n, n, n]
        shape[axis] = 2
        center = [n / 2] * 3
        center[axis] = 1.0
        distances = [a - c for a, c in zip(centres(shape), center, strict=True)]
        r2 = distances[first] ** 2 + distances[second] ** 2
        velocity = np.zeros((3, *shape))
        velocity[first], velocity[second] = -omega * distances[second], omega * distances[first]
        velocity[:, r2 >= inner**2] = 0
        domain = lbm.Domain(shape, "D3Q19")
        domain.add_body(r2 < inner**2, name="rotor", condition=lbm.MovingWall(velocity))
        domain.add_body(r2 > outer**2, name="ring")
        solver = lbm.Solver(domain, lbm.TRT(viscosity), precision="float64", device=device)
        solver.step(6000)
        torque = solver.body_torque("rotor", center)
        np.testing.assert_allclose(np.delete(torque, axis), 0, atol=1e-9)
        np.testing.assert_allclose(solver.body_torque("ring", center), -torque, rtol=2e-3, atol=1e-9)
        torques.append(torque[axis])
    exact = 4 * np.pi * viscosity * omega / (1 / inner**2 - 1 / outer**2) * 2
    np.testing.assert_allclose(torques, torques[0], rtol=1e-6)
    assert torques[0] == pytest.approx(-exact, rel=0.06)


def channel_with_cylinder(
    diameter: int, peak: float, reynolds: float, end: Any, collision: Any = lbm.TRT, **options: str
) -> lbm.Solver:
    """The channel of Schaefer & Turek: 22 by 4.1 diameters, the cylinder's axis 2 from the inlet and from the floor."""
    shape = (22 * diameter, round(4.1 * diameter))
    viscosity = 2 / 3 * peak * diameter / reynolds
    domain = lbm.Domain(shape, "D2Q9")
    domain.faces["-x"] = lbm.VelocityInlet(lambda x, y: (4 * peak * y * (shape[1] - y) / shape[1] ** 2, 0.0))
    domain.faces["+x"] = end
    domain.faces["-y"] = domain.faces["+y"] = lbm.NoSlip()
    domain.add_body(disc(shape, (2 * diameter, 2 * diameter), diameter / 2), name="cylinder")
    solver = lbm.Solver(domain, collision(viscosity), **options)
    velocity = np.zeros((2, *shape))
    velocity[0] = parabola(shape[1], peak)
    solver.initialize(velocity=velocity)
    return solver


def stream(solver: lbm.Solver, diameter: int) -> tuple[float, float]:
    """Mean density and velocity half-way between inlet and cylinder, where the density is not 1 any more."""
    density = np.asarray(solver.density()[diameter], float)
    flux = (density * solver.velocity()[0, diameter]).mean()
    return density.mean(), flux / density.mean()


@pytest.mark.parametrize("streaming", STREAMINGS)
@pytest.mark.parametrize("stencil", SHAPES)
def test_half_a_body_on_a_free_slip_face(stencil, streaming, device):
    """It feels what the upper half of the whole body feels in the mirrored domain, turning with it included."""
    dimensions = len(SHAPES[stencil])
    half = (18, 7, 6)[:dimensions]
    whole = (half[0], 2 * half[1], *half[2:])
    turn = 0.01
    solvers = []
    for shape, middle in ((half, 0.0), (whole, float(half[1]))):
        domain = lbm.Domain(shape, stencil)
        domain.faces["-y"] = domain.faces["+y"] = lbm.FreeSlip()
        x, y = centres(shape)[:2]
        inside = (x - 7.3) ** 2 + (y - middle) ** 2 < 3.2**2
        if dimensions == 3:
            inside &= np.arange(shape[2]) < 4
        velocity = np.zeros((dimensions, *shape))
        velocity[0], velocity[1] = turn * np.abs(y - middle), turn * np.where(y > middle, 1, -1) * (x - 7.3)
        upper = inside & (y > middle)
        domain.add_body(upper, name="upper", condition=lbm.MovingWall(velocity))
        if middle:
            domain.add_body(inside & ~upper, name="lower", condition=lbm.MovingWall(velocity))
        drive = unit(dimensions, 0, 1e-4)
        solver = lbm.Solver(domain, lbm.TRT(0.1), force=drive, precision="float64", streaming=streaming, device=device)
        solver.step(151)
        solvers.append(solver)
    np.testing.assert_allclose(solvers[0].velocity(), solvers[1].velocity()[:, :, half[1] :], rtol=0, atol=1e-13)
    force = solvers[0].body_force("upper")
    assert np.abs(force[:2]).min() > 1e-4
    np.testing.assert_allclose(force, solvers[1].body_force("upper"), rtol=0, atol=1e-12)
    center = np.array([7.3, 0.0, 3.0])[:dimensions]
    torque = solvers[0].body_torque("upper", center)
    center[1] += half[1]
    np.testing.assert_allclose(torque, solvers[1].body_torque("upper", center), rtol=0, atol=1e-11)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_torque_of_a_body_at_a_periodic_face(axis, device):
    """Links that reach the body through the face have their arm at the body: nothing changes when all is shifted."""
    shape = (10, 9, 8)
    torques = []
    for low in (0, 3, shape[axis] - 4):
        mask = np.zeros(shape, dtype=bool)
        block = [slice(2, 5), slice(3, 6), slice(1, 5)]
        block[axis] = slice(low, low + 4)
        mask[tuple(block)] = True
        domain = lbm.Domain(shape, "D3Q19")
        domain.add_body(mask, name="block")
        pull = np.moveaxis(np.zeros((3, *shape)), axis + 1, -1)
        pull[0] = 1e-4 * np.roll(np.linspace(-1, 1, shape[axis]), low)
        pull[1] = 2e-4 * np.roll(np.linspace(-0.5, 1, shape[axis]), low)
        force = np.moveaxis(pull, -1, axis + 1)
        solver = lbm.Solver(domain, lbm.TRT(0.1), force=force, precision="float64", device=device)
        solver.step(60)
        torques.append(solver.body_torque("block"))
    assert np.abs(torques[0]).max() > 1e-4
    for torque in torques[1:]:
        np.testing.assert_allclose(torque, torques[0], rtol=0, atol=1e-12)


@pytest.mark.slow
def test_cylinder_in_a_channel_re_20(device, data):
    """Steady drag, lift and pressure difference (Schaefer & Turek 1996, case 2D-1), within the staircase's few %."""
    known = json.loads((data / "flows.json").read_text())["cylinder_in_channel"]["steady_re20"]
    diameter = 20
    solver = channel_with_cylinder(diameter, 0.1, 20, lbm.PressureOutlet(), precision="float32", device=device)
    solver.step(15_000)
    rho, mean = stream(solver, diameter)
    drag, lift = solver.body_force("cylinder") * 2 / (rho * mean**2 * diameter)
    assert drag == pytest.approx(np.mean(known["drag"]), rel=0.03)
    assert lift == pytest.approx(np.mean(known["lift"]), abs=0.005)
    row = np.asarray(solver.density()[:, 2 * diameter - 1 : 2 * diameter + 1], float).mean(axis=1) / 3
    # the fluid cells before and behind are half a cell from the surface: extrapolate to it
    front = 1.5 * row[diameter * 3 // 2 - 1] - 0.5 * row[diameter * 3 // 2 - 2]
    back = 1.5 * row[diameter * 5 // 2] - 0.5 * row[diameter * 5 // 2 + 1]
    difference = (front - back) / (rho * mean**2) * 0.2**2  # at the published mean velocity of 0.2 m/s
    assert difference == pytest.approx(np.mean(known["pressure_difference"]), rel=0.05)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("collision", "tolerance"),
    [
        (lbm.CentralMoments, 4e-3),
        (partial(lbm.MRT, magic=3 / 16), 1e-3),
        (partial(lbm.CentralMoments, least_odd_rate=0.6), 1e-2),
        (lbm.RecursiveRegularized, 2e-2),
    ],
    ids=["central", "mrt", "central-least-rate", "recursive"],
)
def test_drag_is_that_of_two_relaxation_times(collision, tolerance):
    """The cylinder at Re 20: walls are where TRT has them with the same magic parameter, and close to that without."""
    drags = []
    for each in (lbm.TRT, collision):
        solver = channel_with_cylinder(12, 0.1, 20, lbm.PressureOutlet(), each, precision="float32", device="cpu")
        solver.step(6000)
        drags.append(solver.body_force("cylinder")[0])
    assert drags[1] == pytest.approx(drags[0], rel=tolerance)


@pytest.mark.slow
def test_cylinder_in_a_channel_re_100(device, data):
    """Vortices leave through an outflow: drag, lift and frequency (Schaefer & Turek 1996, case 2D-2)."""
    known = json.loads((data / "flows.json").read_text())["cylinder_in_channel"]["unsteady_re100"]
    diameter = 20
    solver = channel_with_cylinder(diameter, 0.1, 100, lbm.Outflow(), precision="float32", device=device)
    solver.step(16_000)
    rho, mean = stream(solver, diameter)
    forces = np.empty((300, 2))
    for sample in forces:
        sample[:] = solver.body_force("cylinder") * 2 / (rho * mean**2 * diameter)
        solver.step(10)
    drag, lift = forces.T
    # The staircase makes the cylinder a little larger: 5 % at a speed of 0.05 and 20 cells a diameter, 7 % at 0.1.
    assert drag.max() == pytest.approx(np.mean(known["drag_max"]), rel=0.08)
    assert lift.max() == pytest.approx(np.mean(known["lift_max"]), rel=0.15)
    upward = np.nonzero((lift[:-1] < 0) & (lift[1:] >= 0))[0]
    crossing = upward + lift[upward] / (lift[upward] - lift[upward + 1])
    period = 10 * np.diff(crossing).mean()
    assert diameter / (mean * period) == pytest.approx(np.mean(known["strouhal"]), rel=0.03)


@pytest.mark.parametrize("streaming", STREAMINGS)
@pytest.mark.parametrize("stencil", SHAPES)
def test_vortex_leaves_through_an_outflow(stencil, streaming, device):
    """A uniform stream stays uniform, and carries a vortex out of the box without a trace."""
    dimensions = len(SHAPES[stencil])
    shape = (48, 32, 1)[:dimensions]
    stream, viscosity = 0.08, 0.02
    domain = lbm.Domain(shape, stencil)
    domain.faces["-x"] = lbm.VelocityInlet(unit(dimensions, 0, stream))
    domain.faces["+x"] = lbm.Outflow()
    domain.faces["-y"] = domain.faces["+y"] = lbm.FreeSlip()
    solver = lbm.Solver(domain, lbm.TRT(viscosity), precision="float64", streaming=streaming, device=device)
    x, y = centres(shape)[0] - 20, centres(shape)[1] - 16
    swirl = 0.005 * np.exp(0.5 - (x**2 + y**2) / 50)
    velocity = np.zeros((dimensions, *shape))
    velocity[0], velocity[1] = stream - swirl * y / 5, swirl * x / 5
    solver.initialize(velocity=velocity)
    solver.step(300)
    assert np.abs(solver.velocity()[1]).max() > 1e-3  # it is still there, nearer to the outflow
    solver.step(4000)
    np.testing.assert_allclose(solver.velocity()[0], stream, rtol=0.01)
    np.testing.assert_allclose(solver.velocity()[1:], 0, atol=1e-3 * stream)


@pytest.mark.parametrize("streaming", STREAMINGS)
@pytest.mark.parametrize("stencil", SHAPES)
def test_outflow_holds_the_mean_density(stencil, streaming, device):
    """Friction all along the channel and a body in it: density, flux and drag settle, and equal those of an outlet."""
    dimensions = len(SHAPES[stencil])
    shape = (40, 16, 1)[:dimensions]
    drags = []
    for end in (lbm.Outflow(), lbm.PressureOutlet()):
        domain = lbm.Domain(shape, stencil)
        domain.faces["-x"] = lbm.VelocityInlet(
            lambda x, y, z=0: [0.2 * y * (16 - y) / 16**2, *[0 * y] * (dimensions - 1)]
        )
        domain.faces["+x"] = end
        domain.faces["-y"] = domain.faces["+y"] = lbm.NoSlip()
        domain.add_body(disc(shape, [12, 8, 0.5][:dimensions], 2.4), name="cylinder")
        solver = lbm.Solver(domain, lbm.TRT(0.05), precision="float64", streaming=streaming, device=device)
        solver.step(4000)
        early = solver.body_force("cylinder")[0], solver.mass()
        solver.step(4000)
        drags.append(solver.body_force("cylinder")[0])
        assert drags[-1] == pytest.approx(early[0], rel=1e-4)
        assert solver.mass() == pytest.approx(early[1], rel=1e-5)
        flux = (solver.density() * solver.velocity()[0])[(0, 20, 39), :].sum(axis=tuple(range(1, dimensions)))
        np.testing.assert_allclose(flux, flux[0], rtol=2e-3)
    assert solver.density().mean() == pytest.approx(1, abs=0.02)
    assert drags[0] == pytest.approx(drags[1], rel=0.02)
