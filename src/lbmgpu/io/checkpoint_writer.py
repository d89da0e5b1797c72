"""Writes a checkpoint of format version 4, or of 5 with recorders: raw arrays in an HDF5 file, and a manifest.

HDF5 lays the arrays out; their bytes are written where it has put them, several chunks at a time, so that they pass
neither through its caches nor through callbacks.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from h5py import h5d, h5p, h5s, h5t
from numpy.typing import NDArray

from ..files.atomic_write import KeptErrors, replacing_open
from .chunks import Chunk, Chunks, each

FORMAT = "lbmgpu checkpoint"
VERSION = 4
WITH_RECORDERS = 5
"""The version of files that have something of recorders, which versions of lbmgpu before do not know."""
MAX_MANIFEST = 2**26
"""Bytes of the manifest."""


class NewCheckpoint:
    """A checkpoint that is being written; `close` ends it with its manifest.

    Args:
        stream: the file, empty.
        threads: that compute digests and write.
        interrupts: to end at, once there is one, between two chunks.
    """

    def __init__(self, stream: KeptErrors, threads: int, interrupts: Sequence[BaseException]) -> None:
        self._stream, self._threads, self._interrupts = stream, threads, interrupts
        self._file = h5py.File(stream, "w", libver="v110")  # the newer layout has checksums on its metadata
        self._tables: dict[str, dict[str, Any]] = {}
        self._places: dict[str, int] = {}

    def add(self, chunks: Chunks, **more: Any) -> None:
        """Make room for an array; `more` goes into its entry in the manifest."""
        created = h5p.create(h5p.DATASET_CREATE)
        created.set_layout(h5d.CONTIGUOUS)
        created.set_alloc_time(h5d.ALLOC_TIME_EARLY)
        created.set_fill_time(h5d.FILL_TIME_NEVER)
        space = h5s.create_simple(chunks.shape)
        name = chunks.name.encode()
        dataset = h5d.create(self._file["/"].id, name, h5t.py_create(chunks.dtype), space, created)
        self._places[chunks.name] = dataset.get_offset()
        self._tables[chunks.name] = {
            "shape": list(chunks.shape),
            "dtype": chunks.dtype.name,
            "chunk": list(chunks.chunk),
            "digests": [""] * chunks.count,
            **more,
        }
        self._stream.check()

    def write(
        self, chunks: Chunks, part: NDArray[Any], lead: int | None = None, digests: Mapping[int, str] = {}
    ) -> None:
        """Write an array that was added, or what it has at index `lead` of its first axis.

        Args:
            chunks: of the array.
            part: its values.
            lead: None for all of it.
            digests: those that are known already, by the numbers of chunks.
        """
        self.write_chunks(chunks, list(chunks if lead is None else chunks.at(lead)), part, digests)

    def write_chunks(
        self, chunks: Chunks, wanted: Sequence[Chunk], part: NDArray[Any], digests: Mapping[int, str] = {}
    ) -> None:
        """The same of some chunks that follow each other, and of which `part` has the values."""
        values = np.ascontiguousarray(part, dtype=chunks.dtype).reshape(-1)
        known, first = self._tables[chunks.name]["digests"], wanted[0].start

        def write(chunk: Chunk) -> None:
            at = chunk.start - first
            own = values[at : at + chunk.size]
            known[chunk.index] = digests.get(chunk.index) or chunks.digest(chunk, own)
            self._put(own, self._places[chunks.name] + chunk.start * chunks.dtype.itemsize)

        each(write, wanted, self._threads, self._interrupts)

    def close(self, manifest: dict[str, Any]) -> None:
        """Write the manifest, to which the arrays and their digests are added, and flush all to the disk."""
        head = {"format": FORMAT, "version": WITH_RECORDERS if "recorders" in manifest else VERSION}
        text = json.dumps({**head, **manifest, "datasets": self._tables}, allow_nan=False).encode()
        if len(text) > MAX_MANIFEST:
            raise ValueError(f"setup: {len(text)} bytes of JSON in a checkpoint, must be at most {MAX_MANIFEST}")
        self._file.create_dataset("manifest", data=np.frombuffer(text, np.uint8))
        for name, value in {**head, "manifest_sha256": hashlib.sha256(text).hexdigest()}.items():
            self._file.attrs[name] = np.bytes_(value) if isinstance(value, str) else value
        self._file.flush()
        self.abandon()
        self._stream.check()
        os.fsync(self._stream.fileno())

    def abandon(self) -> None:
        """Close the file as it is."""
        self._file.close()

    def _put(self, values: NDArray[Any], place: int) -> None:
        rest = values.view(np.uint8).data
        while rest.nbytes:
            count = os.pwrite(self._stream.fileno(), rest, place)
            rest, place = rest[count:], place + count


@contextmanager
def new_checkpoint(target: Path, threads: int, interrupts: Sequence[BaseException]) -> Iterator[NewCheckpoint]:
    """A checkpoint that takes the target's place when it is left without an error, having been closed."""
    with replacing_open(target) as descriptor:
        stream = KeptErrors(descriptor)
        try:
            file = NewCheckpoint(stream, threads, interrupts)
            try:
                yield file
            finally:
                file.abandon()
        except RuntimeError as error:  # of HDF5, which read back what a full disk had not taken
            stream.check()
            raise OSError(str(error)) from error
