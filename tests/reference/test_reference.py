"""The reference against exact solutions and against the defining properties of its operators."""

from __future__ import annotations

import numpy as np
import pytest

from . import STENCILS, Collision, Reference, collide
from .collisions import IN_MOVING_FRAME, equilibrium, own_equilibrium, own_source
from .linear import growth, shear_viscosity
from .registry import FLOW_STENCILS, KINDS, PAIRS
from .stencils import GROUPS, MATRICES, RATES


def test_reference_has_the_stencils_of_the_engine() -> None:
    assert list(STENCILS) == FLOW_STENCILS


@pytest.mark.parametrize("name", STENCILS)
def test_velocity_moments_are_isotropic(name):
    """Weights give the isotropic moments that the equilibrium needs, up to fourth order."""
    c, w = STENCILS[name].c, STENCILS[name].w
    d = np.eye(STENCILS[name].D)
    assert np.isclose(w.sum(), 1, atol=1e-15)
    np.testing.assert_allclose(np.einsum("i,ia,ib->ab", w, c, c), d / 3, atol=1e-15)
    fourth = np.einsum("i,ia,ib,ic,id->abcd", w, c, c, c, c)
    pairs = np.einsum("ab,cd->abcd", d, d)
    np.testing.assert_allclose(
        fourth, (pairs + pairs.transpose(0, 2, 1, 3) + pairs.transpose(0, 3, 2, 1)) / 9, atol=1e-15
    )
    assert len({tuple(v) for v in c}) == STENCILS[name].Q


@pytest.mark.parametrize("name", STENCILS)
def test_moment_bases_are_orthogonal(name):
    """Rows are orthogonal, and density and momentum are the conserved ones."""
    gram = MATRICES[name] @ MATRICES[name].T
    np.testing.assert_allclose(gram - np.diag(np.diag(gram)), 0, atol=1e-10)
    assert GROUPS[name].count("conserved") == 1 + STENCILS[name].D
    assert set(GROUPS[name]) == {"conserved", "nu", *RATES[name]}
    stresses = {2: 2, 3: 5}[STENCILS[name].D]
    assert GROUPS[name].count("nu") == stresses


@pytest.mark.parametrize(("name", "kind"), PAIRS)
@pytest.mark.parametrize("smagorinsky", [0.0, 0.2])
def test_collisions_add_exactly_the_force(name, kind, smagorinsky, rng):
    """Mass stays, momentum grows by the force."""
    stencil = STENCILS[name]
    f = stencil.w[:, None] * (1 + 0.1 * rng.standard_normal((stencil.Q, 50)))
    force = 1e-2 * rng.standard_normal((stencil.D, 50))
    after = collide(stencil, Collision(kind, 0.02, smagorinsky=smagorinsky), f, force)
    np.testing.assert_allclose(after.sum(axis=0), f.sum(axis=0), rtol=1e-14)
    np.testing.assert_allclose(stencil.c.T @ after, stencil.c.T @ f + force, atol=1e-14)


@pytest.mark.parametrize("name", STENCILS)
def test_collisions_with_one_rate_agree(name, rng):
    """MRT with equal rates, and TRT with equal rates, are BGK."""
    stencil = STENCILS[name]
    f = stencil.w[:, None] * (1 + 0.1 * rng.standard_normal((stencil.Q, 50)))
    force = 1e-2 * rng.standard_normal((stencil.D, 50))
    nu = 0.07
    bgk = collide(stencil, Collision("bgk", nu), f, force)
    rates = dict.fromkeys(RATES[name], 1 / (3 * nu + 0.5))
    np.testing.assert_allclose(collide(stencil, Collision("mrt", nu, rates=rates), f, force), bgk, atol=1e-14)
    np.testing.assert_allclose(collide(stencil, Collision("trt", nu, magic=9 * nu**2), f, force), bgk, atol=1e-14)


