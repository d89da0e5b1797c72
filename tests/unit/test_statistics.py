"""Tests of statistics: equality with NumPy over stored fields, layouts, axes, confidence intervals, restarts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.stats
from packages import need

import lbmgpu as lbm
from lbmgpu.output.batches import Batches, student_probability, student_quantile

from .support import cube, given_back

Fields = dict[str, np.ndarray]


def flow(
    shape: tuple[int, ...], stencil: str | None = None, device: str = "cpu", body: bool = False, **options: Any
) -> lbm.Solver:
    """A random unsteady flow between walls, with a force and perhaps a body."""
    stencil = stencil or ("D2Q9" if len(shape) == 2 else "D3Q19")
    domain = lbm.Domain(shape, stencil)
    domain.faces["-y"], domain.faces["+y"] = lbm.NoSlip(), lbm.MovingWall((0.05, *[0.0] * (len(shape) - 1)))
    if body:
        domain.add_body(cube(shape), name="cube")
    if "layout" not in options:
        options["device"] = device
    force = np.array([2e-4, 1e-5, -3e-5][: len(shape)])
    solver = lbm.Solver(domain, lbm.BGK(0.02), force=force, threads=2, **options)
    random = np.random.default_rng(5)
    given: dict[str, Any] = {"velocity": 0.05 * random.standard_normal((len(shape), *shape)).clip(-2, 2)}
    given["density"] = 1 + 0.01 * random.random(shape)
    if options.get("thermal"):
        given["temperature"] = random.random(shape)
    solver.initialize(**given)
    return solver


def multispeed(shape: tuple[int, ...] = (12, 10), **options: Any) -> lbm.Solver:
    """A gas whose populations carry the energy."""
    solver = lbm.Solver(lbm.Domain(shape, "D2Q37"), lbm.ThermalBGK(0.05), threads=2, **options)
    random = np.random.default_rng(6)
    cs2 = lbm.stencil("D2Q37").cs2
    solver.initialize(velocity=0.02 * random.random((2, *shape)), temperature=cs2 * (1 + 0.02 * random.random(shape)))
    return solver


def stored(solver: lbm.Solver, names: tuple[str, ...], steps: int, every: int, start: int) -> Fields:
    """The fields after the steps that a recorder samples, sample by sample, while the solver advances."""
    found: dict[str, list[np.ndarray]] = {name: [] for name in names}
    for step in range(1, steps + 1):
        solver.step()
        if step >= start and (step - start) % every == 0:
            for name in names:
                found[name].append(getattr(solver, name)().astype(np.float64))
    return {name: np.array(of_field) for name, of_field in found.items()}


def close(found: np.ndarray, expected: np.ndarray, scale: float = 1.0, error: float = 1e-12) -> None:
    np.testing.assert_allclose(found, expected, rtol=error, atol=error * scale)


CASES: dict[str, Callable[[str], lbm.Solver]] = {
    "2-D": lambda device: flow((13, 9), device=device, precision="float64"),
    "3-D with a body": lambda device: flow((9, 8, 6), device=device, body=True, precision="float64"),
    "A-B pattern": lambda device: flow((9, 8, 6), device=device, precision="float64", streaming="two-lattice"),
    "D3Q27": lambda device: flow((9, 8, 6), "D3Q27", device=device, precision="float64"),
    "float16": lambda device: flow((34, 7, 5), device=device, storage="float16"),
    "thermal": lambda device: flow(
        (13, 9), device=device, precision="float64", thermal=lbm.HybridThermal(0.03, reference=2.0, buoyancy=(0, 1e-4))
    ),
    "D2Q37": lambda device: multispeed(device=device, precision="float64"),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.filterwarnings("ignore::lbmgpu.LostDigitsWarning")
def test_statistics_equal_those_of_stored_fields(case: str, device: str) -> None:
    solver = CASES[case](device)
    names = ("velocity", "density") + (("temperature",) if case in ("thermal", "D2Q37") else ())
    mean, cov = lbm.Mean(*names), lbm.Covariance("velocity", "density", ("density", "velocity"), *names[2:])
    least, most = lbm.Minimum(*names), lbm.Maximum(*names)
    solver.record(mean, cov, least, most, every=3, start=5)
    fields = stored(solver, names, 40, 3, 5)
    assert mean.samples == cov.samples == len(fields["velocity"]) == 12
    np.testing.assert_array_equal(most.steps, np.arange(5, 41, 3))
    error = 1e-12 if solver.precision == "float64" else 1e-6  # in which densities are rounded
    for name in names:
        close(mean[name], fields[name].mean(axis=0), error=error)
        close(least[name], fields[name].min(axis=0), error=error)
        close(most[name], fields[name].max(axis=0), error=error)
    if case == "float16":
        close(mean["velocity"], fields["velocity"].mean(axis=0))
    u = fields["velocity"] - fields["velocity"].mean(axis=0)
    rho = fields["density"] - fields["density"].mean(axis=0)
    close(
        cov["velocity"],
        np.einsum("tadef,tbdef->abdef", *[u.reshape(*u.shape[:4], -1)] * 2).reshape(*cov["velocity"].shape) / 12,
        scale=1e-3,
    )
    close(cov["density", "velocity"], (rho[:, None] * u).mean(axis=0), scale=1e-3, error=error)
    if len(names) == 3:
        close(cov["temperature"], fields["temperature"].var(axis=0), scale=1e-3)


def test_the_pressure_is_that_of_the_density() -> None:
    solver = flow((9, 8), precision="float64")
    mean, cov = lbm.Mean("pressure", "density"), lbm.Covariance("pressure", name="of pressure")
    spread = lbm.Covariance("density")
    solver.record(mean, cov, spread)
    solver.step(20)
    close(mean["pressure"], (mean["density"] - 1) / 3)
    close(cov["pressure"], spread["density"] / 9, scale=1e-6)


@pytest.mark.parametrize("cut", [(2, 1, 1), (1, 2, 2)])
def test_no_layout_changes_a_bit(cut: tuple[int, ...], device: str) -> None:
    shape = (12, 8, 6)
    numbers = []
    for parts in ((1, 1, 1), cut):
        count = int(np.prod(parts))
        layout = lbm.Layout.split(shape, parts, [device if device == "cpu" else "cuda:0"] * count)
        solver = flow(shape, layout=layout, body=True)
        mean, cov = lbm.Mean("velocity", "density"), lbm.Covariance("velocity")
        over = lbm.Mean("velocity", over="xz", name="over"), lbm.Covariance("velocity", over="xz", name="stresses")
        solver.record(mean, cov, *over, lbm.Maximum("velocity", over="x"), every=2)
        solver.step(30)
        numbers.append([mean["velocity"], mean["density"], cov["velocity"], over[0]["velocity"], over[1]["velocity"]])
        numbers[-1] += [over[0].confidence("velocity"), solver.recorders[-1]["velocity"]]  # type: ignore[index]
    for one, several in zip(*numbers, strict=True):
        np.testing.assert_array_equal(one, several)


@pytest.mark.gpu
@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_a_gpu_gives_the_bits_of_the_cpu(precision: str, gpu: str) -> None:
    numbers = []
    for device in ("cpu", gpu):
        solver = flow((33, 8, 6), device=device, body=True, precision=precision)
        mean, cov = lbm.Mean("velocity", "density"), lbm.Covariance("velocity")
        over = lbm.Mean("velocity", "density", over="xz", name="over")
        solver.record(mean, cov, lbm.Minimum("density"), over)
        solver.step(25)
        numbers.append([mean["velocity"], mean["density"], cov["velocity"], solver.recorders[2]["density"]])  # type: ignore[index]
        numbers[-1] += [over["velocity"], over.confidence("density")]
    for one, other in zip(*numbers, strict=True):
        np.testing.assert_array_equal(one, other)


def test_small_fluctuations_about_a_large_mean_keep_their_digits() -> None:
    solver = lbm.Solver(lbm.Domain((16, 4), "D2Q9"), lbm.BGK(1e-3), precision="float64", device="cpu")
    x = np.arange(16)[:, None] + 0.5
    speed = np.zeros((2, 16, 4))
    speed[0], speed[1] = 0.1, 1e-9 * np.sin(2 * np.pi * x / 16)
    solver.initialize(velocity=speed)
    cov = lbm.Covariance("velocity")
    solver.record(cov)
    fields = stored(solver, ("velocity",), 160, 1, 1)
    expected = fields["velocity"][:, 1].var(axis=0)
    assert expected.max() < 1e-18
    np.testing.assert_allclose(cov["velocity"][1, 1], expected, rtol=1e-9)


def test_means_over_axes_leave_solid_cells_out() -> None:
    solver = flow((9, 8, 6), body=True, precision="float64")
    mean, cov = lbm.Mean("velocity", "density", over="xz"), lbm.Covariance("velocity", over="xz")
    most = lbm.Maximum("density", over="xyz")
    solver.record(mean, cov, most)
    fields = stored(solver, ("velocity", "density"), 25, 1, 1)
    fluid = ~solver.domain.solid
    weight = fluid / fluid.sum(axis=(0, 2), keepdims=True)
    profile = (fields["velocity"].mean(axis=0) * weight).sum(axis=(1, 3))
    assert mean["velocity"].shape == (3, 8)
    close(mean["velocity"], profile)
    close(mean["density"], (fields["density"].mean(axis=0) * weight).sum(axis=(0, 2)))
    u = fields["velocity"] - profile[None, :, None, :, None]
    products = np.einsum("taxyz,tbxyz,xyz->aby", u, u, weight) / 25
    close(cov["velocity"], products, scale=1e-3)
    assert most["density"] == fields["density"][:, fluid].max()


def test_a_field_that_the_engine_does_not_sample_is_taken_from_the_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    def vorticity(solver: lbm.Solver) -> np.ndarray:
        u = solver.velocity()
        return np.asarray(np.gradient(u[1], axis=0) - np.gradient(u[0], axis=1))

    monkeypatch.setattr(lbm.Solver, "vorticity", vorticity, raising=False)
    solver = flow((9, 8), precision="float64")
    mean, cov = lbm.Mean("vorticity", "velocity"), lbm.Covariance(("vorticity", "velocity"), "vorticity")
    least = lbm.Minimum("vorticity")
    over = lbm.Mean("vorticity", over="x", name="over")
    solver.record(mean, cov, least, over, every=2)
    fields = stored(solver, ("vorticity", "velocity"), 20, 2, 2)
    w, u = fields["vorticity"], fields["velocity"]
    close(mean["vorticity"], w.mean(axis=0))
    close(mean["velocity"], u.mean(axis=0))
    close(over["vorticity"], w.mean(axis=(0, 1)))
    close(least["vorticity"], w.min(axis=0))
    products = (w - w.mean(axis=0))[:, None] * (u - u.mean(axis=0))
    close(cov["vorticity", "velocity"], products.mean(axis=0), scale=1e-3)
    close(cov["vorticity"], w.var(axis=0), scale=1e-3)


def make() -> tuple[lbm.Solver, list[Any]]:
    """A solver with statistics of all kinds."""
    solver = flow((12, 8, 6), body=True)
    recorders: list[Any] = [lbm.Mean("velocity", "density"), lbm.Covariance("velocity"), lbm.Minimum("density")]
    recorders += [lbm.Mean("velocity", over="xz", name="profile"), lbm.Mean("density", batches=4, name="cells")]
    solver.record(*recorders, every=2, start=3)
    return solver, recorders


def test_a_restart_in_the_middle_gives_the_same_bits(tmp_path: Any) -> None:
    whole, expected = make()
    whole.step(60)
    first, before = make()
    first.step(31)
    first.save(tmp_path / "state.h5")
    kept = [given_back(recorder.kept()) for recorder in before]
    second, after = make()
    second.step(7)
    second.restore(tmp_path / "state.h5")
    for recorder, arrays in zip(after, kept, strict=True):
        for name, array in given_back(recorder.kept()).items():
            np.testing.assert_array_equal(array, arrays[name])
    assert after[0].samples == 15
    second.step(29)
    for one, other in zip(expected, after, strict=True):
        np.testing.assert_array_equal(one.steps, other.steps)
        for field in one.fields:
            np.testing.assert_array_equal(one[field], other[field])
    np.testing.assert_array_equal(expected[3].confidence("velocity"), after[3].confidence("velocity"))
    np.testing.assert_array_equal(expected[4].confidence("density"), after[4].confidence("density"))


def test_recorders_of_a_loaded_solver_go_on(tmp_path: Any) -> None:
    whole, expected = make()
    whole.step(60)
    first, _ = make()
    first.step(31)
    first.save(tmp_path / "state.h5")
    layout = lbm.Layout.split((12, 8, 6), (1, 2, 1), ["cpu", "cpu"])
    second = lbm.Solver.load(tmp_path / "state.h5", layout=layout, threads=1)
    mean, cov = lbm.Mean("velocity", "density"), lbm.Covariance("velocity")
    profile = lbm.Mean("velocity", over="xz", name="profile")
    second.record(cov, profile, mean, every=2, start=3)
    second.step(29)
    for one, other in zip((expected[0], expected[1], expected[3]), (mean, cov, profile), strict=True):
        np.testing.assert_array_equal(one.steps, other.steps)
        np.testing.assert_array_equal(one["velocity"], other["velocity"])
    np.testing.assert_array_equal(expected[3].confidence("velocity"), profile.confidence("velocity"))


def test_a_restart_refuses_what_was_kept_of_others() -> None:
    solver, recorders = make()
    solver.step(9)
    other = flow((12, 8, 6), body=True)
    with pytest.raises(ValueError, match="no co-moment of velocity_x and velocity_x is kept"):
        other.record(lbm.Covariance("velocity"), every=2, start=3).check_kept(given_back(recorders[0].kept()), 9)  # type: ignore[union-attr]
    with pytest.raises(ValueError, match="was kept with every=2, start=3"):
        other.record(lbm.Mean("velocity"), every=5).check_kept(given_back(recorders[0].kept()), 9)  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("number", "name", "array", "text"),
    [
        (0, "samples", np.array([4, 3, 0, 3]), "not four integers"),
        (0, "samples", np.array([4.0, 3, 2, 3]), "not four integers"),
        (0, "mean of density", np.zeros((12, 8, 5)), "mean of density is float64 of the shape"),
        (0, "mean of density", np.zeros((12, 8, 6), np.float32), "mean of density is float32"),
        (3, "batch ends", np.array([1, 2, 4]), "the ends of its batches are not such"),
        (3, "batch length", np.array([0]), "no integer from 1"),
        (3, "batches of velocity", np.zeros((4, 3, 7)), "the batches of velocity are not 4 arrays"),
        (4, "batches of density", np.zeros((3, 12, 8, 6)), "the batches of density are not 4 arrays"),
    ],
)
def test_arrays_that_are_not_such_are_refused(number: int, name: str, array: Any, text: str) -> None:
    solver, recorders = make()
    solver.step(9)
    recorder, kept = recorders[number], given_back(recorders[number].kept())
    recorder.check_kept(kept, 9)
    with pytest.raises(ValueError, match=text):
        recorder.check_kept({**kept, name: array}, 9)
    with pytest.raises((KeyError, ValueError)):
        recorder.check_kept({other: value for other, value in kept.items() if other != name}, 9)


@pytest.mark.parametrize(
    ("kept", "given", "text"),
    [
        ({"over": "x"}, {"over": "y"}, "kept with over='x', batches=16, but is recorded with over='y', batches=16"),
        ({"over": "x"}, {}, "kept with over='x', batches=16, but is recorded with over=None, batches=None"),
        ({"batches": 8}, {"batches": 16}, "kept with over=None, batches=8, but is recorded with over=None, batches=16"),
        ({"over": "xy"}, {"batches": 16}, "kept with over='xy', batches=16, but is recorded with over=None"),
        ({}, {"over": "x"}, "kept with over=None, batches=None, but is recorded with over='x', batches=16"),
    ],
)
def test_batches_of_other_means_do_not_go_on(
    kept: dict[str, Any], given: dict[str, Any], text: str, tmp_path: Any
) -> None:
    solver = flow((9, 8))
    mean: Any = solver.record(lbm.Mean("velocity", name="m", **kept))
    solver.run(20)
    loaded = lbm.Solver.load(solver.save(tmp_path / "state.h5"), device="cpu")
    with pytest.raises(lbm.CheckpointError, match=f"recorder 'm': not what the checkpoint has .m: was {text}"):
        loaded.record(lbm.Mean("velocity", name="m", **given))
    assert loaded.recorders == ()
    again: Any = loaded.record(lbm.Mean("velocity", name="m", **kept))
    np.testing.assert_array_equal(again["velocity"], mean["velocity"])


def test_a_mean_goes_on_without_a_gap_only(tmp_path: Any) -> None:
    solver = flow((9, 8))
    solver.record(lbm.Mean("velocity", every=2))
    solver.run(10)
    late = lbm.Solver.load(solver.save(tmp_path / "state.h5"), device="cpu")
    late.run(5)
    with pytest.raises(lbm.CheckpointError, match=r"recorder 'mean': .* of step 10 without the 5 steps made since"):
        late.record(lbm.Mean("velocity", every=2))
    later = lbm.Solver.load(late.save(tmp_path / "late.h5"), device="cpu")
    with pytest.raises(lbm.CheckpointError, match="5 samples were kept, but 7 were due by step 15"):
        later.record(lbm.Mean("velocity", every=2))
    new: Any = later.record(lbm.Mean("velocity", every=2, name="new"))
    later.run(4)
    assert new.steps.tolist() == [16, 18]


def test_statistics_as_datasets() -> None:
    need("xarray")
    solver = flow((9, 8))
    mean, cov = lbm.Mean("velocity", "density"), lbm.Covariance("velocity", ("velocity", "density"))
    profile = lbm.Mean("velocity", over="x", name="profile")
    solver.record(mean, cov, profile, every=2)
    solver.run(7)
    data = mean.to_xarray()
    assert data is not None
    assert data.velocity.dims == ("component_1_of_2", "x", "y")
    np.testing.assert_array_equal(data.velocity, mean["velocity"])
    np.testing.assert_array_equal(data.density.sel(x=3.5, y=0.5), mean["density"][3, 0])
    assert data.attrs["samples"] == 3
    assert data.attrs["steps"].tolist() == [2, 6]
    products = cov.to_xarray()
    assert products is not None
    np.testing.assert_array_equal(products.velocity, cov["velocity"])
    np.testing.assert_array_equal(products.velocity_density, cov["velocity", "density"])
    means = profile.to_xarray()
    assert means is not None
    assert means.velocity.dims == ("component_1_of_2", "y")


def test_initialize_forgets_the_samples() -> None:
    solver = flow((9, 8), precision="float64")
    mean, over = lbm.Mean("velocity"), lbm.Mean("velocity", over="x", name="over")
    solver.record(mean, over, every=2)
    solver.step(10)
    u = mean["velocity"]
    solver.initialize(velocity=(0.01, 0.0))
    assert mean.samples == over.samples == 0
    with pytest.raises(ValueError, match="no sample has been taken yet; the first one is that after step 2"):
        mean["velocity"]
    solver.step(4)
    np.testing.assert_array_equal(mean.steps, [2, 4])
    assert not np.array_equal(u, mean["velocity"])


def test_recorders_of_one_schedule_share_one_pass() -> None:
    solver = flow((9, 8))
    mean, cov, other = lbm.Mean("velocity"), lbm.Covariance("velocity"), lbm.Mean("density", every=3, name="other")
    solver.record(mean, cov)
    solver.record(other)
    assert mean._engine is cov._engine is not other._engine
    assert mean._engine is not None
    assert mean._engine.core.bytes >= 5 * 8 * 72


def test_wrong_arguments_are_refused_by_name() -> None:
    solver = flow((9, 8))
    with pytest.raises(ValueError, match="fields: 'speed' given, must be one of 'velocity'"):
        lbm.Mean("speed")
    with pytest.raises(TypeError, match="fields: none given"):
        lbm.Mean()
    with pytest.raises(TypeError, match=r"fields: \['velocity'\] given, .* such as Mean\('velocity', 'density'\)"):
        lbm.Mean(["velocity"])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"recorders: .* given, .* of a list write record\(\*recorders\)"):
        solver.record([lbm.Mean("velocity")])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="fields: 3 given"):
        lbm.Covariance(3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="must be a name or a pair of names"):
        lbm.Covariance(("velocity",))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="over: 'xw' given"):
        lbm.Mean("velocity", over="xw")
    with pytest.raises(ValueError, match="over: 'z' given, must be axes of 'xy'"):
        solver.record(lbm.Mean("velocity", over="z"))
    with pytest.raises(ValueError, match="batches: 2 given"):
        lbm.Mean("velocity", batches=2)
    with pytest.raises(ValueError, match="fields: 'temperature' given, but the solver has none"):
        solver.record(lbm.Mean("temperature"))
    assert solver.recorders == ()
    mean = lbm.Mean("velocity")
    with pytest.raises(ValueError, match="it has no solver yet"):
        mean["velocity"]
    solver.record(mean)
    solver.step(3)
    with pytest.raises(ValueError, match="field: 'density' given, must be one of the keys \\['velocity'\\]"):
        mean["density"]
    with pytest.raises(ValueError, match="this mean has no batches"):
        mean.confidence("velocity")
    over = lbm.Mean("velocity", over="x", name="over")
    solver.record(over)
    solver.step(3)
    with pytest.raises(ValueError, match="after 3 batches of 1 samples, needs 4"):
        over.confidence("velocity")
    with pytest.raises(ValueError, match="level: 1 given"):
        over.confidence("velocity", level=1)


@pytest.mark.parametrize("freedom", [1, 2, 3, 8, 15, 31])
def test_student_quantiles_are_those_of_scipy(freedom: int) -> None:
    for probability in (0.6, 0.95, 0.975, 0.995):
        expected = scipy.stats.t.ppf(probability, freedom)
        assert student_quantile(probability, freedom) == pytest.approx(expected, rel=1e-10)
    assert student_probability(0.7, freedom) == pytest.approx(scipy.stats.t.cdf(0.7, freedom), rel=1e-12)


def test_confidence_intervals_hold_the_mean_as_often_as_they_say() -> None:
    """Of an autoregressive series with a correlation time of ten samples."""
    random = np.random.default_rng(1)
    series = np.zeros((400, 4096))
    noise = random.standard_normal(series.shape)
    for k in range(1, series.shape[1]):
        series[:, k] = 0.9 * series[:, k - 1] + noise[:, k]
    batches = Batches(16)
    means = np.cumsum(series, axis=1) / np.arange(1, 4097)
    end = 0
    while (end := batches.next_end(end)) <= 4096:
        batches.add(end, {"x": means[:, end - 1]})
    assert 16 <= len(batches.ends) < 32
    held = np.abs(means[:, -1]) <= batches.half_width("x", 0.95)
    assert 0.91 <= held.mean() <= 0.99
    naive = 1.96 * series.std(axis=1) / np.sqrt(4096)
    assert (np.abs(means[:, -1]) <= naive).mean() < 0.6
