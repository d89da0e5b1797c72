"""The solver: sets up an engine for a domain and a collision, steps it and gives its fields as NumPy arrays."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core, checkpoint, checks, run, values, vtk
from .boundary import BoundaryValues
from .collisions import Collision
from .conditions import Value, field_value
from .domain import Domain
from .errors import Diverged
from .layout import Block, Layout
from .report import Report, make_report
from .settings import check_settings
from .values import Floats

MAX_FORCE = 1.0
"""A force that would change the velocity by one cell a step within a step."""


class Solver:
    """A fluid in a domain, advanced by the lattice Boltzmann method.

    It starts at rest with density 1. The domain is copied: later changes to it do not reach the solver.

    Args:
        domain: size, stencil, conditions on the faces, bodies.
        collision: `BGK`, `TRT`, `MRT` or `Regularized`.
        force: body force a volume, in lattice units: a vector ``(D,)``, an array ``(D, nx, ny[, nz])``, or a callable
            of the cell centres' coordinates that returns D components; None for none. Guo, Zheng & Shi, Phys. Rev. E
            65 (2002) 046308, eq. 20.
        precision: type of the arithmetic and of the fields, ``"float32"`` or ``"float64"``.
        storage: type that populations are kept in, as deviations from rest: ``"float64"``, ``"float32"`` or
            ``"float16"`` (scaled); the precision if None, and never wider.
        streaming: ``"in-place"`` (one lattice) or ``"two-lattice"``.
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

    Raises:
        TypeError, ValueError: a wrong argument, or one that does not go with another or differs among ranks, or a
            memory need that does not fit the machine; raised before anything is allocated.
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
        streaming: str = "in-place",
        device: str | Sequence[str] = "auto",
        layout: Layout | str | os.PathLike[str] | None = None,
        comm: Any = None,
        threads: int | None = None,
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
        )
        self._domain = self._settings.domain
        self._processes = self._settings.processes
        self._stencil = _core.stencil(self._domain.stencil)
        force_field = callable(force) or (isinstance(force, np.ndarray) and force.ndim > 1)
        self._settings.check_memory(force_field=force_field)
        self._boundary = BoundaryValues(self._domain)
        force_values = self._evaluate_force(force)
        self._solid = self._domain.solid()
        self._fluid_cells = self._domain.cells - int(np.count_nonzero(self._solid))
        self._engine = self._settings.engine(self._boundary)
        self._set_force(force_values)
        self._lock = threading.RLock()  # for what takes several calls of the engine
        self._health = run.HealthCheck()
        self._last_run: run.RunResult | None = None
        self._last_phases: dict[str, float] = {}

    # State

    def initialize(
        self,
        density: ArrayLike | Callable[..., Any] | None = None,
        velocity: ArrayLike | Callable[..., Any] | None = None,
        nonequilibrium: bool = False,
    ) -> None:
        """Set the state to equilibrium and the step count to 0.

        Args:
            density: a number, an array ``(nx, ny[, nz])``, or a callable of the cell centres' coordinates
                ``x, y[, z]`` (arrays of the domain's shape; cell i has its centre at i + 0.5); 1 if None.
            velocity: a vector ``(D,)``, an array ``(D, nx, ny[, nz])``, or a callable that returns D components, in
                cells a step, at most Mach 0.3; 0 if None.
            nonequilibrium: add the first-order non-equilibrium part that the velocity's gradients imply (Latt &
                Chopard, Math. Comput. Simul. 72 (2006) 165, eq. 7), so that no initial layer has to die away.

        Raises:
            TypeError, ValueError: not numbers, not finite, of a wrong shape or out of range.
        """
        nonequilibrium = checks.flag("nonequilibrium", nonequilibrium)
        shape, cells = self._domain.shape, values.cell_centres(self._domain.shape)
        rho = u = None
        if density is not None:
            rho = values.evaluate("density", field_value("density", density, vector=False), shape, cells, None)
            checks.densities("density", rho)
            rho = values.to_engine(np.broadcast_to(rho, shape), components=False)
        if velocity is not None:
            dimensions = len(shape)
            u = values.evaluate("velocity", field_value("velocity", velocity, vector=True), shape, cells, dimensions)
            checks.speed("velocity", u, self._stencil.cs2)
            if u.ndim == 1:
                u = np.broadcast_to(u.reshape(-1, *[1] * dimensions), (dimensions, *shape))
            u = values.to_engine(u, components=True)
        with self._lock:
            self._engine.initialize(rho, u, nonequilibrium)
            self._engine.steps = 0

    @property
    def force(self) -> Floats | None:
        """Body force a volume, ``(D,)`` or ``(D, nx, ny[, nz])``; assign a vector, an array, a callable or None."""
        return self._force

    @force.setter
    def force(self, force: ArrayLike | Callable[..., Any] | None) -> None:
        self._set_force(self._evaluate_force(force))

    def _evaluate_force(self, force: Any) -> Floats | None:
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
        self._engine.set_force(None if force is None else values.to_engine(force, components=True))
        self._force = force

    @property
    def domain(self) -> Domain:
        """A copy of the domain."""
        return self._domain.copy()

    @property
    def collision(self) -> Collision:
        """The collision."""
        return self._settings.collision

    @property
    def precision(self) -> str:
        """Type of the arithmetic and of the fields."""
        return self._settings.precision

    @property
    def storage(self) -> str:
        """Type that populations are kept in."""
        return self._settings.storage

    @property
    def streaming(self) -> str:
        """``"in-place"`` or ``"two-lattice"``."""
        return self._settings.streaming

    @property
    def device(self) -> str:
        """``"cpu"``, or ``"cuda:0"`` and so on; of several the names, as in ``"cuda:0, cuda:1"``."""
        return ", ".join(self._settings.devices)

    @property
    def layout(self) -> Layout:
        """The blocks that the domain is cut into."""
        return Layout(Block(tuple(b["offset"]), tuple(b["size"]), b["rank"], b["device"]) for b in self._engine.layout)

    @property
    def rank(self) -> int:
        """Of this process in `comm`; 0 for one process."""
        return self._processes.rank

    @property
    def window(self) -> tuple[slice, ...]:
        """The part of the domain's arrays that this process gives: the smallest box with all its blocks."""
        offset, size = self._engine.window
        return tuple(slice(a, a + n) for a, n in zip(offset, size, strict=True))

    @property
    def threads(self) -> int:
        """Number of CPU threads."""
        return self._engine.threads

    @property
    def steps(self) -> int:
        """Steps completed since the state was initialised."""
        return self._engine.steps

    # Time

    def step(self, steps: int = 1) -> None:
        """Advance by `steps` steps.

        Ctrl-C ends it between two steps, with the state whole.

        Raises:
            Diverged: the state is not finite; looked for at least every 1000 steps.
            TypeError, ValueError: not an integer from 0.
        """
        for _ in run.advance(self, checks.integer("steps", steps)):
            pass

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
        start = time.perf_counter()
        if self._boundary.changing:
            for _ in range(steps):
                with self._lock:
                    self._boundary.bring_to(self._engine, float(self._engine.steps))
                    self._engine.step(1)
        else:
            self._engine.step(steps)
        return self._processes.agreed(time.perf_counter() - start)

    def check(self) -> None:
        """Raise `Diverged` if the state holds a value that is not finite or a speed above 1."""
        cell = self._engine.find_diverged()
        if cell is not None:
            raise Diverged(self.steps, cell)

    # Fields

    def density(self, gather: bool = False) -> Any:
        """Density, ``(nx, ny[, nz])``, in the dtype of `precision`; 1 in solid cells.

        Args:
            gather: of several processes: the whole domain on rank 0 and None elsewhere, in place of each one's `window`
                of it. Cells of a window that belong to other processes are NaN.
        """
        return self._field(self._engine.density, 0, gather)

    def velocity(self, gather: bool = False) -> Any:
        """Velocity in cells a step, ``(D, nx, ny[, nz])``; solid cells have that of their wall.

        With a force it is that of Guo, Zheng & Shi, Phys. Rev. E 65 (2002) 046308, eq. 19: half of the step's
        momentum input included. `gather`: see `density`.
        """
        with self._walls_of_now():
            return self._field(self._engine.velocity, len(self._domain.shape), gather)

    def populations(self, gather: bool = False) -> Any:
        """Populations after the collision, ``(Q, nx, ny[, nz])``, in the order of the stencil's velocities.

        `gather`: see `density`.
        """
        return self._field(self._engine.populations, self._stencil.Q, gather)

    def _field(self, read: Callable[[NDArray[Any]], None], components: int, gather: bool) -> Any:
        """A field in the user's order of axes, of this process's window or gathered."""
        gather = checks.flag("gather", gather)
        shape = self._engine.window[1][::-1]
        out = np.empty((*([components] if components else []), *shape), dtype=self.precision)
        if self._processes.size > 1:
            out.fill(np.nan)
        read(out)
        whole = self._processes.gathered(self.layout, out, self._engine.window) if gather else out
        if whole is None or components == 0:
            return None if whole is None else whole.T
        return whole.transpose(0, *reversed(range(1, whole.ndim)))

    def device_array(self, field: str) -> _core.DeviceArray:
        """A field of now in the memory of the solver's GPU, for CuPy, PyTorch, JAX and others there.

        It never crosses the bus: give it to ``cupy.asarray``, ``torch.from_dlpack`` or ``jax.dlpack.from_dlpack``. It
        is a field of its own, which later steps do not change.

        Args:
            field: ``"density"``, ``"velocity"`` or ``"populations"``, with the shape and the dtype of the method of
                that name.

        Returns:
            An object with ``__cuda_array_interface__``, ``__dlpack__`` and `shape`.

        Raises:
            TypeError, ValueError: no such field, or a solver on the CPU.
        """
        names = ("density", "velocity", "populations")
        number = names.index(checks.choice("field", field, names))
        if self.device == "cpu":
            raise ValueError(f"field: {field!r} of a solver on the CPU is in NumPy's memory: use solver.{field}()")
        with self._walls_of_now():
            return _core.device_field(self._engine, number)

    def solid(self) -> NDArray[np.bool_]:
        """Bool array ``(nx, ny[, nz])`` of the whole domain, True in bodies."""
        return self._solid.copy()

    def mass(self) -> float:
        """Sum of the density over the fluid cells."""
        return self._engine.totals()[0]

    def momentum(self) -> Floats:
        """Sum of density times velocity over the fluid cells, ``(D,)``."""
        return np.array(self._engine.totals()[1])

    def kinetic_energy(self) -> float:
        """Sum of half the density times the velocity squared over the fluid cells."""
        return self._engine.totals()[2]

    def body_force(self, name: str) -> Floats:
        """Force that the fluid exerts on the body `name`, ``(D,)``, in lattice units.

        By momentum exchange over the links between fluid and solid cells (Ladd, J. Fluid Mech. 271 (1994) 285); the
        pressure is relative to density 1.

        Raises:
            ValueError: no body of that name.
        """
        origin = [0.0] * len(self._domain.shape)
        index = self._body_index(name)
        with self._walls_of_now():
            return np.array(self._engine.body_force(index, origin)[0])

    def body_torque(self, name: str, center: ArrayLike | None = None) -> Floats:
        """Torque that the fluid exerts on the body `name` about `center`.

        Args:
            name: of the body.
            center: coordinates ``(D,)``; the centroid of the body's cells if None.

        Returns:
            ``(3,)``, or ``(1,)`` in two dimensions, where it is about the z axis.

        Raises:
            TypeError, ValueError: no body of that name, or a center that is not D finite numbers.
        """
        index = self._body_index(name)
        dimensions = len(self._domain.shape)
        if center is None:
            about = np.argwhere(self._domain.bodies[name].mask).mean(axis=0) + 0.5
        else:
            about = checks.real_array("center", center)
            if about.shape != (dimensions,):
                raise ValueError(f"center: shape {about.shape} given, must be ({dimensions},)")
        with self._walls_of_now():
            return np.array(self._engine.body_force(index, about.tolist())[1])

    @contextmanager
    def _walls_of_now(self) -> Iterator[None]:
        """Bodies have the velocity of the time reached, and no step comes between."""
        with self._lock:
            self._boundary.bring_to(self._engine, float(self._engine.steps), faces=False)
            yield

    def _body_index(self, name: str) -> int:
        names = list(self._domain.bodies)
        if not names:
            raise ValueError(f"name: {checks.shown(name)} given, but the domain has no bodies; add_body makes one")
        return names.index(checks.choice("name", name, names))

    # Files

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
        return checkpoint.load(cls, path, domain=domain, device=device, layout=layout, comm=comm, threads=threads)

    def restore(self, path: str | os.PathLike[str]) -> None:
        """Take state and step count from a checkpoint of the same setup; streaming, blocks and threads may differ.

        Raises:
            CheckpointError: the file is damaged, of an unknown version, or of another setup, naming every difference;
                the solver stays as it was.
            FileNotFoundError: there is none.
        """
        with self._lock:
            checkpoint.restore(self, path)

    def write_vtk(self, path: str | os.PathLike[str]) -> Path:
        """Write density, velocity and the solid cells as a VTK image; return the path of the file to open.

        Several processes write a file for each block, beside an index that ends in ``.pvti``, which is opened.

        Args:
            path: of the file; ``.vti`` is appended where it is missing.

        Raises:
            ValueError: an ending of another format.
            FileNotFoundError: the folder of `path` does not exist.
            OSError: the file cannot be written.
        """
        return vtk.write_vtk(self, path)

    def report(self, bandwidth: bool = True) -> Report:
        """Setup, memory and speed of the last run; `str` of it is a table.

        Args:
            bandwidth: measure the bandwidth of the device's memory too, once a process, which takes a second or two.
        """
        return make_report(self, checks.flag("bandwidth", bandwidth))

    def __repr__(self) -> str:
        return f"Solver({self._domain!r}, {self.collision!r}, {self.precision}, step {self.steps})"
