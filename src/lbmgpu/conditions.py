"""Boundary conditions of faces and bodies, of the flow and of the temperature, and sponges, as frozen values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field, fields
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core, checks
from .time_functions.product import TimeFunction, Varying

Fixed = NDArray[np.float64] | Callable[..., Any]
"""A checked argument: a float64 array, or a callable of coordinates."""
Value = Fixed | Varying
"""One of these, or one times a function of time."""


CUT_WALLS = {
    "interpolated": "interpolated-wall",
    "bouzidi": "bouzidi-wall",
    "central-linear": "central-linear-wall",
}
"""The engine's names of the schemes of walls at known distances; the first is the default where distances are known."""
WALL_SCHEMES = ("halfway", *CUT_WALLS)
CUT_TEMPERATURES = ("interpolated",)
"""The schemes of temperatures at known distances."""


def field_value(name: str, value: Any, *, vector: bool) -> Fixed:
    """`value` if callable, else a read-only array of it."""
    if isinstance(value, TimeFunction | Varying):
        raise TypeError(f"{name}: {checks.shown(value)} given, must not change in time")
    if callable(value):
        function: Callable[..., Any] = value
        return function
    array = checks.real_array(name, value)
    if vector and array.ndim == 0:
        raise TypeError(f"{name}: {checks.shown(value)} given, must be a vector, an array or a callable")
    array.flags.writeable = False
    return array


def timed_value(name: str, value: Any, *, vector: bool) -> Value:
    """The same of a value that may change in time."""
    if isinstance(value, TimeFunction):
        if vector:
            raise TypeError(
                f"{name}: {checks.shown(value)} given, must be the product of it with a vector, an array or a callable"
            )
        value = Varying(1.0, value)
    if isinstance(value, Varying):
        if vector and not callable(value.spatial) and value.spatial.ndim == 0:
            raise TypeError(f"{name}: {checks.shown(value)} given, must have a vector, an array or a callable in it")
        return value
    return field_value(name, value, vector=vector)


def same_values(a: Any, b: Any) -> bool:
    """Whether two values of one dataclass have equal fields, arrays by their elements and functions by identity."""
    pairs = [(getattr(a, f.name), getattr(b, f.name)) for f in fields(a)]
    return all(x is y or (not callable(x) and not callable(y) and np.array_equal(x, y)) for x, y in pairs)


@dataclass(frozen=True, eq=False)
class Condition:
    """What happens at a face of the domain or at the surface of a body."""

    kind: ClassVar[str] = ""
    number: ClassVar[str] = ""
    """The name of the value of a condition that takes a number, and no velocity."""
    case_number: ClassVar[dict[str, float]] = {}
    """What JSON Schema says of that number in a case."""

    @property
    def engine_name(self) -> str:
        """The engine's name of the condition with its scheme."""
        return self.kind

    @classmethod
    def check_number(cls, name: str, values: NDArray[np.float64]) -> None:
        """Raise ValueError where numbers on a face are none that the condition takes."""

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Condition) or type(self) is not type(other):
            return NotImplemented
        return same_values(self, other)

    def __hash__(self) -> int:
        return hash(self.kind)

    def __reduce__(self) -> tuple[Any, ...]:
        """Its arguments, for pickle and copy, which would leave arrays writeable."""
        return partial(type(self), **{f.name: getattr(self, f.name) for f in fields(self)}), ()


@dataclass(frozen=True, eq=False, repr=False)
class _Scheme(Condition):
    """A condition that names the formula of its links.

    Args:
        scheme: one of the class's `schemes`; the first if None. Of walls None stays, as the default then depends on
            where the wall is.

    Raises:
        TypeError, ValueError: not one of them.
    """

    schemes: ClassVar[tuple[str, ...]] = ()
    engine_names: ClassVar[dict[str, str]] = {}
    """The engine's names of those schemes for which it is not that of the condition."""
    of_bodies: ClassVar[dict[str, str]] = {}
    """The engine's names of those schemes that only a body has whose surface cuts links at known distances."""
    scheme: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        scheme = self._default if self.scheme is None else checks.choice("scheme", self.scheme, self.schemes)
        object.__setattr__(self, "scheme", scheme)

    @property
    def _default(self) -> str | None:
        return None if self.of_bodies else self.schemes[0]

    @property
    def engine_name(self) -> str:
        """The engine's name of the condition with its scheme."""
        return engine_name(self.kind, self.scheme)

    def __repr__(self) -> str:
        """Its arguments, without a scheme that is the default."""
        shown = [f.name for f in fields(self) if f.name != "scheme" or self.scheme != self._default]
        return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)!r}' for name in shown)})"


