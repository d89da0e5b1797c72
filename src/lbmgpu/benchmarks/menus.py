"""The rows of the benchmark over several devices beside its own menu: the published flows, shares of the CPU, and those
that a user asks for; and the exponent of strong scaling. The names of all menus."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .. import _core
from ..layout import check_cpu_share
from . import single
from .device_group import DeviceGroup
from .scaling import PLANE, Scaling, ScalingMeasurement, check_size

PARTS = ("memory", "halo")
"""The menus of parts of a step: streaming alone in layouts of memory; the exchange of two devices."""

IGNORED = {"memory": ("repeats",), "halo": ("seconds", "repeats")}
"""The options that menus of parts of a step have no use for."""

NAMES = ("scaling", "moments", "published", "shares", *PARTS)
"""The menus: how the speed grows with the devices in many ways; the same of cells that keep moments; published flows;
shares of the CPU; parts of a step."""

SHARES: tuple[float | str, ...] = (0.0, 0.005, 0.01, 0.02, 0.04, "auto")
"""The parts of each GPU's cells that its CPU gets in the menu of shares."""

CHANNEL = (21, 8, 3)
"""The proportions of the channel with a cylinder, see examples/cylinder_d3q27.py."""


@dataclass(frozen=True)
class Question:
    """What a user asks of several devices.

    Attributes:
        shape: cells along each axis of the whole domain, or with `weak` of one block; None for a cube.
        parts: blocks along each axis; None for layers across the last axis, one for each device.
        cpu_shares: the shares of the CPU, a row for each.
        weak: compare with a block alone, not with the whole domain on one device.
        chosen: stencil, collision, precision, storage, streaming, flow and state, those that are given.
    """

    shape: tuple[int, ...] | None = None
    parts: tuple[int, ...] | None = None
    cpu_shares: tuple[float | str, ...] = (0.0,)
    weak: bool = False
    chosen: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_asked(self) -> bool:
        """Whether anything is given: else there is a menu."""
        return self != Question()


def parse_shares(text: str) -> tuple[float | str, ...]:
    """Shares of the CPU with commas between, as in ``0,0.02,auto``; ValueError for others."""
    found: list[float | str] = []
    for word in text.split(","):
        try:
            found.append(check_cpu_share("cpu_share", word if word == "auto" else float(word)))
        except ValueError:
            raise ValueError(
                f"{word!r} given, must be numbers from 0 to below 1, or auto, with commas between"
            ) from None
    return tuple(found)


def asked(question: Question, size: int, group: DeviceGroup) -> list[Scaling]:
    """The rows of a question; `size` is the side of the cube where it says no shape.

    Raises:
        ValueError: what does not go together.
    """
    chosen = dict(question.chosen)
    if question.shape is not None and len(question.shape) == 2 and chosen.get("flow") != "plates":
        chosen.setdefault("stencil", "D2Q9")
    found = single.completed(size, group.first_device, chosen)
    dimensions, owners = _core.stencil(found.stencil).D, len(group.owners)
    shape = question.shape or (size,) * dimensions
    parts = question.parts or (*(1,) * (dimensions - 1), owners)
    for name, given in (("shape", shape), ("parts", parts)):
        if len(given) != dimensions:
            raise ValueError(f"{name}: {given} given with {found.stencil}, must be {dimensions} numbers")
        if min(given) < 1:
            raise ValueError(f"{name}: {given} given, must be 1 or more along each axis")
    whole = tuple(n * k for n, k in zip(shape, parts, strict=True)) if question.weak else shape
    return [
        Scaling(
            "weak" if question.weak else "strong",
            whole,
            parts,
            found.stencil,
            found.storage,
            found.flow,
            collision=found.collision,
            precision=found.precision,
            streaming=found.streaming,
            cpu_share=share,
            state=found.state,
        )
        for share in question.cpu_shares
    ]


