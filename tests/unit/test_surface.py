"""Tests of pressure and friction on the triangles of bodies: exact flows, sums, moments, parts, files, refusals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from packages import need

import lbmgpu as lbm
from lbmgpu.geometry.triangulation import surface_triangles

VISCOSITY = 0.1
pytestmark = pytest.mark.filterwarnings("ignore:body:lbmgpu.GeometryWarning")


def channel(low: float, high: float, scheme: str | None = None) -> lbm.Domain:
    """Two blocks with a channel along x between them, from y = low to y = high."""
    domain = lbm.Domain((8, 30, 8))
    domain.add_body(lbm.Box((-5, 0, -5), (13, low, 13)), "low", lbm.NoSlip(scheme=scheme))
    domain.add_body(lbm.Box((-5, high, -5), (13, 30, 13)), "high", lbm.NoSlip(scheme=scheme))
    return domain


def shear_on(solver: lbm.Solver, name: str, y: float) -> Any:
    """The shear on the triangles in the middle of a plane across y, relative to the body's other sides."""
    surface = solver.surface(name, size=2.0)
    assert surface is not None
    at_wall = surface.part(lambda x, at, z: (abs(at - y) < 1e-6) & (abs(x - 4) < 2) & (abs(z - 4) < 2))
    assert at_wall.exposed.all()
    return at_wall.shear


@pytest.mark.parametrize(("low", "high"), [(4.0, 24.0), (4.3, 24.3), (4.8, 23.6)])
def test_friction_of_a_parabola_is_exact_wherever_the_walls_are(low: float, high: float) -> None:
    curvature = 1e-4

    def parabola(x: Any, y: Any, z: Any) -> tuple[Any, float, float]:
        return curvature * (y - low) * (high - y), 0.0, 0.0

    solver = lbm.Solver(channel(low, high), lbm.TRT(VISCOSITY), precision="float64", device="cpu")
    solver.initialize(velocity=parabola)
    exact = VISCOSITY * curvature * (high - low)
    for name, y in (("low", low), ("high", high)):
        shear = shear_on(solver, name, y)
        np.testing.assert_allclose(shear[:, 0], exact, rtol=1e-4)
        np.testing.assert_allclose(shear[:, 1:], 0, atol=1e-6 * exact)


@pytest.mark.parametrize(("low", "error"), [(4.0, 1e-4), (4.3, 0.05)])
def test_friction_in_a_channel_is_that_of_poiseuille(low: float, error: float) -> None:
    force = 1e-6
    solver = lbm.Solver(
        channel(low, low + 20), lbm.TRT(VISCOSITY), force=(force, 0, 0), precision="float64", device="cpu"
    )
    solver.step(8000)
    for name, y in (("low", low), ("high", low + 20)):
        np.testing.assert_allclose(shear_on(solver, name, y)[:, 0], 10 * force, rtol=error)


def test_friction_between_plates_is_that_of_couette() -> None:
    domain = lbm.Domain((6, 16, 6))
    domain.add_body(lbm.Box((-5, 0, -5), (11, 3, 11)), "low")
    domain.add_body(lbm.Box((-5, 13, -5), (11, 16, 11)), "high", lbm.MovingWall((0.01, 0, 0.005)))
    solver = lbm.Solver(domain, lbm.TRT(VISCOSITY), precision="float64", device="cpu")
    solver.step(4000)
    exact = VISCOSITY * np.array([0.01, 0, 0.005]) / 10
    for name, y, sign in (("low", 3, 1), ("high", 13, -1)):
        surface = solver.surface(name, size=2.0)
        assert surface is not None
        wall = surface.part(lambda x, at, z, y=y: (abs(at - y) < 1e-6) & (abs(x - 3) < 1.5) & (abs(z - 3) < 1.5))
        np.testing.assert_allclose(wall.shear, np.broadcast_to(sign * exact, wall.shear.shape), atol=1e-5 * exact[0])
        np.testing.assert_allclose(wall.y_plus, 0.5 * np.sqrt(np.linalg.norm(exact)) / VISCOSITY, rtol=1e-3)


def test_pressure_of_a_fluid_at_rest_lifts_a_sphere_by_what_its_triangles_enclose() -> None:
    gravity, center, radius = 1e-5, np.array([16.2, 15.9, 16.4]), 6.0
    domain = lbm.Domain((32, 32, 32))
    domain.faces["-y"] = domain.faces["+y"] = lbm.NoSlip()
    domain.add_body(lbm.Sphere(center, radius), "ball")
    solver = lbm.Solver(domain, lbm.TRT(VISCOSITY), precision="float64", device="cpu")
    solver.initialize(density=lambda x, y, z: 1 - 3 * gravity * (y - 16))
    surface = solver.surface("ball")
    assert surface is not None
    enclosed = np.einsum("mc,mc,m->", surface.centers - center, surface.normals, surface.areas) / 3
    np.testing.assert_allclose(surface.pressure_force, (0, gravity * enclosed, 0), atol=1e-5 * gravity * enclosed)
    assert 0.99 < enclosed / (4 / 3 * np.pi * radius**3) < 1
    np.testing.assert_allclose(surface.moment(center), 0, atol=1e-4 * gravity * enclosed * radius)


