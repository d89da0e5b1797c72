"""The share of each GPU's cells for the CPU of its rank: the blocks, the choice of the share, where it is asked for.

GPUs are pretended where the blocks alone matter: their cells are then computed by the CPU.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lbmgpu as lbm
from lbmgpu import cli
from lbmgpu.case import build as case_build, plan as case_plan, read as case_file
from lbmgpu.engine import cpu_share, settings
from lbmgpu.errors import TooLittleMemoryError
from lbmgpu.layout import AUTO, Layout
from lbmgpu.parallel.processes import Processes
from lbmgpu.planning import planner, shares
from lbmgpu.planning.configuration import Configuration
from lbmgpu.planning.cost_model import Device, Link, Machine
from lbmgpu.solver import auto_layout


def on_cpu(layout: Layout) -> Layout:
    return Layout(replace(block, device="cpu") for block in layout)


def cpu_cells(layout: Layout) -> list[tuple[tuple[int, ...], tuple[int, ...], int]]:
    return [(block.offset, block.size, block.rank) for block in layout if block.device == "cpu"]


def test_the_cpu_gets_layers_across_the_longest_axis_that_is_whole() -> None:
    layout = Layout.split((512, 512, 256), (1, 1, 2), ["cuda:0", "cuda:0"], ranks=[0, 1], cpu_share=0.02)
    assert cpu_cells(layout) == [((0, 502, 0), (512, 10, 128), 0), ((0, 502, 128), (512, 10, 128), 1)]
    assert [block.size for block in layout if block.device != "cpu"] == [(512, 502, 128)] * 2
    layout = Layout.split((64, 8, 32), (1, 1, 1), "cuda:3", cpu_share=0.25)
    assert cpu_cells(layout) == [((0, 0, 24), (64, 8, 8), 0)]
    layout = Layout.split((64, 8, 8), (2, 1, 1), "cuda:3", cpu_share=0.25)
    assert {size for _, size, _ in cpu_cells(layout)} == {(32, 8, 2)}
    layout = Layout.split((64, 32, 16), (1, 2, 2), "cuda:0", cpu_share=0.25)  # all but x are cut
    assert {size for _, size, _ in cpu_cells(layout)} == {(64, 4, 8)}
    layout = Layout.split((8, 512), (1, 1), "cuda:0", cpu_share=0.5)
    assert cpu_cells(layout) == [((0, 256), (8, 256), 0)]


def test_the_gpu_keeps_a_layer_and_blocks_of_the_cpu_stay_as_they_are() -> None:
    whole = Layout.split((8, 4), (1, 1), "cuda:0")
    assert whole.with_cpu_share(0.999) == Layout(
        [lbm.Block((0, 0), (8, 1), device="cuda:0"), lbm.Block((0, 1), (8, 3))]
    )
    assert whole.with_cpu_share(0.1) == whole  # not half a layer
    assert whole.with_cpu_share(0) == whole
    cpu = Layout.split((8, 4), (1, 2), "cpu")
    assert cpu.with_cpu_share(0.5) == cpu


def test_auto_waits_for_a_solver() -> None:
    layout = Layout.split((8, 4), (1, 2), "cuda:0", cpu_share="auto")
    assert layout.cpu_share == "auto"
    assert len(layout) == 2
    assert layout != Layout.split((8, 4), (1, 2), "cuda:0")
    assert layout.with_cpu_share(0.5).cpu_share is None
    with pytest.raises(ValueError, match=r"cpu_share is 'auto'; save solver\.layout"):
        layout.save("layout.json")


def test_a_share_waits_for_the_devices_and_ranks_of_blocks() -> None:
    own = Layout.split((8, 8), (1, 2), ranks=[0, 0], cpu_share=0.25)
    of_host = Layout([lbm.Block((0, 0), (8, 8), None, "cuda:0", host="a")]).with_cpu_share(0.25)
    for layout, count in ((own, 2), (of_host, 1)):
        assert (len(layout), layout.cpu_share) == (count, 0.25)
        with pytest.raises(ValueError, match=r"cpu_share is 0\.25; save solver\.layout"):
            layout.save("layout.json")
        assert layout.with_cpu_share(0) == Layout(layout)
    options: dict[str, Any] = {"precision": "float32", "device": "cpu"}
    made = settings.check_settings(lbm.Domain((8, 8), "D2Q9"), lbm.BGK(0.1), layout=own, **options)
    assert made.layout == Layout.split((8, 8), (1, 2), "cpu")  # without a GPU there is nothing to share
    assert len(Layout.split((8, 8), (1, 2), "cuda", ranks=[0, 0], cpu_share=0.25)) == 4


def test_a_share_of_blocks_whose_device_is_found_is_made_by_the_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        settings.placement.devices, "resolve", lambda name, rank=0: "cuda:0" if name == "auto" else name
    )
    layout = Layout.split((8, 8), (1, 2), ranks=[0, 0], cpu_share=0.25)
    made = settings.check_settings(lbm.Domain((8, 8), "D2Q9"), lbm.BGK(0.1), layout=layout)
    assert made.layout == Layout.split((8, 8), (1, 2), "cuda:0", cpu_share=0.25)
    assert made.devices == ("cuda:0", "cpu")
    assert made.subdomain.own == tuple((block.offset, block.size) for block in made.layout or ())


@pytest.mark.parametrize("share", [-0.1, 1, 1.5, float("nan"), "half", "0.5"])
def test_no_other_share(share: Any) -> None:
    for call in (
        lambda: Layout.split((8, 4), (1, 1), "cuda:0", cpu_share=share),
        lambda: lbm.Solver(lbm.Domain((8, 4), "D2Q9"), lbm.BGK(0.1), device="cpu", cpu_share=share),
        lambda: lbm.plan((8, 4), "D2Q9", "cpu", cpu_share=share),
    ):
        with pytest.raises(ValueError, match="cpu_share: "):
            call()
    with pytest.raises(TypeError, match="cpu_share: "):
        Layout.split((8, 4), (1, 1), "cuda:0", cpu_share=[0.5])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("stencil", "collision", "precision"),
    [
        ("D3Q19", lbm.MRT(0.05), "float32"),
        ("D3Q27", lbm.MRT(0.05), "float64"),
        ("D2Q37", lbm.ThermalBGK(0.1), "float64"),
    ],
)
@pytest.mark.parametrize("share", [0.1, 0.3, 0.6])
def test_a_share_changes_no_bit(stencil: str, collision: Any, precision: str, share: float) -> None:
    shape = (18, 21, 12)[: lbm.stencil(stencil).D]
    parts = (1, 2, 2) if len(shape) == 3 else (2, 2)
    domain = lbm.Domain(shape, stencil)
    domain.faces["-y"] = domain.faces["+y"] = lbm.NoSlip()
    layout = Layout.split(shape, parts, "cuda:0", cpu_share=share)
    assert len(layout) == 8
    rng = np.random.default_rng(1)
    velocity = 0.01 * rng.standard_normal((len(shape), *shape))
    solvers = [
        lbm.Solver(domain, collision, precision=precision, threads=1, **where)
        for where in ({"layout": on_cpu(layout)}, {"device": "cpu"})
    ]
    for solver in solvers:
        solver.initialize(velocity=velocity)
        solver.step(7)
    np.testing.assert_array_equal(solvers[0].populations(), solvers[1].populations())


def test_without_a_gpu_there_is_nothing_to_share() -> None:
    for share in (0.3, "auto"):
        solver = lbm.Solver(lbm.Domain((8, 4), "D2Q9"), lbm.BGK(0.1), device="cpu", cpu_share=share)
        assert solver.layout == Layout.split((8, 4), (1, 1))
    layout = Layout.split((8, 4), (1, 2), cpu_share="auto")
    assert lbm.Solver(lbm.Domain((8, 4), "D2Q9"), lbm.BGK(0.1), layout=layout).layout == Layout(layout)


def test_the_blocks_and_devices_of_a_rank() -> None:
    def never(whole: Layout) -> float:
        raise AssertionError

    found, devices = cpu_share.blocks(0.25, None, (8, 8), ("cuda:1",), 0, never)
    assert found == Layout.split((8, 8), (1, 1), "cuda:1", cpu_share=0.25)
    assert devices == ("cuda:1", "cpu")
    layout = Layout.split((8, 8), (1, 2), ["cuda:0", "cuda:1"], ranks=[0, 1])
    found, devices = cpu_share.blocks(AUTO, layout, (8, 8), ("cuda:1",), 1, lambda whole: 0.5 * (whole == layout))
    assert found == layout.with_cpu_share(0.5)
    assert devices == ("cuda:1", "cpu")
    assert cpu_share.blocks(AUTO, layout, (8, 8), ("cuda:1",), 1, lambda whole: 0.0) == (layout, ("cuda:1",))
    with pytest.raises(ValueError, match=r"cpu_share: 0\.5 given beside a layout with blocks on GPUs and on the CPU"):
        cpu_share.blocks(0.5, layout.with_cpu_share(0.25), (8, 8), ("cuda:0", "cpu"), 0, never)


@pytest.mark.parametrize("fastest", [0.0, 0.025, 0.05, 0.1])
def test_auto_is_the_fastest_of_what_is_run(fastest: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half of the layers of one GPU's speed; what does not fit the memory is passed over."""
    speeds = {"cpu": 1e11, "cuda:0": 9e11}
    monkeypatch.setattr(shares, "measure_device", lambda name, *others: Device(name, speeds[name]))
    tried: list[float] = []

    def seconds(box: lbm.Domain, configuration: Configuration, *, layout: Layout, **options: Any) -> float:
        assert options["comm"].size == 1
        assert isinstance(box.faces["-y"], lbm.NoSlip)
        assert isinstance(box.faces["-x"], lbm.Periodic)
        share = sum(size[1] for _, size, _ in cpu_cells(layout)) / 400
        tried.append(share)
        if share == 0.075:
            raise TooLittleMemoryError("too little")
        return abs(share - fastest)

    monkeypatch.setattr(shares, "step_seconds", seconds)
    layout = Layout.split((8, 400), (1, 1), "cuda:0")
    found = shares.best_share((8, 400), (True, False), Configuration("D2Q9"), layout, Processes())
    assert tried == pytest.approx([0, 0.025, 0.05, 0.075, 0.1])
    assert found == pytest.approx(fastest)


