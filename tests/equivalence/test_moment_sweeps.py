"""The sweeps of a GPU over cells that keep moments have the bits of the CPU's, whatever their tiles."""

from __future__ import annotations

import itertools
import math
import os
import subprocess
import sys
from functools import partial
from typing import Any

import numpy as np
import pytest
from gpu_driver import emulated
from reference.cases import Case, random_fields
from reference.moment_cases import KINDS, MADE, STENCILS, lasting, state_of

import lbmgpu as lbm
from lbmgpu import _core
from lbmgpu.solver.solver import simulation_of

pytestmark = pytest.mark.gpu

WIDE = {"D2Q9": [(137, 23), (64, 70)], "D3Q19": [(70, 25, 13), (131, 3, 9)], "D3Q27": [(66, 13, 11), (3, 30, 8)]}


CALLS = (0, 1, 6, 5)


def divided(shape: tuple[int, ...], at: tuple[int, ...], *devices: str) -> lbm.Layout:
    """In two blocks along each axis that is cut, on devices in turn."""
    spans = [[(0, n)] if cut == 0 else [(0, cut), (cut, n)] for n, cut in zip(shape, at, strict=True)]
    boxes = itertools.product(*spans)
    return lbm.Layout(
        [
            lbm.Block(tuple(a for a, _ in box), tuple(b - a for a, b in box), device=devices[k % len(devices)])
            for k, box in enumerate(boxes)
        ]
    )


def check_gpu(case: Case, gpu: str, precision: str) -> None:
    """A case that keeps moments has the bits of a CPU there, of its state and of what is read of it."""
    options: dict[str, Any] = {"state": "moments", "precision": precision}
    solver = case.solver(device="cpu", **options)
    others = [case.solver(device=gpu, streaming=streaming, **options) for streaming in ("two-lattice", "in-place")]
    for steps in CALLS:
        for each in (solver, *others):
            simulation_of(each).advance(steps)
        for other in others:
            assert state_of(solver) == state_of(other), (case.shape, case.collision, other.streaming, steps)
    for other in others:
        np.testing.assert_array_equal(solver.velocity(), other.velocity())
        np.testing.assert_array_equal(solver.populations(), other.populations())


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("made", MADE)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("stencil", STENCILS)
def test_a_gpu_has_the_bits_of_a_cpu(stencil, kind, made, precision, rng, gpu):
    for shape in WIDE[stencil]:
        for smagorinsky in (0.0, 0.15):
            draw = partial(MADE[made], rng, stencil, kind, shape, smagorinsky=smagorinsky)
            check_gpu(lasting(draw, sum(CALLS)), gpu, precision)


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("made", ["walls", "cuts"])
def test_gpus_with_less_shared_memory_have_the_bits_of_a_cpu(made, precision):
    """Threads at walls keep less in it there, or nothing, and tiles have fewer rows."""
    emulated()
    test = f"{__file__}::test_a_gpu_has_the_bits_of_a_cpu[D3Q19-{KINDS[0]}-{made}-{precision}]"
    run = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "gpu", "--all", test]
    subprocess.run(run, env=os.environ | {"EMULATED_CUDA_SHARED": "99"}, check=True)


def between_faces(made: str, rng: np.random.Generator, stencil: str, kind: str, shape: tuple[int, ...]) -> Case:
    """A case whose faces along x are not periodic."""
    while True:
        case = MADE[made](rng, stencil, kind, shape)
        if case.faces[0][0] != "periodic":
            return case


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("made", ["walls", "cuts"])
@pytest.mark.parametrize("shape", [(83, 17, 7), (84, 33, 5), (97, 16, 6), (147, 18, 4), (83, 31, 7)], ids=str)
@pytest.mark.parametrize("stencil", ["D3Q19", "D3Q27"])
def test_faces_along_x_have_tiles_of_their_own(stencil, shape, made, precision, rng, gpu):
    """Rows are so long that tiles with warps along y lie at both ends, and the last tiles between them overlap."""
    draw = partial(between_faces, made, rng, stencil, KINDS[shape[1] % len(KINDS)], shape)
    check_gpu(lasting(draw, sum(CALLS)), gpu, precision)


