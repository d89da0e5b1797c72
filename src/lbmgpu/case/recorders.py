"""Recorders of a case: one table of what an entry of its output may ask for, and how that becomes a recorder and files.

An entry is an object with one key of `KINDS`, such as ``{"probe": [[10.5, 8]], "every": 10, "file": "probe.csv"}``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..files.atomic_write import replacing
from ..multispeed import FLUXES
from ..solver import simulation_of

Schema = dict[str, Any]
PATH: Schema = {"$ref": "#/$defs/path"}
NAME: Schema = {"$ref": "#/$defs/label"}
POINT: Schema = {"$ref": "#/$defs/vector"}
NUMBER: Schema = {"type": "number"}
POSITIVE: Schema = {"type": "number", "exclusiveMinimum": 0}
FLAG: Schema = {"type": "boolean"}
NAMES: Schema = {"type": "array", "items": NAME, "minItems": 1}
_TIMES: dict[str, Schema] = {"every": {"$ref": "#/$defs/positive_count"}, "start": {"$ref": "#/$defs/count"}}


class Kind(NamedTuple):
    """What an entry of the output with a certain key means.

    Attributes:
        recorder: module and class of the recorder, below the package: it is imported when it is used.
        value: JSON schema of what stands at the key: a text or a list, so that older entries remain what they were.
        keys: schemas of the other keys, beside ``every`` and ``start``, which all have; all are arguments of the class.
        required: those of `keys` that may not be left out.
        leads: the name of the argument that the key's value is; ``"*"`` for one argument for each entry of a list.
        ending: of the file that the case writes; None where the value is the path, and the recorder itself writes.
        write: writes that file: gets the recorder and the path, on all ranks together.
        finish: called when the case has come to its end; gets the recorder, on all ranks together.
        prepare: makes the arguments of the class of those of the case, where they differ; gets whether the run goes on
            from a checkpoint.
    """

    recorder: str
    value: Schema
    keys: Mapping[str, Schema] = {}
    required: Sequence[str] = ()
    leads: str = "path"
    ending: str | None = None
    write: Callable[[Any, Path], object] | None = None
    prepare: Callable[[dict[str, Any], bool], dict[str, Any]] | None = None
    finish: Callable[[Any], object] | None = None


def write_table(recorder: Any, path: Path) -> None:
    """The samples of a history as text separated by commas."""
    recorder.to_csv(path)


def write_fields(recorder: Any, path: Path) -> None:
    """The fields of statistics as a file of `numpy.savez`, from which `lbmgpu.flows.read` begins another run."""
    if recorder.samples == 0:
        return
    found = {"_".join(np.atleast_1d(field)): recorder.read(field, gather=True) for field in recorder.fields}
    if getattr(recorder, "has_confidence", False):
        found |= {f"{field}_confidence": recorder.confidence(field, gather=True) for field in recorder.fields}
    steps = recorder.steps[[0, -1]]

    def write() -> None:
        with replacing(path, ".npz") as temporary:
            np.savez(temporary, samples=recorder.samples, steps=steps, **found)

    simulation_of(recorder.solver).processes.on_first(write)


def _series(arguments: dict[str, Any], restarted: bool) -> dict[str, Any]:
    """A region of numbers and pairs as integers and slices; a run that begins anew replaces a series that is there."""
    if "region" in arguments:
        region = [slice(*part) if isinstance(part, list) else part for part in arguments["region"]]
        arguments["region"] = tuple(slice(None) if part is None else part for part in region)
    return arguments | {"overwrite": not restarted}


def _drawn(arguments: dict[str, Any], _: bool) -> dict[str, Any]:
    """A plane given by a list as a pair."""
    given = [arguments, arguments["render"]] if isinstance(arguments.get("render"), dict) else [arguments]
    for options in given:
        options |= {key: tuple(value) for key, value in options.items() if key == "slice" and isinstance(value, list)}
    return arguments


_CELL: Schema = {"type": ["integer", "array", "null"], "items": {"type": ["integer", "null"]}, "maxItems": 2}
_DRAWN: dict[str, Schema] = {
    "field": NAME,
    "slice": {"type": ["string", "array"], "minItems": 2, "maxItems": 2},
    "streamlines": FLAG,
    "bodies": FLAG,
    "vmin": NUMBER,
    "vmax": NUMBER,
    "cmap": NAME,
    "dpi": POSITIVE,
    "render": {"type": ["boolean", "object"]},
}
_OVER: dict[str, Schema] = {"over": NAME}
_PAIRS: Schema = NAMES | {"items": {"type": ["string", "array"]}}
_AREAS: dict[str, Schema] = {"speed": POSITIVE, "area": POSITIVE, "length": POSITIVE, "density": POSITIVE}
_POSITION: dict[str, Schema] = {"position": NUMBER}
_FIELDS: dict[str, Schema] = {"fields": NAMES}

_STATISTICS: dict[str, Any] = {"leads": "*", "ending": ".npz", "write": write_fields}
_HISTORY: dict[str, Any] = {"ending": ".csv", "write": write_table}

KINDS: dict[str, Kind] = {
    "series": Kind(
        "output.series.Series",
        PATH,
        {
            "fields": NAMES,
            "region": {"type": "array", "items": _CELL, "minItems": 2, "maxItems": 3},
            "stride": {"type": ["integer", "array"], "items": {"type": "integer"}},
            "precision": NAME,
            "format": NAME,
            "compression": {"type": "integer", "minimum": 0, "maximum": 9},
        },
        prepare=_series,
    ),
    "image": Kind("pictures.recorders.Image", PATH, _DRAWN, prepare=_drawn),
    "movie": Kind(
        "pictures.recorders.Movie", PATH, _DRAWN | {"fps": POSITIVE}, prepare=_drawn, finish=lambda movie: movie.close()
    ),
    "mean": Kind("output.statistics.Mean", NAMES, {"batches": {"type": "integer"}, **_OVER}, **_STATISTICS),
    "covariance": Kind("output.statistics.Covariance", _PAIRS, _OVER, **_STATISTICS),
    "minimum": Kind("output.statistics.Minimum", NAMES, _OVER, **_STATISTICS),
    "maximum": Kind("output.statistics.Maximum", NAMES, _OVER, **_STATISTICS),
    "probe": Kind(
        "output.probes.Probe",
        {"type": "array", "items": {"type": ["array", "number"]}, "minItems": 1},
        _FIELDS,
        leads="points",
        **_HISTORY,
    ),
    "line": Kind(
        "output.probes.LineProbe",
        {"type": "array", "items": POINT, "minItems": 2, "maxItems": 2},
        _FIELDS | {"n": {"type": "integer", "minimum": 2}},
        required=["n"],
        leads="*",
        **_HISTORY,
    ),
    "plane": Kind(
        "output.probes.PlaneProbe",
        NAME,
        _FIELDS | _POSITION | {"stride": {"type": "integer", "minimum": 1}},
        required=["position"],
        leads="axis",
        **_HISTORY,
    ),
    "forces": Kind("output.forces.Forces", NAME, {"about": POINT}, leads="body", **_HISTORY),
    "coefficients": Kind(
        "output.forces.Coefficients",
        NAME,
        _AREAS | {"drag": NAME, "lift": NAME, "about": POINT},
        required=["speed", "area"],
        leads="body",
        **_HISTORY,
    ),
    "flux": Kind("output.fluxes.Flux", NAME, _POSITION, required=["position"], leads="axis", **_HISTORY),
    "heat_flux": Kind(
        "output.fluxes.HeatFlux", NAME, {"area": POSITIVE, "by": {"enum": [*FLUXES]}}, leads="where", **_HISTORY
    ),
}
"""By the key of an entry."""


def plain(case: Mapping[str, Any]) -> dict[str, Any]:
    """What a case's output asks for but recorders, as an object."""
    output = case.get("output", {})
    if isinstance(output, dict):
        return output
    result: dict[str, Any] = {}
    for entry in output:
        if not kinds_of(entry):
            result |= entry
    return result


