"""Tests the files of checkpoints: their contents, older versions, and the rejection of damaged or crafted files."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from attack import _crafted, damage
from hypothesis import given, strategies as st

import lbmgpu as lbm
from lbmgpu.io import checkpoint_arrays, chunks
from lbmgpu.io.checkpoint_open import opened
from lbmgpu.io.chunks import Chunks


def state_of(solver: lbm.Solver) -> np.ndarray[Any, Any]:
    """The stored numbers."""
    state = np.empty(
        (solver._simulation.stencil.Q, *solver.domain.shape[::-1]), solver._simulation.engine.storage_dtype
    )
    solver._simulation.engine.get_state(state)
    return state


def load(path: Path) -> lbm.Solver:
    return lbm.Solver.load(path, device="cpu", threads=1)


def assert_windows_hold_their_part(path: Path) -> None:
    """Arrays of cells, read by a box, are that box of the whole; without a box there are none of them."""
    random = np.random.default_rng(1)
    with opened(path) as file:
        shape = file.header.shape
        whole = file.arrays(((0,) * len(shape), shape))
        of_cells = {name for name, array in whole.items() if array.shape[-len(shape) :] == shape}
        assert of_cells
        assert set(file.arrays(None)) == set(whole) - of_cells
        for _ in range(30):
            ends = [sorted(random.choice(n + 1, 2, replace=False).tolist()) for n in shape]
            window = tuple(slice(a, b) for a, b in ends)
            found = file.arrays(([a for a, _ in ends], [b - a for a, b in ends]))
            for name, array in whole.items():
                np.testing.assert_array_equal(found[name], array[(..., *window)] if name in of_cells else array)


@pytest.mark.parametrize(("chunk", "piece"), [(None, None), (8, 1), (24, 70)])
def test_arrays_of_cells_are_read_by_a_window(
    chunk: int | None, piece: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if chunk is not None and piece is not None:
        monkeypatch.setattr(chunks, "SMALLEST", chunk)
        monkeypatch.setattr(checkpoint_arrays, "PIECE", piece)
    random, shape = np.random.default_rng(0), (7, 9, 6)
    domain, spin = lbm.Domain(shape), 0.01 * random.standard_normal((3, *shape))
    drop, block = np.zeros(shape, bool), np.zeros(shape, bool)
    drop[1:6, 2:8, :3], block[2:4, 1, 5] = random.random((5, 6, 3)) < 0.4, True
    heat = 0.1 * random.standard_normal(shape)
    domain.add_body(drop, "drop", lbm.MovingWall(spin), lbm.Isothermal(heat))
    domain.add_body(block, "block", thermal=lbm.Isothermal(0.1))
    domain.faces["-x"], domain.faces["+x"] = lbm.MovingWall(lambda x, y, z: (0, 0.01 + 0 * y, 0 * y)), lbm.NoSlip()
    model = lbm.HybridThermal(0.05, source=1e-5 * random.standard_normal(shape))
    force = 1e-5 * random.standard_normal((3, *shape))
    path = lbm.Solver(domain, lbm.BGK(0.1), force=force, thermal=model, device="cpu", threads=1).save(tmp_path / "a.h5")
    with opened(path) as file:
        whole = file.arrays(((0, 0, 0), shape))
    np.testing.assert_array_equal(whole["bodies.0.mask"], drop)
    np.testing.assert_array_equal(whole["bodies.0.velocity"], spin * drop)
    np.testing.assert_array_equal(whole["bodies.0.temperature"], heat * drop)
    np.testing.assert_array_equal(whole["bodies.1.mask"], block)
    np.testing.assert_array_equal(whole["force"], force)
    np.testing.assert_array_equal(whole["source"], model.source)
    assert_windows_hold_their_part(path)


@pytest.mark.parametrize("version", [1, 2])
def test_arrays_of_cells_of_older_versions_are_read_by_a_window(version: int, data: Path) -> None:
    assert_windows_hold_their_part(data / "checkpoints" / f"version{version}.h5")


@pytest.fixture
def saved(tmp_path: Path) -> tuple[lbm.Solver, Path]:
    """A solver with all kinds of arrays, and its checkpoint."""
    solver = damage.make()
    solver.step(5)
    return solver, solver.save(tmp_path / "state.h5")


@pytest.mark.parametrize(
    ("version", "streaming", "bodies"),
    [(1, "in-place", ["spinner"]), (2, "in-place", ["heater"]), (3, "two-lattice", [])],
)
def test_older_versions_load(version: int, streaming: str, bodies: list[str], data: Path, tmp_path: Path) -> None:
    path = data / "checkpoints" / f"version{version}.h5"
    with h5py.File(path) as file:
        state = file["state"][()]
        temperature = file["temperature"][()] if version == 2 else None
    solver = load(path)
    assert (solver.steps, solver.streaming, list(solver.domain.bodies)) == (11, streaming, bodies)
    np.testing.assert_array_equal(state_of(solver), state)
    if temperature is not None:
        fluid = ~solver.solid
        np.testing.assert_allclose(solver.temperature()[fluid], temperature.T[fluid], rtol=1e-6)
    again = load(solver.save(tmp_path / "state.h5"))  # of the version of today
    for each in (solver, again):
        each.step(3)
    np.testing.assert_array_equal(solver.populations(), again.populations())


def test_values_of_an_older_version_are_right(data: Path) -> None:
    solver = load(data / "checkpoints" / "version1.h5")
    spinner = solver.domain.bodies["spinner"]
    assert spinner.mask[3:5, 2:4].all()
    assert spinner.mask.sum() == 4
    np.testing.assert_allclose(spinner.condition.velocity[:, 3, 2], (0.01 * (2.5 - 3), -0.01 * (3.5 - 4)))
    np.testing.assert_allclose(
        solver.domain.faces["-x"].velocity[0], [0.05 * y * (6 - y) / 9 for y in np.arange(6) + 0.5]
    )
    np.testing.assert_array_equal(solver.force, (1e-5, 0))


def test_the_file_says_all_that_is_needed_to_read_it(saved: tuple[lbm.Solver, Path]) -> None:
    """As docs/checkpoints.md has it."""
    solver, path = saved
    with h5py.File(path) as file:
        assert (file.attrs["format"], file.attrs["version"]) == (b"lbmgpu checkpoint", 4)
        manifest = json.loads(file["manifest"][:].tobytes())
        np.testing.assert_array_equal(file["state"][()], state_of(solver))
        assert set(file) == {"manifest", *manifest["datasets"]}
        mask = manifest["datasets"]["bodies.0.mask"]
        assert mask["box"] == [[3, 2], [2, 2]]
        np.testing.assert_array_equal(np.unpackbits(file["bodies.0.mask"][()], count=4), 1)
    assert manifest["steps"] == 5
    assert manifest["setup"]["collision"]["viscosity"] == 0.05


def test_populations_that_are_swapped_are_seen(saved: tuple[lbm.Solver, Path]) -> None:
    solver, path = saved
    content = bytearray(path.read_bytes())
    damage.STATE[:] = state_of(solver)
    damage.chunks_swapped(content, np.random.default_rng(1))
    path.write_bytes(content)
    with pytest.raises(lbm.CheckpointError, match=r"the digest of chunk \d of 'state' is another one"):
        solver.restore(path)


def test_words_of_ones_in_the_place_of_zeros_are_seen(saved: tuple[lbm.Solver, Path]) -> None:
    solver, path = saved
    content = bytearray(path.read_bytes())
    start = content.index(solver.force.tobytes())
    assert content[start : start + 8] == bytes(8)
    content[start : start + 2] = b"\xff\xff"
    path.write_bytes(content)
    with pytest.raises(lbm.CheckpointError, match="the digest of chunk 0 of 'force' is another one"):
        solver.restore(path)


def test_a_state_that_is_not_finite_is_refused_where_there_is_fluid(tmp_path: Path) -> None:
    solver = damage.make()
    path = solver.save(tmp_path / "state.h5")
    for cell, allowed in (((2, 3), True), ((0, 0), False)):  # (y, x) of a solid and a fluid cell
        content = _crafted.content(path)
        content["arrays"]["state"][(4, *cell)] = np.nan
        crafted = tmp_path / "crafted.h5"
        _crafted.write(crafted, content)
        if allowed:
            solver.restore(crafted)
        else:
            for read in (solver.restore, load):
                with pytest.raises(lbm.CheckpointError, match=r"the state holds values that are not finite"):
                    read(crafted)


CRAFTED: list[Any] = [
    *(pytest.param("edit", edit, id=name[:60]) for name, edit in _crafted.EDITS.items()),
    *(pytest.param("structure", edit, id=name) for name, edit in _crafted.STRUCTURES.items()),
    *(
        pytest.param(old, edit, id=f"{old.stem} {name}")
        for old in damage.OLD
        for name, edit in [
            *_crafted.OLD_STRUCTURES.items(),
            *([("bomb", _crafted.old_bomb)] if old.stem < "version3" else []),
        ]
    ),
]


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The checkpoint that crafted ones are made of."""
    return damage.make().save(tmp_path_factory.mktemp("original") / "state.h5")