@pytest.mark.parametrize("made", ["walls", "cuts"])
def test_faces_along_x_in_blocks(made, rng, gpu):
    """Some blocks have one of the faces, some have too few rows for tiles of their own there."""
    shape = (170, 36, 7)
    case = between_faces(made, rng, "D3Q19", KINDS[0], shape)
    options: dict[str, Any] = {"state": "moments", "precision": "float32"}
    solver = case.solver(device="cpu", **options)
    solver.step(5)
    for at in ((85, 0, 0), (0, 17, 0), (85, 30, 3)):
        other = case.solver(layout=divided(shape, at, gpu), device="auto", **options)
        other.step(5)
        assert state_of(other) == state_of(solver), at


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("ends", ["inlet and outlet", "free slip"])
@pytest.mark.parametrize("nx", [255, 256, 201])
def test_tiles_without_walls_beside_those_at_faces_along_x(nx, ends, precision, rng, gpu):
    """Of blocks that have both faces, one or none, with odd and even numbers of cells along x."""
    domain = lbm.Domain((nx, 30, 24), "D3Q19")
    inlet: list[Any] = [lbm.VelocityInlet((0.02, 0, 0)), lbm.PressureOutlet()]
    domain.faces["-x"], domain.faces["+x"] = inlet if "inlet" in ends else [lbm.FreeSlip(), lbm.FreeSlip()]
    domain.add_body(lbm.Sphere((40.3, 15.2, 12), 3.1), condition=lbm.NoSlip(scheme="halfway"))
    density, velocity = random_fields(rng, domain.shape)
    layouts = [lbm.Layout.split(domain.shape, parts, gpu) for parts in ((1, 1, 1), (2, 1, 1), (3, 1, 1))]
    found = []
    for layout in (None, *layouts):
        where: dict[str, Any] = {"device": "cpu"} if layout is None else {"layout": layout}
        solver = lbm.Solver(domain, lbm.Regularized(0.1), state="moments", precision=precision, **where)
        solver.initialize(density=density, velocity=0.3 * velocity)
        solver.step(11)
        found.append(state_of(solver))
    assert found[1:] == found[:1] * len(layouts)


@pytest.mark.parametrize("scheme", ["halfway", "interpolated"])
@pytest.mark.parametrize("stencil", ["D2Q9", "D3Q19"])
def test_numbers_of_cells_within_bodies_are_never_used(stencil, scheme, rng, gpu):
    """Nothing sweeps them: first ones stay, and in lattices that overlap those of other cells lie at their places."""
    dimensions = int(stencil[1])
    shape = (260, 230) if dimensions == 2 else (110, 50, 56)
    domain = lbm.Domain(shape, stencil)
    domain.faces["-x"], domain.faces["+x"] = lbm.VelocityInlet((0.03, 0, 0)[:dimensions]), lbm.PressureOutlet()
    radius = 80.2 if dimensions == 2 else 22.7
    domain.add_body(lbm.Sphere([n / 2 + 0.3 for n in shape], radius), condition=lbm.NoSlip(scheme=scheme), name="ball")
    density, velocity = random_fields(rng, shape)
    solvers = []
    for streaming, at in itertools.product(("two-lattice", "in-place"), (None, (60, 0, 0), (0, 21, 0), (55, 25, 27))):
        layout = None if at is None else divided(shape, at[:dimensions], gpu)
        where: dict[str, Any] = {"device": gpu} if layout is None else {"layout": layout}
        options: dict[str, Any] = {"state": "moments", "precision": "float32", "streaming": streaming}
        solvers.append(lbm.Solver(domain, lbm.Regularized(0.1), **options, **where))
    expected = lbm.Solver(domain, lbm.Regularized(0.1), state="moments", precision="float32", device="cpu")
    for solver in (expected, *solvers):
        solver.initialize(density=density, velocity=0.3 * velocity)
    state = np.frombuffer(state_of(expected), np.float32).reshape(-1, *reversed(shape)).copy()
    state[:, expected.solid.T] = np.nan
    for solver in solvers:
        simulation_of(solver).engine.set_state(state)
    for steps in (1, 6, 5):
        expected.step(steps)
        for solver in solvers:
            solver.step(steps)
            assert state_of(solver) == state_of(expected), (solver.streaming, steps)
            np.testing.assert_allclose(solver.body_force("ball"), expected.body_force("ball"), rtol=0, atol=1e-10)
            np.testing.assert_allclose(solver.momentum(), expected.momentum(), rtol=1e-12)
    for solver in solvers:
        np.testing.assert_array_equal(solver.populations(), expected.populations())
        np.testing.assert_array_equal(solver.velocity(), expected.velocity())


