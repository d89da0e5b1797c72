"""A solver with a temperature: what it refuses, what it gives, and its files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from reference.registry import THERMAL_STENCILS

import lbmgpu as lbm

from .support import cube, shape_of

THERMAL = lbm.HybridThermal(0.1, buoyancy=(0.0, 1e-3, 0.0), reference=0.25)


def heated(stencil: str = "D2Q9", shape: tuple[int, ...] | None = None) -> lbm.Domain:
    """A closed box, warm at -x and cold at +x."""
    domain = lbm.Domain(shape or shape_of(stencil), stencil)
    for face in domain.faces:
        domain.faces[face] = lbm.NoSlip()
    domain.thermal["-x"], domain.thermal["+x"] = lbm.Isothermal(1.0), lbm.Isothermal(0.0)
    return domain


def solver(stencil: str = "D2Q9", thermal: lbm.HybridThermal = THERMAL, **options: Any) -> lbm.Solver:
    return lbm.Solver(heated(stencil), lbm.TRT(0.1), device="cpu", threads=1, thermal=thermal, **options)


# What is refused


def test_thermal_that_is_no_model() -> None:
    for wrong, hint in [(0.1, "HybridThermal"), (lbm.HybridThermal, "not the class")]:
        with pytest.raises(TypeError, match=rf"thermal: .* given, must be .*{hint}"):
            lbm.Solver(heated(), lbm.BGK(0.1), thermal=wrong)  # type: ignore[arg-type]


def test_stencils_storages_and_vectors_that_do_not_go_with_a_temperature() -> None:
    with pytest.raises(ValueError, match="stencil: 'D3Q27' given with thermal, must be 'D2Q9' or 'D3Q19'"):
        solver("D3Q27")
    with pytest.raises(ValueError, match="storage: 'float16' given with thermal, must be 'float32' or 'float64'"):
        solver(storage="float16")
    with pytest.raises(ValueError, match=r"buoyancy: \(0.0, 1.0\) given, must have 3 components"):
        solver("D3Q19", lbm.HybridThermal(0.1, buoyancy=(0, 1)))
    with pytest.raises(ValueError, match=r"buoyancy: .* given, must have 2 components"):
        solver("D2Q9", lbm.HybridThermal(0.1, buoyancy=(0, 0, 1e-3)))
    with pytest.raises(ValueError, match=r"source: shape \(5, 7\) given, must be a number or shape \(7, 5\)"):
        solver(thermal=lbm.HybridThermal(0.1, source=np.zeros((5, 7))))


def test_temperatures_far_beyond_use() -> None:
    """Also in what callables return, at once or at a later step."""
    made, right = solver(), r"given, must be at most 1e\+06 in magnitude"
    for wrong in (2e6, np.full((7, 5), -2e6), lambda x, y: 1e6 * x):
        with pytest.raises(ValueError, match=rf"^temperature: \S+ {right}"):
            made.initialize(temperature=wrong)
        with pytest.raises(ValueError, match=rf"^source: \S+ {right}"):
            made.heat_source = wrong
    with pytest.raises(ValueError, match=rf"^source: \S+ {right}"):
        solver(thermal=lbm.HybridThermal(0.1, source=lambda x, y: 1e6 * x))
    for function, when in [(lambda x, y: -2e6, ""), (lambda x, y, t: 1 + t * 1e6, " at t = 1")]:
        face, body = heated(), heated()
        face.thermal["-x"] = lbm.Isothermal(function)
        body.add_body(cube((7, 5), 2, 3), "hot", thermal=lbm.Isothermal(function))
        for domain, name in [(face, r"thermal\['-x'\]"), (body, "body 'hot'")]:
            with pytest.raises(ValueError, match=rf"^temperature of {name}{when}: \S+ {right}"):
                lbm.Solver(domain, lbm.TRT(0.1), device="cpu", threads=1, thermal=THERMAL).step(3)


def test_conditions_without_a_model_and_on_periodic_faces() -> None:
    with pytest.raises(ValueError, match=r"thermal: None given, but thermal\['-x'\], thermal\['\+x'\] is Isothermal"):
        lbm.Solver(heated(), lbm.BGK(0.1))
    domain = lbm.Domain((7, 5), "D2Q9")
    domain.thermal["-y"] = lbm.Isothermal(1.0)
    with pytest.raises(ValueError, match=r"thermal\['-y'\]: Isothermal given on a face that is Periodic"):
        lbm.Solver(domain, lbm.BGK(0.1), thermal=THERMAL)
    domain = lbm.Domain((7, 5), "D2Q9")
    domain.add_body(cube((7, 5)), "hot", thermal=lbm.Isothermal(1.0))
    with pytest.raises(ValueError, match="thermal: None given, but thermal of body 'hot' is Isothermal"):
        lbm.Solver(domain, lbm.BGK(0.1))


@pytest.mark.parametrize(("operators", "limit"), [("isotropic", "0.375"), ("obrecht2013", "0.1667")])
def test_diffusivity_above_its_limit(operators: str, limit: str) -> None:
    with pytest.raises(lbm.ThermallyUnstableError, match=f"diffusivity: 0.4 given, must be at most {limit} for the"):
        solver(thermal=lbm.HybridThermal(0.4, operators=operators))


def test_speeds_above_the_limit() -> None:
    """sqrt(2 kappa) is 0.0447 here, less than Mach 0.3."""
    slow = lbm.HybridThermal(0.001)
    message = r"a speed of 0.05 given, must be at most 0.04472 cells a step"
    domain = heated()
    domain.faces["+y"] = lbm.MovingWall((0.05, 0.0))
    with pytest.raises(lbm.ThermallyUnstableError, match=rf"velocity of faces\['\+y'\]: {message}"):
        lbm.Solver(domain, lbm.BGK(0.1), thermal=slow)
    domain.faces["+y"] = lbm.MovingWall((0.04, 0.0))
    made = lbm.Solver(domain, lbm.BGK(0.1), thermal=slow)
    with pytest.raises(lbm.ThermallyUnstableError, match=f"velocity: {message}"):
        made.initialize(velocity=(0.0, 0.05))
    made.initialize(velocity=(0.0, 0.04))
    domain.add_body(cube((7, 5)), "belt", lbm.MovingWall(lambda x, y: (0 * x, 0 * y + 0.05)))
    with pytest.raises(lbm.ThermallyUnstableError, match=f"velocity of body 'belt': {message}"):
        lbm.Solver(domain, lbm.BGK(0.1), thermal=slow)
    domain.faces["+y"] = lbm.MovingWall(lambda x, y, t: (0.01 * t, 0.0))
    changing = lbm.Solver(domain, lbm.BGK(0.1), thermal=lbm.HybridThermal(0.0013))
    with pytest.raises(lbm.ThermallyUnstableError, match=r"velocity of faces\['\+y'\] at t = 6"):
        changing.step(10)


def test_a_solver_without_a_temperature() -> None:
    plain = lbm.Solver(lbm.Domain((7, 5), "D2Q9"), lbm.BGK(0.1), device="cpu")
    assert plain.thermal is None
    calls = [
        plain.temperature,
        plain.heat,
        lambda: plain.heat_source,
        lambda: plain.heat_flux("-x"),
        lambda: plain.mean_heat_flux("-x"),
        lambda: plain.nusselt("-x", 1, 1),
        lambda: plain.nusselt_map("-x", 1, 1),
    ]
    for call in calls:
        with pytest.raises(ValueError, match="thermal: this solver has no temperature"):
            call()
    with pytest.raises(ValueError, match="temperature: given, but the solver has none"):
        plain.initialize(temperature=1.0)
    with pytest.raises(ValueError, match="until: a steady temperature given, but the solver has none"):
        plain.run(5, until=lbm.Steady(1e-6, of="temperature"))
    with pytest.raises(ValueError, match="thermal"):
        plain.heat_source = 1.0
    with pytest.raises(ValueError, match="of: 'heat' given"):
        lbm.Steady(1e-6, of="heat")


def test_places_that_give_no_heat() -> None:
    made = solver()
    with pytest.raises(ValueError, match=r"where: 'x' given, must be one of '-x'"):
        made.heat_flux("x")
    periodic = lbm.Solver(lbm.Domain((7, 5), "D2Q9"), lbm.BGK(0.1), thermal=THERMAL)
    with pytest.raises(ValueError, match="where: '-x' given, a face that is periodic"):
        periodic.nusselt("-x", 1, 1)
    for length, difference in [(0, 1), (1, 0), (1, "x")]:
        with pytest.raises((TypeError, ValueError), match=r"(length|difference): .* given"):
            made.nusselt("-x", length, difference)  # type: ignore[arg-type]


# What it gives


@pytest.mark.parametrize("stencil", THERMAL_STENCILS)
@pytest.mark.parametrize("operators", ["isotropic", "obrecht2013"])
def test_conduction(stencil: str, operators: str) -> None:
    """Between two walls the temperature gets linear, which the scheme keeps; the flux is kappa dT / L at both."""
    kappa = 0.08
    made = solver(stencil, lbm.HybridThermal(kappa, operators=operators), precision="float64")
    result = made.run(5000, until=lbm.Steady(1e-13, every=100, of="temperature"))
    assert result.converged
    assert result.reason == "steady: the temperature changes by less than 1e-13"
    shape = shape_of(stencil)
    x = np.arange(shape[0]) + 0.5
    wanted = np.broadcast_to((1 - x / shape[0]).reshape(-1, *[1] * (len(shape) - 1)), shape)
    np.testing.assert_allclose(made.temperature(), wanted, atol=1e-9)
    flux = made.heat_flux("-x")
    assert flux.shape == shape[1:]
    np.testing.assert_allclose(flux, kappa / shape[0], rtol=1e-8)
    np.testing.assert_allclose(made.heat_flux("+x"), -kappa / shape[0], rtol=1e-8)
    np.testing.assert_array_equal(made.heat_flux("-y"), np.zeros((shape[0], *shape[2:])))
    assert made.nusselt("-x", shape[0], 1.0) == pytest.approx(1.0)
    assert made.nusselt("+x", shape[0], -1.0) == pytest.approx(1.0)
    np.testing.assert_allclose(made.nusselt_map("-x", shape[0], 1.0), 1.0, rtol=1e-8)
    assert made.heat() == pytest.approx(wanted.sum())


def test_a_wall_that_is_warm_here_and_cold_there() -> None:
    """Arrays and functions of place reach the face in the user's order of axes, and the map comes back in it."""
    shape = (6, 5, 4)
    values = np.arange(20.0).reshape(5, 4)
    fields = []
    for value in (values, lambda x, y, z: 4 * (y - 0.5) + (z - 0.5)):
        domain = heated("D3Q19", shape)
        domain.thermal["-x"] = lbm.Isothermal(value)
        made = lbm.Solver(domain, lbm.BGK(0.1), precision="float64", device="cpu", thermal=lbm.HybridThermal(0.05))
        # the gradient at the wall of a field that is 0 inside
        np.testing.assert_allclose(made.heat_flux("-x"), 0.05 * 8 / 3 * values, rtol=1e-12)
        assert made.nusselt("-x", 1, 1) == pytest.approx(8 / 3 * values.mean())
        made.step(3)
        fields.append(made.temperature())
    np.testing.assert_array_equal(*fields)
    assert fields[0][0, 4, 3] > fields[0][0, 1, 0] > fields[0][0, 0, 3]


