"""Probes: what the engine records at points equals what the solver's fields have there after each step, to the bit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import packages
import pytest

import lbmgpu as lbm
from lbmgpu.output.batches import half_widths

GPU = pytest.param("cuda:0", marks=pytest.mark.gpu)
AXES = "xyz"


def need(device: str, request: pytest.FixtureRequest) -> None:
    if device != "cpu":
        request.getfixturevalue("gpu")


def flow(stencil: str = "D2Q9", **options: Any) -> lbm.Solver:
    """A flow past a body between walls, periodic along x, with a force; of D2Q37 a warm one."""
    shape = (20, 14) if stencil.startswith("D2") else (12, 10, 8)
    domain = lbm.Domain(shape, stencil)
    options = {"device": "cpu", "precision": "float64"} | options
    if stencil == "D2Q37":
        solver = lbm.Solver(domain, lbm.ThermalBGK(0.1), **options)
        solver.initialize(velocity=lambda x, y: (0.05 * np.sin(y), 0.02 * np.cos(x)))
        return solver
    domain.faces["-y"], domain.faces["+y"] = lbm.NoSlip(), lbm.MovingWall((0.05,) + (0,) * (len(shape) - 1))
    body = np.zeros(shape, bool)
    body[5:8, 5:8] = True
    domain.add_body(body, "block")
    force = (1e-4, 2e-5, 1e-5)[: len(shape)]
    solver = lbm.Solver(domain, lbm.BGK(0.05), force=force, **options)
    solver.initialize(velocity=lambda x, y, *z: (0.02 * np.sin(y), 0.01 * np.cos(x), *(0.01 * np.sin(x) for _ in z)))
    return solver


def linear(field: np.ndarray, point: np.ndarray, solid: np.ndarray, periodic: list[bool]) -> np.ndarray:
    """The multilinear interpolation of a field at one point, in plain loops."""
    shape = solid.shape
    total, sums = 0.0, np.zeros(field.shape[: field.ndim - len(shape)])
    for corner in np.ndindex(*(2,) * len(shape)):
        weight, cell = 1.0, []
        for d, up in enumerate(corner):
            s = point[d] - 0.5
            at = int(np.floor(s)) + up
            weight *= s - np.floor(s) if up else 1 - (s - np.floor(s))
            cell.append(at % shape[d] if periodic[d] else min(max(at, 0), shape[d] - 1))
        if weight > 0 and not solid[tuple(cell)]:
            total += weight
            sums = sums + weight * field[(..., *cell)].astype(np.float64)
    return sums / total if total > 0 else sums * np.nan


def test_a_history_says_how_well_its_mean_is_known() -> None:
    """As the function of its columns does, of the samples after a step."""
    probe = lbm.Probe([(3.0, 4.0), (12.5, 7.0)], every=3)
    solver = flow()
    solver.record(probe)
    with pytest.raises(ValueError, match="confidence: 0 samples after step 0, needs 4 at least"):
        probe.confidence("density")
    solver.step(300)
    columns = probe["velocity"][probe.steps > 60].reshape(80, 4)
    half = probe.confidence("velocity", 0.9, after=60)
    assert half.shape == (2, 2)
    np.testing.assert_array_equal(half.ravel(), half_widths(columns, 0.9))
    assert (half > 0).all()
    assert (probe.confidence("velocity", 0.99, after=60) > half).all()
    passing = solver.record(lbm.Flux("x", 10.0))
    solver.step(50)
    assert isinstance(passing.confidence("mass"), float)
    with pytest.raises(ValueError, match="confidence: 2 samples after step 348, needs 4 at least"):
        passing.confidence("mass", after=348)
    for wrong, match in (({"level": 1.0}, "level"), ({"after": -1}, "after"), ({"field": "speed"}, "field")):
        with pytest.raises(ValueError, match=match):
            passing.confidence(**{"field": "mass"} | wrong)


@pytest.mark.parametrize("device", ["cpu", GPU])
@pytest.mark.parametrize("streaming", ["in-place", "two-lattice"])
@pytest.mark.parametrize(
    ("precision", "storage"), [("float64", "float64"), ("float32", "float32"), ("float32", "float16")]
)
@pytest.mark.parametrize("stencil", ["D2Q9", "D3Q19", "D3Q27"])
@pytest.mark.filterwarnings("ignore::lbmgpu.LostDigitsWarning")
def test_centres_of_cells_have_the_bits_of_the_fields(
    stencil: str, precision: str, storage: str, streaming: str, device: str, request: pytest.FixtureRequest
) -> None:
    need(device, request)
    solver = flow(stencil, precision=precision, storage=storage, streaming=streaming, device=device)
    cells = np.argwhere(~solver.solid)[::7]
    probe = solver.record(lbm.Probe(cells + 0.5))
    index = tuple(cells.T)
    velocity, density = [], []
    for _ in range(6):
        solver.step(1)
        velocity.append(solver.velocity()[(slice(None), *index)])
        density.append(solver.density()[index])
    assert probe.steps.tolist() == [1, 2, 3, 4, 5, 6]
    assert np.array_equal(probe["velocity"], np.array(velocity, np.float64))
    assert np.array_equal(probe["density"], np.array(density, np.float64))


@pytest.mark.parametrize("streaming", ["in-place", "two-lattice"])
@pytest.mark.parametrize(
    ("precision", "storage"), [("float64", "float64"), ("float32", "float32"), ("float32", "float16")]
)
@pytest.mark.parametrize("force", ["none", "uniform", "field", "scaled", "scaled field"])
@pytest.mark.filterwarnings("ignore::lbmgpu.LostDigitsWarning")
def test_rows_of_any_length_have_the_bits_of_their_cells(
    force: str, precision: str, storage: str, streaming: str
) -> None:
    """Fields are read in packs of cells, probes cell by cell; of odd lengths the rows end at walls."""
    for nx in (*range(1, 12), 17):
        shape = (nx, 3, 2)
        domain = lbm.Domain(shape)
        if nx % 2 == 1:
            domain.faces["-x"], domain.faces["+x"] = lbm.NoSlip(), lbm.MovingWall((0, 0.05, 0))
        field = 1e-4 * np.random.default_rng(nx).random((3, *shape))
        values: Any = {"none": None, "uniform": (1e-4, 2e-5, 1e-5), "field": field, "scaled": (1e-4, 0.0, 2e-5)}
        sine = lbm.Sine(mean=1, amplitude=0.3, period=7)
        given = field * sine if force == "scaled field" else values[force]
        given = np.array(given) * sine if force == "scaled" else given
        solver = lbm.Solver(
            domain, lbm.BGK(0.05), force=given, precision=precision, storage=storage, streaming=streaming, device="cpu"
        )
        solver.initialize(velocity=lambda x, y, z: (0.02 * np.sin(y + x), 0.01 * np.cos(x), 0.01 * np.sin(z - x)))
        cells = np.argwhere(~solver.solid)
        probe = solver.record(lbm.Probe(cells + 0.5))
        for count in range(2):
            solver.step(1)
            index = tuple(cells.T)
            assert np.array_equal(probe["velocity"][count], solver.velocity()[(slice(None), *index)].astype(np.float64))
            assert np.array_equal(probe["density"][count], solver.density()[index].astype(np.float64))


@pytest.mark.parametrize("device", ["cpu", GPU])
@pytest.mark.parametrize("stencil", ["D2Q9", "D3Q19"])
def test_the_temperature_has_the_bits_of_the_field(stencil: str, device: str, request: pytest.FixtureRequest) -> None:
    need(device, request)
    domain = lbm.Domain((16, 12) if stencil == "D2Q9" else (8, 10, 6), stencil)
    domain.faces["-y"] = domain.faces["+y"] = lbm.NoSlip()
    domain.thermal["-y"], domain.thermal["+y"] = lbm.Isothermal(300.5), lbm.Isothermal(299.5)
    thermal = lbm.HybridThermal(diffusivity=0.05, reference=300.0, buoyancy=(0, 1e-4, 0)[: len(domain.shape)])
    solver = lbm.Solver(domain, lbm.BGK(0.05), thermal=thermal, device=device)
    solver.initialize(temperature=lambda x, y, *z: 300 + 0.1 * np.sin(x))
    points = np.array(list(np.ndindex(*domain.shape)))[::5] + 0.5
    probe = solver.record(lbm.Probe(points, ("temperature", "velocity")))
    index = tuple((points - 0.5).astype(int).T)
    for count in range(4):
        solver.run(1)
        assert np.array_equal(probe["temperature"][count], solver.temperature()[index].astype(np.float64))
        assert np.array_equal(probe["velocity"][count], solver.velocity()[(slice(None), *index)].astype(np.float64))


@pytest.mark.parametrize("device", ["cpu", GPU])
def test_populations_that_carry_the_energy(device: str, request: pytest.FixtureRequest) -> None:
    need(device, request)
    solver = flow("D2Q37", device=device)
    probe = solver.record(lbm.Probe([(3.5, 4.5), (10.5, 0.5)], ("temperature", "velocity", "density")))
    for count in range(3):
        solver.step(1)
        assert np.array_equal(probe["temperature"][count], solver.temperature()[[3, 10], [4, 0]])
        assert np.array_equal(probe["velocity"][count], solver.velocity()[:, [3, 10], [4, 0]])
        assert np.array_equal(probe["density"][count], solver.density()[[3, 10], [4, 0]])


@pytest.mark.parametrize("stencil", ["D2Q9", "D3Q19"])
def test_points_between_centres_are_interpolated(stencil: str) -> None:
    """Through periodic faces too, near walls, and beside a body, whose cells have no part in it."""
    solver = flow(stencil)
    shape = np.array(solver.domain.shape)
    points = np.random.default_rng(1).uniform(0, 1, (60, len(shape))) * shape
    points = np.concatenate([points, [shape * 0.0, shape * 1.0, shape * 0 + 4.9, shape * 0 + 6.5]])
    probe = solver.record(lbm.Probe(points))
    solver.run(5)
    periodic = [True, False, True][: len(shape)]
    velocity = [linear(solver.velocity(), point, solver.solid, periodic) for point in points]
    density = [linear(solver.density(), point, solver.solid, periodic) for point in points]
    np.testing.assert_allclose(probe["velocity"][-1].T, velocity, rtol=1e-12, atol=1e-16)
    np.testing.assert_allclose(probe["density"][-1], density, rtol=1e-14)
    assert np.isnan(probe["density"][:, -1]).all()  # within the body


@pytest.mark.parametrize("stencil", ["D2Q9", "D3Q19"])
def test_no_layout_changes_a_bit(stencil: str) -> None:
    points = np.random.default_rng(2).uniform(0, 1, (40, 2 if stencil == "D2Q9" else 3)) * flow(stencil).domain.shape
    found = []
    for parts in ((1, 1, 1), (2, 1, 1), (1, 2, 1), (2, 2, 1)):
        shape = flow(stencil).domain.shape
        count = parts[0] * parts[1]
        layout = lbm.Layout.split(shape, parts[: len(shape)], ["cpu"] * count)
        solver = flow(stencil, layout=layout, device="auto")
        probe, forces = solver.record(lbm.Probe(points, every=2), lbm.Forces("block"))
        solver.run(7)
        found.append((probe["velocity"], probe["density"], forces["force"]))
        assert probe.steps.tolist() == [2, 4, 6]
    for other in found[1:]:
        assert np.array_equal(found[0][0], other[0], equal_nan=True)
        assert np.array_equal(found[0][1], other[1], equal_nan=True)
        np.testing.assert_allclose(found[0][2], other[2], rtol=1e-12, atol=1e-15)


def test_every_and_start_choose_the_steps_and_python_does_not_stop_for_them() -> None:
    solver = flow()
    probe = lbm.Probe((3.0, 4.0))
    solver.record(probe, every=3, start=4)
    assert probe.sampled_by_engine
    solver.run(14)
    solver.step(2)
    assert probe.steps.tolist() == [4, 7, 10, 13, 16]
    assert len(probe) == 5
    assert probe["velocity"].shape == (5, 2, 1)


def test_more_samples_than_a_chunk_has() -> None:
    """In several runs; the last sample of a run may be that which fills a chunk."""
    solver = flow()
    probe = solver.record(lbm.Probe((3.5, 4.5), "velocity"))
    forces = solver.record(lbm.Forces("block"))
    for steps in (4095, 1, 4096, 5000):
        solver.run(steps)
        assert probe.steps.tolist() == list(range(1, solver.steps + 1))
        assert np.array_equal(probe["velocity"][-1, :, 0], solver.velocity()[:, 3, 4])
        assert len(forces) == solver.steps


@pytest.mark.gpu
def test_chunks_that_come_over_beside_the_steps_are_whole_and_in_order(gpu: str) -> None:
    """The device fills two buffers in turn; what is read in between has all samples so far."""
    runs = (137, 1, 150, 300)  # of chunks of 136 samples
    found = []
    for device in (gpu, "cpu"):
        solver = flow("D3Q19", device=device)
        points = np.stack(np.meshgrid(*(np.arange(n) + 0.5 for n in solver.domain.shape), indexing="ij"), -1)
        probe = solver.record(lbm.Probe(points.reshape(-1, 3), ("density", "velocity")))
        forces = solver.record(lbm.Forces("block", every=3))
        rows = []
        for number, steps in enumerate(runs):
            solver.run(steps)
            if number != 2:
                rows += [probe["velocity"].copy(), forces["force"].copy()]
        assert probe.steps.tolist() == list(range(1, sum(runs) + 1))
        found.append((rows, probe["density"].copy()))
    for ours, theirs in zip(found[0][0][::2], found[1][0][::2], strict=True):
        np.testing.assert_array_equal(ours, theirs)
    for ours, theirs in zip(found[0][0][1::2], found[1][0][1::2], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-15)
    np.testing.assert_array_equal(found[0][1], found[1][1])


def test_lines_and_planes_are_probes() -> None:
    solver = flow("D3Q19")
    line, plane = solver.record(
        lbm.LineProbe((0.5, 2.5, 3.5), (11.5, 2.5, 3.5), 12), lbm.PlaneProbe("z", 3.5, fields="velocity", stride=2)
    )
    solver.run(3)
    velocity = solver.velocity()
    assert np.array_equal(line["velocity"][-1], velocity[:, :, 2, 3])
    assert plane["velocity"].shape == (3, 3, 6, 5)
    fluid = ~solver.solid[::2, ::2, 3]
    assert np.array_equal(plane["velocity"][-1][:, fluid], velocity[:, ::2, ::2, 3][:, fluid])
    assert np.isnan(plane["velocity"][-1][:, ~fluid]).all()


def test_another_state_drops_what_is_later(tmp_path: Path) -> None:
    solver = flow()
    probe = solver.record(lbm.Probe((3.5, 4.5)))
    solver.run(4)
    path = solver.save(tmp_path / "state.h5")
    first = probe["velocity"]
    solver.run(4)
    whole = probe["velocity"]
    solver.restore(path)
    assert probe.steps.tolist() == [1, 2, 3, 4]
    assert np.array_equal(probe["velocity"], first)
    solver.run(4)
    assert np.array_equal(probe["velocity"], whole)
    solver.initialize()
    assert probe.steps.tolist() == []
    assert probe["velocity"].shape == (0, 2, 1)
    solver.run(2)
    assert probe.steps.tolist() == [1, 2]


@pytest.mark.parametrize("streaming", ["in-place", "two-lattice"])
def test_samples_cross_a_restart_without_a_gap_or_a_doublet(tmp_path: Path, streaming: str) -> None:
    def recorders() -> tuple[lbm.Recorder, ...]:
        block = lbm.Coefficients("block", speed=0.05, area=3)
        return lbm.Probe([(3.2, 4.5), (18.0, 3.1)]), lbm.Forces("block", every=3), block, lbm.Flux("x", 2.5, every=2)

    solver = flow(streaming=streaming)
    whole: Any = solver.record(*recorders())
    solver.run(50)

    solver = flow(streaming=streaming)
    solver.record(*recorders())
    for steps in (7, 20, 1, 22):
        solver.run(steps)
        path = solver.save(tmp_path / "state.h5")
        solver = lbm.Solver.load(path, device="cpu")
        parts: Any = solver.record(*recorders())
    for one, other in zip(whole, parts, strict=True):
        assert np.array_equal(one.steps, other.steps)
        for field in one.fields:
            assert np.array_equal(one[field], other[field]), field


def test_a_hundred_thousand_samples_cross_a_restart(tmp_path: Path, device: str) -> None:
    """Many chunks of them, the last one begun, on both sides of it."""
    solver = flow(device=device)
    whole = solver.record(lbm.Probe((3.2, 4.5)))
    solver.run(100_000)

    solver = flow(device=device)
    solver.record(lbm.Probe((3.2, 4.5)))
    solver.run(41_234)
    solver = lbm.Solver.load(solver.save(tmp_path / "state.h5"), device=device)
    parts = solver.record(lbm.Probe((3.2, 4.5)))
    solver.run(100_000 - 41_234)
    assert np.array_equal(parts.steps, np.arange(1, 100_001))
    assert np.array_equal(parts["velocity"], whole["velocity"])
    assert np.array_equal(parts["density"], whole["density"])


def test_a_recorder_of_another_kind_or_setup_does_not_go_on(tmp_path: Path) -> None:
    solver = flow()
    solver.record(lbm.Probe((3.5, 4.5), name="wake"))
    solver.run(3)
    path = solver.save(tmp_path / "state.h5")
    loaded = lbm.Solver.load(path, device="cpu")
    with pytest.raises(lbm.CheckpointError, match="recorder 'wake': the checkpoint has a Probe of that name"):
        loaded.record(lbm.Forces("block", name="wake"))
    with pytest.raises(lbm.CheckpointError, match=r"not what the checkpoint has \(points: differs from"):
        loaded.record(lbm.Probe((3.5, 5.5), name="wake"))
    with pytest.raises(lbm.CheckpointError, match="fields: differs from"):
        loaded.record(lbm.Probe((3.5, 4.5), "density", name="wake"))
    assert loaded.recorders == ()
    late = lbm.Solver.load(path, device="cpu")
    late.run(2)
    with pytest.raises(lbm.CheckpointError, match=r"recorder 'wake': .* of step 3 without the 2 steps made since"):
        late.record(lbm.Probe((3.5, 4.5), name="wake"))
    new: Any = late.record(lbm.Probe((3.5, 4.5), name="new"))
    late.run(1)
    assert new.steps.tolist() == [6]
    again: Any = loaded.record(lbm.Probe((3.5, 4.5), name="wake"))
    loaded.run(2)
    assert again.steps.tolist() == [1, 2, 3, 4, 5]
    other = flow()
    other.record(lbm.Forces("block", name="wake"))
    other.run(1)
    with pytest.raises(lbm.CheckpointError, match="the checkpoint has a Probe of that name"):
        other.restore(path)
    assert other.steps == 1  # it stays as it was


def test_files_tables_and_datasets(tmp_path: Path) -> None:
    packages.need("pandas")
    solver = flow()
    probe = solver.record(lbm.Probe([(3.5, 4.5), (9.0, 2.0)], every=2))
    solver.run(6)
    path = probe.to_csv(tmp_path / "probe.csv")
    assert (
        path.read_text().splitlines()[0]
        == "step,density_0,density_1,velocity_x_0,velocity_x_1,velocity_y_0,velocity_y_1"
    )
    table = probe.to_pandas()
    assert np.array_equal(np.loadtxt(path, delimiter=",", skiprows=1)[:, 1:], table.to_numpy())  # every digit
    assert table.index.tolist() == [2, 4, 6]
    assert np.array_equal(table["velocity_y_1"], probe["velocity"][:, 1, 1])
    data = probe.to_xarray()
    assert data.velocity.dims == ("step", "component", "point")
    assert data.step.values.tolist() == [2, 4, 6]
    assert float(data.x[1]) == 9.0
    units = lbm.Units(length_phys=0.01, time_phys=0.002)
    physical = probe.to_xarray(units)
    np.testing.assert_allclose(physical.velocity, probe["velocity"] * 5)
    np.testing.assert_allclose(physical.time, [0.004, 0.008, 0.012])
    np.testing.assert_allclose(physical.y, [0.045, 0.02])
    np.testing.assert_allclose(probe.to_pandas(units)["velocity_x_0"], probe["velocity"][:, 0, 0] * 5)
    line = flow().record(lbm.LineProbe((1, 1), (4, 5), 6))
    np.testing.assert_allclose(line.to_xarray().distance, [0, 1, 2, 3, 4, 5], atol=1e-15)  # before any sample
    for read in (probe.to_pandas, probe.to_xarray, lambda units: probe.to_csv(tmp_path / "units.csv", units)):
        with pytest.raises(TypeError, match=r"units: 'SI' given, must be lbm\.Units"):
            read("SI")
    assert not (tmp_path / "units.csv").exists()
    with pytest.raises(FileNotFoundError):
        probe.to_csv(tmp_path / "missing" / "probe.csv")


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: lbm.Probe((1, 2, 3, 4)), ValueError, "points: shape .1, 4. given"),
        (lambda: lbm.Probe((1, np.nan)), ValueError, "points: nan given"),
        (lambda: lbm.Probe("here"), TypeError, "points"),
        (lambda: lbm.Probe((1, 2), "speed"), ValueError, "fields: 'speed' given"),
        (lambda: lbm.Probe((1, 2), []), ValueError, "fields"),
        (lambda: lbm.Probe((1, 2), ("density", "density")), ValueError, "each once"),
        (lambda: lbm.Probe((1, 2), every=0), ValueError, "every: 0 given"),
        (lambda: lbm.LineProbe((1, 2), (1, 2, 3), 4), ValueError, "end_point"),
        (lambda: lbm.LineProbe((1, 2), (3, 4), 1), ValueError, "n: 1 given"),
        (lambda: lbm.PlaneProbe("w", 1), ValueError, "axis: 'w' given"),
        (lambda: lbm.PlaneProbe("x", -1), ValueError, "position: -1 given"),
    ],
)
def test_wrong_arguments_are_refused_by_name(make: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        make()


@pytest.mark.parametrize(
    ("recorder", "text"),
    [
        (lambda: lbm.Probe((1, 2, 3)), "points: of 3 coordinates given, must be 2"),
        (lambda: lbm.Probe((1, 14.5)), r"points: \(1.0, 14.5\) given, must lie in the domain"),
        (lambda: lbm.Probe((1, 2), "temperature"), "fields: 'temperature' given, but the solver has none"),
        (lambda: lbm.PlaneProbe("z", 1), "axis: 'z' given, but the domain has two dimensions"),
        (lambda: lbm.PlaneProbe("y", 15), "position: 15 given, must be at most 14"),
    ],
)
def test_what_does_not_go_with_the_solver_is_refused(recorder: Any, text: str) -> None:
    solver = flow()
    with pytest.raises(ValueError, match=text):
        solver.record(recorder())
    assert solver.recorders == ()
    solver.run(2)


def test_reading_needs_a_solver() -> None:
    probe = lbm.Probe((1, 2))
    with pytest.raises(ValueError, match="it has no solver yet"):
        probe.steps  # noqa: B018
    with pytest.raises(ValueError, match="field: 'pressure' given"):
        flow().record(lbm.Probe((1, 2)))["pressure"]  # type: ignore[index]
