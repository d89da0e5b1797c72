"""The report of a solver: its setup and the speed of its last run, compared with the machine's memory bandwidth."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from .. import _core
from ..deprecated import renamed_attribute
from ..engine.simulation import Simulation
from ..parallel import gpu
from ..parallel.device_memory import GIB, MIB, available_memory
from ..thermal import HybridThermal
from .run import RunLoop

CPU_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
CACHED_FRACTION = 1.3
"""Above this fraction of the bandwidth part of the lattice is cached: no lattice in memory has reached it."""


@dataclass(frozen=True)
class Report:
    """Numbers about a solver; `str` of it is a table. Speeds are None before the first run.

    Attributes:
        setup: what the solver is, by name.
        memory_bytes: held by the engine, on this rank; on all ranks if gathered.
        bytes_per_update: bytes of populations, and of the temperature if any, or of moments, read and written per cell
            and step.
        steps: steps of the last run.
        mlups: million updates of fluid cells a second in the last run.
        memory_bandwidth: bytes a second of the in-place STREAM scale, ``x <- a x``, on the same machine, on a GPU of a
            copy, all devices of this rank together, or of all ranks if gathered; None if not measured.
        phase_seconds: time in each phase of the steps of the last run: boundary, update, and exchange while nothing
            is updated; the mean of the blocks of this rank, or of all ranks if gathered. GPUs time one step of each
            thousand or so; of one block on a GPU nothing is known.
        hidden_fraction: part of the time of the exchange in which the interior was updated; None without an exchange.
        links: what blocks of this rank, or of all if gathered, bring and send each step: from and to, numbers of
            blocks; channel (direct, staged, mpi); bytes a step; bandwidth, those bytes over the time that an exchange
            took in the last run, its wait for the neighbours included, in bytes a second, None if no exchange was
            timed.
        part: part of the domain's cells that memory and bandwidths are about: those of this rank, 1 if gathered.
        cache_bytes: the last cache of the processor or the GPU, None if not known.
        device: as `Solver.device`.
    """

    setup: dict[str, str]
    memory_bytes: int
    bytes_per_update: int
    steps: int | None
    mlups: float | None
    memory_bandwidth: float | None
    phase_seconds: dict[str, float]
    cache_bytes: int | None = None
    device: str = "cpu"
    hidden_fraction: float | None = None
    links: tuple[dict[str, Any], ...] = ()
    part: float = 1.0

    @property
    def bandwidth(self) -> float | None:
        """Bytes of populations or moments a second that the last run moved in that `part` of the cells."""
        return None if self.mlups is None else self.mlups * 1e6 * self.bytes_per_update * self.part

    @property
    def exposed_seconds(self) -> float | None:
        """Seconds of a step in which the exchange goes on and nothing is updated, in the last run; None without one."""
        return self.phase_seconds["exchange"] / self.steps if "exchange" in self.phase_seconds and self.steps else None

    @property
    def bandwidth_fraction(self) -> float | None:
        """`bandwidth` as a part of `memory_bandwidth`."""
        if self.bandwidth is None or self.memory_bandwidth is None:
            return None
        return self.bandwidth / self.memory_bandwidth

    share = renamed_attribute("share", "bandwidth_fraction")
    update_bandwidth = renamed_attribute("update_bandwidth", "memory_bandwidth")
    hidden_share = renamed_attribute("hidden_share", "hidden_fraction")

    @property
    def cached(self) -> bool:
        """Whether the lattice may sit in the cache, where `bandwidth_fraction` says nothing about the memory."""
        fits = self.cache_bytes is not None and self.memory_bytes <= self.cache_bytes
        return fits or (self.bandwidth_fraction is not None and self.bandwidth_fraction > CACHED_FRACTION)

    def __str__(self) -> str:
        rows, own = list(self.setup.items()), "" if self.part == 1 else " (of this rank)"
        rows.append(("memory", _size(self.memory_bytes) + own))
        rows.append(("bytes an update", f"{self.bytes_per_update} B"))
        if self.mlups is not None and self.bandwidth is not None:
            rows.append(("last run", f"{self.steps} steps, {self.mlups:.1f} MLUPS"))
            rows.append(
                ("bandwidth", f"{self.bandwidth / 1e9:.1f} GB/s" + ("" if self.part == 1 else " (of this rank)"))
            )
        if self.memory_bandwidth is not None:
            name, what = ("STREAM scale", "x <- a x, ") if self.device == "cpu" else ("copy bandwidth", "")
            rows.append((name, f"{self.memory_bandwidth / 1e9:.1f} GB/s ({what}measured)"))
        if self.bandwidth_fraction is not None:
            faster = ", which is faster than the memory" if self.bandwidth_fraction > 1 else ""
            note = f" of the memory's bandwidth (the domain may sit in the cache{faster})" if self.cached else ""
            rows.append(("fraction", f"{100 * self.bandwidth_fraction:.1f} %{note}"))
        total = sum(self.phase_seconds.values())
        for phase, seconds in self.phase_seconds.items():
            rows.append((f"time in {phase}", f"{seconds:.3g} s ({100 * seconds / total if total else 0:.1f} %)"))
        if self.hidden_fraction is not None:
            rows.append(("hidden exchange", f"{100 * self.hidden_fraction:.1f} %"))
        if self.exposed_seconds is not None:
            rows.append(("not overlapped", f"{1e6 * self.exposed_seconds:.1f} us a step of the exchange"))
        for link in self.links:
            if link.get("bandwidth"):
                ends = f"{link['channel']}, {_size(link['bytes'])} a step, {link['bandwidth'] / 1e9:.2f} GB/s"
                rows.append((f"link {link['from']} to {link['to']}", ends))
        width = max(len(name) for name, _ in rows)
        return "\n".join(f"{name:<{width}}  {value}" for name, value in rows)


def _size(size: int) -> str:
    return f"{size / GIB:.3f} GiB" if size >= GIB else f"{size / MIB:.3f} MiB"


def state_words(simulation: Simulation) -> str:
    """What a cell keeps, in words."""
    engine, settings = simulation.engine, simulation.settings
    if settings.state == "moments":
        return f"{engine.state_numbers} moments a cell, {engine.steps_per_update} steps for each read of memory"
    reason = f", as moments do not go with {settings.not_moments}" if settings.not_moments else ""
    return f"populations{reason}"


def make_report(simulation: Simulation, loop: RunLoop, bandwidth: bool, gather: bool) -> Report:
    """See `Solver.report`; the `loop` knows the last run. Without `gather` a rank makes it alone."""
    engine, domain, processes = simulation.engine, simulation.domain, simulation.processes
    last, devices, layout = loop.last, simulation.settings.devices, engine.layout
    own = sum(device_bandwidth(name, engine.threads) for name in devices) if bandwidth else 0.0
    every = [(engine.memory_bytes, own, loop.phases, _timed(engine.links, loop))]
    if gather:
        every = processes.shared(every[0])
    memory, measured = sum(entry[0] for entry in every), sum(entry[1] for entry in every)
    phases = {phase: statistics.mean(entry[2][phase] for entry in every) for phase in loop.phases}
    links = _of_importers([entry[3] for entry in every], layout) if gather else every[0][3]
    size = " x ".join(map(str, domain.shape))
    setup = {
        "domain": f"{size} cells, {domain.stencil}",
        "collision": str(simulation.collision),
        "arithmetic": f"{simulation.precision}, stored as {simulation.storage}",
        "streaming": simulation.streaming,
        "state": state_words(simulation),
        **({} if simulation.thermal is None else {"thermal": _thermal_words(simulation.thermal)}),
        **({} if simulation.turbulence is None else {"turbulence": str(simulation.turbulence)}),
        "device": _device_words(simulation),
        "blocks": "; ".join(f"{tuple(b['size'])} at {tuple(b['offset'])} on {_place(b, simulation)}" for b in layout),
        "exchange": _exchange_words(links, engine.overlaps)
        + (" (of this rank)" if processes.size > 1 and not gather else ""),
    }
    exchange = _exchange_seconds(phases)
    hidden = phases.pop("hidden exchange", 0.0)
    if not links:
        phases.pop("exchange", None)
    cells = sum(math.prod(b["size"]) for b in layout if gather or b["rank"] == processes.rank)
    return Report(
        setup=setup,
        memory_bytes=memory,
        bytes_per_update=engine.bytes_per_update,
        steps=last.steps if last else None,
        mlups=last.mlups if last and last.steps else None,
        memory_bandwidth=measured if bandwidth else None,
        phase_seconds=phases if any(phases.values()) else {},
        cache_bytes=_cache_bytes(devices),
        device=simulation.device,
        hidden_fraction=hidden / exchange if exchange > 0 else None,
        links=tuple(links),
        part=cells / domain.cells,
    )


def _timed(links: list[dict[str, Any]], loop: RunLoop) -> list[dict[str, Any]]:
    """The links of a process with the bytes a second that each moved in the time of the last run's exchange."""
    seconds = _exchange_seconds(loop.phases) / loop.last.steps if loop.last and loop.last.steps else 0.0
    return [{**link, "bandwidth": link["bytes"] / seconds if seconds > 0 else None} for link in links]