def test_initial_temperature() -> None:
    made = solver("D3Q19", precision="float64")
    shape = shape_of("D3Q19")
    np.testing.assert_array_equal(made.temperature(), np.full(shape, THERMAL.reference))
    field = np.random.default_rng(1).random(shape)
    for given, wanted in [
        (field, field),
        (0.5, np.full(shape, 0.5)),
        (lambda x, y, z: x + 10 * y, None),
        (None, np.full(shape, THERMAL.reference)),
    ]:
        made.initialize(temperature=given)
        if wanted is None:
            x, y, _ = np.meshgrid(*(np.arange(n) + 0.5 for n in shape), indexing="ij")
            wanted = x + 10 * y
        np.testing.assert_array_equal(made.temperature(), wanted)
        assert made.heat() == pytest.approx(wanted.sum())
    for wrong in (np.zeros((3, 3)), np.nan, "hot"):
        with pytest.raises((TypeError, ValueError), match="temperature"):
            made.initialize(temperature=wrong)


def test_a_heat_source_warms_a_closed_box() -> None:
    """Adiabatic walls keep the sum of the temperature, but for what the source brings in each step."""
    domain = lbm.Domain((7, 5), "D2Q9")
    for face in domain.faces:
        domain.faces[face] = lbm.NoSlip()
    source = np.random.default_rng(2).random((7, 5)) * 1e-3
    options: dict[str, Any] = {"precision": "float64", "device": "cpu"}
    made = lbm.Solver(domain, lbm.BGK(0.1), thermal=lbm.HybridThermal(0.1, source=source), **options)
    made.step(10)
    assert made.heat() == pytest.approx(10 * source.sum())
    np.testing.assert_array_equal(made.heat_source, source)
    made.heat_source = 2e-3
    made.step(5)
    assert made.heat() == pytest.approx(10 * source.sum() + 5 * 35 * 2e-3)
    made.heat_source = lambda x, y: 1e-3 * x
    np.testing.assert_allclose(made.heat_source, np.broadcast_to((1e-3 * (np.arange(7) + 0.5))[:, None], (7, 5)))
    made.heat_source = None
    assert made.heat_source is None
    before = made.heat()
    made.step(5)
    assert made.heat() == pytest.approx(before)
    with pytest.raises(ValueError, match="source: takes t"):
        made.heat_source = lambda x, y, t: t


