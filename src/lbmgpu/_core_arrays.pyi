"""Arrays in the memory of devices, which `_core` has; there is no module of this name."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._core import Engine

class DeviceArray:
    """A field in a GPU's memory, ``(nx, ny[, nz])`` or with components first, x fastest."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def ndim(self) -> int: ...
    @property
    def __cuda_array_interface__(self) -> dict[str, Any]: ...
    def __dlpack__(self, *, stream: Any = None) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...

def device_field(engine: Engine, name: int, reference: float = 0.0) -> DeviceArray:
    """Density (0), velocity (1), populations (2) or temperature (3) of now, the last plus `reference` in fluid cells;
    IndexError for others, ValueError where the engine is on the CPU, and without a temperature."""

class GpuArray:
    """An array in a GPU's memory that the engine takes as a field, at a place of the domain."""

    def extremes(self, offset: Sequence[int], size: Sequence[int]) -> tuple[float, float, list[float]] | None:
        """The least and the largest number, and the longest vector, in a box of cells, without the reference; None
        where a number is not finite."""
    def to_host(self) -> NDArray[np.float64]:
        """Its numbers less the reference, with the axes of space reversed."""

def gpu_array_of_dlpack(capsule: Any, axes: int, first: Sequence[int], reference: float = 0.0) -> GpuArray:
    """The array of an unused DLPack capsule, which is used then, after the work of CUDA's default stream.

    The last `axes` axes are the domain's; `first` is its cell that is the array's first one, and behind the last ones
    those at the other end follow. `reference` is subtracted. ValueError for other arrays than of float32 and float64.
    """

def gpu_array_at(
    address: int,
    item: int,
    shape: Sequence[int],
    strides: Sequence[int],
    stream: int | None,
    device: str,
    axes: int,
    first: Sequence[int],
    reference: float = 0.0,
) -> GpuArray:
    """The array at an address, which the caller keeps meanwhile, after the work of a stream of the driver's.

    Numbers have `item` bytes and lie `strides` bytes apart. ValueError for memory of the host; `device` is any GPU that
    this process uses.
    """
