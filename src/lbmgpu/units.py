"""Converts between lattice and physical units."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

from . import checks
from .guarded import Guarded

_QUANTITIES = [
    (0, 1, 0), (0, 0, 1), (0, 1, -1), (0, 2, -1), (1, -3, 0), (0, 1, -2), (1, -2, -2), (1, -1, -2),
    (1, 0, -2), (1, 1, -2),
]  # fmt: skip
"""The exponents of mass, length and time of each quantity that has methods."""


class Units(Guarded):
    """Physical sizes of the lattice units; values are in lattice units unless a name ends in ``_phys``.

    For every quantity there are two methods: ``units.velocity(velocity_phys)`` gives the lattice value of a physical
    one, ``units.velocity_phys(velocity)`` the physical value of a lattice one. Numbers and arrays convert alike. Any
    consistent physical units will do; the comments say SI.

    Args:
        length_phys: size of a cell, m.
        time_phys: duration of a step, s. Exactly one of time_phys, velocity_phys and viscosity_phys is given.
        velocity_phys: the velocity of one cell a step, m/s.
        viscosity_phys: the kinematic viscosity of one cell squared a step, m2/s.
        density_phys: the density of lattice density 1, kg/m3.

    Raises:
        TypeError, ValueError: the arguments are not positive finite numbers, or not exactly one of time, velocity and
            viscosity is given.

    Source: Krüger et al., The Lattice Boltzmann Method (2017), section 7.2.
    """

    def __init__(
        self,
        *,
        length_phys: float,
        time_phys: float | None = None,
        velocity_phys: float | None = None,
        viscosity_phys: float | None = None,
        density_phys: float = 1.0,
    ) -> None:
        self._cell_phys = checks.number("length_phys", length_phys, above=0)
        scales = {"time_phys": time_phys, "velocity_phys": velocity_phys, "viscosity_phys": viscosity_phys}
        given = {name: checks.number(name, value, above=0) for name, value in scales.items() if value is not None}
        if len(given) != 1:
            raise ValueError(f"Units: {', '.join(given) or 'none'} given, must be one of {', '.join(scales)}")
        self._rho_phys = checks.number("density_phys", density_phys, above=0)
        dx = self._cell_phys
        if time_phys is not None:
            step = given["time_phys"]
        elif velocity_phys is not None:
            step = dx / given["velocity_phys"]
        else:
            step = dx * dx / given["viscosity_phys"]
        self._step_phys = checks.number("duration of a step", step, above=0)
        for exponents in _QUANTITIES:
            self._check_scale(*exponents)

    @property
    def cell_phys(self) -> float:
        """Size of a cell, m."""
        return self._cell_phys

    @property
    def step_phys(self) -> float:
        """Duration of a step, s."""
        return self._step_phys

    @property
    def rho_phys(self) -> float:
        """Density of lattice density 1, kg/m3."""
        return self._rho_phys

    @classmethod
    def from_reynolds(
        cls,
        reynolds: float,
        *,
        length_phys: float,
        viscosity_phys: float | None = None,
        velocity_phys: float | None = None,
        cells: float,
        velocity: float = 0.05,
        density_phys: float = 1.0,
    ) -> Units:
        """Units for a flow of a given Reynolds number ``velocity length / viscosity``.

        Args:
            reynolds: Reynolds number.
            length_phys: characteristic length, m.
            viscosity_phys: kinematic viscosity, m2/s; the characteristic velocity follows from it. Exactly one of
                viscosity_phys and velocity_phys is given.
            velocity_phys: the characteristic velocity, m/s; the viscosity follows from it.
            cells: the characteristic length in cells.
            velocity: the characteristic velocity in cells a step, at most Mach 0.3 (0.173).
            density_phys: density, kg/m3.

        The lattice viscosity is ``velocity cells / reynolds``, which equals ``units.viscosity(viscosity_phys)``.

        Raises:
            TypeError, ValueError: the arguments are not positive finite numbers, the velocity is too high, or not
                exactly one of viscosity_phys and velocity_phys is given.
        """
        reynolds = checks.number("reynolds", reynolds, above=0)
        length_phys = checks.number("length_phys", length_phys, above=0)
        if (viscosity_phys is None) == (velocity_phys is None):
            given = "none" if viscosity_phys is None else "both"
            raise ValueError(f"Units.from_reynolds: {given} given, must be one of viscosity_phys, velocity_phys")
        if velocity_phys is None:
            full_speed_phys = reynolds * checks.number("viscosity_phys", viscosity_phys, above=0) / length_phys
        else:
            full_speed_phys = checks.number("velocity_phys", velocity_phys, above=0)
        cells = checks.number("cells", cells, above=0)
        velocity = checks.number("velocity", velocity, above=0, at_most=checks.MAX_MACH / math.sqrt(3))
        return cls(length_phys=length_phys / cells, velocity_phys=full_speed_phys / velocity, density_phys=density_phys)

    def _scale(self, mass: int, length: int, time: int) -> float:
        """Physical size of the lattice unit with these exponents; the unit of mass is a cell's mass at density 1."""
        return self._rho_phys**mass * self._cell_phys ** (3 * mass + length) * self._step_phys**time

    def _check_scale(self, mass: int, length: int, time: int) -> None:
        """Raise ValueError where the unit with these exponents is beyond the range of float64."""
        try:
            scale = self._scale(mass, length, time)
        except (OverflowError, ZeroDivisionError):
            scale = math.inf
        if not 0 < scale < math.inf:
            raise ValueError(
                f"Units: a cell of {self._cell_phys:g}, a step of {self._step_phys:g} and a density of "
                f"{self._rho_phys:g} given, must be such that all quantities are within the range of float64"
            )

    def length(self, length_phys: Any) -> Any:
        """Cells in `length_phys`, m."""
        return _converted("length_phys", length_phys, self._scale(0, 1, 0), operator.truediv)

    def length_phys(self, length: Any) -> Any:
        """Metres in `length` cells."""
        return _converted("length", length, self._scale(0, 1, 0), operator.mul)

    def time(self, time_phys: Any) -> Any:
        """Steps in `time_phys`, s."""
        return _converted("time_phys", time_phys, self._scale(0, 0, 1), operator.truediv)

    def time_phys(self, time: Any) -> Any:
        """Seconds in `time` steps."""
        return _converted("time", time, self._scale(0, 0, 1), operator.mul)

    def velocity(self, velocity_phys: Any) -> Any:
        """Cells a step for `velocity_phys`, m/s."""
        return _converted("velocity_phys", velocity_phys, self._scale(0, 1, -1), operator.truediv)

    def velocity_phys(self, velocity: Any) -> Any:
        """m/s for `velocity`, cells a step."""
        return _converted("velocity", velocity, self._scale(0, 1, -1), operator.mul)

    def viscosity(self, viscosity_phys: Any) -> Any:
        """Cells squared a step for the kinematic `viscosity_phys`, m2/s."""
        return _converted("viscosity_phys", viscosity_phys, self._scale(0, 2, -1), operator.truediv)

    def viscosity_phys(self, viscosity: Any) -> Any:
        """m2/s for the kinematic `viscosity`, cells squared a step."""
        return _converted("viscosity", viscosity, self._scale(0, 2, -1), operator.mul)

    def density(self, density_phys: Any) -> Any:
        """Lattice density for `density_phys`, kg/m3."""
        return _converted("density_phys", density_phys, self._scale(1, -3, 0), operator.truediv)

    def density_phys(self, density: Any) -> Any:
        """kg/m3 for the lattice `density`."""
        return _converted("density", density, self._scale(1, -3, 0), operator.mul)

    def acceleration(self, acceleration_phys: Any) -> Any:
        """Cells a step squared for `acceleration_phys`, m/s2."""
        return _converted("acceleration_phys", acceleration_phys, self._scale(0, 1, -2), operator.truediv)

    def acceleration_phys(self, acceleration: Any) -> Any:
        """m/s2 for `acceleration`, cells a step squared."""
        return _converted("acceleration", acceleration, self._scale(0, 1, -2), operator.mul)

    def force_density(self, force_density_phys: Any) -> Any:
        """Lattice body force a volume, as `Solver(force=...)` takes it, for `force_density_phys`, N/m3."""
        return _converted("force_density_phys", force_density_phys, self._scale(1, -2, -2), operator.truediv)

    def force_density_phys(self, force_density: Any) -> Any:
        """N/m3 for the lattice body force a volume `force_density`; divided by the density it is an acceleration."""
        return _converted("force_density", force_density, self._scale(1, -2, -2), operator.mul)

    def pressure(self, pressure_phys: Any) -> Any:
        """Lattice pressure for `pressure_phys`, Pa."""
        return _converted("pressure_phys", pressure_phys, self._scale(1, -1, -2), operator.truediv)

    def pressure_phys(self, pressure: Any) -> Any:
        """Pa for the lattice `pressure`, which is ``(density - 1) / 3`` relative to the pressure at density 1."""
        return _converted("pressure", pressure, self._scale(1, -1, -2), operator.mul)

    def force(self, force_phys: Any, dimensions: int = 3) -> Any:
        """Lattice force on a whole body for `force_phys`, N; in two `dimensions` N/m, a metre of the body's depth."""
        missing = 3 - checks.integer("dimensions", dimensions, at_least=2, at_most=3)
        return _converted("force_phys", force_phys, self._scale(1, 1 - missing, -2), operator.truediv)

    def force_phys(self, force: Any, dimensions: int = 3) -> Any:
        """N for the lattice `force` on a whole body, as `Solver.body_force` gives it.

        In two `dimensions` N/m: the force on a metre of the body's depth.
        """
        missing = 3 - checks.integer("dimensions", dimensions, at_least=2, at_most=3)
        return _converted("force", force, self._scale(1, 1 - missing, -2), operator.mul)

    def __repr__(self) -> str:
        return f"Units(length_phys={self._cell_phys:g}, time_phys={self._step_phys:g}, density_phys={self._rho_phys:g})"


def _converted(name: str, value: Any, scale: float, operation: Callable[[Any, float], Any]) -> Any:
    """`value` multiplied or divided by `scale`; TypeError where that cannot be done."""
    try:
        if not isinstance(value, str | bytes | list | tuple):
            return operation(value, scale)
        problem = ""
    except MemoryError:
        raise
    except Exception as error:  # a type of the user's raises it, or an integer is too large for a float
        problem = f" ({error})"
    raise TypeError(f"{name}: {checks.shown(value)} given, must be a number or an array{problem}")
