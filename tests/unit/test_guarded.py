"""Tests that unknown attributes and changes of a solver's domain are refused, and that values are copied and pickled.

Also tests warnings of arguments that are doubtful.
"""

from __future__ import annotations

import copy
import os
import pickle
import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import lbmgpu as lbm
from lbmgpu.engine import argument_warnings

from .support import cavity, cube


def domain_with_all() -> lbm.Domain:
    """Conditions and a body with values of every kind."""
    domain = cavity((8, 6), "D2Q9")
    domain.faces["-x"] = lbm.VelocityInlet(np.full((2, 6), 0.01))
    domain.thermal["+x"] = lbm.Isothermal(2.5)
    domain.add_body(cube((8, 6)), "cube", lbm.MovingWall((0.01, 0)), lbm.Isothermal(0.5))
    return domain


def solver_of(domain: lbm.Domain, collision: Any = None, **options: Any) -> lbm.Solver:
    return lbm.Solver(domain, collision or lbm.BGK(0.1), device="cpu", threads=1, **options)


@pytest.mark.parametrize(
    ("thing", "name", "meant"),
    [
        (lambda: solver_of(cavity((8, 6), "D2Q9")), "forces", "force"),
        (lambda: solver_of(cavity((8, 6), "D2Q9")), "heatsource", "heat_source"),
        (lambda: lbm.Domain((4, 4), "D2Q9"), "face", "faces"),
        (lambda: lbm.Domain((4, 4), "D2Q9"), "body", "add_body"),
        (lambda: lbm.Units(length_phys=1, time_phys=1), "cel_phys", "cell_phys"),
        (lambda: lbm.Layout.split((4, 4), (2, 1)), "savee", "save"),
    ],
)
def test_unknown_attributes_are_refused(thing: Callable[[], Any], name: str, meant: str) -> None:
    with pytest.raises(AttributeError, match=f"no attribute '{name}' to assign; did you mean '{meant}'"):
        setattr(thing(), name, 1)


@pytest.mark.parametrize("thing", [lbm.NoSlip(), lbm.BGK(0.1), lbm.Every(1, print), lbm.Steady(0.1)])
def test_values_take_no_attributes(thing: Any) -> None:
    for name in ("velocty", "every", "steps"):
        with pytest.raises(AttributeError):
            setattr(thing, name, 1)


def test_what_is_there_is_not_shadowed() -> None:
    solver = solver_of(cavity((8, 6), "D2Q9"))
    for name in ("steps", "step", "precision", "domain"):
        with pytest.raises(AttributeError, match=rf"Solver\.{name}: cannot be assigned"):
            setattr(solver, name, 1)
    with pytest.raises(AttributeError, match=r"Domain\.faces: .*domain\.faces\['-x'\] = NoSlip\(\)"):
        cavity((8, 6), "D2Q9").faces = {}
    with pytest.raises(TypeError, match=r"bodies\['a'\]: .*add_body"):
        cavity((8, 6), "D2Q9").bodies["a"] = cube((8, 6))  # type: ignore[index]


def test_the_domain_of_a_solver_refuses_changes() -> None:
    solver = solver_of(domain_with_all(), thermal=lbm.HybridThermal(0.1))
    attempts: list[Callable[[], Any]] = [
        lambda: solver.domain.faces.update({"-x": lbm.NoSlip()}),
        lambda: solver.domain.thermal.__setitem__("+x", lbm.Adiabatic()),
        lambda: solver.domain.add_body(cube((8, 6), 5, 6)),
        lambda: solver.domain.bodies.__delitem__("cube"),
    ]
    for attempt in attempts:
        with pytest.raises(TypeError, match=r"changed in the domain of a solver.*make a new Solver with it"):
            attempt()
    assert list(solver.domain.bodies) == ["cube"]


@pytest.mark.parametrize(
    "copied",
    [lbm.Domain.copy, copy.copy, copy.deepcopy, lambda domain: pickle.loads(pickle.dumps(domain))],
    ids=["Domain.copy", "copy", "deepcopy", "pickle"],
)
def test_copies_of_a_domain_are_equal_and_can_be_changed(copied: Callable[[lbm.Domain], lbm.Domain]) -> None:
    domain = domain_with_all()
    for given in (domain, solver_of(domain, thermal=lbm.HybridThermal(0.1)).domain):
        other = copied(given)
        assert (other.shape, other.stencil) == (domain.shape, domain.stencil)
        assert (dict(other.faces), dict(other.thermal)) == (dict(domain.faces), dict(domain.thermal))
        body = other.bodies["cube"]
        assert (body.mask == domain.bodies["cube"].mask).all()
        assert (body.condition, body.thermal) == (lbm.MovingWall((0.01, 0)), lbm.Isothermal(0.5))
        assert not body.mask.flags.writeable
        assert not other.faces["-x"].velocity.flags.writeable  # type: ignore[attr-defined]
        other.faces["-x"] = lbm.NoSlip()
        del other.bodies["cube"]
        assert "cube" in given.bodies
        assert given.faces["-x"] != lbm.NoSlip()


