"""The fields that pictures show: how each is read, named, scaled and coloured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import checks
from ..solver import Solver, simulation_of
from ..units import Units

Values = NDArray[np.float64]
Region = tuple[slice | int, ...] | None
"""Cells of the domain, see `Solver.density`; None for all."""
Read = Callable[[Solver, Region], Values | None]


@dataclass(frozen=True)
class Field:
    """What pictures know of a field.

    Attributes:
        label: its name for people.
        unit: in lattice units; empty for none.
        unit_phys: in physical units.
        cmap: the colours.
        read: gives the field of a region on rank 0, and None elsewhere; all ranks call it together.
        to_phys: makes the values physical.
        signed: whether the colours are symmetric about 0.
        has_peaks: whether few cells have values far above all others, which are beyond the ends of the colours.
    """

    label: str
    unit: str
    unit_phys: str
    cmap: str
    read: Read
    to_phys: Callable[[Units, Values], Any]
    signed: bool = False
    has_peaks: bool = False


def _of_method(name: str) -> Read:
    """Reads what a method of the solver gives."""

    def read(solver: Solver, region: Region) -> Values | None:
        values = getattr(solver, name)(gather=True, region=region)
        return None if values is None else np.asarray(values, dtype=np.float64)

    return read


def _component(name: str, axis: int) -> Read:
    """Reads a component of a vector field."""

    def read(solver: Solver, region: Region) -> Values | None:
        values = getattr(solver, name)(gather=True, region=region)
        return None if values is None else np.asarray(values[axis], dtype=np.float64)

    return read


def _vorticity(solver: Solver, region: Region) -> Values | None:
    """Of two dimensions the component along z, of three the magnitude."""
    vorticity = _of_method("vorticity")(solver, region)
    if vorticity is None or len(solver.domain.shape) == 2:
        return vorticity
    return np.asarray(np.sqrt((vorticity**2).sum(axis=0)))


def _velocity_phys(units: Units, values: Values) -> Any:
    return units.velocity_phys(values)


def _rate_phys(units: Units, values: Values) -> Any:
    return values / units.time_phys(1.0)


def _same(units: Units, values: Values) -> Any:
    return values


_SPEED_UNITS = ("cells a step", "m/s")
_RATE_UNITS = ("1 a step", "1/s")


def _of_axis(axis: str) -> dict[str, Field]:
    """The components along an axis."""
    number = "xyz".index(axis)
    velocity = Field(
        f"velocity along {axis}", *_SPEED_UNITS, "RdBu_r", _component("velocity", number), _velocity_phys, signed=True
    )
    vorticity = Field(
        f"vorticity along {axis}",
        *_RATE_UNITS,
        "RdBu_r",
        _component("vorticity", number),
        _rate_phys,
        signed=True,
        has_peaks=True,
    )
    return {f"velocity_{axis}": velocity, f"vorticity_{axis}": vorticity}


FIELDS: dict[str, Field] = {
    "speed": Field("speed", *_SPEED_UNITS, "viridis", _of_method("speed"), _velocity_phys),
    "density": Field("density", "", "kg/m3", "viridis", _of_method("density"), lambda u, v: u.density_phys(v)),
    "pressure": Field(
        "pressure",
        "lattice units",
        "Pa",
        "RdBu_r",
        _of_method("pressure"),
        lambda u, v: u.pressure_phys(v),
        signed=True,
    ),
    "temperature": Field("temperature", "", "", "inferno", _of_method("temperature"), _same),
    "vorticity": Field("vorticity", *_RATE_UNITS, "magma", _vorticity, _rate_phys, has_peaks=True),
    "q_criterion": Field(
        "Q-criterion",
        "1 a step squared",
        "1/s2",
        "RdBu_r",
        _of_method("q_criterion"),
        lambda u, v: v / u.time_phys(1.0) ** 2,
        signed=True,
        has_peaks=True,
    ),
    "eddy_viscosity": Field(
        "eddy viscosity",
        "cells squared a step",
        "m2/s",
        "viridis",
        _of_method("eddy_viscosity"),
        lambda u, v: u.viscosity_phys(v),
    ),
    **_of_axis("x"),
    **_of_axis("y"),
    **_of_axis("z"),
}
"""The fields that a picture can show, by name."""

_VORTICITY_OF_A_PLANE = Field("vorticity", *_RATE_UNITS, "RdBu_r", _vorticity, _rate_phys, signed=True, has_peaks=True)


def names_of(solver: Solver) -> list[str]:
    """The names of the fields that pictures of a solver can show."""
    simulation = simulation_of(solver)
    names = list(FIELDS)
    if len(solver.domain.shape) == 2:
        for name in ("velocity_z", "vorticity_x", "vorticity_y", "vorticity_z"):
            names.remove(name)
    if not simulation.has_temperature:
        names.remove("temperature")
    if simulation.turbulence is None:
        names.remove("eddy_viscosity")
    return names


def field_of(solver: Solver, name: str, argument: str = "field") -> Field:
    """A field of a solver by its name.

    Raises:
        TypeError, ValueError: the solver has no such field, which names those that it has.
    """
    names = names_of(solver)
    if isinstance(name, str) and name in FIELDS and name not in names:
        raise ValueError(f"{argument}: {name!r} given, but this solver has {', '.join(names)}")
    name = checks.choice(argument, name, names)
    return _VORTICITY_OF_A_PLANE if name == "vorticity" and len(solver.domain.shape) == 2 else FIELDS[name]


def solid_of(solver: Solver, region: Region = None) -> NDArray[np.bool_] | None:
    """The solid cells of a region on rank 0, None elsewhere.

    Of bodies that were given in parts no rank by itself has all.
    """
    simulation = simulation_of(solver)
    where = (...,) if region is None else region
    if simulation.processes.size == 1:
        return np.array(simulation.bodies.solid[where])
    with solver.paused():
        own = np.ascontiguousarray(simulation.bodies.solid.T)
        found = simulation.processes.gathered(simulation.layout, own, simulation.engine.window)
    return None if found is None else np.asarray(found.T[where])


def limits_of(field: Field, values: Values) -> tuple[float, float] | None:
    """The ends of the colours for these values, or None where all of them are equal or there are none.

    Of a signed field they are symmetric about 0. Of a field with peaks they leave out the highest hundredth.
    """
    finite = values[np.isfinite(values)]
    if finite.size == 0 or finite.min() == finite.max():
        return None
    if field.signed:
        magnitudes = np.abs(finite)
        end = float(np.quantile(magnitudes, 0.99)) if field.has_peaks else 0.0
        end = end or float(magnitudes.max())
        return -end, end
    high = float(np.quantile(finite, 0.99)) if field.has_peaks else float(finite.max())
    low = 0.0 if field.has_peaks else float(finite.min())
    return low, high if high > low else float(finite.max())
