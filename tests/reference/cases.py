"""One description of a set-up, from which the solver, the bare engine and the reference are built alike."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import lbmgpu as lbm
from lbmgpu import _core
from lbmgpu.collision_table import BY_KIND
from lbmgpu.conditions import CUT_WALLS, FACE_CONDITIONS
from lbmgpu.geometry.base import Links
from lbmgpu.turbulence import of_record

from .collisions import Collision
from .cut_walls import Cuts
from .lattice import Reference
from .sponges import Sponge
from .stencils import STENCILS
from .turbulence import Turbulence

Array = NDArray[np.float64]
Face = tuple[str, Any]
"""Kind of a face, and its velocity or density where it has one."""

NAMES = ("-x", "+x", "-y", "+y", "-z", "+z")
CLASSES: dict[str, Any] = {condition.kind: condition for condition in FACE_CONDITIONS} | {
    name: partial(condition, scheme=scheme)
    for condition in FACE_CONDITIONS
    for scheme, name in getattr(condition, "engine_names", {}).items()
}
"""What makes the condition of a face, by the engine's name of it."""
TAKES = _core.face_conditions()
HAS_VELOCITY = tuple(kind for kind in CLASSES if TAKES[kind] == "velocity")
NUMBERS: dict[str, tuple[float, float]] = {"pressure-outlet": (1.0, 0.01), "characteristic-outlet": (1.0, 0.01)}
"""Of the conditions that take one: the middle of those that tests give, and how far they are from it."""


