"""The fields that pictures show: how each is read, named, scaled and coloured."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .. import checks
from ..solver import Solver, simulation_of
from ..solver.field_units import FIELD_UNITS
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
        quantity: whose unit it has, a name in `FIELD_UNITS`.
        cmap: the colours.
        read: gives the field of a region on rank 0, and None elsewhere; all ranks call it together.
        signed: whether the colours are symmetric about 0.
        has_peaks: whether few cells have values far above all others, which are beyond the ends of the colours.
    """

    label: str
    quantity: str
    cmap: str
    read: Read
    signed: bool = False
    has_peaks: bool = False

    def unit(self, units: Units | None) -> str:
        """Its unit for people; empty for none."""
        unit = FIELD_UNITS[self.quantity]
        return unit.lattice if units is None else unit.physical

    def to_phys(self, units: Units, values: Values) -> Values:
        """Values in physical units."""
        return np.asarray(values * FIELD_UNITS[self.quantity].scale(units), dtype=np.float64)


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


def _of_axis(axis: str) -> dict[str, Field]:
    """The components along an axis."""
    number = "xyz".index(axis)
    velocity = Field(f"velocity along {axis}", "velocity", "RdBu_r", _component("velocity", number), signed=True)
    read = _component("vorticity", number)
    vorticity = Field(f"vorticity along {axis}", "vorticity", "RdBu_r", read, signed=True, has_peaks=True)
    return {f"velocity_{axis}": velocity, f"vorticity_{axis}": vorticity}


def _plain(name: str, cmap: str, label: str | None = None, signed: bool = False, has_peaks: bool = False) -> Field:
    """A field that a method of the solver gives as it is drawn; its label is the name without underscores if None."""
    shown = name.replace("_", " ") if label is None else label
    return Field(shown, name, cmap, _of_method(name), signed, has_peaks)


FIELDS: dict[str, Field] = {
    "speed": _plain("speed", "viridis"),
    "density": _plain("density", "viridis"),
    "pressure": _plain("pressure", "RdBu_r", signed=True),
    "temperature": _plain("temperature", "inferno"),
    "vorticity": Field("vorticity", "vorticity", "magma", _vorticity, has_peaks=True),
    "q_criterion": _plain("q_criterion", "RdBu_r", "Q-criterion", signed=True, has_peaks=True),
    "eddy_viscosity": _plain("eddy_viscosity", "viridis"),
    **_of_axis("x"),
    **_of_axis("y"),
    **_of_axis("z"),
}
"""The fields that a picture can show, by name."""

_VORTICITY_OF_A_PLANE = Field("vorticity", "vorticity", "RdBu_r", _vorticity, signed=True, has_peaks=True)


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
        return np.array(simulation.solid_at_now()[where])
    with solver.paused():
        own = np.ascontiguousarray(simulation.solid_at_now().T)
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
