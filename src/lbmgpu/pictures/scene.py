"""Renders three dimensions off-screen by PyVista: an iso-surface coloured by a field, bodies, and slices."""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import checks
from ..files.atomic_write import replacing
from ..files.regular_files import file_path, output_path
from ..solver import Solver, simulation_of
from ..units import Units
from .fields import Field, field_of, limits_of, solid_of
from .view import check_colours, check_units

SHARE_INSIDE = 0.04
"""The fraction of the fluid cells that the surface of an automatic level encloses."""
ENDINGS = (".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff")
"""Of the files that a rendering can be saved in."""
Camera = tuple[tuple[float, float, float], tuple[float, float, float], tuple[float, float, float]]
_CAMERAS = ("xy", "xz", "yz", "yx", "zx", "zy", "iso")
_MAX_PIXELS = 16384
_SMOOTH = {"smooth_shading": True, "split_sharp_edges": True, "feature_angle": 50}


@dataclass(frozen=True)
class Scene:
    """What a rendering shows; the options of `lbm.plot.render`, where they are explained.

    Raises:
        TypeError, ValueError: a wrong option.
    """

    iso: str | None = "q_criterion"
    level: float | None = None
    color: str = "speed"
    bodies: bool = True
    slices: tuple[tuple[str, int] | str, ...] = ()
    camera: str | Camera | None = None
    size: tuple[int, int] = (1280, 720)
    units: Units | None = None
    vmin: float | None = None
    vmax: float | None = None
    cmap: str | None = None
    background: str = "white"

    def __post_init__(self) -> None:
        for name in ("iso", "color"):
            value = getattr(self, name)
            if not (isinstance(value, str) or (name == "iso" and value is None)):
                raise TypeError(f"{name}: {checks.shown(value)} given, must be the name of a field, such as 'speed'")
        for name in ("level", "vmin", "vmax"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, checks.number(name, getattr(self, name)))
        if self.vmin is not None and self.vmax is not None and self.vmin >= self.vmax:
            raise ValueError(f"vmax: {self.vmax:g} given, must be above vmin, {self.vmin:g}")
        object.__setattr__(self, "bodies", checks.flag("bodies", self.bodies))
        object.__setattr__(self, "slices", tuple(map(_slice, _listed_slices(self.slices))))
        object.__setattr__(self, "camera", _camera(self.camera))
        size = checks.listed("size", self.size, "a width and a height in pixels")
        if len(size) != 2:
            raise ValueError(f"size: {checks.shown(self.size)} given, must be a width and a height in pixels")
        pixels = tuple(checks.integer("size", number, at_least=16, at_most=_MAX_PIXELS) for number in size)
        object.__setattr__(self, "size", pixels)
        check_units(self.units)
        check_colours("cmap", self.cmap)
        _check_colour("background", self.background)
        if self.iso is None and not self.slices and not self.bodies:
            raise ValueError("iso: None given without slices and bodies, which leaves nothing to see")

    def check(self, solver: Solver) -> None:
        """Raise TypeError or ValueError where it does not go with a solver."""
        shape = solver.domain.shape
        if len(shape) != 3:
            raise ValueError("render: this solver has two dimensions, must have three; solver.plot draws two")
        if self.iso is not None:
            field_of(solver, self.iso, "iso")
        field_of(solver, self.color, "color")
        for given in self.slices:
            _plane(given, shape)

    def with_limits(self, limits: tuple[float, float] | None, level: float | None) -> Scene:
        """With these ends of the colours and this level where it has none of its own."""
        low, high = (None, None) if limits is None else limits
        own = self.vmin if self.vmin is not None else low, self.vmax if self.vmax is not None else high
        if own[0] is not None and own[1] is not None and own[0] >= own[1]:
            own = self.vmin, self.vmax
        return replace(self, vmin=own[0], vmax=own[1], level=self.level if self.level is not None else level)


@dataclass(frozen=True)
class Shown:
    """The fields that a scene shows, on rank 0.

    Attributes:
        scene: with its level and the ends of its colours, if the values have any.
        color: what its colours are of.
        iso_values: whose level is shown; None without a surface.
        color_values: the values of `color`, in the units that are shown.
        solid: the solid cells.
    """

    scene: Scene
    color: Field
    iso_values: NDArray[np.float64] | None
    color_values: NDArray[np.float64]
    solid: NDArray[np.bool_]

    @property
    def limits(self) -> tuple[float, float] | None:
        """The ends of the colours."""
        low, high = self.scene.vmin, self.scene.vmax
        return None if low is None or high is None else (low, high)


_TOWARDS = np.array([-0.42, 0.55, 1.0])
"""From the middle of the box to the camera, unless another one is given."""
_VIEW_ANGLE = 22.0