def touching(other: Any) -> lbm.Surface:
    """A block whose upper face, of 10 x 10 cells at z = 11, another body touches; of a fluid that streams along x."""
    domain = lbm.Domain((24, 24, 24))
    domain.add_body(lbm.Box((7, 7, 3), (17, 17, 11)), "block")
    domain.add_body(other, "other")
    solver = lbm.Solver(domain, lbm.TRT(VISCOSITY), device="cpu")
    solver.initialize(velocity=(0.05, 0, 0))
    solver.step(20)
    surface = solver.surface("block")
    assert surface is not None
    return surface.part(lambda x, y, z: z > 11 - 1e-6)


HALF = np.zeros((24, 24, 24), bool)
HALF[7:12, 7:17, 11:20] = True


@pytest.mark.parametrize(
    ("other", "covers", "unsure"),
    [
        (lbm.Box((7, 7, 11), (17, 17, 20)), lambda x, y: x > 0, 0.0),
        (lbm.Box((7, 7, 11), (17, 17, 12)), lambda x, y: x > 0, 0.0),
        (lbm.Box((7, 7, 11.3), (17, 17, 20)), lambda x, y: x > 0, 1.0),
        (lbm.Box((7, 7, 11), (12, 17, 20)), lambda x, y: x < 12, 0.0),
        (lbm.Cylinder((12, 12, 15), 4, length=8), lambda x, y: np.hypot(x - 12, y - 12) < 4, 0.0),
        (HALF, lambda x, y: x < 12, 1.0),
    ],
)
def test_triangles_that_another_body_touches_are_hidden(other: Any, covers: Any, unsure: float) -> None:
    """Also those near its rim, round which there are fluid cells, but of cells without a geometry and in gaps that have
    no cell, where one may be `unsure` of as many cells at the rim; nothing is lost beside it."""
    face = touching(other)
    x, y, _ = face.centers.T
    covered = np.asarray(covers(x, y))
    rim = np.minimum(np.minimum(x - 7, 17 - x), np.minimum(y - 7, 17 - y)) < unsure
    if covered.any() and not covered.all():
        rim |= np.abs(x - 12) < unsure
    assert not face.exposed[covered & ~rim].any()
    assert face.exposed[~covered].all()


@pytest.fixture(scope="module")
def stream() -> lbm.Solver:
    """A sphere of ten cells in a stream at a Reynolds number of 50."""
    speed = 0.08
    domain = lbm.Domain((48, 32, 32))
    domain.faces["-x"] = lbm.VelocityInlet((speed, 0, 0))
    domain.faces["+x"] = lbm.PressureOutlet()
    domain.add_body(lbm.Sphere((18.2, 16.1, 15.9), 5), "ball")
    solver = lbm.Solver(domain, lbm.TRT(speed * 10 / 50), device="cpu")
    solver.initialize(velocity=(speed, 0, 0))
    solver.step(1500)
    return solver


def test_pressure_and_friction_on_a_sphere_add_up_to_the_force_of_its_links(stream: lbm.Solver) -> None:
    surface = stream.surface("ball", speed=0.08)
    assert surface is not None
    assert surface.exposed.all()
    drag = stream.body_force("ball")[0]
    assert surface.force[0] == pytest.approx(drag, rel=0.05)
    assert 0.25 < surface.friction_force[0] / drag < 0.65
    front = surface.centers[:, 0] < surface.centers[:, 0].min() + 0.2
    assert 0.8 < surface.cp[front].max() < 1.3
    halves = [surface.part(surface.centers[:, 0] < 18.2), surface.part(lambda x, y, z: x >= 18.2, "rear")]
    np.testing.assert_allclose(sum(half.force for half in halves), surface.force, rtol=1e-12)
    assert [half.name for half in halves] == ["ball", "rear"]
    assert len(surface.part(lbm.Plane((19, 0, 0), (1, 0, 0)))) == np.count_nonzero(surface.centers[:, 0] < 19)


def test_means_are_refused_where_the_wall_changes_its_speed() -> None:
    domain = lbm.Domain((24, 24, 24), "D3Q19")
    wall = lbm.MovingWall((0.01, 0, 0) * lbm.Sine(period=100))
    domain.add_body(lbm.Sphere((12, 12, 12), 6), "ball", wall)
    solver = lbm.Solver(domain, lbm.TRT(0.1), device="cpu")
    mean = solver.record(lbm.Mean("velocity", "pressure"))
    solver.step(2)
    with pytest.raises(ValueError, match="mean: given for body 'ball', whose wall has a velocity that changes in time"):
        solver.surface("ball", mean=mean)
    assert solver.surface("ball") is not None


