"""Functions of time as values, and their products with each other and with what is fixed in time.

They can be compared, copied, sent to other processes and written to files.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import checks

_SIGNATURES: WeakKeyDictionary[Callable[..., Any], inspect.Signature | None] = WeakKeyDictionary()
"""Of functions that have been looked at: those of time are called in each step."""


def signature(function: Callable[..., Any]) -> inspect.Signature | None:
    """The signature of a callable; None for some built-in ones."""
    try:
        return _SIGNATURES[function]
    except Exception:  # not looked at yet, or not hashable, not weakly referable or with a broken __hash__
        pass
    try:
        found = inspect.signature(function)
    except (TypeError, ValueError):
        found = None
    with suppress(Exception):
        _SIGNATURES[function] = found
    return found


def takes_time(value: Any) -> bool:
    """Whether `value` is a callable with a parameter named ``t``."""
    found = signature(value) if callable(value) else None
    return found is not None and "t" in found.parameters


class TimeFunction:
    """A number for each step: ``function(t)``, t being the number of steps completed.

    Its product with a number, a vector, an array or a callable of coordinates is a value that changes in time, which
    conditions and forces take; the product of two of them is one again.
    """

    kind: ClassVar[str] = ""
    """Its name in files."""
    __array_ufunc__ = None  # so that NumPy leaves array * function to this class

    def __call__(self, t: float) -> float:
        """The number at a time in steps."""
        raise NotImplementedError

    def factors(self, first: int, count: int) -> NDArray[np.float64]:
        """The numbers of so many steps from `first` on; ValueError where they are not finite."""
        found = np.array([self(float(step)) for step in range(first, first + count)])
        if not np.isfinite(found).all():
            step = first + int(np.flatnonzero(~np.isfinite(found))[0])
            raise ValueError(f"{self!r}: {found[step - first]} at t = {step}, must be finite")
        return found

    def record(self) -> dict[str, Any]:
        """Its kind and arguments as JSON."""
        arguments = asdict(self)  # type: ignore[call-overload]
        return {self.kind: {name: list(v) if isinstance(v, tuple) else v for name, v in arguments.items()}}

    def __mul__(self, other: ArrayLike | Callable[..., Any] | TimeFunction) -> Varying | TimeFunction:
        if isinstance(other, TimeFunction):
            return Product((*_parts(self), *_parts(other)))
        return NotImplemented if isinstance(other, Varying) else Varying(other, self)

    __rmul__ = __mul__


@dataclass(frozen=True)
class Product(TimeFunction):
    """The product of some functions of time, as ``lbm.Ramp(0, 1, 1000) * lbm.Sine(period=300)`` makes it."""

    kind: ClassVar[str] = "product"
    parts: tuple[TimeFunction, ...]

    def __call__(self, t: float) -> float:
        """The number at a time in steps."""
        return math.prod(part(t) for part in self.parts)

    def record(self) -> dict[str, Any]:
        """Its kind and arguments as JSON."""
        return {self.kind: [part.record() for part in self.parts]}


def _parts(function: TimeFunction) -> tuple[TimeFunction, ...]:
    return function.parts if isinstance(function, Product) else (function,)


class Varying:
    """A value that changes in time: ``spatial * function``, as ``profile * lbm.Sine(...)`` makes it.

    Two of them are equal if their functions are, and their arrays element by element; callables by identity.

    Attributes:
        spatial: a read-only float64 array, of no axis for a number; or a callable of coordinates.
        function: of time.

    Raises:
        TypeError, ValueError: not finite numbers, or a callable that takes ``t``.
    """

    __array_ufunc__ = None  # so that NumPy leaves array * value to this class

    def __init__(self, spatial: ArrayLike | Callable[..., Any], function: TimeFunction) -> None:
        self.spatial: NDArray[np.float64] | Callable[..., Any]
        if callable(spatial):
            if takes_time(spatial):
                raise TypeError(f"value: {checks.shown(spatial)} given, must not take t beside a function of time")
            self.spatial = spatial
        else:
            array = checks.real_array("value", spatial)
            array.flags.writeable = False
            self.spatial = array
        self.function = function

    def __mul__(self, other: ArrayLike | TimeFunction) -> Varying:
        if isinstance(other, TimeFunction):
            return Varying(self.spatial, self.function * other)  # type: ignore[arg-type]
        if isinstance(other, Varying):
            return NotImplemented
        if callable(other) or callable(self.spatial):
            raise TypeError(
                f"factor: {checks.shown(other)} given for {self!r}, must be a function of time; multiply in the "
                "function of the coordinates"
            )
        factor = checks.real_array("factor", other)
        if factor.ndim > 0 and self.spatial.ndim > 0:
            raise ValueError(
                f"factor: {checks.shown(other)} given, must be a number beside {checks.shown(self.spatial)}"
            )
        return Varying(np.multiply(self.spatial, factor), self.function)

    __rmul__ = __mul__

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Varying):
            return NotImplemented
        if callable(self.spatial) or callable(other.spatial):
            return self.spatial is other.spatial and self.function == other.function
        return self.function == other.function and np.array_equal(self.spatial, other.spatial)

    def __hash__(self) -> int:
        return hash(self.function)

    def __repr__(self) -> str:
        spatial = self.spatial if callable(self.spatial) else self.spatial.tolist()
        return f"{checks.shown(spatial)} * {self.function!r}"

    def __reduce__(self) -> tuple[Any, ...]:
        """Its arguments, for pickle and copy, which would leave arrays writeable."""
        return Varying, (self.spatial, self.function)