def test_a_domain_with_a_function_is_deep_copied() -> None:
    domain = lbm.Domain((4, 4), "D2Q9")
    domain.faces["-x"] = lbm.VelocityInlet(lambda x, y: (0.01, 0))
    assert copy.deepcopy(domain).faces["-x"] == domain.faces["-x"]


@pytest.mark.parametrize(
    "value",
    [
        lbm.MovingWall((0.1, 0)),
        lbm.MRT(0.1, {"e": 1.1}),
        lbm.TRT(0.1, 0.2, smagorinsky=0.1),
        lbm.ThermalBGK(0.1, 0.7),
        lbm.HybridThermal(0.1, buoyancy=(0, 1e-4), source=np.ones((8, 6))),
        lbm.Layout.split((4, 4), (2, 1)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_values_go_through_pickle_and_copy(value: Any) -> None:
    for other in (pickle.loads(pickle.dumps(value)), copy.deepcopy(value), copy.copy(value)):
        assert other == value
        assert type(other) is type(value)
    if isinstance(value, lbm.HybridThermal):
        assert not copy.deepcopy(value).source.flags.writeable


def test_units_and_faces_go_through_pickle_and_copy() -> None:
    units, faces = lbm.Units(length_phys=1e-3, time_phys=1e-4), domain_with_all().faces
    for copied in (copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))):
        assert copied(units).velocity(1.0) == units.velocity(1.0)
        assert dict(copied(faces)) == dict(faces)


def test_a_solver_says_that_it_is_not_pickled() -> None:
    for copied in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="save and load"):
            copied(solver_of(lbm.Domain((4, 4), "D2Q9")))


@pytest.mark.parametrize(
    ("stencil", "collision", "thermal"),
    [
        ("D2Q9", lbm.BGK(0.1), None),
        ("D2Q9", lbm.BGK(0.1, smagorinsky=0), lbm.HybridThermal(0.1)),
        ("D2Q9", lbm.TRT(0.1, 0.25, smagorinsky=0.1), lbm.HybridThermal(0.1, buoyancy=(0, 1e-4, 0), source=1e-5)),
        ("D2Q9", lbm.MRT(0.1), lbm.HybridThermal(0.1, reference=0.25, operators="obrecht2013", buoyancy=(0, 0))),
        ("D2Q9", lbm.MRT(0.1, {"e": 1.25}), None),
        ("D2Q9", lbm.MRT(0.1, dict.fromkeys(["e"], lbm.stencil("D2Q9").default_rates["e"])), None),
        ("D3Q19", lbm.MRT(0.1, {"e": 1.25}, smagorinsky=0.1), None),
        ("D3Q27", lbm.Regularized(0.1, smagorinsky=0.1), None),
        ("D2Q37", lbm.ThermalBGK(0.1, 0.7, (0, 1e-5)), None),
        ("D2Q37", lbm.ThermalBGK(0.1), None),
    ],
)
def test_what_is_loaded_equals_what_was_saved(
    tmp_path: Any, stencil: str, collision: Any, thermal: lbm.HybridThermal | None
) -> None:
    solver = solver_of(lbm.Domain((5, 4, 4)[: int(stencil[1])], stencil), collision, thermal=thermal)
    loaded = lbm.Solver.load(solver.save(tmp_path / "state.h5"), device="cpu", threads=1)
    assert loaded.collision == solver.collision
    assert loaded.thermal == solver.thermal
    assert hash(loaded.collision) == hash(solver.collision)


def test_a_body_over_a_whole_inlet_warns() -> None:
    domain = cavity((8, 6), "D2Q9")
    domain.faces["-x"] = lbm.VelocityInlet((0.01, 0))
    for low, high in ((0, 3), (3, 6)):  # two bodies that cover it together
        mask = np.zeros((8, 6), bool)
        mask[0, low:high] = True
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            solver_of(domain)
        domain.add_body(mask)
    with pytest.warns(lbm.CoveredFaceWarning, match=r"faces\['-x'\]: VelocityInlet given, but bodies cover") as caught:
        solver_of(domain)
    assert caught[0].filename == __file__


def test_more_threads_than_cores_warn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 1})
    with pytest.warns(lbm.TooManyThreadsWarning, match="threads: 3 given, but this process may use 2 cores"):
        lbm.Solver(lbm.Domain((4, 4), "D2Q9"), lbm.BGK(0.1), device="cpu", threads=3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lbm.Solver(lbm.Domain((4, 4), "D2Q9"), lbm.BGK(0.1), device="cpu", threads=2)


@pytest.mark.parametrize(("precision", "storage"), argument_warnings.FLOOR)
def test_a_tolerance_below_rounding_warns(precision: str, storage: str) -> None:
    """And the change of a steady cavity does stay above it, but for small ones in a narrow storage."""
    least = argument_warnings.smallest_change(precision, storage)
    solver = lbm.Solver(
        cavity((8, 8), "D2Q9"), lbm.BGK(0.1), precision=precision, storage=storage, device="cpu", threads=1
    )
    with pytest.warns(lbm.UnreachableToleranceWarning, match=re.escape(f"stored as {storage}")) as caught:
        result = solver.run(6000, until=lbm.Steady(0.99 * least, every=500))
    assert not result.converged or storage != precision
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert solver.run(1000, until=lbm.Steady(20 * least, every=100)).converged
