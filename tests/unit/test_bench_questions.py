"""The benchmark of several devices for a question of one's own, for published flows and for shares of the CPU."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lbmgpu import cli
from lbmgpu.benchmarks import menus, prediction, scaling as scaling_bench
from lbmgpu.benchmarks.device_group import DeviceGroup
from lbmgpu.benchmarks.menus import Question
from lbmgpu.benchmarks.scaling import Scaling, ScalingMeasurement
from lbmgpu.planning import machine
from lbmgpu.planning.cost_model import Device, Link, Tiling

ROOT = Path(__file__).parents[2]
QUICK = ["--seconds", "0.001"]


@pytest.fixture
def group() -> DeviceGroup:
    return DeviceGroup(["cpu", "cpu"])


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    """Devices and links have known speeds: nothing is measured for the model."""
    monkeypatch.setattr(machine, "measure_device", lambda name, *others: Device(name, 1e10))
    monkeypatch.setattr(machine, "measure_way", lambda *others: Link("same", 1e9))


def measured(row: Scaling, devices: int, mlups: float) -> ScalingMeasurement:
    return ScalingMeasurement(row, devices, [], 0.0, False, None, mlups, [mlups], 100.0)


def test_a_question_says_all_of_a_row(group: DeviceGroup) -> None:
    chosen = {"stencil": "D3Q27", "collision": "MRT", "precision": "float64", "storage": "float32"}
    chosen |= {"streaming": "two-lattice", "flow": "cavity"}
    (row,) = menus.asked(Question((64, 32, 16), (1, 2, 2), (0.25,), chosen=chosen), 8, group)
    assert row == Scaling(
        "strong",
        (64, 32, 16),
        (1, 2, 2),
        "D3Q27",
        "float32",
        "cavity",
        collision="MRT",
        precision="float64",
        streaming="two-lattice",
        cpu_share=0.25,
    )
    assert row.alone == (64, 32, 16)
    rows = menus.asked(Question((64, 32), cpu_shares=(0.0, "auto"), weak=True), 8, group)
    assert [(row.stencil, row.shape, row.parts, row.alone) for row in rows] == [
        ("D2Q9", (64, 64), (1, 2), (64, 32))
    ] * 2
    assert [row.cpu_share for row in rows] == [0.0, "auto"]
    (row,) = menus.asked(Question(chosen={"flow": "plates"}), 8, group)
    assert (row.stencil, row.shape, row.parts, row.collision) == ("D2Q37", (8, 8), (1, 2), "ThermalBGK")
    assert not Question().is_asked
    assert Question(chosen={"flow": "cavity"}).is_asked


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--shape", "8x8", "--stencil", "D3Q19"], "shape: (8, 8) given with D3Q19, must be 3 numbers"),
        (["--parts", "1x2"], "parts: (1, 2) given with D3Q19, must be 3 numbers"),
        (["--shape", "8x0x8"], "shape: (8, 0, 8) given, must be 1 or more"),
        (
            ["--shape", "8x8x8", "--parts", "1x1x3"],
            "parts: (1, 1, 3) given, makes 3 blocks, must be as many for each of 2",
        ),
        (["--shape", "8x8x8", "--menu", "shares"], "menu: 'shares' given beside what is to be measured"),
        (["--shape", "8x8x8", "--flow", "plates", "--stencil", "D3Q19"], "flow: 'plates' given with D3Q19"),
    ],
)
def test_wrong_questions(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["bench", "--device", "cpu,cpu", *arguments]) == cli.WRONG_INPUT
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("text", ["", "0.1,", "1", "-0.1", "half", "nan"])
def test_wrong_shares(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ValueError, match="must be numbers from 0 to below 1, or auto, with commas between"):
        menus.parse_shares(text)
    assert menus.parse_shares("0,0.5,auto") == (0.0, 0.5, "auto")
    with pytest.raises(SystemExit):
        cli.main(["bench", f"--cpu-share={text}"])
    assert "must be numbers from 0 to below 1" in capsys.readouterr().err


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize("flow", ["periodic", "forced", "cavity", "channel", "sphere", "heated"])
def test_the_figures_hold_what_it_takes_to_draw_them(
    flow: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "own.json"
    arguments = ["--device", "cpu,cpu", "--shape", "16x16x12", "--parts", "1x2x1", "--flow", flow, "--model", *QUICK]
    assert cli.main(["bench", *arguments, "--precision", "float64", "--json", str(file)]) == cli.OK
    data = json.loads(file.read_text())
    assert {"lbmgpu", "numpy", "python", "devices", "ranks", "hosts", "processes"} <= set(data["machine"])
    (row,) = data["scaling"]
    assert (row["shape"], row["parts"], row["precision"], row["storage"]) == (
        [16, 16, 12],
        [1, 2, 1],
        "float64",
        "float64",
    )
    assert [(block["offset"], block["size"]) for block in row["layout"]] == [
        ([0, 0, 0], [16, 8, 12]),
        ([0, 8, 0], [16, 8, 12]),
    ]
    assert set(row["seconds"]) == {"step", "boundary", "update", "shell", "interior", "exchange", "hidden exchange"}
    assert row["seconds"]["step"] == pytest.approx(16 * 16 * 12 / row["mlups"] / 1e6)
    assert row["seconds"]["shell"] == row["seconds"]["update"] > 0  # nothing is hidden on one CPU
    assert row["link_bandwidth"] > 0
    assert row["bytes_per_update"] == 2 * 8 * (20 if flow == "heated" else 19)
    assert row["predicted_alone_mlups"] == pytest.approx(1e10 / row["bytes_per_update"] / 1e6)
    assert row["predicted_mlups"] < row["predicted_alone_mlups"]
    assert row["predicted_efficiency"] == pytest.approx(row["predicted_mlups"] / row["predicted_alone_mlups"])
    assert f"{row['predicted_efficiency']:.3f}" in capsys.readouterr().out


def test_what_one_device_cannot_hold_is_measured_without_it(
    group: DeviceGroup, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scaling_bench, "_alone", lambda *others: 0.0)
    (found,) = scaling_bench.measure_all(
        [Scaling("strong", (8, 8, 8), (1, 1, 2))], group, threads=1, seconds=1e-3, repeats=1
    )
    assert (found.alone_mlups, found.efficiency) == (None, None)
    assert len(found.line(predicted=False)) > 80
    assert scaling_bench.to_json([found], group, 1)["scaling"][0]["efficiency"] is None


def test_the_published_flows() -> None:
    rows = menus.published(512, 4, 1)
    cavities = [(row.series, row.shape, row.only) for row in rows if row.flow == "cavity"]
    assert ("strong", (384, 384, 384), 3) in cavities
    assert ("weak", (128, 128, 512), 4) in cavities
    assert sorted(row.only for row in rows if row.flow == "heated") == [1, 2, 3, 4]
    channels = [row for row in rows if row.flow == "channel"]
    assert [row.shape for row in channels] == [(294, 112, 42), (588, 224, 84), (882, 336, 126), (1176, 448, 168)]
    assert {(row.parts, row.only, row.stencil, row.collision) for row in channels} == {((3, 1, 1), 3, "D3Q27", "MRT")}
    assert {row.only for row in menus.published(512, 2, 2)} == {2}  # of two ranks both


def test_rows_for_the_first_devices(group: DeviceGroup) -> None:
    group.owners = [(0, "cuda:0"), (0, "cuda:1"), (0, "cuda:2")]
    layout = scaling_bench.layout_of(Scaling("strong", (8, 8, 8), (1, 1, 2), only=2), group)
    assert [block.device for block in layout] == ["cuda:0", "cuda:1"]


def test_the_exponent_is_that_of_a_power() -> None:
    assert menus.exponent({1: 10.0, 2: 20.0, 4: 40.0}) == pytest.approx(1)
    assert menus.exponent({1: 10.0, 4: 20.0}) == pytest.approx(0.5)
    rows = [Scaling("strong", (384,) * 3, (1, 1, k), flow="cavity", only=k) for k in (1, 2, 4)]
    found = [measured(row, row.only, 10.0 * row.only**0.9) for row in rows]
    found.append(measured(Scaling("weak", (8, 8, 8), (1, 1, 1)), 1, 5.0))
    (fitted,) = menus.exponents(found)
    assert fitted["exponent"] == pytest.approx(0.9)
    assert (fitted["shape"], fitted["devices"], fitted["flow"]) == ((384,) * 3, [1, 2, 4], "cavity")


def test_the_menu_of_moments() -> None:
    one, several = menus.moments(512, 4, 1, "staged"), menus.moments(512, 4, 4, "mpi")
    assert {row.state for row in one + several} == {"moments"}
    assert [(row.series, row.parts, row.only) for row in one[:4]] == [
        ("weak", (1, 1, 2), 2),
        ("strong", (1, 1, 2), 2),
        ("weak", (1, 1, 4), 4),
        ("strong", (1, 1, 4), 4),
    ]
    assert {row.only for row in several} == {0, 4}
    assert {row.alone for row in one} == {(512, 512, 512), (4096, 4096)}
    assert [row.channel for row in one + several if row.channel] == ["staged", "mpi"]
    assert {row.parts for row in one if not row.only} == {(1, 1, 4), (1, 4, 1), (1, 2, 2), (1, 4)}
    assert {row.parts for row in menus.moments(512, 2, 1, None)} == {(1, 1, 2), (1, 2, 1), (1, 2)}
    assert "blocking" in {row.schedule for row in one}
    assert {row.schedule for row in menus.moments(512, 2, 1, None, may_overlap=False)} == {""}
    with pytest.raises(ValueError, match="menu: 'moments' given with one device, must be several"):
        menus.moments(512, 1, 1, None)
    words = [str(row) for row in one]
    assert len(set(words)) == len(words) - 2  # but for the channel and the schedule
    assert "weak D3Q19 RecursiveRegularized moments 512x512x2048 in 1x1x4" in words
    assert "weak D3Q19 moments in-place 512x512x2048 in 1x1x4" in words
    assert "strong D2Q9 moments 4096x4096 in 1x4" in words


def test_gains_are_over_the_same_domain_without_a_share() -> None:
    rows = menus.shares(512, 2)
    assert {row.alone for row in rows} == {(512, 512, 128), (256, 256, 256), (512, 512, 512)}
    assert {row.storage for row in rows} == {"float32", "float64"}
    assert [row.cpu_share for row in rows[:6]] == [0.0, 0.005, 0.01, 0.02, 0.04, "auto"]
    found = [measured(row, 2, 100.0 + 10 * (row.cpu_share == 0.01)) for row in rows]
    assert menus.gains(found)[:6] == pytest.approx([0, 0, 0.1, 0, 0, 0])
    assert menus.gains(found[2:3]) == [None]


def test_blocks_that_are_a_grid_are_a_tiling() -> None:
    blocks = [
        {"offset": [0, 0], "size": [8, 7]},
        {"offset": [0, 7], "size": [8, 3]},
        {"offset": [8, 0], "size": [4, 7]},
        {"offset": [8, 7], "size": [4, 3]},
    ]
    assert prediction.tiling_of(blocks, (12, 10)) == Tiling(((8, 4), (7, 3)))
    assert prediction.tiling_of([{"offset": [0, 0]}, {"offset": [0, 5]}, {"offset": [6, 0]}], (12, 10)) is None


def row_of(**values: Any) -> dict[str, Any]:
    row: dict[str, Any] = {
        "series": "strong",
        "stencil": "D3Q19",
        "flow": "cavity",
        "storage": "float32",
        "shape": [8, 8, 8],
    }
    row |= {"parts": [1, 1, 1], "channels": ["direct"], "hidden_fraction": 0.5, "mlups": 1000.0, "alone_mlups": 900.0}
    row |= {"efficiency": 0.9, "predicted_efficiency": 0.95, "devices": 1, "cpu_share": 0.0, "share": 0.0, "gain": 0.0}
    return row | values


def test_the_tables_of_the_guide(tmp_path: Path) -> None:
    for name in ("fill_performance.py", "profile_kernels.py", "performance.md"):
        shutil.copy(ROOT / "docs" / name, tmp_path)
    gpu = {"gpu": "NVIDIA T", "cuda": "13.0", "nvrtc": "13.0", "python": "3.12.3", "devices": ["cuda:0", "cuda:1"]}
    published = [row_of(), row_of(devices=2, mlups=2000.0, parts=[1, 1, 2])]
    shared = [row_of(), row_of(cpu_share=0.02, share=0.019, gain=0.016)]
    shared.append(row_of(cpu_share="auto", share=0.012, gain=-0.003))
    kept = {
        "state": "moments",
        "collision": "Regularized",
        "precision": "float32",
        "flow": "periodic",
        "overlaps": True,
    }
    moments = [row_of(**kept, streaming=streaming) for streaming in ("two-lattice", "in-place")]
    documents = {
        "published": {"machine": {**gpu, "processes": 1}, "menu": "published", "scaling": published},
        "shares": {"machine": {**gpu, "processes": 1}, "menu": "shares", "scaling": shared},
        "moments": {"machine": {**gpu, "processes": 1}, "menu": "moments", "scaling": moments},
    }
    for name, document in documents.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(document))
    files = [str(tmp_path / f"{name}.json") for name in documents]
    subprocess.run([sys.executable, str(tmp_path / "fill_performance.py"), *files], check=True)
    page = (tmp_path / "performance.md").read_text()
    assert "| strong: D3Q19 cavity, float32 | 8 x 8 x 8 | 2 | direct | 50% | 2 | 0.9 | 0.900 | 0.950 |" in page
    assert "| NVIDIA T | one process | strong: D3Q19 cavity, float32 | 8 x 8 x 8 | 1, 2 | 1.000 |" in page
    assert "| numbers | cells a device | devices | GLUPS without | 2 % | auto |" in page
    assert "| strong: D3Q19 Regularized float32 | 8 x 8 x 8 | 1 x 1 x 1 | direct | overlap | 50 % | 1.00 |" in page
    assert "| strong: D3Q19 Regularized float32 in-place | 8 x 8 x 8 | 1 x 1 x 1 |" in page
    assert "| float32 | 8 x 8 x 8 | 1 | 1.00 | +1.6 % | -0.3 % (of 1.20 %) |" in page
