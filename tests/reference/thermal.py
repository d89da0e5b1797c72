"""The reference with a temperature: explicit finite differences over the neighbours that the stencil has.

After Lallemand & Luo, Phys. Rev. E 68 (2003) 036706, and Obrecht, Kuznik, Tourancheau & Roux, Comput. Fluids 80 (2013)
269. A step streams and collides with the force of T(t), whose velocity then moves T(t) to T(t + 1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .adiabatic_walls import weights_behind
from .boundaries import crossed_faces
from .collisions import Collision, collide, macroscopic
from .cut_walls import Cuts
from .lattice import Reference
from .stencils import GROUPS, MATRICES

Array = NDArray[np.float64]

OPERATORS = {
    ("isotropic", 2): {"laplacian": (2 / 3, 1 / 6), "gradient": (1 / 3, 1 / 12)},
    ("isotropic", 3): {"laplacian": (1 / 3, 1 / 6), "gradient": (1 / 6, 1 / 12)},
    ("obrecht2013", 2): {"laplacian": (3 / 2, -1 / 4), "gradient": (3 / 4, -1 / 8)},
    ("obrecht2013", 3): {"laplacian": (2.0, -1 / 4), "gradient": (1.0, -1 / 8)},
}
"""Weights of the neighbours along the axes and of the diagonal ones."""


@dataclass(frozen=True)
class Heat:
    """What the temperature needs beside the flow.

    `faces` are ``"adiabatic"`` or a temperature, a number or an array over the face, and are not looked at where the
    flow is periodic. `bodies` are None (adiabatic) or a temperature, a number or a field.
    """

    diffusivity: float
    operators: str = "isotropic"
    coupling: float = 0.0
    buoyancy: Sequence[float] = ()
    reference: float = 0.0
    faces: Sequence[Any] = ()
    bodies: Sequence[Any] = ()
    source: ArrayLike = 0.0


@dataclass(frozen=True)
class Neighbour:
    """Deviation beyond a cell: `sign` times that of `cell`, plus those of `others` by weights, plus `offset`."""

    cell: tuple[int, ...]
    sign: float = 1.0
    offset: float = 0.0
    others: tuple[tuple[tuple[int, ...], float], ...] = ()

    def reflected(self, wall: float | None) -> Neighbour:
        """The same beyond a wall half-way there, which is adiabatic or has a temperature."""
        return self if wall is None else Neighbour(self.cell, -self.sign, 2 * wall - self.offset)


class ThermalReference(Reference):
    """A flow and its temperature `T`, (nx, ny[, nz]), which is `above`, the deviation that is computed, + reference."""

    def __init__(self, stencil: str, shape: Sequence[int], collision: Collision, heat: Heat, **flow: Any) -> None:
        self.heat = heat
        self.above = np.zeros(tuple(shape))
        super().__init__(stencil, shape, collision, **flow)
        dimensions = self.stencil.D
        self.kinds = list(flow.get("faces") or ["periodic"] * 2 * dimensions)
        self.buoyancy = np.zeros(dimensions) if len(heat.buoyancy) == 0 else np.asarray(heat.buoyancy, float)
        e = MATRICES[self.stencil.name][GROUPS[self.stencil.name].index("e")]
        self.energy = (e / (e @ e)).reshape((-1,) + (1,) * dimensions)
        self.set_walls(heat.faces or ["adiabatic"] * 2 * dimensions, heat.bodies)

    @property
    def T(self) -> Array:
        return self.above + self.heat.reference

    @T.setter
    def T(self, temperature: Array) -> None:
        self.above = temperature - self.heat.reference

    def set_walls(self, faces: Sequence[Any], bodies: Sequence[Any]) -> None:
        """Give faces and bodies new temperatures, of the kinds they have."""
        self.face_temperature, self.body_temperature = list(faces), list(bodies)
        diagonal = (self.stencil.c**2).sum(axis=1) - 1
        table = OPERATORS[self.heat.operators, self.stencil.D]
        self.laplacian = np.array([0.0, *(table["laplacian"][d] for d in diagonal[1:])])
        self.gradient = np.array([0.0, *(table["gradient"][d] for d in diagonal[1:])])
        self._from = np.zeros((self.stencil.Q, *self.shape), dtype=int)
        self._sign, self._offset = np.ones(self._from.shape), np.zeros(self._from.shape)
        more: list[tuple[int, int, float]] = []
        for cell in np.argwhere(~self.solid).tolist():
            for i in range(1, self.stencil.Q):
                there = self.neighbour(tuple(cell), self.stencil.c[i])
                at = (i, *cell)
                self._from[at] = np.ravel_multi_index(there.cell, self.shape)
                self._sign[at], self._offset[at] = there.sign, there.offset
                place = int(np.ravel_multi_index(at, self._from.shape))
                more += [(place, int(np.ravel_multi_index(c, self.shape)), w) for c, w in there.others]
        of_others = np.array(more, dtype=[("at", int), ("cell", int), ("weight", float)])
        self._more = of_others["at"], of_others["cell"], of_others["weight"]

    def neighbour(self, cell: tuple[int, ...], c: NDArray[np.int64]) -> Neighbour:
        """Temperature one link off a fluid cell: across faces, axis by axis, then what a body there makes of it."""
        crossed, at = self.leads_to(cell, c)
        body = self.wall_before(cell, c)
        if body < 0:
            return self._across(Neighbour(at), crossed, at)
        if not crossed and (cut := self._behind_cut(cell, c, at)) is not None:
            return cut
        if crossed:  # the part of the link along the face leads into the body, that across it back to the cell
            there = self._across(Neighbour(cell), crossed, cell)
        else:
            parts = [np.where(np.arange(c.size) == axis, c, 0) for axis in np.flatnonzero(c)]
            # of a link along an axis the one part is the link, which meets the body
            fluid = [part for part in parts if self.wall_before(cell, part) < 0]
            there = Neighbour(self._other(cell, c, fluid[0]) if len(fluid) == 1 else cell)
        return there.reflected(self._wall(self.body_temperature[body], at))

    def _other(self, cell: tuple[int, ...], c: NDArray[np.int64], part: NDArray[np.int64]) -> tuple[int, ...]:
        """The cell at a part of a diagonal link, if its own links across the diagonal and along it meet a body too, as
        they may not where a sheet ends; else the cell itself."""
        beside = self._wrapped(np.add(cell, part))
        walls = self.wall_before(beside, c - 2 * part), self.wall_before(beside, c - part)
        return beside if min(walls) >= 0 else cell

    def wall_before(self, cell: tuple[int, ...], c: NDArray[np.int64]) -> int:
        """The body that a link meets, with a cell or with a sheet before the cell that it leads to; -1 for none."""
        crossed, at = self.leads_to(cell, c)
        inside = c.copy()
        inside[[face // 2 for face in crossed]] = 0
        sheet = self.sheets.get((cell, self.stencil.index(inside)), -1) if inside.any() else -1
        return int(self.body_of[at]) if self.solid[at] else sheet

    def _behind_cut(self, cell: tuple[int, ...], c: NDArray[np.int64], at: tuple[int, ...]) -> Neighbour | None:
        """What a fluid cell finds in solid cell `at` if its surface cuts the link.

        Of an isothermal one a second difference along the link through the surface, exact for parabolas (Shortley &
        Weller 1938) unless it would change the cell faster than a half-way wall; then scaled down to that.
        """
        cuts = self.cuts.get(int(self.body_of[at]))
        place = cell, int(np.flatnonzero((self.stencil.c == c).all(axis=1))[0])
        if cuts is None or not cuts.holds_temperature or place not in cuts.distance:
            return None
        wall = cuts.temperature.get(place, self._wall(self.body_temperature[self.body_of[at]], at))
        if wall is None:
            return self._behind_adiabatic_cut(cell, c, cuts, cuts.distance[place])
        if self.solid[self.leads_to(cell, -c)[1]]:
            return None
        q, behind = cuts.distance[place], self.neighbour(cell, -c)
        scale = min(2 / q, 3.0) / (1 + 1 / q)
        # second difference: scale ((T_behind - T) + (T_wall - T) / q) = T_here_found - 2 T + T_behind
        here, opposite = 2 - scale - scale / q, scale - 1
        offset = opposite * behind.offset + scale / q * wall
        return Neighbour(cell, here, offset, ((behind.cell, opposite * behind.sign),))

    def _behind_adiabatic_cut(
        self, cell: tuple[int, ...], c: NDArray[np.int64], cuts: Cuts, q: float
    ) -> Neighbour | None:
        """The same of an adiabatic surface, by a fit to the fluid cells around; None where there is none."""
        places, points, found = [], [], []
        for to in self.stencil.c:
            crossed, at = self.leads_to(cell, to)
            if self.solid[at]:
                continue
            places.append(to.astype(float))
            found.append(self.neighbour(cell, to) if to.any() else Neighbour(cell))
            for d, other in enumerate(self.stencil.c):
                if not crossed and (at, d) in cuts.distance and not self.leads_to(at, other)[0]:
                    points.append(to + cuts.distance[at, d] * other)
        weights = weights_behind(c, q, points, places)
        if weights is None:
            return None
        offset = float(sum(w * each.offset for w, each in zip(weights, found, strict=True)))
        others = tuple((each.cell, float(w) * each.sign) for w, each in zip(weights, found, strict=True))
        return Neighbour(cell, 0.0, offset, others)

    def leads_to(self, cell: tuple[int, ...], c: NDArray[np.int64]) -> tuple[list[int], tuple[int, ...]]:
        """The faces but periodic ones that a link crosses, and the cell beside them that it leads to."""
        crossed = [f for f in crossed_faces(np.add(cell, c), self.shape) if self.kinds[f] != "periodic"]
        inside = c.copy()
        inside[[face // 2 for face in crossed]] = 0
        return crossed, self._wrapped(np.add(cell, inside))

    def _across(self, there: Neighbour, crossed: Sequence[int], at: tuple[int, ...]) -> Neighbour:
        """A temperature reflected by faces one after another, with the values that they have beside cell `at`."""
        for face in crossed:
            there = there.reflected(self._wall(self.face_temperature[face], np.delete(at, face // 2)))
        return there

    def _wrapped(self, cell: NDArray[np.int64]) -> tuple[int, ...]:
        return tuple(int(x) % n for x, n in zip(cell, self.shape, strict=True))

    def _wall(self, value: Any, at: Any) -> float | None:
        """Deviation of a wall at a place, None where it is adiabatic."""
        if value is None or (isinstance(value, str) and value == "adiabatic"):
            return None
        value = np.asarray(value, float) - self.heat.reference
        return float(value[tuple(at)] if value.ndim else value)

    def neighbours(self) -> Array:
        """Deviation along each direction, (Q, nx, ny[, nz]); of the cell itself along the first."""
        flat = self.above.ravel()
        values = self._sign * flat[self._from] + self._offset
        at, cells, weights = self._more
        np.add.at(values.reshape(-1), at, weights * flat[cells])
        values[0] = self.above
        return values

    def applied_force(self) -> Array:
        """Body force of each cell, with that of the temperature of now."""
        lift = np.where(self.solid, 0.0, self.above)
        return self.force + self.buoyancy.reshape((-1,) + (1,) * lift.ndim) * lift

    def velocity(self) -> Array:
        momentum = np.tensordot(self.stencil.c.T, self.f, axes=1)
        return (momentum - self.applied_force() / 2) / self.inertia(self.density())

    def step(self, steps: int = 1) -> None:
        for _ in range(steps):
            arrived = self.incoming()
            arrived[:, self.solid] = self.stencil.w[:, None]
            force = self.applied_force()
            u = macroscopic(self.stencil, arrived, force, self.collision.incompressible)[1]
            shift = self.heat.coupling * self.above * self.energy
            self.renew_eddy_viscosity()
            self.f = collide(self.stencil, self.collision, arrived, force, shift, self.eddy, self.strain)
            self.f[:, self.solid] = self.stencil.w[:, None]
            self.above = np.where(self.solid, self.above, self.moved(u))
            self.end_step(u)

    def moved(self, u: Array) -> Array:
        """The deviation a step later, in a flow with velocity `u`."""
        around = self.neighbours()
        laplacian = np.tensordot(self.laplacian, around - self.above, axes=1)
        gradient = np.tensordot((self.gradient[:, None] * self.stencil.c).T, around, axes=1)
        diffused = self.heat.diffusivity * laplacian
        return self.above + diffused - (u * gradient).sum(axis=0) + np.asarray(self.heat.source)

    def face_flux(self, face: int) -> Array:
        """Heat a step and area that a face gives to the fluid: a one-sided second-order gradient.

        Of first order where the second cell is none of the fluid.
        """
        axis = face // 2
        temperature = self.face_temperature[face]
        inward = slice(None, None, 1 if face % 2 == 0 else -1)
        T, solid = (np.moveaxis(a, axis, 0)[inward] for a in (self.above, self.solid))
        if isinstance(temperature, str) or self.kinds[face] == "periodic":
            return np.zeros(solid[0].shape)
        wall = np.asarray(temperature, float) - self.heat.reference
        gradient = 2 * (wall - T[0])
        if len(T) > 1:
            axes = [n for n in range(self.stencil.D) if n != axis]
            into = (np.arange(self.stencil.D) == axis) * (1 if face % 2 == 0 else -1)
            walls = np.zeros(solid[0].shape, bool)
            for at in np.ndindex(walls.shape):
                cell = np.zeros(self.stencil.D, int)
                cell[axes], cell[axis] = at, 0 if face % 2 == 0 else self.shape[axis] - 1
                walls[at] = self.wall_before(tuple(cell.tolist()), into) >= 0
            gradient = np.where(walls, gradient, (8 * wall - 9 * T[0] + T[1]) / 3)
        return np.where(solid[0], 0.0, self.heat.diffusivity * gradient)

    def body_flux(self, body: int) -> tuple[list[tuple[int, ...]], Array, Array]:
        """The fluid cells beside a body, and what each takes up through its links with it: heat a step, and area.

        A link across a face meets the body where that goes on behind the face, as in a mirror.
        """
        around = self.neighbours()
        found: dict[tuple[int, ...], tuple[float, float]] = {}
        for cell in map(tuple, np.argwhere(~self.solid).tolist()):
            for i in range(1, self.stencil.Q):
                if self.wall_before(cell, self.stencil.c[i]) != body:
                    continue
                flux, area = found.get(cell, (0.0, 0.0))
                w = self.laplacian[i]
                gain = self.heat.diffusivity * w * (around[(i, *cell)] - self.above[cell])
                found[cell] = (flux + gain, area + w)
        return list(found), *(np.array([pair[k] for pair in found.values()]) for k in (0, 1))
