"""What benchmarks, plans, cases and checks of memory know of cells that keep moments."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lbmgpu as lbm
from lbmgpu import _core, cli
from lbmgpu.benchmarks import menus, single
from lbmgpu.benchmarks.device_group import DeviceGroup
from lbmgpu.case.build import build_solver
from lbmgpu.case.plan import plan_case
from lbmgpu.case.read import read_case
from lbmgpu.case.run import run_case
from lbmgpu.engine import memory
from lbmgpu.engine.kept_state import numbers_of_cell, steps_per_update
from lbmgpu.engine.memory import moment_bytes
from lbmgpu.planning import cost_model
from lbmgpu.planning.configuration import Configuration, problem_of
from lbmgpu.planning.default_cut import cut_for
from lbmgpu.planning.planner import plan
from lbmgpu.solver.solver import simulation_of

STENCILS = ["D2Q9", "D3Q19", "D3Q27"]
KEPT = Configuration(collision="Regularized", streaming="two-lattice", state="moments")
IN_PLACE = replace(KEPT, streaming="in-place")
PARTS = {2: [(1, 2), (2, 1), (2, 3), (4, 1), (1, 14)], 3: [(1, 1, 2), (1, 2, 1), (2, 1, 1), (2, 2, 2), (1, 3, 2)]}
WALLS = lbm.NoSlip()
WALL = {"condition": "no-slip"}


def machine_of(count: int) -> cost_model.Machine:
    link = cost_model.Link("peer", 1e10, 5e-6)
    return cost_model.Machine(tuple(cost_model.Device(f"cuda:{k}", 4e12) for k in range(count)), {"peer": link})


def domain_of(stencil: str, walled: str, cells: int = 12) -> lbm.Domain:
    dimensions = int(stencil[1])
    domain = lbm.Domain([cells + 2 * axis for axis in range(dimensions)], stencil)
    for axis in set(walled) & set("xyz"[:dimensions]):
        domain.faces["-" + axis] = domain.faces["+" + axis] = WALLS
    return domain


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("stencil", STENCILS)
def test_bytes_and_steps_are_those_of_the_engine(stencil, precision):
    domain = domain_of(stencil, "")
    solver = lbm.Solver(domain, lbm.Regularized(0.1), state="moments", precision=precision, device="cpu")
    engine = simulation_of(solver).engine
    configuration = replace(KEPT, stencil=stencil, precision=precision, storage=precision)
    problem = problem_of(configuration, domain.shape, (True,) * len(domain.shape))
    assert problem.bytes_per_update == engine.bytes_per_update
    assert problem.moments == engine.state_numbers == numbers_of_cell("moments", stencil)
    assert problem.steps == engine.steps_per_update == steps_per_update("moments", stencil) > 1
    assert steps_per_update("populations", stencil) == 1


@pytest.mark.parametrize("kept", [KEPT, IN_PLACE], ids=lambda kept: kept.streaming)
@pytest.mark.parametrize("walled", ["", "x", "yz", "xyz"])
@pytest.mark.parametrize("stencil", STENCILS)
def test_halos_have_the_bytes_that_the_engine_exchanges(stencil, walled, kept):
    domain = domain_of(stencil, walled)
    options: dict[str, Any] = {"state": "moments", "streaming": kept.streaming}
    for parts in PARTS[len(domain.shape)]:
        layout = lbm.Layout.split(domain.shape, parts)
        engine = simulation_of(lbm.Solver(domain, lbm.Regularized(0.1), layout=layout, **options)).engine
        around = tuple(axis not in walled for axis in "xyz"[: len(domain.shape)])
        problem = problem_of(replace(kept, stencil=stencil), domain.shape, around)
        sizes = [sorted({(block.offset[a], block.size[a]) for block in layout}) for a in range(len(parts))]
        tiling = cost_model.Tiling(tuple(tuple(size for _, size in axis) for axis in sizes))
        for number, place in enumerate(tiling.places()):
            expected = sum(link["bytes"] for link in engine.links if link["to"] == number)
            assert sum(cost_model.incoming_bytes(problem, tiling, place)) == expected, (parts, place)


def test_an_exchange_waits_once_for_the_steps_of_an_update():
    problem = problem_of(KEPT, (64, 64, 64), (True,) * 3)
    tiling, machine = cost_model.Tiling(((64,), (64,), (32, 32))), machine_of(2)
    found = cost_model.predict(machine, problem, tiling)
    across = 2 * 64 * 64 * 2 * 10 * 4  # both sides, two layers of ten numbers
    assert found.exchange_seconds == pytest.approx((5e-6 + across / 1e10) / 2)
    assert found.update_seconds == pytest.approx(64 * 64 * 32 * 40 / 4e12)
    hidden = cost_model.predict(machine, problem, tiling, overlap=True)
    shell = 64 * 64 * 4 * 40 / 4e12
    assert hidden.step_seconds == pytest.approx(shell + max(found.update_seconds - shell, found.exchange_seconds))
    assert cost_model.has_interiors(problem, (1, 1, 2), machine)
    in_place = problem_of(IN_PLACE, (64, 64, 64), (True,) * 3)
    assert not cost_model.has_interiors(in_place, (1, 1, 2), machine)
    assert cost_model.predict(machine, in_place, tiling) == found


def test_one_lattice_of_moments_exchanges_after_the_update():
    domain, half = domain_of("D3Q19", ""), lbm.Layout.split((12, 14, 16), (1, 1, 2))
    for streaming, overlaps in (("two-lattice", True), ("in-place", False)):
        options: dict[str, Any] = {"state": "moments", "streaming": streaming, "schedule": "overlap"}
        engine = simulation_of(lbm.Solver(domain, lbm.Regularized(0.1), layout=half, **options)).engine
        assert engine.overlaps == overlaps


def test_a_refusal_offers_one_lattice(monkeypatch):
    shape = (200, 200, 200)
    numbers = ("float32", "float32", "in-place")
    one = _core.Engine.memory_needed("D3Q19", shape, *numbers, state="moments")["cpu"]
    monkeypatch.setattr(memory, "available_memory", lambda device: one + 1)
    with pytest.raises(lbm.TooLittleMemoryError, match=r"streaming 'in-place' \(0\.\d+ GiB\)"):
        memory.check_memory("D3Q19", shape, "float32", "float32", "two-lattice", state="moments")
    memory.check_memory("D3Q19", shape, "float32", "float32", "in-place", state="moments")


def test_plans_take_states_and_refuse_by_name():
    machine = machine_of(2)
    found = plan((64, 64, 64), machine=machine, state="moments")
    assert (found.configuration.state, found.configuration.collision) == ("moments", "Regularized")
    assert found.configuration.streaming == "two-lattice"
    assert found.problem.bytes_per_update == 40
    assert plan((64, 64, 64), machine=machine, state="moments", streaming="in-place").problem.in_place
    for options, state in (
        ({"collision": "RecursiveRegularized"}, "moments"),
        ({"collision": "Regularized", "streaming": "in-place"}, "moments"),
        ({"collision": "Regularized", "turbulence": lbm.Smagorinsky(0.1)}, "moments"),
        ({}, "moments"),  # of Regularized
        ({"collision": "BGK"}, "populations"),
        ({"hybrid": 0.9}, "populations"),
        ({"storage": "float16"}, "populations"),  # of BGK, as the next ones
        ({"thermal": True}, "populations"),
        ({"turbulence": lbm.WALE()}, "populations"),
        ({"collision": "RecursiveRegularized", "hybrid": 0.9}, "populations"),
        ({"collision": "Regularized", "storage": "float16"}, "populations"),
        ({"collision": "Regularized", "thermal": True}, "populations"),
    ):
        found = plan((64, 64, 64), machine=machine, state="auto", **options)
        assert found.configuration.state == state, options
        if "collision" not in options:
            assert found.configuration.collision == ("Regularized" if state == "moments" else "BGK")
    refused: list[tuple[dict[str, Any], str]] = [
        ({"collision": "BGK"}, "the collision BGK"),
        ({"storage": "float16"}, "the storage 'float16'"),
        ({"turbulence": lbm.WALE()}, "velocity gradients"),
        ({"thermal": True}, "thermal"),
    ]
    for options, text in refused:
        with pytest.raises(ValueError, match=f"state: 'moments' given with {text}"):
            plan((64, 64, 64), machine=machine, state="moments", **options)
    with pytest.raises(ValueError, match="state: 'moment' given"):
        plan((64, 64, 64), machine=machine, state="moment")


def test_a_layout_is_planned_and_run():
    solver = lbm.Solver(
        domain_of("D3Q19", "z"), lbm.Regularized(0.1), state="auto", layout="auto", device=["cpu", "cpu"]
    )
    assert solver.state == "moments"
    assert len(simulation_of(solver).layout) == 2
    solver.step(4)


def test_the_cut_without_a_layout_knows_the_halo():
    owners = [(rank, "cuda:0", "here") for rank in range(8)]
    for state in ("populations", "moments"):
        for streaming in ("in-place", "two-lattice"):
            parts = cut_for("D3Q19", "float32", streaming, state=state)((128, 128, 128), owners)
            assert np.prod(parts) == 8


def test_the_menu_has_each_stencil_collision_and_type():
    rows = single.menu_of_moments(8)
    assert len(set(rows)) == len(rows) == 12
    assert {(row.stencil, row.collision, row.precision) for row in rows} == {
        (stencil, collision, precision)
        for stencil in STENCILS
        for collision in ("Regularized", "RecursiveRegularized")
        for precision in ("float32", "float64")
    }
    assert str(rows[0]) == "D2Q9 Regularized float32 moments 8^2"
    in_place = single.menu_of_moments(8, streaming="in-place")
    assert in_place == [replace(row, streaming="in-place") for row in rows]
    assert str(in_place[0]) == "D2Q9 Regularized float32 moments in-place 8^2"
    more = single.menu_of_moments(device="cuda:0")[12:]
    assert {(row.size, row.flow, row.streaming) for row in more} == {
        *((size, "periodic", "two-lattice") for size in (500, 300, 256, 128)),
        *((512, flow, "two-lattice") for flow in ("sphere", "cavity", "channel")),
        *((size, "periodic", "in-place") for size in (512, 500)),
    }


@pytest.mark.slow
def test_bench_prints_bytes_and_steps(capsys, tmp_path: Path):
    file = tmp_path / "speeds.json"
    options = ["--seconds", "0.01", "--repeats", "1", "--threads", "1"]
    assert cli.main(["bench", "--state", "moments", "--size", "8", *options, "--json", str(file)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert single.HEADER in lines
    rows = json.loads(file.read_text())["measurements"]
    assert len(rows) == 12
    for row, line in zip(rows, lines[-12:], strict=True):
        steps = steps_per_update("moments", row["configuration"]["stencil"])
        assert line.split()[6:8] == [str(row["bytes_per_update"]), str(steps)]
        assert row["bandwidth"] == pytest.approx(row["mlups"] * 1e6 * row["bytes_per_update"])
        assert (row["steps_per_update"], row["configuration"]["state"]) == (steps, "moments")
    for flow in ("forced", "cavity", "channel"):
        assert cli.main(["bench", "--state", "moments", "--flow", flow, "--size", "10", *options]) == 0
    capsys.readouterr()
    assert cli.main(["bench", "--state", "moments", "--streaming", "in-place", "--size", "8", *options]) == 0
    assert "D3Q19 Regularized float32 moments in-place 8^3" in capsys.readouterr().out
    for more, text in (
        (["--flow", "heated"], "thermal"),
        (["--collision", "BGK"], "the collision BGK"),
        (["--storage", "float16"], "the storage 'float16'"),
        (["--turbulence", "wale"], "velocity gradients"),
    ):
        assert cli.main(["bench", "--state", "moments", "--size", "8", *more]) == 2
        assert f"state: 'moments' given with {text}" in capsys.readouterr().err
    assert cli.main(["bench", "--state", "moments", "--size", "8", "--members", "2"]) == 2
    assert "members: 2 given with the state 'moments', must be 1" in capsys.readouterr().err


def test_a_question_of_several_devices_has_a_state():
    question = menus.Question(shape=(16, 16, 16), chosen={"state": "moments"})
    (row,) = menus.asked(question, 16, DeviceGroup(["cpu", "cpu"], None))
    assert (row.state, row.collision, row.streaming) == ("moments", "Regularized", "two-lattice")
    assert str(row) == "strong D3Q19 moments 16x16x16 in 1x1x2"


@pytest.mark.parametrize("cells", [20, 47])
@pytest.mark.parametrize("stencil", STENCILS)
def test_the_memory_of_walls_is_told_from_above(stencil, cells):
    domain = domain_of(stencil, "xyz", cells)
    solver = lbm.Solver(domain, lbm.Regularized(0.1), state="moments", device="cpu", threads=2)
    solver.step(2)  # which makes the lists
    engine = simulation_of(solver).engine
    numbers = ("float32", "float32", "two-lattice")
    lattices = engine.memory_needed(stencil, domain.shape, *numbers, state="moments")["cpu"]
    more = moment_bytes(stencil, domain.shape, list(domain.faces), 2, on_cpu=True)
    assert lattices < engine.memory_bytes <= lattices + more


CASE: dict[str, Any] = {
    "domain": {"shape": [16, 12], "stencil": "D2Q9"},
    "collision": {"model": "Regularized", "viscosity": 0.05},
    "faces": {"-y": {"condition": "no-slip"}, "+y": {"condition": "moving-wall", "velocity": [0.05, 0]}},
    "run": {"steps": 4, "device": "cpu"},
}


def written(folder: Path, **more: Any) -> Path:
    path = folder / "case.json"
    path.write_text(json.dumps(CASE | more))
    return path


@pytest.mark.parametrize(
    ("more", "state"),
    [
        ({}, "populations"),
        ({"state": "populations"}, "populations"),
        ({"state": "moments"}, "moments"),
        ({"state": "auto"}, "moments"),
        ({"state": "moments", "streaming": "in-place"}, "moments"),
        ({"state": "auto", "collision": {"model": "BGK", "viscosity": 0.05}}, "populations"),
        ({"state": "auto", "faces": {f: {"condition": "free-slip"} for f in ("-y", "+y")}}, "moments"),
        ({"state": "auto", "faces": {"-y": WALL, "+y": {"condition": "outflow"}}}, "populations"),
        ({"state": "auto", "sponges": [{"face": "-y", "thickness": 3}]}, "populations"),
        ({"state": "auto", "bodies": [{"shape": "sphere", "center": [8, 6], "radius": 3}]}, "moments"),
    ],
)
@pytest.mark.filterwarnings("ignore::lbmgpu.GeometryWarning")
def test_a_case_has_a_state_and_its_plan_the_same(more, state, tmp_path: Path):
    path = written(tmp_path, **more)
    assert build_solver(read_case(path), tmp_path).state == state
    assert run_case(path, folder=tmp_path / "run", progress=False).steps == 4
    assert plan_case(path, ["cpu", "cpu"]).configuration.state == state


@pytest.mark.parametrize(
    ("more", "text"),
    [
        ({"state": "moment"}, r"\$\.state: 'moment' given, must be one of 'populations', 'moments', 'auto'"),
        ({"state": None}, r"\$\.state: "),
        ({"state": "moments", "collision": {"model": "BGK", "viscosity": 0.05}}, r"\$\.state: .* the collision BGK"),
        ({"state": "moments", "faces": {"-y": WALL, "+y": {"condition": "outflow"}}}, r"Outflow\(\) on face"),
    ],
)
def test_what_does_not_go_with_the_state_of_a_case_is_named(more, text, tmp_path: Path):
    with pytest.raises(lbm.CaseError, match=text):
        run_case(written(tmp_path, **more), folder=tmp_path / "run")


@pytest.mark.gpu
def test_a_gpu_is_measured(gpu, capsys):
    options = ["--seconds", "0.001", "--repeats", "1", "--size", "8", "--device", gpu]
    assert cli.main(["bench", "--state", "moments", "--stencil", "D2Q9", *options]) == 0
    assert "D2Q9 Regularized float32 moments 8^2" in capsys.readouterr().out
    assert cli.main(["bench", "--state", "moments", "--stencil", "D2Q9", "--tune", *options]) == 2
    assert "those that keep moments have one launch" in capsys.readouterr().err


def test_figures_of_moments_have_a_place_in_the_guide(tmp_path: Path):
    docs = Path(__file__).parents[2] / "docs"
    for name in ("fill_performance.py", "profile_kernels.py", "performance.md"):
        shutil.copy(docs / name, tmp_path)
    file = tmp_path / "moments.json"
    options = ["--stencil", "D3Q19", "--size", "8", "--seconds", "0.001", "--repeats", "1", "--json", str(file)]
    assert cli.main(["bench", "--state", "moments", *options]) == 0
    subprocess.run([sys.executable, str(tmp_path / "fill_performance.py"), str(file)], check=True)
    page = (tmp_path / "performance.md").read_text()
    found = page.split("<!-- moments:begin -->")[1].split("<!-- moments:end -->")[0].strip().splitlines()
    head = "| configuration | MLUPS | B | steps | GB/s | scale | fraction | flop | GFLOP/s | boundary | update |"
    assert found[2] == head
    assert re.match(r"\| D3Q19 Regularized float32, moments, size 8 \| [\d.]+ \| 40 \| 2 \| ", found[4])
    marks = "<!-- moments:begin -->"
    assert page.split(marks)[0] == (docs / "performance.md").read_text().split(marks)[0]
