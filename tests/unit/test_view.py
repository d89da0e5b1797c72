"""Tests `Solver.plot`: which values are where in the picture, its colours, axes, bodies and errors."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

import lbmgpu as lbm
from lbmgpu.pictures.fields import FIELDS, names_of

from .support import cavity, cube


def flow(shape: tuple[int, ...] = (9, 7), **options: Any) -> lbm.Solver:
    """A field whose speed grows along x, and half as much along y, with a cube."""
    domain = lbm.Domain(shape, "D2Q9" if len(shape) == 2 else "D3Q19")
    domain.add_body(cube(shape), "cube")
    solver = lbm.Solver(domain, lbm.BGK(0.1), precision="float64", device="cpu", **options)
    rest = [0.0] * (len(shape) - 1)
    solver.initialize(velocity=lambda *x: (0.01 * x[0] + 0.005 * x[1] + 0 * x[-1], *(r * x[0] for r in rest)))
    return solver


def test_x_is_to_the_right_and_y_up() -> None:
    figure = flow().plot(bodies=False)
    figure.set_dpi(50)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    pixels = np.asarray(canvas.buffer_rgba())[..., :3].astype(float)
    axes = figure.axes[0]

    def at(x: float, y: float) -> np.ndarray[Any, Any]:
        column, row = axes.transData.transform((x, y))
        return pixels[pixels.shape[0] - 1 - round(row), round(column)]

    from matplotlib import colormaps

    colours, image = colormaps["viridis"], axes.images[0]
    for x, y in [(0.5, 0.5), (8.5, 0.5), (0.5, 6.5), (8.5, 6.5), (5.5, 1.5)]:
        value = 0.01 * x + 0.005 * y
        expected = 255 * np.array(colours(image.norm(value))[:3])
        np.testing.assert_allclose(at(x, y), expected, atol=2)


def test_bodies_are_grey_unless_told_otherwise() -> None:
    solver = flow()
    with_bodies, without = (solver.plot(bodies=bodies).axes[0].images[0].get_array() for bodies in (True, False))
    np.testing.assert_array_equal(np.ma.getmaskarray(with_bodies).T, solver.solid)
    assert not np.ma.getmaskarray(without).any()
    assert solver.plot().axes[0].get_facecolor() == (0.6, 0.6, 0.6, 1.0)


def test_values_of_each_field() -> None:
    domain = cavity((8, 7, 6), "D3Q19")
    thermal = lbm.HybridThermal(diffusivity=0.05, reference=0.1)
    solver = lbm.Solver(domain, lbm.BGK(0.1), thermal=thermal, turbulence=lbm.WALE(), device="cpu")
    solver.step(30)
    vorticity = solver.vorticity()
    expected = {
        "speed": solver.speed(),
        "density": solver.density(),
        "pressure": solver.pressure(),
        "temperature": solver.temperature(),
        "eddy_viscosity": solver.eddy_viscosity(),
        "q_criterion": solver.q_criterion(),
        "vorticity": np.sqrt((vorticity**2).sum(axis=0)),
        **{f"velocity_{axis}": solver.velocity()[k] for k, axis in enumerate("xyz")},
        **{f"vorticity_{axis}": vorticity[k] for k, axis in enumerate("xyz")},
    }
    assert set(expected) == set(names_of(solver)) == set(FIELDS)
    for number, (name, values) in enumerate(expected.items()):
        axis = number % 3
        shown = solver.plot(name, slice=("xyz"[axis], 2)).axes[0].images[0].get_array()
        np.testing.assert_allclose(shown.T, values.take(2, axis), rtol=1e-5, atol=1e-9)


def test_the_plane_in_the_middle_is_shown_by_default() -> None:
    solver = flow((6, 5, 8))
    assert "z = 4.5" in solver.plot().axes[0].get_title()
    assert "x = 3.5" in solver.plot(slice="x").axes[0].get_title()
    axes = solver.plot(slice=("y", 0)).axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel(), axes.get_ylim()) == ("x (cells)", "z (cells)", (0, 8))


def test_vorticity_of_two_dimensions_has_a_sign_and_symmetric_colours() -> None:
    solver = lbm.Solver(lbm.Domain((32, 32), "D2Q9"), lbm.BGK(0.1), precision="float64")
    k = 2 * np.pi / 32
    solver.initialize(velocity=lambda x, y: (0.05 * np.sin(k * y), 0.02 * np.sin(k * x)))
    image = solver.plot("vorticity").axes[0].images[0]
    x = np.arange(32) + 0.5
    expected = np.sin(k) * (0.02 * np.cos(k * x)[:, None] - 0.05 * np.cos(k * x)[None, :])
    np.testing.assert_allclose(image.get_array().T, expected, atol=1e-12)
    assert image.norm.vmin == -image.norm.vmax < 0
    assert image.norm.vmax == pytest.approx(np.quantile(np.abs(expected), 0.99))


def test_colours_end_where_they_are_told_to() -> None:
    axes = flow().plot("velocity_x", vmin=-0.01, vmax=0.04, cmap="magma").axes
    image = axes[0].images[0]
    assert (image.norm.vmin, image.norm.vmax, image.get_cmap().name) == (-0.01, 0.04, "magma")
    symmetric = flow().plot("velocity_x").axes[0].images[0].norm
    assert symmetric.vmin == -symmetric.vmax


def test_units_of_axes_values_and_bar() -> None:
    solver = flow()
    units = lbm.Units(length_phys=0.5, time_phys=0.1, density_phys=1000)
    plain, physical = solver.plot("velocity_x").axes[0], solver.plot("velocity_x", units=units)
    np.testing.assert_allclose(physical.axes[0].images[0].get_array(), 5 * plain.images[0].get_array())
    assert physical.axes[0].get_xlim() == (0, 4.5)
    bar = physical.axes[0].child_axes[0]
    assert bar.get_ylabel() == "velocity along x (m/s)"
    vorticity = solver.plot("vorticity", units=units).axes[0].images[0].get_array()
    np.testing.assert_allclose(vorticity, 10 * solver.plot("vorticity").axes[0].images[0].get_array())
    q = solver.plot("q_criterion", units=units).axes[0].images[0].get_array()
    np.testing.assert_allclose(q, 100 * solver.plot("q_criterion").axes[0].images[0].get_array(), atol=1e-15)


def test_streamlines_are_those_of_the_plane() -> None:
    solver = flow((9, 7, 6))
    assert len(solver.plot(slice="z").axes[0].collections) == 0
    assert len(solver.plot(slice="z", streamlines=True).axes[0].collections) > 0
    at_rest = lbm.Solver(lbm.Domain((6, 5), "D2Q9"), lbm.BGK(0.1))
    assert len(at_rest.plot(streamlines=True).axes[0].collections) == 0


def test_pyplot_knows_of_no_figure_and_notebooks_show_it() -> None:
    known = matplotlib.pyplot.get_fignums()  # of other tests
    figure = flow().plot()
    assert isinstance(figure, Figure)
    assert matplotlib.pyplot.get_fignums() == known
    assert figure._repr_png_().startswith(b"\x89PNG")


def test_axes_of_the_user_are_drawn_on() -> None:
    figure = Figure()
    left, right = figure.subplots(1, 2)
    assert flow().plot(ax=right) is figure
    assert (len(left.images), len(right.images)) == (0, 1)


@pytest.mark.parametrize(
    ("shape", "options", "message"),
    [
        ((9, 7), {"field": "sped"}, "field: 'sped' given.*did you mean 'speed'"),
        ((9, 7), {"field": 3}, "field: 3 given"),
        ((9, 7), {"field": "temperature"}, "field: 'temperature' given, but this solver has speed"),
        ((9, 7), {"field": "eddy_viscosity"}, "but this solver has"),
        ((9, 7), {"field": "vorticity_z"}, "but this solver has"),
        ((9, 7), {"slice": "z"}, "slice: 'z' given, must be None in two dimensions"),
        ((9, 7, 6), {"slice": "w"}, "slice: 'w' given"),
        ((9, 7, 6), {"slice": ("z", 6)}, "slice along z: 6 given, must be an integer from 0 to 5"),
        ((9, 7, 6), {"slice": ("z", -1)}, "slice along z: -1"),
        ((9, 7, 6), {"slice": 3}, "slice: 3 given, must be an axis and a cell"),
        ((9, 7), {"streamlines": 1}, "streamlines: 1 given"),
        ((9, 7), {"bodies": "yes"}, "bodies: 'yes' given"),
        ((9, 7), {"units": 2}, "units: 2 given"),
        ((9, 7), {"vmin": "low"}, "vmin: 'low' given"),
        ((9, 7), {"vmin": 1, "vmax": 1}, "vmax: 1 given, must be above vmin"),
        ((9, 7), {"cmap": "viridus"}, "cmap: 'viridus' given.*did you mean 'viridis'"),
        ((9, 7), {"ax": 1}, "ax: 1 given"),
    ],
)
def test_wrong_options_are_refused_by_name(shape: tuple[int, ...], options: dict[str, Any], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        flow(shape).plot(**options)
