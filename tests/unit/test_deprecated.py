"""Old spellings of the public API work, warn with the new one, and give the same."""

from __future__ import annotations

import dataclasses
import json
import pickle
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lbmgpu as lbm
from lbmgpu.case.read import parse_case

from .support import cube


def made() -> lbm.Solver:
    domain = lbm.Domain((8, 6), "D2Q9")
    domain.add_body(cube((8, 6)), "cube")
    return lbm.Solver(domain, lbm.BGK(0.1), device="cpu")


@pytest.mark.parametrize(
    ("old", "new", "name"),
    [
        (lambda: lbm.Diverged, lambda: lbm.DivergedError, "DivergedError"),
        (lambda: lbm.ThermallyUnstable, lambda: lbm.ThermallyUnstableError, "ThermallyUnstableError"),
        (lambda: lbm.DivergedError(1, (0, 0), None, None, 0.7).warmth, lambda: 0.7, "stable_temperature"),
        (lambda: lbm.Every(steps=5, function=print), lambda: lbm.Every(every=5, function=print), "every="),
        (lambda: lbm.DivergedError(1, (0, 0), warmth=0.7).stable_temperature, lambda: 0.7, "stable_temperature="),
        (lambda: dataclasses.replace(lbm.Every(5, print), steps=3), lambda: lbm.Every(3, print), "every="),
        (lambda: lbm.Every(5, print).steps, lambda: lbm.Every(5, print).every, "every"),
        (lambda: lbm.Checkpoint("state.h5", 5).steps, lambda: 5, "every"),
        (lambda: made().window, lambda: made().subdomain, "subdomain"),
        (lambda: made().report(False).share, lambda: None, "bandwidth_fraction"),
        (lambda: made().report(False).update_bandwidth, lambda: None, "memory_bandwidth"),
        (lambda: made().report(False).hidden_share, lambda: None, "hidden_fraction"),
        (
            lambda: lbm.HybridThermal(0.05, operators="printed"),
            lambda: lbm.HybridThermal(0.05, operators="obrecht2013"),
            "operators='obrecht2013'",
        ),
        (
            lambda: lbm.diffusivity_limit("printed", 3),
            lambda: lbm.diffusivity_limit("obrecht2013", 3),
            "operators='obrecht2013'",
        ),
    ],
)
def test_an_old_spelling_warns_with_the_new_one(old: Callable[[], Any], new: Callable[[], Any], name: str) -> None:
    with pytest.warns(
        DeprecationWarning, match=f"is now {name}; the old spelling works for one more version"
    ) as caught:
        given = old()
    assert given == new()
    assert {Path(warning.filename) for warning in caught} == {Path(__file__)}  # where Python shows it by default


def test_both_names_of_an_argument_are_refused() -> None:
    with pytest.warns(DeprecationWarning, match="every="), pytest.raises(TypeError, match="steps: given beside every"):
        lbm.Every(steps=5, every=5, function=print)


@pytest.mark.parametrize("owner", [lambda: made().domain, made], ids=["domain", "solver"])
def test_solid_may_be_called_as_it_was(owner: Callable[[], Any]) -> None:
    solid = owner().solid
    np.testing.assert_array_equal(solid, cube((8, 6)))
    with pytest.warns(DeprecationWarning, match="the property solid"):
        called = owner().solid()
    np.testing.assert_array_equal(called, solid)
    for plain in (
        called,
        ~solid,
        solid | solid,
        np.asarray(solid),
        solid[2:4],
        solid[solid],
        pickle.loads(pickle.dumps(solid)),
    ):
        assert type(plain) is np.ndarray
    assert repr(solid) == repr(called)
    with pytest.raises(TypeError, match="not callable"):
        solid.T()
    target = np.zeros((8, 6), bool)
    target[solid] = True
    solid |= ~solid
    assert solid.all()
    assert target.sum() == cube((8, 6)).sum()


def test_a_case_with_old_keys_is_read() -> None:
    case = {
        "domain": {"shape": [8, 6], "stencil": "D2Q9"},
        "collision": {"model": "BGK", "viscosity": 0.1},
        "thermal": {"diffusivity": 0.05, "operators": "printed"},
        "run": {"steps": 10, "log_every": 5},
    }
    with pytest.warns(DeprecationWarning, match="is now") as caught:
        read = parse_case(json.dumps(case))
    assert read["run"] == {"steps": 10, "log": {"every": 5}}
    assert read["thermal"]["operators"] == "obrecht2013"
    words = sorted(str(warning.message).partition(";")[0] for warning in caught)
    assert words == [
        "'log_every' of a case's 'run' is now 'log': {'every': ...}",
        "operators='printed' is now operators='obrecht2013'",
    ]


def test_the_package_itself_uses_no_old_spelling(tmp_path: Path) -> None:
    solver = made()
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)
        solver.run(4, callbacks=[lbm.Every(2, lambda s: s.mass()), lbm.Checkpoint(tmp_path / "state.h5", 2)])
        solver.write_vtk(tmp_path / "fields.vti")
        lbm.plot.speed_picture(solver, tmp_path / "speed.png")
        lbm.Solver.load(tmp_path / "state.h5", device="cpu")
