"""Checks of single arguments: each either returns the plain value or raises an error that says what would be right."""

from __future__ import annotations

import difflib
import itertools
import math
import numbers
import re
import reprlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

MAX_MACH = 0.3
MIN_DENSITY, MAX_DENSITY = 1e-3, 1e3
MAX_TEMPERATURE = 1e6
"""In magnitude; far beyond use."""
MAX_STEPS = 2**53
"""Step counts stay exactly representable as float64, the type that time takes."""

MAX_ENTRIES = 2**20
"""Of an iterable that is made a list: some have no end."""
PIECE = 2**20
"""Cells of a field that are looked at at a time, where that takes memory."""
MAX_NAME = 200
"""Characters of a name that users give."""

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters, such as start a terminal's escape sequences; separators of lines; characters that turn the
direction of the text; halves of characters, which no file can hold."""

_repr = reprlib.Repr()
_repr.maxother = _repr.maxstring = _repr.maxlong = 60


def shown(value: Any) -> str:
    """`value` as an error message shows it: short, and never itself an error."""
    try:
        text = _repr.repr(value)
    except Exception:  # a broken __repr__, or an int too long to print
        return f"a {type(value).__name__}"
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} with shape {value.shape}"
    return escaped(text)


def escaped(text: str, keep: str = "") -> str:
    """`text` with an escape, as of a Python string, in place of each control character but those in `keep`."""
    return _CONTROL.sub(lambda found: found[0] if found[0] in keep else ascii(found[0])[1:-1], text)


def listed(name: str, value: Any, right: str) -> list[Any]:
    """The entries of an iterable that is no string, or the TypeError that it must be `right`."""
    problem = ""
    try:
        if not isinstance(value, str | bytes) and isinstance(value, Iterable):
            entries = list(itertools.islice(value, MAX_ENTRIES + 1))
            if len(entries) <= MAX_ENTRIES:
                return entries
            problem = f" of at most {MAX_ENTRIES} entries"
    except Exception as error:  # of a type of the user's
        problem = f" ({error})"
    raise TypeError(f"{name}: {shown(value)} given, must be {right}{problem}")


def label(name: str, value: Any) -> str:
    """A name that users give: not empty, of at most `MAX_NAME` characters, none of them a control character."""
    if not isinstance(value, str):
        raise TypeError(f"{name}: {shown(value)} given, must be a string")
    text = str.__str__(value)  # the characters, whatever a subclass makes of them
    if not text or len(text) > MAX_NAME or _CONTROL.search(text):
        right = f"must be 1 to {MAX_NAME} characters, none of them a control character"
        raise ValueError(f"{name}: {shown(text)} given, {right}")
    return text


def alternatives(names: Sequence[str]) -> str:
    """``"A, B or C"``."""
    return " or ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def reason(error: BaseException) -> str:
    """What an error says, without the path that the message about it names already."""
    return (isinstance(error, OSError) and error.strerror) or str(error)


def did_you_mean(name: str, choices: Iterable[str]) -> str:
    """``"; did you mean 'x'?"`` if one of `choices` is near `name`, else nothing."""
    near = difflib.get_close_matches(name.lower(), [c.lower() for c in choices], n=1)
    original = next((c for c in choices if near and c.lower() == near[0]), None)
    return f"; did you mean {original!r}?" if original is not None else ""


def unknown(name: str, given: Any, choices: Iterable[str]) -> ValueError:
    """The error for a name outside `choices`."""
    choices = list(choices)
    hint = did_you_mean(given, choices) if isinstance(given, str) else ""
    known = ", ".join(repr(c) for c in choices) or "none"
    return ValueError(f"{name}: {shown(given)} given, must be one of {known}{hint}")


def choice(name: str, value: Any, choices: Iterable[str]) -> str:
    """One of `choices`."""
    choices = list(choices)
    if not isinstance(value, str):
        raise TypeError(f"{name}: {shown(value)} given, must be one of {', '.join(map(repr, choices))}")
    text = str.__str__(value)  # the characters, whatever a subclass makes of them
    if text not in choices:
        raise unknown(name, text, choices)
    return text


def _bounds(above: float | None, at_least: float | None, below: float | None, at_most: float | None) -> str:
    parts = [
        f"{word} {limit:g}"
        for word, limit in (("above", above), ("at least", at_least), ("below", below), ("at most", at_most))
        if limit is not None
    ]
    return " " + " and ".join(parts) if parts else ""


def number(
    name: str,
    value: Any,
    *,
    above: float | None = None,
    at_least: float | None = None,
    below: float | None = None,
    at_most: float | None = None,
) -> float:
    """A finite real number within the bounds."""
    right = f"must be a finite number{_bounds(above, at_least, below, at_most)}"
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name}: {shown(value)} given, {right}")
    try:
        result = float(value)
    except OverflowError:
        result = math.inf
    except Exception as error:  # of a type of the user's
        raise TypeError(f"{name}: {shown(value)} given, {right} ({error})") from None
    if (
        not math.isfinite(result)
        or (above is not None and not result > above)
        or (at_least is not None and not result >= at_least)
        or (below is not None and not result < below)
        or (at_most is not None and not result <= at_most)
    ):
        raise ValueError(f"{name}: {shown(value)} given, {right}")
    return result


def integer(name: str, value: Any, *, at_least: int = 0, at_most: int = MAX_STEPS) -> int:
    """An integer within the bounds."""
    right = f"must be an integer from {at_least} to {at_most}"
    if isinstance(value, bool | np.bool_) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name}: {shown(value)} given, {right}")
    try:
        result = int(value)
    except Exception as error:  # of a type of the user's
        raise TypeError(f"{name}: {shown(value)} given, {right} ({error})") from None
    if not at_least <= result <= at_most:
        raise ValueError(f"{name}: {shown(value)} given, {right}")
    return result


def flag(name: str, value: Any) -> bool:
    """True or False."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name}: {shown(value)} given, must be True or False")
    return bool(value)


