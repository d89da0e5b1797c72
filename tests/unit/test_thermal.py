"""Tests `HybridThermal`, thermal boundary conditions, and setups by dimensionless numbers.

Of the model its arguments and the limits of its stability are tested.
"""

from __future__ import annotations

import itertools
import math
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

import lbmgpu as lbm

from .support import not_finite, not_numbers, not_positive

# The largest speed at which no wave was seen to grow, the worst of four directions in three dimensions on a grid of
# wave vectors, which therefore may be a little above the limit.
DIFFUSIVITIES = [0.001, 0.005, 0.01, 0.03, 0.05, 0.0704, 0.08, 0.083]
FASTEST = {
    "obrecht2013": [0.0379, 0.0842, 0.118, 0.1971, 0.2411, 0.2623, 0.2567, 0.2439],
    "isotropic": [0.0449, 0.1005, 0.1421, 0.2461, 0.3176, 0.3768, 0.4016, 0.4091],
}
# Weights of Laplacian and gradient on axes and diagonals, as the operators are defined.
WEIGHTS = {
    ("isotropic", 3): (1 / 3, 1 / 6, 1 / 6, 1 / 12),
    ("isotropic", 2): (2 / 3, 1 / 6, 1 / 3, 1 / 12),
    ("obrecht2013", 3): (2.0, -1 / 4, 1.0, -1 / 8),
    ("obrecht2013", 2): (3 / 2, -1 / 4, 3 / 4, -1 / 8),
}


def symbols(operators: str, dimensions: int, waves: int) -> tuple[np.ndarray, np.ndarray]:
    """Of Laplacian and gradient ``(D, ...)``, for all wave vectors of a grid."""
    k = np.meshgrid(*[np.linspace(0, math.pi, waves)] * dimensions, indexing="ij")
    axis, diagonal, axis_slope, diagonal_slope = WEIGHTS[operators, dimensions]
    laplacian, gradient = np.zeros_like(k[0]), np.zeros((dimensions, *k[0].shape))
    for c in itertools.product((-1, 0, 1), repeat=dimensions):
        distance = sum(map(abs, c))
        if distance not in (1, 2):
            continue
        phase = sum(a * b for a, b in zip(c, k, strict=True))
        laplacian += (axis if distance == 1 else diagonal) * (np.cos(phase) - 1)
        for d in range(dimensions):
            gradient[d] += (axis_slope if distance == 1 else diagonal_slope) * c[d] * np.sin(phase)
    return laplacian, gradient


@pytest.mark.parametrize("operators", FASTEST)
def test_speed_limit_is_that_of_the_table(operators: str) -> None:
    for diffusivity, fastest in zip(DIFFUSIVITIES, FASTEST[operators], strict=True):
        limit = lbm.speed_limit(diffusivity, operators, 3)
        assert 0.995 * fastest <= limit <= fastest + 5e-5


@pytest.mark.parametrize(("operators", "dimensions"), WEIGHTS)
@pytest.mark.parametrize("part", [0.01, 0.3, 0.8, 0.999])
def test_no_wave_grows_below_the_limit_and_some_does_above(operators: str, dimensions: int, part: float) -> None:
    """By all wave vectors of a grid, for a velocity along each wave's gradient, which is its worst direction."""
    kappa = part * lbm.diffusivity_limit(operators, dimensions)
    limit = lbm.speed_limit(kappa, operators, dimensions)
    laplacian, gradient = symbols(operators, dimensions, 41 if dimensions == 3 else 513)
    slope = np.sqrt((gradient**2).sum(axis=0))
    assert ((1 + kappa * laplacian) ** 2 + (0.999 * limit * slope) ** 2).max() <= 1 + 1e-12
    assert ((1 + kappa * laplacian) ** 2 + (1.01 * limit * slope) ** 2).max() > 1 + 1e-9


@pytest.mark.parametrize(("operators", "dimensions"), WEIGHTS)
def test_diffusivity_limit(operators: str, dimensions: int) -> None:
    laplacian, _ = symbols(operators, dimensions, 33)
    limit = lbm.diffusivity_limit(operators, dimensions)
    assert limit == pytest.approx(2 / -laplacian.min(), rel=1e-12)
    assert lbm.speed_limit(limit, operators, dimensions) > 0
    assert lbm.speed_limit(limit * 1.0001, operators, dimensions) == 0


