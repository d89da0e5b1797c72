"""Plans: which tilings are looked at, what comes out, and that it runs; no test depends on how fast this machine is."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lbmgpu as lbm
from lbmgpu import _core, cli
from lbmgpu.benchmarks import single as bench
from lbmgpu.case import build as case_build, plan as case_plan, read as case_file
from lbmgpu.planning import machine as probe, planner
from lbmgpu.planning.cost_model import Device, Link, Machine

GPUS = Machine(tuple(Device(f"cuda:{k}", 4e12, 5e-6) for k in range(4)), {"peer": Link("peer", 2.8e11, 9e-6, 0.8)})


def machine_of(*devices: Device) -> Machine:
    return Machine(devices, {"same": Link("same", 1e10, 1e-7), "host": Link("host", 2e10, 1e-5)})


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Devices and links have known speeds: nothing is measured."""

    def measured(name: str, configuration: bench.Configuration, threads: int | None) -> Device:
        return Device(name, 5e10, 1e-5, 1e-7)

    monkeypatch.setattr(probe, "measure_device", measured)
    monkeypatch.setattr(probe, "measure_link", lambda *arguments: Link("same", 1e10, 1e-7))


def test_all_factorisations_that_fit_are_looked_at() -> None:
    parts = {tiling.parts for tiling in planner.tilings((8, 4, 3), [1.0] * 8)}
    assert parts == {(8, 1, 1), (4, 2, 1), (2, 4, 1), (4, 1, 2), (2, 2, 2), (1, 4, 2)}
    assert all(math.prod(tiling.parts) == 8 for tiling in planner.tilings((8, 4, 3), [1.0] * 8))
    assert {tiling.parts for tiling in planner.tilings((9, 8), [1.0] * 4, least=3)} == {(2, 2)}
    assert planner.tilings((7, 5), [1.0]) == planner.tilings((7, 5), [3.0])
    (one,) = planner.tilings((7, 5), [1.0])
    assert one.sizes == ((7,), (5,))


def test_unequal_speeds_add_layers_in_proportion() -> None:
    found = [tiling.sizes for tiling in planner.tilings((10, 100), [3e12, 1e12])]
    assert found == [((10,), (50, 50)), ((5, 5), (100,)), ((8, 2), (100,)), ((10,), (75, 25))]
    assert ((10,), (99, 1)) in [tiling.sizes for tiling in planner.tilings((10, 100), [1e12, 1.0])]
    assert ((10,), (97, 3)) in [tiling.sizes for tiling in planner.tilings((10, 100), [1e12, 1.0], least=3)]
    assert ((10,), (1, 98, 1)) in [tiling.sizes for tiling in planner.tilings((10, 100), [1.0, 1e12, 1.0])]
    assert len(planner.tilings((10, 100), [1.0, 1.02])) == 2


def test_the_plan_of_known_gpus() -> None:
    plan = lbm.plan((512, 512, 1024), machine=GPUS)
    assert plan.layout == lbm.Layout.split((512, 512, 1024), (1, 1, 4), [f"cuda:{k}" for k in range(4)])
    assert len(plan.candidates) == 6
    steps = [candidate.prediction.step_seconds for candidate in plan.candidates]
    assert steps == sorted(steps)
    assert plan.step_seconds == steps[0]
    assert plan.mlups == pytest.approx(512**2 * 1024 / steps[0] / 1e6)
    assert 0.95 < plan.efficiency < 1
    lines = str(plan).splitlines()
    assert lines[0] == planner.HEADER
    assert lines[1].split()[:4] == ["1x1x4", "512", "512", "4x256"]
    assert len(lines) == 7


def test_a_gpu_and_the_cpu_share_the_last_axis() -> None:
    machine = machine_of(Device("cuda:0", 4e12, 5e-6), Device("cpu", 4e11, 2e-5))
    plan = lbm.plan((512, 512, 512), "D3Q19", machine=machine, periodic=(False, False, False))
    assert [(block.size, block.device) for block in plan.layout] == [
        ((512, 512, 465), "cuda:0"),
        ((512, 512, 47), "cpu"),
    ]
    half, none = plan.alternatives
    assert [block.size for block in plan.layout_of(half)] == [(512, 512, 488), (512, 512, 24)]
    assert [(block.size, block.device) for block in plan.layout_of(none)] == [((512, 512, 512), "cuda:0")]
    assert {half, none} < set(plan.candidates)
    assert set(plan.tried()) == {*plan.candidates[: planner.TRIED], half, none}


