"""Tests `lbm.plot.render`: what is where in the picture, its level and colours, files, movies of it, and errors."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from packages import need
from PIL import Image as Pillow

import lbmgpu as lbm
from lbmgpu.pictures.scene import SHARE_INSIDE, Scene, shown

need("pyvista")
SIZE = (320, 240)


def vortex(shape: tuple[int, int, int] = (24, 20, 16), body: bool = False) -> lbm.Solver:
    """A vortex about an axis along z, in the left half."""
    domain = lbm.Domain(shape, "D3Q19")
    if body:
        domain.add_body(lambda x, y, z: (x > 17) & (x < 22) & (y > 12) & (y < 18) & (z > 4) & (z < 12), "block")
    solver = lbm.Solver(domain, lbm.BGK(0.1), precision="float64", device="cpu")

    def velocity(x: Any, y: Any, z: Any) -> tuple[Any, ...]:
        size = 0.04 * np.exp(-((x - 7) ** 2 + (y - 7) ** 2) / 8)
        return -(y - 7) * size, (x - 7) * size, 0 * z

    solver.initialize(velocity=velocity)
    return solver


def centre_of(mask: np.ndarray[Any, Any]) -> tuple[float, float]:
    """The mean place of pixels, as parts of the width from the left and of the height from the bottom."""
    rows, columns = np.nonzero(mask)
    return columns.mean() / mask.shape[1], 1 - rows.mean() / mask.shape[0]


def colourful(picture: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The pixels that are not grey, above the bar of the colours."""
    wide = picture.astype(int)
    found = wide.max(axis=2) - wide.min(axis=2) > 60
    found[int(0.8 * len(found)) :] = False
    return found


def test_a_vortex_is_where_it_is() -> None:
    """Looking along z, with x to the right and y up."""
    picture = lbm.plot.render(vortex(), camera="xy", size=SIZE)
    assert (picture.shape, picture.dtype) == ((240, 320, 3), np.uint8)
    across, up = centre_of(colourful(picture))
    assert 0.25 < across < 0.45
    assert 0.3 < up < 0.5
    assert tuple(picture[0, 0]) == (255, 255, 255)


def test_bodies_are_grey_and_can_be_left_out() -> None:
    solver = vortex(body=True)
    pictures = [lbm.plot.render(solver, camera="xy", size=SIZE, bodies=bodies).astype(int) for bodies in (True, False)]
    differs = np.abs(pictures[0] - pictures[1]).sum(axis=2) > 30
    across, up = centre_of(differs)
    assert across > 0.55
    assert up > 0.5
    values = pictures[0][differs]
    assert np.median(values.max(axis=1) - values.min(axis=1)) < 20


def test_the_automatic_level_encloses_its_share_of_the_fluid() -> None:
    solver = vortex()
    level = shown(solver, Scene(iso="speed")).scene.level
    assert (solver.speed() > level).mean() <= SHARE_INSIDE <= (solver.speed() >= 0.999 * level).mean()
    q = solver.q_criterion()
    assert (q > 0).mean() < SHARE_INSIDE
    assert shown(solver, Scene(iso="q_criterion")).scene.level == pytest.approx(q.max() / 2)


def test_a_higher_level_encloses_less() -> None:
    solver = vortex()
    top = float(solver.q_criterion().max())
    counts = [
        colourful(lbm.plot.render(solver, camera="xy", size=SIZE, level=part * top)).sum() for part in (0.1, 0.6, 2)
    ]
    assert counts[0] > 1.2 * counts[1] > 0
    assert counts[2] == 0


def test_slices_show_the_colours_of_their_values() -> None:
    solver = vortex()
    options: dict[str, Any] = {"iso": None, "camera": "xy", "size": SIZE, "cmap": "gray", "vmin": 0, "color": "speed"}
    picture = lbm.plot.render(solver, slices=[("z", 8)], **options).astype(int)
    inside = picture[60:180, 80:240]
    assert inside.min() < 30  # at rest
    assert inside.max() > 200  # fastest
    assert (
        lbm.plot.render(solver, slices="z", **options).shape
        == lbm.plot.render(solver, slices=("z", 8), **options).shape
    )


