"""Collective calls of a solver: all ranks must make the same calls with the same arguments, and leave them alike.

Differences raise an error on all ranks before any of them begins; otherwise the ranks would wait for each other or mix
their data. On one process nothing is compared.
"""

from __future__ import annotations

import dataclasses
import json
import logging
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from . import consistency
from .rendezvous import ENDED, Rendezvous, named

if TYPE_CHECKING:
    from .processes import Processes

ERROR_SECONDS = 10.0
"""Seconds that a rank which leaves a call by an error waits for the others: an error of all ranks comes at once."""
INTERRUPT_SECONDS = 2.0
"""Seconds that it waits after an interrupt, which the other ranks do not know of."""
LONGEST = 40
"""The number of characters of an argument that an error shows."""

log = logging.getLogger("lbmgpu")
_OWN = {"progress"}
"""Arguments that may differ between ranks."""
_AGREED = "_lbmgpu_agreed"
"""The attribute of an exception that has been raised on all ranks."""


@contextmanager
def together(processes: Processes, name: str, arguments: Mapping[str, Any], steps: Callable[[], int]) -> Iterator[None]:
    """Run the body as a call of all ranks: their arguments are compared first, and an error on some is told to all.

    Args:
        processes: the processes of the solver, more than one.
        name, arguments: the name of the call and its arguments.
        steps: returns the number of steps that the solver has done; it is called once this call has its turn.

    Raises:
        ValueError: on all ranks, if they are not in the same call, of the same solver, at the same step, with the same
            arguments. Functions count as equal if both or neither take a time.
        RuntimeError: the ranks cannot make any more calls together, as one of them has left.
    """
    assert processes.meeting is not None
    with processes.meeting.turn:
        here = Place(
            name,
            {k: told(v, processes.is_part) for k, v in arguments.items() if k not in _OWN},
            processes.number,
            steps(),
        )
        agree(processes.meeting, here)
        with left_alike(processes.meeting, here):
            yield


@contextmanager
def left_alike(meeting: Rendezvous | None, here: Place) -> Iterator[None]:
    """Run the body as a part of a call that all ranks are in.

    Where only some ranks leave it by an error, the others get an error in their next call.
    """
    if meeting is None:
        yield
        return
    with meeting.turn:
        try:
            yield
        except BaseException as error:
            _left(meeting, here, error)
            raise


@contextmanager
def by_user(processes: Processes, name: str, steps: int = 0) -> Iterator[None]:
    """Run functions of the user within a call: they may differ among ranks, but afterwards all ranks go on or none.

    An error on one rank is raised on all: as TypeError or ValueError if it is one, else RuntimeError. Where a
    function calls the solver, all ranks must make that call.
    """
    meeting = processes.meeting
    if meeting is None:
        yield
        return
    try:
        yield
    except BaseException as error:
        if not getattr(error, _AGREED, False):
            agree(meeting, Place(f"the end of {name}", {}, processes.number, steps, error))
        raise
    agree(meeting, Place(f"the end of {name}", {}, processes.number, steps))


@dataclasses.dataclass
class Place:
    """Where a rank stands: its call with the arguments as texts, the number and the steps of the solver, its error."""

    call: str
    arguments: Mapping[str, str]
    solver: int = 1
    steps: int = 0
    error: BaseException | None = None

    def __str__(self) -> str:
        given = ", ".join(f"{name}={value}" for name, value in self.arguments.items() if len(value) <= LONGEST)
        of = f" of its solver {self.solver}" if self.solver > 1 else ""
        return f"{self.call}({given}) at step {self.steps}{of}" if " " not in self.call else f"{self.call}{of}"

    @property
    def compared(self) -> dict[str, str]:
        """Everything that must be equal on all ranks, by name."""
        return {**self.arguments, "solver": str(self.solver), "steps done": str(self.steps)}

    def message(self) -> dict[str, Any]:
        """The place as texts, which the other ranks are sent."""
        error = None if self.error is None else (type(self.error).__name__, str(self.error))
        return {"call": self.call, "words": str(self), "given": self.compared, "error": error}


