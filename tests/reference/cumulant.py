"""The cumulant collision of D3Q27 from its definition, on arrays (27, ...) of full populations.

Every step is the slow and obvious one: central moments are sums over the velocities, and cumulants follow from the
general relation between the moments and the cumulants of a distribution, not from formulas written out for each order.
"""

from __future__ import annotations

import itertools
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .stencils import CS2, Stencil

Array = NDArray[np.float64]
Order = tuple[int, int, int]
Moments = dict[Order, Array]

ORDERS: list[Order] = sorted(itertools.product(range(3), repeat=3), key=lambda n: (sum(n), n))  # type: ignore[arg-type]
AXES = np.eye(3, dtype=int)


def order(*axes: int) -> Order:
    """The order of a moment of velocity components along these axes, such as (2, 1, 0) of 0, 0, 1."""
    counts = [axes.count(axis) for axis in range(3)]
    return counts[0], counts[1], counts[2]


def central_moments(stencil: Stencil, f: Array, u: Array) -> Moments:
    """``sum_i (c_ix - u_x)^a (c_iy - u_y)^b (c_iz - u_z)^c f_i`` by (a, b, c)."""
    moments = {}
    for n in ORDERS:
        powers = np.ones_like(f)
        for axis in range(3):
            c = stencil.c[:, axis].reshape((-1,) + (1,) * (f.ndim - 1))
            powers = powers * (c - u[axis]) ** n[axis]
        moments[n] = (powers * f).sum(axis=0)
    return moments


def populations(stencil: Stencil, moments: Moments, u: Array) -> Array:
    """The populations that have these central moments about u: raw moments first, then those at -1, 0 and 1."""
    raw: Moments = {}
    for n in ORDERS:
        raw[n] = np.zeros_like(u[0])
        for k in itertools.product(*(range(m + 1) for m in n)):
            factor = np.prod([comb(n[a], k[a]) * u[a] ** (n[a] - k[a]) for a in range(3)], axis=0)
            raw[n] = raw[n] + factor * moments[k]
    # f at c along an axis is a combination of the raw moments of order 0, 1 and 2 along that axis
    inverse = {-1: (0, -0.5, 0.5), 0: (1, 0, -1), 1: (0, 0.5, 0.5)}
    f = []
    for c in stencil.c:
        rows = [inverse[int(component)] for component in c]
        f.append(sum(rows[0][n[0]] * rows[1][n[1]] * rows[2][n[2]] * raw[n] for n in ORDERS))
    return np.array(f)


def _recursion(n: Order, moments: Moments, cumulants: Moments) -> Array:
    """The moment of order n, less its cumulant, of a distribution of mass 1 from moments and cumulants of lower order.

    With e an axis of n, ``m_n = sum_k binomial(n - e, k) c_(k + e) m_(n - e - k)``.
    """
    axis = next(a for a in range(3) if n[a] > 0)
    less = np.array(n) - AXES[axis]
    total = np.zeros_like(moments[0, 0, 0])
    for k in itertools.product(*(range(m + 1) for m in less)):
        if tuple(k) != tuple(less):
            factor = np.prod([comb(int(less[a]), k[a]) for a in range(3)])
            total = total + factor * cumulants[tuple(k + AXES[axis])] * moments[tuple(less - k)]
    return total


def cumulants_of(moments: Moments) -> Moments:
    """Cumulants, times the density, of central moments; those of order 0 and 1 stay the moments."""
    rho = moments[0, 0, 0]
    unit = {n: m / rho for n, m in moments.items()}
    cumulants: Moments = {}
    for n in ORDERS:
        cumulants[n] = unit[n] if sum(n) < 2 else unit[n] - _recursion(n, unit, cumulants)
    return {n: rho * c for n, c in cumulants.items()}


def moments_of(cumulants: Moments) -> Moments:
    """The inverse of cumulants_of."""
    rho = cumulants[0, 0, 0]
    unit = {n: c / rho for n, c in cumulants.items()}
    moments: Moments = {}
    for n in ORDERS:
        moments[n] = unit[n] if sum(n) < 2 else unit[n] + _recursion(n, moments, unit)
    return {n: rho * m for n, m in moments.items()}


def parametrization(omega1: float, omega2: float) -> tuple[tuple[float, float, float], float, float] | None:
    """Rates of the third-order cumulants, and A and B of the fourth-order equilibria, for a fourth-order error.

    Geier, Pasquali & Schoenherr, J. Comput. Phys. 348 (2017) 862. None where a rate leaves the interval (0, 2).
    """
    w1, w2 = omega1, omega2
    if w1 * (1 + 3 * w2) <= 7 * w2:
        return None
    w3 = 8 * (w1 - 2) * (w2 * (3 * w1 - 1) - 5 * w1) / (8 * (5 - 2 * w1) * w1 + w2 * (8 + w1 * (9 * w1 - 26)))
    w4 = 8 * (w1 - 2) * (w1 + w2 * (3 * w1 - 7)) / (w2 * (56 - 42 * w1 + 9 * w1**2) - 8 * w1)
    w5 = 24 * (w1 - 2) * (4 * w1**2 + w1 * w2 * (18 - 13 * w1) + w2**2 * (2 + w1 * (6 * w1 - 11)))
    w5 /= (
        16 * w1**2 * (w1 - 6)
        - 2 * w1 * w2 * (216 + 5 * w1 * (9 * w1 - 46))
        + w2**2 * (w1 * (3 * w1 - 10) * (15 * w1 - 28) - 48)
    )
    below = (w1 - w2) * (w2 * (2 + 3 * w1) - 8 * w1)
    a = (4 * w1**2 + 2 * w1 * w2 * (w1 - 6) + w2**2 * (w1 * (10 - 3 * w1) - 4)) / below
    b = (4 * w1 * w2 * (9 * w1 - 16) - 4 * w1**2 - 2 * w2**2 * (2 + 9 * w1 * (w1 - 2))) / (3 * below)
    return ((w3, w4, w5), a, b) if all(0 < rate < 2 for rate in (w3, w4, w5)) else None