def test_a_cpu_that_costs_more_than_it_brings_is_left_out() -> None:
    machine = machine_of(Device("cuda:0", 4e12, 5e-6), Device("cpu", 2e11, 2e-5, 1e-8))
    plan = lbm.plan((64, 64, 64), "D3Q19", machine=machine)
    assert plan.layout == lbm.Layout([lbm.Block((0, 0, 0), (64, 64, 64), device="cuda:0")])
    step = 5e-6 + 64**3 * 152 / 4e12
    assert plan.step_seconds == pytest.approx(step)
    assert plan.efficiency == pytest.approx(64**3 * 152 / 4.2e12 / step)  # of all devices, idle ones too
    assert lbm.plan((64, 64, 64), machine=GPUS).alternatives == ()


def test_auto_over_unequal_devices_takes_what_is_measured_as_fastest(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the model says, and not what does not fit the memory."""
    devices = (Device("cpu", 4e12, 5e-6), Device("cpu", 2e11, 2e-5, 1e-8, host=1, rank=0))
    machine = Machine(devices, {"network": Link("network", 2e10, 1e-6)})
    monkeypatch.setattr(planner, "measure_machine", lambda *arguments: machine)
    favourite: list[tuple[int, ...]] = []
    measured: list[tuple[tuple[int, ...], ...]] = []

    def measure(plan: planner.Plan, candidate: planner.Candidate, seconds: float) -> float:
        sizes = candidate.tiling.sizes
        measured.append(sizes)
        if len(candidate.devices) == 1 and favourite != [(512,)]:
            raise ValueError("does not fit")
        return float(sizes[-1] in favourite)

    monkeypatch.setattr(planner.Plan, "measure", measure)
    domain = lbm.Domain((16, 512), "D2Q9")
    for parts in ([(500, 12)], [(488, 24)], [(512,)]):
        favourite[:] = parts
        measured.clear()
        solver = lbm.Solver(domain, lbm.BGK(0.1), device=["cpu", "cpu"], layout="auto", schedule="blocking")
        assert tuple(block.size[1] for block in solver.layout) == parts[0]
        assert len(measured) == len(set(measured)) >= planner.TRIED
    monkeypatch.setattr(planner, "TRIED", 0)
    favourite.clear()
    plan = lbm.plan((16, 512), "D2Q9", machine=machine, schedule="blocking")  # overlap would favour others
    only = [candidate for candidate in plan.alternatives if len(candidate.devices) == 1]
    with pytest.raises(ValueError, match="does not fit"):
        replace(plan, alternatives=tuple(only)).fastest()


@pytest.mark.parametrize(("schedule", "hidden"), [("", True), ("overlap", True), ("blocking", False)])
def test_the_exchange_of_gpus_that_read_each_other_is_hidden(
    schedule: str, hidden: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LBMGPU_SCHEDULE", schedule)
    staged = replace(GPUS, links={kind: replace(link, kind="host") for kind, link in GPUS.links.items()})
    for machine in (GPUS, staged):
        for candidate in lbm.plan((512, 512, 512), machine=machine).candidates:
            found = candidate.prediction
            waits = not hidden or (machine is staged and candidate.tiling.parts[0] > 1)
            assert (found.step_seconds == pytest.approx(found.update_seconds + found.exchange_seconds)) == waits


def test_the_numbers_count() -> None:
    one = lbm.plan((64, 64, 64), machine=GPUS)
    assert one.problem.bytes_per_update == 2 * 19 * 4
    half = lbm.plan((64, 64, 64), "D3Q27", precision="float64", storage="float16", machine=GPUS)
    assert half.problem.bytes_per_update == 2 * 27 * 2


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize(("shape", "stencil"), [((13, 9), "D2Q9"), ((9, 8, 10), "D3Q19")])
def test_a_planned_layout_changes_no_bit(shape: tuple[int, ...], stencil: str, tmp_path: Path) -> None:
    domain = lbm.Domain(shape, stencil)
    domain.faces["-y"] = domain.faces["+y"] = lbm.NoSlip()
    flow = (0.05, 0.02, -0.03)[: len(shape)]
    one = lbm.Solver(domain, lbm.TRT(0.02), device="cpu")
    path = lbm.plan(shape, stencil, ["cpu"] * 3, collision="TRT").layout.save(tmp_path / "layout.json")
    layout = lbm.Layout.load(path)
    assert len(layout) == 3
    cut = lbm.Solver(domain, lbm.TRT(0.02), layout=layout)
    auto = lbm.Solver(domain, lbm.TRT(0.02), device=["cpu", "cpu"], layout="auto")
    assert len(auto.layout) == 2
    for solver in (one, cut, auto):
        solver.initialize(velocity=flow)
        solver.run(7)
    np.testing.assert_array_equal(cut.populations(), one.populations())
    np.testing.assert_array_equal(auto.populations(), one.populations())


@pytest.mark.usefixtures("known")
def test_auto_knows_the_walls_and_the_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[planner.Plan] = []
    plan = planner.plan

    def watched(*arguments: object, **options: object) -> planner.Plan:
        seen.append(plan(*arguments, **options))  # type: ignore[arg-type]
        return seen[-1]

    monkeypatch.setattr(planner, "plan", watched)
    domain = lbm.Domain((16, 12, 8))
    domain.faces["-y"], domain.faces["+y"] = lbm.NoSlip(), lbm.FreeSlip()
    options = {"precision": "float64", "storage": "float32", "streaming": "two-lattice"}
    lbm.Solver(domain, lbm.MRT(0.1), device=("cpu", "cpu"), layout="auto", threads=1, **options)  # type: ignore[arg-type]
    (found,) = seen
    assert found.problem.periodic == (True, False, True)
    assert found.problem.item_bytes == 4
    assert found.threads == 1
    assert found.configuration == bench.Configuration(collision="MRT", **options)  # type: ignore[arg-type]


def test_auto_over_one_device_is_one_block() -> None:
    for device in ("cpu", ["cpu"]):
        solver = lbm.Solver(lbm.Domain((8, 8), "D2Q9"), lbm.BGK(0.1), device=device, layout="auto")
        assert solver.layout == lbm.Layout([lbm.Block((0, 0), (8, 8))])


def test_a_machine_is_measured_as_it_is() -> None:
    """Whatever the speeds, they are speeds."""
    configuration = bench.Configuration(stencil="D2Q9")
    found = probe.measure_machine(["cpu", "cpu"], configuration, threads=1)
    assert [device.name for device in found.devices] == ["cpu", "cpu"]
    assert found.devices[0] == found.devices[1]
    device, link = found.devices[0], found.pairs["cpu", "cpu"]
    assert 0 < device.speed < 1e13
    assert 0 <= device.fixed < 1
    assert 0 <= device.a_row < 1
    assert link.kind == "same"
    assert 0 < link.bandwidth < 1e13
    assert 0 <= link.latency < 1
    assert probe.measure_machine(["cpu"], configuration, threads=1).pairs == {}


def test_a_forced_channel_is_what_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Staged: into the host's memory and out of it, one after the other, whatever the two devices could do."""
    speeds = {("cuda:0", "cpu"): 1e10, ("cpu", "cuda:1"): 3e10, ("cuda:0", "cuda:1"): 4e11, ("cpu", "cpu"): 2e10}
    probe._measured_link.cache_clear()
    monkeypatch.setattr(probe._core, "link_bandwidth", lambda a, b, size, repeats: (1e-6, speeds[a, b]))
    monkeypatch.setattr(probe._core, "device_can_access", lambda a, b: "cpu" not in (a, b))
    fraction = probe.ROW_FRACTION
    monkeypatch.delenv("LBMGPU_CHANNEL", raising=False)
    assert probe.measure_link("cuda:0", "cuda:1") == Link("peer", fraction * 4e11, 1e-6, probe.X_FRACTION)
    for channel in ("direct", "mpi"):
        monkeypatch.setenv("LBMGPU_CHANNEL", channel)
        assert probe.measure_link("cpu", "cpu") == Link("same", 2e10, 1e-6)
    monkeypatch.setenv("LBMGPU_CHANNEL", "staged")
    staged = probe.measure_link("cuda:0", "cuda:1")
    assert (staged.kind, staged.latency, staged.x_fraction) == ("host", 2e-6, probe.X_FRACTION)
    assert staged.bandwidth == pytest.approx(fraction / (1 / 1e10 + 1 / 3e10))
    assert probe.measure_link("cpu", "cpu") == Link("host", 1e10, 2e-6)
    probe._measured_link.cache_clear()


def test_gpus_of_one_model_are_measured_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def measured(name: str, configuration: bench.Configuration, threads: int | None) -> Device:
        asked.append(name)
        return Device(name, 1e12)

    models = {"cuda:0": "NVIDIA A", "cuda:1": "NVIDIA B", "cuda:2": "NVIDIA A"}
    monkeypatch.setattr(probe.gpu, "properties", lambda name: {"name": models[name]})
    monkeypatch.setattr(probe, "measure_device", measured)
    monkeypatch.setattr(probe, "measure_link", lambda *arguments: Link("peer", 1e11))
    found = probe.measure_machine(["cuda:2", "cpu", "cuda:0", "cuda:1"], bench.Configuration())
    assert [device.name for device in found.devices] == ["cuda:2", "cpu", "cuda:0", "cuda:1"]
    assert sorted(asked) == ["cpu", "cuda:1", "cuda:2"]
    assert len(found.pairs) == 12


def test_copies_from_device_to_device() -> None:
    seconds, bandwidth = _core.link_bandwidth("cpu", "cpu", 2**20, 2)
    assert seconds >= 0
    assert bandwidth > 0
    assert _core.device_can_access("cpu", "cpu")
    with pytest.raises(ValueError, match="1000 bytes and 2 repeats given, must be 8192 to "):
        _core.link_bandwidth("cpu", "cpu", 1000, 2)
    with pytest.raises(ValueError, match="repeats given"):
        _core.link_bandwidth("cpu", "cpu", 2**20, 0)
    with pytest.raises(ValueError, match="device: 'gpu' given"):
        _core.link_bandwidth("cpu", "gpu", 2**20, 2)


@pytest.mark.gpu
def test_copies_from_and_to_a_gpu(gpu: str) -> None:
    last = f"cuda:{_core.cuda_device_count() - 1}"
    for source, target in ((gpu, gpu), ("cpu", gpu), (gpu, "cpu"), (gpu, last), (last, gpu)):
        seconds, bandwidth = _core.link_bandwidth(source, target, 2**24, 3)
        assert 0 < seconds < 1
        assert 0 < bandwidth < 1e14
    with pytest.raises(ValueError, match="device"):
        _core.link_bandwidth("cpu", "cuda:999", 2**20, 1)


@pytest.mark.gpu
def test_a_plan_over_gpu_and_cpu_runs(gpu: str) -> None:
    """With the same bits as one block."""
    domain = lbm.Domain((20, 18, 16))
    solvers = [
        lbm.Solver(domain, lbm.MRT(0.05), device=[gpu, "cpu"], layout="auto"),
        lbm.Solver(domain, lbm.MRT(0.05), device=gpu),
    ]
    for solver in solvers:
        solver.initialize(velocity=(0.03, 0.02, 0.01))
        solver.run(6)
    np.testing.assert_array_equal(solvers[0].populations(), solvers[1].populations())


@pytest.mark.usefixtures("known")
def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "layout.json"
    options = ["--stencil", "D3Q27", "--devices", "cpu,cpu", "--walls", "xz", "--output", str(file)]
    assert cli.main(["plan", "12x10x8", *options]) == cli.OK
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "update: D3Q27 BGK float32 in-place"
    assert lines[1] == "cpu: 50.0 GB/s in updates, 10.0 us a step and 100.0 ns a row in addition"
    assert lines[2] == "cpu to cpu (same): 10.0 GB/s, 0.1 us an exchange"
    assert lines[3] == planner.HEADER
    assert [line.split()[0] for line in lines[4:7]] == ["1x1x2", "1x2x1", "2x1x1"]
    assert lines[7] == f"layout: {file}"
    assert lbm.Layout.load(file) == lbm.Layout.split((12, 10, 8), (1, 1, 2))


CASE: dict[str, Any] = {
    "domain": {"shape": [16, 12], "stencil": "D2Q9"},
    "collision": {"model": "TRT", "viscosity": 0.05},
    "precision": "float64",
    "storage": "float32",
    "streaming": "two-lattice",
    "faces": {"-x": {"condition": "no-slip"}, "+x": {"condition": "moving-wall", "velocity": [0, 0.05]}},
    "run": {"steps": 20, "device": ["cpu", "cpu", "cpu"], "threads": 1},
    "output": {"checkpoint": {}},
}


def write_case(folder: Path, **run: object) -> str:
    path = folder / "case.json"
    path.write_text(json.dumps({**CASE, "run": {**CASE["run"], **run}}))
    return str(path)


@pytest.fixture
def plans(monkeypatch: pytest.MonkeyPatch) -> list[planner.Plan]:
    """All plans that are made."""
    seen: list[planner.Plan] = []
    plan = planner.plan

    def watched(*arguments: Any, **options: Any) -> planner.Plan:
        seen.append(plan(*arguments, **options))
        return seen[-1]

    monkeypatch.setattr(planner, "plan", watched)
    monkeypatch.setattr(case_plan, "plan", watched)
    return seen


def assert_planned_for_the_case(found: planner.Plan) -> None:
    assert found.problem.shape == (16, 12)
    assert found.problem.periodic == (False, True)
    assert found.threads == 1
    numbers = {key: CASE[key] for key in ("precision", "storage", "streaming")}
    assert found.configuration == bench.Configuration(stencil="D2Q9", collision="TRT", **numbers)


@pytest.mark.usefixtures("known")
def test_what_is_planned_for_a_case_runs_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], plans: list[planner.Plan]
) -> None:
    case, file = write_case(tmp_path), str(tmp_path / "layout.json")
    assert cli.main(["plan", case, "--output", file]) == cli.OK
    assert len(plans) == 1
    assert_planned_for_the_case(plans[0])
    assert capsys.readouterr().out.splitlines()[-1] == f"layout: {file}"
    layout = lbm.Layout.load(file)
    assert layout == plans[0].layout
    assert len(layout) == 3
    case_plan.plan_case(case, ["cpu", "cpu"], threads=2)
    assert len(plans[1].layout) == plans[1].threads == 2
    fields = []
    for number, options in enumerate((["--device", "cpu"], ["--layout", file], ["--layout", "auto"])):
        folder = tmp_path / str(number)
        assert cli.main(["run", case, "--no-progress", "--output", str(folder), *options]) == cli.OK
        fields.append(lbm.Solver.load(folder / "checkpoint.h5", device="cpu").populations())
    assert len(plans) == 3  # for "auto"
    np.testing.assert_array_equal(fields[1], fields[0])
    np.testing.assert_array_equal(fields[2], fields[0])


