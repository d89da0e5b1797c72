"""Exchanges of messages: around a ring, several at once, to the rank itself, with several tags, and wrong ones."""

import gc
import sys

import numpy as np
import pytest
from mpi4py import MPI

from lbmgpu import _core
from lbmgpu.parallel import ranks

world = MPI.COMM_WORLD
comm = ranks.communicator(world)
assert comm is not None
rank, size = comm.rank, comm.size
left, right = (rank - 1) % size, (rank + 1) % size


def contents(sender: int, turn: int, count: int) -> np.ndarray:
    """What a rank sends in a turn."""
    return np.arange(count, dtype=np.float64) + 1000 * turn + sender


def ring_with_changing_contents() -> None:
    counts = [0, 1, 37, 20_000]  # small ones travel at once, large ones when they are awaited
    sent = [np.zeros(count) for count in counts]
    received = [np.zeros(count) for count in counts]
    ring = comm.exchange(
        [(array, left, tag) for tag, array in enumerate(received)],
        [(array, right, tag) for tag, array in enumerate(sent)],
    )
    for turn in range(100):
        for array in sent:
            array[...] = contents(rank, turn, array.size)
        ring.start_receives()
        ring.start_sends()
        ring.finish()
        for array in received:
            np.testing.assert_array_equal(array, contents(left, turn, array.size))


def two_at_once_beside_the_users_messages() -> None:
    users = np.zeros(1)
    awaited = world.Irecv(users)  # from any rank, with any tag
    there, back = np.full(5000, -1.0), np.full(5000, -1.0)
    own = np.full(5000, float(rank))
    first = comm.exchange([(there, left, 0)], [(own, right, 0)])
    second = comm.exchange([(back, right, 1)], [(own, left, 1)])
    for _ in range(3):
        first.start_receives()
        second.start_receives()
        second.start_sends()
        first.start_sends()
        second.finish()
        assert np.all(back == right)
        first.finish()
        assert np.all(there == left)
    world.Send(np.full(1, 7.0), right, 3)
    awaited.Wait()
    assert users[0] == 7


def to_itself() -> None:
    source, target = np.arange(30_000), np.zeros(30_000, int)
    exchange = comm.exchange([(target, rank, 5)], [(source, rank, 5)])
    for turn in range(5):
        source += turn
        exchange.start_receives()
        exchange.start_sends()
        exchange.finish()
        np.testing.assert_array_equal(target, source)


def two_tags() -> None:
    """From the first rank to the last; they do not list the messages in the same order."""
    first, second = np.zeros(10), np.zeros(10)
    receives = [(second, 0, 2), (first, 0, 1)] if rank == size - 1 else []
    sends = [(np.full(10, 1.0), size - 1, 1), (np.full(10, 2.0), size - 1, 2)] if rank == 0 else []
    exchange = comm.exchange(receives, sends)
    for _ in range(10):
        exchange.start_receives()
        exchange.start_sends()
        exchange.finish()
    if rank == size - 1:
        assert np.all(first == 1)
        assert np.all(second == 2)


def wrong_messages() -> None:
    array = np.zeros(4)
    with pytest.raises(RuntimeError, match=f"message from rank {size + 3} with tag 0: "):
        comm.exchange([(array, size + 3, 0)], [])
    with pytest.raises(RuntimeError, match=f"message to rank {size} with tag 0: "):
        comm.exchange([], [(array, 0, 0), (array, size, 0)])
    with pytest.raises(RuntimeError, match="message to rank 0 with tag -5: "):
        comm.exchange([], [(array, 0, -5)])
    huge = np.empty(2**31, np.uint8)  # of which no page is touched
    with pytest.raises(RuntimeError, match="2147483648 bytes are more"):
        comm.exchange([(huge, 0, 0)], [])
    with pytest.raises(ValueError, match="receives: C-contiguous"):
        comm.exchange([(array[::2], 0, 0)], [])
    array.flags.writeable = False
    with pytest.raises(ValueError, match="receives: a writeable"):
        comm.exchange([(array, 0, 0)], [])


def a_message_that_is_too_long() -> None:
    """It is named; and those that have not arrived are given up with the exchange."""
    if size == 1:  # Open MPI cuts a message to the rank itself without a word
        return
    short, never = np.zeros(1), np.zeros(1)
    exchange = comm.exchange([(short, left, 9), (never, left, 11)], [(np.zeros(2), right, 9)])
    exchange.start_receives()
    exchange.start_sends()
    with pytest.raises(RuntimeError, match=f"message from rank {left} with tag 9: "):
        exchange.finish()
    comm.barrier()


def without_its_communicator() -> _core.Exchange:
    """An exchange may outlive the communicator that made it."""
    other = ranks.communicator(world)
    assert other is not None
    array = np.zeros(3)
    exchange = other.exchange([(array, left, 0)], [(np.full(3, 4.0), right, 0)])
    del other
    gc.collect()
    exchange.start_receives()
    exchange.start_sends()
    exchange.finish()
    assert np.all(array == 4)
    return exchange


ring_with_changing_contents()
two_at_once_beside_the_users_messages()
to_itself()
two_tags()
wrong_messages()
a_message_that_is_too_long()
exchange = without_its_communicator()
if "finalize" in sys.argv:
    MPI.Finalize()
    exchange = comm = None  # they end after MPI
    gc.collect()
print(f"rank {rank} of {size} is done\n", end="", flush=True)
