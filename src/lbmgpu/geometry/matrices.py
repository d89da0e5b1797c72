"""Products of small matrices and vectors, summed in one order on all machines."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def apply(matrix: Floats, vector: Floats) -> Floats:
    """The product of a matrix and a vector."""
    return np.array([math.fsum(row * vector) for row in matrix])


def product(a: Floats, b: Floats) -> Floats:
    """The product of two matrices."""
    return np.stack([apply(a, column) for column in b.T], axis=1)
