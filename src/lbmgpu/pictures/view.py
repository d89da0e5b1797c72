"""Draws a plane of a field by matplotlib, without a display and without its global state."""

from __future__ import annotations

import functools
import io
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .. import checks
from ..solver import Solver
from ..units import Units
from .fields import Field, Region, field_of, limits_of, solid_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class View:
    """What a picture of a plane shows; the options of `Solver.plot`.

    Args:
        field: the name of a field, see `fields.FIELDS`.
        slice: of three dimensions the plane: ``("z", 24)``, the cells of that number along that axis, or ``"z"``, those
            in the middle; None for ``"z"``. Of two dimensions None.
        streamlines: draw streamlines of the velocity in the plane.
        bodies: draw solid cells in grey, and not the values in them.
        units: for axes in metres and physical values; None for cells and steps.
        vmin, vmax: the ends of the colours, in the units that are shown; None for those of the values.
        cmap: the name of a colour map of matplotlib; None for one that suits the field.

    Raises:
        TypeError, ValueError: a wrong option.
    """

    field: str = "speed"
    slice: tuple[str, int] | str | None = None
    streamlines: bool = False
    bodies: bool = True
    units: Units | None = None
    vmin: float | None = None
    vmax: float | None = None
    cmap: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.field, str):
            raise TypeError(f"field: {checks.shown(self.field)} given, must be the name of a field, such as 'speed'")
        if self.slice is not None:
            object.__setattr__(self, "slice", _slice(self.slice))
        object.__setattr__(self, "streamlines", checks.flag("streamlines", self.streamlines))
        object.__setattr__(self, "bodies", checks.flag("bodies", self.bodies))
        check_units(self.units)
        for name in ("vmin", "vmax"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, checks.number(name, getattr(self, name)))
        if self.vmin is not None and self.vmax is not None and self.vmin >= self.vmax:
            raise ValueError(f"vmax: {self.vmax:g} given, must be above vmin, {self.vmin:g}")
        check_colours("cmap", self.cmap)

    def check(self, solver: Solver) -> None:
        """Raise TypeError or ValueError where it does not go with a solver."""
        field_of(solver, self.field)
        self.plane(solver.domain.shape)

    def plane(self, shape: tuple[int, ...]) -> tuple[int, int] | None:
        """The axis that the plane is normal to, and its cell there; None of two dimensions."""
        if len(shape) == 2:
            if self.slice is not None:
                raise ValueError(f"slice: {self.slice!r} given, must be None in two dimensions")
            return None
        given = "z" if self.slice is None else self.slice
        if isinstance(given, str):
            return "xyz".index(given), shape["xyz".index(given)] // 2
        axis = "xyz".index(given[0])
        return axis, checks.integer(f"slice along {given[0]}", given[1], at_most=shape[axis] - 1)

    def with_limits(self, limits: tuple[float, float] | None) -> View:
        """With these ends of the colours where it has none of its own."""
        if limits is None:
            return self
        low, high = (own if own is not None else end for own, end in zip((self.vmin, self.vmax), limits, strict=True))
        return replace(self, vmin=low, vmax=high) if low < high else self


def with_options(kind: type[Any], options: Mapping[str, Any], other: tuple[str, ...] = ()) -> Any:
    """`kind` with options, of which wrong names are a ValueError; `other` are names to mention beside its own."""
    known = [field.name for field in fields(kind)]
    for name in options:
        if name not in known:
            raise checks.unknown("option", name, [*known, *other])
    return kind(**options)


@dataclass(frozen=True)
class Plane:
    """The values of a field in a plane, on rank 0.

    Attributes:
        field: what they are of.
        values: ``(width, height)`` in the units that are shown, NaN where nothing is.
        axes: the two axes, the first to the right and the second up.
        along: the velocity along both in lattice units; None without streamlines.
        title: for the picture.
        cell: the size of a cell in the units of the axes.
    """

    field: Field
    values: NDArray[np.float64]
    axes: str
    along: tuple[NDArray[np.float64], NDArray[np.float64]] | None
    title: str
    cell: float

    @property
    def limits(self) -> tuple[float, float] | None:
        """The ends of the colours for these values."""
        return limits_of(self.field, self.values)


def plane_of(solver: Solver, view: View) -> Plane | None:
    """The plane of a view on rank 0, None elsewhere; all ranks call it together."""
    view.check(solver)
    field, shape, units = field_of(solver, view.field), solver.domain.shape, view.units
    plane, axes, title = view.plane(shape), "xyz"[: len(shape)], field.label
    cell = 1.0 if units is None else float(units.length_phys(1.0))
    region: Region = None
    if plane is not None:
        axis, index = plane
        region = tuple(index if other == axis else slice(None) for other in range(3))
        title += f" at {axes[axis]} = {cell * (index + 0.5):g}{'' if units is None else ' m'}"
        axes = axes.replace(axes[axis], "")
    with solver.paused():
        steps = solver.steps
        values = field.read(solver, region)
        solid = solid_of(solver, region)
        velocity = solver.velocity(gather=True, region=region) if view.streamlines else None
    if values is None or solid is None:
        return None
    if units is not None:
        values = field.to_phys(units, values)
    if view.bodies:
        values = np.where(solid, np.nan, values)
    along = None
    if velocity is not None:
        x, y = (np.where(solid, np.nan, velocity["xyz".index(axis)].astype(np.float64)) for axis in axes)
        along = (x, y)
    title += f", step {steps}" if units is None else f", {units.time_phys(steps):.4g} s"
    return Plane(field, values, axes, along, title, cell)


