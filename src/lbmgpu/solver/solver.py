"""The solver: sets up an engine for a domain and a collision, steps it, and saves and loads its state."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import _core, checks, kinetic, models, values
from ..collisions import Collision
from ..conditions import Value, field_value
from ..domain import Domain
from ..engine import digits
from ..engine.boundary import BoundaryValues
from ..engine.settings import check_settings
from ..errors import Diverged
from ..io import checkpoint, vtk
from ..layout import Layout
from ..parallel import collective
from ..parallel.fair_lock import FairLock
from ..parallel.processes import Processes
from ..thermal import HybridThermal, speed_limit
from ..values import Floats
from . import run
from .report import Report, make_report
from .thermal import ThermalFields

MAX_FORCE = 1.0
"""A force that would change the velocity by one cell a step within a step."""


class Solver(ThermalFields):
    """A fluid in a domain, advanced by the lattice Boltzmann method.

    It starts at rest with density 1. The domain is copied: later changes to it do not reach the solver.

    Args:
        domain: size, stencil, conditions on the faces, bodies.
        collision: `BGK`, `TRT`, `MRT` or `Regularized`; of D2Q37 `ThermalBGK`, and no other stencil has that.
        force: body force a volume, in lattice units: a vector ``(D,)``, an array ``(D, nx, ny[, nz])``, or a callable
            of the cell centres' coordinates that returns D components; None for none. Guo, Zheng & Shi, Phys. Rev. E
            65 (2002) 046308, eq. 20. D2Q37 has the `gravity` of `ThermalBGK` instead.
        precision: type of the arithmetic and of the fields, ``"float32"`` or ``"float64"``.
        storage: type that populations are kept in, as deviations from rest: ``"float64"``, ``"float32"`` or
            ``"float16"`` (scaled); the precision if None, and never wider; in D2Q37 always the precision. A solver in
            float16 warns with `LostDigitsWarning` of a force or viscosity that this has too few digits for.
        streaming: ``"in-place"`` (one lattice) or ``"two-lattice"``; if None the first, but in D2Q37 the second, its
            only one.
        device: ``"cpu"``; ``"cuda"`` or ``"cuda:1"`` and so on, a GPU; ``"auto"``, the first GPU if one can be used,
            else the CPU; or a list of them, over which the domain is cut (`Layout.over`).
        layout: a `Layout` of blocks that the domain is cut into, or the path of one; None for one block. The blocks
            name their devices, so `device` is left out. The result does not depend on it, but for the last digits of
            sums over the domain. ``"auto"``: in one process, the layout that `plan` finds over a list of devices, which
            measures them for some seconds the first time; one device gets one block.
        comm: an mpi4py communicator, such as ``MPI.COMM_WORLD``, whose ranks share the domain; None for one process.
            All ranks then make the same calls with the same arguments. Without a layout each has a block on its
            `device`, and ``"cuda"`` and ``"auto"`` mean the GPU of the rank's number on its host.
        threads: number of CPU threads; if None, all cores or the rank's share of them, or fewer for a small domain.
        thermal: `HybridThermal`: a temperature beside the flow, in D2Q9 and D3Q19, stored in `storage`, not float16;
            None for none. D2Q37 takes none, as its populations carry the temperature.

    Raises:
        TypeError, ValueError: a wrong argument, or one that does not go with another or differs among ranks, or a
            memory need that does not fit the machine; raised before anything is allocated. `ThermallyUnstable` where
            a prescribed speed or the diffusivity is above the limit of the temperature's stability.
        RuntimeError: an MPI library that is not known.
    """

    def __init__(
        self,
        domain: Domain,
        collision: Collision,
        *,
        force: ArrayLike | Callable[..., Any] | None = None,
        precision: str = "float32",
        storage: str | None = None,
        streaming: str | None = None,
        device: str | Sequence[str] = "auto",
        layout: Layout | str | os.PathLike[str] | None = None,
        comm: Any = None,
        threads: int | None = None,
        thermal: HybridThermal | None = None,
    ) -> None:
        self._settings = check_settings(
            domain,
            collision,
            force=force,
            precision=precision,
            storage=storage,
            streaming=streaming,
            device=device,
            layout=layout,
            comm=comm,
            threads=threads,
            thermal=thermal,
        )
        self._domain = self._settings.domain
        self._processes = self._settings.processes
        self._lock = FairLock()  # held through all calls of the engine that belong together, and each chunk of steps
        self._health = run.HealthCheck()
        self._last_run: run.RunResult | None = None
        self._last_phases: dict[str, float] = {}
        with collective.left_alike(self._processes.meeting, collective.Place("Solver", {}, self._processes.number)):
            self._stencil = _core.stencil(self._domain.stencil)
            force_field = callable(force) or (isinstance(force, np.ndarray) and force.ndim > 1)
            self._settings.check_memory(force_field=force_field)
            with collective.by_user(self._processes, "the functions of Solver"):
                self._boundary = BoundaryValues(self._domain, thermal)
                force_values = self._evaluate_force(force)
                source = None if thermal is None else self._evaluate_source(thermal.source)
            self._solid = self._domain.solid()
            self._fluid_cells = self._domain.cells - int(np.count_nonzero(self._solid))
            digits.check_setup(self)
            self._engine = self._settings.engine(self._boundary)
            self._set_force(force_values)
            self._set_source(source)

    # State

    @collective.collective
    def initialize(
        self,
        density: ArrayLike | Callable[..., Any] | None = None,
        velocity: ArrayLike | Callable[..., Any] | None = None,
        nonequilibrium: bool = False,
        temperature: ArrayLike | Callable[..., Any] | None = None,
    ) -> None:
        """Set the state to equilibrium and the step count to 0.

        Args:
            density: a number, an array ``(nx, ny[, nz])``, or a callable of the cell centres' coordinates
                ``x, y[, z]`` (arrays of the domain's shape; cell i has its centre at i + 0.5); 1 if None.
            velocity: a vector ``(D,)``, an array ``(D, nx, ny[, nz])``, or a callable that returns D components, in
                cells a step, at most Mach 0.3 (in D2Q37 of the sound speed at T = cs2); 0 if None.
            nonequilibrium: add the first-order non-equilibrium part that the velocity's gradients imply (Latt &
                Chopard, Math. Comput. Simul. 72 (2006) 165, eq. 7), so that no initial layer has to die away; not in
                D2Q37.
            temperature: as `density`, of a solver that has one, at most 1e6 in magnitude; the model's reference if
                None. The equilibrium is that without the model's `energy_coupling`. In D2Q37 above 0, and cs2 if None;
                the fields then read back what was given, gravity's part of a step included.

        Raises:
            TypeError, ValueError: not numbers, not finite, of a wrong shape or out of range; of a speed at which the
                temperature is unstable `ThermallyUnstable`.
        """
        nonequilibrium = checks.flag("nonequilibrium", nonequilibrium)
        if nonequilibrium and not self._model.nonequilibrium:
            name = self._stencil.name
            raise ValueError(f"nonequilibrium: True given with {name}, must be False: it has equilibrium only")
        shape, cells = self._domain.shape, values.cell_centres(self._domain.shape)
        rho = u = None
        with collective.by_user(self._processes, "the functions of initialize"):
            if density is not None:
                rho = values.evaluate("density", field_value("density", density, vector=False), shape, cells, None)
                checks.densities("density", rho)
                rho = values.to_engine(np.broadcast_to(rho, shape), components=False)
            if velocity is not None:
                given, dimensions = field_value("velocity", velocity, vector=True), len(shape)
                u = values.evaluate("velocity", given, shape, cells, dimensions)
                checks.speed("velocity", u, kinetic.mach_unit(self._stencil))
                if self.thermal is not None:
                    self.thermal.check_speed("velocity", u)
                if u.ndim == 1:
                    u = np.broadcast_to(u.reshape(-1, *[1] * dimensions), (dimensions, *shape))
                u = values.to_engine(u, components=True)
            heat = None if temperature is None else self._initial_temperature(temperature)
        with self._lock:
            self._engine.initialize(rho, u, nonequilibrium, heat)
            self._engine.steps = 0

    @property
    def force(self) -> Floats | None:
        """Body force a volume, ``(D,)`` or ``(D, nx, ny[, nz])``; assign a vector, an array, a callable or None."""
        return self._force

    @force.setter
    @collective.collective
    def force(self, force: ArrayLike | Callable[..., Any] | None) -> None:
        with collective.by_user(self._processes, "the function of force"):
            value = self._evaluate_force(force)
        self._set_force(value)

    def _evaluate_force(self, force: Any) -> Floats | None:
        models.check_force(self._stencil.name, force)
        if force is None:
            return None
        value: Value = field_value("force", force, vector=True)
        if values.takes_time(value):
            raise ValueError("force: takes t, but a force does not change by itself; assign solver.force between steps")
        shape = self._domain.shape
        result = values.evaluate("force", value, shape, values.cell_centres(shape), len(shape))
        largest = float(np.abs(result).max())
        if largest > MAX_FORCE:
            raise ValueError(f"force: {largest:g} given, must be at most {MAX_FORCE:g} in magnitude, in lattice units")
        result.flags.writeable = False
        return result

    def _set_force(self, force: Floats | None) -> None:
        if force is not None:
            digits.check_force(self, force)
        given = None if force is None else values.to_engine(force, components=True)
        with self._lock:
            self._engine.set_force(given)
            self._force = force

    # Time

    @collective.collective
    def step(self, steps: int = 1) -> None:
        """Advance by `steps` steps.

        Ctrl-C ends it between two steps, with the state whole. Other threads that save, read or change the solver have
        their turn every 0.1 s or so, between two steps too; see `paused`.

        Raises:
            Diverged: the state is not finite; looked for at least every 1000 steps.
            TypeError, ValueError: not an integer from 0.
        """
        for _ in run.advance(self, checks.integer("steps", steps)):
            pass

    @collective.collective
    def run(
        self,
        steps: int,
        progress: bool = False,
        until: run.Steady | None = None,
        callbacks: Sequence[run.Every | run.Checkpoint] = (),
    ) -> run.RunResult:
        """Advance by `steps` steps, or fewer if the flow gets steady before.

        Args:
            steps: the most steps to do.
            progress: show a bar with MLUPS and the remaining time, in a terminal or a notebook.
            until: `Steady(tolerance)` ends the run when the flow no longer changes.
            callbacks: `Every(n, function)` and `Checkpoint(path, every)`, done in this order when the step count is
                a multiple of their n.

        Returns:
            Steps done, whether the flow converged, why the run ended, and its speed.

        Raises:
            Diverged: the state is not finite; looked for at least every 1000 steps, at the end, and before each
                checkpoint, so that the last checkpoint is of a state before.
            KeyboardInterrupt: Ctrl-C was pressed; the state is that after `solver.steps` steps, whole.
            TypeError, ValueError: a wrong argument.
        """
        before = self._engine.phase_seconds
        self._last_run = run.run(self, steps, progress=progress, until=until, callbacks=callbacks)
        after = self._engine.phase_seconds
        self._last_phases = {phase: seconds - before.get(phase, 0.0) for phase, seconds in after.items()}
        return self._last_run

    def _advance_chunk(self, steps: int) -> float:
        """Advance without looking at the state; return the seconds that the engine took."""
        with self._lock:
            start = time.perf_counter()
            if self._boundary.changing:
                for _ in range(steps):
                    self._boundary.bring_to(self._engine, float(self._engine.steps))
                    self._engine.step(1)
            else:
                self._engine.step(steps)
            return self._processes.agreed(time.perf_counter() - start)

    @collective.collective
    def check(self) -> None:
        """Raise `Diverged` if the state holds a value that is not finite or a speed above 1."""
        self._check()

    def _check(self) -> None:
        with self._lock:
            cell, steps = self._engine.find_diverged(), self._engine.steps
        if cell is not None:
            model = self.thermal
            limit = None if model is None else speed_limit(model.diffusivity, model.operators, self._stencil.D)
            warmth = self._stencil.cs2 if self._model.carries_temperature else None
            raise Diverged(steps, cell, speed_limit=limit, warmth=warmth)

    # Files

    @collective.collective
    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write a checkpoint, HDF5, from which the run continues bit for bit; return its path.

        Of several processes rank 0 writes the one file, which any number of processes, blocks and devices reads.

        The file appears whole or not at all: a crash while writing leaves an older one at `path` as it was.

        Raises:
            Diverged: the state is not finite; nothing is written.
            ValueError: `path` is a folder.
            FileNotFoundError: the folder of `path` does not exist.
            OSError: the file cannot be written.
        """
        with self._lock:
            target = vtk.file_path("path", path)
            self._processes.on_first(lambda: vtk.output_path("path", target))
            return checkpoint.save(self, target)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        domain: Domain | None = None,
        device: str | Sequence[str] = "auto",
        layout: Layout | str | os.PathLike[str] | None = None,
        comm: Any = None,
        threads: int | None = None,
    ) -> Solver:
        """A solver with the setup and the state of a checkpoint.

        Args:
            path: of the checkpoint.
            domain: the domain again; needed if a condition changes in time, since a file cannot hold a function.
            device, layout, comm, threads: as for the solver; any layout continues bit for bit.

        Raises:
            CheckpointError: the file is damaged, of an unknown version, or not of this `domain`.
            FileNotFoundError: there is none.
        """
        processes = None if comm is None else Processes.of(comm, "Solver.load", path)
        meeting = None if processes is None else processes.meeting
        with collective.left_alike(meeting, collective.Place("Solver.load", {})):
            return checkpoint.load(
                cls, path, domain=domain, device=device, layout=layout, comm=processes, threads=threads
            )

    @collective.collective
    def restore(self, path: str | os.PathLike[str]) -> None:
        """Take state and step count from a checkpoint of the same setup; streaming, blocks and threads may differ.

        Raises:
            CheckpointError: the file is damaged, of an unknown version, or of another setup, naming every difference;
                the solver stays as it was.
            FileNotFoundError: there is none.
        """
        with self._lock:
            checkpoint.restore(self, path)

    @collective.collective
    def write_vtk(self, path: str | os.PathLike[str]) -> Path:
        """Write density, velocity, temperature and solid cells as a VTK image; return the path of the file to open.

        Several processes write a file for each block, beside an index that ends in ``.pvti``, which is opened.

        Args:
            path: of the file; ``.vti`` is appended where it is missing.

        Raises:
            ValueError: an ending of another format.
            FileNotFoundError: the folder of `path` does not exist.
            OSError: the file cannot be written.
        """
        return vtk.write_vtk(self, path)

    @collective.collective
    def report(self, bandwidth: bool = True) -> Report:
        """Setup, memory and speed of the last run; `str` of it is a table.

        Args:
            bandwidth: measure the bandwidth of the device's memory too, once a process, which takes a second or two.
        """
        bandwidth = checks.flag("bandwidth", bandwidth)
        with self._lock:  # through the measurement too, which steps would disturb
            return make_report(self, bandwidth)

    def __repr__(self) -> str:
        return f"Solver({self._domain!r}, {self.collision!r}, {self.precision}, step {self.steps})"
