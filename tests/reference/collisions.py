"""Collision operators as their papers print them, on arrays (Q, ...) of full populations."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import cumulant
from .stencils import CS2, GROUPS, MATRICES, RATES, Stencil

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Collision:
    """The engine's name of a collision, with its parameters."""

    kind: str
    viscosity: float
    magic: float | None = None  # of MRT none; of the others then 3/16
    rates: dict[str, float] = field(default_factory=dict)
    least_odd_rate: float | None = None
    smagorinsky: float = 0.0
    bulk_viscosity: float | None = None
    limiter: float | None = 0.01
    parametrized: bool = True
    incompressible: bool = False
    hybrid: float | None = None


def inertia(rho: Any, incompressible: bool) -> Any:
    """The density by which momentum is velocity: 1 with the equilibrium of He & Luo, J. Stat. Phys. 88 (1997) 927."""
    return np.ones_like(rho) if incompressible else rho


def equilibrium(stencil: Stencil, rho: Array, u: Array, incompressible: bool = False) -> Array:
    """Second-order equilibrium (Qian, d'Humieres & Lallemand 1992), or that of He & Luo (1997)."""
    cu = np.tensordot(stencil.c, u, axes=1)
    u2 = (u**2).sum(axis=0)
    w = stencil.w.reshape((-1,) + (1,) * (u.ndim - 1))
    moving = cu / CS2 + cu**2 / (2 * CS2**2) - u2 / (2 * CS2)
    return w * (rho + moving) if incompressible else w * rho * (1 + moving)


def guo_source(stencil: Stencil, u: Array, force: Array) -> Array:
    """Forcing term without its prefactor (Guo, Zheng & Shi, Phys. Rev. E 65 (2002) 046308, eq. 20)."""
    cu = np.tensordot(stencil.c, u, axes=1)
    cf = np.tensordot(stencil.c, force, axes=1)
    uf = (u * force).sum(axis=0)
    w = stencil.w.reshape((-1,) + (1,) * (u.ndim - 1))
    return w * ((cf - uf) / CS2 + cu * cf / CS2**2)


def macroscopic(stencil: Stencil, f: Array, force: Array, incompressible: bool = False) -> tuple[Array, Array]:
    """Density, and velocity with half the force, of populations before collision."""
    rho = f.sum(axis=0)
    return rho, (np.tensordot(stencil.c.T, f, axes=1) + force / 2) / inertia(rho, incompressible)


def stress(stencil: Stencil, f: Array) -> Array:
    """Second moment ``sum_i c_ia c_ib f_i``, shape (D, D, ...)."""
    return np.einsum("ia,ib,i...->ab...", stencil.c, stencil.c, f)


def relaxation_time(stencil: Stencil, collision: Collision, rho: Array, departure: Array) -> Array:
    """tau of each cell, with the Smagorinsky eddy viscosity (Hou, Sterling, Chen & Doolen 1996).

    `rho` is the density of inertia. `departure` is f - f_eq + S/2, whose second moment is the viscous stress that the
    model sees.
    """
    tau0 = collision.viscosity / CS2 + 0.5
    pi = stress(stencil, departure)
    magnitude = np.sqrt((pi**2).sum(axis=(0, 1)))
    return (tau0 + np.sqrt(tau0**2 + 18 * np.sqrt(2) * collision.smagorinsky**2 * magnitude / rho)) / 2


IN_MOVING_FRAME = ("central-moments", "recursive-regularized")
"""Collisions that relax Hermite moments of the frame that moves with the fluid."""
OF_ALL_ORDERS = (*IN_MOVING_FRAME, "cumulant")
"""Collisions whose equilibrium and source have all orders that the stencil resolves."""


def hermite_orders(stencil: Stencil) -> list[tuple[int, ...]]:
    """The powers 0 to 2 of the components whose products the stencil resolves."""
    every = itertools.product(range(3), repeat=stencil.D)
    return [powers for powers in every if stencil.name != "D3Q19" or 0 in powers]


def hermite_moments(stencil: Stencil, u: Array) -> Array:
    """The matrices, one a cell and shaped (..., Q, Q), of the Hermite moments in the frame that moves with `u`."""
    c = stencil.c.reshape(stencil.c.shape + (1,) * (u.ndim - 1)) - u
    polynomials = np.array([np.ones_like(c), c, c**2 - CS2])
    rows = [np.prod([polynomials[k, :, d] for d, k in enumerate(p)], axis=0) for p in hermite_orders(stencil)]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))


def from_hermite_moments(stencil: Stencil, u: Array, moments: Array) -> Array:
    """The populations with these moments (Q, ...)."""
    found = np.linalg.solve(hermite_moments(stencil, u), np.moveaxis(moments, 0, -1)[..., None])
    return np.moveaxis(found[..., 0], -1, 0)


def own_equilibrium(stencil: Stencil, kind: str, rho: Array, u: Array, incompressible: bool = False) -> Array:
    """The equilibrium of a collision; one of all orders has a density in the moving frame and nothing else.

    In D3Q19 it ends at third order, in what is orthogonal there to moments of lower order. The incompressible one is
    that of density 1, and the pressure at rest of what is above.
    """
    if kind not in OF_ALL_ORDERS:
        return equilibrium(stencil, rho, u, incompressible)
    if incompressible:
        pressure = stencil.w.reshape((-1,) + (1,) * (u.ndim - 1)) * (rho - 1)
        return pressure + own_equilibrium(stencil, kind, np.ones_like(rho), u)
    if stencil.name == "D3Q19":
        at_rest = []
        for powers in hermite_orders(stencil):
            value = rho * np.prod([u[d] ** k for d, k in enumerate(powers)], axis=0)
            at_rest.append(value if sum(powers) < 4 else -rho * u[powers.index(0)] ** 2 / 6)
        return from_hermite_moments(stencil, 0 * u, np.array(at_rest))
    moments = np.array([rho if sum(p) == 0 else np.zeros_like(rho) for p in hermite_orders(stencil)])
    return from_hermite_moments(stencil, u, moments)