@dataclass(frozen=True, eq=False)
class Periodic(Condition):
    """The domain repeats: what leaves through this face enters through the opposite one."""

    kind: ClassVar[str] = "periodic"


@dataclass(frozen=True, eq=False, repr=False)
class NoSlip(_Scheme):
    """A wall at rest.

    On a face of the domain it lies on the face, half a cell outside the outermost cell centres. In D2Q37 it is made of
    cells behind the face that mirror those before it.

    Args:
        scheme: where the wall of a body lies, and by which formula populations come off it. ``"halfway"``: between the
            solid and the fluid cells, by half-way bounce-back (Ladd, J. Fluid Mech. 271 (1994) 285); the only one of
            faces and masks. The others are of a body whose surface is known, a `Geometry` or a mask with links, and
            have the wall there: ``"bouzidi"``, by linear interpolation (Bouzidi, Firdaouss & Lallemand, Phys. Fluids 13
            (2001) 3452); ``"central-linear"``, by central linear interpolation (Ginzburg, Verhaeghe & d'Humieres,
            Commun. Comput. Phys. 3 (2008) 427), whose wall lies at the same place for all viscosities, but which does
            not damp oscillations from step to step; ``"interpolated"``, three quarters of the latter and a quarter of
            the former. None for ``"interpolated"`` where the surface is known, else ``"halfway"``.
    """

    kind: ClassVar[str] = "no-slip"
    schemes: ClassVar[tuple[str, ...]] = WALL_SCHEMES
    of_bodies: ClassVar[dict[str, str]] = CUT_WALLS


@dataclass(frozen=True, eq=False)
class FreeSlip(Condition):
    """A frictionless wall on the face, by specular reflection."""

    kind: ClassVar[str] = "free-slip"


@dataclass(frozen=True, eq=False, repr=False)
class Outflow(_Scheme):
    """A zero gradient: what would enter is copied from inside.

    Of the density's difference from its mean at `Solver.initialize`, 2 % are taken back in a step, so that the mean
    density does not drift (after Poinsot & Lele, J. Comput. Phys. 101 (1992) 104, section 4).

    Args:
        scheme: from where it is copied. ``"zero-gradient"``, the default: from the cell inside that lies beside where
            the population would come from, which is a zero gradient along the normal. ``"link-local"``: from the cell
            itself, which is one along each link; it goes with ``state="moments"`` too.
    """

    kind: ClassVar[str] = "outflow"
    schemes: ClassVar[tuple[str, ...]] = ("zero-gradient", "link-local")
    engine_names: ClassVar[dict[str, str]] = {"link-local": "local-outflow"}


@dataclass(frozen=True, eq=False, repr=False)
class _VelocityCondition(_Scheme):
    velocity: Any

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "velocity", timed_value("velocity", self.velocity, vector=True))


@dataclass(frozen=True, eq=False, repr=False)
class MovingWall(_VelocityCondition):
    """A wall with a velocity, by bounce-back with momentum transfer (Ladd, J. Fluid Mech. 271 (1994) 285).

    Args:
        velocity: cells a step, D components, with a Mach number of at most 0.3. One of

            - a vector ``(D,)``;
            - an array: ``(D, a, b)`` over the face's tangential axes in the order x, y, z (``(D, a)`` in two
              dimensions); on a body ``(D, nx, ny[, nz])``, of which the solid cells count;
            - a callable of the coordinates ``x, y[, z]``, arrays of one shape, that returns D components, each a
              number or an array of that shape. Cell i spans i to i+1, its centre is at i + 0.5; on a face the
              coordinates are those of the cell faces' centres, so that the normal coordinate is 0 or n; on a body
              they are the centres of its cells, and of a scheme other than ``"halfway"`` also the points where its
              surface cuts links, which have the velocity there. If the callable has a parameter ``t`` it is called
              before every step, ``t`` being the number of steps completed, as a float; otherwise once;
            - one of them times a function of time, such as ``(0.05, 0) * lbm.Sine(period=500)`` or ``profile *
              lbm.Ramp(0, 1, 1000)``, which needs no Python in each step.
        scheme: as of `NoSlip`.

    Raises:
        TypeError, ValueError: not finite numbers; a wrong shape or too high a speed, once the domain is known.
    """

    kind: ClassVar[str] = "moving-wall"
    schemes: ClassVar[tuple[str, ...]] = WALL_SCHEMES
    of_bodies: ClassVar[dict[str, str]] = CUT_WALLS


