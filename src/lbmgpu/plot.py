"""Pictures of a solver's fields, drawn without a display or matplotlib's global state."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from . import checks
from .files.atomic_write import replacing
from .files.regular_files import file_path, output_path
from .pictures.recorders import movie_of_frames
from .pictures.scene import render
from .pictures.view import View, plot
from .solver import Solver, simulation_of
from .units import Units

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "field_figure",
    "lines_figure",
    "movie_of_frames",
    "render",
    "speed_figure",
    "speed_picture",
    "temperature_figure",
    "temperature_picture",
]


def speed_figure(solver: Solver, normal: str = "y", position: float = 0.5, units: Units | None = None) -> Figure | None:
    """The speed in a plane, with streamlines of the velocity in it; solid cells are grey. None on ranks other than 0.

    Args:
        solver: the solver.
        normal: the axis that the plane is normal to, ``"x"``, ``"y"`` or ``"z"``; ignored in two dimensions.
        position: of the plane along that axis, as a part of the domain, 0 to 1.
        units: for axes in metres and speeds in metres a second; None for cells and steps.

    Raises:
        TypeError, ValueError: a wrong axis or position, or units that are none.
    """
    return _figure(solver, "speed", normal, position, units)


def temperature_figure(
    solver: Solver, normal: str = "y", position: float = 0.5, units: Units | None = None
) -> Figure | None:
    """The temperature in a plane, with streamlines, as `speed_figure`; also raises ValueError where there is none."""
    return _figure(solver, "temperature", normal, position, units)


def field_figure(solver: Solver, *arguments: Any, **options: Any) -> Figure | None:
    """A field in a plane; what `Solver.plot` gives of the same arguments, which see."""
    return solver.plot(*arguments, **options)


def _figure(solver: Solver, field: str, normal: str, position: float, units: Units | None) -> Figure | None:
    normal = checks.choice("normal", normal, "xyz")
    position = checks.number("position", position, at_least=0, at_most=1)
    shape, plane = solver.domain.shape, None
    if len(shape) == 3:
        cells = shape["xyz".index(normal)]
        plane = normal, min(int(position * cells), cells - 1)
    return plot(solver, View(field, plane, streamlines=True, units=units))


def speed_picture(
    solver: Solver,
    path: str | os.PathLike[str],
    normal: str = "y",
    position: float = 0.5,
    dpi: int = 150,
    units: Units | None = None,
) -> Path:
    """Save `speed_figure` at `path`, in the format that its ending names; return the path."""
    return _picture("speed", solver, path, normal, position, dpi, units)


def temperature_picture(
    solver: Solver,
    path: str | os.PathLike[str],
    normal: str = "y",
    position: float = 0.5,
    dpi: int = 150,
    units: Units | None = None,
) -> Path:
    """Save `temperature_figure` at `path`, as `speed_picture`."""
    return _picture("temperature", solver, path, normal, position, dpi, units)


def _picture(
    field: str,
    solver: Solver,
    path: str | os.PathLike[str],
    normal: str,
    position: float,
    dpi: int,
    units: Units | None,
) -> Path:
    target, processes = file_path("path", path), simulation_of(solver).processes
    processes.on_first(lambda: output_path("path", target))
    figure = _figure(solver, field, normal, position, units)

    def write() -> None:
        if figure is not None:
            with replacing(target) as temporary:
                figure.savefig(temporary, dpi=dpi, bbox_inches="tight", pad_inches=0.05)

    processes.on_first(write)
    return target


def lines_figure(
    lines: Mapping[str, tuple[ArrayLike, ArrayLike]],
    points: Mapping[str, tuple[ArrayLike, ArrayLike]],
    labels: Sequence[str] = ("position", "value"),
) -> Figure:
    """Curves and, as dots, what they are compared with: `lines` and `points` are ``{name: (x values, y values)}``."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 4), layout="constrained")
    plot = figure.add_subplot()
    for name, (x, y) in lines.items():
        plot.plot(x, y, label=name)
    for name, (x, y) in points.items():
        plot.plot(x, y, "o", markersize=4, markerfacecolor="none", label=name)
    plot.set(xlabel=labels[0], ylabel=labels[1])
    plot.grid(alpha=0.3)
    plot.legend()
    return figure
