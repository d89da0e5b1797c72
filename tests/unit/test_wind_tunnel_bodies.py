"""Tests of wind tunnels: where bodies are among the cells, and verdicts on the box and on the samples."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import lbmgpu as lbm
from lbmgpu.tunnel import trust

pytestmark = pytest.mark.filterwarnings("ignore:body:lbmgpu.GeometryWarning")
BLOCK = lbm.Box((0, 0, 0), (3, 1.2, 1))


def small(body: Any = BLOCK, **more: Any) -> lbm.WindTunnel:
    given = {"length_phys": 4.0, "speed_phys": 40.0, "cells_across": 8, "blockage": 0.1, "device": "cpu"}
    return lbm.WindTunnel(body, **(given | {"speed": 0.1, "settle": 1.0} | more))


def block_mesh(size: tuple[float, float, float]) -> lbm.Mesh:
    """A block of triangles."""
    corners = np.array([(a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1)]) * size
    faces = np.array([(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)])
    return lbm.Mesh(corners, np.concatenate([faces[:, [0, 1, 2]], faces[:, [0, 2, 3]]]))


@pytest.mark.parametrize("make", [lambda size: lbm.Box((0, 0, 0), size), block_mesh], ids=["box", "mesh"])
@pytest.mark.parametrize("ground", ["fixed", None])
@pytest.mark.parametrize("blockage", [0.1, 0.095, 0.09, 0.085])
def test_a_block_has_its_cells_in_the_middle_of_the_tunnel(make: Any, ground: str | None, blockage: float) -> None:
    """Of 4 and of 5 cells across, whatever the width of the tunnel would be: no face is through centres of cells."""
    for across in (4, 5):
        tunnel = small(make((8.0, across, across)), ground=ground, blockage=blockage)
        domain = tunnel.domain
        solid = domain.solid
        assert np.count_nonzero(solid) == 8 * across**2
        np.testing.assert_array_equal(solid, solid[:, ::-1])
        if ground is None:
            np.testing.assert_array_equal(solid, solid[:, :, ::-1])


@pytest.mark.parametrize("width", [4.0, 4.3, 4.5, 4.7, 5.0, 5.49, 5.5])
def test_the_ends_of_a_body_are_nearer_to_whole_numbers_than_to_centres_of_cells(width: float) -> None:
    for blockage in (0.1, 0.09, 0.08, 0.07):
        tunnel = small(lbm.Box((0, 0, 0), (8, width, width)), ground=None, blockage=blockage)
        low, high = tunnel.setup.bodies["body"].bounds
        for end in (*low[1:], *high[1:]):
            assert abs(end - round(end)) < 0.26


def test_a_verdict_says_that_the_sides_count_most_at_a_low_reynolds_number() -> None:
    """Where the boundary layers are resolved, as those of a sphere, whose drag is a quarter too high at 1."""
    y_plus = {"ball": trust.YPlus(0.1, 0.2, 0.0)}
    verdict = trust.judged(8, 1.0, 1.0, y_plus, speed=0.05, blockage=0.0388)
    assert verdict.resolved
    said = "At a Reynolds number of 1, below 10, the sides of the tunnel and its blockage, here 3.9 %, change the drag"
    assert verdict.reasons[0].startswith(said)
    assert trust.judged(40, 10.0, 10.0, y_plus, speed=0.05).reasons == ()
    tunnel = small(lbm.Sphere((0, 0, 0), 1), ground=None, fluid={"viscosity_phys": 80.0, "density_phys": 1.0})
    tunnel.solver.step(5)
    assert "At a Reynolds number of 2, below 10" in str(tunnel.trust())


def test_a_verdict_names_few_turnovers_of_samples() -> None:
    tunnel = small(reynolds=100)
    tunnel.solver.step(40)
    assert "The samples of the coefficients have none yet" in str(tunnel.trust())
    tunnel.run(4)
    assert "of the coefficients are over 3.5 turnovers, fewer than 5" in str(tunnel.trust())
    tunnel.run(2)
    assert "turnovers" not in str(tunnel.trust())


def test_a_verdict_compares_what_a_surface_adds_up_to_with_the_force_of_the_links() -> None:
    drags = {"car": (1.91, 1.58), "trailer": (1.04, 1.0)}
    verdict = trust.judged(100, 400, 400, {}, drags=drags)
    assert "body 'car' add up to a drag of 1.91, where the fluid loses 1.58 to it" in str(verdict)
    assert "trailer" not in str(verdict)


@pytest.mark.parametrize("means", [False, True])
def test_the_drag_of_a_surface_is_compared_at_the_same_time(means: bool) -> None:
    tunnel = small(cells_across=12, speed=0.05, clearance_phys=1.0, reynolds=100, means=means)
    tunnel.run(2)
    surface, scale = tunnel.surface(), tunnel.setup.speed**2 * tunnel.setup.area / 2
    assert surface is not None
    recorder = tunnel.recorders["body"]
    of_links = recorder["drag"][recorder.steps > round(tunnel.turnover_steps)]  # after the one turnover of `settle`
    ratio = float(surface.force[0]) / scale / float(np.mean(of_links if means else of_links[-2:]))
    assert ("add up to a drag of" in str(tunnel.trust())) == (abs(ratio - 1) > trust.MOST_DIFFERENCE)


def test_a_body_without_thickness_is_named_with_its_axis() -> None:
    flat = lbm.Mesh([(0, 0, 1), (4, 0, 1), (0, 4, 1)], [(0, 1, 2)], sheet=True)
    with pytest.raises(lbm.GeometryError, match="is flat along z, must have a thickness there"):
        small(flat)
