"""The flows of the benchmark over several devices, in motion when they are measured.

periodic: a uniform stream; forced: the same with a body force; cavity: between walls and a lid, the face +y, that moves
along x; channel: along x, from an inlet past a cylinder to an outflow; sphere: past a sphere between walls across y;
heated: between walls, a warm and a cold one across x; plates: of D2Q37, a gas between a warm and a cold plate across y.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from ..collision_table import COLLISIONS
from ..collisions import Collision
from ..conditions import FreeSlip, Isothermal, MovingWall, NoSlip, Outflow, VelocityInlet
from ..domain import Domain
from ..engine import precision_warnings
from ..planning.configuration import HEAT, VISCOSITY
from ..solver import Solver
from . import d2q37_flow

SPEED = 0.05
"""Velocity of the inlet of the channel and of the lid of the cavity."""

STREAM = (0.03, 0.02, 0.01)
"""Velocity of the other boxes."""

FORCE = 1e-7
"""Force on the forced stream, along x."""

STIRRING = 10
"""Steps in which a force brings a box to its velocity: an array of velocities would take longer than the measurement,
and more memory than the lattice."""


class Kind(Protocol):
    """What of a row says which solver it has."""

    @property
    def stencil(self) -> str:
        """The name of the stencil."""

    @property
    def collision(self) -> str:
        """The name of the collision's class."""

    @property
    def precision(self) -> str:
        """As for `Solver`."""

    @property
    def storage(self) -> str:
        """As for `Solver`."""

    @property
    def streaming(self) -> str:
        """As for `Solver`."""

    @property
    def flow(self) -> str:
        """The flow, see above."""

    @property
    def state(self) -> str:
        """What a cell keeps, as for `Solver`."""


def make_domain(kind: Kind, shape: tuple[int, ...]) -> Domain:
    """The domain of a flow with its conditions."""
    domain = Domain(shape, kind.stencil)
    if kind.flow == "plates":
        d2q37_flow.add_plates(domain)
    if kind.flow in ("cavity", "heated"):
        for face in domain.faces:
            domain.faces[face] = NoSlip()
    along = (SPEED, 0.0, 0.0)[: len(shape)]
    if kind.flow == "cavity":
        domain.faces["+y"] = MovingWall(along)
    if kind.flow == "heated":
        domain.thermal["-x"], domain.thermal["+x"] = Isothermal(0.5), Isothermal(-0.5)
    if kind.flow == "channel":
        domain.faces["-x"], domain.faces["+x"] = VelocityInlet(along), Outflow()
        domain.faces["-y"] = domain.faces["+y"] = NoSlip()
        if len(shape) == 3:
            domain.faces["-z"] = domain.faces["+z"] = FreeSlip()

        def cylinder(x: Any, y: Any, *z: Any) -> Any:
            layer = (slice(None), slice(None), *(slice(0, 1) for _ in z))  # each along z has the same disc
            disc = np.hypot(x[layer] - shape[0] * 5 / 21, y[layer] - shape[1] / 2) < max(1.0, shape[1] / 16)
            return np.broadcast_to(disc, x.shape)

        domain.add_body(cylinder, "cylinder")
    if kind.flow == "sphere":
        add_sphere(domain)
    return domain


def add_sphere(domain: Domain) -> None:
    """Adds walls across y and a sphere, of a quarter of their distance, whose cells are a mask."""
    nx, ny, *_ = domain.shape
    domain.faces["-y"] = domain.faces["+y"] = NoSlip()
    middle, radius = (nx / 4, *(n / 2 for n in domain.shape[1:])), max(1.0, ny / 8)

    def sphere(*at: Any) -> Any:
        return sum((x - center) ** 2 for x, center in zip(at, middle, strict=True)) < radius**2

    domain.add_body(sphere, "sphere")


@precision_warnings.unwarned()
def make_solver(kind: Kind, shape: tuple[int, ...], **options: Any) -> Solver:
    """A solver of a kind for a domain of `shape`, in motion; `options` are those of `Solver`."""
    domain, dimensions = make_domain(kind, shape), len(shape)
    numbers: dict[str, Any] = {"precision": kind.precision, "storage": kind.storage, "streaming": kind.streaming}
    numbers["state"] = kind.state
    if kind.flow == "plates":
        solver = Solver(domain, d2q37_flow.collision(), **numbers, **options)
        d2q37_flow.set_in_motion(solver, (STREAM[0], 0.0))
        return solver
    collision: Collision = COLLISIONS[kind.collision](VISCOSITY)
    if kind.collision == type(d2q37_flow.collision()).__name__:  # which takes no force
        solver = Solver(domain, collision, **numbers, **options)
        solver.initialize(velocity=STREAM[:dimensions])
        return solver
    if kind.flow == "heated":
        options["thermal"] = HEAT
    velocity = (SPEED, 0.0, 0.0) if kind.flow == "channel" else STREAM
    solver = Solver(domain, collision, force=tuple(u / STIRRING for u in velocity[:dimensions]), **numbers, **options)
    solver.step(STIRRING)
    solver.force = (FORCE, 0.0, 0.0)[:dimensions] if kind.flow == "forced" else None
    return solver
