"""Cases with a temperature, from the file to what they leave; pictures and plans of them."""

from __future__ import annotations

import csv
import json
import logging
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lbmgpu as lbm
from lbmgpu import cli, plot
from lbmgpu.benchmarks import single as bench
from lbmgpu.case import plan as case_plan
from lbmgpu.case.build import build_solver
from lbmgpu.case.read import read_case
from lbmgpu.case.run import run_case
from lbmgpu.planning.cost_model import Device, Machine

CASE: dict[str, Any] = {
    "name": "heated box",
    "domain": {"shape": [16, 14], "stencil": "D2Q9"},
    "collision": {"model": "MRT", "viscosity": 0.05},
    "faces": {face: {"condition": "no-slip"} for face in ("-x", "+x", "-y", "+y")},
    "bodies": [
        {
            "name": "wire",
            "shape": "box",
            "low": [6, 6],
            "high": [8, 8],
            "thermal": {"condition": "isothermal", "temperature": 1.5},
        }
    ],
    "thermal": {
        "diffusivity": 0.07,
        "buoyancy": [0, 1e-4],
        "reference": 0.5,
        "faces": {
            "-x": {"condition": "isothermal", "temperature": 1},
            "+x": {"condition": "isothermal", "temperature": 0},
        },
    },
    "initial": {"temperature": 0.25},
    "run": {"steps": 200, "device": "cpu", "threads": 1, "progress": False, "log": {"every": 100}},
    "output": {
        "vtk": True,
        "image": {"field": "temperature"},
        "checkpoint": {"every": 100},
        "heat": {"every": 50},
    },
}


ISOTHERMAL: dict[str, Any] = {"condition": "isothermal", "temperature": 0}


@pytest.fixture
def case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A case file in an empty working folder."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "box.json"
    path.write_text(json.dumps(CASE))
    return path


def by_hand(steps: int) -> lbm.Solver:
    """What the case means."""
    domain = lbm.Domain((16, 14), "D2Q9")
    for face in domain.faces:
        domain.faces[face] = lbm.NoSlip()
    domain.thermal["-x"], domain.thermal["+x"] = lbm.Isothermal(1.0), lbm.Isothermal(0.0)
    domain.add_body(lbm.Box((6, 6), (8, 8)), "wire", thermal=lbm.Isothermal(1.5))
    model = lbm.HybridThermal(0.07, buoyancy=(0, 1e-4), reference=0.5)
    solver = lbm.Solver(domain, lbm.MRT(0.05), device="cpu", threads=1, thermal=model)
    solver.initialize(temperature=0.25)
    solver.step(steps)
    return solver


def test_a_case_leaves_its_files(case: Path) -> None:
    logging.getLogger("lbmgpu").setLevel(logging.INFO)
    run_case(case)
    folder = case.parent / "box"
    assert {path.name for path in folder.iterdir()} == {
        "fields.vti",
        "temperature.png",
        "checkpoint.h5",
        "heat.csv",
        "run.log",
    }
    solver, wanted = lbm.Solver.load(folder / "checkpoint.h5"), by_hand(200)
    np.testing.assert_array_equal(solver.temperature(), wanted.temperature())
    np.testing.assert_array_equal(solver.populations(), wanted.populations())
    rows = list(csv.reader((folder / "heat.csv").open()))
    assert rows[0] == ["step", "heat", "-x flux", "+x flux", "wire flux"]
    assert [int(row[0]) for row in rows[1:]] == [50, 100, 150, 200]
    fluxes = [wanted.mean_heat_flux(where) for where in ("-x", "+x")]
    last = [wanted.heat(), *fluxes, wanted.mean_heat_flux("wire", area=8)]
    np.testing.assert_allclose([float(x) for x in rows[-1][1:]], last, rtol=1e-8)
    assert last[1] > 0 > last[2]
    assert f"heat {by_hand(100).heat():.9g}" in (folder / "run.log").read_text()


def test_a_restart_goes_on_with_the_table(case: Path) -> None:
    run_case(case, folder="whole")
    run_case(case, folder="parts", steps=100)
    run_case(case, folder="parts", restart="parts/checkpoint.h5")
    assert Path("parts/heat.csv").read_text() == Path("whole/heat.csv").read_text()


def test_a_case_ends_when_the_temperature_is_steady(case: Path) -> None:
    steady = {"tolerance": 1e-3, "every": 20, "of": "temperature"}
    case.write_text(json.dumps({**CASE, "run": {**CASE["run"], "steps": 20000, "steady": steady}}))
    result = run_case(case)
    assert result.converged
    before, after = by_hand(result.steps - 20).temperature(), by_hand(result.steps).temperature()
    assert np.abs(after - before).max() <= 1e-3
    if result.steps > 40:
        earlier = by_hand(result.steps - 40).temperature()
        assert np.abs(before - earlier).max() > 1e-3


