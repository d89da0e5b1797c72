"""Fields of initial states as functions of the coordinates of cell centres: vortices, shear layers, profiles, noise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .. import checks
from ..values import Floats

NUMBER: dict[str, Any] = {"type": "number"}
POSITIVE: dict[str, Any] = {"type": "number", "exclusiveMinimum": 0}
COUNT: dict[str, Any] = {"type": "integer", "minimum": 1}
AXIS: dict[str, Any] = {"enum": ["x", "y", "z"]}
"""JSON schemas of arguments."""


@dataclass(frozen=True)
class Named:
    """A field of a domain of a shape; called with the coordinates of cell centres it gives its values there.

    Attributes:
        shape: of the domain, 2 or 3 numbers of cells.
        kind: its name in JSON cases.
        of: the arguments of `Solver.initialize` that it is for.
        schema: JSON schemas of its arguments in a case, by name; those without a default come first.
        required: the names of those that have none.
    """

    shape: Sequence[int]

    kind: ClassVar[str] = ""
    of: ClassVar[tuple[str, ...]] = ("velocity",)
    schema: ClassVar[dict[str, dict[str, Any]]] = {}
    required: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        given = checks.listed("shape", self.shape, "a list of 2 or 3 numbers of cells")
        shape = tuple(checks.integer("shape", n, at_least=1) for n in given)
        if len(shape) not in (2, 3):
            raise ValueError(f"shape: {checks.shown(self.shape)} given, must have 2 or 3 numbers of cells")
        object.__setattr__(self, "shape", shape)

    def __call__(self, *coordinates: Floats) -> Any:
        """The values at places with these coordinates; of a velocity a list of components."""
        if len(coordinates) != len(self.shape):
            raise ValueError(
                f"shape: {self.shape} given, but the solver has {len(coordinates)} dimensions, must be its domain's"
            )
        return self.values(*coordinates)

    def values(self, *coordinates: Floats) -> Any:
        """See `__call__`."""
        raise NotImplementedError

    # What those of this module check and compute alike

    def _take(self, name: str, check: Callable[..., Any] = checks.number, **bounds: Any) -> None:
        object.__setattr__(self, name, check(name, getattr(self, name), **bounds))

    def _take_axis(self, name: str) -> None:
        object.__setattr__(self, name, checks.choice(name, getattr(self, name), "xyz"[: len(self.shape)]))

    def _relative(self, coordinates: tuple[Floats, ...], axis: str) -> Floats:
        """The coordinate along an axis as a part of the domain's length, 0 to 1."""
        number = "xyz".index(axis)
        return np.asarray(coordinates[number] / self.shape[number])


@dataclass(frozen=True)
class TaylorGreen(Named):
    """The vortices of Taylor & Green (Proc. R. Soc. Lond. A 158 (1937) 499), for a domain that is periodic.

    ``u = U sin(a x) cos(b y) [cos(c z)]``, ``v = -U (a / b) cos(a x) sin(b y) [cos(c z)]``, w = 0, where
    ``a = 2 pi waves / nx`` and so on: free of divergence for any shape.

    Args:
        shape: of the domain.
        speed: U, cells a step.
        waves: wavelengths along each axis.
    """

    speed: float
    waves: int = 1

    kind: ClassVar[str] = "taylor_green"
    schema: ClassVar[dict[str, dict[str, Any]]] = {"speed": NUMBER, "waves": COUNT}
    required: ClassVar[tuple[str, ...]] = ("speed",)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._take("speed")
        self._take("waves", checks.integer, at_least=1)

    def values(self, *coordinates: Floats) -> Any:
        a, b = (2 * np.pi * self.waves / n for n in self.shape[:2])
        x, y, *others = coordinates
        along_z = np.cos(2 * np.pi * self.waves / self.shape[2] * others[0]) if others else 1.0
        u = self.speed * np.sin(a * x) * np.cos(b * y) * along_z
        v = -self.speed * a / b * np.cos(a * x) * np.sin(b * y) * along_z
        return [u, v, *(np.zeros_like(z) for z in others)]


@dataclass(frozen=True)
class TaylorGreenDensity(TaylorGreen):
    """The density whose pressure suits `TaylorGreen`, so that no sound is sent off.

    With ``p = density / 3`` in two dimensions ``p = U^2 / 4 (cos 2 a x + (a / b)^2 cos 2 b y)``, in three, where the
    box has to be a cube, ``p = U^2 / 16 (cos 2 a x + cos 2 a y) (cos 2 a z + 2)``, about a density of 1.

    Args:
        shape, speed, waves: as for `TaylorGreen`.
    """

    of: ClassVar[tuple[str, ...]] = ("density",)

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.shape) == 3 and len(set(self.shape)) > 1:
            raise ValueError(f"shape: {self.shape} given, must be that of a cube: of others no formula is known")

    def values(self, *coordinates: Floats) -> Any:
        phases = [4 * np.pi * self.waves / n * x for n, x in zip(self.shape, coordinates, strict=True)]
        if len(self.shape) == 3:
            factor = (np.cos(phases[0]) + np.cos(phases[1])) * (np.cos(phases[2]) + 2) / 4
        else:
            factor = np.cos(phases[0]) + (self.shape[1] / self.shape[0]) ** 2 * np.cos(phases[1])
        return 1 + 3 * self.speed**2 / 4 * factor


