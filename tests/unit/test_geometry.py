"""Tests primitives, polygons and what is made of them: cells, cut links and moves, against formulas."""

from __future__ import annotations

import math
import pickle
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import lbmgpu as lbm
from lbmgpu.geometry import self_crossing
from lbmgpu.geometry.base import Geometry

C = {name: np.array(lbm.stencil(name).c, dtype=np.int64) for name in ("D2Q9", "D3Q19", "D3Q27")}
N = 24
CENTER = (12.2, 11.9, 12.35)
SHAPES: dict[str, Geometry] = {
    "disc": lbm.Sphere(CENTER[:2], 6.3),
    "rectangle": lbm.Box((4.25, 6), (15, 17.75)),
    "turned rectangle": lbm.Box((6, 8), (17, 15)).rotate("z", 30, about=(12, 12)),
    "half-plane": lbm.Plane((12, 12), (1, -0.3)),
    "polygon": lbm.Polygon([(3, 4), (20, 5), (12, 11), (21, 19), (5, 18)]),
    "airfoil": lbm.airfoil("naca2412", 18, angle=4, leading_edge=(3, 13)),
    "disc without a disc": lbm.Sphere(CENTER[:2], 8) - lbm.Sphere((14, 12), 4.5),
    "sphere": lbm.Sphere(CENTER, 7.4),
    "cylinder": lbm.Cylinder(CENTER, 5.6, "y"),
    "slanted cylinder": lbm.Cylinder(CENTER, 5.2, (1, 2, -0.5), 13.1),
    "box": lbm.Box((4.25, 6, 5.5), (15, 17.75, 19.1)),
    "turned box": lbm.Box((6, 7, 8), (17, 16, 15)).rotate((1, 2, 3), 40, about=CENTER),
    "half-space": lbm.Plane(CENTER, (1, 0.4, -0.7)),
    "wing": lbm.airfoil("naca0012", 18, angle=6, leading_edge=(3, 13)).extrude(4.3, 19.2),
    "turned prism": lbm.Polygon([(3, 4), (20, 5), (12, 11), (21, 19)]).extrude(5, 15, "x").rotate("y", 20, CENTER),
    "union": lbm.Sphere(CENTER, 6.1) | lbm.Box((10, 10, 10), (21, 14.2, 13.8)),
    "intersection": lbm.Sphere(CENTER, 8.1) & lbm.Box((10, 4, 3), (21, 14.2, 19)),
    "difference": lbm.Sphere(CENTER, 8.1) - lbm.Cylinder(CENTER, 3.2, "x"),
}


def stencil_of(geometry: Geometry) -> np.ndarray:
    return C["D2Q9" if geometry.dimensions == 2 else "D3Q27"]


def all_links(geometry: Geometry, offset: int = 0, n: int = N) -> lbm.geometry.base.Links:
    d = geometry.dimensions
    return geometry.links((offset,) * d, (n,) * d, stencil_of(geometry))


def centres(dimensions: int, n: int = N) -> np.ndarray:
    return np.stack(np.meshgrid(*[np.arange(n) + 0.5] * dimensions, indexing="ij"), axis=-1)


def fluid_to_solid(geometry: Geometry) -> set[tuple[int, ...]]:
    """Cell and direction of each link from a fluid to a solid cell, by the mask with a rim."""
    d = geometry.dimensions
    solid = geometry.solid((-1,) * d, (N + 2,) * d)
    inner = (slice(1, -1),) * d
    found = set()
    for number, c in enumerate(stencil_of(geometry)):
        there = solid[tuple(slice(1 + k, N + 1 + k) for k in c)]
        found |= {(*cell, number) for cell in np.argwhere(~solid[inner] & there).tolist()}
    return found


@pytest.mark.parametrize("name", SHAPES)
def test_links_to_solid_cells_are_all_cut_on_the_surface(name: str) -> None:
    """Where the cut of a link is, one goes inside; and no link to a solid cell is missing or made up."""
    shape = SHAPES[name]
    links = all_links(shape)
    keys = [(*cell, i) for cell, i in zip(links.cells.tolist(), links.directions.tolist(), strict=True)]
    assert keys == sorted(set(keys))
    assert fluid_to_solid(shape) <= set(keys)
    assert (links.q > 0).all()
    assert (links.q <= 1).all()
    assert not shape.contains(links.cells + 0.5).any()
    step = stencil_of(shape)[links.directions]
    before = links.cells + 0.5 + np.maximum(links.q - 1e-6, 0)[:, None] * step
    behind = links.cells + 0.5 + (links.q + 1e-6)[:, None] * step
    assert not shape.contains(before).any()
    assert shape.contains(behind).all()


