"""Mass and momentum are conserved by every collision on every stencil."""

from __future__ import annotations

import numpy as np
import pytest
from reference import STENCILS, Collision
from reference.cases import Case, in_reference_order, random_fields
from reference.registry import PAIRS, STREAMINGS, by_dimension

SHAPES = by_dimension((21, 18), (9, 8, 10))


def sums(case: Case, populations: np.ndarray) -> tuple[float, np.ndarray]:
    """Mass, and first moment of the populations, over the whole box."""
    stencil = STENCILS[case.stencil]
    total = in_reference_order(case.stencil, populations).reshape(stencil.Q, -1).sum(axis=1)
    return total.sum(), stencil.c.T @ total


@pytest.mark.parametrize("smagorinsky", [0.0, 0.15], ids=["laminar", "smagorinsky"])
@pytest.mark.parametrize("streaming", STREAMINGS)
@pytest.mark.parametrize(("name", "kind"), PAIRS)
def test_periodic_box(name, kind, streaming, smagorinsky, device, rng):
    """In float64 mass and momentum of a random state stay to 1e-13 over 200 steps."""
    shape = SHAPES[name]
    density, velocity = random_fields(rng, shape)
    velocity += 0.04
    case = Case(name, shape, Collision(kind, 0.02, smagorinsky=smagorinsky), density=density, velocity=velocity)
    solver = case.solver(streaming=streaming, device=device)
    mass, momentum = sums(case, solver.populations())
    solver.step(200)
    later_mass, later_momentum = sums(case, solver.populations())
    assert later_mass == pytest.approx(mass, rel=1e-13)
    np.testing.assert_allclose(later_momentum, momentum, rtol=0, atol=1e-13 * mass)
    assert solver.mass() == pytest.approx(later_mass, rel=1e-13)
    np.testing.assert_allclose(solver.momentum(), later_momentum, rtol=0, atol=1e-13 * mass)


@pytest.mark.parametrize("streaming", STREAMINGS)
@pytest.mark.parametrize(("name", "kind"), PAIRS)
def test_force_is_the_only_source_of_momentum(name, kind, streaming, device, rng):
    """Momentum grows by the sum of the forces every step; mass stays."""
    shape = SHAPES[name]
    density, velocity = random_fields(rng, shape)
    force = rng.uniform(-1e-4, 2e-4, (len(shape), *shape))
    case = Case(name, shape, Collision(kind, 0.02), force=force, density=density, velocity=velocity)
    solver = case.solver(streaming=streaming, device=device)
    mass, momentum = sums(case, solver.populations())
    solver.step(101)
    later_mass, later_momentum = sums(case, solver.populations())
    given = force.reshape(len(shape), -1).sum(axis=1)
    assert later_mass == pytest.approx(mass, rel=1e-13)
    np.testing.assert_allclose(later_momentum, momentum + 101 * given, rtol=0, atol=1e-13 * mass)
    np.testing.assert_allclose(solver.momentum(), later_momentum - given / 2, rtol=0, atol=1e-13 * mass)


@pytest.mark.parametrize(("name", "kind"), PAIRS)
def test_closed_box_keeps_its_mass(name, kind, device, rng):
    """Resting walls, sliding walls, tangentially moving walls and bodies let nothing through."""
    shape = SHAPES[name]
    density, velocity = random_fields(rng, shape)
    lid = np.array([0.05, 0.0, 0.0])[: len(shape)]
    faces = [("free-slip", None), ("free-slip", None), ("no-slip", None), ("moving-wall", lid)]
    faces += [("no-slip", None), ("free-slip", None)]
    body = np.zeros(shape, dtype=bool)
    body[tuple(slice(n // 3, 2 * n // 3) for n in shape)] = True
    case = Case(
        name,
        shape,
        Collision(kind, 0.05),
        faces=faces[: 2 * len(shape)],
        bodies=[(body, None)],
        density=density,
        velocity=velocity,
    )
    solver = case.solver(device=device)
    before = solver.mass()
    solver.step(200)
    assert solver.mass() == pytest.approx(before, rel=1e-13)


@pytest.mark.parametrize("storage", ["float32", "float16"])
@pytest.mark.parametrize(("name", "kind"), PAIRS)
def test_uniform_stream_does_not_drift(name, kind, storage, device):
    """In float32 a uniform stream keeps mass and momentum to 1e-6 over 20 000 steps."""
    shape = {2: (16, 16), 3: (8, 8, 8)}[STENCILS[name].D]
    stream = np.array([0.05, -0.03, 0.02])[: len(shape)]
    case = Case(name, shape, Collision(kind, 0.02))
    case.velocity = np.broadcast_to(stream.reshape(-1, *[1] * len(shape)), (len(shape), *shape)).copy()
    solver = case.solver(precision="float32", storage=storage, device=device)
    mass, momentum = solver.mass(), solver.momentum()
    solver.step(20_000)
    tolerance = 1e-6 if storage == "float32" else 1e-3
    assert solver.mass() == pytest.approx(mass, rel=tolerance)
    drift = np.linalg.norm(np.subtract(solver.momentum(), momentum))
    assert drift <= tolerance * np.linalg.norm(momentum)
    np.testing.assert_allclose(momentum, stream * mass, rtol=1e-3)


@pytest.mark.parametrize(("name", "kind"), PAIRS)
def test_decaying_flow_does_not_drift(name, kind, device):
    """In float32 a stream with a shear wave on it keeps mass and momentum over 10 000 steps as well."""
    shape = {2: (16, 16), 3: (8, 8, 8)}[STENCILS[name].D]
    case = Case(name, shape, Collision(kind, 0.002))
    across = 2 * np.pi * (np.arange(shape[1]) + 0.5) / shape[1]
    case.velocity = np.zeros((len(shape), *shape))
    case.velocity[0] = 0.05 + 0.03 * np.sin(across).reshape((1, -1) + (1,) * (len(shape) - 2))
    solver = case.solver(precision="float32", device=device)
    mass, momentum = solver.mass(), solver.momentum()
    solver.step(10_000)
    assert solver.mass() == pytest.approx(mass, rel=3e-6)
    assert solver.momentum()[0] == pytest.approx(momentum[0], rel=3e-6)
    np.testing.assert_allclose(solver.momentum()[1:], 0, atol=1e-6 * mass * 0.05)
