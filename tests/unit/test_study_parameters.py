"""Tests of what a study refuses before anything starts, and of the names and keys of its cases."""

from __future__ import annotations

import enum
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest

import lbmgpu as lbm
from lbmgpu.study.parameters import one, table

from .study_support import run, square


@dataclass(frozen=True)
class Shape:
    """A parameter of a user's own type."""

    width: float
    name: str = "box"


class Colour(enum.Enum):
    """Another one."""

    RED = 1


def key(value: Any) -> str:
    return one({"x": value}, version="").key


@pytest.mark.parametrize(
    ("one_value", "same"),
    [
        (20, 20.0),
        (np.float64(0.1), 0.1),
        (np.int32(3), 3),
        ((1, 2), [1, 2]),
        (np.bool_(True), True),
        ("a", np.str_("a")),
    ],
)
def test_equal_values_of_other_types_are_one_case(one_value: Any, same: Any) -> None:
    assert key(one_value) == key(same)


def test_other_values_are_other_cases() -> None:
    values = [1, True, "1", 1.5, (1,), (1, 2), 1j, None, np.array([1]), np.array([1.0]), Shape(1.0), Shape(2.0)]
    values += [Colour.RED, Path("1"), lbm.TRT(0.1), lbm.BGK(0.1), float("inf"), {"a": 1}, {"a": 2}]
    assert len({key(value) for value in values}) == len(values)


def test_keys_are_the_same_in_every_version() -> None:
    """Or results would not be found again: these were written down when the format was."""
    found = one({"reynolds": 47.5, "cells": 24, "shape": Shape(2.5), "name": "a b"}, version="2")
    assert found.folder == "reynolds=47.5,cells=24,shape=Shape_width=2.5,_name=_box_,name=a_b-07b2d42039539a91"
    assert found.key == "07b2d42039539a91"


def test_classes_of_one_name_are_others_in_other_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    shape, colour, own = key(Shape(1.0)), key(Colour.RED), key(lbm.TRT(0.1))
    for kind in (Shape, Colour, lbm.TRT):
        monkeypatch.setattr(kind, "__module__", "lbmgpu.elsewhere" if kind is lbm.TRT else "elsewhere")
    assert key(Shape(1.0)) != shape
    assert key(Colour.RED) != colour
    assert key(lbm.TRT(0.1)) == own  # this package may move its classes


def test_no_two_cases_share_a_folder() -> None:
    found = [one({"mesh": "a" * 100 + str(number)}, version="") for number in range(2)]
    assert all(case.folder.endswith(f"-{case.key}") for case in found)
    assert len({case.folder[: -len(case.key)] for case in found}) == 1


def test_numbers_of_numpy_within_tuples_are_plain() -> None:
    found = one({"x": (np.int64(24), [np.float32(0.5)], {"a": np.bool_(True)})}, version="")
    assert found.values["x"] == (24, [0.5], {"a": True})
    assert type(found.values["x"][0]) is int
    assert type(found.values["x"][2]["a"]) is bool
    assert str(one({"x": (np.int64(24), np.float32(0.5))}, version="")) == "x=24x0.5"
    with pytest.raises(TypeError, match="must be a number, a text"):
        key(np.datetime64("2026-01-01", "ns"))


def test_values_that_look_alike_have_labels_of_their_own(tmp_path: Path) -> None:
    values = [(0.12345671, 1), (0.12345672, 1)]
    found = lbm.Study(square, {"x": values}, tmp_path / "a").results()
    assert len(set(found.x.values.tolist())) == 2
    plain = lbm.Study(square, {"x": [(0.1, 1), (0.2, 1)]}, tmp_path / "b").results()
    assert plain.x.values.tolist() == ["0.1x1", "0.2x1"]


def test_folders_are_names_that_every_system_takes() -> None:
    name = one({"x": "../../etc/pass wd\n\x00é", "y": "a" * 300}, version="").folder
    assert re.fullmatch(r"[A-Za-z0-9.,=+_-]{1,100}", name)


def test_grids_zips_rows_and_frames_are_the_same_cases() -> None:
    grid = table({"a": [1, 2], "b": (3, 4), "c": 5}, combine="grid", version="")
    rows = [{"a": a, "b": b, "c": 5} for a in (1, 2) for b in (3, 4)]
    assert grid.axes == {"a": [1, 2], "b": [3, 4], "c": [5]}
    for other in (rows, pandas.DataFrame(rows)):
        assert [case.key for case in table(other, combine="grid", version="").sets] == [c.key for c in grid.sets]
    zipped = table({"a": [1, 2], "b": (3, 4), "c": 5}, combine="zip", version="")
    assert [dict(case.values) for case in zipped.sets] == [{"a": 1, "b": 3, "c": 5}, {"a": 2, "b": 4, "c": 5}]


