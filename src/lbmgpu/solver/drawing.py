"""The part of `Solver` that draws it, by the room of pictures, which is right of this one and so is given to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..units import Units

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_drawers: list[Callable[..., Any]] = []


def draw_by(function: Callable[..., Any]) -> None:
    """Have `Solver.plot` call `function`, with the solver, the axes to draw on, and the options of the view by name."""
    _drawers[:] = [function]


class DrawnSolver:
    """The pictures of a solver."""

    def plot(
        self,
        field: str = "speed",
        slice: tuple[str, int] | str | None = None,
        streamlines: bool = False,
        bodies: bool = True,
        units: Units | None = None,
        vmin: float | None = None,
        vmax: float | None = None,
        cmap: str | None = None,
        ax: Axes | None = None,
    ) -> Figure | None:
        """A picture of a field, in a plane of three dimensions, x to the right and y up; a notebook shows it.

        All ranks call it together; rank 0 draws. pyplot does not know of the figure, so that nothing is left open.

        Args:
            field: ``"speed"``, ``"velocity_x"`` (or y, z), ``"density"``, ``"pressure"``, ``"vorticity"`` (of three
                dimensions its magnitude, and ``"vorticity_x"`` and so on), ``"q_criterion"``; ``"temperature"`` and
                ``"eddy_viscosity"`` of a solver that has one.
            slice: of three dimensions the plane: ``("z", 24)``, the cells of that number along that axis, or ``"z"``,
                those in the middle; None for ``"z"``. Of two dimensions None.
            streamlines: draw streamlines of the velocity in the plane.
            bodies: draw solid cells in grey, and not the values in them.
            units: for axes in metres and physical values; None for cells and steps.
            vmin, vmax: the ends of the colours, in the units that are shown; if None those of the values, symmetric
                about 0 for a field with signs, and without the highest hundredth for vorticity and Q-criterion.
            cmap: the name of a colour map of matplotlib; None for one that suits the field.
            ax: axes of matplotlib to draw on; None for a new figure.

        Returns:
            The figure on rank 0, with the picture in its first axes; None elsewhere. ``.savefig(path)`` saves it.

        Raises:
            TypeError, ValueError: a wrong argument.
        """
        plane = {"field": field, "slice": slice, "streamlines": streamlines, "bodies": bodies}
        colours = {"units": units, "vmin": vmin, "vmax": vmax, "cmap": cmap}
        figure: Figure | None = _drawers[0](self, ax, **plane, **colours)
        return figure
