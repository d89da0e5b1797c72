"""A GPU holds the same bits as a CPU, whatever the faces, the width of the rows, the streaming and the numbers."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest
from reference import STENCILS, Collision
from reference.cases import CLASSES, Case, random_bodies, random_faces, random_fields
from reference.registry import KINDS

import lbmgpu as lbm

FORMATS = [
    ("float32", "float32"),
    ("float32", "float16"),
    ("float64", "float64"),
    ("float64", "float32"),
    ("float64", "float16"),
]
PERIODIC_AXES = [(s, axes) for s in STENCILS for axes in itertools.product([False, True], repeat=STENCILS[s].D)]
"""Periodic axes are wrapped in a GPU's memory, the others are not: each combination is a kernel of its own."""


@pytest.mark.gpu
@pytest.mark.parametrize("streaming", ["two-lattice", "in-place"])
@pytest.mark.parametrize(("name", "periodic"), PERIODIC_AXES)
def test_a_gpu_holds_the_bits_of_a_cpu(
    name: str,
    periodic: tuple[bool, ...],
    streaming: str,
    gpu: str,
    rng: np.random.Generator,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Collisions, numbers, forces and eddy viscosities take turns, and how many threads share a row."""
    turn = PERIODIC_AXES.index((name, periodic))
    precision, storage = FORMATS[turn % len(FORMATS)]
    kind_of_turn = KINDS[name][(turn + turn // len(FORMATS)) % len(KINDS[name])]
    walls = [kind for kind in CLASSES if kind != "periodic"]
    lanes = {"float64": 2, "float16": (4, 8)[turn // 5 % 2]}.get(storage, (2, 4, 1)[turn % 3])
    several_blocks = f"{lanes},64,4"
    for nx, steps, shape_of_launches in (
        (1, 5, ""),
        (6, 5, several_blocks),
        (70, 6, ""),
        (64 * lanes, 3, several_blocks),
        (64 * lanes + 1, 4, several_blocks),
        (301, 3, several_blocks),
    ):
        if shape_of_launches:
            monkeypatch.setenv("LBMGPU_UPDATE_SHAPE", shape_of_launches)
        else:
            monkeypatch.delenv("LBMGPU_UPDATE_SHAPE", raising=False)
        shape = (nx, 7, 3)[: len(periodic)]
        kinds = [str(k) for p in periodic for k in (["periodic"] * 2 if p else rng.choice(walls, 2))]
        density, velocity = random_fields(rng, shape, speed=0.01)
        case = Case(
            name,
            shape,
            Collision(
                kind_of_turn,
                0.1,
                smagorinsky=0.1 if turn % 3 == 2 else 0.0,
            ),
            faces=random_faces(rng, shape, kinds),
            bodies=random_bodies(rng, shape) if turn % 2 else (),
            force=rng.uniform(-1e-4, 1e-4, (len(shape), *shape)) if turn % 3 == 1 else None,
            density=density,
            velocity=velocity,
        )
        options = {"precision": precision, "storage": storage, "streaming": streaming}
        solvers = [case.solver(device=device, **options) for device in ("cpu", gpu)]
        for solver in solvers:
            solver.step(steps)
        fluid = case.fluid()
        expected, found = (solver.populations()[:, fluid] for solver in solvers)
        assert np.isfinite(expected).all()
        np.testing.assert_array_equal(found, expected)
        for field in ("density", "velocity"):
            np.testing.assert_array_equal(getattr(solvers[1], field)(), getattr(solvers[0], field)())


@pytest.mark.gpu
@pytest.mark.parametrize("streaming", ["two-lattice", "in-place"])
@pytest.mark.parametrize("outlet", [lbm.PressureOutlet(), lbm.Outflow()], ids=["pressure", "outflow"])
@pytest.mark.parametrize("nx", [18, 301])
def test_inlets_and_outlets_follow_every_change_of_the_state(
    nx: int,
    outlet: lbm.PressureOutlet | lbm.Outflow,
    streaming: str,
    gpu: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """On a GPU an update keeps what they need of the cells beside them: not what it kept of another state or force."""
    if nx > 256:  # two thread blocks a row, the last pack not full
        monkeypatch.setenv("LBMGPU_UPDATE_SHAPE", "4,64,4")
    domain = lbm.Domain((nx, 9, 5), "D3Q19")
    domain.faces["-x"], domain.faces["+x"] = lbm.VelocityInlet((0.04, 0.0, 0.0)), outlet
    domain.faces["-y"], domain.faces["+y"] = lbm.NoSlip(), lbm.FreeSlip()
    domain.faces["-z"], domain.faces["+z"] = lbm.NoSlip(), lbm.PressureOutlet(1.001)
    on_cpu, on_gpu = (
        lbm.Solver(domain, lbm.BGK(0.05), force=(1e-5, 0.0, 0.0), streaming=streaming, device=device)
        for device in ("cpu", gpu)
    )

    def assert_same() -> None:
        np.testing.assert_array_equal(on_gpu.populations(), on_cpu.populations())

    for steps in (2, 70):  # the second is long enough to be recorded and replayed
        for solver in (on_cpu, on_gpu):
            solver.initialize(velocity=(0.02, 0.01, 0.0))
            solver.step(steps)
        assert_same()
        for solver in (on_cpu, on_gpu):
            solver.force = (-1e-4, 0.0, 2e-4)
            solver.step(steps)
        assert_same()
    on_cpu.save(tmp_path / "state.h5")
    for solver in (on_cpu, on_gpu):
        solver.step(5)
        solver.restore(tmp_path / "state.h5")
        solver.step(35)
    assert_same()