def test_the_picture_shows_the_temperature() -> None:
    solver = by_hand(50)
    figure = plot.temperature_figure(solver)
    assert figure is not None
    shown = figure.axes[0].images[0].get_array()
    assert shown is not None
    np.testing.assert_array_equal(np.ma.getmaskarray(shown), solver.solid.T)
    np.testing.assert_array_equal(np.ma.compressed(shown), solver.temperature().T[~solver.solid.T])
    assert figure.axes[0].get_title() == "temperature, step 50"
    plain = lbm.Solver(lbm.Domain((7, 5), "D2Q9"), lbm.BGK(0.1), device="cpu")
    with pytest.raises(ValueError, match="'temperature' given, but this solver has speed"):
        plot.temperature_figure(plain)


def test_a_plane_of_a_box() -> None:
    domain = lbm.Domain((6, 5, 4))
    solver = lbm.Solver(domain, lbm.BGK(0.1), device="cpu", thermal=lbm.HybridThermal(0.1))
    solver.initialize(temperature=lambda x, y, z: x + 10 * y + 100 * z)
    figure = plot.temperature_figure(solver, normal="y", position=0.5)
    assert figure is not None
    np.testing.assert_array_equal(figure.axes[0].images[0].get_array(), solver.temperature()[:, 2, :].T)