@dataclass
class Case:
    """Arrays are indexed [(component,) x, y, z]; `bodies` are pairs of a mask and a wall velocity or None."""

    stencil: str
    shape: tuple[int, ...]
    collision: Collision
    faces: Sequence[Face] = ()
    bodies: Sequence[tuple[NDArray[np.bool_], Any]] = ()
    force: Any = None
    density: Array | None = None
    velocity: Array | None = None
    options: dict[str, Any] = field(default_factory=dict)
    turbulence: Turbulence | None = None
    sponges: Sequence[Sponge] = ()
    cuts: dict[int, Cuts] = field(default_factory=dict)
    """Of bodies, by their number, whose surface cuts links at known distances."""

    def all_faces(self) -> Sequence[Face]:
        return self.faces or [("periodic", None)] * (2 * len(self.shape))

    def least_blocks(self) -> list[tuple[int, int]]:
        """For each axis the fewest cells along it that a block may have at its lower and its upper face."""
        kinds = [kind for kind, _ in self.all_faces()]
        least = [3 if kind in _core.boundary_numbers() else 1 for kind in kinds]
        return list(zip(least[::2], least[1::2], strict=True))

    def fluid(self) -> NDArray[np.bool_]:
        """Cells that are in no body."""
        fluid = np.ones(self.shape, dtype=bool)
        for mask, _ in self.bodies:
            fluid &= ~mask
        return fluid

    def domain(self) -> lbm.Domain:
        domain = lbm.Domain(self.shape, stencil=self.stencil)
        for name, (kind, value) in zip(NAMES, self.all_faces(), strict=False):
            domain.faces[name] = CLASSES[kind]() if value is None else CLASSES[kind](value)
        for number, (mask, velocity) in enumerate(self.bodies):
            scheme = self.cuts[number].scheme if number in self.cuts else None
            condition = lbm.NoSlip(scheme=scheme) if velocity is None else lbm.MovingWall(velocity, scheme=scheme)
            domain.add_body(mask, name=f"body {number}", condition=condition, links=self.links(number))
        for s in self.sponges:
            velocity = s.velocity if s.pull > 0 else None
            domain.add_sponge(NAMES[s.face], s.thickness, s.strength, pull=s.pull, velocity=velocity, density=s.density)
        return domain

    def links(self, number: int) -> Links | None:
        """Those that the surface of a body cuts."""
        if number not in self.cuts:
            return None
        places = self.cuts[number].distance
        cells = np.array([cell for cell, _ in places], np.int64).reshape(-1, len(self.shape))
        directions = order_of(self.stencil)[np.array([i for _, i in places], np.int64)]
        return Links(cells, directions, np.array(list(places.values()), float))

    def model(self) -> Any:
        """The solver's turbulence model; None for none."""
        return None if self.turbulence is None else of_record(self.record())

    def record(self) -> dict[str, Any]:
        """The turbulence model as the engine takes it."""
        assert self.turbulence is not None
        return {
            "model": self.turbulence.kind,
            "constant": self.turbulence.constant,
            "every": self.turbulence.every,
        }

    def solver(self, **options: Any) -> lbm.Solver:
        """The solver, initialised; float64 unless `options` say otherwise."""
        chosen = {"precision": "float64", "device": "cpu", "force": self.force, **self.options, **options}
        solver = lbm.Solver(self.domain(), to_lbm(self.collision), turbulence=self.model(), **chosen)
        if self.density is not None or self.velocity is not None:
            solver.initialize(density=self.density, velocity=self.velocity)
        return solver

    def engine(self, **options: Any) -> _core.Engine:
        """The bare engine, initialised."""
        c = self.collision
        faces = [kind for kind, _ in self.all_faces()]
        chosen = {"precision": "float64", "storage": "float64", **self.options, **options}
        chosen |= to_lbm(c).parameters(_core.stencil(self.stencil))
        if self.turbulence is not None:
            chosen["turbulence"] = self.record()
        engine = _core.Engine(
            stencil=self.stencil,
            shape=self.shape,
            collision=c.kind,
            faces=faces,
            **chosen,
        )
        for number, (mask, velocity) in enumerate(self.bodies):
            given = None if velocity is None else reverse(np.asarray(velocity, float), 1)
            engine.add_body(reverse(mask), given, links=self.engine_links(number))
        for number, (kind, value) in enumerate(self.all_faces()):
            if kind in HAS_VELOCITY:
                engine.set_face_velocity(number, reverse(np.asarray(value, float), 1))
            elif TAKES[kind] == "number" and value is not None:
                engine.set_face_number(number, reverse(np.asarray(value, float)))
        for s in self.sponges:
            engine.add_sponge(s.face, s.thickness, s.strength, s.pull, s.density, list(s.velocity))
        if self.force is not None:
            engine.set_force(reverse(np.asarray(self.force, float), 1))
        density = None if self.density is None else reverse(self.density)
        velocity = None if self.velocity is None else reverse(self.velocity, 1)
        engine.initialize(density, velocity, False)
        return engine

    def engine_links(self, number: int) -> Any:
        """The same as the bare engine takes them."""
        links = self.links(number)
        if links is None:
            return None
        cells = np.ravel_multi_index(tuple(links.cells.T), self.shape, order="F")
        numbers = cells * STENCILS[self.stencil].Q + links.directions
        order = np.argsort(numbers)
        cuts = self.cuts[number]
        return CUT_WALLS.get(cuts.scheme, ""), numbers[order], links.q[order], None, cuts.holds_temperature, None

    def reference(self) -> Reference:
        """The reference, at rest; give it a state with `copy_state`."""
        faces = self.all_faces()
        velocities = {i: v for i, (kind, v) in enumerate(faces) if kind in HAS_VELOCITY}
        densities = {i: v for i, (kind, v) in enumerate(faces) if TAKES[kind] == "number" and v is not None}
        dimensions = len(self.shape)
        bodies = [(mask, np.zeros(dimensions) if velocity is None else velocity) for mask, velocity in self.bodies]
        return Reference(
            self.stencil,
            self.shape,
            self.collision,
            faces=[kind for kind, _ in faces],
            bodies=bodies,
            face_velocity=velocities,
            face_density=densities,
            force=self.force,
            sponge=self.sponges,
            reference_density=1.0 if self.density is None else float(self.density[self.fluid()].mean()),
            turbulence=self.turbulence,
            cuts=self.cuts,
        )


def to_lbm(collision: Collision) -> Any:
    """The solver's collision."""
    return BY_KIND[collision.kind](**own_parameters(collision))


