"""Checkpoints move between populations and moments: what is kept, what is dropped and said, and bits of all layouts."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attack import _crafted
from reference.moment_cases import KINDS, STENCILS, case_of, state_of, with_walls

import lbmgpu as lbm

SHAPE = (12, 8, 6)
VISCOSITY = 0.02
PRECISIONS = ["float32", "float64"]


def eddies(collision: Any, **options: Any) -> lbm.Solver:
    """Decaying eddies in a box without walls."""
    solver = lbm.Solver(lbm.Domain(SHAPE), collision, device="cpu", **options)
    k = 2 * np.pi / np.array(SHAPE)

    def velocity(x: Any, y: Any, z: Any) -> tuple[Any, ...]:
        return 0.05 * np.sin(k[0] * x) * np.cos(k[1] * y), 0.05 * np.cos(k[1] * y) * np.sin(k[2] * z), 0 * z

    solver.initialize(velocity=velocity)
    return solver


def quietly_loaded(path: Path, **options: Any) -> lbm.Solver:
    """Loading warns of nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return lbm.Solver.load(path, device="cpu", **options)


@pytest.mark.parametrize("state", ["populations", "moments", "auto", None])
@pytest.mark.parametrize("streaming", ["in-place", "two-lattice"])
def test_the_streaming_may_be_another_one(streaming, state, tmp_path: Path):
    """Also of one lattice of populations that goes on as one of moments; the flow is the same."""
    solver = eddies(lbm.Regularized(VISCOSITY), precision="float64")
    solver.step(3)
    solver.save(tmp_path / "state.h5")
    loaded = quietly_loaded(tmp_path / "state.h5", state=state, streaming=streaming)
    assert loaded.streaming == streaming
    assert loaded.state == ("moments" if state in ("moments", "auto") else "populations")
    solver.step(4)
    loaded.step(4)
    np.testing.assert_allclose(loaded.velocity(), solver.velocity(), rtol=0, atol=1e-14)


def test_a_wrong_streaming_is_refused(tmp_path: Path):
    eddies(lbm.Regularized(VISCOSITY)).save(tmp_path / "state.h5")
    with pytest.raises(ValueError, match="streaming: 'both' given, must be one of 'in-place', 'two-lattice'"):
        lbm.Solver.load(tmp_path / "state.h5", streaming="both", device="cpu")


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("stencil", STENCILS)
def test_moments_become_populations_and_again_moments(stencil, kind, precision, rng, tmp_path: Path):
    """But for the last digits of the populations, which do not hold all of those of small moments."""
    case = with_walls(rng, stencil, kind, smagorinsky=0.1)
    solver = case.solver(state="moments", precision=precision, device="cpu")
    solver.step(5)
    solver.save(tmp_path / "moments.h5")
    populations = quietly_loaded(tmp_path / "moments.h5", state="populations")
    assert (populations.state, populations.streaming, populations.steps) == ("populations", "in-place", 5)
    digits = float(np.finfo(precision).eps)
    fluid = ~solver.solid
    np.testing.assert_allclose(populations.populations(), solver.populations(), rtol=0, atol=digits)
    populations.save(tmp_path / "populations.h5")
    again = quietly_loaded(tmp_path / "populations.h5", state="moments")
    assert (again.state, again.streaming, again.steps) == ("moments", "two-lattice", 5)
    one, other = (np.frombuffer(state_of(s), precision).reshape(-1, fluid.size) for s in (solver, again))
    inside = fluid.T.reshape(-1)
    np.testing.assert_allclose(other[:, inside], one[:, inside], rtol=0, atol=digits)
    for each in (solver, populations, again):
        each.step(20)
    for each in (populations, again):
        np.testing.assert_allclose(each.density()[fluid], solver.density()[fluid], rtol=0, atol=400 * digits)
        np.testing.assert_allclose(each.velocity()[:, fluid], solver.velocity()[:, fluid], rtol=0, atol=400 * digits)


