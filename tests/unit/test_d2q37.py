"""D2Q37 with its collision, from Python: what is refused and what is said, values, walls, cases, files."""

from __future__ import annotations

import copy
import json
import math
import pickle
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from hypothesis import given, strategies as st
from reference.registry import PAIRS, by_dimension

import lbmgpu as lbm
from lbmgpu import checks, plot
from lbmgpu.benchmarks import single as bench
from lbmgpu.case.run import run_case
from lbmgpu.collision_table import BY_KIND
from lbmgpu.engine import memory
from lbmgpu.planning.cost_model import Device, Machine

from .support import cube, not_finite, not_numbers, not_positive

SHAPE = (12, 10)
GAS = lbm.ThermalBGK(0.05, prandtl=0.7, gravity=(0, -1e-4))
MEAN = 0.7


def box(low: Any = 0.72, high: Any = 0.68, axis: str = "y") -> lbm.Domain:
    """Two plates, isothermal where they have a temperature."""
    domain = lbm.Domain(SHAPE, "D2Q37")
    for face, temperature in (("-" + axis, low), ("+" + axis, high)):
        domain.faces[face] = lbm.NoSlip()
        if temperature is not None:
            domain.thermal[face] = lbm.Isothermal(temperature)
    return domain


def solver_of(domain: lbm.Domain | None = None, collision: lbm.ThermalBGK = GAS, **options: Any) -> lbm.Solver:
    given = {"device": "cpu", "threads": 1, "precision": "float64", **options}
    return lbm.Solver(box() if domain is None else domain, collision, **given)


# The collision as a value


def test_collisions_are_values() -> None:
    own = "viscosity=0.05, prandtl=0.7, gravity=(0.0, -0.0001), fourth_order_diffusion=False"
    assert repr(GAS) == f"ThermalBGK({own})"
    assert lbm.ThermalBGK(0.05) == lbm.ThermalBGK(0.05, 1.0, (0, 0)) == lbm.ThermalBGK(0.05, gravity=np.zeros(2))
    assert pickle.loads(pickle.dumps(GAS)) == copy.deepcopy(GAS) == GAS
    assert hash(GAS) == hash(lbm.ThermalBGK(0.05, 0.7, [0.0, -1e-4]))
    assert lbm.ThermalBGK(0.05, 0.7) != GAS
    assert lbm.ThermalBGK(0.05, 0.7, [0.0, -1e-4], fourth_order_diffusion=True) != GAS
    with pytest.raises(AttributeError):
        GAS.prandtl = 1.0  # type: ignore[misc]
    with pytest.raises(TypeError, match="smagorinsky"):
        lbm.ThermalBGK(0.05, smagorinsky=0.1)  # type: ignore[call-arg]


def test_relaxation_times() -> None:
    cs2 = lbm.stencil("D2Q37").cs2
    assert cs2 == pytest.approx(0.69795332201968309, rel=1e-14)
    assert GAS.tau == pytest.approx(0.05 / cs2 + 0.5)
    assert GAS.tau_heat == pytest.approx(0.05 / 0.7 / cs2 + 0.5)
    assert GAS.diffusivity == pytest.approx(cs2 * (GAS.tau_heat - 0.5))
    assert lbm.ThermalBGK(0.05).tau_heat == lbm.ThermalBGK(0.05).tau
    expected = {"viscosity": 0.05, "prandtl": 0.7, "gravity": [0.0, -1e-4], "fourth_order_diffusion": 0.0}
    assert GAS.parameters(lbm.stencil("D2Q37")) == expected


@pytest.mark.parametrize(("viscosity", "prandtl"), [(0.034, 1.0), (0.034897, 1.0), (0.05, 2.0)])
def test_diffusion_of_fourth_order_needs_relaxation_times(viscosity: float, prandtl: float) -> None:
    with pytest.raises(
        ValueError, match=r"fourth_order_diffusion: True given with viscosity .* both be at least 0.03489"
    ):
        lbm.ThermalBGK(viscosity, prandtl, fourth_order_diffusion=True)
    assert lbm.ThermalBGK(lbm.stencil("D2Q37").cs2 * 0.05, fourth_order_diffusion=True).fourth_order_diffusion
    with pytest.raises((TypeError, ValueError), match="fourth_order_diffusion: 'yes' given"):
        lbm.ThermalBGK(0.1, fourth_order_diffusion="yes")  # type: ignore[arg-type]