def test_plans_count_the_temperature(case: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine((Device("cuda:0", 4e12),))
    plans = [lbm.plan((64, 64, 64), machine=machine, thermal=thermal) for thermal in (False, True)]
    assert plans[1].step_seconds / plans[0].step_seconds == pytest.approx(20 / 19)
    with pytest.raises(ValueError, match="stencil: 'D3Q27' given with thermal"):
        lbm.plan((64, 64, 64), "D3Q27", machine=machine, thermal=True)
    with pytest.raises(ValueError, match="storage: 'float16' given with thermal"):
        lbm.plan((64, 64, 64), storage="float16", machine=machine, thermal=True)
    seen: list[dict[str, Any]] = []
    monkeypatch.setattr(case_plan, "plan", lambda *args, **options: seen.append(options))
    case_plan.plan_case(case, "cpu")
    assert seen[0]["thermal"]


def test_a_planned_layout_of_a_temperature(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measured with one, and run with one, with the same bits."""
    heated: list[bool] = []
    make = lbm.HybridThermal.check
    monkeypatch.setattr(lbm.HybridThermal, "check", lambda *a: heated.append(True) or make(*a))
    domain = lbm.Domain((12, 12, 16))
    model = lbm.HybridThermal(0.1, buoyancy=(0, 1e-3, 0))
    fields = []
    for options in ({"device": ["cpu", "cpu"], "layout": "auto"}, {"device": "cpu"}):
        heated.clear()
        monkeypatch.setattr("lbmgpu.planning.machine.SIZE", {("cpu", 3): 24})
        monkeypatch.setattr("lbmgpu.planning.machine.SECONDS", 1e-3)
        solver = lbm.Solver(domain, lbm.TRT(0.1), thermal=model, threads=1, **options)  # type: ignore[arg-type]
        assert (len(heated) > 1) == ("layout" in options)
        solver.initialize(temperature=lambda x, y, z: np.sin(x) * np.cos(y + z))
        solver.step(9)
        fields.append(solver.temperature())
        assert len(solver.layout) == (2 if "layout" in options else 1)
    np.testing.assert_array_equal(*fields)


def test_bench_of_a_heated_box(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "speed.json"
    timing = ["--size", "12", "--seconds", "0.01", "--repeats", "1", "--threads", "1", "--json", str(file)]
    assert cli.main(["bench", "--flow", "heated", "--collision", "MRT", *timing]) == cli.OK
    assert "D3Q19 MRT float32 in-place 12^3 heated" in capsys.readouterr().out
    (row,) = json.loads(file.read_text())["measurements"]
    assert row["bytes_per_update"] == 2 * 20 * 4
    rows = [row for row in bench.menu(device="cuda:0") if row.has_temperature]
    assert [(row.stencil, row.collision, row.precision, row.storage, row.streaming, row.size) for row in rows] == [
        ("D3Q19", "MRT", numbers, numbers, streaming, 512)
        for numbers in ("float32", "float64")
        for streaming in ("two-lattice", "in-place")
    ]


def by_numbers(**thermal: Any) -> dict[str, Any]:
    """The heated box by its Rayleigh and Prandtl numbers."""
    numbers = {"rayleigh": 1e3, "prandtl": 0.71, "length": 14, "faces": CASE["thermal"]["faces"]}
    return CASE | {"collision": {"model": "MRT"}, "thermal": numbers | thermal}


def test_a_case_by_its_rayleigh_number_is_that_of_its_coefficients(case: Path) -> None:
    flow = lbm.Convection(1e3, 0.71, 14, velocity=0.05, difference=2.0)
    plain = {"diffusivity": flow.diffusivity, "buoyancy": [-flow.buoyancy, 0], "faces": CASE["thermal"]["faces"]}
    both = {
        "numbers": by_numbers(velocity=0.05, difference=2.0, up="-x"),
        "coefficients": CASE | {"collision": {"model": "MRT", "viscosity": flow.viscosity}, "thermal": plain},
    }
    for name, entry in both.items():
        case.write_text(json.dumps(entry))
        run_case(case, folder=Path(name), steps=100, progress=False)
    tables = {name: list(csv.reader(Path(name, "heat.csv").read_text().splitlines())) for name in both}
    head, *rows = tables["numbers"]
    assert head[2:] == ["-x flux", "+x flux", "wire flux", "-x Nusselt", "+x Nusselt", "wire Nusselt"]
    assert [row[:5] for row in rows] == [row[:5] for row in tables["coefficients"][1:]]
    for row in rows:
        fluxes, numbers = np.array(row[2:], float).reshape(2, 3)
        np.testing.assert_allclose(numbers, fluxes * 14 / (flow.diffusivity * 2), rtol=1e-8)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"thermal": {"rayleigh": 1e3}}, r"\$.thermal: has 'rayleigh' without 'prandtl', 'length'"),
        ({"thermal": {"length": 3, "diffusivity": 0.1}}, "has 'length' without 'rayleigh', 'prandtl'"),
        ({"thermal": {"faces": {}}, "collision": CASE["collision"]}, "must have either 'diffusivity' or 'rayleigh'"),
        (by_numbers(buoyancy=[0, 1e-4]), r"\$.thermal.buoyancy: given beside 'rayleigh', must be left out"),
        (by_numbers(up="+z"), r"\$.thermal.up: '\+z' given, must be along an axis of 2 dimensions"),
        (
            by_numbers(difference=2) | {"bodies": []},
            r"\$.thermal.difference: 2 given, but the temperatures of the walls differ by 1; give 1, which",
        ),
        (
            by_numbers(faces={"-x": ISOTHERMAL | {"temperature": 7.0001234}, "+x": ISOTHERMAL}) | {"bodies": []},
            r"\$.thermal: difference: 1 by default, but the temperatures of the walls differ by 7.0001234; give 7.0001",
        ),
        (
            by_numbers(rayleigh=1, length=14),
            r"\$.thermal: diffusivity: .*; give a smaller 'velocity' or a larger 'rayleigh'",
        ),
        (
            CASE | {"faces": {face: CASE["faces"][face] for face in ("-x", "-y", "+y")}},
            r"\$.thermal.faces\['\+x'\]: 'isothermal' given on a face .* periodic; give it .* as -x has, 'no-slip'",
        ),
        (by_numbers(velocity=0.5), r"\$.thermal.velocity: 0.5 given, must be a finite number above 0 and at most"),
        (by_numbers() | {"collision": CASE["collision"]}, r"\$.collision.viscosity: given with 'rayleigh'"),
    ],
)
def test_numbers_of_a_convection_that_do_not_go_together_are_named(
    case: Path, changes: dict[str, Any], message: str
) -> None:
    case.write_text(json.dumps(CASE | {"collision": {"model": "MRT"}} | changes))
    with pytest.raises(lbm.CaseError, match=message) as caught:
        run_case(case, folder="left", progress=False)
    assert len(caught.value.problems) == 1


def test_a_case_with_too_few_cells_for_its_rayleigh_number_says_how_many(case: Path) -> None:
    case.write_text(json.dumps(by_numbers(rayleigh=1e6, velocity=0.02)))
    with pytest.warns(
        lbm.ThinLayerWarning, match="length: 14 given with rayleigh 1e.06: .* 0.8 cells .* length of some 90 gives"
    ):
        build_solver(read_case(case), case.parent)
    with warnings.catch_warnings():
        warnings.simplefilter("error", lbm.ThinLayerWarning)
        for numbers in ({"rayleigh": 100.0}, {"rayleigh": 1e4, "length": 23}):  # no layers; five cells in them
            case.write_text(json.dumps(by_numbers(**numbers, velocity=0.01)))
            build_solver(read_case(case), case.parent)


@pytest.mark.parametrize(
    ("thermal", "changes"),
    [
        ({"difference": 1.0005}, {"bodies": []}),
        ({"difference": 2}, {}),  # a body has a temperature too
        ({"difference": 2, "source": 1e-6}, {"bodies": []}),
        ({"difference": 2}, {"bodies": [], "initial": {"temperature": 2}}),
        ({"faces": CASE["thermal"]["faces"] | {"+y": {"condition": "isothermal", "temperature": 4}}}, {"bodies": []}),
    ],
)
def test_the_difference_need_not_be_that_of_two_walls(
    case: Path, thermal: dict[str, Any], changes: dict[str, Any]
) -> None:
    case.write_text(json.dumps(by_numbers(**thermal, velocity=0.01) | changes))
    build_solver(read_case(case), case.parent)


@pytest.mark.parametrize("example", ["convection_from_below", "rayleigh_taylor"])
def test_convection_and_layers_run_from_a_case(example: str, tmp_path: Path) -> None:
    """They begin close to rest, and the fluid gains energy."""
    path = Path(__file__).parents[2] / "examples" / f"{example}.json"
    solver = build_solver(read_case(path), tmp_path, device="cpu")
    solver.step(300)
    assert 0 < np.abs(solver.velocity()).max() < 0.01
    assert solver.temperature()[3, 3] > solver.temperature()[3, -3]