def test_units_scale_the_level_and_the_colours() -> None:
    solver = vortex()
    units = lbm.Units(length_phys=0.5, time_phys=0.1)
    plain = shown(solver, Scene(level=0.001))
    physical = shown(solver, Scene(level=0.1, units=units))
    np.testing.assert_allclose(physical.iso_values, 100 * plain.iso_values, atol=1e-15)
    np.testing.assert_allclose(physical.color_values, 5 * plain.color_values)


def test_the_file_has_the_picture(tmp_path: Path) -> None:
    picture = lbm.plot.render(vortex(), size=SIZE, path=tmp_path / "vortex.png")
    with Pillow.open(tmp_path / "vortex.png") as file:
        np.testing.assert_array_equal(np.asarray(file), picture)


def test_a_state_at_rest_is_drawn() -> None:
    solver = lbm.Solver(lbm.Domain((6, 5, 4)), lbm.BGK(0.1), device="cpu")
    with pytest.warns(UserWarning, match="no surface is drawn, as q_criterion has one value"):
        assert lbm.plot.render(solver, size=SIZE, slices=["x"]).shape == (240, 320, 3)


def test_a_level_beyond_all_values_is_warned_of() -> None:
    with pytest.warns(UserWarning, match="level: 50 given, but speed is .*: no surface is drawn"):
        lbm.plot.render(vortex(), iso="speed", level=50, size=SIZE)


@pytest.mark.parametrize("shape", [(24, 20, 16), (40, 6, 6), (6, 40, 6), (6, 6, 40)])
@pytest.mark.parametrize("size", [(320, 240), (200, 320)])
def test_the_whole_box_is_in_the_picture(shape: tuple[int, int, int], size: tuple[int, int]) -> None:
    picture = lbm.plot.render(vortex(shape), iso="speed", size=size)
    drawn = (picture != 255).any(axis=2)
    assert not any(edge.any() for edge in (drawn[0], drawn[-1], drawn[:, 0], drawn[:, -1]))
    rows, columns = np.nonzero(drawn)
    assert max(np.ptp(rows) / size[1], np.ptp(columns) / size[0]) > 0.75


def test_a_movie_of_renderings_keeps_level_and_colours(tmp_path: Path) -> None:
    solver = vortex()
    render = {"camera": "xy", "size": SIZE}
    movie = solver.record(lbm.Movie(tmp_path / "vortex.gif", every=4, render=render))
    solver.record(lbm.Image(tmp_path / "vortex_{step}.png", every=8, render=render))
    first = shown(solver, Scene()).scene.level
    solver.run(4)
    limits = json.loads((movie.frames / "limits.json").read_text())
    assert set(limits) == {"vmin", "vmax", "level"}
    assert limits["level"] == first
    solver.run(4)
    assert json.loads((movie.frames / "limits.json").read_text()) == limits
    assert movie.steps == [0, 4, 8]
    with Pillow.open(movie.path) as file:
        assert file.size == SIZE
        assert file.n_frames >= 2  # a GIF has frames that are alike once
    with Pillow.open(tmp_path / "vortex_8.png") as file:
        assert colourful(np.asarray(file)).any()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"iso": "q"}, "iso: 'q' given"),
        ({"iso": 1}, "iso: 1 given"),
        ({"iso": "temperature"}, "iso: 'temperature' given, but this solver has"),
        ({"color": "colour"}, "color: 'colour' given"),
        ({"level": "high"}, "level: 'high' given"),
        ({"slices": [("z", 99)]}, "slices along z: 99 given"),
        ({"slices": ["w"]}, "slices: 'w' given"),
        ({"slices": 4}, "slices: 4 given"),
        ({"camera": "front"}, "camera: 'front' given"),
        ({"camera": [1, 2, 3]}, r"camera: shape \(3,\) given"),
        ({"size": (10, 10)}, "size: 10 given"),
        ({"size": 100}, "size: 100 given"),
        ({"iso": None, "bodies": False}, "iso: None given without slices"),
        ({"path": "vortex.svg"}, "path: vortex.svg given, must end in .png"),
        ({"units": 1}, "units: 1 given"),
        ({"background": "no colour"}, "background: 'no colour' given"),
    ],
)
def test_wrong_arguments_are_refused_by_name(options: dict[str, Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        lbm.plot.render(vortex(), **options)


def test_two_dimensions_are_refused() -> None:
    solver = lbm.Solver(lbm.Domain((6, 5), "D2Q9"), lbm.BGK(0.1), device="cpu")
    with pytest.raises(ValueError, match="render: this solver has two dimensions"):
        lbm.plot.render(solver)