@pytest.mark.parametrize(("base", "edit"), CRAFTED)
def test_a_crafted_file_is_refused(
    base: str | Path, edit: Callable[[Any], object], original: Path, tmp_path: Path
) -> None:
    path = tmp_path / "state.h5"
    if isinstance(base, Path):
        path.write_bytes(base.read_bytes())
        with h5py.File(path, "r+") as file:
            edit(file)
    else:
        content = _crafted.content(original)
        if base == "edit":
            edit(content)
        _crafted.write(path, content, edit if base == "structure" else None)
    assert damage.refused(path, None) == "refused"


def test_a_crafted_file_is_right_before_it_is_edited(original: Path, tmp_path: Path) -> None:
    _crafted.write(tmp_path / "state.h5", _crafted.content(original))
    assert load(tmp_path / "state.h5").steps == 0


@pytest.mark.parametrize("kept", [6, 9])
def test_a_file_whose_boundary_cells_keep_other_numbers_is_refused_by_name(kept: int, tmp_path: Path) -> None:
    """As those of versions in which a characteristic outlet kept 6 or 9 numbers a cell."""
    domain = lbm.Domain((8, 6), "D2Q9")
    domain.faces["-x"], domain.faces["+x"] = lbm.NoSlip(), lbm.PressureOutlet(scheme="characteristic")
    solver = lbm.Solver(domain, lbm.CentralMoments(0.1), device="cpu", threads=1)
    solver.step(2)
    path = solver.save(tmp_path / "state.h5")
    before = solver.populations()
    content = _crafted.content(path)
    numbers = content["arrays"]["boundary.+x"]
    assert numbers.shape[1:] == (6,)
    content["arrays"]["boundary.+x"] = np.resize(numbers, (kept, 6))
    _crafted.write(tmp_path / "old.h5", content)
    for read in (solver.restore, load):
        must = rf"cells before face '\+x' keep {kept} numbers each, must be {len(numbers)}: it is of a version"
        with pytest.raises(lbm.CheckpointError, match=must):
            read(tmp_path / "old.h5")
    np.testing.assert_array_equal(solver.populations(), before)


