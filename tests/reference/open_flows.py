"""Sound that leaves a box through a face, for tests and measurements of open faces: density and velocity by cell."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
CS = 3**-0.5
STREAM = 0.1
AMPLITUDE = 1e-3


def pulse(x: Array, y: Array) -> tuple[Array, Array, Array]:
    """A plane pulse of sound 10 cells wide that leaves through +x."""
    shape = AMPLITUDE * np.exp(-((x - 80) ** 2) / 200)
    return 1 + shape, STREAM + CS * shape, 0 * x


def oblique_packet(x: Array, y: Array) -> tuple[Array, Array, Array]:
    """A packet of plane waves of a length of 40 cells at 45 degrees, in a box 57 cells high."""
    shape = AMPLITUDE * np.exp(-((x - 80) ** 2) / 2 / 25**2) * np.cos(2 * np.pi / 57 * (x + y))
    return 1 + shape, STREAM + CS * shape / 2**0.5, CS * shape / 2**0.5
