"""Where the ranks of a communicator meet before each call that they make together, and who is waited for there."""

from __future__ import annotations

import atexit
import hashlib
import sys
import time
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from . import ranks
from .fair_lock import FairLock

SPIN = 0.001
"""Seconds for which a waiting rank polls without sleeping: ranks that come at the same time never sleep."""
LONGEST_SLEEP = 0.01
"""Seconds that a waiting rank sleeps at most between two polls."""
PATIENCE = 60.0
"""Seconds of waiting after which a rank says once, where nothing else ends the wait, who has not come."""
ANSWER_SECONDS = 1.0
"""Seconds that the other ranks have to say that they wait too."""
GOODBYE_SECONDS = 2.0
"""Seconds that another thread has to end its call when the script has ended."""
ASK, ANSWER = 1, 2
"""Tags of the messages by which ranks ask each other where they stand, and answer."""

ENDED = "the script has ended"
"""The message of a rank whose script has ended."""

_live: weakref.WeakSet[Rendezvous] = weakref.WeakSet()
_key: int | None = None
"""The key of the attribute by which MPI keeps the rendezvous with its communicator."""


class Rendezvous:
    """The meetings of the ranks of `comm`, a communicator of mpi4py that is used for nothing else.

    All ranks come to the same meetings in the same order. One meeting costs a reduction of two numbers.

    Attributes:
        turn: the lock that is held by the thread whose call the ranks are in.
        solvers: the number of solvers made so far on these ranks.
        broken: why the ranks can no longer meet; empty while they can.
    """

    def __init__(self, comm: Any) -> None:
        self.turn = FairLock()
        self.solvers = 0
        self.broken = ""
        self._left = False  # whether this rank broke the meetings, which the others do not know
        self._comm = comm
        self._mpi: Any = sys.modules["mpi4py.MPI"]
        self._last = "none"
        self._question = 0
        self._asked = False
        weakref.finalize(self, _free, comm).atexit = False
        _live.add(self)

    @property
    def rank(self) -> int:
        """The rank of this process."""
        return int(self._comm.Get_rank())

    def meet(self, here: str, brings: str, words: str, limit: float | None = None) -> list[str] | None:
        """Wait until all ranks have come: None if all are at the same `here`, else what each of them brings.

        Args:
            here: a text whose digest is compared among the ranks.
            brings: a text that the other ranks get where the digests differ.
            words: where this rank is, in words for messages.
            limit: seconds after which this rank gives up, which `broken` then says. Without it the rank waits for all
                others, at most for `ranks.mpi_timeout`, which ends the job.

        Raises:
            RuntimeError: the meetings are broken.
        """
        if self.broken:
            raise RuntimeError(f"comm: {self.broken}; the ranks can make no more calls together")
        try:
            request, found = self._compare(here)
            if not self._wait(request.Test, words, limit):
                self._leave(f"rank {self.rank} has waited {limit:g} s for the others in {words}")
                return None
            every = None if found[0] == ~found[1] else self._comm.allgather(brings)
        except BaseException as error:
            self._leave(f"rank {self.rank} left {words} by {type(error).__name__} while it waited for the others")
            raise
        self._last = words
        if every is not None and ENDED in every:
            self.broken = f"the script of rank {every.index(ENDED)} has ended"
        return every

    def _leave(self, why: str) -> None:
        self.broken, self._left = why, True

    def _compare(self, here: str) -> tuple[Any, Any]:
        """Start to compare texts: the reduction gives the largest digest and the complement of the smallest one."""
        digest = np.frombuffer(hashlib.blake2b(here.encode(), digest_size=8).digest(), np.uint64)[0]
        own, found = np.array([digest, ~digest]), np.empty(2, np.uint64)
        return self._comm.Iallreduce(own, found, op=self._mpi.MAX), found

    def _wait(self, done: Callable[[], bool], words: str, limit: float | None) -> bool:
        """Wait until `done`; False where that takes longer than the `limit`."""
        start, said, self._asked = time.monotonic(), False, False
        while not done():
            waited = time.monotonic() - start
            if waited < SPIN:
                continue
            self._answer(words)
            end, stagger = ranks.mpi_timeout(), min(0.1 * self.rank, 2.0)  # so that not all ranks ask at once
            if limit is not None:
                if waited > limit:
                    return False
            elif end is not None and waited > end + stagger + 5 * self._asked:  # whoever asked this rank ends it
                missing = self._missing(done, words, waited)
                if missing:
                    ranks.end_all(f"{missing}; the job ends after mpi_timeout = {end:g} s")
            elif not said and not self._asked and waited > PATIENCE + stagger:
                said = True
                missing = self._missing(done, words, waited)
                if missing:
                    print(f"{missing}; lbmgpu.set_mpi_timeout(seconds) ends such a wait", file=sys.stderr, flush=True)
            _sleep(waited)
        return True

    def _answer(self, words: str) -> None:
        """Tell the ranks that ask where this rank stands."""
        status = self._mpi.Status()
        while self._comm.Iprobe(self._mpi.ANY_SOURCE, ASK, status):
            question = self._comm.recv(source=status.Get_source(), tag=ASK)
            self._comm.send((question, words), status.Get_source(), ANSWER)
            self._asked = True

    def _missing(self, done: Callable[[], bool], words: str, waited: float) -> str:
        """Ask the others where they stand. The result names who waits where and who does not, unless all have come."""
        self._question += 1
        size, answers, status = self._comm.Get_size(), {self.rank: words}, self._mpi.Status()
        for rank in range(size):
            if rank != self.rank:
                self._comm.send(self._question, rank, ASK)  # so small that sending does not wait for the receiver
        end = time.monotonic() + ANSWER_SECONDS
        while time.monotonic() < end:
            if done():
                return ""
            self._answer(words)
            while self._comm.Iprobe(self._mpi.ANY_SOURCE, ANSWER, status):
                question, where = self._comm.recv(source=status.Get_source(), tag=ANSWER)
                if question == self._question:
                    answers[status.Get_source()] = where
            time.sleep(LONGEST_SLEEP)
        absent = [rank for rank in range(size) if rank not in answers]
        here = "; ".join(
            f"{named(r for r in answers if answers[r] == w)}: {w}" for w in dict.fromkeys(answers.values())
        )
        return (
            f"rank {self.rank} of {size} has waited {waited:.0f} s for the others. {here}. "
            f"Not there: {named(absent) or 'nobody'}; the last call of all ranks: {self._last}"
        )

    def close(self) -> None:
        """MPI calls this when it frees the user's communicator: the end of the script is not told here any more."""
        _live.discard(self)