def test_what_is_no_file_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    solver = lbm.Solver(lbm.Domain((8, 8), "D2Q9"), lbm.BGK(0.1), device="cpu")
    begin = time.monotonic()
    for path in (tmp_path / "pipe", Path("/dev/zero"), Path("/dev/null")):
        for read in (load, solver.restore):
            with pytest.raises(lbm.CheckpointError, match="is not a regular file"):
                read(path)
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(lbm.CheckpointError, match="cannot be read"):
        load(tmp_path / "loop")
    assert time.monotonic() - begin < 1


def test_a_state_that_does_not_fit_the_memory_is_refused_before_it_is_read(tmp_path: Path) -> None:
    """A file of holes declares more than there is; its size on the disk is a few kB."""
    path = damage.make().save(tmp_path / "small.h5")
    content = _crafted.content(path)
    manifest = content["manifest"]
    shape, digests = [9, 2**18, 2**20], ["0" * 64] * 9 * 2**12
    manifest["setup"] |= {"shape": shape[:0:-1], "bodies": {}, "force": None, "faces": {}}
    del manifest["setup"]["thermal"]
    manifest["datasets"] = {"state": {"shape": shape, "dtype": "float32", "chunk": [1, 64, 2**20], "digests": digests}}
    content["arrays"] = {}

    def hole(file: h5py.File) -> None:
        created = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        created.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
        created.set_fill_time(h5py.h5d.FILL_TIME_NEVER)
        kind, space = h5py.h5t.NATIVE_FLOAT, h5py.h5s.create_simple(tuple(shape))
        h5py.h5d.create(file["/"].id, b"state", kind, space, created)

    _crafted.write(tmp_path / "hole.h5", content, hole)
    assert (tmp_path / "hole.h5").stat().st_size > 2**43
    begin = time.process_time()
    with pytest.raises(lbm.CheckpointError, match=r"9216\.0 GiB to be read, more than there is memory for"):
        load(tmp_path / "hole.h5")
    assert time.process_time() - begin < 1


def test_any_window_is_read_of_any_chunks(
    saved: tuple[lbm.Solver, Path], rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    solver, path = saved
    state = state_of(solver)
    for smallest in (4, 40, 100, 1000):
        monkeypatch.setattr(chunks, "SMALLEST", smallest)
        solver.save(path)
        solver.restore(path)
        with opened(path, threads=3) as file:
            for _ in range(10):
                low = rng.integers(0, (9, 7))
                size = rng.integers(1, (9, 7) - low + 1)
                window = (low.tolist(), size.tolist())
                part = state[:, low[1] : low[1] + size[1], low[0] : low[0] + size[0]]
                np.testing.assert_array_equal(file.state(window), part)
    np.testing.assert_array_equal(load(path).populations(), solver.populations())


@given(st.lists(st.integers(1, 6), min_size=1, max_size=4), st.integers(0, 1), st.integers(1, 300))
def test_chunks_follow_each_other_and_cover_the_array(shape: list[int], lead: int, smallest: int) -> None:
    before, chunks.SMALLEST = chunks.SMALLEST, smallest
    try:
        cut = Chunks.of("name", shape, np.float32, lead)
    finally:
        chunks.SMALLEST = before
    numbers = np.arange(np.prod(shape)).reshape(shape)
    assert cut.is_right()
    end = 0
    for index, chunk in enumerate(cut):
        box = tuple(slice(a, b) for a, b in zip(chunk.low, chunk.high, strict=True))
        assert (chunk.index, chunk.start, chunk.size) == (index, end, numbers[box].size)
        end += chunk.size
        np.testing.assert_array_equal(numbers[box].reshape(-1), np.arange(chunk.start, end))
        assert chunk.size * 4 <= max(4, smallest)
    assert (end, cut.count) == (numbers.size, index + 1)
    if lead:
        assert [chunk for k in range(shape[0]) for chunk in cut.at(k)] == list(cut)
