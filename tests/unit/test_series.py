"""Series of fields: what is in their files, as VTK's reader and xarray see them."""

from __future__ import annotations

import warnings
from pathlib import Path
from time import sleep
from typing import Any

import h5py
import numpy as np
import pytest
import xarray
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkCommonExecutionModel import vtkStreamingDemandDrivenPipeline
from vtkmodules.vtkIOHDF import vtkHDFReader
from vtkmodules.vtkIOXML import vtkXMLPImageDataReader

import lbmgpu as lbm

from .support import cavity, cube, shape_of

REGIONS: list[tuple[Any, Any]] = [
    (None, 1),
    (None, 2),
    (np.s_[1:, 2:4], 1),
    (np.s_[3], (1, 2, 1)),
    (np.s_[..., -1], 1),
    (np.s_[::2, 1:5:2], (2, 1, 1)),
]


def solver_of(stencil: str = "D3Q19", **options: Any) -> lbm.Solver:
    shape = shape_of(stencil)
    domain = cavity(shape, stencil)
    domain.add_body(cube(shape), "cube")
    return lbm.Solver(domain, lbm.BGK(0.05), **options)


def cells_of(array: np.ndarray, region: Any, stride: Any, dimensions: int) -> np.ndarray:
    """The cells of ``[..., x, y[, z]]`` that a series keeps, by NumPy, without axes of a single number."""
    region = region if isinstance(region, tuple) else (region,) if region is not None else ()
    if Ellipsis in region:
        at = region.index(Ellipsis)
        fill = (slice(None),) * (dimensions - len(region) + 1)
        region = (*region[:at], *fill, *region[at + 1 :])
    region = (*region, *(slice(None),) * (dimensions - len(region)))
    strides = stride if isinstance(stride, tuple) else (stride,) * dimensions
    array = array[(..., *region)]
    kept = [s for s, index in zip(strides, region, strict=True) if isinstance(index, slice)]
    return array[(..., *(slice(None, None, s) for s in kept))]


def images(path: Path) -> list[tuple[float, dict[str, np.ndarray], Any]]:
    """Time, fields ``[component, x, y, z]`` and image of each time, as VTK's own reader gives them."""
    reader = vtkHDFReader()
    reader.SetFileName(str(path))
    reader.UpdateInformation()
    known, key = reader.GetOutputInformation(0), vtkStreamingDemandDrivenPipeline.TIME_STEPS()
    with h5py.File(path) as file:
        times = file["VTKHDF/Steps/Values"][...].tolist()
    assert len(times) == 1 or [known.Get(key, k) for k in range(known.Length(key))] == times
    found = []
    for time in times:
        reader.UpdateTimeStep(time)
        image = reader.GetOutput()
        found.append((time, fields_of(image), image.GetDimensions()))
    return found


def fields_of(image: Any) -> dict[str, np.ndarray]:
    data = image.GetCellData()
    deep = [n - 1 for n in image.GetDimensions()][::-1]
    return {
        data.GetArrayName(k): vtk_to_numpy(data.GetArray(k)).reshape(*deep, -1).T
        for k in range(data.GetNumberOfArrays())
    }


@pytest.mark.parametrize("stencil", ["D2Q9", "D3Q19"])
@pytest.mark.parametrize("precision", ["float16", "float32", "float64"])
def test_vtk_reads_all_times(stencil: str, precision: str, tmp_path: Path) -> None:
    solver = solver_of(stencil)
    series = solver.record(
        lbm.Series(tmp_path / "flow", ("velocity", "pressure", "vorticity"), every=4, precision=precision)
    )
    states = [(solver.velocity(), solver.pressure(), solver.vorticity())]
    for _ in range(3):
        solver.run(4)
        states.append((solver.velocity(), solver.pressure(), solver.vorticity()))
    assert series.path == tmp_path / "flow.vtkhdf"
    assert series.steps == (0, 4, 8, 12)
    found = images(series.path)
    assert [time for time, _, _ in found] == [0, 4, 8, 12]
    for (_, fields, _), (velocity, pressure, vorticity) in zip(found, states, strict=True):
        expected = [field.astype(precision) for field in (velocity, pressure, vorticity)]
        deep = (*velocity.shape[1:], 1)[:3]
        assert fields["velocity"].shape == (3, *deep)
        np.testing.assert_array_equal(fields["velocity"][: len(velocity)], expected[0].reshape(-1, *deep))
        assert not fields["velocity"][len(velocity) :].any()
        np.testing.assert_array_equal(fields["pressure"][0], expected[1].reshape(deep))
        np.testing.assert_array_equal(fields["vorticity"], expected[2].reshape(-1, *deep))
        np.testing.assert_array_equal(fields["solid"][0], solver.solid.reshape(deep))


