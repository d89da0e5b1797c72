"""A series as a group of zarr (format 2), which xarray opens.

The consolidated metadata is the index: it is replaced as one file, after all chunks of a frame have been written, and
says how many times there are. A chunk is the same bytes as in HDF5: the order "F" of the axes time, component, x, y, z
is the order of memory there.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..files.atomic_write import naming, replacing, write_text
from .series_chunks import chunk_shape
from .series_plan import Frame, FrameList, Plan, attributes, attributes_of, coordinates
from .series_selection import AXES, Piece

_TIMES = 4096
"""Times in a chunk of the coordinates of time."""


class ZarrFiles:
    """The files of a series in this format: see `Series`."""

    suffix = ".zarr"
    gathers = True

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self.folder = plan.target.with_name(f"{plan.target.name}.zarr")
        self.index = self.folder
        self._written: dict[str, str] = {}
        axes = zip(AXES, plan.selection.axes, strict=False)
        self._dimensions = [name for name, axis in axes if not axis.is_single]

    def frame_files(self, step: int, pieces: list[int]) -> list[Path]:
        """None: the chunks of a frame that is dropped are replaced by those of the next one."""
        return []

    def is_frame(self, path: Path) -> bool:
        """No file of the folder itself is one of a frame."""
        return False

    def write_solid(self, cut: int, solid: list[tuple[Piece, NDArray[Any]]]) -> None:
        """Write which cells are solid, and the coordinates."""
        for _, cells in solid:
            self._write_chunks("solid", self._flat(np.ascontiguousarray(cells.T, dtype=np.uint8), 0), None)
        for name, along in coordinates(self._plan).items():
            values = along if name in self._dimensions else along[0]
            self._write_whole(name, np.asarray(values))

    def write_frame(self, step: int, position: int, frame: Frame) -> None:
        """Write the chunks of the frame at this position in time."""
        for name, pieces in frame.items():
            for piece, values in pieces:
                del piece  # it is all cells
                converted = self._flat(self._plan.converted(name, values), self._plan.fields[name])
                self._write_chunks(name, converted, position)

    def write_index(self, frames: FrameList) -> None:
        """Write the coordinates of time, and the metadata for these frames."""
        times = np.array([self._plan.time(step) for step in frames.steps], dtype=np.float64)
        steps = np.array(frames.steps, dtype=np.int64)
        for name, values in (("time", times), ("step", steps)):
            for start in range(0, len(values), _TIMES):
                part = np.zeros(_TIMES, dtype=values.dtype)
                part[: len(values[start : start + _TIMES])] = values[start : start + _TIMES]
                self._write_whole(name, part, str(start // _TIMES))
        length = len(frames.frames)
        extra = ["step", *(name for name in coordinates(self._plan) if name not in self._dimensions)]
        metadata: dict[str, Any] = {
            ".zgroup": {"zarr_format": 2},
            ".zattrs": {**attributes(self._plan), "coordinates": " ".join(extra)},
        }

        def add(name: str, shape: list[int], chunks: list[int], dtype: Any, dimensions: list[str], **more: Any) -> None:
            array = {
                "zarr_format": 2,
                "shape": shape,
                "chunks": chunks,
                "dtype": np.dtype(dtype).str,
                "fill_value": None,
                "order": "F",
                "filters": None,
                "compressor": None,
            }
            metadata[f"{name}/.zarray"] = array | more
            metadata[f"{name}/.zattrs"] = {"_ARRAY_DIMENSIONS": dimensions, **attributes_of(self._plan, name)}

        add("time", [length], [_TIMES], np.float64, ["time"])
        add("step", [length], [_TIMES], np.int64, ["time"])
        for name, along in coordinates(self._plan).items():
            own = [name] if name in self._dimensions else []
            add(name, [len(along)] * len(own), [len(along)] * len(own), np.float64, own)
        counts = [axis.count for axis in self._plan.selection.axes if not axis.is_single]
        for name, components in {**self._plan.fields, "solid": 0}.items():
            dtype = np.dtype(np.uint8) if name == "solid" else self._plan.dtype
            shape = [*([components] if components else []), *counts]
            chunks = list(chunk_shape(tuple(shape[::-1]), dtype.itemsize)[::-1])
            dimensions = [*self._plan.component_axis(name), *self._dimensions]
            if name != "solid":
                shape, chunks, dimensions = [length, *shape], [1, *chunks], ["time", *dimensions]
            add(name, shape, chunks, dtype, dimensions, **self._filters(dtype))
        for name, content in metadata.items():
            text = json.dumps(content)
            if self._written.get(name) != text:
                if not name.startswith("."):
                    (self.folder / name).parent.mkdir(exist_ok=True)
                write_text(self.folder / name, text)
                self._written[name] = text
        write_text(self.folder / ".zmetadata", json.dumps({"zarr_consolidated_format": 1, "metadata": metadata}))

    def _filters(self, dtype: np.dtype[Any]) -> dict[str, Any]:
        if not self._plan.level:
            return {}
        shuffle = {"id": "shuffle", "elementsize": dtype.itemsize}
        return {"filters": [shuffle], "compressor": {"id": "zlib", "level": self._plan.level}}

    def _flat(self, values: NDArray[Any], components: int) -> NDArray[Any]:
        """Values without the axes of which the region names one cell."""
        counts = [axis.count for axis in self._plan.selection.axes if not axis.is_single]
        return values.reshape([*counts[::-1], *([components] if components else [])])

    def _write_chunks(self, name: str, values: NDArray[Any], position: int | None) -> None:
        chunk = chunk_shape(values.shape, values.itemsize)
        for corner, content in self._plan.chunks(values, chunk):
            place = [a // c for a, c in zip(corner, chunk, strict=True)][::-1]
            key = ".".join(map(str, place if position is None else [position, *place])) or "0"
            self._write_file(name, key, content)

    def _write_whole(self, name: str, values: NDArray[Any], key: str = "0") -> None:
        (self.folder / name).mkdir(exist_ok=True)
        with replacing(self.folder / name / key) as path:
            path.write_bytes(values.tobytes())

    def _write_file(self, name: str, key: str, content: bytes) -> None:
        path = self.folder / name / key
        with naming(path):
            path.parent.mkdir(exist_ok=True)
            with path.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
