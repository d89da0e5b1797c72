"""The solver: the users' interface to set up, step, read and save a simulation."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import checks
from ..collisions import Collision
from ..deprecated import was_a_method
from ..domain import Domain
from ..engine import linear_stability
from ..engine.foreign_arrays import taken
from ..engine.settings import Settings, check_settings
from ..engine.simulation import Simulation
from ..files.regular_files import file_path, output_path
from ..guarded import Guarded
from ..layout import Layout
from ..parallel.collective import Place, by_user, left_alike, together
from ..parallel.placement import warn_of_idle_gpus
from ..parallel.processes import Processes
from ..planning.default_cut import cut_for
from ..thermal import HybridThermal
from ..turbulence import TurbulenceModel
from ..values import Floats
from . import auto_layout
from .calls import collective, collective_if_gathered
from .derived import DerivedFields
from .drawing import DrawnSolver
from .fields import Fields
from .loading import arguments_of_file
from .reading import ReadSolver
from .recording import Recorder, Recordings
from .report import Report, make_report
from .run import Checkpoint, Every, RunLoop, RunResult
from .setup import SetupOfSolver
from .start import loaded, with_fields_of
from .steady import Steady
from .thermal import ThermalFields


def _checked(domain: Domain, collision: Collision, **options: Any) -> Settings:
    """The settings of the arguments of `Solver`, which plans layouts and the CPU's share."""
    found: dict[str, Any] = {"planned": auto_layout.planned, "share_found": auto_layout.share_of_cpu}
    return check_settings(domain, collision, cut_for=cut_for, **found, **options)


