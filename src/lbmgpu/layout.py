"""A domain as blocks that tile it, each on one device: made by hand, in equal parts, or read from JSON."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import jsonschema

from . import _core, checks
from .domain import MAX_SIZE
from .whole_file import replacing

_COUNTS = {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 3}
_SCHEMA = {
    "type": "object",
    "properties": {
        "blocks": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "properties": {
                    "offset": _COUNTS,
                    "size": _COUNTS,
                    "rank": {"type": "integer"},
                    "device": {"type": "string"},
                },
                "required": ["offset", "size"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["blocks"],
    "additionalProperties": False,
}


@dataclass(frozen=True)
class Block:
    """A box of cells and who computes it.

    Attributes:
        offset: of its first cell in the domain, one number an axis.
        size: in cells, at least 1 along each axis.
        rank: of the process; 0, as there is one.
        device: ``"cpu"``, as blocks on GPUs are to come.

    Raises:
        TypeError, ValueError: not whole numbers, or not as many.
    """

    offset: tuple[int, ...]
    size: tuple[int, ...]
    rank: int = 0
    device: str = "cpu"

    def __post_init__(self) -> None:
        for name, least in (("offset", 0), ("size", 1)):
            object.__setattr__(self, name, _counts(f"block: {name}", getattr(self, name), least))
        if len(self.offset) != len(self.size):
            raise ValueError(f"block: offset {self.offset} and size {self.size} must have as many numbers")
        object.__setattr__(self, "rank", checks.integer("block: rank", self.rank, at_most=MAX_SIZE))
        checks.choice("block: device", self.device, ["cpu"])


class Layout:
    """Blocks that tile a domain without gap or overlap; the results do not depend on them, to the last bit.

    Args:
        blocks: in any order. Whether they tile a domain is checked when a solver is made with both.

    Raises:
        TypeError, ValueError: not blocks, or none.
    """

    def __init__(self, blocks: Iterable[Block]) -> None:
        self._blocks = tuple(blocks)
        if not self._blocks:
            raise ValueError("layout: no block given, must be one at least")
        for block in self._blocks:
            if not isinstance(block, Block):
                raise TypeError(f"layout: {checks.shown(block)} given, must be a Block")

    @classmethod
    def split(cls, shape: Sequence[int], parts: Sequence[int], device: str = "cpu") -> Layout:
        """As many parts along each axis as `parts` says, as equal as can be.

        Args:
            shape: of the domain.
            parts: along each axis; 1 leaves an axis whole.
            device: of all blocks.

        Raises:
            TypeError, ValueError: not whole numbers, not as many, or more parts than cells.
        """
        cells, parts = _counts("shape", shape, 1), _counts("parts", parts, 1)
        if len(cells) != len(parts):
            raise ValueError(f"parts: {parts} given, must be {len(cells)} numbers, one an axis")
        for n, k in zip(cells, parts, strict=True):
            if k > n:
                raise ValueError(f"parts: {parts} given, must be no more than there are cells, {cells}")
        edges = [[n * j // k for j in range(k + 1)] for n, k in zip(cells, parts, strict=True)]
        spans = [list(itertools.pairwise(axis)) for axis in edges]
        return cls(
            Block(tuple(a for a, _ in box), tuple(b - a for a, b in box), device=device)
            for box in itertools.product(*spans)
        )

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Layout:
        """The layout in a JSON file, as `save` writes it.

        Raises:
            ValueError: not JSON, or not of this form, saying where.
            OSError: the file cannot be read.
        """
        try:
            document = json.loads(Path(path).read_text(encoding="utf-8"))
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{path}: not JSON: {error}") from None
        try:
            jsonschema.validate(document, _SCHEMA)
        except jsonschema.ValidationError as error:
            raise ValueError(f"{path}: {error.json_path}: {error.message}") from None
        blocks = []
        for number, entry in enumerate(document["blocks"]):
            try:
                offset, size = (tuple(int(n) for n in entry[name]) for name in ("offset", "size"))
                blocks.append(Block(offset, size, int(entry.get("rank", 0)), entry.get("device", "cpu")))
            except ValueError as error:
                raise ValueError(f"{path}: $.blocks[{number}]: {error}") from None
        return cls(blocks)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write it as JSON, whole or not at all; return the path.

        Raises:
            OSError: the file cannot be written.
        """
        path = Path(path)
        with replacing(path) as file:
            file.write_text(json.dumps({"blocks": [asdict(block) for block in self._blocks]}, indent=2) + "\n")
        return path

    def __iter__(self) -> Iterator[Block]:
        return iter(self._blocks)

    def __len__(self) -> int:
        return len(self._blocks)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Layout) and self._blocks == other._blocks

    def __hash__(self) -> int:
        return hash(self._blocks)

    def __repr__(self) -> str:
        return f"Layout({list(self._blocks)!r})"


def engine_blocks(layout: Layout | None) -> list[tuple[tuple[int, ...], tuple[int, ...], int, str]]:
    """As the engine takes them."""
    return [] if layout is None else [(b.offset, b.size, b.rank, b.device) for b in layout]


def check_layout(layout: Any, shape: tuple[int, ...]) -> Layout | None:
    """`layout` as an argument of a solver of a domain of `shape`: None, a Layout, or the path of one.

    Raises:
        TypeError, ValueError: something else, or blocks that do not tile the domain.
    """
    if isinstance(layout, (str, os.PathLike)):
        layout = Layout.load(layout)
    if layout is not None and not isinstance(layout, Layout):
        raise TypeError(f"layout: {checks.shown(layout)} given, must be a Layout, the path of one, or None")
    if layout is not None:
        _core.check_layout(shape, engine_blocks(layout))
    return layout


def _counts(name: str, values: Any, least: int) -> tuple[int, ...]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise TypeError(f"{name}: {checks.shown(values)} given, must be one whole number an axis")
    counts = tuple(checks.integer(name, value, at_least=least, at_most=MAX_SIZE) for value in values)
    if len(counts) not in (2, 3):
        raise ValueError(f"{name}: {counts} given, must be 2 or 3 numbers")
    return counts
