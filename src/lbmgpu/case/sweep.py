"""Finds the lists that stand in place of values in a case, as those of a study do, by what the schema takes there."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from .read import check_case, json_path, refuse_tunnel, validator

Place = tuple[str | int, ...]


@dataclass(frozen=True)
class Sweep:
    """A case with lists in place of values.

    Attributes:
        base: the case with the first of each list's entries.
        places: where the lists are, by the names of the parameters, in the order of the case.
        values: the entries of each list, by the same names.
    """

    base: dict[str, Any]
    places: dict[str, Place]
    values: dict[str, list[Any]]

    def case(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """The case with these values, checked.

        Raises:
            CaseError: they do not make one.
        """
        result = copy.deepcopy(self.base)
        for name, value in values.items():
            _put(result, self.places[name], copy.deepcopy(value))
        check_case(result)
        return result


def swept(case: dict[str, Any]) -> Sweep:
    """The lists of `case` in places where the schema takes none, or, where it takes one, of lists.

    Raises:
        CaseError: it is no case with the first entries of these lists either.
    """
    refuse_tunnel(case)
    base: Any = copy.deepcopy(case)
    found: dict[Place, list[Any]] = {}
    while place := next((place for place in _lists(base) if place not in found), None):
        found[place] = _get(base, place)
        _put(base, place, copy.deepcopy(found[place][0]))
    check_case(base)
    ordered = [place for place in _places(case, ()) if place in found]
    names = {json_path(place).removeprefix("$."): place for place in ordered}
    return Sweep(base, names, {name: found[place] for name, place in names.items()})


def _lists(case: Any) -> Iterator[Place]:
    """Where a list is given that the schema does not take: itself, or in a list that takes something else."""
    for error in validator().iter_errors(case):
        if error.validator not in ("type", "enum"):
            continue
        place = tuple(error.absolute_path)
        around = _get(case, place[:-1]) if place else None
        if isinstance(around, list) and all(isinstance(entry, list | dict) for entry in around):
            yield place[:-1]  # a list of vectors in place of a vector, say
        elif isinstance(error.instance, list) and error.instance:
            yield place


def _places(value: Any, place: Place) -> Iterator[Place]:
    """All places in a JSON value, in its order."""
    yield place
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, entry in entries:
        yield from _places(entry, (*place, key))


def _get(case: Any, place: Place) -> Any:
    for key in place:
        case = case[key]
    return case


def _put(case: Any, place: Place, value: Any) -> None:
    _get(case, place[:-1])[place[-1]] = value
