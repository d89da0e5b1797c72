"""The last rank fails in the way that the argument names, while the others wait for it."""

import sys
import threading
import time

from mpi4py import MPI

from lbmgpu.parallel import ranks

world = MPI.COMM_WORLD
comm = ranks.communicator(world)
assert comm is not None
ranks.end_all_on_error(world)
ranks.end_all_on_error(world)


def fail() -> None:
    raise ArithmeticError("this rank gives up")


comm.barrier()
if comm.rank == comm.size - 1:
    if sys.argv[1] == "interrupt":
        raise KeyboardInterrupt
    if sys.argv[1] == "thread":
        leaves = threading.Thread(target=sys.exit)  # no failure
        leaves.start()
        leaves.join()
        threading.Thread(target=fail).start()
        time.sleep(100)
    fail()
comm.barrier()
time.sleep(100)
