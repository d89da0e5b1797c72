"""Pictures of a solver's fields, drawn without a display or matplotlib's global state."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import checks
from .files.atomic_write import replacing
from .files.regular_files import file_path, output_path
from .solver import Solver, simulation_of
from .units import Units

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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


def _solid(solver: Solver) -> NDArray[np.bool_] | None:
    """The solid cells of the domain on rank 0, None elsewhere; of bodies given in parts no rank by itself has all."""
    simulation = simulation_of(solver)
    with solver.paused():
        own = np.ascontiguousarray(simulation.bodies.solid.T)
        found = simulation.processes.gathered(simulation.layout, own, simulation.engine.window)
    return None if found is None else found.T


def _figure(solver: Solver, field: str, normal: str, position: float, units: Units | None) -> Figure | None:
    normal = checks.choice("normal", normal, "xyz")
    if units is not None and not isinstance(units, Units):
        raise TypeError(f"units: {checks.shown(units)} given, must be Units(...) or None")
    cell, speed = (1.0, 1.0) if units is None else (units.length_phys(1.0), units.velocity_phys(1.0))
    length = "cells" if units is None else "m"
    position = checks.number("position", position, at_least=0, at_most=1)
    temperature = solver.temperature(gather=True) if field == "temperature" else None
    velocity, solid = solver.velocity(gather=True), _solid(solver)
    if velocity is None or solid is None:
        return None
    colour = speed * np.sqrt((velocity.astype(np.float64) ** 2).sum(axis=0)) if temperature is None else temperature
    axes = "xyz"[: solid.ndim]
    if solid.ndim == 3:
        axis = axes.index(normal)
        index = min(int(position * solid.shape[axis]), solid.shape[axis] - 1)
        velocity, colour, solid = velocity.take(index, axis + 1), colour.take(index, axis), solid.take(index, axis)
        axes = axes.replace(normal, "")
        title = f"{field} at {normal} = {cell * (index + 0.5):g}{'' if units is None else ' m'}"
    else:
        title = field
    shown = np.ma.masked_array(colour, solid)
    width, height = solid.shape
    from matplotlib.figure import Figure  # here, as it takes a while to be loaded

    figure = Figure(figsize=_size(width, height), layout="constrained")
    plot = figure.add_subplot()
    plot.set_facecolor("0.6")
    unit = "cells a step" if units is None else "m/s"
    style = {"speed": ("viridis", f"speed ({unit})"), "temperature": ("inferno", "temperature")}[field]
    ends = (cell * width, cell * height)
    image = plot.imshow(shown.T, origin="lower", extent=(0, ends[0], 0, ends[1]), cmap=style[0])
    figure.colorbar(image, cax=plot.inset_axes((1.02, 0, 0.02, 1)), label=style[1])  # as high as the plane
    along, across = (np.where(solid, np.nan, velocity["xyz".index(axis)]) for axis in axes)
    if min(width, height) > 1 and np.nanmax(np.hypot(along, across), initial=0) > 0:
        centres = (cell * (np.arange(width) + 0.5), cell * (np.arange(height) + 0.5))
        plot.streamplot(*centres, along.T, across.T, color="white", linewidth=0.6, arrowsize=0.7, density=1.4)
    plot.set(xlim=(0, ends[0]), ylim=(0, ends[1]), xlabel=f"{axes[0]} ({length})", ylabel=f"{axes[1]} ({length})")
    time = f"step {solver.steps}" if units is None else f"{units.time_phys(solver.steps):.4g} s"
    plot.set_title(f"{title}, {time}")
    return figure


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


def _size(width: int, height: int) -> Any:
    """Inches for a picture of `width` by `height` cells, with room for the axes."""
    ratio = min(max(width / height, 0.2), 6.0)
    inches = min(7.0 * max(1.0, ratio / 2), 12.0)
    return inches, 0.85 * inches / ratio + 0.9