@pytest.mark.parametrize("forced", [False, True], ids=["unforced", "forced"])
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("stencil", STENCILS)
def test_of_populations_of_the_collision_nothing_is_dropped(stencil, kind, precision, forced, rng, tmp_path: Path):
    case = case_of(rng, stencil, kind, forced)
    solver = case.solver(precision=precision, device="cpu")
    solver.step(3)
    solver.save(tmp_path / "state.h5")
    moments = quietly_loaded(tmp_path / "state.h5", state="moments")
    digits = float(np.finfo(precision).eps)
    np.testing.assert_allclose(moments.populations(), solver.populations(), rtol=0, atol=digits)


@pytest.mark.parametrize("collision", [lbm.BGK(VISCOSITY), lbm.TRT(VISCOSITY), lbm.CentralMoments(VISCOSITY)])
def test_populations_of_other_collisions_are_projected_and_it_is_said(collision, tmp_path: Path):
    solver = eddies(collision)
    solver.step(5)
    solver.save(tmp_path / "state.h5")
    with pytest.raises(ValueError, match=r"collision: the file has .* give one that keeps them"):
        lbm.Solver.load(tmp_path / "state.h5", state="moments", device="cpu")
    own = lbm.Regularized(VISCOSITY)
    with pytest.warns(lbm.ProjectedStateWarning, match="Density, velocity and stress stay") as said:
        moments = lbm.Solver.load(tmp_path / "state.h5", state="moments", collision=own, device="cpu")
    assert len(said) == 1
    assert said[0].filename == __file__
    np.testing.assert_allclose(moments.density(), solver.density(), rtol=0, atol=1e-6)
    np.testing.assert_allclose(moments.velocity(), solver.velocity(), rtol=0, atol=1e-6)
    lost = float(str(said[0].message).split("up to ")[1].split(",")[0])
    np.testing.assert_allclose(lost, np.abs(moments.populations() - solver.populations()).max(), rtol=0.05)
    other = eddies(own, state="moments")
    with pytest.warns(lbm.ProjectedStateWarning):
        other.restore(tmp_path / "state.h5")
    assert (state_of(other), other.steps) == (state_of(moments), 5)


def test_an_initial_state_of_second_order_is_projected_for_collisions_of_all_orders(tmp_path: Path):
    solver = eddies(lbm.RecursiveRegularized(VISCOSITY))
    solver.save(tmp_path / "state.h5")
    with pytest.warns(lbm.ProjectedStateWarning):
        lbm.Solver.load(tmp_path / "state.h5", state="moments", device="cpu")
    rest = lbm.Solver(lbm.Domain(SHAPE), lbm.RecursiveRegularized(VISCOSITY), precision="float64", device="cpu")
    rest.save(tmp_path / "rest.h5")
    quietly_loaded(tmp_path / "rest.h5", state="moments")


def test_the_fluid_must_be_the_same(tmp_path: Path):
    solver = eddies(lbm.BGK(VISCOSITY))
    solver.save(tmp_path / "state.h5")
    for other in (lbm.Regularized(0.03), lbm.Regularized(VISCOSITY, smagorinsky=0.1)):
        moments, before = eddies(other, state="moments"), eddies(other, state="moments")
        with pytest.raises(lbm.CheckpointError, match=r"collision\.(viscosity|smagorinsky)"):
            moments.restore(tmp_path / "state.h5")
        assert state_of(moments) == state_of(before)
    incompressible = eddies(lbm.Regularized(VISCOSITY, incompressible=True), state="moments")
    with pytest.raises(lbm.CheckpointError, match=r"collision\.incompressible"):
        incompressible.restore(tmp_path / "state.h5")
    wide = eddies(lbm.Regularized(VISCOSITY), state="moments", precision="float64")
    with pytest.raises(lbm.CheckpointError, match="precision"):
        wide.restore(tmp_path / "state.h5")
    eddies(lbm.Regularized(VISCOSITY), state="moments").save(tmp_path / "moments.h5")
    with pytest.raises(lbm.CheckpointError, match=r"collision\.model"):
        eddies(lbm.BGK(VISCOSITY)).restore(tmp_path / "moments.h5")


