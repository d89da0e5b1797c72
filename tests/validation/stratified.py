"""Linear theory of a stratified viscous layer between rigid plates: growth rates, modes, and how they grow in time.

The Boussinesq equations of a disturbance w(y), b(y) ~ exp(st + ikx) of the vertical velocity and the buoyancy g T'/T0,
Chandrasekhar, Hydrodynamic and Hydromagnetic Stability (1961), chapters II and X:

    s (D^2 - k^2) w = nu (D^2 - k^2)^2 w - k^2 b
    s b = alpha (D^2 - k^2) b - g/T0 (dT/dy + g/c_p) w

with w = Dw = 0 at the plates. A gas differs from a liquid by the adiabatic gradient g/c_p, as far as the layer is thin
and the differences of temperature are small: Spiegel & Veronis, Astrophys. J. 131 (1960) 442.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import expm

Array = NDArray[np.float64]
HEAT_CAPACITY = 2.0
"""At constant pressure, of D2Q37: D/2 + 1."""


@dataclass(frozen=True)
class Layer:
    """`n` cells between plates, which are isothermal or adiabatic; a wave of wavenumber `k` along them."""

    n: int
    k: float
    viscosity: float
    diffusivity: float
    gravity: float
    mean_temperature: float
    isothermal: bool = False

    def evolution(self, gradient: Array) -> Array:
        """The matrix A of dz/dt = A z for z = (w at the n - 1 inner cell borders, b at all n + 1 of them).

        `gradient` is dT/dy of the layer at the n + 1 borders; differences of second order.
        """
        n, k2 = self.n, self.k**2
        inner = n - 1
        second = np.diag(np.full(inner, -2.0)) + np.eye(inner, k=1) + np.eye(inner, k=-1)
        fourth = 6 * np.eye(inner) - 4 * (np.eye(inner, k=1) + np.eye(inner, k=-1))
        fourth += np.eye(inner, k=2) + np.eye(inner, k=-2)
        fourth[0, 0] = fourth[-1, -1] = 7  # what is beyond the plate is as before it: no slope at the plate
        laplacian = second - k2 * np.eye(inner)
        bilaplacian = fourth - 2 * k2 * second + k2**2 * np.eye(inner)
        heat = np.diag(np.full(n + 1, -2.0 - k2)) + np.eye(n + 1, k=1) + np.eye(n + 1, k=-1)
        if self.isothermal:
            heat[0] = heat[-1] = 0  # b stays 0 at the plates, where only what is not wanted may decay
            heat[0, 0] = heat[-1, -1] = -1
        else:
            heat[0, 1] = heat[-1, -2] = 2
        stratification = self.gravity / self.mean_temperature * (gradient + self.gravity / HEAT_CAPACITY)
        within = np.zeros((inner, n + 1))
        within[:, 1:-1] = np.eye(inner)
        flow = np.linalg.solve(laplacian, np.hstack([self.viscosity * bilaplacian, -k2 * within]))
        return np.vstack([flow, np.hstack([-within.T * stratification[:, None], self.diffusivity * heat])])

    def mode(self, gradient: Array) -> tuple[float, Array]:
        """The largest growth rate of a layer that stays as it is, and z of its mode, w at most 1."""
        rates, modes = np.linalg.eig(self.evolution(gradient))
        fastest = int(np.argmax(rates.real))
        z = modes[:, fastest]
        w = z[: self.n - 1]
        return float(rates[fastest].real), (z / w[np.argmax(np.abs(w))]).real

    def grown(self, z: Array, gradient: Array, time: float) -> Array:
        """z a time later."""
        return expm(time * self.evolution(gradient)) @ z

    def borders(self, z: Array) -> tuple[Array, Array]:
        """w and b at all n + 1 borders of cells."""
        return np.concatenate([[0.0], z[: self.n - 1], [0.0]]), z[self.n - 1 :]

    def fields(self, z: Array, x: Array) -> tuple[Array, Array]:
        """Velocity (2, nx, n) and T' (nx, n) of z at the cell centres, with w ~ cos(kx); free of divergence."""
        w, b = self.borders(z)
        centred = (w[1:] + w[:-1]) / 2, (b[1:] + b[:-1]) / 2
        cosine, sine = np.cos(self.k * x)[:, None], np.sin(self.k * x)[:, None]
        velocity = np.array([-np.diff(w) / self.k * sine, centred[0] * cosine])
        return velocity, self.mean_temperature / self.gravity * centred[1] * cosine


def hydrostatic(temperature: Array, gravity: float) -> Array:
    """Pressure (n,) under a temperature (n,) in a field of gravity downwards, of mean 1.

    Between two cells as the walls of the model have it: the pressures differ by gravity and mean density.
    """
    step = gravity / (temperature[1:] + temperature[:-1])
    pressure = np.cumprod(np.concatenate([[1.0], (1 - step) / (1 + step)]))
    return pressure / pressure.mean()