@dataclass(frozen=True, eq=False, repr=False)
class VelocityInlet(_VelocityCondition):
    """A given velocity of the fluid at the face.

    Args:
        velocity: as for `MovingWall`.
        scheme: ``"bounce-back"``, the default, half-way and with the density of the cell; ``"non-equilibrium"``, which
            bounces the non-equilibrium part back (Zou & He, Phys. Fluids 9 (1997) 1591), so that the velocity holds in
            the cells at the face; ``"regularized"``, the same with all populations of these cells made anew from
            density, velocity and stress (Latt, Chopard, Malaspinas, Deville & Michler, Phys. Rev. E 77 (2008) 056703);
            ``"characteristic"``, to which the velocity there returns slowly, by 0.001 of the difference in a step, so
            that sound leaves (after Poinsot & Lele, J. Comput. Phys. 101 (1992) 104), with populations made anew too.
    """

    kind: ClassVar[str] = "velocity-inlet"
    schemes: ClassVar[tuple[str, ...]] = ("bounce-back", "non-equilibrium", "regularized", "characteristic")
    engine_names: ClassVar[dict[str, str]] = {
        "non-equilibrium": "nonequilibrium-inlet",
        "regularized": "regularized-inlet",
        "characteristic": "characteristic-inlet",
    }


@dataclass(frozen=True, eq=False, repr=False)
class PressureOutlet(_Scheme):
    """A given density, that is pressure ``cs2 density``, at the face.

    Args:
        density: a number, an array over the face's tangential axes, or a callable as for `MovingWall` that returns
            one component; a function of time, such as ``lbm.Sine(mean=1, amplitude=0.001, period=500)``, or one times
            a function of time. 1 is the density at rest.
        scheme: ``"anti-bounce-back"``, the default, by which the density holds on the face; ``"characteristic"``, to
            which the density of the cells at the face returns slowly, by 0.0005 of the difference in a step, so that
            sound and vortices leave (after Poinsot & Lele, J. Comput. Phys. 101 (1992) 104), with all populations of
            these cells made anew from density, velocity and stress, so that streams stay quiet at low viscosities.
    """

    kind: ClassVar[str] = "pressure-outlet"
    schemes: ClassVar[tuple[str, ...]] = ("anti-bounce-back", "characteristic")
    engine_names: ClassVar[dict[str, str]] = {"characteristic": "characteristic-outlet"}
    number: ClassVar[str] = "density"
    case_number: ClassVar[dict[str, float]] = {"minimum": 0.001, "maximum": 1000}
    density: Any = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "density", timed_value("density", self.density, vector=False))
        if isinstance(self.density, np.ndarray):
            self.check_number("density", self.density)

    @classmethod
    def check_number(cls, name: str, values: NDArray[np.float64]) -> None:
        """Raise ValueError where a density is out of range."""
        checks.densities(name, values)


@dataclass(frozen=True, eq=False, repr=False)
class Adiabatic(_Scheme):
    """No heat flows through the face or the body's surface; an inlet or outlet brings the temperature of the cell.

    Args:
        scheme: as of `Isothermal`. ``"halfway"`` lets no heat through to rounding; ``"interpolated"`` has the normal
            derivative of the temperature vanish on the surface, by a fit to the cells around, which leaves some heat.
    """

    kind: ClassVar[str] = "adiabatic"
    schemes: ClassVar[tuple[str, ...]] = ("halfway", *CUT_TEMPERATURES)
    of_bodies: ClassVar[dict[str, str]] = dict.fromkeys(CUT_TEMPERATURES, kind)