class Solver(SetupOfSolver, ReadSolver, DrawnSolver, Guarded):
    """A fluid in a domain, advanced by the lattice Boltzmann method.

    It starts at rest with density 1. The domain is copied: later changes to it do not reach the solver.

    Args:
        domain: size, stencil, conditions on the faces, bodies.
        collision: `BGK`, `TRT`, `MRT`, `Regularized`, `CentralMoments`, `RecursiveRegularized`, of D3Q27 `Cumulant`,
            or a `CustomCollision`; of D2Q37 `ThermalBGK`, and no other stencil has that.
        force: body force a volume, in lattice units: a vector ``(D,)``, an array ``(D, nx, ny[, nz])``, or a callable
            of the cell centres' coordinates that returns D components; one of them times a function of time, such as
            ``(1e-5, 0) * lbm.Sine(period=1000)``; None for none. Guo, Zheng & Shi, Phys. Rev. E
            65 (2002) 046308, eq. 20. D2Q37 has the `gravity` of `ThermalBGK` instead. Arrays of CuPy, PyTorch and
            others are taken as by `force`, which it may be assigned to later.
        precision: type of the arithmetic and of the fields, ``"float32"`` or ``"float64"``.
        storage: type that populations are kept in, as deviations from rest: ``"float64"``, ``"float32"`` or
            ``"float16"`` (scaled); the precision if None, and never wider; in D2Q37 always the precision. A solver in
            float16 warns with `LostDigitsWarning` of a force or viscosity that this has too few digits for.
        streaming: ``"in-place"`` (one lattice, of moments two that overlap) or ``"two-lattice"``; if None the first,
            but the second in D2Q37, its only one, and of moments, where it is the faster one.
        device: ``"cpu"``; ``"cuda"`` or ``"cuda:1"`` and so on, a GPU; ``"auto"``, the first GPU if one can be used,
            else the CPU; or a list of them, over which the domain is cut (`Layout.over`).
        layout: a `Layout` of blocks that the domain is cut into, or the path of one; None for one block. The blocks
            name their devices, so `device` is left out. The result does not depend on it, but for the last digits of
            sums over the domain. ``"auto"``: the layout that `plan` finds over a list of devices, or over those of all
            ranks, which measures them for some seconds the first time; one device of one process gets one block.
        comm: an mpi4py communicator, such as ``MPI.COMM_WORLD``, whose ranks share the domain; None for one process.
            All ranks then make the same calls with the same arguments. Without a layout each has a block on its
            `device`, and ``"cuda"`` and ``"auto"`` mean the GPU of the rank's number on its host; the blocks are those
            of least surface that keep rows along x whole, as far as `cost_model` predicts no better ones.
        threads: number of CPU threads; if None, all cores or the rank's share of them, or fewer for a small domain.
        thermal: `HybridThermal`: a temperature in addition to the flow, in D2Q9 and D3Q19, stored in `storage`, not
            float16; None for none. D2Q37 takes none, as its populations carry the temperature.
        channel: how blocks exchange their halos: ``"direct"``, from memory to memory; ``"staged"``, through buffers in
            the host's memory; ``"mpi"``, by messages, between ranks; ``"auto"``, the best that each two of them have.
            None: what the environment variable ``LBMGPU_CHANNEL`` says, ``"auto"`` without it.
        schedule: when they do: ``"overlap"``, while the interiors of the blocks are updated; ``"blocking"``, before
            the update; ``"auto"``, the first, but not where all blocks are on the CPU of one process. None: what
            ``LBMGPU_SCHEDULE`` says, ``"auto"`` without it. Results depend on neither of them.
        cpu_share: part of the cells of each block on a GPU that the CPU of its rank computes beside it, 0 to less than
            1, see `Layout.with_cpu_share`; ``"auto"``: the fastest of a few that are run for a moment when the solver
            is made, none among them. None for none, or what the layout says. Without a GPU it has no effect.
        turbulence: `Smagorinsky`, `WALE` or `Vreman`: an eddy viscosity beside that of the collision, any but
            `ThermalBGK` and `CustomCollision`; None for none. A collision's ``smagorinsky`` says the same as the first.
        state: what a cell keeps from step to step: its ``"populations"``, or with `Regularized` and
            `RecursiveRegularized` the ``"moments"`` that these follow from, 6 in two dimensions and 10 in three. Two
            steps, in two dimensions six, are then advanced for each time that memory is read and written, with the same
            flow but for rounding. What else does not go with them is refused by name. ``"auto"``: moments where all
            goes with them, whatever devices and layout; `report` says what does not.

    Raises:
        TypeError, ValueError: a wrong argument, or one that does not go with another or differs among ranks, or a
            memory need that does not fit the machine; raised before anything is allocated.
            `LayoutError` for a layout that does not go with the domain or with the ranks, hosts and devices of the job.
            `ThermallyUnstableError` where a prescribed speed or the diffusivity is above the limit of the temperature's
            stability.
        RuntimeError: an MPI library that is not known. `CompileError` where the text of a `CustomCollision` does not
            compile, or nothing compiles it.
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
        channel: str | None = None,
        schedule: str | None = None,
        cpu_share: float | str | None = None,
        turbulence: TurbulenceModel | None = None,
        state: str = "populations",
    ) -> None:
        force = taken("force", force)
        settings = _checked(
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
            channel=channel,
            schedule=schedule,
            cpu_share=cpu_share,
            turbulence=turbulence,
            state=state,
        )
        if layout is not None and settings.layout is not None:
            warn_of_idle_gpus(settings.layout, settings.processes)
        self._simulation = Simulation(settings, force)
        self._fields = Fields(self._simulation)
        self._thermal = ThermalFields(self._simulation, self._fields)
        self._derived = DerivedFields(self._simulation, self._fields, self._thermal)
        self._recordings = Recordings(self, self._simulation)
        self._loop = RunLoop(self._simulation, self._recordings)

    def __reduce__(self) -> tuple[Any, ...]:
        """Refused, by a TypeError: memory of the engine goes through no pickle."""
        raise TypeError("Solver: cannot be pickled or copied; save and load take its state through a file")

    def __repr__(self) -> str:
        return f"Solver({self.domain!r}, {self.collision!r}, {self.precision}, step {self.steps})"

    # State

    @collective
    def initialize(
        self,
        density: ArrayLike | Callable[..., Any] | None = None,
        velocity: ArrayLike | Callable[..., Any] | None = None,
        nonequilibrium: bool | None = None,
        temperature: ArrayLike | Callable[..., Any] | None = None,
        *,
        like: str | os.PathLike[str] | Solver | None = None,
    ) -> None:
        """Set the state to equilibrium and the step count to 0.

        Of several processes arrays are of the domain, or of each one's `subdomain`, and callables get the coordinates
        of that (with `nonequilibrium` of some cells around it too). Arrays of CuPy, PyTorch, JAX and others are taken
        too (``__dlpack__``, ``__cuda_array_interface__``), in place if they are in host memory. From a GPU's memory
        those of float32 and float64 go to blocks on GPUs without the host, with the same bits; else they are copied
        there once, as where a block of the process is on the CPU, and a density of several processes.

        Args:
            density: a number, an array ``(nx, ny[, nz])``, or a callable of the cell centres' coordinates
                ``x, y[, z]`` (arrays of one shape; cell i has its centre at i + 0.5); 1 if None.
            velocity: a vector ``(D,)``, an array ``(D, nx, ny[, nz])``, or a callable that returns D components, in
                cells a step, at most Mach 0.3 (in D2Q37 of the sound speed at T = cs2); 0 if None.
            nonequilibrium: add the first-order non-equilibrium part that the velocity's gradients imply (Latt &
                Chopard, Math. Comput. Simul. 72 (2006) 165, eq. 7), so that no initial layer has to die away; not in
                D2Q37. None: with `like` where it can be, else not.
            temperature: as `density`, of a solver that has one, at most 1e6 in magnitude; the model's reference if
                None. The equilibrium is that without the model's `energy_coupling`. In D2Q37 above 0, and cs2 if None;
                the fields then read back what was given, gravity's part of a step included.
            like: a flow in the same box with other cells, a checkpoint or a solver of one process, whose density,
                velocity and temperature are interpolated where none are given. Velocities in cells a step stay as they
                are, so that the Mach number does; the viscosity has to be in proportion to the cells along an axis.

        Raises:
            TypeError, ValueError: not numbers, not finite, of a wrong shape or out of range; of a speed at which the
                temperature is unstable `ThermallyUnstableError`.
        """
        fields = {"density": density, "velocity": velocity, "temperature": temperature}
        fields = {name: taken(name, value) for name, value in fields.items()}
        if like is not None:
            fields = self._simulation.processes.each(lambda: self._with_fields_of(like, fields))
        if nonequilibrium is None:
            nonequilibrium = like is not None and self._simulation.model.nonequilibrium
        self._simulation.initialize(fields["density"], fields["velocity"], nonequilibrium, fields["temperature"])
        self._recordings.state_was_set()

    def _with_fields_of(self, like: Any, fields: dict[str, Any]) -> dict[str, Any]:
        source = like if isinstance(like, Solver) else loaded(like, Solver.load)
        return with_fields_of(self._simulation, source._simulation, source, fields)

    @property
    def force(self) -> Floats | None:
        """Body force a volume, ``(D,)`` or ``(D, nx, ny[, nz])`` of the `subdomain`. Assign a vector, an array of the
        domain or of the subdomain, a callable of coordinates, one of them times a function of time, or None. One that
        changes in time reads as the force of the present step. Where the memory does not suffice there is none
        afterwards.

        An array of CuPy, PyTorch and others in a GPU's memory goes to blocks on GPUs as in `initialize`, and is read
        back from them, in the digits of `precision`."""
        return self._simulation.force

    @force.setter
    @collective
    def force(self, force: ArrayLike | Callable[..., Any] | None) -> None:
        with by_user(self._simulation.processes, "the function of force"):
            value = self._simulation.evaluate_force(taken("force", force), self._simulation.steps)
        self._simulation.set_force(value)

    @property
    def heat_source(self) -> Floats | None:
        """Heat a step in units of temperature, ``()`` or ``(nx, ny[, nz])`` of the `subdomain`.

        Assign a number, an array of the domain or of the subdomain, a callable of the cell centres' coordinates or
        None. Arrays in a GPU's memory are taken as by `force`. A solver without a temperature raises ValueError.
        """
        return self._thermal.source

    @heat_source.setter
    @collective
    def heat_source(self, source: ArrayLike | Callable[..., Any] | None) -> None:
        self._thermal.source = source

    @property
    def solid(self) -> NDArray[np.bool_]:
        """Bool array ``(nx, ny[, nz])`` of the whole domain, True in bodies, of those that move where they are now;
        each time a new one. Of bodies that several processes were given in parts it has this process's part."""
        shape = self._simulation.domain.shape
        return was_a_method("solid", self._simulation.solid_at_now(((0,) * len(shape), shape)))

    # Time

    @collective
    def step(self, steps: int = 1) -> None:
        """Advance by `steps` steps.

        Ctrl-C ends it between two steps, with the state whole. Other threads that save, read or change the solver have
        their turn every 0.1 s or so, between two steps too; see `paused`.

        Raises:
            DivergedError: the state is not one of a flow any more; looked for as in `run`.
            TypeError, ValueError: not an integer from 0.
        """
        for _ in self._loop.advance(checks.integer("steps", steps)):
            pass

    @collective
    def run(
        self,
        steps: int,
        progress: bool = False,
        until: Steady | None = None,
        callbacks: Sequence[Every | Checkpoint] = (),
    ) -> RunResult:
        """Advance by `steps` steps, or fewer if the flow gets steady before.

        Args:
            steps: the most steps to do.
            progress: show a bar with MLUPS and the remaining time, in a terminal or a notebook.
            until: `Steady(tolerance)` ends the run when the flow no longer changes.
            callbacks: `Every(every, function)` and `Checkpoint(path, every)`, done in this order when the step count
                is a multiple of their `every`.

        Returns:
            Steps done, whether the flow converged, why the run ended, and its speed.

        Raises:
            DivergedError: the state is not one of a flow any more; looked for as often as a fiftieth of the time
                allows, every 1000 steps at least, at the end, and before each checkpoint, so that the last one is of a
                state before.
            KeyboardInterrupt: Ctrl-C was pressed; the state is that after `solver.steps` steps, whole.
            TypeError, ValueError: a wrong argument.
        """
        steps = checks.integer("steps", steps)
        linear_stability.warn_of_growth(self._simulation, steps)
        return self._loop.run(self, steps, progress=progress, until=until, callbacks=callbacks)

    def record(
        self, *recorders: Recorder, every: int | None = None, start: int | None = None
    ) -> Recorder | tuple[Recorder, ...]:
        """Have recorders look at the state while the solver advances, in `step` and in `run`.

        All ranks call it together, with recorders that were made alike. After `load` a recorder goes on with what the
        checkpoint has by its name; it is recorded before any further step.

        Args:
            recorders: `Mean`, `Probe`, `Series` and others; each belongs to one solver.
            every: steps between two samples of all of them; None leaves each what it was made with.
            start: the first step that may be sampled; None for what each was made with. Samples are those after the
                steps ``start, start + every, start + 2 * every`` and so on.

        Returns:
            The recorder, or all of them as a tuple if there are several.

        Raises:
            TypeError, ValueError: not recorders, one that is in use, of a name that another one has, or that does not
                go with this solver. `CheckpointError` for one that the loaded checkpoint has another kind or setup of,
                or that is recorded after further steps.
        """
        simulation = self._simulation
        given = {"recorders": ", ".join(map(checks.shown, recorders)), "every": every, "start": start}
        several = simulation.processes.meeting is not None
        with together(simulation.processes, "record", given, lambda: simulation.steps) if several else nullcontext():
            return self._recordings.add(recorders, every, start)

    @property
    def recorders(self) -> tuple[Recorder, ...]:
        """That look at the state while the solver advances, in the order of `record`."""
        return self._recordings.all

    @collective
    def check(self) -> None:
        """Raise `DivergedError` if the state is not one of a flow: see there for what is taken for one."""
        self._simulation.check()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """``with solver.paused():`` no other thread steps or changes the solver meanwhile.

        What is read in there is of one state: the step count and several fields, say. Each call by itself needs none
        of it: it has its turn between two chunks of a run, which last about 0.1 s. Of several processes a run, or
        another call that all ranks make, ends first.
        """
        meeting = self._simulation.processes.meeting
        with nullcontext() if meeting is None else meeting.turn, self._simulation.lock:
            yield

    # Files

    @collective
    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write a checkpoint, HDF5, from which the run continues bit for bit; return its path.

        Of several processes rank 0 writes the one file, which any number of processes, blocks and devices reads. What
        the `recorders` have recorded is in it too.

        The file appears whole or not at all: a crash while writing leaves an older one at `path` as it was.

        Raises:
            DivergedError: the state is not finite; nothing is written.
            ValueError: `path` is a folder.
            FileNotFoundError: the folder of `path` does not exist.
            OSError: the file cannot be written.
        """
        from ..io import checkpoint  # with HDF5, which takes a while to be loaded

        with self._simulation.lock:
            target = file_path("path", path)
            self._simulation.processes.on_first(lambda: output_path("path", target))
            self._recordings.flush()
            return checkpoint.save(self._simulation, target, self._recordings.kept())

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        domain: Domain | None = None,
        collision: Collision | None = None,
        device: str | Sequence[str] = "auto",
        layout: Layout | str | os.PathLike[str] | None = None,
        comm: Any = None,
        threads: int | None = None,
        channel: str | None = None,
        schedule: str | None = None,
        cpu_share: float | str | None = None,
        state: str | None = None,
        streaming: str | None = None,
    ) -> Solver:
        """A solver with the setup and the state of a checkpoint.

        What recorders had recorded waits for recorders of the same name and kind, which go on with it; see `record`.

        Of several processes each reads its part; the bodies of its domain are then given in parts, see `Body.mask`.

        Args:
            path: of the checkpoint.
            domain: the domain again; needed if a condition changes in time, since a file cannot hold a function.
            collision: the collision again; needed if it is a `CustomCollision`, since the text in a file is never
                compiled. It must be that of the file; if its populations go on as moments, any of the same fluid.
            device, layout, comm, threads, channel, schedule, cpu_share: as for the solver; any layout continues bit for
                bit.
            state, streaming: as for the solver; None for what the file has, and of the streaming for the default of
                another `state`. See `restore`.

        Raises:
            CheckpointError: the file is damaged, of an unknown version, or not of this `domain` or `collision`.
            ValueError: the setup of the file does not go with this `state` or `streaming`.
            FileNotFoundError: there is none.
        """
        from ..io import checkpoint

        processes = None if comm is None else Processes.of(comm, "Solver.load", path)
        meeting = None if processes is None else processes.meeting
        with left_alike(meeting, Place("Solver.load", {})):
            where: dict[str, Any] = {"device": device, "layout": layout, "comm": processes, "threads": threads}
            where |= {"channel": channel, "schedule": schedule, "cpu_share": cpu_share}
            where |= {} if streaming is None else {"streaming": streaming}
            solver = cls(**arguments_of_file(path, (domain, collision, state), where, _checked))
            solver._recordings.found(checkpoint.restore(solver._simulation, path))
            return solver

    @collective
    def restore(self, path: str | os.PathLike[str]) -> None:
        """Take state and step count from a checkpoint of the same setup; streaming, blocks and threads may differ.

        So may the `state`. Moments become the populations that follow from them. Populations become their moments, also
        those of another collision with the same viscosity, `smagorinsky` and `incompressible`; where that drops more
        of them than rounding does, there is a `ProjectedStateWarning`.

        Recorders that the file has something of go on with that; others forget what is later than the file.

        Raises:
            CheckpointError: the file is damaged, of an unknown version, or of another setup, naming every difference,
                or of recorders that were set up in another way; the solver and its recorders stay as they were.
            FileNotFoundError: there is none.
        """
        from ..io import checkpoint

        with self._simulation.lock:
            found = checkpoint.restore(self._simulation, path, self._recordings.check)
            try:
                self._recordings.state_was_set()
            finally:  # also where a recorder has lost a file
                self._recordings.found(found)

    @collective
    def write_vtk(self, path: str | os.PathLike[str]) -> Path:
        """Write density, velocity, temperature and solid cells as a VTK image; return the path of the file to open.

        Several processes write a file for each block, and an index that ends in ``.pvti``, which is the one to open.

        Args:
            path: of the file; ``.vti`` is appended where it is missing.

        Raises:
            ValueError: an ending of another format.
            FileNotFoundError: the folder of `path` does not exist.
            OSError: the file cannot be written.
        """
        from ..io import vtk  # with a package that takes a while to be loaded

        fields: dict[str, Callable[[], Any]] = {"density": self.density, "velocity": self.velocity}
        if self._simulation.has_temperature:
            fields["temperature"] = self.temperature
        return vtk.write_vtk(self._simulation, path, fields)

    @collective_if_gathered
    def report(self, bandwidth: bool = True, *, gather: bool = False) -> Report:
        """Setup, memory and speed of the last run; `str` of it is a table.

        A rank may ask for it alone: memory and bandwidths are then those of its own devices, and the speed that of the
        last run of all.

        Args:
            bandwidth: measure the bandwidth of the devices' memory too, once a process, which takes a second or two.
            gather: of all ranks together, which all of them call.
        """
        bandwidth, gather = checks.flag("bandwidth", bandwidth), checks.flag("gather", gather)
        with self._simulation.lock:  # through the measurement too, which steps would disturb
            return make_report(self._simulation, self._loop, bandwidth, gather)


def simulation_of(solver: Solver) -> Simulation:
    """What a solver works on, for the other rooms of the package: see `Simulation`."""
    return solver._simulation


def recordings_of(solver: Solver) -> Recordings:
    """The recorders of a solver, for what advances several together."""
    return solver._recordings
