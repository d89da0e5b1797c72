"""Reference solutions of two incompressible flows by a Fourier pseudo-spectral method:

python docs/spectral_flows.py shear-layer     writes tests/data/shear_layer.npz
python docs/spectral_flows.py taylor-green    writes tests/data/taylor_green.csv

Products are formed on the grid and truncated at a third of the grid's wave number, so that none is aliased; diffusion
is exact (by an integrating factor) and the rest advances by the classical fourth-order Runge-Kutta method. With
--device cuda CuPy's transforms do the work: on one GPU the shear layers take seconds and the vortex minutes.
"""

from __future__ import annotations

import argparse
import csv
import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

DATA = Path(__file__).parents[1] / "tests" / "data"

THICKNESS, PERTURBATION = 80.0, 0.05
"""kappa and delta of the doubly periodic shear layer (Minion & Brown, J. Comput. Phys. 138 (1997) 734, eq. 7)."""

REYNOLDS = (30_000, 100_000)
KEPT = 64
"""Cells a side of the box on which vorticity is kept, of which a third of the wave numbers are filled."""


def runge_kutta(state: Any, rate: Callable[[Any], Any], half: Any, dt: float) -> Any:
    """A step of d state/dt = rate(state) + linear term, of which `half` is the factor for half a step."""
    first = rate(state)
    second = rate(half * (state + 0.5 * dt * first))
    third = rate(half * state + 0.5 * dt * second)
    fourth = rate(half * (half * state + dt * third))
    return half * (half * (state + dt / 6 * first) + dt / 3 * (second + third)) + dt / 6 * fourth