def test_buoyancy_lifts_what_is_warm() -> None:
    """The first step gives the force b (T - reference) to each cell, of which the velocity has half before it."""
    made = solver("D2Q9", lbm.HybridThermal(0.1, buoyancy=(0.0, 1e-3), reference=0.25), precision="float64")
    made.initialize(temperature=lambda x, y: np.where(x < 3, 1.25, 0.25))
    made.step(1)
    momentum = made.momentum()
    assert momentum[1] > 0
    assert abs(momentum[0]) < 1e-12
    made.step(200)
    velocity = made.velocity()
    assert velocity[1, 0].mean() > 1e-4  # up the warm wall
    assert velocity[1, -1].mean() < velocity[1, 0].mean()


def test_walls_that_change_in_time() -> None:
    """Callables of t are called before every step; what is read between steps is of the wall of now."""
    times: list[float] = []

    def warming(x: Any, y: Any, t: float) -> Any:
        times.append(t)
        return 0 * y + t

    domain = heated()
    domain.thermal["-x"] = lbm.Isothermal(warming)
    domain.add_body(cube((7, 5)), "b", thermal=lbm.Isothermal(lambda x, y, t: 0 * x - t))
    made = lbm.Solver(domain, lbm.BGK(0.1), precision="float64", device="cpu", thermal=lbm.HybridThermal(0.1))
    made.step(4)
    assert sorted(set(times)) == [0.0, 1.0, 2.0, 3.0]
    assert (made.temperature()[domain.bodies["b"].mask] == -4).all()
    temperature = made.temperature()
    wanted = 0.1 * (8 * 4.0 - 9 * temperature[0] + temperature[1]) / 3
    np.testing.assert_allclose(made.heat_flux("-x"), wanted, rtol=1e-12)