@dataclass(frozen=True)
class ShearLayer(Named):
    """Two streams along x, past each other at half the height, that roll up from a disturbance.

    ``u = U tanh((y - ny / 2) / thickness)``, ``v = perturbation U sin(2 pi waves x / nx) exp(-((y - ny / 2) /
    thickness)^2)``; periodic along x, with free slip at -y and +y.

    Args:
        shape: of the domain.
        speed: U, cells a step.
        thickness: cells.
        perturbation: of v, as a part of the speed.
        waves: vortices that the layer rolls up into.
    """

    speed: float
    thickness: float
    perturbation: float = 0.05
    waves: int = 1

    kind: ClassVar[str] = "shear_layer"
    schema: ClassVar[dict[str, dict[str, Any]]] = {
        "speed": NUMBER,
        "thickness": POSITIVE,
        "perturbation": NUMBER,
        "waves": COUNT,
    }
    required: ClassVar[tuple[str, ...]] = ("speed", "thickness")

    def __post_init__(self) -> None:
        super().__post_init__()
        self._take("speed")
        self._take("thickness", above=0)
        self._take("perturbation")
        self._take("waves", checks.integer, at_least=1)

    def values(self, *coordinates: Floats) -> Any:
        x, y, *others = coordinates
        distance = (y - self.shape[1] / 2) / self.thickness
        wave = np.sin(2 * np.pi * self.waves * x / self.shape[0])
        u = self.speed * np.tanh(distance)
        v = self.perturbation * self.speed * wave * np.exp(-(distance**2))
        return [u, v, *(np.zeros_like(z) for z in others)]


@dataclass(frozen=True)
class DoubleShearLayer(ShearLayer):
    """A stream along x between two against it, for a domain that is periodic (Minion & Brown, J. Comput. Phys. 138
    (1997) 734).

    ``u = U tanh((y - ny / 4) / thickness)`` below half the height and ``U tanh((3 ny / 4 - y) / thickness)`` above,
    ``v = perturbation U sin(2 pi (waves x / nx + 1 / 4))``. Theirs has a thickness of ny / 80 and 0.05.

    Args:
        shape, speed, thickness, perturbation, waves: as for `ShearLayer`.
    """

    kind: ClassVar[str] = "double_shear_layer"

    def values(self, *coordinates: Floats) -> Any:
        x, y, *others = coordinates
        height = self.shape[1]
        distance = np.where(y <= height / 2, y - height / 4, 3 * height / 4 - y) / self.thickness
        u = self.speed * np.tanh(distance)
        v = self.perturbation * self.speed * np.sin(2 * np.pi * (self.waves * x / self.shape[0] + 0.25))
        return [u, v, *(np.zeros_like(z) for z in others)]


@dataclass(frozen=True)
class Parabolic(Named):
    """A parabola, 0 at the domain's faces and `speed` in the middle; over two axes the product of two.

    Args:
        shape: of the domain.
        speed: in the middle, cells a step; may be negative.
        direction: axis of the velocity.
        across: one or two other axes.
    """

    speed: float
    direction: str = "x"
    across: Sequence[str] = ("y",)

    kind: ClassVar[str] = "parabolic"
    schema: ClassVar[dict[str, dict[str, Any]]] = {
        "speed": NUMBER,
        "direction": AXIS,
        "across": {"type": "array", "items": AXIS, "minItems": 1, "maxItems": 2, "uniqueItems": True},
    }
    required: ClassVar[tuple[str, ...]] = ("speed",)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._take("speed")
        self._take_axis("direction")
        axes = "xyz"[: len(self.shape)]
        across = tuple(
            checks.choice("across", axis, axes) for axis in checks.listed("across", self.across, "a list of axes")
        )
        if not across or len(set(across)) < len(across) or self.direction in across:
            raise ValueError(f"across: {list(across)} given, must be other axes than the direction, {self.direction!r}")
        object.__setattr__(self, "across", across)

    def values(self, *coordinates: Floats) -> Any:
        value: Any = self.speed
        for axis in self.across:
            value = self._across(value, self._relative(coordinates, axis))
        return [value if axis == self.direction else 0.0 for axis in "xyz"[: len(self.shape)]]

    def _across(self, value: Any, s: Floats) -> Any:
        """A value of the middle at places across the domain, 0 to 1."""
        return value * 4 * s * (1 - s)


