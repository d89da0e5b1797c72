"""Tests of initial states: from a flow on another grid, and from arrays of other libraries."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from packages import need_torch

import lbmgpu as lbm

from . import support


def vortices(n: int, **more: Any) -> lbm.Solver:
    k = 2 * np.pi / n
    solver = lbm.Solver(lbm.Domain((n, n), "D2Q9"), lbm.BGK(0.05), precision="float64", device="cpu", **more)
    solver.initialize(
        density=lambda x, y: 1 + 1e-3 * np.cos(k * x),
        velocity=lambda x, y: (0.02 * np.cos(k * x) * np.sin(k * y), -0.02 * np.sin(k * x) * np.cos(k * y)),
    )
    return solver


def test_a_flow_on_another_grid_is_interpolated_to_second_order(tmp_path: Path) -> None:
    errors = []
    for n in (16, 32):
        coarse, exact = vortices(n), vortices(2 * n)
        fine = vortices(2 * n)
        fine.step(7)
        fine.initialize(like=coarse)
        assert fine.steps == 0
        errors.append(np.abs(fine.velocity() - exact.velocity()).max())
        np.testing.assert_allclose(fine.density(), exact.density(), atol=1e-4)
    assert 3.4 < errors[0] / errors[1] < 4.6
    path = coarse.save(tmp_path / "coarse.h5")
    other = vortices(64)
    other.initialize(like=path)
    np.testing.assert_array_equal(other.velocity(), fine.velocity())
    np.testing.assert_array_equal(other.populations(), fine.populations())
    other.initialize(like=str(path), nonequilibrium=False)
    assert np.abs(other.populations() - fine.populations()).max() > 1e-9


def test_linear_fields_stay_exact_up_to_the_walls_and_given_ones_come_first() -> None:
    def couette(shape: tuple[int, ...]) -> lbm.Solver:
        domain = support.cavity(shape, "D3Q19")
        solver = lbm.Solver(domain, lbm.BGK(0.05), precision="float64", device="cpu")
        height = shape[2]
        solver.initialize(velocity=lambda x, y, z: (0.05 * z / height, 0 * z, 0 * z))
        return solver

    coarse, fine = couette((5, 4, 6)), couette((10, 8, 13))
    expected = fine.velocity()
    fine.initialize(like=coarse, density=1.01)
    np.testing.assert_allclose(fine.velocity(), expected, atol=1e-12)
    np.testing.assert_allclose(fine.density(), 1.01)


def test_solid_cells_of_the_coarse_grid_do_not_count() -> None:
    solvers = []
    for n in (1, 2):
        domain = lbm.Domain((10 * n, 8 * n), "D2Q9")
        domain.add_body(np.repeat(np.repeat(support.cube((10, 8), 3, 5), n, 0), n, 1), "body")
        solver = lbm.Solver(
            domain, lbm.BGK(0.1), device="cpu", precision="float64", thermal=lbm.HybridThermal(0.1, reference=300.0)
        )
        solver.initialize(density=1.02, temperature=310.0)
        solvers.append(solver)
    coarse, fine = solvers
    fine.initialize(like=coarse)
    fluid = ~fine.solid
    np.testing.assert_allclose(fine.density()[fluid], 1.02, rtol=1e-12)
    np.testing.assert_allclose(fine.temperature()[fluid], 310.0, rtol=1e-12)


def test_wrong_sources_are_refused(tmp_path: Path) -> None:
    solver = vortices(8)
    flow = lbm.Solver(lbm.Domain((4, 4, 4)), lbm.BGK(0.1), device="cpu")
    with pytest.raises(ValueError, match="like: a flow in 3 dimensions given, must have 2"):
        solver.initialize(like=flow)
    with pytest.raises(TypeError, match="like: 3 given, must be the path of a checkpoint, or a Solver"):
        solver.initialize(like=3)  # type: ignore[arg-type]
    with pytest.raises(FileNotFoundError):
        solver.initialize(like=tmp_path / "none.h5")


@pytest.mark.parametrize(
    ("coarse", "fine", "right"),
    [
        ((8, 80), (16, 16), False),
        ((8, 8), (16, 20), False),
        ((8, 4), (33, 17), True),
        ((33, 17), (8, 4), True),
        ((8, 1), (16, 1), True),
        ((8, 4), (16, 1), False),
        ((7, 3), (7, 3), True),
    ],
)
def test_boxes_of_other_proportions_are_refused(coarse: Any, fine: Any, right: bool) -> None:
    source, solver = (lbm.Solver(lbm.Domain(shape, "D2Q9"), lbm.BGK(0.1), device="cpu") for shape in (coarse, fine))
    if right:
        solver.initialize(like=source)
        return
    with pytest.raises(ValueError, match=r"like: a flow in .* cells given for .*, must have the same ratio"):
        solver.initialize(like=source)


class OnHost:
    """An array in host memory that only DLPack knows."""

    def __init__(self, array: Any) -> None:
        self.array, self.asked = array, 0

    def __dlpack__(self, **options: Any) -> Any:
        self.asked += 1
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0


class OnGPU:
    """An array in the memory of a GPU, as CuPy has it."""

    __cuda_array_interface__: ClassVar[Any] = {"version": 3}

    def __init__(self, array: Any) -> None:
        self.array, self.copies = array, 0

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError("implicit conversion to a NumPy array is not allowed")

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 0

    def get(self) -> Any:
        self.copies += 1
        return self.array


class Unreachable:
    __cuda_array_interface__: ClassVar[Any] = {"version": 3}

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError("implicit conversion to a NumPy array is not allowed")


def test_arrays_of_other_libraries_are_taken() -> None:
    shape = (6, 5)
    values = np.random.default_rng(1)
    velocity, density = values.uniform(-0.02, 0.02, (2, *shape)), values.uniform(0.99, 1.01, shape)
    force = values.uniform(-1e-5, 1e-5, (2, *shape))
    states = []
    for kind in (np.asarray, OnHost, OnGPU):
        given = kind(force)
        solver = lbm.Solver(lbm.Domain(shape, "D2Q9"), lbm.BGK(0.05), force=given, precision="float64", device="cpu")
        solver.initialize(density=kind(density), velocity=kind(velocity))
        solver.step(3)
        solver.force = kind(2 * force)
        solver.step(3)
        states.append(solver.populations())
        assert getattr(given, "asked", 1) == getattr(given, "copies", 1) == 1
    np.testing.assert_array_equal(states[0], states[1])
    np.testing.assert_array_equal(states[0], states[2])


def test_what_cannot_be_copied_is_refused_by_name() -> None:
    solver = vortices(4)
    with pytest.raises(ValueError, match=r"velocity: .*Unreachable.* given, must be an array in host memory"):
        solver.initialize(velocity=Unreachable())  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="force: "):
        solver.force = Unreachable()
    with pytest.raises(ValueError, match=r"density: shape \(3,\) given"):
        solver.initialize(density=OnGPU(np.ones(3)))  # type: ignore[arg-type]


def test_tensors_of_pytorch_are_taken() -> None:
    torch = need_torch()
    solver = vortices(4)
    tensor = torch.full((2, 4, 4), 0.01, dtype=torch.float64, requires_grad=True)
    solver.initialize(velocity=tensor)  # type: ignore[arg-type]
    np.testing.assert_allclose(solver.velocity(), 0.01, rtol=1e-12)