@pytest.mark.parametrize("stencil", THERMAL_STENCILS)
def test_heat_of_a_body(stencil: str) -> None:
    """What a warm body gives to a fluid at rest is what the fluid's heat grows by, and its map sums to its rate."""
    shape = tuple(n + 3 for n in shape_of(stencil))
    domain = lbm.Domain(shape, stencil)
    domain.add_body(cube(shape, 2, 5), "hot", thermal=lbm.Isothermal(2.0))
    domain.add_body(cube(shape, 0, 1), "cold", thermal=lbm.Isothermal(np.full(shape, -1.0)))
    model = lbm.HybridThermal(0.1)
    made = lbm.Solver(domain, lbm.BGK(0.1), precision="float64", device="cpu", thermal=model)
    made.step(7)
    before = made.heat()
    given = {name: made.heat_flux(name) for name in domain.bodies}
    made.step(1)
    assert made.heat() - before == pytest.approx(sum(found.flux.sum() for found in given.values()))
    hot = given["hot"]
    assert isinstance(hot, lbm.BodyHeatFlux)
    assert hot.cells.shape == (len(hot.flux), len(shape))
    assert hot.flux.min() > 0
    assert [tuple(cell) for cell in hot.cells] == sorted({tuple(cell) for cell in hot.cells})
    solid = made.solid
    assert not solid[tuple(hot.cells.T)].any()
    middle = [k for k, cell in enumerate(hot.cells) if cell[0] == 1 and all(c == 3 for c in cell[1:])]
    np.testing.assert_allclose(hot.area[middle], 1.0)  # a cell before the middle of a flat side
    now = made.heat_flux("hot")
    rate = now.flux.sum() / now.area.sum()
    assert made.nusselt("hot", 4.0, 2.0) == pytest.approx(rate * 4.0 / (0.1 * 2.0))
    own = now.flux.sum() / 10.0
    assert made.mean_heat_flux("hot", area=10.0) == pytest.approx(own)
    assert made.nusselt("hot", 4.0, 2.0, area=10.0) == pytest.approx(own * 4.0 / (0.1 * 2.0))
    with pytest.raises(ValueError, match="area: 0 given"):
        made.mean_heat_flux("hot", area=0)
    cells, local = made.nusselt_map("hot", 4.0, 2.0)
    np.testing.assert_array_equal(cells, now.cells)
    np.testing.assert_allclose(local, now.flux / now.area * 4.0 / (0.1 * 2.0))
    assert (made.temperature()[domain.bodies["hot"].mask] == 2.0).all()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("stencil", THERMAL_STENCILS)
