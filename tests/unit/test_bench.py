"""Tests `lbmgpu bench` on one device, including tuning, and `lbmgpu info`."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest

import lbmgpu as lbm
from lbmgpu import _core, cli
from lbmgpu.benchmarks import single as bench, tuning


@pytest.fixture(autouse=True)
def quick_bandwidth(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measure no real bandwidth."""
    monkeypatch.setattr(_core, "inplace_stream_scale", lambda size, threads, repeats: 1e10)


def test_bench_on_a_device_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["bench", "--device", "gpu", "--size", "8"]) == cli.WRONG_INPUT
    assert "did you mean 'cuda'?" in capsys.readouterr().err


def test_only_gpus_are_tuned(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["bench", "--tune", "--size", "8"]) == cli.WRONG_INPUT
    assert "tuning is for GPUs" in capsys.readouterr().err


@pytest.mark.gpu
def test_a_copy_bandwidth_in_no_time_is_that_of_a_few_copies(gpu: str) -> None:
    assert 0 < _core.cuda_copy_bandwidth(0, 1 << 20, 0.0) < math.inf


@pytest.mark.gpu
@pytest.mark.parametrize("flow", ["periodic", "heated"])
def test_what_tuning_finds_is_remembered(flow: str, gpu: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Later solvers of the kind and width launch the kernels that were fastest, and the bits stay the same."""
    configuration = bench.Configuration(stencil="D2Q9", size=64, flow=flow)
    before = bench.make_solver(configuration, gpu, None)
    before.step(4)
    monkeypatch.setenv("LBMGPU_CACHE_DIR", str(tmp_path))
    launches = tuning.tune(configuration, device=gpu, seconds=0.001)
    best = {launch.phase: launch for launch in launches if launch.best}
    for phase, launch in best.items():
        assert launch.mlups == max(other.mlups or 0 for other in launches if other.phase == phase)
    solver = bench.make_solver(configuration, gpu, None)
    kernels = {kernel["phase"]: kernel for kernel in solver._simulation.engine.update_kernels()}
    assert set(kernels) == set(best) == {"even", "odd"}
    for phase, kernel in kernels.items():
        assert kernel["cells_per_thread"] == best[phase].cells_per_thread
        assert kernel["registers"] == best[phase].registers
        assert 0 < kernel["occupancy"] <= 1
    solver.step(4)
    np.testing.assert_array_equal(solver.populations(), before.populations())
    heads = [file.read_bytes().split(b"\n", 1)[0] for file in tmp_path.glob("*.kernel")]
    assert sum(head.endswith(b" shape") for head in heads) == 2


@pytest.mark.gpu
@pytest.mark.parametrize("every", [1, 3])
def test_updates_with_a_turbulence_model_are_tuned(
    every: int, gpu: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that compute the eddy viscosity apart from those between them, and the bits stay the same."""
    configuration = bench.Configuration(stencil="D2Q9", size=64, turbulence="wale", every=every)
    before = bench.make_solver(configuration, gpu, None)
    before.step(7)
    monkeypatch.setenv("LBMGPU_CACHE_DIR", str(tmp_path))
    launches = tuning.tune(configuration, device=gpu, seconds=0.001)
    best = {launch.phase: launch for launch in launches if launch.best}
    renewing = [f"{phase} with velocity gradients" for phase in ("even", "odd")]
    assert set(best) == {*renewing, *(("even", "odd") if every > 1 else ())}
    solver = bench.make_solver(configuration, gpu, None)
    for kernel in solver._simulation.engine.update_kernels():  # those of most steps
        found = best[kernel["phase"] + (" with velocity gradients" if every == 1 else "")]
        assert kernel["cells_per_thread"] == found.cells_per_thread
    solver.step(7)
    np.testing.assert_array_equal(solver.populations(), before.populations())


def test_a_turbulence_model_is_measured_in_a_flow_with_gradients(capsys: pytest.CaptureFixture[str]) -> None:
    model = ["--turbulence", "wale", "--every", "2"]
    assert cli.main(["bench", *model, "--size", "12", "--seconds", "0.001", "--repeats", "1"]) == cli.OK
    assert "D3Q19 BGK wale/2 float32 in-place 12^3" in capsys.readouterr().out
    solver = bench.make_solver(bench.Configuration(turbulence="vreman", size=12), "cpu", 1)
    assert solver.eddy_viscosity().mean() > 1e-6
    for option in ("--every", "--turbulence"):
        arguments = [option, "2" if option == "--every" else "wale", "--device", "cpu,cpu"]
        assert cli.main(["bench", *arguments]) == cli.WRONG_INPUT
        assert f"{option} is for one device" in capsys.readouterr().err
    assert cli.main(["bench", "--every", "2", "--size", "12"]) == cli.WRONG_INPUT
    assert "every: 2 given, must be 1 without a turbulence model" in capsys.readouterr().err


def test_bench_of_one_configuration(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "bench.json"
    kind = ["--collision", "TRT", "--precision", "float64", "--storage", "float32"]
    arguments = [*kind, "--size", "12", "--threads", "1"]
    timing = ["--seconds", "0.01", "--repeats", "3", "--json", str(file)]
    assert cli.main(["bench", *arguments, *timing]) == cli.OK
    out = capsys.readouterr().out
    assert "D3Q19 TRT float64/float32 in-place 12^3" in out
    data = json.loads(file.read_text())
    (row,) = data["measurements"]
    assert row["bytes_per_update"] == 2 * 19 * 4
    assert len(row["all_mlups"]) == 3
    assert row["mlups"] == sorted(row["all_mlups"])[1]
    assert row["bandwidth"] == pytest.approx(row["mlups"] * 1e6 * 152)
    assert row["bandwidth_fraction"] == pytest.approx(row["bandwidth"] / 1e10)
    assert row["kernels"] == []
    assert row["operations"] == 194
    assert row["flops"] == pytest.approx(row["mlups"] * 1e6 * 194)
    assert data["machine"]["threads"] == 1


def test_boxes_that_advance_together_are_measured_as_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "bench.json"
    arguments = ["--members", "3", "--collision", "MRT", "--size", "12", "--seconds", "0.01", "--repeats", "1"]
    assert cli.main(["bench", *arguments, "--json", str(file)]) == cli.OK
    assert "D3Q19 MRT float32 in-place 12^3 x 3" in capsys.readouterr().out
    (row,) = json.loads(file.read_text())["measurements"]
    assert row["configuration"]["members"] == 3
    assert row["bandwidth"] == pytest.approx(row["mlups"] * 1e6 * 152)
    assert cli.main(["bench", "--members", "3", "--device", "cpu,cpu"]) == cli.WRONG_INPUT
    assert "--members is for one device" in capsys.readouterr().err


def test_bench_menu(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["bench", "--size", "8", "--seconds", "0.001", "--repeats", "1"]) == cli.OK
    out = capsys.readouterr().out
    for configuration in bench.menu(8):
        assert str(configuration) in out
    assert len(bench.menu()) == 9
    assert {c.size for c in bench.menu()} == {192, 1024}


def test_d2q37_in_the_menus() -> None:
    """4096 cells a side in both precisions and 1024, between plates; a size that is given counts for them too."""
    rows = {str(row) for row in bench.menu(None, "cuda:0") if row.stencil == "D2Q37"}
    assert rows == {
        "D2Q37 ThermalBGK float64 two-lattice 4096^2 plates",
        "D2Q37 ThermalBGK float32 two-lattice 4096^2 plates",
        "D2Q37 ThermalBGK float64 two-lattice 1024^2 plates",
    }
    assert [row.size for row in bench.menu(64, "cuda:0") if row.stencil == "D2Q37"] == [64, 64, 16]
    (row,) = (row for row in bench.menu() if row.stencil == "D2Q37")
    assert str(row) == "D2Q37 ThermalBGK float64 two-lattice 1024^2 plates"


@pytest.mark.parametrize("chosen", [{"stencil": "D2Q37"}, {"collision": "ThermalBGK"}, {"flow": "plates"}])
def test_what_goes_with_d2q37_is_found(chosen: dict[str, str]) -> None:
    found = bench.completed(None, "cuda:0", chosen)
    flow = chosen.get("flow", "periodic")
    assert found == bench.Configuration("D2Q37", "ThermalBGK", "float32", "float32", "two-lattice", 4096, flow)
    double = bench.completed(64, "cpu", {**chosen, "precision": "float64"})
    assert (double.storage, double.size) == ("float64", 64)
    assert bench.completed(None, "cpu", chosen).size == 1024


def test_what_is_chosen_of_the_others() -> None:
    assert bench.completed(None, "cpu", {"storage": "float16"}) == bench.Configuration(storage="float16")
    assert bench.completed(None, "cuda:0", {"stencil": "D2Q9"}).size == 8192
    assert bench.completed(None, "cpu", {"precision": "float64"}).storage == "float64"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--stencil", "D2Q37", "--collision", "MRT"], "collision: MRT given with D2Q37, must be ThermalBGK"),
        (["--stencil", "D3Q19", "--collision", "ThermalBGK"], "collision: ThermalBGK given with D3Q19"),
        (
            ["--stencil", "D2Q37", "--flow", "heated"],
            "flow: 'heated' given with D2Q37, must be one of periodic, plates",
        ),
        (["--stencil", "D2Q9", "--flow", "plates"], "flow: 'plates' given with D2Q9, must be one of periodic, forced"),
        (["--stencil", "D2Q37", "--streaming", "in-place"], "streaming: 'in-place' given with D2Q37"),
        (["--stencil", "D2Q37", "--storage", "float16"], "storage: 'float16' given with D2Q37"),
    ],
)
def test_what_does_not_go_with_d2q37(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["bench", *arguments, "--size", "16"]) == cli.WRONG_INPUT
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("flow", ["periodic", "plates"])
def test_bench_of_d2q37(flow: str, tmp_path: Path) -> None:
    file = tmp_path / "bench.json"
    arguments = ["--stencil", "D2Q37", "--precision", "float64", "--flow", flow, "--size", "16", "--threads", "1"]
    assert cli.main(["bench", *arguments, "--seconds", "0.001", "--repeats", "1", "--json", str(file)]) == cli.OK
    (row,) = json.loads(file.read_text())["measurements"]
    assert row["bytes_per_update"] == 592
    assert row["configuration"]["streaming"] == "two-lattice"


