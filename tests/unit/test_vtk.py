"""The VTK file holds the fields as VTK's own reader sees them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from reference.registry import FLOW_STENCILS
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkIOXML import vtkXMLImageDataReader

import lbmgpu as lbm

from .support import cavity, cube, shape_of


@pytest.mark.parametrize("stencil", FLOW_STENCILS)
@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize("name", ["fields.vti", "fields", "step.10"])
def test_reader_sees_the_fields(stencil: str, precision: str, name: str, tmp_path: Path) -> None:
    shape = tuple(n + 1 for n in shape_of(stencil))
    domain = cavity(shape, stencil)
    domain.add_body(cube(shape), "cube")
    solver = lbm.Solver(domain, lbm.BGK(0.1), precision=precision)
    solver.step(5)
    path = solver.write_vtk(tmp_path / name)
    assert path == tmp_path / (name if name.endswith(".vti") else f"{name}.vti")
    assert path.is_file()

    reader = vtkXMLImageDataReader()
    reader.SetFileName(str(path))
    reader.Update()
    image = reader.GetOutput()
    deep = (*shape, 1)[:3]
    assert image.GetDimensions() == tuple(n + 1 for n in deep)
    data = image.GetCellData()

    def array(name: str) -> np.ndarray:
        return vtk_to_numpy(data.GetArray(name))

    np.testing.assert_array_equal(array("density").reshape(deep[::-1]).T.reshape(shape), solver.density())
    np.testing.assert_array_equal(array("solid").reshape(deep[::-1]).T.reshape(shape), solver.solid)
    velocity = array("velocity")
    assert velocity.dtype == precision
    for component, field in enumerate(solver.velocity()):
        np.testing.assert_array_equal(velocity[:, component].reshape(deep[::-1]).T.reshape(shape), field)
    if len(shape) == 2:
        assert not velocity[:, 2].any()


def test_folder_that_is_not_there(tmp_path: Path) -> None:
    solver = lbm.Solver(lbm.Domain((4, 4), "D2Q9"), lbm.BGK(0.1))
    with pytest.raises(FileNotFoundError, match="no folder"):
        solver.write_vtk(tmp_path / "missing" / "fields.vti")
