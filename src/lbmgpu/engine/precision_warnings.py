"""Warns before a run of a setup whose storage has too few digits for a correct result."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from .. import checks
from ..conditions import MovingWall, NoSlip, Periodic
from ..errors import DistantReferenceWarning, LostDigitsWarning, warn
from ..values import Floats

if TYPE_CHECKING:
    from .simulation import Simulation

TEMPERATURE_RATIO = 10.0
"""Of the largest deviation from the reference to the spread: a cavity of 48 x 48 cells filled with water, at Rayleigh
number 1e5, then has a Nusselt number 0.4 % off in float32; 60, as of room temperatures in kelvin, make it 2.8 %."""
FORCE_RATIO = 100.0
"""Of the speed to the force that drives it: a channel is then 1 % off in float16 storage, and in proportion beyond."""
GAP = math.sqrt(8 * FORCE_RATIO)
"""Of a channel or of walls that slide along each other, in units of the square root of the viscosity: then a channel's
speed is that ratio times its force, ``u = F gap**2 / (8 viscosity)``, and Couette's flow 1 % off."""
WAVELENGTH = 280.0
"""In the same units; such a wave decays 1 to 2 % wrong in float16 storage, and one of 570 not at all with TRT."""


def check_setup(simulation: Simulation) -> None:
    """Warn with LostDigitsWarning, on one rank, of prescribed temperatures and of the viscosity; not of forces."""
    check_temperatures(simulation)
    if simulation.storage == "float16" and not math.isnan(simulation.channel_width) and simulation.rank == 0:
        _check_viscosity(simulation)


def check_temperatures(simulation: Simulation, *initial: Floats) -> None:
    """Warn where temperatures lie far from the reference, compared with the differences between them.

    With LostDigitsWarning where float32 stores them; with DistantReferenceWarning where they drive a flow all the same.
    All processes call this together.

    Args:
        simulation: whose walls' temperatures are looked at.
        initial: that of the fluid, if it is given.
    """
    given, model = [*simulation.boundary.temperatures(), *initial], simulation.thermal
    if model is None:
        return
    agreed = simulation.processes.agreed
    low = -agreed(-min((float(t.min()) for t in given), default=math.inf))
    high = agreed(max((float(t.max()) for t in given), default=-math.inf))
    if simulation.rank != 0 or math.isinf(low):
        return
    spread, farthest = high - low, max(high - model.reference, model.reference - low)
    if not 0 < TEMPERATURE_RATIO * spread < farthest:
        return
    found = f"reference: {model.reference:g} given, but temperatures are from {low:g} to {high:g}: "
    advice = f"; give HybridThermal(..., reference={(low + high) / 2:g})"
    if simulation.storage == "float32":
        reason = "float32 has too few digits for their differences, and the buoyancy is that of T - reference"
        warn(found + reason + advice, LostDigitsWarning)
    elif model.buoyancy is not None and any(model.buoyancy):
        reason = "the buoyancy is that of T - reference, a force far larger than their differences make"
        warn(found + reason + advice, DistantReferenceWarning)


def check_force(simulation: Simulation, force: Floats) -> None:
    """Warn with LostDigitsWarning where float16 storage would lose what a force does in a step to what it drives.

    The speed is that of a channel as wide as walls and bodies make it, up to the largest that the method is for, and no
    less than those of faces. A uniform force counts along axes that walls do not close.

    Args:
        simulation: of any storage.
        force: ``(D,)`` or ``(D, nx, ny[, nz])``.
    """
    if simulation.storage != "float16":
        return
    if force.ndim == 1:
        closed = [all(_is_wall(simulation, sign + axis) for sign in "-+") for axis in "xyz"[: force.size]]
        force = np.where(closed, 0.0, force)
    largest, gap = simulation.processes.agreed(checks.fastest(force)), simulation.channel_width
    if simulation.rank != 0:
        return
    speed = max(map(checks.fastest, simulation.boundary.face_velocities.values()), default=0.0)
    if not math.isinf(gap):
        driven = largest * gap**2 / (8 * simulation.collision.viscosity)
        speed = max(speed, min(driven, checks.MAX_MACH / math.sqrt(3)))
    if 0 < largest < speed / FORCE_RATIO:
        error = speed / largest / FORCE_RATIO
        shown = "over 20" if error > 20 else f"{error:.0f}"
        warn(
            f"force: {largest:.3g} given with storage='float16', which loses much of one below 1/{FORCE_RATIO:g} of "
            f"the speed, here about {speed:.2g}: a channel would be {shown} % off; "
            "use storage='float32', or a larger viscosity and force",
            LostDigitsWarning,
        )


def _check_viscosity(simulation: Simulation) -> None:
    """Warn where float16 storage would lose what viscosity does in a step at the largest scale."""
    gap, shape, viscosity = simulation.channel_width, simulation.domain.shape, simulation.collision.viscosity
    length, limit, what = float(max(shape)) if math.isinf(gap) else 2 * gap, WAVELENGTH, "waves"
    if _slides(simulation):
        length, limit, what = gap, GAP, "a gap between walls that slide"
    least = (length / limit) ** 2
    if viscosity < least:
        warn(
            f"viscosity: {viscosity:g} given with storage='float16', which needs {least:.2g} for {what} of "
            f"{length:.3g} cells, and loses much of a smaller one; use storage='float32', or a larger viscosity",
            LostDigitsWarning,
        )


@contextmanager
def unwarned() -> Iterator[None]:
    """Suppress these warnings for solvers that are made within: they are only timed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LostDigitsWarning)
        warnings.simplefilter("ignore", DistantReferenceWarning)
        yield


def channel_width(simulation: Simulation) -> float:
    """Twice the fluid's volume over the area of walls and bodies: the width of a channel; infinite without any.

    All processes call this together.
    """
    shape, area = simulation.domain.shape, simulation.bodies.surface(simulation.processes)
    for axis, name in enumerate("xyz"[: len(shape)]):
        area += sum(_is_wall(simulation, sign + name) for sign in "-+") * (simulation.domain.cells // shape[axis])
    return 2 * simulation.fluid_cells / area if area else math.inf


def _is_wall(simulation: Simulation, face: str) -> bool:
    return isinstance(simulation.domain.faces[face], NoSlip | MovingWall)


def _slides(simulation: Simulation) -> bool:
    """Whether a wall moves along an axis that is periodic."""
    faces = simulation.domain.faces
    periodic = [axis for axis in range(simulation.stencil.D) if isinstance(faces["-" + "xyz"[axis]], Periodic)]
    moving = {
        face: velocity for face, velocity in simulation.boundary.face_velocities.items() if _is_wall(simulation, face)
    }
    return any(bool(np.any(velocity[axis])) for velocity in moving.values() for axis in periodic)