@pytest.mark.parametrize("format", ["vtkhdf", "zarr"])
@pytest.mark.parametrize("compression", [0, 1, 9])
@pytest.mark.parametrize("stencil", ["D2Q9", "D3Q19"])
def test_xarray_has_the_values(format: str, compression: int, stencil: str, tmp_path: Path) -> None:
    solver = solver_of(stencil, precision="float64")
    series = lbm.Series(
        tmp_path / "flow", ["density", "velocity"], 2, precision="float64", format=format, compression=compression
    )
    solver.record(series)
    solver.run(3)
    velocity = solver.velocity()
    solver.run(1)
    data = series.open()
    assert isinstance(data, xarray.Dataset)
    assert data.step.values.tolist() == data.time.values.tolist() == [0, 2, 4]
    np.testing.assert_array_equal(data.velocity.sel(time=4), solver.velocity())
    np.testing.assert_array_equal(data.density[2], solver.density())
    np.testing.assert_array_equal(data.solid, solver.solid)
    np.testing.assert_array_equal(data.x, np.arange(solver.domain.shape[0]) + 0.5)
    index = {"time": 2, "x": slice(1, None, 2), "y": 3, "component": 1}
    np.testing.assert_array_equal(data.velocity.isel(index), solver.velocity()[1, 1::2, 3])
    np.testing.assert_array_equal(data.velocity.isel(x=[4, 1], time=-1)[:, :, 1], solver.velocity()[:, [4, 1], 1])
    assert not np.array_equal(velocity, solver.velocity())


@pytest.mark.parametrize(("region", "stride"), REGIONS)
@pytest.mark.parametrize("format", ["vtkhdf", "zarr"])
def test_regions_and_strides(region: Any, stride: Any, format: str, tmp_path: Path) -> None:
    solver = solver_of()
    series = lbm.Series(
        tmp_path / "flow", ("velocity", "speed"), 5, start=5, region=region, stride=stride, format=format
    )
    solver.record(series)
    solver.run(5)
    data = series.open()
    assert data.step.values.tolist() == [5]
    for name, field in (("velocity", solver.velocity()), ("speed", solver.speed()), ("solid", solver.solid)):
        stored = data[name] if name == "solid" else data[name][0]
        np.testing.assert_array_equal(stored, cells_of(field, region, stride, 3))


@pytest.mark.parametrize(("region", "stride"), REGIONS)
def test_cells_are_where_they_were(region: Any, stride: Any, tmp_path: Path) -> None:
    units = lbm.Units(length_phys=0.5, time_phys=0.25, density_phys=1000.0)
    solver = solver_of()
    x, y, z = np.meshgrid(*(np.arange(n) + 0.5 for n in solver.domain.shape), indexing="ij")
    series = lbm.Series(tmp_path / "flow", ["velocity"], region=region, stride=stride, units=units)
    solver.initialize(velocity=np.stack([x, y, z]) / 100)
    solver.record(series)
    series.flush()
    data = series.open()
    velocity = cells_of(solver.velocity(), region, stride, 3)
    np.testing.assert_allclose(data.velocity[0], velocity * 2, rtol=1e-6)
    fluid = ~cells_of(solver.solid, region, stride, 3)
    for k, axis in enumerate("xyz"):
        place = cells_of(np.stack([x, y, z])[k], region, stride, 3) * 0.5
        along = [name for name in "xyz" if name in data.velocity.dims]
        found = data[axis].broadcast_like(data.velocity[0, 0]).transpose(*along)
        np.testing.assert_allclose(found, place)
    assert fluid.any()
    with h5py.File(series.path) as file:
        head = file["VTKHDF"].attrs
        counts = head["WholeExtent"][1::2]
        for k, axis in enumerate("xyz"):
            centres = head["Origin"][k] + (np.arange(counts[k]) + 0.5) * head["Spacing"][k]
            np.testing.assert_allclose(centres, np.atleast_1d(data[axis].values))


