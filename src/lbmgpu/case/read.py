"""Reads a JSON case and checks it against the schema; everything wrong is reported at once, each with its path."""

from __future__ import annotations

import itertools
import json
import math
import os
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from .. import _core, checks, models
from ..collision_table import COLLISIONS, case_parameters
from ..conditions import FACE_CONDITIONS, Adiabatic, Condition, Isothermal, MovingWall, NoSlip, schemes
from ..deprecated import renamed_word
from ..engine.kept_state import AUTO, STATES
from ..errors import CaseError, warn_of_old_name
from ..files.regular_files import CASE_BYTES, file_path, read_text
from ..files.strict_json import parsed
from ..thermal import OLD_OPERATORS
from ..turbulence import MODELS
from . import recorders, tunnel_schema
from .initial import schema_of

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import ValidationError

MOST_PROBLEMS = 100
"""That are looked for; who has more is helped by no longer list."""

_TYPES = {
    "object": "an object",
    "array": "an array",
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
}
_LIMITS = {
    "minimum": "at least",
    "maximum": "at most",
    "exclusiveMinimum": "above",
    "exclusiveMaximum": "below",
}
_SIZES = {
    "minProperties": "at least {} key",
    "minItems": "at least {} entries",
    "maxItems": "at most {} entries",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
}

_SYNONYMS = {
    "ball": "sphere",
    "circle": "cylinder",
    "disc": "cylinder",
    "disk": "cylinder",
    "cube": "box",
    "cuboid": "box",
    "rectangle": "box",
    "square": "box",
    "wall": "no-slip",
    "slip": "free-slip",
    "symmetry": "free-slip",
    "inlet": "velocity-inlet",
    "outlet": "pressure-outlet",
    "insulated": "adiabatic",
    "hot": "isothermal",
    "cold": "isothermal",
    "heated": "isothermal",
}
"""What else one may call shapes of bodies and conditions."""


@cache
def schema() -> dict[str, Any]:
    """The JSON schema of a case, draft 2020-12: ``schema.json`` with the members of the engine's lists."""
    result: dict[str, Any] = json.loads((resources.files(__package__) / "schema.json").read_text(encoding="utf-8"))
    parts = result["properties"]
    parts["domain"]["properties"]["stencil"] = {"enum": _core.stencil_names()}
    parts["collision"]["properties"]["model"] = {"enum": list(COLLISIONS)}
    parts["precision"], parts["streaming"] = {"enum": list(models.PRECISIONS)}, {"enum": list(models.STREAMINGS)}
    parts["storage"], parts["state"] = {"enum": [*models.STORAGES, None]}, {"enum": [*STATES, AUTO]}
    for collision in COLLISIONS.values():
        parts["collision"]["properties"] |= case_parameters(collision)
    parts["turbulence"]["properties"] = {"model": {"enum": list(MODELS)}}
    parts["turbulence"]["allOf"] = [_of_model(name) for name in MODELS]
    parts["output"] = recorders.schema_of(parts["output"])
    initial = parts["initial"]["properties"]
    initial |= {name: schema_of(name, initial[name]) for name in ("density", "velocity", "temperature")}
    face = result["$defs"]["face"]
    face["properties"] = {"condition": {"enum": [condition.kind for condition in FACE_CONDITIONS]}}
    face["allOf"] = [_of_face(condition) for condition in FACE_CONDITIONS]
    of_body = result["$defs"]["body_condition"]
    of_heat = result["$defs"]["body_thermal_condition"]
    for given, otherwise, then in ((of_body, NoSlip, MovingWall), (of_heat, Adiabatic, Isothermal)):
        given["else"]["properties"]["scheme"] = {"enum": list(schemes(otherwise, of_body=True))}
        given["then"]["properties"]["scheme"] = {"enum": list(schemes(then, of_body=True))}
    return result


def _of_model(name: str) -> dict[str, Any]:
    """What a turbulence model may have beside its name."""
    then = {"additionalProperties": False, "properties": {"model": True} | MODELS[name].case_parameters}
    return {"if": {"required": ["model"], "properties": {"model": {"const": name}}}, "then": then}


def _of_face(condition: type[Condition]) -> dict[str, Any]:
    """What a face may have that has a condition."""
    takes = _core.face_conditions()[condition.kind]
    own: dict[str, Any] = {"velocity": {"$ref": "#/$defs/velocity"}} if takes == "velocity" else {}
    if takes == "number":
        own = {condition.number: {"type": "number"} | condition.case_number}
    if names := schemes(condition):
        own["scheme"] = {"enum": list(names)}
    then = {"additionalProperties": False, "properties": {"condition": True} | own}
    if takes == "velocity":
        then["required"] = ["velocity"]
    return {"if": {"required": ["condition"], "properties": {"condition": {"const": condition.kind}}}, "then": then}