def test_the_gas_between_plates_is_in_motion() -> None:
    """It streams along them, warm below and cold above, under one pressure, and stays so for some steps."""
    solver = bench.make_solver(bench.between_plates("float64", 32), "cpu", 1)
    density, temperature = solver.density(), solver.temperature()
    np.testing.assert_allclose(density * temperature, lbm.stencil("D2Q37").cs2, rtol=1e-12)
    assert (np.diff(temperature, axis=1) < 0).all()
    np.testing.assert_allclose(solver.velocity()[0], 0.03, rtol=1e-12)
    solver.step(50)
    solver.check()
    assert np.isfinite(solver.temperature()).all()
    assert solver.density().mean() == pytest.approx(density.mean(), rel=1e-12)


def test_bench_that_does_not_fit(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["bench", "--size", "40000", "--stencil", "D3Q27"]) == cli.WRONG_INPUT
    assert "GiB" in capsys.readouterr().err
    assert cli.main(["bench", "--storage", "float64", "--precision", "float32"]) == cli.WRONG_INPUT
    assert "storage" in capsys.readouterr().err


def test_info(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["info", "--bandwidth"]) == cli.OK
    out = capsys.readouterr().out
    for part in (
        f"lbmgpu: {lbm.__version__}",
        "D3Q27",
        "threads",
        "baseline",
        "GiB",
        "in-place STREAM scale: 10.0 GB/s",
    ):
        assert part in out