def own_parameters(collision: Collision) -> dict[str, Any]:
    """What the solver's collision takes of these parameters; none for those that are not set."""
    given = {each.name: getattr(collision, each.name) for each in fields(BY_KIND[collision.kind])}
    if given.get("magic") is None:  # the class then has its own default
        given.pop("magic", None)
    return given | {name: given[name] or None for name in ("rates", "smagorinsky") if name in given}


def reverse(array: NDArray[Any], components: int = 0) -> NDArray[Any]:
    """`array` with its axes of space reversed and contiguous, as the engine has them; its own inverse."""
    order = [*range(components), *reversed(range(components, array.ndim))]
    return np.array(array.transpose(order), order="C")


def order_of(stencil: str) -> NDArray[np.int64]:
    """For each velocity of the reference its index in the engine."""
    engine_c = np.asarray(_core.stencil(stencil).c)
    return np.array([int(np.nonzero((engine_c == c).all(axis=1))[0][0]) for c in STENCILS[stencil].c])


def in_reference_order(stencil: str, populations: NDArray[Any]) -> Array:
    """Populations of the solver in the reference's order of velocities."""
    return np.asarray(populations, dtype=np.float64)[order_of(stencil)]


def in_engine_order(stencil: str, populations: Array) -> Array:
    """Populations of the reference in the engine's order of velocities."""
    result = np.empty_like(populations)
    result[order_of(stencil)] = populations
    return result


def engine_state(engine: _core.Engine, stencil: str, shape: Sequence[int]) -> NDArray[Any]:
    """The stored deviations' own bits, indexed [Q, x, y, z]."""
    out = np.empty((STENCILS[stencil].Q, *reversed(shape)), dtype=engine.storage_dtype)
    engine.get_state(out)
    return reverse(out, 1)


def engine_populations(engine: _core.Engine, stencil: str, shape: Sequence[int]) -> Array:
    """Populations of the bare engine in the reference's order, indexed [Q, x, y, z]."""
    out = np.empty((STENCILS[stencil].Q, *reversed(shape)))
    engine.populations(out)
    return in_reference_order(stencil, reverse(out, 1))


def random_fields(rng: np.random.Generator, shape: Sequence[int], speed: float = 0.03) -> tuple[Array, Array]:
    """Density about 1 and velocity about 0, different in every cell."""
    density = 1 + 0.02 * rng.uniform(-1, 1, tuple(shape))
    return density, speed * rng.uniform(-1, 1, (len(shape), *shape))