@cache
def validator() -> Draft202012Validator:
    """What checks a value against the schema of a case."""
    from jsonschema import Draft202012Validator  # here, as it takes a while to be loaded

    Draft202012Validator.check_schema(schema())
    return Draft202012Validator(schema())


@cache
def tunnel_validator() -> Draft202012Validator:
    """What checks a value against the schema of a case of a wind tunnel."""
    from jsonschema import Draft202012Validator  # here, as it takes a while to be loaded

    return Draft202012Validator(tunnel_schema.schema())


def read_case(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The case in the file at `path`, checked.

    Raises:
        CaseError: the file cannot be read, is not JSON, or is not a case.
        FileNotFoundError: there is none.
    """
    case = read_unchecked(path)
    refuse_tunnel(case)
    check_case(case)
    return case


def refuse_tunnel(case: Any) -> None:
    """Raise CaseError for a case of a wind tunnel."""
    if is_tunnel(case):
        raise CaseError([("$.wind_tunnel", "given, which only lbmgpu.case.run_case and 'lbmgpu run' take")])


def is_tunnel(case: Any) -> bool:
    """Whether a case, right or not, is of a wind tunnel, whose keys are others (`tunnel_schema.py`)."""
    return isinstance(case, dict) and "wind_tunnel" in case


def read_unchecked(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The JSON in the file at `path`, with new names in place of old ones, and not checked.

    Raises:
        CaseError: the file cannot be read, or is not JSON.
        FileNotFoundError: there is none.
    """
    source = file_path("path", path)
    try:
        text = read_text("", source, at_most=CASE_BYTES)
    except FileNotFoundError:
        raise FileNotFoundError(f"no case at {source}") from None
    except (OSError, UnicodeDecodeError, ValueError) as error:
        raise CaseError([(str(source), f"cannot be read ({checks.reason(error)})")]) from None
    return _parsed(text, str(source))


def parse_case(text: str, name: str = "case") -> dict[str, Any]:
    """The case in a JSON text, checked; `name` stands for it in errors.

    Raises:
        CaseError: not JSON, or not a case.
    """
    case = _parsed(text, name)
    check_case(case)
    return case


def _parsed(text: str, name: str) -> dict[str, Any]:
    try:
        case: dict[str, Any] = _with_new_names(parsed(text))
    except ValueError as error:
        raise CaseError([(name, f"not JSON ({error})")]) from None
    return case


def _with_new_names(case: Any) -> Any:
    """A case, right or not, with the keys and words of this version in place of those of the one before."""
    run, thermal = (case.get(key) if isinstance(case, dict) else None for key in ("run", "thermal"))
    if isinstance(run, dict) and "log_every" in run and "log" not in run:
        warn_of_old_name("'log_every' of a case's 'run'", "'log': {'every': ...}")
        case = case | {"run": {key: value for key, value in run.items() if key != "log_every"}}
        case["run"]["log"] = {"every": run["log_every"]}
    if isinstance(thermal, dict) and "operators" in thermal:
        word = renamed_word("operators", thermal["operators"], OLD_OPERATORS)
        case = case | {"thermal": thermal | {"operators": word}}
    return case


def check_case(case: Any) -> None:
    """Raise CaseError, with a line for everything that the schema does not allow in `case`."""
    try:
        problems = list(itertools.islice(_not_finite(case, "$"), MOST_PROBLEMS))
        if not problems:
            of_kind = tunnel_validator() if is_tunnel(case) else validator()
            errors = itertools.islice(of_kind.iter_errors(case), MOST_PROBLEMS)
            problems = [problem for error in errors for problem in _explain(error, case)]
    except RecursionError:
        raise CaseError([("$", "nested too deeply")]) from None
    if problems:
        raise CaseError(sorted(set(problems)))


def json_path(parts: Iterable[str | int]) -> str:
    """``$.faces['+z'].velocity[0]`` and the like."""
    text = "$"
    for part in parts:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += f".{part}" if part.isidentifier() else f"[{part!r}]"
    return text


def _not_finite(value: Any, path: str) -> Iterator[tuple[str, str]]:
    """NaN and infinities, which Python's parser lets pass, and integers that no float can hold."""
    if isinstance(value, dict):
        for key, entry in value.items():
            yield from _not_finite(entry, path + json_path([key])[1:])
    elif isinstance(value, list):
        for index, entry in enumerate(value):
            yield from _not_finite(entry, f"{path}[{index}]")
    elif isinstance(value, int | float):
        try:
            finite = math.isfinite(value)
        except OverflowError:
            finite = False
        if not finite:
            yield path, f"{checks.shown(value)} given, must be a finite number"


def _two_dimensional(case: Any) -> bool:
    """Whether `case`, right or not, means a domain of two dimensions."""
    domain = case.get("domain") if isinstance(case, dict) else None
    if not isinstance(domain, dict):
        return False
    shape, stencil = domain.get("shape"), domain.get("stencil")
    if stencil in _core.stencil_names() and _core.stencil(stencil).D == 2:
        return True
    return isinstance(shape, list) and len(shape) == 2


def _near(given: str, wanted: list[str]) -> str:
    """A hint at the one of `wanted` that `given` is near to, in spelling or in meaning."""
    synonym = _SYNONYMS.get(given.lower())
    return f"; did you mean {synonym!r}?" if synonym in wanted else checks.did_you_mean(given, wanted)


def _explain_entry(given: dict[str, Any], known: list[str], path: list[str | int]) -> Iterator[tuple[str, str]]:
    """What is wrong with an entry of the output that is no recorder: the keys that are near to one's first."""
    kinds = [kind for kind in recorders.KINDS if kind not in known]
    unknown = [key for key in given if key not in known]
    near = [key for key in unknown if key in kinds or checks.did_you_mean(key, kinds)]
    for key in near or unknown:
        here = json_path([*path, key])
        if key in kinds:
            yield here, f"{checks.shown(given[key])} given, must be {_TYPES['string']} or {_TYPES['array']}"
            continue
        hint = checks.did_you_mean(key, [*known, *kinds])
        yield (
            here,
            f"unknown key, must be one of {', '.join(known)}, or the recorder {checks.alternatives(kinds)}{hint}",
        )


def _explain(error: ValidationError, case: Any) -> Iterator[tuple[str, str]]:
    """What is wrong and what would be right, for one failed keyword of the schema in `case`."""
    path, keyword, wanted, given = list(error.absolute_path), error.validator, error.validator_value, error.instance
    here = json_path(path)
    shown = checks.shown(given)
    if keyword == "additionalProperties":
        known = list(error.schema["properties"])
        if path in (["faces"], ["thermal", "faces"]) and _two_dimensional(case):
            known = [face for face in known if "z" not in face]
        if path[:1] == ["output"] and len(path) == 2 and isinstance(path[1], int) and not recorders.kinds_of(given):
            yield from _explain_entry(given, known, path)
            return
        for key in given:
            if key not in known:
                hint = checks.did_you_mean(key, known)
                yield json_path([*path, key]), f"unknown key, must be one of {', '.join(known)}{hint}"
    elif keyword in ("required", "dependentRequired"):
        names = wanted if keyword == "required" else [n for key, ns in wanted.items() if key in given for n in ns]
        missing = [name for name in names if name not in given]
        yield here, f"lacks {', '.join(repr(name) for name in missing)}"
    elif keyword == "enum":
        hint = _near(given, [w for w in wanted if isinstance(w, str)]) if isinstance(given, str) else ""
        known_values = ", ".join("null" if w is None else repr(w) for w in wanted)
        yield here, f"{shown} given, must be one of {known_values}{hint}"
    elif keyword in ("type", "anyOf") and "$comment" in error.schema:  # which says what is right
        yield here, f"{shown} given, must be {error.schema['$comment']}"
    elif keyword == "type":
        types = [wanted] if isinstance(wanted, str) else wanted
        yield here, f"{shown} given, must be {' or '.join(_TYPES[t] for t in types)}"
    elif keyword in _LIMITS:
        yield here, f"{shown} given, must be {_LIMITS[keyword]} {wanted}"
    elif keyword == "pattern":
        yield here, f"{shown} given, must have no control characters"
    elif keyword in ("minProperties", "maxProperties") and "properties" in error.schema:
        count = "one" if keyword == "maxProperties" else "at least one"
        known = list(error.schema["properties"])
        yield here, f"{shown} given, must have {count} of {', '.join(known)}"
    elif keyword in _SIZES:
        yield here, f"{shown} given, must have {_SIZES[keyword].format(wanted)}"
    else:
        yield here, f"{shown} given: {error.message[:200]}"
