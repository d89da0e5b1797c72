"""Reads the newest checkpoints, which are untrusted; anything wrong with a file raises CheckpointError.

What a file declares is checked before data are read, and data are checked before they are used.
"""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from h5py import h5g
from numpy.typing import NDArray

from .. import _core, checks
from ..conditions import engine_name
from ..domain import FACES, MAX_CELLS
from ..engine.kept_state import STATES, numbers_of_cell
from ..errors import CheckpointError
from ..files.strict_json import parsed
from ..models import PRECISIONS, STORAGES, STREAMINGS
from . import hdf5_tree
from .checkpoint_arrays import Arrays, decoded, is_of_cells
from .checkpoint_places import checked
from .checkpoint_recorders import DTYPES, Kept, Listed
from .checkpoint_setup import array_names, with_new_words
from .checkpoint_writer import FORMAT, MAX_MANIFEST, VERSION, WITH_RECORDERS
from .chunks import SMALLEST, Chunk, Chunks, each
from .hdf5_tree import UnexpectedError

STORED = {"float16": "uint16", "float32": "float32", "float64": "float64"}
"""The type in the file by the storage."""

Window = tuple[Sequence[int], Sequence[int]]
"""Offset and size of a box of cells."""


class Header:
    """The contents of a checkpoint other than arrays, checked: each member has its type and range.

    Attributes:
        steps, streaming, reference_density: of the solver.
        setup: see `checkpoint_setup.describe`; its stencil, shape, precision and storage are right.
        state: shape of the state.
        dtype: of the state and of the temperature.
        has_temperature: whether the hybrid thermal model adds a temperature to the flow.
        turbulence: shape of what is kept for velocity gradients; None if nothing is taken of them.
        boundary: face and shape of the numbers that cells before faces keep, by the names of their arrays.
        places: of bodies that move by functions, see `checkpoint_places`. A file of before they were written has none,
            and its functions are then those of the solver, unasked.
        recorders: what the file has of recorders.
    """

    def __init__(self, values: dict[str, Any]) -> None:
        self.steps = checks.integer("steps", values["steps"])
        self.streaming = checks.choice("streaming", values["streaming"], STREAMINGS)
        self.reference_density = checks.number("reference_density", values["reference_density"], above=0)
        self.setup: dict[str, Any] = with_new_words(mapping("setup", values["setup"]))
        stencil = _core.stencil(checks.choice("stencil", self.setup["stencil"], _core.stencil_names()))
        checks.choice("precision", self.setup["precision"], PRECISIONS)
        self.dtype = np.dtype(STORED[checks.choice("storage", self.setup["storage"], STORAGES)])
        for key in ("collision", "faces", "bodies"):
            mapping(key, self.setup[key])
        for key in ("faces", "bodies"):
            for name, entry in self.setup[key].items():
                mapping(name, entry)
        shape = [checks.integer("shape", n, at_least=1) for n in self.setup["shape"]]
        if len(shape) != stencil.D or math.prod(shape) > MAX_CELLS:
            raise ValueError(f"shape: {checks.shown(shape)} given")
        self.shape = tuple(shape)
        state = checks.choice("state", self.setup.get("state", "populations"), STATES)
        self.state = (numbers_of_cell(state, stencil.name), *reversed(shape))
        self.turbulence = turbulence_shape(self.setup, self.steps, self.state)
        self.has_temperature = "diffusivity" in mapping("thermal", self.setup.get("thermal", {}))
        self.places = checked(mapping("places", values.get("places", {})), len(shape))
        self.recorders = Listed(values.get("recorders", []))
        self.boundary = boundary_arrays(
            self.shape,
            {
                face: engine_name(str(e.get("condition")), str(e.get("scheme")))
                for face, e in self.setup["faces"].items()
            },
        )


class Stored(Protocol):
    """An open checkpoint; all of these raise CheckpointError."""

    header: Header

    def arrays(self, window: Window | None) -> Arrays:
        """The arrays that the setup refers to, of those of cells what lies in a box; without those if it is None."""

    def state(self, window: Window) -> NDArray[Any]:
        """The state in a box of cells, ``(Q, nz, ny, nx)``."""

    def temperature(self, window: Window) -> NDArray[Any] | None:
        """The temperature in a box of cells, ``(nz, ny, nx)``; None without the hybrid thermal model."""

    def turbulence(self, window: Window) -> NDArray[Any] | None:
        """What is kept for velocity gradients in a box of cells, ``(n, nz, ny, nx)``; None without any."""

    def boundary_numbers(self) -> dict[str, NDArray[np.float64]]:
        """The numbers that boundary cells keep from step to step, by face, of faces that have any."""

    def recorders(self, window: Window) -> list[Kept]:
        """What recorders have kept, of the arrays of cells what lies in a box of cells."""


