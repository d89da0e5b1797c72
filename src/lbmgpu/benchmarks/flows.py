"""The benchmark flow of D2Q37: a gas between a warm and a cold plate, with gravity."""

from __future__ import annotations

from .. import _core, models
from ..conditions import Isothermal, NoSlip
from ..domain import Domain
from ..multispeed import ThermalBGK
from ..solver import Solver
from ..values import Floats

STENCIL = models.that_carry_temperature()[0]
VISCOSITY = 0.05
"""Larger than in the other flows, as a gas of little viscosity becomes unstable at walls first."""

GRAVITY = (0.0, -1e-7)
"""So small that the pressure changes by less than a part in a hundred over thousands of cells."""

CONTRAST = 0.05
"""The fraction by which the plates are warmer and colder than ``cs2`` of the stencil."""


def collision() -> ThermalBGK:
    """The collision of the gas."""
    return ThermalBGK(VISCOSITY, gravity=GRAVITY)


def add_plates(domain: Domain) -> None:
    """Put plates on both faces of y, the lower one warm, the upper one cold; along x the domain stays periodic."""
    temperature = _core.stencil(domain.stencil).cs2
    domain.faces["-y"] = domain.faces["+y"] = NoSlip()
    domain.thermal["-y"] = Isothermal((1 + CONTRAST) * temperature)
    domain.thermal["+y"] = Isothermal((1 - CONTRAST) * temperature)


def set_in_motion(solver: Solver, velocity: tuple[float, ...]) -> None:
    """Initialize a stream along the plates with a linear temperature profile between them and uniform pressure."""
    height = solver.domain.shape[1]
    temperature = _core.stencil(solver.domain.stencil).cs2

    def profile(x: Floats, y: Floats) -> Floats:
        return 1 + CONTRAST * (1 - 2 * y / height)

    solver.initialize(
        density=lambda x, y: 1 / profile(x, y),
        velocity=velocity,
        temperature=lambda x, y: temperature * profile(x, y),
    )