def own_source(stencil: Stencil, kind: str, u: Array, force: Array) -> Array:
    """The forcing term of a collision; one of all orders has the force in the moving frame and nothing else."""
    if kind not in OF_ALL_ORDERS:
        return guo_source(stencil, u, force)
    none = np.zeros(np.broadcast_shapes(u.shape, force.shape)[1:])
    moments = [force[p.index(1)] + none if sum(p) == 1 else none for p in hermite_orders(stencil)]
    return from_hermite_moments(stencil, u, np.array(moments))


def collide(
    stencil: Stencil,
    collision: Collision,
    f: Array,
    force: Array,
    shift: Array | float = 0.0,
    eddy: Array | float = 0.0,
    strain: Array | None = None,
) -> Array:
    """Populations after collision; `shift` is added to the equilibrium and must hold no mass and no momentum.

    `eddy` is an eddy viscosity, and `strain` the strain rate (D, D, ...) of a hybrid collision, of each cell, both of
    which are known before.
    """
    rho, u = macroscopic(stencil, f, force, collision.incompressible)
    feq = own_equilibrium(stencil, collision.kind, rho, u, collision.incompressible) + shift
    source = own_source(stencil, collision.kind, u, force)
    density = inertia(rho, collision.incompressible)
    tau = relaxation_time(stencil, collision, density, f - feq + source / 2) + eddy / CS2
    if collision.hybrid is not None:
        f = f + hybrid_part(stencil, collision.hybrid, density, u, f - feq + source / 2, tau, strain)
    return _OPERATORS[collision.kind](stencil, collision, f, feq, source, u, force, tau)


def hybrid_part(stencil, sigma, rho, u, departure, tau, strain):
    """What changes the stress to sigma times itself and 1 - sigma times that of finite differences, and nothing else.

    Jacob, Malaspinas & Sagaut, J. Turbul. 19 (2018) 1051.
    """
    change = (1 - sigma) * (-2 * rho * tau * CS2 * strain - stress(stencil, departure))
    moments = []
    for powers in hermite_orders(stencil):
        axes = [axis for axis, power in enumerate(powers) for _ in range(power)]
        moments.append(change[tuple(axes)] if len(axes) == 2 else np.zeros_like(rho))
    return from_hermite_moments(stencil, u, np.array(moments))


def _bgk(stencil, collision, f, feq, source, u, force, tau):
    """Guo, Zheng & Shi 2002, eqs. 19-20."""
    omega = 1 / tau
    return f - omega * (f - feq) + (1 - omega / 2) * source


def _trt(stencil, collision, f, feq, source, u, force, tau):
    """Ginzburg, Adv. Water Resour. 28 (2005) 1171: even and odd parts relax apart."""
    opposite = stencil.opposite
    omega_even = 1 / tau
    omega_odd = 1 / ((collision.magic or 3 / 16) / (tau - 0.5) + 0.5)

    def even(g: Array) -> Array:
        return (g + g[opposite]) / 2

    def odd(g: Array) -> Array:
        return (g - g[opposite]) / 2

    relaxed = f - omega_even * even(f - feq) - omega_odd * odd(f - feq)
    return relaxed + (1 - omega_even / 2) * even(source) + (1 - omega_odd / 2) * odd(source)


def _mrt(stencil, collision, f, feq, source, u, force, tau):
    """Each moment relaxes at its own rate; the source does in moment space (Guo & Zheng 2008)."""
    matrix = MATRICES[stencil.name]
    odd = {}
    if collision.magic is not None:
        rate = 1 / (collision.magic / (collision.viscosity / CS2) + 0.5)
        parts = zip(GROUPS[stencil.name], matrix, strict=True)
        odd = {group: rate for group, row in parts if np.allclose(row, -row[stencil.opposite])}
    given = {**RATES[stencil.name], **odd, **collision.rates, "conserved": 0.0}
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


def _in_moving_frame(stencil, collision, f, feq, source, u, force, tau):
    """Stress, third and higher order of the moving frame relax apart; the trace of the stress does in D3Q19."""
    orders = [sum(powers) for powers in hermite_orders(stencil)]
    omega = 1 / tau
    third = np.ones_like(tau)
    if collision.kind == "central-moments":
        least = collision.least_odd_rate
        if least is None:
            least = 0.6 if stencil.name == "D3Q19" else np.clip(0.005 * (0.004 / collision.viscosity - 1), 0, 0.6)
        third = np.maximum(1 / ((collision.magic or 3 / 16) / (tau - 0.5) + 0.5), least)
    rate = {0: 0 * tau, 1: 0 * tau, 2: omega, 3: third}
    matrices = hermite_moments(stencil, u)
    n = np.moveaxis((matrices @ np.moveaxis(f - feq + source / 2, 0, -1)[..., None])[..., 0], -1, 0)
    change = np.array([-rate.get(order, np.ones_like(tau)) * n[k] for k, order in enumerate(orders)])
    if stencil.name == "D3Q19":
        squares = [k for k, powers in enumerate(hermite_orders(stencil)) if sum(powers) == 2 and 2 in powers]
        change[squares] += (omega - 1) * n[squares].mean(axis=0)
    return f + source + from_hermite_moments(stencil, u, change)


_OPERATORS = {
    "bgk": _bgk,
    "trt": _trt,
    "mrt": _mrt,
    "regularized": _regularized,
    "central-moments": _in_moving_frame,
    "recursive-regularized": _in_moving_frame,
    "cumulant": _cumulant,
}