@pytest.mark.parametrize("name", SHAPES)
def test_parts_have_the_bits_of_the_whole(name: str) -> None:
    shape = SHAPES[name]
    whole, links = shape.solid((0,) * shape.dimensions, (N,) * shape.dimensions), all_links(shape)
    offset, size = (3, 5, 7)[: shape.dimensions], (15, 13, 11)[: shape.dimensions]
    window = tuple(slice(a, a + n) for a, n in zip(offset, size, strict=True))
    assert np.array_equal(shape.solid(offset, size), whole[window])
    part = shape.links(offset, size, stencil_of(shape))
    inside = ((links.cells >= offset) & (links.cells < np.add(offset, size))).all(axis=1)
    assert np.array_equal(part.cells + offset, links.cells[inside])
    assert np.array_equal(part.directions, links.directions[inside])
    assert part.q.tobytes() == links.q[inside].tobytes()


@pytest.mark.parametrize("name", SHAPES)
def test_cells_are_those_with_their_centres_inside(name: str) -> None:
    shape = SHAPES[name]
    points = centres(shape.dimensions).reshape(-1, shape.dimensions)
    solid = shape.solid((0,) * shape.dimensions, (N,) * shape.dimensions)
    assert np.array_equal(shape.contains(points), solid.ravel())
    assert 0 < solid.sum() < solid.size


def test_masks_are_those_of_formulas() -> None:
    x = centres(3)
    away = x - CENTER
    assert np.array_equal(SHAPES["sphere"].solid((0,) * 3, (N,) * 3), (away**2).sum(axis=-1) <= 7.4**2)
    assert np.array_equal(SHAPES["cylinder"].solid((0,) * 3, (N,) * 3), away[..., 0] ** 2 + away[..., 2] ** 2 <= 5.6**2)
    between = (x >= (4.25, 6, 5.5)) & (x <= (15, 17.75, 19.1))
    assert np.array_equal(SHAPES["box"].solid((0,) * 3, (N,) * 3), between.all(axis=-1))
    assert np.array_equal(SHAPES["half-space"].solid((0,) * 3, (N,) * 3), away @ (1, 0.4, -0.7) <= 0)


def test_a_turned_box_is_the_box_in_turned_coordinates() -> None:
    a = math.radians(25)
    turn = np.array([[math.cos(a), -math.sin(a), 0], [math.sin(a), math.cos(a), 0], [0, 0, 1]])
    turned = lbm.Box((5, 7, 9), (18, 16, 14)).rotate("z", 25, about=(12, 12, 12))
    local = (centres(3) - 12) @ turn + 12
    expected = ((local >= (5, 7, 9)) & (local <= (18, 16, 14))).all(axis=-1)
    assert np.array_equal(turned.solid((0, 0, 0), (N, N, N)), expected)
    assert turned.volume == pytest.approx(13 * 9 * 5)


@pytest.mark.parametrize("stencil", ["D2Q9", "D3Q19"])
def test_distances_to_a_sphere_are_exact(stencil: str) -> None:
    c = C[stencil]
    d = c.shape[1]
    sphere = lbm.Sphere(CENTER[:d], 7.4)
    links = sphere.links((0,) * d, (N,) * d, c)
    place = links.cells + 0.5 + links.q[:, None] * c[links.directions]
    assert np.abs(np.linalg.norm(place - CENTER[:d], axis=1) - 7.4).max() < 1e-6
    inner = links.q > 1e-6
    assert np.abs(np.linalg.norm(place - CENTER[:d], axis=1) - 7.4)[inner].max() < 1e-12


def test_a_thin_plate_cuts_links_between_fluid_cells_from_both_sides() -> None:
    plate = lbm.Box((2, 2, 10.7), (22, 22, 10.9))
    links = all_links(plate)
    assert plate.solid((0, 0, 0), (N, N, N)).sum() == 0
    along = stencil_of(plate)[links.directions]
    straight = (along == (0, 0, 1)).all(axis=1)
    assert straight.sum() == 400
    assert links.q[straight] == pytest.approx(0.2)
    assert set(links.cells[straight][:, 2]) == {10}
    back = (along == (0, 0, -1)).all(axis=1)
    assert back.sum() == 400
    assert links.q[back] == pytest.approx(0.6)
    assert set(links.cells[back][:, 2]) == {11}


