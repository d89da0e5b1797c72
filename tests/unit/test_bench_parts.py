"""The benchmark of parts of a step: phases of a step, layouts of memory, halos, launches of kernels."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from lbmgpu import _core, cli
from lbmgpu.benchmarks import single

ROOT = Path(__file__).parents[2]
QUICK = ["--seconds", "0.001", "--repeats", "1"]
STORAGES = ("float16", "float32", "float64")


@pytest.fixture(autouse=True)
def quick_bandwidth(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measure no real bandwidth."""
    monkeypatch.setattr(_core, "inplace_stream_scale", lambda size, threads, repeats: 1e10)


def filled(file: Path, folder: Path) -> str:
    """What docs/fill_performance.py prints of a file."""
    for name in ("fill_performance.py", "profile_kernels.py", "performance.md"):
        shutil.copy(ROOT / "docs" / name, folder)
    script = [sys.executable, str(folder / "fill_performance.py"), "--print", str(file)]
    return subprocess.run(script, check=True, capture_output=True, text=True).stdout


def propagate(device: str, stencil: str, layout: str, storage: str) -> float:
    shape = [8, 6, 4][: _core.stencil(stencil).D]
    return _core.propagation_seconds(device, stencil, layout, storage, shape, 2, 0.0)


@pytest.mark.parametrize("stencil", _core.stencil_names())
@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("layout", _core.memory_layouts())
def test_populations_stream_in_every_layout(stencil: str, storage: str, layout: str) -> None:
    """The engine checks a step of a small box itself, and raises where a population comes from a wrong place."""
    assert propagate("cpu", stencil, layout, storage) > 0


@pytest.mark.gpu
@pytest.mark.parametrize(("stencil", "storage"), [("D2Q9", "float64"), ("D3Q19", "float16"), ("D2Q37", "float32")])
@pytest.mark.parametrize("layout", _core.memory_layouts())
def test_populations_stream_in_every_layout_on_a_gpu(stencil: str, storage: str, layout: str, gpu: str) -> None:
    assert propagate(gpu, stencil, layout, storage) > 0


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"layout": "soa"}, "layout: 'soa' given, must be one of memory_layouts()"),
        ({"shape": [8]}, "shape: 1 sizes given, must be 2 or 3"),
        ({"shape": [2, 8], "stencil": "D2Q37"}, "must be at least 3 cells along each axis"),
        ({"shape": [2048, 2048, 2048]}, "fewer than 2^31 in all"),
        ({"shape": [2**21, 2**21, 2**21]}, "fewer than 2^31 in all"),
        ({"seconds": -1.0}, "seconds: -1.000000 given, must be 0 to 3600"),
        ({"storage": "float8"}, "storage: 'float8' is not one of"),
    ],
)
def test_what_cannot_stream_is_named(changed: dict[str, Any], message: str) -> None:
    given = {"device": "cpu", "stencil": "D3Q19", "layout": "SoA", "storage": "float32"}
    with pytest.raises(ValueError, match=message.replace("^", r"\^").replace("(", r"\(").replace(")", r"\)")):
        _core.propagation_seconds(**{**given, "shape": [8, 8, 8], "threads": 1, "seconds": 0.0, **changed})


def test_bench_of_layouts_of_memory(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "memory.json"
    kind = ["--menu", "memory", "--stencil", "D2Q9", "--size", "16"]
    assert cli.main(["bench", *kind, "--seconds", "0.001", "--json", str(file)]) == cli.OK
    out = capsys.readouterr().out
    document = json.loads(file.read_text())
    rows = document["propagation"]
    assert [(row["storage"], row["layout"]) for row in rows] == [
        (storage, layout) for storage in STORAGES for layout in ("AoS", "SoA", "rows")
    ]
    for row, bytes_ in zip(rows, [2] * 3 + [4] * 3 + [8] * 3, strict=True):
        assert row["shape"] == [16, 16]
        assert row["bandwidth"] == pytest.approx(row["mlups"] * 1e6 * 2 * 9 * bytes_)
        assert row["bandwidth_fraction"] == pytest.approx(row["bandwidth"] / 1e10)
        assert f"D2Q9 {row['storage']} 16x16" in out
    assert "| cpu | D2Q9 float32 | 16 x 16 | rows |" in filled(file, tmp_path)


def test_the_whole_menu_of_layouts_of_memory(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["bench", "--menu", "memory", "--size", "8", "--seconds", "0.001"]) == cli.OK
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("cpu ")]
    assert len(lines) == 2 * 3 * 3


