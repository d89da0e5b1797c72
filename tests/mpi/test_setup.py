"""Tests of set-ups that each rank makes of its own part: the bits, and the memory that they take."""

from __future__ import annotations

import functools
import json

import pytest

from . import launch

CELLS = 128
SLACK = 6 * 2**20
"""Bytes that messages and the allocator take, whatever the domain's size."""


@pytest.mark.parametrize("count", launch.counts(1, 2, 3, 4))
def test_ranks_that_are_given_their_parts_get_the_same_bits(count: int) -> None:
    launch.succeed("windows.py", count)


@pytest.mark.parametrize("count", launch.counts(2, 3))
def test_ranks_find_their_cells_of_geometries(count: int) -> None:
    launch.succeed("geometries.py", count)


@functools.cache
def added(way: str, count: int, cells: int = CELLS) -> tuple[int, int]:
    """The most bytes that a set-up adds to a rank, and the most beside its engine's own."""
    ended = launch.run("setup_memory.py", count, str(cells), way)
    assert ended.code == 0, ended.output
    found = [json.loads(line.partition(" ")[2]) for line in ended.output.splitlines() if line.startswith("memory {")]
    assert [entry["rank"] for entry in found] == list(range(count)), ended.output
    return max(e["added"] for e in found), max(e["added"] - e["engine"] for e in found)


@pytest.mark.slow
@pytest.mark.parametrize("count", launch.counts(2, 4))
@pytest.mark.parametrize("way", ["uniform", "functions", "parts", "loaded"])
def test_set_up_takes_memory_in_proportion_to_the_part(way: str, count: int) -> None:
    whole, beside_whole = added(way, 1)
    part, beside_part = added(way, count)
    assert part <= 1.5 * whole / count + SLACK
    assert beside_part <= 1.5 * max(beside_whole, 0) / count + SLACK


@pytest.mark.slow
@pytest.mark.parametrize("count", launch.counts(2, 4))
def test_a_load_takes_the_state_of_the_part_and_its_force_beside_the_engine(count: int) -> None:
    """Those are 100 bytes a cell."""
    assert added("loaded", count)[1] <= 150 * CELLS**3 / count + SLACK


@pytest.mark.slow
@pytest.mark.parametrize("count", launch.counts(2, 4))
def test_a_save_takes_memory_in_proportion_to_the_part_and_one_field_on_rank_0(count: int) -> None:
    field = 8 * CELLS**3
    assert added("saved", count)[0] <= 1.5 * added("saved", 1)[0] / count + 2 * field + SLACK


def test_uniform_values_stay_uniform() -> None:
    """Nothing a cell is made of them: less than a byte, in so many cells that a byte each is more than the slack."""
    cells = 192
    assert cells**3 > SLACK
    assert added("uniform", 1, cells)[1] < SLACK


@pytest.mark.slow
@pytest.mark.parametrize("count", launch.counts(2, 4))
def test_statistics_of_cells_are_saved_and_loaded_in_parts(count: int) -> None:
    """Ten float64 fields: no rank has one of them whole, and rank 0 a population of the state as before."""
    cells = 96**3
    ended = launch.run("recorder_checkpoint_memory.py", count, "96")
    assert ended.code == 0, ended.output
    found = [json.loads(line.partition(" ")[2]) for line in ended.output.splitlines() if line.startswith("memory {")]
    assert len(found) == count
    state, fields = 19 * 4, 10 * 8
    for entry in found:
        assert entry["saved"] <= 1.2 * (state + 3 * 8) * cells / count + 2 * 4 * cells + SLACK
        assert entry["loaded"] <= 1.2 * (state + fields) * cells / count + SLACK
