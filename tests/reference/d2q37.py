"""The reference of the thermal model on D2Q37: one set of populations that carries mass, momentum and energy.

Velocities, weights and the equilibrium of fourth order in Hermite polynomials after Shan, Yuan & Chen, J. Fluid Mech.
550 (2006) 413, and Philippi et al., Phys. Rev. E 73 (2006) 056702; gravity as a shift of velocity and temperature after
Sbragaglia et al., J. Fluid Mech. 628 (2009) 299. Walls have three cells behind them, the mirror images of the three
beside them. Arrays are indexed [i, x, y]; an acceleration is a vector; time steps and cells are 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .stencils import Stencil

Array = NDArray[np.float64]

CS2 = 0.697953322019683088
"""Temperature at which the weights are those of Gauss and Hermite, 35 s^3 - 70 s^2 + 49 s - 12 = 0."""
REACH = 3
WEIGHTS = {
    0: 0.233150669132352502286506704067,
    1: 0.107306091542219002412464287183,
    2: 0.0576678598887948820300692153933,
    4: 0.0142082161584507502646989423441,
    5: 0.00535304900051377523273150166219,
    8: 0.00101193759267357547541090850664,
    9: 0.000245301027757717345465916643268,
    10: 0.000283414252994198217400525294195,
}
"""By the square of the speed."""


def _stencil() -> Stencil:
    """Velocities from the slowest to the fastest."""
    grid = [(x, y) for x in range(-3, 4) for y in range(-3, 4) if x * x + y * y in WEIGHTS]
    c = np.array(sorted(grid, key=lambda v: (v[0] ** 2 + v[1] ** 2, v)))
    return Stencil("D2Q37", c, np.array([WEIGHTS[int(n)] for n in (c**2).sum(axis=1)]))


D2Q37 = _stencil()
C = D2Q37.c.astype(float)
W = D2Q37.w
XI = C / np.sqrt(CS2)
XI2 = (XI**2).sum(axis=1)
_I = np.eye(2)
H3 = (
    np.einsum("ia,ib,ic->iabc", XI, XI, XI)
    - np.einsum("ia,bc->iabc", XI, _I)
    - np.einsum("ib,ac->iabc", XI, _I)
    - np.einsum("ic,ab->iabc", XI, _I)
)
"""Hermite polynomials of third order at the velocities, (37, 2, 2, 2)."""
H2 = np.einsum("ia,ib->iab", XI, XI) - _I
"""Those of second order."""


def paired(tensor: Array, axis: int = 0) -> Array:
    """The sum of the products of delta_ab with a tensor of second order over the six places that a, b have of four.

    The tensor's indices are at `axis` and the next; those of the result too.
    """
    moved = np.moveaxis(tensor, (axis, axis + 1), (0, 1))
    places = ("ab,cd...", "ac,bd...", "ad,bc...", "bc,ad...", "bd,ac...", "cd,ab...")
    both = sum(np.einsum(f"{place}->abcd...", _I, moved) for place in places)
    return np.moveaxis(both, (0, 1, 2, 3), (axis, axis + 1, axis + 2, axis + 3))


H4 = (
    np.einsum("ia,ib,ic,id->iabcd", XI, XI, XI, XI)
    - paired(np.einsum("ia,ib->iab", XI, XI), axis=1)
    + paired(_I)[None] / 2
)
"""Those of fourth order, (37, 2, 2, 2, 2)."""
FIFTH = XI2**2 / 8 - 1.5 * XI2 + 3
"""xi times it is the part of fifth order of xi times the contracted Hermite polynomial of fourth order."""


def smoothing(half_width: int) -> Array:
    """Weights (2 half_width + 1,) of a filter of a wall's temperatures that keeps polynomials of third degree.

    It is twice the filter of binomial coefficients less that applied two times; `half_width` is even.
    """
    binomial = np.ones(1)
    for _ in range(half_width):
        binomial = np.convolve(binomial, [0.5, 0.5])
    return 2 * np.pad(binomial, half_width // 2) - np.convolve(binomial, binomial)


def along_wall(temperature: Array, *, ends: bool) -> tuple[Array, Array, Array]:
    """Of the temperatures (n,) of a wall's cells what the gas meets: them smoothed, and their first two derivatives.

    A jump is spread over some six cells. With `ends`, where other walls meet this one, the filter is as wide as it can
    be, and the second derivative is 0 in the four cells of an end.
    """
    n = len(temperature)
    at = np.arange(n)
    to_end = np.minimum(at, n - 1 - at) if ends else np.full(n, 6)
    smooth = np.empty(n)
    for k in range(n):
        half = min(6, int(to_end[k]) // 2 * 2)
        smooth[k] = smoothing(half) @ temperature[np.arange(k - half, k + half + 1) % n]
    before, after = np.roll(smooth, 1), np.roll(smooth, -1)
    gradient = np.gradient(smooth, edge_order=2) if ends else (after - before) / 2
    curvature = np.where(to_end >= 4, after - 2 * smooth + before, 0.0)
    return smooth, gradient, curvature


def per_velocity(values: Array, like: Array) -> Array:
    """One number for each velocity, shaped to go with the field `like`."""
    return values.reshape((-1,) + (1,) * like.ndim)


def equilibrium(rho: Array, u: Array, T: Array) -> Array:
    """Populations (37, ...) of a gas in equilibrium: density and temperature (...), velocity (2, ...)."""
    D = 2
    v, theta = u / np.sqrt(CS2), T / CS2 - 1
    xv = np.tensordot(XI, v, axes=1)
    v2 = (v**2).sum(axis=0)
    x2 = per_velocity(XI2, rho)
    second = xv**2 - v2 + theta * (x2 - D)
    third = xv * (xv**2 - 3 * v2 + 3 * theta * (x2 - D - 2))
    fourth = (
        xv**4
        - 6 * v2 * xv**2
        + 3 * v2**2
        + 6 * theta * (xv**2 * (x2 - D - 4) + v2 * (D + 2 - x2))
        + 3 * theta**2 * (x2**2 - 2 * (D + 2) * x2 + D * (D + 2))
    )
    return per_velocity(W, rho) * rho * (1 + xv + second / 2 + third / 6 + fourth / 24)


def moments(f: Array) -> tuple[Array, Array, Array]:
    """Density, velocity and temperature that populations have as they are."""
    rho = f.sum(axis=0)
    u = np.tensordot(C.T, f, axes=1) / rho
    energy = np.tensordot((C**2).sum(axis=1), f, axes=1)
    return rho, u, (energy / rho - (u**2).sum(axis=0)) / 2


class D2Q37Reference:
    """Populations `f` that departed, (37, nx, ny).

    `walls` has one entry for each of the faces -x, +x, -y, +y: None where it is periodic, ``"adiabatic"``, or the
    temperature of an isothermal wall, a number or one for every cell along it. Two faces across are both walls or
    neither.
    """

    def __init__(
        self,
        shape: Sequence[int],
        viscosity: float,
        *,
        prandtl: float = 1.0,
        gravity: ArrayLike = (0.0, 0.0),
        walls: Sequence[Any] = (None, None, None, None),
        fourth_order_diffusion: bool = False,
    ) -> None:
        self.shape = tuple(shape)
        self.tau = viscosity / CS2 + 0.5
        self.tau_heat = (self.tau - 0.5) / prandtl + 0.5
        # of the moments of third order that are no heat flux, and of those of fourth
        self.tau_third, self.tau_fourth = self.tau_heat, self.tau
        self.fourth_order_diffusion = fourth_order_diffusion
        if fourth_order_diffusion:
            self.tau_third = 1 / 6 / (self.tau - 0.5) + 0.5
            self.tau_fourth = 1 / 7 / (self.tau_heat - 0.5) + 0.5
        self.gravity = np.asarray(gravity, float)
        self.walls = list(walls)
        self.initialize()

    def _g(self, like: Array) -> Array:
        """Gravity with the axes of a vector field on `like`."""
        return per_velocity(self.gravity, like)

    def initialize(self, density: ArrayLike = 1.0, velocity: ArrayLike = 0.0, temperature: ArrayLike = CS2) -> None:
        """Equilibrium populations whose fields read back as they are given."""
        rho, T = (np.broadcast_to(np.asarray(a, float), self.shape) for a in (density, temperature))
        u = np.asarray(velocity, float)
        u = np.broadcast_to(u.reshape(2, 1, 1) if u.ndim == 1 else u, (2, *self.shape))
        self.f = equilibrium(rho, u + self._g(rho) / 2, T - (self.gravity**2).sum() / 8)

    def fields(self) -> tuple[Array, Array, Array]:
        """Density, velocity and temperature of the flow, gravity's half step taken into account."""
        rho, u, T = moments(self.f)
        return rho, u - self._g(rho) / 2, T + (self.gravity**2).sum() / 8

    def step(self, steps: int = 1) -> None:
        for _ in range(steps):
            self.f = self.collided(self.streamed())

    def collided(self, f: Array) -> Array:
        """Populations after a collision of those that arrived."""
        tau, g2 = self.tau, (self.gravity**2).sum()
        rho, u, T = moments(f)
        g = self._g(rho)
        wanted = equilibrium(rho, u + tau * g, T + tau * (1 - tau) * g2 / 2)
        kappa = 1 - tau / self.tau_heat
        if kappa or self.fourth_order_diffusion:
            flow = C.reshape(37, 2, *(1,) * rho.ndim) - (u + g / 2)
            third = np.einsum("i...,ia...,ib...,ic...->abc...", f, flow, flow, flow)
            ga = self.gravity
            shift = np.einsum("a,bc->abc", ga, _I) + np.einsum("b,ac->abc", ga, _I) + np.einsum("c,ab->abc", ga, _I)
            third += 0.5 * rho * T * shift.reshape(2, 2, 2, *(1,) * rho.ndim)
            heat = symmetric(np.einsum("abb...->a...", third)) / 4
            third = kappa * heat + (1 - tau / self.tau_third) * (third - heat)
            wanted += per_velocity(W, rho) / 6 / CS2**1.5 * np.einsum("iabc,abc...->i...", H3, third)
        if self.fourth_order_diffusion:
            fourth = (1 - tau / self.tau_fourth) * self.fourth_order(f) + carried_third(u + g / 2, third)
            wanted += per_velocity(W, rho) / 24 / CS2**2 * np.einsum("iabcd,abcd...->i...", H4, fourth)
        return f - (f - wanted) / tau

    @staticmethod
    def fourth_order(f: Array) -> Array:
        """The moments of fourth order of what is not in equilibrium, in Hermite polynomials of c - u at T."""
        rho, u, T = moments(f)
        rest, flow = f - equilibrium(rho, u, T), C.reshape(37, 2, *(1,) * rho.ndim) - u
        second = np.einsum("i...,ia...,ib...->ab...", rest, flow, flow)
        return np.einsum("i...,ia...,ib...,ic...,id...->abcd...", rest, flow, flow, flow, flow) - paired(T * second)

    def is_walled(self, axis: int) -> bool:
        return self.walls[2 * axis] is not None

    def streamed(self) -> Array:
        """What arrives at every cell, walls included."""
        depth = [REACH if self.is_walled(axis) else 0 for axis in (0, 1)]
        padded = np.zeros((37, *(n + 2 * d for n, d in zip(self.shape, depth, strict=True))))
        inside = tuple(slice(d, d + n) for n, d in zip(self.shape, depth, strict=True))
        padded[(slice(None), *inside)] = self.f
        # cells behind a wall are counted from it
        beyond = {-1: slice(REACH - 1, None, -1), 1: slice(-REACH, None)}
        for axis, side in ((axis, side) for axis in (0, 1) if self.is_walled(axis) for side in (-1, 1)):
            place = list(inside)
            place[axis] = beyond[side]
            padded[(slice(None), *place)] = self.behind(axis, side, self.walls[2 * axis + (side > 0)])
        if all(depth):
            for x, y in ((x, y) for x in (-1, 1) for y in (-1, 1)):
                padded[:, beyond[x], beyond[y]] = self.corner(x, y)
        moved = np.array([np.roll(f, tuple(c), (0, 1)) for f, c in zip(padded, D2Q37.c, strict=True)])
        return moved[(slice(None), *inside)]

    def layers(self, axis: int, side: int) -> list[int]:
        """The three cells before a wall, counted from it."""
        return [k if side < 0 else self.shape[axis] - 1 - k for k in range(REACH)]

    def corner(self, side_x: int, side_y: int) -> Array:
        """The cells behind two walls, counted from them, (37, 3, 3).

        They are the images of a corner's cells by one mirror after the other: the velocity is that of the cell, as each
        has reversed it, the stress is reversed, and the heat flux, whose signs follow from the walls, in whole or not.
        """
        sides, own = np.array([side_x, side_y]), [self.walls[int(side_x > 0)], self.walls[2 + int(side_y > 0)]]
        warm = [not isinstance(wall, str) for wall in own]
        f = self.f[:, self.layers(0, side_x)][:, :, self.layers(1, side_y)]
        rho, u, T = moments(f)
        g2 = (self.gravity**2).sum()
        # temperatures of each wall, and their derivatives along it, before the three cells from the corner on
        near, slopes = [], []
        for axis in (0, 1):
            wall, slope, _ = self.met(own[axis] if warm[axis] else 0.0, axis)
            along = self.layers(1 - axis, sides[1 - axis])
            near.append(wall[along])
            slopes.append(slope[along])
        across_x, across_y = near[0][None, :], near[1][:, None]
        if warm[0] != warm[1]:
            beyond = 2 * (across_x + across_y) - T - g2 / 4
        else:  # each wall turns what the other one has turned, its own temperature beyond it too
            end = sum((15 * wall[0] - 10 * wall[1] + 3 * wall[2]) / 8 for wall in near)
            beyond = T + 2 * (end - across_x - across_y)
        k = np.arange(REACH)
        distance = sides[:, None, None] * (2 * np.array(np.meshgrid(k, k, indexing="ij")) + 1.0)
        rise = np.tensordot(self.gravity, distance, axes=1) / (beyond + T)
        pressure = rho * T * (1 + rise) / (1 - rise)
        rest = f - equilibrium(rho, u, T)
        stress = -np.einsum("iab,i...->ab...", H2, rest)
        heat = np.einsum("iabc,i...->abc...", H3, rest) * (1.0 if warm[0] != warm[1] else -1.0)
        rest = np.einsum("iab,ab...->i...", H2, stress) / 2 + np.einsum("iabc,abc...->i...", H3, heat) / 6
        sign = -1.0 if warm[0] != warm[1] else 1.0
        for axis, slope in ((0, slopes[1][:, None]), (1, slopes[0][None, :])):
            flux = XI[:, axis] * (XI2 - 4) / CS2**1.5
            rest -= sign * (self.tau_heat - 1) * rho * T * slope * per_velocity(flux, rho)
        halo = equilibrium(pressure / beyond, u, beyond) + per_velocity(W, rho) * rest
        across = (sides * D2Q37.c)[..., None, None]
        at = np.array(np.meshgrid(k + 1, k + 1, indexing="ij"))
        leaves = (across[:, 0] >= at[0]) & (across[:, 1] >= at[1])
        enters = (-across[:, 0] >= at[0]) & (-across[:, 1] >= at[1])
        return self.restored(halo, f, leaves, enters, (0, 1, 2), energy=warm[0] == warm[1])

    @staticmethod
    def restored(
        halo: Array, mirror: Array, leaves: Array, enters: Array, axes: tuple[int, ...], *, energy: bool
    ) -> Array:
        """The halo with what enters corrected: it has the mass of what leaves, with `energy` that too.

        Sums are over the velocities and the axes of cells that belong together.
        """
        speed2, weight = (per_velocity(values, halo[0]) for values in ((C**2).sum(axis=1), W))
        m = [(weight * speed2**n * enters).sum(axis=axes, keepdims=True) for n in range(3)]
        gone = [(speed2**n * (mirror * leaves - halo * enters)).sum(axis=axes, keepdims=True) for n in range(2)]
        if not energy:
            return halo + enters * weight * gone[0] / m[0]
        determinant = m[0] * m[2] - m[1] ** 2
        alpha = (m[2] * gone[0] - m[1] * gone[1]) / determinant
        beta = (m[0] * gone[1] - m[1] * gone[0]) / determinant
        return halo + enters * weight * (alpha + beta * speed2)

    def met(self, wall: Any, axis: int) -> tuple[Array, Array, Array]:
        """The temperatures of a wall across `axis` that the gas meets, and their derivatives along it."""
        given = np.broadcast_to(np.asarray(wall, float), self.shape[1 - axis])
        return along_wall(given, ends=self.is_walled(1 - axis))

    def behind(self, axis: int, side: int, wall: Any) -> Array:
        """The cells behind a wall, counted from it: arrays (37, ...) with 3 cells along `axis`.

        `side` is -1 at the low face, 1 at the high one; `wall` is ``"adiabatic"`` or a temperature. The gas at a wall
        has no velocity: to the second order in the distance y from it the tangential velocity is odd in y and the
        normal one a y^2. The temperature less the wall's is odd but for its second derivative, which is that along the
        wall with the other sign less the heating by friction, Pr/c_p times the square of the shear, c_p = 2.
        """
        adiabatic = isinstance(wall, str)
        mirror = np.moveaxis(self.f.take(self.layers(axis, side), axis=1 + axis), 1 + axis, 1)  # (37, 3, along)
        rho, u, T = moments(mirror)
        g2 = (self.gravity**2).sum()
        y = (np.arange(REACH) + 0.5)[:, None]
        flow = u - self._g(rho) / 2
        back = self._g(rho) - u
        back[axis] += 2 * y**2 * (flow[axis] * y**2).sum(axis=0) / (y**4).sum()
        beyond = T
        if not adiabatic:
            smooth, gradient, curvature = self.met(wall, axis)
            shear = flow[1 - axis, 0] / y[0]
            prandtl = (self.tau - 0.5) / (self.tau_heat - 0.5)
            beyond = 2 * smooth - T - g2 / 4 - y**2 * (curvature + prandtl / 2 * shear**2)
        rise = self.gravity[axis] * side * 2 * y / (beyond + T)
        pressure = rho * T * (1 + rise) / (1 - rise)
        stress, third = self.reflected(mirror - equilibrium(rho, u, T), u, back, axis, adiabatic)
        if not adiabatic:
            added = np.zeros((2, *rho.shape))
            added[axis] = side * 2 * y * curvature
            added[1 - axis] = -2 * gradient
            third += (self.tau_heat - 1) * rho * T / CS2**1.5 * symmetric(added)
        rest = np.einsum("iab,ab...->i...", H2, stress) / 2 + np.einsum("iabc,abc...->i...", H3, third) / 6
        halo = equilibrium(pressure / beyond, back, beyond) + per_velocity(W, rho) * rest
        if not adiabatic:
            # the first-order part of fifth order, by the gradient of theta at the wall
            first, second = T[0] - smooth + g2 / 8, T[1] - smooth + g2 / 8
            slope = np.empty((2, *first.shape))
            slope[axis], slope[1 - axis] = -side * (3 * first - second / 3), gradient
            theta = beyond / CS2 - 1
            factor = pressure / beyond * theta * (2 + theta) / (1 + theta)
            along = np.tensordot(C, slope / CS2, axes=1)[:, None]
            halo -= (self.tau - 1) * per_velocity(W * FIFTH, rho) * factor * along
        # what comes in is what went out, column by column; what passes two walls belongs to their corner
        across = side * D2Q37.c[:, axis]
        k = np.arange(1, REACH + 1)
        n = self.shape[1 - axis]
        to = np.arange(n) + D2Q37.c[:, 1 - axis, None, None]
        stays = (to >= 0) & (to < n) if self.is_walled(1 - axis) else np.ones_like(to, bool)
        leaves = (across[:, None] >= k)[..., None] & stays
        enters = (-across[:, None] >= k)[..., None] & stays
        halo = self.restored(halo, mirror, leaves, enters, (0, 1), energy=adiabatic)
        return np.moveaxis(halo, 1, 1 + axis)

    def reflected(self, rest: Array, u: Array, back: Array, axis: int, adiabatic: bool) -> tuple[Array, Array]:
        """The moments of second and third order of what is not in equilibrium, as they are behind the wall.

        `rest` (37, 3, along) has those of the mirror image. Higher ones are left out, which keeps the walls stable
        where tau is near 1/2 (as Latt & Chopard, Math. Comput. Simul. 72 (2006) 165, regularise a collision). The shear
        stress stays and the normal stress, which is 0 at a wall at rest, is reversed. Of the third moments in the frame
        of the gas, whose velocity is `u` here and `back` behind the wall, the heat flux is reversed along an isothermal
        wall and across an adiabatic one; what has no trace stays.
        """
        stress = np.einsum("iab,i...->ab...", H2, rest)
        third = np.einsum("iabc,i...->abc...", H3, rest) - carried(u, stress)
        stress[0, 0] *= -1
        stress[1, 1] *= -1
        heat = np.einsum("abb...->a...", third) / 4
        heat[1 - axis if not adiabatic else axis] *= -2
        heat[axis if not adiabatic else 1 - axis] *= 0
        return stress, third + symmetric(heat) + carried(back, stress)


def symmetric(vector: Array) -> Array:
    """The sum v_a delta_bc + v_b delta_ac + v_c delta_ab, (2, 2, 2, ...)."""
    return sum(np.einsum(f"{a},{b}->abc...", vector, _I) for a, b in (("a...", "bc"), ("b...", "ac"), ("c...", "ab")))


def carried_third(u: Array, third: Array) -> Array:
    """Fourth moments of third ones that move with the gas."""
    places = ("a...,bcd...", "b...,acd...", "c...,abd...", "d...,abc...")
    return sum(np.einsum(f"{place}->abcd...", u, third) for place in places)


def carried(u: Array, stress: Array) -> Array:
    """Third moments of a stress that moves with the gas, both in the units of H3 and H2."""
    v = u / np.sqrt(CS2)
    return sum(np.einsum(f"{a}...,{b}...->abc...", v, stress) for a, b in (("a", "bc"), ("b", "ac"), ("c", "ab")))
