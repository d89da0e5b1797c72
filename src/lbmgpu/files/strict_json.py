"""Reads JSON without dropping anything: a key that appears twice in an object is an error."""

from __future__ import annotations

import json
from typing import Any


def parsed(text: str, *, finite: bool = False) -> Any:
    """The value of a JSON text.

    Args:
        text: the JSON.
        finite: whether NaN and Infinity are refused, which are not JSON, but which Python writes.

    Raises:
        ValueError: the text is not JSON, is nested too deeply, or has a key twice in one object.
    """
    try:
        return json.loads(text, object_pairs_hook=_unique, parse_constant=_refused if finite else None)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _refused(constant: str) -> None:
    raise ValueError(f"{constant} given, must be a finite number")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for key, value in pairs:
        if key in result:
            raise ValueError(f"the key {key!r} appears twice in one object")
        result[key] = value
    return result
