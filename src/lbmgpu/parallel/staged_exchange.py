"""Warns where GPUs of one process exchange through the host's memory because they cannot access each other's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import StagedExchangeWarning, warn


def staged_pairs(blocks: Sequence[Mapping[str, Any]], links: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """The names of each two different GPUs of one process with a staged link between them, each pair once.

    Args:
        blocks: the blocks of the layout, as the engine gives them: `rank` and `device`.
        links: the links as the engine gives them: `from` and `to`, numbers of blocks, and `channel`.
    """
    pairs = set()
    for link in links:
        ends = blocks[link["from"]], blocks[link["to"]]
        first, second = sorted(end["device"] for end in ends)
        gpus = first.startswith("cuda:") and second.startswith("cuda:") and first != second
        if link["channel"] == "staged" and gpus and ends[0]["rank"] == ends[1]["rank"]:
            pairs.add((first, second))
    return sorted(pairs)


def warn_of_staging(blocks: Sequence[Mapping[str, Any]], links: Sequence[Mapping[str, Any]], channel: str) -> None:
    """Warn with StagedExchangeWarning of the `staged_pairs`, unless the user asked for them.

    Args:
        blocks, links: as for `staged_pairs`.
        channel: the channel that is forced on the engine, or an empty text.
    """
    pairs = [] if channel == "staged" else staged_pairs(blocks, links)
    if pairs:
        names = ", ".join(f"{first} and {second}" for first, second in pairs)
        warn(
            f"{names} do not reach each other's memory: what their blocks exchange goes through the host's memory in "
            "every step, which is some ten times slower; solver.report() says how many bytes",
            StagedExchangeWarning,
        )