@dataclass(frozen=True)
class PowerLaw(Parabolic):
    """The mean profile of a turbulent channel or pipe by a power law: ``(1 - |2 s - 1|)^exponent`` across the domain.

    Args:
        shape, speed, direction, across: as for `Parabolic`.
        exponent: 1/7 unless said; above 0.
    """

    exponent: float = 1 / 7

    kind: ClassVar[str] = "power_law"
    schema: ClassVar[dict[str, dict[str, Any]]] = Parabolic.schema | {"exponent": POSITIVE}

    def __post_init__(self) -> None:
        super().__post_init__()
        self._take("exponent", above=0)

    def _across(self, value: Any, s: Floats) -> Any:
        return value * np.maximum(1 - np.abs(2 * s - 1), 0) ** self.exponent


@dataclass(frozen=True)
class Linear(Named):
    """A number that goes linearly from one face to the opposite one, with a wave on it that is 0 at both.

    ``low + (high - low) s + perturbation sin(pi s) cos(2 pi waves r)``, s being the coordinate `along` as a part of the
    domain's length, and r that along the first other axis: the conduction of heat, disturbed.

    Args:
        shape: of the domain.
        low, high: at the faces where `along` begins and ends.
        along: an axis.
        perturbation: amplitude of the wave.
        waves: wavelengths of it along the first other axis.
    """

    low: float
    high: float
    along: str = "y"
    perturbation: float = 0.0
    waves: int = 1

    kind: ClassVar[str] = "linear"
    of: ClassVar[tuple[str, ...]] = ("temperature", "density")
    schema: ClassVar[dict[str, dict[str, Any]]] = {
        "low": NUMBER,
        "high": NUMBER,
        "along": AXIS,
        "perturbation": NUMBER,
        "waves": COUNT,
    }
    required: ClassVar[tuple[str, ...]] = ("low", "high")

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("low", "high", "perturbation"):
            self._take(name)
        self._take_axis("along")
        self._take("waves", checks.integer, at_least=1)

    def values(self, *coordinates: Floats) -> Any:
        s = self._relative(coordinates, self.along)
        r = self._relative(coordinates, next(axis for axis in "xy" if axis != self.along))
        wave = np.sin(np.pi * s) * np.cos(2 * np.pi * self.waves * r)
        return self.low + (self.high - self.low) * s + self.perturbation * wave


@dataclass(frozen=True, eq=False)
class Noise:
    """A field with noise that is equally likely from -amplitude to amplitude, independent in each cell and component.

    The noise is a function of the cell's number along each axis, of the component and of the seed: the same for any
    layout, number of processes and device.

    Args:
        field: a number, or a vector, that is the same everywhere; or a function of coordinates, such as `TaylorGreen`.
        amplitude: in the field's unit.
        seed: of the noise.
    """

    field: Any
    amplitude: float
    seed: int = 0

    def __post_init__(self) -> None:
        if not callable(self.field):
            field = checks.real_array("field", self.field)
            field.flags.writeable = False
            if field.ndim > 1:
                raise ValueError(f"field: {checks.shown(self.field)} given, must be a number, a vector or a function")
            object.__setattr__(self, "field", field)
        object.__setattr__(self, "amplitude", checks.number("amplitude", self.amplitude, at_least=0))
        object.__setattr__(self, "seed", checks.integer("seed", self.seed))

    def __call__(self, *coordinates: Floats) -> Any:
        """The field and its noise at places with these coordinates."""
        field = self.field(*coordinates) if callable(self.field) else self.field
        if isinstance(field, tuple | list) or (isinstance(field, np.ndarray) and field.ndim == 1):
            return [part + self._noise(k, coordinates) for k, part in enumerate(field)]
        return field + self._noise(0, coordinates)

    def _noise(self, component: int, coordinates: tuple[Floats, ...]) -> Floats:
        bits = _mixed(np.array([self.seed], dtype=np.uint64) ^ _mixed(np.array([component + 1], dtype=np.uint64)))
        for axis in coordinates:  # each along its own axis would be less work, but coordinates may be of any places
            bits = _mixed(bits ^ np.floor(axis).astype(np.int64).view(np.uint64))
        return np.asarray(self.amplitude * ((bits >> np.uint64(11)) * 2.0**-52 - 1))


def _mixed(bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """A step of SplitMix64 (Steele, Lea & Flood, OOPSLA 2014), whose output looks random for any two inputs."""
    bits = bits + np.uint64(0x9E3779B97F4A7C15)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(bits ^ (bits >> np.uint64(31)))
