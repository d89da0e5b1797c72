"""The sets of parameters of a study, from a grid, sequences or rows, each with a key and a folder's name."""

from __future__ import annotations

import dataclasses
import enum
import hashlib
import inspect
import itertools
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

import numpy as np

from .. import checks

COMBINATIONS = ("grid", "zip")
TAKEN = ("case", "status", "message")
"""Names that the dataset of a study has of its own."""

MOST_CASES = 1_000_000
MOST_DIGITS = 17
"""Of a float, by which it differs from every other."""
_LARGEST_EXACT = 2**53
_NAME_LENGTH = 80


@dataclass(frozen=True)
class ParameterSet:
    """The parameters of one case.

    Attributes:
        values: by name, as the function gets them.
        key: digest of the values and of the study's version, by which the case is found again.
        folder: name of its folder: readable, and unique by the key.
        version: of the study.
    """

    values: Mapping[str, Any]
    key: str
    folder: str
    version: str = ""

    def __str__(self) -> str:
        return ", ".join(f"{name}={shown(value)}" for name, value in self.values.items())


@dataclass(frozen=True)
class ParameterTable:
    """All cases of a study in order, and how they are laid out.

    Attributes:
        sets: the cases.
        names: of the parameters.
        axes: of a grid the values along each axis, by name, in order; None where the cases are a list.
    """

    sets: tuple[ParameterSet, ...]
    names: tuple[str, ...]
    axes: dict[str, list[Any]] | None


def table(parameters: Any, *, combine: str, version: str) -> ParameterTable:
    """The cases that the argument `parameters` of a study means.

    Args:
        parameters: a mapping of names to sequences of values (a value that is none is the same in all cases), a
            sequence of mappings with the same names, or a pandas.DataFrame.
        combine: of a mapping: ``"grid"``, all combinations; ``"zip"``, the first values together, the second, and
            so on.
        version: of the study, which is part of every key.

    Raises:
        TypeError, ValueError: none of these; values that have no key; cases that appear twice.
    """
    checks.choice("combine", combine, COMBINATIONS)
    if hasattr(parameters, "to_dict") and hasattr(parameters, "columns"):  # a DataFrame, without loading pandas
        columns = [str(name) for name in parameters.columns]
        rows = [dict(zip(columns, row, strict=True)) for row in parameters.itertuples(index=False, name=None)]
        return _listed(rows, version, "parameters")
    if isinstance(parameters, Mapping):
        if not parameters:
            raise ValueError("parameters: an empty mapping given, must name at least one parameter")
        axes = {_name(name): _values(name, values) for name, values in parameters.items()}
        return _zipped(axes, version) if combine == "zip" else _grid(axes, version)
    if isinstance(parameters, Sequence) and not isinstance(parameters, str | bytes):
        if not all(isinstance(row, Mapping) for row in parameters):
            raise TypeError("parameters: a sequence given, so each entry must be a mapping of names to values")
        return _listed([dict(row) for row in parameters], version, "parameters")
    raise TypeError(
        f"parameters: {checks.shown(parameters)} given, must be a mapping of names to values, a list of mappings or a "
        "DataFrame"
    )


def one(values: Mapping[str, Any], *, version: str, where: str = "parameters") -> ParameterSet:
    """A set of parameters by itself.

    Raises:
        TypeError, ValueError: a name that is none, or a value that has no key.
    """
    plain = {_name(name): _plain(value) for name, value in values.items()}
    described = {name: _described(f"{where}[{name!r}]", value) for name, value in plain.items()}
    text = json.dumps({"parameters": described, "version": version}, sort_keys=True, ensure_ascii=True)
    key = hashlib.sha256(text.encode()).hexdigest()[:16]
    readable = ",".join(f"{name}={shown(value)}" for name, value in plain.items())
    readable = re.sub(r"[^A-Za-z0-9.,=+_-]+", "_", readable)[:_NAME_LENGTH].strip("_.,")
    return ParameterSet(plain, key, f"{readable}-{key}", version)


def key_of(value: Any) -> str:
    """A text that is the same whenever a value is, and no other's.

    Raises:
        TypeError, ValueError: a value of which nothing of the kind is known.
    """
    return json.dumps(_described("value", value), sort_keys=True)


