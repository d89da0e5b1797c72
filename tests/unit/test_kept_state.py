"""``state="auto"`` takes moments where everything in the setup goes with them, and says what does not."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import lbmgpu as lbm
from lbmgpu.engine.kept_state import steps_per_update
from lbmgpu.solver import run
from lbmgpu.solver.solver import simulation_of

SHAPE = (12, 8, 6)


def domain(stencil: str = "D3Q19", **faces: Any) -> lbm.Domain:
    made = lbm.Domain(SHAPE[: int(stencil[1])], stencil)
    for axis, condition in faces.items():
        made.faces["-" + axis] = made.faces["+" + axis] = condition
    return made


def with_body(**condition: Any) -> lbm.Domain:
    made = domain()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lbm.GeometryWarning)  # it is small
        made.add_body(lbm.Sphere((6, 4, 3), 1.9), "ball", lbm.NoSlip(**condition))
    return made


REGULARIZED = lbm.Regularized(0.02)
TAKES_MOMENTS: list[tuple[lbm.Domain, Any, dict[str, Any]]] = [
    *((domain(stencil), REGULARIZED, {}) for stencil in ("D2Q9", "D3Q19", "D3Q27")),
    (domain(), lbm.RecursiveRegularized(0.02, smagorinsky=0.1), {"precision": "float64"}),
    (domain(), REGULARIZED, {"turbulence": lbm.Smagorinsky(0.1), "force": (1e-6, 0, 0)}),
    (domain(), REGULARIZED, {"streaming": "two-lattice", "force": [0, 0, 1e-6]}),
    (domain(), REGULARIZED, {"streaming": "in-place"}),
    (domain(y=lbm.NoSlip(), z=lbm.MovingWall((0.01, 0, 0))), REGULARIZED, {}),
    (with_body(scheme="halfway"), REGULARIZED, {"force": np.array([1e-6, 0, 0])}),
    (with_body(), REGULARIZED, {}),
    (domain(), REGULARIZED, {"force": np.zeros((3, *SHAPE))}),
    (domain(), REGULARIZED, {"force": (1e-5, 0, 0) * lbm.Sine(period=9)}),
    (domain(y=lbm.MovingWall((1e-3, 0, 0) * lbm.Sine(period=9))), REGULARIZED, {}),
    (domain(), REGULARIZED, {"force": lambda x, y, z: (0 * x, 0 * y, 0 * z)}),
]
TAKES_POPULATIONS: list[tuple[lbm.Domain, Any, dict[str, Any], str]] = [
    (domain(), lbm.BGK(0.02), {}, "the collision BGK"),
    (lbm.Domain((16, 16), "D2Q37"), lbm.ThermalBGK(0.1), {}, "the collision ThermalBGK"),
    (domain(), lbm.RecursiveRegularized(0.02, hybrid=0.9), {}, "velocity gradients"),
    (domain(), REGULARIZED, {"turbulence": lbm.WALE()}, "velocity gradients"),
    (domain(), REGULARIZED, {"thermal": lbm.HybridThermal(0.1)}, "thermal"),
    (domain(), REGULARIZED, {"storage": "float16"}, "the storage 'float16'"),
    (domain(y=lbm.Outflow()), REGULARIZED, {}, "Outflow() on face '-y'"),
]


@pytest.mark.parametrize(("place", "collision", "options"), TAKES_MOMENTS)
def test_auto_takes_moments_where_all_goes_with_them(place, collision, options):
    solver = lbm.Solver(place, collision, state="auto", device="cpu", **options)
    assert (solver.state, solver.streaming) == ("moments", options.get("streaming", "two-lattice"))
    steps = steps_per_update("moments", place.stencil)
    assert f"moments a cell, {steps} steps for each read of memory" in solver.report().setup["state"]


@pytest.mark.parametrize(("place", "collision", "options", "reason"), TAKES_POPULATIONS)
def test_auto_takes_populations_where_something_does_not_go_with_moments(place, collision, options, reason):
    solver = lbm.Solver(place, collision, state="auto", device="cpu", **options)
    assert solver.state == "populations"
    words = solver.report().setup["state"]
    assert words.startswith("populations, as moments do not go with ")
    assert reason in words
    asked = lbm.Solver(place, collision, device="cpu", **options)
    assert asked.streaming == solver.streaming
    assert asked.report().setup["state"] == "populations"
    with pytest.raises(ValueError, match="state: 'moments' given with"):
        lbm.Solver(place, collision, state="moments", device="cpu", **options)


@pytest.mark.parametrize(
    ("stencil", "state", "expected"),
    [("D2Q9", "moments", [6, 6, 6, 2]), ("D3Q19", "moments", [2] * 10), ("D2Q9", "populations", [1] * 20)],
)
def test_runs_advance_whole_updates_however_slow_they_are(stencil, state, expected, monkeypatch):
    monkeypatch.setattr(run, "CHUNK_SECONDS", 0.0)
    shape = SHAPE[: lbm.stencil(stencil).D]
    solver = lbm.Solver(lbm.Domain(shape, stencil), REGULARIZED, state=state, device="cpu")
    assert [steps for steps, _, _ in run.RunLoop(simulation_of(solver)).advance(20)] == expected


def test_all_that_does_not_go_with_moments_is_named():
    place = domain()
    place.add_sponge("+x", 2)
    place.faces["-x"], place.faces["+x"] = lbm.VelocityInlet((0.04, 0.0, 0.0), scheme="regularized"), lbm.Outflow()
    faces = r"VelocityInlet\(scheme='regularized'\) on face '-x' and Outflow\(\) on face '\+x', must be Periodic"
    with pytest.raises(ValueError, match=faces):
        lbm.Solver(place, lbm.BGK(0.1), state="moments", device="cpu")
    with pytest.raises(ValueError, match=r"collision BGK, goes with .*; with sponges, must be without"):
        lbm.Solver(place, lbm.BGK(0.1), state="moments", device="cpu")
    solver = lbm.Solver(place, lbm.BGK(0.1), state="auto", device="cpu")
    words = solver.report().setup["state"]
    assert (
        "the collision BGK, VelocityInlet(scheme='regularized') on face '-x', Outflow() on face '+x', sponges" in words
    )


def test_auto_depends_on_neither_layout_nor_threads():
    for options in ({"layout": lbm.Layout.split(SHAPE, (3, 2, 1))}, {"threads": 2}, {"precision": "float64"}):
        assert lbm.Solver(domain(), REGULARIZED, state="auto", **options).state == "moments"


def test_the_default_is_populations():
    assert lbm.Solver(domain(), REGULARIZED, device="cpu").state == "populations"


@pytest.mark.parametrize(
    "force", [np.zeros((3, *SHAPE)), np.zeros((3, *SHAPE)).tolist(), (1e-5, 0, 0) * lbm.Sine(period=9), lambda *x: x]
)
def test_cells_that_keep_moments_take_any_force(force):
    solver = lbm.Solver(domain(), REGULARIZED, state="auto", device="cpu", force=(1e-6, 0, 0))
    if callable(force):
        with pytest.raises(ValueError, match="force"):  # too large
            solver.force = force
        np.testing.assert_array_equal(solver.force, (1e-6, 0, 0))
    else:
        solver.force = force
    solver.step(3)
    solver.force = (0, 1e-6, 0)
    solver.force = None
    solver.step(3)
    assert solver.state == "moments"
    assert solver.force is None


@pytest.mark.parametrize("force", [[[1, 2], [3]], "up", np.array(3.0)])
def test_what_is_no_force_is_refused_as_ever(force):
    found = []
    for state in ("populations", "auto"):
        with pytest.raises((TypeError, ValueError)) as caught:
            lbm.Solver(domain(), REGULARIZED, state=state, device="cpu", force=force)
        found.append(str(caught.value))
    assert found[0] == found[1]


def test_words_that_are_no_state():
    for given in ("cells", 3, None):
        with pytest.raises((TypeError, ValueError), match=r"state: .* given, must be one of"):
            lbm.Solver(domain(), REGULARIZED, state=given, device="cpu")
