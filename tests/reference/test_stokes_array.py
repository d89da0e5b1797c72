"""The drag of arrays of spheres, against series and a published table."""

from __future__ import annotations

import numpy as np
import pytest

from reference.stokes_array import drag_of_array, periodic_stokeslet


@pytest.mark.parametrize("fraction", [0.001, 0.008])
def test_dilute_arrays_have_the_drag_of_hasimotos_series(fraction: float) -> None:
    """1 / (1 - 1.7601 c^(1/3) + c - 1.5593 c^2), H. Hasimoto (1959)."""
    series = 1 / (1 - 1.7601 * fraction ** (1 / 3) + fraction - 1.5593 * fraction**2)
    assert drag_of_array(fraction, sources=80).factor == pytest.approx(series, rel=3e-4)


@pytest.mark.parametrize(("fraction", "published"), [(0.027, 2.008), (0.064, 2.81), (0.125, 4.292), (0.216, 7.442)])
def test_dense_arrays_have_the_published_drag(fraction: float, published: float) -> None:
    """A. A. Zick & G. M. Homsy, J. Fluid Mech. 115 (1982) 13, table 2, which has four digits."""
    found = drag_of_array(fraction)
    assert found.factor == pytest.approx(published, rel=5e-4)
    assert found.residual < 0.03


def test_a_stokeslet_is_that_of_open_space_and_a_constant_nearby() -> None:
    """Hasimoto's constant is 2.837297 for a unit force, over 6 pi mu; here forces are 8 pi."""
    r = 1e-3 * np.array([[1.0, 0.0, 0.0], [0.0, 0.6, 0.8]])
    length = np.sqrt((r**2).sum(axis=1))[:, None, None]
    open_space = np.eye(3) / length + r[:, :, None] * r[:, None, :] / length**3
    assert np.allclose(periodic_stokeslet(r) - open_space, -2.837297 * 4 / 3 * np.eye(3), atol=1e-4)
