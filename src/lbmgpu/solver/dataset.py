"""Fields of a solver as an `xarray.Dataset` with coordinates."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from .. import checks
from ..engine.simulation import Simulation
from ..units import Units
from .field_units import FIELD_UNITS, unit_of
from .fields import Fields
from .gradients import TENSOR
from .region import Region


def to_xarray(
    simulation: Simulation,
    of_cells: Fields,
    read: Mapping[str, Callable[..., Any]],
    fields: Sequence[str] | None,
    units: Units | None,
    gather: bool,
    region: Any,
) -> Any:
    """See `Solver.to_xarray`.

    Args:
        simulation, of_cells: of the solver.
        read: its methods that read fields, by the fields' names.
        fields, units, gather, region: as there.
    """
    try:
        import xarray
    except ImportError as error:
        raise ImportError("to_xarray needs xarray: pip install 'lbmgpu[xarray]'") from error
    names = _names(simulation, fields)
    if units is not None and not isinstance(units, Units):
        raise TypeError(f"units: {checks.shown(units)} given, must be Units(...), or None for lattice units")
    gather = checks.flag("gather", gather)
    wanted = Region.of(simulation.domain.shape, region)
    part = wanted.whole if gather else wanted.part(simulation.subdomain.window)
    found = {name: read[name](gather=gather, region=region) for name in names}
    solid = _solid(simulation, of_cells, wanted, gather)
    if gather and not simulation.processes.first:
        return None
    axes = "xyz"[: len(wanted.count)]
    coordinates: dict[str, Any] = {}
    for axis, start, step, offset, count in zip(axes, wanted.start, wanted.step, *part, strict=True):
        centres = start + step * np.arange(offset, offset + count) + 0.5
        centres = centres if units is None else units.length_phys(centres)
        attributes = {"units": "cells" if units is None else "m", "long_name": f"{axis} of the cell's centre"}
        kept = wanted.kept["xyz".index(axis)]
        if kept or count == 1:
            coordinates[axis] = ((axis,), centres, attributes) if kept else ((), centres[0], attributes)
    dims = tuple(axis for axis, kept in zip(axes, wanted.kept, strict=True) if kept)
    variables = {}
    for name, values in found.items():
        lead, labels = _components(name, values.ndim - len(dims), len(axes))
        coordinates |= {dim: list(label) for dim, label in zip(lead, labels, strict=True)}
        variables[name] = ((*lead, *dims), _converted(name, values, units), {"units": unit_of(name, units)})
    variables["solid"] = (dims, solid, {"long_name": "whether the cell is in a body"})
    return xarray.Dataset(variables, coordinates, _attributes(simulation, units))


def _solid(simulation: Simulation, of_cells: Fields, wanted: Region, gather: bool) -> Any:
    """Which cells are in a body, of this process's part of a region or gathered."""
    offset, size = wanted.cells(wanted.part(simulation.subdomain.window))
    origin = simulation.subdomain.window[0]
    where: Any = tuple(slice(a - b, a - b + n) for a, n, b in zip(offset, size, origin, strict=True))
    return of_cells.collected(wanted.thinned(simulation.solid_at_now()[where]), wanted, gather)


def _attributes(simulation: Simulation, units: Units | None) -> dict[str, Any]:
    steps, viscosity = simulation.steps, simulation.collision.viscosity
    found = {"step": steps, "stencil": simulation.stencil.name}
    if units is None:
        return found | {"time": float(steps), "units": "lattice", "viscosity": viscosity}
    found |= {"time": units.time_phys(float(steps)), "units": "SI", "viscosity": units.viscosity_phys(viscosity)}
    return found | {"cell": units.cell_phys, "step_duration": units.step_phys, "density_scale": units.rho_phys}


def _names(simulation: Simulation, fields: Sequence[str] | None) -> list[str]:
    if fields is None:
        return ["density", "velocity", *(["temperature"] if simulation.has_temperature else [])]
    given = [fields] if isinstance(fields, str) else checks.listed("fields", fields, "names of fields")
    known = [name for name in FIELD_UNITS if name != "temperature" or simulation.has_temperature]
    if simulation.turbulence is None:
        known.remove("eddy_viscosity")
    names = [checks.choice(f"fields[{k}]", name, known) for k, name in enumerate(given)]
    if not names:
        raise ValueError("fields: none given, must be at least one name")
    return list(dict.fromkeys(names))


def _components(name: str, lead: int, dimensions: int) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """The names and labels of a field's axes before those of space."""
    axes = tuple("xyz"[:dimensions])
    if lead == 0:
        return (), ()
    if name == "velocity_gradient":
        return ("component", "along"), (axes, axes)
    if name == "strain_rate":
        return ("entry",), (tuple("xyz"[i] + "xyz"[j] for i, j in TENSOR[dimensions]),)
    return ("component",), (axes,)


def _converted(name: str, values: Any, units: Units | None) -> Any:
    """A field in physical units, in the dtype that it had."""
    if units is None or name == "temperature":
        return values
    return np.asarray(values * FIELD_UNITS[name].scale(units), dtype=values.dtype)