def turbulence_shape(setup: dict[str, Any], steps: int, state: tuple[int, ...]) -> tuple[int, ...] | None:
    """The shape of what is kept after so many steps for a turbulence model of velocity gradients, or for a hybrid
    collision: velocities where the next step needs them, else one eddy viscosity a cell."""
    record = setup.get("turbulence")
    if record is None and setup["collision"].get("hybrid") is None:
        return None
    every = 1 if record is None else checks.integer("every", mapping("turbulence", record)["every"], at_least=1)
    return (len(state) - 1 if steps % every == 0 else 1, *state[1:])


def boundary_arrays(shape: Sequence[int], kinds: Mapping[str, Any]) -> dict[str, tuple[str, tuple[int, ...]]]:
    """Face and shape of the arrays that hold what the cells before faces keep, by their names in a checkpoint.

    Args:
        shape: of the domain.
        kinds: the engine's names of the conditions, by face.
    """
    stored = _core.boundary_numbers()
    return {
        f"boundary.{face}": (
            face,
            (stored[kind], *(n for axis, n in reversed(list(enumerate(shape))) if axis != "xyz".index(face[1]))),
        )
        for face, kind in kinds.items()
        if isinstance(kind, str) and stored.get(kind) and face in FACES
    }


class NewestCheckpoint:
    """A checkpoint of version 4 or 5: arrays are read from their places in the file, and each chunk against its digest.

    Args:
        root: the group of all there is in the file.
        descriptor, threads, interrupts: see `NewCheckpoint`.
    """

    def __init__(self, root: h5g.GroupID, descriptor: int, threads: int, interrupts: Sequence[BaseException]) -> None:
        self._descriptor, self._threads, self._interrupts = descriptor, threads, interrupts
        self._size = os.fstat(descriptor).st_size
        found = hdf5_tree.attributes(root, ("format", "version", "manifest_sha256"))
        manifest = self._manifest(root, found["manifest_sha256"])
        version = WITH_RECORDERS if "recorders" in manifest else VERSION
        if (manifest["format"], manifest["version"], found["version"]) != (FORMAT, version, version):
            raise UnexpectedError("the manifest is of another format")
        self.header = Header(manifest)
        self._tables = mapping("datasets", manifest["datasets"])
        expected = {"state", *array_names(self.header.setup), *self.header.boundary}
        expected |= {"temperature"} if self.header.has_temperature else set()
        expected |= {"turbulence"} if self.header.turbulence is not None else set()
        recorded = self.header.recorders.stored
        expected |= {entry.dataset for entry in recorded}
        if set(self._tables) != expected or "manifest" in expected:
            raise UnexpectedError("the manifest does not list what the setup needs")
        if hdf5_tree.names(root, {"manifest", *expected}) != {"manifest", *expected}:
            raise UnexpectedError("an array is missing")
        self._places = {name: self._place(root, self._chunks(name)) for name in expected}
        for name, shape in (("state", self.header.state), ("temperature", self.header.state[1:])):
            if name in expected and (self._chunks(name).shape, self._chunks(name).dtype) != (shape, self.header.dtype):
                raise UnexpectedError(f"the {name} is not of the shape and the storage of the setup")
        own = (self.header.turbulence, np.dtype(self.header.setup["precision"]))
        if own[0] is not None and (self._chunks("turbulence").shape, self._chunks("turbulence").dtype) != own:
            raise UnexpectedError("what is kept for gradients is not of the shape and the precision of the setup")
        for name, (face, shape) in self.header.boundary.items():
            numbers = self._chunks(name)
            if numbers.shape[1:] == shape[1:] and numbers.shape[0] != shape[0]:
                raise CheckpointError(
                    f"the cells before face {face!r} keep {numbers.shape[0]} numbers each, must be {shape[0]}: it is "
                    "of a version of lbmgpu whose boundary condition there was another one"
                )
            if (numbers.shape, numbers.dtype) != (shape, np.dtype(np.float64)):
                raise UnexpectedError(f"the numbers of face {face!r} are not of the shape of the setup")
        for entry in recorded:
            expected_shape = entry.stored_shape(self.header.shape)
            if (self._chunks(entry.dataset).shape, self._chunks(entry.dataset).dtype) != (expected_shape, entry.dtype):
                raise UnexpectedError(f"{entry.key!r} of a recorder is not what the manifest says")

    def arrays(self, window: Window | None) -> Arrays:
        names, shape = array_names(self.header.setup), self.header.shape
        if window is None:
            window, names = ((0,) * len(shape), shape), [name for name in names if not is_of_cells(name)]
        return decoded(names, self._tables, self._read, shape, window)

    def state(self, window: Window) -> NDArray[Any]:
        return self._read("state", [(0, self.header.state[0]), *reversed_axes(window)])

    def temperature(self, window: Window) -> NDArray[Any] | None:
        return self._read("temperature", reversed_axes(window)) if self.header.has_temperature else None

    def turbulence(self, window: Window) -> NDArray[Any] | None:
        shape = self.header.turbulence
        return None if shape is None else self._read("turbulence", [(0, shape[0]), *reversed_axes(window)])

    def boundary_numbers(self) -> dict[str, NDArray[np.float64]]:
        return {face: self._whole(name) for name, (face, _) in self.header.boundary.items()}

    def recorders(self, window: Window) -> list[Kept]:
        def part(name: str) -> NDArray[Any]:
            return self._read(name, [(0, self._chunks(name).shape[0]), *reversed_axes(window)])

        return self.header.recorders.read(self._whole, part, tuple(window[1]))

    def _manifest(self, root: h5g.GroupID, digest: Any) -> dict[str, Any]:
        hdf5_tree.check_link(root, "manifest")
        dataset = hdf5_tree.dataset(root, "manifest")
        if dataset.dtype != np.uint8 or len(dataset.shape) != 1 or not 0 < dataset.shape[0] <= MAX_MANIFEST:
            raise UnexpectedError("the manifest is not a text of a sane size")
        text = np.empty(dataset.shape, np.uint8)
        self._fill(text, dataset.get_offset())
        if hashlib.sha256(text.data).hexdigest() != digest:
            raise UnexpectedError("the digest of the manifest is another one")
        return mapping("manifest", parsed(text.tobytes().decode(), finite=True))

    def _chunks(self, name: str) -> Chunks:
        table = self._tables[name]
        shape, chunk = (tuple(checks.integer(key, n) for n in table[key]) for key in ("shape", "chunk"))
        dtype = np.dtype(checks.choice("dtype", table["dtype"], DTYPES))
        chunks = Chunks(name, shape, dtype, chunk)
        if not chunks.is_right() or chunks.nbytes > self._size or chunks.count != len(table["digests"]):
            raise UnexpectedError(f"{name!r} is not declared as it must be")
        return chunks

    def _place(self, root: h5g.GroupID, chunks: Chunks) -> int:
        dataset = hdf5_tree.dataset(root, chunks.name)
        place = dataset.get_offset()
        if (dataset.shape, dataset.dtype) != (chunks.shape, chunks.dtype):
            raise UnexpectedError(f"{chunks.name!r} is not what the manifest says")
        if place is None or place + chunks.nbytes > self._size:
            raise UnexpectedError(f"{chunks.name!r} is not all in the file")
        return int(place)

    def _whole(self, name: str) -> NDArray[Any]:
        return self._read(name, [(0, n) for n in self._chunks(name).shape])

    def _read(self, name: str, box: Sequence[tuple[int, int]]) -> NDArray[Any]:
        """The array by that name from the first to the last index of each axis."""
        chunks, digests, place = self._chunks(name), self._tables[name]["digests"], self._places[name]
        low, high = (tuple(pair[end] for pair in box) for end in (0, 1))
        result = np.empty([b - a for a, b in box], chunks.dtype)

        def read(chunk: Chunk) -> None:
            first = tuple(map(max, chunk.low, low))
            last = tuple(map(min, chunk.high, high))
            target = result[tuple(slice(a - o, b - o) for a, b, o in zip(first, last, low, strict=True))]
            whole = target.flags.c_contiguous and target.size == chunk.size
            own = target if whole else np.empty(chunk.shape, chunks.dtype)
            self._fill(own, place + chunk.start * chunks.dtype.itemsize)
            if chunks.digest(chunk, own) != digests[chunk.index]:
                raise UnexpectedError(f"the digest of chunk {chunk.index} of {name!r} is another one")
            if not whole:
                target[...] = own[tuple(slice(a - o, b - o) for a, b, o in zip(first, last, chunk.low, strict=True))]

        def meets(chunk: Chunk) -> bool:
            ends = zip(chunk.low, chunk.high, low, high, strict=True)
            return all(a < d and c < b for a, b, c, d in ends)

        threads = self._threads if result.nbytes > SMALLEST else 1
        each(read, filter(meets, chunks), threads, self._interrupts)
        return result

    def _fill(self, values: NDArray[Any], place: int) -> None:
        rest = values.reshape(-1).view(np.uint8).data
        while rest.nbytes:
            count = os.preadv(self._descriptor, [rest], place)
            if count == 0:
                raise EOFError("the file ends too early")
            rest, place = rest[count:], place + count


def mapping(name: str, value: Any) -> dict[str, Any]:
    """`value` if it is an object of JSON, else TypeError."""
    if not isinstance(value, dict):
        raise TypeError(f"{name}: {checks.shown(value)} given, must be an object")
    return value


def reversed_axes(window: Window) -> list[tuple[int, int]]:
    """The first index and the end of a window along each axis of the arrays in a file."""
    return [(a, a + n) for a, n in zip(reversed(window[0]), reversed(window[1]), strict=True)]