def test_the_volume_of_solid_cells_converges() -> None:
    shape = SHAPES["difference"]
    errors = []
    for factor in (1, 2, 4):
        fine = shape.scale(factor)
        cells = fine.solid((0, 0, 0), (N * factor,) * 3).sum() / factor**3
        errors.append(abs(cells / shape.volume - 1))
    assert max(errors) < 0.02
    assert errors[2] < 0.003


def test_volumes_are_those_of_formulas() -> None:
    assert SHAPES["sphere"].volume == pytest.approx(4 / 3 * math.pi * 7.4**3)
    assert SHAPES["disc"].volume == pytest.approx(math.pi * 6.3**2)
    assert SHAPES["slanted cylinder"].volume == pytest.approx(math.pi * 5.2**2 * 13.1)
    assert lbm.Polygon([(0, 0), (4, 0), (0, 3)]).volume == pytest.approx(6)
    assert (lbm.Box((0, 0), (2, 2)) | lbm.Box((1, 1), (3, 3))).volume == pytest.approx(7, rel=1e-2)
    assert lbm.Cylinder(CENTER, 2).volume == math.inf
    section = lbm.airfoil("naca0012", 1)
    integral = 0.2969 * 2 / 3 - 0.126 / 2 - 0.3516 / 3 + 0.2843 / 4 - 0.1036 / 5  # of the half thickness over 5 t
    assert section.volume == pytest.approx(2 * 5 * 0.12 * integral, rel=5e-4)
    assert section.bounds[1, 1] == pytest.approx(0.06, rel=1e-3)


@pytest.mark.parametrize("name", SHAPES)
def test_moves_move_points(name: str) -> None:
    shape, d = SHAPES[name], SHAPES[name].dimensions
    points = np.random.default_rng(1).uniform(0, N, (400, d))
    inside = shape.contains(points)
    assert np.array_equal(shape.translate((3, -2, 1)[:d]).contains(points + (3, -2, 1)[:d]), inside)
    assert np.array_equal(shape.scale(1.7).contains(1.7 * points), inside)
    quarter = shape.rotate("z", 90)
    turned = np.stack([-points[:, 1], points[:, 0], *points.T[2:]], axis=1)
    assert np.array_equal(quarter.contains(turned), inside)
    assert pickle.loads(pickle.dumps(shape)) == shape
    assert shape.translate((1,) * d) != shape


def test_fit_fills_the_box_along_one_axis() -> None:
    fitted = lbm.Box((0, 0, 0), (4, 2, 1)).fit((10, 10, 10), (30, 40, 50))
    assert fitted.bounds.tolist() == [[10, 20, 27.5], [30, 30, 32.5]]
    assert lbm.Sphere((0, 0), 1).fit(lbm.Box((2, 2), (6, 12))) == lbm.Sphere((4, 7), 2)


