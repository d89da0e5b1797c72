"""Series of fields over ranks: the index over the files of all ranks has the fields of one process, bit by bit.

Regions that leave ranks without a cell, several blocks a rank, another number of blocks after a restart, and errors of
one rank, which all raise.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mpi4py import MPI

import lbmgpu as lbm

world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
SHAPE = (10, 9, 12)
FIELDS = ("density", "velocity", "vorticity")
folder = Path(sys.argv[1])


def solver_of(layout: Any, comm: Any = world) -> lbm.Solver:
    domain = lbm.Domain(SHAPE, "D3Q19")
    domain.faces["-z"] = lbm.NoSlip()
    domain.faces["+z"] = lbm.MovingWall((0.05, 0.02, 0))
    stone = np.zeros(SHAPE, dtype=bool)
    stone[3:6, 2:5, 4:8] = True
    domain.add_body(stone, "stone")
    return lbm.Solver(domain, lbm.BGK(0.05), layout=layout, comm=comm, threads=1)


def layout_of(*parts: int) -> lbm.Layout:
    return lbm.Layout.split(SHAPE, parts, ranks=[k % size for k in range(int(np.prod(parts)))])


def expected(every: int, steps: int, region: Any) -> dict[str, list[np.ndarray]]:
    """The fields of one process."""
    alone = solver_of(None, MPI.COMM_SELF)
    found: dict[str, list[np.ndarray]] = {name: [] for name in FIELDS}
    for step in range(0, steps + 1, every):
        alone.step(step - alone.steps)
        for name in FIELDS:
            found[name].append(getattr(alone, name)(region=region))
    return found | {"solid": [alone.solid[region]]}


def compare(series: lbm.Series, every: int, steps: int, region: Any) -> None:
    wanted = expected(every, steps, region)
    if rank == 0:
        assert series.steps == tuple(range(0, steps + 1, every)), series.steps
        data = series.open()
        for name in FIELDS:
            np.testing.assert_array_equal(data[name], np.stack(wanted[name]))
        np.testing.assert_array_equal(data.solid, wanted["solid"][0])


def test_formats_and_regions() -> None:
    number = 0
    for layout in (layout_of(1, 1, size), layout_of(2, size, 2)):
        for region in (np.s_[:, :, :], np.s_[2:9:2, :, 1], np.s_[1:3, 1:4, ::3]):
            for format in ("vtkhdf", "zarr"):
                solver = solver_of(layout)
                number += 1
                series = lbm.Series(folder / f"flow{number}", FIELDS, 3, region=region, format=format)
                solver.record(series)
                solver.run(7)
                compare(series, 3, 6, region)


def test_images() -> None:
    solver = solver_of(layout_of(2, 1, size))
    series = solver.record(lbm.Series(folder / "images", FIELDS, 3, format="vti"))
    solver.run(3)
    if rank == 0:
        from vtkmodules.util.numpy_support import vtk_to_numpy
        from vtkmodules.vtkIOXML import vtkXMLPImageDataReader

        assert series.path.read_text().count("<DataSet") == 2
        reader = vtkXMLPImageDataReader()
        reader.SetFileName(str(folder / "images" / "000000000003.pvti"))
        reader.Update()
        velocity = vtk_to_numpy(reader.GetOutput().GetCellData().GetArray("velocity"))
    alone = solver_of(None, MPI.COMM_SELF)
    alone.step(3)
    if rank == 0:
        np.testing.assert_array_equal(velocity.reshape(*SHAPE[::-1], 3).T, alone.velocity())


def test_restart_with_other_blocks() -> None:
    solver = solver_of(layout_of(1, 1, size))
    solver.record(lbm.Series(folder / "again", FIELDS, 3))
    solver.run(6)
    solver.save(folder / "state.h5")
    solver.run(6)
    other = solver_of(layout_of(size, 2, 1))
    other.restore(folder / "state.h5")
    series = other.record(lbm.Series(folder / "again", FIELDS, 3))
    series.flush()
    if rank == 0:
        assert series.steps == (0, 3, 6)
    other.run(9)
    compare(series, 3, 15, np.s_[:, :, :])


def test_errors_of_one_rank() -> None:
    solver = solver_of(layout_of(1, 1, size))
    series = solver.record(lbm.Series(folder / "fails", FIELDS, 3))
    solver.run(3)
    if rank == size - 1:
        write = series._files.write_frame

        def fail(*arguments: Any) -> None:
            raise OSError(28, "No space left on device", "fails/of/this/rank")

        series._files.write_frame = fail
    with pytest.raises(OSError, match="fails/of/this/rank"):
        solver.run(3)
    if rank == size - 1:
        series._files.write_frame = write
    assert series.steps == ((0, 3) if rank == 0 else ())
    solver.run(3)
    assert series.steps == ((0, 3, 9) if rank == 0 else ())


test_formats_and_regions()
test_images()
test_restart_with_other_blocks()
test_errors_of_one_rank()
print(f"rank {world.Get_rank()} of {world.Get_size()} is done")