@pytest.mark.parametrize("dimensions", [1, 4, 2.0, None])
def test_wrong_dimensions(dimensions: Any) -> None:
    for function in (lbm.diffusivity_limit, lambda *kind: lbm.speed_limit(0.01, *kind)):
        with pytest.raises((TypeError, ValueError), match=r"dimensions: .* given, must be an integer from 2 to 3"):
            function("isotropic", dimensions)
        with pytest.raises(ValueError, match=r"operators: 'isotropc' given, .*did you mean 'isotropic'"):
            function("isotropc", 3)


@given(value=st.one_of(not_numbers, not_finite, not_positive))
def test_diffusivity_that_is_none(value: Any) -> None:
    with pytest.raises((TypeError, ValueError), match=r"diffusivity: .* given, must be a finite number above 0"):
        lbm.HybridThermal(value)
    with pytest.raises((TypeError, ValueError), match="diffusivity"):
        lbm.speed_limit(value)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"buoyancy": 1e-3}, "buoyancy: 0.001 given, must be a vector of 2 or 3 components"),
        ({"buoyancy": (1, 2, 3, 4)}, "must be a vector of 2 or 3 components"),
        ({"buoyancy": (0, math.inf)}, "buoyancy: inf given at index"),
        ({"buoyancy": (0, 2.0)}, "at most 1 in magnitude"),
        ({"reference": "warm"}, "reference: 'warm' given, must be a finite number"),
        ({"operators": "central"}, "operators: 'central' given, must be one of 'isotropic', 'obrecht2013'"),
        ({"energy_coupling": math.nan}, "energy_coupling: nan given"),
        ({"source": -2e6}, r"source: -2e\+06 given, must be at most 1e\+06 in magnitude"),
        ({"source": [[0, 1e7]]}, r"source: 1e\+07 given"),
        ({"source": "hot"}, "source: 'hot' given, must be real numbers"),
        ({"source": lambda x, y, t: 0}, "source: takes t, but a heat source does not change by itself"),
    ],
)
def test_wrong_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        lbm.HybridThermal(0.05, **arguments)


def test_models_are_values() -> None:
    model = lbm.HybridThermal(0.05, buoyancy=[0, 1e-4], source=np.ones((3, 4)))
    same = lbm.HybridThermal(0.05, buoyancy=(0.0, 1e-4), source=np.ones((3, 4)))
    assert model == same
    assert hash(model) == hash(same)
    assert pickle.loads(pickle.dumps(model)) == model
    others = [{"source": np.zeros((3, 4))}, {"buoyancy": (0, 2e-4)}, {"reference": 1.0}, {"operators": "obrecht2013"}]
    for other in others:
        assert lbm.HybridThermal(0.05, **{"buoyancy": [0, 1e-4], "source": np.ones((3, 4)), **other}) != model
    with pytest.raises(AttributeError):
        model.diffusivity = 1.0  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        model.source[0] = 1
    assert lbm.Isothermal(1) == lbm.Isothermal(1.0) != lbm.Isothermal(2.0)
    assert lbm.Adiabatic() == lbm.Adiabatic() != lbm.Isothermal(0.0)


def test_thermal_conditions_of_a_domain() -> None:
    domain = lbm.Domain((4, 5, 6))
    assert set(domain.thermal) == set(domain.faces)
    assert all(condition == lbm.Adiabatic() for condition in domain.thermal.values())
    domain.thermal["-x"] = lbm.Isothermal(np.arange(30.0).reshape(5, 6))
    copied = domain.copy()
    domain.thermal["-x"] = lbm.Adiabatic()
    assert isinstance(copied.thermal["-x"], lbm.Isothermal)
    for condition, error, message in [
        (lbm.NoSlip(), TypeError, r"thermal\['\+x'\]: NoSlip\(\) given, must be one of Adiabatic\(...\), Isothermal"),
        (lbm.Adiabatic, TypeError, r"must be a value, Adiabatic\(...\), not the class"),
        (lbm.Isothermal(np.zeros((6, 5))), ValueError, r"temperature of thermal\['\+x'\]: shape \(6, 5\) given"),
    ]:
        with pytest.raises(error, match=message):
            domain.thermal["+x"] = condition
    with pytest.raises(ValueError, match=r"face: '\+w' given"):
        domain.thermal["+w"] = lbm.Adiabatic()
    with pytest.raises(TypeError, match=r"thermal\['-x'\]: a face always has a condition; assign Adiabatic\(\)"):
        del domain.thermal["-x"]
    mask = np.zeros((4, 5, 6), bool)
    mask[1, 1, 1] = True
    with pytest.raises(TypeError, match=r"thermal of body 'b': NoSlip\(\) given"):
        domain.add_body(mask, "b", thermal=lbm.NoSlip())
    with pytest.raises(ValueError, match=r"temperature of body 'b': shape \(4, 5\) given"):
        domain.add_body(mask, "b", thermal=lbm.Isothermal(np.zeros((4, 5))))
    for face in [*domain.faces, "+z"]:
        with pytest.raises(ValueError, match=rf"name: '\{face}' given, must not be a face's, any of -x, \+x, -y"):
            domain.add_body(mask, face)
    with pytest.raises(TypeError, match="faces"):
        domain.faces["-x"] = lbm.Isothermal(1.0)
    assert not domain.bodies
    domain.add_body(mask, "b")
    assert domain.bodies["b"].thermal == lbm.Adiabatic()