def of(comm: Any) -> Rendezvous | None:
    """The rendezvous of an intracommunicator of mpi4py, made in the first call, which all its ranks make together; None
    for a communicator of one rank, which waits for nobody.

    Raises:
        TypeError, ValueError, RuntimeError: see `ranks.checked`.
    """
    global _key
    ranks.checked(comm)
    if comm.Get_size() == 1:
        return None
    if _key is None:
        _key = type(comm).Create_keyval(delete_fn=lambda comm, key, meeting: meeting.close())
        atexit.register(_at_end)
    found: Rendezvous | None = comm.Get_attr(_key)
    if found is None:
        found = Rendezvous(_duplicate(comm))
        comm.Set_attr(_key, found)
    return found


def named(numbers: Any) -> str:
    """Ranks by their numbers, as in "ranks 1, 2"; empty for none."""
    numbers = list(numbers)
    return "" if not numbers else f"rank{'s' if len(numbers) > 1 else ''} {', '.join(map(str, numbers))}"


def _duplicate(comm: Any) -> Any:
    """A duplicate of `comm`, as soon as all its ranks ask for one."""
    made, request = comm.Idup()
    start, said, end = time.monotonic(), False, ranks.mpi_timeout()
    while not request.Test():
        waited = time.monotonic() - start
        words = (
            f"rank {comm.Get_rank()} of {comm.Get_size()} has waited {waited:.0f} s in the first Solver(comm=...): not "
            "all ranks have come to make theirs"
        )
        if end is not None and waited > end:
            ranks.end_all(f"{words}; the job ends after mpi_timeout = {end:g} s")
        if not said and waited > PATIENCE:
            said = True
            print(words, file=sys.stderr, flush=True)
        _sleep(waited)
    return made


def _sleep(waited: float) -> None:
    """Sleep for a small part of the time waited so far, so that others have the core."""
    time.sleep(min(max(waited / 50, 5e-5), LONGEST_SLEEP))


def _free(comm: Any) -> None:
    """Free a duplicate that is no longer used; all ranks drop it at the same place, as they drop the engine's."""
    if ranks.is_running():
        comm.Free()


def _at_end() -> None:
    """The script has ended on this rank: tell the others, who may wait in a call, and wait until theirs have too."""
    if not ranks.is_running():
        return
    start, waiting = time.monotonic(), []
    for meeting in sorted(_live, key=lambda m: int(m._comm.py2f())):
        if meeting.broken:
            if meeting._left:
                ranks.end_all(meeting.broken)
        elif meeting.turn.acquire(timeout=GOODBYE_SECONDS):  # never given back: there are no calls after this
            waiting.append((meeting, *meeting._compare(ENDED)))
    while waiting:
        left = []
        for meeting, request, found in waiting:
            if not request.Test():
                meeting._answer(ENDED)
                left.append((meeting, request, found))
            elif found[0] != ~found[1]:
                meeting._comm.allgather(ENDED)  # and they raise an error that says so
        waiting = left
        if waiting:
            _sleep(time.monotonic() - start)
