"""What recorders keep in checkpoints: it comes back whole, and a file that is not right is refused."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from numpy.typing import NDArray

import lbmgpu as lbm
from lbmgpu.io import checkpoint_slabs
from lbmgpu.io.checkpoint_recorders import Kept, Listed, OfCells, entries_of, stored
from lbmgpu.io.chunks import Chunks


class Keeper(lbm.Recorder):
    """Keeps what it is given."""

    def __init__(self, name: str, **arrays: NDArray[Any]) -> None:
        super().__init__(name=name)
        self.arrays: dict[str, NDArray[Any]] = arrays

    def sample(self, solver: lbm.Solver) -> None:
        pass

    def kept(self) -> dict[str, NDArray[Any]]:
        return self.arrays

    def restore(self, kept: dict[str, NDArray[Any]]) -> None:
        self.arrays = kept


def solver() -> lbm.Solver:
    return lbm.Solver(lbm.Domain((12, 10), "D2Q9"), lbm.BGK(0.1), device="cpu")


GIVEN = {
    "numbers": np.arange(12.0).reshape(3, 4),
    "count": np.array(7),
    "none": np.empty((0, 5), np.float32),
    "bits/of ../anything": np.array([1, 255], np.uint8),
    "large": np.random.default_rng(3).normal(size=(2, 700, 800)),
}


def test_arrays_of_all_shapes_come_back(tmp_path: Path) -> None:
    first = solver()
    first.record(Keeper("a name, with /slashes", **GIVEN), Keeper("empty"))
    path = first.save(tmp_path / "state.h5")
    with h5py.File(path) as file:
        assert file.attrs["version"] == 5
    waiting = lbm.Solver.load(path, device="cpu")
    again = waiting.save(tmp_path / "again.h5")  # what waits for a recorder is not lost
    loaded = lbm.Solver.load(again, device="cpu")
    found = Keeper("a name, with /slashes")
    loaded.record(found)
    assert list(found.arrays) == list(GIVEN)
    for name, array in GIVEN.items():
        assert found.arrays[name].dtype == array.dtype
        assert found.arrays[name].shape == array.shape
        assert np.array_equal(found.arrays[name], array)


def test_a_file_without_recorders_is_of_the_version_before(tmp_path: Path) -> None:
    path = solver().save(tmp_path / "state.h5")
    with h5py.File(path, "r+") as file:
        assert file.attrs["version"] == 4
        file.attrs["version"] = 5
    with pytest.raises(lbm.CheckpointError, match="damaged"):
        lbm.Solver.load(path, device="cpu")


def test_another_state_takes_nothing_of_a_file(tmp_path: Path) -> None:
    first = solver()
    first.record(Keeper("a", numbers=np.ones(3)))
    loaded = lbm.Solver.load(first.save(tmp_path / "state.h5"), device="cpu")
    loaded.initialize()
    found = Keeper("a")
    loaded.record(found)
    assert found.arrays == {}


@pytest.mark.parametrize("shape", [(12, 10), (7, 5, 4)])
def test_arrays_of_cells_come_back(shape: tuple[int, ...], tmp_path: Path) -> None:
    arrays = {"scalar": random(shape), "vector": random((3, *shape)), "tensors": random((2, 3, *shape))}
    arrays["none"] = np.empty((0, *shape))
    kept: Any = {name: OfCells.of(array, len(shape)) for name, array in arrays.items()}
    domain = lbm.Domain(shape, "D2Q9" if len(shape) == 2 else "D3Q19")
    first = lbm.Solver(domain, lbm.BGK(0.1), device="cpu")
    first.record(Keeper("cells", **kept, plain=np.arange(3)))
    waiting = lbm.Solver.load(first.save(tmp_path / "state.h5"), device="cpu")
    loaded = lbm.Solver.load(waiting.save(tmp_path / "again.h5"), device="cpu")
    found: Any = loaded.record(Keeper("cells"))
    assert found.arrays.keys() == {*arrays, "plain"}
    for name, array in arrays.items():
        np.testing.assert_array_equal(found.arrays[name], array)


def random(shape: tuple[int, ...]) -> NDArray[np.float64]:
    return np.random.default_rng(len(shape)).normal(size=shape)


def test_damage_of_an_array_of_cells_is_found(tmp_path: Path) -> None:
    first = solver()
    kept: Any = {"cells": OfCells.of(random((2, 12, 10)), 2)}
    first.record(Keeper("a", **kept))
    path = first.save(tmp_path / "state.h5")
    with h5py.File(path) as file:
        assert file["recorders.0.0"].shape == (2, 10, 12)
        place = file["recorders.0.0"].id.get_offset()
    content = bytearray(path.read_bytes())
    content[place + 8 * 130] ^= 1
    path.write_bytes(content)
    with pytest.raises(lbm.CheckpointError, match="digest of chunk 1 of 'recorders"):
        lbm.Solver.load(path, device="cpu")


@pytest.mark.parametrize("shape", [(3, 40, 50, 60), (2, 3, 700, 900), (4, 900, 800), (1, 2, 2, 700_000), (2, 1, 1)])
def test_slabs_are_boxes_of_all_chunks_in_order(shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint_slabs, "SLAB", 2**23)
    chunks = Chunks.of("a", shape, np.float64, lead=1)
    for lead in range(shape[0]):
        found = list(checkpoint_slabs.slabs(list(chunks.at(lead)), 8))
        assert [chunk for slab in found for chunk in slab] == list(chunks.at(lead))
        for slab in found:
            sides = [b - a for a, b in zip(slab[0].low, slab[-1].high, strict=True)]
            assert math.prod(sides) == sum(chunk.size for chunk in slab)  # so that it is a box
            assert math.prod(sides) * 8 <= 2**23 + 2**22


def test_a_refused_restore_leaves_solver_and_recorders_as_they_were(tmp_path: Path) -> None:
    points = [(3.0, 4.0)]

    def made(**late: Any) -> tuple[lbm.Solver, list[Any]]:
        flow = solver()
        flow.initialize(velocity=(0.02, 0.01))
        found = [lbm.Mean("velocity"), lbm.Probe(points, "velocity"), Keeper("a", numbers=np.ones(2))]
        flow.record(*found, lbm.Covariance("velocity", **late))
        return flow, found

    other, _ = made(every=3)
    other.step(4)
    path = other.save(tmp_path / "state.h5")
    flow, (mean, probe, keeper) = made()
    flow.step(7)
    before = flow.populations(), mean["velocity"], probe["velocity"]
    with pytest.raises(lbm.CheckpointError, match=r"recorder 'covariance': not what the checkpoint has .*every=3"):
        flow.restore(path)
    assert (flow.steps, mean.samples, len(probe)) == (7, 7, 7)
    for now, then in zip((flow.populations(), mean["velocity"], probe["velocity"]), before, strict=True):
        np.testing.assert_array_equal(now, then)
    np.testing.assert_array_equal(keeper.arrays["numbers"], np.ones(2))
    flow.step(1)
    assert (mean.samples, len(probe)) == (8, 8)


def test_samples_later_than_the_state_are_refused() -> None:
    flow = solver()
    probe: Any = flow.record(lbm.Probe([(3.0, 4.0)], "velocity"))
    flow.step(4)
    probe.check_kept(probe.kept(), 4)
    with pytest.raises(ValueError, match="a sample of step 4, later than the state of step 3"):
        probe.check_kept(probe.kept(), 3)


def test_recorders_go_on_though_one_of_them_lost_its_file(tmp_path: Path) -> None:
    class Lost(lbm.Recorder):
        def sample(self, solver: lbm.Solver) -> None:
            pass

        def state_was_set(self, solver: lbm.Solver) -> None:
            raise OSError("lost")

    flow = solver()
    mean: Any = lbm.Mean("velocity")
    flow.record(mean, Lost())
    flow.step(3)
    path = flow.save(tmp_path / "state.h5")
    flow.step(2)
    with pytest.raises(OSError, match="lost"):
        flow.restore(path)
    assert (flow.steps, mean.samples) == (3, 3)


def test_damage_is_found_by_digests(tmp_path: Path) -> None:
    first = solver()
    first.record(Keeper("a", numbers=np.full(5, 1.2345)))
    path = first.save(tmp_path / "state.h5")
    with h5py.File(path) as file:
        place = file["recorders.0.0"].id.get_offset()
    content = bytearray(path.read_bytes())
    content[place + 9] ^= 1
    path.write_bytes(content)
    with pytest.raises(lbm.CheckpointError, match="digest of chunk 0 of 'recorders"):
        lbm.Solver.load(path, device="cpu")


def test_a_type_that_files_do_not_have_is_refused(tmp_path: Path) -> None:
    first = solver()
    first.record(Keeper("a", numbers=np.ones(3, np.complex128)))
    with pytest.raises(TypeError, match="recorder 'a': numbers is of complex128"):
        first.save(tmp_path / "state.h5")
    assert list(tmp_path.iterdir()) == []


def entry(**other: Any) -> list[dict[str, Any]]:
    array = {"key": "steps", "shape": [3], "dtype": "int64"} | other
    return [{"name": "a", "kind": "Probe", "arrays": [array]}]


@pytest.mark.parametrize(
    "listing",
    [
        None,
        {},
        [1],
        [{}],
        [{"name": "a", "kind": "Probe", "arrays": {}}],
        [{"name": "", "kind": "Probe", "arrays": []}],
        [{"name": "a", "kind": "Probe", "arrays": []}] * 2,
        [{"name": "a", "kind": "Probe", "arrays": entry()[0]["arrays"] * 2}],
        entry(shape=[-1]),
        entry(shape=[1.5]),
        entry(shape=[1] * 9),
        entry(dtype="object"),
        entry(cells=True),
        entry(cells=1, dtype="float64"),
        entry(key=7),
        [{"name": str(n), "kind": "Probe", "arrays": []} for n in range(5000)],
    ],
)
def test_a_listing_that_is_none_is_refused(listing: Any) -> None:
    with pytest.raises((KeyError, TypeError, ValueError)):
        Listed(listing)


def test_more_than_the_memory_holds_is_refused() -> None:
    with pytest.raises(ValueError, match="more than there is memory for"):
        Listed(entry(shape=[2**50])).read(lambda name: np.empty(0))
    with pytest.raises(ValueError, match="more than there is memory for"):
        Listed(entry(shape=[2**20], dtype="float64", cells=True)).read(np.empty, np.empty, (2**10,) * 3)


def test_entries_are_listed() -> None:
    kept = [Kept("a", "Keeper", GIVEN), Kept("b", "Keeper", {})]
    arrays = dict(stored(kept))
    found = Listed(entries_of(kept)).read(lambda name: arrays[name])
    assert [(one.name, one.kind, list(one.arrays)) for one in found] == [
        (one.name, one.kind, list(one.arrays)) for one in kept
    ]
