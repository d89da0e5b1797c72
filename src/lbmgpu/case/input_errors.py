"""Collects what is wrong with the values of a case, each with the place in the case that it is about."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..errors import CaseError, CheckpointError, DivergedError
from .read import json_path

Path = tuple[str | int, ...]

_OWNER = r"faces\['[-+][xyz]'\]|body (?P<body>'[^']*'|\"[^\"]*\")|D\dQ\d+"
_ARGUMENT = re.compile(rf"(?P<key>\w+)(?: of (?:{_OWNER}))?: (?P<rest>.*)", re.DOTALL)
"""How the messages of the package begin: with an argument, and the face, body or stencil that it is of."""


class Problems:
    """What is wrong with `case`: parts of it that do not depend on each other are all tried before it is raised."""

    def __init__(self, case: dict[str, Any]) -> None:
        self._case = case
        self._found: list[tuple[str, str]] = []

    @contextmanager
    def at(self, *path: str | int) -> Iterator[None]:
        """Take an error about an argument as one about the place `path` of the case, and go on."""
        try:
            yield
        except CaseError as error:
            self._found.extend(error.problems)
        except (CheckpointError, DivergedError):
            raise
        except (TypeError, ValueError) as error:
            self._found.append(located(self._case, path, str(error)))

    def end(self) -> None:
        """Raise CaseError if anything was wrong."""
        if self._found:
            raise CaseError(self._found)


@contextmanager
def at(case: dict[str, Any], *path: str | int) -> Iterator[None]:
    """Turn an error about an argument into one about the place `path` of `case`."""
    problems = Problems(case)
    with problems.at(*path):
        yield
    problems.end()


def located(case: dict[str, Any], path: Path, message: str) -> tuple[str, str]:
    """Path and message of a problem at `path`; the argument that `message` begins with becomes a part of the path.

    Only where the case has it: a viscosity that came from a Reynolds number is still named by the message. A body that
    the message names is the place of a problem with the whole case.
    """
    match = _ARGUMENT.match(message)
    if match is None:
        return json_path(path), message
    key, rest = match["key"], match["rest"]
    if not path and match["body"] is not None:
        names = [repr(body.get("name", f"body {number}")) for number, body in enumerate(case.get("bodies", []), 1)]
        path = ("bodies", names.index(match["body"])) if match["body"] in names else path
    entry: Any = case
    for part in path:
        entry = entry.get(part) if isinstance(entry, dict) else entry[part]
    if isinstance(entry, dict):
        if match["body"] is not None and "body" in entry:  # of a wind tunnel, whose bodies have names, or one has none
            named = entry["body"] if isinstance(entry["body"], dict) else {}
            return json_path((*path, "body", *(name for name in named if repr(name) == match["body"]))), rest
        if key in entry:
            return json_path((*path, key)), rest
        if isinstance(entry.get("condition"), dict) and key in entry["condition"]:  # the velocity of a body
            return json_path((*path, "condition", key)), rest
    return json_path(path), f"{key}: {rest}"
