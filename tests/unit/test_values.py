"""Vectors, arrays and callables reach the engine at the right cells and times."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from reference.registry import FLOW_STENCILS

import lbmgpu as lbm
from lbmgpu import values

from .support import cavity, cube, shape_of


@pytest.mark.parametrize("stencil", FLOW_STENCILS)
def test_initialize_from_arrays(stencil: str, rng: np.random.Generator) -> None:
    shape = shape_of(stencil)
    solver = lbm.Solver(lbm.Domain(shape, stencil), lbm.BGK(0.1), precision="float64")
    density = 1 + 0.01 * rng.standard_normal(shape)
    velocity = 0.02 * rng.standard_normal((len(shape), *shape))
    solver.initialize(density, velocity)
    np.testing.assert_allclose(solver.density(), density, rtol=1e-13)
    np.testing.assert_allclose(solver.velocity(), velocity, atol=1e-15)
    np.testing.assert_allclose(solver.populations().sum(axis=0), density, rtol=1e-13)
    assert solver.mass() == pytest.approx(density.sum(), rel=1e-13)
    np.testing.assert_allclose(
        solver.momentum(), (density * velocity).reshape(len(shape), -1).sum(axis=1), rtol=1e-10, atol=1e-14
    )
    assert solver.kinetic_energy() == pytest.approx(0.5 * (density * (velocity**2).sum(axis=0)).sum(), rel=1e-12)


@pytest.mark.parametrize("stencil", FLOW_STENCILS)
def test_initialize_from_callables(stencil: str) -> None:
    shape = shape_of(stencil)
    solver = lbm.Solver(lbm.Domain(shape, stencil), lbm.BGK(0.1), precision="float64")
    seen: list[Any] = []

    def velocity(*coordinates: Any) -> list[Any]:
        seen.extend(coordinates)
        return [0.01 * coordinates[-1], *[0] * (len(shape) - 1)]

    solver.initialize(lambda *c: 1 + 0.01 * c[0], velocity)
    grid = np.meshgrid(*(np.arange(n) + 0.5 for n in shape), indexing="ij")
    np.testing.assert_array_equal(seen, grid)
    np.testing.assert_allclose(solver.density(), 1 + 0.01 * grid[0], rtol=1e-14)
    np.testing.assert_allclose(solver.velocity()[0], 0.01 * grid[-1], atol=1e-15)


def test_initialize_from_numbers_starts_anew() -> None:
    solver = lbm.Solver(lbm.Domain((6, 5), "D2Q9"), lbm.TRT(0.1))
    solver.step(3)
    solver.initialize(density=1.1, velocity=(0.05, -0.02))
    assert solver.steps == 0
    assert solver.density().dtype == np.float32
    np.testing.assert_allclose(solver.density(), 1.1, rtol=1e-6)
    np.testing.assert_allclose(solver.velocity()[1], -0.02, rtol=1e-5)
    solver.initialize()
    np.testing.assert_array_equal(solver.density(), 1)


def test_nonequilibrium_start_has_the_shear_stress() -> None:
    n, nu = 32, 0.1
    solver = lbm.Solver(lbm.Domain((n, n), "D2Q9"), lbm.BGK(nu), precision="float64")

    def shear(x: Any, y: Any) -> tuple[Any, float]:
        return 0.02 * np.sin(2 * np.pi * y / n), 0.0

    c = lbm.stencil("D2Q9").c
    stresses = []
    for nonequilibrium in (False, True):
        solver.initialize(velocity=shear, nonequilibrium=nonequilibrium)
        stresses.append(np.einsum("q,qxy->xy", (c[:, 0] * c[:, 1]).astype(float), solver.populations())[0])
    y = np.arange(n) + 0.5
    gradient = 0.02 * 2 * np.pi / n * np.cos(2 * np.pi * y / n)
    np.testing.assert_allclose(stresses[0], 0, atol=1e-15)
    # stored after the collision: (1 - omega) times -tau cs2 rho times the gradient
    tau = 3 * nu + 0.5
    np.testing.assert_allclose(stresses[1], -(1 - 1 / tau) * tau / 3 * gradient, atol=2e-5)


@pytest.mark.parametrize("face", ["-x", "+x", "-y", "+y", "-z", "+z"])
def test_face_array_and_callable_agree(face: str, rng: np.random.Generator) -> None:
    shape = (7, 5, 4)
    axis = "xyz".index(face[1])
    tangential = values.face_shape(shape, face)
    array = np.zeros((3, *tangential))
    array[(axis + 1) % 3] = 0.1 * rng.random(tangential)
    seen: list[Any] = []

    def function(*coordinates: Any) -> Any:
        seen.extend(coordinates)
        a, b = (coordinates[i] for i in range(3) if i != axis)
        return array[:, a.astype(int), b.astype(int)]

    results = []
    for value in (array, function):
        domain = lbm.Domain(shape)
        for name in domain.faces:
            domain.faces[name] = lbm.NoSlip()
        domain.faces[face] = lbm.MovingWall(value)
        solver = lbm.Solver(domain, lbm.BGK(0.1), precision="float64")
        solver.step(1)
        results.append(solver.velocity())
    np.testing.assert_array_equal(results[0], results[1])
    assert np.all(seen[axis] == (0 if face[0] == "-" else shape[axis]))
    layer = results[0][(axis + 1) % 3].take(0 if face[0] == "-" else -1, axis)
    corr = np.corrcoef(layer.ravel(), array[(axis + 1) % 3].ravel())[0, 1]
    assert corr > 0.7
    inner = np.delete(results[0], 0 if face[0] == "-" else shape[axis] - 1, axis + 1)
    np.testing.assert_allclose(inner, 0, atol=1e-15)


def test_outlet_density_of_each_kind() -> None:
    results = []
    for density in (1.01, np.full(5, 1.01), lambda x, y: 1.01, lambda x, y, t: 1.01 + 0 * y):
        domain = lbm.Domain((7, 5), "D2Q9")
        domain.faces["-x"] = lbm.PressureOutlet(density)
        domain.faces["+x"] = lbm.PressureOutlet(1.0)
        solver = lbm.Solver(domain, lbm.BGK(0.1), precision="float64")
        solver.step(10)
        results.append(solver.velocity())
    assert results[0][0].min() > 0
    for other in results[1:]:
        np.testing.assert_array_equal(results[0], other)


def test_time_of_changing_values() -> None:
    times: list[float] = []

    def velocity(x: Any, y: Any, t: float) -> tuple[float, float]:
        times.append(t)
        return 0.01 * t, 0.0

    domain = cavity((6, 5), "D2Q9")
    domain.faces["+y"] = lbm.MovingWall(velocity)
    solver = lbm.Solver(domain, lbm.BGK(0.1))
    solver.step(3)
    solver.run(2)
    assert times == [0.0, 1.0, 2.0, 3.0, 4.0]
    assert all(isinstance(t, float) for t in times)


def test_changing_value_is_used_at_its_step() -> None:
    def flow(t_on: float) -> Any:
        domain = cavity((6, 5), "D2Q9")
        domain.faces["+y"] = lbm.MovingWall(lambda x, y, t: (0.05 if t >= t_on else 0.0, 0))
        return lbm.Solver(domain, lbm.BGK(0.1))

    solver = flow(2)
    solver.step(2)
    np.testing.assert_array_equal(solver.velocity(), 0)
    solver.step(1)
    assert solver.velocity()[0].max() > 0


def test_changing_value_out_of_range_is_named_with_its_time() -> None:
    domain = cavity((6, 5), "D2Q9")
    domain.faces["+y"] = lbm.MovingWall(lambda x, y, t: (0.1 * t, 0))
    solver = lbm.Solver(domain, lbm.BGK(0.1))
    with pytest.raises(ValueError, match=r"velocity of faces\['\+y'\] at t = 2.*Mach"):
        solver.step(5)
    assert solver.steps == 2


def spin(x: Any, y: Any, z: Any) -> tuple[Any, Any, float]:
    """A rotation about the z axis through (3, 3)."""
    return -0.01 * (y - 3), 0.01 * (x - 3), 0.0


def test_body_velocity_of_each_kind() -> None:
    shape = (9, 8, 7)
    mask = cube(shape)
    grid = np.meshgrid(*(np.arange(n) + 0.5 for n in shape), indexing="ij")
    array = np.broadcast_arrays(*spin(*grid))
    results = []
    for velocity in (np.array(array), spin, lambda x, y, z, t: spin(x, y, z)):
        domain = lbm.Domain(shape)
        domain.add_body(mask, "rotor", lbm.MovingWall(velocity))
        solver = lbm.Solver(domain, lbm.BGK(0.1), precision="float64")
        solver.step(5)
        results.append(solver.velocity())
    np.testing.assert_allclose(results[0][:, mask], np.array(array)[:, mask], atol=1e-15)
    assert np.abs(results[0][:, ~mask]).max() > 1e-4
    for other in results[1:]:
        np.testing.assert_array_equal(results[0], other)
    assert solver.body_torque("rotor")[2] < 0


@pytest.mark.parametrize("force", [(1e-5, 2e-5), np.full((2, 6, 5), 1e-5), lambda x, y: (1e-6 * y, 1e-6 * x)])
def test_force_accelerates_at_its_rate(force: Any) -> None:
    solver = lbm.Solver(lbm.Domain((6, 5), "D2Q9"), lbm.BGK(0.1), force=force, precision="float64")
    solver.step(10)
    assert solver.force is not None
    total = np.broadcast_to(solver.force.reshape(2, -1), (2, 30)).sum(axis=1)
    first = solver.momentum()
    np.testing.assert_allclose(first, 10 * total, atol=0.6 * total.max())
    solver.step(10)
    np.testing.assert_allclose(solver.momentum() - first, 10 * total, rtol=1e-9)


def test_force_can_be_taken_away() -> None:
    solver = lbm.Solver(lbm.Domain((6, 5), "D2Q9"), lbm.BGK(0.1), force=(1e-5, 0), precision="float64")
    solver.step(10)
    solver.force = None
    assert solver.force is None
    solver.step(1)
    before = solver.momentum()
    solver.step(5)
    np.testing.assert_allclose(solver.momentum(), before, rtol=1e-10)


def test_domain_of_solver_does_not_change() -> None:
    domain = cavity((6, 5), "D2Q9")
    solver = lbm.Solver(domain, lbm.BGK(0.1))
    domain.faces["-x"] = lbm.FreeSlip()
    assert solver.domain.faces["-x"] == lbm.NoSlip()
    with pytest.raises(TypeError, match=r"faces\['-x'\]: changed in the domain of a solver.*make a new Solver"):
        solver.domain.faces["-x"] = lbm.FreeSlip()
    assert solver.domain.faces["-x"] == lbm.NoSlip()


def test_conditions_compare_by_value() -> None:
    assert lbm.MovingWall((0.1, 0)) == lbm.MovingWall(np.array([0.1, 0]))
    assert lbm.MovingWall((0.1, 0)) != lbm.MovingWall((0.2, 0))
    assert lbm.MovingWall((0.1, 0)) != lbm.VelocityInlet((0.1, 0))
    assert lbm.VelocityInlet(spin) == lbm.VelocityInlet(spin)
    assert lbm.NoSlip() == lbm.NoSlip() != lbm.FreeSlip()
    assert len({lbm.NoSlip(), lbm.NoSlip(), lbm.Periodic()}) == 2
    with pytest.raises(AttributeError):
        lbm.MovingWall((0.1, 0)).velocity = (0, 0)  # type: ignore[misc]


def test_masks_are_copied() -> None:
    domain = lbm.Domain((8, 8), "D2Q9")
    mask = cube((8, 8))
    domain.add_body(mask)
    mask[:] = False
    assert domain.bodies["body 1"].mask.sum() == 4
    assert domain.solid.sum() == 4
