"""The reference solver: stream, boundaries, collide."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import boundary_cells, cut_walls, sponges
from .boundaries import Link, special_links
from .collisions import Collision, collide, equilibrium, inertia, macroscopic
from .stencils import CS2, STENCILS
from .turbulence import Turbulence, eddy_viscosity, strain_rate

Array = NDArray[np.float64]
WALLS = ("no-slip", "moving-wall", "velocity-inlet", "body")
OUTFLOW_RELAXATION = 0.02


class Reference:
    """Full populations `f` after collision, (Q, nx, ny[, nz]), and what acts on them.

    `bodies` are pairs of a mask and a wall velocity, (D,) or (D, nx, ny[, nz]); `face_velocity` and `face_density`
    map a face's number to its value, uniform or over the face's tangential axes. `cuts` are those of bodies whose
    surface cuts links at known distances, by their number. Moving walls push with the one
    `reference_density`, so that a closed box keeps its mass; an inlet takes the density of its cell.
    """

    def __init__(
        self,
        stencil: str,
        shape: Sequence[int],
        collision: Collision,
        *,
        faces: Sequence[str] | None = None,
        bodies: Sequence[tuple[NDArray[np.bool_], ArrayLike]] = (),
        face_velocity: dict[int, ArrayLike] | None = None,
        face_density: dict[int, ArrayLike] | None = None,
        force: ArrayLike | None = None,
        reference_density: float = 1.0,
        turbulence: Turbulence | None = None,
        sponge: Sequence[sponges.Sponge] = (),
        cuts: dict[int, cut_walls.Cuts] | None = None,
    ) -> None:
        self.stencil = STENCILS[stencil]
        self.shape = tuple(shape)
        self.collision = collision
        dimensions = self.stencil.D
        self.force = np.zeros((dimensions, *self.shape))
        if force is not None:
            self.force += self._over_cells(np.asarray(force, float), self.shape)
        self.reference_density = reference_density
        self.turbulence = turbulence
        self.steps = 0
        self.kept: Array | None = None  # the velocity of the last step, for the gradients of a turbulence model
        self.eddy: Array | float = 0.0
        self.strain: Array | None = None  # of a hybrid collision
        self.sponges = sponge
        self.face_velocity = face_velocity or {}
        self.face_density = face_density or {}
        self.body_of = np.full(self.shape, -1)
        self.wall_velocities = []  # of bodies, in all cells
        for number, (mask, velocity) in enumerate(bodies):
            self.body_of[mask] = number
            values = self._over_cells(np.asarray(velocity, float), self.shape)
            self.wall_velocities.append(np.broadcast_to(values, (dimensions, *self.shape)))
        self.solid = self.body_of >= 0
        self.faces = faces or ["periodic"] * 2 * dimensions
        self.cuts = cuts or {}
        self.sheets = cut_walls.sheets(self)
        self.links = list(special_links(self.stencil, self.faces, self.body_of, self.sheets))
        self.special = {(link.cell, link.i): link for link in self.links}
        self._of_cells = [link for link in self.links if link.kind in boundary_cells.FORMULAS]
        alone = [link for link in self.links if link.kind not in boundary_cells.FORMULAS]
        self._by_kind = {kind: [k for k in alone if k.kind == kind] for kind in {k.kind for k in alone}}
        self.numbers: dict[boundary_cells.Place, Array] = {}
        self.initialize(np.ones(self.shape), np.zeros((dimensions, *self.shape)))

    @staticmethod
    def _over_cells(values: Array, shape: tuple[int, ...]) -> Array:
        """A vector or a vector field, with the axes of `shape`."""
        return values if values.ndim > 1 else values.reshape((-1,) + (1,) * len(shape))

    def initialize(self, density: Array, velocity: Array) -> None:
        """Set the populations to equilibrium."""
        self.f = equilibrium(self.stencil, density, velocity, self.collision.incompressible)
        self.numbers = {}

    def density(self) -> Array:
        return self.f.sum(axis=0)

    def inertia(self, density: Any) -> Any:
        """The density by which momentum is velocity."""
        return inertia(density, self.collision.incompressible)

    def velocity(self) -> Array:
        """Velocity of the last step: collision added one force, the velocity counts half of it."""
        momentum = np.tensordot(self.stencil.c.T, self.f, axes=1) - self.force / 2
        return momentum / self.inertia(self.density())

    def step(self, steps: int = 1) -> None:
        """Advance by `steps`."""
        for _ in range(steps):
            arrived = self.incoming()
            arrived[:, self.solid] = self.stencil.w[:, None]
            self.renew_eddy_viscosity()
            self.f = collide(self.stencil, self.collision, arrived, self.force, eddy=self.eddy, strain=self.strain)
            self.f[:, self.solid] = self.stencil.w[:, None]
            self.end_step(macroscopic(self.stencil, arrived, self.force, self.collision.incompressible)[1])

    def incoming(self) -> Array:
        """The populations that the next collision is of."""
        arrived = self._streamed(self.numbers)
        boundary_cells.replace(self, self._of_cells, arrived, self.numbers)
        sponges.damp(self, self.sponges, arrived)
        return arrived

    def renew_eddy_viscosity(self) -> None:
        """Bring the eddy viscosity, and the strain rate, up to the step that begins."""
        if self.turbulence is None and self.collision.hybrid is None:
            return
        velocity = self.velocity() if self.kept is None else self.kept
        if self.turbulence is not None and self.steps % self.turbulence.every == 0:
            self.eddy = eddy_viscosity(self, self.turbulence, velocity)
        if self.collision.hybrid is not None:
            self.strain = strain_rate(self, velocity)

    def end_step(self, velocity: Array) -> None:
        """Count a step, in whose collision the fluid had this velocity."""
        self.kept = velocity
        self.steps += 1

    def _streamed(self, numbers: dict[boundary_cells.Place, Array]) -> Array:
        """What arrives at every cell; `numbers` are those of boundary cells, which become those after the step."""
        arrived = np.empty_like(self.f)
        axes = tuple(range(self.stencil.D))
        for i, c in enumerate(self.stencil.c):
            arrived[i] = np.roll(self.f[i], tuple(c), axis=axes)
        for kind, links in self._by_kind.items():
            here = ([link.i for link in links], *np.transpose([link.cell for link in links]))
            arrived[here] = self._arriving(kind, links)
        cut_walls.come_off(self, arrived)
        boundary_cells.complete(self, self._of_cells, arrived, numbers)
        return arrived

    def _arriving(self, kind: str, links: list[Link]) -> Array:
        """The populations that arrive along special links of one kind."""
        i = np.array([link.i for link in links])
        cells = tuple(np.transpose([link.cell for link in links]))
        if kind in ("fluid", "outflow"):
            inside = self.f[([link.j for link in links], *np.transpose([link.source for link in links]))]
            if kind == "fluid":
                return inside
            return inside - OUTFLOW_RELAXATION * self.stencil.w[i] * (self.density()[cells] - self.reference_density)
        w, c = self.stencil.w[i], self.stencil.c[i]
        if kind == "local-outflow":
            return self.f[(i, *cells)] - OUTFLOW_RELAXATION * w * (self.density()[cells] - self.reference_density)
        back = self.f[(self.stencil.opposite[i], *cells)]
        if kind in WALLS:
            # Ladd, J. Fluid Mech. 271 (1994) 285
            wall = np.array([self._wall_velocity(link) for link in links])
            density = self.density()[cells] if kind == "velocity-inlet" else self.reference_density
            if kind == "body":
                c = self.stencil.c[[link.j for link in links]]
            return back + 2 * w * self.inertia(density) * (c * wall).sum(axis=1) / CS2
        # Ginzburg, Verhaeghe & d'Humieres, Commun. Comput. Phys. 3 (2008) 427: anti-bounce-back
        u = self.velocity()[(slice(None), *cells)].T
        cu, u2 = (c * u).sum(axis=1), (u**2).sum(axis=1)
        rho_wall = np.array([self._wall_density(link) for link in links])
        return -back + 2 * w * (rho_wall + self.inertia(rho_wall) * (cu**2 / (2 * CS2**2) - u2 / (2 * CS2)))

    def _wall_velocity(self, link: Link) -> Array:
        if link.kind == "no-slip":
            return np.zeros(self.stencil.D)
        if link.kind == "body":
            return np.asarray(self.wall_velocities[link.body][(slice(None), *link.source)])
        values = np.asarray(self.face_velocity[link.face], float)
        return values[(slice(None), *link.at)] if values.ndim > 1 else values

    def face_value(self, link: Link) -> Any:
        """What the condition of its face takes beside a link."""
        return self._wall_velocity(link) if link.face in self.face_velocity else self._wall_density(link)

    def _wall_density(self, link: Link) -> float:
        values = np.asarray(self.face_density.get(link.face, 1.0), float)
        return values[link.at] if values.ndim else values

    def body_force(self, body: int, center: Sequence[float] | None = None) -> tuple[Array, Array]:
        """Force on a body and torque about `center`, by momentum exchange over the links that stream next.

        Pressure is gauge, relative to density 1. A link acts half a link off the solid cell's centre; the centre of
        cell 0 is at 0.5. Through a free-slip face it acts on the body as in a mirror. The torque has one component in
        two dimensions, three in three.
        """
        arrived = self._streamed(dict(self.numbers))
        dimensions = self.stencil.D
        about = np.zeros(dimensions) if center is None else np.asarray(center, float)
        force = np.zeros(dimensions)
        torque = np.zeros(1 if dimensions == 2 else 3)
        for link in self.links:
            if link.kind != "body" or link.body != body:
                continue
            pull, distance = cut_walls.exchanged(self, link, arrived)
            arm = np.add(link.source, 0.5) + (1 - distance) * self.stencil.c[link.j] - about
            force += pull
            if dimensions == 2:
                torque += arm[0] * pull[1] - arm[1] * pull[0]
            else:
                torque += np.cross(arm, pull)
        return force, torque