def moments(
    size: int, owners: int, processes: int, other_channel: str | None, may_overlap: bool = True
) -> list[Scaling]:
    """How the speed of cells that keep moments grows with 2, 4 and so on devices; of several processes all of them.

    Args:
        size: cells a side of the box that a device has in the weak rows, and of the box in the strong ones; of D2Q9 the
            side is `PLANE` times that.
        owners: blocks, one for each device.
        processes: that they belong to.
        other_channel: as for `scaling.menu`.
        may_overlap: whether the exchange may be hidden, and is compared with one that is not.

    Raises:
        ValueError: there is one device only, or `size` is too small for so many blocks.
    """
    if owners < 2:
        raise ValueError("menu: 'moments' given with one device, must be several; --state moments measures one")
    check_size(size, owners)
    kind: dict[str, Any] = {"collision": "Regularized", "streaming": "two-lattice", "state": "moments"}
    cube, layers = (size,) * 3, (1, 1, owners)
    counts = [2**k for k in range(1, owners.bit_length()) if 2**k < owners] if processes == 1 else []
    rows = []
    for count in (*counts, owners):
        rows.append(Scaling("weak", (size, size, size * count), (1, 1, count), only=count, **kind))
        rows.append(Scaling("strong", cube, (1, 1, count), only=count, **kind))
    tilings = [(1, owners, 1)]
    if owners in (4, 8):
        tilings.append((1, 2, owners // 2))
    for parts in tilings:
        weak = (size, size * parts[1], size * parts[2])
        rows += [Scaling("weak", weak, parts, **kind), Scaling("strong", cube, parts, **kind)]
    deep = (size, size, size * owners)
    if other_channel is not None:
        rows.append(Scaling("weak", deep, layers, channel=other_channel, **kind))
    if may_overlap:
        rows.append(Scaling("strong", cube, layers, schedule="blocking", **kind))
    rows.append(Scaling("weak", deep, layers, **{**kind, "collision": "RecursiveRegularized"}))
    rows.append(Scaling("weak", deep, layers, "D3Q27", **kind))
    rows.append(Scaling("weak", deep, layers, **{**kind, "streaming": "in-place"}))
    side, plane = PLANE * size, (1, owners)
    rows.append(Scaling("weak", (side, side * owners), plane, "D2Q9", **kind))
    rows.append(Scaling("strong", (side, side), plane, "D2Q9", **kind))
    return rows


def published(size: int, owners: int, processes: int) -> list[Scaling]:
    """The flows of published measurements on 1, 2 and so on devices; of several processes on all of them.

    The lid-driven cavity and the heated one in D3Q19, the channel with a cylinder in D3Q27 in four sizes, on three
    devices if there are as many.

    Args:
        size: 512 for the cavity of 384 cells a side, and the others in proportion.
        owners: blocks, one for each device.
        processes: that they belong to.
    """
    strong, weak, convection = max(1, 3 * size // 4), max(1, size // 4), max(1, 3 * size // 8)
    rows = []
    for count in range(1, owners + 1) if processes == 1 else [owners]:
        layers = (1, 1, count)
        rows.append(Scaling("strong", (strong,) * 3, layers, flow="cavity", only=count))
        rows.append(Scaling("weak", (weak, weak, weak * count), layers, flow="cavity", only=count))
        rows.append(Scaling("strong", (convection,) * 3, layers, flow="heated", only=count))
    count = min(owners, 3) if processes == 1 else owners
    for part in (12, 24, 36, 48):
        unit = max(1, part * size // 432)  # 882 x 336 x 126 cells, that of the example, for 512
        shape = (CHANNEL[0] * unit, CHANNEL[1] * unit, CHANNEL[2] * unit)
        rows.append(Scaling("strong", shape, (count, 1, 1), "D3Q27", flow="channel", only=count))
    return list(dict.fromkeys(rows))


def shares(size: int, owners: int) -> list[Scaling]:
    """What shares of the CPU bring, in float32 and float64: for each GPU a slab of `size` x `size` x `size` / 4 cells,
    and cubes of `size` / 2 and `size` cells a side."""
    deep = max(1, size // 4)
    shapes = [(size, size, deep), (max(1, size // 2),) * 3, (size,) * 3]
    return [
        Scaling("weak", (*shape[:2], shape[2] * owners), (1, 1, owners), storage=storage, cpu_share=share)
        for storage in ("float32", "float64")
        for shape in shapes
        for share in SHARES
    ]


def gains(measurements: Sequence[ScalingMeasurement]) -> list[float | None]:
    """By what part each row is faster than that of the same kind without a share; None where there is none."""
    without = {(m.row.kind, m.row.shape, m.row.parts): m.mlups for m in measurements if m.row.cpu_share == 0}
    keys = [(m.row.kind, m.row.shape, m.row.parts) for m in measurements]
    return [m.mlups / without[k] - 1 if k in without else None for m, k in zip(measurements, keys, strict=True)]


def exponents(measurements: Sequence[ScalingMeasurement]) -> list[dict[str, Any]]:
    """For each domain that was measured on several numbers of devices the exponent p of speed ~ devices^p, fitted."""
    points: dict[tuple[Any, ...], dict[int, float]] = defaultdict(dict)
    for m in measurements:
        if m.row.series == "strong" and not m.row.channel and not m.row.schedule and not m.row.cpu_share:
            points[m.row.kind].setdefault(m.devices, m.mlups)
    rows = {m.row.kind: m.row for m in measurements}
    return [
        {
            "stencil": rows[kind].stencil,
            "storage": rows[kind].storage,
            "flow": rows[kind].flow,
            "shape": rows[kind].shape,
            "devices": sorted(found),
            "exponent": exponent(found),
        }
        for kind, found in points.items()
        if len(found) > 1
    ]


def exponent(speeds: Mapping[int, float]) -> float:
    """The exponent p of speed ~ devices^p by least squares of the logarithms: 1 where all devices are fully used.

    Args:
        speeds: by the number of devices, of two numbers at least.
    """
    x, y = [math.log(n) for n in speeds], [math.log(v) for v in speeds.values()]
    middle, height = sum(x) / len(x), sum(y) / len(y)
    across = sum((a - middle) * (b - height) for a, b in zip(x, y, strict=True))
    return across / sum((a - middle) ** 2 for a in x)