def _exchange_seconds(phases: dict[str, float]) -> float:
    """Seconds of the exchange, whether anything is updated meanwhile or not."""
    return phases.get("exchange", 0.0) + phases.get("hidden exchange", 0.0)


def _of_importers(every: list[list[dict[str, Any]]], layout: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The links of all ranks, each once: as the rank has it whose block it leads to."""
    return [link for rank, links in enumerate(every) for link in links if layout[link["to"]]["rank"] == rank]


def _thermal_words(thermal: HybridThermal) -> str:
    return f"diffusivity {thermal.diffusivity:.6g}, {thermal.operators} operators, buoyancy {thermal.buoyancy}"


def last_cache(folder: Path) -> int | None:
    """Bytes of the last cache among those that the kernel lists in `folder`; None if it lists none."""
    units = {"K": 2**10, "M": 2**20, "G": 2**30}
    sizes = []
    try:
        for entry in folder.glob("index*"):
            text = (entry / "size").read_text().strip()
            sizes.append(int(text.rstrip("KMG")) * units.get(text[-1:], 1))
    except (OSError, ValueError):  # not Linux, or not reported by this machine
        return None
    return max(sizes, default=None)


def _place(block: dict[str, Any], simulation: Simulation) -> str:
    return block["device"] if simulation.processes.size == 1 else f"{block['device']} of rank {block['rank']}"


def _device_words(simulation: Simulation) -> str:
    engine = simulation.engine
    return "; ".join(
        f"cpu, {engine.isa}, {engine.threads} threads" if name == "cpu" else f"{name}, {gpu.properties(name)['name']}"
        for name in simulation.settings.devices
    )


def _exchange_words(links: list[dict[str, Any]], overlaps: bool) -> str:
    words = []
    for channel in dict.fromkeys(link["channel"] for link in links):
        sizes = [link["bytes"] for link in links if link["channel"] == channel]
        words.append(f"{len(sizes)} links {channel}, {_size(int(sum(sizes)))} a step")
    return "; ".join(words) + (", behind the interior" if overlaps else "") if words else "none"


def _cache_bytes(devices: tuple[str, ...]) -> int | None:
    """Bytes of the last-level caches of all devices; None if one is not known."""
    sizes = [last_cache(CPU_CACHES) if name == "cpu" else gpu.properties(name)["l2_bytes"] for name in devices]
    known = [size for size in sizes if size is not None]
    return sum(known) if len(known) == len(sizes) else None


def device_bandwidth(device: str, threads: int) -> float:
    """Bytes a second that the memory of a device moves, measured once a process; see `Report`."""
    return scale_bandwidth(threads) if device == "cpu" else copy_bandwidth(device)


def measure_memory_bandwidth(device: str, threads: int, seconds: float) -> float:
    """The same between the repeats of a benchmark, measured each time; on a GPU for so many seconds, at most 1."""
    return measure_scale_bandwidth(threads, 2) if device == "cpu" else measure_copy_bandwidth(device, min(seconds, 1))


@cache
def copy_bandwidth(device: str) -> float:
    """Bytes a second of a copy on a GPU, measured once a process."""
    return measure_copy_bandwidth(device, seconds=0.5)


def measure_copy_bandwidth(device: str, seconds: float) -> float:
    """Bytes a second of a copy of much more than the cache holds, sustained for `seconds`."""
    size = min(2 * GIB, available_memory(device) // 4)
    return _core.cuda_copy_bandwidth(gpu.ordinal(device), size, seconds)


@cache
def scale_bandwidth(threads: int) -> float:
    """Bytes a second of the in-place STREAM scale, ``x <- a x``, with `threads`, measured once a process."""
    return measure_scale_bandwidth(threads, repeats=5)


def measure_scale_bandwidth(threads: int, repeats: int) -> float:
    """Bytes a second of the in-place STREAM scale over an array much larger than the cache, the best of `repeats`."""
    size = max(2**20, min(GIB, available_memory() // 4))
    return _core.inplace_stream_scale(size, threads, repeats)
