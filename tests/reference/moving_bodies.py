"""Bodies that move: the walls of what they cut, and the cells that they cover and uncover, in a periodic box."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .cut_walls import interpolated
from .lattice import Reference
from .stencils import CS2

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Pose:
    """A place of a body, and how fast it moves: about `origin`, by `turn` from where its geometry is about `center`."""

    turn: Array
    origin: Array
    center: Array
    velocity: Array
    spin: Array

    def own(self, x: Array) -> Array:
        """Points ``(D, n)`` in the frame of the geometry."""
        return self.turn.T @ (x - self.origin[:, None]) + self.center[:, None]

    def wall_velocity(self, x: Array) -> Array:
        """Of the body at a point ``(D,)``; `spin` has three components."""
        arm = np.zeros(3)
        arm[: len(x)] = x - self.origin
        return self.velocity + np.cross(self.spin, arm)[: len(x)]


class MovingReference(Reference):
    """With one body, inside of which `inside(*x)` says that a point is, at the poses of each time; links that it cuts
    are halved so many times."""

    def __init__(
        self,
        *given: Any,
        inside: Callable[..., NDArray[np.bool_]],
        poses: Callable[[int], Pose],
        halvings: int = 40,
        **more: Any,
    ) -> None:
        self.inside, self.poses, self.halvings = inside, poses, halvings
        super().__init__(*given, **more)
        axes = [np.arange(n) + 0.5 for n in self.shape]
        self.x = np.stack(np.meshgrid(*axes, indexing="ij"))

    def holds(self, pose: Pose, x: Array) -> NDArray[np.bool_]:
        """Whether points ``(D, n)`` are in the body or an image of it."""
        n = np.array(self.shape, float)[:, None]
        middle = pose.origin[:, None]
        near = x - n * np.round((x - middle) / n)
        return np.asarray(self.inside(*pose.own(near)))

    def cells(self, pose: Pose) -> NDArray[np.bool_]:
        """The cells in the body."""
        return self.holds(pose, self.x.reshape(len(self.shape), -1)).reshape(self.shape)

    def _cut(self, pose: Pose, x: Array, c: Array) -> Array:
        """Where the lines from points ``(D, n)`` along c go into the body."""
        outside, inside = np.zeros(x.shape[1]), np.ones(x.shape[1])
        for _ in range(self.halvings):
            middle = (outside + inside) / 2
            is_inside = self.holds(pose, x + middle * c)
            inside, outside = np.where(is_inside, middle, inside), np.where(is_inside, outside, middle)
        return (outside + inside) / 2

    def incoming(self) -> Array:
        arrived = self._streamed(self.numbers)
        before, after = self.poses(self.steps), self.poses(self.steps + 1)
        was, is_now = self.cells(before), self.cells(after)
        kept = arrived.copy()  # what has streamed in
        for link in self._links(was, is_now, before, after):
            arrived[link[0]] = self._off(kept, *link)[0]
        for cell in np.argwhere(is_now | was):
            self._fill(arrived, kept, tuple(cell), was, after, is_covered=bool(is_now[tuple(cell)]))
        return arrived

    def _links(
        self, was: NDArray[np.bool_], is_now: NDArray[np.bool_], before: Pose, after: Pose
    ) -> Sequence[tuple[Any, ...]]:
        """The index of each population that comes off the body, the distance, whether the link meets fluid, the
        velocity of the wall and the point."""
        n = np.array(self.shape)
        body, axes = was | is_now, tuple(range(len(n)))
        beside = np.any([np.roll(body, c, axes) for c in self.stencil.c], axis=0)
        links = []
        for cell in np.argwhere(beside & ~body):
            for i, c in enumerate(self.stencil.c):
                neighbor, beyond = tuple((cell - c) % n), tuple((cell + c) % n)
                if body[neighbor]:
                    links.append((i, tuple(cell), bool(is_now[neighbor]), not body[beyond]))
        distances = np.zeros(len(links))
        for pose, is_after in ((before, False), (after, True)):
            those = [k for k, link in enumerate(links) if link[2] == is_after]
            x = np.array([links[k][1] for k in those]).reshape(-1, len(n)).T + 0.5
            c = self.stencil.c[[links[k][0] for k in those]].T
            distances[those] = self._cut(pose, x, -c)
        found = []
        for (i, at, _, meets), q in zip(links, distances, strict=True):
            x, middle = np.array(at) + 0.5, after.origin
            point = x - n * np.round((x - middle) / n) - q * self.stencil.c[i]
            found.append(((i, *at), q, meets, after.wall_velocity(point), point))
        return found

    def _off(self, kept: Array, at: Any, q: float, meets: bool, wall: Array, _: Array) -> tuple[float, float]:
        """The population that comes off the wall, and the one that went towards it."""
        i, *cell = at
        back = int(self.stencil.opposite[i])
        density = self.f[(slice(None), *cell)].sum()
        momentum = 2 * self.stencil.w[i] * self.inertia(density) * (self.stencil.c[i] @ wall) / CS2
        outgoing = self.f[(back, *cell)]
        if not meets:
            return outgoing + momentum, outgoing
        return interpolated(q, outgoing, self.f[(i, *cell)], kept[(back, *cell)], momentum), outgoing

    def _fill(
        self,
        arrived: Array,
        kept: Array,
        cell: tuple[int, ...],
        was: NDArray[np.bool_],
        pose: Pose,
        *,
        is_covered: bool,
    ) -> None:
        w, c, opposite = self.stencil.w, self.stencil.c, self.stencil.opposite
        n = np.array(self.shape)
        x = np.array(cell) + 0.5
        u = pose.wall_velocity(x - n * np.round((x - pose.origin) / n))
        known = [i > 0 and not is_covered and not was[tuple((cell - c[i]) % n)] for i in range(len(c))]
        f = kept[(slice(None), *cell)] - w
        cu, u2 = c @ u / CS2, u @ u / CS2
        mass = weight = 0.0
        for i in range(1, len(c)):
            j = int(opposite[i])
            if i < j and (known[i] or known[j]):
                both = f[i] + f[j]
                if not known[j]:
                    both = 2 * (f[i] - w[i] * cu[i])
                elif not known[i]:
                    both = 2 * (f[j] - w[i] * cu[j])
                mass += both - w[i] * (cu[i] ** 2 - u2)
                weight += 2 * w[i]
        deviation = mass / weight if weight else 0.0
        rho = self.inertia(1 + deviation)
        rest = w * (deviation + rho * (cu + (cu**2 - u2) / 2))
        for i in range(len(c)):
            if known[i]:
                continue
            j = int(opposite[i])
            off = f[j] + 2 * w[i] * rho * cu[i] if i and known[j] else rest[i]
            arrived[(i, *cell)] = w[i] + off

    def moving_force(self) -> tuple[Array, Array]:
        """The force on the body in the coming step, and the torque about its origin (three components)."""
        kept = self._streamed(dict(self.numbers))
        before, after = self.poses(self.steps), self.poses(self.steps + 1)
        force, torque = np.zeros(len(self.shape)), np.zeros(3)
        for link in self._links(self.cells(before), self.cells(after), before, after):
            into, out = self._off(kept, *link)
            rest, c = self.stencil.w[link[0][0]], self.stencil.c[link[0][0]]
            pull = -c * (into + out - 2 * rest) - link[3] * (out - into)
            force += pull
            arm, three = np.zeros(3), np.zeros(3)
            arm[: len(pull)], three[: len(pull)] = link[4] - after.origin, pull
            torque += np.cross(arm, three)
        return force, torque
