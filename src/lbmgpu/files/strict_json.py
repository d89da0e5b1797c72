"""JSON of which nothing is dropped in reading: a key that is there twice is an error."""

from __future__ import annotations

import json
from typing import Any


def parsed(text: str, *, finite: bool = False) -> Any:
    """What a JSON text holds.

    Args:
        text: the JSON.
        finite: whether NaN and Infinity, which are no JSON but which Python writes, are refused.

    Raises:
        ValueError: not JSON, nested too deeply, or with a key twice in one object.
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
