"""The doubly periodic shear layer of Minion & Brown, J. Comput. Phys. 138 (1997) 734, on too few cells for its layers.

The reference is a Fourier solution on 1024 points a side (docs/spectral_flows.py): kinetic energy at the times 0, 1 and
2, and at 1 and 2 the vorticity without wave numbers above a third of its 64 points a side.
"""

from __future__ import annotations

from functools import cache, partial
from pathlib import Path

import numpy as np
import pytest

import lbmgpu as lbm
from validation.flows import Array, centres

CELLS, SPEED = 128, 0.04
COLLISIONS = {
    "recursive": ("D2Q9", lbm.RecursiveRegularized),
    "central": ("D2Q9", lbm.CentralMoments),
    "central-d3q27": ("D3Q27", lbm.CentralMoments),
    "central-least-rate": ("D2Q9", partial(lbm.CentralMoments, least_odd_rate=0.6)),
    "cumulant": ("D3Q27", partial(lbm.Cumulant, parametrized=False)),
    "cumulant-limited": ("D3Q27", partial(lbm.Cumulant, limiter=1e-4)),
    "cumulant-default": ("D3Q27", lbm.Cumulant),
}


@cache
def reference() -> dict[str, Array]:
    with np.load(Path(__file__).parents[1] / "data" / "shear_layer.npz") as data:
        return {name: data[name].astype(float) for name in data.files}


def derivative(field: Array, axis: int) -> Array:
    """That of a field on the unit square, by Fourier transforms."""
    n = field.shape[axis]
    k = 2j * np.pi * np.fft.fftfreq(n, 1 / n)
    return np.asarray(np.fft.ifft2((k[:, None] if axis == 0 else k[None, :]) * np.fft.fft2(field)).real)


def initial() -> tuple[Array, Array]:
    """Velocity, and the pressure that belongs to it: its Laplacian is -(d_a u_b)(d_b u_a)."""
    x, y = (a / CELLS for a in centres((CELLS, CELLS)))
    u = np.where(y <= 0.5, np.tanh(80 * (y - 0.25)), np.tanh(80 * (0.75 - y)))
    v = 0.05 * np.sin(2 * np.pi * (x + 0.25))
    source = derivative(u, 0) ** 2 + 2 * derivative(u, 1) * derivative(v, 0) + derivative(v, 1) ** 2
    k = 2 * np.pi * np.fft.fftfreq(CELLS, 1 / CELLS)
    k2 = k[:, None] ** 2 + k[None, :] ** 2
    k2[0, 0] = 1
    pressure = np.fft.ifft2(np.fft.fft2(source) / k2).real
    return np.array([u, v]), pressure - pressure.mean()


def low_passed(vorticity: Array, points: int) -> Array:
    """The vorticity of cell centres on `points` a side from 0 on, without wave numbers above a third of them."""
    n, most = len(vorticity), points // 3
    k = np.fft.fftfreq(n, 1 / n)
    shift = np.exp(-1j * np.pi * k / n)  # the first centre is half a cell from 0
    modes = np.fft.fft2(vorticity) * shift[:, None] * shift[None, :]
    small = np.zeros((points, points), complex)
    kept = np.r_[0 : most + 1, -most:0]
    small[np.ix_(kept, kept)] = modes[np.ix_(kept, kept)]
    return np.asarray(np.fft.ifft2(small).real) * (points / n) ** 2


def vortices(vorticity: Array) -> int:
    """The number of extrema of at least 60 % of the largest."""
    size = np.abs(vorticity)
    beside = [np.roll(size, shift, (0, 1)) for shift in np.ndindex(3, 3) if shift != (1, 1)]
    beside = [np.roll(each, (-1, -1), (0, 1)) for each in beside]
    return int(((size > np.max(beside, axis=0)) & (size > 0.6 * size.max())).sum())


@pytest.mark.slow
@pytest.mark.parametrize("reynolds", [30_000, 100_000])
@pytest.mark.parametrize("name", COLLISIONS)
def test_shear_layer(name, reynolds):
    """At the times 1 and 2 the energy is within 0.5 % of the reference, and the vortices are those of the reference.

    The cumulant collision at its defaults dissipates least, and makes vortices of its own in layers of 1.6 cells.
    """
    stencil, collision = COLLISIONS[name]
    plane, pressure = initial()
    flat = int(stencil[1]) - 2
    shape = (CELLS, CELLS) + (1,) * flat
    velocity = np.zeros((2 + flat, *shape))
    velocity[:2] = SPEED * plane.reshape(2, *shape)
    domain = lbm.Domain(shape, stencil)
    solver = lbm.Solver(domain, collision(SPEED * CELLS / reynolds), precision="float64", device="cpu")
    density = 1 + 3 * SPEED**2 * pressure.reshape(shape)
    solver.initialize(density=density, velocity=velocity, nonequilibrium=True)
    for time in (1, 2):
        solver.step(round(time * CELLS / SPEED) - solver.steps)
        u, v = solver.velocity()[:2].reshape(2, CELLS, CELLS) / SPEED
        energy = (u**2 + v**2).mean() / 2
        assert energy == pytest.approx(reference()[f"energy_{reynolds}"][time], rel=5e-3)
        exact = reference()[f"vorticity_{reynolds}"][time - 1]
        found = low_passed(derivative(v, 0) - derivative(u, 1), len(exact))
        alike = np.corrcoef(found.ravel(), exact.ravel())[0, 1]
        if name == "cumulant-default":
            assert alike > 0.7
        else:
            assert alike > (0.95 if reynolds == 30_000 else 0.89)
            assert vortices(found) == 2 or (time == 2 and reynolds == 100_000)  # whose reference has 4 by this measure
