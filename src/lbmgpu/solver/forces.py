"""What the fluid exerts a force on: the bodies of a domain, and the walls on its faces."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _core, checks, models
from ..body import Body
from ..conditions import BODY_CONDITIONS, BY_KIND
from ..domain import FACES, Domain
from ..engine.simulation import Simulation
from ..values import Floats


def kinds(domain: Domain) -> dict[str, str]:
    """The kind of the condition of each face."""
    return {face: condition.kind for face, condition in domain.faces.items()}


def walls(stencil: str, faces: Mapping[str, str]) -> list[str]:
    """Those of some `faces`, by their kinds, that have a force: walls off which populations bounce half-way.

    In D2Q37 there are none, as its walls are cells that mirror those before them.
    """
    if not models.of(stencil).bodies:
        return []
    return [face for face, kind in faces.items() if BY_KIND[kind] in BODY_CONDITIONS]


def check_face(given: str, face: str, stencil: str, faces: Mapping[str, str]) -> None:
    """Raise ValueError, about what is `given`, unless `face` is one of the `walls` of these."""
    known = walls(stencil, faces)
    if face in known:
        return
    if not models.of(stencil).bodies:
        raise ValueError(
            f"{given} given, but walls of {stencil} have no force by momentum exchange: they are cells "
            "that mirror those before them, off which no link leads"
        )
    right = "must be a wall, " + checks.alternatives([repr(name) for name in known])
    if not known:
        right = "must be a wall, and the domain has none on its faces"
    raise ValueError(f"{given} given, a face with {BY_KIND[faces[face]].__name__}, {right}")


@dataclass(frozen=True)
class ForcedPart:
    """A body, or the wall on a face, with the force and the torque that the fluid exerts on it.

    Attributes:
        simulation: that it is part of.
        name: of the body, or of the face.
        index: its number among the bodies, or among the faces.
        is_face: whether it is the wall on a face.
    """

    simulation: Simulation
    name: str
    index: int
    is_face: bool

    @classmethod
    def of(cls, simulation: Simulation, argument: str, name: Any) -> ForcedPart:
        """The body or the wall of that name.

        Raises:
            TypeError, ValueError: about `argument`: there is none, or the face of that name is no wall.
        """
        domain = simulation.domain
        bodies, known = list(domain.bodies), walls(domain.stencil, kinds(domain))
        if isinstance(name, str) and name in FACES:
            return cls.face(simulation, argument, name)
        if known:
            checks.choice(argument, name, [*bodies, *known])
        return cls.body(simulation, argument, name)

    @classmethod
    def body(cls, simulation: Simulation, argument: str, name: Any) -> ForcedPart:
        """The body of that name; raises as `of`."""
        names = list(simulation.domain.bodies)
        if isinstance(name, str) and name in FACES:
            raise ValueError(f"{argument}: {name!r} given, a face, must be a body; face_force takes faces")
        if not names:
            shown = checks.shown(name)
            raise ValueError(f"{argument}: {shown} given, but the domain has no bodies; add_body makes one")
        return cls(simulation, name, names.index(checks.choice(argument, name, names)), False)

    @classmethod
    def face(cls, simulation: Simulation, argument: str, name: Any) -> ForcedPart:
        """The wall on the face of that name; raises as `of`."""
        domain = simulation.domain
        faces = list(domain.faces)
        if isinstance(name, str) and name in domain.bodies:
            raise ValueError(f"{argument}: {name!r} given, a body, must be a face; body_force takes bodies")
        name = checks.choice(argument, name, faces)
        check_face(f"{argument}: {name!r}", name, domain.stencil, kinds(domain))
        return cls(simulation, name, faces.index(name), True)

    @property
    def _body(self) -> Body:
        return self.simulation.domain.bodies[self.name]

    @property
    def moves(self) -> bool:
        """Whether it is a body that moves."""
        return not self.is_face and self.name in self.simulation.boundary.moving.bodies

    @property
    def changes(self) -> bool:
        """Whether its velocity changes in time, so that Python brings it to now; of one body, that of any."""
        boundary = self.simulation.boundary
        return boundary.face_velocity_changes(self.name) if self.is_face else boundary.body_changes

    def center(self, argument: str, given: ArrayLike | None) -> Floats:
        """What torques are about, ``(D,)``: if None the centroid of a body's cells, or the middle of the face.

        Of a body with a motion None is the point about which it turns; where that moves, NaN here. So it is of one
        that goes on through a periodic face, whose torque is NaN: its links act where their cells are, and not beside
        each other.

        Raises:
            TypeError, ValueError: about `argument`: not D finite numbers; or they are given of such a body.
        """
        shape = self.simulation.domain.shape
        crossed = [] if self.is_face or self.moves else self._body.crossed_faces
        if given is not None and crossed:
            raise ValueError(f"{argument}: {checks.shown(given)} given, {self._no_torque(crossed)}")
        if given is not None:
            about = checks.real_array(argument, given)
            if about.shape != (len(shape),):
                raise ValueError(f"{argument}: shape {about.shape} given, must be ({len(shape)},)")
            return about
        if self.moves or crossed:
            return np.full(len(shape), np.nan)
        if not self.is_face:
            fixed = self._body.turns_about
            return np.array(self.simulation.bodies.centroid(self.name) if fixed is None else fixed, np.float64)
        middle = np.array(shape, np.float64) / 2
        axis, upper = "xyz".index(self.name[1]), self.name[0] == "+"
        middle[axis] = shape[axis] if upper else 0
        return middle

    def _no_torque(self, crossed: list[str]) -> str:
        return (
            f"but the torque of body {self.name!r} is not known, as it goes on through the periodic face "
            f"{crossed[0]!r}; translate it so that it lies within the domain"
        )

    def torque(self, argument: str, given: ArrayLike | None) -> Floats:
        """The torque of `read` about what `center` makes of an argument; raises as that, also where it is not known."""
        center = self.center(argument, given)
        if np.isnan(center).any() and not self.moves:
            raise ValueError(f"name: {self.name!r} given, {self._no_torque(self._body.crossed_faces)}")
        return self.read(center)[1]

    def read(self, center: Floats) -> tuple[Floats, Floats]:
        """The force ``(D,)`` and the torque ``(3,)``, in two dimensions ``(1,)``, of now."""
        engine = self.simulation.engine
        with self.simulation.walls_of_now(faces=self.is_face):
            if self.is_face:
                force, torque = engine.face_force(self.index, center.tolist())
            else:
                force, torque = engine.body_force(self.index, self._fixed(center))
        return np.array(force), np.array(torque)

    def sampler(self, center: Floats, every: int, start: int) -> _core.SeriesSampler:
        """The engine's sampler of both, three numbers each."""
        with self.simulation.walls_of_now(faces=self.is_face):
            engine = self.simulation.engine
            if self.is_face:
                return engine.add_face_force_sampler(self.index, center.tolist(), every=every, start=start)
            return engine.add_force_sampler(self.index, self._fixed(center), every=every, start=start)

    def _fixed(self, center: Floats) -> list[float] | None:
        """The center as the engine takes it of a body: None for one that moves with it."""
        return None if self.moves and np.isnan(center).any() else center.tolist()