def test_printed_operators_have_corners_without_an_area(stencil: str) -> None:
    shape = (8,) * lbm.stencil(stencil).D
    domain = lbm.Domain(shape, stencil)
    domain.add_body(cube(shape, 2, 5), "hot", thermal=lbm.Isothermal(2.0))
    model = lbm.HybridThermal(0.05, operators="obrecht2013")
    made = lbm.Solver(domain, lbm.BGK(0.1), precision="float64", device="cpu", thermal=model)
    found = made.heat_flux("hot")
    cells, local = made.nusselt_map("hot", 4.0, 2.0)
    positive = found.area > 0
    assert 0 < positive.sum() < len(cells)
    assert np.isnan(local[~positive]).all()
    np.testing.assert_allclose(local[positive], found.flux[positive] / found.area[positive] * 4.0 / (0.05 * 2.0))


@pytest.mark.parametrize("flat", [True, False])
def test_adiabatic_bodies(flat: bool) -> None:
    """They take no heat, with or without corners."""
    mask = cube((9, 8), 3, 6)
    if flat:
        mask[:, 3:6] = True
    domain = lbm.Domain((9, 8), "D2Q9")
    domain.add_body(mask, "b")
    made = lbm.Solver(domain, lbm.BGK(0.1), precision="float64", device="cpu", thermal=lbm.HybridThermal(0.1))
    made.initialize(temperature=lambda x, y: np.sin(x) + y)
    before, given = made.heat(), 0.0
    assert abs(made.heat_flux("b").flux).max() > 1e-3
    for _ in range(20):
        given += made.heat_flux("b").flux.sum()
        made.step(1)
    assert given == pytest.approx(0, abs=1e-10)
    assert made.heat() == pytest.approx(before, rel=1e-12)