@given(value=st.one_of(not_numbers, not_finite, not_positive), name=st.sampled_from(["viscosity", "prandtl"]))
def test_numbers_that_are_none(value: Any, name: str) -> None:
    arguments: dict[str, Any] = {"viscosity": 0.05, name: value}
    with pytest.raises((TypeError, ValueError), match=rf"{name}: .* given, must be a finite number above 0"):
        lbm.ThermalBGK(**arguments)


@pytest.mark.parametrize(
    ("gravity", "message"),
    [
        (1e-4, "gravity: 0.0001 given, must be a vector of 2 components"),
        ((0, 0, 1e-4), "gravity: .* given, must be a vector of 2 components"),
        ((0, math.nan), "gravity: nan given at index"),
        ((0, -1.5), "gravity: .* given, must be at most 1 in each component"),
        ("down", "gravity: 'down' given, must be real numbers"),
    ],
)
def test_wrong_gravity(gravity: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        lbm.ThermalBGK(0.05, gravity=gravity)


# What goes with what


def test_the_stencil_and_the_collision_go_together() -> None:
    for collision in {BY_KIND[kind] for _, kind in PAIRS}:
        name = collision.__name__
        with pytest.raises(ValueError, match=f"collision: {name} given with D2Q37, must be ThermalBGK"):
            lbm.Solver(box(), collision(0.1))
    for stencil, shape in by_dimension(SHAPE, (4, 4, 4)).items():
        message = f"collision: ThermalBGK given with {stencil}, must be BGK, TRT.* needs a domain of stencil 'D2Q37'"
        with pytest.raises(ValueError, match=message):
            lbm.Solver(lbm.Domain(shape, stencil), GAS)
    names = checks.alternatives([*(collision.__name__ for collision in BY_KIND.values()), "CustomCollision"])
    with pytest.raises(TypeError, match=rf"must be {names} \(a value"):
        lbm.Solver(box(), lbm.ThermalBGK)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"thermal": lbm.HybridThermal(0.05)}, "thermal: HybridThermal.* given with D2Q37, must be None"),
        ({"force": (0, 1e-5)}, r"force: \(0, 1e-05\) given with D2Q37, must be None; ThermalBGK\(..., gravity="),
        ({"streaming": "in-place"}, "streaming: 'in-place' given with D2Q37, must be 'two-lattice'"),
        ({"storage": "float16"}, "storage: 'float16' given with D2Q37, must be the precision, 'float64'"),
        ({"storage": "float32"}, "storage: 'float32' given with D2Q37, must be the precision, 'float64'"),
    ],
)
def test_options_that_do_not_go_with_it(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        solver_of(**options)


@pytest.mark.parametrize(
    "condition", [lbm.MovingWall((0.01, 0)), lbm.FreeSlip(), lbm.PressureOutlet(), lbm.VelocityInlet((0, 0.01))]
)
def test_other_faces_are_refused(condition: Any) -> None:
    domain = box()
    domain.faces["+y"] = condition
    with pytest.raises(ValueError, match=r"faces\['\+y'\]: .* given with D2Q37, must be Periodic\(\) or NoSlip\(\)"):
        solver_of(domain)


def test_few_cells_and_bodies_are_refused() -> None:
    with pytest.raises(ValueError, match=r"shape: \(12, 2\) given with D2Q37, must have 3 cells along each axis"):
        solver_of(lbm.Domain((12, 2), "D2Q37"))
    domain = box()
    domain.add_body(cube(SHAPE), "wire")
    with pytest.raises(ValueError, match="bodies: 'wire' given with D2Q37, must be none"):
        solver_of(domain)
    domain = box()
    domain.thermal["-x"] = lbm.Isothermal(0.7)
    with pytest.raises(ValueError, match=r"thermal\['-x'\]: Isothermal given on a face that is Periodic"):
        solver_of(domain)
    domain = box()
    domain.faces["+y"] = lbm.Periodic()
    domain.thermal["+y"] = lbm.Adiabatic()
    with pytest.raises(ValueError, match="must both be Periodic or neither"):
        solver_of(domain)


@pytest.mark.parametrize(
    "wrong", [0.0, -0.1, 300.0, np.linspace(-0.01, 0.5, 12), lambda x, y: 0 * x, lambda x, y, t: -t]
)
def test_temperatures_of_walls_are_those_of_a_gas_that_is_stable(wrong: Any) -> None:
    message = r"temperature of thermal\['-y'\].*: -?\S+ given, must be between 0.209 and 1.4 with D2Q37; .* 0.698"
    with pytest.raises(ValueError, match=message):
        solver_of(box(low=wrong))


def test_wrong_initial_states() -> None:
    solver = solver_of()
    before = solver.populations()
    for temperature in (0, -0.5, 300, np.zeros(SHAPE), lambda x, y: x - 5):
        with pytest.raises(ValueError, match=r"temperature: \S+ given, must be between 0.209 and 1.4 with D2Q37"):
            solver.initialize(temperature=temperature)
    with pytest.raises(ValueError, match="nonequilibrium: True given with D2Q37, must be False"):
        solver.initialize(nonequilibrium=True)
    with pytest.raises(ValueError, match=r"velocity: a speed of 0.36 given .*, must be at most 0\.3544"):
        solver.initialize(velocity=(0, 0.36))
    np.testing.assert_array_equal(solver.populations(), before)
    solver.initialize(velocity=(0, 0.35))


def test_what_belongs_to_the_hybrid_model() -> None:
    solver = solver_of()
    with pytest.raises(ValueError, match=r"thermal: D2Q37 has neither heat sources nor .* belong to HybridThermal"):
        solver.heat_source  # noqa: B018
    with pytest.raises(ValueError, match="belong to HybridThermal"):
        solver.heat_source = 1e-3
    with pytest.raises(ValueError, match="belong to HybridThermal"):
        solver.temperature(above_reference=True)
    with pytest.raises(ValueError, match=r"force: .* given with D2Q37, must be None"):
        solver.force = (0, 1e-5)
    solver.force = None
    assert solver.thermal is None


def test_divergence_says_nothing_of_other_models() -> None:
    solver = solver_of(lbm.Domain(SHAPE, "D2Q37"), lbm.ThermalBGK(1e-4))
    solver.initialize(temperature=lambda x, y: 0.4 + 0.9 * (x > 6))
    with pytest.raises(lbm.DivergedError) as caught:
        solver.step(2000)
    assert caught.value.speed_limit is None
    assert "the temperature needs" not in str(caught.value)
    assert "temperatures nearer to cs2, 0.698" in str(caught.value)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


# What a solver does


@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_the_fields_read_back(precision: str, rng: np.random.Generator) -> None:
    solver = solver_of(precision=precision, collision=lbm.ThermalBGK(0.05, gravity=(2e-3, -3e-3)))
    density, temperature = 1 + 0.05 * rng.random(SHAPE), MEAN + 0.05 * rng.random(SHAPE)
    velocity = 0.1 * (rng.random((2, *SHAPE)) - 0.5)
    solver.initialize(density, velocity, temperature=temperature)
    tolerance = {"rtol": 0, "atol": 1e-13 if precision == "float64" else 2e-6}
    np.testing.assert_allclose(solver.density(), density, **tolerance)
    np.testing.assert_allclose(solver.velocity(), velocity, **tolerance)
    np.testing.assert_allclose(solver.temperature(), temperature, **tolerance)
    assert solver.temperature().dtype == precision
    solver.initialize()
    np.testing.assert_allclose(solver.temperature(), lbm.stencil("D2Q37").cs2, **tolerance)


def test_defaults() -> None:
    solver = lbm.Solver(box(), GAS, device="cpu")
    assert (solver.streaming, solver.storage, solver.precision) == ("two-lattice", "float32", "float32")
    assert lbm.Solver(lbm.Domain(SHAPE, "D2Q9"), lbm.BGK(0.1), device="cpu").streaming == "in-place"
    report = str(solver.report(bandwidth=False))
    assert "ThermalBGK(viscosity=0.05, prandtl=0.7, gravity=(0.0, -0.0001)" in report
    assert "D2Q37" in report


@pytest.mark.parametrize("axis", ["x", "y"])
def test_walls_conduct_until_steady(axis: str) -> None:
    """Between plates at two temperatures, and for one that is insulated; the mass stays."""
    solver = solver_of(box(axis=axis), lbm.ThermalBGK(0.3))
    solver.initialize(temperature=MEAN)
    mass = solver.mass()
    result = solver.run(20_000, until=lbm.Steady(1e-9, every=100, of="temperature"))
    assert result.converged
    assert solver.mass() == pytest.approx(mass, rel=1e-12)
    temperature = solver.temperature()
    n = SHAPE["xy".index(axis)]
    # conductivity goes with the pressure, which is uniform: a straight profile
    profile = 0.72 - 0.04 * (np.arange(n) + 0.5) / n
    expected = np.broadcast_to(profile if axis == "y" else profile[:, None], SHAPE)
    np.testing.assert_allclose(temperature, expected, atol=1e-4)
    insulated = solver_of(box(None, 0.68, axis), lbm.ThermalBGK(0.3))
    insulated.initialize(temperature=MEAN)
    insulated.run(20_000, until=lbm.Steady(1e-9, every=100, of="temperature"))
    np.testing.assert_allclose(insulated.temperature(), 0.68, atol=1e-5)


def test_walls_of_arrays_and_of_functions() -> None:
    """An array, a function, and a function of time give the same where they have the same values."""
    warm = 0.7 + 0.01 * np.sin(2 * np.pi * (np.arange(12) + 0.5) / 12)

    def fixed(x: Any, y: Any) -> Any:
        return 0.7 + 0.01 * np.sin(2 * np.pi * x / 12)

    def timed(x: Any, y: Any, t: float) -> Any:
        return fixed(x, y) if t < 20 else 0.75 + 0 * x

    solvers = [solver_of(box(low, None)) for low in (warm, fixed, timed)]
    for solver in solvers:
        solver.initialize(temperature=MEAN)
        solver.step(20)
    for solver in solvers[1:]:
        np.testing.assert_array_equal(solver.populations(), solvers[0].populations())
    for solver in solvers:
        solver.step(5)
    assert solvers[2].temperature()[:, 0].mean() > solvers[0].temperature()[:, 0].mean() + 0.005


# Files


def test_a_checkpoint_has_the_setup_and_the_state(tmp_path: Path) -> None:
    low = MEAN + 0.01 * np.arange(12) / 12
    domain = box(low, 0.68)
    solver = solver_of(domain)
    solver.initialize(temperature=MEAN, velocity=(0.01, 0))
    solver.step(7)
    path = solver.save(tmp_path / "state.h5")
    loaded = lbm.Solver.load(path, device="cpu", threads=1)
    assert loaded.collision == GAS
    assert (loaded.streaming, loaded.steps, loaded.thermal) == ("two-lattice", 7, None)
    assert dict(loaded.domain.thermal) == dict(domain.thermal)
    for each in (solver, loaded):
        each.step(5)
    np.testing.assert_array_equal(loaded.populations(), solver.populations())
    loaded.restore(path)
    assert loaded.steps == 7
    with h5py.File(path, "r") as file:
        assert "temperature" not in file
        assert "temperature" not in file
    sharp = solver_of(domain, lbm.ThermalBGK(0.05, 0.7, (0, -1e-4), fourth_order_diffusion=True))
    assert lbm.Solver.load(sharp.save(tmp_path / "sharp.h5"), device="cpu", threads=1).collision == sharp.collision
    others = [
        (solver_of(domain, lbm.ThermalBGK(0.05, 0.8, (0, -1e-4))), "collision.prandtl: the file has 0.7"),
        (
            solver_of(domain, lbm.ThermalBGK(0.05, 0.7, (0, -1e-4), fourth_order_diffusion=True)),
            "collision.fourth_order_diffusion: the file has",
        ),
        (solver_of(domain, lbm.ThermalBGK(0.05, 0.7)), "collision.gravity: the file has"),
        (solver_of(box(low, 0.69)), r"thermal.faces.\+y.temperature: the file has 0.68"),
        (solver_of(box(low + 0.01, 0.68)), r"thermal.faces.-y.temperature: the arrays differ"),
    ]
    for other, message in others:
        with pytest.raises(lbm.CheckpointError, match=message):
            other.restore(path)


def test_images_and_pictures_show_the_temperature(tmp_path: Path) -> None:
    solver = solver_of()
    solver.initialize(temperature=MEAN)
    text = solver.write_vtk(tmp_path / "fields").read_bytes()
    assert b'Name="temperature"' in text
    figure = plot.temperature_figure(solver)
    assert figure is not None
    np.testing.assert_array_equal(figure.axes[0].images[0].get_array(), solver.temperature().T)


CASE: dict[str, Any] = {
    "domain": {"shape": list(SHAPE), "stencil": "D2Q37"},
    "collision": {"model": "ThermalBGK", "viscosity": 0.05, "prandtl": 0.7, "gravity": [0, -1e-4]},
    "precision": "float64",
    "faces": {"-y": {"condition": "no-slip"}, "+y": {"condition": "no-slip"}},
    "thermal": {
        "faces": {
            "-y": {"condition": "isothermal", "temperature": 0.72},
            "+y": {"condition": "isothermal", "temperature": 0.68},
        }
    },
    "initial": {"temperature": 0.7, "velocity": [0.01, 0]},
    "run": {"steps": 30, "device": "cpu", "threads": 1, "progress": False},
    "output": {"vtk": True, "image": {"field": "temperature"}, "checkpoint": {}},
}


def test_a_case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "gas.json"
    path.write_text(json.dumps(CASE))
    run_case(path)
    assert (tmp_path / "gas" / "temperature.png").is_file()
    wanted = solver_of()
    wanted.initialize(velocity=(0.01, 0), temperature=MEAN)
    wanted.step(30)
    loaded = lbm.Solver.load(tmp_path / "gas" / "checkpoint.h5", device="cpu")
    assert loaded.collision == GAS
    np.testing.assert_array_equal(loaded.populations(), wanted.populations())
    steady = {"tolerance": 1e-2, "every": 10, "of": "temperature"}
    path.write_text(json.dumps({**CASE, "run": {**CASE["run"], "steady": steady}}))
    assert run_case(path).converged


def test_a_closed_box_in_a_case(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "box.json"
    walls = {face: {"condition": "no-slip"} for face in ("-x", "+x", "-y", "+y")}
    warm = {face: {"condition": "isothermal", "temperature": t} for face, t in (("-x", 0.73), ("+x", 0.67))}
    path.write_text(json.dumps({**CASE, "faces": walls, "thermal": {"faces": warm}, "initial": {"temperature": 0.7}}))
    run_case(path)
    loaded = lbm.Solver.load(tmp_path / "box" / "checkpoint.h5", device="cpu")
    assert loaded.mass() == pytest.approx(np.prod(SHAPE), rel=1e-13)
    assert loaded.mean_heat_flux("-x") > 0 > loaded.mean_heat_flux("+x")


@pytest.mark.parametrize(
    ("part", "where", "message"),
    [
        ({"collision": {"model": "BGK", "viscosity": 0.05}}, "$.collision", "BGK given with D2Q37, must be ThermalBGK"),
        (
            {"domain": {"shape": [12, 10], "stencil": "D2Q9"}, "thermal": {"diffusivity": 0.1}},
            "$.collision",
            "ThermalBGK given with D2Q9",
        ),
        (
            {"collision": {**CASE["collision"], "smagorinsky": 0.1}},
            "$.collision",
            "'smagorinsky' given, which ThermalBGK does not have, only BGK, TRT, MRT, Regularized, CentralMoments, "
            "RecursiveRegularized",
        ),
        ({"collision": {**CASE["collision"], "gravity": [0, 0, 1]}}, "$.collision.gravity", "vector of 2 components"),
        ({"collision": {**CASE["collision"], "prandtl": 0}}, "$.collision.prandtl", "0 given, must be above 0"),
        ({"thermal": {"diffusivity": 0.1}}, "$.thermal.diffusivity", "must be left out: its populations carry"),
        (
            {"thermal": {"faces": {"-y": {"condition": "isothermal", "temperature": 0}}}},
            "$.thermal.faces['-y'].temperature",
            "0 given, must be between 0.209 and 1.4 with D2Q37",
        ),
        (
            {"initial": {"temperature": -1}},
            "$.initial.temperature",
            "-1 given, must be between 0.209 and 1.4 with D2Q37",
        ),
        ({"initial": {"nonequilibrium": True}}, "$.initial.nonequilibrium", "must be False"),
        ({"initial": {"velocity": [0, 0.5]}}, "$.initial.velocity", "must be at most 0.3544"),
        ({"force": [0, 1e-5]}, "$.force", "given with D2Q37, must be None; ThermalBGK(..., gravity=(gx, gy))"),
        ({"streaming": "in-place"}, "$.streaming", "'in-place' given with D2Q37"),
        ({"storage": "float16"}, "$.storage", "'float16' given with D2Q37, must be the precision"),
        (
            {"bodies": [{"shape": "sphere", "center": [5, 5], "radius": 2}]},
            "$.bodies",
            "'body 1' given with D2Q37, must be none",
        ),
        ({"faces": {"-y": {"condition": "no-slip"}, "+y": {"condition": "free-slip"}}}, "$", "must be Periodic() or"),
    ],
)
def test_wrong_cases(part: dict[str, Any], where: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "gas.json"
    path.write_text(json.dumps({**CASE, **part}))
    with pytest.raises(lbm.CaseError) as caught:
        run_case(path)
    ((place, text),) = caught.value.problems
    assert place == where
    assert message in text


def test_the_other_stencils_need_a_diffusivity(tmp_path: Path) -> None:
    path = tmp_path / "gas.json"
    flow = {"domain": {"shape": [12, 10], "stencil": "D2Q9"}, "collision": {"model": "BGK", "viscosity": 0.1}}
    path.write_text(json.dumps({**CASE, **flow}))
    with pytest.raises(lbm.CaseError, match=r"\$.thermal: must have either 'diffusivity' or 'rayleigh'"):
        run_case(path)
    path.write_text(json.dumps({**CASE, **flow, "collision": {**flow["collision"], "gravity": [0, 1e-4]}}))
    with pytest.raises(lbm.CaseError, match=r"\$.thermal: must have either 'diffusivity'"):
        run_case(path)
    case = {**CASE, **flow, "collision": {**flow["collision"], "gravity": [0, 1e-4]}}
    case["thermal"] = {**CASE["thermal"], "diffusivity": 0.1}
    path.write_text(json.dumps(case))
    with pytest.raises(lbm.CaseError, match="'gravity' given, which BGK does not have, only ThermalBGK"):
        run_case(path)


# Memory and plans


def test_what_would_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available_memory", lambda device="cpu": 10_000_000)
    with pytest.raises(ValueError, match=r"what would fit: shape \(.*\), or precision 'float32'") as caught:
        solver_of(lbm.Domain((160, 160), "D2Q37"))
    assert "in-place" not in str(caught.value)


def test_plans() -> None:
    machine = Machine((Device("cuda:0", 4e12),))
    found = lbm.plan((256, 256), "D2Q37", machine=machine)
    assert (found.configuration.collision, found.configuration.streaming) == ("ThermalBGK", "two-lattice")
    plain = lbm.plan((256, 256), "D2Q9", machine=machine)
    assert found.step_seconds / plain.step_seconds == pytest.approx(37 / 9)
    for options, message in (
        ({"collision": "BGK"}, "collision: BGK given with D2Q37"),
        ({"streaming": "in-place"}, "streaming: 'in-place' given with D2Q37"),
        ({"storage": "float16"}, "storage: 'float16' given with D2Q37"),
        ({"thermal": True}, "thermal: HybridThermal.* given with D2Q37"),
    ):
        with pytest.raises(ValueError, match=message):
            lbm.plan((256, 256), "D2Q37", machine=machine, **options)  # type: ignore[arg-type]


def test_bench_makes_its_solver() -> None:
    configuration = bench.Configuration("D2Q37", "ThermalBGK", streaming="two-lattice", size=8)
    solver = bench.make_solver(configuration, "cpu", 1)
    solver.step(2)
    assert solver.collision == lbm.ThermalBGK(bench.VISCOSITY)
    between = bench.make_solver(bench.between_plates("float64", 8), "cpu", 1)
    walls = [type(condition) for condition in between.domain.faces.values()]
    assert walls == [lbm.Periodic, lbm.Periodic, lbm.NoSlip, lbm.NoSlip]
    hot, cold = (between.domain.thermal[face].temperature for face in ("-y", "+y"))
    assert hot > lbm.stencil("D2Q37").cs2 > cold
    assert between.collision.gravity[1] < 0
    between.step(2)
    between.check()