def wrong() -> Iterator[tuple[str, object, str]]:
    yield "radius", lambda: lbm.Sphere((1, 2, 3), 0), "above 0"
    yield "center", lambda: lbm.Sphere((1, 2, 3, 4), 1), "2 or 3 coordinates"
    yield "center", lambda: lbm.Sphere((1, math.nan), 1), "finite"
    yield "high", lambda: lbm.Box((0, 0), (1, -1)), "at or above low"
    yield "normal", lambda: lbm.Plane((0, 0, 0), (0, 0, 0)), "length above 0"
    yield "points", lambda: lbm.Polygon([(0, 0), (1, 1), (2, 2)]), "area above 0"
    yield "points", lambda: lbm.Polygon([(0, 0), (1, 1)]), "at least 3"
    bow, hook = [(0, 0), (4, 4), (4, 0), (0, 4)], [(20, 20), (50, 45), (50, 20), (20, 30)]
    yield (
        "points",
        lambda: lbm.Polygon(bow),
        r"from \(0, 0\) to \(4, 4\) and .* cross at \(2, 2\), must .* not cross itself",
    )
    yield "points", lambda: lbm.Polygon(hook), r"cross at \(28\.5714, 27\.1429\)"
    yield "shape", lambda: lbm.airfoil(bow), "cross at"
    yield "shape", lambda: lbm.airfoil([(0, 0), (100, 0), (50, 10)]), "from 0 to 100 given, must be from about 0 to 1"
    section = lbm.airfoil("naca2412", 1, panels=40).points  # from the trailing edge over the top
    halves = np.concatenate([section[20::-1], section[20:], section[:1]])  # each from the leading edge
    yield "shape", lambda: lbm.airfoil(halves), "jump from one end of the chord to the other behind point 21 of 42"
    yield "shape", lambda: lbm.airfoil("af.dat"), "coordinates: load the file of an airfoil with numpy.loadtxt"
    yield "axis", lambda: lbm.Sphere((0, 0, 0), 1).rotate("w", 3), "'w' given, must be 'x', 'y', 'z' or a vector"
    cells = np.zeros((3, 3), np.bool_)
    yield "union", lambda: lbm.Sphere((0, 0), 1) | cells, "bool .* must be a Geometry"
    yield "union", lambda: cells | lbm.Sphere((0, 0), 1), "bool .* must be a Geometry"
    yield "difference", lambda: lbm.Sphere((0, 0), 1) - 3, "3 given .* must be a Geometry"
    yield "shape", lambda: lbm.airfoil("naca12"), "four digits"
    yield "axis", lambda: lbm.Sphere((0, 0), 1).rotate("x", 3), "'z' in two dimensions"
    yield "union", lambda: lbm.Sphere((0, 0), 1) | lbm.Sphere((0, 0, 0), 1), "must be the same"
    yield "stencil_velocities", lambda: lbm.Sphere((0, 0), 1).links((0, 0), (2, 2), [(2, 0)]), "-1, 0 and 1"
    yield "points", lambda: lbm.Sphere((0, 0), 1).contains([(0, 0, 0)]), r"\(N, 2\)"
    yield "fit", lambda: lbm.Plane((0, 0), (1, 0)).fit((0, 0), (1, 1)), "no end"
    yield "solid", lambda: lbm.Sphere((0, 0), 1).links((0, 0), (2, 2), C["D2Q9"], [True]), "shape"


@pytest.mark.parametrize(("name", "call", "right"), [(a, b, c) for a, b, c in wrong()])
def test_wrong_arguments_are_named(name: str, call: object, right: str) -> None:
    with pytest.raises((TypeError, ValueError), match=f"{name}: .*{right}"):
        call()  # type: ignore[operator]


def test_a_polygon_may_touch_itself_and_has_its_holes() -> None:
    ring = [(0, 0), (10, 0), (10, 10), (0, 10), (0, 0), (3, 3), (3, 6), (6, 6), (6, 3), (3, 3)]
    assert lbm.Polygon(ring).volume == 91
    assert lbm.Polygon([(0, 0), (2, 2), (4, 0), (4, 4), (2, 2), (0, 4)]).volume == 8


def test_a_line_of_many_corners_is_looked_at_in_parts() -> None:
    angles = np.linspace(0, 2 * math.pi, 6000, endpoint=False)
    comb = np.stack([np.where(np.arange(6000) % 2, 10, 20) * np.cos(angles), 20 * np.sin(angles)], axis=1)
    found = self_crossing.crossing_of(np.concatenate([comb, [(20.0, -1.0), (0.0, -1.0)]]))
    assert found is not None
    star = 10 + np.where(np.arange(6000) % 2, 5, 0)
    assert self_crossing.crossing_of(np.stack([star * np.cos(angles), star * np.sin(angles)], axis=1)) is None


def test_taken_cells_have_no_links() -> None:
    disc = SHAPES["disc"]
    taken = disc.solid((0, 0), (N, N))
    taken[:, :12] = True
    links = disc.links((0, 0), (N, N), C["D2Q9"], taken)
    every = all_links(disc)
    assert np.array_equal(links.cells, every.cells[every.cells[:, 1] >= 12])
    assert len(links.q) < len(every.q)


def test_a_body_keeps_its_geometry_and_gives_the_flow_of_its_mask() -> None:
    x, y = np.meshgrid(np.arange(40) + 0.5, np.arange(20) + 0.5, indexing="ij")
    fields = []
    for body in (lbm.Sphere((12, 9.7), 5.2), (x - 12) ** 2 + (y - 9.7) ** 2 <= 5.2**2):
        domain = lbm.Domain((40, 20), "D2Q9")
        domain.add_body(body, "disc", lbm.NoSlip(scheme="halfway"))
        assert domain.bodies["disc"].geometry is (body if isinstance(body, lbm.Geometry) else None)
        solver = lbm.Solver(domain, lbm.BGK(0.05), force=(1e-5, 0))
        solver.step(20)
        fields.append(solver.velocity())
    assert fields[0].tobytes() == fields[1].tobytes()


