"""When a run has become steady: what is looked at, how often, and over how many looks."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from .. import checks, models
from ..conditions import Isothermal
from ..domain import Domain
from ..parallel import collective
from ..parallel.processes import Processes
from ..values import Floats
from .forces import check_face, kinds, walls

if TYPE_CHECKING:
    from .solver import Solver

FIELDS = ("velocity", "temperature")
"""Whose change the engine measures from cell to cell, between two looks."""
FORCE = "force:"
"""With the name of a body, or of a face that is a wall: the force on it."""
WINDOW = 10
"""Looks, of quantities that are numbers."""
_WORDS = (*FIELDS, "nusselt", FORCE + "NAME")


@dataclass(frozen=True)
class Steady:
    """Ends a run when the velocity, the temperature, or a number that is made of the flow no longer changes.

    Fields are compared with those of the look before. Numbers are compared over a window of looks: the run ends when
    the largest less the smallest of them is at most `tolerance` times their mean. So a window should last as long as a
    period, if the flow may oscillate; and the flow is looked at by one number alone, which may rest while the flow does
    not.

    Args:
        tolerance: of the velocity the run ends when ``||u - u_last|| / ||u||``, the Euclidean norm over all fluid
            cells, is at most this, `u_last` being the velocity `every` steps before. Of the temperature: when
            ``max |T - T_last|`` over them is, in units of temperature. Of numbers, see above.
        every: steps between two looks.
        of: ``"velocity"``; ``"temperature"`` of a solver that has one; ``"force:NAME"``, the force on the body of that
            name, or on the wall of a face, as ``"force:-y"``, whose largest component is what changes are compared
            with; ``"nusselt"``, the mean heat flux of each isothermal face and body of a solver with a temperature,
            which takes what all of them change by relative to the largest, so that no length and no difference of
            temperature is needed; or a function of the solver that returns a number, the same on all ranks, which call
            it together.
        window: looks that a number must rest over; 10 if None. Of fields it is left out.
    """

    tolerance: float
    every: int = 500
    of: str | Callable[[Any], float] = "velocity"
    window: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "tolerance", checks.number("tolerance", self.tolerance, above=0))
        object.__setattr__(self, "every", checks.integer("every", self.every, at_least=1))
        object.__setattr__(self, "of", _checked(self.of))
        if self.is_of_field and self.window is not None:
            raise ValueError(
                f"window: {checks.shown(self.window)} given, must be left out of a steady {self.of}, which is compared "
                "with that of the look before"
            )
        if not self.is_of_field:
            window = WINDOW if self.window is None else checks.integer("window", self.window, at_least=2)
            object.__setattr__(self, "window", window)

    @property
    def is_of_field(self) -> bool:
        """Whether it is of a field, cell by cell, and not of a number."""
        return self.of in FIELDS

    @property
    def forced(self) -> str | None:
        """The name of the body or the face whose force it is of; None of anything else."""
        return self.of[len(FORCE) :] if isinstance(self.of, str) and self.of.startswith(FORCE) else None

    @property
    def subject(self) -> str:
        """What it is of, in words."""
        if self.forced is not None:
            return f"force on {self.forced!r}"
        if callable(self.of):
            return f"number that {getattr(self.of, '__name__', type(self.of).__name__)} returns"
        return "Nusselt number" if self.of == "nusselt" else self.of

    def check(self, solver: Any, has_temperature: bool) -> None:
        """Raise ValueError where `solver` has not what it is of; of fields, several that advance together go too."""
        if self.of == "temperature" and not has_temperature:
            others = "".join(f" and {name}" for name in models.that_carry_temperature())
            raise ValueError(
                f"until: a steady temperature given, but the solver has none; Solver(thermal=...){others} have"
            )
        if self.of == "nusselt":
            if not has_temperature:
                others = "".join(f" and {name}" for name in models.that_carry_temperature())
                right = f"Solver(thermal=...){others} have"
                raise ValueError(f"until: of='nusselt' given, but the solver has no Nusselt numbers; {right}")
            if not isothermal_places(solver.domain):
                raise ValueError("until: of='nusselt' given, but no face and no body of the solver is Isothermal")
        if self.forced is not None:
            domain = solver.domain
            self.check_forced(domain.bodies, domain.stencil, kinds(domain))

    def check_forced(
        self, bodies: Collection[str], stencil: str, faces: Mapping[str, str], argument: str = "until: of="
    ) -> None:
        """Raise ValueError where it is of the force on a body that there is not, or on a face that is no wall.

        Args:
            bodies: the names of a domain's bodies.
            stencil: of it.
            faces: the kinds of the conditions of its faces.
            argument: what the error is about, before what was given.
        """
        name = self.forced
        if name is None or name in bodies:
            return
        if name in faces:
            check_face(f"{argument}{self.of!r}", name, stencil, faces)
            return
        known = ", ".join(map(repr, bodies)) or "none"
        of_faces = ", ".join(map(repr, walls(stencil, faces)))
        more = f", and the walls {of_faces}" if of_faces else ""
        hint = checks.did_you_mean(name, bodies)
        raise ValueError(f"{argument}{self.of!r} given, but the bodies are {known}{more}{hint}")


def _checked(of: Any) -> Any:
    """What a run may look at."""
    if callable(of):
        return of
    right = f"must be {', '.join(map(repr, _WORDS))} or a function of the solver"
    if not isinstance(of, str):
        raise TypeError(f"of: {checks.shown(of)} given, {right}")
    text = str.__str__(of)
    if text in (*FIELDS, "nusselt") or (text.startswith(FORCE) and len(text) > len(FORCE)):
        return text
    raise ValueError(f"of: {checks.shown(text)} given, {right}{checks.did_you_mean(text, _WORDS)}")


def isothermal_places(domain: Domain) -> list[str]:
    """The faces and bodies of a domain with a temperature of their own."""
    faces = [name for name, condition in domain.thermal.items() if isinstance(condition, Isothermal)]
    return faces + [body.name for body in domain.bodies.values() if isinstance(body.thermal, Isothermal)]


class Looked(Protocol):
    """What a look needs of that which is advanced."""

    @property
    def processes(self) -> Processes:
        """That it runs on."""

    @property
    def steps(self) -> int:
        """Steps completed since the state was initialised."""

    def check(self) -> None:
        """Raise `DivergedError` if the state is not valid."""

    def change(self, of: str) -> float:
        """The change of the velocity or the temperature since the last call."""


class Looks:
    """The looks of a run at what is to become steady.

    Those of a window go on from run to run, where the same `until` is given and no step was made between: a long run in
    parts ends as the whole.
    """

    def __init__(self, until: Steady, simulation: Looked) -> None:
        self.until = until
        self._simulation = simulation
        self._last: int | None = None
        self._values: deque[Floats] = deque(maxlen=until.window)

    def begin(self) -> None:
        """Be ready for the looks of a run."""
        if self.until.is_of_field:
            self._simulation.change(str(self.until.of))  # the change is measured from here on
        elif self._last != self._simulation.steps:
            self._values.clear()

    def change(self, solver: Solver) -> float:
        """Look, and return the change; infinite as long as the window is not full."""
        until = self.until
        if until.is_of_field:
            change = self._simulation.change(str(until.of))
            if change != change:  # of a state that is not finite
                self._simulation.check()
                return math.inf
            return change
        self._last = self._simulation.steps
        with collective.by_user(self._simulation.processes, f"the look of until at step {self._last}", self._last):
            value = _value(until, solver)
        processes = self._simulation.processes  # of which a function may give each another number
        if processes.agreed(float(not np.isfinite(value).all())):
            self._simulation.check()
            self._values.clear()
            return math.inf
        self._values.append(value)
        if len(self._values) < (until.window or 0):
            return math.inf
        values = np.stack(self._values)
        spread, size = float(np.ptp(values, axis=0).max()), float(np.abs(values.mean(axis=0)).max())
        change = 0.0 if spread == 0 else spread / size if size > 0 else math.inf
        return processes.agreed(change)


def _value(until: Steady, solver: Solver) -> Floats:
    """The numbers of now."""
    if until.forced is not None:
        read = solver.face_force if until.forced in solver.domain.faces else solver.body_force
        return np.atleast_1d(np.asarray(read(until.forced), dtype=np.float64))
    if not callable(until.of):
        return np.array([solver.mean_heat_flux(place) for place in isothermal_places(solver.domain)])
    found = until.of(solver)
    try:
        value = float(found)
    except (TypeError, ValueError):
        raise TypeError(f"until: {until.subject} is {checks.shown(found)}, must be a number") from None
    return np.array([value])