def test_means_of_a_recorder_are_taken_in_place_of_the_state(stream: lbm.Solver) -> None:
    mean = stream.record(lbm.Mean("velocity", "pressure"))
    stream.step(1)
    now, of_mean = stream.surface("ball"), stream.surface("ball", mean=mean)
    assert now is not None
    assert of_mean is not None
    np.testing.assert_allclose(of_mean.pressure, now.pressure, rtol=1e-3, atol=1e-7)
    np.testing.assert_allclose(of_mean.shear, now.shear, rtol=1e-3, atol=1e-7)
    with pytest.raises(ValueError, match="must be a recorder such as"):
        stream.surface("ball", mean=3)


def test_the_file_has_what_is_on_the_triangles(stream: lbm.Solver, tmp_path: Path) -> None:
    pyvista = need("pyvista")
    surface = stream.surface("ball", speed=0.08)
    assert surface is not None
    path = surface.to_vtk(tmp_path / "ball")
    assert path == tmp_path / "ball.vtp"
    read = pyvista.read(path)
    np.testing.assert_array_equal(read.points, surface.vertices)
    np.testing.assert_array_equal(read.faces.reshape(-1, 4)[:, 1:], surface.triangles)
    for name, values in (("cp", surface.cp), ("cf", surface.cf), ("shear", surface.shear), ("y_plus", surface.y_plus)):
        np.testing.assert_array_equal(read.cell_data[name], values)
    with pytest.raises(ValueError, match=r"must be \.vtp"):
        surface.to_vtk(tmp_path / "ball.stl")


@pytest.mark.gpu
def test_a_gpu_has_the_bits_of_a_cpu(gpu: str) -> None:
    surfaces = []
    for device in ("cpu", gpu):
        domain = lbm.Domain((20, 18, 16))
        domain.add_body(lbm.Sphere((9.2, 9.1, 7.9), 4), "ball", lbm.MovingWall((0.02, 0, 0.01)))
        solver = lbm.Solver(domain, lbm.TRT(0.02), device=device)
        solver.initialize(velocity=(0.05, 0, 0))
        solver.step(20)
        surfaces.append(solver.surface("ball"))
    of_cpu, of_gpu = surfaces
    assert of_cpu is not None
    assert of_gpu is not None
    np.testing.assert_array_equal(of_gpu.pressure, of_cpu.pressure)
    np.testing.assert_array_equal(of_gpu.shear, of_cpu.shear)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"where": "bal"}, "where: 'bal' given"),
        ({"where": "ball", "speed": 0}, "speed: 0 given"),
        ({"where": "ball", "size": -1}, "size: -1 given"),
        ({"where": "ball", "density": 0}, "density: 0 given"),
        ({"where": "ball", "size": 1e-3}, "size: 0.001 given, makes more than"),
    ],
)
def test_wrong_arguments_are_named(stream: lbm.Solver, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        stream.surface(**arguments)


def test_what_has_no_triangles_is_refused() -> None:
    domain = lbm.Domain((12, 12, 12))
    domain.add_body(lbm.Sphere((6, 6, 6), 2) | lbm.Sphere((7, 6, 6), 2), "pair")
    mask = np.zeros((12, 12, 12), bool)
    mask[0, 0, 0] = True
    domain.add_body(mask, "cells")
    solver = lbm.Solver(domain, lbm.TRT(0.1), device="cpu")
    with pytest.raises(lbm.GeometryError, match="no triangles are known of Compound"):
        solver.surface("pair")
    with pytest.raises(ValueError, match="is of cells"):
        solver.surface("cells")
    with pytest.raises(TypeError, match="mesh: 3 given"):
        solver.surface("cells", mesh=3)  # type: ignore[arg-type]
    flat = lbm.Domain((12, 12), "D2Q9")
    flat.add_body(lbm.Sphere((6, 6), 2), "disc")
    with pytest.raises(ValueError, match="two dimensions"):
        lbm.Solver(flat, lbm.TRT(0.1), device="cpu").surface("disc")


@pytest.mark.parametrize(
    ("geometry", "area"),
    [
        (lbm.Sphere((1, 2, 3), 4), 64 * np.pi),
        (lbm.Box((0, 0, 0), (2, 3, 4)), 52),
        (lbm.Box((0, 0, 0), (2, 3, 4)).rotate("z", 30), 52),
        (lbm.Cylinder((1, 2, 3), 4, axis="y", length=5), 72 * np.pi),
    ],
)
def test_triangles_cover_the_surface_and_face_outwards(geometry: lbm.Geometry, area: float) -> None:
    vertices, triangles = surface_triangles(geometry, 0.6)
    corners = vertices[triangles]
    crossed = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    assert np.linalg.norm(crossed, axis=1).sum() / 2 == pytest.approx(area, rel=0.01)
    enclosed = np.einsum("mc,mc->", corners.mean(axis=1), crossed) / 6
    assert enclosed == pytest.approx(geometry.volume, rel=0.01)
    assert np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=-1).max() <= 0.6 + 1e-12
