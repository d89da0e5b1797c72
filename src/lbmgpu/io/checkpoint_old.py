"""Reads checkpoints of format versions 1 to 3, whose arrays went through the filters of HDF5, and had its checksums."""

from __future__ import annotations

import math
import os
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from h5py import h5d, h5g, h5o, h5s
from numpy.typing import NDArray

from .. import checks
from ..errors import CheckpointError
from ..files.strict_json import parsed
from . import hdf5_tree
from .checkpoint_arrays import Arrays, check_size, is_of_cells
from .checkpoint_reader import Header, Window, reversed_axes
from .checkpoint_recorders import Kept
from .checkpoint_setup import array_names
from .checkpoint_writer import FORMAT, MAX_MANIFEST
from .hdf5_string_attributes import texts
from .hdf5_tree import DEFLATE, FLETCHER32, SHUFFLE, UnexpectedError

OLD_VERSIONS = (1, 2, 3)
"""The versions of files without a temperature, of the hybrid thermal model, and of D2Q37."""


class OldCheckpoint:
    """A checkpoint of one of the `OLD_VERSIONS`.

    The setup and the arrays ``arrays/NAME``, compressed, are datasets next to the state; only the state
    has checksums.
    """

    def __init__(self, root: h5g.GroupID, descriptor: int, version: int, interrupts: Sequence[BaseException]) -> None:
        self._descriptor, self._interrupts = descriptor, interrupts
        self._size = os.fstat(descriptor).st_size
        keys = ("format", "version", "steps", "streaming", "reference_density")
        attributes = hdf5_tree.attributes(root, keys) | texts(descriptor)
        if attributes["format"] != FORMAT:
            raise CheckpointError("not a checkpoint of lbmgpu")
        top = {"setup", "state", "temperature", "arrays"}
        found = hdf5_tree.names(root, top)
        setup = self._dataset(root, "setup", 1)
        if setup.dtype != np.uint8 or setup.shape[0] > MAX_MANIFEST:
            raise UnexpectedError("the setup is not a text of a sane size")
        self.header = Header({**attributes, "setup": parsed(_read(setup).tobytes().decode(), finite=True)})
        names = array_names(self.header.setup)
        wanted = top - (set() if version == 2 else {"temperature"}) - (set() if names else {"arrays"})
        if found != wanted or self.header.has_temperature != (version == 2):
            raise UnexpectedError("there is not what the setup needs")
        self._arrays = self._found(root, names)
        self._state = self._field(root, "state", self.header.state)
        self._temperature = self._field(root, "temperature", self.header.state[1:]) if version == 2 else None

    def arrays(self, window: Window | None) -> Arrays:
        shape, boxes = self.header.shape, {}
        for name, dataset in self._arrays.items():
            box, of_cells = [(0, n) for n in dataset.shape], is_of_cells(name.replace("/", "."))
            if of_cells and window is None:
                continue
            if of_cells and window is not None and dataset.shape[-len(shape) :] == shape:
                box[-len(shape) :] = [(a, a + n) for a, n in zip(*window, strict=True)]
            boxes[name] = box
        check_size(sum(math.prod(b - a for a, b in box) * self._arrays[n].dtype.itemsize for n, box in boxes.items()))
        arrays: Arrays = {}
        for name, box in boxes.items():
            self._check_inflated(self._arrays[name])
            arrays[name] = _read(self._arrays[name], box)
            if arrays[name].dtype == np.bool_ and arrays[name].view(np.uint8).max(initial=0) > 1:
                raise UnexpectedError(f"{name!r} holds more than true and false")
        for name, array in arrays.items():
            body, _, what = name.rpartition("/")
            if what == "temperature" and body.startswith("bodies/"):
                if self._arrays[name].shape != self.header.shape:
                    raise UnexpectedError(f"{name!r} is not of the domain")
                array[~arrays[f"{body}/mask"]] = 0  # what the user gave outside of the body
        return arrays

    def state(self, window: Window) -> NDArray[Any]:
        box = reversed_axes(window)
        state = np.empty((self.header.state[0], *(b - a for a, b in box)), self.header.dtype)
        for number, part in enumerate(state):
            if self._interrupts:
                raise self._interrupts[0]
            part[...] = _read(self._state, [(number, number + 1), *box])[0]
        return state

    def temperature(self, window: Window) -> NDArray[Any] | None:
        if self._temperature is None:
            return None
        reference = checks.number("reference", self.header.setup["thermal"]["reference"])
        return converted_temperature(_read(self._temperature, reversed_axes(window)), reference)

    def turbulence(self, window: Window) -> NDArray[Any] | None:
        return None  # no model of that time kept anything

    def boundary_numbers(self) -> dict[str, NDArray[np.float64]]:
        return {}  # no condition of that time kept any

    def recorders(self, window: Window) -> list[Kept]:
        return []  # there were none

    def _dataset(self, group: h5g.GroupID, name: str, dimensions: int) -> h5d.DatasetID:
        """An array with checksums that is all in the file."""
        dataset = hdf5_tree.dataset(group, name, (h5d.CHUNKED,), (FLETCHER32,))
        size = math.prod(dataset.shape) * dataset.dtype.itemsize
        if len(dataset.shape) != dimensions or not 0 < size <= min(self._size, dataset.get_storage_size()):
            raise UnexpectedError(f"{name!r} is not all in the file")
        return dataset

    def _field(self, root: h5g.GroupID, name: str, shape: tuple[int, ...]) -> h5d.DatasetID:
        dataset = self._dataset(root, name, len(shape))
        if (dataset.shape, dataset.dtype) != (shape, self.header.dtype):
            raise UnexpectedError(f"the {name} is {dataset.dtype} {dataset.shape}, not {self.header.dtype} {shape}")
        return dataset

    def _found(self, root: h5g.GroupID, names: Sequence[str]) -> dict[str, h5d.DatasetID]:
        """The arrays by those names, of sizes that the domain implies."""
        inside: dict[str, Any] = {"arrays": {}}
        for name in names:
            level = inside["arrays"]
            for part in name.split("/"):
                level = level.setdefault(part, {})
        arrays: dict[str, h5d.DatasetID] = {}

        def look(group: h5g.GroupID, expected: dict[str, Any], path: str) -> None:
            if hdf5_tree.names(group, expected) != set(expected):
                raise UnexpectedError("an array is missing")
            for name, parts in expected.items():
                if parts:
                    part = h5o.open(group, name.encode())
                    if not isinstance(part, h5g.GroupID):
                        raise UnexpectedError(f"{name!r} is not a group")
                    look(part, parts, f"{path}{name}/")
                else:
                    arrays[path + name] = self._array(group, name)

        if names:
            look(h5o.open(root, b"arrays"), inside["arrays"], "")
        return arrays

    def _array(self, group: h5g.GroupID, name: str) -> h5d.DatasetID:
        dataset = hdf5_tree.dataset(group, name, (h5d.CHUNKED,), (DEFLATE, SHUFFLE, FLETCHER32))
        shape = self.header.shape
        if dataset.dtype == np.bool_:
            right = dataset.shape == shape
        else:
            right = dataset.dtype == np.float64 and math.prod(dataset.shape) <= len(shape) * math.prod(shape)
        if not right:
            raise UnexpectedError(f"{name!r} is not of the domain")
        return dataset

    def _check_inflated(self, dataset: h5d.DatasetID) -> None:
        """Raise UnexpectedError where a chunk inflates to more than its size, as the filter of HDF5 would let it."""
        created = dataset.get_create_plist()
        size = math.prod(created.get_chunk()) * dataset.dtype.itemsize
        check_size(2 * size)
        filters = [created.get_filter(index)[0] for index in range(created.get_nfilters())]
        deflated = DEFLATE in filters
        for index in range(dataset.get_num_chunks()):
            chunk = dataset.get_chunk_info(index)
            if chunk.filter_mask != 0 or chunk.byte_offset + chunk.size > self._size:
                raise UnexpectedError("a chunk is not stored as it must be")
            if deflated:
                inflater = zlib.decompressobj()
                length = len(inflater.decompress(os.pread(self._descriptor, chunk.size, chunk.byte_offset), size + 1))
                if length != size:
                    raise UnexpectedError("a chunk is not of its size")


def converted_temperature(stored: NDArray[Any], reference: float) -> NDArray[np.float64]:
    """The temperature of a file of version 2 as later versions hold it, its deviation from the reference.

    Args:
        stored: the temperature itself, in the type of the storage.
        reference: the temperature of the model without buoyancy.
    """
    return stored.astype(np.float64) - reference


def _read(dataset: h5d.DatasetID, box: Sequence[tuple[int, int]] | None = None) -> NDArray[Any]:
    box = [(0, n) for n in dataset.shape] if box is None else box
    result = np.empty([b - a for a, b in box], dataset.dtype)
    space = dataset.get_space()
    space.select_hyperslab(tuple(a for a, _ in box), result.shape)
    dataset.read(h5s.create_simple(result.shape), space, result)
    return result