def test_the_largest_share_is_that_of_the_speeds() -> None:
    assert shares.balanced_share(1.0, [9.0]) == 0.1
    assert shares.balanced_share(2.0, [4.0, 4.0]) == 0.2
    assert shares.balanced_share(2.0, []) == 0
    few = shares.shares_to_try(Layout.split((8, 10), (1, 1), "cuda:0"), 0.1)  # a layer, or none
    assert few[0] == 0
    assert len(few) == 2


def test_auto_of_a_solver_is_found_for_what_it_computes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The configuration is the solver's; no engine is made, as the GPU is pretended."""
    given: list[Any] = []

    def found(*arguments: Any, **options: Any) -> float:
        given.append((arguments, options))
        return 0.25

    monkeypatch.setattr(shares, "best_share", found)
    monkeypatch.setattr(settings, "check_devices", lambda *others: (None, ("cuda:0",)))
    domain = lbm.Domain((8, 8, 8))
    domain.faces["-z"] = domain.faces["+z"] = lbm.NoSlip()
    made = settings.check_settings(
        domain, lbm.MRT(0.1), precision="float64", cpu_share="auto", threads=3, share_found=auto_layout.share_of_cpu
    )
    whole = Layout.split((8, 8, 8), (1, 1, 1), "cuda:0")
    assert made.layout == whole.with_cpu_share(0.25)
    assert made.devices == ("cuda:0", "cpu")
    (arguments, options) = given[0]
    kind = Configuration("D3Q19", "MRT", "float64", "float64", "in-place")
    assert arguments[:4] == ((8, 8, 8), [True, True, False], kind, whole)
    assert options == {"threads": 3, "channel": None, "schedule": None}


