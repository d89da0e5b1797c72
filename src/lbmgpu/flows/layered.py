"""Two layers of different temperatures, and the density of a gas at rest in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from .. import checks
from ..values import Floats
from .named import AXIS, COUNT, NUMBER, POSITIVE, Named


@dataclass(frozen=True)
class Layers(Named):
    """A number that is `low` in a layer and `high` in the one behind it, with a wave where they meet.

    ``(low + high) / 2 + (high - low) / 2 tanh((y - h) / thickness)``, y being the coordinate along `along` and the
    surface at ``h = at length + amplitude cos(2 pi waves r)``, with r the first other coordinate as a part of the
    domain's length. A warm layer below a cold one is that of Rayleigh & Taylor.

    Args:
        shape: of the domain.
        low, high: in the layers.
        along: an axis.
        at: the place of the surface, as a part of the domain's length along it.
        thickness: of the surface, in cells.
        amplitude: of the wave, in cells.
        waves: wavelengths of it along the first other axis.
    """

    low: float
    high: float
    along: str = "y"
    at: float = 0.5
    thickness: float = 2.0
    amplitude: float = 0.0
    waves: int = 1

    kind: ClassVar[str] = "layers"
    of: ClassVar[tuple[str, ...]] = ("temperature",)
    schema: ClassVar[dict[str, dict[str, Any]]] = {
        "low": NUMBER,
        "high": NUMBER,
        "along": AXIS,
        "at": {"type": "number", "minimum": 0, "maximum": 1},
        "thickness": POSITIVE,
        "amplitude": NUMBER,
        "waves": COUNT,
    }
    required: ClassVar[tuple[str, ...]] = ("low", "high")

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("low", "high", "amplitude"):
            self._take(name)
        self._take("at", at_least=0, at_most=1)
        self._take("thickness", above=0)
        self._take("waves", checks.integer, at_least=1)
        self._take_axis("along")

    def values(self, *coordinates: Floats) -> Any:
        r = self._relative(coordinates, next(axis for axis in "xy" if axis != self.along))
        wave = self.amplitude * np.cos(2 * np.pi * self.waves * r)
        return self._profile((self._above(coordinates) - wave) / self.thickness)

    def _above(self, coordinates: tuple[Floats, ...]) -> Floats:
        """Cells above the place of the surface without its wave."""
        axis = "xyz".index(self.along)
        return np.asarray(coordinates[axis] - self.at * self.shape[axis])

    def _profile(self, u: Floats) -> Floats:
        """The number at a distance from the surface, in thicknesses."""
        return np.asarray((self.low + self.high) / 2 + (self.high - self.low) / 2 * np.tanh(u))


@dataclass(frozen=True)
class LayersDensity(Layers):
    """The density of a gas, ``p = density T``, at rest in `Layers` of its temperature under gravity.

    The pressure is that without the wave, ``d ln p / dy = -gravity / T``, whose integral is elementary, and the density
    is 1 where the layers meet: so what is out of balance is the wave alone.

    Args:
        shape, low, high, along, at, thickness, amplitude, waves: as for `Layers`; temperatures are above 0.
        gravity: the acceleration against `along`, cells a step squared.
    """

    gravity: float = 0.0

    of: ClassVar[tuple[str, ...]] = ("density",)
    schema: ClassVar[dict[str, dict[str, Any]]] = Layers.schema | {"gravity": NUMBER}
    required: ClassVar[tuple[str, ...]] = ("low", "high", "gravity")

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("low", "high"):
            self._take(name, above=0)
        self._take("gravity")

    def values(self, *coordinates: Floats) -> Any:
        u = self._above(coordinates) / self.thickness
        mean, half = (self.low + self.high) / 2, (self.high - self.low) / 2
        # The integral of du / (mean + half tanh u) is (mean u - half ln(mean cosh u + half sinh u)) / (low high).
        tall = np.abs(u)
        sides = (self.high * np.exp(u - tall) + self.low * np.exp(-u - tall)) / 2
        integral = (mean * u - half * (tall + np.log(sides / mean))) / (self.low * self.high)
        pressure = mean * np.exp(-self.gravity * self.thickness * integral)
        return pressure / super().values(*coordinates)
