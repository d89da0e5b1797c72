"""Values of faces and bodies that change in time, on cells that keep moments: the flow is that of populations, in bits
that depend on nothing else."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reference.moment_cases import SHAPES, STENCILS, state_of

import lbmgpu as lbm
from lbmgpu.solver.solver import simulation_of

from .test_moment_state import layouts_of

PULSE = lbm.Sine(mean=0.3, amplitude=0.7, period=7.3, phase=0.2)
RISE = lbm.Ramp(-0.3, 1, 9, shape="cosine", begin=2)
KINDS = ["factors", "functions", "functions and a force", "factors at distances", "functions at distances"]
"""Of values; the last ones also of the walls of a body at known distances."""


def moved(shape: tuple[int, ...], kind: str, rng: np.random.Generator, inlet: str = "x") -> Callable[..., lbm.Solver]:
    """Between an inlet and an outlet, walls of which one moves or free slip, and two bodies of which one turns."""
    dimensions = len(shape)
    domain = lbm.Domain(shape, "D2Q9" if dimensions == 2 else "D3Q19")
    axis = "xyz".index(inlet)
    along = np.eye(dimensions)[axis]
    across = "xyz"[(axis + 1) % dimensions]
    profile = 0.03 * rng.uniform(0.5, 1, (dimensions, *np.delete(shape, axis)))
    force: Any = rng.uniform(-1e-3, 1e-3, dimensions)
    wall: Any = 0.02 * (1 - along)

    def velocity(*at: Any, t: float) -> list[Any]:
        return [0.02 * np.sin(0.3 * t + sum(at) + d) * np.ones(np.shape(at[0])) for d in range(dimensions)]

    def density(*at: Any, t: float) -> Any:
        return 1 + 0.01 * np.cos(0.2 * t + at[-1])

    if kind.startswith("factors"):
        domain.faces["-" + inlet] = lbm.VelocityInlet(profile * PULSE, scheme="bounce-back")
        domain.faces["+" + inlet] = lbm.PressureOutlet(lbm.Sine(mean=1, amplitude=0.01, period=5.5))
        domain.faces["-" + across] = lbm.MovingWall(wall * RISE)
    else:
        domain.faces["-" + inlet] = lbm.VelocityInlet(velocity, scheme="bounce-back")
        domain.faces["+" + inlet] = lbm.PressureOutlet(density)
        domain.faces["-" + across] = lbm.MovingWall(velocity)
        force = force * PULSE if "force" in kind else force
    domain.faces["+" + across] = lbm.FreeSlip()
    cells = np.indices(shape)
    middle = np.array([n // 2 for n in shape])
    ball = ((cells - middle.reshape(-1, *[1] * dimensions)) ** 2).sum(axis=0) < 5
    spin: Any = velocity if "functions" in kind else (0.02 * (1 - along)) * PULSE
    if "distances" in kind:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", lbm.GeometryWarning)  # it is small
            domain.add_body(lbm.Sphere(tuple(middle + 0.4), 2.3), "ball", lbm.MovingWall(spin))
    else:
        domain.add_body(ball, "ball", lbm.MovingWall(spin, scheme="halfway"))
    corner = (cells < 2).all(axis=0)
    domain.add_body(corner, "corner", lbm.NoSlip(scheme="halfway"))
    start = 0.02 * rng.uniform(-1, 1, (dimensions, *shape))

    def make(**options: Any) -> lbm.Solver:
        given = {"device": "cpu", "precision": "float64", "force": force} | options
        solver = lbm.Solver(domain, lbm.RecursiveRegularized(0.02), **given)
        solver.initialize(velocity=start)
        return solver

    return make


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("stencil", "inlet"), [("D2Q9", "x"), ("D2Q9", "y"), ("D3Q19", "x"), ("D3Q19", "y"), ("D3Q19", "z")]
)
def test_the_flow_is_that_of_populations(stencil, inlet, kind, rng, device):
    make = moved(SHAPES[stencil], kind, rng, inlet)
    solver, other = make(state="moments", device=device), make()
    values = np.empty((lbm.stencil(solver.domain.stencil).Q, *reversed(solver.domain.shape)))
    simulation_of(solver).engine.populations(values)  # projected
    simulation_of(other).engine.set_populations(values)
    fluid = ~solver.solid
    for steps in (1, 6, 13):
        solver.step(steps)
        other.step(steps)
        found, expected = solver.populations()[:, fluid], other.populations()[:, fluid]
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
        np.testing.assert_allclose(solver.body_force("ball"), other.body_force("ball"), rtol=0, atol=1e-11)
        np.testing.assert_allclose(solver.velocity(), other.velocity(), rtol=0, atol=1e-11)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("stencil", STENCILS[:2])
def test_bits_depend_on_no_layout_threads_or_calls(stencil, kind, rng):
    make = moved(SHAPES[stencil], kind, rng)
    options: dict[str, Any] = {"state": "moments", "precision": "float32"}
    others: list[dict[str, Any]] = [{"threads": 3}, {"streaming": "in-place"}]
    for layout in layouts_of(SHAPES[stencil]):
        others += [{"layout": layout, "schedule": how, "device": "auto"} for how in ("overlap", "blocking")]
        others.append({"layout": layout, "streaming": "in-place", "device": "auto"})
    solver = make(**options, threads=1)
    for steps in (1, 2, 5, 4, 3):
        solver.step(steps)
    for other in others:
        one = make(**(options | other))
        one.step(15)
        assert state_of(one) == state_of(solver), other


@pytest.mark.parametrize("kind", KINDS)
def test_a_restored_solver_continues_bit_for_bit(kind, rng, tmp_path: Path, device):
    make = moved(SHAPES["D3Q19"], kind, rng)
    solver = make(state="moments", precision="float32", device=device)
    solver.step(3)
    solver.save(tmp_path / "state.h5")
    restored = make(state="moments", precision="float32")
    restored.restore(tmp_path / "state.h5")
    for one in (restored, solver):
        one.step(4)
    assert state_of(restored) == state_of(solver)


@pytest.mark.gpu
@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("inlet", ["x", "y"])
@pytest.mark.parametrize("stencil", STENCILS[:2])
def test_a_gpu_has_the_bits_of_a_cpu(stencil, inlet, kind, precision, rng, gpu):
    shape = (137, 23) if stencil == "D2Q9" else (83, 16, 6)
    make = moved(shape, kind, rng, inlet)
    options: dict[str, Any] = {"state": "moments", "precision": precision}
    solver = make(**options)
    others = [make(streaming=streaming, **(options | {"device": gpu})) for streaming in ("two-lattice", "in-place")]
    for steps in (1, 6, 5):
        solver.step(steps)
        for other in others:
            other.step(steps)
            assert state_of(solver) == state_of(other), (other.streaming, steps)
    for other in others:
        np.testing.assert_allclose(solver.body_force("ball"), other.body_force("ball"), rtol=1e-4, atol=1e-7)


@pytest.mark.gpu
@pytest.mark.parametrize("kind", KINDS)
def test_layouts_with_gpus_have_the_bits_of_one_block(kind, rng, gpu):
    make = moved(SHAPES["D3Q19"], kind, rng)
    options: dict[str, Any] = {"state": "moments", "precision": "float32"}
    solver = make(**options)
    solver.step(9)
    for layout in layouts_of(SHAPES["D3Q19"])[::3]:
        blocks = [replace(block, device=(gpu, "cpu")[k % 2]) for k, block in enumerate(layout)]
        other = make(layout=lbm.Layout(blocks), **(options | {"device": "auto"}))
        other.step(9)
        assert state_of(other) == state_of(solver), layout
