"""The command line: what a case leaves, what is printed, exit codes, and never a traceback."""

from __future__ import annotations

import csv
import json
import os
import re
import signal
import subprocess
import sys
import threading
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lbmgpu as lbm
from lbmgpu import _core, cli
from lbmgpu.case.run import run_case
from lbmgpu.engine.simulation import Simulation
from lbmgpu.parallel import devices

CASE: dict[str, Any] = {
    "name": "small cavity",
    "domain": {"shape": [16, 16], "stencil": "D2Q9"},
    "collision": {"model": "MRT", "reynolds": 100, "length": 16, "velocity": 0.1},
    "faces": {
        "-x": {"condition": "no-slip"},
        "+x": {"condition": "no-slip"},
        "-y": {"condition": "no-slip"},
        "+y": {"condition": "moving-wall", "velocity": [0.1, 0]},
    },
    "bodies": [{"name": "post", "shape": "box", "low": [3, 3], "high": [5, 5]}],
    "run": {"steps": 200, "log": {"every": 100}},
    "output": {
        "vtk": True,
        "image": {},
        "checkpoint": {"every": 100},
        "forces": {"every": 50},
        "centrelines": {"reference": "ghia_1982_re100", "velocity": 0.1},
        "report": True,
    },
}


@pytest.fixture(autouse=True)
def device_named_before() -> None:
    """What `"auto"` means is said once a process: here, and not in what a test reads."""
    devices.resolve("auto")


