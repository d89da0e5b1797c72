"""The temperature of a solver: its field and sums, its source, and the heat that walls and bodies give."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import checks
from ..conditions import Periodic
from ..engine.foreign_arrays import taken
from ..engine.simulation import Simulation
from ..parallel.collective import by_user
from ..thermal import BodyHeatFlux, HybridThermal
from ..values import Floats
from .fields import Fields


class ThermalFields:
    """The part of `Solver` about the temperature; but for `thermal`, all raise ValueError where there is none.

    Of D2Q37, whose populations carry it, `temperature` is there; the others belong to `HybridThermal` and raise too.

    Fluxes are into the fluid, in units of temperature times cells a step. At a half-way wall the gradient is
    ``(8 T_w - 9 T_1 + T_2) / 3``, of second order, T_1 and T_2 being the two cells next to it; on bodies it is what the
    step itself takes from the wall.
    """

    def __init__(self, simulation: Simulation, fields: Fields) -> None:
        self._simulation = simulation
        self._fields = fields

    def temperature(self, gather: bool = False, above_reference: bool = False, region: Any = None) -> Any:
        """Temperature, ``(nx, ny[, nz])``, in the dtype of `precision`.

        Cells of an isothermal body have the temperature of its surface, those of others the model's reference. In D2Q37
        it is in units of a cell a step squared, ``2 rho T = sum_i f_i |c_i - u|^2``, with gravity's part of a step
        added (Sbragaglia et al., J. Fluid Mech. 628 (2009) 299).

        Args:
            gather: see `density`.
            above_reference: the deviation ``T - reference`` of `HybridThermal` in place of T. It is what the solver
                computes with and has all its digits, of which the sum loses some in float32: differences of
                temperatures in kelvin, as local gradients need them, are better taken from it.
            region: see `density`.

        Raises:
            ValueError: the solver has no temperature, or `above_reference` is asked for in D2Q37.
        """
        self._check_temperature()
        if checks.flag("above_reference", above_reference):
            self._hybrid()
        reference = 0.0 if above_reference else self._simulation.reference_temperature

        def read(out: NDArray[Any]) -> None:
            self._simulation.engine.temperature(out)
            if reference != 0:
                np.add(out, reference, out=out, dtype=np.float64, casting="same_kind")  # rounded once

        with self._simulation.walls_of_now():
            return self._fields.read(self._fields.of_window(read), 0, gather, region)

    def heat(self) -> float:
        """Sum of the temperature over the fluid cells.

        Raises:
            ValueError: the solver has no temperature.
        """
        reference = self._hybrid().reference
        return self._simulation.totals()[3] + reference * self._simulation.fluid_cells

    @property
    def source(self) -> Floats | None:
        """See `Solver.heat_source`."""
        self._hybrid()
        return self._simulation.heat_source

    @source.setter
    def source(self, source: Any) -> None:
        self._hybrid()
        with by_user(self._simulation.processes, "the function of heat_source"):
            value = self._simulation.evaluate_source(taken("source", source))
        self._simulation.set_heat_source(value)

    def heat_flux(self, where: str) -> Any:
        """Heat into the fluid through a face or from a body, each cell of it; the same on all ranks.

        Args:
            where: the name of a face or of a body.

        Returns:
            Of a face an array of its shape, ``(a, b)`` over its axes in the order x, y, z (``(a,)`` in two dimensions):
            heat a step and a unit of area, 0 at solid cells and where the face is adiabatic: the diffusivity times
            a one-sided gradient of second order. Of a body a `BodyHeatFlux`.

        Raises:
            TypeError, ValueError: no face or body of that name, a periodic face, or a solver without a temperature.
        """
        face, body = self._place(where)
        with self._simulation.walls_of_now(faces=True):
            if face is not None:
                return np.ascontiguousarray(self._simulation.engine.heat_flux(face).T)
            cells, flux, area = self._simulation.engine.body_heat_flux(body)
        every = self._simulation.processes.shared([cells.tolist(), flux.tolist(), area.tolist()])
        whole = np.concatenate(
            [np.reshape(part[0], (-1, len(self._simulation.domain.shape))) for part in every]
        ).astype(np.int64)
        flux, area = (np.concatenate([np.asarray(part[k], dtype=np.float64) for part in every]) for k in (1, 2))
        order = np.lexsort(whole.T[::-1])
        return BodyHeatFlux(whole[order], flux[order], area[order])

    def mean_heat_flux(self, where: str, area: float | None = None) -> float:
        """Heat into the fluid a step and a unit of area, the mean over a face's fluid cells or a body's surface.

        Args:
            where: as for `heat_flux`.
            area: of a body's surface, in cells squared (in two dimensions its circumference in cells); that of the
                steps that it is made of if None, which for a round body is 15 % too large on any grid.

        Raises:
            TypeError, ValueError: as `heat_flux`, or an area of a face, or one that is not above 0.
        """
        face, body = self._place(where)
        if area is not None:
            area = checks.number("area", area, above=0)
            if face is not None:
                raise ValueError(f"area: {area:g} given, must be left out for a face")
        with self._simulation.walls_of_now(faces=True):
            if face is not None:
                return self._simulation.engine.mean_heat_flux(face)
            rate, of_steps = self._simulation.engine.body_heat_rate(body)
        if area is not None:
            return rate / area
        return rate / of_steps if of_steps > 0 else 0.0

    def nusselt(self, where: str, length: float, difference: float, area: float | None = None) -> float:
        """The mean Nusselt number of a face or a body: heat into the fluid relative to conduction alone.

        ``Nu = flux length / (diffusivity difference)`` of the `mean_heat_flux`. At a wall that cools the fluid it is
        negative, unless `difference` is.

        Args:
            where: as for `heat_flux`.
            length: that Nu is made with, cells.
            difference: of temperature, not 0.
            area: of a body's surface, as for `mean_heat_flux`.

        Raises:
            TypeError, ValueError: as `mean_heat_flux`, or not finite numbers in range.
        """
        scale = self._nusselt_scale(length, difference)
        return self.mean_heat_flux(where, area) * scale

    def nusselt_map(self, where: str, length: float, difference: float) -> Any:
        """The Nusselt number of each cell of a face, or next to a body.

        Args:
            where, length, difference: as for `nusselt`.

        Returns:
            Of a face an array of its shape, as `heat_flux` gives it. Of a body ``(cells, Nu)``, ``(n, D)`` and
            ``(n,)``, each cell's flux divided by its area; NaN where that is not above 0, as some are with the
            operators of 2013 (see `BodyHeatFlux`).

        Raises:
            TypeError, ValueError: as `nusselt`.
        """
        scale = self._nusselt_scale(length, difference)
        found = self.heat_flux(where)
        if isinstance(found, BodyHeatFlux):
            local = np.full_like(found.flux, np.nan)
            np.divide(found.flux, found.area, out=local, where=found.area > 0)
            return found.cells, local * scale
        return found * scale

    def _nusselt_scale(self, length: float, difference: float) -> float:
        length, limit = checks.number("length", length, above=0), checks.MAX_TEMPERATURE
        difference = checks.number("difference", difference, at_least=-limit, at_most=limit)
        if difference == 0:
            raise ValueError("difference: 0 given, must not be 0")
        return length / (self._hybrid().diffusivity * difference)

    def _check_temperature(self) -> None:
        if not self._simulation.has_temperature:
            raise ValueError("thermal: this solver has no temperature; Solver(thermal=HybridThermal(...)) has one")

    def _hybrid(self) -> HybridThermal:
        self._check_temperature()
        if self._simulation.thermal is None:
            stencil = self._simulation.stencil.name
            raise ValueError(
                f"thermal: {stencil} has no heat sources, sums of heat, heat fluxes or Nusselt numbers, which "
                "belong to HybridThermal; compute them from temperature() and density() (docs/multispeed_thermal.md)"
            )
        return self._simulation.thermal

    def _place(self, where: Any) -> tuple[int | None, int]:
        """The number of a face, or None and that of a body."""
        self._hybrid()
        faces, bodies = list(self._simulation.domain.faces), list(self._simulation.domain.bodies)
        name = checks.choice("where", where, [*faces, *bodies])
        if name not in faces:
            return None, bodies.index(name)
        if isinstance(self._simulation.domain.faces[name], Periodic):
            raise ValueError(f"where: {name!r} given, a face that is periodic, must be one with a condition or a body")
        return faces.index(name), -1
