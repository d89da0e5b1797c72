"""`advise`: relaxation time, Mach number, wall resolution and stability of a planned flow, before anything is run."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from .. import _core, checks
from ..collision_table import COLLISIONS, check_pair, of_stencil
from ..collisions import MAX_VISCOSITY, CentralMoments, Collision, FlowCollision
from ..engine.linear_stability import growth

LIMITS = Path(__file__).parent / "stability_limits.json"
"""The least viscosities at which a stream between an inlet and an outlet lived, by docs/measure_stability.py."""

GROWTH = 1e-5
"""Growth a step from which a stream counts as unstable: it takes a disturbance through 100 000 steps by a factor e."""

FAST, WALL = 0.1, 0.55
"""A speed above which compressibility shows, and a relaxation time below which collisions differ at walls."""

TRANSITION = 5e5
"""The Reynolds number from which the boundary layer of a flat plate is taken for turbulent."""


@dataclass(frozen=True)
class Advice:
    """What is to be expected of a flow; `str` of it is a table.

    Attributes:
        collision: name of the collision class.
        stencil: name of the stencil.
        viscosity: kinematic, cells squared a step: ``speed * cells / reynolds``.
        relaxation_time: ``viscosity / cs2 + 1/2``, steps.
        mach: speed over the speed of sound.
        steps: in which the flow passes the length once.
        wall_units: y+ of the first cell's centre on a flat plate of that length: laminar up to a Reynolds number of 5e5
            (Blasius), then by the friction coefficient ``0.0592 Re**(-1/5)`` (Schlichting, Boundary-Layer Theory).
        growth: logarithm of the factor by which the fastest disturbance of a uniform stream grows in a step, by linear
            analysis; up to about 1e-12 is stable.
        measured_limit: least viscosity at which a uniform stream with noise lived between an inlet and an outlet, of
            the nearest speed measured; None if it was not measured for the collision and stencil.
        sponge_limit: the same between a regularized inlet and an outflow with a sponge before each.
        risks: what is at risk, in words.
    """

    collision: str
    stencil: str
    viscosity: float
    relaxation_time: float
    mach: float
    steps: float
    wall_units: float
    growth: float
    measured_limit: float | None
    sponge_limit: float | None
    risks: tuple[str, ...]

    def __str__(self) -> str:
        limit, held = (_shown(value) for value in (self.measured_limit, self.sponge_limit))
        stable = "stable" if self.growth < GROWTH else f"grows by {math.expm1(self.growth):.1e} a step"
        rows = [
            ("collision", f"{self.collision} on {self.stencil}"),
            (
                "viscosity",
                f"{self.viscosity:.4g} cells^2 a step; least measured between an inlet and an outlet: {limit}",
            ),
            ("with sponges", f"least measured viscosity between a regularized inlet and an outflow: {held}"),
            ("relaxation time", f"{self.relaxation_time:.5g} steps"),
            ("Mach number", f"{self.mach:.3g}"),
            ("a passage", f"{self.steps:.4g} steps"),
            ("y+ of the first cell", f"{self.wall_units:.3g}, on a flat plate"),
            ("uniform stream", stable),
            *(("at risk", risk) for risk in self.risks),
        ]
        width = max(len(name) for name, _ in rows)
        return "\n".join(f"{name:<{width}}  {value}" for name, value in rows)


def advise(
    *,
    reynolds: float,
    cells: float,
    speed: float = 0.05,
    stencil: str = "D3Q19",
    collision: str | type[Collision] | None = None,
    **parameters: Any,
) -> Advice:
    """Relaxation time, stability and wall resolution of a flow, before it is set up.

    Args:
        reynolds: number of the flow, by its length and speed, above 0.
        cells: along that length, 1 or more.
        speed: cells a step, above 0 and up to a Mach number of 0.3, as a solver takes it.
        stencil: its name.
        collision: class or name of it; `CentralMoments` if None.
        parameters: of the collision, beside its viscosity: ``magic=1/4``, for instance. Of a hybrid collision the
            growth is that without differences, as the analysis takes local collisions only. Eddy viscosities are no
            parameters: a turbulence model makes every flow stabler.

    Raises:
        TypeError, ValueError: not numbers in range, or a collision that the stencil does not have.
    """
    reynolds = checks.number("reynolds", reynolds, above=0)
    cells = checks.number("cells", cells, at_least=1)
    speed = checks.number("speed", speed, above=0)
    known = _core.stencil(stencil)
    checks.speed("speed", np.array([speed]), known.cs2)
    name = collision.__name__ if isinstance(collision, type) else "CentralMoments" if collision is None else collision
    kind = COLLISIONS[checks.choice("collision", name, COLLISIONS)]
    check_pair(stencil, kind)
    if not issubclass(kind, FlowCollision):
        right = checks.alternatives([each.__name__ for each in of_stencil("D2Q9")])
        raise ValueError(f"collision: {name} given, must be one of a fluid at one temperature: {right}")
    viscosity = speed * cells / reynolds
    if viscosity > MAX_VISCOSITY:
        raise ValueError(f"reynolds: {reynolds:g} given, needs a viscosity of {viscosity:g}, above {MAX_VISCOSITY:g}")
    made = kind(viscosity, **parameters)
    local = kind(viscosity, **{k: v for k, v in parameters.items() if k != "hybrid"}) if made.takes_strain else made
    rate = growth(local, stencil, (speed,) + (0.0,) * (known.D - 1))
    friction = 1.328 / 2 / math.sqrt(reynolds) if reynolds < TRANSITION else 0.0592 * reynolds**-0.2
    limit, held = (None if parameters else measured_limit(name, stencil, speed, sponges=s) for s in (False, True))
    found = Advice(
        collision=name,
        stencil=stencil,
        viscosity=viscosity,
        relaxation_time=0.5 + viscosity / known.cs2,
        mach=speed / math.sqrt(known.cs2),
        steps=cells / speed,
        wall_units=0.5 * speed * math.sqrt(friction / 2) / viscosity,
        growth=rate,
        measured_limit=limit,
        sponge_limit=held,
        risks=(),
    )
    return Advice(**{**vars(found), "risks": tuple(_risks(found, made, speed))})


def _risks(found: Advice, collision: Collision, speed: float) -> list[str]:
    risks = []
    collisions = ["Cumulant", "RecursiveRegularized"] if found.stencil == "D3Q27" else ["RecursiveRegularized"]
    stabler = " or ".join([name for name in collisions if name != found.collision] or ["turbulence=lbm.WALE()"])
    if found.growth >= GROWTH:
        risks.append(f"the uniform stream is linearly unstable in the bulk: more cells, or {stabler}")
    elif found.measured_limit is not None and found.viscosity < found.measured_limit:
        holds = found.sponge_limit is not None and found.viscosity >= found.sponge_limit
        faces = "a regularized inlet and an outflow with sponges, " if holds else ""
        risks.append(f"it is known to diverge between an inlet and an outlet: {faces}more cells, or {stabler}")
    if speed > FAST:
        where = " where the flow changes in time" if getattr(collision, "incompressible", False) else ""
        size = f"{100 * found.mach**2:.2g} %"
        risks.append(f"compressibility: errors of some {size}, the square of the Mach number{where}")
    if found.wall_units > 2 and getattr(collision, "smagorinsky", None) is None and found.viscosity > 0:
        risks.append("the first cell lies outside the viscous sublayer of a boundary layer: walls are not resolved")
    if found.relaxation_time > 2:
        risks.append(
            "a relaxation time above 2: walls move with the viscosity, unless odd rates follow a magic parameter"
        )
    if isinstance(collision, CentralMoments):
        slow = collision.slow_moments(_core.stencil(found.stencil))
        risks += [slow] if slow else []
    return risks


@cache
def _limits(kind: str) -> dict[str, dict[str, dict[str, float]]]:
    text = LIMITS.read_text()
    found: dict[str, dict[str, dict[str, float]]] = json.loads(text)[kind]
    return found


def _shown(limit: float | None) -> str:
    return "not measured" if limit is None else f"{limit:.2g}"


def measured_limit(collision: str, stencil: str, speed: float, *, sponges: bool = False) -> float | None:
    """The least viscosity at which the stream lived, of the nearest speed that was measured; None without any."""
    by_speed = _limits("between_sponges" if sponges else "limits").get(stencil, {}).get(collision, {})
    if not by_speed:
        return None
    return by_speed[min(by_speed, key=lambda text: abs(float(text) - speed))]
