"""Plans of a stencil that reaches several cells: what is measured for them, and what they choose."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import lbmgpu as lbm
from lbmgpu import cli
from lbmgpu.benchmarks import single as bench
from lbmgpu.planning import machine as probe, planner
from lbmgpu.planning.cost_model import Device, Link, Machine

LINK = Link("peer", 380e9, 8e-6, 0.25)


def gpus(count: int, link: Link = LINK) -> Machine:
    return Machine(tuple(Device(f"cuda:{k}", 4e12, 5e-6) for k in range(count)), {"peer": link})


def test_a_link_of_three_exchanges_by_hand() -> None:
    """10 GB/s and 20 us along y, a quarter of the bandwidth across x."""
    small, along = (2e4, 20e-6 + 2e4 / 1e10), (2e7, 20e-6 + 2e7 / 1e10)
    across = (2e7, 20e-6 + 2e7 / 0.25e10)
    found = probe.link_between("peer", small, along, across)
    assert found.kind == "peer"
    assert (found.bandwidth, found.latency, found.x_fraction) == pytest.approx((1e10, 20e-6, 0.25))


def test_noise_makes_no_figure_negative_or_huge() -> None:
    slower = probe.link_between("same", (1e4, 9e-5), (1e6, 8e-5), (1e6, 1e-5))
    assert slower.bandwidth == pytest.approx(1e6 / 8e-5)
    assert slower.latency == pytest.approx(9e-5 - 1e4 / slower.bandwidth)
    assert slower.x_fraction == 1.0  # it cannot be faster than along y
    equal = probe.link_between("same", (1e4, 9.99e-5), (1e6, 1e-4), (1e6, 1e-4))
    assert equal.bandwidth == pytest.approx(1e10)
    steep = probe.link_between("same", (1e4, 1e-7), (2e4, 1e-3), (2e4, 2e-3))
    assert steep.latency == 0.0
    assert 0 < steep.x_fraction <= 1.0


@pytest.mark.parametrize("stencil", ["D2Q9", "D2Q37"])
def test_the_exchange_itself_is_measured(stencil: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two blocks, by the bytes that one of them gets: along y, and across x; the environment is as before."""
    monkeypatch.setenv("LBMGPU_SCHEDULE", "overlap")
    monkeypatch.setattr(probe, "FACE", {"cpu": 256})
    probe.measure_exchange.cache_clear()
    seen: list[tuple[float, float]] = []

    def watched(*arguments: object, axis: int) -> tuple[float, float]:
        seen.append(measured(*arguments, axis=axis))  # type: ignore[arg-type]
        return seen[-1]

    measured = probe._bytes_and_seconds
    monkeypatch.setattr(probe, "_bytes_and_seconds", watched)
    configuration = bench.completed(64, "cpu", {"stencil": stencil, "precision": "float64"})
    link = probe.measure_exchange("cpu", "cpu", configuration, 1, "")
    assert os.environ["LBMGPU_SCHEDULE"] == "overlap"
    assert link.kind == "same"
    assert link.bandwidth > 0
    assert link.latency >= 0
    assert 0 < link.x_fraction <= 1
    crossing = {"D2Q9": 3, "D2Q37": 26}[stencil]
    assert [size for size, _ in seen] == [2 * crossing * cells * 8 for cells in (4 * probe.DEEP, 256, 256)]
    assert all(seconds > 0 for _, seconds in seen)
    assert probe.measure_exchange("cpu", "cpu", configuration, 1, "") is link
    assert len(seen) == 3
    probe.measure_exchange.cache_clear()


@pytest.mark.parametrize(("stencil", "exchanged"), [("D2Q9", False), ("D3Q19", False), ("D2Q37", True)])
def test_which_links_are_measured_so(stencil: str, exchanged: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    plain, far = Link("same", 1e10), Link("same", 2e10)
    monkeypatch.setattr(probe, "measure_device", lambda name, configuration, threads: Device(name, 1e10))
    monkeypatch.setattr(probe, "measure_link", lambda *arguments: plain)
    monkeypatch.setattr(probe, "measure_exchange", lambda *arguments: far)
    configuration = bench.completed(64, "cpu", {"stencil": stencil})
    found = probe.measure_machine(["cpu", "cpu"], configuration, threads=1)
    assert found.pairs == {("cpu", "cpu"): far if exchanged else plain}


def test_layers_are_chosen_while_they_hide_the_exchange() -> None:
    plan = lbm.plan((4096, 4096), "D2Q37", precision="float64", machine=gpus(8))
    assert plan.problem.bytes_per_update == 592
    assert plan.problem.radius == 3
    assert (plan.configuration.collision, plan.configuration.streaming) == ("ThermalBGK", "two-lattice")
    assert {candidate.tiling.parts for candidate in plan.candidates} == {(1, 8), (2, 4), (4, 2), (8, 1)}
    assert plan.layout == lbm.Layout.split((4096, 4096), (1, 8), [f"cuda:{k}" for k in range(8)])
    update = 4096 * 512 * 592 / 4e12
    assert plan.step_seconds == pytest.approx(5e-6 + 5e-6 + update)  # the shell is launched by itself
    assert lbm.plan((4096, 4096), "D2Q37", machine=gpus(8)).problem.bytes_per_update == 296


def test_blocks_are_chosen_where_layers_are_thin_or_links_slow() -> None:
    """A layer has three rows at least; across a slow link the smaller surface counts."""
    slow = Link("peer", 1e9, 1e-6, 1.0)
    assert lbm.plan((256, 256), "D2Q37", machine=gpus(16, slow)).candidates[0].tiling.parts == (4, 4)
    few = lbm.plan((64, 12), "D2Q37", machine=gpus(8))
    assert {candidate.tiling.parts for candidate in few.candidates} == {(2, 4), (4, 2), (8, 1)}
    with pytest.raises(ValueError, match="devices: 8 given, more than blocks that"):
        lbm.plan((8, 8), "D2Q37", machine=gpus(8))


def test_along_x_is_chosen_where_it_is_the_long_axis() -> None:
    """Of a channel with walls on y: short faces beside long ones, whose exchange is hidden in either case."""
    plan = lbm.plan((65536, 24), "D2Q37", machine=gpus(8), periodic=(True, False))
    first, second = plan.candidates[:2]
    assert [first.tiling.parts, second.tiling.parts] == [(4, 2), (8, 1)]
    assert first.prediction.step_seconds == pytest.approx(second.prediction.step_seconds)
    assert first.prediction.exchange_seconds > second.prediction.exchange_seconds


def test_what_is_slower_across_x_is_said() -> None:
    machine = Machine((), pairs={("cuda:0", "cuda:1"): LINK, ("cuda:1", "cuda:0"): Link("peer", 380e9, 8e-6)})
    assert planner.machine_lines(machine) == [
        "cuda:0 to cuda:1 (peer): 380.0 GB/s, across x 0.25 of that, 8.0 us an exchange",
        "cuda:1 to cuda:0 (peer): 380.0 GB/s, 8.0 us an exchange",
    ]


def test_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(probe, "measure_device", lambda name, configuration, threads: Device(name, 5e10, 1e-5))
    monkeypatch.setattr(probe, "measure_exchange", lambda *arguments: Link("same", 1e10, 1e-6, 0.5))
    file = tmp_path / "layout.json"
    options = ["--stencil", "D2Q37", "--devices", "cpu,cpu", "--walls", "y", "--output", str(file)]
    assert cli.main(["plan", "96x64", *options]) == cli.OK
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[4:6]] == ["1x2", "2x1"]
    assert lbm.Layout.load(file) == lbm.Layout.split((96, 64), (1, 2))
