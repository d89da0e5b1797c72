"""The hybrid thermal model, the limits of its stability, and set-ups of convection by dimensionless numbers.

The temperature is advanced by finite differences in the step of the flow, which it drives by buoyancy: the hybrid
thermal model of Lallemand & Luo, Phys. Rev. E 68 (2003) 036706, as Obrecht, Kuznik, Tourancheau & Roux, Computers &
Fluids 80 (2013) 269 compute it on GPUs.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import KW_ONLY, dataclass, fields, replace
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import _core, checks, models
from .conditions import field_value, same_values
from .deprecated import renamed_word
from .errors import ThermallyUnstableError
from .time_functions.product import takes_time

OPERATORS = ("isotropic", "obrecht2013")
OLD_OPERATORS = {"printed": "obrecht2013"}
"""Words of checkpoints and cases of earlier versions, and of the engine, beside those of now."""

# Weights of an axis and of a diagonal neighbour, of the Laplacian and of the gradient. In two dimensions they are those
# of three, summed over z.
_WEIGHTS = {
    ("isotropic", 2): ((2 / 3, 1 / 6), (1 / 3, 1 / 12)),
    ("isotropic", 3): ((1 / 3, 1 / 6), (1 / 6, 1 / 12)),
    ("obrecht2013", 2): ((3 / 2, -1 / 4), (3 / 4, -1 / 8)),
    ("obrecht2013", 3): ((2.0, -1 / 4), (1.0, -1 / 8)),
}
_DIFFUSIVITY_LIMITS = {
    ("isotropic", 2): 3 / 8,
    ("isotropic", 3): 3 / 8,
    ("obrecht2013", 2): 1 / 6,
    ("obrecht2013", 3): 1 / 12,
}
_WAVES = 4096
"""Wave numbers that the limit of the speed is sought at; its error goes with the square of their distance."""


@dataclass(frozen=True, eq=False)
class HybridThermal:
    """A temperature advanced by explicit finite differences, ``T(t+1) = T + kappa Lap T - u . grad T + q``.

    The velocity is that of the flow's step, half of the force included; the force gets ``buoyancy (T - reference)``
    (Boussinesq). Lallemand & Luo, Phys. Rev. E 68 (2003) 036706; Obrecht et al., Computers & Fluids 80 (2013) 269.

    Args:
        diffusivity: kappa, cells squared a step, above 0 and at most `diffusivity_limit`.
        buoyancy: force a volume for each unit of temperature above `reference`, at density 1: a vector ``(D,)``, for
            gravity g and an expansion beta it is ``-beta g``; None for a temperature that the flow only carries. In
            two dimensions a third component may be there if it is 0.
        reference: temperature at which there is no buoyancy, and that of the fluid unless `Solver.initialize` is told.
            What is stored and computed is the deviation ``T - reference``, so that temperatures in kelvin lose no
            digits if it lies amid them; far off them a solver in float32 warns with `LostDigitsWarning`.
        operators: ``"isotropic"``: differences over all neighbours whose first errors do not depend on the direction.
            ``"obrecht2013"``: those of the paper of 2013, less exact and less stable.
        energy_coupling: q1, by which the temperature enters the equilibrium of the energy moment:
            ``energy_coupling (T - reference)`` is added to it, which is 1 in the paper of 2013. It makes the density
            depend on the temperature, so keep differences far below 1 with it; 0 for none. `Solver.initialize` gives
            the equilibrium without it, so that a run starts with a pressure wave of the order of
            ``energy_coupling (T - reference) / 57``.
        source: heat a step, in units of temperature: a number, an array ``(nx, ny[, nz])`` or a callable of the cell
            centres' coordinates; None for none.

    All temperatures, and the heat of a step, are at most 1e6 in magnitude.

    Raises:
        TypeError, ValueError: not finite numbers in range; a source that changes in time.
    """

    diffusivity: float
    _: KW_ONLY
    buoyancy: Any = None
    reference: float = 0.0
    operators: str = "isotropic"
    energy_coupling: float = 0.0
    source: Any = None

    def __post_init__(self) -> None:
        limits = {"at_least": -checks.MAX_TEMPERATURE, "at_most": checks.MAX_TEMPERATURE}
        checked = {
            "diffusivity": checks.number("diffusivity", self.diffusivity, above=0),
            "buoyancy": None if self.buoyancy is None else _vector(self.buoyancy),
            "reference": checks.number("reference", self.reference, **limits),
            "operators": _operators(self.operators),
            "energy_coupling": checks.number("energy_coupling", self.energy_coupling, **limits),
            "source": None if self.source is None else source_value(self.source),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    def __eq__(self, other: object) -> bool:
        """Whether both do the same: a buoyancy of zeros is none, as is a third component of 0."""
        if not isinstance(other, HybridThermal):
            return NotImplemented
        return same_values(replace(self, buoyancy=None), replace(other, buoyancy=None)) and _padded(
            self.buoyancy
        ) == _padded(other.buoyancy)

    def __hash__(self) -> int:
        return hash((self.diffusivity, _padded(self.buoyancy), self.reference, self.operators, self.energy_coupling))

    def __reduce__(self) -> tuple[Any, ...]:
        """Its arguments, for pickle and copy, which would leave a source writeable."""
        more = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "diffusivity"}
        return partial(HybridThermal, **more), (self.diffusivity,)

    def check(self, stencil: _core.Stencil) -> None:
        """Raise ValueError where parameters do not suit `stencil`, ThermallyUnstableError where they are unstable."""
        models.of(stencil.name, thermal=True)
        self._components(stencil.D)
        limit = diffusivity_limit(self.operators, stencil.D)
        if self.diffusivity > limit:
            raise ThermallyUnstableError(
                f"diffusivity: {self.diffusivity:g} given, must be at most {limit:.4g} for the {self.operators} "
                f"operators in {stencil.D} dimensions to be stable"
            )

    def check_speed(self, name: str, velocity: NDArray[np.float64]) -> None:
        """Raise ThermallyUnstableError if a speed of `velocity`, components first, exceeds `speed_limit`."""
        limit = speed_limit(self.diffusivity, self.operators, len(velocity))
        fastest = checks.fastest(velocity)
        if fastest > limit:
            raise ThermallyUnstableError(
                f"{name}: a speed of {fastest:.4g} given, must be at most {limit:.4g} cells a step for a temperature "
                f"of diffusivity {self.diffusivity:g} to be stable"
            )

    def parameters(self, stencil: _core.Stencil) -> dict[str, Any]:
        """The parameters in full, but for the source, in the names of the engine, which does not take the reference."""
        return {
            "diffusivity": self.diffusivity,
            "operators": self.operators,
            "energy_coupling": self.energy_coupling,
            "buoyancy": self._components(stencil.D),
            "reference": self.reference,
        }

    def _components(self, dimensions: int) -> list[float]:
        given = [0.0] * dimensions if self.buoyancy is None else list(self.buoyancy)
        if len(given) < dimensions or any(given[dimensions:]):
            raise ValueError(f"buoyancy: {checks.shown(self.buoyancy)} given, must have {dimensions} components")
        return given[:dimensions]


def _operators(given: Any) -> str:
    return checks.choice("operators", renamed_word("operators", given, OLD_OPERATORS), OPERATORS)


def _padded(buoyancy: tuple[float, ...] | None) -> tuple[float, ...]:
    """A vector with as many components as given, extended by zeros to three."""
    return (*(buoyancy or (0.0, 0.0)), 0.0)[:3]


def _vector(value: Any) -> tuple[float, ...]:
    array = checks.real_array("buoyancy", value)
    if array.ndim != 1 or array.size not in (2, 3):
        raise ValueError(f"buoyancy: {checks.shown(value)} given, must be a vector of 2 or 3 components")
    if np.abs(array).max() > 1:
        raise ValueError(f"buoyancy: {checks.shown(value)} given, must be at most 1 in magnitude, in lattice units")
    return tuple(array.tolist())


def source_value(value: Any) -> Any:
    """A heat source as a checked value: a read-only array, or the callable."""
    source = field_value("source", value, vector=False)
    if takes_time(source):
        raise ValueError(
            "source: takes t, but a heat source does not change by itself; assign solver.heat_source between steps"
        )
    if not callable(source):
        checks.temperatures("source", source)
    return source


def diffusivity_limit(operators: str, dimensions: int) -> float:
    """The largest stable diffusivity of a fluid at rest, cells squared a step.

    2 over the largest magnitude of the Laplacian's symbol: 3/8 for the isotropic operators, for those of 2013 1/12
    in three dimensions and 1/6 in two.

    Args:
        operators: ``"isotropic"`` or ``"obrecht2013"``.
        dimensions: 2 or 3.

    Raises:
        TypeError, ValueError: others.
    """
    return _DIFFUSIVITY_LIMITS[_kind(operators, dimensions)]


def speed_limit(diffusivity: float, operators: str = "isotropic", dimensions: int = 3) -> float:
    """The largest speed, cells a step, at which no wave of the temperature grows, whatever the direction.

    By von Neumann's analysis: ``|1 + kappa L(k) - i u . G(k)| <= 1`` for all wave vectors k, with the symbols L of the
    Laplacian and iG of the gradient. For the isotropic operators it is ``sqrt(2 kappa)``, which long waves set; for the
    ones of 2013 shorter waves along the diagonal set a lower one.

    Args:
        diffusivity: kappa, cells squared a step.
        operators: ``"isotropic"`` or ``"obrecht2013"``.
        dimensions: 2 or 3.

    Returns:
        The limit; 0 where the diffusivity exceeds its own.

    Raises:
        TypeError, ValueError: not a finite number above 0, or no such operators or dimensions.
    """
    kappa = checks.number("diffusivity", diffusivity, above=0)
    return _speed_limit(kappa, _kind(operators, dimensions))


@lru_cache(maxsize=64)  # cached, as conditions that change in time need it in every step
def _speed_limit(kappa: float, kind: tuple[str, int]) -> float:
    if kappa > _DIFFUSIVITY_LIMITS[kind]:
        return 0.0
    long_waves = math.sqrt(2 * kappa)
    if kind[0] == "isotropic":
        return long_waves
    angle = np.linspace(0.0, math.pi, _WAVES + 1, dtype=np.float64)[1:-1]  # at both ends the gradient's symbol is 0
    laplacian, gradient = _on_diagonal(kind, angle)
    room = np.maximum(0.0, 1 - (1 + kappa * laplacian) ** 2)
    return min(long_waves, float(np.sqrt(room / gradient**2).min()))


def _on_diagonal(kind: tuple[str, int], angle: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The symbol of the Laplacian, and the magnitude of the gradient's, for k = angle (1, ..., 1)."""
    laplacian_weights, gradient_weights = _WEIGHTS[kind]
    dimensions = kind[1]
    laplacian, gradient = np.zeros_like(angle), np.zeros_like(angle)
    for c in itertools.product((-1, 0, 1), repeat=dimensions):
        distance = sum(map(abs, c))
        if distance in (1, 2):
            laplacian += laplacian_weights[distance - 1] * (np.cos(sum(c) * angle) - 1)
            gradient += gradient_weights[distance - 1] * c[0] * np.sin(sum(c) * angle)
    return laplacian, math.sqrt(dimensions) * np.abs(gradient)