@pytest.mark.parametrize(("name", "kind"), PAIRS)
def test_forced_equilibrium_is_a_fixed_point(name, kind, rng):
    """f_eq - S/2 collides to f_eq + S/2: a uniform forced fluid accelerates and nothing else."""
    stencil = STENCILS[name]
    rho = 1 + 0.1 * rng.standard_normal(50)
    u = 0.1 * rng.standard_normal((stencil.D, 50))
    force = 1e-2 * rng.standard_normal((stencil.D, 50))
    feq, source = own_equilibrium(stencil, kind, rho, u), own_source(stencil, kind, u, force)
    after = collide(stencil, Collision(kind, 0.02, smagorinsky=0.2), feq - source / 2, force)
    np.testing.assert_allclose(after, feq + source / 2, atol=1e-14)


@pytest.mark.parametrize("name", STENCILS)
def test_equilibrium_of_the_moving_frame_is_the_common_one_to_second_order(name, rng):
    """It has the same density, momentum and stress, and differs by the cube of the velocity."""
    stencil = STENCILS[name]
    u = 0.1 * rng.standard_normal((stencil.D, 50))
    difference = own_equilibrium(stencil, "central-moments", np.ones(50), u) - equilibrium(stencil, np.ones(50), u)
    np.testing.assert_allclose(difference.sum(axis=0), 0, atol=1e-15)
    np.testing.assert_allclose(np.einsum("ia,ib,i...->ab...", stencil.c, stencil.c, difference), 0, atol=1e-15)
    assert 0 < np.abs(difference).max() < np.abs(u).max() ** 3


@pytest.mark.parametrize("kind", IN_MOVING_FRAME)
@pytest.mark.parametrize("name", STENCILS)
def test_viscosity_does_not_depend_on_the_frame(name, kind):
    """A shear wave carried at 0.1 along its wave vector decays as one at rest, to 0.1 %; BGK's by 3 % less."""
    at_rest, carried = (shear_viscosity(name, Collision(kind, 0.01), speed, 64) for speed in (0.0, 0.1))
    assert at_rest == pytest.approx(0.01, rel=2e-3)
    assert carried == pytest.approx(at_rest, rel=1e-3)
    assert shear_viscosity(name, Collision("bgk", 0.01), 0.1, 64) == pytest.approx(0.97 * 0.01, rel=3e-3)


@pytest.mark.parametrize("kind", IN_MOVING_FRAME)
@pytest.mark.parametrize("name", STENCILS)
def test_streams_are_stable_at_low_viscosity(name, kind):
    """No wave on a stream of speed 0.1 grows at a viscosity of 1e-4, in any of three directions; with TRT some do."""
    waves = 24 if name == "D2Q9" else 8
    for direction in ((1, 0, 0), (1, 1, 0), (1, 1, 1)):
        given = np.array(direction[: STENCILS[name].D], float)
        velocity = 0.1 * given / np.linalg.norm(given)
        assert growth(name, Collision(kind, 1e-4), velocity, waves) < 1e-9
    assert growth(name, Collision("trt", 1e-4), velocity, waves) > 1e-3


@pytest.mark.parametrize("kind", KINDS["D2Q9"])
def test_taylor_green_decay(kind):
    """The kinetic energy decays at the viscosity's rate."""
    n, nu, u0 = 32, 0.02, 0.01
    k = 2 * np.pi / n
    x, y = np.meshgrid(np.arange(n) + 0.5, np.arange(n) + 0.5, indexing="ij")
    u = u0 * np.array([-np.cos(k * x) * np.sin(k * y), np.sin(k * x) * np.cos(k * y)])
    lattice = Reference("D2Q9", (n, n), Collision(kind, nu))
    lattice.initialize(1 - 0.75 * u0**2 * (np.cos(2 * k * x) + np.cos(2 * k * y)), u)
    lattice.step(50)
    early = (lattice.velocity() ** 2).sum()
    lattice.step(300)
    late = (lattice.velocity() ** 2).sum()
    measured = np.log(early / late) / (4 * k**2 * 300)
    assert measured == pytest.approx(nu, rel=0.01)