def needs_two(case: Any, x: float, y: float) -> None:
    """A function with two parameters."""


def takes_none(*, x: float) -> None:
    """A function that takes no case."""


@pytest.mark.parametrize(
    ("function", "parameters", "error"),
    [
        (needs_two, {"x": [1]}, "parameters: none named 'y'"),
        (needs_two, {"x": [1], "why": [2], "y": 1}, "takes no parameter 'why'"),
        (square, {"x": [1], "powr": [2]}, "takes no parameter 'powr'; did you mean 'power'"),
        (takes_none, {"x": [1]}, "takes no case"),
        (square, {"x": [1, 2, 1.0]}, "cases 0 and 2 are the same: x=1"),
        (square, [{"x": 1}, {"x": 2, "power": 1}], r"parameters\[1\]: has other names than the first case: power"),
        (square, [{"x": 1}, 2], "each entry must be a mapping"),
        (square, {"x": []}, r"parameters\['x'\]: no values given"),
        (square, {}, "an empty mapping given"),
        (square, {"x": [float("nan")]}, "nan given"),
        (square, {"x": [object()]}, "must be a number, a text"),
        (square, {"status": [1]}, "none of 'case', 'status', 'message'"),
        (square, {"x": range(2000), "power": range(2000)}, "at most 1000000"),
        (square, 3, "parameters: 3 given, must be a mapping"),
        ("square", {"x": [1]}, "function: 'square' given"),
    ],
)
def test_wrong_parameters_are_refused_before_anything_is_made(
    function: Callable[..., Any], parameters: Any, error: str, tmp_path: Path
) -> None:
    with pytest.raises((TypeError, ValueError), match=error):
        lbm.Study(function, parameters, tmp_path / "study")
    assert not (tmp_path / "study").exists()


def test_sequences_side_by_side_must_be_as_long(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="x has 2, power has 3"):
        lbm.Study(square, {"x": [1, 2], "power": [1, 2, 3]}, tmp_path, combine="zip")


def test_what_cannot_be_sent_is_refused(tmp_path: Path) -> None:
    lock = threading.Lock()
    with pytest.raises(TypeError, match="cannot be sent to another process"):
        lbm.Study(lambda case, x: lock.locked(), {"x": [1]}, tmp_path / "study")


def test_a_folder_has_one_study(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    lbm.Study(square, {"x": [1]}, folder)
    lbm.Study(square, {"x": [2]}, folder)  # other values are the same study
    with pytest.raises(ValueError, match="the parameters x there, power, x here"):
        lbm.Study(square, {"x": [1], "power": [2]}, folder)
    with pytest.raises(ValueError, match="the function 'square' there, 'needs_two' here"):
        lbm.Study(needs_two, {"x": [1], "y": 1}, folder)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "file").touch()
    with pytest.raises(ValueError, match="is there and holds no study"):
        lbm.Study(square, {"x": [1]}, tmp_path / "other")
    with pytest.raises(OSError, match="/proc/"):
        lbm.Study(square, {"x": [1]}, "/proc/study")


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"devices": "gpu"}, "did you mean 'cuda'"),
        ({"devices": ["cpu", "cpu"]}, "'cpu' given twice; per_device=2"),
        ({"devices": []}, "an empty list"),
        ({"per_device": 0}, "per_device: 0 given"),
        ({"threads": 0}, "threads: 0 given"),
        ({"retry": -1}, "retry: -1 given"),
        ({"redo": ["broken"]}, "redo: 'broken' given"),
        ({"executor": 3}, r"executor: 3 given, must have submit\(\)"),
    ],
)
def test_wrong_options_of_a_run_are_refused(options: dict[str, Any], error: str, tmp_path: Path) -> None:
    study = lbm.Study(square, {"x": [1]}, tmp_path / "study")
    with pytest.raises((TypeError, ValueError), match=error):
        study.run(**options)
    assert study.cases().status.tolist() == ["waiting"]


def test_parameters_of_many_kinds_reach_the_function(tmp_path: Path) -> None:
    values = [np.float32(0.5), (3, 4), np.arange(3), Shape(2.0), Colour.RED, 2 + 1j, None, "text", True]

    def show(case: Any, x: Any) -> dict[str, str]:
        return {"shown": f"{type(x).__name__} {x}"}

    shown = run(lbm.Study(show, [{"x": value} for value in values], tmp_path / "study")).shown.values.tolist()
    assert shown[:3] == ["float 0.5", "tuple (3, 4)", "ndarray [0 1 2]"]
    assert shown[3:6] == ["Shape Shape(width=2.0, name='box')", "Colour Colour.RED", "complex (2+1j)"]
    assert shown[6:] == ["NoneType None", "str text", "bool True"]
