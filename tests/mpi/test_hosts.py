"""Tests of layouts of hosts, of plans and of channels under MPI, on hosts that are pretended."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import lbmgpu as lbm
from lbmgpu import _core

from . import launch

OWN_GPU = pytest.param("cuda", marks=pytest.mark.gpu)


def need(device: str, request: pytest.FixtureRequest) -> None:
    """Skip a test on a GPU where there is none, or fail it where one is required."""
    if device != "cpu":
        request.getfixturevalue("gpu")


@pytest.mark.parametrize("count", launch.counts(2, 3, 4))
def test_layouts_are_matched_with_hosts_and_ranks(count: int) -> None:
    launch.succeed("placement.py", count)


@pytest.mark.parametrize("device", ["cpu", OWN_GPU])
@pytest.mark.parametrize("count", launch.counts(2, 4))
def test_ranks_plan_together(count: int, device: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    need(device, request)
    launch.succeed("planning.py", count, device, str(tmp_path))


@pytest.mark.parametrize("count", launch.counts(2, 3))
def test_ranks_of_the_cpu_send_messages(count: int) -> None:
    launch.succeed("links.py", count, "cpu", "mpi")


@pytest.mark.gpu
def test_gpus_of_two_hosts_send_messages(gpu: str) -> None:
    if _core.cuda_device_count() < 2:
        pytest.skip("needs two GPUs")
    launch.succeed("links.py", 2, "cuda", "direct")


@pytest.mark.gpu
@pytest.mark.parametrize("count", launch.counts(2, 3))
def test_ranks_take_fields_from_the_memory_of_their_gpus(count: int, gpu: str) -> None:
    launch.succeed("gpu_inputs.py", count)


@pytest.mark.parametrize(("count", "seed"), [(2, 1), pytest.param(3, 2, marks=pytest.mark.slow)])
def test_no_random_layout_changes_a_bit(count: int, seed: int) -> None:
    ended = launch.run("random_flows.py", count, "--count", "25", "--seed", str(seed), timeout=300)
    assert ended.code == 0, ended.output
    assert "25 random layouts" in ended.output


@pytest.mark.gpu
def test_no_random_layout_over_gpus_changes_a_bit(gpu: str) -> None:
    arguments = ["--count", "25", "--seed", "3", "--devices", "cuda,cpu,auto", "--layouts-a-flow", "5"]
    ended = launch.run("random_flows.py", 2, *arguments, timeout=600)
    assert ended.code == 0, ended.output


@pytest.mark.slow
def test_the_command_plans_on_ranks(tmp_path: Path) -> None:
    case = {
        "domain": {"shape": [24, 20, 16], "stencil": "D3Q19"},
        "collision": {"model": "BGK", "viscosity": 0.1},
        "run": {"steps": 4, "device": "cpu", "layout": "auto"},
    }
    (tmp_path / "case.json").write_text(json.dumps(case))
    layout = tmp_path / "layout.json"
    for what in (["24x20x16", "--devices", "cpu"], [str(tmp_path / "case.json"), "--measure"]):
        ended = launch.run_python(2, "-m", "lbmgpu", "plan", *what, "--output", str(layout))
        assert ended.code == 0, ended.output
        assert ended.output.count("1x1x2 ") == 1  # rank 0 alone speaks
        assert ended.output.count("of two ranks of a host (ranks)") == 1
        blocks = list(lbm.Layout.load(layout))
        assert [block.rank for block in blocks] == [0, 1]
        assert all(block.host for block in blocks)
        layout.unlink()
    ended = launch.run_python(2, "-m", "lbmgpu", "run", str(tmp_path / "case.json"), "--output", str(tmp_path / "out"))
    assert ended.code == 0, ended.output


def test_a_wrong_layout_ends_the_command_once(tmp_path: Path) -> None:
    lbm.Layout.split((8, 8), (1, 2), ranks=[0, 7]).save(tmp_path / "layout.json")
    case = {
        "domain": {"shape": [8, 8], "stencil": "D2Q9"},
        "collision": {"model": "BGK", "viscosity": 0.1},
        "run": {"steps": 4},
    }
    (tmp_path / "case.json").write_text(json.dumps(case))
    arguments = ["run", str(tmp_path / "case.json"), "--layout", str(tmp_path / "layout.json")]
    ended = launch.run_python(2, "-m", "lbmgpu", *arguments, "--output", str(tmp_path / "out"), timeout=60)
    assert ended.code != 0
    assert ended.output.count("layout: block 1 is of rank 7, but there are 2 processes") == 1, ended.output
