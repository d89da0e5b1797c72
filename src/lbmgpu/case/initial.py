"""The initial state of a case: numbers, fields by name with noise, and files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .. import checks
from ..errors import CheckpointError
from ..flows import FIELDS, Noise, read
from ..flows.named import Named
from ..parallel.processes import Processes

_OTHERS = ("uniform", "file")


def fields_of(name: str) -> dict[str, type[Named]]:
    """What an argument of `Solver.initialize` can be by name."""
    return {field.kind: field for field in FIELDS if name in field.of}


def schema_of(name: str, plain: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON schema of an argument whose schema as a number or vector is `plain`."""
    known: dict[str, Any] = {
        kind: {
            "type": "object",
            "required": list(field.required),
            "additionalProperties": False,
            "properties": dict(field.schema),
        }
        for kind, field in fields_of(name).items()
    }
    noise = {
        "type": "object",
        "required": ["amplitude"],
        "additionalProperties": False,
        "properties": {
            "amplitude": {"type": "number", "minimum": 0},
            "seed": {"type": "integer", "minimum": 0, "maximum": checks.MAX_STEPS},
        },
    }
    vector = {"$ref": "#/$defs/vector"}
    known |= {"uniform": vector if name == "velocity" else {"type": "number"}, "file": {"$ref": "#/$defs/path"}}
    named = {"additionalProperties": False, "properties": known | {"noise": noise}}
    if name != "velocity":
        return {**plain, "type": ["number", "object"], "if": {"type": "object"}, "then": named}
    of_object = {"if": {"required": ["profile"]}, "then": {"$ref": "#/$defs/profile"}, "else": named}
    return {"type": ["array", "object"], "if": {"type": "array"}, "then": vector, "else": of_object}


def is_named(entry: Any) -> bool:
    """Whether an entry is a field by its name, or of a file."""
    return isinstance(entry, dict) and "profile" not in entry


def place_of(name: str, entry: Any) -> tuple[str, ...]:
    """Where in `initial` an argument stands that `initial_value` refuses; errors about the entry itself name it."""
    kinds = [kind for kind in entry if kind != "noise"] if is_named(entry) else []
    return (name, *kinds) if len(kinds) == 1 and kinds[0] in fields_of(name) else ()


def initial_value(name: str, entry: dict[str, Any], shape: tuple[int, ...], folder: Path, processes: Processes) -> Any:
    """What `Solver.initialize` takes for a field by name: a function of coordinates or an array.

    Args:
        name: of the argument.
        entry: a name with its arguments, and noise if it is given.
        shape: of the domain.
        folder: that the case's files are relative to.
        processes: that read a file.

    Raises:
        ValueError: no name, several, or arguments or a file that are wrong.
    """
    known = fields_of(name)
    kinds = [kind for kind in (*known, *_OTHERS) if kind in entry]
    if len(kinds) != 1:
        right = f"must have one of {', '.join((*known, *_OTHERS))}, and may have noise beside it"
        raise ValueError(f"{name}: {checks.shown(entry)} given, {right}")
    kind = kinds[0]
    if kind == "uniform":
        value: Any = entry[kind]
    elif kind == "file":
        value = read_fields(folder / entry[kind], processes, name)[name]
    else:
        whole = {key for key, part in known[kind].schema.items() if part.get("type") == "integer"}
        given = {key: int(number) if key in whole else number for key, number in entry[kind].items()}
        value = known[kind](shape, **given)
    if "noise" not in entry:
        return value
    if kind == "file":
        raise ValueError(f"{name}: a file with noise given, must be without; add the noise to the file's array")
    noise = entry["noise"]
    return Noise(value, noise["amplitude"], int(noise.get("seed", 0)))


def read_fields(path: Path, processes: Processes, field: str | None = None) -> dict[str, Any]:
    """The fields of a file; an error of one process is one of all."""

    argument = field or "file"

    def found() -> dict[str, Any]:
        try:
            return dict(read(path, field))
        except OSError as error:
            raise ValueError(f"{argument}: {path} cannot be read ({checks.reason(error)})") from None
        except (ValueError, CheckpointError) as error:
            raise ValueError(f"{argument}: {str(error).removeprefix('path: ')}") from None

    return processes.each(found)
