"""Starts a flow from one on another grid: density, velocity and temperature, interpolated."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import checks
from ..engine.simulation import Simulation
from ..parallel.processes import Processes
from ..values import Floats


def loaded(like: Any, load: Callable[..., Any]) -> Any:
    """The solver of a checkpoint, on the CPU of this process; TypeError for what is no path."""
    if not isinstance(like, str | os.PathLike):
        raise TypeError(f"like: {checks.shown(like)} given, must be the path of a checkpoint, or a Solver")
    return load(like, device="cpu", comm=Processes())


def with_fields_of(simulation: Simulation, source: Simulation, solver: Any, given: dict[str, Any]) -> dict[str, Any]:
    """What is given of a state, and for the rest functions of coordinates that interpolate the fields of a solver.

    The domains are taken for the same box, cut into other numbers of cells. Between the centres of cells fields are
    linear along each axis; before the first centre and behind the last one they go on in the same way, and through
    periodic faces to the other side. Density and temperature of solid cells do not count.

    Args:
        simulation: that is to start.
        source, solver: that has the fields, in one process.
        given: of `Solver.initialize`, by name; None for what is not.

    Raises:
        ValueError: the domains have different numbers of dimensions, or boxes of other proportions; or the source is
            one of several processes.
    """
    shape, other = simulation.domain.shape, source.domain.shape
    if len(shape) != len(other):
        raise ValueError(f"like: a flow in {len(other)} dimensions given, must have {len(shape)}, as the solver has")
    if not _are_of_one_box(shape, other):
        raise ValueError(
            f"like: a flow in {' x '.join(map(str, other))} cells given for {' x '.join(map(str, shape))}, must have "
            "the same ratio of cells along all axes, within half a cell"
        )
    if source.processes.size > 1:
        raise ValueError("like: a solver of several processes given, must be of one; save it and give the checkpoint")
    fluid = ~np.asarray(source.solid_at_now((((0,) * len(source.domain.shape)), source.domain.shape)))
    grid = _Grid(shape, other, source.subdomain.periodic, None if fluid.all() else fluid)
    found = dict(given)
    if given["density"] is None:
        found["density"] = grid.scalar(np.asarray(solver.density(), dtype=np.float64))
    if given["velocity"] is None:
        found["velocity"] = grid.vector(np.asarray(solver.velocity(), dtype=np.float64))
    if given["temperature"] is None and source.has_temperature and simulation.has_temperature:
        found["temperature"] = grid.scalar(np.asarray(solver.temperature(), dtype=np.float64))
    return found


def _are_of_one_box(shape: Sequence[int], other: Sequence[int]) -> bool:
    """Whether one ratio of cells holds along all axes, within half a cell of the coarser grid.

    Along an axis of one cell a flow is uniform, so that any length goes with it.
    """
    ranges = []
    for cells, given in zip(shape, other, strict=True):
        if given > 1:
            ends = (cells - 0.5) / given, (cells + 0.5) / given, cells / (given + 0.5), cells / (given - 0.5)
            ranges.append((min(ends), max(ends)))
    return max((low for low, _ in ranges), default=0) <= min((high for _, high in ranges), default=0)


class _Grid:
    """Interpolates from a grid of some shape to cells of another one of the same box."""

    def __init__(
        self, shape: Sequence[int], other: Sequence[int], periodic: Sequence[bool], fluid: NDArray[np.bool_] | None
    ) -> None:
        self._shape, self._other, self._periodic, self._fluid = shape, other, periodic, fluid

    def vector(self, field: Floats) -> Callable[..., Any]:
        """A function of coordinates that gives the components of a vector."""
        return lambda *coordinates: [self._between(part, coordinates, clamped=False) for part in field]

    def scalar(self, field: Floats) -> Callable[..., Any]:
        """A function of coordinates that gives a number of fluid cells."""
        if self._fluid is None:
            return lambda *coordinates: self._between(field, coordinates, clamped=False)
        fluid = self._fluid
        mean = float(field[fluid].mean())
        counted, ones = np.where(fluid, field - mean, 0.0), fluid.astype(np.float64)

        def between(*coordinates: Floats) -> Floats:
            total = self._between(counted, coordinates, clamped=True)
            weight = self._between(ones, coordinates, clamped=True)
            return np.asarray(mean + np.divide(total, weight, out=np.zeros_like(total), where=weight > 1e-9))

        return between

    def _between(self, field: Floats, coordinates: tuple[Floats, ...], *, clamped: bool) -> Floats:
        for axis, coordinate in enumerate(coordinates):
            at = np.moveaxis(coordinate, axis, 0).reshape(coordinate.shape[axis], -1)[:, 0]
            cells, is_periodic = self._other[axis], self._periodic[axis]
            place = at * (cells / self._shape[axis]) - 0.5
            low = np.floor(place).astype(np.int64)
            if not is_periodic:
                low = np.clip(low, 0, max(cells - 2, 0))
            share = place - low
            if not is_periodic and (clamped or cells == 1):
                share = np.clip(share, 0, 0 if cells == 1 else 1)
            share = share.reshape(-1, *(1 for _ in range(field.ndim - axis - 1)))
            here, there = (np.take(field, (low + k) % cells, axis=axis) for k in (0, 1))
            field = here + share * (there - here)
        return np.asarray(field)