def test_images_have_times_and_spacing(tmp_path: Path) -> None:
    units = lbm.Units(length_phys=0.5, time_phys=0.25)
    solver = solver_of()
    series = solver.record(lbm.Series(tmp_path / "flow.pvd", every=3, stride=(1, 2, 1), units=units, format="vti"))
    solver.run(6)
    text = series.path.read_text()
    assert [f'timestep="{time}"' in text for time in (0.0, 0.75, 1.5)] == [True] * 3
    reader = vtkXMLPImageDataReader()
    reader.SetFileName(str(tmp_path / "flow" / "000000000006.pvti"))
    reader.Update()
    image = reader.GetOutput()
    assert image.GetSpacing() == (0.5, 1.0, 0.5)
    fields = fields_of(image)
    np.testing.assert_allclose(fields["velocity"], solver.velocity()[:, :, ::2] * 2, rtol=1e-6)
    np.testing.assert_allclose(fields["density"][0], solver.density()[:, ::2], rtol=1e-6)
    np.testing.assert_array_equal(fields["solid"][0], solver.solid[:, ::2])
    with pytest.raises(ValueError, match="xarray does not read"):
        series.open()


def test_fields_of_a_temperature(tmp_path: Path) -> None:
    domain = lbm.Domain((6, 5), "D2Q9")
    solver = lbm.Solver(domain, lbm.BGK(0.05), thermal=lbm.HybridThermal(diffusivity=0.1))
    solver.initialize(temperature=lambda x, y: 0.1 * np.sin(x))
    series = solver.record(lbm.Series(tmp_path / "heat", ["temperature"], 2))
    solver.run(2)
    np.testing.assert_array_equal(series.open().temperature[1], solver.temperature())
    with pytest.raises(ValueError, match="temperature"):
        solver_of().record(lbm.Series(tmp_path / "none", ["temperature"]))
    assert not (tmp_path / "none").exists()


def test_a_recorded_frame_is_not_that_of_a_later_step(tmp_path: Path) -> None:
    solver = solver_of()
    series = solver.record(lbm.Series(tmp_path / "flow", ["velocity"]))
    expected = [solver.velocity()]
    for _ in range(20):
        solver.step(1)
        expected.append(solver.velocity())
    series.flush()
    np.testing.assert_array_equal(series.open().velocity, np.stack(expected))


def test_series_moves_with_its_folder(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    solver = solver_of()
    series = solver.record(lbm.Series(tmp_path / "a" / "flow", ["velocity"], 2))
    solver.run(4)
    (tmp_path / "a").rename(tmp_path / "b")
    found = images(tmp_path / "b" / series.path.name)
    np.testing.assert_array_equal(found[-1][1]["velocity"], solver.velocity())


def test_float16_says_what_it_cannot_hold(tmp_path: Path) -> None:
    units = lbm.Units(length_phys=1.0, time_phys=1e-8, density_phys=1000.0)
    solver = solver_of()
    series = lbm.Series(tmp_path / "flow", ["velocity"], 2, precision="float16", units=units)
    solver.record(series)
    with pytest.raises(ValueError, match="precision: 'float16' given, but 'velocity' has"):
        solver.run(4)
    assert series.steps == (0,)
    assert len(images(series.path)) == 1


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"fields": ["speeed"]}, "fields: 'speeed' given, must be one of .* did you mean 'speed'"),
        ({"fields": []}, "fields: .* must be one or more"),
        ({"fields": ["speed", "speed"]}, "fields: .* different"),
        ({"fields": ["step"]}, "fields: 'step' given"),
        ({"format": "vtk"}, "format: 'vtk' given"),
        ({"precision": "int8"}, "precision: 'int8' given"),
        ({"precision": "float16", "format": "vti"}, "precision: 'float16' given, which VTK images do not have"),
        ({"compression": 10}, "compression: 10 given"),
        ({"compression": 1, "format": "vti"}, "compression: 1 given, must be 0"),
        ({"path": "flow.vti"}, "path: flow.vti given, must end in .vtkhdf"),
        ({"path": "flow.zarr"}, "path: flow.zarr given, must end in .vtkhdf"),
        ({"every": 0}, "every: 0 given"),
        ({"stride": 0}, "stride: 0 given"),
        ({"stride": (1, 2)}, r"stride: \(1, 2\) given, must be an integer or 3"),
        ({"region": np.s_[9:]}, "region"),
        ({"region": np.s_[0, 0, 0, 0]}, "region"),
        ({"region": np.s_[7]}, "region"),
    ],
)
def test_wrong_arguments_are_refused(given: dict[str, Any], message: str, tmp_path: Path) -> None:
    solver = solver_of()
    path = tmp_path / "flow"
    with pytest.raises(ValueError, match=message):
        solver.record(lbm.Series(**({"path": path} | given)))
    assert not path.exists()
    assert solver.recorders == ()


