"""Bodies whose surface cuts links: what is recorded of them, what is refused, and what they keep."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lbmgpu as lbm
from lbmgpu.geometry.base import Links

CENTER = (14.3, 9.8)
DISC = lbm.Sphere(CENTER, 5.2)
C = lbm.stencil("D2Q9").c


def solver_of(layout: lbm.Layout | None = None, **options: Any) -> lbm.Solver:
    domain = lbm.Domain((40, 20), "D2Q9")
    domain.faces["-x"], domain.faces["+x"] = lbm.VelocityInlet((0.05, 0)), lbm.PressureOutlet()
    domain.add_body(DISC, "disc", lbm.MovingWall(lbm.Rotation(1e-3, CENTER)))
    solver = lbm.Solver(domain, lbm.TRT(0.05), layout=layout, device="cpu", **options)
    solver.initialize(velocity=(0.05, 0))
    return solver


@pytest.mark.parametrize("parts", [None, (2, 2), (3, 1)])
@pytest.mark.parametrize("streaming", ["in-place", "two-lattice"])
def test_a_recorder_has_the_forces_of_each_step(parts: tuple[int, ...] | None, streaming: str) -> None:
    """And taking them changes no bit of the flow, whatever the blocks."""
    layout = None if parts is None else lbm.Layout.split((40, 20), parts)
    recorded, asked, alone = (solver_of(layout, streaming=streaming) for _ in range(3))
    forces = recorded.record(lbm.Forces("disc", about=CENTER))
    recorded.step(12)
    alone.step(12)
    for k in range(12):
        asked.step(1)
        np.testing.assert_allclose(forces["force"][k], asked.body_force("disc"), rtol=0, atol=1e-13)
        np.testing.assert_allclose(forces["torque"][k], asked.body_torque("disc", CENTER), rtol=0, atol=1e-12)
    for solver in (recorded, asked):
        np.testing.assert_array_equal(solver.populations(), alone.populations())


def test_a_mask_with_links_is_the_geometry(tmp_path: Path) -> None:
    domain = lbm.Domain((40, 20), "D2Q9")
    mask = DISC.solid((0, 0), (40, 20))
    domain.add_body(mask, "disc", links=DISC.links((0, 0), (40, 20), C))
    other = lbm.Domain((40, 20), "D2Q9")
    other.add_body(DISC, "disc")
    solvers = [lbm.Solver(each, lbm.TRT(0.05), force=(1e-5, 0), device="cpu") for each in (domain, other)]
    for solver in solvers:
        solver.step(20)
    np.testing.assert_array_equal(*(solver.populations() for solver in solvers))
    for each in (copy.deepcopy(domain), pickle.loads(pickle.dumps(domain))):
        assert each.bodies["disc"].scheme == "interpolated"
    solvers[0].save(tmp_path / "state.h5")
    solvers[1].restore(tmp_path / "state.h5")


def wrong_links() -> list[tuple[Any, str]]:
    right = DISC.links((0, 0), (40, 20), C)
    return [
        (right.q, "must be Links"),
        (Links(right.cells, right.directions, right.q[1:]), "shapes"),
        (Links(right.cells + 40, right.directions, right.q), "cells outside of the domain"),
        (Links(right.cells, right.directions + 9, right.q), "directions must be from 1 to 8"),
        (Links(right.cells, right.directions, right.q - 1), "distances must be above 0"),
        (Links(*(np.concatenate([part, part]) for part in right)), "a link given twice"),
        (Links(right.cells * 1.0, right.directions, right.q), "must be integers"),  # type: ignore[arg-type]
    ]


@pytest.mark.parametrize(("links", "text"), wrong_links())
def test_wrong_links_are_refused_by_name(links: Any, text: str) -> None:
    domain = lbm.Domain((40, 20), "D2Q9")
    with pytest.raises((TypeError, ValueError), match=f"links of body 'disc'.*{text}"):
        domain.add_body(DISC.solid((0, 0), (40, 20)), "disc", links=links)


def test_a_geometry_through_a_periodic_face_is_one_body() -> None:
    """With its image behind the face it has the flow of the same elsewhere."""
    fields = []
    for x in (20.3, 38.3):
        domain = lbm.Domain((40, 20), "D2Q9")
        domain.add_body(lbm.Sphere((x, 9.8), 5.23) | lbm.Sphere((x - 40, 9.8), 5.23), "disc")
        solver = lbm.Solver(domain, lbm.TRT(0.05), force=(1e-5, 0), precision="float64", device="cpu")
        solver.step(50)
        fields.append(np.roll(solver.velocity(), -round(x - 20.3), axis=1))
    np.testing.assert_allclose(*fields, rtol=0, atol=1e-13)


def test_a_resting_fluid_stays_at_rest() -> None:
    """At any density, exactly in float64."""
    domain = lbm.Domain((40, 20), "D2Q9")
    domain.add_body(DISC, "disc")
    solver = lbm.Solver(domain, lbm.TRT(0.05), precision="float64", device="cpu")
    solver.initialize(density=1.1)
    solver.step(100)
    assert np.abs(solver.velocity()).max() < 1e-15
    np.testing.assert_allclose(solver.density()[~solver.solid], 1.1, rtol=1e-14)