@pytest.mark.parametrize("kind", KINDS)
def test_any_layout_finds_the_same_bits(kind, rng, tmp_path: Path):
    case = with_walls(rng, "D3Q19", kind, (11, 9, 6))
    solver = case.solver(precision="float32", device="cpu")
    solver.step(4)
    solver.save(tmp_path / "populations.h5")
    case.solver(precision="float32", device="cpu", state="moments").save(tmp_path / "moments.h5")
    for name, state in (("populations", "moments"), ("moments", "populations")):
        one = quietly_loaded(tmp_path / f"{name}.h5", state=state)
        for parts in ((3, 1, 1), (1, 2, 1), (2, 2, 3)):
            layout = lbm.Layout.split((11, 9, 6), parts, device="cpu")
            with warnings.catch_warnings():
                warnings.simplefilter("error", lbm.ProjectedStateWarning)
                other = lbm.Solver.load(tmp_path / f"{name}.h5", state=state, layout=layout, threads=2)
            assert state_of(other) == state_of(one)
        one.step(3)
        other.step(3)
        assert state_of(other) == state_of(one)


@pytest.mark.parametrize("cells", [1, 700, 40000])
def test_any_number_of_cells_is_converted(cells, tmp_path: Path):
    """Fewer and more than are converted together, and no multiple of them."""
    domain = lbm.Domain((cells, 1), "D2Q9")
    solver = lbm.Solver(domain, lbm.RecursiveRegularized(VISCOSITY), precision="float64", device="cpu", state="moments")
    solver.initialize(velocity=lambda x, y: (0.02 * np.sin(2 * np.pi * x / cells), 0.01 * np.cos(x)))
    solver.step(3)
    solver.save(tmp_path / "moments.h5")
    populations = quietly_loaded(tmp_path / "moments.h5", state="populations")
    np.testing.assert_allclose(populations.populations(), solver.populations(), rtol=0, atol=1e-15)
    populations.save(tmp_path / "populations.h5")
    again = quietly_loaded(tmp_path / "populations.h5", state="moments")
    np.testing.assert_allclose(again.populations(), solver.populations(), rtol=0, atol=1e-15)


def test_none_keeps_what_the_file_has_and_auto_chooses(tmp_path: Path):
    eddies(lbm.Regularized(VISCOSITY)).save(tmp_path / "populations.h5")
    eddies(lbm.Regularized(VISCOSITY), state="moments").save(tmp_path / "moments.h5")
    eddies(lbm.BGK(VISCOSITY)).save(tmp_path / "bgk.h5")
    for name, state, expected in (
        ("populations", None, "populations"),
        ("moments", None, "moments"),
        ("populations", "populations", "populations"),
        ("moments", "moments", "moments"),
        ("populations", "auto", "moments"),
        ("moments", "auto", "moments"),
        ("bgk", "auto", "populations"),
    ):
        assert quietly_loaded(tmp_path / f"{name}.h5", state=state).state == expected
    with pytest.raises(ValueError, match="state: 'cells' given"):
        quietly_loaded(tmp_path / "moments.h5", state="cells")


def changed(path: Path, setup: dict[str, Any], state: np.ndarray | None = None) -> Path:
    """A file with other entries of the setup, or with another state, and digests that are right."""
    content = _crafted.content(path)
    content["manifest"]["setup"] |= setup
    if state is not None:
        content["arrays"]["state"] = state
    target = path.with_name("crafted.h5")
    _crafted.write(target, content)
    return target


