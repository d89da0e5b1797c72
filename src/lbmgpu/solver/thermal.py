"""The temperature of a solver: its field and sums, its source, and the heat that walls and bodies give."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import checks, models
from ..conditions import Periodic
from ..engine.foreign_arrays import taken
from ..engine.heat_source import evaluate_source
from ..engine.simulation import Simulation
from ..multispeed import FLUXES, SPECIFIC_HEAT, ThermalBGK
from ..parallel.collective import by_user
from ..thermal import BodyHeatFlux, HybridThermal
from ..values import Floats
from .fields import Fields


class ThermalFields:
    """The part of `Solver` about the temperature; but for `thermal`, all raise ValueError where there is none.

    Fluxes are into the fluid. With `HybridThermal` they are in units of temperature times cells a step: at a half-way
    wall the gradient is ``(8 T_w - 9 T_1 + T_2) / 3``, of second order, T_1 and T_2 being the two cells next to it; on
    bodies it is what the step itself takes from the wall. With D2Q37 they are energies, a step and a cell of the wall:
    what the next step takes in through it, or Fourier's law at it (`heat_flux`).
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
        """Sum of the temperature over the fluid cells; with D2Q37 of the internal energy ``rho T``, as c_v is 1.

        With D2Q37 ``heat() + kinetic_energy()`` changes in a step by the `heat_flux` of all walls before it, and by the
        work of gravity, ``gravity . momentum()``, in the mean of before and after: to rounding.

        Raises:
            ValueError: the solver has no temperature.
        """
        self._check_temperature()
        reference = self._simulation.reference_temperature
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
            value = evaluate_source(self._simulation.settings, taken("source", source))
        self._simulation.set_heat_source(value)

    def heat_flux(self, where: str, by: str | None = None) -> Any:
        """Heat into the fluid through a face or from a body, each cell of it; the same on all ranks.

        Args:
            where: the name of a face or of a body.
            by: with D2Q37, how it is found. ``"exchange"``, the default: the energy that the next step takes in through
                the wall, less what leaves there, ``sum_i f_i |c_i|^2 / 2``; it is the flux of the non-equilibrium
                moments at the wall, and balances the energy of the gas to rounding (`heat`). ``"gradient"``: Fourier's
                law of the temperatures of now, ``2 p (tau_heat - 1/2) (184 T_w - 225 T_1 + 50 T_2 - 9 T_3) / 60``, with
                the pressure p at the wall and the temperatures of the wall and of the three cells next to it. Else
                None.

        Returns:
            Of a face an array of its shape, ``(a, b)`` over its axes in the order x, y, z (``(a,)`` in two dimensions):
            heat a step and a unit of area, 0 at solid cells and where the face is adiabatic: with `HybridThermal` the
            diffusivity times a one-sided gradient of second order. Of a body a `BodyHeatFlux`.

        Raises:
            TypeError, ValueError: no face or body of that name, a periodic face, a solver without a temperature, or
                `by` another word, or given without D2Q37.
        """
        face, body = self._place(where)
        exchanged = self._is_exchange(by)
        with self._simulation.walls_of_now(faces=True):
            if face is not None:
                return self._of_face(face, exchanged)
            cells, flux, area = self._simulation.engine.body_heat_flux(body)
        every = self._simulation.processes.shared([cells.tolist(), flux.tolist(), area.tolist()])
        whole = np.concatenate(
            [np.reshape(part[0], (-1, len(self._simulation.domain.shape))) for part in every]
        ).astype(np.int64)
        flux, area = (np.concatenate([np.asarray(part[k], dtype=np.float64) for part in every]) for k in (1, 2))
        order = np.lexsort(whole.T[::-1])
        return BodyHeatFlux(whole[order], flux[order], area[order])

    def mean_heat_flux(self, where: str, area: float | None = None, by: str | None = None) -> float:
        """Heat into the fluid a step and a unit of area, the mean over a face's fluid cells or a body's surface.

        Args:
            where: as for `heat_flux`.
            area: of a body's surface, in cells squared (in two dimensions its circumference in cells); that of the
                steps that it is made of if None, which for a round body is 15 % too large on any grid.
            by: as for `heat_flux`.

        Raises:
            TypeError, ValueError: as `heat_flux`, or an area of a face, or one that is not above 0.
        """
        face, body = self._place(where)
        exchanged = self._is_exchange(by)
        if area is not None:
            area = checks.number("area", area, above=0)
            if face is not None:
                raise ValueError(f"area: {area:g} given, must be left out for a face")
        with self._simulation.walls_of_now(faces=True):
            if face is not None:
                if exchanged:
                    return self._simulation.engine.mean_heat_flux(face)
                return float(self._of_face(face, exchanged).mean())
            rate, of_steps = self._simulation.engine.body_heat_rate(body)
        if area is not None:
            return rate / area
        return rate / of_steps if of_steps > 0 else 0.0

    def nusselt(
        self,
        where: str,
        length: float | None = None,
        difference: float | None = None,
        area: float | None = None,
        by: str | None = None,
    ) -> float:
        """The mean Nusselt number of a face or a body: heat into the fluid relative to conduction alone.

        With `HybridThermal` ``Nu = flux length / (diffusivity difference)`` of the `mean_heat_flux`. With D2Q37 only
        what exceeds the adiabatic gradient counts, ``Nu = (q - k a) / (k (difference / length - a))``: q is the
        `mean_heat_flux`, ``k = 2 p (tau_heat - 1/2)`` the conductivity at the mean pressure of the gas, `heat` over its
        cells, and a what gas that moves away from the wall cools by in a cell: the component of gravity towards the
        wall over c_p = 2. In a steady state both plates of a layer have the same, and without flow it is 1 (less
        ``(g H / T)**2 / 12``, over the part of the difference that exceeds the adiabatic one, for layers of height H).

        Args:
            where: as for `heat_flux`.
            length: that Nu is made with, cells; of a face if None the distance of the opposite one.
            difference: of temperature, that of the wall less that of the fluid or wall that it heats: at a wall that
                cools the fluid Nu has the wrong sign unless `difference` is negative, and with D2Q37 and gravity also a
                wrong magnitude. Of a face opposite to another isothermal one if None: its mean temperature of now less
                that of the other one. Not 0; with D2Q37 not the adiabatic one either.
            area: of a body's surface, as for `mean_heat_flux`.
            by: as for `heat_flux`.

        Raises:
            TypeError, ValueError: as `mean_heat_flux`, or not finite numbers in range, or left out where they are not
                known.
        """
        with self._simulation.lock:  # all of one state
            scale, adiabatic = self._nusselt_scale(where, length, difference)
            return (self.mean_heat_flux(where, area, by) - adiabatic) * scale

    def nusselt_map(
        self, where: str, length: float | None = None, difference: float | None = None, by: str | None = None
    ) -> Any:
        """The Nusselt number of each cell of a face, or next to a body.

        Args:
            where, length, difference, by: as for `nusselt`.

        Returns:
            Of a face an array of its shape, as `heat_flux` gives it. Of a body ``(cells, Nu)``, ``(n, D)`` and
            ``(n,)``, each cell's flux divided by its area; NaN where that is not above 0, as some are with the
            operators of 2013 (see `BodyHeatFlux`).

        Raises:
            TypeError, ValueError: as `nusselt`.
        """
        with self._simulation.lock:
            scale, adiabatic = self._nusselt_scale(where, length, difference)
            found = self.heat_flux(where, by)
        if isinstance(found, BodyHeatFlux):
            local = np.full_like(found.flux, np.nan)
            np.divide(found.flux, found.area, out=local, where=found.area > 0)
            return found.cells, local * scale
        return (found - adiabatic) * scale

    def _of_face(self, face: int, exchanged: bool) -> NDArray[np.float64]:
        """The heat flux of each cell of a face, once walls have the values of now."""
        engine = self._simulation.engine
        return np.ascontiguousarray((engine.heat_flux(face) if exchanged else engine.column_heat(face, False)).T)

    def _is_exchange(self, by: Any) -> bool:
        """Whether the flux is the model's own, which of D2Q37 is what a step exchanges with the wall."""
        if by is None:
            return True
        word = checks.choice("by", by, FLUXES)
        if not self._simulation.model.carries_temperature:
            stencils = checks.alternatives(models.that_carry_temperature())
            raise ValueError(f"by: {word!r} given, must be left out but with {stencils}")
        return word == "exchange"

    def _nusselt_scale(self, where: Any, length: Any, difference: Any) -> tuple[float, float]:
        """What a heat flux is multiplied with for Nu, after the adiabatic flux has been taken off."""
        face, _ = self._place(where)
        simulation, limit = self._simulation, checks.MAX_TEMPERATURE
        if length is None and face is not None:
            length = simulation.domain.shape[face // 2]
        if difference is None and face is not None:
            difference = self._difference(where)
        for name, value in (("length", length), ("difference", difference)):
            if value is None:
                raise ValueError(f"{name}: must be given for a body")
        length = checks.number("length", length, above=0)
        difference = checks.number("difference", difference, at_least=-limit, at_most=limit)
        if difference == 0:
            raise ValueError("difference: 0 given, must not be 0")
        gas = simulation.collision
        if face is None or not isinstance(gas, ThermalBGK):
            return length / (self._hybrid().diffusivity * difference), 0.0
        conductivity = gas.conductivity(simulation.totals()[3] / simulation.fluid_cells)
        cooling = gas.gravity[face // 2] * (-1 if face % 2 == 0 else 1) / SPECIFIC_HEAT
        beyond = difference / length - cooling
        if beyond == 0:
            raise ValueError(f"difference: {difference:g} given, must not be the adiabatic one, of which Nu has none")
        return 1 / (conductivity * beyond), conductivity * cooling

    def _difference(self, where: str) -> float:
        """The mean temperature of a face less that of the opposite one."""
        other = f"{'+' if where[0] == '-' else '-'}{where[1]}"
        with self._simulation.walls_of_now(faces=True):
            temperatures = self._simulation.boundary.face_temperatures
            for name in (where, other):
                if name not in temperatures:
                    raise ValueError(f"difference: must be given, as the face {name!r} is not Isothermal")
            return float(np.mean(temperatures[where]) - np.mean(temperatures[other]))

    def _check_temperature(self) -> None:
        if not self._simulation.has_temperature:
            raise ValueError("thermal: this solver has no temperature; Solver(thermal=HybridThermal(...)) has one")

    def _hybrid(self) -> HybridThermal:
        self._check_temperature()
        if self._simulation.thermal is None:
            stencil = self._simulation.stencil.name
            raise ValueError(
                f"thermal: {stencil} has neither heat sources nor a reference temperature, which belong to "
                "HybridThermal (docs/multispeed_thermal.md)"
            )
        return self._simulation.thermal

    def _place(self, where: Any) -> tuple[int | None, int]:
        """The number of a face, or None and that of a body."""
        self._check_temperature()
        faces, bodies = list(self._simulation.domain.faces), list(self._simulation.domain.bodies)
        name = checks.choice("where", where, [*faces, *bodies])
        if name not in faces:
            return None, bodies.index(name)
        if isinstance(self._simulation.domain.faces[name], Periodic):
            raise ValueError(f"where: {name!r} given, a face that is periodic, must be one with a condition or a body")
        return faces.index(name), -1
