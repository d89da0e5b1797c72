"""Turbulence models: what they are, what they do in flows with known gradients, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from reference.turbulence import FORMULAS, Turbulence

import lbmgpu as lbm
from lbmgpu import _core
from lbmgpu.case.build import build_solver
from lbmgpu.case.plan import plan_case
from lbmgpu.case.read import read_case
from lbmgpu.turbulence import MODELS, of_record

MODELS_OF_GRADIENTS = [lbm.WALE(), lbm.Vreman()]


def test_models_are_values_with_their_papers_constants():
    assert [lbm.Smagorinsky().constant, lbm.WALE().constant, lbm.Vreman().constant] == [0.1, 0.5, 0.07]
    assert lbm.WALE(0.5) == lbm.WALE() != lbm.WALE(every=2)
    for model in (lbm.Smagorinsky(0.2), lbm.WALE(0.3, every=4), lbm.Vreman(every=1000)):
        assert of_record(json.loads(json.dumps(model.record()))) == model
    assert set(MODELS) == set(_core.turbulence_models())
    assert set(FORMULAS) == {name for name, gradients in _core.turbulence_models().items() if gradients}
    assert Turbulence("wale", 0.5).every == lbm.WALE().every


@pytest.mark.parametrize(
    ("model", "arguments", "name"),
    [
        (lbm.WALE, {"constant": 0}, "constant"),
        (lbm.Vreman, {"constant": 1.5}, "constant"),
        (lbm.Smagorinsky, {"constant": "0.1"}, "constant"),
        (lbm.WALE, {"every": 0}, "every"),
        (lbm.Vreman, {"every": 1001}, "every"),
        (lbm.WALE, {"every": 1.5}, "every"),
    ],
)
def test_numbers_out_of_range_are_refused_by_name(model, arguments, name):
    with pytest.raises((TypeError, ValueError), match=f"^{name}: "):
        model(**arguments)


def solver(collision=None, stencil="D3Q19", **options) -> lbm.Solver:
    shape = (8, 6, 5)[: int(stencil[1])]
    return lbm.Solver(lbm.Domain(shape, stencil), collision or lbm.BGK(0.02), **{"device": "cpu", **options})


def test_what_does_not_go_together_is_refused_by_name(tmp_path: Path):
    with pytest.raises(TypeError, match=r"turbulence: .* not the class"):
        solver(turbulence=lbm.WALE)
    with pytest.raises(TypeError, match=r"^turbulence: 'wale' given"):
        solver(turbulence="wale")
    for model in (lbm.Smagorinsky(), lbm.WALE()):
        with pytest.raises(ValueError, match=r"^turbulence: .* beside smagorinsky=0\.2 of TRT"):
            solver(lbm.TRT(0.1, smagorinsky=0.2), turbulence=model)
        with pytest.raises(ValueError, match=r"^turbulence: .* ThermalBGK"):
            solver(lbm.ThermalBGK(0.1), "D2Q37", turbulence=model)
    with pytest.raises(ValueError, match=r"^turbulence: this solver has no eddy viscosity"):
        solver().eddy_viscosity()


@pytest.mark.parametrize("setup", [{"every": 0}, {"constant": 0.0}, {"model": "smagorinsky"}, {"model": "other"}])
def test_the_engine_refuses_wrong_models(setup):
    given = {"model": "wale", "constant": 0.5, "every": 1} | setup
    with pytest.raises(ValueError, match="turbulence"):
        _core.Engine(stencil="D2Q9", shape=(8, 6), collision="bgk", viscosity=0.1, turbulence=given)


def test_an_argument_of_the_collision_is_the_smagorinsky_model(tmp_path: Path):
    """Both forms are one solver: its model, its record, its bits."""
    rng = np.random.default_rng(1)
    velocity = 0.05 * rng.uniform(-1, 1, (3, 8, 6, 5))
    one, other = solver(lbm.MRT(0.01, smagorinsky=0.2)), solver(lbm.MRT(0.01), turbulence=lbm.Smagorinsky(0.2))
    assert one.turbulence == other.turbulence == lbm.Smagorinsky(0.2)
    for each in (one, other):
        each.initialize(velocity=velocity)
        each.step(5)
    np.testing.assert_array_equal(one.populations(), other.populations())
    one.save(tmp_path / "one.h5")
    other.restore(tmp_path / "one.h5")
    assert other.steps == 5


def test_smagorinsky_eddy_viscosity_is_that_of_the_strain_rate():
    """Of a resolved shear wave it is Cs^2 |S|, to the accuracy of the stress at second order."""
    n, amplitude, constant = 64, 0.02, 0.2
    k = 2 * np.pi / n
    domain = lbm.Domain((4, n), "D2Q9")
    waves = lbm.Solver(domain, lbm.BGK(0.02), turbulence=lbm.Smagorinsky(constant), precision="float64", device="cpu")
    waves.initialize(velocity=lambda x, y: (amplitude * np.sin(k * y), 0 * x), nonequilibrium=True)
    waves.step(20)
    u = waves.velocity()[0]
    strain = np.abs(np.roll(u, -1, axis=1) - np.roll(u, 1, axis=1)) / 2
    expected = constant**2 * strain
    np.testing.assert_allclose(waves.eddy_viscosity(), expected, rtol=0, atol=0.02 * expected.max())


@pytest.mark.parametrize("model", MODELS_OF_GRADIENTS)
@pytest.mark.parametrize("stencil", ["D2Q9", "D3Q19", "D3Q27"])
def test_no_eddy_viscosity_in_pure_shear(model, stencil):
    """Exactly none between two walls of which one moves, up to the walls."""
    shape = (6, 9, 5)[: int(stencil[1])]
    domain = lbm.Domain(shape, stencil)
    moving = (0.1, 0.0, 0.0)[: len(shape)]
    domain.faces["-y"], domain.faces["+y"] = lbm.NoSlip(), lbm.MovingWall(moving)
    couette = lbm.Solver(domain, lbm.TRT(0.1), turbulence=model, precision="float64", device="cpu")
    couette.step(200)
    assert couette.velocity()[0].max() > 0.05
    assert couette.eddy_viscosity().max() < 1e-15


@pytest.mark.parametrize("model", MODELS_OF_GRADIENTS)
def test_a_linear_flow_has_the_gradient_of_its_walls(model):
    """What lies behind a wall continues it: the eddy viscosity is the same beside walls and amid them."""
    domain = lbm.Domain((7, 8), "D2Q9")
    centre = np.array([3.5, 4.0])

    def flow(x, y):
        return 0.004 * (x - centre[0]) + 0.003 * (y - centre[1]), 0.002 * (x - centre[0]) - 0.004 * (y - centre[1])

    for face, x, y in (("-x", 0.0, None), ("+x", 7.0, None), ("-y", None, 0.0), ("+y", None, 8.0)):
        along = np.arange(8 if y is None else 7) + 0.5
        where = (np.full(8, x), along) if y is None else (along, np.full(7, y))
        domain.faces[face] = lbm.MovingWall(np.array(flow(*where)))
    linear = lbm.Solver(domain, lbm.BGK(0.1), turbulence=model, precision="float64", device="cpu")
    linear.initialize(velocity=flow)
    found = linear.eddy_viscosity()
    assert found.min() > 1e-5
    np.testing.assert_allclose(found, found[3, 4], rtol=1e-12)


def test_a_report_names_the_model_and_counts_its_bytes():
    plain, modelled, seldom = solver(), solver(turbulence=lbm.WALE()), solver(turbulence=lbm.Vreman(every=10))
    assert "WALE(constant=0.5, every=1)" in str(modelled.report(bandwidth=False))
    bytes_a_step = [each.report(bandwidth=False).bytes_per_update for each in (plain, modelled, seldom)]
    assert bytes_a_step == [152, 152 + 4 + 24 + 4, 152 + 4 + 2]


@pytest.mark.gpu
def test_a_gpu_reads_and_writes_the_velocity_alone_where_each_step_computes_the_eddy_viscosity(gpu):
    """In other steps the viscosity is read, and written by those that compute it."""
    models = (lbm.WALE(), lbm.Vreman(every=10))
    bytes_a_step = [solver(turbulence=model, device=gpu).report(bandwidth=False).bytes_per_update for model in models]
    assert bytes_a_step == [152 + 24, 152 + 4 + 2]


CASE = {
    "domain": {"stencil": "D3Q19", "shape": [8, 6, 6]},
    "collision": {"model": "MRT", "viscosity": 0.01},
    "turbulence": {"model": "wale", "every": 3},
    "run": {"steps": 4, "device": "cpu"},
}


def written(folder: Path, **changes) -> Path:
    path = folder / "case.json"
    path.write_text(json.dumps(CASE | changes))
    return path


def test_a_case_may_have_a_model(tmp_path: Path):
    case = read_case(written(tmp_path))
    assert build_solver(case, tmp_path).turbulence == lbm.WALE(every=3)
    case = read_case(written(tmp_path, turbulence={"model": "smagorinsky", "constant": 0.12}))
    assert build_solver(case, tmp_path).turbulence == lbm.Smagorinsky(0.12)
    assert plan_case(written(tmp_path), "cpu") is not None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"turbulence": {"model": "les"}}, "turbulence"),
        ({"turbulence": {"constant": 0.1}}, "model"),
        ({"turbulence": {"model": "smagorinsky", "every": 2}}, "every"),
        ({"turbulence": {"model": "wale", "every": 0}}, "every"),
        ({"collision": {"model": "MRT", "viscosity": 0.01, "smagorinsky": 0.1}}, "turbulence"),
    ],
)
def test_a_wrong_model_of_a_case_is_refused_by_its_path(tmp_path: Path, changes, message):
    with pytest.raises(lbm.CaseError, match=message):
        build_solver(read_case(written(tmp_path, **changes)), tmp_path)


@pytest.mark.parametrize("wrong", ["wale", lbm.WALE, 0.5])
def test_a_plan_refuses_what_is_no_model_by_name(wrong: object) -> None:
    with pytest.raises(TypeError, match=r"^turbulence: .* given, must be a model"):
        lbm.plan((16, 16), "D2Q9", ["cpu"], turbulence=wrong)