def test_info_without_a_gpu(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def missing() -> int:
        raise lbm.CudaError("no CUDA driver")

    monkeypatch.setattr(_core, "cuda_device_count", missing)
    assert cli.main(["info"]) == cli.OK
    out = capsys.readouterr().out
    assert "\nGPU: none; no CUDA driver\n" in out
    assert "NVRTC" not in out


def test_info_with_gpus(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    gpu = {"name": "NVIDIA T", "memory": 3 * 2**30, "architecture": "sm_90"}
    monkeypatch.setattr(_core, "cuda_device_count", lambda: 2)
    monkeypatch.setattr(_core, "cuda_driver_version", lambda: 12080)
    monkeypatch.setattr(_core, "cuda_device", lambda number: {**gpu, "name": f"NVIDIA {number}"})
    monkeypatch.setattr(_core, "cuda_compiler", lambda: {"version": "12.8", "library": "/there/libnvrtc.so.12"})
    monkeypatch.setattr(_core, "kernel_cache_folder", lambda: "")
    assert cli.main(["info"]) == cli.OK
    out = capsys.readouterr().out
    for line in (
        "CUDA driver: 12.8",
        "cuda:0: NVIDIA 0, 3.0 GiB, sm_90",
        "cuda:1: NVIDIA 1, 3.0 GiB, sm_90",
        "NVRTC: 12.8, /there/libnvrtc.so.12",
        "kernel cache: none",
    ):
        assert f"\n{line}\n" in out

    def missing() -> dict[str, str]:
        raise lbm.CudaError("no NVRTC")

    monkeypatch.setattr(_core, "cuda_compiler", missing)
    assert cli.main(["info"]) == cli.OK
    assert "\nNVRTC: none; no NVRTC\n" in capsys.readouterr().out


def test_gpu_menu_builds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every row of a GPU's menu is a solver that can be made, in small, on the CPU too."""
    rows = bench.menu(16, "cuda:0")
    assert {row.flow for row in rows} == set(bench.FLOWS) - {"sphere"}  # which is in the menu of moments
    for row in rows:
        solver = bench.make_solver(row, "cpu", 1)
        solver.step(2)
        assert row.flow != "channel" or solver.solid.any()
