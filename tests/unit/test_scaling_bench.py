"""The benchmarks of several devices and of GPUs with the CPU, and the tables that the guide makes of their figures."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lbmgpu as lbm
from lbmgpu import cli
from lbmgpu.benchmarks import flows, scaling as scaling_bench, sharing as share_bench, single as bench
from lbmgpu.benchmarks.device_group import DeviceGroup
from lbmgpu.benchmarks.scaling import Scaling
from lbmgpu.planning import planner

ROOT = Path(__file__).parents[2]
QUICK = ["--seconds", "0.001", "--size", "8"]


def test_the_menu() -> None:
    rows = scaling_bench.menu(512, 2, "staged")
    assert [row for row in rows if row.stencil == "D2Q37"] == rows[-6:]
    plates, rows = rows[-6:], rows[:-6]
    weak = [(row.shape, row.parts) for row in rows if row.series == "weak" and not row.channel]
    assert weak == [
        ((512, 512, 1024), (1, 1, 2)),
        ((512, 1024, 512), (1, 2, 1)),
        ((1024, 512, 512), (2, 1, 1)),
        ((512, 512, 1024), (1, 1, 2)),
        ((512, 512, 1024), (1, 1, 2)),
    ]
    assert [row.flow for row in rows if row.series == "weak"].count("heated") == 1
    assert {row.alone for row in rows if row.series == "weak"} == {(512, 512, 512)}
    for shape in ((512, 512, 512), (256, 256, 256)):
        kinds = [(row.channel, row.schedule) for row in rows if row.shape == shape == row.alone and row.schedule]
        assert kinds == [("", "overlap"), ("", "blocking"), ("staged", "overlap"), ("staged", "blocking")]
    channels = [row for row in rows if row.flow == "channel"]
    assert {(row.stencil, row.parts, row.shape) for row in channels} == {("D3Q27", (2, 1, 1), (882, 336, 126))}
    assert [row.channel for row in channels] == ["", "staged"]
    assert [row.parts for row in rows if len(set(row.parts)) == 1] == [(2, 2, 2)]
    assert scaling_bench.menu(512, 2, None) == [row for row in [*rows, *plates] if not row.channel]


def test_the_rows_of_d2q37() -> None:
    """4096 cells a side for each device, cut along y; in all, cut along y, along x, and along both."""

    def rows(blocks: int, channel: str | None = None) -> list[Scaling]:
        return [row for row in scaling_bench.menu(512, blocks, channel) if row.stencil == "D2Q37"]

    kinds = [(row.series, row.shape, row.parts, row.schedule) for row in rows(4)]
    assert kinds == [
        ("weak", (4096, 16384), (1, 4), ""),
        ("strong", (4096, 4096), (1, 4), "overlap"),
        ("strong", (4096, 4096), (1, 4), "blocking"),
        ("strong", (4096, 4096), (4, 1), ""),
        ("strong", (4096, 4096), (2, 2), ""),
    ]
    assert {row.alone for row in rows(4)} == {(4096, 4096)}
    assert {(row.precision, row.storage, row.flow) for row in rows(4)} == {("float64", "float64", "plates")}
    assert [row.parts for row in rows(8)][-1] == (2, 4)
    assert [row.parts for row in rows(2)][-1] == (2, 2)  # two blocks a device
    assert [row.parts for row in rows(3)][-1] == (3, 1)
    assert [row.channel for row in rows(4, "staged")] == ["", "", "staged", "", "", ""]
    assert scaling_bench.Scaling("weak", (8, 8), (1, 1)).precision == "float32"
    assert scaling_bench.Scaling("weak", (8, 8), (1, 1), storage="float16").precision == "float32"


@pytest.mark.parametrize(("blocks", "parts"), [(4, (1, 2, 2)), (8, (2, 2, 2))])
def test_four_and_eight_devices_are_cut_along_several_axes_too(blocks: int, parts: tuple[int, ...]) -> None:
    (row,) = [row for row in scaling_bench.menu(64, blocks, "mpi") if row.parts == parts and row.series == "weak"]
    assert row.shape == tuple(64 * k for k in parts)
    assert row.alone == (64, 64, 64)


def test_blocks_are_spread_over_the_devices() -> None:
    group = DeviceGroup(["cpu", "cpu"])
    group.owners = [(0, "cuda:0"), (1, "cuda:1")]
    layout = scaling_bench.layout_of(Scaling("strong", (8, 6, 4), (2, 2, 2)), group)
    assert [(block.rank, block.device) for block in layout] == [(0, "cuda:0")] * 4 + [(1, "cuda:1")] * 4
    assert [block.size for block in layout] == [(4, 3, 2)] * 8


@pytest.mark.parametrize("device", ["cpu,cpu", pytest.param("cuda:0,cuda:0", marks=pytest.mark.gpu)])
def test_bench_over_several_devices(
    device: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest
) -> None:
    """Two blocks of one device count as one device, so the efficiency is what cutting costs."""
    if device != "cpu,cpu":
        request.getfixturevalue("gpu")
    file = tmp_path / "scaling.json"
    assert cli.main(["bench", "--device", device, *QUICK, "--repeats", "3", "--json", str(file)]) == cli.OK
    out = capsys.readouterr().out
    data = json.loads(file.read_text())
    assert data["machine"]["devices"] == device.split(",")
    assert data["machine"]["processes"] == 1
    menu = scaling_bench.menu(8, 2, "staged")
    assert [(row["series"], tuple(row["shape"]), tuple(row["parts"])) for row in data["scaling"]] == [
        (row.series, row.shape, row.parts) for row in menu
    ]
    for row, measured in zip(menu, data["scaling"], strict=True):
        assert str(row) in out
        assert measured["mlups"] == sorted(measured["all_mlups"])[1] > 0
        assert measured["devices"] == 1
        assert measured["efficiency"] == pytest.approx(measured["mlups"] / measured["alone_mlups"])
        assert measured["channels"] == [row.channel or "direct"]
    # Both faces of both blocks, 5 of the 19 populations each, in 4 and in 2 bytes.
    sizes = {tuple(row["parts"]): row["exchanged_bytes"] for row in data["scaling"] if row["stencil"] == "D2Q37"}
    # One face of both, as the others are walls: 26 populations a cell of 64 in 8 bytes, by way of the ends of rows too.
    assert sizes[1, 2] == 2 * 26 * 64 * 8
    assert [row["exchanged_bytes"] for row in data["scaling"] if row["shape"] == [8, 8, 16]] == [
        4 * (5 * 64) * 4,
        4 * (5 * 64) * 4,
        4 * (5 * 64) * 2,
        # One face of both, as the others are walls, where nothing arrives, and of the temperature the rows with the
        # cells before and after them.
        2 * (5 * 64 - 4 * 8) * 4 + 2 * 8 * (8 + 2) * 4,
    ]


def test_a_row_has_its_channel_and_the_environment_is_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LBMGPU_CHANNEL", "mpi")  # which one process cannot have
    monkeypatch.delenv("LBMGPU_SCHEDULE", raising=False)
    group = DeviceGroup(["cpu", "cpu"])
    rows = [
        Scaling("strong", (6, 6, 6), (1, 1, 2)),
        Scaling("strong", (6, 6, 6), (1, 1, 2), channel="staged", schedule="blocking"),
    ]
    seen = []
    for measured in scaling_bench.measure_all(rows, group, threads=1, seconds=1e-3, repeats=1):
        seen.append(measured.channels)
        assert os.environ["LBMGPU_CHANNEL"] == "mpi"
        assert "LBMGPU_SCHEDULE" not in os.environ
    assert seen == [["direct"], ["staged"]]


def test_what_is_measured_is_in_motion() -> None:
    """Numbers that are all alike or zero would cost a processor less than those of a flow."""
    for row in scaling_bench.menu(16, 2, "staged"):
        solver = flows.make_solver(row, row.alone, device="cpu", threads=1)
        assert solver.force is None
        if row.flow == "plates":
            assert solver.velocity()[0].mean() == pytest.approx(flows.STREAM[0], rel=1e-6)
            assert len(np.unique(solver.temperature())) > 16
            continue
        velocity = flows.STREAM if row.flow == "periodic" else (flows.SPEED, 0, 0)
        mean = solver.velocity().mean(axis=(1, 2, 3))
        if row.flow == "heated":  # the walls stop a small box within the steps that stir it
            assert (np.abs(solver.velocity()).max(axis=(1, 2, 3)) > 1e-3).all()
            assert len(np.unique(solver.temperature())) > 16
            continue
        assert mean == pytest.approx(velocity, rel=0.02 if row.flow == "periodic" else 0.5, abs=2e-3)
        assert (row.flow == "channel") == bool(solver.solid.any())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--device", "cpu,cpu", "--tune"], "--tune is for one device"),
        (["--device", "cpu,cpu", "--members", "2"], "--members is for one device"),
        (["--device", "cpu,cpu", "--size", "7"], "size: 7 given, must be at least 8"),
        (["--device", "cpu,cpu,cpu,cpu,cpu", "--size", "9"], "size: 9 given, must be at least 10"),
        (["--device", "cpu,gpu"], "did you mean 'cuda'?"),
    ],
)
def test_wrong_input(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["bench", *arguments]) == cli.WRONG_INPUT
    assert message in capsys.readouterr().err


def test_layers_for_the_cpu() -> None:
    assert share_bench.share_layers(512) == [0, 4, 8, 16, 32]
    assert share_bench.share_layers(32) == [0, 1, 2]
    layout = share_bench.layers_of((8, 8, 20), ["cuda:0", "cuda:1"], "cpu", 4)
    assert [(block.offset, block.size, block.device) for block in layout] == [
        ((0, 0, 0), (8, 8, 8), "cuda:0"),
        ((0, 0, 8), (8, 8, 8), "cuda:1"),
        ((0, 0, 16), (8, 8, 4), "cpu"),
    ]
    assert share_bench.share_of(layout, "cpu") == 0.2
    alone = share_bench.layers_of((8, 8, 20), ["cuda:0"], "cpu", 0)
    assert list(alone) == [lbm.Block((0, 0, 0), (8, 8, 20), device="cuda:0")]
    assert share_bench.share_of(alone, "cpu") == 0


def test_shares_are_measured_beside_the_fast_devices_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planner.Plan, "chosen", lambda plan: plan.layout_of(plan.candidates[-1]))
    found = list(share_bench.measure_all(32, ["cpu"], "cpu", threads=1, seconds=1e-3, repeats=1))
    kinds = [(m.shape[0], m.planned, [size for size, _ in m.layout]) for m in found]
    assert kinds[:3] == [
        (32, False, [(32, 32, 32)]),
        (32, False, [(32, 32, 31), (32, 32, 1)]),
        (32, False, [(32, 32, 30), (32, 32, 2)]),
    ]
    assert [(side, planned, len(blocks)) for side, planned, blocks in kinds[3:]] == [
        (32, True, 2),
        (16, False, 1),
        (16, False, 2),
        (16, True, 2),
    ]
    for one, some in ((found[0], found[:4]), (found[4], found[4:])):
        assert one.gain == 0
        for measurement in some:
            assert measurement.alone_mlups == one.mlups
            assert measurement.gain == pytest.approx(measurement.mlups / one.mlups - 1)


@pytest.mark.gpu
def test_bench_over_a_gpu_and_the_cpu(gpu: str, tmp_path: Path) -> None:
    file = tmp_path / "shares.json"
    arguments = ["--device", f"{gpu},cpu", "--size", "32", "--seconds", "0.01", "--json", str(file)]
    assert cli.main(["bench", *arguments]) == cli.OK
    data = json.loads(file.read_text())
    assert {"gpu", "processor"} <= set(data["machine"])
    assert [row["share"] for row in data["shares"] if not row["planned"]] == [0, 1 / 32, 1 / 16, 0, 1 / 16]
    assert sum(row["planned"] for row in data["shares"]) == 2


def test_power_and_published_speeds_in_the_guide(tmp_path: Path) -> None:
    """Columns where a row has them, and D2Q37 beside what is published; the page shows that from the beginning."""
    for name in ("fill_performance.py", "profile_kernels.py", "performance.md"):
        shutil.copy(ROOT / "docs" / name, tmp_path)
    row = {
        "configuration": asdict(bench.between_plates("float64", 4096)),
        "mlups": 7000.0,
        "bytes_per_update": 592,
        "bandwidth": 4.144e12,
        "memory_bandwidth": 4.2e12,
        "bandwidth_fraction": 0.987,
        "kernels": [{**KERNEL, "phase": phase} for phase in ("two-lattice", "even", "odd")],
        "watts": 650.0,
        "nanojoules": 92.857,
    }
    other = {**row, "configuration": asdict(bench.Configuration()), "watts": None, "nanojoules": None}
    file = tmp_path / "gpu.json"
    script = [sys.executable, str(tmp_path / "fill_performance.py"), "--print", str(file)]
    published = ["| K40, as published | 0.107 | 1.0 | | |", "| K80, both GPUs, as published | 0.220 | 2.1 | | |"]
    for rows, metered in (([row, other], True), ([other], False)):
        file.write_text(json.dumps({"machine": MACHINE, "measurements": rows}))
        lines = subprocess.run(script, check=True, capture_output=True, text=True).stdout.splitlines()
        assert lines[2] == "| configuration | MLUPS | B | GB/s | copy | fraction |" + (" W | nJ |" if metered else "")
        assert lines[3] == "|---|---|---|---|---|---|" + ("---|---|" if metered else "")
        last = "| D3Q19 BGK float32, in-place, size 192 | 7000.0 | 592 | 4144.0 | 4200.0 | 0.987 |"
        assert lines[3 + len(rows)] == last + ("  | |" if metered else "")
        kernels = [re.search(r": ([a-z ]+) \| 4 \| 256 \| 127 \| 0 \| 0.25 \|$", line) for line in lines]
        assert [kernel[1] for kernel in kernels if kernel] == ["pull", "even step", "odd step"] * len(rows)
        assert (published[0] in lines) == (published[1] in lines) == metered
        if metered:
            assert lines[4].endswith("| 0.987 | 650 | 92.86 |")
            assert "| NVIDIA T, 4096 x 4096 | 7.00 | 65.4 | 650 | 92.86 |" in lines
    page = (tmp_path / "performance.md").read_text().split("<!-- energy:begin -->")[1].split("<!-- energy:end -->")[0]
    assert page.strip().splitlines()[2:4] == published


MACHINE = {"gpu": "NVIDIA T", "cuda": "13.0", "nvrtc": "13.0", "python": "3.12.3", "devices": ["cuda:0", "cuda:1"]}
KERNEL = {"cells_per_thread": 4, "threads": 256, "registers": 127, "local_bytes": 0, "occupancy": 0.25}
SHARE: dict[str, Any] = {
    "shape": [8, 8, 8],
    "planned": True,
    "layout": [[[8, 8, 7], "cuda:0"], [[8, 8, 1], "cpu"]],
    "share": 0.125,
    "mlups": 9000.0,
    "alone_mlups": 10000.0,
    "gain": -0.1,
}


def test_moments_have_a_menu(tmp_path: Path) -> None:
    file = tmp_path / "moments.json"
    assert cli.main(["bench", "--device", "cpu,cpu", "--menu", "moments", *QUICK, "--json", str(file)]) == cli.OK
    document = json.loads(file.read_text())
    assert document["menu"] == "moments"
    assert {row["state"] for row in document["scaling"]} == {"moments"}
    assert {row["bytes_per_update"] for row in document["scaling"]} == {40, 8}  # D3Q19, D2Q9
    assert all(row["mlups"] > 0 for row in document["scaling"])


def test_the_tables_of_the_guide_are_filled(tmp_path: Path) -> None:
    """Each from the files that are about it, between its marks; nothing else of the page changes."""
    for name in ("fill_performance.py", "profile_kernels.py", "performance.md"):
        shutil.copy(ROOT / "docs" / name, tmp_path)
    measured = tmp_path / "measured.json"
    assert cli.main(["bench", "--device", "cpu,cpu", *QUICK, "--json", str(measured)]) == cli.OK
    row = {**json.loads(measured.read_text())["scaling"][0], "mlups": 51500.0, "efficiency": 0.987}
    documents = {
        "scaling": {"machine": {**MACHINE, "processes": 1}, "scaling": [row]},
        "scaling-mpi": {"machine": {**MACHINE, "processes": 2}, "scaling": [{**row, "channels": ["mpi"]}]},
        "shares": {"machine": {**MACHINE, "processes": 1}, "shares": [SHARE]},
    }
    for name, document in documents.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(document))
    page = tmp_path / "performance.md"
    before = page.read_text()
    files = [str(tmp_path / f"{name}.json") for name in documents]
    script = [sys.executable, str(tmp_path / "fill_performance.py")]
    printed = subprocess.run([*script, "--print", *files], check=True, capture_output=True, text=True).stdout
    assert page.read_text() == before
    subprocess.run([*script, *files], check=True)
    after = page.read_text()
    for name in documents:
        old, new = (
            text.split(f"<!-- {name}:begin -->")[1].split(f"<!-- {name}:end -->")[0] for text in (before, after)
        )
        assert new != old
        assert new.strip() in printed
        before, after = before.replace(old, ""), after.replace(new, "")
    assert after == before
    begin = "| weak: D3Q19 MRT float32 | 8 x 8 x 16 | 1 x 1 x 2"
    assert f"{begin} | direct | blocking | 0 % | 51.50 |" in printed
    assert f"{begin} | mpi | blocking | 0 % | 51.50 |" in printed
    blocks = '8 x 8 x 7 on cuda:0 + 8 x 8 x 1 on cpu (`layout="auto"`)'
    assert f"| 8 x 8 x 8 | {blocks} | 12.50 % | 9.00 | 10.00 | -10.0 % |" in printed