def test_report_counts_the_temperature() -> None:
    plain = lbm.Solver(lbm.Domain((7, 5), "D2Q9"), lbm.BGK(0.1), device="cpu").report(bandwidth=False)
    report = solver().report(bandwidth=False)
    assert (plain.bytes_per_update, report.bytes_per_update) == (2 * 9 * 4, 2 * 10 * 4)
    assert "diffusivity 0.1, isotropic operators" in str(report)
    assert "thermal" not in plain.setup


def test_divergence_tells_the_limit() -> None:
    made = solver(thermal=lbm.HybridThermal(0.02, buoyancy=(0.0, 0.5)))
    with pytest.raises(lbm.DivergedError, match=r"the temperature needs speeds below 0.2 cells a step") as caught:
        made.run(3000)
    assert caught.value.speed_limit == pytest.approx(0.2)


def test_a_temperature_that_is_not_finite_is_found() -> None:
    """Though the flow, which has no buoyancy, stays as it is."""
    made = solver(thermal=lbm.HybridThermal(0.1))
    field = np.zeros((5, 7))
    field[3, 4] = np.nan
    made._simulation.engine.set_temperature(field)
    with pytest.raises(lbm.DivergedError) as caught:
        made.check()
    assert caught.value.cell == (4, 3)


# Its files


def furnished(**options: Any) -> lbm.Solver:
    """With all that a file can hold of a temperature."""
    shape = tuple(n + 3 for n in shape_of("D3Q19"))
    domain = heated("D3Q19", shape)
    domain.thermal["-x"] = lbm.Isothermal(np.linspace(0, 1, shape[1] * shape[2]).reshape(shape[1:]))
    domain.add_body(cube(shape, 2, 4), "hot", thermal=lbm.Isothermal(2.0))
    domain.add_body(cube(shape, 5, 6), "warm", thermal=lbm.Isothermal(lambda x, y, z: 0.1 * x))
    model = lbm.HybridThermal(
        0.08,
        buoyancy=(0, 1e-3, 0),
        reference=0.1,
        operators="obrecht2013",
        energy_coupling=0.01,
        source=lambda x, y, z: 1e-5 * x,
    )
    return lbm.Solver(domain, lbm.MRT(0.05), device="cpu", threads=1, thermal=model, **options)


@pytest.mark.parametrize(
    ("precision", "storage"), [("float32", "float32"), ("float64", "float32"), ("float64", "float64")]
)
@pytest.mark.parametrize("streaming", ["in-place", "two-lattice"])
@pytest.mark.parametrize("steps", [4, 5])
def test_continues_bit_for_bit(precision: str, storage: str, streaming: str, steps: int, tmp_path: Path) -> None:
    made = furnished(precision=precision, storage=storage, streaming=streaming)
    made.step(steps)
    path = made.save(tmp_path / "state.h5")
    with h5py.File(path) as file:
        assert file["temperature"].dtype == storage
        above = made.temperature(above_reference=True).astype(storage)
        np.testing.assert_array_equal(file["temperature"][()].T, above)
    loaded = lbm.Solver.load(path, threads=1)
    other = furnished(precision=precision, storage=storage, streaming=streaming)
    other.restore(path)
    for _ in range(2):
        for again in (loaded, other):
            np.testing.assert_array_equal(again.temperature(), made.temperature())
            np.testing.assert_array_equal(again.populations(), made.populations())
        for each in (made, loaded, other):
            each.step(7)
    assert loaded.thermal is not None
    assert made.thermal is not None
    assert loaded.thermal.parameters(lbm.stencil("D3Q19")) == made.thermal.parameters(lbm.stencil("D3Q19"))
    np.testing.assert_array_equal(loaded.heat_flux("warm").flux, made.heat_flux("warm").flux)


