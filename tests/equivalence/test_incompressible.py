"""The incompressible equilibrium against the NumPy reference: 20 steps on random states, float64, to 1e-12."""

from __future__ import annotations

import numpy as np
import pytest
from reference import STENCILS, Collision
from reference.cases import CLASSES, Case, in_reference_order, one_pair, random_bodies, random_faces, random_fields
from reference.collisions import equilibrium
from reference.registry import FLOW_STENCILS, PAIRS, STREAMINGS, THERMAL_STENCILS
from reference.sponges import Sponge
from reference.thermal_cases import random_thermal_case
from reference.turbulence import Turbulence

import lbmgpu as lbm
from lbmgpu.collision_table import BY_KIND
from lbmgpu.collisions import EitherEquilibrium

from .test_reference_equality import SHAPES, assert_same
from .test_thermal import assert_same as assert_same_thermal

EITHER = [(name, kind) for name, kind in PAIRS if issubclass(BY_KIND[kind], EitherEquilibrium)]


def collision(kind: str, viscosity: float = 0.05, **options: float) -> Collision:
    return Collision(kind, viscosity, incompressible=True, **options)


@pytest.mark.parametrize("forcing", ["unforced", "force"])
@pytest.mark.parametrize("smagorinsky", [0.0, 0.17], ids=["laminar", "smagorinsky"])
@pytest.mark.parametrize("streaming", STREAMINGS)
@pytest.mark.parametrize(("name", "kind"), EITHER)
def test_collisions(name, kind, streaming, smagorinsky, forcing, device, rng):
    """Every stencil, collision and streaming, with and without a force, in a periodic box."""
    shape = SHAPES[name]
    density, velocity = random_fields(rng, shape)
    force = rng.uniform(-1e-3, 1e-3, (len(shape), *shape)) if forcing == "force" else None
    case = Case(
        name,
        shape,
        collision(kind, 0.01, magic=0.21, smagorinsky=smagorinsky),
        force=force,
        density=density,
        velocity=velocity,
    )
    assert_same(case, case.solver(streaming=streaming, device=device))


@pytest.mark.parametrize("streaming", STREAMINGS)
@pytest.mark.parametrize(("name", "kind"), EITHER)
def test_between_walls(name, kind, streaming, device, rng):
    """Inlet, outlet, walls at rest and moving, bodies at rest and moving, and a force, about a mean density of 1.03."""
    shape = SHAPES[name]
    density, velocity = random_fields(rng, shape, speed=0.02)
    kinds = ["velocity-inlet", "pressure-outlet", "no-slip", "moving-wall", "free-slip", "no-slip"]
    case = Case(
        name,
        shape,
        collision(kind),
        faces=random_faces(rng, shape, kinds[: 2 * len(shape)], speed=0.02),
        bodies=random_bodies(rng, shape, speed=0.02),
        force=rng.uniform(-1e-4, 1e-4, len(shape)),
        density=density + 0.03,
        velocity=velocity,
    )
    assert_same(case, case.solver(streaming=streaming, device=device))


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("kind", [kind for kind in CLASSES if kind not in ("periodic", "no-slip", "free-slip")])
@pytest.mark.parametrize("name", FLOW_STENCILS)
def test_every_condition(name, kind, axis, device, rng):
    """Each condition that has a velocity or a density, on both faces of an axis, with a force."""
    shape = SHAPES[name]
    kinds = one_pair(kind, axis, len(shape))
    density, velocity = random_fields(rng, shape)
    faces = random_faces(rng, shape, kinds)
    case = Case(
        name, shape, collision("trt"), faces=faces, force=[1e-4] * len(shape), density=density, velocity=velocity
    )
    assert_same(case, case.solver(device=device))


@pytest.mark.parametrize("name", FLOW_STENCILS)
def test_sponges(name, device, rng):
    """One that damps and one that pulls as well, before an inlet that replaces populations and an outlet."""
    shape = SHAPES[name]
    none = (0.0,) * len(shape)
    density, velocity = random_fields(rng, shape, speed=0.01)
    kinds = ["regularized-inlet", "characteristic-outlet", "no-slip", "no-slip", "periodic", "periodic"]
    case = Case(
        name,
        shape,
        collision("regularized", 0.1),
        faces=random_faces(rng, shape, kinds[: 2 * len(shape)], speed=0.02),
        density=density,
        velocity=velocity,
        sponges=[Sponge(0, 2, 0.5, 0.0, 1.0, none), Sponge(1, 3, 0.3, 0.2, 1.01, (0.02, *none[1:]))],
    )
    assert_same(case, case.solver(device=device))