def test_plans_and_cases_take_a_share(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(tuple(Device(f"cuda:{k}", 4e12, 5e-6) for k in range(2)), {"peer": Link("peer", 3e11, 9e-6)})
    plan = lbm.plan((64, 64, 128), machine=machine, cpu_share=0.25)
    assert plan.layout == Layout.split((64, 64, 128), (1, 1, 2), ["cuda:0", "cuda:1"], cpu_share=0.25)
    assert lbm.plan((64, 64, 128), machine=machine).cpu_share == 0
    with pytest.raises(ValueError, match="cpu_share: 'auto' given beside a machine"):
        lbm.plan((64, 64, 128), machine=machine, cpu_share="auto")

    case: dict[str, Any] = {
        "domain": {"shape": [8, 6], "stencil": "D2Q9"},
        "collision": {"model": "BGK", "viscosity": 0.1},
        "run": {"steps": 1, "device": "cpu", "cpu_share": 0.25},
    }
    file = tmp_path / "case.json"
    file.write_text(json.dumps(case))
    given: list[Any] = []

    def planned(*arguments: Any, **options: Any) -> planner.Plan:
        given.append(options["cpu_share"])
        return plan

    monkeypatch.setattr(case_plan, "plan", planned)
    case_plan.plan_case(file)
    case_plan.plan_case(file, cpu_share="auto")
    assert given == [0.25, "auto"]

    def made(*arguments: Any, **options: Any) -> lbm.Solver:
        given.append(options["cpu_share"])
        return lbm.Solver(*arguments, **options)

    monkeypatch.setattr(case_build, "Solver", made)
    case_build.build_solver(case_file.read_case(file), tmp_path)
    mixed = tmp_path / "layout.json"
    Layout.split((8, 6), (1, 2)).save(mixed)
    case_build.build_solver(case_file.read_case(file), tmp_path, layout=mixed)
    assert given[2:] == [0.25, None]
    for wrong in (1, -0.1, "all"):
        case["run"]["cpu_share"] = wrong
        file.write_text(json.dumps(case))
        with pytest.raises(lbm.CaseError, match=r"\$\.run\.cpu_share"):
            case_file.read_case(file)


def test_the_command_line_takes_one_share_for_a_plan(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[Any] = []

    def planned(*arguments: Any, **options: Any) -> planner.Plan:
        given.append(options["cpu_share"])
        machine = Machine((Device("cuda:0", 4e12),))
        return made((8, 8), "D2Q9", machine=machine, cpu_share=options["cpu_share"])

    made = lbm.plan
    monkeypatch.setattr(planner, "plan", planned)
    assert cli.main(["plan", "8x8", "--cpu-share", "0.25"]) == cli.OK
    assert given == [0.25]
    assert "cpu share: 25.00 %" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        cli.main(["plan", "8x8", "--cpu-share", "0.1,0.2"])


@pytest.mark.gpu
@pytest.mark.parametrize("share", [0.1, 0.4, "auto"])
@pytest.mark.parametrize("stencil", ["D3Q19", "D2Q37"])
def test_a_gpu_with_its_cpu_has_the_bits_of_one_alone(gpu: str, stencil: str, share: Any) -> None:
    shape = (40, 30, 20)[: lbm.stencil(stencil).D]
    collision: Any = lbm.ThermalBGK(0.1) if stencil == "D2Q37" else lbm.MRT(0.05)
    domain = lbm.Domain(shape, stencil)
    domain.faces["-y"] = domain.faces["+y"] = lbm.NoSlip()
    velocity = 0.01 * np.random.default_rng(1).standard_normal((len(shape), *shape))
    solvers = [
        lbm.Solver(domain, collision, precision="float64", device=gpu, cpu_share=given) for given in (share, None)
    ]
    for solver in solvers:
        solver.initialize(velocity=velocity)
        solver.step(50)
    if share != "auto":
        assert solvers[0].device == f"{gpu}, cpu"
        assert len(solvers[0].layout) == 2
    np.testing.assert_array_equal(solvers[0].populations(), solvers[1].populations())
