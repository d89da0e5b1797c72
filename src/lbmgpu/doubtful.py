"""Warns of arguments that are right by themselves and will not do what they were given for."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

import numpy as np

from .conditions import MovingWall, Outflow, PressureOutlet, VelocityInlet
from .domain import Domain
from .errors import CoveredFaceWarning, TooManyThreadsWarning, UnreachableToleranceWarning

_OPEN = (VelocityInlet, PressureOutlet, Outflow, MovingWall)
_PACKAGE = str(Path(__file__).parent)


def warn_of_threads(threads: int) -> None:
    """Warn with TooManyThreadsWarning where there are fewer cores that this process may use."""
    cores = len(os.sched_getaffinity(0))
    if threads > cores:
        _warn(
            f"threads: {threads} given, but this process may use {cores} cores; threads that share a core wait for "
            "each other in every step, which then takes far longer",
            TooManyThreadsWarning,
        )


def warn_of_covered_faces(domain: Domain) -> None:
    """Warn with CoveredFaceWarning where bodies leave no fluid cell beside an inlet, an outlet or a moving wall."""
    faces = {face: condition for face, condition in domain.faces.items() if isinstance(condition, _OPEN)}
    if not domain.bodies or not faces:
        return
    solid = domain.solid()
    for face, condition in faces.items():
        if solid.take(0 if face[0] == "-" else -1, "xyz".index(face[1])).all():
            _warn(
                f"faces[{face!r}]: {type(condition).__name__} given, but bodies cover the whole face, so that it does "
                "nothing; leave a layer of fluid cells there, or make it NoSlip()",
                CoveredFaceWarning,
            )


def warn_of_tolerance(tolerance: float, of: str, precision: str, storage: str) -> None:
    """Warn with UnreachableToleranceWarning where rounding changes the velocity by more than `tolerance`.

    The change of cavities, once steady, was 0.7 to 1.3 eps in float32 and float64, eps being the spacing of the numbers
    at 1, and with storage narrower than the precision 0.14 to 0.7 eps of the storage. That of the temperature is in its
    units, whose size the run decides.
    """
    eps = float(np.finfo(storage).eps)
    if of == "velocity" and tolerance < (eps / 2 if storage == precision else eps / 8):
        _warn(
            f"until: a tolerance of {tolerance:g} given, but with populations stored as {storage} the velocity of a "
            f"steady flow changes by about {eps:.1g} of itself through rounding, so that the run is not likely to end "
            f"by it; give one above {4 * eps:.1g}",
            UnreachableToleranceWarning,
        )


def _warn(message: str, category: type[Warning]) -> None:
    """Warn in the name of the line outside the package that all this was called from."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