def test_a_body_wraps_round_no_wall_and_has_the_dimensions_of_the_domain() -> None:
    domain = lbm.Domain((20, 20), "D2Q9")
    domain.faces.update({"-x": lbm.NoSlip(), "+x": lbm.NoSlip()})
    domain.add_body(lbm.Sphere((0, 10), 6), "half")
    assert domain.bodies["half"].mask[:6].any()
    assert not domain.bodies["half"].mask[10:].any()
    with pytest.raises(ValueError, match="3 dimensions"):
        domain.add_body(lbm.Sphere((0, 10, 2), 6))


@pytest.mark.parametrize(
    ("body", "faces", "text"),
    [
        (lbm.Sphere((50, 50), 3), {}, "6 cells across"),
        (lbm.Sphere((50, 50), 15), {}, r"covers 30 % of the cross-section"),
        (lbm.Box((0, 40), (30, 50)), {}, r"closes 10 % of the open face '-x'; leave cells of fluid between the body"),
        (lbm.Box((40, 40), (60, 42)), {}, "40 of its cells are in parts of one or two cells"),
        (lbm.Box((40, 2), (60, 20)), {"-y": lbm.NoSlip()}, "a gap of 2 cells"),
        (lbm.Box((40, 40), (60, 60)) - lbm.Box((30, 50), (70, 51)), {}, "a gap of 1 cell beside"),
    ],
)
def test_what_will_not_do_is_warned_of(body: Geometry, faces: dict[str, lbm.NoSlip], text: str) -> None:
    domain = lbm.Domain((100, 100), "D2Q9")
    domain.faces.update({"-x": lbm.VelocityInlet((0.05, 0)), "+x": lbm.PressureOutlet(1), **faces})
    with pytest.warns(lbm.GeometryWarning, match=text):
        domain.add_body(body, "it")
    assert "warning: " in str(body.describe(domain))