@pytest.fixture(autouse=True)
def quick_bandwidth(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measure no real bandwidth."""
    monkeypatch.setattr(_core, "inplace_stream_scale", lambda size, threads, repeats: 1e10)


@pytest.fixture
def case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A case file in an empty working folder."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "small.json"
    path.write_text(json.dumps(CASE))
    return path


def change(path: Path, **entries: Any) -> None:
    """Replace top-level entries of a case file."""
    path.write_text(json.dumps({**json.loads(path.read_text()), **entries}))


def test_run_leaves_its_files(case: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert cli.main(["run", str(case)]) == cli.OK
    out, err = capsys.readouterr()
    folder = case.parent / "small"
    assert sorted(p.name for p in folder.iterdir()) == [
        "centrelines.txt",
        "checkpoint.h5",
        "fields.vti",
        "forces.csv",
        "run.log",
        "speed.png",
    ]
    assert "200/200" in err
    assert "MLUPS" in err
    assert "Ghia" in out
    assert "rms difference" in out
    assert "MLUPS" in out
    log = (folder / "run.log").read_text()
    for part in ("small cavity", "step 100: mass", "done after 200 steps", "wrote"):
        assert part in log
    assert (folder / "speed.png").read_bytes().startswith(b"\x89PNG")
    rows = list(csv.reader((folder / "forces.csv").open()))
    assert rows[0] == ["step", "post Fx", "post Fy"]
    assert [int(row[0]) for row in rows[1:]] == [50, 100, 150, 200]
    solver = lbm.Solver.load(folder / "checkpoint.h5")
    assert solver.steps == 200
    np.testing.assert_allclose([float(x) for x in rows[-1][1:]], solver.body_force("post"), rtol=1e-6, atol=1e-12)


def test_options_of_run(case: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [
        "run",
        str(case),
        "--output",
        "other",
        "--steps",
        "70",
        "--no-progress",
        "--threads",
        "1",
        "--device",
        "cpu",
    ]
    assert cli.main(arguments) == cli.OK
    out, err = capsys.readouterr()
    assert "/70" not in err
    assert "1 threads" in out
    assert lbm.Solver.load("other/checkpoint.h5").steps == 70


def test_device_of_a_run(case: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    seen: list[Any] = []
    change(case, run={"steps": 2, "device": "cuda:1"}, output={})
    with monkeypatch.context() as patch:
        patch.setattr(devices, "resolve", lambda device, node_rank=0: seen.append(device) or "cpu")
        assert cli.main(["run", str(case)]) == cli.OK
        assert seen == ["cuda:1", "cpu"]  # the solver resolves it again
        assert cli.main(["run", str(case), "--device", "auto"]) == cli.OK
        assert seen[2:] == ["auto", "cpu"]
        change(case, run={"steps": 2})
        assert cli.main(["run", str(case)]) == cli.OK
        assert seen[4:] == ["auto", "cpu"]
    assert cli.main(["run", str(case), "--device", "gpu"]) == cli.WRONG_INPUT
    assert "lbmgpu: device: 'gpu' given, must be 'auto', 'cpu', 'cuda'" in capsys.readouterr().err


def test_restart_equals_one_run(case: Path) -> None:
    change(case, output={"checkpoint": {}, "forces": {"every": 50}})
    assert cli.main(["run", str(case), "--no-progress", "--output", "whole"]) == cli.OK
    assert cli.main(["run", str(case), "--no-progress", "--output", "parts", "--steps", "120"]) == cli.OK
    restart = ["--restart", "parts/checkpoint.h5"]
    assert cli.main(["run", str(case), "--no-progress", "--output", "parts", *restart]) == cli.OK
    a, b = (lbm.Solver.load(f"{name}/checkpoint.h5") for name in ("whole", "parts"))
    assert a.steps == b.steps == 200
    np.testing.assert_array_equal(a.populations(), b.populations())
    assert Path("whole/forces.csv").read_text() == Path("parts/forces.csv").read_text()


def test_restart_drops_the_rows_that_it_writes_again(case: Path) -> None:
    change(case, output={"checkpoint": {"every": 100}, "forces": {"every": 10}})
    assert cli.main(["run", str(case), "--no-progress", "--output", "whole"]) == cli.OK
    assert cli.main(["run", str(case), "--no-progress", "--output", "parts", "--steps", "100"]) == cli.OK
    with Path("parts/forces.csv").open("a") as file:  # what a run that was killed after the checkpoint leaves
        file.write("110,1.0,2.0\r\n120,3.0,4.0\r\n13")
    restart = ["--restart", "parts/checkpoint.h5"]
    assert cli.main(["run", str(case), "--no-progress", "--output", "parts", *restart]) == cli.OK
    assert Path("parts/forces.csv").read_bytes() == Path("whole/forces.csv").read_bytes()
    assert sorted(path.name for path in Path("parts").iterdir()) == ["checkpoint.h5", "forces.csv", "run.log"]


def test_restart_without_a_table(case: Path) -> None:
    change(case, output={"checkpoint": {}, "forces": {"every": 50}})
    assert cli.main(["run", str(case), "--no-progress", "--steps", "100"]) == cli.OK
    Path("small/forces.csv").write_text("")
    assert cli.main(["run", str(case), "--no-progress", "--restart", "small/checkpoint.h5"]) == cli.OK
    rows = Path("small/forces.csv").read_text().splitlines()
    assert [row.partition(",")[0] for row in rows] == ["step", "150", "200"]


def test_new_run_sets_the_old_checkpoint_aside(case: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change(case, output={"checkpoint": {}})
    assert cli.main(["run", str(case), "--no-progress", "--steps", "50"]) == cli.OK
    assert "earlier run" not in capsys.readouterr().err
    change(case, output={"vtk": True})
    assert cli.main(["run", str(case), "--no-progress", "--steps", "60"]) == cli.OK
    assert "checkpoint.h5 is of an earlier run: now checkpoint.previous.h5" in capsys.readouterr().err
    assert sorted(p.name for p in Path("small").iterdir()) == ["checkpoint.previous.h5", "fields.vti", "run.log"]
    assert lbm.Solver.load("small/checkpoint.previous.h5").steps == 50
    previous = ["--restart", "small/checkpoint.previous.h5"]
    assert cli.main(["run", str(case), "--no-progress", "--steps", "60", *previous]) == cli.OK
    assert Path("small/checkpoint.previous.h5").exists()


def test_restart_beside_a_table_that_ends_before(case: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change(case, output={"checkpoint": {}, "forces": {"every": 10}})
    assert cli.main(["run", str(case), "--no-progress", "--steps", "100"]) == cli.OK
    table = Path("small/forces.csv")
    rows = table.read_bytes().splitlines(keepends=True)
    short = b"".join(rows[:9])  # up to step 80
    table.write_bytes(short)
    restart = ["run", str(case), "--no-progress", "--restart", "small/checkpoint.h5"]
    assert cli.main(restart) == cli.WRONG_INPUT
    err = capsys.readouterr().err
    assert "forces.csv: ends at step 80 and the checkpoint is of step 100" in err
    assert "delete the table to begin a new one, or restart from another checkpoint" in err
    assert table.read_bytes() == short
    table.write_bytes(b"".join(rows[:10]))  # the row of step 100 is written again
    assert cli.main([*restart, "--steps", "100"]) == cli.OK
    assert table.read_bytes() == b"".join(rows)
    table.unlink()
    assert cli.main(restart) == cli.OK


def test_restart_with_a_shorter_interval_of_forces(case: Path) -> None:
    change(case, output={"checkpoint": {}, "forces": {"every": 50}})
    assert cli.main(["run", str(case), "--no-progress", "--steps", "130"]) == cli.OK
    change(case, output={"checkpoint": {}, "forces": {"every": 10}})
    assert cli.main(["run", str(case), "--no-progress", "--restart", "small/checkpoint.h5"]) == cli.OK
    rows = Path("small/forces.csv").read_text().splitlines()
    assert [row.partition(",")[0] for row in rows[:5]] == ["step", "50", "100", "130", "140"]


def test_restart_of_another_case(case: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change(case, output={"checkpoint": {}})
    assert cli.main(["run", str(case), "--no-progress", "--steps", "50"]) == cli.OK
    assert cli.main(["run", str(case), "--restart", "small/checkpoint.h5", "--steps", "40"]) == cli.WRONG_INPUT
    assert "of step 50, beyond the 40 steps" in capsys.readouterr().err
    change(case, collision={"model": "BGK", "viscosity": 0.1})
    assert cli.main(["run", str(case), "--restart", "small/checkpoint.h5"]) == cli.WRONG_INPUT
    assert "collision.model: the file has 'mrt', this solver has 'bgk'" in capsys.readouterr().err
    assert cli.main(["run", str(case), "--restart", "none.h5"]) == cli.WRONG_INPUT
    assert "no checkpoint at none.h5" in capsys.readouterr().err


def test_divergence(case: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change(case, collision={"model": "BGK", "viscosity": 1e-9}, run={"steps": 100000})
    change(case, initial={"velocity": [0.17, 0]}, output={"checkpoint": {"every": 5}})
    assert cli.main(["run", str(case), "--no-progress"]) == cli.FAILED
    err = capsys.readouterr().err
    assert re.search(r"lbmgpu: diverged: at step \d+ .* cell \(\d+, \d+\)", err)
    assert "last checkpoint" in err
    assert "Traceback" not in err
    assert re.search(r"ERROR diverged: at step \d+ .*last checkpoint", (case.parent / "small" / "run.log").read_text())


def test_wrong_case(case: Path, capsys: pytest.CaptureFixture[str]) -> None:
    change(case, domain={"shape": [16, 16], "stencil": "D2Q8"}, run={"step": 3})
    assert cli.main(["run", str(case)]) == cli.WRONG_INPUT
    err = capsys.readouterr().err
    stencils = ", ".join(map(repr, _core.stencil_names()))
    assert err.splitlines() == [
        "lbmgpu: the case is wrong:",
        f"  $.domain.stencil: 'D2Q8' given, must be one of {stencils}; did you mean 'D2Q9'?",
        "  $.run: lacks 'steps'",
        "  $.run.step: unknown key, must be one of steps, steady, progress, log, threads, device, layout, "
        "cpu_share; did you mean 'steps'?",
    ]
    assert not (case.parent / "small").exists()


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        (
            {"output": {"centrelines": {"reference": "ghia", "velocity": 0.1}}},
            "$.output.centrelines.reference: 'ghia'",
        ),
        (
            {"output": {"centrelines": {"reference": "albensoeder_kuhlmann_2005_re1000", "velocity": 0.1}}},
            "for 3 dimensions",
        ),
        ({"output": {"forces": {"every": 1}}, "bodies": []}, "$.output.forces: forces of bodies asked for"),
    ],
)
def test_wrong_output_is_found_before_the_run(
    case: Path, entries: dict[str, Any], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    change(case, **entries)
    assert cli.main(["run", str(case)]) == cli.WRONG_INPUT
    assert message in capsys.readouterr().err
    assert not (case.parent / "small").exists()


def test_folder_that_cannot_be_made(case: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (case.parent / "file").write_text("")
    for folder in ("file/inside", "file", "/proc/none"):
        assert cli.main(["run", str(case), "--output", folder]) == cli.FAILED
        path = re.escape(str(case.parent / folder))
        expected = rf"(?m)^lbmgpu: output folder {path}: cannot be written to \([^/]*\)$"
        assert re.search(expected, capsys.readouterr().err)


def test_log_that_cannot_be_written(case: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (case.parent / "small" / "run.log").mkdir(parents=True)
    assert cli.main(["run", str(case)]) == cli.FAILED
    assert "output folder" in capsys.readouterr().err


@pytest.mark.filterwarnings("always")
def test_warnings_of_the_command_line_are_one_line_each(case: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = warnings.showwarning
    assert cli.main(["run", str(case), "--steps", "5", "--no-progress"]) == cli.OK
    lines = [line for line in capsys.readouterr().err.splitlines() if "cells across" in line]
    assert lines == ["warning: body 'post': it is 2 cells across, fewer than 10; forces on it will be coarse"]
    assert warnings.showwarning is before


def test_run_case_gives_the_result(case: Path) -> None:
    change(case, output={"folder": "there", "vtk": False})
    result = run_case(case, progress=False, steps=30)
    assert result.steps == 30
    assert "nothing but run.log is left" in (case.parent / "there" / "run.log").read_text()


def test_run_that_leaves_files_does_not_say_otherwise(case: Path) -> None:
    change(case, output={"checkpoint": {}})
    run_case(case, progress=False, steps=30)
    assert "nothing but run.log" not in (case.parent / "small" / "run.log").read_text()


def test_interrupt(case: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupt(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "run_case", interrupt)
    assert cli.main(["run", str(case)]) == cli.INTERRUPTED
    assert capsys.readouterr().err == "lbmgpu: interrupted\n"


def test_interrupt_keeps_the_state(
    case: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    change(case, output={"forces": {"every": 10}}, run={"steps": 200})
    assert cli.main(["run", str(case), "--no-progress", "--output", "whole"]) == cli.OK

    advance = Simulation.advance

    def interrupted(simulation: Simulation, steps: int) -> float:
        seconds = advance(simulation, steps)
        if simulation.steps >= 120:
            raise KeyboardInterrupt
        return seconds

    with monkeypatch.context() as patch:
        patch.setattr(Simulation, "advance", interrupted)
        assert cli.main(["run", str(case), "--no-progress"]) == cli.INTERRUPTED
    checkpoint = case.parent / "small" / "checkpoint.h5"
    message = f"to go on from step 120, give the same command with --restart {checkpoint}\n"
    assert capsys.readouterr().err.endswith(f"{message}lbmgpu: interrupted\n")
    assert (checkpoint.parent / "run.log").read_text().endswith(message)

    change(case, output={"checkpoint": {}, "forces": {"every": 10}})
    assert cli.main(["run", str(case), "--no-progress", "--restart", str(checkpoint)]) == cli.OK
    whole = lbm.Solver(lbm.Solver.load(checkpoint).domain, lbm.Solver.load(checkpoint).collision)
    whole.step(200)
    np.testing.assert_array_equal(lbm.Solver.load(checkpoint).populations(), whole.populations())


def test_sigterm_keeps_the_state(case: Path) -> None:
    change(case, output={"checkpoint": {}}, run={"steps": 10**9, "log": {"every": 100}})
    command = [sys.executable, "-m", "lbmgpu", "run", str(case)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        while "step 100:" not in process.stderr.readline():
            assert process.poll() is None
        process.terminate()
        _, err = process.communicate(timeout=60)
    assert process.returncode == cli.TERMINATED
    checkpoint = case.parent / "small" / "checkpoint.h5"
    found = re.search(r"to go on from step (\d+), give the .* --restart (.*)\nlbmgpu: terminated\n$", err)
    assert found
    assert Path(found[2]) == checkpoint
    assert lbm.Solver.load(checkpoint).steps == int(found[1]) >= 100


def test_sigterm_is_left_as_it_was(case: Path) -> None:
    before = signal.getsignal(signal.SIGTERM)
    change(case, output={}, run={"steps": 5})
    assert cli.main(["run", str(case)]) == cli.OK
    assert signal.getsignal(signal.SIGTERM) is before


def test_run_in_another_thread(case: Path) -> None:
    codes: list[int] = []
    change(case, output={}, run={"steps": 5})
    thread = threading.Thread(target=lambda: codes.append(cli.main(["run", str(case)])))
    thread.start()
    thread.join()
    assert codes == [cli.OK]


def test_interrupt_of_a_run_that_diverged(
    case: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(simulation: Simulation, _: int) -> float:
        raise KeyboardInterrupt

    def diverged(simulation: Simulation) -> None:
        raise lbm.DivergedError(7, (1, 2))

    monkeypatch.setattr(Simulation, "advance", interrupted)
    monkeypatch.setattr(Simulation, "check", diverged)
    assert cli.main(["run", str(case), "--no-progress"]) == cli.INTERRUPTED
    assert "the state is not saved: diverged" in capsys.readouterr().err
    assert not (case.parent / "small" / "checkpoint.h5").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["walk"],
        ["run"],
        ["run", "a.json", "--steps", "-1"],
        ["run", "a.json", "--steps", "many"],
        ["run", "a.json", "--threads", "0"],
        ["bench", "--size", "0"],
        ["bench", "--seconds", "nan"],
        ["bench", "--seconds", "0"],
        ["bench", "--stencil", "D3Q18"],
        ["bench", "--repeats", "1.5"],
    ],
)
def test_wrong_arguments(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        cli.main(arguments)
    assert caught.value.code == cli.WRONG_INPUT
    assert "lbmgpu" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["1e3", "many", "1.5"])
def test_steps_are_an_integer(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(["run", "a.json", "--steps", text])
    assert f"argument --steps: '{text}' given, must be an integer" in capsys.readouterr().err


def test_module_is_the_command_line(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "lbmgpu", "run", "missing.json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == cli.WRONG_INPUT
    assert done.stderr == "lbmgpu: no case at missing.json\n"
    done = subprocess.run([sys.executable, "-m", "lbmgpu", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"lbmgpu {lbm.__version__}\n"


def into_a_closed_pipe(arguments: list[str], **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command line with a standard output whose reader has gone, as that of ``head`` has after ten lines."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        return subprocess.run(
            [sys.executable, "-m", "lbmgpu", *arguments],
            stdout=writing,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            env={**os.environ, "PYTHONUNBUFFERED": "", **environment},
        )
    finally:
        os.close(writing)


@pytest.mark.parametrize("arguments", ["info", "schema", "run --help", "bench --size 8 --stencil D2Q9"])
def test_a_command_whose_output_nobody_reads_ends_quietly(arguments: str) -> None:
    done = into_a_closed_pipe(arguments.split())
    assert (done.returncode, done.stderr) == (cli.FAILED, "")


def test_a_command_without_a_buffer_whose_output_nobody_reads_ends_quietly() -> None:
    done = into_a_closed_pipe(["info"], PYTHONUNBUFFERED="1")
    assert (done.returncode, done.stderr) == (cli.FAILED, "")


def test_output_that_finds_no_room_is_an_error_of_one_line() -> None:
    command, environment = [sys.executable, "-m", "lbmgpu", "info"], {**os.environ, "PYTHONUNBUFFERED": ""}
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False, env=environment)
    assert done.returncode == cli.FAILED
    assert done.stderr == "lbmgpu: standard output: No space left on device\n"


def test_a_case_runs_to_its_end_where_nobody_reads_the_report(case: Path) -> None:
    done = into_a_closed_pipe(["run", str(case), "--no-progress", "--device", "cpu"])
    assert done.returncode == cli.FAILED
    assert "Traceback" not in done.stderr
    assert lbm.Solver.load(case.parent / "small" / "checkpoint.h5").steps == 200
    assert (case.parent / "small" / "centrelines.txt").exists()
