"""Linear stability of collisions, what `advise` says of a flow, and the warning before an unstable run."""

from __future__ import annotations

import contextlib
import math
import warnings

import numpy as np
import pytest

import lbmgpu as lbm
from lbmgpu.advice import flow as advice
from lbmgpu.engine.linear_stability import growth, jacobian


@pytest.mark.parametrize("stencil", ["D2Q9", "D3Q19", "D3Q27"])
@pytest.mark.parametrize("collision", [lbm.BGK, lbm.CentralMoments, lbm.RecursiveRegularized])
def test_a_jacobian_conserves_and_damps(stencil: str, collision: type[lbm.BGK]) -> None:
    """Columns sum to 1 and keep momentum; a long shear wave decays by the viscosity."""
    viscosity, known = 0.02, lbm.stencil(stencil)
    found = jacobian(collision(viscosity), stencil, (0.0,) * known.D)
    np.testing.assert_allclose(found.sum(axis=0), 1, atol=1e-9)
    np.testing.assert_allclose(known.c.T @ found, known.c.T, atol=1e-9)
    wave = 0.05
    values, vectors = np.linalg.eig(found * np.exp(-1j * wave * known.c[:, 0])[None, :])
    shear = np.abs(known.c[:, 1] @ vectors) * (np.abs(known.c[:, 0] @ vectors) < 1e-6) * (np.abs(values) > 0.9)
    assert -math.log(abs(values[int(shear.argmax())])) == pytest.approx(viscosity * wave**2, rel=2e-3)


def test_the_jacobian_of_bgk_is_its_own() -> None:
    """f - (f - f_eq) / tau, differentiated on paper: f_eq of second order, of the density and the momentum."""
    known, viscosity, u = lbm.stencil("D2Q9"), 0.03, np.array([0.08, 0.03])
    tau, cs2 = 0.5 + viscosity / known.cs2, known.cs2
    c, w = known.c.astype(float), np.asarray(known.w)
    along = c @ u
    of_density = w * (1 - along**2 / (2 * cs2**2) + u @ u / (2 * cs2))  # with the momentum kept
    of_momentum = w[:, None] * (c / cs2 + along[:, None] * c / cs2**2 - u / cs2)
    expected = (1 - 1 / tau) * np.eye(9) + (of_density[:, None] + of_momentum @ c.T) / tau
    np.testing.assert_allclose(jacobian(lbm.BGK(viscosity), "D2Q9", u), expected, atol=1e-8)


@pytest.mark.parametrize(
    ("collision", "stencil", "speed", "stable"),
    [
        (lbm.BGK(0.001), "D2Q9", 0.1, True),
        (lbm.BGK(0.001), "D2Q9", 0.17, False),
        (lbm.TRT(0.001), "D2Q9", 0.1, False),
        (lbm.TRT(0.004), "D2Q9", 0.1, True),
        (lbm.Regularized(0.001), "D2Q9", 0.1, False),
        (lbm.RecursiveRegularized(1e-4), "D2Q9", 0.17, True),
        (lbm.CentralMoments(1e-4), "D2Q9", 0.17, True),
        (lbm.MRT(0.001), "D3Q19", 0.05, False),
        (lbm.RecursiveRegularized(0.001), "D3Q19", 0.1, True),
        (lbm.CentralMoments(1e-4), "D3Q27", 0.1, True),
        (lbm.Cumulant(1e-4), "D3Q27", 0.17, True),
    ],
)
def test_collisions_are_stable_where_they_are_said_to_be(
    collision: lbm.BGK, stencil: str, speed: float, stable: bool
) -> None:
    rate = growth(collision, stencil, (speed, *(0.0,) * (lbm.stencil(stencil).D - 1)))
    assert (rate < 1e-9) if stable else (rate > 1e-4)


def test_advice_has_the_numbers_of_the_flow() -> None:
    found = lbm.advise(reynolds=100, cells=40, speed=0.05, stencil="D2Q9")
    assert (found.collision, found.stencil, found.viscosity) == ("CentralMoments", "D2Q9", pytest.approx(0.02))
    assert found.relaxation_time == pytest.approx(0.56)
    assert found.mach == pytest.approx(0.05 * math.sqrt(3))
    assert found.steps == pytest.approx(800)
    assert found.wall_units == pytest.approx(0.5 * 0.05 * math.sqrt(0.664 / 10 / 2) / 0.02)
    assert found.growth < 1e-9
    assert found.risks == ()
    assert "relaxation time       0.56 steps" in str(found)


