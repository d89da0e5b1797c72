"""Results of cases: what a function returns as an xarray.Dataset, its file, and the dataset of a whole study."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import checks
from ..files.atomic_write import replacing
from .parameters import ParameterTable, shown
from .records import Record

if TYPE_CHECKING:
    import xarray

CASE = "case"
_OWN = ("status", "message", "seconds")
"""Variables that the dataset of a study has of its own."""


def load_xarray() -> Any:
    """The module xarray.

    Raises:
        ImportError: it is not there, with what to install.
    """
    try:
        import h5netcdf  # noqa: F401  # which writes and reads its files
        import xarray
    except ImportError as error:
        raise ImportError(f"studies need xarray and h5netcdf ({error}): pip install 'lbmgpu[study]'") from None
    return xarray


def dataset(result: Any, parameters: Sequence[str] = ()) -> xarray.Dataset:
    """What a study's function returned, as a dataset.

    Args:
        result: an xarray.Dataset, or a mapping of names to numbers, texts, arrays and xarray.DataArrays; an array's
            axes get the names ``NAME_0`` and so on. None is an empty one.
        parameters: names that variables of the result cannot have.

    Raises:
        TypeError, ValueError: none of these, or a name that is taken.
    """
    xr = load_xarray()
    if result is None:
        result = {}
    if isinstance(result, xr.Dataset):
        found = result
    elif isinstance(result, Mapping):
        found = xr.Dataset({_named(name): _variable(xr, name, value) for name, value in result.items()})
    else:
        raise TypeError(
            f"function: {checks.shown(result)} returned, must be a dict of numbers and arrays, or an xarray.Dataset"
        )
    for name in [*found.variables, *found.dims]:
        if name in (*parameters, CASE, *_OWN):
            raise ValueError(f"function: a result named {name!r}, which the study's dataset has already")
    return found


def write(path: Path, result: xarray.Dataset) -> None:
    """Write a result whole or not at all, as netCDF 4."""
    with tempfile.TemporaryDirectory() as folder:  # HDF5 locks what it writes, as `replacing` does
        whole = Path(folder) / "result.nc"
        result.to_netcdf(whole, engine="h5netcdf", invalid_netcdf=_has_complex(result))
        with replacing(path) as part:
            part.write_bytes(whole.read_bytes())


def read(path: Path) -> xarray.Dataset:
    """A result with its values in memory.

    Raises:
        OSError: the file is not there, or damaged.
    """
    xr = load_xarray()
    try:
        with xr.open_dataset(path, engine="h5netcdf", decode_times=False) as found:
            loaded: xarray.Dataset = found.load()
    except (KeyError, ValueError, RuntimeError) as error:
        raise OSError(f"{path}: cannot be read as a result ({checks.reason(error)})") from error
    for variable in loaded.variables.values():  # how the file keeps it is nothing of the result
        variable.encoding = {}
    return loaded


def assemble(
    table: ParameterTable, records: Sequence[Record], found: Sequence[xarray.Dataset | None]
) -> xarray.Dataset:
    """The dataset of a study: of a grid over its parameters, else over ``case``.

    What a case lacks, because it has no result or a shorter array, is NaN, an empty text or None; integers and bools
    that lack some become float64. Cases without a result are told by ``status`` and ``message``.

    Raises:
        ValueError: a variable has other dimensions in one case than in another.
    """
    xr = load_xarray()
    aligned = _aligned(xr, found)
    variables: dict[str, tuple[tuple[str, ...], Any]] = {}
    names = list(dict.fromkeys(str(name) for one in aligned if one is not None for name in one.data_vars))
    for name in names:
        variables[name] = _stacked(name, [None if one is None else one.get(name) for one in aligned])
    coordinates: dict[str, Any] = {}
    for one in aligned:
        if one is not None:
            coordinates |= {str(name): one[name] for name in one.coords if str(name) in one.dims}
    variables["status"] = ((), np.array([record.status for record in records], dtype=str))
    variables["message"] = ((), np.array([record.message for record in records], dtype=str))
    variables["seconds"] = ((), np.array([record.seconds for record in records]))

    if table.axes is None:
        leading: tuple[str, ...] = (CASE,)
        shape: tuple[int, ...] = (len(records),)
        for name in table.names:
            coordinates[name] = (CASE, _coordinate([case.values[name] for case in table.sets]))
    else:
        leading = tuple(table.axes)
        shape = tuple(len(values) for values in table.axes.values())
        for name, values in table.axes.items():
            coordinates[name] = (name, _coordinate(values))
    data = {
        name: ((*leading, *dims), np.reshape(values, (*shape, *values.shape[1:])))
        for name, (dims, values) in variables.items()
    }
    result: xarray.Dataset = xr.Dataset(data, coords=coordinates)
    attributes = next((one for one in found if one is not None), None)
    if attributes is not None:
        result.attrs.update(attributes.attrs)
        for name in names:
            with suppress(KeyError):
                result[name].attrs.update(next(one[name].attrs for one in found if one is not None and name in one))
    return result


def _named(name: Any) -> str:
    if not isinstance(name, str) or not name or "/" in name:
        raise ValueError(f"function: a result named {checks.shown(name)}, must be a text without '/'")
    return name


def _variable(xr: Any, name: str, value: Any) -> Any:
    if isinstance(value, xr.DataArray | xr.Variable):
        return value
    array = np.asarray(value)
    if array.dtype == object or array.dtype.kind not in "biufcUSMm":
        raise TypeError(
            f"function: the result {name!r} is {checks.shown(value)}, must be a number, a text, an array or a DataArray"
        )
    return xr.Variable([f"{name}_{axis}" for axis in range(array.ndim)], array)


def _has_complex(result: xarray.Dataset) -> bool:
    return any(variable.dtype.kind == "c" for variable in result.variables.values())


def _aligned(xr: Any, found: Sequence[xarray.Dataset | None]) -> list[xarray.Dataset | None]:
    """The results with the same coordinates: those of all of them, and axes without coordinates as long as the longest."""
    present = [one for one in found if one is not None]
    sizes: dict[Any, int] = {}
    labelled = {dim for one in present for dim in one.dims if dim in one.coords}
    for one in present:
        for dim, size in one.sizes.items():
            if dim not in labelled:
                sizes[dim] = max(size, sizes.get(dim, 0))
    padded = []
    for one in present:
        short = {dim: (0, sizes[dim] - size) for dim, size in one.sizes.items() if sizes.get(dim, size) > size}
        padded.append(one.pad(short) if short else one)
    if labelled:
        padded = list(xr.align(*padded, join="outer"))
    rest = iter(padded)
    return [None if one is None else next(rest) for one in found]


def _stacked(name: str, parts: Sequence[Any]) -> tuple[tuple[str, ...], Any]:
    """The values of a variable in all cases, the case first; None is a case without it."""
    present = [part for part in parts if part is not None]
    dims = tuple(str(dim) for dim in present[0].dims)
    for part in present:
        if tuple(part.dims) != dims:
            raise ValueError(f"the result {name!r} has the dimensions {dims} in one case and {part.dims} in another")
    arrays = [part.values for part in present]
    dtype = np.result_type(*arrays) if all(array.dtype.kind != "O" for array in arrays) else np.dtype(object)
    missing = len(present) < len(parts)
    fill: Any = None
    if dtype.kind in "US":
        fill = dtype.type()
    elif dtype.kind in "mM":
        fill = np.array("NaT", dtype)
    elif dtype.kind != "O":
        fill = np.nan
        if missing and dtype.kind in "biu":
            dtype = np.dtype(np.float64)
    stacked = np.full((len(parts), *arrays[0].shape), fill, dtype) if missing else np.stack(arrays).astype(dtype)
    if missing:
        for number, part in enumerate(parts):
            if part is not None:
                stacked[number] = part.values
    return dims, stacked


def _coordinate(values: list[Any]) -> Any:
    """The values of a parameter as a coordinate: numbers, texts and bools themselves, others as they are shown."""
    if all(isinstance(value, bool) for value in values) or all(isinstance(value, str) for value in values):
        return np.array(values)
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        return np.array(values)
    return np.array([value if isinstance(value, str) else shown(value) for value in values])
