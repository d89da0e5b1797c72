"""Tables in time of the forces on bodies and of heat, CSV files: written row by row, and cut back before a restart."""

from __future__ import annotations

import csv
from collections.abc import Callable
from io import TextIOWrapper
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .. import models
from ..conditions import Isothermal
from ..domain import FACES, Domain
from ..errors import CheckpointError
from ..files.atomic_write import naming, replacing
from ..files.regular_files import TABLE_BYTES, check_output, output_file, regular_file
from ..solver import Solver, simulation_of
from ..solver.steady import isothermal_places
from ..thermal import Convection
from .areas import areas


class Table(NamedTuple):
    """What a table has beside the step: names of columns, and the numbers of now, which all ranks ask for together."""

    columns: Callable[[Solver], list[str]]
    numbers: Callable[[Solver], list[float]]


def column(name: str) -> str:
    """The name of a body as a part of a header: one that a spreadsheet would take for a formula begins with ``'``."""
    return f"'{name}" if name.lstrip()[:1] in tuple("=+-@") else name


def _heated(solver: Solver) -> list[str]:
    return isothermal_places(solver.domain)


def _axes(solver: Solver) -> str:
    return "xyz"[: len(solver.domain.shape)]


TABLES = {
    "forces": Table(
        lambda solver: [f"{column(body)} F{axis}" for body in solver.domain.bodies for axis in _axes(solver)],
        lambda solver: [float(x) for name in solver.domain.bodies for x in solver.body_force(name)],
    ),
    "heat": Table(
        lambda solver: [
            "heat",
            *(f"{name if name in FACES else column(name)} flux" for name in isothermal_places(solver.domain)),
        ],
        lambda solver: _heat(solver, _areas(solver)),
    ),
}
"""By the name of the file and of the key in a case's output."""


def _areas(solver: Solver) -> dict[str, float | None]:
    return areas(solver.domain, isothermal_places(solver.domain))


def _heat(solver: Solver, by_place: dict[str, float | None]) -> list[float]:
    """The heat, and the mean flux from each of some places, by their areas."""
    return [solver.heat(), *(solver.mean_heat_flux(name, area) for name, area in by_place.items())]


def heat_table(solver: Solver, convection: Convection | None) -> Table:
    """The table of heat of a solver, with a Nusselt number of each flux that has one.

    With the numbers of a `convection` all have, by these; of D2Q37 those of faces whose opposite one has another
    temperature, which is a number on both. The table of D2Q37 has the kinetic energy too, as only both together balance
    the fluxes.
    """
    if models.of(solver.domain.stencil).carries_temperature:
        return _of_gas(solver.domain)
    by_place = _areas(solver)  # once, as it looks at cells of bodies
    heat = Table(TABLES["heat"].columns, lambda solver: _heat(solver, by_place))
    return heat if convection is None else _with_nusselt(heat, convection)


def _of_gas(domain: Domain) -> Table:
    faces, layer = isothermal_places(domain), plates(domain)

    def numbers(solver: Solver) -> list[float]:
        fluxes = [solver.mean_heat_flux(name) for name in faces]
        return [solver.heat(), solver.kinetic_energy(), *fluxes, *(solver.nusselt(name) for name in layer)]

    columns = ["heat", "kinetic energy", *(f"{name} flux" for name in faces), *(f"{name} Nusselt" for name in layer)]
    return Table(lambda _: columns, numbers)


def plates(domain: Domain) -> list[str]:
    """The faces at a temperature that is a number and does not change, opposite to such a one at another."""
    found = {name: wall.temperature for name, wall in domain.thermal.items() if isinstance(wall, Isothermal)}
    numbers = {name: float(value) for name, value in found.items() if isinstance(value, np.ndarray) and value.ndim == 0}
    opposite = {name: f"{'+' if name[0] == '-' else '-'}{name[1]}" for name in numbers}
    return [name for name, own in numbers.items() if numbers.get(opposite[name], own) != own]


def _with_nusselt(heat: Table, convection: Convection) -> Table:
    """The table of heat with the Nusselt number of each flux behind it, by the numbers of a convection."""
    scale = convection.length / (convection.diffusivity * convection.difference)

    def columns(solver: Solver) -> list[str]:
        found = heat.columns(solver)
        return found + [f"{name.removesuffix(' flux')} Nusselt" for name in found[1:]]

    def numbers(solver: Solver) -> list[float]:
        found = heat.numbers(solver)
        return found + [scale * flux for flux in found[1:]]

    return Table(columns, numbers)


def start(path: Path, columns: list[str]) -> None:
    """Begin a table at `path` with its header, in place of any that is there."""
    descriptor = output_file(path, append=False)
    with naming(path), open(descriptor, "a", newline="", encoding="utf-8") as file:
        csv.writer(file).writerow(["step", *columns])


def cut(path: Path, steps: int, every: int) -> None:
    """Drop the rows from step `steps` on, which a run from there writes again `every` so many steps.

    The table is replaced whole. A run that was killed may have left a part of a row: it goes too.

    Raises:
        CheckpointError: the table ends so long before that rows would be missing, or is none; it is left as it is.
    """
    check_output(path)
    try:
        with regular_file("", path, at_most=TABLE_BYTES) as file:
            header, *rows = csv.reader(TextIOWrapper(file, encoding="utf-8", newline=""))
    except (ValueError, csv.Error) as error:  # a file that ends at once too
        raise CheckpointError(f"{path}: not a table of a run ({error}); delete it to begin a new one") from None
    whole = [row for row in rows if len(row) == len(header) and row[0].isdigit()]
    written = [int(row[0]) for row in whole[-2:]]
    interval = max(every, written[-1] - written[0]) if written else every  # the run before may have had another one
    if written and written[-1] < steps - interval:
        raise CheckpointError(
            f"{path}: ends at step {written[-1]} and the checkpoint is of step {steps}: the rows between are missing; "
            "delete the table to begin a new one, or restart from another checkpoint"
        )
    kept = [header, *(row for row in whole if int(row[0]) < steps)]
    with replacing(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(kept)


def appender(path: Path, table: Table) -> Callable[[Any], None]:
    """A callback that appends the step and the numbers of `table`."""

    def append(solver: Solver) -> None:
        numbers = [f"{x:.9g}" for x in table.numbers(solver)]

        def write() -> None:
            descriptor = output_file(path, append=True)
            with naming(path), open(descriptor, "a", newline="", encoding="utf-8") as file:
                csv.writer(file).writerow([solver.steps, *numbers])

        simulation_of(solver).processes.on_first(write)

    return append