@pytest.mark.parametrize("stencil", ["D2Q9", "D3Q19"])
def test_bench_of_halos(stencil: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Five populations of D3Q19 leave through a face, three of D2Q9, and each block has two neighbours."""
    file = tmp_path / "halo.json"
    kind = ["--menu", "halo", "--stencil", stencil, "--size", "16", "--device", "cpu,cpu"]
    assert cli.main(["bench", *kind, "--threads", "1", "--json", str(file)]) == cli.OK
    rows = json.loads(file.read_text())["halo"]
    axes, populations = ("xyz", 5) if stencil == "D3Q19" else ("xy", 3)
    assert [(row["axis"], row["channels"]) for row in rows] == [(a, [c]) for c in ("direct", "staged") for a in axes]
    assert "GB/s" in capsys.readouterr().out
    for row in rows:
        assert row["bytes"] == pytest.approx(2 * populations * 4 * 16 ** (len(axes) - 1), rel=0.3)  # and edges
        assert row["seconds"] > 0
        assert row["bandwidth"] == pytest.approx(row["bytes"] / row["seconds"])
    assert f"| {stencil} float32 | 16 | direct |" in filled(file, tmp_path)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--menu", "halo"], "devices: 1 given, must be two for the menu 'halo'"),
        (["--menu", "halo", "--device", "cpu,cpu,cpu"], "devices: 3 given, must be two"),
        (["--menu", "memory", "--collision", "MRT"], "collision: given with the menu 'memory'"),
        (["--menu", "memory", "--shape", "8x8x8"], "menu: 'memory' given with a shape, parts or shares"),
        (["--menu", "halo", "--device", "cpu,cpu", "--cpu-share", "0.1"], "menu: 'halo' given with a shape"),
        (["--menu", "halo", "--device", "cpu,cpu", "--flow", "cavity"], "flow: 'cavity' given with the menu 'halo'"),
        (["--menu", "memory", "--repeats", "2"], "--repeats does not go with the menu 'memory'"),
        (["--menu", "halo", "--device", "cpu,cpu", "--seconds", "2"], "--seconds does not go with the menu 'halo'"),
        (["--menu", "memory", "--size", "5000"], "size: 5000 given, needs"),
        (["--menu", "memory", "--model"], "model: given with the menu 'memory'"),
    ],
)
def test_what_does_not_go_with_a_part_of_a_step(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["bench", *arguments]) == cli.WRONG_INPUT
    assert message in capsys.readouterr().err


def test_the_phases_of_a_step_are_measured(tmp_path: Path) -> None:
    """The update of a cell takes about the time of a step, and filling in what comes from walls less."""
    file = tmp_path / "bench.json"
    kind = ["--flow", "cavity", "--size", "24", "--threads", "1", "--json", str(file)]
    assert cli.main(["bench", *kind, "--seconds", "0.05", "--repeats", "1"]) == cli.OK
    (row,) = json.loads(file.read_text())["measurements"]
    step = 24**3 / row["mlups"] / 1e6
    assert 0 < row["boundary_seconds"] < step
    assert 0 < row["update_seconds"] < step
    assert row["boundary_seconds"] + row["update_seconds"] <= 1.001 * step
    assert f"| {1e6 * row['boundary_seconds']:.1f} | {1e6 * row['update_seconds']:.1f} |" in filled(file, tmp_path)


@pytest.mark.gpu
@pytest.mark.parametrize("state", ["populations", "moments"])
def test_the_phases_of_one_block_on_a_gpu_are_measured(state: str, gpu: str) -> None:
    """They are timed where the benchmark asks for it alone, and no bit depends on it."""
    configuration = single.completed(16, gpu, {"state": state, "flow": "cavity"})
    solver, other = (single.make_solver(configuration, gpu, None) for _ in range(2))
    engine = solver._simulation.engine
    solver.step(5)
    assert set(engine.phase_seconds.values()) == {0.0}
    found = single.timed_phases(solver._simulation)
    assert found["update"] > 0
    assert found["boundary"] > 0 if state == "populations" else found["boundary"] >= 0
    before = engine.phase_seconds
    solver.step(5)
    assert engine.phase_seconds == before
    other.step(solver.steps)
    assert (solver.populations() == other.populations()).all()


@pytest.mark.gpu
@pytest.mark.parametrize(
    ("flow", "parts"),
    [
        ("periodic", [""]),
        ("cavity", ["", "at walls", "at faces across x", "at faces across y"]),
        ("sphere", ["", "at walls", "at faces across y"]),
    ],
)
def test_updates_of_moments_name_the_cells_of_each_kernel(flow: str, parts: list[str], gpu: str) -> None:
    solver = single.make_solver(single.completed(96, gpu, {"state": "moments", "flow": flow}), gpu, None)
    solver.step(2)
    kernels = solver._simulation.engine.update_kernels()
    assert sorted(kernel["part"] for kernel in kernels) == sorted(parts)
    assert all(0 < kernel["occupancy"] <= 1 and kernel["registers"] > 0 for kernel in kernels)


@pytest.mark.gpu
def test_all_launches_are_printed_and_filed(
    gpu: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LBMGPU_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr("lbmgpu.benchmarks.one_device.SECONDS_OF_LAUNCH", 1e-4)
    file = tmp_path / "tuned.json"
    kind = ["--stencil", "D2Q9", "--size", "64", "--device", gpu, "--tune", "--json", str(file)]
    assert cli.main(["bench", *kind, *QUICK]) == cli.OK
    launches = json.loads(file.read_text())["tuning"]
    for phase in ("even", "odd"):
        own = [launch for launch in launches if launch["phase"] == phase]
        (best,) = [launch for launch in own if launch["best"]]
        assert len({(launch["cells_per_thread"], launch["threads"]) for launch in own}) > 3
        assert best["mlups"] == max(launch["mlups"] or 0 for launch in own)
    assert capsys.readouterr().out.count("  best\n") == 2
    table = filled(file, tmp_path)
    assert "threads |" in table
    assert "| D2Q9 BGK float32, in-place, size 64 |" not in table  # the row of speeds is none of the menu's
    assert table.count("**") == 4
