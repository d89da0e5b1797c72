"""Opens a series as a dataset of xarray, of which values are read where they are used."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np
import xarray
from xarray.backends import BackendArray
from xarray.core import indexing

from .series_plan import Plan, attributes, attributes_of, coordinates
from .series_selection import AXES


class _Field(BackendArray):
    """A field of the index in VTKHDF, with the axes time, component, x, y, z.

    Args:
        path: of the index.
        name: of the field.
        shape: with these axes, of which the file may have more components.
        has_components: whether it has that axis.
    """

    def __init__(
        self, path: Path, name: str, shape: tuple[int, ...], has_components: bool, dtype: np.dtype[Any]
    ) -> None:
        self._path, self._name, self._has_components = path, name, has_components
        self.shape, self.dtype = shape, dtype

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        return indexing.explicit_indexing_adapter(key, self.shape, indexing.IndexingSupport.BASIC, self._read)

    def _read(self, key: tuple[Any, ...]) -> Any:
        whole = [
            slice(*index.indices(n)) if isinstance(index, slice) else index
            for index, n in zip(key, self.shape, strict=True)
        ]
        time, *components = whole[: 1 + self._has_components]
        space = whole[1 + self._has_components :]
        deep = [*space, *[0] * (3 - len(space))]
        with h5py.File(self._path) as file:
            data = file["VTKHDF/CellData"][self._name]
            where = (*deep[::-1], *components)
            is_alone = data.ndim == len(where)  # a single time has no axis of time
            found = np.asarray(data[where])[None][time] if is_alone else np.asarray(data[(time, *where)])
        # the file's order is time, z, y, x, component
        kept = [k for k, index in enumerate(whole) if isinstance(index, slice)]
        at_end = self._has_components and 1 in kept
        spatial = sum(k > self._has_components for k in kept)
        first = int(0 in kept)
        order = [*range(first), *([first + spatial] if at_end else []), *reversed(range(first, first + spatial))]
        return found.transpose(order)


def open_vtkhdf(plan: Plan, index: Path) -> xarray.Dataset:
    """The series over which there is this index."""
    with h5py.File(index) as file:
        times = file["VTKHDF/Steps/Values"][...]
        steps = file["VTKHDF/Steps/LatticeSteps"][...]
        dtypes = {name: data.dtype for name, data in file["VTKHDF/CellData"].items()}
    counts = plan.selection.counts
    names = list(AXES[: len(counts)])
    dataset = xarray.Dataset(coords={"time": times, "step": ("time", steps)})
    for name, components in {**plan.fields, "solid": 0}.items():
        shape = (1 if name == "solid" else len(times), *([components] if components else []), *counts)
        own = indexing.LazilyIndexedArray(_Field(index, name, shape, bool(components), dtypes[name]))
        array = xarray.Variable(["time", *plan.component_axis(name), *names], own)
        dataset[name] = array.isel(time=0) if name == "solid" else array
    dataset = dataset.assign_coords({name: (name, along) for name, along in coordinates(plan).items()})
    single = {name: 0 for name, axis in zip(names, plan.selection.axes, strict=True) if axis.is_single}
    for key, variable in dataset.variables.items():
        variable.attrs.update(attributes_of(plan, str(key)))
    return dataset.isel(single).assign_attrs(attributes(plan))


def open_zarr(folder: Path) -> xarray.Dataset:
    """The series in a folder of zarr."""
    dataset: xarray.Dataset = xarray.open_zarr(folder, chunks=None, consolidated=True)
    return dataset.set_coords([name for name in ("time", "step", *AXES) if name in dataset])