@pytest.mark.usefixtures("known")
def test_layouts_that_a_case_names(tmp_path: Path, plans: list[planner.Plan]) -> None:
    def blocks(run: dict[str, object], **given: Any) -> lbm.Layout:
        """Of a case with this in its `run`, and with what is given in its place."""
        case = case_file.read_case(write_case(tmp_path, **run))
        return case_build.build_solver(case, tmp_path, **given).layout

    path = str(lbm.Layout.split((16, 12), (2, 2)).save(tmp_path / "four.json"))
    four = lbm.Layout.load(path)
    assert blocks({}) == lbm.Layout.over((16, 12), ["cpu"] * 3)
    assert blocks({"device": "cpu", "layout": "four.json"}) == four
    assert not plans
    auto = blocks({"layout": "auto"})
    assert_planned_for_the_case(plans[0])
    assert auto == plans[0].layout
    assert len(blocks({"layout": "auto", "device": "cpu"})) == 1
    # In place of the case's own.
    assert blocks({}, layout=path) == blocks({"layout": "auto"}, layout=path) == four
    assert len(plans) == 1
    assert len(blocks({"device": "cpu", "layout": "four.json"}, layout="auto", device=["cpu", "cpu"])) == 2
    assert len(plans) == 2
    with pytest.raises(FileNotFoundError):
        blocks({}, layout="none.json")


