"""The JSON schema of a case of a wind tunnel."""

from __future__ import annotations

from typing import Any

from ..collision_table import COLLISIONS
from ..models import PRECISIONS
from ..tunnel.setup import FLUIDS
from ..turbulence import GRADIENT_MODELS

_NO_TUNNEL = ("ThermalBGK",)
_POSITIVE = {"type": "number", "exclusiveMinimum": 0}
_FILE = "the path of an STL, OBJ or PLY file (shapes by formulas are for Python)"
_PATH = {"type": "string", "minLength": 1, "maxLength": 4096}


def schema() -> dict[str, Any]:
    """As a JSON schema, draft 2020-12; every key but these is refused."""
    names = [name for name in COLLISIONS if name not in _NO_TUNNEL]
    tunnel = {
        "body": {
            "type": ["string", "object"],
            "additionalProperties": _PATH | {"$comment": _FILE},
            "minProperties": 1,
            "minLength": 1,
            "$comment": f"{_FILE}, or an object of such paths by name",
        },
        "length_phys": _POSITIVE,
        "speed_phys": _POSITIVE,
        "fluid": {"type": ["string", "object"], "if": {"type": "string"}, "then": {"enum": list(FLUIDS)}},
        "cells_across": {"type": "integer", "minimum": 8},
        "reynolds": {"type": ["number", "null"], "exclusiveMinimum": 0},
        "ground": {"enum": ["moving", "fixed", None]},
        "clearance_phys": {"type": "number", "minimum": 0},
        "sides": {"enum": ["slip", "periodic"]},
        "blockage": _POSITIVE | {"maximum": 0.25},
        "speed": _POSITIVE | {"maximum": 0.15},
        "collision": {"enum": names},
        "stencil": {"enum": ["D3Q19", "D3Q27"]},
        "turbulence": {"enum": [*GRADIENT_MODELS, None]},
        "precision": {"enum": list(PRECISIONS)},
        "settle": {"type": "number", "minimum": 0},
        "means": {"type": "boolean"},
    }
    run = {
        "turnovers": _POSITIVE,
        "device": {"type": ["string", "array"], "items": {"type": "string"}},
        "threads": {"type": "integer", "minimum": 1},
        "progress": {"type": "boolean"},
    }
    output = {"folder": _PATH, "surface": {"type": "boolean"}, "image": {"type": "boolean"}}
    top = {"type": "object", "additionalProperties": False}
    return {
        "title": "A wind tunnel for lbmgpu run",
        **top,
        "required": ["wind_tunnel"],
        "properties": {
            "$schema": {"type": "string"},
            "name": {"type": "string", "maxLength": 200},
            "wind_tunnel": {**top, "required": ["body", "length_phys", "speed_phys"], "properties": tunnel},
            "run": {**top, "properties": run},
            "output": {**top, "properties": output},
        },
    }
