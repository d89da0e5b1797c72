"""The functions of the C++ engine for GPUs and their compiler, which `_core` has; there is no module of this name."""

from collections.abc import Sequence
from typing import Any

class CudaError(RuntimeError):
    """CUDA, or a part of it, is missing or failed; the text says what, and how to get what is missing."""

def set_compiler_folders(folders: Sequence[str]) -> None:
    """Set further folders in which NVRTC is searched."""

def cuda_device_count() -> int:
    """Raises CudaError without a driver or a GPU."""

def cuda_device(ordinal: int) -> dict[str, Any]:
    """Name, architecture, memory, free memory (bytes), multiprocessors, bytes of second-level cache."""

def cuda_driver_version() -> int:
    """1000 times the major version of CUDA, plus 10 times the minor one."""

def cuda_compiler() -> dict[str, str]:
    """Version and path of NVRTC; raises CudaError without it."""

def cuda_copy_bandwidth(ordinal: int, bytes: int, seconds: float) -> float:
    """Bytes a second of a copy of `bytes`, read and written ones counted, sustained for `seconds`."""

def cuda_tune(
    stencil: str,
    shape: list[int],
    collision: str,
    precision: str,
    storage: str,
    streaming: str,
    forced: bool,
    end_sums: bool,
    periodic: bool,
    ordinal: int,
    seconds: float,
    thermal: bool = False,
    turbulence: str = "",
    every: int = 1,
) -> list[dict[str, Any]]:
    """Time every launch configuration of an update for about `seconds` and remember the best of each phase.

    A list of phase, renews_terms (whether the update computes what it takes of velocity gradients), cells_per_thread,
    threads (a block), blocks (a multiprocessor, which bounds the registers), registers, local_bytes (a thread's stack),
    seconds (a step; 0 where a kernel would spill and was not timed), and whether it is the best of its phase and kind
    of update. `forced`: with a uniform force; `end_sums`: with inlets or outlets across x;
    `periodic`: in all directions or in none; `turbulence`: a model of velocity gradients, whose eddy viscosity is
    renewed `every` so many steps. Raises CudaError, and OutOfDeviceMemory where the lattice does not fit.
    """

def cuda_update_resources(
    stencil: str,
    collision: str,
    precision: str,
    storage: str,
    streaming: str,
    smagorinsky: bool,
    forcing: int,
    end_sums: bool,
    periodic_axes: int,
    size: int,
    architecture: str,
    thermal: bool = False,
    takes_strain: bool = False,
    turbulence: str = "",
    renews: bool = False,
    row_ends: int = 0,
) -> list[str]:
    """The assembler's report of registers, stack and spills for each update kernel of a configuration; needs no GPU.
    `forcing`: 0 none, 1 a uniform force, 2 a field, 3 and 4 these times a factor of the step; `end_sums` as with inlets
    or outlets across x; bit d of `periodic_axes`: axis d is periodic; `size`: a side; `thermal` with a temperature;
    `takes_strain` as of a hybrid collision; `turbulence`: a model of velocity gradients; `renews`: of updates that
    compute what they take of these; `row_ends` as of inlets and outlets across x that compute all incoming populations
    at once, in place of `end_sums`: for each face the number of cells whose moments are kept, 4 for populations and 8
    where all are replaced, that of the upper face times 16."""

def cuda_kernel_resources(header: str, name: str, architecture: str) -> str:
    """The same of one kernel by its C++ name, such as ``lbm::cuda::transfer<float>`` of ``transfer.h``."""
