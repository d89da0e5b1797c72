"""Checks whether a solver's memory fits the machine before anything is allocated."""

from __future__ import annotations

import gc
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from .. import _core, models
from ..errors import TooLittleMemoryError
from ..layout import Layout, engine_blocks
from ..parallel import gpu
from ..parallel.device_memory import GIB, MIB, available_memory
from ..parallel.processes import Processes

SWEEP_BYTES = 9 * 2**19
"""Of a thread of the CPU that sweeps over cells that keep moments: most where rows are short."""
CPU_LINK_BYTES, GPU_LINK_BYTES = 160, 16
"""Of a link through a face of cells that keep moments: on the CPU 75 to 150, as lists grow."""
GPU_CHUNK = 64
"""The cells of a row that share an entry of a GPU's list of walls."""


def extra_bytes_per_cell(
    dimensions: int,
    precision: str,
    *,
    bodies: bool = False,
    force_field: bool = False,
    scaled_force: bool = False,
    moving_bodies: bool = False,
    heated_bodies: bool = False,
    source_field: bool = False,
) -> int:
    """Bytes for each cell that making a solver takes in addition to its lattice; an estimate from above.

    The solid cells and a mask of `bodies`, a `force_field` and a `source_field` of heat in the engine's type and as
    given, the velocities of `moving_bodies` and the temperatures of `heated_bodies`. A `scaled_force`, one times a
    function of time, is in the engine in float64. An initial state and `Steady` take more in their time.
    """
    real, double = np.dtype(precision).itemsize, 8
    force = dimensions * ((double if scaled_force else real) + double) if force_field else 0
    velocity = 2 * dimensions * double if moving_bodies else 0
    heat = (real + double if source_field else 0) + (2 * double if heated_bodies else 0)
    solid = 4 if bodies or moving_bodies or heated_bodies else 0
    return solid + force + velocity + heat


