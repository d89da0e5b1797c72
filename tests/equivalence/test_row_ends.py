"""Faces across x whose conditions compute all incoming populations of a cell hold the same bits on a GPU, whose update
keeps what they read in columns, as on a CPU, which reads the lattice."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reference import STENCILS

import lbmgpu as lbm
from equivalence.test_blocks import gpu_names

FORMATS = [("float32", "float32"), ("float32", "float16"), ("float64", "float64"), ("float64", "float32")]
SPEED = 0.03


def inlet(scheme: str, shape: tuple[int, ...], rng: np.random.Generator) -> lbm.VelocityInlet:
    """A velocity of its own for each cell."""
    velocity = rng.uniform(-0.2, 0.2, (len(shape), *shape[1:])) * SPEED
    velocity[0] += SPEED
    return lbm.VelocityInlet(velocity, scheme=scheme)


def outlet(kind: str, shape: tuple[int, ...], rng: np.random.Generator) -> Any:
    if kind in ("characteristic", "anti-bounce-back"):
        return lbm.PressureOutlet(1.0, scheme=kind)
    if kind == "outflow":
        return lbm.Outflow()
    upstream = -np.asarray(inlet(kind, shape, rng).velocity)
    return lbm.VelocityInlet(upstream * rng.uniform(-1, 1), scheme=kind)


FACES = [
    ("characteristic", "characteristic"),
    ("non-equilibrium", "anti-bounce-back"),
    ("bounce-back", "characteristic"),
    ("regularized", "characteristic"),
    ("regularized", "outflow"),
    ("characteristic", "regularized"),
    ("regularized", "regularized"),
]
SIDES = {"periodic": lbm.Periodic, "wall": lbm.NoSlip, "slip": lbm.FreeSlip}


def open_domain(
    stencil: str, shape: tuple[int, ...], faces: tuple[str, str], sides: tuple[str, str], rng: np.random.Generator
) -> lbm.Domain:
    domain = lbm.Domain(shape, stencil)
    domain.faces["-x"], domain.faces["+x"] = inlet(faces[0], shape, rng), outlet(faces[1], shape, rng)
    for axis, side in zip("yz"[: len(shape) - 1], sides, strict=False):
        domain.faces["-" + axis] = domain.faces["+" + axis] = SIDES[side]()
    return domain


def initial(shape: tuple[int, ...], rng: np.random.Generator) -> dict[str, Any]:
    velocity = rng.uniform(-0.2, 0.2, (len(shape), *shape)) * SPEED
    velocity[0] += SPEED
    return {"density": 1 + rng.uniform(-0.01, 0.01, shape), "velocity": velocity}


def assert_same(one: lbm.Solver, other: lbm.Solver) -> None:
    found, expected = one.populations(), other.populations()
    assert np.isfinite(expected).all()
    np.testing.assert_array_equal(found, expected)


@pytest.mark.gpu
@pytest.mark.parametrize("streaming", ["two-lattice", "in-place"])
@pytest.mark.parametrize("faces", FACES)
@pytest.mark.parametrize("stencil", STENCILS)
def test_open_faces_hold_the_bits_of_a_cpu(
    stencil: str,
    faces: tuple[str, str],
    streaming: str,
    gpu: str,
    rng: np.random.Generator,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Rows of a warp, of a thread block and of several, with whole and partial packs of all widths."""
    turn = 2 * FACES.index(faces) + (streaming == "in-place")
    precision, storage = FORMATS[turn % len(FORMATS)]
    lanes = {"float64": 2, "float16": (4, 8)[turn // 4 % 2]}.get(storage, (1, 2, 4)[turn // 4 % 3])
    sides = [("periodic", "periodic"), ("wall", "periodic"), ("periodic", "slip"), ("slip", "wall")]
    for k, (nx, launch) in enumerate(
        ((2, ""), (3, ""), (70, ""), (32 * lanes + 1, f"{lanes},32,4"), (64 * lanes, f"{lanes},32,4"), (37, "1,32,2"))
    ):
        if launch:
            monkeypatch.setenv("LBMGPU_UPDATE_SHAPE", launch)
        else:
            monkeypatch.delenv("LBMGPU_UPDATE_SHAPE", raising=False)
        shape = (nx, 9, 7)[: STENCILS[stencil].D]
        domain = open_domain(stencil, shape, faces, sides[(turn + k) % 4], rng)
        if nx > 10 and k % 2 == 0:
            body = np.zeros(shape, bool)
            body[:2, 3:5] = body[-3:, 7:] = True  # at the faces
            domain.add_body(body)
        options: dict[str, Any] = {"precision": precision, "storage": storage, "streaming": streaming}
        solvers = [lbm.Solver(domain, lbm.BGK(0.1), device=device, **options) for device in (gpu, "cpu")]
        state = initial(shape, rng)
        for solver in solvers:
            solver.initialize(**state)
            solver.step(3)
        assert_same(*solvers)
        for solver in solvers:
            solver.step(20)  # of which some are recorded
        assert_same(*solvers)


@pytest.mark.gpu
@pytest.mark.parametrize("streaming", ["two-lattice", "in-place"])
@pytest.mark.parametrize("faces", FACES)
def test_open_faces_hold_their_bits_in_any_layout(
    faces: tuple[str, str], streaming: str, gpu: str, rng: np.random.Generator
) -> None:
    shape = (45, 14, 12)
    domain = open_domain("D3Q19", shape, faces, ("periodic", "wall"), rng)
    state = initial(shape, rng)
    one = lbm.Solver(domain, lbm.TRT(0.1), device="cpu", streaming=streaming)
    one.initialize(**state)
    one.step(21)
    for parts in ((1, 2, 1), (1, 1, 3), (3, 1, 1), (2, 2, 2)):
        layout = lbm.Layout.split(shape, parts, gpu_names(gpu, int(np.prod(parts))))
        many = lbm.Solver(domain, lbm.TRT(0.1), device="auto", layout=layout, streaming=streaming)
        many.initialize(**state)
        many.step(21)
        assert_same(many, one)


@pytest.mark.gpu
@pytest.mark.parametrize("steps", [3, 4])
@pytest.mark.parametrize("faces", FACES[:4])
def test_a_state_that_is_set_is_read_by_open_faces(
    faces: tuple[str, str], steps: int, gpu: str, rng: np.random.Generator, tmp_path: Path
) -> None:
    """Whether from a checkpoint, from populations or by `initialize`, at odd and even steps."""
    shape = (20, 8, 6)
    domain = open_domain("D3Q19", shape, faces, ("periodic", "periodic"), rng)
    state, other = initial(shape, rng), initial(shape, rng)
    solvers = [lbm.Solver(domain, lbm.BGK(0.1), device=device) for device in (gpu, "cpu")]
    for solver in solvers:
        solver.initialize(**other)
        solver.step(steps)
        solver.initialize(**state)
        solver.step(steps)
    assert_same(*solvers)
    path = solvers[0].save(tmp_path / "state.h5")
    loaded = lbm.Solver.load(path, device=gpu)
    loaded.step(5)
    for solver in solvers:
        solver.step(5)
    assert_same(*solvers)
    assert_same(loaded, solvers[1])


@pytest.mark.gpu
@pytest.mark.parametrize(("faces", "sponge"), list(itertools.product(FACES[3:5], (False, True))))
def test_forces_temperatures_and_sponges_go_with_open_faces(
    faces: tuple[str, str], sponge: bool, gpu: str, rng: np.random.Generator
) -> None:
    shape = (24, 10, 8)
    domain = open_domain("D3Q19", shape, faces, ("periodic", "slip"), rng)
    if sponge:
        domain.add_sponge("-x", 4, 0.3)
    force = rng.uniform(-1e-5, 1e-5, (3, *shape))
    thermal = lbm.HybridThermal(diffusivity=0.05, buoyancy=(0.0, 1e-4, 0.0))
    state = initial(shape, rng)
    for more in ({"force": force}, {"force": (1e-5, 0.0, 0.0)}, {"thermal": thermal}):
        solvers = [lbm.Solver(domain, lbm.MRT(0.1), device=device, **more) for device in (gpu, "cpu")]
        for solver in solvers:
            solver.initialize(**state, **({"temperature": state["density"] - 1} if "thermal" in more else {}))
            solver.step(9)
        assert_same(*solvers)


@pytest.mark.gpu
@pytest.mark.parametrize("faces", FACES[:4])
def test_members_of_an_ensemble_have_open_faces_of_their_own(
    faces: tuple[str, str], gpu: str, rng: np.random.Generator
) -> None:
    shape = (24, 9, 5)
    domains = [open_domain("D3Q19", shape, faces, ("periodic", "periodic"), rng) for _ in range(3)]
    states = [initial(shape, rng) for _ in range(3)]
    ensemble = lbm.Ensemble(domains, lbm.BGK(0.1), initial=states, device=gpu)
    ensemble.step(12)
    for member, domain, state in zip(ensemble, domains, states, strict=True):
        alone = lbm.Solver(domain, lbm.BGK(0.1), device="cpu")
        alone.initialize(**state)
        alone.step(12)
        assert_same(member, alone)


@pytest.mark.gpu
def test_an_inlet_that_changes_in_time_has_the_bits_of_a_cpu(gpu: str, rng: np.random.Generator) -> None:
    shape = (20, 8, 6)
    for scheme in ("characteristic", "non-equilibrium", "regularized"):
        domain = open_domain("D3Q19", shape, (scheme, "characteristic"), ("periodic", "wall"), rng)
        profile = np.asarray(inlet(scheme, shape, rng).velocity)
        domain.faces["-x"] = lbm.VelocityInlet(profile * lbm.Sine(period=30.0), scheme=scheme)
        state = initial(shape, rng)
        solvers = [lbm.Solver(domain, lbm.BGK(0.1), device=device) for device in (gpu, "cpu")]
        for solver in solvers:
            solver.initialize(**state)
            solver.step(40)
        assert_same(*solvers)
