"""Tests meshes: what is inside and cut against plain NumPy, repairs, holes, sheets, and files."""

from __future__ import annotations

import builtins
import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from packages import need
from reference import meshes

import lbmgpu as lbm
from lbmgpu import _core
from lbmgpu.geometry import cells

C = np.array(lbm.stencil("D3Q27").c, dtype=np.int64)
N = 24
CENTER = np.array((12.2, 11.9, 12.35))
RADIUS = 7.4
WHOLE: tuple[tuple[int, ...], tuple[int, ...]] = ((0, 0, 0), (N, N, N))


def ball(divisions: int = 3) -> lbm.Mesh:
    vertices, triangles = meshes.icosphere(divisions)
    return lbm.Mesh(CENTER + RADIUS * vertices, triangles)


def hollow(outer: float, inner: float) -> tuple[np.ndarray, np.ndarray]:
    """A ball with a hollow, which is a ball turned inside out."""
    vertices, triangles = meshes.icosphere(2)
    both = np.concatenate([CENTER + outer * vertices, CENTER + inner * vertices])
    return both, np.concatenate([triangles, triangles[:, ::-1] + len(vertices)])


def points() -> np.ndarray:
    return np.stack(np.meshgrid(*[np.arange(N) + 0.5] * 3, indexing="ij"), axis=-1).reshape(-1, 3)


def test_links_of_a_mesh_are_those_of_brute_force() -> None:
    """All distances of the nearest cut of each link, and none is missing."""
    mesh = ball(1)
    corners = mesh.vertices[mesh.triangles]
    links = mesh.links(*WHOLE, C)
    found = {(*cell, i): q for cell, i, q in zip(links.cells.tolist(), links.directions, links.q, strict=True)}
    near = np.argwhere(np.abs(np.linalg.norm(points() - CENTER, axis=1) - RADIUS).reshape(N, N, N) < 3)
    solid, count = mesh.solid(*WHOLE), 0
    for cell in near[::5]:
        for i in np.flatnonzero(C.any(axis=1)):
            expected = meshes.lengths(corners, cell + 0.5, C[i].astype(float))
            if not solid[tuple(cell)] and np.isfinite(expected):
                assert found[(*cell.tolist(), i)] == pytest.approx(expected, abs=1e-12)
                count += 1
            else:
                assert (*cell.tolist(), i) not in found
    assert count > 1000


def test_links_of_a_mesh_are_those_of_rays_and_numpy() -> None:
    """Two ways through the package: lattice lines in whole numbers, and rays in a tree."""
    mesh = ball()
    links = mesh.links(*WHOLE, C)
    own = mesh.solid((-1,) * 3, (N + 2,) * 3)
    other = cells.links(mesh, *WHOLE, C, own, own[1:-1, 1:-1, 1:-1])
    assert np.array_equal(links.cells, other[0])
    assert np.array_equal(links.directions, other[1])
    assert np.abs(links.q - other[2]).max() < 1e-12


def test_a_fine_mesh_of_a_sphere_is_the_sphere() -> None:
    sphere = lbm.Sphere(CENTER, RADIUS)
    exact = sphere.links(*WHOLE, C)
    keys = [(*cell, i) for cell, i in zip(exact.cells.tolist(), exact.directions.tolist(), strict=True)]
    differences = []
    for divisions, least in ((3, 0.96), (4, 0.985)):
        found = ball(divisions).links(*WHOLE, C)
        q = dict(zip(map(tuple, np.column_stack([found.cells, found.directions]).tolist()), found.q, strict=True))
        shared = [key in q for key in keys]
        assert np.mean(shared) > least
        error = [abs(q[key] - value) for key, value in zip(keys, exact.q, strict=True) if key in q]
        differences.append(np.mean(error))
    assert differences[1] < 0.3 * differences[0]
    assert differences[1] < 0.01
    assert ball(4).volume == pytest.approx(sphere.volume, rel=3e-3)


