"""What a solver needs and what the machine has: the estimate covers what is taken, and cached files count as free."""

from __future__ import annotations

import gc
import tracemalloc
import weakref
from pathlib import Path
from unittest import mock

import numpy as np
import pytest

import lbmgpu as lbm
from lbmgpu import _core
from lbmgpu.case import build as case_build, read as case_file
from lbmgpu.engine import memory
from lbmgpu.parallel import device_memory
from lbmgpu.parallel.gpu import identity
from lbmgpu.solver import simulation_of

SHAPE = (32, 32, 32)
CELLS = 32**3
LATTICE = _core.Engine.memory_needed("D3Q19", SHAPE, "float32", "float32", "in-place")["cpu"]


def group(folder: Path, limit: str, current: int, inactive: int) -> Path:
    """The files of a control group."""
    (folder / "memory.max").write_text(f"{limit}\n")
    (folder / "memory.current").write_text(f"{current}\n")
    (folder / "memory.stat").write_text(f"anon 5\ninactive_anon 7\ninactive_file {inactive}\nactive_file 11\n")
    return folder


@pytest.mark.parametrize(
    ("limit", "current", "inactive", "left"),
    [
        ("1000", 600, 0, 400),
        ("1000", 600, 250, 650),
        ("1000", 1000, 900, 900),
        ("1000", 1200, 0, 0),
        ("1000", 100, 200, 1000),
        ("max", 1, 0, None),
    ],
)
def test_cached_files_of_a_group_are_free(
    tmp_path: Path, limit: str, current: int, inactive: int, left: int | None
) -> None:
    assert device_memory._available_in_group(group(tmp_path, limit, current, inactive)) == left


def test_limit_of_a_group_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert device_memory._available_in_group(tmp_path) is None
    monkeypatch.setattr(device_memory, "CONTROL_GROUP", group(tmp_path, "1000", 600, 250))
    assert device_memory.available_memory() == 650


def test_extra_bytes_per_cell() -> None:
    assert memory.extra_bytes_per_cell(3, "float32") == memory.extra_bytes_per_cell(2, "float64") == 0
    assert memory.extra_bytes_per_cell(3, "float32", bodies=True) == 4
    assert memory.extra_bytes_per_cell(3, "float32", force_field=True) == 3 * (4 + 8)
    assert memory.extra_bytes_per_cell(3, "float32", force_field=True, scaled_force=True) == 3 * (8 + 8)
    assert memory.extra_bytes_per_cell(3, "float64", moving_bodies=True) == 4 + 2 * 3 * 8
    assert memory.extra_bytes_per_cell(3, "float32", heated_bodies=True) == 4 + 2 * 8
    assert memory.extra_bytes_per_cell(3, "float32", source_field=True) == 4 + 8