def test_a_file_of_another_temperature_is_refused(tmp_path: Path) -> None:
    made = solver()
    path = made.save(tmp_path / "state.h5")
    others = {
        r"thermal.diffusivity: the file has 0.1, this solver has 0.2": lbm.HybridThermal(0.2, buoyancy=(0, 1e-3)),
        r"thermal.buoyancy: ": lbm.HybridThermal(0.1),
        r"thermal.source: the file has none, this solver has 0.001": lbm.HybridThermal(0.1, source=1e-3),
    }
    for message, model in others.items():
        with pytest.raises(lbm.CheckpointError, match=message):
            solver(thermal=model).restore(path)
    domain = heated()
    domain.thermal["-x"] = lbm.Isothermal(0.5)
    with pytest.raises(lbm.CheckpointError, match=r"thermal.faces.-x.temperature: the file has 1.0, this solver has"):
        lbm.Solver(domain, lbm.TRT(0.1), thermal=THERMAL).restore(path)
    domain.thermal["-x"], domain.thermal["+x"] = lbm.Adiabatic(), lbm.Adiabatic()
    with pytest.raises(lbm.CheckpointError, match=r"thermal: the file has .*, this solver has none"):
        lbm.Solver(domain, lbm.TRT(0.1)).restore(path)
    with h5py.File(path, "a") as file:
        del file["temperature"]
    with pytest.raises(lbm.CheckpointError, match="damaged"):
        made.restore(path)


def test_a_file_without_a_temperature_has_no_word_of_it(tmp_path: Path) -> None:
    domain = lbm.Domain((7, 5), "D2Q9")
    plain = lbm.Solver(domain, lbm.TRT(0.1), device="cpu")
    path = plain.save(tmp_path / "state.h5")
    with h5py.File(path) as file:
        assert b"thermal" not in file["manifest"][:].tobytes()
    assert lbm.Solver.load(path).thermal is None
    with pytest.raises(lbm.CheckpointError, match="thermal: the file has none, this solver has"):
        lbm.Solver(domain, lbm.TRT(0.1), thermal=THERMAL).restore(path)


def test_a_changing_wall_needs_the_domain_again(tmp_path: Path) -> None:
    domain = heated()
    domain.thermal["-x"] = lbm.Isothermal(lambda x, y, t: 0 * y + t)
    made = lbm.Solver(domain, lbm.TRT(0.1), device="cpu", thermal=THERMAL)
    made.step(3)
    path = made.save(tmp_path / "state.h5")
    with pytest.raises(lbm.CheckpointError, match="face '-x' of the temperature changes in time"):
        lbm.Solver.load(path)
    loaded = lbm.Solver.load(path, domain=domain)
    for both in (made, loaded):
        both.step(3)
    np.testing.assert_array_equal(loaded.temperature(), made.temperature())


def test_vtk_has_the_temperature(tmp_path: Path) -> None:
    from vtkmodules.util.numpy_support import vtk_to_numpy  # here, as the others need no VTK
    from vtkmodules.vtkIOXML import vtkXMLImageDataReader

    made = furnished(precision="float64")
    made.step(3)
    reader = vtkXMLImageDataReader()
    reader.SetFileName(str(made.write_vtk(tmp_path / "fields")))
    reader.Update()
    found = vtk_to_numpy(reader.GetOutput().GetCellData().GetArray("temperature"))
    np.testing.assert_array_equal(found.reshape(made.temperature().T.shape), made.temperature().T)


@pytest.mark.gpu
def test_device_array(gpu: str) -> None:
    made = lbm.Solver(heated("D3Q19"), lbm.MRT(0.1), device=gpu, thermal=THERMAL)
    made.step(5)
    assert made.device_array("temperature").shape == made.temperature().shape
    plain = lbm.Solver(lbm.Domain((7, 5), "D2Q9"), lbm.BGK(0.1), device=gpu)
    with pytest.raises(ValueError, match="field: 'temperature' given, must be one of 'density'"):
        plain.device_array("temperature")
