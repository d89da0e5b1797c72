"""The solver against the NumPy reference: 20 steps on random states, float64, to 1e-12."""

from __future__ import annotations

import numpy as np
import pytest
from reference import STENCILS, Collision, collide
from reference.cases import (
    CLASSES,
    Case,
    engine_populations,
    in_engine_order,
    in_reference_order,
    random_bodies,
    random_faces,
    random_fields,
    random_sponges,
    reverse,
)
from reference.registry import KINDS, PAIRS, STREAMINGS, by_dimension
from reference.sponges import Sponge
from reference.stencils import GROUPS, MATRICES, RATES

import lbmgpu as lbm
from lbmgpu import _core
from lbmgpu.solver import simulation_of

STEPS = 20
TOLERANCE = 1e-12
SHAPES = by_dimension((9, 7), (7, 5, 4))


def assert_same(case: Case, solver: lbm.Solver, steps: int = STEPS) -> None:
    """Run both from the solver's state and compare populations and fields in fluid cells."""
    reference = case.reference()
    fluid = case.fluid()
    reference.f = in_reference_order(case.stencil, solver.populations())
    reference.f[:, ~fluid] = reference.stencil.w[:, None]
    simulation_of(solver).advance(steps)  # unlike step() without looks, by time, at whether the flow is stable
    reference.step(steps)
    assert solver.steps == steps
    populations = in_reference_order(case.stencil, solver.populations())
    np.testing.assert_allclose(populations[:, fluid], reference.f[:, fluid], rtol=0, atol=TOLERANCE)
    np.testing.assert_allclose(solver.density()[fluid], reference.density()[fluid], rtol=0, atol=10 * TOLERANCE)
    np.testing.assert_allclose(solver.velocity()[:, fluid], reference.velocity()[:, fluid], rtol=0, atol=10 * TOLERANCE)
    for number in range(len(case.bodies)):
        center = np.full(len(case.shape), 1.5)
        force, torque = reference.body_force(number, center)
        np.testing.assert_allclose(solver.body_force(f"body {number}"), force, rtol=0, atol=100 * TOLERANCE)
        given = solver.body_torque(f"body {number}", center)
        np.testing.assert_allclose(given, torque, rtol=0, atol=500 * TOLERANCE)


@pytest.mark.parametrize("name", STENCILS)
def test_stencils_agree(name):
    """Velocities, weights, opposites and moment bases are the reference's, whatever their order."""
    stencil, core = STENCILS[name], _core.stencil(name)
    assert {tuple(c) for c in core.c} == {tuple(c) for c in stencil.c}
    np.testing.assert_allclose(in_reference_order(name, core.w), stencil.w, rtol=1e-15)
    np.testing.assert_array_equal(core.c[core.opposite], -core.c)
    ours = in_engine_order(name, MATRICES[name].T).T
    theirs = np.asarray(core.moment_matrix, float)
    cosines = (ours * theirs).sum(1) / np.sqrt((ours**2).sum(1) * (theirs**2).sum(1))
    np.testing.assert_allclose(np.abs(cosines), 1, atol=1e-12)
    assert list(core.moment_groups) == GROUPS[name]
    assert core.default_rates == pytest.approx(RATES[name])


@pytest.mark.parametrize("smagorinsky", [0.0, 0.17], ids=["laminar", "smagorinsky"])
@pytest.mark.parametrize("forcing", ["unforced", "uniform-force", "cell-force"])
@pytest.mark.parametrize("streaming", STREAMINGS)
@pytest.mark.parametrize(("name", "kind"), PAIRS)
def test_collisions(name, kind, streaming, forcing, smagorinsky, device, rng):
    """Every stencil, collision, streaming and forcing, in a periodic box."""
    shape = SHAPES[name]
    density, velocity = random_fields(rng, shape)
    force = {
        "unforced": None,
        "uniform-force": rng.uniform(-1e-3, 1e-3, len(shape)),
        "cell-force": rng.uniform(-1e-3, 1e-3, (len(shape), *shape)),
    }[forcing]
    collision = Collision(kind, 0.01, magic=0.21, smagorinsky=smagorinsky)
    case = Case(name, shape, collision, force=force, density=density, velocity=velocity)
    assert_same(case, case.solver(streaming=streaming, device=device))


