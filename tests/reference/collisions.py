"""Collision operators as their papers print them, on arrays (Q, ...) of full populations."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from . import cumulant
from .stencils import CS2, GROUPS, MATRICES, RATES, Stencil

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Collision:
    """``bgk``, ``trt``, ``mrt``, ``regularized`` or ``cumulant`` with its parameters."""

    kind: str
    viscosity: float
    magic: float = 3 / 16
    rates: dict[str, float] = field(default_factory=dict)
    smagorinsky: float = 0.0
    bulk_viscosity: float | None = None
    limiter: float | None = 0.01
    parametrized: bool = True


def equilibrium(stencil: Stencil, rho: Array, u: Array) -> Array:
    """Second-order equilibrium (Qian, d'Humieres & Lallemand 1992)."""
    cu = np.tensordot(stencil.c, u, axes=1)
    u2 = (u**2).sum(axis=0)
    w = stencil.w.reshape((-1,) + (1,) * (u.ndim - 1))
    return w * rho * (1 + cu / CS2 + cu**2 / (2 * CS2**2) - u2 / (2 * CS2))


def guo_source(stencil: Stencil, u: Array, force: Array) -> Array:
    """Forcing term without its prefactor (Guo, Zheng & Shi, Phys. Rev. E 65 (2002) 046308, eq. 20)."""
    cu = np.tensordot(stencil.c, u, axes=1)
    cf = np.tensordot(stencil.c, force, axes=1)
    uf = (u * force).sum(axis=0)
    w = stencil.w.reshape((-1,) + (1,) * (u.ndim - 1))
    return w * ((cf - uf) / CS2 + cu * cf / CS2**2)


def macroscopic(stencil: Stencil, f: Array, force: Array) -> tuple[Array, Array]:
    """Density, and velocity with half the force, of populations before collision."""
    rho = f.sum(axis=0)
    return rho, (np.tensordot(stencil.c.T, f, axes=1) + force / 2) / rho


def stress(stencil: Stencil, f: Array) -> Array:
    """Second moment ``sum_i c_ia c_ib f_i``, shape (D, D, ...)."""
    return np.einsum("ia,ib,i...->ab...", stencil.c, stencil.c, f)


def relaxation_time(stencil: Stencil, collision: Collision, rho: Array, departure: Array) -> Array:
    """tau of each cell, with the Smagorinsky eddy viscosity (Hou, Sterling, Chen & Doolen 1996).

    `departure` is f - f_eq + S/2, whose second moment is the viscous stress that the model sees.
    """
    tau0 = collision.viscosity / CS2 + 0.5
    pi = stress(stencil, departure)
    magnitude = np.sqrt((pi**2).sum(axis=(0, 1)))
    return (tau0 + np.sqrt(tau0**2 + 18 * np.sqrt(2) * collision.smagorinsky**2 * magnitude / rho)) / 2


def collide(stencil: Stencil, collision: Collision, f: Array, force: Array, shift: Array | float = 0.0) -> Array:
    """Populations after collision; `shift` is added to the equilibrium and must hold no mass and no momentum."""
    rho, u = macroscopic(stencil, f, force)
    feq = equilibrium(stencil, rho, u) + shift
    source = guo_source(stencil, u, force)
    tau = relaxation_time(stencil, collision, rho, f - feq + source / 2)
    return _OPERATORS[collision.kind](stencil, collision, f, feq, source, u, force, tau)


def _bgk(stencil, collision, f, feq, source, u, force, tau):
    """Guo, Zheng & Shi 2002, eqs. 19-20."""
    omega = 1 / tau
    return f - omega * (f - feq) + (1 - omega / 2) * source


def _trt(stencil, collision, f, feq, source, u, force, tau):
    """Ginzburg, Adv. Water Resour. 28 (2005) 1171: even and odd parts relax apart."""
    opposite = stencil.opposite
    omega_even = 1 / tau
    omega_odd = 1 / (collision.magic / (tau - 0.5) + 0.5)

    def even(g: Array) -> Array:
        return (g + g[opposite]) / 2

    def odd(g: Array) -> Array:
        return (g - g[opposite]) / 2

    relaxed = f - omega_even * even(f - feq) - omega_odd * odd(f - feq)
    return relaxed + (1 - omega_even / 2) * even(source) + (1 - omega_odd / 2) * odd(source)


def _mrt(stencil, collision, f, feq, source, u, force, tau):
    """Each moment relaxes at its own rate; the source does in moment space (Guo & Zheng 2008)."""
    matrix = MATRICES[stencil.name]
    given = {**RATES[stencil.name], **collision.rates, "conserved": 0.0}
    with_stress = {"nu", *(group for group, rate in given.items() if rate is None)}
    rates = np.array([1 / tau if g in with_stress else np.full_like(tau, given[g]) for g in GROUPS[stencil.name]])
    moments = np.tensordot(matrix, f - feq, axes=1)
    forcing = np.tensordot(matrix, source, axes=1)
    change = -rates * moments + (1 - rates / 2) * forcing
    return f + np.tensordot(np.linalg.inv(matrix), change, axes=1)


def _regularized(stencil, collision, f, feq, source, u, force, tau):
    """Latt & Chopard, Math. Comput. Simul. 72 (2006) 165, with the force's stress in the second moment."""
    omega = 1 / tau
    pi = stress(stencil, f - feq)
    uf = u[:, None] * force[None, :]
    pi = pi + (uf + uf.swapaxes(0, 1)) / 2
    hermite = np.einsum("ia,ib->iab", stencil.c, stencil.c) - CS2 * np.eye(stencil.D)
    w = stencil.w.reshape((-1,) + (1,) * (f.ndim - 1))
    projected = w / (2 * CS2**2) * np.einsum("iab,ab...->i...", hermite, pi)
    return feq + (1 - omega) * projected + source / 2


def _cumulant(stencil, collision, f, feq, source, u, force, tau):
    """Geier, Schoenherr, Pasquali & Krafczyk 2015 and Geier, Pasquali & Schoenherr 2017; see cumulant.py."""
    return cumulant.collide(stencil, collision, f, f.sum(axis=0), u, force, tau)


_OPERATORS = {"bgk": _bgk, "trt": _trt, "mrt": _mrt, "regularized": _regularized, "cumulant": _cumulant}
