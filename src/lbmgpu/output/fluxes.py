"""Histories of what passes through planes and walls: mass, volume, heat."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import checks
from ..multispeed import FLUXES
from ..solver.solver import Solver, simulation_of
from .history import AXES, History
from .probes import check_memory, plane_points, point_sampler


class Flux(History):
    """The flux of mass and of volume through a plane across the domain, after each step that is due.

    ``flux["mass"]`` is the sum of density times the velocity across the plane over its fluid cells, ``flux["volume"]``
    that of the velocity alone, both ``(samples,)`` and in lattice units, positive along the axis. Between two layers of
    cells density and velocity are interpolated. The run loop stops for a sample, and reads the cells of the plane only.

    Args:
        axis: ``"x"``, ``"y"`` or ``"z"``.
        position: coordinate of the plane along that axis, in cells.
        every, start: as for `Recorder`.
        name: as for `Recorder`; ``"flux_AXIS_POSITION"`` if None.
    """

    def __init__(self, axis: str, position: float, every: int = 1, start: int = 0, name: str | None = None) -> None:
        self.axis = checks.choice("axis", axis, AXES)
        self.position = checks.number("position", position, at_least=0)
        super().__init__(every, start, f"flux_{self.axis}_{self.position:g}" if name is None else name)
        self._plane: Any = None

    def attach(self, solver: Solver) -> None:
        points, _ = plane_points(solver.domain.shape, self.axis, self.position)
        simulation, fields = simulation_of(solver), ("density", "velocity")
        check_memory(simulation, self.name, points, fields)
        super().attach(solver)
        never = checks.MAX_STEPS
        self._plane = point_sampler(simulation, points, fields, never, never)

    def detach(self) -> None:
        if self._plane is not None:
            self._plane.remove()

    def sample(self, solver: Solver) -> None:
        with simulation_of(solver).lock:
            self._plane.sample(solver.steps)
            values = self._plane.take()[1].reshape(1 + self._dimensions, -1)
        across = values[1 + AXES.index(self.axis)]
        fluid = ~np.isnan(across)
        self._append(solver.steps, np.array([(values[0] * across)[fluid].sum(), across[fluid].sum()]))

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return {"mass": (), "volume": ()}

    def _signature(self) -> dict[str, NDArray[Any]]:
        return {"plane": np.array([AXES.index(self.axis), self.position])}

    def _dims(self, field: str) -> tuple[str, ...]:
        return ()


class HeatFlux(History):
    """The mean heat flux into the fluid through a face or from a body, after each step that is due.

    ``heat["flux"]`` is ``(samples,)``, the numbers of `Solver.mean_heat_flux`. The run loop stops for a sample.

    Args:
        where: the name of a face or of a body.
        every, start: as for `Recorder`.
        area: as for `Solver.mean_heat_flux`.
        name: as for `Recorder`; ``"heatflux_WHERE"`` if None.
        by: as for `Solver.heat_flux`.
    """

    def __init__(
        self,
        where: str,
        every: int = 1,
        start: int = 0,
        area: float | None = None,
        name: str | None = None,
        by: str | None = None,
    ) -> None:
        self.where = checks.label("where", where)
        super().__init__(every, start, f"heatflux_{self.where}" if name is None else name)
        self._area = None if area is None else checks.number("area", area, above=0)
        self._by = None if by is None else checks.choice("by", by, FLUXES)

    def attach(self, solver: Solver) -> None:
        super().attach(solver)
        self._flux(solver)  # which says what is wrong

    def sample(self, solver: Solver) -> None:
        self._append(solver.steps, np.array([self._flux(solver)]))

    def _flux(self, solver: Solver) -> float:
        found: float = solver.mean_heat_flux(self.where, self._area, self._by)
        return found

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return {"flux": ()}

    def _signature(self) -> dict[str, NDArray[Any]]:
        area = np.nan if self._area is None else self._area
        own = {"where": np.frombuffer(self.where.encode(), np.uint8), "area": np.nan_to_num(np.array([area]))}
        return own if self._by is None else own | {"by": np.frombuffer(self._by.encode(), np.uint8)}

    def _dims(self, field: str) -> tuple[str, ...]:
        return ()
