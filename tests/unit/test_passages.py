"""Tests of ways for the fluid through cells, and warnings of inlets from which none leads to an outlet."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
import pytest

import lbmgpu as lbm
from lbmgpu.engine import argument_warnings
from lbmgpu.geometry.passages import has_passage


def channel(solid: Callable[[lbm.Domain], None], shape: tuple[int, ...] = (20, 8, 8), walls: str = "yz") -> lbm.Domain:
    domain = lbm.Domain(shape, {2: "D2Q9", 3: "D3Q19"}[len(shape)])
    domain.faces["-x"] = lbm.VelocityInlet((0.01,) + (0.0,) * (len(shape) - 1))
    domain.faces["+x"] = lbm.PressureOutlet()
    for axis in walls[: len(shape) - 1]:
        domain.faces["-" + axis] = domain.faces["+" + axis] = lbm.NoSlip()
    solid(domain)
    return domain


def plug(domain: lbm.Domain) -> None:
    mask = np.zeros(domain.shape, np.bool_)
    mask[8:12] = True
    domain.add_body(mask, "plug")


def plug_with_a_hole(domain: lbm.Domain) -> None:
    mask = np.zeros(domain.shape, np.bool_)
    mask[8:12] = True
    mask[8:10, 0] = mask[9:12, 3] = mask[9, 0:4] = False
    domain.add_body(mask, "plug")


def test_a_body_from_wall_to_wall_is_named_before_the_run() -> None:
    said = r"faces\['-x'\]: VelocityInlet given, but bodies close every way from it to an outlet, '\+x', so"
    for shape in ((20, 8), (20, 8, 8)):
        with pytest.warns(lbm.GeometryWarning, match=said) as caught:
            lbm.Solver(channel(plug, shape), lbm.TRT(0.1), device="cpu", threads=1)
        assert caught[0].filename == __file__


def test_a_body_from_wall_to_wall_is_named_of_several_blocks() -> None:
    with pytest.warns(lbm.GeometryWarning):
        domain = channel(lambda domain: domain.add_body(lbm.Box((8, -1, -1), (12, 9, 9)), "block"))
    layout = lbm.Layout.split(domain.shape, (2, 1, 1))
    with pytest.warns(lbm.GeometryWarning, match="bodies close every way from it"):
        lbm.Solver(domain, lbm.TRT(0.1), threads=1, layout=layout)


def test_a_body_with_a_way_past_it_is_not_named() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lbm.Solver(channel(plug_with_a_hole), lbm.TRT(0.1), device="cpu", threads=1)


def test_large_domains_are_not_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(argument_warnings, "MOST_CELLS", 20 * 8 - 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lbm.Solver(channel(plug, (20, 8)), lbm.TRT(0.1), device="cpu", threads=1)


def maze(text: str) -> np.ndarray:
    """The fluid cells, ``[x, y]``, of lines along x."""
    return np.array([[c == "." for c in line] for line in text.split()]).T


@pytest.mark.parametrize(
    ("text", "periodic", "leads"),
    [
        ("...#. .#.#. .#...", False, True),
        ("...#. .##.. .#...", False, True),  # across an edge
        (".#... .#.#. ##.#.", False, False),
        ("..#.. ..#.. ###.. ..#..", False, False),
        ("..#.. ###.. ..##. ..##.", True, False),
        ("..#.. ###.. ..##. ...#.", True, True),
        ("..##. ###.. ..... .#.#.", True, True),
        (".###. #.#.. ..#.. .###.", False, False),
        (".##.. .#.#. ..##. ##...", True, True),  # across a corner beyond the periodic face
    ],
)
def test_ways_go_to_cells_next_to_each_other(text: str, periodic: bool, leads: bool) -> None:
    fluid = maze(text)
    starts, ends = np.zeros_like(fluid), np.zeros_like(fluid)
    starts[0], ends[-1] = True, True
    for f, a, b in ((fluid, starts, ends), tuple(np.stack([x, np.zeros_like(x)], -1) for x in (fluid, starts, ends))):
        assert has_passage(f, a, b, (False, periodic, False)[: f.ndim]) is leads
