"""Forces that vary from cell to cell or in time, on cells that keep moments: the flow is that of the reference, in bits
that depend on nothing else."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reference.cases import in_reference_order
from reference.moment_cases import KINDS, SHAPES, STENCILS, state_of
from reference.moment_forces import FORCES, PULSE, at_step, forced

import lbmgpu as lbm

from .test_moment_state import check_layouts_threads_and_calls, layouts_of
from .test_moment_sweeps import check_gpu


@pytest.mark.parametrize("walls", [False, True], ids=["periodic", "walls"])
@pytest.mark.parametrize("which", FORCES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("stencil", STENCILS)
def test_the_flow_is_that_of_the_reference(stencil, kind, which, walls, rng, device):
    for number in range(3):
        shape = tuple(rng.integers(2, 10, len(SHAPES[stencil])).tolist()) if number else ()
        case = forced(rng, stencil, kind, which, walls, shape, smagorinsky=0.1 if number == 1 else 0.0)
        solver, fluid = case.solver(state="moments", device=device), case.fluid()
        reference = replace(case, force=None).reference()
        reference.f = in_reference_order(stencil, solver.populations())
        for step in range(20):
            reference.force = at_step(case, step)
            reference.step(1)
            if step in (0, 6):
                solver.step(step + 1 - solver.steps)
        solver.step(20 - solver.steps)
        found = in_reference_order(stencil, solver.populations())
        np.testing.assert_allclose(found[:, fluid], reference.f[:, fluid], rtol=0, atol=1e-12)
        reference.force = at_step(case, 20)  # half of the present one is in the velocity
        np.testing.assert_allclose(solver.density()[fluid], reference.density()[fluid], rtol=0, atol=1e-11)
        np.testing.assert_allclose(solver.velocity()[:, fluid], reference.velocity()[:, fluid], rtol=0, atol=1e-11)


@pytest.mark.parametrize("walls", [False, True], ids=["periodic", "walls"])
@pytest.mark.parametrize("which", FORCES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("stencil", STENCILS)
def test_bits_depend_on_no_layout_threads_or_calls(stencil, kind, which, walls, rng):
    case = forced(rng, stencil, kind, which, walls)
    check_layouts_threads_and_calls(case)


@pytest.mark.parametrize("which", FORCES)
@pytest.mark.parametrize("stencil", STENCILS)
def test_mirrored_forces_on_mirrored_flows(stencil, which, rng, device):
    """Free slip is a plane of symmetry: with the force on both sides of it the flow is that of half the domain."""
    shape = (6, 5) if stencil == "D2Q9" else (6, 5, 4)
    for axis in range(len(shape)):
        half = forced(rng, stencil, "recursive-regularized", which, False, shape)
        half.faces = [("free-slip" if k // 2 == axis else "periodic", None) for k in range(2 * len(shape))]
        sign = np.ones(len(shape))
        sign[axis] = -1
        signs = sign.reshape(-1, *[1] * len(shape))

        def doubled(field: Any, signs: Any = 1, axis: int = axis) -> Any:
            lead = field.ndim - len(shape)
            return np.concatenate([field, signs * np.flip(field, axis + lead)], axis + lead)

        part = np.asarray(half.force if which == "field" else half.force.spatial, float)
        everywhere = np.zeros((len(shape), *shape)) + (part if part.ndim > 1 else part.reshape(signs.shape))
        force = doubled(everywhere, signs)
        size = tuple(2 * n if a == axis else n for a, n in enumerate(shape))
        whole = replace(half, shape=size, faces=[], density=doubled(half.density))
        whole.velocity, whole.force = doubled(half.velocity, signs), force if which == "field" else force * PULSE
        one, other = half.solver(state="moments", device=device), whole.solver(state="moments", device=device)
        one.step(13)
        other.step(13)
        inside = tuple(slice(0, n) for n in shape)
        np.testing.assert_allclose(one.populations(), other.populations()[(..., *inside)], rtol=0, atol=1e-13)


@pytest.mark.parametrize("which", FORCES)
@pytest.mark.parametrize("kind", KINDS)
def test_a_checkpoint_continues_bit_for_bit(kind, which, rng, tmp_path: Path, device):
    case = forced(rng, "D3Q19", kind, which, True)
    solver = case.solver(state="moments", precision="float32", device=device)
    solver.step(3)
    solver.save(tmp_path / "state.h5")
    loaded = lbm.Solver.load(tmp_path / "state.h5", device="cpu")
    assert loaded.state == "moments"
    np.testing.assert_array_equal(loaded.populations(), solver.populations())
    for one in (loaded, solver):
        one.step(4)
    assert state_of(loaded) == state_of(solver)
    np.testing.assert_array_equal(loaded.velocity(), solver.velocity())


@pytest.mark.parametrize("which", FORCES)
@pytest.mark.parametrize("kind", KINDS)
def test_checkpoints_move_between_populations_and_moments(kind, which, rng, tmp_path: Path):
    """The populations are those of the force with which the state was made."""
    case = forced(rng, "D3Q19", kind, which, True)
    fluid = case.fluid()
    for state, other in (("moments", "populations"), ("populations", "moments")):
        solver = case.solver(state=state)
        solver.step(3)
        solver.save(tmp_path / f"{state}.h5")
        loaded = lbm.Solver.load(tmp_path / f"{state}.h5", device="cpu", state=other)
        for steps in (0, 10):
            solver.step(steps)
            loaded.step(steps)
            found, expected = loaded.populations()[:, fluid], solver.populations()[:, fluid]
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("which", ["in time", "field in time"])
@pytest.mark.parametrize("stencil", STENCILS)
def test_the_bits_are_those_of_a_loop_that_assigns(stencil, which, rng, device):
    """Of a regularized state, whose populations do not depend on the force with which it was made."""
    case = forced(rng, stencil, "regularized", which, True)
    options: dict[str, Any] = {"state": "moments", "precision": "float32", "device": device}
    part = np.asarray(case.force.spatial)
    solver = case.solver(**options)
    loop = replace(case, force=part * PULSE(0.0)).solver(**options)
    solver.step(9)
    for step in range(9):
        loop.force = part * PULSE(float(step))
        loop.step(1)
    loop.force = part * PULSE(9.0)
    assert state_of(loop) == state_of(solver)
    np.testing.assert_array_equal(loop.velocity(), solver.velocity())
    np.testing.assert_array_equal(loop.force, solver.force)


@pytest.mark.parametrize("which", FORCES)
def test_readers_see_the_force(which, rng, device):
    """Sums, probes, statistics and histories of forces are those of the populations."""
    case = forced(rng, "D3Q19", "regularized", which, True)
    found = []
    for options in ({"device": "cpu"}, {"device": device, "state": "moments"}):
        solver = case.solver(**options)
        probe, mean = lbm.Probe([(3.2, 2.5, 1.5), (9.5, 6.1, 3.3)]), lbm.Mean("velocity", "density")
        force = lbm.Forces("body 1")
        solver.record(probe, mean, force, every=3)
        solver.run(10)
        numbers = [solver.mass(), solver.momentum(), solver.kinetic_energy(), probe["velocity"], probe["density"]]
        found.append([*numbers, mean["velocity"], mean["density"], force["force"], force["torque"]])
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-12, atol=1e-12)


def test_a_force_may_come_and_go(rng, device):
    case = forced(rng, "D3Q19", "regularized", "field", True)
    solver, other = case.solver(state="moments", device=device), case.solver(device="cpu")
    uniform = np.array([1e-4, -2e-4, 3e-4])
    for force in (None, uniform, case.force * PULSE, uniform * PULSE, case.force, uniform):
        for one in (solver, other):
            one.force = force
            one.step(3)
        fluid = case.fluid()
        np.testing.assert_allclose(solver.velocity()[:, fluid], other.velocity()[:, fluid], rtol=0, atol=1e-12)
        if force is None:
            assert solver.force is None
        else:
            np.testing.assert_allclose(solver.force, other.force)


def test_a_field_of_a_function_and_of_float32(rng, device):
    shape = (9, 7)
    domain = lbm.Domain(shape, "D2Q9")
    made = []
    for state in ("moments", "populations"):
        solver = lbm.Solver(
            domain,
            lbm.RecursiveRegularized(0.05),
            state=state,
            device=device if state == "moments" else "cpu",
            precision="float64",
            force=lambda x, y: (1e-4 * np.sin(x), 1e-4 * np.cos(y + x)),
        )
        solver.step(15)
        made.append(solver.velocity())
    np.testing.assert_allclose(*made, rtol=0, atol=1e-14)


SIZES = {
    "D2Q9": [(137, 23), (64, 70), (8, 7)],
    "D3Q19": [(70, 25, 13), (131, 3, 9), (6, 4, 5)],
    "D3Q27": [(66, 13, 11), (3, 30, 8), (4, 6, 3)],
}


@pytest.mark.gpu
@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("walls", [False, True], ids=["periodic", "walls"])
@pytest.mark.parametrize("which", FORCES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("stencil", STENCILS)
def test_a_gpu_has_the_bits_of_a_cpu(stencil, kind, which, walls, precision, rng, gpu):
    for number, shape in enumerate(SIZES[stencil]):
        case = forced(rng, stencil, kind, which, walls, shape, smagorinsky=0.15 * (number % 2))
        check_gpu(case, gpu, precision)


@pytest.mark.gpu
@pytest.mark.parametrize("walls", [False, True], ids=["periodic", "walls"])
@pytest.mark.parametrize("which", FORCES)
@pytest.mark.parametrize("stencil", STENCILS)
def test_layouts_with_gpus_have_the_bits_of_one_block(stencil, which, walls, rng, gpu):
    case = forced(rng, stencil, KINDS[1], which, walls)
    options: dict[str, Any] = {"state": "moments", "precision": "float32"}
    solver = case.solver(device="cpu", **options)
    solver.step(9)
    for layout in layouts_of(case.shape)[::2]:
        for devices in ((gpu,), (gpu, "cpu")):
            blocks = [replace(block, device=devices[k % len(devices)]) for k, block in enumerate(layout)]
            for schedule in ("overlap", "blocking"):
                other = case.solver(layout=lbm.Layout(blocks), schedule=schedule, device="auto", **options)
                other.step(9)
                assert state_of(other) == state_of(solver), (layout, devices, schedule)