def test_advice_names_what_is_at_risk() -> None:
    found = lbm.advise(reynolds=20_000, cells=100, speed=0.15, stencil="D2Q9", collision=lbm.TRT)
    assert "linearly unstable in the bulk" in found.risks[0]
    assert any("compressibility" in risk for risk in found.risks)
    assert any("sublayer" in risk for risk in lbm.advise(reynolds=1e6, cells=200, stencil="D2Q9").risks)
    assert any("above 2" in risk for risk in lbm.advise(reynolds=1, cells=20, speed=0.05, stencil="D2Q9").risks) == (
        0.5 + 3 * 0.05 * 20 > 2
    )
    slow = lbm.advise(reynolds=30_000, cells=128, speed=0.04, stencil="D2Q9", least_odd_rate=0)
    assert any("structures of a few cells diverge" in risk and "leave least_odd_rate" in risk for risk in slow.risks)
    free = lbm.advise(reynolds=30_000, cells=128, speed=0.04, stencil="D2Q9")
    assert not any("structures of a few cells" in risk for risk in free.risks)
    quarter = lbm.advise(reynolds=1000, cells=20, speed=0.05, stencil="D2Q9", collision="TRT", magic=1 / 4)
    assert quarter.measured_limit is None


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"reynolds": 0, "cells": 10}, "reynolds: 0 given"),
        ({"reynolds": 10, "cells": 0.5}, "cells: 0.5 given"),
        ({"reynolds": 10, "cells": 10, "collision": "LBGK"}, "collision: 'LBGK' given"),
        ({"reynolds": 10, "cells": 10, "stencil": "D2Q9", "collision": "Cumulant"}, "Cumulant given with D2Q9"),
        ({"reynolds": 10, "cells": 10, "stencil": "D2Q37", "collision": "ThermalBGK"}, "one of a fluid at one temp"),
        ({"reynolds": 10, "cells": 10, "speed": 0.4}, "speed: a speed of 0.4 given"),
    ],
)
def test_wrong_questions_are_named(given: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        lbm.advise(**given)  # type: ignore[arg-type]


def test_a_run_that_is_linearly_unstable_is_warned_of() -> None:
    domain = lbm.Domain((16, 16), "D2Q9")
    solver = lbm.Solver(domain, lbm.TRT(0.001), device="cpu", threads=1)
    solver.initialize(velocity=(0.1, 0.0))
    with (
        contextlib.suppress(lbm.DivergedError),
        pytest.warns(lbm.LinearlyUnstableWarning, match=r"TRT with a relaxation time of 0.503 .* speed 0.1 grow"),
    ):
        solver.run(50_000)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        solver.initialize(velocity=(0.1, 0.0))
        solver.run(10)  # too short a run for it to grow
        calm = lbm.Solver(domain, lbm.RecursiveRegularized(0.001), device="cpu", threads=1)
        calm.initialize(velocity=(0.1, 0.0))
        calm.run(50_000)


def test_limits_are_those_of_the_nearest_speed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(advice, "_limits", lambda kind: {"D2Q9": {"TRT": {"0.05": 0.004, "0.1": 0.008}}})
    assert advice.measured_limit("TRT", "D2Q9", 0.06) == 0.004
    assert advice.measured_limit("TRT", "D2Q9", 0.2) == 0.008
    assert advice.measured_limit("MRT", "D2Q9", 0.2) is None
    found = lbm.advise(reynolds=1000, cells=100, speed=0.05, stencil="D2Q9", collision="TRT")
    assert found.viscosity == pytest.approx(0.005)
    assert not found.risks
    lower = lbm.advise(reynolds=1500, cells=100, speed=0.05, stencil="D2Q9", collision="TRT")
    assert "known to diverge" in lower.risks[0]
    assert "sponges" not in lower.risks[0]


def test_advice_names_the_faces_that_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    least = {"limits": 0.004, "between_sponges": 1e-4}
    monkeypatch.setattr(advice, "_limits", lambda kind: {"D2Q9": {"TRT": {"0.05": least[kind]}}})
    found = lbm.advise(reynolds=1500, cells=100, speed=0.05, stencil="D2Q9", collision="TRT")
    assert (found.measured_limit, found.sponge_limit) == (0.004, 1e-4)
    assert "a regularized inlet and an outflow with sponges, more cells" in found.risks[0]
    assert "between a regularized inlet and an outflow: 0.0001" in str(found)


def test_compressibility_is_a_risk_of_flows_that_change_in_time_alone() -> None:
    given = {"reynolds": 100, "cells": 20, "speed": 0.15, "stencil": "D2Q9", "collision": "TRT"}
    (either,) = [risk for risk in lbm.advise(**given).risks if "compressibility" in risk]
    (one,) = [risk for risk in lbm.advise(**given, incompressible=True).risks if "compressibility" in risk]
    assert one == either + " where the flow changes in time"