@pytest.mark.parametrize(
    ("offset", "shape"), [((3, 5, 7), (15, 13, 11)), ((-4, 0, 9), (12, 24, 6)), ((20, 20, 20), (9, 9, 9))]
)
def test_parts_have_the_bits_of_the_whole(offset: tuple[int, ...], shape: tuple[int, ...]) -> None:
    vertices, triangles = hollow(8.1, 4.3)
    for kept in (triangles, triangles[7:]):  # closed, and with holes
        mesh = lbm.Mesh(vertices, kept)
        low, size = (-6,) * 3, (40,) * 3
        whole, links = mesh.solid(low, size), mesh.links(low, size, C)
        start = np.array(offset) + 6
        window = tuple(slice(a, a + n) for a, n in zip(start, shape, strict=True))
        assert np.array_equal(mesh.solid(offset, shape), whole[window])
        part = mesh.links(offset, shape, C)
        inside = ((links.cells >= start) & (links.cells < start + shape)).all(axis=1)
        assert np.array_equal(part.cells + start, links.cells[inside])
        assert np.array_equal(part.directions, links.directions[inside])
        assert part.q.tobytes() == links.q[inside].tobytes()


def test_threads_make_no_difference() -> None:
    mesh = ball()
    surface = _core.Surface(mesh.vertices, mesh.triangles, 0)
    assert np.array_equal(surface.solid(*WHOLE, 1), surface.solid(*WHOLE, 5))
    own = surface.solid((-1,) * 3, (N + 2,) * 3, 1)
    given = [tuple(c) for c in C.tolist()], own, np.ascontiguousarray(own[1:-1, 1:-1, 1:-1]), 2.0**-24, 0.5
    for one, five in zip(surface.links(*WHOLE, *given, 1), surface.links(*WHOLE, *given, 5), strict=True):
        assert np.array_equal(one, five)


def test_cells_of_a_box_through_their_centres_are_half_open() -> None:
    """On the surface a centre is where it would be if it were moved along +x, +y and +z."""
    mesh = lbm.Mesh(*meshes.box((2.5, 3.5, 4.5), (7.5, 9.5, 8.5)))
    solid = mesh.solid(*WHOLE)
    expected = np.zeros_like(solid)
    expected[2:7, 3:9, 4:8] = True
    assert np.array_equal(solid, expected)
    assert np.array_equal(mesh.contains(points()).reshape(N, N, N), expected)
    assert set(np.round(mesh.links(*WHOLE, C).q, 6)) == {0, 1}


def test_a_turned_box_is_the_turned_primitive() -> None:
    primitive = lbm.Box((6, 7, 8), (17, 16, 15)).rotate((1, 2, 3), 40, about=CENTER)
    mesh = lbm.Mesh(*meshes.box((6, 7, 8), (17, 16, 15))).rotate((1, 2, 3), 40, about=CENTER)
    assert np.array_equal(mesh.solid(*WHOLE), primitive.solid(*WHOLE))
    one, other = mesh.links(*WHOLE, C), primitive.links(*WHOLE, C)
    assert np.array_equal(one.cells, other.cells)
    assert np.array_equal(one.directions, other.directions)
    assert np.abs(one.q - other.q).max() < 1e-10
    assert mesh.volume == pytest.approx(primitive.volume)


def test_a_mesh_in_unions_is_like_a_primitive() -> None:
    mesh = lbm.Mesh(*meshes.box((6.2, 7.1, 8.3), (17.4, 16, 15.1)))
    box, pipe = lbm.Box((6.2, 7.1, 8.3), (17.4, 16, 15.1)), lbm.Cylinder(CENTER, 2.7, "x")
    for one, other in ((mesh - pipe, box - pipe), (mesh | pipe, box | pipe)):
        assert np.array_equal(one.solid(*WHOLE), other.solid(*WHOLE))
        first, second = one.links(*WHOLE, C), other.links(*WHOLE, C)
        assert np.array_equal(first.cells, second.cells)
        assert np.abs(first.q - second.q).max() < 1e-9


def test_winding_numbers_are_those_of_a_closed_surface() -> None:
    surface = _core.Surface(ball().vertices, ball().triangles, 0)
    inside = np.linalg.norm(points() - CENTER, axis=1) < RADIUS - 0.2
    outside = np.linalg.norm(points() - CENTER, axis=1) > RADIUS + 0.2
    exact = surface.winding_numbers(points(), np.inf, 2)
    assert np.abs(exact[inside] - 1).max() < 1e-12
    assert np.abs(exact[outside]).max() < 1e-12
    assert np.abs(surface.winding_numbers(points(), 2.0, 2) - exact).max() < 0.03


