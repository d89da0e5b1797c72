"""Warns of arguments that are valid, each by itself, but cannot have the intended effect."""

from __future__ import annotations

import os

import numpy as np
from numpy.typing import NDArray

from .. import _core, checks
from ..conditions import MovingWall, Outflow, PressureOutlet, VelocityInlet
from ..domain import Domain
from ..errors import CoveredFaceWarning, GeometryWarning, TooManyThreadsWarning, UnreachableToleranceWarning, warn
from ..geometry.images import periodic_axes
from ..geometry.outside import cut_off
from ..geometry.passages import has_passage
from ..geometry.report import MOST_CELLS, warn_again
from ..parallel.processes import Processes
from .body_cells import BodyCells
from .boundary import BoundaryValues

_OPEN = (VelocityInlet, PressureOutlet, Outflow, MovingWall)
FLOOR = {
    ("float32", "float32"): 1 / 4,
    ("float64", "float64"): 1 / 4,
    ("float32", "float16"): 1 / 8,
    ("float64", "float16"): 1 / 8,
    ("float64", "float32"): 1 / 8,
}
"""By precision and storage, in spacings of the storage's numbers at 1. Cavities of 6 to 64 cells a side, with BGK, TRT
and MRT at lid speeds from 0.001 to 0.1, changed by 0.46 to 2 of them in 100 and in 500 steps where the storage is the
precision. Where it is narrower those of 24 and 64 cells changed by 0.14 to 0.8; smaller ones came to rest at times."""


def warn_of_threads(threads: int) -> None:
    """Warn with TooManyThreadsWarning where there are fewer cores that this process may use."""
    cores = len(os.sched_getaffinity(0))
    if threads > cores:
        warn(
            f"threads: {threads} given, but this process may use {cores} cores; threads that share a core wait for "
            "each other in every step, which then takes far longer",
            TooManyThreadsWarning,
        )


def warn_of_bodies(domain: Domain, bodies: BodyCells, boundary: BoundaryValues, processes: Processes) -> None:
    """Warn of bodies that cover faces, that are in all ways from an inlet to an outlet, that faces cut off, or that are
    no walls where they are thin. All processes call this together; the first one warns."""
    _warn_of_covered_faces(domain, bodies, processes)
    _warn_of_closed_ways(domain, bodies, processes)
    _warn_of_open_links(domain, boundary, processes)
    if processes.first:
        _warn_of_thin_bodies_that_move(domain, boundary)
        _warn_of_cut_off_bodies(domain)
        warn_again(domain)


def _warn_of_open_links(domain: Domain, boundary: BoundaryValues, processes: Processes) -> None:
    """Warn with GeometryWarning of bodies at rest with parts that are no walls, as another body moves."""
    moving = [name for name, body in domain.bodies.items() if body.motion is not None]
    cut = [name for name in domain.bodies if boundary.links(name) is not None]
    if not moving or not cut:
        return
    every = processes.shared([0 if (own := boundary.links(name)) is None else own.open for name in cut])
    for name, counts in zip(cut, zip(*every, strict=True), strict=True):
        links = sum(counts) // 2  # each is found from both ends
        if links and processes.first:
            warn(
                f"body {name!r}: links between fluid cells where it is thinner than a cell are open, {links} of them, "
                f"because body {moving[0]!r} moves: fluid goes through; make these parts a cell thick or more",
                GeometryWarning,
            )


def _warn_of_thin_bodies_that_move(domain: Domain, boundary: BoundaryValues) -> None:
    """Warn with GeometryWarning of bodies that move with parts that have a wall at times only."""
    for name, body in boundary.moving.bodies.items():
        if links := body.links_through(_core.stencil(domain.stencil)):
            warn(
                f"body {name!r}: it moves, and where it is thinner than a cell it is a wall only while centres of "
                "cells are in it; where it begins, or half a cell from there, links between fluid cells are open, "
                f"{links} of them; make these parts a cell thick or more, or rest the body and move the fluid",
                GeometryWarning,
            )


def _warn_of_covered_faces(domain: Domain, bodies: BodyCells, processes: Processes) -> None:
    """Warn with CoveredFaceWarning where bodies leave no fluid cell at an inlet, an outlet or a moving wall."""
    faces = {face: condition for face, condition in domain.faces.items() if isinstance(condition, _OPEN)}
    if not domain.bodies or not faces:
        return
    covered = bodies.covers(processes, list(faces))
    for (face, condition), is_covered in zip(faces.items(), covered, strict=True):
        if is_covered and processes.first:
            warn(
                f"faces[{face!r}]: {type(condition).__name__} given, but bodies cover the whole face, so that it does "
                "nothing; leave a layer of fluid cells there, or make it NoSlip()",
                CoveredFaceWarning,
            )


def _warn_of_closed_ways(domain: Domain, bodies: BodyCells, processes: Processes) -> None:
    """Warn with GeometryWarning of inlets from which no fluid gets to an outlet, in domains that are small enough to
    search. Bodies that move are in no way."""
    inlets = [face for face, condition in domain.faces.items() if isinstance(condition, VelocityInlet)]
    outlets = [face for face, condition in domain.faces.items() if isinstance(condition, PressureOutlet | Outflow)]
    if not domain.bodies or not inlets or not outlets or domain.cells > MOST_CELLS:
        return
    fluid = ~bodies.solid_everywhere(processes)
    if not processes.first:
        return
    ends = np.logical_or.reduce([_at_face(fluid, face) for face in outlets])
    if not ends.any():  # which the covered outlet says
        return
    periodic = periodic_axes(domain.shape, domain.faces)
    for face in inlets:
        starts = _at_face(fluid, face)
        if starts.any() and not has_passage(fluid, starts, ends, periodic):
            warn(
                f"faces[{face!r}]: VelocityInlet given, but bodies close every way from it to an outlet, "
                f"{checks.alternatives([repr(outlet) for outlet in outlets])}, so that the fluid piles up before them; "
                "leave a passage of fluid cells, in a wider domain or past smaller bodies",
                GeometryWarning,
            )


def _at_face(fluid: NDArray[np.bool_], face: str) -> NDArray[np.bool_]:
    """The fluid cells at a face, in an array of the domain's shape."""
    found = np.zeros_like(fluid)
    at: list[slice | int] = [slice(None)] * fluid.ndim
    at["xyz".index(face[1])] = 0 if face[0] == "-" else -1
    found[tuple(at)] = fluid[tuple(at)]
    return found


def _warn_of_cut_off_bodies(domain: Domain) -> None:
    """Warn with GeometryWarning of geometries at rest that faces cut off. Only the solver knows all faces."""
    for name, body in domain.bodies.items():
        if body.geometry is not None and body.motion is None:
            for text in cut_off(body.geometry, domain.shape, domain.faces):
                warn(f"body {name!r}: {text}", GeometryWarning)


def warn_of_tolerance(tolerance: float, precision: str, storage: str) -> None:
    """Warn with UnreachableToleranceWarning where rounding changes the velocity by more than `tolerance`."""
    least = smallest_change(precision, storage)
    if tolerance < least:
        warn(
            f"until: a tolerance of {tolerance:g} given, but with populations stored as {storage} rounding alone "
            f"changes the velocity of a steady flow by {least:.1g} of itself or more, so that the run is not likely to "
            f"end by it; give {20 * least:.1g} or more",
            UnreachableToleranceWarning,
        )


def smallest_change(precision: str, storage: str) -> float:
    """The relative change of velocity that rounding leaves in the steady flow of many cells: a lower bound."""
    return FLOOR[precision, storage] * float(np.finfo(storage).eps)
