"""The thermal model on D2Q37 against its NumPy reference, and what must not change a bit of it."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from reference.cases import reverse
from reference.d2q37 import moments
from reference.d2q37_cases import BOXES, WALLS, GasCase, in_gas_order, random_gas_case

import lbmgpu as lbm
from lbmgpu import _core

STEPS = 20
TOLERANCE = 1e-12
REACH = 3
PRECISIONS = ["float32", "float64"]
PLATES = [name for name in WALLS if name not in ("periodic", *BOXES)]
PLACED = [("periodic", 1), *itertools.product(PLATES, (0, 1)), *((name, 0) for name in BOXES)]
"""All kinds of walls, across y and across x, and boxes."""
placed = pytest.mark.parametrize(("walls", "axis"), PLACED, ids=[f"{w}-{'xy'[a]}" for w, a in PLACED])
fourth = pytest.mark.parametrize("fourth_order_diffusion", [False, True], ids=["second-order", "fourth-order"])


def assert_close(case: GasCase, solver: lbm.Solver, tolerance: float = TOLERANCE) -> None:
    """Run both; compare populations and fields at the start, and after odd and even numbers of steps."""
    reference = case.reference()
    for steps in (0, 1, STEPS - 1):
        solver.step(steps)
        reference.step(steps)
        np.testing.assert_allclose(in_gas_order(solver.populations()), reference.f, rtol=0, atol=tolerance)
        fields = (solver.density(), solver.velocity(), solver.temperature())
        for ours, theirs in zip(fields, reference.fields(), strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=0, atol=10 * tolerance)


def assert_same(one: lbm.Solver, other: lbm.Solver) -> None:
    """Every number is the same, and is one."""
    assert np.isfinite(one.populations()).all()
    for name in ("populations", "density", "velocity", "temperature"):
        ours, theirs = getattr(one, name)(), getattr(other, name)()
        assert ours.dtype == theirs.dtype
        np.testing.assert_array_equal(ours, theirs)
    for face in (face for face, condition in one.domain.faces.items() if not isinstance(condition, lbm.Periodic)):
        for by in ("exchange", "gradient"):
            np.testing.assert_array_equal(one.heat_flux(face, by), other.heat_flux(face, by))
            assert one.mean_heat_flux(face, by=by) == other.mean_heat_flux(face, by=by)


# The reference


@placed
@pytest.mark.parametrize("prandtl", [1.0, 0.71, 2.0])
@pytest.mark.parametrize("gravity", [False, True], ids=["weightless", "heavy"])
def test_equal_to_the_reference(walls, axis, prandtl, gravity, device, rng):
    """On smooth random states with an oblique gravity, to rounding."""
    case = random_gas_case(rng, (13, 10), walls, axis, prandtl=prandtl, gravity=gravity)
    assert_close(case, case.solver(device=device))


@placed
@pytest.mark.parametrize(("prandtl", "viscosity"), [(1.0, 0.04), (0.71, 0.1), (2.0, 0.5)])
def test_diffusion_of_fourth_order_is_equal_to_the_reference(walls, axis, prandtl, viscosity, device, rng):
    """Equal to the reference, with moments of fourth order in their own time and an oblique gravity."""
    case = random_gas_case(
        rng, (13, 10), walls, axis, prandtl=prandtl, viscosity=viscosity, fourth_order_diffusion=True
    )
    assert_close(case, case.solver(device=device))


@placed
@pytest.mark.parametrize("shape", [(3, 3), (3, 8), (7, 3), (4, 5), (33, 9), (70, 6)])
def test_any_shape(walls, axis, shape, device, rng):
    """Down to as many cells as the stencil reaches, rows of whole packs and others."""
    case = random_gas_case(rng, shape, walls, axis, prandtl=0.71)
    assert_close(case, case.solver(device=device))


@placed
@pytest.mark.parametrize("viscosity", [0.005, 0.02, 0.5, 1.5])
def test_any_viscosity(walls, axis, viscosity, device, rng):
    case = random_gas_case(rng, (9, 11), walls, axis, viscosity=viscosity)
    assert_close(case, case.solver(device=device))


@placed
@fourth
def test_single_precision(walls, axis, fourth_order_diffusion, device, rng):
    """float32 differs from the reference by its rounding."""
    case = random_gas_case(rng, (13, 10), walls, axis, prandtl=0.71, fourth_order_diffusion=fourth_order_diffusion)
    assert_close(case, case.solver(device=device, precision="float32"), tolerance=2e-6)


def test_fields_read_back(device, rng):
    """What `initialize` is given is what the fields are, also in a strong gravity."""
    case = random_gas_case(rng, (9, 8), "mixed", rough=True)
    case.gravity = (0.02, -0.03)
    solver = case.solver(device=device)
    np.testing.assert_allclose(solver.density(), case.density, rtol=0, atol=1e-14)
    np.testing.assert_allclose(solver.velocity(), case.velocity, rtol=0, atol=1e-14)
    np.testing.assert_allclose(solver.temperature(), case.temperature, rtol=0, atol=1e-14)


@pytest.mark.parametrize("precision", PRECISIONS)
def test_lattices_larger_than_the_caches(precision, rng):
    """Rows that a CPU writes past its caches have the bits of those that it does not, with each instruction set.

    A block passes them whose lattices have more than 4 MiB for each thread (`cache_of_thread`).
    """
    shape = (140, 133)
    case = random_gas_case(rng, shape, "mixed", prandtl=0.71)
    assert 2 * 37 * math.prod(shape) * np.dtype(precision).itemsize > 2**22
    parts = case.solver(precision=precision, layout=lbm.Layout.split(shape, (4, 4), ["cpu"] * 16), threads=1)
    assert 2 * 37 * math.prod(n // 4 + 8 for n in shape) * np.dtype(precision).itemsize < 2**22
    parts.step(5)
    assert np.isfinite(parts.populations()).all()
    for isa in _core.cpu_isas():
        engine = case.engine(threads=1, isa=isa, precision=precision)
        engine.step(5)
        for found, wanted in zip(bits(case, engine), bits(case, parts._simulation.engine), strict=True):
            np.testing.assert_array_equal(found, wanted)
    reference = case.reference()
    reference.step(5)
    tolerance = TOLERANCE if precision == "float64" else 2e-6
    np.testing.assert_allclose(in_gas_order(parts.populations()), reference.f, rtol=0, atol=tolerance)


def test_walls_change_with_time(device, rng):
    """A temperature of a wall that is a function of time is that of the step."""
    case = random_gas_case(rng, (8, 9), "mixed")
    domain = case.domain()
    wall = np.asarray(case.walls[3], float)
    domain.thermal["+y"] = lbm.Isothermal(lambda x, y, t: wall * (1 + 1e-3 * t))
    solver = lbm.Solver(domain, case.collision(), precision="float64", device=device)
    solver.initialize(density=case.density, velocity=case.velocity, temperature=case.temperature)
    reference = case.reference()
    for t in range(6):
        reference.walls[3] = wall * (1 + 1e-3 * t)
        reference.step()
    solver.step(6)
    np.testing.assert_allclose(in_gas_order(solver.populations()), reference.f, rtol=0, atol=TOLERANCE)


@placed
@fourth
def test_what_is_kept(walls, axis, fourth_order_diffusion, device, rng):
    """Mass between all walls; momentum and energy in a box without any; energy between adiabatic walls."""
    case = random_gas_case(
        rng, (12, 9), walls, axis, gravity=False, prandtl=0.71, fourth_order_diffusion=fourth_order_diffusion
    )
    solver = case.solver(device=device)
    c = np.asarray(_core.stencil("D2Q37").c, float)
    of = np.stack([np.ones(37), c[:, 0], c[:, 1], (c**2).sum(axis=1)])

    def sums() -> np.ndarray:
        return np.tensordot(of, solver.populations(), axes=1).sum(axis=(1, 2))

    before = sums()
    solver.step(200)
    change = np.abs(sums() - before) / before[0]
    assert change[0] < 1e-13
    if walls == "periodic":
        assert change.max() < 1e-13
    elif walls in ("adiabatic", "sealed"):
        assert change[3] < 1e-13
    else:
        assert change[3] > 1e-6


@placed
def test_x_and_y_are_alike(walls, axis, device, rng):
    """The transposed state stays transposed: walls on x are walls on y."""
    case = random_gas_case(rng, (11, 8), walls, axis, prandtl=0.71)
    other = GasCase(
        case.shape[::-1],
        viscosity=case.viscosity,
        prandtl=case.prandtl,
        gravity=case.gravity[::-1],
        walls=[*case.walls[2:], *case.walls[:2]],
        density=case.density.T,
        velocity=case.velocity[::-1].transpose(0, 2, 1),
        temperature=case.temperature.T,
    )
    one, turned = case.solver(device=device), other.solver(device=device)
    for solver in (one, turned):
        solver.step(STEPS)
    np.testing.assert_allclose(turned.temperature().T, one.temperature(), rtol=0, atol=TOLERANCE)
    np.testing.assert_allclose(turned.velocity()[::-1].transpose(0, 2, 1), one.velocity(), rtol=0, atol=TOLERANCE)


def test_fields_are_those_of_the_populations(device, rng):
    case = random_gas_case(rng, (9, 7), "varied")
    solver = case.solver(device=device)
    solver.step(7)
    rho, u, T = moments(in_gas_order(solver.populations()))
    g = np.array(case.gravity)
    np.testing.assert_allclose(solver.density(), rho, rtol=0, atol=1e-14)
    np.testing.assert_allclose(solver.velocity(), u - g[:, None, None] / 2, rtol=0, atol=1e-14)
    np.testing.assert_allclose(solver.temperature(), T + (g**2).sum() / 8, rtol=0, atol=1e-14)


# Nothing of how it is computed changes a bit


def bits(case: GasCase, engine: _core.Engine) -> list[np.ndarray]:
    """Temperature and stored populations."""
    temperature = np.empty(case.shape[::-1])
    engine.temperature(temperature)
    state = np.empty((37, *case.shape[::-1]), dtype=engine.storage_dtype)
    engine.get_state(state)
    return [reverse(temperature), reverse(state, 1)]


@pytest.mark.parametrize("precision", PRECISIONS)
@placed
@fourth
def test_instruction_sets_and_threads_agree(walls, axis, precision, fourth_order_diffusion, rng):
    for shape in ((37, 9), (3, 33), (8, 4)):
        case = random_gas_case(
            rng, shape, walls, axis, prandtl=0.71, rough=True, fourth_order_diffusion=fourth_order_diffusion
        )
        first = case.engine(threads=1, isa=_core.cpu_isas()[-1], precision=precision)
        first.step(7)
        expected = bits(case, first)
        assert np.isfinite(expected[0]).all()
        for isa, threads in itertools.product(_core.cpu_isas(), (1, 2, 3)):
            engine = case.engine(threads=threads, isa=isa, precision=precision)
            engine.step(7)
            for found, wanted in zip(bits(case, engine), expected, strict=True):
                np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("precision", PRECISIONS)
@placed
def test_steps_add_up(walls, axis, precision, device, rng):
    """Eleven single steps are eleven steps, with fields read in between."""
    case = random_gas_case(rng, (19, 6), walls, axis, rough=True)
    at_once, singly = (case.solver(precision=precision, device=device) for _ in range(2))
    at_once.step(11)
    for _ in range(11):
        singly.step()
        singly.temperature()
        singly.velocity()
        if axis == 0:
            singly.heat_flux("-x")
    assert_same(at_once, singly)


@pytest.mark.gpu
@pytest.mark.parametrize("precision", PRECISIONS)
@placed
@fourth
def test_a_gpu_holds_the_bits_of_a_cpu(walls, axis, precision, fourth_order_diffusion, gpu, rng):
    for shape, steps in (((3, 5), 5), ((33, 12), 9), ((131, 20), 6)):
        case = random_gas_case(
            rng, shape, walls, axis, prandtl=0.71, rough=True, fourth_order_diffusion=fourth_order_diffusion
        )
        one, other = (case.solver(device=device, precision=precision) for device in ("cpu", gpu))
        for solver in (one, other):
            solver.step(steps)
        assert_same(one, other)


@pytest.fixture(params=["direct", "staged"])
def channel(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """How all blocks exchange, behind their interiors where they have any."""
    monkeypatch.setenv("LBMGPU_CHANNEL", request.param)
    monkeypatch.setenv("LBMGPU_SCHEDULE", "overlap")
    return request.param


def pieces(draw: st.DrawFn, n: int) -> list[tuple[int, int]]:
    """The parts of an axis, some shorter than the stencil reaches."""
    cuts = draw(st.sets(st.integers(1, n - 1), max_size=3))
    return list(itertools.pairwise([0, *sorted(cuts), n]))


@st.composite
def wide_layouts(draw: st.DrawFn, shape: tuple[int, int]) -> lbm.Layout:
    """Unequal cuts in both directions, and the blocks in any order."""
    boxes = list(itertools.product(*(pieces(draw, n) for n in shape)))
    blocks = [lbm.Block(tuple(a for a, _ in box), tuple(b - a for a, b in box)) for box in boxes]
    return lbm.Layout(draw(st.permutations(blocks)))


@pytest.mark.parametrize("precision", PRECISIONS)
@placed
@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_layout_changes_no_bit(walls, axis, precision, channel, data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    shape = (data.draw(st.integers(3, 19)), data.draw(st.integers(3, 13)))
    prandtl, fourth_order_diffusion = data.draw(st.sampled_from([1.0, 0.71])), data.draw(st.booleans())
    case = random_gas_case(
        rng, shape, walls, axis, prandtl=prandtl, rough=True, fourth_order_diffusion=fourth_order_diffusion
    )
    one = case.solver(precision=precision)
    many = case.solver(precision=precision, layout=data.draw(wide_layouts(shape)))
    assert {link["channel"] for link in many._simulation.engine.links} <= {channel}
    for solver in (one, many):
        solver.step(12)
    assert_same(one, many)


PARTS = [(2, 1), (3, 1), (1, 2), (1, 3), (2, 2), (3, 3), (1, 6), (5, 2)]
SHAPES = [(9, 9), (11, 13), (25, 17)]
"""Five or six blocks across the first are of one and two cells, fewer than streaming crosses; others do not divide."""


@placed
@pytest.mark.parametrize("parts", PARTS, ids=lambda parts: "x".join(map(str, parts)))
def test_blocks_along_x_and_y(walls, axis, parts, channel, rng):
    for shape in SHAPES:
        case = random_gas_case(rng, shape, walls, axis, prandtl=0.71, rough=True)
        one, many = case.solver(), case.solver(layout=lbm.Layout.split(shape, parts))
        for steps in (1, 2, 9):
            one.step(steps)
            many.step(steps)
            assert_same(one, many)


@pytest.mark.gpu
@pytest.mark.parametrize("precision", PRECISIONS)
@placed
def test_blocks_on_gpus_change_no_bit(walls, axis, precision, channel, gpu, rng):
    """On one GPU or on all there are."""
    count = _core.cuda_device_count()
    for shape, parts in itertools.product([(9, 9), (45, 14), (131, 37)], PARTS):
        names = [f"cuda:{k % count}" for k in range(int(np.prod(parts)))]
        case = random_gas_case(rng, shape, walls, axis, prandtl=0.71, rough=True)
        one = case.solver(device=gpu, precision=precision)
        many = case.solver(device="auto", layout=lbm.Layout.split(shape, parts, names), precision=precision)
        for solver in (one, many):
            solver.step(11)
        assert_same(one, many)


# Checkpoints


@pytest.mark.parametrize("after", [6, 7])
@pytest.mark.parametrize("precision", PRECISIONS)
@placed
def test_checkpoint_continues(walls, axis, precision, after, tmp_path: Path, device, rng):
    """Saved, loaded and continued is the run that never stopped, on other layouts too."""
    shape = (13, 10)
    case = random_gas_case(rng, shape, walls, axis, prandtl=0.71, rough=True)
    solver = case.solver(precision=precision, device=device)
    solver.step(after)
    path = solver.save(tmp_path / "state.h5")
    at_save = solver.temperature()
    solver.step(9)
    restored = case.solver(precision=precision, device=device)
    restored.step(3)
    restored.restore(path)
    again = [lbm.Solver.load(path, device=device), restored]
    for parts in ((3, 1), (1, 3), (2, 2)):
        layout = lbm.Layout.split(shape, parts, [solver.device] * int(np.prod(parts)))
        again.append(lbm.Solver.load(path, layout=layout, device="auto"))
    for continued in again:
        np.testing.assert_array_equal(continued.temperature(), at_save)
        continued.step(9)
        assert continued.steps == after + 9
        assert_same(continued, solver)
    assert not np.array_equal(at_save, solver.temperature())
