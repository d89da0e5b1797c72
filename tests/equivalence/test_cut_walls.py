"""Walls of bodies at known distances, against the NumPy reference: populations, forces and torques to 1e-12."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from reference import STENCILS, Collision
from reference.cases import (
    CLASSES,
    Case,
    engine_state,
    random_bodies,
    random_cuts,
    random_faces,
    random_fields,
)
from reference.registry import STREAMINGS

import lbmgpu as lbm
from lbmgpu.conditions import CUT_WALLS

from .test_reference_equality import SHAPES, assert_same

OPEN = ["velocity-inlet", "pressure-outlet", "outflow", "regularized-inlet", "characteristic-outlet"]


def random_case(
    rng: np.random.Generator, name: str, shape: tuple[int, ...], schemes: list[str], solid: bool = True, **more: Any
) -> Case:
    """Bodies of single cells that touch each other and the faces, with gaps of one cell between them; unless `solid`
    without these cells, so that what cuts links is sheets alone."""
    density, velocity = random_fields(rng, shape, speed=0.01)
    bodies = random_bodies(rng, shape, speed=0.02)
    if not solid:
        bodies = [(np.zeros(shape, bool), wall) for _, wall in bodies]
    return Case(
        name,
        shape,
        Collision("trt", 0.1),
        bodies=bodies,
        cuts=random_cuts(rng, name, bodies, schemes),
        force=rng.uniform(-1e-4, 1e-4, (len(shape), *shape)),
        density=density,
        velocity=velocity,
        **more,
    )


@pytest.mark.parametrize("streaming", STREAMINGS)
@pytest.mark.parametrize("scheme", CUT_WALLS)
@pytest.mark.parametrize("name", STENCILS)
def test_walls_at_any_distance(name, scheme, streaming, device, rng):
    """At rest and moving, with gaps and corners where the scheme falls back to half-way walls, in a periodic box."""
    case = random_case(rng, name, SHAPES[name], [scheme])
    assert_same(case, case.solver(streaming=streaming, device=device))


@pytest.mark.parametrize("streaming", STREAMINGS)
@pytest.mark.parametrize(("name", "number"), [(s, n) for s in STENCILS for n in range(12)])
def test_walls_beside_faces(name, number, streaming, device, rng):
    """Where faces of all kinds meet bodies."""
    sizes = [2, 3, 5, 8] if number % 4 == 0 else [4, 5, 6]
    shape = tuple(int(n) for n in rng.choice(sizes, len(SHAPES[name])))
    shape = (max(shape[0], 3), *shape[1:])
    case = random_case(rng, name, shape, [], faces=random_faces(rng, shape, speed=0.02))
    assert_same(case, case.solver(streaming=streaming, device=device))


@pytest.mark.parametrize("kind", [kind for kind in CLASSES if kind != "periodic"])
@pytest.mark.parametrize("name", STENCILS)
def test_a_body_in_the_corner_of_a_face(name, kind, device, rng):
    """In one step the cells between a body and faces of a kind get what the reference has."""
    shape = (5, 4, 4)[: STENCILS[name].D]
    faces = random_faces(rng, shape, [kind, "no-slip", kind, kind, "periodic", "periodic"][: 2 * len(shape)])
    case = random_case(rng, name, shape, [], faces=faces)
    assert_same(case, case.solver(device=device), steps=3)


@pytest.mark.parametrize("scheme", CUT_WALLS)
def test_a_wall_half_way_has_the_bits_of_half_way_bounce_back(scheme, rng):
    """All links cut in the middle; the body is at rest."""
    case = random_case(rng, "D3Q19", SHAPES["D3Q19"], [scheme])
    case.bodies = [(mask, None) for mask, _ in case.bodies]
    for cuts in case.cuts.values():
        cuts.distance.update(dict.fromkeys(cuts.distance, 0.5))
    half_way = Case(**{**vars(case), "cuts": {}})
    solvers = [each.solver(precision="float32") for each in (case, half_way)]
    for solver in solvers:
        solver.step(20)
    fluid = case.fluid()
    np.testing.assert_array_equal(*(solver.populations()[:, fluid] for solver in solvers))
    for body in solvers[0].domain.bodies:
        forces = [solver.body_force(body) for solver in solvers]
        np.testing.assert_allclose(*forces, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("storage", ["float16", "float32"])
@pytest.mark.parametrize("name", STENCILS)
def test_streaming_and_device_change_no_bit(name, storage, device, rng):
    """Of walls with all schemes beside open faces."""
    shape = SHAPES[name]
    kinds = [*OPEN[:2], *OPEN[3:], "no-slip", "free-slip"][: 2 * len(shape)]
    case = random_case(rng, name, shape, [], faces=random_faces(rng, shape, kinds, speed=0.02))
    states = []
    other = "cuda:0" if device == "cuda" else device
    for streaming, where in (("in-place", "cpu"), ("in-place", other), ("two-lattice", other)):
        engine = case.engine(streaming=streaming, precision="float32", storage=storage, device=where)
        engine.step(15)
        states.append(engine_state(engine, name, shape)[:, case.fluid()])
    for state in states[1:]:
        np.testing.assert_array_equal(state.view(f"u{state.itemsize}"), states[0].view(f"u{state.itemsize}"))


@pytest.mark.filterwarnings("ignore::lbmgpu.GeometryWarning")
def test_the_force_of_a_function_of_time_is_that_of_a_factor():
    """What comes off the wall has the velocity of the present time, as the wall has."""
    found = []
    for velocity in (lambda x, y, t: (0.01 * min(t, 1) + 0 * x, 0 * y), (0.01, 0.0) * lbm.Ramp(0, 1, 1)):
        domain = lbm.Domain((19, 11), "D2Q9")
        domain.add_body(lbm.Sphere((9.4, 5.4), 2.3), "ball", lbm.MovingWall(velocity))
        solver = lbm.Solver(domain, lbm.BGK(0.02), device="cpu", precision="float64")
        forces = lbm.Forces("ball")
        solver.record(forces, every=1)
        solver.run(1)
        found += [solver.body_force("ball"), forces["force"][-1]]
    for force in found[1:]:
        np.testing.assert_allclose(force, found[0], rtol=1e-12, atol=1e-15)
    assert abs(found[0][0]) > 0.05