@pytest.mark.parametrize(("magic", "tolerance"), [(3 / 16, 1e-12), (1 / 4, 1e-10), (1 / 12, 1e-10)])
def test_poiseuille(magic, tolerance):
    """The wall error of TRT is (16 Lambda - 3)/(3 N^2), zero at 3/16 (Ginzburg & d'Humieres 2003)."""
    n, nu, u0 = 8, 0.3, 0.01
    force = 8 * nu * u0 / n**2
    lattice = Reference(
        "D2Q9",
        (1, n),
        Collision("trt", nu, magic=magic),
        faces=["periodic", "periodic", "no-slip", "no-slip"],
        force=(force, 0.0),
    )
    lattice.step(1500)
    y = np.arange(n) + 0.5
    exact = 4 * u0 * y * (n - y) / n**2
    offset = (lattice.velocity()[0, 0] - exact) / u0
    np.testing.assert_allclose(offset, (16 * magic - 3) / (3 * n**2), atol=tolerance)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS["D2Q9"])
def test_couette(kind):
    """Between a moving and a resting wall the profile is linear; as a face and as a body alike.

    With MRT, whose ghost moments feel the wall, only to the square of the Mach number: hence the low speed.
    """
    n, u0 = 6, 1e-4
    exact = u0 * (np.arange(n) + 0.5) / n
    collision = Collision(kind, 0.2)
    walls = ["periodic", "periodic", "no-slip", "moving-wall"]
    faces = Reference("D2Q9", (2, n), collision, faces=walls, face_velocity={3: (u0, 0.0)})
    mask = np.zeros((2, n + 1), dtype=bool)
    mask[:, n] = True
    body = Reference("D2Q9", (2, n + 1), collision, faces=["periodic"] * 2 + ["no-slip"] * 2, bodies=[(mask, (u0, 0))])
    for lattice in (faces, body):
        lattice.step(1200)
    np.testing.assert_allclose(faces.velocity()[0, 0], exact, rtol=1e-9)
    np.testing.assert_allclose(body.velocity()[0, 0, :n], exact, rtol=1e-9)
    force, _ = body.body_force(0)
    assert force[0] == pytest.approx(-0.2 * u0 / n * 2, rel=1e-9)


def test_free_slip_mirrors():
    """Half a channel with a free-slip mid-plane is the whole channel."""
    walls = ["periodic", "periodic", "no-slip"]
    whole = Reference("D2Q9", (2, 10), Collision("bgk", 0.1), faces=[*walls, "no-slip"], force=(1e-5, 0))
    half = Reference("D2Q9", (2, 5), Collision("bgk", 0.1), faces=[*walls, "free-slip"], force=(1e-5, 0))
    whole.step(100)
    half.step(100)
    np.testing.assert_allclose(half.velocity(), whole.velocity()[:, :, :5], atol=1e-15)


def test_pressure_and_inlet_drive_a_channel():
    """A parabolic inlet and a pressure outlet hold the parabola and a linear pressure."""
    nx, ny, nu, u0 = 24, 8, 0.1, 0.01
    y = np.arange(ny) + 0.5
    profile = np.array([4 * u0 * y * (ny - y) / ny**2, np.zeros(ny)])
    lattice = Reference(
        "D2Q9",
        (nx, ny),
        Collision("trt", nu),
        faces=["velocity-inlet", "pressure-outlet", "no-slip", "no-slip"],
        face_velocity={0: profile},
    )
    lattice.step(2000)
    middle = lattice.velocity()[0, nx // 2]
    assert np.abs(middle - profile[0]).max() < 0.015 * u0  # the corner links are the wall's: 1 % less comes in
    drop = (lattice.density()[8, ny // 2] - lattice.density()[16, ny // 2]) / 3 / 8
    assert drop == pytest.approx(8 * nu * u0 / ny**2, rel=0.02)
    assert lattice.density()[-1].mean() == pytest.approx(1, abs=4e-4)


def test_outflow_lets_a_uniform_stream_pass():
    """A uniform stream between free-slip walls stays uniform with an outflow."""
    lattice = Reference(
        "D2Q9",
        (8, 5),
        Collision("bgk", 0.05),
        faces=["velocity-inlet", "outflow", "free-slip", "free-slip"],
        face_velocity={0: (0.05, 0.0)},
    )
    lattice.initialize(np.ones((8, 5)), np.broadcast_to(np.array([0.05, 0.0])[:, None, None], (2, 8, 5)).copy())
    lattice.step(300)
    np.testing.assert_allclose(lattice.velocity()[0], 0.05, rtol=2e-3)
    np.testing.assert_allclose(lattice.velocity()[1], 0, atol=1e-12)
