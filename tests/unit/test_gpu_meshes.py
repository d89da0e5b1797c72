"""Tests that a GPU finds the bits of the CPU in meshes: which cells are solid, and where links are cut."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gpu_driver
import numpy as np
import pytest
from numpy.typing import NDArray
from reference import meshes

import lbmgpu as lbm
from lbmgpu import _core
from lbmgpu.geometry import mesh as mesh_module

N = 20
CENTER = np.array((10.2, 9.9, 10.35))
Arrays = tuple[NDArray[np.float64], NDArray[Any]]
PARTS: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
    ((0, 0, 0), (N, N, N)),
    ((-7, 3, -40), (19, 9, 61)),
    ((9, 0, 2), (1, N, 3)),
]
STENCILS = {name: [tuple(c) for c in np.asarray(lbm.stencil(name).c).tolist()] for name in ("D3Q19", "D3Q27")}
GPU_BYTES = 2**28
SMALL = 2000
"""Bytes that make a GPU find cells and cuts in many parts."""


def ball(radius: float = 6.4, divisions: int = 2, center: Any = CENTER) -> Arrays:
    vertices, triangles = meshes.icosphere(divisions)
    return center + radius * vertices, triangles


def together(*parts: Arrays) -> Arrays:
    """Several meshes as one."""
    first = np.cumsum([0, *(len(vertices) for vertices, _ in parts)])
    triangles = [triangles + start for (_, triangles), start in zip(parts, first, strict=False)]
    return np.concatenate([vertices for vertices, _ in parts]), np.concatenate(triangles)


def inside_out(mesh: Arrays) -> Arrays:
    return mesh[0], mesh[1][:, ::-1]


def one_sided() -> Arrays:
    """The tetrahemihexahedron: four faces of an octahedron and its three squares, a closed surface without sides."""
    vertices = np.concatenate([np.eye(3), -np.eye(3)])  # +x +y +z -x -y -z
    faces = [(0, 1, 2), (0, 4, 5), (3, 1, 5), (3, 4, 2)]
    for a, b in ((0, 1), (1, 2), (2, 0)):  # each square is cut along another axis
        faces += [(a, b, a + 3), (a, a + 3, b + 3)]
    return CENTER + 7.3 * vertices, np.array(faces)


def turned(mesh: Arrays, seed: int) -> Arrays:
    """The mesh turned about the centre by a random rotation."""
    q, _ = np.linalg.qr(np.random.default_rng(seed).standard_normal((3, 3)))
    return (mesh[0] - CENTER) @ q.T + CENTER, mesh[1] if np.linalg.det(q) > 0 else mesh[1][:, ::-1]


def soup(seed: int, on_centres: bool) -> Arrays:
    """Random triangles with holes between them, corners of which may be on centres and edges of cells."""
    random = np.random.default_rng(seed)
    vertices = random.uniform(-4, N + 4, (60, 3))
    return np.round(2 * vertices) / 2 if on_centres else vertices, random.integers(0, 60, (90, 3))


def tetrahedra(seed: int, on_centres: bool) -> Arrays:
    """Random closed surfaces that overlap, inside out at random."""
    random = np.random.default_rng(seed)
    faces = np.array([(0, 2, 1), (0, 1, 3), (1, 2, 3), (2, 0, 3)])
    parts = []
    for _ in range(12):
        vertices = random.uniform(-3, N + 3, (4, 3))
        parts.append((np.round(2 * vertices) / 2 if on_centres else vertices, faces))
    return together(*parts)


BIG = 3e5
CASES: dict[str, Callable[[], Arrays]] = {
    "ball": ball,
    "ball with a hollow": lambda: together(ball(), inside_out(ball(3.1))),
    "balls that overlap": lambda: together(ball(), ball(5.3, 1, CENTER + 3)),
    "parity": lambda: turned(one_sided(), 4),
    "parity through centres": lambda: (np.round(one_sided()[0] * 2) / 2, one_sided()[1]),
    "box through centres": lambda: meshes.box((2.5, 3.5, 4.5), (7.5, 9.5, 8.5)),
    "box through corners of cells": lambda: meshes.box((2.0, 3.0, 4.0), (7.0, 9.0, 8.0)),
    "box turned by 45 degrees": lambda: (
        (meshes.box((-4, -4, -4), (4, 4, 4))[0] @ np.array([(1, 1, 0), (-1, 1, 0), (0, 0, 1)]) + 9.5),
        meshes.CUBE,
    ),
    "turned box": lambda: turned(meshes.box((4, 5, 6), (16, 14, 15)), 1),
    "thin plate": lambda: turned(meshes.box((3, 3, 10.1), (17, 17, 10.3)), 2),
    "sliver": lambda: together(ball(), meshes.box((4, 4, 5), (4 + 1e-9, 16, 15))),
    "huge triangles": lambda: turned((meshes.box((-BIG, -BIG, 9.7), (BIG, BIG, BIG))), 3),
    "largest coordinates": lambda: meshes.box((-(2.0**31), -(2.0**31), -(2.0**31)), (10.3, 9.5, 2.0**31)),
    "small": lambda: ball(0.3, 1),
    "tetrahedra": lambda: tetrahedra(5, False),
    "tetrahedra through centres": lambda: tetrahedra(6, True),
    "soup": lambda: soup(7, False),
    "soup through centres": lambda: soup(8, True),
}


def surface_of(arrays: Arrays) -> tuple[_core.Surface, int]:
    """The surface as `Mesh` makes it, and the number of its closure."""
    vertices, triangles, repairs = _core.clean_mesh(np.asarray(arrays[0], dtype=np.float64), arrays[1])
    return _core.Surface(vertices, triangles, repairs["closure"]), repairs["closure"]


def links_of(
    surface: _core.Surface,
    part: tuple[tuple[int, ...], tuple[int, ...]],
    stencil: str,
    own: NDArray[np.bool_],
    *where: Any,
) -> list[NDArray[Any]]:
    taken = np.ascontiguousarray(own[1:-1, 1:-1, 1:-1])
    taken[tuple(n // 2 for n in taken.shape)] = True
    return list(surface.links(*part, STENCILS[stencil], own, taken, 2.0**-24, 0.5, 2, *where))


def assert_same(one: list[NDArray[Any]], other: list[NDArray[Any]]) -> None:
    for a, b in zip(one, other, strict=True):
        assert a.shape == b.shape
        assert a.tobytes() == b.tobytes()


def with_rim(part: tuple[tuple[int, ...], tuple[int, ...]]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return tuple(n - 1 for n in part[0]), tuple(n + 2 for n in part[1])


@pytest.mark.gpu
@pytest.mark.parametrize("case", CASES)
def test_a_gpu_finds_the_cells_and_links_of_the_cpu(case: str, gpu: str) -> None:
    """In parts of the domain, beyond it too, with the memory that it takes and with little."""
    surface, closure = surface_of(CASES[case]())
    assert (closure == 1) == ("parity" in case)
    assert (closure == 2) == ("soup" in case)
    count = 0
    for part in PARTS:
        own = surface.solid(*with_rim(part), 2)
        assert np.array_equal(own, surface.solid(*with_rim(part), 2, gpu))
        assert np.array_equal(own, surface.solid(*with_rim(part), 1, gpu, SMALL))
        for stencil in STENCILS:
            expected = links_of(surface, part, stencil, own)
            bytes_there = SMALL if stencil == "D3Q19" else GPU_BYTES
            assert_same(expected, links_of(surface, part, stencil, own, gpu, bytes_there))
            count += len(expected[0])
    assert count > 0


@pytest.mark.gpu
@pytest.mark.parametrize("case", ["ball", "box through centres", "thin plate", "soup", "soup through centres"])
def test_a_gpu_finds_the_links_of_sheets(case: str, gpu: str) -> None:
    """Nothing is inside, and all links that the surface cuts are there."""
    surface, _ = surface_of(CASES[case]())
    for part in PARTS[:2]:
        own = np.zeros(with_rim(part)[1], np.bool_)
        for stencil in STENCILS:
            expected = links_of(surface, part, stencil, own)
            assert len(expected[0]) > 0
            assert_same(expected, links_of(surface, part, stencil, own, gpu))


@pytest.mark.gpu
def test_more_triangles_across_one_line_than_its_memory_holds_are_found(gpu: str) -> None:
    parts = [meshes.box((3.2, 3.1, 3 + 0.01 * k), (5.3, 5.4, 6.5 + 0.02 * k)) for k in range(40)]
    surface, _ = surface_of(together(*parts))
    own = surface.solid(*with_rim(PARTS[0]), 1)
    assert np.array_equal(own, surface.solid(*with_rim(PARTS[0]), 1, gpu, 1))
    expected = links_of(surface, PARTS[0], "D3Q27", own)
    assert_same(expected, links_of(surface, PARTS[0], "D3Q27", own, gpu, SMALL))


@pytest.mark.gpu
def test_the_cpu_finds_what_a_gpu_has_no_memory_for(gpu: str) -> None:
    surface, _ = surface_of(ball())
    own = surface.solid(*with_rim(PARTS[0]), 2)
    assert_same(links_of(surface, PARTS[0], "D3Q19", own), links_of(surface, PARTS[0], "D3Q19", own, gpu, 2**52))


@pytest.mark.gpu
def test_a_gpu_is_asked_for_large_meshes_alone(gpu: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mesh = lbm.Mesh(*ball())
    part = PARTS[0]

    def ask() -> None:
        mesh.solid(*part, device=gpu)
        mesh.links(*part, STENCILS["D3Q19"], device=gpu)

    assert gpu_driver.requests(ask)["launches"] == 0
    monkeypatch.setattr(mesh_module, "GPU_TRIANGLES", len(mesh.triangles))
    assert gpu_driver.requests(ask)["launches"] >= 2 + 2 + 9
    monkeypatch.setattr(mesh_module, "GPU_TRIANGLES", len(mesh.triangles) + 1)
    monkeypatch.setattr(mesh_module, "GPU_CELLS", N**3)
    assert gpu_driver.requests(ask)["launches"] >= 2 + 2 + 9
    assert np.array_equal(mesh.solid(*part, device=gpu), mesh.solid(*part))
    assert_same(
        list(mesh.links(*part, STENCILS["D3Q27"], device=gpu)), list(mesh.links(*part, STENCILS["D3Q27"], device="cpu"))
    )


@pytest.mark.gpu
@pytest.mark.parametrize("sheet", [False, True])
def test_a_solver_on_a_gpu_has_the_links_of_one_on_the_cpu(
    sheet: bool, gpu: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its meshes are looked at there, and the flow has the same bits."""
    monkeypatch.setattr(mesh_module, "GPU_TRIANGLES", 1)
    mesh = lbm.Mesh(*CASES["thin plate" if sheet else "ball"](), sheet=sheet)
    asked = []

    def solver_on(device: str) -> lbm.Solver:
        domain = lbm.Domain((N + 4, N, N), "D3Q19")
        domain.add_body(mesh, "body")
        return lbm.Solver(domain, lbm.TRT(0.1), force=(1e-5, 0, 0), precision="float64", device=device)

    own = mesh_module.Mesh._helping

    def noted(self: lbm.Mesh, device: str, size: tuple[int, ...]) -> str:
        asked.append(own(self, device, size))
        return asked[-1]

    monkeypatch.setattr(mesh_module.Mesh, "_helping", noted)
    one, other = solver_on("cpu"), solver_on(gpu)
    assert {device for device in asked if device != "cpu"} == {other.device}
    assert np.array_equal(one.solid, other.solid)
    links = [solver._simulation.boundary.links("body") for solver in (one, other)]
    assert links[0] is not None
    assert links[1] is not None
    assert_same(list(links[0].links), list(links[1].links))
    assert links[0].numbers.tobytes() == links[1].numbers.tobytes()
    for solver in (one, other):
        solver.step(4)
    assert one.velocity().tobytes() == other.velocity().tobytes()


@pytest.mark.parametrize("device", ["gpu", "cuda:", "cuda:12345", "cpu:0", ""])
def test_devices_that_have_no_such_name_are_refused(device: str) -> None:
    for shape in (lbm.Sphere(CENTER, 3), lbm.Mesh(*ball())):
        with pytest.raises(ValueError, match=r"device: .* must be 'auto', 'cpu', 'cuda'"):
            shape.solid(*PARTS[0], device=device)
        with pytest.raises(ValueError, match=r"device: .* must be 'auto', 'cpu', 'cuda'"):
            shape.links(*PARTS[0], STENCILS["D3Q19"], device=device)
    with pytest.raises(TypeError, match="device: 0 given"):
        lbm.Sphere(CENTER, 3).solid(*PARTS[0], device=0)  # type: ignore[arg-type]


def test_devices_are_named_as_solvers_take_them(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr("lbmgpu.parallel.devices.resolve", lambda given: asked.append(given) or "cpu")
    mesh = lbm.Mesh(*ball())
    for device in ("auto", "cuda"):
        assert np.array_equal(mesh.solid(*PARTS[0], device=device), mesh.solid(*PARTS[0]))
    assert asked == ["auto", "cuda"]