def said_of(domain: lbm.Domain, body: Geometry | None = None, name: str = "it") -> list[str]:
    """What is warned of when a body is added; without one when a solver is made."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        if body is None:
            lbm.Solver(domain, lbm.BGK(0.05), device="cpu")
        else:
            domain.add_body(body, name)
    return [str(each.message) for each in found if each.category is lbm.GeometryWarning]


def walled() -> lbm.Domain:
    domain = lbm.Domain((40, 40, 40))
    domain.faces.update({"-z": lbm.NoSlip(), "+z": lbm.FreeSlip()})
    return domain


CLOSED = "a gap of less than a cell beside it has no centre of a cell in it and is closed"


@pytest.mark.parametrize(("low", "is_closed"), [(-1, False), (0, False), (0.1, True), (0.4, True), (3.2, False)])
def test_a_closed_gap_to_a_wall_or_a_body_is_warned_of(low: float, is_closed: bool) -> None:
    """But not where they touch, or one is in the other."""

    def car(bottom: float) -> Geometry:
        return lbm.Box((12, 14, bottom), (22, 26, bottom + 11))

    said = said_of(walled(), car(low))
    assert len(said) == is_closed
    assert all(CLOSED in text for text in said)
    domain = lbm.Domain((40, 40, 40))
    assert said_of(domain, lbm.Plane((0, 0, 4.9), (0, 0, 1)), "ground") == []
    assert len(said_of(domain, car(4.9 + low))) == is_closed
    assert car(low).describe(walled()).narrowest == (0 if is_closed else None)


def test_round_bodies_that_touch_a_wall_have_no_closed_gap() -> None:
    for height in (5.5, 6, 4):
        assert not any(CLOSED in text for text in said_of(walled(), lbm.Sphere((20, 20, height), 6)))


def test_a_solver_looks_again_with_the_faces_that_have_been_set_since() -> None:
    """And warns of what is new alone."""
    block, thin = lbm.Box((10, 10, 1.2), (24, 24, 14)), "2 cells"
    domain = lbm.Domain((100, 100, 100))
    assert said_of(domain, block) == []
    assert said_of(domain) == []
    assert [thin in text for text in said_of(domain, lbm.Box((10, 10, 16), (24, 24, 30)), "above")] == [True]
    domain.faces.update({"-z": lbm.NoSlip(), "+z": lbm.FreeSlip()})
    said = said_of(domain)
    assert len(said) == 1
    assert "body 'it': a gap of 1 cell" in said[0]
    earlier = lbm.Domain((100, 100, 100))
    earlier.faces.update({"-z": lbm.NoSlip(), "+z": lbm.FreeSlip()})
    assert len(said_of(earlier, block)) == 1
    assert said_of(earlier) == []


def test_a_ground_along_the_stream_covers_and_closes_nothing() -> None:
    domain = lbm.Domain((60, 40, 40))
    domain.faces.update({"-x": lbm.VelocityInlet((0.05, 0, 0)), "+x": lbm.PressureOutlet()})
    ground = lbm.Plane((0, 0, 5), (0, 0, 1))
    assert said_of(domain, ground, "ground") == []
    assert (ground.describe(domain).blockage, ground.describe(domain).closes) == (0, {})
    step = ground | lbm.Box((20, -1, 4), (30, 41, 15))
    assert any("covers 25 % of the cross-section" in text for text in step.describe(domain).warnings)
    across = lbm.Plane((5, 0, 0), (-1, 0, 0))
    assert any("closes 100 % of the open face '+x'" in text for text in across.describe(domain).warnings)


def test_what_will_do_is_not_warned_of(recwarn: pytest.WarningsRecorder) -> None:
    domain = lbm.Domain((200, 300), "D2Q9")
    domain.faces.update({"-x": lbm.VelocityInlet((0.05, 0)), "+x": lbm.PressureOutlet(1)})
    for body in (lbm.Sphere((60, 150), 7.3), lbm.Box((100, 100), (112, 112))):
        domain.add_body(body)
        found = body.describe(domain)
        assert found.warnings == ()
        assert (found.thin, found.narrowest) == (0, None)
    assert [w for w in recwarn if issubclass(w.category, lbm.GeometryWarning)] == []
    assert found.blockage == pytest.approx(12 / 300)
    assert found.cells == 144


CUT_OFF = [
    (lbm.Polygon([(-10, 10), (35, 10), (35, 21)]), {}, r"3.5 % of it .*periodic face '-x'.*translate\(\(40, 0\)\)"),
    (lbm.Polygon([(10, 5), (21, 5), (21, 50)]), {}, r"3.5 % of it .*periodic face '\+y'.*translate\(\(0, -40\)\)"),
    (lbm.Sphere((38, 20), 6), {"+x": lbm.PressureOutlet(), "-x": lbm.NoSlip()}, r"2\d % of it .*the face '\+x', and"),
    (lbm.Sphere((20, -1), 6), {"-y": lbm.NoSlip(), "+y": lbm.NoSlip()}, r"6\d % of it .*the face '-y', and"),
]


@pytest.mark.parametrize(("body", "faces", "text"), CUT_OFF)
def test_a_body_that_faces_cut_off_is_warned_of(body: Geometry, faces: dict[str, Any], text: str) -> None:
    domain = lbm.Domain((40, 40), "D2Q9")
    domain.add_body(body, "it")
    domain.faces.update(faces)
    with pytest.warns(lbm.GeometryWarning, match="body 'it': " + text):
        lbm.Solver(domain, lbm.BGK(0.05))
    assert re.search(text, str(body.describe(domain)))


def test_bodies_that_end_in_walls_or_touch_faces_are_not_warned_of(recwarn: pytest.WarningsRecorder) -> None:
    domain = lbm.Domain((40, 60), "D2Q9")
    domain.faces.update({"-y": lbm.NoSlip(), "+y": lbm.FreeSlip()})
    domain.add_body(lbm.Sphere((20, 2), 6), "in a wall")
    domain.add_body(lbm.Sphere((20, 60), 6), "on a plane of symmetry")
    domain.add_body(lbm.Box((-3, 20), (45, 31)), "along the periodic axis")
    domain.add_body(lbm.Sphere((20, 38), 6) | lbm.Sphere((-20, 38), 6) | lbm.Sphere((60, 38), 6), "with its images")
    domain.add_body(lbm.Sphere((6.2, 45), 6), "touches")
    lbm.Solver(domain, lbm.BGK(0.05))
    assert [str(w.message) for w in recwarn if "outside" in str(w.message)] == []
    recwarn.clear()


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (lbm.Sphere((20, 20), 5000), r"leaves no fluid cell .*: it is from \(-4980, -4980\) to \(5020, 5020\)"),
        (lbm.Sphere((20.1, 20.3), 0.01), r"has no cell, .*: it is from \(20.09, 20.29\) to \(20.11, 20.31\)"),
    ],
)
def test_a_body_of_other_units_is_refused_with_its_place(body: Geometry, text: str) -> None:
    domain = lbm.Domain((40, 40), "D2Q9")
    domain.add_body(body, "it")
    with pytest.raises(ValueError, match="^geometry of body 'it': " + text) as found:
        lbm.Solver(domain, lbm.BGK(0.05))
    assert "(40, 40) cells; must be in cells: scale it, translate it, or fit it to a box" in str(found.value)


def test_a_file_or_another_packages_mesh_is_no_mask() -> None:
    domain = lbm.Domain((40, 40, 40))
    with pytest.raises(TypeError, match=r"'car.stl' given, .* a Geometry such as lbm.Geometry.load\('car.stl'\)"):
        domain.add_body("car.stl")
    with pytest.raises(TypeError, match=r"a Geometry such as lbm.Geometry.load\(Path\('car.stl'\)\)"):
        domain.add_body(Path("car.stl"))
    other = SimpleNamespace(vertices=np.zeros((3, 3)), faces=np.zeros((1, 3), int))
    with pytest.raises(TypeError, match=r"a Geometry such as lbm.Mesh\(mesh.vertices, mesh.faces\)"):
        domain.add_body(other)
    with pytest.raises(TypeError, match=r"condition of body 'ball': Motion.* given, must be .*give it as motion="):
        domain.add_body(lbm.Sphere((20, 20, 20), 6), "ball", lbm.Motion(rate=0.01))


def test_a_copy_beyond_a_periodic_face_makes_the_body_whole() -> None:
    domain, ball = lbm.Domain((40, 40, 40)), lbm.Sphere((39.5, 20, 20), 6)
    domain.add_body(ball | ball.translate((-40, 0, 0)), "ball")
    solver = lbm.Solver(domain, lbm.BGK(0.05), device="cpu")
    assert int(solver.solid.sum()) == int(ball.solid((20, 0, 0), (40, 40, 40)).sum()) == 888


def test_a_checkpoint_keeps_the_cells_of_a_geometry(tmp_path: Path) -> None:
    domain = lbm.Domain((30, 20), "D2Q9")
    domain.add_body(lbm.airfoil("naca0012", 14, angle=8, leading_edge=(5, 10)), "wing")
    solver = lbm.Solver(domain, lbm.BGK(0.05), force=(1e-5, 0))
    solver.step(5)
    solver.save(tmp_path / "state.h5")
    loaded = lbm.Solver.load(tmp_path / "state.h5")
    assert loaded.domain.bodies["wing"].geometry is None
    assert np.array_equal(loaded.domain.bodies["wing"].mask, domain.bodies["wing"].mask)
    assert loaded.domain.bodies["wing"].scheme == domain.bodies["wing"].scheme == "interpolated"
    loaded.save(tmp_path / "again.h5")
    solver.restore(tmp_path / "again.h5")
    half_way = lbm.Domain((30, 20), "D2Q9")
    half_way.add_body(domain.bodies["wing"].mask, "wing")
    with pytest.raises(lbm.CheckpointError, match=r"(?s)bodies.wing.scheme.*bodies.wing.links"):
        lbm.Solver(half_way, lbm.BGK(0.05), force=(1e-5, 0)).restore(tmp_path / "state.h5")
    solver.step(5)
    loaded.step(5)
    assert loaded.populations().tobytes() == solver.populations().tobytes()


def test_blocks_find_their_cells_of_a_geometry() -> None:
    fields = []
    for layout in (None, lbm.Layout.split((30, 20, 12), (3, 2, 2))):
        domain = lbm.Domain((30, 20, 12))
        domain.faces["-z"] = domain.faces["+z"] = lbm.NoSlip()
        domain.add_body(lbm.Sphere((0.3, 10, 6), 4.2) | lbm.Cylinder((14, 8, 6), 3, "z"), "it")
        solver = lbm.Solver(domain, lbm.TRT(0.05), force=(1e-5, 0, 0), layout=layout)
        solver.step(10)
        fields.append(solver.populations())
    assert fields[0].tobytes() == fields[1].tobytes()