@dataclass(frozen=True, eq=False, repr=False)
class Isothermal(_Scheme):
    """A given temperature, where the wall of the flow is.

    Args:
        temperature: in the units of the temperature field, at most 1e6 in magnitude. A number; an array over the face's
            tangential axes, on a body ``(nx, ny[, nz])``, of which the solid cells count; or a callable as for
            `MovingWall` that returns one component, called before every step if it has a parameter ``t``; a function
            of time, such as ``lbm.Ramp(0, 1, 1000)``, or one of them times a function of time.
        scheme: where a body has the temperature. ``"halfway"``: between the solid and the fluid cells; the only one of
            faces and masks. ``"interpolated"``: on its surface, of a body whose flow has its wall there too; a callable
            gives the temperature at the points where that cuts links. None for ``"interpolated"`` where the wall of the
            flow is on the surface, else ``"halfway"``.

    Raises:
        TypeError, ValueError: not a finite number in range; a wrong shape or an array out of range, once the domain is
            known; in D2Q37 one that is not above 0.
    """

    kind: ClassVar[str] = "isothermal"
    schemes: ClassVar[tuple[str, ...]] = ("halfway", *CUT_TEMPERATURES)
    of_bodies: ClassVar[dict[str, str]] = dict.fromkeys(CUT_TEMPERATURES, kind)
    temperature: Any

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "temperature", timed_value("temperature", self.temperature, vector=False))
        if (
            isinstance(self.temperature, np.ndarray) and self.temperature.ndim == 0
        ):  # of a body's array only its cells count
            checks.temperatures("temperature", self.temperature)


@dataclass(frozen=True)
class Sponge:
    """Damps populations before each collision, at rates that grow with the square of the depth in the layer.

    The share ``strength`` of the non-equilibrium part of a cell's populations is taken away in a step, which acts as a
    higher viscosity and keeps mass and momentum, so that neither vortices nor waves of the lattice reach the face. A
    ``pull`` draws density and velocity to given ones as well, which damps sound (Israeli & Orszag, J. Comput. Phys. 41
    (1981) 115). In cell k from the face, counted from 0, both are ``((thickness - k - 1/2) / thickness)**2`` of the
    rates given.

    Args:
        face: before which it lies, ``"-x"`` to ``"+z"``.
        thickness: in cells, at most those of the domain.
        strength: 0 to 1, the rate at the face.
        pull: 0 to 1, the rate at the face; 0 leaves density and velocity alone.
        velocity: that `pull` draws to, D components, with a Mach number of at most 0.3.
        density: that `pull` draws to.

    Raises:
        TypeError, ValueError: not numbers in range, or a velocity without a pull or the reverse.
    """

    face: str
    thickness: int
    strength: float = 0.5
    pull: float = 0.0
    velocity: Any = None
    density: float = 1.0

    def __post_init__(self) -> None:
        given: dict[str, Any] = {
            "thickness": checks.integer("thickness", self.thickness, at_least=1),
            "strength": checks.number("strength", self.strength, at_least=0, at_most=1),
            "pull": checks.number("pull", self.pull, at_least=0, at_most=1),
            "density": checks.number("density", self.density, at_least=0.001, at_most=1000),
        }
        if (self.velocity is not None) != (given["pull"] > 0):
            wrong = "None given with a pull, must be" if self.velocity is None else "given without a pull, which needs"
            raise ValueError(f"velocity: {wrong} the velocity that the pull draws to")
        if self.velocity is not None:
            given["velocity"] = tuple(_vector(self.velocity).tolist())
        for name, value in given.items():
            object.__setattr__(self, name, value)

    def record(self) -> dict[str, Any]:
        """Its arguments as JSON."""
        return asdict(self) | {"velocity": None if self.velocity is None else list(self.velocity)}

    def check(self, shape: tuple[int, ...], cs2: float) -> None:
        """Raise ValueError unless it suits a domain of this shape."""
        cells = shape["xyz".index(self.face[1])]
        if self.thickness > cells:
            raise ValueError(f"thickness: {self.thickness} given, must be at most the {cells} cells before {self.face}")
        if self.velocity is not None:
            velocity = _vector(self.velocity)
            if velocity.shape != (len(shape),):
                raise ValueError(f"velocity: shape {velocity.shape} given, must be ({len(shape)},)")
            checks.speed("velocity", velocity, cs2)


