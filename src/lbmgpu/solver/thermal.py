"""The temperature of a solver: its field and sums, its source, and the heat that walls and bodies give."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import checks, kinetic, values
from ..conditions import Periodic, field_value
from ..engine import digits
from ..parallel.collective import by_user, collective, collective_if_gathered
from ..thermal import BodyHeatFlux, HybridThermal, source_value
from ..values import Floats
from .fields import Fields


class ThermalFields(Fields):
    """The part of `Solver` about the temperature; but for `thermal`, all raise ValueError where there is none.

    Of D2Q37, whose populations carry it, `temperature` is there; the others belong to `HybridThermal` and raise too.

    Fluxes are into the fluid, in units of temperature times cells a step. At a half-way wall the gradient is
    ``(8 T_w - 9 T_1 + T_2) / 3``, of second order, T_1 and T_2 being the two cells next to it; on bodies it is what the
    step itself takes from the wall.
    """

    _heat_source: Floats | None
    _fluid_cells: int
    _channel_width: float

    @collective_if_gathered
    def temperature(self, gather: bool = False, above_reference: bool = False) -> Any:
        """Temperature, ``(nx, ny[, nz])``, in the dtype of `precision`.

        Cells of an isothermal body have the temperature of its surface, those of others the model's reference. In D2Q37
        it is in units of a cell a step squared, ``2 rho T = sum_i f_i |c_i - u|^2``, with gravity's part of a step
        added (Sbragaglia et al., J. Fluid Mech. 628 (2009) 299).

        Args:
            gather: see `density`.
            above_reference: the deviation ``T - reference`` of `HybridThermal` in place of T. It is what the solver
                computes with and has all its digits, of which the sum loses some in float32: differences of
                temperatures in kelvin, as local gradients need them, are better taken from it.

        Raises:
            ValueError: the solver has no temperature, or `above_reference` is asked for in D2Q37.
        """
        self._check_temperature()
        if checks.flag("above_reference", above_reference):
            self._hybrid()
        reference = 0.0 if above_reference else self._reference_temperature

        def read(out: NDArray[Any]) -> None:
            self._engine.temperature(out)
            if reference != 0:
                np.add(out, reference, out=out, dtype=np.float64, casting="same_kind")  # rounded once

        with self._walls_of_now():
            return self._field(read, 0, gather)

    @collective
    def heat(self) -> float:
        """Sum of the temperature over the fluid cells.

        Raises:
            ValueError: the solver has no temperature.
        """
        reference = self._hybrid().reference
        return self._totals()[3] + reference * self._fluid_cells

    @property
    def heat_source(self) -> Floats | None:
        """Heat a step in units of temperature, ``()`` or ``(nx, ny[, nz])``; assign a number, an array, a callable of
        the cell centres' coordinates or None.

        Raises:
            ValueError: the solver has no temperature.
        """
        self._hybrid()
        return self._heat_source

    @heat_source.setter
    @collective
    def heat_source(self, source: ArrayLike | Callable[..., Any] | None) -> None:
        self._hybrid()
        with by_user(self._processes, "the function of heat_source"):
            value = self._evaluate_source(source)
        self._set_source(value)

    @collective
    def heat_flux(self, where: str) -> Any:
        """Heat into the fluid through a face or from a body, each cell of it; the same on all ranks.

        Args:
            where: the name of a face or of a body.

        Returns:
            Of a face an array of its shape, ``(a, b)`` over its axes in the order x, y, z (``(a,)`` in two dimensions):
            heat a step and a unit of area, 0 beside solid cells and where the face is adiabatic: the diffusivity times
            a one-sided gradient of second order. Of a body a `BodyHeatFlux`.

        Raises:
            TypeError, ValueError: no face or body of that name, a periodic face, or a solver without a temperature.
        """
        face, body = self._place(where)
        with self._walls_of_now(faces=True):
            if face is not None:
                return np.ascontiguousarray(self._engine.heat_flux(face).T)
            cells, flux, area = self._engine.body_heat_flux(body)
        every = self._processes.shared([cells.tolist(), flux.tolist(), area.tolist()])
        whole = np.concatenate([np.reshape(part[0], (-1, len(self._domain.shape))) for part in every]).astype(np.int64)
        flux, area = (np.concatenate([np.asarray(part[k], dtype=np.float64) for part in every]) for k in (1, 2))
        order = np.lexsort(whole.T[::-1])
        return BodyHeatFlux(whole[order], flux[order], area[order])

    @collective
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
        with self._walls_of_now(faces=True):
            if face is not None:
                return self._engine.mean_heat_flux(face)
            rate, of_steps = self._engine.body_heat_rate(body)
        if area is not None:
            return rate / area
        return rate / of_steps if of_steps > 0 else 0.0

    def nusselt(self, where: str, length: float, difference: float, area: float | None = None) -> float:
        """The mean Nusselt number of a face or a body: heat into the fluid beside what conduction alone would bring.

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
        """The Nusselt number of each cell of a face, or beside a body.

        Args:
            where, length, difference: as for `nusselt`.

        Returns:
            Of a face an array of its shape, as `heat_flux` gives it. Of a body ``(cells, Nu)``, ``(n, D)`` and
            ``(n,)``, each cell's flux divided by its area; NaN where that is not above 0, as some are with the
            printed operators (see `BodyHeatFlux`).

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
        if not self._has_temperature:
            raise ValueError("thermal: this solver has no temperature; Solver(thermal=HybridThermal(...)) has one")

    def _hybrid(self) -> HybridThermal:
        self._check_temperature()
        if self.thermal is None:
            stencil = self._stencil.name
            raise ValueError(
                f"thermal: {stencil} has no heat sources, sums of heat, heat fluxes or Nusselt numbers, which "
                "belong to HybridThermal; compute them from temperature() and density() (docs/kinetic_thermal.md)"
            )
        return self.thermal

    def _place(self, where: Any) -> tuple[int | None, int]:
        """The number of a face, or None and that of a body."""
        self._hybrid()
        faces, bodies = list(self._domain.faces), list(self._domain.bodies)
        name = checks.choice("where", where, [*faces, *bodies])
        if name not in faces:
            return None, bodies.index(name)
        if isinstance(self._domain.faces[name], Periodic):
            raise ValueError(f"where: {name!r} given, a face that is periodic, must be one with a condition or a body")
        return faces.index(name), -1

    def _initial_temperature(self, temperature: Any) -> NDArray[np.float64]:
        if not self._has_temperature:
            raise ValueError("temperature: given, but the solver has none; Solver(thermal=HybridThermal(...)) has one")
        shape, value = self._domain.shape, field_value("temperature", temperature, vector=False)
        field = values.evaluate("temperature", value, shape, values.cell_centres(shape), None)
        checks.temperatures("temperature", field)
        kinetic.check_temperatures(self._stencil.name, "temperature", field)
        if self.thermal is not None:
            digits.check_temperatures(self, field)
        above = np.subtract(field, self._reference_temperature)
        return values.to_engine(np.broadcast_to(above, shape), components=False)

    def _evaluate_source(self, source: Any) -> Floats | None:
        if source is None:
            return None
        shape = self._domain.shape
        result = values.evaluate("source", source_value(source), shape, values.cell_centres(shape), None).copy()
        checks.temperatures("source", result)
        result.flags.writeable = False
        return result

    def _set_source(self, source: Floats | None) -> None:
        with self._lock:
            if self.thermal is not None:
                self._engine.set_heat_source(None if source is None else values.to_engine(source, components=False))
            self._heat_source = source
