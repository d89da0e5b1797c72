"""A domain as blocks that tile it, each on one device: made by hand, in equal parts, or read from JSON."""

from __future__ import annotations

import itertools
import json
import math
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from . import _core, checks
from .domain import MAX_SIZE
from .errors import LayoutError
from .files.atomic_write import write_text
from .files.regular_files import LAYOUT_BYTES, file_path, read_text
from .files.strict_json import parsed
from .guarded import Guarded

MAX_BLOCKS = 2**16
"""Of a layout; more than there are processes in any machine, and checked in seconds."""

AUTO = "auto"
"""The share of the CPU that is to be found by measuring."""

_COUNTS = {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 3}
_SCHEMA = {
    "type": "object",
    "properties": {
        "blocks": {
            "type": "array",
            "minItems": 1,
            "maxItems": MAX_BLOCKS,
            "items": {
                "type": "object",
                "properties": {
                    "offset": _COUNTS,
                    "size": _COUNTS,
                    "rank": {"type": "integer"},
                    "device": {"type": "string"},
                    "host": {"type": "string"},
                },
                "required": ["offset", "size"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["blocks"],
    "additionalProperties": False,
}


@cache
def _validator() -> Any:
    from jsonschema import Draft202012Validator  # here, as it takes a while to be loaded

    return Draft202012Validator(_SCHEMA)


@dataclass(frozen=True)
class Block:
    """A box of cells and who computes it.

    Attributes:
        offset: of its first cell in the domain, one number an axis.
        size: in cells, at least 1 along each axis.
        rank: of the process that computes it. Blocks with a `host` and None are dealt among the processes of that host,
            in their order; without a host None is 0.
        device: ``"cpu"``, or ``"cuda:0"`` and so on; ``"cuda"``, the GPU of the process; ``"auto"``, that GPU if one
            can be used, else the CPU, unless the solver's `device` says which.
        host: name of the host whose process computes it, which is checked when a solver is made; None for any. A name
            without its domain, ``"node1"`` for ``"node1.cluster"``, will do.

    Raises:
        TypeError, ValueError: not whole numbers, or not as many; not names.
    """

    offset: tuple[int, ...]
    size: tuple[int, ...]
    rank: int | None = None
    device: str = "cpu"
    host: str | None = None

    def __post_init__(self) -> None:
        for name, least in (("offset", 0), ("size", 1)):
            object.__setattr__(self, name, _counts(f"block: {name}", getattr(self, name), least))
        if len(self.offset) != len(self.size):
            raise ValueError(f"block: offset {self.offset} and size {self.size} must have as many numbers")
        if self.rank is not None or self.host is None:
            rank = 0 if self.rank is None else checks.integer("block: rank", self.rank, at_most=MAX_SIZE)
            object.__setattr__(self, "rank", rank)
        self._check_name("device", r"auto|cpu|cuda(:(0|[1-9]\d{0,3}))?", "'auto', 'cpu', 'cuda' or 'cuda:0' and so on")
        if self.host is not None:
            self._check_name("host", r"\S{1,253}", "the name of a host, or None")

    def _check_name(self, which: str, form: str, right: str) -> None:
        given = getattr(self, which)
        if not isinstance(given, str):
            raise TypeError(f"block: {which}: {checks.shown(given)} given, must be {right}")
        given = str.__str__(given)  # the characters, whatever a subclass makes of them
        if not re.fullmatch(form, given):
            raise ValueError(f"block: {which}: {checks.shown(given)} given, must be {right}")
        object.__setattr__(self, which, given)


class Layout(Guarded):
    """Blocks that tile a domain without gap or overlap; the results do not depend on them, to the last bit.

    Args:
        blocks: in any order, at most 65536. Whether they tile a domain is checked when a solver is made with both.

    Raises:
        TypeError, ValueError: not blocks, or none.
    """

    def __init__(self, blocks: Iterable[Block]) -> None:
        self._cpu_share: float | str | None = None
        self._blocks = tuple(checks.listed("blocks", blocks, "a list of Block"))
        if not self._blocks:
            raise ValueError("blocks: no block given, must be one at least")
        if len(self._blocks) > MAX_BLOCKS:
            raise ValueError(f"blocks: {len(self._blocks)} given, must be at most {MAX_BLOCKS}")
        for block in self._blocks:
            if not isinstance(block, Block):
                raise TypeError(f"blocks: {checks.shown(block)} given, must be a Block")

    @classmethod
    def split(
        cls,
        shape: Sequence[int],
        parts: Sequence[int],
        device: str | Sequence[str] | None = None,
        ranks: int | Sequence[int] | None = None,
        cpu_share: float | str = 0.0,
    ) -> Layout:
        """As many parts along each axis as `parts` says, as equal as can be.

        Args:
            shape: of the domain.
            parts: along each axis; 1 leaves an axis whole.
            device: of all blocks, or one for each; the last axis changes fastest. None: with `ranks` ``"auto"``, each
                rank's own GPU if one can be used; without them ``"cpu"``.
            ranks: of the processes that compute them, in the same way; None for 0.
            cpu_share: part of the cells of each block on a GPU that the CPU of its rank computes; see `with_cpu_share`.

        Raises:
            TypeError, ValueError: not whole numbers, not as many, more parts than cells, or not as many devices or
                ranks.
        """
        cells, parts = _counts("shape", shape, 1), _counts("parts", parts, 1)
        if len(cells) != len(parts):
            raise ValueError(f"parts: {parts} given, must be {len(cells)} numbers, one an axis")
        for n, k in zip(cells, parts, strict=True):
            if k > n:
                raise ValueError(f"parts: {parts} given, must be no more than there are cells, {cells}")
        if math.prod(parts) > MAX_BLOCKS:
            raise ValueError(f"parts: {parts} given, must make at most {MAX_BLOCKS} blocks")
        edges = [[n * j // k for j in range(k + 1)] for n, k in zip(cells, parts, strict=True)]
        spans = [list(itertools.pairwise(axis)) for axis in edges]
        boxes = list(itertools.product(*spans))
        if device is None:
            device = "cpu" if ranks is None else "auto"
        if ranks is None:
            ranks = 0
        one_each = "one name, or one for each block"
        devices = [device] * len(boxes) if isinstance(device, str) else checks.listed("device", device, one_each)
        if len(devices) != len(boxes):
            right = f"must be one name, or one for each of {len(boxes)} blocks"
            raise ValueError(f"device: {checks.shown(device)} given, {right}")
        if isinstance(ranks, int):
            owners = [ranks] * len(boxes)
        else:
            owners = checks.listed("ranks", ranks, "one rank, or one for each block")
        if len(owners) != len(boxes):
            right = f"must be one rank, or one for each of {len(boxes)} blocks"
            raise ValueError(f"ranks: {checks.shown(ranks)} given, {right}")
        return cls(
            [
                Block(tuple(a for a, _ in box), tuple(b - a for a, b in box), owner, name)
                for box, owner, name in zip(boxes, owners, devices, strict=True)
            ]
        ).with_cpu_share(cpu_share)

    @classmethod
    def over(cls, shape: Sequence[int], devices: Sequence[str]) -> Layout:
        """One block for each device: layers across the last axis, or the longest where that has too few cells.

        Rows along x stay whole: they are what memory serves best.

        Args:
            shape: of the domain.
            devices: their names.

        Raises:
            TypeError, ValueError: not whole numbers, no device, or more devices than cells.
        """
        cells, devices = _counts("shape", shape, 1), checks.listed("devices", devices, "a list of names")
        last = len(cells) - 1
        axis = last if cells[last] >= len(devices) else cells.index(max(cells))
        parts = [1] * len(cells)
        parts[axis] = checks.integer("devices", len(devices), at_least=1)
        return cls.split(cells, parts, devices)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Layout:
        """The layout in a JSON file, as `save` writes it.

        Raises:
            ValueError: not a regular file of at most 16 MiB, not JSON, or not of this form, saying where.
            OSError: the file cannot be read.
        """
        path = file_path("path", path)
        try:
            text = read_text("layout", path, at_most=LAYOUT_BYTES)
        except UnicodeDecodeError as error:
            raise ValueError(f"{path}: not JSON: {error}") from None
        try:
            document = parsed(text)
        except ValueError as error:
            raise ValueError(f"{path}: not JSON: {error}") from None
        for problem in _validator().iter_errors(document):  # the first will do
            raise ValueError(f"{path}: {problem.json_path}: {problem.message[:200]}")
        blocks = []
        for number, entry in enumerate(document["blocks"]):
            try:
                offset, size = (tuple(int(n) for n in entry[name]) for name in ("offset", "size"))
                host = entry.get("host")
                rank = int(entry["rank"]) if "rank" in entry else 0 if host is None else None
                blocks.append(Block(offset, size, rank, entry.get("device", "cpu"), host))
            except (TypeError, ValueError) as error:
                raise ValueError(f"{path}: $.blocks[{number}]: {error}") from None
        return cls(blocks)

    def with_cpu_share(self, share: float | str) -> Layout:
        """The same with a block on the CPU beside each block on a GPU, of the same rank.

        The CPU gets the last layers of cells of each, as many as are nearest to the share, and the GPU one at least.
        They are layers across the longest of the axes that no block cuts, so that blocks of GPUs stay neighbours; of
        all but x if each of these is cut, and never across x, as rows stay whole.

        Where a block's device is ``"auto"`` or its rank is still to be found, a solver makes these blocks when it knows
        both, and `cpu_share` is the share until then.

        Args:
            share: part of the cells of each block on a GPU, from 0 to less than 1; ``"auto"``: what a solver of this
                layout finds to be the fastest, see `Solver`.

        Raises:
            TypeError, ValueError: another share.
        """
        share = check_cpu_share("cpu_share", share)
        layout = Layout(self._blocks)
        is_open = any(block.device == "auto" or block.rank is None for block in self._blocks)
        if isinstance(share, str) or (share > 0 and is_open):
            layout._cpu_share = share
            return layout
        axis, blocks = self._axis_of_shares(), []
        for block in self._blocks:
            layers = 0 if block.device == "cpu" else min(round(share * block.size[axis]), block.size[axis] - 1)
            blocks.append(replace(block, size=_changed(block.size, axis, block.size[axis] - layers)))
            if layers:
                offset = _changed(block.offset, axis, block.offset[axis] + block.size[axis] - layers)
                blocks.append(replace(block, offset=offset, size=_changed(block.size, axis, layers), device="cpu"))
        return Layout(blocks)

    @property
    def cpu_share(self) -> float | str | None:
        """The share of the CPU that a solver is to make blocks of, ``"auto"`` if it is to find that too; None where the
        blocks say all."""
        return self._cpu_share

    def _axis_of_shares(self) -> int:
        axes = range(len(self._blocks[0].size))
        lengths = [max(b.offset[axis] + b.size[axis] for b in self._blocks) for axis in axes]
        whole = [all(b.size[axis] == n for b in self._blocks) for axis, n in enumerate(lengths)]
        return max(range(1, len(lengths)), key=lambda axis: (whole[axis], lengths[axis], axis))

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write it as JSON, whole or not at all; return the path.

        Raises:
            ValueError: the blocks of its `cpu_share` are not made yet.
            OSError: the file cannot be written.
        """
        if self._cpu_share is not None:
            raise ValueError(f"layout: its cpu_share is {self._cpu_share!r}; save solver.layout, which has the blocks")
        path = Path(path)
        entries = [{k: v for k, v in asdict(block).items() if v is not None} for block in self._blocks]
        write_text(path, json.dumps({"blocks": entries}, indent=2) + "\n")
        return path

    def subdomain(self, rank: int = 0) -> tuple[slice, ...]:
        """The part of the domain's arrays that a process takes and gives: the smallest box with all its blocks.

        It is `Solver.subdomain` of a solver with this layout, known before one is made.

        Raises:
            TypeError, ValueError: not a rank, or one without a block.
        """
        rank = checks.integer("rank", rank)
        own = [block for block in self._blocks if block.rank == rank]
        if not own:
            hosts = any(block.rank is None for block in self._blocks)
            right = "; blocks of hosts get their ranks by place_layout(layout, comm)" if hosts else ""
            raise ValueError(f"rank: {rank} given, which has no block of this layout{right}")
        low = [min(starts) for starts in zip(*(block.offset for block in own), strict=True)]
        ends = [[a + n for a, n in zip(block.offset, block.size, strict=True)] for block in own]
        return tuple(slice(a, max(b)) for a, b in zip(low, zip(*ends, strict=True), strict=True))

    def __iter__(self) -> Iterator[Block]:
        return iter(self._blocks)

    def __len__(self) -> int:
        return len(self._blocks)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Layout) and (self._blocks, self._cpu_share) == (other._blocks, other._cpu_share)

    def __hash__(self) -> int:
        return hash(self._blocks)

    def __repr__(self) -> str:
        return f"Layout({list(self._blocks)!r})"


def engine_blocks(layout: Layout | None) -> list[tuple[tuple[int, ...], tuple[int, ...], int, str]]:
    """As the engine takes them; a block that no rank has been found for counts as one of rank 0."""
    return [] if layout is None else [(b.offset, b.size, b.rank or 0, b.device) for b in layout]


def check_layout(layout: Any, shape: tuple[int, ...]) -> Layout | None:
    """`layout` as an argument of a solver of a domain of `shape`: None, a Layout, or the path of one.

    Raises:
        TypeError, ValueError: something else; `LayoutError`: blocks that do not tile the domain.
    """
    if isinstance(layout, (str, os.PathLike)):
        layout = Layout.load(file_path("layout", layout))
    if layout is not None and not isinstance(layout, Layout):
        raise TypeError(f"layout: {checks.shown(layout)} given, must be a Layout, the path of one, or None")
    if layout is not None:
        try:
            _core.check_layout(shape, engine_blocks(layout))
        except ValueError as error:
            raise LayoutError(str(error)) from None
    return layout


def check_cpu_share(name: str, share: Any) -> float | str:
    """The share of the CPU: a number from 0 to less than 1, or ``"auto"``; or TypeError or ValueError."""
    if isinstance(share, str):
        if share != AUTO:
            raise ValueError(f"{name}: {checks.shown(share)} given, must be 'auto' or a number from 0 to below 1")
        return AUTO
    return checks.number(name, share, at_least=0, below=1)


def _changed(vector: tuple[int, ...], axis: int, entry: int) -> tuple[int, ...]:
    return (*vector[:axis], entry, *vector[axis + 1 :])


def _counts(name: str, values: Any, least: int) -> tuple[int, ...]:
    entries = checks.listed(name, values, "one whole number an axis")
    counts = tuple(checks.integer(name, value, at_least=least, at_most=MAX_SIZE) for value in entries)
    if len(counts) not in (2, 3):
        raise ValueError(f"{name}: {counts} given, must be 2 or 3 numbers")
    return counts