def agree(meeting: Rendezvous, here: Place) -> None:
    """Return if all ranks are at the same place, `here`; raise an error on all of them if not.

    A rank that brings an error of its own returns too, as its caller raises that.
    """
    every = _brought(meeting, here, str(here))
    if here.error is not None:
        _mark(here.error)
    elif every is not None:
        raise _mark(_difference(every))


def _left(meeting: Rendezvous, here: Place, error: BaseException) -> None:
    if getattr(error, _AGREED, False) or meeting.broken:
        return
    limit = ERROR_SECONDS if isinstance(error, Exception) else INTERRUPT_SECONDS
    words = f"{here}, which it left by {type(error).__name__}"
    _brought(meeting, Place(f"{here.call}, left by an error", {}, here.solver, 0, error), words, limit)
    _mark(error)


def _brought(meeting: Rendezvous, here: Place, words: str, limit: float | None = None) -> list[Any] | None:
    compared = json.dumps([here.call, here.compared, here.error is not None])
    every = meeting.meet(compared, json.dumps(here.message()), words, limit)
    if every is not None and every[0] != ENDED and len(set(every)) == 1:
        # The texts are equal, and only their digests were found to differ: seen once in thousands of calls of three
        # ranks under Open MPI 5.0.11, for a reason that is not known. What was gathered counts.
        log.debug("rank %d: digests of %s differed, the texts do not", meeting.rank, words)
        return None
    ended: dict[str, Any] = {"call": ENDED, "words": ENDED, "given": {}, "error": None}
    return None if every is None else [ended if text == ENDED else json.loads(text) for text in every]


def _difference(every: Sequence[Mapping[str, Any]]) -> Exception:
    """The error about what ranks bring, each its `Place.message`."""
    if len({place["call"] for place in every}) > 1:
        stand = [place["words"] + ("" if place["error"] is None else f" ({_said(place)})") for place in every]
        where = "; ".join(
            f"{named(rank for rank, other in enumerate(stand) if other == one)}: {one}" for one in dict.fromkeys(stand)
        )
        return ValueError(f"comm: different calls given, must be the same on all ranks: {where}")
    for rank, place in enumerate(every):
        if place["error"] is not None:
            kind = {"TypeError": TypeError, "ValueError": ValueError}.get(place["error"][0], RuntimeError)
            return kind(f"rank {rank}: {place['error'][1] if kind is not RuntimeError else _said(place)}")
    lines = consistency.differences([place["given"] for place in every], longest=LONGEST)
    return ValueError(f"{'; '.join(lines)}; all ranks take the same arguments (in {every[0]['call']})")


def _said(place: Mapping[str, Any]) -> str:
    kind, text = place["error"]
    return f"{kind}: {text}" if text else kind


def is_agreed(error: BaseException) -> bool:
    """Whether an error has been raised on all ranks, so that all of them go on together after it."""
    return bool(getattr(error, _AGREED, False))


def _mark(error: Any) -> Any:
    setattr(error, _AGREED, True)
    return error


def told(value: Any, is_part: consistency.IsPart = lambda shape: False) -> str:
    """A text that is equal on two ranks if they were given equal arguments; short values are written out.

    `is_part`: see `consistency.of_value`.
    """
    if isinstance(value, os.PathLike):
        value = os.fsdecode(value)
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | str):
        return repr(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        parts = [told(getattr(value, field.name)) for field in dataclasses.fields(value) if field.init]
        return f"{type(value).__name__}({', '.join(parts)})"
    if isinstance(value, Sequence) and all(dataclasses.is_dataclass(entry) for entry in value):
        return f"[{', '.join(map(told, value))}]"
    if any(isinstance(entry, slice) or entry is Ellipsis for entry in (value if type(value) is tuple else (value,))):
        return repr(value)  # a region
    return consistency.of_value(value, is_part)
