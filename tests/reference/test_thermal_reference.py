"""The reference's temperature against exact solutions and against the defining properties of its operators."""

from __future__ import annotations

import numpy as np
import pytest

from . import STENCILS, Collision, Heat, ThermalReference
from .registry import THERMAL_PAIRS, THERMAL_STENCILS
from .thermal import OPERATORS

BOTH = ["isotropic", "obrecht2013"]


def polynomials(shape: tuple[int, ...]) -> list[np.ndarray]:
    return list(np.meshgrid(*(np.arange(n) - n // 2.0 for n in shape), indexing="ij"))


@pytest.mark.parametrize("operators", BOTH)
@pytest.mark.parametrize("name", THERMAL_STENCILS)
def test_operators_are_exact_for_quadratics(name, operators):
    """In the middle of a box Laplacian and advection of any quadratic are those of calculus."""
    shape = (5, 5, 5)[: STENCILS[name].D]
    middle = (2,) * len(shape)
    u = np.array([0.3, -0.2, 0.15])[: len(shape)].reshape((-1,) + (1,) * len(shape)) * np.ones(shape)
    reference = ThermalReference(name, shape, Collision("bgk", 0.1), Heat(0.05, operators))
    x = polynomials(shape)
    for a in range(len(shape)):
        for b in range(len(shape)):
            reference.T = x[a] * x[b] + 2 * x[a] + 1
            slope = 2 * u[a][middle]  # at the middle, where the coordinates are 0
            expected = 1 + 0.05 * (2 if a == b else 0) - slope
            assert reference.moved(u)[middle] == pytest.approx(expected, abs=1e-14)


def test_two_dimensions_are_three_summed_over_z():
    """Axis weights of 2-D are those of 3-D with the two diagonals above and below; diagonal ones are the same."""
    for operators in BOTH:
        for kind in ("laplacian", "gradient"):
            axis, diagonal = OPERATORS[operators, 3][kind]
            assert OPERATORS[operators, 2][kind] == pytest.approx((axis + 2 * diagonal, diagonal))


def test_isotropic_operators_have_the_isotropic_error():
    """The Laplacian of x^2 y^2 at the origin is h^2/12 Lap^2 of it, 2/3; the printed ones miss it."""
    for name in THERMAL_STENCILS:
        shape = (5, 5, 5)[: STENCILS[name].D]
        x = polynomials(shape)
        for operators in BOTH:
            reference = ThermalReference(name, shape, Collision("bgk", 0.1), Heat(1.0, operators))
            reference.T = x[0] ** 2 * x[1] ** 2
            change = reference.moved(np.zeros((len(shape), *shape)))[(2,) * len(shape)]
            assert change == pytest.approx({"isotropic": 2 / 3, "obrecht2013": -1.0}[operators])


@pytest.mark.parametrize("operators", BOTH)
@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("name", THERMAL_STENCILS)
def test_conduction_between_walls(name, axis, operators):
    """Between two temperatures the profile is linear to rounding, and one flux passes both walls."""
    dimensions = STENCILS[name].D
    axis %= dimensions
    shape = [3] * dimensions
    shape[axis] = n = 6
    faces, flow = ["adiabatic"] * 2 * dimensions, ["no-slip"] * 2 * dimensions
    faces[2 * axis : 2 * axis + 2] = [1.5, 0.5]
    kappa = 0.07
    reference = ThermalReference(name, shape, Collision("bgk", 0.1), Heat(kappa, operators, faces=faces), faces=flow)
    for _ in range(2500):
        reference.T = reference.moved(np.zeros((dimensions, *shape)))
    line = np.moveaxis(reference.T, axis, -1)
    np.testing.assert_allclose(line, np.broadcast_to(1.5 - (np.arange(n) + 0.5) / n, line.shape), atol=1e-13)
    np.testing.assert_allclose(reference.face_flux(2 * axis), kappa / n, atol=1e-14)
    np.testing.assert_allclose(reference.face_flux(2 * axis + 1), -kappa / n, atol=1e-14)


@pytest.mark.parametrize("name", THERMAL_STENCILS)
def test_a_body_conducts_as_a_face(name):
    """A slab of solid cells is a wall: the same field and the same heat as with the face in its place."""
    shape = (5, 4, 3)[: STENCILS[name].D]
    walls = ["no-slip", "no-slip", *["periodic"] * 2 * (len(shape) - 1)]
    faces = [1.0, -0.5, *["adiabatic"] * 2 * (len(shape) - 1)]
    wider = (6, *shape[1:])
    mask = np.zeros(wider, bool)
    mask[0] = True
    collision = Collision("trt", 0.1)
    plain = ThermalReference(name, shape, collision, Heat(0.05, faces=faces), faces=walls)
    with_body = Heat(0.05, faces=["adiabatic", *faces[1:]], bodies=[1.0])
    slab = ThermalReference(name, wider, collision, with_body, faces=walls, bodies=[(mask, np.zeros(len(shape)))])
    field = np.random.default_rng(1).random(shape)
    plain.T, slab.above[1:] = field, field
    for lattice in (plain, slab):
        lattice.step(7)
    np.testing.assert_allclose(slab.T[1:], plain.T, atol=1e-15)
    cells, flux, area = slab.body_flux(0)
    assert {cell[0] for cell in cells} == {1}
    np.testing.assert_allclose(area, 1)
    assert flux.sum() == pytest.approx(0.05 * 2 * (1 - plain.T[0]).sum())


@pytest.mark.parametrize("operators", BOTH)
@pytest.mark.parametrize("name", THERMAL_STENCILS)
def test_heat_is_kept(name, operators, rng):
    """Without flow an adiabatic box with a slab in it gains the source's heat and no other."""
    shape = (6, 5, 4)[: STENCILS[name].D]
    mask = np.zeros(shape, bool)
    mask[3] = True
    source = 1e-3 * rng.random(shape)
    reference = ThermalReference(
        name,
        shape,
        Collision("bgk", 0.1),
        Heat(0.05, operators, source=source, bodies=[None]),
        faces=["no-slip"] * 2 * len(shape),
        bodies=[(mask, np.zeros(len(shape)))],
    )
    reference.T = rng.random(shape)
    before = reference.T[~mask].sum()
    reference.step(50)
    assert reference.T[~mask].sum() - before == pytest.approx(50 * source[~mask].sum(), rel=1e-12)


@pytest.mark.parametrize(("name", "kind"), THERMAL_PAIRS)
def test_the_coupling_is_a_pressure(name, kind):
    """A fluid at rest under a temperature that varies: density takes up what the energy's equilibrium adds.

    The stress of the added part is isotropic, so that in the end density balances it: with D3Q19 by -T/19.
    """
    n, coupling, dimensions = 8, 1.0, STENCILS[name].D
    shape = (n, 1, 1)[:dimensions]
    reference = ThermalReference(
        name, shape, Collision(kind, 0.3), Heat(1e-12, coupling=coupling), faces=["periodic"] * 2 * dimensions
    )
    reference.T = 0.01 * np.cos(2 * np.pi * (np.arange(n) + 0.5) / n).reshape(shape)
    reference.step(1500)
    e = reference.energy.ravel()
    pressure = e @ reference.stencil.c[:, 0] ** 2
    if name == "D3Q19":
        assert pressure == pytest.approx(1 / 57)
    assert np.abs(reference.velocity()).max() < 1e-6
    change = reference.density() - reference.density().mean()
    np.testing.assert_allclose(change, -3 * pressure * reference.T, atol=0.06 * np.abs(change).max())


def test_convection_in_a_square():
    """At Rayleigh number 1000 the hot wall of a square of 16 cells gives 1.118 times what conduction would."""
    n, prandtl, rayleigh, speed = 16, 0.71, 1e3, 0.1
    viscosity = speed * n * np.sqrt(prandtl / rayleigh)
    kappa = viscosity / prandtl
    heat = Heat(kappa, buoyancy=(0, speed**2 / n), faces=[0.5, -0.5, "adiabatic", "adiabatic"])
    reference = ThermalReference("D2Q9", (n, n), Collision("trt", viscosity), heat, faces=["no-slip"] * 4)
    reference.step(5000)
    nusselt = reference.face_flux(0).mean() * n / kappa
    assert nusselt == pytest.approx(1.1178, rel=0.01)
    assert nusselt == pytest.approx(-reference.face_flux(1).mean() * n / kappa, rel=1e-4)
