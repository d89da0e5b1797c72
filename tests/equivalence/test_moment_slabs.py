"""Cells that keep moments in one lattice, updated slab by slab, have the bits of those in two."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reference.cases import random_fields
from reference.moment_cases import KINDS, STENCILS, case_of, lasting, state_of, with_cuts, with_walls
from reference.moment_forces import FORCES, forced

import lbmgpu as lbm
from lbmgpu import _core
from lbmgpu.solver.solver import simulation_of

from .test_moment_state import cut
from .test_moment_sweeps import divided

LONG = {"D2Q9": (9, 303), "D3Q19": (6, 5, 101), "D3Q27": (5, 4, 71)}
"""Domains of several slabs along the last axis, the more the less memory is missed."""
DEPTH = {2: 6, 3: 2}
BODIES = {"walls": with_walls, "cuts": with_cuts}
CALLS = (1, 6, 5, 12)


def made(rng: np.random.Generator, stencil: str, kind: str, walls: str, **options: Any) -> Any:
    make: Any = {"periodic": partial(case_of, forced=True), **BODIES}[walls]
    return make(rng, stencil, kind, shape=LONG[stencil], **options)


def check_bits(case: Any, precision: str, *others: dict[str, Any]) -> None:
    """A case in one lattice has the bits of two, on the devices and in the blocks of `others`."""
    options: dict[str, Any] = {"state": "moments", "precision": precision}
    expected = case.solver(device="cpu", threads=1, **options)
    found = [case.solver(streaming="in-place", **{"device": "auto", **options, **other}) for other in others]
    assert {solver.streaming for solver in found} == {"in-place"}
    for steps in CALLS:
        for solver in (expected, *found):
            solver.step(steps)
        for solver, other in zip(found, others, strict=True):
            assert state_of(solver) == state_of(expected), (other, steps)
    for solver in found:
        np.testing.assert_array_equal(solver.populations(), expected.populations())
        np.testing.assert_array_equal(solver.velocity(), expected.velocity())


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("walls", ["periodic", *BODIES])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("stencil", STENCILS)
def test_one_lattice_has_the_bits_of_two(stencil, kind, walls, precision, rng):
    for smagorinsky in (0.0, 0.15):
        case = made(rng, stencil, kind, walls, smagorinsky=smagorinsky)
        check_bits(case, precision, {"device": "cpu", "threads": 1}, {"device": "cpu", "threads": 3})


@pytest.mark.parametrize("walls", [False, True], ids=["periodic", "walls"])
@pytest.mark.parametrize("which", FORCES)
@pytest.mark.parametrize("stencil", STENCILS)
def test_with_forces_that_vary(stencil, which, walls, rng):
    check_bits(forced(rng, stencil, KINDS[1], which, walls, LONG[stencil]), "float32", {"device": "cpu"})


@pytest.mark.parametrize("walls", ["periodic", *BODIES])
@pytest.mark.parametrize("stencil", STENCILS)
def test_in_blocks(stencil, walls, rng):
    """Also such as have several slabs each, and are cut across other axes."""
    case = made(rng, stencil, KINDS[0], walls)
    last = (190,) if stencil == "D2Q9" else (40,)
    layouts = [cut(case.shape, *([()] * (len(case.shape) - 1)), last), cut(case.shape, (3,), *([()] * 2))]
    layouts.append(cut(case.shape, (2,), last, ()) if len(case.shape) == 2 else cut(case.shape, (), (2,), last))
    check_bits(case, "float32", *({"layout": layout, "schedule": "overlap"} for layout in layouts))


@pytest.mark.parametrize("walls", ["periodic", *BODIES])
@pytest.mark.parametrize("stencil", STENCILS)
def test_a_checkpoint_continues_in_the_other_streaming(stencil, walls, rng, tmp_path: Path, device):
    case = lasting(partial(made, rng, stencil, KINDS[1], walls), 24)
    both = ("in-place", "two-lattice")
    for own, other in (both, both[::-1]):
        solver = case.solver(state="moments", precision="float32", device=device, streaming=own)
        solver.step(7)
        solver.save(tmp_path / f"{own}.h5")
        given = {"domain": case.domain()} if walls == "cuts" else {}  # a file cannot hold functions of their links
        loaded = lbm.Solver.load(tmp_path / f"{own}.h5", device="cpu", **given)
        assert (loaded.state, loaded.streaming) == ("moments", own)
        restored = case.solver(state="moments", precision="float32", device=device, streaming=other)
        restored.step(1)  # so that the next update goes the other way
        restored.restore(tmp_path / f"{own}.h5")
        for one in (solver, loaded, restored):
            one.step(8)
            assert state_of(one) == state_of(solver)


@pytest.mark.parametrize("number", [16, 31, 32, 33, 64, 65, 97, 129, 200])
@pytest.mark.parametrize("stencil", ["D2Q9", "D3Q19"])
def test_any_number_of_layers(stencil, number, rng):
    shape = (5, 3, number)[-int(stencil[1]) :]
    check_bits(case_of(rng, stencil, KINDS[0], True, shape), "float32", {"device": "cpu", "threads": 2})


@pytest.mark.parametrize("stencil", STENCILS)
def test_the_memory_is_that_of_one_lattice_and_a_part(stencil):
    dimensions = int(stencil[1])
    shape = (8192, 8192) if dimensions == 2 else (512, 512, 512)
    cells = np.prod(shape)

    def needed(streaming: str, device: str) -> float:
        numbers = ("float32", "float32", streaming, device)
        return _core.Engine.memory_needed(stencil, shape, *numbers, state="moments")[device] / cells

    for device in ("cpu", "cuda:0"):
        assert needed("in-place", device) < (0.63 if dimensions == 2 else 0.6) * needed("two-lattice", device)
    if dimensions == 3:
        assert needed("in-place", "cuda:0") < 51
    domain = lbm.Domain((20, 30, 200)[:dimensions], stencil)
    solver = lbm.Solver(domain, lbm.Regularized(0.1), state="moments", streaming="in-place", device="cpu", threads=1)
    engine = simulation_of(solver).engine
    lattices = engine.memory_needed(stencil, domain.shape, "float32", "float32", "in-place", state="moments")["cpu"]
    more = solver.report(bandwidth=False).memory_bytes - lattices
    two = lbm.Solver(domain, lbm.Regularized(0.1), state="moments", device="cpu", threads=1)
    both = engine.memory_needed(stencil, domain.shape, "float32", "float32", "two-lattice", state="moments")["cpu"]
    assert 0 < more <= two.report(bandwidth=False).memory_bytes - both + 4096


@pytest.mark.gpu
@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("walls", ["periodic", *BODIES])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("stencil", STENCILS)
def test_a_gpu_has_the_bits_of_a_cpu(stencil, kind, walls, precision, rng, gpu):
    case = lasting(partial(made, rng, stencil, kind, walls), sum(CALLS))
    check_bits(case, precision, {"device": gpu})


@pytest.mark.gpu
@pytest.mark.parametrize("walls", [False, True], ids=["periodic", "walls"])
@pytest.mark.parametrize("which", FORCES)
@pytest.mark.parametrize("stencil", STENCILS)
def test_a_gpu_with_forces_that_vary(stencil, which, walls, rng, gpu):
    case = lasting(partial(forced, rng, stencil, KINDS[1], which, walls, LONG[stencil]), sum(CALLS))
    check_bits(case, "float32", {"device": gpu})


@pytest.mark.gpu
@pytest.mark.parametrize("walls", ["periodic", *BODIES])
@pytest.mark.parametrize("stencil", STENCILS)
def test_in_blocks_on_gpus(stencil, walls, rng, gpu):
    """A block's next update overwrites what others copy."""
    case = lasting(partial(made, rng, stencil, KINDS[0], walls), sum(CALLS))
    last = 190 if len(case.shape) == 2 else 40
    others = [
        {"layout": divided(case.shape, at, *devices), "channel": channel}
        for at in ((*(0,) * (len(case.shape) - 1), last), (2, 1, last)[-len(case.shape) :])
        for devices in ((gpu,), (gpu, "cpu"))
        for channel in ("auto", "staged")
    ]
    check_bits(case, "float32", *others)


@pytest.mark.gpu
def test_recorded_steps_have_the_bits_of_others(rng, gpu):
    """Many steps at once are replayed from a recording, whose updates go both ways."""
    domain = lbm.Domain((10, 9, 101))
    domain.faces["-y"] = domain.faces["+y"] = lbm.NoSlip()
    domain.add_body(lbm.Sphere((5, 4.5, 40), 2.5), condition=lbm.NoSlip(scheme="halfway"))
    density, velocity = random_fields(rng, domain.shape)
    found = []
    for options in ({"device": "cpu"}, {"device": gpu, "streaming": "in-place"}):
        solver = lbm.Solver(domain, lbm.Regularized(0.1), state="moments", precision="float32", **options)
        solver.initialize(density=density, velocity=0.1 * velocity)
        for steps in (3, 170, 75):
            solver.step(steps)
        found.append(state_of(solver))
    assert found[0] == found[1]