def place_of(case: Mapping[str, Any], key: str) -> tuple[str | int, ...]:
    """Where a key of `plain` stands in a case."""
    output = case["output"]
    if isinstance(output, dict):
        return ("output", key)
    return ("output", next(n for n, entry in enumerate(output) if key in entry and not kinds_of(entry)), key)


def entries(case: Mapping[str, Any]) -> list[tuple[int, dict[str, Any]]]:
    """The recorders that a case's output asks for, with their places in the list."""
    output = case.get("output", {})
    return [] if isinstance(output, dict) else [(n, entry) for n, entry in enumerate(output) if kinds_of(entry)]


def kinds_of(entry: Mapping[str, Any]) -> list[str]:
    """The keys of an entry that make it a recorder."""
    return [kind for kind in KINDS if isinstance(entry.get(kind), str | list)]


def schema_of(output: Schema) -> Schema:
    """The JSON schema of an output that is an object, as `output` says, or a list of parts of it and of recorders."""
    of_kinds: Schema = {"properties": output["properties"], "additionalProperties": False}
    for kind, found in KINDS.items():
        known = {kind: dict(found.value), **found.keys, **_TIMES}
        if found.ending is not None:
            known["file"] = PATH
        asks = {"required": [kind], "properties": {kind: {"type": ["string", "array"]}}}
        then = {"required": list(found.required), "additionalProperties": False, "properties": known}
        of_kinds = {"if": asks, "then": then, "else": of_kinds}
    entry = {"type": "object", "minProperties": 1, **of_kinds}
    listed = {"type": "array", "items": entry}
    of_object = {key: value for key, value in output.items() if key != "type"}
    return {"type": ["object", "array"], "if": {"type": "array"}, "then": listed, "else": of_object}


def modules(case: Mapping[str, Any]) -> list[str]:
    """The modules of the recorders that a case asks for."""
    return [f"lbmgpu.{KINDS[kinds_of(entry)[0]].recorder.rpartition('.')[0]}" for _, entry in entries(case)]


def file_of(entry: Mapping[str, Any]) -> str:
    """The file that an entry leaves, relative to the folder of the run."""
    kind = kinds_of(entry)[0]
    ending = KINDS[kind].ending
    return str(entry[kind] if ending is None else entry.get("file", kind + ending))
