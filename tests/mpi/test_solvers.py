"""Tests of solvers over the ranks of an MPI job, of the command line there, and of ranks that die."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import numpy as np
import pytest

import lbmgpu as lbm
from lbmgpu.benchmarks import scaling as scaling_bench

from . import launch

GPU = pytest.param("cuda:0", marks=pytest.mark.gpu)
OWN_GPU = pytest.param("cuda", marks=pytest.mark.gpu)  # that of the rank, as far as there are enough


def need(device: str, request: pytest.FixtureRequest) -> None:
    """Skip a test on a GPU where there is none, or fail it where one is required."""
    if device != "cpu":
        request.getfixturevalue("gpu")


@pytest.mark.parametrize("device", ["cpu", GPU])
@pytest.mark.parametrize("count", launch.counts(1, 2, 3, 4))
def test_no_layout_over_ranks_changes_a_bit(count: int, device: str, request: pytest.FixtureRequest) -> None:
    need(device, request)
    launch.succeed("layouts.py", count, device)


@pytest.mark.slow
@pytest.mark.parametrize("device", ["cpu", OWN_GPU])
@pytest.mark.parametrize("count", launch.counts(2, 4))
def test_ranks_cut_across_rows(count: int, device: str, request: pytest.FixtureRequest) -> None:
    need(device, request)
    launch.succeed("cut_rows.py", count, device)


@pytest.mark.parametrize("device", ["cpu", OWN_GPU])
@pytest.mark.parametrize("count", launch.counts(2, 3))
@pytest.mark.parametrize(
    "program",
    [
        *("kept_states", "moment_forces", "turbulence", "probes", "time_functions", "derived"),
        *("means", "wind_tunnel", "moving_bodies", "moment_halos"),
    ],
)
def test_ranks_do_as_one_process(
    program: str, count: int, device: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    need(device, request)
    launch.succeed(f"{program}.py", count, device, str(tmp_path))


@pytest.mark.parametrize("count", launch.counts(1, 2, 3))
def test_ranks_end_together_when_a_number_rests(count: int) -> None:
    launch.succeed("steady.py", count)


@pytest.mark.parametrize("count", launch.counts(2, 3))
def test_too_little_memory_for_a_recorder_is_told_on_all_ranks(count: int) -> None:
    launch.succeed("recorder_memory.py", count)


@pytest.mark.parametrize("count", launch.counts(2, 3))
def test_a_refused_restore_changes_no_rank(count: int, tmp_path: Path) -> None:
    launch.succeed("refused_restores.py", count, "cpu", str(tmp_path))


@pytest.mark.slow
@pytest.mark.parametrize("count", launch.counts(2, 3))
def test_recorders_of_a_case_leave_the_same_files_on_ranks(count: int, tmp_path: Path) -> None:
    launch.succeed("case_recorders.py", count, str(tmp_path))


@pytest.mark.slow
@pytest.mark.parametrize("count", launch.counts(2, 3))
def test_ranks_compile_a_collision_of_the_users(count: int, tmp_path: Path) -> None:
    header = Path(__file__).parents[2] / "examples" / "bingham.h"
    launch.succeed("custom_collision.py", count, str(header), str(tmp_path / "kernels"))


@pytest.mark.gpu
def test_ranks_with_gpus_and_ranks_without(gpu: str) -> None:
    launch.succeed("layouts.py", 3, f"{gpu},cpu")


@pytest.mark.parametrize("device", ["cpu", OWN_GPU])
@pytest.mark.parametrize("count", launch.counts(1, 2, 3, 4))
def test_no_share_of_the_cpus_changes_a_bit(count: int, device: str, request: pytest.FixtureRequest) -> None:
    need(device, request)
    launch.succeed("cpu_shares.py", count, device)


@pytest.mark.parametrize("device", ["cpu", OWN_GPU])
@pytest.mark.parametrize("count", launch.counts(1, 2, 3))
def test_a_solver_over_ranks(count: int, device: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    need(device, request)
    launch.succeed("solvers.py", count, device, str(tmp_path))


@pytest.mark.slow
@pytest.mark.parametrize("device", ["cpu", GPU])
@pytest.mark.parametrize("count", launch.counts(1, 2, 3, 4))
def test_no_layout_over_ranks_changes_a_bit_of_the_temperature(
    count: int, device: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    need(device, request)
    launch.succeed("thermal_layouts.py", count, device, str(tmp_path))


@pytest.mark.parametrize("device", ["cpu", OWN_GPU])
@pytest.mark.parametrize("count", launch.counts(1, 2, 3))
def test_a_temperature_over_ranks(count: int, device: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    need(device, request)
    launch.succeed("thermal.py", count, device, str(tmp_path))


@pytest.mark.slow
@pytest.mark.parametrize("device", ["cpu", GPU])
@pytest.mark.parametrize("count", launch.counts(1, 2, 4))
def test_no_layout_over_ranks_changes_a_bit_of_the_gas(
    count: int, device: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    need(device, request)
    launch.succeed("d2q37_layouts.py", count, device, str(tmp_path))


@pytest.mark.gpu
def test_a_temperature_on_ranks_with_gpus_and_ranks_without(gpu: str, tmp_path: Path) -> None:
    launch.succeed("thermal_layouts.py", 3, f"{gpu},cpu", str(tmp_path))


@pytest.mark.parametrize("count", launch.counts(2, 3))
def test_ranks_with_different_arguments_get_the_same_error(count: int) -> None:
    launch.succeed("setups.py", count)


def test_the_index_of_blocks_shows_the_whole(tmp_path: Path) -> None:
    from vtkmodules.util.numpy_support import vtk_to_numpy  # here, as the other tests need none of it
    from vtkmodules.vtkIOXML import vtkXMLImageDataReader, vtkXMLPImageDataReader

    launch.succeed("solvers.py", 3, "cpu", str(tmp_path))
    images = []
    for reader, name in ((vtkXMLPImageDataReader(), "fields.pvti"), (vtkXMLImageDataReader(), "whole.vti")):
        reader.SetFileName(str(tmp_path / name))
        reader.Update()
        images.append(reader.GetOutput())
    assert images[0].GetDimensions() == images[1].GetDimensions() == (13, 11, 9)
    for name in ("density", "velocity", "solid"):
        arrays = [vtk_to_numpy(image.GetCellData().GetArray(name)) for image in images]
        np.testing.assert_array_equal(arrays[0], arrays[1])


CASE = {
    "domain": {"shape": [12, 10, 8], "stencil": "D3Q19"},
    "faces": {"-y": {"condition": "no-slip"}, "+y": {"condition": "no-slip"}},
    "bodies": [{"name": "stone", "shape": "box", "low": [3, 3, 2], "high": [6, 5, 6]}],
    "collision": {"model": "MRT", "viscosity": 0.1},
    "force": [1e-5, 0, 0],
    "run": {"steps": 40, "device": "cpu", "log": {"every": 10}},
    "output": {"forces": {"every": 10}, "checkpoint": {"every": 20}, "vtk": True, "image": {}, "report": True},
}


@pytest.mark.slow
def test_the_command_line_on_ranks(tmp_path: Path) -> None:
    case = tmp_path / "case.json"
    case.write_text(json.dumps(CASE))
    outputs = []
    for count in (1, 2):
        folder = tmp_path / str(count)
        ended = launch.run_python(count, "-m", "lbmgpu", "run", str(case), "--output", str(folder))
        assert ended.code == 0, ended.output
        assert ended.output.count("MLUPS") == 2  # in the log and the report, once each
        outputs.append((folder / "forces.csv").read_text().splitlines())
    assert (tmp_path / "2" / "fields.pvti").is_file()
    assert (tmp_path / "2" / "speed.png").is_file()
    assert [row.split(",")[0] for row in outputs[1]] == [row.split(",")[0] for row in outputs[0]]
    numbers = [np.array([row.split(",") for row in rows[1:]], float) for rows in outputs]
    np.testing.assert_allclose(numbers[1], numbers[0], rtol=1e-6, atol=1e-12)
    one, many = (lbm.Solver.load(tmp_path / name / "checkpoint.h5", device="cpu") for name in "12")
    np.testing.assert_array_equal(many.velocity(), one.velocity())
    ended = launch.run_python(2, "-m", "lbmgpu", "run", str(case), "--output", str(tmp_path / "2"), "--steps", "60",
                              "--restart", str(tmp_path / "1" / "checkpoint.h5"))  # fmt: skip
    assert ended.code == 0, ended.output
    assert [row.split(",")[0] for row in (tmp_path / "2" / "forces.csv").read_text().splitlines()[1:]] == [
        str(step) for step in range(10, 61, 10)
    ]


def test_a_wrong_case_is_said_once(tmp_path: Path) -> None:
    case = tmp_path / "case.json"
    case.write_text(json.dumps({**CASE, "collision": {"model": "MRT", "viscosity": -1}}))
    ended = launch.run_python(3, "-m", "lbmgpu", "run", str(case), "--output", str(tmp_path / "out"))
    assert ended.code != 0
    assert ended.output.count("the case is wrong") == 1, ended.output
    assert "viscosity" in ended.output


@pytest.mark.parametrize("device", ["cpu", OWN_GPU])
def test_the_benchmark_on_ranks(device: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    need(device, request)
    file = tmp_path / "scaling.json"
    arguments = ["--device", device, "--size", "8", "--seconds", "0.001", "--json", str(file)]
    ended = launch.run_python(2, "-m", "lbmgpu", "bench", *arguments)
    assert ended.code == 0, ended.output
    data = json.loads(file.read_text())
    assert data["machine"]["processes"] == 2
    rows = scaling_bench.menu(8, 2, None if device == "cpu" else "mpi")
    assert len(set(rows)) == len(rows)
    assert ended.output.count("strong D3Q19 8x8x8 in 1x1x2") == (2 if device == "cpu" else 4)  # rank 0 alone speaks
    assert "LoneProcessWarning" not in ended.output
    for row, measured in zip(rows, data["scaling"], strict=True):
        assert tuple(measured["shape"]) == row.shape
        assert measured["efficiency"] == measured["mlups"] / measured["devices"] / measured["alone_mlups"]
        assert measured["devices"] == (2 if device == "cpu" else len(set(data["machine"]["devices"])))
        if device == "cpu" or row.channel == "mpi":
            assert "mpi" in measured["channels"]
        if row.shape == (8, 8, 16) and row.storage == "float32" and row.flow == "periodic":
            assert measured["exchanged_bytes"] == 4 * (5 * 64) * 4  # each link once, whoever counts it


@pytest.mark.parametrize("device", ["cpu", OWN_GPU])
def test_a_question_on_ranks(device: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """A share beside none, with the exponent of one number of devices left out."""
    need(device, request)
    file = tmp_path / "own.json"
    arguments = ["--device", device, "--shape", "16x12x8", "--parts", "1x2x1", "--cpu-share", "0,0.25", "--weak"]
    arguments += ["--precision", "float64", "--seconds", "0.001", "--json", str(file)]
    ended = launch.run_python(2, "-m", "lbmgpu", "bench", *arguments)
    assert ended.code == 0, ended.output
    data = json.loads(file.read_text())
    assert data["exponents"] == []
    assert data["machine"]["ranks"] == [0, 1]
    assert "MPI" in data["machine"]["mpi"] or "MPICH" in data["machine"]["mpi"]
    without, shared = data["scaling"]
    assert without["shape"] == [16, 24, 8]
    assert without["storage"] == "float64"
    assert [block["rank"] for block in without["layout"]] == [0, 1]
    assert shared["share"] == pytest.approx(0 if device == "cpu" else 0.25)
    assert shared["gain"] == pytest.approx(shared["mlups"] / without["mlups"] - 1)
    assert shared["link_bandwidth"] > 0


def test_halos_between_two_ranks_are_measured() -> None:
    ended = launch.run_python(2, "-m", "lbmgpu", "bench", "--device", "cpu", "--menu", "halo", "--size", "8")
    assert ended.code == 0, ended.output
    rows = [line.split() for line in ended.output.splitlines() if line.startswith("D3Q19 float32, 8 x 8 cells")]
    assert [(row[-5], row[-4]) for row in rows] == [("x", "mpi"), ("y", "mpi"), ("z", "mpi")]
    wrong = launch.run_python(2, "-m", "lbmgpu", "bench", "--device", "cpu", "--menu", "memory")
    assert wrong.code != 0
    assert "menu: 'memory' is for one process" in wrong.output


def test_options_of_one_device_are_refused_on_ranks() -> None:
    ended = launch.run_python(2, "-m", "lbmgpu", "bench", "--device", "cpu", "--tune")
    assert ended.code != 0
    assert "--tune is for one device" in ended.output


@pytest.mark.parametrize(
    ("count", "others"),
    [(2, 1), pytest.param(2, 3, marks=pytest.mark.slow), pytest.param(3, 2, marks=pytest.mark.slow)],
)
def test_a_killed_rank_ends_the_job_and_the_checkpoint_goes_on(count: int, others: int, tmp_path: Path) -> None:
    """On any number of ranks."""
    start = time.monotonic()
    ended = launch.run("killed.py", count, str(tmp_path / "state.h5"))
    assert ended.code != 0
    assert time.monotonic() - start < 30
    assert "signal 9" in ended.output or "Killed" in ended.output or "KILLED" in ended.output, ended.output
    assert os.listdir(tmp_path) == ["state.h5"]
    launch.succeed("killed.py", others, str(tmp_path / "state.h5"), "go on")


@pytest.mark.parametrize("count", launch.counts(1, 2, 3))
def test_faults_of_the_disk_on_one_rank_are_errors_on_all(count: int, tmp_path: Path) -> None:
    launch.succeed("faults_of_the_disk.py", count, str(tmp_path))


@pytest.mark.slow
@pytest.mark.parametrize("count", launch.counts(1, 2, 3))
def test_pictures_and_movies_are_those_of_one_process(count: int, tmp_path: Path) -> None:
    launch.succeed("movies.py", count, str(tmp_path))


@pytest.mark.parametrize("count", launch.counts(2, 3))
def test_ranks_of_a_host_share_its_memory(count: int) -> None:
    launch.succeed("memory.py", count)


@pytest.mark.parametrize("count", launch.counts(1, 2, 3))
def test_an_interrupt_of_a_save_on_one_rank_ends_it_on_all(count: int, tmp_path: Path) -> None:
    launch.succeed("interrupted_saves.py", count, str(tmp_path))


def test_an_example_on_ranks(tmp_path: Path) -> None:
    """The planes that it reads are those of one process, and rank 0 alone speaks and writes."""
    script = str(Path(__file__).parents[2] / "examples" / "turbulent_cavity.py")
    small = ["--rayleigh", "1e4", "--cells", "16", "--times", "4", "--transient", "2", "--device", "cpu"]
    found = []
    for count, more in ((1, []), (2, ["--mpi"])):
        file = tmp_path / f"{count}.npz"
        ended = launch.run_python(count, script, *small, *more, "--planes", str(file))
        assert ended.code == 0, ended.output
        assert ended.output.count("Nusselt number of the hot wall") == 1, ended.output
        assert "LoneProcessWarning" not in ended.output
        with np.load(file) as planes:
            found.append({name: planes[name] for name in planes.files})
    one, two = found
    assert one.keys() == two.keys() == {"temperature", "mean", "fluctuation"}
    for name, plane in one.items():
        np.testing.assert_array_equal(plane, two[name])
