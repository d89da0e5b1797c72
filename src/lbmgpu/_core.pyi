"""The C++ engine.

Every array that crosses this border is C-contiguous with its axes reversed, so that x is the fastest index: a scalar
field of a domain ``(nx, ny, nz)`` is ``(nz, ny, nx)``, a vector field ``(D, nz, ny, nx)``, populations
``(Q, nz, ny, nx)``. In two dimensions the z axis is absent. Faces are numbered -x, +x, -y, +y, -z, +z = 0 .. 5.
A face's values have the face's two tangential axes, again reversed: face -x of a 3-D domain has ``(nz, ny)``,
-y ``(nz, nx)``, -z ``(ny, nx)``; in two dimensions -x has ``(ny,)`` and -y ``(nx,)``.

Wrong arguments raise ValueError, TypeError or IndexError before anything is changed, whatever they are. In a child of
``os.fork`` RuntimeError says what is the parent's alone: engines on GPUs or of several ranks, those that another thread
was using, CUDA and MPI once the parent has used them.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._core_arrays import (
    DeviceArray as DeviceArray,
    GpuArray as GpuArray,
    device_field as device_field,
    gpu_array_at as gpu_array_at,
    gpu_array_of_dlpack as gpu_array_of_dlpack,
)
from ._core_cuda import (
    CudaError as CudaError,
    cuda_compiler as cuda_compiler,
    cuda_copy_bandwidth as cuda_copy_bandwidth,
    cuda_device as cuda_device,
    cuda_device_count as cuda_device_count,
    cuda_driver_version as cuda_driver_version,
    cuda_kernel_resources as cuda_kernel_resources,
    cuda_tune as cuda_tune,
    cuda_update_resources as cuda_update_resources,
    set_compiler_folders as set_compiler_folders,
)
from ._core_custom import (
    CompileError as CompileError,
    custom_numbers as custom_numbers,
    custom_resources as custom_resources,
)
from ._core_geometry import Surface as Surface, clean_mesh as clean_mesh
from ._core_lists import (
    Stencil as Stencil,
    boundary_numbers as boundary_numbers,
    cell_operations as cell_operations,
    collision_names as collision_names,
    face_conditions as face_conditions,
    gradient_bytes as gradient_bytes,
    lattice_headers as lattice_headers,
    least_odd_rate as least_odd_rate,
    models as models,
    moment_collisions as moment_collisions,
    moment_faces as moment_faces,
    most_steps_between as most_steps_between,
    stencil as stencil,
    stencil_names as stencil_names,
    turbulence_models as turbulence_models,
)
from ._core_samplers import CellStatistics as CellStatistics, SeriesSampler as SeriesSampler

_Part = NDArray[np.float64] | None
_Links = tuple[
    str, NDArray[np.int64], NDArray[np.float64], NDArray[np.float64] | None, bool, NDArray[np.float64] | None
]

def cpu_isas() -> list[str]:
    """Instruction sets that this build has and this processor runs, best first (``avx512``, ``avx2``, ``baseline``)."""

def kernel_cache_folder() -> str:
    """Where compiled kernels are kept; empty for nowhere."""

def kernel_cache_refusal() -> str:
    """Why that folder is not used, as others can write into it; empty where it is used or not there yet."""

class Exchange:
    """A persistent exchange: messages between ranks that are set up once and exchanged repeatedly."""
    def start_receives(self) -> None:
        """Start the receives; until `finish` their arrays belong to the exchange."""
    def start_sends(self) -> None:
        """Start the sends; until `finish` their arrays must not change."""
    def finish(self) -> None:
        """Return when all started messages are complete; RuntimeError names the message that failed."""

class Communicator:
    """The ranks of an MPI job; errors of MPI raise RuntimeError with MPI's text."""

    @property
    def rank(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def library(self) -> str:
        """The version text of the MPI library."""
    @property
    def cuda_aware(self) -> bool:
        """Whether the library takes messages from a GPU's memory."""
    def sum(self, values: Sequence[float]) -> list[float]:
        """Each value summed over all ranks, which call it together, with as many values each."""
    def maximum(self, value: float) -> float:
        """The largest of all ranks' values; all call it together."""
    def all_gather(self, own: str) -> list[str]:
        """Every rank's text, in the order of ranks; all call it together."""
    def barrier(self) -> None:
        """Return when all ranks have called it."""
    def exchange(
        self, receives: Sequence[tuple[NDArray[Any], int, int]], sends: Sequence[tuple[NDArray[Any], int, int]]
    ) -> Exchange:
        """Set up messages: each a C-contiguous array, the other rank and a tag. ValueError for other arrays."""

def mpi_communicator(path: str, handle: int, host: str = "") -> Communicator:
    """A duplicate of the communicator with the Fortran handle `handle`; all its ranks call it together.

    Ranks of different `host` share no memory. `path` is the file of mpi4py's extension module, whose MPI library is
    used. RuntimeError where it has none, or one of an unknown binary interface, and while MPI is not initialised.
    """

def check_layout(shape: Sequence[int], blocks: Sequence[tuple[Sequence[int], Sequence[int], int, str]]) -> None:
    """Raise ValueError unless the blocks, as `Engine` takes them, tile a domain of `shape`."""

def default_threads() -> int: ...
def inplace_stream_scale(bytes: int, threads: int, repeats: int) -> float:
    """Bytes per second of ``x <- a x`` over `bytes` of float64, reads and writes counted; best of `repeats`."""

def device_can_access(device: str, other: str) -> bool:
    """Whether `device` reads the memory of `other`, named as ``"cpu"`` or ``"cuda:0"``; made so where it can be."""

def link_bandwidth(source: str, target: str, bytes: int, repeats: int) -> tuple[float, float]:
    """Seconds of a copy of 4 KiB from one device's memory to another's, and bytes a second beyond that.

    Best of `repeats` copies of `bytes`, each waited for: by the target where it reaches the source's memory, else
    through the host's. Raises ValueError for other names, few bytes or no repeat; CudaError.
    """

def memory_layouts() -> list[str]:
    """The layouts of memory that can be timed: AoS, SoA, and rows that are interleaved by population."""

def propagation_seconds(
    device: str, stencil: str, layout: str, storage: str, shape: Sequence[int], threads: int, seconds: float
) -> float:
    """Seconds of a step that only streams, in a periodic box in a layout of memory; mean of those that take `seconds`.

    0 `threads` are all. Raises ValueError, MemoryError, CudaError.
    """

class EngineGroup:
    """Engines that advance together; each is one block, and all are on one device."""
    def __init__(self, engines: tuple[Engine, ...], threads: int) -> None: ...
    def step(self, steps: int) -> None: ...

class Engine:
    """Blocks on their devices, with their lattices and boundary-and-halo plans, and the schedule of a step."""

    def __init__(
        self,
        *,
        stencil: str,
        shape: Sequence[int],
        collision: str,
        precision: str = "float32",
        storage: str = "float32",
        streaming: str = "in-place",
        faces: Sequence[str] = ...,
        device: str = "cpu",
        threads: int = 0,
        isa: str = "",
        blocks: Sequence[tuple[Sequence[int], Sequence[int], int, str]] = ...,
        channel: str = "",
        schedule: str = "",
        comm: Communicator | None = None,
        thermal: dict[str, Any] | None = None,
        thermal_faces: Sequence[str] = ...,
        custom: dict[str, Any] | None = None,
        turbulence: dict[str, Any] | None = None,
        state: str = "populations",
        **parameters: float | Sequence[float] | dict[str, float],
    ) -> None:
        """Set up and allocate.

        `collision` is one of `collision_names`, and takes `parameters` of its own: all the `viscosity` and, but for
        ``thermal-bgk``, the constant `smagorinsky`; ``trt`` and ``central-moments`` the number `magic`; ``mrt``
        `rates` by group name that replace the presets; ``cumulant`` the numbers `bulk_viscosity`, `limiter` (0 for
        none) and `parametrized` (0 or 1); ``thermal-bgk`` the Prandtl number `prandtl`, the acceleration `gravity` (D
        numbers) and `fourth_order_diffusion` (0 or 1). `faces` holds 2 D of the names of `face_conditions`; `blocks`
        holds the offset, size, rank and device of each block, none for one on `device`; `thermal` holds diffusivity,
        operators (``isotropic``, ``obrecht2013``), energy_coupling, buoyancy (D numbers) and faces (2 D of
        ``periodic``, ``adiabatic``, ``isothermal``) of a temperature, None for none. All its temperatures, in and out,
        are deviations from the reference of the model, which the engine does not know. The state starts at rest,
        density 1, at temperature 0.
        Of ``thermal-bgk`` `thermal_faces` are as the faces of `thermal` (none: periodic as the flow, walls adiabatic);
        the state starts at the temperature cs2. `custom` is a collision of the user's, in place of `collision` and its
        parameters: a dict with the struct's `name`, `file` and `text`, perhaps its `line`, and the `numbers` that
        `custom_numbers` makes. `turbulence`: model, constant, every (steps), of a model of velocity gradients.
        `state`: ``populations``, kept as the streaming says, or ``moments``, in two lattices that with ``in-place``
        overlap.
        """

    def add_body(
        self,
        mask: NDArray[np.bool_],
        velocity: NDArray[np.float64] | None = None,
        temperature: NDArray[np.float64] | None = None,
        links: _Links | None = None,
    ) -> int:
        """Make the cells of `mask` solid; `velocity` is their wall velocity, ``(D,)`` or ``(D, nz, ny, nx)``, and
        `temperature` that of their surface, 0-d or ``(nz, ny, nx)``, None for an adiabatic one; all of `known`.
        `links` are those that its surface cuts: the name of the walls' condition, rising numbers ``(N,)`` - of the
        fluid cell among the known ones times Q plus the direction to the wall - distances ``(N,)`` in links,
        perhaps the velocity of the wall at each, ``(D, N)``, whether the temperature has its wall there too, and
        perhaps its temperature at each, ``(N,)``. Returns the body's index. Only before the first step."""

    def move_body(self, body: int, motion: dict[str, Any]) -> None:
        """Have a body without cells move: see ``bindings/bodies.cpp``. Only before the first step."""

    def add_sponge(
        self, face: int, thickness: int, strength: float, pull: float, density: float, velocity: list[float]
    ) -> None:
        """Damp populations in a layer of cells before a face; `velocity` has D components. See `Sponge`."""

    def set_body_velocity(self, body: int, velocity: NDArray[np.float64]) -> None:
        """Another wall velocity for a body that was added with one, ``(D,)`` or ``(D, nz, ny, nx)``."""

    def set_link_velocity(self, body: int, velocity: NDArray[np.float64]) -> None:
        """Another velocity ``(D, N)`` of the wall at the cut links of a body that was added with some."""

    def set_face_velocity(self, face: int, velocity: NDArray[np.float64]) -> None:
        """Velocity of a moving wall or inlet, ``(D,)`` or ``(D, <face>)``. May be called between steps."""

    def set_face_number(self, face: int, number: NDArray[np.float64], name: str = "number") -> None:
        """The number that the condition of a face takes, such as a density, 0-d or ``(<face>)``; errors call it by
        `name`. May be called between steps."""

    def set_face_temperature(self, face: int, temperature: NDArray[np.float64]) -> None:
        """Temperature of an isothermal face, 0-d or ``(<face>)``. May be called between steps, as all of these."""

    def set_body_temperature(self, body: int, temperature: NDArray[np.float64]) -> None:
        """Another temperature for a body that was added with one, 0-d or ``(nz, ny, nx)``."""

    def scale_face(self, value: str, face: int, series: int, part: _Part = None, offset: float = 0.0) -> None:
        """Make a ``"velocity"``, ``"number"`` or ``"temperature"`` of a face, from now on, `part` times factor `series`
        of the step that is made, less `offset` for a temperature. The part has the shape that the setters take; without
        it the factors from `series` on are the numbers of all cells of the face, in the order of such an array."""

    def scale_body(
        self, value: str, body: int, series: int, part: _Part = None, offset: float = 0.0, places: list[int] = ...
    ) -> None:
        """The same of the ``"velocity"`` or ``"temperature"`` of a body that has one; without a part, of its `places`
        in such an array, which rise. ``"link velocity"`` is that of its cut links, ``(D, N)``, and
        ``"link temperature"`` theirs, ``(N,)``."""

    def scale_force(self, series: int, part: NDArray[np.float64], factor: float, before: float | None = None) -> None:
        """The same of the force, whose part `set_force` would take, until that is called; `factor` is that of now, and
        `before` that of the step before, `factor` if None."""

    def set_force_factor(self, factor: float, before: float | None = None) -> None:
        """The factors of a state that is set, until steps are made; `before` as by `scale_force`."""
    def set_factors(self, first: int, table: NDArray[np.float64]) -> None:
        """The factors ``(steps, series)`` of the steps from `first` on: of all that are made, and of one more."""

    def bring_values_to_now(self) -> None: ...  # what is scaled, where other methods than `step` depend on it
    def set_link_temperature(self, body: int, temperature: NDArray[np.float64]) -> None:
        """Another temperature ``(N,)`` at the cut links of a body that was added with some."""

    def set_heat_source(self, source: NDArray[np.float64] | GpuArray | None) -> None:
        """Heat a step, in units of temperature, 0-d or ``(nz, ny, nx)`` of the window; None for none."""

    def heat_source_field(self, out: NDArray[np.float64]) -> None:
        """Fill with the field of heat sources, ``(nz, ny, nx)``, as blocks on GPUs have it; ValueError without one."""

    def set_force(self, force: NDArray[np.float64] | GpuArray | None) -> None:
        """Body force a volume, ``(D,)`` or ``(D, nz, ny, nx)`` of the window, with cells that keep moments of the known
        cells; None for none. ValueError for an array in a GPU's memory that lacks cells, where a block is on the CPU,
        and where cells keep moments."""

    def force_field(self, out: NDArray[np.float64]) -> None:
        """Fill with the field of forces, ``(D, nz, ny, nx)``, as blocks on GPUs have it; ValueError without one."""

    def initialize(
        self,
        density: NDArray[np.float64] | GpuArray | None,
        velocity: NDArray[np.float64] | GpuArray | None,
        nonequilibrium: bool,
        temperature: NDArray[np.float64] | GpuArray | None = None,
    ) -> None:
        """Equilibrium at `density`, 0-d or ``(nz, ny, nx)`` (None: 1), `velocity`, ``(D,)`` or ``(D, nz, ny, nx)``
        (None: 0), and `temperature`, as the density (None: 0; of D2Q37 cs2). Arrays are of the window. Collective.
        With `nonequilibrium` they are of `known`, and the first-order part that gradients imply is added. Arrays in a
        GPU's memory are for blocks on GPUs, a density for one process; they have the cells needed, or all."""

    def step(self, steps: int) -> None:
        """Advance; the GIL is released. ValueError for fewer than 0 and for more than 2**53 in all."""

    @property
    def steps(self) -> int: ...
    @steps.setter
    def steps(self, value: int) -> None: ...
    @property
    def reference_density(self) -> float:
        """Density in the momentum term of moving walls, to which outflows relax: the mean at `initialize`, 1 before."""
    @reference_density.setter
    def reference_density(self, value: float) -> None: ...
    def density(self, out: NDArray[Any]) -> None:
        """Fill `out`, float32 or float64, ``(nz, ny, nx)``. Solid cells give 1."""

    def velocity(self, out: NDArray[Any]) -> None:
        """Fill `out`, float32 or float64, ``(D, nz, ny, nx)``: (sum c f - F/2) / density after collision, that is the
        velocity of the last completed step. Solid cells give their wall velocity."""

    def density_in(self, out: NDArray[Any], offset: Sequence[int], size: Sequence[int]) -> None:
        """Fill `out`, float32 or float64, ``(nz, ny, nx)`` of a box of the domain. What other processes have stays."""

    def velocity_in(self, out: NDArray[Any], offset: Sequence[int], size: Sequence[int]) -> None:
        """The same of the velocity, ``(D, nz, ny, nx)`` of the box."""

    def temperature(self, out: NDArray[Any]) -> None:
        """Fill `out`, float32 or float64, ``(nz, ny, nx)``. Solid cells give their body's temperature, or 0."""

    def set_temperature(self, values: NDArray[np.float64]) -> None:
        """Set the temperature, ``(nz, ny, nx)`` of the window."""

    def heat_flux(self, face: int) -> NDArray[np.float64]:
        """Heat into the fluid a step and unit of area through each cell of the face; 0 where solid or adiabatic."""

    def column_heat(self, face: int, exchanged: bool) -> NDArray[np.float64]:
        """The same with D2Q37: what the next step takes in through the wall, or else Fourier's law at it."""

    def mean_heat_flux(self, face: int) -> float:
        """The mean of `heat_flux` over the face's fluid cells."""

    def body_heat_flux(self, body: int) -> tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.float64]]:
        """The fluid cells of this process next to a body: indices ``(n, D)`` in the order x, y[, z], the heat a step
        that enters each, and the area of the surface at it."""

    def body_heat_rate(self, body: int) -> tuple[float, float]:
        """The sums of heat and area of `body_heat_flux` over all ranks."""

    def temperature_change(self) -> float:
        """max |T - T_last| over fluid cells, T_last being the temperature at the last call; inf at the first."""

    def populations(self, out: NDArray[Any]) -> None:
        """Fill `out`, float32 or float64, ``(Q, nz, ny, nx)``, with f after collision (rest weights included)."""

    def set_populations(self, values: NDArray[np.float64]) -> None:
        """Set f after collision (rest weights included), ``(Q, nz, ny, nx)``."""

    def boundary_numbers(self, face: int) -> NDArray[np.float64]:
        """The numbers that the cells before a face keep, ``(n, <face>)``; n is 0 for most conditions. Collective."""

    def set_boundary_numbers(self, values: Mapping[int, NDArray[np.float64]]) -> None:
        """Set those of some faces, as `boundary_numbers` gave them, after the state that they are of."""

    def get_state(self, out: NDArray[Any]) -> None:
        """Fill `out`, uint16, float32 or float64 by storage, ``(state_numbers, nz, ny, nx)``, with the stored bits."""

    def set_state(self, values: NDArray[Any]) -> None:
        """Set the stored numbers, as get_state gave them; continuing from them is bit for bit the same run."""

    @property
    def state_numbers(self) -> int:
        """Numbers of a cell in a state: Q deviations of populations, or 1 + D + D (D + 1) / 2 moments."""

    @property
    def steps_per_update(self) -> int: ...  # that are advanced for each time that memory is read and written
    @property
    def storage_dtype(self) -> str:
        """``uint16`` (scaled float16), ``float32`` or ``float64``."""

    def body_force(self, body: int, center: Sequence[float] | None) -> tuple[list[float], list[float]]:
        """Force ``(D)`` and torque about `center` (3 components; 1 in two dimensions) that the fluid exerts on a body,
        by momentum exchange over the links that the next step streams (Ladd 1994). Pressure is gauge: relative to
        density 1. Of a body that moves None is the point about which it turns."""

    def face_force(self, face: int, center: Sequence[float]) -> tuple[list[float], list[float]]:
        """The same of the wall on a face; ValueError unless that is half-way bounce-back."""

    def add_point_sampler(
        self,
        cells: NDArray[np.int64],
        first: NDArray[np.int64],
        number: NDArray[np.int64],
        weights: NDArray[np.float64],
        density: bool,
        velocity: bool,
        temperature: bool,
        reference: float,
        every: int,
        start: int,
    ) -> SeriesSampler:
        """Have fields at points recorded after the steps ``start, start + every`` and so on.

        Point p is the sum over k from ``first[p]`` to before ``first[p + 1]`` of ``weights[k]`` times the numbers of
        cell ``cells[number[k]]``; without any it is NaN. A row has the components one after the other, each of all
        points: density, velocity, and the temperature plus `reference`.
        """

    def add_force_sampler(self, body: int, center: Sequence[float] | None, every: int, start: int) -> SeriesSampler:
        """Have the force and the torque on a body recorded, three numbers each; see `body_force`."""

    def add_face_force_sampler(self, face: int, center: Sequence[float], every: int, start: int) -> SeriesSampler:
        """The same of the wall on a face, whose velocity must not change in time but for `SeriesSampler.sample`."""

    def totals(self) -> tuple[float, list[float], float, float]:
        """Mass, momentum ``(D)``, kinetic energy and heat, the sum of the temperature, of all fluid cells."""

    def eddy_viscosity(self, out: NDArray[Any]) -> None:
        """Fill `out`, float32 or float64, ``(nz, ny, nx)``, with that of the next step. Collective."""
    def kept_turbulence_count(self) -> int: ...  # numbers a cell that are kept for gradients
    def kept_turbulence(self) -> NDArray[np.float64] | None:
        """What is kept for those of the next step, ``(n, nz, ny, nx)``; None without any. Collective."""
    def set_kept_turbulence(self, values: NDArray[np.float64]) -> None: ...  # after state and steps have been set
    def velocity_change(self) -> float:
        """||u - u_last|| / ||u|| over fluid cells, u_last being the velocity at the last call; inf at the first."""

    def extremes(self) -> tuple[float, tuple[int, ...] | None, float, float, tuple[int, ...] | None, float, float]:
        """The largest speed, its cell ``(x, y[, z])``, the least and largest density, a cell that is not valid, and the
        least and largest temperature, of the hybrid thermal model, less its reference; inf and -inf without one."""

    @property
    def memory_bytes(self) -> int:
        """Bytes this engine holds."""

    @staticmethod
    def memory_needed(
        stencil: str,
        shape: Sequence[int],
        precision: str,
        storage: str,
        streaming: str,
        device: str = "cpu",
        blocks: Sequence[tuple[Sequence[int], Sequence[int], int, str]] = ...,
        rank: int = 0,
        thermal: bool = False,
        keeps_velocity: bool = False,
        takes_strain: bool = False,
        sponges: Sequence[tuple[int, int]] = ...,  # face and thickness of each
        state: str = "populations",
    ) -> dict[str, int]:
        """Bytes of lattice and sponges, with a temperature if `thermal`, that a rank of such an engine would hold on
        each device, without allocating anything. ValueError for blocks that do not tile the shape."""

    @property
    def bytes_per_update(self) -> int:
        """Bytes that a cell reads and writes a step, with what a temperature and, on average, gradients add."""

    @property
    def threads(self) -> int: ...
    @property
    def isa(self) -> str: ...
    @property
    def device(self) -> str: ...
    @property
    def solid(self) -> NDArray[np.bool_]:
        """``(nz, ny, nx)`` of `known`."""

    def time_single_block(self, timed: bool) -> None:
        """Time the phases of one block on a GPU from now on, or no longer; the last step of a call is slower then."""

    @property
    def phase_seconds(self) -> dict[str, float]:
        """``boundary``, ``update``, ``exchange`` while nothing is updated, ``hidden exchange``, of all steps; mean of
        the process's blocks. On GPUs the last step of a call stands for all of it; all 0 for one block on a GPU that
        `time_single_block` has not asked for."""

    @property
    def update_seconds(self) -> dict[str, float]: ...  # the parts of ``update``: ``shell`` and ``interior``
    @property
    def overlaps(self) -> bool:
        """Whether the interior of a block is updated during the exchange."""

    def update_kernels(self) -> list[dict[str, Any]]:
        """By kernel on a GPU: phase, cells_per_thread, threads, registers, local_bytes, occupancy; none on a CPU."""

    @property
    def layout(self) -> list[dict[str, Any]]: ...  # the blocks: offset, size, rank, device
    @property
    def links(self) -> list[dict[str, Any]]:
        """Of the process's blocks: from and to, numbers in the layout; the channel, as for `Solver`; bytes a step."""

    @property
    def window(self) -> tuple[list[int], list[int]]:
        """Offset and size of the box of the domain whose fields this process gives and takes."""
    @property
    def known(self) -> tuple[list[int], list[int]]:
        """The same of a box around it, of which bodies are given; it may go on beyond periodic faces."""
