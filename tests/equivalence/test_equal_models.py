"""Collisions that must coincide where their rates do."""

from __future__ import annotations

import numpy as np
import pytest
from reference import STENCILS, Collision
from reference.cases import Case, random_fields
from reference.registry import PAIRS, STREAMINGS, by_dimension
from reference.stencils import GROUPS, MATRICES, RATES

SHAPES = by_dimension((13, 8), (9, 6, 5))


def run(name: str, collision: Collision, device: str, streaming: str, seed: int = 5) -> np.ndarray:
    """Populations after 20 steps from a random state under a force that differs from cell to cell."""
    rng = np.random.default_rng(seed)
    shape = SHAPES[name]
    density, velocity = random_fields(rng, shape)
    force = rng.uniform(-1e-3, 1e-3, (len(shape), *shape))
    case = Case(name, shape, collision, force=force, density=density, velocity=velocity)
    solver = case.solver(device=device, streaming=streaming)
    solver.step(20)
    return solver.populations()


@pytest.mark.parametrize("streaming", STREAMINGS)
@pytest.mark.parametrize("name", STENCILS)
@pytest.mark.parametrize("viscosity", [0.004, 0.1])
def test_mrt_with_equal_rates_is_bgk(name, viscosity, streaming, device):
    """With every rate that of the viscosity, MRT is BGK to rounding; with the published ones it is not."""
    bgk = run(name, Collision("bgk", viscosity), device, streaming)
    equal = dict.fromkeys(RATES[name], 1 / (3 * viscosity + 0.5))
    mrt = run(name, Collision("mrt", viscosity, rates=equal), device, streaming)
    np.testing.assert_allclose(mrt, bgk, rtol=0, atol=1e-13)
    assert np.abs(run(name, Collision("mrt", viscosity), device, streaming) - bgk).max() > 1e-6


@pytest.mark.parametrize("streaming", STREAMINGS)
@pytest.mark.parametrize("name", STENCILS)
def test_trt_with_equal_rates_is_bgk(name, streaming, device):
    """Lambda = (tau - 1/2)^2 makes both rates of TRT those of BGK."""
    bgk = run(name, Collision("bgk", 0.05), device, streaming)
    trt = run(name, Collision("trt", 0.05, magic=0.15**2), device, streaming)
    np.testing.assert_allclose(trt, bgk, rtol=0, atol=1e-13)


@pytest.mark.parametrize("name", STENCILS)
def test_trt_is_mrt_with_two_rates(name, device):
    """Even moments at one rate and odd ones at the other: MRT is TRT."""
    viscosity, magic = 0.05, 0.11
    even, odd = 1 / (3 * viscosity + 0.5), 1 / (magic / (3 * viscosity) + 0.5)
    rows = zip(GROUPS[name], MATRICES[name], strict=True)
    odd_groups = {group for group, row in rows if np.allclose(row[STENCILS[name].opposite], -row)}
    rates = {group: odd if group in odd_groups else even for group in RATES[name]}
    trt = run(name, Collision("trt", viscosity, magic=magic), device, "in-place")
    mrt = run(name, Collision("mrt", viscosity, rates=rates), device, "in-place")
    np.testing.assert_allclose(mrt, trt, rtol=0, atol=1e-13)
    rates = {group: even for group in RATES[name] if group not in odd_groups}
    mrt = run(name, Collision("mrt", viscosity, magic=magic, rates=rates), device, "in-place")
    np.testing.assert_allclose(mrt, trt, rtol=0, atol=1e-13)


@pytest.mark.parametrize(("name", "kind"), PAIRS)
def test_smagorinsky_changes_nothing_where_nothing_shears(name, kind, device):
    """A uniform accelerated stream has no stress: the eddy viscosity is zero and the state stays uniform."""
    shape = SHAPES[name]
    velocity = np.ones((len(shape), *shape)) * 0.03
    results = []
    for constant in (0.0, 0.2):
        case = Case(name, shape, Collision(kind, 0.01, smagorinsky=constant), force=[1e-4] * len(shape))
        case.velocity = velocity
        solver = case.solver(device=device)
        solver.step(20)
        results.append(solver.velocity())
    np.testing.assert_allclose(results[1], results[0], rtol=0, atol=1e-13)
    cells = results[1].reshape(len(shape), -1)
    np.testing.assert_allclose(cells, np.broadcast_to(cells[:, :1], cells.shape), rtol=0, atol=1e-13)
    np.testing.assert_allclose(cells[:, 0], 0.03 + 20e-4, rtol=1e-3)