def test_solver_counts_what_it_takes_beside_the_lattice(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = LATTICE + CELLS * memory.extra_bytes_per_cell(3, "float32")
    monkeypatch.setattr(memory, "available_memory", lambda device="cpu": plain)
    domain = lbm.Domain(SHAPE)
    lbm.Solver(domain, lbm.BGK(0.1))
    lbm.Solver(domain, lbm.BGK(0.1), force=(1e-6, 0, 0))
    for force in (np.zeros((3, *SHAPE)), lambda x, y, z: (0, 0, 0)):
        with pytest.raises(ValueError, match=r"shape: .* what would fit: shape"):
            lbm.Solver(domain, lbm.BGK(0.1), force=force)
    monkeypatch.setattr(memory, "available_memory", lambda device="cpu": plain - 1)
    with pytest.raises(ValueError, match=r"shape: .* what would fit: shape"):
        lbm.Solver(domain, lbm.BGK(0.1))


def test_a_solver_is_gone_with_its_last_name() -> None:
    """Nothing in it refers back to it, so that its memory need not wait for the garbage collector."""
    solver = lbm.Solver(lbm.Domain((8, 8), "D2Q9"), lbm.BGK(0.1), force=lambda x, y: (1e-6 + 0 * x, 0 * x))
    solver.initialize(velocity=lambda x, y: (0.01 + 0 * x, 0 * x))
    solver.run(2)
    seen = [weakref.ref(solver), weakref.ref(simulation_of(solver))]
    gc.disable()
    try:
        del solver
        assert [found() for found in seen] == [None, None]
    finally:
        gc.enable()


def test_memory_of_solvers_that_only_their_recorders_know_is_found_again(monkeypatch: pytest.MonkeyPatch) -> None:
    dropped = lbm.Solver(lbm.Domain((8, 8), "D2Q9"), lbm.BGK(0.1))
    dropped.record(lbm.Mean("velocity"))
    seen = weakref.ref(dropped)
    del dropped
    monkeypatch.setattr(memory, "available_memory", lambda device="cpu": 2**20 if seen() is None else 0)
    lbm.Solver(lbm.Domain((8, 8), "D2Q9"), lbm.BGK(0.1))
    assert seen() is None


def test_a_temperature_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two numbers a cell and what rows are padded with; no storage that it cannot have is offered."""
    heated = _core.Engine.memory_needed("D3Q19", SHAPE, "float32", "float32", "in-place", thermal=True)["cpu"]
    assert heated >= LATTICE + 2 * 4 * CELLS
    enough = heated + CELLS * memory.extra_bytes_per_cell(3, "float32")
    monkeypatch.setattr(memory, "available_memory", lambda device="cpu": enough)
    model = lbm.HybridThermal(0.1)
    assert (
        lbm.Solver(lbm.Domain(SHAPE), lbm.BGK(0.1), thermal=model)._simulation.engine.memory_bytes
        >= LATTICE + 8 * CELLS
    )
    monkeypatch.setattr(memory, "available_memory", lambda device="cpu": enough - 1)
    with pytest.raises(ValueError, match="what would fit") as caught:
        lbm.Solver(lbm.Domain(SHAPE), lbm.BGK(0.1), thermal=model)
    assert "float16" not in str(caught.value)
    source = lbm.HybridThermal(0.1, source=np.zeros(SHAPE))
    monkeypatch.setattr(memory, "available_memory", lambda device="cpu": enough)
    with pytest.raises(ValueError, match="what would fit"):
        lbm.Solver(lbm.Domain(SHAPE), lbm.BGK(0.1), thermal=source)


def test_sponges_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each cell of them once, on the device that has it; a sponge may be thicker than a shape that is tried."""
    domain = lbm.Domain(SHAPE)
    plain = LATTICE + CELLS * memory.extra_bytes_per_cell(3, "float32")
    domain.add_sponge("+x", 10)
    domain.add_sponge("-x", 3)
    domain.add_sponge("+x", 4, 0.1)
    domain.add_sponge("-y", 32, 0.1, pull=0.1, velocity=(0, 0, 0))
    monkeypatch.setattr(memory, "available_memory", lambda device="cpu": plain + 16 * CELLS)
    solver = lbm.Solver(domain, lbm.BGK(0.1), streaming="in-place", device="cpu")
    solver.step(1)
    engine = solver._simulation.engine
    assert plain + 16 * CELLS <= engine.memory_bytes + CELLS * memory.extra_bytes_per_cell(3, "float32")
    monkeypatch.setattr(memory, "available_memory", lambda device="cpu": plain + 16 * CELLS - 1)
    with pytest.raises(lbm.TooLittleMemoryError, match="what would fit: shape"):
        lbm.Solver(domain, lbm.BGK(0.1), streaming="in-place", device="cpu")


def test_sponges_are_of_the_blocks_that_they_cover() -> None:
    numbers = ("float32", "float32", "in-place")
    blocks = [((0, 0, 0), (20, 32, 32), 0, "cpu"), ((20, 0, 0), (12, 32, 32), 1, "cpu")]

    def more(rank: int, sponges: list[tuple[int, int]]) -> int:
        with_them, without = (
            _core.Engine.memory_needed("D3Q19", SHAPE, *numbers, blocks=blocks, rank=rank, sponges=each)["cpu"]
            for each in (sponges, [])
        )
        return with_them - without

    assert more(0, [(0, 3)]) == 16 * 3 * 32 * 32
    assert more(1, [(0, 3)]) == 0
    assert more(1, [(0, 25)]) == 16 * 5 * 32 * 32
    assert more(0, [(1, 14), (0, 3)]) == 16 * 5 * 32 * 32
    assert more(1, [(2, 4), (3, 5)]) == 16 * 12 * 9 * 32
    with pytest.raises(ValueError, match="face of a sponge: 6 given"):
        more(0, [(6, 1)])


@pytest.mark.parametrize("extra_bytes", [0, 50])
def test_shape_that_would_fit_does(monkeypatch: pytest.MonkeyPatch, extra_bytes: int) -> None:
    monkeypatch.setattr(memory, "available_memory", lambda device="cpu": 10 * device_memory.MIB)
    with pytest.raises(ValueError, match="what would fit") as caught:
        memory.check_memory("D3Q19", (100, 80, 60), "float32", "float32", "in-place", extra_bytes)
    shape = tuple(int(n) for n in str(caught.value).rpartition("shape (")[2].partition(")")[0].split(","))
    memory.check_memory("D3Q19", shape, "float32", "float32", "in-place", extra_bytes)


@pytest.mark.gpu
def test_a_gpu_is_told_from_others(gpu: str) -> None:
    names = [f"cuda:{number}" for number in range(_core.cuda_device_count())]
    found = [identity(name) for name in names]
    assert found == [identity(name) for name in names]
    assert len(set(found)) == len(names)
    assert all(len(name) == 32 for name in found)


def test_a_case_is_checked_without_a_field_of_the_domain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the solver evaluates bodies and velocities, each rank in its part."""
    profile = {"profile": "parabolic", "direction": "x", "across": ["y", "z"], "max": 0.01}
    moving = {"condition": "moving-wall", "velocity": [0.01, 0, 0]}
    case = {
        "domain": {"shape": [96, 96, 96], "stencil": "D3Q19"},
        "collision": {"model": "MRT", "viscosity": 0.1, "rates": {}},
        "thermal": {"diffusivity": 0.05},
        "bodies": [
            {"shape": "sphere", "center": [20, 20, 20], "radius": 8, "condition": moving},
            {"shape": "cylinder", "center": [50, 50, 50], "radius": 8},
            {"shape": "box", "low": [70, 70, 70], "high": [80, 80, 80]},
        ],
        "initial": {"velocity": profile},
        "run": {"steps": 1, "device": "cpu"},
    }
    case_file.check_case(case)
    monkeypatch.setattr(case_build, "Solver", lambda *arguments, **options: mock.Mock())
    case_build.build_solver(case, tmp_path)
    tracemalloc.start()
    case_build.build_solver(case, tmp_path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 96**3
