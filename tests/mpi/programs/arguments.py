"""Checks that `lbmgpu.parallel.ranks` rejects unsuitable communicators.

These are null, freed and inter-communicators, what is no communicator, and any before MPI_Init or after MPI_Finalize.
"""

import mpi4py
import pytest

mpi4py.rc.initialize = False

from mpi4py import MPI  # noqa: E402

from lbmgpu import _core  # noqa: E402
from lbmgpu.parallel import ranks  # noqa: E402


def refused(error: type[Exception], words: str, comm: object) -> None:
    """All functions that take a communicator must refuse this one, with these words."""
    for function in (ranks.communicator, ranks.node_local, ranks.end_all_on_error):
        with pytest.raises(error, match=words):
            function(comm)


refused(RuntimeError, "not initialised", MPI.COMM_WORLD)
MPI.Init()
world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()

refused(TypeError, "must be None or an intracommunicator like MPI.COMM_WORLD", MPI.COMM_NULL)
refused(TypeError, "comm: 3 given", 3)
refused(TypeError, "given, must be None", MPI)
freed = world.Dup()
freed.Free()
refused(ValueError, "freed", freed)
if size > 1:
    between = world.Split(rank % 2).Create_intercomm(0, world, 1 - rank % 2)
    refused(TypeError, "intracommunicator", between)
with pytest.raises(RuntimeError, match=r"MPI_Get_library_version is not in the library that .*_core"):
    _core.mpi_communicator(_core.__file__, world.py2f())

MPI.Finalize()
refused(RuntimeError, "finalised", world)
print(f"rank {rank} of {size} is done\n", end="", flush=True)