@pytest.mark.parametrize(("model", "constant"), [("wale", 0.5), ("vreman", 0.07)])
@pytest.mark.parametrize("name", FLOW_STENCILS)
def test_eddy_viscosity_of_gradients(name, model, constant, device, rng):
    """Beside walls and bodies; the velocities that are kept are those of the incompressible equilibrium."""
    shape = SHAPES[name]
    density, velocity = random_fields(rng, shape)
    kinds = ["no-slip", "moving-wall", "periodic", "periodic", "periodic", "periodic"]
    case = Case(
        name,
        shape,
        collision("mrt", 0.01),
        faces=random_faces(rng, shape, kinds[: 2 * len(shape)]),
        bodies=random_bodies(rng, shape),
        density=density,
        velocity=velocity,
        turbulence=Turbulence(model, constant),
    )
    assert_same(case, case.solver(device=device), steps=7)


@pytest.mark.parametrize("streaming", STREAMINGS)
@pytest.mark.parametrize("name", THERMAL_STENCILS)
def test_with_a_temperature(name, streaming, device, rng):
    """Buoyancy, coupling, walls and bodies of the hybrid thermal model, whose temperature the velocity carries."""
    case = random_thermal_case(rng, name, "mrt", SHAPES[name], smagorinsky=0.1)
    case.collision = collision("mrt", 0.1, smagorinsky=0.1)
    assert_same_thermal(case, case.solver(streaming=streaming, device=device))


@pytest.mark.parametrize("name", FLOW_STENCILS)
def test_initial_state_and_sums(name, device, rng):
    """The state is the equilibrium of the given fields, which are read back; momentum and energy have density 1."""
    shape = SHAPES[name]
    density, velocity = random_fields(rng, shape)
    solver = Case(name, shape, collision("bgk"), density=density, velocity=velocity).solver(device=device)
    np.testing.assert_allclose(solver.density(), density, rtol=0, atol=1e-14)
    np.testing.assert_allclose(solver.velocity(), velocity, rtol=0, atol=1e-15)
    expected = equilibrium(STENCILS[name], density, velocity, incompressible=True)
    np.testing.assert_allclose(in_reference_order(name, solver.populations()), expected, rtol=0, atol=1e-15)
    assert solver.mass() == pytest.approx(density.sum())
    np.testing.assert_allclose(solver.momentum(), velocity.reshape(len(shape), -1).sum(axis=1), atol=1e-13)
    assert solver.kinetic_energy() == pytest.approx((velocity**2).sum() / 2)


@pytest.mark.parametrize("kind", sorted({kind for _, kind in EITHER}))
def test_nothing_changes_at_uniform_density(kind, device):
    """A shear wave along an axis keeps its density, and then both equilibria are the same but for their rounding."""
    y = (np.arange(16) + 0.5) / 16
    velocity = np.zeros((2, 4, 16))
    velocity[0] = 0.03 * np.sin(2 * np.pi * y)
    solvers = []
    for incompressible in (False, True):
        chosen = BY_KIND[kind](0.02, incompressible=incompressible)  # type: ignore[call-arg]
        solver = lbm.Solver(lbm.Domain((4, 16), "D2Q9"), chosen, precision="float64", device=device)
        solver.initialize(velocity=velocity)
        solver.step(50)
        solvers.append(solver)
    np.testing.assert_allclose(solvers[1].velocity(), solvers[0].velocity(), rtol=0, atol=1e-6)


@pytest.mark.parametrize(("precision", "storage"), [("float32", "float32"), ("float32", "float16")])
def test_blocks_have_the_bits_of_one(precision, storage, device, rng):
    """In the other number types too, whose state stays near that in float64."""
    shape = (12, 9)
    density, velocity = random_fields(rng, shape, speed=0.02)
    kinds = ["velocity-inlet", "pressure-outlet", "no-slip", "moving-wall"]
    case = Case(
        "D2Q9",
        shape,
        collision("central-moments"),
        faces=random_faces(rng, shape, kinds, speed=0.02),
        density=density,
        velocity=velocity,
    )
    one = case.solver(precision=precision, storage=storage, device=device)
    layout = lbm.Layout.split(shape, (2, 2), device)
    many = case.solver(precision=precision, storage=storage, layout=layout, device="auto")
    exact = case.solver(device=device)
    for solver in (one, many, exact):
        solver.step(20)
    np.testing.assert_array_equal(many.populations(), one.populations())
    np.testing.assert_array_equal(many.velocity(), one.velocity())
    np.testing.assert_allclose(one.velocity(), exact.velocity(), rtol=0, atol=1e-6 if storage == "float32" else 1e-3)
