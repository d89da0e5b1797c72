"""Fields in a GPU's memory, handed to other libraries and taken from them without a copy over the bus."""

from __future__ import annotations

import numpy as np
import pytest
from packages import need_torch

import lbmgpu as lbm
from lbmgpu.engine import foreign_arrays

FIELDS = ["density", "velocity", "populations"]


def moving_box(device: str, precision: str) -> lbm.Solver:
    domain = lbm.Domain((13, 7, 5))
    domain.faces["-z"], domain.faces["+z"] = lbm.NoSlip(), lbm.MovingWall((0.05, 0.02, 0))
    solver = lbm.Solver(domain, lbm.TRT(0.05), precision=precision, device=device)
    solver.step(9)
    return solver


def test_a_cpu_has_none() -> None:
    solver = moving_box("cpu", "float32")
    with pytest.raises(ValueError, match=r"solver\.density\(\)"):
        solver.device_array("density")
    with pytest.raises(ValueError, match="must be one of 'density', 'velocity', 'populations'"):
        solver.device_array("pressure")


@pytest.mark.gpu
@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("field", FIELDS)
def test_the_array_is_the_field(field: str, precision: str, gpu: str) -> None:
    """Shape, type and values, through both interfaces, and later steps do not change it."""
    solver = moving_box(gpu, precision)
    expected = getattr(solver, field)()
    array = solver.device_array(field)
    solver.step(3)
    assert array.shape == expected.shape
    interface = array.__cuda_array_interface__
    assert interface["shape"] == expected.shape
    assert interface["typestr"] == ("<f4" if precision == "float32" else "<f8")
    assert interface["strides"] == expected.strides
    assert array.__dlpack_device__() == (2, 0)
    torch = need_torch()
    for tensor in (torch.from_dlpack(array), torch.as_tensor(array, device="cuda")):
        np.testing.assert_array_equal(tensor.cpu().numpy(), expected)


@pytest.mark.gpu
def test_a_state_of_moments_has_an_array_of_all_populations(gpu: str) -> None:
    solver = lbm.Solver(lbm.Domain((13, 7, 5)), lbm.Regularized(0.05), state="moments", device=gpu)
    assert solver.device_array("populations").shape == solver.populations().shape


@pytest.mark.gpu
@pytest.mark.parametrize("precision", ["float32", "float64"])
def test_tensors_are_taken_where_they_are(precision: str, gpu: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of any strides and either type, which another stream is still computing, and one that is differentiated."""
    torch = need_torch()
    monkeypatch.setattr(foreign_arrays.GpuArray, "on_host", lambda given: pytest.fail(f"{given.name} was copied"))
    with torch.cuda.stream(torch.cuda.Stream()):
        slow = torch.ones((4096, 4096), device="cuda")
        for _ in range(20):
            slow = slow @ slow / 4096
        velocity = (0.05 * torch.rand((5, 7, 13, 3), device="cuda") * slow[0, 0]).permute(3, 2, 1, 0)
        density = (1 + 0.1 * torch.rand((13, 7, 10), device="cuda", dtype=torch.float64) * slow[1, 1])[..., ::2]
        force = (1e-4 * torch.rand((3, 13, 7, 5), device="cuda") * slow[2, 2]).requires_grad_()
        taking, expected = moving_box(gpu, precision), moving_box(gpu, precision)
        taking.initialize(density, velocity)
        taking.force = force
    expected.initialize(density.cpu().numpy(), velocity.cpu().numpy())
    expected.force = force.detach().cpu().numpy()
    np.testing.assert_array_equal(taking.populations(), expected.populations())
    np.testing.assert_array_equal(taking.force, expected.force)
    for solver in (taking, expected):
        solver.step(3)
    np.testing.assert_array_equal(taking.populations(), expected.populations())
