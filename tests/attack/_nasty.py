"""Values that nobody should give: wrong types, numbers beyond all bounds, objects that fail when they are looked at."""

from __future__ import annotations

import datetime
import decimal
import fractions
import types
from collections.abc import Callable
from typing import Any

import numpy as np


class Nasty(Exception):
    """What the objects of this module raise: of no class that the package could know."""


def failing(base: type, *methods: str) -> type:
    """A subclass of `base` of which `methods` raise."""

    def fail(*_: Any, **__: Any) -> Any:
        raise Nasty("of a user's object")

    return type(f"Failing{base.__name__.title()}", (base,), dict.fromkeys(methods, fail))


_ARRAY = failing(object, "__array__")
_LENGTH = failing(list, "__len__", "__iter__", "__getitem__")
_MAPPING = failing(dict, "items", "keys", "__iter__", "__len__", "__getitem__")
_ITERATOR = failing(object, "__iter__")
_SHOWN = failing(object, "__repr__", "__str__", "__format__")
_TRUTH = failing(object, "__bool__", "__len__")
_FLOAT = failing(float, "__float__", "__repr__")
_INT = failing(int, "__int__", "__index__", "__repr__")
_TEXT = failing(str, "__str__", "__repr__", "__len__", "lower", "__format__")
_PATH = failing(object, "__fspath__")
_EQUAL = failing(object, "__eq__", "__hash__")
_ATTRIBUTE = failing(object, "__getattr__")
_CALLED = type("Called", (), {"__call__": lambda *_, **__: None})


def _recursive() -> list[Any]:
    inner: list[Any] = []
    inner.append(inner)
    return inner


def _deep() -> list[Any]:
    result: list[Any] = []
    for _ in range(500):
        result = [result]
    return result


def _cyclic_dict() -> dict[str, Any]:
    result: dict[str, Any] = {}
    result["self"] = result
    return result


def _structured() -> Any:
    return np.zeros(2, dtype=[("a", float), ("b", int)])


VALUES: list[Callable[[], Any]] = [
    *(
        (lambda value=value: value)  # type: ignore[misc]
        for value in (
            None, True, False, Ellipsis, NotImplemented, int, object, np, types, len,
            0, 1, 2, 3, -1, -(2**31), 2**31, 2**63, -(2**63) - 1, 2**64, 10**30, 10**400, -(10**5000),
            0.0, -0.0, 0.5, 1.0, 2.5, -1e-3, 1e-3, 1e-320, 1e300, -1e300, float("nan"), float("inf"), -float("inf"),
            1j, complex("nan"), decimal.Decimal("NaN"), decimal.Decimal("0.1"), decimal.Decimal("1e1000"),
            fractions.Fraction(1, 3), fractions.Fraction(10**400), datetime.date(2000, 1, 1),
            "", " ", "a", "-x", "+y", "D2Q9", "cpu", "cuda", "auto", "velocity", "isotropic", "body 1", "=1+1", "@x",
            "a\0b", "a\nb", "\x1b[31mred", "\ud800", "\u202egnp", "\u2028", "é" * 300, "x" * 10**5, "../up", "1", "nan",
            b"", b"bytes", b"\xff\0", bytearray(b"x"), (), (1,), (1, 2), (0.01, 0.0), (0.01, 0.0, 0.0), (1, 2, 3, 4),
            [], [1], [0.01, 0], [1, "a"], [[1, 2], [3]], [None, None], ["cpu"], ["cpu", "cpu"], ["-x"],
            [float("nan")] * 2,
            {}, {"a": 1}, {1: 2}, set(), {1}, frozenset({1}), range(2), range(10**12), slice(1),
            np.float16("inf"), np.float32("nan"), np.longdouble("1e4000"), np.int8(-1), np.uint64(2**64 - 1),
            np.bool_(True),
            np.str_("a"), np.bytes_(b"a"), np.datetime64("2000-01-01"), np.timedelta64(1, "s"), np.complex64(1j),
            np.datetime64("NaT"),
        )
    ),
    lambda: np.zeros(0), lambda: np.zeros((0, 3)), lambda: np.array(1.0), lambda: np.array([1, 2]), lambda: np.zeros(2),
    lambda: np.full(2, np.nan), lambda: np.full(2, 1e300), lambda: np.array([None, 1]), lambda: np.array(["a", "b"]),
    lambda: np.array([1j, 2]), lambda: np.array(["2000", "2001"], dtype="M8[Y]"), _structured, lambda: np.zeros(2,
    "V8"),
    lambda: np.zeros((1,) * 32), lambda: np.zeros(2, ">f8"), lambda: np.ma.masked_array([0.01, 0], [True, False]),
    lambda: np.matrix([[0.01, 0]]), lambda: np.rec.array([(1, 2)]), lambda: np.array([[], []]),
    lambda: np.zeros(4)[::2],
    lambda: np.broadcast_to(np.float64(0.0), (2**20, 2**20)), lambda: np.zeros(2, "f2"), lambda: np.longdouble([1, 2]),
    lambda: np.zeros((8, 6), bool), lambda: np.ones((8, 6), bool), lambda: np.zeros((2, 8, 6)), lambda: np.zeros((8,
    6)),
    lambda: np.zeros((8, 6), "u1"), lambda: np.array(object()),
    object, _ARRAY, lambda: _LENGTH([1, 2]), lambda: _MAPPING({"e": 1.0}),
    _ITERATOR, _SHOWN, _TRUTH, lambda: _FLOAT(0.1), lambda: _INT(1),
    lambda: _TEXT("-x"), lambda: _TEXT("auto"), _PATH, _EQUAL, _ATTRIBUTE, _CALLED, _recursive, _deep, _cyclic_dict,
    lambda: (x for x in (1, 2)), lambda: iter([0.01, 0]), lambda: memoryview(b"abc"), lambda: lambda: None,
    lambda: lambda x, y: (x, y), lambda: lambda *_: None, lambda: lambda *_, t=0.0: (float("nan"), 0),
    lambda: lambda x, y: (np.zeros(3), "a"), lambda: lambda x, y, z, w: 0, lambda: {1: {2: [3]}}, Nasty,
    lambda: Nasty("x"),
    lambda: [_FLOAT(0.1), _FLOAT(0.2)], lambda: [_INT(8), _INT(6)], lambda: [object(), object()],
]  # fmt: skip
"""Each makes one; fresh ones, as some change when they are read."""

COUNTS = range(4, 2**53 + 1)
"""Counts that are right and would take for ever, or all memory."""


def nasty(rng: np.random.Generator) -> Any:
    """One of them, now and then within a list, a tuple or an array."""
    value = VALUES[rng.integers(len(VALUES))]()
    wrapping = rng.integers(12)
    if wrapping == 0:
        return [value, VALUES[rng.integers(len(VALUES))]()]
    if wrapping == 1:
        return (value, 0.0)
    return value


def is_long_count(value: Any) -> bool:
    """Whether a loop of so many rounds would be right, and not end."""
    try:
        return isinstance(value, int | np.integer | float) and COUNTS.start <= value < COUNTS.stop
    except Nasty:
        return False