class ShearLayer:
    """The vorticity of the plane flow in the unit square."""

    def __init__(self, xp: Any, n: int, reynolds: float, dt: float) -> None:
        self.xp, self.n, self.dt = xp, n, dt
        x, y = xp.meshgrid(xp.arange(n) / n, xp.arange(n) / n, indexing="ij")
        u = xp.where(y <= 0.5, xp.tanh(THICKNESS * (y - 0.25)), xp.tanh(THICKNESS * (0.75 - y)))
        v = PERTURBATION * xp.sin(2 * xp.pi * (x + 0.25))
        self.kx = 2 * xp.pi * xp.fft.fftfreq(n, 1 / n)[:, None]
        self.ky = 2 * xp.pi * xp.fft.rfftfreq(n, 1 / n)[None, :]
        self.k2 = self.kx**2 + self.ky**2
        largest = 2 * xp.pi * (n // 3)
        self.mask = ((abs(self.kx) <= largest) & (self.ky <= largest)).astype(float)
        self.inverse = 1 / xp.where(self.k2 > 0, self.k2, 1)
        self.half = xp.exp(-self.k2 / reynolds * dt / 2)
        self.mean = (float(u.mean()), float(v.mean()))
        self.vorticity = self.mask * 1j * (self.kx * xp.fft.rfft2(v) - self.ky * xp.fft.rfft2(u))

    def rate(self, vorticity: Any) -> Any:
        fft = self.xp.fft
        stream = self.inverse * vorticity
        u, v = fft.irfft2(1j * self.ky * stream), fft.irfft2(-1j * self.kx * stream)
        u, v = u + self.mean[0], v + self.mean[1]
        dx, dy = fft.irfft2(1j * self.kx * vorticity), fft.irfft2(1j * self.ky * vorticity)
        return -self.mask * fft.rfft2(u * dx + v * dy)

    def advance(self, time: float) -> None:
        for _ in range(round(time / self.dt)):
            self.vorticity = runge_kutta(self.vorticity, self.rate, self.half, self.dt)

    def energy(self) -> float:
        fft, stream = self.xp.fft, self.inverse * self.vorticity
        u = fft.irfft2(1j * self.ky * stream) + self.mean[0]
        v = fft.irfft2(-1j * self.kx * stream) + self.mean[1]
        return float((u**2 + v**2).mean() / 2)

    def kept(self) -> Any:
        """The vorticity without wave numbers above KEPT / 3, on KEPT points a side."""
        xp, m, most = self.xp, KEPT, KEPT // 3
        small = xp.zeros((m, m // 2 + 1), complex)
        small[: most + 1, : most + 1] = self.vorticity[: most + 1, : most + 1]
        small[-most:, : most + 1] = self.vorticity[-most:, : most + 1]
        return xp.fft.irfft2(small) * (m / self.n) ** 2


def shear_layers(xp: Any, n: int) -> None:
    """Writes energies and vorticity at times 0, 1 and 2."""
    import numpy as np

    found: dict[str, Any] = {}
    for reynolds in REYNOLDS:
        flow = ShearLayer(xp, n, reynolds, 0.5 / n)
        energies, fields = [flow.energy()], []
        for _ in range(2):
            flow.advance(1.0)
            energies.append(flow.energy())
            kept = flow.kept()
            fields.append(kept.get() if hasattr(kept, "get") else kept)
            print(f"Re {reynolds}: energy {energies[-1]:.6f} of {energies[0]:.6f}", flush=True)
        found[f"energy_{reynolds}"] = np.array(energies)
        found[f"vorticity_{reynolds}"] = np.array(fields, np.float32)
    np.savez_compressed(DATA / "shear_layer.npz", **found)


class TaylorGreen:
    """The vortex of Taylor and Green in a box of 2 pi, by the rotational form, in float32."""

    def __init__(self, xp: Any, n: int, reynolds: float, dt: float) -> None:
        self.xp, self.n, self.dt, self.viscosity = xp, n, dt, 1 / reynolds
        axis = xp.arange(n, dtype=xp.float32) * (2 * xp.pi / n)
        x, y, z = axis[:, None, None], axis[None, :, None], axis[None, None, :]
        k = xp.fft.fftfreq(n, 1 / n).astype(xp.float32)
        self.k = (k[:, None, None], k[None, :, None], xp.arange(n // 2 + 1, dtype=xp.float32)[None, None, :])
        self.k2 = self.k[0] ** 2 + self.k[1] ** 2 + self.k[2] ** 2
        self.inverse = 1 / xp.where(self.k2 > 0, self.k2, 1)
        most = n // 3
        self.mask = (abs(self.k[0]) <= most) & (abs(self.k[1]) <= most) & (self.k[2] <= most)
        self.half = xp.exp(-self.viscosity * self.k2 * (dt / 2))
        one = xp.ones((n, n, n), xp.float32)
        u, v = xp.sin(x) * xp.cos(y) * xp.cos(z) * one, -xp.cos(x) * xp.sin(y) * xp.cos(z) * one
        self.velocity = xp.stack([xp.fft.rfftn(u), xp.fft.rfftn(v), xp.zeros(self.k2.shape, xp.complex64)])

    def vorticity(self, u: Any) -> Any:
        k = self.k
        return [
            1j * (k[1] * u[2] - k[2] * u[1]),
            1j * (k[2] * u[0] - k[0] * u[2]),
            1j * (k[0] * u[1] - k[1] * u[0]),
        ]

    def rate(self, velocity: Any) -> Any:
        fft, xp, shape = self.xp.fft, self.xp, (self.n,) * 3
        u = [fft.irfftn(a, shape) for a in velocity]
        w = [fft.irfftn(a, shape) for a in self.vorticity(velocity)]
        found = xp.empty_like(velocity)
        for a, (b, c) in enumerate(((1, 2), (2, 0), (0, 1))):
            found[a] = self.mask * fft.rfftn(u[b] * w[c] - u[c] * w[b])
        pressure = (self.k[0] * found[0] + self.k[1] * found[1] + self.k[2] * found[2]) * self.inverse
        for a in range(3):
            found[a] -= self.k[a] * pressure
        return found

    def advance(self) -> None:
        self.velocity = runge_kutta(self.velocity, self.rate, self.half, self.dt)

    def sums(self) -> tuple[float, float]:
        """Kinetic energy and enstrophy, <u^2> / 2 and <w^2> / 2."""
        xp = self.xp
        twice = xp.full(self.k2.shape[2], 2.0)
        twice[0] = twice[-1] = 1
        weight = twice / (2 * float(self.n) ** 6)
        squares = sum((abs(u) ** 2).astype(xp.float64) for u in self.velocity)
        return float((weight * squares).sum()), float((weight * (self.k2 * squares)).sum())


def taylor_green(xp: Any, n: int, reynolds: float, end: float) -> None:
    """Writes time, kinetic energy and its dissipation 2 nu times the enstrophy, every tenth of a unit of time."""
    steps = max(2, n // 19)
    flow = TaylorGreen(xp, n, reynolds, 0.1 / steps)
    with open(DATA / "taylor_green.csv", "w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["time", "energy", "dissipation"])
        for k in range(round(10 * end) + 1):
            if k > 0:
                for _ in range(steps):
                    flow.advance()
            energy, enstrophy = flow.sums()
            rows.writerow([f"{0.1 * k:.1f}", f"{energy:.7f}", f"{2 * flow.viscosity * enstrophy:.7f}"])
            file.flush()
            if k % 10 == 0:
                print(f"t {0.1 * k:.1f}: energy {energy:.6f}, dissipation {2 * enstrophy / reynolds:.6f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("flow", choices=("shear-layer", "taylor-green"))
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--size", type=int, help="points a side (1024; 384 of the vortex)")
    parser.add_argument("--end", type=float, default=12.0, help="end of the vortex' time (12)")
    given = parser.parse_args()
    xp = importlib.import_module("cupy" if given.device == "cuda" else "numpy")
    if given.flow == "shear-layer":
        shear_layers(xp, given.size or 1024)
    else:
        taylor_green(xp, given.size or 384, 1600, given.end)


if __name__ == "__main__":
    main()
