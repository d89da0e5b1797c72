"""NumPy reference of boundary conditions that compute all populations entering a cell through a face at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from .boundaries import Link
    from .lattice import Reference
    from .stencils import Stencil

Array = NDArray[np.float64]
Place = tuple[int, tuple[int, ...]]
"""A face and a cell before it."""


@dataclass
class BoundaryCell:
    """What a formula reads: see ``condition.h`` of the engine, whose names these are."""

    reference: Reference
    face: int
    cell: tuple[int, ...]
    value: Any
    arrived: Array
    """What has streamed into all cells."""
    missing: frozenset[int]
    """Velocities along which nothing has, as a formula of this form makes what comes in."""
    numbers: dict[Place, Array]
    """Of all cells, before the step."""

    @property
    def axis(self) -> int:
        return self.face // 2

    @property
    def inward(self) -> int:
        return 1 if self.face % 2 == 0 else -1

    def moments(self, k: int) -> tuple[float, Array]:
        """Density and velocity so many cells inwards, or of the last one of the fluid."""
        at = self.cell
        for _ in range(k):
            following = tuple(x + self.inward * (axis == self.axis) for axis, x in enumerate(at))
            if not 0 <= following[self.axis] < self.reference.shape[self.axis] or self.reference.solid[following]:
                break
            at = following
        return float(self.reference.density()[at]), self.reference.velocity()[(slice(None), *at)]

    def departed(self, i: int) -> float:
        return float(self.reference.f[(i, *self.cell)])

    def streamed(self, i: int) -> float:
        assert i not in self.missing
        return float(self.arrived[(i, *self.cell)])

    def stored(self) -> Array:
        return self.numbers[self.face, self.cell]

    def has_neighbour(self, axis: int, side: int) -> bool:
        """Whether neither the face nor the fluid ends beside the cell."""
        return self._neighbour(axis, side) in self.numbers

    def stored_by_neighbour(self, axis: int, side: int) -> Array:
        return self.numbers.get(self._neighbour(axis, side), self.stored())

    def _neighbour(self, axis: int, side: int) -> Place:
        at = list(self.cell)
        at[axis] += 2 * side - 1
        if self.reference.faces[2 * axis] == "periodic":
            at[axis] %= self.reference.shape[axis]
        return self.face, tuple(at)


Start = Callable[[BoundaryCell], Array]
Complete = Callable[[BoundaryCell], tuple[Array, Array]]
FORMULAS: dict[str, tuple[Start, Complete]] = {}
"""By kind of face: the numbers that a cell starts with; those after a step, and all populations that could come in."""


def boundary_cells(
    reference: Reference, links: Sequence[Link], arrived: Array, numbers: dict[Place, Array]
) -> dict[Place, tuple[BoundaryCell, list[int], str]]:
    """The cells that links of such faces lead into: what a formula reads there, velocities that come in, kind."""
    missing: dict[tuple[int, ...], set[int]] = {}
    for link in links:
        missing.setdefault(link.cell, set()).add(link.i)
    found: dict[Place, tuple[BoundaryCell, list[int], str]] = {}
    for link in links:
        place = link.face, link.cell
        if place not in found:
            value, velocities = reference.face_value(link), frozenset(missing[link.cell])
            cell = BoundaryCell(reference, *place, value, arrived, velocities, numbers)
            found[place] = cell, [], link.kind
        found[place][1].append(link.i)
    return found


def complete(reference: Reference, links: Sequence[Link], arrived: Array, numbers: dict[Place, Array]) -> None:
    """Put what comes in through such faces into `arrived`, and the numbers after the step in the place of `numbers`.

    Args:
        reference: with the state before the step.
        links: all that such faces govern.
        arrived: what has streamed in along all others.
        numbers: empty where a state was set.
    """
    cells = boundary_cells(reference, links, arrived, numbers)
    if not numbers:
        numbers |= {place: FORMULAS[kind][0](cell) for place, (cell, _, kind) in cells.items()}
    after = {place: (FORMULAS[kind][1](cell), velocities) for place, (cell, velocities, kind) in cells.items()}
    for place, ((stored, incoming), velocities) in after.items():
        numbers[place] = stored
        for i in velocities:
            arrived[(i, *place[1])] = incoming[i]


def replace(reference: Reference, links: Sequence[Link], arrived: Array, numbers: dict[Place, Array]) -> None:
    """Change all of `arrived` in cells whose conditions do so; of several faces of a cell the first one counts."""
    done = set()
    cells = boundary_cells(reference, links, arrived, numbers)
    for (_, at), (cell, _, kind) in sorted(cells.items(), key=lambda item: item[0]):
        if kind in REPLACEMENTS and at not in done:
            done.add(at)
            arrived[(slice(None), *at)] = REPLACEMENTS[kind](cell)


def _known(cell: BoundaryCell, i: int) -> float:
    return cell.departed(i) if i in cell.missing else cell.streamed(i)


def _outgoing(cell: BoundaryCell) -> float:
    """The density times one plus the velocity out of the domain (Zou & He, Phys. Fluids 9 (1997) 1591)."""
    inwards = cell.inward * cell.reference.stencil.c[:, cell.axis]
    factor = np.where(inwards < 0, 2, np.where(inwards == 0, 1, 0))
    return sum(float(n) * _known(cell, i) for i, n in enumerate(factor) if n)


def _density(cell: BoundaryCell, outward: float, outgoing: float) -> float:
    """What goes with a velocity out of the domain; rho + U in place of rho (1 + U) with the incompressible one."""
    return outgoing - outward if cell.reference.collision.incompressible else outgoing / (1 + outward)


def _entering(cell: BoundaryCell, density: float, velocity: Array) -> Array:
    stencil = cell.reference.stencil
    density = cell.reference.inertia(density)
    known = np.array([_known(cell, int(back)) if i in cell.missing else 0.0 for i, back in enumerate(stencil.opposite)])
    return known + 6 * stencil.w * density * (stencil.c @ velocity)


def _outward(cell: BoundaryCell, characteristic: float, outgoing: float) -> float:
    """The velocity U with ``(density - 1) / 3 - U / sqrt(3) = characteristic`` and ``density (1 + U) = outgoing``."""
    if cell.reference.collision.incompressible:  # density + U = outgoing
        return float(((outgoing - 1) / 3 - characteristic) / (1 / 3 + 1 / np.sqrt(3)))
    roots = np.roots([np.sqrt(3), 1 + 3 * characteristic + np.sqrt(3), 1 + 3 * characteristic - outgoing])
    return float(roots[np.argmin(abs(roots))].real)


def _set_velocity(cell: BoundaryCell) -> tuple[Array, Array]:
    outward = -cell.inward * cell.value[cell.axis]
    return np.empty(0), _entering(cell, _density(cell, outward, _outgoing(cell)), cell.value)


def _draw_velocity(cell: BoundaryCell) -> tuple[Array, Array]:
    density, u = cell.moments(0)
    velocity, outgoing = np.array(cell.value, float), _outgoing(cell)
    before, wanted = -cell.inward * u[cell.axis], -cell.inward * velocity[cell.axis]
    characteristic = (density - 1) / 3 - (before - 0.001 * (before - wanted)) / np.sqrt(3)
    outward = _outward(cell, characteristic, outgoing)
    velocity[cell.axis] = -cell.inward * outward
    return np.empty(0), _entering(cell, _density(cell, outward, outgoing), velocity)


def _start_outlet(cell: BoundaryCell) -> Array:
    density, u = cell.moments(0)
    along = np.delete(u, cell.axis)
    zeros = np.zeros(2)
    return np.array([density - 1, -cell.inward * u[cell.axis], *along, *zeros[: 2 - len(along)], *zeros, 0])


def _draw_density(cell: BoundaryCell) -> tuple[Array, Array]:
    """The numbers: density - 1, mean outward velocity, tangential velocities (2), shares of sound (2), outward velocity
    that the flow carries out."""
    n, count, stencil = cell.axis, cell.reference.stencil.D - 1, cell.reference.stencil
    (density, u), stored = cell.moments(0), cell.stored()
    along = [axis for axis in range(count + 1) if axis != n]
    beside = {axis: [cell.stored_by_neighbour(axis, side) for side in range(2)] for axis in along}
    slope = {axis: (up - down) / 2 for axis, (down, up) in beside.items()}
    bend = {axis: up + down - 2 * stored for axis, (down, up) in beside.items()}
    (densities, velocities) = zip(*(cell.moments(k) for k in range(3)), strict=True)
    into = np.array([1.5, -2.0, 0.5])
    density_slope, velocity_slope = into @ np.array(densities), into @ np.array(velocities)
    outward, mean = -cell.inward * u[n], max(stored[1], 0)

    after, velocity, divergence = np.zeros_like(stored), u.copy(), 0.0
    corner = not all(cell.has_neighbour(axis, side) for axis in along for side in range(2))
    for t, axis in enumerate([] if corner else along):
        rate = -slope[axis][0] / 3 / cell.reference.inertia(density) + bend[axis][4 + t] / 6
        rate -= max(outward, 0) * velocity_slope[axis]
        rate -= sum(u[by] * slope[by][2 + t] for by in along)
        velocity[axis] += rate
        after[4 + t] = 0.95 * stored[4 + t] + rate + mean * velocity_slope[axis]
        divergence += slope[axis][4 + t] - bend[axis][0] / 6
    outward_slope = -cell.inward * velocity_slope[n]
    characteristic = (density - 1) / 3 - outward / np.sqrt(3) - divergence / 6
    characteristic -= mean * (density_slope / 3 - outward_slope / np.sqrt(3))
    characteristic -= 0.0005 / 3 * (density - cell.value)
    outgoing = _outgoing(cell)
    new = _outward(cell, characteristic, outgoing)
    velocity[n] = -cell.inward * new
    after[0] = _density(cell, new, outgoing) - 1
    leaving = max(outward, 0)
    after[6] = np.clip(0.999 * stored[6] - leaving * outward_slope, -leaving / 2, leaving / 2)
    after[1] = stored[1] + 0.001 * (outward - after[6] - stored[1])

    entering, inertia = velocity.copy(), cell.reference.inertia(1 + after[0])
    for t, axis in enumerate(along):
        after[2 + t] = velocity[axis]
        if corner:
            continue
        known = np.array([_known(cell, i) if cell.inward * c[n] <= 0 else 0 for i, c in enumerate(stencil.c)])
        entering[axis] += 3 * _lacking(cell, known, axis, inertia * velocity[axis]) / inertia
    return after, _entering(cell, 1 + after[0], entering)


def _lacking(cell: BoundaryCell, f: Array, axis: int, momentum: float) -> float:
    """What populations that do not cross the face lack of a tangential momentum (Zou & He 1997, eq. 16)."""
    c = cell.reference.stencil.c
    return float(momentum * 2 / 3 - (f * c[:, axis])[c[:, cell.axis] == 0].sum())


def _moments(cell: BoundaryCell) -> tuple[float, Array]:
    """Density and velocity of what has come in, without forces."""
    f = cell.arrived[(slice(None), *cell.cell)]
    return float(f.sum()), cell.reference.stencil.c.T @ f / cell.reference.inertia(f.sum())


def _nonequilibrium_stress(cell: BoundaryCell, equal: Array) -> Array:
    c = cell.reference.stencil.c
    return np.einsum("ia,ib,i->ab", c, c, cell.arrived[(slice(None), *cell.cell)] - equal)


def _from_stress(cell: BoundaryCell, equal: Array, stress: Array) -> Array:
    """Latt et al., Phys. Rev. E 77 (2008) 056703."""
    stencil = cell.reference.stencil
    second = np.einsum("ia,ib->iab", stencil.c, stencil.c)
    return equal + 4.5 * stencil.w * np.einsum("iab,ab->i", second - np.eye(stencil.D) / 3, stress)


def _regularized(cell: BoundaryCell) -> Array:
    """Density, given velocity and stress alone, of which 0.8 of the shear stress across the face."""
    equal = _low_order(cell, _moments(cell)[0], np.asarray(cell.value, float))
    stress = _nonequilibrium_stress(cell, equal)
    share = np.ones_like(stress)
    share[cell.axis], share[:, cell.axis], share[cell.axis, cell.axis] = 0.8, 0.8, 1
    return _from_stress(cell, equal, share * stress)


def _drawn_inlet(cell: BoundaryCell) -> Array:
    """Density, normal velocity, given tangential velocity and 0.88 of the stress alone."""
    density, u = _moments(cell)
    velocity = np.array(cell.value, float)
    velocity[cell.axis] = u[cell.axis]
    equal = _low_order(cell, density, velocity)
    return _from_stress(cell, equal, 0.88 * _nonequilibrium_stress(cell, equal))


def _drawn_outlet(cell: BoundaryCell) -> Array:
    """Density, velocity and 0.88 of the stress alone, that without the tangential momentum that was lacking."""
    density, u = _moments(cell)
    equal = _low_order(cell, density, u)
    stress, n = _nonequilibrium_stress(cell, equal), cell.axis
    along = [axis for axis in range(len(u)) if axis != n]
    if all(cell.has_neighbour(axis, side) for axis in along for side in range(2)):
        for axis in along:
            momentum = cell.reference.inertia(density) * u[axis]
            stress[n, axis] -= cell.inward * _lacking(cell, cell.arrived[(slice(None), *cell.cell)], axis, momentum)
            stress[axis, n] = stress[n, axis]
    return _from_stress(cell, equal, 0.88 * stress)


def _low_order(cell: BoundaryCell, density: float, velocity: Array) -> Array:
    return low_order_equilibrium(cell.reference.stencil, density, velocity, cell.reference.collision.incompressible)


def low_order_equilibrium(stencil: Stencil, density: Any, velocity: Array, incompressible: bool) -> Array:
    """The equilibrium of second order of one cell."""
    cu = 3 * (stencil.c @ velocity)
    moving = cu + cu**2 / 2 - 1.5 * (velocity**2).sum()
    return stencil.w * (density + (1.0 if incompressible else density) * moving)


def _nothing(cell: BoundaryCell) -> Array:
    return np.empty(0)


FORMULAS["nonequilibrium-inlet"] = _nothing, _set_velocity
FORMULAS["regularized-inlet"] = _nothing, _set_velocity
FORMULAS["characteristic-inlet"] = _nothing, _draw_velocity
FORMULAS["characteristic-outlet"] = _start_outlet, _draw_density
REPLACEMENTS: dict[str, Callable[[BoundaryCell], Array]] = {
    "regularized-inlet": _regularized,
    "characteristic-inlet": _drawn_inlet,
    "characteristic-outlet": _drawn_outlet,
}
"""By kind of face: all populations of a cell, of those that have come in."""
