"""Fields in a GPU's memory, handed to other libraries without a copy over the bus."""

from __future__ import annotations

import numpy as np
import pytest
from packages import need_torch

import lbmgpu as lbm

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
