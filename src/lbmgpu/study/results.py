"""Results of cases: what a function returns as an xarray.Dataset, its file, and the dataset of a whole study."""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import checks
from ..files.atomic_write import naming
from .parameters import MOST_DIGITS, TAKEN, ParameterTable, shown
from .records import DONE, PARTS, Record

if TYPE_CHECKING:
    import pandas
    import xarray

CASE = "case"
_TIMES = "lbmgpu_has_times"
"""An attribute of files with times, which are to be read as such."""
_CONVENTIONS = frozenset(
    ("_FillValue", "missing_value", "scale_factor", "add_offset", "_Unsigned", "_Encoding", "dtype", "coordinates")
)
_CONVENTIONS_OF_TIMES = frozenset(("units", "calendar"))
"""Attributes by which values are others, or cannot be written, where a reader goes by the conventions of netCDF."""
_MEANT_OTHERWISE = "lbmgpu_kept_"
"""How such attributes of a result begin in its file."""


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


def h5netcdf_error() -> type[Exception]:
    """What h5netcdf raises where a number is none that netCDF has."""
    import h5netcdf

    error: type[Exception] = h5netcdf.CompatibilityError
    return error


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
        found: xarray.Dataset = result
    elif isinstance(result, Mapping):
        found = xr.Dataset({_named(name): _variable(xr, name, value) for name, value in result.items()})
    else:
        raise TypeError(
            f"function: {checks.shown(result)} returned, must be a dict of numbers and arrays, or an xarray.Dataset"
        )
    for name in [*found.variables, *found.dims]:
        if name in (*parameters, *TAKEN):
            raise ValueError(f"function: a result named {name!r}, which the study's dataset has already")
    return found


def write(path: Path, result: xarray.Dataset) -> None:
    """Write a result whole or not at all, as netCDF 4, or as HDF5 where it has numbers that are not in that."""
    part = path.with_name(f"{PARTS}{os.getpid()}-{threading.get_ident()}-{path.name}")
    result = _without_conventions(result)
    try:
        with naming(path):
            try:
                result.to_netcdf(part, engine="h5netcdf")
            except h5netcdf_error():  # complex numbers, float16 and the like
                result.to_netcdf(part, engine="h5netcdf", invalid_netcdf=True)
            descriptor = os.open(part, os.O_RDONLY | os.O_CLOEXEC)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            os.replace(part, path)
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def read(path: Path, variables: Sequence[str] | None = None) -> xarray.Dataset:
    """A result with its values in memory; of given `variables` those alone, and the coordinates.

    Raises:
        OSError: the file is not there, or damaged.
    """
    xr = load_xarray()
    try:
        with xr.open_dataset(path, engine="h5netcdf", decode_times=False, cache=False) as found:
            has_times = _TIMES in found.attrs
            if variables is not None:
                found = found[[name for name in found.data_vars if name in variables]]
            loaded: xarray.Dataset = found.load()
        if has_times:
            loaded = xr.decode_cf(loaded, decode_timedelta=True).load()
            del loaded.attrs[_TIMES]
    except (KeyError, ValueError, RuntimeError) as error:
        raise OSError(f"{path}: cannot be read as a result ({checks.reason(error)})") from error
    loaded.encoding = {}
    wholes: list[Any] = [loaded, *loaded.variables.values()]
    for whole in wholes:
        whole.attrs = {str(key).removeprefix(_MEANT_OTHERWISE): value for key, value in whole.attrs.items()}
    for name, variable in loaded.variables.items():
        variable.encoding = {}  # how the file keeps it is nothing of the result
        if variable.dtype.kind == "O" and all(isinstance(value, str) for value in variable.values.flat):
            loaded[name] = variable.astype(str) if variable.size else variable.astype("<U1")
    return loaded


def _without_conventions(result: xarray.Dataset) -> xarray.Dataset:
    """The same values without anything by which they would be others once they are written and read again.

    That is how a file packed them that they were read from, and attributes that say that they are packed.
    """
    result = result.drop_encoding()
    names = set(_CONVENTIONS)
    if any(variable.dtype.kind in "mM" for variable in result.variables.values()):
        result = result.assign_attrs({_TIMES: 1})
        names |= _CONVENTIONS_OF_TIMES
    result.attrs = _renamed(result.attrs, names)
    changed: dict[Any, Any] = {
        name: one.copy(deep=False) for name, one in result.variables.items() if names & set(one.attrs)
    }
    for one in changed.values():
        one.attrs = _renamed(one.attrs, names)
    return result.assign_coords({name: one for name, one in changed.items() if name in result.coords}).assign(
        {name: one for name, one in changed.items() if name not in result.coords}
    )


def _renamed(attributes: Mapping[Any, Any], names: Collection[str]) -> dict[Any, Any]:
    return {f"{_MEANT_OTHERWISE}{key}" if key in names else key: value for key, value in attributes.items()}