def collide(stencil: Stencil, collision: Any, f: Array, rho: Array, u: Array, force: Array, tau: Array) -> Array:
    """Populations after collision: half of the force, the relaxation of the cumulants, and half of the force.

    The force shifts a distribution in the space of velocities, so with the covariance of an equilibrium, cs2, it adds
    F to the first central moments, cs2 F_x to the third one of (1, 2, 0), and cs2^2 F_x to that of (1, 2, 2). `u` is
    the velocity with half of the force, about which the first moments vanish in between.
    """

    def add_half_force(moments: Moments) -> None:
        for axis in range(3):
            others = [a for a in range(3) if a != axis]
            for twice in itertools.product((0, 2), repeat=2):
                n = tuple(AXES[axis] + twice[0] * AXES[others[0]] + twice[1] * AXES[others[1]])
                moments[n] = moments[n] + CS2 ** (sum(twice) / 2) * force[axis] / 2

    moments = central_moments(stencil, f, u)
    add_half_force(moments)
    after = moments_of(relaxed(cumulants_of(moments), collision, u, tau))
    add_half_force(after)
    return populations(stencil, after, u)


def relaxed(c: Moments, collision: Any, u: Array, tau: Array) -> Moments:
    """Geier, Schoenherr, Pasquali & Krafczyk, Comput. Math. Appl. 70 (2015) 507, and the paper of 2017.

    An eddy viscosity changes the rate of the stress only; all that the parametrisation gives is for the viscosity.
    """
    x, y, z = range(3)
    rho, w1 = c[0, 0, 0], 1 / tau
    bulk = collision.bulk_viscosity
    w2 = 1.0 if bulk is None else 1 / (bulk / (2 / 9) + 0.5)
    w0 = 1 / (3 * collision.viscosity + 0.5)
    found = parametrization(w0, w2) if collision.parametrized else None
    (w3, w4, w5), a, b = found or ((1.0, 1.0, 1.0), 0.0, 0.0)
    k = 1 / w0 - 0.5

    # the gradients of the velocity on the diagonal, and the sums of those off it, from the second-order cumulants
    diagonal = [c[order(d, d)] for d in range(3)]
    trace = sum(diagonal)
    gradient = [-w1 / (2 * rho) * (3 * diagonal[d] - trace) - w2 / (2 * rho) * (trace - rho) for d in range(3)]
    shear = {(d, e): -3 * w1 / rho * c[order(d, e)] for d, e in ((x, y), (x, z), (y, z))}

    new: Moments = {n: np.zeros_like(rho) for n in ORDERS}
    for n in ORDERS:
        if sum(n) < 2:
            new[n] = c[n]
    for d, e in shear:
        new[order(d, e)] = (1 - w1) * c[order(d, e)]

    # the diagonal, with the corrections for Galilean invariance, from its differences and its sum
    cubic = [u[d] ** 2 * gradient[d] for d in range(3)]

    def difference(d: int, e: int) -> Array:
        return (1 - w1) * (diagonal[d] - diagonal[e]) - 3 * rho * (1 - w1 / 2) * (cubic[d] - cubic[e])

    total = w2 * rho + (1 - w2) * trace - 3 * rho * (1 - w2 / 2) * sum(cubic)
    new[2, 0, 0] = (total + difference(x, y) + difference(x, z)) / 3
    new[0, 2, 0] = new[2, 0, 0] - difference(x, y)
    new[0, 0, 2] = new[2, 0, 0] - difference(x, z)

    def limited(value: Array, rate: float) -> Array:
        """(1 - rate) value, with the rate raised towards 1 as the value grows past the limiter."""
        if collision.limiter is None:
            return (1 - rate) * value
        size = np.abs(value)
        return (1 - (rate + (1 - rate) * size / (rho * collision.limiter + size))) * value

    for d, e, g in ((x, y, z), (y, x, z), (z, x, y)):
        first, second = order(d, e, e), order(d, g, g)
        plus, minus = limited(c[first] + c[second], w3), limited(c[first] - c[second], w4)
        new[first], new[second] = (plus + minus) / 2, (plus - minus) / 2
    new[1, 1, 1] = limited(c[1, 1, 1], w5)

    for d, e in shear:
        g = 3 - d - e
        new[order(d, d, e, e)] = -2 / 3 * k * a * rho * (gradient[d] + gradient[e])
        new[order(d, e, g, g)] = -1 / 3 * k * b * rho * shear[d, e]
    return new
