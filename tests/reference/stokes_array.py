"""Stokes drag of a simple cubic array of spheres, by periodic point forces inside of one of them.

The flow is a sum of Stokeslets of the periodic cell, on a sphere within; their strengths meet the velocity on the
surface in the sense of least squares (method of fundamental solutions). The Stokeslet is H. Hasimoto's (J. Fluid Mech.
5 (1959) 317), whose sum over the lattice is split after Ewald.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import erfc

Floats = NDArray[np.float64]

DECAY = 2.6
"""Of the near part of the splitting, over the cell's side."""
IMAGES, WAVES = 2, 4
"""How far the two sums go along each axis; what is left is 1e-9."""


def periodic_stokeslet(r: Floats) -> Floats:
    """``(N, 3, 3)``: the velocity at `r`, ``(N, 3)``, by a point force of 8 pi in each direction; the viscosity is 1.

    The cell is a unit cube, in which the velocity's mean vanishes: a uniform pressure gradient balances the force.
    """
    found = np.zeros((len(r), 3, 3))
    for image in itertools.product(range(-IMAGES, IMAGES + 1), repeat=3):
        x = r + np.array(image)
        square = (x**2).sum(axis=1)[:, None, None]
        length = np.sqrt(square)
        gauss = DECAY / np.sqrt(np.pi) * np.exp(-(DECAY**2) * square)
        near = 2 * gauss / square + erfc(DECAY * length) / length**3
        found += near * (square * np.eye(3) + x[:, :, None] * x[:, None, :]) - 4 * gauss * np.eye(3)
    for wave in itertools.product(range(-WAVES, WAVES + 1), repeat=3):
        if wave > (0, 0, 0):  # with its opposite, of the same cosine
            k = 2 * np.pi * np.array(wave)
            square_of_k = float(k @ k)
            far = 16 * np.pi * (1 + square_of_k / (4 * DECAY**2)) * np.exp(-square_of_k / (4 * DECAY**2))
            tensor = far / square_of_k**2 * (square_of_k * np.eye(3) - np.outer(k, k))
            found += np.cos(r @ k)[:, None, None] * tensor
    return found


def on_sphere(count: int) -> Floats:
    """Points spread evenly over the unit sphere, along a spiral."""
    z = 1 - (2 * np.arange(count) + 1) / count
    around = np.pi * (3 - np.sqrt(5)) * np.arange(count)
    across = np.sqrt(1 - z**2)
    return np.stack([across * np.cos(around), across * np.sin(around), z], axis=1)


@dataclass(frozen=True)
class Drag:
    """Of a sphere of the array.

    Attributes:
        factor: the drag over 6 pi mu a U, with the superficial velocity U.
        residual: the largest error of the velocity on the surface, over that of the sphere.
    """

    factor: float
    residual: float


def drag_of_array(fraction: float, sources: int = 120, depth: float = 0.55) -> Drag:
    """That for a volume fraction of the spheres, by so many point forces at a depth of the radius."""
    radius = (3 * fraction / (4 * np.pi)) ** (1 / 3)
    inside, surface = depth * radius * on_sphere(sources), radius * on_sphere(3 * sources)
    matrix = _velocities(surface, inside)
    moving = np.tile((1.0, 0.0, 0.0), len(surface))
    strengths, *_ = np.linalg.lstsq(matrix, moving, rcond=1e-13)
    residual = np.abs(matrix @ strengths - moving).max()
    # What passes a face of the cell, which no sphere touches, passes every plane along it.
    at = (np.arange(10) + 0.5) / 10 - 0.5
    face = np.stack([np.full(100, 0.5), *(a.ravel() for a in np.meshgrid(at, at))], axis=1)
    superficial = 1 - (_velocities(face, inside) @ strengths)[::3].mean()
    return Drag(8 * np.pi * strengths[::3].sum() / (6 * np.pi * radius * superficial), float(residual))


def _velocities(points: Floats, sources: Floats) -> Floats:
    """The matrix of the velocities at points, by components, by the forces at sources."""
    pairs = (points[:, None] - sources[None]).reshape(-1, 3)
    tensors = periodic_stokeslet(pairs).reshape(len(points), len(sources), 3, 3)
    return np.asarray(tensors.transpose(0, 2, 1, 3).reshape(3 * len(points), 3 * len(sources)))
