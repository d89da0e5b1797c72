"""The drag of arrays of cylinders, against a published table."""

from __future__ import annotations

import pytest

from reference.stokes_cylinders import drag_of_square_array


@pytest.mark.parametrize(
    ("fraction", "published"), [(0.05, 15.56), (0.1, 24.83), (0.2, 51.53), (0.3, 102.90), (0.4, 217.89)]
)
def test_arrays_of_cylinders_have_the_published_drag(fraction: float, published: float) -> None:
    """A. S. Sangani & A. Acrivos, Int. J. Multiphase Flow 8 (1982) 193."""
    found = drag_of_square_array(fraction)
    assert found == pytest.approx(published, rel=5e-4)
    assert drag_of_square_array(fraction, modes=16) == pytest.approx(found, rel=1e-4)