def check_function(function: Callable[..., Any], names: Sequence[str]) -> None:
    """Check that a study's function takes the case and these parameters.

    Raises:
        TypeError: not a function, or one that takes other arguments.
    """
    checks.function("function", function)
    try:
        signature = inspect.signature(function)
    except ValueError:  # of some built-in functions there is none
        return
    called = getattr(function, "__name__", type(function).__name__)
    takes = list(signature.parameters.values())
    by_name = {p.name for p in takes[1:] if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
    any_name = any(p.kind == p.VAR_KEYWORD for p in takes)
    first = takes[0] if takes else None
    if first is None or first.kind in (first.KEYWORD_ONLY, first.VAR_KEYWORD):
        raise TypeError(f"function: {called}{signature} takes no case, must be {called}(case, {', '.join(names)})")
    for name in names:
        if name == first.name and first.kind != first.POSITIONAL_ONLY:
            raise TypeError(
                f"function: {called}{signature} takes the case as its first argument, which cannot be the parameter "
                f"{name!r}; write {called}(case, {', '.join(names)})"
            )
        if name not in by_name and not any_name:
            hint = checks.did_you_mean(name, by_name)
            raise TypeError(f"function: {called}{signature} takes no parameter {name!r}{hint}")
    required = [p.name for p in takes[1:] if p.default is p.empty and p.name in by_name]
    for name in required:
        if name not in names:
            raise TypeError(f"parameters: none named {name!r}, which {called}{signature} needs")


def shown(value: Any, digits: int = 6) -> str:
    """A value in a few characters, for the names of folders and for tables; with `MOST_DIGITS` no other looks alike."""
    if isinstance(value, bool | str) or value is None:
        return str(value)
    if isinstance(value, float):
        return f"{value:.{digits}g}"
    if isinstance(value, tuple | list):
        return "x".join(shown(entry, digits) for entry in value)
    if isinstance(value, np.ndarray):
        digest = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()[:digits]
        return f"array{'x'.join(map(str, value.shape))}-{digest}"
    return str(value) if isinstance(value, int) else str(repr(value))


def _name(name: Any) -> str:
    name = checks.label("parameters", name)
    if "/" in name or name in TAKEN:
        right = f"must be one that an argument can have, and none of {', '.join(map(repr, TAKEN))}"
        raise ValueError(f"parameters: {name!r} given as a name, {right}")
    return str(name)


def _values(name: str, values: Any) -> list[Any]:
    """The values of a parameter; one that is no sequence, or a text, is a single value."""
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        return [values]
    if dataclasses.is_dataclass(values) or (isinstance(values, np.ndarray) and values.ndim == 0):
        return [values]
    listed = list(itertools.islice(values, MOST_CASES + 1))
    if not listed:
        raise ValueError(f"parameters[{name!r}]: no values given")
    return listed


def _grid(axes: dict[str, list[Any]], version: str) -> ParameterTable:
    count = int(np.prod([len(values) for values in axes.values()], dtype=object))
    if count > MOST_CASES:
        raise ValueError(f"parameters: a grid of {count} cases given, must be at most {MOST_CASES}")
    axes = {name: [_plain(value) for value in values] for name, values in axes.items()}
    rows = [dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values())]
    return dataclasses.replace(_listed(rows, version, "parameters"), axes=axes)


def _zipped(axes: dict[str, list[Any]], version: str) -> ParameterTable:
    lengths = {name: len(values) for name, values in axes.items() if len(values) > 1}
    if len(set(lengths.values())) > 1:
        found = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise ValueError(f"parameters: of combine='zip' all must have as many values, but {found}")
    count = max(lengths.values(), default=1)
    rows = [{name: v[i] if len(v) > 1 else v[0] for name, v in axes.items()} for i in range(count)]
    return _listed(rows, version, "parameters")


def _listed(rows: list[dict[str, Any]], version: str, where: str) -> ParameterTable:
    if not rows:
        raise ValueError(f"{where}: no cases given")
    if len(rows) > MOST_CASES:
        raise ValueError(f"{where}: {len(rows)} cases given, must be at most {MOST_CASES}")
    names = tuple(_name(name) for name in rows[0])
    for number, row in enumerate(rows):
        if set(row) != set(names):
            other = sorted(set(row) ^ set(names), key=str)
            raise ValueError(f"{where}[{number}]: has other names than the first case: {', '.join(map(str, other))}")
    sets: list[ParameterSet] = []
    seen: dict[str, int] = {}
    for number, row in enumerate(rows):
        case = one({name: row[name] for name in names}, version=version, where=where)
        if case.key in seen:
            raise ValueError(f"{where}: cases {seen[case.key]} and {number} are the same: {case}")
        seen[case.key] = number
        sets.append(case)
    return ParameterTable(tuple(sets), names, None)


def _plain(value: Any) -> Any:
    """A value without NumPy's type: a scalar as Python's, which the function gets, also within tuples and the like."""
    if isinstance(value, np.generic) and value.dtype.kind not in "mM":  # some times would be bare numbers
        return value.item()
    if type(value) in (tuple, list):
        return type(value)(_plain(entry) for entry in value)
    if type(value) is dict:
        return {name: _plain(entry) for name, entry in value.items()}
    return value


def _type(value: Any) -> str:
    """The name of a value's class, with its module but for this package's, whose modules may come to be others."""
    module, name = type(value).__module__, type(value).__qualname__
    if module.partition(".")[0] == __package__.partition(".")[0]:
        return name
    return f"{'__main__' if module == '__mp_main__' else module}.{name}"


def _described(where: str, value: Any) -> Any:
    """A value as JSON that is the same whenever the value is, in every process and version of Python.

    Raises:
        TypeError: a value of which nothing of the kind is known.
        ValueError: not a number.
    """
    value = _plain(value)
    if value is None or isinstance(value, bool | str | int):
        return value
    if isinstance(value, float):
        if value != value:
            raise ValueError(f"{where}: nan given, must be a number")
        if value.is_integer() and abs(value) < _LARGEST_EXACT:
            return int(value)  # 20 and 20.0 are one case
        return {"float": value.hex()}
    if isinstance(value, complex):
        return {"complex": [value.real.hex(), value.imag.hex()]}
    if isinstance(value, tuple | list):
        return [_described(f"{where}[{i}]", entry) for i, entry in enumerate(value)]
    if isinstance(value, Mapping):
        return {"mapping": {str(name): _described(f"{where}[{name!r}]", entry) for name, entry in value.items()}}
    if isinstance(value, np.ndarray) and value.dtype != object:
        digest = hashlib.sha256(np.ascontiguousarray(value).tobytes()).hexdigest()
        return {"array": [str(value.dtype), list(value.shape), digest]}
    if isinstance(value, PurePath):
        return {"path": str(value)}
    if isinstance(value, enum.Enum):
        return {"enum": [_type(value), value.name]}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {
            field.name: _described(f"{where}.{field.name}", getattr(value, field.name))
            for field in dataclasses.fields(value)
        }
        return {"dataclass": [_type(value), fields]}
    raise TypeError(
        f"{where}: {checks.shown(value)} given, must be a number, a text, a path, an array, a dataclass such as "
        "lbm.TRT(0.01), or a tuple of them, so that the case is found again; make other objects in the function"
    )