def assemble(
    table: ParameterTable, records: Sequence[Record], found: Sequence[xarray.Dataset | None]
) -> xarray.Dataset:
    """The dataset of a study: of a grid over its parameters, else over ``case``.

    What a case lacks, because it has no result or a shorter array, is NaN or an empty text; integers and bools that
    lack some become float64. Cases without a result are told by ``status`` and ``message``.

    Raises:
        ValueError: a variable has other dimensions in one case than in another, or is a text there and a number here.
    """
    xr = load_xarray()
    present = [one for one in found if one is not None]
    shared = {str(name) for one in present for name in one.coords if str(name) not in one.dims}
    aligned = _aligned(xr, [None if one is None else one.reset_coords() for one in found])
    variables: dict[str, tuple[tuple[str, ...], Any]] = {}
    sizes: dict[str, int] = {}
    for one in aligned:
        for dim, size in {} if one is None else one.sizes.items():
            sizes[str(dim)] = max(size, sizes.get(str(dim), 0))
    names = list(dict.fromkeys(str(name) for one in aligned if one is not None for name in one.data_vars))
    for name in names:
        parts = [None if one is None else one.variables.get(name) for one in aligned]
        variables[name] = _stacked(name, parts, sizes, [str(case) for case in table.sets])
    coordinates: dict[str, Any] = {}
    for one in aligned:
        if one is not None:
            coordinates |= {str(name): one[name].variable for name in one.coords}
    variables["status"] = ((), np.array([record.status for record in records], dtype=str))
    messages = ["" if record.status == DONE else record.message for record in records]
    variables["message"] = ((), np.array(messages, dtype=str))

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
    result: xarray.Dataset = xr.Dataset(data, coords=coordinates).set_coords(sorted(shared))
    if present:
        result.attrs.update(present[0].attrs)
        for name in names:
            with suppress(KeyError):
                result[name].attrs.update(next(one[name].attrs for one in present if name in one.variables))
    return result


def flat_table(found: xarray.Dataset) -> pandas.DataFrame:
    """The dataset of a study with a row for each case; arrays have a column for each entry, ``force[cylinder,x]``."""
    import pandas

    leading = tuple(found["status"].dims)
    columns: dict[str, Any] = {}
    for name in leading if leading != (CASE,) else [n for n in found.coords if found[n].dims == (CASE,)]:
        columns[str(name)] = np.broadcast_to(
            found[name].values.reshape([-1 if dim in found[name].dims else 1 for dim in leading]), found["status"].shape
        ).ravel()
    for name, variable in found.data_vars.items():
        own = [dim for dim in variable.dims if dim not in leading]
        labels = [found[dim].values if dim in found.coords else range(found.sizes[dim]) for dim in own]
        values = variable.transpose(*leading, *own).values.reshape(found["status"].size, -1)
        for number, entry in enumerate(itertools.product(*labels)):
            columns[f"{name}[{','.join(map(str, entry))}]" if own else str(name)] = values[:, number]
    return pandas.DataFrame(columns)


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


def _aligned(xr: Any, found: Sequence[xarray.Dataset | None]) -> list[xarray.Dataset | None]:
    """The results with the same coordinates along their dimensions: those of all of them."""
    present = [one for one in found if one is not None]
    bare = {dim for one in present for dim in one.dims if dim not in one.coords}  # those axes have but a length
    present = [one.drop_vars([name for name in one.coords if name in bare]) for one in present]
    first: dict[Any, Any] = {}
    differ = any(
        not first.setdefault(name, one.variables[name]).equals(one.variables[name])
        for one in present
        for name in one.coords
    )
    rest = iter(xr.align(*present, join="outer", exclude=bare) if differ else present)
    return [None if one is None else next(rest) for one in found]


def _stacked(
    name: str, parts: Sequence[Any], sizes: Mapping[str, int], cases: Sequence[str]
) -> tuple[tuple[str, ...], Any]:
    """The values of a variable in all cases, the case first; None is a case without it."""
    there = [(number, part) for number, part in enumerate(parts) if part is not None]
    number, first = there[0]
    dims = tuple(str(dim) for dim in first.dims)
    is_text = _is_text(first.dtype)
    for other, part in there:
        if tuple(part.dims) != dims or _is_text(part.dtype) != is_text:
            raise ValueError(
                f"the result {name!r} is {_shown(first)} in the case {cases[number]}, and {_shown(part)} in the case "
                f"{cases[other]}; results([NAME, ...]) gives the others, ask(...) that of one case"
            )
    shape = tuple(sizes[dim] for dim in dims)
    missing = len(there) < len(parts) or any(part.shape != shape for _, part in there)
    arrays = [np.where(part.isnull(), "", part.values).astype(str) if is_text else part.values for _, part in there]
    dtype = np.result_type(*arrays)
    if not missing:
        return dims, np.stack(arrays).astype(dtype)
    fill: Any = np.nan
    if dtype.kind in "US":
        fill = dtype.type()
    elif dtype.kind in "mM":
        fill = np.array("NaT", dtype)
    elif dtype.kind in "biu":
        dtype = np.dtype(np.float64)
    stacked = np.full((len(parts), *shape), fill, dtype)
    for (number, _), array in zip(there, arrays, strict=True):
        index: tuple[int | slice, ...] = (number, *(slice(size) for size in array.shape))
        stacked[index] = array
    return dims, stacked


def _is_text(dtype: np.dtype[Any]) -> bool:
    return dtype.kind in "OUS"  # as objects where a text is missing


def _shown(part: Any) -> str:
    kind = "a text" if _is_text(part.dtype) else "a number"
    return f"{kind} over {', '.join(map(str, part.dims))}" if part.dims else kind


def _coordinate(values: list[Any]) -> Any:
    """The values of a parameter as a coordinate: numbers, texts and bools themselves, others as they are shown."""
    if all(isinstance(value, bool) for value in values) or all(isinstance(value, str) for value in values):
        return np.array(values)
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
        return np.array(values)
    short, exact = ([shown(value, digits) for value in values] for digits in (6, MOST_DIGITS))
    return np.array(short if len(set(short)) == len(set(exact)) else exact)