def _kind(operators: Any, dimensions: Any) -> tuple[str, int]:
    return _operators(operators), checks.integer("dimensions", dimensions, at_least=2, at_most=3)


class BodyHeatFlux(NamedTuple):
    """Heat into the fluid from the surface of a body, cell by cell.

    Attributes:
        cells: indices of the fluid cells next to it, ``(n, D)``, sorted.
        flux: heat a step that each gets, ``(n,)``.
        area: of the surface as these cells see it, ``(n,)``: 1 for a cell beside a flat wall. It is the sum of the
            Laplacian's weights over the cell's links, of which the ``"obrecht2013"`` operators have negative ones on
            diagonals: with them a cell that sees the body across its edges or corners only has an area below 0.
    """

    cells: NDArray[np.int64]
    flux: NDArray[np.float64]
    area: NDArray[np.float64]


@dataclass(frozen=True)
class Convection:
    """Natural convection by its dimensionless numbers, in lattice units.

    ``Ra = g beta dT L^3 / (nu kappa)`` and ``Pr = nu / kappa``, with the speed of free fall
    ``sqrt(g beta dT L) = velocity``, so that ``nu = velocity L sqrt(Pr / Ra)`` and ``kappa = nu / Pr``.

    Args:
        rayleigh: Ra, above 0.
        prandtl: Pr, above 0.
        cells: the height L in cells; half-way walls on the faces are this far apart.
        velocity: the speed of free fall, cells a step, at most Mach 0.3 (0.173); 0.1 or less is usual.
        difference: dT, between the walls, above 0.

    Raises:
        TypeError, ValueError: not finite numbers in range.
    """

    rayleigh: float
    prandtl: float
    cells: float
    _: KW_ONLY
    velocity: float = 0.1
    difference: float = 1.0

    def __post_init__(self) -> None:
        for name in ("rayleigh", "prandtl", "cells"):
            object.__setattr__(self, name, checks.number(name, getattr(self, name), above=0))
        velocity = checks.number("velocity", self.velocity, above=0, at_most=checks.MAX_MACH / math.sqrt(3))
        difference = checks.number("difference", self.difference, above=0, at_most=checks.MAX_TEMPERATURE)
        object.__setattr__(self, "velocity", velocity)
        object.__setattr__(self, "difference", difference)

    @property
    def length(self) -> float:
        """L, the height in cells."""
        return self.cells

    @property
    def viscosity(self) -> float:
        """nu, for the collision, cells squared a step."""
        return self.velocity * self.length * math.sqrt(self.prandtl / self.rayleigh)

    @property
    def diffusivity(self) -> float:
        """kappa, cells squared a step."""
        return self.viscosity / self.prandtl

    @property
    def buoyancy(self) -> float:
        """g beta: the force a volume for each unit of temperature, in magnitude."""
        return self.velocity**2 / (self.difference * self.length)

    @property
    def tau(self) -> float:
        """The relaxation time of the viscosity, ``3 nu + 1/2``."""
        return 3 * self.viscosity + 0.5

    def thermal(self, direction: str = "+y", **more: Any) -> HybridThermal:
        """The model of the temperature, for two and three dimensions.

        Args:
            direction: in which warm fluid rises: ``"+x"``, ``"-x"`` and so on.
            more: further arguments of `HybridThermal`: reference, operators, energy_coupling, source.

        Raises:
            TypeError, ValueError: no such direction, or wrong arguments.
        """
        names = [sign + axis for axis in "xyz" for sign in "-+"]
        checks.choice("direction", direction, names)
        vector = [0.0] * 3
        vector["xyz".index(direction[1])] = self.buoyancy if direction[0] == "+" else -self.buoyancy
        return HybridThermal(self.diffusivity, buoyancy=vector, **more)
