"""The units of fields and of sums over them: what a value of 1 in lattice units is in physical ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..units import Units


@dataclass(frozen=True)
class Unit:
    """The unit of a quantity.

    Attributes:
        lattice: the lattice unit for people; empty for none.
        physical: the physical unit; empty for none.
        scale: the physical size of the lattice unit.
    """

    lattice: str
    physical: str
    scale: Callable[[Units], float]


def _one(units: Units) -> float:
    return 1.0


_PLAIN = "lattice units"
_SPEED = Unit("cells a step", "m/s", lambda units: float(units.velocity_phys(1.0)))
_RATE = Unit("1 a step", "1/s", lambda units: 1 / units.step_phys)

FIELD_UNITS: dict[str, Unit] = {
    "density": Unit("", "kg/m3", lambda units: float(units.density_phys(1.0))),
    "velocity": _SPEED,
    "speed": _SPEED,
    "pressure": Unit(_PLAIN, "Pa", lambda units: float(units.pressure_phys(1.0))),
    "eddy_viscosity": Unit("cells squared a step", "m2/s", lambda units: float(units.viscosity_phys(1.0))),
    "vorticity": _RATE,
    "strain_rate": _RATE,
    "velocity_gradient": _RATE,
    "q_criterion": Unit("1 a step squared", "1/s2", lambda units: 1 / units.step_phys**2),
    "dissipation": Unit(
        "cells squared a step cubed", "m2/s3", lambda units: float(units.viscosity_phys(1.0)) / units.step_phys**2
    ),
    "temperature": Unit("", "", _one),
}
"""The units of the fields that `Solver` has methods for; a temperature is the user's in any case."""


def sum_units(dimensions: int) -> dict[str, Unit]:
    """The units of forces on bodies and of fluxes; in two dimensions all but the flux are of a metre of depth."""

    def force(units: Units) -> float:
        return float(units.force_phys(1.0, dimensions))

    def volume(units: Units) -> float:
        return float(units.velocity_phys(1.0)) * units.cell_phys ** (dimensions - 1)

    def mass(units: Units) -> float:
        return volume(units) * float(units.density_phys(1.0))

    flat = dimensions == 2
    return {
        "force": Unit(_PLAIN, "N/m" if flat else "N", force),
        "torque": Unit(_PLAIN, "N" if flat else "N m", lambda units: force(units) * units.cell_phys),
        "volume": Unit(_PLAIN, "m2/s" if flat else "m3/s", volume),
        "mass": Unit(_PLAIN, "kg/(m s)" if flat else "kg/s", mass),
        "flux": Unit(_PLAIN, "K m/s", lambda units: float(units.velocity_phys(1.0))),
    }


def unit_of(name: str, units: Units | None) -> str:
    """The unit of a field for the attributes of a dataset: ``"lattice"`` without `units`, empty for a temperature."""
    if name == "temperature":
        return ""
    return "lattice" if units is None else FIELD_UNITS[name].physical
