"""Where the temperature of a body has its wall: defaults, refusals, functions of time, cases and checkpoints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lbmgpu as lbm
from lbmgpu.case.read import check_case

BALL = lbm.Sphere((10.2, 9.9), 4.1)


def domain(thermal: Any = None, flow: Any = None) -> lbm.Domain:
    made = lbm.Domain((20, 20), "D2Q9")
    for face in made.faces:
        made.faces[face] = lbm.NoSlip()
    made.thermal["-x"] = lbm.Isothermal(0.5)
    made.add_body(BALL, "ball", flow, thermal)
    return made


def solver(given: lbm.Domain, **more: Any) -> lbm.Solver:
    model = lbm.HybridThermal(0.06, buoyancy=(0, 1e-3), reference=0.25)
    return lbm.Solver(given, lbm.TRT(0.05), thermal=model, precision="float64", **more)


@pytest.mark.parametrize("thermal", [lbm.Adiabatic, lambda **more: lbm.Isothermal(1.0, **more)])
def test_the_temperature_is_where_the_flow_has_its_wall(thermal: Any) -> None:
    for flow, expected in ((None, "interpolated"), ("bouzidi", "interpolated"), ("halfway", "halfway")):
        assert domain(thermal(), lbm.NoSlip(scheme=flow)).bodies["ball"].thermal_scheme == expected
    assert domain(thermal(scheme="halfway")).bodies["ball"].thermal_scheme == "halfway"
    mask = lbm.Domain((20, 20), "D2Q9")
    mask.add_body(BALL.solid((0, 0), (20, 20)), "ball", thermal=thermal())
    assert mask.bodies["ball"].thermal_scheme == "halfway"


def test_schemes_that_do_not_suit_are_refused() -> None:
    with pytest.raises(ValueError, match="scheme: 'linear' given"):
        lbm.Isothermal(1.0, scheme="linear")
    with pytest.raises(ValueError, match=r"scheme of the temperature of body 'ball': .* where the wall of its flow is"):
        domain(lbm.Isothermal(1.0, scheme="interpolated"), lbm.NoSlip(scheme="halfway"))
    mask = lbm.Domain((20, 20), "D2Q9")
    with pytest.raises(ValueError, match="a mask does not tell where links are cut"):
        mask.add_body(BALL.solid((0, 0), (20, 20)), "ball", thermal=lbm.Adiabatic(scheme="interpolated"))
    with pytest.raises(ValueError, match="must be 'halfway': only of bodies"):
        mask.thermal["-x"] = lbm.Isothermal(1.0, scheme="interpolated")


def test_conditions_show_a_scheme_that_is_named() -> None:
    assert repr(lbm.Adiabatic()) == "Adiabatic()"
    assert repr(lbm.Adiabatic(scheme="halfway")) == "Adiabatic(scheme='halfway')"
    assert lbm.Isothermal(1.0) != lbm.Isothermal(1.0, scheme="halfway")


def test_functions_give_the_temperature_where_links_are_cut() -> None:
    """By a factor of time, and as a function that is called in each step."""

    def around(x: Any, y: Any) -> Any:
        return 0.3 + np.arctan2(y - 9.9, x - 10.2) / 10

    def pulsing(x: Any, y: Any, t: float) -> Any:
        return around(x, y) * np.sin(2 * np.pi * t / 40)

    by_factor = solver(domain(lbm.Isothermal(around * lbm.Sine(period=40))))
    called = solver(domain(lbm.Isothermal(pulsing)))
    alone = solver(domain(lbm.Isothermal(pulsing)))
    by_factor.step(30)
    called.step(30)
    for _ in range(30):
        alone.step()
    np.testing.assert_array_equal(alone.temperature(), called.temperature())
    np.testing.assert_allclose(by_factor.temperature(), called.temperature(), rtol=0, atol=1e-14)
    heats = [each.heat_flux("ball").flux.sum() for each in (by_factor, called)]
    assert heats[0] == pytest.approx(heats[1], abs=1e-14)
    at_centres = solver(domain(lbm.Isothermal(pulsing, scheme="halfway")))
    at_centres.step(30)
    assert np.abs(at_centres.temperature() - called.temperature()).max() > 1e-3


@pytest.mark.parametrize("scheme", [None, "halfway"])
@pytest.mark.parametrize("kind", ["isothermal", "adiabatic"])
def test_checkpoints_keep_the_scheme(kind: str, scheme: str | None, tmp_path: Path) -> None:
    thermal = lbm.Adiabatic(scheme=scheme) if kind == "adiabatic" else lbm.Isothermal(1.0, scheme=scheme)
    first = solver(domain(thermal))
    first.step(15)
    again = lbm.Solver.load(first.save(tmp_path / "state.h5"))
    assert again.domain.bodies["ball"].thermal_scheme == (scheme or "interpolated")
    first.step(15)
    again.step(15)
    np.testing.assert_array_equal(again.temperature(), first.temperature())
    assert again.heat_flux("ball").flux.sum() == first.heat_flux("ball").flux.sum()


def test_a_checkpoint_cannot_keep_a_function_on_a_surface(tmp_path: Path) -> None:
    given = domain(lbm.Isothermal(lambda x, y: x / 20))
    path = solver(given).save(tmp_path / "state.h5")
    with pytest.raises(lbm.CheckpointError, match=r"give the domain again"):
        lbm.Solver.load(path)
    assert lbm.Solver.load(path, domain=given).domain.bodies["ball"].thermal_scheme == "interpolated"


def case(thermal: dict[str, Any]) -> dict[str, Any]:
    body = {"shape": "sphere", "center": [10.2, 9.9], "radius": 4.1, "thermal": thermal}
    return {
        "domain": {"stencil": "D2Q9", "shape": [20, 20]},
        "collision": {"model": "TRT", "viscosity": 0.05},
        "thermal": {"diffusivity": 0.05},
        "bodies": [body],
        "run": {"steps": 1},
    }


def test_cases_name_schemes() -> None:
    for thermal in ({"condition": "adiabatic"}, {"condition": "isothermal", "temperature": 1}):
        for scheme in ("halfway", "interpolated"):
            check_case(case(thermal | {"scheme": scheme}))
        with pytest.raises(lbm.CaseError, match="scheme"):
            check_case(case(thermal | {"scheme": "bouzidi"}))
