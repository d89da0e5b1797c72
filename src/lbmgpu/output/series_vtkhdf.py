"""Frames as files of VTKHDF, and the index over them that ParaView opens as images in time.

The index has no values of its own but those of the time: its fields are virtual datasets of HDF5, which say for each
time and piece in which file they are. HDF5 looks for these files beside the index, so that both can be moved together,
and converts float16, which VTK does not have, to float32. Of a single time VTK wants fields without an axis of time.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from ..files.atomic_write import KeptErrors, replacing_open
from .series_chunks import chunk_shape
from .series_plan import FilesOfPieces, Frame, FrameList
from .series_selection import Piece

_DATA = "VTKHDF/CellData"


class VtkHdfFiles(FilesOfPieces):
    """The files of a series in this format: see `Series`."""

    suffix = ".vtkhdf"

    def frame_files(self, step: int, pieces: list[int]) -> list[Path]:
        """The files of a frame, whose pieces have these numbers."""
        return [self.folder / f"{step:012d}.{piece}.vtkhdf" for piece in pieces]

    def is_frame(self, path: Path) -> bool:
        """Whether a file of the folder may be of a frame, by its name."""
        parts = path.name.split(".")
        return len(parts) == 3 and parts[0].isdigit() and parts[1].isdigit() and parts[2] == "vtkhdf"

    def write_solid(self, cut: int, solid: list[tuple[Piece, NDArray[Any]]]) -> None:
        """Write which cells are solid, which does not change, once for a cut."""
        for piece, cells in solid:
            values = self._deep(np.ascontiguousarray(cells.T, dtype=np.uint8), 0)
            self._write_piece(self.folder / f"solid.{cut}.{piece.number}.vtkhdf", piece, {"solid": values})

    def write_frame(self, step: int, position: int, frame: Frame) -> None:
        """Write the pieces of this process."""
        for number, (piece, _) in enumerate(next(iter(frame.values()), [])):
            fields = {
                name: self._deep(self._plan.converted(name, pieces[number][1]), self._plan.fields[name])
                for name, pieces in frame.items()
            }
            (path,) = self.frame_files(step, [piece.number])
            self._write_piece(path, piece, fields)

    def write_index(self, frames: FrameList) -> None:
        """Write the index of these frames; without one there is none."""
        if not frames.frames:
            self.index.unlink(missing_ok=True)
            return
        counts = _deep_counts(self._plan.selection.counts)
        times = [len(frames.frames)] if len(frames.frames) > 1 else []
        whole = Piece(0, (0,) * len(self._plan.selection.counts), self._plan.selection.counts, ())

        def fill(file: h5py.File) -> None:
            self._write_head(file, whole)
            for name, components in self._plan.fields.items():
                tail = (self._components(components),) if components else ()
                kept = self._plan.dtype
                shown = np.dtype(np.float32) if kept == np.float16 else kept
                layout = h5py.VirtualLayout((*times, *counts, *tail), dtype=shown)
                for at, (step, cut) in enumerate(frames.frames):
                    for number, offset, count in frames.cuts[cut]:
                        (path,) = self.frame_files(step, [number])
                        place = (*([at] if times else []), *_place(offset, count))
                        layout[place] = self._source(path, name, (*_deep_counts(tuple(count)), *tail), kept)
                file[_DATA].create_virtual_dataset(name, layout, fillvalue=np.nan)
            layout = h5py.VirtualLayout((*([1] if times else []), *counts), dtype=np.uint8)
            cut = frames.frames[-1][1]
            for number, offset, count in frames.cuts[cut]:
                path = self.folder / f"solid.{cut}.{number}.vtkhdf"
                layout[(*([0] if times else []), *_place(offset, count))] = self._source(
                    path, "solid", _deep_counts(tuple(count)), np.dtype(np.uint8)
                )
            file[_DATA].create_virtual_dataset("solid", layout, fillvalue=0)
            steps = file.create_group("VTKHDF/Steps")
            steps.attrs["NSteps"] = len(frames.frames)
            steps["Values"] = np.array([self._plan.time(step) for step in frames.steps])
            steps["LatticeSteps"] = np.array(frames.steps)
            for name in self._plan.fields:
                steps[f"CellDataOffsets/{name}"] = np.arange(len(frames.frames))
            steps["CellDataOffsets/solid"] = np.zeros(len(frames.frames), dtype=np.int64)

        _write(self.index, fill)

    def _source(self, path: Path, name: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> h5py.VirtualSource:
        return h5py.VirtualSource(f"{self.folder.name}/{path.name}", f"{_DATA}/{name}", shape=shape, dtype=dtype)

    def _deep(self, values: NDArray[Any], components: int) -> NDArray[Any]:
        """Values with the three axes, and the three components of vectors, that VTK wants."""
        if len(self._plan.selection.counts) == 3:
            return values
        more = self._components(components) - components
        values = values[None]
        return np.concatenate([values, np.zeros_like(values[..., :more])], axis=-1) if more else values

    def _components(self, components: int) -> int:
        """The components of a field in the file, with the third of vectors in two dimensions."""
        return 3 if components == 2 and len(self._plan.selection.counts) == 2 else components

    def _write_piece(self, path: Path, piece: Piece, fields: dict[str, NDArray[Any]]) -> None:
        chunks = {name: chunk_shape(values.shape, values.itemsize) for name, values in fields.items()}
        encoded = {name: self._plan.chunks(values, chunks[name]) for name, values in fields.items()}

        def fill(file: h5py.File) -> None:
            self._write_head(file, piece)
            for name, values in fields.items():
                level = self._plan.level
                filters = {"compression": "gzip", "compression_opts": level, "shuffle": True} if level else {}
                data = file[_DATA].create_dataset(name, values.shape, values.dtype, chunks=chunks[name], **filters)
                for corner, content in encoded[name]:
                    data.id.write_direct_chunk(corner, content)

        _write(path, fill)

    def _write_head(self, file: h5py.File, piece: Piece) -> None:
        """What VTK has to know of an image of these cells."""
        group = file.create_group("VTKHDF")
        group.create_group("CellData")
        group.attrs["Version"] = np.array([2, 3], dtype=np.int64)
        group.attrs.create("Type", b"ImageData", dtype=h5py.string_dtype("ascii", len("ImageData")))
        extent = [n for a, c in zip(piece.offset, piece.count, strict=True) for n in (a, a + c)]
        group.attrs["WholeExtent"] = np.array([*extent, 0, 1][:6], dtype=np.int64)
        axes, cell = self._plan.selection.axes, self._plan.spacing
        group.attrs["Origin"] = np.array([*(axis.origin * cell for axis in axes), 0.0][:3])
        group.attrs["Spacing"] = np.array([*(axis.step * cell for axis in axes), cell][:3])
        group.attrs["Direction"] = np.eye(3).ravel()


def _deep_counts(counts: tuple[int, ...]) -> tuple[int, ...]:
    """Counts of cells in the order of the file."""
    return (*counts, 1)[:3][::-1]


def _place(offset: list[int], count: list[int]) -> tuple[slice, ...]:
    slices = [slice(a, a + n) for a, n in zip(offset, count, strict=True)]
    return tuple([*slices, slice(0, 1)][:3][::-1])


def _write(path: Path, fill: Callable[[h5py.File], None]) -> None:
    """Write a file of HDF5, whole or not at all."""
    with replacing_open(path) as descriptor:
        stream = KeptErrors(descriptor)
        try:
            with h5py.File(stream, "w", libver="v110") as file:
                fill(file)
        except (RuntimeError, OSError) as error:  # of HDF5, which read back what a full disk had not taken
            stream.check()
            raise OSError(str(error)) from error
        stream.check()
