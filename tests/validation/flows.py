"""Exact flows, and what the validation tests share to set them up and measure them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import lbmgpu as lbm
from lbmgpu.collision_table import BY_KIND

Array = NDArray[np.float64]
AXES = "xyz"


def collision(kind: str, viscosity: float, **more: Any) -> Any:
    """A collision by name."""
    return BY_KIND[kind](viscosity, **more)


def centres(shape: Sequence[int]) -> list[Array]:
    """Coordinates of the cell centres, in cells from the low faces, arrays of `shape`."""
    return list(np.meshgrid(*(np.arange(n) + 0.5 for n in shape), indexing="ij"))


def taylor_green(n: int, speed: float) -> tuple[Array, Array]:
    """Density and velocity of the Taylor-Green vortices in an n x n box; the velocity decays as exp(-2 nu k^2 t)."""
    k = 2 * np.pi / n
    x, y = centres((n, n))
    velocity = speed * np.array([-np.cos(k * x) * np.sin(k * y), np.sin(k * x) * np.cos(k * y)])
    return 1 - 0.75 * speed**2 * (np.cos(2 * k * x) + np.cos(2 * k * y)), velocity


def beltrami(n: int, speed: float) -> tuple[Array, Array]:
    """Density and velocity of the Arnold-Beltrami-Childress flow; the velocity decays as exp(-nu k^2 t).

    Its vorticity is k times its velocity, so that the pressure alone balances the advection: p + rho u^2/2 is uniform.
    """
    k = 2 * np.pi / n
    x, y, z = (k * a for a in centres((n, n, n)))
    a, b, c = 1.0, 0.8, 0.6
    velocity = np.array(
        [
            a * np.sin(z) + c * np.cos(y),
            b * np.sin(x) + a * np.cos(z),
            c * np.sin(y) + b * np.cos(x),
        ]
    )
    velocity *= speed / np.sqrt((velocity**2).sum(axis=0)).max()
    energy = (velocity**2).sum(axis=0)
    return 1 - 1.5 * (energy - energy.mean()), velocity


def channel(
    stencil: str, cells: int, axis: int = 1, length: int = 1, low: Any = None, high: Any = None
) -> tuple[lbm.Domain, int]:
    """A domain between two walls normal to `axis`, one cell or `length` along the flow; also the flow's axis."""
    dimensions = int(stencil[1])
    shape = [1] * dimensions
    shape[axis] = cells
    along = (axis + 1) % dimensions
    shape[along] = length
    domain = lbm.Domain(tuple(shape), stencil=stencil)
    domain.faces["-" + AXES[axis]] = low or lbm.NoSlip()
    domain.faces["+" + AXES[axis]] = high or lbm.NoSlip()
    return domain, along


def unit(dimensions: int, axis: int, value: float) -> Array:
    """A vector along one axis."""
    vector = np.zeros(dimensions)
    vector[axis] = value
    return vector


def profile(solver: lbm.Solver, axis: int, along: int) -> Array:
    """The velocity along `along` as a function of `axis`, that of the first cells in the other directions."""
    field = np.moveaxis(np.asarray(solver.velocity()[along], float), axis, 0)
    return field.reshape(field.shape[0], -1)[:, 0]


def parabola(n: int, peak: float) -> Array:
    """Poiseuille's profile at the cell centres between walls n cells apart."""
    y = np.arange(n) + 0.5
    return 4 * peak * y * (n - y) / n**2


def duct(y: Array, z: Array, a: float, b: float, terms: int = 200) -> Array:
    """Velocity over G/mu in a duct a x b, 0 <= y <= a and -b/2 <= z <= b/2, by its Fourier series."""
    total = np.zeros(np.broadcast(y, z).shape)
    for n in range(1, 2 * terms, 2):
        k = n * np.pi / a
        # cosh(kz)/cosh(kb/2) without overflow
        ratio = (np.exp(k * (np.abs(z) - b / 2)) + np.exp(-k * (np.abs(z) + b / 2))) / (1 + np.exp(-k * b))
        total += (1 - ratio) * np.sin(k * y) / n**3
    return 4 * a**2 / np.pi**3 * total


def relative_l2(field: Array, exact: Array) -> float:
    """L2 norm of the error over that of the exact field."""
    return float(np.sqrt(((field - exact) ** 2).sum() / (exact**2).sum()))


def order(errors: Sequence[float], sizes: Sequence[int]) -> float:
    """Order of convergence by a straight line through log error against log size."""
    return float(-np.polyfit(np.log(sizes), np.log(errors), 1)[0])


def disc(shape: Sequence[int], center: Sequence[float], radius: float) -> NDArray[np.bool_]:
    """Cells whose centres are less than `radius` from `center`: a disc or a ball."""
    distance2 = sum((a - c) ** 2 for a, c in zip(centres(shape), center, strict=True))
    return np.asarray(distance2 < radius**2)


def table(path: Path) -> tuple[Array, Array]:
    """First and `spectral_here` column of a table of the cavity."""
    rows = [line.split(",") for line in path.read_text().splitlines() if not line.startswith("#")]
    values = np.array([[float(row[0]), float(row[2])] for row in rows[1:]])
    return values[:, 0], values[:, 1]