def draw(axes: Axes, plane: Plane, view: View) -> None:
    """Draw a plane on `axes`, x to the right and y up."""
    width, height = plane.values.shape
    ends = (plane.cell * width, plane.cell * height)
    limits = plane.limits
    low, high = (None, None) if limits is None else limits
    low, high = low if view.vmin is None else view.vmin, high if view.vmax is None else view.vmax
    axes.set_facecolor("0.6")
    image = axes.imshow(
        np.ma.masked_invalid(plane.values).T,
        origin="lower",
        extent=(0, ends[0], 0, ends[1]),
        cmap=view.cmap or plane.field.cmap,
        vmin=low,
        vmax=high,
    )
    unit = plane.field.unit(view.units)
    label = f"{plane.field.label} ({unit})" if unit else plane.field.label
    finite = plane.values[np.isfinite(plane.values)]
    below = low is not None and finite.size > 0 and finite.min() < low
    above = high is not None and finite.size > 0 and finite.max() > high
    extend = {(False, False): "neither", (True, False): "min", (False, True): "max", (True, True): "both"}[below, above]
    bar = axes.inset_axes((1.02, 0, 0.02, 1))  # as high as the plane
    axes.get_figure(root=True).colorbar(image, cax=bar, label=label, extend=extend)  # type: ignore[union-attr]
    if plane.along is not None and min(width, height) > 1 and np.nanmax(np.hypot(*plane.along), initial=0) > 0:
        centres = (plane.cell * (np.arange(width) + 0.5), plane.cell * (np.arange(height) + 0.5))
        colour = "black" if plane.field.signed else "white"
        lines: dict[str, Any] = {"color": colour, "linewidth": 0.6, "arrowsize": 0.7, "density": 1.4}
        axes.streamplot(*centres, plane.along[0].T, plane.along[1].T, **lines)
    length = "cells" if view.units is None else "m"
    axes.set(xlim=(0, ends[0]), ylim=(0, ends[1]))
    axes.set(xlabel=f"{plane.axes[0]} ({length})", ylabel=f"{plane.axes[1]} ({length})")
    axes.set_title(plane.title)


@functools.cache
def _figure_class() -> type[Figure]:
    """A figure that notebooks show, though pyplot does not know of it."""
    from matplotlib.figure import Figure  # here, as it takes a while to be loaded

    class ShownFigure(Figure):
        """See `_figure_class`."""

        def _repr_png_(self) -> bytes:
            return encoded(self)

    return ShownFigure


def figure_of(plane: Plane, view: View) -> Figure:
    """A new figure of a plane, of which pyplot does not know, and which is what a notebook shows."""
    figure = _figure_class()(figsize=_size(*plane.values.shape), layout="constrained")
    draw(figure.add_subplot(), plane, view)
    return figure


def encoded(figure: Figure, dpi: float = 100, kind: str = "png") -> bytes:
    """The figure as the bytes of a file, its width and height even numbers of pixels, as movies want them."""
    width, height = (max(1, round(inches * dpi / 2)) * 2 for inches in figure.get_size_inches())
    figure.set_size_inches(width / dpi, height / dpi)
    file = io.BytesIO()
    figure.savefig(file, format=kind, dpi=dpi)
    return file.getvalue()


def plot(solver: Solver, view: View, ax: Any = None) -> Figure | None:
    """See `Solver.plot`."""
    from matplotlib.axes import Axes

    if ax is not None and not isinstance(ax, Axes):
        raise TypeError(f"ax: {checks.shown(ax)} given, must be axes of matplotlib, or None")
    plane = plane_of(solver, view)
    if plane is None or ax is None:
        return None if plane is None else figure_of(plane, view)
    draw(ax, plane, view)
    return ax.get_figure(root=True)


def _slice(given: Any) -> tuple[str, int] | str:
    if isinstance(given, str):
        return checks.choice("slice", given, "xyz")
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise TypeError(f"slice: {checks.shown(given)} given, must be an axis and a cell, such as ('z', 24), or 'z'")
    return checks.choice("slice", given[0], "xyz"), checks.integer(f"slice along {given[0]}", given[1])


def check_units(units: Any) -> None:
    """Raise TypeError where these are no units."""
    if units is not None and not isinstance(units, Units):
        raise TypeError(f"units: {checks.shown(units)} given, must be Units(...) or None")


def check_colours(name: str, cmap: Any) -> None:
    """Raise TypeError or ValueError where matplotlib has no colour map of this name."""
    if cmap is not None:
        from matplotlib import colormaps

        checks.choice(name, cmap, list(colormaps))


def _size(width: int, height: int) -> Any:
    """Inches for a picture of `width` by `height` cells, with room for the axes."""
    ratio = min(max(width / height, 0.2), 6.0)
    inches = min(7.0 * max(1.0, ratio / 2), 12.0)
    return inches, 0.85 * inches / ratio + 0.9
