"""Tests the table of the units of fields: each scale is that of the dimensions that its unit's name says."""

from __future__ import annotations

import re

import pytest

import lbmgpu as lbm
from lbmgpu.solver.field_units import FIELD_UNITS, Unit, sum_units, unit_of

LENGTH, TIME, DENSITY = 1e-3, 2e-5, 1.2
NAMES = {"kg": (1, 0, 0), "m": (0, 1, 0), "s": (0, 0, 1), "Pa": (1, -1, -2), "N": (1, 1, -2), "K": (0, 0, 0)}
"""Exponents of mass, length and time."""


def units() -> lbm.Units:
    return lbm.Units(length_phys=LENGTH, time_phys=TIME, density_phys=DENSITY)


def size(name: str) -> float:
    """The physical size of the lattice unit with the dimensions that the name of a physical unit says."""
    found = 1.0
    above, _, below = name.partition("/")
    for part, sign in ((above, 1), (below, -1)):
        for word, power in re.findall(r"([A-Za-z]+)(\d*)", part):
            mass, length, time = (sign * int(power or 1) * exponent for exponent in NAMES[word])
            found *= DENSITY**mass * LENGTH ** (3 * mass + length) * TIME**time
    return found


def test_the_parser_reads_powers_and_products() -> None:
    assert size("m2/s3") == pytest.approx(LENGTH**2 / TIME**3)
    assert size("kg/(m s)") == pytest.approx(DENSITY * LENGTH**2 / TIME)


@pytest.mark.parametrize("name", FIELD_UNITS)
def test_the_scale_of_a_field_is_that_of_its_unit(name: str) -> None:
    unit = FIELD_UNITS[name]
    assert unit.scale(units()) == pytest.approx(size(unit.physical), rel=1e-12)
    assert unit_of(name, units()) == unit.physical


@pytest.mark.parametrize("dimensions", [2, 3])
@pytest.mark.parametrize("name", sum_units(2))
def test_the_scale_of_a_sum_is_that_of_its_unit(name: str, dimensions: int) -> None:
    unit: Unit = sum_units(dimensions)[name]
    assert unit.scale(units()) == pytest.approx(size(unit.physical), rel=1e-12)


def test_lattice_units_are_called_so_but_those_of_temperatures() -> None:
    assert unit_of("velocity", None) == "lattice"
    assert unit_of("temperature", None) == unit_of("temperature", units()) == ""


def test_every_field_is_a_method_of_solvers() -> None:
    assert [name for name in FIELD_UNITS if not hasattr(lbm.Solver, name)] == []