@pytest.mark.parametrize("given", [{"fields": 1.0}, {"units": 1.0}, {"region": "all"}, {"stride": 1.5}])
def test_wrong_types_are_refused(given: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=next(iter(given))):
        solver_of().record(lbm.Series(tmp_path / "flow", **given))


def test_a_series_without_a_solver(tmp_path: Path) -> None:
    series = lbm.Series(tmp_path / "flow")
    for call in (series.open, series.flush):
        with pytest.raises(ValueError, match="has no solver yet"):
            call()


@pytest.mark.parametrize("format", ["vtkhdf", "zarr"])
@pytest.mark.parametrize(("region", "stride"), REGIONS)
@pytest.mark.parametrize("units", [None, lbm.Units(length_phys=0.01, time_phys=1e-4, density_phys=1.2)])
def test_a_series_is_read_without_a_solver(
    format: str, region: Any, stride: Any, units: lbm.Units | None, tmp_path: Path
) -> None:
    solver = solver_of()
    series = lbm.Series(
        tmp_path / "flow", ("velocity", "speed"), 2, region=region, stride=stride, units=units, format=format
    )
    solver.record(series)
    solver.run(5)
    expected = series.open().load()
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    for path in (series.path, tmp_path / "flow", str(tmp_path / "flow") + ("/" if format == "vtkhdf" else "")):
        found = lbm.open_series(path)
        assert found.step.values.tolist() == [0, 2, 4]
        assert "step" in found.coords
        xarray.testing.assert_identical(found.load(), expected)
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


def test_what_is_no_series_is_not_opened(tmp_path: Path) -> None:
    for path in ("flow", "flow.vtkhdf", "flow.zarr", "no/flow"):
        with pytest.raises(FileNotFoundError, match=f"path: {tmp_path / path} given, but there is no series"):
            lbm.open_series(tmp_path / path)
    with pytest.raises(TypeError, match="path: 1 given"):
        lbm.open_series(1)  # type: ignore[arg-type]
    solver = solver_of()
    solver.record(lbm.Series(tmp_path / "images", "speed", format="vti"))
    with pytest.raises(ValueError, match="format: 'vti' given, which xarray does not read"):
        lbm.open_series(tmp_path / "images.pvd")
    late = solver.record(lbm.Series(tmp_path / "late", "speed", start=5))
    with pytest.raises(FileNotFoundError, match=r"late\.vtkhdf: there is no frame yet"):
        lbm.open_series(late.path)
    for series in ("[]", "{}", '{"domain": [1e999]}', '{"format": "zarr", "domain": [4], "cells": ["a:b"]}'):
        (tmp_path / "bad.zarr").mkdir(exist_ok=True)
        text = f'{{"file": "lbmgpu series", "version": 1, "cuts": [], "frames": [], "series": {series}}}'
        (tmp_path / "bad.zarr" / "series.json").write_text(text)
        with pytest.raises((ValueError, TypeError), match=r"bad\.zarr"):
            lbm.open_series(tmp_path / "bad.zarr")