def random_faces(
    rng: np.random.Generator, shape: Sequence[int], kinds: Sequence[str] | None = None, speed: float = 0.05
) -> list[Face]:
    """A kind for every face, with a value for every cell of the face; periodic faces come in pairs."""
    if kinds is None:
        chosen: list[str] = []
        for _ in shape:
            if rng.random() < 0.15:
                chosen += ["periodic", "periodic"]
            else:
                chosen += [str(k) for k in rng.choice([k for k in CLASSES if k != "periodic"], 2)]
        kinds = chosen
    faces: list[Face] = []
    for number, kind in enumerate(kinds):
        tangential = tuple(np.delete(shape, number // 2))
        if kind in HAS_VELOCITY:
            faces.append((kind, speed * rng.uniform(-1, 1, (len(shape), *tangential))))
        elif TAKES[kind] == "number":
            middle, width = NUMBERS[kind]
            faces.append((kind, middle + width * rng.uniform(-1, 1, tangential)))
        else:
            faces.append((kind, None))
    return faces


def random_bodies(
    rng: np.random.Generator, shape: Sequence[int], speed: float = 0.05
) -> list[tuple[NDArray[np.bool_], Any]]:
    """A resting body and one whose every cell moves its own way, both ragged and touching faces now and then."""
    label = rng.random(tuple(shape))
    label.flat[label.size // 2] = 1.0  # some fluid is left
    resting, moving = label < 0.12, (label > 0.12) & (label < 0.24)
    resting.flat[0], moving.flat[0] = True, False
    moving.flat[-1], resting.flat[-1] = True, False
    return [(resting, None), (moving, speed * rng.uniform(-1, 1, (len(shape), *shape)))]


def random_cuts(
    rng: np.random.Generator, stencil: str, bodies: Sequence[tuple[NDArray[np.bool_], Any]], schemes: Sequence[str] = ()
) -> dict[int, Cuts]:
    """Distances of most links to the bodies, and a scheme for each of them; links may go on at the other end."""
    c, found = STENCILS[stencil].c, {}
    solid = np.any([mask for mask, _ in bodies], axis=0) if bodies else np.zeros(0, bool)
    fluid = np.argwhere(~solid).tolist()
    for number, (mask, _) in enumerate(bodies):
        ends = np.array([np.roll(mask, [-n for n in of], range(mask.ndim))[~solid] for of in c]).T
        distance = {}
        for cell, i in np.argwhere(ends).tolist():
            if i > 0 and rng.random() < 0.95:
                q = [rng.uniform(0.001, 1), 0.5, 1.0, 2.0**-24]
                distance[tuple(fluid[cell]), i] = float(q[_chosen(rng, (0.85, 0.05, 0.05, 0.05))])
        found[number] = Cuts(str(rng.choice(schemes or list(CUT_WALLS))), distance)
    return found


def _chosen(rng: np.random.Generator, shares: tuple[float, ...]) -> int:
    """What a generator's `choice` draws by such shares, which takes some 20 us."""
    return bisect.bisect_right(list(itertools.accumulate(shares)), rng.random())


def add_random_sheets(rng: np.random.Generator, case: Case, share: float = 0.1) -> None:
    """Walls between pairs of fluid cells of a case that has bodies with cuts, each of one or two of the bodies.

    There are none beside faces whose conditions make all populations of their cells.
    """
    c, opposite, fluid = STENCILS[case.stencil].c, STENCILS[case.stencil].opposite, case.fluid()
    kinds = [kind for kind, _ in case.all_faces()]
    allowed = fluid.copy()
    for number, kind in enumerate(kinds):
        if kind in _core.boundary_numbers():
            allowed[(slice(None),) * (number // 2) + (-(number % 2),)] = False
    ways = np.zeros((*case.shape, len(c)), bool)  # links that go from an allowed cell to another one
    for i in range(1, len(c)):
        passes = allowed & np.roll(allowed, [-n for n in c[i]], range(len(case.shape)))
        for axis, n in enumerate(c[i]):
            if n != 0 and kinds[2 * axis + int(n > 0)] != "periodic":
                passes[(slice(None),) * axis + (-int(n > 0),)] = False
        ways[..., i] = passes
    for *cell, i in np.argwhere(ways).tolist():
        for cuts in case.cuts.values():
            if rng.random() < share / 2:
                end = tuple(int(n) for n in np.add(cell, c[i]) % case.shape)
                q = [rng.uniform(0.001, 1), 0.5]
                cuts.distance[tuple(cell), i] = float(q[_chosen(rng, (0.9, 0.1))])
                cuts.distance[end, int(opposite[i])] = float(rng.uniform(0.001, 1))


def one_pair(kind: str, axis: int, D: int) -> list[str]:
    """Words of faces of one kind across an axis, counted around, and periodic along the others."""
    kinds = ["periodic"] * (2 * D)
    kinds[2 * (axis % D) : 2 * (axis % D) + 2] = [kind, kind]
    return kinds


def random_sponges(rng: np.random.Generator, shape: Sequence[int]) -> list[Sponge]:
    """None, or up to three, with and without a pull, which may meet and reach through the domain."""
    sponges = []
    for _ in range(rng.integers(4)):
        face = int(rng.integers(2 * len(shape)))
        thickness, pull = int(rng.integers(1, shape[face // 2] + 1)), float(rng.choice([0.0, 0.05]))
        target = tuple((0.02 * rng.uniform(-1, 1, len(shape))).tolist()) if pull else (0.0,) * len(shape)
        sponges.append(Sponge(face, thickness, float(rng.uniform(0, 0.6)), pull, 1.01 if pull else 1.0, target))
    return sponges