def test_flipped_triangles_are_turned() -> None:
    mesh = ball()
    flipped = mesh.triangles.copy()
    flipped[::3] = flipped[::3, ::-1]
    repaired = lbm.Mesh(mesh.vertices, flipped)
    assert repaired.repairs["flipped"] == len(flipped[::3])
    assert np.array_equal(repaired.solid(*WHOLE), mesh.solid(*WHOLE))


def test_all_triangles_turned_inwards_make_the_same_cells() -> None:
    mesh = ball()
    inwards = lbm.Mesh(mesh.vertices, mesh.triangles[:, ::-1])
    assert np.array_equal(inwards.solid(*WHOLE), mesh.solid(*WHOLE))
    assert "closed and turned inwards" in str(inwards.describe())
    assert "turned" not in str(mesh.describe())


def test_a_hole_leaves_the_inside() -> None:
    mesh = ball()
    holed = lbm.Mesh(mesh.vertices, mesh.triangles[12:])
    assert not holed.is_closed
    assert holed.repairs["open_edges"] > 0
    differ = holed.solid(*WHOLE) != mesh.solid(*WHOLE)
    assert differ.sum() <= 2
    assert np.array_equal(holed.contains(points()).reshape(N, N, N), holed.solid(*WHOLE))
    with pytest.warns(lbm.GeometryWarning, match="not closed"):
        lbm.Domain((N, N, N)).add_body(holed)


def test_parts_that_overlap_are_joined_and_a_hollow_stays() -> None:
    a, b = meshes.box((3.2, 3.2, 3.2), (12, 12, 12)), meshes.box((8, 8, 8), (20, 20, 20))
    both = lbm.Mesh(np.concatenate([a[0], b[0]]), np.concatenate([a[1], b[1] + 8]))
    expected = lbm.Mesh(*a).solid(*WHOLE) | lbm.Mesh(*b).solid(*WHOLE)
    assert np.array_equal(both.solid(*WHOLE), expected)
    shell = lbm.Mesh(*hollow(8.1, 4.3)).solid(*WHOLE)
    assert not shell[12, 12, 12]
    assert shell[12, 12, 6]


def test_a_surface_of_even_edges_without_sides_is_told_by_parity() -> None:
    """Two boxes with an edge in common that four triangles have, one box turned inside out."""
    a, b = meshes.box((3, 3, 3.2), (9, 9, 14.2)), meshes.box((9, 9, 3.2), (15, 15, 14.2))
    mesh = lbm.Mesh(np.concatenate([a[0], b[0]]), np.concatenate([a[1], b[1][:, ::-1] + 8]))
    assert mesh.is_closed
    assert mesh.solid(*WHOLE).sum() == 2 * 6 * 6 * 11


def test_a_sheet_has_no_cells_and_cuts_links_from_both_sides() -> None:
    square = [(2.0, 2, 10.8), (22, 2, 10.8), (22, 22, 10.8), (2, 22, 10.8)]
    sheet = lbm.Mesh(square, [(0, 1, 2), (0, 2, 3)], sheet=True)
    assert not sheet.solid(*WHOLE).any()
    links = sheet.links(*WHOLE, C)
    up = C[links.directions][:, 2] == 1
    assert links.q[up] == pytest.approx(0.3)
    assert links.q[~up] == pytest.approx(0.7)
    assert up.sum() == (~up).sum() == 400 + 4 * 400 + 4 * 400
    assert not lbm.Mesh(square, [(0, 1, 2), (0, 2, 3)]).solid(*WHOLE).any()  # nor is anything wound about by it


def test_a_sheet_through_centres_lets_nothing_through() -> None:
    """Each cell is on one side of it, whatever the direction: no path of uncut links joins the sides."""
    square = [(-9.0, -9, 3.75), (33, -9, 3.75), (33, 33, 24.75), (-9, 33, 24.75)]
    sheet = lbm.Mesh(square, [(0, 1, 2), (0, 2, 3)], sheet=True)
    links = sheet.links(*WHOLE, C)
    cut = {(*cell, i) for cell, i in zip(links.cells.tolist(), links.directions.tolist(), strict=True)}
    height = points()[:, 2] - 3.75 - (points()[:, 1] + 9) / 2
    side = (height > 0).reshape(N, N, N)  # centres on it, moved along +y, are below
    assert (height == 0).any()
    for i, c in enumerate(C):
        for cell in np.argwhere(side)[::7]:
            other = cell + c
            if ((other >= 0) & (other < N)).all() and not side[tuple(other)]:
                assert (*cell.tolist(), i) in cut
                opposite = int(np.flatnonzero((-c == C).all(axis=1))[0])
                assert (*other.tolist(), opposite) in cut