def test_wrong_layouts_of_a_case(tmp_path: Path) -> None:
    def refused(**run: object) -> list[tuple[str, str]]:
        with pytest.raises(lbm.CaseError) as caught:
            case_build.build_solver(case_file.read_case(write_case(tmp_path, **run)), tmp_path)
        return caught.value.problems

    ((path, words),) = refused(layout="none.json", device="cpu")
    assert path == "$.run.layout"
    assert "cannot be read" in words
    lbm.Layout.split((16, 10), (2, 2)).save(tmp_path / "other.json")
    ((path, words),) = refused(layout="other.json", device="cpu")
    assert path == "$.run.layout"


@pytest.mark.usefixtures("known")
def test_command_that_measures(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def quick(*arguments: object, seconds: float, **options: object) -> float:
        assert seconds > 0
        return step_seconds(*arguments, seconds=1e-3, **options)  # type: ignore[arg-type]

    step_seconds = planner.step_seconds
    monkeypatch.setattr(planner, "step_seconds", quick)
    options = ["--stencil", "D2Q9", "--devices", "cpu,cpu,cpu,cpu", "--measure", "--threads", "1", "--walls", "y"]
    assert cli.main(["plan", "24x16", *options]) == cli.OK
    lines = capsys.readouterr().out.splitlines()
    assert lines[3].endswith("measured")
    assert all(float(line.split()[-1]) > 0 for line in lines[4:])
    assert {line.split()[0] for line in lines[4:]} == {"1x4", "2x2", "4x1"}


@pytest.mark.usefixtures("known")
def test_command_writes_what_is_measured_as_fastest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    speeds = {(1, 2): 1.0, (2, 1): 2.0}
    monkeypatch.setattr(planner.Plan, "measure", lambda plan, candidate, seconds: speeds[candidate.tiling.parts])
    file = tmp_path / "layout.json"
    arguments = ["plan", "24x16", "--stencil", "D2Q9", "--devices", "cpu,cpu", "--output", str(file)]
    for options, parts in ((["--measure"], (2, 1)), ([], (1, 2))):
        assert cli.main([*arguments, *options]) == cli.OK
        assert lbm.Layout.load(file) == lbm.Layout.split((24, 16), parts)
    assert capsys.readouterr().out.count(" 2.0\n") == 1


@pytest.mark.usefixtures("known")
def test_command_passes_over_what_does_not_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def measure(plan: planner.Plan, candidate: planner.Candidate, seconds: float) -> float:
        if candidate.tiling.parts == (1, 2):
            raise ValueError("memory: too little")
        return 1.0

    monkeypatch.setattr(planner.Plan, "measure", measure)
    file = tmp_path / "layout.json"
    arguments = ["plan", "24x16", "--stencil", "D2Q9", "--devices", "cpu,cpu", "--measure", "--output", str(file)]
    assert cli.main(arguments) == cli.OK
    assert lbm.Layout.load(file) == lbm.Layout.split((24, 16), (2, 1))
    assert "1x2 was not run: memory: too little" in capsys.readouterr().out


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["8x8x0"], "shape"),
        (["8"], "shape"),
        (["8x8", "--stencil", "D3Q19"], "D3Q19"),
        (["8x8x8", "--devices", "cpu,gpu"], "did you mean 'cuda'?"),
        (["2x2x2", "--devices", ",".join(["cpu"] * 9)], "devices: 9 given, more than blocks that (2, 2, 2) can"),
        (["8x8x8", "--devices", "cpu", "--walls", "xw"], "walls: 'xw' given, must be some of the axes xyz"),
        (["8x8x8", "--devices", "cpu", "--storage", "float64"], "storage: 'float64' given"),
        (["none.json"], "no case at none.json"),
        (["none.json", "--stencil", "D2Q9"], "stencil: 'D2Q9' given beside a case, which says it"),
    ],
)
def test_wrong_input(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["plan", *arguments]) == cli.WRONG_INPUT
    assert message in capsys.readouterr().err


def test_a_shape_is_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(["plan", "8,8"])
    assert "'8,8' given, must be cells along each axis, as in 512x512x512" in capsys.readouterr().err


def test_wrong_arguments() -> None:
    with pytest.raises(ValueError, match="given beside a machine"):
        lbm.plan((8, 8, 8), devices="cpu", machine=GPUS)
    with pytest.raises(ValueError, match=r"periodic: .* must be 3 flags"):
        lbm.plan((8, 8, 8), machine=GPUS, periodic=(True, True))
    with pytest.raises(TypeError, match="periodic: 1 given"):
        lbm.plan((8, 8, 8), machine=GPUS, periodic=(1, 0, 1))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="periodic: True given, must be a flag for each axis"):
        lbm.plan((8, 8, 8), machine=GPUS, periodic=True)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"threads: \[1\] given"):
        lbm.plan((8, 8, 8), threads=[1])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="collision: 'LBGK' given"):
        lbm.plan((8, 8, 8), machine=GPUS, collision="LBGK")
    with pytest.raises(TypeError, match="devices: 3 given"):
        lbm.plan((8, 8, 8), devices=3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="devices: none given"):
        lbm.plan((8, 8, 8), devices=[])
