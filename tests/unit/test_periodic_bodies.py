"""Geometries at rest that leave through periodic faces and come back at the other end of the domain."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from reference import meshes

import lbmgpu as lbm
from lbmgpu.body import Body
from lbmgpu.geometry.base import Geometry

SHAPE = (24, 16, 12)
SHIFTS = [(-8, 0, 0), (8, 0, 0), (-10, 0, 0), (12, 0, 0), (-11, 7, 0), (9, -6, 6)]
"""Of a ball of four cells in the middle: it touches faces, and leaves through one, at an edge and at a corner."""


PLATE = [(11.25, 5.125, 3.125), (12.75, 10.875, 3.125), (12.75, 10.875, 8.875), (11.25, 5.125, 8.875)]
SHAPES = [
    lbm.Sphere((12, 8, 6), 4.0),
    lbm.Mesh(*meshes.box((8.25, 4.25, 2.25), (15.75, 11.75, 9.75))),
    lbm.Mesh(PLATE, [(0, 1, 2), (0, 2, 3)], sheet=True),
]


def solver_of(body: Geometry, shift: tuple[int, ...], condition: Any = None, **more: Any) -> lbm.Solver:
    domain = lbm.Domain(SHAPE, "D3Q19")
    domain.add_body(body.translate(shift), "it", condition)
    solver = lbm.Solver(domain, lbm.TRT(0.05), precision="float64", device="cpu", **more)
    solver.initialize(velocity=(0.02, 0.01, 0.005))
    return solver


def links_of(solver: lbm.Solver, shift: tuple[int, ...]) -> set[tuple[int, ...]]:
    links = solver._simulation.boundary.links("it").links
    cells = (links.cells - shift) % SHAPE
    return {(*map(int, c), int(i), float(q)) for c, i, q in zip(cells, links.directions, links.q, strict=True)}


@pytest.mark.filterwarnings("ignore::lbmgpu.GeometryWarning")
@pytest.mark.parametrize("shift", SHIFTS)
@pytest.mark.parametrize("body", SHAPES)
def test_a_body_that_leaves_through_periodic_faces_is_the_same_as_in_the_middle(body, shift):
    middle, there = solver_of(body, (0, 0, 0)), solver_of(body, shift)
    assert np.array_equal(there.solid, np.roll(middle.solid, shift, (0, 1, 2)))
    assert np.array_equal(there.domain.solid, there.solid)
    assert links_of(there, shift) == links_of(middle, (0, 0, 0))
    for solver in (middle, there):
        solver.step(20)
    assert np.array_equal(there.populations(), np.roll(middle.populations(), shift, (1, 2, 3)))
    assert there.body_force("it") == pytest.approx(middle.body_force("it"), rel=1e-12)


@pytest.mark.filterwarnings("ignore::lbmgpu.GeometryWarning")
def test_an_overlap_at_the_other_end_says_that_the_body_comes_back_there():
    domain = lbm.Domain(SHAPE, "D3Q19")
    domain.add_body(lbm.Box((0, 2, 2), (4, 9, 9)), "low")
    domain.add_body(lbm.Box((18, 2, 2), (26, 9, 9)), "high")
    with pytest.raises(
        ValueError, match=r"'high': overlaps body 'low', .*; body 'high' leaves .* face '\+x' and comes"
    ):
        lbm.Solver(domain, lbm.TRT(0.05))
    domain.bodies.pop("high")
    domain.add_body(lbm.Box((2, 2, 2), (10, 9, 9)), "high")
    with pytest.raises(ValueError, match=r"'high': overlaps body 'low', for example at cell \(\d, \d, \d\)$"):
        lbm.Solver(domain, lbm.TRT(0.05))


@pytest.mark.filterwarnings("ignore::lbmgpu.GeometryWarning")
def test_it_does_not_depend_on_blocks_and_parts():
    layouts = (None, lbm.Layout.split(SHAPE, (3, 2, 1)))
    one, cut = (solver_of(SHAPES[0], (-11, 7, 0), layout=layout) for layout in layouts)
    for solver in (one, cut):
        solver.step(5)
    assert np.array_equal(one.populations(), cut.populations())
    body = one.domain.bodies["it"]
    axes = [np.arange(-3, 5) % 24, np.arange(12, 20) % 16, np.arange(12)]
    assert np.array_equal(body.within(axes), one.solid[np.ix_(*axes)])
    assert links_in(body, axes, one.solid) == links_in(body, [np.arange(n) for n in SHAPE], one.solid)


def links_in(body: Body, axes: list[Any], solid: Any) -> set[tuple[Any, ...]]:
    """Of the cells x < 5, y > 12 or so, which both have."""
    links = body.links_within(axes, lbm.stencil("D3Q19").c, solid[np.ix_(*axes)])
    cells = np.stack([axis[at] for axis, at in zip(axes, links.cells.T, strict=True)], 1)
    here = (cells[:, 0] < 5) & (cells[:, 1] > 12)
    return {(*map(tuple, cells[here].tolist()), *links.directions[here].tolist(), *links.q[here].tolist())}


@pytest.mark.parametrize("copied", [lbm.Domain.copy, copy.deepcopy, lambda domain: pickle.loads(pickle.dumps(domain))])
def test_faces_are_those_of_the_domain_that_has_the_body(copied):
    given = lbm.Domain((40, 40), "D2Q9")
    given.add_body(lbm.Sphere((0, 20), 6), "it")
    domain = copied(given)
    given.faces.update({"-x": lbm.NoSlip(), "+x": lbm.NoSlip()})
    walled = domain.copy()
    walled.faces.update({"-x": lbm.NoSlip(), "+x": lbm.NoSlip()})
    assert domain.solid[-5:].any()
    assert domain.bodies["it"].crossed_faces == ["-x"]
    assert not walled.solid[-5:].any()
    assert walled.bodies["it"].crossed_faces == []


@pytest.mark.parametrize(
    ("body", "wraps"),
    [
        (lbm.Sphere((0, 20), 6), True),
        (lbm.Box((-1, 10), (39, 21)), True),
        (lbm.Box((-1, 10), (40, 21)), False),
        (lbm.Sphere((45, 20), 6), True),
    ],
)
def test_what_is_longer_than_the_domain_does_not_go_on(body, wraps):
    domain = lbm.Domain((40, 40), "D2Q9")
    domain.add_body(body, "it")
    assert bool(domain.bodies["it"].crossed_faces) is wraps


def test_what_goes_on_is_told_by_cells_and_not_by_bounds():
    turned = lbm.Polygon([(-10, -10), (10, -10), (10, 10)]).extrude(10, 30).rotate("z", 45).translate((12, 20, 0))
    assert turned.bounds[0, 0] < -2
    for body, crossed in ((turned, []), (turned.translate((-13, 0, 0)), ["-x"]), (lbm.Cylinder((1, 20, 0), 4), ["-x"])):
        domain = lbm.Domain((40, 40, 40))
        domain.add_body(body, "it")
        assert domain.bodies["it"].crossed_faces == crossed
        assert domain.solid[-4:].any() == bool(crossed)


def test_a_body_beside_the_domain_has_no_cell():
    domain = lbm.Domain((40, 40), "D2Q9")
    domain.add_body(lbm.Sphere((60, 20), 6), "it")
    with pytest.raises(ValueError, match=r"it is from \(54, 14\) to \(66, 26\), the domain has"):
        lbm.Solver(domain, lbm.BGK(0.05))


def test_it_is_described_as_a_whole():
    middle, there = lbm.Domain((40, 40), "D2Q9"), lbm.Domain((40, 40), "D2Q9")
    middle.add_body(lbm.Box((16, 8), (20, 30)), "beside")
    there.add_body(lbm.Box((36, 8), (40, 30)), "beside")
    one, other = lbm.Sphere((28, 20), 6).describe(middle), lbm.Sphere((48 - 40, 20), 6).describe(there)
    for name in ("cells", "across", "thin", "narrowest", "warnings"):
        assert getattr(one, name) == getattr(other, name), name
    assert one.narrowest == 2
    beyond = lbm.Sphere((0, 20), 6).describe(lbm.Domain((40, 40), "D2Q9"))
    assert (beyond.cells, beyond.across) == (lbm.Sphere((20, 20), 6).describe(lbm.Domain((40, 40), "D2Q9")).cells, 12)


@pytest.mark.filterwarnings("ignore::lbmgpu.GeometryWarning")
def test_what_is_not_known_of_it_is_refused():
    solver = solver_of(SHAPES[0], (-11, 0, 0))
    with pytest.raises(ValueError, match=r"torque of body 'it' is not known, .* periodic face '-x'; translate it"):
        solver.body_torque("it")
    with pytest.raises(ValueError, match=r"center: .* torque of body 'it' is not known"):
        solver.body_torque("it", (1, 2, 3))
    with pytest.raises(ValueError, match="body 'it' goes on through the periodic face '-x'"):
        solver.surface("it")
    forces = solver.record(lbm.Forces("it"))
    solver.step(2)
    assert np.isnan(forces["torque"]).all()
    assert np.isfinite(forces["force"]).all()
    turning = lbm.MovingWall(lbm.Rotation(1e-3, (1, 8, 6)))
    with pytest.raises(ValueError, match="velocity of body 'it': a function of coordinates given for a body that goes"):
        solver_of(SHAPES[0], (-11, 0, 0), turning)


@pytest.mark.filterwarnings("ignore::lbmgpu.GeometryWarning")
def test_a_body_that_turns_beside_a_periodic_face_is_the_same_as_in_the_middle():
    """Its links through the face are asked for the velocity of the wall beside it."""

    def solver(shift: int) -> lbm.Solver:
        turning = lbm.MovingWall(lbm.Rotation(4e-3, (12 + shift, 8, 6)))
        return solver_of(SHAPES[0], (shift, 0, 0), turning)

    middle, there = solver(0), solver(-8)
    for each in (middle, there):
        each.step(20)
    assert np.allclose(there.populations(), np.roll(middle.populations(), -8, 1), rtol=0, atol=1e-15)
    assert there.body_torque("it") == pytest.approx(middle.body_torque("it"), rel=1e-9, abs=1e-12)


@pytest.mark.filterwarnings("ignore::lbmgpu.GeometryWarning")
def test_a_checkpoint_has_it_as_it_is(tmp_path):
    solver = solver_of(SHAPES[0], (-11, 7, 0))
    solver.step(3)
    path = solver.save(tmp_path / "state.h5")
    loaded, restored = lbm.Solver.load(path, device="cpu"), solver_of(SHAPES[0], (-11, 7, 0))
    restored.restore(path)
    for each in (solver, loaded, restored):
        each.step(3)
    assert np.array_equal(loaded.populations(), solver.populations())
    assert np.array_equal(restored.populations(), solver.populations())
    assert np.array_equal(loaded.body_force("it"), solver.body_force("it"))


@pytest.mark.filterwarnings("ignore::lbmgpu.GeometryWarning")
@pytest.mark.parametrize("condition", [lbm.Isothermal(1.0), lbm.Adiabatic()])
def test_its_temperature_is_the_same_as_in_the_middle(condition):
    def solver(shift):
        domain = lbm.Domain((24, 20), "D2Q9")
        domain.add_body(lbm.Sphere((12 + shift, 10), 4.0), "it", thermal=condition)
        made = lbm.Solver(domain, lbm.TRT(0.05), thermal=lbm.HybridThermal(0.1), precision="float64", device="cpu")
        made.initialize(velocity=(0.02, 0.01), temperature=lambda x, y: np.cos(2 * np.pi * (x - shift) / 24))
        made.step(20)
        return made

    middle = solver(0)
    for shift in (-8, -11, 12):
        there = solver(shift)
        assert np.allclose(there.temperature(), np.roll(middle.temperature(), shift, 0), rtol=0, atol=1e-13)
        assert there.mean_heat_flux("it") == pytest.approx(middle.mean_heat_flux("it"), rel=1e-9, abs=1e-14)