@pytest.mark.parametrize("name", STENCILS)
def test_mrt_rates_by_name(name, device, rng):
    """Each named rate relaxes the moments that the papers give it."""
    shape = SHAPES[name]
    for rate in RATES[name]:
        density, velocity = random_fields(rng, shape)
        collision = Collision("mrt", 0.02, rates={rate: 0.7})
        case = Case(name, shape, collision, force=[1e-4] * len(shape), density=density, velocity=velocity)
        assert_same(case, case.solver(device=device), steps=5)


@pytest.mark.parametrize("smagorinsky", [0.0, 0.17], ids=["laminar", "smagorinsky"])
@pytest.mark.parametrize("least", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("name", [name for name, kind in PAIRS if kind == "central-moments"])
def test_least_odd_rate(name, least, smagorinsky, device, rng):
    """At low viscosity moments of third order have this rate."""
    density, velocity = random_fields(rng, SHAPES[name])
    collision = Collision("central-moments", 0.004, least_odd_rate=least, smagorinsky=smagorinsky)
    case = Case(name, SHAPES[name], collision, density=density, velocity=velocity)
    assert_same(case, case.solver(device=device))


@pytest.mark.parametrize("smagorinsky", [0.0, 0.17], ids=["laminar", "smagorinsky"])
@pytest.mark.parametrize("viscosity", [1e-4, 0.02, 1 / 6, 2.0])
@pytest.mark.parametrize(
    "options",
    [{"limiter": None}, {"limiter": 1e-4}, {"bulk_viscosity": 0.02}, {"bulk_viscosity": 1.5}, {"parametrized": False}],
    ids=lambda options: " ".join(map(str, next(iter(options.items())))),
)
def test_cumulant_options(options, viscosity, smagorinsky, device, rng):
    """With and without the parametrisation, which only some of these viscosities have."""
    shape = SHAPES["D3Q27"]
    density, velocity = random_fields(rng, shape, speed=0.01)
    collision = Collision("cumulant", viscosity, smagorinsky=smagorinsky, **options)
    case = Case("D3Q27", shape, collision, force=[1e-4, 2e-4, -1e-4], density=density, velocity=velocity)
    assert_same(case, case.solver(device=device), steps=5)


@pytest.mark.parametrize("streaming", STREAMINGS)
@pytest.mark.parametrize(("name", "kind"), PAIRS)
def test_one_collision_of_arbitrary_populations(name, kind, streaming, rng):
    """From populations far from equilibrium, none of which is special, too."""
    shape = SHAPES[name]
    stencil = STENCILS[name]
    case = Case(name, shape, Collision(kind, 0.3, smagorinsky=0.1), force=rng.uniform(-1e-2, 1e-2, len(shape)))
    start = stencil.w.reshape((-1,) + (1,) * len(shape)) * (1 + 0.2 * rng.uniform(-1, 1, (stencil.Q, *shape)))
    engine = case.engine(streaming=streaming)
    engine.set_populations(reverse(in_engine_order(name, start), 1))
    np.testing.assert_allclose(engine_populations(engine, name, shape), start, atol=1e-15)
    engine.step(1)
    axes = tuple(range(len(shape)))
    arrived = np.array([np.roll(f, tuple(c), axis=axes) for f, c in zip(start, stencil.c, strict=True)])
    force = np.broadcast_to(np.reshape(case.force, (-1,) + (1,) * len(shape)), (len(shape), *shape))
    expected = collide(stencil, case.collision, arrived, force)
    np.testing.assert_allclose(engine_populations(engine, name, shape), expected, rtol=0, atol=1e-14)


@pytest.mark.parametrize("streaming", STREAMINGS)
@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("kind", [k for k in CLASSES if k != "periodic"])
@pytest.mark.parametrize("name", STENCILS)
def test_one_pair_of_faces(name, kind, axis, streaming, device, rng):
    """Each condition on both faces of one axis, periodic along the others."""
    shape = SHAPES[name]
    axis %= len(shape)
    kinds = ["periodic"] * (2 * len(shape))
    kinds[2 * axis : 2 * axis + 2] = [kind, kind]
    density, velocity = random_fields(rng, shape)
    case = Case(
        name,
        shape,
        Collision("trt", 0.05),
        faces=random_faces(rng, shape, kinds),
        force=[1e-4] * len(shape),
        density=density,
        velocity=velocity,
    )
    assert_same(case, case.solver(streaming=streaming, device=device))


@pytest.mark.parametrize("streaming", STREAMINGS)
@pytest.mark.parametrize("bodies", [False, True], ids=["box", "bodies"])
@pytest.mark.parametrize(("name", "number"), [(s, n) for s in STENCILS for n in range(4 * len(KINDS[s]))])
def test_mixed_faces(name, number, bodies, streaming, device, rng):
    """Random conditions on all faces, meeting at edges and corners and at bodies resting and moving."""
    sizes = [1, 2, 3, 5, 8] if number % 4 == 0 else [4, 5, 6]
    shape = tuple(int(n) for n in rng.choice(sizes, len(SHAPES[name])))
    if bodies:
        shape = (max(shape[0], 3), *shape[1:])
    density, velocity = random_fields(rng, shape, speed=0.01)
    case = Case(
        name,
        shape,
        Collision(KINDS[name][number % len(KINDS[name])], 0.1),
        faces=random_faces(rng, shape, speed=0.02),
        bodies=random_bodies(rng, shape, speed=0.02) if bodies else (),
        force=rng.uniform(-1e-4, 1e-4, (len(shape), *shape)),
        density=density,
        velocity=velocity,
        sponges=random_sponges(rng, shape),
    )
    assert_same(case, case.solver(streaming=streaming, device=device))


@pytest.mark.parametrize("streaming", STREAMINGS)
@pytest.mark.parametrize("name", STENCILS)
def test_sponges_beside_faces_and_bodies(name, streaming, device, rng):
    """Two that meet at an edge, one of which pulls, before an inlet that replaces populations and walls."""
    shape = SHAPES[name]
    none = (0.0,) * len(shape)
    density, velocity = random_fields(rng, shape, speed=0.01)
    kinds = ["regularized-inlet", "characteristic-outlet"] + ["no-slip", "regularized-inlet"] * (len(shape) - 1)
    case = Case(
        name,
        shape,
        Collision("trt", 0.1),
        faces=random_faces(rng, shape, kinds, speed=0.02),
        bodies=random_bodies(rng, shape, speed=0.02),
        force=rng.uniform(-1e-4, 1e-4, (len(shape), *shape)),
        density=density,
        velocity=velocity,
        sponges=[
            Sponge(0, 2, 0.5, 0.0, 1.0, none),
            Sponge(1, 3, 0.3, 0.2, 1.01, (0.02, *none[1:])),
            Sponge(2, 2, 1.0, 0.0, 1.0, none),
        ],
    )
    assert_same(case, case.solver(streaming=streaming, device=device))


@pytest.mark.parametrize("first", [k for k in CLASSES if k != "periodic"])
@pytest.mark.parametrize("second", CLASSES)
@pytest.mark.parametrize("name", STENCILS)
def test_every_pair_of_kinds_at_an_edge(name, first, second, device, rng):
    """At each edge of the box a face of one kind meets a face of another, in either order."""
    shape = (5, 4, 4)[: STENCILS[name].D]
    density, velocity = random_fields(rng, shape, speed=0.01)
    kinds = [first, "no-slip", second, second, "periodic", "periodic"][: 2 * len(shape)]
    faces = random_faces(rng, shape, kinds)
    case = Case(name, shape, Collision("regularized", 0.1), faces=faces, density=density, velocity=velocity)
    assert_same(case, case.solver(device=device))


@pytest.mark.parametrize("streaming", STREAMINGS)
@pytest.mark.parametrize("steps", [4, 5])
def test_body_force_and_torque(streaming, steps, device, rng):
    """Force and torque on each of two bodies, in two and three dimensions, after odd and even steps."""
    for name, shape, center in (("D2Q9", (9, 7), (3.2, 4.1)), ("D3Q19", (6, 5, 4), (1.0, 2.5, 3.0))):
        density, velocity = random_fields(rng, shape)
        case = Case(
            name,
            shape,
            Collision("trt", 0.05),
            bodies=random_bodies(rng, shape),
            force=[1e-4] * len(shape),
            density=density,
            velocity=velocity,
        )
        engine, reference = case.engine(streaming=streaming), case.reference()
        reference.f = engine_populations(engine, name, shape)
        reference.f[:, ~case.fluid()] = reference.stencil.w[:, None]
        engine.step(steps)
        reference.step(steps)
        for body in range(2):
            force, torque = engine.body_force(body, center)
            expected_force, expected_torque = reference.body_force(body, center)
            np.testing.assert_allclose(force, expected_force, rtol=0, atol=1e-11)
            np.testing.assert_allclose(torque, expected_torque, rtol=0, atol=1e-10)


@pytest.mark.parametrize("streaming", STREAMINGS)
def test_walls_that_change_in_time(streaming, device):
    """A callable with an argument t is called before every step with the number of steps completed."""
    shape = (6, 5)

    def lid(x, y, t):
        return 0.05 * np.sin(0.3 * t + x), 0.0

    def rotor(x, y, t):
        return 0.02 * np.cos(0.2 * t) * (y - 2.5), 0.01 * t / 20 + 0 * x

    domain = lbm.Domain(shape, stencil="D2Q9")
    for face in ("-x", "+x", "-y"):
        domain.faces[face] = lbm.NoSlip()
    domain.faces["+y"] = lbm.MovingWall(lid)
    mask = np.zeros(shape, dtype=bool)
    mask[2:4, 2] = True
    domain.add_body(mask, name="rotor", condition=lbm.MovingWall(rotor))
    solver = lbm.Solver(domain, lbm.BGK(0.05), precision="float64", streaming=streaming, device=device)

    walls = ["no-slip", "no-slip", "no-slip", "moving-wall"]
    case = Case("D2Q9", shape, Collision("bgk", 0.05), faces=[(w, np.zeros(2)) for w in walls], bodies=[(mask, None)])
    reference = case.reference()
    x, y = np.meshgrid(np.arange(6) + 0.5, np.arange(5) + 0.5, indexing="ij")
    for t in range(STEPS):
        along, across = lid(x[:, 0], 5.0, float(t))
        reference.face_velocity[3] = np.array([along, np.full(6, across)])
        reference.wall_velocities = [np.where(mask, np.array(rotor(x, y, float(t))), 0.0)]
        reference.step()
    solver.step(7)
    solver.step(STEPS - 7)
    populations = in_reference_order("D2Q9", solver.populations())
    np.testing.assert_allclose(populations[:, ~mask], reference.f[:, ~mask], rtol=0, atol=TOLERANCE)


def test_solid_cells_read_as_their_wall(device, rng):
    """In solid cells density is 1 and velocity the wall's."""
    shape = (6, 5, 4)
    case = Case("D3Q19", shape, Collision("bgk", 0.05), bodies=random_bodies(rng, shape), force=(1e-4, 0, 0))
    solver = case.solver(device=device)
    solver.step(3)
    resting, moving = case.bodies[0][0], case.bodies[1][0]
    assert (solver.density()[resting | moving] == 1).all()
    assert (solver.velocity()[:, resting] == 0).all()
    np.testing.assert_allclose(solver.velocity()[:, moving], case.bodies[1][1][:, moving], rtol=1e-15)