def moment_force_bytes(shape: tuple[int, ...], precision: str, steps: int, *, scaled: bool) -> int:
    """Bytes that a force per cell takes in addition to `extra_bytes_per_cell` where cells keep moments: the rows of the
    cells around one block, with room for whole packs, and what is handed to the block.

    Args:
        shape, precision: of the engine.
        steps: that an update advances.
        scaled: whether it changes in time.
    """
    wider = [n + 2 * steps for n in shape]
    rows = math.prod(wider[1:]) + steps * math.prod(wider[1:-1])  # with those before the first layer
    number = 8 if scaled else np.dtype(precision).itemsize
    in_block = rows * (-(-(shape[0] + steps) // 16) * 16 + 32) * number
    handed = math.prod(wider) * 8
    return len(shape) * (in_block - math.prod(shape) * number + handed)


def moment_bytes(stencil: str, shape: tuple[int, ...], walled: Sequence[str], threads: int, *, on_cpu: bool) -> int:
    """Bytes that cells that keep moments take in addition to their lattices, from above; bodies' walls come on top.

    Args:
        stencil: its name.
        shape: of the domain.
        walled: the faces, such as ``"-x"``, with walls, inlets or outlets, whose links are listed with their formulas.
        threads: of the CPU, each of which sweeps with buffers of its own.
        on_cpu: whether the CPU has some of the cells.
    """
    links = sum(int(velocity[0]) == 1 for velocity in _core.stencil(stencil).c)
    total = threads * SWEEP_BYTES if on_cpu else 0
    for face in walled:
        axis = "xyz".index(face[1])
        # A GPU has an entry for each of the cells of a row that a face across x ends.
        entries = CPU_LINK_BYTES * links if on_cpu else GPU_LINK_BYTES * links + 8 * (GPU_CHUNK if axis == 0 else 2)
        total += math.prod(shape) // shape[axis] * entries
    return total


def check_memory(
    stencil: str,
    shape: tuple[int, ...],
    precision: str,
    storage: str,
    streaming: str,
    extra_bytes: int = 0,
    device: str = "cpu",
    layout: Layout | None = None,
    processes: Processes | None = None,
    thermal: bool = False,
    keeps_velocity: bool = False,
    takes_strain: bool = False,
    sponges: Sequence[tuple[int, int]] = (),
    state: str = "populations",
) -> None:
    """Raise ValueError if a solver of this kind does not fit, saying what would, or if the layout does not tile it.

    What all processes on one host need on one device is added up. All of them call this together, and get the error of
    any.

    Args:
        stencil, shape, precision, storage, streaming: of the engine.
        extra_bytes: bytes for each cell that are needed in addition to the lattice, see `extra_bytes_per_cell`.
        device: ``"cpu"``, or ``"cuda:0"`` and so on; without a layout.
        layout: the blocks of `shape`, which name their devices; None for one.
        processes: that the solver runs on; None for one.
        thermal: whether the hybrid thermal model adds a temperature to the flow.
        keeps_velocity: whether a turbulence model keeps velocities and an eddy viscosity.
        sponges: number of the face, and thickness, of each.
        takes_strain: whether the collision keeps velocities and a strain rate.
        state: what a cell keeps.
    """
    ranks = Processes() if processes is None else processes
    blocks = tuple(engine_blocks(layout))
    need = Need(
        stencil,
        shape,
        precision,
        streaming,
        extra_bytes,
        device,
        blocks,
        thermal,
        keeps_velocity,
        takes_strain,
        tuple(sponges),
        state,
    )

    def refusal() -> str:
        for name, users, available in _sharing(ranks, need.devices(ranks.rank)):
            if need.on(users, storage) > available:
                return _refusal(need, storage, name, users, available)
        return ""

    _raise_if_refused(ranks, refusal)


def check_further_memory(what: str, needs: Mapping[str, int], processes: Processes, hint: str) -> None:
    """Raise TooLittleMemoryError if what a solver shall have in addition does not fit, before it is allocated.

    All processes call this together, and get the error of any; what those on one host need on one device is added up.

    Args:
        what: needs it, for the message.
        needs: the bytes by the device of this process that they are on.
        processes: of the solver.
        hint: what would need less.
    """
    every = processes.shared(dict(needs))

    def refusal() -> str:
        for name, users, available in _sharing(processes, list(needs)):
            needed = sum(every[rank][other] for rank, other in users)
            if needed > available:
                together = f" for {len(users)} processes of one host together" if len(users) > 1 else ""
                return (
                    f"{what}: needs {_amount(needed)} of memory on {name}{together}, but {_amount(available)} is "
                    f"available; {hint}"
                )
        return ""

    _raise_if_refused(processes, refusal)


def _raise_if_refused(ranks: Processes, refusal: Callable[[], str]) -> None:
    """Raise TooLittleMemoryError of what `refusal` says, on all processes, which call this together.

    Before that it is asked again without the solvers that nobody can reach any more, but through their own recorders.
    """
    message = ranks.each(refusal)
    if ranks.agreed(float(bool(message))):
        gc.collect()
        message = ranks.each(refusal)

    def check() -> None:
        if message:
            raise TooLittleMemoryError(message)

    ranks.each(check)


def _sharing(ranks: Processes, names: Sequence[str]) -> list[tuple[str, list[tuple[int, str]], int]]:
    """Of each of this process's devices the processes of the host that use it, and what is available there, bytes.

    A user is a pair of its rank and of the name that it has for the device. All of them call this together.
    """
    own = ranks.each(lambda: [(name, _identity(name), available_memory(name)) for name in names])
    every = ranks.shared(own)  # before any of them takes what it needs
    found = []
    for name, identity, _ in own:
        entries = [(rank, *entry) for rank in ranks.host for entry in every[rank] if entry[1] == identity]
        users = [(rank, other) for rank, other, _, _ in entries]
        found.append((name, users, min(free for _, _, _, free in entries)))
    return found


def _amount(size: int) -> str:
    """A number of bytes for people."""
    return f"{size / GIB:.2f} GiB" if size >= GIB else f"{size / MIB:.2f} MiB"


@dataclass(frozen=True)
class Need:
    """What a solver needs on each device; see `check_memory`."""

    stencil: str
    shape: tuple[int, ...]
    precision: str
    streaming: str
    extra_bytes: int
    device: str
    blocks: tuple[tuple[tuple[int, ...], tuple[int, ...], int, str], ...]
    thermal: bool = False
    keeps_velocity: bool = False
    takes_strain: bool = False
    sponges: tuple[tuple[int, int], ...] = ()
    state: str = "populations"

    def devices(self, rank: int) -> list[str]:
        """The devices of a rank, each once."""
        if not self.blocks:
            return [self.device]
        return list(dict.fromkeys(name for _, _, owner, name in self.blocks if owner == rank))

    def cells(self, users: Sequence[tuple[int, str]]) -> int:
        """The cells of the blocks of some users: pairs of a rank and one of its devices."""
        if not self.blocks:
            return math.prod(self.shape)
        return sum(math.prod(size) for _, size, owner, name in self.blocks if (owner, name) in users)

    def on(self, users: Sequence[tuple[int, str]], storage: str) -> int:
        """The bytes of the blocks of some users: pairs of a rank and one of its devices."""
        lattices = sum(self._lattices(rank, storage)[name] for rank, name in users)
        return lattices + self.extra_bytes * self.cells(users)

    def _lattices(self, rank: int, storage: str) -> dict[str, int]:
        numbers, place = (self.precision, storage, self.streaming), (self.device, self.blocks, rank)
        adds = (self.thermal, self.keeps_velocity, self.takes_strain)
        return _core.Engine.memory_needed(self.stencil, self.shape, *numbers, *place, *adds, self.sponges, self.state)


def _identity(device: str) -> str:
    return device if device == "cpu" else gpu.identity(device)


def _refusal(need: Need, storage: str, device: str, users: Sequence[tuple[int, str]], available: int) -> str:
    """The message that says what all `users` of this rank's `device` need, and what would fit."""
    needed, shape = need.on(users, storage), need.shape
    options = []
    if not need.blocks:
        scale, scaled = 1.0, shape
        least = models.smallest_size(need.stencil)
        while max(scaled) > least and replace(need, shape=scaled).on(users, storage) > available:  # to a few %
            scale *= 0.97
            scaled = tuple(max(least, int(n * scale)) for n in shape)
        options.append(f"shape {scaled}")
    model = models.of(need.stencil, thermal=need.thermal)
    if need.streaming == "two-lattice" and "in-place" in model.streamings:
        in_place = replace(need, streaming="in-place").on(users, storage)
        if in_place <= available:
            options.append(f"streaming 'in-place' ({in_place / GIB:.2f} GiB)")
    others = [("storage", need, smaller) for smaller in ("float32", "float16")]
    storage_is_precision = need.state == "moments" or model.storages(need.precision) == [need.precision]
    if storage_is_precision:
        others = [("precision", replace(need, precision="float32"), "float32")]
    for what, other, smaller in others:
        if smaller in model.storages(other.precision):
            bytes_needed = other.on(users, smaller)
            if bytes_needed < needed and bytes_needed <= available:
                options.append(f"{what} {smaller!r} ({bytes_needed / GIB:.2f} GiB)")
    if need.blocks:
        cells = need.cells(users)
        options.append(f"{int(cells * available / needed):.3g} cells there instead of {cells:.3g}, by more devices")
    together = f" for {len(users)} processes of one host together" if len(users) > 1 else ""
    where = f" on {device}{together}" if need.blocks else ""
    return (
        f"shape: {shape} given needs {needed / GIB:.2f} GiB{where} as {need.stencil} in {storage}, but "
        f"{available / GIB:.2f} GiB of memory is available; what would fit: {', or '.join(options)}"
    )
