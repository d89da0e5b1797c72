"""Uniform values give the bits of fields that have them in every cell, and layers on a GPU those of whole fields."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import lbmgpu as lbm

SHAPE = (33, 26, 19)


def solver(shape: tuple[int, ...] = SHAPE, device: str = "cpu", thermal: bool = False) -> lbm.Solver:
    domain = lbm.Domain(shape, "D2Q9" if len(shape) == 2 else "D3Q19")
    domain.faces["-x"] = lbm.VelocityInlet((0.02, *[0.0] * (len(shape) - 1)))
    domain.faces["+x"] = lbm.Outflow()
    domain.add_body(lambda x, y, *z: (x - 9) ** 2 + (y - 9) ** 2 < 9, "post")
    return lbm.Solver(domain, lbm.MRT(0.03), device=device, thermal=lbm.HybridThermal(0.05) if thermal else None)


@pytest.mark.parametrize("density", [1.0, 1.1, 0.97, 1 / 3, 0.001, 999.9, 1.5, 1 + 2**-40])
@pytest.mark.parametrize("nonequilibrium", [False, True])
def test_uniform_values_have_the_bits_of_fields(density: float, nonequilibrium: bool, device: str) -> None:
    one, other = solver(device=device, thermal=True), solver(device=device, thermal=True)
    vector = (0.01, -0.02, 0.003)
    fields: dict[str, Any] = {"density": np.full(SHAPE, density), "temperature": np.full(SHAPE, 0.3)}
    fields["velocity"] = np.stack([np.full(SHAPE, component) for component in vector])
    one.initialize(density, vector, nonequilibrium, 0.3)
    other.initialize(nonequilibrium=nonequilibrium, **fields)
    reference = one._simulation.engine.reference_density
    assert reference == other._simulation.engine.reference_density
    in_order = np.add.accumulate(np.full(one._simulation.fluid_cells, density))[-1]
    assert reference == in_order / one._simulation.fluid_cells
    for made in (one, other):
        made.step(3 if density < 2 else 0)  # an inlet of a fluid as dense as that diverges
    assert np.array_equal(one.populations(), other.populations(), equal_nan=True)
    assert np.array_equal(one.temperature(), other.temperature(), equal_nan=True)


@pytest.mark.gpu
@pytest.mark.parametrize("shape", [(224, 200, 180), (4096, 2048)])
def test_layers_that_a_gpu_is_given_have_the_bits_of_the_whole(shape: tuple[int, ...], gpu: str) -> None:
    random = np.random.default_rng(2)
    density = 1 + 0.01 * random.standard_normal(shape)
    velocity = 0.01 * random.standard_normal((len(shape), *shape))
    found = []
    for device in (gpu, "cpu"):
        made = solver(shape, device)
        made.initialize(density, velocity)
        found.append(made.populations())
    assert np.array_equal(*found)
