"""Probes: the values of fields at points, recorded by the engine while a solver advances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import checks
from ..conditions import Periodic
from ..engine.simulation import Simulation
from ..solver.solver import Solver, simulation_of
from ..values import Floats
from . import memory_needs
from .history import AXES, History
from .memory_needs import DOUBLE

FIELDS = ("density", "velocity", "temperature")
MOST_POINTS = 2**24
CHUNK = 2**19
"""The numbers that are completed together at the most, unless a sample has more (`engine/series_sampler.h`)."""
CORNER_BYTES = 128
"""What the host needs for each cell of the interpolation of a point while that is made; an estimate from above."""


class Probe(History):
    """The values of fields at points after each step that is due, taken by the engine: no Python runs in between.

    Values between the centres of cells are interpolated, linearly along each axis, in float64 from the numbers that
    `Solver.velocity` and the others give. Through periodic faces neighbours are those of the other side; before other
    faces, half a cell and less, the value is that of the nearest cells. Solid cells have no part in it, and a point
    that has no other cells around it is NaN.

    ``probe["velocity"]`` is ``(samples, D, points)``, ``probe["density"]`` ``(samples, points)``, in lattice units;
    `steps` has the steps after which samples were taken. Their bits do not depend on blocks and ranks.

    Args:
        points: coordinates ``(n, D)`` in cells, or one point ``(D,)``; the centre of cell i is at i + 0.5.
        fields: of ``"density"``, ``"velocity"`` and, where there is one, ``"temperature"``.
        every, start, name: as for `Recorder`.

    Raises:
        TypeError, ValueError: not such points or fields; from `Solver.record` points outside of the domain too.
    """

    def __init__(
        self,
        points: ArrayLike,
        fields: str | Sequence[str] = ("velocity", "density"),
        every: int = 1,
        start: int = 0,
        name: str | None = None,
    ) -> None:
        super().__init__(every, start, name)
        self._points: Floats | None = None if points is None else _checked_points(points)
        listed = [fields] if isinstance(fields, str) else checks.listed("fields", fields, "a list of names")
        self._fields = [checks.choice("fields", field, FIELDS) for field in listed]
        if not self._fields or len(set(self._fields)) < len(self._fields):
            raise ValueError(f"fields: {checks.shown(fields)} given, must be one or more, each once")

    @property
    def points(self) -> Floats:
        """The coordinates of the points, ``(n, D)``, in cells."""
        if self._points is None:
            raise ValueError(f"{self.name}: its points are those of a solver's cells; solver.record(...) gives it one")
        return self._points.copy()

    def attach(self, solver: Solver) -> None:
        simulation, shape = simulation_of(solver), solver.domain.shape
        if self._points is None:
            self._points = self._points_in(shape)
        if self._points.shape[1] != len(shape):
            raise ValueError(
                f"points: of {self._points.shape[1]} coordinates given, must be {len(shape)} as the domain"
            )
        outside = ((self._points < 0) | (self._points > np.array(shape))).any(axis=1)
        if outside.any():
            point = tuple(self._points[np.flatnonzero(outside)[0]].tolist())
            raise ValueError(f"points: {point} given, must lie in the domain, from 0 to {shape}")
        if "temperature" in self._fields and not simulation.has_temperature:
            raise ValueError("fields: 'temperature' given, but the solver has none; Solver(thermal=...) has one")
        check_memory(simulation, self.name, self._points, self._recorded())
        super().attach(solver)
        self._sampler = point_sampler(simulation, self._points, self._recorded(), self.every, self.start)
        self.sampled_by_engine = True

    def _recorded(self) -> list[str]:
        return self._fields

    def _points_in(self, shape: tuple[int, ...]) -> Floats:
        raise NotImplementedError

    @property
    def _grid(self) -> tuple[int, ...]:
        return (len(self.points),)

    def _grid_dims(self) -> tuple[str, ...]:
        return ("point",)

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        lead = {"velocity": (self.points.shape[1],)}
        return {field: (*lead.get(field, ()), *self._grid) for field in FIELDS if field in self._fields}

    def _signature(self) -> dict[str, NDArray[Any]]:
        chosen = np.array([field in self._fields for field in FIELDS], np.uint8)
        return {"points": self.points, "fields": chosen}

    def _dims(self, field: str) -> tuple[str, ...]:
        return (*(("component",) if field == "velocity" else ()), *self._grid_dims())

    def _coordinates(self) -> dict[str, tuple[tuple[str, ...], Any]]:
        components = {"component": (("component",), list(AXES[: self._dimensions]))}
        places = {
            axis: (self._grid_dims(), self.points[:, d].reshape(self._grid))
            for d, axis in enumerate(AXES[: self._dimensions])
        }
        return {**(components if "velocity" in self._fields else {}), **places}


class LineProbe(Probe):
    """A `Probe` of `n` points on a straight line, its ends among them.

    ``line["velocity"]`` is ``(samples, D, n)``.

    Args:
        start_point, end_point: coordinates ``(D,)`` in cells.
        n: number of points, 2 at least.
        fields, every, start, name: as for `Probe`.
    """

    def __init__(
        self,
        start_point: ArrayLike,
        end_point: ArrayLike,
        n: int,
        fields: str | Sequence[str] = ("velocity", "density"),
        every: int = 1,
        start: int = 0,
        name: str | None = None,
    ) -> None:
        ends = [checks.real_array(key, end) for key, end in (("start_point", start_point), ("end_point", end_point))]
        if ends[0].ndim != 1 or ends[0].shape != ends[1].shape:
            raise ValueError(f"end_point: shape {ends[1].shape} given, must be that of start_point, (2,) or (3,)")
        n = checks.integer("n", n, at_least=2, at_most=MOST_POINTS)
        parts = np.linspace(0, 1, n)[:, None]
        super().__init__(ends[0] + parts * (ends[1] - ends[0]), fields, every, start, name)

    def _coordinates(self) -> dict[str, tuple[tuple[str, ...], Any]]:
        distance = np.linalg.norm(self.points - self.points[0], axis=1)
        return {**super()._coordinates(), "distance": (("point",), distance)}


class PlaneProbe(Probe):
    """A `Probe` of the centres of all cells of a plane across an axis.

    ``plane["velocity"]`` is ``(samples, D, a, b)`` over the other axes in the order x, y, z; in two dimensions
    ``(samples, D, a)``. Each number takes 8 bytes of the host's memory: choose `every` and `stride` by that.

    Args:
        axis: ``"x"``, ``"y"`` or ``"z"``.
        position: coordinate of the plane along that axis, in cells.
        stride: cells from a point to the next along the other axes.
        fields, every, start, name: as for `Probe`.
    """

    def __init__(
        self,
        axis: str,
        position: float,
        stride: int = 1,
        fields: str | Sequence[str] = ("velocity", "density"),
        every: int = 1,
        start: int = 0,
        name: str | None = None,
    ) -> None:
        super().__init__(None, fields, every, start, name)  # type: ignore[arg-type]  # known with the solver
        self.axis = checks.choice("axis", axis, AXES)
        self.position = checks.number("position", position, at_least=0)
        self._stride = checks.integer("stride", stride, at_least=1)
        self._lengths: tuple[int, ...] = ()

    def _points_in(self, shape: tuple[int, ...]) -> Floats:
        points, self._lengths = plane_points(shape, self.axis, self.position, self._stride)
        return points

    @property
    def _grid(self) -> tuple[int, ...]:
        return self._lengths

    def _grid_dims(self) -> tuple[str, ...]:
        return tuple(f"{axis}_cell" for axis in AXES[: self._dimensions] if axis != self.axis)


def plane_points(shape: tuple[int, ...], axis: str, position: float, stride: int = 1) -> tuple[Floats, tuple[int, ...]]:
    """The centres of the cells of a plane, ``(n, D)``, and how many there are along the other axes."""
    if AXES.index(axis) >= len(shape):
        raise ValueError(f"axis: {axis!r} given, but the domain has two dimensions")
    own = AXES.index(axis)
    if position > shape[own]:
        raise ValueError(f"position: {position:g} given, must be at most {shape[own]}, as the domain ends there")
    along = [np.array([position]) if d == own else np.arange(0, n, stride) + 0.5 for d, n in enumerate(shape)]
    points = np.stack([part.reshape(-1) for part in np.meshgrid(*along, indexing="ij")], axis=1)
    return points, tuple(len(part) for d, part in enumerate(along) if d != own)


@dataclass(frozen=True)
class Interpolation:
    """Points as weighted sums over cells: point p over ``number[k], weights[k]``, k from ``first[p]`` on."""

    cells: NDArray[np.int64]
    first: NDArray[np.int64]
    number: NDArray[np.int64]
    weights: Floats


def interpolation(simulation: Simulation, points: Floats) -> Interpolation:
    """Linear between the centres of fluid cells. All ranks call it together."""
    shape = np.array(simulation.domain.shape)
    dimensions = len(shape)
    periodic = np.array([isinstance(simulation.domain.faces[f"-{axis}"], Periodic) for axis in AXES[:dimensions]])
    low = np.floor(points - 0.5)
    part = points - 0.5 - low
    corners, weights = [], []
    for corner in np.ndindex(*(2,) * dimensions):
        cell = low.astype(np.int64) + np.array(corner)
        corners.append(np.where(periodic, cell % shape, np.clip(cell, 0, shape - 1)))
        weights.append(np.where(np.array(corner) == 1, part, 1 - part).prod(axis=1))
    index = np.ravel_multi_index(tuple(np.stack(corners, axis=1).transpose(2, 0, 1)), tuple(shape.tolist()))
    weight = np.stack(weights, axis=1)
    known, place = np.unique(index[weight > 0], return_inverse=True)
    cells = np.stack(np.unravel_index(known, tuple(shape.tolist())), axis=1).astype(np.int64)
    solid = _solid(simulation, cells)
    owner = np.nonzero(weight > 0)[0]
    left = ~solid[place.reshape(-1)]
    owner, place, own = owner[left], place.reshape(-1)[left], weight[weight > 0][left]
    # A cell counts once for each point, also where it is the nearest one of two corners.
    order = np.lexsort((place, owner))
    owner, place, own = owner[order], place[order], own[order]
    begins = np.ones(len(owner), np.bool_)
    begins[1:] = (np.diff(owner) != 0) | (np.diff(place) != 0)
    starts = np.flatnonzero(begins)
    own = np.add.reduceat(own, starts) if len(starts) else own[:0]
    owner, place = owner[starts], place[starts]
    total = np.bincount(owner, own, len(points))
    used, number = np.unique(place, return_inverse=True)
    first = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=len(points)))]).astype(np.int64)
    return Interpolation(cells[used], first, number.reshape(-1).astype(np.int64), own / total[owner])


def check_memory(simulation: Simulation, name: str, points: Floats, fields: Sequence[str]) -> None:
    """Raise TooLittleMemoryError where a recorder's interpolation, or a chunk of samples, does not fit.

    All ranks call it together.
    """
    count, dimensions = points.shape
    corners = count * 2**dimensions
    numbers = sum(memory_needs.components_of(field, dimensions) for field in fields)
    needs = {
        device: DOUBLE * max(CHUNK, numbers * min(corners, cells))
        for device, cells in memory_needs.cells_of_devices(simulation).items()
    }
    needs["cpu"] = needs.get("cpu", 0) + CORNER_BYTES * corners + DOUBLE * max(CHUNK, numbers * corners)
    memory_needs.check(simulation, name, needs, "fewer points, or fields, need less")


def point_sampler(simulation: Simulation, points: Floats, fields: Sequence[str], every: int, start: int) -> Any:
    """The engine's sampler of fields at points; all ranks make it together."""
    found = interpolation(simulation, points)
    with simulation.lock:
        return simulation.engine.add_point_sampler(
            found.cells,
            found.first,
            found.number,
            found.weights,
            density="density" in fields,
            velocity="velocity" in fields,
            temperature="temperature" in fields,
            reference=simulation.reference_temperature,
            every=every,
            start=start,
        )


def _solid(simulation: Simulation, cells: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which cells of the domain are solid; each rank knows that of the cells of its blocks."""
    own = np.zeros(len(cells), np.bool_)
    origin = np.array(simulation.engine.window[0])
    for block in simulation.layout:
        if block.rank == simulation.rank:
            low = np.array(block.offset)
            inside = ((cells >= low) & (cells < low + np.array(block.size))).all(axis=1)
            own[inside] = simulation.bodies.solid[tuple((cells[inside] - origin).T)]
    texts = simulation.processes.shared(np.packbits(own).tobytes().hex())
    every = [np.unpackbits(np.frombuffer(bytes.fromhex(text), np.uint8))[: len(cells)] for text in texts]
    found: NDArray[np.bool_] = np.array(every, np.bool_).max(axis=0, initial=False)
    return found


def _checked_points(points: Any) -> Floats:
    found = checks.real_array("points", points)
    found = found[None] if found.ndim == 1 else found
    if found.ndim != 2 or found.shape[1] not in (2, 3) or len(found) > MOST_POINTS:
        raise ValueError(f"points: shape {found.shape} given, must be (n, 2) or (n, 3), or one point of them")
    return found
