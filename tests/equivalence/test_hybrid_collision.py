"""The hybrid recursive regularised collision: against the NumPy reference, and to the last bit among layouts."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from reference import STENCILS, Collision, Heat
from reference.cases import CLASSES, Case, one_pair, random_bodies, random_faces, random_fields
from reference.registry import STREAMINGS, THERMAL_STENCILS, by_dimension
from reference.thermal_cases import ThermalCase
from reference.turbulence import Turbulence

import lbmgpu as lbm

from .test_reference_equality import assert_same

SHAPES = by_dimension((9, 7), (7, 5, 4))
NUMBERS = [("float32", "float32"), ("float64", "float64"), ("float32", "float16"), ("float64", "float32")]
MODELS = {
    "alone": (0.0, None),
    "smagorinsky": (0.2, None),
    "wale": (0.0, Turbulence("wale", 0.5)),
    "vreman": (0.0, Turbulence("vreman", 0.07)),
}
"""The Smagorinsky constant and the model of velocity gradients beside the collision."""


def random_case(
    rng: np.random.Generator,
    stencil: str,
    shape: tuple[int, ...],
    model: str = "alone",
    *,
    sigma: float = 0.7,
    walls: bool = True,
) -> Case:
    """Speeds that differ from cell to cell, for large gradients; all kinds of face."""
    density, velocity = random_fields(rng, shape, speed=0.05)
    constant, turbulence = MODELS[model]
    return Case(
        stencil,
        shape,
        Collision("recursive-regularized", 0.02, smagorinsky=constant, hybrid=sigma),
        faces=random_faces(rng, shape, speed=0.02) if walls else (),
        bodies=random_bodies(rng, shape, speed=0.02) if walls else (),
        force=rng.uniform(-1e-4, 1e-4, (len(shape), *shape)),
        density=density,
        velocity=velocity,
        turbulence=turbulence,
    )


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("sigma", [0.2, 0.98])
@pytest.mark.parametrize("streaming", STREAMINGS)
@pytest.mark.parametrize("name", STENCILS)
def test_a_periodic_box(name, streaming, sigma, model, device, rng):
    """With an eddy viscosity the whole of it is in the relaxation time of the expanded stress."""
    case = random_case(rng, name, SHAPES[name], model, sigma=sigma, walls=False)
    assert_same(case, case.solver(streaming=streaming, device=device))


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("kind", [k for k in CLASSES if k != "periodic"])
@pytest.mark.parametrize("name", STENCILS)
def test_one_pair_of_faces(name, kind, axis, device, rng):
    """What a gradient finds behind each condition, whose cells may change as a whole too."""
    shape = SHAPES[name]
    kinds = one_pair(kind, axis, len(shape))
    density, velocity = random_fields(rng, shape)
    collision = Collision("recursive-regularized", 0.1, hybrid=0.8)
    case = Case(name, shape, collision, random_faces(rng, shape, kinds), density=density, velocity=velocity)
    assert_same(case, case.solver(device=device))


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("streaming", STREAMINGS)
@pytest.mark.parametrize("name", STENCILS)
def test_random_faces_and_bodies(name, streaming, model, device, rng):
    """Walls, inlets, outlets and bodies, at rest and moving, everywhere."""
    case = random_case(rng, name, SHAPES[name], model)
    assert_same(case, case.solver(streaming=streaming, device=device))


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("streaming", STREAMINGS)
@pytest.mark.parametrize("name", THERMAL_STENCILS)
def test_with_a_temperature(name, streaming, model, device, rng):
    """Of the hybrid thermal model, whose buoyancy is in the velocity and whose pressure is not in the stress."""
    shape = by_dimension((8, 6), (6, 5, 4))[name]
    density, velocity = random_fields(rng, shape)
    kinds = ["no-slip", "moving-wall", "periodic", "periodic", "periodic", "periodic"][: 2 * len(shape)]
    constant, turbulence = MODELS[model]
    heat = {"buoyancy": (0.0, 1e-3, 0.0)[: len(shape)], "faces": [1.0, 0.25, *[None] * 4][: 2 * len(shape)]}
    case = ThermalCase(
        name,
        shape,
        Collision("recursive-regularized", 0.05, smagorinsky=constant, hybrid=0.6),
        faces=random_faces(rng, shape, kinds),
        density=density,
        velocity=velocity,
        heat=Heat(0.04, **heat),
        temperature=0.5 + 0.5 * rng.uniform(-1, 1, shape),
        turbulence=turbulence,
    )
    assert_same(case, case.solver(streaming=streaming, device=device))


def layouts(shape: tuple[int, ...], device: str = "cpu") -> list[lbm.Layout]:
    """Cuts across each axis, and across all of them."""
    whole = [[(0, n)] for n in shape]
    halves = [[(0, n // 2), (n // 2, n)] for n in shape]
    cuts = [[halves[b] if a == b else whole[b] for b in range(len(shape))] for a in range(len(shape))]
    boxes = [list(itertools.product(*spans)) for spans in [*cuts, halves]]
    return [
        lbm.Layout([lbm.Block(tuple(a for a, _ in box), tuple(b - a for a, b in box), device=device) for box in each])
        for each in boxes
    ]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(("precision", "storage"), NUMBERS)
@pytest.mark.parametrize("name", STENCILS)
def test_layouts_streamings_and_threads_agree(name, precision, storage, model, rng):
    """To the last bit."""
    shape = (17, 8, 6)[: STENCILS[name].D]
    case = random_case(rng, name, shape, model)
    least = case.least_blocks()
    found = []
    for k, layout in enumerate([None, *layouts(shape), None]):
        if layout is not None and any(n // 2 < low + high for n, (low, high) in zip(shape, least, strict=True)):
            continue
        where = {"device": "cpu"} if layout is None else {"device": "auto", "layout": layout}
        options = {"precision": precision, "storage": storage, "streaming": STREAMINGS[k % 2], "threads": 1 + k % 2}
        solver = case.solver(**where, **options)
        solver.step(7)
        found.append(solver.populations()[:, case.fluid()])
    assert np.isfinite(found[0]).all()
    for other in found[1:]:
        np.testing.assert_array_equal(other, found[0])


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("steps", [0, 5, 6])
@pytest.mark.parametrize("streaming", STREAMINGS)
def test_a_restart_continues_to_the_bit(streaming, steps, model, device, tmp_path: Path, rng):
    """A file has the velocities of the last step; the other streaming takes it up."""
    precision, storage = NUMBERS[steps % 4]
    case = random_case(rng, "D3Q19", (9, 7, 6), model)
    numbers = {"precision": precision, "storage": storage}
    solver = case.solver(device=device, streaming=streaming, **numbers)
    solver.step(steps)
    solver.save(tmp_path / "state.h5")
    loaded = lbm.Solver.load(tmp_path / "state.h5", device=device)
    assert loaded.collision == solver.collision
    other = case.solver(device="cpu", streaming=next(s for s in STREAMINGS if s != streaming), **numbers)
    other.step(2)
    other.restore(tmp_path / "state.h5")
    for each in (solver, loaded, other):
        each.step(5)
    for continued in (loaded, other):
        np.testing.assert_array_equal(continued.populations(), solver.populations())


def test_a_new_state_brings_its_own_velocities(device, rng):
    """What was kept of another state does not act on one that is set."""
    case = random_case(rng, "D2Q9", (9, 8))
    fresh, used = (case.solver(device=device) for _ in range(2))
    used.step(6)
    used.initialize(density=case.density, velocity=case.velocity)
    for solver in (fresh, used):
        solver.step(7)
    np.testing.assert_array_equal(used.populations(), fresh.populations())


@pytest.mark.parametrize("name", STENCILS)
def test_a_part_of_one_is_the_collision_without_differences(name, device, rng):
    """To the last bit, whatever the faces."""
    case = random_case(rng, name, SHAPES[name])
    runs = []
    for hybrid in (None, 1.0):
        collision = lbm.RecursiveRegularized(0.02, hybrid=hybrid)
        solver = lbm.Solver(case.domain(), collision, force=case.force, device=device)
        solver.initialize(density=case.density, velocity=case.velocity)
        solver.step(9)
        runs.append(solver.populations())
    np.testing.assert_array_equal(runs[0], runs[1])


@pytest.mark.gpu
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("streaming", STREAMINGS)
@pytest.mark.parametrize("turn", range(4))
@pytest.mark.parametrize("name", STENCILS)
def test_a_gpu_holds_the_bits_of_a_cpu(name, turn, streaming, model, gpu, rng):
    """For axes that are periodic or not, rows of all widths, and runs that are recorded and replayed."""
    precision, storage = NUMBERS[turn]
    walls = [kind for kind in CLASSES if kind != "periodic"]
    periodic = [(turn + axis) % 3 == 0 or turn == 3 for axis in range(STENCILS[name].D)]
    for nx, steps in ((1, 5), (6, 41), (70, 6)):
        shape = (nx, 7, 5)[: STENCILS[name].D]
        kinds = [str(k) for p in periodic for k in (["periodic"] * 2 if p else rng.choice(walls, 2))]
        case = random_case(rng, name, shape, model, walls=False)
        case.faces = random_faces(rng, shape, kinds, speed=0.02)
        case.bodies = random_bodies(rng, shape, speed=0.02) if turn % 2 else ()
        options = {"precision": precision, "storage": storage, "streaming": streaming}
        solvers = [case.solver(device=device, **options) for device in ("cpu", gpu)]
        for solver in solvers:
            solver.step(steps)
        expected, found = (solver.populations()[:, case.fluid()] for solver in solvers)
        assert np.isfinite(expected).all()
        np.testing.assert_array_equal(found, expected)


@pytest.mark.gpu
@pytest.mark.parametrize("walls", [False, True])
@pytest.mark.parametrize("streaming", STREAMINGS)
def test_blocks_of_gpus_hold_the_bits_of_a_cpu(streaming, walls, gpu, rng):
    """Cut across each axis: velocities go with the populations."""
    shape = (18, 8, 6)
    case = random_case(rng, "D3Q19", shape, walls=walls)
    if walls and any(n // 2 < low + high for n, (low, high) in zip(shape, case.least_blocks(), strict=True)):
        case = random_case(rng, "D3Q19", shape, walls=False)
    alone = case.solver(device="cpu", precision="float32", streaming=streaming)
    alone.step(9)
    fluid = case.fluid()
    for layout in layouts(shape, gpu):
        solver = case.solver(device="auto", layout=layout, precision="float32", streaming=streaming)
        solver.step(9)
        np.testing.assert_array_equal(solver.populations()[:, fluid], alone.populations()[:, fluid])
