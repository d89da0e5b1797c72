"""Tests `lbmgpu.plot` and `lbmgpu.case.centreline`: figures of fields, and profiles beside reference data."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import lbmgpu as lbm
from lbmgpu import plot
from lbmgpu.case import centreline

from .support import cavity, cube


@pytest.mark.parametrize(("shape", "stencil"), [((9, 7), "D2Q9"), ((9, 7, 8), "D3Q19"), ((1, 9), "D2Q9")])
def test_speed_figure_shows_the_speed(shape: tuple[int, ...], stencil: str) -> None:
    domain = cavity(shape, stencil)
    if min(shape) > 4:
        domain.add_body(cube(shape), "cube")
    solver = lbm.Solver(domain, lbm.BGK(0.1))
    solver.step(20)
    figure = plot.speed_figure(solver, normal="y", position=0.4)
    shown = figure.axes[0].images[0].get_array()
    velocity, solid = solver.velocity(), solver.solid
    if len(shape) == 3:
        velocity, solid = velocity[:, :, 2], solid[:, 2]
        assert figure.axes[0].get_ylabel() == "z (cells)"
    np.testing.assert_allclose(shown.T.filled(0), np.where(solid, 0, np.sqrt((velocity**2).sum(axis=0))), rtol=1e-5)
    np.testing.assert_array_equal(np.ma.getmaskarray(shown).T, solid)


def test_axes_in_metres() -> None:
    solver = lbm.Solver(cavity((9, 7), "D2Q9"), lbm.BGK(0.1))
    solver.step(20)
    units = lbm.Units(length_phys=0.5, time_phys=0.1)
    plain, physical = plot.speed_figure(solver).axes[0], plot.speed_figure(solver, units=units).axes[0]
    assert (plain.get_xlim(), plain.get_xlabel()) == ((0, 9), "x (cells)")
    assert (physical.get_xlim(), physical.get_xlabel(), physical.get_ylim()[1]) == ((0, 4.5), "x (m)", 3.5)
    np.testing.assert_allclose(physical.images[0].get_array(), 5 * plain.images[0].get_array())
    assert physical.get_title() == "speed, 2 s"
    with pytest.raises(TypeError, match="units: 2 given"):
        plot.speed_figure(solver, units=2)  # type: ignore[arg-type]


def test_picture_at_rest(tmp_path: Path) -> None:
    solver = lbm.Solver(lbm.Domain((6, 5, 4)), lbm.BGK(0.1))
    for normal in "xyz":
        assert plot.speed_picture(solver, tmp_path / f"{normal}.png", normal).stat().st_size > 1000


def test_picture_in_a_folder_that_is_not_there(tmp_path: Path) -> None:
    solver = lbm.Solver(lbm.Domain((6, 5), "D2Q9"), lbm.BGK(0.1))
    with pytest.raises(FileNotFoundError, match="no folder"):
        plot.speed_picture(solver, tmp_path / "missing" / "speed.png")


@pytest.mark.parametrize("option", [{"normal": "w"}, {"normal": 1}, {"position": 1.1}, {"position": None}])
def test_wrong_plane(option: dict[str, object]) -> None:
    solver = lbm.Solver(lbm.Domain((6, 5, 4)), lbm.BGK(0.1))
    with pytest.raises((TypeError, ValueError), match=next(iter(option))):
        plot.speed_figure(solver, **option)  # type: ignore[arg-type]


def test_lines_figure() -> None:
    figure = plot.lines_figure({"here": ([0, 1], [2, 3])}, {"published": ([0.5], [2.5])}, ("x", "u"))
    assert [line.get_label() for line in figure.axes[0].lines] == ["here", "published"]


@pytest.mark.parametrize("shape", [(6, 4), (6, 5), (6, 4, 5), (6, 5, 4)])
def test_centreline_is_through_the_middle(shape: tuple[int, ...]) -> None:
    centres = np.meshgrid(*(np.arange(n) + 0.5 for n in shape), indexing="ij")
    field = centres[0] + sum(100.0 * k * c for k, c in enumerate(centres) if k > 0)
    positions, values = centreline.centreline(field, "x")
    np.testing.assert_allclose(positions, (np.arange(6) + 0.5) / 6)
    np.testing.assert_allclose(values, np.arange(6) + 0.5 + sum(50.0 * k * shape[k] for k in range(1, len(shape))))


@pytest.mark.parametrize("kind", ["min", "max"])
def test_extreme_of_a_parabola_is_exact(kind: str) -> None:
    sign = 1 if kind == "min" else -1
    x = (np.arange(20) + 0.5) / 20
    position, value = centreline.extreme(x, sign * (3 * (x - 0.3137) ** 2 - 0.7), kind)
    assert position == pytest.approx(0.3137)
    assert value == pytest.approx(-sign * 0.7)


def test_extreme_at_an_end_and_of_a_constant() -> None:
    x = np.arange(5.0)
    assert centreline.extreme(x, x, "max") == (4, 4)
    assert centreline.extreme(x, x, "min") == (0, 0)
    assert centreline.extreme(x, np.ones(5), "max")[1] == 1


@pytest.mark.parametrize("name", centreline.reference_names())
def test_reference_is_whole(name: str) -> None:
    data = centreline.reference(name)
    assert data["source"]
    assert data["title"]
    for line in data["lines"]:
        assert line["along"] in "xyz"[: data["dimensions"]]
        assert line["component"] in "xyz"[: data["dimensions"]]
        assert line.get("extremes") or line["values"]
        for column in line.get("values", {}).values():
            assert len(column) == len(line["positions"])


def test_comparison_of_a_known_field(monkeypatch: pytest.MonkeyPatch) -> None:
    data = {
        "title": "a case",
        "source": "a book",
        "dimensions": 2,
        "lines": [
            {
                "component": "x",
                "along": "y",
                "extremes": [{"kind": "max", "value": 0.5, "position": 0.6}],
                "positions": [0.0, 0.25, 0.5, 0.75],
                "values": {"someone": [9.0, 0.25, 0.52, None]},
            }
        ],
    }
    monkeypatch.setattr(centreline, "reference", lambda name: data)
    solver = lbm.Solver(lbm.Domain((4, 10), "D2Q9"), lbm.BGK(0.1), precision="float64")
    solver.initialize(velocity=lambda x, y: (0.1 * y / 10, 0))
    comparison = centreline.compare(solver, "a case", 0.1)
    ((_, rms, largest),) = comparison.profiles
    assert rms == pytest.approx(0.02 / np.sqrt(2))
    assert largest == pytest.approx(0.02)
    assert comparison.extremes[0][1:] == pytest.approx((0.95, 0.95, 0.6, 0.5))
    assert "someone: rms difference 1.41 %, largest 2.00 %" in str(comparison)


def test_reference_for_other_dimensions() -> None:
    solver = lbm.Solver(lbm.Domain((4, 4), "D2Q9"), lbm.BGK(0.1))
    with pytest.raises(ValueError, match="3 dimensions"):
        centreline.compare(solver, "albensoeder_kuhlmann_2005_re1000", 0.1)
    with pytest.raises(ValueError, match="did you mean 'ghia_1982_re100'"):
        centreline.compare(solver, "ghia_1982_re10", 0.1)
