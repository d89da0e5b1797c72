"""Open faces of the recommended kinds hold and do not ring: noise in streams, channels, echoes and a vortex.

The flows are those of docs/measure_open_faces.py, which measures what docs/boundaries.md says.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from docs_scripts import load

import lbmgpu as lbm

faces = load("measure_open_faces")
SPONGE = (8, 0.3)
COLLISIONS = [
    ("D2Q9", lbm.RecursiveRegularized),
    ("D2Q9", lbm.CentralMoments),
    *[(name, c) for name in ("D3Q19", "D3Q27") for c in (lbm.RecursiveRegularized, lbm.CentralMoments)],
    ("D3Q27", lbm.Cumulant),
]
PAIRS = [("regularized", "characteristic"), ("regularized", "outflow"), ("characteristic", "characteristic")]


@pytest.mark.parametrize("speed", [0.05, 0.1])
@pytest.mark.parametrize(("inlet", "outlet"), PAIRS)
@pytest.mark.parametrize("collision", [lbm.RecursiveRegularized, lbm.CentralMoments])
def test_a_noisy_stream_between_sponges_calms_down(collision: Any, inlet: str, outlet: str, speed: float) -> None:
    first, last = faces.noise_left(collision(1e-4), "D2Q9", speed, inlet, outlet, SPONGE, passages=10)
    assert last < min(first, 1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("speed", [0.05, 0.1])
@pytest.mark.parametrize(("inlet", "outlet"), PAIRS)
@pytest.mark.parametrize(("stencil", "collision"), COLLISIONS[2:])
def test_a_noisy_stream_in_three_dimensions_calms_down(
    stencil: str, collision: Any, inlet: str, outlet: str, speed: float
) -> None:
    first, last = faces.noise_left(collision(1e-4), stencil, speed, inlet, outlet, SPONGE, passages=10)
    assert last < min(first, 1e-4)


@pytest.mark.parametrize(("stencil", "collision"), COLLISIONS[2:])
def test_a_noisy_stream_in_a_short_box_calms_down(stencil: str, collision: Any) -> None:
    arguments = (collision(1e-4), stencil, 0.1, "regularized", "characteristic", SPONGE)
    first, last = faces.noise_left(*arguments, passages=4, shape=(24, 6, 6))
    assert last < min(first, 1e-4)


@pytest.mark.parametrize("inlet", ["regularized", "characteristic"])
@pytest.mark.parametrize(("stencil", "collision"), COLLISIONS)
def test_a_noisy_stream_in_a_small_box_needs_no_sponge(stencil: str, collision: Any, inlet: str) -> None:
    shape = (40, 16) if stencil == "D2Q9" else (16, 6, 6)
    first, last = faces.noise_left(collision(1e-4), stencil, 0.1, inlet, "characteristic", None, shape=shape)
    assert last < min(first, 1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("speed", [0.05, 0.1])
@pytest.mark.parametrize("inlet", ["regularized", "characteristic"])
@pytest.mark.parametrize(("stencil", "collision"), COLLISIONS)
def test_a_noisy_stream_needs_no_sponge(stencil: str, collision: Any, inlet: str, speed: float) -> None:
    first, last = faces.noise_left(collision(1e-4), stencil, speed, inlet, "characteristic", None)
    assert last < min(first, 1e-4)


@pytest.mark.parametrize("outlet", ["outflow", "local outflow"])
def test_recursive_regularized_needs_no_sponge_before_an_outflow(outlet: str) -> None:
    _, last = faces.noise_left(lbm.RecursiveRegularized(1e-4), "D2Q9", 0.1, "regularized", outlet, None)
    assert last < 1e-4


@pytest.mark.parametrize("outlet", ["characteristic", "outflow", "local outflow"])
@pytest.mark.parametrize("viscosity", [7e-3, 1e-3])
@pytest.mark.parametrize("collision", [lbm.RecursiveRegularized, lbm.CentralMoments])
def test_a_channel_holds_its_parabola(collision: Any, viscosity: float, outlet: str) -> None:
    off, _ = faces.channel(collision(viscosity), "regularized", outlet, (10, 0.3), steps=10000)
    assert off < 0.05


@pytest.mark.slow
@pytest.mark.parametrize("outlet", ["characteristic", "outflow"])
def test_the_mass_of_a_channel_settles(outlet: str) -> None:
    off, change = faces.channel(lbm.RecursiveRegularized(7e-3), "regularized", outlet, (10, 0.3), steps=40000)
    assert off < 0.05
    assert change < (3e-8 if outlet == "characteristic" else 1e-9)  # whose relaxation takes 2000 steps


def test_a_sponge_damps_sound_before_an_outlet() -> None:
    back = faces.echo(faces.pulse, 160, 4, 400, "characteristic", sponge=(60, 0.5), pull=0.02)
    assert back < 0.005 * faces.AMPLITUDE


@pytest.mark.slow
@pytest.mark.parametrize(("sponge", "most"), [(None, 0.04), ((40, 0.5), 0.01), ((60, 0.5), 0.005)])
def test_a_vortex_leaves_with_and_without_a_sponge(sponge: Any, most: float) -> None:
    back = faces.echo(faces.vortex, 110, 80, 900, "characteristic", sponge=sponge, longer=(300, 500))
    assert back < most * faces.DIP


def test_a_dead_flow_is_told() -> None:
    assert np.isnan(faces.noise_left(lbm.CentralMoments(1e-4), "D2Q9", 0.1, "bounce-back", "anti-bounce-back", None)[1])