def loaded() -> Any:
    """The package pyvista.

    Raises:
        ImportError: it is not there, with what to install.
    """
    try:
        import pyvista
    except ImportError:
        raise ImportError("renderings need pyvista: pip install 'lbmgpu[pyvista]'") from None
    return pyvista


def shown(solver: Solver, scene: Scene) -> Shown | None:
    """The fields of a scene on rank 0, None elsewhere; all ranks call it together."""
    scene.check(solver)
    color = field_of(solver, scene.color, "color")
    with solver.paused():
        color_values = color.read(solver, None)
        iso_values = None if scene.iso is None else field_of(solver, scene.iso, "iso").read(solver, None)
        solid = solid_of(solver)
    if color_values is None or solid is None:
        return None
    level = scene.level
    if iso_values is not None:
        if level is not None and scene.units is not None and scene.iso is not None:
            iso_values = field_of(solver, scene.iso).to_phys(scene.units, iso_values)
        fluid = iso_values[~solid & np.isfinite(iso_values)]
        if level is None and fluid.size > 0:
            level = _automatic_level(fluid)
    if scene.units is not None:
        color_values = color.to_phys(scene.units, color_values)
    limits = limits_of(color, np.where(solid, np.nan, color_values))
    return Shown(scene.with_limits(limits, level), color, iso_values, color_values, solid)