def test_a_file_that_is_not_one_of_moments_is_refused(tmp_path: Path):
    eddies(lbm.Regularized(VISCOSITY), state="moments").save(tmp_path / "state.h5")
    state = _crafted.content(tmp_path / "state.h5")["arrays"]["state"]
    for setup in (
        {"state": "auto"},
        {"state": "populations"},
        {"state": 3},
        {"state": None},
        {"stencil": "D2Q9"},
        {"storage": "float16"},
        {"collision": {"model": "bgk", "viscosity": VISCOSITY, "smagorinsky": 0.0}},
        {"force": {"factor": {}, "value": [0, 0, 0]}},
    ):
        for load in ({}, {"state": "populations"}):
            with pytest.raises(lbm.CheckpointError):
                lbm.Solver.load(changed(tmp_path / "state.h5", setup), device="cpu", **load)
    for number in (np.nan, np.inf):
        wrong = state.copy()
        wrong[0, 1, 2, 3] = number
        with pytest.raises(lbm.CheckpointError, match="not finite"):
            lbm.Solver.load(changed(tmp_path / "state.h5", {}, wrong), device="cpu", state="populations")


def test_populations_that_are_none_of_a_flow_are_refused(tmp_path: Path):
    solver = eddies(lbm.Regularized(VISCOSITY))
    solver.save(tmp_path / "state.h5")
    wrong = _crafted.content(tmp_path / "state.h5")["arrays"]["state"]
    wrong[:, 1, 2, 3] = 3e38
    moments = eddies(lbm.Regularized(VISCOSITY), state="moments")
    before = state_of(moments)
    with pytest.raises(lbm.CheckpointError, match=r"crafted\.h5: .*not finite"):
        moments.restore(changed(tmp_path / "state.h5", {}, wrong))
    assert state_of(moments) == before


@pytest.mark.parametrize("scheme", ["halfway", "interpolated"])
@pytest.mark.filterwarnings("ignore::lbmgpu.GeometryWarning")
def test_walls_around_geometries_go_along(scheme, tmp_path: Path):
    domain = lbm.Domain(SHAPE)
    domain.add_body(lbm.Sphere((6.0, 4.0, 3.0), 1.9), "ball", lbm.NoSlip(scheme=scheme))
    found = []
    for state in ("moments", "populations"):
        solver = lbm.Solver(domain, lbm.Regularized(VISCOSITY), state=state, device="cpu", force=(1e-5, 0, 0))
        solver.step(10)
        solver.save(tmp_path / f"{state}.h5")
        found.append(solver.body_force("ball"))
    np.testing.assert_allclose(*found, rtol=1e-4, atol=1e-8)
    for path, state in (("moments", "populations"), ("populations", "moments"), ("moments", "moments")):
        loaded = quietly_loaded(tmp_path / f"{path}.h5", state=state)
        np.testing.assert_allclose(loaded.body_force("ball"), found[0], rtol=1e-4, atol=1e-8)


@pytest.mark.parametrize("kind", KINDS)
def test_a_device_goes_on_with_the_bits_of_the_cpu(kind, rng, tmp_path: Path, device):
    case = with_walls(rng, "D2Q9", kind)
    for state, other in (("populations", "moments"), ("moments", "populations")):
        solver = case.solver(state=state, precision="float32", device=device)
        solver.step(3)
        solver.save(tmp_path / f"{state}.h5")
        one = quietly_loaded(tmp_path / f"{state}.h5", state=other)
        two = lbm.Solver.load(tmp_path / f"{state}.h5", state=other, device=device)
        for steps in (0, 3):
            one.step(steps)
            two.step(steps)
            fluid = ~one.solid
            np.testing.assert_array_equal(two.populations()[:, fluid], one.populations()[:, fluid])


def test_auto_chooses_the_same_for_all_devices(device):
    assert lbm.Solver(lbm.Domain((8, 8), "D2Q9"), lbm.Regularized(0.1), state="auto", device=device).state == "moments"
    assert lbm.Solver(lbm.Domain((8, 8), "D2Q9"), lbm.BGK(0.1), state="auto", device=device).state == "populations"