def _vector(value: ArrayLike) -> NDArray[np.float64]:
    array = checks.real_array("velocity", value)
    if array.ndim != 1:
        raise ValueError(f"velocity: shape {array.shape} given, must be one vector")
    return array


def _all_of(kind: type[Condition]) -> list[type[Condition]]:
    """The classes of conditions that have a kind, of and below a class."""
    below = [found for derived in kind.__subclasses__() for found in _all_of(derived)]
    return [kind, *below] if kind.kind else below


def schemes(condition: type[Condition], *, of_body: bool = False) -> tuple[str, ...]:
    """The schemes that a condition has on a face or on a body, the default first; none of one without a choice."""
    found = condition.schemes if issubclass(condition, _Scheme) else ()
    return found if of_body else tuple(scheme for scheme in found if scheme not in CUT_WALLS)


def chosen_scheme(condition: Condition) -> str | None:
    """The scheme of a condition if it is not the default."""
    return condition.scheme if isinstance(condition, _Scheme) and condition.scheme != condition._default else None


def check_of_face(name: str, condition: Condition) -> None:
    """Raise ValueError for a scheme that only bodies have."""
    if (scheme := chosen_scheme(condition)) in CUT_WALLS:
        raise ValueError(
            f"scheme of {name}: {scheme!r} given, must be 'halfway': only of bodies distances to a surface are known"
        )


def scheme_of_body(name: str, condition: Condition, *, is_cut: bool) -> str:
    """The scheme of a body's wall.

    Args:
        name: of the body, for errors.
        condition: of it.
        is_cut: whether the distances to its surface are known.

    Raises:
        ValueError: they are not, but the scheme needs them.
    """
    scheme = chosen_scheme(condition)
    if scheme is None:
        return next(iter(CUT_WALLS)) if is_cut else WALL_SCHEMES[0]
    if scheme in CUT_WALLS and not is_cut:
        raise ValueError(
            f"scheme of {name}: {scheme!r} given, must be 'halfway': a mask does not tell where links are cut; give a "
            "geometry, or the links too"
        )
    return scheme


def scheme_of_temperature(name: str, thermal: Condition, flow: str, *, is_cut: bool) -> str:
    """The scheme of a body's temperature.

    Args:
        name: of the body, for errors.
        thermal: the condition of its temperature.
        flow: the scheme of its wall for the flow.
        is_cut: whether the distances to its surface are known.

    Raises:
        ValueError: the temperature is to be on a surface that is not known, or on which the wall of the flow is not.
    """
    of = f"the temperature of {name}"
    if chosen_scheme(thermal) is not None:
        scheme = scheme_of_body(of, thermal, is_cut=is_cut)
        if scheme in CUT_TEMPERATURES and flow not in CUT_WALLS:
            raise ValueError(f"scheme of {of}: {scheme!r} given, must be 'halfway', where the wall of its flow is")
        return scheme
    return CUT_TEMPERATURES[0] if flow in CUT_WALLS else WALL_SCHEMES[0]


def engine_name(kind: str, scheme: str | None = None) -> str:
    """The engine's name of a kind of condition with a scheme, the default if None."""
    condition = BY_KIND.get(kind)
    if condition is None or not issubclass(condition, _Scheme):
        return kind
    return condition.engine_names.get(scheme or "", kind)


def written(name: str) -> str:
    """The condition of an engine's name, as users write it without what else it takes."""
    for condition in BY_KIND.values():
        for scheme, own in getattr(condition, "engine_names", {}).items():
            if own == name:
                return f"{condition.__name__}(scheme={scheme!r})"
    return f"{BY_KIND[name].__name__}()" if name in BY_KIND else name


BY_KIND = {condition.kind: condition for condition in _all_of(Condition)}
FACE_CONDITIONS = tuple(BY_KIND[kind] for kind in _core.face_conditions() if kind in BY_KIND)
BODY_CONDITIONS = (NoSlip, MovingWall)
THERMAL_CONDITIONS = (Adiabatic, Isothermal)