def test_a_mesh_beyond_the_domain_is_cut_off() -> None:
    mesh = ball().translate((-12, 0, 0))
    assert np.array_equal(mesh.solid((0, 0, 0), (4, N, N)), ball().solid((12, 0, 0), (4, N, N)))
    assert not mesh.translate((-200, 0, 0)).solid(*WHOLE).any()
    assert len(mesh.translate((-200, 0, 0)).links(*WHOLE, C).q) == 0


def test_meshes_are_copied_by_pickle() -> None:
    mesh = ball()
    mesh.solid(*WHOLE)
    copy = pickle.loads(pickle.dumps(mesh))
    assert copy == mesh
    assert np.array_equal(copy.solid(*WHOLE), mesh.solid(*WHOLE))
    assert copy.scale(2) != mesh


BOX = meshes.box((0, 0, 0), (1, 1, 1))


@pytest.mark.parametrize(
    ("vertices", "triangles", "text"),
    [
        ([(0, 0, np.nan), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)], "vertices: 1 are not finite"),
        (np.empty((0, 3)), np.empty((0, 3), int), "vertices: none given"),
        (BOX[0], np.empty((0, 3), int), "triangles: none is left"),
        (BOX[0], [(0, 0, 1), (2, 2, 2)], "triangles: none is left"),
        (BOX[0], [(0, 1, 8)], "triangles: 8 given, must be from 0 to 7"),
        (BOX[0], [(0, 1, -1)], "triangles: -1 given"),
        (BOX[0], [(0.0, 1.0, 2.0)], "triangles: .* must be integers"),
        ([(0, 0), (1, 1)], [(0, 1, 1)], r"vertices: .* numbers \(n, 3\)"),
        ([(0, 0, 0), (1, 1, 1), (2, 2, 2)], [(0, 1, 2)], "triangles: none has an area"),
        ([(0.1, 0.1, 0.3), (0.2, 0.2, 0.6), (0.3, 0.3, 0.9)], [(0, 1, 2)], "triangles: none has an area"),
        ([(0, 0, 1e200), (1, 0, 0), (0, 1, 0)], [(0, 1, 2)], "at most 1e100"),
    ],
)
def test_arrays_without_a_surface_are_refused(vertices: Any, triangles: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        lbm.Mesh(vertices, triangles)


def test_coordinates_that_cells_have_not_are_refused() -> None:
    far = lbm.Mesh(BOX[0] * 1e12, BOX[1])
    with pytest.raises(ValueError, match=r"at most 2\^31; scale or fit"):
        far.solid(*WHOLE)
    assert far.fit((2, 2, 2), (20, 20, 20)).solid(*WHOLE).sum() == 18**3


def test_triangles_that_are_there_twice_are_warned_of() -> None:
    vertices, triangles = BOX[0] * 14 + 3, BOX[1]
    domain = lbm.Domain((N, N, N))
    for copies, volume in ((triangles, 2 * 14**3), (np.roll(triangles, 1, axis=1), 2 * 14**3), (triangles[:, ::-1], 0)):
        mesh = lbm.Mesh(vertices, np.concatenate([triangles, copies]))
        assert (mesh.repairs["twice"], mesh.volume) == (12, pytest.approx(volume))
        with pytest.warns(lbm.GeometryWarning, match="12 of its triangles are there twice"):
            domain.add_body(mesh)
    a, b = meshes.box((3, 3, 3), (9, 9, 14)), meshes.box((9, 3, 3), (15, 9, 14))
    side_by_side = lbm.Mesh(np.concatenate([a[0], b[0]]), np.concatenate([a[1], b[1] + 8]))
    assert side_by_side.repairs["twice"] == lbm.Mesh(*a).repairs["twice"] == 0


def test_slivers_and_points_do_no_harm() -> None:
    vertices = np.concatenate([BOX[0] * 10 + 3, [(3, 3, 3), (8, 3, 3), (13, 3, 3), (3, 3, 3 + 1e-13)]])
    slivers = [(0, 9, 10), (8, 0, 11), (8, 9, 11), (9, 9, 10)]
    mesh = lbm.Mesh(vertices, np.concatenate([BOX[1], slivers]))
    assert np.array_equal(mesh.solid(*WHOLE), lbm.Mesh(vertices[:8], BOX[1]).solid(*WHOLE))
    assert mesh.repairs["dropped"] >= 1


@pytest.mark.parametrize("turned", range(3))
def test_links_that_touch_an_edge_are_none(turned: int) -> None:
    """Of faces at whole numbers, so that links of diagonal velocities meet edges; the links are those of a box."""
    low, high = (np.roll(end, turned) for end in ((12, 8, 8), (20, 11, 11)))
    vertices, triangles = meshes.box(tuple(map(float, low)), tuple(map(float, high)))
    mesh, box = lbm.Mesh(vertices, triangles), lbm.Box(low, high)
    for name, count in (("D3Q19", 514), ("D3Q27", None)):
        c = lbm.stencil(name).c
        found, expected = mesh.links(*WHOLE, c), box.links(*WHOLE, c)
        assert count is None or len(found.q) == count
        assert np.array_equal(found.cells, expected.cells)
        assert np.array_equal(found.directions, expected.directions)
        np.testing.assert_allclose(found.q, expected.q, rtol=0, atol=1e-12)


@pytest.mark.parametrize("thickness", [0.3, 1e-3, 0.0])
def test_plates_between_cells_keep_their_links(thickness: float) -> None:
    """Also of two surfaces in the same place, through which no link passes beside them."""
    vertices, triangles = meshes.box((5.2, 6.3, 12.1), (15.2, 16.3, 13.1))
    vertices[:, 2] = np.where(vertices[:, 2] > 12.5, 12.1 + thickness, 12.1)
    plate = lbm.Mesh(vertices, triangles)
    links = plate.links(*WHOLE, C)
    straight = C[links.directions, 0] == C[links.directions, 1]
    straight &= C[links.directions, 0] == 0
    assert np.count_nonzero(straight) == 2 * 10 * 10
    assert len(links.q) > 17 * 10 * 10


need("trimesh")


@pytest.mark.parametrize("suffix", meshes.WRITERS)
def test_files_are_read(suffix: str, tmp_path: Path) -> None:
    vertices, triangles = meshes.icosphere(2)
    path = meshes.write(tmp_path / f"ball.{suffix}", vertices, triangles)
    found = lbm.Geometry.load(path)
    assert isinstance(found, lbm.Mesh)
    assert found.is_closed
    assert len(found.triangles) == len(triangles)
    assert found.volume == pytest.approx(lbm.Mesh(vertices, triangles).volume, rel=1e-6)
    assert "closed" in str(found.describe())
    assert lbm.Geometry.load(path, sheet=True) != found


@pytest.mark.parametrize(
    ("name", "data", "text"),
    [
        ("a.step", b"", "must be a file of a mesh: .stl, .obj, .ply"),
        ("a.stl", b"", "cannot be read as STL"),
        ("a.stl", meshes.stl(*BOX)[:200], "cannot be read as STL"),
        ("a.stl", b"solid x\nendsolid x\n", "holds no triangles"),
        ("a.stl", b"solid " + 99 * b"x" + b"\nendsolid\n", "holds no triangles"),
        ("a.obj", b"v 0 0 0\nv 1 0 0\n", "cannot be read|no triangles"),
        ("a.ply", b"ply\nformat ascii 1.0\nelement vertex 3\nend_header\n", "cannot be read|no triangles"),
        ("a.stl", meshes.stl(BOX[0] * [np.nan, 1, 1], BOX[1]), "not finite"),
    ],
)
def test_files_without_a_surface_are_refused(name: str, data: bytes, text: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(lbm.GeometryError, match=text):
        lbm.Geometry.load(path)


def test_a_missing_file_or_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(FileNotFoundError, match=r"none\.stl"):
        lbm.Geometry.load(tmp_path / "none.stl")
    path = meshes.write(tmp_path / "box.stl", *BOX)
    real = builtins.__import__

    def without(name: str, *rest: Any, **options: Any) -> Any:
        if name == "trimesh":
            raise ImportError(name)
        return real(name, *rest, **options)

    monkeypatch.delitem(sys.modules, "trimesh", raising=False)
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(lbm.GeometryError, match=r"pip install 'lbmgpu\[geometry\]'"):
        lbm.Geometry.load(path)
