"""Mutates valid JSON cases at random, and checks the errors with which they are rejected.

Parts of them are dropped, replaced, nested, duplicated or renamed.
"""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import numpy as np

import lbmgpu as lbm
from lbmgpu.case import build as case_build, read as case_file

CASES: list[dict[str, Any]] = [
    {
        "name": "plane",
        "domain": {"shape": [12, 10], "stencil": "D2Q9"},
        "collision": {"model": "TRT", "reynolds": 20, "length": 10, "velocity": 0.05, "magic": 0.25},
        "precision": "float64",
        "storage": "float32",
        "streaming": "two-lattice",
        "faces": {
            "-x": {
                "condition": "velocity-inlet",
                "velocity": {"profile": "parabolic", "direction": "x", "max": 0.05, "across": ["y"]},
            },
            "+x": {"condition": "pressure-outlet", "density": 1.0},
            "-y": {"condition": "no-slip"},
            "+y": {"condition": "moving-wall", "velocity": [0.01, 0]},
        },
        "bodies": [
            {"name": "round", "shape": "cylinder", "center": [4, 5], "radius": 1.5, "axis": "z"},
            {
                "shape": "box",
                "low": [8, 4],
                "high": [9, 6],
                "condition": {"condition": "moving-wall", "velocity": [0.01, 0]},
                "thermal": {"condition": "isothermal", "temperature": 0.5},
            },
            {"shape": "mask", "file": "mask.npy"},
        ],
        "force": [1e-6, 0],
        "thermal": {
            "diffusivity": 0.1,
            "buoyancy": [0, 1e-4],
            "faces": {"-x": {"condition": "isothermal", "temperature": 1}, "-y": {"condition": "adiabatic"}},
        },
        "initial": {"density": 1.0, "velocity": [0.01, 0], "nonequilibrium": True, "temperature": 0.5},
        "run": {"steps": 10, "steady": {"tolerance": 1e-6, "of": "temperature"}, "threads": 1, "device": "cpu"},
        "output": {"folder": "out", "vtk": True, "image": {}, "checkpoint": {"every": 5}, "heat": {"every": 1}},
    },
    {
        "domain": {"shape": [4, 5, 6], "stencil": "D3Q19"},
        "collision": {"model": "MRT", "viscosity": 0.1, "rates": {"e": 1.0}, "smagorinsky": 0.1},
        "faces": {"-z": {"condition": "no-slip"}, "+z": {"condition": "moving-wall", "velocity": [0.1, 0, 0]}},
        "bodies": [{"shape": "sphere", "center": [2, 2, 2], "radius": 1}],
        "run": {"steps": 10, "device": "cpu", "threads": 1, "layout": "layout.json"},
        "output": {
            "forces": {"every": 1},
            "centrelines": {"reference": "albensoeder_kuhlmann_2005_re1000", "velocity": 1},
        },
    },
    {
        "domain": {"shape": [8, 6], "stencil": "D2Q37"},
        "collision": {"model": "ThermalBGK", "viscosity": 0.1, "prandtl": 0.7, "gravity": [0, 1e-5]},
        "faces": {"-y": {"condition": "no-slip"}, "+y": {"condition": "no-slip"}},
        "thermal": {"faces": {"-y": {"condition": "isothermal", "temperature": 0.7}}},
        "run": {"steps": 10, "device": "cpu", "threads": 1},
    },
]

ODD: list[Any] = [
    None, True, False, 0, 1, 2, 3, -1, 2**31, -(2**63), 10**30, 10**400, 0.5, -0.0, 1e-320, 1e308, -1e308, 1.5, "", "x",
    "a\0b", "\x1b[2J", "\ud800", "\n", "D2Q9", "D3Q27", "cuda", "auto", "/dev/zero", "/dev", "../up", "=1+1", "-x", "é",
    "x" * 5000, [], [1], [1, 2], [0.1, 0.1, 0.1], [[1]], {}, {"a": 1}, {"condition": "no-slip"}, [None], [{}], ["x"],
    {"array": 1}, [1e308, 1e308], [0] * 500,
]  # fmt: skip
TEXTS = ["NaN", "Infinity", "-Infinity", "1e999", "9" * 5000, '{"a": 1, "a": 2}', "[" * 5000, '"\\ud800"', "tru", "'x'"]


def attack_case(rng: np.random.Generator, folder: Path) -> str:
    """Make a case wrong, and the solver of it if it is right all the same; how it ended."""
    _write_files(folder)
    case = copy.deepcopy(CASES[rng.integers(len(CASES))])
    for _ in range(int(rng.choice([1, 1, 1, 2, 3]))):
        _change(rng, case)
    text = json.dumps(case)
    if rng.random() < 0.2:
        text = _change_text(rng, text)
    try:
        parsed = case_file.parse_case(text)
    except lbm.CaseError as error:
        _check(error, text)
        return "refused"
    except BaseException as error:
        raise AssertionError(f"parsing {text[:3000]} raised {error!r}") from error
    try:
        case_build.build_solver(parsed, folder)
    except lbm.CaseError as error:
        _check(error, text)
        return "refused in building"
    except (lbm.CudaError, FileNotFoundError):
        return "without its device or file"
    except BaseException as error:
        raise AssertionError(f"building {text[:3000]} raised {error!r}") from error
    return "taken"


def _check(error: lbm.CaseError, text: str) -> None:
    """Every problem has a place and words, and none of them steers a terminal."""
    assert error.problems, f"{text[:3000]}: refused without a word"
    for path, message in error.problems:
        assert path, f"{text[:3000]}: {message} is of no place"
        assert message, f"{text[:3000]}: {path} without a word"
        assert "\x1b" not in path + message, f"{text[:3000]}: an escape sequence in {path!r}: {message!r}"


def _write_files(folder: Path) -> None:
    """What the cases name, once."""
    if not (folder / "mask.npy").exists():
        mask = np.zeros((12, 10), bool)
        mask[1, 1] = True
        np.save(folder / "mask.npy", mask)
        lbm.Layout.split((4, 5, 6), (2, 1, 1)).save(folder / "layout.json")


def _places(value: Any) -> list[tuple[Any, Any]]:
    """Every container in a document with a key or an index of it."""
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else []
    return [place for key in keys for place in [(value, key), *_places(value[key])]]


def _change(rng: np.random.Generator, case: dict[str, Any]) -> None:
    places = _places(case)
    if not places:
        return
    container, key = places[rng.integers(len(places))]
    other, other_key = places[rng.integers(len(places))]
    odd = copy.deepcopy(ODD[rng.integers(len(ODD))])
    kind = rng.integers(8)
    if kind == 0:
        del container[key]
    elif kind == 1:
        container[key] = copy.deepcopy(other[other_key])
    elif kind == 2:
        container[key] = [container[key]]
    elif kind == 3:
        container[key] = {str(key): container[key]}
    elif kind == 4 and isinstance(container, dict):
        container[f"{key}e"] = container.pop(key)
    elif kind == 5 and isinstance(container, dict):
        container[str(odd)[:50]] = odd
    elif kind == 6 and isinstance(container[key], int | float):
        container[key] = container[key] * float(rng.choice([-1, 1e3, 1e-3, 1e10, 1e300, 0.5]))
    else:
        container[key] = odd


def _change_text(rng: np.random.Generator, text: str) -> str:
    """The text cut, or with something in place of a value."""
    if rng.random() < 0.5:
        return text[: rng.integers(len(text))]
    at = text.find(":", int(rng.integers(len(text))))
    return text if at < 0 else f"{text[: at + 1]} {TEXTS[rng.integers(len(TEXTS))]}, {text[at + 1 :]}"