def function(name: str, value: Any) -> Any:
    """A callable."""
    if not callable(value):
        raise TypeError(f"{name}: {shown(value)} given, must be callable")
    return value


def any_array(name: str, value: Any, right: str) -> NDArray[Any]:
    """What NumPy makes of `value`, or the ValueError that it must be `right`."""
    try:
        return np.asarray(value)
    except Exception as error:  # of an object's own conversion too, or of a memory that is too small
        raise ValueError(f"{name}: {shown(value)} given, must be {right} ({error})") from None


def real_array(name: str, value: Any) -> NDArray[np.float64]:
    """A finite real array, float64, copied."""
    array = any_array(name, value, "an array of numbers")
    if array.dtype.kind not in "iuf":
        raise TypeError(f"{name}: {shown(value)} given, must be real numbers")
    if array.size == 0:
        raise ValueError(f"{name}: {shown(value)} given, must not be empty")
    try:
        with np.errstate(over="ignore"):
            result = np.array(array, dtype=np.float64, order="C")
    except MemoryError as error:
        raise ValueError(f"{name}: {shown(array)} given, must fit the memory ({error})") from None
    if not (math.isfinite(result.min()) and math.isfinite(result.max())):
        index = tuple(int(i) for i in np.argwhere(~np.isfinite(result))[0])
        where = f" at index {index}" if index else ""
        raise ValueError(f"{name}: {result[index]} given{where}, must be finite")
    return result


def densities(name: str, values: NDArray[np.float64]) -> None:
    """Raise where a density is too far from 1, the density at rest, for a weakly compressible fluid."""
    for extreme in (values.min(), values.max()):
        if not MIN_DENSITY <= extreme <= MAX_DENSITY:
            raise ValueError(
                f"{name}: {extreme:g} given, must be from {MIN_DENSITY:g} to {MAX_DENSITY:g}; 1 is the density at rest"
            )


def temperatures(name: str, values: NDArray[np.float64]) -> None:
    """Raise where a temperature, or heat in its units, is beyond `MAX_TEMPERATURE`."""
    for extreme in (values.min(), values.max()):
        if abs(extreme) > MAX_TEMPERATURE:
            raise ValueError(f"{name}: {extreme:g} given, must be at most {MAX_TEMPERATURE:g} in magnitude")


def fastest(velocity: NDArray[np.float64]) -> float:
    """The largest magnitude of a vector field, components first; piece by piece, so that it takes little memory."""
    if velocity.ndim == 1:
        velocity = velocity[:, None]
    step = max(1, PIECE * velocity.shape[1] // max(1, velocity[0].size))
    with np.errstate(over="ignore"):
        pieces = (velocity[:, at : at + step] for at in range(0, velocity.shape[1], step))
        return max(float(np.sqrt((piece**2).sum(axis=0)).max()) for piece in pieces)


def speed(name: str, velocity: NDArray[np.float64], cs2: float) -> None:
    """Raise if a speed of `velocity` (components first) has a Mach number over 0.3."""
    largest, cs = fastest(velocity), math.sqrt(cs2)
    if largest > MAX_MACH * cs:
        raise ValueError(
            f"{name}: a speed of {largest:.4g} given (Mach {largest / cs:.3g}), "
            f"must be at most {MAX_MACH * cs:.4g} cells a step (Mach {MAX_MACH})"
        )