@pytest.mark.parametrize("made", MADE)
@pytest.mark.parametrize("stencil", STENCILS)
def test_layouts_with_gpus_have_the_bits_of_one_block(stencil, made, rng, gpu):
    shape = (26, 23) if stencil == "D2Q9" else (26, 15, 12)
    case = MADE[made](rng, stencil, KINDS[0], shape)
    options: dict[str, Any] = {"state": "moments", "precision": "float32"}
    solver = case.solver(device="cpu", **options)
    solver.step(9)
    cuts = [(11, 0, 0), (0, 9, 0), (5, 4, 0)] + ([(0, 0, 5), (13, 7, 6)] if len(shape) == 3 else [])
    for at in cuts:
        for devices in ((gpu,), (gpu, "cpu")):
            for schedule in ("overlap", "blocking"):
                layout = divided(shape, at[: len(shape)], *devices)
                other = case.solver(layout=layout, schedule=schedule, device="auto", **options)
                other.step(9)
                assert state_of(other) == state_of(solver), (at, devices, schedule)


@pytest.mark.parametrize("wall", [lbm.NoSlip(), lbm.PressureOutlet()], ids=["no-slip", "pressure-outlet"])
@pytest.mark.parametrize("cells", [1, 2, 3, 5])
def test_images_of_what_lies_behind_another_face_send_nothing(cells, wall, rng, gpu):
    """Where a sweep of several steps reaches through a face with free slip as far as the other face."""
    domain = lbm.Domain((cells, 9), "D2Q9")
    domain.faces["-x"], domain.faces["+x"] = lbm.FreeSlip(), wall
    density, velocity = random_fields(rng, domain.shape)
    found = []
    for device in ("cpu", gpu):
        solver = lbm.Solver(domain, lbm.Regularized(0.1), state="moments", device=device, precision="float32")
        solver.initialize(density=density, velocity=velocity)
        solver.step(12)
        found.append(state_of(solver))
    assert found[0] == found[1]


def test_recorded_steps_have_the_bits_of_others(rng, gpu):
    """Many steps at once are replayed from a recording; a callback, a new force or a sample ends it."""
    domain = lbm.Domain((34, 9, 8))
    domain.faces["-y"] = domain.faces["+y"] = lbm.NoSlip()
    domain.add_body(lbm.Sphere((12, 4.5, 4), 2.5))
    density, velocity = random_fields(rng, domain.shape)
    found = []
    for device in ("cpu", gpu):
        solver = lbm.Solver(domain, lbm.Regularized(0.1), state="moments", device=device, precision="float32")
        solver.initialize(density=density, velocity=0.1 * velocity)
        probe = lbm.Probe([(3.5, 2.5, 1.5)])
        solver.record(probe, every=30)
        solver.step(170)
        solver.force = np.array([1e-5, 0, 2e-5])
        solver.step(75)
        found.append((state_of(solver), probe["velocity"].tobytes()))
    assert found[0] == found[1]


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(34, 9, 8), (35, 24, 20), (70, 33), (130, 21)])
def test_links_that_are_served_beside_a_tile_keep_what_is_true(shape, precision, rng, gpu):
    """The last tile along a periodic axis comes round to the body, though none of its own cells is next to it."""
    domain = lbm.Domain(shape, "D3Q19" if len(shape) == 3 else "D2Q9")
    middle = (12.3, *(0.5 * n + 0.2 for n in shape[1:]))
    domain.add_body(lbm.Sphere(middle[: len(shape)], 2.7))
    density, velocity = random_fields(rng, shape)
    found = []
    for device in ("cpu", gpu):
        solver = lbm.Solver(domain, lbm.Regularized(0.1), state="moments", device=device, precision=precision)
        solver.initialize(density=density, velocity=0.1 * velocity)
        solver.step(41)
        found.append(state_of(solver))
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("made", "parts"),
    [*(("periodic", parts) for parts in [(1, 1, 2), (1, 2, 2), (1, 3, 1), (2, 1, 2)]), ("cuts", (1, 2, 2))],
    ids=str,
)
def test_halos_of_long_rows_have_the_bits_of_one_block(made, parts, rng, gpu):
    """Copies between blocks that are boxes of memory are the copy engine's; and rows beside a cut are swept in whole
    tiles, beside those of other cuts."""
    case = lasting(partial(MADE[made], rng, "D3Q19", KINDS[0], (140, 96, 12)), sum(CALLS))
    options: dict[str, Any] = {"state": "moments", "precision": "float32"}
    solver = case.solver(device="cpu", **options)
    names = [f"cuda:{k % _core.cuda_device_count()}" for k in range(math.prod(parts))]
    layout = lbm.Layout.split(case.shape, parts, names)
    others = [
        case.solver(layout=layout, device="auto", schedule=schedule, channel=channel, **options)
        for schedule in ("overlap", "blocking")
        for channel in ("auto", "staged")
    ]
    for steps in CALLS:
        for each in (solver, *others):
            simulation_of(each).advance(steps)
        for other in others:
            assert state_of(other) == state_of(solver), (steps, other.report(bandwidth=False).setup)