def image_of(found: Shown) -> NDArray[np.uint8]:
    """The picture, ``(height, width, 3)``."""
    pyvista = loaded()
    scene, shape = found.scene, found.solid.shape
    plotter = _plotter(pyvista, scene.size)
    try:
        plotter.set_background(scene.background)
        grid = pyvista.ImageData(dimensions=shape, origin=(0.5, 0.5, 0.5))
        grid.point_data["color"] = found.color_values.ravel(order="F")
        limits = found.limits
        colours = {
            "scalars": "color",
            "cmap": scene.cmap or found.color.cmap,
            "clim": limits,
            "show_scalar_bar": False,
            "smooth_shading": True,
        }
        surfaces = []
        if found.iso_values is not None and scene.level is not None:
            values = np.nan_to_num(np.where(found.solid, -np.inf, found.iso_values), neginf=scene.level - 1e-30)
            grid.point_data["iso"] = values.ravel(order="F")
            surfaces.append((grid.contour([scene.level], scalars="iso"), {"specular": 0.3, "specular_power": 15}))
        for given in scene.slices:
            axis, cell = _plane(given, shape)
            point = [0.5 * n for n in shape]
            point[axis] = cell + 0.5
            visible = grid.threshold(0.5, scalars="fluid") if scene.bodies and _mark(grid, found.solid) else grid
            surfaces.append((visible.slice(normal="xyz"[axis], origin=point), {"lighting": False}))
        drawn = [plotter.add_mesh(s, **{**colours, **style}) for s, style in surfaces if s.n_points > 0]
        if scene.bodies and found.solid.any():
            plotter.add_mesh(_body_surface(pyvista, found.solid), color="#b9bec6", specular=0.2, **_SMOOTH)
        box = pyvista.Box(bounds=[bound for n in shape for bound in (0, n)])
        plotter.add_mesh(box.extract_all_edges(), color="#8a8f98", line_width=1, lighting=False)
        if limits is not None and drawn:
            unit = found.color.unit(scene.units)
            ink = "black" if _is_light(pyvista, scene.background) else "white"
            font = max(8, scene.size[1] // 40)
            # VTK puts a bar's title upon its numbers, so that it is a text of its own.
            plotter.add_scalar_bar(
                title="",
                mapper=drawn[0].mapper,
                color=ink,
                n_labels=3,
                fmt="%.2g",
                width=0.3,
                height=0.08,
                position_x=0.35,
                position_y=0.07,
                label_font_size=font,
            )
            name = f"{found.color.label} ({unit})" if unit else found.color.label
            text = plotter.add_text(name, position=(0.5, 0.02), viewport=True, color=ink, font_size=font * 0.6)
            text.prop.justification_horizontal = "center"
        _look(plotter, scene.camera, shape)
        if limits is not None and drawn and scene.camera is None:
            plotter.camera.SetWindowCenter(0, -0.1)  # above the bar
        plotter.enable_anti_aliasing("ssaa")
        picture = plotter.screenshot(return_img=True)
    finally:
        plotter.close()
    return np.ascontiguousarray(picture[:, :, :3], dtype=np.uint8)


def render(
    solver: Solver,
    iso: str | None = "q_criterion",
    level: float | None = None,
    color: str = "speed",
    bodies: bool = True,
    slices: Iterable[tuple[str, int] | str] = (),
    camera: str | Camera | None = None,
    size: tuple[int, int] = (1280, 720),
    path: str | os.PathLike[str] | None = None,
    *,
    units: Units | None = None,
    vmin: float | None = None,
    vmax: float | None = None,
    cmap: str | None = None,
    background: str = "white",
) -> NDArray[np.uint8] | None:
    """A picture of the flow in three dimensions, drawn off-screen by PyVista, extra ``lbmgpu[pyvista]``.

    All ranks call it together; rank 0 draws.

    Args:
        solver: of three dimensions.
        iso: the field whose surface of equal value is shown, such as ``"q_criterion"`` or ``"vorticity"``; None for
            none.
        level: that value, in physical units if there are `units`; None for the one that encloses 4 % of the fluid,
            or half of the largest where fewer cells are above 0.
        color: the field that colours the surface and the slices.
        bodies: show the solid cells, with smoothed surfaces.
        slices: planes to show, each ``("z", 24)``, an axis and a cell, or ``"z"`` for the middle.
        camera: ``"xy"``, ``"xz"`` and so on, ``"iso"``, or ``(position, focal point, up)`` in cells; None for a view
            from the front, the right and above.
        size: of the picture, in pixels.
        path: of a file to save it in, by the ending a PNG, JPEG, BMP or TIFF; None for none.
        units: for physical values at the colours.
        vmin, vmax, cmap: of the colours, as for `Solver.plot`.
        background: the name of a colour.

    Returns:
        The picture, ``(height, width, 3)``, uint8, on rank 0; None elsewhere.

    Raises:
        TypeError, ValueError: a wrong argument, or a solver of two dimensions.
        ImportError: PyVista is missing.
        OSError: the file cannot be written.
    """
    planes = tuple(_listed_slices(slices))
    scene = Scene(iso, level, color, bodies, planes, camera, size, units, vmin, vmax, cmap, background)
    processes = simulation_of(solver).processes
    target = None if path is None else rendered_path("path", path)
    if target is not None:
        processes.on_first(lambda: output_path("path", target))
    loaded()
    found = shown(solver, scene)

    def drawn() -> NDArray[np.uint8]:
        assert found is not None
        _warn_without_surface(found)
        picture = image_of(found)
        if target is not None:
            save(picture, target)
        return picture

    return processes.on_first(drawn)


def _warn_without_surface(found: Shown) -> None:
    """Warn where a surface is asked for and no value of the fluid is on the other side of its level."""
    if found.iso_values is None:
        return
    fluid = found.iso_values[~found.solid & np.isfinite(found.iso_values)]
    name, level = found.scene.iso, found.scene.level
    if level is None or fluid.size == 0:
        warnings.warn(f"render: no surface is drawn, as {name} has one value everywhere", stacklevel=4)
    elif not fluid.min() < level <= fluid.max():
        text = f"level: {level:g} given, but {name} is {fluid.min():.4g} to {fluid.max():.4g}: no surface is drawn"
        warnings.warn(text, stacklevel=4)


def rendered_path(name: str, path: Any) -> Any:
    """`path` as a Path, or the ValueError that it has the ending of another format."""
    target = file_path(name, path)
    if target.suffix.lower() not in ENDINGS:
        raise ValueError(f"{name}: {target} given, must end in {checks.alternatives(ENDINGS)}")
    return target


def encoded(picture: NDArray[np.uint8], suffix: str = ".png") -> bytes:
    """A picture as the bytes of a file."""
    from PIL import Image

    file = io.BytesIO()
    Image.fromarray(picture).save(file, format=Image.registered_extensions()[suffix.lower()], optimize=True)
    return file.getvalue()


def save(picture: NDArray[np.uint8], target: Any) -> None:
    """Write a picture at `target`, whole or not at all."""
    data = encoded(picture, target.suffix)
    with replacing(target) as temporary:
        temporary.write_bytes(data)


def _automatic_level(fluid: NDArray[np.float64]) -> float | None:
    """The value that `SHARE_INSIDE` of the cells are above, or half of the largest where fewer are above 0."""
    level, largest = float(np.quantile(fluid, 1 - SHARE_INSIDE)), float(fluid.max())
    if level <= 0 < largest or level == largest:
        level = largest / 2
    return level if fluid.min() < level < largest else None


def _plotter(pyvista: Any, size: tuple[int, int]) -> Any:
    """One that draws off-screen. Without a display VTK warns of that before it does without one, which is no news."""
    from vtkmodules.vtkCommonCore import vtkLogger

    if "DISPLAY" not in os.environ:
        vtkLogger.SetStderrVerbosity(vtkLogger.VERBOSITY_ERROR)
    try:
        plotter = pyvista.Plotter(off_screen=True, window_size=list(size))
        plotter.render_window.Render()
    finally:
        vtkLogger.SetStderrVerbosity(vtkLogger.VERBOSITY_INFO)
    return plotter


def _body_surface(pyvista: Any, solid: NDArray[np.bool_]) -> Any:
    """The surface of the solid cells, its steps smoothed; at the faces of the domain it is cut off flat."""
    beyond = 4  # cells that it goes on for there, as smoothing rounds its ends
    padded = np.pad(np.pad(solid, beyond, mode="edge"), 1).astype(np.float32)
    grid = pyvista.ImageData(dimensions=padded.shape, origin=(-0.5 - beyond,) * 3)
    grid.point_data["solid"] = padded.ravel(order="F")
    surface = grid.contour([0.5], scalars="solid").smooth_taubin(n_iter=40, pass_band=0.03)
    for axis, cells in enumerate(solid.shape):
        for index, place, sign in ((0, 0.0, 1.0), (-1, float(cells), -1.0)):
            if solid.take(index, axis).any():
                normal, origin = [0.0] * 3, [0.0] * 3
                normal[axis], origin[axis] = sign, place
                surface = surface.clip_closed_surface(normal=normal, origin=origin)
    return surface


def _mark(grid: Any, solid: NDArray[np.bool_]) -> bool:
    grid.point_data["fluid"] = (~solid).astype(np.uint8).ravel(order="F")
    return bool(solid.any())


def _look(plotter: Any, camera: str | Camera | None, shape: tuple[int, ...]) -> None:
    """Point the camera, so that the box fills the picture."""
    if isinstance(camera, str):
        plotter.camera_position = camera
        plotter.reset_camera(bounds=[bound for n in shape for bound in (0, n)])
    elif camera is not None:
        plotter.camera_position = camera
    else:
        middle = np.array(shape) / 2
        plotter.camera_position = [tuple(middle + _TOWARDS * max(shape)), tuple(middle), (0, 1, 0)]
        plotter.camera.view_angle = _VIEW_ANGLE
        away = _distance(shape, plotter.window_size[0] / plotter.window_size[1])
        plotter.camera.position = tuple(middle + away * _TOWARDS / np.linalg.norm(_TOWARDS))
        plotter.renderer.ResetCameraClippingRange()


def _distance(shape: tuple[int, ...], aspect: float) -> float:
    """From the middle of the box to a camera at `_TOWARDS` which sees all its corners, with a margin."""
    back = _TOWARDS / np.linalg.norm(_TOWARDS)
    right = np.cross((0, 1, 0), back)
    right /= np.linalg.norm(right)
    corners = np.array([[(sign - 0.5) * n for sign, n in zip(at, shape, strict=True)] for at in np.ndindex(2, 2, 2)])
    half = np.tan(np.radians(_VIEW_ANGLE / 2))
    across, along = np.abs(corners @ right), np.abs(corners @ np.cross(back, right))
    return float((np.maximum(across / (0.96 * half * aspect), along / (0.86 * half)) + corners @ back).max())


def _is_light(pyvista: Any, colour: str) -> bool:
    red, green, blue = pyvista.Color(colour).float_rgb
    return bool(0.3 * red + 0.6 * green + 0.1 * blue > 0.5)


def _listed_slices(given: Any) -> list[Any]:
    if isinstance(given, str):
        return [given]
    if isinstance(given, tuple) and len(given) == 2 and isinstance(given[1], int):  # one plane
        return [given]
    return checks.listed("slices", given, "a list of planes, such as [('z', 24)]")


def _slice(given: Any) -> tuple[str, int] | str:
    if isinstance(given, str):
        return checks.choice("slices", given, "xyz")
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise TypeError(f"slices: {checks.shown(given)} given, must be an axis and a cell, such as ('z', 24), or 'z'")
    return checks.choice("slices", given[0], "xyz"), checks.integer(f"slices along {given[0]}", given[1])


def _plane(given: tuple[str, int] | str, shape: tuple[int, ...]) -> tuple[int, int]:
    axis = "xyz".index(given if isinstance(given, str) else given[0])
    if isinstance(given, str):
        return axis, shape[axis] // 2
    return axis, checks.integer(f"slices along {given[0]}", given[1], at_most=shape[axis] - 1)


def _check_colour(name: str, given: Any) -> None:
    from matplotlib.colors import is_color_like

    if not isinstance(given, str) or not is_color_like(given):
        raise ValueError(f"{name}: {checks.shown(given)} given, must be the name of a colour, such as 'white'")


def _camera(given: Any) -> Any:
    if given is None:
        return None
    if isinstance(given, str):
        return checks.choice("camera", given, _CAMERAS)
    points = checks.real_array("camera", given)
    if points.shape != (3, 3):
        raise ValueError(f"camera: shape {points.shape} given, must be a position, a focal point and an up, (3, 3)")
    return tuple(tuple(float(number) for number in point) for point in points)
