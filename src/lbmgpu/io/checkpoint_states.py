"""What a checkpoint has of cells as the solver keeps it: populations as the moments that they follow from, and back.

Cells are converted in float64, one by one, by an engine of a few of them, so that no layout changes a bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core, values
from ..engine.simulation import Simulation
from ..errors import ProjectedStateWarning, warn

ROW = 256
"""Cells in a row of the engine that converts, which shares out rows among its threads."""
MOST_ROWS = 128
"""A larger engine would not fit a cache, and take memory beside the state."""
ROUNDING = 32.0
"""Of populations that the collision has made at most 6 units in the last place of the largest deviation from rest are
not in their moments, with walls, forces and an eddy viscosity after hundreds of steps."""


class _Cells:
    """An engine of a few cells, whose state is moments in float64, of a state after so many `steps`."""

    def __init__(self, simulation: Simulation, count: int, steps: int) -> None:
        self._stencil, self._count = simulation.stencil, min(count, ROW * MOST_ROWS)
        self._shape = (ROW, -(-self._count // ROW)) + (1,) * (self._stencil.D - 2)
        self._engine = _core.Engine(
            stencil=self._stencil.name,
            shape=self._shape,
            collision=simulation.collision.kind,
            precision="float64",
            storage="float64",
            streaming="two-lattice",
            device="cpu",
            threads=simulation.settings.threads,
            state="moments",
            **simulation.collision.parameters(self._stencil),
        )
        force = simulation.force_at(max(steps - 1, 0))  # that of the step which has made the state
        self._field = None if force is None or force.ndim == 1 else values.to_engine(force, components=True)
        if force is not None and self._field is None:
            self._engine.set_force(np.asarray(force, dtype=np.float64))
        self._weights = np.asarray(self._stencil.w, dtype=np.float64)[:, None]

    def parts(self, total: int) -> list[slice]:
        """The cells that it takes together, of so many."""
        return [slice(at, min(at + self._count, total)) for at in range(0, total, self._count)]

    def moments(self, deviations: NDArray[np.float64]) -> NDArray[np.float64]:
        """``(n, cells)``, the moments of the deviations of populations from rest, ``(Q, cells)``."""
        self._engine.set_populations(self._whole(self._weights + deviations, self._weights))
        out = np.empty((self._engine.state_numbers, *reversed(self._shape)))
        self._engine.get_state(out)
        return out.reshape(len(out), -1)[:, : deviations.shape[1]]

    def deviations(self, moments: NDArray[np.float64], part: slice) -> NDArray[np.float64]:
        """``(Q, cells)``, the deviations from rest of the populations that follow from moments, ``(n, cells)``, of this
        part of the cells."""
        if self._field is not None:
            self._engine.set_force(self._whole(self._field.reshape(len(self._field), -1)[:, part], 0.0))
        self._engine.set_state(self._whole(moments, 0.0))
        out = np.empty((self._stencil.Q, *reversed(self._shape)))
        self._engine.populations(out)
        return out.reshape(len(out), -1)[:, : moments.shape[1]] - self._weights

    def _whole(self, numbers: NDArray[np.float64], rest: Any) -> NDArray[np.float64]:
        """The numbers of all of its cells; those that are not needed are at rest."""
        whole = np.empty((len(numbers), ROW * self._shape[1]))
        whole[:, : numbers.shape[1]] = numbers
        whole[:, numbers.shape[1] :] = rest
        return whole.reshape(len(numbers), *reversed(self._shape))


def rebuilt(simulation: Simulation, state: NDArray[Any], steps: int) -> NDArray[Any]:
    """The populations that follow from moments, as the deviations from rest that a solver of populations keeps.

    Args:
        simulation: whose cells they are.
        state: ``(n, nz, ny, nx)``, of the window of this process.
        steps: after which it is the state.
    """
    numbers, fluid = state.reshape(len(state), -1), ~simulation.bodies.solid.T.reshape(-1)
    result = np.empty((simulation.stencil.Q, numbers.shape[1]), dtype=simulation.engine.storage_dtype)
    cells = _Cells(simulation, numbers.shape[1], steps)
    for part in cells.parts(numbers.shape[1]):
        own = np.where(fluid[part], numbers[:, part].astype(np.float64), 0.0)
        found = cells.deviations(own, part)
        found[:, ~fluid[part]] = 0.0  # where a force alone would leave something
        result[:, part] = found
    return result.reshape(len(result), *state.shape[1:])


def projected(simulation: Simulation, state: NDArray[Any], steps: int) -> tuple[NDArray[Any], float, float]:
    """The moments of populations, the largest difference between these and those that follow from their moments, and
    the largest deviation of any population from rest.

    Args:
        simulation: whose cells they are.
        state: ``(Q, nz, ny, nx)``, the deviations from rest in the window of this process.
        steps: after which it is the state.
    """
    numbers, fluid = state.reshape(len(state), -1), ~simulation.bodies.solid.T.reshape(-1)
    cells = _Cells(simulation, numbers.shape[1], steps)
    result = np.empty((simulation.engine.state_numbers, numbers.shape[1]), dtype=simulation.engine.storage_dtype)
    lost = largest = 0.0
    for part in cells.parts(numbers.shape[1]):
        own = np.where(fluid[part], numbers[:, part].astype(np.float64), 0.0)
        result[:, part] = cells.moments(own)
        again = cells.deviations(result[:, part].astype(np.float64), part)
        again[:, ~fluid[part]] = 0.0
        lost = max(lost, float(np.abs(again - own).max()))
        largest = max(largest, float(np.abs(own).max()))
    return result.reshape(len(result), *state.shape[1:]), lost, largest


def warn_of_projection(simulation: Simulation, lost: float, largest: float) -> None:
    """Warn, on one rank, where moments do not hold all of the populations; all processes call this together.

    Args:
        simulation: whose state is made of the moments.
        lost, largest: of this process, as `projected` returns them.
    """
    lost, largest = simulation.processes.agreed(lost), simulation.processes.agreed(largest)
    digits, of_weights = float(np.finfo(simulation.precision).eps), float(np.finfo(np.float64).eps)
    if simulation.rank != 0 or lost <= ROUNDING * (digits * largest + of_weights):
        return
    warn(
        "the populations of the checkpoint hold more than the moments that are kept of them: rebuilt from these they "
        f"change by up to {lost:.2g}, where they differ from rest by up to {largest:.2g}. Density, velocity and stress "
        f"stay; moments of higher order are now as {type(simulation.collision).__name__} makes them",
        ProjectedStateWarning,
    )