@pytest.mark.parametrize("format", ["vtkhdf", "zarr"])
@pytest.mark.parametrize("units", [None, lbm.Units(length_phys=0.01, time_phys=1e-4, density_phys=1.2)])
def test_datasets_name_their_units(format: str, units: lbm.Units | None, tmp_path: Path) -> None:
    solver = solver_of()
    fields = ("density", "velocity", "pressure", "vorticity", "dissipation")
    series = solver.record(lbm.Series(tmp_path / "flow", fields, 2, region=np.s_[:, 3], units=units, format=format))
    solver.run(4)
    plain = [xarray.open_zarr(series.path, chunks=None)] if format == "zarr" else []
    for data in (series.open(), lbm.open_series(series.path), *plain):
        assert {"time", "step", "x", "y", "z"} == set(data.coords)
        own = solver.to_xarray(fields, units=units)
        for name in (*fields, "solid", "x", "y", "z"):
            assert data[name].attrs == own[name].attrs, name
        assert data.time.attrs["units"] == ("steps" if units is None else "s")
        assert data.time.dtype == np.float64
        expected = {"units", "cell", "step_duration", "density_scale"} if units is not None else {"units"}
        assert data.attrs == {name: own.attrs[name] for name in expected}


@pytest.mark.parametrize("format", ["vtkhdf", "vti", "zarr"])
def test_later_frames_are_dropped_with_a_warning(format: str, tmp_path: Path) -> None:
    solver = solver_of()
    solver.record(lbm.Series(tmp_path / "flow", "velocity", 2, format=format))
    solver.run(4)
    solver.save(tmp_path / "state.h5")
    solver.run(6)
    before = set(tmp_path.rglob("*"))
    again = solver_of()
    again.restore(tmp_path / "state.h5")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(lbm.DroppedFramesWarning, match=r"later steps than this solver's 4: those of 6 to 10 \(3 f"):
            again.record(lbm.Series(tmp_path / "flow", "velocity", 2, format=format))
    assert set(tmp_path.rglob("*")) == before  # who makes it an error loses nothing
    if format != "vti":
        assert lbm.open_series(tmp_path / "flow").step.values.tolist() == [0, 2, 4, 6, 8, 10]
    with pytest.warns(lbm.DroppedFramesWarning):
        series = again.record(lbm.Series(tmp_path / "flow", "velocity", 2, format=format))
    assert series.steps == (0, 2, 4)
    again.save(tmp_path / "state.h5")
    same = solver_of()
    same.restore(tmp_path / "state.h5")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        same.record(lbm.Series(tmp_path / "flow", "velocity", 2, format=format)).flush()


@pytest.mark.parametrize("format", ["vtkhdf", "vti", "zarr"])
def test_steps_and_datasets_have_the_frame_of_now(format: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    solver = solver_of()
    series = lbm.Series(tmp_path / "flow", "velocity", 1, format=format)
    assert series.steps == ()
    write = series._write

    def slow(*arguments: Any) -> None:
        sleep(0.1)
        write(*arguments)

    monkeypatch.setattr(series, "_write", slow)
    solver.record(series)
    assert series.steps == (0,)
    solver.step(1)
    assert series.steps == (0, 1)
    solver.step(1)
    if format != "vti":
        assert series.open().step.values.tolist() == [0, 1, 2]
    assert series.steps == (0, 1, 2)


def test_a_missing_folder_is_named_as_it_was_given(tmp_path: Path) -> None:
    for name in ("flow", "flow.vtkhdf"):
        path = tmp_path / "no" / name
        with pytest.raises(FileNotFoundError, match=f"path: {path} given, but there is no folder {path.parent};"):
            solver_of().record(lbm.Series(path))


def test_a_single_name_is_a_field(tmp_path: Path) -> None:
    solver = solver_of()
    series = solver.record(lbm.Series(tmp_path / "flow", "speed"))
    np.testing.assert_array_equal(series.open().speed[0], solver.speed())