@pytest.mark.parametrize("wrong", [2e6, -1.1e6, np.full((), 1e300)])
def test_temperatures_of_walls_far_beyond_use(wrong: Any) -> None:
    with pytest.raises(ValueError, match=r"^temperature: \S+ given, must be at most 1e\+06 in magnitude"):
        lbm.Isothermal(wrong)
    domain = lbm.Domain((4, 5), "D2Q9")
    with pytest.raises(ValueError, match=r"temperature of thermal\['-x'\]: \S+ given, must be at most 1e\+06"):
        domain.thermal["-x"] = lbm.Isothermal(np.full(5, wrong))
    field = np.zeros((4, 5))
    field[2, 2] = wrong
    mask = field != 0
    with pytest.raises(ValueError, match=r"temperature of body 'b': \S+ given, must be at most 1e\+06"):
        domain.add_body(mask, "b", thermal=lbm.Isothermal(field))
    mask = np.zeros((4, 5), bool)
    mask[1, 1] = True
    domain.add_body(mask, "b", thermal=lbm.Isothermal(field))  # only its own cells count
    domain.thermal["-x"] = lbm.Isothermal(-1e6)


@given(
    rayleigh=st.floats(1, 1e10),
    prandtl=st.floats(1e-2, 1e3),
    cells=st.floats(4, 1e4),
    velocity=st.floats(1e-3, 0.17),
    difference=st.floats(1e-3, 1e3),
)
def test_convection_has_its_numbers(
    rayleigh: float, prandtl: float, cells: float, velocity: float, difference: float
) -> None:
    flow = lbm.Convection(rayleigh, prandtl, cells, velocity=velocity, difference=difference)
    drive = flow.buoyancy * flow.difference
    assert drive * flow.length**3 / (flow.viscosity * flow.diffusivity) == pytest.approx(rayleigh)
    assert flow.viscosity / flow.diffusivity == pytest.approx(prandtl)
    assert math.sqrt(drive * flow.length) == pytest.approx(velocity)
    assert (flow.tau - 0.5) / 3 == pytest.approx(flow.viscosity)


def test_convection_makes_the_model() -> None:
    flow = lbm.Convection(1e4, 0.71, 36)
    model = flow.thermal("-z", reference=0.5, operators="obrecht2013")
    assert model.buoyancy == (0.0, 0.0, -flow.buoyancy)
    assert (model.diffusivity, model.reference, model.operators) == (flow.diffusivity, 0.5, "obrecht2013")
    assert flow.thermal().buoyancy == (0.0, flow.buoyancy, 0.0)
    with pytest.raises(ValueError, match=r"direction: 'y' given, must be one of"):
        flow.thermal("y")
    with pytest.raises(ValueError, match=r"velocity: 0.2 given"):
        lbm.Convection(1e4, 0.71, 36, velocity=0.2)
    for name in ("rayleigh", "prandtl", "cells"):
        arguments = {"rayleigh": 1e4, "prandtl": 0.71, "cells": 36, name: 0}
        with pytest.raises(ValueError, match=f"{name}: 0 given, must be a finite number above 0"):
            lbm.Convection(**arguments)  # type: ignore[arg-type]


def diverged(limit: float | None) -> str:
    return str(lbm.DivergedError(3, (1, 2), speed_limit=limit))


def test_divergence_names_the_limit_of_the_temperature() -> None:
    assert "temperature needs speeds below 0.3162 cells a step" in diverged(lbm.speed_limit(0.05))
    assert "temperature" not in diverged(None)
    error = lbm.DivergedError(3, (1, 2), None, 0.25)
    assert pickle.loads(pickle.dumps(error)).speed_limit == 0.25
