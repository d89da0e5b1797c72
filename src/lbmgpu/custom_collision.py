"""A collision that a user wrote in C++, in the form of the engine's own: a value that holds its text and parameters."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np

from . import _core, checks, cpp_text
from .collisions import MAX_VISCOSITY, Collision
from .files.regular_files import file_path, read_text

MAX_TEXT = 2**20
"""Bytes; far beyond use."""

Parameter = float | tuple[float, ...] | Mapping[str, float]


@dataclass(frozen=True, init=False, eq=False, repr=False)
class CustomCollision(Collision):
    """A collision of your own: C++ of the form of a header in ``lattice/collisions/``, compiled when a solver needs it.

    For a GPU NVRTC compiles it, which needs no compiler on the machine; for a CPU g++ does, or the compiler that
    ``$CXX`` names. What was compiled is kept with the kernels for GPUs, so the next start compiles nothing. It takes
    the stencils D2Q9, D3Q19 and D3Q27. See ``docs/custom_collision.md``, which grows an example.

    Args:
        header: the text, or the path of a file that ends in ``.h``, read at once. A string with a line break is a text.
        parameters: numbers, sequences of numbers and dicts of names and numbers that the struct's
            ``parameters<S>(given)`` reads by these names. One is the kinematic ``viscosity``, cells squared a step,
            above 0, of which ``relaxation(given)`` makes the rate of the stress.
        name: of the struct in ``namespace lbm`` that is the collision; if None, the one struct there that has a member
            ``name``.

    Attributes:
        text: of the header. Two are equal if text, struct and parameters are, wherever they were read.
        file: its path, which messages of the compiler give beside the line; ``"collision.h"`` for a text.
        given: the parameters, read-only.

    Raises:
        TypeError, ValueError: a wrong argument, a text that includes other headers than the engine's, or one in which
            the struct is not found. What else is wrong in the text a solver finds, and raises `CompileError` with the
            compiler's message, before anything is allocated.
        OSError: the file cannot be read.
    """

    kind: ClassVar[str] = ""
    """It is no collision of the engine."""
    viscosity: float = field(init=False)
    name: str
    text: str
    file: str
    given: Mapping[str, Parameter]

    def __init__(self, header: str | os.PathLike[str], parameters: Mapping[str, Any], name: str | None = None) -> None:
        file, text = _read(header)
        given = _parameters(parameters)
        viscosity = given.get("viscosity")
        if viscosity is None:
            raise ValueError("parameters: no 'viscosity' given, must hold the kinematic viscosity of the fluid")
        label = None if name is None else checks.label("name", name)
        values: dict[str, Any] = {"file": file, "text": text, "given": MappingProxyType(given)}
        values["name"] = cpp_text.collision_of(text, file, label).name
        values["viscosity"] = checks.number("parameters['viscosity']", viscosity, above=0, at_most=MAX_VISCOSITY)
        for key, value in values.items():
            object.__setattr__(self, key, value)

    @property
    def digest(self) -> str:
        """SHA-256 of the text."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    def __repr__(self) -> str:
        given = {key: dict(value) if isinstance(value, Mapping) else value for key, value in self.given.items()}
        return f"CustomCollision(name={self.name!r}, parameters={given!r}, text of SHA-256 {self.digest[:16]}...)"

    def _identity(self) -> tuple[Any, ...]:
        given = {k: tuple(sorted(v.items())) if isinstance(v, Mapping) else v for k, v in self.given.items()}
        return self.name, self.text, tuple(sorted(given.items()))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CustomCollision):
            return NotImplemented
        return self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def __reduce__(self) -> tuple[Any, ...]:
        """Its parts, for pickle and copy: the file may be gone, and a read-only mapping goes through neither."""
        given = {key: dict(value) if isinstance(value, Mapping) else value for key, value in self.given.items()}
        return partial(_restored, self.file), (self.text, given, self.name)

    def check(self, stencil: _core.Stencil) -> None:
        """Nothing: what goes with `stencil` the struct says, which the engine asks."""

    def engine_text(self) -> dict[str, Any]:
        """The struct and its text as the engine takes them."""
        line = cpp_text.collision_of(self.text, self.file, self.name).line
        return {"name": self.name, "file": self.file, "text": self.text, "line": line}

    def parameters(self, stencil: _core.Stencil) -> dict[str, Any]:
        """The parameters, in plain dicts and lists."""
        return {
            key: dict(value) if isinstance(value, Mapping) else list(value) if isinstance(value, tuple) else value
            for key, value in self.given.items()
        }

    def record(self, stencil: _core.Stencil) -> dict[str, Any]:
        """What a checkpoint holds of it."""
        return {
            "model": CUSTOM,
            "name": self.name,
            "text": self.text,
            "parameters": self.parameters(stencil),
        }


CUSTOM = "custom"
"""The collision's kind in checkpoints."""


def _restored(file: str, text: str, given: dict[str, Any], name: str) -> CustomCollision:
    made = CustomCollision(text, given, name)
    object.__setattr__(made, "file", file)
    return made


def _read(header: Any) -> tuple[str, str]:
    """The name of the file and the text."""
    if isinstance(header, str) and "\n" in header:
        text, file = str.__str__(header), "collision.h"
    else:
        wrong = f"header: {checks.shown(header)} given, must be C++ text, or the path of a file that ends in '.h'"
        if not isinstance(header, str | os.PathLike):
            raise TypeError(wrong)
        path = file_path("header", header)
        if path.suffix != ".h":
            raise ValueError(wrong)
        text, file = read_text("header", path, at_most=MAX_TEXT), checks.escaped(str(path.absolute()))
    if len(text.encode("utf-8", "surrogatepass")) > MAX_TEXT or "\0" in text:
        raise ValueError(f"header: a text of {len(text)} characters given, must be at most {MAX_TEXT} without NUL")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"header: must be text of Unicode ({error})") from None
    return file, text if text.endswith("\n") else text + "\n"


def _parameters(given: Any) -> dict[str, Parameter]:
    if not isinstance(given, Mapping):
        raise TypeError(f"parameters: {checks.shown(given)} given, must be a dict of names and numbers")
    names = [checks.label("parameters", key) for key in given]
    return {name: _parameter(f"parameters[{name!r}]", given[name]) for name in names}


def _parameter(where: str, value: Any) -> Parameter:
    if isinstance(value, Mapping):
        names = [checks.label(where, key) for key in value]
        return MappingProxyType({name: checks.number(f"{where}[{name!r}]", value[name]) for name in names})
    if isinstance(value, Sequence | np.ndarray) and not isinstance(value, str | bytes):
        entered = checks.listed(where, value, "a number, a sequence of numbers or a dict of names and numbers")
        return tuple(checks.number(f"{where}[{k}]", entry) for k, entry in enumerate(entered))
    return checks.number(where, value)
